/* SPDX-License-Identifier: Apache-2.0 */
int mrs_no_opening;

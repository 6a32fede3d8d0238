/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.c - the same name as in common/doc. */
int mrsi_twice;

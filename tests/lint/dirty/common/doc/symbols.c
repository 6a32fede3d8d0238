/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.c - a global name of its own, and one that another room has too. */
int dirty_global;
int mrsi_twice;

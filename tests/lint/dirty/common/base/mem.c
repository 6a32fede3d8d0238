/* SPDX-License-Identifier: Apache-2.0 */
/* mem.c - the one file that may allocate: nothing to complain about. */
void *
mrs_allowed(void)
{
    return malloc(1);
}

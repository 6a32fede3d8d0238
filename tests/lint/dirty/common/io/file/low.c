/* SPDX-License-Identifier: Apache-2.0 */
/* low.c - calls a folder that is above it, which calls it. */
int mrsi_high(int n);
int mrsi_low(int n);
int
mrsi_low(int n)
{
    return n ? mrsi_high(n - 1) : 0;
}

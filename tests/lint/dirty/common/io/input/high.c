/* SPDX-License-Identifier: Apache-2.0 */
/* high.c - may call the folder below. */
int mrsi_high(int n);
int mrsi_low(int n);
int
mrsi_high(int n)
{
    return mrsi_low(n);
}

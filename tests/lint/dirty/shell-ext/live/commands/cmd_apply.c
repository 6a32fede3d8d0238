/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_apply.c - a command prints. */
void
live_cmd_apply(void)
{
    puts("text");
}

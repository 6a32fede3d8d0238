/* SPDX-License-Identifier: Apache-2.0 */
/* long.c - a function of 80 lines, one of 81, and more than 1000 lines in all. */
void
mrs_lines_80(void)
{
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
}
void
mrs_lines_81(void)
{
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
    ;
}
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */
/* a line */

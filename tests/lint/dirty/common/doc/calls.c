/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - banned calls. malloc(1) in a comment and "printf(" in a text are none. */
const char *mrs_text = "printf(1) malloc(1) \" exit(1)";
/* over two lines: abort()
 * and strcpy(a, b) */
void
mrs_calls(char *a, const char *b, struct ops *ops)
{
    ops->free(a);
    ops.exit(1);
    snprintf(a, 1, "%s", b);
    mrs_printf(a);
    printf("%s", b);
    exit(1);
    fputs(b, stderr);
    a = malloc(1);
    free(a);
    sprintf(a, "%s", b);
    strcpy(a, b);
    getenv("HOME");
}

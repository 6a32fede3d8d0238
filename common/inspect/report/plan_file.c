/* SPDX-License-Identifier: Apache-2.0 */
/* plan_file.c - writes a suggested plan as a file; replaces only an unchanged suggested plan.
 *
 * Its last line has a checksum of all lines before it: users edit plans, and another inspection must not overwrite
 * their work. */
#include "inspect_print.h"
#include "mongoreshape/files.h"

#include <stdio.h>

#define SUM_LINE "# as inspect wrote it: %016llx\n"
enum { SUM_BYTES = 40, PLAN_MOST = 64 << 20 };

static void
sum_line(const void *p, size_t n, char line[SUM_BYTES + 1])
{
    snprintf(line, SUM_BYTES + 1, SUM_LINE, (unsigned long long)mrs_hash64(p, n, 0));
}

static bool
is_as_written(struct mrs_mem *mem, const char *text, size_t n)
{
    (void)mem;
    char line[SUM_BYTES + 1];
    if (n < SUM_BYTES) {
        return false;
    }
    sum_line(text, n - SUM_BYTES, line);
    return memcmp(text + n - SUM_BYTES, line, SUM_BYTES) == 0;
}

enum mrs_status
mrs_inspect_plan_check(struct mrs_mem *mem, const char *path, struct mrs_err *e)
{
    struct mrs_replace how = {.option = "--suggest",
                              .unlike = "no plan as inspect wrote it",
                              .no_force = true,
                              .text_is_ours = is_as_written,
                              .mem = mem,
                              .most = PLAN_MOST};
    return mrs_file_may_be(path, &how, e);
}

enum mrs_status
mrs_inspect_plan_write(struct mrsi_inspection *x, const char *path, struct mrs_err *e)
{
    struct mrs_buf text;
    char line[SUM_BYTES + 1];
    mrs_buf_init(&text, x->mem, SIZE_MAX);
    enum mrs_status s = mrs_inspect_plan(x, &text, e);
    if (s == MRS_OK) {
        sum_line(text.p, text.n, line);
        mrs_buf_put(&text, line, SUM_BYTES);
        s = mrs_buf_status(&text, e);
    }
    MRS_THEN(s, mrs_inspect_plan_check(x->mem, path, e));
    MRS_THEN(s, mrs_file_write(path, text.p, text.n, e));
    x->plan_written = s == MRS_OK;
    mrs_buf_clear(&text);
    return s;
}

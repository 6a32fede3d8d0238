/* SPDX-License-Identifier: Apache-2.0 */
/* page_file.c - the file of --html: written atomically, and replaces only an earlier page. */
#include "mongoreshape/cli.h"
#include "mongoreshape/io.h"
#include "page_parts.h"
#include <errno.h>
#include <stdio.h>

/* The document type and the comment after it identify a page of ours: only these bytes are read. */
static enum mrs_status
is_page(void *arg, const char *path, bool *ours, struct mrs_err *e)
{
    (void)arg;
    char head[64];
    FILE *f = fopen(path, "re");
    if (!f) {
        return mrs_err_sys(e, errno, "open %s", path);
    }
    *ours = fread(head, 1, sizeof head, f) == sizeof head && memcmp(head, mrsi_page_head, sizeof head) == 0;
    fclose(f);
    return MRS_OK;
}

static enum mrs_status
may_be(const char *path, struct mrs_err *e)
{
    static const struct mrs_replace how = {
        .option = "--html", .unlike = "no page of mongoreshape", .no_force = true, .is_ours = is_page};
    if (strcmp(path, "-") == 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--html -: a page is written to a file; name one");
    }
    return mrs_file_may_be(path, &how, e);
}

int
mrs_cli_page_check(const struct mrs_cli *line, const char *path, const char *const input[2])
{
    struct mrs_err e;
    mrs_err_clear(&e);
    enum mrs_status s = path ? may_be(path, &e) : MRS_OK;
    for (int i = 0; i < 2 && path && s == MRS_OK; i++) {
        s = mrs_file_is_in(path, input[i])
                ? mrs_err_set(&e, MRS_FAIL, MRS_E_EXISTS,
                              "--html %s: it is in the input, which must not change; name another file", path)
                : s;
    }
    if (s == MRS_OK) {
        return 0;
    }
    mrs_cli_report(line, &e);
    return mrs_code_exit(e.code);
}

enum mrs_status
mrs_cli_page_write(const char *path, const char *kind, const struct mrs_buf *report, const char *plan,
                   struct mrs_err *e)
{
    struct mrs_buf out;
    struct mrsi_page page = {.kind = kind, .report = report->p, .n = report->n, .plan = plan};
    mrs_buf_init(&out, report->mem, SIZE_MAX);
    enum mrs_status s = mrs_buf_status(report, e);
    MRS_THEN(s, may_be(path, e)); /* the output of the run may have that name */
    if (s == MRS_OK) {
        mrsi_page_put(&out, &page);
        s = mrs_buf_status(&out, e);
    }
    MRS_THEN(s, mrs_file_write(path, out.p, out.n, e));
    mrs_buf_clear(&out);
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* page_file.c - the file that --html asks for: written whole, and never over anything but an earlier page. */
#include "mongoreshape/cli.h"
#include "mongoreshape/io.h"
#include "page_parts.h"

#include <sys/stat.h>

enum { PAGE_MOST = 1 << 30 };

static enum mrs_status
refuse(const char *path, const char *what, struct mrs_err *e)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_EXISTS, "--html %s: %s; name another file", path, what);
}

static enum mrs_status
may_be(struct mrs_mem *mem, const char *path, struct mrs_err *e)
{
    struct stat st;
    char *text = NULL;
    size_t n = 0;
    if (strcmp(path, "-") == 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--html -: a page is written to a file; name one");
    }
    if (stat(path, &st) != 0) {
        return MRS_OK;
    }
    if (!S_ISREG(st.st_mode)) {
        return refuse(path, "it is there and no file", e);
    }
    enum mrs_status s = mrs_file_read(mem, path, PAGE_MOST, &text, &n, e);
    if (s == MRS_OK && !mrsi_page_is_ours(text, n)) {
        s = refuse(path, "it is there and no page of mongoreshape", e);
    }
    mrs_free(mem, text);
    return s;
}

int
mrs_cli_page_look(const struct mrs_cli *line, const char *path, const char *const input[2])
{
    struct mrs_err e;
    mrs_err_clear(&e);
    enum mrs_status s = path ? may_be(line->mem, path, &e) : MRS_OK;
    for (int i = 0; i < 2 && path && s == MRS_OK; i++) {
        s = mrs_file_is_in(path, input[i]) ? refuse(path, "it lies in the input, which must stay as it is", &e) : s;
    }
    if (s == MRS_OK) {
        return 0;
    }
    mrs_cli_tell(line, &e);
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
    MRS_THEN(s, may_be(report->mem, path, e)); /* the output of the run may have that name */
    if (s == MRS_OK) {
        mrsi_page_put(&out, &page);
        s = mrs_buf_status(&out, e);
    }
    MRS_THEN(s, mrs_file_write(path, out.p, out.n, e));
    mrs_buf_clear(&out);
    return s;
}

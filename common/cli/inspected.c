/* SPDX-License-Identifier: Apache-2.0 */
/* inspected.c - the output of an inspection, common to all tools: text or JSON, the suggested plan, the page. */
#include "mongoreshape/cli.h"
#include "mongoreshape/inspect.h"
#include "mongoreshape/io.h"

#include <unistd.h>

enum { COLUMNS = 100 }; /* of a file: the rows of collections and references are wider than help */

int
mrs_cli_inspect_check(const struct mrs_cli *line, const struct mrs_cli_inspected *to, const char *input)
{
    struct mrs_err e;
    mrs_err_clear(&e);
    int status = mrs_cli_page_check(line, to->html, (const char *const[2]){input, NULL});
    if (status) {
        return status;
    }
    enum mrs_status s = to->suggest ? mrs_inspect_plan_check(line->mem, to->suggest, &e) : MRS_OK;
    if (s == MRS_OK && mrs_file_is_in(to->suggest, input)) {
        s = mrs_err_set(&e, MRS_FAIL, MRS_E_USAGE, "--suggest %s: it is in the input, which must not change; name "
                                                   "another file", to->suggest);
    }
    if (s == MRS_OK && to->suggest && to->html && mrs_file_is_in(to->suggest, to->html)) {
        s = mrs_err_set(&e, MRS_FAIL, MRS_E_USAGE, "--suggest and --html name the same file, %s; name another one",
                        to->html);
    }
    if (s == MRS_OK) {
        return 0;
    }
    mrs_cli_report(line, &e);
    return mrs_code_exit(e.code);
}

static enum mrs_status
write_page(struct mrs_mem *mem, struct mrsi_inspection *found, const char *path, struct mrs_err *e)
{
    struct mrs_buf text, plan;
    mrs_buf_init(&text, mem, SIZE_MAX);
    mrs_buf_init(&plan, mem, SIZE_MAX);
    enum mrs_status s = mrs_inspect_json(found, &text, e);
    MRS_THEN(s, mrs_inspect_plan(found, &plan, e));
    if (s == MRS_OK) {
        mrs_buf_byte(&plan, 0);
        s = mrs_buf_status(&plan, e);
    }
    MRS_THEN(s, mrs_cli_page_write(path, "inspect", &text, (const char *)plan.p, e));
    mrs_buf_clear(&text);
    mrs_buf_clear(&plan);
    return s;
}

static enum mrs_status
print(struct mrs_mem *mem, struct mrsi_inspection *found, const struct mrs_cli_inspected *to, struct mrs_err *e)
{
    struct mrs_buf text;
    mrs_buf_init(&text, mem, SIZE_MAX);
    uint32_t width = isatty(STDOUT_FILENO) ? (uint32_t)mrs_text_width(stdout) : COLUMNS;
    enum mrs_status s = to->json
                            ? mrs_inspect_json(found, &text, e)
                            : mrs_inspect_text(found, width, to->all, mrs_text_colour(stdout), &text, e);
    if (s == MRS_OK) {
        fwrite(text.p, 1, text.n, stdout);
    }
    mrs_buf_clear(&text);
    return s;
}

/* Prints the next command, ready to be copied. */
static void
report_plan(struct mrs_mem *mem, const struct mrsi_inspection *found, const struct mrs_cli_inspected *to)
{
    MRS_ASSERT(to->suggest && to->input);
    uint32_t n = mrs_inspect_steps(found);
    if (!n) {
        mrs_say(stderr, "%s has no steps: nothing was found that a step mends without a decision of yours\n",
                to->suggest);
        return;
    }
    struct mrs_buf line;
    mrs_buf_init(&line, mem, SIZE_MAX);
    mrs_buf_printf(&line, "mongoreshape check ");
    mrs_buf_word(&line, to->suggest);
    mrs_buf_printf(&line, " -i ");
    mrs_buf_word(&line, to->input);
    mrs_buf_byte(&line, 0);
    mrs_say(stderr, "%s has %u step%s: read it, then\n", to->suggest, n, n == 1 ? "" : "s");
    mrs_say(stderr, "  %s\n", line.bad ? "mongoreshape check" : (const char *)line.p);
    mrs_buf_clear(&line);
}

enum mrs_status
mrs_cli_inspect_report(struct mrs_mem *mem, struct mrsi_inspection *found, const struct mrs_cli_inspected *to,
                       struct mrs_err *e)
{
    MRS_ASSERT(found && to);
    enum mrs_status s = to->suggest ? mrs_inspect_plan_write(found, to->suggest, e) : MRS_OK;
    MRS_THEN(s, to->html ? write_page(mem, found, to->html, e) : MRS_OK);
    s = s == MRS_OK && (to->json || !to->quiet) ? print(mem, found, to, e) : s;
    if (s == MRS_OK && to->suggest && to->input && !to->json && !to->quiet && !mrs_file_is_stream(to->suggest)) {
        fflush(stdout);
        report_plan(mem, found, to);
    }
    return s;
}

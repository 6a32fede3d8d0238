/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cat.c - `mongoreshape cat IN`: the documents of a dump as lines of Extended JSON. */
#include "commands.h"
#include "mongoreshape/cat.h"
#include "mongoreshape/clock.h"
#include "mongoreshape/expr.h"
#include "mongoreshape/plan.h"
#include "job.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

struct printing {
    const struct mrs_query *where;
    bool matched;      /* a document: set by several threads */
    bool nobody_reads; /* the other end of the pipe is gone */
};

static enum mrs_status
put(void *arg, const void *p, size_t n, struct mrs_err *e)
{
    struct printing *x = arg;
    const char *at = p;
    while (n) {
        ssize_t done = write(STDOUT_FILENO, at, n);
        if (done < 0 && errno != EINTR) {
            x->nobody_reads = errno == EPIPE;
            return mrs_err_sys(e, errno, "writing to standard output");
        }
        at += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return MRS_OK;
}

static enum mrs_status
takes(void *arg, struct mrs_arena *scratch, struct mrs_view doc, bool *yes, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct printing *x = arg;
    struct mrs_eval ev = {.arena = scratch, .root = doc, .err = e};
    enum mrs_status s = mrs_query_match(x->where, &ev, yes);
    if (s != MRS_OK) {
        mrs_err_at(e, "--where");
    } else if (*yes && !__atomic_load_n(&x->matched, __ATOMIC_RELAXED)) {
        __atomic_store_n(&x->matched, true, __ATOMIC_RELAXED);
    }
    return s;
}

static void
warn(void *arg, const char *text)
{
    (void)arg;
    mrs_say(stderr, "note: %s\n", text);
}

static enum mrs_status
compile(const struct mrsi_cli *cli, struct mrs_query **out, struct mrs_err *e)
{
    struct mrs_expr_env env = {
        .mem = cli->line.mem, .now_ms = mrs_cli_given(&cli->line, "now") ? cli->now_ms : mrs_clock_wall()};
    struct mrs_query_text text = {.text = cli->where, .command = "cat", .option = "--where", .warn = warn};
    struct mrs_buf bson;
    struct mrs_err own;
    mrs_err_clear(&own);
    mrs_buf_init(&bson, cli->line.mem, MRS_DOC_MAX);
    enum mrs_status s = mrs_yaml_query(cli->line.mem, &text, &bson, e);
    if (s == MRS_OK) {
        s = mrs_query_compile(&env, (struct mrs_view){bson.p, (uint32_t)bson.n}, out, &own);
        if (s != MRS_OK) {
            mrs_err_set(e, s, own.code, "--where: %s%s%s", own.where, *own.where ? ": " : "", own.msg);
        }
    }
    mrs_buf_clear(&bson);
    return s;
}

static enum mrs_status
print(const struct mrsi_cli *cli, struct printing *x, struct mrs_err *e)
{
    struct mrs_query *where = NULL;
    struct mrs_input *in = NULL;
    struct mrs_input_opts how;
    struct mrs_cat_opts opts = {.relaxed = cli->relaxed,
                                .with_ns = cli->with_ns,
                                .limit = cli->limit,
                                .jobs = (uint32_t)cli->jobs,
                                .cancel = mrs_signals_flag(),
                                .takes = cli->where ? takes : NULL,
                                .put = put,
                                .arg = x};
    enum mrs_status s = cli->where ? compile(cli, &where, e) : MRS_OK;
    x->where = where;
    mrsi_pattern_opts(cli, &how);
    MRS_THEN(s, mrsi_job_read(cli, cli->line.operand, &how, &in, e));
    MRS_THEN(s, mrsi_job_patterns(cli, cli->line.operand, &how, in, e));
    MRS_THEN(s, mrs_cat(cli->line.mem, in, &opts, e));
    mrs_input_close(in);
    mrs_query_free(where);
    return s;
}

int
mrsi_cmd_cat(struct mrs_cli *line)
{
    struct mrsi_cli *cli = (struct mrsi_cli *)line;
    struct printing x = {.where = NULL};
    struct mrs_err e;
    mrs_err_clear(&e);
    int wrong = mrsi_limits_misused(cli);
    if (wrong) {
        return wrong;
    }
    if (mrs_cli_given(line, "limit") && cli->limit == 0) {
        return mrs_cli_misuse(line, "--limit must be at least 1");
    }
    enum mrs_status s = print(cli, &x, &e);
    if (s == MRS_OK) {
        if (cli->where && !x.matched) {
            mrs_say(stderr, "note: no document matches the query of --where\n");
        }
        return 0;
    }
    if (x.nobody_reads) { /* like a writer to `head`: no message, the status of the signal */
        return 128 + SIGPIPE;
    }
    mrs_cli_report(line, &e);
    return e.code == MRS_E_CANCEL && mrs_signals_number() ? 128 + mrs_signals_number() : mrs_code_exit(e.code);
}

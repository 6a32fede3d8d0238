/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_status.c - `mongoreshape-live status [PLAN] [--list] [--watch]`: the progress of a run, from its document.
 *
 * Reads only, takes no lease, and is independent of the working process. --watch prints again every second, over the
 * old text on a terminal, until Ctrl-C, until the reader closes the pipe, or until the run has ended. */
#include "live_commands.h"
#include "live_job.h"

#include <time.h>
#include <unistd.h>

static enum mrs_status
show(struct live_call *c, bool over)
{
    struct mrs_buf out;
    mrs_buf_init(&out, c->job.mem, (size_t)64 << 20);
    enum mrs_status s = live_status_text(&c->job, c->cli->json, c->cli->list, &out, &c->err);
    MRS_THEN(s, mrs_buf_status(&out, &c->err));
    if (s == MRS_OK) {
        if (over) {
            fputs("\x1b[H\x1b[J", stdout);
        }
        fwrite(out.p, 1, out.n, stdout);
        if (out.n && out.p[out.n - 1] != '\n') {
            fputc('\n', stdout);
        }
        fflush(stdout);
    }
    mrs_buf_clear(&out);
    return s;
}

static bool
ended(const struct live_call *c)
{
    return !c->cli->list && (live_run_in(&c->job, "done") || live_run_in(&c->job, "rolled back"));
}

static enum mrs_status
watch(struct live_call *c)
{
    bool terminal = isatty(STDOUT_FILENO) && !c->cli->json;
    enum mrs_status s = show(c, terminal);
    while (s == MRS_OK && !mrs_signals_number() && !ferror(stdout) && !ended(c)) {
        nanosleep(&(struct timespec){1, 0}, NULL);
        s = mrs_signals_number() ? MRS_OK : show(c, terminal);
    }
    return s;
}

static enum mrs_status
nothing(struct live_call *c)
{
    mrs_err_clear(&c->err);
    if (c->job.plan || c->cli->run) {
        return mrs_err_set(&c->err, MRS_FAIL, MRS_E_MISSING, "%s in `%s`",
                           c->cli->run ? "there is no such run" : "there is no run of this plan", c->job.opts.state_db);
    }
    fputs(c->cli->json ? "{\"runs\":[]}\n" : "there are no runs\n", stdout);
    return MRS_OK;
}

int
live_cmd_status(struct mrs_cli *line)
{
    struct live_call c;
    int status = 0;
    if (!live_call_begin(&c, (struct live_cli *)line, &status)) {
        return status;
    }
    enum mrs_status s = c.cli->list ? live_call_connect(&c) : live_call_find(&c);
    if (s == MRS_OK && c.job.plan) {
        s = mrs_live_judge(c.job.plan, &c.arena, &c.live, &c.err);
        c.job.live = &c.live;
    }
    if (s == MRS_END) {
        s = nothing(&c);
    } else if (s == MRS_OK) {
        s = c.cli->watch ? watch(&c) : show(&c, false);
    }
    if (s == MRS_OK) {
        c.cli->json = false; /* the object was printed */
    }
    return live_call_end(&c, s, 0);
}

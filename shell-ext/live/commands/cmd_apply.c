/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_apply.c - `mongoreshape-live apply [PLAN] [--execute]`: reports the changes of a plan, or makes them.
 *
 * Without --execute nothing is written, not even state: the plan is checked against the server, and the report is
 * printed. With --execute the same checks come first, and may refuse; then the engine of the mode works, from its
 * checkpoint if there is one. The next command is printed at the end, and never executed. */
#include "live_commands.h"
#include "live_job.h"

#include "live/pass/native.h"
#include "live/server/server.h"
#include "live/trial/trial.h"

#include <stdio.h>

/* Checks the server and its documents, so that one dry run reports all findings. */
static enum mrs_status
preflight(struct live_call *c)
{
    struct mrs_err why;
    mrs_err_clear(&why);
    enum mrs_status s = live_call_preflight(c, "apply");
    enum mrs_status tried = s == MRS_OK || c->preflight.n_refuse
                                ? live_try_plan(&c->job, &c->preflight, &c->would_refuse, &why)
                                : MRS_OK;
    if (tried != MRS_OK) {
        c->err = why;
    }
    return tried != MRS_OK ? tried : s;
}

static enum mrs_status
dry_run(struct live_call *c)
{
    enum mrs_status s = c->known ? MRS_OK : preflight(c);
    if (!c->cli->json && (s == MRS_OK || c->preflighted)) {
        live_report_outlook(c);
        if (c->known) {
            mrs_say(stdout, "run %.12s of this plan was begun before and is in phase `%s`\n", c->run, c->phase);
        }
    }
    MRS_THEN(s, live_call_admit(c));
    MRS_THEN(s, live_call_knobs_check(c));
    MRS_THEN(s, live_call_would_open(c));
    if (s == MRS_OK && c->job.opts.native) {
        s = live_native_outlook(&c->job, &c->err);
    }
    if (s == MRS_OK) {
        if (!c->cli->json) {
            mrs_say(stdout, "nothing was written\n");
        }
        live_call_again(c);
    }
    return s;
}

/* Output of pipelines is always verified: all of it is derived again, and corrected if a client may write. */
static enum mrs_status
verify_natively(struct live_call *c)
{
    MRS_ASSERT(c->job.server && c->job.run);
    struct live_pass_report r = {.arena = &c->arena};
    char line[160];
    c->job.opts.repair = !c->job.server->sharded;
    enum mrs_status s = live_verify(&c->job, &r, &c->err);
    if (s == MRS_OK) {
        snprintf(line, sizeof line, "verified: %llu document%s derived again, %llu put right, %llu differ",
                 (unsigned long long)r.docs, r.docs == 1 ? "" : "s", (unsigned long long)r.written,
                 (unsigned long long)r.differs);
        c->job.print_line(c->job.arg, line);
        c->report.differs = r.differs;
        c->report.foreign += r.foreign;
        c->report.named = r.named;
        c->report.n_named = r.n_named;
    }
    return s;
}

/* --worker: another process leads the run. */
static enum mrs_status
help(struct live_call *c)
{
    MRS_ASSERT(c->cli->worker);
    if (!c->known) {
        return live_call_no_run(c, "`apply PLAN --execute --workers N` begins one that a worker can help");
    }
    return live_work(&c->job, &c->report, &c->err);
}

static enum mrs_status
execute(struct live_call *c)
{
    MRS_ASSERT(c->cli->execute);
    const struct live_opts *o = &c->job.opts;
    enum mrs_status s = live_call_admit(c);
    if (s == MRS_OK && c->cli->worker) {
        return help(c);
    }
    if (s == MRS_OK && !c->known) {
        s = live_call_preflight(c, "apply");
    }
    c->job.workers = &c->processes.workers;
    MRS_THEN(s, live_call_run(c, true));
    if (s != MRS_OK) {
        return s;
    }
    c->worked = true;
    if (o->quiet != LIVE_NOT_QUIET) {
        s = live_quiet_apply(&c->job, &c->report, &c->err);
    } else if (o->mode == LIVE_DIRECT) {
        s = live_direct(&c->job, &c->report, &c->err);
    } else {
        s = live_expand(&c->job, &c->report, &c->err);
        s = s == MRS_OK && o->native ? verify_natively(c) : s;
    }
    c->report.refused = c->job.run->n_refused; /* each document once, in any number of passes */
    if (s == MRS_OK) {
        live_call_next(c, "verify", o->quiet == LIVE_NOT_QUIET && o->mode == LIVE_EXPAND ? "--repair --execute" : "");
    } else if (c->err.code == MRS_E_CANCEL || c->err.code == MRS_E_SERVER) {
        live_call_next(c, "apply", "--execute");
    }
    return s;
}

int
live_cmd_apply(struct mrs_cli *line)
{
    struct live_call c;
    int status = 0;
    if (!live_call_begin(&c, (struct live_cli *)line, &status)) {
        return status;
    }
    enum mrs_status s = live_call_open(&c);
    MRS_THEN(s, c.cli->execute ? execute(&c) : dry_run(&c));
    return live_call_end(&c, s, c.report.refused > 0 || c.report.differs > 0 || c.would_refuse > 0);
}

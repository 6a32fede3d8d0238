/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_verify.c - `mongoreshape-live verify [PLAN] [--repair --execute]`: compares the new schema with the old one.
 *
 * After a quiet run the two schemas do not exist at the same time: there the collections are compared with its list of
 * changes. Differences and foreign documents are reported and give status 1, and so does a run that is not complete. */
#include "live_commands.h"
#include "live_job.h"

/* A run that has not come to its end: only the steps that are done were compared. */
static bool
is_partial(const struct live_call *c)
{
    return live_run_in(&c->job, "expand") || live_run_in(&c->job, "direct");
}

static void
what_next(struct live_call *c)
{
    if (c->report.differs || c->report.foreign) {
        if (c->quiet == LIVE_NOT_QUIET && c->job.opts.repair && c->job.opts.dry_run) {
            live_call_again(c);
        } else if (c->quiet == LIVE_NOT_QUIET && !c->job.opts.repair) {
            live_call_next(c, "verify", "--repair --execute");
        }
        return;
    }
    if (is_partial(c)) {
        live_call_next(c, "apply", "--execute");
        return;
    }
    if (c->mode != LIVE_EXPAND || c->quiet != LIVE_NOT_QUIET) {
        live_call_next(c, "abort", "--clean");
        return;
    }
    live_call_next(c, "contract", live_contracts_alongside(&c->job) ? "" : "--quiet-by validator");
}

static enum mrs_status
verify(struct live_call *c)
{
    enum mrs_status s = live_call_open(c);
    if (s == MRS_OK && !c->known) {
        s = live_call_no_run(c, "there is nothing to verify");
    }
    MRS_THEN(s, live_call_preflight(c, "verify"));
    MRS_THEN(s, live_call_run(c, false));
    if (s != MRS_OK) {
        return s;
    }
    c->worked = true;
    if (c->quiet != LIVE_NOT_QUIET) {
        s = live_quiet_verify(&c->job, &c->report, &c->err);
    } else {
        s = live_verify(&c->job, &c->report, &c->err);
    }
    if (s == MRS_OK && is_partial(c)) {
        c->job.print_line(c, "the run is not complete: only the steps that are done were compared");
    }
    if (s == MRS_OK) {
        what_next(c);
    }
    return s;
}

int
live_cmd_verify(struct mrs_cli *line)
{
    struct live_call c;
    int status = 0;
    if (!live_call_begin(&c, (struct live_cli *)line, &status)) {
        return status;
    }
    enum mrs_status s = verify(&c);
    return live_call_end(&c, s, c.report.differs || c.report.foreign || c.report.refused ||
                                    (s == MRS_OK && is_partial(&c)));
}

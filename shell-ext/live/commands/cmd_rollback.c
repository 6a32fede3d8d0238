/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_rollback.c - `mongoreshape-live rollback [PLAN]`: removes the new schema.
 *
 * Without --execute it only reports the removals.
 *
 * An expand is undone by deriving its additions again, a quiet run by its change list; a run in place while writers run
 * stored no earlier data. */
#include "live_commands.h"
#include "live_job.h"

static enum mrs_status
rollback(struct live_call *c)
{
    MRS_TRY(live_call_open(c));
    if (!c->known) {
        return live_call_no_run(c, "there is nothing to roll back");
    }
    if (c->quiet == LIVE_NOT_QUIET && c->mode == LIVE_DIRECT) {
        return mrs_err_set(&c->err, MRS_FAIL, MRS_E_USAGE,
                           "this run changed documents in place (--mode direct): their old values are not saved, so it "
                           "cannot be rolled back");
    }
    MRS_TRY(live_call_preflight(c, "rollback"));
    MRS_TRY(live_call_run(c, false));
    c->worked = true;
    enum mrs_status s = c->quiet != LIVE_NOT_QUIET ? live_quiet_rollback(&c->job, &c->report, &c->err)
                                                   : live_rollback_units(&c->job, &c->report, &c->err);
    if (s == MRS_OK && c->quiet == LIVE_NOT_QUIET) {
        s = live_block_leave(&c->job, &c->err); /* of a contract that was killed before it began */
    }
    if (s == MRS_OK) {
        c->report.refused = 0; /* refusals by the plan: for these there was nothing to undo */
        if (c->job.opts.dry_run) {
            live_call_again(c);
        } else {
            live_call_next(c, "abort", "--clean");
        }
    }
    return s;
}

int
live_cmd_rollback(struct mrs_cli *line)
{
    struct live_call c;
    int status = 0;
    if (!live_call_begin(&c, (struct live_cli *)line, &status)) {
        return status;
    }
    enum mrs_status s = rollback(&c);
    return live_call_end(&c, s, 0);
}

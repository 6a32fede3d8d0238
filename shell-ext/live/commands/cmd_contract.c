/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_contract.c - `mongoreshape-live contract [PLAN] [--quiet-by HOW]`: removes the old schema.
 *
 * Without --execute it only reports the removals.
 *
 * Plans of one-document steps may do that while writers run, all others need writers stopped; a run in place has
 * nothing left to remove. An interrupted contract resumes in its original mode. */
#include "live_commands.h"
#include "live_job.h"

static void
what_next(struct live_call *c, enum mrs_status s)
{
    MRS_ASSERT(c->job.run);
    const char *phase = c->job.run->phase;
    if (live_phase_over(phase) || (s == MRS_OK && !c->job.opts.dry_run)) {
        live_call_next(c, "abort", "--clean");
    } else if (strncmp(phase, "roll", 4) == 0) {
        live_call_next(c, "rollback", "--execute");
    } else if (strcmp(phase, "claimed") == 0 || strcmp(phase, "expand") == 0) {
        live_call_next(c, "apply", "--execute");
    } else if (c->report.differs || (s != MRS_OK && c->err.code == MRS_E_USAGE)) { /* not verified, or not any more */
        live_call_next(c, "verify", "--repair --execute");
    } else {
        live_call_again(c);
    }
}

static enum mrs_status
contract(struct live_call *c)
{
    MRS_TRY(live_call_open(c));
    if (!c->known) {
        return live_call_no_run(c, "`apply --execute` comes first");
    }
    if (c->quiet != LIVE_NOT_QUIET || c->mode == LIVE_DIRECT) {
        if (strcmp(c->phase, "done") != 0) {
            bool over = live_phase_over(c->phase);
            live_call_next(c, over                                ? "abort"
                              : strncmp(c->phase, "roll", 4) == 0 ? "rollback"
                                                                  : "apply", over ? "--clean" : "--execute");
            return mrs_err_set(&c->err, MRS_FAIL, MRS_E_USAGE,
                               "run %.12s changes documents in place, so there is nothing to contract; it is in phase "
                               "\"%s\"", c->run, c->phase);
        }
        c->job.print_line(c, "nothing is left to do: the run changed documents in place");
        return MRS_OK;
    }
    bool live = live_contracts_alongside(&c->job);
    if (!live && c->job.opts.quiet == LIVE_NOT_QUIET) {
        return mrs_err_set(&c->err, MRS_FAIL, MRS_E_USAGE,
                           "contract of this plan removes documents or fields that writers may be changing: stop them "
                           "with --quiet-by validator, block or word");
    }
    enum mrs_status s = live_call_preflight(c, "contract");
    MRS_THEN(s, live_call_run(c, false));
    if (s != MRS_OK) {
        return s;
    }
    c->worked = true;
    s = live ? live_contract_units(&c->job, &c->report, &c->err) : live_quiet_contract(&c->job, &c->report, &c->err);
    c->report.refused = c->job.run->n_refused; /* each document once, in any number of walks */
    what_next(c, s);
    return s;
}

int
live_cmd_contract(struct mrs_cli *line)
{
    struct live_call c;
    int status = 0;
    if (!live_call_begin(&c, (struct live_cli *)line, &status)) {
        return status;
    }
    enum mrs_status s = contract(&c);
    return live_call_end(&c, s, c.report.refused > 0 || c.report.foreign > 0);
}

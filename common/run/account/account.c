/* SPDX-License-Identifier: Apache-2.0 */
/* account.c - the account of a run: every document of every step has one fate.
 *
 * Workers count into rows of their own; a pass that is accepted adds them to the run's, one that is begun again
 * (because it met a conflict) is forgotten. */
#include "account.h"
#include "mongoreshape/context.h"

void
mrsi_rows_begin(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->jobs; i++) {
        memset(en->worker[i].rows, 0, en->n_rows * sizeof *en->rows);
    }
}

static void
add_row(struct mrsi_row *to, const struct mrsi_row *from)
{
    to->before += from->before;
    to->created += from->created;
    to->entered += from->entered;
    to->after += from->after;
    to->taken += from->taken;
    to->dropped += from->dropped;
    to->refused += from->refused;
    to->placed += from->placed;
    to->changed += from->changed;
    to->merged += from->merged;
    to->references += from->references;
    to->dangling += from->dangling;
    to->groups += from->groups;
    to->matched += from->matched;
    to->outside += from->outside;
    to->seen |= from->seen;
    to->met |= from->met;
    for (int k = 0; k < MRS_NOTICE_STEP; k++) {
        to->noticed[0][k] += from->noticed[0][k];
        to->noticed[1][k] += from->noticed[1][k];
    }
    to->once += from->once;
    to->stands += from->stands;
    to->found += from->found;
    to->lacking += from->lacking;
    to->asked_types |= from->asked_types;
    to->lost += from->lost;
    for (int k = 0; k < MRS_REMARKS; k++) {
        to->remarks[k] += from->remarks[k];
    }
}

void
mrsi_rows_sum(const struct mrsi_engine *en, struct mrsi_row *sum)
{
    for (uint32_t i = 0; i < en->jobs; i++) {
        for (uint32_t r = 0; r < en->n_rows; r++) {
            add_row(&sum[r], &en->worker[i].rows[r]);
        }
    }
}

void
mrsi_rows_accept(struct mrsi_engine *en)
{
    mrsi_rows_sum(en, en->rows);
    mrsi_rows_begin(en);
}

enum mrs_status
mrsi_kernel_failed(struct mrsi_worker *w, enum mrs_status s, struct mrs_err *e)
{
    MRS_ASSERT(s < MRS_OK);
    if (e && e->code == MRS_E_NONE) {
        *e = w->err;
    }
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* account.c - the account of a run: every document of every step has exactly one fate.
 *
 * Workers count into rows of their own. An accepted pass adds them to the run's rows; a pass that restarts because of a
 * conflict discards them. */
#include "account.h"
#include "mongoreshape/context.h"

/* The smallest `_id`, independent of the order: the same for any number of workers. */
static void
take_least(struct mrsi_eased *to, struct mrs_val id)
{
    MRS_ASSERT(to->size <= sizeof to->id);
    struct mrs_val now = {to->id, to->size, to->type};
    int order = to->type ? mrs_compare(id, now) : -1;
    if (order == 0) {
        order = id.type != now.type ? (int)id.type - (int)now.type : memcmp(id.p, now.p, id.n < now.n ? id.n : now.n);
    }
    if (order < 0) {
        to->type = id.type;
        to->size = (uint8_t)id.n;
        memcpy(to->id, id.p, id.n);
    }
}

void
mrsi_eased_add(struct mrsi_row *row, uint64_t bits, struct mrs_view doc)
{
    MRS_ASSERT(bits >> MRS_EASED == 0 && mrs_view_is_framed(doc));
    struct mrs_val id = mrs_doc_get(doc, "_id");
    row->failed += bits != 0;
    for (; bits; bits &= bits - 1) {
        struct mrsi_eased *to = &row->eased[__builtin_ctzll(bits)];
        to->n++;
        if (id.type != MRS_MISSING && id.n <= sizeof to->id) {
            take_least(to, id);
        }
    }
}

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
    to->empty_from += from->empty_from;
    to->empty_into |= from->empty_into;
    to->seen |= from->seen;
    to->patterns |= from->patterns;
    for (int k = 0; k < MRS_NOTICE_STEP; k++) {
        to->noticed[0][k] += from->noticed[0][k];
        to->noticed[1][k] += from->noticed[1][k];
    }
    to->once += from->once;
    to->represents += from->represents;
    to->found += from->found;
    to->lacking += from->lacking;
    to->unlike += from->unlike;
    to->nearly += from->nearly;
    to->searched_types |= from->searched_types;
    to->lost += from->lost;
    for (int k = 0; k < MRS_REMARKS; k++) {
        to->remarks[k] += from->remarks[k];
    }
    to->failed += from->failed;
    for (int k = 0; k < MRS_EASED; k++) {
        to->eased[k].n += from->eased[k].n;
        if (from->eased[k].type) {
            take_least(&to->eased[k], (struct mrs_val){from->eased[k].id, from->eased[k].size, from->eased[k].type});
        }
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

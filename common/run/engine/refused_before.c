/* SPDX-License-Identifier: Apache-2.0 */
/* refused_before.c - notes steps that take documents for missing which an earlier step refused.
 *
 * Within a step a reference to a refused document is not dangling. Later steps do not know it any more: a policy or a
 * condition that removes what refers to missing documents also removes what refers to it, and that is not among the
 * refused documents. */
#include "run_engine.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/condition.h"

/* Documents of the collection of this side that steps before it refused. */
static uint64_t
refused_before(const struct mrsi_engine *en, uint32_t step, uint32_t side)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < step; i++) {
        for (uint32_t k = 0; k < en->plan->steps[i].desc.n_sides; k++) {
            if (en->side[i][k] == en->side[step][side]) {
                n += en->rows[en->row_of[i][k]].refused;
                break; /* other sides of this collection have the same row */
            }
        }
    }
    return n;
}

static void
note(struct mrsi_engine *en, uint32_t step, uint32_t side, const char *key)
{
    const struct mrs_step *st = &en->plan->steps[step];
    uint64_t n = refused_before(en, step, side);
    if (n) {
        mrs_catalog_note(en->cat, "step %u, %s: %llu document%s of %s that an earlier step refused count%s as missing "
                                  "for `%s`: what is removed or changed for that reason is in no file of refused "
                                  "documents",
                         st->no, st->type->name, (unsigned long long)n, n == 1 ? "" : "s",
                         st->desc.sides[side].coll.ns, n == 1 ? "s" : "", key);
    }
}

/* Does the policy keep everything? */
static bool
keeps(const struct mrs_step *st, const char *key)
{
    struct mrs_val v = mrs_doc_get(st->body, key);
    return v.type == MRS_MISSING || v.type == MRS_DOCUMENT || mrs_val_is_text(v, "keep") ||
           mrs_val_is_text(v, "refuse");
}

void
mrsi_note_refused_before(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_step *st = &en->plan->steps[i];
        enum mrs_family f = st->desc.family;
        bool both = f == MRS_FAMILY_LINK, refers = both || f == MRS_FAMILY_JOIN || f == MRS_FAMILY_REKEY;
        if (refers && st->body.p && !keeps(st, "dangling")) {
            for (uint32_t side = 0; side <= both; side++) {
                note(en, i, side, "dangling");
            }
        }
        if (refers && st->body.p && !keeps(st, "orphans")) {
            note(en, i, both ? 0 : 1, "orphans");
        }
        for (uint32_t k = 0; k < st->desc.n_conditions; k++) {
            note(en, i, (uint32_t)st->desc.conditions[k].side, "where");
        }
    }
}

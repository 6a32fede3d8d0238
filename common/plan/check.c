/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - checks a plan against the collections that exist.
 *
 * Each step applies itself to the catalog in turn, so the next one finds what it would find in a run: new targets,
 * moved indexes, dropped collections. A step that fails leaves the catalog unchanged; steps on collections that it
 * would have made or emptied are skipped, because their errors would only follow from its own. */
#include "plan_internal.h"
#include "mongoreshape/catalogue.h"

#include <stdio.h>

/* Does b depend on a collection that a would have made or removed? */
static bool
shares(const struct mrs_desc *a, const struct mrs_desc *b)
{
    MRS_ASSERT(a->sides || a->n_sides == 0);
    for (uint32_t i = 0; i < a->n_sides; i++) {
        for (uint32_t j = 0; j < b->n_sides; j++) {
            if ((a->sides[i].role & (MRS_ROLE_ADD | MRS_ROLE_TAKE)) &&
                strcmp(a->sides[i].coll.ns, b->sides[j].coll.ns) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool
is_echo(const struct mrsi_plan *p, const bool *failed, uint32_t step)
{
    for (uint32_t i = 0; i < step; i++) {
        if (failed[i] && shares(&p->pub.steps[i].desc, &p->pub.steps[step].desc)) {
            return true;
        }
    }
    return false;
}

static void
step_failed(struct mrsi_plan *p, uint32_t i, const struct mrs_err *e)
{
    uint32_t line = p->src[i].line, col = p->src[i].col;
    mrsi_tree_locate(p->src[i].body, e->where, &line, &col);
    mrsi_plan_error(p, line, col, "%s%s%s%s: %s", p->pub.steps[i].type->name,
                    *e->where ? ": `" : "", e->where, *e->where ? "`" : "",
                    *e->msg ? e->msg : "cannot be done here");
}

static void
keep_notes(struct mrsi_plan *p, const struct mrs_catalog *cat)
{
    MRS_ASSERT(p->n_notes == 0 || p->notes);
    uint32_t n = mrs_catalog_notes(cat);
    p->n_notes = 0;
    p->notes = mrs_arena_alloc(&p->pub.arena, (n ? n : 1) * sizeof *p->notes);
    for (uint32_t i = 0; p->notes && i < n; i++) {
        const char *note = mrs_catalog_note_at(cat, i);
        p->notes[i] = mrs_arena_copy(&p->pub.arena, note, strlen(note) + 1);
        if (!p->notes[i]) {
            p->notes = NULL;
        }
    }
    p->dead = p->dead || !p->notes;
    p->n_notes = p->notes ? n : 0;
}

enum mrs_status
mrs_plan_check(struct mrs_plan *plan, struct mrs_catalog *cat, struct mrs_err *e)
{
    MRS_ASSERT(plan->steps || plan->n_steps == 0);
    struct mrsi_plan *p = (struct mrsi_plan *)plan;
    bool *failed = mrs_zalloc(plan->mem, plan->n_steps ? plan->n_steps : 1);
    struct mrsi_before *before = mrsi_changes_before(p, cat);
    if (!failed || !before) {
        mrs_free(plan->mem, failed);
        return mrs_err_memory(e, plan->n_steps);
    }
    for (uint32_t i = 0; i < plan->n_steps && !p->dead; i++) {
        struct mrs_err why;
        mrs_err_clear(&why);
        enum mrs_status s = MRS_OK;
        failed[i] = is_echo(p, failed, i);
        if (!failed[i]) {
            s = mrs_catalog_play(cat, &plan->steps[i], plan->version, &why);
        }
        if (s == MRS_DEAD) {
            p->dead = true;
        } else if (s != MRS_OK) {
            failed[i] = true;
            step_failed(p, i, &why);
        }
    }
    mrs_free(plan->mem, failed);
    if (!p->dead) {
        p->dead = mrs_catalog_surplus(cat, plan->notes_all, e) != MRS_OK;
        keep_notes(p, cat);
        p->dead = p->dead || !mrsi_changes_after(p, cat, before);
    }
    mrsi_plan_errors_sort(p);
    return mrsi_plan_errors_status(p, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* setup.c - everything that follows from plan and input metadata alone, before the first document is read.
 *
 * The catalog is taken through the plan step by step, so that each side of each step is bound to one collection,
 * whatever its name becomes later. For each collection it is then known which step is the last that needs all of it:
 * after that its documents go directly to the output. */
#include "run_engine.h"
#include "run/series/unpack_buckets.h"
#include "mongoreshape/catalogue.h"
#include <unistd.h>

static enum mrs_status
add_inputs(struct mrsi_engine *en, struct mrs_err *e)
{
    MRS_ASSERT(en->n_coll == 0 && en->cat);
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        if (in->kind != MRS_INPUT_DATA) {
            continue;
        }
        enum mrs_status s = mrs_catalog_add(en->cat, in->db, in->coll, in->metadata, e);
        struct mrsi_part *part = mrs_arena_alloc(&en->arena, sizeof *part);
        uint32_t *pend = mrs_arena_alloc(&en->arena, (en->plan->n_steps + 1) * sizeof *pend);
        if (s != MRS_OK) {
            return s;
        }
        struct mrs_cat_coll *cat = mrs_catalog_find(en->cat, in->db, in->coll);
        if (!part || !pend || !cat) {
            return mrs_err_memory(e, sizeof *part);
        }
        struct mrsi_coll *c = &en->coll[en->n_coll++];
        *part = (struct mrsi_part){.in_index = i, .pend = pend};
        c->ns = in->ns;
        c->part = part;
        c->n_part = in->data_path != NULL;
        c->in_index = i;
        c->was_there = true;
        cat->no_data = cat->kind == MRS_COLL_VIEW && !in->data_path;
        cat->engine = (void *)(uintptr_t)en->n_coll; /* index + 1 */
    }
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_excluded(en->in); i++) {
        s = mrs_catalog_leave_out(en->cat, mrs_input_excluded_at(en->in, i), e);
    }
    return s;
}

/* The collection with this name in the current catalog; MRSI_NONE. */
static uint32_t
coll_now(struct mrsi_engine *en, const struct mrs_coll *name)
{
    struct mrs_cat_coll *cat = mrs_catalog_find(en->cat, name->db, name->coll);
    return cat && cat->exists && cat->engine ? (uint32_t)(uintptr_t)cat->engine - 1 : MRSI_NONE;
}

/* A collection that a step has just created. */
static enum mrs_status
new_coll(struct mrsi_engine *en, const struct mrs_coll *name, uint32_t *out, struct mrs_err *e)
{
    MRS_ASSERT(name->ns);
    struct mrs_cat_coll *cat = mrs_catalog_find(en->cat, name->db, name->coll);
    if (!cat || !cat->exists) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "there is no collection %s", name->ns);
    }
    struct mrsi_coll *c = &en->coll[en->n_coll++];
    c->ns = cat->coll.ns;
    c->in_index = MRSI_NONE;
    cat->engine = (void *)(uintptr_t)en->n_coll;
    *out = en->n_coll - 1;
    return MRS_OK;
}

static void
note_drops(struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    for (uint32_t i = 0; i < mrs_catalog_count(en->cat); i++) {
        struct mrs_cat_coll *cat = mrs_catalog_at(en->cat, i);
        if (!cat->exists && cat->engine) {
            en->coll[(uintptr_t)cat->engine - 1].dropped_at = step;
            cat->engine = NULL;
        }
    }
}

static enum mrs_status
step_sides(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_step *st = &en->plan->steps[step];
    uint32_t n = st->desc.n_sides;
    uint32_t *side = mrs_arena_alloc(&en->arena, (n + 1) * sizeof *side);
    MRS_TRY(mrs_allocated(side, n * sizeof *side, e));
    for (uint32_t i = 0; i < n; i++) {
        side[i] = coll_now(en, &st->desc.sides[i].coll);
        mrsi_series_side(en, st, &st->desc.sides[i].coll, &side[i]);
    }
    enum mrs_status s = mrs_catalog_play(en->cat, st, en->plan->version, e);
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        side[i] = side[i] == MRSI_NONE ? coll_now(en, &st->desc.sides[i].coll) : side[i];
        if (side[i] == MRSI_NONE) {
            s = new_coll(en, &st->desc.sides[i].coll, &side[i], e);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        mrsi_series_played(en, step, &st->desc.sides[i].coll, side[i]);
    }
    note_drops(en, step);
    en->side[step] = side;
    return s;
}

/* MAP steps wait or are fused; all others need the whole collection. A step with conditions cannot be fused with an
 * earlier one: its lists are made when its turn comes. */
static void
note_uses(struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_desc *d = &en->plan->steps[step].desc;
    bool waits = d->family == MRS_FAMILY_MAP && !d->new_ids && !d->n_conditions;
    for (uint32_t i = 0; i < d->n_sides; i++) {
        struct mrsi_coll *c = &en->coll[en->side[step][i]];
        if (d->family != MRS_FAMILY_CATALOG && !waits) {
            c->hard = step;
        }
        c->whole = c->whole || d->family == MRS_FAMILY_TREE || /* in a sample of a tree most parents would be missing */
                   d->n_sides - i <= d->n_conditions ||        /* with a sample of a list other documents would match */
                   d->family == MRS_FAMILY_LINK || d->family == MRS_FAMILY_REKEY ||
                   (d->family == MRS_FAMILY_JOIN && i == 0 && en->side[step][1] != en->side[step][0]);
        c->content = c->content || (d->sides[i].role & (MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_ADD));
    }
}

static enum mrs_status
make_rows(struct mrsi_engine *en, struct mrs_err *e)
{
    MRS_ASSERT(!en->rows && en->n_rows == 0);
    for (uint32_t step = 0; step < en->plan->n_steps; step++) {
        uint32_t n = en->plan->steps[step].desc.n_sides;
        uint32_t *row = mrs_arena_alloc(&en->arena, (n + 1) * sizeof *row);
        MRS_TRY(mrs_allocated(row, n * sizeof *row, e));
        for (uint32_t i = 0; i < n; i++) {
            uint32_t same = 0;
            while (en->side[step][same] != en->side[step][i]) {
                same++;
            }
            row[i] = same < i ? row[same] : en->n_rows++;
        }
        en->row_of[step] = row;
    }
    en->list_row = en->n_rows;
    en->n_rows += en->plan->n_lists;
    en->rows = mrs_zalloc(en->mem, (en->n_rows + 1) * sizeof *en->rows);
    return mrs_allocated(en->rows, en->n_rows * sizeof *en->rows, e);
}

bool
mrsi_has_made_metadata(const struct mrs_input_ns *in)
{
    return !in->meta_path && in->metadata.n > MRS_DOC_MIN;
}

static void
last_names(struct mrsi_engine *en)
{
    for (uint32_t i = 0; i < mrs_catalog_count(en->cat); i++) {
        struct mrs_cat_coll *cat = mrs_catalog_at(en->cat, i);
        if (cat->exists && cat->engine) {
            MRS_ASSERT((uintptr_t)cat->engine <= en->n_coll);
            struct mrsi_coll *c = &en->coll[(uintptr_t)cat->engine - 1];
            c->cat = cat;
            c->last = cat->coll;
            c->touched = cat->touched || (c->in_index != MRSI_NONE &&
                                          mrsi_has_made_metadata(mrs_input_at(en->in, c->in_index)));
        }
    }
}

static uint32_t
most_collections(const struct mrsi_engine *en)
{
    uint32_t n = mrs_input_count(en->in);
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        n += en->plan->steps[i].desc.n_sides;
    }
    return n + 1;
}

enum mrs_status
mrsi_setup(struct mrsi_engine *en, struct mrs_err *e)
{
    MRS_ASSERT(en->n_coll == 0);
    uint32_t n = en->plan->n_steps, most = most_collections(en);
    en->coll = mrs_zalloc(en->mem, most * sizeof *en->coll);
    en->side = mrs_arena_alloc(&en->arena, (n + 1) * sizeof *en->side);
    en->row_of = mrs_arena_alloc(&en->arena, (n + 1) * sizeof *en->row_of);
    if (!en->coll || !en->side || !en->row_of) {
        return mrs_err_memory(e, most * sizeof *en->coll);
    }
    for (uint32_t i = 0; i < most; i++) {
        en->coll[i].hard = en->coll[i].dropped_at = MRSI_NONE;
    }
    enum mrs_status s = mrs_catalog_new(en->mem, &en->cat, e);
    MRS_THEN(s, add_inputs(en, e));
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        s = step_sides(en, i, e);
        if (s == MRS_OK) {
            note_uses(en, i);
        } else if (e) {
            mrs_err_at(e, "step %u", en->plan->steps[i].no);
        }
    }
    MRS_ASSERT(en->n_coll <= most);
    if (s == MRS_OK) {
        last_names(en);
        s = mrs_catalog_surplus(en->cat, en->plan->notes_all, e);
        MRS_THEN(s, make_rows(en, e));
    }
    return s;
}

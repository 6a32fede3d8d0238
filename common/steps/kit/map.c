/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - shared by set, unset, rename, cast, order and similar steps.
 *
 * One document in, the same document out or refused. These steps differ in one function that edits raw bytes, in the
 * paths that indexes must follow, and in texts. Everything else is here, so that `where`, sizes and refusals have one
 * meaning in all of them. This file must not know its step. */
#include "map.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"

void
mrsi_map_read(struct mrsi_read *r, struct mrsi_map *m)
{
    m->indexes = true;
    mrsi_read_coll(r, mrsi_slot(r, "in"), &m->in);
    mrsi_read_query(r, mrsi_slot(r, "where"), &m->where);
    mrsi_read_bool(r, mrsi_slot(r, "indexes"), &m->indexes);
}

static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    const struct mrsi_map *m = state;
    struct mrsi_work *w = work;
    bool takes, changed = false;
    mrsi_work_start(w, c);
    *fate = MRS_FATE_STAYS;
    enum mrs_status s = mrsi_step_where(m->where, c, doc, &takes);
    if (s == MRS_OK && takes) {
        s = mrsi_step_skip(c, m->edit(state, c, w, doc, &w->out[0], &changed), m->place);
        s = s == MRS_OK && changed ? mrsi_step_size(c, &w->out[0]) : s;
    }
    if (s != MRS_OK) {
        return s;
    }
    if (changed || (takes && m->claims)) {
        *fate = MRS_FATE_CHANGED;
    }
    if (changed) {
        doc = (struct mrs_view){w->out[0].p, (uint32_t)w->out[0].n};
    }
    mrsi_work_emit(w, side, true, doc);
    return MRS_OK;
}

const struct mrs_spread_ops mrsi_map_ops = {.begin = begin, .next = mrsi_work_next};

void
mrsi_map_describe(struct mrsi_describe *t, const struct mrsi_map *m, struct mrs_arena *arena, struct mrs_desc *out,
                  struct mrs_err *e)
{
    mrsi_describe_begin(t, arena, out, MRS_FAMILY_MAP, e);
    mrsi_describe_side(t, &m->in, MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN, "in");
    mrsi_describe_query(t, 0, m->where);
    out->compares_nothing = !m->where;
}

const char *
mrsi_map_those(const struct mrsi_map *m)
{
    return m->where ? "those documents that `where` takes of " : "every document of ";
}

enum mrs_status
mrsi_map_catalog(mrsi_describe_fn describe, const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct mrsi_map *m = state;
    struct mrs_cat_coll *cc = NULL;
    struct mrs_desc d;
    enum mrs_status s = mrsi_cat_need(cat, &m->in, true, "in", &cc, e);
    MRS_THEN(s, describe(state, mrs_catalog_arena(cat), &d, e));
    if (s == MRS_OK && m->indexes) {
        mrsi_indexes_note_values(cat, cc, m->write, m->n_write);
        mrsi_indexes_note_added(cat, cc, &d, 0);
        s = m->moves.n || m->moves.through
                ? mrsi_indexes_rewrite(cat, cc, &m->moves, m->where || m->partly, e) : MRS_OK;
    }
    return s == MRS_OK ? mrsi_cat_validators(cat, &d, e) : s;
}

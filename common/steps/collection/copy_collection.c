/* SPDX-License-Identifier: Apache-2.0 */
/* copy_collection.c - the step `copy_collection`: copies a collection to another name.
 *
 * Documents, indexes and options are copied unchanged, except the uuid, which belongs to one collection. The new name
 * must be free: to add documents to an existing collection use `union` or `move`, which have policies for equal
 * `_id`s. */
#include "steps/catalog/indexes.h"
#include "steps/kit/invert.h"
#include "steps/kit/kernel.h"
#include "steps/kit/describe.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"

struct copy_of {
    struct mrsi_owned keep;
    struct mrs_coll from, into;
    struct mrs_query *where;
    bool indexes;
};

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "the collection that is copied"},
    {"into", MRS_ARG_COLL, true, NULL, "the name of the copy, which must be free"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether the copy gets the indexes (true)"},
};

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct copy_of *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->indexes = true;
    mrsi_read_from_into(&r, &s->from, &s->into);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    return mrsi_read_end(&r, state);
}

static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct copy_of *s = state;
    bool selected;
    mrsi_work_start(work, c);
    *fate = MRS_FATE_STAYS;
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &selected);
    if (st == MRS_OK) {
        mrsi_work_emit(work, side, true, doc);
    }
    if (st == MRS_OK && selected) {
        mrsi_work_emit(work, 1, false, doc);
    }
    return st;
}

static const struct mrs_spread_ops ops = {.begin = begin, .next = mrsi_work_next};

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct copy_of *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_SPREAD, e);
    mrsi_describe_side(&t, &s->from, MRS_ROLE_READ | MRS_ROLE_MAIN, "from");
    mrsi_describe_side(&t, &s->into, MRS_ROLE_ADD, "into");
    mrsi_describe_query(&t, 0, s->where);
    out->compares_nothing = out->whole_only = !s->where;
    mrsi_describe_touch(&t, 0, 'R', "");
    mrsi_describe_touch(&t, 1, 'A', "");
    mrsi_describe_listing(&t, 1, "_id", "_id");
    mrsi_describe_words(&t, "copies %s of %s to %s", s->where ? "those documents that `where` takes" : "all documents",
                        s->from.ns, s->into.ns);
    mrsi_describe_once(&t, "the new collection is there after it");
    return mrsi_describe_end(&t);
}

static enum mrs_status
copy_indexes(struct mrs_catalog *cat, const struct mrs_cat_coll *from, struct mrs_cat_coll *into, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    if (from->n_index) {
        into->n_index = 0; /* its `_id_` may have a collation, too */
    }
    for (uint32_t i = 0; st == MRS_OK && i < from->n_index; i++) {
        st = mrsi_cat_add_index(cat, into, from->index[i], e);
    }
    return st;
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct copy_of *s = state;
    struct mrs_cat_coll *from = NULL, *into = NULL;
    const struct mrs_cat_coll *there = mrs_catalog_find(cat, s->into.db, s->into.coll);
    enum mrs_status st = mrsi_cat_need(cat, &s->from, false, "from", &from, e);
    if (st == MRS_OK && there && there->exists) {
        mrs_err_at(e, "into");
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s exists: give the copy another name",
                           s->into.ns);
    }
    MRS_THEN(st, mrsi_cat_target(cat, &s->into, "into", &into, NULL, e));
    if (st == MRS_OK && from->kind != MRS_COLL_PLAIN) {
        into->kind = from->kind;
        into->n_index = 0; /* it has no `_id_` */
        into->no_data = from->no_data;
    }
    if (st == MRS_OK && s->indexes) {
        st = copy_indexes(cat, from, into, e);
    }
    MRS_THEN(st, mrsi_cat_set_options(cat, into, from->options, e));
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}

const struct mrs_step_type mrsi_step_copy_collection = {
    .name = "copy_collection",
    .since = 2,
    .summary = "copies a collection with its indexes and options",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_PAIR,
    .example = "from: orders\ninto: orders_before\n\nwhere: { total: { $gt: 0 } }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_copy_collection_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &ops,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - the step `split`: moves rarely used fields to a sibling document.
 *
 * The named fields leave their document and form one with the same `_id` in another collection, so both can be joined.
 * A document without these fields is unchanged and gets no sibling; one without an `_id` is refused, because nothing
 * would connect both parts. Both parts are projections of the same bytes. */
#include "steps/catalog/indexes.h"
#include "steps/kit/invert.h"
#include "steps/kit/shape.h"
#include "steps/kit/describe.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"

struct split {
    struct mrsi_owned keep;
    struct mrs_coll from, into;
    struct mrs_query *where;
    struct mrsi_paths fields;
    struct mrs_projection *leave, *take;
    struct mrsi_moves removed, carried;
    int conflicts;
    bool indexes;
};

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "the collection whose documents are split"},
    {"fields", MRS_ARG_PATHS, true, NULL, "the paths to move"},
    {"into", MRS_ARG_COLL, true, NULL, "the collection of the siblings; created if missing"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"},
    {"conflicts", MRS_ARG_CHOICE, false, "refuse|first|last", "which of several siblings with one `_id` is kept"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

static void
plan_paths(struct mrsi_read *r, struct split *s)
{
    struct mrs_err e;
    uint32_t n = s->fields.n, m = 0;
    struct mrsi_move *removed = mrsi_read_alloc(r, n, sizeof *removed), *kept = mrsi_read_alloc(r, n, sizeof *kept);
    mrs_err_clear(&e);
    if (!removed || !kept) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (mrsi_index_plain(&s->fields.path[i])) {
            removed[m] = (struct mrsi_move){s->fields.path[i].text, NULL};
            kept[m++] = (struct mrsi_move){s->fields.path[i].text, s->fields.path[i].text};
        }
    }
    s->removed = (struct mrsi_moves){.move = removed, .n = m};
    s->carried = (struct mrsi_moves){.move = kept, .n = m, .others_lost = true};
    enum mrs_status st = mrs_projection_new(r->args->mem, s->fields.path, n, false, false, &s->leave, &e);
    if (st == MRS_OK && !mrsi_level_add(&s->keep, MRSI_PROJECTION, s->leave)) {
        st = mrs_err_memory(&e, 0);
    }
    MRS_THEN(st, mrs_projection_new(r->args->mem, s->fields.path, n, true, false, &s->take, &e));
    if (st == MRS_OK && !mrsi_level_add(&s->keep, MRSI_PROJECTION, s->take)) {
        st = mrs_err_memory(&e, 0);
    }
    if (st != MRS_OK) {
        mrsi_read_failed(r, "fields", NULL, st, &e);
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct split *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->indexes = true;
    mrsi_read_from_into(&r, &s->from, &s->into);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    mrsi_read_choice(&r, mrsi_slot(&r, "conflicts"), &s->conflicts);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    if (mrsi_read_paths(&r, mrsi_slot(&r, "fields"), &s->fields) && s->fields.n == 0) {
        mrsi_read_error(&r, "fields", NULL, "names no field");
    }
    for (uint32_t i = 0; i < s->fields.n; i++) {
        mrsi_read_not_id(&r, mrsi_slot(&r, "fields"), &s->fields.path[i]);
    }
    if (mrsi_read_good(&r)) {
        plan_paths(&r, s);
    }
    return mrsi_read_end(&r, state);
}

static enum mrs_status
halve(const struct split *s, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view doc, bool *changed)
{
    enum mrs_status st = mrs_projection_run(s->leave, doc, &w->out[0], c->err);
    if (st != MRS_OK) {
        return mrsi_step_skip(c, st, "fields");
    }
    *changed = w->out[0].n != doc.n || memcmp(w->out[0].p, doc.p, doc.n) != 0;
    if (!*changed) {
        return MRS_OK;
    }
    if (mrs_doc_get(doc, "_id").type == MRS_MISSING) {
        return mrsi_step_refuse(c, NULL, "it has no _id, so nothing would tie its halves together");
    }
    st = mrsi_step_skip(c, mrs_projection_run(s->take, doc, &w->out[1], c->err), "fields");
    return st == MRS_OK ? mrsi_step_size(c, &w->out[0]) : st;
}

static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct split *s = state;
    struct mrsi_work *w = work;
    bool takes, changed = false;
    mrsi_work_start(w, c);
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &takes);
    if (st == MRS_OK && takes) {
        st = halve(s, c, w, doc, &changed);
    }
    if (st != MRS_OK) {
        return st;
    }
    *fate = changed ? MRS_FATE_CHANGED : MRS_FATE_STAYS;
    mrsi_work_emit(w, side, true, changed ? mrsi_buf_view(&w->out[0], 0) : doc);
    if (changed) {
        mrsi_work_emit(w, 1, false, mrsi_buf_view(&w->out[1], 0));
    }
    return MRS_OK;
}

static const struct mrs_spread_ops ops = {.begin = begin, .next = mrsi_work_next};

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct split *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_SPREAD, e);
    mrsi_describe_side(&t, &s->from, MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN, "from");
    mrsi_describe_side(&t, &s->into, MRS_ROLE_ADD, "into");
    out->conflicts = (enum mrs_conflicts)s->conflicts;
    mrsi_describe_query(&t, 0, s->where);
    out->takes_away = out->compares_nothing = !s->where;
    mrsi_describe_touch(&t, 0, 'R', "_id");
    for (uint32_t i = 0; i < s->fields.n; i++) {
        mrsi_describe_touch(&t, 0, 'R', s->fields.path[i].text);
        mrsi_describe_touch(&t, 0, 'D', s->fields.path[i].text);
    }
    mrsi_describe_touch(&t, 1, 'A', "");
    mrsi_describe_listing(&t, 1, "_id", "_id");
    mrsi_describe_conflicts(&t);
    mrsi_describe_not_direct(&t, "fields leave their document, a second pass would not find them" MRSI_DO_CONTRACT);
    const char *names = mrsi_describe_paths(&t, s->fields.path, s->fields.n, 6);
    mrsi_describe_words(&t, "moves %s from %s%s to a document of the same _id in %s", names,
                        s->where ? "those documents that `where` takes of " : "every document of ", s->from.ns,
                                s->into.ns);
    mrsi_describe_loss(&t, "the places of %s among the fields", names);
    if (s->conflicts) {
        mrsi_describe_loss(&t, "siblings of which another one with the same _id counts");
    }
    return mrsi_describe_end(&t);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct split *s = state;
    struct mrs_cat_coll *from = NULL, *into = NULL;
    struct mrs_desc d;
    bool fresh = false;
    enum mrs_status st = mrsi_cat_need(cat, &s->from, true, "from", &from, e);
    MRS_THEN(st, mrsi_cat_target(cat, &s->into, "into", &into, &fresh, e));
    if (st == MRS_OK && s->indexes) {
        struct mrsi_carry how = {.moves = &s->carried,
                                 .lose = MRSI_LEAVE_TTL | (fresh ? 0 : MRSI_LOSE_UNIQUE),
                                 .why = "the collection has documents of its own"};
        st = mrsi_indexes_carry(cat, from, into, &how, e);
        MRS_THEN(st, mrsi_indexes_rewrite(cat, from, &s->removed, s->where != NULL, e));
    }
    MRS_THEN(st, describe(state, mrs_catalog_arena(cat), &d, e));
    return st == MRS_OK ? mrsi_cat_validators(cat, &d, e) : st;
}

const struct mrs_step_type mrsi_step_split = {
    .name = "split",
    .summary = "moves fields to a document of the same _id in another collection",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .example = "from: products\nfields: [specs, manual]\ninto: product_details\n\n"
               "where: { specs: { $exists: true } }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_split_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &ops,
};

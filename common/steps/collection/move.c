/* SPDX-License-Identifier: Apache-2.0 */
/* move.c - the step `move`: moves documents to another collection.
 *
 * Documents that match `where` leave `from` and enter `into`, unchanged or shaped by `fields` and `drop`. They keep
 * their `_id`. Indexes are copied to the target, except those that expire documents: an archive must not delete its
 * documents unless the plan asks for that. */
#include "steps/catalog/indexes.h"
#include "steps/kit/invert.h"
#include "mongoreshape/value.h"
#include "steps/kit/shape.h"
#include "steps/kit/describe.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"

struct move_of {
    struct mrsi_owned keep;
    struct mrs_coll from, into;
    struct mrs_query *where;
    bool compares; /* an expression of `fields` compares values */
    struct mrsi_shape shape;
    struct mrsi_moves moves;
    int conflicts;
    bool indexes, shaped;
};

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "the collection that documents leave"},
    {"into", MRS_ARG_COLL, true, NULL, "the target collection; created if missing"},
    {"where", MRS_ARG_QUERY, false, NULL, "the documents to move; default: all"},
    {"conflicts", MRS_ARG_CHOICE, false, "refuse|first|last", "which of several documents with one `_id` is kept"},
    {"fields", MRS_ARG_FIELDS, false, NULL, "fields to keep, or a map of new fields"},
    {"drop", MRS_ARG_PATHS, false, NULL, "fields to omit"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

/* Moves of index paths: dropped paths are gone, listed ones stay, and a field of a map that is just "$path" has a new
 * name. */
static void
plan_indexes(struct mrsi_read *r, struct move_of *s)
{
    const struct mrsi_fields *f = &s->shape.fields;
    struct mrsi_move *mv = mrsi_read_alloc(r, (size_t)f->n + s->shape.drop.n + 1, sizeof *mv);
    uint32_t n = 0;
    if (!mv) {
        return;
    }
    for (uint32_t i = 0; i < s->shape.drop.n; i++) {
        if (mrsi_index_plain(&s->shape.drop.path[i]) && !f->map) {
            mv[n++] = (struct mrsi_move){s->shape.drop.path[i].text, NULL};
        }
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const char *old = f->map ? mrs_expr_bare_path(f->expr[i]) : f->path[i].text;
        if (old && mrsi_index_plain(&f->path[i]) && !mrsi_shape_drops(&s->shape, &f->path[i])) {
            mv[n++] = (struct mrsi_move){old, f->path[i].text};
        }
    }
    if (f->present) {
        mv[n++] = (struct mrsi_move){"_id", "_id"};
    }
    s->moves = (struct mrsi_moves){.move = mv, .n = n, .others_lost = f->present};
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct move_of *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->indexes = true;
    mrsi_read_from_into(&r, &s->from, &s->into);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    s->compares = mrsi_compares(mrsi_slot(&r, "fields").v);
    mrsi_read_choice(&r, mrsi_slot(&r, "conflicts"), &s->conflicts);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    mrsi_shape_read(&r, mrsi_slot(&r, "fields"), mrsi_slot(&r, "drop"), &s->shape);
    s->shaped = mrsi_shape_is_set(&s->shape);
    if (mrsi_read_good(&r)) {
        plan_indexes(&r, s);
    }
    return mrsi_read_end(&r, state);
}

/* The shaped document in out[1], with the source's `_id` first if the shape omitted it. */
static void
put_id(struct mrsi_work *w, struct mrs_val id)
{
    MRS_ASSERT(mrs_val_is_sized(id));
    struct mrs_view made = mrsi_buf_view(&w->out[1], 0);
    struct mrs_walk walk;
    struct mrs_elem e;
    struct mrs_buf *out = &w->out[0];
    size_t at = mrsi_put_open(out);
    if (id.type != MRS_MISSING) {
        mrsi_put_elem(out, "_id", 3, id);
    }
    for (mrs_walk_init(&walk, made); mrs_walk_next(&walk, &e) == 1;) {
        if (id.type == MRS_MISSING || !mrs_name_is(&e, "_id", 3)) {
            mrs_buf_put(out, e.p, (size_t)(walk.at - e.p));
        }
    }
    mrsi_put_close(out, at);
}

static enum mrs_status
shape(const struct move_of *s, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view *doc)
{
    MRS_ASSERT(s->shaped);
    struct mrsi_shaping how = {.c = c, .errors = MRSI_ERRORS_REFUSE};
    MRS_TRY(mrsi_shape_run(&s->shape, &how, *doc, &w->out[1]));
    struct mrs_val id = mrs_doc_get(*doc, "_id");
    struct mrs_buf *made = &w->out[1];
    if (!mrs_identical(id, mrs_doc_get(mrsi_buf_view(made, 0), "_id"))) {
        put_id(w, id);
        made = &w->out[0];
    }
    enum mrs_status st = mrsi_step_size(c, made);
    *doc = mrsi_buf_view(made, 0);
    return st;
}

static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct move_of *s = state;
    bool selected;
    mrsi_work_start(work, c);
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &selected);
    if (st == MRS_OK && selected && s->shaped) {
        st = shape(s, c, work, &doc);
    }
    if (st != MRS_OK) {
        return st;
    }
    *fate = selected ? MRS_FATE_TAKEN : MRS_FATE_STAYS;
    mrsi_work_emit(work, selected ? 1 : side, !selected, doc);
    return MRS_OK;
}

static const struct mrs_spread_ops ops = {.begin = begin, .next = mrsi_work_next};

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct move_of *s = state;
    const struct mrsi_fields *f = &s->shape.fields;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_SPREAD, e);
    mrsi_describe_side(&t, &s->from, MRS_ROLE_READ | MRS_ROLE_TAKE | MRS_ROLE_MAIN, "from");
    mrsi_describe_side(&t, &s->into, MRS_ROLE_ADD, "into");
    out->conflicts = (enum mrs_conflicts)s->conflicts;
    mrsi_describe_query(&t, 0, s->where);
    out->compares_nothing = !s->where && !s->compares;
    for (uint32_t i = 0; f->map && i < f->n; i++) {
        mrsi_describe_expr(&t, 0, f->expr[i]);
    }
    mrsi_describe_touch(&t, 0, 'R', "");
    mrsi_describe_names(&t, 0, NULL, f->path, f->map ? 0 : f->n);
    mrsi_describe_names(&t, 0, NULL, s->shape.drop.path, s->shape.fields.map ? 0 : s->shape.drop.n);
    mrsi_describe_touch(&t, 0, 'D', "");
    out->takes_away = !s->where;
    mrsi_describe_touch(&t, 1, 'A', "");
    mrsi_describe_listing(&t, 1, "_id", "_id");
    mrsi_describe_conflicts(&t);
    mrsi_describe_not_direct(&t, MRSI_TAKES_DOCUMENTS);
    mrsi_describe_words(&t, "moves %s of %s to %s", s->where ? "those documents that `where` takes" : "all documents",
                        s->from.ns, s->into.ns);
    if (s->shaped) {
        mrsi_describe_words(&t, ", shaped by `fields` and `drop`");
        mrsi_describe_loss(&t, "what `fields` and `drop` leave out");
    }
    mrsi_describe_loss(&t, "the places of the moved documents among those of %s, and which of %s were moved",
                       s->from.ns, s->into.ns);
    if (s->conflicts) {
        mrsi_describe_loss(&t, "documents of which another one with the same _id counts");
    }
    return mrsi_describe_end(&t);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct move_of *s = state;
    struct mrs_cat_coll *from = NULL, *into = NULL;
    struct mrs_desc d;
    bool fresh = false;
    enum mrs_status st = mrsi_cat_need(cat, &s->from, true, "from", &from, e);
    MRS_THEN(st, mrsi_cat_target(cat, &s->into, "into", &into, &fresh, e));
    if (st == MRS_OK && s->indexes) {
        struct mrsi_carry how = {.moves = &s->moves,
                                 .lose = MRSI_WHOLE | MRSI_LEAVE_TTL | (fresh ? 0 : MRSI_LOSE_UNIQUE),
                                 .why = "the collection has documents of its own"};
        st = mrsi_indexes_carry(cat, from, into, &how, e);
    }
    MRS_THEN(st, describe(state, mrs_catalog_arena(cat), &d, e));
    return st == MRS_OK ? mrsi_cat_validators(cat, &d, e) : st;
}

const struct mrs_step_type mrsi_step_move = {
    .name = "move",
    .summary = "moves documents into another collection",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_GATHER,
    .example = "from: orders\ninto: orders_archive\n"
               "where: { createdAt: { $lt: { $date: \"2024-01-01T00:00:00Z\" } } }\n\n"
               "fields: [customerId, amount]\ndrop: [cache]\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_move_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &ops,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* grid.c - the step `grid`: makes one document for each combination of the values of its axes.
 *
 * An axis is a list in the plan, or the distinct values of a field of a collection. Constants are computed when the
 * plan is read, so an error in one is an error of the plan. The `_id` of a document is derived from its values, so the
 * same grid twice gives the same documents. The engine enumerates the combinations. */
#include "steps/catalog/indexes.h"
#include "steps/kit/invert.h"
#include "mongoreshape/axes.h"
#include "steps/kit/shape.h"
#include "steps/kit/describe.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"

struct grid_of {
    struct mrsi_owned keep;
    struct mrs_coll into, *from; /* source collection of each axis; ns NULL: the values are in the plan */
    struct mrs_axis *axis;
    uint32_t n;
    struct mrsi_shape shape;
    struct mrs_expr *id;
    bool new_id; /* `id: new` */
    int conflicts;
};

static const struct mrs_key keys[] = {
    {"into", MRS_ARG_COLL, true, NULL, "the target collection; created if missing"},
    {"by", MRS_ARG_MAP, true, NULL, "name: list, constant expression, or {from, field}; the first axis is the slowest"},
    {"fields", MRS_ARG_FIELDS, false, NULL, "fields of each document, from the values of the axes; default: these "
                                            "values"},
    {"id", MRS_ARG_ANY, false, NULL, "an expression; default: new, made of the values of the axes"},
    {"conflicts", MRS_ARG_CHOICE, false, "refuse|first|last", "which of several documents with one `_id` is kept"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true); grid touches none"},
};
static const struct mrs_key axis_keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "the collection whose documents hold the values"},
    {"field", MRS_ARG_PATH, true, NULL, "where they lie; each value counts once"},
};
enum { MANY = 10000000 }; /* documents */
enum { N_AXIS_KEYS = sizeof axis_keys / sizeof *axis_keys };

/* ---- compile ---- */
static void
note_read(void *arg, const char *path)
{
    (void)path;
    *(bool *)arg = true;
}

/* Is the expression constant? It may use variables of its own, as in $map over $range. */
static bool
value_of(struct mrsi_read *r, struct mrsi_slot s, const struct mrs_expr *x, struct mrs_val *v)
{
    MRS_ASSERT(x && v);
    bool reads = false;
    if (mrs_expr_constant(x, v)) {
        return true;
    }
    mrs_expr_reads(x, note_read, &reads);
    if (reads) {
        return mrsi_read_error(r, s.key, s.sub, "reads a document, but an axis has none: give a list, a constant "
                               "expression, or {from, field}; a text that begins with $ is written {$literal: ...}");
    }
    struct mrs_err e;
    mrs_err_clear(&e);
    struct mrs_eval ev = {.arena = r->args->arena, .root = mrs_empty_doc(), .err = &e};
    enum mrs_status st = mrs_expr_eval(x, &ev, v);
    return st == MRS_OK || mrsi_read_failed(r, s.key, s.sub, st, &e);
}

static void
read_constant(struct mrsi_read *r, struct mrsi_slot s, struct mrs_axis *out)
{
    struct mrs_expr *x = NULL;
    struct mrs_val v;
    if (!mrsi_read_expr(r, s, &x) || !value_of(r, s, x, &v)) {
        return;
    }
    if (v.type != MRS_ARRAY) {
        mrsi_read_error(r, s.key, s.sub, "the values of an axis must be a list, not %s", mrs_type_name(v.type));
    } else {
        out->values = mrs_val_view(v);
    }
}

static void
read_axis(struct mrsi_read *r, struct grid_of *s, const struct mrs_elem *e)
{
    MRS_ASSERT(s->axis);
    struct mrs_axis *a = &s->axis[s->n];
    struct mrsi_slot slot = {e->v, "by", e->name, NULL};
    *a = (struct mrs_axis){.name = e->name, .side = -1};
    if (!e->name[0] || e->name[0] == '$' || strchr(e->name, '.')) {
        mrsi_read_error(r, "by", e->name, "`%s` is no name of a top-level field", e->name);
    }
    if (e->v.type != MRS_DOCUMENT || mrs_doc_get(mrs_val_view(e->v), "from").type == MRS_MISSING) {
        read_constant(r, slot, a);
    } else if (mrsi_read_map(r, slot, axis_keys, N_AXIS_KEYS)) {
        mrsi_read_coll(r, mrsi_slot_below(r, slot, axis_keys, N_AXIS_KEYS, "from"), &s->from[s->n]);
        mrsi_read_path(r, mrsi_slot_below(r, slot, axis_keys, N_AXIS_KEYS, "field"), &a->path);
        a->side = 0; /* numbered after all axes are read */
    }
    s->n++;
}

static void
read_axes(struct mrsi_read *r, struct grid_of *s)
{
    struct mrsi_slot by = mrsi_slot(r, "by");
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t room = 0;
    int side = 1;
    if (by.v.type != MRS_DOCUMENT) {
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(by.v)); mrs_walk_next(&w, &e) == 1;) {
        room++;
    }
    s->axis = mrsi_read_alloc(r, room, sizeof *s->axis);
    s->from = mrsi_read_alloc(r, room, sizeof *s->from);
    if (room == 0 || room >= MRS_SIDES_MAX) {
        mrsi_read_error(r, "by", NULL, room ? "has more than %d axes" : "names no axis", MRS_SIDES_MAX - 1);
    }
    if (!s->axis || !s->from || room >= MRS_SIDES_MAX) {
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(by.v)); mrs_walk_next(&w, &e) == 1;) {
        read_axis(r, s, &e);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        s->axis[i].side = s->axis[i].side < 0 ? -1 : side++;
    }
}

/* Warns about many documents, of which an input shows nothing: the plan alone makes them. */
static void
check_number(struct mrsi_read *r, const struct grid_of *s)
{
    double n = 1;
    for (uint32_t i = 0; i < s->n; i++) {
        n *= s->axis[i].side < 0 ? mrs_val_count(mrs_view_val(s->axis[i].values)) : 1;
    }
    if (n > MANY) {
        mrsi_read_warn(r, "by", NULL, "makes at least %.0f documents, one for each combination", n);
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    bool indexes = true;
    struct grid_of *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    mrsi_read_coll(&r, mrsi_slot(&r, "into"), &s->into);
    read_axes(&r, s);
    if (mrsi_read_good(&r)) {
        check_number(&r, s);
    }
    mrsi_shape_read(&r, mrsi_slot(&r, "fields"), (struct mrsi_slot){mrs_missing(), "fields", NULL, NULL}, &s->shape);
    s->new_id = mrs_val_is_text(mrsi_slot(&r, "id").v, "new");
    if (!s->new_id) {
        mrsi_read_expr(&r, mrsi_slot(&r, "id"), &s->id);
    }
    mrsi_read_choice(&r, mrsi_slot(&r, "conflicts"), &s->conflicts);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &indexes);
    return mrsi_read_end(&r, state);
}

static const struct mrs_axis *
axes(const void *state, uint32_t *n)
{
    const struct grid_of *s = state;
    *n = s->n;
    return s->axis;
}

/* ---- documents ---- */
/* The `_id` of the document for these axes; room holds a new one. */
static enum mrs_status
find_id(const struct grid_of *s, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view axes_doc, struct mrs_view body,
        uint8_t room[12], struct mrs_val *id)
{
    MRS_ASSERT(mrs_view_is_framed(axes_doc) && mrs_view_is_framed(body));
    enum mrs_status st = MRS_OK;
    *id = s->new_id ? mrs_missing() : mrs_doc_get(body, "_id");
    if (s->id) {
        struct mrs_eval ev = mrsi_step_eval(c, axes_doc);
        st = mrsi_step_skip(c, mrs_expr_eval(s->id, &ev, id), "id");
    } else if (id->type == MRS_MISSING) {
        struct mrs_new_id in = {s->into.ns, s->into.ns, mrs_view_val(axes_doc), mrs_null(), NULL, 0, 0};
        *id = (struct mrs_val){room, 12, MRS_OBJECTID};
        return mrsi_step_skip(c, mrs_id_make(&in, &w->raw, room, c->err), "id");
    }
    const char *fault = st == MRS_OK ? mrsi_step_id_fault(*id) : NULL;
    return fault ? mrsi_step_refuse(c, s->id ? "id" : "by", "the _id would be %s, which no server takes", fault) : st;
}

static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct grid_of *s = state;
    struct mrsi_work *w = work;
    struct mrs_view body = doc;
    struct mrs_val id;
    struct mrs_walk walk;
    struct mrs_elem e;
    uint8_t room[12];
    mrsi_work_start(w, c);
    *fate = MRS_FATE_CHANGED;
    if (mrsi_shape_is_set(&s->shape)) {
        struct mrsi_shaping how = {.c = c, .errors = MRSI_ERRORS_REFUSE};
        MRS_TRY(mrsi_shape_run(&s->shape, &how, doc, &w->out[1]));
        body = mrsi_buf_view(&w->out[1], 0);
    }
    MRS_TRY(find_id(s, c, w, doc, body, room, &id));
    struct mrs_buf *out = &w->out[0];
    mrsi_put_open(out);
    mrsi_put_elem(out, "_id", 3, id);
    for (mrs_walk_init(&walk, body); mrs_walk_next(&walk, &e) == 1;) {
        if (!mrs_name_is(&e, "_id", 3)) {
            mrs_buf_put(out, e.p, (size_t)(walk.at - e.p));
        }
    }
    mrsi_put_close(out, 0);
    enum mrs_status st = mrsi_step_size(c, out);
    MRS_THEN(st, mrsi_step_depth(c, "fields", mrs_empty_doc(), mrsi_buf_view(out, 0)));
    if (id.p == room) {
        mrsi_work_emit_generated(w, side, mrsi_buf_view(out, 0));
    } else {
        mrsi_work_emit(w, side, false, mrsi_buf_view(out, 0));
    }
    return st;
}

static const struct mrs_spread_ops spread = {.begin = begin, .next = mrsi_work_next};
static const struct mrs_grid_ops grid = {axes};

/* ---- description ---- */
static void
describe_axes(struct mrsi_describe *t, const struct grid_of *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct mrs_axis *a = &s->axis[i];
        mrsi_describe_words(t, "%s%s", i == 0 ? "" : i + 1 == s->n ? " and " : ", ", a->name);
        if (a->side >= 0) {
            mrsi_describe_side(t, &s->from[i], MRS_ROLE_READ, "by");
            mrsi_describe_touch(t, a->side, 'R', a->path.text);
            mrsi_describe_words(t, " (each %s in %s)", a->path.text, s->from[i].ns);
        }
    }
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct grid_of *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_GRID, e);
    mrsi_describe_side(&t, &s->into, MRS_ROLE_ADD, "into");
    out->conflicts = (enum mrs_conflicts)s->conflicts;
    mrsi_describe_touch(&t, 0, 'A', "");
    mrsi_describe_words(&t, "makes a document in %s for each combination of ", s->into.ns);
    describe_axes(&t, s);
    mrsi_describe_quiet(&t, "what it makes belongs to no document that could be looked at again" MRSI_DO_QUIET);
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->axis[i].side >= 0 && mrsi_coll_same(&s->from[i], &s->into)) {
            mrsi_describe_once(&t, "an axis would have the values of the documents that it has made");
        }
    }
    if (s->conflicts) {
        mrsi_describe_loss(&t, "documents of which another one with the same _id counts");
    }
    return mrsi_describe_end(&t);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct grid_of *s = state;
    struct mrs_cat_coll *cc = NULL;
    struct mrs_desc d;
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < s->n; i++) {
        st = s->axis[i].side >= 0 ? mrsi_cat_need(cat, &s->from[i], false, "by", &cc, e) : MRS_OK;
    }
    MRS_THEN(st, mrsi_cat_target(cat, &s->into, "into", &cc, NULL, e));
    MRS_THEN(st, describe(state, mrs_catalog_arena(cat), &d, e));
    return st == MRS_OK ? mrsi_cat_validators(cat, &d, e) : st;
}

const struct mrs_step_type mrsi_step_grid = {
    .name = "grid",
    .summary = "makes a document for each combination of values",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .example = "into: seats\nby: { hall: [red, blue], row: { $range: [1, 41] }, seat: { $range: [1, 31] } }\n\n"
               "fields: { hall: $hall, row: $row, seat: $seat, free: true }\n"
               "id: { hall: $hall, row: $row, seat: $seat }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_grid_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &spread,
    .grid = &grid,
};

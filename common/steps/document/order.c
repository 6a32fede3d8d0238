/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - the step `order`: reorders fields.
 *
 * The named fields come first, in the order of the plan; all others follow unchanged. A dotted path also orders nested
 * documents, including documents in arrays. `_id` stays first unless it is named, because a server would put it there
 * anyway. Elements are moved as bytes. A document in the right order is not rewritten, even with duplicate names.
 * Recursion is bounded by the paths of the plan. */
#include "steps/kit/invert.h"
#include "steps/kit/map.h"
#include "steps/kit/shape.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/context.h"

struct order_name {
    const char *name;
    uint32_t len;
    struct order_level *below; /* NULL: nested fields are not ordered */
};
struct order_level { /* in the order of first mention */
    struct order_name *name;
    uint32_t n, cap;
};
struct order_of {
    struct mrsi_map map;
    struct mrsi_paths fields;
    struct order_level top; /* with `_id` first if it is not named */
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents are changed"},
    {"fields", MRS_ARG_PATHS, true, NULL, "the new order; other fields follow in their old order, dotted paths order "
                                          "inside"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true); order touches none"},
};

/* ---- compile ---- */
/* The name in a level, added if new; NULL: out of memory. */
static struct order_name *
name_in(struct mrsi_read *r, struct order_level *l, const struct mrs_part *part)
{
    MRS_ASSERT(part->len > 0 && l->n <= l->cap);
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->name[i].len == part->len && memcmp(l->name[i].name, part->name, part->len) == 0) {
            return &l->name[i];
        }
    }
    struct order_name *more = mrs_arena_more(r->args->arena, l->name, l->n, &l->cap, sizeof *more);
    if (!more) {
        r->status = mrs_err_memory(r->err, sizeof *more);
        return NULL;
    }
    l->name = more;
    l->name[l->n] = (struct order_name){part->name, part->len, NULL};
    return &l->name[l->n++];
}

static void
add_path(struct mrsi_read *r, struct order_of *s, const struct mrs_path *p)
{
    struct order_level *l = &s->top;
    for (uint32_t i = 0; l && i < p->n; i++) {
        struct order_name *name = name_in(r, l, &p->part[i]);
        if (name && i + 1 < p->n && !name->below) {
            name->below = mrsi_read_alloc(r, 1, sizeof *name->below);
        }
        l = name ? name->below : NULL;
    }
}

static void
read_fields(struct mrsi_read *r, struct order_of *s)
{
    struct mrsi_slot fields = mrsi_slot(r, "fields");
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t most = fields.v.type == MRS_ARRAY ? mrs_val_count(fields.v) : 0;
    s->fields.path = mrsi_read_alloc(r, most, sizeof *s->fields.path);
    if (!s->fields.path || fields.v.type != MRS_ARRAY) {
        return;
    }
    bool id_named = false;
    for (mrs_walk_init(&w, mrs_val_view(fields.v)); mrs_walk_next(&w, &e) == 1;) {
        struct mrs_path *p = &s->fields.path[s->fields.n];
        struct mrsi_slot at = {e.v, "fields", e.name, NULL};
        if (!mrsi_read_path(r, at, p)) {
            continue;
        }
        if (p->n > 1 && r->args->version < 2) {
            mrsi_read_error(r, "fields", e.name, "`%s` is no top-level field; only those can be ordered", p->text);
        }
        for (uint32_t i = 0; i < s->fields.n; i++) {
            if (mrs_path_equal(&s->fields.path[i], p)) {
                mrsi_read_error(r, "fields", e.name, "`%s` stands there twice", p->text);
            }
        }
        id_named = id_named || strcmp(p->part[0].name, "_id") == 0;
        if (p->n > 1) {
            mrsi_read_not_id(r, at, p);
        }
        s->fields.n++;
    }
    static const struct mrs_part id = {"_id", 3};
    if (!id_named) {
        name_in(r, &s->top, &id);
    }
    for (uint32_t i = 0; i < s->fields.n; i++) {
        add_path(r, s, &s->fields.path[i]);
    }
    if (!most) {
        mrsi_read_error(r, "fields", NULL, "names no field");
    }
}

/* ---- documents ---- */
static enum mrs_status put_level(const struct order_level *l, struct mrs_ctx *c, struct mrs_view d,
                                 struct mrs_buf *out, bool *changed);

/* Orders each document of an array. */
static enum mrs_status
put_array(const struct order_level *l, struct mrs_ctx *c, struct mrs_view array, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(array));
    struct mrs_walk w;
    struct mrs_elem e;
    bool changed;
    enum mrs_status st = MRS_OK;
    size_t at = mrsi_put_open(out);
    for (mrs_walk_init(&w, array); st == MRS_OK && mrs_walk_next(&w, &e) == 1;) {
        if (e.v.type == MRS_DOCUMENT) {
            mrs_buf_put(out, e.p, (size_t)(e.v.p - e.p));
            st = put_level(l, c, mrs_val_view(e.v), out, &changed);
        } else {
            mrs_buf_put(out, e.p, (size_t)(w.at - e.p));
        }
    }
    mrsi_put_close(out, at);
    return st;
}

static enum mrs_status
put_field(const struct order_name *name, struct mrs_ctx *c, const struct mrs_elem *e, struct mrs_buf *out)
{
    bool changed;
    bool inside = name->below && (e->v.type == MRS_DOCUMENT || e->v.type == MRS_ARRAY);
    mrs_buf_put(out, e->p, (size_t)(e->v.p - e->p) + (inside ? 0 : e->v.n));
    return !inside                     ? MRS_OK
           : e->v.type == MRS_DOCUMENT ? put_level(name->below, c, mrs_val_view(e->v), out, &changed)
                                       : put_array(name->below, c, mrs_val_view(e->v), out);
}

static uint32_t
place_of(const struct order_level *l, const struct mrs_elem *e)
{
    uint32_t i = 0;
    while (i < l->n && !mrs_name_is(e, l->name[i].name, l->name[i].len)) {
        i++;
    }
    return i;
}

/* Appends one document of a level, ordered. Its names are checked for duplicates only if it is rewritten. */
static enum mrs_status
put_level(const struct order_level *l, struct mrs_ctx *c, struct mrs_view d, struct mrs_buf *out, bool *changed)
{
    struct mrsi_name_set names;
    struct mrs_walk w;
    struct mrs_elem e;
    enum mrs_status st = MRS_OK;
    struct mrs_elem *front = mrs_arena_alloc(c->arena, ((size_t)l->n + 1) * sizeof *front);
    MRS_TRY(mrs_allocated(front, l->n * sizeof *front, c->err));
    memset(front, 0, ((size_t)l->n + 1) * sizeof *front);
    mrsi_name_set_begin(&names);
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) == 1;) {
        uint32_t i = place_of(l, &e);
        mrsi_name_set_add(&names, &e);
        front[i] = i < l->n && !front[i].p ? e : front[i];
    }
    size_t at = mrsi_put_open(out);
    for (uint32_t i = 0; st == MRS_OK && i < l->n; i++) {
        st = front[i].p ? put_field(&l->name[i], c, &front[i], out) : MRS_OK;
    }
    for (mrs_walk_init(&w, d); mrs_walk_next(&w, &e) == 1;) {
        uint32_t i = place_of(l, &e);
        if (i == l->n || front[i].p != e.p) {
            mrs_buf_put(out, e.p, (size_t)(w.at - e.p));
        }
    }
    mrsi_put_close(out, at);
    if (st == MRS_OK && out->bad) {
        st = mrs_buf_status(out, c->err);
    }
    *changed = st == MRS_OK && memcmp(out->p + at, d.p, d.n) != 0;
    return *changed ? mrsi_name_set_check(&names, c, d) : st;
}

static enum mrs_status
edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
              bool *changed)
{
    const struct order_of *s = state;
    (void)w;
    return put_level(&s->top, c, d, out, changed);
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct order_of *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->map.edit = edit_document;
    s->map.place = "fields";
    mrsi_map_read(&r, &s->map);
    read_fields(&r, s);
    return mrsi_read_end(&r, state);
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct order_of *s = state;
    struct mrsi_describe t;
    mrsi_map_describe(&t, &s->map, arena, out, e);
    const char *names = mrsi_describe_paths(&t, s->fields.path, s->fields.n, 6);
    for (uint32_t i = 0; i < s->fields.n; i++) {
        mrsi_describe_touch(&t, 0, 'R', s->fields.path[i].text); /* the order of the fields depends on its presence */
        mrsi_describe_touch(&t, 0, 'D', s->fields.path[i].text);
    }
    mrsi_describe_words(&t, "puts %s first in %s%s", names, mrsi_map_those(&s->map), s->map.in.ns);
    out->keeps_values = true;
    mrsi_describe_loss(&t, "the order of fields as it was");
    return mrsi_describe_end(&t);
}

/* No path and no value changes: indexes and validators stay. */
static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct order_of *s = state;
    struct mrs_cat_coll *cc = NULL;
    return mrsi_cat_need(cat, &s->map.in, true, "in", &cc, e);
}

const struct mrs_step_type mrsi_step_order = {
    .name = "order",
    .summary = "orders the fields of each document",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .example = "in: users\nfields: [_id, name, email]\n\nwhere: { active: true }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_order_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &mrsi_map_ops,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* unbucket.c - unbucket: turns the items of buckets into documents.
 *
 * A document gets the fields of `by` first, then those of its item, which take precedence. A bucket without items
 * stays, since no document could hold its fields. The names of `by` form a tree, so that dotted names merge with a
 * document of the item level by level. */
#include "shared_fields.h"
#include "steps/kit/id_policy.h"
#include "steps/catalog/indexes.h"
#include "steps/kit/shape.h"
#include "steps/kit/describe.h"
#include "steps/kit/undo.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/inverse.h"

#define MADE_MAX (8u * MRS_DOC_READ_MAX) /* maximum for the documents of one bucket */

enum id { ID_KEEP, ID_NEW, ID_EXPR };
/* Bits of mrs_ctx.remarks: an `_id` was made of a place in the array; an item has another value of a field of `by`. */
enum { REMARK_PLACE = 1, REMARK_OWN = 2 };

/* A name of `by`: the end of a path, or a parent of paths. */
struct node {
    const struct mrs_part *name;
    const struct mrs_path *path; /* NULL: a parent */
    struct node *first, *next;
    uint32_t no;
};
struct unbucket {
    struct mrsi_owned keeper;
    struct mrs_coll from, into;
    struct mrs_query *where;
    struct mrs_path items;
    struct mrs_val items_spec; /* as in the plan, for ids */
    struct mrsi_paths by;
    struct node *tree;
    uint32_t n_nodes;
    struct mrsi_shape shape;
    struct mrs_expr *id_expr;
    int id, keep, conflicts, errors;
    struct mrs_view source; /* the step as in the plan */
    bool indexes, drops_id;
};

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "the buckets"},
    {"into", MRS_ARG_COLL, true, NULL, "collection of the documents; created if missing"},
    {"items", MRS_ARG_PATH, true, NULL, "the array that holds them"},
    {"by", MRS_ARG_PATHS, false, NULL, "fields of the bucket that each document gets"},
    {"fields", MRS_ARG_FIELDS, false, NULL, "fields of the document; $$BUCKET, $$ITEM, $$POSITION"},
    {"where", MRS_ARG_QUERY, false, NULL, "only buckets that match this query; others stay"},
    {"keep", MRS_ARG_CHOICE, false, "none|all", "whether the buckets also stay"},
    {"conflicts", MRS_ARG_CHOICE, false, "refuse|first|last", "which of several documents with one `_id` is kept"},
    {"errors", MRS_ARG_CHOICE, false, MRSI_ERRORS_CHOICES, "when an expression of `fields` fails"},
    {"id", MRS_ARG_ANY, false, NULL, "keep, new, or an expression"},
    {"drop", MRS_ARG_PATHS, false, NULL, "fields of an item to omit"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};
static const char *const vars[] = {"BUCKET", "ITEM", "POSITION"};

/* ---- compile ---- */
static struct node *
add_node(struct mrsi_read *r, struct unbucket *s, struct node **list, const struct mrs_part *name)
{
    MRS_ASSERT(name->len > 0);
    for (; *list; list = &(*list)->next) {
        if ((*list)->name->len == name->len && memcmp((*list)->name->name, name->name, name->len) == 0) {
            return *list;
        }
    }
    *list = mrsi_read_alloc(r, 1, sizeof **list);
    if (*list) {
        (*list)->name = name;
        (*list)->no = s->n_nodes++;
    }
    return *list;
}

static void
read_by(struct mrsi_read *r, struct unbucket *s)
{
    struct mrsi_slot by = mrsi_slot(r, "by");
    if (!mrsi_read_paths(r, by, &s->by)) {
        return;
    }
    for (uint32_t i = 0; i < s->by.n; i++) {
        const struct mrs_path *p = &s->by.path[i];
        struct node **list = &s->tree, *node = NULL;
        mrsi_read_not_id(r, by, p);
        for (uint32_t k = 0; k < p->n; k++) {
            node = add_node(r, s, list, &p->part[k]);
            if (!node) {
                return;
            }
            list = &node->first;
        }
        node->path = p;
    }
}

static void
read_id(struct mrsi_read *r, struct unbucket *s)
{
    struct mrsi_slot id = mrsi_slot(r, "id");
    uint32_t n;
    if (!mrsi_slot_present(id) || mrs_val_is_text(id.v, "keep")) {
        s->id = ID_KEEP;
    } else if (mrs_val_is_text(id.v, "new")) {
        s->id = ID_NEW;
    } else if (id.v.type == MRS_STRING && (mrs_val_text(id.v, &n)[0] != '$' || n == 0)) {
        mrsi_read_error(r, "id", NULL, "must be keep, new or an expression");
    } else {
        s->id = ID_EXPR;
        mrsi_read_expr(r, id, &s->id_expr);
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct unbucket *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->indexes = true;
    mrsi_read_coll(&r, mrsi_slot(&r, "from"), &s->from);
    mrsi_read_coll(&r, mrsi_slot(&r, "into"), &s->into);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    struct mrsi_slot items = mrsi_slot(&r, "items");
    if (mrsi_read_path(&r, items, &s->items)) {
        mrsi_read_not_id(&r, items, &s->items);
    }
    if (!mrs_val_copy(args->arena, items.v, &s->items_spec)) {
        r.status = mrs_err_memory(e, items.v.n);
    }
    s->source = (struct mrs_view){mrs_arena_copy(args->arena, args->body.p, args->body.n), args->body.n};
    if (!s->source.p) {
        r.status = mrs_err_memory(e, args->body.n);
    }
    read_by(&r, s);
    r.vars = vars;
    r.n_vars = 3;
    mrsi_shape_read(&r, mrsi_slot(&r, "fields"), mrsi_slot(&r, "drop"), &s->shape);
    read_id(&r, s);
    mrsi_read_choice(&r, mrsi_slot(&r, "keep"), &s->keep);
    mrsi_read_choice(&r, mrsi_slot(&r, "conflicts"), &s->conflicts);
    mrsi_read_choice(&r, mrsi_slot(&r, "errors"), &s->errors);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    for (uint32_t i = 0; i < s->shape.drop.n; i++) {
        s->drops_id = s->drops_id || strcmp(s->shape.drop.path[i].text, "_id") == 0;
    }
    if (mrsi_coll_same(&s->from, &s->into)) {
        mrsi_read_error(&r, "into", NULL, "must be another collection than `from`");
    }
    return mrsi_read_end(&r, state);
}

/* ---- work ---- */
struct unbucket_span {
    uint32_t off, len;
};
/* Results of one walk over the names of a document. */
struct unbucket_names {
    struct mrsi_name_set seen;
    struct unbucket_span own_id; /* of its `_id`; len 0: none */
    bool meets;         /* it has a top-level name of `by` */
    bool good;          /* no duplicate names */
};
struct work {
    bool ready;
    struct mrs_buf element, shaped;
    struct mrs_buf made;       /* the documents, concatenated */
    struct mrs_buf kept;       /* size_t each: offsets in `made` of documents with the `_id` of their item */
    struct mrs_buf by;         /* struct mrs_val of each node: its value in the bucket */
    struct mrs_buf front;      /* elements for every document whose item has none of their names */
    struct mrs_buf source;     /* source of the last new `_id`; empty: none */
    struct mrs_id_same same;   /* of the `_id`s made from it */
    uint8_t id[12];            /* that `_id` */
    struct mrsi_bucket_template checked_tpl; /* of the last document whose names were checked, and the results: */
    struct unbucket_names known;
    struct mrs_view self;      /* the bucket, if it stays; p NULL */
    size_t at;                 /* offset of the next product in `made`, */
    size_t n_kept;             /* and number of entries of `kept` before it */
};

static void
start(struct work *w, struct mrs_ctx *c)
{
    struct mrs_buf *const bufs[] = {&w->element, &w->shaped, &w->made, &w->by, &w->front,  &w->source,
                                    &w->kept};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
        if (!w->ready) {
            mrs_buf_init(bufs[i], c->mem, MADE_MAX);
        }
        mrs_buf_reset(bufs[i]);
    }
    w->ready = true;
    w->at = w->n_kept = 0;
    w->self = (struct mrs_view){NULL, 0};
}

static void
work_clear(struct mrs_ctx *c, void *work)
{
    struct work *w = work;
    struct mrs_buf *const bufs[] = {&w->element, &w->shaped, &w->made, &w->by, &w->front,  &w->source,
                                    &w->kept};
    (void)c;
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs && w->ready; i++) {
        mrs_buf_clear(bufs[i]);
    }
    w->ready = false;
}

/* ---- a document ---- */
struct item {
    const struct unbucket *s;
    struct mrs_ctx *c;
    struct work *w;
    struct mrs_view bucket;
    struct mrs_view item; /* unchanged, or {value: item} */
    struct mrs_view doc;  /* after `fields` and `drop` */
    struct mrs_val vars[3];
    int64_t position;
    struct unbucket_names *names; /* of doc */
    struct unbucket_names other;  /* used if doc does not match the template */
};

static enum mrs_status
open_item(struct item *x, struct mrs_val v, uint8_t room[16])
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrs_buf *b = &x->w->element;
    enum mrs_status st = MRS_OK;
    if (v.type == MRS_DOCUMENT) {
        x->item = mrs_val_view(v);
    } else {
        mrs_buf_reset(b);
        mrsi_put_open(b);
        mrsi_put_elem(b, "value", 5, v);
        mrsi_put_close(b, 0);
        x->item = mrsi_buf_view(b, 0);
        st = mrsi_buf_end(b, 0, x->c, "items");
    }
    x->vars[0] = mrs_view_val(x->bucket);
    x->vars[1] = mrs_view_val(x->item);
    x->vars[2] = mrs_make_i32(room, (int32_t)x->position);
    return st;
}

static enum mrs_status
shape_item(struct item *x)
{
    struct mrsi_shaping how = {x->c, x->vars, (enum mrsi_errors)x->s->errors, NULL, 0};
    x->doc = x->item;
    if (!mrsi_shape_is_set(&x->s->shape)) {
        return MRS_OK;
    }
    mrs_buf_reset(&x->w->shaped);
    enum mrs_status st = mrsi_shape_run(&x->s->shape, &how, x->item, &x->w->shaped);
    x->doc = st == MRS_OK ? mrsi_buf_view(&x->w->shaped, 0) : x->doc;
    return st;
}

/* The document without its `_id` and the bucket's fields. Usually that is the item itself, with no further checks. */
static enum mrs_status
document_of(struct item *x, struct mrs_val v, uint8_t room[16])
{
    if (v.type == MRS_DOCUMENT && !mrsi_shape_is_set(&x->s->shape) && x->s->id != ID_EXPR) {
        struct mrs_view d = mrs_val_view(v); /* x->item = x->doc would load bytes that are just being stored */
        x->doc = d;
        x->item = d;
        return MRS_OK;
    }
    enum mrs_status st = open_item(x, v, room);
    return st == MRS_OK ? shape_item(x) : st;
}

/* Walks the names of the document once; skipped if it matches the template. */
static void
survey(struct item *x)
{
    struct unbucket_names *names = &x->w->known;
    struct mrs_walk w;
    struct mrs_elem e;
    x->names = names;
    if (mrsi_bucket_template(&x->w->checked_tpl, x->doc)) {
        return;
    }
    bool as_it_is = x->s->id == ID_KEEP && !x->s->tree; /* with its own `_id` */
    x->names = names = &x->other;
    *names = (struct unbucket_names){.meets = false};
    mrsi_name_set_begin(&names->seen);
    mrs_walk_init(&w, x->doc);
    while (mrs_walk_next(&w, &e) == 1) {
        mrsi_name_set_add(&names->seen, &e);
        if (!names->own_id.len && mrs_name_is(&e, "_id", 3)) {
            names->own_id = (struct unbucket_span){(uint32_t)(e.p - x->doc.p), (uint32_t)(w.at - e.p)};
            if (as_it_is) {
                return;
            }
        }
        const struct node *n = x->s->tree;
        while (n && !mrs_name_is(&e, n->name->name, n->name->len)) {
            n = n->next;
        }
        names->meets = names->meets || n;
    }
    if (mrsi_bucket_template_learn(&x->w->checked_tpl, x->doc)) {
        x->w->known = *names;
    }
}

static struct mrs_val
own_id(const struct item *x)
{
    const uint8_t *p = x->doc.p + x->names->own_id.off;
    uint32_t n = x->names->own_id.len, head = 1 + sizeof "_id";
    return n ? (struct mrs_val){p + head, n - head, *p} : mrs_missing();
}

/* The `_id`s of one bucket differ only in their position. */
static enum mrs_status
new_id(struct item *x, struct mrs_val *id)
{
    struct work *w = x->w;
    enum mrs_status st = MRS_OK;
    x->c->remarks |= REMARK_PLACE;
    *id = (struct mrs_val){w->id, sizeof w->id, MRS_OBJECTID};
    if (w->source.n) {
        mrs_id_again(&w->source, &w->same, x->position, w->id);
    } else {
        struct mrs_val key = mrs_doc_get(x->bucket, "_id");
        const char *into = x->s->into.ns, *from = x->s->from.ns;
        struct mrs_new_id in = {into, from, key, x->s->items_spec, &x->position, 1, mrsi_id_time(key)};
        st = mrs_id_make(&in, &w->source, w->id, x->c->err);
        w->same = (struct mrs_id_same){.rounds = 0};
    }
    return mrsi_step_skip(x->c, st, "id");
}

/* *own: it is the item's own `_id`, at its place. */
static enum mrs_status
choose_id(struct item *x, struct mrs_val *id, bool *own)
{
    MRS_ASSERT(x->s->source.p || x->w->ready);
    size_t at = x->w->made.n;
    const struct unbucket *s = x->s;
    enum mrs_status st = MRS_OK;
    *id = mrs_missing();
    *own = false;
    if (s->id == ID_EXPR) {
        struct mrs_eval ev = mrsi_step_eval(x->c, x->item);
        ev.vars = x->vars;
        st = mrsi_step_skip(x->c, mrs_expr_eval(s->id_expr, &ev, id), "id");
    } else if (s->id == ID_KEEP) {
        *id = own_id(x);
        *own = id->type != MRS_MISSING;
        if (!*own && s->shape.fields.map && !s->drops_id) {
            *id = mrs_doc_get(x->item, "_id");
        }
    }
    if (st == MRS_OK && s->id != ID_EXPR && id->type == MRS_MISSING) {
        st = new_id(x, id);
    } else if (s->id == ID_KEEP) {
        mrs_buf_put(&x->w->kept, &at, sizeof at);
    }
    const char *fault = st == MRS_OK ? mrsi_step_id_fault(*id) : NULL;
    return fault ? mrsi_step_refuse(x->c, "id", "%s cannot be an _id", fault) : st;
}

/* ---- values of the bucket ---- */
static struct mrs_val *
value_slot(const struct work *w, const struct node *n)
{
    return (struct mrs_val *)(void *)w->by.p + n->no;
}

/* The value of the bucket at each node; for a parent a document, if it has any of its children. As deep as the plan. */
static bool
look_up(struct work *w, const struct node *list, struct mrs_view bucket)
{
    bool any = false;
    for (const struct node *n = list; n; n = n->next) {
        *value_slot(w, n) = n->path                           ? mrs_path_get(n->path, bucket)
                            : look_up(w, n->first, bucket) ? mrs_view_val(mrs_empty_doc())
                                                           : mrs_missing();
        any = any || value_slot(w, n)->type != MRS_MISSING;
    }
    return any;
}

static bool
has_value(const struct work *w, const struct node *list, const struct mrs_elem *e)
{
    for (; list && !mrs_name_is(e, list->name->name, list->name->len); list = list->next) {
    }
    return list && value_slot(w, list)->type != MRS_MISSING;
}

/* ---- the document ---- */
/* Appends the fields of one level of the item that the bucket does not have; top: without `_id`. SKIP: duplicate
 * name. */
static enum mrs_status
put_others(struct item *x, const struct node *list, bool top, struct mrs_view d, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrsi_name_set seen;
    struct mrs_walk w;
    struct mrs_elem e;
    const uint8_t *run = NULL;
    mrsi_name_set_begin(&seen);
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) == 1) {
        mrsi_name_set_add(&seen, &e);
        if (!has_value(x->w, list, &e) && !(top && mrs_name_is(&e, "_id", 3))) {
            run = run ? run : e.p;
            continue;
        }
        if (run) {
            mrs_buf_put(out, run, (size_t)(e.p - run));
            run = NULL;
        }
    }
    if (run) {
        mrs_buf_put(out, run, (size_t)(w.end - run));
    }
    return mrsi_name_set_check(&seen, x->c, d);
}

/* Appends one level of the document: the bucket's fields, then the rest of the item's. As deep as the plan's paths. */
static enum mrs_status
put_level(struct item *x, const struct node *list, bool top, struct mrs_view d, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    enum mrs_status st = MRS_OK;
    for (const struct node *n = list; n && st == MRS_OK; n = n->next) {
        struct mrs_val v = *value_slot(x->w, n);
        struct mrs_elem e;
        if (v.type == MRS_MISSING) {
            continue;
        }
        bool own = mrs_doc_find(d, n->name->name, n->name->len, &e);
        if (n->path || (own && e.v.type != MRS_DOCUMENT)) {
            bool lost = own && !x->s->keep && !(n->path && mrs_identical(e.v, v));
            x->c->remarks |= lost ? REMARK_OWN : 0;
            mrsi_put_elem(out, n->name->name, n->name->len, own ? e.v : v);
            continue;
        }
        mrsi_put_head(out, MRS_DOCUMENT, n->name->name, n->name->len);
        size_t at = mrsi_put_open(out);
        st = put_level(x, n->first, false, own ? mrs_val_view(e.v) : mrs_empty_doc(), out);
        mrsi_put_close(out, at);
    }
    return st == MRS_OK ? put_others(x, list, top, d, out) : st;
}

static inline uint8_t *
put_run(uint8_t *at, const uint8_t *p, size_t n)
{
    mrs_copy_short(at, p, n);
    return at + n;
}

/* the new `_id` was just stored in these parts; a load across them would stall */
static inline uint8_t *
put_id(uint8_t *at, struct mrs_val id)
{
    if (id.n != 12) {
        return put_run(at, id.p, id.n);
    }
    memcpy(at, id.p, 4);
    memcpy(at + 4, id.p + 4, 8);
    return at + 12;
}

/* The usual document: the shared elements of the bucket, then the rest of the item unchanged. */
static enum mrs_status
put_usual(struct item *x, struct mrs_val id)
{
    MRS_ASSERT(mrs_val_is_sized(id));
    const struct mrs_buf *front = &x->w->front;
    const struct unbucket_span *own = &x->names->own_id;
    const uint8_t *from = x->doc.p + 4, *end = x->doc.p + x->doc.n;
    const uint8_t *hole = own->len ? x->doc.p + own->off : from, *behind = hole + own->len;
    size_t n = 4 + 5 + id.n + front->n + (size_t)(hole - from) + (size_t)(end - behind);
    uint8_t *at = mrs_buf_take(&x->w->made, n);
    if (at) {
        mrs_put32(at, (uint32_t)n);
        at[4] = id.type;
        memcpy(at + 5, "_id", 4);
        at = put_id(at + 9, id);
        at = put_run(at, front->p, front->n);
        if (hole > from) {
            at = put_run(at, from, (size_t)(hole - from));
        }
        mrs_copy_short(at, behind, (size_t)(end - behind));
    }
    if (x->names->good) {
        return MRS_OK;
    }
    enum mrs_status st = mrsi_name_set_check(&x->names->seen, x->c, x->doc);
    x->names->good = st == MRS_OK;
    return st;
}

static enum mrs_status
put_document(struct item *x, struct mrs_val id)
{
    struct mrs_buf *out = &x->w->made;
    if (!x->names->meets) {
        return put_usual(x, id);
    }
    size_t at = mrsi_put_open(out);
    mrsi_put_elem(out, "_id", 3, id);
    enum mrs_status st = put_level(x, x->s->tree, true, x->doc, out);
    mrsi_put_close(out, at);
    return st;
}

static enum mrs_status
make(struct item *x, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrs_buf *out = &x->w->made;
    size_t at = out->n;
    uint8_t room[16];
    struct mrs_val id;
    bool own;
    MRS_TRY(document_of(x, v, room));
    survey(x);
    enum mrs_status st = choose_id(x, &id, &own);
    if (st != MRS_OK) {
        return st;
    }
    if (own && !x->s->tree) {
        mrs_buf_put(out, x->doc.p, x->doc.n);
    } else {
        st = put_document(x, id);
    }
    MRS_THEN(st, mrsi_buf_end(out, at, x->c, "items"));
    if (st == MRS_OK && out->n - at > MRS_DOC_MAX) {
        st = mrsi_step_too_large(x->c, NULL, "a document made of it would exceed 16 MiB", out, at);
    }
    return st;
}

/* ---- kernels ---- */
/* Like mrs_walk_next, for an array: its names are not needed. */
static inline bool
next_item(struct mrs_walk *w, struct mrs_val *v)
{
    const uint8_t *nul = w->at < w->end ? mrs_name_end(w->at + 1, w->end) : NULL;
    if (!nul) {
        return false;
    }
    v->type = *w->at;
    v->p = nul + 1;
    uint64_t room = (uint64_t)(w->end - v->p);
    int64_t n = mrs_value_size_quick(v->type, v->p, room);
    v->n = (uint32_t)n;
    w->at = v->p + n;
    return n >= 0;
}

static enum mrs_status
take_apart(const struct unbucket *s, struct mrs_ctx *c, struct work *w, struct mrs_view doc, struct mrs_val items)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct item x = {.s = s, .c = c, .w = w, .bucket = doc};
    struct mrs_walk walk;
    struct mrs_val item;
    enum mrs_status st = MRS_OK;
    if (!s->keep && mrs_doc_has_duplicates(c->mem, doc, true)) {
        return mrsi_step_refuse(c, NULL, "duplicate field: the bucket holds a name twice");
    }
    if (s->n_nodes && !mrs_buf_take(&w->by, s->n_nodes * sizeof(struct mrs_val))) {
        return mrs_err_memory(c->err, s->n_nodes);
    }
    look_up(w, s->tree, doc);
    st = put_level(&x, s->tree, true, mrs_empty_doc(), &w->front);
    MRS_THEN(st, mrsi_buf_end(&w->front, 0, c, "items"));
    mrs_walk_init(&walk, mrs_val_view(items));
    while (st == MRS_OK && next_item(&walk, &item)) {
        st = make(&x, item);
        x.position++;
    }
    return st == MRS_OK ? mrsi_buf_end(&w->kept, 0, c, "items") : st;
}

static enum mrs_status
begin(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct unbucket *s = state;
    struct work *w = work;
    bool takes;
    (void)side;
    start(w, c);
    *fate = MRS_FATE_STAYS;
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &takes);
    struct mrs_val items = mrs_path_get(&s->items, doc);
    bool any = st == MRS_OK && takes && items.type == MRS_ARRAY && items.n > 5;
    if (any) {
        st = take_apart(s, c, w, doc, items);
    }
    if (any && !s->keep) {
        *fate = MRS_FATE_TAKEN;
    } else {
        w->self = doc;
    }
    return st;
}

static enum mrs_status
next(const void *state, struct mrs_ctx *c, void *work, struct mrs_product *out)
{
    const struct unbucket *s = state;
    struct work *w = work;
    const size_t *kept = (const size_t *)(const void *)w->kept.p;
    (void)c;
    if (w->self.p) {
        *out = (struct mrs_product){0, true, false, w->self};
        w->self.p = NULL;
    } else if (w->at < w->made.n) {
        struct mrs_view d = {w->made.p + w->at, mrs_le32(w->made.p + w->at)};
        bool keeps = w->n_kept < w->kept.n / sizeof *kept && kept[w->n_kept] == w->at;
        *out = (struct mrs_product){1, false, s->id != ID_EXPR && !keeps, d};
        w->n_kept += keeps;
        w->at += d.n;
    } else {
        return MRS_END;
    }
    return MRS_OK;
}

static struct mrs_products
all(const void *work)
{
    const struct work *w = work;
    return (struct mrs_products){1, w->made.p, w->made.n};
}

/* Is this string `$$BUCKET.name` (the field or something below it), or all of `$$BUCKET`? BSON strings end with NUL. */
static bool
is_used(struct mrs_view source, const char *name, uint32_t len)
{
    MRS_ASSERT(mrs_view_is_framed(source));
    static const char var[] = "$$BUCKET";
    const uint8_t *at = source.p, *end = source.p + source.n;
    while ((at = memmem(at, (size_t)(end - at), var, sizeof var - 1)) != NULL) {
        at += sizeof var - 1;
        if (at < end && *at == 0) {
            return true;
        }
        bool whole = (size_t)(end - at) > len + 1u && *at == '.' && memcmp(at + 1, name, len) == 0;
        if (whole && (at[len + 1] == 0 || at[len + 1] == '.')) {
            return true;
        }
    }
    return false;
}

static bool
is_first(const struct mrs_path *p, const char *name, uint32_t len)
{
    return p->n && p->part[0].len == len && memcmp(p->part[0].name, name, len) == 0;
}

/* Lost: fields that neither `by`, `drop` nor an expression names; a new `_id` is computed from the old one. */
static bool
loses(const void *state, const char *name, uint32_t len)
{
    const struct unbucket *s = state;
    if ((len == 3 && memcmp(name, "_id", 3) == 0) || is_first(&s->items, name, len)) {
        return false;
    }
    for (uint32_t i = 0; i < s->by.n; i++) {
        if (is_first(&s->by.path[i], name, len)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < s->shape.drop.n; i++) {
        if (is_first(&s->shape.drop.path[i], name, len)) {
            return false;
        }
    }
    return !is_used(s->source, name, len);
}

static const struct mrs_spread_ops ops = {.begin = begin, .next = next, .all = all, .loses = loses};

/* ---- description ---- */
static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct unbucket *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_SPREAD, e);
    mrsi_describe_side(&t, &s->from, MRS_ROLE_READ | MRS_ROLE_MAIN | (s->keep ? 0 : MRS_ROLE_TAKE), "from");
    mrsi_describe_side(&t, &s->into, MRS_ROLE_ADD, "into");
    mrsi_describe_touch(&t, 0, 'R', "");
    mrsi_describe_naming(&t, true);
    mrsi_describe_query(&t, 0, s->where);
    mrsi_describe_naming(&t, false);
    mrsi_describe_names(&t, 0, NULL, &s->items, 1);
    mrsi_describe_names(&t, 0, NULL, s->by.path, s->by.n);
    mrsi_describe_shape(&t, s->items.text, &s->shape, "value");
    if (!s->keep) {
        mrsi_describe_touch(&t, 0, 'D', "");
        mrsi_describe_loss(&t, "fields of %s beside %s%s", s->from.ns, s->items.text,
                           s->by.n ? " that `by` does not name" : "");
    }
    mrsi_describe_touch(&t, 1, 'A', "");
    out->conflicts = (enum mrs_conflicts)s->conflicts;
    if (s->shape.fields.present) {
        mrsi_describe_loss(&t, "fields of items that `fields` does not keep");
    }
    for (uint32_t i = 0; i < s->shape.drop.n; i++) {
        mrsi_describe_loss(&t, "%s of items, left out by `drop`", s->shape.drop.path[i].text);
    }
    mrsi_describe_words(&t, "makes documents of %s of the items in %s of %s%s", s->into.ns, s->items.text,
                        s->where ? "those documents that `where` takes of " : "", s->from.ns);
    if (s->by.n) {
        mrsi_describe_words(&t, ", each with the bucket's %s", mrsi_describe_paths(&t, s->by.path, s->by.n, 5));
    }
    mrsi_describe_quiet(&t, "the documents that a bucket made are not found again when it changes" MRSI_DO_QUIET);
    if (s->conflicts) {
        mrsi_describe_loss(&t, "documents of which another one with the same _id counts");
    }
    mrsi_describe_errors(&t, s->errors, s->shape.fields.path, s->shape.fields.n);
    return mrsi_describe_end(&t);
}

/* ---- catalogue ---- */
static enum mrs_status
carry(const struct unbucket *s, struct mrs_catalog *cat, const struct mrs_cat_coll *from, struct mrs_cat_coll *into,
      struct mrs_err *e)
{
    struct mrs_arena *a = mrs_catalog_arena(cat);
    const struct mrsi_fields *f = &s->shape.fields;
    uint32_t n = 0;
    struct mrsi_move *m = mrs_arena_alloc(a, (s->by.n + f->n + s->shape.drop.n + 2u) * sizeof *m);
    bool bad = !m;
    if (m && !f->present) {
        m[n++] = (struct mrsi_move){mrsi_path_below(a, s->items.text, ""), ""};
    } else if (m && !f->map && !f->without_id) {
        m[n++] = (struct mrsi_move){mrsi_path_below(a, s->items.text, "_id"), "_id"};
    }
    for (uint32_t i = 0; m && i < f->n; i++) {
        const char *old = f->map ? mrs_expr_bare_path(f->expr[i]) : f->path[i].text;
        if (old && *old && !mrsi_shape_drops(&s->shape, &f->path[i])) {
            m[n++] = (struct mrsi_move){mrsi_path_below(a, s->items.text, old), f->path[i].text};
        }
    }
    for (uint32_t i = 0; m && i < s->shape.drop.n && !f->map; i++) {
        m[n++] = (struct mrsi_move){mrsi_path_below(a, s->items.text, s->shape.drop.path[i].text), NULL};
    }
    for (uint32_t i = 0; i < n; i++) {
        bad = bad || !m[i].from;
    }
    for (uint32_t i = 0; m && i < s->by.n; i++) {
        m[n++] = (struct mrsi_move){s->by.path[i].text, s->by.path[i].text};
    }
    if (bad) {
        return mrs_err_memory(e, 0);
    }
    struct mrsi_moves moves = {.move = m, .n = n, .others_lost = true};
    struct mrsi_carry how = {.moves = &moves, .lose = MRSI_LOSE_UNIQUE | MRSI_LOSE_PARTIAL | MRSI_LEAVE_TTL |
                                                        (s->keep ? 0 : MRSI_WHOLE),
                             .why = "items of one document may be equal"};
    return mrsi_indexes_carry(cat, from, into, &how, e);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct unbucket *s = state;
    struct mrs_cat_coll *from, *into;
    struct mrs_desc d;
    enum mrs_status st = mrsi_cat_need(cat, &s->from, !s->keep, "from", &from, e);
    MRS_THEN(st, mrsi_cat_target(cat, &s->into, "into", &into, NULL, e));
    if (st == MRS_OK && s->indexes && mrsi_index_plain(&s->items)) {
        st = carry(s, cat, from, into, e);
    }
    MRS_THEN(st, describe(s, mrs_catalog_arena(cat), &d, e));
    MRS_THEN(st, mrsi_cat_validators(cat, &d, e));
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}

/* ---- inverse ---- */
/* Can a bucket store the items next to the fields of `by`? */
static bool
are_distinct(const struct unbucket *s)
{
    bool apart = s->items.n == 1;
    for (uint32_t i = 0; i < s->by.n; i++) {
        apart = apart && !mrs_path_relation(&s->items, &s->by.path[i]);
        for (uint32_t k = 0; k < i; k++) {
            apart = apart && !mrs_path_relation(&s->by.path[k], &s->by.path[i]);
        }
    }
    return apart;
}

static enum mrs_status
invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    const struct unbucket *s = state;
    struct mrsi_undo u;
    mrsi_undo_begin(&u, inv, e);
    const char *from = mrsi_undo_coll(&u, "from"), *into = mrsi_undo_coll(&u, "into");
    bool known = mrsi_undo_body(&u, "by").type != MRS_MISSING && !s->keep;
    if (known && s->items_spec.type == MRS_STRING && are_distinct(s)) {
        mrsi_undo_open(&u, "bucket");
        mrsi_undo_take(&u, "from", "into");
        mrsi_undo_take(&u, "into", "from");
        mrsi_undo_take(&u, "items", "items");
        mrsi_undo_take(&u, "by", "by");
        mrsi_undo_take(&u, "indexes", "indexes");
        mrsi_undo_close(&u);
    } else {
        mrsi_undo_loss(&u, MRS_LOSS_SURPLUS, "the documents stay in %s: nothing tells them from others there", into);
    }
    mrsi_undo_loss(&u, MRSI_UNDO_MOVED | MRS_LOSS_VALUES | MRS_LOSS_PLACES | MRS_LOSS_TYPES | MRS_LOSS_COLLECTIONS,
                   "the documents of %s as they were: their `_id`s, their other fields, and which items were in which; "
                   "what was in %s before",
                   from, into);
    mrsi_undo_conflicts(&u);
    return mrsi_undo_end(&u);
}

static void
describe_remark(const void *state, uint32_t i, char *text, size_t size)
{
    const struct unbucket *s = state;
    MRS_ASSERT(i < MRS_REMARKS);
    if (1u << i == REMARK_OWN) {
        snprintf(text, size, ", `%.200s`: items have other values of fields of `by` and keep them: those of the bucket "
                 "are lost for these items", s->items.text);
    } else {
        mrsi_id_of_place(s->items.text, "`id`", text, size);
    }
}

const struct mrs_step_type mrsi_step_unbucket = {
    .name = "unbucket",
    .summary = "makes documents of the items of buckets",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .example = "from: readings_hourly\ninto: readings\nitems: readings\nby: [sensor]\n\n"
               "fields: { sensorId: $$BUCKET.sensor, value: $$ITEM.value }\nwhere: { count: { $gt: 0 } }\n"
               "id: keep\ndrop: [debug]\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = invert,
    .catalog = catalog,
    .remark = describe_remark,
    .work_size = sizeof(struct work),
    .work_clear = work_clear,
    .spread = &ops,
};

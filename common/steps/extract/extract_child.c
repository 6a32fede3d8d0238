/* SPDX-License-Identifier: Apache-2.0 */
/* extract_child.c - makes a document from an element: projection, `_id`, reference to its parent, position.
 *
 * The fields of the element are copied in runs between the few special ones (its `_id`, and fields with the names of
 * parent_ref and position), so an element with its own `_id` costs a few memcpys. The `_id` is, in this order: the
 * value computed by the plan, the `_id` of a map in `fields`, the element's own, or a new one derived from the parent's
 * `_id` and the position (with `unique` from the key). */
#include "extract.h"
#include "steps/kit/id_policy.h"
#include "mongoreshape/context.h"

/* ---- shape ---- */
static enum mrs_status
wrapped(struct ext_doc *x, struct mrs_val v, struct mrs_val *out)
{
    struct mrs_buf *b = &x->w->element;
    mrs_buf_reset(b);
    mrsi_put_open(b);
    mrsi_put_elem(b, x->s->value, (uint32_t)strlen(x->s->value), v);
    mrsi_put_close(b, 0);
    *out = mrs_view_val(mrsi_buf_view(b, 0));
    return mrsi_buf_end(b, 0, x->c, "value");
}

static bool
drops_id(const struct mrsi_shape *s)
{
    for (uint32_t i = 0; i < s->drop.n; i++) {
        if (s->drop.path[i].n == 1 && strcmp(s->drop.path[i].part[0].name, "_id") == 0) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
shaped(struct ext_doc *x, const struct ext_part *p, struct mrs_view element, struct mrs_val *out)
{
    struct mrs_val vars[EXT_VARS];
    struct mrsi_shaping how = {x->c, vars, (enum mrsi_errors)x->s->errors, NULL, 0};
    enum mrs_status st = mrsi_extract_vars(x, p, vars);
    mrs_buf_reset(&x->w->shaped);
    MRS_THEN(st, mrsi_shape_run(&x->s->shape, &how, element, &x->w->shaped));
    if (st == MRS_OK) {
        *out = mrs_view_val(mrsi_buf_view(&x->w->shaped, 0));
    }
    return st;
}

enum mrs_status
mrsi_extract_shape(struct ext_doc *x, const struct ext_part *p, bool wrap, struct mrs_val *out, struct mrs_val *own)
{
    MRS_ASSERT(out && own);
    const struct mrsi_shape *shape = &x->s->shape;
    enum mrs_status st = MRS_OK;
    *out = p->v;
    *own = mrs_missing();
    if (p->v.type != MRS_DOCUMENT) {
        if (!wrap && !shape->fields.present) {
            return MRS_OK;
        }
        st = wrapped(x, p->v, out);
    } else if (x->s->nested.present && !shape->fields.map) {
        st = mrsi_extract_bare(x, p->v, out);
    }
    if (st != MRS_OK || !mrsi_shape_is_set(shape)) {
        return st;
    }
    if (shape->fields.map && p->v.type == MRS_DOCUMENT && !drops_id(shape)) {
        *own = mrs_doc_get(mrs_val_view(p->v), "_id");
    }
    return shaped(x, p, mrs_val_view(*out), out);
}

/* ---- keys of `unique` ---- */
enum mrs_status
mrsi_extract_key(const struct mrsi_extract *s, struct mrs_ctx *c, struct mrs_view d, struct mrs_buf *out, bool *whole)
{
    MRS_ASSERT(s->unique.n > 0 && mrs_view_is_framed(d));
    size_t at = out->n;
    *whole = true;
    for (uint32_t i = 0; i < s->unique.n && *whole; i++) {
        struct mrs_val v = mrs_path_get(&s->unique.path[i], d);
        *whole = !mrs_is_nullish(v);
        mrs_key_append(out, v, false);
    }
    if (!*whole) {
        out->n = out->bad ? out->n : at;
    } else if (!out->bad && out->n - at > MRS_KEY_MAX) {
        return mrsi_step_refuse(c, "unique", "a key of more than %u bytes", MRS_KEY_MAX);
    }
    return MRS_OK;
}

static void
key_values(struct ext_doc *x, struct mrs_view d, struct mrs_val *out)
{
    struct mrs_buf *b = &x->w->raw;
    struct mrsi_shape_items it;
    mrs_buf_reset(b);
    mrsi_items_open(&it, b);
    for (uint32_t i = 0; i < x->s->unique.n; i++) {
        mrsi_items_add(&it, mrs_path_get(&x->s->unique.path[i], d));
    }
    mrsi_items_close(&it);
    *out = mrsi_items_val(&it);
}

/* ---- `_id` ---- */
/* `map`: [path, name of the field]. */
static enum mrs_status
path_of_field(struct ext_doc *x, const struct ext_part *p, struct mrs_val *out)
{
    struct mrs_buf *b = &x->w->raw;
    mrs_buf_reset(b);
    mrsi_put_open(b);
    mrsi_put_elem(b, "0", 1, x->s->path_spec);
    mrsi_put_text(b, "1", 1, p->name, p->name_len);
    mrsi_put_close(b, 0);
    *out = (struct mrs_val){b->p, (uint32_t)b->n, MRS_ARRAY};
    return mrsi_buf_end(b, 0, x->c, "map");
}

static enum mrs_status
new_id(struct ext_doc *x, const struct ext_part *p, struct mrs_view d, bool by_key, uint8_t id[12])
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const uint32_t *all = (const uint32_t *)(const void *)x->w->index.p;
    int64_t pos[EXT_INDEX_MAX];
    enum mrs_status st = MRS_OK;
    struct mrs_new_id in = {x->s->into.ns, x->s->from.ns, x->own_id, x->s->path_spec, pos, p->n_index, 0};
    if (by_key) {
        key_values(x, d, &in.key);
        if (x->w->raw.bad) {
            return mrsi_buf_end(&x->w->raw, 0, x->c, "unique");
        }
        in.from = x->s->into.ns;
        in.n_pos = 0;
    }
    if (x->s->map) {
        st = path_of_field(x, p, &in.path);
    }
    for (uint32_t i = 0; i < in.n_pos; i++) {
        pos[i] = all[p->index + i];
        x->c->remarks |= 1ull << EXT_PLACE;
    }
    in.time_secs = mrsi_id_time(in.key);
    return st == MRS_OK ? mrsi_step_skip(x->c, mrs_id_make(&in, &x->w->value, id, x->c->err), "id") : st;
}

static enum mrs_status
computed_id(struct ext_doc *x, const struct ext_part *p, struct mrs_val *id)
{
    struct mrs_val vars[EXT_VARS], element = p->v;
    enum mrs_status st = mrsi_extract_vars(x, p, vars);
    if (st == MRS_OK && p->v.type != MRS_DOCUMENT) {
        struct mrs_buf *b = &x->w->value;
        mrs_buf_reset(b);
        mrsi_put_open(b);
        mrsi_put_elem(b, x->s->value, (uint32_t)strlen(x->s->value), p->v);
        mrsi_put_close(b, 0);
        st = mrsi_buf_end(b, 0, x->c, "id");
        element = mrs_view_val(mrsi_buf_view(b, 0));
        if (st == MRS_OK && !mrs_val_copy(x->c->arena, element, &element)) {
            st = mrs_err_memory(x->c->err, element.n);
        }
    }
    if (st != MRS_OK) {
        return st;
    }
    struct mrs_eval ev = mrsi_step_eval(x->c, mrs_val_view(element));
    ev.vars = vars;
    return mrsi_step_skip(x->c, mrs_expr_eval(x->s->id_expr, &ev, id), "id");
}

/* ---- the document ---- */
/* Special fields, in the order of the element. */
struct extract_child_special {
    struct mrs_elem e;
    char what; /* 'i' _id, 'r' parent_ref, 'p' position, 'm' map */
};
struct extract_child_scan {
    struct extract_child_special s[4];
    uint32_t n;
    struct mrs_val id, ref, pos, map; /* values found in the element */
};

struct child {
    struct ext_doc *x;
    const struct ext_part *p;
    struct mrs_view d;      /* the element after the projection */
    struct extract_child_scan sc;
    struct mrs_val id, pos, map; /* values to write */
    const char *ref;        /* name of the field for p->key; NULL */
    uint32_t ref_len;
    bool bare;              /* without parent_ref */
    bool by_key, made;      /* a new id is derived from the key; it was generated */
};

static enum mrs_status
scan(struct child *k)
{
    const struct mrsi_extract *s = k->x->s;
    struct extract_child_scan *out = &k->sc;
    uint32_t pos_len = s->position_len, map_len = s->map_len;
    struct mrsi_name_set seen;
    struct mrs_walk w;
    struct mrs_elem e;
    out->n = 0;
    out->id = out->ref = out->pos = out->map = mrs_missing();
    mrsi_name_set_begin(&seen);
    mrs_walk_init(&w, k->d);
    while (mrs_walk_next(&w, &e) == 1) {
        struct mrs_val *v = NULL;
        char what = 0;
        mrsi_name_set_add(&seen, &e);
        if (mrs_name_is(&e, "_id", 3)) {
            v = &out->id;
            what = 'i';
        } else if (k->ref_len && mrs_name_is(&e, k->ref, k->ref_len)) {
            v = &out->ref;
            what = 'r';
        } else if (pos_len && mrs_name_is(&e, s->position, pos_len)) {
            v = &out->pos;
            what = 'p';
        } else if (map_len && mrs_name_is(&e, s->map, map_len)) {
            v = &out->map;
            what = 'm';
        }
        if (v && v->type == MRS_MISSING) {
            *v = e.v;
            out->s[out->n].e = e;
            out->s[out->n++].what = what;
        }
    }
    return mrsi_name_set_check(&seen, k->x->c, k->d);
}

/* kept: the element's own `_id`; missing. */
static enum mrs_status
choose_id(struct child *k, struct mrs_val kept)
{
    MRS_ASSERT(mrs_val_is_sized(kept));
    struct ext_doc *x = k->x;
    enum mrs_status st = MRS_OK;
    k->id = kept;
    if (x->s->id == EXT_ID_EXPR) {
        st = computed_id(x, k->p, &k->id);
    } else if (x->s->id == EXT_ID_NEW || kept.type == MRS_MISSING) {
        uint8_t *room = mrs_arena_alloc(x->c->arena, 12);
        MRS_TRY(mrs_allocated(room, 12, x->c->err));
        k->made = true;
        k->id = (struct mrs_val){room, 12, MRS_OBJECTID};
        st = new_id(x, k->p, k->d, k->by_key, room);
    }
    const char *fault = st == MRS_OK ? mrsi_step_id_fault(k->id) : NULL;
    return fault ? mrsi_step_refuse(x->c, "id", "%s cannot be an _id", fault) : st;
}

/* A field of the element with the name of an added field: equal, overwritten, or a refusal. */
static enum mrs_status
agrees(struct ext_doc *x, const char *key, const char *name, struct mrs_val there, struct mrs_val due)
{
    if (there.type == MRS_MISSING || due.type == MRS_MISSING || x->s->replace || mrs_compare(there, due) == 0) {
        return MRS_OK;
    }
    return mrsi_step_refuse(x->c, key, "an element has a field %s with another value", name);
}

static bool
overwritten(struct mrs_val there, struct mrs_val due)
{
    return due.type != MRS_MISSING && mrs_compare(there, due) != 0;
}

static void
put_rest(const struct child *k, struct mrs_buf *out)
{
    const uint8_t *at = k->d.p + 4, *end = k->d.p + k->d.n - 1;
    for (uint32_t i = 0; i < k->sc.n; i++) {
        const struct extract_child_special *s = &k->sc.s[i];
        struct mrs_val due = s->what == 'r' ? k->p->key : s->what == 'm' ? k->map : k->pos;
        bool removed = s->what == 'i' || (s->what == 'r' && k->bare);
        if (!removed && !overwritten(s->e.v, due)) {
            continue;
        }
        mrs_buf_put(out, at, (size_t)(s->e.p - at));
        at = s->e.v.p + s->e.v.n;
        if (!removed) {
            mrsi_put_elem(out, s->e.name, s->e.name_len, due);
        }
    }
    mrs_buf_put(out, at, (size_t)(end - at));
}

static enum mrs_status
put_child(const struct child *k, struct mrs_buf *out)
{
    MRS_ASSERT(k->d.p && mrs_buf_is_sound(out));
    const struct mrsi_extract *s = k->x->s;
    size_t start = mrsi_put_open(out);
    mrsi_put_elem(out, "_id", 3, k->id);
    if (k->ref && !k->bare && k->sc.ref.type == MRS_MISSING) {
        mrsi_put_elem(out, k->ref, k->ref_len, k->p->key);
    }
    if (s->position && k->sc.pos.type == MRS_MISSING && k->pos.type != MRS_MISSING) {
        mrsi_put_elem(out, s->position, s->position_len, k->pos);
    }
    if (s->map && k->sc.map.type == MRS_MISSING) {
        mrsi_put_elem(out, s->map, s->map_len, k->map);
    }
    put_rest(k, out);
    mrsi_put_close(out, start);
    if (!out->bad && out->n - start > MRS_DOC_MAX) {
        return mrsi_step_too_large(k->x->c, NULL, "an extracted document would pass 16 MiB", out, start);
    }
    return mrsi_buf_end(out, start, k->x->c, NULL);
}

/* Reference, position and name of the field: computes them, and compares existing fields with them. */
static enum mrs_status
choose_fields(struct child *k)
{
    struct ext_doc *x = k->x;
    const struct mrsi_extract *s = x->s;
    enum mrs_status st = s->position ? mrsi_extract_position(x, k->p, &k->pos) : MRS_OK;
    if (st == MRS_OK && s->map) {
        st = mrsi_extract_name(x, k->p, &k->map);
    }
    if (st == MRS_OK && k->ref) {
        st = agrees(x, k->ref == s->parent_ref ? "parent_ref" : "nested", k->ref, k->sc.ref, k->p->key);
    }
    if (st == MRS_OK && s->position) {
        st = agrees(x, "position", s->position, k->sc.pos, k->pos);
    }
    return st == MRS_OK && s->map ? agrees(x, "map", s->map, k->sc.map, k->map) : st;
}

enum mrs_status
mrsi_extract_child(struct ext_doc *x, const struct ext_part *p, bool bare, struct mrs_buf *out, bool *made,
                   struct mrs_buf *key)
{
    MRS_ASSERT(made && mrs_buf_is_sound(out));
    const struct mrsi_extract *s = x->s;
    bool inner = p->around != EXT_NONE;
    struct child k; /* sc is large; scan() initializes it */
    struct mrs_val v, own;
    k.x = x;
    k.p = p;
    k.pos = k.map = mrs_missing();
    k.ref = inner ? s->nested.parent_ref : s->parent_ref;
    k.ref_len = inner ? s->nested.parent_ref_len : s->parent_ref_len;
    k.bare = bare;
    k.by_key = k.made = false;
    enum mrs_status st = mrsi_extract_shape(x, p, true, &v, &own);
    if (st == MRS_OK) {
        k.d = mrs_val_view(v);
        st = scan(&k);
    }
    if (st == MRS_OK && key) {
        st = mrsi_extract_key(s, x->c, k.d, key, &k.by_key);
    }
    MRS_THEN(st, choose_fields(&k));
    MRS_THEN(st, choose_id(&k, k.sc.id.type != MRS_MISSING ? k.sc.id : own));
    *made = k.made;
    return st == MRS_OK ? put_child(&k, out) : st;
}

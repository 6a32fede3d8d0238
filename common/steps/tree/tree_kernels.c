/* SPDX-License-Identifier: Apache-2.0 */
/* tree_kernels.c - the step `tree` for one document: reads its relations, writes its new position.
 *
 * A list of ancestors, or a path, has more than the parent: if the rest contradicts the ancestors found through other
 * documents, the document is refused. Ancestors of deep trees can exceed the size of a document, so their size is
 * computed before the first one is read. */
#include "mongoreshape/ejson.h"
#include "mongoreshape/value.h"
#include "steps/kit/shape.h"
#include "tree.h"
#include "mongoreshape/join_ops.h"
#include <stdio.h>

static struct mrs_val
value_of(const struct mrsi_tree_args *s, struct mrs_view doc, uint32_t i)
{
    return mrs_doc_get(doc, s->old.field[i].name);
}

/* ---- reading ---- */
/* Refuses the document and records the relation that is unreadable. */
static enum mrs_status
unreadable(struct mrs_ctx *c, struct mrs_node *out, enum mrs_node_state state, const char *name, const char *what)
{
    out->state = state;
    return mrsi_step_refuse(c, "form", "%s %s", name, what);
}

static enum mrs_status
add_key(struct mrs_ctx *c, struct mrs_node *out, enum mrs_node_key kind, struct mrs_val v)
{
    return mrsi_step_skip(c, mrs_keys_add(&out->keys, (uint16_t)kind, 0, v, c->err), "form");
}

static enum mrs_status
read_parent(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_node *out)
{
    struct mrs_val v = value_of(s, doc, 0);
    if (mrs_is_nullish(v)) {
        return MRS_OK;
    }
    if (v.type == MRS_ARRAY) {
        return unreadable(c, out, MRS_NODE_STATE_OUT, s->old.field[0].name, "is an array, and a node has one parent");
    }
    return add_key(c, out, MRS_NODE_PARENT, v);
}

/* Reports every child even if the document is refused: a child without a parent would become a root. */
static enum mrs_status
read_children(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_node *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val v = value_of(s, doc, 0);
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status worst = MRS_OK;
    if (mrs_is_nullish(v)) {
        return MRS_OK;
    }
    if (v.type != MRS_ARRAY) {
        worst = unreadable(c, out, MRS_NODE_STATE_IN, s->old.field[0].name, "is no array");
        enum mrs_status st = add_key(c, out, MRS_NODE_CHILD, v);
        return st < worst ? st : worst;
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); worst != MRS_DEAD && mrs_walk_next(&w, &el) == 1;) {
        enum mrs_status st = add_key(c, out, MRS_NODE_CHILD, el.v);
        worst = st < worst ? st : worst;
    }
    return worst;
}

static struct mrs_val
last_item(struct mrs_val array, uint64_t *n)
{
    struct mrs_walk w;
    struct mrs_elem el = {.v = mrs_missing()};
    *n = 0;
    for (mrs_walk_init(&w, mrs_val_view(array)); mrs_walk_next(&w, &el) == 1;) {
        ++*n;
    }
    return *n ? el.v : mrs_missing();
}

static enum mrs_status
read_ancestors(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_node *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val v = value_of(s, doc, 0);
    uint64_t n;
    if (mrs_is_nullish(v)) {
        return MRS_OK;
    }
    if (v.type != MRS_ARRAY) {
        return unreadable(c, out, MRS_NODE_STATE_OUT, s->old.field[0].name, "is no array");
    }
    v = last_item(v, &n);
    return n ? add_key(c, out, MRS_NODE_PARENT, v) : MRS_OK;
}

/* Has a text the form `,` or `,a,b,`? */
static bool
good_path(const char *text, uint32_t n, char separator)
{
    bool good = n > 0 && text[0] == separator && text[n - 1] == separator;
    for (uint32_t i = 1; good && i < n; i++) {
        good = text[i] != separator || text[i - 1] != separator;
    }
    return good;
}

/* The last name of a path; false: the path of a root. */
static bool
last_name(const char *text, uint32_t n, char separator, const char **name, uint32_t *len)
{
    uint32_t from = n - 1;
    while (from > 0 && text[from - 1] != separator) {
        from--;
    }
    *name = text + from;
    *len = n - 1 - from;
    return n > 1;
}

static enum mrs_status
read_path(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_node *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val v = value_of(s, doc, 0);
    const char *text, *name;
    char why[80];
    uint32_t n = 0, len;
    if (mrs_is_nullish(v)) {
        return MRS_OK;
    }
    text = v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
    if (!text || !good_path(text, n, s->separator)) {
        snprintf(why, sizeof why, "is no text of names each between two `%c` (`%c` for a root)", s->separator,
                 s->separator);
        return unreadable(c, out, MRS_NODE_STATE_OUT, s->old.field[0].name, why);
    }
    if (!last_name(text, n, s->separator, &name, &len)) {
        return MRS_OK;
    }
    v = mrs_make_text(c->arena, name, len);
    return v.type == MRS_MISSING ? mrs_err_memory(c->err, len) : add_key(c, out, MRS_NODE_PARENT, v);
}

static bool
is_end(struct mrs_val v) /* a number, and not NaN */
{
    static const uint8_t nan[8] = {0, 0, 0, 0, 0, 0, 0xf8, 0x7f};
    return mrs_is_number(v) && mrs_compare(v, (struct mrs_val){nan, 8, MRS_DOUBLE}) != 0;
}

static enum mrs_status
read_nested(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_node *out)
{
    struct mrs_val left = value_of(s, doc, 0), right = value_of(s, doc, 1);
    if (!is_end(left) || !is_end(right)) {
        return unreadable(c, out, MRS_NODE_STATE_OUT, s->old.field[!is_end(left) ? 0 : 1].name, "is no number");
    }
    if (mrs_compare(left, right) >= 0) {
        return unreadable(c, out, MRS_NODE_STATE_OUT, s->old.field[0].name, "is not less than where the interval ends");
    }
    enum mrs_status st = add_key(c, out, MRS_NODE_LEFT, left);
    return st == MRS_OK ? add_key(c, out, MRS_NODE_RIGHT, right) : st;
}

bool
mrsi_tree_fits_path(const struct mrsi_tree_args *s, struct mrs_val id)
{
    return id.type == MRS_STRING && id.n > 5 && !memchr(id.p + 4, s->separator, id.n - 5);
}

/* The `_id` of the node, to which others refer. */
static enum mrs_status
read_id(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_node *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val id = mrs_doc_get(doc, "_id");
    if (mrs_is_nullish(id)) {
        out->state = MRS_NODE_STATE_OUT;
        return mrsi_step_refuse(c, NULL, "it has no _id by which another node could name it");
    }
    enum mrs_status st = add_key(c, out, MRS_NODE_SELF, id);
    if (st != MRS_OK) {
        out->state = MRS_NODE_STATE_OUT;
        return st;
    }
    out->id = id;
    out->unusable = s->to_form == MRSI_TREE_PATH && !mrsi_tree_fits_path(s, id);
    return MRS_OK;
}

static enum mrs_status
read_node(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_node *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    static enum mrs_status (*const relation[])(const struct mrsi_tree_args *, struct mrs_ctx *, struct mrs_view,
                                               struct mrs_node *) = {read_parent, read_children, read_ancestors,
                                                                     read_path, read_nested};
    const struct mrsi_tree_args *s = state;
    bool takes;
    out->state = MRS_NODE_STATE_NONE;
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &takes);
    if (st != MRS_OK || !takes) {
        return st;
    }
    out->state = MRS_NODE_STATE_IN;
    enum mrs_status has_id = read_id(s, c, doc, out);
    st = relation[s->form](s, c, doc, out); /* after an error the first reason stays */
    bool whole = s->to_form == MRSI_TREE_EMBEDDED;
    MRS_THEN(st, whole ? mrsi_tree_weigh(s, c, doc, out) : MRS_OK);
    if (st == MRS_SKIP && (whole || s->form != MRSI_TREE_CHILDREN)) {
        out->state = MRS_NODE_STATE_OUT;
    }
    struct mrs_val left = mrs_doc_get(doc, s->made.field[0].name);
    if (s->to_form == MRSI_TREE_NESTED && is_end(left)) {
        mrs_key_append(&out->order, left, false);
    }
    return has_id < st ? has_id : st;
}

static unsigned
needs(const void *state)
{
    const struct mrsi_tree_args *s = state;
    return s->to_form == MRSI_TREE_CHILDREN   ? MRS_TREE_CHILDREN
           : s->to_form == MRSI_TREE_NESTED   ? MRS_TREE_NUMBERS
           : s->to_form != MRSI_TREE_EMBEDDED ? 0
           : s->form == MRSI_TREE_ANCESTORS || s->form == MRSI_TREE_PATH
               ? MRS_TREE_CHILDREN | MRS_TREE_WHOLE | MRS_TREE_STATED
               : MRS_TREE_CHILDREN | MRS_TREE_WHOLE;
}

/* ---- compares a document with the resolved tree ---- */
static enum mrs_status
disagrees(const struct mrsi_tree_args *s, struct mrs_ctx *c)
{
    return mrsi_step_refuse(c, "form", "%s is not the way that its last entry goes up", s->old.field[0].name);
}

/* A root may have no list, or only its own `_id`. */
static enum mrs_status
check_ancestors(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_place *place)
{
    MRS_ASSERT(place->above.next);
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val list = value_of(s, doc, 0), id;
    struct mrs_walk w;
    struct mrs_elem el;
    uint64_t n = 0;
    enum mrs_status st = MRS_OK;
    if (mrs_is_nullish(list)) {
        return MRS_OK;
    }
    last_item(list, &n);
    if (n != place->above.n) {
        return place->above.n == 0 && n == 1 ? MRS_OK : disagrees(s, c);
    }
    for (mrs_walk_init(&w, mrs_val_view(list)); mrs_walk_next(&w, &el) == 1;) {
        st = place->above.next(&place->above, &id, c->err);
        if (st != MRS_OK) {
            return st;
        }
        if (mrs_compare(el.v, id) != 0) {
            return disagrees(s, c);
        }
    }
    place->above.rewind(&place->above);
    return MRS_OK;
}

static enum mrs_status
check_path(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_place *place)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val v = value_of(s, doc, 0), id;
    uint32_t n, names = 0, len;
    if (mrs_is_nullish(v)) {
        return MRS_OK;
    }
    const char *text = mrs_val_text(v, &n), *at = text + 1;
    for (uint32_t i = 1; i < n; i++) {
        names += text[i] == s->separator;
    }
    if (names != place->above.n) {
        return place->above.n == 0 && names == 1 ? MRS_OK : disagrees(s, c);
    }
    for (; names; names--, at += len + 1) {
        MRS_TRY(place->above.next(&place->above, &id, c->err));
        len = (uint32_t)((const char *)memchr(at, s->separator, (size_t)(text + n - at)) - at);
        if ((id.type != MRS_STRING && id.type != MRS_SYMBOL) || id.n != len + 5 || memcmp(id.p + 4, at, len) != 0) {
            return disagrees(s, c);
        }
    }
    place->above.rewind(&place->above);
    return MRS_OK;
}

static enum mrs_status
agrees(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_place *place)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_tree_args *s = state;
    return s->form == MRSI_TREE_ANCESTORS ? check_ancestors(s, c, doc, place)
           : s->form == MRSI_TREE_PATH    ? check_path(s, c, doc, place)
                                          : MRS_OK;
}

/* ---- write ---- */
struct tree_kernels_writing {
    const struct mrsi_tree_args *s;
    struct mrs_ctx *c;
    struct mrs_place *place;
    struct mrs_buf *out;
    bool deeper; /* a document `_id` is inside a list now */
};

static enum mrs_status
too_large(struct tree_kernels_writing *x, uint64_t n, const char *what)
{
    return mrsi_step_refuse(x->c, "to_form", "the document would have more than 16 MiB: %llu %s", (unsigned long long)n,
                            what);
}

/* Bytes of the element names 0 .. n-1 of an array. */
static uint64_t
bytes_of_names(uint64_t n)
{
    uint64_t bytes = n, from = 10; /* one digit each */
    for (; from < n; from *= 10) {
        bytes += n - from;
    }
    return bytes;
}

static enum mrs_status
put_ids(struct tree_kernels_writing *x, const struct mrsi_tree_field *f, struct mrs_node_ids *ids, const char *what)
{
    MRS_ASSERT(f->len > 0 && ids->next);
    struct mrsi_shape_items it;
    struct mrs_val id;
    enum mrs_status st = MRS_OK;
    if (ids->bytes + 2 * ids->n + bytes_of_names(ids->n) > MRS_DOC_MAX) {
        return too_large(x, ids->n, what);
    }
    mrsi_put_head(x->out, MRS_ARRAY, f->name, f->len);
    mrsi_items_open(&it, x->out);
    while (st == MRS_OK && (st = ids->next(ids, &id, x->c->err)) == MRS_OK) {
        x->deeper = x->deeper || id.type == MRS_DOCUMENT;
        mrsi_items_add(&it, id);
        if (x->out->n > MRS_DOC_MAX) {
            return too_large(x, ids->n, what);
        }
    }
    mrsi_items_close(&it);
    return st == MRS_END ? mrs_buf_status(x->out, x->c->err) : st;
}

static enum mrs_status
put_path(struct tree_kernels_writing *x, const struct mrsi_tree_field *f)
{
    struct mrs_node_ids *ids = &x->place->above;
    struct mrs_val id = x->place->unusable;
    char picture[96];
    enum mrs_status st = MRS_OK;
    if (id.type != MRS_MISSING) {
        return mrsi_step_refuse(x->c, "to_form", "the _id %s above it cannot be in a path: only a string without "
                                                 "`%c` can", mrs_val_picture(id, picture, sizeof picture),
                                x->s->separator);
    }
    if (ids->bytes - 4 * ids->n > MRS_DOC_MAX) { /* a name with its separator is four bytes shorter than the value */
        return too_large(x, ids->n, "nodes are above it");
    }
    mrsi_put_head(x->out, MRS_STRING, f->name, f->len);
    size_t at = x->out->n;
    mrs_buf_put(x->out, "\0\0\0\0", 4);
    mrs_buf_byte(x->out, (uint8_t)x->s->separator);
    while (st == MRS_OK && (st = ids->next(ids, &id, x->c->err)) == MRS_OK) {
        mrs_buf_put(x->out, id.p + 4, id.n - 5);
        mrs_buf_byte(x->out, (uint8_t)x->s->separator);
    }
    mrs_buf_byte(x->out, 0);
    if (st == MRS_END && !x->out->bad) {
        mrs_put32(x->out->p + at, (uint32_t)(x->out->n - at - 4));
    }
    return st == MRS_END ? mrs_buf_status(x->out, x->c->err) : st;
}

/* Writes one field of the new representation. */
static enum mrs_status
put_field(struct tree_kernels_writing *x, uint32_t i)
{
    MRS_ASSERT(i < x->s->made.n);
    const struct mrsi_tree_field *f = &x->s->made.field[i];
    struct mrs_place *p = x->place;
    uint8_t room[16];
    switch (x->s->to_form) {
    case MRSI_TREE_PARENT:
        mrsi_put_elem(x->out, f->name, f->len, p->parent.type == MRS_MISSING ? mrs_null() : p->parent);
        return mrs_buf_status(x->out, x->c->err);
    case MRSI_TREE_CHILDREN: return put_ids(x, f, &p->children, "children");
    case MRSI_TREE_ANCESTORS: return put_ids(x, f, &p->above, "nodes are above it");
    case MRSI_TREE_PATH: return put_path(x, f);
    default: break;
    }
    mrsi_put_elem(x->out, f->name, f->len, mrs_make_count(room, i ? p->right : p->left));
    return mrs_buf_status(x->out, x->c->err);
}

uint32_t
mrsi_tree_field_no(const struct mrsi_tree_fields *f, const struct mrs_elem *el)
{
    MRS_ASSERT(f->n <= 2);
    uint32_t i = 0;
    while (i < f->n && !mrs_name_is(el, f->field[i].name, f->field[i].len)) {
        i++;
    }
    return i;
}

/* Writes the document without the old and with the new fields. */
static enum mrs_status
put_document(struct tree_kernels_writing *x, struct mrs_view doc, struct mrsi_name_set *seen)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_tree_args *s = x->s;
    bool done[2] = {false, false};
    size_t start = mrsi_put_open(x->out);
    enum mrs_status st = MRS_OK;
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, doc); st == MRS_OK && mrs_walk_next(&w, &el) == 1;) {
        uint32_t i = mrsi_tree_field_no(&s->made, &el);
        mrsi_name_set_add(seen, &el);
        if (mrsi_tree_field_no(&s->old, &el) < s->old.n) {
            continue;
        }
        if (i == s->made.n) {
            mrs_buf_put(x->out, el.p, (size_t)(el.v.p + el.v.n - el.p));
        } else if (!s->replace) {
            return mrsi_step_refuse(x->c, "to_form", "the field %s exists already", s->made.field[i].name);
        } else if (!done[i]) {
            done[i] = true;
            st = put_field(x, i);
        }
    }
    for (uint32_t i = 0; st == MRS_OK && i < s->made.n; i++) {
        st = done[i] ? MRS_OK : put_field(x, i);
    }
    mrsi_put_close(x->out, start);
    return st == MRS_OK ? mrs_buf_status(x->out, x->c->err) : st;
}

enum mrs_status
mrsi_tree_put(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_place *place,
              struct mrs_buf *out, bool *deeper)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_buf_is_sound(out));
    struct tree_kernels_writing x = {s, c, place, out, false};
    struct mrsi_name_set seen;
    mrsi_name_set_begin(&seen);
    enum mrs_status st = mrsi_step_skip(c, put_document(&x, doc, &seen), "to_form");
    *deeper = x.deeper;
    return st == MRS_OK ? mrsi_name_set_check(&seen, c, doc) : st;
}

static enum mrs_status
splice(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_place *place, struct mrs_buf *out,
       enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const struct mrsi_tree_args *s = state;
    struct tree_kernels_writing x = {s, c, place, out, false};
    struct mrsi_name_set seen;
    enum mrs_status st = agrees(s, c, doc, place);
    mrsi_name_set_begin(&seen);
    MRS_THEN(st, put_document(&x, doc, &seen));
    if (st != MRS_OK) {
        return mrsi_step_skip(c, st, "to_form");
    }
    *fate = out->n == doc.n && memcmp(out->p, doc.p, doc.n) == 0 ? MRS_FATE_STAYS : MRS_FATE_CHANGED;
    if (*fate == MRS_FATE_STAYS) {
        return MRS_OK;
    }
    st = mrsi_name_set_check(&seen, c, doc);
    MRS_THEN(st, mrsi_step_size(c, out));
    return st == MRS_OK && x.deeper ? mrsi_step_depth(c, "to_form", doc, mrsi_buf_view(out, 0)) : st;
}

/* ---- refuse ---- */
/* The dangling reference of the document. */
static struct mrs_val
named(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc, uint64_t child)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_val v = value_of(s, doc, 0);
    struct mrs_walk w;
    struct mrs_elem el;
    const char *text, *name;
    uint32_t n, len;
    uint64_t all;
    if (s->form == MRSI_TREE_PATH && v.type == MRS_STRING) {
        text = mrs_val_text(v, &n);
        last_name(text, n, s->separator, &name, &len);
        return mrs_make_text(c->arena, name, len);
    }
    if (s->form == MRSI_TREE_CHILDREN && v.type == MRS_ARRAY) {
        mrs_walk_init(&w, mrs_val_view(v));
        for (el.v = v; mrs_walk_next(&w, &el) == 1 && child; child--) {
        }
        return el.v;
    }
    return s->form == MRSI_TREE_ANCESTORS && v.type == MRS_ARRAY ? last_item(v, &all) : v;
}

static enum mrs_status
refuse_below(struct mrs_ctx *c, const struct mrs_tree_error *t)
{
    MRS_ASSERT(t->below);
    static const char *const why[] = {"which is refused", "of which there are two", "whose parent is not there",
                                      "of which a child has two parents", "whose interval overlaps another",
                                      "which is above itself", "of which a child is not there",
                                      "whose tree would have more than 16 MiB",
                                      "which says another way up", "whose tree would be nested too deep"};
    char at[96];
    return mrsi_step_refuse(c, "form", "its way up ends at %s, %s",
                            t->at.type == MRS_MISSING ? "a document without _id"
                                                      : mrs_val_picture(t->at, at, sizeof at), why[t->fault]);
}

static enum mrs_status
refuse(const void *state, struct mrs_ctx *c, struct mrs_view doc, const struct mrs_tree_error *t)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_tree_args *s = state;
    char one[96];
    if (t->below) {
        return refuse_below(c, t);
    }
    switch (t->fault) {
    case MRS_FAULT_TWICE:
        mrs_val_picture(mrs_doc_get(doc, "_id"), one, sizeof one);
        return mrsi_step_refuse(c, "form", "another node has the _id %s, too", one);
    case MRS_FAULT_NO_PARENT:
        mrs_val_picture(named(s, c, doc, 0), one, sizeof one);
        return mrsi_step_refuse(c, "form", "its parent %s is not there", one);
    case MRS_FAULT_TWO_PARENTS:
        mrs_val_picture(t->other, one, sizeof one);
        return mrsi_step_refuse(c, "form", "its child %s has another parent, too", one);
    case MRS_FAULT_OVERLAP:
        mrs_val_picture(t->other, one, sizeof one);
        return mrsi_step_refuse(c, "form", "its interval and that of %s overlap, neither inside the other", one);
    case MRS_FAULT_CIRCLE: return mrsi_step_refuse(c, "form", "its way up comes back to itself");
    case MRS_FAULT_NO_CHILD:
        mrs_val_picture(named(s, c, doc, t->child), one, sizeof one);
        return mrsi_step_refuse(c, "form", "its child %s is not there", one);
    case MRS_FAULT_OTHER_WAY: return disagrees(s, c);
    case MRS_FAULT_TOO_LARGE: return mrsi_step_refuse(c, "to_form", "its tree would have more than 16 MiB");
    case MRS_FAULT_TOO_DEEP:
        return mrsi_step_refuse(c, "to_form", "its tree would be nested more than %d deep", MRS_DEPTH_MAX);
    case MRS_FAULT_READ: break;
    }
    return mrsi_step_refuse(c, "form", "it cannot be read");
}

const struct mrs_tree_ops mrsi_tree_ops = {read_node, needs, splice, agrees, mrsi_tree_part, refuse};

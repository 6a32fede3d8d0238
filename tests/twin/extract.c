/* SPDX-License-Identifier: Apache-2.0 */
/* extract.c - embedded parts into their own collection, naively.
 *
 * First every source document is divided alone and gives candidates; then all candidates are compared: equal keys of
 * `unique` become one document, equal ids with different contents refuse their sources; finally the rest is written, in
 * input order. */
#include "twin.h"

#include <string.h>

struct part {
    struct cand c;
    struct val *key;    /* unique: array of the key's values; NULL: this part is not merged */
    struct val *parent; /* the value of parent_key */
    struct val *ref;    /* what its source holds of it: the `_id` of the document that it became; NULL: nothing */
    int home;           /* unique: that document, in into */
    bool made_id;
};

struct extract {
    struct coll *from, *into;
    struct path path, key, refs, count, flag;
    struct val *path_spec, *leave, *pages, *unique, *id;
    struct shape shape;
    const char *parent_ref, *position, *value, *conflicts;
    const char *map, *inner_ref; /* NULL: none */
    bool nested;
    struct path inner;
    bool to_parent, to_child, has_refs, has_count, has_flag, replace, all, fields_form, root_only;
    struct part *parts;
    uint32_t n, cap;
};

struct source {
    struct val *old, *now;
    uint32_t no, lists, pages;
    bool refused;
    const char *why;
    int32_t elements;
};

static void
no(struct source *s, const char *why)
{
    if (!s->refused)
        s->why = why;
    s->refused = true;
}

static void
open_extract(struct world *w, struct extract *x)
{
    memset(x, 0, sizeof *x);
    const char *refs = tw_word(w, "refs", "parent");
    x->from = tw_coll(w, tw_arg(w, "from"), false);
    x->into = tw_coll(w, tw_arg(w, "into"), true);
    x->path_spec = tw_arg(w, "path");
    x->fields_form = x->path_spec->type == T_DOC;
    if (!x->fields_form)
        x->path = tw_path(x->path_spec);
    x->key = tw_arg(w, "parent_key") ? tw_path(tw_arg(w, "parent_key")) : tw_path_of("_id");
    x->leave = tw_arg(w, "leave");
    x->pages = tw_arg(w, "pages");
    x->unique = tw_arg(w, "unique");
    x->id = tw_arg(w, "id");
    x->parent_ref = tw_word(w, "parent_ref", NULL);
    x->position = tw_word(w, "position", NULL);
    x->value = tw_word(w, "value", "value");
    x->conflicts = tw_word(w, "conflicts", "refuse");
    x->replace = tw_flag(w, "replace");
    x->all = strcmp(tw_word(w, "extracted", "all"), "rest") != 0;
    x->to_parent = !x->pages && (!strcmp(refs, "parent") || !strcmp(refs, "both"));
    x->to_child = !x->pages && (!strcmp(refs, "child") || !strcmp(refs, "both"));
    x->map = tw_word(w, "map", NULL);
    if (tw_arg(w, "nested")) {
        struct val *ref = tw_get(tw_arg(w, "nested"), "parent_ref");
        x->nested = true;
        x->inner = tw_path(tw_get(tw_arg(w, "nested"), "path"));
        x->inner_ref = ref ? tw_str(ref) : NULL;
    }
    x->shape = (struct shape){tw_arg(w, "fields"), tw_arg(w, "drop"), tw_word(w, "errors", "refuse"), false};
    x->refs = tw_arg(w, "child_refs") ? tw_path(tw_arg(w, "child_refs")) : x->path;
    x->has_refs = x->to_child && (x->fields_form || !tw_path_same(&x->refs, &x->path));
    if (tw_arg(w, "count")) {
        x->has_count = true;
        x->count = tw_path(tw_arg(w, "count"));
    }
    if (x->pages && tw_get(x->pages, "flag")) {
        x->has_flag = true;
        x->flag = tw_path(tw_get(x->pages, "flag"));
    }
    if (x->has_refs && !x->fields_form) {
        uint32_t same = tw_common(&x->refs, &x->path);
        x->root_only = same + 1 < x->path.n;
        if (same && x->root_only)
            tw_unclear(w, "child_refs shares a part of the way");
    }
}

/* ---- one element */
struct element {
    struct val *v;
    struct holder *h;
    int32_t pos[PATH_MAX_PARTS];
    uint32_t npos;
    struct val *around; /* the documents around it, below its source */
    const char *name;   /* map: of its field */
    int outer;          /* nested: the element that it lies in; -1: none */
    struct val *outer_id;
    bool alone;         /* nested: a single document */
};

static struct val *
positions(const struct element *e, bool wide)
{
    struct val *a = tw_array();
    for (uint32_t i = 0; i < e->npos; i++)
        tw_append(a, wide ? tw_int64(e->pos[i]) : tw_int32(e->pos[i]));
    return a;
}

static struct val *
position_value(const struct extract *x, const struct element *e)
{
    if (x->nested)
        return e->alone ? NULL : tw_int32(e->pos[e->npos - 1]);
    if (e->npos == 1)
        return tw_int32(e->pos[0]);
    return e->npos ? positions(e, false) : NULL;
}

static struct val *
parent_value(struct world *w, const struct extract *x, const struct element *e)
{
    uint32_t k = x->fields_form ? 0 : tw_common(&x->key, &x->path);
    struct val *v = e->h->chain[k < e->h->at ? k : e->h->at];
    struct path rest = tw_rest(&x->key, k);
    for (uint32_t i = 0; v && i < rest.n; i++) {
        if (v->type == T_ARRAY) {
            tw_unclear(w, "parent_key through an array");
            return NULL;
        }
        v = v->type == T_DOC ? tw_get(v, rest.p[i]) : NULL;
    }
    return v;
}

static struct val *
unique_key(const struct extract *x, struct val *doc)
{
    struct val *key = x->unique ? tw_array() : NULL;
    for (uint32_t i = 0; x->unique && i < x->unique->n; i++) {
        struct path p = tw_path(x->unique->f[i].v);
        struct val *v = doc;
        for (uint32_t k = 0; v && k < p.n; k++)
            v = v->type == T_DOC ? tw_get(v, p.p[k]) : NULL;
        if (tw_is_nullish(v))
            return NULL;
        tw_append(key, v);
    }
    return key;
}

static bool
same_key(const struct val *a, const struct val *b)
{
    return a && b && !tw_compare(a, b);
}

static struct val *
choose_id(struct world *w, const struct extract *x, struct source *s, const struct element *e, struct val *shaped,
          struct part *p)
{
    const char *word = x->id ? tw_str(x->id) : "keep";
    bool keep = word && !strcmp(word, "keep"), fresh = word && !strcmp(word, "new");
    struct val *id = NULL, *mapped = x->shape.fields && x->shape.fields->type == T_DOC ? tw_get(shaped, "_id") : NULL;
    if (!keep && !fresh) {
        struct val *root = e->v;
        if (root->type != T_DOC) {
            root = tw_doc();
            tw_push(root, x->value, e->v);
        }
        struct vars vars = {.root = root, .parent = s->old, .position = position_value(x, e), .elements = e->around,
                            .name = x->map ? tw_string(e->name) : NULL};
        if (tw_eval(w, x->id, &vars, &id) || tw_bad_id(id))
            no(s, "id fails");
        return id ? id : tw_null();
    }
    struct val *own = e->v->type == T_DOC ? tw_get(e->v, "_id") : NULL;
    if (keep && (mapped || own)) {
        if (own && !mapped && !tw_get(shaped, "_id") && !(x->shape.fields && x->shape.fields->type == T_DOC))
            tw_unclear(w, "own _id that is dropped");
        if (tw_bad_id(mapped ? mapped : own))
            no(s, "no server takes this _id");
        return mapped ? mapped : own;
    }
    p->made_id = true;
    p->c.made = MADE;
    for (uint32_t i = 0; p->key && i < x->into->docs.n; i++)
        if (same_key(unique_key(x, x->into->docs.v[i]), p->key) && tw_get(x->into->docs.v[i], "_id"))
            return tw_get(x->into->docs.v[i], "_id");
    struct val *path = tw_copy(x->fields_form ? tw_get(x->path_spec, "fields") : x->path_spec);
    if (path->type == T_ARRAY)
        tw_renumber(path);
    if (x->map) {
        struct val *both = tw_array();
        tw_append(both, path);
        tw_append(both, tw_string(e->name));
        path = both;
    }
    if (p->key)
        return tw_new_id(x->into->ns, x->into->ns, p->key, path, tw_array(), false);
    return tw_new_id(x->into->ns, x->from->ns, tw_get(s->old, "_id"), path, positions(e, true), true);
}

/* A field that the extracted document gets in front, unless it has it with the right value. */
static void
front(const struct extract *x, struct source *s, struct val *out, struct val *rest, const char *name, struct val *v)
{
    struct val *has = tw_get(rest, name);
    if (!has) {
        tw_push(out, name, v);
    } else if (x->replace) {
        if (tw_compare(has, v))
            tw_put(rest, name, v);
    } else if (tw_compare(has, v)) {
        no(s, "parent_ref or position with another value");
    }
}

static struct part *
new_part(struct extract *x, uint32_t source)
{
    if (x->n == x->cap) {
        struct part *more = tw_new((x->cap * 2 + 16) * sizeof *more);
        if (x->n)
            memcpy(more, x->parts, x->n * sizeof *more);
        x->parts = more;
        x->cap = x->cap * 2 + 16;
    }
    struct part *p = &x->parts[x->n++];
    memset(p, 0, sizeof *p);
    p->c.source = source;
    return p;
}

/* What lies inside of an inner part leaves it, be it empty. */
static void
strip(const struct extract *x, struct val *v, uint32_t level)
{
    int at;
    if (v->type == T_ARRAY) {
        for (uint32_t i = 0; level && i < v->n; i++)
            if (v->f[i].v->type == T_DOC)
                strip(x, v->f[i].v, level);
        return;
    }
    if (v->type != T_DOC || (at = tw_index(v, x->inner.p[level])) < 0)
        return;
    struct val *in = v->f[at].v;
    if (in->type != T_DOC && in->type != T_ARRAY)
        return;
    if (level + 1 == x->inner.n)
        tw_cut(v, (uint32_t)at);
    else
        strip(x, in, level + 1);
}

static struct val *
shape_element(struct world *w, const struct extract *x, struct source *s, const struct element *e)
{
    struct val *v = e->v, *out = NULL;
    if (v->type != T_DOC) {
        v = tw_doc();
        tw_push(v, x->value, tw_copy(e->v));
        if (x->shape.fields && strstr(tw_json(x->shape.fields), "$$ROOT"))
            tw_unclear(w, "$$ROOT of an element that is no document");
    }
    if (x->nested && !(x->shape.fields && x->shape.fields->type == T_DOC)) {
        v = tw_copy(v);
        strip(x, v, 0);
    }
    struct vars vars = {.root = v, .parent = s->old, .position = position_value(x, e), .elements = e->around,
                        .name = x->map ? tw_string(e->name) : NULL};
    if (tw_shape(w, &x->shape, &vars, &out)) {
        no(s, "fields fail");
        return tw_doc();
    }
    return out;
}

/* The list of parents goes behind `_id` in a document of this step, and to the end of one that was there. */
static void
gain_parent(const struct extract *x, struct val *doc, struct val *parent, bool old)
{
    struct val *has = tw_get(doc, x->parent_ref), *list = has;
    if (!has || has->type != T_ARRAY) {
        list = tw_array();
        if (has)
            tw_append(list, has);
        if (has)
            tw_put(doc, x->parent_ref, list);
        else
            tw_insert(doc, old ? doc->n : 1, x->parent_ref, list);
    }
    tw_append(list, tw_copy(parent));
    tw_renumber(list);
}

/* Returns the `_id`. */
static struct val *
extract_one(struct world *w, struct extract *x, struct source *s, const struct element *e)
{
    struct part *p = new_part(x, s->no);
    struct val *rest = shape_element(w, x, s, e), *out = tw_doc();
    p->key = unique_key(x, rest);
    struct val *id = choose_id(w, x, s, e, rest, p);
    tw_push(out, "_id", tw_copy(id));
    int at = tw_index(rest, "_id");
    if (at >= 0)
        tw_cut(rest, (uint32_t)at);
    if (e->outer >= 0) {
        if (x->inner_ref)
            front(x, s, out, rest, x->inner_ref, tw_copy(e->outer_id));
    } else if (x->to_parent) {
        p->parent = parent_value(w, x, e);
        if (!p->parent)
            no(s, "no parent_key");
        if (x->unique && tw_get(rest, x->parent_ref))
            tw_unclear(w, "unique and an element that has parent_ref");
        if (p->parent && !x->unique)
            front(x, s, out, rest, x->parent_ref, tw_copy(p->parent));
    }
    if (x->position && position_value(x, e))
        front(x, s, out, rest, x->position, position_value(x, e));
    if (x->map)
        front(x, s, out, rest, x->map, tw_string(e->name));
    for (uint32_t i = 0; i < rest->n; i++)
        tw_push(out, rest->f[i].name, rest->f[i].v);
    p->c.doc = out;
    return id;
}

/* ---- one array or subdocument */
static void
leave_order(struct world *w, const struct extract *x, struct source *s, struct element *e, uint32_t n, uint32_t *order)
{
    struct vals *key = tw_new((n + 1) * sizeof *key);
    struct val *spec = tw_get(x->leave, "sort");
    (void)w;
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        if (spec && tw_sort_key(e[i].v->type == T_DOC ? e[i].v : tw_doc(), spec, &key[i]))
            no(s, "parallel arrays in leave.sort");
    }
    if (!spec || s->refused)
        return;
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k && tw_sort_compare(&key[order[k - 1]], &key[order[k]], spec) > 0; k--) {
            uint32_t t = order[k];
            order[k] = order[k - 1];
            order[k - 1] = t;
        }
}

static struct val *
left_copy(struct world *w, const struct extract *x, const struct element *e, struct val *id)
{
    struct val *fields = tw_get(x->leave, "fields"), *v = tw_copy(e->v);
    if (v->type != T_DOC)
        return v;
    if (fields && fields->type == T_ARRAY)
        v = tw_include(v, fields, true);
    else if (fields)
        tw_unclear(w, "leave.fields as a map");
    if (!tw_as_bool(tw_get(x->leave, "id"), false) || !id)
        return v;
    if (tw_get(v, "_id"))
        tw_put(v, "_id", tw_copy(id));
    else
        tw_insert(v, 0, "_id", tw_copy(id));
    return v;
}

static void
set_place(struct holder *h, const struct extract *x, struct val *v)
{
    const char *name = x->path.p[x->path.n - 1];
    int at = tw_index(h->doc, name);
    if (v)
        h->doc->f[at].v = v;
    else
        tw_cut(h->doc, (uint32_t)at);
}

static void
write_refs(const struct extract *x, struct source *s, struct holder *h, struct val *ids)
{
    struct val *doc = x->root_only || x->fields_form ? s->now : h->doc;
    struct path p = x->root_only || x->fields_form ? x->refs : tw_rest(&x->refs, x->path.n - 1);
    if (++s->lists > 1 && x->root_only) {
        no(s, "more than one list for child_refs");
        return;
    }
    if (tw_probe(doc, &p, x->replace) != PUT_OK)
        no(s, "child_refs");
    else
        tw_write(doc, &p, ids);
}

static void
take(struct world *w, struct extract *x, struct source *s, struct holder *h, struct element *e, uint32_t n,
     bool array, struct vals *paged)
{
    uint32_t *order = tw_new((n + 1) * sizeof *order), kept = 0;
    struct val **id = tw_new((n + 1) * sizeof *id), *ids = tw_array(), *left = tw_array();
    bool *stays = tw_new(n + 1);
    if (x->leave) {
        leave_order(w, x, s, e, n, order);
        int32_t limit = tw_as_int(tw_get(x->leave, "limit"), (int32_t)n);
        if (!limit && !array)
            tw_unclear(w, "leave.limit 0 on a subdocument");
        for (uint32_t i = 0; i < n && (int32_t)i < limit; i++, kept++)
            stays[order[i]] = true;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (stays[i] && !x->all)
            continue;
        if (x->pages) {
            tw_add(paged, e[i].v->type == T_DOC || x->shape.fields ? shape_element(w, x, s, &e[i]) : e[i].v);
            continue;
        }
        if (e[i].outer >= 0)
            e[i].outer_id = id[e[i].outer];
        id[i] = extract_one(w, x, s, &e[i]);
        tw_append(ids, tw_copy(id[i]));
        x->parts[x->n - 1].ref = ids->f[ids->n - 1].v;
    }
    for (uint32_t i = 0; i < kept; i++)
        tw_append(left, left_copy(w, x, &e[order[i]], id[order[i]]));
    if (x->to_child && !ids->n && !array)
        tw_unclear(w, "child_refs without an id");
    if (n && !x->all && (x->to_parent || x->pages) && !parent_value(w, x, &e[0]))
        tw_unclear(w, "no parent_key where perhaps nothing is extracted");
    struct val *back = array ? ids : ids->n ? ids->f[0].v : NULL;
    if (x->leave)
        set_place(h, x, array ? left : left->n ? left->f[0].v : NULL);
    else if (x->to_child && !x->has_refs)
        set_place(h, x, back);
    else
        set_place(h, x, NULL);
    if (x->has_refs && back)
        write_refs(x, s, h, back);
}

static void
pages_of(struct world *w, struct extract *x, struct source *s, struct holder *h, struct vals *paged)
{
    struct element e = {.h = h, .outer = -1};
    struct val *ref = paged->n ? parent_value(w, x, &e) : NULL;
    int32_t size = tw_as_int(tw_get(x->pages, "size"), 1);
    if (paged->n && !ref)
        no(s, "no parent_key");
    if (!ref)
        return;
    for (uint32_t at = 0, number = x->leave ? 2 : 1; at < paged->n; number++) {
        struct part *p = new_part(x, s->no);
        struct val *page = tw_doc(), *items = tw_array(), *pos = tw_array();
        for (int32_t i = 0; i < size && at < paged->n; i++)
            tw_append(items, tw_copy(paged->v[at++]));
        tw_append(pos, tw_int64(number));
        tw_push(page, "_id",
                tw_new_id(x->into->ns, x->from->ns, tw_get(s->old, "_id"), tw_copy(x->path_spec), pos, true));
        tw_push(page, tw_str(tw_get(x->pages, "ref")), tw_copy(ref));
        tw_push(page, tw_str(tw_get(x->pages, "number")), tw_int32((int32_t)number));
        tw_push(page, tw_str(tw_get(x->pages, "items")), items);
        p->c = (struct cand){page, s->no, MADE};
        s->pages++;
    }
}

static void
computed(const struct extract *x, struct source *s, const struct path *p, struct val *v)
{
    enum put r = tw_probe(s->now, p, x->replace);
    if (r == PUT_OK)
        tw_write(s->now, p, v);
    else if (r != PUT_NO_PLACE && (r != PUT_BLOCKED || !strcmp(x->shape.errors, "refuse")))
        no(s, "count or flag");
}

static void
take_fields(struct world *w, struct extract *x, struct source *s)
{
    struct val *names = tw_get(x->path_spec, "fields"), *doc = tw_doc();
    for (uint32_t i = 0; i < s->now->n;) {
        bool hit = false;
        for (uint32_t k = 0; k < names->n; k++)
            hit |= !strcmp(tw_str(names->f[k].v), s->now->f[i].name);
        if (hit) {
            tw_push(doc, s->now->f[i].name, s->now->f[i].v);
            tw_cut(s->now, i);
        } else {
            i++;
        }
    }
    if (!doc->n)
        return;
    struct holder h = {.doc = s->now};
    h.chain[0] = s->old;
    struct element e = {.v = doc, .h = &h, .outer = -1, .around = tw_array()};
    s->elements = 1;
    struct val *id = extract_one(w, x, s, &e);
    if (x->has_refs)
        write_refs(x, s, &h, x->parts[x->n - 1].ref = tw_copy(id));
}

/* ---- the elements of one place */
struct elements {
    struct element *e;
    uint32_t n, cap;
};

static uint32_t
add_element(struct elements *l, const struct element *e)
{
    if (l->n == l->cap) {
        struct element *more = tw_new((l->cap * 2 + 16) * sizeof *more);
        if (l->n)
            memcpy(more, l->e, l->n * sizeof *more);
        l->e = more;
        l->cap = l->cap * 2 + 16;
    }
    l->e[l->n] = *e;
    l->e[l->n].v = tw_copy(e->v);
    return l->n++;
}

static void inner_of(struct world *w, struct extract *x, struct source *s, struct elements *l, struct element e,
                     struct val *d, uint32_t level);

static void
add_nested(struct world *w, struct extract *x, struct source *s, struct elements *l, struct element e, struct val *v,
           int32_t at, bool alone)
{
    if (e.npos == PATH_MAX_PARTS) {
        tw_unclear(w, "nested too deep for the twin");
        return;
    }
    if (v->type != T_DOC) {
        no(s, "an element that is no document");
        return;
    }
    e.pos[e.npos++] = at;
    e.alone = alone;
    e.v = v;
    e.outer = (int)add_element(l, &e);
    e.around = tw_copy(e.around);
    tw_append(e.around, tw_copy(v));
    inner_of(w, x, s, l, e, v, 0);
}

/* The parts below a document, from a name of the inner path on. */
static void
inner_of(struct world *w, struct extract *x, struct source *s, struct elements *l, struct element e, struct val *d,
         uint32_t level)
{
    struct val *v = level < x->inner.n ? tw_get(d, x->inner.p[level]) : NULL;
    bool last = level + 1 == x->inner.n;
    if (v && v->type == T_DOC) {
        if (last)
            add_nested(w, x, s, l, e, v, 0, true);
        else
            inner_of(w, x, s, l, e, v, level + 1);
    }
    for (uint32_t k = 0; v && v->type == T_ARRAY && k < v->n; k++) {
        if (last) {
            add_nested(w, x, s, l, e, v->f[k].v, (int32_t)k, false);
        } else if (v->f[k].v->type == T_DOC && e.npos < PATH_MAX_PARTS) {
            struct element in = e;
            in.pos[in.npos++] = (int32_t)k;
            inner_of(w, x, s, l, in, v->f[k].v, level + 1);
        }
    }
}

static void
elements_of(struct world *w, struct extract *x, struct source *s, struct elements *l, struct element e, struct val *v)
{
    uint32_t n = v->type == T_DOC && !x->map ? 1 : v->n;
    for (uint32_t k = 0; k < n; k++) {
        bool alone = v->type == T_DOC;
        struct val *one = alone && !x->map ? v : v->f[k].v;
        if (x->nested) {
            add_nested(w, x, s, l, e, one, alone ? 0 : (int32_t)k, alone);
            continue;
        }
        struct element part = e;
        part.v = one;
        if (x->map)
            part.name = v->f[k].name;
        else if (!alone)
            part.pos[part.npos++] = (int32_t)k;
        add_element(l, &part);
    }
}

/* The documents that the path passes, as they were. */
static struct val *
on_the_way(const struct extract *x, const struct holder *h)
{
    struct val *a = tw_array();
    for (uint32_t i = 1; i < x->path.n; i++)
        tw_append(a, tw_copy(h->chain[i]));
    return a;
}

static void
take_apart(struct world *w, struct extract *x, struct source *s)
{
    struct holders h;
    struct vals paged = {0};
    s->now = tw_copy(s->old);
    if (x->fields_form) {
        take_fields(w, x, s);
    } else {
        tw_holders(s->now, &x->path, x->path.n - 1, &h);
        struct val **around = tw_new((h.n + 1) * sizeof *around);
        for (uint32_t i = 0; i < h.n; i++)
            around[i] = on_the_way(x, &h.h[i]);
        for (uint32_t i = 0; i < h.n; i++) {
            struct val *v = tw_get(h.h[i].doc, x->path.p[x->path.n - 1]);
            if (!v || (v->type != T_DOC && (v->type != T_ARRAY || !v->n)) || (x->map && (v->type != T_DOC || !v->n)))
                continue;
            struct element e = {.h = &h.h[i], .npos = h.h[i].npos, .around = around[i], .outer = -1};
            struct elements l = {0};
            memcpy(e.pos, h.h[i].pos, sizeof e.pos);
            elements_of(w, x, s, &l, e, v);
            s->elements += (int32_t)l.n;
            take(w, x, s, &h.h[i], l.e, l.n, v->type == T_ARRAY, &paged);
        }
        if (x->pages && h.n)
            pages_of(w, x, s, &h.h[0], &paged);
    }
    if (x->has_flag && s->pages)
        computed(x, s, &x->flag, tw_bool(true));
    else if (x->has_flag && x->replace)
        tw_remove(s->now, &x->flag);
    if (x->has_count)
        computed(x, s, &x->count, tw_int32(s->elements));
    if (tw_has_duplicates(s->old) && !tw_same_bytes(s->old, s->now))
        no(s, "duplicate names");
    tw_fix_names(s->old, s->now);
}

/* ---- all candidates together */
static struct val *
less_parent(const struct extract *x, const struct val *doc)
{
    struct val *c = tw_copy(doc);
    int at = x->to_parent ? tw_index(c, x->parent_ref) : -1;
    if (at >= 0)
        tw_cut(c, (uint32_t)at);
    return c;
}

static bool
parts_differ(const struct extract *x, const struct part *a, const struct part *b)
{
    if (a->made_id != b->made_id) {
        bool there = false;
        for (uint32_t i = 0; i < x->into->docs.n; i++)
            there |= same_key(unique_key(x, x->into->docs.v[i]), a->key);
        if (!there)
            return true;
    }
    return !tw_same_bytes(less_parent(x, a->c.doc), less_parent(x, b->c.doc));
}

static bool
key_disagrees(const struct extract *x, const struct part *p, const bool *refused)
{
    const struct val *first = NULL;
    for (uint32_t i = 0; i < x->into->docs.n; i++) {
        struct val *d = x->into->docs.v[i];
        if (!same_key(unique_key(x, d), p->key))
            continue;
        if (first) /* it disagrees with itself */
            return true;
        first = d;
        if (!tw_same_bytes(less_parent(x, d), less_parent(x, p->c.doc)))
            return true;
    }
    for (uint32_t i = 0; i < x->n; i++)
        if (!refused[x->parts[i].c.source] && same_key(x->parts[i].key, p->key) && parts_differ(x, &x->parts[i], p))
            return true;
    return false;
}

/* With `unique` the parents do not count as contents: they are gathered. */
static bool
differs(const struct extract *x, const struct val *a, const struct val *b)
{
    return x->unique ? !tw_same_bytes(less_parent(x, a), less_parent(x, b)) : !tw_same_bytes(a, b);
}

static bool
is_there(const struct extract *x, const struct val *key)
{
    bool there = false;
    for (uint32_t i = 0; i < x->into->docs.n; i++)
        there |= same_key(unique_key(x, x->into->docs.v[i]), key);
    return there;
}

/* Whether the `_id` of a part may come to be written: a made one gives way to that of what is there, and with first and
 * last any does. */
static bool
has_id(const struct extract *x, const struct part *p)
{
    bool there = is_there(x, p->key);
    for (uint32_t i = 0; !p->key && i < x->into->docs.n; i++)
        there |= tw_same_bytes(x->into->docs.v[i], p->c.doc);
    return !there || (!p->made_id && !strcmp(x->conflicts, "refuse"));
}

static bool
id_disagrees(const struct extract *x, const struct part *p, const bool *refused)
{
    const struct val *id = tw_get(p->c.doc, "_id");
    for (uint32_t i = 0; i < x->into->docs.n; i++) {
        struct val *d = x->into->docs.v[i], *other = tw_get(d, "_id");
        if (other && !tw_compare(other, id) && !same_key(unique_key(x, d), p->key) && differs(x, d, p->c.doc))
            return true;
    }
    for (uint32_t i = 0; i < x->n; i++) {
        const struct part *q = &x->parts[i];
        if (!refused[q->c.source] && !tw_compare(tw_get(q->c.doc, "_id"), id) && !same_key(q->key, p->key) &&
            has_id(x, q) && differs(x, q->c.doc, p->c.doc))
            return true;
    }
    return false;
}

/* Parts without a key whose `_id` was made: an equal one is another one. */
static bool
is_two(const struct extract *x, const struct part *p, const bool *refused)
{
    uint32_t of = 0;
    bool made = false;
    for (uint32_t i = 0; !p->key && i < x->n; i++) {
        const struct part *q = &x->parts[i];
        if (refused[q->c.source] || q->key || tw_compare(tw_get(q->c.doc, "_id"), tw_get(p->c.doc, "_id")))
            continue;
        made |= q->c.made != GIVEN;
        of++;
    }
    return made && of > 1;
}

static void
judge(const struct extract *x, bool *refused)
{
    bool *hit = tw_new(x->n + 1);
    bool strict = !strcmp(x->conflicts, "refuse");
    for (uint32_t i = 0; i < x->n; i++) {
        const struct part *p = &x->parts[i];
        if (refused[p->c.source] || (!strict && !x->unique))
            continue;
        hit[i] = (strict && p->key && key_disagrees(x, p, refused)) ||
                 (has_id(x, p) && id_disagrees(x, p, refused));
    }
    for (uint32_t i = 0; i < x->n; i++)
        refused[x->parts[i].c.source] |= hit[i];
    for (uint32_t i = 0; i < x->n; i++)
        hit[i] = strict && !refused[x->parts[i].c.source] && is_two(x, &x->parts[i], refused);
    for (uint32_t i = 0; i < x->n; i++)
        refused[x->parts[i].c.source] |= hit[i];
}

/* The document that a part becomes one with: the same key, or without a key the same bytes. */
static int
home_of(const struct extract *x, const struct part *p, const struct part *of, uint32_t before)
{
    const struct vals *have = &x->into->docs;
    for (uint32_t k = 0; k < have->n; k++) {
        if (p->key ? same_key(k < before ? unique_key(x, have->v[k]) : of[k].key, p->key)
                   : tw_same_bytes(less_parent(x, have->v[k]), less_parent(x, p->c.doc)))
            return (int)k;
    }
    return -1;
}

/* Whether a part has other contents than the first document of its key; a made `_id` is no contents. */
static bool
is_other(const struct extract *x, const struct part *p, const struct val *first, bool first_made)
{
    struct val *a = less_parent(x, p->c.doc), *b = less_parent(x, first);
    if (p->made_id || first_made) {
        if (tw_index(a, "_id") >= 0)
            tw_cut(a, (uint32_t)tw_index(a, "_id"));
        if (tw_index(b, "_id") >= 0)
            tw_cut(b, (uint32_t)tw_index(b, "_id"));
    }
    return !tw_same_bytes(a, b);
}

/* A key while its parts come in: conflicts last, once they differ, takes the contents of each that follows. */
struct home {
    struct part first;
    struct val *there; /* as it was */
    uint32_t at;       /* the part whose place a new one has */
    bool disagrees;
};

static struct val *
with_last(const struct extract *x, const struct home *h, const struct part *p, struct val *now)
{
    struct val *doc = less_parent(x, p->c.doc), *list = x->to_parent ? tw_get(now, x->parent_ref) : NULL;
    if (h->there)
        tw_put(doc, "_id", tw_copy(tw_get(h->there, "_id")));
    if (list && list->type != T_ARRAY && !tw_is_nullish(list)) {
        struct val *one = tw_array();
        tw_append(one, list);
        list = one;
    }
    if (list && list->type == T_ARRAY)
        tw_insert(doc, 1, x->parent_ref, list);
    return doc;
}

static void
merge(struct world *w, struct extract *x, const bool *refused)
{
    uint32_t before = x->into->docs.n;
    struct vals *have = &x->into->docs;
    bool last = !strcmp(x->conflicts, "last");
    struct part *of = tw_new((before + x->n + 1) * sizeof *of); /* the part that an added document came from */
    struct home *h = tw_new((before + x->n + 1) * sizeof *h);
    for (uint32_t k = 0; k < before; k++) {
        h[k].there = have->v[k];
        for (uint32_t i = 0; i < before; i++)
            h[k].disagrees |= i != k && same_key(unique_key(x, have->v[i]), unique_key(x, have->v[k])) &&
                              differs(x, have->v[i], have->v[k]);
    }
    for (uint32_t i = 0; i < x->n; i++) {
        struct part *p = &x->parts[i];
        if (refused[p->c.source])
            continue;
        int k = home_of(x, p, of, before);
        bool old = k >= 0 && (uint32_t)k < before;
        if (k < 0) {
            k = (int)have->n;
            of[k] = h[k].first = *p;
            h[k].at = i;
            h[k].first.c.doc = tw_copy(p->c.doc); /* before it gains parents */
            tw_add(have, p->c.doc);
        } else {
            have->v[k] = tw_copy(have->v[k]);
            h[k].disagrees |= is_other(x, p, old ? h[k].there : h[k].first.c.doc, !old && h[k].first.made_id);
            if (last && h[k].disagrees) {
                have->v[k] = with_last(x, &h[k], p, have->v[k]);
                h[k].at = i;
            }
        }
        p->home = k;
        old &= !last || !h[k].disagrees;
        if (x->to_parent && old && tw_has_duplicates(have->v[k]))
            tw_unclear(w, "duplicate names in a unique document");
        if (x->to_parent)
            gain_parent(x, have->v[k], p->parent, old);
    }
    for (uint32_t i = 0; i < x->n; i++) {
        const struct part *p = &x->parts[i];
        if (!refused[p->c.source] && p->ref)
            *p->ref = *tw_get(have->v[p->home], "_id");
    }
    for (uint32_t i = before + 1; i < have->n; i++)
        for (uint32_t k = i; k > before && h[k - 1].at > h[k].at; k--) {
            struct val *v = have->v[k];
            struct home one = h[k];
            have->v[k] = have->v[k - 1];
            have->v[k - 1] = v;
            h[k] = h[k - 1];
            h[k - 1] = one;
        }
}

static void
admit(struct world *w, struct extract *x, const bool *refused)
{
    struct cand *c = tw_new((x->n + 1) * sizeof *c);
    if (x->unique) {
        merge(w, x, refused);
        return;
    }
    for (uint32_t i = 0; i < x->n; i++)
        c[i] = x->parts[i].c;
    tw_admit(&x->into->docs, c, x->n, x->conflicts, refused, false);
}

void
tw_step_extract(struct world *w)
{
    struct extract x;
    open_extract(w, &x);
    uint32_t n = x.from->docs.n;
    struct source *s = tw_new((n + 1) * sizeof *s);
    bool *refused = tw_new(n + 1);
    struct vals out = {0};
    for (uint32_t i = 0; i < n; i++) {
        bool part;
        s[i].old = s[i].now = x.from->docs.v[i];
        s[i].no = i;
        if (tw_query(w, tw_arg(w, "where"), s[i].old, &part))
            no(&s[i], "where fails");
        else if (part)
            take_apart(w, &x, &s[i]);
        refused[i] = s[i].refused;
    }
    judge(&x, refused);
    for (uint32_t i = 0; i < n; i++) {
        if (refused[i])
            tw_refuse(w, x.from, s[i].old, s[i].why ? s[i].why : "conflict");
        else
            tw_add(&out, s[i].now);
    }
    x.from->docs = out;
    admit(w, &x, refused);
}

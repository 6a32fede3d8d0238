/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c - one pass over the documents of a collection: each element at its path, shapes, sizes, growth.
 *
 * Names below the root that are numbers, ObjectIds or dates are data, and share one path: `*`. */
#include "figures.h"
#include <stdlib.h>

struct level {
    struct mrs_walk walk;
    struct mrsi_trie *at;
    uint64_t elements; /* elements so far */
    uint64_t no; /* of the object */
    bool list;
};

uint32_t
mrsi_figures_sample(const struct mrsi_figures *f)
{
    return f->spots > MRSI_MANY_PATHS ? MRSI_SAMPLE_FEW : MRSI_SAMPLE;
}

enum mrs_status
mrsi_figures_begin(struct mrsi_figures *f, struct mrs_mem *mem, struct mrs_err *e)
{
    MRS_ASSERT(mem);
    memset(f, 0, sizeof *f);
    f->mem = mem;
    mrs_arena_init(&f->arena, mem);
    mrs_buf_init(&f->scratch, mem, MRS_DOC_READ_MAX);
    f->first_day = UINT32_MAX;
    f->root = mrsi_trie_child(f, NULL, MRSI_FIELD, "", 0);
    return mrs_allocated(f->root, sizeof *f->root, e);
}

void
mrsi_figures_end(struct mrsi_figures *f)
{
    if (f->root) {
        mrsi_trie_clear(f->root, f->mem);
    }
    mrsi_tally_clear(&f->sizes, f->mem);
    mrsi_sketch_clear(&f->shapes, f->mem);
    mrs_free(f->mem, f->index);
    mrs_free(f->mem, f->days);
    mrs_buf_clear(&f->scratch);
    mrs_arena_clear(&f->arena);
    memset(f, 0, sizeof *f);
}

/* All digits, 24 hexadecimal digits, a UUID, or a date: 2024-05, 2024-05-01. */
bool
mrsi_name_is_data(const char *name, uint32_t n)
{
    MRS_ASSERT(name || n == 0);
    uint32_t digits = 0, hex = 0, dashes = 0, of_uuid = 0;
    if (n == 0 || (n > 24 && n != 36) || ((name[0] < '0' || name[0] > '9') && n < 24)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        char c = name[i];
        digits += c >= '0' && c <= '9';
        hex += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        dashes += c == '-' && (i == 4 || i == 7);
        of_uuid += c == '-' && (i == 8 || i == 13 || i == 18 || i == 23);
    }
    return digits == n || (hex == n && n <= 24) || (n == 36 && hex == 32 && of_uuid == 4) ||
           ((n == 7 || n == 10) && digits + dashes == n && dashes == (n == 7 ? 1 : 2));
}

static struct mrsi_trie *
any_child(struct mrsi_figures *f, struct mrsi_trie *parent, const char *name, uint32_t n)
{
    MRS_ASSERT(name || n == 0);
    struct mrsi_trie *s = mrsi_trie_child(f, parent, MRSI_ANY, "", 0);
    if (s && !s->names) {
        s->names = mrs_arena_alloc(&f->arena, sizeof *s->names);
        if (s->names) {
            memset(s->names, 0, sizeof *s->names);
        }
    }
    if (!s || !s->names || n > MRSI_NAME_MAX) {
        f->dead |= !s || !s->names;
        return s;
    }
    uint8_t room[MRSI_NAME_MAX + 5];
    struct mrs_val v = mrsi_name_value(name, n, room);
    mrsi_counted_add(f, s->names, &v);
    mrsi_figures_drain(f);
    return s;
}

static struct mrsi_trie *
child(struct mrsi_figures *f, const struct level *l, const struct mrs_elem *x)
{
    if (l->list) {
        return mrsi_trie_child(f, l->at, MRSI_EACH, "", 0);
    }
    f->name_bytes += x->name_len + 1;
    if (l->at->parent && mrsi_name_is_data(x->name, x->name_len)) {
        return any_child(f, l->at, x->name, x->name_len);
    }
    return mrsi_trie_child(f, l->at, MRSI_FIELD, x->name, x->name_len);
}

static void
length(struct mrsi_figures *f, struct mrsi_trie *at, uint64_t n)
{
    if (!at->lengths && (at->lengths = mrs_arena_alloc(&f->arena, sizeof *at->lengths))) {
        memset(at->lengths, 0, sizeof *at->lengths);
    }
    f->dead |= !at->lengths || !mrsi_tally_add(at->lengths, f->mem, n, 1);
}

static void
day(struct mrsi_figures *f, struct mrs_val id)
{
    if (id.type != MRS_OBJECTID) {
        return;
    }
    uint32_t day = __builtin_bswap32(mrs_le32(id.p)) / 86400;
    if (!f->days && !(f->days = mrs_zalloc(f->mem, MRSI_DAYS * sizeof *f->days))) {
        f->dead = true;
        return;
    }
    if (day < MRSI_DAYS) {
        f->days[day]++;
        f->first_day = day < f->first_day ? day : f->first_day;
        f->last_day = day > f->last_day ? day : f->last_day;
    }
}

/* The names of the root describe a document. Most equal those of the previous document: they are collected again only
 * from the first different name. */
static void
begin_shape(struct mrsi_figures *f, uint64_t names)
{
    f->shape = 0;
    mrs_buf_reset(&f->scratch);
    for (uint64_t i = 0; i < names; i++) {
        mrs_buf_put(&f->scratch, f->names[i]->name, f->names[i]->name_len + 1);
    }
}

/* The i-th name of the root, from 0. */
static void
name_of_root(struct mrsi_figures *f, const struct mrsi_trie *at, uint64_t i)
{
    if (f->shape && (i >= f->n_names || f->names[i] != at)) {
        begin_shape(f, i);
    }
    if (!f->shape) {
        mrs_buf_put(&f->scratch, at->name, at->name_len + 1);
    }
    if (i < MRSI_SHAPE) {
        f->names[i] = at;
    }
}

static void
end_shape(struct mrsi_figures *f, uint64_t names)
{
    if (f->shape && names != f->n_names) {
        begin_shape(f, names);
    }
    if (!f->shape) {
        uint64_t h = mrs_hash64(f->scratch.p, f->scratch.n, 1);
        f->shape = h ? h : 1;
    }
    struct mrs_val v = {f->scratch.p, (uint32_t)f->scratch.n, MRS_BINARY};
    f->dead |= f->scratch.bad || !mrsi_sketch_add(&f->shapes, f->mem, mrsi_figures_sample(f), f->shape, v);
    f->n_names = names < MRSI_SHAPE ? (uint32_t)names : MRSI_SHAPE;
}

static void
enter_level(struct mrsi_figures *f, struct level *l, struct mrsi_trie *at, struct mrs_view d, bool list)
{
    l->at = at;
    l->elements = 0;
    l->no = ++f->objects;
    l->list = list;
    mrs_walk_init(&l->walk, d);
}

/* Counts an element at its node. true: its object has the name twice. */
static bool
count_element(struct mrsi_figures *f, const struct level *l, struct mrsi_trie *at, const struct mrs_val *v,
              uint64_t ordinal)
{
    bool twice = false;
    if (at->first_at == UINT64_MAX) {
        at->first_at = ordinal << 20 | (l->elements < 1 << 20 ? l->elements : (1 << 20) - 1);
    }
    if (at->kind == MRSI_FIELD) {
        twice = at->last_object == l->no;
        at->last_object = l->no;
    }
    mrsi_trie_count(f, at, v);
    if (l->list && v->type == MRS_DOCUMENT) { /* repeated parts are recognized by their bytes */
        uint64_t h = mrs_hash64(v->p, v->n, 1);
        f->dead |= !mrsi_sketch_add(&at->values.sketch, f->mem, mrsi_figures_sample(f), h ? h : 1, mrs_missing());
    }
    return twice;
}

/* All elements of a document, without recursion. */
static enum mrs_status
walk_document(struct mrsi_figures *f, struct mrs_view doc, uint64_t ordinal, uint64_t *names, struct mrs_err *e)
{
    struct level level[MRSI_DEPTH + 1];
    int n = 1;
    bool deep = false, twice = false;
    enter_level(f, &level[0], f->root, doc, false);
    while (n) {
        struct mrs_elem x;
        struct level *l = &level[n - 1];
        if (mrs_walk_next(&l->walk, &x) <= 0) {
            n--;
            if (l->list) {
                length(f, l->at, l->elements);
            }
            continue;
        }
        l->elements++;
        struct mrsi_trie *at = child(f, l, &x);
        MRS_TRY(mrs_allocated(at, sizeof *at, e));
        if (n == 1) {
            name_of_root(f, at, l->elements - 1);
            if (x.name_len == 3 && memcmp(x.name, "_id", 3) == 0) {
                day(f, x.v);
            }
        }
        twice |= count_element(f, l, at, &x.v, ordinal);
        if (x.v.type != MRS_DOCUMENT && x.v.type != MRS_ARRAY) {
            continue;
        }
        deep |= n == MRSI_DEPTH;
        if (n < MRSI_DEPTH) {
            enter_level(f, &level[n++], at, mrs_val_view(x.v), x.v.type == MRS_ARRAY);
        }
    }
    f->deep += deep;
    f->twice += twice;
    *names = level[0].elements;
    return MRS_OK;
}

enum mrs_status
mrsi_figures_add(struct mrsi_figures *f, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && f->root);
    uint64_t names = 0;
    f->root->values.n[MRSI_OBJECT]++;
    MRS_TRY(walk_document(f, doc, ordinal, &names, e));
    mrsi_figures_drain(f);
    end_shape(f, names);
    f->dead |= !mrsi_tally_add(&f->sizes, f->mem, doc.n, 1);
    if (doc.n > f->limit.size) {
        mrsi_limit_see(&f->limit, doc, ordinal);
    }
    return f->dead ? mrs_err_memory(e, MRSI_REGISTERS) : MRS_OK;
}

/* Adds each node of `from` to the same node of `to`, without recursion: both trees are walked together. */
static bool
merge_tree(struct mrsi_figures *to, const struct mrsi_trie *root)
{
    MRS_ASSERT(root && to->root);
    struct mrsi_trie *mine = to->root;
    for (const struct mrsi_trie *s = root; s;) {
        mrsi_trie_merge(to, mine, s);
        const struct mrsi_trie *next = mrsi_trie_after(root, s);
        if (next) {
            const struct mrsi_trie *up = s;
            while (up != next->parent) {
                up = up->parent;
                mine = mine->parent;
            }
            mine = mrsi_trie_child(to, mine, next->kind, next->name, next->name_len);
            if (!mine) {
                return false;
            }
        }
        s = next;
    }
    return true;
}

enum mrs_status
mrsi_figures_merge(struct mrsi_figures *to, const struct mrsi_figures *from, struct mrs_err *e)
{
    MRS_ASSERT(to != from && to->root);
    bool ok = merge_tree(to, from->root) && mrsi_tally_merge(&to->sizes, to->mem, &from->sizes) &&
              mrsi_sketch_merge(&to->shapes, to->mem, mrsi_figures_sample(to), &from->shapes);
    to->name_bytes += from->name_bytes;
    to->deep += from->deep;
    to->twice += from->twice;
    if (from->limit.size > to->limit.size ||
        (from->limit.size == to->limit.size && from->limit.ordinal < to->limit.ordinal)) {
        to->limit = from->limit;
    }
    if (from->days && !to->days) {
        to->days = mrs_zalloc(to->mem, MRSI_DAYS * sizeof *to->days);
    }
    for (uint32_t i = 0; from->days && to->days && i < MRSI_DAYS; i++) {
        to->days[i] += from->days[i];
    }
    if (from->days) {
        to->first_day = from->first_day < to->first_day ? from->first_day : to->first_day;
        to->last_day = from->last_day > to->last_day ? from->last_day : to->last_day;
    }
    return ok && !to->dead && (to->days || !from->days) ? MRS_OK : mrs_err_memory(e, MRSI_REGISTERS);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - makes rows of paths from the figures of a pass, and frees data only needed for counting. */
#include "model.h"
#include <stdio.h>
#include <stdlib.h>

enum { FREQUENT = 20, SHAPES = 20 };

static bool
sample(struct mrs_arena *a, const struct mrsi_sketch *s, uint64_t **out, uint32_t *n, uint64_t *limit)
{
    MRS_ASSERT(s->n <= s->cap && out && n);
    uint32_t k = 0;
    *limit = s->slot ? s->limit : UINT64_MAX;
    *n = s->n;
    *out = NULL;
    if (s->n == 0) {
        return true;
    }
    uint64_t *h = mrs_arena_alloc(a, s->n * sizeof *h);
    for (uint32_t i = 0; h && i < s->cap; i++) {
        if (s->slot[i].hash) {
            h[k++] = s->slot[i].hash;
        }
    }
    if (h) {
        qsort(h, k, sizeof *h, mrsi_by_hash);
    }
    *out = h;
    return h != NULL;
}

static int
more_often(const void *a, const void *b)
{
    const struct mrsi_sketch_slot *x = *(const struct mrsi_sketch_slot *const *)a;
    const struct mrsi_sketch_slot *y = *(const struct mrsi_sketch_slot *const *)b;
    if (x->count != y->count) {
        return x->count < y->count ? 1 : -1;
    }
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Bytes as a value that lives as long as the inspection; without memory missing, and *ok is false. */
static struct mrs_val
keep(struct mrs_arena *a, const uint8_t *p, uint32_t n, uint8_t type, bool *ok)
{
    const uint8_t *copy = mrs_arena_copy(a, p, n);
    *ok = *ok && copy;
    return copy ? (struct mrs_val){copy, n, type} : mrs_missing();
}

/* All slots, the most frequent values first; the caller frees the list. NULL: no memory. */
static const struct mrsi_sketch_slot **
most_frequent(struct mrs_mem *mem, const struct mrsi_sketch *s, uint32_t *n)
{
    const struct mrsi_sketch_slot **list = mrs_alloc_array(mem, s->n + 1, sizeof(const struct mrsi_sketch_slot *));
    *n = 0;
    for (uint32_t i = 0; list && i < s->cap; i++) {
        if (s->slot[i].hash) {
            list[(*n)++] = &s->slot[i];
        }
    }
    if (*n) {
        qsort(list, *n, sizeof(const struct mrsi_sketch_slot *), more_often);
    }
    return list;
}

/* The most frequent values, if all of them are known. */
static bool
frequent(struct mrsi_inspection *x, struct mrsi_path *p, const struct mrsi_sketch *s)
{
    if (!s->n || !mrsi_sketch_is_whole(s)) {
        return true;
    }
    uint32_t n;
    const struct mrsi_sketch_slot **list = most_frequent(x->mem, s, &n);
    n = n < FREQUENT ? n : FREQUENT;
    p->frequent = list ? mrs_arena_alloc(&x->arena, n * sizeof *p->frequent) : NULL;
    bool ok = p->frequent != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        p->frequent[i].n = list[i]->count;
        p->frequent[i].value = mrs_missing();
        struct mrs_val v = mrsi_sketch_value(s, list[i]);
        if (v.n) {
            p->frequent[i].value = keep(&x->arena, v.p, v.n, v.type, &ok);
        }
    }
    p->n_frequent = p->frequent ? n : 0;
    mrs_free(x->mem, list);
    return ok;
}

/* Bytes as a value again: text and binary were stored without their headers. */
static struct mrs_val
bound(struct mrs_arena *a, uint8_t type, const uint8_t *p, uint32_t n, bool *ok)
{
    MRS_ASSERT(p || n == 0);
    uint8_t room[64];
    if (type == MRS_STRING || type == MRS_SYMBOL || type == MRS_CODE) {
        mrs_put32(room, n + 1);
        memcpy(room + 4, p, n);
        room[4 + n] = 0;
        return keep(a, room, n + 5, type, ok);
    }
    if (type == MRS_BINARY) {
        mrs_put32(room, n - 1);
        memcpy(room + 4, p, n);
        return keep(a, room, n + 4, type, ok);
    }
    return keep(a, p, n, type, ok);
}

static bool
types(struct mrsi_inspection *x, struct mrsi_path *p, const struct mrsi_trie *s)
{
    MRS_ASSERT(p->text);
    for (const struct mrsi_extent *t = s->extent; t; t = t->next) {
        p->types++;
    }
    p->type = mrs_arena_alloc(&x->arena, (p->types + 1) * sizeof *p->type);
    uint32_t n = 0;
    bool ok = p->type != NULL;
    for (uint32_t type = 1; ok && type < 256; type++) { /* in the order of their numbers */
        for (const struct mrsi_extent *t = s->extent; t; t = t->next) {
            if (t->type != type) {
                continue;
            }
            struct mrsi_type_figures *y = &p->type[n++];
            *y = (struct mrsi_type_figures){.min = mrs_missing(), .max = mrs_missing(), .n = t->n, .type = t->type};
            if (t->min_n + t->max_n) {
                y->min = bound(&x->arena, t->type, t->min, t->min_n, &ok);
                y->max = bound(&x->arena, t->type, t->max, t->max_n, &ok);
            }
        }
    }
    return ok;
}

static bool
values(struct mrsi_inspection *x, struct mrsi_path *p, const struct mrsi_counted *c)
{
    MRS_ASSERT(p->text);
    p->count = *c;
    p->distinct = mrsi_sketch_distinct(&c->sketch);
    p->exact = mrsi_sketch_is_whole(&c->sketch);
    memset(&p->count.sketch, 0, sizeof p->count.sketch);
    memset(&p->count.numbers, 0, sizeof p->count.numbers);
    uint64_t of_use = c->n[MRSI_NUMBER] + c->n[MRSI_OID] + c->n[MRSI_UUID] + c->n[MRSI_TEXT] + c->n[MRSI_BINARY] -
                      c->too_long;
    uint64_t some = c->all - c->n[MRSI_NOTHING];
    if (of_use == 0 || of_use * 2 < some) {
        return true;
    }
    return sample(&x->arena, &c->sketch, &p->hash, &p->hashes, &p->limit) &&
           sample(&x->arena, &c->numbers, &p->number_hash, &p->number_hashes, &p->number_limit) &&
           frequent(x, p, &c->sketch);
}

static const char *
last_name(const struct mrsi_trie *s)
{
    while (s->parent && s->kind != MRSI_FIELD) {
        s = s->parent;
    }
    return s->name;
}

static bool
way(struct mrsi_inspection *x, struct mrsi_path *p, const struct mrsi_trie *s)
{
    p->ways = s->depth;
    p->way = mrs_arena_alloc(&x->arena, (s->depth + 1) * sizeof *p->way);
    const char *last = p->way ? mrs_arena_copy(&x->arena, last_name(s), strlen(last_name(s)) + 1) : NULL;
    p->last = last;
    for (const struct mrsi_trie *at = s; last && at->parent; at = at->parent) {
        char *name = mrs_arena_copy(&x->arena, at->name, at->name_len + 1);
        p->lists += at->kind == MRSI_EACH;
        p->way[at->depth - 1] = (struct mrsi_way){name, at->name_len, at->kind, p->in->twice == 0};
        if (!name) {
            return false;
        }
    }
    return last != NULL;
}

/* The number of possible places of the path: documents at the path of its parent, or the elements of an array. */
static uint64_t
room_for(const struct mrsi_trie *s)
{
    return s->kind == MRSI_EACH ? s->values.all : s->parent->values.n[MRSI_OBJECT];
}

static bool
row(struct mrsi_inspection *x, struct mrsi_path *p, const struct mrsi_trie *s, struct mrs_buf *text)
{
    MRS_ASSERT(s->name);
    p->kind = s->kind;
    p->of = room_for(s);
    p->present = s->values.all;
    p->null = s->values.n[MRSI_NOTHING];
    p->bytes = s->bytes;
    if (!mrsi_trie_path(s, text) || !(p->text = mrs_arena_copy(&x->arena, text->p, text->n)) || !way(x, p, s)) {
        return false;
    }
    if (s->lengths) {
        p->length = mrs_arena_alloc(&x->arena, sizeof *p->length);
        if (!p->length || !mrsi_tally_spread(s->lengths, x->mem, &x->arena, p->length)) {
            return false;
        }
    }
    return types(x, p, s) && values(x, p, &s->values);
}

/* The names of `*` as a separate row, after that of its values. */
static bool
row_of_names(struct mrsi_inspection *x, struct mrsi_path *p, const struct mrsi_path *star, const struct mrsi_trie *s)
{
    *p = *star;
    p->names = true;
    p->types = p->n_frequent = 0;
    p->length = NULL;
    p->hash = p->number_hash = NULL;
    p->hashes = p->number_hashes = 0;
    return values(x, p, s->names);
}

static bool
rows(struct mrsi_inspection *x, struct mrsi_collection *c, const struct mrsi_figures *f)
{
    MRS_ASSERT(f->root);
    uint32_t n = 0;
    for (const struct mrsi_trie *s = f->root; (s = mrsi_trie_after(f->root, s)) != NULL;) {
        n += 1 + (s->names != NULL);
    }
    c->path = mrs_arena_alloc(&x->arena, (n + 1) * sizeof *c->path);
    struct mrsi_path **at_depth = mrs_alloc_array(x->mem, MRSI_DEPTH + 2, sizeof(struct mrsi_path *));
    struct mrs_buf text;
    mrs_buf_init(&text, x->mem, SIZE_MAX);
    bool ok = c->path && at_depth;
    for (const struct mrsi_trie *s = f->root; ok && (s = mrsi_trie_after(f->root, s)) != NULL;) {
        struct mrsi_path *p = &c->path[c->paths++];
        memset(p, 0, sizeof *p);
        p->in = c;
        at_depth[s->depth] = p;
        p->parent = s->depth > 1 ? at_depth[s->depth - 1] : NULL;
        ok = row(x, p, s, &text);
        if (ok && s->names) {
            ok = row_of_names(x, &c->path[c->paths++], p, s);
        }
    }
    mrs_buf_clear(&text);
    mrs_free(x->mem, at_depth);
    return ok;
}

static bool
shapes(struct mrsi_inspection *x, struct mrsi_collection *c, const struct mrsi_sketch *s)
{
    MRS_ASSERT(s->n <= s->cap);
    uint32_t n;
    const struct mrsi_sketch_slot **list = most_frequent(x->mem, s, &n);
    c->n_shapes = mrsi_sketch_distinct(s);
    c->shapes = n < SHAPES ? n : SHAPES;
    c->shape = list ? mrs_arena_alloc(&x->arena, (c->shapes + 1) * sizeof *c->shape) : NULL;
    bool ok = c->shape != NULL;
    for (uint32_t i = 0; ok && i < c->shapes; i++) {
        struct mrs_val v = mrsi_sketch_value(s, list[i]);
        c->shape[i].n = list[i]->count;
        c->shape[i].names = v.n ? keep(&x->arena, v.p, v.n, v.type, &ok) : v;
    }
    mrs_free(x->mem, list);
    return ok;
}

/* Documents a day by the time of their ObjectIds: in the 30 days up to the newest. */
static double
growth(const struct mrsi_figures *f)
{
    uint64_t n = 0;
    if (!f->days || f->first_day > f->last_day) {
        return -1;
    }
    uint32_t from = f->last_day >= 29 ? f->last_day - 29 : 0;
    for (uint32_t i = from; i <= f->last_day; i++) {
        n += f->days[i];
    }
    uint32_t days = f->last_day - (f->first_day > from ? f->first_day : from) + 1;
    return (double)n / days;
}

enum mrs_status
mrsi_model_take(struct mrsi_inspection *x, struct mrsi_collection *c, const struct mrsi_figures *f, struct mrs_err *e)
{
    MRS_ASSERT(f->root);
    c->documents = f->sizes.n;
    c->bytes = f->sizes.sum;
    c->name_bytes = f->name_bytes;
    c->deep = f->deep;
    c->twice = f->twice;
    c->growth = growth(f);
    c->limit = f->limit;
    c->max_id = mrs_missing();
    bool ok = true;
    if (f->limit.id_n) {
        c->max_id = keep(&x->arena, f->limit.id + 1, (uint32_t)f->limit.id_n - 1, f->limit.id[0], &ok);
    }
    ok = ok && mrsi_tally_spread(&f->sizes, x->mem, &x->arena, &c->size) && rows(x, c, f) && shapes(x, c, &f->shapes);
    return ok ? MRS_OK : mrs_err_memory(e, sizeof *c);
}

/* Indexes call `lines[].productId` `lines.productId`. */
static bool
is_indexed_as(const struct mrsi_path *p, const char *name)
{
    MRS_ASSERT(p->text && name);
    const char *t = p->text;
    while (*t) {
        if (t[0] == '[' && t[1] == ']') {
            t += 2;
        } else if (*t++ != *name++) {
            return false;
        }
    }
    return *name == 0;
}

bool
mrsi_index_starts_with(const struct mrsi_seen_index *x, const struct mrsi_path *const *p, uint32_t parts)
{
    MRS_ASSERT(parts > 0);
    struct mrs_walk w;
    struct mrs_elem field;
    uint32_t found = 0;
    mrs_walk_init(&w, x->key);
    for (uint32_t n = 0; n < parts && mrs_walk_next(&w, &field) > 0; n++) {
        for (uint32_t k = 0; k < parts; k++) {
            found += is_indexed_as(p[k], field.name);
        }
    }
    return found == parts;
}

enum mrs_status
mrsi_model_leave(struct mrsi_inspection *x, struct mrs_err *e, const char *fmt, ...)
{
    MRS_ASSERT(fmt && x->lefts <= x->left_cap);
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    const char **list = mrs_arena_more(&x->arena, x->left, x->lefts, &x->left_cap, sizeof(char *));
    const char *text = list ? mrs_arena_copy(&x->arena, line, strlen(line) + 1) : NULL;
    MRS_TRY(mrs_allocated(text, sizeof line, e));
    x->left = list;
    x->left[x->lefts++] = text;
    return MRS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* spots.c - the paths of a collection as a tree, and the counts of each. */
#include "figures.h"

/* ---- the tree, and its own hash table: parent, kind and name form the key ---- */
static uint32_t
slot_of(const struct mrsi_figures *f, const struct mrsi_trie *parent, enum mrsi_path_kind kind, const char *name,
        uint32_t n)
{
    uint64_t h = mrs_hash64(name, n, (uint64_t)(uintptr_t)parent + (uint64_t)kind);
    uint32_t i = (uint32_t)h & (f->index_cap - 1);
    for (struct mrsi_trie *s; (s = f->index[i]) != NULL; i = (i + 1) & (f->index_cap - 1)) {
        if (s->parent == parent && s->kind == kind && s->name_len == n && memcmp(s->name, name, n) == 0) {
            break;
        }
    }
    return i;
}

static bool
index_grow(struct mrsi_figures *f)
{
    struct mrsi_trie **old = f->index;
    uint32_t old_cap = f->index_cap, cap = old_cap ? old_cap * 2 : 64;
    struct mrsi_trie **list = mrs_zalloc(f->mem, cap * sizeof(struct mrsi_trie *));
    if (!list) {
        return false;
    }
    f->index = list;
    f->index_cap = cap;
    for (uint32_t i = 0; i < old_cap; i++) {
        if (old[i]) {
            f->index[slot_of(f, old[i]->parent, old[i]->kind, old[i]->name, old[i]->name_len)] = old[i];
        }
    }
    mrs_free(f->mem, old);
    return true;
}

static struct mrsi_trie *
spot_new(struct mrsi_figures *f, struct mrsi_trie *parent, enum mrsi_path_kind kind, const char *name, uint32_t n)
{
    if (f->spots * 2 >= f->index_cap && !index_grow(f)) {
        return NULL;
    }
    struct mrsi_trie *s = mrs_arena_alloc(&f->arena, sizeof *s);
    char *copy = mrs_arena_alloc(&f->arena, n + 1);
    if (!s || !copy) {
        return NULL;
    }
    memcpy(copy, name, n);
    copy[n] = 0;
    *s = (struct mrsi_trie){.parent = parent, .name = copy, .name_len = n, .kind = kind, .first_at = UINT64_MAX};
    if (parent) {
        s->depth = parent->depth + 1;
        *(parent->last ? &parent->last->next : &parent->first) = s;
        parent->last = s;
        parent->children++;
    }
    f->index[slot_of(f, parent, kind, copy, n)] = s;
    f->spots++;
    return s;
}

/* The child of that name, added if missing: usually the one after the previous child. NULL: no memory. */
struct mrsi_trie *
mrsi_trie_child(struct mrsi_figures *f, struct mrsi_trie *parent, enum mrsi_path_kind kind, const char *name,
                uint32_t n)
{
    struct mrsi_trie *s = parent ? parent->expect : NULL;
    if (!s || s->kind != kind || s->name_len != n || !mrs_same_short(s->name, name, n)) {
        s = f->index_cap ? f->index[slot_of(f, parent, kind, name, n)] : NULL;
        s = s ? s : spot_new(f, parent, kind, name, n);
    }
    if (s && parent) {
        parent->expect = s->next ? s->next : parent->first;
    }
    return s;
}

struct mrsi_trie *
mrsi_trie_after(const struct mrsi_trie *root, const struct mrsi_trie *at)
{
    if (at->first) {
        return at->first;
    }
    while (at != root && !at->next) {
        at = at->parent;
    }
    return at == root ? NULL : at->next;
}

bool
mrsi_trie_path(const struct mrsi_trie *at, struct mrs_buf *out)
{
    const struct mrsi_trie *up[MRSI_DEPTH + 2];
    uint32_t n = 0;
    for (; at->parent && n < MRSI_DEPTH + 2; at = at->parent) {
        up[n++] = at;
    }
    mrs_buf_reset(out);
    while (n--) {
        const struct mrsi_trie *s = up[n];
        if (out->n && s->kind != MRSI_EACH) {
            mrs_buf_byte(out, '.');
        }
        mrs_buf_put(out,
                    s->kind == MRSI_EACH  ? "[]"
                    : s->kind == MRSI_ANY ? "*"
                                          : s->name,
                    s->kind == MRSI_EACH  ? 2
                    : s->kind == MRSI_ANY ? 1
                                          : s->name_len);
    }
    mrs_buf_byte(out, 0);
    return !out->bad;
}

void
mrsi_trie_clear(struct mrsi_trie *root, struct mrs_mem *mem)
{
    for (struct mrsi_trie *s = root; s; s = mrsi_trie_after(root, s)) {
        mrsi_sketch_clear(&s->values.sketch, mem);
        mrsi_sketch_clear(&s->values.numbers, mem);
        if (s->names) {
            mrsi_sketch_clear(&s->names->sketch, mem);
            mrsi_sketch_clear(&s->names->numbers, mem);
        }
        if (s->lengths) {
            mrsi_tally_clear(s->lengths, mem);
        }
    }
}

/* ---- counting ---- */
static uint64_t
common_step(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t
apart(int64_t a, int64_t b)
{
    return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

static void
integer(struct mrsi_counted *c, int64_t v)
{
    bool first = c->n[MRSI_NUMBER] + c->digits == 1;
    if (!first && c->step != 1) {
        c->step = common_step(apart(v, c->least), c->step);
    }
    c->least = first || v < c->least ? v : c->least;
    c->most = first || v > c->most ? v : c->most;
}

void
mrsi_figures_drain(struct mrsi_figures *f)
{
    uint32_t size = mrsi_figures_sample(f);
    for (uint32_t i = 0; i < f->waits; i++) {
        const struct mrsi_waiting *w = &f->waiting[i];
        f->dead |= !mrsi_sketch_add(w->to, f->mem, size, w->hash, w->v);
    }
    f->waits = 0;
}

static void
wait_for(struct mrsi_figures *f, struct mrsi_sketch *to, uint64_t hash, const struct mrs_val *v)
{
    MRS_ASSERT(f->waits < MRSI_WAITING);
    mrsi_sketch_fetch(to, hash);
    f->waiting[f->waits++] = (struct mrsi_waiting){to, hash, {v->p, v->n, v->type}};
    if (f->waits == MRSI_WAITING) {
        mrsi_figures_drain(f);
    }
}

/* Adds a value; its class has been counted. */
void
mrsi_counted_add(struct mrsi_figures *f, struct mrsi_counted *c, const struct mrs_val *v)
{
    MRS_ASSERT(mrs_val_is_sized(*v));
    struct mrsi_canon x;
    mrsi_canon(v, &x);
    c->n[x.is]++;
    c->all++;
    if (x.is >= MRSI_OBJECT && x.is <= MRSI_NOTHING) {
        return;
    }
    c->from_text += x.from_text;
    if (x.is == MRSI_NUMBER || x.digits) {
        c->digits += x.digits;
        integer(c, x.number);
    }
    if (x.is == MRSI_TEXT) {
        c->text_bytes += v->n - 5;
        c->too_long += v->n - 5 > MRSI_TEXT_MAX;
    }
    wait_for(f, &c->sketch, x.hash, v);
    if (x.digits) {
        wait_for(f, &c->numbers, mrsi_number_hash(x.number), v);
    }
}

static void
counted_merge(struct mrsi_figures *f, struct mrsi_counted *to, const struct mrsi_counted *from)
{
    uint32_t size = mrsi_figures_sample(f);
    bool had = to->n[MRSI_NUMBER] + to->digits > 0;
    if (from->n[MRSI_NUMBER] + from->digits) {
        to->step = had ? common_step(common_step(apart(to->least, from->least), to->step), from->step) : from->step;
        to->least = !had || from->least < to->least ? from->least : to->least;
        to->most = !had || from->most > to->most ? from->most : to->most;
    }
    for (int i = 0; i < MRSI_CLASSES; i++) {
        to->n[i] += from->n[i];
    }
    to->all += from->all;
    to->from_text += from->from_text;
    to->digits += from->digits;
    to->too_long += from->too_long;
    to->text_bytes += from->text_bytes;
    if (!mrsi_sketch_merge(&to->sketch, f->mem, size, &from->sketch) ||
        !mrsi_sketch_merge(&to->numbers, f->mem, size, &from->numbers)) {
        f->dead = true;
    }
}

/* Compares values of one type by their order; text and binary by their bytes. The most frequent type first. */
static int
order(uint8_t type, const uint8_t *a, uint32_t an, const uint8_t *b, uint32_t bn)
{
    if (type == MRS_INT32) {
        int32_t x = (int32_t)mrs_le32(a), y = (int32_t)mrs_le32(b);
        return (x > y) - (x < y);
    }
    if (type == MRS_INT64 || type == MRS_DATE) {
        int64_t x = (int64_t)mrs_le64(a), y = (int64_t)mrs_le64(b);
        return (x > y) - (x < y);
    }
    if (type == MRS_STRING || type == MRS_SYMBOL || type == MRS_CODE || type == MRS_BINARY || type == MRS_OBJECTID) {
        int d = memcmp(a, b, an < bn ? an : bn);
        return d ? d : (an > bn) - (an < bn);
    }
    return mrs_compare((struct mrs_val){a, an, type}, (struct mrs_val){b, bn, type});
}

static struct mrsi_extent *
extent_of(struct mrsi_figures *f, struct mrsi_trie *at, uint8_t type)
{
    struct mrsi_extent **x = &at->extent;
    while (*x && (*x)->type != type) {
        x = &(*x)->next;
    }
    if (!*x) {
        *x = mrs_arena_alloc(&f->arena, sizeof **x);
        if (!*x) {
            f->dead = true;
            return NULL;
        }
        memset(*x, 0, sizeof **x);
        (*x)->type = type;
    }
    return *x;
}

/* A number that coarsely orders values of one type; equal numbers decide nothing. A value whose number lies strictly
 * between those of the extremes is no extreme. */
static uint64_t
rank_of(uint8_t type, const uint8_t *p, uint32_t n)
{
    uint64_t w = 0;
    if (type == MRS_INT32) {
        return mrs_le32(p) ^ 1u << 31;
    }
    if (type == MRS_INT64 || type == MRS_DATE) {
        return mrs_le64(p) ^ 1ull << 63;
    }
    if (type == MRS_DOUBLE) { /* NaN comes first; -0 next to 0, which equals it */
        w = mrs_le64(p);
        return w << 1 > 0x7FFull << 53 ? 0 : w >> 63 ? ~w : w | 1ull << 63;
    }
    if (n >= sizeof w) {
        return __builtin_bswap64(mrs_le64(p));
    }
    for (uint32_t i = 0; i < n; i++) {
        w |= (uint64_t)p[i] << (56 - 8 * i);
    }
    return w;
}

static bool
has_rank(uint8_t type)
{
    return type == MRS_INT32 || type == MRS_INT64 || type == MRS_DOUBLE || type == MRS_DATE || type == MRS_STRING ||
           type == MRS_SYMBOL || type == MRS_CODE || type == MRS_BINARY || type == MRS_OBJECTID;
}

static void
extent(struct mrsi_extent *x, bool first, const uint8_t *p, uint32_t n)
{
    uint64_t rank = has_rank(x->type) ? rank_of(x->type, p, n) : 0;
    if (!first && rank > x->low && rank < x->high) {
        return;
    }
    x->low = first || rank < x->low ? rank : x->low;
    x->high = first || rank > x->high ? rank : x->high;
    if (first || order(x->type, p, n, x->min, x->min_n) < 0) {
        x->min_n = (uint8_t)n;
        memcpy(x->min, p, n);
    }
    if (first || order(x->type, p, n, x->max, x->max_n) > 0) {
        x->max_n = (uint8_t)n;
        memcpy(x->max, p, n);
    }
}

static void
extent_add(struct mrsi_figures *f, struct mrsi_trie *at, const struct mrs_val *v)
{
    uint8_t t = v->type;
    struct mrsi_extent *x = at->extent && at->extent->type == t ? at->extent : extent_of(f, at, t);
    if (!x) {
        return;
    }
    uint32_t skip = t == MRS_STRING || t == MRS_SYMBOL || t == MRS_CODE || t == MRS_BINARY ? 4 : 0;
    uint32_t n = v->n - skip - (skip && t != MRS_BINARY);
    x->n++;
    if (t == MRS_DOCUMENT || t == MRS_ARRAY || v->n == 0 || t == MRS_CODE_W_SCOPE || t == MRS_REGEX ||
        t == MRS_DBPOINTER) {
        return;
    }
    extent(x, x->n == 1, v->p + skip, n < sizeof x->min ? n : (uint32_t)sizeof x->min);
}

static void
extents_merge(struct mrsi_figures *f, struct mrsi_trie *to, const struct mrsi_trie *from)
{
    for (const struct mrsi_extent *x = from->extent; x; x = x->next) {
        struct mrsi_extent *y = extent_of(f, to, x->type);
        if (y && x->min_n + x->max_n) {
            bool first = y->n == 0;
            extent(y, first, x->min, x->min_n);
            extent(y, false, x->max, x->max_n);
        }
        if (y) {
            y->n += x->n;
        }
    }
}

void
mrsi_trie_count(struct mrsi_figures *f, struct mrsi_trie *at, const struct mrs_val *v)
{
    at->bytes += v->n;
    extent_add(f, at, v);
    mrsi_counted_add(f, &at->values, v);
}

/* Adds the figures of one node to those of another; not of their children. */
void
mrsi_trie_merge(struct mrsi_figures *f, struct mrsi_trie *to, const struct mrsi_trie *from)
{
    to->bytes += from->bytes;
    to->first_at = from->first_at < to->first_at ? from->first_at : to->first_at;
    extents_merge(f, to, from);
    counted_merge(f, &to->values, &from->values);
    if (from->names) {
        if (!to->names && (to->names = mrs_arena_alloc(&f->arena, sizeof *to->names))) {
            memset(to->names, 0, sizeof *to->names);
        }
        if (to->names) {
            counted_merge(f, to->names, from->names);
        }
        f->dead |= !to->names;
    }
    if (from->lengths) {
        if (!to->lengths && (to->lengths = mrs_arena_alloc(&f->arena, sizeof *to->lengths))) {
            memset(to->lengths, 0, sizeof *to->lengths);
        }
        f->dead |= !to->lengths || !mrsi_tally_merge(to->lengths, f->mem, from->lengths);
    }
}

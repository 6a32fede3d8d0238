/* SPDX-License-Identifier: Apache-2.0 */
/* duplicates.c - finds duplicate names in a document, and keeps the last value of each name.
 *
 * Called for every document that is rewritten, so the common case (a few fields) sets one bit per name in a small
 * bitmap and compares names only if a bit is already set. Levels of many fields use a hash table: on the stack, or in
 * memory for wider levels. If there are too many names for it, or no memory, they are processed in several portions, by
 * their hash. It must not know about arrays' indexes: only documents are checked. */
#include "doc_internal.h"

#include <stdlib.h>
#include <xxhash.h>

#define FEW 64
#define SLOTS      8192u      /* of the table on the stack */
#define SLOTS_MOST (1u << 20) /* of one in memory: 4 MiB */

static bool
occurs_before(struct mrs_view d, const struct mrs_elem *e)
{
    MRS_ASSERT(e->p >= d.p && e->p < d.p + d.n);
    struct mrs_walk w;
    struct mrs_elem x;
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &x) > 0 && x.p < e->p) {
        if (mrs_name_is(&x, e->name, e->name_len)) {
            return true;
        }
    }
    return false;
}

struct duplicates_table {
    uint32_t *slot; /* offsets of names in the document; 0: free */
    uint32_t n;     /* a power of two */
};
enum duplicates_found { NONE, TWICE, FULL };

/* One portion of the names of a wide level: those whose hash falls on `part` of `parts`. The seed is the address of the
 * table: the author of a document cannot know it, so names cannot be chosen to collide. */
static enum duplicates_found
portion(struct mrs_view d, const struct duplicates_table *t, uint32_t part, uint32_t parts)
{
    uint32_t used = 0;
    struct mrs_walk w;
    struct mrs_elem e;
    memset(t->slot, 0, t->n * sizeof *t->slot);
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) > 0) {
        uint64_t h = XXH3_64bits_withSeed(e.name, e.name_len, (uintptr_t)t->slot);
        if ((h >> 32) % parts != part) {
            continue;
        }
        if (++used == t->n) {
            return FULL;
        }
        uint32_t i = (uint32_t)h & (t->n - 1);
        while (t->slot[i]) {
            if (strcmp((const char *)d.p + t->slot[i], e.name) == 0) {
                return TWICE;
            }
            i = (i + 1) & (t->n - 1);
        }
        t->slot[i] = (uint32_t)((const uint8_t *)e.name - d.p);
    }
    return NONE;
}

static bool
wide_level(struct mrs_mem *mem, struct mrs_view d)
{
    uint32_t few[SLOTS], n = mrs_doc_count(d), slots = 2 * FEW;
    while (slots < SLOTS_MOST && slots / 2 < n) {
        slots *= 2;
    }
    uint32_t *more = slots > SLOTS ? mrs_alloc(mem, slots * sizeof *more) : NULL;
    struct duplicates_table t = {more ? more : few, more || slots < SLOTS ? slots : SLOTS};
    enum duplicates_found found = FULL;
    for (uint32_t parts = (n - 1) / (t.n / 2) + 1; found == FULL && parts <= n; parts *= 2) {
        found = NONE;
        for (uint32_t i = 0; i < parts && found == NONE; i++) {
            found = portion(d, &t, i, parts);
        }
    }
    mrs_free(mem, more);
    return found != NONE; /* names that no number of portions separates are refused */
}

bool
mrsi_level_duplicates(struct mrs_mem *mem, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    uint64_t seen[16] = {0};
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n = 0;
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) > 0) {
        uint32_t h = mrsi_name_hash(e.name, e.name_len) >> 22;
        uint64_t bit = 1ull << (h & 63);
        if ((seen[h >> 6] & bit) && occurs_before(d, &e)) {
            return true;
        }
        seen[h >> 6] |= bit;
        if (++n > FEW) {
            return wide_level(mem, d);
        }
    }
    return false;
}

/* A field of a level with duplicate names. The first of its name is replaced by field `last`; gone: it is not the
 * first. */
struct named_field {
    struct mrs_elem e;
    uint32_t at, last;
    bool dropped;
};

static int
by_name(const void *a, const void *b)
{
    const struct named_field *const *x = a, *const *y = b;
    int order = strcmp((*x)->e.name, (*y)->e.name);
    return order ? order : ((*x)->at > (*y)->at) - ((*x)->at < (*y)->at);
}

static void
find_last(struct named_field *f, struct named_field **sorted, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = &f[i];
    }
    qsort(sorted, n, sizeof *sorted, by_name);
    for (uint32_t i = 0, first = 0; i < n; i++) {
        first = i && strcmp(sorted[i - 1]->e.name, sorted[i]->e.name) == 0 ? first : i;
        sorted[first]->last = sorted[i]->at;
        sorted[i]->dropped = i != first;
    }
}

/* Writes the remaining fields, in their order, to `to`; returns the number of bytes. */
static size_t
put_kept(const struct named_field *f, uint32_t n, uint8_t *to)
{
    size_t size = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!f[i].dropped) {
            const struct mrs_elem *e = &f[f[i].last].e;
            size_t len = (size_t)(e->v.p - e->p) + e->v.n;
            memcpy(to + size, e->p, len);
            size += len;
        }
    }
    return size;
}

enum mrs_status
mrsi_level_keep_last(struct mrs_buf *out, size_t start, struct mrs_err *e)
{
    MRS_ASSERT(out->bad || start + MRS_DOC_MIN <= out->n);
    struct mrs_view d = {out->p + start, (uint32_t)(out->n - start)};
    if (!mrsi_level_duplicates(out->mem, d)) {
        return MRS_OK;
    }
    uint32_t n = mrs_doc_count(d), i = 0;
    struct named_field *f = mrs_alloc(out->mem, n * sizeof *f);
    struct named_field **sorted = mrs_alloc(out->mem, n * sizeof *sorted);
    uint8_t *kept = mrs_alloc(out->mem, d.n);
    if (f && sorted && kept) {
        struct mrs_walk w;
        mrs_walk_init(&w, d);
        for (; i < n && mrs_walk_next(&w, &f[i].e) > 0; i++) {
            f[i].at = i;
        }
        find_last(f, sorted, i);
        size_t size = put_kept(f, i, kept);
        memcpy(out->p + start + 4, kept, size);
        out->p[start + 4 + size] = 0;
        mrs_put32(out->p + start, (uint32_t)(size + 5));
        out->n = start + size + 5;
    }
    mrs_free(out->mem, kept);
    mrs_free(out->mem, sorted);
    mrs_free(out->mem, f);
    return i ? MRS_OK : mrs_err_memory(e, n * sizeof *f);
}

bool
mrs_doc_has_duplicates(struct mrs_mem *mem, struct mrs_view d, bool one_level)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_walk stack[MRS_DEPTH_READ];
    struct mrs_elem e;
    int depth = 1;
    if (mrsi_level_duplicates(mem, d)) {
        return true;
    }
    mrs_walk_init(&stack[0], d);
    while (!one_level && depth > 0) {
        if (mrs_walk_next(&stack[depth - 1], &e) <= 0) {
            depth--;
            continue;
        }
        if (!mrsi_is_nested(e.v.type) || depth == MRS_DEPTH_READ) {
            continue;
        }
        struct mrs_view sub = e.v.type == MRS_CODE_W_SCOPE ? mrsi_scope(e.v) : mrs_val_view(e.v);
        if (e.v.type != MRS_ARRAY && mrsi_level_duplicates(mem, sub)) {
            return true;
        }
        mrs_walk_init(&stack[depth++], sub);
    }
    return false;
}

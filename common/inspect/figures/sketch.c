/* SPDX-License-Identifier: Apache-2.0 */
/* sketch.c - counts different values in bounded memory: the smallest hashes with their counts, and HyperLogLog for the
 * rest.
 *
 * HyperLogLog: Flajolet et al. 2007; the estimator is Ertl's of 2017, which needs no bias tables. */
#include "figures.h"
#include <math.h>
#include <stdlib.h>

/* A separate kind of table: hashes over the limit are removed. */
static struct mrsi_sketch_slot *
place(const struct mrsi_sketch *s, uint64_t hash)
{
    uint32_t i = mrsi_sketch_start(s, hash);
    while (s->slot[i].hash && s->slot[i].hash != hash) {
        i = (i + 1) & (s->cap - 1);
    }
    return &s->slot[i];
}

/* Makes a new table with the remaining slots. */
static bool
rehash(struct mrsi_sketch *s, struct mrs_mem *mem, uint32_t cap)
{
    MRS_ASSERT(cap > s->n && (cap & (cap - 1)) == 0);
    struct mrsi_sketch_slot *old = s->slot;
    uint32_t old_cap = s->cap;
    s->slot = mrs_zalloc(mem, cap * sizeof *s->slot);
    if (!s->slot) {
        s->slot = old;
        return false;
    }
    s->cap = cap;
    s->n = 0;
    for (uint32_t i = 0; i < old_cap; i++) {
        if (old[i].hash && old[i].hash <= s->limit) {
            *place(s, old[i].hash) = old[i];
            s->n++;
        }
    }
    mrs_free(mem, old);
    return true;
}

static void
observe(struct mrsi_sketch *s, uint64_t hash)
{
    uint64_t rest = hash << 12 | 1u << 11; /* the first 12 bits select the register, the others give the rank */
    uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);
    uint8_t *r = &s->registers[hash >> 52];
    *r = rank > *r ? rank : *r;
}

int
mrsi_by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The k-th smallest of n hashes, from 1; reorders them (Hoare's select). */
static uint64_t
least(uint64_t *h, int32_t n, int32_t k)
{
    MRS_ASSERT(k >= 1 && k <= n);
    int32_t from = 0, to = n - 1;
    while (from < to) {
        uint64_t pivot = h[from + (to - from) / 2];
        int32_t i = from, j = to;
        while (i <= j) {
            while (h[i] < pivot) {
                i++;
            }
            while (h[j] > pivot) {
                j--;
            }
            if (i <= j) {
                uint64_t x = h[i];
                h[i++] = h[j];
                h[j--] = x;
            }
        }
        if (k - 1 > j && k - 1 < i) {
            break;
        }
        from = k - 1 >= i ? i : from;
        to = k - 1 <= j ? j : to;
    }
    return h[k - 1];
}

/* Keeps the `size` smallest hashes; adds all of them to the registers first. */
bool
mrsi_sketch_shrink(struct mrsi_sketch *s, struct mrs_mem *mem, uint32_t size)
{
    if (s->n <= size) {
        return true;
    }
    uint64_t *h = mrs_alloc_array(mem, s->n, sizeof *h);
    if (!h || (!s->registers && !(s->registers = mrs_zalloc(mem, MRSI_REGISTERS)))) {
        mrs_free(mem, h);
        return false;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->cap; i++) {
        if (s->slot[i].hash) {
            observe(s, s->slot[i].hash);
            h[n++] = s->slot[i].hash;
        }
        s->slot[i].shown = 0;
    }
    s->limit = least(h, (int32_t)n, (int32_t)size);
    mrs_free(mem, h);
    mrs_free(mem, s->text);
    s->text = NULL;
    s->text_n = s->text_cap = 0;
    return rehash(s, mem, s->cap);
}

/* Stores a value for display; *at: its offset, 0 if not stored. False: no memory. */
static bool
show(struct mrsi_sketch *s, struct mrs_mem *mem, struct mrs_val v, uint32_t *at)
{
    uint32_t n = v.n < MRSI_SHOWN ? v.n : MRSI_SHOWN;
    if (v.type == MRS_MISSING || s->registers) {
        *at = 0;
        return true;
    }
    if (s->text_cap - s->text_n < n + 2) {
        uint32_t cap = s->text_cap ? s->text_cap * 2 : 256;
        uint8_t *more = mrs_realloc(mem, s->text, cap);
        if (!more) {
            return false;
        }
        s->text = more;
        s->text_cap = cap;
    }
    uint8_t *to = s->text + s->text_n;
    to[0] = v.type;
    to[1] = (uint8_t)n;
    if (n) {
        memcpy(to + 2, v.p, n);
    }
    *at = s->text_n + 1;
    s->text_n += n + 2;
    return true;
}

static bool
add(struct mrsi_sketch *s, struct mrs_mem *mem, uint32_t size, const struct mrsi_sketch_slot *x, struct mrs_val v)
{
    if (s->registers) {
        observe(s, x->hash);
    }
    if (!s->slot) {
        s->limit = UINT64_MAX;
        s->slot = mrs_zalloc(mem, 16 * sizeof *s->slot);
        s->cap = s->slot ? 16 : 0;
    }
    if (!s->slot || x->hash > s->limit) {
        return s->slot != NULL;
    }
    struct mrsi_sketch_slot *at = place(s, x->hash);
    if (at->hash) {
        at->count += x->count;
        return true;
    }
    uint32_t shown;
    if (!show(s, mem, v, &shown)) {
        return false;
    }
    *at = (struct mrsi_sketch_slot){x->hash, x->count, shown};
    s->n++;
    if (s->n > size && (!s->registers || s->n >= size + size / 2)) {
        return mrsi_sketch_shrink(s, mem, size);
    }
    return s->n * 4 < s->cap * 3 || rehash(s, mem, s->cap * 2);
}

bool
mrsi_sketch_add(struct mrsi_sketch *s, struct mrs_mem *mem, uint32_t size, uint64_t hash, struct mrs_val v)
{
    return add(s, mem, size, &(struct mrsi_sketch_slot){hash, 1, 0}, v);
}

bool
mrsi_sketch_merge(struct mrsi_sketch *to, struct mrs_mem *mem, uint32_t size, const struct mrsi_sketch *from)
{
    bool ok = true;
    if (from->registers && !to->registers) {
        to->registers = mrs_zalloc(mem, MRSI_REGISTERS);
        ok = to->registers != NULL;
        for (uint32_t i = 0; ok && i < to->cap; i++) {
            if (to->slot[i].hash) {
                observe(to, to->slot[i].hash);
            }
        }
    }
    for (uint32_t i = 0; ok && from->registers && i < MRSI_REGISTERS; i++) {
        uint8_t r = from->registers[i];
        to->registers[i] = r > to->registers[i] ? r : to->registers[i];
    }
    if (ok && from->slot && from->limit < UINT64_MAX && (!to->slot || from->limit < to->limit)) {
        if (!to->slot) {
            to->slot = mrs_zalloc(mem, 16 * sizeof *to->slot);
            to->cap = to->slot ? 16 : 0;
        }
        to->limit = from->limit;
        ok = to->slot && rehash(to, mem, to->cap);
    }
    for (uint32_t i = 0; ok && i < from->cap; i++) {
        if (from->slot[i].hash) {
            ok = add(to, mem, size, &from->slot[i], mrsi_sketch_value(from, &from->slot[i]));
        }
    }
    return ok && (!to->registers || mrsi_sketch_shrink(to, mem, size));
}

struct mrs_val
mrsi_sketch_value(const struct mrsi_sketch *s, const struct mrsi_sketch_slot *slot)
{
    if (!slot->shown || !s->text) {
        return mrs_missing();
    }
    const uint8_t *at = s->text + slot->shown - 1;
    return (struct mrs_val){at + 2, at[1], at[0]};
}

void
mrsi_sketch_clear(struct mrsi_sketch *s, struct mrs_mem *mem)
{
    mrs_free(mem, s->slot);
    mrs_free(mem, s->registers);
    mrs_free(mem, s->text);
    memset(s, 0, sizeof *s);
}

static double
sigma(double x)
{
    double y = 1, z = x, before;
    if (x == 1) {
        return INFINITY;
    }
    do {
        x *= x;
        before = z;
        z += x * y;
        y += y;
    } while (z > before);
    return z;
}

static double
tau(double x)
{
    double y = 1, z = 1 - x, before;
    if (x == 0 || x == 1) {
        return 0;
    }
    do {
        x = sqrt(x);
        before = z;
        y *= 0.5;
        z -= (1 - x) * (1 - x) * y;
    } while (z < before);
    return z / 3;
}

uint64_t
mrsi_sketch_distinct(const struct mrsi_sketch *s)
{
    enum { RANKS = 52 };
    uint32_t with[RANKS + 2] = {0};
    double m = MRSI_REGISTERS;
    if (!s->registers) {
        return s->n;
    }
    for (uint32_t i = 0; i < MRSI_REGISTERS; i++) {
        with[s->registers[i] < RANKS + 1 ? s->registers[i] : RANKS + 1]++;
    }
    double z = m * tau(1 - with[RANKS + 1] / m);
    for (int k = RANKS; k >= 1; k--) {
        z = 0.5 * (z + with[k]);
    }
    z += m * sigma(with[0] / m);
    return (uint64_t)(m * m / (2 * M_LN2 * z) + 0.5);
}

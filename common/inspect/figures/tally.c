/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - the distribution of small numbers: exact while there are few different ones, then within 0.8 %. */
#include "figures.h"
#include <stdlib.h>

/* Numbers below 128 have a slot each; above, an octave has 64 parts. */
static void
part_of(uint64_t value, uint32_t *octave, uint32_t *part)
{
    uint32_t bits = value < 64 ? 6 : 63 - (uint32_t)__builtin_clzll(value);
    *octave = value < 64 ? 0 : bits - 5;
    *part = value < 64 ? (uint32_t)value : (uint32_t)(value >> (bits - 6)) & 63;
}

static uint64_t
middle_of(uint32_t octave, uint32_t part)
{
    MRS_ASSERT(octave < MRSI_OCTAVES && part < MRSI_OCTAVE);
    if (octave <= 1) {
        return octave * 64 + part;
    }
    uint64_t low = (uint64_t)(64 + part) << (octave - 1);
    return low + ((1ull << (octave - 1)) - 1) / 2;
}

static bool
add_wide(struct mrsi_tally *t, struct mrs_mem *mem, uint64_t value, uint64_t times)
{
    uint32_t octave, part;
    part_of(value, &octave, &part);
    if (!t->octave[octave] && !(t->octave[octave] = mrs_zalloc(mem, MRSI_OCTAVE * sizeof(uint64_t)))) {
        return false;
    }
    t->octave[octave][part] += times;
    return true;
}

static bool
widen(struct mrsi_tally *t, struct mrs_mem *mem)
{
    MRS_ASSERT(!t->wide);
    uint64_t n;
    const struct mrs_number_slot *x = mrs_number_table_slots(&t->exact, &n);
    bool ok = true;
    for (uint64_t i = 0; ok && i < n; i++) {
        ok = !x[i].key || add_wide(t, mem, x[i].key - 1, x[i].value);
    }
    mrs_buf_clear(&t->exact.slots);
    t->exact.n = 0;
    t->wide = true;
    return ok;
}

static bool
put(struct mrsi_tally *t, struct mrs_mem *mem, uint64_t value, uint64_t times)
{
    MRS_ASSERT(times > 0 && value != UINT64_MAX);
    if (t->wide) {
        return add_wide(t, mem, value, times);
    }
    if (!t->exact.slots.mem) {
        mrs_buf_init(&t->exact.slots, mem, SIZE_MAX);
    }
    struct mrs_number_slot *at = mrs_number_table_put(&t->exact, value + 1);
    if (!at) {
        return false;
    }
    at->value += times;
    return t->exact.n <= MRSI_TALLY_EXACT || widen(t, mem);
}

static void
note(struct mrsi_tally *t, uint64_t n, uint64_t sum, uint64_t min, uint64_t max)
{
    t->min = t->n == 0 || min < t->min ? min : t->min;
    t->max = t->n == 0 || max > t->max ? max : t->max;
    t->n += n;
    t->sum += sum;
}

bool
mrsi_tally_add(struct mrsi_tally *t, struct mrs_mem *mem, uint64_t value, uint64_t times)
{
    MRS_ASSERT(times > 0);
    note(t, times, value * times, value, value);
    return put(t, mem, value, times);
}

bool
mrsi_tally_merge(struct mrsi_tally *to, struct mrs_mem *mem, const struct mrsi_tally *from)
{
    MRS_ASSERT(to != from);
    bool ok = true;
    if (from->n == 0) {
        return true;
    }
    note(to, from->n, from->sum, from->min, from->max);
    uint64_t slots;
    const struct mrs_number_slot *x = mrs_number_table_slots(&from->exact, &slots);
    for (uint64_t i = 0; ok && i < slots; i++) {
        ok = !x[i].key || put(to, mem, x[i].key - 1, x[i].value);
    }
    if (ok && from->wide && !to->wide) {
        ok = widen(to, mem);
    }
    for (uint32_t o = 0; ok && from->wide && o < MRSI_OCTAVES; o++) {
        for (uint32_t p = 0; ok && from->octave[o] && p < MRSI_OCTAVE; p++) {
            ok = !from->octave[o][p] || add_wide(to, mem, middle_of(o, p), from->octave[o][p]);
        }
    }
    return ok;
}

void
mrsi_tally_clear(struct mrsi_tally *t, struct mrs_mem *mem)
{
    mrs_buf_clear(&t->exact.slots);
    for (uint32_t o = 0; o < MRSI_OCTAVES; o++) {
        mrs_free(mem, t->octave[o]);
    }
    memset(t, 0, sizeof *t);
}

static int
by_value(const void *a, const void *b)
{
    uint64_t x = ((const struct mrsi_tally_slot *)a)->value, y = ((const struct mrsi_tally_slot *)b)->value;
    return (x > y) - (x < y);
}

/* All values in order, with counts; the caller frees *list. */
static uint32_t
in_order(const struct mrsi_tally *t, struct mrs_mem *mem, struct mrsi_tally_slot **list)
{
    MRS_ASSERT(t->exact.n <= MRSI_TALLY_EXACT);
    uint32_t n = 0, parts = 0;
    for (uint32_t o = 0; o < MRSI_OCTAVES; o++) {
        parts += t->octave[o] ? MRSI_OCTAVE : 0;
    }
    struct mrsi_tally_slot *x = mrs_alloc_array(mem, t->exact.n + parts + 1, sizeof *x);
    uint64_t slots;
    const struct mrs_number_slot *s = mrs_number_table_slots(&t->exact, &slots);
    *list = x;
    for (uint64_t i = 0; x && i < slots; i++) {
        if (s[i].key) {
            x[n++] = (struct mrsi_tally_slot){s[i].key - 1, s[i].value};
        }
    }
    for (uint32_t o = 0; x && o < MRSI_OCTAVES; o++) {
        for (uint32_t p = 0; t->octave[o] && p < MRSI_OCTAVE; p++) {
            if (t->octave[o][p]) {
                x[n++] = (struct mrsi_tally_slot){middle_of(o, p), t->octave[o][p]};
            }
        }
    }
    if (n) {
        qsort(x, n, sizeof *x, by_value);
    }
    return n;
}

static uint64_t
at_rank(const struct mrsi_tally *t, const struct mrsi_tally_slot *x, uint32_t n, uint64_t rank)
{
    MRS_ASSERT(rank <= t->n);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        seen += x[i].count;
        if (seen >= rank) {
            uint64_t v = x[i].value;
            return v < t->min ? t->min : v > t->max ? t->max : v;
        }
    }
    return t->max;
}

uint64_t
mrsi_tally_rank(const struct mrsi_tally *t, struct mrs_mem *mem, uint64_t rank)
{
    struct mrsi_tally_slot *x = NULL;
    uint32_t n = in_order(t, mem, &x);
    uint64_t v = x ? at_rank(t, x, n, rank) : 0;
    mrs_free(mem, x);
    return v;
}

static uint32_t
pillar_of(uint64_t value)
{
    return value <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(value - 1);
}

bool
mrsi_tally_spread(const struct mrsi_tally *t, struct mrs_mem *mem, struct mrs_arena *a, struct mrsi_quantiles *out)
{
    MRS_ASSERT(out);
    struct mrsi_tally_slot *x = NULL;
    *out = (struct mrsi_quantiles){.n = t->n, .sum = t->sum, .min = t->min, .max = t->max};
    if (t->n == 0) {
        return true;
    }
    uint32_t n = in_order(t, mem, &x);
    out->pillars = pillar_of(t->max) + 1;
    out->pillar = mrs_arena_alloc(a, out->pillars * sizeof *out->pillar);
    if (!x || !out->pillar) {
        mrs_free(mem, x);
        return false;
    }
    memset(out->pillar, 0, out->pillars * sizeof *out->pillar);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t v = x[i].value > t->max ? t->max : x[i].value;
        out->pillar[pillar_of(v)] += x[i].count;
    }
    out->p50 = at_rank(t, x, n, (t->n + 1) / 2);
    out->p99 = at_rank(t, x, n, (uint64_t)((unsigned __int128)t->n * 99 / 100 + (t->n * 99 % 100 != 0)));
    mrs_free(mem, x);
    return true;
}

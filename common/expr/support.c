/* SPDX-License-Identifier: Apache-2.0 */
/* support.c - helpers of several operator families.
 *
 * Texts of BSON need not be valid UTF-8, so everything here counts by lead bytes and never reads past the end. The sort
 * is a bottom-up merge: stable, without recursion, in memory that the caller owns. It knows values only by cmp. */
#include "support.h"
#include "doc/decimal.h"
#include <math.h>

uint32_t
mrsi_utf8_len(uint8_t lead)
{
    return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 1;
}

uint32_t
mrsi_utf8_count(const char *p, uint32_t n)
{
    MRS_ASSERT(p || n == 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        count += ((uint8_t)p[i] & 0xC0) != 0x80;
    }
    return count;
}

uint32_t
mrsi_utf8_offset(const char *p, uint32_t n, uint32_t index, uint32_t *left)
{
    MRS_ASSERT(p || n == 0);
    uint32_t at = 0;
    while (index > 0 && at < n) {
        at += mrsi_utf8_len((uint8_t)p[at]);
        index--;
    }
    *left = index;
    return at < n ? at : n;
}

bool
mrsi_integral32(struct mrs_val v, int32_t *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    int64_t i;
    if (!mrs_val_integral(v, &i) || i < INT32_MIN || i > INT32_MAX) {
        return false;
    }
    *out = (int32_t)i;
    return true;
}

bool
mrsi_coerce_i64(struct mrs_val v, int64_t *out)
{
    MRS_ASSERT(mrs_is_number(v));
    if (v.type == MRS_INT32) {
        *out = mrs_val_i32(v);
        return true;
    }
    if (v.type == MRS_INT64) {
        *out = mrs_val_i64(v);
        return true;
    }
    if (v.type == MRS_DOUBLE) {
        double d = mrs_val_double(v);
        if (!(d >= -0x1p63 && d < 0x1p63)) {
            return false;
        }
        *out = (int64_t)d;
        return true;
    }
    if (v.type == MRS_DECIMAL128) {
        unsigned int flags = 0;
        *out = (int64_t)__bid128_to_int64_rnint(mrsi_dec_load(v.p), &flags);
        return true;
    }
    return false;
}

struct support_order {
    struct mrs_eval *ev;
    mrsi_cmp_fn cmp;
    const void *arg;
};

/* Merges the sorted runs from[a..mid) and from[mid..end) into the same positions of `to`. */
static enum mrs_status
merge(const struct support_order *o, const uint32_t *from, uint32_t *to, uint32_t a, uint32_t mid, uint32_t end)
{
    uint32_t b = mid;
    for (uint32_t i = a; i < end; i++) {
        if (o->ev && i % 4096 == 4095) {
            MRS_TRY(mrsi_look(o->ev, 1u << 20));
        }
        bool first = a < mid && (b >= end || o->cmp(o->arg, from[a], from[b]) <= 0);
        to[i] = first ? from[a++] : from[b++];
    }
    return MRS_OK;
}

enum mrs_status
mrsi_sort_stable(struct mrs_eval *ev, uint32_t *at, uint32_t *other, uint32_t n, mrsi_cmp_fn cmp, const void *arg)
{
    MRS_ASSERT((at && other) || n == 0);
    struct support_order o = {ev, cmp, arg};
    uint32_t *from = at, *to = other;
    for (uint64_t run = 1; run < n; run *= 2) {
        for (uint64_t a = 0; a < n; a += 2 * run) {
            uint32_t mid = a + run < n ? (uint32_t)(a + run) : n;
            uint32_t end = a + 2 * run < n ? (uint32_t)(a + 2 * run) : n;
            MRS_TRY(merge(&o, from, to, (uint32_t)a, mid, end));
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != at && n) {
        memcpy(at, from, n * sizeof *at);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_list_of(struct mrs_eval *ev, struct mrs_val array, struct mrsi_list *l)
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n = l->n + mrs_val_count(array);
    MRS_TRY(mrsi_spend(ev, n));
    if (n > l->cap) {
        struct mrs_val *more = mrs_arena_alloc(ev->arena, n * sizeof *more);
        if (!more) {
            return mrsi_eval_memory(ev, n * sizeof *more);
        }
        if (l->n) {
            memcpy(more, l->v, l->n * sizeof *more);
        }
        l->v = more;
        l->cap = n;
    }
    for (mrs_walk_init(&w, mrs_val_view(array)); l->n < n && mrs_walk_next(&w, &e) > 0;) {
        l->v[l->n++] = e.v;
    }
    return MRS_OK;
}

enum mrs_status
mrsi_compile_pick(const struct mrs_expr *x, struct mrs_val spec, const char *const *names,
                  uint32_t n, struct mrs_val *v, struct mrs_err *e)
{
    MRS_ASSERT(names && v);
    if (spec.type != MRS_DOCUMENT) {
        return mrsi_expr_refuse(x, e, "takes a document of named arguments");
    }
    for (uint32_t i = 0; i < n; i++) {
        v[i] = mrs_missing();
    }
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(spec));
    while (mrs_walk_next(&w, &el) > 0) {
        uint32_t i = 0;
        while (i < n && !mrsi_text_is(el.name, el.name_len, names[i])) {
            i++;
        }
        if (i == n) {
            return mrsi_expr_refuse(x, e, "has no argument '%.60s'", el.name);
        }
        if (v[i].type != MRS_MISSING) {
            return mrsi_expr_refuse(x, e, "the argument '%s' is given twice", names[i]);
        }
        v[i] = el.v;
    }
    return MRS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - when a value of ours is the server's.
 *
 * Deliberately not written with the library's own comparison, which takes 1 and 1.0 as equal: here every byte
 * counts, but for what a server may write either way. */
#include "compare.h"
#include "mongoreshape/value.h"
#include <math.h>
#include <stdio.h>

static bool
decimal_nan(const uint8_t *p)
{
    return (p[15] & 0x7c) == 0x7c;
}

static bool
same_options(const char *a, const char *b)
{
    uint32_t seen_a[256] = {0}, seen_b[256] = {0};
    for (; *a; a++) {
        seen_a[(uint8_t)*a]++;
    }
    for (; *b; b++) {
        seen_b[(uint8_t)*b]++;
    }
    return memcmp(seen_a, seen_b, sizeof seen_a) == 0;
}

static bool
same_regex(struct mrs_val a, struct mrs_val b)
{
    const char *x = (const char *)a.p, *y = (const char *)b.p;
    return strcmp(x, y) == 0 && same_options(x + strlen(x) + 1, y + strlen(y) + 1);
}

static uint32_t
items(struct mrs_val v, struct mrs_elem *el, uint32_t room)
{
    struct mrs_walk w;
    uint32_t n = 0;
    mrs_walk_init(&w, mrs_val_view(v));
    while (n < room && mrs_walk_next(&w, &el[n]) == 1) {
        n++;
    }
    return n;
}

#define ITEMS_MAX 4096

static bool
listed(const struct how *how, const char *name)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (!how->any_order_in.p) {
        return false;
    }
    mrs_walk_init(&w, how->any_order_in);
    while (mrs_walk_next(&w, &el) == 1) {
        if (mrs_val_is_text(el.v, name)) {
            return true;
        }
    }
    return false;
}

static bool
same_container(struct mrs_val a, struct mrs_val b, const struct how *how)
{
    struct mrs_walk wa, wb;
    struct mrs_elem ea = {0}, eb = {0};
    mrs_walk_init(&wa, mrs_val_view(a));
    mrs_walk_init(&wb, mrs_val_view(b));
    for (;;) {
        int more_a = mrs_walk_next(&wa, &ea), more_b = mrs_walk_next(&wb, &eb);
        if (more_a != 1 || more_b != 1) {
            return more_a == more_b;
        }
        if (a.type == MRS_DOCUMENT && how->any_fields) {
            if (!mrs_doc_find(mrs_val_view(b), ea.name, ea.name_len, &eb)) {
                return false;
            }
        } else if (strcmp(ea.name, eb.name) != 0) {
            return false;
        }
        struct how inner = {.any_fields = how->any_fields, .any_order = a.type == MRS_DOCUMENT && listed(how, ea.name)};
        if (!same_value(ea.v, eb.v, &inner)) {
            return false;
        }
    }
}

static bool
same_array_any_order(struct mrs_val a, struct mrs_val b, const struct how *how)
{
    static struct mrs_elem ea[ITEMS_MAX], eb[ITEMS_MAX]; /* not needed while deeper ones are compared */
    struct mrs_val va[ITEMS_MAX], vb[ITEMS_MAX];
    uint32_t na = items(a, ea, ITEMS_MAX), nb = items(b, eb, ITEMS_MAX);
    for (uint32_t i = 0; i < na; i++) {
        va[i] = ea[i].v;
    }
    for (uint32_t i = 0; i < nb; i++) {
        vb[i] = eb[i].v;
    }
    return same_list(va, na, vb, nb, how);
}

bool
same_value(struct mrs_val a, struct mrs_val b, const struct how *how)
{
    if (a.type != b.type) {
        return false;
    }
    if (mrs_identical(a, b)) {
        return true;
    }
    switch (a.type) {
    case MRS_DOUBLE:
        return isnan(mrs_val_double(a)) && isnan(mrs_val_double(b));
    case MRS_DECIMAL128:
        return decimal_nan(a.p) && decimal_nan(b.p);
    case MRS_REGEX:
        return same_regex(a, b);
    case MRS_ARRAY:
        return how->any_order ? same_array_any_order(a, b, how) : same_container(a, b, how);
    case MRS_DOCUMENT:
        return same_container(a, b, how);
    default:
        return false;
    }
}

bool
same_list(const struct mrs_val *a, uint32_t n_a, const struct mrs_val *b, uint32_t n_b, const struct how *how)
{
    bool used[ITEMS_MAX];
    struct how inner = {.any_fields = how->any_fields, .any_order_in = how->any_order_in};
    if (n_a != n_b || n_a > ITEMS_MAX) {
        return false;
    }
    memset(used, 0, sizeof used);
    for (uint32_t i = 0; i < n_a; i++) {
        uint32_t at = i;
        if (how->any_order) {
            for (at = 0; at < n_b && (used[at] || !same_value(a[i], b[at], &inner)); at++) {
            }
        }
        if (at == n_b || !same_value(a[i], b[at], &inner)) {
            return false;
        }
        used[at] = true;
    }
    return true;
}

static void
show(struct mrs_val v, char *text, size_t size)
{
    static const char *const MISSING = "nothing";
    char number[48];
    uint32_t n;
    if (v.type == MRS_MISSING) {
        snprintf(text, size, "%s", MISSING);
    } else if (v.type == MRS_INT32) {
        snprintf(text, size, "int %d", mrs_val_i32(v));
    } else if (v.type == MRS_INT64 || v.type == MRS_DATE) {
        snprintf(text, size, "%s %lld", mrs_type_name(v.type), (long long)mrs_val_i64(v));
    } else if (v.type == MRS_DOUBLE) {
        snprintf(text, size, "double %.17g", mrs_val_double(v));
    } else if (v.type == MRS_DECIMAL128) {
        mrs_decimal_to_text(v.p, number);
        snprintf(text, size, "decimal %s", number);
    } else if (v.type == MRS_STRING) {
        const char *s = mrs_val_text(v, &n);
        snprintf(text, size, "\"%.*s\"", (int)(n < 100 ? n : 100), s);
    } else if (v.type == MRS_BOOL) {
        snprintf(text, size, "%s", v.p[0] ? "true" : "false");
    } else {
        int at = snprintf(text, size, "%s", mrs_type_name(v.type));
        for (uint32_t i = 0; i < v.n && i < 48 && (size_t)at + 3 < size; i++) {
            at += snprintf(text + at, size - (size_t)at, "%s%02x", i ? "" : " ", v.p[i]);
        }
    }
}

const char *
describe_difference(struct mrs_val got, struct mrs_val expected)
{
    static char text[640];
    char a[300], b[300];
    show(got, a, sizeof a);
    show(expected, b, sizeof b);
    snprintf(text, sizeof text, "got %s, expected %s", a, b);
    return text;
}

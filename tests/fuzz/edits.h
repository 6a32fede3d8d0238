/* SPDX-License-Identifier: Apache-2.0 */
/* edits.h - a script of small changes to documents and files that somebody may believe: numbers that are wrong, other
 * types, lengths, names; elements that are missing or there twice. What a script means does not depend on how the
 * documents are made up, so that inputs kept today are of use when there are other fields. */
#ifndef FUZZ_EDITS_H
#define FUZZ_EDITS_H

#include "mongoreshape/doc.h"
#include <stdlib.h>

#define EDIT_BYTES 12
#define EDIT_DEPTH 32

struct edit {
    uint8_t where, how; /* where: of the caller */
    uint32_t which;     /* element in the order in which they are written, modulo their number */
    uint64_t operand;
};

static inline struct edit
edit_at(const uint8_t *p)
{
    return (struct edit){p[0], p[1], p[2] | (uint32_t)p[3] << 8, mrs_le64(p + 4)};
}

/* Numbers at the edges of what fields are read as. */
static inline uint64_t
odd_number(uint64_t operand)
{
    static const uint64_t odd[] = {0, 1, 2, 7, 255, 256, 1 << 16, 1 << 20, INT32_MAX, 1ull << 31, UINT32_MAX,
                                   1ull << 32, 1ull << 40, INT64_MAX / 16, INT64_MAX, 1ull << 63, UINT64_MAX};
    return odd[operand % (sizeof odd / sizeof *odd)];
}

/* ---- documents ---- */
struct edit_walk {
    struct mrs_walk at[EDIT_DEPTH];
    int depth;
};

/* The next element in the order of the bytes; it is descended into by itself. *closed: documents that ended. */
static inline bool
edit_next(struct edit_walk *w, struct mrs_elem *e, int *closed)
{
    for (*closed = 0; w->depth >= 0; w->depth--, ++*closed) {
        if (mrs_walk_next(&w->at[w->depth], e) == 1) {
            return true;
        }
    }
    return false;
}

static inline bool
edit_enter(struct edit_walk *w, const struct mrs_elem *e)
{
    if ((e->v.type != MRS_DOCUMENT && e->v.type != MRS_ARRAY) || w->depth + 1 >= EDIT_DEPTH) {
        return false;
    }
    mrs_walk_init(&w->at[++w->depth], mrs_val_view(e->v));
    return true;
}

/* The element of this number; how many there are where it is past the last. */
static inline uint32_t
edit_find(struct mrs_view d, uint32_t which, struct mrs_elem *e)
{
    struct edit_walk w = {.depth = 0};
    int closed;
    uint32_t n = 0;
    mrs_walk_init(&w.at[0], d);
    while (edit_next(&w, e, &closed)) {
        if (n++ == which) {
            break;
        }
        edit_enter(&w, e);
    }
    return n;
}

static inline struct mrs_val
other_type(uint64_t operand, uint8_t room[16])
{
    static const uint8_t text[] = {2, 0, 0, 0, 'x', 0}, bytes[] = {1, 0, 0, 0, 0, 'x'};
    switch (operand % 8) {
    case 0:
        return mrs_null();
    case 1:
        return mrs_make_bool(room, operand & 8);
    case 2:
        return mrs_make_double(room, 1e300);
    case 3:
        return mrs_make_i32(room, -1);
    case 4:
        return (struct mrs_val){text, sizeof text, MRS_STRING};
    case 5:
        return (struct mrs_val){bytes, sizeof bytes, MRS_BINARY};
    default:
        return (struct mrs_val){mrs_empty_bytes, 5, operand % 8 == 6 ? MRS_ARRAY : MRS_DOCUMENT};
    }
}

/* A copy of BINARY or STRING bytes with other contents or another length. */
static inline void
edit_bytes(struct mrs_build *b, const struct mrs_elem *e, const struct edit *x)
{
    uint32_t head = e->v.type == MRS_BINARY ? 5 : 4, had = e->v.n - head, n = had;
    uint8_t *p = calloc(1, e->v.n + 64);
    if (!p) {
        abort();
    }
    memcpy(p, e->v.p, e->v.n);
    if (x->how % 4 == 0) {
        n = (uint32_t)(x->operand % (had + 64));
    } else if (had >= 8 && x->how % 4 == 1) {
        mrs_put64(p + head + (x->operand >> 8) % (had - 7), odd_number(x->operand & 0xFF));
    } else if (had >= 4 && x->how % 4 == 2) {
        mrs_put32(p + head + (x->operand >> 8) % (had - 3), (uint32_t)odd_number(x->operand & 0xFF));
    } else if (had) {
        p[head + (x->operand >> 8) % had] ^= (uint8_t)(x->operand | 1);
    }
    n = e->v.type == MRS_STRING && !n ? 1 : n;
    mrs_put32(p, n);
    if (e->v.type == MRS_STRING) {
        p[head + n - 1] = 0;
    }
    mrs_build_val(b, e->name, e->name_len, (struct mrs_val){p, head + n, e->v.type});
    free(p);
}

static inline void
edit_value(struct mrs_build *b, struct mrs_view d, uint32_t n, const struct mrs_elem *e, const struct edit *x)
{
    uint8_t room[16];
    struct mrs_elem other;
    uint64_t was = e->v.type == MRS_INT64 ? mrs_le64(e->v.p) : 0;
    if (e->v.type == MRS_BINARY || e->v.type == MRS_STRING) {
        edit_bytes(b, e, x);
    } else if (x->how % 4 == 0) {
        mrs_build_i64(b, e->name, (int64_t)odd_number(x->operand));
    } else if (x->how % 4 == 1) {
        mrs_build_i64(b, e->name, (int64_t)(was + (uint64_t)(int8_t)x->operand));
    } else if (x->how % 4 == 2 || e->v.type == MRS_BOOL) {
        mrs_build_val(b, e->name, e->name_len, other_type(x->operand, room));
    } else {
        edit_find(d, (uint32_t)(x->operand % n), &other);
        mrs_build_val(b, e->name, e->name_len, other.v);
    }
}

static inline void
edit_element(struct mrs_build *b, struct mrs_view d, uint32_t n, const struct mrs_elem *e, const struct edit *x)
{
    struct mrs_elem other;
    uint8_t room[16];
    switch (x->how >> 2 & 7) {
    case 0: /* it goes */
        break;
    case 1: /* it is there again and again */
        for (uint64_t i = 0; i <= 1 + x->operand % 20; i++) {
            mrs_build_elem(b, e);
        }
        break;
    case 2: /* under the name of another */
        edit_find(d, (uint32_t)(x->operand % n), &other);
        mrs_build_val(b, other.name, other.name_len, e->v);
        break;
    case 3: /* as something else */
        mrs_build_val(b, e->name, e->name_len, other_type(x->operand, room));
        break;
    default:
        edit_value(b, d, n, e, x);
    }
}

/* The document with one element edited, at the end of out; false: there is nothing to edit. */
static inline bool
edit_doc(struct mrs_view d, const struct edit *x, struct mrs_buf *out)
{
    struct mrs_elem e;
    struct edit_walk w = {.depth = 0};
    struct mrs_build b;
    struct mrs_view whole;
    int closed;
    uint32_t n = edit_find(d, UINT32_MAX, &e), at = 0;
    if (!n) {
        return false;
    }
    mrs_build_init(&b, out);
    mrs_walk_init(&w.at[0], d);
    while (edit_next(&w, &e, &closed)) {
        for (; closed > 0; closed--) {
            mrs_build_close(&b);
        }
        if (at++ == x->which % n) {
            edit_element(&b, d, n, &e, x);
        } else if (edit_enter(&w, &e)) {
            mrs_build_open(&b, e.name, e.name_len, e.v.type);
        } else {
            mrs_build_elem(&b, &e);
        }
    }
    for (; closed > 1; closed--) {
        mrs_build_close(&b);
    }
    return mrs_build_finish(&b, &whole, NULL) == MRS_OK;
}

/* ---- files ---- */
/* Bytes p[0..n) in a room of n + 64. Their new number. */
static inline size_t
edit_file(uint8_t *p, size_t n, const struct edit *x)
{
    size_t at = n ? (x->operand >> 8) % n : 0;
    switch (x->how & 3) {
    case 0:
        return (size_t)(x->operand % (n + 64));
    case 1:
        mrs_put32(p + at, (uint32_t)odd_number(x->operand & 0xFF));
        return n;
    case 2:
        mrs_put64(p + at, odd_number(x->operand & 0xFF));
        return n;
    default:
        p[at] ^= (uint8_t)(x->operand | 1);
        return n;
    }
}

#endif

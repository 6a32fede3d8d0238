/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - iterates over the elements of a document, and finds fields by name. */
#ifndef MONGORESHAPE_WALK_H
#define MONGORESHAPE_WALK_H

#include "mongoreshape/view.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_walk {
    const uint8_t *at, *end; /* end: the final NUL of the document */
};

static inline void
mrs_walk_init(struct mrs_walk *w, struct mrs_view d)
{
    MRS_ASSERT(d.p && d.n >= MRS_DOC_MIN);
    w->at = d.p + 4;
    w->end = d.p + d.n - 1;
}

/* Sizes of fixed-size values; 0x80: call mrs_value_size. */
extern const uint8_t mrs_fixed_size[256];

/* The first NUL of [p, end), or NULL. Names are short: loads of eight bytes find most NULs faster than a call of
 * memchr. */
static inline const uint8_t *
mrs_name_end(const uint8_t *p, const uint8_t *end)
{
    if (end - p >= 8) {
        uint64_t w = mrs_le64(p), zero = (w - 0x0101010101010101u) & ~w & 0x8080808080808080u;
        if (zero) {
            return p + (__builtin_ctzll(zero) >> 3);
        }
        p += 8;
        if (p < end && !*p) { /* names of eight bytes are common */
            return p;
        }
    }
    return (const uint8_t *)memchr(p, 0, (size_t)(end - p));
}

/* The next element: 1; none: 0; damaged: -1 (cannot happen in a document that mrs_doc_check passed). */
static inline int
mrs_walk_next(struct mrs_walk *w, struct mrs_elem *e)
{
    if (w->at >= w->end) {
        return 0;
    }
    e->p = w->at;
    e->v.type = *w->at;
    e->name = (const char *)w->at + 1;
    const uint8_t *nul = mrs_name_end(w->at + 1, w->end);
    if (!nul) {
        return -1;
    }
    e->name_len = (uint32_t)((const char *)nul - e->name);
    e->v.p = nul + 1;
    uint8_t fixed = mrs_fixed_size[e->v.type];
    int64_t n = fixed != 0x80 && fixed <= w->end - e->v.p
                    ? fixed
                    : mrs_value_size_quick(e->v.type, e->v.p, (uint64_t)(w->end - e->v.p));
    if (n < 0) {
        return -1;
    }
    e->v.n = (uint32_t)n;
    w->at = e->v.p + n;
    MRS_ASSERT(w->at <= w->end);
    return 1;
}

/* The first field of this name; false (and e->v missing) if there is none. One level, no dots. */
bool mrs_doc_find(struct mrs_view d, const char *name, uint32_t name_len, struct mrs_elem *e);
/* Value of the first field of this C-string name, or missing. */
struct mrs_val mrs_doc_get(struct mrs_view d, const char *name);
/* The number of fields (elements of an array), up to the first damaged one. */
uint32_t mrs_doc_count(struct mrs_view d);
static inline uint32_t
mrs_val_count(struct mrs_val v) /* for a DOCUMENT or ARRAY */
{
    return mrs_doc_count(mrs_val_view(v));
}

static inline bool
mrs_name_is(const struct mrs_elem *e, const char *name, uint32_t name_len)
{
    return e->name_len == name_len && mrs_same_short(e->name, name, name_len);
}

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* shape.h - `fields` and `drop`: the projection of a raw document in a step; and arrays built as bytes.
 *
 * Used by every step that makes one document from another (embed, extract, copy, move). A shape is immutable; the state
 * owns what it compiled. */
#ifndef MRSI_SHAPE_H
#define MRSI_SHAPE_H

#include "args.h"
#include "kernel.h"
#include "mongoreshape/context.h"

/* What happens if an expression, cast or dotted write fails; in the order of MRSI_ERRORS_CHOICES. */
enum mrsi_errors { MRSI_ERRORS_REFUSE, MRSI_ERRORS_KEEP, MRSI_ERRORS_NULL, MRSI_ERRORS_DROP };
#define MRSI_ERRORS_CHOICES "refuse|keep|null|drop"
/* Key of steps that count each document of from; the plan loader inserts a step before this one (load.c). Links and
 * trees refuse equal ones themselves. */
#define MRSI_TWINS_KEY                                                                                               \
    "twins", MRS_ARG_CHOICE, false, "all|refuse|first",                                                              \
        "documents of from with equal _ids: all count, all are refused, or the first counts"

#define MRSI_TWIN_NODES_KEY                                                                                          \
    "twins", MRS_ARG_CHOICE, false, "refuse|first", "documents with equal _ids: all are refused, or the first counts"

struct mrsi_shape {
    struct mrsi_fields fields;
    struct mrsi_paths drop;
    struct mrs_projection *keep, *leave; /* NULL if only plain names are used */
    struct mrs_edit *nested;             /* map with a dotted name */
    bool fields_flat, drop_flat;         /* top-level names only */
    const char *fields_key, *drop_key;   /* keys of the plan, for refusals */
};

/* Reads both keys (each may be absent). False: error in the plan. */
bool mrsi_shape_read(struct mrsi_read *r, struct mrsi_slot fields, struct mrsi_slot drop, struct mrsi_shape *out);
/* The second part of it, if the caller has read `fields` and `drop` of *out. */
bool mrsi_shape_ready(struct mrsi_read *r, struct mrsi_slot fields, struct mrsi_slot drop, struct mrsi_shape *out);
static inline bool
mrsi_shape_is_set(const struct mrsi_shape *s)
{
    return s->fields.present || s->drop.n > 0;
}

struct mrsi_shaping {
    struct mrs_ctx *c;
    const struct mrs_val *vars; /* the step's own variables; NULL: none */
    enum mrsi_errors errors;
    bool *failed;               /* NULL, or one for each name of a map: its expression failed */
    uint32_t first;             /* index of the first name in `fallible` of struct mrs_desc */
};
/* Appends the projected document to out. OK; SKIP: refused (c->err is set); DEAD. If not OK, out is unchanged. */
enum mrs_status mrsi_shape_run(const struct mrsi_shape *s, const struct mrsi_shaping *how, struct mrs_view doc,
                               struct mrs_buf *out);
/* Does `drop` remove a field of the map `fields`, or a part of it? Then no index follows it. */
bool mrsi_shape_drops(const struct mrsi_shape *s, const struct mrs_path *p);
/* The path of a value of the document after the projection; NULL: gone. In the arena. */
const char *mrsi_shape_path(const struct mrsi_shape *s, struct mrs_arena *a, const char *path);

/* ---- names of one level ----
 *
 * Nearly all documents of a collection have the same names in the same order. A hash of their bytes, lengths and order
 * tells whether a level equals one that was found to have no duplicates (struct mrs_ctx, `known`). */
struct mrsi_name_set {
    uint64_t names;
};
static inline void
mrsi_name_set_begin(struct mrsi_name_set *s)
{
    s->names = 0x9E3779B97F4A7C15ull;
}
static inline void
mrsi_name_set_mix(struct mrsi_name_set *s, uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)(s->names ^ a) * (b ^ 0xC2B2AE3D27D4EB4Full);
    s->names = (uint64_t)m ^ (uint64_t)(m >> 64) ^ a;
}
static inline void
mrsi_name_set_add(struct mrsi_name_set *s, const struct mrs_elem *e)
{
    const uint8_t *p = (const uint8_t *)e->name;
    uint32_t n = e->name_len;
    for (; n > 8; n -= 8, p += 8) {
        mrsi_name_set_mix(s, mrs_le64(p), e->name_len);
    }
    uint64_t rest = n == 8  ? mrs_le64(p)
                    : n > 3 ? mrs_le32(p) | (uint64_t)mrs_le32(p + n - 4) << 32
                    : n > 0 ? p[0] | (uint64_t)p[n >> 1] << 8 | (uint64_t)p[n - 1] << 16
                            : 0;
    mrsi_name_set_mix(s, rest, (uint64_t)e->name_len << 32);
}
/* Is the level d, all of whose names were added, free of duplicate names? */
bool mrsi_name_set_good(const struct mrsi_name_set *s, struct mrs_ctx *c, struct mrs_view d);
/* SKIP if it is not. */
enum mrs_status mrsi_name_set_check(const struct mrsi_name_set *s, struct mrs_ctx *c, struct mrs_view d);

/* ---- arrays built as bytes ---- */
struct mrsi_shape_items {
    struct mrs_buf *buf;
    size_t start;  /* offset of the array's length */
    char name[12]; /* next index in decimal digits and a NUL */
    uint32_t name_len;
};
void mrsi_items_open(struct mrsi_shape_items *it, struct mrs_buf *buf);
void mrsi_items_close(struct mrsi_shape_items *it);
void mrsi_items_carry(struct mrsi_shape_items *it); /* the next index if the last digit is 9 */
static inline void
mrsi_items_step(struct mrsi_shape_items *it) /* the next index */
{
    if (it->name[it->name_len - 1] != '9') {
        it->name[it->name_len - 1]++;
    } else {
        mrsi_items_carry(it);
    }
}
/* Appends one value as the next item. */
static inline void
mrsi_items_add(struct mrsi_shape_items *it, struct mrs_val v)
{
    uint8_t *at = it->buf->bad ? NULL : mrs_buf_take(it->buf, (size_t)it->name_len + 2 + v.n);
    if (!at) {
        return;
    }
    *at++ = v.type;
    memcpy(at, it->name, it->name_len + 1);
    if (v.n) {
        memcpy(at + it->name_len + 1, v.p, v.n);
    }
    mrsi_items_step(it);
}
/* A closed array as a value; valid until the buffer changes. */
static inline struct mrs_val
mrsi_items_val(const struct mrsi_shape_items *it)
{
    struct mrs_val v = {it->buf->p + it->start, (uint32_t)(it->buf->n - it->start), MRS_ARRAY};
    return v;
}
/* Appends an element's header: type, name and NUL. */
static inline void
mrsi_put_head(struct mrs_buf *b, uint8_t type, const char *name, uint32_t len)
{
    uint8_t *at = b->bad ? NULL : mrs_buf_take(b, (size_t)len + 2);
    if (at) {
        *at = type;
        memcpy(at + 1, name, len);
        at[len + 1] = 0;
    }
}
/* Appends a complete element. */
static inline void
mrsi_put_elem(struct mrs_buf *b, const char *name, uint32_t len, struct mrs_val v)
{
    mrsi_put_head(b, v.type, name, len);
    mrs_buf_put(b, v.p, v.n);
}
static inline void
mrsi_put_text(struct mrs_buf *b, const char *name, uint32_t len, const char *text, uint32_t n)
{
    uint8_t size[4];
    mrs_put32(size, n + 1);
    mrsi_put_head(b, MRS_STRING, name, len);
    mrs_buf_put(b, size, 4);
    mrs_buf_put(b, text, n);
    mrs_buf_byte(b, 0);
}
/* Opens a document or array at the end of b: returns its offset for mrsi_put_close, which writes the final NUL and the
 * length. */
static inline size_t
mrsi_put_open(struct mrs_buf *b)
{
    size_t at = b->n;
    mrs_buf_put(b, "\0\0\0\0", 4);
    return at;
}
static inline void
mrsi_put_close(struct mrs_buf *b, size_t at)
{
    mrs_buf_byte(b, 0);
    if (!b->bad) {
        mrs_put32(b->p + at, (uint32_t)(b->n - at));
    }
}
static inline struct mrs_view
mrsi_buf_view(const struct mrs_buf *b, size_t at)
{
    struct mrs_view d = {at ? b->p + at : b->p, (uint32_t)(b->n - at)}; /* p is NULL if the buffer was never written */
    return d;
}
/* Converts a buffer's failure for a document: SKIP above the maximum size, DEAD if memory is out. Clears the failure
 * and truncates the buffer to `to`. */
enum mrs_status mrsi_buf_failed(struct mrs_buf *b, size_t to, struct mrs_ctx *c, const char *where);
static inline enum mrs_status
mrsi_buf_end(struct mrs_buf *b, size_t to, struct mrs_ctx *c, const char *where) /* OK, or that */
{
    return b->bad ? mrsi_buf_failed(b, to, c, where) : MRS_OK;
}

#endif

/* shape.h - `fields` and `drop` on a raw document: what a step takes out of it; and arrays put together as bytes.
 *
 * Used by every step that makes one document out of another (embed, extract, copy, move). A shape is immutable; what
 * it compiled belongs to the keeper of the state. */
#ifndef MRSI_SHAPE_H
#define MRSI_SHAPE_H

#include "args.h"
#include "kernel.h"

/* What becomes of a value whose expression, cast or dotted write fails; in the order of MRSI_ERRORS_CHOICES. */
enum mrsi_errors { MRSI_ERRORS_REFUSE, MRSI_ERRORS_KEEP, MRSI_ERRORS_NULL, MRSI_ERRORS_DROP };
#define MRSI_ERRORS_CHOICES "refuse|keep|null|drop"

struct mrsi_shape {
    struct mrsi_fields fields;
    struct mrsi_paths drop;
    struct mrs_projection *keep, *leave; /* NULL where plain names do */
    struct mrs_edit *nested;             /* map with a dotted name */
    bool fields_flat, drop_flat;         /* top-level names only */
    const char *fields_key, *drop_key;   /* keys of the plan, for refusals */
};

/* Reads both keys (each may be absent). False where something was wrong. */
bool mrsi_shape_read(struct mrsi_read *r, struct mrsi_slot fields, struct mrsi_slot drop, struct mrsi_shape *out);
static inline bool
mrsi_shape_given(const struct mrsi_shape *s)
{
    return s->fields.given || s->drop.n > 0;
}

struct mrsi_shaping {
    struct mrs_ctx *c;
    const struct mrs_val *vars; /* the step's own variables; NULL where it has none */
    enum mrsi_errors errors;
    bool *failed;               /* where not NULL: one for each name of a map, set where its expression failed */
};
/* Appends the shaped document to out. OK; SKIP: refused (c->err filled); DEAD. Where it is not OK out is as long
 * as before. */
enum mrs_status mrsi_shape_run(const struct mrsi_shape *s, const struct mrsi_shaping *how, struct mrs_view doc,
                               struct mrs_buf *out);
/* The name under which the value at a path of the document is found in what the shape makes of it; NULL where it
 * is gone. In the arena. */
const char *mrsi_shape_path(const struct mrsi_shape *s, struct mrs_arena *a, const char *path);

/* ---- names of one level: doubles found at the price of a few instructions a field ---- */
enum { MRSI_SEEN_MOST = 32 };
struct mrsi_seen { /* {.n = 0}: none yet */
    uint32_t hash[MRSI_SEEN_MOST]; /* of the names so far, none of them 0 */
    uint32_t same __attribute__((vector_size(16))); /* not 0: two names may be equal, look closer */
    uint32_t n;
};
/* Of the first and the last bytes of a name (which overlap in a short one) and its length. */
static inline uint32_t
mrsi_seen_hash(const char *name, uint32_t len)
{
    uint64_t a = 0, b = 0;
    if (len >= 8) {
        memcpy(&a, name, 8);
        memcpy(&b, name + len - 8, 8);
    } else if (len >= 4) {
        a = mrs_le32((const uint8_t *)name);
        b = mrs_le32((const uint8_t *)name + len - 4);
    } else if (len) {
        a = (uint8_t)name[0];
        b = (uint64_t)((uint8_t)name[len >> 1] << 8 | (uint8_t)name[len - 1]);
    }
    a = (a ^ len) * 0x9E3779B97F4A7C15ull + b * 0xC2B2AE3D27D4EB4Full;
    return (uint32_t)(a >> 32) | 1u;
}
static inline void
mrsi_seen_add(struct mrsi_seen *s, const struct mrs_elem *e)
{
    uint32_t h = mrsi_seen_hash(e->name, e->name_len);
    uint32_t all __attribute__((vector_size(16))) = {h, h, h, h}, four __attribute__((vector_size(16)));
    for (uint32_t i = 0; i < s->n; i += 4) {
        memcpy(&four, s->hash + i, sizeof four);
        s->same |= (uint32_t __attribute__((vector_size(16))))(four == all);
    }
    if (s->n < MRSI_SEEN_MOST) {
        s->hash[s->n++] = h;
    } else {
        s->same |= all; /* so many that only a closer look tells */
    }
}
static inline bool
mrsi_seen_suspect(const struct mrsi_seen *s)
{
    return (s->same[0] | s->same[1] | s->same[2] | s->same[3]) != 0;
}
/* SKIP where the level d, all of whose names were added, holds a name twice. */
enum mrs_status mrsi_seen_check(const struct mrsi_seen *s, struct mrs_ctx *c, struct mrs_view d);

/* ---- arrays put together as bytes ---- */
struct mrsi_items {
    struct mrs_buf *buf;
    size_t start;  /* of the array's length word */
    char name[12]; /* next index in decimal digits and a NUL */
    uint32_t name_len;
};
void mrsi_items_open(struct mrsi_items *it, struct mrs_buf *buf);
void mrsi_items_close(struct mrsi_items *it);
void mrsi_items_carry(struct mrsi_items *it); /* the next index where the last digit is 9 */
/* Appends one value as the next item. */
static inline void
mrsi_items_add(struct mrsi_items *it, struct mrs_val v)
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
    if (it->name[it->name_len - 1] != '9') {
        it->name[it->name_len - 1]++;
    } else {
        mrsi_items_carry(it);
    }
}
/* A closed one as a value; lives until the buffer changes. */
static inline struct mrs_val
mrsi_items_val(const struct mrsi_items *it)
{
    struct mrs_val v = {it->buf->p + it->start, (uint32_t)(it->buf->n - it->start), MRS_ARRAY};
    return v;
}
/* Appends the head of an element: type, name and NUL. */
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
/* Appends a whole element. */
static inline void
mrsi_put_elem(struct mrs_buf *b, const char *name, uint32_t len, struct mrs_val v)
{
    mrsi_put_head(b, v.type, name, len);
    mrs_buf_put(b, v.p, v.n);
}
/* Opens a document or array at the end of b: returns where, for mrsi_put_close, which writes the final NUL and
 * the length. */
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
    struct mrs_view d = {b->p + at, (uint32_t)(b->n - at)};
    return d;
}
/* OK, or what a buffer's failure means for a document: SKIP over the ceiling, DEAD without memory. The ceiling
 * is forgotten and the buffer cut back to `to`. */
enum mrs_status mrsi_buf_end(struct mrs_buf *b, size_t to, struct mrs_ctx *c, const char *where);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* doc.h - BSON as bytes: views, values, a bounds-checked walk, a builder.
 *
 * A view or a value owns nothing: it points into somebody's bytes and lives as long as they do. Nothing here
 * decodes more than it is asked for. Specification: bsonspec.org 1.1; limits and ranks: MongoDB 8.2.
 * Threads: everything is a pure function of its arguments. */
#ifndef MONGORESHAPE_DOC_H
#define MONGORESHAPE_DOC_H

#include "mongoreshape/limits.h"
#include "mongoreshape/mem.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types of the specification; MRS_MISSING (no element at all) is ours. */
enum mrs_type {
    MRS_MISSING = 0x00,
    MRS_DOUBLE = 0x01,
    MRS_STRING = 0x02,
    MRS_DOCUMENT = 0x03,
    MRS_ARRAY = 0x04,
    MRS_BINARY = 0x05,
    MRS_UNDEFINED = 0x06,
    MRS_OBJECTID = 0x07,
    MRS_BOOL = 0x08,
    MRS_DATE = 0x09,
    MRS_NULL = 0x0A,
    MRS_REGEX = 0x0B,
    MRS_DBPOINTER = 0x0C,
    MRS_CODE = 0x0D,
    MRS_SYMBOL = 0x0E,
    MRS_CODE_W_SCOPE = 0x0F,
    MRS_INT32 = 0x10,
    MRS_TIMESTAMP = 0x11,
    MRS_INT64 = 0x12,
    MRS_DECIMAL128 = 0x13,
    MRS_MAXKEY = 0x7F,
    MRS_MINKEY = 0xFF
};

/* A whole document (or array): p[0..n) with its length word and final NUL. */
struct mrs_view {
    const uint8_t *p;
    uint32_t n;
};

/* The value bytes of one element, as they stand behind its name. type MRS_MISSING: no value (p NULL, n 0).
 * A document or array value has n equal to its own length word. */
struct mrs_val {
    const uint8_t *p;
    uint32_t n;
    uint8_t type; /* enum mrs_type */
};

/* One element: e.p is its type byte, the whole element is [p, v.p + v.n). name ends in NUL. */
struct mrs_elem {
    const uint8_t *p;
    const char *name;
    uint32_t name_len;
    struct mrs_val v;
};

/* ---- little-endian loads and stores ---- */
static inline uint32_t
mrs_le32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static inline uint64_t
mrs_le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

static inline void
mrs_put32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, 4);
}

static inline void
mrs_put64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, 8);
}

/* ---- values ---- */
static inline struct mrs_val
mrs_missing(void)
{
    struct mrs_val v = {NULL, 0, MRS_MISSING};
    return v;
}

static inline bool
mrs_is_nullish(struct mrs_val v) /* missing, null or undefined */
{
    return v.type == MRS_MISSING || v.type == MRS_NULL || v.type == MRS_UNDEFINED;
}

static inline bool
mrs_is_number(struct mrs_val v)
{
    return v.type == MRS_DOUBLE || v.type == MRS_INT32 || v.type == MRS_INT64 || v.type == MRS_DECIMAL128;
}

static inline struct mrs_view
mrs_val_view(struct mrs_val v) /* of a DOCUMENT or ARRAY */
{
    struct mrs_view d = {v.p, v.n};
    return d;
}

static inline struct mrs_val
mrs_view_val(struct mrs_view d)
{
    struct mrs_val v = {d.p, d.n, MRS_DOCUMENT};
    return v;
}

/* Text of a STRING, SYMBOL or CODE: bytes may hold NUL; n is without the final NUL. */
static inline const char *
mrs_val_text(struct mrs_val v, uint32_t *n)
{
    *n = v.n - 5;
    return (const char *)v.p + 4;
}

/* Whether v is a STRING of this text, without NULs. */
static inline bool
mrs_val_is_text(struct mrs_val v, const char *text)
{
    uint32_t n = (uint32_t)strlen(text);
    return v.type == MRS_STRING && v.n == n + 5 && memcmp(v.p + 4, text, n) == 0;
}

static inline int32_t
mrs_val_i32(struct mrs_val v)
{
    return (int32_t)mrs_le32(v.p);
}

static inline int64_t
mrs_val_i64(struct mrs_val v) /* INT64, DATE; TIMESTAMP as its 64 bits */
{
    return (int64_t)mrs_le64(v.p);
}

static inline double
mrs_val_double(struct mrs_val v)
{
    double d;
    memcpy(&d, v.p, 8);
    return d;
}

/* Size in bytes of a value of this type whose first byte is at p with `room` bytes behind it; negative: damaged.
 * Checks the frame of the value only (lengths, final NULs), not what nested documents hold. */
int64_t mrs_value_size(uint8_t type, const uint8_t *p, uint64_t room);

/* The same for the sizes met most often, without a call. */
static inline int64_t
mrs_value_size_quick(uint8_t type, const uint8_t *p, uint64_t room)
{
    if (type == MRS_STRING && room >= 5) {
        uint64_t n = mrs_le32(p);
        return n >= 1 && n <= room - 4 && p[3 + n] == 0 ? 4 + (int64_t)n : -1;
    }
    if ((type == MRS_DOCUMENT || type == MRS_ARRAY) && room >= MRS_DOC_MIN) {
        uint64_t n = mrs_le32(p);
        return n >= MRS_DOC_MIN && n <= room && p[n - 1] == 0 ? (int64_t)n : -1;
    }
    return mrs_value_size(type, p, room);
}

/* ---- walk ---- */
struct mrs_walk {
    const uint8_t *at, *end; /* end: the final NUL of the document */
};

static inline void
mrs_walk_init(struct mrs_walk *w, struct mrs_view d)
{
    w->at = d.p + 4;
    w->end = d.p + d.n - 1;
}

/* Sizes of fixed-size values; 0x80: ask mrs_value_size. */
extern const uint8_t mrs_fixed_size[256];

/* The first NUL of [p, end), or NULL. Names are short: loads of eight bytes find most of them faster than a call of
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
    return 1;
}

/* The first field of this name; false (and e->v missing) where there is none. One level, no dots. */
bool mrs_doc_find(struct mrs_view d, const char *name, uint32_t name_len, struct mrs_elem *e);
/* Value of the first field of this C-string name, or missing. */
struct mrs_val mrs_doc_get(struct mrs_view d, const char *name);
/* How many fields (elements of an array) it has, up to the first that is damaged. */
uint32_t mrs_doc_count(struct mrs_view d);
static inline uint32_t
mrs_val_count(struct mrs_val v) /* of a DOCUMENT or ARRAY */
{
    return mrs_doc_count(mrs_val_view(v));
}

static inline bool
mrs_name_is(const struct mrs_elem *e, const char *name, uint32_t name_len)
{
    return e->name_len == name_len && mrs_same_short(e->name, name, name_len);
}

/* Checks the whole document: lengths, types, final NULs, booleans 0 or 1, nesting up to max_depth, without
 * recursion. UTF-8 is not judged: servers store what is not, and a migration must not lose it. bytes/n: the
 * document and the room it has. FAIL with MRS_E_BSON (byte_off: offset inside the document of the element that is
 * wrong) or MRS_E_LIMIT (depth, size over MRS_DOC_READ_MAX). */
enum mrs_status mrs_doc_check(const uint8_t *bytes, uint64_t n, int max_depth, struct mrs_err *e);

/* The fields at the top of a document, for whoever looks for several of them. */
#define MRS_EVAL_FIELDS_MAX 24
struct mrs_eval_fields {
    uint32_t n;
    bool all; /* the document has no others */
    uint64_t names; /* not 0: documents with this number have the same names in the same order */
    const struct mrs_look *look; /* not NULL: the document has this look */
    struct mrs_elem e[MRS_EVAL_FIELDS_MAX];
};
/* Documents of one look: as long, with the same types, names and lengths of values in the same places. */
#define MRS_LOOK_MAX 512 /* bytes; longer documents have none */
struct mrs_look {
    uint64_t no;             /* of no other look of the same layout */
    uint64_t names;          /* as in struct mrs_eval_fields */
    uint32_t size;           /* of a document; 0: no look is known */
    uint32_t met;            /* size of the last document that had another one */
    uint32_t strange;        /* documents of that size that had another one */
    uint32_t n;
    struct mrs_look_field {
        uint16_t at, value, n; /* where the field and its value begin, bytes of that */
        uint8_t type;
    } field[MRS_EVAL_FIELDS_MAX];
    uint8_t bytes[MRS_LOOK_MAX], mask[MRS_LOOK_MAX]; /* a document, and which of its bits belong to the look */
};
/* What the documents of a thread begin with, one as the other: names, and types of values. Zeroed at first. A document
 * that begins like this is walked sooner, since where a field ends is foreseen; one of a look that is known is not
 * walked. */
struct mrs_layout {
    uint64_t no; /* how often it was learned */
    uint32_t n;
    uint32_t strange; /* documents that were not like this */
    struct mrs_layout_field {
        uint64_t first, last, mask; /* the name with its NUL, as far as eight bytes at either end say it */
        uint8_t size;               /* of that */
        uint8_t type;
        uint8_t value; /* size of the value; 0x80: it has its own */
    } field[MRS_EVAL_FIELDS_MAX];
    uint64_t looks; /* how often one was learned */
    struct mrs_look look[8]; /* by size */
};
/* mrs_doc_check that finds them on its way; of a document with a known look it tells the look alone. layout: NULL, or
 * of the documents before, which were checked with the same max_depth. */
enum mrs_status mrs_doc_check_fields(const uint8_t *bytes, uint64_t n, int max_depth, struct mrs_eval_fields *fields,
                                     struct mrs_layout *layout, struct mrs_err *e);
/* The fields of the document at p, which has the look. */
void mrs_look_fields(const struct mrs_look *k, const uint8_t *p, struct mrs_eval_fields *fields);

/* True where some document in d (any depth) holds a name twice; depth up to MRS_DEPTH_READ. one_level: only d
 * itself. */
bool mrs_doc_has_duplicates(struct mrs_view d, bool one_level);
/* Deepest nesting of d; a flat document has 1. */
int mrs_doc_depth(struct mrs_view d);

extern const uint8_t mrs_empty_bytes[5];
static inline struct mrs_view
mrs_empty_doc(void)
{
    struct mrs_view d = {mrs_empty_bytes, 5};
    return d;
}

/* ---- builder ----
 * Appends elements to a mrs_buf. Documents nest by begin/end; the length word is patched at end.
 * Any failure (memory, ceiling, nesting over MRS_DEPTH_MAX) is remembered in the buffer's bad or in too_deep: ask
 * mrs_build_finish once at the end. */
struct mrs_build {
    struct mrs_buf *buf;
    uint32_t start[MRS_DEPTH_MAX + 4]; /* offsets of open length words, counted from the start of buf */
    uint32_t index[MRS_DEPTH_MAX + 4]; /* next index of an open array */
    int depth;
    bool too_deep;
};
/* Starts a document at the end of buf (which may hold other bytes before). */
void mrs_build_init(struct mrs_build *b, struct mrs_buf *buf);
/* Closes the outermost document; the view points into buf and lives until buf changes.
 * OK; FAIL MRS_E_LIMIT (ceiling, depth); DEAD MRS_E_MEMORY. The size is not compared with MRS_DOC_MAX. */
enum mrs_status mrs_build_finish(struct mrs_build *b, struct mrs_view *doc, struct mrs_err *e);

void mrs_build_val(struct mrs_build *b, const char *name, uint32_t name_len, struct mrs_val v); /* missing: nothing */
void mrs_build_elem(struct mrs_build *b, const struct mrs_elem *e); /* as it is, byte for byte */
void mrs_build_raw(struct mrs_build *b, const uint8_t *elems, size_t n); /* whole elements, byte for byte */
void mrs_build_open(struct mrs_build *b, const char *name, uint32_t name_len, uint8_t type); /* DOCUMENT or ARRAY */
void mrs_build_close(struct mrs_build *b);
/* The same inside an array that is open: the name is the next index. */
void mrs_build_item(struct mrs_build *b, struct mrs_val v); /* missing: nothing */
void mrs_build_item_open(struct mrs_build *b, uint8_t type);
void mrs_build_i32(struct mrs_build *b, const char *name, int32_t v);
void mrs_build_i64(struct mrs_build *b, const char *name, int64_t v);
/* int32 where it fits, else int64 */
void mrs_build_count(struct mrs_build *b, const char *name, uint32_t name_len, uint64_t n);
void mrs_build_bool(struct mrs_build *b, const char *name, bool v);
void mrs_build_double(struct mrs_build *b, const char *name, double v);
void mrs_build_null(struct mrs_build *b, const char *name, uint32_t name_len);
void mrs_build_text(struct mrs_build *b, const char *name, const char *text, uint32_t n);

/* Values made from C numbers; the bytes are put into 16 bytes of the caller (`room`) and live as long as they do. */
struct mrs_val mrs_make_i32(uint8_t room[16], int32_t v);
struct mrs_val mrs_make_i64(uint8_t room[16], int64_t v, uint8_t type); /* INT64, DATE or TIMESTAMP */
struct mrs_val mrs_make_count(uint8_t room[16], uint64_t n);
struct mrs_val mrs_make_double(uint8_t room[16], double v);
struct mrs_val mrs_make_bool(uint8_t room[16], bool v);
struct mrs_val mrs_null(void);
/* A string value in an arena; missing without memory. */
struct mrs_val mrs_make_text(struct mrs_arena *a, const char *text, uint32_t n);
/* A deep copy of a value in an arena; missing stays missing; false without memory. */
bool mrs_val_copy(struct mrs_arena *a, struct mrs_val v, struct mrs_val *out);

/* Decimal digits of n and a NUL, as array index names; returns the number of digits. room: 12 bytes. */
uint32_t mrs_index_name(char room[12], uint32_t n);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - BSON as bytes: views and values.
 *
 * A view or a value owns nothing: it points into the bytes of an owner and lives as long as they do. Functions decode
 * only the requested data. Specification: bsonspec.org 1.1; limits and ranks: MongoDB 8.2. Threads: all functions are
 * pure. */
#ifndef MONGORESHAPE_VIEW_H
#define MONGORESHAPE_VIEW_H

#include "mongoreshape/limits.h"
#include "mongoreshape/mem.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types of the specification; MRS_MISSING (no element) is an addition. */
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

/* A complete document (or array): p[0..n) with its length word and final NUL. */
struct mrs_view {
    const uint8_t *p;
    uint32_t n;
};

/* The value bytes of one element, as they come after its name. type MRS_MISSING: no value (p NULL, n 0).
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
mrs_val_view(struct mrs_val v) /* for a DOCUMENT or ARRAY */
{
    MRS_ASSERT(v.type == MRS_DOCUMENT || v.type == MRS_ARRAY);
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
    MRS_ASSERT((v.type == MRS_STRING || v.type == MRS_SYMBOL || v.type == MRS_CODE) && v.n >= 5);
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
    MRS_ASSERT(v.type == MRS_INT32 && v.n == 4);
    return (int32_t)mrs_le32(v.p);
}

static inline int64_t
mrs_val_i64(struct mrs_val v) /* INT64, DATE; TIMESTAMP as its 64 bits */
{
    MRS_ASSERT((v.type == MRS_INT64 || v.type == MRS_DATE || v.type == MRS_TIMESTAMP) && v.n == 8);
    return (int64_t)mrs_le64(v.p);
}

static inline double
mrs_val_double(struct mrs_val v)
{
    MRS_ASSERT(v.type == MRS_DOUBLE && v.n == 8);
    double d;
    memcpy(&d, v.p, 8);
    return d;
}

/* Size in bytes of a value of this type whose first byte is at p, with `room` bytes available; negative: damaged.
 * Checks the frame of the value only (lengths, final NULs), not nested documents. */
int64_t mrs_value_size(uint8_t type, const uint8_t *p, uint64_t room);

/* mrs_value_size without a call for the most frequent types. */
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

/* For assertions: the frame of a checked document, and whether a value has the length that its type and its bytes
 * define. */
static inline bool
mrs_view_is_framed(struct mrs_view d)
{
    return d.p && d.n >= MRS_DOC_MIN && mrs_le32(d.p) == d.n && d.p[d.n - 1] == 0;
}

static inline bool
mrs_val_is_sized(struct mrs_val v)
{
    return v.type == MRS_MISSING ? v.n == 0 : mrs_value_size(v.type, v.p, v.n) == (int64_t)v.n;
}

/* Checks the whole document: lengths, types, final NULs, booleans 0 or 1, nesting up to max_depth, without recursion.
 * Does not check UTF-8: servers store invalid text, and a migration must not lose it. bytes/n: the document and its
 * available bytes. FAIL with MRS_E_BSON (byte_off: offset inside the document of the damaged element) or MRS_E_LIMIT
 * (depth, size over MRS_DOC_READ_MAX). */
enum mrs_status mrs_doc_check(const uint8_t *bytes, uint64_t n, int max_depth, struct mrs_err *e);

/* True if a document in d (any depth) has duplicate names; depth up to MRS_DEPTH_READ. one_level: only d itself. For a
 * level with thousands of names it is faster with up to 4 MiB of memory, but works without. */
bool mrs_doc_has_duplicates(struct mrs_mem *mem, struct mrs_view d, bool one_level);
/* Deepest nesting of d; a flat document has 1. */
int mrs_doc_depth(struct mrs_view d);

extern const uint8_t mrs_empty_bytes[5];
static inline struct mrs_view
mrs_empty_doc(void)
{
    struct mrs_view d = {mrs_empty_bytes, 5};
    return d;
}

#ifdef __cplusplus
}
#endif
#endif

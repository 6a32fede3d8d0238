/* SPDX-License-Identifier: Apache-2.0 */
/* key.c - the canonical order as bytes: memcmp of two keys is mrs_compare of their values.
 *
 * A value is its rank (one byte) and a self-delimiting payload: fixed sizes, a length before it, or an end mark that no
 * content can contain. Therefore no key is a prefix of another, tuples of keys compare as tuples, and complementing all
 * bytes reverses the order. Numbers: the largest double that is not above the value, as eight bytes whose order is that
 * of doubles; then 0 if it is the value itself, else 1 and the value's decimal digits, which only large int64s and
 * decimals need. Text: unchanged, each NUL followed by FF, two NULs at the end. Documents: per field rank, name,
 * payload, and a last byte below any rank. It must not differ from value_order.c: change both or none. */
#include "decimal.h"
#include "doc_internal.h"

#include "mongoreshape/value.h"

#include <math.h>

#define RANK(type) ((uint8_t)(mrsi_rank[type] + MRS_KEY_RANK))
#define LAST 1 /* after the last field of a document or element of an array */

static inline void
put_be64(uint8_t *p, uint64_t v)
{
    mrs_put64(p, __builtin_bswap64(v));
}

static inline void
put_be32(uint8_t *p, uint32_t v)
{
    mrs_put32(p, __builtin_bswap32(v));
}

static inline uint8_t *
take(struct mrs_buf *out, size_t n)
{
    return out->bad ? NULL : mrs_buf_take(out, n);
}

/* ---- numbers ---- */
static uint64_t
double_bits(double d)
{
    uint64_t u;
    if (isnan(d)) {
        return 0;
    }
    d += 0.0; /* -0.0 becomes 0.0 */
    memcpy(&u, &d, 8);
    return u >> 63 ? ~u : u | 1ull << 63;
}

static void
put_double(struct mrs_buf *out, double d, bool exact)
{
    uint8_t *p = take(out, 9);
    if (p) {
        put_be64(p, double_bits(d));
        p[8] = !exact;
    }
}

/* Digits of a number that is no double: exponent, then the coefficient at full width, complemented below zero. */
static void
put_digits(struct mrs_buf *out, struct mrsi_dec d)
{
    uint8_t *p = take(out, 18);
    if (!p) {
        return;
    }
    int n = mrsi_dec_digits(d.coef);
    uint16_t exponent = (uint16_t)(d.exp + n + 0x4000);
    mrsi_u128 coef = d.coef * mrsi_pow10(MRSI_DEC_DIGITS - n);
    if (d.negative) {
        exponent = (uint16_t)~exponent;
        coef = ~coef;
    }
    p[0] = (uint8_t)(exponent >> 8);
    p[1] = (uint8_t)exponent;
    put_be64(p + 2, (uint64_t)(coef >> 64));
    put_be64(p + 10, (uint64_t)coef);
}

static void
put_i64(struct mrs_buf *out, int64_t i)
{
    uint64_t size = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    if (size <= 1ull << 53) {
        put_double(out, (double)i, true);
        return;
    }
    uint64_t low = (1ull << (11 - __builtin_clzll(size))) - 1; /* bits that a double of this size cannot hold */
    uint64_t rest = (uint64_t)i & low;
    put_double(out, (double)(int64_t)((uint64_t)i & ~low), rest == 0);
    if (rest) {
        struct mrsi_dec d = {size, 0, i < 0, false, false};
        put_digits(out, d);
    }
}

static void
put_decimal(struct mrs_buf *out, const uint8_t *p)
{
    struct mrsi_dec d = mrsi_dec_parts(p);
    bool exact = true;
    double below = d.nan ? NAN : d.infinite ? (d.negative ? -INFINITY : INFINITY) : mrsi_dec_floor(p, &exact);
    put_double(out, below, exact);
    if (!exact) {
        put_digits(out, d);
    }
}

/* ---- bytes ---- */
static void
put_text(struct mrs_buf *out, const uint8_t *p, uint32_t n)
{
    MRS_ASSERT(p || n == 0);
    const uint8_t *end = p + n, *nul;
    while (n && (nul = memchr(p, 0, (size_t)(end - p))) != NULL) {
        mrs_buf_put(out, p, (size_t)(nul - p));
        mrs_buf_put(out, "\x00\xff", 2);
        p = nul + 1;
        n = (uint32_t)(end - p);
    }
    uint8_t *to = take(out, (size_t)n + 2);
    if (to) {
        mrs_copy_short(to, p, n);
        to[n] = 0;
        to[n + 1] = 0;
    }
}

static void
put_text_val(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(v.n >= 5);
    uint32_t n;
    const char *text = mrs_val_text(v, &n);
    put_text(out, (const uint8_t *)text, n);
}

static void
put_binary(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(v.type == MRS_BINARY && v.n >= 5);
    uint8_t *p = take(out, v.n);
    if (p) {
        put_be32(p, v.n - 5);
        memcpy(p + 4, v.p + 4, v.n - 4);
    }
}

static void
put_pointer(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(v.type == MRS_DBPOINTER && v.n >= 17);
    uint8_t *p = take(out, 16);
    if (p) {
        put_be32(p, v.n);
        memcpy(p + 4, v.p + v.n - 12, 12);
    }
}

static void
put_u64(struct mrs_buf *out, uint64_t v)
{
    uint8_t *p = take(out, 8);
    if (p) {
        put_be64(p, v);
    }
}

/* Everything after the rank; of a scope only the code, of documents and arrays nothing. */
static void
put_payload(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    switch (v.type) {
    case MRS_DOUBLE:
        put_double(out, mrs_val_double(v), true);
        break;
    case MRS_INT32:
        put_double(out, mrs_val_i32(v), true);
        break;
    case MRS_INT64:
        put_i64(out, mrs_val_i64(v));
        break;
    case MRS_DECIMAL128:
        put_decimal(out, v.p);
        break;
    case MRS_STRING:
    case MRS_SYMBOL:
    case MRS_CODE:
        put_text_val(out, v);
        break;
    case MRS_CODE_W_SCOPE:
        put_text_val(out, mrsi_scope_code(v));
        break;
    case MRS_BINARY:
        put_binary(out, v);
        break;
    case MRS_OBJECTID:
        mrs_buf_put(out, v.p, 12);
        break;
    case MRS_REGEX:
        mrs_buf_put(out, v.p, v.n);
        break;
    case MRS_BOOL:
        mrs_buf_byte(out, v.p[0] != 0);
        break;
    case MRS_DATE:
        put_u64(out, mrs_le64(v.p) ^ 1ull << 63);
        break;
    case MRS_TIMESTAMP:
        put_u64(out, mrs_le64(v.p));
        break;
    case MRS_DBPOINTER:
        put_pointer(out, v);
        break;
    default:
        break;
    }
}

struct key_level {
    struct mrs_walk w;
    bool names;
};

static void
enter(struct key_level *l, struct mrs_val v)
{
    mrs_walk_init(&l->w, v.type == MRS_CODE_W_SCOPE ? mrsi_scope(v) : mrs_val_view(v));
    l->names = v.type != MRS_ARRAY;
}

/* The bytes before the payload of a field. */
static inline void
put_name(struct mrs_buf *out, uint8_t type, const char *name, uint32_t name_len)
{
    MRS_ASSERT(name || name_len == 0);
    uint8_t *p = take(out, (size_t)name_len + 2);
    if (p) {
        *p = RANK(type);
        mrs_copy_short(p + 1, name, name_len);
        p[name_len + 1] = 0;
    }
}

/* around: number of levels that contain v. */
static __attribute__((noinline)) void
put_nested(struct mrs_buf *out, struct mrs_val v, int around)
{
    MRS_ASSERT(mrsi_is_nested(v.type));
    struct key_level stack[MRS_DEPTH_READ];
    struct mrs_elem e;
    int depth = 1;
    enter(&stack[0], v);
    while (depth > 0 && !out->bad) {
        struct key_level *l = &stack[depth - 1];
        if (mrs_walk_next(&l->w, &e) <= 0) {
            mrs_buf_byte(out, LAST);
            depth--;
            continue;
        }
        if (l->names) {
            put_name(out, e.v.type, e.name, e.name_len);
        } else {
            mrs_buf_byte(out, RANK(e.v.type));
        }
        put_payload(out, e.v);
        if (mrsi_is_nested(e.v.type)) {
            if (depth == MRS_DEPTH_READ - around) {
                out->bad = out->bad ? out->bad : 2;
                return;
            }
            enter(&stack[depth++], e.v);
        }
    }
}

static __attribute__((noinline)) void
append_any(struct mrs_buf *out, struct mrs_val v, bool descending)
{
    size_t start = out->n;
    mrs_buf_byte(out, RANK(v.type));
    put_payload(out, v);
    if (mrsi_is_nested(v.type)) {
        put_nested(out, v, 0);
    }
    if (descending && !out->bad) {
        for (size_t i = start; i < out->n; i++) {
            out->p[i] = (uint8_t)~out->p[i];
        }
    }
}

void
mrs_key_append(struct mrs_buf *out, struct mrs_val v, bool descending)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    uint8_t *p;
    if (v.type == MRS_OBJECTID && !descending) {
        p = take(out, 13);
        if (p) {
            p[0] = RANK(MRS_OBJECTID);
            memcpy(p + 1, v.p, 12);
        }
    } else if (v.type == MRS_DATE && !descending) {
        p = take(out, MRS_KEY_DATE);
        if (p) {
            mrs_key_date(p, (int64_t)mrs_le64(v.p));
        }
    } else {
        append_any(out, v, descending);
    }
}

void
mrs_key_open(struct mrs_buf *out)
{
    mrs_buf_byte(out, RANK(MRS_DOCUMENT));
}

void
mrs_key_field(struct mrs_buf *out, const char *name, uint32_t name_len, struct mrs_val v)
{
    MRS_ASSERT(name && mrs_val_is_sized(v));
    put_name(out, v.type, name, name_len);
    put_payload(out, v);
    if (mrsi_is_nested(v.type)) {
        put_nested(out, v, 1);
    }
}

void
mrs_key_close(struct mrs_buf *out)
{
    mrs_buf_byte(out, LAST);
}

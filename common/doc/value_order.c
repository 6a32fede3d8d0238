/* SPDX-License-Identifier: Apache-2.0 */
/* value_order.c - MongoDB's canonical order of values.
 *
 * Rank of the type first, then the value within the rank; numbers of all four types by their exact mathematical value,
 * never by a lossy conversion between types. Documents and arrays are compared with a stack of walks over both sides,
 * so that nesting costs memory of a fixed size and no calls. key.c writes the same order as bytes: a change of one is a
 * change of the other, and tests/unit/doc/t_value.c compares them. It must not know collations: they are refused where
 * plans are checked. */
#include "decimal.h"
#include "doc_internal.h"

#include "mongoreshape/value.h"

#include <math.h>

const int8_t mrsi_rank[256] = {
    [MRS_MINKEY] = -1,  [MRS_MISSING] = 0,     [MRS_UNDEFINED] = 0,  [MRS_NULL] = 5,       [MRS_DOUBLE] = 10,
    [MRS_INT32] = 10,   [MRS_INT64] = 10,      [MRS_DECIMAL128] = 10, [MRS_STRING] = 15,   [MRS_SYMBOL] = 15,
    [MRS_DOCUMENT] = 20, [MRS_ARRAY] = 25,     [MRS_BINARY] = 30,    [MRS_OBJECTID] = 35,  [MRS_BOOL] = 40,
    [MRS_DATE] = MRS_DATE_RANK, [MRS_TIMESTAMP] = 47, [MRS_REGEX] = 50, [MRS_DBPOINTER] = 55, [MRS_CODE] = 60,
    [MRS_CODE_W_SCOPE] = 65, [MRS_MAXKEY] = 127};

int
mrs_type_rank(uint8_t type)
{
    return mrsi_rank[type];
}

const char *
mrs_type_name(uint8_t type)
{
    static const char *const name[] = {"missing", "double", "string", "object", "array", "binData", "undefined",
                                       "objectId", "bool", "date", "null", "regex", "dbPointer", "javascript",
                                       "symbol", "javascriptWithScope", "int", "timestamp", "long", "decimal"};
    if (type < sizeof name / sizeof name[0]) {
        return name[type];
    }
    return type == MRS_MINKEY ? "minKey" : type == MRS_MAXKEY ? "maxKey" : "unknown";
}

static inline int
order_i64(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static inline int
order_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static inline int
sign_of(int c)
{
    return c < 0 ? -1 : c > 0;
}

/* ---- numbers ---- */
static int
order_double(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return !!isnan(b) - !!isnan(a);
    }
    return a < b ? -1 : a > b;
}

static int
order_int_double(int64_t i, double d)
{
    if (isnan(d) || d < -0x1p63) {
        return 1;
    }
    if (d >= 0x1p63) {
        return -1;
    }
    int64_t whole = (int64_t)d;
    if (i != whole) {
        return i < whole ? -1 : 1;
    }
    double rest = d - (double)whole;
    return rest > 0 ? -1 : rest < 0;
}

static int
order_decimal_double(const uint8_t *dec, double d)
{
    struct mrsi_dec parts = mrsi_dec_parts(dec);
    bool exact;
    if (parts.nan || isnan(d)) {
        return !!isnan(d) - parts.nan;
    }
    double below = mrsi_dec_floor(dec, &exact);
    if (below != d) {
        return below < d ? -1 : 1;
    }
    return exact ? 0 : 1;
}

static int64_t
integer_of(struct mrs_val v)
{
    return v.type == MRS_INT32 ? mrs_val_i32(v) : mrs_val_i64(v);
}

static int
order_decimal(struct mrs_val dec, struct mrs_val v)
{
    MRS_ASSERT(dec.type == MRS_DECIMAL128 && mrs_is_number(v));
    uint8_t made[16];
    if (v.type == MRS_DOUBLE) {
        return order_decimal_double(dec.p, mrs_val_double(v));
    }
    if (v.type == MRS_DECIMAL128) {
        return mrsi_dec_compare(dec.p, v.p);
    }
    mrsi_dec_from_i64(integer_of(v), made);
    return mrsi_dec_compare(dec.p, made);
}

static int
order_number(struct mrs_val a, struct mrs_val b)
{
    MRS_ASSERT(mrs_is_number(a) && mrs_is_number(b));
    if (a.type == MRS_DECIMAL128) {
        return order_decimal(a, b);
    }
    if (b.type == MRS_DECIMAL128) {
        return -order_decimal(b, a);
    }
    if (a.type == MRS_DOUBLE) {
        return b.type == MRS_DOUBLE ? order_double(mrs_val_double(a), mrs_val_double(b))
                                    : -order_int_double(integer_of(b), mrs_val_double(a));
    }
    return b.type == MRS_DOUBLE ? order_int_double(integer_of(a), mrs_val_double(b))
                                : order_i64(integer_of(a), integer_of(b));
}

/* ---- the other scalars ---- */
static int
order_bytes(const void *a, uint32_t na, const void *b, uint32_t nb)
{
    MRS_ASSERT((a || na == 0) && (b || nb == 0));
    uint32_t n = na < nb ? na : nb;
    int c = n ? memcmp(a, b, n) : 0;
    return c ? sign_of(c) : na < nb ? -1 : na > nb;
}

static int
order_text(struct mrs_val a, struct mrs_val b)
{
    uint32_t na, nb;
    const char *ta = mrs_val_text(a, &na), *tb = mrs_val_text(b, &nb);
    return order_bytes(ta, na, tb, nb);
}

static int
order_binary(struct mrs_val a, struct mrs_val b)
{
    MRS_ASSERT(a.n >= 5 && b.n >= 5);
    if (a.n != b.n) {
        return a.n < b.n ? -1 : 1;
    }
    return sign_of(memcmp(a.p + 4, b.p + 4, a.n - 4));
}

static int
order_regex(struct mrs_val a, struct mrs_val b)
{
    MRS_ASSERT(a.type == MRS_REGEX && b.type == MRS_REGEX);
    const char *pa = (const char *)a.p, *pb = (const char *)b.p;
    int c = strcmp(pa, pb);
    return c ? sign_of(c) : sign_of(strcmp(pa + strlen(pa) + 1, pb + strlen(pb) + 1));
}

/* The server compares the length of the namespace and the id only. */
static int
order_pointer(struct mrs_val a, struct mrs_val b)
{
    MRS_ASSERT(a.n >= 17 && b.n >= 17);
    if (a.n != b.n) {
        return a.n < b.n ? -1 : 1;
    }
    return sign_of(memcmp(a.p + a.n - 12, b.p + b.n - 12, 12));
}

/* Compares two values of one rank; of documents and arrays nothing, of scopes only the code. */
static int
order_scalar(struct mrs_val a, struct mrs_val b)
{
    switch (a.type) {
    case MRS_DOUBLE:
    case MRS_INT32:
    case MRS_INT64:
    case MRS_DECIMAL128:
        return order_number(a, b);
    case MRS_STRING:
    case MRS_SYMBOL:
    case MRS_CODE:
        return order_text(a, b);
    case MRS_BINARY:
        return order_binary(a, b);
    case MRS_OBJECTID:
        return sign_of(memcmp(a.p, b.p, 12));
    case MRS_BOOL:
        return (a.p[0] != 0) - (b.p[0] != 0);
    case MRS_DATE:
        return order_i64(mrs_val_i64(a), mrs_val_i64(b));
    case MRS_TIMESTAMP:
        return order_u64(mrs_le64(a.p), mrs_le64(b.p));
    case MRS_REGEX:
        return order_regex(a, b);
    case MRS_DBPOINTER:
        return order_pointer(a, b);
    case MRS_CODE_W_SCOPE:
        return order_text(mrsi_scope_code(a), mrsi_scope_code(b));
    default:
        return 0;
    }
}

/* ---- nested values ---- */
struct value_order_pair {
    struct mrs_walk a, b;
    bool names; /* documents compare names, arrays do not */
};

static void
enter(struct value_order_pair *f, struct mrs_val a, struct mrs_val b)
{
    bool scope = a.type == MRS_CODE_W_SCOPE;
    mrs_walk_init(&f->a, scope ? mrsi_scope(a) : mrs_val_view(a));
    mrs_walk_init(&f->b, scope ? mrsi_scope(b) : mrs_val_view(b));
    f->names = a.type != MRS_ARRAY;
}

/* Compares two values of one rank; nested documents are walked later. */
static int
order_element(const struct mrs_elem *x, const struct mrs_elem *y, bool names)
{
    int c = mrsi_rank[x->v.type] - mrsi_rank[y->v.type];
    if (c == 0 && names) {
        c = order_bytes(x->name, x->name_len, y->name, y->name_len);
    }
    return c ? sign_of(c) : order_scalar(x->v, y->v);
}

static __attribute__((noinline)) int
order_nested(struct mrs_val a, struct mrs_val b)
{
    MRS_ASSERT(mrsi_is_nested(a.type) && mrsi_is_nested(b.type));
    struct value_order_pair stack[MRS_DEPTH_READ];
    struct mrs_elem x = {0}, y = {0};
    int depth = 1;
    enter(&stack[0], a, b);
    while (depth > 0) {
        struct value_order_pair *f = &stack[depth - 1];
        bool more_a = mrs_walk_next(&f->a, &x) > 0, more_b = mrs_walk_next(&f->b, &y) > 0;
        if (!more_a || !more_b) {
            if (more_a != more_b) {
                return more_a ? 1 : -1;
            }
            depth--;
            continue;
        }
        int c = order_element(&x, &y, f->names);
        if (c) {
            return c;
        }
        if (!mrsi_is_nested(x.v.type)) {
            continue;
        }
        if (depth == MRS_DEPTH_READ) {
            c = order_bytes(x.v.p, x.v.n, y.v.p, y.v.n);
            if (c) {
                return c;
            }
            continue;
        }
        enter(&stack[depth++], x.v, y.v);
    }
    return 0;
}

int
mrs_compare(struct mrs_val a, struct mrs_val b)
{
    MRS_ASSERT(mrs_val_is_sized(a) && mrs_val_is_sized(b));
    int c = mrsi_rank[a.type] - mrsi_rank[b.type];
    if (c) {
        return sign_of(c);
    }
    c = order_scalar(a, b);
    return c == 0 && mrsi_is_nested(a.type) ? order_nested(a, b) : c;
}

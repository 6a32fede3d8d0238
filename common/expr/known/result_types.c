/* SPDX-License-Identifier: Apache-2.0 */
/* result_types.c - the possible result types of an expression, known before there is a document.
 *
 * Known for constants, for literal documents and arrays, for conversions, and for operators with one result type (or
 * null). Unknown for all else: a field may have any type. */
#include "expr/convert.h"
#include <string.h>

#define BIT(type) (1u << (type)) /* mrs_type_bit of a constant that is neither MinKey nor MaxKey */
#define NUL BIT(MRS_NULL)
#define TEXT BIT(MRS_STRING)
#define YES_NO BIT(MRS_BOOL)
#define NUMBER (BIT(MRS_INT32) | BIT(MRS_INT64) | BIT(MRS_DOUBLE) | BIT(MRS_DECIMAL128))

/* Independent of the arguments. $convert and operators that return one of their arguments have separate functions. */
static const struct {
    const char *op;
    uint32_t types, items;
    uint32_t instead; /* arguments from this one on are alternatives; 0: none */
} results[] = {
    {"$concat", TEXT | NUL, 0, 0},      {"$toLower", TEXT, 0, 0},       {"$toUpper", TEXT, 0, 0},
    {"$substr", TEXT, 0, 0},            {"$substrBytes", TEXT, 0, 0},   {"$substrCP", TEXT, 0, 0},
    {"$trim", TEXT | NUL, 0, 0},        {"$ltrim", TEXT | NUL, 0, 0},   {"$rtrim", TEXT | NUL, 0, 0},
    {"$replaceOne", TEXT | NUL, 0, 0},  {"$replaceAll", TEXT | NUL, 0, 0}, {"$type", TEXT, 0, 0},
    {"$hexHash", TEXT | NUL, 0, 0},     {"$hash", BIT(MRS_BINARY) | NUL, 0, 0},
    {"$split", BIT(MRS_ARRAY) | NUL, TEXT, 0},
    {"$toBool", YES_NO | NUL, 0, 0},    {"$toInt", BIT(MRS_INT32) | NUL, 0, 0},
    {"$toLong", BIT(MRS_INT64) | NUL, 0, 0}, {"$toDouble", BIT(MRS_DOUBLE) | NUL, 0, 0},
    {"$toDecimal", BIT(MRS_DECIMAL128) | NUL, 0, 0}, {"$toDate", BIT(MRS_DATE) | NUL, 0, 0},
    {"$toObjectId", BIT(MRS_OBJECTID) | NUL, 0, 0}, {"$toString", TEXT | NUL, 0, 0},
    {"$toUUID", BIT(MRS_BINARY) | NUL, 0, 0}, {"$toObject", BIT(MRS_DOCUMENT) | NUL, 0, 0},
    {"$toArray", BIT(MRS_ARRAY) | NUL, UINT32_MAX, 0}, {"$dateFromParts", BIT(MRS_DATE) | NUL, 0, 0},
    {"$mergeObjects", BIT(MRS_DOCUMENT), 0, 0}, {"$arrayToObject", BIT(MRS_DOCUMENT) | NUL, 0, 0},
    {"$objectToArray", BIT(MRS_ARRAY) | NUL, BIT(MRS_DOCUMENT), 0},
    {"$map", BIT(MRS_ARRAY) | NUL, UINT32_MAX, 0}, {"$filter", BIT(MRS_ARRAY) | NUL, UINT32_MAX, 0},
    {"$sortArray", BIT(MRS_ARRAY) | NUL, UINT32_MAX, 0}, {"$slice", BIT(MRS_ARRAY) | NUL, UINT32_MAX, 0},
    {"$setUnion", BIT(MRS_ARRAY) | NUL, UINT32_MAX, 0},
    {"$setDifference", BIT(MRS_ARRAY) | NUL, UINT32_MAX, 0}, {"$setIntersection", BIT(MRS_ARRAY) | NUL, UINT32_MAX, 0},
    {"$concatArrays", BIT(MRS_ARRAY) | NUL, UINT32_MAX, 0}, {"$reverseArray", BIT(MRS_ARRAY) | NUL, UINT32_MAX, 0},
    {"$setField", BIT(MRS_DOCUMENT) | NUL, 0, 0}, {"$unsetField", BIT(MRS_DOCUMENT) | NUL, 0, 0},
    {"$dateToString", TEXT | NUL, 0, 3}, {"$dateFromString", BIT(MRS_DATE) | NUL, 0, 3},
    {"$dateAdd", BIT(MRS_DATE) | NUL, 0, 0}, {"$dateSubtract", BIT(MRS_DATE) | NUL, 0, 0},
    {"$dateTrunc", BIT(MRS_DATE) | NUL, 0, 0},
    {"$add", NUMBER | BIT(MRS_DATE) | NUL, 0, 0}, {"$subtract", NUMBER | BIT(MRS_DATE) | NUL, 0, 0},
    {"$multiply", NUMBER | NUL, 0, 0}, {"$divide", NUMBER | NUL, 0, 0}, {"$mod", NUMBER | NUL, 0, 0},
    {"$abs", NUMBER | NUL, 0, 0},    {"$ceil", NUMBER | NUL, 0, 0},  {"$floor", NUMBER | NUL, 0, 0},
    {"$round", NUMBER | NUL, 0, 0},  {"$trunc", NUMBER | NUL, 0, 0},
    {"$size", BIT(MRS_INT32), 0, 0}, {"$strLenCP", BIT(MRS_INT32), 0, 0},
    {"$eq", YES_NO, 0, 0},           {"$ne", YES_NO, 0, 0},       {"$gt", YES_NO, 0, 0},
    {"$gte", YES_NO, 0, 0},          {"$lt", YES_NO, 0, 0},       {"$lte", YES_NO, 0, 0},
    {"$and", YES_NO, 0, 0},          {"$or", YES_NO, 0, 0},       {"$not", YES_NO, 0, 0},
    {"$in", YES_NO, 0, 0},           {"$isArray", YES_NO, 0, 0},  {"$isNumber", YES_NO, 0, 0},
};

static bool
is(const struct mrs_expr *x, const char *op)
{
    return x->kind == MRSI_CALL && strcmp(x->op->row.name, op) == 0;
}

static void
join(struct mrs_types *to, struct mrs_types more)
{
    to->of |= more.of;
    to->items |= more.items;
}

/* The types of args[first..last], combined. */
static bool
any_of(const struct mrs_expr *x, uint32_t first, uint32_t last, struct mrs_types *out)
{
    MRS_ASSERT(first <= last);
    for (uint32_t i = first; i <= last; i++) {
        struct mrs_types t;
        if (!x->args[i] || !mrs_expr_types(x->args[i], &t)) {
            return false;
        }
        join(out, t);
    }
    return true;
}

/* As any_of, for the existing arguments from first on. */
static bool
types_instead(const struct mrs_expr *x, uint32_t first, struct mrs_types *out)
{
    bool known = true;
    for (uint32_t i = first; i < x->n_args; i++) {
        known = known && (!x->args[i] || any_of(x, i, i, out));
    }
    return known;
}

static struct mrs_types
of_constant(struct mrs_val v)
{
    struct mrs_types t = {mrs_type_bit(v.type), 0};
    struct mrs_walk w;
    struct mrs_elem e;
    if (v.type == MRS_ARRAY) {
        for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &e) > 0;) {
            t.items |= mrs_type_bit(e.v.type);
        }
    }
    return t;
}

/* A literal array: elements of unknown type may be anything; a missing one becomes null. */
static struct mrs_types
of_array(const struct mrs_expr *x)
{
    struct mrs_types t = {BIT(MRS_ARRAY), 0}, item;
    for (uint32_t i = 0; i < x->n_args; i++) {
        t.items |= !mrs_expr_types(x->args[i], &item)   ? UINT32_MAX
                   : item.of & mrs_type_bit(MRS_MISSING) ? (item.of | NUL) & ~mrs_type_bit(MRS_MISSING)
                                                         : item.of;
    }
    return t;
}

enum { INPUT, TO, ON_ERROR, ON_NULL }; /* of $convert */

static bool
of_convert(const struct mrs_expr *x, struct mrs_types *out)
{
    uint8_t type;
    if (x->args[ON_ERROR] || !mrsi_is_constant(x->args[TO]) || !mrsi_convert_type(x->args[TO]->lit, &type)) {
        return false;
    }
    *out = (struct mrs_types){mrs_type_bit(type), type == MRS_ARRAY ? UINT32_MAX : 0};
    out->of |= x->args[ON_NULL] ? 0 : NUL;
    return !x->args[ON_NULL] || any_of(x, ON_NULL, ON_NULL, out);
}

/* The first operand that is not null, or the last. */
static bool
of_if_null(const struct mrs_expr *x, struct mrs_types *out)
{
    if (!any_of(x, 0, x->n_args - 2, out)) {
        return false;
    }
    out->of &= ~(NUL | BIT(MRS_UNDEFINED) | mrs_type_bit(MRS_MISSING));
    return any_of(x, x->n_args - 1, x->n_args - 1, out);
}

/* Pairs of a case and its result; without a default, the last, it fails if no case is true. */
static bool
of_switch(const struct mrs_expr *x, struct mrs_types *out)
{
    uint32_t last = x->n_args - 1;
    bool known = !x->args[last] || any_of(x, last, last, out);
    for (uint32_t i = 1; i < last; i += 2) {
        known = known && any_of(x, i, i, out);
    }
    return known;
}

static bool
of_call(const struct mrs_expr *x, struct mrs_types *out)
{
    if (is(x, "$convert")) {
        return of_convert(x, out);
    }
    if (is(x, "$cond")) {
        return any_of(x, 1, 2, out);
    }
    if (is(x, "$switch")) {
        return of_switch(x, out);
    }
    if (is(x, "$let")) {
        return any_of(x, x->n_args - 1, x->n_args - 1, out);
    }
    if (is(x, "$ifNull")) {
        return of_if_null(x, out);
    }
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (is(x, results[i].op)) {
            *out = (struct mrs_types){results[i].types, results[i].items};
            return !results[i].instead || types_instead(x, results[i].instead, out);
        }
    }
    return false;
}

bool
mrs_expr_types(const struct mrs_expr *x, struct mrs_types *out)
{
    *out = (struct mrs_types){0, 0};
    switch (x->kind) {
    case MRSI_LITERAL:
        *out = of_constant(x->lit);
        return true;
    case MRSI_ARRAY:
        *out = of_array(x);
        return true;
    case MRSI_OBJECT:
        out->of = BIT(MRS_DOCUMENT);
        return true;
    case MRSI_CALL:
        return of_call(x, out);
    default:
        return false;
    }
}

bool
mrs_expr_field(const struct mrs_expr *x, uint32_t i, struct mrs_expr_field *out)
{
    MRS_ASSERT(out);
    struct mrs_val v;
    if (is(x, "$mergeObjects") && x->n_args) {
        x = x->args[x->n_args - 1];
    }
    *out = (struct mrs_expr_field){NULL, NULL, mrs_missing()};
    if (x->kind == MRSI_OBJECT && i < x->n_args) {
        out->name = x->names[i];
        out->expr = x->args[i];
        out->val = mrs_expr_constant(x->args[i], &v) ? v : mrs_missing();
    }
    if (x->kind == MRSI_LITERAL && x->lit.type == MRS_DOCUMENT) {
        struct mrs_walk w;
        struct mrs_elem e;
        mrs_walk_init(&w, mrs_val_view(x->lit));
        for (uint32_t k = 0; mrs_walk_next(&w, &e) > 0; k++) {
            if (k == i) {
                *out = (struct mrs_expr_field){e.name, NULL, e.v};
            }
        }
    }
    return out->name;
}

bool
mrs_expr_all_fields(const struct mrs_expr *x)
{
    return x->kind == MRSI_OBJECT || (x->kind == MRSI_LITERAL && x->lit.type == MRS_DOCUMENT);
}

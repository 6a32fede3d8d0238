/* SPDX-License-Identifier: Apache-2.0 */
/* optable.c - all operators in one enumeration.
 *
 * Each family of operators is a const table in its own file; here they are searched by name, listed for the
 * documentation, and searched for the name nearest to an unknown one, since most unknown operators of a plan are
 * misspelt known ones. Used only when a plan is read, so a linear search suffices. */
#include "expr/acc/acc.h"
#include "expr/compile.h"

static const struct mrs_op *const FAMILIES[] = {
    mrsi_ops_arithmetic, mrsi_ops_power, mrsi_ops_total, mrsi_ops_compare, mrsi_ops_logic,
    mrsi_ops_string,     mrsi_ops_replace, mrsi_ops_regex,    mrsi_ops_hash,   mrsi_ops_array,
    mrsi_ops_set,        mrsi_ops_object,  mrsi_ops_type,     mrsi_ops_date,   mrsi_ops_variable,
    mrsi_ops_angle,      mrsi_ops_bits,    mrsi_ops_measure,  mrsi_ops_spread, mrsi_ops_refused,
};
#define N_FAMILIES (sizeof FAMILIES / sizeof *FAMILIES)

static const struct mrs_op_row *const NAMES[] = {mrsi_query_rows, mrsi_query_refused};

bool
mrsi_op_accumulator(const char *name, uint32_t n)
{
    MRS_ASSERT(name);
    for (const struct mrsi_acc_kind *kind = mrsi_acc_kinds; kind->row.name; kind++) {
        if (strlen(kind->row.name) == n && memcmp(kind->row.name, name, n) == 0) {
            return true;
        }
    }
    return false;
}

const struct mrs_op *
mrsi_op_find(const char *name, uint32_t n)
{
    MRS_ASSERT(name);
    for (size_t f = 0; f < N_FAMILIES; f++) {
        for (const struct mrs_op *op = FAMILIES[f]; op->row.name; op++) {
            if (strlen(op->row.name) == n && memcmp(op->row.name, name, n) == 0) {
                return op;
            }
        }
    }
    return NULL;
}

const struct mrs_op_row *
mrs_op_rows(uint32_t i)
{
    for (size_t f = 0; f < N_FAMILIES; f++) {
        for (const struct mrs_op *op = FAMILIES[f]; op->row.name; op++) {
            if (i-- == 0) {
                return &op->row;
            }
        }
    }
    for (const struct mrsi_acc_kind *kind = mrsi_acc_kinds; kind->row.name; kind++) {
        if (i-- == 0) {
            return &kind->row;
        }
    }
    for (size_t t = 0; t < sizeof NAMES / sizeof *NAMES; t++) {
        for (const struct mrs_op_row *row = NAMES[t]; row->name; row++) {
            if (i-- == 0) {
                return row;
            }
        }
    }
    return NULL;
}

/* Operators of updates and queries, and their names here. */
static const char *const elsewhere[][2] = {
    {"$inc", "$add"}, {"$mul", "$multiply"}, {"$sub", "$subtract"}, {"$div", "$divide"}, {"$currentDate", "$$NOW"},
    {"$set", "$mergeObjects, or the field itself"}, {"$unset", "$$REMOVE, or the step unset"}, {"$pull", "$filter"},
    {"$pullAll", "$setDifference"}, {"$pop", "$slice"}, {"$bit", "$bitAnd, $bitOr or $bitXor"},
    {"$each", "$concatArrays"}, {"$elemMatch", "$filter or $anyElementTrue"}, {"$all", "$setIsSubset"},
    {"$exists", "{ $ne: [{ $type: $a }, missing] }"}, {"$nin", "{ $not: { $in: [$a, [...]] } }"},
    {"$nor", "{ $not: { $or: [...] } }"}, {"$like", "$regexMatch"}, {"$if", "$cond"},
    {"$regex", "$regexMatch, or as `find` of another { $regularExpression: { pattern: ..., options: \"\" } }"},
    {"$length", "$size or $strLenCP"}, {"$count", "$size"}, {"$join", "$reduce with $concat"},
    {"$replace", "$replaceAll"}, {"$substring", "$substrCP"}, {"$toNumber", "$toDouble"}, {"$parseInt", "$toInt"},
    {"$parseFloat", "$toDouble"}, {"$parseDate", "$dateFromString"}, {"$formatDate", "$dateToString"},
    {"$coalesce", "$ifNull"}, {"$case", "$switch"}, {"$unwind", "the step extract"},
    {"$lookup", "the steps embed and copy"}, {"$group", "the step rollup"}, {"$rename", "the step rename"},
};

const char *
mrsi_op_elsewhere(const char *name, uint32_t n)
{
    MRS_ASSERT(name);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        if (strlen(elsewhere[i][0]) == n && memcmp(elsewhere[i][0], name, n) == 0) {
            return elsewhere[i][1];
        }
    }
    return NULL;
}

#define NAME_MAX_COMPARED 40u

const char *
mrsi_op_nearest(const char *name, uint32_t n)
{
    MRS_ASSERT(name);
    const char *nearest = NULL;
    uint32_t least = n / 2;
    if (n > NAME_MAX_COMPARED) {
        return NULL;
    }
    for (size_t f = 0; f < N_FAMILIES; f++) {
        for (const struct mrs_op *op = FAMILIES[f]; FAMILIES[f] != mrsi_ops_refused && op->row.name; op++) {
            uint32_t d = mrs_word_distance(name, n, op->row.name, strlen(op->row.name));
            if (d < least) {
                least = d;
                nearest = op->row.name;
            }
        }
    }
    return nearest;
}

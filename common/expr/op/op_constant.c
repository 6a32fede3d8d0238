/* SPDX-License-Identifier: Apache-2.0 */
/* op_constant.c - constant arguments at which an operator always fails: such a plan is invalid before the first
 * document is read. Null is none: it makes the result null. (A server may read another argument first, and return null
 * if that is missing; so only plans are checked, not the vectors of a server.) */
#include "expr/compile.h"
#include "expr/convert.h"
#include "expr/date/op_date.h"
#include <string.h>

/* Requirements for each argument if it is constant: s a string, a an array, n a number, u a unit of time, T a type of
 * $convert, p a string or a regular expression, h an algorithm of $hash; a dot: anything, or the operator's own compile
 * hook checks it. */
static const struct {
    const char *op, *kinds;
} expected[] = {
    {"$arrayElemAt", ".n"}, {"$convert", ".T"},     {"$dateAdd", ".u"},      {"$dateDiff", "..u"},
    {"$dateSubtract", ".u"}, {"$dateTrunc", ".u"},  {"$hash", ".h"},         {"$hexHash", ".h"},
    {"$in", ".a"},          {"$indexOfBytes", "ss"}, {"$indexOfCP", "ss"},   {"$ltrim", "ss"},
    {"$replaceAll", "sps"}, {"$replaceOne", "sps"}, {"$rtrim", "ss"},        {"$slice", ".n"},
    {"$split", "sp"},       {"$trim", "ss"},
};

static bool
fits(char kind, struct mrs_val v)
{
    return kind == 's'   ? v.type == MRS_STRING
           : kind == 'p' ? v.type == MRS_STRING || v.type == MRS_REGEX
           : kind == 'a' ? v.type == MRS_ARRAY
           : kind == 'n' ? mrs_is_number(v)
           : kind == 'u' ? mrsi_unit_known(v)
                         : true;
}

static enum mrs_status
refuse(const struct mrs_expr *x, struct mrs_eval *ev, uint32_t i, char kind, struct mrs_val v)
{
    const char *what = kind == 's'   ? "a string"
                       : kind == 'p' ? "a string or a regular expression"
                       : kind == 'a' ? "an array"
                                     : "a number";
    const char *name = x->op->named;
    if (kind == 'u') {
        return mrsi_no_unit(x, ev);
    }
    for (uint32_t k = 0; name && k < i; k++) {
        name = strpbrk(name, ",|") + 1;
    }
    if (name) {
        return mrsi_eval_error(x, ev, "%.*s must be %s, not %s", (int)strcspn(name, ",|"), name, what,
                               mrs_type_name(v.type));
    }
    return mrsi_eval_error(x, ev, "argument %u must be %s, not %s", i + 1, what, mrs_type_name(v.type));
}

enum mrs_status
mrsi_check_constants(const struct mrs_expr *x, struct mrs_eval *ev)
{
    const char *kinds = "";
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        kinds = strcmp(expected[i].op, x->op->row.name) == 0 ? expected[i].kinds : kinds;
    }
    for (uint32_t i = 0; i < x->n_args && kinds[i]; i++) {
        struct mrs_val v = x->args[i] && mrsi_is_constant(x->args[i]) ? x->args[i]->lit : mrs_missing();
        if (mrs_is_nullish(v)) {
            continue;
        }
        if (kinds[i] == 'T') {
            MRS_TRY(mrsi_convert_check(x, ev, v));
        } else if (kinds[i] == 'h') {
            MRS_TRY(mrsi_hash_check(x, ev, v));
        } else if (!fits(kinds[i], v)) {
            return refuse(x, ev, i, kinds[i], v);
        }
    }
    return MRS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* comparing.c - does an expression of a plan compare values?
 *
 * In a collection with a collation a server compares texts by it, but we compare bytes. */
#include "describe.h"
#include "mongoreshape/limits.h"
#include "mongoreshape/words.h"

static bool
compares(const char *name)
{
    static const char *const names[] = {
        "$eq",  "$ne",  "$gt",   "$gte",  "$lt",        "$lte",          "$cmp",           "$in",        "$min",
        "$max", "$minN", "$maxN", "$sortArray", "$indexOfArray", "$setDifference", "$setEquals", "$setIntersection",
        "$setIsSubset", "$setUnion"};
    return MRS_IS_ONE_OF(name, names);
}

bool
mrsi_compares(struct mrs_val spec)
{
    MRS_ASSERT(mrs_val_is_sized(spec));
    struct mrs_walk stack[MRS_PLAN_DEPTH_MAX];
    struct mrs_elem el;
    int depth = 0;
    if (spec.type != MRS_DOCUMENT && spec.type != MRS_ARRAY) {
        return false;
    }
    mrs_walk_init(&stack[depth++], mrs_val_view(spec));
    while (depth) {
        if (mrs_walk_next(&stack[depth - 1], &el) != 1) {
            depth--;
            continue;
        }
        bool more = el.v.type == MRS_DOCUMENT || el.v.type == MRS_ARRAY;
        if (compares(el.name) || (more && depth == MRS_PLAN_DEPTH_MAX)) {
            return true;
        }
        if (more) {
            mrs_walk_init(&stack[depth++], mrs_val_view(el.v));
        }
    }
    return false;
}

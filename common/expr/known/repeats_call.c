/* SPDX-License-Identifier: Apache-2.0 */
/* repeats_call.c - calls that do not change their own result, operator by operator.
 *
 * The result of a call is at the spot, which held its argument before; everything else that it reads is unchanged. */
#include "repeats.h"

/* ---- fields of a document ---- */
static bool
among(const char *name, const struct mrs_expr *doc)
{
    bool found = false;
    for (uint32_t i = 0; i < doc->n_args && !found; i++) {
        found = strcmp(doc->names[i], name) == 0;
    }
    return found;
}

/* Whether the literal field `own` of doc reads, of the document at the spot, only itself and, if other fields stay,
 * fields that are not written. */
static bool
reads_own(const struct mrs_expr *x, const struct mrsi_expr_spot *at, const struct mrs_expr *doc, const char *own,
          bool others_kept)
{
    bool fine = true;
    if (x->kind == MRSI_PATH && mrsi_expr_spot_meets(at, x) != MRSI_APART) {
        const char *name = x->n_parts > at->n ? x->part[at->n] : NULL;
        fine = name && (strcmp(name, own) == 0 || (others_kept && !among(name, doc)));
    }
    for (uint32_t i = 0; x->kind != MRSI_LITERAL && i < x->n_args && fine; i++) {
        fine = !x->args[i] || reads_own(x->args[i], at, doc, own, others_kept);
    }
    return fine;
}

/* A literal document that replaces the one at the spot or, if other fields stay, is merged into it. */
static bool
fields_repeat(const struct mrs_expr *doc, const struct mrsi_expr_spot *at, bool others_kept, bool keeps)
{
    struct mrsi_repeat_rules r = {keeps, 0, others_kept ? MRSI_ABSENT_STAYS : MRSI_ABSENT_REMOVED, false};
    bool same = doc->kind == MRSI_OBJECT;
    for (uint32_t i = 0; i < doc->n_args && same; i++) {
        struct mrsi_expr_spot field = {at->base, at->n + 1, at, doc->names[i], NULL};
        same = reads_own(doc->args[i], at, doc, doc->names[i], others_kept) && mrsi_repeats_at(doc->args[i], &field, r);
    }
    return same || (doc->kind == MRSI_LITERAL && doc->lit.type == MRS_DOCUMENT);
}

static bool
merge_repeats(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, bool keeps)
{
    if (type != mrs_type_bit(MRS_DOCUMENT) || x->n_args != 2) {
        return false;
    }
    return mrsi_only_same(x->args[0], at, type) ? fields_repeat(x->args[1], at, true, keeps)
                                                : !mrsi_expr_spot_read(at, x->args[0]) &&
                                                      mrsi_only_same(x->args[1], at, type);
}

static bool
set_field_repeats(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    return type == mrs_type_bit(MRS_DOCUMENT) && mrsi_only_same(x->args[1], at, type) &&
           (x->n_args < 3 || !mrsi_expr_spot_read(at, x->args[2]));
}

/* ---- elements ---- */
static bool
elements_repeat(const struct mrs_expr *map, const struct mrsi_expr_spot *at, bool keeps)
{
    struct mrsi_expr_spot element = {.base = map->slot[0]};
    struct mrsi_repeat_rules r = {keeps, 0, MRSI_ABSENT_IS_NULL, false};
    return !mrsi_expr_spot_read(at, map->args[1]) && mrsi_repeats_at(map->args[1], &element, r);
}

/* A condition accepts again the elements that it accepted; but their positions change. */
static bool
choice_repeats(const struct mrs_expr *filter, const struct mrsi_expr_spot *at)
{
    return filter->slot[2] < 0 && !mrsi_expr_spot_read(at, filter->args[1]) &&
           !(filter->args[2] && mrsi_expr_spot_read(at, filter->args[2]));
}

/* Names and values of a document, mapped or filtered, converted back to a document: duplicate names are merged. */
static bool
pairs_repeat(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, bool keeps)
{
    const struct mrs_expr *of = x->args[0];
    bool each = mrsi_is_call(of, "$map"), some = mrsi_is_call(of, "$filter");
    if (type != mrs_type_bit(MRS_DOCUMENT) || !(each || some) || !mrsi_is_call(of->args[0], "$objectToArray") ||
        !mrsi_only_same(of->args[0]->args[0], at, type)) {
        return false;
    }
    return each ? of->args[1]->kind == MRSI_OBJECT && elements_repeat(of, at, keeps) : choice_repeats(of, at);
}

static bool
array_repeats(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, bool keeps)
{
    if (type != mrs_type_bit(MRS_ARRAY) || !mrsi_only_same(x->args[0], at, type)) {
        return false;
    }
    return mrsi_is_call(x, "$map")      ? elements_repeat(x, at, keeps)
           : mrsi_is_call(x, "$filter") ? choice_repeats(x, at)
           : mrsi_is_call(x, "$slice")  ? x->n_args == 2 && x->args[1]->kind == MRSI_LITERAL
                                        : true; /* $sortArray */
}

/* One operand is the value, the others do not depend on it. */
static bool
operands_repeat(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    uint32_t own = 0, others = 0;
    for (uint32_t i = 0; i < x->n_args; i++) {
        own += mrsi_only_same(x->args[i], at, type);
        others += !mrsi_expr_spot_read(at, x->args[i]);
    }
    return own == 1 && own + others == x->n_args && x->n_args > 1;
}

bool
mrsi_repeats_call(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, bool keeps)
{
    static const char *const arrays[] = {"$map", "$filter", "$slice", "$sortArray", NULL};
    static const char *const rounds[] = {"$abs", "$ceil", "$floor", "$round", "$trunc", NULL};
    if (!mrsi_expr_spot_read(at, x)) {
        return true;
    }
    if (x->kind == MRSI_OBJECT) {
        return type == mrs_type_bit(MRS_DOCUMENT) && fields_repeat(x, at, false, keeps);
    }
    if (mrsi_is_call(x, "$max") || mrsi_is_call(x, "$min") || mrsi_is_call(x, "$setUnion")) {
        return operands_repeat(x, at, type);
    }
    if (type == mrs_type_bit(MRS_STRING)) {
        return mrsi_repeats_text(x, at);
    }
    if (mrsi_is_one_of(x, rounds)) {
        return x->n_args == 1 && type & MRSI_NUMBERS && mrsi_only_same(x->args[0], at, type);
    }
    if (mrsi_is_one_of(x, arrays)) {
        return array_repeats(x, at, type, keeps);
    }
    if (mrsi_is_call(x, "$mergeObjects")) {
        return merge_repeats(x, at, type, keeps);
    }
    if (mrsi_is_call(x, "$setField") || mrsi_is_call(x, "$unsetField")) {
        return set_field_repeats(x, at, type);
    }
    if (mrsi_is_call(x, "$toUUID")) { /* it leaves values of its own subtype unchanged */
        return type == mrs_type_bit(MRS_BINARY) && mrsi_only_same(x->args[0], at, type);
    }
    return mrsi_is_call(x, "$arrayToObject") && pairs_repeat(x, at, type, keeps);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.c - the possible outcomes of an expression for one value of a known type: that value, others, a failure.
 *
 * Conditions that depend only on the type are decided, and comparisons of a known value with a constant; for others
 * both branches are examined. */
#include "outcome.h"

bool
mrsi_is_call(const struct mrs_expr *x, const char *op)
{
    return x && x->kind == MRSI_CALL && strcmp(x->op->row.name, op) == 0;
}

bool
mrsi_is_one_of(const struct mrs_expr *x, const char *const *ops)
{
    bool found = false;
    for (; *ops && !found; ops++) {
        found = mrsi_is_call(x, *ops);
    }
    return found;
}

/* ---- the spot ---- */
enum mrsi_meets
mrsi_expr_spot_meets(const struct mrsi_expr_spot *at, const struct mrs_expr *path)
{
    bool same = path->base == at->base;
    for (const struct mrsi_expr_spot *s = at; same && s->n; s = s->up) {
        same = s->n > path->n_parts || strcmp(s->name, path->part[s->n - 1]) == 0;
    }
    return !same ? MRSI_APART : at->n == path->n_parts ? MRSI_SPOT : MRSI_MEETS;
}

bool
mrsi_expr_spot_read(const struct mrsi_expr_spot *at, const struct mrs_expr *x)
{
    bool any = x->kind == MRSI_PATH && mrsi_expr_spot_meets(at, x) != MRSI_APART;
    for (uint32_t i = 0; x->kind != MRSI_LITERAL && i < x->n_args && !any; i++) {
        any = x->args[i] && mrsi_expr_spot_read(at, x->args[i]);
    }
    return any;
}

static bool
is_spot(const struct mrs_expr *x, const struct mrsi_expr_spot *at)
{
    return x->kind == MRSI_PATH && mrsi_expr_spot_meets(at, x) == MRSI_SPOT;
}

/* ---- conditions ---- */
enum known { NO, YES, UNKNOWN };

static enum known
either(bool yes)
{
    return yes ? YES : NO;
}

static const char *
name_of(uint32_t type)
{
    uint8_t i = 0;
    while (type >> i > 1) {
        i++;
    }
    return mrs_type_name(type == mrs_type_bit(MRS_MAXKEY)   ? MRS_MAXKEY
                         : type == mrs_type_bit(MRS_MINKEY) ? MRS_MINKEY
                                                            : i);
}

/* A comparison of the value with null. */
static enum known
against_null(const struct mrs_expr *x, uint32_t type)
{
    if (type == mrs_type_bit(MRS_UNDEFINED) || type == mrs_type_bit(MRS_MINKEY)) {
        return UNKNOWN;
    }
    bool null = type == mrs_type_bit(MRS_NULL), below = type == mrs_type_bit(MRS_MISSING);
    return mrsi_is_call(x, "$eq")    ? either(null)
           : mrsi_is_call(x, "$ne")  ? either(!null)
           : mrsi_is_call(x, "$gt")  ? either(!null && !below)
           : mrsi_is_call(x, "$lte") ? either(null || below)
                                     : UNKNOWN;
}

static bool
is_in(struct mrs_val v, struct mrs_val list)
{
    struct mrs_walk w;
    struct mrs_elem e;
    bool found = false;
    for (mrs_walk_init(&w, mrs_val_view(list)); !found && mrs_walk_next(&w, &e) > 0;) {
        found = mrs_compare(v, e.v) == 0;
    }
    return found;
}

/* A comparison of the known value v with a constant. */
static enum known
against_constant(const struct mrs_expr *x, struct mrs_val v, struct mrs_val constant)
{
    if (mrsi_is_call(x, "$in")) {
        return constant.type == MRS_ARRAY ? either(is_in(v, constant)) : UNKNOWN;
    }
    int order = mrs_compare(v, constant);
    return mrsi_is_call(x, "$eq")    ? either(order == 0)
           : mrsi_is_call(x, "$ne")  ? either(order != 0)
           : mrsi_is_call(x, "$gt")  ? either(order > 0)
           : mrsi_is_call(x, "$gte") ? either(order >= 0)
           : mrsi_is_call(x, "$lt")  ? either(order < 0)
                                     : either(order <= 0);
}

/* Comparisons, also $in, that depend only on what is known of the value. */
static enum known
compared(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    const struct mrs_expr *a = x->args[0], *b = x->args[1];
    struct mrs_walk w;
    struct mrs_elem e;
    bool found = false;
    if (b->kind != MRSI_LITERAL) {
        return UNKNOWN;
    }
    if (is_spot(a, at) && b->lit.type == MRS_NULL) {
        return against_null(x, type);
    }
    if (is_spot(a, at) && at->value) {
        return against_constant(x, *at->value, b->lit);
    }
    if (!mrsi_is_call(a, "$type") || !is_spot(a->args[0], at)) {
        return UNKNOWN;
    }
    if (mrsi_is_call(x, "$in") && b->lit.type == MRS_ARRAY) {
        for (mrs_walk_init(&w, mrs_val_view(b->lit)); mrs_walk_next(&w, &e) > 0;) {
            found = found || mrs_val_is_text(e.v, name_of(type));
        }
        return either(found);
    }
    found = mrs_val_is_text(b->lit, name_of(type));
    return mrsi_is_call(x, "$eq") ? either(found) : mrsi_is_call(x, "$ne") ? either(!found) : UNKNOWN;
}

static enum known decide(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type);

/* $and and $or: one value ends the evaluation. */
static enum known
junction(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, enum known ends)
{
    enum known all = ends == YES ? NO : YES;
    for (uint32_t i = 0; i < x->n_args && all != ends; i++) {
        enum known one = decide(x->args[i], at, type);
        all = one == ends || one == UNKNOWN ? one : all;
        if (one == UNKNOWN) {
            break; /* later operands may not be evaluated */
        }
    }
    return all;
}

/* The value itself as a condition. */
static enum known
truth(uint32_t type)
{
    uint32_t always = mrs_type_bit(MRS_STRING) | mrs_type_bit(MRS_DOCUMENT) | mrs_type_bit(MRS_ARRAY) |
                      mrs_type_bit(MRS_OBJECTID) | mrs_type_bit(MRS_DATE) | mrs_type_bit(MRS_BINARY);
    return type & MRSI_NULLISH ? NO : type & always ? YES : UNKNOWN;
}

static enum known
decide(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    static const char *const compares[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", NULL};
    if (is_spot(x, at)) {
        return truth(type);
    }
    if (mrsi_is_one_of(x, compares)) {
        return compared(x, at, type);
    }
    if (mrsi_is_call(x, "$and") || mrsi_is_call(x, "$or")) {
        return junction(x, at, type, either(mrsi_is_call(x, "$or")));
    }
    if (mrsi_is_call(x, "$not")) {
        enum known one = decide(x->args[0], at, type);
        return one == UNKNOWN ? UNKNOWN : either(one == NO);
    }
    if (mrsi_is_call(x, "$isArray") && is_spot(x->args[0], at)) {
        return either(type == mrs_type_bit(MRS_ARRAY));
    }
    if (mrsi_is_call(x, "$isNumber") && is_spot(x->args[0], at)) {
        return either(type & MRSI_NUMBERS);
    }
    return UNKNOWN;
}

bool
mrs_expr_excludes(const struct mrs_expr *cond, const char *field, uint32_t types)
{
    MRS_ASSERT(cond && field);
    struct mrsi_expr_spot top = {.base = MRSI_ROOT}, at = {MRSI_ROOT, 1, &top, field, NULL};
    bool all = true;
    for (uint32_t i = 0; i < 32 && all; i++) {
        all = !(types >> i & 1) || decide(cond, &at, 1u << i) == NO;
    }
    return all;
}

/* Whether it fails for no document. */
static bool
never_fails(const struct mrs_expr *x)
{
    static const char *const total[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp", "$and", "$or", "$not",
                                        "$type", "$isArray", "$isNumber", "$ifNull", "$cond", NULL};
    bool list = mrsi_is_call(x, "$in") && x->args[1]->kind == MRSI_LITERAL && x->args[1]->lit.type == MRS_ARRAY;
    bool safe = x->kind != MRSI_CALL || list || mrsi_is_one_of(x, total);
    for (uint32_t i = 0; x->kind != MRSI_LITERAL && i < x->n_args && safe; i++) {
        safe = never_fails(x->args[i]);
    }
    return safe;
}

/* ---- types ---- */
/* An argument that is not given, or a constant that is not null. */
static bool
is_fixed(const struct mrs_expr *arg)
{
    return !arg || (arg->kind == MRSI_LITERAL && !mrs_is_nullish(arg->lit));
}

/* Operators that return null for a null first argument, whatever the others are. */
static const char *const passes_null[] = {"$map", "$filter", "$split", "$trim", "$ltrim", "$rtrim", "$replaceAll",
    "$replaceOne", "$arrayToObject", "$objectToArray", "$sortArray", "$toBool", "$toInt", "$toLong", "$toDouble",
    "$toDecimal", "$toDate", "$toObjectId", "$toString", "$toUUID", "$toObject", "$toArray", "$setField",
    "$unsetField", "$slice", "$dateFromString", "$abs", "$ceil", "$floor", "$round", "$trunc", NULL};

static const struct mrs_expr *
first_of(const struct mrs_expr *x)
{
    return x->args[mrsi_is_call(x, "$setField") || mrsi_is_call(x, "$unsetField")];
}

/* Whether only the first argument can make it null. */
static bool
rest_is_known(const struct mrs_expr *x)
{
    bool inside = mrsi_is_call(x, "$map") || mrsi_is_call(x, "$filter") || first_of(x) != x->args[0];
    bool known = true;
    /* from here on: alternatives for the result */
    uint32_t rules = mrsi_is_call(x, "$dateFromString") ? 3 : UINT32_MAX;
    for (uint32_t i = 1; i < x->n_args && !inside; i++) {
        known = known && is_fixed(x->args[i]) && (!x->args[i] || i < rules);
    }
    return known;
}

/* Roundings keep the type of a number, and fail for other types. */
static bool
rounds(const struct mrs_expr *x)
{
    static const char *const ops[] = {"$abs", "$ceil", "$floor", "$round", "$trunc", NULL};
    return mrsi_is_one_of(x, ops);
}

static uint32_t types_of(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type);

/* $setUnion is null if an operand is; $max and $min ignore operands that are null, unless all are. */
static uint32_t
types_of_operands(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    uint32_t any = 0, every = MRSI_NULLISH;
    for (uint32_t i = 0; i < x->n_args; i++) {
        uint32_t one = types_of(x->args[i], at, type);
        any |= one;
        every &= one & MRSI_NULLISH ? MRSI_NULLISH : 0;
    }
    bool set = mrsi_is_call(x, "$setUnion");
    uint32_t null = (set ? any : every) & MRSI_NULLISH ? mrs_type_bit(MRS_NULL) : 0;
    return (set ? mrs_type_bit(MRS_ARRAY) : any & ~MRSI_NULLISH) | null;
}

/* The first operand that is not null, or the last. */
static uint32_t
types_of_if_null(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    uint32_t all = 0, one = MRSI_NULLISH;
    for (uint32_t i = 0; i < x->n_args && one & MRSI_NULLISH; i++) {
        one = types_of(x->args[i], at, type);
        all = (all & ~MRSI_NULLISH) | one;
    }
    return all;
}

/* Cases and their results in pairs, the default last: $switch, or $cond. */
static uint32_t
types_of_cases(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    uint32_t all = 0, last = x->n_args - 1;
    enum known yes = NO;
    for (uint32_t i = 0; i < last && yes != YES; i += 2) {
        yes = decide(x->args[i], at, type);
        all |= yes == NO ? 0 : types_of(x->args[i + 1], at, type);
    }
    return all | (yes == YES || !x->args[last] ? 0 : types_of(x->args[last], at, type));
}

static uint32_t
types_of(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    struct mrs_types t;
    if (is_spot(x, at)) {
        return type;
    }
    if (mrsi_is_call(x, "$ifNull")) {
        return types_of_if_null(x, at, type);
    }
    if (mrsi_is_call(x, "$cond") || mrsi_is_call(x, "$switch")) {
        return types_of_cases(x, at, type);
    }
    bool several = x->n_args > 1 && (mrsi_is_call(x, "$max") || mrsi_is_call(x, "$min"));
    if (several || mrsi_is_call(x, "$setUnion")) {
        return types_of_operands(x, at, type);
    }
    uint32_t all = mrs_expr_types(x, &t) ? t.of : MRSI_ALL_TYPES;
    if (!mrsi_is_one_of(x, passes_null) || !rest_is_known(x)) {
        return all;
    }
    uint32_t first = types_of(first_of(x), at, type), null = first & MRSI_NULLISH ? mrs_type_bit(MRS_NULL) : 0;
    all = rounds(x) ? first & MRSI_NUMBERS : all & ~mrs_type_bit(MRS_NULL);
    return first & ~MRSI_NULLISH ? all | null : null;
}

/* ---- outcomes ---- */
static void
add(struct mrsi_outcomes *out, enum mrsi_outcome_kind kind, const struct mrs_expr *from, uint32_t types)
{
    for (uint32_t i = 0; i < out->n; i++) {
        struct mrsi_outcome *o = &out->item[i];
        if (o->kind == kind && o->from == from) {
            o->types |= types;
            return;
        }
    }
    if (out->n == MRSI_OUTCOMES_MAX) {
        out->more = true;
        return;
    }
    out->item[out->n++] = (struct mrsi_outcome){kind, from, types};
}

/* One case and its outcome; true if no evaluation gets past it. */
static bool
add_branch(const struct mrs_expr *when, const struct mrs_expr *then, const struct mrsi_expr_spot *at, uint32_t type,
           struct mrsi_outcomes *out)
{
    enum known yes = decide(when, at, type);
    if (yes == UNKNOWN && !never_fails(when)) {
        add(out, MRSI_FAILS, NULL, 0);
    }
    if (yes != NO) {
        mrsi_outcomes_of(then, at, type, out);
    }
    return yes == YES;
}

static void
add_switch(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, struct mrsi_outcomes *out)
{
    uint32_t last = x->n_args - 1;
    bool done = false;
    for (uint32_t i = 0; i < last && !done; i += 2) {
        done = add_branch(x->args[i], x->args[i + 1], at, type, out);
    }
    if (!done && x->args[last]) {
        mrsi_outcomes_of(x->args[last], at, type, out);
    } else if (!done) {
        add(out, MRSI_FAILS, NULL, 0);
    }
}

enum { TO = 1, ON_ERROR, ON_NULL };               /* of $convert */
enum { FORMAT = 1, PARSE_ERROR = 3, PARSE_NULL }; /* of $dateFromString */

/* Whether it parses a text as a date by a constant format and time zone. */
static bool
parses(const struct mrs_expr *x)
{
    bool does = mrsi_is_call(x, "$dateFromString");
    for (uint32_t i = FORMAT; i < PARSE_ERROR && does; i++) {
        does = is_fixed(x->args[i]);
    }
    return does;
}

bool
mrsi_returns_null(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    struct mrsi_outcomes of = {.n = 0};
    if (x->kind == MRSI_LITERAL) {
        return mrs_is_nullish(x->lit);
    }
    bool field = mrsi_is_call(x, "$setField") && !never_fails(x->args[2]);
    bool null = mrsi_is_one_of(x, passes_null) && rest_is_known(x) && !field;
    null = null || (mrsi_is_call(x, "$convert") && !x->args[ON_NULL] && x->args[TO]->kind == MRSI_LITERAL);
    null = null || (parses(x) && !x->args[PARSE_NULL]);
    if (null) {
        mrsi_outcomes_of(first_of(x), at, type, &of);
    }
    for (uint32_t i = 0; i < of.n && null; i++) {
        const struct mrsi_outcome *o = &of.item[i];
        null = o->kind == MRSI_SAME ? type & MRSI_NULLISH
                                    : o->kind == MRSI_GIVES && mrsi_returns_null(o->from, at, type);
    }
    return null && !of.more;
}

/* The first operand that is not null, or the last. */
static void
add_if_null(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, struct mrsi_outcomes *out)
{
    bool on = true;
    for (uint32_t i = 0; i + 1 < x->n_args && on; i++) {
        struct mrsi_outcomes one = {.n = 0};
        mrsi_outcomes_of(x->args[i], at, type, &one);
        on = false;
        out->more = out->more || one.more;
        for (uint32_t k = 0; k < one.n; k++) {
            struct mrsi_outcome o = one.item[k];
            uint32_t types = o.kind == MRSI_SAME ? type : o.types;
            on = on || types & MRSI_NULLISH;
            if (o.kind == MRSI_FAILS || types & ~MRSI_NULLISH) {
                add(out, o.kind, o.from, o.types & ~MRSI_NULLISH);
            } else if (o.kind == MRSI_GIVES && !mrsi_returns_null(o.from, at, type)) {
                add(out, MRSI_FAILS, NULL, 0);
            }
        }
    }
    if (on) {
        mrsi_outcomes_of(x->args[x->n_args - 1], at, type, out);
    }
}

/* Conversions that leave values of their type unchanged; 0: x is none. */
static uint32_t
converts_to(const struct mrs_expr *x)
{
    static const struct {
        const char *op;
        uint8_t type;
    } to[] = {{"$toBool", MRS_BOOL}, {"$toInt", MRS_INT32}, {"$toLong", MRS_INT64}, {"$toDouble", MRS_DOUBLE},
              {"$toDecimal", MRS_DECIMAL128}, {"$toDate", MRS_DATE}, {"$toObjectId", MRS_OBJECTID},
              {"$toString", MRS_STRING}};
    bool plain = mrsi_is_call(x, "$convert") && x->args[TO]->kind == MRSI_LITERAL && !x->args[4] && !x->args[5] &&
                 !x->args[6];
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        if (mrsi_is_call(x, to[i].op) || (plain && mrs_val_is_text(x->args[TO]->lit, mrs_type_name(to[i].type)))) {
            return mrs_type_bit(to[i].type);
        }
    }
    return 0;
}

/* A conversion of the value at the spot. */
static void
add_converted(const struct mrs_expr *x, uint32_t to, const struct mrsi_expr_spot *at, uint32_t type,
              struct mrsi_outcomes *out)
{
    bool rules = mrsi_is_call(x, "$convert");
    if (type & MRSI_NULLISH) {
        if (rules && x->args[ON_NULL]) {
            mrsi_outcomes_of(x->args[ON_NULL], at, type, out);
        } else {
            add(out, MRSI_GIVES, x, mrs_type_bit(MRS_NULL));
        }
    } else if (type == to) {
        add(out, MRSI_SAME, NULL, 0);
    } else {
        add(out, MRSI_GIVES, x, to);
        if (rules && x->args[ON_ERROR]) {
            mrsi_outcomes_of(x->args[ON_ERROR], at, type, out);
        }
    }
}

static void
add_parsed(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, struct mrsi_outcomes *out)
{
    bool null = type & MRSI_NULLISH, text = type == mrs_type_bit(MRS_STRING);
    const struct mrs_expr *instead = x->args[null ? PARSE_NULL : PARSE_ERROR];
    if (text) {
        add(out, MRSI_GIVES, x, mrs_type_bit(MRS_DATE));
    }
    if (instead) {
        mrsi_outcomes_of(instead, at, type, out);
    } else if (null) {
        add(out, MRSI_GIVES, x, mrs_type_bit(MRS_NULL));
    } else if (!text) {
        add(out, MRSI_FAILS, NULL, 0);
    }
}

/* Whether $let binds nothing that depends on the value or fails. */
static bool
binds_apart(const struct mrs_expr *x, const struct mrsi_expr_spot *at)
{
    bool apart = mrsi_is_call(x, "$let");
    for (uint32_t i = 0; i + 1 < x->n_args && apart; i++) {
        apart = !mrsi_expr_spot_read(at, x->args[i]) && never_fails(x->args[i]);
    }
    return apart;
}

/* Whether an operator only accepts other types, and fails for this one. */
static bool
takes_others(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    static const struct {
        const char *op;
        uint8_t type;
    } takes[] = {{"$split", MRS_STRING}, {"$toObject", MRS_STRING}, {"$toArray", MRS_STRING},
                 {"$objectToArray", MRS_DOCUMENT}, {"$arrayToObject", MRS_ARRAY}, {"$map", MRS_ARRAY},
                 {"$filter", MRS_ARRAY}};
    bool others = false;
    for (size_t i = 0; i < sizeof takes / sizeof *takes && !others; i++) {
        others = mrsi_is_call(x, takes[i].op) && !(type & (MRSI_NULLISH | mrs_type_bit(takes[i].type)));
    }
    for (uint32_t i = 1; i < x->n_args && others && !mrsi_is_call(x, "$map") && !mrsi_is_call(x, "$filter"); i++) {
        others = is_fixed(x->args[i]);
    }
    return others && mrsi_only_same(x->args[0], at, type);
}

void
mrsi_outcomes_of(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type, struct mrsi_outcomes *out)
{
    uint32_t to = converts_to(x);
    if (is_spot(x, at)) {
        add(out, MRSI_SAME, NULL, 0);
    } else if (mrsi_is_call(x, "$cond")) {
        if (!add_branch(x->args[0], x->args[1], at, type, out)) {
            mrsi_outcomes_of(x->args[2], at, type, out);
        }
    } else if (mrsi_is_call(x, "$switch")) {
        add_switch(x, at, type, out);
    } else if (mrsi_is_call(x, "$ifNull")) {
        add_if_null(x, at, type, out);
    } else if (binds_apart(x, at)) {
        mrsi_outcomes_of(x->args[x->n_args - 1], at, type, out);
    } else if (parses(x) && mrsi_only_same(x->args[0], at, type)) {
        add_parsed(x, at, type, out);
    } else if (takes_others(x, at, type)) {
        add(out, MRSI_FAILS, NULL, 0);
    } else if (to && mrsi_only_same(x->args[0], at, type)) {
        add_converted(x, to, at, type, out);
    } else {
        add(out, MRSI_GIVES, x, types_of(x, at, type));
    }
}

bool
mrsi_only_same(const struct mrs_expr *x, const struct mrsi_expr_spot *at, uint32_t type)
{
    struct mrsi_outcomes o = {.n = 0};
    mrsi_outcomes_of(x, at, type, &o);
    return !o.more && o.n == 1 && o.item[0].kind == MRSI_SAME;
}

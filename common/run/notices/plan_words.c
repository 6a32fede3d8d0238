/* SPDX-License-Identifier: Apache-2.0 */
/* plan_words.c - what a step's keys say that documents can show to be a slip: texts of expressions that look like names
 * of fields, and the types that `where` compares paths with.
 *
 * Compiled expressions no longer tell: of { $toLower: email } they have the text alone. So the keys are read as they
 * are in the plan. A text counts where a field is usual: as a whole value, as an operand of what computes; not below
 * $literal, not in lists, not where it is compared with a field. Depth is that of a plan, which is bounded. */
#include "plan_words.h"
#include "mongoreshape/words.h"

enum { TEXT_MAX = 64 };

/* Operators all of whose operands are values of fields, as a rule; of others the first is. */
static const char *const all_fields[] = {"$concat", "$add", "$subtract", "$multiply", "$divide", "$sum", "$avg"};
static const char *const compares[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp", "$in"};
static const char *const inputs[] = {"input", "date", "dateString", "startDate", "endDate", "output"};
static const char *const alternatives[] = {"$in", "$nin"};
static const char *const joints[] = {"$and", "$or", "$nor"};

static bool
is_text(struct mrs_val v)
{
    uint32_t n;
    return v.type == MRS_STRING && *mrs_val_text(v, &n) != '$';
}

/* The name of a field, with letters in front and no blanks. */
static void
suspect(const struct mrsi_plan_words *to, struct mrs_val v)
{
    static const char names[] = "._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint32_t n = 0;
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : "";
    if (n && n <= TEXT_MAX && strspn(text, names) == n && strchr(names + 12, *text)) {
        to->text(to->arg, text);
    }
}

static void expression(const struct mrsi_plan_words *to, struct mrs_val v, bool whole);

static void
operands(const struct mrsi_plan_words *to, const char *op, struct mrs_val list)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool compared = MRS_IS_ONE_OF(op, compares), met = false;
    for (mrs_walk_init(&w, mrs_val_view(list)); compared && mrs_walk_next(&w, &el) == 1;) {
        met = met || el.v.type == MRS_DOCUMENT || (el.v.type == MRS_STRING && !is_text(el.v));
    }
    mrs_walk_init(&w, mrs_val_view(list));
    for (uint32_t i = 0; mrs_walk_next(&w, &el) == 1; i++) {
        if (!met && (i == 0 || MRS_IS_ONE_OF(op, all_fields))) {
            suspect(to, el.v);
        }
        expression(to, el.v, false);
    }
}

static void
operator(const struct mrsi_plan_words *to, const struct mrs_elem *op)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (strcmp(op->name, "$literal") == 0 || strcmp(op->name, "$const") == 0) {
        return;
    }
    if (op->v.type == MRS_ARRAY) {
        operands(to, op->name, op->v);
    } else if (op->v.type == MRS_DOCUMENT) {
        for (mrs_walk_init(&w, mrs_val_view(op->v)); mrs_walk_next(&w, &el) == 1;) {
            if (*el.name == '$') {
                operator(to, &el);
                continue;
            }
            if (MRS_IS_ONE_OF(el.name, inputs)) {
                suspect(to, el.v);
            }
            expression(to, el.v, false);
        }
    } else {
        suspect(to, op->v);
    }
}

/* whole: it is the value of a field. */
static void
expression(const struct mrsi_plan_words *to, struct mrs_val v, bool whole)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (whole) {
        suspect(to, v);
    }
    if (v.type != MRS_DOCUMENT && v.type != MRS_ARRAY) {
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &el) == 1;) {
        if (v.type == MRS_DOCUMENT && *el.name == '$') {
            operator(to, &el);
        } else {
            expression(to, el.v, whole && v.type == MRS_DOCUMENT);
        }
    }
}

/* ---- queries ---- */
/* The types of which a value can be equal to v; 0: of any. */
static uint32_t
types_of(struct mrs_val v)
{
    static const uint32_t numbers = 1u << MRS_DOUBLE | 1u << MRS_INT32 | 1u << MRS_INT64 | 1u << MRS_DECIMAL128;
    static const uint32_t texts = 1u << MRS_STRING | 1u << MRS_SYMBOL;
    if (mrs_is_nullish(v) || v.type == MRS_MINKEY || v.type == MRS_MAXKEY) {
        return 0;
    }
    return mrs_is_number(v) ? numbers
           : v.type == MRS_STRING || v.type == MRS_SYMBOL || v.type == MRS_REGEX ? texts : mrsi_type_bit(v.type);
}

static uint32_t
types_of_all(struct mrs_val list)
{
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t types = 0;
    for (mrs_walk_init(&w, mrs_val_view(list)); mrs_walk_next(&w, &el) == 1;) {
        if (!types_of(el.v)) {
            return 0;
        }
        types |= types_of(el.v);
    }
    return types;
}

static void
compared(const struct mrsi_plan_words *to, const char *path, uint32_t types)
{
    if (types) {
        to->compared(to->arg, path, types);
    }
}

static void
predicates(const struct mrsi_plan_words *to, const char *path, struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc());
    if (v.type != MRS_DOCUMENT || mrs_walk_next(&w, &el) != 1 || *el.name != '$') {
        compared(to, path, types_of(v));
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &el) == 1;) {
        if (MRS_IS_ONE_OF(el.name, alternatives)) {
            compared(to, path, el.v.type == MRS_ARRAY ? types_of_all(el.v) : 0);
        } else if (MRS_IS_ONE_OF(el.name, compares)) {
            compared(to, path, types_of(el.v));
        }
    }
}

static void
query(const struct mrsi_plan_words *to, struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (v.type != MRS_DOCUMENT && v.type != MRS_ARRAY) {
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &el) == 1;) {
        if (v.type == MRS_ARRAY || MRS_IS_ONE_OF(el.name, joints)) {
            query(to, el.v);
        } else if (strcmp(el.name, "$expr") == 0) {
            expression(to, el.v, false);
        } else if (*el.name != '$') {
            predicates(to, el.name, el.v);
        }
    }
}

/* ---- the door ---- */
void
mrsi_plan_words(const struct mrs_step *st, const struct mrsi_plan_words *to)
{
    MRS_ASSERT(to->text && to->compared);
    bool shapes = st->desc.family == MRS_FAMILY_MAP || st->desc.family == MRS_FAMILY_JOIN ||
                  st->desc.family == MRS_FAMILY_FOLD;
    bool reads = shapes || st->desc.family == MRS_FAMILY_WINDOW;
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, st->body.p ? st->body : mrs_empty_doc()); /* a step that no plan wrote has no keys */
    while (mrs_walk_next(&w, &el) == 1) {
        const struct mrs_key *key = mrs_key_find(st->type->keys, st->type->n_keys, el.name);
        if (key && key->type == MRS_ARG_QUERY) {
            query(to, el.v);
        } else if (key && reads &&
                   (key->type == MRS_ARG_FIELDS || key->type == MRS_ARG_EXPR || key->type == MRS_ARG_MAP)) {
            expression(to, el.v, shapes && key->type != MRS_ARG_MAP && el.v.type == MRS_DOCUMENT);
        } else if (key && reads && strcmp(el.name, "by") == 0) {
            expression(to, el.v, el.v.type == MRS_DOCUMENT);
        }
    }
}

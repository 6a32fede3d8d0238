/* SPDX-License-Identifier: Apache-2.0 */
/* plan_words.c - values of a step's keys that may be slips, to be checked against documents: texts in expressions that
 * look like field names, paths of variables, and the types that `where` compares paths with.
 *
 * Compiled expressions have lost this: of { $toLower: email } they have only the text, of `$$this.b` only a memory
 * address. So the keys of the plan are read. A text counts where a field is usual: as a complete value, as an operand
 * of an operator that computes; not below $literal, not in lists, not if it is compared with a field. A variable is
 * known as long as it refers to a path of the document. The depth is that of a plan, which is bounded. */
#include "plan_words.h"
#include "run/store/value_kind.h"
#include "mongoreshape/words.h"

#include <stdio.h>

enum { TEXT_MAX = 64, PATH_MAX_BYTES = 120, VARS = 16 };

/* Operators whose operands are all usually fields; for others the first one is. */
static const char *const all_fields[] = {"$concat", "$add", "$subtract", "$multiply", "$divide", "$sum", "$avg"};
static const char *const compares[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp", "$in"};
static const char *const inputs[] = {"input", "date", "dateString", "startDate", "endDate", "output", "if"};
static const char *const alternatives[] = {"$in", "$nin", "$all"};
static const char *const equalities[] = {"$eq", "$ne", "$in", "$nin", "$all"};
static const char *const joints[] = {"$and", "$or", "$nor"};

static bool
is_text(struct mrs_val v)
{
    uint32_t n;
    return v.type == MRS_STRING && *mrs_val_text(v, &n) != '$';
}

/* ---- variables ---- */
struct word_var {
    const struct word_var *outer;
    const char *name;
    bool known;
    char at[PATH_MAX_BYTES]; /* path in the document; "": the document */
};
struct wording {
    const struct mrsi_plan_words *to;
    const struct word_var *vars; /* `$a` is a field of ROOT */
    bool parts;                  /* ROOT is a part of a document, so the step's description has no path of `$a` */
    const char *made;            /* path of the field that a part gets which is no document; NULL: none */
};

static bool
below(const char *at, const char *name, char out[PATH_MAX_BYTES])
{
    int n = snprintf(out, PATH_MAX_BYTES, "%s%s%s", at, *at && *name ? "." : "", name);
    return n >= 0 && n < PATH_MAX_BYTES;
}

/* The path of `$a.b` or `$$name.a.b`. */
static bool
path_of_text(const struct wording *x, const char *text, char out[PATH_MAX_BYTES])
{
    bool var = text[0] == '$' && text[1] == '$';
    const char *name = var ? text + 2 : "ROOT", *rest = var ? strchr(name, '.') : text + 1;
    size_t n = rest && var ? (size_t)(rest - name) : strlen(name);
    if (*text != '$') {
        return false;
    }
    if (n == 7 && memcmp(name, "CURRENT", 7) == 0) {
        name = "ROOT";
        n = 4;
    }
    for (const struct word_var *v = x->vars; v; v = v->outer) {
        if (strncmp(v->name, name, n) == 0 && !v->name[n]) {
            return v->known && below(v->at, rest ? rest + var : "", out);
        }
    }
    return false;
}

/* The path of an expression that returns the value there, or elements of it. */
static bool
path_of(const struct wording *x, struct mrs_val v, char out[PATH_MAX_BYTES])
{
    static const char *const same[] = {"$filter", "$sortArray", "$slice",    "$first",  "$last",
                                       "$firstN", "$lastN",     "$arrayElemAt", "$ifNull", "$reverseArray"};
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n;
    for (;;) {
        if (v.type == MRS_STRING) {
            return path_of_text(x, mrs_val_text(v, &n), out);
        }
        mrs_walk_init(&w, v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc());
        if (mrs_walk_next(&w, &el) != 1 || !MRS_IS_ONE_OF(el.name, same)) {
            return false;
        }
        v = el.v;
        if (v.type == MRS_ARRAY) {
            mrs_walk_init(&w, mrs_val_view(v));
            v = mrs_walk_next(&w, &el) == 1 ? el.v : mrs_missing();
        } else if (v.type == MRS_DOCUMENT && mrs_doc_get(mrs_val_view(v), "input").type != MRS_MISSING) {
            v = mrs_doc_get(mrs_val_view(v), "input");
        }
    }
}

static void
put_path(const struct wording *x, const char *path)
{
    if (*path && !(x->made && strcmp(path, x->made) == 0)) {
        x->to->path(x->to->arg, path);
    }
}

static void
variable(const struct wording *x, struct mrs_val v)
{
    char path[PATH_MAX_BYTES];
    uint32_t n;
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : "";
    if (text[0] == '$' && (x->parts || text[1] == '$') && path_of_text(x, text, path)) {
        put_path(x, path);
    }
}

/* A field of an expression's result; without one, of ROOT. */
static void
field_of(const struct wording *x, struct mrs_val input, const char *name)
{
    char at[PATH_MAX_BYTES], path[PATH_MAX_BYTES];
    bool known = input.type == MRS_MISSING ? path_of_text(x, "$$ROOT", at) : path_of(x, input, at);
    if (known && below(at, name, path)) {
        put_path(x, path);
    }
}

/* $getField. A name with a dot is no path. */
static void
got_field(const struct wording *x, struct mrs_val input, struct mrs_val name)
{
    uint32_t n;
    const char *text = is_text(name) ? mrs_val_text(name, &n) : ".";
    if (!strchr(text, '.')) {
        field_of(x, input, text);
    }
}

/* ---- types ---- */
static const uint32_t numbers = 1u << MRS_DOUBLE | 1u << MRS_INT32 | 1u << MRS_INT64 | 1u << MRS_DECIMAL128;
static const uint32_t texts = 1u << MRS_STRING | 1u << MRS_SYMBOL;

/* The types of values that can equal v; 0: any. */
static uint32_t
types_of(struct mrs_val v)
{
    if (mrs_is_nullish(v) || v.type == MRS_MINKEY || v.type == MRS_MAXKEY) {
        return 0;
    }
    return mrs_is_number(v)                                                      ? numbers
           : v.type == MRS_STRING || v.type == MRS_SYMBOL || v.type == MRS_REGEX ? texts
                                                                                 : mrsi_type_bit(mrsi_value_kind(v));
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
compared(const struct mrsi_plan_words *to, const char *path, uint32_t types, bool where)
{
    if (types) {
        to->compared(to->arg, path, types, where);
    }
}

/* ---- expressions ---- */
/* Is it like a field name: a letter first, no blanks? */
static void
suspect(const struct wording *x, struct mrs_val v)
{
    static const char names[] = "._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char path[PATH_MAX_BYTES], field[TEXT_MAX + 2];
    uint32_t n = 0;
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : "";
    if (n && n <= TEXT_MAX && strspn(text, names) == n && strchr(names + 12, *text)) {
        snprintf(field, sizeof field, "$%s", text);
        x->to->text(x->to->arg, text, path_of_text(x, field, path) ? path : text);
    }
}

static void expression(const struct wording *x, struct mrs_val v, bool whole);

static bool
is_constant(struct mrs_val v)
{
    return v.type != MRS_DOCUMENT && v.type != MRS_ARRAY && (v.type != MRS_STRING || is_text(v));
}

static uint32_t types_made(struct mrs_val v);

/* A date plus or minus a number is a date. */
static bool
is_date_moved(const struct mrs_elem *op)
{
    static const char *const moves[] = {"$add", "$subtract"};
    struct mrs_walk w;
    struct mrs_elem a, b;
    mrs_walk_init(&w, op->v.type == MRS_ARRAY ? mrs_val_view(op->v) : mrs_empty_doc());
    return MRS_IS_ONE_OF(op->name, moves) && mrs_walk_next(&w, &a) == 1 && mrs_walk_next(&w, &b) == 1 &&
           types_made(a.v) == mrsi_type_bit(MRS_DATE) && types_made(b.v) == numbers;
}

/* The types that an expression makes, by its operator alone; 0: unknown. The depth is that of a plan. */
static uint32_t
types_made(struct mrs_val v)
{
    static const char *const dates[] = {"$toDate", "$dateAdd", "$dateSubtract", "$dateTrunc", "$dateFromString",
                                        "$dateFromParts"};
    static const char *const strings[] = {"$toString", "$concat", "$toLower", "$toUpper", "$dateToString", "$substrCP",
                                          "$substrBytes", "$substr", "$trim", "$type"};
    static const char *const figures[] = {"$toInt", "$toLong", "$toDouble", "$toDecimal", "$size", "$strLenCP", "$year",
                                          "$month", "$dateDiff", "$multiply"};
    static const char *const literals[] = {"$literal", "$const"};
    struct mrs_walk w;
    struct mrs_elem op;
    if (v.type != MRS_DOCUMENT) {
        return mrs_val_is_text(v, "$$NOW") ? mrsi_type_bit(MRS_DATE) : is_constant(v) ? types_of(v) : 0;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    if (mrs_walk_next(&w, &op) != 1) {
        return 0;
    }
    return MRS_IS_ONE_OF(op.name, dates) || is_date_moved(&op) ? mrsi_type_bit(MRS_DATE)
           : MRS_IS_ONE_OF(op.name, strings)                   ? texts
           : MRS_IS_ONE_OF(op.name, figures)                   ? numbers
           : strcmp(op.name, "$toObjectId") == 0               ? mrsi_type_bit(MRS_OBJECTID)
           : MRS_IS_ONE_OF(op.name, literals)                  ? types_of(op.v)
                                                               : 0;
}

/* A path compared with a value of known type: { $gt: [$a, 5] }, { $lt: [$a, $$NOW] }, { $in: [$a, [1, 2]] }. */
static void
comparison(const struct wording *x, const char *op, struct mrs_val list)
{
    char path[PATH_MAX_BYTES];
    struct mrs_walk w;
    struct mrs_elem a, b;
    uint32_t n;
    mrs_walk_init(&w, mrs_val_view(list));
    if (!MRS_IS_ONE_OF(op, compares) || mrs_walk_next(&w, &a) != 1 || mrs_walk_next(&w, &b) != 1) {
        return;
    }
    bool listed = strcmp(op, "$in") == 0;
    bool turned = !listed && b.v.type == MRS_STRING && path_of_text(x, mrs_val_text(b.v, &n), path) && *path;
    struct mrs_val field = turned ? b.v : a.v, with = turned ? a.v : b.v;
    uint32_t types = !listed ? types_made(with) : with.type == MRS_ARRAY ? types_of_all(with) : 0;
    if (field.type == MRS_STRING && path_of_text(x, mrs_val_text(field, &n), path) && *path) {
        compared(x->to, path, types, false);
    }
}

static void
operands(const struct wording *x, const char *op, struct mrs_val list)
{
    struct mrs_walk w;
    struct mrs_elem el;
    comparison(x, op, list);
    bool compared = MRS_IS_ONE_OF(op, compares), found = false;
    for (mrs_walk_init(&w, mrs_val_view(list)); compared && mrs_walk_next(&w, &el) == 1;) {
        found = found || el.v.type == MRS_DOCUMENT || (el.v.type == MRS_STRING && !is_text(el.v));
    }
    mrs_walk_init(&w, mrs_val_view(list));
    for (uint32_t i = 0; mrs_walk_next(&w, &el) == 1; i++) {
        if (!found && (i == 0 || MRS_IS_ONE_OF(op, all_fields))) {
            suspect(x, el.v);
        }
        expression(x, el.v, false);
    }
}

/* The parts evaluated for each element: `in`, `cond`. */
static const char *const inner[] = {"in", "cond"};

/* The variables of an operator, in room; returns the innermost. */
static const struct word_var *
declare(const struct wording *x, const char *op, struct mrs_view args, struct word_var room[VARS])
{
    struct mrs_val vars = mrs_doc_get(args, "vars"), as = mrs_doc_get(args, "as");
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0, len;
    if (strcmp(op, "$let") == 0 && vars.type == MRS_DOCUMENT) {
        for (mrs_walk_init(&w, mrs_val_view(vars)); n < VARS && mrs_walk_next(&w, &el) == 1; n++) {
            room[n].name = el.name;
            room[n].known = path_of(x, el.v, room[n].at);
        }
    } else if (strcmp(op, "$map") == 0 || strcmp(op, "$filter") == 0 || strcmp(op, "$reduce") == 0) {
        room[0].name = as.type == MRS_STRING ? mrs_val_text(as, &len) : "this";
        room[0].known = path_of(x, mrs_doc_get(args, "input"), room[0].at);
        room[1].name = "value"; /* for $reduce */
        room[1].known = false;
        n = 1 + (strcmp(op, "$reduce") == 0);
    }
    for (uint32_t i = 0; i < n; i++) {
        room[i].outer = i ? &room[i - 1] : x->vars;
    }
    return n ? &room[n - 1] : x->vars;
}

static void
operator(const struct wording *x, const struct mrs_elem *op);

static void
arguments(const struct wording *x, const char *op, struct mrs_view args)
{
    struct word_var room[VARS];
    struct wording in = *x;
    struct mrs_val by = mrs_doc_get(args, "sortBy"), name = mrs_doc_get(args, "field");
    struct mrs_walk w;
    struct mrs_elem el;
    in.vars = declare(x, op, args, room);
    for (mrs_walk_init(&w, args); mrs_walk_next(&w, &el) == 1;) {
        if (*el.name == '$') {
            operator(x, &el);
            continue;
        }
        if (MRS_IS_ONE_OF(el.name, inputs)) {
            suspect(x, el.v);
        }
        expression(MRS_IS_ONE_OF(el.name, inner) ? &in : x, el.v, false);
    }
    if (strcmp(op, "$sortArray") == 0 && by.type == MRS_DOCUMENT) {
        for (mrs_walk_init(&w, mrs_val_view(by)); mrs_walk_next(&w, &el) == 1;) {
            field_of(x, mrs_doc_get(args, "input"), el.name);
        }
    } else if (strcmp(op, "$getField") == 0) {
        got_field(x, mrs_doc_get(args, "input"), name);
    }
}

static void
operator(const struct wording *x, const struct mrs_elem *op)
{
    if (strcmp(op->name, "$literal") == 0 || strcmp(op->name, "$const") == 0) {
        return;
    }
    if (op->v.type == MRS_ARRAY) {
        operands(x, op->name, op->v);
    } else if (op->v.type == MRS_DOCUMENT) {
        arguments(x, op->name, mrs_val_view(op->v));
    } else if (strcmp(op->name, "$getField") == 0) {
        got_field(x, mrs_missing(), op->v);
    } else {
        suspect(x, op->v);
        variable(x, op->v);
    }
}

/* whole: it is the complete value of a field. */
static void
expression(const struct wording *x, struct mrs_val v, bool whole)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (whole) {
        suspect(x, v);
    }
    variable(x, v);
    if (v.type != MRS_DOCUMENT && v.type != MRS_ARRAY) {
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &el) == 1;) {
        if (v.type == MRS_DOCUMENT && *el.name == '$') {
            operator(x, &el);
        } else {
            if (!whole && strcmp(el.name, "case") == 0) { /* a branch of $switch */
                suspect(x, el.v);
            }
            expression(x, el.v, whole && v.type == MRS_DOCUMENT);
        }
    }
}

/* ---- queries ---- */
/* A comparison is of one type; { $type: ... } says that others are known. */
static void
typed(const struct mrsi_plan_words *to, const char *path, struct mrs_val v)
{
    if (v.type != MRS_DOCUMENT || mrs_doc_get(mrs_val_view(v), "$type").type == MRS_MISSING) {
        to->typed(to->arg, path, true);
    }
}

/* Texts that are equal, or not; not those that are greater or less. */
static void
selected(const struct mrsi_plan_words *to, const char *path, struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem el = {.v = v};
    mrs_walk_init(&w, v.type == MRS_ARRAY ? mrs_val_view(v) : mrs_empty_doc());
    do {
        if (el.v.type == MRS_STRING) {
            to->selects(to->arg, path, el.v);
        }
    } while (mrs_walk_next(&w, &el) == 1);
}

static void predicates(const struct mrsi_plan_words *to, const char *path, struct mrs_val v);

/* Of $elemMatch: operators on the element itself, or a query of its fields. */
static void
of_element(const struct mrsi_plan_words *to, const char *path, struct mrs_view v)
{
    struct mrs_walk w;
    struct mrs_elem el;
    char field[PATH_MAX_BYTES];
    for (mrs_walk_init(&w, v); mrs_walk_next(&w, &el) == 1;) {
        if (*el.name == '$') {
            predicates(to, path, mrs_view_val(v));
            return;
        }
        if (below(path, el.name, field)) {
            predicates(to, field, el.v);
        }
    }
}

static void
predicates(const struct mrsi_plan_words *to, const char *path, struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc());
    if (v.type != MRS_DOCUMENT || mrs_walk_next(&w, &el) != 1 || *el.name != '$') {
        compared(to, path, types_of(v), true);
        selected(to, path, v);
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &el) == 1;) {
        if (MRS_IS_ONE_OF(el.name, equalities)) {
            selected(to, path, el.v);
        }
        if (strcmp(el.name, "$not") == 0) {
            predicates(to, path, el.v);
        } else if (strcmp(el.name, "$elemMatch") == 0 && el.v.type == MRS_DOCUMENT) {
            of_element(to, path, mrs_val_view(el.v));
        } else if (MRS_IS_ONE_OF(el.name, alternatives)) {
            compared(to, path, el.v.type == MRS_ARRAY ? types_of_all(el.v) : 0, true);
        } else if (MRS_IS_ONE_OF(el.name, compares)) {
            compared(to, path, types_of(el.v), true);
        }
    }
}

static void
query(const struct wording *x, struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem el;
    if (v.type != MRS_DOCUMENT && v.type != MRS_ARRAY) {
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &el) == 1;) {
        if (v.type == MRS_ARRAY || MRS_IS_ONE_OF(el.name, joints)) {
            query(x, el.v);
        } else if (strcmp(el.name, "$expr") == 0) {
            expression(x, el.v, false);
        } else if (*el.name != '$') {
            typed(x->to, el.name, el.v);
            predicates(x->to, el.name, el.v);
        }
    }
}

static void
sort_keys(const struct mrsi_plan_words *to, struct mrs_val sort)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, mrs_val_view(sort)); mrs_walk_next(&w, &el) == 1;) {
        to->typed(to->arg, el.name, false);
    }
}

/* ---- entry point ---- */
/* The document that the expressions of a step see: the complete one, or parts at a path, under another name. False:
 * unknown. made: the path of the field that such a part gets if it is no document. */
static bool
root_of(const struct mrs_step *st, struct word_var room[3], char made[PATH_MAX_BYTES])
{
    bool whole = st->desc.family != MRS_FAMILY_SPREAD && st->desc.family != MRS_FAMILY_GROUP;
    bool bucket = strcmp(st->type->name, "unbucket") == 0;
    struct mrs_val at = whole ? mrs_missing() : mrs_doc_get(st->body, bucket ? "items" : "path");
    struct mrs_val value = mrs_doc_get(st->body, "value");
    uint32_t n;
    room[0] = (struct word_var){.name = bucket ? "BUCKET" : "PARENT", .known = true};
    room[1] = (struct word_var){.outer = whole ? NULL : &room[0], .name = "ROOT", .known = true};
    bool known = whole || (at.type == MRS_STRING && mrs_doc_get(st->body, "map").type == MRS_MISSING &&
                           mrs_doc_get(st->body, "nested").type == MRS_MISSING &&
                           below("", mrs_val_text(at, &n), room[1].at) &&
                           below(room[1].at, value.type == MRS_STRING ? mrs_val_text(value, &n) : "value", made));
    room[2] = room[1];
    room[2].outer = &room[1];
    room[2].name = bucket ? "ITEM" : "ROOT";
    return known;
}

void
mrsi_plan_words(const struct mrs_step *st, const struct mrsi_plan_words *to)
{
    MRS_ASSERT(to->text && to->compared && to->path && to->typed && to->selects);
    char part[PATH_MAX_BYTES];
    struct word_var room[3], made = {.name = "ROOT"};
    struct mrs_view body = st->body.p ? st->body : mrs_empty_doc(); /* a step without a plan has no keys */
    bool fold = st->desc.family == MRS_FAMILY_FOLD, window = st->desc.family == MRS_FAMILY_WINDOW;
    bool parts = st->desc.family == MRS_FAMILY_SPREAD || st->desc.family == MRS_FAMILY_GROUP;
    bool shapes = fold || st->desc.family == MRS_FAMILY_MAP || st->desc.family == MRS_FAMILY_JOIN;
    bool known = body.n > 5 && root_of(st, room, part);
    struct wording documents = {to, known ? &room[2] : &made, parts, parts && known ? part : NULL};
    struct wording results = {to, &made, false, NULL}, whole = {to, NULL, false, NULL};
    struct mrs_walk w;
    struct mrs_elem el;
    made.known = false;
    struct word_var root = {.name = "ROOT", .known = true};
    whole.vars = &root;
    for (mrs_walk_init(&w, body); mrs_walk_next(&w, &el) == 1;) {
        const struct mrs_key *key = mrs_key_find(st->type->keys, st->type->n_keys, el.name);
        bool id = strcmp(el.name, "id") == 0, made_of = fold && (id || strcmp(el.name, "set") == 0);
        const struct wording *x = made_of ? &results : &documents;
        bool reads = shapes || window || (parts && known && strcmp(el.name, "fields") == 0);
        if (key && key->type == MRS_ARG_QUERY) {
            query(&whole, el.v);
        } else if (key && key->type == MRS_ARG_SORT && el.v.type == MRS_DOCUMENT &&
                   st->desc.family != MRS_FAMILY_LINK) { /* which sorts the other side */
            sort_keys(to, el.v);
        } else if (key && reads &&
                   (key->type == MRS_ARG_FIELDS || key->type == MRS_ARG_EXPR || key->type == MRS_ARG_MAP)) {
            expression(x, el.v, !window && key->type != MRS_ARG_MAP && el.v.type == MRS_DOCUMENT);
        } else if (key && (((shapes || window) && strcmp(el.name, "by") == 0) || (parts && known && id))) {
            expression(x, el.v, el.v.type == MRS_DOCUMENT);
        }
    }
}

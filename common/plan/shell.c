/* SPDX-License-Identifier: Apache-2.0 */
/* shell.c - finds literals of the mongo shell in a plan, such as ISODate("2020-01-01") or /^a/i: for YAML they are
 * texts.
 *
 * A text compares only with texts, so a query with one selects other documents than intended, without an error. Each is
 * an error of the plan, and the message shows the Extended JSON to write. Below `$literal` everything is text. A text
 * that may be intended gets a warning: one that looks like a date or a field, in a comparison; an expression of a
 * programming language; a query operator without its $; True and None; a key without a value; an array index in a path.
 * Knows no step. */
#include "plan/literal/literal.h"
#include "shell.h"
#include "mongoreshape/words.h"

enum context {
    VALUE,   /* of an expression, or another value */
    QUERY,   /* a value that a query compares with */
    OPERAND, /* an operand of a comparison in an expression */
    PATTERN  /* a regular expression */
};
struct shell_check {
    struct mrsi_plan *p;
    const char *step, *key;
    bool good;
};

static const char *const compares[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp", "$in"};
/* Their values are texts. */
static const char *const texts[] = {"$literal", "$comment",           "$date",         "$code",         "$oid",
                                    "$symbol",  "$regularExpression", "$numberDouble", "$numberDecimal"};
static const char *const no_compare[] = {"$expr", "$options", "$type", "$mod",
                                         "$exists", "$size", "$text", "$jsonSchema"};

static bool
digits(const char *text, size_t n)
{
    return strspn(text, "0123456789") >= n;
}

/* 2020-01-31, possibly followed by a time. */
static bool
is_date(const char *t, size_t n)
{
    return n >= 10 && digits(t, 4) && t[4] == '-' && digits(t + 5, 2) && t[7] == '-' && digits(t + 8, 2) &&
           (n == 10 || ((t[10] == 'T' || t[10] == ' ') && digits(t + 11, 2)));
}

/* The 24 hex digits of an ObjectId. */
static bool
is_oid(const char *t, size_t n)
{
    return n == 24 && strspn(t, "0123456789abcdefABCDEF") == n;
}

/* Notes a text that looks like a date or an ObjectId, since the field may contain texts. False: neither. */
static bool
note_similar(struct shell_check *l, const struct mrsi_yaml_entry *at, struct mrsi_span s, bool plain,
             enum context where)
{
    static const char *const converted[] = {"dateString", "input"};
    bool date = is_date(s.p, s.n);
    bool named = plain && *at->key && *at->key != '$' && !MRS_IS_ONE_OF(at->key, converted);
    if ((!date && !is_oid(s.p, s.n)) || where == PATTERN || (where == VALUE && !named)) {
        return false;
    }
    mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: %s%.40s%s is a text%s; for %s write {\"%s\": \"%.*s%s\"}%s",
                      l->step, l->key, where == VALUE ? "" : "\"", s.p, where == VALUE ? "" : "\"",
                      where == VALUE ? " here" : ", and a text compares with texts only",
                      date ? "a date" : "an ObjectId", date ? "$date" : "$oid", date ? 10 : 24, s.p,
                      date && s.n > 10 ? "T00:00:00Z" : "", where == VALUE ? ", for the text put it in quotes" : "");
    return true;
}

/* ---- valid, but rarely intended ---- */
static const char *const operators[] = {"eq",  "ne",  "gt",     "gte", "lt",    "lte",
                                        "in",  "nin", "exists", "not", "regex", "elemMatch"};
static const char *const joints[] = {"or", "and", "nor"};
static const char *const words[] = {"True", "TRUE", "False", "FALSE", "Null", "NULL", "None", "nil",
                                    "yes",  "Yes",  "YES",   "on",    "On",   "ON",
                                    "no",   "No",   "NO",    "off",   "Off",  "OFF"};
static const char *const escapes[] = {"\\n", "\\t", "\\r", "\\r\\n"};
static const char *const times[] = {"now", "Now", "NOW", "today"};
static const char *const variables[] = {"$NOW", "$ROOT", "$CURRENT", "$REMOVE"};

/* Expressions of programming languages. */
static bool
warn_code(struct shell_check *l, const struct mrsi_yaml_entry *at, struct mrsi_span s, enum context where)
{
    static const char *const help[] = {
        [MRSI_CODE_CALL] =
            "a text here, nothing calls it: write its value, or an expression of operators ({ $toLower: $name })",
        [MRSI_CODE_TEXT] = "a text here, with all its signs: write it without the letter in front",
        [MRSI_CODE_NUMBER] = "a text here, no number: write 1000, or {$numberLong: \"1000\"}",
        [MRSI_CODE_QUOTES] = "a text here, with its curved quotes: YAML knows \" and ' only",
        [MRSI_CODE_BLANK] = "a text here, with a non-breaking blank (U+00A0) at its end: write it without",
        [MRSI_CODE_SUM] = "one path: write operators, { $add: [$a, 1] }, { $concat: [$a, \" \", $b] }",
        [MRSI_CODE_THIS] = "a text here: a field is written with a `$`, as $name",
    };
    struct mrsi_literal shown;
    bool certain;
    enum mrsi_code code = mrsi_literal_code(s);
    if (code != MRSI_CODE_NONE) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: %.60s is %s; if it is meant, put it in quotes", l->step, l->key, s.p, help[code]);
        return true;
    }
    if (where == VALUE && mrsi_literal_regex(l->p->pub.mem, s, &certain, &shown) && certain) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: %.60s is a text here; a regular expression is %.200s; if the text is meant, put "
                          "it in quotes", l->step, l->key, s.p, shown.text);
        return true;
    }
    return false;
}

/* "Hello $name", "#{name}", "{{name}}": templates are not expanded. */
static bool
is_template(struct mrsi_span s)
{
    for (size_t i = 1; i + 1 < s.n; i++) {
        bool opens = s.p[i] == '{' && strchr("$#{", s.p[i - 1]);
        bool field = s.p[i] == '$' && mrsi_is_letter(s.p[i + 1]) && !(s.p[i + 1] >= '0' && s.p[i + 1] <= '9') &&
                     strchr(" (\"':/", s.p[i - 1]);
        if (*s.p != '$' ? opens || field : i == 1 && opens) {
            return true;
        }
    }
    return false;
}

/* Operators for totals with a text, and date formats of other languages. */
static void
warn_operand(struct shell_check *l, const struct mrsi_yaml_entry *at, struct mrsi_span s)
{
    static const char *const totals[] = {"$sum", "$avg", "$stdDevPop", "$stdDevSamp"};
    static const char *const bytes[] = {"auto", "base64", "base64url", "hex", "utf8", "uuid"}; /* formats of $convert */
    if (MRS_IS_ONE_OF(at->key, totals) && *s.p != '$') {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: `%s` of a text passes over it: a field is \"$%.60s\", a "
                          "number has no quotes", l->step, l->key, at->key, s.p);
    } else if (strcmp(at->key, "format") == 0 && *s.p != '$' && !memchr(s.p, '%', s.n) &&
               !MRS_IS_ONE_OF(s.p, bytes)) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: no part of a date is in the format %.60s: write "
                          "\"%%Y-%%m-%%dT%%H:%%M:%%S\" or some of it", l->step, l->key, s.p);
    } else if (strcmp(at->key, "format") == 0 && strstr(s.p, "%M") && !strstr(s.p, "%H")) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: in the format %.60s %%M is the minute; the month is %%m",
                          l->step, l->key, s.p);
    }
}

/* lines.0.qty, lines[0].qty */
static bool
has_place(const char *path)
{
    for (const char *p = strpbrk(path, ".["); p; p = strpbrk(p + 1, ".[")) {
        size_t n = strcspn(p + 1, ".]");
        if (n && digits(p + 1, n) && (*p == '.' || p[1 + n] == ']')) {
            return true;
        }
    }
    return false;
}

static void
warn_text(struct shell_check *l, const struct mrsi_yaml_entry *at, struct mrsi_span s, bool plain,
          enum context where)
{
    MRS_ASSERT(s.p || s.n == 0);
    if (strcmp(at->key, "$exists") == 0) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: $exists takes true or false, and any text counts as true",
                          l->step, l->key);
    } else if (where == QUERY && s.n > 1 && *s.p == '$' && mrsi_is_letter(s.p[1 + (s.p[1] == '$')])) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: a query compares with the text \"%.60s\"; fields and variables are compared in "
                          "{ $expr: { $eq: [\"$a\", \"%.60s\"] } }", l->step, l->key, s.p, s.p);
    } else if (where != PATTERN && MRS_IS_ONE_OF(s.p, escapes)) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: %s is a backslash and a letter here: in double quotes, "
                          "\"%s\", it is the character", l->step, l->key, s.p, s.p);
    } else if (where != QUERY && where != PATTERN && *s.p == '$' && has_place(s.p)) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: in %.60s the number is the name of a field, not a place "
                          "in an array: an element is { $arrayElemAt: [$a, 0] }", l->step, l->key, s.p);
    } else if (where != QUERY && where != PATTERN && s.n > 1 && *s.p == '$' && strchr(" ,;:()/%'\"", s.p[1])) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: \"%.60s\" is the field `%.60s`: the text is "
                          "{ $literal: \"%.60s\" }", l->step, l->key, s.p, s.p + 1, s.p);
    } else if (plain && where == VALUE && MRS_IS_ONE_OF(s.p, times)) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: %s is a text here; the time of the run is $$NOW", l->step,
                          l->key, s.p);
    } else if (where == VALUE && is_template(s)) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: nothing is filled into the text \"%.60s\": texts and fields are joined by "
                          "{ $concat: [\"text \", $field] }", l->step, l->key, s.p);
    } else if (where != QUERY && MRS_IS_ONE_OF(s.p, variables)) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: %s is the field `%s`; the variable is `$%s`", l->step,
                          l->key, s.p, s.p + 1, s.p);
    } else if (where != PATTERN && plain &&
               (MRS_IS_ONE_OF(s.p, words) || (where == VALUE && strcmp(s.p, "undefined") == 0))) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: %s is a text here: write true, false or null, else put it in quotes", l->step,
                          l->key, s.p);
    }
}

/* The operator of a query that the name of a field may mean, without its $; NULL: none. */
static const char *
operator_of(const char *name)
{
    static const char *const signs[][2] = {{"<", "lt"},  {"<=", "lte"}, {">", "gt"},  {">=", "gte"}, {"=", "eq"},
                                           {"==", "eq"}, {"===", "eq"}, {"!=", "ne"}, {"!==", "ne"}, {"<>", "ne"}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strcmp(name, signs[i][0]) == 0) {
            return signs[i][1];
        }
    }
    return MRS_IS_ONE_OF(name, operators) ? name : NULL;
}

/* A key without a value, and keys of a query that are operators without their $. */
static void
warn_key(struct shell_check *l, const struct mrsi_yaml_entry *at, enum context where)
{
    const struct mrsi_yaml_node *node = at->node;
    const char *inner = node->kind == MRSI_MAP && node->first ? node->first->key : "";
    if (node->empty) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: after `%.60s` there is no value, which is null: write null where it is meant",
                          l->step, l->key, at->key);
    }
    if (where != QUERY || *at->key == '$') {
        return;
    }
    if (node->kind == MRSI_LIST && MRS_IS_ONE_OF(at->key, joints)) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: `%s` is the name of a field here; is `$%s` meant?",
                          l->step, l->key, at->key, at->key);
    } else if (operator_of(inner)) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: `%.60s` is compared with a document that has the field `%s`; is `$%s` meant?",
                          l->step, l->key, at->key, inner, operator_of(inner));
    }
}

static const char *
text_of(const struct mrsi_yaml_node *node)
{
    uint32_t n;
    return node && node->kind == MRSI_SCALAR && node->val.type == MRS_STRING ? mrs_val_text(node->val, &n) : "";
}

/* fields: { lines.0.qty: ... }, fields: [lines.0], sort: { lines.0: 1 } */
static void
warn_places(struct shell_check *l, const struct mrsi_yaml_node *paths)
{
    for (const struct mrsi_yaml_entry *at = paths->first; at; at = at->next) {
        bool map = paths->kind == MRSI_MAP, written = map && strcmp(l->key, "fields") == 0;
        const char *path = map ? at->key : text_of(at->node);
        if (has_place(path)) {
            mrsi_plan_warning(l->p, at->line, at->col,
                              "%s: `%s`: in `%.80s` the number is the name of a field, not a place in an array%s",
                              l->step, l->key, path, written ? ": there each element gets the field" : "");
        }
    }
}

/* validator: { required: [...] }, which is a JSON schema without the name of its operator. */
static void
warn_schema(struct shell_check *l, const struct mrsi_yaml_node *map)
{
    static const char *const schema[] = {"required", "properties", "bsonType", "additionalProperties"};
    const struct mrsi_yaml_entry *at = map->kind == MRSI_MAP ? map->first : NULL;
    while (at && !MRS_IS_ONE_OF(at->key, schema)) {
        at = at->next;
    }
    if (at) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: `%s` is the name of a field here: a JSON schema is the value of `$jsonSchema`",
                          l->step, l->key, at->key);
    }
}

/* match: { from: x, into: y }: with the names of the sides it must be a list. */
static void
warn_match(struct shell_check *l, const struct mrsi_yaml_entry *at)
{
    const struct mrsi_yaml_entry *a = at->node->kind == MRSI_MAP ? at->node->first : NULL, *b = a ? a->next : NULL;
    if (b && !b->next && mrsi_tree_find(at->node, "from") && mrsi_tree_find(at->node, "into")) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: these are fields that are called `from` and `into`: a map has the path of `from` "
                          "as its key, { a: b }, and a list names the sides, [{ from: $a, into: $b }]", l->step,
                          l->key);
    }
}

/* Is the text a literal of the shell or of a driver? out: what to write instead. */
static bool
is_literal(struct shell_check *l, struct mrsi_span s, bool plain, enum context where, bool *word,
           struct mrsi_literal *out)
{
    struct mrs_mem *mem = l->p->pub.mem;
    bool certain;
    *word = false;
    if (mrsi_literal_call(mem, s, plain, out)) {
        return true;
    }
    if (plain && mrsi_literal_word(mem, s, where == QUERY, out)) {
        return *word = true;
    }
    return where != VALUE && mrsi_literal_regex(mem, s, &certain, out) &&
           (plain || (certain && where != PATTERN));
}

/* { $date: { $numberLong: "1577836800" } }: seconds, read as milliseconds they are in January 1970. */
static void
warn_seconds(struct shell_check *l, const struct mrsi_yaml_entry *at)
{
    const struct mrsi_yaml_entry *ms = at->node->kind == MRSI_MAP ? at->node->first : NULL;
    uint32_t n = 0;
    const char *text = ms && ms->node->kind == MRSI_SCALAR && ms->node->val.type == MRS_STRING
                           ? mrs_val_text(ms->node->val, &n)
                           : "";
    if (strcmp(at->key, "$date") == 0 && (n == 9 || n == 10) && digits(text, n)) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: a date counts milliseconds, and %s of them are in 1970: "
                          "of seconds write %s000", l->step, l->key, text, text);
    }
}

/* fields: { name: 1 } for a field to copy, where [name] would copy it. */
static void
warn_projection(struct shell_check *l, const struct mrsi_yaml_entry *fields)
{
    int64_t n;
    bool all = fields->node->kind == MRSI_MAP && fields->node->first;
    for (const struct mrsi_yaml_entry *at = all ? fields->node->first : NULL; at && all; at = at->next) {
        struct mrs_val v = at->node->kind == MRSI_SCALAR ? at->node->val : mrs_missing();
        all = v.type == MRS_BOOL || (mrs_val_integral(v, &n) && (n == 0 || n == 1));
    }
    if (all) {
        const char *name = fields->node->first->key;
        mrsi_plan_warning(l->p, fields->line, fields->col,
                          "%s: `%s`: these values are written as they are; a field is taken by a list, [%.60s], or by "
                          "{ %.60s: $%.60s }", l->step, l->key, name, name, name);
    }
}

/* { $subtract: [$$NOW, 30] }: a number beside a date counts milliseconds. */
static void
warn_moment(struct shell_check *l, const struct mrsi_yaml_entry *at)
{
    const struct mrsi_yaml_entry *a = at->node->kind == MRSI_LIST ? at->node->first : NULL, *b = a ? a->next : NULL;
    bool less = strcmp(at->key, "$subtract") == 0;
    int64_t ms;
    if (b && (less || strcmp(at->key, "$add") == 0) && strcmp(text_of(a->node), "$$NOW") == 0 &&
        b->node->kind == MRSI_SCALAR && mrs_val_integral(b->node->val, &ms) && ms > -1000 && ms < 1000) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: beside a date, %lld are milliseconds: days are "
                          "{ $date%s: { startDate: $$NOW, unit: day, amount: %lld } }", l->step, l->key, (long long)ms,
                          less ? "Subtract" : "Add", (long long)ms);
    }
}

static void
check_text(struct shell_check *l, const struct mrsi_yaml_entry *at, struct mrsi_span s, bool plain,
           enum context where)
{
    MRS_ASSERT(at->node);
    struct mrsi_literal shown;
    bool word;
    if (is_literal(l, s, plain, where, &word, &shown)) {
        l->good = false;
        mrsi_plan_error(l->p, at->line, at->col,
                        "%s: `%s`: %.60s is a literal of the shell or of a driver, and only a text here: write "
                        "%.200s%s",
                        l->step, l->key, s.p, shown.text,
                        word             ? " (the text itself: in quotes)"
                        : where == QUERY ? ""
                                         : " (the text itself: { $literal: \"...\" })");
    } else if (!note_similar(l, at, s, plain, where) &&
               !(where != PATTERN && (plain || mrsi_literal_code(s) == MRSI_CODE_SUM) && warn_code(l, at, s, where))) {
        warn_operand(l, at, s);
        warn_text(l, at, s, plain, where);
    }
}

/* The path of a field of the document in "$a.b"; NULL: it is none. */
static const char *
field_of(const struct mrsi_yaml_node *node)
{
    const char *text = text_of(node);
    return *text == '$' && text[1] && text[1] != '$' ? text + 1 : NULL;
}

/* { $eq: [$a, null] }, which is false if `a` is missing. */
static void
warn_null(struct shell_check *l, const struct mrsi_yaml_entry *at)
{
    const struct mrsi_yaml_entry *a = at->node->kind == MRSI_LIST ? at->node->first : NULL, *b = a ? a->next : NULL;
    bool equal = strcmp(at->key, "$eq") == 0 || strcmp(at->key, "$ne") == 0;
    if (!equal || !b || b->next) {
        return;
    }
    const struct mrsi_yaml_entry *null = a->node->kind == MRSI_SCALAR && a->node->val.type == MRS_NULL ? a : b;
    const char *field = field_of(null == a ? b->node : a->node);
    if (field && strcmp(field, "_id") != 0 && null->node->kind == MRSI_SCALAR && null->node->val.type == MRS_NULL) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: in an expression a missing `%.60s` is not null: for both "
                          "write { %s: [{ $ifNull: [$%.60s, null] }, null] }", l->step, l->key, field, at->key, field);
    }
}

/* { $expr: { $lt: [$at, ...] } } in a query without another condition on `at`: a missing value is less than all. */
static void
warn_less(struct shell_check *l, const struct mrsi_yaml_node *query, const struct mrsi_yaml_entry *at)
{
    const struct mrsi_yaml_entry *less = at->node->kind == MRSI_MAP ? at->node->first : NULL;
    const struct mrsi_yaml_entry *one = less && less->node->kind == MRSI_LIST ? less->node->first : NULL;
    const char *field = one ? field_of(one->node) : NULL;
    bool order = field && (strcmp(less->key, "$lt") == 0 || strcmp(less->key, "$lte") == 0);
    if (order && strcmp(field, "_id") != 0 && !mrsi_tree_find(query, field)) {
        mrsi_plan_warning(l->p, less->line, less->col,
                          "%s: `%s`: a document without `%.60s` fits as well, for what is missing is less than all: "
                          "`%.60s: { $ne: null }` beside $expr leaves it out", l->step, l->key, field, field);
    }
}

/* Is a comparison with a field or a date, and not with a text computed from one? */
static bool
compares_dates(const struct mrsi_yaml_node *operands)
{
    uint32_t n;
    for (const struct mrsi_yaml_entry *at = operands->first; at; at = at->next) {
        const struct mrsi_yaml_node *one = at->node;
        if (one->kind == MRSI_SCALAR && one->val.type == MRS_STRING && *mrs_val_text(one->val, &n) == '$') {
            return true;
        }
        if (one->kind == MRSI_MAP && one->first && strcmp(one->first->key, "$dateToString") != 0 &&
            (strncmp(one->first->key, "$date", 5) == 0 || strcmp(one->first->key, "$toDate") == 0)) {
            return true;
        }
    }
    return false;
}

/* The kind of value of a key in a `where`. */
static enum context
below(enum context where, const struct mrsi_yaml_entry *at)
{
    if (strcmp(at->key, "$regex") == 0 || (where != QUERY && strcmp(at->key, "regex") == 0)) {
        return PATTERN;
    }
    if (strcmp(at->key, "partialFilterExpression") == 0) {
        return QUERY;
    }
    if (where == QUERY) {
        return MRS_IS_ONE_OF(at->key, no_compare) ? VALUE : QUERY;
    }
    bool compared = at->node->kind == MRSI_LIST && MRS_IS_ONE_OF(at->key, compares) && compares_dates(at->node);
    return compared ? OPERAND : VALUE;
}

static void check_entry(struct shell_check *l, const struct mrsi_yaml_entry *at, enum context where);

static void
check_below(struct shell_check *l, const struct mrsi_yaml_node *node, enum context where)
{
    for (const struct mrsi_yaml_entry *at = node->first; at; at = at->next) {
        warn_seconds(l, at);
        warn_moment(l, at);
        if (node->kind == MRSI_LIST) {
            check_entry(l, at, where);
        } else if (!MRS_IS_ONE_OF(at->key, texts)) {
            warn_key(l, at, where);
            if (where != QUERY) {
                warn_null(l, at);
            } else if (strcmp(at->key, "$expr") == 0) {
                warn_less(l, node, at);
            }
            check_entry(l, at, below(where == OPERAND ? VALUE : where, at));
        }
    }
}

static void
check_entry(struct shell_check *l, const struct mrsi_yaml_entry *at, enum context where)
{
    const struct mrsi_yaml_node *node = at->node;
    if (node->kind != MRSI_SCALAR) {
        check_below(l, node, where);
    } else if (node->val.type == MRS_STRING) {
        uint32_t n;
        const char *text = mrs_val_text(node->val, &n);
        check_text(l, at, (struct mrsi_span){text, n}, node->plain, where);
    }
}

bool
mrsi_plan_shell(struct mrsi_plan *p, const struct mrs_step_type *type, const struct mrs_key *key,
                const struct mrsi_yaml_entry *at)
{
    MRS_ASSERT(type->name && key->name && at->node);
    struct shell_check l = {p, type->name, key->name, true};
    switch (key->type) {
    case MRS_ARG_COLL:
    case MRS_ARG_TEXT:
    case MRS_ARG_NAME:
    case MRS_ARG_PATH:
    case MRS_ARG_BOOL:
    case MRS_ARG_CHOICE: break; /* names, and words with messages of their own */
    case MRS_ARG_SORT:
    case MRS_ARG_PATHS: warn_places(&l, at->node); break;
    case MRS_ARG_COLLS: /* keys are compared values */
        for (const struct mrsi_yaml_entry *one = at->node->first; one && at->node->kind == MRSI_MAP; one = one->next) {
            check_text(&l, one, (struct mrsi_span){one->key, one->key_n}, false, VALUE);
        }
        check_entry(&l, at, VALUE);
        break;
    default:
        if (key->type == MRS_ARG_MATCH) {
            warn_match(&l, at);
        }
        if (strcmp(key->name, "fields") == 0) {
            warn_places(&l, at->node);
        } else if (strcmp(key->name, "validator") == 0) {
            warn_schema(&l, at->node);
        }
        if (key->type == MRS_ARG_FIELDS && mrs_key_find(type->keys, type->n_keys, "from")) {
            warn_projection(&l, at);
        }
        check_entry(&l, at, key->type == MRS_ARG_QUERY || strcmp(key->name, "validator") == 0 ? QUERY : VALUE);
    }
    return l.good;
}

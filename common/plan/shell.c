/* SPDX-License-Identifier: Apache-2.0 */
/* shell.c - literals of the shell in a plan, as ISODate("2020-01-01") or /^a/i: to YAML they are texts.
 *
 * A text compares with texts only, so that a query with one selects other documents than its author means, without an
 * error. Each is a mistake of the plan here, and the message shows the Extended JSON to write. Below `$literal` all
 * is text. What may be meant gets a warning: a text that looks like a date, or like a field, where it is compared, an
 * operator of a query without its $, True and None, a key without a value, a place in an array. Knows no step. */
#include "shell.h"
#include "mongoreshape/words.h"

#include <stdio.h>
#include <strings.h>

#define DATE_PATTERN "{\"$date\": \"$1\"}", "{\"$date\": {\"$numberLong\": \"$1\"}}"
#define DATE_EXAMPLE "{\"$date\": \"2020-01-31T12:00:00Z\"}, in an expression also $$NOW, the time of the run"
#define OID_PATTERN "{\"$oid\": \"$1\"}", NULL
#define OID_EXAMPLE "{\"$oid\": \"0123456789abcdef01234567\"}"
#define OLD_UUID "{\"$binary\": {\"base64\": \"AAECAwQFBgcICQoLDA0ODw==\", \"subType\": \"03\"}}"
#define REGEX_PATTERN "{\"$regularExpression\": {\"pattern\": \"$1\", \"options\": \"$2\"}}", NULL
#define REGEX_EXAMPLE "{\"$regularExpression\": {\"pattern\": \"^a\", \"options\": \"i\"}}"

/* $1 and $2: the arguments. A pattern is shown where it is a value with them, else the example. */
static const struct constructor {
    const char *name, *pattern, *second, *example;
    bool word; /* also a word of texts: only in this spelling */
} constructors[] = {
    {"ISODate", DATE_PATTERN, DATE_EXAMPLE, false},
    {"Date", DATE_PATTERN, DATE_EXAMPLE, true},
    {"datetime", NULL, NULL, DATE_EXAMPLE, true}, /* of Python */
    {"ObjectId", OID_PATTERN, OID_EXAMPLE, false},
    {"NumberInt", "{\"$numberInt\": \"$1\"}", NULL, "{\"$numberInt\": \"5\"}", false},
    {"Int32", "{\"$numberInt\": \"$1\"}", NULL, "{\"$numberInt\": \"5\"}", false},
    {"NumberLong", "{\"$numberLong\": \"$1\"}", NULL, "{\"$numberLong\": \"5\"}", false},
    {"Long", "{\"$numberLong\": \"$1\"}", NULL, "{\"$numberLong\": \"5\"}", true},
    {"Int64", "{\"$numberLong\": \"$1\"}", NULL, "{\"$numberLong\": \"5\"}", false},
    {"Number", "{\"$numberDouble\": \"$1\"}", NULL, "{\"$numberDouble\": \"1.5\"}", true},
    {"NumberDouble", "{\"$numberDouble\": \"$1\"}", NULL, "{\"$numberDouble\": \"1.5\"}", false},
    {"NumberDecimal", "{\"$numberDecimal\": \"$1\"}", NULL, "{\"$numberDecimal\": \"1.5\"}", false},
    {"Decimal128", "{\"$numberDecimal\": \"$1\"}", NULL, "{\"$numberDecimal\": \"1.5\"}", false},
    {"Double", "{\"$numberDouble\": \"$1\"}", NULL, "{\"$numberDouble\": \"1.5\"}", true},
    {"UUID", "{\"$uuid\": \"$1\"}", NULL, "{\"$uuid\": \"00112233-4455-6677-8899-aabbccddeeff\"}", false},
    {"LUUID", NULL, NULL, OLD_UUID, false},
    {"JUUID", NULL, NULL, OLD_UUID, false},
    {"CSUUID", NULL, NULL, OLD_UUID, false},
    {"PYUUID", NULL, NULL, OLD_UUID, false},
    {"BinData", "{\"$binary\": {\"base64\": \"$2\", \"subType\": \"0$1\"}}",
     "{\"$binary\": {\"base64\": \"$2\", \"subType\": \"80\"}}",
     "{\"$binary\": {\"base64\": \"AAEC\", \"subType\": \"00\"}}", false},
    {"HexData", NULL, NULL, "{\"$binary\": {\"base64\": \"AAEC\", \"subType\": \"00\"}} (the hex digits as base64)",
     false},
    {"Binary", NULL, NULL, "{\"$binary\": {\"base64\": \"AAEC\", \"subType\": \"00\"}}", true},
    {"MD5", NULL, NULL, "{\"$binary\": {\"base64\": \"AAECAwQFBgcICQoLDA0ODw==\", \"subType\": \"05\"}}", false},
    {"Timestamp", "{\"$timestamp\": {\"t\": $1, \"i\": $2}}", NULL, "{\"$timestamp\": {\"t\": 1580472000, \"i\": 1}}",
     true},
    {"RegExp", REGEX_PATTERN, REGEX_EXAMPLE, false},
    {"BSONRegExp", REGEX_PATTERN, REGEX_EXAMPLE, false},
    {"MinKey", "{\"$minKey\": 1}", NULL, NULL, false},
    {"MaxKey", "{\"$maxKey\": 1}", NULL, NULL, false},
    {"DBRef", NULL, NULL, "{\"$ref\": \"users\", \"$id\": " OID_EXAMPLE "} (in an expression inside $literal)", false},
    {"Code", "{\"$code\": \"$1\"}", NULL, "{\"$code\": \"function() {}\"}", true},
    {"Symbol", "{\"$symbol\": \"$1\"}", NULL, "{\"$symbol\": \"a\"}", true},
    {"BSONSymbol", "{\"$symbol\": \"$1\"}", NULL, "{\"$symbol\": \"a\"}", false},
};

struct shell_span {
    const char *p;
    size_t n;
};
struct shell_call {
    const struct constructor *of;
    struct shell_span arg[2];
    bool plain; /* arguments are quoted texts and numbers */
};

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void
skip_blanks(struct shell_span *s)
{
    while (s->n && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n')) {
        s->p++;
        s->n--;
    }
}

static struct shell_span
skip(struct shell_span s, size_t n)
{
    return (struct shell_span){s.p + n, s.n - n};
}

static struct shell_span
word(struct shell_span *s)
{
    struct shell_span w = {s->p, 0};
    while (w.n < s->n && is_letter(w.p[w.n])) {
        w.n++;
    }
    *s = skip(*s, w.n);
    return w;
}

static const struct constructor *
find(struct shell_span name)
{
    MRS_ASSERT(name.p || name.n == 0);
    for (size_t i = 0; i < sizeof constructors / sizeof *constructors; i++) {
        const struct constructor *c = &constructors[i];
        if (strlen(c->name) == name.n &&
            (c->word ? memcmp(c->name, name.p, name.n) : strncasecmp(c->name, name.p, name.n)) == 0) {
            return c;
        }
    }
    return NULL;
}

/* One argument; *plain is false afterwards where it is neither a quoted text nor a number. */
static struct shell_span
argument(struct shell_span *s, bool *plain)
{
    skip_blanks(s);
    char quote = s->n ? *s->p : 0;
    size_t n = 0;
    if (quote == '"' || quote == '\'' || quote == '`') {
        for (n = 1; n < s->n && s->p[n] != quote; n++) {
            n += s->p[n] == '\\' && n + 1 < s->n;
        }
        struct shell_span text = {s->p + 1, n - 1};
        *s = skip(*s, n + (n < s->n));
        return text;
    }
    while (n < s->n && s->p[n] != ',' && s->p[n] != ')') {
        *plain = *plain && strchr("0123456789+-.eE ", s->p[n]);
        n++;
    }
    struct shell_span bare = {s->p, n};
    *s = skip(*s, n);
    return bare;
}

/* `new`, name and arguments. whole: nothing else may follow but what goes on with an expression of the shell; a comma
 * of YAML may have cut it off. */
static bool
parse(struct shell_span s, bool whole, struct shell_call *out)
{
    MRS_ASSERT(s.p || s.n == 0);
    *out = (struct shell_call){.plain = true};
    skip_blanks(&s);
    struct shell_span name = word(&s);
    if (name.n == 3 && memcmp(name.p, "new", 3) == 0) {
        skip_blanks(&s);
        name = word(&s);
    }
    out->of = find(name);
    if (!out->of && name.n && s.n && *s.p == '.') { /* BSON.Long(1), bson.ObjectId() */
        s = skip(s, 1);
        name = word(&s);
        out->of = find(name);
    }
    if (out->of && s.n && *s.p == '.') { /* ObjectId.createFromTime(1) */
        s = skip(s, 1);
        out->plain = word(&s).n == 0;
    }
    bool apart = s.n && *s.p != '(';
    skip_blanks(&s);
    if (!out->of || !s.n || *s.p != '(') {
        return false;
    }
    s = skip(s, 1);
    skip_blanks(&s);
    if (apart && s.n && is_letter(*s.p) && !(*s.p >= '0' && *s.p <= '9')) {
        return false; /* "Date (local time)" */
    }
    out->arg[0] = argument(&s, &out->plain);
    skip_blanks(&s);
    if (s.n && *s.p == ',') {
        s = skip(s, 1);
        out->arg[1] = argument(&s, &out->plain);
        skip_blanks(&s);
    }
    out->plain = out->plain && s.n && *s.p == ')';
    const char *end = s.n ? memchr(s.p, ')', s.n) : NULL;
    if (!whole || !end) {
        return true;
    }
    s = skip(s, (size_t)(end - s.p) + 1);
    skip_blanks(&s);
    return !s.n || strchr(".,;)+-*/", *s.p);
}

/* The pattern with its arguments, if that is a value of Extended JSON. */
static bool
fill(const char *pattern, const struct shell_call *c, struct mrs_mem *mem, struct mrsi_shell_text *out)
{
    MRS_ASSERT(pattern && c->of);
    size_t n = 0;
    for (const char *at = pattern; *at; at++) {
        bool arg = *at == '$' && (at[1] == '1' || at[1] == '2');
        struct shell_span s = arg ? c->arg[at[1] - '1'] : (struct shell_span){at, 1};
        if (n + s.n >= sizeof out->text) {
            return false;
        }
        memcpy(out->text + n, s.p, s.n);
        n += s.n;
        at += arg;
    }
    out->text[n] = '\0';
    char json[sizeof out->text + 16];
    int len = snprintf(json, sizeof json, "{\"v\": %s}", out->text);
    struct mrs_buf bson;
    struct mrs_err e;
    size_t used;
    mrs_err_clear(&e);
    mrs_buf_init(&bson, mem, MRS_DOC_MAX);
    bool good = mrs_ejson_read(json, (size_t)len, MRS_EJSON_STRICT, &bson, &used, &e) == MRS_OK;
    mrs_buf_clear(&bson);
    return good;
}

static void
show(const struct shell_call *c, struct mrs_mem *mem, struct mrsi_shell_text *out)
{
    const struct constructor *of = c->of;
    bool filled = c->plain && ((of->pattern && fill(of->pattern, c, mem, out)) ||
                               (of->second && fill(of->second, c, mem, out)));
    if (!filled) {
        snprintf(out->text, sizeof out->text, "%s", of->example ? of->example : of->pattern);
    }
}

/* ---- regular expressions ---- */
/* A text as JSON has it between quotes. */
static bool
quote_json(struct shell_span s, char *out, size_t size)
{
    MRS_ASSERT(size > 0);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (n + 3 > size) {
            return false;
        }
        if (s.p[i] == '"' || s.p[i] == '\\') {
            out[n++] = '\\';
        }
        out[n++] = s.p[i];
    }
    out[n] = '\0';
    return true;
}

/* /pattern/flags. telling: flags, or signs that no path of files has. */
static bool
regex(struct shell_span s, struct shell_call *out, bool *telling)
{
    MRS_ASSERT(s.p || s.n == 0);
    static const struct constructor of = {"RegExp", REGEX_PATTERN, REGEX_EXAMPLE, false};
    size_t end = 1;
    bool inside = false;
    *out = (struct shell_call){&of, {{NULL, 0}, {NULL, 0}}, true};
    *telling = false;
    if (s.n < 3 || *s.p != '/' || s.p[1] == '/' || s.p[1] == '*') {
        return false;
    }
    while (end < s.n && (inside || s.p[end] != '/')) {
        inside = s.p[end] == '[' || (inside && s.p[end] != ']');
        *telling = *telling || strchr("^$*+?()[]{}|\\", s.p[end]);
        end += s.p[end] == '\\' ? 2 : 1;
    }
    if (end >= s.n || strspn(s.p + end + 1, "gimsuxy") != s.n - end - 1) {
        return false;
    }
    *telling = *telling || end + 1 < s.n;
    out->arg[0] = (struct shell_span){s.p + 1, end - 1};
    out->arg[1] = skip(s, end + 1);
    return true;
}

/* One that begins a line of which YAML made nothing, up to its second slash and the flags. */
static bool
regex_in(struct shell_span s, struct shell_call *out)
{
    MRS_ASSERT(s.n && *s.p == '/');
    bool telling;
    size_t end = 1;
    while (end < s.n && (s.p[end] != '/' || s.p[end - 1] == '\\')) {
        end++;
    }
    for (end++; end < s.n && strchr("gimsuxy", s.p[end]);) {
        end++;
    }
    return end <= s.n && regex((struct shell_span){s.p, end}, out, &telling) && telling;
}

/* Options that a server knows, each once. */
static void
show_regex(struct shell_call *c, struct mrs_mem *mem, struct mrsi_shell_text *out)
{
    char pattern[sizeof out->text], options[8];
    size_t n = 0;
    for (size_t i = 0; i < 4; i++) {
        if (memchr(c->arg[1].p, "imsx"[i], c->arg[1].n)) {
            options[n++] = "imsx"[i];
        }
    }
    c->plain = quote_json(c->arg[0], pattern, sizeof pattern);
    c->arg[0] = (struct shell_span){pattern, strlen(pattern)};
    c->arg[1] = (struct shell_span){options, n};
    show(c, mem, out);
}

/* ---- the doors ---- */
bool
mrsi_shell_find(struct mrs_mem *mem, const char *line, size_t n, struct mrsi_shell_text *out)
{
    MRS_ASSERT(line || n == 0);
    struct shell_call c;
    for (size_t i = 0; i < n; i++) {
        if (line[i] == '/' && i && strchr(" [{,:", line[i - 1]) && regex_in((struct shell_span){line + i, n - i}, &c)) {
            show_regex(&c, mem, out);
            return true;
        }
        if ((i == 0 || !is_letter(line[i - 1])) && is_letter(line[i]) &&
            parse((struct shell_span){line + i, n - i}, false, &c)) {
            show(&c, mem, out);
            return true;
        }
    }
    return false;
}

enum context {
    VALUE,   /* of an expression, or no expression at all */
    QUERY,   /* what a query compares with */
    OPERAND, /* of a comparison in an expression */
    PATTERN  /* a regular expression */
};
struct shell_look {
    struct mrsi_plan *p;
    const char *step, *key;
    bool good;
};

static const char *const compares[] = {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp", "$in"};
/* Texts stand below these by right. */
static const char *const texts[] = {"$literal", "$comment",           "$date",         "$code",
                                    "$symbol",  "$regularExpression", "$numberDouble", "$numberDecimal"};
static const char *const no_compare[] = {"$expr", "$options", "$type", "$mod",
                                         "$exists", "$size", "$text", "$jsonSchema"};

static bool
digits(const char *text, size_t n)
{
    return strspn(text, "0123456789") >= n;
}

/* 2020-01-31, also with a time behind it. */
static bool
is_date(const char *t, size_t n)
{
    return n >= 10 && digits(t, 4) && t[4] == '-' && digits(t + 5, 2) && t[7] == '-' && digits(t + 8, 2) &&
           (n == 10 || ((t[10] == 'T' || t[10] == ' ') && digits(t + 11, 2)));
}

/* What stands without brackets: MinKey and MaxKey too, numbers that YAML spells in another way, and what is no value
 * (but { $type: undefined } names a type). */
static bool
is_bare(struct shell_span s, enum context where, struct shell_call *out)
{
    static const struct constructor words[] = {
        {"NaN", "{\"$numberDouble\": \"NaN\"}", NULL, NULL, true},
        {"Infinity", "{\"$numberDouble\": \"Infinity\"}", NULL, NULL, true},
        {"-Infinity", "{\"$numberDouble\": \"-Infinity\"}", NULL, NULL, true},
        {"undefined", "null", NULL, NULL, true}, /* last: in queries only */
    };
    *out = (struct shell_call){.of = s.n == 6 ? find(s) : NULL};
    if (out->of && memcmp(s.p + 3, "Key", 3) == 0) {
        return true;
    }
    size_t n = sizeof words / sizeof *words - (where != QUERY);
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i].name) == s.n && memcmp(words[i].name, s.p, s.n) == 0) {
            out->of = &words[i];
            return true;
        }
    }
    return false;
}

/* The 24 hex digits of an ObjectId. */
static bool
is_oid(const char *t, size_t n)
{
    return n == 24 && strspn(t, "0123456789abcdefABCDEF") == n;
}

/* A text compares with texts only: what looks like a date or an ObjectId is told by a note, since the field may hold
 * texts. False: it looks like neither. */
static bool
note_lookalike(struct shell_look *l, const struct mrsi_yaml_entry *at, struct shell_span s)
{
    bool date = is_date(s.p, s.n);
    if (!date && !is_oid(s.p, s.n)) {
        return false;
    }
    mrsi_plan_warning(l->p, at->line, at->col,
                      "%s: `%s`: \"%.40s\" is a text, and a text compares with texts only; for %s write "
                      "{\"%s\": \"%.*s%s\"}",
                      l->step, l->key, s.p, date ? "a date" : "an ObjectId", date ? "$date" : "$oid", date ? 10 : 24,
                      s.p, date && s.n > 10 ? "T00:00:00Z" : "");
    return true;
}

/* ---- what is legal, and seldom meant ---- */
static const char *const operators[] = {"eq",  "ne",  "gt",     "gte", "lt",    "lte",
                                        "in",  "nin", "exists", "not", "regex", "elemMatch"};
static const char *const joints[] = {"or", "and", "nor"};
static const char *const words[] = {"True", "TRUE", "False", "FALSE", "Null", "NULL", "None", "nil"};

static void
doubt_text(struct shell_look *l, const struct mrsi_yaml_entry *at, struct shell_span s, bool plain,
           enum context where)
{
    MRS_ASSERT(s.p || s.n == 0);
    bool field = *at->key && *at->key != '$';
    if (strcmp(at->key, "$exists") == 0) {
        mrsi_plan_warning(l->p, at->line, at->col, "%s: `%s`: $exists takes true or false, and any text counts as true",
                          l->step, l->key);
    } else if (where == QUERY && s.n > 1 && *s.p == '$' && is_letter(s.p[1])) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: a query compares with the text \"%.60s\"; two fields are compared in "
                          "{ $expr: { $eq: [\"$a\", \"$b\"] } }", l->step, l->key, s.p);
    } else if (where != PATTERN && plain &&
               (MRS_IS_ONE_OF(s.p, words) || (field && where == VALUE && strcmp(s.p, "undefined") == 0))) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: %s is a text here: write true, false or null, else put it in quotes", l->step,
                          l->key, s.p);
    }
}

/* A key without a value, and keys of a query that are operators but for their $. */
static void
doubt_key(struct shell_look *l, const struct mrsi_yaml_entry *at, enum context where)
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
    } else if (MRS_IS_ONE_OF(inner, operators)) {
        mrsi_plan_warning(l->p, at->line, at->col,
                          "%s: `%s`: `%.60s` is compared with a document that has the field `%s`; is `$%s` meant?",
                          l->step, l->key, at->key, inner, inner);
    }
}

/* fields: { lines.0.qty: ... } */
static void
doubt_places(struct shell_look *l, const struct mrsi_yaml_node *map)
{
    for (const struct mrsi_yaml_entry *at = map->first; at && map->kind == MRSI_MAP; at = at->next) {
        size_t n;
        for (const char *dot = strchr(at->key, '.'); dot; dot = strchr(dot + 1, '.')) {
            n = strcspn(dot + 1, ".");
            if (n && digits(dot + 1, n)) {
                mrsi_plan_warning(l->p, at->line, at->col,
                                  "%s: `%s`: in `%.80s` the number is the name of a field, not a place in an array: "
                                  "there each element gets the field", l->step, l->key, at->key);
                break;
            }
        }
    }
}

static void
look_at_text(struct shell_look *l, const struct mrsi_yaml_entry *at, struct shell_span s, bool plain,
             enum context where)
{
    MRS_ASSERT(at->node);
    struct mrsi_shell_text shown;
    struct shell_call c;
    bool telling = true;
    if (parse(s, true, &c)) {
        show(&c, l->p->pub.mem, &shown);
    } else if (plain && is_bare(s, where, &c)) {
        show(&c, l->p->pub.mem, &shown);
        telling = false;
    } else if (where != VALUE && regex(s, &c, &telling) && (plain || (telling && where != PATTERN))) {
        show_regex(&c, l->p->pub.mem, &shown);
    } else {
        if (!((where == QUERY || where == OPERAND) && note_lookalike(l, at, s))) {
            doubt_text(l, at, s, plain, where);
        }
        return;
    }
    l->good = false;
    mrsi_plan_error(l->p, at->line, at->col,
                    "%s: `%s`: %.60s is a literal of the shell, and only a text here: write %.200s%s", l->step, l->key,
                    s.p, shown.text,
                    !telling         ? " (the text itself: in quotes)"
                    : where == QUERY ? ""
                                     : " (the text itself: { $literal: \"...\" })");
}

/* Whether a comparison is with a field or a date: not with a text that was made of one. */
static bool
meets_dates(const struct mrsi_yaml_node *operands)
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

/* What the value of a key of a map that stands in `where` is. */
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
    bool compared = at->node->kind == MRSI_LIST && MRS_IS_ONE_OF(at->key, compares) && meets_dates(at->node);
    return compared ? OPERAND : VALUE;
}

static void look_at(struct shell_look *l, const struct mrsi_yaml_entry *at, enum context where);

static void
look_inside(struct shell_look *l, const struct mrsi_yaml_node *node, enum context where)
{
    for (const struct mrsi_yaml_entry *at = node->first; at; at = at->next) {
        if (node->kind == MRSI_LIST) {
            look_at(l, at, where);
        } else if (!MRS_IS_ONE_OF(at->key, texts)) {
            doubt_key(l, at, where);
            look_at(l, at, below(where == OPERAND ? VALUE : where, at));
        }
    }
}

static void
look_at(struct shell_look *l, const struct mrsi_yaml_entry *at, enum context where)
{
    const struct mrsi_yaml_node *node = at->node;
    if (node->kind != MRSI_SCALAR) {
        look_inside(l, node, where);
    } else if (node->val.type == MRS_STRING) {
        uint32_t n;
        const char *text = mrs_val_text(node->val, &n);
        look_at_text(l, at, (struct shell_span){text, n}, node->plain, where);
    }
}

bool
mrsi_plan_shell(struct mrsi_plan *p, const struct mrs_step_type *type, const struct mrs_key *key,
                const struct mrsi_yaml_entry *at)
{
    MRS_ASSERT(type->name && key->name && at->node);
    struct shell_look l = {p, type->name, key->name, true};
    switch (key->type) {
    case MRS_ARG_COLL:
    case MRS_ARG_TEXT:
    case MRS_ARG_NAME:
    case MRS_ARG_PATH:
    case MRS_ARG_PATHS:
    case MRS_ARG_SORT: break; /* names */
    case MRS_ARG_COLLS: /* keys are values that are compared */
        for (const struct mrsi_yaml_entry *one = at->node->first; one && at->node->kind == MRSI_MAP; one = one->next) {
            look_at_text(&l, one, (struct shell_span){one->key, one->key_n}, false, VALUE);
        }
        look_at(&l, at, VALUE);
        break;
    default:
        if (strcmp(key->name, "fields") == 0) {
            doubt_places(&l, at->node);
        }
        look_at(&l, at, key->type == MRS_ARG_QUERY || strcmp(key->name, "validator") == 0 ? QUERY : VALUE);
    }
    return l.good;
}

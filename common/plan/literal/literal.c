/* SPDX-License-Identifier: Apache-2.0 */
/* literal.c - recognizes literals of shells and drivers in a plan, such as ISODate("2020-01-01"), time.Now() or /^a/i:
 * for YAML they are texts. One table has their names, and the Extended JSON to write instead. Knows neither plans nor
 * positions. */
#include "literal.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/words.h"

#include <stdio.h>
#include <strings.h>

#define DATE_PATTERN "{\"$date\": \"$1\"}", "{\"$date\": {\"$numberLong\": \"$1\"}}"
#define DATE_EXAMPLE "{\"$date\": \"2020-01-31T12:00:00Z\"}, in an expression also $$NOW, the time of the run"
#define NOW_EXAMPLE \
    "$$NOW, the time of the run, in an expression ({ $expr: ... } in a query), or " \
    "{\"$date\": \"2020-01-31T12:00:00Z\"}"
#define OID_PATTERN "{\"$oid\": \"$1\"}", NULL
#define OID_EXAMPLE "{\"$oid\": \"0123456789abcdef01234567\"}"
#define INT_PATTERN "{\"$numberInt\": \"$1\"}", NULL, "{\"$numberInt\": \"5\"}"
#define LONG_PATTERN "{\"$numberLong\": \"$1\"}", NULL, "{\"$numberLong\": \"5\"}"
#define DOUBLE_PATTERN "{\"$numberDouble\": \"$1\"}", NULL, "{\"$numberDouble\": \"1.5\"}"
#define DECIMAL_PATTERN "{\"$numberDecimal\": \"$1\"}", NULL, "{\"$numberDecimal\": \"1.5\"}"
#define OLD_UUID "{\"$binary\": {\"base64\": \"AAECAwQFBgcICQoLDA0ODw==\", \"subType\": \"03\"}}"
#define REGEX_PATTERN "{\"$regularExpression\": {\"pattern\": \"$1\", \"options\": \"$2\"}}", NULL
#define REGEX_EXAMPLE "{\"$regularExpression\": {\"pattern\": \"^a\", \"options\": \"i\"}}"

/* WORD: also an ordinary word, so only in this spelling. NEAR: its bracket follows directly, as that of a WORD does
 * without `new`. ALONE: needs no brackets outside of quotes. */
enum { WORD = 1, ALONE = 2, NEAR = 4 };
/* $1 and $2: the arguments. The pattern is shown if it is valid with them, else the example. A name with a dot comes
 * before its first part. */
static const struct constructor {
    const char *name, *pattern, *second, *example;
    uint32_t flags;
} constructors[] = {
    {"ISODate", DATE_PATTERN, DATE_EXAMPLE, 0},
    {"Date.now", NULL, NULL, NOW_EXAMPLE, WORD},
    {"Date.today", NULL, NULL, NOW_EXAMPLE, WORD | ALONE},
    {"Date", DATE_PATTERN, DATE_EXAMPLE, WORD},
    {"UTCDateTime", DATE_PATTERN, DATE_EXAMPLE, 0},
    {"MongoDate", NULL, NULL, DATE_EXAMPLE, 0},
    {"DateTime.now", NULL, NULL, NOW_EXAMPLE, ALONE},
    {"DateTime.UtcNow", NULL, NULL, NOW_EXAMPLE, ALONE},
    {"DateTime", DATE_PATTERN, DATE_EXAMPLE, WORD},
    {"datetime", NULL, NULL, DATE_EXAMPLE, WORD}, /* Python */
    {"LocalDate", NULL, NULL, DATE_EXAMPLE, WORD},
    {"LocalDateTime", NULL, NULL, DATE_EXAMPLE, 0},
    {"Instant.now", NULL, NULL, NOW_EXAMPLE, WORD},
    {"Instant", DATE_PATTERN, DATE_EXAMPLE, WORD},
    {"time.Now", NULL, NULL, NOW_EXAMPLE, ALONE},
    {"time.Date", NULL, NULL, DATE_EXAMPLE, WORD},
    {"time.time", NULL, NULL, NOW_EXAMPLE, WORD},
    {"Time.utc", NULL, NULL, DATE_EXAMPLE, WORD},
    {"now", NULL, NULL, NOW_EXAMPLE, NEAR},
    {"CURRENT_TIMESTAMP", NULL, NULL, NOW_EXAMPLE, ALONE},
    {"NewDateTimeFromTime", NULL, NULL, DATE_EXAMPLE, 0},
    {"ObjectId", OID_PATTERN, OID_EXAMPLE, 0},
    {"MongoId", OID_PATTERN, OID_EXAMPLE, 0},
    {"ObjectIdHex", OID_PATTERN, OID_EXAMPLE, 0},
    {"ObjectIdFromHex", OID_PATTERN, OID_EXAMPLE, 0},
    {"NewObjectId", OID_PATTERN, OID_EXAMPLE, 0},
    {"NumberInt", INT_PATTERN, 0},
    {"Int32", INT_PATTERN, 0},
    {"NumberLong", LONG_PATTERN, 0},
    {"Long", LONG_PATTERN, WORD},
    {"Int64", LONG_PATTERN, 0},
    {"Number", DOUBLE_PATTERN, WORD},
    {"NumberDouble", DOUBLE_PATTERN, 0},
    {"Double", DOUBLE_PATTERN, WORD},
    {"NumberDecimal", DECIMAL_PATTERN, 0},
    {"Decimal128", DECIMAL_PATTERN, 0},
    {"Decimal", DECIMAL_PATTERN, WORD},
    {"BigDecimal", DECIMAL_PATTERN, 0},
    {"UUID", "{\"$uuid\": \"$1\"}", NULL, "{\"$uuid\": \"00112233-4455-6677-8899-aabbccddeeff\"}", 0},
    {"LUUID", NULL, NULL, OLD_UUID, 0},
    {"LegacyUUID", NULL, NULL, OLD_UUID, 0},
    {"JUUID", NULL, NULL, OLD_UUID, 0},
    {"CSUUID", NULL, NULL, OLD_UUID, 0},
    {"NUUID", NULL, NULL, OLD_UUID, 0},
    {"PYUUID", NULL, NULL, OLD_UUID, 0},
    {"BinData", "{\"$binary\": {\"base64\": \"$2\", \"subType\": \"0$1\"}}",
     "{\"$binary\": {\"base64\": \"$2\", \"subType\": \"80\"}}",
     "{\"$binary\": {\"base64\": \"AAEC\", \"subType\": \"00\"}}", 0},
    {"HexData", NULL, NULL,
     "{\"$binary\": {\"base64\": \"AAEC\", \"subType\": \"00\"}} (the hex digits as base64)", 0},
    {"Binary", NULL, NULL, "{\"$binary\": {\"base64\": \"AAEC\", \"subType\": \"00\"}}", WORD},
    {"MD5", NULL, NULL, "{\"$binary\": {\"base64\": \"AAECAwQFBgcICQoLDA0ODw==\", \"subType\": \"05\"}}", 0},
    {"Timestamp", "{\"$timestamp\": {\"t\": $1, \"i\": $2}}", NULL, "{\"$timestamp\": {\"t\": 1580472000, \"i\": 1}}",
     WORD},
    {"RegExp", REGEX_PATTERN, REGEX_EXAMPLE, 0},
    {"BSONRegExp", REGEX_PATTERN, REGEX_EXAMPLE, 0},
    {"Regex", REGEX_PATTERN, REGEX_EXAMPLE, 0},
    {"re.compile", REGEX_PATTERN, REGEX_EXAMPLE, WORD},
    {"Pattern.compile", REGEX_PATTERN, REGEX_EXAMPLE, WORD},
    {"MinKey", "{\"$minKey\": 1}", NULL, NULL, ALONE},
    {"MaxKey", "{\"$maxKey\": 1}", NULL, NULL, ALONE},
    {"DBRef", NULL, NULL, "{\"$ref\": \"users\", \"$id\": " OID_EXAMPLE "} (in an expression inside $literal)", 0},
    {"Code", "{\"$code\": \"$1\"}", NULL, "{\"$code\": \"function() {}\"}", WORD},
    {"Symbol", "{\"$symbol\": \"$1\"}", NULL, "{\"$symbol\": \"a\"}", WORD},
    {"BSONSymbol", "{\"$symbol\": \"$1\"}", NULL, "{\"$symbol\": \"a\"}", 0},
};
/* The argument of these is that of the constructor. */
static const char *const makers[] = {"fromString", "from_string", "fromHexString", "createFromHexString",
                                     "fromNumber", "valueOf",     "parse",         "Parse"};

struct literal_call {
    const struct constructor *of;
    struct mrsi_span arg[2];
    bool plain; /* arguments are quoted texts and numbers */
};

static struct mrsi_span
skip(struct mrsi_span s, size_t n)
{
    return (struct mrsi_span){s.p + n, s.n - n};
}

static void
skip_blanks(struct mrsi_span *s)
{
    while (s->n && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n')) {
        *s = skip(*s, 1);
    }
}

static struct mrsi_span
word(struct mrsi_span *s)
{
    struct mrsi_span w = {s->p, 0};
    while (w.n < s->n && mrsi_is_letter(w.p[w.n])) {
        w.n++;
    }
    *s = skip(*s, w.n);
    return w;
}

static bool
is_word(struct mrsi_span w, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(list[i]) == w.n && memcmp(list[i], w.p, w.n) == 0) {
            return true;
        }
    }
    return false;
}

/* What s begins with. */
static const struct constructor *
find(struct mrsi_span s)
{
    MRS_ASSERT(s.p || s.n == 0);
    for (size_t i = 0; i < sizeof constructors / sizeof *constructors; i++) {
        const struct constructor *c = &constructors[i];
        size_t n = strlen(c->name);
        if (n <= s.n && (n == s.n || !mrsi_is_letter(s.p[n])) &&
            (c->flags & WORD ? memcmp(c->name, s.p, n) : strncasecmp(c->name, s.p, n)) == 0) {
            return c;
        }
    }
    return NULL;
}

/* A separator of two names: a.b, a::b, a\\b. */
static size_t
separator(struct mrsi_span s)
{
    size_t n = 0;
    while (n < s.n && n < 2 && strchr(".:\\", s.p[n])) {
        n++;
    }
    return n < s.n && mrsi_is_letter(s.p[n]) && !(n == 1 && *s.p == ':') ? n : 0;
}

/* Names with separators: BSON.Long, ObjectId.createFromTime, \\MongoDB\\BSON\\UTCDateTime. */
static void
names(struct mrsi_span *s, struct literal_call *out)
{
    size_t between = s->n && *s->p == '\\' ? separator(*s) : 0;
    do {
        *s = skip(*s, between);
        if (out->of) {
            struct mrsi_span w = word(s);
            out->plain = out->plain && is_word(w, makers, sizeof makers / sizeof *makers);
        } else if ((out->of = find(*s))) {
            *s = skip(*s, strlen(out->of->name));
        } else {
            word(s);
        }
        between = separator(*s);
    } while (between);
}

/* One argument; sets *plain to false unless it is a quoted text or a number. */
static struct mrsi_span
argument(struct mrsi_span *s, bool *plain)
{
    skip_blanks(s);
    char quote = s->n ? *s->p : 0;
    size_t n = 0;
    if (quote == '"' || quote == '\'' || quote == '`') {
        for (n = 1; n < s->n && s->p[n] != quote; n++) {
            n += s->p[n] == '\\' && n + 1 < s->n;
        }
        struct mrsi_span text = {s->p + 1, n - 1};
        *s = skip(*s, n + (n < s->n));
        return text;
    }
    while (n < s->n && s->p[n] != ',' && s->p[n] != ')') {
        *plain = *plain && strchr("0123456789+-.eE ", s->p[n]);
        n++;
    }
    struct mrsi_span bare = {s->p, n};
    *s = skip(*s, n);
    return bare;
}

/* Both arguments, up to the closing bracket. */
static void
arguments(struct mrsi_span *s, struct literal_call *out)
{
    out->arg[0] = argument(s, &out->plain);
    skip_blanks(s);
    if (s->n && *s->p == ',') {
        *s = skip(*s, 1);
        out->arg[1] = argument(s, &out->plain);
        skip_blanks(s);
    }
    out->plain = out->plain && s->n && *s->p == ')';
}

/* Is the text after the brackets the rest of an expression? A comma of YAML may have cut the brackets off. */
static bool
ends(struct mrsi_span s)
{
    const char *end = s.n ? memchr(s.p, ')', s.n) : NULL;
    if (end) {
        s = skip(s, (size_t)(end - s.p) + 1);
        skip_blanks(&s);
    }
    return !end || !s.n || strchr(".,;)+-*/", *s.p);
}

/* `new`, names and arguments. whole: nothing else may follow. alone: brackets are optional. */
static bool
parse(struct mrsi_span s, bool whole, bool alone, struct literal_call *out)
{
    MRS_ASSERT(s.p || s.n == 0);
    *out = (struct literal_call){.plain = true, .arg = {{"", 0}, {"", 0}}};
    skip_blanks(&s);
    struct mrsi_span after = s, first = word(&after);
    bool made = first.n == 3 && memcmp(first.p, "new", 3) == 0 && after.n && *after.p == ' ';
    if (made) {
        skip_blanks(&after);
        s = after;
    }
    names(&s, out);
    bool apart = s.n && *s.p != '(';
    skip_blanks(&s);
    if (out->of && !s.n && alone && (made || out->of->flags & ALONE)) {
        return true;
    }
    if (!out->of || !s.n || *s.p != '(') {
        return false;
    }
    s = skip(s, 1);
    skip_blanks(&s);
    bool words = s.n && mrsi_is_letter(*s.p) && !(*s.p >= '0' && *s.p <= '9');
    if (apart && (words || (!made && (out->of->flags & (WORD | NEAR))))) {
        return false; /* "Date (local time)", "Now (2019)" */
    }
    arguments(&s, out);
    return !whole || ends(s);
}

/* The pattern with its arguments, if that is valid Extended JSON. */
static bool
fill(const char *pattern, const struct literal_call *c, struct mrs_mem *mem, struct mrsi_literal *out)
{
    MRS_ASSERT(pattern && c->of);
    size_t n = 0;
    for (const char *at = pattern; *at; at++) {
        bool arg = *at == '$' && (at[1] == '1' || at[1] == '2');
        struct mrsi_span s = arg ? c->arg[at[1] - '1'] : (struct mrsi_span){at, 1};
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
show(const struct literal_call *c, struct mrs_mem *mem, struct mrsi_literal *out)
{
    const struct constructor *of = c->of;
    bool all = !c->arg[1].n || (of->pattern && strstr(of->pattern, "$2")); /* not Date(2020, 0, 1) */
    bool filled = c->plain && all && ((of->pattern && fill(of->pattern, c, mem, out)) ||
                               (of->second && fill(of->second, c, mem, out)));
    if (!filled) {
        snprintf(out->text, sizeof out->text, "%s", of->example ? of->example : of->pattern);
    }
}

/* ---- regular expressions ---- */
/* A text as JSON has it between quotes. */
static bool
quote_json(struct mrsi_span s, char *out, size_t size)
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

static bool
are_flags(struct mrsi_span s)
{
    size_t n = 0;
    while (n < s.n && memchr("gimsuxy", s.p[n], 7)) {
        n++;
    }
    return n == s.n;
}

/* /pattern/flags. certain: requires flags, or characters that paths of files do not have. */
static bool
regex(struct mrsi_span s, struct literal_call *out, bool *certain)
{
    MRS_ASSERT(s.p || s.n == 0);
    static const struct constructor of = {"RegExp", REGEX_PATTERN, REGEX_EXAMPLE, false};
    size_t end = 1;
    bool inside = false;
    *out = (struct literal_call){&of, {{NULL, 0}, {NULL, 0}}, true};
    *certain = false;
    if (s.n < 3 || *s.p != '/' || s.p[1] == '/' || s.p[1] == '*') {
        return false;
    }
    while (end < s.n && (inside || s.p[end] != '/')) {
        inside = s.p[end] == '[' || (inside && s.p[end] != ']');
        *certain = *certain || strchr("^$*+?()[]{}|\\", s.p[end]);
        end += s.p[end] == '\\' ? 2 : 1;
    }
    if (end >= s.n || !are_flags(skip(s, end + 1))) {
        return false;
    }
    *certain = *certain || end + 1 < s.n;
    out->arg[0] = (struct mrsi_span){s.p + 1, end - 1};
    out->arg[1] = skip(s, end + 1);
    return true;
}

/* A pattern at the start of a line that YAML cannot parse, up to its second slash and the flags. */
static bool
regex_in(struct mrsi_span s, struct literal_call *out)
{
    MRS_ASSERT(s.n && *s.p == '/');
    bool certain;
    size_t end = 1;
    while (end < s.n && (s.p[end] != '/' || s.p[end - 1] == '\\')) {
        end++;
    }
    for (end++; end < s.n && memchr("gimsuxy", s.p[end], 7);) {
        end++;
    }
    return end <= s.n && regex((struct mrsi_span){s.p, end}, out, &certain) && certain;
}

/* Options that a server knows, without duplicates. */
static void
show_regex(struct literal_call *c, struct mrs_mem *mem, struct mrsi_literal *out)
{
    char pattern[sizeof out->text], options[8];
    size_t n = 0;
    for (size_t i = 0; i < 4; i++) {
        if (memchr(c->arg[1].p, "imsx"[i], c->arg[1].n)) {
            options[n++] = "imsx"[i];
        }
    }
    c->plain = quote_json(c->arg[0], pattern, sizeof pattern);
    c->arg[0] = (struct mrsi_span){pattern, strlen(pattern)};
    c->arg[1] = (struct mrsi_span){options, n};
    show(c, mem, out);
}

/* ---- code outside of quotes ---- */
/* 1_000, 5L, 10n */
static bool
is_number(struct mrsi_span s)
{
    size_t n = s.n && (*s.p == '-' || *s.p == '+'), digits = strspn(s.p + n, "0123456789");
    bool parts = false;
    for (n += digits; digits && n < s.n && (s.p[n] == '_' || (s.p[n] >= '0' && s.p[n] <= '9')); n++) {
        parts = parts || s.p[n] == '_';
    }
    bool suffix = digits && n + 1 == s.n && (s.p[n] == 'L' || s.p[n] == 'n');
    return suffix || (digits && parts && n == s.n && s.p[n - 1] != '_');
}

/* new name(, name(, name.name("...", name(1: an ordinary text with brackets, as Berlin(West), has a letter after the
 * bracket. */
static bool
is_call(struct mrsi_span s)
{
    struct literal_call c = {.plain = true};
    bool made = s.n > 4 && memcmp(s.p, "new ", 4) == 0;
    s = made ? skip(s, 4) : s;
    struct mrsi_span name = s;
    if (!s.n || !mrsi_is_letter(*s.p) || (*s.p >= '0' && *s.p <= '9')) {
        return false;
    }
    names(&s, &c);
    if (!s.n || *s.p != '(' || (s.p[s.n - 1] != ')' && memchr(s.p, ')', s.n))) {
        return false;
    }
    if (s.p - name.p == 8 && memcmp(name.p, "function", 8) == 0) {
        return true;
    }
    s = skip(s, 1);
    skip_blanks(&s);
    return made || (s.n && (!mrsi_is_letter(*s.p) || (*s.p >= '0' && *s.p <= '9')));
}

/* x => x.a, (a, b) => a */
static bool
is_arrow(struct mrsi_span s)
{
    struct mrsi_span first = word(&s);
    if (!first.n && s.n && *s.p == '(') {
        const char *end = memchr(s.p, ')', s.n);
        s = end ? skip(s, (size_t)(end - s.p) + 1) : s;
    }
    skip_blanks(&s);
    return s.n > 2 && s.p[0] == '=' && s.p[1] == '>';
}

/* A path and an operator of arithmetic, comparison or choice, with blanks around it. */
static bool
is_sum(struct mrsi_span s)
{
    for (size_t i = 2; s.n && *s.p == '$' && i + 2 < s.n; i++) {
        size_t n = s.p[i] == s.p[i + 1] || s.p[i + 1] == '=' ? 2 : 1;
        if (s.p[i - 1] == ' ' && strchr("+-*/%=<>?&|!", s.p[i]) && s.p[i + n] == ' ') {
            return true;
        }
    }
    return false;
}

/* this.name, self.name */
static bool
is_this(struct mrsi_span s)
{
    static const char *const owners[] = {"this", "self"};
    struct mrsi_span owner = word(&s);
    return is_word(owner, owners, 2) && separator(s) == 1 && *s.p == '.';
}

/* ---- entry points ---- */
bool
mrsi_literal_call(struct mrs_mem *mem, struct mrsi_span text, bool plain, struct mrsi_literal *out)
{
    struct literal_call c;
    bool found = parse(text, true, plain, &c);
    if (found) {
        show(&c, mem, out);
    }
    return found;
}

bool
mrsi_literal_word(struct mrs_mem *mem, struct mrsi_span text, bool query, struct mrsi_literal *out)
{
    static const struct constructor words[] = {
        {"NaN", "{\"$numberDouble\": \"NaN\"}", NULL, NULL, 0},
        {"Infinity", "{\"$numberDouble\": \"Infinity\"}", NULL, NULL, 0},
        {"-Infinity", "{\"$numberDouble\": \"-Infinity\"}", NULL, NULL, 0},
        {"undefined", "null", NULL, NULL, 0}, /* last: in queries only ({ $type: undefined } is a type name) */
    };
    struct literal_call c = {.plain = true};
    for (size_t i = 0; i < sizeof words / sizeof *words - !query; i++) {
        if (is_word(text, &words[i].name, 1)) {
            c.of = &words[i];
            show(&c, mem, out);
        }
    }
    return c.of;
}

bool
mrsi_literal_regex(struct mrs_mem *mem, struct mrsi_span text, bool *certain, struct mrsi_literal *out)
{
    struct literal_call c;
    bool found = regex(text, &c, certain);
    if (found) {
        show_regex(&c, mem, out);
    }
    return found;
}

bool
mrsi_literal_find(struct mrs_mem *mem, struct mrsi_span line, struct mrsi_literal *out)
{
    MRS_ASSERT(line.p || line.n == 0);
    struct literal_call c;
    for (size_t i = 0; i < line.n; i++) {
        struct mrsi_span s = skip(line, i);
        if (*s.p == '/' && i && strchr(" [{,:", s.p[-1]) && regex_in(s, &c)) {
            show_regex(&c, mem, out);
            return true;
        }
        if ((i == 0 || !mrsi_is_letter(s.p[-1])) && mrsi_is_letter(*s.p) && parse(s, false, false, &c)) {
            show(&c, mem, out);
            return true;
        }
    }
    return false;
}

enum mrsi_code
mrsi_literal_code(struct mrsi_span s)
{
    MRS_ASSERT(s.p || s.n == 0);
    if (is_number(s)) {
        return MRSI_CODE_NUMBER;
    }
    if (s.n > 2 && strchr("bBrRuUfF", *s.p) && strchr("\"'", s.p[1]) && s.p[s.n - 1] == s.p[1]) {
        return MRSI_CODE_TEXT;
    }
    if (s.n > 5 && memcmp(s.p, "\xE2\x80", 2) == 0 && memcmp(s.p + s.n - 3, "\xE2\x80", 2) == 0) {
        return MRSI_CODE_QUOTES;
    }
    if (s.n > 2 && (memcmp(s.p, "\xC2\xA0", 2) == 0 || memcmp(s.p + s.n - 2, "\xC2\xA0", 2) == 0)) {
        return MRSI_CODE_BLANK;
    }
    if (is_sum(s) || is_this(s)) {
        return is_sum(s) ? MRSI_CODE_SUM : MRSI_CODE_THIS;
    }
    return is_call(s) || is_arrow(s) ? MRSI_CODE_CALL : MRSI_CODE_NONE;
}

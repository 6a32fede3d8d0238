/* SPDX-License-Identifier: Apache-2.0 */
/* op_string.c - operators on text.
 *
 * Strings are bytes with a length: NUL is data, letters are ASCII letters only, nothing is normalized. Results are
 * written once into the arena. The order of checks (type before null, or null before type) is the server's and differs
 * between operators; callers depend on it, because a failing check refuses a document that a null would not. */
#include "text_ops.h"

enum mrs_status
mrsi_text_too_large(const struct mrs_expr *x, struct mrs_eval *ev)
{
    return mrsi_eval_error(x, ev, "the result would be larger than a document may be");
}

enum mrs_status
mrsi_text_or_null(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, const char *what,
                  struct mrsi_text *text)
{
    MRS_ASSERT(i < x->n_args);
    struct mrs_val v;
    text->p = NULL;
    text->n = 0;
    MRS_TRY(mrsi_arg(x, i, ev, &v));
    if (mrsi_is_nullish(v)) {
        return MRS_OK;
    }
    if (v.type != MRS_STRING) {
        return mrsi_eval_error(x, ev, "%s must be a string, not %s", what, mrs_type_name(v.type));
    }
    *text = mrsi_text_of(v);
    return mrsi_spend(ev, text->n / MRSI_TEXT_STEP);
}

/* An argument as text, by the server's coercion; "" if nullish. */
static enum mrs_status
coerced(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, struct mrsi_text *text)
{
    MRS_ASSERT(i < x->n_args);
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, i, ev, &v));
    if (mrsi_is_nullish(v)) {
        text->p = "";
        text->n = 0;
        return MRS_OK;
    }
    MRS_TRY(mrsi_coerce_text(x, ev, v, &text->p, &text->n));
    return mrsi_spend(ev, text->n / MRSI_TEXT_STEP);
}

static enum mrs_status
eval_concat(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrsi_text *part = mrs_arena_alloc(ev->arena, (x->n_args + 1) * sizeof *part);
    if (!part) {
        return mrsi_eval_memory(ev, x->n_args * sizeof *part);
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < x->n_args; i++) {
        MRS_TRY(mrsi_text_or_null(x, i, ev, "each argument", &part[i]));
        if (!part[i].p) {
            return mrsi_ret_null(out);
        }
        total += part[i].n;
    }
    if (total > MRS_DOC_READ_MAX) {
        return mrsi_text_too_large(x, ev);
    }
    char *to;
    MRS_TRY(mrsi_ret_room(ev, (uint32_t)total, &to, out));
    for (uint32_t i = 0; i < x->n_args; i++) {
        memcpy(to, part[i].p, part[i].n);
        to += part[i].n;
    }
    return MRS_OK;
}

static char
upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

static char
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static enum mrs_status
change_case(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    char (*to)(char) = x->op->variant ? upper : lower;
    struct mrsi_text text;
    MRS_TRY(coerced(x, 0, ev, &text));
    char *p;
    MRS_TRY(mrsi_ret_room(ev, text.n, &p, out));
    for (uint32_t i = 0; i < text.n; i++) {
        p[i] = to(text.p[i]);
    }
    return MRS_OK;
}

static enum mrs_status
eval_strcasecmp(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrsi_text a, b;
    MRS_TRY(coerced(x, 0, ev, &a));
    MRS_TRY(coerced(x, 1, ev, &b));
    int order = 0;
    for (uint32_t i = 0; !order && i < a.n && i < b.n; i++) {
        order = (uint8_t)upper(a.p[i]) - (uint8_t)upper(b.p[i]);
    }
    if (!order && a.n != b.n) {
        order = a.n < b.n ? -1 : 1;
    }
    return mrsi_ret_i32(ev, order < 0 ? -1 : order > 0, out);
}

/* Characters removed by $trim without `chars`: NUL and the server's blanks. */
static const char BLANKS[] = "\0 "
                             "\t\n\v\f\r\xC2\xA0\xE1\x9A\x80\xE2\x80\x80\xE2\x80\x81\xE2\x80\x82"
                             "\xE2\x80\x83\xE2\x80\x84\xE2\x80\x85"
                             "\xE2\x80\x86\xE2\x80\x87\xE2\x80\x88\xE2\x80\x89\xE2\x80\x8A";

/* Whether the code point p[0..n) is in the set. */
static bool
in_set(struct mrsi_text set, const char *p, uint32_t n)
{
    MRS_ASSERT(p && n > 0);
    for (uint32_t at = 0; at < set.n;) {
        uint32_t len = mrsi_utf8_len((uint8_t)set.p[at]);
        len = len < set.n - at ? len : set.n - at;
        if (len == n && memcmp(set.p + at, p, n) == 0) {
            return true;
        }
        at += len;
    }
    return false;
}

/* Length of the code point that ends at `end`, reading back no further than `from`. */
static uint32_t
last_len(const char *from, const char *end)
{
    uint32_t len = 1;
    while (len < 4 && end - len > from && ((uint8_t) * (end - len) & 0xC0) == 0x80) {
        len++;
    }
    return len;
}

enum { TRIM_BOTH, TRIM_FRONT, TRIM_BACK };

static enum mrs_status
trim(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    bool front = x->op->variant != TRIM_BACK, back = x->op->variant != TRIM_FRONT;
    struct mrsi_text text, set = {BLANKS, sizeof BLANKS - 1};
    MRS_TRY(mrsi_text_or_null(x, 0, ev, "input", &text));
    if (x->args[1]) {
        struct mrsi_text chars;
        MRS_TRY(text.p ? mrsi_text_or_null(x, 1, ev, "chars", &chars) : MRS_OK);
        if (text.p) {
            set = chars;
        }
    }
    if (!text.p || !set.p) {
        return mrsi_ret_null(out);
    }
    const char *from = text.p, *end = text.p + text.n;
    while (front && from < end) {
        MRS_TRY(mrsi_spend(ev, set.n / MRSI_TEXT_STEP)); /* as many again for each character */
        uint32_t len = mrsi_utf8_len((uint8_t)*from);
        len = len < (uint32_t)(end - from) ? len : (uint32_t)(end - from);
        if (!in_set(set, from, len)) {
            break;
        }
        from += len;
    }
    while (back && from < end) {
        MRS_TRY(mrsi_spend(ev, set.n / MRSI_TEXT_STEP));
        uint32_t len = last_len(from, end);
        if (!in_set(set, end - len, len)) {
            break;
        }
        end -= len;
    }
    return mrsi_ret_text(ev, from, (size_t)(end - from), out);
}

static enum mrs_status
eval_substr_points(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 3);
    struct mrsi_text text;
    struct mrs_val v;
    int32_t range[2];
    MRS_TRY(coerced(x, 0, ev, &text));
    for (uint32_t i = 0; i < 2; i++) {
        MRS_TRY(mrsi_arg(x, i + 1, ev, &v));
        if (!mrsi_integral32(v, &range[i])) {
            return mrsi_eval_error(x, ev, "%s must be a whole number of 32 bits",
                                   i ? "the length" : "the start");
        }
    }
    if (range[0] < 0 || range[1] < 0) {
        return mrsi_eval_error(x, ev, "%s is negative", range[0] < 0 ? "the start" : "the length");
    }
    uint32_t left;
    uint32_t from = mrsi_utf8_offset(text.p, text.n, (uint32_t)range[0], &left);
    uint32_t n = mrsi_utf8_offset(text.p + from, text.n - from, (uint32_t)range[1], &left);
    return mrsi_ret_text(ev, text.p + from, n, out);
}

static enum mrs_status
eval_substr_bytes(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 3);
    struct mrsi_text text;
    struct mrs_val v;
    int64_t range[2];
    MRS_TRY(coerced(x, 0, ev, &text));
    for (uint32_t i = 0; i < 2; i++) {
        MRS_TRY(mrsi_arg(x, i + 1, ev, &v));
        if (!mrsi_coerce_i64(v, &range[i])) {
            return mrsi_eval_error(x, ev, "%s must be a number that fits 64 bits",
                                   i ? "the length" : "the start");
        }
    }
    if (range[0] < 0) {
        return mrsi_eval_error(x, ev, "the start is negative");
    }
    uint64_t from = (uint64_t)range[0];
    if (mrsi_utf8_inside(text.p, text.n, from)) {
        return mrsi_eval_error(x, ev, "the start is inside a character");
    }
    from = from < text.n ? from : text.n;
    uint64_t end =
        range[1] < 0 || (uint64_t)range[1] > text.n - from ? text.n : from + (uint64_t)range[1];
    if (mrsi_utf8_inside(text.p, text.n, end)) {
        return mrsi_eval_error(x, ev, "the end is inside a character");
    }
    return mrsi_ret_text(ev, text.p + from, end - from, out);
}

static enum mrs_status
length(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 1);
    bool points = x->op->variant;
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    if (v.type != MRS_STRING) {
        return mrsi_eval_error(x, ev, "the argument must be a string, not %s",
                               mrs_type_name(v.type));
    }
    struct mrsi_text text = mrsi_text_of(v);
    MRS_TRY(mrsi_spend(ev, points ? text.n / MRSI_TEXT_STEP : 0));
    return mrsi_ret_i32(ev, (int32_t)(points ? mrsi_utf8_count(text.p, text.n) : text.n), out);
}

/* The common part of $indexOfCP and $indexOfBytes; found->p is NULL if the input is nullish. */
struct search_args {
    struct mrsi_text text, find;
    int32_t start, end;
};

static enum mrs_status
search_arguments(const struct mrs_expr *x, struct mrs_eval *ev, struct search_args *a)
{
    MRS_ASSERT(x->n_args >= 2 && x->n_args <= 4);
    a->start = 0;
    a->end = INT32_MAX;
    MRS_TRY(mrsi_text_or_null(x, 0, ev, "the text", &a->text));
    if (!a->text.p) {
        return MRS_OK;
    }
    MRS_TRY(mrsi_text_or_null(x, 1, ev, "what is looked for", &a->find));
    if (!a->find.p) {
        return mrsi_eval_error(x, ev, "the search text must be a string, not null");
    }
    for (uint32_t i = 2; i < x->n_args && x->args[i]; i++) {
        struct mrs_val v;
        int32_t *to = i == 2 ? &a->start : &a->end;
        MRS_TRY(mrsi_arg(x, i, ev, &v));
        if (!mrsi_integral32(v, to) || *to < 0) {
            return mrsi_eval_error(x, ev, "%s must be a whole number of 32 bits, not negative",
                                   i == 2 ? "the start" : "the end");
        }
    }
    return MRS_OK;
}

static enum mrs_status
eval_index_bytes(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct search_args a;
    MRS_TRY(search_arguments(x, ev, &a));
    if (!a.text.p) {
        return mrsi_ret_null(out);
    }
    uint32_t start = (uint32_t)a.start;
    uint32_t end = (uint32_t)a.end < a.text.n ? (uint32_t)a.end : a.text.n;
    const char *hit = start <= end ? mrsi_text_search(a.text.p + start, a.text.p + end, a.find) : NULL;
    return mrsi_ret_i32(ev, hit ? (int32_t)(hit - a.text.p) : -1, out);
}

/* A match must begin before the end, and may extend past it. */
static enum mrs_status
eval_index_points(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct search_args a;
    MRS_TRY(search_arguments(x, ev, &a));
    if (!a.text.p) {
        return mrsi_ret_null(out);
    }
    uint32_t left;
    uint32_t at = mrsi_utf8_offset(a.text.p, a.text.n, (uint32_t)a.start, &left);
    if (!a.text.n && !a.find.n && !a.start) {
        return mrsi_ret_i32(ev, 0, out);
    }
    bool none = left || at == a.text.n || mrsi_utf8_inside(a.find.p, a.find.n, 0);
    const char *from = a.text.p + at, *hit = none ? NULL : mrsi_text_search(from, a.text.p + a.text.n, a.find);
    int64_t i = hit ? a.start + (int64_t)mrsi_utf8_count(from, (uint32_t)(hit - from)) : a.end;
    return mrsi_ret_i32(ev, i < a.end ? (int32_t)i : -1, out);
}

#define BY_COUNT(name, note, fn, least, most) {.row = {name, "string", note}, .eval = fn, .n_min = least, .n_max = most}
#define BY_NAME(name, note, fn, keys) {.row = {name, "string", note}, .eval = fn, .named = keys}

const struct mrs_op mrsi_ops_string[] = {
    BY_COUNT("$concat", "", eval_concat, 0, 255),
    BY_COUNT("$indexOfBytes", "", eval_index_bytes, 2, 4),
    BY_COUNT("$indexOfCP", "", eval_index_points, 2, 4),
    {.row = {"$ltrim", "string", ""}, .eval = trim, .variant = TRIM_FRONT, .named = "input|chars"},
    {.row = {"$rtrim", "string", ""}, .eval = trim, .variant = TRIM_BACK, .named = "input|chars"},
    BY_COUNT("$strcasecmp", "", eval_strcasecmp, 2, 2),
    BY_COUNT("$strLenBytes", "", length, 1, 1),
    {.row = {"$strLenCP", "string", ""}, .eval = length, .variant = true, .n_min = 1, .n_max = 1},
    BY_COUNT("$substr", "", eval_substr_bytes, 3, 3),
    BY_COUNT("$substrBytes", "", eval_substr_bytes, 3, 3),
    BY_COUNT("$substrCP", "", eval_substr_points, 3, 3),
    BY_COUNT("$toLower", "", change_case, 1, 1),
    {.row = {"$toUpper", "string", ""}, .eval = change_case, .variant = true, .n_min = 1, .n_max = 1},
    BY_NAME("$trim", "", trim, "input|chars"),
    {.row = {NULL, NULL, NULL}},
};

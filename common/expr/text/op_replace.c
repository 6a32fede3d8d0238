/* SPDX-License-Identifier: Apache-2.0 */
/* op_replace.c - $replaceOne, $replaceAll, $split: by a text or by a regular expression.
 *
 * A regular expression finds the same matches as $regexFindAll. Types are checked before null, except for $split, as in
 * the server. The groups of the expression become elements of a $split, after the part that ends there. */
#include "text_ops.h"

/* A constant regular expression is compiled once, with the plan. */
static enum mrs_status
keep_pattern(struct mrsi_compile *c, struct mrs_expr *x, const struct mrs_expr *find, struct mrs_err *e)
{
    if (!mrsi_is_constant(find) || find->lit.type != MRS_REGEX) {
        return MRS_OK;
    }
    MRS_TRY(mrsi_compile_needs_8_3(c, x, "a regular expression here", e));
    return mrsi_regex_keep(c, x, find->lit, mrs_missing(), e);
}

static enum mrs_status
compile_replace(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_named(c, x, spec, x->op->named, e));
    return keep_pattern(c, x, x->args[1], e);
}

static enum mrs_status
compile_split(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_list(c, x, spec, x->op->n_min, x->op->n_max, e));
    return keep_pattern(c, x, x->args[1], e);
}

/* Whether a value can be searched for in a text. */
static bool
is_pattern(const struct mrs_expr *x, struct mrs_val v)
{
    return v.type == MRS_STRING || (v.type == MRS_REGEX && !x->root->server_8_2);
}

/* ---- $split ---- */

/* The input of $split; neither text nor pattern: the result is null. */
struct splitting {
    struct mrsi_text text, sep;
    struct mrs_val pattern; /* REGEX: replaces sep */
};

static enum mrs_status
split_arguments(const struct mrs_expr *x, struct mrs_eval *ev, struct splitting *s)
{
    struct mrs_val input;
    s->text.p = NULL;
    MRS_TRY(mrsi_arg(x, 0, ev, &input));
    MRS_TRY(mrsi_arg(x, 1, ev, &s->pattern));
    if (mrsi_is_nullish(input) || mrsi_is_nullish(s->pattern)) {
        return MRS_OK;
    }
    if (input.type != MRS_STRING || !is_pattern(x, s->pattern)) {
        return mrsi_eval_error(x, ev, "the text and the separator must be strings%s, not %s and %s",
                               x->root->server_8_2 ? "" : " (the separator may be a regular expression)",
                               mrs_type_name(input.type), mrs_type_name(s->pattern.type));
    }
    s->text = mrsi_text_of(input);
    MRS_TRY(mrsi_spend(ev, s->text.n / MRSI_TEXT_STEP));
    if (s->pattern.type == MRS_REGEX) {
        return MRS_OK;
    }
    s->sep = mrsi_text_of(s->pattern);
    return s->sep.n ? MRS_OK : mrsi_eval_error(x, ev, "the separator is empty");
}

static enum mrs_status
add_part(struct mrs_eval *ev, struct mrsi_list *parts, const char *from, const char *end)
{
    struct mrs_val v;
    MRS_TRY(mrsi_ret_text(ev, from, (size_t)(end - from), &v));
    return mrsi_list_add(ev, parts, v);
}

/* The parts of a text between the matches of a regular expression, each with the groups of the match after it. */
static enum mrs_status
pattern_parts(const struct mrs_expr *x, struct mrs_eval *ev, struct mrsi_matches *all, struct mrsi_list *parts)
{
    const char *text = all->text.p;
    uint32_t at = 0;
    for (;;) {
        struct mrsi_regex_match m;
        MRS_TRY(mrsi_matches_next(all, ev, &m));
        if (!m.n) {
            return add_part(ev, parts, text + at, text + all->text.n);
        }
        if (m.end[0] == m.start[0] || m.start[0] < at) {
            return mrsi_eval_error(x, ev, "the regular expression matches an empty text, which separates nothing");
        }
        MRS_TRY(add_part(ev, parts, text + at, text + m.start[0]));
        for (uint32_t i = 1; i < m.n; i++) {
            uint32_t from = m.start[i] == UINT32_MAX ? 0 : m.start[i];
            MRS_TRY(add_part(ev, parts, text + from, text + (m.start[i] == UINT32_MAX ? 0 : m.end[i])));
        }
        at = m.end[0];
    }
}

static enum mrs_status
split_by_pattern(const struct mrs_expr *x, struct mrs_eval *ev, const struct splitting *s, struct mrsi_list *parts)
{
    struct mrsi_regex *regex;
    bool mine;
    MRS_TRY(mrsi_regex_of(x, ev, s->pattern, &regex, &mine));
    struct mrsi_matches all = {.regex = regex, .text = s->text};
    enum mrs_status st = pattern_parts(x, ev, &all, parts);
    if (mine) {
        mrsi_regex_free(regex);
    }
    return st;
}

static uint32_t
split_count(struct mrsi_text text, struct mrsi_text sep)
{
    const char *end = text.p + text.n;
    uint32_t n = 1;
    for (const char *at = text.p; (at = mrsi_text_search(at, end, sep)); at += sep.n) {
        n++;
    }
    return n;
}

/* Counts first, so that the array is written once, in its final place. */
static enum mrs_status
split_by_text(const struct mrs_expr *x, struct mrs_eval *ev, struct mrsi_text text, struct mrsi_text sep,
              struct mrs_val *out)
{
    MRS_ASSERT(sep.n > 0);
    char name[12];
    uint32_t n = split_count(text, sep);
    MRS_TRY(mrsi_spend(ev, n));
    uint64_t most = 5 + text.n + (uint64_t)n * (7 + mrs_index_name(name, n - 1));
    if (most > 4u * MRS_DOC_MAX) {
        return mrsi_text_too_large(x, ev);
    }
    uint8_t *p = mrs_arena_alloc(ev->arena, most), *to = p + 4;
    if (!p) {
        return mrsi_eval_memory(ev, most);
    }
    const char *at = text.p, *end = text.p + text.n;
    for (uint32_t i = 0; i < n; i++) {
        const char *hit = mrsi_text_search(at, end, sep);
        uint32_t len = (uint32_t)((hit ? hit : end) - at), digits = mrs_index_name(name, i);
        *to++ = MRS_STRING;
        memcpy(to, name, digits + 1);
        to += digits + 1;
        mrs_put32(to, len + 1);
        memcpy(to + 4, at, len);
        to[4 + len] = 0;
        to += 5 + len;
        at = hit ? hit + sep.n : end;
    }
    *to++ = 0;
    mrs_put32(p, (uint32_t)(to - p));
    *out = (struct mrs_val){p, (uint32_t)(to - p), MRS_ARRAY};
    return MRS_OK;
}

enum mrs_status
mrsi_eval_split(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct splitting s;
    struct mrsi_list parts = {0};
    MRS_TRY(split_arguments(x, ev, &s));
    if (!s.text.p) {
        return mrsi_ret_null(out);
    }
    if (s.pattern.type != MRS_REGEX) {
        return split_by_text(x, ev, s.text, s.sep, out);
    }
    MRS_TRY(split_by_pattern(x, ev, &s, &parts));
    return mrsi_ret_array(ev, parts.v, parts.n, out);
}

static enum mrs_status
part_by_text(struct mrs_eval *ev, struct mrsi_text text, struct mrsi_text sep, int64_t index, struct mrs_val *out)
{
    MRS_ASSERT(sep.n > 0);
    index += index < 0 ? split_count(text, sep) : 0;
    const char *at = text.p, *end = text.p + text.n, *hit = NULL;
    for (int64_t i = 0; index >= 0; i++, at = hit + sep.n) {
        hit = mrsi_text_search(at, end, sep);
        if (i == index) {
            return mrsi_ret_text(ev, at, (size_t)((hit ? hit : end) - at), out);
        }
        if (!hit) {
            break;
        }
    }
    *out = mrs_missing();
    return MRS_OK;
}

enum mrs_status
mrsi_eval_split_at(const struct mrs_expr *x, struct mrs_eval *ev, int64_t index, struct mrs_val *out)
{
    struct splitting s;
    struct mrsi_list parts = {0};
    MRS_TRY(split_arguments(x, ev, &s));
    if (!s.text.p) {
        return mrsi_ret_null(out);
    }
    if (s.pattern.type != MRS_REGEX) {
        return part_by_text(ev, s.text, s.sep, index, out);
    }
    MRS_TRY(split_by_pattern(x, ev, &s, &parts));
    index += index < 0 ? parts.n : 0;
    *out = index >= 0 && index < parts.n ? parts.v[index] : mrs_missing();
    return MRS_OK;
}

/* ---- $replaceOne, $replaceAll ---- */

struct replacement {
    struct mrsi_text text, find, by;
    bool all;
};

/* Writes the result to `to`; if that is NULL, only returns its length. */
static uint64_t
replaced(const struct replacement *r, char *to)
{
    const char *at = r->text.p, *end = at + r->text.n;
    uint64_t n = 0;
    bool more = true;
    while (more) {
        const char *hit = mrsi_text_search(at, end, r->find);
        const char *stop = hit ? hit : end;
        if (to) {
            memcpy(to + n, at, (size_t)(stop - at));
        }
        n += (uint64_t)(stop - at);
        at = stop;
        if (!hit) {
            return n;
        }
        if (to) {
            memcpy(to + n, r->by.p, r->by.n);
        }
        n += r->by.n;
        at += r->find.n;
        more = r->all;
        if (!r->find.n &&
            r->all) { /* between all characters: the current one is copied first */
            uint32_t len = at < end ? mrsi_utf8_len((uint8_t)*at) : 0;
            len = len < (uint32_t)(end - at) ? len : (uint32_t)(end - at);
            if (to) {
                memcpy(to + n, at, len);
            }
            n += len;
            at += len;
            more = len > 0;
        }
    }
    if (to) {
        memcpy(to + n, at, (size_t)(end - at));
    }
    return n + (uint64_t)(end - at);
}

/* The text with all matches of a regular expression replaced, in buf. */
static enum mrs_status
replace_matches(struct mrs_eval *ev, struct mrsi_matches *all, const struct replacement *r, struct mrs_buf *buf)
{
    uint32_t at = 0;
    struct mrsi_regex_match m;
    do {
        MRS_TRY(mrsi_matches_next(all, ev, &m));
        if (m.n && m.start[0] >= at) {
            mrs_buf_put(buf, r->text.p + at, m.start[0] - at);
            mrs_buf_put(buf, r->by.p, r->by.n);
            at = m.end[0];
        }
    } while (m.n && r->all && !buf->bad);
    mrs_buf_put(buf, r->text.p + at, r->text.n - at);
    return MRS_OK;
}

static enum mrs_status
replace_by_pattern(const struct mrs_expr *x, struct mrs_eval *ev, const struct replacement *r, struct mrs_val pattern,
                   struct mrs_val *out)
{
    struct mrsi_regex *regex;
    struct mrs_buf buf;
    bool mine;
    MRS_TRY(mrsi_regex_of(x, ev, pattern, &regex, &mine));
    struct mrsi_matches all = {.regex = regex, .text = r->text};
    mrsi_buf_init(ev, &buf, MRS_DOC_READ_MAX);
    enum mrs_status s = replace_matches(ev, &all, r, &buf);
    if (s == MRS_OK && buf.bad) {
        s = buf.bad == 2 ? mrsi_text_too_large(x, ev) : mrsi_eval_memory(ev, buf.n);
    }
    MRS_THEN(s, mrsi_ret_text(ev, (const char *)buf.p, buf.n, out));
    mrs_buf_clear(&buf);
    if (mine) {
        mrsi_regex_free(regex);
    }
    return s;
}

static enum mrs_status
replace_text(const struct mrs_expr *x, struct mrs_eval *ev, const struct replacement *r, struct mrs_val *out)
{
    uint64_t n = replaced(r, NULL);
    if (n > MRS_DOC_READ_MAX) {
        return mrsi_text_too_large(x, ev);
    }
    char *to;
    MRS_TRY(mrsi_ret_room(ev, (uint32_t)n, &to, out));
    replaced(r, to);
    return MRS_OK;
}

static enum mrs_status
replace(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct replacement r = {.all = x->op->variant};
    struct mrs_val find;
    MRS_TRY(mrsi_text_or_null(x, 0, ev, "input", &r.text));
    MRS_TRY(mrsi_arg(x, 1, ev, &find));
    if (!mrsi_is_nullish(find) && !is_pattern(x, find)) {
        return mrsi_eval_error(x, ev, "find must be a string%s, not %s",
                               x->root->server_8_2 ? "" : " or a regular expression", mrs_type_name(find.type));
    }
    MRS_TRY(mrsi_text_or_null(x, 2, ev, "replacement", &r.by));
    if (!r.text.p || !r.by.p || mrsi_is_nullish(find)) {
        return mrsi_ret_null(out);
    }
    if (find.type == MRS_REGEX) {
        return replace_by_pattern(x, ev, &r, find, out);
    }
    r.find = mrsi_text_of(find);
    return replace_text(x, ev, &r, out);
}

#define A_PATTERN "a regular expression " MRSI_SINCE_8_3
#define REPLACE(name, note, all)                                                                                    \
    {                                                                                                               \
        .row = {name, "string", note}, .eval = replace, .variant = all, .compile = compile_replace,                 \
        .named = "input,find,replacement", .free_extra = mrsi_regex_drop                                            \
    }

const struct mrs_op mrsi_ops_replace[] = {
    REPLACE("$replaceAll", "an empty find cuts at characters, never inside one; " A_PATTERN, true),
    REPLACE("$replaceOne", A_PATTERN, false),
    {.row = {"$split", "string", A_PATTERN}, .eval = mrsi_eval_split, .compile = compile_split, .n_min = 2, .n_max = 2,
     .free_extra = mrsi_regex_drop},
    {.row = {NULL, NULL, NULL}},
};

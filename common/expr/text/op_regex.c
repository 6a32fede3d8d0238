/* SPDX-License-Identifier: Apache-2.0 */
/* op_regex.c - $regexMatch, $regexFind, $regexFindAll.
 *
 * A pattern that is constant in the plan is compiled once and shared by all threads; a pattern from the document is
 * compiled for it. Arguments are checked before nulls, in the server's order, so that a plan with an invalid pattern
 * fails for any data. */
#include "text_ops.h"

enum { INPUT, REGEX, OPTIONS };

/* Pattern and options from the two arguments. *none: the pattern is nullish. why set on FAIL. */
static enum mrs_status
pattern_of(struct mrs_val regex, struct mrs_val options, struct mrsi_text *pattern,
           struct mrsi_text *flags, const char **why)
{
    *why = NULL;
    flags->p = "";
    flags->n = 0;
    if (!mrsi_is_nullish(regex) && regex.type != MRS_STRING && regex.type != MRS_REGEX) {
        *why = "regex must be a string or a regular expression";
    } else if (!mrsi_is_nullish(options) && options.type != MRS_STRING) {
        *why = "options must be a string";
    }
    if (*why || mrsi_is_nullish(regex)) {
        return *why ? MRS_FAIL : MRS_OK;
    }
    if (regex.type == MRS_REGEX) {
        mrsi_regex_parts(regex, pattern, flags);
        if (flags->n && options.type == MRS_STRING) {
            *why = "options are given both in the regular expression and next to it";
            return MRS_FAIL;
        }
    } else {
        *pattern = mrsi_text_of(regex);
    }
    if (options.type == MRS_STRING) {
        *flags = mrsi_text_of(options);
    }
    return MRS_OK;
}

void
mrsi_regex_drop(struct mrs_expr *x)
{
    mrsi_regex_free(x->extra);
    x->extra = NULL;
}

enum mrs_status
mrsi_regex_keep(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val regex, struct mrs_val options,
                struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(regex) && mrs_val_is_sized(options));
    const char *wrong;
    char why[160];
    struct mrsi_text pattern, flags;
    struct mrsi_regex *compiled = NULL;
    if (pattern_of(regex, options, &pattern, &flags, &wrong) != MRS_OK) {
        return mrsi_expr_refuse(x, e, "%s", wrong);
    }
    enum mrs_status s = mrsi_regex_new(mrsi_compile_arena(c)->mem, pattern, flags, &compiled, why, e);
    x->extra = compiled;
    return s == MRS_FAIL ? mrsi_expr_refuse(x, e, "%s", why) : s;
}

static enum mrs_status
compile_regex(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    MRS_TRY(mrsi_compile_named(c, x, spec, "input,regex|options", e));
    const struct mrs_expr *regex = x->args[REGEX], *options = x->args[OPTIONS];
    if (!mrsi_is_constant(regex) || (options && !mrsi_is_constant(options)) ||
        mrsi_is_nullish(regex->lit)) {
        return MRS_OK;
    }
    return mrsi_regex_keep(c, x, regex->lit, options ? options->lit : mrs_missing(), e);
}

/* Pattern and options, compiled for this evaluation; *r is unchanged if the pattern is nullish. */
static enum mrs_status
compile_now(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val regex, struct mrs_val options,
            struct mrsi_regex **r, bool *mine)
{
    struct mrsi_text pattern, flags;
    const char *wrong;
    char why[160];
    if (pattern_of(regex, options, &pattern, &flags, &wrong) != MRS_OK) {
        return mrsi_eval_error(x, ev, "%s", wrong);
    }
    if (mrsi_is_nullish(regex)) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_regex_new(ev->arena->mem, pattern, flags, r, why, ev->err);
    *mine = s == MRS_OK;
    return s == MRS_FAIL ? mrsi_eval_error(x, ev, "%s", why) : s;
}

enum mrs_status
mrsi_regex_of(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val regex, struct mrsi_regex **out,
              bool *mine)
{
    *mine = false;
    *out = x->extra;
    return *out ? MRS_OK : compile_now(x, ev, regex, mrs_missing(), out, mine);
}

/* The regular expression for this evaluation; *mine: the caller frees it. NULL: the pattern is
 * nullish. */
static enum mrs_status
regex_for(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val input,
          struct mrsi_regex **r, bool *mine)
{
    struct mrs_val regex, options;
    *mine = false;
    *r = x->extra;
    if (!mrsi_is_nullish(input) && input.type != MRS_STRING) {
        return mrsi_eval_error(x, ev, "input must be a string, not %s", mrs_type_name(input.type));
    }
    if (*r) {
        return MRS_OK;
    }
    MRS_TRY(mrsi_arg(x, REGEX, ev, &regex));
    MRS_TRY(mrsi_arg(x, OPTIONS, ev, &options));
    return compile_now(x, ev, regex, options, r, mine);
}

static enum mrs_status
eval_match(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val input;
    struct mrsi_regex *r;
    bool mine, yes = false;
    MRS_TRY(mrsi_arg(x, INPUT, ev, &input));
    MRS_TRY(regex_for(x, ev, input, &r, &mine));
    enum mrs_status s = MRS_OK;
    if (r && !mrsi_is_nullish(input)) {
        struct mrsi_regex_match m;
        m.n = 0;
        s = mrsi_spend(ev, MRSI_REGEX_STEPS);
        MRS_THEN(s, mrsi_regex_find(r, mrsi_text_of(input), 0, &m, ev->err));
        yes = m.n > 0;
    }
    if (mine) {
        mrsi_regex_free(r);
    }
    return s == MRS_OK ? mrsi_ret_bool(ev, yes, out) : s;
}

/* Appends {match, idx, captures} to the result. */
static void
build_match(struct mrs_build *b, struct mrsi_text text, const struct mrsi_regex_match *m, uint32_t idx)
{
    MRS_ASSERT(m->n > 0 && m->start[0] <= m->end[0]);
    mrs_build_text(b, "match", text.p + m->start[0], m->end[0] - m->start[0]);
    mrs_build_i32(b, "idx", (int32_t)idx);
    mrs_build_open(b, "captures", 8, MRS_ARRAY);
    for (uint32_t i = 1; i < m->n; i++) {
        char name[12];
        uint32_t len = mrs_index_name(name, i - 1);
        if (m->start[i] == UINT32_MAX) {
            mrs_build_null(b, name, len);
        } else {
            mrs_build_text(b, name, text.p + m->start[i], m->end[i] - m->start[i]);
        }
    }
    mrs_build_close(b);
}

static enum mrs_status
find_one(const struct mrsi_regex *r, struct mrs_eval *ev, struct mrsi_text text,
         struct mrs_val *out)
{
    struct mrsi_regex_match m;
    MRS_TRY(mrsi_regex_find(r, text, 0, &m, ev->err));
    if (!m.n) {
        return mrsi_ret_null(out);
    }
    struct mrsi_expr_out o;
    mrsi_out_begin(ev, &o);
    build_match(&o.build, text, &m, mrsi_utf8_count(text.p, m.start[0]));
    return mrsi_out_end(ev, &o, MRS_DOCUMENT, out);
}

static enum mrs_status
eval_find(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val input;
    struct mrsi_regex *r;
    bool mine;
    MRS_TRY(mrsi_arg(x, INPUT, ev, &input));
    MRS_TRY(regex_for(x, ev, input, &r, &mine));
    enum mrs_status s = r && !mrsi_is_nullish(input) ? find_one(r, ev, mrsi_text_of(input), out)
                                                     : mrsi_ret_null(out);
    if (mine) {
        mrsi_regex_free(r);
    }
    return s;
}

enum mrs_status
mrsi_matches_next(struct mrsi_matches *all, struct mrs_eval *ev, struct mrsi_regex_match *m)
{
    MRS_ASSERT(all->regex);
    m->n = 0;
    if (all->begun && all->at >= all->text.n) {
        return MRS_OK;
    }
    all->begun = true;
    MRS_TRY(mrsi_spend(ev, MRSI_REGEX_STEPS));
    MRS_TRY(mrsi_regex_find(all->regex, all->text, all->at, m, ev->err));
    if (!m->n) {
        all->at = all->text.n;
        return MRS_OK;
    }
    uint32_t next = m->end[0];
    if (m->end[0] == m->start[0] || next <= all->at) { /* a look-behind with \K can end before it began */
        next = m->start[0] +
               (m->start[0] < all->text.n ? mrsi_utf8_len((uint8_t)all->text.p[m->start[0]]) : 1);
    }
    all->next = next;
    all->at = next > all->at ? next : all->at + 1;
    return MRS_OK;
}

static enum mrs_status
find_all(const struct mrsi_regex *r, struct mrs_eval *ev, struct mrsi_text text, struct mrsi_expr_out *o)
{
    struct mrsi_matches all = {.regex = r, .text = text};
    uint32_t point = 0;
    while (!o->buf.bad) {
        struct mrsi_regex_match m;
        uint32_t at = all.at;
        MRS_TRY(mrsi_matches_next(&all, ev, &m));
        if (!m.n) {
            break;
        }
        if (m.start[0] > at) {
            point += mrsi_utf8_count(text.p + at, m.start[0] - at);
        }
        mrs_build_item_open(&o->build, MRS_DOCUMENT);
        build_match(&o->build, text, &m, point);
        mrs_build_close(&o->build);
        point += mrsi_utf8_count(text.p + m.start[0], (all.next < text.n ? all.next : text.n) - m.start[0]);
    }
    return MRS_OK;
}

static enum mrs_status
eval_find_all(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val input;
    struct mrsi_regex *r;
    struct mrsi_expr_out o;
    bool mine;
    MRS_TRY(mrsi_arg(x, INPUT, ev, &input));
    MRS_TRY(regex_for(x, ev, input, &r, &mine));
    mrsi_out_begin(ev, &o);
    enum mrs_status s =
        r && !mrsi_is_nullish(input) ? find_all(r, ev, mrsi_text_of(input), &o) : MRS_OK;
    if (mine) {
        mrsi_regex_free(r);
    }
    if (s != MRS_OK) {
        mrsi_out_drop(&o);
        return s;
    }
    return mrsi_out_end(ev, &o, MRS_ARRAY, out);
}

#define ROW(name, fn)                                                                              \
    {                                                                                              \
        .row = {name, "string", "at most 127 groups"}, .eval = fn, .compile = compile_regex,       \
        .free_extra = mrsi_regex_drop                                                                   \
    }

const struct mrs_op mrsi_ops_regex[] = {
    ROW("$regexFind", eval_find),
    ROW("$regexFindAll", eval_find_all),
    ROW("$regexMatch", eval_match),
    {.row = {NULL, NULL, NULL}},
};

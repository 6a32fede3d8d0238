/* SPDX-License-Identifier: Apache-2.0 */
/* regex.c - regular expressions by PCRE2, compiled as in the server: UTF-8, \s \w \d of ASCII only.
 *
 * PCRE2 uses our allocator, so that tests can make it fail; a match that needs more than a few megabytes or very many
 * steps is an error, never a hang. Knows texts and offsets only; the operators interpret a match. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "regex.h"
#include <pcre2.h>
#include <stdio.h>

enum {
    PATTERN_MAX = 16384,  /* bytes; the server's limit */
    HEAP_MAX_KIB = 65536, /* for the backtracking of one match */
    STEPS_MAX = 10000000
};

struct mrsi_regex {
    struct mrs_mem *mem;
    pcre2_general_context *general;
    pcre2_match_context *how;
    pcre2_code *code;
    uint32_t groups;
};

static void *
allocate(PCRE2_SIZE n, void *mem)
{
    return mrs_alloc(mem, n);
}

static void
release(void *p, void *mem)
{
    mrs_free(mem, p);
}

static bool
read_options(struct mrsi_text options, uint32_t *flags)
{
    *flags = PCRE2_UTF;
    for (uint32_t i = 0; i < options.n; i++) {
        switch (options.p[i]) {
        case 'i':
            *flags |= PCRE2_CASELESS;
            break;
        case 'm':
            *flags |= PCRE2_MULTILINE;
            break;
        case 's':
            *flags |= PCRE2_DOTALL;
            break;
        case 'x':
            *flags |= PCRE2_EXTENDED;
            break;
        case 'u':
            break;
        default:
            return false;
        }
    }
    return true;
}

static enum mrs_status
build(struct mrsi_regex *r, struct mrsi_text pattern, uint32_t flags, char why[160],
      struct mrs_err *e)
{
    r->general = pcre2_general_context_create(allocate, release, r->mem);
    r->how = r->general ? pcre2_match_context_create(r->general) : NULL;
    pcre2_compile_context *rules = r->how ? pcre2_compile_context_create(r->general) : NULL;
    MRS_TRY(mrs_allocated(rules, sizeof *r, e));
    pcre2_set_heap_limit(r->how, HEAP_MAX_KIB);
    pcre2_set_match_limit(r->how, STEPS_MAX);
    int code;
    PCRE2_SIZE at;
    r->code = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, flags, &code, &at, rules);
    pcre2_compile_context_free(rules);
    if (!r->code && code == PCRE2_ERROR_HEAP_FAILED) {
        return mrs_err_memory(e, pattern.n);
    }
    if (!r->code) {
        char text[120];
        if (pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof text) < 0) {
            text[0] = 0;
        }
        snprintf(why, 160, "the pattern is wrong at byte %zu: %s", (size_t)at, text);
        return MRS_FAIL;
    }
    pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &r->groups);
    if (r->groups > MRSI_REGEX_GROUPS) {
        snprintf(why, 160, "the pattern has %u groups, at most %d are possible", r->groups,
                 MRSI_REGEX_GROUPS);
        return MRS_FAIL;
    }
    return MRS_OK;
}

enum mrs_status
mrsi_regex_new(struct mrs_mem *mem, struct mrsi_text pattern, struct mrsi_text options,
               struct mrsi_regex **out, char why[160], struct mrs_err *e)
{
    MRS_ASSERT(pattern.p || pattern.n == 0);
    uint32_t flags;
    *out = NULL;
    if (!read_options(options, &flags)) {
        snprintf(why, 160, "an option is none of i, m, s, x, u");
        return MRS_FAIL;
    }
    if (memchr(pattern.p, 0, pattern.n)) {
        snprintf(why, 160, "the pattern holds a NUL byte");
        return MRS_FAIL;
    }
    if (pattern.n > PATTERN_MAX) {
        snprintf(why, 160, "the pattern is longer than %d bytes", PATTERN_MAX);
        return MRS_FAIL;
    }
    struct mrsi_regex *r = mrs_zalloc(mem, sizeof *r);
    MRS_TRY(mrs_allocated(r, sizeof *r, e));
    r->mem = mem;
    enum mrs_status s = build(r, pattern, flags, why, e);
    if (s != MRS_OK) {
        mrsi_regex_free(r);
        return s;
    }
    *out = r;
    return MRS_OK;
}

void
mrsi_regex_free(struct mrsi_regex *r)
{
    if (r) {
        pcre2_code_free(r->code);
        pcre2_match_context_free(r->how);
        pcre2_general_context_free(r->general);
        mrs_free(r->mem, r);
    }
}

/* Negative: PCRE2's code; else whether there is a match, then in *data (which the caller frees). */
static int
run(const struct mrsi_regex *r, struct mrsi_text text, uint32_t from, pcre2_match_data **data)
{
    MRS_ASSERT(from <= text.n);
    *data = pcre2_match_data_create_from_pattern(r->code, r->general);
    if (!*data) {
        return PCRE2_ERROR_NOMEMORY;
    }
    uint32_t flags = from ? PCRE2_NO_UTF_CHECK : 0;
    int rc = pcre2_match(r->code, (PCRE2_SPTR)text.p, text.n, from, flags, *data, r->how);
    return rc == PCRE2_ERROR_NOMATCH ? 0 : rc < 0 ? rc : 1;
}

static enum mrs_status
failed(int rc, struct mrs_err *e)
{
    if (rc == PCRE2_ERROR_NOMEMORY) {
        return mrs_err_memory(e, 0);
    }
    char text[120] = "";
    pcre2_get_error_message(rc, (PCRE2_UCHAR *)text, sizeof text);
    return mrs_err_set(e, MRS_FAIL, MRS_E_EXPR, "the regular expression cannot be matched: %s",
                       text);
}

enum mrs_status
mrsi_regex_find(const struct mrsi_regex *r, struct mrsi_text text, uint32_t from,
                struct mrsi_regex_match *m, struct mrs_err *e)
{
    MRS_ASSERT(r->code && from <= text.n);
    pcre2_match_data *data;
    int rc = run(r, text, from, &data);
    m->n = 0;
    if (rc > 0) {
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
        m->n = r->groups + 1;
        for (uint32_t i = 0; i < m->n; i++) {
            bool there = at[2 * i] != PCRE2_UNSET && at[2 * i] <= at[2 * i + 1];
            m->start[i] = there ? (uint32_t)at[2 * i] : UINT32_MAX;
            m->end[i] = there ? (uint32_t)at[2 * i + 1] : UINT32_MAX;
        }
        if (m->start[0] ==
            UINT32_MAX) { /* \K after the end of the match: the server returns an empty one */
            m->start[0] = m->end[0] = (uint32_t)at[1];
        }
    }
    pcre2_match_data_free(data);
    return rc < 0 ? failed(rc, e) : MRS_OK;
}

enum mrs_status
mrsi_regex_test(const struct mrsi_regex *r, struct mrsi_text text, bool *yes, struct mrs_err *e)
{
    pcre2_match_data *data;
    int rc = run(r, text, 0, &data);
    pcre2_match_data_free(data);
    *yes = rc > 0;
    bool not_utf = rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21;
    return rc < 0 && !not_utf ? failed(rc, e) : MRS_OK;
}

void
mrsi_regex_parts(struct mrs_val v, struct mrsi_text *pattern, struct mrsi_text *options)
{
    MRS_ASSERT(v.type == MRS_REGEX);
    pattern->p = (const char *)v.p;
    pattern->n = (uint32_t)strnlen(pattern->p, v.n);
    options->p = pattern->p + pattern->n + 1;
    options->n = (uint32_t)strnlen(options->p, v.n - pattern->n - 1);
}

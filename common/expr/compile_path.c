/* SPDX-License-Identifier: Apache-2.0 */
/* compile_path.c - compiles "$a.b" and "$$NAME.a.b" in an expression.
 *
 * A path starts at a base (the document, a bound variable, a variable of the step) and descends by names. Values known
 * when the plan is read become constants here: $$NOW, $$REMOVE. An unknown name is refused with the names in scope,
 * because a misspelt variable must never read as a missing value. */
#include "compile.h"
#include "mongoreshape/path.h"

static enum mrs_status
refuse(struct mrs_err *e, const char *text, uint32_t n, const char *why)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "the path '%.*s' %s", (int)(n < 200 ? n : 200), text, why);
}

enum mrs_status
mrsi_check_name(const char *name, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(name || n == 0);
    if (!n) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "a field name is empty");
    }
    if (name[0] == '$') {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN,
                           "the field name '%.*s' begins with a dollar sign (an operator must be the only key of its "
                           "document)",
                           (int)(n < 100 ? n : 100), name);
    }
    if (memchr(name, '.', n)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "the field name '%.*s' has a dot: write nested documents",
                           (int)(n < 100 ? n : 100), name);
    }
    return MRS_OK;
}

/* Splits text[0..n), the names below the base of the path, into x->part. */
static enum mrs_status
split(struct mrsi_compile *c, struct mrs_expr *x, const char *text, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(text || n == 0);
    struct mrs_arena *a = mrsi_compile_arena(c);
    uint32_t parts = 1;
    for (uint32_t i = 0; i < n; i++) {
        parts += text[i] == '.';
    }
    if (parts > MRS_PATH_PARTS_MAX) {
        return refuse(e, text, n, "has too many parts");
    }
    char *copy = mrs_arena_copy(a, text, n + 1u);
    char *whole = copy ? mrs_arena_copy(a, text, n + 1u) : NULL;
    x->part = whole ? mrs_arena_alloc(a, parts * sizeof *x->part) : NULL;
    x->part_len = x->part ? mrs_arena_alloc(a, parts * sizeof *x->part_len) : NULL;
    MRS_TRY(mrs_allocated(x->part_len, n + 1u, e));
    whole[n] = copy[n] = 0;
    for (uint32_t at = 0; at <= n;) {
        const char *dot = memchr(copy + at, '.', n - at);
        uint32_t len = dot ? (uint32_t)(dot - copy) - at : n - at;
        if (!len) {
            return refuse(e, text, n, "has an empty part");
        }
        if (copy[at] == '$' && !mrs_name_is_dbref(copy + at, len)) { /* the first name: behind a variable */
            return refuse(e, text, n, "has a part that begins with a dollar sign");
        }
        x->part[x->n_parts] = copy + at;
        x->part_len[x->n_parts++] = len;
        copy[at + len] = 0;
        at += len + 1;
    }
    x->extra = whole;
    return MRS_OK;
}

static struct mrsi_bound *
find_bound(const struct mrsi_compile *c, const char *name, uint32_t len)
{
    for (uint32_t i = c->n_bound; i > 0; i--) {
        if (c->bound[i - 1].len == len && memcmp(c->bound[i - 1].name, name, len) == 0) {
            return &c->bound[i - 1];
        }
    }
    return NULL;
}

static bool
is(const char *name, uint32_t len, const char *what)
{
    return strlen(what) == len && memcmp(name, what, len) == 0;
}

static enum mrs_status
unknown_variable(struct mrsi_compile *c, const char *name, uint32_t len, struct mrs_err *e)
{
    char known[256] = "";
    size_t at = 0;
    if (c->env->server_8_2 && is(name, len, "IDX")) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "the variable $$IDX came with MongoDB 8.3, and this plan has the "
                                                    "rules of 8.2 (write `server: \"8.3\"`)");
    }
    if (is(name, len, "VALUE") || is(name, len, "NAME")) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "there is no variable $$%.*s here: paths with a star have it, as "
                                                    "`lines.**.price` in `set`, which is the price of each line%s",
                           (int)len, name, *name == 'N' ? "; `extract` has it with `map`" : "");
    }
    for (uint32_t i = 0; i < c->env->n_vars + c->n_bound && at + 70 < sizeof known; i++) {
        const char *v = i < c->env->n_vars ? c->env->vars[i] : c->bound[i - c->env->n_vars].name;
        size_t n = i < c->env->n_vars ? strlen(v) : c->bound[i - c->env->n_vars].len;
        n = n < 60 ? n : 60;
        memcpy(known + at, ", $$", 4);
        memcpy(known + at + 4, v, n);
        at += n + 4;
        known[at] = 0;
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "there is no variable $$%.*s here (known: $$ROOT, $$NOW, $$REMOVE%s)",
                       (int)(len < 60 ? len : 60), name, known);
}

/* Resolves the variable `name`: sets x->base, or makes x a constant. */
static enum mrs_status
resolve(struct mrsi_compile *c, struct mrs_expr *x, const char *name, uint32_t len, struct mrs_err *e)
{
    MRS_ASSERT(len > 0 || name);
    struct mrsi_bound *b = find_bound(c, name, len);
    if (b) {
        b->used = true;
        x->base = b->slot;
        return MRS_OK;
    }
    for (uint32_t i = 0; i < c->env->n_vars; i++) {
        if (is(name, len, c->env->vars[i])) {
            x->base = MRSI_STEP_VAR((int32_t)i);
            return MRS_OK;
        }
    }
    if (is(name, len, "ROOT") || is(name, len, "CURRENT")) {
        x->base = MRSI_ROOT;
        return MRS_OK;
    }
    if (is(name, len, "REMOVE")) {
        mrsi_compile_become(x, mrs_missing());
        return MRS_OK;
    }
    if (is(name, len, "NOW")) {
        uint8_t *room = mrs_arena_alloc(mrsi_compile_arena(c), 16);
        MRS_TRY(mrs_allocated(room, 16, e));
        mrsi_compile_become(x, mrs_make_i64(room, c->env->now_ms, MRS_DATE));
        return MRS_OK;
    }
    return unknown_variable(c, name, len, e);
}

enum mrs_status
mrsi_compile_path(struct mrsi_compile *c, struct mrs_expr *x, const char *text, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(text || n == 0);
    x->kind = MRSI_PATH;
    x->base = MRSI_ROOT;
    if (memchr(text, 0, n)) {
        return refuse(e, text, n, "holds a NUL byte");
    }
    if (n < 2) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "the path '$' has an empty part: the text is { $literal: \"$\" }");
    }
    if (text[1] != '$') {
        const struct mrsi_bound *current = find_bound(c, "CURRENT", 7);
        enum mrs_status s = split(c, x, text + 1, n - 1, e);
        x->base = current ? current->slot : MRSI_ROOT;
        x->bare = current ? NULL : (const char *)x->extra;
        return s;
    }
    const char *name = text + 2;
    const char *dot = memchr(name, '.', n - 2);
    uint32_t len = dot ? (uint32_t)(dot - name) : n - 2;
    if (!len) {
        return refuse(e, text, n, "names no variable");
    }
    enum mrs_status s = resolve(c, x, name, len, e);
    if (s != MRS_OK || !dot) {
        return s;
    }
    bool constant = mrsi_is_constant(x);
    s = split(c, x, dot + 1, n - 3 - len, e);
    if (constant) {
        mrsi_compile_become(x, mrs_missing());
    }
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* compile.c - compiles the BSON of an expression to a tree of nodes.
 *
 * The whole specification is copied into the arena of the result once, so names and literals are pointers into that
 * copy. A node whose arguments are all constants is evaluated at once (folding): the server also finds the errors of
 * constants then, so they are errors of the plan. Recursion follows the nesting of the expression and is bounded. This
 * file knows no operator: forms of arguments come from the operator's row or from its compile hook. */
#include "compile.h"
#include "mongoreshape/path.h"
#include <stdarg.h>
#include <stdio.h>

#define EXPR_DEPTH_MAX MRS_DEPTH_MAX
#define ANY 255u

#define plan_error(e, ...) mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, __VA_ARGS__)

enum mrs_status
mrsi_expr_refuse(const struct mrs_expr *x, struct mrs_err *e, const char *fmt, ...)
{
    char msg[440];
    va_list args;
    va_start(args, fmt);
    vsnprintf(msg, sizeof msg, fmt, args);
    va_end(args);
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s: %s", x->op->row.name, msg);
}

struct mrs_arena *
mrsi_compile_arena(struct mrsi_compile *c)
{
    return &c->root->arena;
}

void
mrsi_compile_lenient(struct mrsi_compile *c, int by)
{
    MRS_ASSERT(c->lenient + by >= 0);
    c->lenient += by;
}

void
mrsi_compile_become(struct mrs_expr *x, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    x->kind = MRSI_LITERAL;
    x->lit = v;
    x->bare = NULL;
}

/* ---- the current place, for messages ---- */

static uint32_t
trail_push(struct mrsi_compile *c, const char *before, const char *name, uint32_t n)
{
    MRS_ASSERT(c->trail_len < sizeof c->trail);
    uint32_t was = c->trail_len;
    const char *join = was || before[0] == '[' ? before : "";
    int got = snprintf(c->trail + was, sizeof c->trail - was, "%s%.*s", join, (int)n, name);
    if (got > 0) {
        c->trail_len = was + (uint32_t)got < sizeof c->trail ? was + (uint32_t)got : (uint32_t)sizeof c->trail - 1;
    }
    return was;
}

static void
trail_pop(struct mrsi_compile *c, uint32_t was)
{
    c->trail_len = was;
    c->trail[was] = 0;
}

static enum mrs_status
sub_named(struct mrsi_compile *c, const struct mrs_elem *el, struct mrs_expr **out, struct mrs_err *e)
{
    uint32_t was = trail_push(c, ".", el->name, el->name_len);
    enum mrs_status s = mrsi_compile_sub(c, el->v, out, e);
    if (s == MRS_OK) {
        trail_pop(c, was);
    }
    return s;
}

static enum mrs_status
sub_indexed(struct mrsi_compile *c, uint32_t i, struct mrs_val v, struct mrs_expr **out, struct mrs_err *e)
{
    MRS_ASSERT(v.type != MRS_MISSING);
    char text[24];
    int n = snprintf(text, sizeof text, "%u]", i);
    uint32_t was = trail_push(c, "[", text, (uint32_t)n);
    enum mrs_status s = mrsi_compile_sub(c, v, out, e);
    if (s == MRS_OK) {
        trail_pop(c, was);
    }
    return s;
}

/* ---- variables ---- */

static bool
name_byte(uint8_t b, bool first)
{
    bool later = (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') || b == '_';
    return (b >= 'a' && b <= 'z') || b >= 0x80 || (!first && later);
}

static bool
variable_name_ok(const char *name, uint32_t len)
{
    MRS_ASSERT(name || len == 0);
    if (len == 7 && memcmp(name, "CURRENT", 7) == 0) {
        return true;
    }
    for (uint32_t i = 0; i < len; i++) {
        if (!name_byte((uint8_t)name[i], i == 0)) {
            return false;
        }
    }
    return len > 0;
}

static enum mrs_status
bind(struct mrsi_compile *c, const char *name, uint32_t len, int32_t *slot, struct mrs_err *e)
{
    MRS_ASSERT(c->n_bound <= c->cap_bound);
    struct mrsi_bound *more = mrs_more(c->env->mem, c->bound, c->n_bound, &c->cap_bound, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    c->bound = more;
    *slot = (int32_t)c->root->n_slots++;
    c->bound[c->n_bound++] = (struct mrsi_bound){name, len, *slot, false};
    return MRS_OK;
}

enum mrs_status
mrsi_compile_bind(struct mrsi_compile *c, const char *name, uint32_t len, int32_t *slot, struct mrs_err *e)
{
    if (!variable_name_ok(name, len)) {
        return plan_error(e, "'%.*s' cannot name a variable: a lower-case letter first, then letters, digits and '_'",
                          (int)(len < 60 ? len : 60), name);
    }
    return bind(c, name, len, slot, e);
}

enum mrs_status
mrsi_compile_bind_index(struct mrsi_compile *c, struct mrs_val name, uint32_t *bound, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(name));
    int32_t slot;
    uint32_t n;
    *bound = name.type != MRS_MISSING || !c->env->server_8_2;
    if (name.type == MRS_STRING) {
        const char *text = mrs_val_text(name, &n);
        return mrsi_compile_bind(c, text, n, &slot, e);
    }
    if (name.type != MRS_MISSING) {
        return plan_error(e, "'arrayIndexAs' must be the name of a variable, not %s", mrs_type_name(name.type));
    }
    return *bound ? bind(c, "IDX", 3, &slot, e) : MRS_OK;
}

int32_t
mrsi_compile_index_slot(const struct mrsi_compile *c, uint32_t bound)
{
    MRS_ASSERT(bound <= c->n_bound);
    const struct mrsi_bound *last = bound ? &c->bound[c->n_bound - 1] : NULL;
    return last && last->used ? last->slot : -1;
}

enum mrs_status
mrsi_compile_needs_8_3(const struct mrsi_compile *c, const struct mrs_expr *x, const char *what, struct mrs_err *e)
{
    if (!c->env->server_8_2) {
        return MRS_OK;
    }
    return mrsi_expr_refuse(x, e, "%s came with MongoDB 8.3, and this plan has the rules of 8.2 "
                                  "(write `server: \"8.3\"`)", what);
}

void
mrsi_compile_unbind(struct mrsi_compile *c, uint32_t n)
{
    MRS_ASSERT(n <= c->n_bound);
    c->n_bound -= n;
}

/* ---- arguments ---- */

enum mrs_status
mrsi_compile_args(struct mrsi_compile *c, struct mrs_expr *x, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(x->kind != MRSI_LITERAL || n == 0);
    size_t size = (n ? n : 1) * sizeof *x->args;
    x->args = mrs_arena_alloc(mrsi_compile_arena(c), size);
    MRS_TRY(mrs_allocated(x->args, size, e));
    memset(x->args, 0, size);
    x->n_args = n;
    return MRS_OK;
}

static enum mrs_status
wrong_count(const struct mrs_expr *x, uint32_t n, uint32_t n_min, uint32_t n_max, struct mrs_err *e)
{
    MRS_ASSERT(n < n_min || n > n_max);
    if (n_min == n_max) {
        return mrsi_expr_refuse(x, e, "takes exactly %u argument%s, not %u", n_min, n_min == 1 ? "" : "s", n);
    }
    if (n_max == ANY) {
        return mrsi_expr_refuse(x, e, "takes at least %u argument%s, not %u", n_min, n_min == 1 ? "" : "s", n);
    }
    return mrsi_expr_refuse(x, e, "takes %u to %u arguments, not %u", n_min, n_max, n);
}

static enum mrs_status
compile_items(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val array, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = mrsi_compile_args(c, x, n, e);
    mrs_walk_init(&w, mrs_val_view(array));
    for (uint32_t i = 0; s == MRS_OK && i < n && mrs_walk_next(&w, &el) == 1; i++) {
        s = sub_indexed(c, i, el.v, &x->args[i], e);
    }
    return s;
}

enum mrs_status
mrsi_compile_list(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, uint32_t n_min, uint32_t n_max,
                  struct mrs_err *e)
{
    MRS_ASSERT(n_min <= n_max);
    bool list = spec.type == MRS_ARRAY;
    uint32_t n = list ? mrs_val_count(spec) : 1;
    if (n < n_min || (n_max != ANY && n > n_max)) {
        return wrong_count(x, n, n_min, n_max, e);
    }
    if (list) {
        return compile_items(c, x, spec, n, e);
    }
    enum mrs_status s = mrsi_compile_args(c, x, 1, e);
    return s == MRS_OK ? mrsi_compile_sub(c, spec, &x->args[0], e) : s;
}

/* Position of a name in "a,b|c,d" (optional ones after the bar), the number of names, the number before the bar; -1:
 * not found. */
static int
named_position(const char *named, const char *name, uint32_t len, uint32_t *count, uint32_t *required)
{
    MRS_ASSERT(named && *named);
    int found = -1;
    uint32_t i = 0;
    bool optional = *named == '|';
    named += optional;
    *required = 0;
    for (; *named; i++) {
        size_t n = strcspn(named, ",|");
        if (n == len && memcmp(named, name, n) == 0) {
            found = (int)i;
        }
        *required += !optional;
        named += n;
        optional = optional || *named == '|';
        named += *named != 0;
    }
    *count = i;
    return found;
}

static const char *
named_at(const char *named, uint32_t i, int *len)
{
    const char *at = named;
    while (i--) {
        at += strcspn(at, ",|") + 1;
    }
    *len = (int)strcspn(at, ",|");
    return at;
}

enum mrs_status
mrsi_compile_named(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, const char *named,
                   struct mrs_err *e)
{
    MRS_ASSERT(named && *named);
    uint32_t n, required;
    struct mrs_walk w;
    struct mrs_elem el;
    named_position(named, "", 0, &n, &required);
    if (spec.type != MRS_DOCUMENT) {
        return mrsi_expr_refuse(x, e, "takes a document of named arguments (%s)", named);
    }
    enum mrs_status s = mrsi_compile_args(c, x, n, e);
    mrs_walk_init(&w, mrs_val_view(spec));
    while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
        int at = named_position(named, el.name, el.name_len, &n, &required);
        if (at < 0) {
            return mrsi_expr_refuse(x, e, "has no argument '%.60s' (%s)", el.name, named);
        }
        if (x->args[at]) {
            return mrsi_expr_refuse(x, e, "the argument '%.60s' is given twice", el.name);
        }
        s = sub_named(c, &el, &x->args[at], e);
    }
    for (uint32_t i = 0; s == MRS_OK && i < required; i++) {
        if (!x->args[i]) {
            int len;
            const char *name = named_at(named, i, &len);
            return mrsi_expr_refuse(x, e, "the argument '%.*s' is missing", len, name);
        }
    }
    return s;
}

/* ---- folding ---- */

static bool
foldable(const struct mrs_expr *x)
{
    if (x->kind != MRSI_CALL && x->kind != MRSI_ARRAY && x->kind != MRSI_OBJECT) {
        return false;
    }
    for (uint32_t i = 0; i < x->n_args; i++) {
        if (x->args[i] && !mrsi_is_constant(x->args[i])) {
            return false;
        }
    }
    return x->kind != MRSI_CALL || !x->op->impure;
}

static enum mrs_status
fold(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_err *e)
{
    MRS_ASSERT(x->root == c->root);
    struct mrs_err why;
    struct mrs_eval ev = {.arena = &c->scratch, .root = mrs_empty_doc(), .err = &why};
    struct mrs_val v;
    bool whole = foldable(x);
    if (!whole && (x->kind != MRSI_CALL || !c->env->strict)) {
        return MRS_OK;
    }
    mrs_err_clear(&why);
    enum mrs_status s = whole ? mrs_expr_eval(x, &ev, &v) : mrsi_check_constants(x, &ev);
    if (s == MRS_OK && whole && !mrs_val_copy(mrsi_compile_arena(c), v, &v)) {
        s = mrs_err_memory(&why, v.n);
    }
    mrs_arena_reset(&c->scratch);
    if (s == MRS_OK && whole) {
        mrsi_compile_become(x, v);
    } else if (s == MRS_OK) {
        return MRS_OK;
    } else if (s == MRS_DEAD) {
        mrs_err_set(e, s, why.code, "%s", why.msg);
    } else {
        s = c->lenient ? MRS_OK : plan_error(e, "%s (a constant part always fails)", why.msg);
    }
    return s;
}

/* ---- nodes ---- */

static struct mrs_expr *
new_node(struct mrsi_compile *c, struct mrs_err *e)
{
    struct mrs_expr *x = mrs_arena_alloc(mrsi_compile_arena(c), sizeof *x);
    if (!x) {
        mrs_err_memory(e, sizeof *x);
        return NULL;
    }
    memset(x, 0, sizeof *x);
    x->root = c->root;
    return x;
}

static enum mrs_status
unknown_operator(const char *name, uint32_t n, struct mrs_err *e)
{
    const char *near = mrsi_op_nearest(name, n), *other = mrsi_op_elsewhere(name, n);
    int shown = (int)(n < 60 ? n : 60);
    if (mrsi_op_accumulator(name, n)) {
        return plan_error(e, "%.*s is an accumulator: it belongs in the fields of a group, not in an expression",
                          shown, name);
    }
    if (other) {
        return plan_error(e, "there is no operator %.*s in an expression: write %s", shown, name, other);
    }
    return near ? plan_error(e, "there is no operator %.*s: the nearest known one is %s", shown, name, near)
                : plan_error(e, "there is no operator %.*s", shown, name);
}

static enum mrs_status
compile_call(struct mrsi_compile *c, struct mrs_expr *x, const struct mrs_elem *el, struct mrs_err *e)
{
    MRS_ASSERT(el->name[0] == '$');
    const struct mrs_op *op = mrsi_op_find(el->name, el->name_len);
    enum mrs_status s;
    if (!op) {
        return unknown_operator(el->name, el->name_len, e);
    }
    x->kind = MRSI_CALL;
    x->op = op;
    uint32_t was = trail_push(c, ".", el->name, el->name_len);
    if (op->since_8_3 && c->env->server_8_2) {
        s = mrsi_compile_needs_8_3(c, x, "it", e);
    } else if (op->compile) {
        s = op->compile(c, x, el->v, e);
    } else if (op->named) {
        s = mrsi_compile_named(c, x, el->v, op->named, e);
    } else {
        s = mrsi_compile_list(c, x, el->v, op->n_min, op->n_max, e);
    }
    if (op->free_extra && x->op == op && x->extra) {
        x->next_extra = c->root->extras;
        c->root->extras = x;
    }
    MRS_THEN(s, fold(c, x, e));
    if (s == MRS_OK) {
        trail_pop(c, was);
    }
    return s;
}

static bool
name_seen(const char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
compile_object(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    MRS_ASSERT(spec.type == MRS_DOCUMENT);
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = mrs_val_count(spec);
    x->kind = MRSI_OBJECT;
    enum mrs_status s = mrsi_compile_args(c, x, n, e);
    x->names = s == MRS_OK ? mrs_arena_alloc(mrsi_compile_arena(c), (n + 1) * sizeof *x->names) : NULL;
    MRS_TRY(mrs_allocated(x->names, (n + 1) * sizeof *x->names, e));
    mrs_walk_init(&w, mrs_val_view(spec));
    for (uint32_t i = 0; s == MRS_OK && i < n && mrs_walk_next(&w, &el) == 1; i++) {
        s = mrsi_check_name(el.name, el.name_len, e);
        if (s == MRS_OK && name_seen(x->names, i, el.name)) {
            s = plan_error(e, "the field '%.100s' occurs twice in a document", el.name);
        }
        x->names[i] = el.name;
        MRS_THEN(s, sub_named(c, &el, &x->args[i], e));
    }
    return s == MRS_OK ? fold(c, x, e) : s;
}

static enum mrs_status
compile_document(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    MRS_ASSERT(spec.type == MRS_DOCUMENT);
    struct mrs_walk w;
    struct mrs_elem first, el;
    mrs_walk_init(&w, mrs_val_view(spec));
    if (mrs_walk_next(&w, &first) != 1 || first.name[0] != '$') {
        return compile_object(c, x, spec, e);
    }
    if (mrs_walk_next(&w, &el) == 1 && !mrsi_op_elsewhere(first.name, first.name_len)) {
        bool dbref = mrs_name_is_dbref(first.name, first.name_len);
        return plan_error(e, "%.60s has '%.60s' beside it: an operator must be the only key of its "
                             "document%s", first.name,
                          el.name, dbref ? "; a DBRef with a computed $id is { $setField: { field: { $literal: $id }, "
                                           "input: { $literal: { $ref: users } }, value: $author } }" : "");
    }
    return compile_call(c, x, &first, e);
}

static enum mrs_status
compile_node(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    enum mrs_status s;
    switch (spec.type) {
    case MRS_MISSING:
        return plan_error(e, "there is no expression");
    case MRS_STRING:
        if (spec.n > 5 && spec.p[4] == '$') {
            uint32_t n;
            const char *text = mrs_val_text(spec, &n);
            return mrsi_compile_path(c, x, text, n, e);
        }
        break;
    case MRS_DOCUMENT:
        return compile_document(c, x, spec, e);
    case MRS_ARRAY:
        x->kind = MRSI_ARRAY;
        s = compile_items(c, x, spec, mrs_val_count(spec), e);
        return s == MRS_OK ? fold(c, x, e) : s;
    default:
        break;
    }
    mrsi_compile_become(x, spec);
    return MRS_OK;
}

enum mrs_status
mrsi_compile_sub(struct mrsi_compile *c, struct mrs_val spec, struct mrs_expr **out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(spec));
    if (c->depth >= EXPR_DEPTH_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "expressions nest deeper than %d", EXPR_DEPTH_MAX);
    }
    struct mrs_expr *x = new_node(c, e);
    if (!x) {
        return MRS_DEAD;
    }
    c->depth++;
    enum mrs_status s = compile_node(c, x, spec, e);
    c->depth--;
    *out = x;
    return s;
}

/* ---- interface ---- */

static void
free_root(struct mrsi_expr_root *root)
{
    struct mrs_mem *mem = root->mem;
    for (struct mrs_expr *x = root->extras; x; x = x->next_extra) {
        x->op->free_extra(x);
    }
    mrs_arena_clear(&root->arena);
    mrs_free(mem, root);
}

enum mrs_status
mrs_expr_compile(const struct mrs_expr_env *env, struct mrs_val spec, struct mrs_expr **out, struct mrs_err *e)
{
    MRS_ASSERT(env->mem && (env->vars || env->n_vars == 0));
    MRS_ASSERT(mrs_val_is_sized(spec));
    struct mrsi_compile c = {.env = env};
    struct mrs_err local;
    *out = NULL;
    if (!e) {
        e = &local;
        mrs_err_clear(e);
    }
    c.root = mrs_zalloc(env->mem, sizeof *c.root);
    MRS_TRY(mrs_allocated(c.root, sizeof *c.root, e));
    c.root->mem = env->mem;
    c.root->server_8_2 = env->server_8_2;
    mrs_arena_init(&c.root->arena, env->mem);
    mrs_arena_init(&c.scratch, env->mem);
    c.scratch.most = MRS_EVAL_BYTES_MAX;
    struct mrs_val copy;
    enum mrs_status s = mrs_val_copy(&c.root->arena, spec, &copy) ? MRS_OK : mrs_err_memory(e, spec.n);
    MRS_THEN(s, mrsi_compile_sub(&c, copy, out, e));
    mrs_arena_clear(&c.scratch);
    mrs_free(env->mem, c.bound);
    if (s != MRS_OK) {
        if (c.trail[0]) {
            mrs_err_at(e, "%s", c.trail);
        }
        free_root(c.root);
        *out = NULL;
    }
    return s;
}

void
mrs_expr_free(struct mrs_expr *x)
{
    if (x) {
        free_root(x->root);
    }
}

bool
mrs_expr_constant(const struct mrs_expr *x, struct mrs_val *v)
{
    if (!mrsi_is_constant(x)) {
        return false;
    }
    if (v) {
        *v = x->lit;
    }
    return true;
}

const char *
mrs_expr_bare_path(const struct mrs_expr *x)
{
    return x->kind == MRSI_PATH ? x->bare : NULL;
}

static void
reads_below(const struct mrs_expr *x, int32_t base, void (*fn)(void *arg, const char *path), void *arg)
{
    MRS_ASSERT(x && fn);
    if (x->kind == MRSI_PATH && x->base == base) {
        fn(arg, x->extra ? (const char *)x->extra : "");
    }
    for (uint32_t i = 0; x->kind != MRSI_LITERAL && i < x->n_args; i++) {
        if (x->args[i]) {
            reads_below(x->args[i], base, fn, arg);
        }
    }
}

void
mrs_expr_reads(const struct mrs_expr *x, void (*fn)(void *arg, const char *path), void *arg)
{
    reads_below(x, MRSI_ROOT, fn, arg);
}

void
mrs_expr_reads_var(const struct mrs_expr *x, uint32_t var, void (*fn)(void *arg, const char *path), void *arg)
{
    reads_below(x, MRSI_STEP_VAR((int32_t)var), fn, arg);
}

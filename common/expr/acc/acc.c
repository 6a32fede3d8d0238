/* SPDX-License-Identifier: Apache-2.0 */
/* acc.c - accumulators: the table, and their common functions.
 *
 * Compiling reads the argument's form. An argument is one value a document, so that an engine that gathers documents
 * can store it anywhere; a state is fed such values. Knows no group and no key. */
#include "acc.h"
#include "mongoreshape/words.h"

#define ALL(name) mrsi_acc_feed_##name, mrsi_acc_value_##name, mrsi_acc_save_##name, mrsi_acc_load_##name
#define PART(fed, given, name) mrsi_acc_feed_##fed, mrsi_acc_value_##given, mrsi_acc_save_##name, mrsi_acc_load_##name
#define ROW(name) {"$" name, "accumulator", ""}
#define EXACT(name) {"$" name, "accumulator", "exact, also where a server approximates a large group"}

const struct mrsi_acc_kind mrsi_acc_kinds[] = {
    {{"$addToSet", "accumulator", "in order of first appearance"}, MRSI_ACC_ONE, ALL(set), 0, 0},
    {ROW("avg"), MRSI_ACC_ONE, PART(sum, average, sum), 0, 0},
    {ROW("bottom"), MRSI_ACC_OUTPUT, ALL(some), 1, MRSI_ACC_BY_KEY},
    {ROW("bottomN"), MRSI_ACC_OUTPUT_N, ALL(some), 1, MRSI_ACC_BY_KEY},
    {ROW("concatArrays"), MRSI_ACC_ONE, PART(concat, list, list), 0, 0},
    {ROW("count"), MRSI_ACC_NOTHING, ALL(count), 0, 0},
    {ROW("first"), MRSI_ACC_ONE, ALL(one), -1, 0},
    {ROW("firstN"), MRSI_ACC_INPUT_N, ALL(some), -1, MRSI_ACC_BY_PLACE},
    {ROW("last"), MRSI_ACC_ONE, ALL(one), 1, 0},
    {ROW("lastN"), MRSI_ACC_INPUT_N, ALL(some), 1, MRSI_ACC_BY_PLACE},
    {ROW("max"), MRSI_ACC_ONE, PART(extreme, one, one), 1, 0},
    {ROW("maxN"), MRSI_ACC_INPUT_N, ALL(some), 1, MRSI_ACC_BY_VALUE},
    {EXACT("median"), MRSI_ACC_MEDIAN, ALL(quantile), 0, 0},
    {ROW("mergeObjects"), MRSI_ACC_ONE, ALL(merge), 0, 0},
    {ROW("min"), MRSI_ACC_ONE, PART(extreme, one, one), -1, 0},
    {ROW("minN"), MRSI_ACC_INPUT_N, ALL(some), -1, MRSI_ACC_BY_VALUE},
    {EXACT("percentile"), MRSI_ACC_QUANTILES, ALL(quantile), 0, 0},
    {ROW("push"), MRSI_ACC_ONE, ALL(list), 0, 0},
    {{"$setUnion", "accumulator", "in order of first appearance"}, MRSI_ACC_ONE, PART(union, set, set), 0, 0},
    {ROW("stdDevPop"), MRSI_ACC_ONE, ALL(spread), 1, 0},
    {ROW("stdDevSamp"), MRSI_ACC_ONE, ALL(spread), -1, 0},
    {ROW("sum"), MRSI_ACC_ONE, ALL(sum), 0, 0},
    {ROW("top"), MRSI_ACC_OUTPUT, ALL(some), -1, MRSI_ACC_BY_KEY},
    {ROW("topN"), MRSI_ACC_OUTPUT_N, ALL(some), -1, MRSI_ACC_BY_KEY},
    {.row = {NULL, NULL, NULL}},
};

/* ---- compiling ---- */

static const struct mrsi_acc_kind *
kind_of(const char *name)
{
    for (const struct mrsi_acc_kind *r = mrsi_acc_kinds; r->row.name; r++) {
        if (strcmp(r->row.name, name) == 0) {
            return r;
        }
    }
    return NULL;
}

/* The only element of a document. */
static bool
only(struct mrs_val spec, struct mrs_elem *el)
{
    struct mrs_walk w;
    struct mrs_elem more;
    if (spec.type != MRS_DOCUMENT) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(spec));
    return mrs_walk_next(&w, el) == 1 && mrs_walk_next(&w, &more) == 0;
}

bool
mrs_acc_is(struct mrs_val spec)
{
    struct mrs_elem el;
    return only(spec, &el) && kind_of(el.name) != NULL;
}

static enum mrs_status
not_one(struct mrs_val spec, struct mrs_err *e)
{
    MRS_ASSERT(spec.type != MRS_MISSING);
    const char *names[64];
    uint32_t n = 0;
    struct mrs_elem el;
    if (!only(spec, &el) || el.name[0] != '$') {
        return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "an accumulator is a document of one operator, as {$sum: \"$x\"}");
    }
    for (; mrsi_acc_kinds[n].row.name && n < 64; n++) {
        names[n] = mrsi_acc_kinds[n].row.name;
    }
    const char *near = mrs_nearest(el.name, names, n);
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "there is no accumulator %.60s%s%s", el.name,
                       near ? ": the nearest known one is " : "", near ? near : "");
}

static enum mrs_status
refuse(const struct mrs_acc *x, struct mrs_err *e, const char *what)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s: %s", x->kind->row.name, what);
}

static enum mrs_status
compile_n(const struct mrs_expr_env *env, struct mrs_acc *x, struct mrs_val spec, struct mrs_err *e)
{
    struct mrs_expr *n;
    struct mrs_val v;
    int64_t whole = 0;
    if (spec.type == MRS_MISSING) {
        return refuse(x, e, "the argument 'n' is missing");
    }
    MRS_TRY(mrs_expr_compile(env, spec, &n, e));
    bool ok = mrs_expr_constant(n, &v) && mrs_val_integral(v, &whole) && whole > 0;
    mrs_expr_free(n);
    x->n = (uint64_t)whole;
    return ok ? MRS_OK : refuse(x, e, "'n' must be a constant integer above 0");
}

static enum mrs_status
compile_p(const struct mrs_expr_env *env, struct mrs_acc *x, struct mrs_val spec, struct mrs_err *e)
{
    static const char WRONG[] = "'p' must be a constant array of numbers from 0 to 1, not an empty one";
    struct mrs_val v;
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0;
    if (spec.type == MRS_MISSING) {
        return refuse(x, e, "the argument 'p' is missing");
    }
    MRS_TRY(mrs_expr_compile(env, spec, &x->p, e));
    if (!mrs_expr_constant(x->p, &v) || v.type != MRS_ARRAY) {
        return refuse(x, e, WRONG);
    }
    mrs_walk_init(&w, mrs_val_view(v));
    for (; mrs_walk_next(&w, &el) == 1; n++) {
        double p = mrs_is_number(el.v) ? mrsi_to_double(el.v) : -1;
        if (!(p >= 0 && p <= 1)) {
            return refuse(x, e, WRONG);
        }
    }
    return n ? MRS_OK : refuse(x, e, WRONG);
}

static enum mrs_status
compile_sort(const struct mrs_expr_env *env, struct mrs_acc *x, struct mrs_val spec, struct mrs_err *e)
{
    if (spec.type != MRS_DOCUMENT) {
        return refuse(x, e, "'sortBy' must be a document of paths and directions, as {a: 1, b: -1}");
    }
    return mrs_sort_compile(env, mrs_val_view(spec), false, &x->sort, e);
}

enum { ARG_VALUE, ARG_N, ARG_SORT, ARG_P, ARG_METHOD, ARGS };

/* Picks the named arguments of the shape into v[ARG_...]. */
static enum mrs_status
pick(const struct mrs_acc *x, struct mrs_val spec, struct mrs_val v[ARGS], struct mrs_err *e)
{
    static const char *const NAMES[][ARGS] = {
        [MRSI_ACC_INPUT_N] = {"input", "n"},
        [MRSI_ACC_OUTPUT] = {"output", "sortBy"},
        [MRSI_ACC_OUTPUT_N] = {"output", "sortBy", "n"},
        [MRSI_ACC_MEDIAN] = {"input", "method"},
        [MRSI_ACC_QUANTILES] = {"input", "method", "p"},
    };
    static const uint8_t PLACE[][ARGS] = {
        [MRSI_ACC_INPUT_N] = {ARG_VALUE, ARG_N},
        [MRSI_ACC_OUTPUT] = {ARG_VALUE, ARG_SORT},
        [MRSI_ACC_OUTPUT_N] = {ARG_VALUE, ARG_SORT, ARG_N},
        [MRSI_ACC_MEDIAN] = {ARG_VALUE, ARG_METHOD},
        [MRSI_ACC_QUANTILES] = {ARG_VALUE, ARG_METHOD, ARG_P},
    };
    struct mrs_op op = {.row = x->kind->row}; /* for the name in messages */
    struct mrs_expr named = {.op = &op};
    struct mrs_val found[ARGS];
    uint32_t n = 0;
    while (n < ARGS && NAMES[x->kind->shape][n]) {
        n++;
    }
    MRS_TRY(mrsi_compile_pick(&named, spec, NAMES[x->kind->shape], n, found, e));
    for (uint32_t i = 0; i < ARGS; i++) {
        v[i] = mrs_missing();
    }
    for (uint32_t i = 0; i < n; i++) {
        v[PLACE[x->kind->shape][i]] = found[i];
    }
    if (v[ARG_VALUE].type == MRS_MISSING) {
        return mrsi_expr_refuse(&named, e, "the argument '%s' is missing", NAMES[x->kind->shape][0]);
    }
    return MRS_OK;
}

static enum mrs_status
compile_named(const struct mrs_expr_env *env, struct mrs_acc *x, struct mrs_val spec, struct mrs_err *e)
{
    struct mrs_val v[ARGS];
    enum mrsi_acc_shape shape = x->kind->shape;
    MRS_TRY(pick(x, spec, v, e));
    x->n = 1;
    if (shape == MRSI_ACC_INPUT_N || shape == MRSI_ACC_OUTPUT_N) {
        MRS_TRY(compile_n(env, x, v[ARG_N], e));
    }
    if (shape == MRSI_ACC_OUTPUT || shape == MRSI_ACC_OUTPUT_N) {
        MRS_TRY(compile_sort(env, x, v[ARG_SORT], e));
    }
    if (shape == MRSI_ACC_MEDIAN || shape == MRSI_ACC_QUANTILES) {
        if (!mrs_val_is_text(v[ARG_METHOD], "approximate")) {
            return refuse(x, e, "'method' must be \"approximate\"");
        }
    }
    if (shape == MRSI_ACC_QUANTILES) {
        MRS_TRY(compile_p(env, x, v[ARG_P], e));
    }
    return mrs_expr_compile(env, v[ARG_VALUE], &x->arg, e);
}

static enum mrs_status
compile(const struct mrs_expr_env *env, struct mrs_acc *x, struct mrs_val spec, struct mrs_err *e)
{
    switch (x->kind->shape) {
    case MRSI_ACC_ONE:
        if (spec.type == MRS_ARRAY) {
            return refuse(x, e, "an accumulator takes one expression, not an array of them");
        }
        return mrs_expr_compile(env, spec, &x->arg, e);
    case MRSI_ACC_NOTHING:
        return spec.type == MRS_DOCUMENT && spec.n == 5 ? MRS_OK : refuse(x, e, "takes an empty document: {}");
    default:
        return compile_named(env, x, spec, e);
    }
}

enum mrs_status
mrs_acc_compile(const struct mrs_expr_env *env, struct mrs_val spec, struct mrs_acc **out, struct mrs_err *e)
{
    MRS_ASSERT(env->mem && mrs_val_is_sized(spec));
    struct mrs_elem el;
    *out = NULL;
    if (!mrs_acc_is(spec) || !only(spec, &el)) {
        return not_one(spec, e);
    }
    struct mrs_acc *x = mrs_zalloc(env->mem, sizeof *x);
    MRS_TRY(mrs_allocated(x, sizeof *x, e));
    x->mem = env->mem;
    x->kind = kind_of(el.name);
    x->small = mrsi_acc_small_of(x->kind);
    enum mrs_status s = compile(env, x, el.v, e);
    if (s != MRS_OK) {
        mrs_acc_free(x);
        return s;
    }
    *out = x;
    return MRS_OK;
}

void
mrs_acc_free(struct mrs_acc *x)
{
    if (x) {
        mrs_expr_free(x->arg);
        mrs_expr_free(x->p);
        mrs_sort_free(x->sort);
        mrs_free(x->mem, x);
    }
}

void
mrs_acc_reads(const struct mrs_acc *x, void (*fn)(void *arg, const char *path), void *arg)
{
    if (x->arg) {
        mrs_expr_reads(x->arg, fn, arg);
    }
    if (x->sort) {
        mrs_sort_reads(x->sort, fn, arg);
    }
}

/* ---- the argument of a document ---- */

/* The sort key as binary data, written into an allocation of the arena that grows until the key fits. */
static enum mrs_status
sort_key(const struct mrs_acc *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->sort);
    for (size_t room = 256;; room *= 4) {
        bool last = room >= MRS_KEY_MAX;
        struct mrs_buf key = {.p = mrs_arena_alloc(ev->arena, room + 5), .cap = room, .ceiling = room};
        if (!key.p) {
            return mrsi_eval_memory(ev, room);
        }
        uint8_t *p = key.p;
        key.p += 5;
        enum mrs_status s = mrs_sort_key(x->sort, ev->root, &key, last ? ev->err : NULL);
        if (s == MRS_OK) {
            mrs_put32(p, (uint32_t)key.n);
            p[4] = 0;
            *out = (struct mrs_val){p, (uint32_t)key.n + 5, MRS_BINARY};
            return MRS_OK;
        }
        if (s == MRS_DEAD || last) {
            return s;
        }
    }
}

enum mrs_status
mrs_acc_argument(const struct mrs_acc *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(ev->arena);
    struct mrs_val pair[2];
    *out = mrs_missing();
    if (!x->arg) {
        return MRS_OK;
    }
    if (!x->sort) {
        return mrs_expr_eval(x->arg, ev, out);
    }
    MRS_TRY(sort_key(x, ev, &pair[0]));
    MRS_TRY(mrs_expr_eval(x->arg, ev, &pair[1]));
    return mrsi_ret_array(ev, pair, 2, out);
}

bool
mrs_acc_constant(const struct mrs_acc *x, struct mrs_val *v)
{
    *v = mrs_null();
    return !x->arg || (!x->sort && mrs_expr_constant(x->arg, v));
}

const char *
mrs_acc_bare_path(const struct mrs_acc *x)
{
    return x->arg && !x->sort ? mrs_expr_bare_path(x->arg) : NULL;
}

bool
mrs_acc_is_total(const struct mrs_acc *x)
{
    return x->kind->feed == mrsi_acc_feed_sum || x->kind->feed == mrsi_acc_feed_spread ||
           x->kind->feed == mrsi_acc_feed_quantile;
}

/* ---- states ---- */

enum mrs_status
mrsi_acc_over(const struct mrs_acc_state *s, struct mrs_err *e)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "%s: would hold more than %zu bytes", s->x->kind->row.name,
                       s->ceiling);
}

enum mrs_status
mrsi_acc_reserve(struct mrs_acc_state *s, uint64_t bytes, struct mrs_err *e)
{
    MRS_ASSERT(s->shared == NULL || s->mine <= s->shared->held);
    if (!s->shared) {
        return MRS_OK;
    }
    uint64_t all = s->shared->held - s->mine + bytes;
    if (all > s->shared->most && bytes > s->mine) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT,
                           "%s: the values of this document would take more than %llu MiB, and a document "
                           "has room for 16", s->x->kind->row.name, (unsigned long long)s->shared->most >> 20);
    }
    s->shared->held = all;
    s->mine = bytes;
    return MRS_OK;
}

enum mrs_status
mrsi_acc_damaged(const struct mrs_acc_state *s, struct mrs_err *e)
{
    return mrs_err_checkpoint(e, "%s of a group", s->x->kind->row.name);
}

enum mrs_status
mrsi_acc_room(struct mrs_acc_state *s, struct mrs_err *e)
{
    MRS_ASSERT(s->n <= s->cap);
    struct mrsi_acc_item *more = mrs_more(s->mem, s->item, s->n, &s->cap, sizeof *more);
    s->item = more ? more : s->item;
    return mrs_allocated(more, sizeof *more, e);
}

enum mrs_status
mrsi_acc_pack(struct mrs_acc_state *s, uint32_t lead_end, struct mrs_err *e)
{
    MRS_ASSERT(s->n <= s->cap && lead_end <= s->bytes.n);
    uint32_t at = 0;
    if (s->dead <= 4096 || s->dead <= s->bytes.n / 2) {
        return MRS_OK;
    }
    mrs_buf_reset(&s->other);
    for (uint32_t i = 0; i < s->n; i++) {
        mrs_buf_put(&s->other, s->bytes.p + s->item[i].lead_off, s->item[i].lead_n + lead_end);
        mrs_buf_put(&s->other, s->bytes.p + s->item[i].off, s->item[i].n);
    }
    MRS_TRY(mrs_buf_status(&s->other, e));
    for (uint32_t i = 0; i < s->n; i++) {
        s->item[i].lead_off = at;
        s->item[i].off = at + s->item[i].lead_n + lead_end;
        at = s->item[i].off + s->item[i].n;
    }
    struct mrs_buf full = s->bytes;
    s->bytes = s->other;
    s->other = full;
    s->dead = 0;
    return MRS_OK;
}

enum mrs_status
mrs_acc_state_new(const struct mrs_acc *x, struct mrs_mem *mem, size_t ceiling, struct mrs_acc_state **out,
                  struct mrs_err *e)
{
    MRS_ASSERT(x->kind && ceiling);
    struct mrs_acc_state *s = mrs_zalloc(mem, sizeof *s);
    *out = s;
    MRS_TRY(mrs_allocated(s, sizeof *s, e));
    s->x = x;
    s->mem = mem;
    s->ceiling = ceiling < UINT32_MAX / 16 ? ceiling : UINT32_MAX / 16; /* offsets have 32 bits */
    mrs_buf_init(&s->bytes, mem, UINT32_MAX);
    mrs_buf_init(&s->other, mem, UINT32_MAX);
    mrs_acc_reset(s);
    return MRS_OK;
}

void
mrs_acc_share(struct mrs_acc_state *s, struct mrs_acc_shared *with)
{
    s->shared = with;
}

void
mrs_acc_state_free(struct mrs_acc_state *s)
{
    if (s) {
        mrs_buf_clear(&s->bytes);
        mrs_buf_clear(&s->other);
        mrs_free(s->mem, s->item);
        mrs_free(s->mem, s->slot);
        mrs_free(s->mem, s);
    }
}

void
mrs_acc_reset(struct mrs_acc_state *s)
{
    mrs_buf_reset(&s->bytes);
    mrs_buf_reset(&s->other);
    if (s->shared) {
        s->shared->held -= s->mine;
        s->mine = 0;
    }
    s->n = s->n_slots = 0;
    s->seq = s->dead = 0;
    s->any = false;
    memset(&s->u, 0, sizeof s->u);
    if (s->x->kind->feed == mrsi_acc_feed_sum) {
        mrsi_total_init(&s->u.total);
    }
}

enum mrs_status
mrs_acc_feed(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    return s->x->kind->feed(s, v, e);
}

enum mrs_status
mrs_acc_value(const struct mrs_acc_state *s, struct mrs_arena *a, struct mrs_val *out, struct mrs_err *e)
{
    struct mrs_eval ev = {.arena = a, .err = e};
    return s->x->kind->value(s, &ev, out);
}

enum mrs_status
mrs_acc_save(const struct mrs_acc_state *s, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const char *name = s->x->kind->row.name;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_build_init(&b, out);
    mrs_build_open(&b, name, (uint32_t)strlen(name), MRS_DOCUMENT);
    s->x->kind->save(s, &b);
    mrs_build_close(&b);
    return mrs_build_finish(&b, &doc, e);
}

enum mrs_status
mrs_acc_load(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    struct mrs_val v = mrs_doc_get(saved, s->x->kind->row.name);
    mrs_acc_reset(s);
    enum mrs_status st = v.type == MRS_DOCUMENT ? s->x->kind->load(s, mrs_val_view(v), e) : mrsi_acc_damaged(s, e);
    if (st != MRS_OK) {
        mrs_acc_reset(s);
    }
    return st;
}

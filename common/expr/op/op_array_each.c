/* SPDX-License-Identifier: Apache-2.0 */
/* op_array_each.c - $map, $filter, $reduce, $sortArray, $zip: operators that read every element.
 *
 * The variables of $map and similar operators are slots of the evaluation; an element's slot is a pointer into the
 * array. $sortArray sorts positions by the complete values at its keys, and is stable, which the server does not
 * promise but allows. */
#include "op_array.h"

/* Binds the variable named by `key`, or `other` if that is missing. */
static enum mrs_status
bind_as(struct mrsi_compile *c, const struct mrs_expr *x, const char *key, struct mrs_val as, const char *other,
        int32_t *slot, struct mrs_err *e)
{
    if (as.type != MRS_MISSING && as.type != MRS_STRING) {
        return mrsi_expr_refuse(x, e, "'%s' must be the name of a variable, not %s", key, mrs_type_name(as.type));
    }
    uint32_t n = (uint32_t)strlen(other);
    const char *name = as.type == MRS_STRING ? mrs_val_text(as, &n) : other;
    return mrsi_compile_bind(c, name, n, slot, e);
}

/* Whether two names of variables are equal: b is given, a missing means `other`. */
static bool
one_name(struct mrs_val a, const char *other, struct mrs_val b)
{
    return b.type == MRS_STRING && (a.type == MRS_MISSING ? mrs_val_is_text(b, other) : mrs_identical(a, b));
}

static enum mrs_status
refuse_one_name(const struct mrs_expr *x, struct mrs_err *e)
{
    return mrsi_expr_refuse(x, e, "two of its variables have one name");
}

/* Compiles the expression for each element into args[at]; the index of the element is its last variable. */
static enum mrs_status
compile_inside(struct mrsi_compile *c, struct mrs_expr *x, uint32_t at, struct mrs_val index, struct mrs_val in,
               struct mrs_err *e)
{
    MRS_ASSERT(at < x->n_args);
    uint32_t bound = 0;
    enum mrs_status s = index.type == MRS_MISSING ? MRS_OK : mrsi_compile_needs_8_3(c, x, "`arrayIndexAs`", e);
    MRS_THEN(s, mrsi_compile_bind_index(c, index, &bound, e));
    MRS_THEN(s, mrsi_compile_sub(c, in, &x->args[at], e));
    if (s == MRS_OK) {
        x->slot[2] = mrsi_compile_index_slot(c, bound);
        mrsi_compile_unbind(c, bound);
    }
    return s;
}

/* Compiles $map and $filter. */
static enum mrs_status
compile_each(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val as, struct mrs_val index, struct mrs_val in,
             struct mrs_err *e)
{
    if (one_name(as, "this", index)) {
        return refuse_one_name(x, e);
    }
    MRS_TRY(bind_as(c, x, "as", as, "this", &x->slot[0], e));
    enum mrs_status s = compile_inside(c, x, 1, index, in, e);
    mrsi_compile_unbind(c, 1);
    return s;
}

static enum mrs_status
need(const struct mrs_expr *x, const char *const *names, const struct mrs_val *v, uint32_t n,
     struct mrs_err *e)
{
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].type == MRS_MISSING) {
            return mrsi_expr_refuse(x, e, "the argument '%s' is missing", names[i]);
        }
    }
    return MRS_OK;
}

/* args: input, in */
enum mrs_status
mrsi_compile_map(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(spec));
    static const char *const names[] = {"input", "in", "as", "arrayIndexAs"};
    struct mrs_val v[4];
    MRS_TRY(mrsi_compile_pick(x, spec, names, 4, v, e));
    MRS_TRY(need(x, names, v, 2, e));
    MRS_TRY(mrsi_compile_args(c, x, 2, e));
    MRS_TRY(mrsi_compile_sub(c, v[0], &x->args[0], e));
    return compile_each(c, x, v[2], v[3], v[1], e);
}

/* args: input, cond, limit */
enum mrs_status
mrsi_compile_filter(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                    struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(spec));
    static const char *const names[] = {"input", "cond", "as", "limit", "arrayIndexAs"};
    struct mrs_val v[5];
    MRS_TRY(mrsi_compile_pick(x, spec, names, 5, v, e));
    MRS_TRY(need(x, names, v, 2, e));
    MRS_TRY(mrsi_compile_args(c, x, 3, e));
    MRS_TRY(mrsi_compile_sub(c, v[0], &x->args[0], e));
    if (v[3].type != MRS_MISSING) {
        MRS_TRY(mrsi_compile_sub(c, v[3], &x->args[2], e));
    }
    return compile_each(c, x, v[2], v[4], v[1], e);
}

/* Compiles the variables and the expression of a $reduce; v: the values of its keys. */
static enum mrs_status
compile_step(struct mrsi_compile *c, struct mrs_expr *x, const struct mrs_val v[6], struct mrs_err *e)
{
    struct mrs_val as = v[3], value = v[4], index = v[5];
    if (as.type != MRS_MISSING || value.type != MRS_MISSING) {
        MRS_TRY(mrsi_compile_needs_8_3(c, x, as.type != MRS_MISSING ? "`as`" : "`valueAs`", e));
    }
    if (one_name(as, "this", value) || one_name(value, "value", as) || one_name(as, "this", index) ||
        one_name(value, "value", index)) {
        return refuse_one_name(x, e);
    }
    MRS_TRY(bind_as(c, x, "as", as, "this", &x->slot[0], e));
    MRS_TRY(bind_as(c, x, "valueAs", value, "value", &x->slot[1], e));
    enum mrs_status s = compile_inside(c, x, 2, index, v[2], e);
    mrsi_compile_unbind(c, 2);
    return s;
}

/* args: input, initialValue, in */
enum mrs_status
mrsi_compile_reduce(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                    struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(spec));
    static const char *const names[] = {"input", "initialValue", "in", "as", "valueAs", "arrayIndexAs"};
    struct mrs_val v[6];
    MRS_TRY(mrsi_compile_pick(x, spec, names, 6, v, e));
    MRS_TRY(need(x, names, v, 3, e));
    MRS_TRY(mrsi_compile_args(c, x, 3, e));
    MRS_TRY(mrsi_compile_sub(c, v[0], &x->args[0], e));
    MRS_TRY(mrsi_compile_sub(c, v[1], &x->args[1], e));
    return compile_step(c, x, v, e);
}

/* The input array; *null: it is nullish. */
static enum mrs_status
input(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *array, bool *null)
{
    MRS_TRY(mrsi_arg(x, 0, ev, array));
    *null = mrsi_is_nullish(*array);
    if (!*null && array->type != MRS_ARRAY) {
        return mrsi_eval_error(x, ev, "input must be an array, not %s", mrs_type_name(array->type));
    }
    return MRS_OK;
}

/* Sets the variables of element i: the element and, if used, its index. */
static enum mrs_status
at_element(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val element, uint32_t i)
{
    ev->slots[x->slot[0]] = element;
    return x->slot[2] < 0 ? MRS_OK : mrsi_ret_i32(ev, (int32_t)i, &ev->slots[x->slot[2]]);
}

/* ---- garbage of loops ----
 * An evaluation for one element leaves garbage besides its value. Once there is much of it, elements are evaluated in a
 * separate arena, which is reset after each. */
struct aside {
    struct mrs_eval *ev;
    struct mrs_arena *outer; /* of ev; NULL: not in use yet */
    struct mrs_arena work;   /* replaces it */
    uint64_t before;         /* bytes used in outer when the loop began */
};
#define ASIDE_LITTLE (64u << 10)

static struct aside
aside_of(struct mrs_eval *ev)
{
    return (struct aside){.ev = ev, .before = ev->arena->used};
}

/* Whether to use it from now on. */
static bool
aside_begin(struct aside *a)
{
    MRS_ASSERT(a->ev->arena);
    struct mrs_arena *outer = a->ev->arena;
    if (a->outer || outer->used - a->before < ASIDE_LITTLE) {
        return false;
    }
    mrs_arena_init_as(&a->work, outer);
    a->work.most = outer->most ? outer->most - outer->used : 0;
    a->work.steps = outer->steps;
    a->outer = outer;
    a->ev->arena = &a->work;
    return true;
}

/* The value of an element has been stored. */
static void
aside_reset(struct aside *a)
{
    if (a->outer && a->work.used) {
        mrs_arena_let_go(&a->work);
    }
}

static void
aside_end(struct aside *a)
{
    if (a->outer) {
        a->outer->steps = a->work.steps;
        a->ev->arena = a->outer;
        mrs_arena_clear(&a->work);
    }
}

/* ---- $map, $filter ---- */

struct mapping {
    struct aside aside;
    struct mrsi_list list; /* while there are few values */
    struct mrsi_expr_out out;   /* after that */
};

/* After an element: converts the list of values to bytes once it is large. */
static void
mapping_compact(struct mapping *m)
{
    if (m->aside.outer) {
        aside_reset(&m->aside);
    } else if (aside_begin(&m->aside)) {
        mrsi_out_begin(m->aside.ev, &m->out);
        for (uint32_t i = 0; i < m->list.n; i++) {
            struct mrs_val v = m->list.v[i];
            mrs_build_item(&m->out.build, v.type == MRS_MISSING ? mrs_null() : v);
        }
    }
}

static enum mrs_status
mapping_put(struct mapping *m, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (!m->aside.outer) {
        return mrsi_list_add(m->aside.ev, &m->list, v);
    }
    mrs_build_item(&m->out.build, v.type == MRS_MISSING ? mrs_null() : v);
    return m->out.buf.bad ? MRS_END : MRS_OK; /* mrsi_out_end reports it */
}

static enum mrs_status
mapping_end(struct mapping *m, enum mrs_status s, struct mrs_val *out)
{
    bool large = m->aside.outer;
    aside_end(&m->aside);
    if (s < MRS_OK) {
        if (large) {
            mrsi_out_drop(&m->out);
        }
        return s;
    }
    return large ? mrsi_out_end(m->aside.ev, &m->out, MRS_ARRAY, out)
                 : mrsi_ret_array(m->aside.ev, m->list.v, m->list.n, out);
}

enum mrs_status
mrsi_eval_map(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->slot[0] >= 0);
    struct mrs_val array, v;
    struct mapping m = {.aside = aside_of(ev)};
    struct mrs_walk w;
    struct mrs_elem e;
    enum mrs_status s = MRS_OK;
    bool null;
    MRS_TRY(input(x, ev, &array, &null));
    if (null) {
        return mrsi_ret_null(out);
    }
    m.aside.before = ev->arena->used;
    mrs_walk_init(&w, mrs_val_view(array));
    for (uint32_t i = 0; s == MRS_OK && mrs_walk_next(&w, &e) > 0; i++) {
        s = at_element(x, ev, e.v, i);
        MRS_THEN(s, mrsi_spend(ev, 1));
        MRS_THEN(s, mrsi_arg(x, 1, ev, &v));
        MRS_THEN(s, mapping_put(&m, v));
        if (s == MRS_OK) {
            mapping_compact(&m);
        }
    }
    return mapping_end(&m, s, out);
}

enum mrs_status
mrsi_eval_filter(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->slot[0] >= 0);
    struct mrs_val array, v;
    struct mrs_walk w;
    struct mrs_elem e;
    enum mrs_status s = MRS_OK;
    int32_t limit = INT32_MAX;
    bool null;
    MRS_TRY(input(x, ev, &array, &null));
    if (null) {
        return mrsi_ret_null(out);
    }
    MRS_TRY(mrsi_arg(x, 2, ev, &v));
    if (!mrsi_is_nullish(v) && (!mrsi_integral32(v, &limit) || limit < 1)) {
        return mrsi_eval_error(x, ev, "limit must be a whole number of 32 bits greater than 0");
    }
    struct mapping m = {.aside = aside_of(ev)};
    mrs_walk_init(&w, mrs_val_view(array));
    for (uint32_t i = 0, n = 0; s == MRS_OK && n < (uint32_t)limit && mrs_walk_next(&w, &e) > 0; i++) {
        s = at_element(x, ev, e.v, i);
        MRS_THEN(s, mrsi_spend(ev, 1));
        MRS_THEN(s, mrsi_arg(x, 1, ev, &v));
        if (s == MRS_OK && mrsi_truthy(v)) {
            s = mapping_put(&m, e.v);
            n++;
        }
        if (s == MRS_OK) {
            mapping_compact(&m);
        }
    }
    return mapping_end(&m, s, out);
}

/* ---- $reduce ---- */

/* Each value depends on the previous one: keeps the last one, and its predecessor. */
struct chain {
    struct aside aside;
    struct mrs_buf value[2];
    unsigned turn;
};

/* Stores a new value. */
static enum mrs_status
chain_add(struct chain *c, struct mrs_val *v)
{
    MRS_ASSERT(mrs_val_is_sized(*v));
    struct mrs_eval *ev = c->aside.ev;
    MRS_TRY(mrsi_spend(ev, 1u + v->n / 64));
    if (!c->aside.outer) {
        if (aside_begin(&c->aside)) {
            mrs_buf_init(&c->value[0], ev->arena->mem, SIZE_MAX);
            c->value[0].beside = c->aside.outer;
            c->value[1] = c->value[0];
        }
        return MRS_OK;
    }
    struct mrs_buf *to = &c->value[c->turn++ % 2];
    mrs_buf_reset(to);
    mrs_buf_put(to, v->p, v->n);
    if (to->bad) {
        return mrsi_eval_memory(ev, v->n);
    }
    v->p = v->n ? to->p : v->p;
    aside_reset(&c->aside);
    return MRS_OK;
}

/* Moves the last value into the arena of the evaluation. */
static enum mrs_status
chain_end(struct chain *c, enum mrs_status s, struct mrs_val *v)
{
    if (!c->aside.outer) {
        return s;
    }
    struct mrs_arena *outer = c->aside.outer;
    if (s == MRS_OK && v->n) {
        v->p = mrs_arena_copy(outer, v->p, v->n);
    }
    aside_end(&c->aside);
    mrs_buf_clear(&c->value[0]);
    mrs_buf_clear(&c->value[1]);
    return s == MRS_OK && v->n && !v->p ? mrsi_eval_memory(c->aside.ev, v->n) : s;
}

enum mrs_status
mrsi_eval_reduce(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->slot[0] >= 0 && x->slot[1] >= 0);
    struct mrs_val array;
    struct mrs_walk w;
    struct mrs_elem e;
    struct chain c = {.aside = aside_of(ev)};
    enum mrs_status s = MRS_OK;
    bool null;
    MRS_TRY(input(x, ev, &array, &null));
    if (null) {
        return mrsi_ret_null(out);
    }
    MRS_TRY(mrsi_arg(x, 1, ev, out));
    mrs_walk_init(&w, mrs_val_view(array));
    for (uint32_t i = 0; s == MRS_OK && mrs_walk_next(&w, &e) > 0; i++) {
        ev->slots[x->slot[1]] = *out;
        s = at_element(x, ev, e.v, i);
        MRS_THEN(s, mrsi_arg(x, 2, ev, out));
        MRS_THEN(s, chain_add(&c, out));
    }
    return chain_end(&c, s, out);
}

/* ---- $sortArray ---- */

struct sort_by {
    uint32_t n; /* keys; 0: whole elements */
    bool down;  /* of whole elements */
    struct {
        const char *path;
        uint32_t len;
        bool down;
    } key[];
};

static bool
direction(struct mrs_val v, bool *down)
{
    int64_t i;
    if (!mrs_val_integral(v, &i) || (i != 1 && i != -1)) {
        return false;
    }
    *down = i < 0;
    return true;
}

static enum mrs_status
path_ok(const struct mrs_expr *x, const char *path, uint32_t len, struct mrs_err *e)
{
    if (!len || path[0] == '.' || path[len - 1] == '.' || memmem(path, len, "..", 2)) {
        return mrsi_expr_refuse(x, e, "'%.100s' in sortBy is no path", path);
    }
    return MRS_OK;
}

/* args: input */
enum mrs_status
mrsi_compile_sort_array(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec,
                        struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(spec));
    static const char *const names[] = {"input", "sortBy"};
    struct mrs_val v[2];
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0;
    MRS_TRY(mrsi_compile_pick(x, spec, names, 2, v, e));
    MRS_TRY(need(x, names, v, 2, e));
    MRS_TRY(mrsi_compile_args(c, x, 1, e));
    MRS_TRY(mrsi_compile_sub(c, v[0], &x->args[0], e));
    if (v[1].type == MRS_DOCUMENT) {
        mrs_walk_init(&w, mrs_val_view(v[1]));
        while (mrs_walk_next(&w, &el) > 0) {
            n++;
        }
    }
    struct sort_by *by = mrs_arena_alloc(mrsi_compile_arena(c), sizeof *by + n * sizeof by->key[0]);
    MRS_TRY(mrs_allocated(by, sizeof *by + n * sizeof by->key[0], e));
    by->n = n;
    x->extra = by;
    if (v[1].type != MRS_DOCUMENT) {
        return direction(v[1], &by->down)
                 ? MRS_OK
                 : mrsi_expr_refuse(x, e, "sortBy must be 1, -1 or a document of them");
    }
    if (!n) {
        return mrsi_expr_refuse(x, e, "sortBy is empty");
    }
    mrs_walk_init(&w, mrs_val_view(v[1]));
    for (uint32_t i = 0; mrs_walk_next(&w, &el) > 0; i++) {
        by->key[i].path = el.name;
        by->key[i].len = el.name_len;
        MRS_TRY(path_ok(x, el.name, el.name_len, e));
        if (!direction(el.v, &by->key[i].down)) {
            return mrsi_expr_refuse(x, e, "the direction of '%.60s' must be 1 or -1", el.name);
        }
    }
    return MRS_OK;
}

/* The value at a path below an element: a dotted name is tried as a whole at each level before it is split at its first
 * dot; arrays are documents of their indexes here. A missing value is null. */
static struct mrs_val
value_at(struct mrs_val v, const char *path, uint32_t len)
{
    MRS_ASSERT(path || len == 0);
    if (v.type != MRS_DOCUMENT) {
        return mrs_null();
    }
    while (v.type == MRS_DOCUMENT || v.type == MRS_ARRAY) {
        struct mrs_elem e;
        if (mrs_doc_find(mrs_val_view(v), path, len, &e)) {
            return e.v;
        }
        const char *dot = memchr(path, '.', len);
        if (!dot || !mrs_doc_find(mrs_val_view(v), path, (uint32_t)(dot - path), &e)) {
            break;
        }
        v = e.v;
        len -= (uint32_t)(dot - path) + 1;
        path = dot + 1;
    }
    return mrs_null();
}

struct sorting {
    const struct sort_by *by;
    const struct mrs_val *key; /* by->n (or 1) for each element */
};

static int
cmp_elements(const void *arg, uint32_t a, uint32_t b)
{
    MRS_ASSERT(a != b);
    const struct sorting *s = arg;
    if (!s->by->n) {
        int order = mrs_compare(s->key[a], s->key[b]);
        return s->by->down ? -order : order;
    }
    for (uint32_t i = 0; i < s->by->n; i++) {
        int order = mrs_compare(s->key[(size_t)a * s->by->n + i], s->key[(size_t)b * s->by->n + i]);
        if (order) {
            return s->by->key[i].down ? -order : order;
        }
    }
    return 0;
}

enum mrs_status
mrsi_eval_sort_array(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->extra);
    struct mrs_val array;
    struct mrsi_list l = {0}, keys = {0}, sorted = {0};
    const struct sort_by *by = x->extra;
    bool null;
    MRS_TRY(input(x, ev, &array, &null));
    if (null) {
        return mrsi_ret_null(out);
    }
    MRS_TRY(mrsi_list_of(ev, array, &l));
    for (uint32_t i = 0; i < l.n; i++) {
        MRS_TRY(mrsi_spend(ev, 1u + by->n));
        for (uint32_t k = 0; k < by->n; k++) {
            MRS_TRY(mrsi_list_add(ev, &keys, value_at(l.v[i], by->key[k].path, by->key[k].len)));
        }
    }
    uint32_t *at = mrs_arena_alloc(ev->arena, (2 * (size_t)l.n + 1) * sizeof *at);
    if (!at) {
        return mrsi_eval_memory(ev, 2 * (size_t)l.n * sizeof *at);
    }
    for (uint32_t i = 0; i < l.n; i++) {
        at[i] = i;
    }
    struct sorting s = {by, by->n ? keys.v : l.v};
    MRS_TRY(mrsi_sort_stable(ev, at, at + l.n, l.n, cmp_elements, &s));
    for (uint32_t i = 0; i < l.n; i++) {
        MRS_TRY(mrsi_list_add(ev, &sorted, l.v[at[i]]));
    }
    return mrsi_ret_array(ev, sorted.v, sorted.n, out);
}

/* ---- $zip ---- */

struct op_array_each_zip {
    uint32_t inputs; /* args[0..inputs): inputs, then the defaults if has_defaults */
    bool longest, has_defaults;
};

static enum mrs_status
compile_items(struct mrsi_compile *c, struct mrs_val array, struct mrs_expr **to, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(array));
    while (mrs_walk_next(&w, &el) > 0) {
        MRS_TRY(mrsi_compile_sub(c, el.v, to++, e));
    }
    return MRS_OK;
}

enum mrs_status
mrsi_compile_zip(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(spec));
    static const char *const names[] = {"inputs", "useLongestLength", "defaults"};
    struct mrs_val v[3];
    MRS_TRY(mrsi_compile_pick(x, spec, names, 3, v, e));
    if (v[0].type != MRS_ARRAY || !mrs_val_count(v[0])) {
        return mrsi_expr_refuse(x, e, "inputs must be a list of expressions that is not empty");
    }
    if (v[1].type != MRS_MISSING && v[1].type != MRS_BOOL) {
        return mrsi_expr_refuse(x, e, "useLongestLength must be true or false");
    }
    struct op_array_each_zip *zip = mrs_arena_alloc(mrsi_compile_arena(c), sizeof *zip);
    MRS_TRY(mrs_allocated(zip, sizeof *zip, e));
    zip->inputs = mrs_val_count(v[0]);
    zip->longest = v[1].type == MRS_BOOL && v[1].p[0];
    zip->has_defaults = v[2].type != MRS_MISSING;
    x->extra = zip;
    if (zip->has_defaults &&
        (v[2].type != MRS_ARRAY || mrs_val_count(v[2]) != zip->inputs || !zip->longest)) {
        return mrsi_expr_refuse(
            x, e, "defaults must be a list as long as inputs, and needs useLongestLength: true");
    }
    MRS_TRY(mrsi_compile_args(c, x, zip->has_defaults ? 2 * zip->inputs : zip->inputs, e));
    MRS_TRY(compile_items(c, v[0], x->args, e));
    return zip->has_defaults ? compile_items(c, v[2], x->args + zip->inputs, e) : MRS_OK;
}

/* The arrays of all inputs and the length of the result; *null: one is nullish. */
static enum mrs_status
zip_inputs(const struct mrs_expr *x, struct mrs_eval *ev, struct mrsi_list *each, uint32_t *rows,
           bool *null)
{
    const struct op_array_each_zip *zip = x->extra;
    for (uint32_t i = 0; i < zip->inputs; i++) {
        struct mrs_val v;
        MRS_TRY(mrsi_arg(x, i, ev, &v));
        *null = mrsi_is_nullish(v);
        if (*null) {
            return MRS_OK;
        }
        if (v.type != MRS_ARRAY) {
            return mrsi_eval_error(x, ev, "input %u must be an array, not %s", i + 1,
                                   mrs_type_name(v.type));
        }
        memset(&each[i], 0, sizeof each[i]);
        MRS_TRY(mrsi_list_of(ev, v, &each[i]));
        if (i == 0 || (zip->longest ? each[i].n > *rows : each[i].n < *rows)) {
            *rows = each[i].n;
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_eval_zip(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->extra);
    const struct op_array_each_zip *zip = x->extra;
    struct mrsi_list all = {0};
    uint32_t rows = 0;
    bool null = false;
    struct mrsi_list *each = mrs_arena_alloc(ev->arena, zip->inputs * sizeof *each);
    struct mrs_val *row = mrs_arena_alloc(ev->arena, zip->inputs * sizeof *row);
    struct mrs_val *fill = mrs_arena_alloc(ev->arena, zip->inputs * sizeof *fill);
    if (!each || !row || !fill) {
        return mrsi_eval_memory(ev, zip->inputs * sizeof *each);
    }
    MRS_TRY(zip_inputs(x, ev, each, &rows, &null));
    if (null) {
        return mrsi_ret_null(out);
    }
    for (uint32_t i = 0; i < zip->inputs; i++) {
        fill[i] = mrs_null();
        if (zip->has_defaults) {
            MRS_TRY(mrsi_arg(x, zip->inputs + i, ev, &fill[i]));
        }
    }
    for (uint32_t r = 0; r < rows; r++) {
        struct mrs_val v;
        MRS_TRY(mrsi_spend(ev, zip->inputs));
        for (uint32_t i = 0; i < zip->inputs; i++) {
            row[i] = r < each[i].n ? each[i].v[r] : fill[i];
        }
        MRS_TRY(mrsi_ret_array(ev, row, zip->inputs, &v));
        MRS_TRY(mrsi_list_add(ev, &all, v));
    }
    return mrsi_ret_array(ev, all.v, all.n, out);
}

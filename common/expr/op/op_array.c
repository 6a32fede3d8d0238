/* SPDX-License-Identifier: Apache-2.0 */
/* op_array.c - operators that split or join arrays.
 *
 * Arrays are bytes: elements are found by walking and copied whole, without reading nested values. Operators that
 * evaluate an expression for each element are in op_array_each.c. */
#include "op_array.h"

/* An argument that must be an array or nullish. *null: it is nullish. */
static enum mrs_status
array_or_null(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, struct mrs_val *array,
              bool *null)
{
    MRS_ASSERT(i < x->n_args);
    MRS_TRY(mrsi_arg(x, i, ev, array));
    *null = mrsi_is_nullish(*array);
    if (!*null && array->type != MRS_ARRAY) {
        return mrsi_eval_error(x, ev, "argument %u must be an array, not %s", i + 1,
                               mrs_type_name(array->type));
    }
    return MRS_OK;
}

/* Element `at`, from the end if negative; missing if there is none. */
static struct mrs_val
element(struct mrs_val array, int64_t at)
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    struct mrs_walk w;
    struct mrs_elem e;
    if (at < 0) {
        at += mrs_val_count(array);
    }
    mrs_walk_init(&w, mrs_val_view(array));
    for (int64_t i = 0; at >= 0 && mrs_walk_next(&w, &e) > 0; i++) {
        if (i == at) {
            return e.v;
        }
    }
    return mrs_missing();
}

/* For one part of a split text the others are not computed. */
static bool
splits(const struct mrs_expr *x)
{
    return x->args[0]->kind == MRSI_CALL && x->args[0]->op->eval == mrsi_eval_split;
}

static enum mrs_status
eval_elem_at(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrs_val array, index;
    int32_t at;
    if (splits(x) && mrsi_is_constant(x->args[1]) && mrsi_integral32(x->args[1]->lit, &at)) {
        return mrsi_eval_split_at(x->args[0], ev, at, out);
    }
    MRS_TRY(mrsi_arg(x, 0, ev, &array));
    MRS_TRY(mrsi_arg(x, 1, ev, &index));
    if (mrsi_is_nullish(array) || mrsi_is_nullish(index)) {
        return mrsi_ret_null(out);
    }
    if (array.type != MRS_ARRAY) {
        return mrsi_eval_error(x, ev, "the first argument must be an array, not %s",
                               mrs_type_name(array.type));
    }
    if (!mrsi_integral32(index, &at)) {
        return mrsi_eval_error(x, ev, "the index must be a whole number of 32 bits");
    }
    *out = element(array, at);
    return MRS_OK;
}

static enum mrs_status
at_end(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    int64_t at = x->op->variant;
    struct mrs_val array;
    bool null;
    if (splits(x)) {
        return mrsi_eval_split_at(x->args[0], ev, at, out);
    }
    MRS_TRY(array_or_null(x, 0, ev, &array, &null));
    if (null) {
        return mrsi_ret_null(out);
    }
    *out = element(array, at);
    return MRS_OK;
}

static enum mrs_status
eval_is_array(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    return mrsi_ret_bool(ev, v.type == MRS_ARRAY, out);
}

static enum mrs_status
eval_size(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val v;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    if (v.type != MRS_ARRAY) {
        return mrsi_eval_error(x, ev, "the argument must be an array, not %s",
                               mrs_type_name(v.type));
    }
    return mrsi_ret_i32(ev, (int32_t)mrs_val_count(v), out);
}

static enum mrs_status
eval_in(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrs_val v, array;
    struct mrs_walk w;
    struct mrs_elem e;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    MRS_TRY(mrsi_arg(x, 1, ev, &array));
    if (array.type != MRS_ARRAY) {
        return mrsi_eval_error(x, ev, "the second argument must be an array, not %s",
                               mrs_type_name(array.type));
    }
    mrs_walk_init(&w, mrs_val_view(array));
    while (mrs_walk_next(&w, &e) > 0) {
        MRS_TRY(mrsi_spend(ev, 1));
        if (mrs_compare(v, e.v) == 0) {
            return mrsi_ret_bool(ev, true, out);
        }
    }
    return mrsi_ret_bool(ev, false, out);
}

static enum mrs_status
eval_index_of(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args >= 2);
    struct mrs_val array, v, number;
    int32_t range[2] = {0, INT32_MAX};
    bool null;
    MRS_TRY(array_or_null(x, 0, ev, &array, &null));
    if (null) {
        return mrsi_ret_null(out);
    }
    MRS_TRY(mrsi_arg(x, 1, ev, &v));
    for (uint32_t i = 2; i < x->n_args; i++) {
        MRS_TRY(mrsi_arg(x, i, ev, &number));
        if (!mrsi_integral32(number, &range[i - 2]) || range[i - 2] < 0) {
            return mrsi_eval_error(x, ev, "%s must be a whole number of 32 bits, not negative",
                                   i == 2 ? "the start" : "the end");
        }
    }
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, mrs_val_view(array));
    for (int32_t i = 0; i < range[1] && mrs_walk_next(&w, &e) > 0; i++) {
        MRS_TRY(mrsi_spend(ev, 1));
        if (i >= range[0] && mrs_compare(v, e.v) == 0) {
            return mrsi_ret_i32(ev, i, out);
        }
    }
    return mrsi_ret_i32(ev, -1, out);
}

/* Concatenates elements of arrays: as views while there are few, then as bytes. */
struct concat {
    struct mrsi_list list;
    struct mrsi_expr_out out;
    uint64_t bytes;
    bool large; /* out is in use */
};
#define CONCAT_LITTLE (64u << 10)

static enum mrs_status
concat_put(struct mrs_eval *ev, struct concat *c, struct mrs_val array)
{
    struct mrs_walk w;
    struct mrs_elem e;
    c->bytes += array.n;
    if (!c->large && c->bytes <= CONCAT_LITTLE) {
        return mrsi_list_of(ev, array, &c->list);
    }
    if (!c->large) {
        c->large = true;
        mrsi_out_begin(ev, &c->out);
        for (uint32_t i = 0; i < c->list.n; i++) {
            mrs_build_item(&c->out.build, c->list.v[i]);
        }
    }
    mrs_walk_init(&w, mrs_val_view(array));
    while (!c->out.buf.bad && mrs_walk_next(&w, &e) > 0) { /* mrsi_out_end reports it */
        mrs_build_item(&c->out.build, e.v);
        MRS_TRY(mrsi_spend(ev, 1));
    }
    return MRS_OK;
}

static enum mrs_status
eval_concat_arrays(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct concat c = {.bytes = 0};
    enum mrs_status s = MRS_OK;
    bool null = false;
    for (uint32_t i = 0; s == MRS_OK && !null && i < x->n_args; i++) {
        struct mrs_val array;
        s = array_or_null(x, i, ev, &array, &null);
        s = s == MRS_OK && !null ? concat_put(ev, &c, array) : s;
    }
    if (c.large && (s != MRS_OK || null)) {
        mrsi_out_drop(&c.out);
    }
    if (s != MRS_OK) {
        return s;
    }
    return null      ? mrsi_ret_null(out)
           : c.large ? mrsi_out_end(ev, &c.out, MRS_ARRAY, out)
                     : mrsi_ret_array(ev, c.list.v, c.list.n, out);
}

static enum mrs_status
eval_reverse(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val array;
    struct mrsi_list l = {0};
    bool null;
    MRS_TRY(array_or_null(x, 0, ev, &array, &null));
    if (null) {
        return mrsi_ret_null(out);
    }
    MRS_TRY(mrsi_list_of(ev, array, &l));
    for (uint32_t i = 0; i < l.n / 2; i++) {
        struct mrs_val v = l.v[i];
        l.v[i] = l.v[l.n - 1 - i];
        l.v[l.n - 1 - i] = v;
    }
    return mrsi_ret_array(ev, l.v, l.n, out);
}

/* Elements [from, to) of l, both within it. */
static enum mrs_status
part(struct mrs_eval *ev, const struct mrsi_list *l, int64_t from, int64_t to, struct mrs_val *out)
{
    return to > from ? mrsi_ret_array(ev, l->v + from, (uint32_t)(to - from), out)
                     : mrsi_ret_array(ev, l->v, 0, out);
}

static int64_t
clamp(int64_t v, int64_t most)
{
    return v < 0 ? 0 : v > most ? most : v;
}

static enum mrs_status
eval_slice(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args >= 2 && x->n_args <= 3);
    struct mrs_val v[3];
    int32_t n[3];
    /* a null has priority over later arguments */
    for (uint32_t i = 0; i < x->n_args; i++) {
        MRS_TRY(mrsi_arg(x, i, ev, &v[i]));
        if (mrsi_is_nullish(v[i])) {
            return mrsi_ret_null(out);
        }
        if (i == 0 && v[0].type != MRS_ARRAY) {
            return mrsi_eval_error(x, ev, "the first argument must be an array, not %s",
                                   mrs_type_name(v[0].type));
        }
        if (i > 0 && !mrsi_integral32(v[i], &n[i])) {
            return mrsi_eval_error(x, ev, "argument %u must be a whole number of 32 bits", i + 1);
        }
    }
    if (x->n_args == 3 && n[2] <= 0) {
        return mrsi_eval_error(x, ev, "the number of elements must be positive after a position");
    }
    struct mrsi_list l = {0};
    MRS_TRY(mrsi_list_of(ev, v[0], &l));
    int64_t from = 0, to = l.n;
    if (x->n_args == 3) {
        from = clamp(n[1] < 0 ? (int64_t)l.n + n[1] : n[1], l.n);
        to = clamp(from + n[2], l.n);
    } else if (n[1] < 0) {
        from = clamp((int64_t)l.n + n[1], l.n);
    } else {
        to = clamp(n[1], l.n);
    }
    return part(ev, &l, from, to, out);
}

/* Numbers from n[0] to before n[1] in steps of n[2], which is not 0. */
static int64_t
range_count(const int32_t n[3])
{
    int64_t step = n[2], way = (int64_t)n[1] - n[0];
    if (step < 0) {
        step = -step;
        way = -way;
    }
    return way > 0 ? (way - 1) / step + 1 : 0;
}

/* Bytes of an array of n numbers: type, index, zero, value. */
static size_t
range_bytes(int64_t n)
{
    int64_t bytes = n * 7;
    for (int64_t ten = 10; ten < n; ten *= 10) {
        bytes += n - ten; /* of a digit more */
    }
    return (size_t)bytes;
}

static enum mrs_status
eval_range(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args >= 2 && x->n_args <= 3);
    static const char *const what[3] = {"the start", "the end", "the step"};
    int32_t n[3] = {0, 0, 1};
    for (uint32_t i = 0; i < x->n_args; i++) {
        struct mrs_val v;
        MRS_TRY(mrsi_arg(x, i, ev, &v));
        if (!mrsi_integral32(v, &n[i])) {
            return mrsi_eval_error(x, ev, "%s must be a whole number of 32 bits", what[i]);
        }
    }
    if (!n[2]) {
        return mrsi_eval_error(x, ev, "the step is 0");
    }
    struct mrsi_expr_out o;
    int64_t count = range_count(n);
    MRS_TRY(mrsi_spend(ev, (uint64_t)count / 8));
    mrsi_out_begin(ev, &o);
    mrs_buf_grow(&o.buf, range_bytes(count)); /* more than the maximum of a value: bad, before any is written */
    for (int64_t i = 0; i < count && !o.buf.bad; i++) {
        uint8_t room[16];
        mrs_build_item(&o.build, mrs_make_i32(room, (int32_t)(n[0] + i * n[2])));
    }
    return mrsi_out_end(ev, &o, MRS_ARRAY, out);
}

/* ---- the first, last, least and greatest n ---- */

static enum mrs_status
n_and_input(const struct mrs_expr *x, struct mrs_eval *ev, int64_t *n, struct mrsi_list *l)
{
    struct mrs_val number, input;
    MRS_TRY(mrsi_arg(x, 0, ev, &number));
    MRS_TRY(mrsi_arg(x, 1, ev, &input));
    if (!mrs_val_integral(number, n) || *n <= 0) {
        return mrsi_eval_error(x, ev, "n must be a whole number greater than 0");
    }
    if (input.type != MRS_ARRAY) {
        return mrsi_eval_error(x, ev, "input must be an array, not %s", mrs_type_name(input.type));
    }
    return mrsi_list_of(ev, input, l);
}

static enum mrs_status
eval_first_n(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    int64_t n;
    struct mrsi_list l = {0};
    MRS_TRY(n_and_input(x, ev, &n, &l));
    return part(ev, &l, 0, clamp(n, l.n), out);
}

static enum mrs_status
eval_last_n(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    int64_t n;
    struct mrsi_list l = {0};
    MRS_TRY(n_and_input(x, ev, &n, &l));
    return part(ev, &l, (int64_t)l.n - clamp(n, l.n), l.n, out);
}

static int
cmp_ascending(const void *arg, uint32_t a, uint32_t b)
{
    const struct mrs_val *v = arg;
    return mrs_compare(v[a], v[b]);
}

static int
cmp_descending(const void *arg, uint32_t a, uint32_t b)
{
    return cmp_ascending(arg, b, a);
}

static enum mrs_status
extreme_n(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    mrsi_cmp_fn cmp = x->op->variant < 0 ? cmp_ascending : cmp_descending;
    int64_t n;
    struct mrsi_list l = {0}, sorted = {0};
    MRS_TRY(n_and_input(x, ev, &n, &l));
    uint32_t *at = mrs_arena_alloc(ev->arena, (2 * (size_t)l.n + 1) * sizeof *at);
    if (!at) {
        return mrsi_eval_memory(ev, 2 * (size_t)l.n * sizeof *at);
    }
    uint32_t m = 0;
    for (uint32_t i = 0; i < l.n; i++) {
        if (!mrsi_is_nullish(l.v[i])) {
            at[m++] = i;
        }
    }
    MRS_TRY(mrsi_sort_stable(ev, at, at + l.n, m, cmp, l.v));
    for (uint32_t i = 0; i < clamp(n, m); i++) {
        MRS_TRY(mrsi_list_add(ev, &sorted, l.v[at[i]]));
    }
    return mrsi_ret_array(ev, sorted.v, sorted.n, out);
}

#define BY_COUNT(name, fn, least, most) {.row = {name, "array", ""}, .eval = fn, .n_min = least, .n_max = most}
#define BY_NAME(name, fn, keys) {.row = {name, "array", ""}, .eval = fn, .named = keys}
#define BY_HOOK(name, note, fn, hook) {.row = {name, "array", note}, .eval = fn, .compile = hook}

#define INDEX "`arrayIndexAs`, `$$IDX`: " MRSI_SINCE_8_3

const struct mrs_op mrsi_ops_array[] = {
    BY_COUNT("$arrayElemAt", eval_elem_at, 2, 2),
    BY_COUNT("$concatArrays", eval_concat_arrays, 0, 255),
    BY_HOOK("$filter", INDEX, mrsi_eval_filter, mrsi_compile_filter),
    BY_COUNT("$first", at_end, 1, 1),
    BY_NAME("$firstN", eval_first_n, "n,input"),
    BY_COUNT("$in", eval_in, 2, 2),
    BY_COUNT("$indexOfArray", eval_index_of, 2, 4),
    BY_COUNT("$isArray", eval_is_array, 1, 1),
    {.row = {"$last", "array", ""}, .eval = at_end, .variant = -1, .n_min = 1, .n_max = 1},
    BY_NAME("$lastN", eval_last_n, "n,input"),
    BY_HOOK("$map", INDEX, mrsi_eval_map, mrsi_compile_map),
    {.row = {"$maxN", "array", ""}, .eval = extreme_n, .variant = 1, .named = "n,input"},
    {.row = {"$minN", "array", ""}, .eval = extreme_n, .variant = -1, .named = "n,input"},
    BY_COUNT("$range", eval_range, 2, 3),
    BY_HOOK("$reduce", "`as`, `valueAs`, " INDEX, mrsi_eval_reduce, mrsi_compile_reduce),
    BY_COUNT("$reverseArray", eval_reverse, 1, 1),
    BY_COUNT("$size", eval_size, 1, 1),
    BY_COUNT("$slice", eval_slice, 2, 3),
    BY_HOOK("$sortArray", "equal elements keep their order", mrsi_eval_sort_array,
            mrsi_compile_sort_array),
    BY_HOOK("$zip", "", mrsi_eval_zip, mrsi_compile_zip),
    {.row = {NULL, NULL, NULL}},
};

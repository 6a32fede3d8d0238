/* SPDX-License-Identifier: Apache-2.0 */
/* op_object.c - operators on documents: merging, conversion to and from pairs, single fields by name.
 *
 * Values are copied as bytes, whatever their type. If several sources have one name, the first place and the last value
 * count; the names are in a hash table, so that large documents merge in linear time. */
#include "expr/support.h"

/* Fields in order, found by name. Zeroed at first. */
struct op_object_fields {
    struct {
        const char *name;
        uint32_t len;
        uint32_t hash;
        struct mrs_val v;
    } * item;
    uint32_t *table; /* 1 + index of an item; a separate kind of table: it compares names; cap 2^k, more than twice n */
    uint32_t n, cap, slots;
};

static uint32_t
hash_name(const char *p, uint32_t n)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < n; i++) {
        h = (h ^ (uint8_t)p[i]) * 16777619u;
    }
    return h ^ h >> 15;
}

static enum mrs_status
fields_grow(struct mrs_eval *ev, struct op_object_fields *f)
{
    MRS_ASSERT(f->n <= f->cap && (f->slots & (f->slots - 1)) == 0);
    uint32_t cap = f->cap ? 2 * f->cap : 16, slots = 4 * cap;
    void *item = mrs_arena_alloc(ev->arena, cap * sizeof *f->item);
    uint32_t *table = item ? mrs_arena_alloc(ev->arena, slots * sizeof *table) : NULL;
    if (!table) {
        return mrsi_eval_memory(ev, cap * sizeof *f->item);
    }
    if (f->n) {
        memcpy(item, f->item, f->n * sizeof *f->item);
    }
    memset(table, 0, slots * sizeof *table);
    f->item = item;
    f->table = table;
    f->cap = cap;
    f->slots = slots;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t at = f->item[i].hash & (slots - 1);
        while (table[at]) {
            at = (at + 1) & (slots - 1);
        }
        table[at] = i + 1;
    }
    return MRS_OK;
}

static enum mrs_status
fields_set(struct mrs_eval *ev, struct op_object_fields *f, const char *name, uint32_t len, struct mrs_val v)
{
    MRS_ASSERT(f->n <= f->cap);
    if (f->n == f->cap) {
        MRS_TRY(fields_grow(ev, f));
    }
    uint32_t hash = hash_name(name, len), at = hash & (f->slots - 1);
    for (; f->table[at]; at = (at + 1) & (f->slots - 1)) {
        uint32_t i = f->table[at] - 1;
        if (f->item[i].hash == hash && f->item[i].len == len &&
            memcmp(f->item[i].name, name, len) == 0) {
            f->item[i].v = v;
            return MRS_OK;
        }
    }
    f->item[f->n].name = name;
    f->item[f->n].len = len;
    f->item[f->n].hash = hash;
    f->item[f->n].v = v;
    f->table[at] = ++f->n;
    return MRS_OK;
}

static enum mrs_status
fields_end(struct mrs_eval *ev, const struct op_object_fields *f, struct mrs_val *out)
{
    struct mrsi_expr_out o;
    mrsi_out_begin(ev, &o);
    for (uint32_t i = 0; i < f->n; i++) {
        mrs_build_val(&o.build, f->item[i].name, f->item[i].len, f->item[i].v);
    }
    return mrsi_out_end(ev, &o, MRS_DOCUMENT, out);
}

/* ---- $mergeObjects ---- */

static enum mrs_status
merge(const struct mrs_expr *x, struct mrs_eval *ev, struct op_object_fields *f, struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem e;
    if (mrsi_is_nullish(v)) {
        return MRS_OK;
    }
    if (v.type != MRS_DOCUMENT) {
        return mrsi_eval_error(x, ev, "only documents can be merged, not %s",
                               mrs_type_name(v.type));
    }
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &e) > 0) {
        MRS_TRY(fields_set(ev, f, e.name, e.name_len, e.v));
    }
    return MRS_OK;
}

static enum mrs_status
eval_merge(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct op_object_fields f = {0};
    for (uint32_t i = 0; i < x->n_args; i++) {
        struct mrs_val v;
        MRS_TRY(mrsi_arg(x, i, ev, &v));
        if (x->n_args > 1 || v.type != MRS_ARRAY) {
            MRS_TRY(merge(x, ev, &f, v));
            continue;
        }
        struct mrs_walk w;
        struct mrs_elem e;
        mrs_walk_init(&w, mrs_val_view(v)); /* a single operand may be the list of the documents */
        while (mrs_walk_next(&w, &e) > 0) {
            MRS_TRY(merge(x, ev, &f, e.v));
        }
    }
    return fields_end(ev, &f, out);
}

/* ---- documents from and to lists of pairs ---- */

static enum mrs_status
eval_to_array(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val v;
    struct mrs_walk w;
    struct mrs_elem e;
    MRS_TRY(mrsi_arg(x, 0, ev, &v));
    if (mrsi_is_nullish(v)) {
        return mrsi_ret_null(out);
    }
    if (v.type != MRS_DOCUMENT) {
        return mrsi_eval_error(x, ev, "the argument must be a document, not %s",
                               mrs_type_name(v.type));
    }
    struct mrsi_expr_out o;
    mrsi_out_begin(ev, &o);
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &e) > 0) {
        mrs_build_item_open(&o.build, MRS_DOCUMENT);
        mrs_build_text(&o.build, "k", e.name, e.name_len);
        mrs_build_val(&o.build, "v", 1, e.v);
        mrs_build_close(&o.build);
    }
    return mrsi_out_end(ev, &o, MRS_ARRAY, out);
}

/* Key and value of one pair: [k, v] if list, else {k, v}. Why it is invalid, or NULL. */
static const char *
read_pair(struct mrs_val pair, bool list, struct mrs_val *k, struct mrs_val *v)
{
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n = 0;
    *k = *v = mrs_missing();
    if (pair.type != (list ? MRS_ARRAY : MRS_DOCUMENT)) {
        return "all elements must be pairs of one kind, [key, value] or {k, v}";
    }
    mrs_walk_init(&w, mrs_val_view(pair));
    for (; mrs_walk_next(&w, &e) > 0; n++) {
        bool is_key = list ? n == 0 : mrs_name_is(&e, "k", 1);
        if (is_key) {
            *k = e.v;
        } else if (list || mrs_name_is(&e, "v", 1)) {
            *v = e.v;
        }
    }
    if (n != 2 || k->type == MRS_MISSING || v->type == MRS_MISSING) {
        return "an element is no pair: it must have exactly a key and a value";
    }
    if (k->type != MRS_STRING) {
        return "a key is not a string";
    }
    struct mrsi_text key = mrsi_text_of(*k);
    return memchr(key.p, 0, key.n) ? "a key holds a NUL byte" : NULL;
}

static enum mrs_status
eval_to_object(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val array, k, v;
    struct mrs_walk w;
    struct mrs_elem e;
    struct op_object_fields f = {0};
    MRS_TRY(mrsi_arg(x, 0, ev, &array));
    if (mrsi_is_nullish(array)) {
        return mrsi_ret_null(out);
    }
    if (array.type != MRS_ARRAY) {
        return mrsi_eval_error(x, ev, "the argument must be an array, not %s",
                               mrs_type_name(array.type));
    }
    bool list = false;
    mrs_walk_init(&w, mrs_val_view(array));
    for (uint32_t i = 0; mrs_walk_next(&w, &e) > 0; i++) {
        list = i == 0 ? e.v.type == MRS_ARRAY : list;
        const char *wrong = read_pair(e.v, list, &k, &v);
        if (wrong) {
            return mrsi_eval_error(x, ev, "%s (element %u)", wrong, i);
        }
        struct mrsi_text key = mrsi_text_of(k);
        MRS_TRY(fields_set(ev, &f, key.p, key.n, v));
    }
    return fields_end(ev, &f, out);
}

/* ---- one field by its name ---- */

static bool
first_name_is_operator(struct mrs_val spec)
{
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, mrs_val_view(spec));
    return mrs_walk_next(&w, &e) > 0 && e.name[0] == '$';
}

/* args: field, input */
static enum mrs_status
compile_get(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    if (spec.type == MRS_DOCUMENT && !first_name_is_operator(spec)) {
        return mrsi_compile_named(c, x, spec, "field,input", e);
    }
    struct mrs_val root = mrs_make_text(mrsi_compile_arena(c), "$$CURRENT", 9);
    if (root.type == MRS_MISSING) {
        return mrs_err_memory(e, 16);
    }
    MRS_TRY(mrsi_compile_args(c, x, 2, e));
    MRS_TRY(mrsi_compile_sub(c, spec, &x->args[0], e));
    return mrsi_compile_sub(c, root, &x->args[1], e);
}

static enum mrs_status
eval_get(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args == 2);
    struct mrs_val field, input;
    struct mrs_elem e;
    MRS_TRY(mrsi_arg(x, 0, ev, &field));
    MRS_TRY(mrsi_arg(x, 1, ev, &input));
    if (field.type != MRS_STRING) {
        return mrsi_eval_error(x, ev, "field must be a string, not %s", mrs_type_name(field.type));
    }
    if (input.type == MRS_NULL || input.type == MRS_UNDEFINED) {
        return mrsi_ret_null(out);
    }
    struct mrsi_text name = mrsi_text_of(field);
    *out = mrs_missing();
    if (input.type == MRS_DOCUMENT && mrs_doc_find(mrs_val_view(input), name.p, name.n, &e)) {
        *out = e.v;
    }
    return MRS_OK;
}

/* args: field, input, value (NULL: remove). The field must be constant: a string, or $literal of one. */
static enum mrs_status
compile_set(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val spec, struct mrs_err *e)
{
    bool unset = mrsi_text_is(x->op->row.name, (uint32_t)strlen(x->op->row.name), "$unsetField");
    MRS_TRY(mrsi_compile_named(c, x, spec, unset ? "field,input" : "field,input,value", e));
    struct mrs_elem spec_field, inner;
    struct mrs_walk w;
    bool literal =
        mrs_doc_find(mrs_val_view(spec), "field", 5, &spec_field) && spec_field.v.type == MRS_STRING;
    if (spec_field.v.type == MRS_DOCUMENT) {
        mrs_walk_init(&w, mrs_val_view(spec_field.v));
        literal = mrs_walk_next(&w, &inner) > 0 &&
                  (mrs_name_is(&inner, "$literal", 8) || mrs_name_is(&inner, "$const", 6));
    }
    const struct mrs_expr *field = x->args[0];
    if (!literal || !mrsi_is_constant(field) || field->lit.type != MRS_STRING) {
        return mrsi_expr_refuse(
            x, e, "field must be a constant string, without an expression other than $literal");
    }
    struct mrsi_text name = mrsi_text_of(field->lit);
    return memchr(name.p, 0, name.n) ? mrsi_expr_refuse(x, e, "field holds a NUL byte") : MRS_OK;
}

static enum mrs_status
eval_set(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->n_args >= 2);
    struct mrs_val input, value = mrs_missing();
    MRS_TRY(mrsi_arg(x, 1, ev, &input));
    if (x->n_args > 2) {
        MRS_TRY(mrsi_arg(x, 2, ev, &value));
    }
    if (mrsi_is_nullish(input)) {
        return mrsi_ret_null(out);
    }
    if (input.type != MRS_DOCUMENT) {
        return mrsi_eval_error(x, ev, "input must be a document, not %s",
                               mrs_type_name(input.type));
    }
    struct mrsi_text name = mrsi_text_of(x->args[0]->lit);
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrsi_expr_out o;
    bool done = false;
    mrsi_out_begin(ev, &o);
    mrs_walk_init(&w, mrs_val_view(input));
    while (mrs_walk_next(&w, &e) > 0) {
        if (!mrs_name_is(&e, name.p, name.n)) {
            mrs_build_elem(&o.build, &e);
        } else if (!done) {
            mrs_build_val(&o.build, name.p, name.n, value);
            done = true;
        }
    }
    if (!done) {
        mrs_build_val(&o.build, name.p, name.n, value);
    }
    return mrsi_out_end(ev, &o, MRS_DOCUMENT, out);
}

const struct mrs_op mrsi_ops_object[] = {
    {.row = {"$arrayToObject", "object", ""}, .eval = eval_to_object, .n_min = 1, .n_max = 1},
    {.row = {"$getField", "object", ""}, .eval = eval_get, .compile = compile_get},
    {.row = {"$mergeObjects", "object", ""}, .eval = eval_merge, .n_min = 0, .n_max = 255},
    {.row = {"$objectToArray", "object", ""}, .eval = eval_to_array, .n_min = 1, .n_max = 1},
    {.row = {"$setField", "object", ""}, .eval = eval_set, .compile = compile_set},
    {.row = {"$unsetField", "object", ""}, .eval = eval_set, .compile = compile_set},
    {.row = {NULL, NULL, NULL}},
};

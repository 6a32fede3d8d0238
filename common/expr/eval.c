/* SPDX-License-Identifier: Apache-2.0 */
/* eval.c - evaluates a tree of nodes on one document, and makes values.
 *
 * A value found in the document is a pointer into it; a new value is in the arena of the evaluation. Paths and literals
 * allocate nothing, so that the common expressions cost a walk. Recursion follows the tree of the expression (bounded
 * at compile time) and the parts of a path, never the nesting of documents. */
#include "expr_internal.h"
#include "mongoreshape/limits.h"
#include <stdarg.h>
#include <stdio.h>

/* Limit of an intermediate value; the stored result is checked against MRS_DOC_MAX elsewhere. */
#define VALUE_MAX (4u * MRS_DOC_MAX)
#define SLOTS_ON_STACK 16
#define LITTLE (1u << 20) /* garbage that an expression may leave besides its value */

/* ---- errors ---- */

enum mrs_status
mrsi_eval_error(const struct mrs_expr *x, struct mrs_eval *ev, const char *fmt, ...)
{
    char msg[440];
    va_list args;
    va_start(args, fmt);
    vsnprintf(msg, sizeof msg, fmt, args);
    va_end(args);
    if (!x || !x->op) {
        return mrs_err_set(ev->err, MRS_FAIL, MRS_E_EXPR, "%s", msg);
    }
    return mrs_err_set(ev->err, MRS_FAIL, MRS_E_EXPR, "%s: %s", x->op->row.name, msg);
}

enum mrs_status
mrsi_eval_memory(struct mrs_eval *ev, size_t wanted)
{
    if (mrs_arena_is_over(ev->arena)) {
        return mrs_err_set(ev->err, MRS_FAIL, MRS_E_EXPR,
                           "the values made for this document take more than %u MiB: let the expression make fewer",
                           MRS_EVAL_BYTES_MAX >> 20);
    }
    return mrs_err_memory(ev->err, wanted);
}

enum mrs_status
mrsi_spent(struct mrs_eval *ev)
{
    struct mrs_arena *a = ev->arena;
    if (a->most && a->steps > MRS_EVAL_STEPS_MAX) {
        return mrs_err_set(ev->err, MRS_FAIL, MRS_E_EXPR,
                           "more than %u steps for this document: let the expression look at fewer elements",
                           MRS_EVAL_STEPS_MAX);
    }
    return a->ask && a->ask(a->ask_arg) ? mrs_err_set(ev->err, MRS_DEAD, MRS_E_CANCEL, "interrupted") : MRS_OK;
}

/* ---- results ---- */

static uint8_t *
room16(struct mrs_eval *ev)
{
    uint8_t *p = mrs_arena_alloc(ev->arena, 16);
    if (!p) {
        mrsi_eval_memory(ev, 16);
    }
    return p;
}

enum mrs_status
mrsi_ret_i32(struct mrs_eval *ev, int32_t v, struct mrs_val *out)
{
    uint8_t *p = room16(ev);
    *out = p ? mrs_make_i32(p, v) : mrs_missing();
    return p ? MRS_OK : MRS_DEAD;
}

enum mrs_status
mrsi_ret_i64(struct mrs_eval *ev, int64_t v, struct mrs_val *out)
{
    uint8_t *p = room16(ev);
    *out = p ? mrs_make_i64(p, v, MRS_INT64) : mrs_missing();
    return p ? MRS_OK : MRS_DEAD;
}

enum mrs_status
mrsi_ret_count(struct mrs_eval *ev, int64_t v, struct mrs_val *out)
{
    return v >= INT32_MIN && v <= INT32_MAX ? mrsi_ret_i32(ev, (int32_t)v, out) : mrsi_ret_i64(ev, v, out);
}

enum mrs_status
mrsi_ret_double(struct mrs_eval *ev, double v, struct mrs_val *out)
{
    uint8_t *p = room16(ev);
    *out = p ? mrs_make_double(p, v) : mrs_missing();
    return p ? MRS_OK : MRS_DEAD;
}

static enum mrs_status
ret_bytes(struct mrs_eval *ev, const uint8_t *from, uint32_t n, uint8_t type, struct mrs_val *out)
{
    MRS_ASSERT(n <= 16);
    uint8_t *p = room16(ev);
    if (!p) {
        return MRS_DEAD;
    }
    memcpy(p, from, n);
    *out = (struct mrs_val){p, n, type};
    return MRS_OK;
}

enum mrs_status
mrsi_ret_decimal(struct mrs_eval *ev, const uint8_t dec[16], struct mrs_val *out)
{
    return ret_bytes(ev, dec, 16, MRS_DECIMAL128, out);
}

enum mrs_status
mrsi_ret_bool(struct mrs_eval *ev, bool v, struct mrs_val *out)
{
    static const uint8_t bytes[2] = {0, 1};
    (void)ev;
    *out = (struct mrs_val){&bytes[v], 1, MRS_BOOL};
    return MRS_OK;
}

enum mrs_status
mrsi_ret_date(struct mrs_eval *ev, int64_t ms, struct mrs_val *out)
{
    uint8_t *p = room16(ev);
    *out = p ? mrs_make_i64(p, ms, MRS_DATE) : mrs_missing();
    return p ? MRS_OK : MRS_DEAD;
}

enum mrs_status
mrsi_ret_oid(struct mrs_eval *ev, const uint8_t oid[12], struct mrs_val *out)
{
    return ret_bytes(ev, oid, 12, MRS_OBJECTID, out);
}

enum mrs_status
mrsi_ret_room(struct mrs_eval *ev, uint32_t n, char **text, struct mrs_val *out)
{
    MRS_ASSERT(text && n < INT32_MAX);
    uint8_t *p = n <= VALUE_MAX ? mrs_arena_alloc(ev->arena, (size_t)n + 5) : NULL;
    *text = p ? (char *)p + 4 : NULL;
    if (!p && n > VALUE_MAX) {
        return mrsi_eval_error(NULL, ev, "a string of %u bytes is too long", n);
    }
    if (!p) {
        return mrsi_eval_memory(ev, (size_t)n + 5);
    }
    mrs_put32(p, n + 1);
    p[n + 4] = 0;
    *out = (struct mrs_val){p, n + 5, MRS_STRING};
    return MRS_OK;
}

enum mrs_status
mrsi_ret_text(struct mrs_eval *ev, const char *text, size_t n, struct mrs_val *out)
{
    MRS_ASSERT(text || n == 0);
    char *to;
    enum mrs_status s = mrsi_ret_room(ev, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX, &to, out);
    if (s == MRS_OK && n) {
        memcpy(to, text, n);
    }
    return s;
}

enum mrs_status
mrsi_ret_binary(struct mrs_eval *ev, const void *p, uint32_t n, uint8_t subtype, struct mrs_val *out)
{
    MRS_ASSERT(p || n == 0);
    uint8_t *to = n <= VALUE_MAX ? mrs_arena_alloc(ev->arena, (size_t)n + 5) : NULL;
    if (!to) {
        return mrsi_eval_memory(ev, (size_t)n + 5);
    }
    mrs_put32(to, n);
    to[4] = subtype;
    if (n) {
        memcpy(to + 5, p, n);
    }
    *out = (struct mrs_val){to, n + 5, MRS_BINARY};
    return MRS_OK;
}

enum mrs_status
mrsi_ret_null(struct mrs_val *out)
{
    *out = mrs_null();
    return MRS_OK;
}

/* ---- arrays and documents of available values: sized first, written once ---- */

static uint8_t *
put_element(uint8_t *p, const char *name, uint32_t name_len, struct mrs_val v)
{
    MRS_ASSERT(v.type != MRS_MISSING);
    *p++ = v.type;
    memcpy(p, name, name_len);
    p[name_len] = 0;
    p += name_len + 1;
    if (v.n) {
        memcpy(p, v.p, v.n);
    }
    return p + v.n;
}

static uint32_t
index_digits(uint32_t i) /* at least the number of digits of the index */
{
    return i < 10 ? 1 : i < 100 ? 2 : i < 1000 ? 3 : i < 10000 ? 4 : 10;
}

/* n values under names[i], or under their indexes if names is NULL. */
static enum mrs_status
assemble(struct mrs_eval *ev, const char *const *names, const struct mrs_val *v, uint32_t n, struct mrs_val *out)
{
    uint64_t size = 5;
    for (uint32_t i = 0; i < n; i++) {
        if (names && v[i].type == MRS_MISSING) {
            continue;
        }
        size += 2u + v[i].n + (names ? strlen(names[i]) : index_digits(i));
    }
    if (size > VALUE_MAX) {
        return mrsi_eval_error(NULL, ev, "a value of %llu bytes is too long", (unsigned long long)size);
    }
    uint8_t *p = mrs_arena_alloc(ev->arena, size);
    if (!p) {
        return mrsi_eval_memory(ev, size);
    }
    uint8_t *at = p + 4;
    for (uint32_t i = 0; i < n; i++) {
        char digits[12];
        if (names) {
            at = v[i].type == MRS_MISSING ? at : put_element(at, names[i], (uint32_t)strlen(names[i]), v[i]);
        } else {
            uint32_t len = mrs_index_name(digits, i);
            at = put_element(at, digits, len, v[i].type == MRS_MISSING ? mrs_null() : v[i]);
        }
    }
    *at++ = 0;
    mrs_put32(p, (uint32_t)(at - p));
    *out = (struct mrs_val){p, (uint32_t)(at - p), names ? MRS_DOCUMENT : MRS_ARRAY};
    return MRS_OK;
}

enum mrs_status
mrsi_ret_array(struct mrs_eval *ev, const struct mrs_val *v, uint32_t n, struct mrs_val *out)
{
    MRS_ASSERT(v || n == 0);
    return assemble(ev, NULL, v, n, out);
}

enum mrs_status
mrsi_list_add(struct mrs_eval *ev, struct mrsi_list *l, struct mrs_val v)
{
    MRS_ASSERT(l->n <= l->cap);
    struct mrs_val *more = mrs_arena_more(ev->arena, l->v, l->n, &l->cap, sizeof *more);
    if (!more) {
        return mrsi_eval_memory(ev, sizeof *more);
    }
    l->v = more;
    l->v[l->n++] = v;
    return MRS_OK;
}

bool
mrsi_sorted_has(const struct mrs_val *list, uint32_t n, struct mrs_val v)
{
    MRS_ASSERT(list || n == 0);
    uint32_t from = 0, to = n;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        int order = mrs_compare(list[mid], v);
        if (!order) {
            return true;
        }
        if (order < 0) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    return false;
}

/* ---- arrays and documents under construction ---- */

void
mrsi_out_begin(struct mrs_eval *ev, struct mrsi_expr_out *o)
{
    MRS_ASSERT(ev->arena);
    mrsi_buf_init(ev, &o->buf, VALUE_MAX);
    mrs_build_init(&o->build, &o->buf);
}

enum mrs_status
mrsi_out_end(struct mrs_eval *ev, struct mrsi_expr_out *o, uint8_t type, struct mrs_val *out)
{
    MRS_ASSERT(type == MRS_DOCUMENT || type == MRS_ARRAY);
    struct mrs_view doc;
    struct mrs_err why;
    mrs_err_clear(&why);
    enum mrs_status s = mrs_build_finish(&o->build, &doc, &why);
    if (s == MRS_OK) {
        *out = (struct mrs_val){doc.p, doc.n, type};
        if (doc.n < MRS_ARENA_LARGE) {
            out->p = mrs_arena_copy(ev->arena, doc.p, doc.n);
        } else {
            out->p = mrs_arena_adopt(ev->arena, o->buf.p, doc.n) ? doc.p : NULL;
            mrs_buf_init(&o->buf, ev->arena->mem, VALUE_MAX);
        }
        s = out->p ? MRS_OK : mrsi_eval_memory(ev, doc.n);
    } else {
        mrs_err_set(ev->err, s, s == MRS_DEAD ? why.code : MRS_E_EXPR, "%s%s",
                    o->buf.bad == 2 ? "a value would have " : "", why.msg);
    }
    mrsi_out_drop(o);
    return s;
}

void
mrsi_out_drop(struct mrsi_expr_out *o)
{
    mrs_buf_clear(&o->buf);
}

/* ---- paths ---- */

static enum mrs_status path_value(struct mrs_eval *ev, struct mrs_val base, const char *const *part,
                                  const uint32_t *part_len, uint32_t n, struct mrs_val *out);

static enum mrs_status
path_over_array(struct mrs_eval *ev, struct mrs_val array, const char *const *part, const uint32_t *part_len,
                uint32_t n, struct mrs_val *out)
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    struct mrsi_list found = {0};
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = MRS_OK;
    mrs_walk_init(&w, mrs_val_view(array));
    while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
        struct mrs_val v;
        s = mrsi_spend(ev, 1);
        if (el.v.type != MRS_DOCUMENT || s != MRS_OK) {
            continue;
        }
        s = path_value(ev, el.v, part, part_len, n, &v);
        if (s == MRS_OK && v.type != MRS_MISSING) {
            s = mrsi_list_add(ev, &found, v);
        }
    }
    return s == MRS_OK ? mrsi_ret_array(ev, found.v, found.n, out) : s;
}

/* A path below a value: through documents, mapped over the documents in arrays. */
static enum mrs_status
path_value(struct mrs_eval *ev, struct mrs_val base, const char *const *part, const uint32_t *part_len, uint32_t n,
           struct mrs_val *out)
{
    MRS_ASSERT(n == 0 || (part && part_len));
    MRS_ASSERT(mrs_val_is_sized(base));
    for (uint32_t i = 0; i < n; i++) {
        struct mrs_elem el;
        if (base.type == MRS_ARRAY) {
            return path_over_array(ev, base, part + i, part_len + i, n - i, out);
        }
        if (base.type != MRS_DOCUMENT || !mrs_doc_find(mrs_val_view(base), part[i], part_len[i], &el)) {
            *out = mrs_missing();
            return MRS_OK;
        }
        base = el.v;
    }
    *out = base;
    return MRS_OK;
}

/* ---- nodes ---- */

void
mrs_eval_fields(struct mrs_eval *ev, struct mrs_eval_fields *room)
{
    MRS_ASSERT(mrs_view_is_framed(ev->root));
    struct mrs_walk w;
    int more;
    room->n = 0;
    room->names = 0;
    room->tpl = NULL;
    mrs_walk_init(&w, ev->root);
    do {
        more = mrs_walk_next(&w, &room->e[room->n]);
        room->n += more > 0;
    } while (more > 0 && room->n < MRS_EVAL_FIELDS_MAX);
    room->all = more <= 0;
    ev->fields = room;
}

/* A top-level field of the root; NULL: look it up. */
static const struct mrs_elem *
field_at_hand(const struct mrs_eval_fields *f, const char *name, uint32_t len)
{
    MRS_ASSERT(f->n <= MRS_EVAL_FIELDS_MAX);
    for (uint32_t i = 0; i < f->n; i++) {
        if (mrs_name_is(&f->e[i], name, len)) {
            return &f->e[i];
        }
    }
    return NULL;
}

static __attribute__((noinline)) enum mrs_status
eval_long_path(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->kind == MRSI_PATH);
    MRS_ASSERT(x->base < 0 || (uint32_t)x->base < ev->n_slots);
    struct mrs_val base = x->base == MRSI_ROOT     ? mrs_view_val(ev->root)
                          : x->base >= 0           ? ev->slots[x->base]
                          : x->base == MRSI_REMOVE ? mrs_missing()
                                                   : ev->vars[-16 - x->base];
    uint32_t done = 0;
    if (x->base == MRSI_ROOT && ev->fields && x->n_parts) {
        const struct mrs_elem *field = field_at_hand(ev->fields, x->part[0], x->part_len[0]);
        if (!field && ev->fields->all) {
            *out = mrs_missing();
            return MRS_OK;
        }
        base = field ? field->v : base;
        done = field != NULL;
    }
    if (done == x->n_parts) {
        *out = base;
        return MRS_OK;
    }
    if (base.n >= MRSI_LARGE_VALUE) {
        MRS_TRY(mrsi_look(ev, base.n));
    }
    return path_value(ev, base, x->part + done, x->part_len + done, x->n_parts - done, out);
}

static enum mrs_status
eval_path(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    if (x->base == MRSI_ROOT && ev->fields && x->n_parts == 1) { /* the most frequent case */
        const struct mrs_elem *field = field_at_hand(ev->fields, x->part[0], x->part_len[0]);
        if (field) {
            *out = field->v;
            return MRS_OK;
        }
    }
    return eval_long_path(x, ev, out);
}

static __attribute__((noinline)) enum mrs_status
eval_items(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    struct mrs_val few[16];
    struct mrs_val *v = few;
    enum mrs_status s = MRS_OK;
    if (x->n_args > 16) {
        v = mrs_arena_alloc(ev->arena, x->n_args * sizeof *v);
        if (!v) {
            return mrsi_eval_memory(ev, x->n_args * sizeof *v);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < x->n_args; i++) {
        s = mrsi_eval(x->args[i], ev, &v[i]);
    }
    return s == MRS_OK ? assemble(ev, x->kind == MRSI_OBJECT ? x->names : NULL, v, x->n_args, out) : s;
}

enum mrs_status
mrsi_eval(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    switch (x->kind) {
    case MRSI_LITERAL:
        *out = x->lit;
        return MRS_OK;
    case MRSI_PATH:
        return eval_path(x, ev, out);
    case MRSI_CALL:
        return x->op->eval(x, ev, out);
    case MRSI_ARRAY:
    case MRSI_OBJECT:
        break;
    }
    return eval_items(x, ev, out);
}

enum mrs_status
mrsi_arg(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(i < x->n_args);
    if (!x->args[i]) {
        *out = mrs_missing();
        return MRS_OK;
    }
    MRS_TRY(mrsi_eval(x->args[i], ev, out));
    return out->n < MRSI_LARGE_VALUE ? MRS_OK : mrsi_look(ev, out->n);
}

/* With room for the variables bound inside. */
static __attribute__((noinline)) enum mrs_status
eval_with_slots(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(x->root->n_slots > 0);
    struct mrs_val few[SLOTS_ON_STACK];
    struct mrs_val *before = ev->slots;
    uint32_t n_before = ev->n_slots, n = x->root->n_slots;
    ev->slots = few;
    if (n > SLOTS_ON_STACK) {
        ev->slots = mrs_arena_alloc(ev->arena, n * sizeof *few);
        if (!ev->slots) {
            ev->slots = before;
            return mrsi_eval_memory(ev, n * sizeof *few);
        }
    }
    ev->n_slots = n;
    enum mrs_status s = mrsi_eval(x, ev, out);
    ev->slots = before;
    ev->n_slots = n_before;
    return s;
}

/* The evaluation left much garbage: keeps only the value. */
static __attribute__((noinline)) enum mrs_status
keep_value(struct mrs_eval *ev, struct mrs_arena_mark before, struct mrs_val *v)
{
    uint8_t *aside = mrs_alloc(ev->arena->mem, v->n);
    if (!aside) {
        return mrsi_eval_memory(ev, v->n);
    }
    if (v->n) {
        memcpy(aside, v->p, v->n);
    }
    mrs_arena_release(ev->arena, before);
    if (v->n < MRS_ARENA_LARGE) {
        v->p = mrs_arena_copy(ev->arena, aside, v->n);
        mrs_free(ev->arena->mem, aside);
    } else {
        v->p = mrs_arena_adopt(ev->arena, aside, v->n) ? aside : NULL;
    }
    return v->p ? MRS_OK : mrsi_eval_memory(ev, v->n);
}

enum mrs_status
mrs_expr_eval(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val *out)
{
    MRS_ASSERT(ev->arena && mrs_arena_is_sound(ev->arena));
    struct mrs_arena_mark before = mrs_arena_mark(ev->arena);
    enum mrs_status s = x->root->n_slots ? eval_with_slots(x, ev, out) : mrsi_eval(x, ev, out);
    if (s != MRS_OK || ev->arena->used - before.used <= LITTLE + 2u * (uint64_t)out->n) {
        return s;
    }
    return keep_value(ev, before, out);
}

bool
mrsi_truthy(struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    switch (v.type) {
    case MRS_MISSING:
    case MRS_NULL:
    case MRS_UNDEFINED:
        return false;
    case MRS_BOOL:
        return v.p[0] != 0;
    case MRS_INT32:
        return mrs_val_i32(v) != 0;
    case MRS_INT64:
        return mrs_val_i64(v) != 0;
    case MRS_DOUBLE:
        return mrs_val_double(v) != 0;
    case MRS_DECIMAL128:
        return !mrsi_decimal_is_zero(v.p);
    default:
        return true;
    }
}

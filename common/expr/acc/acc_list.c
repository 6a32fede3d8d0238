/* SPDX-License-Identifier: Apache-2.0 */
/* acc_list.c - accumulators that keep one value ($first, $last, $min, $max) or all of them ($push, $addToSet,
 * $concatArrays, $setUnion).
 *
 * A list is stored as the elements of its array, with room for the length before and for the final NUL after them, so
 * that its value costs nothing. A set is a list with a hash table over it: equal by comparison, so that of 1 and 1.0
 * only the first is kept. */
#include "acc.h"

/* ---- one ---- */

static enum mrs_status
keep(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    if (v.n > s->ceiling) {
        return mrsi_acc_over(s, e);
    }
    MRS_TRY(mrsi_acc_reserve(s, v.n, e));
    mrs_buf_reset(&s->bytes);
    mrs_buf_byte(&s->bytes, v.type);
    mrs_buf_put(&s->bytes, v.p, v.n);
    s->any = true;
    return mrs_buf_status(&s->bytes, e);
}

static struct mrs_val
kept(const struct mrs_acc_state *s)
{
    return s->any ? (struct mrs_val){s->bytes.p + 1, (uint32_t)(s->bytes.n - 1), s->bytes.p[0]} : mrs_missing();
}

enum mrs_status
mrsi_acc_feed_one(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (s->any && s->x->kind->sense < 0) {
        return MRS_OK;
    }
    return keep(s, v.type == MRS_MISSING ? mrs_null() : v, e);
}

enum mrs_status
mrsi_acc_feed_extreme(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (mrsi_is_nullish(v)) {
        return MRS_OK;
    }
    int order = s->any ? mrs_compare(v, kept(s)) : s->x->kind->sense;
    return (order > 0) - (order < 0) == s->x->kind->sense ? keep(s, v, e) : MRS_OK;
}

enum mrs_status
mrsi_acc_value_one(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out)
{
    (void)ev;
    *out = s->any ? kept(s) : mrs_null();
    return MRS_OK;
}

void
mrsi_acc_save_one(const struct mrs_acc_state *s, struct mrs_build *b)
{
    mrs_build_val(b, "value", 5, kept(s));
}

enum mrs_status
mrsi_acc_load_one(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e)
{
    struct mrs_val v = mrs_doc_get(saved, "value");
    return v.type == MRS_MISSING ? MRS_OK : keep(s, v, e);
}

/* ---- all ---- */

static enum mrs_status
append(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(s->n <= s->cap);
    char name[12];
    uint32_t len = mrs_index_name(name, (uint32_t)s->seq);
    size_t more = (s->bytes.n ? 0 : 4) + 2u + len + v.n;
    if (v.n > s->ceiling || s->bytes.n + more + 1 > s->ceiling) {
        return mrsi_acc_over(s, e);
    }
    MRS_TRY(mrsi_acc_reserve(s, s->bytes.n + more, e));
    mrs_buf_grow(&s->bytes, more + 1);
    if (s->bytes.bad) {
        return mrs_buf_status(&s->bytes, e);
    }
    if (!s->bytes.n) {
        mrs_buf_put(&s->bytes, "\0\0\0", 4);
    }
    mrs_buf_byte(&s->bytes, v.type);
    mrs_buf_put(&s->bytes, name, len + 1);
    mrs_buf_put(&s->bytes, v.p, v.n);
    s->seq++;
    return MRS_OK;
}

enum mrs_status
mrsi_acc_feed_list(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    return v.type == MRS_MISSING ? MRS_OK : append(s, v, e);
}

enum mrs_status
mrsi_acc_value_list(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out)
{
    uint8_t *p = s->bytes.p; /* append() made room for bytes[n] */
    (void)ev;
    *out = (struct mrs_val){mrs_empty_bytes, 5, MRS_ARRAY};
    if (s->bytes.n) {
        p[s->bytes.n] = 0;
        mrs_put32(p, (uint32_t)s->bytes.n + 1);
        *out = (struct mrs_val){p, (uint32_t)s->bytes.n + 1, MRS_ARRAY};
    }
    return MRS_OK;
}

void
mrsi_acc_save_list(const struct mrs_acc_state *s, struct mrs_build *b)
{
    struct mrs_val v;
    mrsi_acc_value_list(s, NULL, &v);
    mrs_build_val(b, "values", 6, v);
}

static enum mrs_status
each(struct mrs_acc_state *s, struct mrs_val array, struct mrs_err *e,
     enum mrs_status (*fn)(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e))
{
    MRS_ASSERT(array.type == MRS_ARRAY);
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, mrs_val_view(array));
    while (mrs_walk_next(&w, &el) == 1) {
        MRS_TRY(fn(s, el.v, e));
    }
    return MRS_OK;
}

enum mrs_status
mrsi_acc_load_list(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e)
{
    struct mrs_val v = mrs_doc_get(saved, "values");
    return v.type == MRS_ARRAY ? each(s, v, e, append) : mrsi_acc_damaged(s, e);
}

static enum mrs_status
each_of_array(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e,
              enum mrs_status (*fn)(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e))
{
    if (v.type == MRS_MISSING) {
        return MRS_OK;
    }
    if (v.type != MRS_ARRAY) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_EXPR, "%s: takes arrays, not %s", s->x->kind->row.name,
                           mrs_type_name(v.type));
    }
    return each(s, v, e, fn);
}

enum mrs_status
mrsi_acc_feed_concat(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    return each_of_array(s, v, e, append);
}

/* ---- without duplicates ---- */

static bool
same_value(const struct mrs_acc_state *s, uint32_t at, const void *arg)
{
    const struct mrs_val *v = arg;
    return mrs_compare(mrsi_acc_item_value(s, &s->item[at]), *v) == 0;
}

static enum mrs_status
append_new(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    mrs_buf_reset(&s->other);
    mrs_key_append(&s->other, v, false);
    MRS_TRY(mrs_buf_status(&s->other, e));
    uint64_t hash = mrs_hash(s->other.p, s->other.n, 0).lo;
    if (mrsi_acc_hash_find(s, hash, same_value, &v) < s->n) {
        return MRS_OK;
    }
    MRS_TRY(mrsi_acc_room(s, e));
    MRS_TRY(append(s, v, e));
    s->item[s->n] = (struct mrsi_acc_item){
        .off = (uint32_t)(s->bytes.n - v.n), .n = v.n, .type = v.type, .seq = hash};
    return mrsi_acc_hash_add(s, s->n++, e);
}

enum mrs_status
mrsi_acc_feed_set(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    return v.type == MRS_MISSING ? MRS_OK : append_new(s, v, e);
}

enum mrs_status
mrsi_acc_value_set(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out)
{
    return mrsi_acc_value_list(s, ev, out);
}

void
mrsi_acc_save_set(const struct mrs_acc_state *s, struct mrs_build *b)
{
    mrsi_acc_save_list(s, b);
}

enum mrs_status
mrsi_acc_load_set(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e)
{
    struct mrs_val v = mrs_doc_get(saved, "values");
    return v.type == MRS_ARRAY ? each(s, v, e, append_new) : mrsi_acc_damaged(s, e);
}

enum mrs_status
mrsi_acc_feed_union(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    return each_of_array(s, v, e, append_new);
}

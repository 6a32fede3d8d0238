/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_group.c - the key that a document shares with others, and the values computed from a group. */
#include "rekey.h"
#include "steps/kit/keys.h"

/* ---- keys ---- */
static void
mark_empty(struct mrs_ctx *c, struct mrs_val v)
{
    c->remarks |= mrsi_step_is_empty(v) ? 2 : 0;
}

static enum mrs_status
evaluate(const struct mrsi_rekey *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_val *val, bool *whole)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_eval ev = mrsi_step_eval(c, doc);
    *whole = true;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        enum mrs_status st = mrs_expr_eval(s->part[i], &ev, &val[i]);
        if (st != MRS_OK) {
            return mrsi_step_skip(c, st, "merge.by");
        }
        *whole = *whole && !mrs_is_nullish(val[i]);
    }
    for (uint32_t i = 0; *whole && i < s->n_parts; i++) {
        if (val[i].type == MRS_ARRAY && !s->any[i]) {
            return s->part_name[i] ? mrsi_step_refuse(c, "merge.by", "%s is an array", s->part_name[i])
                                   : mrsi_step_refuse(c, "merge.by", "the key is an array");
        }
        mark_empty(c, val[i]);
    }
    return MRS_OK;
}

/* The key with one element of part i instead of its array; other parts unchanged. */
static enum mrs_status
add_element(const struct mrsi_rekey *s, struct mrs_ctx *c, struct mrs_val *tuple, uint32_t i, struct mrs_val element,
            struct mrs_keys *out)
{
    if (mrs_is_nullish(element)) {
        return MRS_OK;
    }
    mark_empty(c, element);
    tuple[i] = element;
    return mrsi_step_skip(c, mrsi_keys_add_tuple(out, (uint16_t)(i + 1), 0, tuple, s->n_parts, c->err), "merge.by");
}

/* The key of an element has no other parts of `any`. */
static enum mrs_status
add_elements(const struct mrsi_rekey *s, struct mrs_ctx *c, const struct mrs_val *val, uint32_t i,
             struct mrs_val *tuple, struct mrs_keys *out)
{
    MRS_ASSERT(i < s->n_parts);
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status st = MRS_OK;
    for (uint32_t k = 0; k < s->n_parts; k++) {
        tuple[k] = s->any[k] ? mrs_missing() : val[k];
    }
    if (val[i].type != MRS_ARRAY) {
        return add_element(s, c, tuple, i, val[i], out);
    }
    for (mrs_walk_init(&w, mrs_val_view(val[i])); st == MRS_OK && mrs_walk_next(&w, &el) == 1;) {
        st = add_element(s, c, tuple, i, el.v, out);
    }
    return st;
}

enum mrs_status
mrsi_rekey_keys(const struct mrsi_rekey *s, struct mrs_ctx *c, struct mrs_view doc, struct mrs_keys *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    bool whole;
    struct mrs_val *val = mrs_arena_alloc(c->arena, 2 * s->n_parts * sizeof *val);
    MRS_TRY(mrs_allocated(val, 2 * s->n_parts * sizeof *val, c->err));
    enum mrs_status st = evaluate(s, c, doc, val, &whole);
    if (st != MRS_OK || !whole) {
        return st;
    }
    if (!s->n_any) {
        return mrsi_step_skip(c, mrsi_keys_add_tuple(out, 0, 0, val, s->n_parts, c->err), "merge.by");
    }
    for (uint32_t i = 0; st == MRS_OK && i < s->n_parts; i++) {
        st = s->any[i] ? add_elements(s, c, val, i, val + s->n_parts, out) : MRS_OK;
    }
    return st;
}

/* ---- values ---- */
static enum mrs_status
make_states(const struct mrsi_rekey *s, struct mrs_ctx *c, struct rekey_work *w)
{
    MRS_ASSERT(s->n_fields == 0 || s->acc);
    enum mrs_status st = MRS_OK;
    w->shared = (struct mrs_acc_shared){0, 2u * MRS_DOC_READ_MAX};
    w->acc = mrs_zalloc(c->mem, (s->n_fields + 1) * sizeof *w->acc);
    MRS_TRY(mrs_allocated(w->acc, (s->n_fields + 1) * sizeof *w->acc, c->err));
    for (uint32_t i = 0; st == MRS_OK && i < s->n_fields; i++) {
        st = mrs_acc_state_new(s->acc[i], c->mem, REKEY_BUF_MAX, &w->acc[i], c->err);
        if (st == MRS_OK) {
            mrs_acc_share(w->acc[i], &w->shared);
        }
    }
    return st;
}

enum mrs_status
mrsi_rekey_group_begin(const void *state, struct mrs_ctx *c, void *work)
{
    const struct mrsi_rekey *s = state;
    struct rekey_work *w = work;
    mrsi_rekey_work_begin(w, c);
    enum mrs_status st = w->acc ? MRS_OK : make_states(s, c, w);
    for (uint32_t i = 0; st == MRS_OK && i < s->n_fields; i++) {
        mrs_acc_reset(w->acc[i]);
    }
    return st;
}

static enum mrs_status
failed(const struct mrsi_rekey *s, struct mrs_ctx *c, enum mrs_status st, uint32_t i)
{
    return mrsi_step_skip_in(c, st, "merge.fields", s->field[i].text);
}

enum mrs_status
mrsi_rekey_group_add(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_rekey *s = state;
    struct rekey_work *w = work;
    struct mrs_eval ev = mrsi_step_eval(c, doc);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < s->n_fields; i++) {
        struct mrs_val v;
        st = mrs_acc_argument(s->acc[i], &ev, &v);
        MRS_THEN(st, mrs_acc_feed(w->acc[i], v, c->err));
        st = failed(s, c, st, i);
    }
    return st;
}

enum mrs_status
mrsi_rekey_group_end(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const struct mrsi_rekey *s = state;
    struct rekey_work *w = work;
    enum mrs_status st = MRS_OK;
    size_t start = mrsi_put_open(out);
    for (uint32_t i = 0; st == MRS_OK && i < s->n_fields; i++) {
        struct mrs_val v;
        st = failed(s, c, mrs_acc_value(w->acc[i], c->arena, &v, c->err), i);
        if (st == MRS_OK) {
            mrsi_put_elem(out, s->field[i].text, (uint32_t)strlen(s->field[i].text), v);
        }
    }
    mrsi_put_close(out, start);
    MRS_THEN(st, mrsi_buf_end(out, start, c, "merge.fields"));
    return st;
}

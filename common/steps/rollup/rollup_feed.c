/* SPDX-License-Identifier: Apache-2.0 */
/* rollup_feed.c - the arguments that documents pass to the accumulators, and the resulting values.
 *
 * The arguments of a document are contiguous values: a type byte and the bytes for each field whose argument is neither
 * constant nor that of an earlier field; an argument that failed is replaced by its error message. So little data is
 * moved, for documents of any size. This file does not know where values are written. */
#include "rollup.h"
#include "mongoreshape/context.h"

enum mrs_status
mrsi_rollup_start(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w)
{
    MRS_ASSERT(w);
    if (w->ready) {
        return MRS_OK;
    }
    mrs_buf_init(&w->key, c->mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&w->value, c->mem, ROLLUP_BUF_MAX);
    mrs_buf_init(&w->raw, c->mem, ROLLUP_BUF_MAX);
    mrs_buf_init(&w->doc, c->mem, ROLLUP_BUF_MAX);
    w->shared = (struct mrs_acc_shared){0, 2u * MRS_DOC_READ_MAX};
    w->ready = true;
    w->failed = mrs_zalloc(c->mem, s->n);
    w->silent = mrs_zalloc(c->mem, s->n);
    w->arg = mrs_zalloc(c->mem, s->n * sizeof *w->arg);
    w->args = mrs_zalloc(c->mem, (s->n_small + 1) * sizeof *w->args);
    struct mrs_acc_state **state = mrs_zalloc(c->mem, (s->n + 1) * sizeof *state);
    enum mrs_status st = w->failed && w->silent && w->arg && w->args && state ? MRS_OK : mrs_err_memory(c->err, s->n);
    w->state = state; /* terminated by NULL */
    for (uint32_t i = 0; st == MRS_OK && i < s->n; i++) {
        st = mrs_acc_state_new(s->acc[i], c->mem, ROLLUP_BUF_MAX, &w->state[i], c->err);
        if (st == MRS_OK) {
            mrs_acc_share(w->state[i], &w->shared);
        }
    }
    if (st != MRS_OK) {
        mrsi_rollup_work_clear(c, w);
    }
    return st;
}

void
mrsi_rollup_work_clear(struct mrs_ctx *c, void *work)
{
    struct rollup_work *w = work;
    mrs_free(c->mem, w->known);
    w->known = NULL;
    if (!w->ready) {
        return;
    }
    for (uint32_t i = 0; w->state && w->state[i]; i++) {
        mrs_acc_state_free(w->state[i]);
    }
    mrs_free(c->mem, w->state);
    mrs_free(c->mem, w->failed);
    mrs_free(c->mem, w->silent);
    mrs_free(c->mem, w->arg);
    mrs_free(c->mem, w->args);
    mrs_buf_clear(&w->key);
    mrs_buf_clear(&w->value);
    mrs_buf_clear(&w->raw);
    mrs_buf_clear(&w->doc);
    w->state = NULL;
    w->failed = w->silent = NULL;
    w->arg = NULL;
    w->args = NULL;
    w->ready = false;
}

enum mrs_status
mrsi_rollup_arguments(const struct mrsi_rollup *s, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_buf *out)
{
    for (uint32_t i = 0; i < s->n_stores && !out->bad; i++) {
        struct mrs_val v;
        enum mrs_status st = mrs_acc_argument(s->acc[s->stored[i]], ev, &v);
        if (st == MRS_OK) {
            mrsi_total_remark(c, i, s->total[i] < s->n ? s->acc[s->total[i]] : NULL, v);
            mrsi_put_value(out, v);
            continue;
        }
        if (st == MRS_DEAD || (!s->by && s->errors == MRSI_ERRORS_REFUSE)) {
            return mrsi_step_skip(c, st, "fields");
        }
        mrsi_put_reason(out, c->err->msg);
        mrs_err_clear(c->err);
    }
    return MRS_OK;
}

void
mrsi_rollup_reset(const struct mrsi_rollup *s, struct rollup_work *w)
{
    MRS_ASSERT(w->ready);
    for (uint32_t i = 0; i < s->n; i++) {
        mrs_acc_reset(w->state[i]);
        w->failed[i] = false;
    }
}

/* A field got no argument (why: a message), or could not use it. */
static enum mrs_status
fail(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, uint32_t i, const struct mrs_val *why)
{
    uint32_t n;
    if (s->errors != MRSI_ERRORS_REFUSE) {
        mrs_err_clear(c->err);
        w->failed[i] = true;
        return MRS_OK;
    }
    return why ? mrsi_step_refuse(c, "fields", "%s", mrs_val_text(*why, &n)) : mrsi_step_skip(c, MRS_FAIL, "fields");
}

static enum mrs_status
feed_one(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, uint32_t i,
         const struct mrsi_group_value *arg)
{
    MRS_ASSERT(i < s->n);
    if (w->failed[i]) {
        return MRS_OK;
    }
    if (arg->bad) {
        return fail(s, c, w, i, &arg->v);
    }
    enum mrs_status st = mrs_acc_feed(w->state[i], arg->v, c->err);
    if (st == MRS_FAIL && c->err->code == MRS_E_LIMIT) {
        return mrsi_step_skip(c, st, "oversize");
    }
    return st == MRS_FAIL ? fail(s, c, w, i, NULL) : st;
}

enum mrs_status
mrsi_rollup_feed(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, const uint8_t *at,
                 const uint8_t *end)
{
    MRS_ASSERT(w->ready && at <= end);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < s->n; i++) {
        struct mrsi_group_value *arg = &w->arg[i];
        if (s->fixed[i].type != MRS_MISSING) {
            *arg = (struct mrsi_group_value){s->fixed[i], false};
        } else if (s->same[i] != i) {
            *arg = w->arg[s->same[i]];
        } else {
            *arg = mrsi_get_group_value(&at, end);
        }
        st = feed_one(s, c, w, i, arg);
    }
    return st;
}

static void
reset_small(const struct mrsi_rollup *s, uint8_t *small)
{
    for (uint32_t i = 0; i < s->n_small; small += s->small[i++].size) {
        mrs_acc_small_reset(s->small_acc[i], small);
    }
}

enum mrs_status
mrsi_rollup_feed_small(const struct mrsi_rollup *s, struct rollup_work *w, uint8_t *small, bool first,
                       const uint8_t *at, const uint8_t *end)
{
    MRS_ASSERT(small && at <= end);
    for (uint32_t i = 0; i < s->n_small; i++) {
        const struct rollup_small *x = &s->small[i];
        if (x->same != i) {
            w->args[i] = w->args[x->same];
        } else if (x->fixed) {
            w->args[i] = s->fixed[x->field];
        } else if (*at == MRSI_GROUP_VALUE_BAD) {
            return MRS_SKIP;
        } else {
            w->args[i] = mrsi_get_value(&at, end);
        }
    }
    if (first) {
        reset_small(s, small);
    }
    return mrs_acc_small_feed(s->small_acc, s->n_small, small, w->args) ? MRS_OK : MRS_SKIP;
}

enum mrs_status
mrsi_rollup_take_up(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, const uint8_t *small,
                    uint64_t n)
{
    MRS_ASSERT(small && n > 0);
    enum mrs_status st = MRS_OK;
    mrsi_rollup_reset(s, w);
    for (uint32_t i = 0; st == MRS_OK && i < s->n; i++) {
        st = s->counted[i] ? mrs_acc_feed_times(w->state[i], n, c->err) : MRS_OK;
    }
    for (uint32_t i = 0; st == MRS_OK && i < s->n_small; small += s->small[i++].size) {
        st = mrs_acc_from_small(w->state[s->small[i].field], small, c->err);
    }
    return st == MRS_FAIL ? MRS_SKIP : st;
}

enum mrs_status
mrsi_rollup_value(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, uint32_t i,
                  struct mrs_val *out)
{
    MRS_ASSERT(i < s->n && w->ready);
    if (w->failed[i]) {
        mrsi_step_eased(c, i);
        *out = s->errors == MRSI_ERRORS_NULL ? mrs_null() : mrs_missing();
        return MRS_OK;
    }
    return mrsi_step_skip(c, mrs_acc_value(w->state[i], c->arena, out, c->err), "oversize");
}

static enum mrs_status
put_fields(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, struct mrs_buf *out)
{
    MRS_ASSERT(w->ready);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < s->n; i++) {
        struct mrs_val v;
        st = mrsi_rollup_value(s, c, w, i, &v);
        if (st == MRS_OK && v.type != MRS_MISSING) {
            mrsi_put_elem(out, s->path[i].part[0].name, s->path[i].part[0].len, v);
        }
    }
    return st;
}

enum mrs_status
mrsi_rollup_put_flat(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    if (!s->as.n) {
        return put_fields(s, c, w, out);
    }
    mrsi_put_head(out, MRS_DOCUMENT, s->as.part[0].name, s->as.part[0].len);
    size_t at = mrsi_put_open(out);
    enum mrs_status st = put_fields(s, c, w, out);
    mrsi_put_close(out, at);
    return st;
}

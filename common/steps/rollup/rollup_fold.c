/* SPDX-License-Identifier: Apache-2.0 */
/* rollup_fold.c - rollup with `by`: each group of documents becomes one document {_id: key, fields}.
 *
 * Keys are grouped by comparison, as in `$group`: 1 and 1.0 are one group, and the `_id` is the key of the first
 * document in the order of the group. So the shared record of a document is its key, as a value. */
#include "rollup.h"
#include "mongoreshape/value.h"
#include "mongoreshape/fold_ops.h"

static struct mrs_val
key_of(struct mrs_view shared)
{
    const uint8_t *at = shared.p;
    return mrsi_get_value(&at, shared.p + shared.n);
}

/* The key as a value, which becomes an `_id`. */
static enum mrs_status
put_key(const struct mrsi_rollup *s, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_buf *shared)
{
    enum mrs_status st = mrsi_by_put(&s->group, c, ev, shared);
    struct mrs_val key = st == MRS_OK ? key_of(mrsi_buf_view(shared, 0)) : mrs_null();
    const char *fault = mrsi_step_id_fault(key);
    return !fault ? st
                  : mrsi_step_refuse(c, "by", "the key is %s, which no server takes as an _id%s", fault,
                                     key.type == MRS_ARRAY ? ": `extract` before it makes a document of each element"
                                                           : "");
}

static enum mrs_status
enter(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_fold_entry *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_rollup *s = state;
    struct rollup_work *w = work;
    struct mrs_eval ev = mrsi_step_eval(c, doc);
    struct mrs_eval_fields room;
    enum mrs_status st = mrsi_step_where(s->join.where, c, doc, &out->takes_part);
    if (st != MRS_OK || !out->takes_part || mrsi_rollup_known(w, c, doc, out)) {
        return st;
    }
    mrsi_step_fields(c, &ev, &room);
    st = put_key(s, c, &ev, &out->shared);
    if (st == MRS_OK && s->sort) {
        st = mrsi_step_sort_key(c, s->sort, doc, &out->order, "sort");
    }
    MRS_THEN(st, mrsi_rollup_arguments(s, c, &ev, &out->payload));
    MRS_THEN(st, mrsi_step_skip(c, mrs_buf_status(&out->payload, c->err), "fields"));
    if (st == MRS_OK && s->plain) {
        mrsi_rollup_learn(s, w, c, doc, out);
    }
    return st;
}

static enum mrs_status
group(const void *state, struct mrs_ctx *c, void *work, struct mrs_view shared, struct mrs_buf *out)
{
    (void)work;
    return mrsi_by_group(&((const struct mrsi_rollup *)state)->group, c, key_of(shared), out);
}

static enum mrs_status
place(const void *state, struct mrs_ctx *c, struct mrs_view shared, struct mrs_buf *out)
{
    return mrsi_by_place(&((const struct mrsi_rollup *)state)->group, c, key_of(shared), out);
}

/* {_id: key} in w->key. */
static enum mrs_status
begin(struct mrs_ctx *c, struct rollup_work *w, struct mrs_val key)
{
    mrs_buf_reset(&w->key);
    size_t at = mrsi_put_open(&w->key);
    mrsi_put_elem(&w->key, "_id", 3, key);
    mrsi_put_close(&w->key, at);
    return mrsi_step_skip(c, mrs_buf_status(&w->key, c->err), "by");
}

/* The key and the accumulators. On load all is validated except values. */
static enum mrs_status
save(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const struct mrsi_rollup *s = state;
    const struct rollup_work *w = work;
    enum mrs_status st = MRS_OK;
    mrs_buf_put(out, w->key.p, w->key.n);
    for (uint32_t i = 0; st == MRS_OK && i < s->n; i++) {
        st = mrsi_step_put_acc(w->state[i], w->failed[i], out, c->err);
    }
    return st == MRS_OK ? mrs_buf_status(out, c->err) : st;
}

static enum mrs_status
take_back(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, struct mrs_view from)
{
    struct mrs_val key = mrs_doc_get(mrsi_step_get_doc(&from), "_id");
    enum mrs_status st = mrsi_step_id_fault(key) ? mrsi_step_damaged(c->err) : begin(c, w, key);
    for (uint32_t i = 0; st == MRS_OK && i < s->n; i++) {
        st = mrsi_step_get_acc(w->state[i], &w->failed[i], &from, c->err);
    }
    return st == MRS_OK && from.n ? mrsi_step_damaged(c->err) : st;
}

static enum mrs_status
fold(const void *state, struct mrs_ctx *c, void *work, struct mrs_members *m, const struct mrs_fold_put *put)
{
    const struct mrsi_rollup *s = state;
    struct rollup_work *w = work;
    struct mrs_view payload;
    bool blocked, any = m->from.n > 0;
    enum mrs_status st = mrsi_rollup_start(s, c, w);
    if (st != MRS_OK) {
        return st;
    }
    mrsi_rollup_reset(s, w);
    if (any && (st = take_back(s, c, w, m->from)) != MRS_OK) {
        return st;
    }
    while ((st = m->next(m, &payload, c->err)) == MRS_OK) {
        st = any ? MRS_OK : begin(c, w, key_of(m->shared));
        MRS_THEN(st, mrsi_rollup_feed(s, c, w, payload.p, payload.p + payload.n));
        if (st != MRS_OK) {
            return st;
        }
        any = true;
    }
    if (st != MRS_END || !any) {
        return st == MRS_END ? MRS_OK : st;
    }
    mrs_buf_reset(&w->doc);
    st = mrsi_rollup_write(s, c, w, mrsi_buf_view(&w->key, 0), true, &w->doc, &blocked);
    return st == MRS_OK ? put->put(put->arg, mrsi_buf_view(&w->doc, 0), false, c->err) : st;
}

/* ---- groups that are updated while documents are read ---- */
static size_t
small_size(const void *state)
{
    const struct mrsi_rollup *s = state;
    return s->small ? s->small_size : 0;
}

static enum mrs_status
small_feed(const void *state, struct mrs_ctx *c, void *work, uint8_t *small, bool first, struct mrs_view payload)
{
    const struct mrsi_rollup *s = state;
    struct rollup_work *w = work;
    enum mrs_status st = mrsi_rollup_start(s, c, w);
    return st == MRS_OK ? mrsi_rollup_feed_small(s, w, small, first, payload.p, payload.p + payload.n) : st;
}

static enum mrs_status
small_end(const void *state, struct mrs_ctx *c, void *work, const struct mrs_fold_small *small,
          const struct mrs_fold_put *put)
{
    const struct mrsi_rollup *s = state;
    struct rollup_work *w = work;
    bool blocked;
    MRS_TRY(mrsi_rollup_start(s, c, w));
    MRS_TRY(mrsi_rollup_take_up(s, c, w, small->state, small->n));
    MRS_TRY(begin(c, w, key_of(small->shared)));
    mrs_buf_reset(&w->doc);
    enum mrs_status st = mrsi_rollup_write(s, c, w, mrsi_buf_view(&w->key, 0), true, &w->doc, &blocked);
    return st == MRS_OK ? put->put(put->arg, mrsi_buf_view(&w->doc, 0), false, c->err) : st;
}

const struct mrs_fold_ops mrsi_rollup_fold_ops = {.enter = enter, .fold = fold, .save = save, .group = group,
    .place = place, .small_size = small_size, .small_feed = small_feed, .small_end = small_end};

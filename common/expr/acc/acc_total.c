/* SPDX-License-Identifier: Apache-2.0 */
/* acc_total.c - accumulators that keep numbers only: $sum, $avg, $count, $stdDevPop, $stdDevSamp.
 *
 * All numbers of the state are saved, so that a resumed sum is the same to the last bit. */
#include "acc.h"

/* ---- $sum, $avg ---- */

enum mrs_status
mrsi_acc_feed_sum(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    (void)e;
    mrsi_total_add(&s->u.total, v);
    return MRS_OK;
}

enum mrs_status
mrsi_acc_value_sum(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out)
{
    return mrsi_total_sum(&s->u.total, ev, out);
}

enum mrs_status
mrsi_acc_value_average(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out)
{
    return mrsi_total_average(&s->u.total, true, ev, out);
}

void
mrsi_acc_save_sum(const struct mrs_acc_state *s, struct mrs_build *b)
{
    const struct mrsi_total *t = &s->u.total;
    uint8_t dec[16];
    mrsi_dec_store(dec, t->dec);
    mrs_build_i32(b, "type", t->type);
    mrs_build_i64(b, "count", (int64_t)t->count);
    mrs_build_double(b, "total", t->total);
    mrs_build_double(b, "error", t->error);
    mrs_build_double(b, "naive", t->naive);
    mrs_build_val(b, "decimal", 7, (struct mrs_val){dec, 16, MRS_DECIMAL128});
}

enum mrs_status
mrsi_acc_load_sum(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    struct mrsi_total *t = &s->u.total;
    struct mrs_val type = mrs_doc_get(saved, "type"), count = mrs_doc_get(saved, "count");
    struct mrs_val total = mrs_doc_get(saved, "total"), error = mrs_doc_get(saved, "error");
    struct mrs_val naive = mrs_doc_get(saved, "naive"), dec = mrs_doc_get(saved, "decimal");
    if (type.type != MRS_INT32 || count.type != MRS_INT64 || total.type != MRS_DOUBLE || error.type != MRS_DOUBLE ||
        naive.type != MRS_DOUBLE || dec.type != MRS_DECIMAL128) {
        return mrsi_acc_damaged(s, e);
    }
    struct mrs_val widest = {NULL, 0, (uint8_t)mrs_val_i32(type)};
    if (!mrs_is_number(widest)) {
        return mrsi_acc_damaged(s, e);
    }
    *t = (struct mrsi_total){.type = widest.type,
                             .count = (uint64_t)mrs_val_i64(count),
                             .total = mrs_val_double(total),
                             .error = mrs_val_double(error),
                             .naive = mrs_val_double(naive),
                             .dec = mrsi_dec_load(dec.p)};
    return MRS_OK;
}

/* ---- $count ---- */

enum mrs_status
mrsi_acc_feed_count(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    (void)v;
    (void)e;
    s->seq++;
    return MRS_OK;
}

enum mrs_status
mrsi_acc_value_count(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out)
{
    return mrsi_ret_count(ev, (int64_t)s->seq, out);
}

void
mrsi_acc_save_count(const struct mrs_acc_state *s, struct mrs_build *b)
{
    mrs_build_i64(b, "count", (int64_t)s->seq);
}

enum mrs_status
mrsi_acc_load_count(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    struct mrs_val count = mrs_doc_get(saved, "count");
    if (count.type != MRS_INT64 || mrs_val_i64(count) < 0) {
        return mrsi_acc_damaged(s, e);
    }
    s->seq = (uint64_t)mrs_val_i64(count);
    return MRS_OK;
}

/* ---- standard deviation ---- */

enum mrs_status
mrsi_acc_feed_spread(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    (void)e;
    mrsi_spread_add(&s->u.spread, v);
    return MRS_OK;
}

enum mrs_status
mrsi_acc_value_spread(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out)
{
    return mrsi_spread_value(&s->u.spread, s->x->kind->sense > 0 ? 0 : 1, ev, out);
}

void
mrsi_acc_save_spread(const struct mrs_acc_state *s, struct mrs_build *b)
{
    mrs_build_i64(b, "count", (int64_t)s->u.spread.count);
    mrs_build_double(b, "mean", s->u.spread.mean);
    mrs_build_double(b, "squares", s->u.spread.squares);
}

enum mrs_status
mrsi_acc_load_spread(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    struct mrs_val count = mrs_doc_get(saved, "count"), mean = mrs_doc_get(saved, "mean");
    struct mrs_val squares = mrs_doc_get(saved, "squares");
    if (count.type != MRS_INT64 || mrs_val_i64(count) < 0 || mean.type != MRS_DOUBLE || squares.type != MRS_DOUBLE) {
        return mrsi_acc_damaged(s, e);
    }
    s->u.spread = (struct mrsi_spread){(uint64_t)mrs_val_i64(count), mrs_val_double(mean), mrs_val_double(squares)};
    return MRS_OK;
}

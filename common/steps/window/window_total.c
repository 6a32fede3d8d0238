/* SPDX-License-Identifier: Apache-2.0 */
/* window_total.c - operators over all documents of a window: accumulators, $derivative, $integral.
 *
 * Values are never subtracted from a total, so the result is exactly, to the last bit, that of these documents in their
 * order. A growing window is fed only new members; a sliding one is fed anew. */
#include "window.h"
#include "mongoreshape/value.h"

static enum mrs_status
fails(const struct window_now *now, const struct window_state *st)
{
    return mrsi_window_fails(now, st->why, st->large);
}

static void
keep_text(struct window_state *st, struct mrs_val text)
{
    uint32_t n;
    const char *why = mrs_val_text(text, &n);
    mrsi_window_keep_why(st, why, n);
}

/* A failure of feeding or computing stays with the window. DEAD stays. */
static enum mrs_status
keep_error(const struct window_now *now, struct window_state *st, enum mrs_status s)
{
    if (s == MRS_FAIL) {
        mrsi_window_keep_why(st, now->c->err->msg, (uint32_t)strlen(now->c->err->msg));
        st->large = now->c->err->code == MRS_E_LIMIT;
        mrs_err_clear(now->c->err);
        return MRS_OK;
    }
    return s;
}

/* The window of the current member, of which members from .. to - 1 (may be none) are fed already. */
static enum mrs_status
begin(const struct window_now *now, const struct window_op *op, struct window_state *st)
{
    enum mrs_status s = mrsi_window_span(now, op, st);
    if (s == MRS_OK && (st->lo != st->from || st->hi < st->to)) {
        mrs_acc_reset(st->acc);
        st->from = st->to = st->lo;
        st->any = st->nan = st->large = false;
        st->why[0] = 0;
    }
    return s;
}

/* ---- accumulators ---- */
static enum mrs_status
feed(const struct window_now *now, const struct window_op *op, struct window_state *st)
{
    struct mrsi_group_value b = mrsi_window_group_value(now, st->to, op->arg);
    if (b.bad) {
        keep_text(st, b.v);
        return MRS_OK;
    }
    return keep_error(now, st, mrs_acc_feed(st->acc, b.v, now->c->err));
}

enum mrs_status
mrsi_window_acc(const struct window_now *now, const struct window_op *op, struct window_state *st,
                struct mrs_val *out)
{
    MRS_ASSERT(now->i < now->g->n);
    enum mrs_status s = begin(now, op, st);
    for (; s == MRS_OK && st->to < st->hi; st->to++) {
        if (!st->why[0] && mrsi_window_in_frame(now, &op->frame, st->to)) {
            s = feed(now, op, st);
        }
    }
    if (s != MRS_OK || st->why[0]) {
        return s == MRS_OK ? fails(now, st) : s;
    }
    s = mrs_acc_value(st->acc, now->c->arena, out, now->c->err);
    if (s == MRS_FAIL) {
        now->c->err->code = MRS_E_LIMIT;
    }
    return s;
}

/* ---- points: a sort key and a value ---- */
struct window_total_point {
    struct mrs_val x, y;
};

/* The point of member i. FAIL: invalid key or value. */
static enum mrs_status
point(const struct window_now *now, const struct window_op *op, uint64_t i, struct window_total_point *out)
{
    MRS_ASSERT(i < now->g->n);
    struct mrsi_group_value y = mrsi_window_group_value(now, i, op->arg);
    uint32_t n;
    out->x = mrsi_window_group_value(now, i, now->s->x).v;
    out->y = y.v;
    if (y.bad) {
        return mrsi_window_fails(now, mrs_val_text(y.v, &n), false);
    }
    if (!mrs_is_number(y.v)) {
        return mrs_err_set(now->c->err, MRS_FAIL, MRS_E_EXPR, "%s takes numbers, not %s", op->name,
                           mrs_type_name(y.v.type));
    }
    return mrsi_window_key_ok(op->dates, out->x)
               ? MRS_OK
               : mrs_err_set(now->c->err, MRS_FAIL, MRS_E_EXPR, "%s: %s is %s, not a %s", op->name, now->s->sort_path,
                             mrs_type_name(out->x.type), op->dates ? "date" : "number (give `unit` for dates)");
}

/* ---- $derivative ---- */
/* Checks the new members of the window; st->before is the last member whose argument failed, st->behind the last one
 * checked. FAIL: a failed one is in the window. */
static enum mrs_status
check_members(const struct window_now *now, const struct window_op *op, struct window_state *st)
{
    MRS_ASSERT(st->lo <= st->hi);
    if (st->hi < st->to) {
        st->to = st->before = st->behind = 0;
    }
    for (; st->to < st->hi; st->to++) {
        struct mrsi_group_value b = mrsi_window_group_value(now, st->to, op->arg);
        bool in_frame = mrsi_window_in_frame(now, &op->frame, st->to);
        st->behind = in_frame ? st->to + 1 : st->behind;
        st->before = in_frame && b.bad ? st->to + 1 : st->before;
    }
    if (st->before <= st->lo) {
        return MRS_OK;
    }
    keep_text(st, mrsi_window_group_value(now, st->before - 1, op->arg).v);
    return fails(now, st);
}

enum mrs_status
mrsi_window_derivative(const struct window_now *now, const struct window_op *op, struct window_state *st,
                       struct mrs_val *out)
{
    MRS_ASSERT(now->i < now->g->n);
    struct window_total_point a, b;
    enum mrs_status s = mrsi_window_span(now, op, st);
    MRS_THEN(s, check_members(now, op, st));
    uint64_t first = st->lo;
    while (s == MRS_OK && first < st->hi && !mrsi_window_in_frame(now, &op->frame, first)) {
        first++;
    }
    if (s != MRS_OK || first >= st->hi) {
        return s;
    }
    s = point(now, op, first, &a);
    MRS_THEN(s, point(now, op, st->behind - 1, &b));
    if (s != MRS_OK || mrs_compare(a.x, b.x) == 0) {
        return s;
    }
    struct mrs_val v[WINDOW_VARS] = {[WINDOW_X1] = a.x, [WINDOW_Y1] = a.y, [WINDOW_X2] = b.x, [WINDOW_Y2] = b.y};
    s = mrsi_window_eval(now, WINDOW_F_RATE, v, out);
    if (s == MRS_OK && op->unit.type != MRS_MISSING) {
        struct mrs_val per[WINDOW_VARS] = {[WINDOW_X] = *out, [WINDOW_K] = op->unit};
        s = mrsi_window_eval(now, WINDOW_F_TIMES, per, out);
    }
    return s;
}

/* ---- $integral ---- */
static bool
is_nan(struct mrs_val v)
{
    static const uint8_t nan[8] = {0, 0, 0, 0, 0, 0, 0xf8, 0x7f};
    return mrs_is_number(v) && mrs_compare(v, (struct mrs_val){nan, 8, MRS_DOUBLE}) == 0;
}

/* The area between the current member and the one before it, st->before. */
static enum mrs_status
feed_area(const struct window_now *now, const struct window_op *op, struct window_state *st)
{
    MRS_ASSERT(st->lo <= st->hi);
    struct window_total_point a, b;
    struct mrs_val area;
    enum mrs_status s = point(now, op, st->to, &b);
    if (s == MRS_OK && st->any) {
        s = point(now, op, st->before, &a);
        struct mrs_val v[WINDOW_VARS] = {[WINDOW_X1] = a.x, [WINDOW_Y1] = a.y, [WINDOW_X2] = b.x, [WINDOW_Y2] = b.y};
        MRS_THEN(s, mrsi_window_eval(now, WINDOW_F_AREA, v, &area));
        MRS_THEN(s, mrs_acc_feed(st->acc, area, now->c->err));
    }
    if (s == MRS_OK) {
        st->nan = st->nan || is_nan(b.x) || is_nan(b.y);
        st->any = true;
        st->before = st->to;
    }
    return keep_error(now, st, s);
}

enum mrs_status
mrsi_window_integral(const struct window_now *now, const struct window_op *op, struct window_state *st,
                     struct mrs_val *out)
{
    MRS_ASSERT(now->i < now->g->n);
    enum mrs_status s = begin(now, op, st);
    for (; s == MRS_OK && st->to < st->hi; st->to++) {
        if (!st->why[0] && mrsi_window_in_frame(now, &op->frame, st->to)) {
            s = feed_area(now, op, st);
        }
    }
    if (s != MRS_OK || st->why[0]) {
        return s == MRS_OK ? fails(now, st) : s;
    }
    if (!st->any) {
        return MRS_OK;
    }
    if (st->nan) {
        *out = mrs_make_double(st->last, __builtin_nan(""));
        return MRS_OK;
    }
    s = mrs_acc_value(st->acc, now->c->arena, out, now->c->err);
    if (s == MRS_OK && op->unit.type != MRS_MISSING) {
        struct mrs_val per[WINDOW_VARS] = {[WINDOW_X] = *out, [WINDOW_K] = op->unit};
        s = mrsi_window_eval(now, WINDOW_F_OVER, per, out);
    }
    return s;
}

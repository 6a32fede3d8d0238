/* SPDX-License-Identifier: Apache-2.0 */
/* window_group.c - the results of each operator for the members of a complete group.
 *
 * Operators advance through the group together. Each has its state of the members so far, and reads others if needed. A
 * result is a value, or the reason why there is none. */
#include "window.h"
#include "mongoreshape/value.h"
#include "steps/kit/shape.h"

struct mrsi_group_value
mrsi_window_group_value(const struct window_now *now, uint64_t i, uint32_t no)
{
    MRS_ASSERT(i < now->g->n && no < now->s->n_arg);
    const struct window_arg *a = &now->s->arg[no];
    struct mrs_walk w;
    struct mrs_elem e = {.v = mrs_missing(), .name = WINDOW_ABSENT};
    if (a->fixed.type != MRS_MISSING) {
        return (struct mrsi_group_value){a->fixed, false};
    }
    mrs_walk_init(&w, now->g->at(now->g, i).payload);
    for (uint32_t k = 0; k <= a->place && mrs_walk_next(&w, &e) == 1; k++) {
    }
    bool bad = e.name[0] == *WINDOW_BAD && e.v.type == MRS_STRING;
    return (struct mrsi_group_value){e.name[0] == *WINDOW_ABSENT ? mrs_missing() : e.v, bad};
}

enum mrs_status
mrsi_window_eval(const struct window_now *now, enum window_formula f, const struct mrs_val v[WINDOW_VARS],
                 struct mrs_val *out)
{
    struct mrs_eval ev = {.arena = now->c->arena, .root = mrs_empty_doc(), .vars = v, .err = now->c->err};
    return mrs_expr_eval(now->s->formula[f], &ev, out);
}

enum mrs_status
mrsi_window_fails(const struct window_now *now, const char *why, bool large)
{
    MRS_ASSERT(why);
    return mrs_err_set(now->c->err, MRS_FAIL, large ? MRS_E_LIMIT : MRS_E_EXPR, "%s", why);
}

void
mrsi_window_keep_why(struct window_state *st, const char *why, uint32_t n)
{
    MRS_ASSERT(why || n == 0);
    n = n < sizeof st->why ? n : (uint32_t)sizeof st->why - 1;
    memcpy(st->why, why, n);
    st->why[n] = 0;
}

/* The reason why an argument has no value. */
static enum mrs_status
fails_by(const struct window_now *now, struct mrs_val text)
{
    uint32_t n;
    return mrsi_window_fails(now, mrs_val_text(text, &n), false);
}

/* ---- numbers ---- */
static bool
is_tied(const struct window_now *now)
{
    struct mrs_view a = now->g->at(now->g, now->i).order, b = now->i ? now->g->at(now->g, now->i - 1).order : a;
    return now->i && a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static struct mrs_val
rank(const struct window_now *now, const struct window_op *op, struct window_state *st)
{
    if (op->kind == WINDOW_NUMBER || (op->kind == WINDOW_RANK && !is_tied(now))) {
        st->rank = now->i + 1;
    } else if (op->kind == WINDOW_DENSE_RANK) {
        st->rank += !is_tied(now);
    }
    return mrs_make_count(st->last, st->rank);
}

/* ---- values of other members ---- */
static enum mrs_status
shift(const struct window_now *now, const struct window_op *op, struct mrs_val *out)
{
    uint64_t away = op->by < 0 ? 0 - (uint64_t)op->by : (uint64_t)op->by;
    *out = op->fallback;
    if (op->by < 0 ? away > now->i : away >= now->g->n - now->i) {
        return MRS_OK;
    }
    struct mrsi_group_value b = mrsi_window_group_value(now, op->by < 0 ? now->i - away : now->i + away, op->arg);
    *out = b.v;
    return b.bad ? fails_by(now, b.v) : MRS_OK;
}

/* The argument of the current member, for operators over all members so far: after a failure all later results fail. */
static enum mrs_status
next_argument(const struct window_now *now, const struct window_op *op, struct window_state *st, struct mrs_val *out)
{
    struct mrsi_group_value b = mrsi_window_group_value(now, now->i, op->arg);
    uint32_t n;
    *out = b.v;
    if (b.bad && !st->why[0]) {
        const char *why = mrs_val_text(b.v, &n);
        mrsi_window_keep_why(st, why, n);
    }
    return st->why[0] ? mrsi_window_fails(now, st->why, false) : MRS_OK;
}

static enum mrs_status
locf(const struct window_now *now, const struct window_op *op, struct window_state *st, struct mrs_val *out)
{
    MRS_ASSERT(now->i < now->g->n);
    struct mrs_val v;
    MRS_TRY(next_argument(now, op, st, &v));
    if (!mrs_is_nullish(v)) {
        st->before = now->i;
        st->any = true;
    }
    *out = st->any ? mrsi_window_group_value(now, st->before, op->arg).v : mrs_null();
    return MRS_OK;
}

/* The next average, from st->last and a number. */
static enum mrs_status
mix(const struct window_now *now, const struct window_op *op, struct window_state *st, struct mrs_val x)
{
    struct mrs_val next = x, last = {st->last, mrs_fixed_size[st->type], st->type};
    st->wide = st->wide || x.type == MRS_DECIMAL128;
    if (st->any) {
        struct mrs_val v[WINDOW_VARS] = {[WINDOW_X] = x, [WINDOW_K] = op->alpha, [WINDOW_X1] = last,
                                         [WINDOW_X2] = op->rest};
        MRS_TRY(mrsi_window_eval(now, WINDOW_F_MIX, v, &next));
    }
    st->any = true;
    st->type = next.type;
    memcpy(st->last, next.p, next.n);
    return MRS_OK;
}

static enum mrs_status
average(const struct window_now *now, const struct window_op *op, struct window_state *st, struct mrs_val *out)
{
    MRS_ASSERT(now->i < now->g->n);
    struct mrs_val x;
    enum mrs_status s = next_argument(now, op, st, &x);
    *out = mrs_null();
    if (s == MRS_OK && mrs_is_number(x)) {
        s = mix(now, op, st, x);
    }
    if (s != MRS_OK || !st->any) {
        return s;
    }
    struct mrs_val v[WINDOW_VARS] = {{st->last, mrs_fixed_size[st->type], st->type}};
    return mrsi_window_eval(now, st->wide ? WINDOW_F_DECIMAL : WINDOW_F_DOUBLE, v, out);
}

/* ---- $linearFill ---- */
struct window_point {
    struct mrs_val x;
    struct mrsi_group_value y;
};

static struct window_point
point(const struct window_now *now, const struct window_op *op, uint64_t i)
{
    return (struct window_point){mrsi_window_group_value(now, i, now->s->x).v, mrsi_window_group_value(now, i,
                                                                                                       op->arg)};
}

static bool
is_gap(const struct window_now *now, const struct window_op *op, uint64_t i)
{
    struct mrsi_group_value b = mrsi_window_group_value(now, i, op->arg);
    return !b.bad && mrs_is_nullish(b.v);
}

static enum mrs_status
check_key(const struct window_now *now, struct mrs_val x)
{
    struct mrs_val before = now->i ? mrsi_window_group_value(now, now->i - 1, now->s->x).v : mrs_missing();
    if (!mrs_is_number(x) && x.type != MRS_DATE) {
        return mrs_err_set(now->c->err, MRS_FAIL, MRS_E_EXPR, "$linearFill: %s is %s, neither a number nor a date",
                           now->s->sort_path, mrs_type_name(x.type));
    }
    return now->i && mrs_compare(before, x) == 0
               ? mrs_err_set(now->c->err, MRS_FAIL, MRS_E_EXPR, "$linearFill: %s is the same as in the document before",
                             now->s->sort_path)
               : MRS_OK;
}

static enum mrs_status
not_number(const struct window_now *now, const struct window_op *op, struct mrs_val v)
{
    return mrs_err_set(now->c->err, MRS_FAIL, MRS_E_EXPR, "%s takes numbers, not %s", op->name, mrs_type_name(v.type));
}

/* A gap between two members with a value. */
static enum mrs_status
between(const struct window_now *now, const struct window_op *op, const struct window_point *a, struct mrs_val x,
        const struct window_point *b, struct mrs_val *out)
{
    if (!mrs_is_number(a->y.v) || !mrs_is_number(b->y.v)) {
        return not_number(now, op, mrs_is_number(a->y.v) ? b->y.v : a->y.v);
    }
    bool dates = x.type == MRS_DATE;
    if (!mrsi_window_key_ok(dates, a->x) || !mrsi_window_key_ok(dates, b->x)) {
        return mrs_err_set(now->c->err, MRS_FAIL, MRS_E_EXPR,
                           "$linearFill: %s is %s here and of another kind in the nearest document with a value",
                           now->s->sort_path, mrs_type_name(x.type));
    }
    struct mrs_val v[WINDOW_VARS] = {[WINDOW_X] = x, [WINDOW_X1] = a->x, [WINDOW_Y1] = a->y.v, [WINDOW_X2] = b->x,
                                     [WINDOW_Y2] = b->y.v};
    return mrsi_window_eval(now, WINDOW_F_FILL, v, out);
}

static enum mrs_status
fill(const struct window_now *now, const struct window_op *op, struct window_state *st, struct mrs_val *out)
{
    const uint64_t n = now->g->n, before = st->any ? st->before : n;
    struct window_point own = point(now, op, now->i), a = {mrs_missing(), {mrs_missing(), false}}, b = a;
    bool gap = is_gap(now, op, now->i);
    *out = own.y.v;
    if (!gap) {
        st->before = now->i;
        st->any = true;
    }
    enum mrs_status s = own.y.bad ? fails_by(now, own.y.v) : check_key(now, own.x);
    if (s != MRS_OK || !gap) {
        return s == MRS_OK && !mrs_is_number(own.y.v) ? not_number(now, op, own.y.v) : s;
    }
    st->behind = st->behind > now->i ? st->behind : now->i + 1;
    while (st->behind < n && is_gap(now, op, st->behind)) {
        st->behind++;
    }
    a = before < n ? point(now, op, before) : a;
    b = st->behind < n ? point(now, op, st->behind) : b;
    if (a.y.bad || b.y.bad) {
        return fails_by(now, a.y.bad ? a.y.v : b.y.v);
    }
    *out = mrs_null();
    return before < n && st->behind < n ? between(now, op, &a, own.x, &b, out) : MRS_OK;
}

/* ---- all operators ---- */
static enum mrs_status
emit(const struct window_now *now, const struct window_op *op, struct window_state *st, struct mrs_val *out)
{
    MRS_ASSERT(now->i < now->g->n);
    *out = mrs_null();
    switch (op->kind) {
    case WINDOW_SHIFT: return shift(now, op, out);
    case WINDOW_ACC: return mrsi_window_acc(now, op, st, out);
    case WINDOW_AVERAGE: return average(now, op, st, out);
    case WINDOW_DERIVATIVE: return mrsi_window_derivative(now, op, st, out);
    case WINDOW_INTEGRAL: return mrsi_window_integral(now, op, st, out);
    case WINDOW_LOCF: return locf(now, op, st, out);
    case WINDOW_FILL: return fill(now, op, st, out);
    default: *out = rank(now, op, st); return MRS_OK;
    }
}

/* Writes the results for the current member to w->doc: those common to the group, or the others. */
static enum mrs_status
emit_all(const struct window_now *now, bool common)
{
    struct mrs_buf *out = &now->w->doc;
    mrs_buf_reset(out);
    size_t start = mrsi_put_open(out);
    for (uint32_t k = 0; k < now->s->n_op; k++) {
        const struct window_op *op = &now->s->op[k];
        struct mrs_val v;
        if (op->common != common) {
            continue;
        }
        mrs_err_clear(now->c->err);
        enum mrs_status st = emit(now, op, &now->w->state[k], &v);
        if (st == MRS_OK) {
            mrsi_put_elem(out, WINDOW_VALUE, 1, v.type == MRS_MISSING ? mrs_null() : v);
        } else if (st == MRS_FAIL) {
            bool large = now->c->err->code == MRS_E_LIMIT;
            struct mrs_val why = mrs_make_text(now->c->arena, now->c->err->msg, (uint32_t)strlen(now->c->err->msg));
            mrsi_put_elem(out, large ? WINDOW_LARGE : WINDOW_BAD, 1, why.type == MRS_MISSING ? mrs_null() : why);
        } else {
            return st;
        }
    }
    mrs_err_clear(now->c->err);
    mrsi_put_close(out, start);
    return mrs_buf_status(out, now->c->err);
}

enum mrs_status
mrsi_window_group(const void *state, struct mrs_ctx *c, void *work, const struct mrs_window_group *g,
                  const struct mrs_window_result *to)
{
    MRS_ASSERT(g->n > 0 && g->at);
    const struct mrsi_window *s = state;
    struct window_now now = {s, c, work, g, 0};
    bool common = false;
    enum mrs_status st = mrsi_window_start(s, c, work);
    for (uint32_t k = 0; st == MRS_OK && k < s->n_op; k++) {
        struct window_state *x = &now.w->state[k];
        *x = (struct window_state){.acc = x->acc};
        common = common || s->op[k].common;
        if (x->acc) {
            mrs_acc_reset(x->acc);
        }
    }
    if (st == MRS_OK && common) {
        st = emit_all(&now, true);
        MRS_THEN(st, to->alike(to->arg, mrsi_buf_view(&now.w->doc, 0), c->err));
    }
    for (; st == MRS_OK && now.i < g->n; now.i++) {
        st = emit_all(&now, false);
        MRS_THEN(st, to->member(to->arg, mrsi_buf_view(&now.w->doc, 0), c->err));
    }
    return st;
}

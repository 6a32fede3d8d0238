/* SPDX-License-Identifier: Apache-2.0 */
/* window_splice.c - writes a document with its fields, computed from the results of the operators. */
#include "window.h"
#include "steps/kit/shape.h"

/* ---- buffers of a thread ---- */
enum mrs_status
mrsi_window_start(const struct mrsi_window *s, struct mrs_ctx *c, struct window_work *w)
{
    MRS_ASSERT(w);
    if (w->ready) {
        return MRS_OK;
    }
    mrs_buf_init(&w->doc, c->mem, SIZE_MAX);
    mrs_buf_init(&w->raw, c->mem, 4u * MRS_DOC_READ_MAX);
    w->ready = true;
    w->n = s->n_op;
    w->state = mrs_zalloc(c->mem, s->n_op * sizeof *w->state);
    w->computed = mrs_zalloc(c->mem, s->n_op * sizeof *w->computed);
    w->value = mrs_zalloc(c->mem, s->n_op * sizeof *w->value);
    w->result = mrs_zalloc(c->mem, s->added.n * sizeof *w->result);
    w->failed = mrs_zalloc(c->mem, s->added.n);
    w->silent = mrs_zalloc(c->mem, s->added.n);
    bool good = w->state && w->computed && w->value && w->result && w->failed && w->silent;
    enum mrs_status st = good ? MRS_OK : mrs_err_memory(c->err, s->n_op * sizeof *w->state);
    for (uint32_t i = 0; st == MRS_OK && i < s->n_op; i++) {
        if (s->op[i].acc) {
            st = mrs_acc_state_new(s->op[i].acc, c->mem, MRS_DOC_READ_MAX, &w->state[i].acc, c->err);
        }
    }
    if (st != MRS_OK) {
        mrsi_window_work_clear(c, w);
    }
    return st;
}

void
mrsi_window_work_clear(struct mrs_ctx *c, void *work)
{
    struct window_work *w = work;
    if (!w->ready) {
        return;
    }
    for (uint32_t i = 0; w->state && i < w->n; i++) {
        mrs_acc_state_free(w->state[i].acc);
    }
    mrs_free(c->mem, w->state);
    mrs_free(c->mem, w->computed);
    mrs_free(c->mem, w->value);
    mrs_free(c->mem, w->result);
    mrs_free(c->mem, w->failed);
    mrs_free(c->mem, w->silent);
    mrs_buf_clear(&w->doc);
    mrs_buf_clear(&w->raw);
    memset(w, 0, sizeof *w);
}

/* ---- results of operators ---- */
static void
read_results(const struct mrsi_window *s, struct window_work *w, struct mrs_view alike, struct mrs_view given)
{
    MRS_ASSERT(mrs_view_is_framed(alike) && mrs_view_is_framed(given));
    struct mrs_walk all, own;
    mrs_walk_init(&all, alike);
    mrs_walk_init(&own, given);
    for (uint32_t i = 0; i < s->n_op; i++) {
        struct mrs_elem *e = &w->computed[i];
        if (mrs_walk_next(s->op[i].common ? &all : &own, e) != 1) {
            *e = (struct mrs_elem){.v = mrs_null(), .name = WINDOW_VALUE, .name_len = 1};
        }
        w->value[i] = e->v;
    }
}

/* A failed operator of the field; NULL: none. */
static const struct mrs_elem *
failure(const struct window_work *w, const struct window_field *f)
{
    for (uint32_t i = f->first; i < f->end; i++) {
        if (w->computed[i].name[0] != *WINDOW_VALUE) {
            return &w->computed[i];
        }
    }
    return NULL;
}

/* Handles a field without a value according to `errors`. */
static enum mrs_status
fail(const struct mrsi_window *s, struct mrs_ctx *c, struct window_work *w, uint32_t i, enum mrs_status st)
{
    if (st != MRS_FAIL || s->added.errors == MRSI_ERRORS_REFUSE) {
        return mrsi_step_skip_in(c, st, "fields", s->added.path[i].text);
    }
    mrs_err_clear(c->err);
    mrsi_step_eased(c, i);
    w->failed[i] = true;
    w->result[i] = s->added.errors == MRSI_ERRORS_NULL ? mrs_null() : mrs_missing();
    return MRS_OK;
}

static enum mrs_status
compute(const struct mrsi_window *s, struct mrs_ctx *c, struct window_work *w, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_eval ev = mrsi_step_eval(c, doc);
    struct mrs_eval_fields room;
    enum mrs_status st = MRS_OK;
    uint32_t n;
    mrsi_step_fields(c, &ev, &room);
    ev.vars = w->value;
    for (uint32_t i = 0; st == MRS_OK && i < s->added.n; i++) {
        const struct mrs_elem *bad = failure(w, &s->field[i]);
        w->failed[i] = false;
        if (!bad) {
            st = mrs_expr_eval(s->field[i].x, &ev, &w->result[i]);
        } else {
            const char *why = bad->v.type == MRS_STRING ? mrs_val_text(bad->v, &n) : "it failed";
            st = mrs_err_set(c->err, MRS_FAIL, MRS_E_EXPR, "%s", why);
        }
        if (bad && bad->name[0] == *WINDOW_LARGE) {
            return mrsi_step_skip(c, st, "fields");
        }
        st = st == MRS_OK ? st : fail(s, c, w, i, st);
    }
    return st;
}

struct window_value {
    const struct mrsi_window *s;
    struct window_work *w;
};

static enum mrs_status
value(void *arg, uint32_t i, struct mrs_val old, struct mrs_val *out, bool *keep)
{
    const struct window_value *x = arg;
    (void)old;
    *keep = x->w->failed[i] && x->s->added.errors == MRSI_ERRORS_KEEP;
    *out = x->w->result[i];
    return MRS_OK;
}

enum mrs_status
mrsi_window_splice(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_view alike,
                   struct mrs_view given, struct mrs_buf *out, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_view_is_framed(alike) && mrs_view_is_framed(given) && mrs_buf_is_sound(out));
    const struct mrsi_window *s = state;
    struct window_work *w = work;
    struct window_value x = {s, w};
    bool blocked;
    *fate = MRS_FATE_STAYS;
    MRS_TRY(mrsi_window_start(s, c, w));
    read_results(s, w, alike, given);
    struct mrsi_adding how = {
        .to = &s->added, .c = c, .value = value, .arg = &x, .silent = w->silent, .raw = &w->raw};
    MRS_TRY(compute(s, c, w, doc));
    MRS_TRY(mrsi_add_values(&how, doc, false, out, &blocked));
    bool same = out->n == doc.n && memcmp(out->p, doc.p, doc.n) == 0;
    *fate = same ? MRS_FATE_STAYS : MRS_FATE_CHANGED;
    return MRS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* window_enter.c - window: the group key of a document, its sort key, and the arguments of operators. */
#include "window.h"
#include "steps/kit/shape.h"

/* out->payload holds the key first. */
static enum mrs_status
put_group(const struct mrsi_window *s, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_window_entry *out)
{
    MRS_TRY(mrsi_by_put(&s->by, c, ev, &out->payload));
    const uint8_t *at = out->payload.p;
    struct mrs_val key = mrsi_get_value(&at, out->payload.p + out->payload.n);
    if (key.type == MRS_ARRAY) {
        return mrsi_step_refuse(c, "by", "the key is an array, so that the document is in no single group");
    }
    enum mrs_status st = mrsi_by_group(&s->by, c, key, &out->group);
    mrs_buf_reset(&out->payload);
    return st;
}

static void
put_bad(struct mrs_buf *out, const char *why)
{
    uint32_t n = (uint32_t)strlen(why);
    mrsi_put_head(out, MRS_STRING, WINDOW_BAD, 1);
    uint8_t *size = mrs_buf_take(out, 4);
    if (size) {
        mrs_put32(size, n + 1);
        mrs_buf_put(out, why, n + 1);
    }
}

static enum mrs_status
put_arguments(const struct mrsi_window *s, struct mrs_ctx *c, struct mrs_eval *ev, struct mrs_buf *out)
{
    MRS_ASSERT(s->arg || s->n_arg == 0);
    size_t start = mrsi_put_open(out);
    for (uint32_t i = 0; i < s->n_arg && !out->bad; i++) {
        const struct window_arg *a = &s->arg[i];
        struct mrs_val v;
        if (a->fixed.type != MRS_MISSING) {
            continue;
        }
        enum mrs_status st = a->acc ? mrs_acc_argument(a->acc, ev, &v) : mrs_expr_eval(a->x, ev, &v);
        if (st == MRS_DEAD) {
            return st;
        }
        if (st == MRS_OK && a->acc) {
            mrsi_total_remark(c, 0, a->acc, v);
        }
        if (st != MRS_OK) {
            put_bad(out, c->err->msg);
            mrs_err_clear(c->err);
        } else if (v.type == MRS_MISSING) {
            mrsi_put_elem(out, WINDOW_ABSENT, 1, mrs_null());
        } else {
            mrsi_put_elem(out, WINDOW_VALUE, 1, v);
        }
    }
    mrsi_put_close(out, start);
    return mrsi_step_skip(c, mrs_buf_status(out, c->err), "fields");
}

enum mrs_status
mrsi_window_enter(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_window_entry *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrsi_window *s = state;
    struct mrs_eval ev = mrsi_step_eval(c, doc);
    struct mrs_eval_fields room;
    enum mrs_status st = mrsi_step_where(s->where, c, doc, &out->takes_part);
    if (st != MRS_OK || !out->takes_part) {
        return st;
    }
    mrsi_step_fields(c, &ev, &room);
    st = put_group(s, c, &ev, out);
    if (st == MRS_OK && s->sort) {
        st = mrsi_step_sort_key(c, s->sort, doc, &out->order, "sort");
    }
    return st == MRS_OK ? put_arguments(s, c, &ev, &out->payload) : st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* rollup_write.c - rollup: writes computed values into a document. */
#include "rollup.h"
#include "mongoreshape/join_ops.h"

struct rollup_write_writing {
    const struct mrsi_rollup *s;
    struct mrs_ctx *c;
    struct rollup_work *w;
    struct mrs_view old; /* the existing value at `as` */
};

static enum mrs_status
put_inner(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
          struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct rollup_write_writing *x = arg;
    uint32_t i = site->path_no;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_PUT;
    if (x->w->failed[i] && x->s->errors == MRSI_ERRORS_KEEP) {
        mrsi_step_eased(x->c, i);
        *put = mrs_path_get(&x->s->path[i], x->old);
        return MRS_OK;
    }
    return mrsi_rollup_value(x->s, x->c, x->w, i, put);
}

/* Makes the document for `as` in w->value. old: the existing one, whose fields stay if `errors` says so. */
static enum mrs_status
inner(struct rollup_write_writing *x, struct mrs_val old, struct mrs_val *put)
{
    struct mrs_edit_run how = {.fn = put_inner, .arg = x, .visit_missing = true};
    bool changed;
    x->old = old.type == MRS_DOCUMENT ? mrs_val_view(old) : mrs_empty_doc();
    mrs_buf_reset(&x->w->value);
    enum mrs_status st = mrs_edit_run(x->s->inner, &how, mrs_empty_doc(), &x->w->value, &changed, x->c->err);
    if (st == MRS_OK) {
        *put = mrs_view_val(mrsi_buf_view(&x->w->value, 0));
    }
    return st;
}

static enum mrs_status
value(void *arg, uint32_t i, struct mrs_val old, struct mrs_val *out, bool *keep)
{
    struct rollup_write_writing *x = arg;
    const struct mrsi_rollup *s = x->s;
    x->c->remarks |= x->w->fed || mrs_is_nullish(old) || s->keep == ROLLUP_KEEP_ALL ? 0 : MRS_REMARK_REPLACED;
    if (s->as.n) {
        return inner(x, old, out);
    }
    *keep = x->w->failed[i] && s->errors == MRSI_ERRORS_KEEP;
    if (*keep) {
        mrsi_step_eased(x->c, i);
    }
    return *keep ? MRS_OK : mrsi_rollup_value(s, x->c, x->w, i, out);
}

static enum mrs_status
put_flat(void *arg, struct mrs_buf *out)
{
    struct rollup_write_writing *x = arg;
    return mrsi_rollup_put_flat(x->s, x->c, x->w, out);
}

enum mrs_status
mrsi_rollup_write(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, struct mrs_view doc,
                  bool fresh, struct mrs_buf *out, bool *blocked)
{
    struct rollup_write_writing x = {.s = s, .c = c, .w = w};
    struct mrsi_adding how = {
        .to = &s->added, .c = c, .value = value, .put = put_flat, .arg = &x, .silent = w->silent, .raw = &w->raw};
    return mrsi_add_values(&how, doc, fresh, out, blocked);
}

/* ---- kernel ---- */

static enum mrs_status
feed_all(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, struct mrs_matches *m)
{
    MRS_ASSERT(m->next);
    struct mrs_match match;
    enum mrs_status st;
    mrsi_rollup_reset(s, w);
    w->fed = m->n;
    while ((st = m->next(m, &match, c->err)) == MRS_OK) {
        if (match.failed) {
            const char *why = match.why ? match.why : "a document that belongs here failed";
            return mrsi_step_refuse(c, match.why_where, "%s", why);
        }
        st = mrsi_rollup_feed(s, c, w, match.payload.p + ROLLUP_PAYLOAD_HEAD, match.payload.p + match.payload.n - 1);
        if (st != MRS_OK) {
            return st;
        }
    }
    return st == MRS_END ? MRS_OK : st;
}

/* a blocked parent does not have the values, so its documents stay */
static enum mrs_status
leave(struct mrs_ctx *c, struct mrs_matches *m)
{
    struct mrs_match match;
    enum mrs_status st = m->rewind(m, c->err);
    while (st == MRS_OK && (st = m->next(m, &match, c->err)) == MRS_OK) {
        m->used(m, MRS_USED_LEFT);
    }
    return st == MRS_END ? MRS_OK : st;
}

enum mrs_status
mrsi_rollup_splice(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc, struct mrs_matches *m,
                   const struct mrs_put *put, struct mrs_buf *out, enum mrs_fate *fate)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const struct mrsi_rollup *s = state;
    size_t start = out->n;
    bool blocked = false;
    (void)put;
    *fate = MRS_FATE_STAYS;
    if (!m->n && s->empty == ROLLUP_EMPTY_ABSENT) {
        mrs_buf_put(out, doc.p, doc.n);
        return mrsi_buf_end(out, start, c, NULL);
    }
    enum mrs_status st = mrsi_rollup_start(s, c, work);
    MRS_THEN(st, feed_all(s, c, work, m));
    MRS_THEN(st, mrsi_rollup_write(s, c, work, doc, false, out, &blocked));
    st = st == MRS_OK && blocked && m->n ? leave(c, m) : st;
    return mrsi_step_end(st, doc, out, start, fate);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* rollup_write.c - computed values are written into a document.
 *
 * The everyday case, plain names that are not there yet, is the document's bytes with elements behind them. Everything
 * else is an edit: dotted names, names that are there, fields that failed. A path that is blocked is written nowhere,
 * not even where it was free before the block was met: then all is done again. */
#include "rollup.h"
#include "mongoreshape/join_ops.h"

/* ---- the quick way ---- */

static bool
adds(const struct mrsi_rollup *s, const struct mrs_elem *e)
{
    if (s->as.n) {
        return mrs_name_is(e, s->as.part[0].name, s->as.part[0].len);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (mrs_name_is(e, s->path[i].part[0].name, s->path[i].part[0].len)) {
            return true;
        }
    }
    return false;
}

/* Whether the elements can simply be put behind those of the document. SKIP: a name stands in it twice. */
static enum mrs_status
look(const struct mrsi_rollup *s, struct mrs_ctx *c, struct mrs_view d, bool *free)
{
    struct mrsi_seen seen;
    struct mrs_walk w;
    struct mrs_elem e;
    *free = s->flat && s->as.n <= 1;
    if (!*free) {
        return MRS_OK;
    }
    mrsi_seen_begin(&seen);
    mrs_walk_init(&w, d);
    while (mrs_walk_next(&w, &e) == 1) {
        mrsi_seen_add(&seen, &e);
        *free = *free && !adds(s, &e);
    }
    return *free ? mrsi_seen_check(&seen, c, d) : MRS_OK;
}

/* ---- the long way ---- */

struct rollup_write_writing {
    const struct mrsi_rollup *s;
    struct mrs_ctx *c;
    struct rollup_work *w;
    bool again;
    struct mrs_view old; /* what stands at `as` already */
};

static enum mrs_status
put_inner(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
          struct mrs_buf *raw, struct mrs_err *e)
{
    struct rollup_write_writing *x = arg;
    uint32_t i = site->path_no;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_PUT;
    if (x->w->failed[i] && x->s->errors == MRSI_ERRORS_KEEP) {
        *put = mrs_path_get(&x->s->path[i], x->old);
        return MRS_OK;
    }
    return mrsi_rollup_value(x->s, x->c, x->w, i, put);
}

/* The document that goes to `as`: in w->value. old: the value there now, whose fields stay where `errors` says so. */
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
place(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
      struct mrs_buf *raw, struct mrs_err *e)
{
    struct rollup_write_writing *x = arg;
    const struct mrsi_rollup *s = x->s;
    uint32_t i = site->path_no;
    const char *key = s->as.n ? "as" : "fields";
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (x->w->silent[i]) {
        return MRS_OK;
    }
    if (site->blocked) {
        x->w->silent[i] = x->again = true;
        return s->errors != MRSI_ERRORS_REFUSE
                   ? MRS_OK
                   : mrsi_step_blocked(x->c, key, site, s->as.n ? s->as.text : s->path[i].text);
    }
    if (site->old.type != MRS_MISSING && !s->replace) {
        return mrsi_step_refuse(x->c, key, "the field %s exists already", site->name);
    }
    if (!s->as.n && x->w->failed[i] && s->errors == MRSI_ERRORS_KEEP) {
        return MRS_OK;
    }
    enum mrs_status st = s->as.n ? inner(x, site->old, put) : mrsi_rollup_value(s, x->c, x->w, i, put);
    *verdict = put->type == MRS_MISSING ? MRS_EDIT_REMOVE : MRS_EDIT_PUT;
    return st;
}

static enum mrs_status
edit(struct rollup_write_writing *x, struct mrs_view doc, struct mrs_buf *out, bool *blocked)
{
    struct mrs_edit_run how = {.fn = place, .arg = x, .visit_missing = true, .raw = &x->w->raw};
    size_t start = out->n;
    enum mrs_status st;
    bool changed;
    memset(x->w->silent, 0, x->s->n);
    for (*blocked = false;; *blocked = true) {
        x->again = false;
        st = mrs_edit_run(x->s->edit, &how, doc, out, &changed, x->c->err);
        if (!x->again || (st != MRS_OK && st != MRS_FAIL)) {
            return mrsi_step_skip(x->c, st, x->s->as.n ? "as" : "fields");
        }
        mrs_err_clear(x->c->err);
        out->n = start;
    }
}

enum mrs_status
mrsi_rollup_write(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, struct mrs_view doc,
                  bool fresh, struct mrs_buf *out, bool *blocked)
{
    struct rollup_write_writing x = {.s = s, .c = c, .w = w};
    size_t start = out->n;
    bool quick = s->flat && s->as.n <= 1;
    *blocked = false;
    enum mrs_status st = fresh ? MRS_OK : look(s, c, doc, &quick);
    if (st == MRS_OK && quick) {
        mrs_buf_put(out, doc.p, doc.n - 1);
        st = mrsi_rollup_put_flat(s, c, w, out);
        mrsi_put_close(out, start);
    } else if (st == MRS_OK) {
        st = edit(&x, doc, out, blocked);
    }
    if (st == MRS_OK && !out->bad && out->n - start > MRS_DOC_MAX) {
        st = mrsi_step_too_large(c, "oversize", "the document would pass 16 MiB", out, start);
    }
    MRS_THEN(st, mrsi_buf_end(out, start, c, "oversize"));
    return st == MRS_OK ? mrsi_step_depth(c, "fields", doc, mrsi_buf_view(out, start)) : st;
}

/* ---- the kernel ---- */

static enum mrs_status
feed_all(const struct mrsi_rollup *s, struct mrs_ctx *c, struct rollup_work *w, struct mrs_matches *m)
{
    struct mrs_match match;
    enum mrs_status st;
    mrsi_rollup_reset(s, w);
    while ((st = m->next(m, &match, c->err)) == MRS_OK) {
        if (match.failed) {
            const char *why = match.why ? match.why : "a document that belongs here failed";
            return mrsi_step_refuse(c, match.why_where, "%s", why);
        }
        st = mrsi_rollup_feed(s, c, w, match.shape.p + ROLLUP_SHAPE_HEAD, match.shape.p + match.shape.n - 1);
        if (st != MRS_OK) {
            return st;
        }
    }
    return st == MRS_END ? MRS_OK : st;
}

/* What could not be written is not in the parent: its documents stay where they are. */
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
    if (st != MRS_OK) {
        out->n = start;
        out->bad = 0;
        return st;
    }
    bool same = out->n - start == doc.n && memcmp(out->p + start, doc.p, doc.n) == 0;
    *fate = same ? MRS_FATE_STAYS : MRS_FATE_CHANGED;
    return MRS_OK;
}

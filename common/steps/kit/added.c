/* SPDX-License-Identifier: Apache-2.0 */
/* added.c - adds computed values to a document, with the policies `replace` and `errors`.
 *
 * Usually the names are plain and new, and the elements are appended to the document's bytes. Everything else is an
 * edit: dotted names, existing names, failed fields. A blocked path is not written at all, not even at places visited
 * before the block was found: then the edit is repeated. So an existing field refuses the document only if its path is
 * not blocked, in whatever order both are met. */
#include "added.h"
#include "shape.h"

/* ---- fast path ---- */
static bool
adds(const struct mrsi_added *to, const struct mrs_elem *e)
{
    for (uint32_t i = 0; i < to->n; i++) {
        if (mrs_name_is(e, to->path[i].part[0].name, to->path[i].part[0].len)) {
            return true;
        }
    }
    return false;
}

/* Can the elements simply be appended? */
static bool
can_append(const struct mrsi_added *to, struct mrs_ctx *c, struct mrs_view d)
{
    MRS_ASSERT(to->path || to->n == 0);
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrsi_name_set seen;
    struct mrs_walk w;
    struct mrs_elem e;
    bool plain = to->flat;
    mrsi_name_set_begin(&seen);
    mrs_walk_init(&w, d);
    while (plain && mrs_walk_next(&w, &e) == 1) {
        mrsi_name_set_add(&seen, &e);
        plain = !adds(to, &e);
    }
    return plain && mrsi_name_set_good(&seen, c, d); /* else it is an edit, which fails if it writes anything */
}

static enum mrs_status
put_flat(struct mrsi_adding *x, struct mrs_buf *out)
{
    MRS_ASSERT(x->to->flat);
    const struct mrsi_added *to = x->to;
    enum mrs_status st = MRS_OK;
    if (x->put) {
        return x->put(x->arg, out);
    }
    for (uint32_t i = 0; st == MRS_OK && i < to->n; i++) {
        struct mrs_val v = mrs_missing();
        bool keep = false;
        st = x->value(x->arg, i, mrs_missing(), &v, &keep);
        if (st == MRS_OK && !keep && v.type != MRS_MISSING) {
            mrsi_put_elem(out, to->path[i].part[0].name, to->path[i].part[0].len, v);
        }
    }
    return st;
}

/* ---- general code ---- */
static enum mrs_status
place(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
      struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct mrsi_adding *x = arg;
    const struct mrsi_added *to = x->to;
    uint32_t i = site->path_no;
    bool keep = false;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (x->silent[i]) {
        return MRS_OK;
    }
    if (site->blocked) {
        x->silent[i] = x->again = true;
        mrsi_step_eased_blocked(x->c);
        return to->errors != MRSI_ERRORS_REFUSE ? MRS_OK
                                                : mrsi_step_blocked(x->c, to->key, site, to->path[i].text);
    }
    if (site->old.type != MRS_MISSING && !to->replace) {
        mrsi_existing_add(&x->existing, site, to->key);
        return MRS_OK;
    }
    enum mrs_status st = x->value(x->arg, i, site->old, put, &keep);
    *verdict = keep ? MRS_EDIT_KEEP : put->type == MRS_MISSING ? MRS_EDIT_REMOVE : MRS_EDIT_PUT;
    return st;
}

static enum mrs_status
edit(struct mrsi_adding *x, struct mrs_view doc, struct mrs_buf *out, bool *blocked)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_edit_run how = {.fn = place, .arg = x, .visit_missing = true, .raw = x->raw};
    size_t start = out->n;
    enum mrs_status st;
    bool changed;
    memset(x->silent, 0, x->to->n * sizeof *x->silent);
    for (*blocked = false;; *blocked = true) {
        x->again = false;
        x->existing = (struct mrsi_existing){0};
        st = mrs_edit_run(x->to->edit, &how, doc, out, &changed, x->c->err);
        if (!x->again || (st != MRS_OK && st != MRS_FAIL)) {
            return mrsi_step_existing(x->c, st, x->to->key, &x->existing);
        }
        mrs_err_clear(x->c->err);
        out->n = start;
    }
}

enum mrs_status
mrsi_add_values(struct mrsi_adding *x, struct mrs_view doc, bool fresh, struct mrs_buf *out, bool *blocked)
{
    MRS_ASSERT(x->value && mrs_view_is_framed(doc));
    struct mrs_ctx *c = x->c;
    size_t start = out->n;
    enum mrs_status st;
    *blocked = false;
    if (fresh ? x->to->flat : can_append(x->to, c, doc)) {
        mrs_buf_put(out, doc.p, doc.n - 1);
        st = put_flat(x, out);
        mrsi_put_close(out, start);
    } else {
        st = edit(x, doc, out, blocked);
    }
    if (st == MRS_OK && !out->bad && out->n - start > MRS_DOC_MAX) {
        st = mrsi_step_too_large(c, "oversize", "the document would pass 16 MiB", out, start);
    }
    MRS_THEN(st, mrsi_buf_end(out, start, c, "oversize"));
    return st == MRS_OK ? mrsi_step_depth(c, "fields", doc, mrsi_buf_view(out, start)) : st;
}

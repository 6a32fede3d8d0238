/* SPDX-License-Identifier: Apache-2.0 */
/* link_splice.c - writes a document with its final references.
 *
 * Only the field itself is rewritten; all other bytes are copied unchanged. For a top-level field, the usual case, only
 * names are read. */
#include "link_step.h"
#include "steps/kit/shape.h"
#include "mongoreshape/context.h"

/* What happens to the field. */
struct outcome {
    enum mrs_edit_verdict verdict; /* KEEP, REMOVE or PUT */
    struct mrs_val put;
};

/* ---- work ---- */
static void
begin(struct mrsi_link_work *w, struct mrs_ctx *c)
{
    struct mrs_buf *all[] = {&w->old, &w->left, &w->array, &w->raw};
    for (int i = 0; i < 4; i++) {
        if (!w->ready) {
            mrs_buf_init(all[i], c->mem, i < 2 ? SIZE_MAX : 2u * MRS_DOC_READ_MAX);
        }
        mrs_buf_reset(all[i]);
    }
    w->ready = true;
}

void
mrsi_link_work_clear(struct mrs_ctx *c, void *work)
{
    struct mrsi_link_work *w = work;
    (void)c;
    if (w->ready) {
        mrs_buf_clear(&w->old);
        mrs_buf_clear(&w->left);
        mrs_buf_clear(&w->array);
        mrs_buf_clear(&w->raw);
        w->ready = false;
    }
}

/* ---- remaining references ---- */
static enum mrs_status
add_old(void *arg, struct mrs_val v)
{
    mrs_buf_put(arg, &v, sizeof v);
    return MRS_OK;
}

/* Collects the remaining references in `left`; true: they differ from the old ones. */
static bool
remaining(const struct mrsi_link_args *s, int side, const struct mrs_buf *old, const struct mrs_link_item *item,
          uint32_t n, struct mrs_buf *left)
{
    MRS_ASSERT((side == 0 || side == 1) && (item || n == 0));
    const struct mrs_val *was = (const struct mrs_val *)(const void *)old->p;
    bool same = n == old->n / sizeof *was;
    for (uint32_t i = 0; i < n; i++) {
        bool drop = (item[i].kind == MRS_LINK_NAMED && s->strips[side]) ||
                    (item[i].kind == MRS_LINK_DANGLING && s->dangling == LINK_DANGLING_DROP);
        bool null = item[i].kind == MRS_LINK_DANGLING && s->dangling == LINK_DANGLING_NULL;
        struct mrs_val v = null                           ? mrs_null()
                           : item[i].at == MRS_LINK_NEW ? item[i].value
                                                          : was[item[i].at];
        same = same && !drop && !null && item[i].at == i;
        if (!drop) {
            mrs_buf_put(left, &v, sizeof v);
        }
    }
    return !same;
}

static struct mrs_val
as_array(const struct mrs_buf *left, struct mrs_buf *out)
{
    const struct mrs_val *v = (const struct mrs_val *)(const void *)left->p;
    struct mrsi_shape_items it;
    mrsi_items_open(&it, out);
    for (size_t i = 0; i < left->n / sizeof *v; i++) {
        mrsi_items_add(&it, v[i]);
    }
    mrsi_items_close(&it);
    return out->bad ? mrs_missing() : mrsi_items_val(&it);
}

/* left: the remaining references. */
static struct outcome
choose(const struct mrsi_link_args *s, int side, enum mrs_link_shape shape, bool changed, const struct mrs_buf *left,
       struct mrs_buf *array)
{
    MRS_ASSERT(side == 0 || side == 1);
    bool list = side == 0 && s->wants.lists;
    struct outcome o = {MRS_EDIT_KEEP, mrs_missing()};
    if (!left->n && s->strips[side]) {
        o.verdict = MRS_EDIT_REMOVE;
    } else if (shape == MRS_LINK_NONE ? !left->n && !list : !changed) {
        o.verdict = MRS_EDIT_KEEP;
    } else if (shape == MRS_LINK_ONE && !left->n && !list) {
        o.verdict = MRS_EDIT_REMOVE;
    } else {
        o.verdict = MRS_EDIT_PUT;
        if (shape == MRS_LINK_LIST || list) {
            o.put = as_array(left, array);
        } else {
            memcpy(&o.put, left->p, sizeof o.put);
        }
    }
    return o;
}

/* ---- write the field ---- */
static enum mrs_status
put_top(const struct mrsi_link_args *s, struct mrs_ctx *c, int side, struct mrs_view doc, const struct outcome *o,
        struct mrs_buf *out, bool *changed)
{
    MRS_ASSERT(side == 0 || side == 1);
    MRS_ASSERT(mrs_view_is_framed(doc));
    const struct mrs_part *name = &s->path[side].part[0];
    const uint8_t *at = NULL, *end = NULL, *last = doc.p + doc.n - 1;
    struct mrsi_name_set seen;
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_name_set_begin(&seen);
    mrs_walk_init(&w, doc);
    while (mrs_walk_next(&w, &el) > 0) {
        mrsi_name_set_add(&seen, &el);
        if (!at && mrs_name_is(&el, name->name, name->len)) {
            at = el.p;
            end = w.at;
        }
    }
    *changed = at || o->verdict == MRS_EDIT_PUT;
    if (!*changed) {
        return MRS_OK;
    }
    enum mrs_status st = mrsi_name_set_check(&seen, c, doc);
    if (st != MRS_OK) {
        return mrsi_step_skip(c, st, mrsi_link_key[side]);
    }
    size_t start = mrsi_put_open(out);
    mrs_buf_put(out, doc.p + 4, (size_t)((at ? at : last) - (doc.p + 4)));
    if (o->verdict == MRS_EDIT_PUT) {
        mrsi_put_elem(out, name->name, name->len, o->put);
    }
    if (end) {
        mrs_buf_put(out, end, (size_t)(last - end));
    }
    mrsi_put_close(out, start);
    return MRS_OK;
}

struct link_splice_writing {
    const struct outcome *o;
    struct mrs_ctx *c;
    int side;
    bool found;
};

static enum mrs_status
write_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
           struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct link_splice_writing *w = arg;
    (void)raw;
    (void)e;
    w->found = true;
    if (site->n_index || site->blocked) {
        return mrsi_step_refuse(w->c, mrsi_link_key[w->side], "%s is on the way to the reference",
                                site->n_index ? "an array" : "a value that is no document");
    }
    *verdict = w->o->verdict;
    *put = w->o->put;
    return MRS_OK;
}

static enum mrs_status
put_deep(const struct mrsi_link_args *s, struct mrs_ctx *c, struct mrsi_link_work *work, int side, struct mrs_view doc,
         const struct outcome *o, struct mrs_buf *out, bool *changed)
{
    struct link_splice_writing w = {o, c, side, false};
    bool put = o->verdict == MRS_EDIT_PUT;
    struct mrs_edit_run how = {.fn = write_site, .arg = &w, .visit_missing = put, .raw = &work->raw};
    enum mrs_status st = mrs_edit_run(s->edit[side], &how, doc, out, changed, c->err);
    if (st == MRS_OK && put && !w.found) {
        return mrsi_step_refuse(c, mrsi_link_key[side], "an array is on the way to the reference");
    }
    return mrsi_step_skip(c, st, mrsi_link_key[side]);
}

/* Is a document `_id` among the new references? Inside a list it is nested deeper than before. */
static bool
adds_documents(const struct mrs_link_item *item, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && (item[i].at != MRS_LINK_NEW || item[i].value.type != MRS_DOCUMENT)) {
        i++;
    }
    return i < n;
}

enum mrs_status
mrsi_link_splice(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                 const struct mrs_link_item *item, uint32_t n, struct mrs_buf *out, enum mrs_fate *fate)
{
    MRS_ASSERT((side == 0 || side == 1) && (item || n == 0));
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_buf_is_sound(out));
    const struct mrsi_link_args *s = state;
    struct mrsi_link_work *w = work;
    enum mrs_link_shape shape;
    *fate = MRS_FATE_STAYS;
    begin(w, c);
    enum mrs_status st = mrsi_link_each(s, c, side, doc, add_old, &w->old, &shape);
    if (st != MRS_OK || w->old.bad) {
        return st != MRS_OK ? st : mrs_buf_status(&w->old, c->err);
    }
    bool changed = remaining(s, side, &w->old, item, n, &w->left);
    struct outcome o = {MRS_EDIT_KEEP, mrs_missing()};
    st = mrs_buf_status(&w->left, c->err);
    if (st == MRS_OK) {
        o = choose(s, side, shape, changed, &w->left, &w->array);
        st = mrs_buf_status(&w->array, c->err);
    }
    if (st != MRS_OK) {
        return mrsi_step_skip(c, st, "oversize");
    }
    if (o.verdict == MRS_EDIT_KEEP) {
        return MRS_OK;
    }
    st = s->path[side].n == 1 ? put_top(s, c, side, doc, &o, out, &changed)
                              : put_deep(s, c, w, side, doc, &o, out, &changed);
    st = st == MRS_OK && changed ? mrsi_step_size(c, out) : st;
    if (st == MRS_OK && changed && adds_documents(item, n)) {
        st = mrsi_step_depth(c, mrsi_link_key[side], doc, mrsi_buf_view(out, 0));
    }
    *fate = st == MRS_OK && changed ? MRS_FATE_CHANGED : MRS_FATE_STAYS;
    return st;
}

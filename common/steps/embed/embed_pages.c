/* SPDX-License-Identifier: Apache-2.0 */
/* embed_pages.c - overflow pages (outlier pattern): matches beyond the limit go into pages, {_id, ref, number, items}.
 *
 * A page ends at its size or at 16 MiB, whichever comes first; only an item that fits into no page refuses the parent.
 * Ids are derived from parent, path and number, so a repeated run makes the same pages. Pages go to the engine one by
 * one and are not stored. */
#include "embed.h"
#include "steps/kit/id_policy.h"
#include "mongoreshape/join_ops.h"

struct embed_pages_page {
    struct embed_splice *x;
    struct mrs_val id; /* the parent's */
    struct mrsi_shape_items items;
    uint64_t n;
    int64_t number;
    bool open;
};

static enum mrs_status
open_page(struct embed_pages_page *p)
{
    MRS_ASSERT(!p->open);
    const struct mrsi_embed *s = p->x->s;
    struct mrs_buf *b = &p->x->w->page;
    uint8_t id[12], room[16];
    struct mrs_new_id in = {s->overflow.into.ns, s->join.into.ns, p->id, s->as_spec, &p->number, 1,
                            mrsi_id_time(p->id)};
    enum mrs_status st = mrs_id_make(&in, &p->x->w->raw, id, p->x->c->err);
    if (st != MRS_OK) {
        return mrsi_step_skip(p->x->c, st, "overflow");
    }
    mrs_buf_reset(b);
    mrsi_put_open(b);
    mrsi_put_elem(b, "_id", 3, (struct mrs_val){id, 12, MRS_OBJECTID});
    mrsi_put_elem(b, s->overflow.ref, (uint32_t)strlen(s->overflow.ref), p->id);
    mrsi_put_elem(b, s->overflow.number, (uint32_t)strlen(s->overflow.number),
                  mrs_make_count(room, (uint64_t)p->number));
    mrsi_put_head(b, MRS_ARRAY, s->overflow.items, (uint32_t)strlen(s->overflow.items));
    mrsi_items_open(&p->items, b);
    p->n = 0;
    p->open = true;
    return MRS_OK;
}

static enum mrs_status
close_page(struct embed_pages_page *p)
{
    struct embed_splice *x = p->x;
    mrsi_items_close(&p->items);
    mrsi_put_close(&x->w->page, 0);
    enum mrs_status st = mrsi_buf_end(&x->w->page, 0, x->c, "overflow");
    p->open = false;
    p->number++;
    return st == MRS_OK ? x->put->put(x->put->arg, x->s->side_overflow, mrsi_buf_view(&x->w->page, 0), x->c->err) : st;
}

static bool
fits(const struct embed_pages_page *p, const struct mrs_match *m)
{
    return p->x->w->page.n + p->items.name_len + 2 + m->payload.n + 2 <= MRS_DOC_MAX;
}

static enum mrs_status
add(struct embed_pages_page *p, const struct mrs_match *m)
{
    enum mrs_status st = MRS_OK;
    if (p->open && (p->n == p->x->s->overflow.size || !fits(p, m))) {
        st = close_page(p);
    }
    if (st == MRS_OK && !p->open) {
        st = open_page(p);
        if (st == MRS_OK && !fits(p, m)) {
            return mrsi_step_refuse(p->x->c, "oversize", "an item does not fit into a page of 16 MiB");
        }
    }
    if (st == MRS_OK) {
        mrsi_items_add(&p->items, mrs_view_val(m->payload));
        p->n++;
    }
    return st;
}

enum mrs_status
mrsi_embed_pages(struct embed_splice *x, uint64_t from)
{
    MRS_ASSERT(from <= x->n);
    struct mrs_elem id;
    struct mrs_match m;
    if (!mrs_doc_find(x->doc, "_id", 3, &id)) {
        return mrsi_step_refuse(x->c, "overflow", "pages need the _id of their parent, which has none");
    }
    struct embed_pages_page p = {.x = x, .id = id.v, .number = 2};
    enum mrs_status st = mrsi_embed_rewind(x);
    while (st == MRS_OK && (st = mrsi_embed_next(x, &m)) == MRS_OK) {
        st = x->at > from ? mrsi_embed_taken(x, &m) : MRS_OK;
        st = st == MRS_OK && x->at > from ? add(&p, &m) : st;
    }
    if (st == MRS_END) {
        st = p.open ? close_page(&p) : MRS_OK;
    }
    return st;
}

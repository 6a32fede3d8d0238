/* SPDX-License-Identifier: Apache-2.0 */
/* extract_pages.c - extracts into pages, {_id, ref, number, items}, instead of one document for each part.
 *
 * One sequence of pages for each source document, over all arrays of the path. Numbers begin with 2 if copies stay in
 * the source (as the first page), else with 1. A page ends at its size or at 16 MiB. */
#include "extract.h"
#include "steps/kit/id_policy.h"

struct extract_pages_page {
    struct ext_doc *x;
    struct mrsi_shape_items items;
    uint64_t n;
    int64_t number;
    size_t start;
    bool open;
};

static enum mrs_status
open_page(struct extract_pages_page *p, struct mrs_val ref)
{
    MRS_ASSERT(!p->open);
    struct ext_doc *x = p->x;
    const struct mrsi_extract *s = x->s;
    struct mrs_buf *b = &x->w->made;
    uint8_t id[12], room[16];
    struct mrs_new_id in = {s->into.ns, s->from.ns, x->own_id, s->path_spec, &p->number, 1, mrsi_id_time(x->own_id)};
    enum mrs_status st = mrs_id_make(&in, &x->w->value, id, x->c->err);
    if (st != MRS_OK) {
        return mrsi_step_skip(x->c, st, "pages");
    }
    p->start = mrsi_put_open(b);
    mrsi_put_elem(b, "_id", 3, (struct mrs_val){id, 12, MRS_OBJECTID});
    mrsi_put_elem(b, s->pages.ref, (uint32_t)strlen(s->pages.ref), ref);
    mrsi_put_elem(b, s->pages.number, (uint32_t)strlen(s->pages.number), mrs_make_count(room, (uint64_t)p->number));
    mrsi_put_head(b, MRS_ARRAY, s->pages.items, (uint32_t)strlen(s->pages.items));
    mrsi_items_open(&p->items, b);
    p->n = 0;
    p->open = true;
    return MRS_OK;
}

static enum mrs_status
close_page(struct extract_pages_page *p)
{
    MRS_ASSERT(p->open);
    struct ext_work *w = p->x->w;
    mrsi_items_close(&p->items);
    mrsi_put_close(&w->made, p->start);
    struct ext_span span = {(uint32_t)p->start, (uint32_t)(w->made.n - p->start), true};
    mrs_buf_put(&w->span, &span, sizeof span);
    w->n_pages++;
    p->open = false;
    p->number++;
    enum mrs_status st = mrsi_buf_end(&w->made, 0, p->x->c, "pages");
    return st == MRS_OK ? mrsi_buf_end(&w->span, 0, p->x->c, "pages") : st;
}

static bool
fits(const struct extract_pages_page *p, struct mrs_val v)
{
    return p->x->w->made.n - p->start + p->items.name_len + 2 + v.n + 2 <= MRS_DOC_MAX;
}

static enum mrs_status
add(struct extract_pages_page *p, const struct ext_part *part)
{
    MRS_ASSERT(part->out);
    struct mrs_val v, own;
    enum mrs_status st = mrsi_extract_shape(p->x, part, false, &v, &own);
    if (st == MRS_OK && p->open && (p->n == p->x->s->pages.size || !fits(p, v))) {
        st = close_page(p);
    }
    if (st == MRS_OK && !p->open) {
        st = open_page(p, part->key);
        if (st == MRS_OK && !fits(p, v)) {
            return mrsi_step_refuse(p->x->c, "pages", "an item does not fit into a page of 16 MiB");
        }
    }
    if (st == MRS_OK) {
        mrsi_items_add(&p->items, v);
        p->n++;
    }
    return st;
}

enum mrs_status
mrsi_extract_pages(struct ext_doc *x)
{
    MRS_ASSERT(x->s->pages.present);
    struct extract_pages_page p = {.x = x, .number = x->s->leave.present ? 2 : 1};
    enum mrs_status st = MRS_OK;
    struct ext_each each = {.at = 0};
    const struct ext_part *part;
    while (st == MRS_OK && (part = mrsi_extract_next(x, &each)) != NULL) {
        struct mrs_arena_mark then = mrs_arena_mark(x->c->arena);
        st = part->out ? add(&p, part) : MRS_OK;
        mrs_arena_release(x->c->arena, then);
    }
    return st == MRS_OK && p.open ? close_page(&p) : st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* embed_feed.c - reads the matches of one document of `into` without duplicates, and finds dangling references.
 *
 * The engine returns a document once for each reference to it. If one array takes all matches, the document belongs
 * there once, so duplicates are skipped: adjacent ones if sorted, otherwise by a small table of input positions.
 * References that no match marks are dangling. This file does not write into a parent, except to remove dangling
 * references. */
#include "embed.h"
#include "mongoreshape/join_ops.h"

/* ---- buffers of a thread ---- */
void
mrsi_embed_work_start(struct embed_work *w, struct mrs_mem *mem)
{
    if (w->ready) {
        return;
    }
    mrs_buf_init(&w->value, mem, EMBED_BUF_MAX);
    mrs_buf_init(&w->doc, mem, EMBED_BUF_MAX);
    mrs_buf_init(&w->page, mem, EMBED_BUF_MAX);
    mrs_buf_init(&w->raw, mem, EMBED_BUF_MAX);
    mrs_buf_init(&w->seen.slots, mem, UINT32_MAX);
    mrsi_match_set_init(&w->hits, mem);
    mrsi_refs_init(&w->refs, mem);
    w->ready = true;
}

void
mrsi_embed_work_clear(struct mrs_ctx *c, void *work)
{
    struct embed_work *w = work;
    (void)c;
    if (!w->ready) {
        return;
    }
    mrs_buf_clear(&w->value);
    mrs_buf_clear(&w->doc);
    mrs_buf_clear(&w->page);
    mrs_buf_clear(&w->raw);
    mrs_buf_clear(&w->seen.slots);
    mrsi_match_set_clear(&w->hits);
    mrsi_refs_clear(&w->refs);
    w->ready = false;
}

/* ---- matches ---- */
enum mrs_status
mrsi_embed_next(struct embed_splice *x, struct mrs_match *out)
{
    MRS_ASSERT(x->m->next);
    for (;;) {
        bool again = false;
        enum mrs_status st = x->m->next(x->m, out, x->c->err);
        if (st != MRS_OK) {
            return st;
        }
        if (x->finding) {
            x->w->hits.found.p[out->ref] |= MRSI_FOUND_MATCH;
        }
        if (x->doubles && x->s->sort) {
            again = x->at && out->order == x->last_order;
        } else if (x->doubles) {
            st = mrsi_orders_add(&x->w->seen, out->order, &again, x->c->err);
        }
        if (st != MRS_OK) {
            return st;
        }
        if (!again) {
            x->last_order = out->order;
            x->at++;
            return MRS_OK;
        }
        x->m->used(x->m, 0);
    }
}

enum mrs_status
mrsi_embed_taken(struct embed_splice *x, const struct mrs_match *m)
{
    MRS_ASSERT(x->m->used);
    return !m->failed ? MRS_OK
                      : mrsi_step_refuse(x->c, m->why_where, "%s",
                                         m->why ? m->why : "a document that belongs here failed");
}

enum mrs_status
mrsi_embed_rewind(struct embed_splice *x)
{
    x->at = 0;
    mrs_number_table_forget(&x->w->seen);
    return x->m->rewind(x->m, x->c->err);
}

/* ---- counting and finding ---- */
enum mrs_status
mrsi_embed_tally(struct embed_splice *x)
{
    MRS_ASSERT(x->w->ready);
    struct mrs_match m;
    enum mrs_status st = MRS_OK;
    bool mark = x->s->join.into_points && x->s->dangling != MRSI_DANGLING_KEEP;
    if (!mark && !x->doubles) {
        x->n = x->m->n;
        return MRS_OK;
    }
    if (mark) {
        st = mrsi_match_set_begin(&x->w->hits, x->c, x->m);
        x->finding = st == MRS_OK;
    }
    while (st == MRS_OK) {
        st = mrsi_embed_next(x, &m);
    }
    x->finding = false;
    x->n = x->at;
    return st == MRS_END ? mrsi_embed_rewind(x) : st;
}

/* ---- dangling references ---- */
static enum mrsi_taking
dangling(const void *arg, const struct mrsi_ref_occurrence *o)
{
    const struct embed_splice *x = arg;
    if (!o->n_keys || o->null || mrsi_match_set_found(&x->w->hits, o, MRSI_FOUND_ANY)) {
        return MRSI_TAKE_KEEP;
    }
    return x->s->dangling == MRSI_DANGLING_NULL ? MRSI_TAKE_NULL : MRSI_TAKE_REMOVE;
}

enum mrs_status
mrsi_embed_dangling(struct embed_splice *x, struct mrs_view *doc)
{
    MRS_ASSERT(doc);
    const struct mrsi_embed *s = x->s;
    struct mrsi_ref_removal t = {.c = x->c, .refs = &x->w->refs, .edit = s->ref_edit, .value = &x->w->value, .raw =
            &x->w->raw,
                          .what = dangling, .arg = x, .key = "dangling"};
    bool any = false;
    if (!s->join.into_points || s->dangling == MRSI_DANGLING_KEEP || x->w->refs.incomplete) {
        return MRS_OK;
    }
    if (s->dangling == MRSI_DANGLING_REFUSE) {
        for (uint32_t i = 0; i < mrsi_refs_n_occurrence(&x->w->refs); i++) {
            if (dangling(x, &mrsi_refs_occurrence(&x->w->refs)[i]) != MRSI_TAKE_KEEP) {
                return mrsi_step_refuse(x->c, "dangling", "a reference matches no document of %s", s->join.from.ns);
            }
        }
        return MRS_OK;
    }
    mrs_buf_reset(&x->w->doc);
    enum mrs_status st = mrsi_refs_take(&t, *doc, &x->w->doc, &any);
    if (st == MRS_OK && any) {
        *doc = mrsi_buf_view(&x->w->doc, 0);
    }
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c - reads rows of related values; see gather.h */
#include "gather.h"

enum { ROWS_AHEAD = 64, MEMORY = 16 << 20 };

struct lookup_ahead { /* of a worker */
    struct mrsi_hash_row row[ROWS_AHEAD];
    uint32_t n;
    uint64_t lacking;
};
struct gathering {
    struct mrsi_lookup_value **lookup; /* of this collection */
    uint32_t n;
    struct lookup_ahead *ahead; /* [worker][lookup] */
};
struct gather_match {
    struct mrsi_lookup_value *lookup;
    struct lookup_ahead *ahead;
    struct mrs_val root;
    uint32_t holder;
};

uint64_t
mrsi_row_hash(struct mrs_val v, bool as_number)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrsi_canon c;
    mrsi_canon(&v, &c);
    if (c.is >= MRSI_OBJECT && c.is <= MRSI_NOTHING) {
        return 0;
    }
    return as_number && (c.digits || c.is == MRSI_NUMBER) ? mrsi_number_hash(c.number) : c.hash;
}

static enum mrs_status
one_holder(void *arg, const struct mrs_val *v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(*v));
    struct gather_match *h = arg;
    struct mrsi_lookup_value *w = h->lookup;
    struct mrsi_hash_row row = {{0}, 1};
    for (uint32_t i = 0; i < w->n; i++) {
        bool root = w->of_root && i + 1 == w->n;
        uint32_t skip = root ? 0 : h->holder;
        struct mrs_val at = mrsi_pick_one(root ? h->root : *v, w->path[i]->way + skip, w->path[i]->ways - skip);
        row.key[i] = mrsi_row_hash(at, w->as_number[i]);
        if (!row.key[i]) {
            h->ahead->lacking++;
            return MRS_OK;
        }
    }
    h->ahead->row[h->ahead->n++] = row;
    if (h->ahead->n < ROWS_AHEAD) {
        return MRS_OK;
    }
    h->ahead->n = 0;
    return mrsi_rowset_put(&w->rows, h->ahead->row, ROWS_AHEAD, e);
}

static enum mrs_status
gather_doc(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct gathering *g = arg;
    enum mrs_status s = MRS_OK;
    (void)ordinal;
    for (uint32_t i = 0; s == MRS_OK && i < g->n; i++) {
        const struct mrsi_path *first = g->lookup[i]->path[0];
        struct gather_match h = {g->lookup[i], &g->ahead[(size_t)worker * g->n + i], mrs_view_val(doc),
                                 mrsi_holder_ways(first)};
        s = mrsi_pick(h.root, first->way, h.holder, false, one_holder, &h, e);
    }
    return s;
}

static enum mrs_status
one_scan(struct mrsi_relating *x, struct gathering *g, struct mrs_err *e)
{
    MRS_ASSERT(g->n > 0);
    uint32_t workers = x->source->workers;
    g->ahead = mrs_zalloc(x->x->mem, ((size_t)workers * g->n + 1) * sizeof *g->ahead);
    enum mrs_status s = mrs_allocated(g->ahead, sizeof *g->ahead, e);
    MRS_THEN(s, mrsi_scan(x, g->lookup[0]->path[0]->in, false, gather_doc, g, e));
    for (uint32_t i = 0; s == MRS_OK && i < g->n; i++) {
        for (uint32_t w = 0; s == MRS_OK && w < workers; w++) {
            struct lookup_ahead *a = &g->ahead[(size_t)w * g->n + i];
            g->lookup[i]->lacking += a->lacking;
            s = mrsi_rowset_put(&g->lookup[i]->rows, a->row, a->n, e);
        }
        MRS_THEN(s, mrsi_rowset_seal(&g->lookup[i]->rows, e));
    }
    mrs_free(x->x->mem, g->ahead);
    return s;
}

enum mrs_status
mrsi_gather(struct mrsi_relating *x, struct mrsi_lookup_value *const *lookup, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(lookup || n == 0);
    struct gathering g = {mrs_alloc_array(x->x->mem, n + 1, sizeof(struct mrsi_lookup_value *)), 0, NULL};
    enum mrs_status s = mrs_allocated(g.lookup, n * sizeof(struct mrsi_lookup_value *), e);
    for (uint32_t c = 0; s == MRS_OK && c < x->x->colls; c++) {
        g.n = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (lookup[i]->path[0]->in == &x->x->coll[c]) {
                g.lookup[g.n++] = lookup[i];
            }
        }
        for (uint32_t i = 0; i < g.n; i++) {
            mrsi_rowset_begin(&g.lookup[i]->rows, &x->store, g.lookup[i]->n, MEMORY / g.n);
        }
        s = g.n ? one_scan(x, &g, e) : s;
    }
    mrs_free(x->x->mem, g.lookup);
    return s;
}

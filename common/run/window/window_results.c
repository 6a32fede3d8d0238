/* SPDX-License-Identifier: Apache-2.0 */
/* window_results.c - the results of the step: workers write them group by group, the second pass reads them
 * in input order.
 *
 * A result goes to the partition of its document's ordinal (spill.h), so any number of results is written and read in
 * large pieces. A value common to a group is stored once, in a file of its own; results have its position. */
#include "window_pass.h"

enum { RESULT = 40 /* bytes, usually */ };

enum mrs_status
mrsi_window_results_init(struct mrsi_window_results *g, struct mrsi_engine *en, uint64_t documents,
                         uint64_t other_bytes, struct mrs_err *e)
{
    MRS_ASSERT(!g->en);
    const struct mrsi_spill_need need = {.ordinals = documents, .other_bytes = other_bytes,
                                         .records = documents * (sizeof(struct mrsi_rec) + RESULT)};
    const struct mrsi_spill_layout layout = mrsi_layout_join(en->memory, en->jobs, &need);
    g->en = en;
    mrsi_file_array_init(&g->shared, en, 1, en->memory / 16);
    g->shared.kept = true;
    mrs_buf_init(&g->pieces, en->mem, SIZE_MAX);
    mrs_buf_init(&g->list, en->mem, SIZE_MAX);
    mrs_buf_init(&g->place, en->mem, SIZE_MAX);
    pthread_mutex_init(&g->lock, NULL);
    return mrsi_spill_init(&g->spill, en, documents, &layout, e);
}

void
mrsi_window_results_clear(struct mrsi_window_results *g)
{
    if (g->en) {
        mrsi_file_array_clear(&g->shared);
        mrs_buf_clear(&g->pieces);
        mrs_buf_clear(&g->list);
        mrs_buf_clear(&g->place);
        pthread_mutex_destroy(&g->lock);
        mrsi_spill_clear(&g->spill);
        mrsi_spill_clear(&g->split.spill);
        memset(g, 0, sizeof *g);
    }
}

/* ---- putting ---- */
enum mrs_status
mrsi_window_put_shared(struct mrsi_window_results *g, struct mrs_view doc, uint64_t *at, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    pthread_mutex_lock(&g->lock);
    *at = g->shared.n;
    enum mrs_status s = mrsi_file_array_put_n(&g->shared, doc.p, doc.n, e);
    pthread_mutex_unlock(&g->lock);
    return s;
}

enum mrs_status
mrsi_window_put_result(struct mrsi_spiller *to, uint64_t ordinal, uint64_t shared, struct mrs_view doc,
                       struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && to && to->sp);
    struct mrsi_rec r = {.ord = ordinal, .order = shared, .payload_len = doc.n};
    const struct mrsi_rec_parts x = {NULL, NULL, doc.p};
    r.total = mrsi_rec_total(&r);
    return mrsi_spiller_put(to, &r, &x, e);
}

/* ---- taking ---- */
/* Loads the partition of a document, with the place of each of its results. */
static enum mrs_status
load(struct mrsi_window_results *g, uint64_t ordinal, struct mrs_err *e)
{
    const struct mrsi_spill *in;
    uint32_t part;
    MRS_TRY(mrsi_spill_find(&g->spill, &g->split, ordinal, &in, &part, e));
    const struct mrsi_partition *p = &in->part[part];
    MRS_ASSERT(ordinal >= p->lo && ordinal < p->hi);
    mrs_buf_reset(&g->place);
    const struct mrsi_rec **place = (void *)mrs_buf_take(&g->place, (p->hi - p->lo) * sizeof *place);
    enum mrs_status s = mrsi_partition_load(in, p, p->lo, p->hi, &g->pieces, &g->list, e);
    if (s != MRS_OK || !place) {
        return s == MRS_OK ? mrs_buf_status(&g->place, e) : s;
    }
    memset(place, 0, g->place.n);
    const struct mrsi_loaded *one = (const struct mrsi_loaded *)(const void *)g->list.p;
    for (size_t i = 0; i < g->list.n / sizeof *one; i++) {
        place[one[i].rel] = one[i].rec;
    }
    g->lo = p->lo;
    g->hi = p->hi;
    return MRS_OK;
}

struct mrs_view
mrsi_window_shared(const struct mrsi_window_results *g, uint64_t at)
{
    MRS_ASSERT(at == MRSI_WINDOW_ALONE || at < g->shared.n);
    return at == MRSI_WINDOW_ALONE ? mrs_empty_doc() : mrsi_window_doc_at(g->shared.p + at);
}

/* What another run has left may have come to harm; of a result itself its piece has the checksum. */
static bool
is_sound(const struct mrsi_window_results *g, uint64_t shared)
{
    uint64_t left = shared < g->shared.n ? g->shared.n - shared : 0;
    return shared == MRSI_WINDOW_ALONE ||
           (left >= MRS_DOC_MIN && mrs_le32(g->shared.p + shared) <= left &&
            mrsi_savepoint_is_doc(g->shared.p + shared, mrs_le32(g->shared.p + shared)));
}

static enum mrs_status
take_one(struct mrsi_window_results *g, struct mrsi_window_taken *t, const struct mrsi_rec *r, struct mrs_err *e)
{
    const uint64_t place = r ? t->bytes.n + 1 : 0;
    mrs_buf_put(&t->at, &place, sizeof place);
    t->n++;
    if (r && g->resumed && r->order != g->last && !is_sound(g, r->order)) {
        return mrsi_state_damaged("what was computed for documents", e);
    }
    if (r) {
        g->last = r->order;
        mrs_buf_put(&t->bytes, &r->order, sizeof r->order);
        mrs_buf_put(&t->bytes, mrsi_rec_payload(r), r->payload_len);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_window_take(struct mrsi_window_results *g, struct mrsi_window_taken *t, uint64_t end, struct mrs_err *e)
{
    MRS_ASSERT(g->shared.ended && t->first < end);
    enum mrs_status s = end <= g->spill.total ? MRS_OK : mrsi_state_damaged("the step", e); /* only of another run */
    mrs_buf_reset(&t->at);
    mrs_buf_reset(&t->bytes);
    t->n = 0;
    for (uint64_t i = t->first; s == MRS_OK && i < end && !mrsi_is_large(g->en, t->bytes.n); i++) {
        s = i < g->lo || i >= g->hi ? load(g, i, e) : MRS_OK;
        MRS_THEN(s, take_one(g, t, ((const struct mrsi_rec *const *)(const void *)g->place.p)[i - g->lo], e));
    }
    MRS_THEN(s, mrs_buf_status(&t->at, e));
    return s == MRS_OK ? mrs_buf_status(&t->bytes, e) : s;
}

/* ---- savepoints ---- */
enum mrs_status
mrsi_window_results_save(struct mrsi_window_results *g, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = mrsi_spill_save(&g->spill, "given", b, files, e);
    return s == MRS_OK ? mrsi_file_array_save(&g->shared, "alike", b, files, e) : s;
}

enum mrs_status
mrsi_window_results_load(struct mrsi_window_results *g, struct mrs_view saved, struct mrs_err *e)
{
    const uint64_t documents = g->spill.total;
    g->resumed = true;
    g->last = MRSI_WINDOW_ALONE;
    enum mrs_status s = mrsi_spill_load(&g->spill, saved, "given", e);
    MRS_THEN(s, mrsi_file_array_load(&g->shared, saved, "alike", e));
    MRS_THEN(s, mrsi_file_array_end(&g->shared, e));
    return s == MRS_OK && g->spill.total != documents ? mrsi_state_damaged("the step", e) : s;
}

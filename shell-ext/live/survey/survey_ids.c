/* SPDX-License-Identifier: Apache-2.0 */
/* survey_ids.c - draws the sample of a large collection on the server, once, and stores its `_id`s.
 *
 * An inspection reads a collection more than once, and all passes must read the same documents. So only ids are drawn
 * ($sample), sorted, and written to a temporary file as filters, ready to be sent. The server may draw a document
 * twice; it counts once. */
#include "survey.h"

#include "live/link/bson.h"

enum { IDS_BYTES = 16 << 20, FILTER_IDS = 1000, FILTER_BYTES = 256 << 10 };

struct survey_draw {
    struct mrs_buf ids;   /* contiguous documents {_id: v} */
    uint64_t n;
    struct mrs_val *id;   /* sorted, without duplicates */
};

/* Values that $in does not take literally are left out of the sample. */
static bool
can_query_id(struct mrs_val id)
{
    struct mrs_walk w;
    struct mrs_elem first;
    if (id.type == MRS_DOCUMENT) {
        mrs_walk_init(&w, mrs_val_view(id));
        return mrs_walk_next(&w, &first) <= 0 || first.name[0] != '$';
    }
    return id.type != MRS_MISSING && id.type != MRS_UNDEFINED && id.type != MRS_REGEX && id.type != MRS_ARRAY;
}

/* END: connection lost. */
static enum mrs_status
draw(struct live_survey *v, const struct live_survey_coll *c, struct survey_draw *d, int *tries, struct mrs_err *e)
{
    struct mrs_buf buf, how;
    struct mrs_view stages, opts, doc;
    struct live_cursor *cursor = NULL;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    d->n = 0;
    mrs_buf_reset(&d->ids);
    mrs_buf_init(&buf, v->job->mem, 1024);
    mrs_buf_init(&how, v->job->mem, 1024);
    enum mrs_status s = live_doc(&buf, &stages, e, "[{$sample: {size: %I}}, {$project: {_id: 1}}]",
                                 (int64_t)v->opts.sample);
    MRS_THEN(s, live_doc(&how, &opts, e, "{allowDiskUse: true, batchSize: 10000}"));
    MRS_THEN(s, live_aggregate(v->job->link, &c->info->coll, stages, opts, 0, &cursor, e));
    while (s == MRS_OK && d->ids.n < IDS_BYTES && (s = live_cursor_next(cursor, &doc, &f, e)) == MRS_OK) {
        if (can_query_id(mrs_doc_get(doc, "_id"))) {
            mrs_buf_put(&d->ids, doc.p, doc.n);
            d->n++;
        }
        s = live_survey_stopped(v, e);
        MRS_THEN(s, mrs_buf_status(&d->ids, e));
    }
    live_cursor_close(cursor);
    mrs_buf_clear(&buf);
    mrs_buf_clear(&how);
    if (s == MRS_FAIL && f.kind == LIVE_FAULT_NETWORK) {
        return live_survey_again(v, c->info->coll.ns, tries, e);
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
sort(struct live_survey *v, struct survey_draw *d, struct mrs_err *e)
{
    MRS_ASSERT(!d->id);
    const uint8_t *at = d->ids.p;
    d->id = mrs_alloc_array(v->job->mem, d->n + 1, sizeof *d->id);
    MRS_TRY(mrs_allocated(d->id, d->n * sizeof *d->id, e));
    for (uint64_t i = 0; i < d->n; i++) {
        struct mrs_view doc = {at, mrs_le32(at)};
        d->id[i] = mrs_doc_get(doc, "_id");
        at += doc.n;
    }
    d->n = live_vals_distinct(d->id, d->n);
    return MRS_OK;
}

/* The filter of the ids from `from` on; *n: their number. */
static enum mrs_status
make_filter(const struct survey_draw *d, uint64_t from, struct mrs_buf *out, struct mrs_view *filter, uint64_t *n,
            struct mrs_err *e)
{
    MRS_ASSERT(from < d->n);
    struct mrs_build b;
    uint64_t bytes = 0;
    mrs_buf_reset(out);
    mrs_build_init(&b, out);
    mrs_build_open(&b, "_id", 3, MRS_DOCUMENT);
    mrs_build_open(&b, "$in", 3, MRS_ARRAY);
    for (*n = 0; from + *n < d->n && *n < FILTER_IDS && bytes < FILTER_BYTES; ++*n) {
        mrs_build_item(&b, d->id[from + *n]);
        bytes += d->id[from + *n].n;
    }
    mrs_build_close(&b);
    mrs_build_close(&b);
    return mrs_build_finish(&b, filter, e);
}

static enum mrs_status
keep(struct live_survey *v, struct live_survey_coll *c, const struct survey_draw *d, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_view filter;
    enum mrs_status s = v->file < 0 ? mrs_temp_open(v->opts.tmp, &v->file, e) : MRS_OK;
    mrs_buf_init(&buf, v->job->mem, IDS_BYTES + (1 << 20));
    c->at = v->file_end;
    for (uint64_t at = 0, n = 0; s == MRS_OK && at < d->n; at += n) {
        s = make_filter(d, at, &buf, &filter, &n, e);
        MRS_THEN(s, mrs_write_at(v->file, filter.p, filter.n, v->file_end, e));
        v->file_end += filter.n;
    }
    c->end = v->file_end;
    c->ids = d->n;
    mrs_buf_clear(&buf);
    return s;
}

enum mrs_status
live_survey_choose(struct live_survey *v, struct live_survey_coll *c, struct mrs_err *e)
{
    MRS_ASSERT(!c->chosen);
    struct survey_draw d = {.n = 0};
    int tries = 0;
    c->sampled = !v->opts.whole && c->count > v->opts.sample;
    c->chosen = true;
    if (!c->sampled) {
        return MRS_OK;
    }
    mrs_buf_init(&d.ids, v->job->mem, SIZE_MAX);
    enum mrs_status s;
    do {
        s = draw(v, c, &d, &tries, e);
    } while (s == MRS_END);
    MRS_THEN(s, sort(v, &d, e));
    MRS_THEN(s, keep(v, c, &d, e));
    mrs_buf_clear(&d.ids);
    mrs_free(v->job->mem, d.id);
    return s == MRS_FAIL ? live_survey_place(c, e) : s;
}

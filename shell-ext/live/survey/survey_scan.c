/* SPDX-License-Identifier: Apache-2.0 */
/* survey_scan.c - reads the documents of a collection, all or those of its sample, at most at the allowed rate.
 *
 * Always in `_id` order, so that a read resumes after the last document when the connection was lost. One pass may see
 * concurrent writes that another does not. */
#include "survey.h"

#include "live/link/bson.h"
#include "live/pass/range_pass.h"
#include "live/state/state_io.h"

#include <stdio.h>

enum { RANGE_DOCS = 1000, RANGE_BYTES = 4 << 20, TRIES = 5, TRY_MS = 1000, SLICE_MS = 100 };

struct survey_scan {
    struct live_survey *v;
    const struct live_survey_coll *c;
    const struct mrs_inspect_sink *to;
    struct mrs_buf last;  /* {_id: v} of the last document passed on, or the end of a range */
    uint64_t ordinal;
    uint64_t docs, bytes; /* of the batch */
    int tries;            /* consecutive lost connections */
    bool enough;          /* the receiver needs no more */
};

static struct mrs_view
last(const struct survey_scan *k)
{
    return (struct mrs_view){k->last.p, (uint32_t)k->last.n};
}

static enum mrs_status
hand_on(struct survey_scan *k, struct mrs_view doc, struct mrs_err *e)
{
    k->docs++;
    k->bytes += doc.n;
    enum mrs_status s = k->to->doc(k->to->arg, 0, doc, k->ordinal++, e);
    k->enough = s == MRS_END;
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
live_survey_place(const struct live_survey_coll *c, struct mrs_err *e)
{
    const char *ns = c->info->coll.ns;
    if (e && e->code != MRS_E_CANCEL && !e->ns[0] && !strstr(e->msg, ns)) {
        snprintf(e->ns, sizeof e->ns, "%s", ns);
    }
    return MRS_FAIL;
}

enum mrs_status
live_survey_stopped(const struct live_survey *v, struct mrs_err *e)
{
    return live_cancelled(v->job) ? mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted") : MRS_OK;
}

enum mrs_status
live_survey_breathe(struct live_survey *v, const char *ns, uint64_t docs, uint64_t bytes, struct mrs_err *e)
{
    struct live_progress p = {.phase = v->phase, .ns = ns, .done = v->done, .estimated = v->total};
    int64_t until = v->since_ms + live_control_due(&v->opts.limits, docs, bytes);
    int64_t rest = mrs_clock_asleep() + v->opts.limits.sleep_ms;
    until = until > rest ? until : rest;
    if (v->job->progress) {
        v->job->progress(v->job->arg, &p);
    }
    while (!live_cancelled(v->job) && mrs_clock_asleep() < until) {
        int64_t left = until - mrs_clock_asleep();
        live_nap(left < SLICE_MS ? left : SLICE_MS);
    }
    v->since_ms = mrs_clock_asleep();
    return live_survey_stopped(v, e);
}

enum mrs_status
live_survey_again(struct live_survey *v, const char *ns, int *tries, struct mrs_err *e)
{
    if (++*tries >= TRIES) {
        mrs_err_clear(e);
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "%s: the connection was lost %d times; start over when the "
                           "server can be reached", ns, TRIES);
    }
    mrs_err_clear(e);
    live_nap(TRY_MS);
    enum mrs_status s = live_survey_stopped(v, e);
    return s == MRS_OK ? MRS_END : s;
}

/* After a batch. */
static enum mrs_status
breathe(struct survey_scan *k, struct mrs_err *e)
{
    uint64_t docs = k->docs, bytes = k->bytes;
    k->v->done += docs;
    k->docs = k->bytes = 0;
    return live_survey_breathe(k->v, k->c->info->coll.ns, docs, bytes, e);
}

/* ---- all documents ---- */
static enum mrs_status
one_range(struct survey_scan *k, struct live_range *r, struct mrs_err *e)
{
    enum mrs_status s = live_range_read(k->v->job, &k->c->info->coll, last(k), RANGE_DOCS, RANGE_BYTES, r, e);
    if (s == MRS_END) {
        return live_survey_again(k->v, k->c->info->coll.ns, &k->tries, e);
    }
    for (uint32_t i = 0; s == MRS_OK && !k->enough && i < r->n; i++) {
        s = hand_on(k, r->docs[i], e);
    }
    if (s == MRS_OK) {
        k->tries = 0;
        mrs_buf_reset(&k->last);
        mrs_buf_put(&k->last, r->bound.p, r->bound.n);
        s = mrs_buf_status(&k->last, e);
    }
    return s;
}

static enum mrs_status
all(struct survey_scan *k, struct mrs_err *e)
{
    struct live_range r;
    enum mrs_status s = MRS_OK;
    bool end = false;
    live_range_init(&r, k->v->job->mem);
    while (s == MRS_OK && !end) {
        s = one_range(k, &r, e);
        end = s == MRS_OK && (r.last || k->enough);
        s = s == MRS_END ? MRS_OK : s;
        MRS_THEN(s, breathe(k, e));
    }
    live_range_clear(&r);
    return s;
}

/* ---- a sample ---- */
static enum mrs_status
read_filter(const struct survey_scan *k, uint64_t at, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(k->v->file >= 0);
    uint8_t size[4];
    mrs_buf_reset(out);
    enum mrs_status s = mrs_read_at(k->v->file, size, sizeof size, at, e);
    uint32_t n = s == MRS_OK ? mrs_le32(size) : 0;
    void *room = s == MRS_OK ? mrs_buf_take(out, n) : NULL;
    if (s == MRS_OK && !room) {
        return mrs_err_memory(e, n);
    }
    return s == MRS_OK ? mrs_read_at(k->v->file, room, n, at, e) : s;
}

static enum mrs_status
note_last(struct survey_scan *k, struct mrs_view doc, struct mrs_err *e)
{
    struct mrs_build b;
    struct mrs_view none;
    mrs_buf_reset(&k->last);
    mrs_build_init(&b, &k->last);
    mrs_build_val(&b, "_id", 3, mrs_doc_get(doc, "_id"));
    return mrs_build_finish(&b, &none, e);
}

/* Reads the documents of one filter, after the last one passed on. END: connection lost. */
static enum mrs_status
one_filter(struct survey_scan *k, struct mrs_view filter, struct mrs_view opts, struct mrs_err *e)
{
    struct live_cursor *cursor = NULL;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    struct mrs_view doc;
    enum mrs_status s = live_find(k->v->job->link, &k->c->info->coll, filter, opts, 0, &cursor, e);
    while (s == MRS_OK && !k->enough && (s = live_cursor_next(cursor, &doc, &f, e)) == MRS_OK) {
        if (k->tries && k->last.n && mrs_compare(mrs_doc_get(doc, "_id"), mrs_doc_get(last(k), "_id")) <= 0) {
            continue;
        }
        s = hand_on(k, doc, e);
        MRS_THEN(s, note_last(k, doc, e));
    }
    live_cursor_close(cursor);
    if (s == MRS_FAIL && f.kind == LIVE_FAULT_NETWORK) {
        return live_survey_again(k->v, k->c->info->coll.ns, &k->tries, e);
    }
    k->tries = 0;
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
sample(struct survey_scan *k, struct mrs_err *e)
{
    MRS_ASSERT(k->c->sampled);
    struct mrs_buf filter, buf;
    struct mrs_view opts;
    mrs_buf_init(&filter, k->v->job->mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&buf, k->v->job->mem, 1024);
    enum mrs_status s = live_doc(&buf, &opts, e, "{sort: {_id: 1}}");
    for (uint64_t at = k->c->at; s == MRS_OK && !k->enough && at < k->c->end;) {
        s = read_filter(k, at, &filter, e);
        struct mrs_view f = {filter.p, s == MRS_OK ? mrs_le32(filter.p) : 0};
        MRS_THEN(s, one_filter(k, f, opts, e));
        at += s == MRS_OK ? f.n : 0;
        s = s == MRS_END ? MRS_OK : s;
        MRS_THEN(s, breathe(k, e));
    }
    mrs_buf_clear(&filter);
    mrs_buf_clear(&buf);
    return s;
}

enum mrs_status
live_survey_scan(struct live_survey *v, const struct live_survey_coll *c, const struct mrs_inspect_sink *to,
                 struct mrs_err *e)
{
    MRS_ASSERT(c->chosen);
    struct survey_scan k = {.v = v, .c = c, .to = to};
    mrs_buf_init(&k.last, v->job->mem, MRS_DOC_READ_MAX);
    v->since_ms = mrs_clock_asleep();
    enum mrs_status s = c->sampled ? sample(&k, e) : all(&k, e);
    mrs_buf_clear(&k.last);
    return s == MRS_FAIL ? live_survey_place(c, e) : s;
}

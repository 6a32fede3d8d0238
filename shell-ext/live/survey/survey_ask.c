/* SPDX-License-Identifier: Apache-2.0 */
/* survey_ask.c - finds which of some values a collection has, by an index.
 *
 * The query names the index, so that it never becomes a scan; only the values are returned. */
#include "survey.h"

#include "live/link/bson.h"

static enum mrs_status
answers(struct live_survey *v, const struct live_survey_coll *c, const struct mrs_inspect_question *q,
        struct mrs_view filter, struct mrs_view opts, int *tries, struct mrs_err *e)
{
    struct live_cursor *cursor = NULL;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    struct mrs_view doc;
    uint64_t docs = 0, bytes = 0;
    v->since_ms = mrs_clock_asleep();
    enum mrs_status s = live_find(v->job->link, &c->info->coll, filter, opts, 0, &cursor, e);
    while (s == MRS_OK && (s = live_cursor_next(cursor, &doc, &f, e)) == MRS_OK) {
        docs++;
        bytes += doc.n;
        q->hit(q->arg, live_at(doc, q->path));
    }
    live_cursor_close(cursor);
    if (s == MRS_FAIL && f.kind == LIVE_FAULT_NETWORK) {
        return live_survey_again(v, c->info->coll.ns, tries, e);
    }
    return s == MRS_END ? live_survey_breathe(v, c->info->coll.ns, docs, bytes, e) : s;
}

enum mrs_status
live_survey_lookup(struct live_survey *v, const struct live_survey_coll *c, const struct mrs_inspect_question *q,
                   struct mrs_err *e)
{
    MRS_ASSERT(q->path);
    struct mrs_arena a;
    struct mrs_view filter, opts;
    int tries = 0;
    mrs_arena_init(&a, v->job->mem);
    enum mrs_status s = live_doc_in(&a, &filter, e, "{%s: {$in: %a}}", q->path, q->values);
    if (q->index) {
        MRS_THEN(s, live_doc_in(&a, &opts, e, "{projection: {_id: 0, %s: 1}, hint: %s}", q->path, q->index));
    } else {
        MRS_THEN(s, live_doc_in(&a, &opts, e, "{projection: {_id: 1}}"));
    }
    if (s == MRS_OK) {
        do {
            s = answers(v, c, q, filter, opts, &tries, e);
        } while (s == MRS_END);
    }
    mrs_arena_clear(&a);
    return s;
}

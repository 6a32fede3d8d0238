/* SPDX-License-Identifier: Apache-2.0 */
/* survey_profile.c - reads the profiler's records on the primary.
 *
 * Each member has its own records; those of the primary cover all writes, and the reads of applications with the
 * default read preference. The collection is capped: a read resumed after a lost connection may miss a few records. */
#include "survey.h"

#include "live/link/bson.h"

#include <stdio.h>

enum { BATCH = 1000 };

struct survey_notes {
    struct live_survey *v;
    const struct mrs_inspect_sink *to;
    struct mrs_coll coll;
    uint64_t at; /* documents passed on */
    int tries;
};

/* END: connection lost; FAIL: also without the privilege, which is recorded. */
static enum mrs_status
read_notes(struct survey_notes *k, struct mrs_err *e)
{
    struct live_cursor *cursor = NULL;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    struct mrs_buf buf;
    struct mrs_view opts, doc;
    uint64_t bytes = 0, docs = 0;
    mrs_buf_init(&buf, k->v->job->mem, 1024);
    enum mrs_status s = live_doc(&buf, &opts, e, "{skip: %i}", (int64_t)k->at);
    MRS_THEN(s, live_find(k->v->job->link, &k->coll, mrs_empty_doc(), opts, LIVE_LOCAL | LIVE_ON_PRIMARY, &cursor, e));
    while (s == MRS_OK && (s = live_cursor_next(cursor, &doc, &f, e)) == MRS_OK) {
        bytes += doc.n;
        docs++;
        s = k->to->doc(k->to->arg, 0, doc, k->at++, e);
        if (s == MRS_OK && docs == BATCH) {
            s = live_survey_breathe(k->v, k->coll.ns, docs, bytes, e);
            docs = bytes = 0;
        }
    }
    live_cursor_close(cursor);
    mrs_buf_clear(&buf);
    k->v->profile_denied |= s == MRS_FAIL && f.kind == LIVE_FAULT_DENIED;
    if (s == MRS_FAIL && f.kind == LIVE_FAULT_NETWORK) {
        return live_survey_again(k->v, k->coll.ns, &k->tries, e);
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
one_database(struct live_survey *v, const char *db, const struct mrs_inspect_sink *to, struct mrs_err *e)
{
    MRS_ASSERT(db[0]);
    char ns[80];
    struct survey_notes k = {.v = v, .to = to, .coll = {.db = db, .coll = "system.profile", .ns = ns}};
    snprintf(ns, sizeof ns, "%s.system.profile", db);
    v->since_ms = mrs_clock_asleep();
    enum mrs_status s;
    do {
        s = read_notes(&k, e);
    } while (s == MRS_END);
    return s;
}

enum mrs_status
live_survey_profile(struct live_survey *v, const struct mrs_inspect_sink *to, struct mrs_err *e)
{
    struct mrs_err own;
    enum mrs_status s = MRS_OK;
    if (live_link_sharded(v->job->link)) { /* a mongos has none */
        return s;
    }
    for (uint32_t i = 0; s == MRS_OK && !v->profile_denied && i < v->n; i++) {
        const char *db = v->coll[i].info->coll.db;
        if (i == 0 || strcmp(db, v->coll[i - 1].info->coll.db) != 0) {
            mrs_err_clear(&own);
            s = one_database(v, db, to, &own);
        }
    }
    if (s == MRS_FAIL && v->profile_denied) {
        return MRS_OK; /* unknown figures are omitted */
    }
    if (s != MRS_OK && e) {
        *e = own;
    }
    return s;
}

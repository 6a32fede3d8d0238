/* SPDX-License-Identifier: Apache-2.0 */
/* survey.h - the collections of a server as something to inspect (mongoreshape/inspect.h): whole, or by a sample that
 * is the same in each of the passes of an inspection.
 *
 * Reads only. It belongs to one thread. */
#ifndef LIVE_SURVEY_H
#define LIVE_SURVEY_H

#include "live/server/server.h"
#include "live/state/run_document.h"
#include "mongoreshape/inspect.h"

struct live_survey_opts {
    const char *db;       /* NULL: all that the user may see */
    const char *like;     /* a pattern of namespaces; NULL: all */
    bool whole;           /* all documents, however many */
    uint64_t sample;      /* most documents of a collection */
    const char *tmp;      /* folder for the file of ids; NULL: $TMPDIR, else /tmp */
    struct live_control limits; /* how fast it may read */
};
enum { LIVE_SAMPLE = 100000, LIVE_SAMPLE_MAX = 10000000 };

struct live_survey_coll {
    const struct live_coll_info *info;
    uint64_t count;       /* documents, as the server counts them */
    uint64_t ids;         /* of the sample */
    uint64_t at, end;     /* of its filters in the file */
    bool chosen;          /* it is known whether it is read whole */
    bool sampled;
};
struct live_survey {
    struct live_job *job;
    struct live_survey_opts opts;
    struct live_survey_coll *coll;
    uint32_t n;
    int file;             /* filters {_id: {$in: [...]}}, one behind the other; -1: none yet */
    uint64_t file_end;
    const char *phase;
    uint64_t done, total; /* documents of this phase */
    int64_t since_ms;     /* the batch in hand was asked for */
    struct mrs_buf metadata, uses;
    bool uses_denied;     /* the user may not ask how often indexes are used */
    bool profile_denied;  /* nor read what the profiler noted */
};

/* job->link is open and read-only; sets job->server. FAIL: MRS_E_SERVER; MRS_E_MISSING: no such collection. */
enum mrs_status live_survey_open(struct live_job *job, const struct live_survey_opts *opts, struct live_survey *out,
                                 struct mrs_err *e);
void live_survey_source(struct live_survey *v, struct mrs_inspect_source *out);
void live_survey_close(struct live_survey *v);

/* of the inside: survey_ids.c - documents of a sample chosen, by their ids */
enum mrs_status live_survey_choose(struct live_survey *v, struct live_survey_coll *c, struct mrs_err *e);
/* survey_scan.c - documents read */
enum mrs_status live_survey_scan(struct live_survey *v, const struct live_survey_coll *c,
                                 const struct mrs_inspect_sink *to, struct mrs_err *e);
/* Behind a batch: how far, and no faster than is allowed. */
enum mrs_status live_survey_breathe(struct live_survey *v, const char *ns, uint64_t docs, uint64_t bytes,
                                    struct mrs_err *e);
/* The connection was lost: END after a while: try again; FAIL: too often. */
enum mrs_status live_survey_again(struct live_survey *v, const char *ns, int *tries, struct mrs_err *e);
/* survey_ask.c - values looked up */
enum mrs_status live_survey_ask(struct live_survey *v, const struct live_survey_coll *c,
                                const struct mrs_inspect_question *q, struct mrs_err *e);
/* survey_uses.c - {name: {uses, since, days, members}} of a collection's indexes, in v->uses */
enum mrs_status live_survey_uses(struct live_survey *v, const struct mrs_coll *coll, struct mrs_view *out,
                                 struct mrs_err *e);
/* survey_profile.c - what the profiler noted, of all databases in hand */
enum mrs_status live_survey_profile(struct live_survey *v, const struct mrs_inspect_sink *to, struct mrs_err *e);
/* Names the collection in an error that does not; FAIL. */
enum mrs_status live_survey_place(const struct live_survey_coll *c, struct mrs_err *e);
enum mrs_status live_survey_stopped(const struct live_survey *v, struct mrs_err *e); /* FAIL: interrupted */

#endif

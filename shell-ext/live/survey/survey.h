/* SPDX-License-Identifier: Apache-2.0 */
/* survey.h - the collections of a server as the input of an inspection (mongoreshape/inspect.h): complete, or by a
 * sample that is the same in each pass of an inspection.
 *
 * Reads only. It belongs to one thread. */
#ifndef LIVE_SURVEY_H
#define LIVE_SURVEY_H

#include "live/server/server.h"
#include "live/state/run_document.h"
#include "mongoreshape/inspect.h"

struct live_survey_opts {
    const char *db;       /* NULL: all visible to the user */
    const char *like;     /* a pattern of namespaces; NULL: all */
    bool whole;           /* all documents of any number */
    uint64_t sample;      /* maximum number of documents of a collection */
    const char *tmp;      /* folder for the file of ids; NULL: $TMPDIR, else /tmp */
    struct live_control limits; /* maximum read rate */
};
enum { LIVE_SAMPLE = 100000, LIVE_SAMPLE_MAX = 10000000 };

struct live_survey_coll {
    const struct live_coll_info *info;
    uint64_t count;       /* number of documents by the server's count */
    uint64_t ids;         /* number in the sample */
    uint64_t at, end;     /* of its filters in the file */
    bool chosen;          /* the choice between sample and complete read is made */
    bool sampled;
};
struct live_survey {
    struct live_job *job;
    struct live_survey_opts opts;
    struct live_survey_coll *coll;
    uint32_t n;
    int file;             /* contiguous filters {_id: {$in: [...]}}; -1: none yet */
    uint64_t file_end;
    const char *phase;
    uint64_t done, total; /* documents of this phase */
    int64_t since_ms;     /* start of the current batch */
    struct mrs_buf metadata, uses;
    bool uses_denied;     /* the user may not read index statistics */
    bool profile_denied;  /* nor the profiler's collection */
};

/* job->link is open and read-only; sets job->server. FAIL: MRS_E_SERVER; MRS_E_MISSING: no such collection. */
enum mrs_status live_survey_open(struct live_job *job, const struct live_survey_opts *opts, struct live_survey *out,
                                 struct mrs_err *e);
void live_survey_source(struct live_survey *v, struct mrs_inspect_source *out);
void live_survey_close(struct live_survey *v);

/* internal: survey_ids.c - draws the ids of a sample */
enum mrs_status live_survey_choose(struct live_survey *v, struct live_survey_coll *c, struct mrs_err *e);
/* survey_scan.c - reads documents */
enum mrs_status live_survey_scan(struct live_survey *v, const struct live_survey_coll *c,
                                 const struct mrs_inspect_sink *to, struct mrs_err *e);
/* After a batch: reports progress, and waits if the rate is too high. */
enum mrs_status live_survey_breathe(struct live_survey *v, const char *ns, uint64_t docs, uint64_t bytes,
                                    struct mrs_err *e);
/* After a lost connection: END after a wait: try again; FAIL: too often. */
enum mrs_status live_survey_again(struct live_survey *v, const char *ns, int *tries, struct mrs_err *e);
/* survey_ask.c - looks values up */
enum mrs_status live_survey_lookup(struct live_survey *v, const struct live_survey_coll *c,
                                   const struct mrs_inspect_question *q, struct mrs_err *e);
/* survey_uses.c - {name: {uses, since, days, members}} of a collection's indexes, in v->uses */
enum mrs_status live_survey_uses(struct live_survey *v, const struct mrs_coll *coll, struct mrs_view *out,
                                 struct mrs_err *e);
/* survey_profile.c - the profiler's records of all inspected databases */
enum mrs_status live_survey_profile(struct live_survey *v, const struct mrs_inspect_sink *to, struct mrs_err *e);
/* Adds the collection to an error that lacks it; FAIL. */
enum mrs_status live_survey_place(const struct live_survey_coll *c, struct mrs_err *e);
enum mrs_status live_survey_stopped(const struct live_survey *v, struct mrs_err *e); /* FAIL: interrupted */

#endif

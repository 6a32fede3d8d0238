/* SPDX-License-Identifier: Apache-2.0 */
/* range_pass.h - the live engine: passes over ranges of `_id`. range.c, pass.c, expand.c, verify.c, rollback.c. */
#ifndef LIVE_PASS_H
#define LIVE_PASS_H

#include "live/derive/unit.h"

/* ---- range.c ---- */
/* Reads the next range after `last` ({_id: v}, empty view: from the start) of at most n documents and `bytes` bytes:
 * complete documents into docs (views into buf), *bound = {_id: v} of the first document after the range, appended to
 * bound_buf; empty: there is none. Types may be mixed, and no document that existed when the first range was read is
 * skipped. If `last` is the bound of the preceding range (the same struct), an open cursor continues, for up to half a
 * minute. coll must live as long as the range. OK also with 0 documents; END: connection lost. FAIL. */
struct live_range {
    struct mrs_buf buf, bound;
    struct mrs_view *docs;
    uint32_t n, cap;
    bool last;      /* no documents after it at the time of reading */
    bool ids;       /* input: read documents as {_id: v} */
    struct mrs_view end; /* input: {_id: v} from which documents are not needed any more; empty: none. Some may be
                          * returned anyway */
    struct mrs_mem *mem;
    /* private to range.c: the cursor that continues after the range */
    const struct live_job *job;
    const struct mrs_coll *coll;
    struct live_cursor *cursor;
    struct mrs_buf next;
    struct mrs_val behind;
    uint32_t batch;
    int64_t opened_ms;
    uint64_t generation;
};
void live_range_init(struct live_range *r, struct mrs_mem *mem);
void live_range_clear(struct live_range *r);
void live_range_forget(struct live_range *r); /* the next read sees the collection as it is then */
enum mrs_status live_range_read(struct live_job *job, const struct mrs_coll *coll, struct mrs_view from, uint32_t n,
                                uint64_t bytes, struct live_range *r, struct mrs_err *e);

/* How many of the sorted docs[0..n) one filter of live_range_filter covers: all if they are between two `_id`s of one
 * type, else as many as one $in takes. */
uint32_t live_range_step(const struct mrs_view *docs, uint32_t n);
/* A filter for the sorted documents from docs[0] to docs[n - 1]: an interval if their `_id`s are of one type, else a
 * list. n > 0. */
enum mrs_status live_range_filter(struct mrs_arena *a, const struct mrs_view *docs, uint32_t n, struct mrs_view *out,
                                  struct mrs_err *e);

/* ---- the passes; each resumes at its checkpoint and returns when done ---- */
struct live_pass_report {
    uint64_t docs, written;    /* written: inserted, deleted and changed */
    uint64_t inserted, deleted, missed, refused, differs, foreign;
    uint64_t moving;           /* written each time when compared: not counted in differs */
    uint64_t unsettled;        /* of a repair: groups and walks that need another comparison */
    struct mrs_arena *arena;   /* memory of the names below; may be NULL */
    const char **named;        /* "shop.posts 5: field comments differs": the first 1,000 */
    uint32_t n_named;
};
/* One walk over one main collection of a group: expand.c, workers.c. */
struct live_range_task;
struct live_follow;
struct live_walk {
    enum live_purpose purpose;
    uint32_t group, main, no;
    const struct live_range_task *range; /* only this range, by a worker; NULL: all */
    struct live_follow *follow;          /* concurrent writes, applied between batches; NULL: not by this walk */
    bool wrote, missed;                  /* set if it did; missed: a unit was postponed */
    uint64_t last_docs, last_bytes; /* written by the last batch: for the next breath */
};
enum mrs_status live_walk_main(struct live_job *job, struct live_walk *w, struct live_pass_report *r,
                               struct mrs_err *e);
/* Walks with several workers, if requested and equivalent, or if the walk began so. *shared: it was shared, and is
 * complete. */
enum mrs_status live_walk_shared(struct live_job *job, struct live_walk *w, bool *shared, struct live_pass_report *r,
                                 struct mrs_err *e);
/* Checks and writes claims, creates new collections and indexes, then runs every group with its end passes. */
enum mrs_status live_expand(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
enum mrs_status live_direct(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* A worker of a run that another process leads: takes ranges of its walks until expand ends. range_work.c */
enum mrs_status live_work(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* Compares in both directions; opts.repair: writes. A clean result is recorded in the run document ("verified": server
 * time). */
enum mrs_status live_verify(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* For plans of one-document steps. */
enum mrs_status live_contract_units(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
enum mrs_status live_rollback_units(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);

#endif

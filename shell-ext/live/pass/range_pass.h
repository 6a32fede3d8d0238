/* SPDX-License-Identifier: Apache-2.0 */
/* range_pass.h - the live engine: passes over ranges of `_id`. range.c, pass.c, expand.c, verify.c, rollback.c. */
#ifndef LIVE_PASS_H
#define LIVE_PASS_H

#include "live/derive/unit.h"

/* ---- range.c ---- */
/* Reads the next range after `last` ({_id: v}, empty view: from the start) of at most n documents and `bytes` bytes:
 * whole documents into docs (views into buf), *bound = {_id: v} of the first document after the range, appended to
 * bound_buf; empty: there is none. Types mix, and no document that existed when the first range was read is skipped.
 * `last` that is the bound of the range before (the same struct) continues with an open cursor, half a minute at most.
 * coll lives as long as the range. OK also with 0 documents; END: connection lost. FAIL. */
struct live_range {
    struct mrs_buf buf, bound;
    struct mrs_view *docs;
    uint32_t n, cap;
    bool last;      /* nothing after it at the time of reading */
    bool ids;       /* set before reading: documents are read as {_id: v} */
    struct mrs_view end; /* set before reading: {_id: v} where documents are not wanted any more; empty: nowhere. Some
                            may come all the same */
    struct mrs_mem *mem;
    /* range.c's own: the cursor that continues after the range */
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
enum mrs_status live_range_read(struct live_job *job, const struct mrs_coll *coll, struct mrs_view from, uint32_t n,
                                uint64_t bytes, struct live_range *r, struct mrs_err *e);

/* How many of docs[0..n), which are in order, one filter of live_range_filter is for: all where they lie between two
 * `_id`s of one kind, else as many as one $in takes. */
uint32_t live_range_step(const struct mrs_view *docs, uint32_t n);
/* A filter of the documents from docs[0] to docs[n - 1], which are in order: what lies between two `_id`s of one
 * kind, else a list. n > 0. */
enum mrs_status live_range_filter(struct mrs_arena *a, const struct mrs_view *docs, uint32_t n, struct mrs_view *out,
                                  struct mrs_err *e);

/* ---- the passes; each resumes at its checkpoint and returns when done ---- */
struct live_pass_report {
    uint64_t docs, written;    /* written: inserted, deleted and changed */
    uint64_t inserted, deleted, missed, refused, differs, foreign;
    uint64_t moving;           /* written each time that they were examined: not counted in differs */
    uint64_t unsettled;        /* of a repair: groups and walks that need another comparison */
    struct mrs_arena *arena;   /* where the names below are put; may be NULL */
    const char **named;        /* "shop.posts 5: field comments differs": the first 1,000 */
    uint32_t n_named;
};
/* One walk over one main collection of a group: expand.c, workers.c. */
struct live_held;
struct live_walk {
    enum live_purpose purpose;
    uint32_t group, main, no;
    const struct live_held *held; /* only this range, by a worker; NULL: all */
    bool wrote, missed;           /* set where it did; missed: something was put off */
    uint64_t last_docs, last_bytes; /* what the last batch wrote: for the next breath */
};
enum mrs_status live_walk_main(struct live_job *job, struct live_walk *w, struct live_pass_report *r,
                               struct mrs_err *e);
/* By several workers, where that is asked for and changes nothing, or where it was begun so. *shared: it was, and is
 * done. */
enum mrs_status live_walk_shared(struct live_job *job, struct live_walk *w, bool *shared, struct live_pass_report *r,
                                 struct mrs_err *e);
/* Claims checked and written, new collections and indexes made, then every group with its end passes. */
enum mrs_status live_expand(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
enum mrs_status live_direct(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* A worker of a run that another process leads: ranges of its walks, until it adds no more. range_work.c */
enum mrs_status live_work(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* Both ways; opts.repair: writes. A clean result is noted in the run document ("verified": server time). */
enum mrs_status live_verify(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* Of plans of one-document steps. */
enum mrs_status live_contract_units(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
enum mrs_status live_rollback_units(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - shared by the passes of the live engine: a scan over a collection, and batches of units.
 *
 * pass.c walks, targets.c computes the changes for some units, batch.c writes them while other writers run, hot.c
 * writes contended units; expand.c, verify.c, rollback.c and contract_units.c define the goal. */
#ifndef LIVE_WORK_H
#define LIVE_WORK_H

#include "live/derive/claimed.h"
#include "range_pass.h"

/* ---- pass.c: a walk over the documents of a collection, batch by batch, with its checkpoint ---- */
struct live_scan {
    struct live_job *job;
    const char *pass;            /* name of its checkpoint */
    const char *phase;           /* for messages */
    const struct mrs_coll *coll;
    bool ids;                    /* reads documents as {_id: v} */
    bool writes;                 /* writes most of the documents, not only compares them: see course.h */
    bool bounded;                /* ends after the `_id` that was the greatest when it began */
    struct mrs_view end;         /* {_id: v}: ends before it; empty: no end */
    /* Processes one batch; c holds the position of the scan after it: writes and saves c, with its writes or after
     * them. OK; END: connection lost, memory is discarded and the scan resumes at its checkpoint; FAIL. */
    enum mrs_status (*batch)(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c,
                             struct mrs_err *e);
    /* Called before each batch; NULL: not. *anew: documents read ahead are out of date. Status as of batch. */
    enum mrs_status (*between)(void *arg, bool *anew, struct mrs_err *e);
    void *arg;
    uint64_t wrote_docs, wrote_bytes; /* set by batch: bytes and documents written, for throttling */
    uint64_t docs, written, missed, refused, differs; /* when done: counters of the whole pass, from the checkpoint */
};
enum mrs_status live_scan_run(struct live_scan *t, struct mrs_err *e);
/* Number of documents by the server's count at the beginning; 0: unknown. */
uint64_t live_estimated(const struct live_job *job, const struct mrs_coll *coll);
/* batch_size.c: computes the size of the next batch from the duration that the governor sets (half a second at full
 * speed). It grows and shrinks by half at most. */
enum { LIVE_BATCH_FIRST = 1000 };
struct live_batches {
    uint32_t size;    /* of the next batch */
    uint32_t n;       /* of the last batch whose time counts; 0: none yet */
    int64_t ms;       /* its time */
    int64_t fixed_ms; /* for a batch of any size */
};
void live_batches_begin(const struct live_job *job, struct live_batches *b);
/* Records a batch of n documents, of `size` requested ones; it took ms and wrote so many bytes. */
void live_batches_took(const struct live_job *job, struct live_batches *b, uint32_t n, int64_t ms, uint64_t bytes);
/* The name of a checkpoint, "expand/0/1/2". */
const char *live_pass_name(char out[48], const char *what, uint32_t group, uint32_t main, uint32_t no);
/* The name of a phase for messages: "expand 1 embed". */
const char *live_phase_name(const struct live_job *job, char out[96], const char *what, uint32_t group);
/* Maps an error caused by a lost connection to END. gen: earlier live_link_generation. */
enum mrs_status live_lost_since(const struct live_job *job, uint64_t gen, enum mrs_status st, struct mrs_err *e);
/* Waits before a retry after a lost connection, or (0) for further events; FAIL after too many failed attempts. */
enum mrs_status live_scan_wait(struct live_job *job, uint32_t lost, struct mrs_err *e);
/* The claimed fields of the group on documents of this side. */
struct live_claimed live_claims_of(const struct live_job *job, uint32_t group, int side);
/* doc without those fields, in a; doc itself if it has none of them. */
enum mrs_status live_less_claims(const struct live_job *job, uint32_t group, int side, struct mrs_view doc,
                                 struct mrs_arena *a, struct mrs_view *out, struct mrs_err *e);
/* Adds a name to the report. */
void live_name(struct live_pass_report *r, const char *ns, struct mrs_val id, const char *what);
/* preview.c: increments a figure of a dry run; the first ten documents are listed. */
void live_preview_count(struct live_pass_report *r, uint64_t *figure, const char *ns, struct mrs_val id,
                        const char *what);
/* A line "would WHAT NS: DOC" of a dry run. */
void live_preview_line(struct live_job *job, const char *what, const char *ns, struct mrs_view doc);
/* Reads all documents of a filter into an arena. FAIL MRS_E_LIMIT beyond `bytes`. */
struct live_read {
    const struct mrs_coll *coll;
    struct mrs_view filter;
    bool ids;              /* only their `_id`s */
    uint64_t bytes;        /* maximum; after the read: remaining bytes */
    struct mrs_arena *a;
    struct mrs_view *docs; /* result: n documents */
    uint32_t n;
};
enum mrs_status live_read_all(struct live_job *job, struct live_read *r, struct mrs_err *e);
/* Divides [0, n) into slices that fit into memory: step is the size of the first; a slice that fails with MRS_E_LIMIT
 * is repeated with half its size.
 *     for (struct live_slices s = {.n = n, .step = n}; live_slices_next(&s);) {
 *         st = work(s.at, s.k, &s.why);
 *         if (live_slices_halved(&s, st)) { continue; }
 *         if (st) { return live_slices_failed(&s, st, e); }
 *     } */
struct live_slices {
    uint32_t n, step;
    uint32_t at, k;        /* the current slice */
    struct mrs_err why;    /* error of its work */
};
bool live_slices_next(struct live_slices *s);
bool live_slices_halved(struct live_slices *s, enum mrs_status st);
enum mrs_status live_slices_failed(const struct live_slices *s, enum mrs_status st, struct mrs_err *e);
/* {_id: {$in: [...]}} for documents, in an arena. */
enum mrs_status live_ids_filter(struct mrs_arena *a, const struct mrs_view *docs, uint32_t n, struct mrs_view *out,
                                struct mrs_err *e);

/* ---- foresee.c: the estimated work of a command, for its progress; before the phase moves on ---- */
/* Do apply and verify walk over the collections of a group? Does it add anything there? */
bool live_works(const struct live_job *job, uint32_t group, enum live_purpose purpose);
bool live_adds(const struct live_job *job, uint32_t group);
enum mrs_status live_foresee_apply(struct live_job *job, enum live_purpose purpose, struct mrs_err *e);
/* A group is followed: its second walk is not needed. */
enum mrs_status live_foresee_once(struct live_job *job, uint32_t group, struct mrs_err *e);
enum mrs_status live_foresee_verify(struct live_job *job, enum live_purpose purpose, uint32_t groups,
                                    struct mrs_err *e);
enum mrs_status live_foresee_contract(struct live_job *job, struct mrs_err *e);
enum mrs_status live_foresee_rollback(struct live_job *job, bool begun, struct mrs_err *e);

/* ---- a document in a batch ---- */
struct live_task {
    struct mrs_view doc;   /* as last read */
    bool deleted;          /* it was deleted */
    bool refuse;           /* refused because of the server's data, not by a kernel: see why */
    bool again;            /* derive it again */
    bool put_off;          /* postponed to the next walk */
    bool moving;           /* in a comparison: written meanwhile, so that a difference is not conclusive yet */
    uint8_t tries;
    const char *why;
};
struct live_batch;
/* The new content of the unit's document; *result = u->doc: unchanged. */
typedef enum mrs_status (*live_result_fn)(struct live_batch *b, const struct live_unit *u, const struct live_task *t,
                                          struct mrs_view *result, struct mrs_err *e);
/* Sets `moving` for documents written since its last call. */
typedef enum mrs_status (*live_moving)(void *arg, struct live_task *tasks, uint32_t n, struct mrs_err *e);
struct live_batch {
    struct live_job *job;
    uint32_t group, main;
    enum live_purpose purpose;
    const struct mrs_coll *coll;
    int side;
    live_result_fn result;
    bool products;             /* also documents in other collections */
    bool sweep;                /* removes documents that no unit makes */
    bool patient;              /* a foreign document may move elsewhere: its unit waits for the next walk */
    bool find_missing;         /* looks missing products up by `_id` first */
    bool record;               /* also records refused documents while comparing */
    bool more;                 /* the range continues: the checkpoint is not saved yet */
    bool keep_refused;         /* records of refused documents stay, even if these succeed now */
    bool record_later;         /* the next walk records what kernels refuse */
    bool exact;                /* live_batch_expected: made with exactly these bytes */
    const char *reads;         /* fields read on a main document */
    size_t reads_n;
    bool reads_whole;
    struct live_units *units, *others; /* others: owners of targets; opened on demand */
    struct live_burst burst;
    struct mrs_arena batch_arena; /* for a batch: documents read again */
    struct mrs_arena make;        /* for one derivation: targets, filters */
    const struct live_task *slice; /* the current one, with its units */
    uint32_t n_slice;
    struct live_unit *unit;
    uint32_t cap;
    struct live_pass_report *r;
    uint64_t wrote_docs, wrote_bytes; /* by the last live_batch_write */
    void *arg;                 /* for want */
    live_moving moving;        /* called by a comparison before a difference counts; NULL: each counts */
    void *moving_arg;
};
enum mrs_status live_batch_open(struct live_batch *b, struct live_job *job, uint32_t group, uint32_t main,
                                enum live_purpose purpose, struct live_pass_report *r, struct mrs_err *e);
void live_batch_close(struct live_batch *b);

/* ---- targets.c ---- */
/* Derives tasks[0..n) and adds the necessary writes to b->burst; change.unit is the index of the task, UINT32_MAX for
 * stale targets. A task may become `refuse`. OK, END, FAIL (MRS_E_LIMIT: try fewer). */
enum mrs_status live_batch_make(struct live_batch *b, struct live_task *tasks, uint32_t n, struct mrs_err *e);
/* Which of docs[0..n), on `side`, does some unit of the group make? owned (may be NULL): which of them have a value by
 * which their unit could be found. */
enum mrs_status live_batch_expected(struct live_batch *b, int side, const struct mrs_view *docs, uint32_t n,
                                    bool *expected, bool *owned, struct mrs_err *e);
/* Does side get documents from this group, and list them? */
bool live_side_listed(const struct live_job *job, uint32_t group, uint32_t side);

/* ---- batch.c ---- */
/* Derives and writes docs, until each is written, refused or (standalone, or `hot` fails) postponed; c: saved at the
 * end, with the last burst if possible. */
enum mrs_status live_batch_write(struct live_batch *b, const struct mrs_view *docs, uint32_t n,
                                 struct live_checkpoint *c, struct mrs_err *e);
/* The same for documents given by `_id`, in their current state; deleted ones are skipped. With b->more c is not
 * saved. */
enum mrs_status live_batch_write_ids(struct live_batch *b, const struct mrs_view *ids, uint32_t n,
                                     struct live_checkpoint *c, struct mrs_err *e);
/* live_batch_write in two parts: fresh tasks in b->batch_arena, and their processing (flags are cleared if they were
 * compared). */
enum mrs_status live_batch_tasks(struct live_batch *b, const struct mrs_view *docs, uint32_t n,
                                 struct live_task **out, struct mrs_err *e);
enum mrs_status live_batch_settle(struct live_batch *b, struct live_task *tasks, uint32_t n,
                                  struct live_checkpoint *c, struct mrs_err *e);
/* Compares only; what differs is derived once more, and with b->moving a few times, while it is written meanwhile.
 * *n_differ: number of tasks that differ, moved to the front of *tasks (in b->batch_arena). They are listed and
 * counted in b->r. */
enum mrs_status live_batch_compare(struct live_batch *b, const struct mrs_view *docs, uint32_t n,
                                   struct live_task **tasks, uint32_t *n_differ, struct mrs_err *e);

/* Copies the documents that the burst deletes, before it does. */
enum mrs_status live_batch_add_stale(struct live_batch *b, struct mrs_err *e);

/* ---- hot.c: a contended unit (replica sets) ---- */
/* Processes it in a transaction that touches the document first. *done: written, deleted, or no change needed. */
enum mrs_status live_batch_contended(struct live_batch *b, struct live_task *t, bool *done, struct mrs_err *e);

/* ---- verify.c ---- */
/* Handling of differences. patiently: a unit whose product's `_id` is taken waits for the next round (it is counted in
 * missed), because the document there may be stale and removed in this one; else it is refused. */
enum live_repair { LIVE_REPAIR_NOTHING, LIVE_REPAIR_PATIENTLY, LIVE_REPAIR_ALL };
/* Compares groups first..last-1 in both directions, under checkpoints of this name and number. Results in r (differs,
 * named, foreign, missed). */
enum mrs_status live_verify_groups(struct live_job *job, const char *what, uint32_t no, uint32_t first, uint32_t last,
                                   enum live_repair repair, struct live_pass_report *r, struct mrs_err *e);
/* Did a repair correct all differences, including concurrent writes? Then no other comparison is needed. */
bool live_verify_settled(const struct live_pass_report *r);
/* A number that no earlier call got, for checkpoints that must be new: a counter in the run document's `field`. */
enum mrs_status live_next_number(struct live_job *job, const char *field, uint32_t *no, struct mrs_err *e);

/* ---- claims.c: the additions of a run, in its run document ---- */
struct live_claims {
    struct mrs_arena arena;
    struct mrs_view doc;       /* {claims: [{ns, field} | {ns, made: true} | {ns, index: name}]} */
    struct mrs_catalog *cat;   /* as after the plan */
};
/* Computes the additions of the plan: fields, collections, indexes. */
enum mrs_status live_claims_make(struct live_job *job, struct live_claims *c, struct mrs_err *e);
void live_claims_clear(struct live_claims *c);
/* FAIL MRS_E_EXISTS if an object exists that is not ours. */
enum mrs_status live_claims_check(struct live_job *job, const struct live_claims *c, struct mrs_err *e);
/* Creates collections and plain indexes; final: also unique and expiring indexes, and drops those that the plan
 * removes. */
enum mrs_status live_catalogue_make(struct live_job *job, const struct live_claims *c, bool final, struct mrs_err *e);
/* The current catalogue of the collections of the plan, for the run document's field `catalogue`: a binary value,
 * appended to out. From then on live_claims_make starts from it: a partly changed catalogue would give another
 * result. */
enum mrs_status live_catalogue_note(struct live_job *job, struct mrs_buf *out, struct mrs_err *e);
/* Drops unique indexes that the plan removes: documents that lose their field one by one would have duplicate keys. */
enum mrs_status live_catalogue_clear_way(struct live_job *job, const struct live_claims *c, struct mrs_err *e);
/* Drops the collections and indexes of the run. */
enum mrs_status live_catalogue_drop(struct live_job *job, struct mrs_err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - what the passes of the live engine share: a scan over a collection, and batches of units.
 *
 * pass.c walks, targets.c finds out what has to change for some units, batch.c gets it written whatever happens in
 * between, hot.c takes units that others keep changing; expand.c, verify.c, rollback.c and contract_units.c say what is
 * wanted. */
#ifndef LIVE_WORK_H
#define LIVE_WORK_H

#include "live/derive/claimed.h"
#include "range_pass.h"

/* ---- pass.c: a walk over the documents of a collection, batch by batch, with its checkpoint ---- */
struct live_scan {
    struct live_job *job;
    const char *pass;            /* name of its checkpoint */
    const char *phase;           /* for people */
    const struct mrs_coll *coll;
    bool ids;                    /* documents are read as {_id: v} */
    bool writes;                 /* most of the documents are written, not only examined: see course.h */
    bool bounded;                /* ends behind the `_id` that was the greatest when it began */
    struct mrs_view end;         /* {_id: v}: ends before it; empty: it has no end */
    /* One batch; c holds where the scan comes after it: it writes and saves c, with what it writes or after it. OK;
     * END: connection lost, memory is discarded and the scan resumes at its checkpoint; FAIL. */
    enum mrs_status (*batch)(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c,
                             struct mrs_err *e);
    void *arg;
    uint64_t wrote_docs, wrote_bytes; /* set by batch: what it wrote, for throttling */
    uint64_t docs, written, missed, refused, differs; /* when done: counters of the whole pass, as the checkpoint has
                                                         them */
};
enum mrs_status live_scan_run(struct live_scan *t, struct mrs_err *e);
/* How many documents there are, by the server's count of the beginning; 0: it is not known. */
uint64_t live_estimated(const struct live_job *job, const struct mrs_coll *coll);
/* batch_size.c: how many documents the next batch asks for, so that it takes as long as the governor says (half a
 * second at full speed). It grows and shrinks by half at most. */
enum { LIVE_BATCH_FIRST = 1000 };
struct live_batches {
    uint32_t size;    /* of the next */
    uint32_t n;       /* of the last whose time counts; 0: none yet */
    int64_t ms;       /* that it took */
    int64_t fixed_ms; /* of a batch of any size */
};
void live_batches_begin(const struct live_job *job, struct live_batches *b);
/* n came, of `size` that were asked for; that took ms and wrote so many bytes. */
void live_batches_took(const struct live_job *job, struct live_batches *b, uint32_t n, int64_t ms, uint64_t bytes);
/* A name for a checkpoint, "expand/0/1/2". */
const char *live_pass_name(char out[48], const char *what, uint32_t group, uint32_t main, uint32_t no);
/* A name of a phase for people: "expand 1 embed". */
const char *live_phase_name(const struct live_job *job, char out[96], const char *what, uint32_t group);
/* Whatever fails because the connection was lost is END. gen: live_link_generation before. */
enum mrs_status live_lost_since(const struct live_job *job, uint64_t gen, enum mrs_status st, struct mrs_err *e);
/* Waits before going on after a lost connection, or (0) for what is still to come; FAIL when there was none to be had
 * too often. */
enum mrs_status live_scan_wait(struct live_job *job, uint32_t lost, struct mrs_err *e);
/* Claimed fields of the group on documents of this side. */
struct live_claimed live_claims_of(const struct live_job *job, uint32_t group, int side);
/* doc less those, into a: doc itself where it has none of them. */
enum mrs_status live_less_claims(const struct live_job *job, uint32_t group, int side, struct mrs_view doc,
                                 struct mrs_arena *a, struct mrs_view *out, struct mrs_err *e);
/* Adds a name to the report. */
void live_name(struct live_pass_report *r, const char *ns, struct mrs_val id, const char *what);
/* preview.c: a figure of a dry run counted up; the first ten of it are named. */
void live_would(struct live_pass_report *r, uint64_t *figure, const char *ns, struct mrs_val id, const char *what);
/* A line "would WHAT NS: DOC" of a dry run. */
void live_would_say(struct live_job *job, const char *what, const char *ns, struct mrs_view doc);
/* All documents of a filter, copied into an arena. FAIL MRS_E_LIMIT past `bytes`. */
struct live_read {
    const struct mrs_coll *coll;
    struct mrs_view filter;
    bool ids;              /* only their `_id`s */
    uint64_t bytes;        /* most; when read, what is left of that */
    struct mrs_arena *a;
    struct mrs_view *docs; /* result, n of them */
    uint32_t n;
};
enum mrs_status live_read_all(struct live_job *job, struct live_read *r, struct mrs_err *e);
/* [0, n) in slices that memory has room for: step is the size of the first; one that fails by MRS_E_LIMIT is taken
 * again, half as large.
 *     for (struct live_slices s = {.n = n, .step = n}; live_slices_next(&s);) {
 *         st = work(s.at, s.k, &s.why);
 *         if (live_slices_halved(&s, st)) { continue; }
 *         if (st) { return live_slices_failed(&s, st, e); }
 *     } */
struct live_slices {
    uint32_t n, step;
    uint32_t at, k;        /* the slice in hand */
    struct mrs_err why;    /* of the work on it */
};
bool live_slices_next(struct live_slices *s);
bool live_slices_halved(struct live_slices *s, enum mrs_status st);
enum mrs_status live_slices_failed(const struct live_slices *s, enum mrs_status st, struct mrs_err *e);
/* {_id: {$in: [...]}} of documents, into an arena. */
enum mrs_status live_ids_filter(struct mrs_arena *a, const struct mrs_view *docs, uint32_t n, struct mrs_view *out,
                                struct mrs_err *e);

/* ---- foresee.c: the estimated work of a command, for its progress; before the phase is moved ---- */
/* Whether apply and verify walk over the collections of a group; whether it adds anything there. */
bool live_works(const struct live_job *job, uint32_t group, enum live_purpose purpose);
bool live_adds(const struct live_job *job, uint32_t group);
enum mrs_status live_foresee_apply(struct live_job *job, enum live_purpose purpose, struct mrs_err *e);
/* A group is followed: its second walk will not come. */
enum mrs_status live_foresee_once(struct live_job *job, uint32_t group, struct mrs_err *e);
enum mrs_status live_foresee_verify(struct live_job *job, enum live_purpose purpose, uint32_t groups,
                                    struct mrs_err *e);
enum mrs_status live_foresee_contract(struct live_job *job, struct mrs_err *e);
enum mrs_status live_foresee_rollback(struct live_job *job, bool begun, struct mrs_err *e);

/* ---- a document on its way through a batch ---- */
struct live_task {
    struct mrs_view doc;   /* as read last */
    bool gone;             /* it is not there any more */
    bool refuse;           /* refused by what is on the server, not by a kernel: see why */
    bool again;            /* to be derived again */
    bool put_off;          /* to the next walk */
    bool moving;           /* of a comparison: written meanwhile, so that a difference says nothing yet */
    uint8_t tries;
    const char *why;
};
struct live_batch;
/* What the unit's document is to be; *want = u->doc: as it is. */
typedef enum mrs_status (*live_want)(struct live_batch *b, const struct live_unit *u, const struct live_task *t,
                                     struct mrs_view *want, struct mrs_err *e);
/* Sets `moving` of those that were written since it was asked last. */
typedef enum mrs_status (*live_moving)(void *arg, struct live_task *tasks, uint32_t n, struct mrs_err *e);
struct live_batch {
    struct live_job *job;
    uint32_t group, main;
    enum live_purpose purpose;
    const struct mrs_coll *coll;
    int side;
    live_want want;
    bool products;             /* documents in other collections, too */
    bool sweep;                /* those that no unit makes go */
    bool patient;              /* a foreign document may be on its way elsewhere: its unit waits for the next walk */
    bool find_missing;         /* missing products are looked up by `_id` first */
    bool record;               /* comparing records refused documents, too */
    bool more;                 /* of the range follows: the checkpoint is not saved yet */
    bool keep_refused;         /* records of refused documents stay, even where these are well */
    bool unheard;              /* what kernels refuse is for the walk behind this one to record */
    bool exact;                /* live_batch_expected: made with exactly these bytes */
    const char *reads;         /* fields read on a main document */
    size_t reads_n;
    bool reads_whole;
    struct live_units *units, *others; /* others: owners of targets; opened when needed */
    struct live_burst burst;
    struct mrs_arena hold;     /* of a batch: documents read again */
    struct mrs_arena make;     /* of one derivation: targets, filters */
    const struct live_task *slice; /* in hand, with its units */
    uint32_t n_slice;
    struct live_unit *unit;
    uint32_t cap;
    struct live_pass_report *r;
    uint64_t wrote_docs, wrote_bytes; /* by the last live_batch_write */
    void *arg;                 /* of want */
    live_moving moving;        /* asked by a comparison before a difference counts; NULL: each counts */
    void *moving_arg;
};
enum mrs_status live_batch_open(struct live_batch *b, struct live_job *job, uint32_t group, uint32_t main,
                                enum live_purpose purpose, struct live_pass_report *r, struct mrs_err *e);
void live_batch_close(struct live_batch *b);

/* ---- targets.c ---- */
/* Derives tasks[0..n) and fills b->burst with what has to be written; change.unit is the index of the task, UINT32_MAX
 * for stale targets. A task may become `refuse`. OK, END, FAIL (MRS_E_LIMIT: try fewer). */
enum mrs_status live_batch_make(struct live_batch *b, struct live_task *tasks, uint32_t n, struct mrs_err *e);
/* Which of docs[0..n), on `side`, some unit of the group makes. Also says which have a value by which their unit could
 * be found (owned; may be NULL). */
enum mrs_status live_batch_expected(struct live_batch *b, int side, const struct mrs_view *docs, uint32_t n,
                                    bool *expected, bool *owned, struct mrs_err *e);
/* Whether side gets documents from this group and lists them. */
bool live_side_listed(const struct live_job *job, uint32_t group, uint32_t side);

/* ---- batch.c ---- */
/* Derives and writes docs, until each is written, refused or (standalone, or `hot` fails) put off; c: saved at the
 * end, with the last burst where that is possible. */
enum mrs_status live_batch_write(struct live_batch *b, const struct mrs_view *docs, uint32_t n,
                                 struct live_checkpoint *c, struct mrs_err *e);
/* The same for documents known by their `_id`s, as they are now; those that are gone are passed over. With b->more c is
 * not saved. */
enum mrs_status live_batch_write_ids(struct live_batch *b, const struct mrs_view *ids, uint32_t n,
                                     struct live_checkpoint *c, struct mrs_err *e);
/* The same as live_batch_write in two parts: fresh tasks in b->hold, and the work on them (their flags cleared, where
 * they were compared). */
enum mrs_status live_batch_tasks(struct live_batch *b, const struct mrs_view *docs, uint32_t n,
                                 struct live_task **out, struct mrs_err *e);
enum mrs_status live_batch_settle(struct live_batch *b, struct live_task *tasks, uint32_t n,
                                  struct live_checkpoint *c, struct mrs_err *e);
/* Compares only; what differs is derived once more, and with b->moving a few times, as long as it is written meanwhile.
 * *n_differ: tasks that differ, moved to the front of *tasks (of b->hold). They are named and counted in b->r. */
enum mrs_status live_batch_compare(struct live_batch *b, const struct mrs_view *docs, uint32_t n,
                                   struct live_task **tasks, uint32_t *n_differ, struct mrs_err *e);
/* Reads the documents of tasks with `again` again. */
enum mrs_status live_tasks_reload(struct live_batch *b, struct live_task *tasks, uint32_t n, struct mrs_err *e);

/* Copies of the documents that the burst deletes, before it does. */
enum mrs_status live_batch_note_stale(struct live_batch *b, struct mrs_err *e);

/* ---- hot.c: a unit that others keep changing (replica sets) ---- */
/* In a transaction that touches the document first. *done: written, or gone, or nothing to do. */
enum mrs_status live_batch_contended(struct live_batch *b, struct live_task *t, bool *done, struct mrs_err *e);

/* ---- verify.c ---- */
/* What becomes of differences. Patiently: a unit whose product's `_id` is taken waits for the next round (it is counted
 * in missed), because the document there may be stale and go in this one; else it is refused. */
enum live_repair { LIVE_REPAIR_NOTHING, LIVE_REPAIR_PATIENTLY, LIVE_REPAIR_ALL };
/* Groups first..last-1 compared, both ways, under checkpoints of this name and number. What is found is in r (differs,
 * named, foreign, missed). */
enum mrs_status live_verify_groups(struct live_job *job, const char *what, uint32_t no, uint32_t first, uint32_t last,
                                   enum live_repair repair, struct live_pass_report *r, struct mrs_err *e);
/* Whether a repair corrected all differences, also those written meanwhile: no other comparison is needed. */
bool live_verify_settled(const struct live_pass_report *r);
/* A number that no earlier call got, for checkpoints that must be new: counted in the run document under `field`. */
enum mrs_status live_next_number(struct live_job *job, const char *field, uint32_t *no, struct mrs_err *e);

/* ---- claims.c: what a run adds, in its run document ---- */
struct live_claims {
    struct mrs_arena arena;
    struct mrs_view doc;       /* {claims: [{ns, field} | {ns, made: true} | {ns, index: name}]} */
    struct mrs_catalog *cat;   /* as the plan leaves it */
};
/* What the plan adds: fields, collections, indexes. */
enum mrs_status live_claims_make(struct live_job *job, struct live_claims *c, struct mrs_err *e);
void live_claims_clear(struct live_claims *c);
/* Whether the run document holds this claim already. key: "field", "index"; NULL: the collection itself. */
bool live_claims_hold(const struct live_job *job, const char *ns, const char *key, const char *name);
/* FAIL MRS_E_EXISTS where something is there that is not ours. */
enum mrs_status live_claims_check(struct live_job *job, const struct live_claims *c, struct mrs_err *e);
/* Collections and plain indexes; final: unique and expiring indexes, too, and those that the plan takes away go. */
enum mrs_status live_catalogue_make(struct live_job *job, const struct live_claims *c, bool final, struct mrs_err *e);
/* The current catalogue of the collections that the plan names, for the run document's field `catalogue`: the value of
 * a binary, appended to out. From then on live_claims_make begins with that: a half changed catalogue would give
 * another. */
enum mrs_status live_catalogue_note(struct live_job *job, struct mrs_buf *out, struct mrs_err *e);
/* Unique indexes that the plan takes away: documents that lose their field one by one would clash in them. */
enum mrs_status live_catalogue_clear_way(struct live_job *job, const struct live_claims *c, struct mrs_err *e);
/* Collections and indexes that the run made are dropped. */
enum mrs_status live_catalogue_drop(struct live_job *job, struct mrs_err *e);

#endif

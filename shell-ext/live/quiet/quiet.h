/* SPDX-License-Identifier: Apache-2.0 */
/* quiet.h - the quiet engine: the change list. block.c, snapshot.c, change_list.c, unique.c, journal.c, actions.c,
 * actions_do.c, apply.c, current.c, quiet.c, contract.c. */
#ifndef LIVE_QUIET_H
#define LIVE_QUIET_H

#include "live/derive/claimed.h"
#include "live/pass/block.h"
#include "live/pass/range_pass.h"
#include "live/server/server.h"

/* ---- snapshot.c ---- */
/* Does expand create this collection? */
bool live_is_new_coll(const struct live_job *job, const char *ns);
/* The fields that expand adds to documents of this collection. */
enum mrs_status live_claims_in(const struct live_job *job, const char *ns, struct mrs_arena *a,
                               struct live_claimed *out, struct mrs_err *e);
/* Writes the existing collections of the plan as dumps: documents in `_id` order and metadata, below `dir` unchanged,
 * below `base` without additions of expand (claimed fields, new collections). Either may be NULL. */
enum mrs_status live_snapshot(struct live_job *job, const char *dir, const char *base, struct mrs_err *e);

/* ---- change_list.c: compares out with in ---- */
struct live_planned_change { /* one change of the list */
    enum live_op_kind kind;
    struct mrs_coll coll;
    struct mrs_view before, after; /* complete documents; empty: none */
};
typedef enum mrs_status (*live_planned_change_put)(void *arg, const struct live_planned_change *c, struct mrs_err *e);
enum live_build_mode {
    LIVE_BUILD_INPLACE, /* its changes are made one by one in place */
    LIVE_BUILD_FRESH,   /* it did not exist: it can be filled before other collections are changed */
    LIVE_BUILD_BESIDE   /* built completely under another name and renamed over the old one */
};
struct live_tally { /* a collection before and after */
    struct mrs_coll old, now;           /* ns NULL: did not exist; does not exist any more */
    struct mrs_view old_meta, now_meta; /* as in the dumps; may be the empty document */
    int in_index, out_index;            /* in the dumps; -1: none */
    uint64_t kept, n[4], refused;       /* documents; n by live_op_kind */
    uint64_t docs;                      /* before; and the sum of their hashes */
    struct mrs_hash_sum sum;
    bool unique;                        /* an index other than `_id` is unique before and after */
    uint64_t unique_changed;            /* updates that may change the values of such an index */
    bool id_changed;                    /* an `_id` changes its bytes (1, 1.0), which no update can do */
    enum live_build_mode turn;          /* set by the caller before it requests changes */
};
/* Compares the dump folders in and out by `_id` in bounded memory (job->opts.memory) and stores the differences in
 * temporary files. Documents of the file `refused` (NULL: none) count as part of the result: in their collection, in
 * the form in which they entered the refusing step. Renames by `rename_collection` are followed. FAIL MRS_E_REFUSED if
 * the result has another document with the `_id` of a refused one. leave: refused documents in `in` stay as they are
 * there (contract). */
struct live_compare;
enum mrs_status live_compare_open(struct live_job *job, const char *in, const char *out, const char *refused,
                                  bool leave, struct live_compare **c, struct mrs_err *e);
void live_compare_close(struct live_compare *c);
uint32_t live_compare_count(const struct live_compare *c);
struct live_tally *live_compare_at(struct live_compare *c, uint32_t i);
/* All changes of one kind, for collections of this build mode, under their old names (new ones: under their own). */
enum mrs_status live_compare_each(struct live_compare *c, enum live_op_kind kind, enum live_build_mode turn,
                                  live_planned_change_put put, void *arg, struct mrs_err *e);
/* The result of collection i including refused documents that stay, each document as an insert. */
enum mrs_status live_compare_whole(struct live_compare *c, uint32_t i, live_planned_change_put put, void *arg,
                                   struct mrs_err *e);

/* ---- journal.c: the change list on the server ---- */
/* {_id: seq, n: ns, k: kind, i: {_id}, b: digest before, a: digest after, z: bytes before, d: bytes after (BinData), o:
 * bytes before (--keep-before)}; if the two exceed 8 MiB together, in pieces {_id: {s: seq, w: "d" or "o", p: 0, 1
 * ...}, d} and p: {d: number of pieces, o: the same} in the entry. Sealed by the run document's phase. */
struct live_journal;
enum mrs_status live_journal_new(struct live_job *job, struct live_journal **out, struct mrs_err *e); /* empties it */
enum mrs_status live_journal_put(struct live_journal *j, const struct live_planned_change *c, struct mrs_err *e);
int64_t live_journal_count(const struct live_journal *j); /* number of entries so far: the next sequence number */
/* Checks that all is written, majority, and counted on the server. Frees j. */
enum mrs_status live_journal_seal(struct live_journal *j, struct mrs_err *e);
void live_journal_free(struct live_journal *j);
struct live_journal_entry {
    int64_t seq;
    enum live_op_kind kind;
    struct mrs_coll coll;
    struct mrs_val id;
    uint8_t before[16], after[16]; /* digests: XXH3-128 of the bytes; 16 zero bytes: no document */
    struct mrs_view doc, old;      /* bytes after; bytes before, if stored */
};
void live_digest(const struct live_job *job, struct mrs_view doc, uint8_t out[16]); /* of an empty view: zeroes */
/* The entries [from, to) by sequence, of one collection, as many as fit in `bytes` with their documents before and
 * after; at least one. Views live in the arena. FAIL MRS_E_SERVER if one is missing or damaged. */
enum mrs_status live_journal_read(struct live_job *job, int64_t from, int64_t to, uint64_t bytes, struct mrs_arena *a,
                                  struct live_journal_entry **out, uint32_t *n_out, struct mrs_err *e);

/* ---- actions.c: the changes of collections and indexes ---- */
enum live_stage {
    LIVE_STAGE_BEFORE, /* before the first document: drops indexes, creates collections */
    LIVE_STAGE_BUILT,  /* new collections are complete, nothing else was changed: their unique indexes */
    LIVE_STAGE_AFTER,  /* all documents are final: the other indexes, drops, renames */
    LIVE_STAGE_LAST    /* writers are unblocked: options */
};
bool live_indexes_unique(struct mrs_view metadata);           /* is an index other than `_id` unique? */
/* Sets the build mode of each compared collection. */
void live_build_modes_decide(struct live_job *job, struct live_compare *c);
/* The temporary name of a collection that is built (kept false) or the name of its preserved old form, in the arena.
 * FAIL MRS_E_LIMIT: too long. */
enum mrs_status live_name_beside(struct live_job *job, const struct mrs_coll *coll, bool kept, struct mrs_arena *a,
                                 struct mrs_coll *out, struct mrs_err *e);
/* Appends the lists of actions as array documents: those to do, and (with --keep-before) those that undo them. */
enum mrs_status live_actions_make(struct live_job *job, struct live_compare *c, struct mrs_buf *list,
                                  struct mrs_buf *back, struct mrs_err *e);
/* Executes the actions from c->at on, up to this stage; saves c after each. May be called again. */
enum mrs_status live_actions_do(struct live_job *job, struct mrs_view list, enum live_stage stage,
                                struct live_checkpoint *c, struct mrs_err *e);

/* The name of a collection of the list after its first n actions, by the list's renames; ns itself without a rename. */
const char *live_actions_name(struct mrs_view list, int64_t n, const char *ns);

/* ---- apply.c: executes the list ---- */
/* The run document's record of a sealed list. Views point into the run document: valid until it is read again. */
struct live_change_totals {
    int64_t n[4];               /* entries: of new and rebuilt collections, then inserts, updates, deletes */
    struct mrs_view list, back; /* actions; empty: none */
    bool keep_before;
};
enum { LIVE_PASS_BUILD, LIVE_PASS_INSERT, LIVE_PASS_UPDATE, LIVE_PASS_DELETE };
enum mrs_status live_change_totals_read(struct live_job *job, struct mrs_arena *a, struct live_change_totals *out,
                                        struct mrs_err *e);
/* Executes all passes and actions up to the stage AFTER; prefix: of the names of its checkpoints. Finished changes are
 * recognised. back: the list backwards. */
enum mrs_status live_list_apply(struct live_job *job, const char *prefix, bool back, struct live_pass_report *r,
                                struct mrs_err *e);
/* Executes the actions of the last stage. */
enum mrs_status live_list_last(struct live_job *job, const char *prefix, bool back, struct mrs_err *e);
/* Compares the current documents with the list and counts in r->differs those that are neither the original nor the
 * result. */
enum mrs_status live_list_verify(struct live_job *job, const char *prefix, struct live_pass_report *r,
                                 struct mrs_err *e);
/* Adds a line to the report, if there is space. */
void live_report_name(struct live_pass_report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- current.c: current documents ---- */
/* For each entry the document with its `_id` in its collection (now: name of the collection), n 0 if there is none; in
 * the arena. */
enum mrs_status live_current_read(struct live_job *job, const struct mrs_coll *now,
                                  const struct live_journal_entry *entry, uint32_t n, struct mrs_arena *a,
                                  struct mrs_view *doc, struct mrs_err *e);

/* ---- quiet.c: shared by apply and contract ---- */
struct live_quiet_run {
    struct live_job *job;
    struct live_block *block;
    struct mrs_arena arena;
    char dir[4096];                    /* temporary folder; "": none yet */
    int lock;                          /* held while the folder is in use; -1: not held */
    const char *in, *base, *out, *refused; /* paths in it; base: input of the plan; refused: NULL: none */
    struct live_compare *compare;
    bool contract;
};
/* Stages up to a sealed list. */
enum mrs_status live_quiet_derive(struct live_quiet_run *q, struct mrs_err *e);
/* Writes the list and seals it with this phase; keep: does a change belong to the list? (NULL: all do) */
typedef bool (*live_keep)(struct live_quiet_run *q, const struct live_planned_change *c);
/* Do the documents after this list fit every unique index that will exist? In memory of opts.memory. FAIL MRS_E_REFUSED
 * with collection, index and the `_id`s of two documents. Checks that only a server can make are left to it, and
 * reported. unique.c. */
enum mrs_status live_unique_check(struct live_quiet_run *q, live_keep keep, struct mrs_err *e);
enum mrs_status live_quiet_seal(struct live_quiet_run *q, const char *phase, live_keep keep, struct mrs_err *e);
/* A dry run, instead of sealing: reports the content of the change list. preview.c */
enum mrs_status live_quiet_preview(struct live_quiet_run *q, live_keep keep, struct live_pass_report *r,
                                   struct mrs_err *e);
/* Reports the content of a sealed list; back: the changes of its rollback. */
enum mrs_status live_change_totals_preview(struct live_job *job, bool back, struct live_pass_report *r,
                                           struct mrs_err *e);
/* Clears q; if nothing is sealed, unblocks writers and sets the phase `phase` (NULL: unchanged). Returns s. */
enum mrs_status live_quiet_end(struct live_quiet_run *q, enum mrs_status s, const char *phase, struct mrs_err *e);
enum live_way { LIVE_WAY_APPLY, LIVE_WAY_CONTRACT, LIVE_WAY_BACK };
/* Executes a sealed list to its end: changes, unblocking, the last actions, the last phase. */
enum mrs_status live_quiet_carry_out(struct live_job *job, enum live_way way, struct live_pass_report *r,
                                     struct mrs_err *e);

/* Removes a folder with its content; files that cannot be removed stay. */
void live_folder_remove(const char *path);

/* ---- the commands ---- */
enum mrs_status live_quiet_apply(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* contract of an expanded plan. */
enum mrs_status live_quiet_contract(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* Compares the current data with the list (of a run that is done or applying). */
enum mrs_status live_quiet_verify(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* Executes the list backwards (--keep-before). */
enum mrs_status live_quiet_rollback(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);

#endif

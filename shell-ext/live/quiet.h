/* quiet.h - the quiet engine: the change list. block.c, snapshot.c, changes.c, journal.c, apply.c, contract.c. */
#ifndef LIVE_QUIET_H
#define LIVE_QUIET_H

#include "pass.h"

/* ---- block.c: writers kept out, and watched ---- */
/* By opts.quiet over all collections that the plan touches; the old validators are kept in the run document first. Again
 * is the same. Opens a change stream (replica set) or reads the write counters (standalone). */
enum mrs_status live_block_enter(struct live_job *job, struct mrs_err *e);
/* FAIL MRS_E_SERVER, naming collection and `_id`, where somebody else wrote since enter. */
enum mrs_status live_block_check(struct live_job *job, struct mrs_err *e);
enum mrs_status live_block_leave(struct live_job *job, struct mrs_err *e);

/* ---- snapshot.c ---- */
/* The collections that exist and that the plan touches, written below `dir` as a dump: documents in `_id` order and
 * metadata. less_claims: fields claimed by the run are left out, new collections too (contract). */
enum mrs_status live_snapshot(struct live_job *job, const char *dir, bool less_claims, struct mrs_err *e);

/* ---- changes.c: out against in ---- */
struct live_listed { /* one change, on its way into the list */
    enum live_op_kind kind;
    struct mrs_coll coll;
    struct mrs_view before, after; /* whole documents; empty: none */
};
/* Compares two dump folders by `_id`, in bounded memory (job->opts.memory), and calls put: all inserts of all
 * collections, then all updates, then all deletes. renamed: pairs of namespaces {old, new} that are one collection.
 * Equal bytes: no change. */
enum mrs_status live_changes(struct live_job *job, const char *in, const char *out, const struct mrs_coll *renamed,
                             uint32_t n_renamed,
                             enum mrs_status (*put)(void *arg, const struct live_listed *c, struct mrs_err *e),
                             void *arg, struct mrs_err *e);

/* ---- journal.c: the change list on the server ---- */
/* {_id: seq, n: ns, k: kind, i: {_id}, b: digest before, a: digest after, d: bytes after (BinData), o: bytes before
 * (--keep-before)}; documents over 8 MiB in pieces {_id: seq, part}. Sealed by the run document's phase. */
struct live_journal;
enum mrs_status live_journal_new(struct live_job *job, struct live_journal **out, struct mrs_err *e); /* empties it */
enum mrs_status live_journal_put(struct live_journal *j, const struct live_listed *c, struct mrs_err *e);
/* All written, majority: n[kind] = number of changes of each kind. Frees j. */
enum mrs_status live_journal_seal(struct live_journal *j, uint64_t n[4], struct mrs_err *e);
void live_journal_free(struct live_journal *j);
struct live_entry {
    int64_t seq;
    enum live_op_kind kind;
    struct mrs_coll coll;
    struct mrs_val id;
    uint8_t before[16], after[16]; /* digests: XXH3-128 of the bytes; 16 zero bytes: no document */
    struct mrs_view doc, old;      /* bytes after; before, where kept */
};
/* The entries [from, from + n) by sequence, as far as they fit in `bytes`. Views live in the arena. OK, also with 0;
 * END: connection lost. */
enum mrs_status live_journal_read(struct live_job *job, int64_t from, uint32_t n, uint64_t bytes,
                                  struct mrs_arena *a, struct live_entry **out, uint32_t *n_out, struct mrs_err *e);

/* ---- the commands ---- */
enum mrs_status live_quiet_apply(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* contract of an expanded plan. */
enum mrs_status live_quiet_contract(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* Compares what stands there with the list (of a run that is done or applying). */
enum mrs_status live_quiet_verify(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);
/* The list backwards (--keep-before). */
enum mrs_status live_quiet_rollback(struct live_job *job, struct live_pass_report *r, struct mrs_err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* connection.h - a connection to a MongoDB deployment; the only door to libmongoc.
 *
 * Everything (but what live_link_open_read_only opens) goes to the primary with readConcern majority (replica set) and
 * w: majority (replica set) or w: 1 (standalone; j: true where asked for), whatever the URI says. Documents come and go
 * as bytes. A failed call fills struct live_fault (what kind, so that the caller can decide) and mrs_err (text for
 * people, never with a password). One link belongs to one thread. */
#ifndef LIVE_LINK_H
#define LIVE_LINK_H

#include "live/job_context.h"

enum live_fault_kind {
    LIVE_FAULT_NONE,
    LIVE_FAULT_NETWORK,    /* connection lost, no reachable primary, state change: what was sent may or may not have
                              been done */
    LIVE_FAULT_TRANSIENT,  /* TransientTransactionError, WriteConflict (112), LockTimeout (24): nothing was done */
    LIVE_FAULT_UNKNOWN_COMMIT, /* UnknownTransactionCommitResult */
    LIVE_FAULT_NO_TXN,     /* NoSuchTransaction (251), killed session */
    LIVE_FAULT_DUPLICATE,  /* 11000 */
    LIVE_FAULT_INVALID,    /* 121, document fails validation */
    LIVE_FAULT_DENIED,     /* 13, 18 */
    LIVE_FAULT_TIMEOUT,    /* 50, MaxTimeMSExpired */
    LIVE_FAULT_TOO_LARGE,  /* 10334 and the like */
    LIVE_FAULT_MISSING,    /* 26 NamespaceNotFound, 27 IndexNotFound */
    LIVE_FAULT_EXISTS,     /* 48 NamespaceExists, 85/86 index conflicts */
    LIVE_FAULT_OTHER
};
struct live_fault {
    enum live_fault_kind kind;
    int32_t code;
    char code_name[64];
};

/* A URI from --uri, --uri-file or MONGODB_URI, in this order; `out` is NUL-ended text of the caller's arena. FAIL
 * MRS_E_USAGE where there is none. */
enum mrs_status live_uri_find(struct mrs_arena *a, const char *uri, const char *file, const char **out,
                              struct mrs_err *e);
/* The URI for people: user kept, password and secret options shown as ***. */
void live_uri_mask(const char *uri, char *out, size_t size);
/* The database in the path of the URI; "" where there is none. */
enum mrs_status live_uri_database(const char *uri, char out[64], struct mrs_err *e);

/* Connects (server selection bounded: 10 s). Once a process before the first: live_link_setup; at the end
 * live_link_teardown. state_db: name whose collections count as "state" in the names of stops. */
void live_link_setup(void);
void live_link_teardown(void);
enum mrs_status live_link_open(struct mrs_mem *mem, const char *uri, const char *state_db, struct live_link **out,
                               struct mrs_err *e);
/* The same for reading: it reads from a secondary if there is one, and sends no write. */
enum mrs_status live_link_open_read_only(struct mrs_mem *mem, const char *uri, struct live_link **out,
                                         struct mrs_err *e);
void live_link_close(struct live_link *l);
/* Asked straight before each write that is in no transaction and not to the state database; what it fails with is
 * returned, and nothing is sent. It may itself write to the state database over this link. NULL, as at first: not
 * asked. */
typedef enum mrs_status (*live_ask)(void *arg, struct mrs_err *e);
void live_link_ask_before_writes(struct live_link *l, live_ask ask, void *arg);
/* The state database is another one from now on. */
void live_link_state(struct live_link *l, const char *state_db);
/* With dry_run a write to another database than the state database fails and is not sent. */
void live_link_dry_run(struct live_link *l, bool dry_run);
struct mrs_mem *live_link_mem(const struct live_link *l);
bool live_link_replicated(const struct live_link *l); /* a replica set: sessions and transactions are there */
bool live_link_sharded(const struct live_link *l);    /* a mongos: majority is there, transactions are not used */
/* Counts connections lost, primaries changed (election id, topologyVersion process id): a caller that sees another
 * number than before must read lease and checkpoint again. */
uint64_t live_link_generation(const struct live_link *l);
/* A mark that all later operations carry (the `comment` option: "mongoreshape <run> <owner>"), and their maxTimeMS
 * (0: none; bulks cannot carry one). */
void live_link_mark(struct live_link *l, const char *comment, int64_t max_time_ms);

/* ---- commands ---- */
enum { LIVE_WRITE = 1,    /* a write: write concern is added */
       LIVE_IN_TXN = 2,   /* inside the open transaction */
       LIVE_JOURNALED = 4, /* j: true on a standalone */
       LIVE_LOCAL = 8, /* read concern local: what a member knows of itself, and the set does not share */
       LIVE_ON_PRIMARY = 16 /* of find and aggregate: read there, also where reads go to a secondary */ };
/* Runs cmd on db; *reply: the server's document, appended to out (may be NULL). OK, or FAIL with fault (may be
 * NULL) and MRS_E_SERVER. */
enum mrs_status live_command(struct live_link *l, const char *db, struct mrs_view cmd, unsigned flags,
                             struct mrs_buf *out, struct live_fault *f, struct mrs_err *e);
/* What each member that answers says to hello, by a round of at most a second: documents, one behind the other,
 * appended to out; the primary is among them or not. A connection lost meanwhile is none of this link. */
enum mrs_status live_members(struct live_link *l, struct mrs_buf *out, struct mrs_err *e);

/* ---- cursors ---- */
enum { LIVE_IN_MAX = 1000 }; /* values that one $in asks for at most: there are servers that take the square of them */
struct live_cursor;
/* find: opts is a document of find options ({sort, projection, min, max, hint, skip, limit, batchSize ...}). A read
 * only: nothing fails before the first next. flags: LIVE_IN_TXN, LIVE_LOCAL,
 * LIVE_ON_PRIMARY. */
enum mrs_status live_find(struct live_link *l, const struct mrs_coll *coll, struct mrs_view filter,
                          struct mrs_view opts, unsigned flags, struct live_cursor **out, struct mrs_err *e);
enum mrs_status live_aggregate(struct live_link *l, const struct mrs_coll *coll, struct mrs_view pipeline,
                               struct mrs_view opts, unsigned flags, struct live_cursor **out, struct mrs_err *e);
/* OK: *doc lives until the next call; END: only when the server said so; FAIL: fault filled. */
enum mrs_status live_cursor_next(struct live_cursor *c, struct mrs_view *doc, struct live_fault *f, struct mrs_err *e);
void live_cursor_close(struct live_cursor *c);
/* The one document of a filter: OK, its bytes appended to out; END: none. opts: without limit. */
enum mrs_status live_find_one(struct live_link *l, const struct mrs_coll *coll, struct mrs_view filter,
                              struct mrs_view opts, struct mrs_buf *out, struct live_fault *f, struct mrs_err *e);

/* ---- bulks: operations of one kind on one collection ---- */
enum live_op_kind { LIVE_INSERT, LIVE_UPDATE, LIVE_REPLACE, LIVE_DELETE };
struct live_op {
    enum live_op_kind kind;
    struct mrs_view filter; /* not of INSERT; updates and deletes touch one document at most */
    struct mrs_view doc;    /* the document; of UPDATE {$set: ...}, or the pipeline as {"0": stage ...} */
};
struct live_op_error {
    uint32_t index;
    int32_t code;
    char msg[256];
};
struct live_bulk_result {
    uint64_t inserted, matched, modified, deleted;
    struct live_op_error *errors; /* of the arena given; writeErrors with their index, code 11000 among them */
    uint32_t n_errors;
};
/* ops all of one kind; unordered unless in a transaction. bypass: bypassDocumentValidation, a privilege of its own. OK
 * also with writeErrors outside a transaction (read n_errors); FAIL with fault: network and everything that is no
 * writeError; inside a transaction any error (n_errors: it was that of an operation). Named stops before and after. */
enum mrs_status live_bulk(struct live_link *l, const struct mrs_coll *coll, const struct live_op *ops, uint32_t n,
                          unsigned flags, bool bypass, struct mrs_arena *arena, struct live_bulk_result *r,
                          struct live_fault *f, struct mrs_err *e);

/* ---- transactions (replica sets) ---- */
/* The session's id as {id: UUID}, before the transaction is begun: stored in the lease, so that a resuming process can
 * kill it. Appended to out. */
enum mrs_status live_txn_session(struct live_link *l, struct mrs_buf *out, struct mrs_err *e);
enum mrs_status live_txn_begin(struct live_link *l, struct mrs_err *e);
/* OK; FAIL: TRANSIENT / NO_TXN: nothing was done; UNKNOWN_COMMIT or NETWORK: ask the checkpoint. */
enum mrs_status live_txn_commit(struct live_link *l, struct live_fault *f, struct mrs_err *e);
void live_txn_abort(struct live_link *l); /* harmless without one; a lost connection too */
/* killSessions for a session of a dead owner. A server that does not know it is no error. */
enum mrs_status live_kill_session(struct live_link *l, struct mrs_view lsid, struct mrs_err *e);

/* ---- change streams: what others write (replica sets) ---- */
struct live_watch;
struct live_watch_opts {
    const struct mrs_coll *const *colls;
    uint32_t n;
    const struct mrs_coll *also; /* and of this collection the document whose `_id` is the text also_id; NULL: none */
    const char *also_id;
    struct mrs_view after;       /* resume token: from there on; empty: from now on */
    bool brief;                  /* of what was changed only the names: see live_watch_next */
};
/* FAIL with the fault (may be NULL); a history that the server does not have any more comes here or with an event. */
enum mrs_status live_watch_open(struct live_link *l, const struct live_watch_opts *o, struct live_watch **out,
                                struct live_fault *f, struct mrs_err *e);
/* The next event that is there without waiting: OK (*event: its document), END: none at the moment. Brief ones have
 * `set`, `unset` and `cut` of an update: paths that got values, that went, and of arrays that became shorter; and
 * `seq`, the value that the field of this name got. */
enum mrs_status live_watch_next(struct live_watch *w, struct mrs_view *event, struct live_fault *f, struct mrs_err *e);
/* The resume token after the last event, appended to out; END: the server has sent none yet. */
enum mrs_status live_watch_token(struct live_watch *w, struct mrs_buf *out, struct mrs_err *e);
void live_watch_close(struct live_watch *w);

#endif

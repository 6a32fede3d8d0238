/* SPDX-License-Identifier: Apache-2.0 */
/* connection.h - a connection to a MongoDB deployment; the only access to libmongoc.
 *
 * Everything (except through live_link_open_read_only) goes to the primary with readConcern majority (replica set) and
 * w: majority (replica set) or w: 1 (standalone; j: true on request), regardless of the URI. Documents are passed as
 * bytes. A failed call fills struct live_fault (its kind, for the caller's decision) and mrs_err (text for the user,
 * never with a password). One link belongs to one thread. */
#ifndef LIVE_LINK_H
#define LIVE_LINK_H

#include "live/job_context.h"

enum live_fault_kind {
    LIVE_FAULT_NONE,
    LIVE_FAULT_NETWORK,    /* connection lost, no reachable primary, state change: the operation may or may not have
                            * been executed */
    LIVE_FAULT_TRANSIENT,  /* TransientTransactionError, WriteConflict (112), LockTimeout (24): not executed */
    LIVE_FAULT_UNKNOWN_COMMIT, /* UnknownTransactionCommitResult */
    LIVE_FAULT_NO_TXN,     /* NoSuchTransaction (251), killed session */
    LIVE_FAULT_DUPLICATE,  /* 11000 */
    LIVE_FAULT_INVALID,    /* 121, document fails validation */
    LIVE_FAULT_DENIED,     /* 13, 18 */
    LIVE_FAULT_TIMEOUT,    /* 50, MaxTimeMSExpired */
    LIVE_FAULT_TOO_LARGE,  /* 10334 and similar codes */
    LIVE_FAULT_MISSING,    /* 26 NamespaceNotFound, 27 IndexNotFound */
    LIVE_FAULT_EXISTS,     /* 48 NamespaceExists, 85/86 index conflicts */
    LIVE_FAULT_OTHER
};
struct live_fault {
    enum live_fault_kind kind;
    int32_t code;
    char code_name[64];
};

/* A URI from --uri, --uri-file or MONGODB_URI, in this order; `out` is NUL-ended text in the caller's arena. FAIL
 * MRS_E_USAGE if there is none. */
enum mrs_status live_uri_find(struct mrs_arena *a, const char *uri, const char *file, const char **out,
                              struct mrs_err *e);
/* The URI for output: user shown, password and secret options replaced by ***. */
void live_uri_mask(const char *uri, char *out, size_t size);
/* The database in the path of the URI; "" if there is none. */
enum mrs_status live_uri_database(const char *uri, char out[64], struct mrs_err *e);

/* Connects (server selection takes at most 10 s). Call live_link_setup once in a process before the first, and
 * live_link_teardown at the end. state_db: database whose collections are called "state" in the names of stops. */
void live_link_setup(void);
void live_link_teardown(void);
enum mrs_status live_link_open(struct mrs_mem *mem, const char *uri, const char *state_db, struct live_link **out,
                               struct mrs_err *e);
/* The same for reading: reads from a secondary if there is one, and sends no write. */
enum mrs_status live_link_open_read_only(struct mrs_mem *mem, const char *uri, struct live_link **out,
                                         struct mrs_err *e);
void live_link_close(struct live_link *l);
/* Called directly before each write outside a transaction and outside the state database; if it fails, its status is
 * returned and nothing is sent. It may itself write to the state database over this link. NULL, the default: no
 * check. */
typedef enum mrs_status (*live_write_check)(void *arg, struct mrs_err *e);
void live_link_check_before_writes(struct live_link *l, live_write_check ask, void *arg);
/* Changes the state database. */
void live_link_state(struct live_link *l, const char *state_db);
/* With dry_run, a write outside the state database fails and is not sent. */
void live_link_dry_run(struct live_link *l, bool dry_run);
struct mrs_mem *live_link_mem(const struct live_link *l);
bool live_link_replicated(const struct live_link *l); /* a replica set: has sessions and transactions */
bool live_link_sharded(const struct live_link *l);    /* a mongos: has majority, transactions are not used */
/* Counts lost connections and changed primaries (election id, topologyVersion process id): if it has changed, the
 * caller must read lease and checkpoint again. */
uint64_t live_link_generation(const struct live_link *l);
/* A mark for all later operations (the `comment` option: "mongoreshape <run> <owner>"; "": none). None has a time
 * limit: it would also end long cursors and index builds. */
void live_link_mark(struct live_link *l, const char *comment);

/* ---- commands ---- */
enum { LIVE_WRITE = 1,    /* a write: adds the write concern */
       LIVE_IN_TXN = 2,   /* inside the open transaction */
       LIVE_JOURNALED = 4, /* j: true on a standalone */
       LIVE_LOCAL = 8, /* read concern local: data of one member, not shared by the set */
       LIVE_ON_PRIMARY = 16 /* of find and aggregate: read there, even if reads go to a secondary */ };
/* Runs cmd on db; *reply: the server's document, appended to out (may be NULL). OK, or FAIL with fault (may be NULL)
 * and MRS_E_SERVER. */
enum mrs_status live_command(struct live_link *l, const char *db, struct mrs_view cmd, unsigned flags,
                             struct mrs_buf *out, struct live_fault *f, struct mrs_err *e);
/* The hello replies of all members that answer, from one round of at most a second: contiguous documents, appended to
 * out; the primary may be missing. A connection lost in it is not one of this link. */
enum mrs_status live_members(struct live_link *l, struct mrs_buf *out, struct mrs_err *e);

/* ---- cursors ---- */
enum { LIVE_IN_MAX = 1000 }; /* maximum number of values in one $in: on some servers the time grows with the square */
struct live_cursor;
/* find: opts is a document of find options ({sort, projection, min, max, hint, skip, limit, batchSize ...}). Only a
 * read: errors come with the first next. flags: LIVE_IN_TXN, LIVE_LOCAL, LIVE_ON_PRIMARY. */
enum mrs_status live_find(struct live_link *l, const struct mrs_coll *coll, struct mrs_view filter,
                          struct mrs_view opts, unsigned flags, struct live_cursor **out, struct mrs_err *e);
enum mrs_status live_aggregate(struct live_link *l, const struct mrs_coll *coll, struct mrs_view pipeline,
                               struct mrs_view opts, unsigned flags, struct live_cursor **out, struct mrs_err *e);
/* OK: *doc lives until the next call; END: only if the server reported the end; FAIL: fault filled. */
enum mrs_status live_cursor_next(struct live_cursor *c, struct mrs_view *doc, struct live_fault *f, struct mrs_err *e);
void live_cursor_close(struct live_cursor *c);
/* The one document of a filter: OK, appends its bytes to out; END: none. opts: without limit. */
enum mrs_status live_find_one(struct live_link *l, const struct mrs_coll *coll, struct mrs_view filter,
                              struct mrs_view opts, struct mrs_buf *out, struct live_fault *f, struct mrs_err *e);

/* ---- bulks: operations of one kind on one collection ---- */
enum live_op_kind { LIVE_INSERT, LIVE_UPDATE, LIVE_REPLACE, LIVE_DELETE };
struct live_op {
    enum live_op_kind kind;
    struct mrs_view filter; /* not for INSERT; updates and deletes change one document at most */
    struct mrs_view doc;    /* the document; for UPDATE {$set: ...}, or the pipeline as {"0": stage ...} */
};
struct live_op_error {
    uint32_t index;
    int32_t code;
    char msg[256];
};
struct live_bulk_result {
    uint64_t inserted, matched, modified, deleted;
    struct live_op_error *errors; /* in the given arena; writeErrors with their index, including code 11000 */
    uint32_t n_errors;
};
/* All ops are of one kind; unordered unless in a transaction. bypass: bypassDocumentValidation, which needs its own
 * privilege. OK also with writeErrors outside a transaction (see n_errors); FAIL with fault: network and all other
 * errors; inside a transaction any error (n_errors: an operation failed). Named stops before and after. */
enum mrs_status live_bulk(struct live_link *l, const struct mrs_coll *coll, const struct live_op *ops, uint32_t n,
                          unsigned flags, bool bypass, struct mrs_arena *arena, struct live_bulk_result *r,
                          struct live_fault *f, struct mrs_err *e);

/* ---- transactions (replica sets) ---- */
/* The session's id as {id: UUID}, before the transaction begins: stored in the lease, so that a resuming process can
 * kill the session. Appended to out. */
enum mrs_status live_txn_session(struct live_link *l, struct mrs_buf *out, struct mrs_err *e);
enum mrs_status live_txn_begin(struct live_link *l, struct mrs_err *e);
/* OK; FAIL: TRANSIENT / NO_TXN: not committed; UNKNOWN_COMMIT or NETWORK: see the checkpoint. */
enum mrs_status live_txn_commit(struct live_link *l, struct live_fault *f, struct mrs_err *e);
void live_txn_abort(struct live_link *l); /* no effect without a transaction or after a lost connection */
/* killSessions for a session of a dead owner. An unknown session is no error. */
enum mrs_status live_kill_session(struct live_link *l, struct mrs_view lsid, struct mrs_err *e);

/* ---- change streams: writes of other clients (replica sets) ---- */
struct live_watch;
struct live_watch_opts {
    const struct mrs_coll *const *colls;
    uint32_t n;
    const struct mrs_coll *also; /* also the document with the `_id` also_id (text) in this collection; NULL: none */
    const char *also_id;
    struct mrs_view after;       /* resume token: events after it; empty: events from now on */
    bool brief;                  /* only names of changed fields: see live_watch_next */
};
/* FAIL with the fault (may be NULL); history that the server has discarded fails here or at an event. */
enum mrs_status live_watch_open(struct live_link *l, const struct live_watch_opts *o, struct live_watch **out,
                                struct live_fault *f, struct mrs_err *e);
/* The next event available without waiting: OK (*event: its document), END: none at the moment. Brief events have
 * `set`, `unset` and `cut` of an update: paths that got values, that were removed, and of arrays that became shorter;
 * and `seq`, the new value of the field of this name. */
enum mrs_status live_watch_next(struct live_watch *w, struct mrs_view *event, struct live_fault *f, struct mrs_err *e);
/* The resume token after the last event, appended to out; END: the server has sent none yet. */
enum mrs_status live_watch_token(struct live_watch *w, struct mrs_buf *out, struct mrs_err *e);
void live_watch_close(struct live_watch *w);

#endif

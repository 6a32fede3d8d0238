/* SPDX-License-Identifier: Apache-2.0 */
/* connection_driver.h - the connection in terms of libmongoc; only for the files connection*.c. */
#ifndef LIVE_LINK_DRIVER_H
#define LIVE_LINK_DRIVER_H

#include "bson.h"
#include "connection.h"

#include <mongoc/mongoc.h>

enum { LIVE_SELECT_MS = 10000, LIVE_HEARTBEAT_MS = 5000, LIVE_SOCKET_MS = 3600000, LIVE_MAJORITY_MS = 60000 };

struct live_link {
    struct mrs_mem *mem;
    mongoc_client_t *client;
    mongoc_client_t *members; /* requests hello of all members (connection_members.c); NULL: not yet made */
    mongoc_client_session_t *session; /* for transactions; made on demand */
    mongoc_write_concern_t *written, *journaled;
    bool replicated, sharded;
    bool single;         /* direct connection to one server, in any state */
    bool not_primary;    /* ... which is a secondary now */
    uint64_t generation;
    char state_db[64];
    char *secret;        /* the password, to be removed from all messages; NULL: none */
    char comment[128];
    live_write_check write_check;        /* called before writes; NULL: none */
    void *write_check_arg;
    bool in_write_check;
    bool dry_run;        /* writes only to the state database */
    bool any_member;     /* reads go to a secondary if there is one */
};

/* ---- connection_uri.c ---- */
/* Parses the URI and adds our settings; FAIL MRS_E_USAGE. An unknown host: FAIL MRS_E_SERVER at once, without waiting
 * for it. */
enum mrs_status live_uri_parse(const char *uri, mongoc_uri_t **out, struct mrs_err *e);
enum mrs_status live_uri_resolve(const mongoc_uri_t *uri, struct mrs_err *e);

/* ---- connection_error.c ---- */
/* Converts an error of libmongoc or the server: fills f and e, returns FAIL. reply may be NULL. */
enum mrs_status live_fault_report(const struct live_link *l, const char *what, const bson_error_t *error,
                                  const bson_t *reply, struct live_fault *f, struct mrs_err *e);
/* The same for a server's code without bson_error_t. */
enum mrs_status live_fault_code(const struct live_link *l, const char *what, struct mrs_view reason,
                                struct live_fault *f, struct mrs_err *e);

/* ---- connection.c ---- */
/* Wraps bytes in a bson_t without copying them; FAIL MRS_E_ACCOUNT if they are no document. */
enum mrs_status live_bytes(struct mrs_view d, bson_t *out, struct mrs_err *e);
/* Session and comment for the options of an operation. */
enum mrs_status live_options(struct live_link *l, unsigned flags, bson_t *opts, struct mrs_err *e);
/* FAIL if the server of a direct connection is no primary any more. */
enum mrs_status live_primary(const struct live_link *l, struct live_fault *f, struct mrs_err *e);
/* May a write be sent now? flags as for the operation. */
enum mrs_status live_may_write(struct live_link *l, const char *db, unsigned flags, struct mrs_err *e);
/* A named stop: "before-update", for the state database "before-state-update". */
void live_link_stop(const struct live_link *l, const char *when, const char *db, const char *what);

#endif

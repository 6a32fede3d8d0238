/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - properties and catalogue of the server, and whether this plan may run there. Reads only. */
#ifndef LIVE_SERVER_H
#define LIVE_SERVER_H

#include "live/link/connection.h"

/* The validator that keeps writers out (--quiet-by validator): no document passes it. */
#define LIVE_BLOCKING_VALIDATOR "{$nor: [{}]}"

struct live_coll_info {
    struct mrs_coll coll;
    bool view, timeseries, capped, clustered, encrypted, collated;
    bool ttl;                 /* an index expires documents */
    bool validated;           /* it has a validator */
    bool unique;              /* an index other than `_id` is unique */
    char uuid[40];            /* hex with dashes; "" unknown */
    struct mrs_view options, indexes; /* from listCollections and listIndexes (indexes: an array document) */
    uint64_t count, bytes, avg; /* collStats: estimates */
};
struct live_server {
    struct mrs_arena arena;
    char version[32], fcv[16], set_name[64], host[256];
    int major, minor;
    bool replicated, sharded, standalone;
    struct live_coll_info *coll; /* of all databases of the plan, including views, sorted by namespace */
    uint32_t n_coll;
};
/* hello, buildInfo, FCV, then listCollections, listIndexes and collStats of the databases db[0..n). Refuses servers
 * below 4.4, standalone without journal (MRS_E_SERVER, with advice). */
enum mrs_status live_server_read(struct mrs_mem *mem, struct live_link *l, const char *const *db, uint32_t n,
                                 struct live_server **out, struct mrs_err *e);
/* The same for commands that only read: any server is supported. db NULL: all databases visible to the user, except
 * those of the server and of tools. */
enum mrs_status live_server_read_any(struct mrs_mem *mem, struct live_link *l, const char *db, struct live_server **out,
                                     struct mrs_err *e);
/* Names of all databases except those of the server and of tools, in the arena; one that is not visible to the user is
 * an error. */
enum mrs_status live_server_databases(struct mrs_mem *mem, struct live_link *l, struct mrs_arena *a,
                                      const char ***name, uint32_t *n, struct mrs_err *e);
void live_server_free(struct live_server *s);
const struct live_coll_info *live_server_coll(const struct live_server *s, const struct mrs_coll *c); /* NULL: none */
/* Can an index answer {path: {$in: [...]}}? */
bool live_server_indexed(const struct live_coll_info *info, const char *path);
/* The catalogue in the form of mongodump, to check a plan (mrs_plan_check) and for the snapshot. */
enum mrs_status live_server_catalog(struct mrs_mem *mem, const struct live_server *s, struct mrs_catalog **out,
                                    struct mrs_err *e);
/* The document of X.metadata.json ({options, indexes, uuid, collectionName, type}), appended to out. */
enum mrs_status live_server_metadata(const struct live_coll_info *c, struct mrs_buf *out, struct mrs_err *e);
/* The current uuid, from listCollections; "" if the collection does not exist. */
enum mrs_status live_server_uuid(struct live_link *l, const struct mrs_coll *c, char uuid[40], struct mrs_err *e);

/* ---- pre-flight: all checks before the first write ---- */
struct live_finding {
    bool refuses;     /* else a warning or a fact */
    const char *text; /* problem, place and advice */
};
struct live_preflight {
    struct mrs_arena arena;
    struct live_finding *finding;
    uint32_t n, n_refuse;
    uint64_t docs, bytes;      /* to read: estimates */
    uint64_t seconds;          /* estimated duration */
};
/* Checks job->plan against job->server: views, time series, capped, encrypted, collated; TTL on sources; validators
 * that would refuse; indexes that joins need (or --allow-scan); claimed fields and new collections that exist already
 * (expand); additions that violate unique indexes; names with `.` or `$` below 5.0; duplicate field names and sizes by
 * a sample; privileges (connectionStatus with showPrivileges) for this command: each missing one is reported with the
 * collection. Writes nothing at all. */
enum mrs_status live_preflight(struct live_job *job, const char *command, struct live_preflight *out,
                               struct mrs_err *e);
void live_preflight_clear(struct live_preflight *p);

/* ---- role.c ---- */
/* The command createRole, {createRole: name, privileges: [...], roles: []}, of a role for `apply`, `verify`,
 * `rollback`, `abort`, and with contract: true `contract` of the plan, in the mode of job->opts. Appended to out. */
enum mrs_status live_role(struct live_job *job, const char *name, bool contract, struct mrs_buf *out,
                          struct mrs_err *e);

#endif

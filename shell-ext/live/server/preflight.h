/* SPDX-License-Identifier: Apache-2.0 */
/* preflight.h - shared by preflight.c, preflight_data.c, privileges.c and role.c. */
#ifndef LIVE_PREFLIGHT_H
#define LIVE_PREFLIGHT_H

#include "live/link/bson.h"
#include "server.h"

/* A collection of the plan, with its roles in all steps. */
struct live_place {
    struct mrs_coll coll;
    unsigned roles;
    const struct live_coll_info *info; /* NULL: it does not exist */
    bool indexed, optioned, renamed, dropped; /* by steps that change no document */
    bool beside;                       /* a temporary name under which a quiet run may rebuild a collection */
};
/* Actions of the server's access control. */
enum {
    MAY_FIND = 1 << 0,
    MAY_INSERT = 1 << 1,
    MAY_UPDATE = 1 << 2,
    MAY_REMOVE = 1 << 3,
    MAY_CREATE_COLLECTION = 1 << 4,
    MAY_CREATE_INDEX = 1 << 5,
    MAY_DROP_COLLECTION = 1 << 6,
    MAY_DROP_INDEX = 1 << 7,
    MAY_COLL_MOD = 1 << 8,
    MAY_RENAME = 1 << 9,
    MAY_LIST_INDEXES = 1 << 10,
    MAY_COLL_STATS = 1 << 11,
    MAY_CHANGE_STREAM = 1 << 12,
    MAY_BYPASS = 1 << 13,
    MAY_LIST_COLLECTIONS = 1 << 14,
    MAY_BLOCK_WRITES = 1 << 15,
    MAY_WRITE_BLOCKED = 1 << 16,
    MAY_LIST_WORK = 1 << 17,
    MAY_KILL_WORK = 1 << 18,
    MAY_KILL_SESSION = 1 << 19,
    MAY_LIST_DATABASES = 1 << 20,
    MAY_SERVER_STATUS = 1 << 21,
    MAY_SET_STATUS = 1 << 22,
    MAY_KEEP_STATE = MAY_FIND | MAY_INSERT | MAY_UPDATE | MAY_REMOVE | MAY_CREATE_COLLECTION | MAY_DROP_COLLECTION,
    MAY_BUILD = MAY_KEEP_STATE | MAY_CREATE_INDEX
};
struct live_check {
    struct live_job *job;
    const char *command;
    bool quiet, apply;
    struct live_preflight *out;
    struct mrs_arena tmp;
    struct live_place *place;
    uint32_t n_places, cap_places, cap_findings;
    struct mrs_val privileges; /* as reported by the server */
    bool tried;                /* not reported: test commands are used */
    bool listed;               /* places are those that a quiet run needs, for a list about to be sealed */
};
/* Records a finding; duplicates count once. OK, DEAD. */
enum mrs_status live_check_note(struct live_check *c, bool refuses, struct mrs_err *e, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Fills place: the collections of the plan. OK, DEAD. */
enum mrs_status live_check_gather(struct live_check *c, struct mrs_err *e);
/* ---- preflight_data.c: checks that read documents ---- */
enum mrs_status live_check_data(struct live_check *c, struct mrs_err *e);
/* A document that already has a field of those that a group adds. */
struct live_existing {
    const struct mrs_coll *coll;
    const char *field;
    char id[120];
};
/* Searches the whole collection, once for all fields of the group. END: there is none. FAIL MRS_E_SERVER. a: for the
 * filter. */
enum mrs_status live_find_claimed(struct live_job *job, const struct mrs_live_group *g, struct mrs_arena *a,
                                  struct live_existing *out, struct mrs_err *e);
/* ---- privileges.c ---- */
/* The actions that the command needs on a collection. */
unsigned live_needs(const struct live_check *c, const struct live_place *p);
/* `actions`, an array of action names. */
void live_put_actions(struct mrs_build *b, unsigned bits);
enum mrs_status live_check_privileges(struct live_check *c, struct mrs_err *e);
/* The same from the server's reply to connectionStatus. Unreported privileges are tested by write commands that change
 * nothing; not in a dry run. */
enum mrs_status live_check_granted(struct live_check *c, struct mrs_view reply_doc, struct mrs_err *e);
/* May the user build collections under these names and rename them? FAIL MRS_E_SERVER with the missing privileges. */
enum mrs_status live_privileges_beside(struct live_job *job, const struct mrs_coll *coll, uint32_t n,
                                       struct mrs_err *e);

#endif

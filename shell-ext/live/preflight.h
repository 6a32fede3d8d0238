/* preflight.h - what preflight.c, preflight_data.c and privileges.c share. */
#ifndef LIVE_PREFLIGHT_H
#define LIVE_PREFLIGHT_H

#include "bson.h"
#include "server.h"

/* A collection that the plan names, with the roles that all steps give it. */
struct live_place {
    struct mrs_coll coll;
    unsigned roles;
    const struct live_coll_info *info; /* NULL: it does not exist */
    bool indexed, optioned, renamed, dropped; /* by steps that touch no document */
};
struct live_check {
    struct live_job *job;
    const char *command;
    bool quiet, apply;
    struct live_preflight *out;
    struct mrs_arena tmp;
    struct live_place *place;
    uint32_t n_places, cap_places, cap_findings;
};
/* Notes a finding; the same text twice is one. OK, DEAD. */
enum mrs_status live_check_note(struct live_check *c, bool refuses, struct mrs_err *e, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* ---- preflight_data.c: what must be looked up in the documents ---- */
enum mrs_status live_check_data(struct live_check *c, struct mrs_err *e);
/* ---- privileges.c ---- */
enum mrs_status live_check_privileges(struct live_check *c, struct mrs_err *e);
/* The same from the server's answer to connectionStatus. */
enum mrs_status live_check_granted(struct live_check *c, struct mrs_view said, struct mrs_err *e);

#endif

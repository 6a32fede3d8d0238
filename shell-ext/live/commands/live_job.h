/* SPDX-License-Identifier: Apache-2.0 */
/* live_job.h - the common part of the commands: from the command line to an open job, and back to an exit status.
 *
 * A call is opened as far as its command needs: `find` for those that only read a run or change its limits, `open` for
 * those that work on documents. Every failure is reported once, by live_call_end. */
#ifndef LIVE_CALL_H
#define LIVE_CALL_H

#include "live_options.h"
#include "live/quiet/quiet.h"

enum { LIVE_WORKERS_MAX = 16 };
struct live_member { /* a worker that this process started */
    int pid, out;        /* pid 0: there is none; out: what it says */
    size_t n;
    char line[600];      /* the one in the making */
};
struct live_worker_processes {
    struct live_workers workers;
    struct live_call *call;
    struct live_member member[LIVE_WORKERS_MAX];
    uint32_t died;       /* since there was progress */
    char why[512];       /* the last error that one of them reported */
    char said[512];      /* the last line that was handed on */
};

struct live_call {
    struct live_cli *cli;
    struct live_job job;
    struct live_worker_processes processes;
    struct mrs_arena arena;
    struct mrs_live live;
    struct mrs_err err;
    const char *uri;        /* never printed */
    const char *shown;      /* the same for people */
    char db[64];            /* default database; "" */
    char *text;             /* the plan as it was read */
    size_t text_n;
    const char *file;       /* its name for messages */
    bool starred;           /* names of it have stars: what fits is another plan once the run has changed something */
    bool known;             /* the run was begun before; what follows is of its document */
    char run[33], phase[32];
    enum live_mode mode;
    enum live_quiet quiet;
    struct mrs_cli_progress progress;
    struct live_preflight preflight;
    bool preflighted;       /* preflight is filled */
    uint64_t would_refuse;  /* documents on which the plan was tried */
    uint64_t begun_ms;
    struct live_pass_report report;
    bool worked;            /* report is filled */
    const char **said;      /* lines of the engines, for --json */
    uint32_t n_said, cap_said;
    const char *next;       /* the command that comes next; NULL */
};

/* Options, URI, plan text; nothing is asked of a server yet. False: misuse was told, *status is set. */
bool live_call_begin(struct live_call *c, struct live_cli *cli, int *status);
enum mrs_status live_call_connect(struct live_call *c);
/* Connects and finds the run by PLAN, --run or because it is the only one. END: there is none. */
enum mrs_status live_call_find(struct live_call *c);
/* Connects, loads and judges the plan, reads the server, and holds a new plan against it. */
enum mrs_status live_call_open(struct live_call *c);
/* The run's document and leases; create: a new run may be made. */
enum mrs_status live_call_run(struct live_call *c, bool create);
/* Whether the plan can run in the requested mode; FAIL MRS_E_USAGE with the reason. */
enum mrs_status live_call_admit(struct live_call *c);
/* Looks whether the server is fit; FAIL MRS_E_SERVER where it is not: the findings are in c->preflight. */
enum mrs_status live_call_preflight(struct live_call *c, const char *command);
/* ---- live_knobs.c ---- */
/* Lays the knobs that the line gives over those of `to`. False: none was given. */
bool live_call_knobs(const struct live_cli *cli, struct live_control *to);
/* Whether their words are right; else the exit status, and it was told. */
int live_call_knobs_misuse(const struct live_cli *cli);
/* Whether the server tells the loads that were given, and the user may ask. */
enum mrs_status live_call_knobs_check(struct live_call *c);
/* Into the run document, where any was given. */
enum mrs_status live_call_knobs_set(struct live_call *c);

/* ---- live_hooks.c ---- */
/* --on-success or --on-failure, by the exit status; behind everything else. */
void live_call_hook(struct live_call *c, int status);

/* ---- worker_processes.c ---- */
void live_workers_of(struct live_worker_processes *c, struct live_call *call);
/* All of them end: at a safe point, else after a while at once. */
void live_workers_end(struct live_worker_processes *c);
/* What of the line does not go with --worker; NULL: nothing. */
const char *live_call_worker_misuse(const struct live_cli *cli);

/* Notes the command line that comes next: "VERB PLAN EXTRA" with the options that this one was given. */
void live_call_next(struct live_call *c, const char *verb, const char *extra);
/* The line in hand with --execute: what a dry run has shown. next.c */
void live_call_again(struct live_call *c);
/* Prints the report (live_report.c) and what went wrong, closes everything, returns the exit status. */
int live_call_end(struct live_call *c, enum mrs_status s, int status);

/* ---- live_report.c ---- */
/* What was found out about plan and server, before anything is written. */
void live_report_outlook(struct live_call *c);
void live_report_findings(const struct live_call *c);
/* What a pass did. */
void live_report_pass(const struct live_call *c);
/* Everything as one object; status: the exit status. */
void live_report_json(struct live_call *c, int status);
const char *live_report_quiet(enum live_quiet q); /* "validator" */
const char *live_report_mode(const struct live_call *c); /* "quiet", "expand", "direct" */

#endif

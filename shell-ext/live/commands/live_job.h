/* SPDX-License-Identifier: Apache-2.0 */
/* live_job.h - the common part of the commands: from the command line to an open job, and back to an exit status.
 *
 * A call is opened as far as its command needs: `find` for commands that only read a run or change its limits, `open`
 * for commands that work on documents. Every failure is reported once, by live_call_end. */
#ifndef LIVE_CALL_H
#define LIVE_CALL_H

#include "live_options.h"
#include "live/quiet/quiet.h"

enum { LIVE_WORKERS_MAX = 16 };
struct live_member { /* a worker that this process started */
    int pid, out;        /* pid 0: none; out: its output */
    size_t n;
    char line[600];      /* the incomplete line */
};
struct live_worker_processes {
    struct live_workers workers;
    struct live_call *call;
    struct live_member member[LIVE_WORKERS_MAX];
    uint32_t died;       /* since the last progress */
    char why[512];       /* the last error reported by one of them */
    char last_line[512]; /* the last line passed on */
};

struct live_call {
    struct live_cli *cli;
    struct live_job job;
    struct live_worker_processes processes;
    struct mrs_arena arena;
    struct mrs_live live;
    struct mrs_err err;
    const char *uri;        /* never printed */
    const char *shown;      /* the masked form, for output */
    char db[64];            /* default database; "" */
    char *text;             /* the plan as read */
    size_t text_n;
    const char *file;       /* its name for messages */
    bool starred;           /* it has names with stars: after changes of the run they may expand to another plan */
    bool known;             /* the run exists; the following fields are from its document */
    char run[33], phase[32];
    enum live_mode mode;
    enum live_quiet quiet;
    struct mrs_cli_progress progress;
    struct live_preflight preflight;
    bool preflighted;       /* preflight is filled */
    uint64_t would_refuse;  /* number of documents refused by the trial */
    uint64_t begun_ms;
    struct live_pass_report report;
    bool worked;            /* report is filled */
    const char **lines;     /* lines of the engines, for --json */
    uint32_t n_lines, cap_lines;
    const char *next;       /* the next command; NULL */
};

/* Options, URI, plan text; no server is contacted yet. False: misuse was reported, *status is set. */
bool live_call_begin(struct live_call *c, struct live_cli *cli, int *status);
enum mrs_status live_call_connect(struct live_call *c);
/* Connects and finds the run by PLAN, --run or because it is the only one. END: none. */
enum mrs_status live_call_find(struct live_call *c);
/* The same, where no run is an error. */
enum mrs_status live_call_find_run(struct live_call *c);
/* The error that the plan has no run. so: what follows from that. */
enum mrs_status live_call_no_run(struct live_call *c, const char *so);
/* Connects, loads and analyses the plan, reads the server, and checks a new plan against it. */
enum mrs_status live_call_open(struct live_call *c);
/* Opens the run's document and leases; create: a new run may be made. */
enum mrs_status live_call_run(struct live_call *c, bool create);
/* Can the plan run in the requested mode? FAIL MRS_E_USAGE with the reason. */
enum mrs_status live_call_admit(struct live_call *c);
/* FAIL: `apply --execute` would be refused because of the run, or of another run on the same collections. */
enum mrs_status live_call_would_open(struct live_call *c);
/* Is the server fit? FAIL MRS_E_SERVER if not: the findings are in c->preflight. */
enum mrs_status live_call_preflight(struct live_call *c, const char *command);
/* ---- live_knobs.c ---- */
/* Copies the knobs on the command line over those of `to`. False: none was given. */
bool live_call_knobs(const struct live_cli *cli, struct live_control *to);
/* Checks their texts; else the exit status, after a message. */
int live_call_knobs_misuse(const struct live_cli *cli);
/* Does the server report the given loads, and may the user read them? */
enum mrs_status live_call_knobs_check(struct live_call *c);
/* Writes given knobs into the run document. */
enum mrs_status live_call_knobs_set(struct live_call *c);

/* ---- live_hooks.c ---- */
/* --on-success or --on-failure, by the exit status; after everything else. */
void live_call_hook(struct live_call *c, int status);

/* ---- worker_processes.c ---- */
void live_workers_of(struct live_worker_processes *c, struct live_call *call);
/* Ends all of them: at a safe point, or after a timeout at once. */
void live_workers_end(struct live_worker_processes *c);
/* An option that cannot be used with --worker; NULL: none. */
const char *live_call_worker_misuse(const struct live_cli *cli);

/* Fills job.opts.server, once the URI is known. next.c */
void live_call_name_server(struct live_call *c);
/* Records the next command line: "VERB PLAN EXTRA" with the options of this one. */
void live_call_next(struct live_call *c, const char *verb, const char *extra);
/* The present command line with --execute: does what a dry run has shown. next.c */
void live_call_again(struct live_call *c);
/* Prints the report (live_report.c) and the error, closes everything, returns the exit status. */
int live_call_end(struct live_call *c, enum mrs_status s, int status);

/* ---- live_report.c ---- */
/* Findings on plan and server, before anything is written. */
void live_report_outlook(struct live_call *c);
void live_report_findings(const struct live_call *c);
/* The results of a pass. */
void live_report_pass(const struct live_call *c);
/* Everything as one object; status: the exit status. */
void live_report_json(struct live_call *c, int status);
const char *live_report_mode(const struct live_call *c); /* "quiet", "expand", "direct" */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* job_context.h - what all files of the online tool share: the job in hand.
 *
 * One struct live_job is made by the command that was called and handed down; nothing is global. It belongs to one
 * thread. Errors travel in struct mrs_err; MRS_E_SERVER for what the server refused. Interrupts: `cancel` is set by the
 * signal handler and examined between batches (MRS_E_CANCEL). */
#ifndef LIVE_H
#define LIVE_H

#include "mongoreshape/live.h"
#include "mongoreshape/run.h"

struct live_link;
struct live_server;
struct live_run;
struct live_metrics;

enum live_mode { LIVE_EXPAND, LIVE_DIRECT };
enum live_quiet { LIVE_NOT_QUIET, LIVE_BY_BLOCK, LIVE_BY_VALIDATOR, LIVE_BY_WORD };

struct live_opts { /* from the command line, or of a resumed run from the run document */
    const char *db, *state_db;
    const char *state_old;   /* where older versions kept the state: examined, too; NULL: not */
    enum live_mode mode;
    enum live_quiet quiet;
    bool native;             /* pipelines of the server do the work of expand where they can */
    uint32_t batch;          /* documents; 0: auto */
    uint64_t memory;         /* of mrs_run and of verify; 0: 256 MiB */
    uint64_t max_refused;
    uint32_t passes;         /* most end passes; 0: 3 */
    const char *tmp;         /* folder of the snapshot; NULL: $TMPDIR, else /tmp */
    bool dry_run;            /* writes only state; reports what would be written */
    bool execute, allow_scan, allow_ttl, no_transactions, keep_before, repair, discard_new_writes, discard_refused;
    int64_t lease_ms;        /* 0: 30,000 */
};
struct live_workers { /* the processes that do a walk together: worker_processes.c */
    uint32_t n;
    /* All of them run; progress: something was done since the last call. FAIL: what one of them failed with. */
    enum mrs_status (*keep)(struct live_workers *c, bool progress, struct mrs_err *e);
};

struct live_progress {
    const char *phase, *ns;  /* "expand 1 embed", "shop.posts" */
    uint64_t done, estimated, bytes;
    double docs_per_s;
    /* live_run_tell fills in the rest */
    const char *limiting;    /* "server latency", "contention", "our own CPU", "throttle", "paused", "lag", ... ; "" */
    const char *why;         /* figures for it, "7 s of 5 s, speed 42 %"; "" or NULL: none */
    double speed;            /* share of the time that it works, by the governor */
    const char *course;      /* NULL: nothing is known of the whole way, percent and walk say nothing */
    uint32_t percent;        /* of the whole way */
    uint32_t walk, walks;    /* 0 of 0: unknown */
    int64_t seconds_left;    /* of the whole way; -1: not known */
};

struct live_job {
    struct mrs_mem *mem;
    struct live_opts opts;
    struct live_link *link;
    struct live_server *server; /* what the server is and has (server.h) */
    struct mrs_plan *plan;
    bool listed;                /* the name of a database in it had a star: all were listed */
    struct mrs_live *live;      /* what the static rule says of the plan (mongoreshape/live.h) */
    const char *command;        /* "apply" */
    struct live_workers *workers;     /* of the leader of a run; NULL: one process does all */
    struct live_metrics *metrics; /* where figures go (metrics.h); NULL: nowhere */
    struct live_run *run;       /* the run document in hand (state.h); NULL in a dry run */
    void (*progress)(void *arg, const struct live_progress *p); /* may be NULL */
    void (*say)(void *arg, const char *line);                   /* a line for the report; may be NULL */
    void *arg;
    const int *cancel;
    struct mrs_secret secret; /* of hashes by which two things are taken for one */
};

/* ---- named stops and mutants: stop.c; nothing at all in the normal build ---- */
#ifdef LIVE_TEST
void live_stop(const char *name);
bool live_mutant(const char *name);
int64_t live_clock(void);
void live_short_in(struct mrs_view question);
#define LIVE_SHORT_IN(question) live_short_in(question)
#define LIVE_STOP(name) live_stop(name)
#define LIVE_MUTANT(name) live_mutant(name)
#else
#define LIVE_SHORT_IN(question) ((void)0)
#define LIVE_STOP(name) ((void)0)
#define LIVE_MUTANT(name) (false)
#define live_clock() mrs_clock_asleep() /* by which leases are reckoned; a test can make it run ahead */
#endif

#endif

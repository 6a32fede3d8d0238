/* SPDX-License-Identifier: Apache-2.0 */
/* job_context.h - shared by all files of the online tool: the current job.
 *
 * The called command makes one struct live_job and passes it on; nothing is global. It belongs to one thread. Errors
 * are returned in struct mrs_err; MRS_E_SERVER for refusals by the server. Interrupts: the signal handler sets
 * `cancel`, which is checked between batches (MRS_E_CANCEL). */
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

struct live_opts { /* from the command line, or for a resumed run from the run document */
    const char *db, *state_db;
    const char *state_old;   /* state database of older versions, checked too; NULL: not */
    const char *server;      /* the words that name the server in a next command, " --uri-file ~/.shop"; NULL: none */
    enum live_mode mode;
    enum live_quiet quiet;
    bool native;             /* pipelines of the server do the work of expand if possible */
    uint32_t batch;          /* documents; 0: auto */
    uint64_t memory;         /* of mrs_run and of verify; 0: 256 MiB */
    uint64_t max_refused;
    uint32_t passes;         /* maximum number of end passes; 0: 3 */
    const char *tmp;         /* folder of the snapshot; NULL: $TMPDIR, else /tmp */
    bool dry_run;            /* writes only state; reports what would be written */
    bool execute, allow_scan, allow_ttl, no_transactions, keep_before, repair;
    bool discard_new_writes, discard_refused, discard_changes;
    int64_t lease_ms;        /* 0: 30,000 */
};
struct live_workers { /* the processes that share a walk: worker_processes.c */
    uint32_t n;
    /* Keeps all running; progress: work was done since the last call. FAIL: error of one of them. */
    enum mrs_status (*keep)(struct live_workers *c, bool progress, struct mrs_err *e);
};

struct live_progress {
    const char *phase, *ns;  /* "expand 1 embed", "shop.posts" */
    uint64_t done, estimated, bytes;
    double docs_per_s;
    /* set by live_run_report */
    const char *limiting;    /* "server latency", "contention", "our own CPU", "throttle", "paused", "lag", ... ; "" */
    const char *why;         /* figures for it, "7 s of 5 s, speed 42 %"; "" or NULL: none */
    double speed;            /* share of the time spent working, by the governor */
    const char *course;      /* NULL: total unknown, percent and walk have no meaning */
    uint32_t percent;        /* of the whole command */
    uint32_t walk, walks;    /* 0 of 0: unknown */
    int64_t seconds_left;    /* of the whole command; -1: unknown */
};

struct live_job {
    struct mrs_mem *mem;
    struct live_opts opts;
    struct live_link *link;
    struct live_server *server; /* properties and catalogue of the server (server.h) */
    struct mrs_plan *plan;
    bool listed;                /* a database name in it had a star: all were listed */
    struct mrs_live *live;      /* results of the static rule for the plan (mongoreshape/live.h) */
    const char *command;        /* "apply" */
    struct live_workers *workers;     /* for the leader of a run; NULL: one process does all */
    struct live_metrics *metrics; /* output of figures (metrics.h); NULL: none */
    struct live_run *run;       /* the current run document (state.h); NULL in a dry run */
    void (*progress)(void *arg, const struct live_progress *p); /* may be NULL */
    void (*print_line)(void *arg, const char *line);            /* a line for the report; may be NULL */
    void *arg;
    const int *cancel;
    struct mrs_secret secret; /* keys hashes whose equality counts as identity */
};

/* Whether `contract` may remove the old schema while writers run. */
static inline bool
live_contracts_alongside(const struct live_job *job)
{
    bool alongside = job->live != NULL;
    for (uint32_t i = 0; alongside && i < job->live->n_groups; i++) {
        alongside = !job->live->group[i].removes || job->live->group[i].contract_live;
    }
    return alongside;
}

/* ---- named stops and mutants: stop.c; empty in the normal build ---- */
#ifdef LIVE_TEST
void live_stop(const char *name);
bool live_mutant(const char *name);
int64_t live_clock(void);
int64_t live_period(int64_t ms);
void live_short_in(struct mrs_view question);
#define LIVE_SHORT_IN(question) live_short_in(question)
#define LIVE_STOP(name) live_stop(name)
#define LIVE_MUTANT(name) live_mutant(name)
#define LIVE_PERIOD(ms) live_period(ms)
#else
#define LIVE_SHORT_IN(question) ((void)0)
#define LIVE_STOP(name) ((void)0)
#define LIVE_MUTANT(name) (false)
#define LIVE_PERIOD(ms) (ms)
#define live_clock() mrs_clock_asleep() /* the clock of leases; a test can advance it */
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - the common start of run, check and explain: input, plan, and the output of their errors. */
#ifndef MRSI_JOB_H
#define MRSI_JOB_H

#include "options.h"

struct mrsi_phase { /* a part of a run, named as in its progress */
    char name[128];
    uint64_t ms;
};
enum { MRSI_PHASES_MOST = 256 };
struct mrsi_phases { /* phases beyond the capacity count to the last */
    struct mrsi_phase at[MRSI_PHASES_MOST];
    uint32_t n;
    uint64_t since; /* by mrs_clock_steady: start of the last one */
};

struct mrsi_job {
    struct mrsi_cli *cli;
    struct mrs_input *in;  /* NULL: none was given */
    struct mrs_plan *plan; /* NULL: it could not be read */
    struct mrs_residue *residue; /* NULL: none was given */
    char *plan_text;       /* as read; NULL */
    struct mrsi_phases phases;
    bool finished;         /* --resume found the output of this run */
    struct mrs_err err;
};

/* 0; or the exit status, after a wrong --jobs or --memory was reported. */
int mrsi_limits_misused(const struct mrsi_cli *cli);
/* Opens the input, if any, loads the plan, checks it against the input's collections and prints its warnings. OK, or
 * the error in job->err; printed as well, unless --json. */
enum mrs_status mrsi_job_open(struct mrsi_job *job, struct mrsi_cli *cli);
struct mrs_input_opts mrsi_job_input_opts(const struct mrsi_cli *cli);
/* Opens a dump, with a progress line if that takes long; the first Ctrl-C ends it (MRS_E_CANCEL). */
enum mrs_status mrsi_job_read(const struct mrsi_cli *cli, const char *path, struct mrs_input_opts *opts,
                              struct mrs_input **in, struct mrs_err *e);
/* For a command whose --ns is a pattern. */
void mrsi_pattern_opts(const struct mrsi_cli *cli, struct mrs_input_opts *out);
/* Do the patterns of names take a collection? If there are none at all: true. */
bool mrsi_job_takes_any(const struct mrs_input *in);
/* FAIL if the patterns leave no collection of the input; a warning for each that fits none. */
enum mrs_status mrsi_job_patterns(const struct mrsi_cli *cli, const char *path, const struct mrs_input_opts *opts,
                                  const struct mrs_input *in, struct mrs_err *e);
void mrsi_job_close(struct mrsi_job *job);
/* Prints job->err on standard error: the plan's errors one by one, or the one error. */
void mrsi_job_report(const struct mrsi_job *job);
/* Exit status of job->err, 128+n after a signal. */
int mrsi_job_exit(const struct mrsi_job *job);

#endif

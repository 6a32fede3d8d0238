/* SPDX-License-Identifier: Apache-2.0 */
/* course.h - the progress of a command over all its walks, and how it spends its time: course.c, spent.c.
 *
 * A command walks over collections several times. The estimate is made when it begins; its share and the time left
 * cover all walks, so that they do not start over with each. Work is counted in documents times a weight: LIVE_WRITES
 * where most are written, LIVE_READS where they are only read and compared. */
#ifndef LIVE_COURSE_H
#define LIVE_COURSE_H

#include "live/job_context.h"

enum { LIVE_READS = 1, LIVE_WRITES = 4 };

enum { LIVE_PACE = 64 };
struct live_pace { /* work done by time: the rate of the last minute */
    int64_t ms[LIVE_PACE];
    uint64_t done[LIVE_PACE];
    uint32_t n, next;
};
/* The rate at `now`; at most one mark a second is stored. Less work than before: starts over. */
double live_pace(struct live_pace *p, uint64_t done, int64_t now);

struct live_course {
    const char *of;          /* the command; NULL: no estimate */
    uint64_t behind, ahead;  /* work of finished walks, and of future ones */
    uint64_t docs;           /* documents of the walks that are over */
    uint64_t estimated;      /* documents of the current walk */
    uint32_t weight;         /* of the current walk; 0: none */
    uint32_t walk, walks;    /* number of the current walk, and of all; 0 of 0: stages that are not walks */
    uint32_t percent;        /* greatest share so far */
    struct live_pace work, pace;
};
struct live_spent { /* how the time since `since_ms` was spent; then the largest part before that */
    int64_t since_ms, cpu_ms, throttled_ms, again_ms;
    const char *most;
    uint32_t share;          /* percent */
};

/* Begins a command. again: it resumes an earlier call, so its share starts from there. */
void live_course_begin(struct live_job *job, const char *of, bool again);
/* Replaces the estimate of future work: so much in so many walks. */
void live_course_foresee(struct live_job *job, uint64_t work, uint32_t walks);
/* Removes work that turned out unnecessary. */
void live_course_spare(struct live_job *job, uint64_t work, uint32_t walks);
/* Adds work done by an earlier call. */
void live_course_past(struct live_job *job, uint64_t work, uint32_t walks);
/* Begins a walk over about so many documents (an unexpected one adds work), and ends it with its actual number. */
void live_course_walk(struct live_job *job, uint64_t estimated, uint32_t weight);
void live_course_walked(struct live_job *job, uint64_t docs);
/* Writes rate, walk, share and time left into r->shown. */
void live_course_report(struct live_course *c, struct live_progress *p, int64_t now);

/* Adds time lost because of a limit, or because others changed documents while they were processed. */
void live_spent_throttled(struct live_spent *s, int64_t ms);
void live_spent_again(struct live_spent *s, int64_t ms);
/* The main use of the last second or more: "server latency", "contention", "throttle", "our own CPU"; *share:
 * percent. */
const char *live_spent_on(struct live_spent *s, int64_t now, int64_t cpu_ms, uint32_t *share);

#endif

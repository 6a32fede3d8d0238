/* SPDX-License-Identifier: Apache-2.0 */
/* course.h - the progress of a command over all its walks, and where its time goes: course.c, spent.c.
 *
 * A command walks over collections several times. The estimate is made when it begins; from then on its share and the
 * time left are of all walks, so that they do not start over with each. Work is counted in documents times a weight:
 * LIVE_WRITES where most are written, LIVE_LOOKS where they are read and compared only. */
#ifndef LIVE_COURSE_H
#define LIVE_COURSE_H

#include "live/job_context.h"

enum { LIVE_LOOKS = 1, LIVE_WRITES = 4 };

enum { LIVE_PACE = 64 };
struct live_pace { /* what was done at seconds gone by: the rate of the last minute */
    int64_t ms[LIVE_PACE];
    uint64_t done[LIVE_PACE];
    uint32_t n, next;
};
/* What it is at `now`; at most one mark a second is kept. Less done than before: it starts over. */
double live_pace(struct live_pace *p, uint64_t done, int64_t now);

struct live_course {
    const char *of;          /* the command; NULL: no way is known */
    uint64_t behind, ahead;  /* work of the walks that are over, and of those that have not begun */
    uint64_t docs;           /* documents of the walks that are over */
    uint64_t estimated;      /* documents of the walk in hand */
    uint32_t weight;         /* of the walk in hand; 0: none */
    uint32_t walk, walks;    /* which it is, and how many are foreseen; 0 of 0: parts that are no walks */
    uint32_t percent;        /* the greatest share so far */
    struct live_pace work, pace;
};
struct live_spent { /* where the time since `since_ms` went; then what took most of it before */
    int64_t since_ms, cpu_ms, held_ms, again_ms;
    const char *most;
    uint32_t share;          /* percent */
};

/* A command begins. again: it resumes where an earlier call of it stopped, so its share is not less than it was. */
void live_course_begin(struct live_job *job, const char *of, bool again);
/* From here on so much work in so many walks is ahead, in place of what was foreseen before. */
void live_course_foresee(struct live_job *job, uint64_t work, uint32_t walks);
/* So much of that need not be done. */
void live_course_spare(struct live_job *job, uint64_t work, uint32_t walks);
/* So much was done by an earlier call. */
void live_course_past(struct live_job *job, uint64_t work, uint32_t walks);
/* A walk over about so many documents begins (one that was not foreseen makes the way longer), and ends: it had so
 * many. */
void live_course_walk(struct live_job *job, uint64_t estimated, uint32_t weight);
void live_course_walked(struct live_job *job, uint64_t docs);
/* Rate, walk, share and time left, into r->told. */
void live_course_tell(struct live_course *c, struct live_progress *p, int64_t now);

/* Time that went by because of a limit, or because documents were changed by others while they were in hand. */
void live_spent_held(struct live_spent *s, int64_t ms);
void live_spent_again(struct live_spent *s, int64_t ms);
/* What most of the time of the last second or more went to, "server latency", "contention", "throttle", "our own CPU";
 * *share: percent. */
const char *live_spent_on(struct live_spent *s, int64_t now, int64_t cpu_ms, uint32_t *share);

#endif

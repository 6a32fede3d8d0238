/* SPDX-License-Identifier: Apache-2.0 */
/* course.c - the progress of a command over all its walks: finished, current and estimated ones.
 *
 * All of it is estimated from the server's document counts, so the computed share may decrease; the reported share
 * never decreases, nor is it 100 before the end. A resumed command begins at the share in the run document. Time left
 * comes from the work of the last minute, over all walks, including waits and pauses. Does not depend on the work of a
 * walk. */
#include "course.h"
#include "state_io.h"

enum { MARK_MS = 1000, MINUTE_MS = 60000, SHARE_MAX = 99 };

double
live_pace(struct live_pace *p, uint64_t done, int64_t now)
{
    MRS_ASSERT(p->n <= LIVE_PACE && p->next < LIVE_PACE);
    uint32_t newest = (p->next + LIVE_PACE - 1) % LIVE_PACE;
    if (p->n && done < p->done[newest]) {
        p->n = 0; /* work lost with a connection is repeated */
    }
    if (p->n == 0 || now - p->ms[newest] >= MARK_MS) {
        p->ms[p->next] = now;
        p->done[p->next] = done;
        p->next = (p->next + 1) % LIVE_PACE;
        p->n += p->n < LIVE_PACE;
    }
    for (uint32_t back = p->n; back > 0; back--) {
        uint32_t i = (p->next + LIVE_PACE - back) % LIVE_PACE;
        int64_t span = now - p->ms[i];
        if (span <= MINUTE_MS) {
            return span > 0 ? (double)(done - p->done[i]) * 1000.0 / (double)span : 0;
        }
    }
    return 0;
}

void
live_course_begin(struct live_job *job, const char *of, bool again)
{
    MRS_ASSERT(job->run);
    char was[16];
    struct live_course *c = &job->run->course;
    struct mrs_view doc = live_run_doc(job->run);
    live_text_at(doc, "course.of", was, sizeof was);
    int64_t percent = again && strcmp(was, of) == 0 ? live_int_at(doc, "course.percent", 0) : 0;
    memset(c, 0, sizeof *c);
    c->of = of;
    c->percent = percent > 0 && percent <= SHARE_MAX ? (uint32_t)percent : 0;
}

void
live_course_foresee(struct live_job *job, uint64_t work, uint32_t walks)
{
    MRS_ASSERT(job->run);
    struct live_course *c = &job->run->course;
    c->ahead = work;
    c->walks = c->walk + walks;
}

static uint64_t
less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

void
live_course_spare(struct live_job *job, uint64_t work, uint32_t walks)
{
    MRS_ASSERT(job->run);
    struct live_course *c = &job->run->course;
    c->ahead = less(c->ahead, work);
    c->walks = c->walk + (uint32_t)less(c->walks, (uint64_t)c->walk + walks);
}

void
live_course_past(struct live_job *job, uint64_t work, uint32_t walks)
{
    MRS_ASSERT(job->run);
    struct live_course *c = &job->run->course;
    c->behind += work;
    c->walk += walks;
    c->walks += walks;
}

void
live_course_walk(struct live_job *job, uint64_t estimated, uint32_t weight)
{
    MRS_ASSERT(job->run && weight > 0);
    struct live_course *c = &job->run->course;
    c->ahead = less(c->ahead, estimated * weight);
    c->estimated = estimated;
    c->weight = weight;
    c->walk += c->walks > 0;
    c->walks = c->walk > c->walks ? c->walk : c->walks;
}

void
live_course_walked(struct live_job *job, uint64_t docs)
{
    MRS_ASSERT(job->run);
    struct live_course *c = &job->run->course;
    c->behind += docs * c->weight;
    c->docs += docs;
    c->weight = 0;
}

void
live_course_report(struct live_course *c, struct live_progress *p, int64_t now)
{
    MRS_ASSERT(c->percent <= SHARE_MAX);
    uint64_t done = c->behind + p->done * c->weight;
    uint64_t all = p->estimated ? p->estimated : c->estimated;
    all = all > p->done ? all : p->done;
    uint64_t whole = c->behind + all * c->weight + c->ahead;
    double rate = live_pace(&c->work, done, now);
    double left = rate > 0 ? (double)(whole - done) / rate + 1 : -1;
    p->docs_per_s = live_pace(&c->pace, c->docs + p->done, now);
    p->course = c->of;
    p->seconds_left = left < 1e9 ? (int64_t)left : -1;
    if (!c->of) {
        return;
    }
    uint64_t percent = whole ? (uint64_t)(100.0 * (double)done / (double)whole) : 0;
    percent = percent < SHARE_MAX ? percent : SHARE_MAX;
    c->percent = percent > c->percent ? (uint32_t)percent : c->percent;
    p->percent = c->percent;
    p->walk = c->walk;
    p->walks = c->walks;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* foresee.c - estimates the work of a command from the server's document counts, for its progress, before the first
 * walk.
 *
 * These are the walks that are needed if there are no writes meanwhile: one that writes, and, if the group is not
 * followed, one that finds nothing more to do. Further walks are added when writers make them necessary. Only the
 * output of `status` depends on these figures. */
#include "live/link/bson.h"
#include "live/server/server.h"
#include "work.h"

struct foreseen {
    uint64_t work;
    uint32_t walks;
};

static uint64_t
docs_of(const struct live_job *job, const struct mrs_coll *coll)
{
    const struct live_coll_info *info = live_server_coll(job->server, coll);
    return info ? info->count : 0;
}

static void
add(struct foreseen *f, uint64_t docs, uint64_t weight)
{
    f->work += docs * weight;
    f->walks++;
}

/* Walks over the main collections of a group; claimed: only those whose documents just get fields. */
static enum mrs_status
add_mains(struct live_job *job, uint32_t group, enum live_purpose purpose, bool claimed, uint64_t weight,
          struct foreseen *f, struct mrs_err *e)
{
    MRS_ASSERT(weight > 0);
    struct live_units *u;
    enum mrs_status st = live_units_open(job, group, purpose, &u, e);
    for (uint32_t m = 0; !st && m < live_units_mains(u); m++) {
        int side;
        const struct mrs_coll *coll = live_units_main(u, m, &side);
        if (!claimed || live_claims_of(job, group, side).n) {
            add(f, docs_of(job, coll), weight);
        }
    }
    live_units_close(st ? NULL : u);
    return st;
}

/* A read of the new collections of a group. */
static void
add_targets(const struct live_job *job, uint32_t group, struct foreseen *f)
{
    const struct mrs_step *s = &job->plan->steps[job->live->group[group].first];
    for (uint32_t side = 0; side < s->desc.n_sides; side++) {
        if (live_side_listed(job, group, side)) {
            add(f, docs_of(job, &s->desc.sides[side].coll), LIVE_READS);
        }
    }
}

bool
live_adds(const struct live_job *job, uint32_t group)
{
    return job->live->group[group].adds && job->live->group[group].family != MRS_FAMILY_CATALOG;
}

bool
live_works(const struct live_job *job, uint32_t group, enum live_purpose purpose)
{
    MRS_ASSERT(group < job->live->n_groups);
    const struct mrs_live_group *g = &job->live->group[group];
    /* Refusals of contract are reported before anything changes; not through a mongos. */
    bool refuses = g->family == MRS_FAMILY_MAP && !job->server->sharded;
    return g->family != MRS_FAMILY_CATALOG && (g->adds || refuses || purpose == LIVE_FOR_DIRECT);
}

enum mrs_status
live_foresee_apply(struct live_job *job, enum live_purpose purpose, struct mrs_err *e)
{
    MRS_ASSERT(job->run && job->live);
    struct foreseen past = {0, 0}, ahead = {0, 0}, before = {0, 0};
    enum mrs_status st = MRS_OK;
    for (uint32_t g = 0; g < job->live->n_groups && !st; g++) {
        struct foreseen *f = g < job->run->group ? &past : &ahead;
        if (!live_works(job, g, purpose)) {
            continue;
        }
        if (job->live->group[g].after_verified && purpose == LIVE_FOR_EXPAND) {
            f->work += before.work;
            f->walks += before.walks;
        }
        st = add_mains(job, g, purpose, false, LIVE_WRITES, f, e);
        MRS_THEN(st, add_mains(job, g, purpose, false, LIVE_READS, f, e));
        MRS_THEN(st, add_mains(job, g, purpose, false, LIVE_READS, &before, e));
    }
    if (job->opts.native) { /* everything is compared at the end */
        ahead.work += before.work;
        ahead.walks += before.walks;
    }
    if (!st) {
        live_course_begin(job, "apply", !live_run_in(job, "claimed"));
        live_course_past(job, past.work, past.walks);
        live_course_foresee(job, ahead.work, ahead.walks);
    }
    return st;
}

enum mrs_status
live_foresee_once(struct live_job *job, uint32_t group, struct mrs_err *e)
{
    struct foreseen f = {0, 0};
    enum mrs_status st = add_mains(job, group, LIVE_FOR_EXPAND, false, LIVE_READS, &f, e);
    if (!st) {
        live_course_spare(job, f.work, f.walks);
    }
    return st;
}

enum mrs_status
live_foresee_verify(struct live_job *job, enum live_purpose purpose, uint32_t groups, struct mrs_err *e)
{
    MRS_ASSERT(groups <= job->live->n_groups);
    struct foreseen ahead = {0, 0};
    enum mrs_status st = MRS_OK;
    for (uint32_t g = 0; g < groups && !st; g++) {
        if (live_works(job, g, purpose)) {
            st = add_mains(job, g, purpose, false, LIVE_READS, &ahead, e);
            add_targets(job, g, &ahead);
        }
    }
    if (!st && !job->run->course.of) { /* else it is the end of another command */
        live_course_begin(job, "verify", live_bool_at(live_run_doc(job->run), "verifying", false));
    }
    if (!st) {
        live_course_foresee(job, ahead.work, ahead.walks);
    }
    return st;
}

enum mrs_status
live_foresee_contract(struct live_job *job, struct mrs_err *e)
{
    struct foreseen ahead = {0, 0};
    enum mrs_status st = MRS_OK;
    for (uint32_t g = 0; g < job->live->n_groups && !st; g++) {
        const struct mrs_live_group *lg = &job->live->group[g];
        uint32_t rounds = !lg->removes ? 0 : lg->n_claims ? 2 : 1; /* additions come before removals */
        for (uint32_t i = 0; i < rounds && !st; i++) {
            st = add_mains(job, g, LIVE_FOR_CONTRACT, false, LIVE_WRITES, &ahead, e);
            MRS_THEN(st, add_mains(job, g, LIVE_FOR_CONTRACT, false, LIVE_READS, &ahead, e));
        }
    }
    if (!st) {
        live_course_begin(job, "contract", live_run_in(job, "contract"));
        live_course_foresee(job, ahead.work, ahead.walks);
    }
    return st;
}

/* A count, a removal, and a second count of the new collections. begun: it was counted before. */
enum mrs_status
live_foresee_rollback(struct live_job *job, bool begun, struct mrs_err *e)
{
    struct foreseen ahead = {0, 0};
    enum mrs_status st = MRS_OK;
    for (uint32_t g = 0; g < job->live->n_groups && !st; g++) {
        if (!live_adds(job, g)) {
            continue;
        }
        if (!begun) {
            st = add_mains(job, g, LIVE_FOR_EXPAND, true, LIVE_READS, &ahead, e);
            add_targets(job, g, &ahead);
        }
        MRS_THEN(st, add_mains(job, g, LIVE_FOR_EXPAND, true, LIVE_WRITES, &ahead, e));
        add_targets(job, g, &ahead);
    }
    if (!st) {
        live_course_begin(job, "rollback", begun);
        live_course_foresee(job, ahead.work, ahead.walks);
    }
    return st;
}

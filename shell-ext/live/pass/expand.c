/* SPDX-License-Identifier: Apache-2.0 */
/* expand.c - adds the new schema next to the old one, or backfills in place.
 *
 * Expand claims its additions before it writes any of them, creates collections and indexes, then processes the groups
 * of the plan in order. Each group takes one walk over its collections and then the events of a change stream for
 * concurrent writes; without a stream, walks repeat until a full one changes nothing, since documents may be inserted
 * behind the cursor at any time. A group that reads additions of an earlier one begins after that one is verified.
 * Nothing is removed, so any batch may be derived again at any time. Direct works the same without claims, for
 * repeatable groups. */
#include "live/link/bson.h"
#include "live/server/server.h"
#include "live/state/ranges.h"
#include "block.h"
#include "follow.h"
#include "native.h"
#include "work.h"

#include <stdio.h>

enum { DIRECT_PASSES = 3, EXPAND_PASSES = 3, CHECK_ROUNDS = 3 };

struct filling {
    struct live_batch b;
    struct live_scan t;
    struct live_native native;
    struct live_follow *follow;
};

static enum mrs_status
fill(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c, struct mrs_err *e)
{
    struct filling *f = arg;
    enum mrs_status st = live_batch_write(&f->b, docs, n, c, e);
    f->t.wrote_docs = f->b.wrote_docs;
    f->t.wrote_bytes = f->b.wrote_bytes;
    return st;
}

/* Derives on the client the documents of a range, given their `_id`s. */
static enum mrs_status
fill_after_all(struct filling *f, const struct mrs_view *ids, uint32_t n, struct live_checkpoint *c, struct mrs_err *e)
{
    enum mrs_status st = live_batch_write_ids(&f->b, ids, n, c, e);
    f->t.wrote_docs = f->b.wrote_docs;
    f->t.wrote_bytes = f->b.wrote_bytes;
    return st;
}

static enum mrs_status
fill_natively(void *arg, const struct mrs_view *ids, uint32_t n, struct live_checkpoint *c, struct mrs_err *e)
{
    struct filling *f = arg;
    const struct live_coll_info *info = live_server_coll(f->b.job->server, f->b.coll);
    bool client = n == 0;
    enum mrs_status st = n == 0 ? MRS_OK : live_native_range(&f->native, ids, n, &client, e);
    if (st || client) {
        return st ? st : fill_after_all(f, ids, n, c, e);
    }
    f->b.r->docs += n;
    f->b.r->written += n;
    f->t.wrote_docs = n;
    f->t.wrote_bytes = info ? n * info->avg : 0;
    return live_checkpoint_save(f->b.job, c, e);
}

static enum mrs_status
between(void *arg, bool *anew, struct mrs_err *e)
{
    struct filling *f = arg;
    return live_follow_between(f->follow, f->b.patient, anew, e);
}

/* Numbers of documents of a group written by the server and left to the client. */
static void
report_native(struct live_job *job, const struct filling *f, uint32_t group)
{
    MRS_ASSERT(group < job->live->n_groups);
    char line[400], phase[96];
    const struct live_native *n = &f->native;
    live_phase_name(job, phase, "step", group);
    if (n->why) {
        snprintf(line, sizeof line, "%s on %s: by the client: %.200s", phase, f->b.coll->ns, n->why);
    } else {
        snprintf(line, sizeof line, "%s on %s: %llu range%s by pipelines%s", phase, f->b.coll->ns,
                 (unsigned long long)(n->ranges - n->by_client), n->ranges - n->by_client == 1 ? "" : "s",
                 n->by_client ? "" : " of the server");
        size_t at = strlen(line);
        if (n->by_client) {
            snprintf(line + at, sizeof line - at, ", %llu by the client, the last one because of: %s",
                     (unsigned long long)n->by_client, n->last);
        }
    }
    if (job->print_line) {
        job->print_line(job->arg, line);
    }
}

static uint32_t
walks(const struct live_job *job)
{
    return 1 + (job->opts.passes ? job->opts.passes : EXPAND_PASSES);
}

static struct live_scan
scan_of(struct live_job *job, struct filling *f, const struct live_walk *w, const char *pass, const char *phase)
{
    struct live_scan t = {.job = job, .pass = pass, .phase = phase, .coll = f->b.coll, .bounded = true,
                          .writes = w->no == 0, .batch = fill, .between = w->follow ? between : NULL, .arg = f};
    if (w->range) {
        t.pass = w->range->pass;
        t.end = (struct mrs_view){w->range->end.p, (uint32_t)w->range->end.n};
        t.bounded = t.end.n == 0;
    }
    return t;
}

enum mrs_status
live_walk_main(struct live_job *job, struct live_walk *w, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(w->group < job->live->n_groups);
    struct filling f;
    char name[48], phase[96];
    const char *what = w->purpose == LIVE_FOR_DIRECT ? "direct" : "expand";
    bool native = job->opts.native && live_adds(job, w->group);
    memset(&f, 0, sizeof f);
    f.follow = w->follow;
    enum mrs_status st = live_batch_open(&f.b, job, w->group, w->main, w->purpose, r, e);
    f.t = scan_of(job, &f, w, live_pass_name(name, what, w->group, w->main, w->no),
                  live_phase_name(job, phase, what, w->group));
    f.b.patient = w->purpose == LIVE_FOR_EXPAND && w->no + 1 < walks(job);
    if (!st && native) {
        st = live_native_open(&f.native, job, w->group, f.b.coll, f.b.side, e);
        f.t.ids = !f.native.why;
        f.t.batch = f.native.why ? fill : fill_natively;
    }
    MRS_THEN(st, live_scan_run(&f.t, e));
    if (!st && native && w->no == 0) {
        report_native(job, &f, w->group);
    }
    w->wrote = w->wrote || f.t.written;
    w->missed = w->missed || f.t.missed;
    w->last_docs = f.t.wrote_docs;
    w->last_bytes = f.t.wrote_bytes;
    live_native_close(&f.native);
    live_batch_close(&f.b);
    return st;
}

/* One walk over all main collections of a group. */
static enum mrs_status
walk_mains(struct live_job *job, struct live_walk *w, struct live_pass_report *r, struct mrs_err *e)
{
    struct live_units *u;
    enum mrs_status st = live_units_open(job, w->group, w->purpose, &u, e);
    uint32_t mains = st ? 0 : live_units_mains(u);
    live_units_close(st ? NULL : u);
    for (w->main = 0; w->main < mains && !st; w->main++) {
        bool shared = false;
        st = live_walk_shared(job, w, &shared, r, e);
        st = st || shared ? st : live_walk_main(job, w, r, e);
    }
    return st;
}

/* Walks once and then applies the events of concurrent writes; if events are incomplete, walks until one writes
 * nothing. */
static enum mrs_status
walk_group(struct live_job *job, enum live_purpose purpose, uint32_t group, struct live_pass_report *r,
           struct mrs_err *e)
{
    MRS_ASSERT(group < job->live->n_groups);
    struct live_follow f;
    const struct live_follow_of of = {.what = "expand", .group = group, .purpose = purpose};
    bool again = true;
    enum mrs_status st = live_follow_begin(&f, job, &of, r, e);
    st = st || !f.on ? st : live_foresee_once(job, group, e);
    for (uint32_t no = f.on ? (uint32_t)f.c.at : 0; no < walks(job) && again && !st; no++) {
        struct live_walk w = {.purpose = purpose, .group = group, .no = no, .follow = &f};
        bool followed = f.on; /* if it ends during the walk, the events until then need another one */
        st = live_follow_walk(&f, no, e);
        MRS_THEN(st, walk_mains(job, &w, r, e));
        again = w.wrote || w.missed;
        if (followed) {
            MRS_THEN(st, live_follow_apply(&f, no + 1 < walks(job), w.missed, &again, e));
        }
    }
    live_follow_end(&f);
    return st;
}

/* Verifies, and corrects, all groups before `group`. */
static enum mrs_status
check_before(struct live_job *job, uint32_t group, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(group < job->live->n_groups);
    struct live_pass_report found = {.arena = NULL};
    enum mrs_status st = MRS_OK;
    for (uint32_t round = 0; round < CHECK_ROUNDS && !st; round++) {
        uint32_t no; /* a new one each time: results of an earlier call are outdated */
        enum live_repair repair = round + 1 < CHECK_ROUNDS ? LIVE_REPAIR_PATIENTLY : LIVE_REPAIR_ALL;
        memset(&found, 0, sizeof found);
        st = live_next_number(job, "check_no", &no, e);
        MRS_THEN(st, live_verify_groups(job, "check", no, 0, group, repair, &found, e));
        r->written += found.written;
        if (!st && ((found.differs == 0 && found.missed == 0) || live_verify_settled(&found))) {
            return MRS_OK;
        }
    }
    char phase[96];
    return st ? st : mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                                 "%s reads what earlier steps add, and that still changes: %llu differences in the "
                                 "last comparison; call again when there are fewer writes",
                                 live_phase_name(job, phase, "step", group), (unsigned long long)found.differs);
}

/* While writers run, a refused document stays where it is; offline, it has left its collection before a later step
 * uses it. So nothing is derived from one, and nothing is added to one. */
static enum mrs_status
check_refused(struct live_job *job, uint32_t group, struct mrs_err *e)
{
    MRS_ASSERT(group < job->live->n_groups);
    const struct mrs_live_group *lg = &job->live->group[group];
    const struct mrs_step *st = &job->plan->steps[lg->first];
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < st->desc.n_sides && s == MRS_OK; i++) {
        const struct mrs_side *side = &st->desc.sides[i];
        uint64_t n = 0;
        if (side->role & (MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_MAIN)) {
            s = live_refused_before(job, mrs_live_first(lg) + 1, side->coll.ns, &n, e);
        }
        if (n) {
            s = mrs_err_set(e, MRS_FAIL, MRS_E_TOO_MANY,
                            "step %u uses %s, where %llu document%s that an earlier step refused %s left: correct them "
                            "and call again, or `rollback` and run the plan with --quiet-by",
                            st->no, side->coll.ns, (unsigned long long)n, n == 1 ? "" : "s", n == 1 ? "is" : "are");
        }
    }
    return s;
}

static enum mrs_status
all_groups(struct live_job *job, enum live_purpose purpose, const char *phase, struct live_pass_report *r,
           struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t g = job->run->group; g < job->live->n_groups && !st; g++) {
        const struct mrs_live_group *lg = &job->live->group[g];
        bool works = live_works(job, g, purpose);
        st = live_run_phase(job, phase, g, mrs_empty_doc(), e);
        st = st || !works ? st : check_refused(job, g, e);
        if (works && lg->after_verified && purpose == LIVE_FOR_EXPAND) {
            MRS_THEN(st, check_before(job, g, r, e));
        }
        if (works) {
            MRS_THEN(st, walk_group(job, purpose, g, r, e));
        }
    }
    return st;
}

static enum mrs_status
may_begin(const struct live_job *job, const char *phase, const char *done, struct mrs_err *e)
{
    if (live_run_in(job, "claimed") || live_run_in(job, phase) || live_run_in(job, done)) {
        return MRS_OK;
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "this run is in phase \"%s\": it cannot be applied any more",
                       job->run->phase);
}

/* Claims are recorded before the objects they refer to. */
static enum mrs_status
begin_expand(struct live_job *job, struct live_claims *c, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_view set;
    mrs_buf_init(&buf, job->mem, MRS_DOC_MAX);
    enum mrs_status st = live_claims_check(job, c, e);
    MRS_THEN(st, live_doc(&buf, &set, e, "{claims: %v, verified: null}", mrs_doc_get(c->doc, "claims")));
    MRS_THEN(st, live_run_phase(job, "expand", 0, set, e));
    mrs_buf_clear(&buf);
    return st;
}

enum mrs_status
live_expand(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(job->run && job->live);
    struct live_claims c = {.cat = NULL};
    enum mrs_status st = may_begin(job, "expand", "expanded", e);
    if (st || live_run_in(job, "expanded")) {
        return st;
    }
    if (!job->live->expand) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "%s", job->live->expand_why);
    }
    st = live_block_leave(job, e); /* of a contract that was killed before it removed anything */
    if (st) {
        return st;
    }
    st = live_foresee_apply(job, LIVE_FOR_EXPAND, e);
    MRS_THEN(st, live_claims_make(job, &c, e));
    if (!st && live_run_in(job, "claimed")) {
        st = begin_expand(job, &c, e);
    }
    MRS_THEN(st, live_catalogue_make(job, &c, false, e));
    live_claims_clear(&c);
    MRS_THEN(st, all_groups(job, LIVE_FOR_EXPAND, "expand", r, e));
    return st ? st : live_run_phase(job, "expanded", job->live->n_groups, mrs_empty_doc(), e);
}

enum mrs_status
live_direct(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(job->run && job->live);
    struct live_claims c = {.cat = NULL};
    enum mrs_status st = may_begin(job, "direct", "done", e);
    if (st || live_run_in(job, "done")) {
        return st;
    }
    if (!job->live->direct) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "%s", job->live->direct_why);
    }
    st = live_foresee_apply(job, LIVE_FOR_DIRECT, e);
    MRS_THEN(st, live_claims_make(job, &c, e));
    MRS_THEN(st, live_catalogue_make(job, &c, false, e));
    MRS_THEN(st, all_groups(job, LIVE_FOR_DIRECT, "direct", r, e));
    MRS_THEN(st, live_catalogue_make(job, &c, true, e));
    live_claims_clear(&c);
    return st ? st : live_run_phase(job, "done", job->live->n_groups, mrs_empty_doc(), e);
}

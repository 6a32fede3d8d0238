/* SPDX-License-Identifier: Apache-2.0 */
/* range_lease.c - the lease of one worker on one range, by the server's clock.
 *
 * A range is taken by one update whose filter holds exactly the bytes that were read, like a lease on a collection
 * (lease.c), and its sequence number increases with each taking: so no filter of an earlier owner matches any more. An
 * earlier owner may have left one open transaction on the server, whose session is in the range; it is ended first. A
 * worker writes into collections only in transactions that begin with a write to the range, so that a process that
 * slept past its lease cannot commit, however late it resumes. A range resumes at its own position, never at that of
 * its new owner. */
#include "ranges.h"

#include "state_io.h"

#include <stdio.h>

/* The filter of every update of the current range; without a range: matches nothing. */
static enum mrs_status
ours(struct live_job *job, struct mrs_arena *a, struct mrs_view *q, struct mrs_err *e)
{
    const struct live_run *r = job->run;
    MRS_ASSERT(r->range[0]);
    return live_doc_in(a, q, e, "{_id: {$eq: %s}, owner: %s, epoch: %I, done: false}", r->range, r->owner, r->epoch);
}

enum mrs_status
live_range_change(struct live_job *job, const char *what, struct mrs_view u, struct mrs_err *e)
{
    struct live_state_change c = {.u = mrs_view_val(u)};
    struct mrs_arena a;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = ours(job, &a, &c.q, e);
    MRS_THEN(s, live_state_update(job, &job->run->state_checkpoints, &c, NULL, e));
    mrs_arena_clear(&a);
    return s == MRS_OK && c.matched != 1 && !LIVE_MUTANT("worker-not-fenced")
               ? mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                             "%s: the range %s is no longer ours: this process was suspended for longer than its lease "
                             "and another has continued", what, job->run->range)
               : s;
}

/* ---- take ---- */
struct range_seen { /* an unfinished range, as read */
    struct mrs_view d;
    char id[96], owner[64];
    int64_t until, seq;
    bool free;
};

static void
see(const struct live_run *r, struct mrs_view d, int64_t now, struct range_seen *s)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    s->d = d;
    live_text_at(d, "_id", s->id, sizeof s->id);
    live_text_at(d, "owner", s->owner, sizeof s->owner);
    s->until = live_date_at(d, "until", 0);
    s->seq = live_int_at(d, "seq", 0);
    s->free = live_int_at(d, "epoch", 0) == r->epoch &&
              (!*s->owner || strcmp(s->owner, r->leader) == 0 || s->until < now);
}

/* Before the owner is fenced off: its open transaction would block the taking of the range. */
static enum mrs_status
end_owner(struct live_job *job, const struct range_seen *s, struct mrs_err *e)
{
    struct mrs_val lsid = live_at(s->d, "lsid");
    return lsid.type == MRS_DOCUMENT ? live_kill_session(job->link, mrs_val_view(lsid), e) : MRS_OK;
}

/* END: another process was faster. */
static enum mrs_status
grab(struct live_job *job, const struct range_seen *s, struct mrs_err *e)
{
    MRS_ASSERT(s->free);
    struct live_run *r = job->run;
    struct live_state_change c = {.many = false};
    struct mrs_arena a;
    struct mrs_view u;
    int64_t now = 0, sent_at = live_clock();
    bool skip = *s->owner && strcmp(s->owner, r->leader) != 0 && LIVE_MUTANT("range-at-takers-place");
    mrs_arena_init(&a, job->mem);
    enum mrs_status st = live_state_now(job, &now, e);
    MRS_THEN(st, live_doc_in(&a, &c.q, e,
                             "{_id: {$eq: %s}, owner: %s, epoch: %I, until: %t, seq: %I, done: false, lsid: {$eq: %v}}",
                             s->id, s->owner, r->epoch, s->until, s->seq,
                             live_at(s->d, "lsid").type == MRS_MISSING ? mrs_null() : live_at(s->d, "lsid")));
    MRS_THEN(st, live_doc_in(&a, &u, e,
                             "{$set: {owner: %s, until: %t, seq: %I, turn: %I, last: %v}, $currentDate: {since: true}, "
                             "$unset: {lsid: ''}}",
                             r->owner, now + r->lease_ms, s->seq + 1, live_int_at(s->d, "turn", 0) + 1,
                             skip ? live_at(s->d, "end") : mrs_missing()));
    if (st == MRS_OK) {
        c.u = mrs_view_val(u);
        LIVE_STOP("before-range-take");
        st = live_state_update(job, &r->state_checkpoints, &c, NULL, e);
        r->lease_checked_ms = sent_at;
    }
    mrs_arena_clear(&a);
    return st == MRS_OK && c.matched != 1 ? MRS_END : st;
}

static enum mrs_status
in_hand(struct live_job *job, const struct range_seen *s, struct live_range_task *out, struct mrs_err *e)
{
    MRS_ASSERT(strlen(s->id) < sizeof job->run->range);
    struct live_run *r = job->run;
    struct mrs_val end = live_at(s->d, "end");
    memcpy(r->range, s->id, sizeof r->range);
    snprintf(out->pass, sizeof out->pass, "%s", strchr(s->id, '/') ? strchr(s->id, '/') + 1 : s->id);
    out->group = (uint32_t)live_int_at(s->d, "group", 0);
    out->main = (uint32_t)live_int_at(s->d, "main", 0);
    mrs_buf_reset(&out->end);
    if (end.type == MRS_DOCUMENT) {
        mrs_buf_put(&out->end, end.p, end.n);
    }
    LIVE_STOP("after-range-take");
    bool limited = r->control.docs_per_s || r->control.bytes_per_s;
    enum mrs_status st = mrs_buf_status(&out->end, e);
    return st == MRS_OK && limited ? live_range_sharers(job, &r->sharers, e) : st;
}

enum mrs_status
live_range_take(struct live_job *job, struct live_range_task *out, struct mrs_err *e)
{
    MRS_ASSERT(job->run->worker && !job->run->range[0]);
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_buf docs;
    struct mrs_view pipeline, d;
    int64_t now = 0;
    bool taken = false;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&docs, job->mem, 64u << 20);
    enum mrs_status s = live_state_now(job, &now, e);
    MRS_THEN(s, live_doc_in(&a, &pipeline, e,
                            "[{$match: {run: %s, done: false, walk: {$exists: true}}}, {$sort: {no: 1}}]", r->id));
    MRS_THEN(s, live_state_list(job, &r->state_checkpoints, pipeline, &docs, e));
    out->open = docs.n > 0;
    for (size_t at = 0; s == MRS_OK && !taken && live_state_next(&docs, &at, &d);) {
        struct range_seen seen;
        see(r, d, now, &seen);
        if (seen.free) {
            s = end_owner(job, &seen, e);
            MRS_THEN(s, grab(job, &seen, e));
            taken = s == MRS_OK;
            s = s == MRS_END ? MRS_OK : s;
            MRS_THEN(s, taken ? in_hand(job, &seen, out, e) : MRS_OK);
        }
    }
    mrs_buf_clear(&docs);
    mrs_arena_clear(&a);
    return s == MRS_OK && !taken ? MRS_END : s;
}

/* ---- hold ---- */
enum mrs_status
live_range_renew(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view u;
    int64_t now = 0, sent_at = live_clock();
    if (!r->range[0]) {
        return MRS_OK;
    }
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_state_now(job, &now, e);
    MRS_THEN(s, live_doc_in(&a, &u, e, "{$set: {until: %t}}", now + r->lease_ms));
    MRS_THEN(s, live_range_change(job, "renewing", u, e));
    if (s == MRS_OK) {
        r->lease_checked_ms = sent_at;
    }
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_range_fence(struct live_job *job, struct mrs_arena *a, struct live_op *op, struct mrs_err *e)
{
    op->kind = LIVE_UPDATE;
    enum mrs_status s = ours(job, a, &op->filter, e);
    return s == MRS_OK ? live_doc_in(a, &op->doc, e, "{$set: {held: true}, $inc: {fences: 1}}") : s;
}

enum mrs_status
live_range_ours(struct live_job *job, bool *is, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_buf buf;
    struct mrs_view q;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&buf, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = ours(job, &a, &q, e);
    MRS_THEN(s, live_state_read(job, &job->run->state_checkpoints, q, &buf, e));
    *is = s == MRS_OK;
    mrs_buf_clear(&buf);
    mrs_arena_clear(&a);
    return s == MRS_END ? MRS_OK : s;
}

/* After a lost connection, our transaction may still be open on the server: then the lease expires by itself. */
void
live_range_leave(struct live_job *job)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view u;
    if (r->range[0] && live_link_generation(job->link) == r->generation) {
        mrs_arena_init(&a, job->mem);
        r->leaving = true;
        if (live_doc_in(&a, &u, NULL, "{$set: {owner: '', until: %t}, $unset: {lsid: ''}}", (int64_t)0) == MRS_OK) {
            (void)live_range_change(job, "giving back", u, NULL); /* not ours any more: done, or owned by another */
        }
        r->leaving = false;
        mrs_arena_clear(&a);
    }
    r->range[0] = 0;
}

/* ---- other workers ---- */
/* Counts owners of current or last finished ranges, since a waiting worker has none. */
enum mrs_status
live_range_sharers(struct live_job *job, uint32_t *n, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct mrs_arena a;
    struct mrs_buf owners;
    struct mrs_view pipeline, d;
    int64_t now = 0;
    uint32_t found = 0;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&owners, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = live_state_now(job, &now, e);
    MRS_THEN(s, live_doc_in(&a, &pipeline, e,
                            "[{$match: {run: %s, owner: {$gt: ''}, until: {$gte: %t}}}, {$group: {_id: '$owner'}}]",
                            job->run->id, now));
    MRS_THEN(s, live_state_list(job, &job->run->state_checkpoints, pipeline, &owners, e));
    for (size_t at = 0; s == MRS_OK && live_state_next(&owners, &at, &d);) {
        found++;
    }
    *n = found > 1 ? found : 1;
    mrs_buf_clear(&owners);
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_leader_lives(struct live_job *job, bool *lives, struct mrs_err *e)
{
    MRS_ASSERT(job->run && job->run->worker);
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view q;
    uint64_t found = 0;
    int64_t now = 0;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_state_now(job, &now, e);
    MRS_THEN(s, live_doc_in(&a, &q, e, "{run: %s, owner: %s, until: {$gte: %t}}", r->id, r->leader, now));
    MRS_THEN(s, live_state_count(job, &r->state_leases, q, &found, e));
    *lives = found > 0;
    mrs_arena_clear(&a);
    return s;
}

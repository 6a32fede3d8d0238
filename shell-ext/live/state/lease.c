/* SPDX-License-Identifier: Apache-2.0 */
/* lease.c - exclusive access to collections: one lease for each namespace, by the server's clock.
 *
 * A lease is a document {_id: namespace, run, owner, epoch, until}. It expires by the server's own clock
 * (hello.localTime), so clocks of clients do not matter. It is taken by one update whose filter holds exactly the bytes
 * that were read: the epoch increases with each taking, so of two processes only one can win, and one that slept
 * between read and update matches nothing. The expiry time is counted from a clock read before the update, and an owner
 * counts its own lease from before that read: it never believes in a longer lease than others do. No update asks the
 * server to compute. An owner that was only suspended finds another name in the lease. A dead owner may have left a
 * transaction or a running command on the server; the same update that takes its lease records them (`dead`), so that
 * they are not lost if the new owner dies too; they are ended before anything else happens. Does not depend on the work
 * under the leases. */
#include "ranges.h"
#include "state_io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOOK_MS = 200, TRIES_MAX = 50 };

struct lease_holder { /* a lease as read */
    char run[33], owner[64];
    int64_t epoch, since, until;
    bool old;              /* expired, by the server's clock */
    bool session;          /* it contains one: lsid */
    uint8_t lsid[128];     /* lsid_n bytes of the value */
    uint32_t lsid_n;
    int64_t ms;
};

void
live_lease_comment(const char *run, const char *owner, char out[128])
{
    snprintf(out, 128, "mongoreshape %s %s", run, owner);
}

/* The server's clock. */
static enum mrs_status
clock_now(struct live_job *job, int64_t *now, struct mrs_err *e)
{
    if (LIVE_MUTANT("lease-by-client-clock")) {
        *now = mrs_clock_wall();
        return MRS_OK;
    }
    return live_state_now(job, now, e);
}

static enum mrs_status
holder_of(struct mrs_view d, int64_t now, struct lease_holder *h, struct mrs_err *e)
{
    struct mrs_val lsid = live_at(d, "lsid");
    live_text_at(d, "run", h->run, sizeof h->run);
    live_text_at(d, "owner", h->owner, sizeof h->owner);
    h->epoch = live_int_at(d, "epoch", 0);
    h->since = live_date_at(d, "since", 0);
    h->until = live_date_at(d, "until", 0);
    h->ms = live_int_at(d, "ms", 0);
    h->old = h->until < now;
    h->session = lsid.type == MRS_DOCUMENT;
    if (h->session && lsid.n > sizeof h->lsid) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "a lease in the state database is damaged: lsid");
    }
    if (h->session) {
        memcpy(h->lsid, lsid.p, lsid.n);
        h->lsid_n = lsid.n;
    }
    return MRS_OK;
}

/* Reads the lease of a namespace; END: none. The clock is read first: a lease expired by that time is expired. */
static enum mrs_status
read_lease(struct live_job *job, const char *ns, struct lease_holder *h, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_buf buf;
    struct mrs_view q;
    int64_t now = 0;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&buf, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = clock_now(job, &now, e);
    MRS_THEN(s, live_doc_in(&a, &q, e, "{_id: {$eq: %s}}", ns));
    MRS_THEN(s, live_state_read(job, &job->run->state_leases, q, &buf, e));
    MRS_THEN(s, holder_of((struct mrs_view){buf.p, (uint32_t)buf.n}, now, h, e));
    mrs_buf_clear(&buf);
    mrs_arena_clear(&a);
    return s;
}

static enum mrs_status
make(struct live_job *job, const char *ns, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view doc;
    bool there;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &doc, e, "{_id: %s, run: '', owner: '', epoch: %I, until: %t}", ns, (int64_t)0,
                                    (int64_t)0);
    MRS_THEN(s, live_state_insert(job, &job->run->state_leases, doc, &there, e));
    mrs_arena_clear(&a);
    return s;
}

/* The update that takes a lease as read, if it has not changed since. */
static enum mrs_status
taking(struct live_job *job, const char *ns, const struct lease_holder *h, struct mrs_arena *a,
       struct live_state_change *c, struct mrs_err *e)
{
    MRS_ASSERT(h->lsid_n <= sizeof h->lsid);
    struct live_run *r = job->run;
    struct mrs_val lsid = {h->lsid, h->lsid_n, MRS_DOCUMENT};
    struct mrs_view u, dead = {NULL, 0};
    int64_t now = 0;
    enum mrs_status s = clock_now(job, &now, e);
    if (s == MRS_OK) {
        s = live_doc_in(a, &c->q, e, "{_id: {$eq: %s}, run: %s, owner: %s, epoch: %I, until: %t, lsid: {$eq: %v}}", ns,
                        h->run, h->owner, h->epoch, h->until, h->session ? lsid : mrs_null());
    }
    if (s == MRS_OK && h->owner[0]) {
        s = live_doc_in(a, &dead, e, "{dead: {run: %s, owner: %s, lsid: %v, ms: %I}}", h->run, h->owner,
                        h->session ? lsid : mrs_missing(), h->ms);
    }
    if (s == MRS_OK) {
        s = live_doc_in(a, &u, e,
                        "{$set: {run: %s, owner: %s, epoch: %I, until: %t, ms: %i}, $currentDate: {since: true}, "
                        "$unset: {lsid: ''}, $push: %d}",
                        r->id, r->owner, h->epoch + 1, now + r->lease_ms, r->lease_ms, dead);
    }
    if (s == MRS_OK) {
        c->u = mrs_view_val(u);
    }
    return s;
}

/* OK: the lease is ours; END: another process was faster: read it again. */
static enum mrs_status
grab(struct live_job *job, const char *ns, const struct lease_holder *h, struct mrs_err *e)
{
    struct live_state_change c = {0};
    struct mrs_arena a;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = taking(job, ns, h, &a, &c, e);
    MRS_THEN(s, live_state_update(job, &job->run->state_leases, &c, NULL, e));
    mrs_arena_clear(&a);
    return s == MRS_OK && c.matched != 1 ? MRS_END : s;
}

static enum mrs_status
lease_conflict(struct live_job *job, const char *ns, const struct lease_holder *h, struct mrs_err *e)
{
    char since[32], until[32];
    bool same = strcmp(h->run, job->run->id) == 0;
    live_date_text(h->since, since);
    live_date_text(h->until, until);
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                       "%s is leased to %s %.12s (process %s, since %s; lease until %s): wait until that process has "
                       "ended, or stop it there",
                       ns, same ? "another process of this run," : "another run,", h->run, h->owner, since, until);
}

/* Another process holds the lease for this run: it is alive if it renews the lease, else the lease expires soon. OK:
 * read again. */
static enum mrs_status
outlive(struct live_job *job, const char *ns, struct lease_holder *first, const struct lease_holder *now,
        bool *reported, struct mrs_err *e)
{
    if (strcmp(now->run, job->run->id) != 0) {
        return lease_conflict(job, ns, now, e);
    }
    if (first->owner[0] == 0) {
        *first = *now;
    }
    if (strcmp(first->owner, now->owner) != 0 || first->until != now->until || first->epoch != now->epoch) {
        return lease_conflict(job, ns, now, e);
    }
    if (!*reported && job->print_line) {
        char line[256];
        snprintf(line, sizeof line, "waiting to see whether %s, which holds the lease of %s, is still alive",
                 now->owner, ns);
        job->print_line(job->arg, line);
        *reported = true;
    }
    if (live_cancelled(job)) {
        return live_cancel_err(e);
    }
    live_nap(LOOK_MS);
    return live_lease_keep(job, e);
}

static enum mrs_status
take_one(struct live_job *job, const char *ns, struct mrs_err *e)
{
    MRS_ASSERT(ns[0]);
    struct lease_holder first = {0}, now;
    bool reported = false;
    for (int tries = 0; tries < TRIES_MAX;) {
        memset(&now, 0, sizeof now);
        enum mrs_status s = read_lease(job, ns, &now, e);
        if (s < MRS_OK) {
            return s;
        }
        if (s == MRS_OK && strcmp(now.owner, job->run->owner) == 0) {
            return MRS_OK;
        }
        if (s == MRS_OK && !now.old) {
            s = outlive(job, ns, &first, &now, &reported, e);
        } else {
            tries++;
            s = s == MRS_END ? make(job, ns, e) : grab(job, ns, &now, e);
        }
        if (s < MRS_OK) {
            return s;
        }
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                       "the lease of %s cannot be taken: the server does not find it by its own clock", ns);
}

/* ---- sessions and commands of a dead owner ---- */
/* Uses the command, not the stage $currentOp, which refuses the read concern of our links. */
static enum mrs_status
running(struct live_job *job, const char *comment, bool own_only, struct mrs_buf *out)
{
    struct mrs_arena a;
    struct mrs_view cmd;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &cmd, NULL, "{currentOp: 1, $ownOps: %b, command.comment: %s}", own_only,
                                    comment);
    MRS_THEN(s, live_state_command(job, "admin", cmd, 0, out, NULL, NULL));
    mrs_arena_clear(&a);
    return s;
}

/* Checks again here, since some servers ignore the filter. Our own query does not count. */
static bool
meant(struct mrs_val op, const char *comment, struct mrs_val *opid)
{
    char text[128];
    if (op.type != MRS_DOCUMENT) {
        return false;
    }
    struct mrs_view d = mrs_val_view(op);
    live_text_at(d, "command.comment", text, sizeof text);
    *opid = live_at(d, "opid");
    return strcmp(text, comment) == 0 && live_at(d, "command.currentOp").type == MRS_MISSING &&
           opid->type != MRS_MISSING;
}

static enum mrs_status
kill_one(struct live_job *job, struct mrs_val opid, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view cmd;
    struct mrs_buf out;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&out, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc_in(&a, &cmd, e, "{killOp: 1, op: %v}", opid);
    if (s == MRS_OK && live_state_command(job, "admin", cmd, 0, &out, NULL, NULL) == MRS_DEAD) {
        s = mrs_err_memory(e, 0); /* refused: it ends by itself, or the wait ends */
    }
    mrs_buf_clear(&out);
    mrs_arena_clear(&a);
    return s;
}

/* *n: their number. */
static enum mrs_status
kill_ops(struct live_job *job, struct mrs_view reply, const char *comment, uint32_t *n, struct mrs_err *e)
{
    struct mrs_val list = live_at(reply, "inprog"), opid;
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = MRS_OK;
    *n = 0;
    mrs_walk_init(&w, list.type == MRS_ARRAY ? mrs_val_view(list) : mrs_empty_doc());
    while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
        if (meant(el.v, comment, &opid)) {
            s = kill_one(job, opid, e);
            (*n)++;
        }
    }
    return s;
}

enum mrs_status
live_lease_quell(struct live_job *job, const char *run, const char *owner, struct mrs_err *e)
{
    MRS_ASSERT(run && owner);
    char comment[128];
    int64_t start = live_clock();
    enum mrs_status s = MRS_OK;
    uint32_t n = 1;
    live_lease_comment(run, owner, comment);
    while (s == MRS_OK && n > 0) {
        struct mrs_buf out;
        mrs_buf_init(&out, job->mem, MRS_DOC_READ_MAX);
        n = 0;
        s = running(job, comment, false, &out);
        if (s == MRS_FAIL) {
            mrs_buf_reset(&out);
            s = running(job, comment, true, &out); /* those of our own user need no privilege */
        }
        if (s == MRS_OK) {
            s = kill_ops(job, (struct mrs_view){out.p, (uint32_t)out.n}, comment, &n, e);
        } else if (s == MRS_FAIL) {
            s = MRS_OK; /* the server does not list operations: the wait is enough */
        } else {
            s = mrs_err_memory(e, 0);
        }
        mrs_buf_clear(&out);
        if (s == MRS_OK && n > 0 && live_clock() - start > job->run->lease_ms) {
            s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                            "%u commands of %s still run on the server and do not end: wait, then call again", n,
                            owner);
        }
        if (s == MRS_OK && n > 0) {
            live_nap(LOOK_MS);
            s = live_cancelled(job) ? live_cancel_err(e) : live_lease_keep(job, e);
        }
    }
    return s;
}

/* All our leases with the remains of dead owners, as contiguous documents. */
static enum mrs_status
list_dead(struct live_job *job, struct mrs_buf *out, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view pipeline;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &pipeline, e,
                                    "[{$match: {owner: %s}}, {$unwind: '$dead'}, "
                                    "{$project: {_id: 0, run: '$dead.run', owner: '$dead.owner', lsid: '$dead.lsid', "
                                    "ms: '$dead.ms'}}]",
                                    job->run->owner);
    MRS_THEN(s, live_state_list(job, &job->run->state_leases, pipeline, out, e));
    mrs_arena_clear(&a);
    return s;
}

/* Waits for the longest lease among them: their operations have ended by then. */
static enum mrs_status
wait_out(struct live_job *job, const struct mrs_buf *dead, struct mrs_err *e)
{
    MRS_ASSERT(dead->n > 0);
    struct mrs_view d;
    int64_t longest = job->run->lease_ms, start = live_clock();
    char line[128];
    for (size_t at = 0; live_state_next(dead, &at, &d);) {
        int64_t ms = live_int_at(d, "ms", 0);
        longest = ms > longest && ms < 3600000 ? ms : longest;
    }
    snprintf(line, sizeof line, "an owner before us has died: waiting %" PRId64 " s for what it may still have begun",
             (longest + 999) / 1000);
    if (job->print_line) {
        job->print_line(job->arg, line);
    }
    while (live_clock() - start < longest) {
        if (live_cancelled(job)) {
            return live_cancel_err(e);
        }
        live_nap(LOOK_MS);
        MRS_TRY(live_lease_keep(job, e));
    }
    return MRS_OK;
}

static enum mrs_status
end_one(struct live_job *job, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    char run[33], owner[64];
    enum mrs_status s = MRS_OK;
    struct mrs_val lsid = live_at(d, "lsid");
    live_text_at(d, "run", run, sizeof run);
    live_text_at(d, "owner", owner, sizeof owner);
    if (lsid.type == MRS_DOCUMENT && live_link_replicated(job->link)) {
        s = live_kill_session(job->link, mrs_val_view(lsid), e);
    }
    MRS_THEN(s, live_ranges_seal(job, run, e)); /* of its workers */
    return s == MRS_OK ? live_lease_quell(job, run, owner, e) : s;
}

/* The namespaces of our leases, as an array document in buf. */
static enum mrs_status
names_doc(struct live_job *job, struct mrs_buf *buf, struct mrs_view *list, struct mrs_err *e)
{
    MRS_ASSERT(job->run->n_leases == 0 || job->run->lease);
    const struct live_run *r = job->run;
    struct mrs_build b;
    mrs_build_init(&b, buf);
    for (uint32_t i = 0; i < r->n_leases; i++) {
        char digits[12];
        mrs_index_name(digits, i);
        mrs_build_text(&b, digits, r->lease[i], (uint32_t)strlen(r->lease[i]));
    }
    return mrs_build_finish(&b, list, e);
}

/* Who keeps its state in that database does not read our leases. Not possible if the user may not read there. */
static enum mrs_status
nobody_in(struct live_job *job, const char *db, int64_t now, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_buf names, reply;
    struct mrs_view list, cmd;
    struct live_fault f = {0};
    struct mrs_err why;
    char ns[256], owner[64];
    mrs_err_clear(&why);
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&names, job->mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&reply, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = names_doc(job, &names, &list, &why);
    MRS_THEN(s, live_doc_in(&a, &cmd, &why,
                            "{find: 'leases', filter: {_id: {$in: %a}, owner: {$gt: ''}, until: {$gte: %t}}, limit: 1, "
                            "singleBatch: true}",
                            list, now));
    MRS_THEN(s, live_state_command(job, db, cmd, 0, &reply, &f, &why));
    struct mrs_val one = s == MRS_OK ? live_first_of(&reply) : mrs_missing();
    if (one.type == MRS_DOCUMENT) {
        live_text_at(mrs_val_view(one), "_id", ns, sizeof ns);
        live_text_at(mrs_val_view(one), "owner", owner, sizeof owner);
        s = mrs_err_set(&why, MRS_FAIL, MRS_E_SERVER,
                        "another mongoreshape-live (%s) works on %s and keeps its state in the database %s, where it "
                        "does not see this run: stop one of them",
                        owner, ns, db);
    }
    if (s == MRS_FAIL && f.kind == LIVE_FAULT_DENIED) {
        s = MRS_OK;
    } else if (s != MRS_OK) {
        *e = why;
    }
    mrs_buf_clear(&reply);
    mrs_buf_clear(&names);
    mrs_arena_clear(&a);
    return s;
}

/* Older tools keep their state in a database of their own; a caller with another one may not know of the usual one. */
static enum mrs_status
nobody_elsewhere(struct live_job *job, int64_t now, struct mrs_err *e)
{
    static const char *const db[] = {LIVE_STATE_DB, LIVE_STATE_DB_OLD};
    enum mrs_status s = MRS_OK;
    for (size_t i = 0; s == MRS_OK && job->run->n_leases > 0 && i < sizeof db / sizeof *db; i++) {
        s = strcmp(db[i], live_state_db(job)) == 0 ? MRS_OK : nobody_in(job, db[i], now, e);
    }
    return s;
}

/* Updates all our leases; all of them must still be ours. */
static enum mrs_status
all_ours(struct live_job *job, const char *what, struct mrs_view u, struct mrs_err *e)
{
    MRS_ASSERT(job->run->n_leases > 0);
    struct live_run *r = job->run;
    struct live_state_change c = {.u = mrs_view_val(u), .many = true};
    struct mrs_arena a;
    struct mrs_buf names;
    struct mrs_view list;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&names, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = names_doc(job, &names, &list, e);
    if (s == MRS_OK) {
        s = live_doc_in(&a, &c.q, e, "{_id: {$in: %a}, owner: %s, run: %s}", list, r->owner, r->id);
    }
    MRS_THEN(s, live_state_update(job, &r->state_leases, &c, NULL, e));
    if (s == MRS_OK && c.matched != (int64_t)r->n_leases) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                        "%s: of %u leases only %" PRId64 " are still ours: this process was suspended for longer than "
                                                         "its lease and another has continued; nothing more is written "
                                                         "here",
                        what, r->n_leases, c.matched);
    }
    mrs_buf_clear(&names);
    mrs_arena_clear(&a);
    return s;
}

static enum mrs_status
forget_dead(struct live_job *job, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view u;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &u, e, "{$unset: {dead: ''}}");
    MRS_THEN(s, all_ours(job, "taking over", u, e));
    mrs_arena_clear(&a);
    return s;
}

static enum mrs_status
bury(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(!job->run->worker);
    struct mrs_buf dead;
    struct mrs_view d;
    mrs_buf_init(&dead, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = list_dead(job, &dead, e);
    if (s == MRS_OK && dead.n > 0) {
        if (!live_link_replicated(job->link)) {
            s = wait_out(job, &dead, e);
        }
        for (size_t at = 0; s == MRS_OK && live_state_next(&dead, &at, &d);) {
            s = end_one(job, d, e);
        }
        MRS_THEN(s, forget_dead(job, e));
    }
    mrs_buf_clear(&dead);
    return s;
}

/* ---- interface ---- */
static int
by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Sorts names and removes duplicates; stored with the run. */
static enum mrs_status
names_of(struct live_job *job, const struct mrs_coll *const *colls, uint32_t n, const char ***out, uint32_t *n_out,
         struct mrs_err *e)
{
    MRS_ASSERT(n == 0 || colls);
    struct live_run *r = job->run;
    const char **name = mrs_arena_alloc(&r->arena, (n ? n : 1) * sizeof *name);
    uint32_t kept = 0;
    MRS_TRY(mrs_allocated(name, n * sizeof *name, e));
    for (uint32_t i = 0; i < n; i++) {
        name[i] = mrs_arena_copy(&r->arena, colls[i]->ns, strlen(colls[i]->ns) + 1);
        MRS_TRY(mrs_allocated(name[i], strlen(colls[i]->ns) + 1, e));
    }
    qsort(name, n, sizeof *name, by_name);
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || strcmp(name[kept - 1], name[i]) != 0) {
            name[kept++] = name[i];
        }
    }
    *out = name;
    *n_out = kept;
    return MRS_OK;
}

/* Without transactions, only this check stops a process that slept past its lease from writing. */
static enum mrs_status
still_ours(void *job, struct mrs_err *e)
{
    return live_lease_keep(job, e);
}

enum mrs_status
live_lease_take(struct live_job *job, const struct mrs_coll *const *colls, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(job->run && job->run->n_leases == 0);
    struct live_run *r = job->run;
    uint32_t names = 0;
    int64_t now = 0;
    enum mrs_status s = names_of(job, colls, n, &r->lease, &names, e);
    r->n_leases = 0;
    r->lease_checked_ms = live_clock();
    LIVE_STOP("before-lease-take");
    while (s == MRS_OK && r->n_leases < names) {
        s = take_one(job, r->lease[r->n_leases], e);
        if (s == MRS_OK) {
            r->n_leases++;
        }
    }
    live_link_check_before_writes(job->link, still_ours, job);
    LIVE_STOP("after-lease-take");
    MRS_THEN(s, clock_now(job, &now, e));
    MRS_THEN(s, nobody_elsewhere(job, now, e));
    MRS_THEN(s, bury(job, e));
    if (s != MRS_OK) {
        live_lease_release(job);
    }
    return s;
}

enum mrs_status
live_lease_renew(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view u;
    int64_t now = 0, sent_at = live_clock(); /* before the server's clock is read: our time is never longer */
    if (r->worker) {
        return live_range_renew(job, e);
    }
    if (r->n_leases == 0) {
        return MRS_OK;
    }
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = clock_now(job, &now, e);
    if (s == MRS_OK) {
        s = live_doc_in(&a, &u, e, "{$set: {until: %t}}", now + r->lease_ms);
    }
    MRS_THEN(s, all_ours(job, "renewing", u, e));
    MRS_THEN(s, nobody_elsewhere(job, now, e));
    if (s == MRS_OK) {
        r->lease_checked_ms = sent_at;
    }
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_lease_keep(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    bool due = live_clock() - r->lease_checked_ms >= r->lease_ms / 6;
    return due ? live_lease_renew(job, e) : MRS_OK;
}

enum mrs_status
live_lease_session(struct live_job *job, struct mrs_view lsid, struct mrs_err *e)
{
    MRS_ASSERT(job->run && mrs_view_is_framed(lsid));
    struct mrs_arena a;
    struct mrs_view u;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &u, e, "{$set: {lsid: %d}}", lsid);
    if (s == MRS_OK) {
        s = job->run->worker ? live_range_change(job, "noting the session", u, e)
                             : all_ours(job, "noting the session", u, e);
    }
    mrs_arena_clear(&a);
    return s;
}

/* After a lost connection, our commands may still run on the server: then the lease expires by itself. */
void
live_lease_release(struct live_job *job)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view u;
    live_link_check_before_writes(job->link, NULL, NULL);
    if (r->n_leases == 0 || live_link_generation(job->link) != r->generation) {
        r->n_leases = 0;
        return;
    }
    LIVE_STOP("before-lease-release");
    mrs_arena_init(&a, job->mem);
    if (live_doc_in(&a, &u, NULL, "{$set: {owner: '', until: %t}, $unset: {lsid: ''}}", (int64_t)0) == MRS_OK) {
        r->leaving = true;
        (void)all_ours(job, "giving back", u, NULL);
        r->leaving = false;
    }
    mrs_arena_clear(&a);
    r->n_leases = 0;
}

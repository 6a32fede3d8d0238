/* SPDX-License-Identifier: Apache-2.0 */
/* live_refused.c - stores refused documents in the state database.
 *
 * A refused document stays in its collection; the state database gets a copy, the reason and the place, under an `_id`
 * made of run, step, namespace and the document's own `_id`. So a batch that is repeated after a crash records no
 * refusal twice, and a later success of the document removes its record. The copy is binary: the server does not
 * interpret its names or types. Does not depend on the reason of a refusal. */
#include "state_io.h"

#include "mongoreshape/ejson.h"

#include <stdio.h>

enum { DOC_ROOM = 65536 }; /* maximum size of a record without the document */

enum mrs_status
live_refused_count(struct live_job *job, uint64_t *n, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct mrs_arena a;
    struct mrs_view query;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &query, e, "{_id.run: %s}", job->run->id);
    MRS_THEN(s, live_state_count(job, &job->run->state_refused, query, n, e));
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_refused_before(struct live_job *job, uint32_t step, const char *ns, uint64_t *n, struct mrs_err *e)
{
    MRS_ASSERT(step > 0);
    struct mrs_arena a;
    struct mrs_view query;
    *n = 0;
    if (job->run->n_refused == 0) {
        return MRS_OK;
    }
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &query, e, "{_id.run: %s, _id.ns: %s, _id.step: {$lt: %i}}", job->run->id, ns,
                                    (int64_t)step);
    MRS_THEN(s, live_state_count(job, &job->run->state_refused, query, n, e));
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_refused_id(struct live_job *job, uint32_t step, const char *ns, struct mrs_val id, struct mrs_arena *a,
                struct mrs_view *out, struct mrs_err *e)
{
    return live_doc_in(a, out, e, "{run: %s, step: %i, ns: %s, id: %v}", job->run->id, (int64_t)step, ns, id);
}

bool
live_refused_fits(struct mrs_view doc)
{
    struct mrs_val id = mrs_doc_get(doc, "_id");
    return (uint64_t)doc.n + id.n + 2 * DOC_ROOM <= MRS_DOC_MAX;
}

/* Makes the record; omits a document that would not fit: it is still in its collection. */
static enum mrs_status
record(struct live_job *job, struct mrs_view id, struct mrs_view doc, const struct mrs_err *why, struct mrs_arena *a,
       struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(id));
    struct mrs_val copy = mrs_missing();
    (void)job;
    if ((uint64_t)doc.n + id.n + DOC_ROOM <= MRS_DOC_MAX) {
        uint8_t *p = mrs_arena_alloc(a, (size_t)doc.n + 5);
        MRS_TRY(mrs_allocated(p, doc.n, e));
        mrs_put32(p, doc.n);
        p[4] = 0;
        memcpy(p + 5, doc.p, doc.n);
        copy = (struct mrs_val){p, doc.n + 5, MRS_BINARY};
    }
    return live_doc_in(a, out, e, "{_id: %d, reason: %s, place: %s, bytes: %i, doc: %v}", id, why->msg, why->where,
                       (int64_t)doc.n, copy);
}

static enum mrs_status
replace(struct live_job *job, const struct mrs_coll *coll, struct mrs_view id, struct mrs_view doc,
        struct mrs_arena *a, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(id) && mrs_view_is_framed(doc));
    struct live_state_change c = {.u = mrs_view_val(doc)};
    enum mrs_status s = live_doc_in(a, &c.q, e, "{_id: {$eq: %d}}", id);
    return s == MRS_OK ? live_state_update(job, coll, &c, NULL, e) : s;
}

static enum mrs_status
too_many(struct live_job *job, const char *ns, struct mrs_val id, const struct mrs_err *why, struct mrs_err *e)
{
    MRS_ASSERT(job->run->n_refused > job->opts.max_refused);
    char picture[64];
    uint64_t n = job->run->n_refused;
    return mrs_err_set(e, MRS_FAIL, MRS_E_TOO_MANY,
                       "%llu document%s refused, more than --max-refused %llu; the last one is %s %s: %.200s; correct "
                       "them and call the same command again, or allow more",
                       (unsigned long long)n, n == 1 ? " is" : "s are", (unsigned long long)job->opts.max_refused, ns,
                       mrs_val_picture(id, picture, sizeof picture), why->msg);
}

/* The key of a refused document within its step and namespace: its `_id`. A document made from axes is stored nowhere
 * and has none; a hash of its bytes, in room, replaces it. */
static struct mrs_val
own_id(const struct live_job *job, uint32_t step, struct mrs_view doc, uint8_t room[21])
{
    const struct mrs_plan *p = job->plan;
    struct mrs_val id = mrs_doc_get(doc, "_id");
    if (step > 0 && step <= p->n_steps && p->steps[step - 1].desc.family == MRS_FAMILY_GRID) {
        struct mrs_hash128 h = live_run_hash(job, doc);
        mrs_put32(room, 16);
        room[4] = 0;
        mrs_put64(room + 5, h.lo);
        mrs_put64(room + 13, h.hi);
        id = (struct mrs_val){room, 21, MRS_BINARY};
    }
    return id;
}

enum mrs_status
live_refused_put(struct live_job *job, uint32_t step, const char *ns, struct mrs_view doc, const struct mrs_err *why,
                 struct mrs_err *e)
{
    MRS_ASSERT(job->run && mrs_view_is_framed(doc));
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view id, rec;
    uint8_t room[21];
    struct mrs_val own = own_id(job, step, doc, room);
    bool there = false;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_lease_keep(job, e);
    MRS_THEN(s, live_refused_id(job, step, ns, own, &a, &id, e));
    MRS_THEN(s, record(job, id, doc, why, &a, &rec, e));
    MRS_THEN(s, live_state_insert(job, &r->state_refused, rec, &there, e));
    if (s == MRS_OK && there) {
        s = replace(job, &r->state_refused, id, rec, &a, e);
    } else if (s == MRS_OK) {
        r->n_refused++;
        s = r->worker ? live_refused_count(job, &r->n_refused, e) : s; /* other workers refuse, too */
    }
    mrs_arena_clear(&a);
    return s == MRS_OK && r->n_refused > job->opts.max_refused ? too_many(job, ns, own, why, e) : s;
}

enum mrs_status
live_refused_drop(struct live_job *job, uint32_t step, const char *ns, struct mrs_val id, struct mrs_err *e)
{
    MRS_ASSERT(job->run && step > 0);
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view key, q;
    int64_t n = 0;
    if (r->n_refused == 0) {
        return MRS_OK; /* counted when the run was opened, or the range taken, and no other process adds records */
    }
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_refused_id(job, step, ns, id, &a, &key, e);
    if (s == MRS_OK) {
        s = live_doc_in(&a, &q, e, "{_id: {$eq: %d}}", key);
    }
    MRS_THEN(s, live_state_delete(job, &r->state_refused, q, &n, e));
    if (s == MRS_OK && n > 0) {
        r->n_refused -= r->n_refused >= (uint64_t)n ? (uint64_t)n : r->n_refused;
    }
    mrs_arena_clear(&a);
    return s;
}

/* ---- stale ---- */
static void
report_stale(struct live_job *job)
{
    MRS_ASSERT(job->run);
    char line[400];
    if (job->run->n_stale++ == 0 && job->print_line) {
        snprintf(line, sizeof line,
                 "documents of new collections that no source makes are removed; copies of them are kept in %s",
                 job->run->state_stale.ns);
        job->print_line(job->arg, line);
    }
}

enum mrs_status
live_stale_put(struct live_job *job, const char *ns, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(job->run && mrs_view_is_framed(doc));
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view id, rec;
    struct mrs_err why;
    struct mrs_val own = mrs_doc_get(doc, "_id");
    char picture[96];
    bool there = false;
    if (!live_refused_fits(doc)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "%s, _id %s: no source makes it (any more), and it is too large for a copy of it to be "
                           "kept: remove it, then give the same command again", ns,
                           mrs_val_picture(own, picture, sizeof picture));
    }
    mrs_err_clear(&why);
    snprintf(why.msg, sizeof why.msg, "no document of the source makes it");
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &id, e, "{run: %s, ns: %s, id: %v}", r->id, ns, own);
    MRS_THEN(s, record(job, id, doc, &why, &a, &rec, e));
    MRS_THEN(s, live_state_insert(job, &r->state_stale, rec, &there, e));
    s = s == MRS_OK && there ? replace(job, &r->state_stale, id, rec, &a, e) : s;
    mrs_arena_clear(&a);
    if (s == MRS_OK) {
        report_stale(job);
    }
    return s;
}

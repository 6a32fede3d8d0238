/* SPDX-License-Identifier: Apache-2.0 */
/* create.c - writes a run document for the first time.
 *
 * It records at one moment, under the leases of every collection touched, everything that must not change during the
 * run: the plan as text and as canonical bytes, $$NOW, mode, version, topology, and the uuids of the existing
 * collections. A collection that an unfinished run of another plan uses is refused: claims and checkpoints of two plans
 * on one collection could not be distinguished. Does not depend on the phases after "claimed". */
#include "state_io.h"

#include "mongoreshape/version.h"
#include <errno.h>
#include "live/server/server.h"

const char *
live_mode_name(enum live_mode m)
{
    return m == LIVE_DIRECT ? "direct" : "expand";
}

const char *
live_quiet_name(enum live_quiet q)
{
    static const char *const name[] = {"none", "block", "validator", "word"};
    return name[q];
}

const char *
live_topology_name(const struct live_job *job)
{
    return live_link_sharded(job->link)      ? "sharded cluster"
           : live_link_replicated(job->link) ? "replica set"
                                             : "standalone";
}

/* Refuses collections that another plan uses: our run could break its claims and checkpoints. */
static enum mrs_status
alone(struct live_job *job, struct mrs_view namespaces, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(namespaces));
    struct mrs_arena a;
    struct mrs_buf buf;
    struct mrs_view q;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&buf, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc_in(&a, &q, e,
                                    "{_id: {$ne: %s}, namespaces: {$in: %a}, phase: {$nin: ['done', 'rolled back']}}",
                                    job->run->id, namespaces);
    MRS_THEN(s, live_state_read(job, &job->run->state_runs, q, &buf, e));
    if (s == MRS_OK) {
        char id[33], phase[32], name[64];
        struct mrs_view d = {buf.p, (uint32_t)buf.n};
        live_text_at(d, "_id", id, sizeof id);
        live_text_at(d, "phase", phase, sizeof phase);
        live_text_at(d, "name", name, sizeof name);
        s = mrs_err_set(e, MRS_FAIL, MRS_E_EXISTS,
                        "run %.12s of another plan uses some of these collections (%s%s%sphase \"%s\"); an edited plan "
                        "is another plan. Finish that run, or roll it back and remove it with `abort --clean`: `--run "
                        "%.12s` selects it",
                        id, *name ? "plan \"" : "", name, *name ? "\", " : "", phase, id);
    } else if (s == MRS_END) {
        s = MRS_OK;
    }
    mrs_buf_clear(&buf);
    mrs_arena_clear(&a);
    return s;
}

/* `colls` (existing ones, with uuid) and `namespaces` (all) as array documents. */
static enum mrs_status
note_colls(struct live_job *job, const struct live_touched *t, struct mrs_buf *buf, struct mrs_view *colls,
           struct mrs_view *namespaces, struct mrs_err *e)
{
    MRS_ASSERT(t->n == 0 || t->coll);
    struct mrs_build b;
    size_t split;
    enum mrs_status s = MRS_OK;
    uint32_t n = 0;
    char digits[12];
    mrs_build_init(&b, buf);
    for (uint32_t i = 0; s == MRS_OK && i < t->n; i++) {
        char uuid[40] = "";
        s = live_server_uuid(job->link, t->coll[i], uuid, e);
        if (s == MRS_OK && uuid[0]) {
            mrs_index_name(digits, n++);
            mrs_build_open(&b, digits, (uint32_t)strlen(digits), MRS_DOCUMENT);
            mrs_build_text(&b, "ns", t->coll[i]->ns, (uint32_t)strlen(t->coll[i]->ns));
            mrs_build_text(&b, "uuid", uuid, (uint32_t)strlen(uuid));
            mrs_build_close(&b);
        }
    }
    MRS_THEN(s, mrs_build_finish(&b, colls, e));
    split = buf->n;
    mrs_build_init(&b, buf);
    for (uint32_t i = 0; i < t->n; i++) {
        mrs_index_name(digits, i);
        mrs_build_text(&b, digits, t->coll[i]->ns, (uint32_t)strlen(t->coll[i]->ns));
    }
    MRS_THEN(s, mrs_build_finish(&b, namespaces, e));
    if (s == MRS_OK) {
        *colls = (struct mrs_view){buf->p, (uint32_t)split};
    }
    return s;
}

static enum mrs_status
options_doc(struct live_job *job, struct mrs_arena *a, struct mrs_view *out, struct mrs_err *e)
{
    const struct live_opts *o = &job->opts;
    return live_doc_in(a, out, e,
                       "{batch: %i, max_refused: %I, passes: %i, allow_scan: %b, allow_ttl: %b, no_transactions: %b, "
                       "keep_before: %b}",
                       (int64_t)o->batch, (int64_t)(o->max_refused < INT64_MAX ? o->max_refused : INT64_MAX),
                       (int64_t)o->passes, o->allow_scan, o->allow_ttl, o->no_transactions, o->keep_before);
}

static struct mrs_val
bytes_val(struct mrs_arena *a, struct mrs_view d)
{
    MRS_ASSERT(d.p || d.n == 0);
    uint8_t *p = mrs_arena_alloc(a, (size_t)d.n + 5);
    if (!p) {
        return mrs_missing();
    }
    mrs_put32(p, d.n);
    p[4] = 0;
    memcpy(p + 5, d.p, d.n);
    return (struct mrs_val){p, d.n + 5, MRS_BINARY};
}

/* Random bytes unknown to applications: for the digests that the run leaves here. */
static enum mrs_status
draw_secret(struct mrs_arena *a, struct mrs_val *out, struct mrs_err *e)
{
    uint8_t drawn[MRS_SECRET] = {0};
    if (!mrs_random(drawn, sizeof drawn)) {
        return mrs_err_sys(e, errno, "random bytes of the system");
    }
    *out = bytes_val(a, (struct mrs_view){drawn, sizeof drawn});
    return out->type != MRS_MISSING ? MRS_OK : mrs_err_memory(e, sizeof drawn);
}

static enum mrs_status
insert_run(struct live_job *job, struct mrs_view colls, struct mrs_view namespaces, struct mrs_val plan,
           struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(colls) && mrs_view_is_framed(namespaces));
    struct live_run *r = job->run;
    const struct live_server *sv = job->server;
    const struct mrs_plan *p = job->plan;
    struct mrs_arena a;
    struct mrs_view doc, options;
    bool there = false;
    mrs_arena_init(&a, job->mem);
    struct mrs_val canonical = bytes_val(&a, p->canonical), secret;
    enum mrs_status s = options_doc(job, &a, &options, e);
    MRS_THEN(s, draw_secret(&a, &secret, e));
    if (s == MRS_OK && canonical.type == MRS_MISSING) {
        s = mrs_err_memory(e, p->canonical.n);
    }
    if (s == MRS_OK) {
        s = live_doc_in(&a, &doc, e,
                        "{_id: %s, name: %s, file: %s, plan: %v, canonical: %v, secret: %v, engine: %s, db: %s, "
                        "options: %d, now: %t, version: %s, fcv: %s, topology: %s, set: %s, namespaces: %a, colls: %a, "
                        "mode: %s, quiet_by: %s, phase: 'claimed', group: 0, epoch: %I, owner: '', done: %I, "
                        "estimated: %I, refused: %I, control: {pause: false, docs: %I, bytes: %I, sleep: %I}}",
                        r->id, p->name ? p->name : "", p->file ? p->file : "", plan, canonical, secret, MRS_VERSION,
                        p->database ? p->database : "", options, p->now_ms, sv ? sv->version : "", sv ? sv->fcv : "",
                        live_topology_name(job), sv ? sv->set_name : "", namespaces, colls,
                        live_mode_name(job->opts.mode), live_quiet_name(job->opts.quiet), (int64_t)0,
                        (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0);
    }
    MRS_THEN(s, live_state_insert(job, &r->state_runs, doc, &there, e));
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_run_alone(struct live_job *job, const struct live_touched *t, struct mrs_err *e)
{
    MRS_ASSERT(job->run && t->coll);
    struct mrs_buf buf;
    struct mrs_view colls, namespaces;
    mrs_buf_init(&buf, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = note_colls(job, t, &buf, &colls, &namespaces, e);
    MRS_THEN(s, alone(job, namespaces, e));
    mrs_buf_clear(&buf);
    return s;
}

enum mrs_status
live_run_create(struct live_job *job, const struct live_touched *t, const char *text, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(job->run && !job->run->worker && job->server);
    struct mrs_buf buf;
    struct mrs_view colls, namespaces;
    struct mrs_val plan = n < INT32_MAX ? mrs_make_text(&job->run->arena, text, (uint32_t)n) : mrs_missing();
    if (plan.type == MRS_MISSING) {
        return mrs_err_memory(e, n);
    }
    mrs_buf_init(&buf, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = note_colls(job, t, &buf, &colls, &namespaces, e);
    MRS_THEN(s, alone(job, namespaces, e));
    MRS_THEN(s, insert_run(job, colls, namespaces, plan, e));
    mrs_buf_clear(&buf);
    return s == MRS_OK ? live_run_load(job, e) : s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* state_move.c - moves the state of an older version to the present state database.
 *
 * mongodump skips databases whose name begins with `__mdb_internal_`, so a restored dump brings no old leases. Earlier
 * versions kept the state in a database that is dumped; such state is moved by the first command with --execute, run by
 * run, and read in place by all others. A run is moved under its leases in the old place: if an older tool works on it,
 * the tool holds them, and nothing is moved; a dead or suspended one loses them, and the epoch increases as at every
 * opening, so that none of its filters matches. All documents are copied and read back. Then the old run document is
 * sealed: its topology becomes one that no server has, and every older tool refuses to open such a run. Only then the
 * run document is written in the new place, and the old documents are removed, the sealed one last. So an interrupted
 * move is recognised: a run that is not sealed is copied again, and documents in the new place without a run document
 * are removed first; of a sealed run everything was read back. No process works on a run in between, since a call with
 * --execute moves first. Does not interpret the documents except the run document. */
#include "state_io.h"

#include <stdio.h>

enum { BATCH_DOCS = 500, BATCH_BYTES = 4 << 20 };

struct move {
    struct live_job *job;
    const char *from, *to;
    struct mrs_arena arena; /* for a batch */
    struct mrs_buf docs;    /* the batch, contiguous */
    uint64_t n;             /* documents copied */
};

/* ---- contents of the old place ---- */
static bool
a_run(struct mrs_view d)
{
    char id[34];
    live_text_at(d, "_id", id, sizeof id);
    return strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32 && live_at(d, "phase").type == MRS_STRING &&
           live_int_at(d, "epoch", -1) >= 0 && live_at(d, "now").type == MRS_DATE;
}

/* Does any document exist? A database that the user may not read has nothing usable. */
static enum mrs_status
anything(struct live_job *job, const char *db, const char *coll, bool *any, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_buf reply;
    struct mrs_view cmd;
    struct live_fault f = {0};
    struct mrs_err why;
    mrs_err_clear(&why);
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&reply, job->mem, 2 * MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc_in(&a, &cmd, &why, "{find: %s, projection: {_id: 1}, limit: 1, singleBatch: true}",
                                    coll);
    MRS_THEN(s, live_state_command(job, db, cmd, 0, &reply, &f, &why));
    *any = s == MRS_OK && live_first_of(&reply).type == MRS_DOCUMENT;
    if (s == MRS_FAIL && f.kind == LIVE_FAULT_DENIED) {
        s = MRS_OK;
    } else if (s != MRS_OK) {
        *e = why;
    }
    mrs_buf_clear(&reply);
    mrs_arena_clear(&a);
    return s;
}

/* The runs of a database, in out; none if its `runs` is a user's collection. */
static enum mrs_status
runs_of(struct live_job *job, const char *db, struct mrs_buf *out, struct mrs_err *e)
{
    const struct mrs_coll runs = {db, "runs", "runs"};
    struct mrs_arena a;
    struct mrs_view pipeline, d;
    bool any = false;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = anything(job, db, "runs", &any, e);
    if (s == MRS_OK && any) {
        s = live_doc_in(&a, &pipeline, e, "[{$sort: {_id: 1}}, {$project: {phase: 1, epoch: 1, now: 1}}]");
        MRS_THEN(s, live_state_list(job, &runs, pipeline, out, e));
    }
    for (size_t at = 0; s == MRS_OK && live_state_next(out, &at, &d);) {
        if (!a_run(d)) {
            mrs_buf_reset(out);
            break;
        }
    }
    mrs_arena_clear(&a);
    return s;
}

/* ---- copy documents ---- */
/* Compares the documents in the new place with the batch, byte by byte. */
static enum mrs_status
same(struct move *m, const struct mrs_coll *to, struct mrs_view ids, struct mrs_err *e)
{
    struct live_cursor *cursor = NULL;
    struct mrs_view q, sort, expected, got;
    struct live_fault f;
    bool equal = true;
    size_t at = 0;
    enum mrs_status s = live_doc_in(&m->arena, &q, e, "{_id: {$in: %a}}", ids);
    MRS_THEN(s, live_doc_in(&m->arena, &sort, e, "{sort: {_id: 1}}"));
    MRS_THEN(s, live_find(m->job->link, to, q, sort, 0, &cursor, e));
    while (s == MRS_OK && equal && live_state_next(&m->docs, &at, &expected)) {
        s = live_cursor_next(cursor, &got, &f, e);
        equal = s == MRS_OK && got.n == expected.n && memcmp(got.p, expected.p, got.n) == 0;
    }
    if (cursor) {
        live_cursor_close(cursor);
    }
    return s == MRS_END || (s == MRS_OK && !equal)
               ? mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                             "a document of %s is not the same in %s: nothing of this run was removed from %s; compare "
                             "both, and remove the wrong one",
                             to->coll, to->ns, m->from)
               : s;
}

static enum mrs_status
put(struct move *m, const struct mrs_coll *to, struct live_op *op, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    struct live_bulk_result r;
    struct live_fault f;
    enum mrs_status s = live_bulk(m->job->link, to, op, n, LIVE_WRITE | LIVE_JOURNALED, false, &m->arena, &r, &f, e);
    return s == MRS_OK && r.n_errors
               ? mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the server refused a document of %s: %s", to->ns,
                             r.errors[0].msg)
               : s;
}

static enum mrs_status
put_batch(struct move *m, const struct mrs_coll *to, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    struct live_op *op = mrs_arena_alloc(&m->arena, (size_t)n * sizeof *op);
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view d, ids;
    uint32_t i = 0;
    MRS_TRY(mrs_allocated(op, (size_t)n * sizeof *op, e));
    mrs_buf_init(&buf, m->job->mem, 2 * MRS_DOC_READ_MAX);
    mrs_build_init(&b, &buf);
    for (size_t at = 0; i < n && live_state_next(&m->docs, &at, &d); i++) {
        char digits[12];
        mrs_index_name(digits, i);
        mrs_build_val(&b, digits, (uint32_t)strlen(digits), live_at(d, "_id"));
        op[i] = (struct live_op){.kind = LIVE_INSERT, .doc = d};
    }
    enum mrs_status s = mrs_build_finish(&b, &ids, e);
    MRS_THEN(s, put(m, to, op, i, e));
    MRS_THEN(s, same(m, to, ids, e));
    m->n += s == MRS_OK ? i : 0;
    mrs_buf_clear(&buf);
    mrs_arena_reset(&m->arena);
    mrs_buf_reset(&m->docs);
    return s;
}

/* Copies all documents of a collection that match a filter. */
static enum mrs_status
copy(struct move *m, const struct mrs_coll *from, const char *template, struct mrs_err *e)
{
    char ns[200];
    struct mrs_arena a;
    struct live_cursor *cursor = NULL;
    struct mrs_view q, sort, d;
    struct live_fault f;
    uint32_t n = 0;
    snprintf(ns, sizeof ns, "%s.%s", m->to, from->coll);
    const struct mrs_coll to = {m->to, from->coll, ns};
    mrs_arena_init(&a, m->job->mem);
    enum mrs_status s = live_doc_in(&a, &q, e, template, m->job->run->id);
    MRS_THEN(s, live_doc_in(&a, &sort, e, "{sort: {_id: 1}}"));
    MRS_THEN(s, live_find(m->job->link, from, q, sort, 0, &cursor, e));
    while (s == MRS_OK) {
        s = live_cancelled(m->job) ? live_cancel_err(e) : live_cursor_next(cursor, &d, &f, e);
        if (s == MRS_OK) {
            mrs_buf_put(&m->docs, d.p, d.n);
            s = mrs_buf_status(&m->docs, e);
            n++;
        }
        if ((s == MRS_OK && (n == BATCH_DOCS || m->docs.n >= BATCH_BYTES)) || (s == MRS_END && n > 0)) {
            enum mrs_status put = put_batch(m, &to, n, e);
            s = put == MRS_OK ? s : put;
            n = 0;
        }
    }
    if (cursor) {
        live_cursor_close(cursor);
    }
    mrs_arena_clear(&a);
    return s == MRS_END ? MRS_OK : s;
}

/* ---- the run document ---- */
/* After this, no older tool opens it. */
static enum mrs_status
seal(struct move *m, struct mrs_err *e)
{
    MRS_ASSERT(m->job->run->epoch > 0);
    struct live_run *r = m->job->run;
    struct live_state_change c = {0};
    struct mrs_arena a;
    struct mrs_view u;
    mrs_arena_init(&a, m->job->mem);
    enum mrs_status s = live_doc_in(&a, &c.q, e, "{_id: {$eq: %s}, epoch: %I, moved: {$exists: false}}", r->id,
                                    r->epoch);
    MRS_THEN(s, live_doc_in(&a, &u, e,
                            "{$set: {moved: {to: %s, topology: %v}, topology: 'server whose state lies in "
                            "__mdb_internal_mongoreshape'}}",
                            m->to, live_at(live_run_doc(r), "topology")));
    if (s == MRS_OK) {
        c.u = mrs_view_val(u);
        s = live_state_update(m->job, &r->state_runs, &c, NULL, e);
    }
    mrs_arena_clear(&a);
    return s;
}

/* The sealed document in its original form. */
static enum mrs_status
unsealed(struct mrs_view sealed, struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(sealed));
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_build_init(&b, buf);
    mrs_walk_init(&w, sealed);
    while (mrs_walk_next(&w, &el) == 1) {
        if (!mrs_name_is(&el, "moved", 5)) {
            bool topology = mrs_name_is(&el, "topology", 8);
            mrs_build_val(&b, el.name, el.name_len, topology ? live_at(sealed, "moved.topology") : el.v);
        }
    }
    return mrs_build_finish(&b, out, e);
}

static bool
is_sealed(const struct live_run *r)
{
    return live_at(live_run_doc(r), "moved").type == MRS_DOCUMENT;
}

/* Copies everything except the run document. */
static enum mrs_status
copy_documents(struct move *m, struct mrs_err *e)
{
    struct live_run *r = m->job->run;
    enum mrs_status s = live_run_fence(m->job, e);
    MRS_THEN(s, live_run_clear(m->job, m->to, e));
    MRS_THEN(s, copy(m, &r->state_checkpoints, "{run: %s}", e));
    MRS_THEN(s, copy(m, &r->state_refused, "{_id.run: %s}", e));
    MRS_THEN(s, copy(m, &r->state_stale, "{_id.run: %s}", e));
    MRS_THEN(s, copy(m, &r->state_changes, "{_id: {$ne: %s}}", e));
    MRS_THEN(s, seal(m, e));
    LIVE_STOP("after-state-seal");
    return s;
}

static enum mrs_status
move_document(struct move *m, const struct mrs_coll *to, struct mrs_err *e)
{
    MRS_ASSERT(m->job->run);
    struct live_job *job = m->job;
    struct mrs_buf buf;
    struct mrs_view doc;
    bool there;
    mrs_buf_init(&buf, job->mem, 2 * MRS_DOC_READ_MAX);
    enum mrs_status s = live_run_load(job, e);
    if (s == MRS_END || (s == MRS_OK && !is_sealed(job->run))) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "run %s was opened or removed by another process at this moment",
                        job->run->short_id);
    }
    MRS_THEN(s, unsealed(live_run_doc(job->run), &buf, &doc, e));
    MRS_THEN(s, live_state_insert(job, to, doc, &there, e));
    LIVE_STOP("after-state-copy");
    mrs_buf_clear(&buf);
    return s;
}

/* Refuses a run that an older tool began again after it was moved: either of the two may be valid. */
static enum mrs_status
not_twice(struct move *m, const struct mrs_coll *to, struct mrs_err *e)
{
    MRS_ASSERT(m->job->run);
    struct mrs_arena a;
    struct mrs_buf found;
    struct mrs_view q;
    const struct live_run *r = m->job->run;
    mrs_arena_init(&a, m->job->mem);
    mrs_buf_init(&found, m->job->mem, 2 * MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc_in(&a, &q, e, "{_id: {$eq: %s}}", r->id);
    MRS_THEN(s, live_state_read(m->job, to, q, &found, e));
    if (s == MRS_OK && !is_sealed(r)) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                        "run %s lies in %s and, begun again by an older mongoreshape-live, in %s: compare both "
                        "(`status --run %s --state-db NAME`), and remove one with `abort --clean --execute --run %s "
                        "--state-db NAME`",
                        r->short_id, m->to, m->from, r->short_id, r->short_id);
    }
    mrs_buf_clear(&found);
    mrs_arena_clear(&a);
    return s == MRS_END ? MRS_OK : s;
}

/* ---- one run ---- */
static enum mrs_status
move_open(struct move *m, struct mrs_err *e)
{
    struct live_job *job = m->job;
    const struct mrs_coll *const *coll = NULL;
    char ns[200];
    uint32_t n = 0;
    snprintf(ns, sizeof ns, "%s.runs", m->to);
    const struct mrs_coll to = {m->to, "runs", ns};
    enum mrs_status s = live_run_namespaces(job, &coll, &n, e);
    MRS_THEN(s, live_lease_take(job, coll, n, e));
    MRS_THEN(s, live_run_load(job, e));
    if (s == MRS_END) { /* another process was faster */
        return MRS_OK;
    }
    MRS_THEN(s, not_twice(m, &to, e));
    if (s == MRS_OK && !is_sealed(job->run)) {
        s = copy_documents(m, e);
    }
    MRS_THEN(s, move_document(m, &to, e));
    m->n += s == MRS_OK;
    if (s == MRS_OK) { /* sealed: not needed any more; if they remained after a kill they would look like an older
                        * tool's */
        live_lease_release(job);
        s = live_run_forget(job, e);
    }
    return s;
}

static enum mrs_status
move_run(struct move *m, const char *id, struct mrs_err *e)
{
    MRS_ASSERT(!m->job->run && strlen(id) == 32);
    struct live_job *job = m->job;
    char comment[128];
    enum mrs_status s = live_run_new(job, id, e);
    if (s == MRS_OK) {
        live_lease_comment(id, job->run->owner, comment);
        live_link_mark(job->link, comment);
    }
    MRS_THEN(s, live_run_load(job, e));
    MRS_THEN(s, move_open(m, e));
    live_run_close(job);
    return s == MRS_END ? MRS_OK : s;
}

/* Drops empty collections: one that gets a document of an older tool meanwhile stays. */
static enum mrs_status
tidy(struct move *m, struct mrs_err *e)
{
    static const char *const name[] = {"leases", "checkpoints", "refused", "swept", "runs"};
    const struct mrs_coll leases = {m->from, "leases", "leases"};
    enum mrs_status s = live_state_delete_where(m->job, &leases, e, "{owner: ''}");
    for (size_t i = 0; s == MRS_OK && i < sizeof name / sizeof *name; i++) {
        bool any = false;
        s = anything(m->job, m->from, name[i], &any, e);
        if (s == MRS_OK && !any) {
            s = live_state_drop(m->job, m->from, name[i], e);
        }
    }
    return s;
}

static void
report_moved(const struct move *m, uint32_t runs)
{
    char line[300];
    snprintf(line, sizeof line, "moved the state of %u run%s (%llu documents) from %s, where older versions kept it, "
             "to %s", runs, runs == 1 ? "" : "s", (unsigned long long)m->n, m->from, m->to);
    if (m->job->print_line) {
        m->job->print_line(m->job->arg, line);
    }
}

static enum mrs_status
move_all(struct live_job *job, const struct mrs_buf *runs, struct mrs_err *e)
{
    struct move m = {.job = job, .from = job->opts.state_old, .to = job->opts.state_db};
    struct live_run *kept = job->run;
    struct mrs_view d;
    enum mrs_status s = MRS_OK;
    uint32_t n = 0;
    mrs_arena_init(&m.arena, job->mem);
    mrs_buf_init(&m.docs, job->mem, 2 * MRS_DOC_READ_MAX + BATCH_BYTES);
    job->run = NULL;
    job->opts.state_db = m.from;
    live_link_state(job->link, m.from);
    for (size_t at = 0; s == MRS_OK && live_state_next(runs, &at, &d); n++) {
        char id[33];
        live_text_at(d, "_id", id, sizeof id);
        s = move_run(&m, id, e);
    }
    MRS_THEN(s, tidy(&m, e));
    live_link_mark(job->link, "");
    live_link_state(job->link, m.to);
    job->opts.state_db = m.to;
    job->run = kept;
    if (s == MRS_OK) {
        report_moved(&m, n);
    }
    mrs_buf_clear(&m.docs);
    mrs_arena_clear(&m.arena);
    return s;
}

/* ---- interface ---- */
enum mrs_status
live_state_place(struct live_job *job, struct mrs_err *e)
{
    struct mrs_buf old;
    char line[300];
    bool any = false;
    if (!job->opts.state_old) {
        return MRS_OK;
    }
    mrs_buf_init(&old, job->mem, 256u << 20);
    enum mrs_status s = runs_of(job, job->opts.state_old, &old, e);
    if (s == MRS_OK && old.n && job->opts.execute) {
        s = move_all(job, &old, e);
    } else if (s == MRS_OK && old.n) {
        s = anything(job, job->opts.state_db, "runs", &any, e);
        snprintf(line, sizeof line, "runs of an older version lie in the database %s%s: the next command with "
                 "--execute moves them to %s", job->opts.state_old, any ? " and are not shown" : "",
                 job->opts.state_db);
        if (s == MRS_OK && job->print_line) {
            job->print_line(job->arg, line);
        }
        if (s == MRS_OK && !any) {
            job->opts.state_db = job->opts.state_old;
            live_link_state(job->link, job->opts.state_db);
        }
    }
    mrs_buf_clear(&old);
    return s;
}

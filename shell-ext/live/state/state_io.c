/* SPDX-License-Identifier: Apache-2.0 */
/* state_io.c - commands on the state database, repeated after a lost connection.
 *
 * In a run of days, step-downs and server restarts are normal. State is written by commands that may be repeated, so
 * the wait is done here, once, and callers see a reply or a real error. Only the generation shows that the connection
 * was lost meanwhile (live_run_breathe), never this file. Not for user data. */
#include "state_io.h"

#include "mongoreshape/compose.h"
#include "mongoreshape/value.h"

#include <errno.h>
#include <stdarg.h>
#include <time.h>

enum { PATIENCE_MS = 60000, RETRY_MS = 200 };

void
live_nap(int64_t ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    if (ms > 0) {
        nanosleep(&t, NULL); /* a signal may end it: the caller checks cancel next */
    }
}

bool
live_cancelled(const struct live_job *job)
{
    return job->cancel && __atomic_load_n(job->cancel, __ATOMIC_RELAXED) != 0;
}

enum mrs_status
live_cancel_err(struct mrs_err *e)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL,
                       "interrupted; the same command resumes the run");
}

void
live_date_text(int64_t ms, char out[32])
{
    time_t t = (time_t)(ms / 1000);
    struct tm tm;
    out[0] = 0;
    if (gmtime_r(&t, &tm)) {
        strftime(out, 32, "%Y-%m-%d %H:%M:%S UTC", &tm);
    }
}

const char *
live_state_db(const struct live_job *job)
{
    return job->opts.state_db && *job->opts.state_db ? job->opts.state_db : LIVE_STATE_DB;
}

int64_t
live_date_at(struct mrs_view d, const char *path, int64_t fallback)
{
    struct mrs_val v = live_at(d, path);
    return v.type == MRS_DATE ? mrs_val_i64(v) : fallback;
}

/* Should a failed call be repeated? Waits a little if so. */
static bool
again(const struct live_job *job, enum mrs_status s, const struct live_fault *f, int64_t since)
{
    bool passing = f->kind == LIVE_FAULT_NETWORK || f->kind == LIVE_FAULT_TRANSIENT;
    if (s != MRS_FAIL || !passing || live_cancelled(job) || (job->run && job->run->leaving) ||
        mrs_clock_asleep() - since > PATIENCE_MS) {
        return false;
    }
    live_nap(RETRY_MS);
    return true;
}

static enum mrs_status
settle(enum mrs_status s, const struct live_fault *fault, struct live_fault *f, const struct mrs_err *why,
       struct mrs_err *e)
{
    if (f) {
        *f = *fault;
    }
    if (s < MRS_OK && e && e->code == MRS_E_NONE) {
        *e = *why;
    }
    return s;
}

/* The first writeError of a reply. */
static enum mrs_status
write_error(struct mrs_view reply, struct live_fault *f, struct mrs_err *e)
{
    struct mrs_val errors = live_at(reply, "writeErrors");
    struct mrs_val one = errors.type == MRS_ARRAY ? mrs_doc_get(mrs_val_view(errors), "0") : mrs_missing();
    char msg[256];
    if (one.type != MRS_DOCUMENT) {
        return MRS_OK;
    }
    f->code = (int32_t)live_int_at(mrs_val_view(one), "code", 0);
    f->kind = f->code == 11000 ? LIVE_FAULT_DUPLICATE : f->code == 112 ? LIVE_FAULT_TRANSIENT : LIVE_FAULT_OTHER;
    live_text_at(mrs_val_view(one), "errmsg", msg, sizeof msg);
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the server refused a write to the state database: %s", msg);
}

enum mrs_status
live_state_command(struct live_job *job, const char *db, struct mrs_view cmd, unsigned flags, struct mrs_buf *out,
                   struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(db[0] && mrs_view_is_framed(cmd));
    struct mrs_buf own;
    mrs_buf_init(&own, job->mem, MRS_DOC_READ_MAX);
    out = out ? out : &own; /* the reply is needed in any case: it may contain a writeError */
    size_t start = out->n;
    int64_t since = mrs_clock_asleep();
    struct live_fault fault;
    struct mrs_err why;
    enum mrs_status s;
    do {
        out->n = start;
        mrs_err_clear(&why);
        memset(&fault, 0, sizeof fault);
        s = live_command(job->link, db, cmd, flags, out, &fault, &why);
        MRS_THEN(s, mrs_buf_status(out, &why));
        if (s == MRS_OK) {
            struct mrs_view reply = {out->p + start, (uint32_t)(out->n - start)};
            s = write_error(reply, &fault, &why);
        }
    } while (again(job, s, &fault, since));
    mrs_buf_clear(&own);
    return settle(s, &fault, f, &why, e);
}

enum mrs_status
live_state_now(struct live_job *job, int64_t *ms, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_buf reply;
    struct mrs_view cmd;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&reply, job->mem, 1u << 20);
    enum mrs_status s = live_doc_in(&a, &cmd, e, "{hello: 1}");
    MRS_THEN(s, live_state_command(job, "admin", cmd, 0, &reply, NULL, e));
    if (s == MRS_OK) {
        *ms = live_date_at((struct mrs_view){reply.p, (uint32_t)reply.n}, "localTime", INT64_MIN);
        s = *ms != INT64_MIN ? MRS_OK
                             : mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                                           "the server's hello does not report its time (localTime): leases need it");
    }
    mrs_buf_clear(&reply);
    mrs_arena_clear(&a);
    return s;
}

static unsigned
write_flags(void)
{
    return LIVE_MUTANT("no-journal") ? LIVE_WRITE : LIVE_WRITE | LIVE_JOURNALED;
}

/* Sends a write command made from a template, and gets its `n`. */
static enum mrs_status
sent(struct live_job *job, const struct mrs_coll *coll, struct mrs_view cmd, int64_t *n, struct live_fault *f,
      struct mrs_err *e)
{
    struct mrs_buf reply;
    mrs_buf_init(&reply, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = live_state_command(job, coll->db, cmd, write_flags(), &reply, f, e);
    if (s == MRS_OK && n) {
        struct mrs_view d = {reply.p, (uint32_t)reply.n};
        *n = live_int_at(d, "n", 0);
    }
    mrs_buf_clear(&reply);
    return s;
}

enum mrs_status
live_state_update(struct live_job *job, const struct mrs_coll *coll, struct live_state_change *c, struct live_fault *f,
                  struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(c->q) && c->u.type == MRS_DOCUMENT);
    struct mrs_buf buf;
    struct mrs_view cmd;
    mrs_buf_init(&buf, job->mem, 2 * MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc(&buf, &cmd, e, "{update: %s, updates: [{q: %d, u: %v, multi: %b}]}", coll->coll, c->q,
                                 c->u, c->many);
    c->matched = 0;
    MRS_THEN(s, sent(job, coll, cmd, &c->matched, f, e));
    mrs_buf_clear(&buf);
    return s;
}

enum mrs_status
live_state_insert(struct live_job *job, const struct mrs_coll *coll, struct mrs_view doc, bool *there,
                  struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct live_fault f = {0};
    struct mrs_err why;
    struct mrs_buf buf;
    struct mrs_view cmd;
    mrs_buf_init(&buf, job->mem, 2 * MRS_DOC_READ_MAX);
    mrs_err_clear(&why);
    enum mrs_status s = live_doc(&buf, &cmd, &why, "{insert: %s, documents: [%d]}", coll->coll, doc);
    MRS_THEN(s, sent(job, coll, cmd, NULL, &f, &why));
    mrs_buf_clear(&buf);
    *there = s == MRS_FAIL && f.kind == LIVE_FAULT_DUPLICATE;
    return *there ? MRS_OK : settle(s, &f, NULL, &why, e);
}

enum mrs_status
live_state_delete(struct live_job *job, const struct mrs_coll *coll, struct mrs_view q, int64_t *n, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(q));
    struct mrs_buf buf;
    struct mrs_view cmd;
    mrs_buf_init(&buf, job->mem, 2 * MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc(&buf, &cmd, e, "{delete: %s, deletes: [{q: %d, limit: 0}]}", coll->coll, q);
    MRS_THEN(s, sent(job, coll, cmd, n, NULL, e));
    mrs_buf_clear(&buf);
    return s;
}

enum mrs_status
live_state_delete_where(struct live_job *job, const struct mrs_coll *coll, struct mrs_err *e, const char *template, ...)
{
    MRS_ASSERT(template);
    struct mrs_arena a;
    struct mrs_view q;
    va_list ap;
    mrs_arena_init(&a, job->mem);
    va_start(ap, template);
    enum mrs_status s = mrs_compose_in(&a, &q, e, template, &ap);
    va_end(ap);
    MRS_THEN(s, live_state_delete(job, coll, q, NULL, e));
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_state_drop(struct live_job *job, const char *db, const char *coll, struct mrs_err *e)
{
    MRS_ASSERT(db[0] && coll[0]);
    struct mrs_arena a;
    struct mrs_view cmd;
    struct mrs_buf reply;
    struct mrs_err why;
    struct live_fault f = {0};
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&reply, job->mem, MRS_DOC_READ_MAX);
    mrs_err_clear(&why);
    enum mrs_status s = live_doc_in(&a, &cmd, &why, "{drop: %s}", coll);
    MRS_THEN(s, live_state_command(job, db, cmd, LIVE_WRITE, &reply, &f, &why));
    if (s == MRS_FAIL && f.kind == LIVE_FAULT_MISSING) {
        s = MRS_OK;
    } else if (s != MRS_OK && e && e->code == MRS_E_NONE) {
        *e = why;
    }
    mrs_buf_clear(&reply);
    mrs_arena_clear(&a);
    return s;
}

static enum mrs_status
drain(struct live_job *job, const struct mrs_coll *coll, struct mrs_view pipeline, struct mrs_buf *out,
      struct live_fault *f, struct mrs_err *e)
{
    struct live_cursor *cursor = NULL;
    struct mrs_view doc;
    enum mrs_status s = live_aggregate(job->link, coll, pipeline, mrs_empty_doc(), 0, &cursor, e);
    while (s == MRS_OK) {
        s = live_cursor_next(cursor, &doc, f, e);
        if (s == MRS_OK) {
            mrs_buf_put(out, doc.p, doc.n);
        }
    }
    if (cursor) {
        live_cursor_close(cursor);
    }
    return s == MRS_END ? mrs_buf_status(out, e) : s;
}

/* Reads one document by a filter, or all results of a pipeline; repeats after a lost connection. */
static enum mrs_status
read_all(struct live_job *job, const struct mrs_coll *coll, struct mrs_view q, bool list, struct mrs_buf *out,
         struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(q) && mrs_buf_is_sound(out));
    size_t start = out->n;
    int64_t since = mrs_clock_asleep();
    struct live_fault fault;
    struct mrs_err why;
    enum mrs_status s;
    do {
        out->n = start;
        mrs_err_clear(&why);
        memset(&fault, 0, sizeof fault);
        s = list ? drain(job, coll, q, out, &fault, &why)
                 : live_find_one(job->link, coll, q, mrs_empty_doc(), out, &fault, &why);
    } while (again(job, s, &fault, since));
    MRS_THEN(s, mrs_buf_status(out, &why));
    return settle(s, &fault, NULL, &why, e);
}

enum mrs_status
live_state_read(struct live_job *job, const struct mrs_coll *coll, struct mrs_view q, struct mrs_buf *out,
                struct mrs_err *e)
{
    return read_all(job, coll, q, false, out, e);
}

enum mrs_status
live_state_list(struct live_job *job, const struct mrs_coll *coll, struct mrs_view pipeline, struct mrs_buf *out,
                struct mrs_err *e)
{
    return read_all(job, coll, pipeline, true, out, e);
}

enum mrs_status
live_state_count(struct live_job *job, const struct mrs_coll *coll, struct mrs_view query, uint64_t *n,
                 struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(query));
    struct mrs_arena a;
    struct mrs_view cmd;
    struct mrs_buf reply;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&reply, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc_in(&a, &cmd, e, "{count: %s, query: %d}", coll->coll, query);
    MRS_THEN(s, live_state_command(job, coll->db, cmd, 0, &reply, NULL, e));
    if (s == MRS_OK) {
        int64_t found = live_int_at((struct mrs_view){reply.p, (uint32_t)reply.n}, "n", 0);
        *n = found > 0 ? (uint64_t)found : 0;
    }
    mrs_buf_clear(&reply);
    mrs_arena_clear(&a);
    return s;
}

struct mrs_val
live_first_of(const struct mrs_buf *reply)
{
    struct mrs_val list = live_at((struct mrs_view){reply->p, (uint32_t)reply->n}, "cursor.firstBatch");
    return list.type == MRS_ARRAY ? mrs_doc_get(mrs_val_view(list), "0") : mrs_missing();
}

bool
live_state_next(const struct mrs_buf *docs, size_t *at, struct mrs_view *doc)
{
    MRS_ASSERT(*at <= docs->n);
    if (docs->n - *at < MRS_DOC_MIN) {
        return false;
    }
    doc->p = docs->p + *at;
    doc->n = mrs_le32(doc->p);
    if (doc->n < MRS_DOC_MIN || doc->n > docs->n - *at) {
        return false;
    }
    *at += doc->n;
    return true;
}

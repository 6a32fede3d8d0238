/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c - the change list on the server, in the state database.
 *
 * Each change is one document under its sequence number, with the digests of the document before and after: so a resume
 * can see in the collection whether a change was made. Bytes are stored as binary, so that the server does not
 * interpret names or types in them. The list is valid only once the run document's phase says so; until then it is
 * discarded and made again. Does not depend on how changes are made. */
#include "live/link/bson.h"
#include "mongoreshape/limits.h"
#include "quiet.h"

enum { PIECE = 8 << 20, FLUSH_BYTES = 4 << 20, FLUSH_DOCS = 1000, TRIES = 5 };

struct live_journal {
    struct live_job *job;
    struct mrs_arena arena;
    struct live_op op[FLUSH_DOCS];
    uint32_t n;
    uint64_t bytes;
    int64_t seq;
};

void
live_digest(const struct live_job *job, struct mrs_view doc, uint8_t out[16])
{
    MRS_ASSERT(doc.p || doc.n == 0);
    struct mrs_hash128 h = {0, 0};
    if (doc.n) {
        h = live_run_hash(job, doc);
    }
    mrs_put64(out, h.lo);
    mrs_put64(out + 8, h.hi);
}

static enum mrs_status
binary(struct mrs_arena *a, const uint8_t *p, uint32_t n, struct mrs_val *out, struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    uint8_t *room = mrs_arena_alloc(a, (size_t)n + 5);
    MRS_TRY(mrs_allocated(room, n, e));
    mrs_put32(room, n);
    room[4] = 0;
    if (n) {
        memcpy(room + 5, p, n);
    }
    *out = (struct mrs_val){room, n + 5, MRS_BINARY};
    return MRS_OK;
}

/* ---- write ---- */
enum mrs_status
live_journal_new(struct live_job *job, struct live_journal **out, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_fault f;
    struct mrs_view cmd;
    struct mrs_buf buf;
    struct live_journal *j = mrs_zalloc(job->mem, sizeof *j);
    *out = j;
    MRS_TRY(mrs_allocated(j, sizeof *j, e));
    j->job = job;
    mrs_arena_init(&j->arena, job->mem);
    mrs_buf_init(&buf, job->mem, 1 << 16);
    struct mrs_err why;
    mrs_err_clear(&why);
    enum mrs_status s = live_lease_renew(job, e); /* if another process has sealed its list meanwhile, that one is
                                                   * final */
    MRS_THEN(s, live_doc(&buf, &cmd, e, "{drop: %s}", job->run->state_changes.coll));
    if (s == MRS_OK) {
        s = live_command(job->link, job->run->state_changes.db, cmd, LIVE_WRITE, NULL, &f, &why);
        if (s != MRS_OK && f.kind == LIVE_FAULT_MISSING) {
            s = MRS_OK;
        } else if (s != MRS_OK && e) {
            *e = why;
        }
    }
    mrs_buf_clear(&buf);
    if (s != MRS_OK) {
        live_journal_free(j);
        *out = NULL;
    }
    return s;
}

/* A second attempt finds the entries of the first: duplicate numbers are then ours; seal counts. */
static enum mrs_status
errors_of(const struct live_bulk_result *r, bool again, struct mrs_err *e)
{
    for (uint32_t i = 0; i < r->n_errors; i++) {
        if (r->errors[i].code != 11000 || !again) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the change list could not be written: %s", r->errors[i].msg);
        }
    }
    return MRS_OK;
}

static enum mrs_status
flush(struct live_journal *j, struct mrs_err *e)
{
    MRS_ASSERT(j->n <= FLUSH_DOCS);
    struct live_job *job = j->job;
    struct live_bulk_result r;
    struct live_fault f;
    struct mrs_err why;
    enum mrs_status s = MRS_FAIL;
    mrs_err_clear(&why);
    for (int i = 0; j->n && s != MRS_OK && i < TRIES; i++) {
        mrs_err_clear(&why);
        memset(&f, 0, sizeof f);
        s = live_bulk(job->link, &job->run->state_changes, j->op, j->n, LIVE_WRITE | LIVE_JOURNALED, false, &j->arena,
                      &r, &f, &why);
        MRS_THEN(s, errors_of(&r, i > 0, &why));
        if (s != MRS_OK && f.kind != LIVE_FAULT_NETWORK && f.kind != LIVE_FAULT_TRANSIENT) {
            break;
        }
    }
    if (j->n && s != MRS_OK) {
        if (e) {
            *e = why;
        }
        return s;
    }
    s = live_run_breathe(job, j->n, j->bytes, e);
    mrs_arena_reset(&j->arena);
    j->n = 0;
    j->bytes = 0;
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
queue(struct live_journal *j, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(j->n < FLUSH_DOCS);
    j->op[j->n++] = (struct live_op){.kind = LIVE_INSERT, .doc = doc};
    j->bytes += doc.n;
    return j->n == FLUSH_DOCS || j->bytes >= FLUSH_BYTES ? flush(j, e) : MRS_OK;
}

static enum mrs_status
put_pieces(struct live_journal *j, const char *which, struct mrs_view doc, int64_t *n, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t at = 0; s == MRS_OK && at < doc.n; at += PIECE) {
        struct mrs_val bytes;
        struct mrs_view piece;
        s = binary(&j->arena, doc.p + at, doc.n - at < PIECE ? doc.n - at : PIECE, &bytes, e);
        MRS_THEN(s, live_doc_in(&j->arena, &piece, e, "{_id: {s: %I, w: %s, p: %i}, d: %v}", j->seq, which, *n, bytes)
                 );
        MRS_THEN(s, queue(j, piece, e));
        ++*n;
    }
    return s;
}

static enum mrs_status
put_entry(struct live_journal *j, const struct live_planned_change *c, struct mrs_val id, struct mrs_view old,
          struct mrs_err *e)
{
    MRS_ASSERT(c->before.n || c->after.n);
    uint8_t b[16], a[16];
    struct mrs_val before, after, d = mrs_missing(), o = mrs_missing();
    struct mrs_view one, pieces = {NULL, 0};
    int64_t nd = 0, no = 0;
    enum mrs_status s = MRS_OK;
    if ((uint64_t)c->after.n + old.n > PIECE) {
        s = put_pieces(j, "d", c->after, &nd, e);
        MRS_THEN(s, put_pieces(j, "o", old, &no, e));
        MRS_THEN(s, live_doc_in(&j->arena, &pieces, e, "{d: %i, o: %i}", nd, no));
    } else {
        s = c->after.n ? binary(&j->arena, c->after.p, c->after.n, &d, e) : s;
        s = s == MRS_OK && old.n ? binary(&j->arena, old.p, old.n, &o, e) : s;
    }
    live_digest(j->job, c->before, b);
    live_digest(j->job, c->after, a);
    MRS_THEN(s, binary(&j->arena, b, sizeof b, &before, e));
    MRS_THEN(s, binary(&j->arena, a, sizeof a, &after, e));
    MRS_THEN(s, live_doc_in(&j->arena, &one, e,
                            "{_id: %I, n: %s, k: %i, i: {_id: %v}, b: %v, a: %v, z: %i, p: %d, d: %v, o: %v}",
                            j->seq, c->coll.ns, (int64_t)c->kind, id, before, after, (int64_t)c->before.n, pieces, d, o)
             );
    return s == MRS_OK ? queue(j, one, e) : s;
}

enum mrs_status
live_journal_put(struct live_journal *j, const struct live_planned_change *c, struct mrs_err *e)
{
    MRS_ASSERT(j->n <= FLUSH_DOCS);
    struct mrs_view none = {NULL, 0}, old = j->job->opts.keep_before ? c->before : none;
    struct mrs_val id = mrs_doc_get(c->after.n ? c->after : c->before, "_id");
    enum mrs_status s = put_entry(j, c, id, old, e);
    j->seq++;
    return s;
}

int64_t
live_journal_count(const struct live_journal *j)
{
    return j->seq;
}

static enum mrs_status
count_there(struct live_journal *j, int64_t *n, struct mrs_err *e)
{
    struct mrs_view pipeline, none = {NULL, 0}, doc;
    struct live_cursor *c = NULL;
    struct live_fault f;
    *n = 0;
    enum mrs_status s = live_doc_in(&j->arena, &pipeline, e, "[{$match: {_id: {$gte: 0}}}, {$count: 'n'}]");
    MRS_THEN(s, live_aggregate(j->job->link, &j->job->run->state_changes, pipeline, none, 0, &c, e));
    if (s == MRS_OK) {
        s = live_cursor_next(c, &doc, &f, e);
        *n = s == MRS_OK ? live_int_at(doc, "n", -1) : 0;
    }
    live_cursor_close(c);
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
live_journal_seal(struct live_journal *j, struct mrs_err *e)
{
    int64_t n = 0;
    enum mrs_status s = flush(j, e);
    MRS_THEN(s, count_there(j, &n, e));
    if (s == MRS_OK && n != j->seq) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the change list holds %lld of %lld changes; nothing was changed",
                        (long long)n, (long long)j->seq);
    }
    live_journal_free(j);
    return s;
}

void
live_journal_free(struct live_journal *j)
{
    if (j) {
        mrs_arena_clear(&j->arena);
        mrs_free(j->job->mem, j);
    }
}

/* ---- read ---- */
static enum mrs_status
damaged(int64_t seq, struct mrs_err *e)
{
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "change %lld of the list in the state database is missing or damaged",
                       (long long)seq);
}

static bool
bytes_at(struct mrs_view d, const char *name, struct mrs_view *out)
{
    struct mrs_val v = mrs_doc_get(d, name);
    *out = (struct mrs_view){NULL, 0};
    if (v.type == MRS_BINARY && v.n >= 5) {
        *out = (struct mrs_view){v.p + 5, v.n - 5};
    }
    return v.type == MRS_MISSING || v.type == MRS_BINARY;
}

static enum mrs_status
join_pieces(struct live_job *job, int64_t seq, const char *which, int64_t n, struct mrs_arena *a, struct mrs_view *out,
            struct mrs_err *e)
{
    struct mrs_buf all, one;
    struct mrs_view filter, none = {NULL, 0}, piece = {NULL, 0};
    struct live_fault f;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&all, job->mem, 2 * MRS_DOC_READ_MAX);
    mrs_buf_init(&one, job->mem, 2 * MRS_DOC_READ_MAX);
    for (int64_t i = 0; s == MRS_OK && i < n; i++) {
        mrs_buf_reset(&one);
        s = live_doc_in(a, &filter, e, "{_id: {s: %I, w: %s, p: %i}}", seq, which, i);
        MRS_THEN(s, live_find_one(job->link, &job->run->state_changes, filter, none, &one, &f, e));
        if (s == MRS_END || (s == MRS_OK && !bytes_at((struct mrs_view){one.p, (uint32_t)one.n}, "d", &piece))) {
            s = damaged(seq, e);
        }
        if (s == MRS_OK) {
            mrs_buf_put(&all, piece.p, piece.n);
            s = mrs_buf_status(&all, e);
        }
    }
    out->n = (uint32_t)all.n;
    out->p = s == MRS_OK && all.n ? mrs_arena_copy(a, all.p, all.n) : NULL;
    s = s == MRS_OK && all.n && !out->p ? mrs_err_memory(e, all.n) : s;
    mrs_buf_clear(&all);
    mrs_buf_clear(&one);
    return s;
}

static bool
good_doc(const struct live_job *job, struct mrs_view d, const uint8_t digest[16])
{
    uint8_t now[16];
    live_digest(job, d, now);
    return memcmp(now, digest, 16) == 0 && (!d.n || mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL) == MRS_OK);
}

static bool
split_ns(struct mrs_arena *a, struct mrs_val ns, struct mrs_coll *out)
{
    uint32_t n;
    return ns.type == MRS_STRING && live_coll_of(a, mrs_val_text(ns, &n), out, NULL) == MRS_OK;
}

/* d is in the arena. */
static enum mrs_status
read_entry(struct live_job *job, struct mrs_view d, int64_t seq, struct mrs_arena *a, struct live_journal_entry *en,
           struct mrs_err *e)
{
    struct mrs_view b, h, i = mrs_empty_doc();
    int64_t kind = live_int_at(d, "k", -1);
    struct mrs_val id = mrs_doc_get(d, "i");
    memset(en, 0, sizeof *en);
    en->seq = live_int_at(d, "_id", -1);
    i = id.type == MRS_DOCUMENT ? mrs_val_view(id) : i;
    en->id = mrs_doc_get(i, "_id");
    bool good = en->seq == seq && kind >= LIVE_INSERT && kind <= LIVE_DELETE && en->id.type != MRS_MISSING &&
                split_ns(a, mrs_doc_get(d, "n"), &en->coll) && bytes_at(d, "b", &b) && b.n == 16 &&
                bytes_at(d, "a", &h) && h.n == 16 && bytes_at(d, "d", &en->doc) && bytes_at(d, "o", &en->old);
    if (!good) {
        return damaged(seq, e);
    }
    en->kind = (enum live_op_kind)kind;
    memcpy(en->before, b.p, 16);
    memcpy(en->after, h.p, 16);
    enum mrs_status s = MRS_OK;
    if (mrs_doc_get(d, "p").type == MRS_DOCUMENT) {
        s = join_pieces(job, seq, "d", live_int_at(d, "p.d", 0), a, &en->doc, e);
        MRS_THEN(s, join_pieces(job, seq, "o", live_int_at(d, "p.o", 0), a, &en->old, e));
    }
    if (s == MRS_OK && (!good_doc(job, en->doc, en->after) || (en->old.n && !good_doc(job, en->old, en->before)))) {
        s = damaged(seq, e);
    }
    return s;
}

static uint64_t
weight(struct mrs_view d)
{
    struct mrs_view doc;
    uint64_t n = (uint64_t)live_int_at(d, "z", 0);
    bool pieces = mrs_doc_get(d, "p").type == MRS_DOCUMENT;
    return n + (pieces ? (uint64_t)live_int_at(d, "p.d", 0) * PIECE : bytes_at(d, "d", &doc) ? doc.n : 0);
}

struct batch {
    struct mrs_buf docs; /* struct mrs_view of copies in the arena */
    uint64_t bytes;
};

static bool
same_ns(struct mrs_view a, struct mrs_view b)
{
    return mrs_identical(mrs_doc_get(a, "n"), mrs_doc_get(b, "n"));
}

static enum mrs_status
gather(struct live_cursor *c, uint64_t bytes, struct mrs_arena *a, struct batch *out, struct mrs_err *e)
{
    struct mrs_view d, first = {NULL, 0};
    struct live_fault f;
    enum mrs_status s;
    while ((s = live_cursor_next(c, &d, &f, e)) == MRS_OK) {
        out->bytes += weight(d);
        if (first.n && (out->bytes > bytes || !same_ns(first, d))) {
            break;
        }
        struct mrs_view copy = {mrs_arena_copy(a, d.p, d.n), d.n};
        MRS_TRY(mrs_allocated(copy.p, d.n, e));
        first = first.n ? first : copy;
        mrs_buf_put(&out->docs, &copy, sizeof copy);
    }
    return s == MRS_END || s == MRS_OK ? mrs_buf_status(&out->docs, e) : s;
}

enum mrs_status
live_journal_read(struct live_job *job, int64_t from, int64_t to, uint64_t bytes, struct mrs_arena *a,
                  struct live_journal_entry **out, uint32_t *n_out, struct mrs_err *e)
{
    MRS_ASSERT(from <= to);
    struct mrs_view filter, opts;
    struct live_cursor *c = NULL;
    struct batch b = {.bytes = 0};
    *n_out = 0;
    mrs_buf_init(&b.docs, job->mem, SIZE_MAX);
    enum mrs_status s = live_doc_in(a, &filter, e, "{_id: {$gte: %I, $lt: %I}}", from, to);
    MRS_THEN(s, live_doc_in(a, &opts, e, "{sort: {_id: 1}, limit: %I}", to - from));
    MRS_THEN(s, live_find(job->link, &job->run->state_changes, filter, opts, 0, &c, e));
    MRS_THEN(s, gather(c, bytes, a, &b, e));
    live_cursor_close(c);
    uint32_t n = (uint32_t)(b.docs.n / sizeof(struct mrs_view));
    s = s == MRS_OK && !n && to > from ? damaged(from, e) : s;
    *out = s == MRS_OK ? mrs_arena_alloc(a, (n + 1) * sizeof **out) : NULL;
    s = s == MRS_OK && !*out ? mrs_err_memory(e, n * sizeof **out) : s;
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        s = read_entry(job, ((const struct mrs_view *)(const void *)b.docs.p)[i], from + i, a, &(*out)[i], e);
    }
    *n_out = s == MRS_OK ? n : 0;
    mrs_buf_clear(&b.docs);
    return s;
}

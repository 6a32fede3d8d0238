/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - reads the next documents of a collection in `_id` order.
 *
 * A range is an interval of the `_id` index, not a list of documents: [from, bound). Comparisons of the query language
 * stay within one type bracket, while min with a hint crosses it. So both are used: $gte while there are values in the
 * bracket of `from`, which every server answers from its index, then min, from the least value that sorts after the
 * bracket; min alone if brackets are not that simple (no comparison finds NaN). A document inserted between the two
 * meanwhile is behind the cursor, as always. The one document read beyond the range gives its upper end; if there is
 * none, the range has no end and includes whatever sorts after it (also a MaxKey). A document that exceeds the allowed
 * bytes ends the range earlier.
 *
 * The server's cursor stays open for the next range, for a limited time: so a collection is read once, not once a
 * batch, even by servers that collect before they sort. It may return a document in its state when the cursor was
 * opened; writes are guarded, and documents that a cursor misses are left to the next walk. If it fails, the range is
 * read again. This file does not depend on the purpose of the read. */
#include "work.h"

#include "live/link/bson.h"
#include "live/link/connection.h"

enum { RANGE_DOCS_MAX = 1000000, CURSOR_MS = 30000 };

void
live_range_init(struct live_range *r, struct mrs_mem *mem)
{
    memset(r, 0, sizeof *r);
    r->mem = mem;
    mrs_buf_init(&r->buf, mem, SIZE_MAX);
    mrs_buf_init(&r->bound, mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&r->next, mem, MRS_DOC_READ_MAX);
}

void
live_range_forget(struct live_range *r)
{
    if (r->cursor) {
        live_cursor_close(r->cursor);
    }
    r->cursor = NULL;
}

void
live_range_clear(struct live_range *r)
{
    live_range_forget(r);
    mrs_buf_clear(&r->buf);
    mrs_buf_clear(&r->bound);
    mrs_buf_clear(&r->next);
    mrs_free(r->mem, r->docs);
    r->docs = NULL;
    r->n = r->cap = 0;
}

static void
put_ascending(struct mrs_build *b, const char *name)
{
    mrs_build_open(b, name, (uint32_t)strlen(name), MRS_DOCUMENT);
    mrs_build_i32(b, "_id", 1);
    mrs_build_close(b);
}

/* ---- types of values ---- */
static bool
is_nan(struct mrs_val v)
{
    if (v.type == MRS_DOUBLE) {
        double d = mrs_val_double(v);
        return d != d;
    }
    return v.type == MRS_DECIMAL128 && (v.p[15] & 0x7c) == 0x7c;
}

/* The least value that sorts after all that {$gte: v} finds; missing if $gte is not reliable for v: some servers
 * compare binaries in another order than they sort them. */
static struct mrs_val
behind_kind(struct mrs_val v)
{
    static const uint8_t no_text[] = {1, 0, 0, 0, 0}, zero[8] = {0};
    const struct mrs_val text = {no_text, 5, MRS_STRING}, no = {zero, 1, MRS_BOOL}, stamp = {zero, 8, MRS_TIMESTAMP};
    switch (v.type) {
    case MRS_DOUBLE:
    case MRS_DECIMAL128:
        return is_nan(v) ? mrs_missing() : text;
    case MRS_INT32:
    case MRS_INT64:
        return text;
    case MRS_STRING:
        return mrs_view_val(mrs_empty_doc());
    case MRS_OBJECTID:
        return no;
    case MRS_DATE:
        return stamp;
    default:
        return mrs_missing();
    }
}

static bool
is_between(const struct mrs_view *docs, uint32_t n)
{
    MRS_ASSERT(n > 0);
    struct mrs_val first = behind_kind(mrs_doc_get(docs[0], "_id"));
    struct mrs_val last = behind_kind(mrs_doc_get(docs[n - 1], "_id"));
    return first.type != MRS_MISSING && first.type == last.type;
}

uint32_t
live_range_step(const struct mrs_view *docs, uint32_t n)
{
    return n <= LIVE_IN_MAX || is_between(docs, n) ? n : LIVE_IN_MAX;
}

enum mrs_status
live_range_filter(struct mrs_arena *a, const struct mrs_view *docs, uint32_t n, struct mrs_view *out,
                  struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    if (!is_between(docs, n)) {
        return live_ids_filter(a, docs, n, out, e);
    }
    return live_doc_in(a, out, e, "{_id: {$gte: %v, $lte: %v}}", mrs_doc_get(docs[0], "_id"),
                       mrs_doc_get(docs[n - 1], "_id"));
}

/* ---- the cursor ---- */
static enum mrs_status
build_options(struct mrs_val min, uint32_t n, bool ids, struct mrs_buf *out, struct mrs_view *opts, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    struct mrs_build b;
    mrs_build_init(&b, out);
    put_ascending(&b, "sort");
    put_ascending(&b, "hint");
    if (min.type != MRS_MISSING) {
        mrs_build_open(&b, "min", 3, MRS_DOCUMENT);
        mrs_build_val(&b, "_id", 3, min);
        mrs_build_close(&b);
    }
    mrs_build_i32(&b, "batchSize", (int32_t)n);
    if (ids) {
        put_ascending(&b, "projection");
    }
    return mrs_build_finish(&b, opts, e);
}

static enum mrs_status
build_filter(struct mrs_val gte, struct mrs_val lt, struct mrs_buf *out, struct mrs_view *filter, struct mrs_err *e)
{
    struct mrs_build b;
    mrs_build_init(&b, out);
    if (gte.type != MRS_MISSING) {
        const char *op = LIVE_MUTANT("gt-instead-of-min") ? "$gt" : "$gte";
        mrs_build_open(&b, "_id", 3, MRS_DOCUMENT);
        mrs_build_val(&b, op, (uint32_t)strlen(op), gte);
        if (lt.type != MRS_MISSING) {
            mrs_build_val(&b, "$lt", 3, lt);
        }
        mrs_build_close(&b);
    }
    return mrs_build_finish(&b, filter, e);
}

/* Is the end of the same type as `at`? Then nothing after this type is needed. */
static bool
ends_in_kind(const struct live_range *r, struct mrs_val at)
{
    struct mrs_val behind = behind_kind(at);
    struct mrs_val end = r->end.n ? behind_kind(mrs_doc_get(r->end, "_id")) : mrs_missing();
    return behind.type != MRS_MISSING && behind.type == end.type;
}

/* Opens a cursor from `at`: within its type, or over all. */
static enum mrs_status
open_cursor(struct live_range *r, struct mrs_val at, bool of_kind, struct mrs_err *e)
{
    struct mrs_buf f, o;
    struct mrs_view filter, opts;
    struct mrs_val end = of_kind && ends_in_kind(r, at) ? mrs_doc_get(r->end, "_id") : mrs_missing();
    live_range_forget(r);
    mrs_buf_init(&f, r->mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&o, r->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = build_filter(of_kind ? at : mrs_missing(), end, &f, &filter, e);
    s = s == MRS_OK ? build_options(of_kind ? mrs_missing() : at, r->batch, r->ids, &o, &opts, e) : s;
    MRS_THEN(s, live_find(r->job->link, r->coll, filter, opts, 0, &r->cursor, e));
    mrs_buf_clear(&f);
    mrs_buf_clear(&o);
    return s;
}

static enum mrs_status
begin_reading(struct live_range *r, struct mrs_view from, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    struct mrs_val at = from.n ? mrs_doc_get(from, "_id") : mrs_missing();
    bool short_sighted = from.n && LIVE_MUTANT("gt-instead-of-min");
    r->behind = behind_kind(at);
    r->batch = n + 1;
    r->opened_ms = mrs_clock_asleep();
    r->generation = live_link_generation(r->job->link);
    enum mrs_status s = open_cursor(r, at, short_sighted || r->behind.type != MRS_MISSING, e);
    if (short_sighted || ends_in_kind(r, at)) {
        r->behind = mrs_missing();
    }
    return s;
}

/* Is the open cursor at `from` and still fresh? */
static bool
continues(const struct live_range *r, const struct live_job *job, const struct mrs_coll *coll, struct mrs_view from,
          uint32_t n)
{
    return r->cursor && r->job == job && r->coll == coll && from.n == r->bound.n &&
           memcmp(from.p, r->bound.p, from.n) == 0 && n / 2 < r->batch &&
           mrs_clock_asleep() - r->opened_ms < CURSOR_MS && r->generation == live_link_generation(job->link) &&
           !LIVE_MUTANT("gt-instead-of-min");
}

/* ---- documents ---- */
static enum mrs_status
set_bound(struct live_range *r, struct mrs_view behind, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(behind));
    struct mrs_build b;
    struct mrs_view none;
    mrs_build_init(&b, &r->bound);
    mrs_build_val(&b, "_id", 3, mrs_doc_get(behind, "_id"));
    r->last = false;
    return mrs_build_finish(&b, &none, e);
}

/* Stores offsets only: the bytes may still move while the buffer grows. */
static enum mrs_status
keep(struct live_range *r, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(r->n <= r->cap);
    struct mrs_view *more = mrs_more(r->mem, r->docs, r->n, &r->cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    r->docs = more;
    r->docs[r->n++] = (struct mrs_view){NULL, doc.n};
    mrs_buf_put(&r->buf, doc.p, doc.n);
    return mrs_buf_status(&r->buf, e);
}

static void
settle(struct live_range *r)
{
    const uint8_t *at = r->buf.p;
    for (uint32_t i = 0; i < r->n; i++) {
        r->docs[i].p = at;
        at += r->docs[i].n;
    }
    MRS_ASSERT(r->buf.bad || at == r->buf.p + r->buf.n);
}

/* The next document; at the end of a type, continues with the types after it. */
static enum mrs_status
next_doc(struct live_range *r, struct mrs_view *doc, struct live_fault *f, struct mrs_err *e)
{
    enum mrs_status s = live_cursor_next(r->cursor, doc, f, e);
    if (s == MRS_END && r->behind.type != MRS_MISSING) {
        s = open_cursor(r, r->behind, false, e);
        r->behind = mrs_missing();
        MRS_THEN(s, live_cursor_next(r->cursor, doc, f, e));
    }
    return s;
}

/* The document after the range: its `_id` is the bound, and it is the first of the next range. */
static enum mrs_status
end_at(struct live_range *r, struct mrs_view doc, struct mrs_err *e)
{
    mrs_buf_put(&r->next, doc.p, doc.n);
    enum mrs_status s = mrs_buf_status(&r->next, e);
    return s == MRS_OK ? set_bound(r, doc, e) : s;
}

static enum mrs_status
read_all(struct live_range *r, uint32_t n, uint64_t bytes, struct live_fault *f, struct mrs_err *e)
{
    struct mrs_view doc;
    enum mrs_status s;
    while ((s = next_doc(r, &doc, f, e)) == MRS_OK) {
        s = mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, e);
        if (s == MRS_OK && r->n && (r->n >= n || r->buf.n + doc.n > bytes)) {
            return end_at(r, doc, e);
        }
        MRS_THEN(s, keep(r, doc, e));
        if (s != MRS_OK) {
            mrs_err_at(e, "%s", r->coll->ns);
            return s;
        }
    }
    if (s == MRS_END) {
        live_range_forget(r);
        return MRS_OK;
    }
    return s;
}

static void
empty(struct live_range *r)
{
    mrs_buf_reset(&r->buf);
    mrs_buf_reset(&r->bound);
    r->n = 0;
    r->last = true;
}

/* Opens a cursor at `from` and reads. */
static enum mrs_status
read_from(struct live_range *r, struct mrs_view from, uint32_t n, uint64_t bytes, struct live_fault *f,
          struct mrs_err *e)
{
    empty(r);
    mrs_buf_reset(&r->next);
    enum mrs_status s = begin_reading(r, from, n, e);
    return s == MRS_OK ? read_all(r, n, bytes, f, e) : s;
}

/* Reads from the open cursor. */
static enum mrs_status
read_on(struct live_range *r, uint32_t n, uint64_t bytes, struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(r->cursor && r->next.n > 0);
    empty(r);
    enum mrs_status s = keep(r, (struct mrs_view){r->next.p, (uint32_t)r->next.n}, e);
    mrs_buf_reset(&r->next);
    return s == MRS_OK ? read_all(r, n, bytes, f, e) : s;
}

enum mrs_status
live_range_read(struct live_job *job, const struct mrs_coll *coll, struct mrs_view from, uint32_t n, uint64_t bytes,
                struct live_range *r, struct mrs_err *e)
{
    MRS_ASSERT(job->link && coll);
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    enum mrs_status s = MRS_FAIL;
    n = n == 0 ? 1 : n < RANGE_DOCS_MAX ? n : RANGE_DOCS_MAX;
    bool anew = !continues(r, job, coll, from, n);
    r->job = job;
    r->coll = coll;
    if (!anew) {
        s = read_on(r, n, bytes, &f, e);
        anew = s == MRS_FAIL && f.code; /* e.g. the server has closed the cursor; a worse error occurs again */
        if (anew) {
            mrs_err_clear(e);
        }
    }
    if (anew) {
        s = read_from(r, from, n, bytes, &f, e);
    }
    if (s != MRS_OK) {
        live_range_forget(r);
    }
    if (s == MRS_FAIL && f.kind == LIVE_FAULT_NETWORK) {
        mrs_err_clear(e);
        s = MRS_END;
    }
    settle(r);
    LIVE_STOP("after-read-range");
    return s;
}

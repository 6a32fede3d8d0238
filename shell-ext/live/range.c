/* range.c - the next documents of a collection in `_id` order.
 *
 * A range is an interval of the `_id` index, not a list of documents: [from, bound). Comparisons of the query language
 * stay within one kind of value and end at its edge, while min with a hint crosses it. So both are used: $gte as long
 * as there is something of the kind of `from`, which every server answers out of its index, then min, from the least
 * value that sorts behind the kind; min alone where kinds are not as plain as that (NaN is found by no comparison).
 * What is inserted meanwhile between the two lies behind the cursor, as always. The one document that is read beyond
 * the range gives its upper end; where there is none, the range has no end and holds whatever sorts behind (a MaxKey
 * too). A document that is too much for the bytes allowed ends the range earlier.
 *
 * Nothing here knows what the documents are read for. */
#include "pass.h"

#include "link.h"

enum { RANGE_DOCS_MAX = 1000000 };

void
live_range_init(struct live_range *r, struct mrs_mem *mem)
{
    memset(r, 0, sizeof *r);
    r->mem = mem;
    mrs_buf_init(&r->buf, mem, SIZE_MAX);
    mrs_buf_init(&r->bound, mem, MRS_DOC_READ_MAX);
}

void
live_range_clear(struct live_range *r)
{
    mrs_buf_clear(&r->buf);
    mrs_buf_clear(&r->bound);
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

/* ---- kinds of values ---- */
static bool
is_nan(struct mrs_val v)
{
    if (v.type == MRS_DOUBLE) {
        double d = mrs_val_double(v);
        return d != d;
    }
    return v.type == MRS_DECIMAL128 && (v.p[15] & 0x7c) == 0x7c;
}

/* The least value that sorts behind all that {$gte: v} finds; missing where $gte is not to be trusted with v: there
 * are servers that compare binaries otherwise than they sort them. */
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

/* ---- the command ---- */
struct ask {
    struct mrs_val min;         /* missing: no lower end */
    struct mrs_val gte;
    uint32_t limit;
};

static enum mrs_status
build_options(const struct ask *a, struct mrs_buf *out, struct mrs_view *opts, struct mrs_err *e)
{
    struct mrs_build b;
    mrs_build_init(&b, out);
    put_ascending(&b, "sort");
    put_ascending(&b, "hint");
    if (a->min.type != MRS_MISSING) {
        mrs_build_open(&b, "min", 3, MRS_DOCUMENT);
        mrs_build_val(&b, "_id", 3, a->min);
        mrs_build_close(&b);
    }
    mrs_build_i64(&b, "limit", a->limit);
    mrs_build_i32(&b, "batchSize", (int32_t)a->limit);
    return mrs_build_finish(&b, opts, e);
}

static enum mrs_status
build_filter(const struct ask *a, struct mrs_buf *out, struct mrs_view *filter, struct mrs_err *e)
{
    struct mrs_build b;
    mrs_build_init(&b, out);
    if (a->gte.type != MRS_MISSING) {
        const char *op = LIVE_MUTANT("gt-instead-of-min") ? "$gt" : "$gte";
        mrs_build_open(&b, "_id", 3, MRS_DOCUMENT);
        mrs_build_val(&b, op, (uint32_t)strlen(op), a->gte);
        mrs_build_close(&b);
    }
    return mrs_build_finish(&b, filter, e);
}

/* ---- documents ---- */
static enum mrs_status
set_bound(struct live_range *r, struct mrs_view behind, struct mrs_err *e)
{
    struct mrs_build b;
    struct mrs_view none;
    mrs_build_init(&b, &r->bound);
    mrs_build_val(&b, "_id", 3, mrs_doc_get(behind, "_id"));
    r->last = false;
    return mrs_build_finish(&b, &none, e);
}

/* Lengths only: the bytes may still move while the buffer grows. */
static enum mrs_status
keep(struct live_range *r, struct mrs_view doc, struct mrs_err *e)
{
    if (r->n == r->cap) {
        uint32_t cap = r->cap ? r->cap * 2 : 128;
        struct mrs_view *more = mrs_realloc(r->mem, r->docs, cap * sizeof *more);
        if (!more) {
            return mrs_err_memory(e, cap * sizeof *more);
        }
        r->docs = more;
        r->cap = cap;
    }
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
}

static enum mrs_status
read_all(struct live_cursor *c, const struct mrs_coll *coll, uint32_t n, uint64_t bytes, struct live_range *r,
         struct mrs_err *e)
{
    struct live_fault fault;
    struct mrs_view doc;
    enum mrs_status s;
    while ((s = live_cursor_next(c, &doc, &fault, e)) == MRS_OK) {
        if (r->n && (r->n >= n || r->buf.n + doc.n > bytes)) {
            return set_bound(r, doc, e);
        }
        s = mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, e);
        s = s == MRS_OK ? keep(r, doc, e) : s;
        if (s != MRS_OK) {
            mrs_err_at(e, "%s", coll->ns);
            return s;
        }
    }
    if (s == MRS_FAIL && fault.kind == LIVE_FAULT_NETWORK) {
        mrs_err_clear(e);
        return MRS_END;
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
read_part(struct live_job *job, const struct mrs_coll *coll, const struct ask *a, uint64_t bytes,
          struct live_range *r, struct mrs_err *e)
{
    struct live_cursor *c = NULL;
    struct mrs_buf f, o;
    struct mrs_view filter, opts;
    mrs_buf_init(&f, job->mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&o, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = build_filter(a, &f, &filter, e);
    s = s == MRS_OK ? build_options(a, &o, &opts, e) : s;
    s = s == MRS_OK ? live_find(job->link, coll, filter, opts, 0, &c, e) : s;
    if (s == MRS_OK) {
        s = read_all(c, coll, r->n + a->limit - 1, bytes, r, e);
        live_cursor_close(c);
    }
    mrs_buf_clear(&f);
    mrs_buf_clear(&o);
    return s;
}

enum mrs_status
live_range_read(struct live_job *job, const struct mrs_coll *coll, struct mrs_view from, uint32_t n, uint64_t bytes,
                struct live_range *r, struct mrs_err *e)
{
    struct mrs_val at = from.n ? mrs_doc_get(from, "_id") : mrs_missing(), behind = behind_kind(at);
    struct ask ask = {mrs_missing(), mrs_missing(), 0};
    enum mrs_status s = MRS_OK;
    bool whole = false; /* all there is was asked for */
    n = n == 0 ? 1 : n < RANGE_DOCS_MAX ? n : RANGE_DOCS_MAX;
    mrs_buf_reset(&r->buf);
    mrs_buf_reset(&r->bound);
    r->n = 0;
    r->last = true;
    if (at.type != MRS_MISSING && LIVE_MUTANT("gt-instead-of-min")) {
        behind = at;
        whole = true;
    }
    if (behind.type != MRS_MISSING) {
        ask.gte = at;
        ask.limit = n + 1;
        s = read_part(job, coll, &ask, bytes, r, e);
        ask.gte = mrs_missing();
        at = behind;
    }
    if (s == MRS_OK && r->last && !whole) {
        ask.min = at;
        ask.limit = n + 1 - r->n;
        s = read_part(job, coll, &ask, bytes, r, e);
    }
    settle(r);
    LIVE_STOP("after-read-range");
    return s;
}

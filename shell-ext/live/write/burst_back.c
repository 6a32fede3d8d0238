/* SPDX-License-Identifier: Apache-2.0 */
/* burst_back.c - reads the documents of a bulk back if some changes were missed.
 *
 * The reply to a bulk has only sums: the number of filters that matched, not which. So the documents are read back by
 * `_id` and compared with the bytes to write; equal bytes count as written, whatever their source. Reads go in small
 * pieces, and the documents found are matched by their `_id` as the server compares it. Nothing here writes; the burst
 * decides about differences. */
#include "live/link/bson.h"
#include "write.h"

#include "mongoreshape/value.h"

#include <time.h>

enum { PIECE = 64 };

enum mrs_status
live_lost(const struct live_fault *f, enum mrs_status st, struct mrs_err *e)
{
    if (st == MRS_FAIL && (f->kind == LIVE_FAULT_NETWORK || f->kind == LIVE_FAULT_UNKNOWN_COMMIT ||
                           f->kind == LIVE_FAULT_NO_TXN)) {
        if (e) {
            mrs_err_clear(e);
        }
        return MRS_END;
    }
    return st;
}

void
live_back_off(uint32_t n)
{
    int64_t ms = n < 7 ? 4 << n : 500;
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static bool
same_bytes(struct mrs_view a, struct mrs_view b)
{
    return a.n == b.n && a.n && memcmp(a.p, b.p, a.n) == 0;
}

static struct mrs_val
id_of(const struct live_change *c)
{
    return mrs_doc_get(c->before.n ? c->before : c->after, "_id");
}

/* {_id: {$in: [...]}} for a piece. */
static enum mrs_status
filter_of(const struct live_burst *b, const uint32_t *at, uint32_t n, struct mrs_buf *buf, struct mrs_view *out,
          struct mrs_err *e)
{
    struct mrs_build w;
    mrs_build_init(&w, buf);
    mrs_build_open(&w, "_id", 3, MRS_DOCUMENT);
    mrs_build_open(&w, "$in", 3, MRS_ARRAY);
    for (uint32_t i = 0; i < n; i++) {
        mrs_build_item(&w, id_of(&b->change[at[i]]));
    }
    mrs_build_close(&w);
    mrs_build_close(&w);
    return mrs_build_finish(&w, out, e);
}

static void
judge(const struct live_burst *b, const uint32_t *at, uint32_t n, struct mrs_view doc, enum live_there there[PIECE])
{
    struct mrs_val id = mrs_doc_get(doc, "_id");
    for (uint32_t i = 0; i < n; i++) {
        const struct live_change *c = &b->change[at[i]];
        if (mrs_compare(id, id_of(c)) == 0) {
            there[i] = same_bytes(doc, c->after) ? LIVE_THERE_AFTER : LIVE_THERE_OTHER;
        }
    }
}

static enum mrs_status
read_piece(const struct live_burst *b, const uint32_t *at, uint32_t n, enum live_there there[PIECE],
           struct mrs_buf *buf, struct mrs_err *e)
{
    MRS_ASSERT(n > 0 && n <= PIECE);
    struct mrs_view filter, doc;
    mrs_buf_reset(buf);
    enum mrs_status st = filter_of(b, at, n, buf, &filter, e);
    struct live_cursor *cur = NULL;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    MRS_THEN(st, live_find(b->job->link, &b->change[at[0]].coll, filter, mrs_empty_doc(), 0, &cur, e));
    while (!st && !(st = live_cursor_next(cur, &doc, &f, e))) {
        judge(b, at, n, doc, there);
    }
    live_cursor_close(cur);
    return st == MRS_END ? MRS_OK : live_lost(&f, st, e);
}

enum mrs_status
live_read_back(struct live_burst *b, const uint32_t *at, uint32_t n,
               void (*report)(void *arg, struct live_change *c, enum live_there there), void *arg, struct mrs_err *e)
{
    struct mrs_buf buf;
    mrs_buf_init(&buf, b->job->mem, 64u << 20);
    enum mrs_status st = MRS_OK;
    for (uint32_t from = 0; from < n && !st; from += PIECE) {
        enum live_there there[PIECE] = {LIVE_GONE};
        uint32_t k = n - from < PIECE ? n - from : PIECE;
        st = read_piece(b, at + from, k, there, &buf, e);
        for (uint32_t i = 0; i < k && !st; i++) {
            report(arg, &b->change[at[from + i]], there[i]);
        }
    }
    mrs_buf_clear(&buf);
    return st;
}

enum mrs_status
live_same_as_before(struct live_job *job, const struct live_change *c, unsigned flags, bool *same,
                    struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(c->before));
    *same = false;
    struct mrs_buf buf;
    struct mrs_view filter, doc;
    mrs_buf_init(&buf, job->mem, 64u << 20);
    enum mrs_status st = live_guard_id(c->before, false, &buf, e);
    filter = (struct mrs_view){buf.p, (uint32_t)buf.n};
    struct live_cursor *cur = NULL;
    MRS_THEN(st, live_find(job->link, &c->coll, filter, mrs_empty_doc(), flags, &cur, e));
    MRS_THEN(st, live_cursor_next(cur, &doc, f, e));
    if (!st) {
        *same = same_bytes(doc, c->before);
    }
    live_cursor_close(cur);
    mrs_buf_clear(&buf);
    return st == MRS_END ? MRS_OK : live_lost(f, st, e);
}

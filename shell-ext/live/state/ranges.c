/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.c - divides a walk into ranges for several workers; the leader makes, counts, seals and removes them.
 *
 * The server draws the cuts ($sample), so ranges have about equal sizes and no documents are read for them; they need
 * not be exact, since there are more of them than workers. All cuts are stored in one write, before any range is made:
 * a resume after a crash makes the same ranges. Does not depend on the work in a range. */
#include "ranges.h"

#include "live/server/server.h"
#include "mongoreshape/value.h"
#include "state_io.h"

#include <stdio.h>
#include <stdlib.h>

enum { DRAWN_EACH = 20, CUT_BYTES_MAX = 4 << 20 };

/* ---- the cuts ---- */
static int
by_value(const void *x, const void *y)
{
    return mrs_compare(*(const struct mrs_val *)x, *(const struct mrs_val *)y);
}

/* `_id`s drawn by the server, contiguous documents {_id: v}. END: connection lost. */
static enum mrs_status
draw(struct live_job *job, const struct live_cut *cut, uint32_t size, struct mrs_buf *ids, struct mrs_err *e)
{
    MRS_ASSERT(size > 0);
    struct mrs_arena a;
    struct mrs_view stages, doc;
    struct live_cursor *cursor = NULL;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &stages, e, "[{$sample: {size: %i}}, {$project: {_id: 1}}]", (int64_t)size);
    MRS_THEN(s, live_aggregate(job->link, cut->coll, stages, mrs_empty_doc(), 0, &cursor, e));
    while (s == MRS_OK && (s = live_cursor_next(cursor, &doc, &f, e)) == MRS_OK) {
        mrs_buf_put(ids, doc.p, ids->n + doc.n < CUT_BYTES_MAX ? doc.n : 0);
        s = mrs_buf_status(ids, e);
    }
    live_cursor_close(cursor);
    mrs_arena_clear(&a);
    if (s == MRS_FAIL && f.kind == LIVE_FAULT_NETWORK) {
        mrs_err_clear(e);
        return MRS_END;
    }
    return s == MRS_END ? MRS_OK : s;
}

/* Selects from n sorted values those that divide them into `want` pieces, without duplicates and after `from`, as an
 * array. */
static enum mrs_status
put_cuts(const struct mrs_val *v, uint32_t n, uint32_t count, struct mrs_val from, struct mrs_buf *out,
         struct mrs_view *cuts, struct mrs_err *e)
{
    struct mrs_build b;
    MRS_ASSERT(count > 1);
    uint32_t k = 0;
    struct mrs_val before = from;
    mrs_build_init(&b, out);
    for (uint32_t i = 1; i < count && n; i++) {
        struct mrs_val at = v[(uint64_t)i * n / count];
        char digits[12];
        if (before.type == MRS_MISSING || mrs_compare(before, at) < 0) {
            uint32_t len = mrs_index_name(digits, k++);
            mrs_build_val(&b, digits, len, at);
            before = at;
        }
    }
    return mrs_build_finish(&b, cuts, e);
}

static enum mrs_status
choose(struct live_job *job, const struct live_cut *cut, const struct live_checkpoint *c, uint32_t count,
       struct mrs_buf *out, struct mrs_view *cuts, struct mrs_err *e)
{
    MRS_ASSERT(count > 1 && count <= LIVE_RANGES_MAX);
    struct mrs_buf ids;
    struct mrs_val from = c->last.n ? live_at((struct mrs_view){c->last.p, (uint32_t)c->last.n}, "_id") : mrs_missing();
    struct mrs_view doc;
    mrs_buf_init(&ids, job->mem, 2 * CUT_BYTES_MAX);
    enum mrs_status s = draw(job, cut, count * DRAWN_EACH, &ids, e);
    struct mrs_val *v = s == MRS_OK ? mrs_alloc_array(job->mem, count * DRAWN_EACH + 1, sizeof *v) : NULL;
    uint32_t n = 0;
    if (s == MRS_OK && !v) {
        s = mrs_err_memory(e, count * DRAWN_EACH * sizeof *v);
    }
    for (size_t at = 0; s == MRS_OK && n < count * DRAWN_EACH && live_state_next(&ids, &at, &doc);) {
        v[n++] = mrs_doc_get(doc, "_id");
    }
    if (n > 1) {
        qsort(v, n, sizeof *v, by_value);
    }
    MRS_THEN(s, put_cuts(v, n, count, from, out, cuts, e));
    mrs_free(job->mem, v);
    mrs_buf_clear(&ids);
    return s;
}

/* ---- the documents ---- */
static enum mrs_status
make_range(struct live_job *job, const struct live_cut *cut, uint32_t no, struct mrs_val from, struct mrs_val end,
           struct mrs_err *e)
{
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view doc, lo = {NULL, 0}, hi = {NULL, 0};
    char id[96], walk[96];
    bool there;
    mrs_arena_init(&a, job->mem);
    snprintf(walk, sizeof walk, "%s/%s", r->id, cut->pass);
    int n = snprintf(id, sizeof id, "%s/r%u", walk, no);
    enum mrs_status s = n > 0 && (size_t)n < sizeof id
                            ? MRS_OK : mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "the name of a range is too long");
    MRS_THEN(s, live_doc_in(&a, &lo, e, "{_id: %v}", from));
    MRS_THEN(s, live_doc_in(&a, &hi, e, "{_id: %v}", end));
    MRS_THEN(s, live_doc_in(&a, &doc, e,
                            "{_id: %s, run: %s, walk: %s, group: %i, main: %i, no: %i, owner: '', until: %t, turn: %I, "
                            "epoch: %I, seq: %I, done: false, at: %I, docs: %I, written: %I, missed: %I, refused: %I, "
                            "differs: %I, last: %v, end: %v}",
                            id, r->id, walk, (int64_t)cut->group, (int64_t)cut->main, (int64_t)no, (int64_t)0,
                            (int64_t)0, r->epoch, (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0,
                            (int64_t)0, (int64_t)0, from.type == MRS_MISSING ? from : mrs_view_val(lo),
                            end.type == MRS_MISSING ? end : mrs_view_val(hi)));
    MRS_THEN(s, live_state_insert(job, &r->state_checkpoints, doc, &there, e));
    mrs_arena_clear(&a);
    return s;
}

/* Existing ones stay unchanged. */
static enum mrs_status
make_ranges(struct live_job *job, const struct live_cut *cut, const struct live_checkpoint *c, struct mrs_view cuts,
            uint32_t *n, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(cuts));
    struct mrs_val from = c->last.n ? live_at((struct mrs_view){c->last.p, (uint32_t)c->last.n}, "_id") : mrs_missing();
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = MRS_OK;
    *n = 0;
    mrs_walk_init(&w, cuts);
    while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
        s = make_range(job, cut, (*n)++, from, el.v, e);
        from = el.v;
    }
    return s == MRS_OK ? make_range(job, cut, (*n)++, from, mrs_missing(), e) : s;
}

/* Appends the stored cuts of a walk to buf. END: not divided. */
static enum mrs_status
read_cuts(struct live_job *job, const struct live_checkpoint *c, struct mrs_buf *buf, struct mrs_view *cuts,
          struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view q;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &q, e, "{_id: {$eq: %s}}", c->id);
    MRS_THEN(s, live_state_read(job, &job->run->state_checkpoints, q, buf, e));
    struct mrs_val v = s == MRS_OK ? live_at((struct mrs_view){buf->p, (uint32_t)buf->n}, "cuts") : mrs_missing();
    mrs_arena_clear(&a);
    if (s == MRS_OK && v.type != MRS_ARRAY) {
        return MRS_END;
    }
    *cuts = s == MRS_OK ? mrs_val_view(v) : *cuts;
    return s;
}

static enum mrs_status
drop_ranges(struct live_job *job, const char *pass, struct mrs_err *e)
{
    char walk[96];
    snprintf(walk, sizeof walk, "%s/%s", job->run->id, pass);
    return live_state_delete_where(job, &job->run->state_checkpoints, e, "{run: %s, walk: %s}", job->run->id, walk);
}

/* Stores the cuts in one write, in a checkpoint that says that the walk has begun. */
static enum mrs_status
store_cuts(struct live_job *job, struct live_checkpoint *c, struct mrs_view cuts, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(cuts));
    struct live_run *r = job->run;
    struct live_state_change change = {.many = false};
    struct mrs_arena a;
    struct mrs_view u;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_checkpoint_save(job, c, e);
    MRS_THEN(s, live_doc_in(&a, &change.q, e, "{_id: {$eq: %s}, owner: %s, epoch: %I}", c->id, r->owner, r->epoch));
    MRS_THEN(s, live_doc_in(&a, &u, e, "{$set: {cuts: %a}}", cuts));
    if (s == MRS_OK) {
        change.u = mrs_view_val(u);
        s = live_state_update(job, &r->state_checkpoints, &change, NULL, e);
    }
    mrs_arena_clear(&a);
    return s == MRS_OK && change.matched != 1
               ? mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "checkpoint %s is no longer ours", c->id) : s;
}

static uint32_t
range_count(const struct live_job *job, const struct live_cut *cut)
{
    const struct live_coll_info *info = job->server ? live_server_coll(job->server, cut->coll) : NULL;
    uint64_t n = info && cut->docs ? info->count / cut->docs : 0;
    return (uint32_t)(n < LIVE_RANGES_MAX ? n : LIVE_RANGES_MAX);
}

enum mrs_status
live_ranges_open(struct live_job *job, const struct live_cut *cut, struct live_checkpoint *c, uint32_t *n,
                 struct mrs_err *e)
{
    MRS_ASSERT(job->run && !job->run->worker);
    struct mrs_buf buf;
    struct mrs_view cuts = mrs_empty_doc();
    uint32_t count = range_count(job, cut);
    *n = 0;
    if (c->done) {
        return drop_ranges(job, cut->pass, e); /* it was killed between the two */
    }
    mrs_buf_init(&buf, job->mem, 2 * MRS_DOC_READ_MAX);
    enum mrs_status s = read_cuts(job, c, &buf, &cuts, e);
    bool cut_before = s == MRS_OK;
    if (s == MRS_END && count > 1) {
        mrs_buf_reset(&buf);
        s = choose(job, cut, c, count, &buf, &cuts, e);
        MRS_THEN(s, store_cuts(job, c, cuts, e));
        LIVE_STOP("after-cuts");
        cut_before = s == MRS_OK;
    } else if (s == MRS_END) {
        s = MRS_OK;
    }
    if (s == MRS_OK && cut_before) {
        job->run->shares = true;
        s = make_ranges(job, cut, c, cuts, n, e);
    }
    mrs_buf_clear(&buf);
    return s;
}

/* ---- progress ---- */
static void
add_range(struct live_ranges_sum *sum, struct mrs_view d, int64_t now)
{
    MRS_ASSERT(sum->done + sum->leased <= sum->all);
    char owner[64];
    bool done = live_bool_at(d, "done", false);
    live_text_at(d, "owner", owner, sizeof owner);
    sum->all++;
    sum->done += done;
    sum->leased += !done && *owner && live_date_at(d, "until", 0) >= now;
    sum->docs += (uint64_t)live_int_at(d, "docs", 0);
    sum->written += (uint64_t)live_int_at(d, "written", 0);
    sum->missed += (uint64_t)live_int_at(d, "missed", 0);
    sum->refused += (uint64_t)live_int_at(d, "refused", 0);
}

enum mrs_status
live_ranges_sum(struct live_job *job, const char *run, const char *pass, struct live_ranges_sum *out,
                struct mrs_err *e)
{
    MRS_ASSERT(job->run); /* `run` may come from a damaged document */
    struct mrs_arena a;
    struct mrs_buf docs;
    struct mrs_view pipeline, which, d;
    char walk[96];
    int64_t now = 0;
    memset(out, 0, sizeof *out);
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&docs, job->mem, MRS_DOC_READ_MAX);
    snprintf(walk, sizeof walk, "%s/%s", run, pass ? pass : "");
    enum mrs_status s = pass ? live_doc_in(&a, &which, e, "{run: %s, walk: %s}", run, walk)
                             : live_doc_in(&a, &which, e, "{run: %s, walk: {$exists: true}}", run);
    MRS_THEN(s, live_doc_in(&a, &pipeline, e,
                            "[{$match: %d}, {$project: {done: 1, owner: 1, until: 1, docs: 1, written: 1, missed: 1, "
                            "refused: 1}}]", which));
    MRS_THEN(s, live_state_list(job, &job->run->state_checkpoints, pipeline, &docs, e));
    s = s == MRS_OK && docs.n ? live_state_now(job, &now, e) : s;
    for (size_t at = 0; s == MRS_OK && live_state_next(&docs, &at, &d);) {
        add_range(out, d, now);
    }
    mrs_buf_clear(&docs);
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_ranges_close(struct live_job *job, const char *pass, struct live_checkpoint *c, struct mrs_err *e)
{
    MRS_ASSERT(!c->done && !job->run->worker);
    struct live_ranges_sum sum;
    enum mrs_status s = live_ranges_sum(job, job->run->id, pass, &sum, e);
    if (s == MRS_OK) {
        c->done = true;
        c->docs += sum.docs;
        c->written += sum.written;
        c->missed += sum.missed;
        c->refused += sum.refused;
        s = live_checkpoint_save(job, c, e);
    }
    LIVE_STOP("after-ranges");
    return s == MRS_OK ? drop_ranges(job, pass, e) : s;
}

/* ---- ranges without an owner ---- */
/* Ends transactions that workers left open, which would lock the documents of the ranges. END: no ranges. */
static enum mrs_status
end_sessions(struct live_job *job, const char *run, struct mrs_err *e)
{
    MRS_ASSERT(live_link_replicated(job->link));
    struct mrs_arena a;
    struct mrs_buf docs;
    struct mrs_view pipeline, d;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&docs, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc_in(&a, &pipeline, e,
                                    "[{$match: {run: %s, walk: {$exists: true}}}, {$project: {lsid: 1}}]", run);
    MRS_THEN(s, live_state_list(job, &job->run->state_checkpoints, pipeline, &docs, e));
    for (size_t at = 0; s == MRS_OK && live_state_next(&docs, &at, &d);) {
        struct mrs_val lsid = live_at(d, "lsid");
        s = lsid.type == MRS_DOCUMENT ? live_kill_session(job->link, mrs_val_view(lsid), e) : MRS_OK;
    }
    s = s == MRS_OK && docs.n == 0 ? MRS_END : s;
    mrs_buf_clear(&docs);
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_ranges_seal(struct live_job *job, const char *run, struct mrs_err *e)
{
    MRS_ASSERT(job->run); /* `run` may come from a damaged document */
    struct live_state_change c = {.many = true};
    struct mrs_arena a;
    struct mrs_view u;
    enum mrs_status s = live_link_replicated(job->link) ? end_sessions(job, run, e) : MRS_END;
    if (s == MRS_END) {
        return MRS_OK; /* no walk is shared */
    }
    mrs_arena_init(&a, job->mem);
    MRS_THEN(s, live_doc_in(&a, &c.q, e, "{run: %s, walk: {$exists: true}}", run));
    /* the next process that opens the run updates their epoch; until then none is taken */
    MRS_THEN(s, live_doc_in(&a, &u, e, "{$set: {owner: '', until: %t, epoch: %I}, $unset: {lsid: ''}}", (int64_t)0,
                            (int64_t)-1));
    if (s == MRS_OK) {
        c.u = mrs_view_val(u);
        s = live_state_update(job, &job->run->state_checkpoints, &c, NULL, e);
    }
    mrs_arena_clear(&a);
    return s;
}

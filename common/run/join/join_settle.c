/* SPDX-License-Identifier: Apache-2.0 */
/* join_settle.c - writes the documents of `from` after all matching.
 *
 * One byte for each says how it was used; the step derives its fate from that without reading the document. If nothing
 * leaves, `from` is copied unchanged; if nothing stays, it is not read again. */
#include "run/pass/checkpoint.h"
#include "join.h"
#include "mongoreshape/context.h"

struct join_settle {
    struct mrsi_join_run *j;
    enum mrs_fate fate[8]; /* by used bits */
    int side[8];
};
struct join_settle_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrsi_out *out;
    struct mrsi_lists lists;
};

static enum mrs_status
begin(struct join_settle *st, struct join_settle_job *job, struct mrs_err *e)
{
    if (!job->out) {
        job->out = mrsi_step_outputs_outs(&st->j->sides);
        MRS_TRY(mrs_allocated(job->out, sizeof *job->out, e));
        mrs_block_init(&job->block, st->j->en->mem);
        mrsi_lists_init(&job->lists, st->j->en->mem);
    }
    return MRS_OK;
}

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct join_settle *st = arg;
    struct join_settle_job *job = p;
    enum mrs_status s = begin(st, job, e);
    MRS_THEN(s, mrsi_scan_next(&st->j->scan, &job->block, &job->part, e));
    *big = mrsi_is_large(st->j->en, job->block.n);
    return s;
}

/* The reason is in w->err. */
static enum mrs_status
refuse(struct join_settle *st, struct mrsi_worker *w, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_join_run *j = st->j;
    mrsi_row(w, j->step, 0)->refused++;
    return mrsi_refuse(w, j->step, 0, j->en->side[j->step][0], ordinal, doc, e);
}

/* Writes an orphan to its target collection. */
static enum mrs_status
to_side(struct join_settle *st, struct mrsi_worker *w, struct join_settle_job *job, uint64_t ordinal, uint32_t side,
        struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_join_run *j = st->j;
    MRS_ASSERT(side < j->st->desc.n_sides);
    uint64_t source = mrsi_source(0, ordinal);
    const struct mrsi_rejected *rejected = mrsi_step_outputs_rejected(&j->sides, source);
    if (rejected) {
        enum mrs_status clash = mrsi_step_outputs_clash(&j->sides, w, rejected, mrs_doc_get(doc, "_id"), "orphans",
                                                       "another orphan with the same _id and other contents", e);
        return clash == MRS_SKIP ? refuse(st, w, ordinal, doc, e) : clash;
    }
    mrsi_row(w, j->step, 0)->taken++;
    struct mrsi_candidate c = {j->en->side[j->step][side], source, 0, false, false};
    bool write;
    enum mrs_status s = mrsi_step_outputs_admit(&j->sides, w, &job->lists, &c, &doc, &write, e);
    if (s != MRS_OK || !write) {
        return s;
    }
    mrsi_row(w, j->step, side)->entered++;
    return mrsi_step_outputs_write(&j->sides, w, job->out, side, doc, e);
}

/* The reason comes from the step, which fails on the document again. */
enum mrs_status
mrsi_refuse_unsorted(struct mrsi_join_run *j, struct mrsi_worker *w, uint32_t side, uint64_t ordinal,
                     struct mrs_view doc, struct mrs_err *e)
{
    mrs_buf_reset(&w->scratch);
    mrs_err_clear(&w->err);
    enum mrs_status s = j->st->desc.sorted ? j->ops->order(j->st->state, &w->ctx, doc, &w->scratch) : MRS_OK;
    if (s < MRS_SKIP || w->scratch.bad == 1) {
        return s < MRS_SKIP ? mrsi_kernel_failed(w, s, e) : mrs_buf_status(&w->scratch, e);
    }
    if (s == MRS_OK && !w->scratch.bad) { /* only if the flags of a savepoint are damaged */
        return mrsi_state_damaged("what has become of documents", e);
    }
    mrs_err_at(&w->err, "sort");
    mrsi_row(w, j->step, side)->refused++;
    return mrsi_refuse(w, j->step, side, j->en->side[j->step][side], ordinal, doc, e);
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct join_settle *st = arg;
    struct join_settle_job *job = p;
    struct mrsi_join_run *j = st->j;
    unsigned bits = mrsi_fates_get(&j->fates, ordinal);
    enum mrs_fate fate = bits & MRSI_FATE_OUTSIDE ? MRS_FATE_STAYS : st->fate[bits & MRSI_FATE_USED];
    struct mrsi_row *row = mrsi_row(w, j->step, 0);
    if (bits & MRSI_FATE_REFUSED) {
        return MRS_OK; /* recorded when it was read */
    }
    if (bits & MRSI_FATE_UNSORTED) {
        return mrsi_refuse_unsorted(j, w, 0, ordinal, doc, e);
    }
    switch (fate) {
    case MRS_FATE_STAYS:
    case MRS_FATE_CHANGED:
        return j->sides.ids.phase == MRSI_IDS_COLLECT ? MRS_OK : mrsi_step_outputs_write(&j->sides, w, job->out, 0,
                                                                                         doc, e);
    case MRS_FATE_REFUSED:
        mrs_err_clear(&w->err);
        mrs_err_set(&w->err, MRS_SKIP, MRS_E_REFUSED, "it matches no document");
        mrs_err_at(&w->err, "orphans");
        return refuse(st, w, ordinal, doc, e);
    case MRS_FATE_DROPPED:
        row->dropped++;
        return MRS_OK;
    case MRS_FATE_TAKEN:
        break;
    }
    if (st->side[bits & MRSI_FATE_USED] >= 0) {
        return to_side(st, w, job, ordinal, (uint32_t)st->side[bits & MRSI_FATE_USED], doc, e);
    }
    row->taken++;
    return MRS_OK;
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct join_settle *st = arg;
    struct join_settle_job *job = p;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, &st->j->en->coll[st->j->en->side[st->j->step][0]], job->part, &job->block);
    cur.quiet = cur.checked = true;
    enum mrs_status s = mrsi_fates_there(&st->j->fates, &job->block, e);
    return s == MRS_OK ? mrsi_cursor_each(&cur, one_document, st, w, job, e) : s;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct join_settle *st = arg;
    struct join_settle_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e);
    MRS_THEN(s, mrsi_step_outputs_take(&st->j->sides, &job->lists, e));
    return s == MRS_OK ? mrsi_step_outputs_commit(&st->j->sides, job->out, e) : s;
}

static void
clear(void *arg, void *p)
{
    struct join_settle *st = arg;
    struct join_settle_job *job = p;
    if (job->out) {
        mrsi_step_outputs_outs_free(&st->j->sides, job->out);
        mrs_block_clear(&job->block);
        mrsi_lists_clear(&job->lists);
    }
}

/* ---- without reading from ---- */
/* Does a document with these flags stay, or must it be read to leave? */
static bool
must_read(const struct join_settle *st, unsigned bits)
{
    enum mrs_fate f = st->fate[bits & MRSI_FATE_USED];
    if (bits & MRSI_FATE_REFUSED) {
        return false;
    }
    return (bits & (MRSI_FATE_OUTSIDE | MRSI_FATE_UNSORTED)) || f == MRS_FATE_STAYS || f == MRS_FATE_CHANGED ||
           f == MRS_FATE_REFUSED || (f == MRS_FATE_TAKEN && st->side[bits & MRSI_FATE_USED] >= 0);
}

struct left_at {
    uint64_t ordinal;
    struct mrs_view doc;
};

static size_t
left_at(const struct mrsi_join_run *j, size_t at, struct left_at *out)
{
    MRS_ASSERT(at < j->left.n);
    memcpy(&out->ordinal, j->left.p + at, sizeof out->ordinal);
    out->doc.p = j->left.p + at + sizeof out->ordinal;
    out->doc.n = mrs_le32(out->doc.p);
    return at + sizeof out->ordinal + out->doc.n;
}

/* Was everything needed stored when from was read? */
static bool
left_suffices(const struct join_settle *st, uint64_t needed)
{
    const struct mrsi_join_run *j = st->j;
    struct left_at d;
    uint64_t have = 0;
    if (j->left_over || j->n_left < needed) {
        return false;
    }
    for (size_t at = 0; at < j->left.n;) {
        at = left_at(j, at, &d);
        have += must_read(st, mrsi_fates_get(&j->fates, d.ordinal));
    }
    return have == needed;
}

static enum mrs_status
settle_left(struct join_settle *st, struct mrs_err *e)
{
    struct mrsi_join_run *j = st->j;
    struct mrsi_worker *w = &j->en->worker[0];
    struct join_settle_job job = {.out = NULL};
    struct left_at d;
    enum mrs_status s = begin(st, &job, e);
    for (size_t at = 0, n = 0; (s == MRS_OK || s == MRS_SKIP) && at < j->left.n;) {
        size_t next = left_at(j, at, &d);
        n += next - at;
        at = next;
        mrs_arena_reset(&w->arena);
        if (must_read(st, mrsi_fates_get(&j->fates, d.ordinal))) {
            s = one_document(st, w, &job, d.ordinal, d.doc, e);
        }
        if ((s == MRS_OK || s == MRS_SKIP) && n >= MRSI_BLOCK) {
            s = commit(st, w, &job, e);
            n = 0;
        }
    }
    s = s == MRS_OK || s == MRS_SKIP ? commit(st, w, &job, e) : s;
    clear(st, &job);
    return s;
}

/* Numbers of documents that stay, leave silently, or must be read to leave. */
struct join_settle_tally {
    uint64_t kept, removed, seen;
    uint64_t taken, dropped;
};

static struct join_settle_tally
tally(const struct join_settle *st)
{
    struct join_settle_tally t = {0, 0, 0, 0, 0};
    uint64_t counts[MRSI_FATES];
    mrsi_fates_count(&st->j->fates, counts);
    for (unsigned b = 0; b < MRSI_FATES; b++) {
        enum mrs_fate f = st->fate[b & MRSI_FATE_USED];
        if ((b & MRSI_FATE_REFUSED) && (b & MRSI_FATE_OUTSIDE)) {
            continue; /* refused by an earlier step */
        }
        if (b & MRSI_FATE_REFUSED) {
            t.removed += counts[b];
        } else if (!(b & MRSI_FATE_UNSORTED) &&
                   ((b & MRSI_FATE_OUTSIDE) || f == MRS_FATE_STAYS || f == MRS_FATE_CHANGED)) {
            t.kept += counts[b];
        } else if ((b & MRSI_FATE_UNSORTED) || f == MRS_FATE_REFUSED ||
                   (f == MRS_FATE_TAKEN && st->side[b & MRSI_FATE_USED] >= 0)) {
            t.seen += counts[b];
        } else {
            t.removed += counts[b];
            t.taken += f == MRS_FATE_TAKEN ? counts[b] : 0;
            t.dropped += f == MRS_FATE_DROPPED ? counts[b] : 0;
        }
    }
    return t;
}

/* Unmatched documents are not part of a sample; but a collection that other joins read must be complete for them, and
 * must keep the documents they match. */
static bool
sample_drops(const struct mrsi_join_run *j)
{
    const struct mrsi_engine *en = j->en;
    bool other = false;
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        other = other || (i != j->step && en->plan->steps[i].desc.family == MRS_FAMILY_JOIN &&
                          en->side[i][0] == en->side[j->step][0]);
    }
    return en->opts->sample && !other;
}

enum mrs_status
mrsi_settle_from(struct mrsi_join_run *j, struct mrs_err *e)
{
    struct join_settle st = {.j = j};
    struct mrsi_row *row = mrsi_row(&j->en->worker[0], j->step, 0);
    struct mrsi_pipe p = {j->en, sizeof(struct join_settle_job), fetch, work, commit, clear, &st};
    for (unsigned b = 0; b < 8; b++) {
        st.side[b] = -1;
        st.fate[b] = j->ops->fate(j->st->state, b, &st.side[b]);
    }
    if (sample_drops(j)) {
        st.fate[0] = MRS_FATE_DROPPED;
    }
    enum mrs_status s = mrsi_fates_sound(&j->fates, e);
    if (s != MRS_OK || j->self) {
        return s; /* if from and into are one collection, the rest was written as into */
    }
    struct join_settle_tally t = tally(&st);
    if (!t.removed && !t.seen && j->sides.wr_of[0] == MRSI_NONE) { /* no document leaves, now or in an earlier pass */
        row->after += t.kept;
        return MRS_OK;
    }
    s = j->sides.wr_of[0] == MRSI_NONE ? mrsi_step_outputs_open(&j->sides, 0, e) : MRS_OK;
    j->pass.n_wr = j->sides.n_wr;
    if (s == MRS_OK && !t.kept && !t.seen) { /* no document stays: not read again */
        row->taken += t.taken;
        row->dropped += t.dropped;
        return MRS_OK;
    }
    if (s == MRS_OK && left_suffices(&st, t.kept + t.seen)) {
        row->taken += t.taken;
        row->dropped += t.dropped;
        return settle_left(&st, e);
    }
    MRS_THEN(s, mrsi_pass_scan(&j->pass, &p, &j->en->coll[j->en->side[j->step][0]], &j->scan, e));
    return s;
}

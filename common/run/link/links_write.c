/* SPDX-License-Identifier: Apache-2.0 */
/* links_write.c - writes the documents of each changed side with their final references; refused documents with the
 * reason, which is computed again; orphans to their target. */
#include "links.h"
#include "mongoreshape/join_ops.h"

struct links_write_job {
    struct mrsi_step_outputs_job io;
    struct mrsi_lists lists;
    struct mrsi_link_items items;
};

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_link_run *l = arg;
    struct links_write_job *job = p;
    bool fresh;
    enum mrs_status s = mrsi_step_outputs_job_next(&l->sides, &l->scan, &job->io, &fresh, big, e);
    if (fresh) {
        mrsi_lists_init(&job->lists, l->en->mem);
        mrsi_link_items_init(&job->items, l->en->mem);
    }
    return s == MRS_OK ? mrsi_fates_there(&l->side[l->now].fates, &job->io.block, e) : s;
}

static void
clear(void *arg, void *p)
{
    struct mrsi_link_run *l = arg;
    struct links_write_job *job = p;
    if (job->io.out) {
        mrsi_step_outputs_job_clear(&l->sides, &job->io);
        mrsi_lists_clear(&job->lists);
        mrsi_link_items_clear(&job->items);
    }
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_link_run *l = arg;
    struct links_write_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e);
    MRS_THEN(s, mrsi_step_outputs_take(&l->sides, &job->lists, e));
    return s == MRS_OK ? mrsi_step_outputs_commit(&l->sides, job->io.out, e) : s;
}

/* ---- refused documents ---- */
static enum mrs_status
because(struct mrsi_worker *w, const char *where, const char *why)
{
    mrs_err_clear(&w->err);
    mrs_err_set(&w->err, MRS_SKIP, MRS_E_REFUSED, "%s", why);
    mrs_err_at(&w->err, "%s", where);
    return MRS_SKIP;
}

static enum mrs_status
facts_of(struct mrsi_link_run *l, struct mrsi_worker *w, uint32_t side, uint64_t ordinal, struct mrs_view doc,
         struct mrs_link_facts *f)
{
    MRS_ASSERT(side < 2 && mrs_view_is_framed(doc));
    const struct mrsi_index *ids = mrsi_link_ids(l, !side);
    uint64_t one = 0;
    memset(f, 0, sizeof *f);
    mrs_keys_reset(&w->keys);
    enum mrs_status s = l->ops->read(l->st->state, &w->ctx, (int)side, doc, &w->keys, &f->shape);
    for (uint32_t i = 1; s == MRS_OK && i < w->keys.n; i++) {
        uint64_t ord = w->keys.span[i].null ? 0 : mrsi_index_find(ids, mrsi_link_hash(l, &w->keys, i));
        one = ord == MRSI_NO_ORDINAL ? 0 : ord + 1;
        f->dangling = f->dangling || ord == MRSI_NO_ORDINAL;
        f->names = f->names || (ord != MRSI_NO_ORDINAL && !w->keys.span[i].null);
    }
    if (s == MRS_OK && side == 1) {
        mrsi_link_listed(l, ordinal, one, f);
    }
    return s;
}

/* Why a document of this side is refused, in w->err: SKIP; OK: not because of this side. */
static enum mrs_status
find_reason(struct mrsi_link_run *l, struct mrsi_worker *w, struct links_write_job *job, uint32_t side,
            uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(side < 2 && mrs_view_is_framed(doc));
    unsigned bits = mrsi_fates_get(&l->side[side].fates, ordinal), verdict = 0;
    struct mrs_link_facts f;
    if (bits & MRSI_LINK_TWICE) {
        return because(w, "", "another document has the same _id");
    }
    mrs_err_clear(&w->err);
    enum mrs_status s = facts_of(l, w, side, ordinal, doc, &f);
    MRS_THEN(s, l->ops->judge(l->st->state, &w->ctx, (int)side, &f, &verdict));
    if (s == MRS_OK && (bits & MRSI_LINK_SORTLESS) && (f.names || f.listed)) {
        mrs_buf_reset(&w->scratch);
        s = l->ops->order(l->st->state, &w->ctx, doc, &w->scratch);
    }
    if (s == MRS_OK && (verdict & MRS_LINK_ORPHAN)) {
        int to;
        s = l->ops->orphan(l->st->state, &to) == MRS_FATE_REFUSED
                ? because(w, "orphans", "it neither names a document nor is listed by one")
                : MRS_OK;
    }
    if (s < MRS_SKIP) {
        return mrsi_kernel_failed(w, s, e);
    }
    return s == MRS_OK && (bits & MRSI_FATE_UNSORTED) ? mrsi_link_put(l, w, &job->items, side, ordinal, &doc, e) : s;
}

static enum mrs_status
refuse(struct mrsi_link_run *l, struct mrsi_worker *w, struct links_write_job *job, uint64_t ordinal,
       struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    enum mrs_status s = find_reason(l, w, job, l->now, ordinal, doc, e);
    uint64_t placed = mrsi_row(w, l->step, l->now)->placed;
    if (s == MRS_OK && l->self) {
        s = find_reason(l, w, job, 1, ordinal, doc, e);
    }
    if (s == MRS_OK) { /* it failed only with references from documents that are refused themselves */
        s = because(w, "", "it cannot be written with the references that it would gain");
    }
    mrsi_row(w, l->step, l->now)->placed = placed;
    if (s != MRS_SKIP) {
        return s;
    }
    mrsi_row(w, l->step, l->now)->refused++;
    return mrsi_refuse(w, l->step, l->now, l->en->side[l->step][l->now], ordinal, doc, e);
}

/* ---- documents that stay, and orphans ---- */
static enum mrs_status
move_orphan(struct mrsi_link_run *l, struct mrsi_worker *w, struct links_write_job *job, uint64_t ordinal,
            uint32_t side, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(side < MRS_SIDES_MAX && mrs_view_is_framed(doc));
    uint64_t source = mrsi_source(1, ordinal);
    const struct mrsi_rejected *rejected = mrsi_step_outputs_rejected(&l->sides, source);
    bool write;
    if (rejected) {
        mrsi_row(w, l->step, 1)->refused++;
        enum mrs_status st = mrsi_step_outputs_clash(&l->sides, w, rejected, mrs_doc_get(doc, "_id"), "orphans",
                                                     "another orphan with the same _id and other contents", e);
        return st == MRS_SKIP ? mrsi_refuse(w, l->step, 1, l->en->side[l->step][1], ordinal, doc, e) : st;
    }
    mrsi_row(w, l->step, 1)->taken++;
    struct mrsi_candidate c = {l->en->side[l->step][side], source, 0, false, false};
    enum mrs_status s = mrsi_step_outputs_admit(&l->sides, w, &job->lists, &c, &doc, &write, e);
    if (s != MRS_OK || !write) {
        return s;
    }
    mrsi_row(w, l->step, side)->entered++;
    return mrsi_step_outputs_write(&l->sides, w, job->io.out, side, doc, e);
}

static enum mrs_status
put_references(struct mrsi_link_run *l, struct mrsi_worker *w, struct links_write_job *job, uint64_t ordinal,
               struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    uint32_t last = l->self ? 1 : l->now;
    enum mrs_status s = MRS_OK;
    for (uint32_t side = l->now; s == MRS_OK && side <= last; side++) {
        s = mrsi_link_put(l, w, &job->items, side, ordinal, &doc, e);
        if (s == MRS_SKIP) { /* refused from the next pass on: this pass must not depend on the order */
            mrsi_fates_add(&l->side[side].fates, ordinal, MRSI_FATE_UNSORTED);
            __atomic_store_n(&l->late, true, __ATOMIC_RELAXED);
            mrs_err_clear(&w->err);
            return MRS_OK;
        }
    }
    return s == MRS_OK ? mrsi_step_outputs_write(&l->sides, w, job->io.out, l->now, doc, e) : s;
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrsi_link_run *l = arg;
    struct links_write_job *job = p;
    int to = -1;
    if (mrsi_fates_get(&l->side[l->now].fates, ordinal) & MRSI_FATE_OUTSIDE) {
        return MRS_OK;
    }
    if (mrsi_link_refused(l, l->now, ordinal)) {
        return refuse(l, w, job, ordinal, doc, e);
    }
    if (l->now == 0 || !(mrsi_mapped_mem_u64(&l->listed)[ordinal] & MRSI_LISTED_ORPHAN)) {
        return l->sides.ids.phase == MRSI_IDS_COLLECT ? MRS_OK : put_references(l, w, job, ordinal, doc, e);
    }
    if (l->ops->orphan(l->st->state, &to) == MRS_FATE_DROPPED) {
        mrsi_row(w, l->step, l->now)->dropped++;
        return MRS_OK;
    }
    return move_orphan(l, w, job, ordinal, (uint32_t)to, doc, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_link_run *l = arg;
    struct links_write_job *job = p;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, &l->en->coll[l->en->side[l->step][l->now]], job->io.part, &job->io.block);
    cur.quiet = cur.checked = true;
    return mrsi_cursor_each(&cur, one_document, l, w, job, e);
}

/* ---- the writers ---- */
/* Do documents of a side change, leave or are they refused? */
static bool
is_written(const struct mrsi_link_run *l, uint32_t side)
{
    uint64_t counts[MRSI_FATES], refused = 0;
    mrsi_fates_count(&l->side[side].fates, counts);
    for (unsigned b = 0; b < MRSI_FATES; b++) {
        refused += b & MRSI_FATE_REFUSED ? counts[b] : 0;
    }
    return refused || (l->st->desc.sides[side].role & (MRS_ROLE_CHANGE | MRS_ROLE_TAKE));
}

enum mrs_status
mrsi_link_open(struct mrsi_link_run *l, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < l->st->desc.n_sides; i++) {
        bool open = mrsi_pass_is_resumed(&l->pass) ? l->written >> i & 1
                                                : i > 1 || is_written(l, i) || (l->self && is_written(l, !i));
        if (open) {
            l->written |= 1ull << i;
            s = mrsi_step_outputs_open(&l->sides, i, e);
        }
    }
    l->pass.wr = l->sides.wr;
    l->pass.n_wr = l->sides.n_wr;
    return s;
}

/* ---- passes ---- */
static enum mrs_status
write_side(struct mrsi_link_run *l, struct mrs_err *e)
{
    struct mrsi_pipe p = {l->en, sizeof(struct links_write_job), fetch, work, commit, clear, l};
    if (l->sides.wr_of[l->now] == MRSI_NONE) { /* nothing changes or leaves */
        mrsi_row(&l->en->worker[0], l->step, l->now)->after += l->side[l->now].seen;
        return MRS_OK;
    }
    struct mrsi_coll *coll = &l->en->coll[l->en->side[l->step][l->now]];
    return mrsi_pass_scan(&l->pass, &p, coll, &l->scan, e);
}

/* Counts documents that wait for a new `_id` in a target, in each pass. */
static enum mrs_status
forget_optimistic(struct mrsi_link_run *l, struct mrs_err *e)
{
    mrsi_ids_clear(&l->sides.ids);
    return mrsi_ids_init(&l->sides.ids, l->en, l->st->desc.conflicts, e);
}

/* Starts writing over: resets counts, refusals and output. */
static enum mrs_status
begin_again(struct mrsi_link_run *l, struct mrs_err *e)
{
    l->late = false;
    l->now = 0;
    return mrsi_step_outputs_begin(&l->sides, l->log, true, e);
}

static enum mrs_status
write_once(struct mrsi_link_run *l, bool restart, struct mrs_err *e)
{
    enum mrs_status s = mrsi_step_outputs_existing(&l->sides, false, restart, e);
    uint32_t last = l->self ? 0 : 1;
    MRS_THEN(s, write_side(l, e));
    while (s == MRS_OK && l->now < last) {
        l->now++;
        s = write_side(l, e);
    }
    return s;
}

/* All was written in one phase: decides what is next; *again: write everything again. */
static enum mrs_status
next_phase(struct mrsi_link_run *l, bool *again, struct mrs_err *e)
{
    *again = l->late;
    if (l->late) {
        for (int i = 0; i < 2; i++) {
            mrsi_fates_refuse_unsorted(&l->side[i].fates);
        }
        return forget_optimistic(l, e);
    }
    return mrsi_ids_next(&l->sides.ids, &l->pass, again, e);
}

enum mrs_status
mrsi_link_write(struct mrsi_link_run *l, struct mrs_err *e)
{
    bool again = false;
    enum mrs_status s;
    do {
        bool done = mrsi_ids_is_between(&l->sides.ids); /* in the stopped run */
        s = again ? begin_again(l, e) : MRS_OK;
        s = s == MRS_OK && !done ? write_once(l, again, e) : s;
        MRS_THEN(s, next_phase(l, &again, e));
    } while (s == MRS_OK && again);
    return s;
}

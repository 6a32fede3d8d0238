/* SPDX-License-Identifier: Apache-2.0 */
/* step_outputs.c - see step_outputs.h. */
#include "checkpoint.h"
#include "step_outputs.h"
#include "mongoreshape/spread_ops.h"

enum mrs_status
mrsi_step_outputs_init(struct mrsi_step_outputs *s, struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    memset(s, 0, sizeof *s);
    s->en = en;
    s->step = step;
    s->desc = &en->plan->steps[step].desc;
    s->wr = mrs_zalloc(en->mem, (s->desc->n_sides + 1) * sizeof *s->wr);
    for (uint32_t i = 0; i < MRS_SIDES_MAX; i++) {
        s->wr_of[i] = MRSI_NONE;
    }
    enum mrs_status st = s->wr ? mrsi_ids_init(&s->ids, en, s->desc->conflicts, e) : mrs_err_memory(e, sizeof *s->wr);
    for (uint32_t i = 0; st == MRS_OK && i < s->desc->n_sides; i++) {
        if (s->desc->sides[i].role & MRS_ROLE_OVERWRITE) {
            s->ids.over[s->ids.n_over++] = en->side[step][i];
        }
    }
    return st;
}

enum mrs_status
mrsi_step_outputs_open(struct mrsi_step_outputs *s, uint32_t side, struct mrs_err *e)
{
    MRS_ASSERT(side < s->desc->n_sides);
    uint32_t coll = s->en->side[s->step][side], k = 0;
    while (k < s->n_wr && s->wr[k].coll != coll) {
        k++;
    }
    s->wr_of[side] = k;
    if (k < s->n_wr) {
        return MRS_OK;
    }
    s->n_wr++;
    return mrsi_pass_is_resumed(s->pass) ? mrsi_writer_prepare(s->en, coll, s->step, &s->wr[k], e)
                                      : mrsi_writer_open(s->en, coll, s->step, &s->wr[k], e);
}

/* Is the collection written, but not read to drive the step? */
static bool
only_added(const struct mrsi_step_outputs *s, uint32_t coll)
{
    MRS_ASSERT(coll < s->en->n_coll);
    bool added = false;
    for (uint32_t i = 0; i < s->desc->n_sides; i++) {
        if (s->en->side[s->step][i] == coll) {
            if (s->desc->sides[i].role & MRS_ROLE_MAIN) {
                return false;
            }
            added = added || (s->desc->sides[i].role & MRS_ROLE_ADD);
        }
    }
    return added;
}

static enum mrs_status
meet_there(struct mrsi_step_outputs *s, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    s->there = mrsi_pass_is_resumed(s->pass) ? s->there : 0;
    for (; st == MRS_OK && s->there < s->n_wr; s->there++) {
        if (s->ids.phase != MRSI_IDS_APPLY && only_added(s, s->wr[s->there].coll)) {
            st = mrsi_ids_there(&s->ids, s->wr[s->there].coll, s->pass, e);
        }
    }
    return st;
}

static enum mrs_status
restart_all(struct mrsi_step_outputs *s, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < s->n_wr; i++) {
        st = mrsi_writer_restart(&s->wr[i], e);
    }
    return st;
}

static struct mrsi_row *
row_of_coll(const struct mrsi_step_outputs *s, struct mrsi_worker *w, uint32_t coll)
{
    uint32_t i = 0;
    while (s->en->side[s->step][i] != coll) {
        i++;
    }
    return mrsi_row(w, s->step, i);
}

static enum mrs_status
copy_there(struct mrsi_step_outputs *s, bool restart, struct mrs_err *e)
{
    bool resumed = mrsi_pass_is_resumed(s->pass);
    enum mrs_status st = restart && !resumed ? restart_all(s, e) : MRS_OK;
    s->at = resumed ? s->at : 0;
    for (; st == MRS_OK && s->at < s->n_wr; s->at++) {
        struct mrsi_writer *wr = &s->wr[s->at];
        if (!only_added(s, wr->coll)) {
            continue;
        }
        wr->ids = s->ids.phase == MRSI_IDS_APPLY ? &s->ids : NULL;
        st = mrsi_copy_through(s->en, wr->coll, wr, s->pass, e);
        struct mrsi_row *row = row_of_coll(s, &s->en->worker[0], wr->coll);
        row->before += wr->copied;
        row->after += wr->copied;
    }
    return st;
}

enum mrs_status
mrsi_step_outputs_begin(struct mrsi_step_outputs *s, struct mrsi_refused_position log, bool again, struct mrs_err *e)
{
    mrsi_refused_rewind(s->en, log);
    mrsi_rows_begin(s->en);
    s->there = s->at = 0;
    s->pass->blank = again;
    return again ? mrsi_pass_anew(s->pass, e) : MRS_OK;
}

/* Until the writers are emptied, a savepoint has them empty. */
enum mrs_status
mrsi_step_outputs_existing(struct mrsi_step_outputs *s, bool known, bool restart, struct mrs_err *e)
{
    bool resolves = s->ids.phase == MRSI_IDS_COLLECT;
    s->pass->blank = s->pass->blank || resolves;
    enum mrs_status st = known ? MRS_OK : meet_there(s, e);
    s->pass->blank = resolves;
    return st == MRS_OK && !resolves ? copy_there(s, restart, e) : st;
}

bool
mrsi_step_outputs_have_existing(const struct mrsi_step_outputs *s)
{
    return s->there == s->n_wr && (s->at == s->n_wr || s->ids.phase == MRSI_IDS_COLLECT);
}

void
mrsi_lists_init(struct mrsi_lists *l, struct mrs_mem *mem)
{
    mrs_buf_init(&l->hashes, mem, SIZE_MAX);
    mrs_buf_init(&l->members, mem, SIZE_MAX);
    mrs_buf_init(&l->room, mem, SIZE_MAX);
}

void
mrsi_lists_clear(struct mrsi_lists *l)
{
    mrs_buf_clear(&l->hashes);
    mrs_buf_clear(&l->members);
    mrs_buf_clear(&l->room);
}

static enum mrs_status
verdict(const struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_lists *l, const struct mrsi_candidate *c,
        struct mrs_view *doc, bool *write, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(*doc));
    enum mrsi_verdict what = c->there ? MRSI_ALONE : mrsi_ids_verdict(&s->ids, c->source, c->product);
    *write = what == MRSI_ALONE || what == MRSI_REPRESENTS;
    if (what != MRSI_ALONE) {
        struct mrsi_row *row = row_of_coll(s, w, c->coll);
        row->represents += what == MRSI_REPRESENTS;
        row->placed += !*write;
        row->once += what == MRSI_EQUAL;
    }
    if (!*write) {
        return MRS_OK;
    }
    return c->there ? mrsi_ids_replace(&s->ids, true, c->coll, c->source, &l->room, doc, e)
                    : mrsi_ids_replace(&s->ids, false, c->source, c->product, &l->room, doc, e);
}

static enum mrs_status
put_member(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_lists *l, const struct mrsi_candidate *c,
           struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_hash128 h, body = mrs_hash_secret(&s->en->secret, 0, doc.p, doc.n);
    MRS_TRY(mrsi_ids_hash(&s->ids, c->coll, doc, &w->scratch, &h, e));
    uint32_t keep = !c->there && mrsi_ids_keeps_bodies(&s->ids, c->coll) ? doc.n : 0;
    struct mrsi_id_member m = {h.lo,       h.hi,    body.lo,  body.hi, c->source, c->product,
                               c->coll,    c->there, c->made, 0,       keep,      0};
    mrs_buf_put(&l->members, &m, sizeof m);
    mrs_buf_put(&l->members, doc.p, keep);
    return mrs_buf_status(&l->members, e);
}

/* Adds a document's `_id` to the lists, if it has one. */
static inline enum mrs_status
optimistic(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_lists *l, uint32_t coll, struct mrs_view doc,
           struct mrs_err *e)
{
    uint64_t id;
    enum mrs_status st = mrsi_ids_short(&s->ids, coll, doc, &w->scratch, &id, e);
    if (st != MRS_OK) {
        return st == MRS_END ? MRS_OK : st;
    }
    mrs_buf_put(&l->hashes, &id, sizeof id);
    if (l->hashes.n >= MRSI_BLOCK && w->pipe && mrsi_pipe_turn(w)) { /* of one document that makes many */
        return mrsi_step_outputs_take(s, l, e);
    }
    return mrs_buf_status(&l->hashes, e);
}

enum mrs_status
mrsi_step_outputs_admit(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_lists *l,
                        const struct mrsi_candidate *c, struct mrs_view *doc, bool *write, struct mrs_err *e)
{
    MRS_ASSERT(c->coll < s->en->n_coll && mrs_view_is_framed(*doc));
    uint64_t id;
    if (s->ids.phase == MRSI_IDS_APPLY) {
        return verdict(s, w, l, c, doc, write, e);
    }
    *write = s->ids.phase == MRSI_IDS_OPTIMISTIC;
    if (*write) {
        return optimistic(s, w, l, c->coll, *doc, e);
    }
    enum mrs_status st = mrsi_ids_short(&s->ids, c->coll, *doc, &w->scratch, &id, e);
    if (st != MRS_OK) {
        return st == MRS_END ? MRS_OK : st;
    }
    return mrsi_ids_has_dup_hash(&s->ids, id) ? put_member(s, w, l, c, *doc, e) : MRS_OK;
}

/* The name of a collection at this step. */
static const char *
name_of(const struct mrsi_step_outputs *s, uint32_t coll)
{
    uint32_t i = 0;
    while (i + 1 < s->desc->n_sides && s->en->side[s->step][i] != coll) {
        i++;
    }
    return s->desc->sides[i].coll.ns;
}

/* what: the `_id` or key, or "it" */
static void
report_duplicate(const struct mrsi_step_outputs *s, const struct mrsi_rejected *b, const char *what, int n,
                 struct mrs_err *e)
{
    uint64_t ordinal = mrsi_source_ordinal(b->other);
    uint32_t side = mrsi_source_side(b->other);
    bool made = s->desc->family == MRS_FAMILY_FOLD || s->desc->family == MRS_FAMILY_GRID || side >= s->desc->n_sides;
    if (b->there) {
        mrs_err_more(e, "document %llu of %s has %.*s already", (unsigned long long)ordinal + 1,
                     name_of(s, b->target), n, what);
    } else if (made) {
        mrs_err_more(e, "other documents make %.*s, too", n, what);
    } else if (b->other == b->source) {
        mrs_err_more(e, "this document brings %.*s twice", n, what);
    } else {
        mrs_err_more(e, "document %llu of %s brings %.*s, too", (unsigned long long)ordinal + 1,
                     s->desc->sides[side].coll.ns, n, what);
    }
}

enum mrs_status
mrsi_step_outputs_clash(const struct mrsi_step_outputs *s, struct mrsi_worker *w, const struct mrsi_rejected *b,
                        struct mrs_val key, const char *where, const char *why, struct mrs_err *e)
{
    MRS_ASSERT(where && why);
    enum { ID_MAX = 200 };
    struct mrs_buf room;
    mrs_buf_init(&room, s->en->mem, SIZE_MAX);
    size_t n = key.type != MRS_MISSING ? mrsi_id_write(key, ID_MAX, &room) : 0;
    mrs_err_clear(&w->err);
    if (room.bad) {
        mrs_buf_clear(&room);
        return mrs_err_memory(e, n);
    }
    mrs_err_set(&w->err, MRS_SKIP, MRS_E_REFUSED, "%s", why);
    mrs_err_at(&w->err, "%s", where);
    report_duplicate(s, b, n ? (const char *)room.p : "it", n ? (int)n : 2, &w->err);
    mrs_buf_clear(&room);
    return MRS_SKIP;
}

enum mrs_status
mrsi_step_outputs_take(struct mrsi_step_outputs *s, struct mrsi_lists *l, struct mrs_err *e)
{
    enum mrs_status st = mrs_buf_status(&l->hashes, e);
    if (st == MRS_OK && s->ids.phase == MRSI_IDS_OPTIMISTIC) {
        st = mrsi_ids_take(&s->ids, (const uint64_t *)(const void *)l->hashes.p, l->hashes.n / 8, e);
    } else if (s->ids.phase == MRSI_IDS_COLLECT) {
        st = mrsi_ids_members(&s->ids, &l->members, e);
    }
    mrs_buf_reset(&l->hashes);
    mrs_buf_reset(&l->members);
    return st;
}

enum mrs_status
mrsi_step_outputs_write(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_out *outs, uint32_t side,
                        struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(side < s->desc->n_sides);
    uint32_t i = s->wr_of[side];
    mrsi_row(w, s->step, side)->after++;
    return mrsi_out_put(&s->wr[i], w, &outs[i], doc, e);
}

enum mrs_status
mrsi_step_outputs_write_all(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_lists *l,
                            struct mrsi_out *outs, const struct mrs_products *all, uint64_t *n, struct mrs_err *e)
{
    MRS_ASSERT(all->side >= 0 && (uint32_t)all->side < s->desc->n_sides);
    uint32_t side = (uint32_t)all->side, i = s->wr_of[side];
    *n = 0;
    for (size_t at = 0; at < all->n; ++*n) {
        struct mrs_view doc = {all->p + at, mrs_le32(all->p + at)};
        MRS_TRY(optimistic(s, w, l, s->wr[i].coll, doc, e));
        at += doc.n;
    }
    mrsi_row(w, s->step, side)->after += *n;
    return mrsi_out_put_all(&s->wr[i], w, &outs[i], all->p, all->n, e);
}

void
mrsi_step_outputs_written(struct mrsi_step_outputs *s, struct mrsi_worker *w, struct mrsi_out *outs, uint32_t side,
                          size_t at)
{
    MRS_ASSERT(side < s->desc->n_sides && at <= outs[s->wr_of[side]].buf.n);
    uint32_t i = s->wr_of[side];
    mrsi_row(w, s->step, side)->after++;
    mrsi_out_count(&s->wr[i], &outs[i], at);
}

struct mrsi_out *
mrsi_step_outputs_outs(struct mrsi_step_outputs *s)
{
    struct mrsi_out *outs = mrs_zalloc(s->en->mem, (s->n_wr + 1) * sizeof *outs);
    for (uint32_t i = 0; outs && i < s->n_wr; i++) {
        mrs_buf_init(&outs[i].buf, s->en->mem, SIZE_MAX);
    }
    return outs;
}

void
mrsi_step_outputs_outs_free(struct mrsi_step_outputs *s, struct mrsi_out *outs)
{
    for (uint32_t i = 0; outs && i < s->n_wr; i++) {
        mrs_buf_clear(&outs[i].buf);
    }
    mrs_free(s->en->mem, outs);
}

enum mrs_status
mrsi_step_outputs_job_next(struct mrsi_step_outputs *s, struct mrsi_scan *scan, struct mrsi_step_outputs_job *job,
                           bool *fresh, bool *big, struct mrs_err *e)
{
    MRS_ASSERT(fresh && big);
    *fresh = false;
    if (!job->out) {
        job->out = mrsi_step_outputs_outs(s);
        MRS_TRY(mrs_allocated(job->out, sizeof *job->out, e));
        mrs_block_init(&job->block, s->en->mem);
        *fresh = true;
    }
    enum mrs_status st = mrsi_scan_next(scan, &job->block, &job->part, e);
    *big = mrsi_is_large(s->en, job->block.n);
    return st;
}

void
mrsi_step_outputs_job_clear(struct mrsi_step_outputs *s, struct mrsi_step_outputs_job *job)
{
    if (job->out) {
        mrsi_step_outputs_outs_free(s, job->out);
        mrs_block_clear(&job->block);
    }
}

enum mrs_status
mrsi_step_outputs_commit(struct mrsi_step_outputs *s, struct mrsi_out *outs, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < s->n_wr; i++) {
        st = mrsi_writer_commit(&s->wr[i], &outs[i], e);
    }
    return st;
}

enum mrs_status
mrsi_step_outputs_save(struct mrsi_step_outputs *s, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    mrs_build_i64(b, "there", s->there);
    mrs_build_i64(b, "copying", s->at);
    return mrsi_ids_save(&s->ids, "ids", b, files, e);
}

enum mrs_status
mrsi_step_outputs_load(struct mrsi_step_outputs *s, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    s->there = (uint32_t)mrsi_state_number(saved, "there", s->n_wr, &bad);
    s->at = (uint32_t)mrsi_state_number(saved, "copying", s->n_wr, &bad);
    return bad ? mrsi_state_damaged("the step", e) : mrsi_ids_load(&s->ids, saved, "ids", e);
}

/* A document that another one stands for is safe only if that one was written. */
static enum mrs_status
check_represented(const struct mrsi_step_outputs *s, struct mrs_err *e)
{
    uint64_t decided = s->ids.phase == MRSI_IDS_APPLY ? mrsi_ids_n_represent(&s->ids) : 0, written = 0;
    const uint32_t *row_of = s->en->row_of[s->step];
    for (uint32_t i = 0; i < s->desc->n_sides; i++) {
        bool again = false;
        for (uint32_t k = 0; k < i; k++) {
            again = again || row_of[k] == row_of[i];
        }
        written += again ? 0 : s->en->rows[row_of[i]].represents;
    }
    return decided == written ? MRS_OK
                           : mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT,
                                         "step %u: %llu documents stand for others of their _id, %llu were written",
                                         s->en->plan->steps[s->step].no, (unsigned long long)decided,
                                         (unsigned long long)written);
}

enum mrs_status
mrsi_step_outputs_end(struct mrsi_step_outputs *s, enum mrs_status status, struct mrs_err *e)
{
    MRS_ASSERT(s->n_wr <= s->desc->n_sides);
    MRS_THEN(status, check_represented(s, e));
    for (uint32_t i = 0; i < s->n_wr; i++) {
        if (status == MRS_OK) {
            status = mrsi_writer_close(&s->wr[i], false, e);
        } else {
            mrsi_writer_drop(&s->wr[i]);
        }
    }
    for (uint32_t i = 0; status == MRS_OK && i < s->desc->n_sides; i++) {
        mrsi_coll_counted(&s->en->coll[s->en->side[s->step][i]]);
    }
    mrsi_ids_clear(&s->ids);
    mrs_free(s->en->mem, s->wr);
    s->wr = NULL;
    return status;
}

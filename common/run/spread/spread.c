/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c - steps that make any number of documents from one: extract, move, union, partition, split, delete, and
 * `set` of `_id`.
 *
 * One pass over each source writes everything optimistically; only if two `_id`s in a target may be equal is it
 * repeated (id_check.h). New documents are appended to the targets; sources that stay are written in place. */
#include "run/pass/drivers.h"
#include "run/pass/checkpoint.h"
#include "run/notices/lost_fields.h"
#include "run/notices/pattern_fields.h"
#include "run/pass/step_outputs.h"
#include "spread.h"
#include "mongoreshape/spread_ops.h"

struct spread {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_step *st;
    const struct mrs_spread_ops *ops;
    struct mrsi_step_outputs sides;
    uint32_t side;                 /* being read */
    struct mrsi_scan scan;
    const struct mrsi_stream *from; /* sources that are not in a collection; NULL: they are */
    struct mrsi_refused_position log;  /* of refused documents, before the first pass */
    struct mrsi_pass pass;
};
static const struct mrsi_part no_part = {.in_index = MRSI_NONE};

struct spread_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrsi_out *out;          /* one for each writer */
    struct mrsi_lists lists;
};

static enum mrs_status
fetch(void *arg, void *job, bool *big, struct mrs_err *e)
{
    struct spread *sp = arg;
    struct spread_job *j = job;
    if (!j->out) {
        j->out = mrsi_step_outputs_outs(&sp->sides);
        MRS_TRY(mrs_allocated(j->out, sizeof *j->out, e));
        mrs_block_init(&j->block, sp->en->mem);
        mrsi_lists_init(&j->lists, sp->en->mem);
    }
    j->part = &no_part;
    enum mrs_status s = sp->from ? sp->from->next(sp->from->arg, &j->block, e)
                                 : mrsi_scan_next(&sp->scan, &j->block, &j->part, e);
    *big = mrsi_is_large(sp->en, j->block.n);
    return s;
}

/* Writes the source document itself, if it stays. */
static enum mrs_status
put_self(struct spread *sp, struct mrsi_worker *w, struct spread_job *j, uint64_t source, struct mrs_view doc,
         bool changed, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    uint32_t side = sp->side;
    enum mrsi_ids_phase phase = sp->sides.ids.phase;
    bool write = phase != MRSI_IDS_COLLECT;
    if (sp->st->desc.new_ids) {
        struct mrsi_candidate c = {sp->en->side[sp->step][side], source, 0, !changed, true};
        MRS_TRY(mrsi_step_outputs_admit(&sp->sides, w, &j->lists, &c, &doc, &write, e));
        if (!write && phase == MRSI_IDS_APPLY) { /* another document has its place: it has left the collection */
            mrsi_row(w, sp->step, side)->dropped++;
            mrsi_row(w, sp->step, side)->placed--;
        }
    }
    if (!write) {
        return MRS_OK;
    }
    if (sp->sides.wr_of[side] == MRSI_NONE) { /* only read: it stays in place */
        mrsi_row(w, sp->step, side)->after++;
        return MRS_OK;
    }
    return mrsi_step_outputs_write(&sp->sides, w, j->out, side, doc, e);
}

static enum mrs_status
put_made(struct spread *sp, struct mrsi_worker *w, struct spread_job *j, uint64_t source, uint32_t no,
         const struct mrs_product *p, bool moved, struct mrs_err *e)
{
    MRS_ASSERT(p->side >= 0);
    uint32_t side = (uint32_t)p->side;
    struct mrsi_row *row = mrsi_row(w, sp->step, side);
    struct mrsi_candidate c = {sp->en->side[sp->step][side], source, no, false, p->made};
    struct mrs_view doc = p->doc;
    bool write;
    enum mrs_status s = mrsi_step_outputs_admit(&sp->sides, w, &j->lists, &c, &doc, &write, e);
    if (s != MRS_OK || !write) {
        return s;
    }
    if (moved) {
        row->entered++;
    } else {
        row->created++;
    }
    return mrsi_step_outputs_write(&sp->sides, w, j->out, side, doc, e);
}

/* Writes all products, if no document needs separate treatment. */
static enum mrs_status
put_all(struct spread *sp, struct mrsi_worker *w, struct spread_job *j, const void *work, bool moved, struct mrs_err *e)
{
    struct mrs_products all = sp->ops->all(work);
    struct mrsi_row *row = mrsi_row(w, sp->step, (uint32_t)all.side);
    uint64_t n;
    enum mrs_status s = mrsi_step_outputs_write_all(&sp->sides, w, &j->lists, j->out, &all, &n, e);
    if (moved) {
        row->entered += n;
    } else {
        row->created += n;
    }
    return s;
}

static enum mrs_status
products(struct spread *sp, struct mrsi_worker *w, struct spread_job *j, void *work, uint64_t source,
         enum mrs_fate fate, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    uint32_t no = sp->st->desc.new_ids; /* the source itself is then number 0 */
    uint64_t eased = w->ctx.eased;      /* fused steps begin their own */
    if (sp->ops->all && sp->sides.ids.phase == MRSI_IDS_OPTIMISTIC) {
        mrsi_eased(mrsi_row(w, sp->step, sp->side), eased, doc);
        return put_all(sp, w, j, work, fate == MRS_FATE_TAKEN, e);
    }
    for (;;) {
        struct mrs_product p;
        enum mrs_status s = sp->ops->next(sp->st->state, &w->ctx, work, &p);
        eased |= w->ctx.eased;
        if (s == MRS_END) {
            mrsi_eased(mrsi_row(w, sp->step, sp->side), eased, doc);
            return MRS_OK;
        }
        if (s != MRS_OK) {
            return mrsi_kernel_failed(w, s, e);
        }
        if (p.self) {
            mrsi_row(w, sp->step, sp->side)->changed += sp->st->desc.new_ids && mrsi_differ(doc, p.doc);
            s = fate == MRS_FATE_CHANGED ? put_self(sp, w, j, source, p.doc, true, e) : MRS_OK;
        } else {
            s = put_made(sp, w, j, source, no++, &p, fate == MRS_FATE_TAKEN, e);
        }
        if (s != MRS_OK) {
            return s;
        }
    }
}

/* Starts a rejected source: finds the document that has a duplicate among its products. */
static enum mrs_status
clash(const struct spread *sp, struct mrsi_worker *w, void *work, const struct mrsi_rejected *b, struct mrs_err *e)
{
    struct mrs_product p;
    bool own = sp->st->desc.new_ids;
    uint32_t no = own;
    enum mrs_status s;
    while ((s = sp->ops->next(sp->st->state, &w->ctx, work, &p)) == MRS_OK) {
        if (p.self ? own && b->product == 0 : no++ == b->product) {
            break;
        }
    }
    if (s < MRS_OK) {
        return mrsi_kernel_failed(w, s, e);
    }
    return mrsi_step_outputs_clash(&sp->sides, w, b, s == MRS_OK ? mrs_doc_get(p.doc, "_id") : mrs_missing(),
                                   "conflicts",
                                   "several documents would have the same _id", e);
}

static enum mrs_status
refuse(struct spread *sp, struct mrsi_worker *w, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_row *row = mrsi_row(w, sp->step, sp->side);
    row->created += sp->from != NULL;
    row->refused++;
    return mrsi_refuse(w, sp->step, sp->side, sp->en->side[sp->step][sp->side], ordinal, doc, e);
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *job, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct spread *sp = arg;
    struct spread_job *j = job;
    void *work = mrsi_work_of(w, sp->step, e);
    uint64_t source = mrsi_source(sp->side, ordinal);
    struct mrsi_row *row = mrsi_row(w, sp->step, sp->side);
    enum mrs_fate fate = MRS_FATE_STAYS;
    if (!work) {
        return MRS_DEAD;
    }
    row->before += sp->from == NULL;
    mrs_err_clear(&w->err);
    mrsi_remarks_begin(w);
    mrsi_pattern_fields_at(w, sp->step);
    enum mrs_status s = sp->ops->begin(sp->st->state, &w->ctx, work, (int)sp->side, doc, &fate);
    const struct mrsi_rejected *rejected = mrsi_step_outputs_rejected(&sp->sides, source);
    row->patterns |= w->ctx.matched;
    if (s == MRS_OK && rejected && (s = clash(sp, w, work, rejected, e)) != MRS_SKIP) {
        return s;
    }
    if (s == MRS_SKIP) {
        return refuse(sp, w, ordinal, doc, e);
    }
    if (s != MRS_OK) {
        return mrsi_kernel_failed(w, s, e);
    }
    mrsi_remark(row, w->ctx.remarks);
    row->taken += fate == MRS_FATE_TAKEN;
    if (fate == MRS_FATE_TAKEN && sp->ops->loses) {
        mrsi_lost_check(w, sp->step, sp->side, doc);
    }
    row->dropped += fate == MRS_FATE_DROPPED;
    if (fate == MRS_FATE_STAYS) {
        uint64_t eased = w->ctx.eased;
        s = put_self(sp, w, j, source, doc, false, e);
        w->ctx.eased = eased;
        if (sp->st->desc.family == MRS_FAMILY_MAP) {
            mrsi_eased(row, eased, doc);
        }
        if (s != MRS_OK || sp->st->desc.family == MRS_FAMILY_MAP) {
            return s;
        }
    }
    return products(sp, w, j, work, source, fate, doc, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct spread *sp = arg;
    struct spread_job *j = job;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, &sp->en->coll[sp->en->side[sp->step][sp->side]], j->part, &j->block);
    return mrsi_cursor_each(&cur, one_document, sp, w, j, e);
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct spread *sp = arg;
    struct spread_job *j = job;
    enum mrs_status s = mrsi_refused_commit(w, e);
    MRS_THEN(s, mrsi_step_outputs_take(&sp->sides, &j->lists, e));
    return s == MRS_OK ? mrsi_step_outputs_commit(&sp->sides, j->out, e) : s;
}

static void
clear(void *arg, void *job)
{
    struct spread *sp = arg;
    struct spread_job *j = job;
    if (j->out) {
        mrsi_step_outputs_outs_free(&sp->sides, j->out);
        mrs_block_clear(&j->block);
        mrsi_lists_clear(&j->lists);
    }
}

static enum mrs_status
read_sources(struct spread *sp, struct mrs_err *e)
{
    struct mrsi_pipe p = {sp->en, sizeof(struct spread_job), fetch, work, commit, clear, sp};
    struct mrsi_pass *pass = &sp->pass;
    enum mrs_status s = MRS_OK;
    if (sp->from) {
        pass->from = mrs_empty_doc();
        return mrsi_pipe_run_marked(&p, pass, e);
    }
    for (uint32_t i = sp->side; s == MRS_OK && i < sp->st->desc.n_sides; i++) {
        if (sp->st->desc.sides[i].role & MRS_ROLE_MAIN) {
            sp->side = i;
            s = mrsi_pass_scan(pass, &p, &sp->en->coll[sp->en->side[sp->step][i]], &sp->scan, e);
        }
    }
    return s;
}

static enum mrs_status
open_writers(struct spread *sp, struct mrs_err *e)
{
    /* also sources that are only read: they lose refused documents */
    const unsigned written = MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_ADD | MRS_ROLE_MAIN;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < sp->st->desc.n_sides; i++) {
        if (sp->st->desc.sides[i].role & written) {
            s = mrsi_step_outputs_open(&sp->sides, i, e);
        }
    }
    return s;
}

/* ---- savepoints ---- */
static enum mrs_status
save(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct spread *sp = arg;
    mrs_build_i64(b, "side", sp->side);
    mrsi_save_log("logged", sp->log, b);
    enum mrs_status s = mrsi_step_outputs_save(&sp->sides, b, files, e);
    return s == MRS_OK && sp->from ? sp->from->save(sp->from->arg, b, files, e) : s;
}

/* Restores everything but the position of the pass, which follows. */
static enum mrs_status
resume(struct spread *sp, struct mrs_err *e)
{
    bool bad = false;
    struct mrs_view saved = sp->pass.from;
    sp->side = (uint32_t)mrsi_state_number(saved, "side", sp->st->desc.n_sides - 1, &bad);
    sp->log = mrsi_load_log(saved, "logged", &bad);
    if (bad) {
        return mrsi_state_damaged("the step", e);
    }
    enum mrs_status s = mrsi_pass_load(&sp->pass, e);
    MRS_THEN(s, mrsi_step_outputs_load(&sp->sides, saved, e));
    return s == MRS_OK && sp->from ? sp->from->resume(sp->from->arg, saved, e) : s;
}

/* ---- passes ---- */
/* In the current phase of ids. */
static enum mrs_status
begin_pass(void *arg, struct mrs_err *e)
{
    struct spread *sp = arg;
    if (sp->from) {
        sp->from->rewind(sp->from->arg);
    }
    sp->side = 0;
    return mrsi_step_outputs_begin(&sp->sides, sp->log, sp->sides.ids.phase != MRSI_IDS_OPTIMISTIC, e);
}

static enum mrs_status
one_pass(void *arg, struct mrs_err *e)
{
    struct spread *sp = arg;
    enum mrs_status s = mrsi_step_outputs_existing(&sp->sides, false, sp->sides.ids.phase == MRSI_IDS_APPLY, e);
    return s == MRS_OK ? read_sources(sp, e) : s;
}

/* From a savepoint, or from the start. */
static enum mrs_status
begin(struct spread *sp, struct mrs_err *e)
{
    sp->pass = (struct mrsi_pass){.en = sp->en, .kind = "step", .wr = sp->sides.wr, .save = save, .arg = sp};
    sp->sides.pass = &sp->pass;
    mrsi_ckpt_savepoint_for(&sp->pass);
    enum mrs_status s = MRS_OK;
    if (sp->from && !mrsi_pass_is_resumed(&sp->pass)) {
        s = sp->from->begin(sp->from->arg, e);
    }
    sp->log = mrsi_refused_position(sp->en);
    MRS_THEN(s, open_writers(sp, e));
    sp->pass.n_wr = sp->sides.n_wr;
    if (s != MRS_OK) {
        return s;
    }
    return mrsi_pass_is_resumed(&sp->pass) ? resume(sp, e) : begin_pass(sp, e);
}

enum mrs_status
mrsi_spread_stream(struct mrsi_engine *en, uint32_t step, const struct mrsi_stream *from, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_step *st = &en->plan->steps[step];
    struct spread sp = {.en = en, .step = step, .st = st, .ops = st->type->spread, .from = from};
    enum mrs_status s = mrsi_step_outputs_init(&sp.sides, en, step, e);
    MRS_THEN(s, begin(&sp, e));
    MRS_THEN(s, mrsi_ids_rounds(&sp.sides.ids, &(struct mrsi_rounds){begin_pass, one_pass, &sp, &sp.pass}, e));
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
    }
    return mrsi_step_outputs_end(&sp.sides, s, e);
}

enum mrs_status
mrsi_spread_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    return mrsi_spread_stream(en, step, NULL, e);
}

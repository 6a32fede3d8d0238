/* SPDX-License-Identifier: Apache-2.0 */
/* document_steps.c - passes documents through one-document steps.
 *
 * Several of them in a row cost one pass: the output view of one step is the input of the next; each step keeps its
 * result in its own per-worker memory until its next document. */
#include "pass.h"
#include "run/notices/pattern_fields.h"
#include "run/notices/unknown_paths.h"
#include "mongoreshape/spread_ops.h"

void *
mrsi_work_of(struct mrsi_worker *w, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < w->en->plan->n_steps);
    if (!w->work[step]) {
        const struct mrs_step_type *t = w->en->plan->steps[step].type;
        size_t n = t->work_size;
        w->work[step] = mrs_zalloc(w->en->mem, n ? n : 1);
        if (!w->work[step]) {
            mrs_err_memory(e, n);
        }
    }
    return w->work[step];
}

static void
clear_work(struct mrsi_worker *w, uint32_t step)
{
    const struct mrs_step_type *t = w->en->plan->steps[step].type;
    if (w->work[step] && t->work_clear) {
        t->work_clear(&w->ctx, w->work[step]);
    }
    mrs_free(w->en->mem, w->work[step]);
    w->work[step] = NULL;
}

void
mrsi_worker_release(struct mrsi_worker *w)
{
    for (uint32_t i = 0; w->work && i < w->en->plan->n_steps; i++) {
        clear_work(w, i);
    }
    mrs_arena_clear(&w->arena);
    mrs_buf_clear(&w->scratch);
}

/* A large document has passed list[i]: frees results of steps up to there that are not needed any more. *holder: the
 * step whose memory has the document; MRSI_NONE: none. */
static void
shed(struct mrsi_worker *w, const uint32_t *list, uint32_t i, bool same, uint32_t *holder, struct mrs_arena_mark then)
{
    MRS_ASSERT(*holder == MRSI_NONE || *holder < w->en->plan->n_steps);
    if (same) {
        clear_work(w, list[i]);
    } else {
        if (*holder != MRSI_NONE) {
            clear_work(w, *holder);
        }
        *holder = list[i];
    }
    mrs_arena_release(&w->arena, then);
}

/* One step on one document: OK with *doc replaced, SKIP, or worse. */
static enum mrs_status
map_one(struct mrsi_worker *w, uint32_t step, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(step < w->en->plan->n_steps && mrs_view_is_framed(*doc));
    const struct mrs_step *st = &w->en->plan->steps[step];
    void *work = mrsi_work_of(w, step, e);
    if (!work) {
        return MRS_DEAD;
    }
    enum mrs_fate fate;
    mrs_err_clear(&w->err);
    mrsi_remarks_begin(w);
    mrsi_pattern_fields_at(w, step);
    enum mrs_status s = st->type->spread->begin(st->state, &w->ctx, work, 0, *doc, &fate);
    if (s == MRS_OK && fate == MRS_FATE_CHANGED) {
        struct mrs_product out;
        s = st->type->spread->next(st->state, &w->ctx, work, &out);
        if (s == MRS_OK) {
            *doc = out.doc;
        }
    }
    return s < MRS_SKIP ? mrsi_kernel_failed(w, s, e) : s;
}

static enum mrs_status
each_step(struct mrsi_worker *w, const uint32_t *list, uint32_t n, uint32_t n_quiet, uint32_t coll,
          struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(n_quiet <= n && coll < w->en->n_coll);
    uint32_t holder = MRSI_NONE;
    for (uint32_t i = 0; i < n; i++) {
        struct mrs_view before = *doc;
        struct mrs_arena_mark then = mrs_arena_mark(&w->arena);
        w->first_read = i >= n_quiet;
        if (i >= n_quiet) {
            mrsi_paths_meet(w, w->en->row_of[list[i]][0], before);
        }
        enum mrs_status s = map_one(w, list[i], doc, e);
        if (s != MRS_OK && s != MRS_SKIP) {
            return s;
        }
        if (i >= n_quiet) {
            struct mrsi_row *row = mrsi_row(w, list[i], 0);
            row->before++;
            row->after += s == MRS_OK;
            mrsi_remark(row, s == MRS_OK ? w->ctx.remarks : 0);
            mrsi_eased(row, s == MRS_OK ? w->ctx.eased : 0, before);
            row->patterns |= w->ctx.matched;
            row->changed += s == MRS_OK && mrsi_differ(before, *doc);
            if (s == MRS_SKIP) {
                row->refused++;
                MRS_TRY(mrsi_refuse(w, list[i], 0, coll, UINT64_MAX, before, e));
            }
        }
        if (s == MRS_SKIP) {
            return s;
        }
        if (mrsi_is_large(w->en, before.n)) {
            shed(w, list, i, doc->p == before.p, &holder, then);
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_map_run(struct mrsi_worker *w, const uint32_t *list, uint32_t n, uint32_t n_quiet, uint32_t coll,
             struct mrs_view *doc, struct mrs_err *e)
{
    bool counts = w->first_read;
    enum mrs_status s = each_step(w, list, n, n_quiet, coll, doc, e);
    w->first_read = counts;
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* condition_lists.c - the lists of values that the conditions of a step search.
 *
 * One pass over the collection of each condition, before the step begins: so the lists hold the values from before the
 * step, whatever it does to that collection. A document on which the condition's own `where` fails is refused; only
 * then the collection is rewritten, without it. A list stays until its step is done; for a step that waits at its
 * collection, that is the end of the run. */
#include "condition_lists.h"
#include "run/pass/checkpoint.h"
#include "run/account/account.h"
#include "mongoreshape/condition.h"

struct condition_pass {
    struct mrsi_engine *en;
    uint32_t step;
    const struct mrs_condition *c;
    struct mrsi_value_list *list;
    struct mrsi_row *row; /* row of the account for the list */
    struct mrsi_coll *coll;
    struct mrsi_scan scan;
    struct mrsi_writer wr;
    bool counted; /* the step itself counts the collection's documents */
    bool rewrites;
};
struct condition_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_buf values; /* for each value: 4 bytes of length, its key */
    struct mrs_buf key;
    size_t last;           /* offset of the previous value */
    uint64_t types;
    struct mrsi_out out;
};

static enum mrs_status
fetch(void *arg, void *job, bool *big, struct mrs_err *e)
{
    struct condition_pass *g = arg;
    struct condition_job *j = job;
    if (!j->block.mem) {
        mrs_block_init(&j->block, g->en->mem);
        mrs_buf_init(&j->values, g->en->mem, SIZE_MAX);
        mrs_buf_init(&j->key, g->en->mem, SIZE_MAX);
        mrs_buf_init(&j->out.buf, g->en->mem, SIZE_MAX);
    }
    enum mrs_status s = mrsi_scan_next(&g->scan, &j->block, &j->part, e);
    *big = mrsi_is_large(g->en, j->block.n);
    return s;
}

/* A value equal to the previous one is skipped, for data in the order of the values. */
static enum mrs_status
take_value(void *arg, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct condition_job *j = arg;
    uint8_t len[4];
    if (v.type == MRS_MISSING) {
        return MRS_OK;
    }
    j->types |= mrsi_kind_bit(mrsi_value_kind(v));
    mrs_buf_reset(&j->key);
    mrs_key_append(&j->key, v.type == MRS_UNDEFINED ? mrs_null() : v, false);
    const uint8_t *last = j->values.p + j->last;
    if (!j->key.bad && j->values.n && mrs_le32(last) == j->key.n && memcmp(last + 4, j->key.p, j->key.n) == 0) {
        return MRS_OK;
    }
    j->last = j->values.n;
    mrs_put32(len, (uint32_t)j->key.n);
    mrs_buf_put(&j->values, len, sizeof len);
    mrs_buf_put(&j->values, j->key.p, j->key.n);
    j->values.bad = j->key.bad ? j->key.bad : j->values.bad;
    return j->values.bad ? MRS_DEAD : MRS_OK;
}

static enum mrs_status
refuse(const struct condition_pass *g, struct mrsi_worker *w, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    uint32_t side = (uint32_t)g->c->side;
    struct mrsi_row *row = mrsi_row(w, g->step, side);
    if (g->rewrites) {
        return MRS_OK;
    }
    row->before += g->counted; /* the step will not read it */
    row->refused++;
    return mrsi_refuse(w, g->step, side, g->en->side[g->step][side], ordinal, doc, e);
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *job, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct condition_pass *g = arg;
    struct condition_job *j = job;
    struct mrsi_row *row = mrsi_row(w, g->step, (uint32_t)g->c->side);
    bool counts = !g->counted && !g->rewrites, yes;
    row->before += counts;
    mrs_err_clear(&w->err);
    enum mrs_status s = mrs_condition_takes(g->c, &w->ctx, doc, &yes);
    if (s == MRS_SKIP) {
        return refuse(g, w, ordinal, doc, e);
    }
    if (s != MRS_OK) {
        return mrsi_kernel_failed(w, s, e);
    }
    row->after += counts;
    if (g->rewrites) {
        return mrsi_out_put(&g->wr, w, &j->out, doc, e);
    }
    bool all = !yes || mrs_path_each(&g->c->field, doc, false, take_value, j) == MRS_OK;
    return all ? MRS_OK : mrs_buf_status(&j->values, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct condition_pass *g = arg;
    struct condition_job *j = job;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, g->coll, j->part, &j->block);
    cur.quiet = cur.checked = g->rewrites;
    return mrsi_cursor_each(&cur, one_document, g, w, j, e);
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct condition_pass *g = arg;
    struct condition_job *j = job;
    enum mrs_status s = mrsi_refused_commit(w, e);
    for (size_t at = 0; s == MRS_OK && at < j->values.n;) {
        uint32_t n = mrs_le32(j->values.p + at);
        s = mrsi_value_list_put(g->list, j->values.p + at + 4, n, e);
        at += 4 + (size_t)n;
    }
    g->row->seen |= j->types;
    mrs_buf_reset(&j->values);
    j->last = 0;
    return s == MRS_OK && g->rewrites ? mrsi_writer_commit(&g->wr, &j->out, e) : s;
}

static void
clear(void *arg, void *job)
{
    struct condition_job *j = job;
    (void)arg;
    if (j->block.mem) {
        mrs_block_clear(&j->block);
        mrs_buf_clear(&j->values);
        mrs_buf_clear(&j->key);
        mrs_buf_clear(&j->out.buf);
    }
}

static enum mrs_status
one_pass(struct condition_pass *g, struct mrs_err *e)
{
    struct mrsi_pipe p = {g->en, sizeof(struct condition_job), fetch, work, commit, clear, g};
    return mrsi_pass_scan(NULL, &p, g->coll, &g->scan, e);
}

/* Rewrites the collection without the refused documents. This is never its last version, since the step follows. */
static enum mrs_status
rewrite(struct condition_pass *g, struct mrs_err *e)
{
    g->rewrites = true;
    g->wr = (struct mrsi_writer){.en = g->en, .coll = (uint32_t)(g->coll - g->en->coll)};
    enum mrs_status s = mrsi_ckpt_temp(g->en, &g->wr.temp, e);
    MRS_THEN(s, one_pass(g, e));
    if (s != MRS_OK) {
        mrsi_writer_drop(&g->wr);
        return s;
    }
    return mrsi_writer_close(&g->wr, false, e);
}

/* Does the step count the documents of a side, or did a condition before it? */
static bool
is_counted(const struct mrsi_engine *en, uint32_t step, uint32_t side)
{
    uint32_t i = 0;
    while (en->side[step][i] != en->side[step][side]) {
        i++;
    }
    return i < side;
}

static enum mrs_status
gather_one(struct mrsi_engine *en, uint32_t step, uint32_t i, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_desc *d = &en->plan->steps[step].desc;
    uint32_t side = (uint32_t)d->conditions[i].side;
    struct condition_pass g = {.en = en,
                          .step = step,
                          .c = &d->conditions[i],
                          .list = &en->list[d->first_list + i],
                          .row = &en->rows[en->list_row + d->first_list + i],
                          .coll = &en->coll[en->side[step][side]],
                          .counted = is_counted(en, step, side)};
    uint64_t refused = en->refused_n;
    mrsi_value_list_init(g.list, en);
    mrsi_rows_begin(en);
    enum mrs_status s = one_pass(&g, e);
    MRS_THEN(s, mrsi_value_list_end(g.list, e));
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
        mrsi_coll_counted(g.coll);
        s = en->refused_n > refused ? rewrite(&g, e) : MRS_OK;
    }
    return s;
}

enum mrs_status
mrsi_conditions_gather(struct mrsi_engine *en, uint32_t step, bool *some, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_desc *d = &en->plan->steps[step].desc;
    enum mrs_status s = MRS_OK;
    *some = false;
    for (uint32_t i = 0; s == MRS_OK && i < d->n_conditions; i++) {
        if (!en->list[d->first_list + i].ready) {
            *some = true;
            s = gather_one(en, step, i, e);
        }
    }
    return s;
}

void
mrsi_conditions_done(struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_desc *d = &en->plan->steps[step].desc;
    bool waits = d->family == MRS_FAMILY_MAP && !d->new_ids;
    for (uint32_t i = 0; !waits && i < d->n_conditions; i++) {
        mrsi_value_list_clear(&en->list[d->first_list + i]);
    }
}

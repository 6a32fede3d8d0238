/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_gather.c - merges groups of documents: chooses the surviving document, computes values from all of them, and
 * lists the `_id`s of the others. A second pass sorts members by group, then each group, of any size, is read once. */
#include "rekey_pass.h"

struct rekey_gather_head { /* in a job's list; key and document follow */
    uint32_t key_len, doc_len;
};
struct rekey_gather_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrs_buf list;
    struct mrs_buf failed; /* uint64_t: documents whose sort key failed */
};
enum { NUMBER = 8 }; /* size of an ordinal in a key */

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_gather_job *job = p;
    if (!job->block.mem) {
        mrs_block_init(&job->block, k->en->mem);
        mrs_buf_init(&job->list, k->en->mem, SIZE_MAX);
        mrs_buf_init(&job->failed, k->en->mem, SIZE_MAX);
    }
    mrs_buf_reset(&job->list);
    mrs_buf_reset(&job->failed);
    enum mrs_status s = mrsi_scan_next(&k->scan, &job->block, &job->part, e);
    *big = mrsi_is_large(k->en, job->block.n);
    return s;
}

static void
clear(void *arg, void *p)
{
    struct rekey_gather_job *job = p;
    (void)arg;
    if (job->block.mem) {
        mrs_buf_clear(&job->list);
        mrs_buf_clear(&job->failed);
        mrs_block_clear(&job->block);
    }
}

/* Group, sort key, ordinal. */
static enum mrs_status
put_member(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_gather_job *job, uint64_t ordinal,
           struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(ordinal < k->n && k->wants.merge);
    uint8_t number[NUMBER];
    struct mrs_buf *key = &w->scratch;
    mrs_buf_reset(key);
    mrsi_put_be(number, mrsi_rekey_root(k, ordinal), NUMBER);
    mrs_buf_put(key, number, NUMBER);
    mrs_err_clear(&w->err);
    enum mrs_status s = k->wants.sorted ? k->ops->order(k->st->state, &w->ctx, doc, key) : MRS_OK;
    if (s == MRS_SKIP) {
        mrs_err_clear(&w->err);
        mrs_buf_put(&job->failed, &ordinal, sizeof ordinal);
        return mrs_buf_status(&job->failed, e);
    }
    if (s != MRS_OK) {
        return mrsi_kernel_failed(w, s, e);
    }
    mrsi_put_be(number, ordinal, NUMBER);
    mrs_buf_put(key, number, NUMBER);
    if (key->bad) {
        return mrs_buf_status(key, e);
    }
    struct rekey_gather_head h = {(uint32_t)key->n, k->wants.values ? doc.n : 0};
    mrs_buf_put(&job->list, &h, sizeof h);
    mrs_buf_put(&job->list, key->p, key->n);
    mrs_buf_put(&job->list, doc.p, h.doc_len);
    return mrs_buf_status(&job->list, e);
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    if (ordinal >= k->n) { /* only if the resumed state is wrong */
        return mrsi_state_damaged("the step", e);
    }
    if ((mrsi_fates_get(&k->fates, ordinal) & MRSI_FATE_OUTSIDE) || mrsi_rekey_refused(k, ordinal)) {
        return MRS_OK;
    }
    bool alone = !mrsi_rekey_group(k, ordinal)->several;
    return alone && !k->wants.values && !k->wants.sorted ? MRS_OK : put_member(k, w, p, ordinal, doc, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_gather_job *job = p;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, k->scan.coll, job->part, &job->block);
    cur.quiet = cur.checked = true;
    return mrsi_cursor_each(&cur, one_document, k, w, job, e);
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_gather_job *job = p;
    const uint64_t *failed = (const uint64_t *)(const void *)job->failed.p;
    enum mrs_status s = mrsi_refused_commit(w, e);
    for (size_t i = 0; i < job->failed.n / sizeof *failed; i++) {
        mrsi_fates_add(&k->fates, failed[i], MRSI_FATE_REFUSED);
        __atomic_store_n(&mrsi_rekey_group(k, failed[i])->refused, MRSI_REKEY_MEMBER, __ATOMIC_RELAXED);
    }
    for (size_t at = 0; s == MRS_OK && at < job->list.n;) {
        struct rekey_gather_head h;
        memcpy(&h, job->list.p + at, sizeof h);
        const uint8_t *key = job->list.p + at + sizeof h;
        s = mrsi_sorter_put(&k->members, key, h.key_len, key + h.key_len, h.doc_len, e);
        at += sizeof h + h.key_len + h.doc_len;
    }
    if (job->list.cap > MRSI_BIG) {
        mrs_buf_clear(&job->list);
    }
    return s;
}

/* ---- groups in order ---- */
struct rekey_walk {
    struct mrsi_rekey_run *k;
    struct mrsi_worker *w;
    void *work;
    struct mrs_buf values, olds; /* for the current group */
    uint64_t root;               /* root + 1; 0: no current group */
    uint32_t n_olds;
    bool failed;                 /* w->err has the reason */
    bool refused;                /* one of its documents is refused, so the group is skipped */
};

/* Refuses the group: the reason replaces its gains. */
static enum mrs_status
note_reason(struct rekey_walk *x, struct mrsi_rekey_group *g, struct mrs_err *e)
{
    MRS_ASSERT(x->failed && x->root);
    struct mrsi_rekey_run *k = x->k;
    const struct mrs_err *why = &x->w->err;
    struct mrsi_rekey_gain_head h = {(uint32_t)strlen(why->where) + 1, (uint32_t)strlen(why->msg) + 1};
    g->refused = MRSI_REKEY_FAILED;
    g->gain = k->gains.n + 1;
    enum mrs_status s = mrsi_file_array_put_n(&k->gains, &h, sizeof h, e);
    MRS_THEN(s, mrsi_file_array_put_n(&k->gains, why->where, h.values, e));
    return s == MRS_OK ? mrsi_file_array_put_n(&k->gains, why->msg, h.olds, e) : s;
}

static enum mrs_status
note_gain(struct rekey_walk *x, struct mrsi_rekey_group *g, struct mrs_err *e)
{
    MRS_ASSERT(!x->failed && x->root);
    struct mrsi_rekey_run *k = x->k;
    struct mrsi_rekey_gain_head h = {(uint32_t)x->values.n, (uint32_t)x->olds.n};
    if (!h.values && !h.olds) {
        return MRS_OK;
    }
    g->gain = k->gains.n + 1;
    enum mrs_status s = mrsi_file_array_put_n(&k->gains, &h, sizeof h, e);
    MRS_THEN(s, mrsi_file_array_put_n(&k->gains, x->values.p, x->values.n, e));
    return s == MRS_OK ? mrsi_file_array_put_n(&k->gains, x->olds.p, x->olds.n, e) : s;
}

static enum mrs_status
close_olds(struct rekey_walk *x)
{
    if (!x->olds.n && !x->olds.bad) {
        return MRS_OK;
    }
    mrs_buf_byte(&x->olds, 0);
    if (x->olds.bad) {
        return mrs_buf_status(&x->olds, &x->w->err);
    }
    mrs_put32(x->olds.p, (uint32_t)x->olds.n);
    return MRS_OK;
}

static enum mrs_status
close_group(struct rekey_walk *x, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = x->k;
    if (!x->root || x->refused) {
        return MRS_OK;
    }
    struct mrsi_rekey_group *g = (struct mrsi_rekey_group *)k->group.p + (x->root - 1);
    enum mrs_status s = MRS_OK;
    if (!x->failed) {
        s = k->wants.values ? k->ops->group_end(k->st->state, &x->w->ctx, x->work, &x->values) : MRS_OK;
        MRS_THEN(s, close_olds(x));
        x->failed = s == MRS_SKIP || s == MRS_FAIL;
    }
    mrs_arena_reset(&x->w->arena);
    if (x->failed) {
        return note_reason(x, g, e);
    }
    return s != MRS_OK ? mrsi_kernel_failed(x->w, s, e) : note_gain(x, g, e);
}

static enum mrs_status
open_group(struct rekey_walk *x, uint64_t root, uint64_t survivor)
{
    MRS_ASSERT(root < x->k->n && survivor < x->k->n);
    struct mrsi_rekey_run *k = x->k;
    mrs_buf_reset(&x->values);
    mrs_buf_reset(&x->olds);
    mrs_err_clear(&x->w->err);
    x->root = root + 1;
    x->n_olds = 0;
    x->failed = false;
    struct mrsi_rekey_group *g = (struct mrsi_rekey_group *)k->group.p + root;
    g->survivor = survivor + 1;
    x->refused = g->refused;
    return k->wants.values && !x->refused ? k->ops->group_begin(k->st->state, &x->w->ctx, x->work) : MRS_OK;
}

/* Adds an `_id` to the merged ones; too many for a document refuse the group. */
static void
add_old(struct rekey_walk *x, uint64_t ordinal)
{
    MRS_ASSERT(ordinal < x->k->n);
    struct mrs_val id = mrsi_rekey_name(x->k, ordinal);
    char name[12];
    uint32_t n = mrs_index_name(name, x->n_olds++);
    if (!x->olds.n) {
        mrs_buf_put(&x->olds, "\0\0\0\0", 4);
    }
    mrs_buf_byte(&x->olds, id.type);
    mrs_buf_put(&x->olds, name, n + 1);
    mrs_buf_put(&x->olds, id.p, id.n);
}

static enum mrs_status
one_member(struct rekey_walk *x, const struct mrsi_sorted *r, struct mrs_err *e)
{
    MRS_ASSERT(r->key_len >= 2 * NUMBER);
    struct mrsi_rekey_run *k = x->k;
    uint64_t root = mrsi_get_be(r->key, NUMBER), ordinal = mrsi_get_be(r->key + r->key_len - NUMBER, NUMBER);
    bool first = x->root != root + 1;
    enum mrs_status s = MRS_OK;
    if (first) {
        s = close_group(x, e);
        MRS_THEN(s, open_group(x, root, ordinal));
    }
    if (s == MRS_OK && !x->failed && !x->refused && k->wants.values) {
        s = k->ops->group_add(k->st->state, &x->w->ctx, x->work, (struct mrs_view){r->p, r->n});
        mrs_arena_reset(&x->w->arena);
    }
    if (s == MRS_OK && !first && k->wants.olds) {
        add_old(x, ordinal);
    }
    x->failed = x->failed || s == MRS_SKIP;
    return s == MRS_SKIP ? MRS_OK : s == MRS_OK ? MRS_OK : mrsi_kernel_failed(x->w, s, e);
}

static enum mrs_status
walk_groups(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    struct rekey_walk x = {.k = k, .w = &k->en->worker[0]};
    struct mrsi_sorted r;
    enum mrs_status s = mrsi_sorter_rewind(&k->members, e);
    x.work = mrsi_work_of(x.w, k->step, e);
    if (!x.work) {
        return MRS_DEAD;
    }
    mrs_buf_init(&x.values, k->en->mem, SIZE_MAX);
    mrs_buf_init(&x.olds, k->en->mem, MRS_DOC_READ_MAX);
    for (uint64_t i = 0; s == MRS_OK && (s = mrsi_sorter_next(&k->members, &r, e)) == MRS_OK; i++) {
        s = one_member(&x, &r, e);
        MRS_THEN(s, mrsi_rekey_check_interrupt(k, i, e));
    }
    s = s == MRS_END ? close_group(&x, e) : s;
    mrs_buf_clear(&x.values);
    mrs_buf_clear(&x.olds);
    mrsi_sorter_clear(&k->members);
    return s;
}

enum mrs_status
mrsi_rekey_gather(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->wants.merge && k->stage == MRSI_REKEY_DECIDE);
    struct mrsi_pipe p = {k->en, sizeof(struct rekey_gather_job), fetch, work, commit, clear, k};
    enum mrs_status s = mrsi_pass_scan(NULL, &p, &k->en->coll[k->en->side[k->step][0]], &k->scan, e);
    MRS_THEN(s, walk_groups(k, e));
    return s == MRS_OK ? mrsi_file_array_end(&k->gains, e) : s;
}

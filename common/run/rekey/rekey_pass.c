/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_pass.c - runs a rekey step from its first pass to its last; see rekey_pass.h. */
#include "run/pass/drivers.h"
#include "rekey_pass.h"

enum mrs_status
mrsi_rekey_hash(const struct mrsi_rekey_run *k, struct mrs_val v, struct mrs_buf *scratch, struct mrs_hash128 *out,
                struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    mrs_buf_reset(scratch);
    mrs_key_append(scratch, v, false);
    if (scratch->bad) {
        return mrs_buf_status(scratch, e);
    }
    *out = mrs_hash_secret(&k->en->secret, 0, scratch->p, scratch->n);
    return MRS_OK;
}

enum mrs_status
mrsi_rekey_check_interrupt(const struct mrsi_rekey_run *k, uint64_t i, struct mrs_err *e)
{
    MRS_ASSERT(i <= k->n);
    return (i & 0xffff) == 0 ? mrsi_interrupted(k->en, e) : MRS_OK;
}

static void
begin(struct mrsi_rekey_run *k, struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    uint64_t share = en->memory / 16;
    memset(k, 0, sizeof *k);
    k->en = en;
    k->step = step;
    k->st = &en->plan->steps[step];
    k->ops = k->st->type->rekey;
    k->ops->wants(k->st->state, &k->wants);
    mrsi_fates_init(&k->fates, en);
    mrsi_index_init(&k->ids, en, 3 * share);
    mrsi_index_init(&k->fresh, en, 3 * share);
    mrsi_index_init(&k->keys, en, 3 * share);
    mrsi_file_array_init(&k->name_at, en, sizeof(uint64_t), share);
    mrsi_file_array_init(&k->names, en, 1, share);
    mrsi_file_array_init(&k->hashes, en, sizeof(struct mrs_hash128), share);
    mrsi_file_array_init(&k->joins, en, 2 * sizeof(uint64_t), share / 2);
    mrsi_file_array_init(&k->gains, en, 1, share);
    mrsi_sorter_init(&k->members, en, 2 * share);
    k->name_at.kept = k->names.kept = k->hashes.kept = k->joins.kept = k->gains.kept = true;
}

static void
clear(struct mrsi_rekey_run *k)
{
    struct mrsi_file_array *arrays[] = {&k->name_at, &k->names, &k->hashes, &k->joins, &k->gains};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        mrsi_file_array_clear(arrays[i]);
    }
    mrsi_fates_clear(&k->fates);
    mrsi_index_clear(&k->ids);
    mrsi_index_clear(&k->fresh);
    mrsi_index_clear(&k->keys);
    mrsi_sorter_clear(&k->members);
    mrsi_mapped_mem_clear(&k->root);
    mrsi_mapped_mem_clear(&k->group);
    mrsi_mapped_mem_clear(&k->called);
}

/* Offset in names of the new value of references to a document. */
static uint64_t
called(const struct mrsi_rekey_run *k, uint64_t i)
{
    MRS_ASSERT(i < k->n);
    if ((mrsi_fates_get(&k->fates, i) & MRSI_FATE_OUTSIDE) || mrsi_rekey_refused(k, i)) {
        return MRSI_NO_ORDINAL;
    }
    if (k->wants.merge) {
        uint64_t survivor = mrsi_rekey_group(k, i)->survivor;
        if (!survivor || survivor - 1 == i) {
            return MRSI_NO_ORDINAL;
        }
        i = survivor - 1;
    }
    return ((const uint64_t *)(const void *)k->name_at.p)[i];
}

/* So resolving a reference reads one number. */
enum mrs_status
mrsi_rekey_call(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->n == k->name_at.n);
    enum mrs_status s = MRS_OK;
    if (!k->called.p) {
        s = mrsi_mapped_mem_new(&k->called, k->en, k->n * sizeof(uint64_t), k->en->memory / 16, e);
    }
    for (uint64_t i = 0; s == MRS_OK && i < k->n; i++) {
        ((uint64_t *)k->called.p)[i] = called(k, i);
        s = mrsi_rekey_check_interrupt(k, i, e);
    }
    return s;
}

/* Not those that are only sources of a condition. */
enum mrs_status
mrsi_rekey_open(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(!k->pass.n_wr);
    const unsigned written = MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_ADD | MRS_ROLE_MAIN;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < k->st->desc.n_sides; i++) {
        if (k->st->desc.sides[i].role & written) {
            s = mrsi_step_outputs_open(&k->sides, i, e);
        }
    }
    k->pass.wr = k->sides.wr;
    k->pass.n_wr = k->sides.n_wr;
    return s;
}

static enum mrs_status
decide(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->stage == MRSI_REKEY_DECIDE);
    enum mrs_status s = mrsi_rekey_judge(k, e);
    s = s == MRS_OK && k->wants.merge ? mrsi_rekey_gather(k, e) : s;
    MRS_THEN(s, mrsi_rekey_call(k, e));
    return s == MRS_OK ? mrsi_rekey_open(k, e) : s;
}

/* One stage, and the preparation of the next. */
static enum mrs_status
one_stage(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->stage < MRSI_REKEY_DONE);
    enum mrs_status s = MRS_OK;
    switch (k->stage) {
    case MRSI_REKEY_READ:
        s = mrsi_rekey_read(k, e);
        mrsi_rows_accept(k->en);
        k->log = mrsi_refused_position(k->en);
        break;
    case MRSI_REKEY_DECIDE: s = decide(k, e); break;
    case MRSI_REKEY_WRITE:
        s = mrsi_rekey_write(k, e);
        k->now = 1;
        break;
    case MRSI_REKEY_POINT: s = mrsi_rekey_refer(k, e); break;
    case MRSI_REKEY_DONE: break;
    }
    k->stage += s == MRS_OK;
    return s == MRS_OK && k->stage != MRSI_REKEY_DONE ? mrsi_pass_between(&k->pass, e) : s;
}

static enum mrs_status
all_stages(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    enum mrs_status s = mrsi_pass_is_resumed(&k->pass) ? mrsi_rekey_from_mark(k, e) : MRS_OK;
    while (s == MRS_OK && k->stage != MRSI_REKEY_DONE) {
        s = one_stage(k, e);
    }
    return s;
}

enum mrs_status
mrsi_rekey_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    struct mrsi_rekey_run k;
    begin(&k, en, step);
    k.pass = (struct mrsi_pass){.en = en, .kind = "rekey", .save = mrsi_rekey_mark, .arg = &k};
    mrsi_ckpt_savepoint_for(&k.pass);
    enum mrs_status s = mrsi_step_outputs_init(&k.sides, en, step, e);
    k.sides.pass = &k.pass;
    mrsi_rows_begin(en);
    MRS_THEN(s, all_stages(&k, e));
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
        s = mrsi_match_reasons(en, step, NULL, e);
    }
    clear(&k);
    return mrsi_step_outputs_end(&k.sides, s, e);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* join.c - runs a join from its first pass to its last; see join.h. */
#include "run/pass/drivers.h"
#include "join.h"
#include "mongoreshape/join_ops.h"

/* The payloads of from are stored in memory if references use them repeatedly, or if they are small. */
static bool
choose_lookup(const struct mrs_desc *d, uint64_t memory, uint64_t from_bytes)
{
    uint64_t room = memory / 4;
    if (!d->by_reference && room > (32u << 20)) {
        room = 32u << 20;
    }
    return from_bytes * 2 <= room;
}

enum mrs_status
mrsi_join_open_writers(struct mrsi_join_run *j, struct mrs_err *e)
{
    const unsigned written = MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_ADD;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 1; s == MRS_OK && i < j->st->desc.n_sides; i++) { /* from is opened when a document leaves it */
        if (i == 1 || (j->st->desc.sides[i].role & written)) {
            s = mrsi_step_outputs_open(&j->sides, i, e);
        }
    }
    j->pass.n_wr = j->sides.n_wr;
    return s;
}

enum mrs_status
mrsi_join_build_table(struct mrsi_join_run *j, struct mrs_err *e)
{
    const struct mrsi_logged *l = (const struct mrsi_logged *)(const void *)j->log.p;
    enum mrs_status s = mrsi_table_build(&j->table, j->en->mem, l, j->log.n / sizeof *l, e);
    mrs_buf_clear(&j->log);
    mrsi_savepoint_list_clear(&j->log_kept);
    return s;
}

/* ---- read ---- */
static void
choose_algorithm(struct mrsi_join_run *j)
{
    j->n_from_bytes = mrsi_guess_bytes(j->en, &j->en->coll[j->en->side[j->step][0]]);
    j->lookup = choose_lookup(&j->st->desc, j->en->memory, j->n_from_bytes);
    j->hashed[0] = 0;
    j->n_hashed = 1;
    j->far = !j->lookup && j->n_from_bytes <= j->en->memory / 4;
    j->left_over = j->lookup || j->self;
}

/* Memory used while records are distributed: a table of the keys, or open pieces of their partitions. */
static struct mrsi_spill_need
need(uint64_t into_docs, uint64_t from_bytes, uint64_t into_bytes, uint64_t memory)
{
    uint64_t keys = into_docs * sizeof(struct mrsi_logged), quarter = memory / 4;
    return (struct mrsi_spill_need){into_docs, from_bytes, into_bytes, keys < quarter ? 2 * keys : quarter};
}

struct mrsi_spill_layout
mrsi_join_layout(const struct mrsi_join_run *j)
{
    const struct mrsi_engine *en = j->en;
    uint64_t into_bytes = mrsi_guess_bytes(en, &en->coll[en->side[j->step][1]]);
    struct mrsi_spill_need n = need(j->n_into, j->n_from_bytes, into_bytes, en->memory);
    return mrsi_layout_join(en->memory, en->jobs, &n);
}

static enum mrs_status
read_keys(struct mrsi_join_run *j, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (!j->lookup || j->st->desc.n_pairs > 1) {
        s = mrsi_join_read_into_keys(j, e);
    }
    if (s == MRS_OK && !j->lookup) {
        s = j->by_key ? mrsi_by_key_into_end(j, e) : mrsi_join_build_table(j, e);
        struct mrsi_spill_layout l = mrsi_join_layout(j);
        MRS_THEN(s, mrsi_spill_init(&j->spill, j->en, j->n_into, &l, e));
    }
    if (s == MRS_OK && j->by_key) {
        j->far = false;
        j->left_over = true;
    }
    return s;
}

static void
clear_read(struct mrsi_join_run *j)
{
    mrsi_slabs_free(j->en->mem, &j->slabs);
    j->slab_left = 0;
    mrsi_far_clear(j);
    j->mapped_part = 0;
    mrs_buf_clear(&j->left);
    j->n_left = 0;
    mrsi_savepoint_list_clear(&j->left_kept);
    mrsi_savepoint_list_clear(&j->log_kept);
    mrsi_by_key_clear(j);
    mrs_buf_clear(&j->log);
    mrsi_table_clear(&j->table);
    mrsi_fates_clear(&j->fates);
    mrsi_spill_clear(&j->spill);
}

/* Reads both sides again, with fewer pairs in the hash. */
static void
begin_again(struct mrsi_join_run *j)
{
    MRS_ASSERT(j->multi);
    clear_read(j);
    mrsi_fates_init(&j->fates, j->en);
    mrsi_rows_begin(j->en);
    mrsi_refused_rewind(j->en, j->refused);
    choose_algorithm(j);
    j->stage = MRSI_JOIN_KEYS;
}

static enum mrs_status
read_both(struct mrsi_join_run *j, struct mrs_err *e)
{
    MRS_ASSERT(j->stage <= MRSI_JOIN_MEET);
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && j->stage < MRSI_JOIN_MEET) {
        if (j->stage == MRSI_JOIN_KEYS) {
            s = read_keys(j, e);
            j->stage = MRSI_JOIN_FROM;
        }
        MRS_THEN(s, mrsi_join_read_from(j, e));
        if (s == MRS_OK && j->multi) {
            begin_again(j);
        } else {
            j->stage = MRSI_JOIN_MEET;
        }
    }
    if (s == MRS_OK && j->by_key) {
        s = mrsi_by_key_meet(j, e);
    }
    if (s == MRS_OK && j->lookup) {
        return mrsi_join_build_table(j, e);
    }
    mrsi_table_clear(&j->table);
    return s;
}

/* ---- write ---- */
/* Keeps the rows of the reading passes; the writing passes may start over. They overwrite data of the savepoint on
 * disk, so that is replaced first. */
static enum mrs_status
begin_round(struct mrsi_join_run *j, bool restart, struct mrs_err *e)
{
    bool again = restart || j->sides.ids.phase != MRSI_IDS_OPTIMISTIC;
    mrsi_fates_clear_used(&j->fates);
    j->stage = MRSI_JOIN_EMIT;
    j->restart = restart;
    j->pass.n_wr = j->sides.n_wr;
    return mrsi_step_outputs_begin(&j->sides, j->refused, again, e);
}

static enum mrs_status
begin_phase(void *arg, struct mrs_err *e)
{
    MRS_ASSERT(((struct mrsi_join_run *)arg)->stage >= MRSI_JOIN_EMIT);
    return begin_round(arg, false, e);
}

static enum mrs_status
emit_once(struct mrsi_join_run *j, struct mrs_err *e)
{
    MRS_ASSERT(j->stage == MRSI_JOIN_EMIT);
    bool restart = j->restart || j->sides.ids.phase == MRSI_IDS_APPLY;
    enum mrs_status s = mrsi_step_outputs_existing(&j->sides, j->restart, restart, e);
    return s == MRS_OK ? mrsi_join_emit(j, e) : s;
}

/* If from and into are one collection, a document on which `sort` fails also leaves the output; this is known only when
 * another document matches it. */
static enum mrs_status
write_once(void *arg, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    enum mrs_status s = MRS_OK;
    if (j->stage == MRSI_JOIN_EMIT) {
        s = emit_once(j, e);
        while (s == MRS_OK && j->self && mrsi_fates_refuse_unsorted(&j->fates)) {
            s = begin_round(j, true, e);
            MRS_THEN(s, emit_once(j, e));
        }
        j->stage = MRSI_JOIN_SETTLE;
    }
    return s == MRS_OK ? mrsi_settle_from(j, e) : s;
}

/* Runs the reading stages, from the start or a savepoint. */
static enum mrs_status
begin(struct mrsi_join_run *j, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (mrsi_pass_is_resumed(&j->pass)) {
        s = mrsi_join_load(j, e);
    } else {
        memset(j->is_hashed, true, j->st->desc.n_pairs);
        choose_algorithm(j);
        j->refused = mrsi_refused_position(j->en);
    }
    if (s != MRS_OK || j->stage > MRSI_JOIN_MEET) {
        return s;
    }
    s = read_both(j, e);
    if (s == MRS_OK) {
        mrsi_rows_accept(j->en);
        j->refused = mrsi_refused_position(j->en);
        s = mrsi_join_open_writers(j, e);
    }
    return s == MRS_OK ? begin_round(j, false, e) : s;
}

static bool
takes_part(unsigned bits)
{
    return !(bits & (MRSI_FATE_OUTSIDE | MRSI_FATE_REFUSED | MRSI_FATE_UNSORTED));
}

/* Is a document with a failed field placed? */
static bool
has_failed(unsigned bits)
{
    return takes_part(bits) && (bits & MRSI_FATE_TOLERATED) && (bits & MRS_USED_PLACED);
}

/* For the report: did fields fail in placed documents? If from and into are one collection, unmatched ones count, as
 * they are written at the top. */
static bool
count_fates(struct mrsi_join_run *j)
{
    struct mrsi_row *row = &j->en->rows[j->en->row_of[j->step][0]];
    uint64_t counts[MRSI_FATES];
    bool failed = false;
    mrsi_fates_count(&j->fates, counts);
    for (unsigned b = 0; b < MRSI_FATES; b++) {
        bool own = takes_part(b);
        row->matched += b & MRSI_FATE_USED ? counts[b] : 0;
        row->outside += b & MRSI_FATE_OUTSIDE ? counts[b] : 0;
        failed = failed || (has_failed(b) && counts[b]);
        if (own && !j->self) {
            row->noticed[0][MRS_NOTICE_ORPHAN] += b & MRSI_FATE_USED ? 0 : counts[b];
            row->noticed[0][MRS_NOTICE_CUT] += b & MRS_USED_CUT ? counts[b] : 0;
            row->noticed[0][MRS_NOTICE_LEFT] += b & MRS_USED_LEFT ? counts[b] : 0;
        }
    }
    return failed;
}

/* A placed document with a failed field: its payload is made again to find out which fields failed. */
static enum mrs_status
name_failed(void *arg, struct mrsi_worker *w, void *job, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    (void)job;
    if (!has_failed(mrsi_fates_get(&j->fates, ordinal))) {
        return MRS_OK;
    }
    mrs_buf_reset(&w->scratch);
    mrs_err_clear(&w->err);
    mrsi_remarks_begin(w);
    enum mrs_status s = j->ops->payload(j->st->state, &w->ctx, doc, &w->scratch);
    if (s != MRS_OK) { /* only if the flags of a savepoint are damaged */
        return s == MRS_SKIP ? mrsi_state_damaged("what has become of documents", e) : mrsi_kernel_failed(w, s, e);
    }
    mrsi_eased(&j->en->rows[j->en->row_of[j->step][0]], w->ctx.eased, doc);
    return mrs_buf_status(&w->scratch, e);
}

static enum mrs_status
name_all_failed(struct mrsi_join_run *j, struct mrs_err *e)
{
    bool all;
    return mrsi_read_again(j->en, &j->en->coll[j->en->side[j->step][0]], UINT64_MAX, name_failed, j, &all, e);
}

enum mrs_status
mrsi_join_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    const struct mrs_step *st = &en->plan->steps[step];
    struct mrsi_join_run j = {
        .en = en, .step = step, .st = st, .ops = st->type->join, .self = en->side[step][0] == en->side[step][1]};
    if (st->desc.n_pairs > sizeof j.is_hashed) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "step %u: more than %zu pairs in match", st->no,
                           sizeof j.is_hashed);
    }
    mrs_buf_init(&j.log, en->mem, SIZE_MAX);
    mrs_buf_init(&j.slabs, en->mem, SIZE_MAX);
    mrs_buf_init(&j.maps, en->mem, SIZE_MAX);
    mrs_buf_init(&j.left, en->mem, SIZE_MAX);
    mrsi_fates_init(&j.fates, en);
    enum mrs_status s = mrsi_step_outputs_init(&j.sides, en, step, e);
    mrsi_join_savepoints(&j);
    MRS_THEN(s, begin(&j, e));
    MRS_THEN(s, mrsi_ids_rounds(&j.sides.ids, &(struct mrsi_rounds){begin_phase, write_once, &j, &j.pass}, e));
    if (s == MRS_OK) {
        mrsi_rows_accept(en);
    }
    if (s == MRS_OK) {
        s = count_fates(&j) ? name_all_failed(&j, e) : MRS_OK;
        MRS_THEN(s, j.self ? MRS_OK : mrsi_notices_fates(en, step, &j.fates, e));
    }
    MRS_THEN(s, mrsi_notices_name(en, step, e));
    MRS_THEN(s, mrsi_match_reasons(en, step, &j.fates, e));
    clear_read(&j);
    return mrsi_step_outputs_end(&j.sides, s, e);
}

void
mrsi_join_forecast(const struct mrs_desc *d, const struct mrsi_join_size *x, struct mrs_forecast *out)
{
    struct mrsi_spill_need n = need(x->into_docs, x->from_bytes, x->into_bytes, x->memory);
    struct mrsi_spill_layout l = mrsi_layout_join(x->memory, x->jobs, &n);
    out->gathered = x->from_bytes + x->from_docs * (sizeof(struct mrsi_rec) + (d->sorted ? sizeof(uint64_t) : 0));
    out->partitions = l.parts;
    if (choose_lookup(d, x->memory, x->from_bytes) || x->from_bytes <= x->memory / 4) {
        return; /* in memory, or referred to in place */
    }
    out->spilled = out->gathered > l.memory ? out->gathered - l.memory : 0;
    out->by_key = out->spilled && x->into_docs * sizeof(struct mrsi_logged) >= x->memory / 4;
    out->split = out->spilled && out->gathered / l.parts > mrsi_layout_most(x->memory, x->jobs);
    out->disk = out->spilled + (out->by_key ? out->gathered : 0) + (out->split ? out->gathered / l.parts : 0);
}

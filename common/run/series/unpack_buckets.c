/* SPDX-License-Identifier: Apache-2.0 */
/* unpack_buckets.c - makes a collection of the measurements of a time series.
 *
 * One pass over the buckets, in parallel, before the first step that reads them. A bucket may expand a thousandfold, so
 * a worker with much output waits for its turn and writes it in pieces. A damaged bucket ends the run, like any damage,
 * with its position. */
#include "unpack_buckets.h"
#include "mongoreshape/measurements.h"

struct unpack_buckets {
    struct mrsi_engine *en;
    struct mrsi_coll *to;
    struct mrs_series of;
    struct mrsi_scan scan;
    struct mrsi_writer wr;
};
struct unpack_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrsi_out out;
    struct mrs_measurements *m;
};

/* ---- the pass ---- */
static enum mrs_status
fetch(void *arg, void *job, bool *big, struct mrs_err *e)
{
    struct unpack_buckets *u = arg;
    struct unpack_job *j = job;
    if (!j->block.mem) {
        mrs_block_init(&j->block, u->en->mem);
        mrs_buf_init(&j->out.buf, u->en->mem, SIZE_MAX);
    }
    enum mrs_status s = j->m ? MRS_OK : mrs_measurements_new(u->en->mem, &u->of, &j->m, e);
    MRS_THEN(s, mrsi_scan_next(&u->scan, &j->block, &j->part, e));
    *big = s == MRS_OK && mrsi_is_large(u->en, j->block.n);
    return s;
}

/* a sample also limits the measurements */
static void
cut_sample(const struct unpack_buckets *u, struct mrsi_out *out)
{
    uint64_t most = u->en->opts->sample && !u->to->whole ? u->en->opts->sample : UINT64_MAX, docs = 0;
    size_t n = 0;
    if (out->docs <= most - u->wr.docs) {
        return;
    }
    for (; docs < most - u->wr.docs; docs++) {
        n += mrs_le32(out->buf.p + n);
    }
    out->buf.n = n;
    out->docs = docs;
}

static enum mrs_status
write_out(struct unpack_buckets *u, struct mrsi_out *out, struct mrs_err *e)
{
    cut_sample(u, out);
    return mrsi_writer_commit(&u->wr, out, e);
}

/* Like mrsi_out_put, without the limit of a sample. */
static enum mrs_status
write_large(struct unpack_buckets *u, const struct mrsi_worker *w, struct unpack_job *j, struct mrs_err *e)
{
    bool large;
    enum mrs_status s = mrsi_out_await(w, &j->out, &large, e);
    return s == MRS_OK && large ? write_out(u, &j->out, e) : s;
}

/* Writes all measurements of a bucket. OK, or an error of the bucket or of writing. */
static enum mrs_status
unpack(struct unpack_buckets *u, struct mrsi_worker *w, struct unpack_job *j, struct mrs_view bucket, bool *damaged,
       struct mrs_err *e)
{
    struct mrs_view doc;
    enum mrs_status s = mrs_measurements_begin(j->m, bucket, e);
    *damaged = true;
    while (s == MRS_OK && (s = mrs_measurements_next(j->m, &doc, e)) == MRS_OK) {
        s = mrsi_out_put(&u->wr, w, &j->out, doc, e);
        MRS_THEN(s, write_large(u, w, j, e));
        if (s != MRS_OK) {
            *damaged = false;
        }
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct unpack_buckets *u = arg;
    struct unpack_job *j = job;
    struct mrsi_cursor cur;
    struct mrs_view bucket;
    mrsi_cursor_begin(&cur, u->scan.coll, j->part, &j->block);
    for (;;) {
        size_t at = cur.at;
        bool damaged = false;
        enum mrs_status s = mrsi_cursor_next(&cur, w, &bucket, e);
        MRS_THEN(s, unpack(u, w, j, bucket, &damaged, e));
        if (s == MRS_FAIL && damaged) {
            e->byte_off = UINT64_MAX; /* an offset inside the bucket does not help */
            return mrsi_bad_input(mrs_input_at(u->en->in, j->part->in_index), cur.ordinal, j->block.off + at, s, e);
        }
        if (s != MRS_OK) {
            return s == MRS_END ? MRS_OK : s;
        }
    }
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct unpack_job *j = job;
    (void)w;
    return write_out(arg, &j->out, e);
}

static void
clear(void *arg, void *job)
{
    struct unpack_job *j = job;
    (void)arg;
    mrs_measurements_free(j->m);
    if (j->block.mem) {
        mrs_block_clear(&j->block);
        mrs_buf_clear(&j->out.buf);
    }
}

static enum mrs_status
fill(struct mrsi_engine *en, struct mrsi_coll *to, struct mrs_err *e)
{
    MRS_ASSERT(to->of_series && !to->read);
    struct unpack_buckets u = {.en = en, .to = to};
    struct mrsi_pass pass = {.en = en, .kind = "measurements", .wr = &u.wr, .n_wr = 1};
    struct mrsi_pipe p = {en, sizeof(struct unpack_job), fetch, work, commit, clear, &u};
    struct mrsi_coll *buckets = &en->coll[to->buckets];
    bool whole = buckets->whole;
    if (!mrs_series_of(to->cat->options, &u.of)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT, "%s is a time series without a timeField in its options: correct "
                           "its metadata.json first", to->ns);
    }
    snprintf(en->phase_text, sizeof en->phase_text, "measurements of %.100s", to->ns);
    mrsi_tick(en);
    u.wr = (struct mrsi_writer){.en = en, .coll = (uint32_t)(to - en->coll)};
    mrsi_ckpt_savepoint_for(&pass);
    mrsi_rows_begin(en);
    enum mrs_status s = mrsi_pass_is_resumed(&pass) ? mrsi_pass_load(&pass, e) : mrsi_ckpt_temp(en, &u.wr.temp, e);
    buckets->whole = whole || to->whole;
    MRS_THEN(s, mrsi_pass_scan(&pass, &p, buckets, &u.scan, e));
    buckets->whole = whole;
    if (s != MRS_OK) {
        mrsi_writer_drop(&u.wr);
        return s;
    }
    s = mrsi_writer_close(&u.wr, false, e);
    to->read = true;
    return s;
}

enum mrs_status
mrsi_series_unpack(struct mrsi_engine *en, uint32_t step, bool *some, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    enum mrs_status s = MRS_OK;
    *some = false;
    for (uint32_t i = 0; s == MRS_OK && i < en->plan->steps[step].desc.n_sides; i++) {
        struct mrsi_coll *c = &en->coll[en->side[step][i]];
        if (c->of_series && !c->read) {
            *some = true;
            s = fill(en, c, e);
        }
    }
    return s;
}

/* ---- collections of measurements ---- */
static uint32_t
index_of(const struct mrs_cat_coll *cc)
{
    return (uint32_t)(uintptr_t)cc->engine - 1; /* MRSI_NONE: not in the engine */
}

void
mrsi_series_side(struct mrsi_engine *en, const struct mrs_step *st, const struct mrs_coll *name, uint32_t *coll)
{
    struct mrs_cat_coll *cc = mrs_catalog_find(en->cat, name->db, name->coll);
    struct mrs_cat_coll *buckets = cc && cc->exists ? mrs_catalog_buckets(en->cat, cc) : NULL;
    if (!buckets || index_of(buckets) == MRSI_NONE || !mrs_step_measures(st, name)) {
        return;
    }
    uint32_t i = 0;
    while (i < en->n_coll && !(en->coll[i].of_series && en->coll[i].buckets == index_of(buckets))) {
        i++;
    }
    if (i == en->n_coll) {
        struct mrsi_coll *c = &en->coll[en->n_coll++];
        c->ns = cc->coll.ns;
        c->last = cc->coll;
        c->in_index = MRSI_NONE;
        c->cat = cc;
        c->of_series = true;
        c->series = index_of(cc);
        c->buckets = index_of(buckets);
        c->dropped_at = en->plan->n_steps; /* not a collection of the output */
    }
    *coll = i;
}

/* From here on the measurements are the time series. */
static void
replace(struct mrsi_engine *en, uint32_t coll, uint32_t step)
{
    MRS_ASSERT(coll < en->n_coll && en->coll[coll].of_series);
    struct mrsi_coll *c = &en->coll[coll];
    en->coll[c->series].dropped_at = en->coll[c->buckets].dropped_at = step;
    c->dropped_at = MRSI_NONE;
}

void
mrsi_series_played(struct mrsi_engine *en, uint32_t step, const struct mrs_coll *name, uint32_t coll)
{
    MRS_ASSERT(coll < en->n_coll && step < en->plan->n_steps);
    struct mrs_cat_coll *cc = mrs_catalog_find(en->cat, name->db, name->coll);
    if (en->coll[coll].of_series && cc && cc->exists && cc->measured && index_of(cc) != coll) {
        replace(en, coll, step);
        cc->engine = (void *)(uintptr_t)(coll + 1u);
    }
}

/* Has a step that reads the collection refused documents? */
static bool
has_refused(const struct mrsi_engine *en, uint32_t coll)
{
    MRS_ASSERT(coll < en->n_coll);
    for (uint32_t step = 0; step < en->plan->n_steps; step++) {
        for (uint32_t i = 0; i < en->plan->steps[step].desc.n_sides; i++) {
            if (en->side[step][i] == coll && en->rows[en->row_of[step][i]].refused) {
                return true;
            }
        }
    }
    return false;
}

enum mrs_status
mrsi_series_settle(struct mrsi_engine *en, struct mrs_err *e)
{
    for (uint32_t i = 0; i < en->n_coll; i++) {
        struct mrsi_coll *c = &en->coll[i], *series = c->of_series ? &en->coll[c->series] : NULL;
        if (!series || c->dropped_at == MRSI_NONE || series->dropped_at != MRSI_NONE || !has_refused(en, i)) {
            continue;
        }
        if (en->opts->stream) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s: measurements were refused, and a stream cannot change its "
                                                        "buckets any more: write a file or a folder instead of "
                                                        "--stream", c->ns);
        }
        mrs_catalog_measure(en->cat, series->cat);
        c->cat = series->cat;
        c->last = series->last;
        c->touched = true;
        replace(en, i, en->plan->n_steps);
    }
    return MRS_OK;
}

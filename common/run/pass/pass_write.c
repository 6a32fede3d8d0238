/* SPDX-License-Identifier: Apache-2.0 */
/* pass_write.c - the writers of a pass.
 *
 * If no later step except one-document steps uses a collection, its documents go directly to the output file, through
 * those steps (fused); else to a temporary file that becomes a part of the collection. Workers collect bytes for each
 * job (struct mrsi_out); commits append them in order. */
#include "checkpoint.h"
#include "id_check.h"
#include "run/notices/unknown_paths.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/catalogue.h"

static bool
is_final(const struct mrsi_engine *en, uint32_t coll, uint32_t step)
{
    const struct mrsi_coll *c = &en->coll[coll];
    return c->dropped_at == MRSI_NONE && (c->hard == MRSI_NONE || c->hard <= step);
}

/* Steps after `step` that documents written now still have to pass. */
static enum mrs_status
collect_fused(struct mrsi_engine *en, uint32_t coll, uint32_t step, struct mrsi_writer *wr, struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll);
    uint32_t n = en->plan->n_steps;
    wr->fused = mrs_arena_alloc(&en->arena, (n ? n : 1) * sizeof *wr->fused);
    MRS_TRY(mrs_allocated(wr->fused, n, e));
    for (uint32_t i = step + 1; i < n; i++) {
        if (en->plan->steps[i].desc.family == MRS_FAMILY_MAP && en->side[i][0] == coll) {
            wr->fused[wr->n_fused++] = i;
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_metadata_now(struct mrsi_engine *en, const struct mrsi_coll *c, struct mrs_buf *text, struct mrs_err *e)
{
    struct mrs_buf bson;
    mrs_buf_init(&bson, en->mem, MRS_METADATA_MAX);
    mrs_catalog_metadata(c->cat, &bson);
    enum mrs_status s = mrs_buf_status(&bson, e);
    if (s == MRS_OK) {
        struct mrs_view meta = {bson.p, (uint32_t)bson.n};
        mrs_ejson_write(meta, true, text);
        s = mrs_buf_status(text, e);
    }
    mrs_buf_clear(&bson);
    return s;
}

/* The output file; in a dry run only its metadata, for their size. */
static enum mrs_status
open_sink(struct mrsi_engine *en, struct mrsi_coll *c, struct mrs_err *e)
{
    struct mrs_buf text;
    mrs_buf_init(&text, en->mem, MRS_METADATA_MAX);
    enum mrs_status s = mrsi_metadata_now(en, c, &text, e);
    c->meta_bytes = text.n;
    if (s == MRS_OK && en->out) {
        const char *metadata = c->cat->no_metadata ? NULL : (const char *)text.p;
        s = mrs_output_coll(en->out, c->last.db, c->last.coll, metadata, metadata ? text.n : 0, !c->cat->no_data,
                            &c->sink, e);
    }
    mrs_buf_clear(&text);
    return s;
}

enum mrs_status
mrsi_writer_prepare(struct mrsi_engine *en, uint32_t coll, uint32_t step, struct mrsi_writer *wr, struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll && step <= en->plan->n_steps);
    memset(wr, 0, sizeof *wr);
    wr->en = en;
    wr->coll = coll;
    wr->final = is_final(en, coll, step);
    wr->blind = wr->final && en->opts->dry_run;
    return wr->final ? collect_fused(en, coll, step, wr, e) : MRS_OK;
}

enum mrs_status
mrsi_writer_open(struct mrsi_engine *en, uint32_t coll, uint32_t step, struct mrsi_writer *wr, struct mrs_err *e)
{
    MRS_TRY(mrsi_writer_prepare(en, coll, step, wr, e));
    return wr->final ? open_sink(en, &en->coll[coll], e) : mrsi_ckpt_temp(en, &wr->temp, e);
}

static void
count(const struct mrsi_writer *wr, struct mrsi_out *out, const uint8_t *doc, size_t n)
{
    out->docs++;
    if (wr->final && !wr->blind && !out->buf.bad) {
        /* a refused document is not written */
        mrs_docs_add(&out->counted, &wr->en->salt, doc, n);
    }
}

void
mrsi_out_count(const struct mrsi_writer *wr, struct mrsi_out *out, size_t at)
{
    MRS_ASSERT(at <= out->buf.n);
    count(wr, out, out->buf.p + at, out->buf.n - at);
}

/* Writes the n bytes at p for out. */
static enum mrs_status
write_out(struct mrsi_writer *wr, struct mrsi_out *out, const uint8_t *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(wr->coll < wr->en->n_coll);
    enum mrs_status s = MRS_OK;
    if (n && !wr->blind) {
        s = wr->final ? mrs_sink_write_counted(wr->en->coll[wr->coll].sink, p, n, &out->counted, e)
                      : mrsi_temp_append(wr->temp, p, n, wr->bytes, e);
    }
    if (s == MRS_OK && wr->final) {
        mrsi_paths_written(wr->en, wr->coll, p, n);
        s = mrsi_notices_written(wr->en, wr->coll, p, n, e);
        MRS_THEN(s, mrsi_fit_written(wr->en, wr->coll, p, n, e));
    }
    if (s == MRS_OK) {
        wr->bytes += n;
        wr->docs += out->docs;
    }
    out->docs = 0;
    out->counted = (struct mrs_docs){0, 0, {0, 0}};
    return s;
}

enum mrs_status
mrsi_writer_commit(struct mrsi_writer *wr, struct mrsi_out *out, struct mrs_err *e)
{
    enum mrs_status s = write_out(wr, out, out->buf.p, out->buf.n, e);
    if (out->buf.cap > MRSI_BIG) {
        mrs_buf_clear(&out->buf);
    }
    mrs_buf_reset(&out->buf);
    return s;
}

enum mrs_status
mrsi_out_await(const struct mrsi_worker *w, const struct mrsi_out *out, bool *large, struct mrs_err *e)
{
    *large = w->pipe && out->buf.n > MRSI_BIG;
    return !*large || mrsi_pipe_await(w) ? MRS_OK : mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted");
}

static enum mrs_status
write_large(struct mrsi_writer *wr, const struct mrsi_worker *w, struct mrsi_out *out, struct mrs_err *e)
{
    bool large;
    enum mrs_status s = mrsi_out_await(w, out, &large, e);
    return s == MRS_OK && large ? mrsi_writer_commit(wr, out, e) : s;
}

/* Writes a large document in the job's turn, without copying it. */
static enum mrs_status
write_alone(struct mrsi_writer *wr, const struct mrsi_worker *w, struct mrsi_out *out, struct mrs_view doc,
            struct mrs_err *e)
{
    if (!mrsi_pipe_await(w)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted");
    }
    MRS_ASSERT(mrs_view_is_framed(doc));
    enum mrs_status s = mrsi_writer_commit(wr, out, e);
    count(wr, out, doc.p, doc.n);
    return s == MRS_OK ? write_out(wr, out, doc.p, doc.n, e) : s;
}

enum mrs_status
mrsi_out_put(struct mrsi_writer *wr, struct mrsi_worker *w, struct mrsi_out *out, struct mrs_view doc,
             struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    MRS_TRY(write_large(wr, w, out, e));
    if (wr->n_fused) {
        enum mrs_status s = mrsi_map_run(w, wr->fused, wr->n_fused, 0, wr->coll, &doc, e);
        if (s != MRS_OK) {
            return s == MRS_SKIP ? MRS_OK : s;
        }
    }
    if (w->pipe && mrsi_is_large(wr->en, doc.n)) {
        return write_alone(wr, w, out, doc, e);
    }
    size_t at = out->buf.n;
    mrs_buf_put(&out->buf, doc.p, doc.n);
    mrsi_out_count(wr, out, at);
    return out->buf.bad ? mrs_buf_status(&out->buf, e) : MRS_OK;
}

enum mrs_status
mrsi_out_put_all(struct mrsi_writer *wr, struct mrsi_worker *w, struct mrsi_out *out, const uint8_t *p, size_t n,
                 struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (wr->n_fused || n > MRSI_BIG) {
        for (uint32_t some; s == MRS_OK && n; p += some, n -= some) {
            some = mrs_le32(p);
            s = mrsi_out_put(wr, w, out, (struct mrs_view){p, some}, e);
        }
        return s;
    }
    MRS_TRY(write_large(wr, w, out, e));
    size_t at = out->buf.n;
    mrs_buf_put(&out->buf, p, n);
    for (uint32_t some; at < out->buf.n; at += some) {
        some = mrs_le32(out->buf.p + at);
        count(wr, out, out->buf.p + at, some);
    }
    return mrs_buf_status(&out->buf, e);
}

enum mrs_status
mrsi_writer_restart(struct mrsi_writer *wr, struct mrs_err *e)
{
    wr->bytes = wr->docs = wr->copied = 0;
    if (wr->final) {
        mrsi_notices_restart(wr->en, wr->coll);
        mrsi_fit_restart(wr->en, wr->coll);
    }
    struct mrs_sink *sink = wr->final && !wr->blind ? wr->en->coll[wr->coll].sink : NULL;
    return sink ? mrs_sink_restart(sink, e) : MRS_OK;
}

static void
drop_parts(struct mrsi_engine *en, struct mrsi_coll *c)
{
    for (uint32_t i = 0; i < c->n_part; i++) {
        mrsi_temp_drop(en, c->part[i].temp);
    }
    c->n_part = 0;
}

static enum mrs_status
add_part(struct mrsi_engine *en, struct mrsi_coll *c, struct mrsi_temp *t, struct mrs_err *e)
{
    struct mrsi_part *list = mrs_arena_alloc(&en->arena, (c->n_part + 1) * sizeof *list);
    uint32_t *pend = mrs_arena_alloc(&en->arena, (en->plan->n_steps + 1) * sizeof *pend);
    if (!list || !pend) {
        return mrs_err_memory(e, (c->n_part + 1) * sizeof *list);
    }
    if (c->n_part) {
        memcpy(list, c->part, c->n_part * sizeof *list);
    }
    list[c->n_part] = (struct mrsi_part){.in_index = MRSI_NONE, .temp = t, .pend = pend};
    c->part = list;
    c->n_part++;
    return MRS_OK;
}

enum mrs_status
mrsi_writer_close(struct mrsi_writer *wr, bool keep_old, struct mrs_err *e)
{
    MRS_ASSERT(wr->coll < wr->en->n_coll);
    struct mrsi_engine *en = wr->en;
    struct mrsi_coll *c = &en->coll[wr->coll];
    enum mrs_status s = MRS_OK;
    if (wr->final) {
        struct mrs_sink *sink = c->sink;
        c->sink = NULL;
        c->docs = wr->docs;
        c->bytes = wr->bytes;
        c->written = true;
        s = mrs_sink_close(sink, wr->docs, NULL, e);
        drop_parts(en, c);
        return s;
    }
    c->content = true; /* also if documents that are only read were refused: the file has them */
    if (!keep_old) {
        drop_parts(en, c);
    }
    wr->temp->bytes = wr->bytes;
    if (wr->bytes) {
        s = add_part(en, c, wr->temp, e);
    }
    if (!wr->bytes || s != MRS_OK) {
        mrsi_temp_drop(en, wr->temp);
    }
    wr->temp = NULL;
    return s;
}

void
mrsi_writer_drop(struct mrsi_writer *wr)
{
    if (wr->en) {
        mrsi_temp_drop(wr->en, wr->temp);
        wr->temp = NULL; /* an open output file is removed with the whole output */
    }
}

/* ---- all documents of a collection through a writer ---- */
struct pass_write_copy {
    struct mrsi_scan scan;
    struct mrsi_writer *wr;
    struct mrsi_coll *coll;
};
struct copy_job {
    struct mrs_block block;
    const struct mrsi_part *part;
    struct mrsi_out out;
    struct mrs_buf room;
    uint64_t copied;
};

static enum mrs_status
copy_fetch(void *arg, void *job, bool *big, struct mrs_err *e)
{
    struct pass_write_copy *c = arg;
    struct copy_job *j = job;
    if (!j->block.mem) {
        mrs_block_init(&j->block, c->wr->en->mem);
        mrs_buf_init(&j->out.buf, c->wr->en->mem, SIZE_MAX);
        mrs_buf_init(&j->room, c->wr->en->mem, SIZE_MAX);
    }
    enum mrs_status s = mrsi_scan_next(&c->scan, &j->block, &j->part, e);
    *big = mrsi_is_large(c->wr->en, j->block.n);
    return s;
}

/* The cursor's last document before pending steps, which the cursor has counted. */
static enum mrs_status
put_as_read(struct mrsi_out *out, const struct mrsi_cursor *from, struct mrs_view doc, struct mrs_err *e)
{
    struct mrs_docs one = {1, doc.n, from->docs.digest};
    mrs_hash_sum_take(&one.digest, &from->before);
    mrs_docs_sum(&out->counted, &one);
    out->docs++;
    mrs_buf_put(&out->buf, doc.p, doc.n);
    return out->buf.bad ? mrs_buf_status(&out->buf, e) : MRS_OK;
}

static enum mrs_status
copy_work(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct pass_write_copy *c = arg;
    struct copy_job *j = job;
    struct mrsi_cursor cur;
    struct mrs_view doc;
    mrsi_cursor_begin(&cur, c->coll, j->part, &j->block);
    cur.fields = j->part->n_pend && c->wr->en->plan->steps[j->part->pend[0]].type->fields;
    for (;;) {
        enum mrs_status s = mrsi_cursor_next(&cur, w, &doc, e);
        if (s == MRS_END) {
            return MRS_OK;
        }
        if (s == MRS_OK && c->wr->ids) {
            s = mrsi_ids_replace(c->wr->ids, true, c->wr->coll, cur.ordinal, &j->room, &doc, e);
        }
        if (s == MRS_OK) {
            bool as_read = cur.sums && doc.p >= j->block.p && doc.p + doc.n == j->block.p + cur.at;
            as_read = as_read && !c->wr->n_fused && !mrsi_is_large(c->wr->en, doc.n);
            j->copied++;
            s = as_read ? put_as_read(&j->out, &cur, doc, e) : mrsi_out_put(c->wr, w, &j->out, doc, e);
        }
        if (s < MRS_SKIP) {
            return s;
        }
    }
}

static enum mrs_status
copy_commit(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct pass_write_copy *c = arg;
    struct copy_job *j = job;
    enum mrs_status s = mrsi_refused_commit(w, e);
    c->wr->copied += j->copied;
    j->copied = 0;
    return s == MRS_OK ? mrsi_writer_commit(c->wr, &j->out, e) : s;
}

static void
copy_clear(void *arg, void *job)
{
    struct copy_job *j = job;
    (void)arg;
    if (j->block.mem) {
        mrs_block_clear(&j->block);
        mrs_buf_clear(&j->out.buf);
        mrs_buf_clear(&j->room);
    }
}

enum mrs_status
mrsi_copy_through(struct mrsi_engine *en, uint32_t coll, struct mrsi_writer *wr, struct mrsi_pass *pass,
                  struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll);
    struct pass_write_copy c = {.wr = wr, .coll = &en->coll[coll]};
    struct mrsi_pipe p = {.en = en,
                          .job_size = sizeof(struct copy_job),
                          .fetch = copy_fetch,
                          .work = copy_work,
                          .commit = copy_commit,
                          .clear = copy_clear,
                          .arg = &c};
    return mrsi_pass_scan(pass, &p, c.coll, &c.scan, e);
}

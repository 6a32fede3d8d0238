/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_pass.c - savepoints inside a pass in input order: its position, and resuming there.
 *
 * No job is under way when a savepoint is taken: all fetched jobs have been committed. So the position of the next
 * block, the lengths of the written files and the counts of the pass are consistent. */
#include "checkpoint.h"

/* ---- save ---- */
static enum mrs_status
put_rows(struct mrsi_engine *en, struct mrs_build *b, struct mrs_err *e)
{
    struct mrsi_row *sum = mrs_zalloc(en->mem, (en->n_rows + 1) * sizeof *sum);
    MRS_TRY(mrs_allocated(sum, en->n_rows * sizeof *sum, e));
    mrsi_rows_sum(en, sum);
    mrsi_state_put_rows("rows", sum, en->n_rows, b);
    mrsi_state_put_rows("accepted", en->rows, en->n_rows, b);
    mrs_free(en->mem, sum);
    return MRS_OK;
}

static void
put_scan(const struct mrsi_scan *s, struct mrs_build *b)
{
    struct mrs_reader_at at = {0, 0, 0};
    if (s->reader) {
        mrs_reader_where(s->reader, &at);
    }
    mrs_build_open(b, "scan", 4, MRS_DOCUMENT);
    mrs_build_i64(b, "part", s->at_part);
    mrs_build_i64(b, "base", (int64_t)s->base);
    mrs_build_i64(b, "inPart", (int64_t)s->in_part);
    mrs_build_i64(b, "bytes", (int64_t)s->bytes);
    mrs_build_bool(b, "open", s->reader != NULL);
    mrsi_save_place(&at, b);
    mrs_build_close(b);
}

static void
put_writer(const struct mrsi_writer *wr, bool blank, struct mrs_build *b, struct mrs_buf *files)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    mrs_build_item_open(b, MRS_DOCUMENT);
    mrs_build_i64(b, "collection", wr->coll);
    mrs_build_i64(b, "docs", blank ? 0 : (int64_t)wr->docs);
    mrs_build_i64(b, "bytes", blank ? 0 : (int64_t)wr->bytes);
    mrs_build_i64(b, "copied", blank ? 0 : (int64_t)wr->copied);
    mrs_build_i64(b, "file", wr->temp ? wr->temp->no : 0);
    if (wr->temp) {
        mrsi_save_sum(MRSI_SAVEPOINT_DOCS, wr->temp, blank ? 0 : wr->bytes, b);
        mrs_buf_put(files, &wr->temp->no, sizeof wr->temp->no);
    }
    mrs_build_close(b);
}

static enum mrs_status
put_sinks(const struct mrsi_pass *p, struct mrs_build *b, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    mrs_build_open(b, "open", 4, MRS_ARRAY);
    for (uint32_t i = 0; s == MRS_OK && i < p->n_wr; i++) {
        const struct mrsi_writer *wr = &p->wr[i];
        if (wr->final && !wr->blind) {
            mrs_build_item_open(b, MRS_DOCUMENT);
            mrs_build_i64(b, "collection", wr->coll);
            mrs_build_i64(b, "metadata", (int64_t)p->en->coll[wr->coll].meta_bytes);
            s = mrs_sink_mark(p->en->coll[wr->coll].sink, p->blank, b, e);
            mrs_build_close(b);
        }
    }
    mrs_build_close(b);
    return s;
}

enum mrs_status
mrsi_pass_save(const struct mrsi_pass *p, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(p->kind && mrs_buf_is_sound(files));
    struct mrsi_engine *en = p->en;
    mrs_build_text(b, "kind", p->kind, (uint32_t)strlen(p->kind));
    enum mrs_status s = p->save ? p->save(p->arg, b, files, e) : MRS_OK; /* may create a file */
    MRS_THEN(s, mrsi_state_put_progress(en, b, files, e));
    MRS_THEN(s, put_rows(en, b, e));
    if (p->scan) {
        put_scan(p->scan, b);
    }
    mrs_build_open(b, "writers", 7, MRS_ARRAY);
    for (uint32_t i = 0; i < p->n_wr; i++) {
        put_writer(&p->wr[i], p->blank, b, files);
    }
    mrs_build_close(b);
    MRS_THEN(s, put_sinks(p, b, e));
    mrs_build_open(b, "output", 6, MRS_DOCUMENT);
    MRS_THEN(s, mrs_output_describe(en->out, b, e));
    mrs_build_close(b);
    return s;
}

/* ---- load ---- */
static enum mrs_status
resume_scan(const struct mrsi_pass *p, struct mrsi_coll *c, struct mrsi_scan *scan, struct mrs_err *e)
{
    bool bad = false;
    struct mrs_val v = mrs_doc_get(p->from, "scan");
    struct mrs_view d = v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc();
    struct mrs_val open = mrs_doc_get(d, "open");
    mrsi_scan_begin(p->en, c, scan);
    scan->at_part = (uint32_t)mrsi_state_number(d, "part", scan->n_part, &bad);
    scan->base = mrsi_state_number(d, "base", INT64_MAX, &bad);
    uint64_t in_part = mrsi_state_number(d, "inPart", INT64_MAX, &bad);
    scan->bytes = mrsi_state_number(d, "bytes", INT64_MAX, &bad);
    struct mrs_reader_at at = mrsi_load_place(d, &bad);
    if (bad || open.type != MRS_BOOL || (*open.p && (scan->at_part >= scan->n_part || in_part != at.doc))) {
        return mrsi_state_damaged("where the pass stands", e);
    }
    return *open.p ? mrsi_scan_resume(scan, &at, in_part, e) : MRS_OK;
}

static enum mrs_status
apply_writer(struct mrsi_pass *p, struct mrsi_writer *wr, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    bool bad = false;
    uint64_t coll = mrsi_state_number(d, "collection", UINT32_MAX, &bad);
    wr->docs = mrsi_state_number(d, "docs", INT64_MAX, &bad);
    wr->bytes = mrsi_state_number(d, "bytes", INT64_MAX, &bad);
    wr->copied = mrsi_state_number(d, "copied", INT64_MAX, &bad);
    uint32_t no = (uint32_t)mrsi_state_number(d, "file", mrsi_ckpt_next(p->en) - 1, &bad);
    if (bad || coll != wr->coll || (no != 0) != (!wr->final && !wr->blind)) {
        return mrsi_state_damaged("what the pass writes", e);
    }
    if (!no) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_ckpt_reopen(p->en, no, wr->bytes, &wr->temp, e);
    return s == MRS_OK ? mrsi_load_sum(p->en, d, MRSI_SAVEPOINT_DOCS, wr->temp, wr->bytes, e) : s;
}

static enum mrs_status
apply_sink(struct mrsi_pass *p, const struct mrsi_writer *wr, struct mrs_err *e)
{
    bool bad = false;
    struct mrsi_coll *c = &p->en->coll[wr->coll];
    struct mrs_walk w;
    struct mrs_elem at;
    mrs_walk_init(&w, mrsi_state_list(p->from, "open", &bad));
    while (!bad && mrs_walk_next(&w, &at) == 1) {
        struct mrs_view d = mrs_val_view(at.v);
        if (mrsi_state_number(d, "collection", UINT32_MAX, &bad) == wr->coll && !bad) {
            c->meta_bytes = mrsi_state_number(d, "metadata", INT64_MAX, &bad);
            return bad ? mrsi_state_damaged("an open file", e)
                       : mrs_output_coll_again(p->en->out, c->last.db, c->last.coll, d, &c->sink, e);
        }
    }
    return mrsi_state_damaged("an open file is missing", e);
}

enum mrs_status
mrsi_pass_apply_counts(struct mrsi_pass *p, struct mrs_err *e)
{
    struct mrsi_engine *en = p->en;
    mrsi_rows_begin(en);
    enum mrs_status s = mrsi_state_get_progress(en, p->from, e);
    MRS_THEN(s, mrsi_state_get_rows(p->from, "rows", en->worker[0].rows, en->n_rows, e));
    return s == MRS_OK ? mrsi_state_get_rows(p->from, "accepted", en->rows, en->n_rows, e) : s;
}

enum mrs_status
mrsi_pass_load(struct mrsi_pass *p, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(p->from));
    bool bad = false;
    struct mrs_walk w;
    struct mrs_elem at;
    uint32_t n = 0;
    enum mrs_status s = mrsi_pass_apply_counts(p, e);
    mrs_walk_init(&w, mrsi_state_list(p->from, "writers", &bad));
    while (s == MRS_OK && mrs_walk_next(&w, &at) == 1) {
        s = n < p->n_wr ? apply_writer(p, &p->wr[n], mrs_val_view(at.v), e) : MRS_FAIL;
        if (s == MRS_OK && p->wr[n].final && !p->wr[n].blind) {
            s = apply_sink(p, &p->wr[n], e);
        }
        n++;
    }
    return s == MRS_OK && !bad && n == p->n_wr ? MRS_OK : mrsi_state_damaged("what the pass writes", e);
}

static enum mrs_status
begin_scan(struct mrsi_pass *p, struct mrsi_engine *en, struct mrsi_coll *c, struct mrsi_scan *scan, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (mrsi_pass_is_resumed(p) && mrs_doc_get(p->from, "scan").type != MRS_MISSING) {
        s = resume_scan(p, c, scan, e);
    } else {
        mrsi_scan_begin(en, c, scan);
    }
    if (p) {
        p->scan = scan;
        p->from = mrs_empty_doc();
    }
    return s;
}

enum mrs_status
mrsi_pass_scan(struct mrsi_pass *p, const struct mrsi_pipe *pipe, struct mrsi_coll *c, struct mrsi_scan *scan,
               struct mrs_err *e)
{
    enum mrs_status s = begin_scan(p, pipe->en, c, scan, e);
    MRS_THEN(s, mrsi_pipe_run_marked(pipe, p, e));
    mrsi_scan_end(scan);
    if (p) {
        p->scan = NULL;
    }
    return s;
}

enum mrs_status
mrsi_pass_between(struct mrsi_pass *p, struct mrs_err *e)
{
    p->from = mrs_empty_doc();
    return mrsi_ckpt_due(p->en) ? mrsi_ckpt_savepoint(p, e) : MRS_OK;
}

enum mrs_status
mrsi_pass_anew(struct mrsi_pass *p, struct mrs_err *e)
{
    p->from = mrs_empty_doc();
    return mrsi_ckpt_has_savepoint(p->en) || mrsi_ckpt_due(p->en) ? mrsi_ckpt_savepoint_anew(p, e) : MRS_OK;
}

bool
mrsi_pause_is_due(struct mrsi_pause_clock *r, uint64_t bytes)
{
    r->since += bytes;
    if (r->since < mrsi_block_bytes(r->en) && !mrsi_cancelled(r->en)) {
        return false;
    }
    r->since = 0;
    return true;
}

enum mrs_status
mrsi_rest(struct mrsi_pause_clock *r, struct mrs_err *e)
{
    bool cancelled = mrsi_cancelled(r->en); /* before the savepoint, which is then due */
    enum mrs_status s = r->pass ? mrsi_pass_between(r->pass, e) : MRS_OK;
    return s == MRS_OK && cancelled ? mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted") : s;
}

enum mrs_status
mrsi_pause_after(struct mrsi_pause_clock *r, uint64_t bytes, struct mrs_err *e)
{
    return mrsi_pause_is_due(r, bytes) ? mrsi_rest(r, e) : MRS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* residue_write.c - runs the inverse over a complete output, and writes what differs from the input.
 *
 * The inverse plan is parsed from the text that `invert` prints, so that the tested plan is the one that will be run.
 * Its output is in a folder of its own until the comparison ends. The output gets its name only after the residue is on
 * disk.
 *
 * While documents are compared, the forward run takes savepoints: the inverse always gives the same result, so
 * positions in it stay valid even if it was run again. */
#include "mongoreshape/version.h"
#include "run/pass/checkpoint.h"
#include "residue.h"
#include "run/engine/run_engine.h"
#include "mongoreshape/inverse.h"
#include <unistd.h>

struct residue_write_writing {
    struct mrsi_engine *en; /* of the forward run */
    struct mrs_plan *inverse;
    struct mrs_input *out;  /* the forward run's output */
    struct mrs_input *back; /* the inverse's output */
    struct mrs_arena arena;
    struct mrsi_names touched;
    struct mrsi_residue_out file;
    struct mrsi_pass pass;
    struct mrsi_pause_clock pauses;
    bool heading;             /* digests for the head are being computed */
    uint64_t copier;          /* not 0: all records are written, and this process started to copy them to their file */
    uint32_t at;              /* index in touched */
    struct mrsi_digest *head; /* for each of them */
    struct mrsi_docs docs;    /* documents of the current one */
    struct mrsi_residue_coll coll;
    struct mrs_buf scratch, text;
    unsigned listed; /* kinds that the inverse's losses include */
    unsigned kinds;
    bool refused;
    bool there; /* the file is complete and renamed */
};

/* ---- the inverse ---- */
/* An error of the inverse is not an error of the user's plan. */
static void
blame_inverse(const struct residue_write_writing *w, enum mrs_status s, struct mrs_err *e)
{
    if (s == MRS_FAIL && e->code == MRS_E_PLAN) {
        struct mrs_err why = *e;
        mrs_err_clear(e);
        mrs_err_set(e, s, MRS_E_PLAN, "the inverse of this plan cannot be run, so that no residue can be kept: %s",
                    w->inverse && w->inverse->n_errors ? w->inverse->errors[0].msg : why.msg);
    }
}

static enum mrs_status
load_inverse(struct residue_write_writing *w, struct mrs_err *e)
{
    const struct mrs_plan *p = w->en->plan;
    struct mrs_inverse_plan inv;
    struct mrs_buf text;
    mrs_buf_init(&text, w->en->mem, (size_t)1 << 30);
    enum mrs_status s = mrs_plan_invert(p, &inv, e);
    if (s == MRS_OK) {
        mrs_inverse_yaml(&inv, &text);
        s = mrs_buf_status(&text, e);
    }
    for (uint32_t i = 0; i < inv.n_losses; i++) {
        w->listed |= inv.loss[i].kinds;
    }
    struct mrs_plan_opts o = {.file = "the inverse plan",
                              .default_db = mrs_input_only_db(w->out),
                              .now_ms = p->now_ms};
    MRS_THEN(s, mrs_plan_load(w->en->mem, (const char *)text.p, text.n, &o, &w->inverse, e));
    if (s == MRS_OK) {
        w->inverse->may_fit_none = true;
        s = mrs_plan_fit_input(w->inverse, w->out, w->en->opts->cancel, e);
    }
    mrs_inverse_plan_clear(&inv);
    mrs_buf_clear(&text);
    return s;
}

/* ---- records ---- */
static enum mrs_status
put_doc(struct residue_write_writing *w, struct mrs_build *b, enum mrsi_record type, struct mrs_err *e)
{
    struct mrs_view d;
    enum mrs_status s = mrs_build_finish(b, &d, e);
    return s == MRS_OK ? mrsi_residue_put(&w->file, type, d.p, d.n, e) : s;
}

static void
put_text(struct mrs_build *b, const char *name, const char *text)
{
    mrs_build_text(b, name, text, (uint32_t)strlen(text));
}

static enum mrs_status
put_head(struct residue_write_writing *w, struct mrs_err *e)
{
    struct mrs_build b;
    uint8_t room[16];
    char id[33];
    mrs_buf_reset(&w->text);
    mrs_build_init(&b, &w->text);
    mrs_build_i32(&b, "version", MRSI_RESIDUE_VERSION);
    mrsi_state_put_bytes(&b, "secret", w->en->drawn, sizeof w->en->drawn);
    put_text(&b, "tool", MRS_VERSION);
    mrs_plan_id_text(w->en->plan, id);
    put_text(&b, "plan", id);
    mrs_plan_id_text(w->inverse, id);
    put_text(&b, "inverse", id);
    mrs_build_val(&b, "now", 3, mrs_make_i64(room, w->en->plan->now_ms, MRS_DATE));
    mrs_build_open(&b, "touched", 7, MRS_ARRAY);
    for (uint32_t i = 0; i < w->touched.n; i++) {
        mrs_build_item_open(&b, MRS_DOCUMENT);
        put_text(&b, "ns", w->touched.at[i]);
        mrsi_digest_put(&w->head[i], &b);
        mrs_build_close(&b);
    }
    mrs_build_close(&b);
    return put_doc(w, &b, MRSI_HEAD, e);
}

/* *same: the inverse gives the same bytes, or both have none. */
static enum mrs_status
compare_metadata(struct residue_write_writing *w, uint32_t i, uint32_t k, bool *same, struct mrs_err *e)
{
    mrs_buf_reset(&w->scratch);
    enum mrs_status s = mrs_input_metadata_text(w->en->in, i, &w->scratch, e);
    size_t n = w->scratch.n;
    if (s == MRS_OK && k != MRSI_NONE) {
        s = mrs_input_metadata_text(w->back, k, &w->scratch, e);
    }
    bool a = mrs_input_at(w->en->in, i)->meta_path, b = k != MRSI_NONE && mrs_input_at(w->back, k)->meta_path;
    *same = a == b && w->scratch.n == 2 * n && (n == 0 || memcmp(w->scratch.p, w->scratch.p + n, n) == 0);
    w->scratch.n = n; /* the rest: the input's */
    return s;
}

static enum mrs_status
put_coll(struct residue_write_writing *w, const char *ns, uint32_t i, uint32_t k, struct mrs_err *e)
{
    struct mrs_build b;
    bool same = true;
    const struct mrs_input_ns *in = i == MRSI_NONE ? NULL : mrs_input_at(w->en->in, i);
    MRS_TRY(in ? compare_metadata(w, i, k, &same, e) : MRS_OK);
    w->kinds |= same ? 0 : MRS_LOSS_METADATA;
    w->kinds |= (i == MRSI_NONE) != (k == MRSI_NONE) ? MRS_LOSS_COLLECTIONS : 0;
    mrs_buf_reset(&w->text);
    mrs_build_init(&b, &w->text);
    put_text(&b, "ns", ns);
    mrs_build_bool(&b, "there", in != NULL);
    if (in) {
        put_text(&b, "db", in->db);
        put_text(&b, "coll", in->coll);
        mrs_build_bool(&b, "data", in->data_path != NULL);
        mrs_build_bool(&b, "meta", in->meta_path != NULL);
    }
    if (!same) {
        uint8_t head[5] = {0};
        mrs_put32(head, (uint32_t)w->scratch.n);
        mrs_build_raw(&b, (const uint8_t *)"\x05metadata", 10);
        mrs_build_raw(&b, head, sizeof head);
        mrs_build_raw(&b, w->scratch.p, w->scratch.n);
    }
    return put_doc(w, &b, MRSI_COLL, e);
}

/* ---- savepoints ---- */
static enum mrs_status
save(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct residue_write_writing *w = arg;
    mrs_build_i64(b, "heading", w->heading);
    mrs_build_i64(b, "at", w->at);
    mrs_build_i64(b, "found", w->kinds);
    mrs_build_i64(b, "copier", (int64_t)w->copier);
    enum mrs_status s = mrsi_residue_out_save(&w->file, b, files, e);
    if (w->copier) {
        return s;
    }
    if (s == MRS_OK && w->heading) {
        mrsi_docs_save(&w->docs, "docs", b);
        return mrsi_save_bytes(w->en, "heads", w->head, w->touched.n * sizeof *w->head, b, files, e);
    }
    mrs_build_open(b, "coll", 4, MRS_DOCUMENT);
    MRS_THEN(s, mrsi_residue_coll_save(&w->coll, b, files, e));
    mrs_build_close(b);
    return s;
}

static enum mrs_status
apply_heads(struct residue_write_writing *w, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    struct mrs_buf heads;
    mrs_buf_init(&heads, w->en->mem, SIZE_MAX);
    enum mrs_status s = mrsi_load_bytes(w->en, saved, "heads", &heads, e);
    if (s == MRS_OK && heads.n != w->touched.n * sizeof *w->head) {
        s = mrsi_state_damaged("the head of the residue", e);
    } else if (s == MRS_OK) {
        memcpy(w->head, heads.p, heads.n);
    }
    mrs_buf_clear(&heads);
    return s == MRS_OK ? mrsi_docs_load(&w->docs, saved, "docs", e) : s;
}

/* ---- collections ---- */
static enum mrs_status
open_head(struct residue_write_writing *w, struct mrs_err *e)
{
    return mrsi_docs_open(&w->docs, w->en->mem, w->out, mrsi_input_find(w->out, w->touched.at[w->at]), e);
}

/* opened: from the savepoint. */
static enum mrs_status
make_heads(struct residue_write_writing *w, bool opened, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (; s == MRS_OK && w->at < w->touched.n; w->at++) {
        s = opened ? MRS_OK : open_head(w, e);
        opened = false;
        MRS_THEN(s, mrsi_digest_run(&w->head[w->at], &w->en->secret, &w->docs, &w->pauses, e));
        mrsi_docs_close(&w->docs);
        s = s == MRS_END ? MRS_OK : s;
    }
    w->heading = false;
    w->at = 0;
    return s == MRS_OK ? put_head(w, e) : s;
}

static void
begin_coll(struct residue_write_writing *w)
{
    const char *ns = w->touched.at[w->at];
    mrsi_residue_coll_init(&w->coll, w->en, &w->file, &w->pauses);
    w->coll.in = w->en->in;
    w->coll.inverse = w->back;
    w->coll.i = mrsi_input_find(w->en->in, ns);
    w->coll.k = mrsi_input_find(w->back, ns);
}

static enum mrs_status
end_coll(struct residue_write_writing *w, struct mrs_err *e)
{
    struct mrs_build b;
    w->kinds |= w->coll.kinds;
    mrs_buf_reset(&w->text);
    mrs_build_init(&b, &w->text);
    mrs_build_bool(&b, "same", w->coll.same);
    mrsi_digest_put(&w->coll.digest, &b);
    return put_doc(w, &b, MRSI_DONE, e);
}

/* opened: inside a collection. */
static enum mrs_status
put_collections(struct residue_write_writing *w, bool opened, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (; s == MRS_OK && w->at < w->touched.n; w->at++) {
        if (!opened) {
            begin_coll(w);
            s = put_coll(w, w->touched.at[w->at], w->coll.i, w->coll.k, e);
        }
        MRS_THEN(s, mrsi_residue_coll_run(&w->coll, opened, e));
        opened = false;
        MRS_THEN(s, end_coll(w, e));
        mrsi_residue_coll_clear(&w->coll);
    }
    return s;
}

/* ---- the file ---- */
static enum mrs_status
resume(struct residue_write_writing *w, struct mrs_err *e)
{
    bool bad = false;
    struct mrs_view saved = w->pass.from;
    w->heading = mrsi_state_number(saved, "heading", 1, &bad);
    w->at = (uint32_t)mrsi_state_number(saved, "at", w->touched.n, &bad);
    w->kinds = (unsigned)mrsi_state_number(saved, "found", UINT32_MAX, &bad);
    w->copier = mrsi_state_number(saved, "copier", INT64_MAX, &bad);
    bool whole = w->at == w->touched.n && !w->heading;
    enum mrs_status s = bad || whole != (w->copier != 0) || (w->heading && w->at == w->touched.n)
                            ? mrsi_state_damaged("the residue", e)
                            : MRS_OK;
    MRS_THEN(s, mrsi_residue_out_load(&w->file, saved, e));
    if (s != MRS_OK || w->copier) {
        return s;
    }
    if (w->heading) {
        s = open_head(w, e);
        MRS_THEN(s, apply_heads(w, saved, e));
        if (s != MRS_OK) {
            mrsi_docs_close(&w->docs);
        }
        return s;
    }
    begin_coll(w);
    s = mrsi_residue_coll_load(&w->coll, mrsi_savepoint_doc(saved, "coll"), e);
    if (s != MRS_OK) {
        mrsi_residue_coll_clear(&w->coll);
    }
    return s;
}

static enum mrs_status
put_all(struct residue_write_writing *w, struct mrs_err *e)
{
    struct mrs_build b;
    bool opened = mrsi_pass_is_resumed(&w->pass);
    w->heading = true;
    enum mrs_status s = opened ? resume(w, e) : MRS_OK;
    w->pass.from = mrs_empty_doc();
    if (w->copier) {
        return s;
    }
    if (s == MRS_OK && w->heading) {
        s = make_heads(w, opened, e);
        opened = false;
    }
    MRS_THEN(s, put_collections(w, opened, e));
    if (s != MRS_OK) {
        return s;
    }
    mrs_buf_reset(&w->text);
    mrs_build_init(&b, &w->text);
    mrs_build_i64(&b, "records", (int64_t)w->file.records);
    return put_doc(w, &b, MRSI_END, e);
}

/* A resumed run finds the copies: the savepoint has the name of a file before it is created. */
static enum mrs_status
publish(struct residue_write_writing *w, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (!w->copier) {
        w->copier = (uint64_t)getpid();
        s = w->en->keep ? mrsi_ckpt_savepoint(&w->pass, e) : MRS_OK;
    }
    return s == MRS_OK ? mrsi_residue_publish(&w->file, w->en->opts->write_residue, w->copier, e) : s;
}

/* Called when the inverse's output is complete, in `folder`. */
static enum mrs_status
compare_inverse(void *arg, const char *folder, const struct mrs_report *report, struct mrs_err *e)
{
    struct residue_write_writing *w = arg;
    struct mrs_input_opts o = {.unfinished = true};
    w->refused = w->refused || report->refused;
    enum mrs_status s = mrs_input_open(w->en->mem, folder, &o, &w->back, e);
    MRS_THEN(s, put_all(w, e));
    MRS_THEN(s, publish(w, e));
    w->there = s == MRS_OK;
    return s;
}

/* A refused document leaves many kinds of differences: if there are refused documents, one line says that instead. */
/* A time series becomes plain documents if a step removed measurements; its buckets are restored from the residue
 * alone, as MANUAL.md says. */
static unsigned
of_series(const struct mrsi_engine *en)
{
    bool any = false;
    for (uint32_t i = 0; i < en->n_coll; i++) {
        any = any || en->coll[i].of_series;
    }
    return any ? MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS | MRS_LOSS_METADATA | MRS_LOSS_COLLECTIONS : 0;
}

static void
report_residue(struct residue_write_writing *w)
{
    struct mrs_report *r = w->en->report;
    const unsigned by_refusal =
        MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS | MRS_LOSS_ORDER | MRS_LOSS_VALUES | MRS_LOSS_TYPES | MRS_LOSS_PLACES;
    r->residue = w->en->opts->write_residue;
    r->residue_bytes = w->file.bytes;
    r->residue_kinds = w->kinds;
    unsigned beyond = w->kinds & ~(w->listed | of_series(w->en));
    if (w->refused && w->listed & MRS_LOSS_REFUSED) {
        r->residue_kinds |= w->kinds & by_refusal ? MRS_LOSS_REFUSED : 0;
        beyond &= ~by_refusal;
    }
    r->residue_unlisted = beyond;
}

static enum mrs_status
run_back(struct residue_write_writing *w, struct mrs_err *e)
{
    struct mrs_report report;
    struct mrsi_inverse_run r = {.mem = w->en->mem,
                                 .inverse = w->inverse,
                                 .in = w->out,
                                 .opts = w->en->opts,
                                 .input = mrs_output_partial(w->en->out),
                                 .resume = mrsi_ckpt_was_whole(w->en),
                                 .before_publish = compare_inverse,
                                 .arg = w};
    enum mrs_status s = mrsi_inverse_run(&r, &report, e);
    mrs_report_clear(&report);
    return s;
}

enum mrs_status
mrsi_residue_write(struct mrsi_engine *en, struct mrs_err *e)
{
    struct residue_write_writing w = {.en = en, .refused = en->report->refused > 0};
    struct mrs_input_opts o = {.unfinished = true};
    const char *folder = mrs_output_partial(en->out);
    snprintf(en->phase_text, sizeof en->phase_text, "data that the inverse cannot restore");
    w.pass = (struct mrsi_pass){.en = en, .kind = MRSI_CKPT_RESIDUE, .save = save, .arg = &w};
    w.pauses = (struct mrsi_pause_clock){en, &w.pass, 0};
    mrsi_ckpt_savepoint_for(&w.pass);
    mrsi_savepoint_file_begin(&w.file.file, en);
    mrs_arena_init(&w.arena, en->mem);
    mrs_buf_init(&w.scratch, en->mem, MRSI_RESIDUE_MAX);
    mrs_buf_init(&w.text, en->mem, MRSI_RESIDUE_MAX / 2);
    enum mrs_status s = mrs_input_open(en->mem, folder, &o, &w.out, e);
    MRS_THEN(s, load_inverse(&w, e));
    const struct mrsi_residue_way ways[] = {{en->plan, en->in}, {w.inverse, w.out}};
    MRS_THEN(s, mrsi_residue_touched(&w.arena, ways, &w.touched, e));
    w.head = mrs_arena_alloc(&w.arena, (w.touched.n + 1) * sizeof *w.head);
    if (s == MRS_OK && !w.head) {
        s = mrs_err_memory(e, w.touched.n * sizeof *w.head);
    } else if (s == MRS_OK) {
        memset(w.head, 0, w.touched.n * sizeof *w.head);
    }
    MRS_THEN(s, run_back(&w, e));
    blame_inverse(&w, s, e);
    if (s == MRS_OK) {
        report_residue(&w);
    } else if (w.there && !mrs_file_is_stream(en->opts->write_residue)) {
        unlink(en->opts->write_residue);
    }
    mrsi_residue_out_clear(&w.file);
    mrs_input_close(w.back);
    mrs_input_close(w.out);
    mrs_plan_free(w.inverse);
    mrs_buf_clear(&w.scratch);
    mrs_buf_clear(&w.text);
    mrs_arena_clear(&w.arena);
    return s;
}

enum mrs_status
mrsi_residue_is_ours(void *arg, const char *path, bool *ours, struct mrs_err *e)
{
    const struct mrsi_engine *en = arg;
    struct mrs_residue *r = NULL;
    struct mrs_err own;
    mrs_err_clear(&own);
    *ours = false;
    enum mrs_status s = mrs_residue_open(en->mem, path, &r, &own);
    if (s == MRS_OK) {
        bool bad = false;
        size_t n = 0;
        const uint8_t *p = mrsi_state_bytes(mrsi_residue_head(r), "secret", &n, &bad);
        *ours = !bad && n == sizeof en->drawn && memcmp(p, en->drawn, n) == 0;
        mrs_residue_close(r);
    } else if (own.code != MRS_E_FORMAT) {
        *e = own;
        return s;
    }
    return MRS_OK;
}

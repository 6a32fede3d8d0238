/* SPDX-License-Identifier: Apache-2.0 */
/* residue_back.c - runs an inverse plan and adds what it does not restore: the result is the forward run's input, byte
 * for byte.
 *
 * First the input is compared with the digests in the residue, document by document and in order; at the end each
 * collection must have its original digest. All data in between is checked by checksums and lengths.
 *
 * This is a run with checkpoints of its own, in OUT.checkpoint. Its engine has no steps and no collections: it provides
 * files, savepoints and the output. One pass extends from the first read of the input to the final rename, and the
 * inverse run, with its own checkpoints, is in the middle of it. The inverse always gives the same result, so positions
 * in it stay valid even if it was run again. */
#include "mongoreshape/clock.h"
#include "mongoreshape/version.h"
#include "residue.h"
#include "run/engine/run_engine.h"

enum residue_back_stage { CHECK, COLLECTIONS, OTHERS };

struct residue_back_written {
    uint64_t there, docs, bytes;
};
struct backing {
    struct mrsi_engine en;
    struct mrsi_worker worker; /* the only one, without rows */
    struct mrsi_row row;
    struct mrsi_coll coll;     /* the one being written */
    struct mrs_report own;     /* the state in its checkpoints */
    struct mrsi_pass pass;
    struct mrsi_pause_clock pauses;
    struct mrs_residue *r;
    struct mrs_input *back; /* the inverse's output */
    struct mrs_view *touched; /* the list in the head */
    struct residue_back_written *written;  /* for each entry of it */
    uint32_t n_touched;
    struct mrs_arena arena;
    struct mrs_buf text;
    unsigned stage;
    uint32_t at; /* index in the list, or in the inverse's output */
    struct mrsi_docs docs; /* CHECK: the collection being checked */
    struct mrsi_digest digest;
    /* COLLECTIONS */
    bool open;                     /* inside a collection */
    uint64_t record_at, records; /* offset of its record, or the next one, and number of records before it */
    struct mrsi_residue_put put;
    struct mrsi_writer wr;
};

static const char *
text_of(struct mrs_view d, const char *name)
{
    struct mrs_val v = mrs_doc_get(d, name);
    uint32_t n = 0;
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
    return text && n && !memchr(text, 0, n) ? text : NULL;
}

/* ---- check plan and input ---- */
static enum mrs_status
check_plan(const struct backing *x, struct mrs_err *e)
{
    char id[33];
    mrs_plan_id_text(x->en.plan, id);
    struct mrs_view head = mrsi_residue_head(x->r);
    if (mrs_val_is_text(mrs_doc_get(head, "inverse"), id)) {
        return MRS_OK;
    }
    const char *plan = text_of(head, "plan"), *inverse = text_of(head, "inverse");
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN,
                       "%s was made for the plan with id %.32s, the inverse of %.32s, not for this one (%s); "
                       "`mongoreshape invert PLAN -i IN` prints it, with the database that the plan took from its "
                       "input (of a plan that names no server, versions that did not know 8.3 made one of `server: "
                       "\"8.2\"`: write that into it)",
                       x->r->path, inverse ? inverse : "?", plan ? plan : "?", id);
}

static enum mrs_status
list_touched(struct backing *x, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_view list = mrs_val_view(mrs_doc_get(mrsi_residue_head(x->r), "touched"));
    uint32_t most = mrs_doc_count(list) + 1;
    x->touched = mrs_arena_alloc(&x->arena, most * sizeof *x->touched);
    x->written = mrs_arena_alloc(&x->arena, most * sizeof *x->written);
    if (!x->touched || !x->written) {
        return mrs_err_memory(e, most * sizeof *x->written);
    }
    memset(x->written, 0, most * sizeof *x->written);
    for (mrs_walk_init(&w, list); mrs_walk_next(&w, &el) == 1; x->n_touched++) {
        if (el.v.type != MRS_DOCUMENT || !text_of(mrs_val_view(el.v), "ns")) {
            return mrsi_residue_damaged(x->r, "its head is wrong", e);
        }
        x->touched[x->n_touched] = mrs_val_view(el.v);
    }
    return MRS_OK;
}

static const char *
touched_ns(const struct backing *x, uint32_t i)
{
    return text_of(x->touched[i], "ns");
}

static enum mrs_status
open_checked(struct backing *x, struct mrs_err *e)
{
    uint32_t i = mrsi_input_find(x->en.in, touched_ns(x, x->at));
    return mrsi_docs_open(&x->docs, x->en.mem, x->en.in, i, e);
}

/* opened: inside a collection. */
static enum mrs_status
check_one(struct backing *x, bool opened, struct mrs_err *e)
{
    bool order;
    enum mrs_status s = opened ? MRS_OK : open_checked(x, e);
    MRS_THEN(s, mrsi_digest_run(&x->digest, mrsi_residue_secret(x->r), &x->docs, &x->pauses, e));
    mrsi_docs_close(&x->docs);
    if (s < MRS_OK || mrsi_digest_same(&x->digest, x->touched[x->at], &order)) {
        return s == MRS_END ? MRS_OK : s;
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT,
                       order ? "%s holds the documents that %s was made for, but in another order: give the "
                               "output as the run wrote it"
                             : "%s is not as the run left it that wrote %s: other documents are in it",
                       touched_ns(x, x->at), x->r->path);
}

/* Always written to disk, so that a killed inverse run can be resumed. */
static enum mrs_status
check_input(struct backing *x, bool opened, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (; s == MRS_OK && x->at < x->n_touched; x->at++) {
        s = check_one(x, opened, e);
        memset(&x->digest, 0, sizeof x->digest);
        opened = false;
    }
    x->stage = COLLECTIONS;
    x->at = 0;
    x->record_at = x->r->at;
    x->records = x->r->records;
    return s == MRS_OK && x->en.keep ? mrsi_ckpt_savepoint(&x->pass, e) : s;
}

/* ---- restore one collection ---- */
static bool
is_name(const char *ns, const char *db, const char *coll)
{
    size_t n = strlen(db);
    return strncmp(ns, db, n) == 0 && ns[n] == '.' && strcmp(ns + n + 1, coll) == 0 && !mrs_db_wrong(db, n);
}

static enum mrs_status
open_sink(struct backing *x, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_val meta = mrs_doc_get(d, "metadata");
    enum mrs_status s = MRS_OK;
    mrs_buf_reset(&x->text);
    if (meta.type == MRS_BINARY) {
        mrs_buf_put(&x->text, meta.p + 5, meta.n - 5);
        s = mrs_buf_status(&x->text, e);
    } else if (mrsi_residue_is(d, "meta") && x->put.k != MRSI_NONE) {
        s = mrs_input_metadata_text(x->back, x->put.k, &x->text, e);
    }
    mrs_buf_put(&x->text, "", 1);
    MRS_THEN(s, mrs_buf_status(&x->text, e));
    const char *text = mrsi_residue_is(d, "meta") ? (const char *)x->text.p : NULL;
    return s == MRS_OK ? mrs_output_coll(x->en.out, x->coll.last.db, x->coll.last.coll, text, x->text.n - 1,
                                         mrsi_residue_is(d, "data"), &x->coll.sink, e)
                       : s;
}

/* Its file, new, or (opened) from the savepoint. */
static enum mrs_status
begin_collection(struct backing *x, struct mrs_view d, bool opened, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const char *db = text_of(d, "db"), *coll = text_of(d, "coll");
    bool there = mrsi_residue_is(d, "there");
    enum mrs_status s = MRS_OK;
    mrsi_residue_put_init(&x->put, &x->en, x->r);
    x->put.pauses = &x->pauses;
    x->put.inverse = x->back;
    x->put.k = mrsi_input_find(x->back, touched_ns(x, x->at));
    x->put.wr = &x->wr;
    x->wr = (struct mrsi_writer){.en = &x->en, .final = true};
    x->coll = (struct mrsi_coll){.last = {.db = db, .coll = coll}};
    x->written[x->at] = (struct residue_back_written){.there = there};
    if (there && (!db || !coll || !is_name(text_of(d, "ns"), db, coll))) {
        return mrsi_residue_damaged(x->r, "a collection has no name", e);
    }
    if (opened) {
        x->pass.n_wr = there && mrsi_residue_is(d, "data");
        s = mrsi_pass_load(&x->pass, e);
    } else if (there) {
        s = open_sink(x, d, e);
    }
    x->pass.n_wr = x->coll.sink != NULL;
    x->put.sink = x->coll.sink;
    return s == MRS_OK && opened ? mrsi_residue_put_load(&x->put, mrsi_savepoint_doc(x->pass.from, "put"), e) : s;
}

/* Called after its record COLL was read. After an error its file is removed with the whole output. */
static enum mrs_status
put_collection(struct backing *x, bool opened, struct mrs_err *e)
{
    struct mrs_view d;
    enum mrs_status s = mrsi_residue_doc(x->r, &d, e);
    const char *ns = s == MRS_OK ? text_of(d, "ns") : NULL;
    if (s == MRS_OK && (!ns || x->at == x->n_touched || strcmp(ns, touched_ns(x, x->at)) != 0)) {
        s = mrsi_residue_damaged(x->r, "a collection is not in its place", e);
    }
    if (s != MRS_OK) {
        return s;
    }
    s = begin_collection(x, d, opened, e);
    x->pass.from = mrs_empty_doc();
    x->open = true;
    s = s == MRS_OK ? mrsi_residue_put_run(&x->put, opened, e) : s; /* this invalidates the last record read */
    x->open = false;
    x->pass.n_wr = 0;
    mrsi_residue_put_clear(&x->put);
    MRS_THEN(s, mrs_sink_close(x->coll.sink, x->wr.docs, NULL, e));
    x->written[x->at].docs = x->wr.docs;
    x->written[x->at].bytes = x->wr.bytes;
    return s;
}

/* ---- restore all collections ---- */
static bool
is_touched(const struct backing *x, const char *ns)
{
    for (uint32_t i = 0; i < x->n_touched; i++) {
        if (strcmp(touched_ns(x, i), ns) == 0) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
next_record(struct backing *x, enum mrsi_record *type, struct mrs_err *e)
{
    x->record_at = x->r->at;
    x->records = x->r->records;
    enum mrs_status s = mrsi_pause_after(&x->pauses, MRSI_RESIDUE_HEAD, e);
    return s == MRS_OK ? mrsi_residue_next(x->r, type, e) : s;
}

/* opened: inside a collection. */
static enum mrs_status
put_collections(struct backing *x, bool opened, struct mrs_err *e)
{
    enum mrsi_record type = MRSI_END;
    struct mrs_view d;
    int64_t records;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && (s = opened ? mrsi_residue_next(x->r, &type, e) : next_record(x, &type, e)) == MRS_OK &&
           type == MRSI_COLL) {
        s = put_collection(x, opened, e);
        x->at++;
        opened = false;
    }
    s = s == MRS_OK && type != MRSI_END ? mrsi_residue_damaged(x->r, "a record is out of its place", e) : s;
    MRS_THEN(s, mrsi_residue_doc(x->r, &d, e));
    if (s == MRS_OK &&
        (x->at != x->n_touched || !mrs_val_integral(mrs_doc_get(d, "records"), &records) ||
         (uint64_t)records + 1 != x->r->records || x->r->at != x->r->size)) {
        s = mrsi_residue_damaged(x->r, "records are missing, or too many", e);
    }
    x->stage = OTHERS;
    x->at = 0;
    return s;
}

static enum mrs_status
copy_others(struct backing *x, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    x->en.output_pass = x->en.keep ? &x->pass : NULL;
    for (; s == MRS_OK && x->at < mrs_input_count(x->back); x->at++) {
        const struct mrs_input_ns *ns = mrs_input_at(x->back, x->at);
        if (ns->kind == MRS_INPUT_EXTRA || !is_touched(x, ns->ns)) {
            s = mrs_output_copy(x->en.out, x->back, x->at, e);
        }
    }
    x->en.output_pass = NULL;
    return s;
}

static enum mrs_status
commit(struct backing *x, const struct mrs_report *report, struct mrs_err *e)
{
    struct mrs_build b;
    struct mrs_view extra;
    char id[33];
    const struct mrs_run_opts *o = x->en.opts;
    enum mrs_status s = mrsi_ckpt_whole(&x->en, e);
    x->pass.kind = MRSI_CKPT_PUBLISH;
    s = s == MRS_OK && x->en.keep ? mrsi_ckpt_savepoint(&x->pass, e) : s;
    if (s == MRS_OK && o->before_publish) {
        s = o->before_publish(o->before_arg, mrs_output_partial(x->en.out), report, e);
    }
    mrs_buf_reset(&x->text);
    mrs_build_init(&b, &x->text);
    mrs_plan_id_text(x->en.plan, id);
    mrs_build_text(&b, "plan", x->en.plan->name, (uint32_t)strlen(x->en.plan->name));
    mrs_build_text(&b, "planId", id, (uint32_t)strlen(id));
    mrs_build_text(&b, "version", MRS_VERSION, (uint32_t)strlen(MRS_VERSION));
    mrs_build_bool(&b, "residue", true);
    MRS_THEN(s, mrs_build_finish(&b, &extra, e));
    return s == MRS_OK ? mrsi_commit(&x->en, extra, e) : s;
}

/* ---- savepoints ---- */
static enum mrs_status
save(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(files));
    struct backing *x = arg;
    mrs_build_i64(b, "stage", x->stage);
    mrs_build_i64(b, "at", x->at);
    if (x->stage == CHECK) {
        mrsi_state_put_bytes(b, "digest", &x->digest, sizeof x->digest);
        mrsi_docs_save(&x->docs, "docs", b);
        return MRS_OK;
    }
    mrs_build_i64(b, "inMiddle", x->open);
    mrs_build_i64(b, "record", (int64_t)x->record_at);
    mrs_build_i64(b, "records", (int64_t)x->records);
    enum mrs_status s =
        mrsi_save_bytes(&x->en, "written", x->written, x->n_touched * sizeof *x->written, b, files, e);
    if (s == MRS_OK && x->open) {
        mrs_build_open(b, "put", 3, MRS_DOCUMENT);
        s = mrsi_residue_put_save(&x->put, b, files, e);
        mrs_build_close(b);
    }
    return s;
}

static enum mrs_status
damaged(struct mrs_err *e)
{
    return mrsi_state_damaged("what is put back", e);
}

/* Resumes the check of the input. */
static enum mrs_status
apply_check(struct backing *x, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    size_t n;
    const uint8_t *p = mrsi_state_bytes(saved, "digest", &n, &bad);
    if (bad || n != sizeof x->digest || x->at >= x->n_touched) {
        return damaged(e);
    }
    memcpy(&x->digest, p, n);
    enum mrs_status s = mrsi_pass_load(&x->pass, e);
    MRS_THEN(s, open_checked(x, e));
    return s == MRS_OK ? mrsi_docs_load(&x->docs, saved, "docs", e) : s;
}

static enum mrs_status
apply_written(struct backing *x, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    struct mrs_buf bytes;
    mrs_buf_init(&bytes, x->en.mem, SIZE_MAX);
    enum mrs_status s = mrsi_load_bytes(&x->en, saved, "written", &bytes, e);
    if (s == MRS_OK && bytes.n != x->n_touched * sizeof *x->written) {
        s = damaged(e);
    } else if (s == MRS_OK && bytes.n) {
        memcpy(x->written, bytes.p, bytes.n);
    }
    mrs_buf_clear(&bytes);
    return s;
}

/* Resumes the restore, except for the current collection. */
static enum mrs_status
apply_put(struct backing *x, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    bool bad = false;
    x->open = mrsi_state_number(saved, "inMiddle", 1, &bad);
    x->record_at = mrsi_state_number(saved, "record", x->r->size, &bad);
    x->records = mrsi_state_number(saved, "records", INT64_MAX, &bad);
    if (bad || (x->stage == COLLECTIONS ? x->at > x->n_touched : x->open)) {
        return damaged(e);
    }
    x->r->at = x->record_at;
    x->r->records = x->records;
    enum mrs_status s = apply_written(x, saved, e);
    return s == MRS_OK && !x->open ? mrsi_pass_load(&x->pass, e) : s;
}

static enum mrs_status
resume(struct backing *x, struct mrs_err *e)
{
    bool bad = false;
    struct mrs_view saved = x->pass.from;
    x->stage = (unsigned)mrsi_state_number(saved, "stage", OTHERS, &bad);
    x->at = (uint32_t)mrsi_state_number(saved, "at", UINT32_MAX - 1, &bad);
    if (bad) {
        return damaged(e);
    }
    return x->stage == CHECK ? apply_check(x, saved, e) : apply_put(x, saved, e);
}

/* ---- entry point ---- */
/* Called when the inverse's output is complete, in `folder`. */
static enum mrs_status
read_inverse(void *arg, const char *folder, const struct mrs_report *report, struct mrs_err *e)
{
    struct backing *x = arg;
    struct mrs_input_opts o = {.unfinished = true};
    bool opened = x->open;
    snprintf(x->en.phase_text, sizeof x->en.phase_text, "restoring from the residue");
    x->open = false;
    enum mrs_status s = mrs_input_open(x->en.mem, folder, &o, &x->back, e);
    if (s == MRS_OK && !mrsi_ckpt_was_whole(&x->en)) {
        s = x->stage == COLLECTIONS ? put_collections(x, opened, e) : MRS_OK;
        MRS_THEN(s, copy_others(x, e));
    }
    return s == MRS_OK ? commit(x, report, e) : s;
}

static struct mrs_output_opts
output_opts(struct backing *x)
{
    const struct mrs_run_opts *opts = x->en.opts;
    return (struct mrs_output_opts){.pause = {&x->en, mrsi_output_due, mrsi_output_rest},
                                    .compress = opts->compress,
                                    .format = opts->format,
                                    .default_codec = mrs_input_codec(x->en.in),
                                    .force = opts->force,
                                    .input = opts->input,
                                    .like = x->en.in,
                                    .resume = mrsi_ckpt_resumes(&x->en),
                                    .tmp = opts->tmp,
                                    .salt = &x->en.salt};
}

static enum mrs_status
open_output(struct backing *x, struct mrs_err *e)
{
    struct mrs_output_opts o = output_opts(x);
    if (mrs_output_shape(x->en.opts->output, &o).format != MRS_FORMAT_DIRECTORY) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--residue: OUT must be a folder");
    }
    return mrs_output_open(x->en.mem, x->en.opts->output, &o, &x->en.out, e);
}

/* At most the final rename is missing: reports the written files. */
static enum mrs_status
resume_publish(struct backing *x, struct mrs_err *e)
{
    x->pass.kind = MRSI_CKPT_PUBLISH;
    x->stage = OTHERS;
    mrsi_ckpt_savepoint_for(&x->pass);
    return mrsi_pass_is_resumed(&x->pass) ? apply_written(x, x->pass.from, e) : MRS_OK;
}

/* Work up to the inverse run. */
static enum mrs_status
begin(struct backing *x, struct mrs_err *e)
{
    uint32_t step = 0;
    enum mrs_status s = open_output(x, e);
    s = s == MRS_OK && x->en.keep ? mrsi_ckpt_take_up(&x->en, &step, e) : s;
    if (s == MRS_OK && mrsi_ckpt_was_whole(&x->en)) {
        return resume_publish(x, e);
    }
    if (s != MRS_OK) {
        return s;
    }
    mrsi_ckpt_savepoint_for(&x->pass);
    bool resumed = mrsi_pass_is_resumed(&x->pass);
    s = resumed ? resume(x, e) : MRS_OK;
    return s == MRS_OK && x->stage == CHECK ? check_input(x, resumed, e) : s;
}

/* It was killed after the final rename: removes the remains of the inverse run. */
static enum mrs_status
end_published(struct backing *x, struct mrs_report *report, struct mrs_err *e)
{
    uint32_t step;
    enum mrs_status s = mrsi_ckpt_take_up(&x->en, &step, e);
    MRS_THEN(s, resume_publish(x, e));
    MRS_THEN(s, mrsi_inverse_forget(x->en.mem, x->en.opts, e));
    mrsi_inverse_sweep(x->en.mem, x->en.opts);
    for (uint32_t i = 0; i < mrs_input_count(x->en.in); i++) {
        report->in_bytes += mrs_input_at(x->en.in, i)->file_bytes;
    }
    return s;
}

/* The report is that of the inverse run, except for the written files. */
static void
report_written(struct backing *x, struct mrs_report *report)
{
    struct mrs_written *w = mrs_arena_alloc(&report->arena, (x->n_touched + 1) * sizeof *w);
    report->n_written = 0;
    report->out_bytes = 0;
    for (uint32_t i = 0; w && i < x->n_touched; i++) {
        const struct residue_back_written *one = &x->written[i];
        const char *ns = touched_ns(x, i);
        char *name = one->there ? mrs_arena_copy(&report->arena, ns, strlen(ns) + 1) : NULL;
        if (name) {
            w[report->n_written++] = (struct mrs_written){.ns = name, .docs = one->docs, .bytes = one->bytes};
            report->out_bytes += one->bytes;
        }
    }
    report->written = w;
    report->refused = 0; /* the residue contains the documents that the inverse refused */
    report->n_refusal = 0;
    report->sync_ms = x->own.sync_ms;
    report->published = true;
}

/* What is to be done with the output, as after any run. All collections that either plan names may have changed. */
static enum mrs_status
report_restore(struct backing *x, struct mrs_report *report, struct mrs_err *e)
{
    MRS_ASSERT(report->published);
    static const char buckets[] = MRS_BUCKETS;
    const char **drop = mrs_arena_alloc(&report->arena, (x->n_touched + 1) * sizeof *drop);
    MRS_TRY(mrs_allocated(drop, x->n_touched * sizeof *drop, e));
    report->drop_first = drop;
    report->n_drop_first = 0;
    for (uint32_t i = 0; i < x->n_touched; i++) {
        const char *ns = touched_ns(x, i);
        bool hidden = strncmp(ns + strcspn(ns, ".") + 1, buckets, sizeof buckets - 1) == 0;
        const char *name = mrs_arena_copy(&report->arena, ns, strlen(ns) + 1);
        if (!hidden && name && mrsi_input_find(x->en.in, ns) != MRSI_NONE) {
            drop[report->n_drop_first++] = name;
        }
    }
    /* of some database: calls for those with users are not all */
    x->coll = (struct mrsi_coll){.last = {.db = "", .coll = "", .ns = ""}, .written = true};
    x->en.n_coll = 1;
    x->en.report = report;
    struct mrs_output_opts o = output_opts(x);
    x->en.shape = mrs_output_shape(x->en.opts->output, &o);
    return mrsi_put_restore(&x->en, e);
}

static void
make_engine(struct backing *x)
{
    x->en.report = &x->own;
    x->en.jobs = 1;
    x->en.worker = &x->worker;
    x->en.coll = &x->coll;
    x->en.residue = x->r->path;
    x->worker.en = &x->en;
    x->worker.rows = &x->row;
    x->pauses = (struct mrsi_pause_clock){&x->en, &x->pass, 0};
    x->pass = (struct mrsi_pass){
        .en = &x->en, .kind = MRSI_CKPT_BACK, .wr = &x->wr, .save = save, .arg = x, .from = mrs_empty_doc()};
    pthread_mutex_init(&x->en.lock, NULL);
    mrs_arena_init(&x->arena, x->en.mem);
    mrs_arena_init(&x->en.arena, x->en.mem);
    mrs_buf_init(&x->text, x->en.mem, MRS_METADATA_MAX + 16);
    mrs_block_init(&x->docs.b, x->en.mem);
}

static void
clear(struct backing *x)
{
    mrsi_docs_close(&x->docs);
    mrs_output_free(x->en.out);
    mrsi_refused_clear(&x->en); /* nothing is refused here, but a damaged state may name a log */
    mrs_input_close(x->back);
    mrs_buf_clear(&x->text);
    mrs_arena_clear(&x->arena);
    mrs_arena_clear(&x->en.arena);
    pthread_mutex_destroy(&x->en.lock);
}

enum mrs_status
mrs_run_back(struct mrs_mem *mem, struct mrs_plan *inverse, struct mrs_input *in, const struct mrs_run_opts *opts,
             struct mrs_residue *residue, struct mrs_report *report, struct mrs_err *e)
{
    MRS_ASSERT(residue && inverse);
    struct backing x = {.en = mrsi_bare_engine(mem, opts), .r = residue};
    struct mrsi_inverse_run run = {.mem = mem, .inverse = inverse, .in = in, .opts = opts, .input = opts->input,
                                   .before_publish = read_inverse, .arg = &x};
    uint64_t started = mrs_clock_steady();
    memset(report, 0, sizeof *report);
    mrs_arena_init(&report->arena, mem);
    x.en.plan = inverse;
    mrs_salt_make(&x.en.salt, inverse->id);
    x.en.in = in;
    make_engine(&x);
    enum mrs_status s = check_plan(&x, e);
    MRS_THEN(s, mrs_plan_fit_input(inverse, in, opts->cancel, e));
    MRS_THEN(s, mrs_input_watch(in, residue->path, residue->fd, e));
    MRS_THEN(s, list_touched(&x, e));
    MRS_THEN(s, mrsi_ckpt_begin(&x.en, e));
    run.resume = mrsi_ckpt_resumes(&x.en);
    if (s == MRS_OK && mrsi_ckpt_is_published(&x.en)) {
        s = end_published(&x, report, e);
    } else if (s == MRS_OK) {
        s = begin(&x, e);
        MRS_THEN(s, mrsi_inverse_run(&run, report, e));
    }
    if (s == MRS_OK) {
        report_written(&x, report);
        if (report_restore(&x, report, e) != MRS_OK) { /* the output is there, only these words are not */
            mrs_err_clear(e);
        }
    }
    mrsi_ckpt_end(&x.en, s, e);
    report->resumed = x.own.resumed;
    report->anew = x.own.anew;
    report->stopped = x.own.stopped;
    report->wall_ms = mrs_clock_steady() - started;
    clear(&x);
    return s;
}

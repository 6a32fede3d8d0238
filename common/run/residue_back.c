/* residue_back.c - runs an inverse plan and puts back what it does not bring: the forward run's input, byte for byte.
 *
 * First the input must be what the residue was made for, document by document and in order; at the end each collection
 * must have the digest that it had. In between nothing is believed that a checksum or a length does not hold. */
#include "mongoreshape/version.h"
#include "residue.h"

struct backing {
    struct mrs_mem *mem;
    struct mrs_plan *inverse;
    struct mrs_input *in;   /* the forward run's output */
    struct mrs_input *back; /* what the inverse made of it */
    const struct mrs_run_opts *opts;
    struct mrs_residue *r;
    struct mrs_output *out;
    struct mrs_buf text;
    struct mrs_arena arena; /* of what is told at the end */
    struct mrs_written *written;
    uint32_t n_written;
    struct mrs_walk left; /* of the head's list: the collections whose records are to come */
    uint64_t sync_ms;
    /* of the collection being written */
    struct mrs_sink *sink;
    struct mrsi_digest digest;
    uint64_t bytes;
};

static struct mrs_val
touched(const struct mrs_residue *r)
{
    return mrs_doc_get(mrsi_residue_head(r), "touched");
}

static const char *
text_of(struct mrs_view d, const char *name)
{
    struct mrs_val v = mrs_doc_get(d, name);
    uint32_t n = 0;
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
    return text && n && !memchr(text, 0, n) ? text : NULL;
}

static bool
is_true(struct mrs_view d, const char *name)
{
    struct mrs_val v = mrs_doc_get(d, name);
    return v.type == MRS_BOOL && *v.p;
}

/* ---- is it the right plan, and the right input ---- */
static enum mrs_status
check_plan(const struct backing *x, struct mrs_err *e)
{
    char id[33];
    mrs_plan_id_text(x->inverse, id);
    struct mrs_view head = mrsi_residue_head(x->r);
    if (mrs_val_is_text(mrs_doc_get(head, "inverse"), id)) {
        return MRS_OK;
    }
    const char *plan = text_of(head, "plan"), *inverse = text_of(head, "inverse");
    return mrs_err_set(e, MRS_FAIL, MRS_E_PLAN,
                       "%s was made for the plan with id %.32s, the inverse of %.32s, not for this one (%s); "
                       "`mongoreshape invert` prints it",
                       x->r->path, inverse ? inverse : "?", plan ? plan : "?", id);
}

static enum mrs_status
check_input(const struct backing *x, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrsi_digest d;
    struct mrsi_engine en = mrsi_bare_engine(x->mem, x->opts);
    struct mrsi_rests rests = {&en, NULL, 0};
    bool order;
    for (mrs_walk_init(&w, mrs_val_view(touched(x->r))); mrs_walk_next(&w, &el) == 1;) {
        const char *ns = el.v.type == MRS_DOCUMENT ? text_of(mrs_val_view(el.v), "ns") : NULL;
        if (!ns) {
            return mrsi_residue_damaged(x->r, "its head is wrong", e);
        }
        enum mrs_status s = mrsi_digest_of(&d, &rests, x->in, mrsi_input_find(x->in, ns), e);
        if (s != MRS_OK) {
            return s;
        }
        if (!mrsi_digest_same(&d, mrs_val_view(el.v), &order)) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT,
                               order ? "%s holds the documents that %s was made for, but in another order: give the "
                                       "output as the run wrote it"
                                     : "%s is not as the run left it that wrote %s: other documents are in it",
                               ns, x->r->path);
        }
    }
    return MRS_OK;
}

/* ---- one collection ---- */
static enum mrs_status
put(void *arg, struct mrs_view doc, struct mrs_err *e)
{
    struct backing *x = arg;
    mrsi_digest_add(&x->digest, doc);
    x->bytes += doc.n;
    return mrs_sink_write(x->sink, doc.p, doc.n, e);
}

static enum mrs_status
put_same(struct backing *x, uint32_t k, struct mrs_err *e)
{
    struct mrsi_docs docs;
    struct mrs_view doc;
    enum mrs_status s = mrsi_docs_open(&docs, x->mem, x->back, k, e);
    while (s == MRS_OK && (s = mrsi_docs_next(&docs, &doc, e)) == MRS_OK) {
        s = put(x, doc, e);
    }
    mrsi_docs_close(&docs);
    return s == MRS_END ? MRS_OK : s;
}

/* Records up to DONE. The shelf is made for the first that needs it. */
static enum mrs_status
put_docs(struct backing *x, uint32_t k, struct mrs_err *e)
{
    struct mrsi_engine en = mrsi_bare_engine(x->mem, x->opts);
    struct mrsi_shelf shelf = {.fd = -1};
    struct mrsi_unpack u = {.mem = x->mem, .r = x->r, .shelf = &shelf, .put = put, .arg = x};
    enum mrsi_record type = MRSI_DOCS;
    struct mrs_view done;
    bool open = false, order;
    mrs_buf_init(&u.ops, x->mem, MRSI_RESIDUE_MAX / 4 + 1);
    mrs_buf_init(&u.docs, x->mem, MRSI_RESIDUE_MAX / 4 + 1);
    mrs_buf_init(&u.base, x->mem, MRSI_RESIDUE_MAX / 4 + 1);
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && (s = mrsi_residue_next(x->r, &type, e)) == MRS_OK && type == MRSI_DOCS) {
        s = x->sink ? MRS_OK : mrsi_residue_damaged(x->r, "documents have no place", e);
        if (s == MRS_OK && !open) {
            open = true;
            s = mrsi_shelf_open(&shelf, &en, x->back, k, e);
        }
        s = s == MRS_OK ? mrsi_unpack(&u, e) : s;
    }
    s = s == MRS_OK && type != MRSI_DONE ? mrsi_residue_damaged(x->r, "a collection does not end", e) : s;
    s = s == MRS_OK ? mrsi_residue_doc(x->r, &done, e) : s;
    if (s == MRS_OK && is_true(done, "same") && x->sink) {
        s = put_same(x, k, e);
    }
    if (s == MRS_OK && !mrsi_digest_same(&x->digest, done, &order)) {
        s = mrsi_residue_damaged(x->r, "what comes back is not what was there", e);
    }
    if (open) {
        mrsi_shelf_close(&shelf);
    }
    mrs_buf_clear(&u.ops);
    mrs_buf_clear(&u.docs);
    mrs_buf_clear(&u.base);
    return s;
}

static bool
is_name(const char *ns, const char *db, const char *coll)
{
    size_t n = strlen(db);
    return strncmp(ns, db, n) == 0 && ns[n] == '.' && strcmp(ns + n + 1, coll) == 0 && !strpbrk(db, "/\\. \"$");
}

static enum mrs_status
open_sink(struct backing *x, struct mrs_view d, uint32_t k, struct mrs_err *e)
{
    const char *db = text_of(d, "db"), *coll = text_of(d, "coll");
    struct mrs_val meta = mrs_doc_get(d, "metadata");
    enum mrs_status s = MRS_OK;
    if (!db || !coll || !is_name(text_of(d, "ns"), db, coll)) {
        return mrsi_residue_damaged(x->r, "a collection has no name", e);
    }
    mrs_buf_reset(&x->text);
    if (meta.type == MRS_BINARY) {
        mrs_buf_put(&x->text, meta.p + 5, meta.n - 5);
        s = mrs_buf_status(&x->text, e);
    } else if (is_true(d, "meta") && k != MRSI_NONE) {
        s = mrs_input_metadata_text(x->back, k, &x->text, e);
    }
    mrs_buf_put(&x->text, "", 1);
    s = s == MRS_OK ? mrs_buf_status(&x->text, e) : s;
    const char *text = is_true(d, "meta") ? (const char *)x->text.p : NULL;
    return s == MRS_OK ? mrs_output_coll(x->out, db, coll, text, x->text.n - 1, is_true(d, "data"), &x->sink, e) : s;
}

static enum mrs_status
note_written(struct backing *x, const char *ns, bool copied)
{
    const char *name = mrs_arena_copy(&x->arena, ns, strlen(ns) + 1);
    if (!name) {
        return MRS_DEAD;
    }
    x->written[x->n_written++] = (struct mrs_written){
        .ns = name, .docs = x->digest.docs, .bytes = x->bytes, .copied = copied};
    return MRS_OK;
}

/* The next collection of the head's list; NULL behind the last. */
static const char *
next_touched(struct backing *x)
{
    struct mrs_elem el;
    return mrs_walk_next(&x->left, &el) == 1 ? text_of(mrs_val_view(el.v), "ns") : NULL;
}

/* The record of a collection has been read. */
static enum mrs_status
put_collection(struct backing *x, struct mrs_err *e)
{
    struct mrs_view d;
    enum mrs_status s = mrsi_residue_doc(x->r, &d, e);
    const char *ns = s == MRS_OK ? text_of(d, "ns") : NULL, *due = next_touched(x);
    if (s == MRS_OK && (!ns || !due || strcmp(ns, due) != 0)) {
        s = mrsi_residue_damaged(x->r, "a collection is not in its place", e);
    }
    if (s != MRS_OK) {
        return s;
    }
    bool there = is_true(d, "there");
    uint32_t k = mrsi_input_find(x->back, ns);
    x->sink = NULL;
    x->bytes = 0;
    memset(&x->digest, 0, sizeof x->digest);
    s = there ? open_sink(x, d, k, e) : MRS_OK;
    if (s == MRS_OK && there && note_written(x, ns, false) != MRS_OK) {
        s = mrs_err_memory(e, strlen(ns));
    }
    s = s == MRS_OK ? put_docs(x, k, e) : s; /* the record read before is gone after this */
    enum mrs_status t = mrs_sink_close(x->sink, x->digest.docs, NULL, s == MRS_OK ? e : NULL);
    if (there && x->n_written) {
        x->written[x->n_written - 1].docs = x->digest.docs;
        x->written[x->n_written - 1].bytes = x->bytes;
    }
    return s == MRS_OK ? t : s;
}

/* ---- all of it ---- */
static bool
is_touched(const struct backing *x, const char *ns)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, mrs_val_view(touched(x->r))); mrs_walk_next(&w, &el) == 1;) {
        const char *name = text_of(mrs_val_view(el.v), "ns");
        if (name && strcmp(name, ns) == 0) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
copy_others(struct backing *x, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < mrs_input_count(x->back); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(x->back, i);
        if (ns->kind == MRS_INPUT_EXTRA || !is_touched(x, ns->ns)) {
            s = mrs_output_copy(x->out, x->back, i, e);
        }
    }
    return s;
}

static enum mrs_status
put_all(struct backing *x, struct mrs_err *e)
{
    enum mrsi_record type = MRSI_END;
    struct mrs_view d;
    int64_t records;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && (s = mrsi_residue_next(x->r, &type, e)) == MRS_OK && type == MRSI_COLL) {
        bool stop = x->opts->cancel && __atomic_load_n(x->opts->cancel, __ATOMIC_RELAXED);
        s = stop ? mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted") : put_collection(x, e);
    }
    s = s == MRS_OK && type != MRSI_END ? mrsi_residue_damaged(x->r, "a record is out of its place", e) : s;
    s = s == MRS_OK ? mrsi_residue_doc(x->r, &d, e) : s;
    if (s == MRS_OK && (next_touched(x) || !mrs_val_integral(mrs_doc_get(d, "records"), &records) ||
                        (uint64_t)records + 1 != x->r->records || x->r->at != x->r->size)) {
        s = mrsi_residue_damaged(x->r, "records are missing, or too many", e);
    }
    return s == MRS_OK ? copy_others(x, e) : s;
}

static enum mrs_status
commit(struct backing *x, struct mrs_err *e)
{
    struct mrs_build b;
    struct mrs_view extra;
    char id[33];
    mrs_buf_reset(&x->text);
    mrs_build_init(&b, &x->text);
    mrs_plan_id_text(x->inverse, id);
    mrs_build_text(&b, "plan", x->inverse->name, (uint32_t)strlen(x->inverse->name));
    mrs_build_text(&b, "planId", id, (uint32_t)strlen(id));
    mrs_build_text(&b, "version", MRS_VERSION, (uint32_t)strlen(MRS_VERSION));
    mrs_build_bool(&b, "residue", true);
    enum mrs_status s = mrs_build_finish(&b, &extra, e);
    return s == MRS_OK ? mrs_output_commit(x->out, extra, &x->sync_ms, e) : s;
}

static enum mrs_status
open_output(struct backing *x, struct mrs_err *e)
{
    enum mrs_codec codec = MRS_CODEC_NONE;
    for (uint32_t i = 0; i < mrs_input_count(x->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(x->in, i);
        codec = in->kind == MRS_INPUT_DATA && in->codec != MRS_CODEC_NONE ? in->codec : codec;
    }
    struct mrs_output_opts o = {.compress = x->opts->compress,
                                .default_codec = codec,
                                .force = x->opts->force,
                                .input = x->opts->input,
                                .tmp = x->opts->tmp};
    return mrs_output_open(x->mem, x->opts->output, &o, &x->out, e);
}

/* The inverse's output is whole, in `folder`. */
static enum mrs_status
look(void *arg, const char *folder, const struct mrs_report *report, struct mrs_err *e)
{
    struct backing *x = arg;
    struct mrs_input_opts o = {.unfinished = true};
    uint32_t most;
    (void)report;
    enum mrs_status s = mrs_input_open(x->mem, folder, &o, &x->back, e);
    if (s != MRS_OK) {
        return s;
    }
    most = mrs_val_view(touched(x->r)).n / 8 + 1; /* an entry of that list has more bytes than 8 */
    mrs_walk_init(&x->left, mrs_val_view(touched(x->r)));
    x->written = mrs_arena_alloc(&x->arena, most * sizeof *x->written);
    s = x->written ? put_all(x, e) : mrs_err_memory(e, most);
    return s == MRS_OK ? commit(x, e) : s;
}

/* The report is that of the inverse run, but for what was written in the end. */
static void
tell(struct backing *x, struct mrs_report *report)
{
    struct mrs_written *w = mrs_arena_alloc(&report->arena, (x->n_written + 1) * sizeof *w);
    report->n_written = 0;
    report->out_bytes = 0;
    for (uint32_t i = 0; w && i < x->n_written; i++) {
        w[i] = x->written[i];
        w[i].ns = mrs_arena_copy(&report->arena, w[i].ns, strlen(w[i].ns) + 1);
        report->out_bytes += w[i].bytes;
        report->n_written += w[i].ns ? 1 : 0;
    }
    report->written = w;
    report->n_written = w ? report->n_written : 0;
    report->restore = NULL;
    report->n_drop_first = 0;
    report->refused = 0; /* the residue holds what the inverse refused */
    report->n_refusal = 0;
    report->sync_ms = x->sync_ms;
    report->published = true;
}

enum mrs_status
mrs_run_back(struct mrs_mem *mem, struct mrs_plan *inverse, struct mrs_input *in, const struct mrs_run_opts *opts,
             struct mrs_residue *residue, struct mrs_report *report, struct mrs_err *e)
{
    struct backing x = {.mem = mem, .inverse = inverse, .in = in, .opts = opts, .r = residue};
    struct mrsi_inverse_run run = {
        .mem = mem, .inverse = inverse, .in = in, .opts = opts, .input = opts->input, .look = look, .arg = &x,
        .go_on = opts->resume, .anew = opts->force && !opts->resume};
    memset(report, 0, sizeof *report);
    mrs_arena_init(&report->arena, mem);
    mrs_arena_init(&x.arena, mem);
    mrs_buf_init(&x.text, mem, MRS_METADATA_MAX + 16);
    enum mrs_status s = check_plan(&x, e);
    s = s == MRS_OK ? check_input(&x, e) : s;
    s = s == MRS_OK ? open_output(&x, e) : s;
    if (s == MRS_FAIL && e->code == MRS_E_EXISTS && opts->resume) { /* killed behind its publication, maybe */
        mrsi_inverse_sweep(mem, opts);
    }
    if (s == MRS_OK && !mrs_output_partial(x.out)) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "with a residue the output must be a folder");
    }
    s = s == MRS_OK ? mrsi_inverse_run(&run, report, e) : s;
    if (s == MRS_OK) {
        tell(&x, report);
    } else if (x.out) {
        mrs_output_abort(x.out);
    }
    mrs_output_free(x.out);
    mrs_input_close(x.back);
    mrs_buf_clear(&x.text);
    mrs_arena_clear(&x.arena);
    return s;
}

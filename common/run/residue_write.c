/* residue_write.c - runs the inverse over an output that is whole, and writes what differs from the input.
 *
 * The inverse plan is the one that `invert` prints, read again from its text: so that what is compared here is what
 * somebody will run. Its output lies in a folder of its own until the comparison is done. Nothing is published before
 * the residue is on disk. */
#include "mongoreshape/version.h"
#include "checkpoint.h"
#include "residue.h"
#include <unistd.h>

struct writing {
    struct mrsi_engine *en; /* of the forward run */
    struct mrs_plan *inverse;
    struct mrs_input *out;  /* what the forward run wrote */
    struct mrs_input *back; /* what the inverse made of it */
    struct mrs_arena arena;
    struct mrsi_names touched;
    struct mrsi_residue_out file;
    struct mrs_buf scratch, text;
    unsigned listed; /* kinds that the inverse's losses name */
    unsigned kinds;
    bool refused;
    bool there; /* the file is whole, and in its place */
};

/* ---- the inverse ---- */
static enum mrs_status
load_inverse(struct writing *w, struct mrs_err *e)
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
    s = s == MRS_OK ? mrs_plan_load(w->en->mem, (const char *)text.p, text.n, &o, &w->inverse, e) : s;
    if (s == MRS_FAIL && w->inverse && w->inverse->n_errors) {
        mrs_err_clear(e);
        mrs_err_set(e, s, MRS_E_PLAN, "the inverse of this plan cannot be run: %s", w->inverse->errors[0].msg);
    }
    mrs_inverse_plan_clear(&inv);
    mrs_buf_clear(&text);
    return s;
}

/* ---- records ---- */
static enum mrs_status
put_doc(struct writing *w, struct mrs_build *b, enum mrsi_record type, struct mrs_err *e)
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
put_head(struct writing *w, struct mrs_err *e)
{
    struct mrs_build b;
    uint8_t room[16];
    char id[33];
    mrs_buf_reset(&w->text);
    mrs_build_init(&b, &w->text);
    mrs_build_i32(&b, "version", MRSI_RESIDUE_VERSION);
    put_text(&b, "tool", MRS_VERSION);
    mrs_plan_id_text(w->en->plan, id);
    put_text(&b, "plan", id);
    mrs_plan_id_text(w->inverse, id);
    put_text(&b, "inverse", id);
    mrs_build_val(&b, "now", 3, mrs_make_i64(room, w->en->plan->now_ms, MRS_DATE));
    mrs_build_open(&b, "touched", 7, MRS_ARRAY);
    for (uint32_t i = 0; i < w->touched.n; i++) {
        struct mrsi_digest d;
        enum mrs_status s = mrsi_digest_of(&d, w->en->mem, w->out, mrsi_input_find(w->out, w->touched.at[i]), e);
        if (s != MRS_OK) {
            return s;
        }
        mrs_build_item_open(&b, MRS_DOCUMENT);
        put_text(&b, "ns", w->touched.at[i]);
        mrsi_digest_put(&d, &b);
        mrs_build_close(&b);
    }
    mrs_build_close(&b);
    return put_doc(w, &b, MRSI_HEAD, e);
}

/* *same: the inverse brings the same bytes, or both have none. */
static enum mrs_status
compare_metadata(struct writing *w, uint32_t i, uint32_t k, bool *same, struct mrs_err *e)
{
    mrs_buf_reset(&w->scratch);
    enum mrs_status s = mrs_input_metadata_text(w->en->in, i, &w->scratch, e);
    size_t n = w->scratch.n;
    if (s == MRS_OK && k != MRSI_NONE) {
        s = mrs_input_metadata_text(w->back, k, &w->scratch, e);
    }
    bool a = mrs_input_at(w->en->in, i)->meta_path, b = k != MRSI_NONE && mrs_input_at(w->back, k)->meta_path;
    *same = a == b && w->scratch.n == 2 * n && (n == 0 || memcmp(w->scratch.p, w->scratch.p + n, n) == 0);
    w->scratch.n = n; /* what is left: the input's */
    return s;
}

static enum mrs_status
put_coll(struct writing *w, const char *ns, uint32_t i, uint32_t k, struct mrs_err *e)
{
    struct mrs_build b;
    bool same = true;
    const struct mrs_input_ns *in = i == MRSI_NONE ? NULL : mrs_input_at(w->en->in, i);
    enum mrs_status s = in ? compare_metadata(w, i, k, &same, e) : MRS_OK;
    if (s != MRS_OK) {
        return s;
    }
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

/* ---- documents ---- */
static enum mrs_status
all_equal(struct writing *w, uint32_t i, uint32_t k, bool *same, struct mrs_err *e)
{
    struct mrsi_docs a, b;
    struct mrs_view x, y;
    enum mrs_status s = mrsi_docs_open(&a, w->en->mem, w->en->in, i, e);
    enum mrs_status t = mrsi_docs_open(&b, w->en->mem, w->back, k, e);
    *same = true;
    while (s == MRS_OK && t == MRS_OK && *same) {
        s = mrsi_docs_next(&a, &x, e);
        t = s >= MRS_OK ? mrsi_docs_next(&b, &y, e) : t;
        *same = s == t && (s != MRS_OK || (x.n == y.n && memcmp(x.p, y.p, x.n) == 0));
    }
    mrsi_docs_close(&a);
    mrsi_docs_close(&b);
    return s < MRS_OK ? s : t < MRS_OK ? t : MRS_OK;
}

/* The pair of the document `no`: an equal one if there is any. pairs stands at the first that was not looked at. */
struct pairs {
    struct mrsi_sorter sorter;
    struct mrsi_sorted at;
    bool more;
};

static enum mrs_status
next_pair(struct pairs *p, struct mrs_err *e)
{
    enum mrs_status s = mrsi_sorter_next(&p->sorter, &p->at, e);
    p->more = s == MRS_OK;
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
pair_of(struct pairs *p, uint64_t no, uint64_t *found, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    *found = UINT64_MAX;
    while (s == MRS_OK && p->more && mrsi_get_be(p->at.key, 8) <= no) {
        if (mrsi_get_be(p->at.key, 8) == no && *found == UINT64_MAX) {
            *found = mrs_le64(p->at.p);
        }
        s = next_pair(p, e);
    }
    return s;
}

struct judged { /* how the documents of one collection lie to those of the inverse */
    uint64_t taken, last;
    bool any, order;
};

static enum mrs_status
put_one(struct writing *w, struct mrsi_pack *pack, struct mrsi_shelf *shelf, uint64_t no, struct mrs_view doc,
        struct judged *j, struct mrs_err *e)
{
    struct mrs_view base = mrs_empty_doc();
    if (no == UINT64_MAX) {
        w->kinds |= MRS_LOSS_DOCUMENTS;
        return mrsi_pack_add(pack, MRSI_NEW, 0, base, doc, e);
    }
    enum mrs_status s = mrsi_shelf_get(shelf, no, &base, e);
    if (s != MRS_OK) {
        return s;
    }
    j->order = j->order || (j->any && no < j->last);
    j->any = true;
    j->last = no;
    j->taken++;
    if (base.n == doc.n && memcmp(base.p, doc.p, doc.n) == 0) {
        return mrsi_pack_add(pack, MRSI_TAKE, no, base, doc, e);
    }
    unsigned kinds;
    s = mrsi_residue_kinds(doc, base, &w->scratch, &kinds, e);
    w->kinds |= kinds;
    return s == MRS_OK ? mrsi_pack_add(pack, MRSI_MEND, no, base, doc, e) : s;
}

static enum mrs_status
put_docs(struct writing *w, uint32_t i, uint32_t k, struct mrs_err *e)
{
    struct mrsi_engine en = mrsi_bare_engine(w->en->mem, w->en->opts);
    struct mrsi_shelf shelf;
    struct mrsi_docs docs;
    struct mrsi_pack pack;
    struct pairs pairs = {.more = false};
    struct judged j = {0};
    struct mrs_view doc;
    en.tmp = w->en->tmp;
    mrsi_pack_begin(&pack, en.mem, &w->file);
    mrsi_sorter_init(&pairs.sorter, &en, en.memory / 8);
    enum mrs_status s = mrsi_shelf_open(&shelf, &en, w->back, k, e), t = mrsi_docs_open(&docs, en.mem, w->en->in, i, e);
    s = s == MRS_OK ? t : s;
    s = s == MRS_OK ? mrsi_residue_match(&en, w->en->in, i, w->back, k, &pairs.sorter, e) : s;
    s = s == MRS_OK ? next_pair(&pairs, e) : s;
    for (uint64_t no = 0, found; s == MRS_OK && (s = mrsi_docs_next(&docs, &doc, e)) == MRS_OK; no++) {
        s = pair_of(&pairs, no, &found, e);
        s = s == MRS_OK ? put_one(w, &pack, &shelf, found, doc, &j, e) : s;
    }
    s = s == MRS_END ? mrsi_pack_end(&pack, e) : s;
    w->kinds |= (j.order ? MRS_LOSS_ORDER : 0) | (shelf.n > j.taken ? MRS_LOSS_SURPLUS : 0);
    mrsi_pack_clear(&pack);
    mrsi_sorter_clear(&pairs.sorter);
    mrsi_docs_close(&docs);
    mrsi_shelf_close(&shelf);
    return s;
}

static enum mrs_status
put_collection(struct writing *w, const char *ns, struct mrs_err *e)
{
    uint32_t i = mrsi_input_find(w->en->in, ns), k = mrsi_input_find(w->back, ns);
    struct mrs_build b;
    struct mrsi_digest d;
    bool same = true;
    enum mrs_status s = put_coll(w, ns, i, k, e);
    s = s == MRS_OK ? all_equal(w, i, k, &same, e) : s;
    if (s == MRS_OK && !same) {
        s = put_docs(w, i, k, e);
    }
    s = s == MRS_OK ? mrsi_digest_of(&d, w->en->mem, w->en->in, i, e) : s;
    if (s != MRS_OK) {
        return s;
    }
    mrs_buf_reset(&w->text);
    mrs_build_init(&b, &w->text);
    mrs_build_bool(&b, "same", same);
    mrsi_digest_put(&d, &b);
    return put_doc(w, &b, MRSI_DONE, e);
}

/* ---- the file ---- */
static enum mrs_status
put_all(struct writing *w, struct mrs_err *e)
{
    struct mrs_build b;
    enum mrs_status s = put_head(w, e);
    for (uint32_t i = 0; s == MRS_OK && i < w->touched.n; i++) {
        s = mrsi_cancelled(w->en) ? mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted") : MRS_OK;
        s = s == MRS_OK ? put_collection(w, w->touched.at[i], e) : s;
    }
    if (s != MRS_OK) {
        return s;
    }
    mrs_buf_reset(&w->text);
    mrs_build_init(&b, &w->text);
    mrs_build_i64(&b, "records", (int64_t)w->file.records);
    return put_doc(w, &b, MRSI_END, e);
}

/* The inverse's output is whole, in `folder`. */
static enum mrs_status
look(void *arg, const char *folder, const struct mrs_report *report, struct mrs_err *e)
{
    struct writing *w = arg;
    struct mrs_input_opts o = {.unfinished = true};
    w->refused = w->refused || report->refused;
    enum mrs_status s = mrs_input_open(w->en->mem, folder, &o, &w->back, e);
    s = s == MRS_OK ? mrs_whole_open(w->en->mem, w->en->opts->write_residue, &w->file.w, e) : s;
    if (s != MRS_OK) {
        return s;
    }
    s = put_all(w, e);
    enum mrs_status t = mrs_whole_close(w->file.w, s == MRS_OK, e);
    w->there = s == MRS_OK && t == MRS_OK;
    return s == MRS_OK ? t : s;
}

/* What a refused document leaves behind shows in many ways: where there are any, they stand for these. */
static void
tell(struct writing *w)
{
    struct mrs_report *r = w->en->report;
    const unsigned by_refusal =
        MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS | MRS_LOSS_ORDER | MRS_LOSS_VALUES | MRS_LOSS_TYPES | MRS_LOSS_PLACES;
    r->residue = w->en->opts->write_residue;
    r->residue_bytes = w->file.bytes;
    r->residue_kinds = w->kinds;
    unsigned beyond = w->kinds & ~w->listed;
    if (w->refused && w->listed & MRS_LOSS_REFUSED) {
        r->residue_kinds |= w->kinds & by_refusal ? MRS_LOSS_REFUSED : 0;
        beyond &= ~by_refusal;
    }
    r->residue_unlisted = beyond;
}

static enum mrs_status
run_back(struct writing *w, struct mrs_err *e)
{
    struct mrs_report report;
    struct mrsi_inverse_run r = {.mem = w->en->mem,
                                 .inverse = w->inverse,
                                 .in = w->out,
                                 .opts = w->en->opts,
                                 .input = mrs_output_partial(w->en->out),
                                 .go_on = mrsi_keep_was_whole(w->en),
                                 .anew = !mrsi_keep_was_whole(w->en),
                                 .look = look,
                                 .arg = w};
    enum mrs_status s = mrsi_inverse_run(&r, &report, e);
    mrs_report_clear(&report);
    return s;
}

enum mrs_status
mrsi_residue_write(struct mrsi_engine *en, struct mrs_err *e)
{
    struct writing w = {.en = en, .refused = en->report->refused > 0};
    struct mrs_input_opts o = {.unfinished = true};
    const char *folder = mrs_output_partial(en->out);
    if (!folder) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "a residue is written beside a folder only, not beside a file");
    }
    snprintf(en->phase_text, sizeof en->phase_text, "what the inverse does not bring back");
    mrs_arena_init(&w.arena, en->mem);
    mrs_buf_init(&w.scratch, en->mem, MRSI_RESIDUE_MAX);
    mrs_buf_init(&w.text, en->mem, MRSI_RESIDUE_MAX / 2);
    enum mrs_status s = mrs_input_open(en->mem, folder, &o, &w.out, e);
    s = s == MRS_OK ? load_inverse(&w, e) : s;
    s = s == MRS_OK ? mrsi_residue_touched(&w.arena, en->plan, w.inverse, &w.touched, e) : s;
    s = s == MRS_OK ? run_back(&w, e) : s;
    if (s == MRS_OK) {
        tell(&w);
    } else if (w.there) {
        unlink(en->opts->write_residue);
    }
    mrs_input_close(w.back);
    mrs_input_close(w.out);
    mrs_plan_free(w.inverse);
    mrs_buf_clear(&w.scratch);
    mrs_buf_clear(&w.text);
    mrs_arena_clear(&w.arena);
    return s;
}

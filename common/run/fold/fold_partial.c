/* SPDX-License-Identifier: Apache-2.0 */
/* fold_partial.c - saves and loads an unfinished group: number of members read, the step's state, its documents, and
 * later how many of them are written.
 *
 * The step saves its own state as documents. All else only grows while the group is folded, so each savepoint writes
 * only new data. */
#include "fold.h"

/* At least one document, each complete and not too large, contiguous. */
static bool
are_documents(const struct mrs_buf *b)
{
    bool good = b->n > 0;
    for (size_t at = 0, n; good && at < b->n; at += n) {
        size_t left = b->n - at;
        n = left >= MRS_DOC_MIN ? mrs_le32(b->p + at) : 0;
        good = n >= MRS_DOC_MIN && n <= left && mrsi_savepoint_is_doc(b->p + at, n);
    }
    return good;
}

bool
mrsi_fold_can_mark(const struct mrsi_fold_one *o)
{
    return o->way != MRSI_FOLD_FEEDS || !o->n_returned || o->f->ops->save;
}

static enum mrs_status
put_made(struct mrsi_fold_one *o, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    struct mrsi_fold *f = o->f;
    struct mrs_buf made;
    void *work = mrsi_work_of(o->w, f->step, e);
    enum mrs_status s = work ? MRS_OK : MRS_DEAD;
    mrs_buf_init(&made, f->en->mem, UINT32_MAX);
    if (s == MRS_OK && o->way == MRSI_FOLD_FEEDS && o->n_returned) {
        s = f->ops->save(f->st->state, &o->w->ctx, work, &made);
        if (s != MRS_OK) {
            s = mrsi_kernel_failed(o->w, s, e);
            mrs_err_clear(&o->w->err); /* the group continues without the savepoint */
        } else if (!are_documents(&made)) {
            s = mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "what a group has come to is too large for a savepoint");
        }
    }
    MRS_THEN(s, mrsi_save_bytes(f->en, "made", made.p, made.n, b, files, e));
    mrs_buf_clear(&made);
    return s;
}

/* Place and reason, each with its NUL. */
static enum mrs_status
put_why(const struct mrsi_fold_one *o, struct mrs_build *b, struct mrs_err *e)
{
    struct mrs_buf why;
    mrs_buf_init(&why, o->f->en->mem, SIZE_MAX);
    if (o->fails) {
        mrs_buf_put(&why, o->why.where, strlen(o->why.where) + 1);
        mrs_buf_put(&why, o->why.msg, strlen(o->why.msg) + 1);
    }
    mrsi_state_put_bytes(b, "why", why.p, why.n);
    enum mrs_status s = mrs_buf_status(&why, e);
    mrs_buf_clear(&why);
    return s;
}

/* Field `group` of a savepoint, while the source's next or rest is running. */
static enum mrs_status
save_one(struct mrsi_fold_one *o, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    mrs_build_open(b, "group", 5, MRS_DOCUMENT);
    mrs_build_i64(b, "way", o->way);
    mrs_build_i64(b, "given", (int64_t)o->n_returned);
    mrs_build_i64(b, "released", (int64_t)o->released);
    mrs_build_i64(b, "reported", (int64_t)o->reported);
    enum mrs_status s = put_why(o, b, e);
    MRS_THEN(s, mrsi_fold_flush_docs(o, e));
    MRS_THEN(s, mrsi_file_array_save(&o->docs, "docs", b, files, e));
    MRS_THEN(s, mrsi_file_array_save(&o->alone, "alone", b, files, e));
    if (s == MRS_OK) {
        mrsi_save_temp("held", o->filed ? o->file : NULL, o->filed, b, files);
        o->named = o->named || o->filed;
        s = put_made(o, b, files, e);
    }
    mrs_build_close(b);
    return s;
}

/* ---- load ---- */
struct fold_partial_check {
    const struct mrsi_fold_one *o;
    uint64_t n, members, bytes; /* read so far; and their members and bytes */
    uint64_t most;              /* members of the released documents and of the next one */
};

/* Validates documents: they are contiguous, and so are their members. */
static enum mrs_status
check_docs(void *arg, const uint8_t *p, size_t n, struct mrs_err *e)
{
    struct fold_partial_check *k = arg;
    for (size_t i = 0; i < n; i++, k->n++) {
        struct mrsi_fold_pending h;
        memcpy(&h, p + i * sizeof h, sizeof h);
        if (h.end < k->members || h.end > k->o->n_returned || h.off != k->bytes || h.len < MRS_DOC_MIN ||
            h.len > MRS_DOC_READ_MAX || h.eased >> MRS_EASED || h.len > k->o->filed - k->bytes) {
            return mrsi_state_damaged("documents of a group", e);
        }
        k->members = h.end;
        k->bytes += h.len;
        k->most = k->n <= k->o->released ? h.end : k->most;
    }
    return MRS_OK;
}

/* Validates members that were refused alone: ascending. */
static enum mrs_status
check_alone(void *arg, const uint8_t *p, size_t n, struct mrs_err *e)
{
    struct fold_partial_check *k = arg;
    for (size_t i = 0; i < n; i++) {
        uint64_t x;
        memcpy(&x, p + i * sizeof x, sizeof x);
        if (x < k->members || x >= k->o->n_returned) {
            return mrsi_state_damaged("members of a group", e);
        }
        k->members = x + 1;
    }
    return MRS_OK;
}

static enum mrs_status
check_array(const struct mrsi_file_array *t, struct fold_partial_check *k,
            enum mrs_status (*take)(void *arg, const uint8_t *p, size_t n, struct mrs_err *e), struct mrs_err *e)
{
    struct mrsi_savepoint_items items = {t->en, t->item, take, k};
    return t->temp ? mrsi_savepoint_items_each(&items, t->temp, t->bytes, e) : MRS_OK;
}

static enum mrs_status
check_files(struct mrsi_fold_one *o, struct mrs_err *e)
{
    struct fold_partial_check docs = {.o = o}, alone = {.o = o};
    bool ended = o->way == MRSI_FOLD_ENDS, made = o->way == MRSI_FOLD_FEEDS && o->n_returned;
    if (o->docs.ended != ended || o->alone.ended != ended || o->released > o->docs.n || (!ended && o->released) ||
        o->reported > (ended ? o->n_returned : 0) || made != (o->made.n > 0) || (made && !are_documents(&o->made))) {
        return mrsi_state_damaged("a group", e);
    }
    enum mrs_status s = check_array(&o->docs, &docs, check_docs, e);
    MRS_THEN(s, check_array(&o->alone, &alone, check_alone, e));
    bool bad = docs.bytes != o->filed || (!o->fails && o->reported > docs.most);
    return s == MRS_OK && bad ? mrsi_state_damaged("documents of a group", e) : s;
}

static void
get_why(struct mrsi_fold_one *o, struct mrs_view d, bool *bad)
{
    size_t n = 0;
    const uint8_t *p = mrsi_state_bytes(d, "why", &n, bad), *end = n && !*bad ? memchr(p, 0, n) : NULL;
    o->fails = !*bad && n;
    *bad = *bad || (n && (o->way == MRSI_FOLD_FEEDS || !end || end + 1 == p + n || p[n - 1]));
    mrs_err_clear(&o->why);
    if (o->fails && !*bad) {
        mrs_err_set(&o->why, MRS_SKIP, MRS_E_REFUSED, "%s", (const char *)end + 1);
        mrs_err_at(&o->why, "%s", (const char *)p);
    }
}

/* o is initialized. */
static enum mrs_status
load_one(struct mrsi_fold_one *o, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(o->live && o->kept);
    bool bad = false;
    struct mrs_view d = mrsi_savepoint_doc(saved, "group");
    o->way = (enum mrsi_fold_way)mrsi_state_number(d, "way", MRSI_FOLD_ENDS, &bad);
    o->n_returned = mrsi_state_number(d, "given", INT64_MAX, &bad);
    o->released = mrsi_state_number(d, "released", INT64_MAX, &bad);
    o->reported = mrsi_state_number(d, "reported", INT64_MAX, &bad);
    get_why(o, d, &bad);
    enum mrs_status s = bad ? mrsi_state_damaged("a group", e) : MRS_OK;
    MRS_THEN(s, mrsi_file_array_load(&o->docs, d, "docs", e));
    MRS_THEN(s, mrsi_file_array_load(&o->alone, d, "alone", e));
    MRS_THEN(s, mrsi_load_temp(o->f->en, d, "held", &o->file, &o->filed, e));
    MRS_THEN(s, mrsi_load_bytes(o->f->en, d, "made", &o->made, e));
    o->named = o->file != NULL;
    o->foreign = o->filed;
    return s == MRS_OK ? check_files(o, e) : s;
}

/* ---- the partition sorted on disk, and its group ---- */
enum mrs_status
mrsi_fold_heavy_save(struct mrsi_fold *f, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    mrs_build_bool(b, "heavy", f->heavy.on);
    if (!f->heavy.on) {
        return MRS_OK;
    }
    mrs_build_bool(b, "sorted", f->heavy.sorted);
    mrs_build_i64(b, "piece", (int64_t)f->heavy.piece);
    mrs_build_i64(b, "put", (int64_t)f->heavy.n_docs);
    mrs_build_bool(b, "inside", f->heavy.inside);
    enum mrs_status s = mrsi_sorter_save(&f->heavy.sorter, "sorting", b, files, e);
    if (s != MRS_OK || !f->heavy.inside) {
        return s;
    }
    mrsi_state_put_bytes(b, "key", f->heavy.key.p, f->heavy.key.n);
    s = mrsi_file_array_save(&f->heavy.ordinals, "members", b, files, e);
    return s == MRS_OK ? save_one(&f->heavy.one, b, files, e) : s;
}

static enum mrs_status
check_members(void *arg, const uint8_t *p, size_t n, struct mrs_err *e)
{
    const struct mrsi_fold *f = arg;
    for (size_t i = 0; i < n; i++) {
        uint64_t x;
        memcpy(&x, p + i * sizeof x, sizeof x);
        if (x >= f->fates.n) {
            return mrsi_state_damaged("members of a group", e);
        }
    }
    return MRS_OK;
}

static enum mrs_status
apply_inside(struct mrsi_fold *f, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(f->heavy.on);
    bool bad = false;
    size_t n;
    const struct mrsi_file_array *t = &f->heavy.ordinals;
    struct mrsi_savepoint_items items = {f->en, sizeof(uint64_t), check_members, f};
    const uint8_t *key = mrsi_state_bytes(saved, "key", &n, &bad);
    mrs_buf_put(&f->heavy.key, key, n);
    enum mrs_status s = bad ? mrsi_state_damaged("a group", e) : mrs_buf_status(&f->heavy.key, e);
    MRS_THEN(s, mrsi_file_array_load(&f->heavy.ordinals, saved, "members", e));
    s = s == MRS_OK && t->temp ? mrsi_savepoint_items_each(&items, t->temp, t->bytes, e) : s;
    MRS_THEN(s, load_one(&f->heavy.one, saved, e));
    if (s == MRS_OK && (t->n != f->heavy.one.n_returned || t->ended != (f->heavy.one.way == MRSI_FOLD_ENDS))) {
        s = mrsi_state_damaged("members of a group", e);
    }
    return s;
}

enum mrs_status
mrsi_fold_heavy_load(struct mrsi_fold *f, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(!f->heavy.on);
    bool bad = false;
    struct mrs_val on = mrs_doc_get(saved, "heavy"), sorted = mrs_doc_get(saved, "sorted");
    struct mrs_val inside = mrs_doc_get(saved, "inside");
    if (on.type == MRS_BOOL && !*on.p) {
        return MRS_OK;
    }
    uint64_t piece = mrsi_state_number(saved, "piece", INT64_MAX, &bad);
    uint64_t put = mrsi_state_number(saved, "put", INT64_MAX, &bad);
    bad = bad || on.type != MRS_BOOL || sorted.type != MRS_BOOL || inside.type != MRS_BOOL ||
          (*inside.p && !*sorted.p) || !mrsi_step_outputs_have_existing(&f->sides) || !f->next_part ||
          f->next_part > f->spill.n_part ||
          piece > f->spill.part[f->next_part - 1].pieces.n / sizeof(struct mrsi_spill_piece);
    if (bad) {
        return mrsi_state_damaged("a partition", e);
    }
    mrsi_fold_heavy_begin(f);
    f->heavy.unfetched = f->heavy.foreign = true;
    f->heavy.sorted = *sorted.p;
    f->heavy.inside = *inside.p;
    f->heavy.piece = piece;
    f->heavy.n_docs = put;
    enum mrs_status s = mrsi_sorter_load(&f->heavy.sorter, saved, "sorting", e);
    return s == MRS_OK && f->heavy.inside ? apply_inside(f, saved, e) : s;
}

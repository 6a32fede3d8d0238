/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_write.c - writes the documents with their new `_id`s, one for each group; refused ones with the reason, which
 * is computed again. */
#include "rekey_pass.h"
#include "run/store/value_kind.h"

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_write_job *job = p;
    bool fresh;
    enum mrs_status s = mrsi_step_outputs_job_next(&k->sides, &k->scan, &job->io, &fresh, big, e);
    if (fresh) {
        mrsi_lists_init(&job->lists, k->en->mem);
        mrs_buf_init(&job->bytes[0], k->en->mem, SIZE_MAX);
        mrs_buf_init(&job->bytes[1], k->en->mem, SIZE_MAX);
    }
    return s;
}

static void
clear(void *arg, void *p)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_write_job *job = p;
    if (job->io.out) {
        mrsi_lists_clear(&job->lists);
        mrs_buf_clear(&job->bytes[0]);
        mrs_buf_clear(&job->bytes[1]);
        mrsi_step_outputs_job_clear(&k->sides, &job->io);
    }
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_write_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e);
    for (int i = 0; i < 2; i++) {
        if (job->bytes[i].cap > MRSI_BIG) {
            mrs_buf_clear(&job->bytes[i]);
        }
    }
    MRS_THEN(s, mrsi_step_outputs_take(&k->sides, &job->lists, e));
    return s == MRS_OK ? mrsi_step_outputs_commit(&k->sides, job->io.out, e) : s;
}

/* ---- references ---- */
struct rekey_finder {
    const struct mrsi_rekey_run *k;
    struct mrs_buf *scratch;
    struct mrsi_rekey_ahead *ahead; /* NULL: documents are not queued */
    uint64_t dangling;              /* types of dangling references: bits of mrsi_kind_bit */
};

static enum mrs_status
find(void *arg, struct mrs_val id, enum mrs_rekey_found *found, struct mrs_val *to, struct mrs_err *e)
{
    struct rekey_finder *x = arg;
    const struct mrsi_rekey_run *k = x->k;
    const struct mrsi_rekey_ref *known = mrsi_rekey_ahead_of(x->ahead, id);
    struct mrs_hash128 h;
    MRS_TRY(known ? MRS_OK : mrsi_rekey_hash(k, id, x->scratch, &h, e));
    h = known ? known->key : h;
    uint64_t i = known ? known->ordinal : mrsi_index_find(&k->ids, h);
    if (i != MRSI_NO_ORDINAL) {
        uint64_t at = i < k->n ? ((const uint64_t *)k->called.p)[i] : MRSI_NO_ORDINAL;
        *found = MRS_REKEY_STAYS;
        if (at != MRSI_NO_ORDINAL) {
            const uint8_t *name = k->names.p + at;
            uint32_t n = (uint32_t)mrs_value_size_quick(name[0], name + 1, k->names.n - at - 1);
            *to = (struct mrs_val){name + 1, n, name[0]};
            *found = mrs_identical(id, *to) ? MRS_REKEY_STAYS : MRS_REKEY_FOLLOWS;
        }
        return MRS_OK;
    }
    i = mrsi_index_find(&k->fresh, h);
    *found = i != MRSI_NO_ORDINAL && !mrsi_rekey_refused(k, i) ? MRS_REKEY_STAYS : MRS_REKEY_NOBODY;
    x->dangling |= *found == MRS_REKEY_NOBODY ? mrsi_kind_bit(mrsi_value_kind(id)) : 0;
    return MRS_OK;
}

/* Updates the references of a document of the side being read. *doc becomes the result, in out. */
static enum mrs_status
follow(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct mrsi_rekey_ahead *ahead,
       struct mrs_buf *out, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(*doc));
    struct rekey_finder x = {k, &w->scratch, ahead, 0};
    struct mrs_rekey_lookup to = {find, &x, 0, 0};
    void *work = mrsi_work_of(w, k->step, e);
    bool changed = false;
    if (!work) {
        return MRS_DEAD;
    }
    mrs_buf_reset(out);
    mrs_err_clear(&w->err);
    MRS_TRY(k->ops->point(k->st->state, &w->ctx, work, (int)k->now, *doc, &to, out, &changed));
    if (changed) {
        *doc = (struct mrs_view){out->p, (uint32_t)out->n};
    }
    struct mrsi_row *row = mrsi_row(w, k->step, k->now);
    row->references += to.references;
    row->dangling += to.dangling;
    row->searched_types |= x.dangling;
    return MRS_OK;
}

/* ---- refused documents ---- */
static enum mrs_status
because(struct mrsi_worker *w, const char *where, const char *why)
{
    mrs_err_clear(&w->err);
    mrs_err_set(&w->err, MRS_SKIP, MRS_E_REFUSED, "%s", why);
    mrs_err_at(&w->err, "%s", where);
    return MRS_SKIP;
}

static const struct mrsi_rekey_gain_head *
gain_of(const struct mrsi_rekey_run *k, const struct mrsi_rekey_group *g, struct mrsi_rekey_gain_head *h)
{
    if (!g || !g->gain) {
        return NULL;
    }
    memcpy(h, k->gains.p + (g->gain - 1), sizeof *h);
    return h;
}

/* The data after the header of a gain. */
static const uint8_t *
gain_data(const struct mrsi_rekey_run *k, const struct mrsi_rekey_group *g)
{
    MRS_ASSERT(g->gain > 0 && g->gain <= k->gains.n);
    return k->gains.p + (g->gain - 1) + sizeof(struct mrsi_rekey_gain_head);
}

static struct mrs_rekey_gain
find_gain(const struct mrsi_rekey_run *k, uint64_t i, struct mrs_view doc)
{
    MRS_ASSERT(i < k->n && mrs_view_is_framed(doc));
    struct mrs_rekey_gain out = {mrs_missing(), mrs_missing(), {NULL, 0}};
    if (mrsi_fates_get(&k->fates, i) & MRSI_FATE_OUTSIDE) {
        return out;
    }
    if (!k->wants.merge) {
        out.to = mrsi_rekey_name(k, i);
        out.old = k->wants.olds ? mrs_doc_get(doc, "_id") : mrs_missing();
        return out;
    }
    const struct mrsi_rekey_group *g = mrsi_rekey_group(k, i);
    struct mrsi_rekey_gain_head h;
    if (gain_of(k, g, &h)) {
        const uint8_t *p = gain_data(k, g);
        out.values = (struct mrs_view){p, h.values};
        out.old = h.olds ? (struct mrs_val){p + h.values, h.olds, MRS_ARRAY} : mrs_missing();
    }
    return out;
}

/* The surviving document with all its gains; SKIP: it cannot be written. */
static enum mrs_status
make_document(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_write_job *job, uint64_t i,
              struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(i < k->n && mrs_view_is_framed(*doc));
    struct mrs_rekey_gain gain = find_gain(k, i, *doc);
    void *work = mrsi_work_of(w, k->step, e);
    if (!work) {
        return MRS_DEAD;
    }
    if (gain.to.type != MRS_MISSING || gain.old.type != MRS_MISSING || gain.values.n) {
        mrs_buf_reset(&job->bytes[0]);
        mrs_err_clear(&w->err);
        MRS_TRY(k->ops->write(k->st->state, &w->ctx, work, *doc, &gain, &job->bytes[0]));
        *doc = (struct mrs_view){job->bytes[0].p, (uint32_t)job->bytes[0].n};
    }
    return follow(k, w, NULL, &job->bytes[1], doc, e);
}

static bool
survives(const struct mrsi_rekey_run *k, uint64_t i)
{
    MRS_ASSERT(i < k->n);
    if (!k->wants.merge) {
        return true;
    }
    uint64_t survivor = mrsi_rekey_group(k, i)->survivor;
    return !survivor || survivor - 1 == i;
}

/* Its own reason, or that of its group. */
static enum mrs_status
find_reason(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_write_job *job, uint64_t i,
            struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(i < k->n && mrs_view_is_framed(doc));
    unsigned bits = mrsi_fates_get(&k->fates, i);
    const struct mrsi_rekey_group *g = k->wants.merge ? mrsi_rekey_group(k, i) : NULL;
    struct mrs_rekey_entry en = {.keys = w->keys};
    struct mrsi_rekey_gain_head h;
    void *work = mrsi_work_of(w, k->step, e);
    if (!work) {
        return MRS_DEAD;
    }
    mrs_err_clear(&w->err);
    mrs_keys_reset(&en.keys);
    enum mrs_status s = k->ops->read(k->st->state, &w->ctx, work, doc, &en);
    w->keys = en.keys;
    if (s != MRS_OK) {
        return s;
    }
    const struct mrsi_rejected *rejected = mrsi_step_outputs_rejected(&k->sides, mrsi_source(0, i));
    if (bits & MRSI_REKEY_TWICE) {
        return because(w, g ? "merge" : "id", "another document has the same _id");
    }
    if (bits & MRSI_REKEY_CLASH) {
        return because(w, "id", "its new _id is that of another document");
    }
    if (rejected) {
        return mrsi_step_outputs_clash(&k->sides, w, rejected, mrs_doc_get(doc, "_id"), "merge.dropped",
                                       "another document with the same _id and other contents", e);
    }
    if (bits & MRSI_REKEY_REJECTED) {
        return because(w, "merge.dropped", "another document there has the same _id and other contents");
    }
    if (bits & MRSI_FATE_UNSORTED) {
        s = make_document(k, w, job, i, &doc, e);
        return s == MRS_OK ? because(w, "", "it cannot be written as long as others are there that are refused") : s;
    }
    if ((bits & MRSI_FATE_REFUSED) && k->wants.sorted) {
        mrs_buf_reset(&w->scratch);
        MRS_TRY(k->ops->order(k->st->state, &w->ctx, doc, &w->scratch));
    }
    if (gain_of(k, g, &h) && !(bits & MRSI_FATE_REFUSED) && g->refused == MRSI_REKEY_FAILED) {
        const char *text = (const char *)gain_data(k, g);
        return because(w, text, text + h.values);
    }
    return because(w, "merge", "another document of its group is refused");
}

static enum mrs_status
refuse(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_write_job *job, uint64_t i, struct mrs_view doc,
       struct mrs_err *e)
{
    MRS_ASSERT(i < k->n && mrs_view_is_framed(doc));
    struct mrsi_row *row = mrsi_row(w, k->step, 0);
    uint64_t references = row->references, dangling = row->dangling;
    enum mrs_status s = find_reason(k, w, job, i, doc, e);
    row->references = references;
    row->dangling = dangling;
    if (s != MRS_SKIP) {
        return s == MRS_OK ? MRS_OK : mrsi_kernel_failed(w, s, e);
    }
    row->refused++;
    return mrsi_refuse(w, k->step, 0, k->en->side[k->step][0], i, doc, e);
}

/* ---- documents ---- */
/* Refused from the next pass on: this pass must not depend on the order. */
static enum mrs_status
put_off(struct mrsi_rekey_run *k, struct mrsi_worker *w, uint64_t i)
{
    MRS_ASSERT(i < k->n && k->stage == MRSI_REKEY_WRITE);
    mrsi_fates_add(&k->fates, i, MRSI_FATE_UNSORTED);
    __atomic_store_n(&k->late, true, __ATOMIC_RELAXED);
    mrs_err_clear(&w->err);
    return MRS_OK;
}

static enum mrs_status
write_document(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_write_job *job, uint64_t i,
               struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(i < k->n && mrs_view_is_framed(doc));
    struct mrs_view was = doc;
    if (k->sides.ids.phase == MRSI_IDS_COLLECT) {
        return MRS_OK;
    }
    enum mrs_status s = make_document(k, w, job, i, &doc, e);
    if (s == MRS_SKIP) {
        return put_off(k, w, i);
    }
    if (s != MRS_OK) {
        return mrsi_kernel_failed(w, s, e);
    }
    struct mrsi_row *row = mrsi_row(w, k->step, 0);
    row->changed += mrsi_differ(was, doc);
    if (k->wants.merge && mrsi_rekey_group(k, i)->several) {
        mrsi_remark(row, 1);
    }
    return mrsi_step_outputs_write(&k->sides, w, job->io.out, 0, doc, e);
}

/* A document that was merged into another. */
static enum mrs_status
take_away(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_write_job *job, uint64_t i,
          struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(i < k->n && mrs_view_is_framed(doc));
    struct mrsi_row *row = mrsi_row(w, k->step, 0);
    bool write;
    row->merged++;
    if (k->wants.into < 0) {
        row->dropped++;
        return MRS_OK;
    }
    uint32_t side = (uint32_t)k->wants.into;
    row->taken++;
    struct mrsi_candidate c = {k->en->side[k->step][side], mrsi_source(0, i), 0, false, false};
    enum mrs_status s = mrsi_step_outputs_admit(&k->sides, w, &job->lists, &c, &doc, &write, e);
    if (s != MRS_OK || !write) {
        return s;
    }
    mrsi_row(w, k->step, side)->entered++;
    return mrsi_step_outputs_write(&k->sides, w, job->io.out, side, doc, e);
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_write_job *job = p;
    if (ordinal >= k->n) { /* only if the resumed state is wrong */
        return mrsi_state_damaged("the step", e);
    }
    mrsi_row(w, k->step, 0)->before++;
    if (mrsi_rekey_refused(k, ordinal)) {
        return refuse(k, w, job, ordinal, doc, e);
    }
    return survives(k, ordinal) ? write_document(k, w, job, ordinal, doc, e)
                                : take_away(k, w, job, ordinal, doc, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_rekey_run *k = arg;
    struct rekey_write_job *job = p;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, k->scan.coll, job->io.part, &job->io.block);
    cur.quiet = cur.checked = true;
    return mrsi_cursor_each(&cur, one_document, k, w, job, e);
}

static enum mrs_status
scan_side(struct mrsi_rekey_run *k, enum mrs_status (*fn)(void *, struct mrsi_worker *, void *, struct mrs_err *),
          struct mrs_err *e)
{
    struct mrsi_pipe p = {k->en, sizeof(struct rekey_write_job), fetch, fn, commit, clear, k};
    return mrsi_pass_scan(&k->pass, &p, &k->en->coll[k->en->side[k->step][k->now]], &k->scan, e);
}

/* ---- repeated until all refused documents are known ---- */
/* Refuses the groups of documents that could not be written, or whose `_id` exists already. */
static void
refuse_late(struct mrsi_rekey_run *k)
{
    MRS_ASSERT(k->late);
    mrsi_fates_refuse_unsorted(&k->fates);
    for (uint64_t i = 0; k->wants.merge && i < k->n; i++) {
        unsigned bits = mrsi_fates_get(&k->fates, i);
        if ((bits & MRSI_FATE_REFUSED) && !(bits & MRSI_FATE_OUTSIDE)) {
            mrsi_fates_add(&k->fates, mrsi_rekey_root(k, i), MRSI_REKEY_LATE);
        }
    }
}

static void
refuse_rejected(struct mrsi_rekey_run *k)
{
    const struct mrsi_rejected *b = (const struct mrsi_rejected *)(const void *)k->sides.ids.rejected.p;
    for (size_t i = 0; k->sides.ids.phase == MRSI_IDS_APPLY && i < k->sides.ids.rejected.n; i++) {
        uint64_t ordinal = mrsi_source_ordinal(b[i].source);
        if (ordinal < k->n) { /* else only if the resumed state is wrong */
            mrsi_fates_add(&k->fates, ordinal, MRSI_FATE_REFUSED | MRSI_REKEY_REJECTED);
            mrsi_fates_add(&k->fates, mrsi_rekey_root(k, ordinal), MRSI_REKEY_LATE);
        }
    }
}

static enum mrs_status
next_phase(struct mrsi_rekey_run *k, bool *again, struct mrs_err *e)
{
    struct mrsi_ids *ids = &k->sides.ids;
    enum mrs_status s = MRS_OK;
    *again = k->late;
    if (k->late) {
        refuse_late(k);
        mrsi_ids_clear(ids);
        s = mrsi_rekey_call(k, e);
        return s != MRS_OK ? s : mrsi_ids_init(ids, k->en, k->st->desc.conflicts, e);
    }
    bool judged = ids->phase >= MRSI_IDS_COLLECT;
    s = mrsi_ids_next(ids, &k->pass, again, e);
    if (!judged) {
        return s;
    }
    refuse_rejected(k);
    return s == MRS_OK && *again ? mrsi_rekey_call(k, e) : s;
}

enum mrs_status
mrsi_rekey_write(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->stage == MRSI_REKEY_WRITE);
    bool again = false;
    enum mrs_status s;
    do {
        bool done = mrsi_ids_is_between(&k->sides.ids); /* in the stopped run */
        k->late = k->late && !again;
        s = again ? mrsi_step_outputs_begin(&k->sides, k->log, true, e) : MRS_OK;
        s = s == MRS_OK && !done ? mrsi_step_outputs_existing(&k->sides, false, again, e) : s;
        s = s == MRS_OK && !done ? scan_side(k, work, e) : s;
        MRS_THEN(s, next_phase(k, &again, e));
    } while (s == MRS_OK && again);
    return s;
}

/* ---- other collections with references ---- */
enum mrs_status
mrsi_rekey_point_document(struct mrsi_rekey_run *k, struct mrsi_worker *w, struct rekey_write_job *job,
                          uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_row *row = mrsi_row(w, k->step, k->now);
    struct mrs_view was = doc;
    row->before++;
    enum mrs_status s = follow(k, w, &job->ahead, &job->bytes[1], &doc, e);
    if (s == MRS_SKIP) {
        row->refused++;
        return mrsi_refuse(w, k->step, k->now, k->en->side[k->step][k->now], ordinal, doc, e);
    }
    if (s != MRS_OK) {
        return mrsi_kernel_failed(w, s, e);
    }
    row->changed += mrsi_differ(was, doc);
    return mrsi_step_outputs_write(&k->sides, w, job->io.out, k->now, doc, e);
}

enum mrs_status
mrsi_rekey_refer(struct mrsi_rekey_run *k, struct mrs_err *e)
{
    MRS_ASSERT(k->stage == MRSI_REKEY_POINT);
    const struct mrs_desc *d = &k->st->desc;
    enum mrs_status s = MRS_OK;
    for (; s == MRS_OK && k->now < d->n_sides; k->now++) {
        if (d->sides[k->now].role & MRS_ROLE_MAIN) {
            s = scan_side(k, mrsi_rekey_point_block, e);
        }
    }
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* notices.c - notes that an author should read before a run: documents without a match, dangling references, documents
 * above a limit, sizes of the largest documents and arrays.
 *
 * The numbers are in the account's rows. Drivers record documents by their ordinals, of which the first are kept;
 * before the step's output replaces the collections, these are looked up for their `_id`s. */
#include "pass.h"
#include "run/account/fates.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/catalogue.h"

struct noted {
    uint64_t *first; /* ordinals, ascending; as many as the report shows */
    uint32_t n;
    struct mrs_ids ids;
};
struct document_at { /* a document by its `_id` */
    uint8_t type;
    struct mrs_buf id; /* its value */
};
struct result { /* for a collection: its largest document, its longest array of documents, and keys */
    uint32_t n, elements;
    struct document_at largest, longest;
    char path[64]; /* of that array; may be cut */
    struct mrsi_unique_check *clash;
};
struct mrsi_notices {
    uint32_t most; /* maximum number of `_id`s of a kind */
    struct noted (*noted)[2][MRS_NOTICE_KINDS]; /* by step and side */
    struct result *result;                       /* by collection */
    struct mrs_buf room;
};

/* Only rewritten collections cause notes. */
static enum mrs_status
prepare_unique_checks(struct mrsi_engine *en, struct mrs_err *e)
{
    uint64_t limit = en->memory / 8 / (en->n_coll + 1);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < en->n_coll; i++) {
        const struct mrsi_coll *c = &en->coll[i];
        if (c->cat && c->dropped_at == MRSI_NONE && c->cat->kind == MRS_COLL_PLAIN) {
            s = mrsi_unique_check_new(en, i, limit, &en->notices->result[i].clash, e);
        }
    }
    return s;
}

enum mrs_status
mrsi_notices_new(struct mrsi_engine *en, struct mrs_err *e)
{
    if (!en->opts->notices) {
        return MRS_OK;
    }
    struct mrsi_notices *l = en->notices = mrs_zalloc(en->mem, sizeof *l);
    MRS_TRY(mrs_allocated(l, sizeof *l, e));
    mrs_buf_init(&l->room, en->mem, SIZE_MAX);
    l->most = en->opts->ids ? en->opts->ids : 1;
    l->noted = mrs_zalloc(en->mem, (en->plan->n_steps + 1) * sizeof *l->noted);
    l->result = mrs_zalloc(en->mem, (en->n_coll + 1) * sizeof *l->result);
    for (uint32_t i = 0; l->result && i < en->n_coll; i++) {
        mrs_buf_init(&l->result[i].largest.id, en->mem, SIZE_MAX);
        mrs_buf_init(&l->result[i].longest.id, en->mem, SIZE_MAX);
    }
    return l->noted && l->result ? prepare_unique_checks(en, e) : mrs_err_memory(e, en->n_coll * sizeof *l->result);
}

void
mrsi_notices_free(struct mrsi_engine *en)
{
    struct mrsi_notices *l = en->notices;
    if (!l) {
        return;
    }
    for (uint32_t i = 0; l->noted && i < en->plan->n_steps; i++) {
        for (uint32_t k = 0; k < 2 * MRS_NOTICE_KINDS; k++) {
            mrs_free(en->mem, l->noted[i][k / MRS_NOTICE_KINDS][k % MRS_NOTICE_KINDS].first);
        }
    }
    for (uint32_t i = 0; l->result && i < en->n_coll; i++) {
        mrs_buf_clear(&l->result[i].largest.id);
        mrs_buf_clear(&l->result[i].longest.id);
        mrsi_unique_check_free(l->result[i].clash);
    }
    mrs_buf_clear(&l->room);
    mrs_free(en->mem, l->noted);
    mrs_free(en->mem, l->result);
    mrs_free(en->mem, l);
    en->notices = NULL;
}

/* ---- documents of a step ---- */
enum mrs_status
mrsi_notices_note(struct mrsi_engine *en, uint32_t step, uint32_t side, enum mrs_notice_kind kind, uint64_t ordinal,
                  struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps && side < 2 && kind < MRS_NOTICE_KINDS);
    struct mrsi_notices *l = en->notices;
    if (!l) {
        return MRS_OK;
    }
    struct noted *x = &l->noted[step][side][kind];
    if (x->n == l->most) {
        return MRS_OK;
    }
    if (!x->first) {
        x->first = mrs_alloc_array(en->mem, l->most, sizeof *x->first);
        MRS_TRY(mrs_allocated(x->first, l->most * sizeof *x->first, e));
    }
    x->first[x->n++] = ordinal;
    return MRS_OK;
}

void
mrsi_notices_forget(struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    for (uint32_t k = 0; en->notices && k < 2 * MRS_NOTICE_KINDS; k++) {
        struct noted *x = &en->notices->noted[step][k / MRS_NOTICE_KINDS][k % MRS_NOTICE_KINDS];
        x->n = 0;
    }
}

enum mrs_status
mrsi_notices_fates(struct mrsi_engine *en, uint32_t step, const struct mrsi_fates *f, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; en->notices && s == MRS_OK && i < f->n; i++) {
        unsigned bits = mrsi_fates_get(f, i);
        if (bits & (MRSI_FATE_OUTSIDE | MRSI_FATE_REFUSED | MRSI_FATE_UNSORTED)) {
            continue;
        }
        if (!(bits & MRSI_FATE_USED)) {
            s = mrsi_notices_note(en, step, 0, MRS_NOTICE_ORPHAN, i, e);
        }
        if (bits & MRS_USED_CUT) {
            s = mrsi_notices_note(en, step, 0, MRS_NOTICE_CUT, i, e);
        }
        if (s == MRS_OK && (bits & MRS_USED_LEFT)) {
            s = mrsi_notices_note(en, step, 0, MRS_NOTICE_LEFT, i, e);
        }
        if (s == MRS_OK && i % MRSI_FATE_CHUNK == 0) {
            s = mrsi_interrupted(en, e);
        }
    }
    return s;
}

/* ---- their _ids ---- */
/* Number of ordinals of the side without an `_id`, and the smallest of them. */
static uint64_t
next_needed(struct noted *x, uint64_t *least)
{
    uint64_t left = 0;
    *least = UINT64_MAX;
    for (uint32_t k = 0; k < MRS_NOTICE_KINDS; k++) {
        if (x[k].ids.n < x[k].n) {
            uint64_t one = x[k].first[x[k].ids.n];
            left += x[k].n - x[k].ids.n;
            *least = one < *least ? one : *least;
        }
    }
    return left;
}

/* A refused document that earlier steps change is not found; its `_id` stays unknown. */
static enum mrs_status
name_one(struct mrsi_engine *en, struct noted *x, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t k = 0; s == MRS_OK && k < MRS_NOTICE_KINDS; k++) {
        while (s == MRS_OK && x[k].ids.n < x[k].n && x[k].first[x[k].ids.n] <= ordinal) {
            s = mrsi_ids_add(en->report, &x[k].ids, doc, &en->notices->room, e);
        }
    }
    return s;
}

static enum mrs_status
name_in_block(struct mrsi_engine *en, struct noted *x, struct mrsi_cursor *cur, struct mrs_err *e)
{
    uint64_t least;
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
    while (next_needed(x, &least) && (s == MRS_OK || s == MRS_SKIP)) {
        s = mrsi_cursor_next(cur, &en->worker[0], &doc, e);
        if (s == MRS_OK && cur->ordinal >= least) {
            s = name_one(en, x, cur->ordinal, doc, e);
        }
    }
    return s == MRS_END || s == MRS_SKIP ? MRS_OK : s;
}

static enum mrs_status
name_side(struct mrsi_engine *en, uint32_t step, uint32_t side, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps && side < 2);
    struct noted *x = en->notices->noted[step][side];
    struct mrsi_coll *c = &en->coll[en->side[step][side]];
    const struct mrsi_part *part;
    struct mrsi_scan scan;
    struct mrs_block block;
    uint64_t least, done = atomic_load(&en->done_bytes), docs = atomic_load(&en->done_docs);
    enum mrs_status s = MRS_OK;
    for (uint32_t k = 0; k < MRS_NOTICE_KINDS; k++) {
        x[k].ids.at = mrs_arena_alloc(&en->report->arena, (x[k].n + 1) * sizeof *x[k].ids.at);
        MRS_TRY(mrs_allocated(x[k].ids.at, x[k].n * sizeof *x[k].ids.at, e));
    }
    mrs_block_init(&block, en->mem);
    mrsi_scan_begin(en, c, &scan);
    while (s == MRS_OK && next_needed(x, &least)) {
        s = mrsi_scan_next(&scan, &block, &part, e);
        if (s == MRS_OK && block.first_doc + block.n_docs > least) {
            struct mrsi_cursor cur;
            mrsi_cursor_begin(&cur, c, part, &block);
            cur.quiet = cur.checked = true;
            s = name_in_block(en, x, &cur, e);
        }
    }
    mrsi_scan_end(&scan);
    mrs_block_clear(&block);
    atomic_store(&en->done_bytes, done); /* not part of the progress estimate */
    atomic_store(&en->done_docs, docs);
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
mrsi_notices_name(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    enum mrs_status s = en->notices ? name_side(en, step, 0, e) : MRS_OK;
    return en->notices && s == MRS_OK ? name_side(en, step, 1, e) : s;
}

/* ---- the result ---- */
static void
note_id(struct document_at *at, struct mrs_view doc)
{
    struct mrs_elem id;
    mrs_buf_reset(&at->id);
    mrs_doc_find(doc, "_id", 3, &id);
    mrs_buf_put(&at->id, id.v.p, id.v.n);
    at->type = id.v.type;
}

/* Number of elements of an array whose first is a document; 0: not such an array, or at most `least` elements. */
static uint32_t
documents_in(struct mrs_val v, uint32_t least)
{
    struct mrs_walk w;
    struct mrs_elem x;
    uint32_t n = 0;
    if (v.type != MRS_ARRAY || v.n / 8 <= least) { /* an empty document takes 8 bytes, name included */
        return 0;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &x) > 0 && (n || x.v.type == MRS_DOCUMENT)) {
        n++;
    }
    return n;
}

static void
find_longest_array(struct result *r, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_walk w;
    struct mrs_elem x;
    mrs_walk_init(&w, doc);
    while (mrs_walk_next(&w, &x) > 0) {
        uint32_t n = documents_in(x.v, r->elements);
        if (n > r->elements) {
            r->elements = n;
            snprintf(r->path, sizeof r->path, "%.63s", x.name);
            note_id(&r->longest, doc);
        }
    }
}

enum mrs_status
mrsi_notices_written(struct mrsi_engine *en, uint32_t coll, const uint8_t *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(coll < en->n_coll);
    if (!en->notices) {
        return MRS_OK;
    }
    struct result *x = &en->notices->result[coll];
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < n;) {
        struct mrs_view doc = {p + at, mrs_le32(p + at)};
        at += doc.n;
        if (doc.n > x->n) {
            x->n = doc.n;
            note_id(&x->largest, doc);
        }
        find_longest_array(x, doc);
        s = mrsi_unique_check_document(x->clash, doc, e);
    }
    MRS_THEN(s, mrs_buf_status(&x->longest.id, e));
    return s == MRS_OK ? mrs_buf_status(&x->largest.id, e) : s;
}

void
mrsi_notices_restart(struct mrsi_engine *en, uint32_t coll)
{
    MRS_ASSERT(coll < en->n_coll);
    if (en->notices) {
        en->notices->result[coll].n = en->notices->result[coll].elements = 0;
        mrsi_unique_check_restart(en->notices->result[coll].clash);
    }
}

static enum mrs_status
report_notices(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_report *rep = en->report;
    uint32_t n = en->plan->n_steps * 2 * MRS_NOTICE_STEP, more = 1;
    for (uint32_t i = 0; i < en->n_coll; i++) {
        more += en->notices ? mrsi_unique_check_most(en->notices->result[i].clash) : 0;
    }
    rep->notice = mrs_arena_alloc(&rep->arena, (n + more) * sizeof *rep->notice);
    MRS_TRY(mrs_allocated(rep->notice, n * sizeof *rep->notice, e));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t step = i / (2 * MRS_NOTICE_STEP), side = i / MRS_NOTICE_STEP % 2, kind = i % MRS_NOTICE_STEP;
        const struct mrs_desc *d = &en->plan->steps[step].desc;
        uint64_t count = side < d->n_sides ? en->rows[en->row_of[step][side]].noticed[side][kind] : 0;
        if (!count) {
            continue;
        }
        const char *ns = d->sides[side].coll.ns;
        ns = mrs_arena_copy(&rep->arena, ns, strlen(ns) + 1);
        MRS_TRY(mrs_allocated(ns, 1, e));
        rep->notice[rep->n_notice++] = (struct mrs_notice){
            .kind = kind, .step = en->plan->steps[step].no, .ns = ns, .count = count};
        if (en->notices) {
            rep->notice[rep->n_notice - 1].ids = en->notices->noted[step][side][kind].ids;
        }
    }
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; en->notices && s == MRS_OK && i < en->n_coll; i++) {
        s = en->coll[i].written && !en->coll[i].copied ? mrsi_unique_check_report(en->notices->result[i].clash, e) :
                MRS_OK;
    }
    return s;
}

static const char *
id_of(struct mrsi_engine *en, const struct document_at *at)
{
    struct mrs_val id = {at->id.p, (uint32_t)at->id.n, at->type};
    return mrsi_id_text(en->report, id, &en->notices->room);
}

/* Does a step put documents into arrays of the collection? Arrays from before are no news. */
static bool
grows_arrays(const struct mrsi_engine *en, uint32_t coll)
{
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        const struct mrs_desc *d = &en->plan->steps[i].desc;
        if (strcmp(en->plan->steps[i].type->name, "embed") == 0 && d->n_sides > 1 &&
            strcmp(d->sides[1].coll.ns, en->coll[coll].cat ? en->coll[coll].cat->coll.ns : "") == 0) {
            return true;
        }
    }
    return false;
}

/* False: out of memory. */
static bool
report_longest(struct mrsi_engine *en, uint32_t coll, struct mrs_written *w)
{
    const struct result *x = &en->notices->result[coll];
    if (!x->elements || !grows_arrays(en, coll)) {
        return true;
    }
    w->longest = x->elements;
    w->longest_path = mrs_arena_copy(&en->report->arena, x->path, strlen(x->path) + 1);
    w->longest_id = id_of(en, &x->longest);
    return w->longest_path && w->longest_id;
}

/* After the report of the written collections, which has them in the same order. */
static enum mrs_status
report_largest(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_written *w = en->report->written;
    for (uint32_t i = 0; i < en->n_coll; i++) {
        const struct result *x = &en->notices->result[i];
        if (!en->coll[i].written) {
            continue;
        }
        if (x->n && !en->coll[i].copied) {
            w->largest = x->n;
            w->largest_id = id_of(en, &x->largest);
            if (!w->largest_id || !report_longest(en, i, w)) {
                return mrs_err_memory(e, x->largest.id.n);
            }
        }
        w++;
    }
    return MRS_OK;
}

enum mrs_status
mrsi_notices_report(struct mrsi_engine *en, struct mrs_err *e)
{
    enum mrs_status s = report_notices(en, e);
    return en->notices && s == MRS_OK ? report_largest(en, e) : s;
}

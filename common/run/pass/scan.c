/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c - reads a collection: its parts in order, block by block, and passes each document to a step.
 *
 * Documents of input files are fully validated before they are used; our own files are not validated again. Pending
 * steps of a part are applied here. Ordinals count the documents in the parts, whatever happens to them, so they are
 * equal in every pass. */
#include "pass.h"
#include "run/account/amend.h"
#include "run/notices/unknown_paths.h"
#include "mongoreshape/clock.h"
#include "mongoreshape/context.h"

void
mrsi_scan_begin(struct mrsi_engine *en, struct mrsi_coll *c, struct mrsi_scan *s)
{
    memset(s, 0, sizeof *s);
    s->en = en;
    s->coll = c;
    s->parts = c->part;
    s->n_part = c->n_part;
}

static enum mrs_status
open_part(struct mrsi_scan *s, struct mrs_err *e)
{
    const struct mrsi_part *part = &s->parts[s->at_part];
    size_t block = mrsi_block_bytes(s->en);
    s->in_part = s->progress = 0;
    if (part->temp) {
        return mrs_reader_fd(s->en->mem, part->temp->fd, part->temp->bytes, s->coll->ns, block, &s->reader, e);
    }
    return mrs_reader_open(s->en->in, part->in_index, block, &s->reader, e);
}

enum mrs_status
mrsi_scan_resume(struct mrsi_scan *s, const struct mrs_reader_at *at, uint64_t in_part, struct mrs_err *e)
{
    MRS_ASSERT(s->at_part <= s->n_part);
    enum mrs_status st = open_part(s, e);
    MRS_THEN(st, mrs_reader_go_on(s->reader, at, e));
    if (st == MRS_OK) {
        s->in_part = in_part;
        s->progress = mrs_reader_progress(s->reader);
    }
    return st;
}

enum mrs_status
mrsi_scan_map(struct mrsi_engine *en, struct mrsi_coll *c, uint32_t part, const uint8_t **p, size_t *n,
              struct mrs_err *e)
{
    MRS_ASSERT(part < c->n_part);
    struct mrsi_scan scan;
    mrsi_scan_begin(en, c, &scan);
    scan.at_part = part;
    enum mrs_status s = open_part(&scan, e);
    *p = NULL;
    if (s == MRS_OK) {
        mrs_reader_map(scan.reader, p, n);
    }
    mrs_reader_close(scan.reader);
    return s;
}

static void
close_part(struct mrsi_scan *s)
{
    mrs_reader_close(s->reader);
    s->reader = NULL;
    s->base += s->in_part;
    s->at_part++;
}

static void
report_progress(struct mrsi_scan *s, const struct mrs_block *b)
{
    uint64_t now = mrs_reader_progress(s->reader);
    if (!s->parts[s->at_part].temp) {
        atomic_fetch_add(&s->en->done_bytes, now - s->progress);
        atomic_fetch_add(&s->en->done_docs, b->n_docs);
    }
    s->progress = now;
    mrsi_tick(s->en);
}

/* In a sample the input's collections end early; the reader is closed there, as at the end of a file. */
static enum mrs_status
cut_sample(struct mrsi_scan *s, struct mrs_block *b)
{
    MRS_ASSERT(b->n <= b->cap);
    uint64_t most = s->en->opts->sample;
    if (!most || s->coll->whole || s->parts[s->at_part].temp) {
        return MRS_OK;
    }
    if (b->first_doc >= most) {
        mrs_reader_close(s->reader);
        s->reader = NULL;
        s->at_part = s->n_part;
        return MRS_END;
    }
    while (b->first_doc + b->n_docs > most) {
        size_t n = 0;
        for (uint32_t i = 0; i + 1 < b->n_docs; i++) {
            n += mrs_le32(b->p + n);
        }
        b->n = n;
        b->n_docs--;
    }
    return MRS_OK;
}

enum mrs_status
mrsi_scan_next(struct mrsi_scan *s, struct mrs_block *b, const struct mrsi_part **part, struct mrs_err *e)
{
    MRS_ASSERT(s->at_part <= s->n_part && part);
    while (s->at_part < s->n_part) {
        enum mrs_status st = s->reader ? MRS_OK : open_part(s, e);
        MRS_THEN(st, mrs_reader_next(s->reader, b, e));
        if (st < MRS_OK) {
            return st;
        }
        if (st == MRS_OK) {
            report_progress(s, b);
            s->in_part = b->first_doc + b->n_docs;
            s->bytes += b->n;
            b->first_doc += s->base;
            *part = &s->parts[s->at_part];
            return cut_sample(s, b);
        }
        close_part(s);
    }
    return MRS_END;
}

/* Estimated from the bytes of the part read so far, which may be half a buffer ahead of the documents. */
uint64_t
mrsi_scan_guess(const struct mrsi_scan *s)
{
    const struct mrsi_part *part = s->at_part < s->n_part ? &s->parts[s->at_part] : NULL;
    if (!part || !s->progress) {
        return s->base + s->in_part;
    }
    uint64_t all = part->temp ? part->temp->bytes : mrs_input_at(s->en->in, part->in_index)->file_bytes;
    double more = all > s->progress ? (double)all / (double)s->progress : 1;
    return s->base + (uint64_t)((double)s->in_part * more);
}

void
mrsi_scan_end(struct mrsi_scan *s)
{
    mrs_reader_close(s->reader);
    s->reader = NULL;
    if (s->n_part == 1 && s->at_part == 1 && s->parts[0].in_index != MRSI_NONE) {
        s->coll->read = true; /* the first pass over a file validates its documents */
        s->coll->read_docs = s->base;
        s->coll->read_bytes = s->bytes;
    }
}

void
mrsi_cursor_begin(struct mrsi_cursor *c, struct mrsi_coll *coll, const struct mrsi_part *part,
                  const struct mrs_block *b)
{
    MRS_ASSERT(b->n <= b->cap);
    memset(c, 0, sizeof *c);
    c->coll = coll;
    c->part = part;
    c->b = b;
    c->next = b->first_doc;
}

static inline void
note_id(struct mrsi_id_span *x, struct mrs_view doc)
{
    const uint8_t *id = mrsi_first_object_id(doc);
    if (!id || (x->last && memcmp(x->last, id, MRSI_OBJECT_ID) >= 0)) {
        x->loose = true;
    }
    x->first = x->first ? x->first : id;
    x->last = id;
}

/* The document that begins at c->at, for the manifest. */
static enum mrs_status
sum_up(struct mrsi_cursor *c, struct mrsi_engine *en, struct mrs_view doc, struct mrs_err *e)
{
    if (c->at == 0) {
        c->sums = mrsi_input_digest_needs(en, c->part->in_index, c->b->seq);
    }
    if (!c->sums) {
        return MRS_OK;
    }
    c->before = c->docs.digest;
    mrs_docs_add(&c->docs, &en->salt, doc.p, doc.n);
    note_id(&c->ids, doc);
    return c->at + doc.n < c->b->n ? MRS_OK : mrsi_input_digest_block(en, c->part->in_index, c->b->seq, c, e);
}

/* A document of an input file. */
static enum mrs_status
read_input(struct mrsi_cursor *c, struct mrsi_worker *w, struct mrs_view *doc, struct mrs_err *e)
{
    enum mrs_status s = sum_up(c, w->en, *doc, e);
    if (s == MRS_OK && !c->checked) {
        s = c->fields ? mrs_doc_check_fields(doc->p, doc->n, MRS_DEPTH_READ, &w->fields, &w->layout, e)
                      : mrs_doc_check(doc->p, doc->n, MRS_DEPTH_READ, e);
        w->ctx.fields = c->fields ? &w->fields : NULL;
        w->ctx.fields_of = doc->p;
        if (s != MRS_OK) {
            return mrsi_bad_input(mrs_input_at(w->en->in, c->part->in_index), c->ordinal, c->b->off + c->at, s, e);
        }
    }
    return s == MRS_OK && w->en->amend ? mrsi_amend_doc(w->en->amend, c->part->in_index, w, doc, e) : s;
}

/* The row of the step that reads the collection, if paths are searched. */
static uint32_t
row_of(const struct mrsi_engine *en, const struct mrsi_cursor *c)
{
    uint32_t step = en->now, coll = (uint32_t)(c->coll - en->coll);
    uint32_t n = en->searched && step != MRSI_NONE && !c->quiet ? en->plan->steps[step].desc.n_sides : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (en->side[step][i] == coll && en->searched[en->row_of[step][i]]) {
            return en->row_of[step][i];
        }
    }
    return MRSI_NONE;
}

/* Has a job continued for so long after an interrupt that it must be aborted? Most end before, and then the run can
 * resume after them. */
int
mrsi_worker_is_late(void *worker)
{
    enum { GRACE_MS = 50 };
    struct mrsi_worker *w = worker;
    if (!mrsi_cancelled(w->en)) {
        return 0;
    }
    uint64_t now = mrs_clock_steady();
    w->cancelled_ms = w->cancelled_ms ? w->cancelled_ms : now;
    return now - w->cancelled_ms > GRACE_MS;
}

enum mrs_status
mrsi_cursor_next(struct mrsi_cursor *c, struct mrsi_worker *w, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(c->at <= c->b->n);
    if (c->at >= c->b->n) {
        return MRS_END;
    }
    if (c->at == 0) {
        c->row = row_of(w->en, c);
    }
    if (mrsi_worker_is_late(w)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted");
    }
    doc->p = c->b->p + c->at;
    doc->n = mrs_le32(doc->p);
    c->ordinal = c->next++;
    w->last = (struct mrsi_read_last){c->coll->ns, c->ordinal};
    mrs_arena_reset(&w->arena);
    w->ctx.fields = NULL;
    uint32_t n = doc->n;
    enum mrs_status s = c->part->in_index != MRSI_NONE ? read_input(c, w, doc, e) : MRS_OK;
    c->at += n;
    if (s != MRS_OK) {
        return s;
    }
    if (c->part->n_pend) {
        uint32_t quiet = c->quiet ? c->part->n_pend : c->part->n_counted;
        s = mrsi_map_run(w, c->part->pend, c->part->n_pend, quiet, (uint32_t)(c->coll - w->en->coll), doc, e);
    }
    w->first_read = !c->quiet;
    if (s == MRS_OK && c->row != MRSI_NONE) {
        mrsi_paths_meet(w, c->row, *doc);
    }
    return s;
}

enum mrs_status
mrsi_cursor_each(struct mrsi_cursor *c, mrsi_doc_fn fn, void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    MRS_ASSERT(fn && c->at <= c->b->n);
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK || s == MRS_SKIP) {
        s = mrsi_cursor_next(c, w, &doc, e);
        MRS_THEN(s, fn(arg, w, job, c->ordinal, doc, e));
    }
    return s == MRS_END ? MRS_OK : s;
}

enum mrs_status
mrsi_read_again(struct mrsi_engine *en, struct mrsi_coll *c, uint64_t bytes, mrsi_doc_fn fn, void *arg, bool *all,
                struct mrs_err *e)
{
    MRS_ASSERT(fn && en->jobs > 0);
    uint64_t seen = 0, done = atomic_load(&en->done_bytes), docs = atomic_load(&en->done_docs);
    const struct mrsi_part *part;
    struct mrs_block block;
    struct mrsi_scan scan;
    enum mrs_status s = MRS_OK;
    mrs_block_init(&block, en->mem);
    mrsi_scan_begin(en, c, &scan);
    while (s == MRS_OK && seen < bytes) {
        s = mrsi_scan_next(&scan, &block, &part, e);
        if (s == MRS_OK) {
            struct mrsi_cursor cur;
            seen += block.n;
            mrsi_cursor_begin(&cur, c, part, &block);
            cur.quiet = cur.checked = true;
            s = mrsi_cursor_each(&cur, fn, arg, &en->worker[0], NULL, e);
        }
    }
    mrsi_scan_end(&scan);
    mrs_block_clear(&block);
    atomic_store(&en->done_bytes, done); /* not part of the progress estimate */
    atomic_store(&en->done_docs, docs);
    *all = s == MRS_END;
    return s == MRS_END ? MRS_OK : s;
}

void
mrsi_coll_counted(struct mrsi_coll *c)
{
    for (uint32_t i = 0; i < c->n_part; i++) {
        c->part[i].n_counted = c->part[i].n_pend;
    }
}

uint64_t
mrsi_input_bytes(const struct mrs_input_ns *in)
{
    return in->file_bytes * (in->codec == MRS_CODEC_NONE ? 1 : 8);
}

uint64_t
mrsi_guess_bytes(const struct mrsi_engine *en, const struct mrsi_coll *c)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->n_part; i++) {
        if (c->part[i].temp) {
            n += c->part[i].temp->bytes;
        } else {
            n += mrsi_input_bytes(mrs_input_at(en->in, c->part[i].in_index));
        }
    }
    return n;
}

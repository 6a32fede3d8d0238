/* SPDX-License-Identifier: Apache-2.0 */
/* join_emit.c - the writing pass of a join: each document of `into` with its matches.
 *
 * A lookup processes blocks of `into` as they are read. A route processes slices: consecutive into documents that
 * belong to one partition, whose records are loaded and distributed to their documents by a counting sort. Documents
 * for other targets (pages) wait until the splice has succeeded, so that a refused parent leaves no trace. */
#include "heavy_parents.h"
#include "mongoreshape/join_ops.h"

struct join_emit_job {
    struct mrsi_slice slice;       /* lookup: only its documents */
    struct mrsi_heavy heavy;       /* for a heavy slice, which is processed in its commit */
    struct mrs_buf page;           /* scratch for a page that is read back from a file */
    struct mrsi_out *out;
    struct mrsi_hashed h;
    struct mrsi_match_list list;
    bool direct; /* splice directly into the job's output; else into `spliced` */
    size_t spliced_at;             /* offset of the spliced document there */
    struct mrs_buf start, sorted, spliced, pages, near; /* see job_begin */
    struct mrs_buf resolved, dangling; /* one byte for each reference with a match; uint64_t: documents with others */
    struct mrsi_lists lists;
};

static enum mrs_status
job_begin(struct mrsi_join_run *j, struct join_emit_job *job, struct mrs_err *e)
{
    struct mrs_mem *mem = j->en->mem;
    if (job->out) {
        return MRS_OK;
    }
    job->out = mrsi_step_outputs_outs(&j->sides);
    MRS_TRY(mrs_allocated(job->out, sizeof *job->out, e));
    mrsi_slice_init(&job->slice, mem);
    mrsi_hashed_init(&job->h, mem);
    mrsi_match_list_init(&job->list, j, mem);
    mrsi_lists_init(&job->lists, mem);
    struct mrs_buf *all[] = {&job->start, &job->sorted, &job->spliced, &job->pages,
                             &job->page,  &job->near,   &job->resolved, &job->dangling};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_init(all[i], mem, SIZE_MAX);
    }
    return MRS_OK;
}

static void
clear(void *arg, void *p)
{
    struct mrsi_join_run *j = arg;
    struct join_emit_job *job = p;
    if (!job->out) {
        return;
    }
    struct mrs_buf *all[] = {&job->start, &job->sorted, &job->spliced, &job->pages,
                             &job->page,  &job->near,   &job->resolved, &job->dangling};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_clear(all[i]);
    }
    mrsi_step_outputs_outs_free(&j->sides, job->out);
    mrsi_match_list_clear(&job->list);
    mrsi_lists_clear(&job->lists);
    mrsi_hashed_clear(&job->h);
    mrsi_slice_clear(&job->slice);
}

/* ---- fetch ---- */
static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct join_emit_job *job = p;
    struct mrsi_slice *x = &job->slice;
    enum mrs_status s = job_begin(j, job, e);
    if (s == MRS_OK && j->lookup) {
        s = mrsi_scan_next(&j->scan, &x->block, &x->part, e);
        x->is_large = mrsi_is_large(j->en, x->block.n);
    } else if (s == MRS_OK) {
        s = mrsi_slice_next(j, x, e);
    }
    *big = x->is_large || x->is_heavy;
    return s;
}

/* ---- records of the slice, by document ---- */
/* The addresses of payloads in mapped files. *bytes: their total size. */
static enum mrs_status
find_far(const struct mrsi_join_run *j, struct mrsi_match_record *match, size_t n, size_t *bytes, struct mrs_err *e)
{
    *bytes = 0;
    for (size_t i = 0; i < n; i++) {
        const struct mrsi_rec *r = match[i].rec;
        if (r->is_far) {
            match[i].payload = mrsi_far_find(j, r);
            *bytes += r->payload_len;
            if (!match[i].payload) {
                return mrsi_state_damaged("what stays in the input", e);
            }
        }
    }
    return MRS_OK;
}

/* Copies them to one place, in the order of use. They are scattered over memory; a loop that does nothing else has many
 * cache misses in flight at once. */
static enum mrs_status
load_far(const struct mrsi_join_run *j, struct join_emit_job *job, struct mrsi_match_record *match, size_t n,
         struct mrs_err *e)
{
    MRS_ASSERT(j->far);
    enum { SOON = 16, LINE = 64, LINES = 8 };
    size_t bytes;
    MRS_TRY(find_far(j, match, n, &bytes, e));
    mrs_buf_reset(&job->near);
    uint8_t *at = mrs_buf_take(&job->near, bytes + 1);
    if (!at) {
        return mrs_buf_status(&job->near, e);
    }
    for (size_t i = 0; i < n; i++) {
        if (i + SOON < n && match[i + SOON].payload) {
            uint32_t len = match[i + SOON].rec->payload_len;
            for (uint32_t k = 0; k < len && k < LINES * LINE; k += LINE) {
                __builtin_prefetch(match[i + SOON].payload + k);
            }
        }
        if (match[i].payload) {
            mrsi_far_copy(match[i].rec, match[i].payload, at);
            match[i].payload = at;
            at += match[i].rec->payload_len;
        }
    }
    return MRS_OK;
}

static enum mrs_status
throw_records(struct mrsi_join_run *j, struct join_emit_job *job, struct mrs_err *e)
{
    MRS_ASSERT(!job->slice.is_heavy && !j->lookup);
    uint32_t n = job->slice.block.n_docs;
    MRS_TRY(mrsi_slice_load(&job->slice, e));
    const struct mrsi_loaded *rec = (const struct mrsi_loaded *)(const void *)job->slice.recs.p;
    size_t n_rec = job->slice.recs.n / sizeof *rec;
    mrs_buf_reset(&job->start);
    mrs_buf_reset(&job->sorted);
    job->list.fetched = NULL;
    uint32_t *start = (uint32_t *)(void *)mrs_buf_take(&job->start, (n + 2) * sizeof *start);
    mrs_buf_grow(&job->sorted, sizeof(struct mrsi_match_record));
    struct mrsi_match_record *sorted = (struct mrsi_match_record *)(void *)mrs_buf_take(&job->sorted,
                                                                                        n_rec * sizeof *sorted);
    if (!start || !sorted) {
        return mrs_err_memory(e, n_rec * sizeof *sorted);
    }
    memset(start, 0, (n + 2) * sizeof *start);
    for (size_t i = 0; i < n_rec; i++) {
        start[rec[i].rel + 2]++;
    }
    for (uint32_t i = 2; i < n + 2; i++) {
        start[i] += start[i - 1];
    }
    for (size_t i = 0; i < n_rec; i++) {
        sorted[start[rec[i].rel + 1]++] = (struct mrsi_match_record){rec[i].rec, NULL, rec[i].ref};
    }
    return j->far ? load_far(j, job, sorted, n_rec, e) : MRS_OK;
}

enum { AHEAD = 8 }; /* keys whose look-ups are prefetched */

/* Lookup: the records of all keys of the document. */
static enum mrs_status
look_up(struct mrsi_join_run *j, struct join_emit_job *job, struct mrs_err *e)
{
    MRS_ASSERT(j->lookup);
    const struct mrsi_logged *l = (const struct mrsi_logged *)(const void *)job->h.list.p;
    size_t n = job->h.list.n / sizeof *l;
    mrs_buf_reset(&job->sorted);
    for (size_t i = 0; i < n && i < AHEAD; i++) {
        mrsi_table_fetch(&j->table, l[i].key);
    }
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            mrsi_table_fetch(&j->table, l[i + AHEAD].key);
        }
        for (const struct mrsi_table_entry *x = mrsi_table_find(&j->table, l[i].key); x;
             x = mrsi_table_next(&j->table, x)) {
            struct mrsi_match_record match = {(const struct mrsi_rec *)(uintptr_t)x->ord, NULL, l[i].ref};
            __builtin_prefetch(match.rec);
            mrs_buf_put(&job->sorted, &match, sizeof match);
        }
    }
    return mrs_buf_status(&job->sorted, e);
}

/* ---- one document ---- */
/* Output for other targets: side, length, bytes; kept until the splice has succeeded. */
static enum mrs_status
put_page(void *arg, int side, struct mrs_view doc, struct mrs_err *e)
{
    struct join_emit_job *job = arg;
    uint32_t head[2] = {(uint32_t)side, doc.n};
    mrs_buf_put(&job->pages, head, sizeof head);
    mrs_buf_put(&job->pages, doc.p, doc.n);
    enum mrs_status s = mrs_buf_status(&job->pages, e);
    bool many = job->slice.is_heavy && job->pages.n > MRSI_BIG;
    return s == MRS_OK && many ? mrsi_heavy_put_pages(&job->heavy, &job->pages, e) : s;
}

/* A job whose turn it is to commit may write directly; a heavy one works in its commit. */
static enum mrs_status
relieve(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, struct mrs_err *e)
{
    size_t n = w->refused.n;
    for (uint32_t i = 0; i < j->sides.n_wr; i++) {
        n += job->out[i].buf.n;
    }
    if (n < MRSI_BLOCK || !(job->slice.is_heavy || mrsi_pipe_turn(w))) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_refused_commit(w, e);
    MRS_THEN(s, mrsi_step_outputs_take(&j->sides, &job->lists, e));
    return s == MRS_OK ? mrsi_step_outputs_commit(&j->sides, job->out, e) : s;
}

static enum mrs_status
write_page(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, uint32_t side,
           struct mrs_view doc, const uint64_t source[2], struct mrs_err *e)
{
    MRS_ASSERT(side < j->st->desc.n_sides);
    struct mrsi_candidate c = {j->en->side[j->step][side], source[0], (uint32_t)source[1], false, true};
    bool write;
    enum mrs_status s = mrsi_step_outputs_admit(&j->sides, w, &job->lists, &c, &doc, &write, e);
    if (s != MRS_OK || !write) {
        return s;
    }
    mrsi_row(w, j->step, side)->created++;
    s = mrsi_step_outputs_write(&j->sides, w, job->out, side, doc, e);
    return s == MRS_OK ? relieve(j, w, job, e) : s;
}

/* source: the into document and the number of its next page. */
static enum mrs_status
write_pages_of_file(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, uint64_t source[2],
                    struct mrs_err *e)
{
    MRS_ASSERT(job->slice.is_heavy);
    enum mrs_status s = MRS_OK;
    for (uint64_t at = 0; s == MRS_OK && at < job->heavy.page_bytes;) {
        uint32_t head[2];
        s = mrs_read_at(job->heavy.pages->fd, head, sizeof head, at, e);
        mrs_buf_reset(&job->page);
        uint8_t *p = s == MRS_OK ? mrs_buf_take(&job->page, head[1]) : NULL;
        if (!p) {
            return s == MRS_OK ? mrs_buf_status(&job->page, e) : s;
        }
        s = mrs_read_at(job->heavy.pages->fd, p, head[1], at + sizeof head, e);
        struct mrs_view doc = {p, head[1]};
        at += sizeof head + head[1];
        MRS_THEN(s, write_page(j, w, job, head[0], doc, source, e));
        source[1]++;
    }
    job->heavy.page_bytes = 0;
    return s;
}

static enum mrs_status
write_pages(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, uint64_t ordinal,
            struct mrs_err *e)
{
    uint64_t source[2] = {mrsi_source(1, ordinal), 0};
    enum mrs_status s = job->slice.is_heavy ? write_pages_of_file(j, w, job, source, e) : MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < job->pages.n; source[1]++) {
        uint32_t head[2];
        memcpy(head, job->pages.p + at, sizeof head);
        struct mrs_view doc = {job->pages.p + at + sizeof head, head[1]};
        at += sizeof head + head[1];
        s = write_page(j, w, job, head[0], doc, source, e);
    }
    return s;
}

static enum mrs_status
write_into(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, struct mrs_view doc,
           struct mrs_err *e)
{
    return j->sides.ids.phase == MRSI_IDS_COLLECT ? MRS_OK
                                                      : mrsi_step_outputs_write(&j->sides, w, job->out, 1, doc, e);
}

static enum mrs_status
write_spliced(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, struct mrs_view doc,
              enum mrs_fate fate, struct mrs_err *e)
{
    MRS_ASSERT(!job->direct || job->spliced_at <= job->out[j->sides.wr_of[1]].buf.n);
    struct mrsi_step_outputs *sides = &j->sides;
    struct mrsi_out *out = &job->out[sides->wr_of[1]];
    struct mrs_view after = {job->spliced.p, (uint32_t)job->spliced.n};
    if (job->direct && fate == MRS_FATE_CHANGED) {
        mrsi_step_outputs_written(sides, w, job->out, 1, job->spliced_at);
        return MRS_OK;
    }
    if (job->direct) {
        out->buf.n = job->spliced_at;
    }
    if (fate == MRS_FATE_DROPPED) {
        mrsi_row(w, j->step, 1)->dropped++;
        return MRS_OK;
    }
    return write_into(j, w, job, fate == MRS_FATE_STAYS ? doc : after, e);
}

static struct mrs_matches *
matches_of(struct join_emit_job *job)
{
    return job->slice.is_heavy && job->heavy.in_file ? &job->heavy.file.m : &job->list.m;
}

static enum mrs_status
settle(struct mrsi_join_run *j, struct join_emit_job *job, bool refused, uint64_t *placed, struct mrs_err *e)
{
    if (job->slice.is_heavy && job->heavy.in_file) {
        return mrsi_match_file_settle(&job->heavy.file, j, refused, placed, e);
    }
    *placed += mrsi_match_list_settle(&job->list, j, refused);
    return MRS_OK;
}

static enum mrs_status
refuse(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, uint64_t ordinal, struct mrs_view doc,
       struct mrs_err *e)
{
    uint64_t none = 0;
    enum mrs_status s = settle(j, job, true, &none, e);
    job->heavy.page_bytes = 0;
    mrsi_row(w, j->step, 1)->refused++;
    return s == MRS_OK ? mrsi_refuse(w, j->step, 1, j->en->side[j->step][1], ordinal, doc, e) : s;
}

/* Reads the keys of the document into job->h; *part false: it is written unchanged. */
static enum mrs_status
keys_of(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, struct mrs_view doc, bool *part,
        struct mrs_err *e)
{
    mrs_keys_reset(&w->keys);
    mrs_err_clear(&w->err);
    enum mrs_status s = j->ops->takes_part(j->st->state, &w->ctx, 1, doc, part);
    if (s == MRS_OK && *part) {
        s = mrsi_join_into_keys(j, w, doc);
    }
    if (s == MRS_OK && *part) {
        return mrsi_hash_keys(j, w, true, &job->h, e);
    }
    return s < MRS_SKIP ? mrsi_kernel_failed(w, s, e) : s;
}

/* The number of the page to find. */
struct join_emit_seek {
    struct mrs_buf *page;
    uint32_t left;
};

static enum mrs_status
seek_page(void *arg, int side, struct mrs_view doc, struct mrs_err *e)
{
    struct join_emit_seek *k = arg;
    (void)side;
    if (k->left-- == 0) {
        mrs_buf_reset(k->page);
        mrs_buf_put(k->page, doc.p, doc.n);
    }
    return mrs_buf_status(k->page, e);
}

/* Names the page with a duplicate `_id`: makes the document's pages again. */
static enum mrs_status
clash(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, void *work,
      const struct mrsi_rejected *rejected, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(rejected);
    struct join_emit_seek k = {&job->page, rejected->product};
    struct mrs_put put = {seek_page, &k};
    enum mrs_fate fate = MRS_FATE_STAYS;
    mrs_buf_reset(&job->page);
    mrs_buf_reset(&job->spliced);
    enum mrs_status s = j->ops->splice(j->st->state, &w->ctx, work, doc, matches_of(job), &put, &job->spliced, &fate);
    if (s < MRS_SKIP) {
        return mrsi_kernel_failed(w, s, e);
    }
    struct mrs_val id = job->page.n ? mrs_doc_get((struct mrs_view){job->page.p, (uint32_t)job->page.n}, "_id")
                                    : mrs_missing();
    return mrsi_step_outputs_clash(&j->sides, w, rejected, id, "conflicts", "several pages would have the same _id", e);
}

static enum mrs_status
splice(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, uint64_t source, struct mrs_view doc,
       enum mrs_fate *fate, struct mrs_err *e)
{
    struct mrs_put put = {put_page, job};
    void *work = mrsi_work_of(w, j->step, e);
    if (!work) {
        return MRS_DEAD;
    }
    mrs_buf_reset(&job->pages);
    mrs_err_clear(&w->err);
    const struct mrsi_rejected *rejected = mrsi_step_outputs_rejected(&j->sides, source);
    if (rejected) {
        return clash(j, w, job, work, rejected, doc, e);
    }
    struct mrsi_writer *wr = &j->sides.wr[j->sides.wr_of[1]];
    job->direct = j->sides.ids.phase != MRSI_IDS_COLLECT && !wr->n_fused;
    mrs_buf_reset(&job->spliced);
    struct mrs_buf *to = job->direct ? &job->out[j->sides.wr_of[1]].buf : &job->spliced;
    job->spliced_at = to->n;
    mrsi_remarks_begin(w);
    enum mrs_status s = j->ops->splice(j->st->state, &w->ctx, work, doc, matches_of(job), &put, to, fate);
    if (s == MRS_OK) {
        struct mrsi_row *from = mrsi_row(w, j->step, 0), *into = mrsi_row(w, j->step, 1);
        mrsi_eased(into, w->ctx.eased, doc);
        mrsi_remark(into, into != from ? w->ctx.remarks & MRS_REMARK_REPLACED : 0);
        s = mrs_buf_status(to, e);
        return s == MRS_OK ? mrs_buf_status(&job->pages, e) : s;
    }
    to->n = job->spliced_at;
    return s < MRS_SKIP ? mrsi_kernel_failed(w, s, e) : s;
}

/* The matches of the document, from either source. */
static enum mrs_status
gather(struct mrsi_join_run *j, struct join_emit_job *job, uint64_t ordinal, struct mrs_err *e)
{
    MRS_ASSERT(ordinal - job->slice.block.first_doc < job->slice.block.n_docs);
    const uint32_t *start = (const uint32_t *)(const void *)job->start.p;
    uint64_t rel = ordinal - job->slice.block.first_doc;
    struct mrs_buf *from = &job->sorted;
    size_t lo = 0, hi = 0;
    enum mrs_status s = MRS_OK;
    if (job->slice.is_heavy) {
        s = mrsi_heavy_gather(&job->heavy, ordinal, &job->h, e);
        from = &job->heavy.matches;
    } else if (j->lookup) {
        s = look_up(j, job, e);
    }
    if (s != MRS_OK || (job->slice.is_heavy && job->heavy.in_file)) {
        return s;
    }
    if (job->slice.is_heavy || j->lookup) {
        job->list.fetched = NULL; /* the records were collected for this document alone */
    }
    struct mrsi_match_record *match = (struct mrsi_match_record *)(void *)from->p;
    size_t all = hi = from->n / sizeof *match;
    if (!job->slice.is_heavy && !j->lookup) {
        lo = start[rel];
        hi = start[rel + 1];
    }
    match = match ? match + lo : match; /* NULL if there is no match */
    s = mrsi_match_list_set(&job->list, j, match, hi - lo, all - lo, &job->h, e);
    if (job->slice.is_heavy && job->heavy.named.n) {
        job->list.m.named = job->heavy.named.p;
    }
    return s;
}

/* Finds the references with a match. */
static enum mrs_status
mark_resolved(struct join_emit_job *job, uint8_t *resolved, struct mrs_err *e)
{
    struct mrs_matches *m = matches_of(job);
    enum mrs_status s = MRS_OK;
    if (m->named) {
        memcpy(resolved, m->named, m->n_refs);
    }
    if (m == &job->list.m) {
        for (uint64_t i = 0; i < job->list.n; i++) {
            resolved[job->list.match[i].ref] = 1;
        }
        return MRS_OK;
    }
    struct mrs_match one;
    for (s = m->rewind(m, e); s == MRS_OK && (s = m->next(m, &one, e)) == MRS_OK;) {
        resolved[one.ref] = 1;
    }
    return s == MRS_END ? m->rewind(m, e) : s;
}

static enum mrs_status
find_dangling(struct mrsi_worker *w, struct join_emit_job *job, uint64_t ordinal, struct mrs_err *e)
{
    const uint32_t *same = (const uint32_t *)(const void *)job->h.same.p;
    uint32_t n = (uint32_t)(job->h.same.n / sizeof *same);
    mrs_buf_reset(&job->resolved);
    uint8_t *resolved = mrs_buf_take(&job->resolved, n + 1);
    if (!resolved) {
        return mrs_buf_status(&job->resolved, e);
    }
    memset(resolved, 0, n + 1);
    enum mrs_status s = mark_resolved(job, resolved, e);
    for (uint32_t i = 0; s == MRS_OK && i < n && i < w->keys.n; i++) {
        const struct mrs_keyspan *k = &w->keys.span[i];
        if (k->pair == 0 && k->kind == 0 && !k->null && same[i] == i && !resolved[i]) {
            mrsi_row(w, w->en->now, 1)->noticed[1][MRS_NOTICE_DANGLING]++;
            if (w->en->notices) {
                mrs_buf_put(&job->dangling, &ordinal, sizeof ordinal);
            }
            return mrs_buf_status(&job->dangling, e);
        }
    }
    return s;
}

static enum mrs_status
note_dangling(struct mrsi_join_run *j, struct join_emit_job *job, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < job->dangling.n; at += sizeof(uint64_t)) {
        uint64_t one;
        memcpy(&one, job->dangling.p + at, sizeof one);
        s = mrsi_notices_note(j->en, j->step, 1, MRS_NOTICE_DANGLING, one, e);
    }
    mrs_buf_reset(&job->dangling);
    return s;
}

static enum mrs_status
one_document(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, uint64_t ordinal,
             struct mrs_view doc, struct mrs_err *e)
{
    enum mrs_fate fate = MRS_FATE_STAYS;
    struct mrsi_row *row = mrsi_row(w, j->step, 1);
    bool part = true;
    row->before++;
    job->list.n = 0;
    job->heavy.in_file = false;
    unsigned bits = j->self ? mrsi_fates_get(&j->fates, ordinal) : 0;
    if ((bits & MRSI_FATE_REFUSED) && (bits & MRSI_FATE_UNSORTED)) {
        return mrsi_refuse_unsorted(j, w, 1, ordinal, doc, e);
    }
    if (bits & MRSI_FATE_REFUSED) {
        row->refused++; /* as a document of from, when it was read */
        return MRS_OK;
    }
    enum mrs_status s = keys_of(j, w, job, doc, &part, e);
    if (s == MRS_OK && !part) {
        return write_into(j, w, job, doc, e);
    }
    MRS_THEN(s, gather(j, job, ordinal, e));
    s = s == MRS_OK && j->st->desc.by_reference ? find_dangling(w, job, ordinal, e) : s;
    MRS_THEN(s, splice(j, w, job, mrsi_source(1, ordinal), doc, &fate, e));
    if (s == MRS_SKIP) {
        return refuse(j, w, job, ordinal, doc, e);
    }
    MRS_THEN(s, settle(j, job, false, &row->placed, e));
    if (s != MRS_OK) {
        return s;
    }
    s = write_spliced(j, w, job, doc, fate, e);
    return s == MRS_OK ? write_pages(j, w, job, ordinal, e) : s;
}

static enum mrs_status
all_documents(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, struct mrs_err *e)
{
    struct mrsi_cursor cur;
    struct mrs_view doc;
    enum mrs_status s = MRS_OK;
    mrsi_cursor_begin(&cur, &j->en->coll[j->en->side[j->step][1]], job->slice.part, &job->slice.block);
    cur.checked = !j->lookup;
    s = j->self ? mrsi_fates_there(&j->fates, &job->slice.block, e) : MRS_OK;
    while (s == MRS_OK || s == MRS_SKIP) {
        s = mrsi_cursor_next(&cur, w, &doc, e);
        if (s == MRS_OK) {
            s = one_document(j, w, job, cur.ordinal, doc, e);
            MRS_THEN(s, relieve(j, w, job, e));
        }
    }
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct join_emit_job *job = p;
    if (job->slice.is_heavy) {
        return MRS_OK;
    }
    enum mrs_status s = j->lookup ? MRS_OK : throw_records(j, job, e);
    return s == MRS_OK ? all_documents(j, w, job, e) : s;
}

static enum mrs_status
heavy_work(struct mrsi_join_run *j, struct mrsi_worker *w, struct join_emit_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->slice.is_heavy);
    uint64_t lo = job->slice.block.first_doc;
    enum mrs_status s = mrsi_heavy_begin(&job->heavy, j, &job->slice, lo, lo + job->slice.block.n_docs, e);
    return s == MRS_OK ? all_documents(j, w, job, e) : s;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_join_run *j = arg;
    struct join_emit_job *job = p;
    enum mrs_status s = job->slice.is_heavy ? heavy_work(j, w, job, e) : MRS_OK;
    mrsi_heavy_end(&job->heavy);
    MRS_THEN(s, note_dangling(j, job, e));
    MRS_THEN(s, mrsi_refused_commit(w, e));
    MRS_THEN(s, mrsi_step_outputs_take(&j->sides, &job->lists, e));
    return s == MRS_OK ? mrsi_step_outputs_commit(&j->sides, job->out, e) : s;
}

enum mrs_status
mrsi_join_emit(struct mrsi_join_run *j, struct mrs_err *e)
{
    struct mrsi_pipe p = {j->en, sizeof(struct join_emit_job), fetch, work, commit, clear, j};
    mrsi_notices_forget(j->en, j->step);
    enum mrs_status s = mrsi_pass_scan(&j->pass, &p, &j->en->coll[j->en->side[j->step][1]], &j->scan, e);
    mrsi_slices_clear(j);
    return s;
}

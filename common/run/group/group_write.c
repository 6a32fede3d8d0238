/* SPDX-License-Identifier: Apache-2.0 */
/* group_write.c - writes the decisions: the documents of `into` with their additions, then the new documents, then the
 * sources. */
#include "group.h"
#include "mongoreshape/context.h"

struct group_write_job {
    struct mrsi_step_outputs_job io;
    struct mrs_buf notes;   /* decisions for documents of this block: key length, length, key, bytes */
    size_t at;
    struct mrs_buf bytes, ids;
};

/* Decisions come in the order of ordinals: reads those of the block. */
static enum mrs_status
take_notes(struct mrsi_group_run *g, struct group_write_job *job, struct mrs_err *e)
{
    uint64_t end = job->io.block.first_doc + job->io.block.n_docs;
    mrs_buf_reset(&job->notes);
    job->at = 0;
    for (;;) {
        if (!g->have) {
            enum mrs_status s = mrsi_sorter_next(g->notes, &g->next, e);
            if (s == MRS_END) {
                return mrs_buf_status(&job->notes, e);
            }
            if (s == MRS_OK && g->resumed && !mrsi_group_is_note(g, &g->next, &job->ids)) {
                s = mrsi_state_damaged("a decision", e);
            }
            if (s != MRS_OK) {
                return s;
            }
            g->have = true;
        }
        if (mrsi_get_be(g->next.key, 8) >= end) {
            return mrs_buf_status(&job->notes, e);
        }
        uint32_t head[2] = {g->next.key_len, g->next.n};
        mrs_buf_put(&job->notes, head, sizeof head);
        mrs_buf_put(&job->notes, g->next.key, g->next.key_len);
        mrs_buf_put(&job->notes, g->next.p, g->next.n);
        g->have = false;
    }
}

/* The next decision for this document; false: no more. Decisions for documents that were refused meanwhile are
 * skipped. */
static bool
next_note(struct group_write_job *job, uint64_t ordinal, struct mrsi_sorted *out)
{
    MRS_ASSERT(job->at <= job->notes.n);
    while (job->at < job->notes.n) {
        uint32_t head[2];
        memcpy(head, job->notes.p + job->at, sizeof head);
        out->key = job->notes.p + job->at + sizeof head;
        out->p = out->key + head[0];
        out->key_len = head[0];
        out->n = head[1];
        uint64_t owner = mrsi_get_be(out->key, 8);
        if (owner > ordinal) {
            return false;
        }
        job->at += sizeof head + head[0] + head[1];
        if (owner == ordinal) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_group_run *g = arg;
    struct group_write_job *job = p;
    struct mrs_mem *mem = g->en->mem;
    bool fresh;
    enum mrs_status s = mrsi_step_outputs_job_next(&g->sides, &g->scan, &job->io, &fresh, big, e);
    if (fresh) {
        mrs_buf_init(&job->notes, mem, SIZE_MAX);
        mrs_buf_init(&job->bytes, mem, SIZE_MAX);
        mrs_buf_init(&job->ids, mem, SIZE_MAX);
    }
    s = s == MRS_OK ? mrsi_fates_there(g->side ? &g->there : &g->from, &job->io.block, e) : s;
    return s == MRS_OK ? take_notes(g, job, e) : s;
}

static void
clear(void *arg, void *p)
{
    struct mrsi_group_run *g = arg;
    struct group_write_job *job = p;
    if (job->io.out) {
        mrsi_step_outputs_job_clear(&g->sides, &job->io);
        mrs_buf_clear(&job->notes);
        mrs_buf_clear(&job->bytes);
        mrs_buf_clear(&job->ids);
    }
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_group_run *g = arg;
    struct group_write_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e);
    return s == MRS_OK ? mrsi_step_outputs_commit(&g->sides, job->io.out, e) : s;
}

/* ---- documents of into ---- */
static enum mrs_status
into_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_group_run *g = arg;
    struct group_write_job *job = p;
    MRS_ASSERT(g->side == 1);
    struct mrsi_sorted note;
    struct mrs_view out = doc;
    if (mrsi_fates_get(&g->there, ordinal)) {
        return MRS_OK; /* refused when it was read */
    }
    if (next_note(job, ordinal, &note)) {
        struct mrs_view refs = {note.p, note.n};
        out = refs;
        if (!note.key[8]) {
            mrs_buf_reset(&job->bytes);
            mrs_err_clear(&w->err);
            enum mrs_status s = g->ops->finish(g->st->state, &w->ctx, doc, true, refs, &job->bytes);
            if (s == MRS_SKIP) { /* tried in group_decide.c: only the bytes of the old references differ */
                return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "%s: document %llu of %s: %s", w->err.where,
                                   (unsigned long long)ordinal + 1, g->en->coll[g->en->side[g->step][1]].ns,
                                   w->err.msg);
            }
            if (s != MRS_OK || job->bytes.bad) {
                return s != MRS_OK ? mrsi_kernel_failed(w, s, e) : mrs_buf_status(&job->bytes, e);
            }
            out.p = job->bytes.p;
            out.n = (uint32_t)job->bytes.n;
        }
    }
    return mrsi_step_outputs_write(&g->sides, w, job->io.out, 1, out, e);
}

/* ---- sources ---- */
/* Refuses a source document; the report has the value that it shares with the other document: the key of its part, or
 * the `_id`. */
static enum mrs_status
clash(struct mrsi_group_run *g, struct mrsi_worker *w, const struct mrsi_rejected *b, struct mrs_view doc,
      const char *why, struct mrs_err *e)
{
    MRS_ASSERT(b);
    struct mrs_parts parts = {.n = 0};
    struct mrs_val key = mrs_missing();
    struct mrs_buf words;
    mrs_buf_init(&parts.bytes, g->en->mem, SIZE_MAX);
    mrs_buf_init(&words, g->en->mem, SIZE_MAX);
    void *work = mrsi_work_of(w, g->step, e);
    uint64_t before = 0; /* parts of earlier pieces */
    enum mrs_status s = work ? MRS_OK : MRS_DEAD;
    do {
        before += parts.n;
        parts.n = 0;
        mrs_buf_reset(&parts.bytes);
        MRS_THEN(s, g->ops->parts(g->st->state, &w->ctx, work, 0, doc, &parts));
    } while (s == MRS_OK && parts.more && b->product - before >= parts.n);
    bool found = s == MRS_OK && b->product - before < parts.n;
    const struct mrs_part_doc *p = found ? &parts.part[b->product - before] : NULL;
    struct mrs_view part = p ? (struct mrs_view){parts.bytes.p + p->doc_off, p->doc_len} : mrs_empty_doc();
    if (found && b->by_key) {
        s = g->ops->key(g->st->state, &w->ctx, part, &words);
        key = s == MRS_OK ? mrs_view_val((struct mrs_view){words.p, (uint32_t)words.n}) : key;
    } else if (found) {
        key = mrs_doc_get(part, "_id");
    }
    s = s < MRS_SKIP ? mrsi_kernel_failed(w, s, e) : mrsi_step_outputs_clash(&g->sides, w, b, key, "conflicts", why, e);
    mrs_buf_clear(&words);
    mrs_buf_clear(&parts.bytes);
    mrs_free(g->en->mem, parts.part);
    return s;
}

static enum mrs_status
refuse_source(struct mrsi_group_run *g, struct mrsi_worker *w, uint64_t ordinal, unsigned bits, struct mrs_view doc,
              struct mrs_err *e)
{
    MRS_ASSERT(bits & (MRSI_REJECTED | MRSI_LATE));
    const char *why = "a document with an equal key or _id and other contents";
    const struct mrsi_rejected *b = bits & MRSI_REJECTED ? mrsi_file_array_find(&g->rejected, &ordinal, mrsi_by_u64) :
            NULL;
    mrs_err_clear(&w->err);
    enum mrs_status s = MRS_SKIP;
    if (b) {
        s = clash(g, w, b, doc, why, e);
    } else if (bits & MRSI_REJECTED) { /* by an equal one, if both would be new */
        mrs_err_set(&w->err, MRS_SKIP, MRS_E_REFUSED, "%s", why);
        mrs_err_at(&w->err, "conflicts");
    } else {
        mrs_err_set(&w->err, MRS_SKIP, MRS_E_REFUSED, "%s", g->late_why);
        mrs_err_at(&w->err, "%s", g->late_where);
    }
    if (s != MRS_SKIP) {
        return s;
    }
    mrsi_row(w, g->step, 0)->refused++;
    return mrsi_refuse(w, g->step, 0, g->en->side[g->step][0], ordinal, doc, e);
}

static enum mrs_status
ids_of(struct group_write_job *job, uint64_t ordinal, struct mrs_view *ids, struct mrs_err *e)
{
    struct mrs_build b;
    struct mrsi_sorted note;
    uint32_t i = 0;
    char name[12];
    mrs_buf_reset(&job->ids);
    mrs_build_init(&b, &job->ids);
    while (next_note(job, ordinal, &note)) {
        struct mrs_val id = {note.p + 1, note.n - 1, note.p[0]};
        uint32_t n = mrs_index_name(name, i++);
        mrs_build_val(&b, name, n, id);
    }
    return mrs_build_finish(&b, ids, e);
}

static enum mrs_status
source_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct mrsi_group_run *g = arg;
    struct group_write_job *job = p;
    MRS_ASSERT(g->side == 0);
    unsigned bits = mrsi_fates_get(&g->from, ordinal);
    struct mrs_view ids, out;
    enum mrs_fate fate = MRS_FATE_STAYS;
    void *work = mrsi_work_of(w, g->step, e);
    if (bits & MRSI_FATE_REFUSED) {
        return MRS_OK;
    }
    if (bits) {
        return refuse_source(g, w, ordinal, bits, doc, e);
    }
    MRS_TRY(work ? ids_of(job, ordinal, &ids, e) : MRS_DEAD);
    mrs_buf_reset(&job->bytes);
    mrs_err_clear(&w->err);
    enum mrs_status s = g->ops->source(g->st->state, &w->ctx, work, doc, ids, &job->bytes, &fate);
    if (s == MRS_SKIP) { /* what it added to others must not stay: decide again without it */
        mrsi_fates_add(&g->from, ordinal, MRSI_LATE);
        pthread_mutex_lock(&g->en->lock);
        snprintf(g->late_why, sizeof g->late_why, "%s", w->err.msg);
        snprintf(g->late_where, sizeof g->late_where, "%s", w->err.where);
        g->again = true;
        pthread_mutex_unlock(&g->en->lock);
        return MRS_OK;
    }
    if (s != MRS_OK || job->bytes.bad) {
        return s != MRS_OK ? mrsi_kernel_failed(w, s, e) : mrs_buf_status(&job->bytes, e);
    }
    out.p = fate == MRS_FATE_STAYS ? doc.p : job->bytes.p;
    out.n = fate == MRS_FATE_STAYS ? doc.n : (uint32_t)job->bytes.n;
    return mrsi_step_outputs_write(&g->sides, w, job->io.out, 0, out, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_group_run *g = arg;
    struct group_write_job *job = p;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, &g->en->coll[g->en->side[g->step][g->side]], job->io.part, &job->io.block);
    cur.quiet = cur.checked = true;
    return mrsi_cursor_each(&cur, g->side ? into_document : source_document, g, w, job, e);
}

/* The conflicting documents of rejected sources: of each source the first one, for any memory of the sort. */
static enum mrs_status
look_up_rejected(struct mrsi_group_run *g, struct mrs_err *e)
{
    uint64_t last = UINT64_MAX;
    struct mrsi_sorted r;
    mrsi_file_array_reset(&g->rejected);
    enum mrs_status s = mrsi_sorter_rewind(&g->bars, e);
    while (s == MRS_OK && (s = mrsi_sorter_next(&g->bars, &r, e)) == MRS_OK) {
        if (r.key_len != 12 || r.n != sizeof(struct mrsi_rejected)) {
            s = mrsi_state_damaged("barred documents", e);
        } else if (mrsi_get_be(r.key, 8) != last) {
            last = mrsi_get_be(r.key, 8);
            s = mrsi_file_array_put(&g->rejected, r.p, e);
        }
    }
    return s == MRS_END ? mrsi_file_array_end(&g->rejected, e) : s;
}

enum mrs_status
mrsi_group_write_side(struct mrsi_group_run *g, uint32_t side, struct mrs_err *e)
{
    MRS_ASSERT(side < 2);
    struct mrsi_pipe p = {g->en, sizeof(struct group_write_job), fetch, work, commit, clear, g};
    g->side = side;
    g->notes = side ? &g->gains : &g->refs;
    enum mrs_status s = mrsi_group_begin_sort(g, g->notes, e);
    MRS_THEN(s, side ? MRS_OK : look_up_rejected(g, e));
    if (s == MRS_OK) {
        struct mrsi_coll *coll = &g->en->coll[g->en->side[g->step][side]];
        s = mrsi_pass_scan(&g->pass, &p, coll, &g->scan, e);
    }
    g->have = false;
    return s;
}

enum mrs_status
mrsi_group_write_new(struct mrsi_group_run *g, struct mrs_err *e)
{
    MRS_ASSERT(g->stage == MRSI_GROUP_WRITE_NEW);
    struct mrsi_sorted r;
    struct mrsi_worker *w = &g->en->worker[0];
    struct mrsi_out *outs = mrsi_step_outputs_outs(&g->sides);
    enum mrs_status s = outs ? mrsi_group_begin_sort(g, &g->made, e) : mrs_err_memory(e, sizeof *outs);
    while (s == MRS_OK && (s = mrsi_sorter_next(&g->made, &r, e)) == MRS_OK) {
        struct mrs_view doc = {r.p, r.n};
        if (g->resumed && !mrsi_savepoint_is_doc(r.p, r.n)) {
            s = mrsi_state_damaged("a new document", e);
            break;
        }
        mrs_arena_reset(&w->arena);
        s = mrsi_step_outputs_write(&g->sides, w, outs, 1, doc, e);
        MRS_THEN(s, mrsi_refused_commit(w, e));
        if (s == MRS_OK && outs[g->sides.wr_of[1]].buf.n > mrsi_block_bytes(g->en)) {
            s = mrsi_step_outputs_commit(&g->sides, outs, e);
            MRS_THEN(s, mrsi_pass_between(&g->pass, e));
        }
    }
    s = s == MRS_END ? mrsi_step_outputs_commit(&g->sides, outs, e) : s;
    mrsi_step_outputs_outs_free(&g->sides, outs);
    return s;
}

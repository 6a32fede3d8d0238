/* SPDX-License-Identifier: Apache-2.0 */
/* fold_settle.c - writes `from` after every group has been folded.
 *
 * If no document leaves, `from` is unchanged; if no document stays and none was refused late, it is not read again. */
#include "fold.h"

struct fold_settle {
    struct mrsi_fold *f;
    bool take;                /* documents that are in documents of into leave */
    struct mrsi_sorted next;  /* late refusals, in the order of the pass */
    bool have_next;
};
struct fold_settle_job {
    struct mrsi_step_outputs_job io;
    struct mrs_buf late;      /* for this block: ordinal, place NUL reason NUL more NUL */
    size_t at;
};

/* Three texts, each with its NUL: the stopped run's files may be damaged. */
static bool
are_texts(const struct mrsi_sorted *r)
{
    const uint8_t *p = r->p, *end = r->p + r->n;
    unsigned n = 0;
    for (; n < 3 && p < end && (p = memchr(p, 0, (size_t)(end - p))) != NULL; n++) {
        p++;
    }
    return r->key_len == 8 && n == 3 && p == end;
}

/* Late refusals come in the order of ordinals: reads those of the block. */
static enum mrs_status
take_late(struct fold_settle *st, struct fold_settle_job *job, struct mrs_err *e)
{
    uint64_t end = job->io.block.first_doc + job->io.block.n_docs;
    mrs_buf_reset(&job->late);
    job->at = 0;
    for (;;) {
        enum mrs_status s = st->have_next ? MRS_OK : mrsi_sorter_next(&st->f->late, &st->next, e);
        st->have_next = s == MRS_OK;
        if (s < MRS_OK) {
            return s;
        }
        if (s == MRS_OK && !are_texts(&st->next)) {
            return mrsi_state_damaged("late refusals", e);
        }
        uint64_t ordinal = s == MRS_OK ? mrsi_get_be(st->next.key, 8) : end;
        if (ordinal >= end) {
            return mrs_buf_status(&job->late, e);
        }
        if (ordinal >= job->io.block.first_doc) { /* else the stopped run reported it */
            mrs_buf_put(&job->late, &ordinal, sizeof ordinal);
            mrs_buf_put(&job->late, st->next.p, st->next.n);
        }
        st->have_next = false;
    }
}

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct fold_settle *st = arg;
    struct fold_settle_job *job = p;
    bool fresh;
    enum mrs_status s = mrsi_step_outputs_job_next(&st->f->sides, &st->f->scan, &job->io, &fresh, big, e);
    if (fresh) {
        mrs_buf_init(&job->late, st->f->en->mem, SIZE_MAX);
    }
    MRS_THEN(s, mrsi_fates_there(&st->f->fates, &job->io.block, e));
    return s == MRS_OK ? take_late(st, job, e) : s;
}

/* Takes the next late refusal of the block if it is this document's: both come in order, and a document has at most
 * one. */
static enum mrs_status
refuse_late(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_settle_job *job, uint64_t ordinal,
            struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(job->at <= job->late.n);
    uint64_t owner = UINT64_MAX;
    const char *place = "", *reason = "", *more = "";
    while (owner != ordinal) {
        if (job->at >= job->late.n) {
            return mrsi_state_damaged("fates of documents", e); /* only if the resumed state is wrong */
        }
        memcpy(&owner, job->late.p + job->at, sizeof owner);
        place = (const char *)job->late.p + job->at + sizeof owner;
        reason = place + strlen(place) + 1;
        more = reason + strlen(reason) + 1;
        job->at = (size_t)(more + strlen(more) + 1 - (const char *)job->late.p);
    }
    mrs_err_clear(&w->err);
    mrs_err_set(&w->err, MRS_SKIP, MRS_E_REFUSED, "%s", reason);
    mrs_err_at(&w->err, "%s", place);
    if (*more) {
        mrs_err_more(&w->err, "%s", more + 2); /* without ": " */
    }
    mrsi_row(w, f->step, 0)->refused++;
    return mrsi_refuse(w, f->step, 0, f->en->side[f->step][0], ordinal, doc, e);
}

static enum mrs_status
one_document(void *arg, struct mrsi_worker *w, void *p, uint64_t ordinal, struct mrs_view doc, struct mrs_err *e)
{
    struct fold_settle *st = arg;
    struct fold_settle_job *job = p;
    struct mrsi_fold *f = st->f;
    unsigned bits = mrsi_fates_get(&f->fates, ordinal);
    if (bits & MRSI_FATE_REFUSED) {
        return MRS_OK; /* reported when it was read */
    }
    if (bits & MRSI_FOLD_LATE) {
        return refuse_late(f, w, job, ordinal, doc, e);
    }
    if (!bits && st->take) {
        mrsi_row(w, f->step, 0)->taken++;
        return MRS_OK;
    }
    return mrsi_step_outputs_write(&f->sides, w, job->io.out, 0, doc, e);
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct fold_settle *st = arg;
    struct fold_settle_job *job = p;
    struct mrsi_cursor cur;
    mrsi_cursor_begin(&cur, &st->f->en->coll[st->f->en->side[st->f->step][0]], job->io.part, &job->io.block);
    cur.quiet = cur.checked = true;
    return mrsi_cursor_each(&cur, one_document, st, w, job, e);
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct fold_settle *st = arg;
    struct fold_settle_job *job = p;
    enum mrs_status s = mrsi_refused_commit(w, e);
    return s == MRS_OK ? mrsi_step_outputs_commit(&st->f->sides, job->io.out, e) : s;
}

static void
clear(void *arg, void *p)
{
    struct fold_settle *st = arg;
    struct fold_settle_job *job = p;
    if (job->io.out) {
        mrsi_step_outputs_job_clear(&st->f->sides, &job->io);
        mrs_buf_clear(&job->late);
    }
}

/* Cancels the expected pass. */
static void
skip_progress(struct mrsi_fold *f)
{
    const struct mrsi_coll *c = &f->en->coll[f->en->side[f->step][0]];
    if (c->in_index != MRSI_NONE) {
        atomic_fetch_add(&f->en->done_bytes, mrs_input_at(f->en->in, c->in_index)->file_bytes);
        mrsi_tick(f->en);
    }
}

/* Counts of documents that stay, leave silently, were refused while reading, or must be read to leave. */
struct fold_settle_tally {
    uint64_t kept, taken, refused, late;
};

static struct fold_settle_tally
tally(const struct fold_settle *st)
{
    struct fold_settle_tally t = {0, 0, 0, 0};
    uint64_t counts[MRSI_FATES];
    mrsi_fates_count(&st->f->fates, counts);
    for (unsigned b = 0; b < MRSI_FATES; b++) {
        if (b & MRSI_FATE_REFUSED) {
            t.refused += b & MRSI_FATE_OUTSIDE ? 0 : counts[b]; /* outside: an earlier step refused it */
        } else if (b & MRSI_FOLD_LATE) {
            t.late += counts[b];
        } else if (!b && st->take) {
            t.taken += counts[b];
        } else {
            t.kept += counts[b];
        }
    }
    return t;
}

/* a savepoint in this pass has it open */
static enum mrs_status
open_from(struct mrsi_fold *f, struct mrs_err *e)
{
    enum mrs_status s = f->sides.wr_of[0] == MRSI_NONE ? mrsi_step_outputs_open(&f->sides, 0, e) : MRS_OK;
    f->pass.n_wr = f->sides.n_wr;
    return s;
}

enum mrs_status
mrsi_fold_settle(struct mrsi_fold *f, struct mrs_err *e)
{
    struct fold_settle st = {.f = f, .take = f->st->desc.sides[0].role & MRS_ROLE_TAKE};
    struct mrsi_pipe p = {f->en, sizeof(struct fold_settle_job), fetch, work, commit, clear, &st};
    struct mrsi_row *row = mrsi_row(&f->en->worker[0], f->step, 0);
    MRS_TRY(mrsi_fates_sound(&f->fates, e));
    struct fold_settle_tally t = tally(&st);
    if (!t.taken && !t.refused && !t.late) {
        row->after += t.kept;
        return MRS_OK;
    }
    enum mrs_status s = open_from(f, e);
    if (s == MRS_OK && !t.kept && !t.late) {
        row->taken += t.taken;
        skip_progress(f);
        return MRS_OK;
    }
    MRS_THEN(s, mrsi_sorter_rewind(&f->late, e));
    MRS_THEN(s, mrsi_pass_scan(&f->pass, &p, &f->en->coll[f->en->side[f->step][0]], &f->scan, e));
    return s;
}

/* fold_write.c - all groups in the order of their keys: handed out in batches, folded in parallel, written in order.
 *
 * A batch ends with a group. One that is larger than a batch may be is not gathered: the worker takes the rest of it
 * from the sort as the step asks for it, while nobody else fetches. */
#include "fold.h"

struct rec {
    uint64_t ordinal;
    uint32_t len, pad;
};
struct job {
    struct mrsi_fold_out out;
    struct mrsi_fold_one one;
    struct mrs_buf recs;    /* struct rec and a shape, padded to 8 */
    struct mrs_buf offs;    /* size_t: where they begin */
    struct mrs_buf groups;  /* size_t: index of the first member of each group */
    struct mrs_buf group;   /* key of the last of them */
    struct mrsi_tape rest;  /* uint64_t: ordinals of the members that were not gathered */
    bool streams;           /* the last group goes on in the sort */
};
struct source {
    struct mrsi_fold_source base;
    struct mrsi_fold *f;
    struct job *job;
    size_t first, at, end;  /* members in recs */
    bool streams;
};

static size_t
batch_bytes(const struct mrsi_fold *f)
{
    uint64_t n = f->en->memory / 32 / f->en->jobs;
    return n < 4096 ? 4096 : n > MRSI_BLOCK ? MRSI_BLOCK : (size_t)n;
}

/* ---- handing out ---- */
static enum mrs_status
look_ahead(struct mrsi_fold *f, struct mrs_err *e)
{
    enum mrs_status s = f->have_next ? MRS_OK : mrsi_sorter_next(&f->members, &f->next, e);
    f->have_next = s == MRS_OK;
    return s;
}

static struct mrsi_member_of
head_of(const struct mrsi_sorted *r)
{
    struct mrsi_member_of m;
    memcpy(&m, r->p, sizeof m);
    return m;
}

static bool
same_group(const struct job *job, const struct mrsi_sorted *r)
{
    struct mrsi_member_of m = head_of(r);
    return m.group_len == job->group.n && (!m.group_len || memcmp(r->key, job->group.p, m.group_len) == 0);
}

static void
gather_member(struct job *job, const struct mrsi_sorted *r)
{
    struct mrsi_member_of m = head_of(r);
    struct rec rec = {m.ordinal, r->n - (uint32_t)sizeof m, 0};
    size_t off = job->recs.n;
    uint8_t *p = mrs_buf_take(&job->recs, (sizeof rec + rec.len + 7) & ~(size_t)7);
    if (p) {
        memcpy(p, &rec, sizeof rec);
        memcpy(p + sizeof rec, r->p + sizeof m, rec.len);
    }
    mrs_buf_put(&job->offs, &off, sizeof off);
}

/* Begins a group with the member ahead and gathers the members that follow. */
static enum mrs_status
gather_group(struct mrsi_fold *f, struct job *job, size_t most, struct mrs_err *e)
{
    size_t first = job->offs.n / sizeof first;
    enum mrs_status s = MRS_OK;
    mrs_buf_put(&job->groups, &first, sizeof first);
    mrs_buf_reset(&job->group);
    mrs_buf_put(&job->group, f->next.key, head_of(&f->next).group_len);
    if (job->group.bad) {
        return mrs_buf_status(&job->group, e);
    }
    while (s == MRS_OK && same_group(job, &f->next)) {
        if (job->recs.n > most) {
            job->streams = true;
            return MRS_OK;
        }
        gather_member(job, &f->next);
        f->have_next = false;
        s = look_ahead(f, e);
    }
    return s == MRS_END ? MRS_OK : s;
}

static void
begin(struct mrsi_fold *f, struct job *job)
{
    struct mrs_mem *mem = f->en->mem;
    mrsi_fold_one_init(&job->one, f);
    mrsi_lists_init(&job->out.lists, mem);
    mrs_buf_init(&job->out.late, mem, SIZE_MAX);
    mrs_buf_init(&job->recs, mem, SIZE_MAX);
    mrs_buf_init(&job->offs, mem, SIZE_MAX);
    mrs_buf_init(&job->groups, mem, SIZE_MAX);
    mrs_buf_init(&job->group, mem, SIZE_MAX);
    mrsi_tape_init(&job->rest, f->en, sizeof(uint64_t), f->en->memory / 32);
}

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_fold *f = arg;
    struct job *job = p;
    size_t most = batch_bytes(f);
    if (!job->out.outs) {
        job->out.outs = mrsi_sides_outs(&f->sides);
        if (!job->out.outs) {
            return mrs_err_memory(e, sizeof *job->out.outs);
        }
        begin(f, job);
    }
    mrs_buf_reset(&job->recs);
    mrs_buf_reset(&job->offs);
    mrs_buf_reset(&job->groups);
    job->streams = false;
    enum mrs_status s = look_ahead(f, e);
    if (s != MRS_OK) {
        return s;
    }
    while (s == MRS_OK && f->have_next && !job->streams && job->recs.n <= most) {
        s = gather_group(f, job, most * 4, e);
    }
    *big = job->streams;
    s = s == MRS_OK ? mrs_buf_status(&job->groups, e) : s;
    s = s == MRS_OK ? mrs_buf_status(&job->offs, e) : s;
    return s == MRS_OK ? mrs_buf_status(&job->recs, e) : s;
}

/* ---- folding ---- */
static void
rec_at(const struct job *job, size_t i, struct rec *rec, struct mrs_view *shape)
{
    size_t off;
    memcpy(&off, job->offs.p + i * sizeof off, sizeof off);
    memcpy(rec, job->recs.p + off, sizeof *rec);
    shape->p = job->recs.p + off + sizeof *rec;
    shape->n = rec->len;
}

static enum mrs_status
next_streamed(struct source *src, struct mrs_view *shape, struct mrs_err *e)
{
    struct mrsi_fold *f = src->f;
    enum mrs_status s = look_ahead(f, e);
    if (s < MRS_OK) {
        return s;
    }
    if (s == MRS_END || !same_group(src->job, &f->next)) {
        s = mrsi_tape_end(&src->job->rest, e);
        return s == MRS_OK ? MRS_END : s;
    }
    struct mrsi_member_of m = head_of(&f->next);
    shape->p = f->next.p + sizeof m;
    shape->n = f->next.n - (uint32_t)sizeof m;
    src->base.at = m.ordinal;
    f->have_next = false;
    return mrsi_tape_put(&src->job->rest, &m.ordinal, e);
}

static enum mrs_status
next(struct mrsi_fold_source *base, struct mrs_view *shape, struct mrs_err *e)
{
    struct source *src = (struct source *)(void *)base;
    struct rec rec;
    if (src->at == src->end) {
        return src->streams ? next_streamed(src, shape, e) : MRS_END;
    }
    rec_at(src->job, src->at++, &rec, shape);
    base->at = rec.ordinal;
    return MRS_OK;
}

static uint64_t
ordinal(const struct mrsi_fold_source *base, uint64_t i)
{
    const struct source *src = (const struct source *)(const void *)base;
    struct mrs_view shape;
    struct rec rec;
    if (i < src->end - src->first) {
        rec_at(src->job, src->first + i, &rec, &shape);
        return rec.ordinal;
    }
    memcpy(&rec.ordinal, src->job->rest.p + (i - (src->end - src->first)) * sizeof rec.ordinal, sizeof rec.ordinal);
    return rec.ordinal;
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_fold *f = arg;
    struct job *job = p;
    size_t n = job->groups.n / sizeof(size_t), all = job->offs.n / sizeof(size_t);
    enum mrs_status s = MRS_OK;
    job->out.n_docs = 0;
    mrsi_tape_reset(&job->rest);
    if (f->sides.ids.phase == MRSI_IDS_VERDICT) {
        memcpy(&job->out.first_doc, f->serials.p + w->job_no * sizeof job->out.first_doc, sizeof job->out.first_doc);
    }
    for (size_t i = 0; s == MRS_OK && i < n; i++) {
        struct source src = {.base = {.next = next, .ordinal = ordinal}, .f = f, .job = job};
        memcpy(&src.first, job->groups.p + i * sizeof src.first, sizeof src.first);
        src.at = src.first;
        src.end = all;
        if (i + 1 < n) {
            memcpy(&src.end, job->groups.p + (i + 1) * sizeof src.end, sizeof src.end);
        }
        src.streams = job->streams && i + 1 == n;
        s = mrsi_fold_group(&job->one, w, &job->out, &src.base, e);
    }
    return s;
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_fold *f = arg;
    struct job *job = p;
    enum mrs_status s = mrsi_fold_hand_over(f, w, &job->out, e);
    if (s == MRS_OK && f->sides.ids.phase == MRSI_IDS_RESOLVE) {
        s = mrsi_tape_put(&f->serials, &f->n_docs, e);
    }
    f->n_docs += job->out.n_docs;
    return s;
}

static void
clear(void *arg, void *p)
{
    struct mrsi_fold *f = arg;
    struct job *job = p;
    if (job->out.outs) {
        mrsi_sides_outs_free(&f->sides, job->out.outs);
        mrsi_lists_clear(&job->out.lists);
        mrs_buf_clear(&job->out.late);
        mrsi_fold_one_clear(&job->one);
        mrs_buf_clear(&job->recs);
        mrs_buf_clear(&job->offs);
        mrs_buf_clear(&job->groups);
        mrs_buf_clear(&job->group);
        mrsi_tape_clear(&job->rest);
    }
}

enum mrs_status
mrsi_fold_write(struct mrsi_fold *f, struct mrs_err *e)
{
    struct mrsi_pipe p = {f->en, sizeof(struct job), fetch, work, commit, clear, f};
    enum mrs_status s = mrsi_sorter_rewind(&f->members, e);
    f->have_next = false;
    f->n_docs = 0;
    s = s == MRS_OK ? mrsi_pipe_run(&p, e) : s;
    return s == MRS_OK && f->sides.ids.phase == MRSI_IDS_RESOLVE ? mrsi_tape_end(&f->serials, e) : s;
}

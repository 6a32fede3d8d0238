/* SPDX-License-Identifier: Apache-2.0 */
/* fold_write.c - folds all groups in key order: a partition is a job, folded in parallel with others, written in order.
 *
 * A partition that is too large to load is sorted on disk, and its groups are streamed, however large they are, while
 * no other thread fetches: so savepoints are possible inside it and inside a group (fold_partial.c). */
#include "fold.h"
#include "mongoreshape/fold_ops.h"

enum { GROUPS = 1024 /* of a job */, LOOKS = 16 /* for a savepoint, in members of a block's size */ };
#define AT_ONCE (1ull << 30) /* maximum bytes sorted in memory, because no savepoint is possible meanwhile */

struct fold_write_job {
    struct mrsi_fold_out out;
    struct mrsi_fold_one one;
    struct mrsi_fold_load load;
    const struct mrsi_partition *part; /* NULL: gathered groups */
    uint32_t first, n;                 /* range of those */
    bool heavy;
    /* partition sorted on disk */
    struct mrsi_sorted next;    /* the next member */
    bool have_next;
    struct mrs_buf shared_all;  /* for a piece: offsets of its shared records */
    struct mrs_buf key, bytes;  /* scratch for a record to be sorted */
};

static uint64_t
at_once(uint64_t share)
{
    return share < AT_ONCE ? share : AT_ONCE;
}

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct mrsi_fold *f = arg;
    struct fold_write_job *job = p;
    struct mrs_mem *mem = f->en->mem;
    if (!job->out.outs) {
        job->out.outs = mrsi_step_outputs_outs(&f->sides);
        MRS_TRY(mrs_allocated(job->out.outs, sizeof *job->out.outs, e));
        mrsi_fold_one_init(&job->one, f);
        mrsi_fold_load_init(&job->load, mem);
        mrsi_lists_init(&job->out.lists, mem);
        mrs_buf_init(&job->out.late, mem, SIZE_MAX);
        mrs_buf_init(&job->shared_all, mem, SIZE_MAX);
        mrs_buf_init(&job->key, mem, SIZE_MAX);
        mrs_buf_init(&job->bytes, mem, SIZE_MAX);
    }
    if (f->gather.on) {
        uint32_t left = f->gather.groups.n_groups - f->next_group;
        job->part = NULL;
        job->first = f->next_group;
        job->n = left < GROUPS ? left : GROUPS;
        f->next_group += job->n;
        return left ? MRS_OK : MRS_END;
    }
    if (f->next_part == f->spill.n_part && !f->heavy.unfetched) {
        return MRS_END;
    }
    f->next_part += !f->heavy.unfetched;
    job->part = &f->spill.part[f->next_part - 1];
    job->heavy = f->heavy.unfetched || job->part->bytes > at_once(mrsi_layout_most(f->en->memory, f->en->jobs));
    *big = job->heavy;
    return MRS_OK;
}

/* ---- a partition in memory ---- */
struct fold_write_source {
    struct mrsi_fold_source base;
    const struct mrsi_fold_load *load;
    const struct mrsi_fold_member *members, *end; /* end: of those of all groups */
    uint32_t at, n;
    uint32_t shared; /* index for the last member returned, or an equal one */
};

enum { AHEAD = 32 }; /* members, including those of the following groups */

static inline struct mrs_view
member_payload(struct fold_write_source *src, const struct mrsi_fold_member *m)
{
    MRS_ASSERT(src->at < src->n);
    if (src->end - m > AHEAD) {
        __builtin_prefetch(m[AHEAD].rec);
        __builtin_prefetch(m[AHEAD].rec + 4);
    }
    src->at++;
    return mrsi_fold_payload(m->rec);
}

static enum mrs_status
next(struct mrsi_fold_source *base, struct mrs_view *payload, struct mrs_err *e)
{
    struct fold_write_source *src = (struct fold_write_source *)(void *)base;
    (void)e;
    if (src->at == src->n) {
        return MRS_END;
    }
    const struct mrsi_fold_member *m = &src->members[src->at];
    *payload = member_payload(src, m);
    const struct mrsi_fold_shared *shared = mrsi_fold_shared_of(src->load, m);
    base->same_shared = shared->first_equal == src->shared;
    if (!base->same_shared) {
        base->shared = mrsi_fold_shared_rest(shared->rec);
        src->shared = shared->first_equal;
    }
    base->at = mrsi_fold_ordinal_of(src->load, m);
    return MRS_OK;
}

static uint32_t
more(struct mrsi_fold_source *base, struct mrs_view *payload, uint32_t most)
{
    struct fold_write_source *src = (struct fold_write_source *)(void *)base;
    const struct mrsi_fold_member *m = src->members + src->at;
    uint32_t n = 0, left = src->n - src->at;
    most = most < left ? most : left;
    for (; n < most && mrsi_fold_shared_of(src->load, m)->first_equal == src->shared; m++) {
        payload[n++] = member_payload(src, m);
    }
    return n;
}

static uint64_t
ordinal(const struct mrsi_fold_source *base, uint64_t i)
{
    MRS_ASSERT(i < ((const struct fold_write_source *)(const void *)base)->n);
    const struct fold_write_source *src = (const struct fold_write_source *)(const void *)base;
    return mrsi_fold_ordinal_of(src->load, &src->members[i]);
}

static enum mrs_status
fold_loaded(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_write_job *job, struct mrs_err *e)
{
    enum mrs_status s = mrsi_fold_load(f, &job->load, job->part, e);
    for (uint32_t i = 0; s == MRS_OK && i < job->load.n_groups; i++) {
        const struct mrsi_fold_group *g = mrsi_fold_group_at(&job->load, i);
        const struct mrsi_fold_member *m = (const struct mrsi_fold_member *)(const void *)job->load.members.p;
        const struct mrsi_fold_member *end = m + job->load.list.n / sizeof *m;
        struct fold_write_source src = {.base = {.next = next, .more = more, .ordinal = ordinal}, .load = &job->load,
                                        .members = m + g->at, .end = end, .n = g->n, .shared = UINT32_MAX};
        s = mrsi_fold_group(&job->one, w, &job->out, &src.base, e);
    }
    return s;
}

static enum mrs_status
fold_gathered(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_write_job *job, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < job->n; i++) {
        struct mrs_fold_small x = mrsi_fold_small_at(f, job->first + i);
        s = mrsi_fold_small_group(&job->one, w, &job->out, &x, e);
    }
    return s;
}

/* ---- partition sorted on disk ---- */
/* The payload of a member in the sort; the rest of its shared record and its payload follow. The key is group, order,
 * ordinal. */
struct payload {
    uint64_t ordinal;
    uint32_t group_len, shared_len;
};

static enum mrs_status
to_sorter(struct mrsi_fold *f, struct fold_write_job *job, const struct mrsi_fold_rec *shared,
          const struct mrsi_fold_rec *r, uint64_t ordinal, struct mrs_err *e)
{
    MRS_ASSERT(shared->form == MRSI_FOLD_SHARED && r->form != MRSI_FOLD_SHARED);
    struct mrs_view group = mrsi_fold_shared_group(shared), rest = mrsi_fold_shared_rest(shared), payload =
            mrsi_fold_payload(r);
    struct payload x = {ordinal, group.n, rest.n};
    uint8_t be[8], room[9];
    struct mrs_view order = mrsi_fold_order(r, room);
    mrsi_put_be(be, ordinal, 8);
    mrs_buf_reset(&job->key);
    mrs_buf_put(&job->key, group.p, group.n);
    mrs_buf_put(&job->key, order.p, order.n);
    mrs_buf_put(&job->key, be, sizeof be);
    mrs_buf_reset(&job->bytes);
    mrs_buf_put(&job->bytes, &x, sizeof x);
    mrs_buf_put(&job->bytes, rest.p, rest.n);
    mrs_buf_put(&job->bytes, payload.p, payload.n);
    if (job->key.bad || job->bytes.bad) {
        return mrs_err_memory(e, job->bytes.n);
    }
    return mrsi_sorter_put(&f->heavy.sorter, job->key.p, (uint32_t)job->key.n, job->bytes.p, (uint32_t)job->bytes.n, e);
}

/* In a job that runs alone: after so many bytes of pieces, members or documents, takes a savepoint if one is due; all
 * earlier jobs have been committed. */
static enum mrs_status
savepoint_inside(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_write_job *job, uint64_t bytes,
                 struct mrs_err *e)
{
    if (!mrsi_pause_is_due(&f->heavy.pauses, bytes)) {
        return MRS_OK;
    }
    bool cancelled = mrsi_cancelled(f->en), can = !f->heavy.inside || mrsi_fold_can_mark(&f->heavy.one);
    enum mrs_status s = MRS_OK;
    if (can && mrsi_ckpt_due(f->en) && mrsi_pipe_turn(w)) {
        s = mrsi_fold_hand_over(f, w, &job->out, e);
        if (job->have_next) {
            mrsi_sorter_unread(&f->heavy.sorter);
            job->have_next = false;
        }
        f->heavy.n_docs = job->out.n_docs;
        MRS_THEN(s, mrsi_ckpt_savepoint(&f->pass, e));
    }
    return s == MRS_OK && cancelled ? mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted") : s;
}

struct fold_write_piece {
    struct mrsi_fold *f;
    struct mrsi_worker *w;
    struct fold_write_job *job;
};

static enum mrs_status
piece_to_sorter(void *arg, const uint8_t *p, uint32_t n, struct mrs_err *e)
{
    const struct fold_write_piece *x = arg;
    struct fold_write_job *job = x->job;
    enum mrs_status s = MRS_OK;
    const uint64_t first = mrsi_fold_ordinal((const struct mrsi_fold_rec *)(const void *)p);
    mrs_buf_reset(&job->shared_all);
    for (const uint8_t *end = p + n; s == MRS_OK && p < end;) {
        const struct mrsi_fold_rec *r = (const struct mrsi_fold_rec *)(const void *)p, *shared;
        p += mrsi_fold_size(r);
        if (r->form == MRSI_FOLD_SHARED) {
            mrs_buf_put(&job->shared_all, &r, sizeof r);
            s = mrs_buf_status(&job->shared_all, e);
        } else {
            memcpy(&shared, job->shared_all.p + r->shared * sizeof shared, sizeof shared);
            s = to_sorter(x->f, job, shared, r, first + r->since, e);
        }
    }
    x->f->heavy.piece++;
    return s == MRS_OK ? savepoint_inside(x->f, x->w, job, n, e) : s;
}

static struct payload
payload_of(const struct mrsi_sorted *r)
{
    MRS_ASSERT(r->n >= sizeof(struct payload));
    struct payload x;
    memcpy(&x, r->p, sizeof x);
    return x;
}

static enum mrs_status
prefetch(struct mrsi_fold *f, struct fold_write_job *job, struct mrs_err *e)
{
    const struct mrsi_sorted *r = &job->next;
    if (job->have_next) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_sorter_next(&f->heavy.sorter, &job->next, e);
    job->have_next = s == MRS_OK;
    if (s == MRS_OK && f->heavy.foreign) {
        struct payload x = {0, 0, 0};
        bool whole = r->n >= sizeof x;
        x = whole ? payload_of(r) : x;
        whole = whole && x.group_len <= r->key_len && x.shared_len <= r->n - sizeof x;
        if (!whole || x.ordinal >= f->fates.n) {
            s = mrsi_state_damaged("a partition", e);
        }
    }
    return s;
}

struct fold_write_stream {
    struct mrsi_fold_source base;
    struct mrsi_fold *f;
    struct mrsi_worker *w;
    struct fold_write_job *job;
    uint64_t bytes, many; /* of members since the last check for a savepoint; number of members until the next */
};

static enum mrs_status
rest_streamed(struct mrsi_fold_source *base, uint64_t bytes, struct mrs_err *e)
{
    const struct fold_write_stream *src = (const struct fold_write_stream *)(const void *)base;
    return savepoint_inside(src->f, src->w, src->job, bytes, e);
}

static enum mrs_status
next_streamed(struct mrsi_fold_source *base, struct mrs_view *payload, struct mrs_err *e)
{
    struct fold_write_stream *src = (struct fold_write_stream *)(void *)base;
    struct mrsi_fold *f = src->f;
    struct fold_write_job *job = src->job;
    enum mrs_status s = MRS_OK;
    if (src->bytes >= src->many) {
        s = savepoint_inside(f, src->w, job, src->bytes, e);
        src->bytes = 0;
    }
    MRS_THEN(s, prefetch(f, job, e));
    if (s < MRS_OK) {
        return s;
    }
    struct payload x = s == MRS_OK ? payload_of(&job->next) : (struct payload){0, 0, 0};
    struct mrs_view key = {f->heavy.key.p, (uint32_t)f->heavy.key.n};
    if (s == MRS_END || mrsi_fold_compare((struct mrs_view){job->next.key, x.group_len}, key) != 0) {
        s = mrsi_file_array_end(&f->heavy.ordinals, e);
        return s == MRS_OK ? MRS_END : s;
    }
    const uint8_t *p = job->next.p + sizeof x;
    base->shared = (struct mrs_view){p, x.shared_len};
    *payload = (struct mrs_view){p + x.shared_len, job->next.n - (uint32_t)sizeof x - x.shared_len};
    base->at = x.ordinal;
    src->bytes += job->next.n;
    job->have_next = false;
    return mrsi_file_array_put(&f->heavy.ordinals, &x.ordinal, e);
}

static uint64_t
ordinal_streamed(const struct mrsi_fold_source *base, uint64_t i)
{
    MRS_ASSERT(i < ((const struct fold_write_stream *)(const void *)base)->f->heavy.ordinals.n);
    uint64_t n;
    memcpy(&n, ((const struct fold_write_stream *)(const void *)base)->f->heavy.ordinals.p + i * sizeof n, sizeof n);
    return n;
}

void
mrsi_fold_heavy_begin(struct mrsi_fold *f)
{
    MRS_ASSERT(!f->heavy.on);
    struct mrsi_engine *en = f->en;
    mrsi_sorter_init(&f->heavy.sorter, en, at_once(en->memory / 8));
    mrsi_file_array_init(&f->heavy.ordinals, en, sizeof(uint64_t), en->memory / 32);
    mrs_buf_init(&f->heavy.key, en->mem, SIZE_MAX);
    mrsi_fold_one_init(&f->heavy.one, f);
    f->heavy.pauses = (struct mrsi_pause_clock){en, &f->pass, 0};
    f->heavy.sorter.kept = f->heavy.ordinals.kept = f->heavy.one.docs.kept = f->heavy.one.alone.kept = true;
    f->heavy.one.kept = f->heavy.on = true;
    f->heavy.sorted = f->heavy.foreign = f->heavy.inside = false;
    f->heavy.piece = 0;
}

void
mrsi_fold_heavy_clear(struct mrsi_fold *f)
{
    if (f->heavy.on) {
        mrsi_sorter_clear(&f->heavy.sorter);
        mrsi_file_array_clear(&f->heavy.ordinals);
        mrs_buf_clear(&f->heavy.key);
        mrsi_fold_one_clear(&f->heavy.one);
        f->heavy.on = f->heavy.inside = false;
    }
}

/* Puts all records of the partition into the sort, or those left at the savepoint. */
static enum mrs_status
sort_pieces(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_write_job *job, struct mrs_err *e)
{
    MRS_ASSERT(!f->heavy.unfetched || f->heavy.on);
    struct fold_write_piece x = {f, w, job};
    struct mrsi_partition rest = *job->part;
    if (f->heavy.unfetched) {
        f->heavy.unfetched = false;
        job->out.n_docs = f->heavy.n_docs;
    } else {
        mrsi_fold_heavy_begin(f);
    }
    if (f->heavy.sorted) {
        return mrsi_sorter_resume(&f->heavy.sorter, e);
    }
    rest.pieces.p += f->heavy.piece * sizeof(struct mrsi_spill_piece);
    rest.pieces.n -= f->heavy.piece * sizeof(struct mrsi_spill_piece);
    enum mrs_status s = mrsi_partition_pieces(&f->spill, &rest, piece_to_sorter, &x, e);
    f->heavy.sorted = s == MRS_OK;
    return s == MRS_OK ? mrsi_sorter_rewind(&f->heavy.sorter, e) : s;
}

/* The group of the next member. */
static enum mrs_status
fold_streamed(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_write_job *job, struct mrsi_fold_source *src,
              struct mrs_err *e)
{
    MRS_ASSERT(job->have_next && !f->heavy.inside);
    mrs_buf_reset(&f->heavy.key);
    mrs_buf_put(&f->heavy.key, job->next.key, payload_of(&job->next).group_len);
    mrsi_file_array_reset(&f->heavy.ordinals);
    enum mrs_status s = mrs_buf_status(&f->heavy.key, e);
    if (s == MRS_OK) {
        mrsi_fold_group_begin(&f->heavy.one);
        f->heavy.inside = true;
        s = mrsi_fold_group_on(&f->heavy.one, w, &job->out, src, e);
        f->heavy.inside = false;
    }
    return s;
}

static enum mrs_status
fold_heavy(struct mrsi_fold *f, struct mrsi_worker *w, struct fold_write_job *job, struct mrs_err *e)
{
    struct fold_write_stream src = {{.next = next_streamed, .ordinal = ordinal_streamed, .rest = rest_streamed}, f, w,
                                    job, 0, 0};
    src.many = mrsi_block_bytes(f->en) / LOOKS;
    job->have_next = false;
    enum mrs_status s = sort_pieces(f, w, job, e);
    if (s == MRS_OK && f->heavy.inside) {
        s = mrsi_fold_group_on(&f->heavy.one, w, &job->out, &src.base, e);
        f->heavy.inside = false;
    }
    while (s == MRS_OK && (s = prefetch(f, job, e)) == MRS_OK) {
        s = fold_streamed(f, w, job, &src.base, e);
    }
    mrsi_fold_heavy_clear(f);
    return s == MRS_END ? MRS_OK : s;
}

/* ---- entry point ---- */
static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_fold *f = arg;
    struct fold_write_job *job = p;
    job->out.n_docs = 0;
    if (f->sides.ids.phase == MRSI_IDS_APPLY) {
        size_t part = (size_t)(job->part - f->spill.part);
        memcpy(&job->out.first_doc, f->serials.p + part * sizeof job->out.first_doc, sizeof job->out.first_doc);
    }
    if (!job->part) {
        return fold_gathered(f, w, job, e);
    }
    return job->heavy ? fold_heavy(f, w, job, e) : fold_loaded(f, w, job, e);
}

static enum mrs_status
commit(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    struct mrsi_fold *f = arg;
    struct fold_write_job *job = p;
    enum mrs_status s = mrsi_fold_hand_over(f, w, &job->out, e);
    if (s == MRS_OK && f->sides.ids.phase == MRSI_IDS_COLLECT) {
        s = mrsi_file_array_put(&f->serials, &f->n_docs, e);
    }
    f->n_docs += job->out.n_docs;
    return s;
}

static void
clear(void *arg, void *p)
{
    struct mrsi_fold *f = arg;
    struct fold_write_job *job = p;
    if (job->out.outs) {
        mrsi_step_outputs_outs_free(&f->sides, job->out.outs);
        mrsi_lists_clear(&job->out.lists);
        mrs_buf_clear(&job->out.late);
        mrsi_fold_one_clear(&job->one);
        mrsi_fold_load_clear(&job->load);
        mrs_buf_clear(&job->shared_all);
        mrs_buf_clear(&job->key);
        mrs_buf_clear(&job->bytes);
    }
}

enum mrs_status
mrsi_fold_write(struct mrsi_fold *f, struct mrs_err *e)
{
    struct mrsi_pipe p = {f->en, sizeof(struct fold_write_job), fetch, work, commit, clear, f};
    enum mrs_status s = mrsi_pipe_run_marked(&p, &f->pass, e);
    return s == MRS_OK && f->sides.ids.phase == MRSI_IDS_COLLECT ? mrsi_file_array_end(&f->serials, e) : s;
}

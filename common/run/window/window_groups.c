/* SPDX-License-Identifier: Apache-2.0 */
/* window_groups.c - group by group: what its members bring, and what the step gives for each of them.
 *
 * All workers compute groups, several to a job, in any order, and write the results (window_results.c). */
#include "window_pass.h"

enum { AHEAD = 8, JOB_MEMBERS = 4096, JOB_BYTES = 256 << 10 };

struct window_job {
    struct mrsi_file_array records, members; /* of groups that the sorter has: struct mrsi_window_record; where each
                                                lies in there */
    struct mrs_buf ends;                   /* of these groups: the number of members up to their end */
    uint64_t first, n;                     /* groups: the first, where they are in memory; and how many */
};

struct window_compute {
    struct mrsi_window_run *r;
    uint64_t next, a_job; /* groups in memory: the next one, and how many are a job */
};

struct window_group { /* while it is computed */
    struct mrsi_window_run *r;
    struct mrsi_worker *w;
    struct window_job *job;
    const struct mrsi_window_member *member; /* n of them; NULL: their places in the records of the job */
    const uint64_t *place;
    uint64_t n;
    uint64_t shared;
    uint64_t next;       /* the member whose result is next */
};

/* ---- fetching ---- */
static enum mrs_status
add(const struct mrsi_window_run *r, struct window_job *job, const struct mrsi_sorted *rec, struct mrs_err *e)
{
    struct mrsi_window_record at = {0};
    static const uint8_t zeros[MRSI_WINDOW_ALIGN];
    const uint64_t place = job->records.n;
    const uint32_t head = sizeof(struct mrs_hash128), tail = sizeof at.ordinal;
    if (rec->key_len < head || rec->n < tail || !mrsi_savepoint_is_doc(rec->p + tail, rec->n - tail)) {
        return mrsi_state_damaged("what documents bring to their group", e); /* only of another run */
    }
    memcpy(&at.ordinal, rec->p, tail);
    at.order = rec->key_len - head;
    at.payload = rec->n - tail;
    if (at.ordinal >= r->bits.n) {
        return mrsi_state_damaged("what documents bring to their group", e);
    }
    enum mrs_status s = mrsi_file_array_put_n(&job->records, &at, sizeof at, e);
    MRS_THEN(s, mrsi_file_array_put_n(&job->records, rec->key + head, at.order, e));
    MRS_THEN(s, mrsi_file_array_put_n(&job->records, rec->p + tail, at.payload, e));
    MRS_THEN(s, mrsi_file_array_put_n(&job->records, zeros, place + mrsi_window_size(&at) - job->records.n, e));
    return s == MRS_OK ? mrsi_file_array_put(&job->members, &place, e) : s;
}

/* The next group that the sorter has. END: there is none. */
static enum mrs_status
gather(struct mrsi_window_run *r, struct window_job *job, struct mrs_err *e)
{
    struct mrs_hash128 key;
    struct mrsi_sorted rec;
    uint64_t before = job->members.n;
    enum mrs_status s;
    while ((s = mrsi_sorter_next(&r->members, &rec, e)) == MRS_OK) {
        if (job->members.n > before && memcmp(rec.key, &key, sizeof key) != 0) {
            mrsi_sorter_unread(&r->members);
            break;
        }
        s = add(r, job, &rec, e);
        if (s != MRS_OK) {
            return s;
        }
        memcpy(&key, rec.key, sizeof key);
    }
    if (s < MRS_OK || job->members.n == before) {
        return s;
    }
    uint64_t end = job->members.n;
    mrs_buf_put(&job->ends, &end, sizeof end);
    job->n++;
    return mrs_buf_status(&job->ends, e);
}

static void
job_init(struct mrsi_engine *en, struct window_job *job)
{
    uint64_t each = en->memory / 16 / en->jobs;
    mrsi_file_array_init(&job->records, en, 1, each);
    mrsi_file_array_init(&job->members, en, sizeof(uint64_t), each / 2);
    mrs_buf_init(&job->ends, en->mem, SIZE_MAX);
}

static enum mrs_status
fetch(void *arg, void *p, bool *big, struct mrs_err *e)
{
    struct window_compute *x = arg;
    struct mrsi_window_run *r = x->r;
    struct window_job *job = p;
    (void)big;
    if (!job->ends.mem) {
        job_init(r->en, job);
    }
    job->n = 0;
    job->first = x->next;
    if (r->lists.on) {
        uint64_t left = r->lists.n_groups - x->next;
        job->n = left < x->a_job ? left : x->a_job;
        x->next += job->n;
        return job->n ? MRS_OK : MRS_END;
    }
    mrsi_file_array_reset(&job->records);
    mrsi_file_array_reset(&job->members);
    mrs_buf_reset(&job->ends);
    enum mrs_status s = MRS_OK;
    while (s == MRS_OK && job->members.n < JOB_MEMBERS && job->records.n < JOB_BYTES) {
        s = gather(r, job, e);
    }
    return s == MRS_END && job->n ? MRS_OK : s;
}

static void
clear(void *arg, void *p)
{
    struct window_job *job = p;
    (void)arg;
    if (job->ends.mem) {
        mrsi_file_array_clear(&job->records);
        mrsi_file_array_clear(&job->members);
        mrs_buf_clear(&job->ends);
    }
}

static const struct mrsi_window_record *
record_at(const struct window_group *g, uint64_t i)
{
    MRS_ASSERT(i < g->n);
    return g->member ? g->member[i].record
                     : (const struct mrsi_window_record *)(const void *)(g->job->records.p + g->place[i]);
}

/* ---- results ---- */
static enum mrs_status
put_shared(void *arg, struct mrs_view doc, struct mrs_err *e)
{
    struct window_group *g = arg;
    enum mrs_status s = mrsi_window_put_shared(&g->r->results, doc, &g->shared, e);
    mrs_arena_reset(&g->w->arena); /* the document may lie there */
    return s;
}

static enum mrs_status
put_member(void *arg, struct mrs_view doc, struct mrs_err *e)
{
    struct window_group *g = arg;
    MRS_ASSERT(g->next < g->n);
    if (g->next + AHEAD < g->n) {
        __builtin_prefetch(record_at(g, g->next + AHEAD));
    }
    enum mrs_status s = mrsi_window_put_result(g->w->local, record_at(g, g->next++)->ordinal, g->shared, doc, e);
    mrs_arena_reset(&g->w->arena);
    return s == MRS_OK ? mrsi_interrupted(g->r->en, e) : s;
}

/* ---- computing ---- */
static struct mrs_window_member
member_at(const struct mrs_window_group *group, uint64_t i)
{
    const struct mrsi_window_record *r = record_at(group->impl, i);
    const uint8_t *p = (const uint8_t *)(r + 1);
    return (struct mrs_window_member){{p, r->order}, {p + r->order, r->payload}};
}

/* Group i of the job. */
static void
group_at(struct window_group *g, uint64_t i)
{
    MRS_ASSERT(i < g->job->n);
    const struct window_job *job = g->job;
    const uint64_t *end = (const uint64_t *)(const void *)job->ends.p;
    g->shared = MRSI_WINDOW_ALONE;
    g->next = 0;
    if (g->r->lists.on) {
        g->member = mrsi_window_list(&g->r->lists, job->first + i, &g->n);
    } else {
        uint64_t first = i ? end[i - 1] : 0;
        g->place = (const uint64_t *)(const void *)job->members.p + first;
        g->n = end[i] - first;
    }
}

static enum mrs_status
work(void *arg, struct mrsi_worker *w, void *p, struct mrs_err *e)
{
    const struct window_compute *x = arg;
    struct mrsi_window_run *r = x->r;
    struct window_job *job = p;
    struct window_group g = {.r = r, .w = w, .job = job};
    const struct mrs_window_result to = {put_shared, put_member, &g};
    void *kept = mrsi_work_of(w, r->step, e);
    if (!kept && r->st->type->work_size) {
        return MRS_DEAD;
    }
    enum mrs_status s = mrsi_file_array_end(&job->records, e);
    MRS_THEN(s, mrsi_file_array_end(&job->members, e));
    for (uint64_t i = 0; s == MRS_OK && i < job->n; i++) {
        group_at(&g, i);
        const struct mrs_window_group group = {g.n, member_at, &g};
        mrsi_row(w, r->step, 0)->groups++;
        mrs_arena_reset(&w->arena);
        mrs_err_clear(&w->err);
        s = r->ops->group(r->st->state, &w->ctx, kept, &group, &to);
        MRS_ASSERT(s != MRS_OK || g.next == g.n);
        s = s == MRS_OK ? s : mrsi_kernel_failed(w, s, e);
    }
    return s;
}

/* Memory of the groups while they are computed: the lists, or the sorter and what jobs have of it. */
static uint64_t
memory_used(const struct mrsi_window_run *r)
{
    const struct mrsi_window_lists *l = &r->lists;
    return l->on ? l->recs.cap + l->table.cap + l->groups.cap + l->members.cap : r->en->memory * 5 / 8;
}

static enum mrs_status
all_groups(void *arg, struct mrs_err *e)
{
    struct mrsi_window_run *r = arg;
    const uint64_t n = r->lists.n, fit = n ? JOB_MEMBERS * r->lists.n_groups / n : 0;
    struct window_compute x = {.r = r, .a_job = fit ? fit : 1};
    struct mrsi_pipe p = {r->en, sizeof(struct window_job), fetch, work, NULL, clear, &x};
    return mrsi_pipe_run(&p, e);
}

enum mrs_status
mrsi_window_compute(struct mrsi_window_run *r, struct mrs_err *e)
{
    MRS_ASSERT(r->stage == MRSI_WINDOW_COMPUTE);
    enum mrs_status s = r->lists.on ? mrsi_window_lists_end(&r->lists, e) : mrsi_window_to_sorter(r, e);
    s = s == MRS_OK && !r->lists.on ? mrsi_sorter_rewind(&r->members, e) : s;
    MRS_THEN(s, mrsi_window_results_init(&r->results, r->en, r->bits.n, memory_used(r), e));
    MRS_THEN(s, mrsi_spill_pass(&r->results.spill, all_groups, r, e));
    return s == MRS_OK ? mrsi_file_array_end(&r->results.shared, e) : s;
}

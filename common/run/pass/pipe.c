/* SPDX-License-Identifier: Apache-2.0 */
/* pipe.c - one pass on several workers: fetch under a lock, work in parallel, commit in order.
 *
 * Jobs are numbered as they are fetched and committed in that order, so a pass writes the same bytes for any number of
 * workers. A worker whose job is done before its turn queues it, while a slot is free, and continues; the thread that
 * commits the job before it commits it, too. A big job keeps the fetch lock until it is committed: documents of many
 * megabytes take turns instead of being held by all workers at once (all earlier jobs have been fetched, so they can
 * commit: no deadlock). A job becomes big if the expressions of one of its documents make many megabytes: then it waits
 * for its turn. After a big job its memory is freed: otherwise each worker would end up with the memory of the largest
 * document. The first error stops all workers; of several, the error of the earliest job is reported. The pipe must not
 * depend on the kind of job. */
#include "checkpoint.h"

#define PLENTY (128ull << 20) /* bytes of memory for a worker */
#define PROGRAM (4ull << 20)   /* bytes of --memory that are not allocations */
#define LARGE_TAKES (256ull << 20) /* estimated maximum memory for a document */

enum pipe_state { FREE, BUSY, WAITS /* done, waits for its turn */ };
struct pipe_slot { /* memory for a job */
    void *job;
    uint64_t no;
    enum pipe_state state;
    bool big;
    struct mrs_buf refused; /* of a waiting job, instead of its worker's */
};

struct pipe_run {
    const struct mrsi_pipe *p;
    const struct mrsi_pass *pass; /* NULL: no savepoints */
    uint64_t marked; /* number of jobs before the last savepoint */
    pthread_mutex_t fetch_lock, commit_lock;
    pthread_cond_t turn;
    struct pipe_slot *slot; /* one for each worker, plus spare ones; states are protected by the commit lock */
    uint32_t n_slots;
    uint64_t fetched;
    _Atomic uint64_t committed;
    bool stop;
    uint64_t err_job;
    struct mrs_err err;
    enum mrs_status status;
};

struct thread {
    struct pipe_run *r;
    struct mrsi_worker *w;
    pthread_t id;
    bool started;
};

static void
fail(struct pipe_run *r, enum mrs_status s, uint64_t job, const struct mrs_err *e)
{
    MRS_ASSERT(s < MRS_OK);
    mrs_mem_set_limit(r->p->en->mem, 0); /* that of a big job: what follows is needed */
    pthread_mutex_lock(&r->commit_lock);
    if (r->status == MRS_OK || job < r->err_job) {
        r->status = s;
        r->err = *e;
        r->err_job = job;
    }
    r->stop = true;
    pthread_cond_broadcast(&r->turn);
    pthread_mutex_unlock(&r->commit_lock);
}

static bool
stopped(struct pipe_run *r)
{
    pthread_mutex_lock(&r->commit_lock);
    bool stop = r->stop;
    pthread_mutex_unlock(&r->commit_lock);
    return stop;
}

/* ---- under the commit lock ---- */
/* The pass has failed at an earlier job. */
static bool
is_over(const struct pipe_run *r, uint64_t job)
{
    return r->stop && r->err_job < job;
}

static struct pipe_slot *
free_slot(const struct pipe_run *r)
{
    uint32_t i = 0;
    while (i < r->n_slots && r->slot[i].state != FREE) {
        i++;
    }
    return i < r->n_slots ? &r->slot[i] : NULL;
}

/* The waiting job whose turn it is. */
static struct pipe_slot *
next_waiting(const struct pipe_run *r)
{
    uint32_t i = 0;
    while (i < r->n_slots && (r->slot[i].state != WAITS || r->slot[i].no != r->committed)) {
        i++;
    }
    return i < r->n_slots && !is_over(r, r->committed) ? &r->slot[i] : NULL;
}

static void
swap_refused(struct pipe_slot *x, struct mrsi_worker *w)
{
    struct mrs_buf swap = w->refused;
    w->refused = x->refused;
    x->refused = swap;
}

/* ---- end of a job ---- */
/* Waits for the job's turn: true. False: the worker got another slot, or the pass has failed at an earlier job. */
static bool
wait_turn(struct pipe_run *r, struct mrsi_worker *w, struct pipe_slot **mine, bool big)
{
    MRS_ASSERT(*mine);
    struct pipe_slot *x = *mine, *other = NULL;
    pthread_mutex_lock(&r->commit_lock);
    while (r->committed != x->no && !is_over(r, x->no) && (big || (other = free_slot(r)) == NULL)) {
        pthread_cond_wait(&r->turn, &r->commit_lock);
    }
    bool turn = r->committed == x->no && !is_over(r, x->no);
    if (other) {
        swap_refused(x, w);
        x->state = WAITS;
        other->state = BUSY;
        *mine = other;
    }
    pthread_mutex_unlock(&r->commit_lock);
    return turn;
}

/* Frees a big job's memory, and what its worker keeps between documents. */
static void
return_slot(const struct mrsi_pipe *p, struct mrsi_worker *w, struct pipe_slot *x)
{
    p->clear(p->arg, x->job);
    memset(x->job, 0, p->job_size);
    mrsi_worker_release(w);
}

static bool
is_too_large(const struct pipe_run *r, const struct mrs_err *e)
{
    return e->code == MRS_E_MEMORY && mrs_mem_is_over(r->p->en->mem);
}

/* An allocation failed: a document does not fit in --memory. alone: it is the one that w works on. */
static enum mrs_status
too_large(const struct mrsi_worker *w, bool alone, struct mrs_err *e)
{
    uint64_t now = w->en->most, more = ((now + LARGE_TAKES) >> 26 << 6) + 64; /* MiB */
    MRS_ASSERT(now > 0);
    mrs_err_clear(e);
    if (!w->last.ns || !alone) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT,
                           "documents that are processed together take more memory than --memory %lluM leaves: give "
                           "more, as --memory %lluM",
                           (unsigned long long)(now >> 20), (unsigned long long)more);
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT,
                       "document %llu of %s takes more memory than --memory %lluM leaves: give more, as --memory %lluM",
                       (unsigned long long)w->last.ordinal + 1, w->last.ns, (unsigned long long)(now >> 20),
                       (unsigned long long)more);
}

/* Commits the job of a slot, whose turn it is; *next: the following one, if it waits. */
static enum mrs_status
commit(struct pipe_run *r, struct mrsi_worker *w, struct pipe_slot *x, struct pipe_slot **next)
{
    MRS_ASSERT(x->job && x->no == r->committed);
    struct mrs_err e;
    bool waited = x->state == WAITS; /* no other thread reads it any more */
    mrs_err_clear(&e);
    w->job_no = x->no;
    if (waited) {
        swap_refused(x, w);
    }
    enum mrs_status s = r->p->commit ? r->p->commit(r->p->arg, w, x->job, &e) : MRS_OK;
    *next = NULL;
    if (waited) {
        swap_refused(x, w);
    }
    if (s < MRS_OK) {
        s = is_too_large(r, &e) ? too_large(w, x->big, &e) : s;
        fail(r, s, x->no, &e);
        return s;
    }
    if (x->big) {
        return_slot(r->p, w, x);
        mrs_mem_set_limit(r->p->en->mem, 0);
    }
    pthread_mutex_lock(&r->commit_lock);
    r->committed++;
    *next = next_waiting(r);
    x->state = *next ? FREE : BUSY; /* the last one now belongs to the worker */
    pthread_cond_broadcast(&r->turn);
    pthread_mutex_unlock(&r->commit_lock);
    return s;
}

static enum mrs_status
end_job(struct pipe_run *r, struct mrsi_worker *w, struct pipe_slot **mine, bool big)
{
    enum mrs_status s = MRS_OK;
    if (!wait_turn(r, w, mine, big)) {
        return MRS_OK;
    }
    for (struct pipe_slot *next = *mine; s == MRS_OK && next;) {
        *mine = next;
        s = commit(r, w, *mine, &next);
    }
    return s;
}

bool
mrsi_pipe_await(const struct mrsi_worker *w)
{
    struct pipe_run *r = w->pipe;
    pthread_mutex_lock(&r->commit_lock);
    while (r->committed != w->job_no && !is_over(r, w->job_no)) {
        pthread_cond_wait(&r->turn, &r->commit_lock);
    }
    bool turn = !is_over(r, w->job_no);
    pthread_mutex_unlock(&r->commit_lock);
    return turn;
}

bool
mrsi_pipe_turn(const struct mrsi_worker *w)
{
    return atomic_load(&w->pipe->committed) == w->job_no;
}

/* Under the fetch lock: takes a savepoint after all jobs under way have been committed. None if the pass fails
 * meanwhile. */
static enum mrs_status
take_savepoint(struct pipe_run *r, struct mrs_err *e)
{
    const struct mrsi_pass *pass = r->pass;
    if (!pass || r->fetched == r->marked || !mrsi_ckpt_due(r->p->en)) {
        return MRS_OK;
    }
    pthread_mutex_lock(&r->commit_lock);
    while (r->committed != r->fetched && !r->stop) {
        pthread_cond_wait(&r->turn, &r->commit_lock);
    }
    bool stop = r->stop;
    pthread_mutex_unlock(&r->commit_lock);
    r->marked = r->fetched;
    return stop ? MRS_OK : mrsi_ckpt_savepoint(r->pass, e);
}

/* The job of this worker goes on alone: after all earlier ones, and within the budget until it is committed. */
static enum mrs_status
go_alone(const struct mrsi_worker *w)
{
    MRS_ASSERT(w->pipe && w->slot);
    struct mrsi_engine *en = w->en;
    if (!mrsi_pipe_await(w)) {
        return MRS_END;
    }
    uint64_t most = en->most, beyond = most < MRSI_ROOMY ? MRSI_LARGE_ROOM : 0;
    mrs_mem_set_limit(en->mem, most ? most - PROGRAM + beyond : 0);
    w->slot->big = true;
    return MRS_OK;
}

bool
mrsi_pipe_swell(void *worker)
{
    const struct mrsi_worker *w = worker;
    return !w->pipe || w->slot->big || go_alone(w) == MRS_OK;
}

/* Works on a job, and commits it if possible. */
static enum mrs_status
work_on(struct pipe_run *r, struct mrsi_worker *w, struct pipe_slot **mine, bool big, struct mrs_err *e)
{
    const struct mrsi_pipe *p = r->p;
    struct pipe_slot *x = *mine;
    w->last.ns = NULL;
    w->slot = x;
    enum mrs_status s = big ? go_alone(w) : MRS_OK;
    MRS_THEN(s, p->work(p->arg, w, x->job, e));
    if (s < MRS_OK) {
        s = is_too_large(r, e) ? too_large(w, x->big, e) : s;
        fail(r, s, w->job_no, e);
    } else if (s == MRS_OK) {
        s = end_job(r, w, mine, big);
    }
    return s;
}

/* One job from fetch to commit; OK to continue, END, or an error that was reported. */
static enum mrs_status
one_job(struct pipe_run *r, struct mrsi_worker *w, struct pipe_slot **mine)
{
    MRS_ASSERT(*mine);
    const struct mrsi_pipe *p = r->p;
    struct mrs_err e;
    bool big = false;
    mrs_err_clear(&e);
    pthread_mutex_lock(&r->fetch_lock);
    enum mrs_status s = stopped(r) ? MRS_END : MRS_OK;
    uint64_t no = r->fetched;
    MRS_THEN(s, take_savepoint(r, &e));
    if (s == MRS_OK && mrsi_cancelled(p->en)) {
        s = mrs_err_set(&e, MRS_FAIL, MRS_E_CANCEL, "interrupted");
    }
    MRS_THEN(s, p->fetch(p->arg, (*mine)->job, &big, &e));
    if (s == MRS_OK) {
        (*mine)->no = no;
        (*mine)->big = false;
        r->fetched++;
    } else if (s < MRS_OK) {
        fail(r, s, no, &e); /* before another fetch, whose failure would have another cause */
    }
    if (!big || s != MRS_OK) {
        pthread_mutex_unlock(&r->fetch_lock);
    }
    if (s != MRS_OK) {
        return s;
    }
    w->job_no = no;
    w->pipe = r;
    s = work_on(r, w, mine, big, &e);
    if (big) {
        pthread_mutex_unlock(&r->fetch_lock);
    }
    return s;
}

static void *
worker_main(void *arg)
{
    struct thread *t = arg;
    struct pipe_slot *mine = &t->r->slot[t->w->no];
    while (one_job(t->r, t->w, &mine) == MRS_OK) {
    }
    return NULL;
}

/* One slot for each worker, and more for finished jobs, so that workers need not wait for the one that writes: the same
 * number, or half of it if memory is short. */
static enum mrs_status
make_slots(struct pipe_run *r, struct mrs_err *e)
{
    MRS_ASSERT(r->p->en->jobs > 0 && r->n_slots == 0);
    const struct mrsi_pipe *p = r->p;
    bool plenty = p->en->memory / p->en->jobs >= PLENTY;
    uint32_t n = p->en->jobs + (plenty ? p->en->jobs : p->en->jobs / 2);
    r->slot = mrs_zalloc(p->en->mem, n * sizeof *r->slot);
    r->n_slots = r->slot ? n : 0;
    for (uint32_t i = 0; i < r->n_slots; i++) {
        mrs_buf_init(&r->slot[i].refused, p->en->mem, SIZE_MAX);
        r->slot[i].state = i < p->en->jobs ? BUSY : FREE;
        r->slot[i].job = mrs_zalloc(p->en->mem, p->job_size);
        MRS_TRY(mrs_allocated(r->slot[i].job, p->job_size, e));
    }
    return mrs_allocated(r->slot, n * sizeof *r->slot, e);
}

static void
clear_slots(struct pipe_run *r)
{
    for (uint32_t i = 0; i < r->n_slots; i++) {
        if (r->slot[i].job) {
            r->p->clear(r->p->arg, r->slot[i].job);
        }
        mrs_free(r->p->en->mem, r->slot[i].job);
        mrs_buf_clear(&r->slot[i].refused);
    }
    mrs_free(r->p->en->mem, r->slot);
}

static void
run_threads(struct pipe_run *r, struct thread *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        t[i].r = r;
        t[i].w = &r->p->en->worker[i];
    }
    for (uint32_t i = 1; i < n; i++) { /* if a thread cannot be started, there is one worker less */
        t[i].started = pthread_create(&t[i].id, NULL, worker_main, &t[i]) == 0;
    }
    worker_main(&t[0]);
    for (uint32_t i = 1; i < n; i++) {
        if (t[i].started) {
            pthread_join(t[i].id, NULL);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        t[i].w->pipe = NULL;
    }
}

enum mrs_status
mrsi_pipe_run(const struct mrsi_pipe *p, struct mrs_err *e)
{
    return mrsi_pipe_run_marked(p, NULL, e);
}

enum mrs_status
mrsi_pipe_run_marked(const struct mrsi_pipe *p, const struct mrsi_pass *pass, struct mrs_err *e)
{
    MRS_ASSERT(p->fetch && p->work);
    struct pipe_run r = {.p = p, .pass = pass, .err_job = UINT64_MAX};
    struct thread *t = mrs_zalloc(p->en->mem, p->en->jobs * sizeof *t);
    enum mrs_status s = t ? make_slots(&r, e) : mrs_err_memory(e, p->en->jobs * sizeof *t);
    if (s != MRS_OK) {
        clear_slots(&r);
        mrs_free(p->en->mem, t);
        return s;
    }
    pthread_mutex_init(&r.fetch_lock, NULL);
    pthread_mutex_init(&r.commit_lock, NULL);
    pthread_cond_init(&r.turn, NULL);
    run_threads(&r, t, p->en->jobs);
    pthread_cond_destroy(&r.turn);
    pthread_mutex_destroy(&r.commit_lock);
    pthread_mutex_destroy(&r.fetch_lock);
    clear_slots(&r);
    mrs_free(p->en->mem, t);
    if (r.status != MRS_OK && e && e->code == MRS_E_NONE) {
        *e = r.err;
    }
    return r.status;
}

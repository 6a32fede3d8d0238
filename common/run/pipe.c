/* pipe.c - one pass on several workers: fetch under a lock, work in parallel, commit in order.
 *
 * Jobs are numbered as they are fetched and committed in that order, so whatever a pass writes is the same for any
 * number of workers. A big job keeps the fetch lock until it is committed: documents of many megabytes take turns
 * instead of being held by all workers at once (and since earlier jobs have all been fetched, they can commit: no
 * deadlock). The first error stops everybody; of several the one of the earliest job is told. It must not know what a
 * job is. */
#include "checkpoint.h"

struct run {
    const struct mrsi_pipe *p;
    const struct mrsi_pass *pass; /* NULL: no marks */
    uint64_t marked; /* jobs fetched before the last mark */
    pthread_mutex_t fetch_lock, commit_lock;
    pthread_cond_t turn;
    uint64_t fetched;
    _Atomic uint64_t committed;
    bool stop;
    uint64_t err_job;
    struct mrs_err err;
    enum mrs_status status;
};

struct thread {
    struct run *r;
    struct mrsi_worker *w;
    pthread_t id;
    bool started;
};

static void
fail(struct run *r, enum mrs_status s, uint64_t job, const struct mrs_err *e)
{
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
stopped(struct run *r)
{
    pthread_mutex_lock(&r->commit_lock);
    bool stop = r->stop;
    pthread_mutex_unlock(&r->commit_lock);
    return stop;
}

/* Waits for the job's turn; false when the pass has failed at an earlier job. */
static bool
wait_turn(struct run *r, uint64_t job)
{
    pthread_mutex_lock(&r->commit_lock);
    while (r->committed != job && !(r->stop && r->err_job < job)) {
        pthread_cond_wait(&r->turn, &r->commit_lock);
    }
    bool mine = r->committed == job && !(r->stop && r->err_job < job);
    pthread_mutex_unlock(&r->commit_lock);
    return mine;
}

static void
committed(struct run *r)
{
    pthread_mutex_lock(&r->commit_lock);
    r->committed++;
    pthread_cond_broadcast(&r->turn);
    pthread_mutex_unlock(&r->commit_lock);
}

bool
mrsi_pipe_turn(const struct mrsi_worker *w)
{
    return atomic_load(w->committed) == w->job_no;
}

/* Under the fetch lock: once what is under way has been committed, a mark is taken. Where the pass fails meanwhile
 * there is nothing to mark. */
static enum mrs_status
take_mark(struct run *r, struct mrs_err *e)
{
    const struct mrsi_pass *pass = r->pass;
    if (!pass || r->fetched == r->marked || (pass->ready && !pass->ready(pass->arg)) || !mrsi_keep_due(r->p->en)) {
        return MRS_OK;
    }
    pthread_mutex_lock(&r->commit_lock);
    while (r->committed != r->fetched && !r->stop) {
        pthread_cond_wait(&r->turn, &r->commit_lock);
    }
    bool stop = r->stop;
    pthread_mutex_unlock(&r->commit_lock);
    r->marked = r->fetched;
    return stop ? MRS_OK : mrsi_keep_mark(r->pass, e);
}

/* One job from fetch to commit; OK to go on, END, or an error that was told. */
static enum mrs_status
one_job(struct run *r, struct mrsi_worker *w, void *job)
{
    const struct mrsi_pipe *p = r->p;
    struct mrs_err e;
    bool big = false;
    mrs_err_clear(&e);
    pthread_mutex_lock(&r->fetch_lock);
    enum mrs_status s = stopped(r) ? MRS_END : MRS_OK;
    uint64_t no = r->fetched;
    s = s == MRS_OK ? take_mark(r, &e) : s;
    if (s == MRS_OK && mrsi_cancelled(p->en)) {
        s = mrs_err_set(&e, MRS_FAIL, MRS_E_CANCEL, "interrupted");
    }
    if (s == MRS_OK) {
        s = p->fetch(p->arg, job, &big, &e);
    }
    if (s == MRS_OK) {
        r->fetched++;
    } else if (s < MRS_OK) {
        fail(r, s, no, &e); /* before anybody else fetches: what fails behind it would have another reason */
    }
    if (!big || s != MRS_OK) {
        pthread_mutex_unlock(&r->fetch_lock);
    }
    if (s != MRS_OK) {
        return s;
    }
    w->job_no = no;
    w->committed = &r->committed;
    s = p->work(p->arg, w, job, &e);
    if (s == MRS_OK && wait_turn(r, no)) {
        s = p->commit ? p->commit(p->arg, w, job, &e) : MRS_OK;
        if (s == MRS_OK) {
            committed(r);
        }
    }
    if (s < MRS_OK) {
        fail(r, s, no, &e);
    }
    if (big) {
        pthread_mutex_unlock(&r->fetch_lock);
    }
    return s;
}

static void *
worker_main(void *arg)
{
    struct thread *t = arg;
    const struct mrsi_pipe *p = t->r->p;
    void *job = mrs_zalloc(p->en->mem, p->job_size);
    if (!job) {
        struct mrs_err e;
        mrs_err_clear(&e);
        fail(t->r, mrs_err_memory(&e, p->job_size), UINT64_MAX, &e);
        return NULL;
    }
    while (one_job(t->r, t->w, job) == MRS_OK) {
    }
    p->clear(p->arg, job);
    mrs_free(p->en->mem, job);
    return NULL;
}

static void
run_threads(struct run *r, struct thread *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        t[i].r = r;
        t[i].w = &r->p->en->worker[i];
    }
    for (uint32_t i = 1; i < n; i++) { /* a thread that cannot be started is a worker fewer */
        t[i].started = pthread_create(&t[i].id, NULL, worker_main, &t[i]) == 0;
    }
    worker_main(&t[0]);
    for (uint32_t i = 1; i < n; i++) {
        if (t[i].started) {
            pthread_join(t[i].id, NULL);
        }
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
    struct run r = {.p = p, .pass = pass, .err_job = UINT64_MAX};
    struct thread *t = mrs_zalloc(p->en->mem, p->en->jobs * sizeof *t);
    if (!t) {
        return mrs_err_memory(e, p->en->jobs * sizeof *t);
    }
    pthread_mutex_init(&r.fetch_lock, NULL);
    pthread_mutex_init(&r.commit_lock, NULL);
    pthread_cond_init(&r.turn, NULL);
    run_threads(&r, t, p->en->jobs);
    pthread_cond_destroy(&r.turn);
    pthread_mutex_destroy(&r.commit_lock);
    pthread_mutex_destroy(&r.fetch_lock);
    mrs_free(p->en->mem, t);
    if (r.status != MRS_OK && e && e->code == MRS_E_NONE) {
        *e = r.err;
    }
    return r.status;
}

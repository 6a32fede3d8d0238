/* SPDX-License-Identifier: Apache-2.0 */
/* readers.c - several workers without a plan; see readers.h.
 *
 * They belong to an engine with only memory, workers, temporary files and the interrupt flag: all that a pass over
 * documents needs. This file must not know what the caller does with documents. */
#include "readers.h"
#include <unistd.h>

static uint32_t
workers(const struct mrs_run_opts *o)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n = o->jobs ? o->jobs : cpus > 0 ? (uint64_t)cpus : 1;
    uint64_t most = o->memory / (32u << 20); /* a worker needs a block and its output */
    most = o->memory == 0 ? n : most ? most : 1;
    return (uint32_t)(n < most ? n : most);
}

enum mrs_status
mrsi_readers_begin(struct mrsi_readers *c, struct mrs_mem *mem, const struct mrs_run_opts *opts, struct mrs_err *e)
{
    memset(c, 0, sizeof *c);
    c->opts = *opts;
    struct mrsi_engine *en = &c->en;
    en->mem = mem;
    en->opts = &c->opts;
    en->tmp = opts->tmp;
    en->jobs = workers(opts);
    mrs_arena_init(&en->arena, mem);
    pthread_mutex_init(&en->lock, NULL);
    pthread_mutex_init(&en->temp_lock, NULL);
    en->worker = mrs_zalloc(mem, en->jobs * sizeof *en->worker);
    enum mrs_status s = en->worker ? mrsi_secret_draw(en, e) : mrs_err_memory(e, en->jobs * sizeof *en->worker);
    for (uint32_t i = 0; en->worker && i < en->jobs; i++) {
        struct mrsi_worker *w = &en->worker[i];
        w->en = en;
        w->no = i;
        mrs_arena_init(&w->arena, mem);
        w->arena.most = MRS_EVAL_BYTES_MAX;
        w->arena.ask = mrsi_worker_is_late;
        w->arena.ask_arg = w;
        mrs_buf_init(&w->scratch, mem, SIZE_MAX);
    }
    return s;
}

void
mrsi_readers_end(struct mrsi_readers *c)
{
    struct mrsi_engine *en = &c->en;
    for (uint32_t i = 0; en->worker && i < en->jobs; i++) {
        mrs_arena_clear(&en->worker[i].arena);
        mrs_buf_clear(&en->worker[i].scratch);
    }
    mrs_free(en->mem, en->worker);
    mrs_arena_clear(&en->arena);
    pthread_mutex_destroy(&en->temp_lock);
    pthread_mutex_destroy(&en->lock);
}

const char *
mrsi_ns_or_path(const struct mrs_input_ns *in)
{
    return in->kind == MRS_INPUT_DATA ? in->ns : in->rel_path;
}

static enum mrs_status
read_fetch(void *arg, void *job, bool *big, struct mrs_err *e)
{
    MRS_ASSERT(((struct mrsi_reading *)arg)->reader);
    struct mrsi_reading *r = arg;
    struct mrsi_read_job *j = job;
    if (!j->block.mem) {
        mrs_block_init(&j->block, r->en->mem);
        mrs_buf_init(&j->out, r->en->mem, SIZE_MAX);
    }
    if (atomic_load(&r->enough)) {
        return MRS_END;
    }
    enum mrs_status s = mrs_reader_next(r->reader, &j->block, e);
    if (s == MRS_OK) {
        uint64_t now = mrs_reader_progress(r->reader);
        atomic_fetch_add(&r->en->done_bytes, now - r->progress);
        atomic_fetch_add(&r->en->done_docs, j->block.n_docs);
        r->progress = now;
        mrsi_tick(r->en);
    }
    *big = mrsi_is_large(r->en, j->block.n);
    return s;
}

/* An error waits for the block's turn: documents before it are passed on first. */
static enum mrs_status
read_work(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct mrsi_reading *r = arg;
    struct mrsi_read_job *j = job;
    struct mrs_input_ns in = *mrs_input_at(r->in, r->index);
    uint64_t ordinal = j->block.first_doc;
    (void)e;
    in.ns = mrsi_ns_or_path(&in);
    mrs_err_clear(&j->why);
    mrs_buf_reset(&j->out);
    j->docs = (struct mrs_docs){0, 0, {0, 0}};
    j->failed = MRS_OK;
    for (size_t at = 0; at < j->block.n && j->failed == MRS_OK && !atomic_load(&r->enough); ordinal++) {
        struct mrs_view doc = {j->block.p + at, mrs_le32(j->block.p + at)};
        if (!r->checked) {
            j->failed = mrsi_check_input(&in, doc, ordinal, j->block.off + at, &j->why);
        }
        if (j->failed == MRS_OK) {
            j->failed = r->doc(r->arg, w, j, doc, ordinal, &j->why);
        }
        at += doc.n;
    }
    if (j->failed == MRS_OK && j->out.bad) {
        j->failed = mrs_buf_status(&j->out, &j->why);
    }
    return MRS_OK;
}

static enum mrs_status
read_commit(void *arg, struct mrsi_worker *w, void *job, struct mrs_err *e)
{
    struct mrsi_reading *r = arg;
    struct mrsi_read_job *j = job;
    (void)w;
    if (atomic_load(&r->enough)) {
        return MRS_OK;
    }
    enum mrs_status s = r->block(r->arg, j, e);
    if (s == MRS_END) {
        atomic_store(&r->enough, true);
        s = MRS_OK;
    } else if (s == MRS_OK && j->failed != MRS_OK) {
        s = j->failed;
        *e = j->why;
    }
    if (j->out.cap > MRSI_BIG) {
        mrs_buf_clear(&j->out);
    }
    return s;
}

static void
read_clear(void *arg, void *job)
{
    struct mrsi_read_job *j = job;
    (void)arg;
    if (j->block.mem) {
        mrs_block_clear(&j->block);
        mrs_buf_clear(&j->out);
    }
}

enum mrs_status
mrsi_read_all(struct mrsi_reading *r, struct mrs_err *e)
{
    MRS_ASSERT(r->index < mrs_input_count(r->in) && (r->doc || r->block));
    struct mrsi_pipe p = {.en = r->en,
                          .job_size = sizeof(struct mrsi_read_job),
                          .fetch = read_fetch,
                          .work = read_work,
                          .commit = read_commit,
                          .clear = read_clear,
                          .arg = r};
    r->reader = NULL;
    r->progress = 0;
    atomic_init(&r->enough, false);
    enum mrs_status s = mrs_reader_open(r->in, r->index, MRSI_BLOCK, &r->reader, e);
    MRS_THEN(s, mrsi_pipe_run(&p, e));
    mrs_reader_close(r->reader);
    r->reader = NULL;
    return s;
}

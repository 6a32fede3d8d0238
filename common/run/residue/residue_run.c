/* SPDX-License-Identifier: Apache-2.0 */
/* residue_run.c - the run of an inverse plan into a folder that nobody keeps, and the collections that two plans
 * name. */
#include "residue.h"
#include "run/engine/run_engine.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
add_sides(const struct mrs_plan *p, struct mrsi_names *to)
{
    for (uint32_t i = 0; i < p->n_steps; i++) {
        for (uint32_t k = 0; k < p->steps[i].desc.n_sides; k++) {
            to->at[to->n++] = p->steps[i].desc.sides[k].coll.ns;
        }
    }
}

enum mrs_status
mrsi_residue_touched(struct mrs_arena *a, const struct mrs_plan *p, const struct mrs_plan *q, struct mrsi_names *out,
                     struct mrs_err *e)
{
    size_t most = 1;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        most += p->steps[i].desc.n_sides;
    }
    for (uint32_t i = 0; i < q->n_steps; i++) {
        most += q->steps[i].desc.n_sides;
    }
    *out = (struct mrsi_names){mrs_arena_alloc(a, most * sizeof *out->at), 0};
    if (!out->at) {
        return mrs_err_memory(e, most * sizeof *out->at);
    }
    add_sides(p, out);
    add_sides(q, out);
    if (out->n) {
        qsort(out->at, out->n, sizeof *out->at, by_text);
    }
    for (uint32_t i = 0; i < out->n; i++) {
        if (!kept || strcmp(out->at[kept - 1], out->at[i]) != 0) {
            out->at[kept++] = out->at[i];
        }
    }
    out->n = kept;
    return MRS_OK;
}

enum mrs_status
mrsi_inverse_run(const struct mrsi_inverse_run *r, struct mrs_report *report, struct mrs_err *e)
{
    struct mrs_run_opts o = {.input = r->input,
                             .memory = r->opts->memory,
                             .jobs = r->opts->jobs,
                             .tmp = r->opts->tmp,
                             .compress = {MRS_CODEC_NONE, 0},
                             .max_refused = UINT64_MAX,
                             .now_ms = r->inverse->now_ms,
                             .progress = r->opts->progress,
                             .progress_arg = r->opts->progress_arg,
                             .cancel = r->opts->cancel,
                             .oplog_drop = r->opts->oplog_drop,
                             .before_publish = r->look,
                             .before_arg = r->arg,
                             .checkpoints = r->opts->checkpoints,
                             .checkpoint_ms = r->opts->checkpoint_ms,
                             .checkpoint = r->opts->checkpoint,
                             .checkpoint_arg = r->opts->checkpoint_arg,
                             .block_bytes = r->opts->block_bytes,
                             .resume = r->go_on,
                             .force = !r->go_on,
                             .discard = true};
    char *path = mrsi_inverse_place(r->mem, r->opts);
    if (!path) {
        memset(report, 0, sizeof *report);
        mrs_arena_init(&report->arena, r->mem);
        return mrs_err_memory(e, 0);
    }
    o.output = path;
    struct mrsi_run_of of = {r->mem, r->inverse, r->in, NULL};
    enum mrs_status s = mrsi_run(&of, &o, report, e);
    mrs_free(r->mem, path);
    return s;
}

struct mrsi_engine
mrsi_bare_engine(struct mrs_mem *mem, const struct mrs_run_opts *opts)
{
    uint64_t all = opts->memory ? opts->memory : MRS_MEMORY_MIN;
    struct mrsi_engine en = {.mem = mem,
                             .opts = opts,
                             .tmp = opts->tmp,
                             .memory = all < 4096 ? 4096 : all,
                             .temp_lock = PTHREAD_MUTEX_INITIALIZER};
    return en;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* residue_run.c - runs an inverse plan into a temporary folder; and the collections that two plans name. */
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

/* The documents of a time series are not a side of a step, but depend on one. */
static enum mrs_status
add_buckets(struct mrs_arena *a, const struct mrsi_residue_way way[2], const struct mrs_coll *coll,
            struct mrsi_names *to, struct mrs_err *e)
{
    MRS_ASSERT(coll->coll);
    size_t n = strlen(coll->db) + sizeof "." MRS_BUCKETS + strlen(coll->coll);
    char *ns = mrs_arena_alloc(a, n);
    MRS_TRY(mrs_allocated(ns, n, e));
    snprintf(ns, n, "%s." MRS_BUCKETS "%s", coll->db, coll->coll);
    if (mrsi_input_find(way[0].in, ns) != MRSI_NONE || mrsi_input_find(way[1].in, ns) != MRSI_NONE) {
        to->at[to->n++] = ns;
    }
    return MRS_OK;
}

static enum mrs_status
add_sides(struct mrs_arena *a, const struct mrsi_residue_way way[2], const struct mrs_desc *desc,
          struct mrsi_names *to, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint32_t k = 0; s == MRS_OK && k < desc->n_sides; k++) {
        const struct mrs_coll *coll = &desc->sides[k].coll;
        to->at[to->n++] = coll->ns;
        s = add_buckets(a, way, coll, to, e);
    }
    return s;
}

static size_t
count_sides(const struct mrs_plan *p)
{
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        n += p->steps[i].desc.n_sides;
    }
    return n;
}

static void
each_once(struct mrsi_names *names)
{
    uint32_t kept = 0;
    if (names->n) {
        qsort(names->at, names->n, sizeof *names->at, by_text);
    }
    for (uint32_t i = 0; i < names->n; i++) {
        if (!kept || strcmp(names->at[kept - 1], names->at[i]) != 0) {
            names->at[kept++] = names->at[i];
        }
    }
    names->n = kept;
}

enum mrs_status
mrsi_residue_touched(struct mrs_arena *a, const struct mrsi_residue_way way[2], struct mrsi_names *out,
                     struct mrs_err *e)
{
    uint32_t n_in = mrs_input_count(way[0].in);
    size_t most = 2 * (count_sides(way[0].plan) + count_sides(way[1].plan)) + n_in + 1;
    *out = (struct mrsi_names){mrs_arena_alloc(a, most * sizeof *out->at), 0};
    enum mrs_status s = mrs_allocated(out->at, most * sizeof *out->at, e);
    for (uint32_t w = 0; w < 2; w++) {
        const struct mrs_plan *p = way[w].plan;
        for (uint32_t i = 0; s == MRS_OK && i < p->n_steps; i++) {
            s = add_sides(a, way, &p->steps[i].desc, out, e);
        }
    }
    for (uint32_t i = 0; s == MRS_OK && i < n_in; i++) {
        const struct mrs_input_ns *in = mrs_input_at(way[0].in, i);
        if (mrsi_has_made_metadata(in)) {
            out->at[out->n++] = in->ns;
        }
    }
    each_once(out);
    return s;
}

enum mrs_status
mrsi_inverse_run(const struct mrsi_inverse_run *r, struct mrs_report *report, struct mrs_err *e)
{
    MRS_ASSERT(r->inverse && r->in && r->opts);
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
                             .before_publish = r->before_publish,
                             .before_arg = r->arg,
                             .checkpoints = r->opts->checkpoints,
                             .checkpoint_ms = r->opts->checkpoint_ms,
                             .checkpoint = r->opts->checkpoint,
                             .checkpoint_arg = r->opts->checkpoint_arg,
                             .block_bytes = r->opts->block_bytes,
                             .resume = r->resume,
                             .force = !r->resume,
                             .discard = true};
    char *path = mrsi_inverse_place(r->mem, r->opts);
    if (!path) {
        memset(report, 0, sizeof *report);
        mrs_arena_init(&report->arena, r->mem);
        return mrs_err_memory(e, 0);
    }
    o.output = path;
    struct mrsi_run_of of = {r->mem, r->inverse, r->in, NULL, NULL};
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

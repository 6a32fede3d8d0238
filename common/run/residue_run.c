/* SPDX-License-Identifier: Apache-2.0 */
/* residue_run.c - the run of an inverse plan into a folder that nobody keeps, and the collections that two plans
 * name. */
#include "residue.h"
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

/* What tells outputs of one name apart, and is the same when a killed run is started again: then what it left is taken
 * away. */
static unsigned long long
mark_of(const char *output, size_t n)
{
    char cwd[4096] = "";
    if (output[0] != '/' && !getcwd(cwd, sizeof cwd)) {
        cwd[0] = 0;
    }
    return mrs_hash(output, n, mrs_hash(cwd, strlen(cwd), 0).lo).lo;
}

/* Beside the output, or in --tmp under the output's name. NULL: no memory. */
static char *
place(struct mrs_mem *mem, const struct mrs_run_opts *o)
{
    size_t n = strlen(o->output);
    while (n > 1 && o->output[n - 1] == '/') {
        n--;
    }
    size_t base = n;
    while (base > 0 && o->output[base - 1] != '/') {
        base--;
    }
    size_t size = n + (o->tmp ? strlen(o->tmp) : 0) + 48;
    char *path = mrs_alloc(mem, size);
    if (path && o->tmp) {
        snprintf(path, size, "%s/%.*s.%016llx.inverse", o->tmp, (int)(n - base), o->output + base,
                 mark_of(o->output, n));
    } else if (path) {
        snprintf(path, size, "%.*s.inverse", (int)n, o->output);
    }
    return path;
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
    char *path = place(r->mem, r->opts);
    if (!path) {
        memset(report, 0, sizeof *report);
        mrs_arena_init(&report->arena, r->mem);
        return mrs_err_memory(e, 0);
    }
    o.output = path;
    enum mrs_status s = mrs_run(r->mem, r->inverse, r->in, &o, report, e);
    mrs_free(r->mem, path);
    return s;
}

/* Whether this stands beside a path. */
static bool
is_beside(struct mrs_mem *mem, const char *path, const char *suffix)
{
    struct stat st;
    size_t n = strlen(path) + strlen(suffix) + 1;
    char *name = mrs_alloc(mem, n);
    bool there = false;
    if (name) {
        snprintf(name, n, "%s%s", path, suffix);
        there = lstat(name, &st) == 0;
    }
    mrs_free(mem, name);
    return there;
}

static enum mrs_status
remove_output(struct mrs_mem *mem, const char *path, struct mrs_err *e)
{
    struct mrs_output_opts o = {.force = true, .format = MRS_FORMAT_DIRECTORY};
    struct mrs_output *out = NULL;
    enum mrs_status s = mrs_output_open(mem, path, &o, &out, e); /* anew, so empty */
    mrs_output_abort(out);
    mrs_output_free(out);
    return s;
}

enum mrs_status
mrsi_inverse_forget(struct mrs_mem *mem, const struct mrs_run_opts *opts, struct mrs_err *e)
{
    char *path = place(mem, opts);
    struct mrs_beside side = {mem, path, NULL};
    enum mrs_status s = path ? MRS_OK : mrs_err_memory(e, 0);
    if (s == MRS_OK && is_beside(mem, path, MRS_CHECKPOINT)) {
        s = remove_output(mem, path, e);
        s = s == MRS_OK ? mrs_beside_clear(&side, NULL, e) : s;
    }
    mrs_free(mem, path);
    return s;
}

void
mrsi_inverse_sweep(struct mrs_mem *mem, const struct mrs_run_opts *opts)
{
    char *path = place(mem, opts);
    if (path && !is_beside(mem, path, MRS_CHECKPOINT) && is_beside(mem, path, ".partial")) {
        (void)remove_output(mem, path, NULL);
    }
    mrs_free(mem, path);
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

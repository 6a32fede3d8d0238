/* SPDX-License-Identifier: Apache-2.0 */
/* run_engine.c - a run from the first step to the finished output.
 *
 * Steps run one after the other. A step that needs only one document at a time waits at its collection and costs no
 * pass of its own. If more documents are refused than the owner allows, later steps are not started: the waiting steps
 * up to there are counted, and no output is written. */
#include "run_engine.h"
#include "run/account/amend.h"
#include "run/notices/lost_fields.h"
#include "run/pass/checkpoint.h"
#include "run/conditions/condition_lists.h"
#include "run/series/unpack_buckets.h"
#include "mongoreshape/clock.h"
#include "mongoreshape/version.h"
#include "run/notices/pattern_fields.h"
#include "run/notices/unknown_paths.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/catalogue.h"
#include <errno.h>
#include <unistd.h>

#define MEMORY_LEAST (16u << 20) /* for gathering, within MRS_MEMORY_MIN */

/* ---- begin ---- */
uint64_t
mrs_memory_default(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    uint64_t quarter = pages > 0 && size > 0 ? (uint64_t)pages / 4 * (uint64_t)size : 0;
    return quarter < MRS_MEMORY_MIN ? MRS_MEMORY_MIN : quarter;
}

static uint64_t
memory_of(const struct mrs_run_opts *opts)
{
    return opts->memory ? opts->memory : mrs_memory_default();
}

/* Values below MRS_MEMORY_MIN limit gathering, not the process, so that tests send small data through the code for
 * large data. */
void
mrsi_choose_size(const struct mrs_run_opts *opts, uint64_t *memory, uint32_t *jobs)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t all = memory_of(opts);
    *jobs = opts->jobs ? opts->jobs : cpus > 0 ? (uint32_t)cpus : 1;
    if (all < MRS_MEMORY_MIN) {
        *memory = all < 4096 ? 4096 : all;
        return;
    }
    uint64_t most_jobs = all / (16u << 20); /* a worker needs some blocks; with little memory fewer */
    *jobs = *jobs > most_jobs ? (uint32_t)most_jobs : *jobs;
    uint64_t own = (8u << 20) + *jobs * (6ull << 20); /* program, libraries, blocks being read and written */
    own += all >= MRSI_ROOMY ? MRSI_LARGE_ROOM : 0;
    *memory = all > own + MEMORY_LEAST ? all - own : MEMORY_LEAST;
}

static enum mrs_status
make_workers(struct mrsi_engine *en, struct mrs_err *e)
{
    MRS_ASSERT(en->jobs > 0);
    en->worker = mrs_zalloc(en->mem, en->jobs * sizeof *en->worker);
    MRS_TRY(mrs_allocated(en->worker, en->jobs * sizeof *en->worker, e));
    for (uint32_t i = 0; i < en->jobs; i++) {
        struct mrsi_worker *w = &en->worker[i];
        w->en = en;
        w->no = i;
        mrs_arena_init(&w->arena, en->mem);
        w->arena.most = MRS_EVAL_BYTES_MAX;
        w->arena.calm = en->memory / 4 / en->jobs;
        w->arena.ask = mrsi_worker_is_late;
        w->arena.swell = mrsi_pipe_swell;
        w->arena.ask_arg = w;
        w->ctx = (struct mrs_ctx){.mem = en->mem, .arena = &w->arena, .err = &w->err};
        mrs_err_clear(&w->err);
        mrs_buf_init(&w->refused, en->mem, SIZE_MAX);
        mrs_buf_init(&w->scratch, en->mem, MRS_KEY_MAX);
        mrs_keys_init(&w->keys, en->mem);
        w->work = mrs_zalloc(en->mem, (en->plan->n_steps + 1) * sizeof *w->work);
        w->rows = mrs_zalloc(
            en->mem, (en->n_rows + 3) *
                         sizeof *w->rows); /* the memory after it belongs to another thread: two cache lines apart */
        if (!w->work || !w->rows) {
            return mrs_err_memory(e, en->n_rows * sizeof *w->rows);
        }
    }
    return MRS_OK;
}

static void
clear_engine(struct mrsi_engine *en)
{
    for (uint32_t i = 0; en->worker && i < en->jobs; i++) {
        struct mrsi_worker *w = &en->worker[i];
        if (!w->en) {
            continue;
        }
        mrsi_worker_release(w);
        mrsi_pattern_fields_free(w);
        mrs_free(en->mem, w->work);
        mrs_free(en->mem, w->rows);
        mrs_buf_clear(&w->refused);
        mrs_keys_clear(&w->keys);
    }
    mrsi_conditions_free(en);
    mrs_free(en->mem, en->worker);
    for (uint32_t i = 0; en->coll && i < en->n_coll; i++) {
        for (uint32_t k = 0; k < en->coll[i].n_part; k++) {
            mrsi_temp_drop(en, en->coll[i].part[k].temp);
        }
    }
    mrsi_notices_free(en);
    mrsi_paths_free(en);
    mrsi_lost_free(en);
    mrsi_fit_end(en);
    mrsi_input_digest_free(en);
    mrsi_equal_ids_free(en);
    mrs_free(en->mem, en->coll);
    mrs_free(en->mem, en->rows);
    mrsi_amend_free(en->amend);
    mrsi_refused_clear(en);
    mrs_catalog_free(en->cat);
    mrs_output_free(en->out);
    mrs_arena_clear(&en->arena);
    pthread_mutex_destroy(&en->temp_lock);
    pthread_mutex_destroy(&en->lock);
}

static void
expect_bytes(struct mrsi_engine *en)
{
    MRS_ASSERT(en->jobs > 0);
    for (uint32_t i = 0; i < mrs_input_count(en->in); i++) {
        const struct mrs_input_ns *in = mrs_input_at(en->in, i);
        en->total_bytes += in->kind == MRS_INPUT_DATA ? in->file_bytes : 0;
    }
    for (uint32_t s = 0; s < en->plan->n_steps; s++) {
        const struct mrs_desc *d = &en->plan->steps[s].desc;
        for (uint32_t i = 0; i < d->n_sides; i++) { /* once more for each side */
            const struct mrsi_coll *c = &en->coll[en->side[s][i]];
            bool again = ((d->family == MRS_FAMILY_JOIN || d->family == MRS_FAMILY_LINK) && i < 2) ||
                         (d->family == MRS_FAMILY_REKEY && i == 0) ||
                         (d->family == MRS_FAMILY_FOLD && (d->sides[i].role & (MRS_ROLE_TAKE | MRS_ROLE_ADD)));
            if (again && c->in_index != MRSI_NONE) {
                en->total_bytes += mrs_input_at(en->in, c->in_index)->file_bytes;
            }
        }
    }
}

static struct mrs_output_opts
output_opts(struct mrsi_engine *en)
{
    return (struct mrs_output_opts){.pause = {en, mrsi_output_due, mrsi_output_rest},
                                    .stop = {en, mrsi_output_unwanted},
                                    .compress = en->opts->compress,
                                    .default_codec = mrs_input_codec(en->in),
                                    .jobs = en->jobs,
                                    .force = en->opts->force,
                                    .sample = en->opts->sample > 0,
                                    .single_ns = en->opts->single_ns,
                                    .format = en->opts->format,
                                    .stream = en->opts->stream,
                                    .in = en->in,
                                    .like = en->in,
                                    .input = en->opts->input,
                                    .resume = mrsi_ckpt_resumes(en),
                                    .tmp = en->opts->tmp,
                                    .salt = &en->salt};
}

static enum mrs_status
open_output(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_output_opts o = output_opts(en);
    enum mrs_status s = mrs_output_open(en->mem, en->opts->output, &o, &en->out, e);
    if (s == MRS_OK && en->memory > MEMORY_LEAST) {
        uint64_t packing = mrs_output_memory(en->out);
        en->memory = en->memory > packing + MEMORY_LEAST ? en->memory - packing : MEMORY_LEAST;
    }
    return s == MRS_OK && en->opts->stream ? mrsi_stream_begin(en, e) : s;
}

static const char *
folder_of(struct mrsi_engine *en, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0) {
        return NULL;
    }
    if (!slash || slash == path) {
        return slash ? "/" : ".";
    }
    char *copy = mrs_arena_alloc(&en->arena, (size_t)(slash - path) + 1);
    if (copy) {
        memcpy(copy, path, (size_t)(slash - path));
        copy[slash - path] = 0;
    }
    return copy;
}

/* The memory for reading the input. */
static void
set_aside(struct mrsi_engine *en)
{
    uint64_t window = mrs_input_window(en->in);
    if (en->memory > MEMORY_LEAST) {
        en->memory = en->memory > window + MEMORY_LEAST ? en->memory - window : MEMORY_LEAST;
    }
    en->memory -= mrs_input_ahead(en->in, en->jobs, en->memory);
}

static enum mrs_status
begin(struct mrsi_engine *en, uint32_t *step, struct mrs_err *e)
{
    mrsi_choose_size(en->opts, &en->memory, &en->jobs);
    uint64_t each = en->memory / 16 / en->jobs;
    uint64_t all = memory_of(en->opts);
    en->most = all >= MRS_MEMORY_MIN ? all : 0;
    en->large = each > MRSI_BIG ? MRSI_BIG : each < MRSI_BLOCK ? MRSI_BLOCK : each;
    en->tmp = en->opts->tmp ? en->opts->tmp : en->opts->output ? folder_of(en, en->opts->output) : NULL;
    if (en->opts->output) {
        struct mrs_output_opts o = output_opts(en);
        en->shape = mrs_output_shape(en->opts->output, &o);
    }
    if (en->opts->write_residue && en->shape.format != MRS_FORMAT_DIRECTORY) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--write-residue: OUT must be a folder");
    }
    enum mrs_status s = mrsi_secret_draw(en, e);
    MRS_THEN(s, mrsi_setup(en, e));
    mrs_salt_make(&en->salt, en->plan->id);
    MRS_THEN(s, mrsi_ckpt_begin(en, e));
    MRS_THEN(s, mrsi_side_files_check_existing(en, e));
    MRS_THEN(s, mrsi_check_extras(en, e));
    MRS_THEN(s, mrsi_note_roles(en, e));
    mrsi_note_gridfs(en);
    MRS_THEN(s, make_workers(en, e));
    MRS_THEN(s, mrsi_pattern_fields_new(en, e));
    MRS_THEN(s, mrsi_conditions_new(en, e));
    MRS_THEN(s, mrsi_notices_new(en, e));
    MRS_THEN(s, mrsi_paths_new(en, e));
    MRS_THEN(s, mrsi_fit_begin(en, e));
    MRS_THEN(s, mrsi_input_digest_new(en, e));
    MRS_THEN(s, mrsi_equal_ids_new(en, e));
    if (s == MRS_OK && en->opts->amend) {
        s = mrsi_amend_load(en, en->opts->amend, &en->amend, e);
    }
    if (s == MRS_OK) {
        expect_bytes(en);
        set_aside(en);
        s = en->opts->dry_run || mrsi_ckpt_is_published(en) ? MRS_OK : open_output(en, e);
    }
    return s == MRS_OK && en->keep ? mrsi_ckpt_take_up(en, step, e) : s;
}

/* ---- steps ---- */
static void
wait_at_parts(struct mrsi_engine *en, uint32_t step)
{
    MRS_ASSERT(step < en->plan->n_steps);
    struct mrsi_coll *c = &en->coll[en->side[step][0]];
    for (uint32_t i = 0; !c->written && i < c->n_part; i++) {
        c->part[i].pend[c->part[i].n_pend++] = step;
    }
}

/* ---- collections dropped by a catalog step: their documents are counted ---- */
struct dropping {
    struct mrsi_engine *en;
    uint32_t step, side;
    struct mrsi_pass pass;
    struct mrsi_writer wr;
};

static enum mrs_status
save_dropping(void *arg, struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e)
{
    const struct dropping *d = arg;
    (void)files;
    (void)e;
    mrs_build_i64(b, "side", d->side);
    return MRS_OK;
}

static enum mrs_status
count_side(struct dropping *d, struct mrs_err *e)
{
    MRS_ASSERT(d->side < MRS_SIDES_MAX);
    struct mrsi_engine *en = d->en;
    uint32_t coll = en->side[d->step][d->side];
    d->wr = (struct mrsi_writer){.en = en, .coll = coll, .blind = true};
    mrsi_rows_begin(en);
    enum mrs_status s = mrsi_pass_is_resumed(&d->pass) ? mrsi_pass_load(&d->pass, e) : MRS_OK;
    MRS_THEN(s, mrsi_copy_through(en, coll, &d->wr, &d->pass, e));
    struct mrsi_row *row = mrsi_row(&en->worker[0], d->step, d->side);
    row->before += d->wr.docs;
    row->dropped += d->wr.docs;
    mrsi_rows_accept(en);
    mrsi_coll_counted(&en->coll[coll]);
    return s;
}

static enum mrs_status
count_dropped(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    struct dropping d = {.en = en, .step = step};
    uint32_t n = en->plan->steps[step].desc.n_sides;
    bool bad = false;
    d.pass = (struct mrsi_pass){
        .en = en, .kind = "drop", .wr = &d.wr, .n_wr = 1, .save = save_dropping, .arg = &d};
    mrsi_ckpt_savepoint_for(&d.pass);
    if (mrsi_pass_is_resumed(&d.pass)) {
        d.side = (uint32_t)mrsi_state_number(d.pass.from, "side", n, &bad);
        bad = bad || d.side == n || en->coll[en->side[step][d.side]].dropped_at != step;
    }
    enum mrs_status s = bad ? mrsi_state_damaged("what is dropped", e) : MRS_OK;
    for (; s == MRS_OK && d.side < n; d.side++) {
        if (en->coll[en->side[step][d.side]].dropped_at == step) {
            s = count_side(&d, e);
        }
    }
    return s;
}

static enum mrs_status
run_step(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    const struct mrs_step *st = &en->plan->steps[step];
    snprintf(en->phase_text, sizeof en->phase_text, "step %u %s", st->no, st->type->name);
    mrsi_tick(en);
    switch (st->desc.family) {
    case MRS_FAMILY_MAP:
        if (!st->desc.new_ids) {
            wait_at_parts(en, step);
            return MRS_OK;
        }
        return mrsi_spread_step(en, step, e);
    case MRS_FAMILY_SPREAD: return mrsi_spread_step(en, step, e);
    case MRS_FAMILY_JOIN: return mrsi_join_step(en, step, e);
    case MRS_FAMILY_GROUP: return mrsi_group_step(en, step, e);
    case MRS_FAMILY_FOLD: return mrsi_fold_step(en, step, e);
    case MRS_FAMILY_TREE: return mrsi_tree_step(en, step, e);
    case MRS_FAMILY_REKEY: return mrsi_rekey_step(en, step, e);
    case MRS_FAMILY_LINK: return mrsi_link_step(en, step, e);
    case MRS_FAMILY_WINDOW: return mrsi_window_step(en, step, e);
    case MRS_FAMILY_GRID: return mrsi_grid_step(en, step, e);
    case MRS_FAMILY_CATALOG: break;
    }
    return count_dropped(en, step, e);
}

/* After it a run can resume without reading those buckets again. */
static enum mrs_status
unpack_series(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    bool some;
    enum mrs_status s = mrsi_series_unpack(en, step, &some, e);
    return s == MRS_OK && some ? mrsi_ckpt_boundary(en, step, e) : s;
}

/* After it a run can resume without reading those collections again. */
static enum mrs_status
gather_conditions(struct mrsi_engine *en, uint32_t step, struct mrs_err *e)
{
    MRS_ASSERT(step < en->plan->n_steps);
    bool some;
    const struct mrs_step *st = &en->plan->steps[step];
    if (!st->desc.n_conditions) {
        return MRS_OK;
    }
    snprintf(en->phase_text, sizeof en->phase_text, "values for step %u %s", st->no, st->type->name);
    mrsi_tick(en);
    enum mrs_status s = mrsi_conditions_gather(en, step, &some, e);
    return s == MRS_OK && some ? mrsi_ckpt_boundary(en, step, e) : s;
}

static uint64_t
refused_so_far(const struct mrsi_engine *en)
{
    return en->refused_n;
}

/* Runs steps in order from *reached on; it becomes the index after the last one. */
static enum mrs_status
run_steps(struct mrsi_engine *en, uint32_t *reached, struct mrs_err *e)
{
    MRS_ASSERT(*reached <= en->plan->n_steps);
    enum mrs_status s = MRS_OK;
    uint32_t i = *reached;
    while (s == MRS_OK && i < en->plan->n_steps && refused_so_far(en) <= en->opts->max_refused) {
        mrsi_copy_in_background(en, i);
        en->now = i;
        s = unpack_series(en, i, e);
        MRS_THEN(s, gather_conditions(en, i, e));
        MRS_THEN(s, run_step(en, i, e));
        en->now = MRSI_NONE;
        if (s == MRS_OK) {
            mrsi_conditions_done(en, i);
            s = mrsi_ckpt_boundary(en, ++i, e);
        } else {
            mrs_err_at(e, "step %u %s", en->plan->steps[i].no, en->plan->steps[i].type->name);
        }
    }
    *reached = i;
    return s;
}

/* ---- end ---- */
static enum mrs_status
too_many(struct mrsi_engine *en, uint32_t past, struct mrs_err *e)
{
    MRS_ASSERT(past < en->plan->n_steps);
    const char *path = mrsi_refused_path(en, e);
    enum mrs_status s = mrsi_refusals(en, e);
    MRS_THEN(s, mrsi_side_files_check_existing(en, e)); /* again, possibly after hours */
    if (s == MRS_OK && path) {
        s = mrsi_refused_write(en, path, past, e);
    }
    if (s != MRS_OK) {
        return s;
    }
    en->report->refused_file = path;
    uint64_t n = mrsi_refused_up_to(en, past);
    return mrs_err_set(e, MRS_FAIL, MRS_E_TOO_MANY,
                       "%llu document%s refused up to step %u, %llu %s allowed (--max-refused); see %s",
                       (unsigned long long)n, n == 1 ? " was" : "s were", en->plan->steps[past].no,
                       (unsigned long long)en->opts->max_refused, en->opts->max_refused == 1 ? "is" : "are",
                       path ? path : "no file");
}

/* The output is complete: passes it to the owner's check before the final rename. */
static enum mrs_status
show(struct mrsi_engine *en, struct mrs_err *e)
{
    const struct mrs_run_opts *o = en->opts;
    enum mrs_status s = o->write_residue ? en->write_residue(en, e) : MRS_OK;
    if (s == MRS_OK && o->before_publish) {
        s = o->before_publish(o->before_arg, mrs_output_partial(en->out), en->report, e);
    }
    return s;
}

#define MANIFEST_MAX (256u << 20)

static enum mrs_status
publish(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view extra;
    char id[33];
    if (en->opts->discard) {
        enum mrs_status removed = mrsi_ckpt_forget(en, e); /* first: it describes what is removed now */
        if (removed == MRS_OK) {
            mrs_output_abort(en->out);
        }
        return removed;
    }
    if (mrsi_ckpt_is_published(en)) {
        en->report->published = true;
        return MRS_OK;
    }
    mrs_buf_init(&buf, en->mem, MANIFEST_MAX);
    mrs_build_init(&b, &buf);
    mrs_plan_id_text(en->plan, id);
    mrs_build_text(&b, "plan", en->plan->name, (uint32_t)strlen(en->plan->name));
    mrs_build_text(&b, "planId", id, (uint32_t)strlen(id));
    mrs_build_text(&b, "version", MRS_VERSION, (uint32_t)strlen(MRS_VERSION));
    mrs_build_text(&b, "tzdata", en->plan->tzdata, (uint32_t)strlen(en->plan->tzdata));
    uint8_t room[16];
    mrs_build_val(&b, "now", 3, mrs_make_i64(room, en->plan->now_ms, MRS_DATE));
    mrs_build_i64(&b, "refused", (int64_t)en->report->refused);
    mrsi_input_digest_write(en, &b);
    enum mrs_status s = mrs_build_finish(&b, &extra, e);
    MRS_THEN(s, mrsi_commit(en, extra, e));
    mrs_buf_clear(&buf);
    en->report->published = s == MRS_OK;
    return s;
}

static enum mrs_status
end(struct mrsi_engine *en, uint32_t reached, struct mrs_err *e)
{
    MRS_ASSERT(reached <= en->plan->n_steps);
    uint32_t past;
    enum mrs_status s = MRS_OK;
    if (reached < en->plan->n_steps) {
        s = mrsi_drain(en, reached ? reached - 1 : 0, e);
    } else {
        s = mrsi_finish_collections(en, e);
    }
    MRS_THEN(s, mrsi_refused_finish(en, &en->report->refused, &past, e));
    if (s != MRS_OK) {
        return s;
    }
    if (past != MRSI_NONE) {
        s = mrsi_report(en, e);
        return s == MRS_OK ? too_many(en, past, e) : s;
    }
    s = mrs_input_unchanged(en->in, e);
    MRS_THEN(s, mrsi_check_account(en, e));
    MRS_THEN(s, mrsi_check_capped(en, e));
    MRS_THEN(s, mrsi_report(en, e));
    MRS_THEN(s, mrsi_refusals(en, e));
    if (s == MRS_OK && en->report->refused && (!en->opts->dry_run || en->opts->refused) && !en->opts->discard) {
        en->report->refused_file = mrsi_refused_path(en, e);
        s = en->report->refused_file ? mrsi_side_files_check_existing(en, e) : MRS_DEAD;
        MRS_THEN(s, mrsi_refused_write(en, en->report->refused_file, MRSI_NONE, e));
    } else if (s == MRS_OK && en->notices) {
        s = mrsi_refused_weigh(en, e);
    }
    if (s == MRS_OK && !en->opts->dry_run && !mrsi_ckpt_is_published(en)) {
        s = mrsi_ckpt_whole(en, e);
        MRS_THEN(s, show(en, e));
    }
    s = s == MRS_OK && !en->opts->dry_run ? publish(en, e) : s;
    if (s != MRS_OK && en->report->residue) {
        if (!mrs_file_is_stream(en->report->residue)) {
            unlink(en->report->residue); /* it belongs to no output */
        }
        en->report->residue = NULL;
    }
    return s;
}

enum mrs_status
mrsi_run(const struct mrsi_run_of *of, const struct mrs_run_opts *opts, struct mrs_report *report, struct mrs_err *e)
{
    MRS_ASSERT(of->plan && of->in && opts && report);
    struct mrs_mem *mem = of->mem;
    struct mrsi_engine en = {.mem = mem,
                             .plan = of->plan,
                             .in = of->in,
                             .opts = opts,
                             .report = report,
                             .write_residue = of->write_residue,
                             .residue_is_ours = of->residue_is_ours,
                             .now = MRSI_NONE};
    uint64_t started = mrs_clock_steady();
    uint32_t reached = 0;
    memset(report, 0, sizeof *report);
    mrs_arena_init(&report->arena, mem);
    mrs_arena_init(&en.arena, mem);
    pthread_mutex_init(&en.lock, NULL);
    pthread_mutex_init(&en.temp_lock, NULL);
    enum mrs_status s = mrsi_side_files_check(&en, e);
    MRS_THEN(s, begin(&en, &reached, e));
    MRS_THEN(s, run_steps(&en, &reached, e));
    MRS_THEN(s, end(&en, reached, e));
    s = mrs_input_blame(of->in, s, e);
    mrsi_ckpt_end(&en, s, e);
    if (!report->published) { /* no output to restore, and nothing to drop for it */
        report->restore = NULL;
        report->n_drop_first = opts->dry_run ? report->n_drop_first : 0;
    }
    report->temp_bytes = mrsi_temp_most(&en);
    report->wall_ms = mrs_clock_steady() - started;
    clear_engine(&en);
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - `mongoreshape explain PLAN [-i IN]`: the plan in words, with an input also its effects on indexes and
 * options; with `--live` how it may run while writers run; with `--pipeline` as stages of a server, with `--stage` as
 * the stage of the extension; with `--schema` the language itself. */
#include "commands.h"
#include "mongoreshape/live.h"
#include "mongoreshape/pipeline.h"
#include "mongoreshape/run.h"
#include "mongoreshape/stage.h"
#include "text.h"

static enum mrs_status
explain_live(struct mrsi_job *job, struct mrs_buf *out)
{
    MRS_ASSERT(job->plan);
    struct mrs_live live;
    struct mrs_arena arena;
    mrs_arena_init(&arena, job->cli->line.mem);
    enum mrs_status s = mrs_live_judge(job->plan, &arena, &live, &job->err);
    MRS_THEN(s, mrs_live_explain(job->plan, &live, job->cli->json, out, &job->err));
    mrs_arena_clear(&arena);
    return s;
}

static void
put_forecast(const struct mrs_forecast *x, uint32_t no, struct mrs_buf *out)
{
    char gathered[32], spilled[32], disk[32], line[512];
    mrs_text_size(x->gathered, gathered);
    mrs_text_size(x->spilled, spilled);
    mrs_text_size(x->disk, disk);
    snprintf(line, sizeof line,
             "  step %u  gathers %s %s of %s, %s of it on disk, in %u partitions%s%s: %s at one time%s\n", no,
             x->most ? "at most" : "about", gathered, x->from, spilled, x->partitions,
             x->by_key ? ", by key first" : "", x->split ? ", each split when it is read" : "", disk,
             x->guessed ? " (guessed: its files are compressed; `check -i` counts)" : "");
    mrs_buf_put(out, line, strlen(line));
}

/* The space that joins need on disk, if the size of documents is known without reading the dump. */
static enum mrs_status
explain_disk(struct mrsi_job *job, struct mrs_buf *out)
{
    static const char head[] = "\nTemporary files\n";
    const struct mrsi_cli *cli = job->cli;
    struct mrs_run_opts o = {.memory = cli->memory, .jobs = (uint32_t)cli->jobs};
    enum mrs_status s = MRS_OK;
    bool any = false;
    for (uint32_t i = 0; s == MRS_OK && i < job->plan->n_steps; i++) {
        struct mrs_forecast x;
        s = mrs_run_forecast(cli->line.mem, job->plan, job->in, &o, i, &x, &job->err);
        if (s == MRS_OK && x.spilled) {
            mrs_buf_put(out, head, any ? 0 : sizeof head - 1);
            put_forecast(&x, job->plan->steps[i].no, out);
            any = true;
        }
        s = s == MRS_SKIP ? MRS_OK : s;
    }
    return s;
}

static enum mrs_status
explain(struct mrsi_job *job, struct mrs_buf *out)
{
    MRS_ASSERT(job->plan);
    if (job->cli->pipeline) {
        return mrs_plan_pipeline(job->plan, job->cli->json, out, &job->err);
    }
    if (job->cli->stage) {
        return mrs_plan_stage(job->plan, job->cli->json, out, &job->err);
    }
    if (job->cli->live) {
        return explain_live(job, out);
    }
    bool known = job->in && !job->cli->json && mrs_input_format(job->in) == MRS_FORMAT_DIRECTORY;
    enum mrs_status s = mrs_plan_explain(job->plan, job->cli->json, out, &job->err);
    return s == MRS_OK && known ? explain_disk(job, out) : s;
}

static int
schema(struct mrs_cli *line)
{
    struct mrs_buf out;
    struct mrs_err e;
    mrs_err_clear(&e);
    mrs_buf_init(&out, line->mem, (size_t)1 << 24);
    mrs_plan_schema(&out);
    enum mrs_status s = mrs_buf_status(&out, &e);
    if (s == MRS_OK) {
        fwrite(out.p, 1, out.n, stdout);
    } else {
        mrs_cli_report(line, &e);
    }
    mrs_buf_clear(&out);
    return s == MRS_OK ? 0 : mrs_code_exit(e.code);
}

int
mrsi_cmd_explain(struct mrs_cli *line)
{
    const struct mrsi_cli *cli = (const struct mrsi_cli *)line;
    if (cli->schema && (line->operand || cli->input)) {
        return mrs_cli_misuse(line, "`--schema` is about the language: it takes no PLAN and no `-i`");
    }
    if (cli->schema) {
        return schema(line);
    }
    if (cli->live + cli->pipeline + cli->stage > 1) {
        return mrs_cli_misuse(line, "`--live`, `--pipeline` and `--stage` do not go together");
    }
    int wrong = mrsi_limits_misused(cli);
    if (wrong) {
        return wrong;
    }
    if (!line->operand) {
        return mrs_cli_misuse(line, "PLAN is missing: mongoreshape explain PLAN [-i IN]");
    }
    return mrsi_text_command(line, explain);
}

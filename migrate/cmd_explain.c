/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - `mongoreshape explain PLAN [-i IN]`: the plan in words, with an input also what
 * becomes of indexes and options; with `--live` how it may run beside writers; with
 * `--pipeline` as stages of a server, with `--stage` as the stage of the extension; with `--schema` the language
 * itself. */
#include "commands.h"
#include "mongoreshape/live.h"
#include "mongoreshape/pipeline.h"
#include "mongoreshape/stage.h"
#include "text.h"

static enum mrs_status
explain_live(struct mrsi_job *job, struct mrs_buf *out)
{
    struct mrs_live live;
    struct mrs_arena arena;
    mrs_arena_init(&arena, job->cli->line.mem);
    enum mrs_status s = mrs_live_judge(job->plan, &arena, &live, &job->err);
    MRS_THEN(s, mrs_live_explain(job->plan, &live, job->cli->json, out, &job->err));
    mrs_arena_clear(&arena);
    return s;
}

static enum mrs_status
explain(struct mrsi_job *job, struct mrs_buf *out)
{
    if (job->cli->pipeline) {
        return mrs_plan_pipeline(job->plan, job->cli->json, out, &job->err);
    }
    if (job->cli->stage) {
        return mrs_plan_stage(job->plan, job->cli->json, out, &job->err);
    }
    return job->cli->live ? explain_live(job, out) : mrs_plan_explain(job->plan, job->cli->json, out, &job->err);
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
        mrs_cli_tell(line, &e);
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
    if (!line->operand) {
        return mrs_cli_misuse(line, "PLAN is missing: mongoreshape explain PLAN [-i IN]");
    }
    return mrsi_text_command(line, explain);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - `mongoreshape explain PLAN [-i IN]`: the plan in words, with an input also what
 * becomes of indexes and options; with `--live` how it may run beside writers. */
#include "commands.h"
#include "mongoreshape/live.h"
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
    return job->cli->live ? explain_live(job, out) : mrs_plan_explain(job->plan, job->cli->json, out, &job->err);
}

int
mrsi_cmd_explain(struct mrs_cli *line)
{
    return mrsi_text_command(line, explain);
}

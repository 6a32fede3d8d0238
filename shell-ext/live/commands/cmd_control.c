/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_control.c - `pause`, `resume`, `throttle`: the knobs of a run, turned through its document.
 *
 * Whoever works looks at them at least once a second. Nothing is waited for here: `status` shows what came of it. */
#include "live_commands.h"
#include "live_job.h"

static enum mrs_status
turn(struct live_call *c, bool pause_only, bool pause, const char *said)
{
    enum mrs_status s = live_call_find(c);
    if (s == MRS_END) {
        mrs_err_clear(&c->err);
        return mrs_err_set(&c->err, MRS_FAIL, MRS_E_MISSING, "there is no such run in `%s`", c->job.opts.state_db);
    }
    if (s != MRS_OK) {
        return s;
    }
    struct live_control control = {.pause = pause_only ? pause : c->job.run->control.pause,
                                   .docs_per_s = c->cli->docs_per_s,
                                   .bytes_per_s = c->cli->bytes_per_s,
                                   .sleep_ms = (int64_t)c->cli->sleep_ms};
    s = live_control_set(&c->job, &control, pause_only, &c->err);
    if (s == MRS_OK) {
        char line[128];
        snprintf(line, sizeof line, "run %.12s %s", c->run, said);
        c->job.say(c, line);
    }
    return s;
}

static int
command(struct mrs_cli *line, bool pause_only, bool pause, const char *said)
{
    struct live_call c;
    int status = 0;
    if (((struct live_cli *)line)->sleep_ms > 3600000) {
        return mrs_cli_misuse(line, "--sleep must be at most 3600000 (an hour)");
    }
    if (!live_call_begin(&c, (struct live_cli *)line, &status)) {
        return status;
    }
    return live_call_end(&c, turn(&c, pause_only, pause, said), 0);
}

int
live_cmd_pause(struct mrs_cli *line)
{
    return command(line, true, true, "is to pause; `resume` lets it go on");
}

int
live_cmd_resume(struct mrs_cli *line)
{
    return command(line, true, false, "is to go on");
}

int
live_cmd_throttle(struct mrs_cli *line)
{
    const struct live_cli *cli = (const struct live_cli *)line;
    return command(line, false, false,
                   cli->docs_per_s || cli->bytes_per_s || cli->sleep_ms ? "is held to these limits"
                                                                        : "has no limits any more");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_control.c - `pause`, `resume`, `throttle`: the knobs of a run, changed in its document.
 *
 * A running process reads them at least once a second. The command does not wait: `status` shows the effect. */
#include "live_commands.h"
#include "live_job.h"

static enum mrs_status
find(struct live_call *c)
{
    enum mrs_status s = live_call_find_run(c);
    if (s == MRS_OK && live_phase_over(c->phase)) {
        return mrs_err_set(&c->err, MRS_FAIL, MRS_E_USAGE, "run %.12s is %s: no process works on it any more", c->run,
                           c->phase);
    }
    return s;
}

static void
print_outcome(struct live_call *c, enum mrs_status s, const char *outcome)
{
    if (s == MRS_OK) {
        char line[128];
        snprintf(line, sizeof line, "run %.12s %s", c->run, outcome);
        c->job.print_line(c, line);
    }
}

static int
pause_or_not(struct mrs_cli *line, bool pause, const char *outcome)
{
    const struct live_control control = {.pause = pause};
    struct live_call c;
    int status = 0;
    if (!live_call_begin(&c, (struct live_cli *)line, &status)) {
        return status;
    }
    enum mrs_status s = find(&c);
    MRS_THEN(s, live_control_set(&c.job, &control, true, &c.err));
    print_outcome(&c, s, outcome);
    return live_call_end(&c, s, 0);
}

int
live_cmd_pause(struct mrs_cli *line)
{
    return pause_or_not(line, true, "pauses before its next batch, until `resume`");
}

int
live_cmd_resume(struct mrs_cli *line)
{
    return pause_or_not(line, false, "continues");
}

int
live_cmd_throttle(struct mrs_cli *line)
{
    struct live_control control = {.pause = false};
    struct live_call c;
    int status = 0;
    if (!live_call_begin(&c, (struct live_cli *)line, &status)) {
        return status;
    }
    bool any = live_call_knobs(c.cli, &control);
    enum mrs_status s = find(&c);
    MRS_THEN(s, live_call_knobs_check(&c));
    if (s == MRS_OK && any) {
        s = live_call_knobs_set(&c);
    } else if (s == MRS_OK) {
        control.pause = c.job.run->control.pause;
        s = live_control_set(&c.job, &control, false, &c.err);
    }
    print_outcome(&c, s, any ? "has these limits now" : "has no limits any more");
    return live_call_end(&c, s, 0);
}

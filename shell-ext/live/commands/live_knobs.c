/* SPDX-License-Identifier: Apache-2.0 */
/* live_knobs.c - the knobs of a run on the command line: parses and checks them, and copies them over those of the run.
 *
 * `throttle` and the working commands take the same ones. Knobs not on the line keep the run's values. */
#include "live_job.h"

enum { SLEEP_MAX_MS = 3600000 };

/* The text knobs: option, member of the command line, word that removes it, member of the run. */
struct knob {
    const char *option, *value, *unset;
    char *to;
    size_t size;
};
enum { KNOBS = 5 };

static void
knobs_of(const struct live_cli *cli, struct live_control *to, struct knob out[KNOBS])
{
    struct live_texts *t = &to->texts;
    out[0] = (struct knob){"max-lag", cli->max_lag, "", t->max_lag, sizeof t->max_lag};
    out[1] = (struct knob){"max-latency", cli->max_latency, "", t->max_latency, sizeof t->max_latency};
    out[2] = (struct knob){"max-load", cli->max_load, "none", t->max_load, sizeof t->max_load};
    out[3] = (struct knob){"critical-load", cli->critical_load, "none", t->critical_load, sizeof t->critical_load};
    out[4] = (struct knob){"hours", cli->hours, "all", t->hours, sizeof t->hours};
}

bool
live_call_knobs(const struct live_cli *cli, struct live_control *to)
{
    MRS_ASSERT(to);
    const struct {
        const char *option;
        uint64_t value, *to;
    } rates[] = {{"docs", cli->docs_per_s, &to->docs_per_s}, {"bytes", cli->bytes_per_s, &to->bytes_per_s}};
    struct knob knobs[KNOBS];
    bool any = false;
    knobs_of(cli, to, knobs);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        bool value = mrs_cli_given(&cli->line, rates[i].option);
        *rates[i].to = value ? rates[i].value : *rates[i].to;
        any = any || value;
    }
    if (mrs_cli_given(&cli->line, "sleep")) {
        to->sleep_ms = (int64_t)cli->sleep_ms;
        any = true;
    }
    for (size_t i = 0; i < KNOBS; i++) {
        if (knobs[i].value) {
            bool unset = strcmp(knobs[i].value, knobs[i].unset) == 0;
            snprintf(knobs[i].to, knobs[i].size, "%s", unset ? "" : knobs[i].value);
            any = true;
        }
    }
    return any;
}

int
live_call_knobs_misuse(const struct live_cli *cli)
{
    struct live_control c = {.pause = false};
    struct live_watched watched;
    struct mrs_err e;
    struct knob knobs[KNOBS];
    mrs_err_clear(&e);
    if (cli->sleep_ms > SLEEP_MAX_MS) {
        return mrs_cli_misuse(&cli->line, "--sleep must be at most 3600000 (an hour)");
    }
    knobs_of(cli, &c, knobs);
    for (size_t i = 0; i < KNOBS; i++) {
        if (knobs[i].value && strlen(knobs[i].value) >= knobs[i].size) {
            return mrs_cli_misuse(&cli->line, "--%s must be shorter than %zu characters", knobs[i].option,
                                  knobs[i].size);
        }
    }
    live_call_knobs(cli, &c);
    return live_knobs_read(&c, &watched, &e) == MRS_OK ? 0 : mrs_cli_misuse(&cli->line, "%s", e.msg);
}

enum mrs_status
live_call_knobs_check(struct live_call *c)
{
    struct live_control value = {.pause = false};
    struct live_watched watched;
    live_call_knobs(c->cli, &value);
    enum mrs_status s = live_knobs_read(&value, &watched, &c->err);
    return s == MRS_OK ? live_loads_check(&c->job, &watched, &c->err) : s;
}

enum mrs_status
live_call_knobs_set(struct live_call *c)
{
    struct live_control control = c->job.run->control;
    return live_call_knobs(c->cli, &control) ? live_control_set(&c->job, &control, false, &c->err) : MRS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* next.c - the next command line: ready to be copied, with every word quoted, and never with a secret.
 *
 * Two lines are made: another command on the same run, with the options for run and server; and the present line with
 * --execute, with all its options. A URI is repeated only if it contains nothing to mask. */
#include "live_job.h"

#include "mongoreshape/clock.h"

#include <time.h>

static void
option(struct mrs_buf *b, const char *name, const char *value)
{
    if (value) {
        mrs_buf_printf(b, " --%s ", name);
        mrs_buf_word(b, value);
    }
}

/* Without memory the next command does not name the server. */
void
live_call_name_server(struct live_call *c)
{
    MRS_ASSERT(c->uri && c->shown);
    const struct live_cli *cli = c->cli;
    struct mrs_buf b;
    mrs_buf_init(&b, c->job.mem, 65536);
    if (cli->uri && strcmp(c->uri, c->shown) == 0) {
        option(&b, "uri", c->uri);
    } else if (cli->uri) {
        mrs_buf_printf(&b, " --uri URI");
    }
    option(&b, "uri-file", cli->uri_file);
    mrs_buf_byte(&b, '\0');
    c->job.opts.server = b.bad ? NULL : mrs_arena_copy(&c->arena, b.p, b.n);
    mrs_buf_clear(&b);
}

/* "TOOL VERB PLAN --uri ...": the start of every line. A plan with stars does not find its run any more after
 * collections were added or dropped. */
static void
begin(struct live_call *c, const char *verb, struct mrs_buf *b)
{
    const struct live_cli *cli = c->cli;
    char id[33];
    mrs_buf_init(b, c->job.mem, 65536);
    mrs_buf_printf(b, "%s %s ", cli->line.tool->name, verb);
    if (c->starred && c->job.run) {
        mrs_plan_id_text(c->job.plan, id);
        mrs_buf_printf(b, "--run %s", id);
    } else if (cli->line.operand) {
        mrs_buf_printf(b, "%s", *cli->line.operand == '-' ? "./" : ""); /* a file, not an option */
        mrs_buf_word(b, cli->line.operand);
    } else {
        mrs_buf_printf(b, "--run ");
        mrs_buf_word(b, cli->run ? cli->run : c->run);
    }
    mrs_buf_printf(b, "%s", c->job.opts.server ? c->job.opts.server : "");
    option(b, "db", cli->db);
    option(b, "state-db", cli->state_db);
}

static void
finish(struct live_call *c, struct mrs_buf *b)
{
    mrs_buf_byte(b, '\0');
    c->next = b->bad ? NULL : mrs_arena_copy(&c->arena, b->p, b->n);
    mrs_buf_clear(b);
}

void
live_call_next(struct live_call *c, const char *verb, const char *extra)
{
    MRS_ASSERT(verb && extra);
    struct mrs_buf b;
    begin(c, verb, &b);
    mrs_buf_printf(&b, "%s%s", *extra ? " " : "", extra);
    finish(c, &b);
}

static void
date(struct mrs_buf *b, const char *name, int64_t ms)
{
    int64_t rest = (ms % 1000 + 1000) % 1000;
    time_t t = (time_t)((ms - rest) / 1000);
    struct tm tm;
    char day[64];
    if (gmtime_r(&t, &tm) && strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm)) {
        mrs_buf_printf(b, " --%s %s.%03dZ", name, day, (int)rest);
    }
}

/* 0 is `auto` for an option of one command's own, the greatest number `any` for a limit. */
static void
number(struct mrs_buf *b, const struct mrs_cli_option *o, uint64_t n)
{
    if (o->type == MRS_CLI_OWN && n == 0) {
        option(b, o->name, "auto");
    } else if (o->type == MRS_CLI_LIMIT && n == UINT64_MAX) {
        option(b, o->name, "any");
    } else {
        mrs_buf_printf(b, " --%s %llu", o->name, (unsigned long long)n);
    }
}

void
live_call_again(struct live_call *c)
{
    static const char *const begun[] = {"uri", "uri-file", "db", "state-db", "run", "execute", "json", "progress"};
    const struct mrs_cli *line = &c->cli->line;
    struct mrs_buf b;
    begin(c, line->command->name, &b);
    for (const struct mrs_cli_option *o = line->tool->options; o->name; o++) {
        const void *at = (const char *)c->cli + o->offset;
        bool skip = !(o->commands & line->command->bit) || !mrs_cli_given(line, o->name);
        for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) {
            skip = skip || strcmp(o->name, begun[i]) == 0;
        }
        if (skip) {
            continue;
        }
        switch (o->type) {
        case MRS_CLI_FLAG: mrs_buf_printf(&b, " --%s", o->name); break;
        case MRS_CLI_DATE: date(&b, o->name, *(const int64_t *)at); break;
        case MRS_CLI_OWN:
        case MRS_CLI_COUNT:
        case MRS_CLI_LIMIT:
        case MRS_CLI_SIZE: number(&b, o, *(const uint64_t *)at); break;
        default: option(&b, o->name, *(const char *const *)at);
        }
    }
    mrs_buf_printf(&b, " --execute");
    finish(c, &b);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_privileges.c - `mongoreshape-live privileges PLAN [--quiet-by HOW]`: the role that a user needs for the plan.
 *
 * Reads only. The output is a command for mongosh, or the bare document with --json; the administrator of the server
 * runs it. */
#include "live_commands.h"
#include "live_job.h"

#include "mongoreshape/ejson.h"

/* As a shell script: one privilege on each line. */
static void
put_script(struct mrs_view role, const char *name, struct mrs_buf *out)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool first = true;
    mrs_buf_printf(out, "db.getSiblingDB(\"admin\").runCommand({\n  \"createRole\": \"%s\",\n", name);
    mrs_buf_printf(out, "  \"privileges\": [");
    for (mrs_walk_init(&w, mrs_val_view(mrs_doc_get(role, "privileges"))); mrs_walk_next(&w, &el) == 1;) {
        mrs_buf_printf(out, "%s\n    ", first ? "" : ",");
        mrs_ejson_write_val(el.v, false, out);
        first = false;
    }
    mrs_buf_printf(out, "\n  ],\n  \"roles\": []\n})\n");
}

static enum mrs_status
show(struct live_call *c, bool json)
{
    MRS_ASSERT(c->job.plan);
    struct mrs_buf role, text;
    char name[64], id[33];
    mrs_buf_init(&role, c->job.mem, (size_t)16 << 20);
    mrs_buf_init(&text, c->job.mem, (size_t)64 << 20);
    mrs_plan_id_text(c->job.plan, id);
    snprintf(name, sizeof name, "mongoreshape_%.12s", id);
    bool contracts = c->job.opts.quiet != LIVE_NOT_QUIET || live_contracts_alongside(&c->job);
    enum mrs_status s = live_role(&c->job, name, contracts, &role, &c->err);
    if (s == MRS_OK) {
        struct mrs_view made = {role.p, (uint32_t)role.n};
        if (json) {
            mrs_ejson_write(made, false, &text);
            mrs_buf_byte(&text, '\n');
        } else {
            put_script(made, name, &text);
        }
        s = mrs_buf_status(&text, &c->err);
    }
    if (s == MRS_OK) {
        fwrite(text.p, 1, text.n, stdout);
    }
    if (s == MRS_OK && c->starred) {
        mrs_say(stderr, "%s: note: names with stars: the role is for the collections that fit now\n",
                c->cli->line.tool->name);
    }
    if (s == MRS_OK && !contracts) {
        mrs_say(stderr, "%s: note: `contract` of this plan keeps writers out; its role: privileges with --quiet-by\n",
                c->cli->line.tool->name);
    }
    mrs_buf_clear(&role);
    mrs_buf_clear(&text);
    return s;
}

int
live_cmd_privileges(struct mrs_cli *line)
{
    struct live_call c;
    struct live_cli *cli = (struct live_cli *)line;
    bool json = cli->json;
    int status = 0;
    if (!live_call_begin(&c, cli, &status)) {
        return status;
    }
    cli->json = true; /* no text about the plan on standard output */
    enum mrs_status s = live_call_open(&c);
    cli->json = false;
    MRS_THEN(s, live_call_admit(&c));
    MRS_THEN(s, show(&c, json));
    return live_call_end(&c, s, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_abort.c - `mongoreshape-live abort --clean --execute`: removes the state of a run from the state database.
 *
 * User documents are not changed. Writers that the run blocked are unblocked first. The state module refuses to remove
 * what is still needed. */
#include "live/server/server.h"
#include "live_commands.h"
#include "live_job.h"

static enum mrs_status
clean(struct live_call *c)
{
    enum mrs_status s = live_call_find_run(c);
    MRS_THEN(s, live_server_read(c->job.mem, c->job.link, NULL, 0, &c->job.server, &c->err)); /* its version */
    if (s == MRS_OK && c->job.opts.dry_run) {
        s = live_clean_preview(&c->job, &c->err);
        MRS_THEN(s, live_block_leave(&c->job, &c->err));
        if (s == MRS_OK) {
            live_call_again(c);
        }
        return s;
    }
    MRS_THEN(s, live_clean_begin(&c->job, &c->err));
    MRS_THEN(s, live_block_leave(&c->job, &c->err));
    MRS_THEN(s, live_clean(&c->job, &c->err));
    if (s == MRS_OK) {
        char line[160];
        snprintf(line, sizeof line, "run %.12s is removed from `%.63s`", c->run, c->job.opts.state_db);
        c->job.print_line(c, line);
    }
    return s;
}

int
live_cmd_abort(struct mrs_cli *line)
{
    struct live_call c;
    int status = 0;
    if (!((struct live_cli *)line)->clean) {
        return mrs_cli_misuse(line, "abort removes the state of a run: give --clean (to stop a run use Ctrl-C or "
                                    "`pause`)");
    }
    if (!live_call_begin(&c, (struct live_cli *)line, &status)) {
        return status;
    }
    enum mrs_status s = clean(&c);
    return live_call_end(&c, s, 0);
}

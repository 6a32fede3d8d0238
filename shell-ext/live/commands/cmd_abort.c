/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_abort.c - `mongoreshape-live abort --clean --execute`: removes the state of a run from the state database.
 *
 * User documents are not changed. Writers blocked by a quiet run are unblocked first, if it has not begun to change
 * data. The state module refuses to remove what is still needed. */
#include "live/link/bson.h"
#include "live/server/server.h"
#include "live_commands.h"
#include "live_job.h"

#include "mongoreshape/words.h"

/* Are writers blocked by a run that has not begun to change data? */
static bool
only_blocked(const struct live_call *c)
{
    MRS_ASSERT(c->job.run);
    static const char *const phases[] = {"claimed", "blocked", "reading", "deriving", "listing"};
    struct mrs_view doc = {c->job.run->doc.p, (uint32_t)c->job.run->doc.n};
    return MRS_IS_ONE_OF(c->phase, phases) && live_at(doc, "blocked").type == MRS_DOCUMENT;
}

static enum mrs_status
unblock(struct live_call *c)
{
    live_run_close(&c->job);
    live_server_free(c->job.server);
    c->job.server = NULL;
    enum mrs_status s = live_call_open(c);
    MRS_THEN(s, live_call_run(c, false));
    return s == MRS_OK ? live_block_leave(&c->job, &c->err) : s;
}

static enum mrs_status
clean(struct live_call *c)
{
    enum mrs_status s = live_call_find_run(c);
    MRS_THEN(s, live_server_read(c->job.mem, c->job.link, NULL, 0, &c->job.server, &c->err)); /* its version */
    bool blocked = s == MRS_OK && only_blocked(c);
    if (s == MRS_OK && c->job.opts.dry_run) {
        if (blocked) {
            c->job.print_line(c, "would let writers in again first");
        }
        s = live_clean_preview(&c->job, blocked, &c->err);
        if (s == MRS_OK) {
            live_call_again(c);
        }
        return s;
    }
    if (blocked) {
        s = unblock(c);
    }
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

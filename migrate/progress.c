/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - the progress line of a run of the engine: share, bytes, documents, rate, time left, phase.
 *
 * common/cli decides when a line is due and draws it; this file makes its text. */
#include "progress.h"
#include "mongoreshape/clock.h"

void
mrsi_progress_report(void *arg, const struct mrs_progress *now)
{
    struct mrs_cli_progress *p = arg;
    char done[32], total[32], rate[32], docs[32], eta[40], share[16] = "", line[256];
    if (!mrs_cli_progress_due(p, now->done)) {
        return;
    }
    bool known = now->total && now->done <= now->total; /* the total is an estimate */
    if (known) {
        snprintf(share, sizeof share, "%3.0f%%  ", 100 * ((double)now->done / (double)now->total));
    }
    snprintf(line, sizeof line, "%s%s%s%s  %s documents  %s/s%s  %s", share, mrs_text_size(now->done, done),
             known ? " of " : "", known ? mrs_text_size(now->total, total) : "",
             mrs_text_count(now->docs, docs), mrs_text_size((uint64_t)p->rate, rate),
             mrs_cli_progress_left(p, now->done, now->total, eta), now->phase ? now->phase : "");
    mrs_cli_progress_draw(p, line);
}

/* ---- time of each phase ---- */
static void
end_phase(struct mrsi_phases *p, uint64_t now)
{
    MRS_ASSERT(now >= p->since);
    if (p->n) {
        p->at[p->n - 1].ms += now - p->since;
    }
    p->since = now;
}

void
mrsi_progress_watch(void *arg, const struct mrs_progress *now)
{
    struct mrsi_watch *w = arg;
    struct mrsi_phases *p = w->phases;
    const char *name = now->phase ? now->phase : "";
    MRS_ASSERT(p->n <= MRSI_PHASES_MOST);
    if ((p->n == 0 || strcmp(p->at[p->n - 1].name, name) != 0) && *name) {
        end_phase(p, mrs_clock_steady());
        p->n += p->n < MRSI_PHASES_MOST;
        snprintf(p->at[p->n - 1].name, sizeof p->at[p->n - 1].name, "%s", name);
    }
    mrsi_progress_report(&w->line, now);
}

void
mrsi_progress_over(struct mrsi_watch *w)
{
    end_phase(w->phases, mrs_clock_steady());
    mrs_cli_progress_end(&w->line);
}

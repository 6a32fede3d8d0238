/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - the line about a run of the engine: share, bytes, documents, rate, time left, phase.
 *
 * When a line is due and how it is drawn is common/cli's business; here stands what it says. */
#include "progress.h"

void
mrsi_progress_tell(void *arg, const struct mrs_progress *now)
{
    struct mrs_cli_progress *p = arg;
    char done[32], total[32], rate[32], docs[32], eta[40], share[16] = "", line[256];
    if (!mrs_cli_progress_due(p, now->done)) {
        return;
    }
    if (now->total) {
        double part = (double)now->done / (double)now->total;
        snprintf(share, sizeof share, "%3.0f%%  ", 100 * (part > 1 ? 1 : part));
    }
    snprintf(line, sizeof line, "%s%s%s%s  %s documents  %s/s%s  %s", share, mrs_text_size(now->done, done),
             now->total ? " of " : "", now->total ? mrs_text_size(now->total, total) : "",
             mrs_text_count(now->docs, docs), mrs_text_size((uint64_t)p->rate, rate),
             mrs_cli_progress_left(p, now->done, now->total, eta), now->phase ? now->phase : "");
    mrs_cli_progress_draw(p, line);
}

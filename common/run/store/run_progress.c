/* SPDX-License-Identifier: Apache-2.0 */
/* run_progress.c - reports the progress of a run to the caller, one thread at a time; the caller may stop the run. */
#include "store.h"

void
mrsi_tick(struct mrsi_engine *en)
{
    if (!en->opts->progress || pthread_mutex_trylock(&en->lock) != 0) {
        return;
    }
    struct mrs_progress p = {en->phase_text, atomic_load(&en->done_bytes), en->total_bytes,
                             atomic_load(&en->done_docs)};
    en->opts->progress(en->opts->progress_arg, &p);
    pthread_mutex_unlock(&en->lock);
}

enum mrs_status
mrsi_interrupted(const struct mrsi_engine *en, struct mrs_err *e)
{
    return mrsi_cancelled(en) ? mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "interrupted") : MRS_OK;
}

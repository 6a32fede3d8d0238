/* SPDX-License-Identifier: Apache-2.0 */
/* spill_workers.c - a spiller for each worker of a pass, in its `local`. */
#include "spill.h"

static enum mrs_status
open_all(struct mrsi_spill *sp, struct mrsi_spiller *list, struct mrs_err *e)
{
    MRS_ASSERT(!sp->spillers);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < sp->en->jobs; i++) {
        s = mrsi_spiller_init(&list[i], sp, i, e);
        sp->en->worker[i].local = &list[i];
    }
    return s;
}

static enum mrs_status
close_all(struct mrsi_spill *sp, struct mrsi_spiller *list, enum mrs_status s, struct mrs_err *e)
{
    for (uint32_t i = 0; i < sp->en->jobs; i++) {
        MRS_THEN(s, mrsi_spiller_end(&list[i], e));
        mrsi_spiller_clear(&list[i]);
        sp->en->worker[i].local = NULL;
    }
    return s;
}

enum mrs_status
mrsi_spill_pass(struct mrsi_spill *sp, enum mrs_status (*pass)(void *arg, struct mrs_err *e), void *arg,
                struct mrs_err *e)
{
    MRS_ASSERT(sp->en && pass);
    struct mrsi_engine *en = sp->en;
    struct mrsi_spiller *list = mrs_zalloc(en->mem, en->jobs * sizeof *list);
    MRS_TRY(mrs_allocated(list, en->jobs * sizeof *list, e));
    enum mrs_status s = open_all(sp, list, e);
    MRS_THEN(s, pass(arg, e));
    s = close_all(sp, list, s, e);
    mrs_free(en->mem, list);
    return s;
}

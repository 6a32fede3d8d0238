/* temp.c - temporary files of a run: unlinked from the start, so that nothing stays when the process dies.
 *
 * A file is shared by the parts and scans that read it and closed with its last user. */
#include "internal.h"
#include <unistd.h>

enum mrs_status
mrsi_temp_new(struct mrsi_engine *en, struct mrsi_temp **out, struct mrs_err *e)
{
    struct mrsi_temp *t = mrs_zalloc(en->mem, sizeof *t);
    *out = NULL;
    if (!t) {
        return mrs_err_memory(e, sizeof *t);
    }
    enum mrs_status s = mrs_temp_open(en->tmp, &t->fd, e);
    if (s != MRS_OK) {
        mrs_free(en->mem, t);
        return s;
    }
    t->users = 1;
    *out = t;
    return MRS_OK;
}

void
mrsi_temp_drop(struct mrsi_engine *en, struct mrsi_temp *t)
{
    if (t && --t->users == 0) {
        close(t->fd);
        mrs_free(en->mem, t);
    }
}

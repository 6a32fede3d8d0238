/* SPDX-License-Identifier: Apache-2.0 */
/* run_secret.c - the random bytes of a run, and the secret of its hashes, which is derived from them. */
#include "store.h"
#include "mongoreshape/clock.h"
#include <errno.h>

void
mrsi_secret_take(struct mrsi_engine *en, const uint8_t drawn[MRS_SECRET])
{
    memcpy(en->drawn, drawn, sizeof en->drawn);
    mrs_secret_expand(&en->secret, en->drawn);
}

enum mrs_status
mrsi_secret_draw(struct mrsi_engine *en, struct mrs_err *e)
{
    uint8_t drawn[MRS_SECRET] = {0};
    enum mrs_status s = mrs_random(drawn, sizeof drawn) ? MRS_OK : mrs_err_sys(e, errno, "random bytes of the system");
    mrsi_secret_take(en, drawn);
    return s;
}

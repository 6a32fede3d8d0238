/* SPDX-License-Identifier: Apache-2.0 */
/* pressure.h - the server asked how it is: readings for the governor. */
#ifndef LIVE_PRESSURE_H
#define LIVE_PRESSURE_H

#include "governor.h"
#include "knobs.h"

#include "live/link/connection.h"

enum live_told { LIVE_NOT_ASKED, LIVE_TOLD, LIVE_NOT_TOLD };
struct live_signals { /* what asking remembers; zeros at first */
    enum live_told status;  /* serverStatus */
    enum live_told members; /* replSetGetStatus: asked where members do not answer from here */
    int64_t lag_known_ms, load_known_ms; /* when last; 0: never */
    bool loads_told;        /* by the last readings: each load that is watched */
    uint32_t critical;      /* consecutive readings at which a critical load was reached */
};
/* Asks for all but the latency. What is not known is left out; what the user may not see is said, once. FAIL
 * MRS_E_SERVER: a critical load at two consecutive readings. */
enum mrs_status live_signals_ask(struct live_job *job, struct live_signals *s, const struct live_watched *w,
                                 struct live_readings *out, struct mrs_err *e);
/* Before a run begins: whether the server reports every load. FAIL MRS_E_USAGE names one that it does not; if the user
 * may not run serverStatus: FAIL MRS_E_SERVER. */
enum mrs_status live_loads_check(struct live_job *job, const struct live_watched *w, struct mrs_err *e);

/* ---- replies read; pure ---- */
/* hello documents, one behind the other. Seconds that the slowest of the members is behind that the primary calls its
 * `hosts`, or the majority; *missing: how many of these tell nothing. False: there is no primary among them, or it does
 * not tell when it wrote. */
bool live_lag_of_hellos(const struct mrs_buf *hellos, double *lag, uint32_t *missing);
/* The same of replSetGetStatus, for the hosts of the primary's hello among hellos. */
bool live_lag_of_status(struct mrs_view status, const struct mrs_buf *hellos, double *lag);
/* Flow control, tickets, load of serverStatus. */
void live_signals_of_status(struct mrs_view status, const struct live_watched *w, struct live_readings *out);
/* The first load that the server does not tell; NULL: none. */
const struct live_load *live_load_missing(struct mrs_view status, const struct live_loads *loads);
/* The first load that is at its limit or above; NULL: none. *value: what it is. */
const struct live_load *live_load_reached(struct mrs_view status, const struct live_loads *loads, double *value);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* pressure.h - queries the load of the server: readings for the governor. */
#ifndef LIVE_PRESSURE_H
#define LIVE_PRESSURE_H

#include "governor.h"
#include "knobs.h"

#include "live/link/connection.h"

enum live_available { LIVE_UNTRIED, LIVE_AVAILABLE, LIVE_UNAVAILABLE };
struct live_signals { /* state between queries; initially zeros */
    enum live_available status;  /* serverStatus */
    enum live_available members; /* replSetGetStatus: queried if members cannot be reached from here */
    int64_t lag_known_ms, load_known_ms; /* time of the last; 0: never */
    bool loads_reported;        /* the last readings had each watched load */
    uint32_t critical;      /* number of consecutive readings with a critical load */
};
/* Queries everything except the latency. Unknown figures are omitted; missing privileges are reported once. FAIL
 * MRS_E_SERVER: a critical load at two consecutive readings. */
enum mrs_status live_signals_read(struct live_job *job, struct live_signals *s, const struct live_watched *w,
                                  struct live_readings *out, struct mrs_err *e);
/* Before a run begins: does the server report every load? FAIL MRS_E_USAGE names a missing one; if the user may not run
 * serverStatus: FAIL MRS_E_SERVER. */
enum mrs_status live_loads_check(struct live_job *job, const struct live_watched *w, struct mrs_err *e);

/* ---- parse replies; pure ---- */
/* hellos: contiguous hello documents. Lag in seconds of the slowest member among the primary's `hosts`, or of the
 * majority; *missing: number of hosts without a figure. False: no primary among them, or it does not report its last
 * write. */
bool live_lag_of_hellos(const struct mrs_buf *hellos, double *lag, uint32_t *missing);
/* The same from replSetGetStatus, for the hosts in the primary's hello among hellos. */
bool live_lag_of_status(struct mrs_view status, const struct mrs_buf *hellos, double *lag);
/* Flow control, tickets, load from serverStatus. */
void live_signals_of_status(struct mrs_view status, const struct live_watched *w, struct live_readings *out);
/* The first load that the server does not report; NULL: none. */
const struct live_load *live_load_missing(struct mrs_view status, const struct live_loads *loads);
/* The first load at its limit or above; NULL: none. *value: its value. */
const struct live_load *live_load_reached(struct mrs_view status, const struct live_loads *loads, double *value);

#endif

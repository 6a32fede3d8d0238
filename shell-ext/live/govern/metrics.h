/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - figures of a run for monitoring, as OpenMetrics text: a file, or a port that only this machine can
 * reach. */
#ifndef LIVE_METRICS_H
#define LIVE_METRICS_H

#include "governor.h"

struct live_figures {
    const char *run, *command, *phase, *limiting; /* "expand", "lag" */
    const struct live_progress *progress;
    const struct live_governor *governor;
    uint64_t written_docs, written_bytes, refused, connections_lost; /* by this process */
    int64_t working_ms, waiting_ms;                                  /* waiting: throttled, for any reason */
    bool over;
    int status;                                                      /* the exit status, at the end */
};
/* Appends OpenMetrics 1.0, with its end mark, to out. */
void live_metrics_text(const struct live_figures *f, struct mrs_buf *out);

struct live_metrics;
/* NULL, or the valid forms: ports that others can reach are refused. */
const char *live_metrics_wrong(const char *where);
/* where: a file, or a port (connection_loopback.h), which is opened now. FAIL MRS_E_IO; MRS_E_EXISTS: the existing file
 * has no metrics; MRS_E_MISSING: its folder does not exist. */
enum mrs_status live_metrics_open(struct mrs_mem *mem, const char *where, struct live_metrics **out,
                                  struct mrs_err *e);
/* "http://127.0.0.1:41233/metrics"; NULL: a file. */
const char *live_metrics_url(const struct live_metrics *m);
/* Writes the current figures; a file is replaced atomically. FAIL MRS_E_IO. */
enum mrs_status live_metrics_put(struct live_metrics *m, const struct live_figures *f, struct mrs_err *e);
void live_metrics_close(struct live_metrics *m); /* the file stays; NULL: no effect */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* live_options.h - the commands and options of mongoreshape-live: the parsed command line.
 *
 * A new option is a row in live_options.c and a member of struct live_cli. */
#ifndef LIVE_OPTIONS_H
#define LIVE_OPTIONS_H

#include "mongoreshape/cli.h"

struct live_cli {
    struct mrs_cli line; /* first: the parser uses only this part */
    const char *uri, *uri_file, *run, *db, *state_db, *mode, *quiet_by, *engine, *tmp;
    const char *ns, *suggest, *html, *hints, *workload; /* of inspect */
    uint64_t sample;
    uint64_t batch, memory, max_refused, passes, lease, workers;
    uint64_t docs_per_s, bytes_per_s, sleep_ms; /* knobs, and: */
    const char *max_lag, *max_latency, *max_load, *critical_load, *hours;
    const char *metrics, *on_success, *on_failure;
    int64_t now_ms;
    bool execute, allow_scan, allow_ttl, no_transactions, keep_before, repair;
    bool discard_new_writes, discard_refused, discard_changes;
    bool worker;
    bool clean, watch, list, json, progress, whole, all;
};

extern const struct mrs_cli_tool live_tool;

#endif

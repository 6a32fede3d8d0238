/* progress.h - the line that says how far a run is, on standard error. */
#ifndef MRSI_PROGRESS_H
#define MRSI_PROGRESS_H

#include "mongoreshape/run.h"

struct mrsi_progress {
    bool on, terminal, drawn;
    uint64_t start_ms, last_ms;
    uint64_t last_done;
    double rate; /* bytes a second, smoothed */
};

/* wanted: also where standard error is no terminal. */
void mrsi_progress_begin(struct mrsi_progress *p, bool wanted, bool quiet);
/* For struct mrs_run_opts. */
void mrsi_progress_tell(void *arg, const struct mrs_progress *now);
/* Takes the line away. */
void mrsi_progress_end(struct mrsi_progress *p);
uint64_t mrsi_clock_ms(void);

#endif

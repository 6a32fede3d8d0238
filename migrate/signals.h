/* signals.h - Ctrl-C and its relatives. */
#ifndef MRSI_SIGNALS_H
#define MRSI_SIGNALS_H

/* From now on SIGINT, SIGTERM and SIGHUP set the flag, once; the second ends the process. SIGPIPE
 * is ignored: writing reports it. */
void mrsi_signals_begin(void);
/* Read atomically: not 0 once a signal came. */
const int *mrsi_signals_flag(void);
/* The signal that came, or 0. */
int mrsi_signals_number(void);

#endif

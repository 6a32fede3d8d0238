/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - what no run has alike: clocks, in milliseconds, and random bytes. Any thread. */
#ifndef MONGORESHAPE_CLOCK_H
#define MONGORESHAPE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint64_t mrs_clock_steady(void); /* for durations: never set back; stands still while the machine sleeps */
int64_t mrs_clock_asleep(void);  /* as steady, but goes on while the machine sleeps: for what others wait for */
int64_t mrs_clock_wall(void);    /* since 1970 */
int64_t mrs_clock_worked(void);  /* time that processors have worked for this process, all threads together */

/* n <= 256 bytes that cannot be guessed. False: the system gives none, errno says why; nothing may stand for them. */
bool mrs_random(void *p, size_t n);

#ifdef __cplusplus
}
#endif

#endif

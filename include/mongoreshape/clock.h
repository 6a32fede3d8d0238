/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - input that differs in each run: clocks, in milliseconds, and random bytes. Any thread. */
#ifndef MONGORESHAPE_CLOCK_H
#define MONGORESHAPE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint64_t mrs_clock_steady(void); /* for durations: never set back; stops while the machine sleeps */
int64_t mrs_clock_asleep(void);  /* as steady, but continues while the machine sleeps: for deadlines of others */
int64_t mrs_clock_wall(void);    /* since 1970 */
int64_t mrs_clock_worked(void);  /* processor time of this process, all threads together */

/* n <= 256 unpredictable bytes. False: the system provides none (errno is set); do not substitute others. */
bool mrs_random(void *p, size_t n);

#ifdef __cplusplus
}
#endif

#endif

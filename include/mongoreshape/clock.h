/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - clocks, in milliseconds. Any thread. */
#ifndef MONGORESHAPE_CLOCK_H
#define MONGORESHAPE_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint64_t mrs_clock_steady(void); /* for durations: never set back; stands still while the machine sleeps */
int64_t mrs_clock_asleep(void);  /* as steady, but goes on while the machine sleeps: for what others wait for */
int64_t mrs_clock_wall(void);    /* since 1970 */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - see clock.h. */
#include "mongoreshape/clock.h"
#include <errno.h>
#include <sys/random.h>
#include <time.h>

static int64_t
read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

uint64_t
mrs_clock_steady(void)
{
    return (uint64_t)read_clock(CLOCK_MONOTONIC);
}

int64_t
mrs_clock_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t
mrs_clock_worked(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t
mrs_clock_asleep(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

bool
mrs_random(void *p, size_t n)
{
    ssize_t got;
    do {
        got = getrandom(p, n, 0); /* up to 256 bytes it returns all or none */
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)n;
}

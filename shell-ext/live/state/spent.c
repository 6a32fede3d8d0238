/* SPDX-License-Identifier: Apache-2.0 */
/* spent.c - how a run spends its time, that is, what limits it.
 *
 * Four things can take time: a configured limit, documents that others change while they are processed (they are
 * derived again), the processor here, and, all the rest, waiting for the server. The largest is reported with its share
 * of the time: improving that one helps most. Reads no clock. */
#include "course.h"

enum { WINDOW_MS = 1000 };

void
live_spent_throttled(struct live_spent *s, int64_t ms)
{
    s->throttled_ms += ms;
}

void
live_spent_again(struct live_spent *s, int64_t ms)
{
    s->again_ms += ms;
}

static void
judge(struct live_spent *s, int64_t all, int64_t cpu)
{
    MRS_ASSERT(all > 0);
    const struct {
        const char *name;
        int64_t ms;
    } of[] = {
        {"server latency", all - s->throttled_ms - s->again_ms - cpu},
        {"contention", s->again_ms},
        {"throttle", s->throttled_ms},
        {"our own CPU", cpu},
    };
    size_t most = 0;
    for (size_t i = 1; i < sizeof of / sizeof *of; i++) {
        most = of[i].ms > of[most].ms ? i : most;
    }
    int64_t share = of[most].ms > 0 ? of[most].ms * 100 / all : 0;
    s->most = of[most].name;
    s->share = (uint32_t)(share < 100 ? share : 100);
}

const char *
live_spent_on(struct live_spent *s, int64_t now, int64_t cpu_ms, uint32_t *share)
{
    MRS_ASSERT(now >= s->since_ms);
    if (!s->since_ms || now - s->since_ms >= WINDOW_MS) {
        if (s->since_ms) {
            judge(s, now - s->since_ms, cpu_ms - s->cpu_ms);
        }
        s->since_ms = now;
        s->cpu_ms = cpu_ms;
        s->throttled_ms = s->again_ms = 0;
    }
    *share = s->share;
    return s->most ? s->most : "";
}

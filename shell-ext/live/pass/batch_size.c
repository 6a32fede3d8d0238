/* SPDX-License-Identifier: Apache-2.0 */
/* batch_size.c - computes the size of the next batch.
 *
 * The governor sets the duration of a batch; its size follows from the time for each document. Part of the time does
 * not depend on the size: the round trip, a majority commit, a table of the other side that the server builds for each
 * pipeline. Smaller batches would only repeat that more often; so at least half of the time of a batch goes to
 * documents. The fixed part is computed from two batches of different sizes. */
#include "live/govern/governor.h"
#include "work.h"

enum { DOCS_MAX = 10000 };
static const uint64_t write_max = 4u << 20;

void
live_batches_begin(const struct live_job *job, struct live_batches *b)
{
    *b = (struct live_batches){.size = job->opts.batch ? job->opts.batch : LIVE_BATCH_FIRST};
}

static void
update_cost(struct live_batches *b, uint32_t n, int64_t ms)
{
    MRS_ASSERT(n > 0 && ms >= 0);
    uint32_t apart = n > b->n ? n - b->n : b->n - n;
    if (b->n && apart >= n / 4 && apart) {
        int64_t more = n > b->n ? ms - b->ms : b->ms - ms; /* time for the additional documents */
        b->fixed_ms = ms - (more > 0 ? more : 0) * (int64_t)n / (int64_t)apart;
    }
    b->fixed_ms = b->fixed_ms < 0 ? 0 : b->fixed_ms > ms ? ms : b->fixed_ms;
    b->n = n;
    b->ms = ms;
}

/* Number of documents that take this time. */
static uint64_t
fitting(const struct live_batches *b, int64_t aim)
{
    MRS_ASSERT(b->n > 0 && b->fixed_ms >= 0 && b->fixed_ms <= b->ms);
    int64_t each = b->ms - b->fixed_ms, left = aim - b->fixed_ms;
    left = left > b->fixed_ms ? left : b->fixed_ms;
    return (uint64_t)b->n * (uint64_t)left / (uint64_t)(each > 0 ? each : 1);
}

void
live_batches_took(const struct live_job *job, struct live_batches *b, uint32_t n, int64_t ms, uint64_t bytes)
{
    MRS_ASSERT(b->size > 0);
    int64_t aim = live_governor_batch_ms(&job->run->governor);
    if (job->opts.batch || n == 0 || (n < b->size && ms < aim && bytes < write_max)) {
        return; /* it was short for another reason */
    }
    update_cost(b, n, ms);
    uint64_t docs = fitting(b, aim);
    if (bytes > write_max) {
        uint64_t fits = n * write_max / bytes;
        docs = docs < fits ? docs : fits;
    }
    docs = docs > n * 2ull ? n * 2ull : docs < n / 2 ? n / 2 : docs;
    b->size = (uint32_t)(docs < 1 ? 1 : docs > DOCS_MAX ? DOCS_MAX : docs);
}

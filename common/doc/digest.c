/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - the common part of MD5, SHA-1 and SHA-256: blocks of a message, its end, and the bytes of the result. */
#include "mongoreshape/assert.h"
#include "mongoreshape/digest.h"
#include <string.h>

enum { BLOCK = 64, LENGTH = 8 };

/* The lowest n bytes of v. */
static void
put(uint8_t *p, uint64_t v, unsigned n, bool big_endian)
{
    MRS_ASSERT(n <= 8);
    for (unsigned i = 0; i < n; i++) {
        p[i] = (uint8_t)(v >> 8 * (big_endian ? n - 1 - i : i));
    }
}

void
mrs_digest_run(const struct mrs_digest *d, uint32_t *state, const uint8_t *p, size_t n, uint8_t *out)
{
    MRS_ASSERT(p || n == 0);
    uint8_t end[2 * BLOCK] = {0};
    size_t rest = n % BLOCK, size = rest + 1 + LENGTH <= BLOCK ? BLOCK : 2 * BLOCK;
    if (rest) {
        memcpy(end, p + (n - rest), rest);
    }
    end[rest] = 0x80;
    put(end + size - LENGTH, (uint64_t)n * 8, LENGTH, d->big_endian);
    for (size_t at = 0; at < n - rest; at += BLOCK) {
        d->stir(state, p + at);
    }
    for (size_t at = 0; at < size; at += BLOCK) {
        d->stir(state, end + at);
    }
    for (unsigned i = 0; i < d->words; i++) {
        put(out + 4 * i, state[i], 4, d->big_endian);
    }
}

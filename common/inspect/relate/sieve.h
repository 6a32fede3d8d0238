/* SPDX-License-Identifier: Apache-2.0 */
/* sieve.h - a Bloom filter of hashes: all added hashes pass, of others one in a hundred.
 *
 * Any number of threads may read it once it is filled. */
#ifndef MRSI_INSPECT_SIEVE_H
#define MRSI_INSPECT_SIEVE_H

#include "rows.h"

struct mrsi_sieve {
    uint64_t *bits; /* NULL: everything passes */
    uint64_t mask; /* of the number of a bit */
};
/* Makes a filter for this many hashes. False: no memory. */
bool mrsi_sieve_make(struct mrsi_sieve *s, struct mrs_mem *mem, uint64_t hashes);
void mrsi_sieve_free(struct mrsi_sieve *s, struct mrs_mem *mem);
/* Adds all first keys of sealed rows. */
enum mrs_status mrsi_sieve_put_rows(struct mrsi_sieve *s, const struct mrsi_rowset *rows, struct mrs_err *e);

/* The bits of a hash. */
static inline void
mrsi_sieve_bits(const struct mrsi_sieve *s, uint64_t hash, uint64_t bit[3])
{
    bit[0] = hash & s->mask;
    bit[1] = hash >> 32 & s->mask;
    bit[2] = (hash * 0x9E3779B97F4A7C15u) >> 20 & s->mask;
}

static inline bool
mrsi_sieve_passes(const struct mrsi_sieve *s, uint64_t hash)
{
    uint64_t bit[3];
    if (!s->bits) {
        return true;
    }
    mrsi_sieve_bits(s, hash, bit);
    return (s->bits[bit[0] >> 6] >> (bit[0] & 63) & 1) && (s->bits[bit[1] >> 6] >> (bit[1] & 63) & 1) &&
           (s->bits[bit[2] >> 6] >> (bit[2] & 63) & 1);
}

#endif

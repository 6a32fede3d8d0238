/* SPDX-License-Identifier: Apache-2.0 */
/* sieve.h - a Bloom filter of hashes: whatever was put passes, of the rest one in a hundred.
 *
 * Read by any number of threads once it is filled. */
#ifndef MRSI_INSPECT_SIEVE_H
#define MRSI_INSPECT_SIEVE_H

#include "rows.h"

struct mrsi_sieve {
    uint64_t *bits; /* NULL: everything passes */
    uint64_t mask; /* of the number of a bit */
};
/* For so many hashes. False: no memory. */
bool mrsi_sieve_make(struct mrsi_sieve *s, struct mrs_mem *mem, uint64_t hashes);
void mrsi_sieve_free(struct mrsi_sieve *s, struct mrs_mem *mem);
/* All first keys of sealed rows. */
enum mrs_status mrsi_sieve_put_rows(struct mrsi_sieve *s, const struct mrsi_rowset *rows, struct mrs_err *e);

static inline bool
mrsi_sieve_passes(const struct mrsi_sieve *s, uint64_t hash)
{
    uint64_t a = hash & s->mask, b = hash >> 32 & s->mask, c = (hash * 0x9E3779B97F4A7C15u) >> 20 & s->mask;
    return !s->bits || ((s->bits[a >> 6] >> (a & 63) & 1) && (s->bits[b >> 6] >> (b & 63) & 1) &&
                        (s->bits[c >> 6] >> (c & 63) & 1));
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* sieve.c - a Bloom filter of hashes; see sieve.h */
#include "sieve.h"

enum { BITS_EACH = 10, LEAST_BITS = 1 << 12 };

bool
mrsi_sieve_make(struct mrsi_sieve *s, struct mrs_mem *mem, uint64_t hashes)
{
    MRS_ASSERT(!s->bits);
    uint64_t bits = LEAST_BITS;
    while (bits < hashes * BITS_EACH) {
        bits *= 2;
    }
    s->mask = bits - 1;
    s->bits = mrs_zalloc(mem, bits / 8);
    return s->bits != NULL;
}

void
mrsi_sieve_free(struct mrsi_sieve *s, struct mrs_mem *mem)
{
    mrs_free(mem, s->bits);
    s->bits = NULL;
}

enum mrs_status
mrsi_sieve_put_rows(struct mrsi_sieve *s, const struct mrsi_rowset *rows, struct mrs_err *e)
{
    MRS_ASSERT(rows->sealed);
    struct mrsi_rowset_at *at = mrs_alloc(rows->store->mem, sizeof *at);
    const struct mrsi_hash_row *r;
    enum mrs_status st = mrs_allocated(at, sizeof *at, e);
    if (at) {
        mrsi_rowset_read(at, rows);
        while ((r = mrsi_rowset_next(at, &st, e)) != NULL) {
            uint64_t bit[3];
            mrsi_sieve_bits(s, r->key[0], bit);
            for (int i = 0; i < 3; i++) {
                s->bits[bit[i] >> 6] |= 1ull << (bit[i] & 63);
            }
        }
    }
    mrs_free(rows->store->mem, at);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* weak.c - the tool with hashes of four bits wherever a hash is only used to find: code that treats two things as equal
 * because of such hashes merges, joins or loses documents in every second case. `make weak` runs cases and random plans
 * with it. Hashes that decide (mrs_hash_secret), ids of the contract and digests are unchanged. */
#include "mongoreshape/value.h"

struct mrs_hash128 __real_mrs_hash(const void *p, size_t n, uint64_t seed);
struct mrs_hash128 __wrap_mrs_hash(const void *p, size_t n, uint64_t seed);
uint64_t __real_mrs_hash64(const void *p, size_t n, uint64_t seed);
uint64_t __wrap_mrs_hash64(const void *p, size_t n, uint64_t seed);

enum { FEW = 15 };

struct mrs_hash128
__wrap_mrs_hash(const void *p, size_t n, uint64_t seed)
{
    struct mrs_hash128 h = __real_mrs_hash(p, n, seed);
    return (struct mrs_hash128){h.lo & FEW, h.lo & FEW};
}

uint64_t
__wrap_mrs_hash64(const void *p, size_t n, uint64_t seed)
{
    return __real_mrs_hash64(p, n, seed) & FEW;
}

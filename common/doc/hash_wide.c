/* SPDX-License-Identifier: Apache-2.0 */
/* hash_wide.c - XXH3-128 with vectors of 256 bits, in a program built for processors without them. */
#include "hash_long.h"

#if MRSI_HASH_WIDE
#pragma GCC push_options
#pragma GCC target("avx2")
#define XXH_VECTOR 2 /* AVX2, which the compiler options do not enable */
#define XXH_INLINE_ALL
#include <xxhash.h>

struct mrs_hash128
mrsi_hash_wide(const void *p, size_t n, uint64_t seed)
{
    MRS_ASSERT(p || n == 0);
    XXH128_hash_t x = XXH3_128bits_withSeed(p, n, seed);
    struct mrs_hash128 h = {x.low64, x.high64};
    return h;
}

struct mrs_hash128
mrsi_hash_wide_salted(const void *p, size_t n, const uint8_t *salt, size_t salt_n)
{
    MRS_ASSERT(salt && (p || n == 0));
    XXH128_hash_t x = XXH3_128bits_withSecret(p, n, salt, salt_n);
    struct mrs_hash128 h = {x.low64, x.high64};
    return h;
}
#pragma GCC pop_options
#endif

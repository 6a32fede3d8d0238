/* SPDX-License-Identifier: Apache-2.0 */
/* hash_long.h - XXH3-128 of many bytes, with the vectors of this processor; for identity.c. */
#ifndef MRS_DOC_HASH_LONG_H
#define MRS_DOC_HASH_LONG_H

#include "mongoreshape/value.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) /* which has other pragmas */
#define MRSI_HASH_WIDE 1 /* only where __builtin_cpu_supports("avx2") */
struct mrs_hash128 mrsi_hash_wide(const void *p, size_t n, uint64_t seed);
struct mrs_hash128 mrsi_hash_wide_salted(const void *p, size_t n, const uint8_t *salt, size_t salt_n);
#else
#define MRSI_HASH_WIDE 0
#endif
enum { MRSI_HASH_LONG = 240 }; /* XXH3 hashes shorter input without vectors */

#endif

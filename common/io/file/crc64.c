/* SPDX-License-Identifier: Apache-2.0 */
/* crc64.c - the checksum of archives: CRC-64/XZ, by ISA-L or by a table.
 *
 * Reflected, of polynomial 0x42F0E1EBA9EA3693, initial and final value inverted; of no bytes it is 0, and of
 * "123456789" 0x995DC9BBDF1939FA. It can be computed in pieces: the result is the input of the next call. */
#include "file.h"

#if !defined(MRSI_WITH_ZLIB) && defined(__has_include)
#if __has_include(<isa-l/crc64.h>)
#define MRSI_WITH_ISAL 1
#endif
#endif

#ifdef MRSI_WITH_ISAL
#include <isa-l/crc64.h>

uint64_t
mrsi_crc64(uint64_t crc, const void *p, size_t n)
{
    return crc64_ecma_refl(crc, p, n);
}
#else
/* The sum's change for each value of the four bits shifted out. */
static const uint64_t nibble[16] = {
    0x0000000000000000, 0x7d9ba13851336649, 0xfb374270a266cc92, 0x86ace348f355aadb,
    0x64b62bcaebc387a1, 0x192d8af2baf0e1e8, 0x9f8169ba49a54b33, 0xe21ac88218962d7a,
    0xc96c5795d7870f42, 0xb4f7f6ad86b4690b, 0x325b15e575e1c3d0, 0x4fc0b4dd24d2a599,
    0xadda7c5f3c4488e3, 0xd041dd676d77eeaa, 0x56ed3e2f9e224471, 0x2b769f17cf112238};

uint64_t
mrsi_crc64(uint64_t crc, const void *p, size_t n)
{
    const uint8_t *at = p;
    uint64_t c = ~crc;
    for (size_t i = 0; i < n; i++) {
        c ^= at[i];
        c = nibble[c & 15] ^ (c >> 4);
        c = nibble[c & 15] ^ (c >> 4);
    }
    return ~c;
}
#endif

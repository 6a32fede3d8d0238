/* SPDX-License-Identifier: Apache-2.0 */
/* sha1.c - SHA-1 (FIPS 180-4), only for the last 27 characters of an over-long file name.
 *
 * The tools shorten the escaped name of a collection that does not fit a file name, and append this hash of the full
 * name. It is not used for security, and names are short. Must not know what is hashed. */
#include "file.h"
#include "mongoreshape/digest.h"

static uint32_t
turn(uint32_t v, int bits)
{
    return v << bits | v >> (32 - bits);
}

static void
block(uint32_t h[5], const uint8_t p[64])
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], g = h[4];
    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
               (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    }
    for (int i = 16; i < 80; i++) {
        w[i] = turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    for (int i = 0; i < 80; i++) {
        uint32_t f, k;
        if (i < 20) {
            f = (b & c) | (~b & d);
            k = 0x5a827999;
        } else if (i < 40) {
            f = b ^ c ^ d;
            k = 0x6ed9eba1;
        } else if (i < 60) {
            f = (b & c) | (b & d) | (c & d);
            k = 0x8f1bbcdc;
        } else {
            f = b ^ c ^ d;
            k = 0xca62c1d6;
        }
        uint32_t next = turn(a, 5) + f + g + k + w[i];
        g = d;
        d = c;
        c = turn(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += g;
}

void
mrsi_sha1(const void *p, size_t n, uint8_t out[20])
{
    MRS_ASSERT(p || n == 0);
    static const struct mrs_digest sha1 = {block, 5, true};
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    mrs_digest_run(&sha1, h, p, n, out);
}

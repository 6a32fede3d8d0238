/* SPDX-License-Identifier: Apache-2.0 */
/* md5.c - the digest MD5 (RFC 1321).
 *
 * A message is cut into blocks of 16 words, little-endian; each block is mixed into four words of state in 64 steps.
 * The constants of the steps are those of the standard, the integer part of 2^32 * |sin(i)|. */
#include "hashes.h"
#include "mongoreshape/digest.h"
#include "mongoreshape/view.h"

static const uint32_t SINE[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
static const uint8_t TURN[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static uint32_t
left(uint32_t v, unsigned by)
{
    return v << by | v >> (32 - by);
}

static uint32_t
mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
    return round == 0 ? (b & c) | (~b & d) : round == 1 ? (b & d) | (c & ~d) : round == 2 ? b ^ c ^ d : c ^ (b | ~d);
}

static void
stir(uint32_t *state, const uint8_t *block)
{
    static const uint8_t STEP[4] = {1, 5, 3, 7}, START[4] = {0, 1, 5, 0};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (unsigned i = 0; i < 64; i++) {
        unsigned round = i / 16, word = (START[round] + STEP[round] * i) % 16;
        uint32_t sum = a + mix(round, b, c, d) + SINE[i] + mrs_le32(block + 4 * word);
        a = d;
        d = c;
        c = b;
        b += left(sum, TURN[round][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void
mrsi_md5(const uint8_t *p, size_t n, uint8_t out[MRSI_MD5_BYTES])
{
    MRS_ASSERT(p || n == 0);
    static const struct mrs_digest md5 = {stir, 4, false};
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    mrs_digest_run(&md5, state, p, n, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c - a keyed hash: equal hashes prove equal data, even if an attacker wrote the data.
 *
 * Long texts are compressed block by block with NH (UMAC, VMAC): the sum of the products (m1 + k1) * (m2 + k2) over
 * pairs of words, modulo 2^128, with k random words. Two different blocks of equal length have equal sums with
 * probability at most 2^-64, whatever their content, and the second sum, with keys shifted by a pair, makes that
 * 2^-128. The only assumption is that the keys are secret: documents are written before the keys are drawn. Lengths,
 * and the sums of all blocks, go through SipHash-2-4 with 128 bits, a keyed function with pseudorandom results: so an
 * attacker cannot aim at sums of hashes either. Short texts go through it directly.
 *
 * XXH3 is several times as fast and gives no such guarantee: with the seed 0 two texts with one hash can be constructed
 * by hand, and its products of 32 bits leave 2^-32 if the seed is unknown. */
#include "mongoreshape/value.h"

enum {
    SHORT = 48, /* up to this many bytes SipHash alone is faster */
    PAIR = 16,
    KIND_SHIFT = 40
};

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t
turn(uint64_t x, unsigned by)
{
    MRS_ASSERT(by > 0 && by < 64);
    return x << by | x >> (64 - by);
}

static inline void
sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = turn(s->v1, 13) ^ s->v0;
    s->v3 = turn(s->v3, 16) ^ s->v2;
    s->v0 = turn(s->v0, 32) + s->v3;
    s->v2 += s->v1;
    s->v3 = turn(s->v3, 21) ^ s->v0;
    s->v1 = turn(s->v1, 17) ^ s->v2;
    s->v2 = turn(s->v2, 32);
}

static inline void
sip_word(struct sip *s, uint64_t m)
{
    s->v3 ^= m;
    sip_round(s);
    sip_round(s);
    s->v0 ^= m;
}

static inline uint64_t
sip_end(struct sip *s)
{
    for (int i = 0; i < 4; i++) {
        sip_round(s);
    }
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

/* The last bytes of a text with the bytes before them, and the hash. */
static inline struct mrs_hash128
sip_tail(struct sip s, size_t before, const uint8_t *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    struct mrs_hash128 h;
    uint64_t last = (uint64_t)(before + n) << 56;
    size_t at = 0;
    for (; at + 8 <= n; at += 8) {
        sip_word(&s, mrs_le64(p + at));
    }
    for (unsigned by = 0; at < n; at++, by += 8) {
        last |= (uint64_t)p[at] << by;
    }
    sip_word(&s, last);
    s.v2 ^= 0xee;
    h.lo = sip_end(&s);
    s.v1 ^= 0xdd;
    h.hi = sip_end(&s);
    return h;
}

static struct sip
sip_begin(uint64_t k0, uint64_t k1)
{
    return (struct sip){k0 ^ 0x736f6d6570736575ull, k1 ^ 0x646f72616e646f6dull ^ 0xee, k0 ^ 0x6c7967656e657261ull,
                        k1 ^ 0x7465646279746573ull};
}

struct mrs_hash128
mrs_siphash(const uint8_t secret[MRS_SECRET], const void *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    return sip_tail(sip_begin(mrs_le64(secret), mrs_le64(secret + 8)), 0, p, n);
}

void
mrs_secret_expand(struct mrs_secret *s, const uint8_t secret[MRS_SECRET])
{
    const size_t words = sizeof s->nh / sizeof *s->nh;
    uint8_t no[4];
    mrs_put32(no, 0);
    struct mrs_hash128 h = mrs_siphash(secret, no, sizeof no);
    struct sip begin = sip_begin(h.lo, h.hi);
    s->sip[0] = begin.v0;
    s->sip[1] = begin.v1;
    s->sip[2] = begin.v2;
    s->sip[3] = begin.v3;
    mrs_put32(no, 1);
    s->seed = mrs_siphash(secret, no, sizeof no).lo;
    for (uint32_t i = 0; i < words; i += 2) {
        mrs_put32(no, i + 2);
        h = mrs_siphash(secret, no, sizeof no);
        s->nh[i] = h.lo;
        s->nh[i + 1] = h.hi;
    }
}

struct sums {
    unsigned __int128 one, two;
};

static inline void
add_pair(struct sums *to, const uint64_t *k, const uint8_t *p)
{
    uint64_t a = mrs_le64(p), b = mrs_le64(p + 8);
    to->one += (unsigned __int128)(a + k[0]) * (b + k[1]);
    to->two += (unsigned __int128)(a + k[2]) * (b + k[3]);
}

/* Up to a block; the last pair is padded with zeros, because SipHash distinguishes lengths. */
static inline struct sums
sum_up(const uint64_t *k, const uint8_t *p, size_t n)
{
    struct sums sums = {0, 0};
    for (; n >= PAIR; p += PAIR, n -= PAIR, k += 2) {
        add_pair(&sums, k, p);
    }
    if (n) {
        uint8_t last[PAIR] = {0};
        memcpy(last, p, n);
        add_pair(&sums, k, last);
    }
    return sums;
}

struct mrs_hash128
mrs_hash_secret(const struct mrs_secret *s, uint32_t what, const void *p, size_t n)
{
    MRS_ASSERT(what < 1u << 24 && (p || n == 0));
    struct sip sip = {s->sip[0], s->sip[1], s->sip[2], s->sip[3]};
    const uint8_t *at = p, *end = at + n;
    size_t before = 8;
    sip_word(&sip, (uint64_t)what << KIND_SHIFT | n);
    if (n <= SHORT) {
        return sip_tail(sip, before, at, n);
    }
    while (at < end) {
        size_t block = (size_t)(end - at) < MRS_SECRET_BLOCK ? (size_t)(end - at) : MRS_SECRET_BLOCK;
        struct sums sums = sum_up(s->nh, at, block);
        sip_word(&sip, (uint64_t)sums.one);
        sip_word(&sip, (uint64_t)(sums.one >> 64));
        sip_word(&sip, (uint64_t)sums.two);
        sip_word(&sip, (uint64_t)(sums.two >> 64));
        before += 2 * sizeof sums.one;
        at += block;
    }
    return sip_tail(sip, before, end, 0);
}

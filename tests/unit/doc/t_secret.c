/* SPDX-License-Identifier: Apache-2.0 */
/* t_secret.c - the hash by which two things are taken for one.
 *
 * SipHash against the vectors of its authors; the whole against a second way to write it down, of any length; that one
 * bit anywhere, a zero more, or the kind makes another hash; and that texts which XXH3 takes for one are two. */
#include "nasty.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MOST = 5000 };

static struct mrs_secret secret;
static uint8_t key[MRS_SECRET];

static bool
same(struct mrs_hash128 a, struct mrs_hash128 b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

/* vectors.h of the reference implementation: key 00 01 .. 0f, texts 00 01 .. of so many bytes. */
static void
siphash_vectors(void **state)
{
    static const struct {
        size_t n;
        uint8_t want[17];
    } row[] = {
        {0, "\xa3\x81\x7f\x04\xba\x25\xa8\xe6\x6d\xf6\x72\x14\xc7\x55\x02\x93"},
        {1, "\xda\x87\xc1\xd8\x6b\x99\xaf\x44\x34\x76\x59\x11\x9b\x22\xfc\x45"},
        {7, "\xa1\xf1\xeb\xbe\xd8\xdb\xc1\x53\xc0\xb8\x4a\xa6\x1f\xf0\x82\x39"},
        {8, "\x3b\x62\xa9\xba\x62\x58\xf5\x61\x0f\x83\xe2\x64\xf3\x14\x97\xb4"},
        {15, "\x54\x93\xe9\x99\x33\xb0\xa8\x11\x7e\x08\xec\x0f\x97\xcf\xc3\xd9"},
        {16, "\x6e\xe2\xa4\xca\x67\xb0\x54\xbb\xfd\x33\x15\xbf\x85\x23\x05\x77"},
        {63, "\x51\x50\xd1\x77\x2f\x50\x83\x4a\x50\x3e\x06\x9a\x97\x3f\xbd\x7c"},
    };
    uint8_t text[64];
    (void)state;
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (uint8_t)i;
    }
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct mrs_hash128 h = mrs_siphash(text, text, row[i].n);
        assert_int_equal(h.lo, mrs_le64(row[i].want));
        assert_int_equal(h.hi, mrs_le64(row[i].want + 8));
    }
}

/* By the words of secret.c: what goes through SipHash is put together in full. */
static struct mrs_hash128
written_down_again(uint32_t what, const uint8_t *p, size_t n)
{
    uint8_t all[8 + MOST], no[4], inner[MRS_SECRET];
    size_t at = 8;
    mrs_put64(all, (uint64_t)what << 40 | n);
    mrs_put32(no, 0);
    struct mrs_hash128 k = mrs_siphash(key, no, sizeof no);
    mrs_put64(inner, k.lo);
    mrs_put64(inner + 8, k.hi);
    if (n <= 48) {
        memcpy(all + at, p, n);
        return mrs_siphash(inner, all, at + n);
    }
    for (size_t from = 0; from < n; from += MRS_SECRET_BLOCK) {
        size_t block = n - from < MRS_SECRET_BLOCK ? n - from : MRS_SECRET_BLOCK;
        uint8_t padded[MRS_SECRET_BLOCK] = {0};
        memcpy(padded, p + from, block);
        for (size_t pass = 0; pass < 2; pass++) {
            unsigned __int128 sum = 0;
            for (size_t i = 0; i < (block + 15) / 16 * 2; i += 2) {
                uint64_t a = mrs_le64(padded + 8 * i) + secret.nh[2 * pass + i];
                uint64_t b = mrs_le64(padded + 8 * i + 8) + secret.nh[2 * pass + i + 1];
                sum += (unsigned __int128)a * b;
            }
            mrs_put64(all + at, (uint64_t)sum);
            mrs_put64(all + at + 8, (uint64_t)(sum >> 64));
            at += 16;
        }
    }
    return mrs_siphash(inner, all, at);
}

static void
any_length(void **state)
{
    uint8_t *p = calloc(MOST + 1, 1);
    (void)state;
    assert_non_null(p);
    for (size_t i = 0; i < MOST; i++) {
        p[i] = (uint8_t)(i * i >> 3 ^ i);
    }
    for (size_t n = 0; n < MOST; n += n < 300 ? 1 : n % 1024 < 40 ? 1 : 97) {
        struct mrs_hash128 h = mrs_hash_secret(&secret, 5, p, n);
        assert_true(same(h, written_down_again(5, p, n)));
        assert_false(same(h, mrs_hash_secret(&secret, 6, p, n)));
        assert_false(same(h, mrs_hash_secret(&secret, 5, p, n + 1)));
        for (size_t at = 0; at < n; at += n < 100 ? 1 : 61) {
            p[at] ^= (uint8_t)(1 << at % 8);
            assert_false(same(h, mrs_hash_secret(&secret, 5, p, n)));
            p[at] ^= (uint8_t)(1 << at % 8);
        }
    }
    memset(p, 0, MOST); /* zeros at the end of a text are a part of it */
    for (size_t n = 1; n < MOST; n += 13) {
        assert_false(same(mrs_hash_secret(&secret, 0, p, n), mrs_hash_secret(&secret, 0, p, n - 1)));
    }
    free(p);
}

/* The low half of a word is that of XXH3's secret, so its product with the high half is 0; the high halves, which are
 * added as well, have one sum. */
static void
taken_for_one_by_xxh3(void **state)
{
    enum { N = 300, STRIPE = 64 };
    uint8_t p[2][N];
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        memset(p[k], 'x', N);
        for (size_t s = 1; s <= 2; s++) {
            memcpy(p[k] + s * STRIPE, XXH3_kSecret + 8 * s, 4);
            mrs_put32(p[k] + s * STRIPE + 4, s == 1 ? 1000 + k : 1000 - k);
        }
    }
    assert_memory_not_equal(p[0], p[1], N);
    assert_true(same(mrs_hash(p[0], N, 0), mrs_hash(p[1], N, 0)));
    assert_false(same(mrs_hash_secret(&secret, 0, p[0], N), mrs_hash_secret(&secret, 0, p[1], N)));
    struct mrs_salt salt;
    mrs_salt_make(&salt, key);
    assert_false(same(mrs_hash_salted(&salt, p[0], N), mrs_hash_salted(&salt, p[1], N)));
}

/* Fields of two documents that change places, or a pair of blocks, leave no sum as it was. */
static void
sums(void **state)
{
    uint8_t p[4][2200];
    struct mrs_hash_sum one = {0, 0}, two = {0, 0};
    (void)state;
    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        memset(p[i], 7, sizeof *p);
        mrs_put64(p[i] + 160, i % 2 ? 111 : 222);
        mrs_put64(p[i] + 1600, (i < 2 ? i : 3 - i) % 2 ? 333 : 444);
    }
    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        struct mrs_hash128 h = mrs_hash_secret(&secret, 0, p[i], sizeof *p);
        mrs_hash_sum_add(i < 2 ? &one : &two, h.lo, h.hi);
    }
    assert_memory_not_equal(&one, &two, sizeof one);
    memcpy(p[1], p[0], sizeof *p);
    memcpy(p[1], p[0] + 1024, 1024);
    memcpy(p[1] + 1024, p[0], 1024);
    assert_false(same(mrs_hash_secret(&secret, 0, p[0], sizeof *p), mrs_hash_secret(&secret, 0, p[1], sizeof *p)));
}

/* Another secret, other hashes: of none can be said anything without it. */
static void
secrets(void **state)
{
    struct mrs_secret other;
    uint8_t near[MRS_SECRET];
    (void)state;
    memcpy(near, key, sizeof near);
    near[15] ^= 0x80;
    mrs_secret_expand(&other, near);
    for (size_t n = 0; n < 200; n++) {
        uint8_t p[200] = {0};
        assert_false(same(mrs_hash_secret(&secret, 0, p, n), mrs_hash_secret(&other, 0, p, n)));
    }
    for (size_t i = 0; i < sizeof secret.nh / 8; i++) {
        assert_int_not_equal(secret.nh[i], other.nh[i]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(siphash_vectors), cmocka_unit_test(any_length),
                                       cmocka_unit_test(taken_for_one_by_xxh3), cmocka_unit_test(sums),
                                       cmocka_unit_test(secrets)};
    for (size_t i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)(17 * i + 3);
    }
    mrs_secret_expand(&secret, key);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

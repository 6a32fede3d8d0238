/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - equality and order of values as in MongoDB (server 8.2; reference: the manual's comparison order and
 * value.cpp).
 *
 * Two implementations of one order: mrs_compare, and mrs_key_append, which writes bytes whose memcmp order (shorter
 * prefix first) is the same, so that keys can be hashed, stored, sorted and compared without decoding. Equal values
 * have equal keys: int32 1 = int64 1 = double 1.0 = decimal 1.00; -0.0 = 0.0; NaN = NaN of any type; symbol = string.
 * No recursion over nested values. Threads: pure functions. */
#ifndef MONGORESHAPE_VALUE_H
#define MONGORESHAPE_VALUE_H

#include "mongoreshape/doc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Canonical order of two values, missing included (rank 0, with undefined, below null): <0, 0, >0. */
int mrs_compare(struct mrs_val a, struct mrs_val b);
/* Same type and the same bytes. */
static inline bool
mrs_identical(struct mrs_val a, struct mrs_val b)
{
    return a.type == b.type && a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
/* Rank of a type in the canonical order (MinKey -1, missing 0, null 5, numbers 10, ... MaxKey 127). */
int mrs_type_rank(uint8_t type);
/* The name that `$type` returns ("missing", "double", "objectId", "long", ...). */
const char *mrs_type_name(uint8_t type);

/* Appends the order-preserving key of v to out; descending: the same bytes complemented. Self-delimiting: the keys of
 * several values may be concatenated and still compare as a tuple. Bytes over out->ceiling: bad (set the ceiling of
 * buffers to MRS_KEY_MAX). */
void mrs_key_append(struct mrs_buf *out, struct mrs_val v, bool descending);
/* The ascending key of a date, for callers with many of them: writes MRS_KEY_DATE bytes to `to`. */
/* rank: of mrs_type_rank; KEY_RANK is added to it in keys */
enum { MRS_KEY_DATE = 9, MRS_DATE_RANK = 45, MRS_KEY_RANK = 16 };
static inline void
mrs_key_date(uint8_t *to, int64_t ms)
{
    to[0] = MRS_KEY_RANK + MRS_DATE_RANK;
    mrs_put64(to + 1, __builtin_bswap64((uint64_t)ms ^ 1ull << 63));
}
/* The same bytes for a document built on the fly: open, its fields in their order, close. */
void mrs_key_open(struct mrs_buf *out);
void mrs_key_field(struct mrs_buf *out, const char *name, uint32_t name_len, struct mrs_val v);
void mrs_key_close(struct mrs_buf *out);

/* 128 bits of XXH3 with a seed. With the seed, and for long texts without it, an attacker can construct two texts with
 * one hash. Use it for lookup, checksums and ids of the contract, never as proof of equality. */
struct mrs_hash128 {
    uint64_t lo, hi;
};
struct mrs_hash128 mrs_hash(const void *p, size_t n, uint64_t seed);
/* mrs_hash with a salt, at less cost: for digests, which detect damaged documents, not documents that an attacker who
 * knows the salt changed on purpose. NULL: the seed 0. */
enum { MRS_SALT = 16 };
struct mrs_salt {
    uint8_t bytes[192]; /* the secret of XXH3, which replaces its own */
};
void mrs_salt_make(struct mrs_salt *s, const uint8_t of[MRS_SALT]);
struct mrs_hash128 mrs_hash_salted(const struct mrs_salt *s, const void *p, size_t n);
/* 64 bits of it (different from those above), at a third of the cost. */
uint64_t mrs_hash64(const void *p, size_t n, uint64_t seed);

/* A hash that may prove equality: without the secret nobody can construct two inputs with the same 128 bits, and by
 * chance 2^40 inputs have a collision with probability 2^-49 (secret.c proves it). Both hashes may also be summed. */
enum { MRS_SECRET = 16, MRS_SECRET_BLOCK = 1024 };
struct mrs_secret {
    uint64_t sip[4];                           /* the initial state of SipHash */
    uint64_t nh[MRS_SECRET_BLOCK / 8 + 2];     /* a word for each word of a block, and two for its second sum */
    uint64_t seed;                             /* of hashes for lookup only */
};
void mrs_secret_expand(struct mrs_secret *s, const uint8_t secret[MRS_SECRET]);
/* what: < 2^24, the kind of the input: inputs of different kinds are never equal. n: < 2^40. */
struct mrs_hash128 mrs_hash_secret(const struct mrs_secret *s, uint32_t what, const void *p, size_t n);
/* SipHash-2-4 with 128 bits. */
struct mrs_hash128 mrs_siphash(const uint8_t secret[MRS_SECRET], const void *p, size_t n);

/* 64 bits of XXH64 over bytes added in pieces, however they are cut. end may be called in between. */
struct mrs_hash_run {
    uint64_t room[11];
};
void mrs_hash_run_begin(struct mrs_hash_run *r);
void mrs_hash_run_add(struct mrs_hash_run *r, const void *p, size_t n);
uint64_t mrs_hash_run_end(const struct mrs_hash_run *r);

/* Sum of the hashes (seed 0) of documents: an order-free digest; two equal documents do not cancel out. */
struct mrs_hash_sum {
    uint64_t lo, hi;
};
static inline void
mrs_hash_sum_add(struct mrs_hash_sum *s, uint64_t lo, uint64_t hi)
{
    uint64_t before = s->lo;
    s->lo += lo;
    s->hi += hi + (s->lo < before);
}
static inline void
mrs_hash_sum_take(struct mrs_hash_sum *s, const struct mrs_hash_sum *part) /* Subtracts a part of a sum. */
{
    s->hi -= part->hi + (s->lo < part->lo);
    s->lo -= part->lo;
}

/* A new id (PLAN-DETAILS.md section 1): 4 bytes `time_secs` big-endian, then the first 8 bytes of the canonical
 * big-endian XXH3-128 (seed 0) of the BSON document {ns, from, key, path, pos}. key: normalized here as that page
 * specifies; path: any value; pos: n int64. scratch: any buffer of the caller, overwritten: afterwards it contains that
 * document. id: 12 bytes. OK, or DEAD/FAIL as mrs_buf_status. */
struct mrs_new_id {
    const char *ns, *from;
    struct mrs_val key, path;
    const int64_t *pos;
    uint32_t n_pos;
    uint32_t time_secs;
};
enum mrs_status mrs_id_make(const struct mrs_new_id *in, struct mrs_buf *scratch, uint8_t id[12], struct mrs_err *e);
/* Ids that differ in the last position only (n_pos > 0). made, id: as mrs_id_make or this function left them. same: the
 * common part of their hashes; the caller zeroes it after each mrs_id_make on made, and only then. */
struct mrs_id_same {
    struct mrs_hash128 sums;
    uint32_t rounds;
};
void mrs_id_again(struct mrs_buf *made, struct mrs_id_same *same, int64_t last, uint8_t id[12]);

/* ---- numbers (decimal128 by libintelrdfpmath, BID as in BSON) ---- */
/* [+-]digits[.digits][e[+-]digits], inf, infinity, nan in any case. exact: FAIL if a digit would be lost; else digits
 * after the 34th are cut, as the server does. FAIL MRS_E_FORMAT: not a number, too large, too small. */
enum mrs_status mrs_decimal_from_text(const char *text, uint32_t n, bool exact, uint8_t out[16], struct mrs_err *e);
uint32_t mrs_decimal_to_text(const uint8_t dec[16], char text[48]); /* in the form of Extended JSON; returns length */
/* Shortest text that reads back ("0.1", "5e-324", "1e+16", "NaN", "Infinity", "3" for 3.0): `$toString`, 8.2.
 * Returns length. */
uint32_t mrs_double_to_text(double d, char text[40]);
/* An integral number of any type that fits int64; false: not a number, not integral or out of range. */
bool mrs_val_integral(struct mrs_val v, int64_t *out);

#ifdef __cplusplus
}
#endif
#endif

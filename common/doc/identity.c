/* SPDX-License-Identifier: Apache-2.0 */
/* identity.c - hashes, and ids that are the same in every engine and every rerun.
 *
 * A new id is a hash of the origin of a document: {ns, from, key, path, pos} as BSON. Numbers inside key are normalized
 * first, so that a key read as 1 here and as 1.0 there gives one id. The copy of key is made with the builder and a
 * stack of walks as deep as the builder goes. It must not know steps: they fill the five fields. Of ids of one document
 * only the difference is hashed, with the inner functions of xxhash.h (of 0.8, compared with the outer ones by
 * t_value.c). */
#include "decimal.h"
#include "hash_long.h"
#include "doc_internal.h"

#include "mongoreshape/value.h"

#include <math.h>
#define XXH_INLINE_ALL /* short keys and documents are hashed by the million */
#include <xxhash.h>

struct mrs_hash128
mrs_hash(const void *p, size_t n, uint64_t seed)
{
    MRS_ASSERT(p || n == 0);
#if MRSI_HASH_WIDE
    if (n > MRSI_HASH_LONG && __builtin_cpu_supports("avx2")) {
        return mrsi_hash_wide(p, n, seed);
    }
#endif
    XXH128_hash_t x = XXH3_128bits_withSeed(p, n, seed);
    struct mrs_hash128 h = {x.low64, x.high64};
    return h;
}

enum { SALTS = 1 << 16 };

void
mrs_salt_make(struct mrs_salt *s, const uint8_t of[MRS_SALT])
{
    uint8_t no[4];
    struct mrs_hash128 h;
    for (uint32_t i = 0; i < sizeof s->bytes; i += sizeof h) {
        mrs_put32(no, SALTS + i); /* different from those of mrs_secret_expand, as the bytes may be the same */
        h = mrs_siphash(of, no, sizeof no);
        mrs_put64(s->bytes + i, h.lo);
        mrs_put64(s->bytes + i + 8, h.hi);
    }
}

struct mrs_hash128
mrs_hash_salted(const struct mrs_salt *s, const void *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    if (!s) {
        return mrs_hash(p, n, 0);
    }
#if MRSI_HASH_WIDE
    if (n > MRSI_HASH_LONG && __builtin_cpu_supports("avx2")) {
        return mrsi_hash_wide_salted(p, n, s->bytes, sizeof s->bytes);
    }
#endif
    XXH128_hash_t x = XXH3_128bits_withSecret(p, n, s->bytes, sizeof s->bytes);
    struct mrs_hash128 h = {x.low64, x.high64};
    return h;
}

uint64_t
mrs_hash64(const void *p, size_t n, uint64_t seed)
{
    MRS_ASSERT(p || n == 0);
    return XXH3_64bits_withSeed(p, n, seed);
}

/* The state is copied in and out: an access as another type would break aliasing rules, and a compiler could reorder
 * writes of one type and reads of the other. */
_Static_assert(sizeof(XXH64_state_t) == sizeof(struct mrs_hash_run), "room of a hash");

void
mrs_hash_run_begin(struct mrs_hash_run *r)
{
    XXH64_state_t state;
    memset(&state, 0, sizeof state);
    XXH64_reset(&state, 0);
    memcpy(r, &state, sizeof *r);
}

void
mrs_hash_run_add(struct mrs_hash_run *r, const void *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    XXH64_state_t state;
    if (n) {
        memcpy(&state, r, sizeof state);
        XXH64_update(&state, p, n);
        memcpy(r, &state, sizeof *r);
    }
}

uint64_t
mrs_hash_run_end(const struct mrs_hash_run *r)
{
    XXH64_state_t state;
    memcpy(&state, r, sizeof state);
    return XXH64_digest(&state);
}

static struct mrs_val
shortest_decimal(const uint8_t *p, uint8_t room[16])
{
    struct mrsi_dec d = mrsi_dec_parts(p);
    while (d.coef && d.coef % 10 == 0 && d.exp < MRSI_DEC_EXP_MAX) {
        d.coef /= 10;
        d.exp++;
    }
    mrsi_dec_pack(&d, room);
    struct mrs_val v = {room, 16, MRS_DECIMAL128};
    return v;
}

/* The normalized form of a number; other values unchanged, symbols as strings. */
static struct mrs_val
normal(struct mrs_val v, uint8_t room[16])
{
    MRS_ASSERT(mrs_val_is_sized(v));
    int64_t i;
    bool exact = true;
    if (v.type == MRS_SYMBOL) {
        v.type = MRS_STRING;
    }
    if (!mrs_is_number(v)) {
        return v;
    }
    if (mrs_val_integral(v, &i)) {
        return mrs_make_i64(room, i, MRS_INT64);
    }
    double d;
    if (v.type == MRS_DOUBLE) {
        d = mrs_val_double(v);
    } else {
        struct mrsi_dec parts = mrsi_dec_parts(v.p);
        d = parts.nan ? NAN : parts.infinite ? (parts.negative ? -INFINITY : INFINITY) : mrsi_dec_floor(v.p, &exact);
    }
    if (!exact) {
        return shortest_decimal(v.p, room);
    }
    if (isnan(d)) {
        mrs_make_i64(room, 0x7ff8000000000000, MRS_INT64);
        struct mrs_val nan = {room, 8, MRS_DOUBLE};
        return nan;
    }
    return mrs_make_double(room, d);
}

static void
put_key(struct mrs_build *b, const char *name, uint32_t name_len, struct mrs_val key)
{
    MRS_ASSERT(mrs_val_is_sized(key));
    struct mrs_walk stack[MRS_DEPTH_MAX + 2];
    struct mrs_elem e;
    uint8_t room[16];
    int depth = 0;
    e.name = name;
    e.name_len = name_len;
    e.v = key.type == MRS_MISSING ? mrs_null() : key;
    for (;;) {
        if (e.v.type != MRS_DOCUMENT && e.v.type != MRS_ARRAY) {
            mrs_build_val(b, e.name, e.name_len, normal(e.v, room));
        } else if (depth == MRS_DEPTH_MAX + 2) {
            b->too_deep = true;
        } else {
            mrs_build_open(b, e.name, e.name_len, e.v.type);
            mrs_walk_init(&stack[depth++], mrs_val_view(e.v));
        }
        while (depth > 0 && mrs_walk_next(&stack[depth - 1], &e) <= 0) {
            mrs_build_close(b);
            depth--;
        }
        if (depth == 0) {
            return;
        }
    }
}

static void
put_hash(struct mrs_view d, uint8_t id[12])
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_hash128 h = mrs_hash(d.p, d.n, 0);
    mrs_put64(id + 4, __builtin_bswap64(h.hi));
}

enum mrs_status
mrs_id_make(const struct mrs_new_id *in, struct mrs_buf *scratch, uint8_t id[12], struct mrs_err *e)
{
    MRS_ASSERT(in->ns && in->from && (in->pos || in->n_pos == 0));
    struct mrs_build b;
    struct mrs_view d;
    uint8_t room[16];
    mrs_buf_reset(scratch);
    mrs_build_init(&b, scratch);
    mrs_build_text(&b, "ns", in->ns, (uint32_t)strlen(in->ns));
    mrs_build_text(&b, "from", in->from, (uint32_t)strlen(in->from));
    put_key(&b, "key", 3, in->key);
    mrs_build_val(&b, "path", 4, in->path.type == MRS_MISSING ? mrs_null() : in->path);
    mrs_build_open(&b, "pos", 3, MRS_ARRAY);
    for (uint32_t i = 0; i < in->n_pos; i++) {
        mrs_build_item(&b, mrs_make_i64(room, in->pos[i], MRS_INT64));
    }
    mrs_build_close(&b);
    MRS_TRY(mrs_build_finish(&b, &d, e));
    mrs_put32(id, __builtin_bswap32(in->time_secs));
    put_hash(d, id);
    return MRS_OK;
}

/* ---- ids that differ in their last position ---- */
enum {
    FROM_END = 8 + 2,           /* the last position, the ends of its array and of the document */
    MIDDLE_LEAST = 129,         /* from here to MRSI_HASH_LONG XXH3 mixes 32 bytes a round into two sums, */
    ROUND = 32,                 /* and the last 32 bytes, which may overlap a round, once more */
    ROUNDS_FIRST = 4,           /* before the sums are mixed; after that the secret starts over */
    SECRET_BEHIND = 3,          /* that many bytes after its start */
    SECRET_LAST = 136 - 17 - 16 /* offset of the part for the last 32 bytes */
};

static XXH128_hash_t
more_rounds(XXH128_hash_t sums, struct mrs_view d, uint32_t from, uint32_t to)
{
    MRS_ASSERT(from <= to && (size_t)to * ROUND <= d.n);
    for (uint32_t i = from; i < to; i++) {
        const uint8_t *p = d.p + (size_t)i * ROUND;
        uint32_t at = i < ROUNDS_FIRST ? i * ROUND : SECRET_BEHIND + (i - ROUNDS_FIRST) * ROUND;
        sums = XXH128_mix32B(sums, p, p + ROUND / 2, XXH3_kSecret + at, 0);
        if (i == ROUNDS_FIRST - 1) {
            sums.low64 = XXH3_avalanche(sums.low64);
            sums.high64 = XXH3_avalanche(sums.high64);
        }
    }
    return sums;
}

/* The rounds of all complete 32 bytes; those before the last position are done once. */
static inline XXH128_hash_t
all_rounds(struct mrs_buf *made, struct mrs_id_same *same, uint64_t last)
{
    struct mrs_view d = {made->p, (uint32_t)made->n};
    if (!same->rounds) {
        same->rounds = (d.n - FROM_END) / ROUND;
        XXH128_hash_t first = more_rounds((XXH128_hash_t){d.n * XXH_PRIME64_1, 0}, d, 0, same->rounds);
        same->sums = (struct mrs_hash128){first.low64, first.high64};
    }
    XXH128_hash_t sums = {same->sums.lo, same->sums.hi};
    if (same->rounds < d.n / ROUND) {
        mrs_put64(made->p + d.n - FROM_END, last);
        sums = more_rounds(sums, d, same->rounds, d.n / ROUND);
    }
    return sums;
}

/* The upper half of XXH3-128, seed 0, of 129 to 240 bytes (the algorithm: doc/xxhash_spec.md of xxHash 0.8), of which
 * only the last position differs from the call before. The last 16 bytes are composed here, since loads of partly
 * stored bytes stall. */
static inline uint64_t
hash_again(struct mrs_buf *made, struct mrs_id_same *same, uint64_t last)
{
    const uint8_t *end = made->p + made->n, *secret = XXH3_kSecret + SECRET_LAST;
    uint64_t a = mrs_le64(end - FROM_END - 8) >> 16 | last << 48, b = last >> 16;
    XXH128_hash_t sums = all_rounds(made, same, last);
    sums.low64 += XXH3_mul128_fold64(a ^ mrs_le64(secret), b ^ mrs_le64(secret + 8));
    sums.low64 ^= mrs_le64(end - ROUND) + mrs_le64(end - ROUND + 8);
    sums.high64 += XXH3_mix16B(end - ROUND, secret + 16, 0);
    sums.high64 ^= a + b;
    return 0 - XXH3_avalanche(sums.low64 * XXH_PRIME64_1 + sums.high64 * XXH_PRIME64_4 + made->n * XXH_PRIME64_2);
}

void
mrs_id_again(struct mrs_buf *made, struct mrs_id_same *same, int64_t last, uint8_t id[12])
{
    MRS_ASSERT(!made->bad && made->n >= MRS_DOC_MIN);
    if (made->n < MIDDLE_LEAST || made->n > MRSI_HASH_LONG) {
        mrs_put64(made->p + made->n - FROM_END, (uint64_t)last);
        put_hash((struct mrs_view){made->p, (uint32_t)made->n}, id);
    } else {
        mrs_put64(id + 4, __builtin_bswap64(hash_again(made, same, (uint64_t)last)));
    }
}

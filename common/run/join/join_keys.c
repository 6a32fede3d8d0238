/* SPDX-License-Identifier: Apache-2.0 */
/* join_keys.c - the keys of a document, as 16 bytes each.
 *
 * With several pairs in `match` a document may have several keys in each. The first pair, and every pair in which all
 * documents of `into` have one key, are hashed together; the others are compared afterwards (verified). So the product
 * of two arrays of an into document is never built, and a pair with few different values (a tenant) does not send all
 * records to one partition. Only a few combinations are built for a from document: beyond that, pairs in which it has
 * several keys are compared afterwards as well. */
#include "join.h"
#include "mongoreshape/join_ops.h"

enum { COMBINATIONS_MAX = 32 }; /* for a from document, unless the first pair alone has more */

void
mrsi_hashed_init(struct mrsi_hashed *h, struct mrs_mem *mem)
{
    mrs_buf_init(&h->list, mem, SIZE_MAX);
    mrs_buf_init(&h->same, mem, SIZE_MAX);
    mrs_buf_init(&h->verify, mem, SIZE_MAX);
    mrs_buf_init(&h->bytes, mem, SIZE_MAX);
    mrs_buf_init(&h->set, mem, SIZE_MAX);
}

void
mrsi_hashed_clear(struct mrsi_hashed *h)
{
    mrs_buf_clear(&h->list);
    mrs_buf_clear(&h->same);
    mrs_buf_clear(&h->verify);
    mrs_buf_clear(&h->bytes);
    mrs_buf_clear(&h->set);
}

static struct mrsi_key
key_of(const uint8_t *p, size_t n, const struct mrs_secret *secret)
{
    uint8_t raw[16] = {0};
    struct mrsi_key k;
    if (n <= 15) {
        if (n) {
            memcpy(raw, p, n);
        }
        raw[15] = (uint8_t)n;
        memcpy(&k, raw, 16);
    } else {
        struct mrs_hash128 h = mrs_hash_secret(secret, 0, p, n);
        k.a = h.lo;
        k.b = h.hi | 0xFF00000000000000ull;
    }
    return k;
}

static void
put_bytes(struct mrsi_hashed *h, const struct mrs_keys *k, uint32_t i, bool first)
{
    MRS_ASSERT(i < k->n);
    if (first) {
        mrs_buf_byte(&h->bytes, k->span[i].kind);
    }
    mrs_buf_put(&h->bytes, k->bytes.p + k->span[i].off, k->span[i].len);
}

/* Key i of the first pair, if only that is hashed; h->bytes may be bad then. */
static struct mrsi_key
single_key(const struct mrsi_join_run *j, const struct mrs_keys *k, uint32_t i, struct mrsi_hashed *h)
{
    MRS_ASSERT(i < k->n && j->n_hashed == 1);
    uint32_t n = k->span[i].len;
    struct mrsi_key key;
    if (n < 15) {
        uint8_t raw[16] = {k->span[i].kind};
        memcpy(raw + 1, k->bytes.p + k->span[i].off, n);
        raw[15] = (uint8_t)(n + 1);
        memcpy(&key, raw, sizeof raw);
        return key;
    }
    mrs_buf_reset(&h->bytes);
    put_bytes(h, k, i, true);
    return key_of(h->bytes.p, h->bytes.n, &j->en->secret);
}

/* Key i of a hashed pair other than the first; MRSI_NONE: none; several: sets j->multi (into only). */
static uint32_t
next_of_pair(const struct mrs_keys *k, uint32_t pair, uint32_t from)
{
    while (from < k->n && k->span[from].pair != pair) {
        from++;
    }
    return from < k->n ? from : MRSI_NONE;
}

static void
put_verify(struct mrsi_join_run *j, const struct mrs_keys *k, struct mrsi_hashed *h)
{
    for (uint32_t i = 0; i < k->n; i++) {
        bool hashed = __atomic_load_n(&j->is_hashed[k->span[i].pair], __ATOMIC_RELAXED); /* others may clear it now */
        if (!hashed) {
            struct mrsi_key key = key_of(k->bytes.p + k->span[i].off, k->span[i].len, &j->en->secret);
            struct mrsi_verify v = {key, k->span[i].pair, 0};
            mrs_buf_put(&h->verify, &v, sizeof v);
        }
    }
}

/* The index of the first entry in list with this key; n if it is new. Documents with many keys use a hash set of
 * indexes. */
static uint32_t
first_equal(struct mrsi_hashed *h, struct mrsi_key key, uint32_t n, uint32_t slots)
{
    MRS_ASSERT((slots & (slots - 1)) == 0);
    const struct mrsi_logged *l = (const struct mrsi_logged *)(const void *)h->list.p;
    uint32_t *set = (uint32_t *)(void *)h->set.p;
    if (!slots) {
        uint32_t i = 0;
        while (i < n && (l[i].key.a != key.a || l[i].key.b != key.b)) {
            i++;
        }
        return i;
    }
    uint32_t at = (uint32_t)((key.a ^ key.b * 0xC2B2AE3D27D4EB4Full) * 0x9E3779B97F4A7C15ull >> 40) & (slots - 1);
    while (set[at] && (l[set[at] - 1].key.a != key.a || l[set[at] - 1].key.b != key.b)) {
        at = (at + 1) & (slots - 1);
    }
    if (!set[at]) {
        set[at] = n + 1;
        return n;
    }
    return set[at] - 1;
}

static uint32_t
begin_set(struct mrsi_hashed *h, uint32_t n)
{
    uint32_t slots = 32;
    if (n <= 8) {
        return 0;
    }
    while (slots < n * 2) {
        slots *= 2;
    }
    mrs_buf_reset(&h->set);
    uint8_t *p = mrs_buf_take(&h->set, slots * sizeof(uint32_t));
    if (!p) {
        return 0;
    }
    memset(p, 0, slots * sizeof(uint32_t));
    return slots;
}

/* The keys of the other hashed pairs, one each; false: a pair has none, or more than one (into: multi). */
static bool
others_of_into(struct mrsi_join_run *j, const struct mrs_keys *k, uint32_t other[8])
{
    for (uint32_t p = 1; p < j->n_hashed; p++) {
        other[p] = next_of_pair(k, j->hashed[p], 0);
        if (other[p] == MRSI_NONE) {
            return false;
        }
        if (next_of_pair(k, j->hashed[p], other[p] + 1) != MRSI_NONE) {
            __atomic_store_n(&j->multi, true, __ATOMIC_RELAXED);
            __atomic_store_n(&j->is_hashed[j->hashed[p]], false, __ATOMIC_RELAXED);
            return false;
        }
    }
    return true;
}

static struct mrsi_key
into_key(const struct mrsi_join_run *j, const struct mrs_keys *k, uint32_t i, const uint32_t other[8],
         struct mrsi_hashed *h)
{
    MRS_ASSERT(i < k->n && k->span[i].pair == 0);
    if (j->n_hashed == 1) {
        return single_key(j, k, i, h);
    }
    mrs_buf_reset(&h->bytes);
    put_bytes(h, k, i, true);
    for (uint32_t p = 1; p < j->n_hashed; p++) {
        put_bytes(h, k, other[p], false);
    }
    return key_of(h->bytes.p, h->bytes.n, &j->en->secret);
}

static enum mrs_status
hash_into(struct mrsi_join_run *j, const struct mrs_keys *k, struct mrsi_hashed *h, struct mrs_err *e)
{
    uint32_t other[8], n = 0, slots = begin_set(h, k->n);
    bool usable = others_of_into(j, k, other);
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t same = i;
        if (k->span[i].pair == 0 && usable) {
            struct mrsi_logged l = {into_key(j, k, i, other, h), 0, i, 0};
            uint32_t at = first_equal(h, l.key, n, slots);
            if (at == n) {
                mrs_buf_put(&h->list, &l, sizeof l);
                n++;
            } else {
                same = ((const struct mrsi_logged *)(const void *)h->list.p)[at].ref;
            }
            if (h->bytes.bad || h->list.bad) {
                return mrs_err_memory(e, k->n);
            }
        }
        mrs_buf_put(&h->same, &same, sizeof same);
    }
    return mrs_buf_status(&h->same, e);
}

/* Has a from document few combinations? If not, the pairs in which it has most keys are removed from the hash, and both
 * sides must be read again (j->multi). */
static bool
few_combinations(struct mrsi_join_run *j, const struct mrs_keys *k)
{
    MRS_ASSERT(j->n_hashed > 1);
    uint32_t count[8] = {0};
    uint64_t product = 1;
    for (uint32_t i = 0; i < k->n; i++) {
        for (uint32_t p = 1; p < j->n_hashed; p++) {
            count[p] += k->span[i].pair == j->hashed[p];
        }
    }
    for (uint32_t p = 1; p < j->n_hashed; p++) {
        product = product * count[p] < UINT32_MAX ? product * count[p] : UINT32_MAX;
    }
    if (product <= COMBINATIONS_MAX) {
        return true;
    }
    while (product > COMBINATIONS_MAX) {
        uint32_t most = 1;
        product = 1;
        for (uint32_t p = 2; p < j->n_hashed; p++) {
            most = count[p] > count[most] ? p : most;
        }
        count[most] = 1;
        __atomic_store_n(&j->is_hashed[j->hashed[most]], false, __ATOMIC_RELAXED);
        for (uint32_t p = 1; p < j->n_hashed; p++) {
            product = product * count[p] < UINT32_MAX ? product * count[p] : UINT32_MAX;
        }
    }
    __atomic_store_n(&j->multi, true, __ATOMIC_RELAXED);
    return false;
}

/* Builds all combinations of a from document: an odometer over the hashed pairs. */
static enum mrs_status
hash_from(struct mrsi_join_run *j, const struct mrs_keys *k, struct mrsi_hashed *h, struct mrs_err *e)
{
    uint32_t at[8];
    if (j->n_hashed > 1 && !few_combinations(j, k)) {
        return MRS_OK;
    }
    for (uint32_t p = 0; p < j->n_hashed; p++) {
        at[p] = next_of_pair(k, j->hashed[p], 0);
        if (at[p] == MRSI_NONE) {
            return MRS_OK;
        }
    }
    for (;;) {
        mrs_buf_reset(&h->bytes);
        for (uint32_t p = 0; p < j->n_hashed; p++) {
            put_bytes(h, k, at[p], p == 0);
        }
        if (h->bytes.bad) {
            return mrs_buf_status(&h->bytes, e);
        }
        struct mrsi_logged l = {key_of(h->bytes.p, h->bytes.n, &j->en->secret), 0, 0, 0};
        mrs_buf_put(&h->list, &l, sizeof l);
        uint32_t p = j->n_hashed;
        while (p > 0) {
            p--;
            at[p] = next_of_pair(k, j->hashed[p], at[p] + 1);
            if (at[p] != MRSI_NONE) {
                break;
            }
            if (p == 0) {
                return mrs_buf_status(&h->list, e);
            }
            at[p] = next_of_pair(k, j->hashed[p], 0);
        }
    }
}

/* The usual case: one pair, one key. */
static enum mrs_status
hash_one(struct mrsi_join_run *j, const struct mrs_keys *k, bool into, struct mrsi_hashed *h, struct mrs_err *e)
{
    struct mrsi_logged *l = (struct mrsi_logged *)(void *)mrs_buf_take(&h->list, sizeof *l);
    if (!l) {
        return mrs_buf_status(&h->list, e);
    }
    *l = (struct mrsi_logged){single_key(j, k, 0, h), 0, 0, 0};
    if (into) {
        mrs_buf_put(&h->same, &l->ref, sizeof l->ref);
    }
    return h->bytes.bad ? mrs_buf_status(&h->bytes, e) : mrs_buf_status(&h->same, e);
}

enum mrs_status
mrsi_hash_keys(struct mrsi_join_run *j, struct mrsi_worker *w, bool into, struct mrsi_hashed *h, struct mrs_err *e)
{
    MRS_ASSERT(j->n_hashed > 0 && j->n_hashed <= j->st->desc.n_pairs);
    mrs_buf_reset(&h->list);
    mrs_buf_reset(&h->same);
    mrs_buf_reset(&h->verify);
    if (w->keys.n == 0) {
        return MRS_OK;
    }
    if (w->keys.n == 1 && j->st->desc.n_pairs == 1) {
        return hash_one(j, &w->keys, into, h, e);
    }
    if (j->n_hashed < j->st->desc.n_pairs) {
        put_verify(j, &w->keys, h);
        if (h->verify.bad) {
            return mrs_buf_status(&h->verify, e);
        }
    }
    return into ? hash_into(j, &w->keys, h, e) : hash_from(j, &w->keys, h, e);
}

static bool
has_common_key(const struct mrsi_verify *a, size_t na, const struct mrsi_verify *b, size_t nb, uint32_t pair)
{
    for (size_t i = 0; i < na; i++) {
        for (size_t k = 0; a[i].pair == pair && k < nb; k++) {
            if (b[k].pair == pair && a[i].key.a == b[k].key.a && a[i].key.b == b[k].key.b) {
                return true;
            }
        }
    }
    return false;
}

bool
mrsi_verified(const struct mrsi_join_run *j, const struct mrsi_rec *r, const struct mrsi_hashed *into)
{
    const struct mrsi_verify *a = (const struct mrsi_verify *)(const void *)mrsi_rec_verify(r);
    const struct mrsi_verify *b = (const struct mrsi_verify *)(const void *)into->verify.p;
    for (uint32_t p = 0; p < j->st->desc.n_pairs; p++) {
        if (!j->is_hashed[p] && !has_common_key(a, r->verify_len / sizeof *a, b, into->verify.n / sizeof *b, p)) {
            return false;
        }
    }
    return true;
}

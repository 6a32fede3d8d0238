/* SPDX-License-Identifier: Apache-2.0 */
/* key_index.c - the keys that have any value of a path: with a thousand collections few pairs have common values.
 *
 * It only excludes keys with a complete sample; the others are open, and every path may refer to them. */
#include "lookups.h"
#include <stdlib.h>

enum { MOST = 1 << 20 }; /* hashes: 16 MiB; further keys are open */

static int
by_hash(const void *a, const void *b)
{
    const struct mrsi_key_hash *x = a, *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : x->key < y->key ? -1 : x->key > y->key;
}

static bool
is_mixed(const struct mrsi_path *p) /* integers in both forms: no single sample has them */
{
    return p->count.digits && p->count.n[MRSI_NUMBER];
}

static bool
is_closed(const struct mrsi_relating *x, const struct mrsi_path *key)
{
    return key->limit == UINT64_MAX && key->number_limit == UINT64_MAX && !is_mixed(key) && !mrsi_can_look_up(x, key);
}

static void
put(struct mrsi_key_hash *to, uint32_t *n, const uint64_t *hash, uint32_t hashes, uint32_t key)
{
    for (uint32_t i = 0; i < hashes; i++) {
        to[(*n)++] = (struct mrsi_key_hash){hash[i], key};
    }
}

enum mrs_status
mrsi_key_index_make(struct mrsi_relating *x, struct mrs_err *e)
{
    struct mrs_mem *mem = x->x->mem;
    uint32_t all = 0;
    x->open = mrs_zalloc(mem, x->keys + 1);
    for (uint32_t i = 0; x->open && i < x->keys; i++) {
        uint32_t its = x->key[i]->hashes + x->key[i]->number_hashes;
        x->open[i] = !is_closed(x, x->key[i]) || all + its > MOST;
        all += x->open[i] ? 0 : its;
    }
    x->key_hash = x->open ? mrs_alloc_array(mem, (size_t)all + 1, sizeof *x->key_hash) : NULL;
    MRS_TRY(mrs_allocated(x->key_hash, (size_t)all * sizeof *x->key_hash, e));
    for (uint32_t i = 0; i < x->keys; i++) {
        if (!x->open[i]) {
            put(x->key_hash, &x->key_hashes, x->key[i]->hash, x->key[i]->hashes, i);
            put(x->key_hash, &x->key_hashes, x->key[i]->number_hash, x->key[i]->number_hashes, i);
        }
    }
    if (x->key_hashes) {
        qsort(x->key_hash, x->key_hashes, sizeof *x->key_hash, by_hash);
    }
    return MRS_OK;
}

static void
mark(const struct mrsi_relating *x, const uint64_t *hash, uint32_t hashes, uint8_t *may)
{
    MRS_ASSERT(hash || hashes == 0);
    for (uint32_t i = 0; i < hashes; i++) {
        uint32_t lo = 0, hi = x->key_hashes;
        while (lo < hi) {
            uint32_t mid = lo + (hi - lo) / 2;
            if (x->key_hash[mid].hash < hash[i]) {
                lo = mid + 1;
            } else {
                hi = mid;
            }
        }
        for (; lo < x->key_hashes && x->key_hash[lo].hash == hash[i]; lo++) {
            may[x->key_hash[lo].key] = 1;
        }
    }
}

/* may: for each key; set if it may have values of the path. */
void
mrsi_key_index_find(const struct mrsi_relating *x, const struct mrsi_path *p, uint8_t *may)
{
    MRS_ASSERT(may);
    if (is_mixed(p)) {
        memset(may, 1, x->keys);
        return;
    }
    memcpy(may, x->open, x->keys);
    mark(x, p->hash, p->hashes, may);
    mark(x, p->number_hash, p->number_hashes, may);
}

void
mrsi_key_index_free(struct mrsi_relating *x)
{
    mrs_free(x->x->mem, x->open);
    mrs_free(x->x->mem, x->key_hash);
    x->open = NULL;
    x->key_hash = NULL;
    x->key_hashes = 0;
}

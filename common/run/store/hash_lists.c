/* SPDX-License-Identifier: Apache-2.0 */
/* hash_lists.c - lists that grow by chunks of large slabs, so that nothing is moved and the system provides huge
 * pages. */
#include "hash_lists.h"

#include "spill.h"

enum {
    FIRST = 15, /* hashes of a list's first chunk: short runs have few of each */
    CHUNK_MIN = 15,
    CHUNK_MAX = 511,
    SLAB_MIN = 64 << 10, /* has space for all first chunks */
    SLAB_MAX = 8 << 20
};

struct mrsi_hash_chunk {
    struct mrsi_hash_chunk *before;
    uint64_t hash[];
};

struct slab {
    uint8_t *p;
    size_t n;
};

static uint64_t
within(uint64_t x, uint64_t least, uint64_t most)
{
    return x < least ? least : x > most ? most : x;
}

enum mrs_status
mrsi_hashes_init(struct mrsi_hashes *h, struct mrs_mem *mem, uint64_t memory, struct mrs_err *e)
{
    memset(h, 0, sizeof *h);
    h->mem = mem;
    h->list = mrs_zalloc(mem, MRSI_HASH_LISTS * sizeof *h->list);
    h->chunk = (uint32_t)within(memory / MRSI_HASH_LISTS / 8 / 8, CHUNK_MIN + 1, CHUNK_MAX + 1) - 1;
    h->slab = (size_t)within(memory / 16, SLAB_MIN, SLAB_MAX);
    mrs_buf_init(&h->slabs, mem, SIZE_MAX);
    return mrs_allocated(h->list, MRSI_HASH_LISTS * sizeof *h->list, e);
}

static struct slab *
slab_at(const struct mrsi_hashes *h, uint32_t i)
{
    MRS_ASSERT(i < h->slabs.n / sizeof(struct slab));
    return (struct slab *)(void *)h->slabs.p + i;
}

void
mrsi_hashes_clear(struct mrsi_hashes *h)
{
    for (uint32_t i = 0; h->list && i < h->slabs.n / sizeof(struct slab); i++) {
        mrs_free(h->mem, slab_at(h, i)->p);
    }
    if (h->list) {
        mrs_buf_clear(&h->slabs);
        mrs_free(h->mem, h->list);
        h->list = NULL;
    }
}

static bool
add_slab(struct mrsi_hashes *h)
{
    struct slab s = {NULL, h->slabs.n ? h->slab : SLAB_MIN};
    s.p = mrs_alloc(h->mem, s.n);
    if (!s.p) {
        return false;
    }
    mrs_buf_put(&h->slabs, &s, sizeof s);
    if (h->slabs.bad) {
        mrs_free(h->mem, s.p);
        return false;
    }
    mrsi_advise_huge(s.p, s.n);
    return true;
}

/* NULL: out of memory. */
static struct mrsi_hash_chunk *
chunk_room(struct mrsi_hashes *h, size_t n)
{
    MRS_ASSERT(h->room <= h->room_end);
    if ((size_t)(h->room_end - h->room) < n) {
        if (h->used == h->slabs.n / sizeof(struct slab) && !add_slab(h)) {
            return NULL;
        }
        const struct slab *s = slab_at(h, h->used++);
        h->room = s->p;
        h->room_end = s->p + s->n;
    }
    struct mrsi_hash_chunk *c = (struct mrsi_hash_chunk *)(void *)h->room;
    h->room += n;
    return c;
}

static bool
more(struct mrsi_hashes *h, struct mrsi_hash_list *l)
{
    uint32_t n = l->last ? h->chunk : FIRST;
    struct mrsi_hash_chunk *c = chunk_room(h, sizeof *c + n * sizeof *c->hash);
    if (c) {
        c->before = l->last;
        *l = (struct mrsi_hash_list){c->hash, c->hash + n, c};
    }
    return c != NULL;
}

enum mrs_status
mrsi_hashes_put(struct mrsi_hashes *h, const uint64_t *hash, size_t n, struct mrs_err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct mrsi_hash_list *l = &h->list[hash[i] >> MRSI_HASH_TOP];
        if (l->at == l->end && !more(h, l)) {
            return mrs_err_memory(e, h->slab);
        }
        *l->at++ = hash[i];
    }
    return MRS_OK;
}

enum mrs_status
mrsi_hashes_gather(const struct mrsi_hashes *h, uint32_t list, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(list < MRSI_HASH_LISTS);
    const struct mrsi_hash_list *l = &h->list[list];
    size_t n = l->last ? (size_t)(l->at - l->last->hash) : 0;
    for (const struct mrsi_hash_chunk *c = l->last; c; c = c->before) {
        mrs_buf_put(out, c->hash, n * sizeof *c->hash);
        n = c->before && c->before->before ? h->chunk : FIRST;
    }
    return mrs_buf_status(out, e);
}

void
mrsi_hashes_drop(struct mrsi_hashes *h, uint32_t list)
{
    MRS_ASSERT(list < MRSI_HASH_LISTS);
    h->list[list] = (struct mrsi_hash_list){NULL, NULL, NULL};
}

void
mrsi_hashes_drop_all(struct mrsi_hashes *h)
{
    memset(h->list, 0, MRSI_HASH_LISTS * sizeof *h->list);
    h->used = 0;
    h->room = h->room_end = NULL;
}

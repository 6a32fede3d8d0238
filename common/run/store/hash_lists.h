/* SPDX-License-Identifier: Apache-2.0 */
/* hash_lists.h - many 64-bit hashes, in lists by their top bits; unordered within a list. */
#ifndef MRS_RUN_HASHES_H
#define MRS_RUN_HASHES_H

#include "store.h"

enum {
    MRSI_HASH_LISTS = 512,
    MRSI_HASH_TOP = 55 /* bits of a hash after those that select its list */
};

struct mrsi_hash_chunk; /* hash_lists.c */
struct mrsi_hashes {
    struct mrs_mem *mem;
    struct mrsi_hash_list {
        uint64_t *at, *end; /* of its last chunk: position of the next hash; both NULL: empty */
        struct mrsi_hash_chunk *last;
    } *list;
    uint32_t chunk;           /* hashes of a chunk, except of a list's first */
    size_t slab;              /* bytes of a chunk, except of the first */
    struct mrs_buf slabs;     /* from which chunks are cut, in order */
    uint32_t used;            /* number of slabs */
    uint8_t *room, *room_end; /* the rest of the last one */
};

/* memory: maximum bytes of hashes; overhead is about an eighth more. DEAD. */
enum mrs_status mrsi_hashes_init(struct mrsi_hashes *h, struct mrs_mem *mem, uint64_t memory, struct mrs_err *e);
/* No effect on one that is all zeros. */
void mrsi_hashes_clear(struct mrsi_hashes *h);
/* DEAD: out of memory; some of them were put. */
enum mrs_status mrsi_hashes_put(struct mrsi_hashes *h, const uint64_t *hash, size_t n, struct mrs_err *e);
/* Appends the hashes of a list, in native byte order. */
enum mrs_status mrsi_hashes_gather(const struct mrsi_hashes *h, uint32_t list, struct mrs_buf *out, struct mrs_err *e);
/* Empties one list, or all: their memory is reused. */
void mrsi_hashes_drop(struct mrsi_hashes *h, uint32_t list);
void mrsi_hashes_drop_all(struct mrsi_hashes *h);
#endif

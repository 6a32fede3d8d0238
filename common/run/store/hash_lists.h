/* SPDX-License-Identifier: Apache-2.0 */
/* hash_lists.h - many hashes of 64 bits, in lists by their top bits; the order within a list is not kept. */
#ifndef MRS_RUN_HASHES_H
#define MRS_RUN_HASHES_H

#include "store.h"

enum {
    MRSI_HASH_LISTS = 512,
    MRSI_HASH_TOP = 55 /* bits of a hash behind those that say its list */
};

struct mrsi_hash_chunk; /* hash_lists.c */
struct mrsi_hashes {
    struct mrs_mem *mem;
    struct mrsi_hash_list {
        uint64_t *at, *end; /* of its last chunk: where the next hash goes; both NULL: it is empty */
        struct mrsi_hash_chunk *last;
    } *list;
    uint32_t chunk;           /* hashes of a chunk, except of a list's first */
    size_t slab;              /* bytes of a chunk, except of the first */
    struct mrs_buf slabs;     /* where chunks are cut from, one behind the other */
    uint32_t used;            /* slabs */
    uint8_t *room, *room_end; /* left of the last of these */
};

/* memory: bytes of hashes that will be held at most; what is around them takes about an eighth more. DEAD. */
enum mrs_status mrsi_hashes_init(struct mrsi_hashes *h, struct mrs_mem *mem, uint64_t memory, struct mrs_err *e);
/* Of all zeros: nothing. */
void mrsi_hashes_clear(struct mrsi_hashes *h);
/* DEAD: without memory; some of them were put. */
enum mrs_status mrsi_hashes_put(struct mrsi_hashes *h, const uint64_t *hash, size_t n, struct mrs_err *e);
/* Appends the hashes of a list, in the machine's order of bytes. */
enum mrs_status mrsi_hashes_gather(const struct mrsi_hashes *h, uint32_t list, struct mrs_buf *out, struct mrs_err *e);
/* Forgets those of one list, or all: then their room is used again. */
void mrsi_hashes_drop(struct mrsi_hashes *h, uint32_t list);
void mrsi_hashes_drop_all(struct mrsi_hashes *h);
#endif

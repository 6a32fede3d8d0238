/* SPDX-License-Identifier: Apache-2.0 */
/* ordinal_index.h - large flat memory, and a hash table from 128-bit keys to ordinals. Beyond their share of memory
 * both move to a mapped temporary file, so that any number of documents stays within the budget. */
#ifndef MRS_RUN_INDEX_H
#define MRS_RUN_INDEX_H

#include "store.h"

/* ---- flat memory ---- */
struct mrsi_mapped_mem {
    struct mrsi_engine *en;
    void *p;                /* NULL: none */
    uint64_t bytes;
    struct mrsi_temp *temp; /* NULL: in memory */
    struct mrsi_temp *copy; /* in memory: the copy in a savepoint; NULL: none */
};
/* Zeroed. Above `limit` bytes in a file whose blocks are allocated before it is mapped: a full disk is an error here,
 * never a signal later. May be cleared after a failure. */
enum mrs_status mrsi_mapped_mem_new(struct mrsi_mapped_mem *a, struct mrsi_engine *en, uint64_t bytes, uint64_t limit,
                                    struct mrs_err *e);
void mrsi_mapped_mem_clear(struct mrsi_mapped_mem *a); /* may be called twice, and on zeros */
/* For savepoints (checkpoint.h): after the first save the contents must not change. load creates it like
 * mrsi_mapped_mem_new, with the contents of the savepoint, which must have the same size. */
enum mrs_status mrsi_mapped_mem_save(struct mrsi_mapped_mem *a, const char *name, struct mrs_build *b,
                                     struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_mapped_mem_load(struct mrsi_mapped_mem *a, struct mrsi_engine *en, uint64_t bytes, uint64_t limit,
                                     struct mrs_view saved, const char *name, struct mrs_err *e);

/* ---- keys to ordinals ----
 * The key of a value is mrs_hash_secret over its mrs_key_append bytes with the secret of the run: equal values have
 * equal keys, and no author of documents can produce two values with one key (secret.c). Each key has the ordinal of
 * its first put. One thread puts; after that, any number of threads find. */
struct mrsi_index_slot {
    uint64_t lo, hi;
    uint64_t ord; /* ordinal + 1; 0: empty */
};
struct mrsi_index {
    struct mrsi_engine *en;
    uint64_t limit; /* maximum bytes of slots in memory */
    struct mrsi_mapped_mem slots;
    uint64_t n_slot;
    uint64_t n;      /* number of keys */
    uint64_t end;    /* all ordinals are smaller */
    uint64_t sum;    /* sum over all keys and ordinals, for savepoints */
    uint64_t copied; /* keys in the copy of the slots, if there is one */
    uint64_t guess;  /* estimated number of keys; 0: unknown */
};
#define MRSI_NO_ORDINAL UINT64_MAX
void mrsi_index_init(struct mrsi_index *x, struct mrsi_engine *en, uint64_t limit);
void mrsi_index_clear(struct mrsi_index *x); /* may be called twice */
/* *first: the ordinal of this key: ord itself if it is new, else that of its first put. ord < MRSI_NO_ORDINAL. */
enum mrs_status mrsi_index_put(struct mrsi_index *x, struct mrs_hash128 key, uint64_t ord, uint64_t *first,
                               struct mrs_err *e);
/* For savepoints, while keys are put with ascending ordinals, and afterwards. If the slots are in a file, the savepoint
 * refers to that file, although later puts fill more of them: a slot is filled once, so load clears those with later
 * ordinals and restores the table. */
enum mrs_status mrsi_index_save(struct mrsi_index *x, const char *name, struct mrs_build *b, struct mrs_buf *files,
                                struct mrs_err *e);
enum mrs_status mrsi_index_load(struct mrsi_index *x, struct mrs_view saved, const char *name, struct mrs_err *e);
/* The ordinal of a key, or MRSI_NO_ORDINAL. */
uint64_t mrsi_index_find(const struct mrsi_index *x, struct mrs_hash128 key);
/* The first slot for a key. Slots are in the order of the upper 64 bits of the keys, for any table size. */
static inline struct mrsi_index_slot *
mrsi_index_slot_of(const struct mrsi_index *x, struct mrs_hash128 key)
{
    return (struct mrsi_index_slot *)x->slots.p + (uint64_t)((unsigned __int128)key.lo * x->n_slot >> 64);
}
/* Prefetch for a put or find of this key. */
static inline void
mrsi_index_fetch(const struct mrsi_index *x, struct mrs_hash128 key)
{
    if (x->n_slot) {
        __builtin_prefetch(mrsi_index_slot_of(x, key));
    }
}

#endif

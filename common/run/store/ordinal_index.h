/* SPDX-License-Identifier: Apache-2.0 */
/* ordinal_index.h - large flat memory, and keys of 128 bits to ordinals in it; both move to a temporary file that is
 * mapped when they outgrow their share of memory, so that no number of documents counts against the budget. */
#ifndef MRS_RUN_INDEX_H
#define MRS_RUN_INDEX_H

#include "store.h"

/* ---- a flat piece of memory ---- */
struct mrsi_mapped_mem {
    struct mrsi_engine *en;
    void *p;                /* NULL: there is none */
    uint64_t bytes;
    struct mrsi_temp *temp; /* NULL: in memory */
    struct mrsi_temp *copy; /* in memory: what a savepoint has of it; NULL: none */
};
/* All zeros. Over `limit` bytes in a file, whose blocks are all there before it is mapped: a full disk is an error
 * here, never a signal later. Harmless to clear when this failed. */
enum mrs_status mrsi_mapped_mem_new(struct mrsi_mapped_mem *a, struct mrsi_engine *en, uint64_t bytes, uint64_t limit,
                                    struct mrs_err *e);
void mrsi_mapped_mem_clear(struct mrsi_mapped_mem *a); /* harmless twice, and where all is zero */
/* For savepoints (checkpoint.h): from the first save on its contents must not change. load makes one that is all zero
 * like mrsi_mapped_mem_new, with the contents of the savepoint, which must have just as many bytes. */
enum mrs_status mrsi_mapped_mem_save(struct mrsi_mapped_mem *a, const char *name, struct mrs_build *b,
                                     struct mrs_buf *files, struct mrs_err *e);
enum mrs_status mrsi_mapped_mem_load(struct mrsi_mapped_mem *a, struct mrsi_engine *en, uint64_t bytes, uint64_t limit,
                                     struct mrs_view mark, const char *name, struct mrs_err *e);

/* ---- keys to ordinals ----
 * The key of a value is mrs_hash_secret over its mrs_key_append bytes with the secret of the run: equal values have
 * equal keys, and two different values never have, whatever their source (secret.c). Each key keeps the ordinal it was
 * put with first. One thread puts; when all is put, any number of threads find. */
struct mrsi_index_slot {
    uint64_t lo, hi;
    uint64_t ord; /* + 1; 0: empty */
};
struct mrsi_index {
    struct mrsi_engine *en;
    uint64_t limit; /* bytes of slots that may be in memory */
    struct mrsi_mapped_mem slots;
    uint64_t n_slot;
    uint64_t n;      /* keys */
    uint64_t end;    /* all ordinals are smaller */
    uint64_t sum;    /* of all keys and their ordinals, for savepoints */
    uint64_t copied; /* keys in the copy of the slots, where they have one */
    uint64_t guess;  /* an estimate of how many keys there will be; 0: not known */
};
#define MRSI_NO_ORDINAL UINT64_MAX
void mrsi_index_init(struct mrsi_index *x, struct mrsi_engine *en, uint64_t limit);
void mrsi_index_clear(struct mrsi_index *x); /* harmless twice */
/* *first: the ordinal that this key has: ord itself where it is new, else that of the first put. ord is less than
 * MRSI_NO_ORDINAL. */
enum mrs_status mrsi_index_put(struct mrsi_index *x, struct mrs_hash128 key, uint64_t ord, uint64_t *first,
                               struct mrs_err *e);
/* For savepoints, while keys are put, with ascending ordinals, and behind that. Where the slots lie in a file the
 * savepoint names it as it is, though later puts fill more of them: a slot is filled once, so load empties those whose
 * ordinals came behind the savepoint and has the table that it was. */
enum mrs_status mrsi_index_save(struct mrsi_index *x, const char *name, struct mrs_build *b, struct mrs_buf *files,
                                struct mrs_err *e);
enum mrs_status mrsi_index_load(struct mrsi_index *x, struct mrs_view mark, const char *name, struct mrs_err *e);
/* The ordinal of a key, or MRSI_NO_ORDINAL. */
uint64_t mrsi_index_find(const struct mrsi_index *x, struct mrs_hash128 key);
/* Where the search for a key begins. Slots are in the order of the upper 64 bits of the keys, whatever their number. */
static inline struct mrsi_index_slot *
mrsi_index_home(const struct mrsi_index *x, struct mrs_hash128 key)
{
    return (struct mrsi_index_slot *)x->slots.p + (uint64_t)((unsigned __int128)key.lo * x->n_slot >> 64);
}
/* A put or find of this key will follow: starts to load what it will read. */
static inline void
mrsi_index_fetch(const struct mrsi_index *x, struct mrs_hash128 key)
{
    if (x->n_slot) {
        __builtin_prefetch(mrsi_index_home(x, key));
    }
}

#endif

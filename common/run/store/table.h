/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - a hash table from keys to entries (ord, ref), in the order in which they were added. */
#ifndef MRSI_RUN_TABLE_H
#define MRSI_RUN_TABLE_H

#include "state.h"

/* A key, hashed: keys of up to 15 bytes are stored unchanged, longer ones as 120 bits of mrs_hash_secret, so that no
 * author of documents can make two keys equal. */
struct mrsi_key {
    uint64_t a, b;
};

struct mrsi_table_entry {
    uint64_t ord;
    uint32_t ref, next; /* next: index + 1 of the key's next entry in `more`, 0: none */
};
struct mrsi_table_slot { /* 32 bytes: a key with one entry costs one cache miss */
    struct mrsi_key key; /* b 0: empty, which no key is */
    struct mrsi_table_entry first;
};
struct mrsi_table {
    struct mrs_mem *mem;
    struct mrsi_table_slot *slot;
    struct mrsi_table_entry *more; /* second and later entries of keys */
    uint64_t n_slot;
    struct mrsi_engine *en;    /* owner of the following */
    struct mrsi_temp *entries; /* all entries for a savepoint, written once; NULL: not yet */
    uint64_t entries_bytes;
};
struct mrsi_logged { /* an entry before the table is built */
    struct mrsi_key key;
    uint64_t ord;
    uint32_t ref, pad;
};
enum mrs_status mrsi_table_build(struct mrsi_table *t, struct mrs_mem *mem, const struct mrsi_logged *log, uint64_t n,
                                 struct mrs_err *e);
void mrsi_table_clear(struct mrsi_table *t);
/* As a savepoint (checkpoint.h) of the log that builds it; the table does not change. */
enum mrs_status mrsi_table_save(struct mrsi_table *t, struct mrsi_engine *en, const char *name,
                                struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
void mrsi_table_has(struct mrsi_table *t, const struct mrsi_savepoint_list *list); /* it was built from this list */
const struct mrsi_table_entry *mrsi_table_find(const struct mrsi_table *t,
                                               struct mrsi_key key); /* first entry or NULL */
void mrsi_table_fetch(const struct mrsi_table *t,
                      struct mrsi_key key); /* prefetch for a find of this key */
static inline const struct mrsi_table_entry *
mrsi_table_next(const struct mrsi_table *t, const struct mrsi_table_entry *x)
{
    return x->next ? &t->more[x->next - 1] : NULL;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - keys to entries (ord, ref), in the order in which they were added. */
#ifndef MRSI_RUN_TABLE_H
#define MRSI_RUN_TABLE_H

#include "state.h"

/* A key, hashed: keys of up to 15 bytes are here as they are, longer ones as 120 bits of mrs_hash_secret, so that no
 * two different ones are equal here, whatever their source. */
struct mrsi_key {
    uint64_t a, b;
};

struct mrsi_table_entry {
    uint64_t ord;
    uint32_t ref, next; /* next: index + 1 of the next entry of this key in `more`, 0: none */
};
struct mrsi_table_slot { /* 32 bytes, so that a key with one entry costs one cache miss */
    struct mrsi_key key; /* b 0: empty, which no key is */
    struct mrsi_table_entry first;
};
struct mrsi_table {
    struct mrs_mem *mem;
    struct mrsi_table_slot *slot;
    struct mrsi_table_entry *more; /* second and later entries of keys */
    uint64_t n_slot;
    struct mrsi_engine *en;    /* of what follows */
    struct mrsi_temp *entries; /* all of them for a savepoint, written once; NULL: not yet */
    uint64_t entries_bytes;
};
struct mrsi_logged { /* an entry on its way to a table */
    struct mrsi_key key;
    uint64_t ord;
    uint32_t ref, pad;
};
enum mrs_status mrsi_table_build(struct mrsi_table *t, struct mrs_mem *mem, const struct mrsi_logged *log, uint64_t n,
                                 struct mrs_err *e);
void mrsi_table_clear(struct mrsi_table *t);
/* In a savepoint (checkpoint.h), as the log that builds it; the table does not change. */
enum mrs_status mrsi_table_save(struct mrsi_table *t, struct mrsi_engine *en, const char *name,
                                struct mrs_build *b, struct mrs_buf *files, struct mrs_err *e);
void mrsi_table_has(struct mrsi_table *t, const struct mrsi_savepoint_list *list); /* built of a list in a savepoint */
const struct mrsi_table_entry *mrsi_table_find(const struct mrsi_table *t,
                                               struct mrsi_key key); /* first entry or NULL */
void mrsi_table_fetch(const struct mrsi_table *t,
                      struct mrsi_key key); /* a find of this key will follow: starts to load what it will read */
static inline const struct mrsi_table_entry *
mrsi_table_next(const struct mrsi_table *t, const struct mrsi_table_entry *x)
{
    return x->next ? &t->more[x->next - 1] : NULL;
}

#endif

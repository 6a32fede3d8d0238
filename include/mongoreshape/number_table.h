/* SPDX-License-Identifier: Apache-2.0 */
/* number_table.h - a growing hash table from numbers (not 0) to numbers.
 *
 * For membership tests and counts by number, if the numbers are our own: no outsider can choose them to collide. The
 * buffer is the caller's: made before the first use, cleared after the last. One thread. */
#ifndef MONGORESHAPE_NUMBER_TABLE_H
#define MONGORESHAPE_NUMBER_TABLE_H

#include "mongoreshape/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_number_slot {
    uint64_t key;   /* 0: free */
    uint64_t value; /* the caller's; 0 in a new slot */
};
struct mrs_number_table {
    struct mrs_buf slots; /* struct mrs_number_slot; a power of two, at most half of them used */
    uint64_t n;           /* keys */
};

/* Empties it, with room for n keys before it grows. False without memory: slots.bad is set. */
bool mrs_number_table_begin(struct mrs_number_table *t, uint64_t n);
/* Empties it and keeps its memory. */
void mrs_number_table_forget(struct mrs_number_table *t);
/* The slot of a key, added if missing; valid until the next call. NULL without memory, as above. */
struct mrs_number_slot *mrs_number_table_put(struct mrs_number_table *t, uint64_t key);
/* All slots, including free ones. */
const struct mrs_number_slot *mrs_number_table_slots(const struct mrs_number_table *t, uint64_t *n);

#ifdef __cplusplus
}
#endif
#endif

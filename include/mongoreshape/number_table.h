/* SPDX-License-Identifier: Apache-2.0 */
/* number_table.h - numbers but 0, each once, with a number that belongs to it: a hash table that grows.
 *
 * For those who ask "was this there?" or counts by number, where the numbers are our own: no outsider can choose
 * them so that all fall into one place. The buffer is the caller's: made before the first use, cleared behind the
 * last. One thread. */
#ifndef MONGORESHAPE_NUMBER_TABLE_H
#define MONGORESHAPE_NUMBER_TABLE_H

#include "mongoreshape/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_number_slot {
    uint64_t key;   /* 0: free */
    uint64_t value; /* the caller's; 0 in a slot that is new */
};
struct mrs_number_table {
    struct mrs_buf slots; /* struct mrs_number_slot; a power of two, at most half of them taken */
    uint64_t n;           /* keys */
};

/* Empties it, with room for n keys before it grows. False without memory: slots.bad says so. */
bool mrs_number_table_begin(struct mrs_number_table *t, uint64_t n);
/* Empties it; the room stays. */
void mrs_number_table_forget(struct mrs_number_table *t);
/* The slot of a key, which is put in where it was not there; good until the next call. NULL without memory,
 * as above. */
struct mrs_number_slot *mrs_number_table_put(struct mrs_number_table *t, uint64_t key);
/* All slots, free ones among them. */
const struct mrs_number_slot *mrs_number_table_slots(const struct mrs_number_table *t, uint64_t *n);

#ifdef __cplusplus
}
#endif
#endif

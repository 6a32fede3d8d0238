/* SPDX-License-Identifier: Apache-2.0 */
/* number_table.c - a hash table of numbers: open addressing, linear probing. */
#include "mongoreshape/number_table.h"
#include "mongoreshape/assert.h"

enum { LEAST = 16 };

const struct mrs_number_slot *
mrs_number_table_slots(const struct mrs_number_table *t, uint64_t *n)
{
    *n = t->slots.n / sizeof(struct mrs_number_slot);
    return (const struct mrs_number_slot *)(const void *)t->slots.p;
}

/* The slot of a key, or the free slot for it; there is one. */
static struct mrs_number_slot *
place_of(const struct mrs_number_table *t, uint64_t key)
{
    struct mrs_number_slot *slot = (struct mrs_number_slot *)(void *)t->slots.p;
    uint64_t mask = t->slots.n / sizeof *slot - 1, at = (key * 0x9E3779B97F4A7C15ull >> 20) & mask;
    MRS_ASSERT((mask & (mask + 1)) == 0 && t->n <= mask);
    while (slot[at].key && slot[at].key != key) {
        at = (at + 1) & mask;
    }
    return &slot[at];
}

bool
mrs_number_table_begin(struct mrs_number_table *t, uint64_t n)
{
    MRS_ASSERT(n <= UINT64_MAX / 4 / sizeof(struct mrs_number_slot));
    uint64_t slots = LEAST;
    while (slots / 2 < n) {
        slots *= 2;
    }
    t->n = 0;
    mrs_buf_reset(&t->slots);
    uint8_t *p = mrs_buf_take(&t->slots, slots * sizeof(struct mrs_number_slot));
    if (p) {
        memset(p, 0, t->slots.n);
    }
    return p != NULL;
}

void
mrs_number_table_forget(struct mrs_number_table *t)
{
    if (t->n) {
        memset(t->slots.p, 0, t->slots.n);
        t->n = 0;
    }
}

/* Doubles the slots. Without memory nothing changes, but slots.bad is set. */
static bool
grow(struct mrs_number_table *t)
{
    struct mrs_number_table more = {.n = 0};
    uint64_t n;
    const struct mrs_number_slot *old = mrs_number_table_slots(t, &n);
    mrs_buf_init(&more.slots, t->slots.mem, t->slots.ceiling);
    if (!mrs_number_table_begin(&more, n)) {
        t->slots.bad = more.slots.bad;
        mrs_buf_clear(&more.slots);
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        if (old[i].key) {
            *place_of(&more, old[i].key) = old[i];
        }
    }
    mrs_buf_clear(&t->slots);
    more.n = t->n;
    *t = more;
    return true;
}

struct mrs_number_slot *
mrs_number_table_put(struct mrs_number_table *t, uint64_t key)
{
    MRS_ASSERT(key != 0);
    if ((t->n + 1) * 2 > t->slots.n / sizeof(struct mrs_number_slot) && !grow(t)) {
        return NULL;
    }
    struct mrs_number_slot *slot = place_of(t, key);
    t->n += slot->key == 0;
    slot->key = key;
    return slot;
}

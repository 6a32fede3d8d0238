/* table.c - keys to entries: open addressing, built once from a log whose length is known, read by many threads.
 *
 * Entries of one key are chained in the order of the log, so a key that a million documents share costs no more than
 * others. */
#include "join.h"

static uint64_t
slots_for(uint64_t n)
{
    return n + n / 2 + n / 4 + 8;
}

uint64_t
mrsi_table_bytes(uint64_t n)
{
    return slots_for(n) * sizeof(struct mrsi_slot) + n * sizeof(struct mrsi_entry);
}

static uint64_t
slot_of(const struct mrsi_table *t, struct mrsi_key k)
{
    uint64_t h = (k.a ^ (k.b * 0xC2B2AE3D27D4EB4Full)) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9ull;
    return (uint64_t)(((unsigned __int128)h * t->n_slot) >> 64);
}

/* The slot of a key, or the empty one where it would be. */
static struct mrsi_slot *
probe(const struct mrsi_table *t, struct mrsi_key k)
{
    uint64_t i = slot_of(t, k);
    while (t->slot[i].head && (t->slot[i].key.a != k.a || t->slot[i].key.b != k.b)) {
        i = i + 1 == t->n_slot ? 0 : i + 1;
    }
    return &t->slot[i];
}

enum mrs_status
mrsi_table_build(struct mrsi_table *t, struct mrs_mem *mem, const struct mrsi_logged *log, uint64_t n,
                 struct mrs_err *e)
{
    memset(t, 0, sizeof *t);
    t->mem = mem;
    if (n >= UINT32_MAX) {
        return mrs_err_set(e, MRS_DEAD, MRS_E_LIMIT, "more than %u keys in one table", UINT32_MAX);
    }
    t->n_slot = slots_for(n);
    t->n_entry = n;
    t->slot = mrs_zalloc(mem, t->n_slot * sizeof *t->slot);
    t->entry = mrs_alloc(mem, n * sizeof *t->entry);
    if (!t->slot || !t->entry) {
        return mrs_err_memory(e, mrsi_table_bytes(n));
    }
    for (uint64_t i = 0; i < n; i++) {
        struct mrsi_slot *s = probe(t, log[i].key);
        t->entry[i] = (struct mrsi_entry){log[i].ord, log[i].ref, 0};
        if (s->head) {
            t->entry[s->tail - 1].next = (uint32_t)i + 1;
        } else {
            s->key = log[i].key;
            s->head = (uint32_t)i + 1;
        }
        s->tail = (uint32_t)i + 1;
    }
    return MRS_OK;
}

void
mrsi_table_clear(struct mrsi_table *t)
{
    if (t->mem) {
        mrs_free(t->mem, t->slot);
        mrs_free(t->mem, t->entry);
        memset(t, 0, sizeof *t);
    }
}

const struct mrsi_entry *
mrsi_table_find(const struct mrsi_table *t, struct mrsi_key key)
{
    const struct mrsi_slot *s = t->n_slot ? probe(t, key) : NULL;
    return s && s->head ? &t->entry[s->head - 1] : NULL;
}

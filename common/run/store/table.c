/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - a hash table from keys to entries: open addressing, built once from a log of known length, read by many
 * threads.
 *
 * The first entry of a key is in its slot, so the usual case (one document has the key) costs one cache miss. Further
 * ones are chained in the order of the log. While the table is built, such a chain is a ring whose slot refers to the
 * last entry, so appending is cheap even if a million documents share a key. */
#include "table.h"

static uint64_t
slots_for(uint64_t n)
{
    return n + n / 2 + n / 4 + 8;
}

static uint64_t
slot_of(const struct mrsi_table *t, struct mrsi_key k)
{
    MRS_ASSERT(t->n_slot > 0);
    uint64_t h = (k.a ^ (k.b * 0xC2B2AE3D27D4EB4Full)) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9ull;
    return (uint64_t)(((unsigned __int128)h * t->n_slot) >> 64);
}

/* The slot of a key, or an empty one for it. */
static struct mrsi_table_slot *
probe(const struct mrsi_table *t, struct mrsi_key k)
{
    uint64_t i = slot_of(t, k);
    while (t->slot[i].key.b && (t->slot[i].key.a != k.a || t->slot[i].key.b != k.b)) {
        i = i + 1 == t->n_slot ? 0 : i + 1;
    }
    return &t->slot[i];
}

/* Number of entries whose key has a slot already; afterwards all first entries are in their slots. */
static uint64_t
fill_slots(struct mrsi_table *t, const struct mrsi_logged *log, uint64_t n)
{
    uint64_t more = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (i + 8 < n) {
            mrsi_table_fetch(t, log[i + 8].key);
        }
        struct mrsi_table_slot *s = probe(t, log[i].key);
        if (s->key.b) {
            more++;
        } else {
            *s = (struct mrsi_table_slot){log[i].key, {log[i].ord, log[i].ref, 0}};
        }
    }
    return more;
}

static void
chain(struct mrsi_table *t, const struct mrsi_logged *log, uint64_t n)
{
    uint32_t used = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct mrsi_table_entry *first = &probe(t, log[i].key)->first;
        if (first->ord == log[i].ord && first->ref == log[i].ref) {
            continue;
        }
        struct mrsi_table_entry *x = &t->more[used++];
        *x = (struct mrsi_table_entry){log[i].ord, log[i].ref, used};
        if (first->next) {
            x->next = t->more[first->next - 1].next;
            t->more[first->next - 1].next = used;
        }
        first->next = used;
    }
    for (uint64_t i = 0; i < t->n_slot; i++) {
        struct mrsi_table_entry *first = &t->slot[i].first;
        if (t->slot[i].key.b && first->next) {
            struct mrsi_table_entry *last = &t->more[first->next - 1];
            first->next = last->next;
            last->next = 0;
        }
    }
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
    t->slot = mrs_alloc(mem, t->n_slot * sizeof *t->slot);
    MRS_TRY(mrs_allocated(t->slot, t->n_slot * sizeof *t->slot, e));
    mrsi_advise_huge(t->slot, t->n_slot * sizeof *t->slot);
    memset(t->slot, 0, t->n_slot * sizeof *t->slot);
    uint64_t more = fill_slots(t, log, n);
    if (!more) {
        return MRS_OK;
    }
    t->more = mrs_alloc(mem, more * sizeof *t->more);
    MRS_TRY(mrs_allocated(t->more, more * sizeof *t->more, e));
    chain(t, log, n);
    return MRS_OK;
}

void
mrsi_table_clear(struct mrsi_table *t)
{
    if (t->mem) {
        mrs_free(t->mem, t->slot);
        mrs_free(t->mem, t->more);
        if (t->en) {
            mrsi_temp_drop(t->en, t->entries);
        }
        memset(t, 0, sizeof *t);
    }
}

const struct mrsi_table_entry *
mrsi_table_find(const struct mrsi_table *t, struct mrsi_key key)
{
    const struct mrsi_table_slot *s = t->n_slot ? probe(t, key) : NULL;
    return s && s->key.b ? &s->first : NULL;
}

void
mrsi_table_fetch(const struct mrsi_table *t, struct mrsi_key key)
{
    __builtin_prefetch(&t->slot[slot_of(t, key)]);
}

/* ---- savepoint ----
 * As a log: the entries of one key in their order, keys in any order. */
static enum mrs_status
write_entries(const struct mrsi_table *t, struct mrsi_savepoint_file *f, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; s == MRS_OK && i < t->n_slot; i++) {
        const struct mrsi_table_entry *x = t->slot[i].key.b ? &t->slot[i].first : NULL;
        for (; s == MRS_OK && x; x = mrsi_table_next(t, x)) {
            struct mrsi_logged one = {t->slot[i].key, x->ord, x->ref, 0};
            s = mrsi_savepoint_file_put(f, &one, sizeof one, e);
        }
    }
    return s;
}

enum mrs_status
mrsi_table_save(struct mrsi_table *t, struct mrsi_engine *en, const char *name, struct mrs_build *b,
                struct mrs_buf *files, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (!t->entries) {
        struct mrsi_savepoint_file f;
        mrsi_savepoint_file_begin(&f, en);
        s = mrsi_savepoint_file_end(&f, write_entries(t, &f, e), e);
        t->en = en;
        t->entries = f.temp;
        t->entries_bytes = f.bytes;
    }
    mrsi_save_temp(name, t->entries, t->entries_bytes, b, files);
    return s;
}

void
mrsi_table_has(struct mrsi_table *t, const struct mrsi_savepoint_list *list)
{
    MRS_ASSERT(!t->entries);
    t->en = list->en;
    t->entries = list->temp;
    t->entries_bytes = list->bytes;
}

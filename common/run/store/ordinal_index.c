/* SPDX-License-Identifier: Apache-2.0 */
/* ordinal_index.c - see ordinal_index.h. Open addressing, linear probing, at most three quarters full. A table that
 * grows is filled again from the old one. It may be in a mapped file, to which savepoints refer while it is being
 * filled. */
#include "state.h"
#include "ordinal_index.h"
#include "spill.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

/* ---- flat memory ---- */
static enum mrs_status
map_file(struct mrsi_mapped_mem *a, struct mrs_err *e)
{
    MRS_ASSERT(a->temp && a->bytes > 0);
    void *p = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a->temp->fd, 0);
    if (p == MAP_FAILED) {
        return mrs_err_memory(e, a->bytes);
    }
    a->p = p;
    return MRS_OK;
}

static enum mrs_status
make_file(struct mrsi_mapped_mem *a, struct mrs_err *e)
{
    enum mrs_status s = mrsi_ckpt_temp(a->en, &a->temp, e);
    int err = EINTR;
    while (s == MRS_OK && err == EINTR) {
        err = posix_fallocate(a->temp->fd, 0, (off_t)a->bytes);
    }
    if (s == MRS_OK && err) {
        s = mrs_err_sys(e, err, "temporary file");
    }
    return s == MRS_OK ? map_file(a, e) : s;
}

static enum mrs_status
take_memory(struct mrsi_mapped_mem *a, struct mrs_err *e)
{
    a->p = mrs_zalloc(a->en->mem, a->bytes);
    MRS_TRY(mrs_allocated(a->p, a->bytes, e));
    mrsi_advise_huge(a->p, a->bytes);
    return MRS_OK;
}

enum mrs_status
mrsi_mapped_mem_new(struct mrsi_mapped_mem *a, struct mrsi_engine *en, uint64_t bytes, uint64_t limit,
                    struct mrs_err *e)
{
    *a = (struct mrsi_mapped_mem){.en = en, .bytes = bytes ? bytes : 1};
    enum mrs_status s = a->bytes > limit ? make_file(a, e) : take_memory(a, e);
    if (s != MRS_OK) {
        mrsi_mapped_mem_clear(a);
    }
    return s;
}

void
mrsi_mapped_mem_clear(struct mrsi_mapped_mem *a)
{
    if (!a->en) {
        return;
    }
    if (!a->temp) {
        mrs_free(a->en->mem, a->p);
    } else if (a->p) {
        munmap(a->p, a->bytes);
    }
    mrsi_temp_drop(a->en, a->temp);
    mrsi_temp_drop(a->en, a->copy);
    memset(a, 0, sizeof *a);
}

/* Copies the memory to a file, once. */
static enum mrs_status
copy_mem(struct mrsi_mapped_mem *a, struct mrs_err *e)
{
    MRS_ASSERT(a->p && !a->temp && !a->copy);
    enum mrs_status s = mrsi_ckpt_temp(a->en, &a->copy, e);
    MRS_THEN(s, mrsi_temp_append(a->copy, a->p, a->bytes, 0, e));
    if (s != MRS_OK) {
        mrsi_temp_drop(a->en, a->copy);
        a->copy = NULL;
    }
    return s;
}

/* The file with its contents; *t NULL: none. */
static enum mrs_status
file_of(struct mrsi_mapped_mem *a, struct mrsi_temp **t, struct mrs_err *e)
{
    enum mrs_status s = a->p && !a->temp && !a->copy ? copy_mem(a, e) : MRS_OK;
    *t = a->temp ? a->temp : a->copy;
    return s;
}

enum mrs_status
mrsi_mapped_mem_save(struct mrsi_mapped_mem *a, const char *name, struct mrs_build *b, struct mrs_buf *files,
                     struct mrs_err *e)
{
    struct mrsi_temp *t;
    enum mrs_status s = file_of(a, &t, e);
    if (t && t->summed != a->bytes) { /* mapped, and filled in random order */
        mrsi_temp_sum(t, a->p, a->bytes);
    }
    mrsi_save_temp(name, t, a->bytes, b, files);
    return s;
}

/* Reads the contents of a->temp; s: the result of opening it. */
static enum mrs_status
load_mem(struct mrsi_mapped_mem *a, uint64_t limit, enum mrs_status s, struct mrs_err *e)
{
    MRS_ASSERT(!a->p && !a->copy);
    if (s == MRS_OK && a->bytes > limit) {
        s = map_file(a, e);
    } else if (s == MRS_OK) {
        a->copy = a->temp;
        a->temp = NULL;
        s = take_memory(a, e);
        MRS_THEN(s, mrs_read_at(a->copy->fd, a->p, a->bytes, 0, e));
    }
    if (s != MRS_OK) {
        mrsi_mapped_mem_clear(a);
    }
    return s;
}

enum mrs_status
mrsi_mapped_mem_load(struct mrsi_mapped_mem *a, struct mrsi_engine *en, uint64_t bytes, uint64_t limit,
                     struct mrs_view saved, const char *name, struct mrs_err *e)
{
    uint64_t have;
    *a = (struct mrsi_mapped_mem){.en = en, .bytes = bytes ? bytes : 1};
    enum mrs_status s = mrsi_load_temp(en, saved, name, &a->temp, &have, e);
    if (s == MRS_OK && have != a->bytes) {
        s = mrsi_state_damaged(name, e);
    }
    return load_mem(a, limit, s, e);
}

/* ---- keys to ordinals ---- */
void
mrsi_index_init(struct mrsi_index *x, struct mrsi_engine *en, uint64_t limit)
{
    memset(x, 0, sizeof *x);
    x->en = en;
    x->limit = limit;
}

void
mrsi_index_clear(struct mrsi_index *x)
{
    mrsi_mapped_mem_clear(&x->slots);
    x->n_slot = x->n = x->guess = x->end = x->copied = x->sum = 0;
}

/* For a slot, in memory or in the file. */
static uint64_t
sum_of(const struct mrsi_index_slot *slot)
{
    uint64_t h = (slot->lo ^ slot->hi * 0x9E3779B97F4A7C15ull) + slot->ord * 0xC2B2AE3D27D4EB4Full;
    return (h ^ h >> 32) * 0xBF58476D1CE4E5B9ull;
}

enum { FEW = 64, LEAP = 16 };

/* The slot of a key, or an empty one for it. */
static struct mrsi_index_slot *
probe(const struct mrsi_index *x, struct mrs_hash128 key)
{
    MRS_ASSERT(x->n < x->n_slot);
    const struct mrsi_index_slot *end = (struct mrsi_index_slot *)x->slots.p + x->n_slot;
    struct mrsi_index_slot *slot = mrsi_index_slot_of(x, key);
    while (slot->ord && (slot->lo != key.lo || slot->hi != key.hi)) {
        slot = slot + 1 < end ? slot + 1 : x->slots.p;
    }
    return slot;
}

/* Slots of the next table: enough for the expected number of keys, so that a large one is not filled again and again.
 * At most LEAP times as many as now, because documents at the beginning of a collection may be smaller than the others;
 * if that is not enough, so few that the next step can be a large one. */
static uint64_t
next_size(const struct mrsi_index *x)
{
    uint64_t now = x->n_slot < FEW / 2 ? FEW / 2 : x->n_slot;
    uint64_t slots = x->guess < UINT64_MAX / 8 ? (x->guess + x->guess / 16) / 3 * 4 : 0;
    uint64_t next = slots > now * LEAP ? slots / LEAP : slots;
    return next < now * 2 ? now * 2 : next < now * LEAP ? next : now * LEAP;
}

static enum mrs_status
grow(struct mrsi_index *x, struct mrs_err *e)
{
    struct mrsi_mapped_mem old = x->slots;
    const struct mrsi_index_slot *from = old.p;
    uint64_t n = x->n_slot, next = next_size(x);
    struct mrsi_mapped_mem slots;
    MRS_TRY(mrsi_mapped_mem_new(&slots, x->en, next * sizeof *from, x->limit, e));
    x->slots = slots;
    x->n_slot = next;
    for (uint64_t i = 0; i < n; i++) {
        if (i + 16 < n) {
            mrsi_index_fetch(x, (struct mrs_hash128){from[i + 16].lo, from[i + 16].hi});
        }
        if (from[i].ord) {
            *probe(x, (struct mrs_hash128){from[i].lo, from[i].hi}) = from[i];
        }
    }
    mrsi_mapped_mem_clear(&old);
    return MRS_OK;
}

enum mrs_status
mrsi_index_put(struct mrsi_index *x, struct mrs_hash128 key, uint64_t ord, uint64_t *first, struct mrs_err *e)
{
    MRS_ASSERT(ord < MRSI_NO_ORDINAL - 1);
    if (x->n >= x->n_slot / 4 * 3) {
        MRS_TRY(grow(x, e));
    }
    struct mrsi_index_slot *slot = probe(x, key);
    if (!slot->ord) {
        *slot = (struct mrsi_index_slot){key.lo, key.hi, ord + 1};
        x->sum += sum_of(slot);
        x->n++;
        x->end = ord < x->end ? x->end : ord + 1;
    }
    *first = slot->ord - 1;
    return MRS_OK;
}

uint64_t
mrsi_index_find(const struct mrsi_index *x, struct mrs_hash128 key)
{
    const struct mrsi_index_slot *slot = x->n_slot ? probe(x, key) : NULL;
    return slot && slot->ord ? slot->ord - 1 : MRSI_NO_ORDINAL;
}

/* ---- savepoints ---- */
enum mrs_status
mrsi_index_save(struct mrsi_index *x, const char *name, struct mrs_build *b, struct mrs_buf *files,
                struct mrs_err *e)
{
    if (x->slots.copy && x->copied != x->n) {
        mrsi_temp_drop(x->en, x->slots.copy);
        x->slots.copy = NULL;
    }
    x->copied = x->n;
    mrs_build_open(b, name, (uint32_t)strlen(name), MRS_DOCUMENT);
    struct mrsi_temp *t;
    enum mrs_status s = file_of(&x->slots, &t, e);
    mrsi_save_temp_unsummed("slots", t, x->slots.bytes, b, files); /* more slots will be filled there */
    mrs_build_i64(b, "keys", (int64_t)x->n);
    mrs_build_i64(b, "end", (int64_t)x->end);
    mrs_build_i64(b, "sum", (int64_t)x->sum);
    mrs_build_close(b);
    return s;
}

/* Clears slots that were filled after the savepoint. */
static void
take_back(struct mrsi_index *x, uint64_t end)
{
    struct mrsi_index_slot *slot = x->slots.p;
    for (uint64_t i = 0; i < x->n_slot; i++) {
        if (slot[i].ord > end) {
            slot[i] = (struct mrsi_index_slot){0, 0, 0};
        }
        x->n += slot[i].ord != 0;
        x->sum += slot[i].ord ? sum_of(&slot[i]) : 0;
    }
}

enum mrs_status
mrsi_index_load(struct mrsi_index *x, struct mrs_view saved, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(x->n == 0 && !x->slots.p);
    bool bad = false;
    struct mrs_view d = mrsi_savepoint_doc(saved, name);
    uint64_t n = mrsi_state_number(d, "keys", INT64_MAX, &bad);
    uint64_t sum = mrsi_state_number(d, "sum", UINT64_MAX, &bad);
    x->end = mrsi_state_number(d, "end", INT64_MAX, &bad);
    x->slots.en = x->en;
    enum mrs_status s = bad ? mrsi_state_damaged(name, e)
                            : mrsi_load_temp_unsummed(x->en, d, "slots", &x->slots.temp, &x->slots.bytes, e);
    if (s == MRS_OK && (x->slots.bytes % sizeof(struct mrsi_index_slot) || (!x->slots.bytes && n))) {
        s = mrsi_state_damaged(name, e);
    }
    if (s != MRS_OK || !x->slots.bytes) {
        mrsi_mapped_mem_clear(&x->slots);
        return s;
    }
    s = load_mem(&x->slots, x->limit, s, e);
    if (s != MRS_OK) {
        return s;
    }
    x->n_slot = x->slots.bytes / sizeof(struct mrsi_index_slot);
    take_back(x, x->end);
    x->copied = x->n;
    return x->n == n && x->sum == sum && x->n_slot > n ? MRS_OK : mrsi_state_damaged(name, e);
}

/* index.c - see index.h. Open addressing, linear probing, at most three quarters full; a table that grows is filled
 * anew from the old one. */
#include "index.h"
#include "join.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

/* ---- a flat piece of memory ---- */
static enum mrs_status
map_file(struct mrsi_area *a, uint64_t bytes, struct mrs_err *e)
{
    enum mrs_status s = mrsi_temp_new(a->en, &a->temp, e);
    int err = EINTR;
    while (s == MRS_OK && err == EINTR) {
        err = posix_fallocate(a->temp->fd, 0, (off_t)bytes);
    }
    if (s == MRS_OK && err) {
        s = mrs_err_sys(e, err, "temporary file");
    }
    if (s != MRS_OK) {
        return s;
    }
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a->temp->fd, 0);
    if (p == MAP_FAILED) {
        return mrs_err_memory(e, bytes);
    }
    a->p = p;
    return MRS_OK;
}

enum mrs_status
mrsi_area_new(struct mrsi_area *a, struct mrsi_engine *en, uint64_t bytes, uint64_t limit, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    memset(a, 0, sizeof *a);
    a->en = en;
    a->bytes = bytes ? bytes : 1;
    if (a->bytes > limit) {
        s = map_file(a, a->bytes, e);
    } else {
        a->p = mrs_zalloc(en->mem, a->bytes);
        s = a->p ? MRS_OK : mrs_err_memory(e, a->bytes);
        if (a->p) {
            mrsi_wish_huge(a->p, a->bytes);
        }
    }
    if (s != MRS_OK) {
        mrsi_area_clear(a);
    }
    return s;
}

void
mrsi_area_clear(struct mrsi_area *a)
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
    memset(a, 0, sizeof *a);
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
    mrsi_area_clear(&x->area);
    x->n_slot = x->n = x->guess = 0;
}

enum { FEW = 64, LEAP = 16 };

/* The slot of a key, or the empty one where it would be. */
static struct mrsi_index_slot *
probe(const struct mrsi_index *x, struct mrs_hash128 key)
{
    const struct mrsi_index_slot *end = (struct mrsi_index_slot *)x->area.p + x->n_slot;
    struct mrsi_index_slot *slot = mrsi_index_home(x, key);
    while (slot->ord && (slot->lo != key.lo || slot->hi != key.hi)) {
        slot = slot + 1 < end ? slot + 1 : x->area.p;
    }
    return slot;
}

/* Slots of the next table: enough for as many keys as are to be expected, so that a large one is not filled again and
 * again. But at most LEAP times as many as now, because documents at the beginning of a collection may be smaller than
 * the others; and where that is not enough, so few that the next leap is a long one. */
static uint64_t
next_size(const struct mrsi_index *x)
{
    uint64_t now = x->n_slot < FEW / 2 ? FEW / 2 : x->n_slot;
    uint64_t want = x->guess < UINT64_MAX / 8 ? (x->guess + x->guess / 16) / 3 * 4 : 0;
    uint64_t next = want > now * LEAP ? want / LEAP : want;
    return next < now * 2 ? now * 2 : next < now * LEAP ? next : now * LEAP;
}

static enum mrs_status
grow(struct mrsi_index *x, struct mrs_err *e)
{
    struct mrsi_area old = x->area;
    const struct mrsi_index_slot *from = old.p;
    uint64_t n = x->n_slot, next = next_size(x);
    struct mrsi_area area;
    enum mrs_status s = mrsi_area_new(&area, x->en, next * sizeof *from, x->limit, e);
    if (s != MRS_OK) {
        return s;
    }
    x->area = area;
    x->n_slot = next;
    for (uint64_t i = 0; i < n; i++) {
        if (i + 16 < n) {
            mrsi_index_fetch(x, (struct mrs_hash128){from[i + 16].lo, from[i + 16].hi});
        }
        if (from[i].ord) {
            *probe(x, (struct mrs_hash128){from[i].lo, from[i].hi}) = from[i];
        }
    }
    mrsi_area_clear(&old);
    return MRS_OK;
}

enum mrs_status
mrsi_index_put(struct mrsi_index *x, struct mrs_hash128 key, uint64_t ord, uint64_t *first, struct mrs_err *e)
{
    if (x->n >= x->n_slot / 4 * 3) {
        enum mrs_status s = grow(x, e);
        if (s != MRS_OK) {
            return s;
        }
    }
    struct mrsi_index_slot *slot = probe(x, key);
    if (!slot->ord) {
        *slot = (struct mrsi_index_slot){key.lo, key.hi, ord + 1};
        x->n++;
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

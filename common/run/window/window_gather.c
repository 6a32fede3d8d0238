/* SPDX-License-Identifier: Apache-2.0 */
/* window_gather.c - what documents bring to their groups: lists in memory, one a group, as long as they fit there; else,
 * and where a mark is taken, all of it goes to the sorter.
 *
 * A group is found by its hash. Its members are linked in input order, so that only what is out of order has to be
 * sorted when the group is looked at: documents often come in that order already. */
#include "window_pass.h"
#include <stdlib.h>

#define END UINT64_MAX

struct window_slot { /* a group; n 0: none */
    struct mrs_hash128 key;
    uint64_t first, last, n; /* members, by where they lie in recs */
};
struct window_rec { /* order and shape lie behind it */
    uint64_t next, ordinal;
    uint32_t order, shape;
};

static struct window_slot *
slots(const struct mrsi_window_lists *l)
{
    return (struct window_slot *)(void *)l->table.p;
}

void
mrsi_window_lists_init(struct mrsi_window_lists *l, struct mrsi_engine *en, uint64_t limit)
{
    mrs_buf_init(&l->recs, en->mem, SIZE_MAX);
    mrs_buf_init(&l->table, en->mem, SIZE_MAX);
    mrs_buf_init(&l->members, en->mem, SIZE_MAX);
    l->limit = limit;
    l->on = true;
}

void
mrsi_window_lists_clear(struct mrsi_window_lists *l)
{
    mrs_buf_clear(&l->recs);
    mrs_buf_clear(&l->table);
    mrs_buf_clear(&l->members);
    l->n_slots = l->n_groups = 0;
}

static struct window_slot *
slot_of(const struct mrsi_window_lists *l, struct mrs_hash128 key)
{
    uint64_t i = key.lo & (l->n_slots - 1);
    while (slots(l)[i].n && (slots(l)[i].key.lo != key.lo || slots(l)[i].key.hi != key.hi)) {
        i = (i + 1) & (l->n_slots - 1);
    }
    return &slots(l)[i];
}

static enum mrs_status
more_slots(struct mrsi_window_lists *l, struct mrs_err *e)
{
    struct mrsi_window_lists old = *l;
    l->n_slots = old.n_slots ? 2 * old.n_slots : 1024;
    mrs_buf_init(&l->table, old.table.mem, SIZE_MAX);
    uint8_t *room = mrs_buf_take(&l->table, l->n_slots * sizeof(struct window_slot));
    if (!room) {
        mrs_buf_clear(&l->table);
        *l = old;
        return mrs_err_memory(e, 2 * old.n_slots * sizeof(struct window_slot));
    }
    memset(room, 0, l->n_slots * sizeof(struct window_slot));
    for (uint64_t i = 0; i < old.n_slots; i++) {
        if (slots(&old)[i].n) {
            *slot_of(l, slots(&old)[i].key) = slots(&old)[i];
        }
    }
    mrs_buf_clear(&old.table);
    return MRS_OK;
}

static struct window_rec *
rec_at(const struct mrsi_window_lists *l, uint64_t at)
{
    return (struct window_rec *)(void *)(l->recs.p + at);
}

/* All that the lists hold goes to the sorter: of each group in input order, and what is put later comes later. */
static enum mrs_status
give_up(struct mrsi_window_lists *l, struct mrsi_sorter *to, struct mrs_err *e)
{
    struct mrs_buf key;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&key, l->recs.mem, SIZE_MAX);
    for (uint64_t i = 0; s == MRS_OK && i < l->n_slots; i++) {
        for (uint64_t at = slots(l)[i].n ? slots(l)[i].first : END; s == MRS_OK && at != END;) {
            const struct window_rec *r = rec_at(l, at);
            const uint8_t *p = (const uint8_t *)(r + 1);
            mrs_buf_reset(&key);
            mrs_buf_put(&key, &slots(l)[i].key, sizeof slots(l)[i].key);
            mrs_buf_put(&key, p, r->order);
            mrs_buf_put(&l->members, &r->ordinal, sizeof r->ordinal);
            mrs_buf_put(&l->members, p + r->order, r->shape);
            s = key.bad || l->members.bad ? mrs_err_memory(e, key.n)
                                          : mrsi_sorter_put(to, key.p, (uint32_t)key.n, l->members.p,
                                                            (uint32_t)l->members.n, e);
            mrs_buf_reset(&l->members);
            at = r->next;
        }
    }
    mrs_buf_clear(&key);
    mrsi_window_lists_clear(l);
    l->on = false;
    return s;
}

enum mrs_status
mrsi_window_to_sorter(struct mrsi_window_run *r, struct mrs_err *e)
{
    return r->lists.on ? give_up(&r->lists, &r->members, e) : MRS_OK;
}

enum mrs_status
mrsi_window_put(struct mrsi_window_run *r, const uint8_t *key, uint32_t key_len, const uint8_t *p, uint32_t n,
                struct mrs_err *e)
{
    struct mrsi_window_lists *l = &r->lists;
    struct mrs_hash128 h;
    struct window_rec rec = {.next = END};
    size_t size = (sizeof rec + key_len - sizeof h + n - sizeof rec.ordinal + 7) & ~(size_t)7;
    enum mrs_status s = MRS_OK;
    if (l->on && l->recs.n + size + 2 * l->table.n > l->limit) {
        s = give_up(l, &r->members, e);
    }
    if (s != MRS_OK || !l->on) {
        return s == MRS_OK ? mrsi_sorter_put(&r->members, key, key_len, p, n, e) : s;
    }
    if (2 * (l->n_groups + 1) > l->n_slots && (s = more_slots(l, e)) != MRS_OK) {
        return s;
    }
    memcpy(&h, key, sizeof h);
    memcpy(&rec.ordinal, p, sizeof rec.ordinal);
    rec.order = key_len - (uint32_t)sizeof h;
    rec.shape = n - (uint32_t)sizeof rec.ordinal;
    uint64_t at = l->recs.n;
    uint8_t *room = mrs_buf_take(&l->recs, size);
    if (!room) {
        return mrs_buf_status(&l->recs, e);
    }
    memcpy(room, &rec, sizeof rec);
    memcpy(room + sizeof rec, key + sizeof h, rec.order);
    memcpy(room + sizeof rec + rec.order, p + sizeof rec.ordinal, rec.shape);
    struct window_slot *slot = slot_of(l, h);
    if (slot->n) {
        rec_at(l, slot->last)->next = at;
    } else {
        *slot = (struct window_slot){h, at, at, 0};
        l->n_groups++;
    }
    slot->last = at;
    slot->n++;
    return MRS_OK;
}

/* ---- groups ---- */
static int
by_order(const void *a, const void *b)
{
    const struct mrsi_window_member *x = a, *y = b;
    if (x->prefix != y->prefix) {
        return x->prefix < y->prefix ? -1 : 1;
    }
    uint32_t n = x->order < y->order ? x->order : y->order;
    int c = n ? memcmp(x->p, y->p, n) : 0;
    c = c ? c : x->order < y->order ? -1 : x->order > y->order;
    return c ? c : x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

/* The first bytes of an order, so that most members are told apart without a look at it. */
static uint64_t
prefix_of(const uint8_t *p, uint32_t n)
{
    uint8_t first[8] = {0};
    memcpy(first, p, n < sizeof first ? n : sizeof first);
    return mrsi_get_be(first, sizeof first);
}

enum mrs_status
mrsi_window_next_list(struct mrsi_window_lists *l, uint64_t *n, struct mrs_err *e)
{
    while (l->at < l->n_slots && !slots(l)[l->at].n) {
        l->at++;
    }
    if (l->at == l->n_slots) {
        return MRS_END;
    }
    const struct window_slot *slot = &slots(l)[l->at++];
    bool sorted = true;
    mrs_buf_reset(&l->members);
    struct mrsi_window_member *m =
        (struct mrsi_window_member *)(void *)mrs_buf_take(&l->members, slot->n * sizeof *m);
    if (!m) {
        return mrs_buf_status(&l->members, e);
    }
    uint64_t at = slot->first;
    for (uint64_t i = 0; i < slot->n; i++) {
        const struct window_rec *r = rec_at(l, at);
        const uint8_t *p = (const uint8_t *)(r + 1);
        m[i] = (struct mrsi_window_member){prefix_of(p, r->order), r->ordinal, p, r->order, r->shape};
        sorted = sorted && (i == 0 || by_order(&m[i - 1], &m[i]) < 0);
        at = r->next;
    }
    if (!sorted) {
        qsort(m, slot->n, sizeof *m, by_order);
    }
    *n = slot->n;
    return MRS_OK;
}

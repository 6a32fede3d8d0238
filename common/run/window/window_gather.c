/* SPDX-License-Identifier: Apache-2.0 */
/* window_gather.c - what documents bring to their groups: in memory, until that is full, or a savepoint is taken; then
 * it goes to the sorter, as a run in order.
 *
 * A group is found by its hash, and numbered. What documents bring lies in input order, with the number of its group;
 * members are put to their groups by counting, so that only what is out of order has to be sorted: documents often
 * come in that order already. */
#include "window_pass.h"
#include <stdlib.h>

struct window_list { /* a group */
    struct mrs_hash128 key;
    uint64_t n, first; /* members; where they begin among all */
};

static struct window_list *
list_at(const struct mrsi_window_lists *l, uint64_t no)
{
    MRS_ASSERT(no < l->n_groups);
    return (struct window_list *)(void *)l->groups.p + no;
}

void
mrsi_window_lists_init(struct mrsi_window_lists *l, struct mrsi_engine *en, uint64_t limit)
{
    mrs_buf_init(&l->recs, en->mem, SIZE_MAX);
    mrs_buf_init(&l->table, en->mem, SIZE_MAX);
    mrs_buf_init(&l->groups, en->mem, SIZE_MAX);
    mrs_buf_init(&l->members, en->mem, SIZE_MAX);
    l->limit = limit;
    l->on = true;
}

void
mrsi_window_lists_clear(struct mrsi_window_lists *l)
{
    mrs_buf_clear(&l->recs);
    mrs_buf_clear(&l->table);
    mrs_buf_clear(&l->groups);
    mrs_buf_clear(&l->members);
    l->n_slots = l->n_groups = l->n = 0;
}

/* ---- groups by all 128 bits of their hash, so a table of its own: a slot holds the number of a group and 1 ---- */
static uint64_t *
slot_of(const struct mrsi_window_lists *l, struct mrs_hash128 key)
{
    MRS_ASSERT(l->n_groups < l->n_slots && (l->n_slots & (l->n_slots - 1)) == 0);
    uint64_t *slot = (uint64_t *)(void *)l->table.p, i = key.lo & (l->n_slots - 1);
    for (; slot[i]; i = (i + 1) & (l->n_slots - 1)) {
        const struct window_list *g = list_at(l, slot[i] - 1);
        if (g->key.lo == key.lo && g->key.hi == key.hi) {
            break;
        }
    }
    return &slot[i];
}

static enum mrs_status
more_slots(struct mrsi_window_lists *l, struct mrs_err *e)
{
    MRS_ASSERT(l->n_groups <= l->n_slots);
    l->n_slots = l->n_slots ? 2 * l->n_slots : 1024;
    mrs_buf_reset(&l->table);
    uint8_t *room = mrs_buf_take(&l->table, l->n_slots * sizeof(uint64_t));
    if (!room) {
        return mrs_buf_status(&l->table, e);
    }
    memset(room, 0, l->table.n);
    for (uint64_t i = 0; i < l->n_groups; i++) {
        *slot_of(l, list_at(l, i)->key) = i + 1;
    }
    return MRS_OK;
}

static enum mrs_status
group_of(struct mrsi_window_lists *l, struct mrs_hash128 key, uint64_t *no, struct mrs_err *e)
{
    if (2 * (l->n_groups + 1) > l->n_slots && more_slots(l, e) != MRS_OK) {
        return MRS_DEAD;
    }
    uint64_t *slot = slot_of(l, key);
    if (!*slot) {
        struct window_list g = {key, 0, 0};
        mrs_buf_put(&l->groups, &g, sizeof g);
        *slot = ++l->n_groups;
    }
    *no = *slot - 1;
    return mrs_buf_status(&l->groups, e);
}

/* ---- putting ---- */
static enum mrs_status
put_record(struct mrsi_window_lists *l, const uint8_t *key, uint32_t key_len, const uint8_t *p, uint32_t n,
           struct mrs_err *e)
{
    MRS_ASSERT(key_len >= sizeof(struct mrs_hash128) && n >= sizeof(uint64_t));
    struct mrs_hash128 h;
    struct mrsi_window_record rec = {.order = key_len - (uint32_t)sizeof h,
                                      .payload = n - (uint32_t)sizeof rec.ordinal};
    memcpy(&h, key, sizeof h);
    memcpy(&rec.ordinal, p, sizeof rec.ordinal);
    enum mrs_status s = group_of(l, h, &rec.group, e);
    uint8_t *room = s == MRS_OK ? mrs_buf_take(&l->recs, mrsi_window_size(&rec)) : NULL;
    if (!room) {
        return s == MRS_OK ? mrs_buf_status(&l->recs, e) : s;
    }
    memcpy(room, &rec, sizeof rec);
    memcpy(room + sizeof rec, key + sizeof h, rec.order);
    memcpy(room + sizeof rec + rec.order, p + sizeof rec.ordinal, rec.payload);
    list_at(l, rec.group)->n++;
    l->n++;
    return MRS_OK;
}

/* ---- groups ---- */
/* The first bytes of an order, which distinguish most members without reading the rest. */
static uint64_t
prefix_of(const uint8_t *p, uint32_t n)
{
    uint8_t first[8] = {0};
    memcpy(first, p, n < sizeof first ? n : sizeof first);
    return mrsi_get_be(first, sizeof first);
}

enum mrs_status
mrsi_window_lists_end(struct mrsi_window_lists *l, struct mrs_err *e)
{
    struct mrsi_window_member *m =
        (struct mrsi_window_member *)(void *)mrs_buf_take(&l->members, l->n * sizeof *m);
    uint64_t first = 0;
    if (!m && l->n) {
        return mrs_buf_status(&l->members, e);
    }
    for (uint64_t i = 0; i < l->n_groups; i++) {
        list_at(l, i)->first = first;
        first += list_at(l, i)->n;
        list_at(l, i)->n = 0;
    }
    for (uint64_t at = 0; at < l->recs.n;) {
        const struct mrsi_window_record *r = (const struct mrsi_window_record *)(const void *)(l->recs.p + at);
        struct window_list *g = list_at(l, r->group);
        m[g->first + g->n++] = (struct mrsi_window_member){prefix_of((const uint8_t *)(r + 1), r->order), r};
        at += mrsi_window_size(r);
    }
    MRS_ASSERT(first == l->n);
    return MRS_OK;
}

static int
by_order(const void *a, const void *b)
{
    const struct mrsi_window_member *ma = a, *mb = b;
    if (ma->prefix != mb->prefix) {
        return ma->prefix < mb->prefix ? -1 : 1;
    }
    const struct mrsi_window_record *x = ma->record, *y = mb->record;
    uint32_t n = x->order < y->order ? x->order : y->order;
    int c = n ? memcmp(x + 1, y + 1, n) : 0;
    c = c ? c : x->order < y->order ? -1 : x->order > y->order;
    return c ? c : x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

const struct mrsi_window_member *
mrsi_window_list(struct mrsi_window_lists *l, uint64_t no, uint64_t *n)
{
    MRS_ASSERT(no < l->n_groups);
    struct mrsi_window_member *m = (struct mrsi_window_member *)(void *)l->members.p + list_at(l, no)->first;
    bool sorted = true;
    *n = list_at(l, no)->n;
    for (uint64_t i = 1; sorted && i < *n; i++) {
        sorted = by_order(&m[i - 1], &m[i]) < 0;
    }
    if (!sorted) {
        qsort(m, *n, sizeof *m, by_order);
    }
    return m;
}

/* ---- to the sorter ---- */
static int
by_hash(const void *a, const void *b)
{
    const struct window_list *x = a, *y = b;
    return memcmp(&x->key, &y->key, sizeof x->key);
}

static enum mrs_status
put_group(struct mrsi_window_lists *l, uint64_t no, struct mrs_buf bufs[2], struct mrsi_sorter *to, struct mrs_err *e)
{
    MRS_ASSERT(no < l->n_groups && !to->done);
    struct mrs_buf *key = &bufs[0], *rest = &bufs[1];
    uint64_t n;
    const struct mrsi_window_member *m = mrsi_window_list(l, no, &n);
    enum mrs_status s = MRS_OK;
    for (uint64_t i = 0; s == MRS_OK && i < n; i++) {
        const struct mrsi_window_record *r = m[i].record;
        const uint8_t *p = (const uint8_t *)(r + 1);
        mrs_buf_reset(key);
        mrs_buf_reset(rest);
        mrs_buf_put(key, &list_at(l, no)->key, sizeof(struct mrs_hash128));
        mrs_buf_put(key, p, r->order);
        mrs_buf_put(rest, &r->ordinal, sizeof r->ordinal);
        mrs_buf_put(rest, p + r->order, r->payload);
        s = mrs_buf_status(key, e);
        MRS_THEN(s, mrs_buf_status(rest, e));
        MRS_THEN(s, mrsi_sorter_put(to, key->p, (uint32_t)key->n, rest->p, (uint32_t)rest->n, e));
        MRS_THEN(s, mrsi_interrupted(to->en, e));
    }
    return s;
}

enum mrs_status
mrsi_window_to_sorter(struct mrsi_window_run *r, struct mrs_err *e)
{
    struct mrsi_window_lists *l = &r->lists;
    struct mrs_buf bufs[2];
    l->on = false;
    if (!l->n) {
        return MRS_OK;
    }
    mrs_buf_init(&bufs[0], r->en->mem, SIZE_MAX);
    mrs_buf_init(&bufs[1], r->en->mem, SIZE_MAX);
    enum mrs_status s = mrsi_window_lists_end(l, e);
    if (s == MRS_OK) {
        qsort(l->groups.p, l->n_groups, sizeof(struct window_list), by_hash); /* numbers of groups end here */
    }
    for (uint64_t i = 0; s == MRS_OK && i < l->n_groups; i++) {
        s = put_group(l, i, bufs, &r->members, e);
    }
    MRS_THEN(s, mrsi_sorter_cut(&r->members, e));
    mrs_buf_clear(&bufs[0]);
    mrs_buf_clear(&bufs[1]);
    mrsi_window_lists_clear(l);
    return s;
}

enum mrs_status
mrsi_window_put(struct mrsi_window_run *r, const uint8_t *key, uint32_t key_len, const uint8_t *p, uint32_t n,
                struct mrs_err *e)
{
    const struct mrsi_window_lists *l = &r->lists;
    uint64_t bytes = l->recs.n + l->n * sizeof(struct mrsi_window_member) + 2 * (l->table.n + l->groups.n);
    enum mrs_status s = bytes + key_len + n > l->limit ? mrsi_window_to_sorter(r, e) : MRS_OK;
    return s == MRS_OK ? put_record(&r->lists, key, key_len, p, n, e) : s;
}

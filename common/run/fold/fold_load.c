/* SPDX-License-Identifier: Apache-2.0 */
/* fold_load.c - loads a partition into memory: groups in key order, their members in order.
 *
 * A shared record finds its group by hash, once for each piece. Only the keys of groups are sorted; members get their
 * places by counting. Within a group members come in the order of reading, which is often the required order, or
 * nearly. */
#include "fold.h"
#include <stdlib.h>

enum { SLOTS = 256 };

struct fold_load_place { /* position of a group among the others */
    uint64_t prefix;
    uint32_t group, pad;
};

void
mrsi_fold_load_init(struct mrsi_fold_load *l, struct mrs_mem *mem)
{
    struct mrs_buf *const all[] = {&l->bytes, &l->list, &l->shared_all, &l->groups, &l->table, &l->sorted, &l->members};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_init(all[i], mem, SIZE_MAX);
    }
}

void
mrsi_fold_load_clear(struct mrsi_fold_load *l)
{
    struct mrs_buf *const all[] = {&l->bytes, &l->list, &l->shared_all, &l->groups, &l->table, &l->sorted, &l->members};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_clear(all[i]);
    }
}

static struct mrsi_fold_group *
groups_of(const struct mrsi_fold_load *l)
{
    return (struct mrsi_fold_group *)(void *)l->groups.p;
}

const struct mrsi_fold_group *
mrsi_fold_group_at(const struct mrsi_fold_load *l, uint32_t i)
{
    MRS_ASSERT(i < l->n_groups);
    return &groups_of(l)[((const struct fold_load_place *)(const void *)l->sorted.p)[i].group];
}

/* ---- read records ---- */
struct fold_load_stream { /* pieces whose documents come in order */
    const uint8_t *p, *end;
    size_t piece; /* next one to open */
    uint64_t ordinal; /* of the current piece */
    uint32_t no;
    uint32_t *shared; /* of the current piece: their indexes in l->shared_all */
};

enum { AHEAD = 512, SHARED = (64 << 10) / sizeof(struct mrsi_fold_shared_rec) }; /* records of a piece, at most */

/* The next record of a stream; NULL at the end. */
static const struct mrsi_fold_rec *
peek(struct fold_load_stream *st, const struct mrsi_spill_piece *x, uint8_t *const *loaded, size_t n)
{
    while (st->p == st->end) {
        while (st->piece < n && x[st->piece].stream != st->no) {
            st->piece++;
        }
        if (st->piece == n) {
            return NULL;
        }
        st->p = loaded[st->piece];
        st->end = st->p + x[st->piece].n;
        st->ordinal = mrsi_fold_ordinal((const struct mrsi_fold_rec *)(const void *)st->p);
        st->piece++;
    }
    return (const struct mrsi_fold_rec *)(const void *)st->p;
}

static enum mrs_status
more_slots(struct mrsi_fold_load *l, struct mrs_err *e)
{
    l->n_slots = l->n_slots ? l->n_slots * 2 : SLOTS;
    mrs_buf_reset(&l->table);
    uint32_t *slot = (uint32_t *)(void *)mrs_buf_take(&l->table, l->n_slots * sizeof *slot);
    if (!slot) {
        return mrs_buf_status(&l->table, e);
    }
    memset(slot, 0, l->n_slots * sizeof *slot);
    for (uint32_t i = 0; i < l->n_groups; i++) {
        uint32_t at = groups_of(l)[i].ref & (l->n_slots - 1);
        while (slot[at]) {
            at = (at + 1) & (l->n_slots - 1);
        }
        slot[at] = i + 1;
    }
    return MRS_OK;
}

/* Shared records of a group in two pieces are usually equal. */
static void
note_shared(struct mrsi_fold_load *l, struct fold_load_stream *st, const struct mrsi_fold_rec *r, uint32_t group)
{
    MRS_ASSERT(group < l->n_groups && r->form == MRSI_FOLD_SHARED);
    struct mrsi_fold_group *g = &groups_of(l)[group];
    const struct mrsi_fold_shared *all = (const struct mrsi_fold_shared *)(const void *)l->shared_all.p;
    struct mrsi_fold_shared shared = {r, st->ordinal, group, (uint32_t)(l->shared_all.n / sizeof shared)};
    st->shared[r->shared] = shared.first_equal;
    if (g->n && mrsi_fold_compare(mrsi_fold_shared_rest(all[g->shared].rec), mrsi_fold_shared_rest(r)) == 0) {
        shared.first_equal = g->shared;
    }
    g->shared = shared.first_equal;
    mrs_buf_put(&l->shared_all, &shared, sizeof shared);
}

/* Adds a shared record. Its group is found by hash, in a table of its own, because keys are compared: a slot holds the
 * index of a group plus 1. */
static enum mrs_status
add_shared(struct mrsi_fold_load *l, struct fold_load_stream *st, const struct mrsi_fold_rec *r, struct mrs_err *e)
{
    struct mrs_view key = mrsi_fold_shared_group(r);
    uint32_t ref = mrsi_fold_as_shared(r)->ref, group = UINT32_MAX;
    if (l->n_groups >= l->n_slots / 2 && more_slots(l, e) != MRS_OK) {
        return MRS_DEAD;
    }
    uint32_t *slot = (uint32_t *)(void *)l->table.p, i = ref & (l->n_slots - 1);
    for (; slot[i] && group == UINT32_MAX; i = (i + 1) & (l->n_slots - 1)) {
        const struct mrsi_fold_group *g = &groups_of(l)[slot[i] - 1];
        group = g->ref == ref && mrsi_fold_compare(g->key, key) == 0 ? slot[i] - 1 : group;
    }
    if (group == UINT32_MAX) {
        struct mrsi_fold_group g = {.ref = ref, .key = key};
        mrs_buf_put(&l->groups, &g, sizeof g);
        group = l->n_groups++;
        slot[i] = l->n_groups;
    }
    if (l->groups.bad) {
        return mrs_err_memory(e, l->groups.n);
    }
    note_shared(l, st, r, group);
    return mrs_buf_status(&l->shared_all, e);
}

static enum mrs_status
add_record(struct mrsi_fold_load *l, struct fold_load_stream *st, const struct mrsi_fold_rec *r, struct mrs_err *e)
{
    if (r->form == MRSI_FOLD_SHARED) {
        return add_shared(l, st, r, e);
    }
    struct mrsi_fold_member *m = (struct mrsi_fold_member *)(void *)mrs_buf_take(&l->list, sizeof *m);
    if (!m) {
        return mrs_buf_status(&l->list, e);
    }
    m->rec = r; /* field by field: a copy of the struct would wait for the stores just made */
    m->order = mrsi_fold_next(r);
    m->shared = st->shared[r->shared];
    m->first = mrsi_fold_first(r);
    groups_of(l)[mrsi_fold_shared_of(l, m)->group].n++;
    return MRS_OK;
}

/* The stream with the smallest next record, and the limit up to which it can be read before another. */
static struct fold_load_stream *
first_stream(struct fold_load_stream *st, uint32_t n_streams, const struct mrsi_spill_piece *x, uint8_t *const *loaded,
             size_t n, uint64_t *up_to)
{
    struct fold_load_stream *best = NULL;
    uint64_t first = UINT64_MAX;
    *up_to = UINT64_MAX;
    for (uint32_t i = 0; i < n_streams; i++) {
        const struct mrsi_fold_rec *r = peek(&st[i], x, loaded, n);
        const uint64_t at = r ? st[i].ordinal + r->since : 0;
        if (r && (!best || at < first)) {
            *up_to = best ? first : UINT64_MAX;
            first = at;
            best = &st[i];
        } else if (r && at < *up_to) {
            *up_to = at;
        }
    }
    return best;
}

/* Merges all records in document order. */
static enum mrs_status
merge(struct mrsi_fold_load *l, struct fold_load_stream *st, uint32_t n_streams, const struct mrsi_partition *p,
      uint8_t *const *loaded, struct mrs_err *e)
{
    const struct mrsi_spill_piece *x = (const struct mrsi_spill_piece *)(const void *)p->pieces.p;
    size_t n = p->pieces.n / sizeof *x;
    enum mrs_status s = MRS_OK;
    struct fold_load_stream *best;
    uint64_t up_to;
    while (s == MRS_OK && (best = first_stream(st, n_streams, x, loaded, n, &up_to)) != NULL) {
        const struct mrsi_fold_rec *r = peek(best, x, loaded, n);
        do {
            __builtin_prefetch(best->p + AHEAD);
            s = add_record(l, best, r, e);
            best->p += mrsi_fold_size(r);
            r = peek(best, x, loaded, n);
        } while (s == MRS_OK && r && best->ordinal + r->since < up_to);
    }
    return s;
}

static enum mrs_status
read_records(struct mrsi_fold *f, struct mrsi_fold_load *l, const struct mrsi_partition *p, struct mrs_err *e)
{
    MRS_ASSERT(f->spill.streams > 0);
    uint32_t streams = f->spill.streams, *shared_all = mrs_alloc(f->en->mem,
                                                                 (size_t)streams * SHARED * sizeof *shared_all);
    struct fold_load_stream *st = mrs_zalloc(f->en->mem, streams * sizeof *st);
    uint8_t **loaded;
    enum mrs_status s = shared_all && st ? mrsi_partition_load_pieces(&f->spill, p, &l->bytes, &loaded, e)
                                   : mrs_err_memory(e, (size_t)streams * SHARED * sizeof *shared_all);
    mrs_buf_reset(&l->list);
    mrs_buf_reset(&l->shared_all);
    mrs_buf_reset(&l->groups);
    l->n_groups = l->n_slots = 0;
    for (uint32_t i = 0; s == MRS_OK && i < streams; i++) {
        st[i].no = i;
        st[i].shared = shared_all + (size_t)i * SHARED;
    }
    MRS_THEN(s, merge(l, st, streams, p, loaded, e));
    mrs_free(f->en->mem, shared_all);
    mrs_free(f->en->mem, st);
    return s;
}

/* ---- groups ---- */
static int
by_place(const void *pa, const void *pb, void *arg)
{
    const struct fold_load_place *a = pa, *b = pb;
    const struct mrsi_fold_load *l = arg;
    if (a->prefix != b->prefix) {
        return a->prefix < b->prefix ? -1 : 1;
    }
    const struct mrsi_fold_group *g = groups_of(l);
    return mrsi_fold_compare(g[a->group].key, g[b->group].key);
}

/* Length of the common prefix of all keys. */
static size_t
common_bytes(const struct mrsi_fold_load *l)
{
    const struct mrsi_fold_group *g = groups_of(l);
    struct mrs_view first = l->n_groups ? g[0].key : (struct mrs_view){NULL, 0};
    size_t n = first.n;
    for (uint32_t i = 1; i < l->n_groups && n; i++) {
        struct mrs_view key = g[i].key;
        n = key.n < n ? key.n : n;
        size_t k = 0;
        while (k < n && key.p[k] == first.p[k]) {
            k++;
        }
        n = k;
    }
    return n;
}

enum mrs_status
mrsi_fold_sort_groups(struct mrsi_fold_load *l, struct mrs_err *e)
{
    size_t skip = common_bytes(l);
    uint32_t at = 0;
    mrs_buf_reset(&l->sorted);
    struct fold_load_place *p = (struct fold_load_place *)(void *)mrs_buf_take(&l->sorted,
                                                                               (l->n_groups + 1) * sizeof *p);
    if (!p) {
        return mrs_buf_status(&l->sorted, e);
    }
    for (uint32_t i = 0; i < l->n_groups; i++) {
        p[i] = (struct fold_load_place){mrsi_fold_prefix(groups_of(l)[i].key, skip), i, 0};
    }
    if (l->n_groups > 1) {
        qsort_r(p, l->n_groups, sizeof *p, by_place, l);
    }
    for (uint32_t i = 0; i < l->n_groups; i++) {
        struct mrsi_fold_group *g = &groups_of(l)[p[i].group];
        g->at = at;
        at += g->n;
        g->n = 0; /* counted again while members are placed */
    }
    return MRS_OK;
}

/* ---- members ---- */
static int
by_order(const void *pa, const void *pb, void *arg)
{
    const struct mrsi_fold_member *a = pa, *b = pb;
    const struct mrsi_fold_load *l = arg;
    uint8_t room_a[9], room_b[9];
    if (a->first != b->first || a->order != b->order) {
        return a->first < b->first || (a->first == b->first && a->order < b->order) ? -1 : 1;
    }
    int c = 0;
    if (a->rec->form == MRSI_FOLD_LONG || b->rec->form == MRSI_FOLD_LONG) {
        c = mrsi_fold_compare(mrsi_fold_order(a->rec, room_a), mrsi_fold_order(b->rec, room_b));
    }
    uint64_t at_a = mrsi_fold_ordinal_of(l, a), at_b = mrsi_fold_ordinal_of(l, b);
    return c ? c : at_a < at_b ? -1 : at_a > at_b;
}

/* The part of the comparison of by_order that decides for most neighbors. */
static inline bool
is_before(const struct mrsi_fold_member *a, const struct mrsi_fold_member *b)
{
    return a->first == b->first && a->order < b->order;
}

/* Members that are nearly sorted are moved a few places; else all are sorted. */
static void
sort_members(struct mrsi_fold_load *l, struct mrsi_fold_member *m, uint32_t n)
{
    uint64_t moves = 8ull * n;
    for (uint32_t i = 1; i < n; i++) {
        if (is_before(&m[i - 1], &m[i]) || by_order(&m[i - 1], &m[i], l) <= 0) {
            continue;
        }
        struct mrsi_fold_member x = m[i];
        uint32_t k = i;
        for (; k && moves && by_order(&m[k - 1], &x, l) > 0; k--, moves--) {
            m[k] = m[k - 1];
        }
        m[k] = x;
        if (!moves) {
            qsort_r(m, n, sizeof *m, by_order, l);
            return;
        }
    }
}

static enum mrs_status
place_members(struct mrsi_fold_load *l, struct mrs_err *e)
{
    const struct mrsi_fold_member *x = (const struct mrsi_fold_member *)(const void *)l->list.p;
    size_t n = l->list.n / sizeof *x;
    mrs_buf_reset(&l->members);
    struct mrsi_fold_member *m = (struct mrsi_fold_member *)(void *)mrs_buf_take(&l->members, (n + 1) * sizeof *m);
    if (!m) {
        return mrs_buf_status(&l->members, e);
    }
    struct mrsi_fold_group *g = groups_of(l);
    for (size_t i = 0; i < n; i++) {
        struct mrsi_fold_group *of = &g[mrsi_fold_shared_of(l, &x[i])->group];
        m[of->at + of->n++] = x[i];
    }
    for (uint32_t i = 0; i < l->n_groups; i++) {
        sort_members(l, m + g[i].at, g[i].n);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_fold_load(struct mrsi_fold *f, struct mrsi_fold_load *l, const struct mrsi_partition *p, struct mrs_err *e)
{
    enum mrs_status s = read_records(f, l, p, e);
    MRS_THEN(s, mrsi_fold_sort_groups(l, e));
    return s == MRS_OK ? place_members(l, e) : s;
}

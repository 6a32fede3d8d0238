/* fold_load.c - a partition in memory, its groups in the order of their keys, their members in theirs.
 *
 * Members find their group by hash; only the keys of groups are sorted, members are counted into their places. Within
 * a group they come as they were read, which is often the order that is wanted. */
#include "fold.h"
#include <stdlib.h>

struct place { /* of a group among the others */
    uint64_t prefix;
    uint32_t group, pad;
};

void
mrsi_fold_load_init(struct mrsi_fold_load *l, struct mrs_mem *mem)
{
    struct mrs_buf *const all[] = {&l->bytes, &l->list, &l->of, &l->groups, &l->table, &l->sorted, &l->members};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_init(all[i], mem, SIZE_MAX);
    }
}

void
mrsi_fold_load_clear(struct mrsi_fold_load *l)
{
    struct mrs_buf *const all[] = {&l->bytes, &l->list, &l->of, &l->groups, &l->table, &l->sorted, &l->members};
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
    return &groups_of(l)[((const struct place *)(const void *)l->sorted.p)[i].group];
}

static bool
same_key(const struct mrsi_rec *a, const struct mrsi_rec *b)
{
    return a->verify_len == b->verify_len && memcmp(mrsi_rec_verify(a), mrsi_rec_verify(b), a->verify_len) == 0;
}

/* The group of a record; slots hold the number of a group and 1. */
static uint32_t
group_of(struct mrsi_fold_load *l, const struct mrsi_loaded *x, uint32_t *slot, uint32_t mask)
{
    uint32_t i = x->ref & mask;
    for (; slot[i]; i = (i + 1) & mask) {
        const struct mrsi_rec *first = groups_of(l)[slot[i] - 1].first;
        if (first->ref == x->ref && same_key(first, x->rec)) {
            return slot[i] - 1;
        }
    }
    struct mrsi_fold_group g = {x->rec, 0, 0};
    mrs_buf_put(&l->groups, &g, sizeof g);
    slot[i] = ++l->n_groups;
    return l->n_groups - 1;
}

static enum mrs_status
find_groups(struct mrsi_fold_load *l, struct mrs_err *e)
{
    const struct mrsi_loaded *x = (const struct mrsi_loaded *)(const void *)l->list.p;
    uint32_t n = (uint32_t)(l->list.n / sizeof *x), slots = 64, last = 0;
    while (slots < n * 2ull) {
        slots *= 2;
    }
    mrs_buf_reset(&l->of);
    mrs_buf_reset(&l->groups);
    mrs_buf_reset(&l->table);
    l->n_groups = 0;
    uint32_t *of = (uint32_t *)(void *)mrs_buf_take(&l->of, (n + 1) * sizeof *of);
    uint32_t *slot = (uint32_t *)(void *)mrs_buf_take(&l->table, slots * sizeof *slot);
    if (!of || !slot) {
        return mrs_err_memory(e, slots * sizeof *slot);
    }
    memset(slot, 0, slots * sizeof *slot);
    for (uint32_t i = 0; i < n && !l->groups.bad; i++) {
        bool again = i && x[i].ref == x[i - 1].ref && same_key(x[i].rec, x[i - 1].rec);
        last = again ? last : group_of(l, &x[i], slot, slots - 1);
        of[i] = last;
        if (!l->groups.bad) {
            groups_of(l)[last].n++;
        }
    }
    return mrs_buf_status(&l->groups, e);
}

static int
by_place(const void *pa, const void *pb, void *arg)
{
    const struct place *a = pa, *b = pb;
    const struct mrsi_fold_load *l = arg;
    if (a->prefix != b->prefix) {
        return a->prefix < b->prefix ? -1 : 1;
    }
    const struct mrsi_fold_group *g = groups_of(l);
    return mrsi_fold_compare(mrsi_fold_key(g[a->group].first), mrsi_fold_key(g[b->group].first));
}

/* How many bytes the keys of all groups begin with alike. */
static size_t
common_bytes(const struct mrsi_fold_load *l)
{
    const struct mrsi_fold_group *g = groups_of(l);
    struct mrs_view first = l->n_groups ? mrsi_fold_key(g[0].first) : (struct mrs_view){NULL, 0};
    size_t n = first.n;
    for (uint32_t i = 1; i < l->n_groups && n; i++) {
        struct mrs_view key = mrsi_fold_key(g[i].first);
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
    struct place *p = (struct place *)(void *)mrs_buf_take(&l->sorted, (l->n_groups + 1) * sizeof *p);
    if (!p) {
        return mrs_buf_status(&l->sorted, e);
    }
    for (uint32_t i = 0; i < l->n_groups; i++) {
        p[i] = (struct place){mrsi_fold_prefix(mrsi_fold_key(groups_of(l)[i].first), skip), i, 0};
    }
    if (l->n_groups > 1) {
        qsort_r(p, l->n_groups, sizeof *p, by_place, l);
    }
    for (uint32_t i = 0; i < l->n_groups; i++) {
        struct mrsi_fold_group *g = &groups_of(l)[p[i].group];
        g->at = at;
        at += g->n;
        g->n = 0; /* counted again while members take their places */
    }
    return MRS_OK;
}

static struct mrs_view
order_of(const struct mrsi_rec *r)
{
    struct mrs_view order = {mrsi_rec_sort(r), r->sort_len};
    return order;
}

static int
by_order(const void *pa, const void *pb)
{
    const struct mrsi_rec *a, *b;
    memcpy(&a, pa, sizeof a);
    memcpy(&b, pb, sizeof b);
    int c = mrsi_fold_compare(order_of(a), order_of(b));
    return c ? c : a->order < b->order ? -1 : a->order > b->order;
}

static void
sort_members(const struct mrsi_rec **m, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (mrsi_fold_compare(order_of(m[i - 1]), order_of(m[i])) > 0) {
            qsort(m, n, sizeof(const struct mrsi_rec *), by_order);
            return;
        }
    }
}

static enum mrs_status
place_members(struct mrsi_fold_load *l, struct mrs_err *e)
{
    const struct mrsi_loaded *x = (const struct mrsi_loaded *)(const void *)l->list.p;
    const uint32_t *of = (const uint32_t *)(const void *)l->of.p;
    size_t n = l->list.n / sizeof *x;
    mrs_buf_reset(&l->members);
    const struct mrsi_rec **m =
        (const struct mrsi_rec **)(void *)mrs_buf_take(&l->members, (n + 1) * sizeof(const struct mrsi_rec *));
    if (!m) {
        return mrs_buf_status(&l->members, e);
    }
    struct mrsi_fold_group *g = groups_of(l);
    for (size_t i = 0; i < n; i++) {
        m[g[of[i]].at + g[of[i]].n++] = x[i].rec;
    }
    for (uint32_t i = 0; i < l->n_groups; i++) {
        sort_members(m + g[i].at, g[i].n);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_fold_load(struct mrsi_fold *f, struct mrsi_fold_load *l, const struct mrsi_partition *p, struct mrs_err *e)
{
    enum mrs_status s = mrsi_partition_load(&f->spill, p, p->lo, p->hi, &l->bytes, &l->list, e);
    s = s == MRS_OK ? find_groups(l, e) : s;
    s = s == MRS_OK ? mrsi_fold_sort_groups(l, e) : s;
    return s == MRS_OK ? place_members(l, e) : s;
}

/* ids.c - finding equal `_id`s in bounded memory, and judging them.
 *
 * Hashes are thrown into buckets by their top bits; buckets that outgrow their share of memory go to a temporary
 * file. Equal hashes meet in one bucket, which is sorted alone. See ids.h for the three phases. */
#include "ids.h"
#include <stdlib.h>

enum { BUCKETS = 512 };

struct extent {
    uint64_t off;
    uint32_t bucket, n;
};

enum mrs_status
mrsi_ids_init(struct mrsi_ids *ids, struct mrsi_engine *en, enum mrs_conflicts policy, struct mrs_err *e)
{
    memset(ids, 0, sizeof *ids);
    ids->en = en;
    ids->policy = policy;
    ids->bucket = mrs_zalloc(en->mem, BUCKETS * sizeof *ids->bucket);
    if (!ids->bucket) {
        return mrs_err_memory(e, BUCKETS * sizeof *ids->bucket);
    }
    for (int i = 0; i < BUCKETS; i++) {
        mrs_buf_init(&ids->bucket[i], en->mem, SIZE_MAX);
    }
    struct mrs_buf *all[] = {&ids->extents, &ids->suspicious, &ids->members,
                             &ids->barred,  &ids->merged,     &ids->replaced};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_buf_init(all[i], en->mem, SIZE_MAX);
    }
    return MRS_OK;
}

static void
drop_buckets(struct mrsi_ids *ids)
{
    for (int i = 0; ids->bucket && i < BUCKETS; i++) {
        mrs_buf_clear(&ids->bucket[i]);
    }
    mrs_free(ids->en->mem, ids->bucket);
    ids->bucket = NULL;
    mrs_buf_clear(&ids->extents);
    mrsi_temp_drop(ids->en, ids->spill);
    ids->spill = NULL;
}

void
mrsi_ids_clear(struct mrsi_ids *ids)
{
    if (ids->en) {
        drop_buckets(ids);
        mrs_buf_clear(&ids->suspicious);
        mrs_buf_clear(&ids->members);
        mrs_buf_clear(&ids->barred);
        mrs_buf_clear(&ids->merged);
        mrs_buf_clear(&ids->replaced);
        mrsi_temp_drop(ids->en, ids->bodies);
        ids->bodies = NULL;
    }
}

enum mrs_status
mrsi_ids_hash(const struct mrsi_ids *ids, uint32_t target, struct mrs_view doc, struct mrs_buf *scratch,
              struct mrs_hash128 *out, struct mrs_err *e)
{
    struct mrs_elem id;
    if (!mrs_doc_find(doc, "_id", 3, &id)) {
        return MRS_END;
    }
    mrs_buf_reset(scratch);
    mrs_buf_put(scratch, &target, sizeof target);
    mrs_key_append(scratch, id.v, false);
    if (scratch->bad == 1) {
        return mrs_buf_status(scratch, e);
    }
    /* an _id over the key limit: its bytes as they are, good enough to find clashes of equal bytes */
    *out = scratch->bad ? mrs_hash(id.v.p, id.v.n, ids->en->seed + target)
                        : mrs_hash(scratch->p, scratch->n, ids->en->seed);
    return MRS_OK;
}

static enum mrs_status
flush(struct mrsi_ids *ids, struct mrs_err *e)
{
    enum mrs_status s = ids->spill ? MRS_OK : mrsi_temp_new(ids->en, &ids->spill, e);
    for (uint32_t i = 0; s == MRS_OK && i < BUCKETS; i++) {
        struct mrs_buf *b = &ids->bucket[i];
        if (!b->n) {
            continue;
        }
        struct extent x = {ids->spilled, i, (uint32_t)b->n};
        s = mrs_write_at(ids->spill->fd, b->p, b->n, ids->spilled, e);
        ids->spilled += b->n;
        mrs_buf_put(&ids->extents, &x, sizeof x);
        mrs_buf_reset(b);
    }
    ids->held = 0;
    return s == MRS_OK ? mrs_buf_status(&ids->extents, e) : s;
}

enum mrs_status
mrsi_ids_take(struct mrsi_ids *ids, const uint64_t *hash, size_t n, struct mrs_err *e)
{
    for (size_t i = 0; i < n; i++) {
        struct mrs_buf *b = &ids->bucket[hash[i] >> 55];
        mrs_buf_put(b, &hash[i], 8);
        if (b->bad) {
            return mrs_buf_status(b, e);
        }
    }
    ids->held += n * 8;
    return ids->held > ids->en->memory / 4 ? flush(ids, e) : MRS_OK;
}

static int
by_u64(const void *pa, const void *pb)
{
    uint64_t a, b;
    memcpy(&a, pa, 8);
    memcpy(&b, pb, 8);
    return a < b ? -1 : a > b;
}

/* Reads what was spilled of bucket i behind what memory holds of it. */
static enum mrs_status
load_bucket(struct mrsi_ids *ids, uint32_t i, struct mrs_err *e)
{
    const struct extent *x = (const struct extent *)(const void *)ids->extents.p;
    size_t n = ids->extents.n / sizeof *x;
    for (size_t k = 0; k < n; k++) {
        if (x[k].bucket == i) {
            uint8_t *p = mrs_buf_take(&ids->bucket[i], x[k].n);
            enum mrs_status s =
                p ? mrs_read_at(ids->spill->fd, p, x[k].n, x[k].off, e) : mrs_buf_status(&ids->bucket[i], e);
            if (s != MRS_OK) {
                return s;
            }
        }
    }
    return MRS_OK;
}

/* Marks of a small hash set tell most buckets free of duplicates without sorting them. */
static bool
has_twice(const uint64_t *h, size_t n, uint64_t *slot, size_t slots)
{
    memset(slot, 0, slots * sizeof *slot);
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)(h[i] * 0x9E3779B97F4A7C15ull >> 20) & (slots - 1);
        uint64_t v = h[i] | 1; /* never 0: two hashes that differ in the last bit only are suspected for nothing */
        while (slot[at] && slot[at] != v) {
            at = (at + 1) & (slots - 1);
        }
        if (slot[at]) {
            return true;
        }
        slot[at] = v;
    }
    return false;
}

static enum mrs_status
look_bucket(struct mrsi_ids *ids, struct mrs_buf *b, struct mrs_buf *set, struct mrs_err *e)
{
    uint64_t *h = (uint64_t *)(void *)b->p;
    size_t n = b->n / 8, slots = 64;
    while (slots < n * 2) {
        slots *= 2;
    }
    mrs_buf_reset(set);
    uint64_t *slot = (uint64_t *)(void *)mrs_buf_take(set, slots * 8);
    if (!slot) {
        return mrs_buf_status(set, e);
    }
    if (n < 2 || !has_twice(h, n, slot, slots)) {
        return MRS_OK;
    }
    qsort(h, n, 8, by_u64);
    for (size_t i = 1; i < n; i++) {
        if (h[i] == h[i - 1] && (i < 2 || h[i] != h[i - 2])) {
            mrs_buf_put(&ids->suspicious, &h[i], 8);
        }
    }
    return mrs_buf_status(&ids->suspicious, e);
}

enum mrs_status
mrsi_ids_look(struct mrsi_ids *ids, bool *clash, struct mrs_err *e)
{
    struct mrs_buf set;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&set, ids->en->mem, SIZE_MAX);
    for (uint32_t i = 0; s == MRS_OK && i < BUCKETS; i++) { /* top bits ascend: suspicious ends sorted */
        s = ids->spilled ? load_bucket(ids, i, e) : MRS_OK;
        if (s == MRS_OK) {
            s = look_bucket(ids, &ids->bucket[i], &set, e);
        }
        mrs_buf_clear(&ids->bucket[i]);
    }
    mrs_buf_clear(&set);
    drop_buckets(ids);
    *clash = ids->suspicious.n > 0;
    ids->phase = MRSI_IDS_RESOLVE;
    return s;
}

bool
mrsi_ids_is_suspicious(const struct mrsi_ids *ids, uint64_t hash)
{
    return ids->suspicious.n && bsearch(&hash, ids->suspicious.p, ids->suspicious.n / 8, 8, by_u64);
}

static bool
is_over(const struct mrsi_ids *ids, uint32_t target)
{
    for (uint32_t i = 0; i < ids->n_over; i++) {
        if (ids->over[i] == target) {
            return true;
        }
    }
    return false;
}

bool
mrsi_ids_keeps_bodies(const struct mrsi_ids *ids, uint32_t target)
{
    return ids->policy == MRS_CONFLICTS_LAST || is_over(ids, target);
}

enum mrs_status
mrsi_ids_members(struct mrsi_ids *ids, const struct mrs_buf *list, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (size_t at = 0; s == MRS_OK && at < list->n;) {
        struct mrsi_member m;
        memcpy(&m, list->p + at, sizeof m);
        at += sizeof m;
        if (m.body_len) {
            m.body_at = ids->bodies_bytes;
            s = ids->bodies ? MRS_OK : mrsi_temp_new(ids->en, &ids->bodies, e);
            s = s == MRS_OK ? mrs_write_at(ids->bodies->fd, list->p + at, m.body_len, m.body_at, e) : s;
            ids->bodies_bytes += m.body_len;
            at += m.body_len;
        }
        mrs_buf_put(&ids->members, &m, sizeof m);
    }
    return s == MRS_OK ? mrs_buf_status(&ids->members, e) : s;
}

#define CMP(x, y)                                                                                                    \
    if ((x) != (y)) {                                                                                                \
        return (x) < (y) ? -1 : 1;                                                                                   \
    }

/* By key; what is there first; then in input order. */
static int
by_key(const void *pa, const void *pb)
{
    const struct mrsi_member *a = pa, *b = pb;
    CMP(a->key_lo, b->key_lo)
    CMP(a->key_hi, b->key_hi)
    CMP(b->there, a->there)
    CMP(a->source, b->source)
    CMP(a->product, b->product)
    return 0;
}

static bool
same_key(const struct mrsi_member *a, const struct mrsi_member *b)
{
    return a->key_lo == b->key_lo && a->key_hi == b->key_hi;
}

static bool
same_body(const struct mrsi_member *a, const struct mrsi_member *b)
{
    return a->body_lo == b->body_lo && a->body_hi == b->body_hi;
}

static void
put_pair(struct mrs_buf *list, uint64_t a, uint64_t b)
{
    uint64_t pair[2] = {a, b};
    mrs_buf_put(list, pair, sizeof pair);
}

/* The first member keeps the place, the winner gives the contents; all others are counted once. What was there more
 * than once stays so. */
static void
one_wins(struct mrsi_ids *ids, const struct mrsi_member *m, size_t n, size_t winner)
{
    for (size_t i = 1; i < n; i++) {
        if (!m[i].there) {
            put_pair(&ids->merged, m[i].source, m[i].product);
        }
    }
    if (winner > 0 && m[winner].body_len && !same_body(&m[0], &m[winner])) {
        struct mrsi_replaced r = {m[0].there, m[0].there ? m[0].target : m[0].source,
                                  m[0].there ? m[0].source : m[0].product, m[winner].body_at, m[winner].body_len};
        mrs_buf_put(&ids->replaced, &r, sizeof r);
    }
}

static bool
agree(const struct mrsi_member *m, size_t from, size_t n)
{
    for (size_t i = from + 1; i < n; i++) {
        if (!same_body(&m[from], &m[i])) {
            return false;
        }
    }
    return true;
}

static void
judge_key(struct mrsi_ids *ids, const struct mrsi_member *m, size_t n)
{
    size_t first_new = 0;
    while (first_new < n && m[first_new].there) {
        first_new++;
    }
    if (first_new == n) {
        return; /* only documents that were there: no business of this step */
    }
    bool over = is_over(ids, m[0].target);
    if (over && agree(m, first_new, n)) {
        one_wins(ids, m, n, n - 1);
    } else if (ids->policy == MRS_CONFLICTS_LAST) {
        one_wins(ids, m, n, n - 1);
    } else if (ids->policy == MRS_CONFLICTS_FIRST || (!over && agree(m, 0, n))) {
        one_wins(ids, m, n, 0);
    } else {
        for (size_t i = first_new; i < n; i++) {
            mrs_buf_put(&ids->barred, &m[i].source, 8);
        }
    }
}

static int
by_place(const void *pa, const void *pb)
{
    const struct mrsi_replaced *a = pa, *b = pb;
    CMP(a->there, b->there)
    CMP(a->a, b->a)
    CMP(a->b, b->b)
    return 0;
}

static int
by_pair(const void *pa, const void *pb)
{
    uint64_t a[2], b[2];
    memcpy(a, pa, 16);
    memcpy(b, pb, 16);
    CMP(a[0], b[0])
    CMP(a[1], b[1])
    return 0;
}

static void
sort_list(struct mrs_buf *b, size_t size, int (*cmp)(const void *, const void *))
{
    if (b->n > size) {
        qsort(b->p, b->n / size, size, cmp);
    }
}

enum mrs_status
mrsi_ids_judge(struct mrsi_ids *ids, struct mrs_err *e)
{
    struct mrsi_member *m = (struct mrsi_member *)(void *)ids->members.p;
    size_t n = ids->members.n / sizeof *m;
    sort_list(&ids->members, sizeof *m, by_key);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && same_key(&m[i], &m[k]); k++) {
        }
        if (k - i > 1) {
            judge_key(ids, m + i, k - i);
        }
    }
    mrs_buf_clear(&ids->members);
    mrs_buf_clear(&ids->suspicious);
    sort_list(&ids->barred, 8, by_u64);
    sort_list(&ids->merged, 16, by_pair);
    sort_list(&ids->replaced, sizeof(struct mrsi_replaced), by_place);
    ids->phase = MRSI_IDS_VERDICT;
    enum mrs_status s = mrs_buf_status(&ids->barred, e);
    s = s == MRS_OK ? mrs_buf_status(&ids->merged, e) : s;
    return s == MRS_OK ? mrs_buf_status(&ids->replaced, e) : s;
}

bool
mrsi_ids_barred(const struct mrsi_ids *ids, uint64_t source)
{
    return ids->barred.n && bsearch(&source, ids->barred.p, ids->barred.n / 8, 8, by_u64);
}

static bool
has_pair(const struct mrs_buf *b, uint64_t x, uint64_t y)
{
    uint64_t pair[2] = {x, y};
    return b->n && bsearch(pair, b->p, b->n / 16, 16, by_pair);
}

bool
mrsi_ids_merged(const struct mrsi_ids *ids, uint64_t source, uint32_t product)
{
    return has_pair(&ids->merged, source, product);
}

enum mrs_status
mrsi_ids_replace(const struct mrsi_ids *ids, bool there, uint64_t a, uint64_t b, struct mrs_buf *room,
                 struct mrs_view *doc, struct mrs_err *e)
{
    struct mrsi_replaced key = {there, a, b, 0, 0};
    const struct mrsi_replaced *r =
        ids->replaced.n ? bsearch(&key, ids->replaced.p, ids->replaced.n / sizeof key, sizeof key, by_place) : NULL;
    if (!r) {
        return MRS_OK;
    }
    mrs_buf_reset(room);
    uint8_t *p = mrs_buf_take(room, r->len);
    enum mrs_status s = p ? mrs_read_at(ids->bodies->fd, p, r->len, r->at, e) : mrs_buf_status(room, e);
    doc->p = p;
    doc->n = (uint32_t)r->len;
    return s;
}

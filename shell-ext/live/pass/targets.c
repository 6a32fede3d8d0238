/* SPDX-License-Identifier: Apache-2.0 */
/* targets.c - computes the changes that bring some units into their derived state.
 *
 * The units are derived, and their existing products are listed and compared: equal bytes need no change, missing
 * products are inserted, other bytes are corrected, and documents that no unit makes any more are removed. A document
 * that only seems to have no unit (because two parents have one key, or because its parent is in another batch) is
 * checked again from the target to its source. Nothing is written here: the changes go into a burst. */
#include "work.h"

#include "live/link/bson.h"

#include "mongoreshape/value.h"

#include <stdlib.h>

static const uint64_t targets_max = 64u << 20, owners_max = 64u << 20;

struct targets_there { /* an existing document of a target collection, found by its `_id` and side, that is by
                        * mrs_hash_secret of them */
    struct mrs_hash128 key;
    struct mrs_view doc;
    uint32_t side;
    bool used;
    bool nobodys; /* several units need different content there */
};
struct targets_found {
    struct targets_there *t;
    uint32_t n;
};
struct targets_query { /* does some unit make docs[0..n) of a side? */
    int side;
    const struct mrs_view *docs;
    uint32_t n;
    struct targets_found by_key; /* doc.n: index in docs */
    bool *expected;
    bool others;       /* inverted: does it make another one with the same `_id`? */
};

static enum mrs_status open_query(struct live_batch *b, struct targets_query *q, struct mrs_err *e);
static enum mrs_status owners_in(struct live_batch *b, uint32_t main, const struct targets_query *q,
                                 struct mrs_err *e);

bool
live_side_listed(const struct live_job *job, uint32_t group, uint32_t side)
{
    MRS_ASSERT(group < job->live->n_groups);
    const struct mrs_desc *d = &job->plan->steps[job->live->group[group].first].desc;
    if (d->family == MRS_FAMILY_MAP || side >= d->n_sides || !(d->sides[side].role & MRS_ROLE_ADD)) {
        return false;
    }
    for (uint32_t i = 0; i < d->n_listings; i++) {
        if (d->listings[i].side == (int)side) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
key_of(struct live_batch *b, struct mrs_val id, uint32_t side, struct mrs_hash128 *key, struct mrs_err *e)
{
    struct mrs_buf buf;
    mrs_buf_init(&buf, b->job->mem, MRS_DOC_READ_MAX);
    mrs_key_append(&buf, id, false);
    enum mrs_status st = mrs_buf_status(&buf, e);
    *key = st ? (struct mrs_hash128){0, 0} : mrs_hash_secret(&b->job->secret, side, buf.p, buf.n);
    mrs_buf_clear(&buf);
    return st;
}

static int
by_key(const void *x, const void *y)
{
    const struct targets_there *a = x, *b = y;
    if (a->key.hi != b->key.hi) {
        return a->key.hi < b->key.hi ? -1 : 1;
    }
    return a->key.lo < b->key.lo ? -1 : a->key.lo > b->key.lo;
}

static struct targets_there *
lookup(const struct targets_found *f, struct mrs_hash128 key)
{
    struct targets_there probe = {.key = key};
    return f->n ? bsearch(&probe, f->t, f->n, sizeof *f->t, by_key) : NULL;
}

static uint32_t
n_sides(const struct live_batch *b)
{
    return b->job->plan->steps[b->job->live->group[b->group].first].desc.n_sides;
}

static const struct mrs_coll *
side_coll(const struct live_batch *b, uint32_t side)
{
    MRS_ASSERT(side < n_sides(b));
    return &b->job->plan->steps[b->job->live->group[b->group].first].desc.sides[side].coll;
}

/* ---- read existing documents ---- */

static enum mrs_status
add_found(struct live_batch *b, uint32_t side, const struct mrs_view *docs, uint32_t n, struct targets_found *f,
          struct mrs_err *e)
{
    struct targets_there *t = mrs_arena_alloc(&b->make, ((size_t)f->n + n + 1) * sizeof *t);
    MRS_TRY(mrs_allocated(t, (f->n + n) * sizeof *t, e));
    if (f->n) {
        memcpy(t, f->t, f->n * sizeof *t);
    }
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < n && !st; i++) {
        struct targets_there *now = &t[f->n + i];
        *now = (struct targets_there){.doc = docs[i], .side = side};
        st = key_of(b, mrs_doc_get(docs[i], "_id"), side, &now->key, e);
    }
    f->t = t;
    f->n += n;
    return st;
}

/* The value of the field by which units list a target. */
static struct mrs_val
listed_value(const struct live_batch *b, int side, struct mrs_view doc)
{
    const struct mrs_desc *d = &b->job->plan->steps[b->job->live->group[b->group].first].desc;
    for (uint32_t i = 0; i < d->n_listings; i++) {
        if (d->listings[i].side == side) {
            return mrs_doc_get(doc, d->listings[i].field);
        }
    }
    return mrs_missing();
}

/* Could a unit list it by that value? */
static bool
is_owned(const struct live_batch *b, int side, struct mrs_view doc)
{
    struct mrs_val v = listed_value(b, side, doc);
    return !mrs_is_nullish(v) && v.type != MRS_ARRAY;
}

/* Removes targets with an array there, which $in matches too: no unit makes them, so other writers wrote them. */
static void
drop_arrays(const struct live_batch *b, uint32_t side, struct live_read *got)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < got->n; i++) {
        if (listed_value(b, (int)side, got->docs[i]).type != MRS_ARRAY) {
            got->docs[n++] = got->docs[i];
        }
    }
    got->n = n;
}

/* Number of documents of docs[at..n) in one query. */
static uint32_t
piece(uint32_t at, uint32_t n)
{
    MRS_ASSERT(at < n);
    return n - at < LIVE_IN_MAX ? n - at : LIVE_IN_MAX;
}

/* Reads the products of the units' documents on one side. */
static enum mrs_status
read_side(struct live_batch *b, uint32_t side, const struct mrs_view *docs, uint32_t n, struct targets_found *f,
          struct mrs_err *e)
{
    struct mrs_buf buf;
    struct live_read got = {.coll = side_coll(b, side), .bytes = targets_max, .a = &b->make};
    enum mrs_status st = MRS_OK;
    mrs_buf_init(&buf, b->job->mem, MRS_DOC_READ_MAX);
    for (uint32_t at = 0; at < n && !st; at += LIVE_IN_MAX) {
        mrs_buf_reset(&buf);
        st = live_units_listing(b->units, (int)side, docs + at, piece(at, n), &buf, e);
        got.filter = (struct mrs_view){buf.p, (uint32_t)buf.n};
        MRS_THEN(st, live_read_all(b->job, &got, e));
        if (!st) {
            drop_arrays(b, side, &got);
        }
        MRS_THEN(st, add_found(b, side, got.docs, got.n, f, e));
    }
    mrs_buf_clear(&buf);
    return st;
}

/* Sorts by key; a document that two queries return counts once. */
static void
sort_found(struct targets_found *f)
{
    uint32_t n = 0;
    if (f->n > 1) {
        qsort(f->t, f->n, sizeof *f->t, by_key);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        if (n == 0 || by_key(&f->t[n - 1], &f->t[i]) != 0) {
            f->t[n++] = f->t[i];
        }
    }
    f->n = n;
}

/* Reads all listed products of the units' documents. */
static enum mrs_status
read_listed(struct live_batch *b, const struct mrs_view *docs, uint32_t n, struct targets_found *f, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t side = 0; side < n_sides(b) && !st; side++) {
        st = live_side_listed(b->job, b->group, side) ? read_side(b, side, docs, n, f, e) : MRS_OK;
    }
    sort_found(f);
    return st;
}

/* ---- products ---- */

static enum mrs_status
add_change(struct live_batch *b, enum live_op_kind kind, const struct mrs_coll *coll, struct mrs_view before,
           struct mrs_view after, uint32_t unit, struct mrs_err *e)
{
    struct live_change c = {.kind = kind, .coll = *coll, .before = before, .after = after, .guard_whole = true,
                            .unit = unit};
    return live_burst_add(&b->burst, &c, e);
}

static void
refuse(struct live_task *t, const char *why)
{
    t->refuse = true;
    t->why = why;
}

/* Looks up a product that no listing showed: it may exist as a product of another unit. */
static enum mrs_status
look_up(struct live_batch *b, const struct live_product *p, bool *foreign, bool *there, struct mrs_err *e)
{
    struct live_read got = {.coll = &p->coll, .bytes = targets_max, .a = &b->make};
    enum mrs_status st = live_ids_filter(&b->make, &p->doc, 1, &got.filter, e);
    MRS_THEN(st, live_read_all(b->job, &got, e));
    *there = !st && got.n;
    *foreign = *there && !live_same(got.docs[0], p->doc);
    return st;
}

static enum mrs_status
one_product(struct live_batch *b, struct live_task *t, uint32_t no, const struct live_product *p,
            struct targets_found *f, struct mrs_err *e)
{
    MRS_ASSERT(p->side >= 0 && no < b->n_slice);
    struct mrs_hash128 key;
    enum mrs_status st = key_of(b, mrs_doc_get(p->doc, "_id"), (uint32_t)p->side, &key, e);
    struct targets_there *there = st ? NULL : lookup(f, key);
    if (st) {
        return st;
    }
    if (there && there->used && !live_same(there->doc, p->doc)) {
        refuse(t, "another document makes the same _id in the target");
        return MRS_OK;
    }
    if (there) {
        there->used = true;
        return live_same(there->doc, p->doc) ? MRS_OK
                                             : add_change(b, LIVE_UPDATE, &p->coll, there->doc, p->doc, no, e);
    }
    bool foreign = false, is = false;
    if (b->find_missing) {
        st = look_up(b, p, &foreign, &is, e);
    }
    if (foreign) {
        refuse(t, "the target holds another document with this _id");
    }
    return st || is ? st : add_change(b, LIVE_INSERT, &p->coll, (struct mrs_view){NULL, 0}, p->doc, no, e);
}

/* If a unit turns out to be refused, its changes are withdrawn; its existing products are stale. */
static enum mrs_status
unit_products(struct live_batch *b, struct live_task *t, uint32_t no, const struct live_unit *u,
              struct targets_found *f, struct mrs_err *e)
{
    MRS_ASSERT(no < b->n_slice);
    uint32_t before = b->burst.n;
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < u->n_products && !st && !t->refuse; i++) {
        st = one_product(b, t, no, &u->product[i], f, e);
    }
    if (!st && t->refuse) {
        b->burst.n = before;
        for (uint32_t i = 0; i < u->n_products && !st; i++) {
            struct mrs_hash128 key;
            st = key_of(b, mrs_doc_get(u->product[i].doc, "_id"), (uint32_t)u->product[i].side, &key, e);
            struct targets_there *there = st ? NULL : lookup(f, key);
            if (there && live_same(there->doc, u->product[i].doc)) {
                there->used = false;
            }
        }
        t->again = true;
    }
    return st;
}

/* ---- products of several units ---- */

/* Units of this slice whose product on this side differs from one with the same `_id` of another main collection's
 * unit: neither is written, and the existing one is removed. */
static enum mrs_status
clashes_on(struct live_batch *b, uint32_t side, struct live_task *tasks, uint32_t n, struct targets_found *f,
           struct mrs_err *e)
{
    MRS_ASSERT(n == b->n_slice);
    uint32_t k = 0, all = 0;
    for (uint32_t i = 0; i < n; i++) {
        all += b->unit[i].n_products;
    }
    struct mrs_view *docs = mrs_arena_alloc(&b->make, (all + 1) * sizeof *docs);
    uint32_t *unit = mrs_arena_alloc(&b->make, (all + 1) * sizeof *unit);
    struct targets_query q = {.side = (int)side, .docs = docs, .others = true};
    if (!docs || !unit) {
        return mrs_err_memory(e, all * sizeof *docs);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t p = 0; p < b->unit[i].n_products && !tasks[i].deleted && !b->unit[i].refused; p++) {
            if (b->unit[i].product[p].side == (int)side) {
                unit[k] = i;
                docs[k++] = b->unit[i].product[p].doc;
            }
        }
    }
    q.n = k;
    enum mrs_status st = k ? open_query(b, &q, e) : MRS_OK;
    for (uint32_t m = 0; !st && k && m < live_units_mains(b->others); m++) {
        st = m == b->main ? MRS_OK : owners_in(b, m, &q, e);
    }
    for (uint32_t i = 0; i < k && !st; i++) {
        struct mrs_hash128 key;
        if (q.expected[i]) {
            refuse(&tasks[unit[i]], "a document of another collection makes the same _id in the target");
            st = key_of(b, mrs_doc_get(docs[i], "_id"), side, &key, e);
            struct targets_there *there = st ? NULL : lookup(f, key);
            if (there) {
                there->nobodys = true;
            }
        }
    }
    return st;
}

/* ---- products of no unit ---- */

static enum mrs_status
stale_side(struct live_batch *b, uint32_t side, struct targets_found *f, struct mrs_err *e)
{
    MRS_ASSERT(side < n_sides(b));
    struct mrs_view *docs = mrs_arena_alloc(&b->make, (f->n + 1) * sizeof *docs);
    bool *expected = mrs_arena_alloc(&b->make, f->n + 1);
    uint32_t n = 0;
    if (!docs || !expected) {
        return mrs_err_memory(e, f->n * sizeof *docs);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->t[i].used && f->t[i].side == side) {
            docs[n++] = f->t[i].doc;
        }
    }
    enum mrs_status st = n ? live_batch_expected(b, (int)side, docs, n, expected, NULL, e) : MRS_OK;
    for (uint32_t i = 0, at = 0; i < f->n && !st; i++) {
        if (!f->t[i].used && f->t[i].side == side && (!expected[at++] || f->t[i].nobodys)) {
            st = add_change(b, LIVE_DELETE, side_coll(b, side), f->t[i].doc, (struct mrs_view){NULL, 0}, UINT32_MAX,
                            e);
        }
    }
    return st;
}

static enum mrs_status
with_products(struct live_batch *b, struct live_task *tasks, uint32_t n, struct targets_found *f, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t side = 0; side < n_sides(b) && !st && live_units_mains(b->units) > 1; side++) {
        st = live_side_listed(b->job, b->group, side) ? clashes_on(b, side, tasks, n, f, e) : MRS_OK;
    }
    for (uint32_t i = 0; i < n && !st; i++) {
        if (!tasks[i].deleted && !tasks[i].refuse && !b->unit[i].refused) {
            st = unit_products(b, &tasks[i], i, &b->unit[i], f, e);
        }
    }
    for (uint32_t side = 0; side < n_sides(b) && !st && b->sweep && !LIVE_MUTANT("no-sweep"); side++) {
        if (live_side_listed(b->job, b->group, side)) {
            st = stale_side(b, side, f, e);
        }
    }
    return st;
}

static enum mrs_status
main_change(struct live_batch *b, struct live_task *t, uint32_t no, struct mrs_err *e)
{
    MRS_ASSERT(no < b->n_slice);
    const struct live_unit *u = &b->unit[no];
    struct mrs_view result = u->doc;
    enum mrs_status st = b->result(b, u, t, &result, e);
    if (st || live_same(result, u->doc)) {
        return st;
    }
    struct live_change c = {.kind = LIVE_UPDATE, .coll = *b->coll, .before = u->doc, .after = result,
                            .guard = b->reads, .guard_n = (uint32_t)b->reads_n, .guard_whole = b->reads_whole,
                            .unit = no};
    return live_burst_add(&b->burst, &c, e);
}

/* Derives the units of existing documents, at the indexes of their tasks. */
static enum mrs_status
derive(struct live_batch *b, const struct live_task *tasks, struct mrs_view *docs, uint32_t n, struct mrs_err *e)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!tasks[i].deleted) {
            docs[k++] = tasks[i].doc;
        }
    }
    if (n > b->cap) {
        mrs_free(b->job->mem, b->unit);
        b->cap = 0;
        b->unit = mrs_alloc_array(b->job->mem, n, sizeof *b->unit);
        MRS_TRY(mrs_allocated(b->unit, n * sizeof *b->unit, e));
        b->cap = n;
    }
    enum mrs_status st = k ? live_units_load(b->units, b->main, docs, k, b->unit, e) : MRS_OK;
    for (uint32_t i = n; i-- > 0 && !st;) {
        if (!tasks[i].deleted) {
            b->unit[i] = b->unit[--k];
        } else {
            memset(&b->unit[i], 0, sizeof b->unit[i]);
            b->unit[i].refused = true;
            b->unit[i].doc = b->unit[i].result = tasks[i].doc;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        docs[i] = tasks[i].doc;
    }
    return st;
}

enum mrs_status
live_batch_make(struct live_batch *b, struct live_task *tasks, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n > 0 && tasks);
    live_burst_reset(&b->burst);
    mrs_arena_reset(&b->make);
    b->slice = tasks;
    b->n_slice = n;
    struct mrs_view *docs = mrs_arena_alloc(&b->make, (n + 1) * sizeof *docs);
    struct targets_found f = {NULL, 0};
    MRS_TRY(mrs_allocated(docs, n * sizeof *docs, e));
    for (uint32_t i = 0; i < n; i++) {
        docs[i] = tasks[i].doc;
    }
    enum mrs_status st = b->products ? read_listed(b, docs, n, &f, e) : MRS_OK;
    MRS_THEN(st, derive(b, tasks, docs, n, e));
    st = st || !b->products ? st : with_products(b, tasks, n, &f, e);
    for (uint32_t i = 0; i < n && !st; i++) {
        if (!tasks[i].deleted && !(tasks[i].again && tasks[i].refuse)) {
            st = main_change(b, &tasks[i], i, e);
        }
    }
    b->n_slice = 0; /* the tasks belong to the caller */
    return st;
}

/* ---- from the target to its source ---- */


static enum mrs_status
note_expected(struct live_batch *b, const struct targets_query *q, const struct live_unit *u, struct mrs_err *e)
{
    MRS_ASSERT(q->expected);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < u->n_products && !st && !u->refused; i++) {
        struct mrs_hash128 key;
        const struct live_product *p = &u->product[i];
        if (p->side != q->side) {
            continue;
        }
        st = key_of(b, mrs_doc_get(p->doc, "_id"), (uint32_t)p->side, &key, e);
        struct targets_there *t = st ? NULL : lookup(&q->by_key, key);
        if (t && (q->others ? !live_same(q->docs[t->doc.n], p->doc)
                            : !b->exact || live_same(q->docs[t->doc.n], p->doc))) {
            q->expected[t->doc.n] = true;
        }
    }
    return st;
}

/* Is it a document of the current slice? Those were checked already, and some of them are refused. */
static bool
in_slice(const struct live_batch *b, uint32_t main, struct mrs_view doc)
{
    for (uint32_t i = 0; i < b->n_slice && main == b->main; i++) {
        if (mrs_compare(mrs_doc_get(b->slice[i].doc, "_id"), mrs_doc_get(doc, "_id")) == 0) {
            return true;
        }
    }
    return false;
}

/* One by one: they are few, and large ones always fit. */
static enum mrs_status
derive_owners(struct live_batch *b, uint32_t main, const struct targets_query *q, const struct mrs_view *docs,
              uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(b->others && main < live_units_mains(b->others));
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < n && !st; i++) {
        struct live_unit u;
        if (!in_slice(b, main, docs[i])) {
            st = live_units_load(b->others, main, &docs[i], 1, &u, e);
            MRS_THEN(st, note_expected(b, q, &u, e));
        }
    }
    return st;
}

/* Derives the owners that are units of one main collection. */
static enum mrs_status
owners_in(struct live_batch *b, uint32_t main, const struct targets_query *q, struct mrs_err *e)
{
    MRS_ASSERT(b->others && main < live_units_mains(b->others));
    struct mrs_buf buf;
    int side;
    struct live_read own = {.coll = live_units_main(b->others, main, &side), .bytes = owners_max, .a = &b->make};
    enum mrs_status st = MRS_OK;
    mrs_buf_init(&buf, b->job->mem, MRS_DOC_READ_MAX);
    for (uint32_t at = 0; at < q->n && !st; at += LIVE_IN_MAX) {
        mrs_buf_reset(&buf);
        st = live_units_owners(b->others, q->side, q->docs + at, piece(at, q->n), &buf, e);
        own.filter = (struct mrs_view){buf.p, (uint32_t)buf.n};
        MRS_THEN(st, live_read_all(b->job, &own, e));
        MRS_THEN(st, derive_owners(b, main, q, own.docs, own.n, e));
    }
    mrs_buf_clear(&buf);
    return st;
}

/* Indexes the documents by key; no product expected yet. */
static enum mrs_status
open_query(struct live_batch *b, struct targets_query *q, struct mrs_err *e)
{
    enum mrs_status st = b->others ? MRS_OK : live_units_open(b->job, b->group, b->purpose, &b->others, e);
    struct targets_there *t = st ? NULL : mrs_arena_alloc(&b->make, (q->n + 1) * sizeof *t);
    bool *expected = !t || q->expected ? q->expected : mrs_arena_alloc(&b->make, q->n + 1);
    if (!st && (!t || !expected)) {
        return mrs_err_memory(e, q->n * sizeof *t);
    }
    for (uint32_t i = 0; i < q->n && !st; i++) {
        expected[i] = false;
        t[i] = (struct targets_there){.doc = {NULL, i}};
        st = key_of(b, mrs_doc_get(q->docs[i], "_id"), (uint32_t)q->side, &t[i].key, e);
    }
    if (!st) {
        qsort(t, q->n, sizeof *t, by_key);
        q->by_key = (struct targets_found){t, q->n};
        q->expected = expected;
    }
    return st;
}

enum mrs_status
live_batch_expected(struct live_batch *b, int side, const struct mrs_view *docs, uint32_t n, bool *expected,
                    bool *owned, struct mrs_err *e)
{
    MRS_ASSERT(side >= 0 && (uint32_t)side < n_sides(b));
    struct targets_query q = {.side = side, .docs = docs, .n = n, .expected = expected};
    enum mrs_status st = open_query(b, &q, e);
    for (uint32_t i = 0; i < n && !st && owned; i++) {
        owned[i] = is_owned(b, side, docs[i]);
    }
    for (uint32_t m = 0; !st && m < live_units_mains(b->others); m++) {
        st = owners_in(b, m, &q, e);
    }
    return st;
}

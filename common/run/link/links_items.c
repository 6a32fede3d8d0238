/* SPDX-License-Identifier: Apache-2.0 */
/* links_items.c - the final references of a document: the old ones that stay and the new ones, in order. */
#include "links.h"
#include "mongoreshape/join_ops.h"
#include <stdlib.h>

void
mrsi_link_items_init(struct mrsi_link_items *x, struct mrs_mem *mem)
{
    MRS_ASSERT(mem);
    struct mrs_buf *all[] = {&x->item, &x->other, &x->set.slots, &x->sort, &x->bytes[0], &x->bytes[1]};
    for (int i = 0; i < 6; i++) {
        mrs_buf_init(all[i], mem, i < 4 ? SIZE_MAX : 2u * MRS_DOC_READ_MAX);
    }
}

void
mrsi_link_items_clear(struct mrsi_link_items *x)
{
    struct mrs_buf *all[] = {&x->item, &x->other, &x->set.slots, &x->sort, &x->bytes[0], &x->bytes[1]};
    for (int i = 0; i < 6; i++) {
        mrs_buf_clear(all[i]);
    }
}

enum { NEAR = 24, FAR = 48 }; /* prefetch distances in references */
/* The maximum number of elements of a document: all but the first million take at least nine bytes without their value,
 * those at least 7.5 bytes on average. */
enum { MOST = MRS_DOC_MAX / 8 };

/* ---- set of ordinals ---- */
/* False: it is in the set, or memory is out. */
static bool
add_to_set(struct mrsi_link_items *x, uint64_t ordinal)
{
    struct mrs_number_slot *at = mrs_number_table_put(&x->set, ordinal + 1);
    return at && at->value++ == 0;
}

/* ---- items ---- */
static void
put(struct mrsi_link_items *x, uint32_t at, enum mrs_link_kind kind, struct mrs_val value, uint64_t other)
{
    struct mrs_link_item item = {at, kind, value};
    mrs_buf_put(&x->item, &item, sizeof item);
    mrs_buf_put(&x->other, &other, sizeof other);
}

/* Its minimum size in an array: its name gets more digits if many others come before it. */
static uint32_t
put_new(const struct mrsi_link_run *l, struct mrsi_link_items *x, uint32_t side, uint64_t other)
{
    struct mrsi_link_kept kept;
    const uint8_t *p = mrsi_link_kept(l, !side, other, &kept);
    put(x, MRS_LINK_NEW, MRS_LINK_NAMED, (struct mrs_val){p, kept.id_len, kept.type}, other);
    uint32_t name = 1;
    for (uint32_t i = x->n_new++; i > 9; i /= 10) {
        name++;
    }
    return 1 + name + 1 + kept.id_len;
}

/* A child that refers to another parent, which takes precedence. */
static bool
has_left(const struct mrsi_link_run *l, uint64_t parent, uint64_t child)
{
    return l->wants.leaves && (mrsi_fates_get(&l->side[1].fates, child) & MRS_LINK_LEAVES) &&
           !mrsi_link_refused(l, 1, child) && mrsi_mapped_mem_u64(&l->parent)[child] != parent + 1;
}

static enum mrs_link_kind
kind_of(const struct mrsi_link_run *l, uint32_t side, uint64_t other)
{
    if (other == MRSI_NO_ORDINAL) {
        return MRS_LINK_DANGLING;
    }
    return l->wants.kinds[side] && mrsi_link_refused(l, !side, other) ? MRS_LINK_REFUSED : MRS_LINK_NAMED;
}

static void
put_old(struct mrsi_link_run *l, struct mrsi_link_items *x, const struct mrs_keys *k, uint32_t side, uint64_t ordinal,
        bool resolve)
{
    MRS_ASSERT(side < 2);
    const struct mrsi_index *ids = mrsi_link_ids(l, !side);
    for (uint32_t i = 1; i < k->n; i++) {
        uint64_t other = MRSI_NO_ORDINAL;
        enum mrs_link_kind kind = k->span[i].null ? MRS_LINK_EMPTY : MRS_LINK_NAMED;
        if (resolve && kind == MRS_LINK_NAMED) {
            other = mrsi_index_find(ids, mrsi_link_hash(l, k, i));
            kind = kind_of(l, side, other);
        }
        if (other == MRSI_NO_ORDINAL || side == 1 || !has_left(l, ordinal, other)) {
            put(x, i - 1, kind, mrs_missing(), other);
        }
    }
}

/* Prefetches what put_new will read soon: the new references of consecutive documents are contiguous, so slots can be
 * prefetched far ahead, and their contents a little later. (Always inlined: for the compiler a function that only
 * prefetches has no effect, and it drops the calls.) */
static inline __attribute__((always_inline)) void
fetch_ahead(const struct mrsi_link_run *l, uint32_t side, const uint64_t *gain, uint64_t left)
{
    MRS_ASSERT(side < 2);
    const struct mrsi_file_array *at = &l->side[!side].at, *bytes = &l->side[!side].bytes;
    if (left > FAR) {
        __builtin_prefetch(at->p + gain[FAR] * sizeof(uint64_t));
        mrsi_fates_fetch(&l->side[!side].fates, gain[FAR]);
    }
    if (left > NEAR) {
        uint64_t off;
        memcpy(&off, at->p + gain[NEAR] * sizeof off, sizeof off);
        __builtin_prefetch(bytes->p + off);
    }
}

/* False: the new references exceed any document. Checked before they are written: millions may refer to one document.
 * (If references are removed, there are no new ones.) */
static bool
put_gains(const struct mrsi_link_run *l, struct mrsi_link_items *x, uint32_t side, uint64_t from, uint64_t to)
{
    MRS_ASSERT(side < 2 && from <= to);
    const uint64_t *gain = mrsi_mapped_mem_u64(&l->side[side].gains.to);
    const uint64_t *other = (const uint64_t *)(const void *)x->other.p;
    size_t n = x->other.n / sizeof *other;
    uint32_t room = MRS_DOC_MAX;
    mrs_number_table_begin(&x->set, n + (to - from < MOST ? to - from : MOST));
    for (size_t i = 0; !x->set.slots.bad && i < n; i++) {
        if (other[i] != MRSI_NO_ORDINAL) {
            add_to_set(x, other[i]);
        }
    }
    for (uint64_t i = from; !x->set.slots.bad && i < to; i++) {
        fetch_ahead(l, side, gain + i, l->side[side].gains.n - i);
        if (!mrsi_link_refused(l, !side, gain[i]) && add_to_set(x, gain[i])) {
            uint32_t bytes = put_new(l, x, side, gain[i]);
            if (bytes > room) {
                return false;
            }
            room -= bytes;
        }
    }
    return true;
}

/* ---- order ---- */
struct sorted {
    const uint8_t *key; /* NULL: none, sorts last */
    uint32_t len, place;
    uint64_t child;
    struct mrs_link_item item;
};

static int
by_key(const void *pa, const void *pb)
{
    const struct sorted *a = pa, *b = pb;
    if (!a->key || !b->key) {
        return a->key ? -1 : b->key ? 1 : a->place < b->place ? -1 : a->place > b->place;
    }
    int c = memcmp(a->key, b->key, a->len < b->len ? a->len : b->len);
    if (c || a->len != b->len) {
        return c ? c : a->len < b->len ? -1 : 1;
    }
    if (a->child != b->child) {
        return a->child < b->child ? -1 : 1;
    }
    return a->place < b->place ? -1 : a->place > b->place;
}

static void
sort_items(const struct mrsi_link_run *l, struct mrsi_link_items *x)
{
    struct mrs_link_item *item = (struct mrs_link_item *)(void *)x->item.p;
    const uint64_t *other = (const uint64_t *)(const void *)x->other.p;
    uint32_t n = (uint32_t)(x->item.n / sizeof *item);
    mrs_buf_reset(&x->sort);
    for (uint32_t i = 0; i < n; i++) {
        struct sorted one = {NULL, 0, i, other[i], item[i]};
        if (other[i] != MRSI_NO_ORDINAL &&
            !(mrsi_fates_get(&l->side[1].fates, other[i]) & (MRSI_FATE_OUTSIDE | MRSI_LINK_SORTLESS))) {
            struct mrsi_link_kept kept;
            const uint8_t *p = mrsi_link_kept(l, 1, other[i], &kept);
            one.key = p + kept.id_len;
            one.len = kept.sort_len;
        }
        mrs_buf_put(&x->sort, &one, sizeof one);
    }
    struct sorted *list = (struct sorted *)(void *)x->sort.p;
    if (x->sort.bad || n < 2) {
        return;
    }
    qsort(list, n, sizeof *list, by_key);
    for (uint32_t i = 0; i < n; i++) {
        item[i] = list[i].item;
    }
}

/* ---- one side of one document ---- */
/* A child with a dangling or wrong reference gets the parent that lists it. */
static void
take_parent(const struct mrsi_link_run *l, struct mrsi_link_items *x, uint64_t child)
{
    uint64_t parent = (mrsi_mapped_mem_u64(&l->listed)[child] & MRSI_LISTED_BY) - 1;
    if (parent < l->side[0].fates.n && !mrsi_link_refused(l, 0, parent)) {
        mrs_buf_reset(&x->item);
        mrs_buf_reset(&x->other);
        put_new(l, x, 1, parent);
    }
}

static enum mrs_status
too_many(struct mrsi_worker *w, uint32_t gains)
{
    return mrs_err_set(&w->err, MRS_SKIP, MRS_E_LIMIT,
                       "the document would have more than 16 MiB: %u of the references that it would gain take "
                       "as much", gains);
}

static enum mrs_status
collect(struct mrsi_link_run *l, struct mrsi_worker *w, struct mrsi_link_items *x, uint32_t side, uint64_t ordinal,
        struct mrs_view doc)
{
    MRS_ASSERT(side < 2 && mrs_view_is_framed(doc));
    const uint64_t *start = mrsi_mapped_mem_u64(&l->side[side].gains.start);
    uint64_t from = start ? start[ordinal] : 0, to = start ? start[ordinal + 1] : 0;
    enum mrs_link_shape shape;
    mrs_keys_reset(&w->keys);
    mrs_buf_reset(&x->item);
    mrs_buf_reset(&x->other);
    x->n_new = 0;
    MRS_TRY(l->ops->read(l->st->state, &w->ctx, (int)side, doc, &w->keys, &shape));
    put_old(l, x, &w->keys, side, ordinal,
            from < to || l->wants.kinds[side] || (side == 0 && (l->wants.sorted || l->wants.leaves)));
    if (side == 1 && shape != MRS_LINK_LIST && (mrsi_fates_get(&l->side[1].fates, ordinal) & MRS_LINK_TAKES)) {
        take_parent(l, x, ordinal);
    }
    if (from < to && !put_gains(l, x, side, from, to)) {
        return too_many(w, x->n_new);
    }
    bool whole = !x->item.bad && !x->other.bad && !x->set.slots.bad; /* else the lists have different lengths */
    if (whole && side == 0 && l->wants.sorted) {
        sort_items(l, x);
    }
    if (!whole || x->sort.bad) {
        return mrs_err_memory(&w->err, x->item.n);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_link_put(struct mrsi_link_run *l, struct mrsi_worker *w, struct mrsi_link_items *x, uint32_t side,
              uint64_t ordinal, struct mrs_view *doc, struct mrs_err *e)
{
    MRS_ASSERT(side < 2 && mrs_view_is_framed(*doc));
    const struct mrs_link_item *item;
    enum mrs_fate fate = MRS_FATE_STAYS;
    bool may = l->wants.kinds[side] || (side == 0 && (l->wants.lists || l->wants.leaves)) ||
               (side == 1 && (mrsi_fates_get(&l->side[1].fates, ordinal) & MRS_LINK_TAKES));
    if (!may) {
        return MRS_OK;
    }
    void *work = mrsi_work_of(w, l->step, e);
    if (!work) {
        return MRS_DEAD;
    }
    mrs_err_clear(&w->err);
    mrs_buf_reset(&x->bytes[side]);
    enum mrs_status s = collect(l, w, x, side, ordinal, *doc);
    item = (const struct mrs_link_item *)(const void *)x->item.p;
    uint32_t n = (uint32_t)(x->item.n / sizeof *item);
    MRS_THEN(s, l->ops->splice(l->st->state, &w->ctx, work, (int)side, *doc, item, n, &x->bytes[side], &fate));
    if (s != MRS_OK) {
        return s == MRS_SKIP ? s : mrsi_kernel_failed(w, s, e);
    }
    if (fate == MRS_FATE_CHANGED) {
        *doc = (struct mrs_view){x->bytes[side].p, (uint32_t)x->bytes[side].n};
        mrsi_row(w, l->step, side)->placed += x->n_new;
    }
    return MRS_OK;
}

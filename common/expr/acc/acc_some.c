/* SPDX-License-Identifier: Apache-2.0 */
/* acc_some.c - accumulators that keep n values: $firstN, $lastN, $minN, $maxN, $top, $topN, $bottom, $bottomN.
 *
 * The items are a heap whose top is the next to be removed; of equals the later one is. The value is written in order:
 * of arrival, of the values, or of the sort keys. Bytes of removed items are compacted when they exceed those of the
 * kept ones. */
#include "acc.h"

static int
compare_leads(const struct mrs_acc_state *s, const struct mrsi_acc_item *a, const struct mrsi_acc_item *b)
{
    uint32_t n = a->lead_n < b->lead_n ? a->lead_n : b->lead_n;
    int order = n ? memcmp(s->bytes.p + a->lead_off, s->bytes.p + b->lead_off, n) : 0;
    return order ? order : (a->lead_n > b->lead_n) - (a->lead_n < b->lead_n);
}

static int
by_arrival(const struct mrsi_acc_item *a, const struct mrsi_acc_item *b)
{
    return (a->seq > b->seq) - (a->seq < b->seq);
}

/* Order by the compared values, without tie-breaking. */
static int
compare(const struct mrs_acc_state *s, const struct mrsi_acc_item *a, const struct mrsi_acc_item *b)
{
    switch (s->x->kind->by) {
    case MRSI_ACC_BY_VALUE:
        return mrs_compare(mrsi_acc_item_value(s, a), mrsi_acc_item_value(s, b));
    case MRSI_ACC_BY_KEY:
        return compare_leads(s, a, b);
    default:
        return by_arrival(a, b);
    }
}

/* Whether a is removed before b if there is one too many. */
static bool
sorts_before(const struct mrs_acc_state *s, const struct mrsi_acc_item *a, const struct mrsi_acc_item *b)
{
    int order = compare(s, a, b);
    return order ? (order > 0) == (s->x->kind->sense < 0) : by_arrival(a, b) > 0;
}

/* ---- the heap ---- */

static void
swap_items(struct mrs_acc_state *s, uint32_t a, uint32_t b)
{
    struct mrsi_acc_item t = s->item[a];
    s->item[a] = s->item[b];
    s->item[b] = t;
}

static void
rise(struct mrs_acc_state *s, uint32_t at)
{
    while (at && sorts_before(s, &s->item[at], &s->item[(at - 1) / 2])) {
        swap_items(s, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void
sink(struct mrs_acc_state *s)
{
    MRS_ASSERT(s->n > 0);
    for (uint32_t at = 0;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->n) {
            return;
        }
        if (child + 1 < s->n && sorts_before(s, &s->item[child + 1], &s->item[child])) {
            child++;
        }
        if (!sorts_before(s, &s->item[child], &s->item[at])) {
            return;
        }
        swap_items(s, at, child);
        at = child;
    }
}

/* ---- adding and removing ---- */

/* Adds the new item after the others: its bytes are at the end of s->bytes. */
static enum mrs_status
push(struct mrs_acc_state *s, struct mrs_val lead, struct mrs_val v, uint64_t seq, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    MRS_TRY(mrsi_acc_room(s, e));
    MRS_TRY(mrsi_acc_pack(s, 0, e));
    struct mrsi_acc_item *i = &s->item[s->n];
    *i = (struct mrsi_acc_item){.lead_off = (uint32_t)s->bytes.n,
                                .lead_n = lead.n,
                                .off = (uint32_t)s->bytes.n + lead.n,
                                .n = v.n,
                                .type = v.type,
                                .seq = seq};
    mrs_buf_put(&s->bytes, lead.p, lead.n);
    mrs_buf_put(&s->bytes, v.p, v.n);
    return mrs_buf_status(&s->bytes, e);
}

static uint32_t
size_of(const struct mrsi_acc_item *i)
{
    return i->n + i->lead_n;
}

static enum mrs_status
offer(struct mrs_acc_state *s, struct mrs_val lead, struct mrs_val v, uint64_t seq, struct mrs_err *e)
{
    bool full = s->n >= s->x->n;
    uint64_t live = s->bytes.n - s->dead + v.n + lead.n - (full ? size_of(&s->item[0]) : 0);
    if (live > s->ceiling || (uint64_t)v.n + lead.n > s->ceiling) {
        return mrsi_acc_over(s, e);
    }
    MRS_TRY(push(s, lead, v, seq, e));
    if (full && sorts_before(s, &s->item[s->n], &s->item[0])) {
        s->bytes.n -= size_of(&s->item[s->n]);
        return MRS_OK;
    }
    MRS_TRY(mrsi_acc_reserve(s, live, e));
    if (!full) {
        rise(s, s->n++);
        return MRS_OK;
    }
    s->dead += size_of(&s->item[0]);
    s->item[0] = s->item[s->n];
    sink(s);
    return MRS_OK;
}

enum mrs_status
mrsi_acc_feed_some(struct mrs_acc_state *s, struct mrs_val v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    const struct mrsi_acc_kind *kind = s->x->kind;
    struct mrs_val lead = {NULL, 0, MRS_MISSING};
    if (kind->by == MRSI_ACC_BY_VALUE && mrsi_is_nullish(v)) {
        return MRS_OK;
    }
    if (kind->by == MRSI_ACC_BY_KEY) {
        struct mrs_walk w;
        struct mrs_elem el[2];
        if (v.type != MRS_ARRAY) {
            return mrsi_acc_damaged(s, e);
        }
        mrs_walk_init(&w, mrs_val_view(v));
        if (mrs_walk_next(&w, &el[0]) != 1 || el[0].v.type != MRS_BINARY || mrs_walk_next(&w, &el[1]) != 1) {
            return mrsi_acc_damaged(s, e);
        }
        lead = (struct mrs_val){el[0].v.p + 5, el[0].v.n - 5, MRS_BINARY};
        v = el[1].v;
    }
    if (kind->by == MRSI_ACC_BY_PLACE && kind->sense < 0 && s->n >= s->x->n) {
        return MRS_OK;
    }
    return offer(s, lead, v.type == MRS_MISSING ? mrs_null() : v, s->seq++, e);
}

/* ---- the value ---- */

static int
in_result(const void *arg, uint32_t a, uint32_t b)
{
    MRS_ASSERT(a != b);
    const struct mrs_acc_state *s = arg;
    const struct mrsi_acc_item *x = &s->item[a], *y = &s->item[b];
    int order = compare(s, x, y);
    if (s->x->kind->by == MRSI_ACC_BY_VALUE && s->x->kind->sense > 0) {
        order = -order; /* $maxN: the greatest first */
    }
    return order ? order : by_arrival(x, y);
}

/* The numbers of the items in the order of the result, in the arena. */
static enum mrs_status
sorted(const struct mrs_acc_state *s, struct mrs_eval *ev, uint32_t **out)
{
    uint32_t *at = mrs_arena_alloc(ev->arena, 2u * (size_t)s->n * sizeof *at);
    if (!at) {
        return mrsi_eval_memory(ev, 2u * (size_t)s->n * sizeof *at);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        at[i] = i;
    }
    MRS_TRY(mrsi_sort_stable(ev, at, at + s->n, s->n, in_result, s));
    *out = at;
    return MRS_OK;
}

enum mrs_status
mrsi_acc_value_some(const struct mrs_acc_state *s, struct mrs_eval *ev, struct mrs_val *out)
{
    uint32_t *at = NULL;
    if (s->x->kind->shape == MRSI_ACC_OUTPUT) {
        *out = s->n ? mrsi_acc_item_value(s, &s->item[0]) : mrs_null();
        return MRS_OK;
    }
    struct mrs_val *v = mrs_arena_alloc(ev->arena, ((size_t)s->n + 1) * sizeof *v);
    if (!v) {
        return mrsi_eval_memory(ev, ((size_t)s->n + 1) * sizeof *v);
    }
    MRS_TRY(sorted(s, ev, &at));
    for (uint32_t i = 0; i < s->n; i++) {
        v[i] = mrsi_acc_item_value(s, &s->item[at[i]]);
    }
    return mrsi_ret_array(ev, v, s->n, out);
}

void
mrsi_acc_save_some(const struct mrs_acc_state *s, struct mrs_build *b)
{
    mrs_build_i64(b, "seq", (int64_t)s->seq);
    mrs_build_open(b, "items", 5, MRS_ARRAY);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct mrsi_acc_item *item = &s->item[i];
        mrs_build_item_open(b, MRS_DOCUMENT);
        mrs_build_i64(b, "seq", (int64_t)item->seq);
        mrs_build_text(b, "lead", item->lead_n ? (const char *)s->bytes.p + item->lead_off : "", item->lead_n);
        mrs_build_val(b, "value", 5, mrsi_acc_item_value(s, item));
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static enum mrs_status
load_item(struct mrs_acc_state *s, struct mrs_val item, struct mrs_err *e)
{
    uint32_t n = 0;
    if (item.type != MRS_DOCUMENT || s->n >= s->x->n) {
        return mrsi_acc_damaged(s, e);
    }
    struct mrs_val seq = mrs_doc_get(mrs_val_view(item), "seq"), lead = mrs_doc_get(mrs_val_view(item), "lead");
    struct mrs_val v = mrs_doc_get(mrs_val_view(item), "value");
    if (seq.type != MRS_INT64 || lead.type != MRS_STRING || v.type == MRS_MISSING) {
        return mrsi_acc_damaged(s, e);
    }
    const char *bytes = mrs_val_text(lead, &n);
    struct mrs_val key = {(const uint8_t *)bytes, n, MRS_BINARY};
    return offer(s, key, v, (uint64_t)mrs_val_i64(seq), e);
}

enum mrs_status
mrsi_acc_load_some(struct mrs_acc_state *s, struct mrs_view saved, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(saved));
    struct mrs_val seq = mrs_doc_get(saved, "seq"), items = mrs_doc_get(saved, "items");
    struct mrs_walk w;
    struct mrs_elem el;
    if (seq.type != MRS_INT64 || items.type != MRS_ARRAY) {
        return mrsi_acc_damaged(s, e);
    }
    mrs_walk_init(&w, mrs_val_view(items));
    while (mrs_walk_next(&w, &el) == 1) {
        MRS_TRY(load_item(s, el.v, e));
    }
    s->seq = (uint64_t)mrs_val_i64(seq);
    return MRS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* flow_join.c - joined steps in a stage: a document with its partners, which a `$lookup` has put into one of its
 * fields.
 *
 * The field is removed before any step sees the document, and the step itself matches, converts, sorts and inserts its
 * content: a partner that does not match by the step's own rules is left out, whatever the `$lookup` returned. The
 * client handles the partners in their own collection. */
#include "stage_flow.h"

#include "mongoreshape/join_ops.h"

#include <stdlib.h>

struct partner {
    struct mrs_keys keys;
    struct mrs_buf payload, order;
    struct mrs_err why; /* payload or order failed */
    bool takes, failed, unsorted, matched, refused;
};
struct partner_key { /* of pair 0 */
    const struct mrs_keys *keys;
    uint32_t span, partner;
};
struct partner_match {
    uint32_t partner, ref;
};
struct ext_partners {
    struct ext_node *node;
    struct partner *list;        /* n of them for the current document, more from earlier ones */
    uint32_t n, n_made, cap;
    struct mrs_keys keys;        /* of the current document */
    struct mrs_buf out;          /* the output document */
    struct partner_key *key;     /* in the arena of the node, sorted */
    uint32_t n_keys;
    uint32_t *same;              /* by key of the document: the first equal one */
    uint8_t *named;
    struct partner_match *match;
    uint32_t n_matches, cap_matches, at;
};

enum mrs_status
ext_join_open(struct ext_node *n, struct mrs_err *e)
{
    MRS_ASSERT(!n->partners);
    struct ext_partners *x = mrs_zalloc(n->ctx.mem, sizeof *x);
    MRS_TRY(mrs_allocated(x, sizeof *x, e));
    x->node = n;
    n->partners = x;
    mrs_keys_init(&x->keys, n->ctx.mem);
    mrs_buf_init(&x->out, n->ctx.mem, 4u * MRS_DOC_READ_MAX);
    return MRS_OK;
}

void
ext_join_close(struct ext_node *n)
{
    struct ext_partners *x = n->partners;
    if (!x) {
        return;
    }
    for (uint32_t i = 0; i < x->n_made; i++) {
        mrs_keys_clear(&x->list[i].keys);
        mrs_buf_clear(&x->list[i].payload);
        mrs_buf_clear(&x->list[i].order);
    }
    mrs_free(n->ctx.mem, x->list);
    mrs_free(n->ctx.mem, x->match);
    mrs_keys_clear(&x->keys);
    mrs_buf_clear(&x->out);
    mrs_free(n->ctx.mem, x);
    n->partners = NULL;
}

/* ---- partners ---- */
static struct partner *
new_partner(struct ext_partners *x)
{
    MRS_ASSERT(x->n <= x->cap);
    struct mrs_mem *mem = x->node->ctx.mem;
    if (x->n == x->n_made) {
        struct partner *list = mrs_more(mem, x->list, x->n, &x->cap, sizeof *list);
        if (!list) {
            return NULL;
        }
        x->list = list;
        mrs_keys_init(&list[x->n].keys, mem);
        mrs_buf_init(&list[x->n].payload, mem, 2u * MRS_DOC_READ_MAX);
        mrs_buf_init(&list[x->n].order, mem, MRS_KEY_MAX);
        x->n_made++;
    }
    struct partner *p = &x->list[x->n++];
    mrs_keys_reset(&p->keys);
    mrs_buf_reset(&p->payload);
    mrs_buf_reset(&p->order);
    mrs_err_clear(&p->why);
    p->takes = p->failed = p->unsorted = p->matched = p->refused = false;
    return p;
}

/* A partner that is refused itself: an error of the operation, or left out. */
static enum mrs_status
count_refused(struct ext_partners *x, const struct mrs_err *why, struct mrs_err *e)
{
    MRS_ASSERT(why->code != MRS_E_NONE);
    const struct mrs_step *step = x->node->hop->step;
    x->node->account->refused++;
    return x->node->account->skip
               ? MRS_OK
               : mrs_err_set(e, MRS_FAIL, why->code ? why->code : MRS_E_REFUSED, "step %u (%s) refuses a document of "
                             "`%.100s`: %s%s%.300s; correct it, or say `refused: \"skip\"`", step->no, step->type->name,
                             step->desc.sides[0].coll.coll, why->where, *why->where ? ": " : "", why->msg);
}

/* A reference to it is still not dangling: so its keys are stored, if they can be computed. */
static enum mrs_status
refuse_partner(struct ext_partners *x, struct partner *p, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct ext_node *n = x->node;
    const struct mrs_step *step = n->hop->step;
    enum mrs_status s = count_refused(x, n->ctx.err, e);
    p->refused = true;
    p->takes = false;
    mrs_keys_reset(&p->keys);
    if (s != MRS_OK || !step->desc.by_reference) {
        return s;
    }
    mrs_err_clear(n->ctx.err);
    s = step->type->join->keys(step->state, &n->ctx, 0, doc, &p->keys);
    if (s == MRS_SKIP) {
        mrs_keys_reset(&p->keys);
        s = MRS_OK;
    }
    return s;
}

static enum mrs_status
read_partner(struct ext_partners *x, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct ext_node *n = x->node;
    const struct mrs_step *step = n->hop->step;
    const struct mrs_join_ops *ops = step->type->join;
    struct partner *p = new_partner(x);
    MRS_TRY(mrs_allocated(p, sizeof *p, e));
    mrs_err_clear(n->ctx.err);
    enum mrs_status s = ops->takes_part(step->state, &n->ctx, 0, doc, &p->takes);
    s = s == MRS_OK && p->takes ? ops->keys(step->state, &n->ctx, 0, doc, &p->keys) : s;
    if (s == MRS_SKIP) {
        return refuse_partner(x, p, doc, e);
    }
    if (s == MRS_OK && p->takes) {
        s = ops->payload(step->state, &n->ctx, doc, &p->payload);
        p->failed = s == MRS_SKIP;
        if (s == MRS_OK && step->desc.sorted) {
            s = ops->order(step->state, &n->ctx, doc, &p->order);
            p->unsorted = s == MRS_SKIP;
        }
        if (s == MRS_SKIP) {
            p->why = *n->ctx.err;
            s = MRS_OK;
        }
    }
    return s;
}

static enum mrs_status
read_partners(struct ext_partners *x, struct mrs_val field, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = MRS_OK;
    x->n = 0;
    mrs_walk_init(&w, mrs_val_view(field));
    while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
        if (el.v.type == MRS_DOCUMENT) {
            struct mrs_arena_mark mark = mrs_arena_mark(&x->node->arena);
            s = read_partner(x, mrs_val_view(el.v), e);
            mrs_arena_release(&x->node->arena, mark);
        } else {
            s = mrs_err_set(e, MRS_FAIL, MRS_E_MISSING, "field `%.100s` holds what is no document",
                            x->node->hop->field);
        }
    }
    return s;
}

/* ---- matches ---- */
static int
compare_spans(const struct mrs_keys *a, uint32_t i, const struct mrs_keys *b, uint32_t k)
{
    const struct mrs_keyspan *x = &a->span[i], *y = &b->span[k];
    int c = (x->pair > y->pair) - (x->pair < y->pair);
    c = c ? c : (x->kind > y->kind) - (x->kind < y->kind);
    c = c ? c : (x->len > y->len) - (x->len < y->len);
    return c || !x->len ? c : memcmp(a->bytes.p + x->off, b->bytes.p + y->off, x->len);
}

static int
by_key(const void *pa, const void *pb)
{
    const struct partner_key *a = pa, *b = pb;
    int c = compare_spans(a->keys, a->span, b->keys, b->span);
    return c ? c : (a->partner > b->partner) - (a->partner < b->partner);
}

/* The keys of pair 0 of all partners, and of the document itself (partner UINT32_MAX), in one sorted list. */
static enum mrs_status
sort_keys(struct ext_partners *x, struct mrs_err *e)
{
    MRS_ASSERT(x->n <= x->n_made);
    size_t n = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        n += x->list[i].keys.n;
    }
    x->n_keys = 0;
    x->key = mrs_arena_alloc(&x->node->arena, (n + 1) * sizeof *x->key);
    x->same = mrs_arena_alloc(&x->node->arena, (x->keys.n + 1u) * sizeof *x->same);
    x->named = mrs_arena_alloc(&x->node->arena, x->keys.n + 1u);
    if (!x->key || !x->same || !x->named) {
        return mrs_err_memory(e, n * sizeof *x->key);
    }
    memset(x->named, 0, x->keys.n + 1u);
    for (uint32_t i = 0; i < x->n; i++) {
        const struct mrs_keys *k = &x->list[i].keys;
        for (uint32_t j = 0; (x->list[i].takes || x->list[i].refused) && j < k->n; j++) {
            if (k->span[j].pair == 0) {
                x->key[x->n_keys++] = (struct partner_key){k, j, i};
            }
        }
    }
    qsort(x->key, x->n_keys, sizeof *x->key, by_key);
    return MRS_OK;
}

/* For each key of the document the first equal one. */
static enum mrs_status
find_same(struct ext_partners *x, struct mrs_err *e)
{
    struct partner_key *own = mrs_arena_alloc(&x->node->arena, (x->keys.n + 1u) * sizeof *own);
    MRS_TRY(mrs_allocated(own, x->keys.n * sizeof *own, e));
    for (uint32_t i = 0; i < x->keys.n; i++) {
        own[i] = (struct partner_key){&x->keys, i, i};
    }
    qsort(own, x->keys.n, sizeof *own, by_key);
    for (uint32_t i = 0; i < x->keys.n; i++) {
        bool first = i == 0 || compare_spans(&x->keys, own[i].span, &x->keys, own[i - 1].span) != 0;
        x->same[own[i].span] = first ? own[i].span : x->same[own[i - 1].span];
    }
    return MRS_OK;
}

/* Does each of the other pairs have an equal key on both sides? */
static bool
other_pairs_meet(const struct ext_partners *x, const struct partner *p)
{
    MRS_ASSERT(p->keys.n <= p->keys.cap);
    uint32_t n_pairs = x->node->hop->step->desc.n_pairs;
    for (uint32_t pair = 1; pair < n_pairs; pair++) {
        bool matched = false;
        for (uint32_t i = 0; i < p->keys.n && !matched; i++) {
            for (uint32_t k = 0; k < x->keys.n && !matched && p->keys.span[i].pair == pair; k++) {
                matched = compare_spans(&p->keys, i, &x->keys, k) == 0;
            }
        }
        if (!matched) {
            return false;
        }
    }
    return true;
}

static enum mrs_status
add_match(struct ext_partners *x, uint32_t partner, uint32_t key, struct mrs_err *e)
{
    MRS_ASSERT(partner < x->n && x->n_matches <= x->cap_matches);
    struct partner *p = &x->list[partner];
    bool by_reference = x->node->hop->step->desc.by_reference;
    if (p->matched && !by_reference) {
        return MRS_OK;
    }
    if (p->unsorted || p->refused) { /* without a sort key it is refused if a document matches it */
        x->named[key] = 1;
        enum mrs_status s = p->matched || p->refused ? MRS_OK : count_refused(x, &p->why, e);
        p->matched = true;
        return s;
    }
    p->matched = true;
    struct partner_match *list = mrs_more(x->node->ctx.mem, x->match, x->n_matches, &x->cap_matches, sizeof *list);
    MRS_TRY(mrs_allocated(list, sizeof *list, e));
    x->match = list;
    x->match[x->n_matches++] = (struct partner_match){partner, by_reference ? key : 0};
    return MRS_OK;
}

/* The first of the sorted keys that is not less than key k of the document. */
static uint32_t
lower_bound(const struct ext_partners *x, uint32_t k)
{
    MRS_ASSERT(x->key || x->n_keys == 0);
    uint32_t low = 0, high = x->n_keys;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (compare_spans(x->key[mid].keys, x->key[mid].span, &x->keys, k) < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static int
by_rule(const void *pa, const void *pb, void *arg)
{
    const struct partner_match *a = pa, *b = pb;
    const struct ext_partners *x = arg;
    const struct mrs_desc *d = &x->node->hop->step->desc;
    const struct mrs_buf *p = &x->list[a->partner].order, *q = &x->list[b->partner].order;
    int ref = (a->ref > b->ref) - (a->ref < b->ref), c = d->by_reference && !d->sorted ? ref : 0;
    if (d->sorted) {
        size_t n = p->n < q->n ? p->n : q->n;
        c = n ? memcmp(p->p, q->p, n) : 0;
        c = c ? c : (p->n > q->n) - (p->n < q->n);
    }
    c = c ? c : (a->partner > b->partner) - (a->partner < b->partner);
    return c ? c : ref;
}

static enum mrs_status
gather(struct ext_partners *x, struct mrs_err *e)
{
    MRS_ASSERT(x->n_matches <= x->cap_matches);
    enum mrs_status s = sort_keys(x, e);
    MRS_THEN(s, find_same(x, e));
    x->n_matches = 0;
    for (uint32_t k = 0; k < x->keys.n && s == MRS_OK; k++) {
        if (x->keys.span[k].pair != 0 || x->same[k] != k) {
            continue;
        }
        uint32_t last = UINT32_MAX;
        for (uint32_t i = lower_bound(x, k);
             s == MRS_OK && i < x->n_keys && compare_spans(x->key[i].keys, x->key[i].span, &x->keys, k) == 0; i++) {
            uint32_t partner = x->key[i].partner;
            if (partner != last && other_pairs_meet(x, &x->list[partner])) {
                s = add_match(x, partner, k, e);
            }
            last = partner;
        }
    }
    if (s == MRS_OK && x->n_matches) {
        qsort_r(x->match, x->n_matches, sizeof *x->match, by_rule, x);
    }
    return s;
}

/* ---- the splice ---- */
static enum mrs_status
match_next(struct mrs_matches *m, struct mrs_match *out, struct mrs_err *e)
{
    struct ext_partners *x = m->impl;
    (void)e;
    if (x->at == x->n_matches) {
        return MRS_END;
    }
    const struct partner_match *at = &x->match[x->at++];
    const struct partner *p = &x->list[at->partner];
    *out = (struct mrs_match){at->partner, at->ref, {p->payload.p, (uint32_t)p->payload.n}, p->failed, p->why.msg,
                              p->why.where};
    return MRS_OK;
}

static enum mrs_status
match_rewind(struct mrs_matches *m, struct mrs_err *e)
{
    (void)e;
    ((struct ext_partners *)m->impl)->at = 0;
    return MRS_OK;
}

static void
match_used(struct mrs_matches *m, unsigned bits)
{
    (void)m; /* the client handles partners in their own collection */
    (void)bits;
}

static enum mrs_status
put_beside(void *arg, int side, struct mrs_view doc, struct mrs_err *e)
{
    return ext_node_put(arg, side, doc, e);
}

static enum mrs_status
splice(struct ext_partners *x, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct ext_node *n = x->node;
    const struct mrs_step *step = n->hop->step;
    struct mrs_matches m = {x->n_matches, match_next, match_rewind, match_used, x, x->same, x->keys.n, x->named};
    struct mrs_put put = {put_beside, n};
    size_t out = n->out.n, items = n->items.n;
    enum mrs_fate fate = MRS_FATE_STAYS;
    x->at = 0;
    mrs_buf_reset(&x->out);
    mrs_err_clear(n->ctx.err);
    enum mrs_status s = step->type->join->splice(step->state, &n->ctx, n->work, doc, &m, &put, &x->out, &fate);
    if (s == MRS_OK && fate != MRS_FATE_DROPPED) {
        s = ext_node_put(n, 1, (struct mrs_view){x->out.p, (uint32_t)x->out.n}, e);
    } else if (s == MRS_SKIP) {
        n->out.n = out;
        n->items.n = items;
    }
    return s;
}

enum mrs_status
ext_join_take(struct ext_node *n, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(n->partners && mrs_view_is_framed(doc));
    struct ext_partners *x = n->partners;
    const struct mrs_step *step = n->hop->step;
    const struct mrs_join_ops *ops = step->type->join;
    bool takes = true;
    mrs_arena_reset(&n->arena);
    MRS_TRY(read_partners(x, *n->field, e));
    mrs_keys_reset(&x->keys);
    mrs_err_clear(n->ctx.err);
    enum mrs_status s = ops->takes_part(step->state, &n->ctx, 1, doc, &takes);
    s = s == MRS_OK && takes ? ops->keys(step->state, &n->ctx, 1, doc, &x->keys) : s;
    MRS_THEN(s, gather(x, e));
    return s == MRS_OK ? splice(x, doc, e) : s;
}

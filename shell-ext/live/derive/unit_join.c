/* SPDX-License-Identifier: Apache-2.0 */
/* unit_join.c - units of a join: each document of `into` with the documents of `from` that match it.
 *
 * The same matches in the same order as offline over a dump in `_id` order: the position of a document in `from`
 * follows from its `_id`. The keys of a unit are looked up in the table of documents read, the other pairs filter the
 * matches, the list is sorted as the step requires, and the splice of the step does the rest. Splices with output in
 * other collections (pages) belong to steps that the static rule allows only while writers are stopped: the unit is
 * refused. */
#include "derive.h"
#include "mongoreshape/join_ops.h"

#include <stdlib.h>

struct joined_match { /* a document of `from` and the reference that it matches */
    uint32_t rec, ref;
};
struct matching {
    struct mrs_matches m;
    struct live_units *u;
    uint32_t at;
};

static struct live_rec *
recs(const struct live_from *f)
{
    return (struct live_rec *)(void *)f->recs.p;
}

/* ---- interface for the splice ---- */
static enum mrs_status
next(struct mrs_matches *m, struct mrs_match *out, struct mrs_err *e)
{
    MRS_ASSERT(((struct matching *)m->impl)->at <= m->n);
    struct matching *x = m->impl;
    (void)e;
    if (x->at == m->n) {
        return MRS_END;
    }
    const struct joined_match *t = (const struct joined_match *)(const void *)x->u->from->matches.p + x->at++;
    const struct live_rec *r = &recs(x->u->from)[t->rec];
    *out = (struct mrs_match){t->rec, t->ref, r->payload, r->failed, r->why, r->why_where};
    return MRS_OK;
}

static enum mrs_status
start_again(struct mrs_matches *m, struct mrs_err *e)
{
    (void)e;
    ((struct matching *)m->impl)->at = 0;
    return MRS_OK;
}

/* No document leaves `from` while writers run, so the use of a match is not needed. */
static void
used(struct mrs_matches *m, unsigned bits)
{
    (void)m;
    (void)bits;
}

static enum mrs_status
put_nothing(void *arg, int side, struct mrs_view doc, struct mrs_err *e)
{
    (void)arg;
    (void)side;
    (void)doc;
    return mrs_err_set(e, MRS_SKIP, MRS_E_REFUSED, "what does not fit goes to another collection, which can only be "
                       "done with writers stopped");
}

/* ---- keys of the unit ---- */
static int
by_span(const void *a, const void *b, void *arg)
{
    const struct mrs_keys *k = arg;
    const struct mrs_keyspan *x = &k->span[*(const uint32_t *)a], *y = &k->span[*(const uint32_t *)b];
    uint32_t n = x->len < y->len ? x->len : y->len;
    int c = x->pair != y->pair ? (x->pair < y->pair ? -1 : 1) : x->kind - y->kind;
    c = c ? c : memcmp(k->bytes.p + x->off, k->bytes.p + y->off, n);
    c = c ? c : (x->len > y->len) - (x->len < y->len);
    return c ? c : *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static bool
equal_spans(const struct mrs_keys *k, uint32_t a, const struct mrs_keys *l, uint32_t b)
{
    const struct mrs_keyspan *x = &k->span[a], *y = &l->span[b];
    return x->pair == y->pair && x->kind == y->kind && x->len == y->len &&
        memcmp(k->bytes.p + x->off, l->bytes.p + y->off, x->len) == 0;
}

/* For each key the index of the first equal one. */
static enum mrs_status
find_same(struct live_from *f, struct mrs_err *e)
{
    uint32_t n = f->unit_keys.n;
    mrs_buf_reset(&f->same);
    mrs_buf_reset(&f->order);
    uint32_t *same = (uint32_t *)(void *)mrs_buf_take(&f->same, (n + 1u) * sizeof *same);
    uint32_t *order = (uint32_t *)(void *)mrs_buf_take(&f->order, (n + 1u) * sizeof *order);
    if (!same || !order) {
        return mrs_err_memory(e, n * sizeof *same);
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
    }
    if (n > 1) {
        qsort_r(order, n, sizeof *order, by_span, &f->unit_keys);
    }
    for (uint32_t i = 0; i < n; i++) {
        bool again = i && equal_spans(&f->unit_keys, order[i], &f->unit_keys, order[i - 1]);
        same[order[i]] = again ? same[order[i - 1]] : order[i];
    }
    return MRS_OK;
}

/* ---- matches ---- */
/* Does each pair but the first have an equal key on both sides? */
static bool
other_pairs(const struct live_units *u, const struct live_rec *r)
{
    const struct live_from *f = u->from;
    for (uint32_t p = 1; p < u->step->desc.n_pairs; p++) {
        bool equal = false;
        for (uint32_t i = r->first_key; i < r->first_key + r->n_keys && !equal; i++) {
            for (uint32_t k = 0; k < f->unit_keys.n && f->keys.span[i].pair == p && !equal; k++) {
                equal = equal_spans(&f->keys, i, &f->unit_keys, k);
            }
        }
        if (!equal) {
            return false;
        }
    }
    return true;
}

/* The documents with the unit's key `at`. */
static enum mrs_status
look_up(struct live_units *u, uint32_t at, struct mrs_err *e)
{
    MRS_ASSERT(at < u->from->unit_keys.n);
    struct live_from *f = u->from;
    const struct mrs_keyspan *s = &f->unit_keys.span[at];
    const struct live_entry *t = (const struct live_entry *)(const void *)f->entries.p;
    const uint32_t *heads = (const uint32_t *)(const void *)f->heads.p;
    uint64_t hash = mrs_hash(f->unit_keys.bytes.p + s->off, s->len, s->kind).lo;
    uint32_t i = heads[hash & (f->heads.n / sizeof *heads - 1)];
    for (; i; i = t[i - 1].next) {
        const struct live_entry *x = &t[i - 1];
        struct live_rec *r = &recs(f)[x->rec];
        if (x->hash != hash || !equal_spans(&f->keys, x->span, &f->unit_keys, at) || !other_pairs(u, r)) {
            continue;
        }
        if (!r->unsorted) {
            struct joined_match m = {x->rec, u->step->desc.by_reference ? at : 0};
            mrs_buf_put(&f->matches, &m, sizeof m);
        } else if (r->doc.n) {
            mrs_err_clear(&u->err);
            mrs_err_set(&u->err, MRS_SKIP, MRS_E_REFUSED, "%s", r->why);
            mrs_err_at(&u->err, "%s", r->why_where);
            enum mrs_status st = live_from_refuse(u, r->doc, e);
            r->doc.n = 0; /* recorded */
            if (st != MRS_OK) {
                return st;
            }
        }
    }
    return mrs_buf_status(&f->matches, e);
}

static int
by_rule(const void *a, const void *b, void *arg)
{
    const struct live_units *u = arg;
    const struct joined_match *x = a, *y = b;
    const struct live_rec *r = &recs(u->from)[x->rec], *s = &recs(u->from)[y->rec];
    int c = !u->step->desc.sorted ? (x->ref > y->ref) - (x->ref < y->ref) : 0;
    if (u->step->desc.sorted) {
        uint32_t n = r->sort.n < s->sort.n ? r->sort.n : s->sort.n;
        c = n ? memcmp(r->sort.p, s->sort.p, n) : 0;
        c = c ? c : (r->sort.n > s->sort.n) - (r->sort.n < s->sort.n);
    }
    c = c ? c : (x->rec > y->rec) - (x->rec < y->rec);
    return c ? c : (x->ref > y->ref) - (x->ref < y->ref);
}

static void
sort_matches(struct live_units *u)
{
    struct joined_match *m = (struct joined_match *)(void *)u->from->matches.p;
    size_t n = 0, all = u->from->matches.n / sizeof *m;
    if (all > 1) {
        qsort_r(m, all, sizeof *m, by_rule, u);
    }
    for (size_t i = 0; i < all; i++) {
        if (n == 0 || m[n - 1].rec != m[i].rec || m[n - 1].ref != m[i].ref) {
            m[n++] = m[i];
        }
    }
    u->from->matches.n = n * sizeof *m;
}

static enum mrs_status
gather(struct live_units *u, struct matching *x, struct mrs_err *e)
{
    struct live_from *f = u->from;
    enum mrs_status s = find_same(f, e);
    const uint32_t *same = (const uint32_t *)(const void *)f->same.p;
    mrs_buf_reset(&f->matches);
    for (uint32_t i = 0; i < f->unit_keys.n && s == MRS_OK; i++) {
        if (f->unit_keys.span[i].pair == 0 && same[i] == i) {
            s = look_up(u, i, e);
        }
    }
    if (s == MRS_OK) {
        sort_matches(u);
        *x = (struct matching){.u = u, .m = {.n = f->matches.n / sizeof(struct joined_match), .next = next,
                                             .rewind = start_again, .used = used, .same_ref = same,
                                             .n_refs = f->unit_keys.n}};
        x->m.impl = x;
    }
    return s;
}

/* ---- one unit ---- */
/* Does the unit have a key that could not be queried? */
static bool
lacks(const struct live_from *f)
{
    for (uint32_t i = 0; f->lacking && i < f->unit_keys.n; i++) {
        const struct mrs_keyspan *s = &f->unit_keys.span[i];
        uint32_t at = s->pair ? UINT32_MAX
                              : live_keys_find(&f->needed, f->unit_keys.bytes.p + s->off, s->len, s->kind);
        if (at != UINT32_MAX && f->needed.span[at].pair) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
splice(struct live_units *u, struct mrs_view base, struct mrs_view *after, struct mrs_err *e)
{
    struct mrs_put put = {put_nothing, NULL};
    struct matching x;
    enum mrs_fate fate = MRS_FATE_STAYS;
    enum mrs_status s = gather(u, &x, e);
    if (s != MRS_OK) {
        return s;
    }
    mrs_arena_reset(&u->scratch);
    mrs_err_clear(&u->err);
    mrs_buf_reset(&u->base);
    s = u->step->type->join->splice(u->step->state, &u->ctx, u->work[0], base, &x.m, &put, &u->base, &fate);
    MRS_THEN(s, mrs_buf_status(&u->base, &u->err));
    *after = fate == MRS_FATE_CHANGED ? (struct mrs_view){u->base.p, (uint32_t)u->base.n} : base;
    return live_unit_failed(u, s, e);
}

static enum mrs_status
join_one(struct live_units *u, uint32_t main, struct live_unit *unit, struct mrs_view base, struct mrs_err *e)
{
    struct live_from *f = u->from;
    const struct mrs_join_ops *ops = u->step->type->join;
    struct mrs_view after = base;
    bool part = true;
    mrs_keys_reset(&f->unit_keys);
    mrs_arena_reset(&u->scratch);
    mrs_err_clear(&u->err);
    enum mrs_status s = ops->takes_part(u->step->state, &u->ctx, 1, base, &part);
    if (s == MRS_OK && part) {
        s = ops->keys(u->step->state, &u->ctx, 1, base, &f->unit_keys);
        if (s == MRS_OK && lacks(f)) {
            mrs_err_at(&u->err, "match");
            s = mrs_err_set(&u->err, MRS_SKIP, MRS_E_REFUSED, "its reference cannot be asked for by a value");
        }
        s = s == MRS_OK ? splice(u, base, &after, e) : live_unit_failed(u, s, e);
    }
    if (s == MRS_SKIP) {
        live_unit_refuse(u, unit, u->step->no);
        return MRS_OK;
    }
    return s == MRS_OK ? live_unit_result(u, main, unit, after, e) : s;
}

enum mrs_status
live_join_derive(struct live_units *u, uint32_t main, struct live_unit *units, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(main < u->n_mains && u->from);
    const struct mrs_view *bases = (const struct mrs_view *)(const void *)u->from->bases.p;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        s = units[i].refused ? MRS_OK : join_one(u, main, &units[i], bases[i], e);
    }
    return s;
}

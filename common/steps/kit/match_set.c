/* SPDX-License-Identifier: Apache-2.0 */
/* match_set.c - the matches of one document of `into`, looked up by reference.
 *
 * The engine returns each match once, for the first of equal references; several places of a document may need it. So
 * the matches are collected first and sorted into ranges by reference, and every place takes the ranges of its
 * references: in the order of the references, or of the step's sort, without duplicates. The use of a match is recorded
 * here and reported at the end, when it is certain that the document is written. */
#include "match_set.h"
#include "shape.h"
#include "mongoreshape/join_ops.h"
#include <stdlib.h>

#define N_OF(buf, type) ((uint32_t)((buf).n / sizeof(type)))
#define AT(buf, type) ((type *)(void *)(buf).p)
#define USED_TWICE 8u /* a duplicate of a match that was reported */

/* ---- input positions ---- */
enum mrs_status
mrsi_orders_add(struct mrs_number_table *o, uint64_t order, bool *before, struct mrs_err *e)
{
    MRS_ASSERT(order != UINT64_MAX);
    struct mrs_number_slot *at = mrs_number_table_put(o, order + 1);
    *before = at && at->value++;
    return at ? MRS_OK : mrs_buf_status(&o->slots, e);
}

/* ---- memory ---- */
void
mrsi_match_set_init(struct mrsi_match_set *h, struct mrs_mem *mem)
{
    MRS_ASSERT(mem);
    struct mrs_buf *list[] = {&h->hit, &h->first, &h->by_ref, &h->stamp, &h->used, &h->found, &h->pick, &h->seen.slots};
    memset(h, 0, sizeof *h);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        mrs_buf_init(list[i], mem, UINT32_MAX);
    }
    mrs_buf_init(&h->payload, mem, MRSI_MATCH_SET_BYTES);
}

void
mrsi_match_set_clear(struct mrsi_match_set *h)
{
    struct mrs_buf *list[] = {&h->hit, &h->first, &h->by_ref, &h->stamp, &h->used, &h->found, &h->pick,
                              &h->seen.slots, &h->payload};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        mrs_buf_clear(list[i]);
    }
    h->seen.n = 0;
}

static enum mrs_status
done(struct mrs_buf *b, struct mrs_ctx *c)
{
    return mrsi_buf_end(b, 0, c, "oversize");
}

static enum mrs_status
zeroed(struct mrs_buf *b, size_t n, struct mrs_ctx *c)
{
    mrs_buf_reset(b);
    uint8_t *p = mrs_buf_take(b, n);
    if (!p) {
        return done(b, c);
    }
    memset(p, 0, n);
    return MRS_OK;
}

/* ---- collect ---- */
enum mrs_status
mrsi_match_set_begin(struct mrsi_match_set *h, struct mrs_ctx *c, const struct mrs_matches *m)
{
    h->same_ref = m->same_ref;
    h->n_refs = m->n_refs;
    enum mrs_status st = zeroed(&h->found, m->n_refs + 1u, c);
    for (uint32_t i = 0; st == MRS_OK && m->named && i < m->n_refs; i++) {
        h->found.p[i] = m->named[i] ? MRSI_FOUND_REFUSED : 0;
    }
    return st;
}

/* first[ref + 1] temporarily counts the matches of ref. */
static enum mrs_status
gather_one(struct mrsi_match_set *h, struct mrs_ctx *c, const struct mrs_match *m, uint32_t ref, uint64_t most)
{
    uint32_t *first = AT(h->first, uint32_t);
    struct mrsi_match_item hit = {m->order, ref, (uint32_t)h->payload.n, 0, m->failed};
    if (m->failed) {
        const char *where = m->why_where ? m->why_where : "", *why = m->why ? m->why : "";
        mrs_buf_put(&h->payload, where, strlen(where) + 1);
        mrs_buf_put(&h->payload, why, strlen(why) + 1);
    } else if (first[ref + 1] < most) {
        hit.len = m->payload.n;
        mrs_buf_put(&h->payload, m->payload.p, m->payload.n);
    }
    first[ref + 1]++;
    h->found.p[ref] |= MRSI_FOUND_MATCH;
    mrs_buf_put(&h->hit, &hit, sizeof hit);
    return h->payload.bad ? done(&h->payload, c) : done(&h->hit, c);
}

/* Builds ranges by reference; within a range in the order of next(). */
static enum mrs_status
settle(struct mrsi_match_set *h, struct mrs_ctx *c)
{
    uint32_t n = N_OF(h->hit, struct mrsi_match_item), *first = AT(h->first, uint32_t);
    MRS_TRY(zeroed(&h->used, n + 1u, c));
    MRS_TRY(zeroed(&h->by_ref, (n + 1u) * sizeof(uint32_t), c));
    for (uint32_t i = 0; i < h->n_refs; i++) {
        first[i + 1] += first[i];
    }
    uint32_t *by = AT(h->by_ref, uint32_t);
    const struct mrsi_match_item *hit = AT(h->hit, struct mrsi_match_item);
    for (uint32_t i = n; i-- > 0;) {
        by[--first[hit[i].ref + 1]] = i;
    }
    return MRS_OK; /* the range of ref is now first[ref + 1] up to first[ref + 2] */
}

enum mrs_status
mrsi_match_set_gather(struct mrsi_match_set *h, struct mrs_ctx *c, struct mrs_matches *m, bool refs, uint64_t most)
{
    MRS_ASSERT(m->next);
    struct mrs_match got;
    enum mrs_status st = mrsi_match_set_begin(h, c, m);
    mrs_buf_reset(&h->payload);
    mrs_buf_reset(&h->hit);
    h->site = 0;
    if (!refs) {
        h->n_refs = 1;
        h->same_ref = NULL;
        MRS_THEN(st, zeroed(&h->found, 2, c));
    }
    MRS_THEN(st, zeroed(&h->first, (h->n_refs + 2u) * sizeof(uint32_t), c));
    MRS_THEN(st, zeroed(&h->stamp, (h->n_refs + 1u) * sizeof(uint32_t), c));
    while (st == MRS_OK && (st = m->next(m, &got, c->err)) == MRS_OK) {
        if (refs && got.ref >= h->n_refs) { /* from a damaged table of a stopped run */
            return mrs_err_set(c->err, MRS_FAIL, MRS_E_FORMAT, "a match names reference %u of %u", got.ref, h->n_refs);
        }
        st = gather_one(h, c, &got, refs ? got.ref : 0, most);
    }
    return st == MRS_END ? settle(h, c) : st;
}

/* ---- one place ---- */
static int
ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int
in_from(const void *a, const void *b, void *hits)
{
    const struct mrsi_match_item *hit = hits;
    uint64_t x = hit[*(const uint32_t *)a].order, y = hit[*(const uint32_t *)b].order;
    return (x > y) - (x < y);
}

static uint32_t
first_equal(const struct mrsi_match_set *h, uint32_t key)
{
    return h->same_ref && key < h->n_refs ? h->same_ref[key] : key;
}

static enum mrs_status
add_ref(struct mrsi_match_set *h, struct mrs_ctx *c, uint32_t ref)
{
    uint32_t *stamp = AT(h->stamp, uint32_t);
    const uint32_t *first = AT(h->first, uint32_t);
    if (ref >= h->n_refs || stamp[ref] == h->site) {
        return MRS_OK;
    }
    stamp[ref] = h->site;
    uint32_t from = first[ref + 1], to = ref + 1 < h->n_refs ? first[ref + 2] : N_OF(h->hit, struct mrsi_match_item);
    if (to > from) {
        mrs_buf_put(&h->pick, AT(h->by_ref, uint32_t) + from, (to - from) * sizeof(uint32_t));
    }
    return done(&h->pick, c);
}

/* Removes duplicates; the first place in the list stays. */
static enum mrs_status
without_doubles(struct mrsi_match_set *h, struct mrs_ctx *c)
{
    uint32_t *pick = AT(h->pick, uint32_t), n = N_OF(h->pick, uint32_t), kept = 0;
    const struct mrsi_match_item *hit = AT(h->hit, struct mrsi_match_item);
    mrs_number_table_forget(&h->seen);
    for (uint32_t i = 0; i < n; i++) {
        bool before = false;
        MRS_TRY(mrsi_orders_add(&h->seen, hit[pick[i]].order, &before, c->err));
        if (before) {
            mrsi_match_set_use(h, pick[i], USED_TWICE);
        } else {
            pick[kept++] = pick[i];
        }
    }
    h->pick.n = kept * sizeof *pick;
    return MRS_OK;
}

static enum mrs_status
order_picks(struct mrsi_match_set *h, struct mrs_ctx *c)
{
    uint32_t n = N_OF(h->pick, uint32_t);
    if (n < 2) {
        return MRS_OK;
    }
    if (h->sorted) {
        qsort(h->pick.p, n, sizeof(uint32_t), ascending);
    } else if (h->by_from) {
        qsort_r(h->pick.p, n, sizeof(uint32_t), in_from, h->hit.p);
    }
    return without_doubles(h, c);
}

enum mrs_status
mrsi_match_set_collect(struct mrsi_match_set *h, struct mrs_ctx *c, const struct mrsi_ref_occurrence *occ, uint32_t n)
{
    MRS_ASSERT(occ || n == 0);
    enum mrs_status st = MRS_OK;
    mrs_buf_reset(&h->pick);
    h->site++;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = occ[i].key; k < occ[i].key + occ[i].n_keys && st == MRS_OK; k++) {
            st = add_ref(h, c, first_equal(h, k));
        }
    }
    return st == MRS_OK ? order_picks(h, c) : st;
}

enum mrs_status
mrsi_match_set_all(struct mrsi_match_set *h, struct mrs_ctx *c)
{
    enum mrs_status st = MRS_OK;
    mrs_buf_reset(&h->pick);
    h->site++;
    for (uint32_t i = 0; i < h->n_refs && st == MRS_OK; i++) {
        st = add_ref(h, c, i);
    }
    return st == MRS_OK ? order_picks(h, c) : st;
}

bool
mrsi_match_set_found(const struct mrsi_match_set *h, const struct mrsi_ref_occurrence *o, unsigned bits)
{
    for (uint32_t k = o->key; k < o->key + o->n_keys; k++) {
        uint32_t first = first_equal(h, k);
        if (first < h->n_refs && (h->found.p[first] & bits)) {
            return true;
        }
    }
    return false;
}

enum mrs_status
mrsi_match_set_taken(const struct mrsi_match_set *h, struct mrs_ctx *c, uint32_t hit)
{
    const struct mrsi_match_item *p = &AT(h->hit, const struct mrsi_match_item)[hit];
    const char *where = (const char *)h->payload.p + p->off;
    return p->failed ? mrsi_step_refuse(c, where, "%s", where + strlen(where) + 1) : MRS_OK;
}

enum mrs_status
mrsi_match_set_choose(struct mrsi_match_set *h, struct mrs_ctx *c, int many, uint32_t n, uint32_t *chosen)
{
    MRS_ASSERT(chosen);
    if (n > 1 && many == MRSI_MANY_REFUSE) {
        return mrsi_step_refuse(c, "many", "%u documents match where one is meant", n);
    }
    *chosen = many == MRSI_MANY_LAST ? n - 1 : 0;
    enum mrs_status st = mrsi_match_set_taken(h, c, mrsi_match_set_pick(h, *chosen));
    for (uint32_t i = 0; i < n && st == MRS_OK; i++) {
        mrsi_match_set_use(h, mrsi_match_set_pick(h, i), i == *chosen ? MRS_USED_PLACED : MRS_USED_LEFT);
    }
    return st;
}

enum mrs_status
mrsi_match_set_describe(struct mrsi_match_set *h, struct mrs_ctx *c, struct mrs_matches *m, bool left, bool *homeless)
{
    MRS_ASSERT(homeless);
    const uint8_t *bits = h->used.p;
    uint32_t n = N_OF(h->hit, struct mrsi_match_item);
    bool placed = !left;
    struct mrs_match got;
    *homeless = false;
    for (uint32_t i = 0; i < n; i++) {
        *homeless = *homeless || (!bits[i] && !left);
        placed = placed && bits[i] == MRS_USED_PLACED;
    }
    if (*homeless || placed) {
        return MRS_OK;
    }
    enum mrs_status st = m->rewind(m, c->err);
    for (uint32_t i = 0; i < n && st == MRS_OK && (st = m->next(m, &got, c->err)) == MRS_OK; i++) {
        m->used(m, left ? MRS_USED_LEFT : bits[i] & 7u);
    }
    return st;
}

/* ---- remove references ---- */
static enum mrsi_taking
taking(struct mrsi_ref_removal *t)
{
    const struct mrsi_ref_occurrence *o = mrsi_refs_next(t->refs, &t->at);
    return o ? t->what(t->arg, o) : MRSI_TAKE_KEEP;
}

static enum mrs_status
take_out(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
         struct mrs_buf *raw,
         struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    struct mrsi_ref_removal *t = arg;
    bool changed = false, empty = true;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_KEEP;
    if (site->blocked || site->old.type == MRS_MISSING) {
        return MRS_OK;
    }
    if (site->old.type != MRS_ARRAY) {
        enum mrsi_taking w = taking(t);
        *verdict = w == MRSI_TAKE_KEEP ? MRS_EDIT_KEEP : w == MRSI_TAKE_NULL ? MRS_EDIT_PUT : MRS_EDIT_REMOVE;
        *put = mrs_null();
        return MRS_OK;
    }
    struct mrsi_shape_items it;
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_buf_reset(t->value);
    mrsi_items_open(&it, t->value);
    mrs_walk_init(&w, mrs_val_view(site->old));
    while (mrs_walk_next(&w, &el) == 1) {
        enum mrsi_taking what = taking(t);
        changed = changed || what != MRSI_TAKE_KEEP;
        empty = empty && what == MRSI_TAKE_REMOVE;
        if (what != MRSI_TAKE_REMOVE) {
            mrsi_items_add(&it, what == MRSI_TAKE_KEEP ? el.v : mrs_null());
        }
    }
    mrsi_items_close(&it);
    enum mrs_status st = mrsi_buf_end(t->value, 0, t->c, t->key);
    if (st == MRS_OK && changed) {
        *verdict = t->drop_empty && empty ? MRS_EDIT_REMOVE : MRS_EDIT_PUT;
        *put = mrsi_items_val(&it);
    }
    return st;
}

enum mrs_status
mrsi_refs_take(struct mrsi_ref_removal *t, struct mrs_view doc, struct mrs_buf *out, bool *any)
{
    MRS_ASSERT(t->what && mrs_view_is_framed(doc));
    MRS_ASSERT(mrs_buf_is_sound(out));
    uint32_t n = mrsi_refs_n_occurrence(t->refs);
    bool changed;
    *any = false;
    for (uint32_t i = 0; i < n && !*any; i++) {
        *any = t->what(t->arg, &mrsi_refs_occurrence(t->refs)[i]) != MRSI_TAKE_KEEP;
    }
    if (!*any) {
        return MRS_OK;
    }
    struct mrs_edit_run run = {.fn = take_out, .arg = t, .raw = t->raw};
    t->at = 0;
    return mrsi_step_skip(t->c, mrs_edit_run(t->edit, &run, doc, out, &changed, t->c->err), t->key);
}

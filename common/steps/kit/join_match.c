/* SPDX-License-Identifier: Apache-2.0 */
/* join_match.c - match: the keys of a document, and the references in a document of `into`.
 *
 * The engine compares encoded keys; this file decides which values count. Keys and references of a document of `into`
 * come from the same walk, so that a splice always finds the key that the engine got. Pairs are matched independently,
 * as in a query, except pairs in the same array as the reference: their values form one key for each element. The
 * recursion follows the names of a path (at most 100), never the data. */
#include "join_match.h"
#include "describe.h"
#include "mongoreshape/join_ops.h"

#define TUPLES_MAX (1u << 20) /* maximum of keys from arrays in several pairs of one document */

/* ---- reading ---- */
static bool
is_id(const struct mrsi_side_key *k)
{
    return k->path.n == 1 && strcmp(k->path.part[0].name, "_id") == 0;
}

static void
put_first(struct mrsi_join_match *j, uint32_t i)
{
    struct mrsi_pair first = j->pair[i];
    memmove(&j->pair[1], &j->pair[0], i * sizeof first);
    j->pair[0] = first;
}

bool
mrsi_join_read(struct mrsi_read *r, struct mrsi_join_match *j, bool by_into)
{
    struct mrsi_match m = {NULL, 0};
    int nulls = 0, side = 0;
    bool good = mrsi_read_coll(r, mrsi_slot(r, "from"), &j->from);
    good = mrsi_read_coll(r, mrsi_slot(r, "into"), &j->into) && good;
    good = mrsi_read_match(r, mrsi_slot(r, "match"), &m) && good;
    mrsi_read_query(r, mrsi_slot(r, "where"), &j->where);
    mrsi_read_choice(r, mrsi_slot(r, "nulls"), &nulls);
    j->nulls = nulls == 1;
    j->pair = m.pair;
    j->n = m.n;
    if (!good || !m.n) {
        return false;
    }
    bool points = by_into, owned = false;
    for (uint32_t i = 0; i < j->n; i++) {
        owned = owned || is_id(&j->pair[i].into);
    }
    for (uint32_t i = 0; i < j->n; i++) {
        if (is_id(&j->pair[i].from)) {
            put_first(j, i);
            points = true;
            break;
        }
    }
    points = points && !(by_into && owned);
    if (!by_into && mrsi_read_choice(r, mrsi_slot(r, "reference"), &side)) {
        points = side == 1;
    }
    j->into_points = points;
    j->refs = points;
    j->single = is_id(&j->pair[0].from);
    j->n_tuple = 1;
    return true;
}

void
mrsi_join_describe(const struct mrsi_join_match *j, struct mrsi_describe *t)
{
    for (uint32_t i = 0; i < j->n; i++) {
        if (i == 0 || i >= j->n_tuple) {
            mrsi_describe_pair(t, &j->pair[i].from.path, &j->pair[i].into.path);
        }
    }
}

uint32_t
mrsi_join_share(const struct mrs_path *a, const struct mrs_path *b)
{
    MRS_ASSERT((a->part || a->n == 0) && (b->part || b->n == 0));
    uint32_t n = 0;
    while (n + 1 < a->n && n + 1 < b->n && a->part[n].len == b->part[n].len &&
           memcmp(a->part[n].name, b->part[n].name, a->part[n].len) == 0) {
        n++;
    }
    return n;
}

/* Moves pairs whose into path shares the common prefix to the front. */
void
mrsi_join_settle(struct mrsi_join_match *j)
{
    MRS_ASSERT(j->n > 0);
    j->n_tuple = 1;
    for (uint32_t i = 1; i < j->n && j->refs && j->share; i++) {
        if (mrsi_join_share(&j->pair[i].into.path, &j->pair[0].into.path) >= j->share) {
            struct mrsi_pair p = j->pair[i];
            j->pair[i] = j->pair[j->n_tuple];
            j->pair[j->n_tuple++] = p;
        }
    }
}

/* ---- values ---- */
struct values {
    const struct mrsi_join_match *j;
    struct mrs_ctx *c;
    struct mrs_val *v; /* allocated in the arena */
    uint32_t n, cap;
};

static enum mrs_status
keep_value(void *arg, struct mrs_val v)
{
    MRS_ASSERT(((struct values *)arg)->n <= ((struct values *)arg)->cap);
    struct values *l = arg;
    if (mrs_is_nullish(v)) {
        if (!l->j->nulls) {
            return MRS_OK;
        }
        v = mrs_null();
    }
    struct mrs_val *more = mrs_arena_more(l->c->arena, l->v, l->n, &l->cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, l->c->err));
    l->v = more;
    l->v[l->n++] = v;
    return MRS_OK;
}

/* Every value of a path, as a query for null sees it: a document without the rest of the path gives a missing value,
 * also as an element of an array; an element that is not a document gives nothing. */
static enum mrs_status
path_values(const struct mrs_path *p, uint32_t level, struct mrs_view d, mrs_path_fn fn, void *arg)
{
    MRS_ASSERT(level <= p->n);
    MRS_ASSERT(mrs_view_is_framed(d));
    bool last = level + 1 == p->n;
    struct mrs_walk w;
    struct mrs_elem e;
    enum mrs_status st = MRS_OK;
    if (!mrs_doc_find(d, p->part[level].name, p->part[level].len, &e)) {
        return fn(arg, mrs_missing());
    }
    if (e.v.type != MRS_ARRAY) {
        if (!last && e.v.type == MRS_DOCUMENT) {
            return path_values(p, level + 1, mrs_val_view(e.v), fn, arg);
        }
        return fn(arg, last ? e.v : mrs_missing());
    }
    mrs_walk_init(&w, mrs_val_view(e.v));
    while (st == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        if (last) {
            st = fn(arg, e.v);
        } else if (e.v.type == MRS_DOCUMENT) {
            st = path_values(p, level + 1, mrs_val_view(e.v), fn, arg);
        }
    }
    return st;
}

/* Calls fn with each value of one side of a pair; skip: number of path names that d already stands for. */
static enum mrs_status
each_value(struct mrs_ctx *c, const struct mrsi_side_key *k, uint32_t skip, struct mrs_view d, mrs_path_fn fn,
           void *arg)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    if (!k->expr) {
        return path_values(&k->path, skip, d, fn, arg);
    }
    struct mrs_eval ev = mrsi_step_eval(c, d);
    struct mrs_val v;
    enum mrs_status st = mrsi_step_skip(c, mrs_expr_eval(k->expr, &ev, &v), "match");
    if (st == MRS_OK && mrsi_step_is_empty(v)) {
        c->remarks |= MRS_REMARK_EMPTY_KEY;
    }
    if (st != MRS_OK || v.type != MRS_ARRAY) {
        return st != MRS_OK ? st : fn(arg, v);
    }
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, mrs_val_view(v));
    while (st == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        st = fn(arg, e.v);
    }
    return st;
}

/* ---- keys of one value combined with the other pairs of its tuple ---- */
struct join_match_maker {
    const struct mrsi_join_match *j;
    struct mrs_ctx *c;
    struct mrs_keys *keys;  /* NULL: count only */
    struct values *other;   /* [1, n_tuple): values of the other pairs; NULL if n_tuple is 1 */
    uint32_t n;             /* number of keys so far */
};

static enum mrs_status
add_product(struct join_match_maker *m, uint8_t kind, struct mrs_val first)
{
    uint32_t n = m->j->n_tuple;
    struct mrs_val *v = mrs_arena_alloc(m->c->arena, n * (sizeof *v + sizeof(uint32_t)));
    MRS_TRY(mrs_allocated(v, n * sizeof *v, m->c->err));
    uint32_t *at = (uint32_t *)(void *)(v + n);
    memset(at, 0, n * sizeof *at);
    v[0] = first;
    for (;;) {
        for (uint32_t i = 1; i < n; i++) {
            if (!m->other[i].n) {
                return MRS_OK;
            }
            v[i] = m->other[i].v[at[i]];
        }
        if (++m->n > TUPLES_MAX) {
            return mrsi_step_refuse(m->c, "match", "more than %u combinations of keys in one document", TUPLES_MAX);
        }
        enum mrs_status st = m->keys ? mrsi_keys_add_tuple(m->keys, 0, kind, v, n, m->c->err) : MRS_OK;
        if (st != MRS_OK) {
            return mrsi_step_skip(m->c, st, "match");
        }
        uint32_t i = n;
        while (--i > 0 && ++at[i] == m->other[i].n) {
            at[i] = 0;
        }
        if (i == 0) {
            return MRS_OK;
        }
    }
}

static enum mrs_status
add_first(struct join_match_maker *m, uint8_t kind, struct mrs_val v)
{
    if (m->j->n_tuple > 1) {
        return add_product(m, kind, v);
    }
    m->n++;
    return m->keys ? mrsi_step_skip(m->c, mrs_keys_add(m->keys, 0, kind, v, m->c->err), "match") : MRS_OK;
}

/* Reads the values of the tuple's other pairs in d. */
static enum mrs_status
find_others(struct join_match_maker *m, bool into, uint32_t skip, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    uint32_t n = m->j->n_tuple;
    enum mrs_status st = MRS_OK;
    m->other = NULL;
    if (n == 1) {
        return MRS_OK;
    }
    m->other = mrs_arena_alloc(m->c->arena, n * sizeof *m->other);
    MRS_TRY(mrs_allocated(m->other, n * sizeof *m->other, m->c->err));
    for (uint32_t i = 1; i < n && st == MRS_OK; i++) {
        const struct mrsi_pair *p = &m->j->pair[i];
        m->other[i] = (struct values){m->j, m->c, NULL, 0, 0};
        st = each_value(m->c, into ? &p->into : &p->from, skip, d, keep_value, &m->other[i]);
    }
    return st;
}

struct adder {
    const struct mrsi_join_match *j;
    struct mrs_ctx *c;
    struct mrs_keys *keys; /* NULL: count only */
    uint16_t pair;
    uint32_t n;
};

static enum mrs_status
add_plain(void *arg, struct mrs_val v)
{
    struct adder *a = arg;
    if (mrs_is_nullish(v)) {
        if (!a->j->nulls) {
            return MRS_OK;
        }
        v = mrs_null();
    }
    a->n++;
    return a->keys ? mrsi_step_skip(a->c, mrs_keys_add(a->keys, a->pair, 0, v, a->c->err), "match") : MRS_OK;
}

/* Handles the pairs after the tuple, each independently. first: the first such pair. *lacking: one of them has no
 * value. */
static enum mrs_status
add_pairs(const struct mrsi_join_match *j, struct mrs_ctx *c, bool into, uint32_t first, struct mrs_view d,
          struct mrs_keys *k, bool *lacking)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t i = first; i < j->n && st == MRS_OK; i++) {
        struct adder a = {j, c, k, (uint16_t)(i < j->n_tuple ? 0 : i - j->n_tuple + 1), 0};
        const struct mrsi_side_key *key = into ? &j->pair[i].into : &j->pair[i].from;
        st = each_value(c, key, 0, d, add_plain, &a);
        *lacking = *lacking || a.n == 0;
    }
    return st;
}

/* ---- references ---- */
struct join_match_walker {
    struct join_match_maker m;
    struct mrsi_refs *refs; /* NULL: keys only */
    uint32_t share2;
    uint32_t index[MRS_PATH_PARTS_MAX];
    uint32_t n_index;
    struct mrs_view root;
};

static enum mrs_status
append(struct mrs_buf *b, const void *p, size_t n, struct mrs_ctx *c)
{
    mrs_buf_put(b, p, n);
    return b->bad ? mrsi_step_skip(c, mrs_buf_status(b, c->err), "match") : MRS_OK;
}

static enum mrs_status
open_group(struct join_match_walker *w, struct mrs_buf *groups)
{
    struct mrsi_refs *f = w->refs;
    struct mrsi_match_group g = {(uint32_t)(f->index.n / sizeof(uint32_t)), w->n_index, mrsi_refs_n_occurrence(f), 0};
    enum mrs_status st = append(&f->index, w->index, w->n_index * sizeof(uint32_t), w->m.c);
    return st == MRS_OK ? append(groups, &g, sizeof g, w->m.c) : st;
}

static void
count_in(struct mrs_buf *groups)
{
    if (groups->n) {
        struct mrsi_match_group *g = (struct mrsi_match_group *)(void *)(groups->p + groups->n) - 1;
        g->n_occ++;
    }
}

static enum mrs_status
enter(struct join_match_walker *w, struct mrs_view d, uint32_t level)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    enum mrs_status st = MRS_OK;
    if (level == w->m.j->share) {
        st = find_others(&w->m, true, level, d);
        if (st == MRS_OK && w->refs) {
            st = open_group(w, &w->refs->group);
        }
    }
    if (st == MRS_OK && w->refs && level == w->share2) {
        st = open_group(w, &w->refs->count_group);
    }
    return st;
}

/* A document that is not a reference may contain one: its own `_id`, or the field that wraps it. */
static enum mrs_status
occurrence(struct join_match_walker *w, struct mrs_val v)
{
    MRS_ASSERT(w->n_index <= MRS_PATH_PARTS_MAX);
    const struct mrsi_join_match *j = w->m.j;
    struct mrs_elem e;
    uint32_t before = w->m.n;
    enum mrs_status st = MRS_OK;
    if (v.type == MRS_DOCUMENT && j->wrap && mrs_doc_find(mrs_val_view(v), j->wrap, j->wrap_len, &e)) {
        v = e.v;
    }
    if (!mrs_is_nullish(v) || j->nulls) {
        st = add_first(&w->m, 0, mrs_is_nullish(v) ? mrs_null() : v);
        if (st == MRS_OK && j->own_id && v.type == MRS_DOCUMENT && mrs_doc_find(mrs_val_view(v), "_id", 3, &e)) {
            st = add_first(&w->m, 1, e.v);
        }
    }
    if (st == MRS_OK && w->refs) {
        uint32_t n_group = (uint32_t)(w->refs->group.n / sizeof(struct mrsi_match_group));
        struct mrsi_ref_occurrence o = {before, w->m.n - before, n_group - 1, mrs_is_nullish(v), v.type == MRS_MISSING};
        count_in(&w->refs->group);
        count_in(&w->refs->count_group);
        st = append(&w->refs->occ, &o, sizeof o, w->m.c);
    }
    return st;
}

/* Handles a document without a reference: it refers to null if null is a key, except if the step would have to change
 * the reference: a missing one stays missing. */
static enum mrs_status
lacking(struct join_match_walker *w, uint32_t level)
{
    const struct mrsi_join_match *j = w->m.j;
    return j->nulls && !j->own_id && !j->wrap && level >= j->share ? occurrence(w, mrs_missing()) : MRS_OK;
}

static enum mrs_status walk(struct join_match_walker *w, struct mrs_view d, uint32_t level);

static enum mrs_status
walk_array(struct join_match_walker *w, struct mrs_val a, uint32_t level, bool last)
{
    MRS_ASSERT(a.type == MRS_ARRAY);
    struct mrs_walk it;
    struct mrs_elem e;
    enum mrs_status st = MRS_OK;
    uint32_t slot = w->n_index, i = 0;
    mrs_walk_init(&it, mrs_val_view(a));
    while (st == MRS_OK && mrs_walk_next(&it, &e) == 1) {
        if (last) {
            st = occurrence(w, e.v);
            if (w->refs) {
                w->refs->in_array = true;
            }
        } else if (e.v.type == MRS_DOCUMENT) {
            w->index[slot] = i;
            w->n_index = slot + 1;
            st = walk(w, mrs_val_view(e.v), level + 1);
        }
        i++;
    }
    w->n_index = slot;
    return st;
}

static enum mrs_status
walk(struct join_match_walker *w, struct mrs_view d, uint32_t level)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct mrs_path *p = &w->m.j->pair[0].into.path;
    bool last = level + 1 == p->n;
    struct mrs_elem e;
    MRS_TRY(enter(w, d, level));
    if (!mrs_doc_find(d, p->part[level].name, p->part[level].len, &e)) {
        return lacking(w, level);
    }
    if (e.v.type == MRS_ARRAY) {
        return walk_array(w, e.v, level, last);
    }
    if (last) {
        return occurrence(w, e.v);
    }
    return e.v.type == MRS_DOCUMENT ? walk(w, mrs_val_view(e.v), level + 1) : lacking(w, level);
}

static enum mrs_status
computed(void *arg, struct mrs_val v)
{
    return occurrence(arg, v);
}

static enum mrs_status
walk_refs(struct join_match_walker *w)
{
    const struct mrsi_join_match *j = w->m.j;
    enum mrs_status st;
    if (j->pair[0].into.expr) {
        st = enter(w, w->root, 0);
        return st == MRS_OK ? each_value(w->m.c, &j->pair[0].into, 0, w->root, computed, w) : st;
    }
    return walk(w, w->root, 0);
}

/* ---- entry points ---- */
static enum mrs_status
into_keys(const struct mrsi_join_match *j, struct mrs_ctx *c, struct mrs_view d, struct mrs_keys *k)
{
    bool lacking = false;
    struct join_match_walker w = {.m = {j, c, k, NULL, 0}, .share2 = UINT32_MAX, .root = d};
    enum mrs_status st = walk_refs(&w);
    return st == MRS_OK ? add_pairs(j, c, true, j->n_tuple, d, k, &lacking) : st;
}

static enum mrs_status
from_first(void *arg, struct mrs_val v)
{
    struct join_match_maker *m = arg;
    if (mrs_is_nullish(v)) {
        return m->j->nulls ? add_first(m, 0, mrs_null()) : MRS_OK;
    }
    return add_first(m, 0, v);
}

static enum mrs_status
from_keys(const struct mrsi_join_match *j, struct mrs_ctx *c, struct mrs_view d, struct mrs_keys *k)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct join_match_maker m = {j, c, k, NULL, 0};
    struct mrs_elem id;
    bool lacking = false;
    enum mrs_status st = find_others(&m, false, 0, d);
    MRS_THEN(st, each_value(c, &j->pair[0].from, 0, d, from_first, &m));
    if (st == MRS_OK && j->own_id && mrs_doc_find(d, "_id", 3, &id)) {
        st = add_first(&m, 1, id.v);
    }
    return st == MRS_OK ? add_pairs(j, c, false, j->n_tuple, d, k, &lacking) : st;
}

static enum mrs_status
top_ref(const struct mrsi_join_match *j, struct mrs_ctx *c, struct mrs_val v, struct mrs_keys *k)
{
    struct mrs_elem e;
    if (v.type == MRS_DOCUMENT && j->wrap && mrs_doc_find(mrs_val_view(v), j->wrap, j->wrap_len, &e)) {
        v = e.v;
    }
    return mrs_is_nullish(v) ? MRS_OK : mrsi_step_skip(c, mrs_keys_add(k, 0, 0, v, c->err), "match");
}

/* Like into_keys, if the references are top-level fields and no other pair is in their array. */
static enum mrs_status
top_refs(const struct mrsi_join_match *j, struct mrs_ctx *c, struct mrs_view d, struct mrs_keys *k)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct mrs_part *name = &j->pair[0].into.path.part[0];
    struct mrs_walk w;
    struct mrs_elem e;
    enum mrs_status st = MRS_OK;
    if (!mrs_doc_find(d, name->name, name->len, &e)) {
        return MRS_OK;
    }
    if (e.v.type != MRS_ARRAY) {
        return top_ref(j, c, e.v, k);
    }
    mrs_walk_init(&w, mrs_val_view(e.v));
    while (st == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        st = top_ref(j, c, e.v, k);
    }
    return st;
}

enum mrs_status
mrsi_join_keys(const struct mrsi_join_match *j, struct mrs_ctx *c, int side, struct mrs_view d, struct mrs_keys *k)
{
    MRS_ASSERT(side == 0 || side == 1);
    MRS_ASSERT(mrs_view_is_framed(d));
    const struct mrsi_side_key *key = side ? &j->pair[0].into : &j->pair[0].from;
    struct mrs_elem e;
    if (j->n == 1 && key->path.n == 1 && !j->nulls && !j->own_id && !(side && j->refs)) {
        if (!mrsi_step_find(c, d, key->path.part[0].name, key->path.part[0].len, &e) || mrs_is_nullish(e.v)) {
            return MRS_OK;
        }
        if (e.v.type != MRS_ARRAY) {
            return mrsi_step_skip(c, mrs_keys_add(k, 0, 0, e.v, c->err), "match");
        }
    }
    if (side && j->refs && j->n == 1 && key->path.n == 1 && !j->nulls && !j->own_id) {
        return top_refs(j, c, d, k);
    }
    if (side) {
        bool lacking = false;
        return j->refs ? into_keys(j, c, d, k) : add_pairs(j, c, true, 0, d, k, &lacking);
    }
    return from_keys(j, c, d, k);
}

void
mrsi_refs_init(struct mrsi_refs *f, struct mrs_mem *mem)
{
    mrs_buf_init(&f->occ, mem, SIZE_MAX / 2);
    mrs_buf_init(&f->group, mem, SIZE_MAX / 2);
    mrs_buf_init(&f->index, mem, SIZE_MAX / 2);
    mrs_buf_init(&f->count_group, mem, SIZE_MAX / 2);
}

void
mrsi_refs_clear(struct mrsi_refs *f)
{
    mrs_buf_clear(&f->occ);
    mrs_buf_clear(&f->group);
    mrs_buf_clear(&f->index);
    mrs_buf_clear(&f->count_group);
}

enum mrs_status
mrsi_refs_find(const struct mrsi_join_match *j, struct mrs_ctx *c, struct mrs_view d, uint32_t share2,
               struct mrsi_refs *f)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    mrs_buf_reset(&f->occ);
    mrs_buf_reset(&f->group);
    mrs_buf_reset(&f->index);
    mrs_buf_reset(&f->count_group);
    struct join_match_walker w = {.m = {j, c, NULL, NULL, 0}, .refs = f, .share2 = share2, .root = d};
    f->incomplete = f->in_array = false;
    enum mrs_status st = walk_refs(&w);
    f->n_keys = w.m.n;
    if (st == MRS_OK && j->n > j->n_tuple) {
        st = add_pairs(j, c, true, j->n_tuple, d, NULL, &f->incomplete);
    }
    return st;
}

/* Groups and places come in document order, so the cursor only advances; no group contains another. */
const struct mrsi_match_group *
mrsi_group_find(const struct mrs_buf *groups, const struct mrs_buf *indexes, const uint32_t *index, uint32_t n_index,
                uint32_t *cursor)
{
    MRS_ASSERT(index || n_index == 0);
    MRS_ASSERT(mrs_buf_is_sound(groups) && mrs_buf_is_sound(indexes));
    const struct mrsi_match_group *g = (const struct mrsi_match_group *)(const void *)groups->p;
    const uint32_t *at = (const uint32_t *)(const void *)indexes->p;
    uint32_t n = (uint32_t)(groups->n / sizeof *g);
    for (; *cursor < n; ++*cursor) {
        const struct mrsi_match_group *o = &g[*cursor];
        uint32_t i = 0;
        while (i < o->n_index && i < n_index && at[o->index + i] == index[i]) {
            i++;
        }
        if (i == o->n_index) {
            return o;
        }
        if (i == n_index || at[o->index + i] > index[i]) {
            return NULL;
        }
    }
    return NULL;
}

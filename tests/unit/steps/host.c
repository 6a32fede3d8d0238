/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - the push host: everything in memory, everything at once, as plainly as can be.
 *
 * It is in for the offline engine in the tests of steps: match by comparing every key with every key, gather
 * in lists, write in order. It knows the step interface and no step. */
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/group_ops.h"
#include "host.h"

/* ---- the database ---- */
void
host_put(struct host_coll *c, struct mrs_view d)
{
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 8;
        c->doc = realloc(c->doc, c->cap * sizeof *c->doc);
        assert_non_null(c->doc);
    }
    uint8_t *p = malloc(d.n);
    assert_non_null(p);
    memcpy(p, d.p, d.n);
    c->doc[c->n++] = (struct host_doc){p, d.n, 0};
}

static struct host_coll *
coll_named(struct host_db *db, const char *name)
{
    for (uint32_t i = 0; i < db->n; i++) {
        if (strcmp(db->coll[i].ns, name) == 0) {
            return &db->coll[i];
        }
    }
    assert_true(db->n < 12);
    struct host_coll *c = &db->coll[db->n++];
    memset(c, 0, sizeof *c);
    snprintf(c->ns, sizeof c->ns, "%s", name);
    return c;
}

struct host_coll *
host_coll(struct host_db *db, const struct mrs_coll *c)
{
    return coll_named(db, c->coll);
}

void
host_load(struct host_db *db, const char *text)
{
    struct mrs_view all;
    struct mrs_walk w, docs;
    struct mrs_elem e, d;
    uint8_t *bytes = bench_doc(text, &all);
    memset(db, 0, sizeof *db);
    mrs_walk_init(&w, all);
    while (mrs_walk_next(&w, &e) == 1) {
        struct host_coll *c = coll_named(db, e.name);
        mrs_walk_init(&docs, mrs_val_view(e.v));
        while (mrs_walk_next(&docs, &d) == 1) {
            host_put(c, mrs_val_view(d.v));
        }
    }
    free(bytes);
}

void
host_free(struct host_db *db)
{
    for (uint32_t i = 0; i < db->n; i++) {
        for (uint32_t k = 0; k < db->coll[i].n; k++) {
            free(db->coll[i].doc[k].p);
        }
        free(db->coll[i].doc);
    }
    memset(db, 0, sizeof *db);
}

static int
by_name(const void *a, const void *b)
{
    return strcmp((*(const struct host_coll *const *)a)->ns, (*(const struct host_coll *const *)b)->ns);
}

void
host_text(const struct host_db *db, bool canonical, char *out)
{
    const struct host_coll *list[12];
    for (uint32_t i = 0; i < db->n; i++) {
        list[i] = &db->coll[i];
    }
    qsort(list, db->n, sizeof *list, by_name);
    out[0] = 0;
    for (uint32_t i = 0; i < db->n; i++) {
        bool any = false;
        for (uint32_t k = 0; k < list[i]->n; k++) {
            const struct host_doc *d = &list[i]->doc[k];
            if (d->gone) {
                continue;
            }
            assert_int_equal(mrs_doc_check(d->p, d->n, MRS_DEPTH_READ, NULL), MRS_OK);
            snprintf(out + strlen(out), BENCH_TEXT - strlen(out), any ? " " : "%s: ", list[i]->ns);
            bench_put_doc(out, (struct mrs_view){d->p, d->n}, canonical);
            any = true;
        }
        strcat(out, any ? "\n" : "");
    }
}

static struct mrs_view
view(const struct host_doc *d)
{
    return (struct mrs_view){d->p, d->n};
}

static void
replace(struct host_doc *d, const struct mrs_buf *b)
{
    free(d->p);
    d->p = malloc(b->n);
    assert_non_null(d->p);
    memcpy(d->p, b->p, b->n);
    d->n = (uint32_t)b->n;
}

void
host_refuse(struct host_db *db, const struct host_coll *c, struct mrs_view d, const char *place)
{
    char id[256] = "";
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf b;
    mrs_buf_init(&b, mem, 1u << 20);
    mrs_ejson_write_val(mrs_doc_get(d, "_id"), false, &b);
    snprintf(id, sizeof id, "%.*s", (int)b.n, b.p ? (const char *)b.p : "");
    mrs_buf_clear(&b);
    mrs_mem_close(mem);
    size_t n = strlen(db->refused);
    snprintf(db->refused + n, sizeof db->refused - n, "%s %s %s\n", c->ns, id, place);
}

/* ---- JOIN ---- */
struct entry {
    uint32_t from, ref;
    unsigned bits;
    bool told;
};
struct matching {
    struct mrs_matches m;
    struct host_from *from;
    struct entry *e;
    uint32_t n, at;
    bool sorted, by_ref;
};

static enum mrs_status
match_next(struct mrs_matches *m, struct mrs_match *out, struct mrs_err *e)
{
    struct matching *x = m->impl;
    (void)e;
    if (x->at == x->n) {
        return MRS_END;
    }
    const struct entry *n = &x->e[x->at++];
    struct host_from *f = &x->from[n->from];
    *out = (struct mrs_match){n->from, n->ref, {f->payload.p, (uint32_t)f->payload.n}, f->failed, f->why, f->where};
    return MRS_OK;
}

static enum mrs_status
match_rewind(struct mrs_matches *m, struct mrs_err *e)
{
    (void)e;
    ((struct matching *)m->impl)->at = 0;
    return MRS_OK;
}

static void
match_used(struct mrs_matches *m, unsigned bits)
{
    struct matching *x = m->impl;
    assert_true(x->at > 0);
    x->e[x->at - 1].bits |= bits;
    x->e[x->at - 1].told = true;
}

static bool
same_key(const struct mrs_keys *a, uint32_t i, const struct mrs_keys *b, uint32_t k)
{
    const struct mrs_keyspan *x = &a->span[i], *y = &b->span[k];
    return x->pair == y->pair && x->kind == y->kind && x->len == y->len &&
        memcmp(a->bytes.p + x->off, b->bytes.p + y->off, x->len) == 0;
}

static bool
other_pairs(const struct mrs_keys *f, const struct mrs_keys *in, uint32_t n_pairs)
{
    for (uint32_t p = 1; p < n_pairs; p++) {
        bool met = false;
        for (uint32_t i = 0; i < f->n; i++) {
            for (uint32_t k = 0; k < in->n; k++) {
                met = met || (f->span[i].pair == p && same_key(f, i, in, k));
            }
        }
        if (!met) {
            return false;
        }
    }
    return true;
}

static const struct matching *sorting;

static int
by_rule(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    const struct mrs_buf *p = &sorting->from[x->from].order, *q = &sorting->from[y->from].order;
    if (sorting->sorted) {
        size_t n = p->n < q->n ? p->n : q->n;
        int c = n ? memcmp(p->p, q->p, n) : 0;
        c = c ? c : (p->n > q->n) - (p->n < q->n);
        c = c ? c : (x->from > y->from) - (x->from < y->from);
        return c ? c : (x->ref > y->ref) - (x->ref < y->ref);
    }
    int c = sorting->by_ref ? (x->ref > y->ref) - (x->ref < y->ref) : 0;
    return c ? c : (x->from > y->from) - (x->from < y->from);
}

/* Everything that matches a document of into. */
static void
gather(struct matching *x, const struct mrs_keys *in, uint32_t n_from, const struct mrs_desc *d, uint32_t *same)
{
    for (uint32_t i = 0; i < in->n; i++) {
        same[i] = i;
        for (uint32_t k = i; k-- > 0;) {
            same[i] = same_key(in, k, in, i) ? k : same[i];
        }
    }
    for (uint32_t f = 0; f < n_from; f++) {
        struct mrs_keys *keys = &x->from[f].keys;
        bool met = false;
        if (!x->from[f].takes || !other_pairs(keys, in, d->n_pairs)) {
            continue;
        }
        for (uint32_t k = 0; k < in->n && !(met && !d->by_reference); k++) {
            bool here = false;
            for (uint32_t i = 0; i < keys->n; i++) {
                here = here || (in->span[k].pair == 0 && same_key(keys, i, in, k));
            }
            if (here && x->from[f].unsorted) { /* it is refused itself, since somebody would have it */
                x->from[f].wanted = met = true;
            } else if (here && (!d->by_reference || same[k] == k)) {
                x->e = realloc(x->e, (x->n + 1) * sizeof *x->e);
                x->e[x->n++] = (struct entry){f, d->by_reference ? k : 0, 0, false};
                met = true;
            }
        }
    }
    sorting = x;
    if (x->n) {
        qsort(x->e, x->n, sizeof *x->e, by_rule);
    }
    x->m = (struct mrs_matches){x->n, match_next, match_rewind, match_used, x, same, in->n, NULL};
}

static enum mrs_status
put_page(void *arg, int side, struct mrs_view doc, struct mrs_err *e)
{
    struct host_pages *p = arg;
    struct host_coll one = {.n = 0};
    (void)e;
    assert_true(p->n < 64 && (p->d->sides[side].role & MRS_ROLE_ADD));
    host_put(&one, doc);
    p->put[p->n].side = side;
    p->put[p->n++].doc = one.doc[0];
    free(one.doc);
    return MRS_OK;
}

void
host_from_init(struct host_from *from, uint32_t n, struct bench *b)
{
    for (uint32_t i = 0; i < n; i++) {
        mrs_keys_init(&from[i].keys, b->mem);
        mrs_buf_init(&from[i].payload, b->mem, 64u << 20);
        mrs_buf_init(&from[i].order, b->mem, MRS_KEY_MAX);
    }
}

void
host_from_clear(struct host_from *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        mrs_keys_clear(&from[i].keys);
        mrs_buf_clear(&from[i].payload);
        mrs_buf_clear(&from[i].order);
    }
}

enum mrs_status
host_read_from(struct host_db *db, struct bench *b, const struct mrs_desc *d, struct host_coll *c, struct host_from *f)
{
    const struct mrs_join_ops *ops = b->type->join;
    struct mrs_ctx ctx = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    for (uint32_t i = 0; i < c->n; i++) {
        struct mrs_view doc = view(&c->doc[i]);
        mrs_arena_reset(&b->arena);
        mrs_err_clear(&b->err);
        enum mrs_status st = ops->takes_part(b->state, &ctx, 0, doc, &f[i].takes);
        st = st == MRS_OK && f[i].takes ? ops->keys(b->state, &ctx, 0, doc, &f[i].keys) : st;
        if (st == MRS_SKIP) {
            host_refuse(db, c, doc, b->err.where);
            c->doc[i].gone = 1;
            f[i].takes = false;
            continue;
        }
        if (st == MRS_OK && f[i].takes) {
            st = ops->payload(b->state, &ctx, doc, &f[i].payload);
            f[i].failed = st == MRS_SKIP;
            if (st == MRS_OK && d->sorted) {
                st = ops->order(b->state, &ctx, doc, &f[i].order);
                f[i].unsorted = st == MRS_SKIP;
            }
            snprintf(f[i].why, sizeof f[i].why, "%s", b->err.msg);
            snprintf(f[i].where, sizeof f[i].where, "%s", b->err.where);
        }
        if (st != MRS_OK && st != MRS_SKIP) {
            return st;
        }
    }
    return MRS_OK;
}

/* One document of into. out: its bytes afterwards (nothing where it goes). */
enum mrs_status
host_join_one(struct bench *b, const struct mrs_desc *d, struct host_from *from, uint32_t n_from,
              struct mrs_view doc, struct host_pages *pages,
         struct mrs_buf *out, enum mrs_fate *fate)
{
    const struct mrs_join_ops *ops = b->type->join;
    struct mrs_ctx ctx = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    struct mrs_keys keys;
    struct matching x = {.from = from, .sorted = d->sorted, .by_ref = d->by_reference};
    struct mrs_put put = {put_page, pages};
    bool takes = true;
    mrs_arena_reset(&b->arena);
    mrs_err_clear(&b->err);
    mrs_keys_init(&keys, b->mem);
    enum mrs_status st = ops->takes_part(b->state, &ctx, 1, doc, &takes);
    st = st == MRS_OK ? ops->keys(b->state, &ctx, 1, doc, &keys) : st;
    uint32_t *same = calloc(keys.n + 1, sizeof *same);
    uint32_t first_page = pages->n;
    if (st == MRS_OK) {
        gather(&x, &keys, n_from, d, same);
        mrs_arena_reset(&b->arena);
        st = ops->splice(b->state, &ctx, b->work, doc, &x.m, &put, out, fate);
    }
    for (uint32_t i = 0; i < x.n; i++) {
        from[x.e[i].from].used |= st == MRS_SKIP ? MRS_USED_LEFT : x.e[i].told ? x.e[i].bits : MRS_USED_PLACED;
    }
    while (st != MRS_OK && pages->n > first_page) {
        free(pages->put[--pages->n].doc.p);
    }
    free(same);
    free(x.e);
    mrs_keys_clear(&keys);
    return st;
}

static enum mrs_status
join_into(struct host_db *db, struct bench *b, const struct mrs_desc *d, struct host_from *from, uint32_t n_from,
          struct host_pages *pages)
{
    struct host_coll *into = host_coll(db, &d->sides[1].coll);
    uint32_t n = into->n;
    enum mrs_status st = MRS_OK;
    struct host_doc *after = calloc(n + 1, sizeof *after);
    for (uint32_t i = 0; i < n && st != MRS_DEAD; i++) {
        struct mrs_buf out;
        enum mrs_fate fate = MRS_FATE_STAYS;
        mrs_buf_init(&out, b->mem, 64u << 20);
        st = into->doc[i].gone ? MRS_END : host_join_one(b, d, from, n_from, view(&into->doc[i]), pages, &out, &fate);
        after[i] = into->doc[i];
        after[i].p = malloc(into->doc[i].n + out.n);
        memcpy(after[i].p, into->doc[i].p, into->doc[i].n);
        if (st == MRS_SKIP) {
            host_refuse(db, into, view(&into->doc[i]), b->err.where);
            after[i].gone = 1;
        } else if (st == MRS_OK) {
            bool same = out.n == into->doc[i].n && memcmp(out.p, into->doc[i].p, out.n) == 0;
            assert_int_equal(same, fate == MRS_FATE_STAYS);
            replace(&after[i], &out);
        } else {
            assert_true(st == MRS_DEAD || st == MRS_END);
        }
        mrs_buf_clear(&out);
    }
    for (uint32_t i = 0; i < n; i++) { /* now, since both sides may be one collection */
        if (after[i].p) {
            free(into->doc[i].p);
            into->doc[i] = after[i];
        }
    }
    free(after);
    return st == MRS_DEAD ? st : MRS_OK;
}

static void
settle(struct host_db *db, struct bench *b, const struct mrs_desc *d, struct host_from *from, uint32_t n_from)
{
    struct host_coll *c = host_coll(db, &d->sides[0].coll);
    for (uint32_t i = 0; i < n_from; i++) {
        int side = -1;
        if (from[i].wanted) {
            host_refuse(db, c, view(&c->doc[i]), from[i].where);
            c->doc[i].gone = 1;
        }
        if (!from[i].takes || c->doc[i].gone) {
            continue;
        }
        switch (b->type->join->fate(b->state, from[i].used, &side)) {
        case MRS_FATE_TAKEN:
            if (side >= 0) {
                host_put(host_coll(db, &d->sides[side].coll), view(&c->doc[i]));
            }
            c->doc[i].gone = 1;
            break;
        case MRS_FATE_DROPPED: c->doc[i].gone = 1; break;
        case MRS_FATE_REFUSED:
            host_refuse(db, c, view(&c->doc[i]), "orphans");
            c->doc[i].gone = 1;
            break;
        default: break;
        }
    }
}

static enum mrs_status
push_join(struct host_db *db, struct bench *b, const struct mrs_desc *d)
{
    struct host_coll *c = host_coll(db, &d->sides[0].coll);
    uint32_t n = c->n;
    struct host_from *from = calloc(n + 1, sizeof *from);
    struct host_pages *pages = calloc(1, sizeof *pages);
    pages->db = db;
    pages->d = d;
    host_from_init(from, n, b);
    enum mrs_status st = host_read_from(db, b, d, c, from);
    st = st == MRS_OK ? join_into(db, b, d, from, n, pages) : st;
    if (st == MRS_OK) {
        settle(db, b, d, from, n);
    }
    for (uint32_t i = 0; i < pages->n; i++) {
        host_put(host_coll(db, &d->sides[pages->put[i].side].coll), view(&pages->put[i].doc));
        free(pages->put[i].doc.p);
    }
    host_from_clear(from, n);
    free(from);
    free(pages);
    return st;
}

/* ---- MAP and SPREAD ---- */
/* The next product is also the first of those that were given in one piece. */
static void
shorten(struct mrs_products *all, const struct mrs_product *p)
{
    assert_int_equal(p->side, all->side);
    assert_true(p->doc.n <= all->n);
    assert_memory_equal(p->doc.p, all->p, p->doc.n);
    all->p += p->doc.n;
    all->n -= p->doc.n;
}

static enum mrs_status
push_spread(struct host_db *db, struct bench *b, const struct mrs_desc *d)
{
    const struct mrs_spread_ops *ops = b->type->spread;
    struct mrs_ctx ctx = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    for (uint32_t s = 0; s < d->n_sides; s++) {
        struct host_coll *c = host_coll(db, &d->sides[s].coll);
        for (uint32_t i = 0, n = c->n; i < n && (d->sides[s].role & MRS_ROLE_MAIN); i++) {
            enum mrs_fate fate;
            struct mrs_product p;
            bool stays = false;
            struct mrs_view doc = view(&c->doc[i]);
            mrs_arena_reset(&b->arena);
            mrs_err_clear(&b->err);
            enum mrs_status st = ops->begin(b->state, &ctx, b->work, (int)s, doc, &fate);
            struct host_coll self = {.n = 0};
            struct mrs_products all = {0, NULL, 0};
            if (st == MRS_OK && ops->all) {
                all = ops->all(b->work);
            }
            while (st == MRS_OK && (st = ops->next(b->state, &ctx, b->work, &p)) == MRS_OK) {
                stays = stays || p.self;
                if (ops->all && !p.self) {
                    shorten(&all, &p);
                }
                host_put(p.self ? &self : host_coll(db, &d->sides[p.side].coll), p.doc);
            }
            assert_int_equal(all.n, 0);
            if (st == MRS_SKIP) {
                host_refuse(db, c, doc, b->err.where);
            } else if (st != MRS_END) {
                free(self.doc);
                return st;
            }
            c = host_coll(db, &d->sides[s].coll);
            if (stays) {
                assert_int_equal(fate == MRS_FATE_STAYS, self.doc[0].n == c->doc[i].n &&
                                 !memcmp(self.doc[0].p, c->doc[i].p, c->doc[i].n));
                free(c->doc[i].p);
                c->doc[i] = self.doc[0];
            }
            free(self.doc);
            c->doc[i].gone = !stays;
        }
    }
    return MRS_OK;
}

/* ---- GROUP ---- */
struct member {
    uint32_t source;     /* document of from; UINT32_MAX: a document of into */
    uint32_t doc;        /* of its collection */
    struct mrs_part_doc part;
    uint32_t group;
};
struct grouping {
    struct mrs_parts parts;
    struct member *m;
    uint32_t n, n_group;
    bool *refused;       /* by document of from */
};

static struct mrs_view
part_doc(const struct grouping *g, const struct member *m)
{
    return (struct mrs_view){g->parts.bytes.p + m->part.doc_off, m->part.doc_len};
}

static enum mrs_status
collect(struct host_db *db, struct bench *b, const struct mrs_desc *d, int side, struct grouping *g)
{
    struct mrs_ctx ctx = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    struct host_coll *c = host_coll(db, &d->sides[side].coll);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t before = g->parts.n;
        mrs_arena_reset(&b->arena);
        mrs_err_clear(&b->err);
        enum mrs_status st = b->type->group->parts(b->state, &ctx, b->work, side, view(&c->doc[i]), &g->parts);
        if (st == MRS_SKIP) {
            host_refuse(db, c, view(&c->doc[i]), b->err.where);
            g->refused[i] = side == 0;
            g->parts.n = before;
            continue;
        }
        if (st != MRS_OK) {
            return st;
        }
        for (uint32_t k = before; k < g->parts.n; k++) {
            g->m = realloc(g->m, (g->n + 1) * sizeof *g->m);
            g->m[g->n++] = (struct member){side ? UINT32_MAX : i, i, g->parts.part[k], 0};
        }
    }
    return MRS_OK;
}

static void
number(struct grouping *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        struct member *m = &g->m[i];
        m->group = g->n_group;
        for (uint32_t k = 0; k < i && m->part.key_len; k++) {
            const struct member *o = &g->m[k];
            if (o->part.key_len == m->part.key_len &&
                memcmp(g->parts.bytes.p + o->part.key_off, g->parts.bytes.p + m->part.key_off, m->part.key_len) == 0) {
                m->group = o->group;
                break;
            }
        }
        g->n_group += m->group == g->n_group;
    }
}

static bool
disagree(struct bench *b, const struct grouping *g, uint32_t group)
{
    const struct member *first = NULL;
    for (uint32_t i = 0; i < g->n; i++) {
        const struct member *m = &g->m[i];
        if (m->group != group) {
            continue;
        }
        if (!first) {
            first = m;
            continue;
        }
        if (first->source != UINT32_MAX && first->part.made_id != m->part.made_id) {
            return true;
        }
        if (!b->type->group->agree(b->state, part_doc(g, first), first->part.made_id, part_doc(g, m),
                                   m->part.made_id)) {
            return true;
        }
    }
    return false;
}

/* The document that a group becomes, or that a document of into stays. */
static enum mrs_status
finish(struct host_db *db, struct bench *b, const struct mrs_desc *d, struct grouping *g, uint32_t group,
       struct mrs_buf *out, bool *theirs)
{
    struct mrs_ctx ctx = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    struct host_coll *into = host_coll(db, &d->sides[1].coll);
    const struct member *first = NULL, *counts = NULL;
    struct mrs_build refs;
    struct mrs_buf buf, doc;
    struct mrs_view v;
    mrs_buf_init(&buf, b->mem, 1u << 24);
    mrs_buf_init(&doc, b->mem, 1u << 24);
    mrs_build_init(&refs, &buf);
    for (uint32_t i = 0, at = 0; i < g->n; i++) {
        const struct member *m = &g->m[i];
        struct mrs_walk w;
        struct mrs_elem e;
        if (m->group != group || (m->source != UINT32_MAX && g->refused[m->source])) {
            continue;
        }
        first = first ? first : m;
        counts = d->conflicts == MRS_CONFLICTS_LAST ? m : first;
        if (m->part.ref_len) {
            mrs_walk_init(&w, (struct mrs_view){g->parts.bytes.p + m->part.ref_off, m->part.ref_len});
            while (mrs_walk_next(&w, &e) == 1) {
                char name[12];
                mrs_build_val(&refs, name, mrs_index_name(name, at++), e.v);
            }
        }
    }
    enum mrs_status st = mrs_build_finish(&refs, &v, &b->err);
    if (st == MRS_OK && counts) {
        *theirs = counts->source == UINT32_MAX;
        struct mrs_view one = *theirs ? view(&into->doc[counts->doc]) : part_doc(g, counts);
        if (!*theirs && first->source == UINT32_MAX && counts->part.made_id) {
            struct mrs_build with;
            struct mrs_walk w;
            struct mrs_elem e;
            mrs_build_init(&with, &doc);
            mrs_build_val(&with, "_id", 3, mrs_doc_get(view(&into->doc[first->doc]), "_id"));
            mrs_walk_init(&w, one);
            mrs_walk_next(&w, &e);
            while (mrs_walk_next(&w, &e) == 1) {
                mrs_build_elem(&with, &e);
            }
            st = mrs_build_finish(&with, &one, &b->err);
        }
        st = st == MRS_OK ? b->type->group->finish(b->state, &ctx, one, *theirs, v, out) : st;
    }
    mrs_buf_clear(&buf);
    mrs_buf_clear(&doc);
    return counts ? st : MRS_END;
}

static enum mrs_status
sources(struct host_db *db, struct bench *b, const struct mrs_desc *d, struct grouping *g, const struct host_doc *made)
{
    struct mrs_ctx ctx = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    struct host_coll *c = host_coll(db, &d->sides[0].coll);
    for (uint32_t i = 0; i < c->n; i++) {
        struct mrs_buf ids, out;
        struct mrs_build list;
        struct mrs_view v;
        enum mrs_fate fate;
        mrs_buf_init(&ids, b->mem, 1u << 24);
        mrs_buf_init(&out, b->mem, 1u << 25);
        mrs_build_init(&list, &ids);
        for (uint32_t k = 0, at = 0; k < g->n; k++) {
            char name[12];
            if (g->m[k].source == i && !g->refused[i]) {
                mrs_build_val(&list, name, mrs_index_name(name, at++), mrs_doc_get(view(&made[g->m[k].group]), "_id"));
            }
        }
        mrs_arena_reset(&b->arena);
        mrs_err_clear(&b->err);
        enum mrs_status st = g->refused[i] ? MRS_END : mrs_build_finish(&list, &v, &b->err);
        st = st == MRS_OK ? b->type->group->source(b->state, &ctx, b->work, view(&c->doc[i]), v, &out, &fate) : st;
        if (st == MRS_OK) {
            assert_int_equal(fate == MRS_FATE_STAYS, out.n == c->doc[i].n && memcmp(out.p, c->doc[i].p, out.n) == 0);
            replace(&c->doc[i], &out);
        } else if (st == MRS_SKIP) {
            host_refuse(db, c, view(&c->doc[i]), b->err.where);
        }
        c->doc[i].gone = st != MRS_OK;
        mrs_buf_clear(&ids);
        mrs_buf_clear(&out);
        if (st != MRS_OK && st != MRS_SKIP && st != MRS_END) {
            return st;
        }
    }
    return MRS_OK;
}

static enum mrs_status
push_group(struct host_db *db, struct bench *b, const struct mrs_desc *d)
{
    struct host_coll *from = host_coll(db, &d->sides[0].coll), *into = host_coll(db, &d->sides[1].coll);
    struct grouping g = {.refused = calloc(from->n + into->n + 1, sizeof(bool))};
    mrs_buf_init(&g.parts.bytes, b->mem, 1u << 26);
    enum mrs_status st = collect(db, b, d, 1, &g);
    uint32_t theirs_end = g.n;
    st = st == MRS_OK ? collect(db, b, d, 0, &g) : st;
    number(&g);
    for (uint32_t i = 0; i < g.n_group && st == MRS_OK && d->conflicts == MRS_CONFLICTS_REFUSE; i++) {
        for (uint32_t k = 0; k < g.n && disagree(b, &g, i); k++) {
            if (g.m[k].group == i && g.m[k].source != UINT32_MAX && !g.refused[g.m[k].source]) {
                host_refuse(db, from, view(&from->doc[g.m[k].source]), "conflicts");
                g.refused[g.m[k].source] = true;
            }
        }
    }
    struct host_doc *made = calloc(g.n_group + 1, sizeof *made);
    uint32_t n_into = into->n;
    for (uint32_t i = 0; i < g.n_group && st == MRS_OK; i++) {
        struct mrs_buf out;
        bool theirs = false;
        mrs_buf_init(&out, b->mem, 1u << 26);
        st = finish(db, b, d, &g, i, &out, &theirs);
        if (st == MRS_OK) {
            replace(&made[i], &out);
        }
        mrs_buf_clear(&out);
        st = st == MRS_END ? MRS_OK : st;
    }
    st = st == MRS_OK ? sources(db, b, d, &g, made) : st;
    for (uint32_t i = 0; i < g.n_group && st == MRS_OK; i++) {
        uint32_t k = 0;
        while (k < theirs_end && g.m[k].group != i) {
            k++;
        }
        if (k < theirs_end && made[i].p && g.m[k].doc < n_into) {
            free(into->doc[g.m[k].doc].p);
            into->doc[g.m[k].doc] = made[i];
            made[i].p = NULL;
        } else if (made[i].p) {
            host_put(into, view(&made[i]));
        }
    }
    for (uint32_t i = 0; i < g.n_group; i++) {
        free(made[i].p);
    }
    free(made);
    free(g.m);
    free(g.refused);
    mrs_buf_clear(&g.parts.bytes);
    mrs_free(b->mem, g.parts.part);
    return st;
}

/* ---- cases ---- */
enum mrs_status
host_push(struct host_db *db, struct bench *b, const struct mrs_desc *d)
{
    const struct mrs_step_type *t = b->type;
    struct mrs_ctx c = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    bool join = d->family == MRS_FAMILY_JOIN, group = d->family == MRS_FAMILY_GROUP;
    b->work = calloc(1, t->work_size + 1);
    enum mrs_status st = join ? push_join(db, b, d) : group ? push_group(db, b, d) : push_spread(db, b, d);
    if (t->work_clear) {
        t->work_clear(&c, b->work);
    }
    free(b->work);
    b->work = NULL;
    return st;
}

bool
host_one(const struct host_case *k, uint64_t fail_at)
{
    static char got[BENCH_TEXT], want[BENCH_TEXT], line[BENCH_TEXT];
    struct bench b;
    struct mrs_desc d;
    struct host_db db, expected;
    bench_open(&b, k->step, k->body, fail_at);
    if (b.status == MRS_FAIL) {
        fail_msg("%s %s: %s", k->step, k->body, b.errors);
    }
    host_load(&db, k->in);
    enum mrs_status st = b.status == MRS_OK ? b.type->describe(b.state, &b.plan, &d, &b.err) : b.status;
    st = st == MRS_OK ? host_push(&db, &b, &d) : st;
    if (st == MRS_OK) {
        host_load(&expected, k->out);
        host_text(&db, true, got);
        host_text(&expected, true, want);
        if (strcmp(got, want) != 0) {
            fail_msg("%s %s\n   of %s\n  got\n%s want\n%s refused: %s", k->step, k->body, k->in, got, want, db.refused);
        }
        host_free(&expected);
        bench_quotes(k->refused ? k->refused : "", line);
        if (strcmp(db.refused, line) != 0) {
            fail_msg("%s %s\n   of %s\n refused\n%s want\n%s last: %s", k->step, k->body, k->in, db.refused, line,
                     b.err.msg);
        }
    } else if (st != MRS_DEAD || fail_at == 0) {
        fail_msg("%s %s\n   of %s\n status %d: %s", k->step, k->body, k->in, st, b.err.msg);
    }
    host_free(&db);
    assert_int_equal(bench_close(&b), 0);
    return st == MRS_OK;
}

void
host_cases(const struct host_case *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(host_one(&k[i], 0));
    }
}

void
host_torture(const struct host_case *k, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (uint64_t at = 1; !host_one(&k[i], at); at++) {
            assert_true(at < 20000);
        }
    }
}

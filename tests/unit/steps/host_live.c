/* SPDX-License-Identifier: Apache-2.0 */
/* host_live.c - the live host: ranges of units by _id, written by _id, a checkpoint behind each range; it may
 * stop at any write.
 *
 * Everything it knows when it starts is in its database: the documents, the journal of the range in hand and
 * the checkpoint. A range is derived once, its writes are put down in the journal (one write), then made one by
 * one, then the checkpoint moves on. Whoever starts again repeats the writes of the journal: they are by _id, so
 * twice is once. Children of a unit are found through keys(), as an index would. */
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/join_ops.h"
#include "host.h"
#include "mongoreshape/value.h"

#define RANGE 2

struct write {
    int side;
    bool gone;             /* take out the document with this `_id` */
    struct host_doc doc;   /* put it, in place of the one with its `_id` */
};
struct bits {              /* what became of a document of from, by `_id` */
    struct host_doc id;
    unsigned used;
};
struct run { /* what a server would hold: survives a stop */
    struct host_db *db;
    struct bench *b;
    const struct mrs_desc *d;
    int stage;              /* 0 units, 1 fates of from */
    struct host_doc last;   /* checkpoint: the last unit that is done; p NULL: none */
    bool done;
    bool journal;           /* a range is in hand */
    struct write w[128];
    uint32_t n;
    struct host_doc up_to;  /* its last unit */
    struct bits used[64], fresh[64]; /* of finished ranges; of the range in hand */
    uint32_t n_used, n_fresh;
    char refused[2048];
    uint32_t budget;        /* writes left; UINT32_MAX: no end */
};

static struct host_doc
copy(struct mrs_view d)
{
    struct host_doc out = {malloc(d.n), d.n, 0};
    assert_non_null(out.p);
    memcpy(out.p, d.p, d.n);
    return out;
}

static struct mrs_val
id_of(const struct host_doc *d)
{
    return mrs_doc_get((struct mrs_view){d->p, d->n}, "_id");
}

/* One write; false: the host dies here. */
static bool
spend(struct run *r)
{
    if (r->budget == 0) {
        return false;
    }
    r->budget -= r->budget != UINT32_MAX;
    return true;
}

static void
plan_write(struct run *r, int side, bool gone, struct mrs_view d)
{
    assert_true(r->n < 128);
    r->w[r->n++] = (struct write){side, gone, copy(d)};
}

/* ---- deriving a range ---- */
static int
by_id(const void *a, const void *b)
{
    return mrs_compare(id_of(a), id_of(b));
}

/* The next documents of a collection behind the checkpoint. */
static uint32_t
range(const struct run *r, struct host_coll *c, struct host_doc *out)
{
    struct host_doc *all = calloc(c->n + 1, sizeof *all);
    uint32_t n = 0, k = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (!c->doc[i].gone && (!r->last.p || mrs_compare(id_of(&c->doc[i]), id_of(&r->last)) > 0)) {
            all[n++] = c->doc[i];
        }
    }
    qsort(all, n, sizeof *all, by_id);
    for (; k < n && k < RANGE; k++) {
        out[k] = all[k];
    }
    free(all);
    return k;
}

static void
derive_spread(struct run *r, const struct host_doc *unit)
{
    const struct mrs_spread_ops *ops = r->b->type->spread;
    struct mrs_ctx c = {.mem = r->b->mem, .arena = &r->b->arena, .err = &r->b->err};
    struct mrs_view d = {unit->p, unit->n};
    struct mrs_product p;
    enum mrs_fate fate;
    bool stays = false;
    mrs_arena_reset(&r->b->arena);
    mrs_err_clear(&r->b->err);
    if (ops->begin(r->b->state, &c, r->b->work, 0, d, &fate) != MRS_OK) {
        host_refuse(r->db, host_coll(r->db, &r->d->sides[0].coll), d, r->b->err.where);
        plan_write(r, 0, true, d);
        return;
    }
    while (ops->next(r->b->state, &c, r->b->work, &p) == MRS_OK) { /* new ones first: each datum exists at every
                                                                      instant */
        if (p.self) {
            stays = true;
        } else {
            plan_write(r, p.side, false, p.doc);
        }
    }
    /* the kernel gives the same again */
    assert_int_equal(ops->begin(r->b->state, &c, r->b->work, 0, d, &fate), MRS_OK);
    assert_int_equal(ops->next(r->b->state, &c, r->b->work, &p), MRS_OK);
    plan_write(r, 0, !stays, p.doc);
}

static void
derive_join(struct run *r, const struct host_doc *unit)
{
    struct host_coll *c = host_coll(r->db, &r->d->sides[0].coll);
    struct mrs_view d = {unit->p, unit->n};
    struct host_from *from = calloc(c->n + 1, sizeof *from);
    struct host_pages *pages = calloc(1, sizeof *pages);
    struct mrs_buf out;
    enum mrs_fate fate;
    pages->d = r->d;
    mrs_buf_init(&out, r->b->mem, 64u << 20);
    host_from_init(from, c->n, r->b);
    assert_int_equal(host_read_from(r->db, r->b, r->d, c, from), MRS_OK);
    enum mrs_status st = host_join_one(r->b, r->d, from, c->n, d, pages, &out, &fate);
    for (uint32_t i = 0; i < pages->n; i++) {
        plan_write(r, pages->put[i].side, false, (struct mrs_view){pages->put[i].doc.p, pages->put[i].doc.n});
        free(pages->put[i].doc.p);
    }
    if (st == MRS_SKIP) {
        host_refuse(r->db, host_coll(r->db, &r->d->sides[1].coll), d, r->b->err.where);
        plan_write(r, 1, true, d);
    } else {
        assert_int_equal(st, MRS_OK);
        plan_write(r, 1, false, (struct mrs_view){out.p, (uint32_t)out.n});
    }
    for (uint32_t i = 0; i < c->n; i++) {
        if (from[i].used) {
            assert_true(r->n_fresh < 64);
            r->fresh[r->n_fresh++] = (struct bits){copy((struct mrs_view){c->doc[i].p, c->doc[i].n}), from[i].used};
        }
    }
    host_from_clear(from, c->n);
    mrs_buf_clear(&out);
    free(from);
    free(pages);
}

static void
derive_fate(struct run *r, const struct host_doc *unit)
{
    struct mrs_ctx c = {.mem = r->b->mem, .arena = &r->b->arena, .err = &r->b->err};
    struct mrs_view d = {unit->p, unit->n};
    unsigned used = 0;
    bool takes;
    int side = -1;
    for (uint32_t i = 0; i < r->n_used; i++) {
        used |= mrs_compare(id_of(&r->used[i].id), id_of(unit)) == 0 ? r->used[i].used : 0;
    }
    assert_int_equal(r->b->type->join->takes_part(r->b->state, &c, 0, d, &takes), MRS_OK);
    enum mrs_fate fate = takes ? r->b->type->join->fate(r->b->state, used, &side) : MRS_FATE_STAYS;
    if (fate == MRS_FATE_TAKEN && side >= 0) {
        plan_write(r, side, false, d);
    }
    if (fate != MRS_FATE_STAYS) {
        plan_write(r, 0, true, d);
    }
}

/* ---- writing ---- */
static void
apply(struct run *r, const struct write *w)
{
    struct host_coll *c = host_coll(r->db, &r->d->sides[w->side].coll);
    for (uint32_t i = 0; i < c->n; i++) {
        if (mrs_compare(id_of(&c->doc[i]), id_of(&w->doc)) == 0) {
            free(c->doc[i].p);
            c->doc[i] = copy((struct mrs_view){w->doc.p, w->doc.n});
            c->doc[i].gone = w->gone;
            return;
        }
    }
    if (!w->gone) {
        host_put(c, (struct mrs_view){w->doc.p, w->doc.n});
    }
}

/* Deriving, then the journal: one write. Nothing of it counts if the host dies before. */
static bool
begin_range(struct run *r)
{
    bool join = r->d->family == MRS_FAMILY_JOIN;
    struct host_coll *c = host_coll(r->db, &r->d->sides[join && r->stage == 0].coll);
    struct host_doc unit[RANGE];
    uint32_t n = range(r, c, unit);
    if (n == 0) {
        if (!spend(r)) {
            return false;
        }
        free(r->last.p);
        r->last.p = NULL;
        r->done = !join || r->stage == 1;
        r->stage++;
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!join) {
            derive_spread(r, &unit[i]);
        } else if (r->stage == 0) {
            derive_join(r, &unit[i]);
        } else {
            derive_fate(r, &unit[i]);
        }
    }
    bool alive = spend(r);
    if (alive) {
        r->up_to = copy((struct mrs_view){unit[n - 1].p, unit[n - 1].n});
        r->journal = true;
        strcat(r->refused, r->db->refused);
    } else {
        for (uint32_t i = 0; i < r->n; i++) {
            free(r->w[i].doc.p);
        }
        for (uint32_t i = 0; i < r->n_fresh; i++) {
            free(r->fresh[i].id.p);
        }
        r->n = r->n_fresh = 0;
    }
    r->db->refused[0] = 0;
    return alive;
}

static bool
end_range(struct run *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (!spend(r)) {
            return false;
        }
        apply(r, &r->w[i]);
    }
    if (!spend(r)) {
        return false;
    }
    free(r->last.p);
    r->last = r->up_to;
    for (uint32_t i = 0; i < r->n; i++) {
        free(r->w[i].doc.p);
    }
    for (uint32_t i = 0; i < r->n_fresh; i++) {
        assert_true(r->n_used < 64);
        r->used[r->n_used++] = r->fresh[i];
    }
    r->n = r->n_fresh = 0;
    r->journal = false;
    return true;
}

void
host_live(struct host_db *db, struct bench *b, const struct mrs_desc *d, uint32_t writes, bool once)
{
    struct mrs_ctx c = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    struct run *r = calloc(1, sizeof *r);
    *r = (struct run){.db = db, .b = b, .d = d};
    for (uint32_t starts = 0; !r->done; starts++) {
        assert_true(starts < 10000);
        r->budget = writes && (!once || starts == 0) ? writes : UINT32_MAX;
        b->work = calloc(1, b->type->work_size + 1); /* a new process remembers nothing */
        bool alive = true;
        while (alive && !r->done) {
            alive = r->journal ? end_range(r) : begin_range(r);
        }
        b->type->work_clear(&c, b->work);
        free(b->work);
        b->work = NULL;
        if (alive) {
            break;
        }
    }
    for (uint32_t i = 0; i < r->n_used; i++) {
        free(r->used[i].id.p);
    }
    snprintf(db->refused, sizeof db->refused, "%s", r->refused);
    free(r->last.p);
    free(r);
}

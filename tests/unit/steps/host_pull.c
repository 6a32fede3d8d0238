/* SPDX-License-Identifier: Apache-2.0 */
/* host_pull.c - the pull host: a stage of a server, asked for one document after the other.
 *
 * It holds one document of its input and what that became, nothing else: documents of from are looked up again
 * for every document of into, and only the bits of what became of them are kept. */
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/join_ops.h"
#include "host.h"

struct item {
    int side;
    bool self;
    struct host_doc doc;
};
struct stage {
    struct host_db *db;
    struct bench *b;
    const struct mrs_desc *d;
    uint32_t side, at;      /* next document of the input */
    bool pulling;           /* a SPREAD document is being handed out */
    unsigned *used;         /* JOIN: by document of from */
    bool *out;              /* JOIN: it takes no part or was refused */
    bool settled;
    struct item queue[80];
    uint32_t n, head;
};

static void
push_item(struct stage *s, int side, bool self, struct mrs_view d)
{
    struct host_coll one = {.n = 0};
    host_put(&one, d);
    assert_true(s->n < 80);
    s->queue[s->n++] = (struct item){side, self, one.doc[0]};
    free(one.doc);
}

static bool
spread_next(struct stage *s)
{
    const struct mrs_spread_ops *ops = s->b->type->spread;
    struct mrs_ctx c = {.mem = s->b->mem, .arena = &s->b->arena, .err = &s->b->err};
    while (s->side < s->d->n_sides) {
        struct host_coll *in = host_coll(s->db, &s->d->sides[s->side].coll);
        struct mrs_product p;
        enum mrs_fate fate;
        if (s->pulling) {
            enum mrs_status st = ops->next(s->b->state, &c, s->b->work, &p);
            if (st == MRS_OK) {
                push_item(s, p.side, p.self, p.doc);
                return true;
            }
            assert_int_equal(st, MRS_END);
            s->pulling = false;
        }
        if (!(s->d->sides[s->side].role & MRS_ROLE_MAIN) || s->at == in->n) {
            s->side++;
            s->at = 0;
            continue;
        }
        struct mrs_view d = {in->doc[s->at].p, in->doc[s->at].n};
        mrs_arena_reset(&s->b->arena);
        mrs_err_clear(&s->b->err);
        s->at++;
        s->pulling = ops->begin(s->b->state, &c, s->b->work, (int)s->side, d, &fate) == MRS_OK;
        if (!s->pulling) {
            host_refuse(s->db, in, d, s->b->err.where);
        }
    }
    return false;
}

static void
parent(struct stage *s, struct mrs_view d)
{
    struct host_coll *c = host_coll(s->db, &s->d->sides[0].coll), *into = host_coll(s->db, &s->d->sides[1].coll);
    struct host_from *from = calloc(c->n + 1, sizeof *from);
    struct host_pages *pages = calloc(1, sizeof *pages);
    struct host_db quiet = *s->db;
    struct mrs_buf out;
    enum mrs_fate fate;
    pages->d = s->d;
    mrs_buf_init(&out, s->b->mem, 64u << 20);
    host_from_init(from, c->n, s->b);
    assert_int_equal(host_read_from(&quiet, s->b, s->d, c, from), MRS_OK);
    enum mrs_status st = host_join_one(s->b, s->d, from, c->n, d, pages, &out, &fate);
    if (st == MRS_SKIP) {
        host_refuse(s->db, into, d, s->b->err.where);
    } else {
        assert_int_equal(st, MRS_OK);
        push_item(s, 1, true, (struct mrs_view){out.p, (uint32_t)out.n});
    }
    for (uint32_t i = 0; i < c->n; i++) {
        s->used[i] |= from[i].used;
        s->out[i] = !from[i].takes;
    }
    for (uint32_t i = 0; i < pages->n; i++) {
        push_item(s, pages->put[i].side, false, (struct mrs_view){pages->put[i].doc.p, pages->put[i].doc.n});
        free(pages->put[i].doc.p);
    }
    host_from_clear(from, c->n);
    mrs_buf_clear(&out);
    free(from);
    free(pages);
}

static void
settle(struct stage *s, uint32_t i)
{
    struct host_coll *c = host_coll(s->db, &s->d->sides[0].coll);
    struct mrs_view d = {c->doc[i].p, c->doc[i].n};
    int side = -1;
    enum mrs_fate fate = s->out[i] ? MRS_FATE_STAYS : s->b->type->join->fate(s->b->state, s->used[i], &side);
    if (fate == MRS_FATE_STAYS) {
        push_item(s, 0, true, d);
    } else if (fate == MRS_FATE_TAKEN && side >= 0) {
        push_item(s, side, false, d);
    } else if (fate == MRS_FATE_REFUSED) {
        host_refuse(s->db, c, d, "orphans");
    }
}

static bool
join_next(struct stage *s)
{
    struct host_coll *c = host_coll(s->db, &s->d->sides[0].coll), *into = host_coll(s->db, &s->d->sides[1].coll);
    while (s->head == s->n) {
        if (!s->settled && s->at < into->n) {
            struct mrs_view d = {into->doc[s->at].p, into->doc[s->at].n};
            s->at++;
            parent(s, d);
        } else if (!s->settled) {
            s->settled = true;
            s->at = 0;
        } else if (s->at < c->n) {
            settle(s, s->at++);
        } else {
            return false;
        }
    }
    return true;
}

void
host_pull(struct host_db *db, struct bench *b, const struct mrs_desc *d)
{
    bool join = d->family == MRS_FAMILY_JOIN;
    struct host_coll *c = host_coll(db, &d->sides[0].coll);
    struct mrs_ctx ctx = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    struct stage *s = calloc(1, sizeof *s);
    struct host_db after;
    memset(&after, 0, sizeof after);
    *s = (struct stage){.db = db, .b = b, .d = d, .used = calloc(c->n + 1, sizeof(unsigned)),
                        .out = calloc(c->n + 1, sizeof(bool))};
    b->work = calloc(1, b->type->work_size + 1);
    while (join ? join_next(s) : spread_next(s)) { /* one document at a time leaves the stage */
        struct item *it = &s->queue[s->head++];
        host_put(host_coll(&after, &d->sides[it->side].coll), (struct mrs_view){it->doc.p, it->doc.n});
        free(it->doc.p);
        if (s->head == s->n) {
            s->head = s->n = 0;
        }
    }
    for (uint32_t i = 0; i < db->n; i++) { /* what the step adds to keeps what it had */
        bool driven = false;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            bool same = strcmp(d->sides[k].coll.coll, db->coll[i].ns) == 0;

            driven = driven || (same && (d->sides[k].role & MRS_ROLE_MAIN));
        }
        for (uint32_t k = 0; k < db->coll[i].n && !driven; k++) {
            struct mrs_coll name = {"", db->coll[i].ns, db->coll[i].ns};
            host_put(host_coll(&after, &name), (struct mrs_view){db->coll[i].doc[k].p, db->coll[i].doc[k].n});
        }

    }
    snprintf(after.refused, sizeof after.refused, "%s", db->refused);
    b->type->work_clear(&ctx, b->work);
    free(b->work);
    b->work = NULL;
    free(s->used);
    free(s->out);
    free(s);
    host_free(db);
    *db = after;
}

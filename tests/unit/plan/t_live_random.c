/* SPDX-License-Identifier: Apache-2.0 */
/* t_live_random.c - the static rule against random plans, with the steps' own kernels.
 *
 * A plan is done twice: step by step, as it is meant; and as it expands alongside writers: every group adds what it
 * makes of documents less their claims, nothing is removed, and everything is derived a second time. The rule promises
 * of every plan that it admits: the second time changes nothing, and all that was added is what is there when the
 * steps are done one after the other. Plans of one-document steps are contracted as well, twice, and must end in the
 * same bytes. Plans that may be done in place are done so, each group twice. Plans that the rule refuses go the same
 * ways, to show that the test can fail: many of them must go wrong. */
#include "mongoreshape/spread_ops.h"
#include "../steps/host.h"

#include "mongoreshape/live.h"
#include "mongoreshape/value.h"

#define PLANS 12000
#define SEED 20261121u

static uint64_t rng = SEED;

static uint32_t
roll(uint32_t n)
{
    rng = rng * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(rng >> 33) % n;
}

/* ---- plans ---- */
static const char *const colls[] = {"p", "c", "h"};
static const char *const fresh_colls[] = {"n1", "n2", "n1", "c"};
static const char *const fields[] = {"x", "y", "z", "k", "u", "v", "w"};
static const char *const fresh[] = {"u", "v", "w", "u", "v", "w", "x"};

#define PICK(list) ((list)[roll(sizeof(list) / sizeof *(list))])

static const char *
any_coll(void)
{
    return roll(6) ? PICK(colls) : PICK(fresh_colls);
}

static const char *
where(char *out, const char *before)
{
    snprintf(out, 96, roll(3) ? "" : "%swhere: {%s: {$gte: %u}}", before, PICK(fields), roll(3));
    return out;
}

static void
simple_step(char *out, size_t size)
{
    char w[96];
    const char *c = any_coll(), *f = PICK(fields);
    where(w, ", ");
    switch (roll(9)) {
    case 7: snprintf(out, size, "- set: {in: p, fields: {cs: {$concatArrays: [$cs, [{y: 7}]]}}%s}\n", w); break;
    case 8:
        snprintf(out, size, "- set: {in: %s, fields: {%s: {$add: [$%s, 1]}, %s: $$REMOVE}%s}\n", c, PICK(fresh), f, f,
                 w);
        break;
    case 5: snprintf(out, size, "- pack: {in: %s, fields: [%s], as: %s%s}\n", c, f, PICK(fresh), w); break;
    case 0: snprintf(out, size, "- unset: {in: %s, fields: [%s]%s}\n", c, f, w); break;
    case 1: snprintf(out, size, "- rename: {in: %s, fields: {%s: %s}%s}\n", c, f, PICK(fresh), w); break;
    case 2: snprintf(out, size, "- cast: {in: %s, fields: {%s: string}%s}\n", c, f, w); break;
    case 3: snprintf(out, size, "- order: {in: %s, fields: [%s]%s}\n", c, f, w); break;
    case 4: snprintf(out, size, "- set: {in: %s, fields: {%s: {$type: $%s}}%s}\n", c, PICK(fresh), f, w); break;
    default: snprintf(out, size, "- set: {in: %s, fields: {%s: $%s}%s}\n", c, PICK(fresh), f, w); break;
    }
}

static void
join_step(char *out, size_t size)
{
    static const char *const ends[] = {"", ", keep: all", ", keep: all, replace: true", ", count: w",
                                       ", keep: all, fields: [x]", ", keep: all, sort: {y: -1}, limit: 1",
                                       ", orphans: drop", ", orphans: {into: n2}"};
    static const char *const copy_ends[] = {"", ", replace: true", ", refs: drop", ", keep: none, orphans: drop",
                                            ", keep: none, orphans: {into: n2}", ", dangling: drop"};
    static const char *const accumulators[] = {"$sum", "$max", "$push", "$addToSet"};
    static const char *const rollup_ends[] = {"", ", replace: true", ", empty: absent", ", sort: {y: -1}",
                                              ", keep: unmatched", ", orphans: drop",
                                              ", keep: none, orphans: {into: n2}"};
    char w[96];
    where(w, ", ");
    switch (roll(4)) {
    case 3:
        snprintf(out, size, "- rollup: {from: %s, into: p, match: {k: _id}, fields: {%s: {%s: $%s}}%s%s}\n",
                 roll(4) ? "c" : "n1", PICK(fresh), PICK(accumulators), PICK(fields), PICK(rollup_ends), w);
        break;
    case 0:
        snprintf(out, size, "- embed: {from: %s, into: p, match: {k: _id}, as: %s%s%s}\n", roll(4) ? "c" : "n1",
                 PICK(fresh), PICK(ends), w);
        break;
    case 1:
        snprintf(out, size, "- embed: {from: h, into: %s, match: {_id: k}, as: %s, keep: all%s}\n",
                 roll(2) ? "p" : "c", PICK(fresh), w);
        break;
    default:
        snprintf(out, size, "- copy: {from: h, into: %s, match: {_id: k}, fields: {%s: $%s}%s%s}\n",
                 roll(2) ? "p" : "c", PICK(fresh), PICK(fields), PICK(copy_ends), w);
        break;
    }
}

static void
spread_step(char *out, size_t size)
{
    static const char *const ends[] = {"", ", count: v", ", position: pos", ", leave: {limit: 1}",
                                       ", refs: both, child_refs: w", ", fields: [y]"};
    char w[96];
    const char *n = PICK(fresh_colls), *c = any_coll();
    where(w, ", ");
    switch (roll(7)) {
    case 0: case 1: case 2:
        snprintf(out, size, "- extract: {from: p, path: cs, into: %s, parent_ref: k%s%s}\n", n, PICK(ends), w);
        break;
    case 3: snprintf(out, size, "- move: {from: %s, into: %s%s}\n", c, n, w); break;
    case 4: snprintf(out, size, "- split: {from: %s, fields: [%s], into: %s%s}\n", c, PICK(fields), n, w); break;
    case 5: snprintf(out, size, "- union: {from: {one: c, two: h}, into: n2, tag: %s%s}\n", PICK(fresh), w); break;
    default: snprintf(out, size, "- delete: {in: %s, where: {%s: %u}}\n", c, PICK(fields), roll(3)); break;
    }
}

static void
random_plan(char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "version: 1\nsteps:\n");
    for (uint32_t i = 0, steps = 1 + roll(4); i < steps; i++) {
        switch (roll(5)) {
        case 0: case 1: simple_step(out + n, size - n); break;
        case 2: case 3: join_step(out + n, size - n); break;
        default: spread_step(out + n, size - n); break;
        }
        n += strlen(out + n);
    }
}

static void
random_data(char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "{");
    for (int c = 0; c < 3; c++) {
        n += (size_t)snprintf(out + n, size - n, "%s'%s':[", c ? "," : "", colls[c]);
        for (uint32_t i = 0; i < 3; i++) {
            n += (size_t)snprintf(out + n, size - n, "%s{'_id':%u", i ? "," : "", 10 * (unsigned)(c + 1) + i);
            for (int f = 0; f < 3; f++) {
                if (roll(4)) {
                    n += (size_t)snprintf(out + n, size - n, ",'%s':%u", fields[f], roll(3));
                }
            }
            n += (size_t)snprintf(out + n, size - n, c == 0 && roll(2) ? ",'cs':[{'y':%u},{'_id':%u,'y':2}]" : "",
                                  roll(3), 90 + i);
            n += (size_t)snprintf(out + n, size - n, roll(5) ? ",'k':%u}" : "}", (c == 1 ? 10 : 30) + roll(4));
        }
        n += (size_t)snprintf(out + n, size - n, "]");
    }
    snprintf(out + n, size - n, "}");
}

/* ---- the world ---- */
struct world {
    struct mrs_mem *mem;
    struct mrs_arena arena; /* of kernels */
    const struct mrs_plan *p;
    struct mrs_live live;
    struct host_db start, meant, db;
    bool refused;          /* some unit was: its account is not compared here */
    bool changed;          /* by the derivation in hand */
};

static struct mrs_view
view_of(const struct host_doc *d)
{
    return (struct mrs_view){d->p, d->n};
}

static void
compact(struct host_db *db)
{
    for (uint32_t i = 0; i < db->n; i++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < db->coll[i].n; k++) {
            if (db->coll[i].doc[k].gone) {
                free(db->coll[i].doc[k].p);
            } else {
                db->coll[i].doc[n++] = db->coll[i].doc[k];
            }
        }
        db->coll[i].n = n;
    }
}

static struct host_coll *
seek(struct host_db *db, const char *name)
{
    for (uint32_t i = 0; i < db->n; i++) {
        if (strcmp(db->coll[i].ns, name) == 0) {
            return &db->coll[i];
        }
    }
    return NULL;
}

static struct host_doc *
seek_id(struct host_coll *c, struct mrs_val id)
{
    for (uint32_t i = 0; c && i < c->n; i++) {
        if (mrs_identical(mrs_doc_get(view_of(&c->doc[i]), "_id"), id)) {
            return &c->doc[i];
        }
    }
    return NULL;
}

static void
host_copy(const struct host_db *from, struct host_db *to)
{
    memset(to, 0, sizeof *to);
    for (uint32_t i = 0; i < from->n; i++) {
        struct mrs_coll one = {"d", from->coll[i].ns, from->coll[i].ns};
        for (uint32_t k = 0; k < from->coll[i].n; k++) {
            host_put(host_coll(to, &one), view_of(&from->coll[i].doc[k]));
        }
    }
}

static void
set_bytes(struct host_doc *d, struct mrs_view v)
{
    uint8_t *p = malloc(v.n);
    assert_non_null(p);
    memcpy(p, v.p, v.n);
    free(d->p);
    *d = (struct host_doc){p, v.n, 0};
}

static bool
same_bytes(struct mrs_view a, struct mrs_view b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static bool
equal_ids(const struct host_db *db)
{
    for (uint32_t i = 0; i < db->n; i++) {
        for (uint32_t k = 0; k < db->coll[i].n; k++) {
            struct mrs_val id = mrs_doc_get(view_of(&db->coll[i].doc[k]), "_id");
            if (seek_id((struct host_coll *)&db->coll[i], id) != &db->coll[i].doc[k]) {
                return true;
            }
        }
    }
    return false;
}

/* ---- claims ---- */
static const struct mrs_step *
first_of(const struct world *w, const struct mrs_live_group *g)
{
    return &w->p->steps[g->first];
}

static bool
claimed_by(const struct world *w, const struct mrs_live_group *g, const char *coll, const char *name)
{
    const struct mrs_desc *d = &first_of(w, g)->desc;
    for (uint32_t i = 0; i < g->n_claims && strcmp(d->sides[g->claims_side].coll.coll, coll) == 0; i++) {
        if (strcmp(g->claims[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether a group from `from` on, less than `to`, claims the field. */
static bool
claimed(const struct world *w, uint32_t from, uint32_t to, const char *coll, const char *name)
{
    for (uint32_t i = from; i < to; i++) {
        if (claimed_by(w, &w->live.group[i], coll, name)) {
            return true;
        }
    }
    return false;
}

/* The fields of d that the groups [from, to) claim, or (keep false) all others, as a document in the arena. */
static struct mrs_view
part_of(struct world *w, uint32_t from, uint32_t to, const char *coll, struct mrs_view d, bool keep,
        struct mrs_arena *a)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view out;
    struct mrs_walk walk;
    struct mrs_elem e;
    mrs_buf_init(&buf, w->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    for (mrs_walk_init(&walk, d); mrs_walk_next(&walk, &e) == 1;) {
        if (claimed(w, from, to, coll, e.name) == keep) {
            mrs_build_elem(&b, &e);
        }
    }
    assert_int_equal(mrs_build_finish(&b, &out, NULL), MRS_OK);
    out.p = mrs_arena_copy(a, out.p, out.n);
    mrs_buf_clear(&buf);
    return out;
}

/* a and then b, as one document. */
static struct mrs_view
joined(struct world *w, struct mrs_view a, struct mrs_view b, struct mrs_arena *arena)
{
    struct mrs_buf buf;
    struct mrs_build build;
    struct mrs_view out;
    mrs_buf_init(&buf, w->mem, MRS_DOC_MAX);
    mrs_build_init(&build, &buf);
    mrs_build_raw(&build, a.p + 4, a.n - 5);
    mrs_build_raw(&build, b.p + 4, b.n - 5);
    assert_int_equal(mrs_build_finish(&build, &out, NULL), MRS_OK);
    out.p = mrs_arena_copy(arena, out.p, out.n);
    mrs_buf_clear(&buf);
    return out;
}

/* d, which some group derived as `after`, with what the group claims in it. */
static void
write_claims(struct world *w, uint32_t g, const char *coll, struct host_doc *d, struct mrs_view after,
             struct mrs_arena *a)
{
    struct mrs_view want = part_of(w, g, g + 1, coll, after, true, a);
    if (!same_bytes(want, part_of(w, g, g + 1, coll, view_of(d), true, a))) {
        set_bytes(d, joined(w, part_of(w, g, g + 1, coll, view_of(d), false, a), want, a));
        w->changed = true;
    }
}

/* ---- groups as they expand ---- */
static struct bench
bench_of(struct world *w, const struct mrs_step *s)
{
    struct bench b = {.mem = w->mem, .type = s->type, .state = s->state};
    mrs_arena_init(&b.arena, w->mem);
    b.work = calloc(1, s->type->work_size + 1);
    return b;
}

static void
bench_end(struct bench *b)
{
    struct mrs_ctx c = {.mem = b->mem, .arena = &b->arena, .err = &b->err};
    if (b->type->work_clear) {
        b->type->work_clear(&c, b->work);
    }
    free(b->work);
    mrs_arena_clear(&b->arena);
}

static void
put_product(struct world *w, const struct mrs_coll *coll, struct mrs_view doc)
{
    struct host_coll *c = host_coll(&w->db, coll);
    struct host_doc *there = seek_id(c, mrs_doc_get(doc, "_id"));
    if (!there) {
        host_put(c, doc);
        w->changed = true;
    } else if (!same_bytes(view_of(there), doc)) {
        set_bytes(there, doc);
        w->changed = true;
    }
}

/* One document through one step; products go to the database. False: refused. */
static bool
spread_one(struct world *w, const struct mrs_step *s, int side, struct mrs_view *doc, struct mrs_arena *a)
{
    struct bench b = bench_of(w, s);
    struct mrs_ctx c = {.mem = b.mem, .arena = &b.arena, .err = &b.err};
    struct mrs_product p;
    enum mrs_fate fate;
    bool ok = s->type->spread->begin(s->state, &c, b.work, side, *doc, &fate) == MRS_OK;
    while (ok && s->type->spread->next(s->state, &c, b.work, &p) == MRS_OK) {
        if (p.self) {
            *doc = (struct mrs_view){mrs_arena_copy(a, p.doc.p, p.doc.n), p.doc.n};
        } else {
            put_product(w, &s->desc.sides[p.side].coll, p.doc);
        }
    }
    bench_end(&b);
    w->refused = w->refused || !ok;
    return ok;
}

static void
expand_documents(struct world *w, uint32_t g)
{
    const struct mrs_live_group *group = &w->live.group[g];
    const struct mrs_step *s = first_of(w, group);
    for (uint32_t side = 0; side < s->desc.n_sides; side++) {
        const char *name = s->desc.sides[side].coll.coll;
        struct host_coll *c = seek(&w->db, name);
        for (uint32_t i = 0; c && i < c->n && (s->desc.sides[side].role & MRS_ROLE_MAIN); i++) {
            struct mrs_arena a;
            mrs_arena_init(&a, w->mem);
            struct mrs_view d = part_of(w, g, w->live.n_groups, name, view_of(&c->doc[i]), false, &a);
            bool ok = true;
            for (uint32_t k = 0; k < group->before && ok; k++) {
                ok = spread_one(w, s - group->before + k, 0, &d, &a);
            }
            for (uint32_t k = 0; k < group->n && ok; k++) {
                ok = spread_one(w, s + k, (int)side, &d, &a);
            }
            c = seek(&w->db, name);
            if (ok) {
                write_claims(w, g, name, &c->doc[i], d, &a);
            }
            mrs_arena_clear(&a);
        }
    }
}

static void
expand_join(struct world *w, uint32_t g)
{
    const struct mrs_step *s = first_of(w, &w->live.group[g]);
    const char *into = s->desc.sides[1].coll.coll, *from = s->desc.sides[0].coll.coll;
    struct host_db bases = {.n = 0};
    struct mrs_arena a;
    struct bench b = bench_of(w, s);
    struct host_coll *c = seek(&w->db, from), *base = host_coll(&bases, &s->desc.sides[0].coll);
    mrs_arena_init(&a, w->mem);
    for (uint32_t i = 0; c && i < c->n; i++) {
        host_put(base, part_of(w, g, w->live.n_groups, from, view_of(&c->doc[i]), false, &a));
    }
    struct host_from *f = calloc(base->n + 1, sizeof *f);
    struct host_pages pages = {.d = &s->desc};
    host_from_init(f, base->n, &b);
    assert_int_equal(host_read_from(&bases, &b, &s->desc, base, f), MRS_OK);
    c = seek(&w->db, into);
    for (uint32_t i = 0; c && i < c->n; i++) {
        struct mrs_buf out;
        enum mrs_fate fate = MRS_FATE_STAYS;
        mrs_buf_init(&out, w->mem, MRS_DOC_MAX);
        struct mrs_view d = part_of(w, g, w->live.n_groups, into, view_of(&c->doc[i]), false, &a);
        enum mrs_status st = host_join_one(&b, &s->desc, f, base->n, d, &pages, &out, &fate);
        w->refused = w->refused || st != MRS_OK;
        if (st == MRS_OK && out.n) {
            write_claims(w, g, into, &c->doc[i], (struct mrs_view){out.p, (uint32_t)out.n}, &a);
        }
        mrs_buf_clear(&out);
    }
    w->refused = w->refused || bases.refused[0];
    host_from_clear(f, base->n);
    free(f);
    host_free(&bases);
    bench_end(&b);
    mrs_arena_clear(&a);
}

static void
expand(struct world *w)
{
    w->changed = false;
    for (uint32_t g = 0; g < w->live.n_groups; g++) {
        if (w->live.group[g].family == MRS_FAMILY_JOIN) {
            expand_join(w, g);
        } else if (w->live.group[g].family != MRS_FAMILY_CATALOG) {
            expand_documents(w, g);
        }
    }
}

/* Contract of one-document groups, as live.h says. */
static void
contract(struct world *w)
{
    for (uint32_t g = 0; g < w->live.n_groups; g++) {
        const struct mrs_live_group *group = &w->live.group[g];
        const char *name = first_of(w, group)->desc.sides[0].coll.coll;
        struct host_coll *c = seek(&w->db, name);
        for (uint32_t i = 0; c && i < c->n; i++) {
            struct mrs_arena a;
            mrs_arena_init(&a, w->mem);
            struct mrs_view d = view_of(&c->doc[i]);
            struct mrs_view later = part_of(w, g + 1, w->live.n_groups, name, d, true, &a);
            struct mrs_view after = part_of(w, g, w->live.n_groups, name, d, false, &a);
            for (uint32_t k = 0; k < group->n; k++) {
                spread_one(w, first_of(w, group) + k, 0, &after, &a);
            }
            bool verified =
                same_bytes(part_of(w, g, g + 1, name, d, true, &a), part_of(w, g, g + 1, name, after, true, &a));
            struct mrs_view base = part_of(w, g, w->live.n_groups, name, d, false, &a);
            bool nothing = same_bytes(after, part_of(w, g + 1, w->live.n_groups, name, d, false, &a)) ||
                           same_bytes(after, joined(w, base, part_of(w, g, g + 1, name, after, true, &a), &a));
            if (verified && !nothing) {
                set_bytes(&c->doc[i], joined(w, after, later, &a));
            }
            mrs_arena_clear(&a);
        }
    }
}

/* ---- in place ---- */
static void
push(struct world *w, struct host_db *db, const struct mrs_step *s)
{
    struct bench b = bench_of(w, s);
    free(b.work);
    b.work = NULL;
    assert_int_equal(host_push(db, &b, &s->desc), MRS_OK);
    b.type = &(struct mrs_step_type){.name = ""};
    bench_end(&b);
    compact(db);
    w->refused = w->refused || db->refused[0];
}

static void
push_group(struct world *w, struct host_db *db, const struct mrs_live_group *g)
{
    for (uint32_t i = 0; i < g->before + g->n && g->family != MRS_FAMILY_CATALOG; i++) {
        push(w, db, first_of(w, g) - g->before + i);
    }
}

/* A plan that may be done in place: each group, done again where it was done, changes nothing. */
static bool
direct_right(struct world *w)
{
    static char once[BENCH_TEXT], twice[BENCH_TEXT];
    bool right = true;
    host_copy(&w->start, &w->db);
    for (uint32_t g = 0; g < w->live.n_groups && right && !w->refused; g++) {
        push_group(w, &w->db, &w->live.group[g]);
        host_text(&w->db, true, once);
        if (!w->refused) {
            push_group(w, &w->db, &w->live.group[g]);
            host_text(&w->db, true, twice);
            right = !w->db.refused[0] && strcmp(once, twice) == 0;
        }
    }
    host_free(&w->db);
    return right;
}

/* ---- one plan ---- */
/* Step by step, as PLAN means it. False: something was refused on the way. */
static bool
run_meant(struct world *w)
{
    host_copy(&w->start, &w->meant);
    for (uint32_t i = 0; i < w->p->n_steps; i++) {
        push(w, &w->meant, &w->p->steps[i]);
        if (w->refused || equal_ids(&w->meant)) {
            return false;
        }
    }
    return true;
}

/* What is checked on the server before anything is written: claims are free, targets are new. */
static bool
preflight(struct world *w)
{
    for (uint32_t i = 0; i < w->start.n; i++) {
        for (uint32_t k = 0; k < w->start.coll[i].n; k++) {
            struct mrs_walk walk;
            struct mrs_elem e;
            for (mrs_walk_init(&walk, view_of(&w->start.coll[i].doc[k])); mrs_walk_next(&walk, &e) == 1;) {
                if (claimed(w, 0, w->live.n_groups, w->start.coll[i].ns, e.name)) {
                    return false;
                }
            }
        }
    }
    for (uint32_t i = 0; i < w->p->n_steps; i++) {
        const struct mrs_desc *d = &w->p->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            if ((d->sides[k].role & MRS_ROLE_ADD) && seek(&w->start, d->sides[k].coll.coll)) {
                return false;
            }
        }
    }
    return true;
}

/* Collections that joins fill in contract. */
static bool
deferred(const struct world *w, const char *coll)
{
    for (uint32_t i = 0; i < w->p->n_steps; i++) {
        const struct mrs_desc *d = &w->p->steps[i].desc;
        for (uint32_t k = 2; k < d->n_sides && d->family == MRS_FAMILY_JOIN; k++) {
            if (strcmp(d->sides[k].coll.coll, coll) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Whether all that was added is what was meant. */
static bool
added_right(struct world *w)
{
    struct mrs_arena a;
    bool right = true;
    mrs_arena_init(&a, w->mem);
    for (uint32_t i = 0; i < w->meant.n; i++) {
        struct host_coll *m = &w->meant.coll[i], *c = seek(&w->db, m->ns);
        bool fresh_coll = !seek(&w->start, m->ns);
        for (uint32_t k = 0; k < m->n && !deferred(w, m->ns); k++) {
            struct mrs_view want = view_of(&m->doc[k]);
            struct host_doc *d = seek_id(c, mrs_doc_get(want, "_id"));
            right = right && d;
            for (uint32_t g = 0; right && g < w->live.n_groups; g++) {
                right = same_bytes(part_of(w, g, g + 1, m->ns, want, true, &a),
                                   part_of(w, g, g + 1, m->ns, view_of(d), true, &a));
            }
            right = right && (!fresh_coll || same_bytes(want, view_of(d)));
        }
    }
    for (uint32_t i = 0; i < w->db.n; i++) {
        struct host_coll *c = &w->db.coll[i];
        for (uint32_t k = 0; k < c->n && !seek(&w->start, c->ns); k++) {
            right = right && seek_id(seek(&w->meant, c->ns), mrs_doc_get(view_of(&c->doc[k]), "_id"));
        }
    }
    mrs_arena_clear(&a);
    return right;
}

static bool
whole_right(struct world *w)
{
    static char got[BENCH_TEXT], want[BENCH_TEXT];
    host_text(&w->db, true, got);
    host_text(&w->meant, true, want);
    return strcmp(got, want) == 0;
}

enum { SKIPPED, RIGHT, UNSTABLE, WRONG, CONTRACT_WRONG };
static uint32_t n_contracted, n_prepared;

static int
try_plan(struct world *w)
{
    bool map = true;
    for (uint32_t g = 0; g < w->live.n_groups; g++) {
        map = map && w->live.group[g].contract_live;
    }
    if (!preflight(w) || !run_meant(w)) {
        return SKIPPED;
    }
    host_copy(&w->start, &w->db);
    expand(w);
    expand(w);
    bool moved = w->changed;
    if (w->refused) {
        return SKIPPED;
    }
    if (moved || !added_right(w)) {
        return moved ? UNSTABLE : WRONG;
    }
    for (uint32_t g = 0; g < w->live.n_groups && w->live.expand; g++) {
        n_prepared += w->live.group[g].before > 0;
    }
    if (map) {
        n_contracted++;
        contract(w);
        bool once = whole_right(w);
        contract(w);
        return once && whole_right(w) ? RIGHT : CONTRACT_WRONG;
    }
    return RIGHT;
}

/* Only what the rule of several steps refuses: a plan that a single step forbids proves nothing about it. */
static bool
can_try(const struct mrs_plan *p, const struct mrs_live *l)
{
    for (uint32_t i = 0; i < p->n_steps; i++) {
        if (p->steps[i].desc.quiet_only || p->steps[i].desc.family == MRS_FAMILY_CATALOG) {
            return false;
        }
    }
    return l->n_groups > 0;
}

static void
random_plans(void **state)
{
    static char text[BENCH_TEXT], data[BENCH_TEXT];
    uint32_t count[2][5] = {{0}}, in_place[2][2] = {{0}};
    (void)state;
    for (uint32_t i = 0; i < PLANS; i++) {
        struct world w = {.mem = mrs_mem_new(0)};
        struct mrs_plan_opts o = {.default_db = "d", .now_ms = 1};
        struct mrs_plan *p = NULL;
        struct mrs_err e;
        random_plan(text, sizeof text);
        random_data(data, sizeof data);
        if (mrs_plan_load(w.mem, text, strlen(text), &o, &p, &e) == MRS_OK) {
            w.p = p;
            assert_int_equal(mrs_live_judge(p, &p->arena, &w.live, &e), MRS_OK);
            host_load(&w.start, data);
            if (w.live.direct || can_try(p, &w.live)) {
                in_place[w.live.direct][direct_right(&w)]++;
                if (w.live.direct && in_place[1][0]) {
                    fail_msg("%s%s\ndone twice in place, it changes", text, data);
                }
                w.refused = false;
            }
            if (w.live.expand || can_try(p, &w.live)) {
                int got = try_plan(&w);
                count[w.live.expand][got]++;
                if (w.live.expand && got > RIGHT) {
                    static const char *const words[] = {"", "", "derived again, it changes",
                                                        "other documents are added", "contract ends otherwise"};
                    print_error("%s%s\n%s\n", text, data, words[got]);
                }
            }
            host_free(&w.start);
            host_free(&w.meant);
            host_free(&w.db);
        }
        mrs_plan_free(p);
        assert_int_equal(mrs_mem_close(w.mem), 0);
    }
    print_message("admitted: %u right (%u contracted, %u prepared), %u skipped; refused: %u right, %u unstable, %u "
                  "wrong\n", count[1][RIGHT], n_contracted, n_prepared, count[1][SKIPPED], count[0][RIGHT],
                  count[0][UNSTABLE], count[0][WRONG] + count[0][CONTRACT_WRONG]);
    print_message("in place: %u right; refused: %u right, %u wrong\n", in_place[1][1], in_place[0][1], in_place[0][0]);
    assert_true(in_place[1][1] > PLANS / 20 && in_place[0][0] > 20);
    assert_int_equal(count[1][UNSTABLE] + count[1][WRONG] + count[1][CONTRACT_WRONG], 0);
    assert_true(count[1][RIGHT] > PLANS / 20 && n_prepared > 20);
    assert_true(count[0][UNSTABLE] > 20 && count[0][WRONG] + count[0][CONTRACT_WRONG] > 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_unit.c - units against the offline engine: one-document steps, steps that make documents, joins.
 *
 * Each case is run offline over a dump, then its units are derived in one load, one by one, over documents that hold
 * the result already, and over documents whose claimed fields hold something else: always the same must come out. */
#include "unit_test.h"

struct unit_case {
    const char *steps;
    const char *const *colls; /* name, documents, ..., NULL */
    bool scan;
    bool in_place; /* what it adds is there before, so it is no case for expand */
};

static const char *server; /* NULL: there is none */

/* ---- the oracle ---- */
static void
run_offline(const struct unit_case *k)
{
    struct mrs_run_opts o = defaults();
    o.max_refused = 1000;
    begin();
    assert_int_equal(rmdir(at("in/d")), 0);
    assert_int_equal(mkdir(at("in/" TEST_DB), 0777), 0);
    for (const char *const *c = k->colls; *c; c += 2) {
        char name[128];
        snprintf(name, sizeof name, "in/" TEST_DB "/%s.bson", c[0]);
        put_docs(name, c[1]);
    }
    runs(k->steps, &o);
}

static bool
is_claim(const struct mrs_live_group *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_claims; i++) {
        if (strcmp(g->claims[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Names of the claims that one document and the other (NULL: any) have, in the order of the first: "a b ". */
static void
claims_in(const struct mrs_live_group *g, struct mrs_view doc, const struct mrs_view *other, char out[256])
{
    struct mrs_walk w;
    struct mrs_elem e;
    size_t n = 0;
    out[0] = 0;
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &e) == 1;) {
        if (is_claim(g, e.name) && (!other || mrs_doc_get(*other, e.name).type != MRS_MISSING)) {
            n += (size_t)snprintf(out + n, 256 - n, "%s ", e.name);
        }
    }
}

/* doc as it must be when the claims of `off` are put into it: in their places, as far as they are in the same
 * order. */
static struct mrs_view
blended(const struct mrs_live_group *g, struct mrs_view doc, struct mrs_view off, struct mrs_buf *out)
{
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrs_view d;
    char here[256], there[256];
    claims_in(g, doc, &off, here);
    claims_in(g, off, NULL, there);
    bool stay = strncmp(there, here, strlen(here)) == 0;
    mrs_buf_reset(out);
    mrs_build_init(&b, out);
    for (mrs_walk_init(&w, doc); mrs_walk_next(&w, &e) == 1;) {
        if (!is_claim(g, e.name) || stay) {
            mrs_build_val(&b, e.name, e.name_len, is_claim(g, e.name) ? mrs_doc_get(off, e.name) : e.v);
        }
    }
    for (mrs_walk_init(&w, off); mrs_walk_next(&w, &e) == 1;) {
        if (is_claim(g, e.name) && (!stay || mrs_doc_get(doc, e.name).type == MRS_MISSING)) {
            mrs_build_elem(&b, &e);
        }
    }
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    return d;
}

struct tally {
    uint32_t refused, products;
};

static void
check_products(const struct live_unit *unit, struct tally *t)
{
    for (uint32_t i = 0; i < unit->n_products; i++) {
        struct docs off;
        docs_written(&off, unit->product[i].coll.coll);
        const struct mrs_view *d = docs_find(&off, unit->product[i].doc);
        if (!d) {
            fail_msg("offline made no %s in %s", picture(unit->product[i].doc), unit->product[i].coll.coll);
        }
        same_bytes(unit->product[i].doc, *d, "product");
        free(off.p);
        t->products++;
    }
}

/* Loads docs, `step` at a time, and compares; wants: copies of what they are to be; NULL: not needed. */
static void
check_load(struct bed *b, struct live_units *u, uint32_t main, const struct docs *docs, uint32_t step,
           struct mrs_view *wants, struct tally *t)
{
    int side;
    const struct mrs_live_group *g = &b->live.group[0];
    struct live_unit units[512];
    struct docs off;
    struct mrs_buf room;
    memset(t, 0, sizeof *t);
    docs_written(&off, live_units_main(u, main, &side)->coll);
    mrs_buf_init(&room, b->mem, SIZE_MAX);
    for (uint32_t at = 0; at < docs->n; at += step) {
        uint32_t n = docs->n - at < step ? docs->n - at : step;
        if (live_units_load(u, main, docs->d + at, n, units, &b->e) != MRS_OK) {
            fail_msg("load: %s", b->e.msg);
        }
        for (uint32_t i = 0; i < n; i++) {
            const struct live_unit *x = &units[i];
            const struct mrs_view *d = docs_find(&off, x->doc);
            bool claims = side == g->claims_side && d && !x->refused;
            same_bytes(x->result, claims ? blended(g, docs->d[at + i], *d, &room) : docs->d[at + i], "want");
            if (x->refused && (d || x->why.code == MRS_E_NONE || x->step == 0)) {
                fail_msg("refused, but not offline: %s: %s", picture(x->doc), x->why.msg);
            }
            t->refused += x->refused;
            check_products(x, t);
            if (wants) {
                uint8_t *p = mrs_arena_copy(&b->arena, x->result.p, x->result.n);
                wants[at + i] = (struct mrs_view){p, x->result.n};
            }
        }
    }
    mrs_buf_clear(&room);
    free(off.p);
}

/* Every claim, holding what no step makes, in front of the document. */
static void
spoil(struct bed *b, struct docs *docs)
{
    const struct mrs_live_group *g = &b->live.group[0];
    for (uint32_t i = 0; i < docs->n; i++) {
        struct mrs_buf out;
        struct mrs_build n;
        struct mrs_view d;
        mrs_buf_init(&out, b->mem, SIZE_MAX);
        mrs_build_init(&n, &out);
        mrs_build_val(&n, "_id", 3, mrs_doc_get(docs->d[i], "_id"));
        for (uint32_t k = 0; k < g->n_claims; k++) {
            mrs_build_i32(&n, g->claims[k], 4711);
        }
        struct mrs_walk w;
        struct mrs_elem e;
        mrs_walk_init(&w, docs->d[i]);
        while (mrs_walk_next(&w, &e) == 1) {
            if (strcmp(e.name, "_id") != 0 && !is_claim(g, e.name)) {
                mrs_build_elem(&n, &e);
            }
        }
        assert_int_equal(mrs_build_finish(&n, &d, NULL), MRS_OK);
        docs->d[i] = (struct mrs_view){mrs_arena_copy(&b->arena, d.p, d.n), d.n};
        mrs_buf_clear(&out);
    }
}

/* How many documents offline wrote into collections that were not there before. */
static uint32_t
made_offline(const struct unit_case *k, const struct mrs_desc *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n_sides; i++) {
        bool there_before = false;
        for (const char *const *c = k->colls; *c; c += 2) {
            there_before = there_before || strcmp(c[0], d->sides[i].coll.coll) == 0;
        }
        for (uint32_t s = 0; s < i; s++) {
            there_before = there_before || strcmp(d->sides[s].coll.ns, d->sides[i].coll.ns) == 0;
        }
        if ((d->sides[i].role & MRS_ROLE_ADD) && !there_before) {
            struct docs off;
            docs_written(&off, d->sides[i].coll.coll);
            n += off.n;
            free(off.p);
        }
    }
    return n;
}

static const char *
text_of(const struct unit_case *k, const char *coll)
{
    for (const char *const *c = k->colls; *c; c += 2) {
        if (strcmp(c[0], coll) == 0) {
            return c[1];
        }
    }
    return "";
}

/* The whole document, by another purpose, is the one that offline wrote; once more it stays that. */
static void
check_whole(struct bed *b, enum live_purpose purpose, const struct docs *docs)
{
    int side;
    struct live_units *u;
    struct live_unit units[512];
    struct docs off, again = *docs;
    assert_int_equal(live_units_open(&b->job, 0, purpose, &u, &b->e), MRS_OK);
    docs_written(&off, live_units_main(u, 0, &side)->coll);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(live_units_load(u, 0, again.d, docs->n, units, &b->e), MRS_OK);
        for (uint32_t i = 0; i < docs->n; i++) {
            const struct mrs_view *d = docs_find(&off, docs->d[i]);
            assert_int_equal(units[i].refused, !d);
            assert_false(units[i].differs);
            same_bytes(units[i].result, d ? *d : docs->d[i], purpose == LIVE_FOR_DIRECT ? "direct" : "contract");
            struct mrs_view want = units[i].result;
            again.d[i] = (struct mrs_view){mrs_arena_copy(&b->arena, want.p, want.n), want.n};
        }
    }
    live_units_close(u);
    free(off.p);
}

static void
check_case(const struct unit_case *k)
{
    struct bed b;
    struct live_units *u;
    uint32_t products = 0;
    run_offline(k);
    bed_open(&b, k->steps, server, 0);
    b.job.opts.allow_scan = k->scan;
    for (const char *const *c = k->colls; *c && server; c += 2) {
        struct docs docs;
        docs_make(&docs, c[1]);
        bed_fill(&b, c[0], &docs);
        free(docs.p);
    }
    assert_true(!k->in_place || b.live.group[0].direct);
    if (live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e) != MRS_OK) {
        fail_msg("%s: %s", k->steps, b.e.msg);
    }
    for (uint32_t m = 0; m < live_units_mains(u); m++) {
        int side;
        struct docs docs;
        struct mrs_view wants[512];
        struct tally first, t;
        docs_make(&docs, text_of(k, live_units_main(u, m, &side)->coll));
        if (b.live.group[0].direct) {
            check_whole(&b, LIVE_FOR_DIRECT, &docs);
        }
        if (k->in_place) {
            free(docs.p);
            break;
        }
        check_load(&b, u, m, &docs, 512, wants, &first);
        check_load(&b, u, m, &docs, 1, NULL, &t);
        assert_memory_equal(&first, &t, sizeof t);
        memcpy(docs.d, wants, sizeof wants);
        if (b.live.group[0].contract_live && b.live.n_groups == 1) {
            check_whole(&b, LIVE_FOR_CONTRACT, &docs);
        }
        check_load(&b, u, m, &docs, 512, NULL, &t); /* what is there already is what is wanted */
        assert_memory_equal(&first, &t, sizeof t);
        spoil(&b, &docs);
        check_load(&b, u, m, &docs, 3, NULL, &t);
        assert_memory_equal(&first, &t, sizeof t);
        products += first.products;
        free(docs.p);
    }
    assert_int_equal(products, made_offline(k, &b.plan->steps[0].desc));
    live_units_close(u);
    bed_close(&b);
}

/* ---- one-document steps and steps that make documents ---- */
#define COLLS(...) (const char *const[]){__VA_ARGS__, NULL}

static const struct unit_case alone[] = {
    {"- set: { in: a, fields: { c: { $add: [$x, 1] }, t: { $type: $x } } }\n",
     COLLS("a", "{'_id':1,'x':1} {'_id':2,'x':'bad'} {'_id':3} {'_id':4,'x':null,'z':[1]}"), false, false},
    {"- rename: { in: a, fields: { old: fresh } }\n",
     COLLS("a", "{'_id':1,'old':[1,{'a':2}],'z':1} {'_id':2,'z':1} {'_id':3,'old':null}"), false, false},
    {"- set: { in: a, fields: { sum: { $add: [$x, $y] } } }\n- set: { in: a, fields: { twice: { $multiply: [$sum, 2] } "
     "} }\n- unset: { in: a, fields: [x] }\n- rename: { in: a, fields: { y: why } }\n",
     COLLS("a", "{'_id':1,'x':1,'y':2} {'_id':2,'x':1.5,'y':'no'} {'_id':3,'y':5,'w':1}"), false, false},
    {"- extract: { from: posts, path: comments, into: comments, refs: parent, parent_ref: post, id: new, count: "
     "n }\n",
     COLLS("posts", "{'_id':1,'comments':[{'t':'a'},{'t':'b'},{'t':'c'}],'z':1} {'_id':2,'comments':[]} {'_id':3} "
                    "{'_id':4,'comments':[{'t':'d'}]} {'_id':{'$oid':'0123456789abcdef01234567'},'comments':[{}]}"),
     false, false},
    {"- extract: { from: posts, path: comments, into: comments, refs: both, parent_ref: post, child_refs: ids }\n",
     COLLS("posts", "{'_id':1,'comments':[{'_id':'x','t':'a'},{'_id':'y'}],'z':1} {'_id':2} {'_id':3,'comments':[{}]}"),
     false, false},
    {"- unset: { in: a, fields: [x, l.y] }\n- order: { in: a, fields: [z] }\n",
     COLLS("a", "{'_id':1,'x':1,'l':[{'y':1,'w':2}],'z':3} {'_id':2,'z':1}"), false, false},
    {"- cast: { in: a, fields: { x: int } }\n",
     COLLS("a", "{'_id':1,'x':'5'} {'_id':2,'x':'no'} {'_id':3,'x':7}"), false, false},
    {"- move: { from: a, into: b, where: { old: true } }\n",
     COLLS("a", "{'_id':1,'old':true,'x':[1]} {'_id':2,'old':false} {'_id':3} {'_id':'k','old':true}"), false, false},
    {"- split: { from: a, fields: [x, y], into: b }\n",
     COLLS("a", "{'_id':1,'x':1,'y':2,'z':3} {'_id':2,'z':3} {'_id':3,'y':null}"), false, false},
    {"- union: { from: { car: cars, truck: trucks }, into: vehicles, tag: type }\n",
     COLLS("cars", "{'_id':1,'c':1} {'_id':2,'type':'mine'}", "trucks", "{'_id':3,'t':1} {'_id':4}"), false, false},
    {"- partition: { from: v, by: type, into: { car: cars, truck: trucks } }\n",
     COLLS("v", "{'_id':1,'type':'car'} {'_id':2,'type':'truck'} {'_id':3,'type':'boat'} {'_id':4}"), false, false},
};

static void
steps_alone(void **state)
{
    (void)state;
    const char *kept = server;
    server = NULL;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        check_case(&alone[i]);
    }
    server = kept;
}

/* ---- what is left of a document by the other purposes ---- */
struct purpose_case {
    enum live_purpose purpose;
    const char *steps, *doc, *want; /* want "!": refused */
    bool differs;
};

static void
purposes(void **state)
{
    static const char *const ren = "- rename: { in: a, fields: { x: y } }\n";
    static const char *const later = "- rename: { in: a, fields: { x: y } }\n- extract: { from: a, path: l, into: b, "
                                     "refs: parent, parent_ref: a, id: new, count: n }\n";
    static const char *const made = "- set: { in: a, fields: { n: { $toInt: { $ifNull: [$x, none] } } } }\n"
                                    "- unset: { in: a, fields: [x] }\n";
    static const char *const casts = "- unset: { in: a, fields: [x] }\n- cast: { in: a, fields: { y: int } }\n";
    static const char *const sevens = "- set: { in: a, fields: { x: { $cond: [{ $in: [{ $type: $x }, ['null', missing]]"
                                      " }, 7, { $toInt: $x }] } } }\n";
    static const char *const inner = "- rename: { in: a, fields: { x: o.y, l.p: l.q } }\n";
    static const char *const inner_later =
        "- rename: { in: a, fields: { x: y } }\n- index: { in: b, create: [{ key: { q: 1 } }] }\n"
        "- set: { in: a, fields: { o.n: 1, l.n: 1 } }\n";
    static const struct purpose_case k[] = {
        {LIVE_FOR_EXPAND, inner, "{'_id':1,'x':7,'l':[{'p':1},2,{'z':3},{'z':0,'p':null}],'z':1}",
         "{'_id':1,'x':7,'l':[{'p':1,'q':1},2,{'z':3},{'z':0,'p':null,'q':null}],'z':1,'o':{'y':7}}", false},
        {LIVE_FOR_EXPAND, inner, "{'_id':1,'x':7,'o':{'w':1,'y':2},'l':[{'q':5},{'p':4,'q':[5]}]}",
         "{'_id':1,'x':7,'o':{'w':1,'y':7},'l':[{},{'p':4,'q':4}]}", false}, /* what is there is stale */
        {LIVE_FOR_EXPAND, inner, "{'_id':1,'o':{'y':2},'l':{'p':4,'q':5}}", "{'_id':1,'l':{'p':4,'q':4}}", false},
        {LIVE_FOR_EXPAND, inner, "{'_id':1,'x':7,'o':[{'w':1}]}", "!", false}, /* offline, too */
        {LIVE_FOR_CONTRACT, inner, "{'_id':1,'x':7,'o':{'y':7},'l':[{'p':1,'q':1}],'z':1}",
         "{'_id':1,'o':{'y':7},'l':[{'q':1}],'z':1}", false},
        {LIVE_FOR_CONTRACT, inner, "{'_id':1,'x':7,'l':[{'p':1,'q':1}],'z':1,'o':{'y':7}}",
         "{'_id':1,'l':[{'q':1}],'z':1,'o':{'y':7}}", false},
        {LIVE_FOR_CONTRACT, inner, "{'_id':1,'l':[{'q':1}],'z':1,'o':{'y':7}}",
         "{'_id':1,'l':[{'q':1}],'z':1,'o':{'y':7}}", false}, /* done already */
        {LIVE_FOR_CONTRACT, inner, "{'_id':1,'l':[{'p':1,'q':2}]}", "{'_id':1,'l':[{'p':1,'q':2}]}", true},
        {LIVE_FOR_CONTRACT, inner, "{'_id':1,'l':[{'p':1,'q':1},{'p':1}]}", "{'_id':1,'l':[{'p':1,'q':1},{'p':1}]}",
         true},
        {LIVE_FOR_CONTRACT, inner_later, "{'_id':1,'x':7,'l':[{'n':1},{'k':1,'n':1}],'y':7,'o':{'n':1}}",
         "{'_id':1,'y':7,'l':[{'n':1},{'k':1,'n':1}],'o':{'n':1}}", false},
        {LIVE_FOR_CONTRACT, made, "{'_id':1,'x':'5','n':5}", "{'_id':1,'n':5}", false},
        {LIVE_FOR_CONTRACT, made, "{'_id':1,'n':5}", "{'_id':1,'n':5}", false}, /* what it was made of is gone */
        {LIVE_FOR_CONTRACT, made, "{'_id':1,'x':'no'}", "!", false},
        {LIVE_FOR_CONTRACT, made, "{'_id':1}", "!", false},
        {LIVE_FOR_CONTRACT, casts, "{'_id':1,'x':1,'y':'no'}", "!", false},
        {LIVE_FOR_CONTRACT, casts, "{'_id':1,'y':'no'}", "!", false},
        {LIVE_FOR_CONTRACT, sevens, "{'_id':1,'x':null}", "{'_id':1,'x':7}", false},
        {LIVE_FOR_CONTRACT, sevens, "{'_id':1,'x':{'$undefined':true}}", "!", false}, /* null, and then 7 */
        {LIVE_FOR_DIRECT, sevens, "{'_id':1,'x':{'$undefined':true}}", "!", false},
        {LIVE_FOR_CONTRACT, ren, "{'_id':1,'x':[7],'z':1,'y':[7]}", "{'_id':1,'y':[7],'z':1}", false},
        {LIVE_FOR_CONTRACT, ren, "{'_id':1,'y':[7],'z':1}", "{'_id':1,'y':[7],'z':1}", false}, /* done already */
        {LIVE_FOR_CONTRACT, ren, "{'_id':1,'x':1,'z':1,'y':2}", "{'_id':1,'x':1,'z':1,'y':2}", true},
        {LIVE_FOR_CONTRACT, ren, "{'_id':1,'x':1,'z':1}", "{'_id':1,'x':1,'z':1}", true}, /* not expanded yet */
        {LIVE_FOR_CONTRACT, ren, "{'_id':1,'z':1}", "{'_id':1,'z':1}", false},
        {LIVE_FOR_CONTRACT, later, "{'_id':1,'x':7,'n':3,'y':7,'z':1}", "{'_id':1,'y':7,'z':1,'n':3}", false},
        {LIVE_FOR_CONTRACT, "- unset: { in: a, fields: [x] }\n", "{'_id':1,'x':1,'z':1}", "{'_id':1,'z':1}", false},
        {LIVE_FOR_DIRECT, "- unset: { in: a, fields: [x] }\n", "{'_id':1,'x':1,'z':1}", "{'_id':1,'z':1}", false},
        {LIVE_FOR_DIRECT, "- set: { in: a, fields: { c: { $add: [$x, 1] } } }\n", "{'c':0,'_id':1,'x':1}",
         "{'_id':1,'c':2,'x':1}", false}, /* as servers keep it */
        {LIVE_FOR_DIRECT, "- set: { in: a, fields: { c: { $add: [$x, 1] } } }\n", "{'_id':1,'x':'s'}", "!",
         false},
        {LIVE_FOR_EXPAND, ren, "{'_id':1,'x':1,'z':2,'z':3}", "!", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof k / sizeof *k; i++) {
        struct bed b;
        struct live_units *u;
        struct live_unit unit;
        struct docs doc, want;
        bed_open(&b, k[i].steps, NULL, 0);
        docs_make(&doc, k[i].doc);
        docs_make(&want, *k[i].want == '!' ? k[i].doc : k[i].want);
        assert_int_equal(live_units_open(&b.job, 0, k[i].purpose, &u, &b.e), MRS_OK);
        assert_int_equal(live_units_load(u, 0, doc.d, 1, &unit, &b.e), MRS_OK);
        same_bytes(unit.result, want.d[0], k[i].doc);
        assert_int_equal(unit.refused, *k[i].want == '!');
        assert_int_equal(unit.differs, k[i].differs);
        live_units_close(u);
        free(doc.p);
        free(want.p);
        bed_close(&b);
    }
}

/* What a mongod would not insert as it was derived is refused; deeper, under `_id` or in the document itself it
 * stays. */
static void
zero_times(void **state)
{
    static const char *const steps =
        "- extract: { from: posts, path: l, into: made, refs: parent, parent_ref: post }\n";
    static const char *const docs_text =
        "{'_id':1,'l':[{'_id':1,'at':{'$timestamp':{'t':0,'i':0}}}]} {'_id':2,'at':{'$timestamp':{'t':0,'i':0}},'l':[{"
        "'_id':{'$timestamp':{'t':0,'i':0}},'a':{'at':{'$timestamp':{'t':0,'i':0}}}}]} {'_id':3,'l':[{'_id':3,'at':{'"
        "$timestamp':{'t':0,'i':1}}}]}";
    struct bed b;
    struct live_units *u;
    struct live_unit unit[3];
    struct docs docs;
    (void)state;
    bed_open(&b, steps, NULL, 0);
    docs_make(&docs, docs_text);
    assert_int_equal(docs.n, 3);
    assert_int_equal(live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e), MRS_OK);
    assert_int_equal(live_units_load(u, 0, docs.d, 3, unit, &b.e), MRS_OK);
    assert_true(unit[0].refused);
    assert_int_equal(unit[0].n_products, 0);
    assert_int_equal(unit[0].why.code, MRS_E_REFUSED);
    assert_non_null(strstr(unit[0].why.msg, "field at of a document that it makes in " TEST_DB
                                            ".made is Timestamp(0, 0)"));
    for (int i = 1; i < 3; i++) {
        assert_false(unit[i].refused);
        assert_int_equal(unit[i].n_products, 1);
        assert_true(mrs_identical(mrs_doc_get(unit[i].product[0].doc, "post"), mrs_doc_get(docs.d[i], "_id")));
    }
    live_units_close(u);
    free(docs.p);
    bed_close(&b);
}

/* ---- what is read, and how things are found again ---- */
static void
reads(void **state)
{
    struct bed b;
    struct live_units *u;
    size_t n;
    (void)state;
    bed_open(&b, "- set: { in: a, fields: { s: { $add: ['$x.y', $w] } } }\n"
                 "- set: { in: a, fields: { t: $s } }\n", NULL, 0);
    assert_int_equal(live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e), MRS_OK);
    const char *names = live_units_reads(u, &n);
    assert_int_equal(n, sizeof "_id\0x\0w");
    assert_memory_equal(names, "_id\0x\0w", n);
    live_units_close(u);
    bed_close(&b);
    bed_open(&b, "- move: { from: a, into: b }\n", NULL, 0);
    assert_int_equal(live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e), MRS_OK);
    assert_null(live_units_reads(u, &n));
    live_units_close(u);
    bed_close(&b);
}

static void
listings(void **state)
{
    struct bed b;
    struct live_units *u;
    struct docs docs;
    struct mrs_buf out;
    (void)state;
    bed_open(&b, "- extract: { from: a, path: l, into: b, refs: parent, parent_ref: p, id: new }\n", NULL, 0);
    assert_int_equal(live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e), MRS_OK);
    mrs_buf_init(&out, b.mem, SIZE_MAX);
    docs_make(&docs, "{'_id':1} {'_id':null} {'_id':{'$ref':'x'}} {'_id':'k'}");
    assert_int_equal(live_units_listing(u, 1, docs.d, docs.n, &out, &b.e), MRS_OK);
    assert_string_equal(picture((struct mrs_view){out.p, (uint32_t)out.n}),
                        "{\"$or\":[{\"p\":{\"$in\":[1,\"k\"]}},{\"p\":{\"$type\":10}},{\"p\":{\"$eq\":{"
                        "\"$ref\":\"x\"}}}]}");
    free(docs.p);
    mrs_buf_reset(&out);
    docs_make(&docs, "{'_id':9,'p':1} {'_id':8} {'_id':7,'p':[3]}");
    assert_int_equal(live_units_owners(u, 1, docs.d, docs.n, &out, &b.e), MRS_OK);
    assert_string_equal(picture((struct mrs_view){out.p, (uint32_t)out.n}), "{\"_id\":{\"$in\":[1]}}");
    assert_int_equal(live_units_listing(u, 0, docs.d, docs.n, &out, &b.e), MRS_END);
    free(docs.p);
    mrs_buf_clear(&out);
    live_units_close(u);
    bed_close(&b);
}

/* ---- joins ---- */
#define POSTS "{'_id':1,'k':1} {'_id':2,'k':[1,2]} {'_id':3} {'_id':4,'k':null} {'_id':5,'k':{'a':1}} " \
              "{'_id':6,'k':9} " \
              "{'_id':7,'k':{'$regularExpression':{'pattern':'x','options':''}}} {'_id':8,'k':'s'} " \
              "{'_id':9,'k':{'$dollar':1}}"
#define CHILDREN "{'_id':1,'p':1,'n':3,'s':'b'} {'_id':2,'p':{'$numberDouble':'1.0'},'n':1,'s':'a'} " \
                 "{'_id':3,'p':[1,2],'n':2,'s':'a'} {'_id':4,'n':0} {'_id':5,'p':null,'n':5} " \
                 "{'_id':6,'p':{'a':1},'n':6} " \
                 "{'_id':7,'q':7,'n':7} " \
                 "{'_id':8,'p':{'$regularExpression':{'pattern':'x','options':''}}} {'_id':'z','p':2,'n':1,'s':'a'} " \
                 "{'_id':{'$oid':'0123456789abcdef01234567'},'p':'s','n':1,'w':true} {'_id':true,'p':{'$dollar':1}}"
#define EMBED "- embed: { from: c, into: p, match: { p: k }, keep: all, "

static const struct unit_case joins[] = {
    {EMBED "as: cs }\n", COLLS("c", CHILDREN, "p", POSTS), false, false},
    {EMBED "as: cs, nulls: match, count: n }\n", COLLS("c", CHILDREN, "p", POSTS), false, false},
    {EMBED "as: cs, sort: { n: -1 }, limit: 2, count: all }\n", COLLS("c", CHILDREN, "p", POSTS), false, false},
    {EMBED "as: cs, sort: { s: 1, n: 1 }, drop: [p] }\n", COLLS("c", CHILDREN, "p", POSTS), false, false},
    {EMBED "as: cs, fields: { m: { $add: [$n, 1] } }, where: { n: { $gt: 1 } } }\n",
     COLLS("c", CHILDREN, "p", POSTS), false, false},
    {EMBED "as: cs, fields: { m: { $add: [$s, 1] } } }\n", COLLS("c", CHILDREN, "p", POSTS), false, false},
    {"- embed: { from: c, into: p, match: { _id: ref }, keep: all, as: one, one: true }\n",
     COLLS("c", "{'_id':1,'n':1} {'_id':2,'n':2}", "p", "{'_id':1,'ref':2} {'_id':2,'ref':7} {'_id':3}"), false, false},
    {"- embed: { from: c, into: p, match: { a: x, b: y }, keep: all, as: cs }\n",
     COLLS("c", "{'_id':1,'a':1,'b':1} {'_id':2,'a':1,'b':2} {'_id':3,'a':[1,2],'b':[2,3]} {'_id':4,'a':1}", "p",
           "{'_id':1,'x':1,'y':2} {'_id':2,'x':2,'y':3} {'_id':3,'x':1} {'_id':4,'x':[1,2],'y':[1,3]}"),
     false, false},
    {"- embed: { from: c, into: p, match: { _id: refs }, keep: all, as: cs }\n",
     COLLS("c", "{'_id':1} {'_id':2,'v':2} {'_id':3} {'_id':'a'}", "p",
           "{'_id':1,'refs':[3,1,3,'a']} {'_id':2,'refs':[]} {'_id':3,'refs':2} {'_id':4,'refs':[9,2,null]} {'_id':5}"),
     false, false},
    {"- embed: { from: c, into: p, match: { _id: l.ref }, keep: all, as: cs, sort: { v: -1 } }\n",
     COLLS("c", "{'_id':1,'v':1} {'_id':2,'v':2} {'_id':3,'v':2}", "p",
           "{'_id':1,'l':[{'ref':3},{'ref':1},{'ref':2}]} {'_id':2,'l':[]} {'_id':3,'l':{'ref':2}}"),
     false, false},
    {"- copy: { from: c, into: p, match: { _id: ref }, at: root, fields: { cn: $name, cc: $city } }\n",
     COLLS("c", "{'_id':1,'name':'a','city':'x'} {'_id':2,'name':'b'}", "p",
           "{'_id':1,'ref':1} {'_id':2,'ref':2} {'_id':3,'ref':5} {'_id':4} {'_id':5,'ref':null}"),
     false, false},
    {"- copy: { from: c, into: p, match: { _id: ref }, at: root, fields: { cn: $name }, replace: true }\n",
     COLLS("c", "{'_id':1,'name':'a'} {'_id':2,'name':{'n':1}}", "p",
           "{'_id':1,'ref':1,'z':1} {'_id':2,'cn':'old','ref':2} {'_id':3,'cn':3,'ref':5} {'_id':4}"),
     false, true},
    {"- copy: { from: c, into: p, match: { _id: ref }, at: root, fields: { cn: $name }, refs: drop }\n",
     COLLS("c", "{'_id':1,'name':'a'} {'_id':2,'name':{'n':1}}", "p",
           "{'_id':1,'ref':1,'z':1} {'_id':2,'ref':2} {'_id':4}"),
     false, false},
    {"- copy: { from: c, into: p, match: { parts: _id }, at: root, fields: { cn: $name } }\n",
     COLLS("c", "{'_id':1,'parts':[1,2],'name':'a'} {'_id':2,'parts':[4]}", "p",
           "{'_id':1} {'_id':2,'x':1} {'_id':3} {'_id':4}"),
     false, false},
    {"- embed: { from: c, into: p, match: [{ from: { $toLower: $k }, into: { $toLower: $x } }], keep: all, as: cs }\n",
     COLLS("c", "{'_id':1,'k':'A'} {'_id':2,'k':'b'} {'_id':3,'k':'a'}", "p", "{'_id':1,'x':'a'} {'_id':2,'x':'C'}"),
     true, false},
};

static void
steps_that_join(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) {
        check_case(&joins[i]);
    }
}

static void
scan_is_asked_for(void **state)
{
    struct bed b;
    struct live_units *u;
    (void)state;
    bed_open(&b, joins[sizeof joins / sizeof *joins - 1].steps, NULL, 0);
    assert_int_equal(live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e), MRS_FAIL);
    assert_non_null(strstr(b.e.msg, "--allow-scan"));
    assert_null(u);
    bed_close(&b);
}

static uint64_t
count_refused(struct bed *b)
{
    struct mrs_coll c = {"mongoreshape", "refused", "mongoreshape.refused"};
    struct live_cursor *cur;
    struct mrs_view filter, d;
    struct live_fault f;
    uint64_t n = 0;
    assert_int_equal(live_doc_in(&b->arena, &filter, &b->e, "{_id.run: 'unit-test'}"), MRS_OK);
    assert_int_equal(live_find(b->job.link, &c, filter, mrs_empty_doc(), 0, &cur, &b->e), MRS_OK);
    while (live_cursor_next(cur, &d, &f, &b->e) == MRS_OK) {
        assert_string_equal(mrs_val_text(live_at(d, "_id.ns"), &(uint32_t){0}), TEST_DB ".c");
        n++;
    }
    live_cursor_close(cur);
    return n;
}

/* Documents of from without a key, or without a sort key where somebody wants them, are recorded and take no part. */
static void
refused_from(void **state)
{
    struct bed b;
    struct live_run run;
    struct live_units *u;
    struct live_unit units[2];
    struct docs c, p;
    (void)state;
    bed_open(&b, joins[sizeof joins / sizeof *joins - 1].steps, server, 0);
    memset(&run, 0, sizeof run);
    strcpy(run.id, "unit-test");
    strcpy(run.owner, "unit-test");
    run.state_refused = (struct mrs_coll){"mongoreshape", "refused", "mongoreshape.refused"};
    b.job.run = &run;
    b.job.opts.state_db = "mongoreshape";
    b.job.opts.allow_scan = true;
    b.job.opts.max_refused = 5;
    docs_make(&c, "{'_id':1,'k':'A'} {'_id':2,'k':{'no':1}} {'_id':3,'k':'a'}");
    docs_make(&p, "{'_id':1,'x':'a'} {'_id':2,'x':{'no':1}}");
    bed_fill(&b, "c", &c);
    uint64_t before = count_refused(&b);
    assert_int_equal(live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e), MRS_OK);
    for (int turn = 0; turn < 2; turn++) { /* again is the same */
        if (live_units_load(u, 0, p.d, 2, units, &b.e) != MRS_OK) {
            fail_msg("%s", b.e.msg);
        }
        assert_string_equal(picture(units[0].result), "{\"_id\":1,\"x\":\"a\",\"cs\":[{\"_id\":1,\"k\":\"A\"},{"
                                                    "\"_id\":3,\"k\":\"a\"}]}");
        assert_true(units[1].refused);
        assert_true(count_refused(&b) == 1 || before == 1);
    }
    b.job.opts.max_refused = 0;
    assert_int_equal(live_refused_drop(&b.job, 1, TEST_DB ".c", mrs_doc_get(c.d[1], "_id"), &b.e), MRS_OK);
    assert_int_equal(count_refused(&b), 0);
    assert_int_equal(live_units_load(u, 0, p.d, 2, units, &b.e), MRS_FAIL);
    assert_int_equal(b.e.code, MRS_E_TOO_MANY);
    mrs_err_clear(&b.e);
    live_refused_drop(&b.job, 1, TEST_DB ".c", mrs_doc_get(c.d[1], "_id"), &b.e);
    live_units_close(u);
    free(c.p);
    free(p.p);
    bed_close(&b);
}

/* A unit read long ago is derived as it was, for its guard to miss. The mutant takes it as it is now, with sources that
 * were read for what it was: a guard would let that pass. */
static void
sources_first_is_seen(void **state)
{
    struct bed b;
    struct live_units *u;
    struct live_unit unit;
    struct docs c, now, then;
    (void)state;
    bed_open(&b, EMBED "as: cs }\n", server, 0);
    docs_make(&c, "{'_id':5,'p':1} {'_id':6,'p':2}");
    docs_make(&now, "{'_id':1,'k':2}");
    docs_make(&then, "{'_id':1,'k':1}");
    bed_fill(&b, "c", &c);
    bed_fill(&b, "p", &now);
    assert_int_equal(live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e), MRS_OK);
    assert_int_equal(live_units_load(u, 0, then.d, 1, &unit, &b.e), MRS_OK);
    assert_string_equal(picture(unit.result), "{\"_id\":1,\"k\":1,\"cs\":[{\"_id\":5,\"p\":1}]}");
    setenv("MRS_MUTANT", "sources-before-target", 1);
    assert_int_equal(live_units_load(u, 0, then.d, 1, &unit, &b.e), MRS_OK);
    unsetenv("MRS_MUTANT");
    assert_string_equal(picture(unit.doc), "{\"_id\":1,\"k\":2}");
    assert_string_equal(picture(unit.result), "{\"_id\":1,\"k\":2,\"cs\":[]}");
    live_units_close(u);
    free(c.p);
    free(now.p);
    free(then.p);
    bed_close(&b);
}

/* A key that the values at the path do not explain: what would be read for it is not known, so the unit is refused. */
static void
keys_not_asked_for(void **state)
{
    static const struct mrs_pair_path wrong = {"p", "other"};
    struct bed b;
    struct live_units *u;
    struct live_unit units[3];
    struct docs c, p;
    (void)state;
    bed_open(&b, EMBED "as: cs }\n", server, 0);
    docs_make(&c, "{'_id':5,'p':1} {'_id':6,'p':2}");
    docs_make(&p, "{'_id':1,'k':2} {'_id':2,'k':1,'other':1} {'_id':3,'other':2}");
    bed_fill(&b, "c", &c);
    b.plan->steps[0].desc.pairs = &wrong;
    assert_int_equal(live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e), MRS_OK);
    assert_int_equal(live_units_load(u, 0, p.d, 2, units, &b.e), MRS_OK);
    assert_true(units[0].refused);
    assert_string_equal(units[0].why.where, "match");
    assert_string_equal(picture(units[1].result), "{\"_id\":2,\"k\":1,\"other\":1,\"cs\":[{\"_id\":5,\"p\":1}]}");
    assert_int_equal(live_units_load(u, 0, p.d, 3, units, &b.e), MRS_OK);
    assert_false(units[0].refused); /* another unit asked for it */
    assert_string_equal(picture(units[2].result), "{\"_id\":3,\"other\":2,\"cs\":[]}");
    live_units_close(u);
    free(c.p);
    free(p.p);
    bed_close(&b);
}

/* Many references, and children whose bytes are more than one load may keep. */
static void
large_loads(void **state)
{
    enum { KIB = 1024, CHILD = 900 * KIB, N = 80 };
    struct bed b;
    struct live_units *u;
    struct live_unit units[N];
    struct docs none = {.n = 0}, c = {.n = 0}, p = {.n = 0};
    struct mrs_buf room;
    uint8_t *text = malloc(CHILD);
    (void)state;
    memset(text, 'x', CHILD);
    bed_open(&b, EMBED "as: cs }\n", server, 0);
    mrs_buf_init(&room, b.mem, SIZE_MAX);
    for (int32_t i = 0; i < N; i++) {
        struct mrs_view d;
        mrs_buf_reset(&room);
        assert_int_equal(live_doc(&room, &d, &b.e, "{_id: %i, k: 1, p: 0}", (int64_t)i), MRS_OK);
        p.d[p.n++] = (struct mrs_view){mrs_arena_copy(&b.arena, d.p, d.n), d.n};
    }
    bed_fill(&b, "p", &p);
    bed_fill(&b, "c", &none);
    for (int32_t i = 0; i < N; i++) {
        struct mrs_build n;
        mrs_buf_reset(&room);
        mrs_build_init(&n, &room);
        mrs_build_i32(&n, "_id", i);
        mrs_build_i32(&n, "p", i % 8 ? 2 : 1);
        mrs_build_text(&n, "t", (const char *)text, CHILD);
        assert_int_equal(mrs_build_finish(&n, &c.d[0], &b.e), MRS_OK);
        struct mrs_coll coll = bed_coll("c");
        struct live_op op = {.kind = LIVE_INSERT, .doc = c.d[0]};
        struct live_bulk_result r;
        struct live_fault f;
        assert_int_equal(live_bulk(b.job.link, &coll, &op, 1, 0, false, &b.arena, &r, &f, &b.e), MRS_OK);
    }
    assert_int_equal(live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e), MRS_OK);
    assert_int_equal(live_units_load(u, 0, p.d, N, units, &b.e), MRS_FAIL); /* 80 times 10 children */
    assert_int_equal(b.e.code, MRS_E_LIMIT);
    mrs_err_clear(&b.e);
    assert_int_equal(live_units_load(u, 0, p.d, 5, units, &b.e), MRS_OK);
    assert_true(units[4].result.n > 10u * CHILD && !units[4].refused);
    b.job.opts.memory = 2u << 20; /* a unit that is too much by itself is refused */
    assert_int_equal(live_units_load(u, 0, p.d, 1, units, &b.e), MRS_OK);
    assert_true(units[0].refused && units[0].why.code == MRS_E_LIMIT && strstr(units[0].why.msg, "--memory"));
    same_bytes(units[0].result, p.d[0], "refused");
    b.job.opts.memory = 64u << 20;
    assert_int_equal(live_units_load(u, 0, p.d, 1, units, &b.e), MRS_OK);
    assert_false(units[0].refused);
    live_units_close(u);
    bed_fill(&b, "c", &none);
    mrs_buf_clear(&room);
    free(text);
    bed_close(&b);
}

/* Eight MiB of values are asked for by more than one query; each document counts once. */
static void
long_lists(void **state)
{
    enum { N = 20, TEXT = 500 * 1024 };
    struct bed b;
    struct live_units *u;
    struct live_unit units[N];
    struct docs c = {.n = 0}, p = {.n = 0};
    char *text = malloc(TEXT);
    (void)state;
    memset(text, 'x', TEXT);
    bed_open(&b, EMBED "as: cs, fields: [n] }\n", server, 0);
    for (uint32_t i = 0; i < N; i++) {
        struct mrs_buf room;
        struct mrs_build n;
        struct mrs_view d;
        text[0] = (char)('a' + i);
        mrs_buf_init(&room, b.mem, SIZE_MAX);
        mrs_build_init(&n, &room);
        mrs_build_i32(&n, "_id", (int32_t)i);
        mrs_build_text(&n, "k", text, TEXT);
        assert_int_equal(mrs_build_finish(&n, &d, &b.e), MRS_OK);
        p.d[p.n++] = (struct mrs_view){mrs_arena_copy(&b.arena, d.p, d.n), d.n};
        mrs_buf_reset(&room);
        mrs_build_init(&n, &room);
        mrs_build_i32(&n, "_id", (int32_t)i);
        mrs_build_open(&n, "p", 1, MRS_ARRAY);
        mrs_build_item(&n, mrs_doc_get(p.d[i], "k"));
        mrs_build_item(&n, mrs_doc_get(p.d[0], "k"));
        mrs_build_close(&n);
        assert_int_equal(mrs_build_finish(&n, &d, &b.e), MRS_OK);
        c.d[c.n++] = (struct mrs_view){mrs_arena_copy(&b.arena, d.p, d.n), d.n};
        mrs_buf_clear(&room);
    }
    bed_fill(&b, "c", &c);
    assert_int_equal(live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e), MRS_OK);
    if (live_units_load(u, 0, p.d, N, units, &b.e) != MRS_OK) {
        fail_msg("%s", b.e.msg);
    }
    for (uint32_t i = 0; i < N; i++) {
        struct mrs_val cs = mrs_doc_get(units[i].result, "cs");
        uint32_t n = 0;
        struct mrs_walk w;
        struct mrs_elem e;
        assert_int_equal(cs.type, MRS_ARRAY);
        mrs_walk_init(&w, mrs_val_view(cs));
        while (mrs_walk_next(&w, &e) == 1) {
            assert_int_equal(mrs_val_i32(mrs_doc_get(mrs_val_view(e.v), "_id")), i ? i : n);
            n++;
        }
        assert_int_equal(n, i ? 1 : N);
    }
    live_units_close(u);
    free(text);
    bed_close(&b);
}

/* ---- memory ---- */
static bool
torture_one(const struct unit_case *k, uint64_t fail_at)
{
    struct bed b;
    struct live_units *u = NULL;
    struct live_unit units[512];
    struct docs docs;
    struct mrs_buf out;
    int side;
    bed_open(&b, k->steps, server, fail_at);
    b.job.opts.allow_scan = true;
    enum mrs_status s = live_units_open(&b.job, 0, LIVE_FOR_EXPAND, &u, &b.e);
    mrs_buf_init(&out, b.own, SIZE_MAX);
    for (uint32_t m = 0; s == MRS_OK && m < live_units_mains(u); m++) {
        docs_make(&docs, text_of(k, live_units_main(u, m, &side)->coll));
        s = live_units_load(u, m, docs.d, docs.n, units, &b.e);
        enum mrs_status l = s == MRS_OK ? live_units_listing(u, 1, docs.d, docs.n, &out, &b.e) : s;
        s = l == MRS_END ? s : l;
        free(docs.p);
    }
    if (s != MRS_OK) {
        assert_int_equal(s, MRS_DEAD);
        assert_int_equal(b.e.code, MRS_E_MEMORY);
    }
    mrs_buf_clear(&out);
    live_units_close(u);
    bed_close(&b);
    return s == MRS_OK;
}

static void
torture(const struct unit_case *k)
{
    uint64_t at = 1;
    while (!torture_one(k, at)) {
        assert_true(++at < 1000);
    }
    assert_true(at > 5);
}

static void
no_memory(void **state)
{
    const char *kept = server;
    (void)state;
    server = NULL;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        torture(&alone[i]);
    }
    server = kept;
}

static void
no_memory_for_joins(void **state)
{
    (void)state;
    for (size_t i = 1; i < 4; i++) {
        check_case(&joins[i]); /* fills the server */
        torture(&joins[i]);
    }
}

int
main(void)
{
    const struct CMUnitTest pure[] = {
        cmocka_unit_test(steps_alone), cmocka_unit_test(purposes), cmocka_unit_test(zero_times),
        cmocka_unit_test(reads),       cmocka_unit_test(listings), cmocka_unit_test(scan_is_asked_for),
        cmocka_unit_test(no_memory),
    };
    const struct CMUnitTest served[] = {
        cmocka_unit_test(steps_that_join),
        cmocka_unit_test(refused_from),
        cmocka_unit_test(keys_not_asked_for),
        cmocka_unit_test(sources_first_is_seen),
        cmocka_unit_test(large_loads),
        cmocka_unit_test(long_lists),
        cmocka_unit_test(no_memory_for_joins),
    };
    int failed = cmocka_run_group_tests(pure, make_top, drop_top);
    if (failed) {
        return failed;
    }
    server = live_test_need_server("t_unit");
    live_link_setup();
    failed = cmocka_run_group_tests(served, make_top, drop_top);
    live_link_teardown();
    return failed;
}

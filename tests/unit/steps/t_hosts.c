/* SPDX-License-Identifier: Apache-2.0 */
/* t_hosts.c - a step's meaning does not depend on who moves the documents: the same cases under three hosts. */
#include "host.h"
#include "mongoreshape/value.h"

#define POSTS "'posts':[{'_id':1,'t':'a'},{'_id':2,'t':'b','n':5},{'_id':3},{'_id':4,'cs':1},{'_id':5}]"
static const struct host_case cases[] = {
    {"set", "{'in':'posts','fields':{'t':{'$toUpper':'$t'},'v':2}}", "{" POSTS "}", NULL, NULL},
    {"set", "{'in':'posts','where':{'n':5},'fields':{'m':{'$add':['$n',1]}}}", "{" POSTS "}", NULL, NULL},
    {"extract", "{'from':'posts','path':'cs','into':'comments','parent_ref':'post','position':'i','count':'n'}",
     "{'comments':[{'_id':90}],'posts':[{'_id':1,'cs':[{'a':1},{'_id':91,'a':2},7]},{'_id':2,'cs':[]},{'_id':3,"
     "'n':0},{'_id':4,'cs':{'b':1}},{'_id':5}]}", NULL, NULL},
    {"extract", "{'from':'posts','path':'a.cs','into':'comments','refs':'both','parent_ref':'post',"
     "'leave':{'limit':1,'sort':{'d':-1}},'child_refs':'a.ids'}",
     "{'posts':[{'_id':1,'a':[{'cs':[{'d':1},{'d':2}]},{'cs':[{'d':3}]},{}]},{'_id':2,'a':{'cs':{'d':1}}},{'_id':3,"
     "'a':5}]}", NULL, NULL},
    {"extract", "{'from':'posts','path':'cs','into':'pages','pages':{'size':2,'ref':'post','number':'n',"
     "'items':'cs','flag':'more'}}",
     "{'posts':[{'_id':1,'cs':[1,2,3,4,5]},{'_id':2,'cs':[1]},{'_id':3},{'_id':4,'more':1,'cs':[2]}]}", NULL, NULL},
    {"embed", "{'from':'cs','into':'posts','match':{'p':'_id'},'as':'cs','drop':['p'],'orphans':{'into':'lost'}}",
     "{" POSTS ",'cs':[{'_id':1,'p':1},{'_id':2,'p':[2,3]},{'_id':3,'p':3},{'_id':4,'p':4},{'_id':5,'p':9},{'_id':6,"
     "'p':1}]}", NULL, NULL},
    {"embed", "{'from':'cs','into':'posts','match':{'p':'_id'},'as':'cs','sort':{'d':-1},'overflow':{'into':'more',"
     "'size':1,'ref':'post','number':'n','items':'cs','flag':'has'},'count':'k','keep':'none','orphans':'drop',"
     "'replace':true}",
     "{" POSTS ",'cs':[{'_id':1,'p':1,'d':1},{'_id':2,'p':1,'d':2},{'_id':3,'p':1,'d':3},{'_id':4,'p':4},{'_id':5,"
     "'p':9}]}", NULL, NULL},
    {"embed", "{'from':'parts','into':'products','match':{'_id':'parts'},'as':'parts','keep':'none',"
     "'orphans':'keep','dangling':'drop'}",
     "{'parts':[{'_id':1,'n':'a'},{'_id':2,'n':'b'},{'_id':3}],'products':[{'_id':1,'parts':[2,1,8]},{'_id':2,"
     "'parts':[1]},{'_id':3},{'_id':4,'parts':9},{'_id':5,'parts':[]}]}", NULL, NULL},
    {"embed", "{'from':'parts','into':'orders','match':{'_id':'lines.p'},'as':'lines.part','one':true,'keep':'all'}",
     "{'parts':[{'_id':1,'n':'a'},{'_id':2,'n':'b'}],'orders':[{'_id':1,'lines':[{'p':2},{'p':1},{'p':2}]},{'_id':2,"
     "'lines':[{'p':7},4]},{'_id':3,'lines':null}]}", NULL, NULL},
    {"copy", "{'from':'hosts','into':'logs','match':{'_id':'h'},'fields':['ip'],'keep':'none','orphans':'keep',"
     "'dangling':'refuse','refs':'drop'}",
     "{'hosts':[{'_id':1,'ip':'a'},{'_id':2},{'_id':3}],'logs':[{'_id':1,'h':1},{'_id':2,'h':2},{'_id':3,'h':9},"
     "{'_id':4},{'_id':5,'h':1,'ip':0}]}", NULL, NULL},
};

static int
by_id(const void *a, const void *b)
{
    const struct host_doc *x = a, *y = b;
    return mrs_compare(mrs_doc_get((struct mrs_view){x->p, x->n}, "_id"),
                       mrs_doc_get((struct mrs_view){y->p, y->n}, "_id"));
}

/* Documents by _id: the live host knows no other order. */
static void
picture(struct host_db *db, char *out)
{
    char *line[64], *at = db->refused;
    uint32_t n = 0;
    for (uint32_t i = 0; i < db->n; i++) {
        if (db->coll[i].n) {
            qsort(db->coll[i].doc, db->coll[i].n, sizeof *db->coll[i].doc, by_id);
        }
    }
    host_text(db, true, out);
    while (*at && n < 64) {
        line[n++] = at;
        at = strchr(at, '\n') + 1;
        at[-1] = 0;
    }
    for (uint32_t i = 0; i < n; i++) { /* refused records in one order */
        for (uint32_t k = i + 1; k < n; k++) {
            if (strcmp(line[k], line[i]) < 0) {
                char *swap = line[i];
                line[i] = line[k];
                line[k] = swap;
            }
        }
        snprintf(out + strlen(out), BENCH_TEXT - strlen(out), "refused %s\n", line[i]);
    }
}

enum host { PUSH, PULL, LIVE };

static void
run(const struct host_case *k, enum host host, uint32_t writes, bool once, char *out)
{
    struct bench b;
    struct mrs_desc d;
    struct host_db db;
    bench_open(&b, k->step, k->body, 0);
    if (b.status != MRS_OK) {
        fail_msg("%s %s: %s", k->step, k->body, b.errors);
    }
    host_load(&db, k->in);
    assert_int_equal(b.type->describe(b.state, &b.plan, &d, &b.err), MRS_OK);
    if (host == PUSH) {
        assert_int_equal(host_push(&db, &b, &d), MRS_OK);
    } else if (host == PULL) {
        host_pull(&db, &b, &d);
    } else {
        host_live(&db, &b, &d, writes, once);
    }
    picture(&db, out);
    host_free(&db);
    assert_int_equal(bench_close(&b), 0);
}

static void
same(const struct host_case *k, const char *want, const char *got, const char *who, uint32_t writes)
{
    if (strcmp(want, got) != 0) {
        fail_msg("%s %s\n of %s\n push\n%s %s (%u)\n%s", k->step, k->body, k->in, want, who, writes, got);
    }
}

static void
test_three_hosts(void **s)
{
    static char push[BENCH_TEXT], other[BENCH_TEXT];
    (void)s;
    for (size_t i = 0; i < BENCH_N(cases); i++) {
        const struct host_case *k = &cases[i];
        run(k, PUSH, 0, false, push);
        assert_non_null(strstr(push, "_id"));
        run(k, PULL, 0, false, other);
        same(k, push, other, "pull", 0);
        run(k, LIVE, 0, false, other);
        same(k, push, other, "live", 0);
        for (uint32_t w = 1; w < 40; w++) { /* stopped at the w-th write, and never again; or at every w-th */
            run(k, LIVE, w, true, other);
            same(k, push, other, "live, stopped once", w);
        }
        for (uint32_t w = 12; w < 15; w++) {
            run(k, LIVE, w, false, other);
            same(k, push, other, "live, stopped again and again", w);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_three_hosts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

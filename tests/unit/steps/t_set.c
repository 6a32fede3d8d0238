/* SPDX-License-Identifier: Apache-2.0 */
/* t_set.c - the step set: every key, policy and corner. */
#include "bench.h"

static const struct bench_case docs[] = {
    /* values, order, places */
    {"set", "{'in':'a','fields':{'x':1}}", 0, "{'_id':1}", "changed *0 {'_id':1,'x':1}"},
    {"set", "{'in':'a','fields':{'x':1}}", 0, "{'_id':1,'x':1}", "stays *0 {'_id':1,'x':1}"},
    {"set", "{'in':'a','fields':{'x':1}}", 0, "={'_id':1,'x':{'$numberDouble':'1.0'}}",
     "changed *0 {'_id':{'$numberInt':'1'},'x':{'$numberInt':'1'}}"},
    {"set", "{'in':'a','fields':{'x':'$y','y':'$x'}}", 0, "{'x':1,'y':2,'z':3}", "changed *0 {'x':2,'y':1,'z':3}"},
    {"set", "{'in':'a','fields':{'n':1,'m':2}}", 0, "{'a':0,'m':9}", "changed *0 {'a':0,'m':2,'n':1}"},
    {"set", "{'in':'a','fields':{'m':2,'n':1}}", 0, "{}", "changed *0 {'m':2,'n':1}"},
    {"set", "{'in':'a','fields':{'x':'$$REMOVE'}}", 0, "{'a':1,'x':2,'b':3}", "changed *0 {'a':1,'b':3}"},
    {"set", "{'in':'a','fields':{'x':'$nope'}}", 0, "{'a':1,'x':2,'b':3}", "changed *0 {'a':1,'b':3}"},
    {"set", "{'in':'a','fields':{'x':'$nope'}}", 0, "{'a':1}", "stays *0 {'a':1}"},
    {"set", "{'in':'a','fields':{'x':null}}", 0, "{'a':1}", "changed *0 {'a':1,'x':null}"},
    {"set", "{'in':'a','fields':{'x':'word'}}", 0, "{}", "changed *0 {'x':'word'}"},
    {"set", "{'in':'a','fields':{'x':{'a':'$b','c':[1,'$d']}}}", 0, "{'b':1}", "changed *0 {'b':1,'x':{'a':1,"
     "'c':[1,null]}}"},
    {"set", "{'in':'a','fields':{'t':'$$NOW'}}", 0, "{}", "changed *0 {'t':{'$date':'2020-01-01T00:00:00Z'}}"},
    {"set", "{'in':'a','fields':{'w':'$$ROOT'}}", 0, "{'a':1}", "changed *0 {'a':1,'w':{'a':1}}"},
    {"set", "{'in':'users','fields':{'first':{'$arrayElemAt':[{'$split':['$name',' ']},0]},'schemaVersion':2}}", 0,
     "{'_id':1,'name':'Ada Byron'}", "changed *0 {'_id':1,'name':'Ada Byron','first':'Ada','schemaVersion':2}"},
    {"set", "{'in':'a','fields':{'a':1,'b':2,'c':3,'d':4,'e':5,'f':6,'g':7,'h':8,'i':9,'j':10,'k':11,'l':12,"
     "'m':13,'n':14,"
            "'o':15,'p':16,'q':17,'r':18,'s':19,'t':20,'u':21,'v':22,'w':23,'x':24,'y':25}}", 0, "{'y':0}",
     "changed *0 {'y':25,'a':1,'b':2,'c':3,'d':4,'e':5,'f':6,'g':7,'h':8,'i':9,'j':10,'k':11,'l':12,'m':13,'n':14,"
     "'o':15,'p':16,'q':17,'r':18,'s':19,'t':20,'u':21,'v':22,'w':23,'x':24}"},
    /* where */
    {"set", "{'in':'a','where':{'v':{'$ne':2}},'fields':{'x':1}}", 0, "{'v':2}", "stays *0 {'v':2}"},
    {"set", "{'in':'a','where':{'v':{'$ne':2}},'fields':{'x':1}}", 0, "{'v':1}", "changed *0 {'v':1,'x':1}"},
    {"set", "{'in':'a','where':{'$expr':{'$eq':[{'$divide':[1,'$v']},1]}},'fields':{'x':1}}", 0, "{'v':0}",
     "refused where: ..."},
    /* errors */
    {"set", "{'in':'a','fields':{'x':{'$divide':[1,'$v']}}}", 0, "{'v':0,'x':7}", "refused fields.x: ..."},
    {"set", "{'in':'a','errors':'keep','fields':{'x':{'$divide':[1,'$v']},'y':1}}", 0, "{'v':0,'x':7}",
     "changed *0 {'v':0,'x':7,'y':1}"},
    {"set", "{'in':'a','errors':'keep','fields':{'x':{'$divide':[1,'$v']}}}", 0, "{'v':0}", "stays *0 {'v':0}"},
    {"set", "{'in':'a','errors':'null','fields':{'x':{'$divide':[1,'$v']}}}", 0, "{'v':0,'x':7}",
     "changed *0 {'v':0,'x':null}"},
    {"set", "{'in':'a','errors':null,'fields':{'x':{'$divide':[1,'$v']}}}", 0, "{'v':0}",
     "changed *0 {'v':0,'x':null}"},
    {"set", "{'in':'a','errors':'drop','fields':{'x':{'$divide':[1,'$v']}}}", 0, "{'v':0,'x':7,'z':1}",
     "changed *0 {'v':0,'z':1}"},
    /* dotted names */
    {"set", "{'in':'a','fields':{'a.b':1}}", 0, "{'a':{'c':0}}", "changed *0 {'a':{'c':0,'b':1}}"},
    {"set", "{'in':'a','fields':{'a.b':1,'a.c':2,'d.e.f':3}}", 0, "{}", "changed *0 {'a':{'b':1,'c':2},"
     "'d':{'e':{'f':3}}}"},
    {"set", "{'in':'a','fields':{'l.b':1}}", 0, "{'l':[{'b':0},{'c':1}]}", "changed *0 {'l':[{'b':1},{'c':1,"
     "'b':1}]}"},
    {"set", "{'in':'a','fields':{'l.b':1}}", 0, "{'l':[]}", "stays *0 {'l':[]}"},
    {"set", "{'in':'a','fields':{'a.b':'$$REMOVE'}}", 0, "{'a':{'b':1,'c':2}}", "changed *0 {'a':{'c':2}}"},
    {"set", "{'in':'a','fields':{'a.b':'$$REMOVE'}}", 0, "{'a':5}", "stays *0 {'a':5}"},
    {"set", "{'in':'a','fields':{'a.b':'$$REMOVE','c':1}}", 0, "{'a':[1,[2]]}", "changed *0 {'a':[1,[2]],'c':1}"},
    {"set", "{'in':'a','fields':{'a.b':1}}", 0, "{'a':5}", "refused fields: a.b cannot be written: ..."},
    {"set", "{'in':'a','fields':{'a.b':1}}", 0, "{'a':null}", "refused fields: ..."},
    {"set", "{'in':'a','fields':{'l.b':1}}", 0, "{'l':[{},5]}", "refused fields: ..."},
    {"set", "{'in':'a','fields':{'l.b':1}}", 0, "{'l':[[{}]]}", "refused fields: ..."},
    {"set", "{'in':'a','errors':'keep','fields':{'l.b':1,'x':2}}", 0, "{'l':[{'b':0},5,{}]}",
     "changed *0 {'l':[{'b':0},5,{}],'x':2}"},
    {"set", "{'in':'a','errors':'null','fields':{'l.b':1}}", 0, "{'l':[{'b':0},5]}", "stays *0 {'l':[{'b':0},5]}"},
    {"set", "{'in':'a','errors':'drop','fields':{'l.b':1,'m.c':2}}", 0, "{'l':[{'b':0},5],'m':{}}",
     "changed *0 {'l':[{'b':0},5],'m':{'c':2}}"},
    {"set", "{'in':'a','errors':'null','fields':{'a.b':{'$divide':[1,'$v']}}}", 0, "{'v':0}",
     "changed *0 {'v':0,'a':{'b':null}}"},
    {"set", "{'in':'a','errors':'keep','fields':{'a.b':{'$divide':[1,'$v']}}}", 0, "{'v':0}", "stays *0 {'v':0}"},
    /* _id */
    {"set", "{'in':'a','fields':{'_id':'$k'}}", 0, "{'_id':1,'k':'x'}", "changed *0 {'_id':'x','k':'x'}"},
    {"set", "{'in':'a','fields':{'_id':'$k'}}", 0, "{'_id':1}", "refused fields: the new _id is missing, ..."},
    {"set", "{'in':'a','fields':{'_id':'$k'}}", 0, "{'v':1}", "refused fields: the new _id is missing, ..."},
    {"set", "{'in':'a','fields':{'_id':'$k','l.z':'$$REMOVE'}}", 0, "{'v':1}",
     "refused fields: the new _id is missing, ..."},
    {"set", "{'in':'a','fields':{'_id.u':'$$REMOVE'}}", 0, "{'v':1}", "changed *0 {'v':1}"},
    {"set", "{'in':'a','fields':{'_id':'$k'}}", 0, "{'_id':1,'k':[1]}", "refused fields: the new _id is array, ..."},
    {"set", "{'in':'a','errors':'drop','fields':{'_id':{'$divide':[1,'$v']}}}", 0, "{'_id':1,'v':0}",
     "refused fields: the new _id is missing, ..."},
    {"set", "{'in':'a','errors':'null','fields':{'_id':{'$divide':[1,'$v']}}}", 0, "{'_id':1,'v':0}",
     "changed *0 {'_id':null,'v':0}"},
    {"set", "{'in':'a','errors':'keep','fields':{'_id':{'$divide':[1,'$v']}}}", 0, "{'_id':1,'v':0}",
     "changed *0 {'_id':1,'v':0}"}, /* it took part: a candidate for its _id */
    {"set", "{'in':'a','fields':{'_id':{'t':'$t','u':'$u'}}}", 0, "{'_id':1,'t':5,'u':6}",
     "changed *0 {'_id':{'t':5,'u':6},'t':5,'u':6}"},
    {"set", "{'in':'a','fields':{'_id.u':'$u'}}", 0, "{'_id':{'a':1},'u':6}", "changed *0 {'_id':{'a':1,'u':6},"
     "'u':6}"},
};

static const struct bench_wrong wrong[] = {
    {"set", "{'in':'a','fields':{'x':{'$toDate':true}}}", "fields/x: $toDate: cannot convert bool to date..."},
    {"set", "{'in':'a','fields':{'x':{'$add':[1,{'$toInt':'q'}]}}}",
     "fields/x: $add[1].$toInt: the text ..."},
    {"set", "{'in':'a','fields':{'x':{'$convert':{'input':'$y','to':'regex'}}}}",
     "fields/x: $convert: nothing converts to regex..."},
    {"set", "{'in':'a','fields':{'x':{'$convert':{'input':'$y','to':'itn','onError':1}}}}",
     "fields/x: $convert: there is no type ..."},
    {"set", "{'in':'a','fields':{'x':{'$replaceAll':{'input':'$y','find':5,'replacement':''}}}}",
     "fields/x: $replaceAll: find must be a string or a regular expression, not int..."},
    {"set", "{'in':'a','fields':{'x':{'$split':['$y',5]}}}",
     "fields/x: $split: argument 2 must be a string or a regular expression, not int..."},
    {"set", "{'in':'a','fields':{'x':{'$in':['$y','abc']}}}",
     "fields/x: $in: argument 2 must be an array, not string..."},
    {"set", "{'in':'a','fields':{'x':{'$dateTrunc':{'date':'$y','unit':'dayz'}}}}",
     "fields/x: $dateTrunc: unit must be one of ..."},
    {"set", "{'in':'a','fields':{}}", "fields: names no field\n"},
    {"set", "{'in':5,'fields':{'x':1}}", "in: must be a text, not int\n"},
    {"set", "{'in':'a','fields':['x']}", "fields: must be a map of name: expression, not array\n"},
    {"set", "{'in':'a','fields':{'a':1,'a.b':2}}", "fields/a.b: ..."},
    {"set", "{'in':'a','fields':{'a..b':1}}", "fields/a..b: ..."},
    {"set", "{'in':'a','fields':{'$a':1}}", "fields/$a: ..."},
    {"set", "{'in':'a','fields':{'x':{'$adc':[1,2]}}}", "fields/x: ..."},
    {"set", "{'in':'a','fields':{'x':{'$divide':[1,0]}}}", "fields/x: ..."},
    {"set", "{'in':'a','fields':{'x':1},'errors':'maybe'}", "errors: `maybe` is none of refuse|keep|null|drop\n"},
    {"set", "{'in':'a','fields':{'x':1},'errors':'drop','conflicts':'first'}", "conflicts: is for a `set` of "
     "`_id` only\n"},
    {"set", "{'in':'a','fields':{'x':1},'where':5}", "where: must be a map, not int\n"},
    {"set", "{'in':'a','fields':{'x':1},'where':{'$foo':1}}", "where: ..."},
    {"set", "{'in':'a','fields':{'x':1},'indexes':'yes'}", "indexes: must be true or false, not string\n"},
    {"set", "{'in':'a/b','fields':{'x':'$$nope'},'errors':1}", "errors: must be a text, not int\nfields/x: ..."},
    {"set", "{'in':'a','fields':{'x':'y','y':2}}", "warn fields/x: 'y' is the text itself; the field is '$y'\n"},
};

static const struct bench_telling tells[] = {
    {"set", "{'in':'users','where':{'v':{'$ne':2}},'fields':{'first':'$name','v':2}}",
     "computes first and v in those documents that `where` takes of shop.users\nside 0 shop.users RCM in\nR0 "
     "v\nR0 name\n"
     "A0 first\nA0 v\nloss: old values of first and v, where there were any\n"},
    {"set", "{'in':'a','fields':{'n':{'$add':['$n',1]}}}",
     "computes n in every document of shop.a\nside 0 shop.a RCM in\nR0 n\nA0 n\nD0 n\nloss: old values of n, "
     "where there were any\n"
     "once: it reads fields that it writes, and no `where` excludes documents that it has written\n"},
    {"set", "{'in':'a','fields':{'n':{'$add':['$n',1]},'v':2},'where':{'v':{'$ne':2}}}",
     "computes n and v in those documents that "
     "`where` takes of shop.a\nside 0 shop.a RCM in\nR0 v\nR0 n\nA0 n\nD0 n\nA0 v\nD0 v\nloss: old values of n "
     "and v, where "
     "there were any\n"},
    {"set", "{'in':'a','fields':{'n':{'$add':['$n',1]},'v':2},'where':{'$and':[{'w':1},{'v':{'$exists':false}}]}}",
     "computes n and v in those documents that `where` takes of shop.a\nside 0 shop.a RCM in\nR0 w\nR0 v\nR0 "
     "n\nA0 n\nD0 n\nA0 v\n"
     "D0 v\nloss: old values of n and v, where there were any\n"},
    {"set", "{'in':'a','fields':{'n':{'$add':['$n',1]},'old':'$$REMOVE'},'where':{'old':{'$exists':true}}}",
     "computes n and old in those documents that `where` takes of shop.a\nside 0 shop.a RCM in\nR0 old\nR0 n\nA0 "
     "n\nD0 n\nD0 old\n"
     "loss: old values of n and old, where there were any\n"},
    {"set", "{'in':'a','fields':{'n':{'$add':['$n',1]},'v':3},'where':{'v':{'$ne':2}}}",
     "computes n and v in those documents that "
     "`where` takes of shop.a\nside 0 shop.a RCM in\nR0 v\nR0 n\nA0 n\nD0 n\nA0 v\nD0 v\nloss: old values of n "
     "and v, where "
     "there were any\nonce: it reads fields that it writes, ..."},
    {"set", "{'in':'a','fields':{'a':'$$ROOT'}}", "computes a in every document of shop.a\nside 0 shop.a RCM "
     "in\nR0 \nA0 a\nD0 a\n"
     "loss: old values of a, where there were any\nonce: ..."},
    {"set", "{'in':'a','fields':{'_id':'$k'}}", "computes _id in every document of shop.a; _id changes, "
     "references to it elsewhere "
     "are not followed\nside 0 shop.a RCM in\nR0 k\nA0 _id\nD0 _id\nloss: old values of _id, where there were "
     "any\nnew ids\n"},
};

static const char *const plain[] = {
    "a", "{'options':{'validator':{'x':{'$gt':1}}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},"
         "{'v':2,'key':{'x':1},'name':'x_1','unique':true},{'v':2,'key':{'y':1},'name':'y_1'}],'uuid':'0123'}", NULL};

static const struct bench_catalog cats[] = {
    {"set", "{'in':'a','fields':{'z':1}}", plain,
     "{'options':{'validator':{'x':{'$gt':1}}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'x':1},"
     "'name':'x_1','unique':true},{'v':2,'key':{'y':1},'name':'y_1'}],'collectionName':'a','type':'collection'}\n"},
    {"set", "{'in':'a','fields':{'x.k':1,'y':'$$REMOVE'}}", plain,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'x':1},'name':'x_1','unique':true}],"
     "'collectionName':'a','type':'collection'}\n"
     "- index x_1 of shop.a is unique on x.k, which gets new values: a restore fails if they clash\n"
     "- index y_1 of shop.a left out: a path it needs is gone: y\n"
     "- the validator of shop.a left out: it may concern x.k\n"},
    {"set", "{'in':'a','indexes':false,'fields':{'y':'$$REMOVE'}}", plain,
     "{'options':{'validator':{'x':{'$gt':1}}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'x':1},"
     "'name':'x_1','unique':true},{'v':2,'key':{'y':1},'name':'y_1'}],'collectionName':'a','type':'collection'}\n"},
    {"set", "{'in':'b','fields':{'x':1}}", plain, "! in: there is no collection shop.b"},
};

static void
documents(void **arg)
{
    (void)arg;
    bench_cases(docs, BENCH_N(docs));
    bench_torture(docs, BENCH_N(docs));
}

BENCH_ROWS(wrong_plans, bench_wrong, wrong)
BENCH_ROWS(descriptions, bench_tells, tells)

static void
catalogues(void **arg)
{
    (void)arg;
    bench_catalogs(cats, BENCH_N(cats));
    bench_catalog_torture(cats, BENCH_N(cats));
}

/* A name twice on the level that is rewritten, more than 16 MiB, too deep. */
static void
refused_results(void **arg)
{
    (void)arg;
    static char got[BENCH_TEXT];
    struct bench b;
    static const uint8_t twice[] = "\x13\0\0\0\x10" "a\0\1\0\0\0\x10" "a\0\2\0\0\0";
    struct mrs_view d = {twice, sizeof twice};
    bench_open(&b, "set", "{'in':'a','fields':{'b':1}}", 0);
    assert_int_equal(bench_push(&b, 0, d, false, got), MRS_SKIP);
    assert_non_null(strstr(got, "twice"));
    assert_int_equal(bench_close(&b), 0);
    bench_open(&b, "set", "{'in':'a','fields':{'a':'$a'}}", 0);
    assert_int_equal(bench_push(&b, 0, d, false, got), MRS_OK);
    assert_int_equal(strncmp(got, "stays", 5), 0);
    assert_int_equal(bench_close(&b), 0);

    struct mrs_view big = {NULL, 9u << 20};
    uint8_t *p = calloc(1, big.n);
    memcpy(p + 4, "\2s\0", 3);
    mrs_put32(p, big.n);
    mrs_put32(p + 7, big.n - 12);
    memset(p + 11, 'x', big.n - 13);
    big.p = p;
    bench_open(&b, "set", "{'in':'a','fields':{'t':'$s'}}", 0);
    assert_int_equal(bench_push(&b, 0, big, false, got), MRS_SKIP);
    assert_int_equal(b.err.code, MRS_E_LIMIT);
    assert_string_equal(b.err.where, "");
    assert_int_equal(bench_close(&b), 0);
    free(p);

    static char deep[4096];
    char *at = deep;
    for (int i = 0; i < 179; i++) {
        at += sprintf(at, "{'a':");
    }
    at += sprintf(at, "1");
    for (int i = 0; i < 179; i++) {
        *at++ = '}';
    }
    *at = 0;
    uint8_t *bytes = bench_doc(deep, &d);
    bench_open(&b, "set", "{'in':'a','fields':{'b':'$$ROOT'}}", 0);
    assert_int_equal(bench_push(&b, 0, d, false, got), MRS_OK);
    assert_int_equal(bench_close(&b), 0);
    bench_open(&b, "set", "{'in':'a','fields':{'b.c':'$$ROOT'}}", 0);
    assert_int_equal(bench_push(&b, 0, d, false, got), MRS_SKIP);
    assert_non_null(strstr(got, "refused fields: the document would be nested 181 deep"));
    assert_int_equal(bench_close(&b), 0);
    free(bytes);
}

/* Documents in a row, of the same names, of others, with names twice: each becomes what it becomes alone. */
static void
rows_of_documents(void **arg)
{
    static const char *const bodies[] = {
        "{'in':'a','fields':{'new':{'$gt':['$n',2]}}}",
        "{'in':'a','fields':{'n':{'$add':['$n',1]},'t':'$$REMOVE','new':'$t'}}",
        "{'in':'a','errors':'keep','fields':{'t':{'$divide':[1,'$n']},'_id':'$_id','n':3}}",
    };
    static const char *const rows[] = {
        "{'_id':1,'n':1,'in':{'a':[1,'x']},'t':'a','b':true}", "{'_id':2,'n':3,'in':{'a':[1,'y']},'t':'bb','b':false}",
        "{'_id':3,'n':0,'in':{'b':5},'t':'ccc','b':true}",     "{'_id':3,'t':'ccc','in':{'b':5},'n':0,'b':true}",
        "{'_id':4,'n':3,'in':{},'t':'','b':true}",             "{'_id':4,'n':3,'in':{},'t':'','b':true,'new':7}",
        "{'_id':5,'in':{'a':[2]},'t':'bb','b':true}",          "{'_id':5,'in':{'a':[2]},'t':'bbb','b':true}",
        "{'_id':5,'in':{'a':[2]},'t':'bbbb','b':true}",        "{'_id':6,'n':9,'in':{'a':[1,'x']},'t':'a','b':true}",
        "{'n':1}", "{'n':2}", "{'n':3}", "{}", "{'n':3,'_id':8}",
    };
    static char got[BENCH_TEXT], want[BENCH_TEXT];
    (void)arg;
    for (size_t k = 0; k < BENCH_N(bodies); k++) {
        struct mrs_layout layout = {0};
        struct bench row;
        bench_open(&row, "set", bodies[k], 0);
        row.layout = &layout;
        for (uint32_t i = 0; i < 4000; i++) {
            struct bench alone;
            struct mrs_view d;
            size_t at = i < 1000 ? i / 7 : (i * 2654435761u) >> 9; /* rows of a few, then any */
            uint8_t *bytes = bench_doc(rows[at % BENCH_N(rows)], &d);
            uint8_t *n = i / 7 % 5 ? NULL : memchr(bytes + 4, 'n', d.n - 4);
            if (n && n[1] == 0) { /* a name twice, or another one as long */
                *n = i / 35 % 3 ? 't' : 'm';
            }
            bench_open(&alone, "set", bodies[k], 0);
            enum mrs_status s = bench_push(&alone, 0, d, true, want);
            assert_int_equal(bench_push(&row, 0, d, true, got), s);
            assert_string_equal(got, want);
            assert_int_equal(bench_close(&alone), 0);
            free(bytes);
        }
        assert_int_equal(bench_close(&row), 0);
    }
}

/* Once its buffers have grown, a simple set allocates nothing for a document. */
static void
allocates_nothing(void **arg)
{
    (void)arg;
    static char got[BENCH_TEXT];
    struct bench b;
    struct mrs_view d;
    uint8_t *bytes = bench_doc("{'_id':1,'name':'Ada','n':5,'tags':['a','b']}", &d);
    bench_open(&b, "set", "{'in':'a','fields':{'n':{'$add':['$n',1]},'v':2}}", 0);
    for (int i = 0; i < 3; i++) {
        bench_push(&b, 0, d, false, got);
    }
    uint64_t before = mrs_mem_count(b.mem);
    for (int i = 0; i < 100; i++) {
        bench_push(&b, 0, d, false, got);
    }
    assert_int_equal(mrs_mem_count(b.mem), before);
    assert_int_equal(bench_close(&b), 0);
    free(bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents),       cmocka_unit_test(wrong_plans),       cmocka_unit_test(descriptions),
        cmocka_unit_test(catalogues),      cmocka_unit_test(refused_results), cmocka_unit_test(allocates_nothing),
        cmocka_unit_test(rows_of_documents),
    };
    return cmocka_run_group_tests_name("steps: set", tests, NULL, NULL);
}

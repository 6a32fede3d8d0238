/* SPDX-License-Identifier: Apache-2.0 */
/* t_pack.c - pack, unpack and grid: every key, policy and corner, with each allocation failing once. */
#include "bench.h"

static const struct bench_case docs[] = {
    /* pack */
    {"pack", "{'in':'a','fields':['x','y'],'as':'l'}", 0, "{'_id':1,'y':[1],'z':2,'x':null}",
     "changed *0 {'_id':1,'z':2,'l':[{'k':'y','v':[1]},{'k':'x','v':null}]}"},
    {"pack", "{'in':'a','fields':['r_*'],'strip':'r_','as':'l','key':'n','value':'w'}", 0, "{'r_':1,'r_a':2,'r':3}",
     "changed *0 {'r':3,'l':[{'n':'','w':1},{'n':'a','w':2}]}"},
    {"pack", "{'in':'a','fields':['x'],'as':'l'}", 0, "{}", "changed *0 {'l':[]}"},
    {"pack", "{'in':'a','fields':['*'],'as':'_l'}", 0, "{'_id':1,'_i':2}",
     "changed *0 {'_id':1,'_l':[{'k':'_i','v':2}]}"},
    {"pack", "{'in':'a','fields':['x'],'as':'l'}", 0, "{'x':1,'l':2}", "refused as: l exists already"},
    {"pack", "{'in':'a','fields':['x','z'],'as':'l','replace':true}", 0, "{'x':1,'l':2,'y':3,'z':4}",
     "changed *0 {'l':[{'k':'x','v':1},{'k':'z','v':4}],'y':3}"},
    {"pack", "{'in':'a','fields':['x'],'as':'l','replace':true}", 0, "{'l':[],'y':3}", "stays *0 {'l':[],'y':3}"},
    {"pack", "{'in':'a','fields':['x'],'as':'l','where':{'t':1}}", 0, "{'x':1}", "stays *0 {'x':1}"},
    {"pack", "{'in':'a','fields':[['a.b'],['s*']],'as':['l.m']}", 0, "{'a.b':1,'s*':2,'st':3}",
     "changed *0 {'st':3,'l.m':[{'k':'a.b','v':1},{'k':'s*','v':2}]}"},
    {"pack", "{'in':'a','fields':['x'],'as':'o.l'}", 0, "{'x':1,'o':[{'y':1},{}]}",
     "changed *0 {'o':[{'y':1,'l':[{'k':'x','v':1}]},{'l':[{'k':'x','v':1}]}]}"},
    {"pack", "{'in':'a','fields':['x'],'as':'o.l'}", 0, "{'x':1,'o':[]}", "refused as: o.l has no place: ..."},
    {"pack", "{'in':'a','fields':['x'],'as':'o.l'}", 0, "{'x':1,'o':2}", "refused as: o.l cannot be written: ..."},
    {"pack", "{'in':'a','fields':['x'],'as':'o.l'}", 0, "{'x':1,'o':{'l':0}}", "refused as: o.l exists already"},
    {"pack", "{'in':'a','fields':['x'],'as':'o.l','replace':true}", 0, "{'o':{'l':[]}}", "stays *0 {'o':{'l':[]}}"},
    {"pack", "{'in':'a','fields':['a1','a2','a3','a4','a5','a6','a7','a8','a9','b0','b1'],'as':'l'}", 0,
     "{'a1':1,'a2':2,'a3':3,'a4':4,'a5':5,'a6':6,'a7':7,'a8':8,'a9':9,'b0':10,'b1':11}",
     "changed *0 {'l':[{'k':'a1','v':1},{'k':'a2','v':2},{'k':'a3','v':3},{'k':'a4','v':4},{'k':'a5','v':5},"
     "{'k':'a6','v':6},{'k':'a7','v':7},{'k':'a8','v':8},{'k':'a9','v':9},{'k':'b0','v':10},{'k':'b1','v':11}]}"},
    /* pack as a document */
    {"pack", "{'in':'a','fields':['s_*','b'],'strip':'s_','as':'o','form':'document'}", 0,
     "{'_id':1,'s_a':{'$numberDecimal':'1'},'b':[2],'x':3,'s_c':null}",
     "changed *0 {'_id':1,'x':3,'o':{'a':{'$numberDecimal':'1'},'b':[2],'c':null}}"},
    {"pack", "{'in':'a','fields':['s_*'],'as':'o','form':'document'}", 0, "{'x':1,'o':2}", "stays *0 {'x':1,'o':2}"},
    {"pack", "{'in':'a','fields':['s'],'as':'o','form':'document'}", 0, "{'s':1,'o':2}",
     "refused as: o exists already"},
    {"pack", "{'in':'a','fields':['s'],'as':'o','form':'document','replace':true}", 0, "{'s':1,'o':2,'x':3}",
     "changed *0 {'o':{'s':1},'x':3}"},
    {"pack", "{'in':'a','fields':['s_*'],'strip':'s_','as':'o','form':'document'}", 0, "{'s_':1}",
     "refused fields: the field `s_` would have no name"},
    {"pack", "{'in':'a','fields':['s_*','a'],'strip':'s_','as':'o','form':'document'}", 0, "{'s_a':1,'a':2}",
     "refused fields: two fields would be called `a`"},
    {"pack", "{'in':'a','fields':['s'],'as':'p.o','form':'document'}", 0, "{'s':1,'p':[{'x':1},{}]}",
     "changed *0 {'p':[{'x':1,'o':{'s':1}},{'o':{'s':1}}]}"},
    {"pack", "{'in':'a','fields':['s'],'as':'p.o','form':'document'}", 0, "{'p':2}", "stays *0 {'p':2}"},
    {"unpack", "{'in':'a','as':'o','prefix':'s_','form':'document'}", 0, "{'o':{'a':1,'b':{'c':2}},'x':1}",
     "changed *0 {'s_a':1,'s_b':{'c':2},'x':1}"},
    {"unpack", "{'in':'a','as':'o','form':'document'}", 0, "{'a':1,'o':{'a':2}}",
     "refused as: two fields would be ..."},
    {"unpack", "{'in':'a','as':'o','form':'document','replace':true}", 0, "{'a':1,'o':{'a':2,'o':3}}",
     "changed *0 {'a':2,'o':3}"},
    {"unpack", "{'in':'a','as':'o','form':'document'}", 0, "{'o':{'_id':2}}",
     "refused as: `_id` of o would become the _id"},
    {"unpack", "{'in':'a','as':'o','form':'document'}", 0, "{'o':[1]}", "refused as: o is no document but array"},
    {"unpack", "{'in':'a','as':'p.o','form':'document'}", 0, "{'p':[{'o':{'_id':1}},{'o':null},{'o':{}}]}",
     "changed *0 {'p':[{'_id':1},{'o':null},{}]}"},
    /* unpack */
    {"unpack", "{'in':'a','as':'l'}", 0, "{'a':1,'l':[{'k':'x','v':[1]},{'k':'l','v':2}],'b':3}",
     "changed *0 {'a':1,'x':[1],'l':2,'b':3}"},
    {"unpack", "{'in':'a','as':'l','prefix':'r_','key':'n','value':'w'}", 0, "{'l':[{'n':'','w':1},{'n':'a','w':2}]}",
     "changed *0 {'r_':1,'r_a':2}"},
    {"unpack", "{'in':'a','as':'l'}", 0, "{'l':[],'x':1}", "changed *0 {'x':1}"},
    {"unpack", "{'in':'a','as':'l'}", 0, "{'l':null}", "stays *0 {'l':null}"},
    {"unpack", "{'in':'a','as':'l'}", 0, "{'x':1}", "stays *0 {'x':1}"},
    {"unpack", "{'in':'a','as':'l'}", 0, "{'l':5}", "refused as: l is no array but int"},
    {"unpack", "{'in':'a','as':'l'}", 0, "{'l':[{'k':'a','v':1},{'v':1,'k':'b'}]}",
     "refused as: element 1 of l is not exactly {k: text, v: value}"},
    {"unpack", "{'in':'a','as':'l'}", 0, "{'l':[{'k':{'$symbol':'a'},'v':1}]}",
     "refused as: element 0 of l is not ..."},
    {"unpack", "{'in':'a','as':'l'}", 0, "{'l':[{'k':'a\\u0000','v':1}]}", "refused as: the key of element 0 of l ..."},
    {"unpack", "{'in':'a','as':'l','prefix':'_'}", 0, "{'l':[{'k':'id','v':1}]}",
     "refused as: element 0 of l would become the _id"},
    {"unpack", "{'in':'a','as':'l'}", 0, "{'l':[{'k':'a','v':1}],'a':2}", "refused as: two fields would be called `a`"},
    {"unpack", "{'in':'a','as':'l','replace':true}", 0, "{'a':1,'l':[{'k':'b','v':2},{'k':'c','v':3},{'k':'a','v':4}],"
     "'c':5}", "changed *0 {'a':4,'b':2,'c':3}"},
    {"unpack", "{'in':'a','as':'l','replace':true}", 0, "{'l':[{'k':'a','v':1},{'k':'a','v':2}]}",
     "refused as: two fields would be called `a`"},
    {"unpack", "{'in':'a','as':'o.l'}", 0, "{'o':[{'l':[{'k':'_id','v':1}]},[{'l':[]}],3,{'l':null}]}",
     "changed *0 {'o':[{'_id':1},[{'l':[]}],3,{'l':null}]}"},
    {"unpack", "{'in':'a','as':'o.l'}", 0, "{'o':{'x':1,'l':[{'k':'y','v':1}],'z':2}}",
     "changed *0 {'o':{'x':1,'y':1,'z':2}}"},
    {"unpack", "{'in':'a','as':'o.l'}", 0, "{'o':[{'l':[1]}]}", "refused as: element 0 of o.l is not ..."},
    {"unpack", "{'in':'a','as':'o.l'}", 0, "{'o':7}", "stays *0 {'o':7}"},
    {"unpack", "{'in':'a','as':'l','where':{'t':1}}", 0, "{'l':7}", "stays *0 {'l':7}"},
    /* grid: what becomes of a document of the axes */
    {"grid", "{'into':'a','by':{'x':[1,2]},'id':'$x'}", 0, "{'x':2}", "changed 0 {'_id':2,'x':2}"},
    {"grid", "{'into':'a','by':{'x':[1],'_id':[2]}}", 0, "{'x':1,'_id':2}", "changed 0 {'_id':2,'x':1}"},
    {"grid", "{'into':{'db':'cinema','coll':'seats'},'by':{'hall':['A'],'row':{'$range':[1,40]}}}", 0,
     "{'hall':'A','row':1}", "changed 0 {'_id':{'$oid':'00000000c772783f84b8e7a2'},'hall':'A','row':1}"},
    {"grid", "{'into':{'db':'cinema','coll':'seats'},'by':{'hall':['A'],'row':[1]},'fields':{'_id':'$row','y':'$hall'},"
     "'id':'new'}", 0, "{'hall':'A','row':1}", "changed 0 {'_id':{'$oid':'00000000c772783f84b8e7a2'},'y':'A'}"},
    {"grid", "{'into':'a','by':{'x':[1]},'fields':{'y':{'a':'$x'},'_id':'$x','z.w':1}}", 0, "{'x':1}",
     "changed 0 {'_id':1,'y':{'a':1},'z':{'w':1}}"},
    {"grid", "{'into':'a','by':{'x':[1],'y':[2],'_id':[3]},'fields':['y']}", 0, "{'x':1,'y':2,'_id':3}",
     "changed 0 {'_id':3,'y':2}"},
    {"grid", "{'into':'a','by':{'x':[0]},'fields':{'y':{'$divide':[1,'$x']}}}", 0, "{'x':0}", "refused fields.y: ..."},
    {"grid", "{'into':'a','by':{'x':[0]},'id':{'$divide':[1,'$x']}}", 0, "{'x':0}", "refused id: ..."},
    {"grid", "{'into':'a','by':{'x':[[0]]},'id':'$x'}", 0, "{'x':[0]}", "refused id: the _id would be array, ..."},
    {"grid", "{'into':'a','by':{'_id':[[0]]}}", 0, "{'_id':[0]}", "refused by: the _id would be array, ..."},
    {"grid", "{'into':'a','by':{'x':{'from':'b','field':'l.y'}},'id':'$$ROOT'}", 0, "{'x':1}",
     "changed 0 {'_id':{'x':1},'x':1}"},
};

static const struct bench_wrong wrong[] = {
    {"pack", "{'in':'a','fields':['a.b'],'as':'l'}",
     "fields/0: `a.b` is no top-level field; only those can be packed\n"},
    {"pack", "{'in':'a','fields':['x','a*b'],'as':'l'}", "fields/1: `a*b`: `*` is allowed only at the end of ..."},
    {"pack", "{'in':'a','fields':['_id'],'as':'l'}", "fields/0: `_id`: the `_id` cannot change, name another field\n"},
    {"pack", "{'in':'a','fields':['l'],'as':'l.m'}", "fields/0: `l` is where the array goes (`as`)\n"},
    {"pack", "{'in':'a','fields':[],'as':'_id'}",
     "as: `_id`: the `_id` cannot change, name another field\nfields: names no field\n"},
    {"pack", "{'in':'a','fields':['x'],'as':'l','key':'v'}",
     "key: key and value of an element would both be called `v`\n"},
    {"pack", "{'in':'a','fields':['x'],'as':'l','value':'k'}", "value: key and value of an element would both be ..."},
    {"pack", "{'in':'a','fields':['x','x'],'as':'l'}", "fields/1: ..."},
    {"pack", "{'in':'a','fields':['x'],'as':'l','form':'document','key':'n'}",
     "key: names a field in the elements of an array; `form: document` has none\n"},
    {"unpack", "{'in':'a','as':'l','form':'map','value':'n'}", "form: ..."},
    {"unpack", "{'in':'a','as':'_id.l','key':'$x'}", "as: `_id.l`: the `_id` cannot change, name another field\n"
     "key: `$x` is no name of a top-level field\n"},
    {"grid", "{'into':'a','by':{}}", "by: names no axis\n"},
    {"grid", "{'into':'a','by':{'x':5,'y':['$z'],'a.b':[1],'$c':[1],'':[1]}}",
     "by/x: the values of an axis must be a list, not int\nby/y: reads a document, ..."},
    {"grid", "{'into':'a','by':{'x':{'$divide':[1,0]}}}", "by/x: ..."},
    {"grid", "{'into':'a','by':{'x':{'from':'b'},'y':{'from':'b','field':'c','of':1}}}",
     "by/x: `field` is needed here\nby/y.of: unknown key `of`\n"},
};

static const struct bench_telling tells[] = {
    {"pack", "{'in':'a','fields':['x','y'],'as':'l'}", "packs x and y of every document of shop.a into the array l of "
     "{k, v}\nside 0 shop.a RCM in\nR0 x\nD0 x\nR0 y\nD0 y\nA0 l\nloss: the places of x and y among the fields\n"
     "once: in a second run its result exists already\n"},
    {"pack", "{'in':'a','fields':['x'],'as':'o','form':'document'}", "packs x of every document of shop.a into the "
     "document o\nside 0 shop.a RCM in\nR0 x\nD0 x\nA0 o\nloss: the places of x among the fields\n"},
    {"unpack", "{'in':'a','as':'o','form':'document'}",
     "makes fields of the document o in every document of shop.a\n..."},
    {"unpack", "{'in':'a','as':'o.l','prefix':'r_'}", "makes fields of the array o.l of {k, v} in every document of "
     "shop.a, called r_ and the key\nside 0 shop.a RCM in\nR0 \nA0 o.r_*\nD0 o.l\n..."},
    {"grid", "{'into':'a','by':{'x':[1],'y':{'from':'b','field':'c'},'z':[2]}}", "makes a document in shop.a for each "
     "combination of x, y (each c in shop.b) and z\nside 0 shop.a A into\nside 1 shop.b R by\nA0 \nR1 c\n..."},
};

BENCH_ROWS(documents, bench_cases, docs)
BENCH_ROWS(memory, bench_torture, docs)
BENCH_ROWS(wrong_plans, bench_wrong, wrong)
BENCH_ROWS(descriptions, bench_tells, tells)

/* {x: [[[...]]]} of so many levels. */
static struct mrs_view
nested(struct mrs_buf *buf, int levels)
{
    struct mrs_build build;
    struct mrs_view d;
    mrs_buf_reset(buf);
    mrs_build_init(&build, buf);
    mrs_build_open(&build, "x", 1, MRS_ARRAY);
    for (int i = 1; i < levels; i++) {
        mrs_build_item_open(&build, MRS_ARRAY);
    }
    for (int i = 0; i < levels; i++) {
        mrs_build_close(&build);
    }
    assert_int_equal(mrs_build_finish(&build, &d, NULL), MRS_OK);
    return d;
}

/* What is packed lies two levels deeper: a server must still take it. */
static void
depth(void **arg)
{
    (void)arg;
    static char got[BENCH_TEXT];
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf buf;
    struct bench b;
    mrs_buf_init(&buf, mem, 65536);
    bench_open(&b, "pack", "{'in':'a','fields':['x'],'as':'l'}", 0);
    assert_int_equal(bench_push(&b, 0, nested(&buf, MRS_DEPTH_MAX - 3), false, got), MRS_OK);
    assert_int_equal(bench_push(&b, 0, nested(&buf, MRS_DEPTH_MAX - 2), false, got), MRS_SKIP);
    assert_non_null(strstr(got, "nested"));
    assert_int_equal(bench_close(&b), 0);
    bench_open(&b, "grid", "{'into':'a','by':{'x':{'from':'b','field':'c'}},'fields':{'y':{'z':'$x'}}}", 0);
    assert_int_equal(bench_push(&b, 0, nested(&buf, MRS_DEPTH_MAX - 2), false, got), MRS_OK);
    assert_int_equal(bench_push(&b, 0, nested(&buf, MRS_DEPTH_MAX - 1), false, got), MRS_SKIP);
    assert_int_equal(bench_close(&b), 0);
    mrs_buf_clear(&buf);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* A level that holds a name twice is refused where it must be rewritten. */
static void
duplicates(void **arg)
{
    (void)arg;
    static const uint8_t twice[] = "\x1b\0\0\0\x10" "a\0\1\0\0\0\x10" "a\0\2\0\0\0\x04" "l\0\5\0\0\0\0";
    static char got[BENCH_TEXT];
    static const char *const steps[][3] = {
        {"pack", "{'in':'a','fields':['a'],'as':'z'}", "twice"},
        {"pack", "{'in':'a','fields':['b'],'as':'z'}", "twice"},
        {"unpack", "{'in':'a','as':'l'}", "two fields would be called `a`"},
    };
    struct mrs_view d = {twice, sizeof twice};
    for (size_t i = 0; i < BENCH_N(steps); i++) {
        struct bench b;
        assert_int_equal(mrs_doc_check(d.p, d.n, 10, NULL), MRS_OK);
        bench_open(&b, steps[i][0], steps[i][1], 0);
        assert_int_equal(bench_push(&b, 0, d, false, got), MRS_SKIP);
        assert_non_null(strstr(got, steps[i][2]));
        assert_int_equal(bench_close(&b), 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents),    cmocka_unit_test(memory), cmocka_unit_test(wrong_plans),
        cmocka_unit_test(descriptions), cmocka_unit_test(depth),  cmocka_unit_test(duplicates),
    };
    return cmocka_run_group_tests_name("steps: pack, unpack, grid", tests, NULL, NULL);
}

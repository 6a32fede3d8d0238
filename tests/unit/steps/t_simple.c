/* SPDX-License-Identifier: Apache-2.0 */
/* t_simple.c - unset, rename, cast, order, delete: every key, policy and corner. */
#include "mongoreshape/spread_ops.h"
#include "bench.h"

static const struct bench_case docs[] = {
    /* unset */
    {"unset", "{'in':'a','fields':['x']}", 0, "{'_id':1,'x':2,'y':3}", "changed *0 {'_id':1,'y':3}"},
    {"unset", "{'in':'a','fields':['x']}", 0, "{'_id':1}", "stays *0 {'_id':1}"},
    {"unset", "{'in':'a','fields':['a.b','l.c','x']}", 0, "{'a':{'b':1,'c':2},'l':[{'c':1},5,{'d':1,'c':2}],"
     "'x':null}",
     "changed *0 {'a':{'c':2},'l':[{},5,{'d':1}]}"},
    {"unset", "{'in':'a','fields':['l.c']}", 0, "{'l':[[{'c':1,'d':2}]]}", "changed *0 {'l':[[{'d':2}]]}"},
    {"unset", "{'in':'a','fields':['a.b']}", 0, "{'a':5}", "stays *0 {'a':5}"},
    {"unset", "{'in':'a','fields':[['a.b']]}", 0, "{'a.b':1,'a':{'b':2}}", "changed *0 {'a':{'b':2}}"},
    {"unset", "{'in':'a','fields':['x'],'where':{'v':1}}", 0, "{'v':2,'x':1}", "stays *0 {'v':2,'x':1}"},
    {"unset", "{'in':'a','fields':['x'],'where':{'v':1}}", 0, "{'v':1,'x':1}", "changed *0 {'v':1}"},
    {"unset", "{'in':'a','fields':['x'],'where':{'$expr':{'$divide':[1,'$v']}}}", 0, "{'v':0,'x':1}",
     "refused where: ..."},
    /* rename: one level */
    {"rename", "{'in':'a','fields':{'old':'new'}}", 0, "{'a':1,'old':2,'b':3}", "changed *0 {'a':1,'new':2,'b':3}"},
    {"rename", "{'in':'a','fields':{'old':'new'}}", 0, "{'a':1}", "stays *0 {'a':1}"},
    {"rename", "{'in':'a','fields':{'old':'new'}}", 0, "{'new':1}", "stays *0 {'new':1}"},
    {"rename", "{'in':'a','fields':{'a':'b','b':'a'}}", 0, "{'a':1,'b':2}", "changed *0 {'b':1,'a':2}"},
    {"rename", "{'in':'a','fields':{'a':'b','b':'a'}}", 0, "{'a':1}", "changed *0 {'b':1}"},
    {"rename", "{'in':'a','fields':{'a':'b','b':'c'}}", 0, "{'a':1,'b':2}", "changed *0 {'b':1,'c':2}"},
    {"rename", "{'in':'a','fields':{'a':'b','b':'c'}}", 0, "{'a':1,'c':2}", "changed *0 {'b':1,'c':2}"},
    {"rename", "{'in':'a','fields':{'a':'b'}}", 0, "{'a':1,'b':2}", "refused fields: b exists already"},
    {"rename", "{'in':'a','replace':true,'fields':{'a':'b'}}", 0, "{'a':1,'c':0,'b':2}", "changed *0 {'b':1,'c':0}"},
    {"rename", "{'in':'a','replace':true,'fields':{'a':'b'}}", 0, "{'b':2,'c':0,'a':1}", "changed *0 {'c':0,'b':1}"},
    {"rename", "{'in':'a','replace':true,'fields':{'a':'b'}}", 0, "{'b':2}", "stays *0 {'b':2}"},
    {"rename", "{'in':'a','fields':{'a.b':'a.c'}}", 0, "{'a':{'x':0,'b':1,'y':2}}",
     "changed *0 {'a':{'x':0,'c':1,'y':2}}"},
    {"rename", "{'in':'a','fields':{'l.b':'l.c'}}", 0, "{'l':[{'b':1},5,{'x':1},{'b':2,'d':3}]}",
     "changed *0 {'l':[{'c':1},5,{'x':1},{'c':2,'d':3}]}"},
    {"rename", "{'in':'a','fields':{'l.b':'l.c'}}", 0, "{'l':[{'b':1},{'b':1,'c':2}]}",
     "refused fields: l.c exists already"},
    {"rename", "{'in':'a','fields':{'a.b':'a.c'}}", 0, "{'a':5}", "stays *0 {'a':5}"},
    {"rename", "{'in':'a','fields':{'old':['a.b']}}", 0, "{'old':1}", "changed *0 {'a.b':1}"},
    /* rename: to another level */
    {"rename", "{'in':'a','fields':{'a.b':'c'}}", 0, "{'a':{'b':1,'x':2},'z':3}",
     "changed *0 {'a':{'x':2},'z':3,'c':1}"},
    {"rename", "{'in':'a','fields':{'c':'a.b'}}", 0, "{'c':1,'a':{'x':2}}", "changed *0 {'a':{'x':2,'b':1}}"},
    {"rename", "{'in':'a','fields':{'c':'a.b.d'}}", 0, "{'c':1}", "changed *0 {'a':{'b':{'d':1}}}"},
    {"rename", "{'in':'a','fields':{'c':'a.b'}}", 0, "{'x':1}", "stays *0 {'x':1}"},
    {"rename", "{'in':'a','fields':{'c':'a.b'}}", 0, "{'c':1,'a':5}", "refused fields: a.b cannot be written: ..."},
    {"rename", "{'in':'a','fields':{'c':'a.b'}}", 0, "{'c':1,'a':null}", "refused fields: ..."},
    {"rename", "{'in':'a','fields':{'c':'a.b'}}", 0, "{'a':5}", "stays *0 {'a':5}"},
    {"rename", "{'in':'a','fields':{'c':'a.b'}}", 0, "{'c':1,'a':{'b':2}}", "refused fields: a.b exists already"},
    {"rename", "{'in':'a','replace':true,'fields':{'c':'a.b'}}", 0, "{'c':1,'a':{'b':2,'x':3}}",
     "changed *0 {'a':{'x':3,'b':1}}"},
    {"rename", "{'in':'a','replace':true,'fields':{'c':'a.b','d':'a.y'}}", 0, "{'c':1,'a':{'y':0,'x':3,'b':2},'d':4}",
     "changed *0 {'a':{'x':3,'b':1,'y':4}}"},
    {"rename", "{'in':'a','replace':true,'fields':{'l.a.x':'l.x'}}", 0,
     "{'l':[{'a':{'x':1},'x':5,'z':0},7,{'x':6},{'a':{'x':2}}]}",
     "changed *0 {'l':[{'a':{},'z':0,'x':1},7,{'x':6},{'a':{},'x':2}]}"},
    {"rename", "{'in':'a','replace':true,'fields':{'a.b':'b'}}", 0, "{'a':{'b':1},'b':1}", "changed *0 {'a':{},'b':1}"},
    {"rename", "{'in':'a','fields':{'c':'l.b'}}", 0, "{'c':1,'l':[{},{}]}", "refused fields: l.b lies in an array,"
     " and c does not"},
    {"rename", "{'in':'a','fields':{'c':'l.b'}}", 0, "{'c':1,'l':[]}", "refused fields: ..."},
    {"rename", "{'in':'a','fields':{'c':'l.b'}}", 0, "{'l':[{}]}", "stays *0 {'l':[{}]}"},
    {"rename", "{'in':'a','fields':{'l.b':'c'}}", 0, "{'l':[{'b':1}]}", "refused fields: l.b lies in an array, "
     "and c does not"},
    {"rename", "{'in':'a','fields':{'l.b':'c'}}", 0, "{'l':[{'x':1}]}", "stays *0 {'l':[{'x':1}]}"},
    {"rename", "{'in':'a','fields':{'lines.a.x':'lines.x'}}", 0,
     "{'lines':[{'a':{'x':1,'y':2}},7,{'a':{'y':3}},{'z':4,'a':{'x':5}}]}",
     "changed *0 {'lines':[{'a':{'y':2},'x':1},7,{'a':{'y':3}},{'z':4,'a':{},'x':5}]}"},
    {"rename", "{'in':'a','fields':{'lines.x':'lines.a.x'}}", 0, "{'lines':[{'x':1},{'x':2,'a':{'q':0}}]}",
     "changed *0 {'lines':[{'a':{'x':1}},{'a':{'q':0,'x':2}}]}"},
    {"rename", "{'in':'a','fields':{'lines.a.x':'lines.x'}}", 0, "{'lines':[{'a':[{'x':1}]}]}",
     "refused fields: lines.a.x lies in an array, and lines.x does not"},
    {"rename", "{'in':'a','fields':{'r.p.a.x':'r.p.x'}}", 0, "{'r':[{'p':[{'a':{'x':1}},{'a':{'x':2}}]},"
     "{'p':[{'a':{'x':3}}]}]}",
     "changed *0 {'r':[{'p':[{'a':{},'x':1},{'a':{},'x':2}]},{'p':[{'a':{},'x':3}]}]}"},
    {"rename", "{'in':'a','fields':{'a.x':'b','b':'a.x'}}", 0, "{'a':{'x':1},'b':2}",
     "changed *0 {'a':{'x':2},'b':1}"},
    {"rename", "{'in':'a','fields':{'a':'b','c.d':'a'}}", 0, "{'a':1,'c':{'d':2}}",
     "changed *0 {'b':1,'c':{},'a':2}"},
    {"rename", "{'in':'a','fields':{'a':'c.d','b':'a'}}", 0, "{'a':1,'b':2}", "changed *0 {'a':2,'c':{'d':1}}"},
    {"rename", "{'in':'a','fields':{'x':'y'},'where':{'v':1}}", 0, "{'v':2,'x':1}", "stays *0 {'v':2,'x':1}"},
    /* cast */
    {"cast", "{'in':'a','fields':{'age':'int'}}", 0, "={'age':'42'}", "changed *0 {'age':{'$numberInt':'42'}}"},
    {"cast", "{'in':'a','fields':{'age':'int'}}", 0, "={'age':{'$numberInt':'42'}}",
     "stays *0 {'age':{'$numberInt':'42'}}"},
    {"cast", "{'in':'a','fields':{'age':'int'}}", 0, "={'age':{'$numberDouble':'42.9'}}",
     "changed *0 {'age':{'$numberInt':'42'}}"},
    {"cast", "{'in':'a','fields':{'age':'long'}}", 0, "={'age':{'$numberInt':'42'}}",
     "changed *0 {'age':{'$numberLong':'42'}}"},
    {"cast", "{'in':'a','fields':{'age':'double'}}", 0, "={'age':{'$numberInt':'1'}}",
     "changed *0 {'age':{'$numberDouble':'1.0'}}"},
    {"cast", "{'in':'a','fields':{'age':'decimal'}}", 0, "={'age':'1.50'}", "changed *0 "
     "{'age':{'$numberDecimal':'1.50'}}"},
    {"cast", "{'in':'a','fields':{'j':'date'}}", 0, "={'j':'2020-01-01T00:00:00Z'}",
     "changed *0 {'j':{'$date':{'$numberLong':'1577836800000'}}}"},
    {"cast", "{'in':'a','fields':{'u':'objectId'}}", 0, "{'u':'5f5e1000a1b2c3d4e5f60718'}",
     "changed *0 {'u':{'$oid':'5f5e1000a1b2c3d4e5f60718'}}"},
    {"cast", "{'in':'a','fields':{'u':'string'}}", 0, "{'u':{'$oid':'5f5e1000a1b2c3d4e5f60718'}}",
     "changed *0 {'u':'5f5e1000a1b2c3d4e5f60718'}"},
    {"cast", "{'in':'a','fields':{'b':'bool'}}", 0, "{'b':0}", "changed *0 {'b':false}"},
    {"cast", "{'in':'a','fields':{'tags':'int'}}", 0, "{'tags':['1',2,['3',null,[]],null]}",
     "changed *0 {'tags':[1,2,[3,null,[]],null]}"},
    {"cast", "{'in':'a','fields':{'tags':'int'}}", 0, "{'tags':[]}", "stays *0 {'tags':[]}"},
    {"cast", "{'in':'a','fields':{'l.q':'int','x':'string'}}", 0, "{'l':[{'q':'1'},5,{'q':'2','r':0}],'x':7}",
     "changed *0 {'l':[{'q':1},5,{'q':2,'r':0}],'x':'7'}"},
    {"cast", "{'in':'a','fields':{'x':'int'}}", 0, "{'x':null}", "stays *0 {'x':null}"},
    {"cast", "{'in':'a','fields':{'x':'int'}}", 0, "{'y':1}", "stays *0 {'y':1}"},
    {"cast", "{'in':'a','fields':{'x':'int'}}", 0, "{'x':{'$undefined':true}}", "stays *0 {'x':{'$undefined':true}}"},
    {"cast", "{'in':'a','fields':{'x':'int'}}", 0, "{'x':'no'}", "refused fields.x: ..."},
    {"cast", "{'in':'a','fields':{'x':'int'}}", 0, "{'x':{'a':1}}", "refused fields.x: ..."},
    {"cast", "{'in':'a','errors':'keep','fields':{'x':'int','y':'int'}}", 0, "{'x':'no','y':'3'}",
     "changed *0 {'x':'no','y':3}"},
    {"cast", "{'in':'a','errors':'null','fields':{'x':'int'}}", 0, "{'x':'no'}", "changed *0 {'x':null}"},
    {"cast", "{'in':'a','errors':'drop','fields':{'x':'int'}}", 0, "{'a':1,'x':'no'}", "changed *0 {'a':1}"},
    {"cast", "{'in':'a','fields':{'x':'int'}}", 0, "{'x':[1,'no']}", "refused fields.x: ..."},
    {"cast", "{'in':'a','errors':'keep','fields':{'x':'int'}}", 0, "{'x':['1','no',['no']]}",
     "changed *0 {'x':[1,'no',['no']]}"},
    {"cast", "{'in':'a','errors':null,'fields':{'x':'int'}}", 0, "{'x':['1','no']}", "changed *0 {'x':[1,null]}"},
    {"cast", "{'in':'a','errors':'drop','fields':{'x':'int'}}", 0, "{'x':['no','1',['no'],'2']}",
     "changed *0 {'x':[1,[],2]}"},
    {"cast", "{'in':'a','fields':{'_id':'string'}}", 0, "{'_id':1}", "changed *0 {'_id':'1'}"},
    {"cast", "{'in':'a','errors':'drop','fields':{'_id':'int'}}", 0, "{'_id':'x'}",
     "refused fields: the _id would be missing, ..."},
    {"cast", "{'in':'a','fields':{'x':'int'},'where':{'v':1}}", 0, "{'x':'1'}", "stays *0 {'x':'1'}"},
    /* order */
    {"order", "{'in':'a','fields':['_id','name']}", 0, "{'b':1,'name':2,'_id':3,'a':4}",
     "changed *0 {'_id':3,'name':2,'b':1,'a':4}"},
    {"order", "{'in':'a','fields':['name']}", 0, "{'b':1,'_id':3,'name':2}", "changed *0 {'_id':3,'name':2,'b':1}"},
    {"order", "{'in':'a','fields':['name','_id']}", 0, "{'_id':3,'b':1,'name':2}",
     "changed *0 {'name':2,'_id':3,'b':1}"},
    {"order", "{'in':'a','fields':['x','y']}", 0, "{'_id':1,'y':2}", "stays *0 {'_id':1,'y':2}"},
    {"order", "{'in':'a','fields':['x','y']}", 0, "{'_id':1,'y':2,'x':3,'z':4}", "changed *0 {'_id':1,'x':3,'y':2,"
     "'z':4}"},
    {"order", "{'in':'a','fields':['x'],'where':{'v':1}}", 0, "{'a':1,'x':2}", "stays *0 {'a':1,'x':2}"},
    {"order", "{'in':'a','fields':['x']}", 0, "{}", "stays *0 {}"},
    /* delete */
    {"delete", "{'in':'a','where':{'x':1}}", 0, "{'x':1}", "dropped"},
    {"delete", "{'in':'a','where':{'x':1}}", 0, "{'x':2}", "stays *0 {'x':2}"},
    {"delete", "{'in':'a','where':{'$expr':{'$divide':[1,'$x']}}}", 0, "{'x':0}", "refused where: ..."},
    {"delete", "{'in':'a','where':{'$expr':{'$divide':[1,'$x']}},'errors':'keep'}", 0, "{'x':0}", "stays *0 {'x':0}"},
    {"delete", "{'in':'a','where':{'$expr':{'$divide':[1,'$x']}},'errors':'keep'}", 0, "{'x':1}", "dropped"},
};

static const struct bench_wrong wrong[] = {
    {"unset", "{'in':'a','fields':[]}", "fields: names no field\n"},
    {"unset", "{'in':'a','fields':['_id']}", "fields: `_id`: the `_id` cannot change, name another field\n"},
    {"unset", "{'in':'a','fields':['x','_id.a']}", "fields: `_id.a`: the `_id` cannot change, name another field\n"},
    {"unset", "{'in':'a','fields':['a.b','a']}", "fields/1: ..."},
    {"unset", "{'in':'a','fields':'x'}", "fields: must be a list of paths, not string\n"},
    {"unset", "{'in':'a','fields':['a',5,'-_id','$x','']}", "fields/1: ..."},
    {"rename", "{'in':'a','fields':{}}", "fields: must be a map of old path: new path with at least one entry\n"},
    {"rename", "{'in':'a','fields':['x']}", "fields: must be a map of old path: new path with at least one entry\n"},
    {"rename", "{'in':'a','fields':{'_id':'x'}}", "fields/_id: `_id`: the `_id` cannot change, name another field\n"},
    {"rename", "{'in':'a','fields':{'x':'_id.y'}}",
     "fields/x: `_id.y`: the `_id` cannot change, name another field\n"},
    {"rename", "{'in':'a','fields':{'x':'x'}}", "fields/x: `x` would keep its name\n"},
    {"rename", "{'in':'a','fields':{'x':'x.y'}}", "fields/x: `x.y` lies inside of `x`: rename `x` to a third name, and "
     "that in a step of its own\n"},
    {"rename", "{'in':'a','fields':{'x.y':'x'}}", "fields/x.y: `x.y` lies inside of `x`: rename `x.y` to a third name, "
     "and that in a step of its own, with `replace: true`, which overwrites what is left\n"},
    {"rename", "{'in':'a','fields':{'x':'z','y':'z'}}", "fields/y: `z` is the new name of two fields\n"},
    {"rename", "{'in':'a','fields':{'x':'x.y'}}", "fields/x: ..."},
    {"rename", "{'in':'a','fields':{'x.y':'x'}}", "fields/x.y: ..."},
    {"rename", "{'in':'a','fields':{'x':5,'y':'$z'}}", "fields/x: ..."},
    {"rename", "{'in':'a','fields':{'x':'y'},'replace':1}", "replace: must be true or false, not int\n"},
    {"cast", "{'in':'a','fields':{}}", "fields: must be a map of path: type with at least one entry\n"},
    {"cast", "{'in':'a','fields':{'x':'geometry'}}",
     "fields/x: unknown type `geometry`: one of double string objectId bool date int long decimal binData is meant\n"},
    {"cast", "{'in':'a','fields':{'x':'objectid'}}", "fields/x: unknown type `objectid`; is `objectId` meant?\n"},
    {"cast", "{'in':'a','fields':{'x':1,'y':'int','y.z':'int'}}", "fields/x: must be a text, not int\nfields/y.z: "
     "..."},
    {"order", "{'in':'a','fields':['a.b']}", "fields/0: `a.b` is no top-level field; only those can be ordered\n"},
    {"order", "{'in':'a','fields':['a','a']}", "fields/1: ..."},
    {"order", "{'in':'a','fields':[]}", "fields: names no field\n"},
    {"delete", "{'in':'a','where':{'$foo':1},'errors':'drop'}", "where: ..."},
    {"delete", "{'in':'a','where':{'x':1},'errors':'null'}", "errors: `null` is none of refuse|keep\n"},
};

static const struct bench_telling tells[] = {
    {"unset", "{'in':'a','fields':['x','y.z']}", "removes x and y.z from every document of shop.a\nside 0 shop.a "
     "RCM in\nD0 x\nD0 y.z\n"
     "loss: values and places of x and y.z\n"},
    {"unset", "{'in':'a','fields':['a','b','c','d','e','f','g','h']}", "removes a, b, c, d, e, f and 2 more from "
     "..."},
    {"rename", "{'in':'a','fields':{'x':'y','a.b':'c'},'replace':true}", "renames x to y, a.b to c in every "
     "document of shop.a\n"
     "side 0 shop.a RCM in\nR0 x\nD0 x\nA0 y\nR0 a.b\nD0 a.b\nA0 c\nloss: the place of a.b among its fields\n"
     "loss: fields that had one of the new names already\n"},
    {"rename", "{'in':'a','fields':{'x':'y','y':'x'}}", "renames x to y, y to x in every document of shop.a\nside "
     "0 shop.a RCM in\n"
     "R0 x\nD0 x\nA0 y\nR0 y\nD0 y\nA0 x\nonce: ..."},
    {"cast", "{'in':'a','fields':{'x':'int','_id':'string'},'errors':'null'}", "casts x to int, _id to string in "
     "every document of "
     "shop.a\nside 0 shop.a RCM in\nR0 x\nD0 x\nR0 _id\nD0 _id\nloss: the type that x had, and values that cannot "
     "be converted\n"
     "loss: the type that _id had, and values that cannot be converted\nnew ids\n"},
    {"order", "{'in':'a','fields':['x']}", "puts x first in every document of shop.a\nside 0 shop.a RCM in\nR0 x\nD0 "
     "x\nloss: ..."},
    {"delete", "{'in':'a','where':{'x':1}}", "drops those documents that `where` takes of shop.a\nside 0 shop.a "
     "RTM in\nR0 x\nD0 \n"
     "loss: every document of shop.a that `where` takes\n"},
};

BENCH_ROWS(documents, bench_cases, docs)
BENCH_ROWS(memory, bench_torture, docs)
BENCH_ROWS(wrong_plans, bench_wrong, wrong)
BENCH_ROWS(descriptions, bench_tells, tells)

/* Long arrays: a rename to another level inside each element must not look its element up from the start every time. */
static void
long_arrays(void **arg)
{
    (void)arg;
    enum { N = 60000 };
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf buf;
    struct mrs_build build;
    struct mrs_view d;
    struct bench b;
    mrs_buf_init(&buf, mem, 64u << 20);
    mrs_build_init(&build, &buf);
    mrs_build_open(&build, "lines", 5, MRS_ARRAY);
    for (int32_t i = 0; i < N; i++) {
        mrs_build_item_open(&build, MRS_DOCUMENT);
        mrs_build_open(&build, "a", 1, MRS_DOCUMENT);
        mrs_build_i32(&build, "x", i);
        mrs_build_close(&build);
        mrs_build_close(&build);
    }
    mrs_build_close(&build);
    assert_int_equal(mrs_build_finish(&build, &d, NULL), MRS_OK);
    bench_open(&b, "rename", "{'in':'a','fields':{'lines.a.x':'lines.x'}}", 0);
    struct mrs_ctx c = {.mem = b.mem, .arena = &b.arena, .err = &b.err};
    struct mrs_product p;
    enum mrs_fate fate;
    b.work = calloc(1, b.type->work_size);
    assert_int_equal(b.type->spread->begin(b.state, &c, b.work, 0, d, &fate), MRS_OK);
    assert_int_equal(b.type->spread->next(b.state, &c, b.work, &p), MRS_OK);
    struct mrs_walk w;
    struct mrs_elem e;
    int32_t n = 0;
    mrs_walk_init(&w, mrs_val_view(mrs_doc_get(p.doc, "lines")));
    while (mrs_walk_next(&w, &e) == 1) {
        assert_int_equal(mrs_val_i32(mrs_doc_get(mrs_val_view(e.v), "x")), n++);
        assert_int_equal(mrs_doc_get(mrs_val_view(e.v), "a").n, 5);
    }
    assert_int_equal(n, N);
    assert_int_equal(bench_close(&b), 0);
    mrs_buf_clear(&buf);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* {x: [[7], two]} with these names of elements. */
static struct mrs_view
named(struct mrs_buf *buf, const char *outer, const char *inner, const char *last, struct mrs_val two)
{
    struct mrs_build build;
    struct mrs_view d;
    uint8_t room[16];
    mrs_buf_reset(buf);
    mrs_build_init(&build, buf);
    mrs_build_open(&build, "x", 1, MRS_ARRAY);
    mrs_build_open(&build, outer, (uint32_t)strlen(outer), MRS_ARRAY);
    mrs_build_val(&build, inner, (uint32_t)strlen(inner), mrs_make_i32(room, 7));
    mrs_build_close(&build);
    mrs_build_val(&build, last, (uint32_t)strlen(last), two);
    mrs_build_close(&build);
    assert_int_equal(mrs_build_finish(&build, &d, NULL), MRS_OK);
    return d;
}

/* An array whose elements are not named 0, 1, 2 keeps its bytes while nothing in it changes, whatever becomes of the
 * one around it. */
static void
odd_names(void **arg)
{
    (void)arg;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf in, out;
    struct bench b;
    uint8_t room[16];
    mrs_buf_init(&in, mem, 4096);
    mrs_buf_init(&out, mem, 4096);
    bench_open(&b, "cast", "{'in':'a','fields':{'x':'int'}}", 0);
    b.work = calloc(1, b.type->work_size);
    for (int change = 0; change < 2; change++) {
        struct mrs_ctx c = {.mem = b.mem, .arena = &b.arena, .err = &b.err};
        struct mrs_product p;
        enum mrs_fate fate;
        struct mrs_val two = change ? mrs_make_double(room, 2) : mrs_make_i32(room, 2);
        struct mrs_view d = named(&in, "3", "9", "5", two);
        assert_int_equal(b.type->spread->begin(b.state, &c, b.work, 0, d, &fate), MRS_OK);
        assert_int_equal(fate, change ? MRS_FATE_CHANGED : MRS_FATE_STAYS);
        assert_int_equal(b.type->spread->next(b.state, &c, b.work, &p), MRS_OK);
        if (change) {
            d = named(&out, "0", "9", "1", mrs_make_i32(room, 2));
        }
        assert_int_equal(p.doc.n, d.n);
        assert_memory_equal(p.doc.p, d.p, d.n);
        assert_int_equal(b.type->spread->next(b.state, &c, b.work, &p), MRS_END);
    }
    assert_int_equal(bench_close(&b), 0);
    mrs_buf_clear(&in);
    mrs_buf_clear(&out);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* A level that must be rewritten while it holds a name twice is refused by each of them. */
static void
duplicates(void **arg)
{
    (void)arg;
    static const uint8_t twice[] = "\x1a\0\0\0\x10" "a\0\1\0\0\0\x10" "a\0\2\0\0\0\x10" "b\0\3\0\0\0";
    static const char *const steps[][2] = {
        {"unset", "{'in':'a','fields':['b']}"},      {"rename", "{'in':'a','fields':{'b':'c'}}"},
        {"cast", "{'in':'a','fields':{'b':'long'}}"}, {"order", "{'in':'a','fields':['b']}"},
    };
    static char got[BENCH_TEXT];
    struct mrs_view d = {twice, sizeof twice};
    for (size_t i = 0; i < BENCH_N(steps); i++) {
        struct bench b;
        bench_open(&b, steps[i][0], steps[i][1], 0);
        assert_int_equal(bench_push(&b, 0, d, false, got), MRS_SKIP);
        assert_non_null(strstr(got, "twice"));
        assert_int_equal(bench_close(&b), 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents), cmocka_unit_test(memory),      cmocka_unit_test(wrong_plans),
        cmocka_unit_test(descriptions), cmocka_unit_test(long_arrays), cmocka_unit_test(duplicates),
        cmocka_unit_test(odd_names),
    };
    return cmocka_run_group_tests_name("steps: unset, rename, cast, order, delete", tests, NULL, NULL);
}

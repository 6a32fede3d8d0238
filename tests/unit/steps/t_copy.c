/* SPDX-License-Identifier: Apache-2.0 */
/* t_copy.c - copy: every key, policy and corner of the plan language, as rows of plan, documents, outcome. */
#include "host.h"

#define C "'from':'h','into':'l','match':{'_id':'host'}"
#define CF C ",'fields':['ip','name']"
#define H "'h':[{'_id':1,'ip':'a','x':0,'name':'one'},{'_id':2,'name':'two','ip':'b'},{'_id':3,'name':'three'}]"

static const struct host_case bare[] = {
    /* beside the reference, in the order of the source; others byte for byte */
    {"copy", "{" CF "}", "{" H ",'l':[{'_id':1,'host':1,'m':1},{'host':2,'_id':2},{'_id':3,'host':3},{'_id':4,"
     "'host':9},{'_id':5,'ip':7},{'_id':6,'host':null}]}",
     "{" H ",'l':[{'_id':1,'host':1,'m':1,'ip':'a','name':'one'},{'host':2,'_id':2,'name':'two','ip':'b'},{'_id':3,"
     "'host':3,'name':'three'},{'_id':4,'host':9},{'_id':5,'ip':7},{'_id':6,'host':null}]}", ""},
    /* a field that is there; replace removes stale copies */
    {"copy", "{" CF "}", "{" H ",'l':[{'_id':1,'host':1,'ip':0},{'_id':3,'host':3,'ip':0}]}", "{" H "}",
     "l 1 fields\nl 3 fields\n"},
    {"copy", "{" CF ",'replace':true}",
     "{" H ",'l':[{'ip':0,'_id':1,'host':1},"
     "{'_id':3,'ip':0,'host':3,'name':1}]}", "{" H ",'l':[{'ip':'a','_id':1,'host':1,'name':'one'},"
     "{'_id':3,'host':3,'name':'three'}]}", ""},
    /* map, as, nested names */
    {"copy", "{" C ",'fields':{'addr':'$ip','n.u':{'$toUpper':'$name'}}}", "{" H ",'l':[{'_id':1,'host':1}]}",
     "{" H ",'l':[{'_id':1,'host':1,'addr':'a','n':{'u':'ONE'}}]}", ""},
    {"copy", "{" CF ",'as':'hi'}", "{" H ",'l':[{'_id':1,'host':1},{'_id':2}]}",
     "{" H ",'l':[{'_id':1,'host':1,'hi':{'ip':'a','name':'one'}},{'_id':2}]}", ""},
    {"copy", "{" C ",'fields':['_id','name'],'as':'hi.x'}", "{" H ",'l':[{'_id':1,'host':1,'hi':{'y':1}}]}",
     "{" H ",'l':[{'_id':1,'host':1,'hi':{'y':1,'x':{'_id':1,'name':'one'}}}]}", ""},
    {"copy", "{" CF ",'as':'hi'}", "{" H ",'l':[{'_id':1,'host':1,'hi':0}]}", "{" H "}", "l 1 as\n"},
    {"copy", "{" CF ",'as':'hi','replace':true}", "{" H ",'l':[{'_id':1,'hi':0,'host':1}]}",
     "{" H ",'l':[{'_id':1,'hi':{'ip':'a','name':'one'},'host':1}]}", ""},
    {"copy", "{" C ",'fields':['a.b']}", "{'h':[{'_id':1,'a':{'b':1,'c':2}}],'l':[{'_id':1,'host':1}]}",
     "{'h':[{'_id':1,'a':{'b':1,'c':2}}],'l':[{'_id':1,'host':1,'a':{'b':1}}]}", ""},
    /* dotted names of a map are paths: beside what is there; each is blocked or lacks a place for itself */
    {"copy", "{" C ",'fields':{'n.a':'$ip','m':'$name'},'replace':true}",
     "{" H ",'l':[{'_id':1,'host':1,'n':{'x':1}},{'n':{'a':0,'x':1},'_id':2,'host':3}]}",
     "{" H ",'l':[{'_id':1,'host':1,'n':{'x':1,'a':'a'},'m':'one'},{'n':{'x':1},'_id':2,'host':3,'m':'three'}]}", ""},
    {"copy", "{" C ",'fields':{'n.a':'$ip','m':'$name'},'errors':'keep','keep':'none','orphans':'keep'}",
     "{" H ",'l':[{'_id':1,'host':1,'n':5}]}", "{" H ",'l':[{'_id':1,'host':1,'n':5,'m':'one'}]}", ""},
    {"copy", "{" C ",'fields':{'m':'$name','n.a':'$ip'}}",
     "{" H ",'l':[{'_id':1,'host':1,'n':[]},{'_id':2,'host':1,'n':{'a':1}}]}",
     "{" H "}", "l 1 fields\nl 2 fields\n"},
    /* a failing source that is not the one */
    {"copy", "{'from':'h','into':'l','match':{'k':'k'},'fields':{'n':{'$toInt':'$n'}},'many':'first'}",
     "{'h':[{'_id':1,'k':1,'n':'1'},{'_id':2,'k':1,'n':'z'}],'l':[{'_id':1,'k':1}]}",
     "{'h':[{'_id':1,'k':1,'n':'1'},{'_id':2,'k':1,'n':'z'}],'l':[{'_id':1,'k':1,'n':1}]}", ""},
    {"copy", "{'from':'h','into':'l','match':{'k':'k'},'fields':{'n':{'$toInt':'$n'}},'many':'last'}",
     "{'h':[{'_id':1,'k':1,'n':'1'},{'_id':2,'k':1,'n':'z'}],'l':[{'_id':1,'k':1}]}",
     "{'h':[{'_id':1,'k':1,'n':'1'},{'_id':2,'k':1,'n':'z'}]}", "l 1 fields.n\n"},
    /* blocked as; no place */
    {"copy", "{" CF ",'as':'hi.x'}", "{" H ",'l':[{'_id':1,'host':1,'hi':5},{'_id':2,'host':1,'hi':[]}]}",
     "{" H "}", "l 1 as\nl 2 as\n"},
    {"copy", "{" CF ",'as':'hi.x','at':'root'}", "{" H ",'l':[{'_id':2,'host':1,'hi':[]},{'_id':3,'hi':[]}]}",
     "{" H ",'l':[{'_id':3,'hi':[]}]}", "l 2 as\n"},
    {"copy", "{" CF ",'as':'hi.x','errors':'keep','keep':'none','orphans':'keep'}",
     "{" H ",'l':[{'_id':1,'host':1,'hi':5}]}", "{" H ",'l':[{'_id':1,'host':1,'hi':5}]}", ""},
    /* the reference in an array of documents, in nested arrays */
    {"copy", "{'from':'h','into':'l','match':{'_id':'a.host'},'fields':['name']}",
     "{" H ",'l':[{'_id':1,'a':[{'host':1,'q':1},{'host':2},{'host':9},4,{'host':1}]},{'_id':2,'a':{'host':3}}]}",
     "{" H ",'l':[{'_id':1,'a':[{'host':1,'q':1,'name':'one'},{'host':2,'name':'two'},{'host':9},4,{'host':1,"
     "'name':'one'}]},{'_id':2,'a':{'host':3,'name':'three'}}]}", ""},
    {"copy", "{'from':'h','into':'l','match':{'_id':'a.b.r'},'fields':['name'],'as':'h','refs':'drop'}",
     "{" H ",'l':[{'_id':1,'a':[{'b':[{'r':1},{'r':8}]},{'b':{'r':2}}]}]}",
     "{" H ",'l':[{'_id':1,'a':[{'b':[{'h':{'name':'one'}},{'r':8}]},{'b':{'h':{'name':'two'}}}]}]}", ""},
    /* refs, keep: get rid of the one side */
    {"copy", "{" CF ",'refs':'drop','keep':'none','orphans':'keep'}",
     "{" H ",'l':[{'_id':1,'host':1,'m':1},{'_id':2,'host':7}]}",
     "{'h':[{'_id':2,'name':'two','ip':'b'},{'_id':3,'name':'three'}],'l':[{'_id':1,'m':1,'ip':'a','name':'one'},"
     "{'_id':2,'host':7}]}", ""},
    {"copy", "{" CF ",'keep':'none','orphans':{'into':'lost'},'where':{'_id':{'$ne':3}}}",
     "{" H ",'l':[{'_id':1,'host':1}]}",
     "{'h':[{'_id':3,'name':'three'}],'lost':[{'_id':2,'name':'two','ip':'b'}],'l':[{'_id':1,'host':1,'ip':'a',"
     "'name':'one'}]}", ""},
    {"copy", "{" CF ",'orphans':'refuse'}", "{" H ",'l':[]}", "{}", "h 1 orphans\nh 2 orphans\nh 3 orphans\n"},
    /* dangling */
    {"copy", "{" CF ",'dangling':'drop'}", "{" H ",'l':[{'_id':1,'host':9},{'_id':2,'host':null}]}",
     "{" H ",'l':[{'_id':1},{'_id':2,'host':null}]}", ""},
    {"copy", "{" CF ",'dangling':'null'}", "{" H ",'l':[{'_id':1,'host':9}]}",
     "{" H ",'l':[{'_id':1,'host':null}]}", ""},
    {"copy", "{" CF ",'dangling':'refuse'}", "{" H ",'l':[{'_id':1,'host':9}]}", "{" H "}", "l 1 dangling\n"},
    /* many */
    {"copy", "{'from':'h','into':'l','match':{'k':'k'},'fields':['n']}",
     "{'h':[{'_id':1,'k':1,'n':1},{'_id':2,'k':1,'n':2}],'l':[{'_id':1,'k':1}]}",
         "{'h':[{'_id':1,'k':1,'n':1},{'_id':2,'k':1,'n':2}]}", "l 1 many\n"},
    {"copy",
     "{'from':'h','into':'l','match':{'k':'k'},"
     "'fields':['n'],'many':'last','keep':'none','orphans':'drop'}", "{'h':[{'_id':1,'k':1,'n':1},"
     "{'_id':2,'k':1,'n':2}],'l':[{'_id':1,'k':1}]}",
     "{'h':[{'_id':1,'k':1,'n':1}],'l':[{'_id':1,'k':1,'n':2}]}", ""},
    /* expressions that fail */
    {"copy", "{" C ",'fields':{'v':{'$toInt':'$ip'},'name':'$name'}}", "{" H ",'l':[{'_id':1,'host':1}]}",
     "{" H "}", "l 1 fields.v\n"},
    {"copy", "{" C ",'fields':{'v':{'$toInt':'$ip'},'name':'$name'},'errors':'keep','replace':true}",
     "{" H ",'l':[{'v':7,'_id':1,'host':1},{'_id':2,'host':2}]}",
         "{" H ",'l':[{'v':7,'_id':1,'host':1,'name':'one'},{'_id':2,'host':2,'name':'two'}]}", ""},
    {"copy", "{" C ",'fields':{'v':{'$toInt':'$ip'}},'errors':'drop','replace':true}",
     "{" H ",'l':[{'v':7,'_id':1,'host':1}]}", "{" H ",'l':[{'_id':1,'host':1}]}", ""},
    {"copy", "{" C ",'fields':{'v':{'$toInt':'$ip'}},'errors':'null'}", "{" H ",'l':[{'_id':1,'host':1}]}",
     "{" H ",'l':[{'_id':1,'host':1,'v':null}]}", ""},
    {"copy", "{" C ",'fields':{'v':{'$toInt':'$ip'},'n':'$name'},'as':'s','errors':'keep','replace':true}",
     "{" H ",'l':[{'s':{'v':1,'n':0,'z':1},'_id':1,'host':1}]}",
         "{" H ",'l':[{'s':{'n':'one','v':1},'_id':1,'host':1}]}", ""},
    /* an array of bare references needs wrap or root; [] needs nothing */
    {"copy", "{" CF "}", "{" H ",'l':[{'_id':1,'host':[1]},{'_id':2,'host':[]}]}",
     "{" H ",'l':[{'_id':2,'host':[]}]}", "l 1 match\n"},
    /* at root: all references are one */
    {"copy", "{'from':'h','into':'l','match':{'_id':'a.host'},'fields':['name'],'at':'root'}",
     "{" H ",'l':[{'_id':1,'a':[{'host':1},{'host':1},{'host':8}]},{'_id':2,'a':[{'host':1},{'host':2}]},{'_id':3,"
     "'a':{'host':[2]}}]}",
     "{" H ",'l':[{'_id':1,'a':[{'host':1},{'host':1},{'host':8}],'name':'one'},{'_id':3,'a':{'host':[2]},"
     "'name':'two'}]}", "l 2 many\n"},
    {"copy", "{'from':'h','into':'l','match':{'k':'k'},'fields':['n'],'at':'root','many':'last'}",
     "{'h':[{'_id':1,'k':'a','n':1},{'_id':2,'k':'b','n':2}],'l':[{'_id':1,'k':['b','a']}]}",
     "{'h':[{'_id':1,'k':'a','n':1},{'_id':2,'k':'b','n':2}],'l':[{'_id':1,'k':['b','a'],'n':1}]}", ""},
    {"copy", "{" CF ",'dangling':'refuse','nulls':'match','at':'root'}",
     "{" H ",'l':[{'_id':1},{'_id':2,'host':null}]}",
     "{" H ",'l':[{'_id':1},{'_id':2,'host':null}]}", ""},
    {"copy", "{" CF ",'at':'root','many':'first','refs':'drop'}",
     "{" H ",'l':[{'_id':1,'host':[2,1]},{'_id':2,'host':[1,1]},{'_id':3,'host':[9,1]}]}",
     "{" H ",'l':[{'_id':1,'host':[1],'name':'two','ip':'b'},{'_id':2,'ip':'a','name':'one'},{'_id':3,'host':[9],"
     "'ip':'a','name':'one'}]}", ""},
    {"copy", "{'from':'h','into':'l','match':[{'from':'$_id','into':{'$toInt':'$host'}}],'fields':['name'],"
     "'at':'root'}", "{" H ",'l':[{'_id':1,'host':'2'}]}", "{" H ",'l':[{'_id':1,'host':'2','name':'two'}]}", ""},
    /* the reference on the from side */
    {"copy", "{'from':'prof','into':'u','match':{'user':'_id'},'fields':['bio'],'as':'p'}",
     "{'prof':[{'_id':7,'user':1,'bio':'x'}],'u':[{'_id':1},{'_id':2}]}",
         "{'prof':[{'_id':7,'user':1,'bio':'x'}],'u':[{'_id':1,'p':{'bio':'x'}},{'_id':2}]}", ""},
    /* several pairs */
    {"copy", "{'from':'h','into':'l','match':{'t':'t','k':'a.k'},'fields':['n']}",
     "{'h':[{'_id':1,'t':1,'k':5,'n':1},{'_id':2,'t':2,'k':5,'n':2}],'l':[{'_id':1,'t':2,'a':{'k':5}}]}",
     "{'h':[{'_id':1,'t':1,'k':5,'n':1},{'_id':2,'t':2,'k':5,'n':2}],'l':[{'_id':1,'t':2,'a':{'k':5},'n':2}]}", ""},
};

#define W "'from':'h','into':'l','match':{'_id':'parts'},'fields':['name'],'wrap':'id'"
static const struct host_case wrap[] = {
    {"copy", "{" W "}", "{" H ",'l':[{'_id':1,'parts':[1,9,2,null,1],'z':1},{'_id':2,'parts':3},{'_id':3,'parts':[]}"
     ",{'_id':4}]}",
     "{" H ",'l':[{'_id':1,'parts':[{'id':1,'name':'one'},9,{'id':2,'name':'two'},null,{'id':1,'name':'one'}],'z':1}"
     ",{'_id':2,'parts':{'id':3,'name':'three'}},{'_id':3,'parts':[]},{'_id':4}]}", ""},
    /* runs again: copies are replaced, other fields stay, stale ones go */
    {"copy", "{" W "}", "{" H ",'l':[{'_id':1,'parts':[{'id':1,'name':'one'},{'name':'old','q':1,'id':2},{'id':9,"
     "'name':'gone'},{'q':1}]}]}",
     "{" H ",'l':[{'_id':1,'parts':[{'id':1,'name':'one'},{'name':'two','q':1,'id':2},{'id':9,'name':'gone'},{'q':1}"
     "]}]}", ""},
    {"copy", "{'from':'h','into':'l','match':{'_id':'parts'},'fields':['ip'],'wrap':'id'}",
     "{" H ",'l':[{'_id':1,'parts':[{'id':3,'ip':'stale'}]}]}", "{" H ",'l':[{'_id':1,'parts':[{'id':3}]}]}", ""},
    {"copy", "{" W ",'as':'c'}", "{" H ",'l':[{'_id':1,'parts':[1,{'c':0,'id':2}]}]}",
     "{" H ",'l':[{'_id':1,'parts':[{'id':1,'c':{'name':'one'}},{'c':{'name':'two'},'id':2}]}]}", ""},
    {"copy", "{" W ",'dangling':'drop'}", "{" H ",'l':[{'_id':1,'parts':[9,1,{'id':8}]},{'_id':2,'parts':9}]}",
     "{" H ",'l':[{'_id':1,'parts':[{'id':1,'name':'one'}]},{'_id':2}]}", ""},
    {"copy", "{" W ",'dangling':'null'}", "{" H ",'l':[{'_id':1,'parts':[9,1]}]}",
     "{" H ",'l':[{'_id':1,'parts':[null,{'id':1,'name':'one'}]}]}", ""},
    {"copy", "{" W ",'dangling':'refuse'}", "{" H ",'l':[{'_id':1,'parts':[9,1]}]}", "{" H "}", "l 1 dangling\n"},
    {"copy", "{" W ",'refs':'drop'}", "{" H ",'l':[{'_id':1,'parts':[1,9,{'id':2,'q':1}]}]}",
     "{" H ",'l':[{'_id':1,'parts':[{'name':'one'},9,{'q':1,'name':'two'}]}]}", ""},
    {"copy", "{'from':'h','into':'l','match':{'_id':'a.parts'},'fields':['name'],'wrap':'id'}",
     "{" H ",'l':[{'_id':1,'a':[{'parts':[1]},{'parts':2},{}]}]}",
         "{" H ",'l':[{'_id':1,'a':[{'parts':[{'id':1,'name':'one'}]},{'parts':{'id':2,'name':'two'}},{}]}]}", ""},
    {"copy", "{'from':'h','into':'l','match':{'_id':'parts'},'fields':{'v':{'$toInt':'$ip'}},'wrap':'id',"
     "'errors':'keep'}", "{" H ",'l':[{'_id':1,'parts':[1,{'id':2,'v':5}]}]}",
         "{" H ",'l':[{'_id':1,'parts':[{'id':1},{'id':2,'v':5}]}]}", ""},
};

static const struct bench_wrong wrong[] = {
    {"copy", "{" CF ",'keep':'none'}", "keep: ..."},
    {"copy", "{" C ",'fields':['_id']}", "fields: ..."},
    {"copy", "{" C ",'fields':[]}", "fields: ..."},
    {"copy", "{" C ",'fields':['host']}", "fields: ..."},
    {"copy", "{" W ",'at':'root'}", "wrap: ..."},
    {"copy", "{" W ",'as':'a.b'}", "as: ..."},
    {"copy", "{" W ",'as':'id'}", "as: ..."},
    {"copy", "{'from':'h','into':'l','match':{'_id':'p'},'fields':['id'],'wrap':'id'}", "fields: ..."},
    {"copy", "{'from':'h','into':'l','match':{'u':'_id'},'fields':['a'],'dangling':'keep'}", "dangling: ..."},
    {"copy", "{'from':'h','into':'l','match':{'u':'_id'},'fields':['a'],'refs':'drop'}", "refs: ..."},
    {"copy", "{'from':'h','into':'l','match':[{'from':'$_id','into':{'$toInt':'$x'}}],'fields':['a']}", "at: ..."},
    {"copy", "{'from':'h','into':'l','match':[{'from':'$_id','into':{'$toInt':'$x'}}],'fields':['a'],'at':'root',"
     "'refs':'drop'}", "match: ..."},
    {"copy", "{'from':'h','into':'l','match':{'a':'x','b':'y'},'fields':['a'],'refs':'drop'}", "refs: ..."},
    {"copy", "{" CF ",'as':'_id'}", "as: ..."},
    {"copy", "{" CF ",'orphans':{'into':'h'}}", "orphans/into: ..."},
    {"copy", "{'from':'h','into':'h','match':{'_id':'up'},'fields':['a'],'keep':'none','orphans':'keep'}", "keep: ..."},
};

static void test_bare(void **s) { (void)s; host_cases(bare, BENCH_N(bare)); }
static void test_wrap(void **s) { (void)s; host_cases(wrap, BENCH_N(wrap)); }
static void test_wrong(void **s) { (void)s; bench_wrong(wrong, BENCH_N(wrong)); }

static void
test_memory(void **s)
{
    (void)s;
    host_torture(bare, BENCH_N(bare));
    host_torture(wrap, BENCH_N(wrap));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bare), cmocka_unit_test(test_wrap),
                                       cmocka_unit_test(test_wrong),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_embed.c - embed: every key, policy and corner of the plan language, as rows of plan, documents, outcome. */
#include "mongoreshape/join_ops.h"
#include "host.h"

#define P "'from':'c','into':'p'"
#define PM P ",'match':{'ref':'_id'},'as':'cs'"

static const struct host_case basic[] = {
    {"embed", "{" PM "}", "{'c':[{'_id':1,'ref':1},{'_id':2,'ref':2},{'_id':3,'ref':1}],'p':[{'_id':1},{'_id':2,"
     "'x':5}]}",
     "{'p':[{'_id':1,'cs':[{'_id':1,'ref':1},{'_id':3,'ref':1}]},{'_id':2,'x':5,'cs':[{'_id':2,'ref':2}]}]}", ""},
    /* drop, fields as list and as map */
    {"embed", "{" PM ",'drop':['ref']}", "{'c':[{'_id':1,'ref':1,'t':'a'}],'p':[{'_id':1}]}",
     "{'p':[{'_id':1,'cs':[{'_id':1,'t':'a'}]}]}", ""},
    {"embed", "{" PM ",'drop':['a.b','ref']}", "{'c':[{'_id':1,'ref':1,'a':{'b':1,'c':2}}],'p':[{'_id':1}]}",
     "{'p':[{'_id':1,'cs':[{'_id':1,'a':{'c':2}}]}]}", ""},
    {"embed", "{" PM ",'fields':['t','a.b']}", "{'c':[{'a':{'b':1,'c':2},'_id':1,'ref':1,'t':'a'}],'p':[{'_id':1}]}",
     "{'p':[{'_id':1,'cs':[{'a':{'b':1},'_id':1,'t':'a'}]}]}", ""},
    {"embed", "{" PM ",'fields':['t','-_id']}", "{'c':[{'_id':1,'ref':1,'t':'a'}],'p':[{'_id':1}]}",
     "{'p':[{'_id':1,'cs':[{'t':'a'}]}]}", ""},
    {"embed", "{" PM ",'fields':{'x.y':'$t','n':{'$add':['$v',1]},'x.z':'$v','gone':'$none'}}",
     "{'c':[{'_id':1,'ref':1,'t':'a','v':2}],'p':[{'_id':1}]}",
         "{'p':[{'_id':1,'cs':[{'x':{'y':'a','z':2},'n':3}]}]}", ""},
    {"embed", "{" PM ",'fields':['a','ref'],'drop':['ref']}", "{'c':[{'_id':1,'ref':1,'a':3,'b':4}],'p':[{'_id':1}]}",
     "{'p':[{'_id':1,'cs':[{'_id':1,'a':3}]}]}", ""},
    /* equality of MongoDB; missing and null match nothing */
    {"embed", "{" PM ",'drop':['ref','_id']}",
     "{'c':[{'_id':1,'ref':1.0},{'_id':2,'ref':{'$numberLong':'1'}},{'_id':3,'ref':{'$numberDecimal':'1.0'}},"
     "{'_id':4,'ref':'1'},{'_id':5},{'_id':6,'ref':null}],"
     "'p':[{'_id':1},{'_id':null}]}",
     "{'c':[{'_id':4,'ref':'1'},{'_id':5},{'_id':6,'ref':null}],'p':[{'_id':1,'cs':[{},{},{}]},{'_id':null,'cs':[]}"
     "]}", ""},
    {"embed", "{" PM ",'nulls':'match','drop':['ref']}",
     "{'c':[{'_id':1},{'_id':2,'ref':null},{'_id':3,'ref':{'$undefined':true}},{'_id':4,'ref':[]}],'p':[{'_id':null}"
     "]}",
     "{'c':[{'_id':4,'ref':[]}],'p':[{'_id':null,'cs':[{'_id':1},{'_id':2},{'_id':3}]}]}", ""},
    /* arrays fan out one level; a document goes into every parent that it matches */
    {"embed", "{" PM "}", "{'c':[{'_id':1,'ref':[1,2]},{'_id':2,'ref':[[1],2]}],'p':[{'_id':1},{'_id':2},{'_id':[1]}]}",
     "{'p':[{'_id':1,'cs':[{'_id':1,'ref':[1,2]}]},{'_id':2,'cs':[{'_id':1,'ref':[1,2]},{'_id':2,'ref':[[1],2]}]},"
     "{'_id':[1],'cs':[{'_id':1,'ref':[1,2]}]}]}", ""},
    /* digits are field names; dotted paths go through arrays */
    {"embed", "{" P ",'match':{'a.0':'_id'},'as':'cs','fields':['-_id','q']}",
     "{'c':[{'_id':1,'a':[7,8]},{'_id':2,'a':[{'0':7}],'q':1}],'p':[{'_id':7}]}",
     "{'c':[{'_id':1,'a':[7,8]}],'p':[{'_id':7,'cs':[{'q':1}]}]}", ""},
    /* several pairs */
    {"embed", "{" P ",'match':{'a':'x','b':'y'},'as':'cs','fields':['_id']}",
     "{'c':[{'_id':1,'a':1,'b':1},{'_id':2,'a':1,'b':2},{'_id':3,'a':[1,9],'b':[2,1]},{'_id':4,'a':1}],"
     "'p':[{'_id':1,'x':1,'y':1},{'_id':2,'x':1}]}",
     "{'c':[{'_id':2,'a':1,'b':2},{'_id':4,'a':1}],'p':[{'_id':1,'x':1,'y':1,'cs':[{'_id':1},{'_id':3}]},{'_id':2,"
     "'x':1,'cs':[]}]}", ""},
    /* list form with expressions */
    {"embed", "{" P ",'match':[{'from':{'$toInt':'$ref'},'into':'$_id'}],'as':'cs','fields':['_id']}",
     "{'c':[{'_id':1,'ref':'7'},{'_id':2,'ref':'z'}],'p':[{'_id':7}]}",
     "{'p':[{'_id':7,'cs':[{'_id':1}]}]}", "c 2 match\n"},
    {"embed", "{" P ",'match':[{'from':'$ref','into':{'$split':['$k',',']}}],'as':'cs','fields':['_id']}",
     "{'c':[{'_id':1,'ref':'a'},{'_id':2,'ref':'b'}],'p':[{'_id':7,'k':'b,a'}]}",
     "{'p':[{'_id':7,'k':'b,a','cs':[{'_id':1},{'_id':2}]}]}", ""},
    /* one, empty */
    {"embed", "{" PM ",'one':true}", "{'c':[{'_id':9,'ref':1}],'p':[{'_id':1},{'_id':2}]}",
     "{'p':[{'_id':1,'cs':{'_id':9,'ref':1}},{'_id':2}]}", ""},
    {"embed", "{" PM ",'one':true,'empty':'null'}", "{'c':[],'p':[{'_id':2}]}", "{'p':[{'_id':2,'cs':null}]}", ""},
    {"embed", "{" PM ",'empty':'absent'}", "{'c':[],'p':[{'_id':2,'cs':7}]}", "{'p':[{'_id':2,'cs':7}]}", ""},
    {"embed", "{" PM "}", "{'c':[],'p':[{'_id':2}]}", "{'p':[{'_id':2,'cs':[]}]}", ""},
    /* many */
    {"embed", "{" PM ",'one':true}", "{'c':[{'_id':8,'ref':1},{'_id':9,'ref':1}],'p':[{'_id':1}]}",
     "{'c':[{'_id':8,'ref':1},{'_id':9,'ref':1}]}", "p 1 many\n"},
    {"embed", "{" PM ",'one':true,'many':'first'}", "{'c':[{'_id':8,'ref':1},{'_id':9,'ref':1}],'p':[{'_id':1}]}",
     "{'c':[{'_id':9,'ref':1}],'p':[{'_id':1,'cs':{'_id':8,'ref':1}}]}", ""},
    {"embed", "{" PM ",'one':true,'many':'last','sort':{'_id':-1},'keep':'none','orphans':'drop','count':'n'}",
     "{'c':[{'_id':8,'ref':1},{'_id':9,'ref':1},{'_id':10}],'p':[{'_id':1}]}",
         "{'c':[{'_id':9,'ref':1}],'p':[{'_id':1,'cs':{'_id':8,'ref':1},'n':2}]}", ""},
    {"embed", "{" PM ",'one':true,'limit':1,'sort':{'_id':-1}}",
     "{'c':[{'_id':8,'ref':1},{'_id':9,'ref':1}],'p':[{'_id':1}]}",
     "{'c':[{'_id':8,'ref':1}],'p':[{'_id':1,'cs':{'_id':9,'ref':1}}]}", ""},
    /* sort on the document before fields, limit, count; keep */
    {"embed", "{" PM ",'sort':{'d':-1},'limit':2,'count':'n','fields':['_id']}",
     "{'c':[{'_id':1,'ref':1,'d':1},{'_id':2,'ref':1,'d':3},{'_id':3,'ref':1,'d':2},{'_id':4,'ref':1,'d':3}],"
     "'p':[{'_id':1},{'_id':2}]}",
     "{'c':[{'_id':1,'ref':1,'d':1},{'_id':3,'ref':1,'d':2}],'p':[{'_id':1,'cs':[{'_id':2},{'_id':4}],'n':4},"
     "{'_id':2,'cs':[],'n':0}]}", ""},
    {"embed", "{" PM ",'limit':1,'keep':'none','orphans':'keep'}",
     "{'c':[{'_id':1,'ref':1},{'_id':2,'ref':1},{'_id':3}],'p':[{'_id':1}]}",
     "{'c':[{'_id':3}],'p':[{'_id':1,'cs':[{'_id':1,'ref':1}]}]}", ""},
    {"embed", "{" PM ",'limit':0,'keep':'all'}", "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1}]}",
     "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1,'cs':[]}]}", ""},
    /* parallel arrays in sort refuse the child, if somebody matches it; a failing field refuses the parent, or
     * by errors */
    {"embed", "{" PM ",'sort':{'a':1,'b':1}}",
     "{'c':[{'_id':1,'ref':1,'a':[1],'b':[2]},{'_id':2,'ref':5,'a':[1],'b':[2]},{'_id':3,'ref':1}],'p':[{'_id':1}]}",
     "{'c':[{'_id':2,'ref':5,'a':[1],'b':[2]}],'p':[{'_id':1,'cs':[{'_id':3,'ref':1}]}]}", "c 1 sort\n"},
    {"embed", "{" PM ",'fields':{'n':{'$toInt':'$v'}}}",
     "{'c':[{'_id':1,'ref':1,'v':'x'},{'_id':2,'ref':1,'v':'2'}],'p':[{'_id':1}]}",
     "{'c':[{'_id':1,'ref':1,'v':'x'},{'_id':2,'ref':1,'v':'2'}]}", "p 1 fields.n\n"},
    {"embed", "{" PM ",'fields':{'n':{'$toInt':'$v'}},'errors':'null'}",
     "{'c':[{'_id':1,'ref':1,'v':'x'}],'p':[{'_id':1}]}", "{'p':[{'_id':1,'cs':[{'n':null}]}]}", ""},
    {"embed", "{" PM ",'fields':{'n':{'$toInt':'$v'}},'errors':'keep'}",
     "{'c':[{'_id':1,'ref':1,'v':'x'}],'p':[{'_id':1}]}", "{'p':[{'_id':1,'cs':[{}]}]}", ""},
    /* where */
    {"embed", "{" PM ",'where':{'ok':true},'orphans':'drop'}",
     "{'c':[{'_id':1,'ref':1},{'_id':2,'ref':1,'ok':true},{'_id':3,'ok':true}],'p':[{'_id':1}]}",
     "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1,'cs':[{'_id':2,'ref':1,'ok':true}]}]}", ""},
    {"embed", "{" PM ",'where':{'$expr':{'$gt':[{'$toInt':'$v'},0]}}}",
     "{'c':[{'_id':1,'ref':1,'v':'x'}],'p':[{'_id':1}]}", "{'p':[{'_id':1,'cs':[]}]}", "c 1 where\n"},
    /* orphans */
    {"embed", "{" PM ",'orphans':'refuse'}", "{'c':[{'_id':1,'ref':5}],'p':[{'_id':1}]}",
     "{'p':[{'_id':1,'cs':[]}]}", "c 1 orphans\n"},
    {"embed", "{" PM ",'orphans':{'into':'lost'}}", "{'c':[{'_id':1,'ref':5}],'p':[{'_id':1}]}",
     "{'p':[{'_id':1,'cs':[]}],'lost':[{'_id':1,'ref':5}]}", ""},
    /* a field that is there; replace puts it in its place */
    {"embed", "{" PM "}", "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1,'cs':3}]}", "{'c':[{'_id':1,'ref':1}]}", "p 1 as\n"},
    {"embed", "{" PM ",'replace':true,'count':'n'}", "{'c':[{'_id':1,'ref':1}],'p':[{'cs':3,'_id':1,'n':8,'z':1}]}",
     "{'p':[{'cs':[{'_id':1,'ref':1}],'_id':1,'n':1,'z':1}]}", ""},
    {"embed", "{" PM ",'count':'n'}", "{'c':[],'p':[{'_id':1,'n':3}]}", "{}", "p 1 count\n"},
    /* a level with a name twice is refused when it must be rewritten, also in the child */
    {"embed", "{" PM ",'drop':['ref']}", "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1}]}",
     "{'p':[{'_id':1,'cs':[{'_id':1}]}]}", ""},
    /* dotted as: through documents and arrays, missing ones are made */
    {"embed", "{" P ",'match':{'ref':'_id'},'as':'a.b.cs','count':'a.n'}",
     "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1},{'_id':2,'a':{'x':1}}]}",
     "{'p':[{'_id':1,'a':{'b':{'cs':[{'_id':1,'ref':1}]},'n':1}},{'_id':2,'a':{'x':1,'b':{'cs':[]},'n':0}}]}", ""},
    {"embed", "{" P ",'match':{'ref':'_id'},'as':'a.cs'}",
     "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1,'a':[{'x':1},{'x':2}]}]}",
     "{'p':[{'_id':1,'a':[{'x':1,'cs':[{'_id':1,'ref':1}]},{'x':2,'cs':[{'_id':1,'ref':1}]}]}]}", ""},
    /* a blocked way */
    {"embed", "{" P ",'match':{'ref':'_id'},'as':'a.cs'}", "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1,'a':null}]}",
     "{'c':[{'_id':1,'ref':1}]}", "p 1 as\n"},
    {"embed",
     "{" P ",'match':{'ref':'_id'},"
     "'as':'a.cs','errors':'keep','count':'n','keep':'none','orphans':'drop'}", "{'c':[{'_id':1,'ref':1},"
     "{'_id':2,'ref':1}],'p':[{'_id':1,'a':[{},5]}]}",
     "{'c':[{'_id':1,'ref':1},{'_id':2,'ref':1}],'p':[{'_id':1,'a':[{},5],'n':2}]}", ""},
    {"embed", "{" P ",'match':{'ref':'_id'},'as':'cs','errors':'drop','count':'a.n'}",
     "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1,'a':7}]}", "{'p':[{'_id':1,'a':7,'cs':[{'_id':1,'ref':1}]}]}", ""},
    {"embed", "{" P ",'match':{'ref':'_id'},'as':'a.cs','errors':'keep'}",
     "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1,'a':[]}]}", "{'c':[{'_id':1,'ref':1}]}", "p 1 as\n"},
    {"embed", "{" P ",'match':{'ref':'_id'},'as':'cs','count':'a.n'}",
     "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1,'a':[]}]}", "{'p':[{'_id':1,'a':[],'cs':[{'_id':1,'ref':1}]}]}", ""},
    /* one collection on both sides */
    {"embed", "{'from':'p','into':'p','match':{'up':'_id'},'as':'kids','keep':'all','fields':['_id']}",
     "{'p':[{'_id':1},{'_id':2,'up':1},{'_id':3,'up':1}]}",
     "{'p':[{'_id':1,'kids':[{'_id':2},{'_id':3}]},{'_id':2,'up':1,'kids':[]},{'_id':3,'up':1,'kids':[]}]}", ""},
    /* several into documents with one key all receive */
    {"embed", "{" P ",'match':{'k':'k'},'as':'cs','fields':['_id']}",
     "{'c':[{'_id':1,'k':'a'}],'p':[{'_id':1,'k':'a'},{'_id':2,'k':['b','a']}]}",
     "{'p':[{'_id':1,'k':'a','cs':[{'_id':1}]},{'_id':2,'k':['b','a'],'cs':[{'_id':1}]}]}", ""},
};

/* References on the into side. */
#define R P ",'match':{'_id':'parts'}"
static const struct host_case references[] = {
    /* order of the references, each document once */
    {"embed", "{" R ",'as':'ps'}", "{'c':[{'_id':1},{'_id':2},{'_id':3}],'p':[{'_id':9,'parts':[3,1,3]}]}",
     "{'c':[{'_id':2}],'p':[{'_id':9,'parts':[3,1,3],'ps':[{'_id':3},{'_id':1}]}]}", ""},
    {"embed", "{" R ",'as':'ps','sort':{'_id':1},'count':'n'}",
     "{'c':[{'_id':1},{'_id':2},{'_id':3}],'p':[{'_id':9,'parts':[3,1,3]}]}",
     "{'c':[{'_id':2}],'p':[{'_id':9,'parts':[3,1,3],'ps':[{'_id':1},{'_id':3}],'n':2}]}", ""},
    {"embed", "{" P ",'match':{'k':'parts'},'reference':'into','as':'ps','count':'n'}",
     "{'c':[{'_id':1,'k':['a','b']},{'_id':2,'k':'b'},{'_id':3,'k':'b'}],'p':[{'_id':9,'parts':['b','a']}]}",
     "{'p':[{'_id':9,'parts':['b','a'],'ps':[{'_id':1,'k':['a','b']},{'_id':2,'k':'b'},{'_id':3,'k':'b'}],'n':3}]}",
         ""},
    {"embed", "{" P ",'match':{'k':'parts'},'reference':'into','as':'ps','sort':{'_id':-1},'limit':2,'count':'n'}",
     "{'c':[{'_id':1,'k':['a','b']},{'_id':2,'k':'b'},{'_id':3,'k':['b','a']}],'p':[{'_id':9,'parts':['b','a']}]}",
     "{'c':[{'_id':1,'k':['a','b']}],'p':[{'_id':9,'parts':['b','a'],'ps':[{'_id':3,'k':['b','a']},{'_id':2,'k':'b'}"
     "],'n':3}]}", ""},
    {"embed", "{" P ",'match':{'_id':'host'},'as':'h','one':true,'keep':'all'}",
     "{'c':[{'_id':1,'ip':'x'}],'p':[{'_id':5,'host':1},{'_id':6,'host':2},{'_id':7},{'_id':8,'host':null}]}",
     "{'c':[{'_id':1,'ip':'x'}],'p':[{'_id':5,'host':1,'h':{'_id':1,'ip':'x'}},{'_id':6,'host':2},{'_id':7},"
     "{'_id':8,'host':null}]}", ""},
    /* what one parent was given is no double for the next */
    {"embed", "{" P ",'match':{'k':'parts'},'reference':'into','as':'ps','fields':['_id']}",
     "{'c':[{'_id':1,'k':'a'}],'p':[{'_id':8,'parts':['a','b']},{'_id':9,'parts':['b','a']}]}",
     "{'p':[{'_id':8,'parts':['a','b'],'ps':[{'_id':1}]},{'_id':9,'parts':['b','a'],'ps':[{'_id':1}]}]}", ""},
    /* with `nulls: match` a document that lacks the path has the key null, in arrays too; what is no document
     * has none */
    {"embed", "{" P ",'match':{'k':'a.r'},'reference':'into','as':'a.c','nulls':'match','fields':['-_id'],"
     "'empty':'absent'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'a':[{'r':1},{},{'r':null},4]},{'_id':8},{'_id':7,'a':5}]}",
     "{'p':[{'_id':9,'a':[{'r':1},{'c':[{}]},{'r':null,'c':[{}]},4]},{'_id':8},{'_id':7,'a':5}]}", ""},
    {"embed", "{" P ",'match':{'a.k':'_id'},'as':'cs','nulls':'match','fields':['_id']}",
     "{'c':[{'_id':1,'a':[{'k':1},{}]},{'_id':2,'a':[4]},{'_id':3,'a':4},{'_id':4,'a':[]}],'p':[{'_id':null},"
     "{'_id':1}]}",
     "{'c':[{'_id':2,'a':[4]},{'_id':4,'a':[]}],'p':[{'_id':null,'cs':[{'_id':1},{'_id':3}]},{'_id':1,"
     "'cs':[{'_id':1}]}]}",
     ""},
    {"embed", "{" R ",'as':'parts','nulls':'match','keep':'none','orphans':'keep'}",
     "{'c':[{'_id':null,'n':1}],'p':[{'_id':9},{'_id':8,'parts':[null]}]}",
     "{'p':[{'_id':9},{'_id':8,'parts':[{'_id':null,'n':1}]}]}", ""},
    {"embed", "{" R ",'as':'parts','nulls':'match','orphans':'refuse'}", "{'c':[{'_id':null,'n':1}],'p':[{'_id':9}]}",
     "{'p':[{'_id':9}]}", "c null orphans\n"},
    /* count within an element, and of documents named twice in different elements */
    {"embed", "{" P ",'match':{'_id':'l.x.r'},'as':'l.d','one':true,'count':'l.x.n','keep':'all'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'l':[{'x':{'r':1}},{'y':1}]}]}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'l':[{'x':{'r':1,'n':1},'d':{'_id':1}},{'y':1,'x':{'n':0}}]}]}", ""},
    {"embed", "{" P ",'match':{'_id':'l.r'},'as':'l.r','count':'n','keep':'all'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'l':[{'r':[1,1]},{'r':1}]}]}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'l':[{'r':[{'_id':1},{'_id':1}]},{'r':{'_id':1}}],'n':2}]}", ""},
    /* a null or missing reference is never dangling, also where it is a key */
    {"embed", "{" R ",'as':'ps','dangling':'drop','nulls':'match'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'parts':[null,1,2]},{'_id':8},{'_id':7,'parts':null}]}",
     "{'p':[{'_id':9,'parts':[null,1],'ps':[{'_id':1}]},{'_id':8,'ps':[]},{'_id':7,'parts':null,'ps':[]}]}", ""},
    /* dangling */
    {"embed", "{" R ",'as':'ps','dangling':'drop'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'parts':[2,1,null,3]},{'_id':8,'parts':7},{'_id':7}]}",
     "{'p':[{'_id':9,'parts':[1,null],'ps':[{'_id':1}]},{'_id':8,'ps':[]},{'_id':7,'ps':[]}]}", ""},
    {"embed", "{" R ",'as':'ps','dangling':'null'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'parts':[2,1]},{'_id':8,'parts':7}]}",
     "{'p':[{'_id':9,'parts':[null,1],'ps':[{'_id':1}]},{'_id':8,'parts':null,'ps':[]}]}", ""},
    {"embed", "{" R ",'as':'ps','dangling':'refuse'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'parts':[2,1]},{'_id':8,'parts':1},{'_id':7,'parts':null}]}",
     "{'c':[{'_id':1}],'p':[{'_id':8,'parts':1,'ps':[{'_id':1}]},{'_id':7,'parts':null,'ps':[]}]}", "p 9 dangling\n"},
    {"embed", "{" P ",'match':{'_id':'x','t':'t'},'as':'ps','dangling':'drop'}",
     "{'c':[{'_id':1,'t':1}],'p':[{'_id':9,'x':1,'t':2},{'_id':8,'x':1},{'_id':7,'x':1,'t':1}]}",
     "{'p':[{'_id':9,'t':2,'ps':[]},{'_id':8,'x':1,'ps':[]},{'_id':7,'x':1,'t':1,'ps':[{'_id':1,'t':1}]}]}", ""},
    /* `as` shares the array of the reference */
    {"embed", "{" P ",'match':{'_id':'lines.pid'},'as':'lines.product','one':true,'fields':['name'],'keep':'all'}",
     "{'c':[{'_id':1,'name':'a'},{'_id':2,'name':'b'}],'p':[{'_id':9,'lines':[{'pid':2},{'pid':1,'q':3},{'pid':2},"
     "{'pid':7},{'q':1},5]},{'_id':8},{'_id':7,'lines':[]},{'_id':6,'lines':{'pid':1}}]}",
     "{'c':[{'_id':1,'name':'a'},{'_id':2,'name':'b'}],'p':[{'_id':9,'lines':[{'pid':2,'product':{'_id':2,"
     "'name':'b'}},{'pid':1,'q':3,'product':{'_id':1,'name':'a'}},{'pid':2,'product':{'_id':2,'name':'b'}},{'pid':7}"
     ",{'q':1},5]},"
     "{'_id':8},{'_id':7,'lines':[]},{'_id':6,'lines':{'pid':1,'product':{'_id':1,'name':'a'}}}]}", ""},
    {"embed", "{" P ",'match':{'_id':'lines.pids'},'as':'lines.ps','count':'lines.n','limit':2}",
     "{'c':[{'_id':1},{'_id':2},{'_id':3}],'p':[{'_id':9,'lines':[{'pids':[2,1,2]},{'pids':[3,1,2]},{}]}]}",
     "{'c':[{'_id':2}],'p':[{'_id':9,'lines':[{'pids':[2,1,2],'ps':[{'_id':2},{'_id':1}],'n':2},{'pids':[3,1,2],"
     "'ps':[{'_id':3},{'_id':1}],'n':3},{'ps':[],'n':0}]}]}", ""},
    {"embed", "{" P ",'match':{'_id':'lines.pid'},'as':'lines.ps','count':'n','empty':'absent','dangling':'drop'}",
     "{'c':[{'_id':1},{'_id':2}],'p':[{'_id':9,'lines':[{'pid':1},{'pid':1},{'pid':2},{'pid':4}]}]}",
     "{'p':[{'_id':9,'lines':[{'pid':1,'ps':[{'_id':1}]},{'pid':1,'ps':[{'_id':1}]},{'pid':2,'ps':[{'_id':2}]},{}],"
     "'n':3}]}", ""},
    /* elements that are no documents: skipped, unless [] would have to be there */
    {"embed", "{" P ",'match':{'_id':'lines.pid'},'as':'lines.ps'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'lines':[{'pid':1},5]}]}", "{'c':[{'_id':1}]}", "p 9 as\n"},
    {"embed", "{" P ",'match':{'_id':'lines.pid'},'as':'lines.ps','errors':'keep'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'lines':[{'pid':1},5]}]}",
         "{'c':[{'_id':1}],'p':[{'_id':9,'lines':[{'pid':1},5]}]}", ""},
    /* per element: many, limit, an overflow that would be needed */
    {"embed", "{" P ",'match':{'k':'lines.k'},'as':'lines.c','one':true,'many':'last'}",
     "{'c':[{'_id':1,'k':1},{'_id':2,'k':1},{'_id':3,'k':2}],'p':[{'_id':9,'lines':[{'k':1},{'k':2}]}]}",
     "{'c':[{'_id':1,'k':1}],'p':[{'_id':9,'lines':[{'k':1,'c':{'_id':2,'k':1}},{'k':2,'c':{'_id':3,'k':2}}]}]}", ""},
    {"embed", "{" P ",'match':{'k':'lines.k'},'as':'lines.c','overflow':{'into':'more','size':1,'ref':'r',"
     "'number':'n','items':'i'}}",
     "{'c':[{'_id':1,'k':1},{'_id':2,'k':1},{'_id':3,'k':2}],'p':[{'_id':9,'lines':[{'k':1}]},{'_id':8,"
     "'lines':[{'k':2}]}]}",
     "{'c':[{'_id':1,'k':1},{'_id':2,'k':1}],'p':[{'_id':8,'lines':[{'k':2,'c':[{'_id':3,'k':2}]}]}]}",
         "p 9 overflow\n"},
    /* several pairs in one array are matched element by element */
    {"embed", "{" P ",'match':{'a':'l.a','b':'l.b','t':'t'},'as':'l.c','fields':['_id']}",
     "{'c':[{'_id':1,'a':1,'b':2,'t':1},{'_id':2,'a':2,'b':1,'t':1},{'_id':3,'a':1,'b':1,'t':2},{'_id':4,'a':[1,2],"
     "'b':[1,2],'t':1}],'p':[{'_id':9,'t':1,'l':[{'a':1,'b':1},{'a':2,'b':1},{'a':1}]}]}",
     "{'c':[{'_id':1,'a':1,'b':2,'t':1},{'_id':3,'a':1,'b':1,'t':2}],'p':[{'_id':9,'t':1,'l':[{'a':1,'b':1,"
     "'c':[{'_id':4}]},{'a':2,'b':1,'c':[{'_id':2},{'_id':4}]},{'a':1,'c':[]}]}]}", ""},
    /* nested arrays */
    {"embed", "{" P ",'match':{'_id':'a.b.r'},'as':'a.b.d','one':true,'count':'a.n','keep':'all'}",
     "{'c':[{'_id':1},{'_id':2}],'p':[{'_id':9,'a':[{'b':[{'r':1},{'r':2}]},{'b':{'r':2}},{}]}]}",
     "{'c':[{'_id':1},{'_id':2}],'p':[{'_id':9,'a':[{'b':[{'r':1,'d':{'_id':1}},{'r':2,'d':{'_id':2}}],'n':2},"
     "{'b':{'r':2,'d':{'_id':2}},'n':1},{'n':0}]}]}", ""},
};

static const struct host_case in_place[] = {
    {"embed", "{" R ",'as':'parts'}", "{'c':[{'_id':1,'n':'a'},{'_id':2,'n':'b'}],'p':[{'_id':9,'parts':[2,1,2,7,"
     "null]},{'_id':8,'parts':1},{'_id':7},{'_id':6,'parts':[]}]}",
     "{'p':[{'_id':9,'parts':[{'_id':2,'n':'b'},{'_id':1,'n':'a'},{'_id':2,'n':'b'},7,null]},{'_id':8,"
     "'parts':{'_id':1,'n':'a'}},{'_id':7},{'_id':6,'parts':[]}]}", ""},
    /* runs again: a document counts as the reference to its own _id, others stay */
    {"embed", "{" R ",'as':'parts','keep':'all','count':'n'}",
     "{'c':[{'_id':1,'n':'new'}],'p':[{'_id':9,'parts':[{'_id':1,'n':'old'},{'_id':3},{'x':1},1]}]}",
     "{'c':[{'_id':1,'n':'new'}],'p':[{'_id':9,'parts':[{'_id':1,'n':'new'},{'_id':3},{'x':1},{'_id':1,'n':'new'}],"
     "'n':1}]}", ""},
    {"embed", "{" R ",'as':'parts','keep':'all'}",
     "{'c':[{'_id':1,'n':'same'}],'p':[{'_id':9,'parts':[{'_id':1,'n':'same'}]}]}",
     "{'c':[{'_id':1,'n':'same'}],'p':[{'_id':9,'parts':[{'_id':1,'n':'same'}]}]}", ""},
    /* matched on another field, still by _id where it is a document; many */
    {"embed", "{" P ",'match':{'sku':'parts'},'reference':'into','as':'parts','keep':'all'}",
     "{'c':[{'_id':1,'sku':'a'},{'_id':2,'sku':'b'}],'p':[{'_id':9,'parts':['b',{'_id':1}]}]}",
     "{'c':[{'_id':1,'sku':'a'},{'_id':2,'sku':'b'}],'p':[{'_id':9,'parts':[{'_id':2,'sku':'b'},{'_id':1,'sku':'a'}"
     "]}]}", ""},
    {"embed", "{" P ",'match':{'sku':'parts'},'reference':'into','as':'parts'}",
     "{'c':[{'_id':1,'sku':'a'},{'_id':2,'sku':'a'}],'p':[{'_id':9,'parts':['a']}]}",
     "{'c':[{'_id':1,'sku':'a'},{'_id':2,'sku':'a'}]}", "p 9 many\n"},
    {"embed", "{" P ",'match':{'sku':'parts'},'reference':'into','as':'parts','many':'first'}",
     "{'c':[{'_id':1,'sku':'a'},{'_id':2,'sku':'a'}],'p':[{'_id':9,'parts':['a']}]}",
     "{'c':[{'_id':2,'sku':'a'}],'p':[{'_id':9,'parts':[{'_id':1,'sku':'a'}]}]}", ""},
    /* a document that as a whole is a key */
    {"embed", "{" R ",'as':'parts'}", "{'c':[{'_id':{'a':1},'n':2}],'p':[{'_id':9,'parts':[{'a':1},{'a':2}]}]}",
     "{'p':[{'_id':9,'parts':[{'_id':{'a':1},'n':2},{'a':2}]}]}", ""},
    /* dangling; documents never are */
    {"embed", "{" R ",'as':'parts','dangling':'drop'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'parts':[2,1,{'_id':5}]},{'_id':8,'parts':4}]}",
         "{'p':[{'_id':9,'parts':[{'_id':1},{'_id':5}]},{'_id':8}]}", ""},
    {"embed", "{" R ",'as':'parts','dangling':'null'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'parts':[2,1]},{'_id':8,'parts':4}]}",
         "{'p':[{'_id':9,'parts':[null,{'_id':1}]},{'_id':8,'parts':null}]}", ""},
    {"embed", "{" R ",'as':'parts','dangling':'refuse'}", "{'c':[{'_id':1}],'p':[{'_id':9,'parts':[2,1]}]}",
     "{'c':[{'_id':1}]}", "p 9 dangling\n"},
    {"embed", "{" P ",'match':{'_id':'lines.pid'},'as':'lines.pid','count':'lines.n'}",
     "{'c':[{'_id':1}],'p':[{'_id':9,'lines':[{'pid':1},{'q':1},4]}]}",
     "{'p':[{'_id':9,'lines':[{'pid':{'_id':1},'n':1},{'q':1,'n':0},4]}]}", ""},
};

#define O(size, more) PM ",'overflow':{'into':'m','size':" #size ",'ref':'r','number':'n','items':'i'" more "}"
static const struct host_case pages[] = {
    /* the vector of the contract */
    {"embed", "{'from':'cs','into':{'db':'blog','coll':'posts'},'match':{'ref':'_id'},'as':'comments',"
     "'fields':['-_id'],'overflow':{'into':{'db':'blog','coll':'comments_more'},'size':1,'ref':'r','number':'n',"
     "'items':'i'}}",
     "{'cs':[{'ref':{'$oid':'5f5e1000a1b2c3d4e5f60718'}},{'ref':{'$oid':'5f5e1000a1b2c3d4e5f60718'}}],"
     "'posts':[{'_id':{'$oid':'5f5e1000a1b2c3d4e5f60718'}}]}",
     "{'posts':[{'_id':{'$oid':'5f5e1000a1b2c3d4e5f60718'},'comments':[{}]}],"
     "'comments_more':[{'_id':{'$oid':'5f5e10000f5c75d7dd28a975'},'r':{'$oid':'5f5e1000a1b2c3d4e5f60718'},'n':2,"
     "'i':[{}]}]}", ""},
    {"embed", "{" O(2, ",'flag':'f'") ",'count':'k','fields':['_id']}",
     "{'c':[{'_id':1,'ref':1},{'_id':2,'ref':1},{'_id':3,'ref':1},{'_id':4,'ref':1},{'_id':5,'ref':1},{'_id':6,"
     "'ref':2}],'p':[{'_id':1},{'_id':2}]}",
     "{'p':[{'_id':1,'cs':[{'_id':1},{'_id':2}],'k':5,'f':true},{'_id':2,'cs':[{'_id':6}],'k':1}],"
     "'m':[{'_id':{'$oid':'00000000e59f455cd13961f6'},'r':1,'n':2,'i':[{'_id':3},{'_id':4}]},"
     "{'_id':{'$oid':'00000000457965731321dffb'},'r':1,'n':3,'i':[{'_id':5}]}]}", ""},
    {"embed", "{" O(1, ",'flag':'f'") ",'limit':0,'replace':true,'fields':['_id']}",
     "{'c':[{'_id':1,'ref':1}],'p':[{'_id':1,'cs':9},{'_id':2,'f':true,'x':1}]}",
     "{'p':[{'_id':1,'cs':[],'f':true},{'_id':2,'x':1,'cs':[]}],'m':[{'_id':{'$oid':'00000000e59f455cd13961f6'},"
     "'r':1,'n':2,'i':[{'_id':1}]}]}", ""},
};

static const struct bench_wrong wrong[] = {
    {"embed", "{" PM ",'keep':'none'}", "keep: ..."},
    {"embed", "{" PM ",'one':true,'empty':'array'}", "empty: ..."},
    {"embed", "{" PM ",'empty':'null'}", "empty: ..."},
    {"embed", "{" PM ",'dangling':'drop'}", "dangling: ..."},
    {"embed", "{" PM ",'oversize':'overflow'}", "oversize: ..."},
    {"embed", "{" P ",'match':{'ref':'_id'},'as':'_id.x'}", "as: ..."},
    {"embed", "{" PM ",'count':'cs'}", "count: ..."},
    {"embed", "{" PM ",'count':'cs.n'}", "count: ..."},
    {"embed", "{" PM ",'count':'_id'}", "count: ..."},
    {"embed", "{" R ",'as':'parts','sort':{'a':1},'limit':2}",
     "sort: cannot be used in place (`as` is the reference itself)\nlimit: ..."},
    {"embed", "{" O(0, "") "}", "overflow/size: ..."},
    {"embed", "{" PM ",'overflow':{'into':'p','size':1,'ref':'r','number':'n','items':'i'}}", "overflow/into: ..."},
    {"embed", "{" PM ",'overflow':{'into':'m','size':1,'ref':'r','number':'r','items':'_id'}}", "overflow/items: ..."},
    {"embed", "{" PM ",'overflow':{'into':'m','size':1}}", "overflow: `ref` is needed..."},
    {"embed", "{'from':'p','into':'p','match':{'up':'_id'},'as':'k'}", "keep: ..."},
    {"embed", "{" PM ",'orphans':{'into':'c'}}", "orphans/into: ..."},
    {"embed", "{" P ",'match':[{'from':'$_id','into':{'$toInt':'$x'}}],'as':'a','reference':'into',"
     "'dangling':'null'}", "dangling: ..."},
    {"embed", "{" P ",'match':{'a':'x','b':'y'},'reference':'into','as':'a','dangling':'drop'}", "dangling: ..."},
    {"embed", "{" PM ",'one':true,'overflow':{'into':'m','size':1,'ref':'r','number':'n','items':'i'}}",
     "overflow: ..."},
    {"embed", "{" PM ",'keep':'some'}", "keep: ..."},
};

static void test_basic(void **s) { (void)s; host_cases(basic, BENCH_N(basic)); }
static void test_references(void **s) { (void)s; host_cases(references, BENCH_N(references)); }
static void test_in_place(void **s) { (void)s; host_cases(in_place, BENCH_N(in_place)); }
static void test_pages(void **s) { (void)s; host_cases(pages, BENCH_N(pages)); }
static void test_wrong(void **s) { (void)s; bench_wrong(wrong, BENCH_N(wrong)); }

static void
test_memory(void **s)
{
    (void)s;
    host_torture(basic, BENCH_N(basic));
    host_torture(references, BENCH_N(references));
    host_torture(in_place, BENCH_N(in_place));
    host_torture(pages, BENCH_N(pages));
}

/* The key and the shape of a document of from, or what refuses them. */
static enum mrs_status
made_of(struct bench *b, struct mrs_ctx *c, struct mrs_view d, struct mrs_buf *out)
{
    struct mrs_keys keys;
    mrs_keys_init(&keys, b->mem);
    mrs_buf_reset(out);
    mrs_arena_reset(&b->arena);
    mrs_err_clear(&b->err);
    assert_int_equal(b->type->join->keys(b->state, c, 0, d, &keys), MRS_OK);
    mrs_buf_put(out, keys.bytes.p, keys.bytes.n);
    mrs_keys_clear(&keys);
    return b->type->join->payload(b->state, c, d, out);
}

/* Documents in a row, of the same names, of others, with names twice: each brings what it brings alone, whether or not
 * its fields have been found before. */
static void
rows_of_documents(void **s)
{
    static const char *const bodies[] = {
        "{" P ",'match':{'p':'_id'},'as':'cs','drop':['p']}",
        "{" P ",'match':{'p':'_id'},'as':'cs','drop':['n','p','t']}",
        "{" P ",'match':{'p':'_id'},'as':'cs','fields':['t','p']}",
        "{" P ",'match':{'p':'_id'},'as':'cs','fields':['b'],'drop':['_id']}",
    };
    static const char *const rows[] = {
        "{'_id':1,'p':1,'n':1,'t':'a','b':true}",     "{'_id':2,'p':5,'n':3,'t':'bb','b':false}",
        "{'_id':3,'p':null,'n':0,'t':'','b':true}",   "{'_id':4,'t':'ccc','in':{'b':5},'n':0,'p':true}",
        "{'p':[1,2],'in':{},'t':'','b':true}",        "{'_id':4,'n':3,'in':{},'t':'','b':true,'new':7}",
        "{'t':'x','p':1}", "{'t':'xy','p':2}", "{'p':3}", "{}", "{'n':3,'_id':8}",
    };
    (void)s;
    for (size_t k = 0; k < BENCH_N(bodies); k++) {
        struct mrs_layout layout = {0};
        struct bench row;
        bench_open(&row, "embed", bodies[k], 0);
        struct mrs_eval_fields f;
        struct mrs_ctx c = {.mem = row.mem, .arena = &row.arena, .err = &row.err, .fields = &f};
        struct mrs_buf got, want;
        mrs_buf_init(&got, row.mem, 1 << 20);
        mrs_buf_init(&want, row.mem, 1 << 20);
        for (uint32_t i = 0; i < 4000; i++) {
            struct mrs_ctx alone = {.mem = row.mem, .arena = &row.arena, .err = &row.err};
            struct mrs_view d;
            size_t at = i < 1000 ? i / 7 : (i * 2654435761u) >> 9; /* rows of a few, then any */
            uint8_t *bytes = bench_doc(rows[at % BENCH_N(rows)], &d);
            uint8_t *t = i / 7 % 5 ? NULL : memchr(bytes + 4, 't', d.n - 4);
            if (t && t[1] == 0) { /* a name twice, or another one as long */
                *t = i / 35 % 3 ? 'p' : 'm';
            }
            assert_int_equal(mrs_doc_check_fields(d.p, d.n, MRS_DEPTH_READ, &f, &layout, NULL), MRS_OK);
            if (f.tpl && i % 2) {
                mrs_template_fields(f.tpl, d.p, &f);
                f.tpl = NULL;
            }
            c.fields_of = d.p;
            enum mrs_status st = made_of(&row, &alone, d, &want);
            assert_int_equal(made_of(&row, &c, d, &got), st);
            assert_int_equal(got.n, want.n);
            assert_memory_equal(got.p, want.p, st == MRS_OK ? got.n : 0);
            free(bytes);
        }
        mrs_buf_clear(&got);
        mrs_buf_clear(&want);
        assert_int_equal(bench_close(&row), 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_basic), cmocka_unit_test(test_references),
                                       cmocka_unit_test(test_in_place),
                                       cmocka_unit_test(test_pages), cmocka_unit_test(test_wrong),
                                           cmocka_unit_test(test_memory), cmocka_unit_test(rows_of_documents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

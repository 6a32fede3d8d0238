/* SPDX-License-Identifier: Apache-2.0 */
/* t_extract.c - extract: every key, policy and corner of the plan language, as rows of plan, documents, outcome. */
#include "host.h"

#define F "'from':'p','into':'c'"
#define FC F ",'path':'cs'"
#define N FC ",'refs':'none'"

static const struct host_case plain[] = {
    {"extract", "{" FC ",'parent_ref':'pid'}",
     "{'p':[{'_id':1,'x':1,'cs':[{'_id':7,'t':'a'},{'t':'b','_id':8}],'y':2},{'_id':2},{'_id':3,'cs':[]},{'_id':4,"
     "'cs':null},{'_id':5,'cs':6}]}",
     "{'p':[{'_id':1,'x':1,'y':2},{'_id':2},{'_id':3,'cs':[]},{'_id':4,'cs':null},{'_id':5,'cs':6}],'c':[{'_id':7,"
     "'pid':1,'t':'a'},{'_id':8,'pid':1,'t':'b'}]}", ""},
    /* an existing collection is added to; a subdocument is one element; {} is a document */
    {"extract", "{" FC ",'parent_ref':'pid','position':'pos'}",
     "{'c':[{'_id':0}],'p':[{'_id':1,'cs':{'_id':7,'t':'a'}},{'_id':2,'cs':{'_id':9}}]}",
     "{'p':[{'_id':1},{'_id':2}],'c':[{'_id':0},{'_id':7,'pid':1,'t':'a'},{'_id':9,'pid':2}]}", ""},
    /* position, new ids: the contract's vectors */
    {"extract", "{'from':{'db':'blog','coll':'posts'},'into':{'db':'blog','coll':'comments'},'path':'comments',"
     "'parent_ref':'p','position':'pos'}",
     "{'posts':[{'_id':1.0,'comments':[{'_id':5},7,{'b':1}]}]}",
     "{'posts':[{'_id':1.0}],'comments':[{'_id':5,'p':1.0,'pos':0},{'_id':{'$oid':'0000000049d0ab0496f8667e'},"
     "'p':1.0,'pos':1,'value':7},{'_id':{'$oid':'00000000ae3004621cd6bf9d'},'p':1.0,'pos':2,'b':1}]}", ""},
    {"extract", "{'from':{'db':'shop','coll':'customers'},'into':{'db':'shop','coll':'payments'},"
     "'path':'Rentals.Payments','parent_ref':'rid','parent_key':'Rentals.id','position':'pos','drop':['x']}",
     "{'customers':[{'_id':{'$oid':'5f5e1000a1b2c3d4e5f60718'},'Rentals':[{'id':'a','Payments':[{'_id':1}]},"
     "{'id':'b'},{'id':'c','Payments':[]},{'id':'d','n':1,'Payments':[{'x':1,'a':2},{'_id':4}]},5]}]}",
     "{'customers':[{'_id':{'$oid':'5f5e1000a1b2c3d4e5f60718'},'Rentals':[{'id':'a'},{'id':'b'},{'id':'c',"
     "'Payments':[]},{'id':'d','n':1},5]}],"
     "'payments':[{'_id':1,'rid':'a','pos':[0,0]},{'_id':{'$oid':'5f5e1000d1b052635703f9ea'},'rid':'d','pos':[3,0],"
     "'a':2},{'_id':4,'rid':'d','pos':[3,1]}]}", ""},
    {"extract", "{'from':{'db':'w','coll':'data'},'into':{'db':'w','coll':'stations'},'path':{'fields':['Airport',"
     "'State']},'refs':'both','parent_ref':'d','child_refs':'station'}",
     "{'data':[{'State':null,'_id':1,'Airport':'x','z':1},{'_id':2,'z':2}]}",
     "{'data':[{'_id':1,'z':1,'station':{'$oid':'00000000440ce8a0321d8f5e'}},{'_id':2,'z':2}],"
     "'stations':[{'_id':{'$oid':'00000000440ce8a0321d8f5e'},'d':1,'State':null,'Airport':'x'}]}", ""},
    /* refs */
    {"extract", "{" FC ",'refs':'child'}", "{'p':[{'_id':1,'cs':[{'_id':7,'t':'a'},{'_id':8}],'y':2},{'_id':2,"
     "'cs':{'_id':9}},{'_id':3,'cs':[]}]}",
     "{'p':[{'_id':1,'cs':[7,8],'y':2},{'_id':2,'cs':9},{'_id':3,'cs':[]}],'c':[{'_id':7,'t':'a'},{'_id':8},"
     "{'_id':9}]}", ""},
    {"extract", "{" FC ",'refs':'both','parent_ref':'pid','child_refs':'ids','count':'n'}",
     "{'p':[{'_id':1,'cs':[{'_id':7},{'_id':8}],'y':2},{'_id':2}]}",
     "{'p':[{'_id':1,'y':2,'ids':[7,8],'n':2},{'_id':2,'n':0}],'c':[{'_id':7,'pid':1},{'_id':8,'pid':1}]}", ""},
    {"extract", "{" FC ",'refs':'child','child_refs':'ids'}", "{'p':[{'_id':1,'cs':[{'_id':7}],'ids':2}]}", "{}",
     "p 1 child_refs\n"},
    {"extract", "{" FC ",'refs':'child','child_refs':'ids','replace':true}",
     "{'p':[{'ids':2,'_id':1,'cs':[{'_id':7}]}]}", "{'p':[{'ids':[7],'_id':1}],'c':[{'_id':7}]}", ""},
    {"extract", "{" F ",'path':'items.sub','refs':'child','child_refs':'items.ids','count':'items.n'}",
     "{'p':[{'_id':1,'items':[{'sub':[{'_id':7},{'_id':8}]},{'a':1},4,{'sub':{'_id':9}}]}]}",
     "{'p':[{'_id':1,'items':[{'ids':[7,8],'n':2},{'a':1,'n':0},4,{'ids':9,'n':1}]}],'c':[{'_id':7},{'_id':8},"
     "{'_id':9}]}", ""},
    {"extract", "{" F ",'path':'items.sub','refs':'child','child_refs':'ids'}",
     "{'p':[{'_id':1,'items':[{'sub':[{'_id':7}]},{'a':1}]},{'_id':2,'items':[{'sub':[{'_id':8}]},{'sub':{'_id':9}}"
     "]}]}",
     "{'p':[{'_id':1,'items':[{},{'a':1}],'ids':[7]}],'c':[{'_id':7}]}", "p 2 child_refs\n"},
    {"extract", "{" FC ",'refs':'child','child_refs':'a.ids','errors':'keep'}",
     "{'p':[{'_id':1,'cs':[{'_id':7}],'a':5},{'_id':2,'cs':[{'_id':8}],'a':[]}]}", "{}",
         "p 1 child_refs\np 2 child_refs\n"},
    {"extract", "{" N ",'count':'a.n','errors':'keep'}", "{'p':[{'_id':1,'cs':[{'_id':7}],'a':5}]}",
     "{'p':[{'_id':1,'a':5}],'c':[{'_id':7}]}", ""},
    {"extract", "{" N ",'count':'a.n'}", "{'p':[{'_id':1,'cs':[{'_id':7}],'a':5}]}", "{}", "p 1 count\n"},
    {"extract", "{" N ",'count':'n'}", "{'p':[{'_id':1,'n':0}]}", "{}", "p 1 count\n"},
    /* parent_key that is missing; a field of the element with the name of parent_ref */
    {"extract", "{" FC ",'parent_ref':'k','parent_key':'key'}",
     "{'p':[{'_id':1,'cs':[{'_id':7}]},{'_id':2},{'_id':3,'key':null,'cs':[{'_id':8}]}]}",
         "{'p':[{'_id':2},{'_id':3,'key':null}],'c':[{'_id':8,'k':null}]}", "p 1 parent_key\n"},
    {"extract", "{" FC ",'parent_ref':'k','position':'i'}",
     "{'p':[{'_id':1,'cs':[{'a':1,'k':1.0,'_id':7,'i':{'$numberLong':'0'}}]},{'_id':2,'cs':[{'_id':8,'k':1}]},"
     "{'_id':3,'cs':[{'_id':9,'i':1}]}]}",
     "{'p':[{'_id':1}],'c':[{'_id':7,'a':1,'k':1.0,'i':{'$numberLong':'0'}}]}", "p 2 parent_ref\np 3 position\n"},
    {"extract", "{" FC ",'parent_ref':'k','replace':true}", "{'p':[{'_id':2,'cs':[{'_id':8,'k':1,'z':1}]}]}",
     "{'p':[{'_id':2}],'c':[{'_id':8,'k':2,'z':1}]}", ""},
    /* id */
    {"extract", "{" N ",'id':'$k'}", "{'p':[{'_id':1,'cs':[{'k':5,'_id':7}]},{'_id':2,'cs':[{'a':1}]},{'_id':3,"
     "'cs':[{'k':[1]}]}]}", "{'p':[{'_id':1}],'c':[{'_id':5,'k':5}]}", "p 2 id\np 3 id\n"},
    {"extract", "{" N ",'id':{'p':'$$PARENT._id','i':'$$POSITION'}}", "{'p':[{'_id':1,'cs':[{'k':5},6]}]}",
     "{'p':[{'_id':1}],'c':[{'_id':{'p':1,'i':0},'k':5},{'_id':{'p':1,'i':1},'value':6}]}", ""},
    {"extract", "{" N ",'id':'new'}", "{'p':[{'cs':[{'_id':7}]}]}",
     "{'p':[{}],'c':[{'_id':{'$oid':'0000000034109ccc3b21e9b7'}}]}", ""},
    {"extract", "{" N "}", "{'p':[{'_id':1,'cs':[{'_id':[1]}]}]}", "{}", "p 1 id\n"},
    /* value, fields, drop, variables; precedence of `_id` */
    {"extract", "{" N ",'value':'v','id':'$v'}",
     "{'p':[{'_id':1,'cs':['a',null,{'v':'c'},[1]]},{'_id':2,'cs':['d']}]}",
         "{'p':[{'_id':2}],'c':[{'_id':'d','v':'d'}]}", "p 1 id\n"},
    {"extract", "{" N ",'fields':{'a':'$b','up':'$$PARENT.x','i':'$$POSITION','me':'$$ROOT.b'}}",
     "{'p':[{'_id':1,'x':9,'cs':[{'_id':7,'b':1}]}]}",
         "{'p':[{'_id':1,'x':9}],'c':[{'_id':7,'a':1,'up':9,'i':0,'me':1}]}", ""},
    {"extract", "{" N ",'fields':{'_id':'$b'}}", "{'p':[{'_id':1,'cs':[{'_id':7,'b':1}]}]}",
     "{'p':[{'_id':1}],'c':[{'_id':1}]}", ""},
    {"extract", "{" N ",'fields':['b']}", "{'p':[{'_id':1,'cs':[{'c':2,'b':1,'_id':7}]}]}",
     "{'p':[{'_id':1}],'c':[{'_id':7,'b':1}]}", ""},
    {"extract", "{" N ",'fields':['b','-_id']}", "{'p':[{'_id':1,'cs':[{'c':2,'b':1,'_id':7}]}]}",
     "{'p':[{'_id':1}],'c':[{'_id':{'$oid':'00000000d3f1eab8d802d71a'},'b':1}]}", ""},
    {"extract", "{" N ",'fields':{'n':{'$toInt':'$b'}}}", "{'p':[{'_id':1,'cs':[{'_id':7,'b':'x'}]}]}", "{}",
     "p 1 fields.n\n"},
    {"extract", "{" N ",'fields':{'n':{'$toInt':'$b'}},'errors':'null'}",
     "{'p':[{'_id':1,'cs':[{'_id':7,'b':'x'}]}]}", "{'p':[{'_id':1}],'c':[{'_id':7,'n':null}]}", ""},
    /* where */
    {"extract", "{" N ",'where':{'ok':true},'count':'n'}", "{'p':[{'_id':1,'cs':[{'_id':7}]},{'_id':2,'ok':true,"
     "'cs':[{'_id':8}]}]}", "{'p':[{'_id':1,'cs':[{'_id':7}]},{'_id':2,'ok':true,'n':1}],'c':[{'_id':8}]}", ""},
    /* arrays directly inside arrays are not entered */
    {"extract", "{" F ",'path':'a.b','refs':'none'}", "{'p':[{'_id':1,'a':[[{'b':{'_id':7}}],{'b':{'_id':8}}]}]}",
     "{'p':[{'_id':1,'a':[[{'b':{'_id':7}}],{}]}],'c':[{'_id':8}]}", ""},
    /* list path */
    {"extract", "{" F ",'path':['x','a.b'],'refs':'none'}", "{'p':[{'_id':1,'x':{'a.b':[{'_id':7}],'c':1}}]}",
     "{'p':[{'_id':1,'x':{'c':1}}],'c':[{'_id':7}]}", ""},
    /* {fields: ...}: shape, count */
    {"extract", "{" F ",'path':{'fields':['a','b']},'refs':'child','child_refs':'ref','count':'n',"
     "'fields':{'_id':'$a','bb':'$b'}}", "{'p':[{'_id':1,'b':2,'a':3},{'_id':2}]}",
     "{'p':[{'_id':1,'ref':3,'n':1},{'_id':2,'n':0}],'c':[{'_id':3,'bb':2}]}", ""},
};

static const struct host_case leave[] = {
    {"extract", "{" FC ",'parent_ref':'pid','leave':{'limit':2,'sort':{'d':-1},'fields':['d']},'count':'n'}",
     "{'p':[{'_id':1,'cs':[{'_id':7,'d':1,'t':1},{'_id':8,'d':3},{'_id':9,'d':2}],'z':1}]}",
     "{'p':[{'_id':1,'cs':[{'_id':8,'d':3},{'_id':9,'d':2}],'z':1,'n':3}],'c':[{'_id':7,'pid':1,'d':1,'t':1},"
     "{'_id':8,'pid':1,'d':3},{'_id':9,'pid':1,'d':2}]}", ""},
    {"extract", "{" N ",'extracted':'rest','leave':{'limit':1}}",
     "{'p':[{'_id':1,'cs':[{'_id':7},{'_id':8}]},{'_id':2,'cs':{'_id':9}}]}",
         "{'p':[{'_id':1,'cs':[{'_id':7}]},{'_id':2,'cs':{'_id':9}}],'c':[{'_id':8}]}", ""},
    {"extract", "{" N ",'leave':{'limit':0}}", "{'p':[{'_id':1,'cs':[{'_id':7}]},{'_id':2,'cs':{'_id':9}}]}",
     "{'p':[{'_id':1,'cs':[]},{'_id':2}],'c':[{'_id':7},{'_id':9}]}", ""},
    {"extract", "{" N ",'id':'$k','leave':{'id':true,'fields':['-_id','a']}}",
     "{'p':[{'_id':1,'cs':[{'a':1,'k':5},{'k':6,'_id':0},7]},{'_id':2,'cs':[{'a':1,'k':5},{'k':6,'_id':0}]}]}",
     "{'p':[{'_id':2,'cs':[{'_id':5,'a':1},{'_id':6}]}],'c':[{'_id':5,'a':1,'k':5},{'_id':6,'k':6}]}", "p 1 id\n"},
    {"extract", "{" N ",'id':'$k','leave':{'id':true}}", "{'p':[{'_id':1,'cs':[{'a':1,'k':5},{'k':6,'_id':0}]}]}",
     "{'p':[{'_id':1,'cs':[{'_id':5,'a':1,'k':5},{'k':6,'_id':6}]}],'c':[{'_id':5,'a':1,'k':5},{'_id':6,'k':6}]}",
         ""},
    {"extract", "{" FC ",'refs':'child','child_refs':'ids','extracted':'rest','leave':{'limit':1,'sort':{'value':1}}"
     ",'id':'$value'}", "{'p':[{'_id':1,'cs':[3,1,2]}]}",
     "{'p':[{'_id':1,'cs':[1],'ids':[3,2]}],'c':[{'_id':3,'value':3},{'_id':2,'value':2}]}", ""},
    {"extract", "{" N ",'leave':{'sort':{'a':1,'b':1}}}", "{'p':[{'_id':1,'cs':[{'_id':1,'a':[1],'b':[1]}]}]}",
     "{}", "p 1 leave\n"},
};

#define PG(more) "'pages':{'size':2,'ref':'r','number':'n','items':'i'" more "}"
static const struct host_case pages[] = {
    {"extract", "{" FC "," PG(",'flag':'f'") ",'count':'k','drop':['x']}",
     "{'p':[{'_id':1,'cs':[{'a':1,'x':1},5,{'_id':3}]},{'_id':2,'cs':[]}]}",
     "{'p':[{'_id':1,'f':true,'k':3},{'_id':2,'cs':[],'k':0}],'c':[{'_id':{'$oid':'00000000c77257cc4e84b13b'},'r':1,"
     "'n':1,'i':[{'a':1},5]},{'_id':{'$oid':'000000007db16b60e77f0b4f'},'r':1,'n':2,'i':[{'_id':3}]}]}", ""},
    {"extract", "{" F ",'path':'a.b'," PG("") ",'leave':{'limit':1},'extracted':'rest','parent_key':'k'}",
     "{'p':[{'_id':1,'k':'K','a':[{'b':[1,2]},{'b':[3,4,5]}]}]}",
     "{'p':[{'_id':1,'k':'K','a':[{'b':[1]},{'b':[3]}]}],'c':[{'_id':{'$oid':'00000000f8a4b2037d5268b6'},'r':'K',"
     "'n':2,'i':[2,4]},{'_id':{'$oid':'00000000cb3e77229b3c7cf8'},'r':'K','n':3,'i':[5]}]}", ""},
    {"extract", "{" FC "," PG(",'flag':'f'") ",'replace':true,'fields':{'v':'$value'}}",
     "{'p':[{'_id':1,'f':true},{'f':1,'_id':2,'cs':[4]}]}",
     "{'p':[{'_id':1},{'f':true,'_id':2}],'c':[{'_id':{'$oid':'000000000e860dec3ddbc77d'},'r':2,'n':1,'i':[{'v':4}]}"
     "]}", ""},
    {"extract", "{" FC "," PG(",'flag':'f'") "}", "{'p':[{'_id':1,'f':7},{'_id':2,'f':7,'cs':[1]}]}",
     "{'p':[{'_id':1,'f':7}]}", "p 2 pages\n"},
};

#define U F ",'path':'cs','unique':['n']"
static const struct host_case unique[] = {
    /* the vector of the contract; N:M with an array of parents */
    {"extract", "{'from':{'db':'school','coll':'students'},'into':{'db':'school','coll':'courses'},'path':'courses',"
     "'unique':['name','dep'],'refs':'both','parent_ref':'students'}",
     "{'students':[{'_id':1,'courses':[{'name':'Math','dep':'Science'},{'_id':5,'name':'Art','dep':'A'}]},{'_id':2,"
     "'courses':[{'name':'Math','dep':'Science'},{'name':'Math','dep':'Science'}]},{'_id':3,'courses':{'_id':5,"
     "'name':'Art','dep':'A'}}]}",
     "{'students':[{'_id':1,'courses':[{'$oid':'000000005d351f82d8d42504'},5]},{'_id':2,"
     "'courses':[{'$oid':'000000005d351f82d8d42504'},{'$oid':'000000005d351f82d8d42504'}]},{'_id':3,'courses':5}],"
     "'courses':[{'_id':{'$oid':'000000005d351f82d8d42504'},'students':[1,2,2],'name':'Math','dep':'Science'},"
     "{'_id':5,'students':[1,3],'name':'Art','dep':'A'}]}", ""},
    /* documents already in into count: made ids take theirs */
    {"extract", "{" U ",'refs':'both','parent_ref':'ps'}",
     "{'c':[{'_id':9,'n':'a','ps':0},{'_id':8,'n':'b'},{'_id':7,'n':'z'}],'p':[{'_id':1,'cs':[{'n':'a'},{'n':'b'},"
     "{'n':'c','_id':6}]}]}",
     "{'p':[{'_id':1,'cs':[9,8,6]}],'c':[{'_id':9,'n':'a','ps':[0,1]},{'_id':8,'n':'b','ps':[1]},{'_id':7,'n':'z'},"
     "{'_id':6,'ps':[1],'n':'c'}]}", ""},
    /* disagreement refuses every source that would add a member, also the one that equals what is there */
    {"extract", "{" U ",'refs':'none'}", "{'c':[{'_id':9,'n':1,'x':1}],'p':[{'_id':1,'cs':[{'n':1,'x':1}]},{'_id':2,"
     "'cs':[{'n':1.0,'x':1}]},{'_id':3,'cs':[{'_id':4,'n':2}]}]}",
     "{'c':[{'_id':9,'n':1,'x':1},{'_id':4,'n':2}],'p':[{'_id':3}]}", "p 1 conflicts\np 2 conflicts\n"},
    {"extract", "{" U ",'refs':'none'}", "{'p':[{'_id':1,'cs':[{'n':1}]},{'_id':2,'cs':[{'_id':5,'n':1}]}]}", "{}",
     "p 1 conflicts\np 2 conflicts\n"},
    {"extract", "{" U ",'refs':'child','conflicts':'first'}",
     "{'p':[{'_id':1,'cs':[{'_id':5,'n':1,'x':1}]},{'_id':2,'cs':[{'_id':6,'n':1.0}]}]}",
         "{'p':[{'_id':1,'cs':[5]},{'_id':2,'cs':[5]}],'c':[{'_id':5,'n':1,'x':1}]}", ""},
    {"extract", "{" U ",'refs':'both','parent_ref':'ps','conflicts':'last'}",
     "{'c':[{'_id':9,'ps':[0],'n':1}],'p':[{'_id':1,'cs':[{'n':1,'x':1}]},{'_id':2,'cs':[{'n':1.0,'x':2}]}]}",
     "{'p':[{'_id':1,'cs':[9]},{'_id':2,'cs':[9]}],'c':[{'_id':9,'ps':[0,1,2],'n':1.0,'x':2}]}", ""},
    /* a part of the key that lacks: not merged */
    {"extract", "{" U ",'refs':'parent','parent_ref':'ps','id':'$i'}",
     "{'p':[{'_id':1,'cs':[{'i':1,'n':null},{'i':2,'n':null},{'i':3}]}]}",
     "{'p':[{'_id':1}],'c':[{'_id':1,'ps':[1],'i':1,'n':null},{'_id':2,'ps':[1],'i':2,'n':null},{'_id':3,'ps':[1],"
     "'i':3}]}", ""},
    {"extract", "{" F ",'path':'cs','unique':['value'],'refs':'child','fields':{'value':'$value'},'id':'$value'}",
     "{'p':[{'_id':1,'cs':['a','b']},{'_id':2,'cs':['b']}]}",
     "{'p':[{'_id':1,'cs':['a','b']},{'_id':2,'cs':['b']}],'c':[{'_id':'a','value':'a'},{'_id':'b','value':'b'}]}", ""},
    {"extract", "{" F ",'path':{'fields':['city','zip']},'unique':['zip'],'refs':'child','child_refs':'place',"
     "'id':'$zip','where':{'_id':{'$lt':4}}}",
     "{'p':[{'_id':1,'zip':5,'city':'x'},{'_id':2,'zip':5,'city':'x','q':1},{'_id':3},{'_id':4,'zip':1}]}",
     "{'p':[{'_id':1,'place':5},{'_id':2,'q':1,'place':5},{'_id':3},{'_id':4,'zip':1}],'c':[{'_id':5,'zip':5,"
     "'city':'x'}]}", ""},
    {"extract", "{" U ",'refs':'none','leave':{'id':true,'limit':1}}",
     "{'c':[{'_id':9,'n':1}],'p':[{'_id':1,'cs':[{'n':1},{'_id':3,'n':3}]}]}",
         "{'p':[{'_id':1,'cs':[{'_id':9,'n':1}]}],'c':[{'_id':9,'n':1},{'_id':3,'n':3}]}", ""},
};

static const struct bench_wrong wrong[] = {
    {"extract", "{" FC "}", "parent_ref: needed..."},
    {"extract", "{" F ",'path':'t','refs':'none','value':'v','fields':['n']}",
     "value: `v` would be lost: `fields` ..."},
    {"extract", "{" F ",'path':'t','refs':'none','value':'v','drop':['v']}", "value: `v` would be lost: `drop` ..."},
    {"extract", "{" F ",'path':'t','parent_ref':'p','value':'p'}", "value: `p` is the name in `parent_ref` already..."},
    {"extract", "{" F ",'path':'_id.x','refs':'none'}", "path: ..."},
    {"extract", "{'from':'p','into':'p','path':'cs','refs':'none'}", "into: ..."},
    {"extract", "{" F ",'path':{'fields':['a']},'refs':'child'}", "child_refs: needed..."},
    {"extract", "{" F ",'path':{'fields':['a.b']},'refs':'none'}", "path/fields: ..."},
    {"extract", "{" F ",'path':{'fields':['a']},'refs':'none','position':'i'}", "position: ..."},
    {"extract", "{" FC ",'refs':'child','leave':{'limit':1}}", "child_refs: ..."},
    {"extract", "{" U ",'refs':'none','position':'i'}", "position: ..."},
    {"extract", "{" N ",'leave':{'id':true},'extracted':'rest'}", "leave/id: ..."},
    {"extract", "{" FC "," PG("") ",'refs':'parent','parent_ref':'x','id':'new'}",
     "refs: does not go with `pages`\nparent_ref: does not go with `pages`\nid: ..."},
    {"extract", "{" N ",'id':'other'}", "id: ..."},
    {"extract", "{" N ",'position':'_id'}", "position: ..."},
    {"extract", "{" N ",'count':'cs.n'}", "count: ..."},
    {"extract", "{" FC ",'parent_ref':'x','position':'x'}", "position: ..."},
    {"extract", "{" F ",'path':'a.b'," PG("") ",'parent_key':'a.k'}", "parent_key: ..."},
    {"extract", "{" N ",'unique':[]}", "unique: ..."},
    {"extract", "{" N ",'parent_ref':'x'}", "warn parent_ref: ..."},
};

static void test_plain(void **s) { (void)s; host_cases(plain, BENCH_N(plain)); }
static void test_leave(void **s) { (void)s; host_cases(leave, BENCH_N(leave)); }
static void test_pages(void **s) { (void)s; host_cases(pages, BENCH_N(pages)); }
static void test_unique(void **s) { (void)s; host_cases(unique, BENCH_N(unique)); }
static void test_wrong(void **s) { (void)s; bench_wrong(wrong, BENCH_N(wrong)); }

static void
test_memory(void **s)
{
    (void)s;
    host_torture(plain, BENCH_N(plain));
    host_torture(leave, BENCH_N(leave));
    host_torture(pages, BENCH_N(pages));
    host_torture(unique, BENCH_N(unique));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain), cmocka_unit_test(test_leave),
                                       cmocka_unit_test(test_pages),
                                       cmocka_unit_test(test_unique), cmocka_unit_test(test_wrong),
                                           cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

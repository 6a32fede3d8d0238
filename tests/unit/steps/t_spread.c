/* SPDX-License-Identifier: Apache-2.0 */
/* t_spread.c - split, move, union, partition: documents, descriptions, wrong plans, and the indexes that go along. */
#include "bench.h"

#define PART "'from':'v','by':'type','into':{'car':'cars','truck':'trucks'}"
#define LIST "'from':'v','by':'t.k','into':[{'value':1,'into':'ones'},{'value':null,'into':'nulls'}," \
             "{'value':[1,2],'into':'pairs'},{'value':'x','into':'ones'}]"

static const struct bench_case docs[] = {
    /* split */
    {"split", "{'from':'p','fields':['specs','manual'],'into':'d'}", 0, "{'_id':1,'a':2,'manual':'m',"
     "'specs':{'x':1}}",
     "changed *0 {'_id':1,'a':2} 1 {'_id':1,'manual':'m','specs':{'x':1}}"},
    {"split", "{'from':'p','fields':['specs','manual'],'into':'d'}", 0, "{'_id':1,'a':2}",
     "stays *0 {'_id':1,'a':2}"},
    {"split", "{'from':'p','fields':['specs'],'into':'d'}", 0, "{'_id':1,'specs':null}",
     "changed *0 {'_id':1} 1 {'_id':1,'specs':null}"},
    {"split", "{'from':'p','fields':['specs'],'into':'d'}", 0, "{'specs':1}", "refused : it has no _id, ..."},
    {"split", "{'from':'p','fields':['specs'],'into':'d'}", 0, "{'x':1}", "stays *0 {'x':1}"},
    {"split", "{'from':'p','fields':['a.b','l.c'],'into':'d'}", 0, "{'_id':1,'a':{'b':1,'x':2},'l':[{'c':1,'d':2},"
     "5]}",
     "changed *0 {'_id':1,'a':{'x':2},'l':[{'d':2},5]} 1 {'_id':1,'a':{'b':1},'l':[{'c':1}]}"},
    {"split", "{'from':'p','fields':['specs'],'into':'d','where':{'cold':true}}", 0, "{'_id':1,'specs':1}",
     "stays *0 {'_id':1,'specs':1}"},
    /* move */
    {"move", "{'from':'o','into':'arch','where':{'y':{'$lt':2020}}}", 0, "{'_id':1,'y':2019}",
     "taken 1 {'_id':1,'y':2019}"},
    {"move", "{'from':'o','into':'arch','where':{'y':{'$lt':2020}}}", 0, "{'_id':1,'y':2020}",
     "stays *0 {'_id':1,'y':2020}"},
    {"move", "{'from':'o','into':'arch'}", 0, "{'y':2020}", "taken 1 {'y':2020}"},
    {"move", "{'from':'o','into':'arch','drop':['y','_id']}", 0, "{'_id':1,'y':2020,'z':3}",
     "taken 1 {'_id':1,'z':3}"},
    {"move", "{'from':'o','into':'arch','fields':['z','-_id']}", 0, "{'y':2020,'_id':1,'z':3}",
     "taken 1 {'_id':1,'z':3}"},
    {"move", "{'from':'o','into':'arch','fields':['z']}", 0, "{'z':3,'_id':1,'y':0}", "taken 1 {'z':3,'_id':1}"},
    {"move", "{'from':'o','into':'arch','fields':{'w':'$z'}}", 0, "{'_id':1,'z':3}", "taken 1 {'_id':1,'w':3}"},
    {"move", "{'from':'o','into':'arch','fields':{'w':'$z','_id':'$k'}}", 0, "{'_id':1,'z':3,'k':5}",
     "taken 1 {'_id':1,'w':3}"},
    {"move", "{'from':'o','into':'arch','fields':{'w':'$z'},'drop':['w']}", 0, "{'_id':1,'z':3}",
     "taken 1 {'_id':1}"},
    {"move", "{'from':'o','into':'arch','fields':{'w':{'$divide':[1,'$z']}}}", 0, "{'_id':1,'z':0}",
     "refused fields..."},
    {"move", "{'from':'o','into':'arch','where':{'$expr':{'$divide':[1,'$z']}}}", 0, "{'_id':1,'z':0}",
     "refused where: ..."},
    /* union */
    {"union", "{'from':{'car':'cars','truck':'trucks'},'into':'v','tag':'type'}", 0, "{'_id':1,'d':4}",
     "taken 2 {'_id':1,'d':4,'type':'car'}"},
    {"union", "{'from':{'car':'cars','truck':'trucks'},'into':'v','tag':'type'}", 1, "{'_id':1,'d':4}",
     "taken 2 {'_id':1,'d':4,'type':'truck'}"},
    {"union", "{'from':['cars','trucks'],'into':'v','tag':'type'}", 1, "{'_id':1}",
     "taken 2 {'_id':1,'type':'trucks'}"},
    {"union", "{'from':['cars','trucks'],'into':'v'}", 1, "{'_id':1}", "taken 2 {'_id':1}"},
    {"union", "{'from':{'car':'cars'},'into':'v','tag':'type'}", 0, "{'type':'car','_id':1}",
     "refused tag: type exists already"},
    {"union", "{'from':{'car':'cars'},'into':'v','tag':'type','replace':true}", 0, "{'type':7,'_id':1}",
     "taken 1 {'type':'car','_id':1}"},
    {"union", "{'from':{'car':'cars'},'into':'v','tag':'m.t'}", 0, "{'_id':1}", "taken 1 {'_id':1,'m':{'t':'car'}}"},
    {"union", "{'from':{'car':'cars'},'into':'v','tag':'m.t'}", 0, "{'m':[{},{'a':1}]}",
     "taken 1 {'m':[{'t':'car'},{'a':1,'t':'car'}]}"},
    {"union", "{'from':{'car':'cars'},'into':'v','tag':'m.t'}", 0, "{'m':[]}", "refused tag: m.t has no place: ..."},
    {"union", "{'from':{'car':'cars'},'into':'v','tag':'m.t'}", 0, "{'m':5}", "refused tag: m.t cannot be "
     "written: ..."},
    {"union", "{'from':{'car':'cars','bus':'buses'},'into':'v','tag':'t','where':{'x':1}}", 1, "{'x':2}",
     "stays *1 {'x':2}"},
    {"union", "{'from':[{'db':'old','coll':'cars'},'cars'],'into':'v','tag':'t'}", 0, "{'x':2}",
     "taken 2 {'x':2,'t':'cars'}"},
    /* partition */
    {"partition", "{" PART "}", 0, "{'_id':1,'type':'truck','x':1}", "taken 2 {'_id':1,'type':'truck','x':1}"},
    {"partition", "{" PART ",'drop':true}", 0, "{'_id':1,'type':'car','x':1}", "taken 1 {'_id':1,'x':1}"},
    {"partition", "{" PART "}", 0, "{'_id':1,'type':'bike'}", "stays *0 {'_id':1,'type':'bike'}"},
    {"partition", "{" PART "}", 0, "{'_id':1}", "stays *0 {'_id':1}"},
    {"partition", "{" PART "}", 0, "{'_id':1,'type':['car']}", "stays *0 {'_id':1,'type':['car']}"},
    {"partition", "{" PART ",'others':'drop'}", 0, "{'_id':1,'type':'bike'}", "dropped"},
    {"partition", "{" PART ",'others':'refuse'}", 0, "{'_id':1,'type':'bike'}", "refused others: no collection is "
     "named for its value of type"},
    {"partition", "{" PART ",'others':{'into':'rest'},'drop':true}", 0, "{'_id':1,'type':'bike'}",
     "taken 3 {'_id':1,'type':'bike'}"},
    {"partition", "{" PART ",'others':{'into':'cars'}}", 0, "{'_id':1,'type':'bike'}",
     "taken 1 {'_id':1,'type':'bike'}"},
    {"partition", "{" PART ",'where':{'x':1},'others':'drop'}", 0, "{'type':'bike'}", "stays *0 {'type':'bike'}"},
    {"partition", "{" LIST "}", 0, "={'t':{'k':{'$numberDouble':'1.0'}}}", "taken 1 "
     "{'t':{'k':{'$numberDouble':'1.0'}}}"},
    {"partition", "{" LIST "}", 0, "{'t':{'k':'x'}}", "taken 1 {'t':{'k':'x'}}"},
    {"partition", "{" LIST "}", 0, "{'t':{'k':null}}", "taken 2 {'t':{'k':null}}"},
    {"partition", "{" LIST "}", 0, "{'t':{}}", "stays *0 {'t':{}}"},
    {"partition", "{" LIST "}", 0, "{'t':{'k':[1,2]}}", "taken 3 {'t':{'k':[1,2]}}"},
    {"partition", "{" LIST "}", 0, "{'t':[{'k':1}]}", "stays *0 {'t':[{'k':1}]}"},
    {"partition", "{" LIST ",'drop':true}", 0, "{'t':{'k':1,'z':2}}", "taken 1 {'t':{'z':2}}"},
};

static const struct bench_wrong wrong[] = {
    {"split", "{'from':'a','fields':['x'],'into':'a'}", "into: is the same collection as `from`\n"},
    {"split", "{'from':'a','fields':['_id'],'into':'b'}",
     "fields: `_id`: the `_id` cannot change, name another field\n"},
    {"split", "{'from':'a','fields':[],'into':'b','conflicts':'keep'}",
     "conflicts: `keep` is none of refuse|first|last\nfields: names no field\n"},
    {"move", "{'from':'a','into':{'db':'shop','coll':'a'}}", "into: is the same collection as `from`\n"},
    {"move", "{'from':'a','into':'b','fields':5,'drop':'x'}", "fields: ..."},
    {"union", "{'from':[],'into':'v'}", "from: names no collection\n"},
    {"union", "{'from':'a','into':'v'}", "from: must be a list of collections or a map tag: collection\n"},
    {"union", "{'from':['a','a'],'into':'v'}", "from/1: shop.a is named twice\n"},
    {"union", "{'from':{'x':'v'},'into':'v'}", "from/x: shop.v is `into` as well\n"},
    {"union", "{'from':['a'],'into':'v','tag':'_id.t'}",
     "tag: `_id.t`: the `_id` cannot change, name another field\n"},
    {"union", "{'from':['a'],'into':'v','replace':true}", "replace: needs `tag`: nothing else is added\n"},
    {"union", "{'from':['a',5],'into':'v','tag':'$t'}", "from/1: must be a text, not int\ntag: ..."},
    {"partition", "{'from':'v','by':'t','into':{'x':'v'}}", "into/x: shop.v is `from` as well\n"},
    {"partition", "{'from':'v','by':'t','into':{'x':'a'},'others':{'into':'v'}}",
     "others: shop.v is `from` as well\n"},
    {"partition", "{'from':'v','by':'t','into':{}}", "into: must be a map value: collection or a list of {value, "
     "into}\n"},
    {"partition", "{'from':'v','by':'t','into':[{'value':1,'into':'a'},{'value':{'$numberDouble':'1.0'},"
     "'into':'b'}]}",
     "into/1.into: names a value for the second time\n"},
    {"partition", "{'from':'v','by':'t','into':[{'value':1,'int':'a'},{'into':'b'},7]}",
     "into/0.int: unknown key `int`; is `into` meant?\ninto/0: `into` is needed here\ninto/1: `value` is needed here\n"
     "into/2: must be a map, not int\n"},
    {"partition", "{'from':'v','by':'t','into':{'x':'a'},'others':'into'}",
     "others: `into` is none of keep|drop|refuse, nor {into: collection}\n"},
    {"partition", "{'from':'v','by':'t','into':{'x':'a'},'others':{'in':'b'}}",
     "others/in: unknown key `in`\nothers: `into` is needed here\n"},
    {"partition", "{'from':'v','by':'_id','into':{'x':'a'},'drop':true}",
     "by: `_id`: the `_id` cannot change, name another field\n"},
};

static const struct bench_telling tells[] = {
    {"split", "{'from':'p','fields':['s.a','m'],'into':'d'}", "moves s.a and m from every document of shop.p to a "
     "document of the same "
     "_id in shop.d\nside 0 shop.p RCM from\nside 1 shop.d A into\nR0 _id\nR0 s.a\nD0 s.a\nR0 m\nD0 m\nA1 \n"
     "loss: the places of s.a and m among the fields\n"},
    {"move", "{'from':'o','into':'arch','where':{'y':1},'drop':['z'],'conflicts':'last'}",
     "moves those documents that `where` takes of shop.o to shop.arch, shaped by `fields` and `drop`\nside 0 "
     "shop.o RTM from\n"
     "side 1 shop.arch A into\nR0 y\nR0 \nD0 \nA1 \nloss: what `fields` and `drop` leave out\nloss: ..."},
    {"union", "{'from':{'car':'cars','bus':'buses'},'into':'v'}", "moves all documents of shop.cars and "
     "shop.buses to shop.v\n"
     "side 0 shop.cars RTM from\nside 1 shop.buses RTM from\nside 2 shop.v A into\nR0 \nD0 \nR1 \nD1 \nA2 \n"
     "loss: which collection a document came from: add `tag`\nloss: which documents of shop.v were there before\n"},
    {"partition", "{" PART ",'others':{'into':'rest'},'drop':true}", "moves the documents of shop.v by type to "
     "shop.cars, shop.trucks "
     "and shop.rest\nside 0 shop.v RTM from\nside 1 shop.cars A into\nside 2 shop.trucks A into\nside 3 shop.rest "
     "A others\n..."},
};

static const char *const vehicles[] = {
    "v", "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'type':1},'name':'type_1'},"
         "{'v':2,'key':{'plate':1},'name':'plate_1','unique':true},{'v':2,'key':{'at':1},'name':'at_1',"
         "'expireAfterSeconds':60},"
         "{'v':2,'key':{'type':1,'x':1},'name':'tx'}],'uuid':'ab'}",
    "cars", "{'options':{'validator':{'a':1}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,"
    "'key':{'w':1},'name':'plate_1'}]}",
    "other", "{}", NULL};

static const struct bench_catalog cats[] = {
    {"partition", "{" PART ",'drop':true,'others':{'into':'rest'}}", vehicles,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'type':1},'name':'type_1'},{'v':2,"
     "'key':{'plate':1},"
     "'name':'plate_1','unique':true},{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':60},{'v':2,"
     "'key':{'type':1,'x':1},"
     "'name':'tx'}],'collectionName':'v','type':'collection'}\n"
     "{'options':{'validator':{'a':1}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'w':1},"
     "'name':'plate_1'},"
     "{'v':2,'key':{'plate':1},'name':'plate_1_'}],'collectionName':'cars','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'plate':1},'name':'plate_1','unique':true},"
     "{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':60}],'collectionName':'trucks','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'type':1},'name':'type_1'},{'v':2,"
     "'key':{'plate':1},"
     "'name':'plate_1','unique':true},{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':60},{'v':2,"
     "'key':{'type':1,'x':1},"
     "'name':'tx'}],'collectionName':'rest','type':'collection'}\n"
     "- index type_1 of shop.v is not copied to shop.cars: it needs paths that are not there: type\n"
     "- index plate_1 of shop.v, carried to shop.cars, is no longer unique: the collection has documents of its own\n"
     "- index at_1 of shop.v is not copied to shop.cars: it would expire other documents than before\n"
     "- index tx of shop.v is not copied to shop.cars: it needs paths that are not there: type\n"
     "- index type_1 of shop.v is not copied to shop.trucks: it needs paths that are not there: type\n"
     "- index tx of shop.v is not copied to shop.trucks: it needs paths that are not there: type\n"
     "- the validator of shop.cars stays: documents that come in must satisfy it, or be restored with "
     "--bypassDocumentValidation\n"},
    {"partition", "{" PART ",'indexes':false}", vehicles, "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},..."},
    {"move", "{'from':'v','into':'arch','fields':['plate','at']}", vehicles,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'type':1},'name':'type_1'},{'v':2,"
     "'key':{'plate':1},"
     "'name':'plate_1','unique':true},{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':60},{'v':2,"
     "'key':{'type':1,'x':1},"
     "'name':'tx'}],'collectionName':'v','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'plate':1},'name':'plate_1','unique':true}],"
     "'collectionName':'arch','type':'collection'}\n"
     "- index type_1 of shop.v is not copied to shop.arch: it needs paths that are not there: type\n"
     "- index at_1 of shop.v is not copied to shop.arch: it would expire other documents than before\n"
     "- index tx of shop.v is not copied to shop.arch: it needs paths that are not there: type, x\n"},
    {"move", "{'from':'v','into':'arch','fields':{'p':'$plate','q':{'$add':['$x',1]}}}", vehicles,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'type':1},'name':'type_1'},{'v':2,"
     "'key':{'plate':1},"
     "'name':'plate_1','unique':true},{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':60},{'v':2,"
     "'key':{'type':1,'x':1},"
     "'name':'tx'}],'collectionName':'v','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'p':1},'name':'p_1','unique':true}],"
     "'collectionName':'arch','type':'collection'}\n"
     "- index type_1 of shop.v is not copied to shop.arch: it needs paths that are not there: type\n"
     "- index at_1 of shop.v is not copied to shop.arch: it needs paths that are not there: at\n"
     "- index tx of shop.v is not copied to shop.arch: it needs paths that are not there: type, x\n"},
    {"split", "{'from':'v','fields':['plate','at'],'into':'d'}", vehicles,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'type':1},'name':'type_1'},{'v':2,"
     "'key':{'type':1,'x':1},"
     "'name':'tx'}],'collectionName':'v','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'plate':1},'name':'plate_1','unique':true}],"
     "'collectionName':'d','type':'collection'}\n"
     "- index at_1 of shop.v is not copied to shop.d: it would expire other documents than before\n"
     "- index plate_1 of shop.v left out: a path it needs is gone: plate\n"
     "- index at_1 of shop.v left out: a path it needs is gone: at\n"},
    {"split", "{'from':'v','fields':['plate'],'into':'d','where':{'x':1}}", vehicles,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'type':1},'name':'type_1'},{'v':2,"
     "'key':{'plate':1},"
     "'name':'plate_1'},{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':60},{'v':2,'key':{'type':1,'x':1},"
     "'name':'tx'}],'collectionName':'v','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'plate':1},'name':'plate_1','unique':true}],"
     "'collectionName':'d','type':'collection'}\n"
     "- index plate_1 of shop.v is no longer unique: some documents do not have its fields now\n"},
    {"union", "{'from':{'veh':'v','car':'cars'},'into':'all','tag':'kind'}", vehicles,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'type':1},'name':'type_1'},{'v':2,"
     "'key':{'plate':1},"
     "'name':'plate_1','unique':true},{'v':2,'key':{'at':1},'name':'at_1','expireAfterSeconds':60},{'v':2,"
     "'key':{'type':1,'x':1},"
     "'name':'tx'}],'collectionName':'v','type':'collection'}\n"
     "{'options':{'validator':{'a':1}},'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'w':1},"
     "'name':'plate_1'}],"
     "'collectionName':'cars','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'type':1},'name':'type_1'},{'v':2,"
     "'key':{'plate':1},"
     "'name':'plate_1','unique':true,'partialFilterExpression':{'kind':'veh'}},{'v':2,'key':{'type':1,'x':1},"
     "'name':'tx'},"
     "{'v':2,'key':{'w':1},'name':'plate_1_'}],'collectionName':'all','type':'collection'}\n"
     "- index plate_1 of shop.v, carried to shop.all, is unique only among documents whose kind says that they are "
     "from there\n"
     "- index at_1 of shop.v is not copied to shop.all: it would expire other documents than before\n"},
    {"union", "{'from':['v','cars'],'into':'all'}", vehicles,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},..."},
    {"union", "{'from':['v','nope'],'into':'all'}", vehicles, "! from: there is no collection shop.nope"},
};

static const char *const uniques[] = {
    "a", "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'s':1},'name':'s_1','unique':true,"
    "'sparse':true},"
         "{'v':2,'key':{'s':1,'t':1},'name':'s_1_t_1','unique':true,'sparse':true},"
         "{'v':2,'key':{'p':1},'name':'p_1','unique':true,'partialFilterExpression':{'p':{'$gt':1}}}]}",
    "b", "{}", NULL};

static const struct bench_catalog unions[] = {
    {"union", "{'from':['a','b'],'into':'c','tag':'k'}", uniques,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'s':1},'name':'s_1','unique':true,"
     "'sparse':true},"
     "{'v':2,'key':{'s':1,'t':1},'name':'s_1_t_1','unique':true,'sparse':true},{'v':2,'key':{'p':1},'name':'p_1',"
     "'unique':true,"
     "'partialFilterExpression':{'p':{'$gt':1}}}],'collectionName':'a','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'}],'collectionName':'b','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'s':1},'name':'s_1','unique':true,"
     "'partialFilterExpression':{'k':'a','s':{'$exists':true}}},{'v':2,'key':{'s':1,'t':1},'name':'s_1_t_1',"
     "'sparse':true},"
     "{'v':2,'key':{'p':1},'name':'p_1','unique':true,'partialFilterExpression':{'k':'a','p':{'$gt':1}}}],"
     "'collectionName':'c','type':'collection'}\n"
     "- index s_1 of shop.a, carried to shop.c, is unique only among documents whose k says that they are from "
     "there\n"
     "- index s_1_t_1 of shop.a, carried to shop.c, is no longer unique: other documents are in the collection as "
     "well\n"
     "- index p_1 of shop.a, carried to shop.c, is unique only among documents whose k says that they are from "
     "there\n"},
    {"union", "{'from':['a'],'into':'c'}", uniques,
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'s':1},'name':'s_1','unique':true,"
     "'sparse':true},"
     "{'v':2,'key':{'s':1,'t':1},'name':'s_1_t_1','unique':true,'sparse':true},{'v':2,'key':{'p':1},'name':'p_1',"
     "'unique':true,"
     "'partialFilterExpression':{'p':{'$gt':1}}}],'collectionName':'a','type':'collection'}\n"
     "{'indexes':[{'v':2,'key':{'_id':1},'name':'_id_'},{'v':2,'key':{'s':1},'name':'s_1','unique':true,"
     "'sparse':true},"
     "{'v':2,'key':{'s':1,'t':1},'name':'s_1_t_1','unique':true,'sparse':true},{'v':2,'key':{'p':1},'name':'p_1',"
     "'unique':true,"
     "'partialFilterExpression':{'p':{'$gt':1}}}],'collectionName':'c','type':'collection'}\n"},
};

BENCH_ROWS(documents, bench_cases, docs)
BENCH_ROWS(memory, bench_torture, docs)
BENCH_ROWS(wrong_plans, bench_wrong, wrong)
BENCH_ROWS(descriptions, bench_tells, tells)

static void
catalogues(void **arg)
{
    (void)arg;
    bench_catalogs(cats, BENCH_N(cats));
    bench_catalogs(unions, BENCH_N(unions));
    bench_catalog_torture(cats, BENCH_N(cats));
    bench_catalog_torture(unions, BENCH_N(unions));
}

/* As many sides as there may be, and one more. */
static void
many_sides(void **arg)
{
    (void)arg;
    static char body[MRS_SIDES_MAX * 20];
    for (int n = MRS_SIDES_MAX - 1; n <= MRS_SIDES_MAX; n++) {
        struct bench b;
        char *at = body + sprintf(body, "{'into':'v','from':[");
        for (int i = 0; i < n; i++) {
            at += sprintf(at, "%s'c%d'", i ? "," : "", i);
        }
        strcpy(at, "]}");
        bench_open(&b, "union", body, 0);
        assert_int_equal(b.status, n < MRS_SIDES_MAX ? MRS_OK : MRS_FAIL);
        assert_int_equal(bench_close(&b), 0);
        at = body + sprintf(body, "{'from':'v','by':'t','into':{");
        for (int i = 0; i < n; i++) {
            at += sprintf(at, "%s'v%d':'c%d'", i ? "," : "", i, i);
        }
        strcpy(at, "}}");
        bench_open(&b, "partition", body, 0);
        assert_int_equal(b.status, n < MRS_SIDES_MAX ? MRS_OK : MRS_FAIL);
        assert_int_equal(bench_close(&b), 0);
    }
}

/* A value longer than a key may be equals no value of the plan; it is not an error. */
static void
long_value(void **arg)
{
    (void)arg;
    static char got[BENCH_TEXT];
    struct bench b;
    struct mrs_view d = {NULL, (2u << 20) + 17};
    uint8_t *p = calloc(1, d.n);
    memset(p + 14, 'x', d.n - 16);
    mrs_put32(p, d.n);
    memcpy(p + 4, "\2type\0", 6);
    mrs_put32(p + 10, d.n - 15);
    d.p = p;
    assert_int_equal(mrs_doc_check(d.p, d.n, 10, NULL), MRS_OK);
    bench_open(&b, "partition", "{" PART ",'others':'drop'}", 0);
    assert_int_equal(bench_push(&b, 0, d, false, got), MRS_OK);
    assert_string_equal(got, "dropped");
    assert_int_equal(bench_close(&b), 0);
    free(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents),    cmocka_unit_test(memory),     cmocka_unit_test(wrong_plans),
        cmocka_unit_test(descriptions), cmocka_unit_test(catalogues), cmocka_unit_test(many_sides),
        cmocka_unit_test(long_value),
    };
    return cmocka_run_group_tests_name("steps: split, move, union, partition", tests, NULL, NULL);
}

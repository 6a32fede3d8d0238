/* SPDX-License-Identifier: Apache-2.0 */
/* facts_update.c - what updates, guards and expressions do: order of new fields, exactness of $expr, time.
 *
 * The tool writes pipelines of one stage a field and guards them by $type, $eq and $literal over whole fields. That is
 * right only if these see the differences they are meant to see, and no others.
 */
#include "facts.h"

static bool
update(struct facts *f, const char *q, const char *u)
{
    return say(f, "{'update':'@','updates':[{'q':%s,'u':%s}]}", q, u);
}

static bool
set_by_name(struct facts *f)
{
    return put(f, "{'_id':1}") && update(f, "{'_id':1}", "{'$set':{'z':1,'y':2,'a':3}}") &&
           is(f, "1", "{'_id':1,'a':3,'y':2,'z':1}");
}

static bool
stage_by_stage(struct facts *f)
{
    return put(f, "{'_id':1,'k':0}") &&
           update(f, "{'_id':1}", "[{'$set':{'z':{'$literal':1}}},{'$set':{'a':{'$literal':2}}},{'$unset':['k']}]") &&
           is(f, "1", "{'_id':1,'z':1,'a':2}");
}

/* A guard inside the update: what it changes if the condition holds, and nothing if not. */
static bool
condition_holds(struct facts *f)
{
    return put(f, "{'_id':1,'b':1,'k':0}") &&
           update(f, "{'_id':{'$eq':1}}", "[{'$replaceWith':{'$cond':[{'$and':[{'$eq':['$k',{'$literal':0}]}]},"
                  "{'$mergeObjects':['$$ROOT',{'z':{'$literal':'$a'},'b':{'$literal':[7]},'a':{'$literal':2}}]},"
                  "'$$ROOT']}}]") &&
           reply_number(f, "nModified") == 1 && is(f, "1", "{'_id':1,'b':[7],'k':0,'z':'$a','a':2}");
}

static bool
condition_fails(struct facts *f)
{
    return put(f, "{'_id':1,'b':{'$numberDouble':'NaN'},'k':[1]}") &&
           update(f, "{'_id':{'$eq':1}}", "[{'$replaceWith':{'$cond':[{'$and':[{'$eq':['$k',{'$literal':1}]}]},"
                  "{'$mergeObjects':['$$ROOT',{'a':{'$literal':2}}]},'$$ROOT']}}]") &&
           reply_number(f, "n") == 1 && reply_number(f, "nModified") == 0 &&
           is(f, "1", "{'_id':1,'b':{'$numberDouble':'NaN'},'k':[1]}");
}

static bool
merge_by(struct facts *f, const char *matched)
{
    return put(f, "{'_id':1,'k':0}") &&
           say(f, "{'aggregate':'@','cursor':{},'pipeline':[{'$set':{'z':1,'a':2}},{'$project':{'z':1,'a':1}},"
               "{'$merge':{'into':'@','on':'_id','whenMatched':%s,'whenNotMatched':'discard'}}]}", matched);
}

static bool
merge_sorts(struct facts *f)
{
    return merge_by(f, "'merge'") && is(f, "1", "{'_id':1,'k':0,'a':2,'z':1}");
}

static bool
merge_keeps_order(struct facts *f)
{
    return merge_by(f, "[{'$replaceWith':{'$mergeObjects':['$$ROOT','$$new']}}]") &&
           is(f, "1", "{'_id':1,'k':0,'z':1,'a':2}");
}

/* Whatever a server takes for equal: other bytes are a modification. */
static bool
other_bytes_modify(struct facts *f)
{
    return put(f, "{'_id':1,'a':1,'b':{'c':{'$numberDouble':'0.0'}}}") &&
           update(f, "{'_id':1}", "[{'$replaceWith':{'$literal':{'_id':1,'a':{'$numberDouble':'1.0'},"
                  "'b':{'c':{'$numberDouble':'0.0'}}}}}]") && reply_number(f, "nModified") == 1 &&
           update(f, "{'_id':1}", "[{'$replaceWith':{'$literal':{'_id':1,'a':{'$numberDouble':'1.0'},"
                  "'b':{'c':{'$numberDouble':'-0.0'}}}}}]") && reply_number(f, "nModified") == 1;
}

static bool
set_keeps_place(struct facts *f)
{
    return put(f, "{'_id':1,'a':1,'b':2,'c':3}") && update(f, "{'_id':1}", "[{'$set':{'b':{'$literal':[7]}}}]") &&
           is(f, "1", "{'_id':1,'a':1,'b':[7],'c':3}");
}

static bool
rename_in_place(struct facts *f)
{
    return put(f, "{'_id':1,'a':1,'b':{'$numberDouble':'NaN'},'c':[null]}") &&
           update(f, "{'_id':1}", "[{'$replaceWith':{'$arrayToObject':{'$map':{'input':{'$objectToArray':'$$ROOT'},"
                  "'in':{'k':{'$cond':[{'$eq':['$$this.k','a']},'x','$$this.k']},'v':'$$this.v'}}}}}]") &&
           is(f, "1", "{'_id':1,'x':1,'b':{'$numberDouble':'NaN'},'c':[null]}");
}

static bool
literal_document(struct facts *f)
{
    const char *after = "{'_id':1,'z':'$a','b':{'$$NOW':[{'$add':[1,2]}]},'d':{'$numberDecimal':'1.00'},"
                        "'e':{'$numberDouble':'-0.0'},'l':{'$numberLong':'1'},'n':{'$numberDouble':'NaN'},"
                        "'r':{'$regularExpression':{'pattern':'a','options':'i'}},'g':{'$binary':{'base64':'AAE=',"
                        "'subType':'80'}},'t':{'$timestamp':{'t':1,'i':2}},'c':{'$code':'f'},'a':[]}";

    return put(f, "{'_id':1,'a':1}") &&
           say(f, "{'update':'@','updates':[{'q':{'_id':1},'u':[{'$replaceWith':{'$literal':%s}}]}]}", after) &&
           is(f, "1", after);
}

static bool
literal_old_types(struct facts *f)
{
    const char *after = "{'_id':1,'u':{'$undefined':true},'s':{'$symbol':'q'},"
                        "'p':{'$dbPointer':{'$ref':'d.c','$id':{'$oid':'57e193d7a9cc81b4027498b1'}}}}";

    return put(f, "{'_id':1,'a':1}") &&
           say(f, "{'update':'@','updates':[{'q':{'_id':1},'u':[{'$replaceWith':{'$literal':%s}}]}]}", after) &&
           is(f, "1", after);
}

static bool
guard_nan(struct facts *f)
{
    return put(f, "{'_id':1,'f':{'$numberDouble':'NaN'}},{'_id':2,'f':0},{'_id':3},{'_id':4,'f':null}") &&
           finds(f, "{'$expr':{'$eq':['$f',{'$literal':{'$numberDouble':'NaN'}}]}}", "1");
}

static bool
guard_missing(struct facts *f)
{
    return put(f, "{'_id':1},{'_id':2,'f':null},{'_id':3,'f':[]},{'_id':4,'f':{'$undefined':true}},{'_id':5,'f':''}") &&
           finds(f, "{'$expr':{'$eq':[{'$type':'$f'},'missing']}}", "1");
}

static bool
guard_null(struct facts *f)
{
    return put(f, "{'_id':1},{'_id':2,'f':null},{'_id':3,'f':[]},{'_id':4,'f':[null]},{'_id':5,'f':0}") &&
           finds(f, "{'$expr':{'$eq':['$f',{'$literal':null}]}}", "2");
}

static bool
guard_undefined(struct facts *f)
{
    return put(f, "{'_id':1},{'_id':2,'f':null},{'_id':3,'f':{'$undefined':true}}") &&
           finds(f, "{'$expr':{'$eq':[{'$type':'$f'},'undefined']}}", "3");
}

static bool
guard_array(struct facts *f)
{
    return put(f, "{'_id':1,'f':[1,2]},{'_id':2,'f':1},{'_id':3,'f':[[1,2]]},{'_id':4,'f':[1,2,3]},{'_id':5,'f':[2,1]},"
               "{'_id':6,'f':{'0':1,'1':2}}") &&
           finds(f, "{'$expr':{'$eq':['$f',{'$literal':[1,2]}]}}", "1");
}

static bool
guard_empty_array(struct facts *f)
{
    return put(f, "{'_id':1,'f':[]},{'_id':2},{'_id':3,'f':null},{'_id':4,'f':{}},{'_id':5,'f':[[]]}") &&
           finds(f, "{'$expr':{'$eq':['$f',{'$literal':[]}]}}", "1");
}

static bool
guard_object(struct facts *f)
{
    return put(f, "{'_id':1,'f':{'a':1,'b':2}},{'_id':2,'f':{'a':1}},{'_id':3,'f':[{'a':1,'b':2}]},"
               "{'_id':4,'f':{'a':1,'b':2,'c':3}},{'_id':5,'f':{'a':2,'b':1}},{'_id':6,'f':{'a':1,'c':2}}") &&
           finds(f, "{'$expr':{'$eq':['$f',{'$literal':{'a':1,'b':2}}]}}", "1");
}

static bool
guard_object_order(struct facts *f)
{
    return put(f, "{'_id':1,'f':{'a':1,'b':2}},{'_id':2,'f':{'b':2,'a':1}}") &&
           finds(f, "{'$expr':{'$eq':['$f',{'$literal':{'a':1,'b':2}}]}}", "1");
}

/* Document 1 is found by this text of it, or not. */
static bool
root_is(struct facts *f, const char *text, bool wanted)
{
    char *filter = bson_strdup_printf("{'$and':[{'_id':{'$eq':1}},{'$expr':{'$eq':['$$ROOT',{'$literal':%s}]}}]}",
                                      text);
    bool holds = finds(f, filter, wanted ? "1" : "");

    bson_free(filter);
    return holds;
}

static bool
guard_root(struct facts *f)
{
    return put(f, "{'_id':1,'a':1,'b':'$a'},{'_id':2,'a':1,'b':'$a'}") &&
           root_is(f, "{'_id':1,'a':1,'b':'$a'}", true) &&
           root_is(f, "{'_id':1,'a':1}", false) && root_is(f, "{'_id':1,'a':1,'b':'$b'}", false) &&
           root_is(f, "{'_id':1,'a':1,'b':'$a','c':null}", false);
}

static bool
guard_root_order(struct facts *f)
{
    return put(f, "{'_id':1,'a':1,'b':2}") && root_is(f, "{'_id':1,'b':2,'a':1}", false);
}

static bool
type_tells_numbers(struct facts *f)
{
    return put(f, "{'_id':1,'f':1},{'_id':2,'f':1.0},{'_id':3,'f':{'$numberLong':'1'}},{'_id':4,"
                  "'f':{'$numberDecimal':'1'}}") &&
           finds(f, "{'$expr':{'$eq':[{'$type':'$f'},'int']}}", "1") &&
           finds(f, "{'$expr':{'$eq':[{'$type':'$f'},'double']}}", "2") &&
           finds(f, "{'$expr':{'$eq':[{'$type':'$f'},'long']}}", "3") &&
           finds(f, "{'$expr':{'$eq':[{'$type':'$f'},'decimal']}}", "4");
}

static bool
equal_numbers(struct facts *f)
{
    return put(f, "{'_id':1,'f':1},{'_id':2,'f':1.0},{'_id':3,'f':{'$numberLong':'1'}},{'_id':4,"
                  "'f':{'$numberDecimal':'1.00'}},"
               "{'_id':5,'f':true},{'_id':6,'f':'1'}") &&
           finds(f, "{'$expr':{'$eq':['$f',{'$literal':1}]}}", "1,2,3,4") && say(f, "{'drop':'@'}") &&
           put(f, "{'_id':1,'f':{'a':[1]}},{'_id':2,'f':{'a':[1.0]}}") &&
           finds(f, "{'$expr':{'$eq':['$f',{'$literal':{'a':[1]}}]}}", "1,2");
}

static bool
type_tells_symbol(struct facts *f)
{
    return put(f, "{'_id':1,'f':{'$symbol':'a'}},{'_id':2,'f':'a'}") &&
           finds(f, "{'$expr':{'$eq':[{'$type':'$f'},'symbol']}}", "1") &&
           finds(f, "{'$expr':{'$eq':[{'$type':'$f'},'string']}}", "2");
}

static bool
bson_size(struct facts *f)
{
    bson_t *b = document(f, "{'_id':1,'a':[1,{'b':'text'}],'c':{'$numberDecimal':'1'}}");
    bool holds = put(f, "{'_id':1,'a':[1,{'b':'text'}],'c':{'$numberDecimal':'1'}},{'_id':2}");
    char *filter = bson_strdup_printf("{'$expr':{'$eq':[{'$bsonSize':'$$ROOT'},%u]}}", b->len);

    holds = holds && finds(f, filter, "1");
    bson_free(filter);
    bson_destroy(b);
    return holds;
}

static bool
get_field(struct facts *f)
{
    return put(f, "{'_id':1,'a.b':1},{'_id':2,'a':{'b':1}},{'_id':3}") &&
           finds(f, "{'$expr':{'$eq':[{'$getField':{'field':{'$literal':'a.b'},'input':'$$ROOT'}},{'$literal':1}]}}",
                 "1") &&
           put(f, "{'_id':4,'$x':1}") &&
           finds(f, "{'$expr':{'$eq':[{'$getField':{'field':{'$literal':'$x'},'input':'$$ROOT'}},{'$literal':1}]}}",
                 "4");
}

static bool
set_field(struct facts *f)
{
    return put(f, "{'_id':1,'a':{'b':1}}") &&
           update(f, "{'_id':1}", "[{'$replaceWith':{'$setField':{'field':{'$literal':'a.b'},'input':'$$ROOT',"
                  "'value':{'$literal':'$v'}}}}]") &&
           is(f, "1", "{'_id':1,'a':{'b':1},'a.b':'$v'}");
}

static bool
literal_strings(struct facts *f)
{
    return put(f, "{'_id':1}") &&
           update(f, "{'_id':1}", "[{'$set':{'a':{'$literal':'$_id'}}},{'$set':{'b':{'$literal':{'c':['$$ROOT',"
                     "{'$x':1}]}}}}]") &&
           is(f, "1", "{'_id':1,'a':'$_id','b':{'c':['$$ROOT',{'$x':1}]}}") &&
           finds(f, "{'$expr':{'$eq':['$a',{'$literal':'$_id'}]}}", "1");
}

/* $set of an object by $literal puts the new object in the place of the old one: nothing of the old stays. */
static bool
literal_replaces(struct facts *f)
{
    return put(f, "{'_id':1,'a':{'old':1}}") && update(f, "{'_id':1}", "[{'$set':{'a':{'$literal':{'new':2}}}}]") &&
           is(f, "1", "{'_id':1,'a':{'new':2}}");
}

static bool
matched_is_sum(struct facts *f)
{
    bson_iter_t at;

    if (!put(f, "{'_id':1,'n':0},{'_id':2,'n':0},{'_id':3,'n':0}") ||
        !say(f, "{'update':'@','ordered':false,'updates':[{'q':{'_id':1},'u':{'$set':{'n':1}}},"
             "{'q':{'_id':9},'u':{'$set':{'n':1}}},{'q':{'_id':3},'u':{'$set':{'n':0}}}]}"))
        return false;
    if (reply_number(f, "n") != 2 || reply_number(f, "nModified") != 1 || reply_at(f, "writeErrors", &at))
        return seen(f, "n is %d, nModified %d", (int)reply_number(f, "n"), (int)reply_number(f, "nModified"));
    return true;
}

static bool
expr_upsert(struct facts *f)
{
    say(f, "{'update':'@','updates':[{'q':{'_id':1,'$expr':{'$eq':['$a',1]}},'u':{'$set':{'b':1}},'upsert':true}]}");
    return f->code == 224 || (f->code == 0 && seen(f, "an upsert with $expr is accepted"));
}

static bool
now_in_update(struct facts *f)
{
    return put(f, "{'_id':1}") && update(f, "{'_id':1}", "[{'$set':{'t':'$$NOW'}}]") &&
           finds(f, "{'t':{'$gt':{'$date':'2020-01-01T00:00:00Z'}}}", "1");
}

static bool
now_subtracted(struct facts *f)
{
    return put(f, "{'_id':1}") && update(f, "{'_id':1}", "[{'$set':{'t':'$$NOW'}}]") &&
           finds(f, "{'$expr':{'$lt':[{'$subtract':['$$NOW','$t']},60000]}}", "1");
}

static bool
now_in_upsert(struct facts *f)
{
    return say(f, "{'update':'@','updates':[{'q':{'_id':1},'u':[{'$set':{'t':{'$add':['$$NOW',30000]}}}],"
                  "'upsert':true}]}") &&
           finds(f, "{'t':{'$gt':{'$date':'2020-01-01T00:00:00Z'}}}", "1");
}

static bool
now_in_filter(struct facts *f)
{
    return put(f, "{'_id':1,'until':{'$date':'2001-01-01T00:00:00Z'}},{'_id':2,"
                  "'until':{'$date':'2999-01-01T00:00:00Z'}}") &&
           finds(f, "{'$expr':{'$lt':['$until','$$NOW']}}", "1") &&
           update(f, "{'_id':2,'$expr':{'$lt':['$until','$$NOW']}}", "{'$set':{'stolen':1}}") &&
           (reply_number(f, "n") == 0 || seen(f, "a lease of the future was taken"));
}

/* Numbers instead of dates: what a lease can rest on where dates and $$NOW do not compare. */
static bool
now_as_number(struct facts *f)
{
    return put(f, "{'_id':1,'until':{'$numberLong':'1000'}},{'_id':2,'until':{'$numberLong':'9000000000000'}}") &&
           finds(f, "{'$expr':{'$lt':['$until',{'$toLong':'$$NOW'}]}}", "1") &&
           update(f, "{'_id':1,'$expr':{'$lt':['$until',{'$toLong':'$$NOW'}]}}",
                  "[{'$set':{'until':{'$add':[{'$toLong':'$$NOW'},30000]}}}]") &&
           (reply_number(f, "n") == 1 || seen(f, "a lease that is over is not taken")) &&
           finds(f, "{'$expr':{'$lt':['$until',{'$toLong':'$$NOW'}]}}", "") &&
           finds(f, "{'$expr':{'$lt':['$until',{'$add':[{'$toLong':'$$NOW'},31000]}]}}", "1");
}

static bool
current_date(struct facts *f)
{
    return put(f, "{'_id':1}") && update(f, "{'_id':1}", "{'$currentDate':{'t':true}}") &&
           finds(f, "{'t':{'$gt':{'$date':'2020-01-01T00:00:00Z'}}}", "1");
}

static bool
collation_in_expr(struct facts *f)
{
    return say(f, "{'create':'@','collation':{'locale':'en','strength':2}}") &&
           put(f, "{'_id':1,'f':'Foo'},{'_id':2,'f':'bar'}") &&
           finds(f, "{'$expr':{'$eq':['$f',{'$literal':'foo'}]}}", "1");
}

static bool
delete_guarded(struct facts *f)
{
    static const struct {
        int a, size, n;
    } tries[] = {{2, 21, 0}, {1, 22, 0}, {1, 21, 1}};

    if (!put(f, "{'_id':1,'a':1}"))
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (!say(f, "{'delete':'@','deletes':[{'q':{'$and':[{'_id':{'$eq':1}},{'$expr':{'$and':["
                 "{'$eq':['$$ROOT',{'$literal':{'_id':1,'a':%d}}]},{'$eq':[{'$bsonSize':'$$ROOT'},%d]}]}}]},"
                 "'limit':1}]}",
                 tries[i].a, tries[i].size))
            return false;
        if (reply_number(f, "n") != tries[i].n)
            return seen(f, "a %d, size %d: n is %d", tries[i].a, tries[i].size, (int)reply_number(f, "n"));
    }
    return true;
}

const struct fact facts_of_updates[] = {
    {"set-sorts-new-fields", "`$set` of several new fields adds them in the order of their names", set_by_name},
    {"stages-keep-order", "a pipeline of one `$set` stage a field adds fields in the order of its stages",
     stage_by_stage},
    {"condition-holds", "`$replaceWith` of a `$cond` with `$mergeObjects` inside keeps places and adds in order",
     condition_holds},
    {"condition-fails", "where it does not hold the document counts as matched and not as modified", condition_fails},
    {"other-bytes-modify", "1 and 1.0, 0.0 and -0.0 are a modification", other_bytes_modify},
    {"set-keeps-place", "a `$set` stage onto a field leaves it in its place", set_keeps_place},
    {"rename-in-place", "`$replaceWith` computed from `$$ROOT` renames a field in its place", rename_in_place},
    {"literal-document", "`$replaceWith` of a `$literal` document stores it byte for byte", literal_document},
    {"literal-old-types", "so it does with undefined, symbol and dbPointer", literal_old_types},
    {"guard-nan", "in `$expr` NaN equals NaN and nothing else", guard_nan},
    {"guard-missing", "`$type` is `missing` for a missing field only", guard_missing},
    {"guard-null", "in `$expr` null equals null, and not a missing field", guard_null},
    {"guard-undefined", "`$type` tells undefined from null and missing", guard_undefined},
    {"guard-array", "in `$expr` an array equals that array only, whole and in order", guard_array},
    {"guard-empty-array", "in `$expr` an empty array equals no missing field, null or object", guard_empty_array},
    {"guard-object", "in `$expr` an object equals an object of the same fields only", guard_object},
    {"guard-object-order", "and only in the same order", guard_object_order},
    {"guard-root", "`$$ROOT` can be compared with a whole `$literal` document", guard_root},
    {"guard-root-order", "and the order of fields counts", guard_root_order},
    {"type-tells-numbers", "`$type` tells int, long, double and decimal apart", type_tells_numbers},
    {"equal-numbers", "in `$expr` 1, 1.0, long 1 and decimal 1.00 are equal, nested too", equal_numbers},
    {"type-tells-symbol", "`$type` tells symbol from string", type_tells_symbol},
    {"bson-size", "`$bsonSize` of `$$ROOT` is the document's length in bytes", bson_size},
    {"get-field", "`$getField` reads names with dots and dollars", get_field},
    {"set-field", "`$setField` writes names with dots", set_field},
    {"literal-strings", "`$literal` keeps strings and names that begin with a dollar", literal_strings},
    {"merge-sorts-new-fields", "`$merge` with `merge` adds several new fields in the order of their names",
     merge_sorts},
    {"merge-expression", "with `$mergeObjects` of `$$ROOT` and `$$new` it adds them in theirs", merge_keeps_order},
    {"literal-replaces", "`$set` of a `$literal` object replaces the old object, it is not merged", literal_replaces},
    {"matched-is-sum", "a bulk answers the sum of what matched, and no place of a miss", matched_is_sum},
    {"expr-upsert-refused", "an upsert with `$expr` is refused with code 224", expr_upsert},
    {"now-in-update", "`$$NOW` in a pipeline update is the server's time", now_in_update},
    {"now-subtracted", "a stored date can be subtracted from `$$NOW`", now_subtracted},
    {"now-in-upsert", "`$$NOW` in a pipeline update with upsert is accepted", now_in_upsert},
    {"now-in-filter", "`$$NOW` in a filter's `$expr` is the server's time", now_in_filter},
    {"now-as-number", "so is it as a number by `$toLong`, in a filter and in an update", now_as_number},
    {"current-date", "`$currentDate` stores the server's time", current_date},
    {"collation-in-expr", "`$expr` follows the collation of the collection", collation_in_expr},
    {"delete-guarded", "a delete is guarded by `$$ROOT` and `$bsonSize`", delete_guarded},
    {0}};

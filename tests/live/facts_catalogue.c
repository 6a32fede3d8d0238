/* SPDX-License-Identifier: Apache-2.0 */
/* facts_catalogue.c - reading by ranges of _id; collections and their validators, uuids, indexes, names.
 *
 * A range is an interval between two _ids found by min and hint; what is passed over in silence there is lost.
 */
#include "facts.h"

#include <stdlib.h>
#include <string.h>

/* Every type that an _id may have, in the order of comparison. */
static const char *const ordered[] = {"{'$minKey':1}",
                                      "null",
                                      "{'$numberDouble':'NaN'}",
                                      "{'$numberDouble':'-Infinity'}",
                                      "-1",
                                      "{'$numberDecimal':'0.5'}",
                                      "{'$numberLong':'1'}",
                                      "2.0",
                                      "{'$numberLong':'9007199254740993'}",
                                      "''",
                                      "'a'",
                                      "'b'",
                                      "{}",
                                      "{'a':1}",
                                      "{'a':1,'b':1}",
                                      "{'$binary':{'base64':'/w==','subType':'00'}}",
                                      "{'$binary':{'base64':'AAE=','subType':'00'}}",
                                      "{'$oid':'000000000000000000000001'}",
                                      "{'$oid':'57e193d7a9cc81b4027498b1'}",
                                      "false",
                                      "true",
                                      "{'$date':{'$numberLong':'-5'}}",
                                      "{'$date':'2020-01-01T00:00:00Z'}",
                                      "{'$timestamp':{'t':1,'i':1}}",
                                      "{'$maxKey':1}"};
enum { ORDERED = sizeof ordered / sizeof *ordered };

/* Inserts them in another order than theirs. */
static bool
put_ordered(struct facts *f)
{
    for (size_t i = 0; i < ORDERED; i++)
        if (!say(f, "{'insert':'@','documents':[{'_id':%s,'n':%d}]}", ordered[(i * 11) % ORDERED],
                 (int)((i * 11) % ORDERED)))
            return false;
    return true;
}

static bool
hint_order(struct facts *f)
{
    if (!put_ordered(f) || !say(f, "{'find':'@','hint':{'_id':1},'batchSize':1000}"))
        return false;
    for (size_t i = 0; i < ORDERED; i++) {
        char path[64];

        bson_snprintf(path, sizeof path, "cursor.firstBatch.%zu.n", i);
        if (reply_number(f, path) != (int)i)
            return seen(f, "place %d holds %s", (int)i,
                        reply_number(f, path) < 0 ? "nothing" : ordered[reply_number(f, path)]);
    }
    return true;
}

static bool
hint_order_objects(struct facts *f)
{
    static const char *const objects[] = {"{}", "{'a':1}", "{'a':1,'b':1}", "{'b':0}", "{'a':'x'}", "{'a':{'a':1}}"};

    for (int i = 5; i >= 0; i--)
        if (!say(f, "{'insert':'@','documents':[{'_id':%s,'n':%d}]}", objects[i], i))
            return false;
    if (!say(f, "{'find':'@','hint':{'_id':1},'batchSize':1000}"))
        return false;
    for (int i = 0; i < 6; i++) {
        char path[64];

        bson_snprintf(path, sizeof path, "cursor.firstBatch.%d.n", i);
        if (reply_number(f, path) != i)
            return seen(f, "place %d holds number %d", i, (int)reply_number(f, path));
    }
    return true;
}

/* From every _id on, the next range of two begins two further on. */
static bool
skips_two(struct facts *f, const char *sort)
{
    if (!put_ordered(f))
        return false;
    for (size_t i = 0; i < ORDERED; i++) {
        int wanted = i + 2 < ORDERED ? (int)i + 2 : -1, got;

        if (!say(f, "{'find':'@','min':{'_id':%s},'hint':{'_id':1},'skip':2,'limit':1%s}", ordered[i], sort))
            return false;
        got = (int)reply_number(f, "cursor.firstBatch.0.n");
        if (got != wanted)
            return seen(f, "min %s, skip 2 gives number %d, not %d", ordered[i], got, wanted);
    }
    return true;
}

static bool
min_skip(struct facts *f)
{
    return skips_two(f, "");
}

static bool
min_skip_sorted(struct facts *f)
{
    return skips_two(f, ",'sort':{'_id':1}");
}

/* Forty _ids of one kind, inserted in another order: the sixteenth behind each is found. */
static bool
skips_sixteen(struct facts *f, const char *way, const char *before, int least, const char *after)
{
    for (int i = 0; i < 40; i++) {
        char id[64];

        bson_snprintf(id, sizeof id, "%s%d%s", before, (i * 17) % 40 + least, after);
        if (!say(f, "{'insert':'@','documents':[{'_id':%s,'n':%d}]}", id, (i * 17) % 40))
            return false;
    }
    for (int i = 0; i < 24; i++) {
        char id[64];

        bson_snprintf(id, sizeof id, "%s%d%s", before, i + least, after);
        if (!say(f, "{'find':'@',%s%s%s,'skip':16,'limit':1,'projection':{'n':1}}", way, id,
                 strchr(way, '$') != NULL ? "}},'sort':{'_id':1}" : "},'hint':{'_id':1}"))
            return false;
        if (reply_number(f, "cursor.firstBatch.0.n") != i + 16)
            return seen(f, "from %s, skip 16 gives %d", id, (int)reply_number(f, "cursor.firstBatch.0.n"));
    }
    return true;
}

static bool
min_skip_numbers(struct facts *f)
{
    return skips_sixteen(f, "'min':{'_id':", "", -20, "");
}

static bool
min_skip_dates(struct facts *f)
{
    return skips_sixteen(f, "'min':{'_id':", "{'$date':{'$numberLong':'", -20, "'}}");
}

static bool
min_skip_object_ids(struct facts *f)
{
    return skips_sixteen(f, "'min':{'_id':", "{'$oid':'50000000000000000000", 1000, "'}");
}

static bool
compared_numbers(struct facts *f)
{
    return skips_sixteen(f, "'filter':{'_id':{'$gte':", "", -20, "");
}

static bool
compared_object_ids(struct facts *f)
{
    return skips_sixteen(f, "'filter':{'_id':{'$gte':", "{'$oid':'50000000000000000000", 1000, "'}");
}

static bool
ranges(struct facts *f, const char *sort)
{
    if (!put_ordered(f))
        return false;
    for (size_t i = 0; i + 3 < ORDERED; i++) {
        bson_iter_t at;

        if (!say(f, "{'find':'@','min':{'_id':%s},'max':{'_id':%s},'hint':{'_id':1}%s}", ordered[i],
                 ordered[i + 3], sort))
            return false;
        for (int k = 0; k < 3; k++) {
            char path[64];

            bson_snprintf(path, sizeof path, "cursor.firstBatch.%d.n", k);
            if (reply_number(f, path) != (int)i + k)
                return seen(f, "[%s, %s): place %d", ordered[i], ordered[i + 3], k);
        }
        if (reply_at(f, "cursor.firstBatch.3", &at))
            return seen(f, "max %s is not exclusive", ordered[i + 3]);
    }
    return true;
}

static bool
min_max(struct facts *f)
{
    return ranges(f, "");
}

static bool
min_max_sorted(struct facts *f)
{
    return ranges(f, ",'sort':{'_id':1}");
}

static bool
sort_order(struct facts *f)
{
    if (!put_ordered(f) || !say(f, "{'find':'@','sort':{'_id':-1},'limit':1}"))
        return false;
    return reply_number(f, "cursor.firstBatch.0.n") == ORDERED - 1 || seen(f, "the greatest _id is another");
}

/* $in by _id finds each, by value and type class. */
static bool
in_mixed(struct facts *f)
{
    bson_iter_t at;

    if (!put_ordered(f) ||
        !say(f, "{'find':'@','filter':{'_id':{'$in':[%s,%s,%s,%s,%s,7]}},'sort':{'_id':1}}", ordered[1],
             ordered[2], "1.0", ordered[14], ordered[22]))
        return false;
    return (reply_number(f, "cursor.firstBatch.2.n") == 6 && reply_number(f, "cursor.firstBatch.4.n") == 22 &&
            !reply_at(f, "cursor.firstBatch.5", &at)) || seen(f, "other documents are found");
}

static bool
binary_subtypes(struct facts *f)
{
    return say(f, "{'insert':'@','documents':[{'_id':{'$binary':{'base64':'AAE=','subType':'00'}}},"
               "{'_id':{'$binary':{'base64':'AAE=','subType':'80'}}}]}");
}

static bool
refuse_all(struct facts *f)
{
    return put(f, "{'_id':1},{'_id':2}") && say(f, "{'collMod':'@','validator':{'$expr':{'$eq':[1,2]}},"
                                                "'validationLevel':'strict','validationAction':'error'}");
}

static bool
validator_blocks(struct facts *f)
{
    if (!refuse_all(f))
        return false;
    put(f, "{'_id':3}");
    if (f->code != 121)
        return f->code != 0 ? false : seen(f, "an insert passes");
    say(f, "{'update':'@','updates':[{'q':{'_id':1},'u':{'$set':{'a':1}}}]}");
    if (f->code != 121)
        return f->code != 0 ? false : seen(f, "an update passes");
    say(f, "{'update':'@','updates':[{'q':{'_id':1},'u':[{'$set':{'a':1}}]}]}");
    if (f->code != 121)
        return f->code != 0 ? false : seen(f, "an update by pipeline passes");
    return say(f, "{'delete':'@','deletes':[{'q':{'_id':2},'limit':1}]}") && finds(f, "{}", "1");
}

static bool
validator_bypass(struct facts *f)
{
    return refuse_all(f) && say(f, "{'insert':'@','documents':[{'_id':3}],'bypassDocumentValidation':true}") &&
           say(f, "{'update':'@','updates':[{'q':{'_id':1},'u':[{'$set':{'a':1}}]}],"
                  "'bypassDocumentValidation':true}") &&
           finds(f, "{}", "1,2,3") && finds(f, "{'a':1}", "1");
}

/* The old validator comes back as it was, and none can be set again. */
static bool
validator_restored(struct facts *f)
{
    bson_iter_t at;

    return say(f, "{'create':'@','validator':{'a':{'$gte':1}},'validationLevel':'moderate',"
                  "'validationAction':'warn'}") &&
           say(f, "{'listCollections':1,'filter':{'name':'@'}}") &&
           ((reply_at(f, "cursor.firstBatch.0.options.validator.a.$gte", &at) &&
             reply_at(f, "cursor.firstBatch.0.options.validationLevel", &at) &&
             strcmp(bson_iter_utf8(&at, NULL), "moderate") == 0) ||
             seen(f, "listCollections does not tell the validator")) &&
           say(f, "{'collMod':'@','validator':{},'validationLevel':'strict','validationAction':'error'}") &&
           put(f, "{'_id':1,'a':0}");
}

/* The collection's uuid, in hex; false when there is none. */
static bool
uuid_of(struct facts *f, const char *name, char hex[33])
{
    bson_subtype_t subtype;
    uint32_t size;
    const uint8_t *data;
    bson_iter_t at;

    if (!say(f, "{'listCollections':1,'filter':{'name':'%s'}}", name))
        return false;
    if (!reply_at(f, "cursor.firstBatch.0.info.uuid", &at) || !BSON_ITER_HOLDS_BINARY(&at))
        return seen(f, "no uuid");
    bson_iter_binary(&at, &subtype, &size, &data);
    for (uint32_t i = 0; i < 16 && i < size; i++)
        bson_snprintf(hex + 2 * i, 3, "%02x", data[i]);
    return size == 16;
}

static bool
uuid_told(struct facts *f)
{
    char first[33], again[33], third[33];

    return put(f, "{'_id':1}") && uuid_of(f, f->coll, first) && uuid_of(f, f->coll, again) &&
           (strcmp(first, again) == 0 || seen(f, "it changes")) && say(f, "{'drop':'@'}") && put(f, "{'_id':1}") &&
           uuid_of(f, f->coll, third) && (strcmp(first, third) != 0 || seen(f, "a new collection has the old uuid"));
}

static bool
rename_keeps_uuid(struct facts *f)
{
    char before[33], after[33];

    return put(f, "{'_id':1}") && uuid_of(f, f->coll, before) &&
           say_admin(f, "{'renameCollection':'#.@','to':'#.@-new'}") && uuid_of(f, "rename-keeps-uuid-new", after) &&
           (strcmp(before, after) == 0 || seen(f, "it is another after the rename"));
}

static bool
rename_drops(struct facts *f)
{
    if (!put(f, "{'_id':1}") || !say(f, "{'insert':'@-built','documents':[{'_id':2}]}") ||
        !say(f, "{'createIndexes':'@-built','indexes':[{'key':{'a':1},'name':'a_1'}]}"))
        return false;
    if (say_admin(f, "{'renameCollection':'#.@-built','to':'#.@'}"))
        return seen(f, "an existing collection is overwritten without dropTarget");
    return say_admin(f, "{'renameCollection':'#.@-built','to':'#.@','dropTarget':true}") && finds(f, "{}", "2") &&
           say(f, "{'listIndexes':'@'}") && (reply_number(f, "cursor.firstBatch.1.key.a") == 1 ||
           seen(f, "its index is gone"));
}

static bool
uuid_parameter(struct facts *f)
{
    if (!put(f, "{'_id':1}"))
        return false;
    say(f, "{'find':'@','collectionUUID':{'$binary':{'base64':'AAAAAAAAAAAAAAAAAAAAAA==','subType':'04'}}}");
    return f->code == 361 || (f->code == 0 && seen(f, "another collection's uuid is accepted"));
}

static bool
unique_build(struct facts *f)
{
    if (!put(f, "{'_id':1,'a':1},{'_id':2,'a':1}"))
        return false;
    say(f, "{'createIndexes':'@','indexes':[{'key':{'a':1},'name':'a_1','unique':true}]}");
    if (f->code != 11000)
        return f->code != 0 ? false : seen(f, "the index was made");
    return say(f, "{'listIndexes':'@'}") && (reply_number(f, "cursor.firstBatch.1.key.a") < 0 ||
           seen(f, "half an index is there"));
}

static bool
unique_kept(struct facts *f)
{
    if (!put(f, "{'_id':1,'a':1},{'_id':2,'a':2}") ||
        !say(f, "{'createIndexes':'@','indexes':[{'key':{'a':1},'name':'a_1','unique':true}]}"))
        return false;
    say(f, "{'update':'@','updates':[{'q':{'_id':2},'u':{'$set':{'a':1}}}]}");
    return f->code == 11000 || (f->code == 0 && seen(f, "an update makes a second one"));
}

static bool
latency_counts(struct facts *f)
{
    int64_t before;

    if (!put(f, "{'_id':1}") ||
        !say(f, "{'aggregate':'@','pipeline':[{'$collStats':{'latencyStats':{}}}],'cursor':{}}"))
        return false;
    before = reply_number(f, "cursor.firstBatch.0.latencyStats.writes.ops");
    if (before < 0)
        return seen(f, "no latencyStats.writes.ops");
    return put(f, "{'_id':2}") && say(f, "{'delete':'@','deletes':[{'q':{'_id':2},'limit':1}]}") &&
           say(f, "{'aggregate':'@','pipeline':[{'$collStats':{'latencyStats':{}}}],'cursor':{}}") &&
           (reply_number(f, "cursor.firstBatch.0.latencyStats.writes.ops") >= before + 2 ||
           seen(f, "it stays %d", (int)before));
}

/* Blocks the whole cluster for a moment: not on a server that is the caller's. */
static bool
write_block(struct facts *f)
{
    const char *kind = getenv("MONGODB_SERVER_KIND");

    if (kind == NULL || strcmp(kind, "own") == 0)
        return seen(f, "not tried on a server that is not the tests' own");
    if (!say_admin(f, "{'setUserWriteBlockMode':1,'global':true}"))
        return false;
    return say_admin(f, "{'setUserWriteBlockMode':1,'global':false}");
}

static bool
sampled(struct facts *f)
{
    return put_ordered(f) &&
           say(f, "{'aggregate':'@','pipeline':[{'$sample':{'size':5}},{'$project':{'_id':1}}],'cursor':{}}") &&
           say(f, "{'collStats':'@'}") && (reply_number(f, "count") == ORDERED ||
           seen(f, "collStats counts otherwise"));
}

const struct fact facts_of_catalogue[] = {
    {"hint-order", "a scan of the index of `_id` gives mixed types in the order of comparison", hint_order},
    {"hint-order-objects", "so it does with objects: by type of the first value, its name, the value",
     hint_order_objects},
    {"min-skip", "`min` with `hint` and `skip` finds the next range over mixed types", min_skip},
    {"min-skip-sorted", "so it does with a sort by `_id` together with the hint", min_skip_sorted},
    {"min-skip-numbers", "without a sort it does so over numbers alone, negative ones too", min_skip_numbers},
    {"min-skip-object-ids", "and over ObjectIds alone", min_skip_object_ids},
    {"min-skip-dates", "and over dates alone, from before 1970 too", min_skip_dates},
    {"compared-numbers", "`$gte`, a sort by `_id` and `skip` find the next range over numbers", compared_numbers},
    {"compared-object-ids", "and over ObjectIds", compared_object_ids},
    {"min-max", "`min` and `max` with `hint` bound a range, `max` is exclusive", min_max},
    {"min-max-sorted", "so they do with a sort by `_id` together with the hint", min_max_sorted},
    {"sort-greatest", "the greatest `_id` of mixed types is found by a sort downwards", sort_order},
    {"in-mixed", "`$in` finds `_id`s of mixed types by value", in_mixed},
    {"binary-subtypes", "binaries of the same bytes and another subtype are two `_id`s", binary_subtypes},
    {"validator-blocks", "a validator that refuses all stops inserts and updates, not deletes", validator_blocks},
    {"validator-bypass", "`bypassDocumentValidation` passes it", validator_bypass},
    {"validator-restored", "listCollections tells the validator; `collMod` takes it away", validator_restored},
    {"uuid-told", "a collection has a uuid; one made anew has another", uuid_told},
    {"rename-keeps-uuid", "a renamed collection keeps its uuid", rename_keeps_uuid},
    {"rename-drops-target", "a rename replaces a collection with `dropTarget` only, and brings its indexes",
     rename_drops},
    {"uuid-parameter", "a command with another `collectionUUID` is refused with code 361", uuid_parameter},
    {"unique-build-refused", "a unique index over duplicates is refused with 11000 and leaves nothing", unique_build},
    {"unique-kept", "an update that breaks a unique index is refused with 11000", unique_kept},
    {"latency-counts", "`$collStats` counts writes", latency_counts},
    {"write-block", "`setUserWriteBlockMode` is there", write_block},
    {"sample-and-stats", "`$sample` and `collStats` are there", sampled},
    {0}};

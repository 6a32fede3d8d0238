/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_scenes.c - the scenes: every kind of step, with documents few enough that every moment can be tried.
 *
 * Marks like ~c3~ are in all values that a plan keeps, so that a loss is seen wherever it happens. Batches are of two
 * documents: five documents already have a first, a middle and a last batch.
 */
#include "matrix.h"

#define USERS {"users", "{'_id':#,'name':'~u#~ x','n':#,'a':{'b':'~v#~','c':@},'s':'@'}", 1, 5, 3}
#define POSTS {"posts", "{'_id':#,'title':'~p#~'}", 1, 4, 0}
#define COMMENTS {"comments", "{'_id':#,'postId':@,'text':'~c#~'}", 101, 107, 4}
#define THREADS                                                                                                        \
    {"posts", "{'_id':#,'title':'~p#~','comments':[{'_id':1#,'t':'~a#~','k':'k@'},{'_id':2#,'t':'~b#~','k':'l'},"      \
              "{'_id':3#,'t':'~d#~','k':'k@'}]}", 1, 4, 2}

const struct scene scenes[] = {
    {"set", "  - set: { in: users, fields: { first: { $concat: [\"$name\", \"!\"] }, v: 2 } }\n", {USERS}, NULL,
     "[{'update':'users','updates':[{'q':{'_id':2},'u':{'$set':{'name':'~w2~'}}}]}]"},
    {"set-self", "  - set: { in: users, where: { v: { $ne: 2 } }, fields: { n: { $add: [\"$n\", 1] }, v: 2 } }\n",
     {USERS}, NULL, NULL},
    {"set-again",
     "  - set: { in: users, fields: { name: { $replaceAll: { input: \"$name\", find: \" \", replacement: _ } },"
     " n: { $toString: \"$n\" } } }\n", {USERS}, NULL,
     "[{'update':'users','updates':[{'q':{'_id':2},'u':{'$set':{'name':'~w2~ y','n':7}}}]}]"},
    {"replace", "  - replace: { in: users, with: { $mergeObjects: [ $$ROOT, { n: { $toString: \"$n\" }, v: 2 } ] } }\n",
     {USERS}, NULL, NULL},
    {"set-id", "  - set: { in: users, fields: { _id: { $concat: [\"u\", { $toString: \"$_id\" }] } } }\n", {USERS},
     NULL, NULL},
    {"set-swap-unique", "  - set: { in: users, fields: { n: { $subtract: [6, \"$n\"] } } }\n", {USERS},
     "[{'createIndexes':'users','indexes':[{'key':{'n':1},'name':'n_1','unique':true}]}]", NULL},
    {"unset", "  - unset: { in: users, fields: [s, a.c] }\n", {USERS}, NULL, NULL},
    {"rename", "  - rename: { in: users, fields: { name: full, a.b: a.d } }\n", {USERS},
     "[{'createIndexes':'users','indexes':[{'key':{'name':1},'name':'name_1'}]}]", NULL},
    {"rename-unique", "  - rename: { in: users, fields: { name: full } }\n", {USERS},
     "[{'createIndexes':'users','indexes':[{'key':{'name':1},'name':'name_1','unique':true}]}]", NULL},
    {"cast", "  - cast: { in: users, fields: { s: int, n: string } }\n", {USERS}, NULL, NULL},
    {"cast-refused", "  - cast: { in: users, fields: { s: int } }\n",
     {USERS, {"users", "{'_id':#,'name':'~u#~','s':'no number ~x#~'}", 6, 7, 0}}, NULL, NULL},
    {"order", "  - order: { in: users, fields: [n, name] }\n", {USERS}, NULL, NULL},
    {"extract", "  - extract: { from: posts, path: comments, into: comments, parent_ref: postId }\n", {THREADS}, NULL,
     "[{'update':'posts','updates':[{'q':{'_id':2},'u':{'$push':{'comments':{'_id':999,'t':'~n9~'}}}}]},"
     "{'insert':'posts','documents':[{'_id':50,'title':'~p50~','comments':[{'_id':500,'t':'~a500~'}]}]}]"},
    {"extract-prepared",
     "  - set: { in: posts, fields: { title: { $toUpper: $title } } }\n"
     "  - set: { in: posts, fields: { comments: { $map: { input: $comments, in: { $mergeObjects: [ $$this,"
     " { t: { $concat: [ $$this.t, \"+\" ] } } ] } } } } }\n"
     "  - extract: { from: posts, path: comments, into: comments, parent_ref: postId }\n", {THREADS}, NULL,
     "[{'update':'posts','updates':[{'q':{'_id':2},'u':{'$push':{'comments':{'_id':999,'t':'~n9~'}}}}]},"
     "{'insert':'posts','documents':[{'_id':50,'title':'~p50~','comments':[{'_id':500,'t':'~a500~'}]}]}]"},
    {"extract-keep",
     "  - extract: { from: posts, path: comments, into: comments, parent_ref: postId, child_refs: refs, refs: both,"
     " leave: { limit: 1, sort: { t: -1 } }, count: n }\n", {THREADS}, NULL, NULL},
    {"extract-unique",
     "  - extract: { from: posts, path: comments, into: kinds, refs: child, child_refs: kindIds, unique: [k],"
     " id: new, fields: { k: \"$k\" } }\n", {THREADS}, NULL, NULL},
    {"extract-pages",
     "  - extract: { from: posts, path: comments, into: pages, leave: { limit: 1 }, extracted: rest,"
     " pages: { size: 1, ref: postId, number: page, items: comments, flag: more } }\n", {THREADS}, NULL, NULL},
    {"embed",
     "  - embed: { from: comments, into: posts, match: { postId: _id }, as: comments, drop: [postId],"
     " sort: { _id: 1 }, count: n }\n", {POSTS, COMMENTS}, NULL,
     "[{'insert':'comments','documents':[{'_id':900,'postId':3,'text':'~c900~'}]},"
     "{'delete':'comments','deletes':[{'q':{'_id':102},'limit':1}]}]"},
    {"embed-orphans",
     "  - embed: { from: comments, into: posts, match: { postId: _id }, as: comments, keep: none,"
     " orphans: { into: lost } }\n",
     {POSTS, COMMENTS, {"comments", "{'_id':#,'postId':77,'text':'~c#~'}", 201, 203, 0}}, NULL, NULL},
    {"embed-dropped",
     "  - embed: { from: comments, into: posts, match: { postId: _id }, as: comments, keep: none, orphans: drop }\n",
     {POSTS, COMMENTS, {"comments", "{'_id':#,'postId':77,'text':'c#'}", 201, 203, 0}}, NULL, NULL},
    {"embed-overflow",
     "  - embed: { from: comments, into: posts, match: { postId: _id }, as: comments, sort: { _id: 1 },"
     " overflow: { into: more, size: 1, ref: postId, number: page, items: comments, flag: hasMore } }\n",
     {POSTS, COMMENTS}, NULL, NULL},
    {"copy", "  - copy: { from: parts, into: lines, match: { _id: part }, fields: [name, weight] }\n",
     {{"parts", "{'_id':#,'name':'~n#~','weight':#}", 1, 3, 0}, {"lines", "{'_id':#,'part':@,'t':'~l#~'}", 1, 6, 3}},
     NULL, "[{'update':'parts','updates':[{'q':{'_id':2},'u':{'$set':{'name':'~m2~'}}}]}]"},
    {"copy-none",
     "  - copy: { from: parts, into: lines, match: { _id: part }, fields: [name], as: p, refs: drop, keep: none,"
     " orphans: keep }\n",
     {{"parts", "{'_id':#,'name':'~n#~','weight':#}", 1, 4, 0}, {"lines", "{'_id':#,'part':@,'t':'~l#~'}", 1, 6, 3}},
     NULL, NULL},
    {"rollup",
     "  - rollup: { from: comments, into: posts, match: { postId: _id }, fields: { n: { $sum: 1 }, last: { $max:"
     " \"$text\" } } }\n", {POSTS, COMMENTS}, NULL,
     "[{'insert':'comments','documents':[{'_id':900,'postId':3,'text':'~c900~'}]},"
     "{'update':'comments','updates':[{'q':{'_id':102},'u':{'$set':{'postId':3}}}]}]"},
    {"rollup-take",
     "  - rollup: { from: comments, into: posts, match: { postId: _id }, fields: { first: { $min: \"$text\" } },"
     " keep: unmatched }\n", {POSTS, COMMENTS}, NULL,
     "[{'delete':'comments','deletes':[{'q':{'_id':102},'limit':1}]}]"},
    {"bucket",
     "  - bucket: { from: comments, into: pages, items: list, by: [postId], max: 2, set: { n: { $sum: 1 } } }\n",
     {COMMENTS}, NULL, NULL},
    {"link",
     "  - link: { parent: posts, child: comments, parent_ref: postId, child_refs: refs, derive: child_refs,"
     " strip: parent_ref }\n", {POSTS, COMMENTS}, NULL, NULL},
    {"tree", "  - tree: { in: nodes, form: parent, to_form: children }\n",
     {{"nodes", "{'_id':#,'parent':@,'text':'~n#~'}", 2, 7, 3}, {"nodes", "{'_id':#,'text':'~n#~'}", 1, 1, 0}}, NULL,
     NULL},
    {"move", "  - move: { from: users, into: old, where: { n: { $lt: 4 } } }\n", {USERS}, NULL,
     "[{'update':'users','updates':[{'q':{'_id':1},'u':{'$set':{'name':'~w1~'}}}]}]"},
    {"move-into", "  - move: { from: users, into: old, where: { n: { $gt: 1 } } }\n",
     {USERS, {"old", "{'_id':#,'name':'~o#~'}", 90, 92, 0}}, NULL, NULL},
    {"union", "  - union: { from: { car: cars, truck: trucks }, into: vehicles, tag: type }\n",
     {{"cars", "{'_id':#,'t':'~c#~'}", 1, 4, 0}, {"trucks", "{'_id':#,'t':'~t#~'}", 11, 13, 0}}, NULL, NULL},
    {"partition",
     "  - partition: { from: users, by: s, into: { \"1\": ones, \"2\": twos }, drop: true }\n", {USERS}, NULL, NULL},
    {"split", "  - split: { from: users, fields: [a, s], into: cold }\n", {USERS}, NULL, NULL},
    {"delete", "  - delete: { in: users, where: { n: { $gt: 3 } } }\n", {USERS}, NULL, NULL},
    {"index",
     "  - index: { in: users, create: [{ key: { s: 1 } }, { key: { name: 1 }, unique: true }], drop: [n_1] }\n",
     {USERS}, "[{'createIndexes':'users','indexes':[{'key':{'n':1},'name':'n_1'}]}]", NULL},
    {"options", "  - options: { in: users, validator: { name: { $exists: true } }, validationLevel: moderate }\n",
     {USERS}, NULL, NULL},
    {"rename-collection", "  - rename_collection: { from: users, into: people }\n", {USERS},
     "[{'createIndexes':'users','indexes':[{'key':{'n':1},'name':'n_1'}]}]", NULL},
    {"drop-collection", "  - drop_collection: { in: posts }\n", {POSTS, USERS}, NULL, NULL},
    {"three-steps",
     "  - extract: { from: posts, path: comments, into: comments, parent_ref: postId }\n"
     "  - set: { in: comments, fields: { v: 2 } }\n"
     "  - rename_collection: { from: posts, into: articles }\n", {THREADS}, NULL, NULL},
    {"three-live",
     "  - set: { in: posts, fields: { v: 2 } }\n"
     "  - embed: { from: comments, into: posts, match: { postId: _id }, as: comments, keep: all }\n"
     "  - split: { from: users, fields: [a], into: cold }\n", {USERS, POSTS, COMMENTS}, NULL, NULL},
    {"in-place-behind",
     "  - set: { in: users, fields: { w: { $type: $n }, s: $$REMOVE } }\n"
     "  - set: { in: posts, fields: { v: 2 } }\n"
     "  - set: { in: users, where: { name: { $exists: true } }, fields: { full: $name, name: $$REMOVE } }\n",
     {USERS, POSTS}, NULL, NULL},
    {NULL, NULL, {{NULL, NULL, 0, 0, 0}}, NULL, NULL},
};

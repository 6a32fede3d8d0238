/* SPDX-License-Identifier: Apache-2.0 */
/* lower.h - shared by the files that convert steps to pipelines. */
#ifndef MRSI_LOWER_H
#define MRSI_LOWER_H

#include "mongoreshape/compose.h"
#include "mongoreshape/pipeline.h"

struct mrsi_lower { /* a step being converted */
    struct mrs_view body;   /* its keys */
    struct mrs_arena *arena;
    struct mrs_buf buf;     /* of the current pipeline */
    struct mrs_build b;
    bool failed;            /* memory was out */
    struct mrs_lowered *out;
};

/* A document from a template of compose.h, in the arena; empty if memory was out (`failed`). */
struct mrs_view mrsi_lower_doc(struct mrsi_lower *l, const char *text, ...);
/* Begins a document or an array in l->b; returns the one just built, in the arena, empty if memory was out. */
void mrsi_lower_open(struct mrsi_lower *l);
struct mrs_view mrsi_lower_end(struct mrsi_lower *l);
/* Begins a pipeline: [{$match: where}, ...; all: for all documents, without `where`. */
void mrsi_lower_begin(struct mrsi_lower *l, bool all);
/* One more stage, from a template. */
void mrsi_lower_stage(struct mrsi_lower *l, const char *text, ...);
/* Ends it. Its output is written in place (into NULL) or into another collection, or must be empty, or has the `_id`s
 * of documents to remove at the end. False: too many pipelines. */
bool mrsi_lower_write(struct mrsi_lower *l, const struct mrs_coll *on, const struct mrs_coll *into);
bool mrsi_lower_count_stages(struct mrsi_lower *l, const struct mrs_coll *on, const char *why);
bool mrsi_lower_remove_stages(struct mrsi_lower *l, const struct mrs_coll *on);
/* A count with a filter in addition to `where`; n 0: `where` alone. */
bool mrsi_lower_count(struct mrsi_lower *l, const struct mrs_coll *on, struct mrs_view filter, const char *why);
bool mrsi_lower_remove(struct mrsi_lower *l, const struct mrs_coll *on, struct mrs_view filter);
/* A command instead of a pipeline. */
bool mrsi_lower_command(struct mrsi_lower *l, const char *db, struct mrs_view doc);
#define MRSI_LOWER_MANY "more parts than a pipeline is given for: write several steps, or use the client engine"
/* A field of `$set`. It merges a document into an existing one and refuses an empty one, so an operator makes it. */
void mrsi_lower_put_value(struct mrsi_lower *l, const struct mrs_elem *el);
/* A top-level field name that is not a pattern and needs no escape in an expression. */
bool mrsi_lower_plain(const char *name, uint32_t n);
/* The value of a key; missing if absent. */
struct mrs_val mrsi_lower_key(const struct mrsi_lower *l, const char *key);
bool mrsi_lower_has_key(const struct mrsi_lower *l, const char *key);
bool mrsi_lower_is_true(const struct mrsi_lower *l, const char *key); /* false if absent */
/* The text of a key if it is a plain name, else NULL. */
const char *mrsi_lower_name(const struct mrsi_lower *l, const char *key);
/* "$name" in the arena; NULL: out of memory (`failed`). */
const char *mrsi_lower_path(struct mrsi_lower *l, const char *name);
/* Is a key absent, or its value `word`, the default? */
bool mrsi_lower_is_default(const struct mrsi_lower *l, const char *key, const char *word);
/* The reason why a key, or its value, has no stages; NULL: it has the default. */
const char *mrsi_lower_no_stages(struct mrsi_lower *l, const char *key);
const char *mrsi_lower_not_default(struct mrsi_lower *l, const char *key, const char *word);
/* Is a key given, with this value? */
bool mrsi_lower_has_word(const struct mrsi_lower *l, const char *key, const char *word);
/* Does the list contain only plain names other than `_id`? NULL, or the reason why not. */
const char *mrsi_lower_judge_list(struct mrs_val list);
/* The same of the names of a map. */
const char *mrsi_lower_judge_map(struct mrs_val map);
/* {$a: 1} is an expression, {a: 1} a document of expressions. */
bool mrsi_lower_is_operator(struct mrs_val v);
bool mrsi_lower_is_one_of(const char *words, const char *name); /* words: " a b c " */
bool mrsi_lower_names(struct mrs_val list, const char *name);
/* A filter for the documents with one of the names of a list. */
struct mrs_view mrsi_lower_have(struct mrsi_lower *l, struct mrs_val list);
/* {a: "$a", ...} from the texts of a list, or the names of a map. */
struct mrs_view mrsi_lower_own_paths(struct mrsi_lower *l, struct mrs_val names);

#define MRSI_LOWER_DEEP "a name below the top of the document: use the client engine"
#define MRSI_LOWER_SPECIAL_NAME "a name that means something else in an expression ($, a dot, *): use the client engine"
#define MRSI_LOWER_ID "it changes `_id`, which a pipeline loses silently: use the client engine"
#define MRSI_LOWER_ERRORS \
    "`errors` other than refuse: a pipeline has one answer to a failing expression, it ends: use the client engine"
#define MRSI_LOWER_ROOT "an expression that reads the whole document: use the client engine"
#define MRSI_LOWER_CONFLICTS "`conflicts` other than refuse compares documents: use the client engine"

/* Accumulators whose result, also for no input, is equal on all servers if the input is sorted. */
#define MRSI_LOWER_ACCUMULATORS " $sum $avg $min $max $first $last $push $count "
/* Does an expression of the step read the whole document? */
bool mrsi_lower_reads_root(const struct mrsi_lower *l);

/* Each fills l->out, or returns the reason why it cannot. */
const char *mrsi_lower_set(struct mrsi_lower *l);
const char *mrsi_lower_unset(struct mrsi_lower *l);
const char *mrsi_lower_replace(struct mrsi_lower *l);
const char *mrsi_lower_rename(struct mrsi_lower *l);
const char *mrsi_lower_order(struct mrsi_lower *l);
const char *mrsi_lower_cast(struct mrsi_lower *l);
const char *mrsi_lower_pack(struct mrsi_lower *l);
const char *mrsi_lower_unpack(struct mrsi_lower *l);
const char *mrsi_lower_move(struct mrsi_lower *l);
const char *mrsi_lower_delete(struct mrsi_lower *l);
const char *mrsi_lower_split(struct mrsi_lower *l);
const char *mrsi_lower_union(struct mrsi_lower *l);
const char *mrsi_lower_partition(struct mrsi_lower *l);
const char *mrsi_lower_extract(struct mrsi_lower *l);
const char *mrsi_lower_unbucket(struct mrsi_lower *l);
const char *mrsi_lower_embed(struct mrsi_lower *l);
const char *mrsi_lower_copy(struct mrsi_lower *l);
const char *mrsi_lower_rollup(struct mrsi_lower *l);
const char *mrsi_lower_bucket(struct mrsi_lower *l);
const char *mrsi_lower_copy_collection(struct mrsi_lower *l);
const char *mrsi_lower_grid(struct mrsi_lower *l);
const char *mrsi_lower_index(struct mrsi_lower *l);
const char *mrsi_lower_options(struct mrsi_lower *l);
const char *mrsi_lower_rename_collection(struct mrsi_lower *l);
const char *mrsi_lower_drop_collection(struct mrsi_lower *l);
const char *mrsi_lower_link(struct mrsi_lower *l);
const char *mrsi_lower_tree(struct mrsi_lower *l);
const char *mrsi_lower_window(struct mrsi_lower *l);

#endif

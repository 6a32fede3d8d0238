/* SPDX-License-Identifier: Apache-2.0 */
/* lower.h - what the files that turn steps into pipelines share. */
#ifndef MRSI_LOWER_H
#define MRSI_LOWER_H

#include "mongoreshape/compose.h"
#include "mongoreshape/pipeline.h"

struct mrsi_lower { /* a step on its way */
    struct mrs_view body;   /* its keys */
    struct mrs_arena *arena;
    struct mrs_buf buf;     /* of the pipeline that is being built */
    struct mrs_build b;
    bool failed;            /* memory ran out */
    struct mrs_lowered *out;
};

/* A document made from a template of compose.h, in the arena; empty where memory ran out (failed says so). */
struct mrs_view mrsi_lower_doc(struct mrsi_lower *l, const char *text, ...);
/* Begins a document or an array in l->b; what has been built of it so far, in the arena, empty without memory. */
void mrsi_lower_open(struct mrsi_lower *l);
struct mrs_view mrsi_lower_end(struct mrsi_lower *l);
/* Begins a pipeline: [{$match: where}, ...; all: of all documents, not of those that `where` takes. */
void mrsi_lower_begin(struct mrsi_lower *l, bool all);
/* One more stage, from a template. */
void mrsi_lower_stage(struct mrsi_lower *l, const char *text, ...);
/* Ends it: what comes out of it is written in place (into NULL) or into another collection, must be nothing, or names
 * by `_id` what is removed at the end. False: there are too many. */
bool mrsi_lower_write(struct mrsi_lower *l, const struct mrs_coll *on, const struct mrs_coll *into);
bool mrsi_lower_count_stages(struct mrsi_lower *l, const struct mrs_coll *on, const char *why);
bool mrsi_lower_remove_stages(struct mrsi_lower *l, const struct mrs_coll *on);
/* The same of a filter, beside `where`; n 0: of `where` alone. */
bool mrsi_lower_count(struct mrsi_lower *l, const struct mrs_coll *on, struct mrs_view filter, const char *why);
bool mrsi_lower_remove(struct mrsi_lower *l, const struct mrs_coll *on, struct mrs_view filter);
/* A command instead of a pipeline. */
bool mrsi_lower_command(struct mrsi_lower *l, const char *db, struct mrs_view doc);
#define MRSI_LOWER_MANY "more parts than a pipeline is given for: write several steps, or use the client engine"
/* A name that is one field at the top of a document, no pattern, and means itself in an expression. */
bool mrsi_lower_plain(const char *name, uint32_t n);
/* The value of a key, missing where it is not given. */
struct mrs_val mrsi_lower_key(const struct mrsi_lower *l, const char *key);
bool mrsi_lower_given(const struct mrsi_lower *l, const char *key);
bool mrsi_lower_is_true(const struct mrsi_lower *l, const char *key); /* false where it is not given */
/* The text of a key where it is a plain name, else NULL. */
const char *mrsi_lower_name(const struct mrsi_lower *l, const char *key);
/* "$name" in the arena; NULL without memory, which failed says. */
const char *mrsi_lower_path(struct mrsi_lower *l, const char *name);
/* Whether a key is not given, or says the word that is its default. */
bool mrsi_lower_says(const struct mrsi_lower *l, const char *key, const char *word);
/* Whether the list holds nothing but plain names other than `_id`; the reason where not. */
const char *mrsi_lower_judge_list(struct mrs_val list);
/* The same of the names of a map. */
const char *mrsi_lower_judge_map(struct mrs_val map);
/* {$a: 1} is an expression, {a: 1} a document made of them. */
bool mrsi_lower_is_operator(struct mrs_val v);
bool mrsi_lower_is_one_of(const char *words, const char *name); /* words: " a b c " */
bool mrsi_lower_names(struct mrs_val list, const char *name);
/* A filter of the documents that have one of the names of a list. */
struct mrs_view mrsi_lower_have(struct mrsi_lower *l, struct mrs_val list);
/* {a: "$a", ...} of the texts of a list, or of the names of a map. */
struct mrs_view mrsi_lower_own_paths(struct mrsi_lower *l, struct mrs_val names);

#define MRSI_LOWER_DEEP "a name below the top of the document: use the client engine"
#define MRSI_LOWER_ODD "a name that means something else in an expression ($, a dot, *): use the client engine"
#define MRSI_LOWER_ID "it changes `_id`, which a pipeline loses silently: use the client engine"
#define MRSI_LOWER_ERRORS \
    "`errors` other than refuse: a pipeline has one answer to a failing expression, it ends: use the client engine"
#define MRSI_LOWER_WORDS "words of the step that a pipeline has none for: use the client engine"
#define MRSI_LOWER_ROOT "an expression that reads the whole document: use the client engine"
#define MRSI_LOWER_CONFLICTS "`conflicts` other than refuse compares documents: use the client engine"

/* Accumulators whose order, and whose answer to nothing, are the same on every server where input is sorted. */
#define MRSI_LOWER_ACCUMULATORS " $sum $avg $min $max $first $last $push $count "
/* Whether some expression of the step reads the whole document. */
bool mrsi_lower_reads_root(const struct mrsi_lower *l);

/* Each fills l->out, or gives the reason why not. */
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

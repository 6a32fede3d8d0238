/* SPDX-License-Identifier: Apache-2.0 */
/* lower.h - what the files that turn steps into pipelines share. */
#ifndef MRSI_LOWER_H
#define MRSI_LOWER_H

#include "mongoreshape/build.h"
#include "mongoreshape/pipeline.h"

struct mrsi_lower { /* a step on its way */
    const struct mrs_plan *plan;
    struct mrs_view body;   /* its keys */
    struct mrs_arena *arena;
    struct mrs_buf buf;     /* of what is being built */
    struct mrs_build b;
    struct mrs_lowered *out;
};

/* Begins a document of its own, and ends it: a copy in the arena, empty where memory ran out (buf says so). */
void mrsi_lower_begin(struct mrsi_lower *l);
struct mrs_view mrsi_lower_end(struct mrsi_lower *l);
/* Begins and ends the pipeline: [{$match: where}, ..., {$merge: ...}]; new: into another collection, where the `_id`
 * must be free; else in place. */
void mrsi_lower_pipeline(struct mrsi_lower *l);
void mrsi_lower_merge(struct mrsi_lower *l, const struct mrs_coll *into, bool new);
/* A stage or operator with one key: {name: ..., open until mrs_build_close twice. type: DOCUMENT or ARRAY. */
void mrsi_lower_open(struct mrsi_lower *l, const char *name, uint8_t type);
/* Begins a filter of the documents that `where` takes, for conditions that are then added as items, and ends it. */
void mrsi_lower_filter(struct mrsi_lower *l);
void mrsi_lower_count(struct mrsi_lower *l, const char *why);
/* A name that is one field at the top of a document, and means itself in an expression. */
bool mrsi_lower_plain(const char *name, uint32_t n);
/* The value of a key, missing where it is not given. */
struct mrs_val mrsi_lower_key(const struct mrsi_lower *l, const char *key);

/* lower_fields.c: each fills l->out, or gives the reason why not. */
const char *mrsi_lower_set(struct mrsi_lower *l);
const char *mrsi_lower_unset(struct mrsi_lower *l);
const char *mrsi_lower_rename(struct mrsi_lower *l);
const char *mrsi_lower_order(struct mrsi_lower *l);
const char *mrsi_lower_cast(struct mrsi_lower *l);

#endif

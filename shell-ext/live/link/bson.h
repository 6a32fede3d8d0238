/* SPDX-License-Identifier: Apache-2.0 */
/* bson.h - small documents for commands, made from a template in one line.
 *
 * live_doc(buf, &d, e, "{update:%s, q:{_id:%v}, w:%i, u:[%d]}", ...): templates as in compose.h. */
#ifndef LIVE_BSON_H
#define LIVE_BSON_H

#include "live/job_context.h"

/* Appends the document to buf; *out points into buf and lives until buf changes. OK, FAIL, DEAD. */
enum mrs_status live_doc(struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e, const char *template, ...);
/* The same in an arena. */
enum mrs_status live_doc_in(struct mrs_arena *a, struct mrs_view *out, struct mrs_err *e, const char *template, ...);
/* Value at a dotted path of plain names ("cursor.firstBatch"); missing if there is none. Not through arrays. */
struct mrs_val live_at(struct mrs_view d, const char *path);
/* Does a path of a plan have any value, also through arrays? */
enum mrs_status live_any_at(struct mrs_arena *a, struct mrs_view d, const char *path, bool *any, struct mrs_err *e);
/* The document or array of a value; the empty document for other types. */
struct mrs_view live_doc_of(struct mrs_val v);
/* The collection of a namespace, copied into the arena. END: the text has no dot; DEAD: out of memory. */
enum mrs_status live_coll_of(struct mrs_arena *a, const char *ns, struct mrs_coll *out, struct mrs_err *e);
/* Sorts values in server order and removes duplicates; returns the new number. */
uint64_t live_vals_distinct(struct mrs_val *v, uint64_t n);
/* Byte for byte equal? */
bool live_same(struct mrs_view a, struct mrs_view b);
/* Numbers of any numeric type as int64; fallback otherwise. */
int64_t live_int_at(struct mrs_view d, const char *path, int64_t fallback);
/* A string's text into out (cut at size - 1; "" if there is none). */
void live_text_at(struct mrs_view d, const char *path, char *out, size_t size);
bool live_bool_at(struct mrs_view d, const char *path, bool fallback);
/* The form of the document that a server stores: `_id` first. doc itself if it has that form or no `_id`; else in buf,
 * which is emptied first. */
enum mrs_status live_stored(struct mrs_view doc, struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e);
/* The name of a top-level field other than `_id` with the value Timestamp(0, 0); NULL if none. A mongod replaces it by
 * its own time in inserted documents and in full replacements, but not in results of a pipeline. Only the top level
 * counts. */
const char *live_zero_time(struct mrs_view doc);

#endif

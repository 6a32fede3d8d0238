/* SPDX-License-Identifier: Apache-2.0 */
/* bson.h - small documents for commands, made from a template in one line.
 *
 * live_doc(buf, &d, e, "{update:%s, q:{_id:%v}, w:%i, u:[%d]}", ...): templates as compose.h has them. */
#ifndef LIVE_BSON_H
#define LIVE_BSON_H

#include "live/job_context.h"

/* Appends the document to buf; *out points into buf and lives until buf changes. OK, FAIL, DEAD. */
enum mrs_status live_doc(struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e, const char *template, ...);
/* The same into an arena. */
enum mrs_status live_doc_in(struct mrs_arena *a, struct mrs_view *out, struct mrs_err *e, const char *template, ...);
/* Value at a dotted path of plain names ("cursor.firstBatch"), missing where it is not. No arrays on the way. */
struct mrs_val live_at(struct mrs_view d, const char *path);
/* Whether anything is at a path of a plan, through arrays too. */
enum mrs_status live_any_at(struct mrs_arena *a, struct mrs_view d, const char *path, bool *any, struct mrs_err *e);
/* The document or array that a value is; the empty document of any other. */
struct mrs_view live_doc_of(struct mrs_val v);
/* The collection of a namespace, copied into the arena. END: the text has no dot; DEAD: no memory. */
enum mrs_status live_coll_of(struct mrs_arena *a, const char *ns, struct mrs_coll *out, struct mrs_err *e);
/* Sorts values in the order of the server and keeps each once: how many there are then. */
uint64_t live_vals_distinct(struct mrs_val *v, uint64_t n);
/* Byte for byte. */
bool live_same(struct mrs_view a, struct mrs_view b);
/* Numbers of any numeric type as int64; fallback otherwise. */
int64_t live_int_at(struct mrs_view d, const char *path, int64_t fallback);
/* A string's text into out (cut at size - 1, whole or "" where there is none). */
void live_text_at(struct mrs_view d, const char *path, char *out, size_t size);
bool live_bool_at(struct mrs_view d, const char *path, bool fallback);
/* The document as a server keeps it, whatever it is sent: `_id` first. doc itself where that is so or where there is
 * none; else in buf, which is emptied. */
enum mrs_status live_stored(struct mrs_view doc, struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e);
/* The name of a top-level field other than `_id` that holds Timestamp(0, 0); NULL where there is none. A mongod
 * replaces it by its own time in a document that is inserted or that replaces another as a whole, but in none that a
 * pipeline makes. Only the top level counts. */
const char *live_zero_time(struct mrs_view doc);

#endif

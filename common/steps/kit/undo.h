/* SPDX-License-Identifier: Apache-2.0 */
/* undo.h - builds the inverse of a step: entries of a plan as BSON, and losses as text.
 *
 * Everything is in the arena of the inverse; a failure is recorded and returned by mrsi_undo_end. */
#ifndef MRSI_UNDO_H
#define MRSI_UNDO_H

#include "args.h"
#include "mongoreshape/inverse.h"

struct mrsi_undo {
    struct mrs_inverse *inv;
    struct mrs_err *err;
    struct mrs_buf buf; /* the entry being built */
    struct mrs_build b;
    bool bad; /* out of memory */
};
void mrsi_undo_begin(struct mrsi_undo *u, struct mrs_inverse *inv, struct mrs_err *e);
enum mrs_status mrsi_undo_end(struct mrsi_undo *u);

/* Opens an entry {step: {...}}; add its keys until close. */
void mrsi_undo_open(struct mrsi_undo *u, const char *step);
void mrsi_undo_close(struct mrsi_undo *u);
/* The value of a key of the plan; missing if absent. */
struct mrs_val mrsi_undo_body(const struct mrsi_undo *u, const char *key);
/* Writes key with the value that `of` has in the plan; nothing if it is absent. */
void mrsi_undo_take(struct mrsi_undo *u, const char *key, const char *of);
void mrsi_undo_val(struct mrsi_undo *u, const char *key, struct mrs_val v);
void mrsi_undo_text(struct mrsi_undo *u, const char *key, const char *text);
void mrsi_undo_bool(struct mrsi_undo *u, const char *key, bool v);
/* A path as in plans: dotted, or a list if a name requires that. */
void mrsi_undo_path(struct mrsi_undo *u, const char *key, const struct mrs_path *path);
/* type: MRS_DOCUMENT or MRS_ARRAY. */
void mrsi_undo_deeper(struct mrsi_undo *u, const char *key, uint8_t type);
void mrsi_undo_up(struct mrsi_undo *u);
/* Elements of an array opened by mrsi_undo_deeper. */
void mrsi_undo_item_path(struct mrsi_undo *u, const struct mrs_path *path);
void mrsi_undo_item_val(struct mrsi_undo *u, struct mrs_val v);
void mrsi_undo_item_text(struct mrsi_undo *u, const char *text);
/* A path of the plan in which a star is a character, for a key where it would match names. */
void mrsi_undo_item_literal(struct mrsi_undo *u, struct mrs_val v);
/* `collection` of `orphans: {into: collection}` or similar; missing if the key has a keyword. */
struct mrs_val mrsi_undo_into(const struct mrsi_undo *u, const char *key);
/* An entry that moves all documents of one collection to another. */
void mrsi_undo_move(struct mrsi_undo *u, struct mrs_val from, struct mrs_val into);
/* An entry that removes fields; paths whose n is 0 are skipped. */
void mrsi_undo_unset(struct mrsi_undo *u, struct mrs_val in, const struct mrs_path *const *path, uint32_t n);

/* Kinds of documents that are mixed with others. */
#define MRSI_UNDO_MOVED (MRS_LOSS_ORDER | MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS)
/* The name of a collection, and of the collection of a key; "?" if unknown. */
const char *mrsi_undo_coll_name(struct mrs_val v);
const char *mrsi_undo_coll(const struct mrsi_undo *u, const char *key);
/* The loss of `conflicts`, unless it is `refuse`. */
void mrsi_undo_conflicts(struct mrsi_undo *u);
/* kinds: enum mrs_loss_kind. */
void mrsi_undo_loss(struct mrsi_undo *u, unsigned kinds, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif

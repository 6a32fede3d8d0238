/* SPDX-License-Identifier: Apache-2.0 */
/* indexes.h - how indexes, validators and their paths change with the documents (PLAN.md section 6).
 *
 * A step describes its path changes (struct mrsi_moves). These functions rewrite the indexes of a collection or copy
 * them to another one, keep names and keys unique, and report losses. With `indexes: false` a step does not call them.
 * All return OK, FAIL or DEAD. */
#ifndef MRSI_INDEXES_H
#define MRSI_INDEXES_H

#include "catalog.h"
#include "mongoreshape/path.h"
#include "mongoreshape/catalogue.h"

/* A path `from`, and everything below it, is now at `to`; NULL: gone. from "": every path, moved to or from the top of
 * the document. The longest matching from counts. from "items", to "": items.x becomes x, and an index on items itself
 * is gone. */
struct mrsi_move {
    const char *from, *to;
};
struct mrsi_moves {
    const struct mrsi_move *move;
    uint32_t n;
    bool others_lost; /* paths without a move are gone (part of a document is copied), else unchanged */
    const char *const *begins; /* n_begins: top-level names with these prefixes are gone, except `_id` and moved
                                * names */
    uint32_t n_begins;
    /* path whose own value (not those below) changes: elements become {value: element}, references become documents;
     * NULL: none */
    const char *exact_from, *exact_to;
    /* in place only: */
    bool holes;       /* documents with the old path may lack the new one: two of them are duplicates in a unique
                       * index */
    bool fills;       /* documents without the old path may have the new one, with equal values */
    /* NULL, or the effect of patterns on a path after all moves: NULL if it is gone, or out of memory (*dead) */
    const char *(*through)(const void *patterns, struct mrs_arena *a, const char *path, bool *dead);
    const void *patterns;
    const bool *reported; /* NULL, or for each index of the collection: the report already has the reason why it goes */
};

/* False if a path contains a name that no index can have (dots or `$` inside): then omit it from the moves. */
bool mrsi_index_plain(const struct mrs_path *path);

/* Rewrites the indexes of a collection whose documents changed in place. An index that lost a key path is dropped, with
 * a note. keep_old: some documents keep the old schema (`where`, `leave`). Then the old index stays in addition to the
 * new one, and neither stays unique unless it is sparse on a single key, because both find documents without the
 * field. */
enum mrs_status mrsi_indexes_rewrite(struct mrs_catalog *cat, struct mrs_cat_coll *cc, const struct mrsi_moves *m,
                                     bool keep_old, struct mrs_err *e);

enum mrsi_lose { /* bits: what a copied index cannot keep */
    MRSI_LOSE_UNIQUE = 1,
    MRSI_LOSE_SPARSE = 2,
    MRSI_LOSE_PARTIAL = 4,
    MRSI_LEAVE_TTL = 8,    /* an index that expires documents is not copied */
    MRSI_LEAVE_HASHED = 16, /* nor is a hashed one: it cannot be multikey */
    MRSI_QUIET = 32,       /* no note for indexes of which only a part of the paths is copied */
    MRSI_WHOLE = 64        /* the documents leave `from`: indexes without any copied path get a note, too */
};
/* Copies from's indexes (except `_id_`) to into, rewritten by m. An index without any remaining path is skipped,
 * without a note unless the documents leave; one that lost some of its paths is skipped with a note. why: the reason
 * for the report, as in "index x_1 of a.b carried to a.c is no longer unique: WHY". */
struct mrsi_carry {
    const struct mrsi_moves *moves;
    unsigned lose;
    const char *why;
    /* If not NULL: a unique index stays unique by becoming partial on this field and value (union). */
    const char *tag;
    struct mrs_val tag_value;
    bool *reported; /* NULL, or set for each index of `from` that was copied or noted */
};
enum mrs_status mrsi_indexes_carry(struct mrs_catalog *cat, const struct mrs_cat_coll *from, struct mrs_cat_coll *into,
                                   const struct mrsi_carry *how, struct mrs_err *e);

/* Adds a plain ascending index over n paths, for references, unless an equal one exists. Not for `_id` alone. */
enum mrs_status mrsi_index_reference(struct mrs_catalog *cat, struct mrs_cat_coll *cc, const char *const *path,
                                     uint32_t n, struct mrs_err *e);

/* Notes the indexes on paths whose values a step changes that refuse or expire documents: unique ones, which only the
 * restore can check, and those with expireAfterSeconds. Call it before the indexes are rewritten. */
void mrsi_indexes_note_values(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, const char *const *path,
                              uint32_t n);
/* The same for all paths of the side that the step adds and does not remove. */
void mrsi_indexes_note_added(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, const struct mrs_desc *d,
                             int side);
/* The same for an existing collection that receives documents. */
void mrsi_indexes_note_arrivals(struct mrs_catalog *cat, const struct mrs_cat_coll *cc);
/* Like mrsi_index_plain, with a note if an index is wanted but impossible. */
bool mrsi_index_named(struct mrs_catalog *cat, const struct mrs_coll *coll, const struct mrs_path *path);

const char *mrsi_index_name(struct mrs_view index);
/* The name of the text index of the list (a collection has at most one); NULL: none. Empty views are skipped. */
const char *mrsi_index_text_of(const struct mrs_view *list, uint32_t n);
/* Is this boolean option set? */
bool mrsi_index_option(struct mrs_view index, const char *option);
bool mrsi_index_unique(struct mrs_view index); /* or about to become unique: prepareUnique */
bool mrsi_index_expires(struct mrs_view index);
bool mrsi_index_is_id(struct mrs_view index);
uint32_t mrsi_index_keys(struct mrs_view index);

/* Does a server build the index? false: why is the reason, for a message. */
enum { MRSI_WHY_MAX = 200 };
bool mrsi_index_buildable(struct mrs_view index, char *why, size_t size);

/* Is it a locale of a collation, by its language, as servers have them from ICU? */
bool mrsi_locale_is_known(struct mrs_val v);

/* Can a query, schema or pipeline contain a path with the same beginning? */
bool mrsi_names_path(struct mrs_view query, const char *path);

/* Notes the views that read, also through joins and other views, from a collection that is dropped or renamed (what),
 * or that may use a path that a step changes. */
enum mrs_status mrsi_views_note_removed(struct mrs_catalog *cat, const struct mrs_coll *coll, const char *what,
                                        struct mrs_err *e);
enum mrs_status mrsi_views_note_changes(struct mrs_catalog *cat, const struct mrs_desc *d, uint32_t side,
                                        struct mrs_err *e);

/* Validators of the sides that a step changes: one that uses an added or removed path is removed, with a note. A
 * collection that receives complete documents keeps its own, and the report says that they must satisfy it. */
enum mrs_status mrsi_cat_validators(struct mrs_catalog *cat, const struct mrs_desc *d, struct mrs_err *e);
/* "a.b" in the arena; if one of them is "", the other alone. NULL: out of memory. In index_paths.c. */
const char *mrsi_path_below(struct mrs_arena *a, const char *above, const char *path);

#endif

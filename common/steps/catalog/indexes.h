/* SPDX-License-Identifier: Apache-2.0 */
/* indexes.h - what happens to indexes, validators and paths in them when documents are reshaped
 * (PLAN.md section 6).
 *
 * A step says where paths go (struct mrsi_moves); these functions rewrite the indexes of a
 * collection, or carry them to another one, keep names and keys unique and tell the report what was
 * lost. With `indexes: false` a step simply does not call them. All return OK, FAIL or DEAD. */
#ifndef MRSI_INDEXES_H
#define MRSI_INDEXES_H

#include "catalog.h"
#include "mongoreshape/path.h"
#include "mongoreshape/catalogue.h"

/* Everything at or below `from` is now at `to`; NULL: gone. "" as from is every path, as to the top
 * of the document. The longest from counts. from "items", to "": items.x becomes x, and an index on
 * items itself is gone. */
struct mrsi_move {
    const char *from, *to;
};
struct mrsi_moves {
    const struct mrsi_move *move;
    uint32_t n;
    bool others_gone; /* paths that no move covers: gone (carrying parts), else as they are */
    const char *const *begins; /* n_begins: top-level names that begin so are gone, but for `_id` and what moves name */
    uint32_t n_begins;
    /* the path itself, not what is below it, is another now: elements that become {value: element}, references that
     * become documents; NULL: none */
    const char *exact_from, *exact_to;
    /* in place only: */
    bool holes;       /* documents that had the old path may lack the new one: two of them clash in a unique index */
    bool fills;       /* documents that lacked the old path may have the new one, with equal values */
    /* NULL, or what patterns make of a path, after all that: NULL where it is gone, or without memory (*dead) */
    const char *(*through)(const void *patterns, struct mrs_arena *a, const char *path, bool *dead);
    const void *patterns;
    const bool *told; /* NULL, or for each index of the collection: the report knows already why it goes */
};

/* False where a path has a name that no index can have (dots or `$` inside a name): then leave it
 * out of moves. */
bool mrsi_index_plain(const struct mrs_path *path);

/* The indexes of a collection whose documents were changed in place. An index of which a key is gone is dropped, and
 * noted. keep_old: some documents keep the old schema (`where`, `leave`): then the old index stays in addition to the
 * new one, and unless it is sparse on a single key neither stays unique, since both find documents without the
 * field. */
enum mrs_status mrsi_indexes_rewrite(struct mrs_catalog *cat, struct mrs_cat_coll *cc, const struct mrsi_moves *m,
                                     bool keep_old, struct mrs_err *e);

enum mrsi_lose { /* bits: what a carried index cannot keep */
    MRSI_LOSE_UNIQUE = 1,
    MRSI_LOSE_SPARSE = 2,
    MRSI_LOSE_PARTIAL = 4,
    MRSI_LEAVE_TTL = 8,    /* an index that expires documents is not copied */
    MRSI_LEAVE_HASHED = 16, /* nor a hashed one: it cannot be multikey */
    MRSI_QUIET = 32,       /* indexes that are covered in part only are left out without a note */
    MRSI_WHOLE = 64        /* the documents leave `from`: one whose paths are all gone is noted, too */
};
/* Carries copies of from's indexes (not `_id_`) to into, rewritten by m. One whose paths are all
 * gone is none of into's business, unless the documents leave; one that is covered in part is left out with a note.
 * why: the reason for the report, as in "index x_1 of a.b carried to a.c is no longer unique: WHY". */
struct mrsi_carry {
    const struct mrsi_moves *moves;
    unsigned lose;
    const char *why;
    /* Where not NULL: a unique index is kept by making it partial on this field having this value (union). */
    const char *tag;
    struct mrs_val tag_value;
    bool *told; /* NULL, or set for each index of `from` that was carried or noted */
};
enum mrs_status mrsi_indexes_carry(struct mrs_catalog *cat, const struct mrs_cat_coll *from, struct mrs_cat_coll *into,
                                   const struct mrsi_carry *how, struct mrs_err *e);

/* A plain ascending index over n paths, unless an equal one is there; for references. Nothing for
 * `_id` alone. */
enum mrs_status mrsi_index_reference(struct mrs_catalog *cat, struct mrs_cat_coll *cc, const char *const *path,
                                     uint32_t n, struct mrs_err *e);

/* Notes the indexes over any of the paths, whose values a step changes, that refuse or expire documents: unique ones,
 * for which only the restore will tell whether they hold, and those with expireAfterSeconds. To be called before
 * indexes are rewritten. */
void mrsi_indexes_note_values(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, const char *const *path,
                              uint32_t n);
/* The same for all paths of the side that the step adds to and does not take away. */
void mrsi_indexes_note_added(struct mrs_catalog *cat, const struct mrs_cat_coll *cc, const struct mrs_desc *d,
                             int side);
/* The same for a collection that is there already and takes in documents. */
void mrsi_indexes_note_arrivals(struct mrs_catalog *cat, const struct mrs_cat_coll *cc);
/* mrsi_index_plain, and a note where an index would be made and cannot be. */
bool mrsi_index_named(struct mrs_catalog *cat, const struct mrs_coll *coll, const struct mrs_path *path);

const char *mrsi_index_name(struct mrs_view index);
/* The name of the text index of the list, of which a collection has one at most; NULL: none. Empty views are passed
 * over. */
const char *mrsi_index_text_of(const struct mrs_view *list, uint32_t n);
/* Whether a yes-or-no option is set. */
bool mrsi_index_option(struct mrs_view index, const char *option);
bool mrsi_index_unique(struct mrs_view index); /* or about to be: prepareUnique */
bool mrsi_index_expires(struct mrs_view index);
bool mrsi_index_is_id(struct mrs_view index);
uint32_t mrsi_index_keys(struct mrs_view index);

/* Whether a server builds the index; false: why has the reason, for a message. */
enum { MRSI_WHY_MAX = 200 };
bool mrsi_index_buildable(struct mrs_view index, char *why, size_t size);

/* Whether a query, schema or pipeline could name a path that begins like this one. */
bool mrsi_names_path(struct mrs_view query, const char *path);

/* Notes the views that read, also by joins and by other views, from a collection that is dropped or renamed (what), or
 * that could name a path of the side that a step changes. */
enum mrs_status mrsi_views_note_gone(struct mrs_catalog *cat, const struct mrs_coll *coll, const char *what,
                                     struct mrs_err *e);
enum mrs_status mrsi_views_note_changes(struct mrs_catalog *cat, const struct mrs_desc *d, uint32_t side,
                                        struct mrs_err *e);

/* Validators of the sides that a step changes: one that names a path that is added or removed is
 * left out and noted; a collection that takes in whole documents keeps its own, and the report says
 * that they must satisfy it. */
enum mrs_status mrsi_cat_validators(struct mrs_catalog *cat, const struct mrs_desc *d, struct mrs_err *e);
/* "a.b" in the arena; where one of them is "" the other alone. NULL: no memory. index_paths.c */
const char *mrsi_path_below(struct mrs_arena *a, const char *above, const char *path);

#endif

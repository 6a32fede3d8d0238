/* SPDX-License-Identifier: Apache-2.0 */
/* catalogue.h - collections, options and indexes, and their changes by a plan; no document is read. */
#ifndef MONGORESHAPE_CATALOGUE_H
#define MONGORESHAPE_CATALOGUE_H

#include "mongoreshape/step.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mrs_coll_kind { MRS_COLL_PLAIN, MRS_COLL_VIEW, MRS_COLL_TIMESERIES };
struct mrs_cat_coll {
    struct mrs_coll coll;
    enum mrs_coll_kind kind;
    struct mrs_view options; /* BSON, may be the empty document */
    struct mrs_view *index;  /* one BSON document an index, `_id_` included */
    uint32_t n_index;
    char uuid[40];           /* "" : none */
    bool exists;             /* false: dropped or renamed away */
    bool touched;            /* a step uses it, not only for reading: its metadata are rewritten */
    bool no_data;            /* a view, or its documents are in a bucket collection: it has no data file */
    bool no_metadata;        /* it is a bucket collection, named after its time series */
    bool made;               /* a step of this plan created it (not by rename) */
    bool measured;           /* a time series: its documents are measurements, as a restore inserts them, not buckets */
    void *engine;            /* the engine's own */
};
/* In a dump directory the documents of the time series X are in a collection with this prefix before X. */
#define MRS_BUCKETS "system.buckets."
struct mrs_catalog;
/* An empty catalogue, which the caller frees. OK, DEAD. */
enum mrs_status mrs_catalog_new(struct mrs_mem *mem, struct mrs_catalog **out, struct mrs_err *e);
void mrs_catalog_free(struct mrs_catalog *c);
/* Adds a collection of the input: metadata is the document of X.metadata.json ({options, indexes, uuid, collectionName,
 * type}; the empty document: none). The bytes are copied. */
enum mrs_status mrs_catalog_add(struct mrs_catalog *c, const char *db, const char *coll, struct mrs_view metadata,
                                struct mrs_err *e);
/* A collection of the input that an option excluded, so that no step may use it: in a restore its documents and those
 * of the step would mix. OK, DEAD. */
enum mrs_status mrs_catalog_leave_out(struct mrs_catalog *c, const char *ns, struct mrs_err *e);
/* Also a collection that no longer exists; NULL: there never was one. */
struct mrs_cat_coll *mrs_catalog_find(struct mrs_catalog *c, const char *db, const char *coll);
uint32_t mrs_catalog_count(const struct mrs_catalog *c);
struct mrs_cat_coll *mrs_catalog_at(struct mrs_catalog *c, uint32_t i);
struct mrs_arena *mrs_catalog_arena(struct mrs_catalog *c);
/* For steps. need: the collection must exist and be reshapable (no view, time series, capped, collation, system.*):
 * FAIL MRS_E_PLAN with the remedy. change: its documents change, so it is marked touched and loses its uuid. */
enum mrs_status mrs_catalog_need(struct mrs_catalog *c, const struct mrs_coll *coll, bool change,
                                 struct mrs_cat_coll **out, struct mrs_err *e);
/* target: creates a missing one (with its _id index), else as need with change. */
enum mrs_status mrs_catalog_target(struct mrs_catalog *c, const struct mrs_coll *coll, struct mrs_cat_coll **out,
                                   struct mrs_err *e);
/* The kinds of collections that a step accepts besides plain ones: bits. version: of the plan language. */
enum mrs_takes { MRS_TAKES_CAPPED = 1, MRS_TAKES_COLLATED = 2, MRS_TAKES_WHOLE = 4, MRS_TAKES_MEASUREMENTS = 8 };
unsigned mrs_step_takes(const struct mrs_step *st, uint32_t version);
/* Whether a step only reads or removes the documents of the collection: then those of a time series are its
 * measurements. */
bool mrs_step_measures(const struct mrs_step *st, const struct mrs_coll *coll);
/* The collection with the buckets of a time series: a separate one, or itself; NULL: it has none. */
struct mrs_cat_coll *mrs_catalog_buckets(struct mrs_catalog *c, struct mrs_cat_coll *cc);
/* Replaces a time series by its remaining measurements, for a step or at the end of a run; its buckets are dropped. */
void mrs_catalog_measure(struct mrs_catalog *c, struct mrs_cat_coll *cc);
/* Why a step that accepts these kinds cannot use the collection; NULL: it can. */
const char *mrs_catalog_obstacle(const struct mrs_cat_coll *cc, unsigned takes);
/* Applies a step: the collections of its conditions must exist; calls its hook `catalog`, if it has one. */
enum mrs_status mrs_catalog_play(struct mrs_catalog *c, const struct mrs_step *st, uint32_t version,
                                 struct mrs_err *e);
/* Whether the options make a collection a capped one. */
bool mrs_catalog_capped(const struct mrs_cat_coll *cc);
/* What is wrong with the language of a text index, or of a document in one; NULL: nothing, or it is missing. */
const char *mrs_text_language_fault(struct mrs_val v);
/* Why servers reject a new collection of this name, as in "is empty"; NULL: they accept it. */
const char *mrs_catalog_check_name(const char *db, const char *coll);
/* Appends the default name of an index to out: key1_1_key2_-1. */
void mrs_index_default_name(struct mrs_view index, struct mrs_buf *out);
/* Prefix of each note on an index that a restore cannot build: `check` ends with status 1 for it. */
#define MRS_NOTE_RESTORE_FAILS "a restore fails at "
/* A line of the report ("index x_1 of shop.orders left out: it would be unique over an array"). */
void mrs_catalog_note(struct mrs_catalog *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* After all steps: notes redundant indexes of touched collections, and collections with more indexes than a server
 * accepts. all: also if no step made or changed one of the two. OK, DEAD. */
enum mrs_status mrs_catalog_surplus(struct mrs_catalog *c, bool all, struct mrs_err *e);
uint32_t mrs_catalog_notes(const struct mrs_catalog *c);
const char *mrs_catalog_note_at(const struct mrs_catalog *c, uint32_t i);
/* Appends the metadata document of a touched collection to out, as mongodump writes it ({options, indexes, uuid,
 * collectionName, type}). */
void mrs_catalog_metadata(const struct mrs_cat_coll *coll, struct mrs_buf *out);

#ifdef __cplusplus
}
#endif
#endif

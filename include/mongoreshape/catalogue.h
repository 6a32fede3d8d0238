/* SPDX-License-Identifier: Apache-2.0 */
/* catalogue.h - collections, options and indexes, followed through a plan before any document is read. */
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
    bool touched;            /* some step named it as more than a thing that is only read: metadata are written anew */
    bool no_data;            /* its documents lie in a collection of buckets: it has no data file */
    bool no_metadata;        /* it is such a collection, named by what it belongs to */
    bool made;               /* a step of this plan made it (rename does not count) */
    bool measured;           /* a time series: its documents are measurements, as a restore inserts them, not buckets */
    void *engine;            /* the engine's own */
};
/* The documents of the time series X lie, in a dump of a folder, in a collection of this name and X. */
#define MRS_BUCKETS "system.buckets."
struct mrs_catalog;
/* An empty catalogue, which the caller frees. OK, DEAD. */
enum mrs_status mrs_catalog_new(struct mrs_mem *mem, struct mrs_catalog **out, struct mrs_err *e);
void mrs_catalog_free(struct mrs_catalog *c);
/* Adds a collection as it is in the input: metadata is the document of X.metadata.json ({options, indexes, uuid,
 * collectionName, type}; the empty document: none). The bytes are copied. */
enum mrs_status mrs_catalog_add(struct mrs_catalog *c, const char *db, const char *coll, struct mrs_view metadata,
                                struct mrs_err *e);
/* A collection that is in the input and was left out by an option, so that no step can name it: what it would write
 * there would meet, in a restore, what it did not know of. OK, DEAD. */
enum mrs_status mrs_catalog_leave_out(struct mrs_catalog *c, const char *ns, struct mrs_err *e);
/* Also what no longer exists; NULL: there never was one. */
struct mrs_cat_coll *mrs_catalog_find(struct mrs_catalog *c, const char *db, const char *coll);
uint32_t mrs_catalog_count(const struct mrs_catalog *c);
struct mrs_cat_coll *mrs_catalog_at(struct mrs_catalog *c, uint32_t i);
struct mrs_arena *mrs_catalog_arena(struct mrs_catalog *c);
/* For steps. need: the collection must exist and be one that can be reshaped (no view, time series, capped,
 * collation, system.*): FAIL MRS_E_PLAN that says what to do. change: its documents change, so it is marked touched
 * and loses its uuid. */
enum mrs_status mrs_catalog_need(struct mrs_catalog *c, const struct mrs_coll *coll, bool change,
                                 struct mrs_cat_coll **out, struct mrs_err *e);
/* target: made where it is missing (with its _id index), else as need with change. */
enum mrs_status mrs_catalog_target(struct mrs_catalog *c, const struct mrs_coll *coll, struct mrs_cat_coll **out,
                                   struct mrs_err *e);
/* What a step takes beside plain collections: bits. version: of the plan language. */
enum mrs_takes { MRS_TAKES_CAPPED = 1, MRS_TAKES_COLLATED = 2, MRS_TAKES_SERIES = 4, MRS_TAKES_MEASUREMENTS = 8 };
unsigned mrs_step_takes(const struct mrs_step *st, uint32_t version);
/* Whether a step reads the documents of the collection, or takes them away, and does no more with it: then those of a
 * time series are its measurements. */
bool mrs_step_measures(const struct mrs_step *st, const struct mrs_coll *coll);
/* Where the buckets of a time series lie: a collection of their own, or itself; NULL: it has none. */
struct mrs_cat_coll *mrs_catalog_buckets(struct mrs_catalog *c, struct mrs_cat_coll *cc);
/* A time series becomes the measurements that a step, or the end of a run, leaves of it; its buckets go. */
void mrs_catalog_measure(struct mrs_catalog *c, struct mrs_cat_coll *cc);
/* Why a step that takes these cannot take the collection; NULL: it can. */
const char *mrs_catalog_obstacle(const struct mrs_cat_coll *cc, unsigned takes);
/* Plays a step: the collections of its conditions must be there; its hook `catalog`, where it has one. */
enum mrs_status mrs_catalog_play(struct mrs_catalog *c, const struct mrs_step *st, uint32_t version,
                                 struct mrs_err *e);
/* Whether the options make a collection a capped one. */
bool mrs_catalog_capped(const struct mrs_cat_coll *cc);
/* Why no server takes a new collection of this name, as in "is empty"; NULL: it does. */
const char *mrs_catalog_bad_name(const char *db, const char *coll);
/* The name that an index without one gets: key1_1_key2_-1, appended to out. */
void mrs_index_default_name(struct mrs_view index, struct mrs_buf *out);
/* So begins each note of an index that a restore cannot build: `check` ends with status 1 for it. */
#define MRS_NOTE_RESTORE_FAILS "a restore fails at "
/* A line of the report ("index x_1 of shop.orders left out: it would be unique over an array"). */
void mrs_catalog_note(struct mrs_catalog *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* After all steps: notes indexes of touched collections that another one makes superfluous, and collections with more
 * indexes than a server takes. all: also where no step made or changed one of the two. OK, DEAD. */
enum mrs_status mrs_catalog_surplus(struct mrs_catalog *c, bool all, struct mrs_err *e);
uint32_t mrs_catalog_notes(const struct mrs_catalog *c);
const char *mrs_catalog_note_at(const struct mrs_catalog *c, uint32_t i);
/* The metadata document of a touched collection, as mongodump writes it ({options, indexes, uuid, collectionName,
 * type}), appended to out. */
void mrs_catalog_metadata(const struct mrs_cat_coll *coll, struct mrs_buf *out);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* id_check.h - `_id` stays unique in every collection that a step adds to.
 *
 * A pass first runs optimistically: it writes, and collects an eight-byte hash of each `_id`. If no two hashes are
 * equal, no `_id` occurs twice and the pass is final: the usual case costs a few nanoseconds a document. Otherwise the
 * output is discarded. A second pass writes nothing; it collects the documents with equal hashes and their contents.
 * The plan's policy then decides about them, and a last pass applies the verdicts. Between the passes the phases
 * FIND_DUPLICATES and DECIDE work on the collected data; they take savepoints of the step's pass, which has ended.
 * `_id`s and documents are equal if their 128-bit hashes by the run's secret are (mrs_hash_secret). Hashes of 64 bits
 * only find candidates. */
#ifndef MRS_RUN_IDS_H
#define MRS_RUN_IDS_H

#include "checkpoint.h"
#include "run/store/hash_lists.h"
#include "run/store/sorter.h"
#include "run/store/file_array.h"

enum mrsi_ids_phase {
    MRSI_IDS_OPTIMISTIC,      /* writes, and collects hashes */
    MRSI_IDS_FIND_DUPLICATES, /* searches for equal hashes */
    MRSI_IDS_COLLECT,         /* writes nothing; collects the members of keys with equal hashes */
    MRSI_IDS_DECIDE,          /* the policy decides about the members */
    MRSI_IDS_APPLY            /* writes, according to the verdicts */
};

struct mrsi_id_decision; /* id_verdicts.c */

/* A place (existing document: target and ordinal; else source and product) that gets other contents. */
struct mrsi_replaced {
    uint64_t there, a, b;
    uint64_t at;
    uint64_t len;
};

/* The verdict on an added document, given the others with its `_id`. */
enum mrsi_verdict {
    MRSI_ALONE,      /* written; no other document has its `_id` */
    MRSI_REPRESENTS, /* written, and stands for others */
    MRSI_EQUAL,      /* counts as another document with the same bytes, */
    MRSI_MERGED      /* or with other contents, by the policy */
};
struct mrsi_product {
    uint64_t source;
    uint32_t no, as; /* enum mrsi_verdict */
};

/* A source that is refused, and the first other document with the `_id` of one of its products. */
struct mrsi_rejected {
    uint64_t source;  /* first: they are sorted by it, then by `product` */
    uint64_t other;   /* as in struct mrsi_id_member */
    uint32_t product; /* of the source: the product with the duplicate */
    uint32_t there;   /* 1: the other one is an existing document */
    uint32_t target;
    uint32_t by_key;  /* 1: both share a key that the step compares, not the `_id` */
};

/* A document that is in a collection, or would be. */
struct mrsi_id_member {
    uint64_t key_lo, key_hi;   /* hash of target and `_id` */
    uint64_t body_lo, body_hi; /* hash of the document */
    uint64_t source;           /* mrsi_source of the source document; existing document: its own ordinal */
    uint32_t product;          /* number of the product of that source */
    uint32_t target;           /* collection */
    uint32_t there;            /* 1: existing document */
    uint32_t made, pad;        /* 1: made by the step, so an equal one is another document; existing ones may count
                                * so */
    uint32_t body_len; /* size of its stored bytes, if it may replace another; in a job's list they follow it */
    uint64_t body_at;          /* in ids->bodies */
};

struct mrsi_ids {
    struct mrsi_engine *en;
    struct mrsi_pause_clock pauses; /* FIND_DUPLICATES, DECIDE */
    enum mrsi_ids_phase phase;
    enum mrs_conflicts policy;
    struct mrsi_hashes hashes;
    uint64_t buffered;             /* bytes of hashes in memory */
    struct mrsi_temp *spill;
    struct mrs_buf extents;
    struct mrsi_savepoint_list extents_kept;
    uint64_t spilled;
    uint32_t searched;         /* FIND_DUPLICATES: number of finished lists */
    struct mrsi_file_array dup_hashes; /* sorted hashes that occurred twice */
    struct mrsi_sorter members;  /* by key, existing documents first, in input order */
    struct mrsi_file_array rejected; /* sorted struct mrsi_rejected */
    struct mrsi_file_array verdicts; /* sorted struct mrsi_product: all but MRSI_ALONE */
    struct mrsi_file_array replaced; /* sorted: places whose contents are those of a later document (last) */
    struct mrsi_temp *bodies;
    uint64_t bodies_bytes;
    struct mrsi_id_decision *judge;  /* DECIDE */
    bool resumed;                    /* some of it is from the stopped run */
    uint32_t over[MRS_SIDES_MAX], n_over; /* collections with MRS_ROLE_OVERWRITE */
};

enum mrs_status mrsi_ids_init(struct mrsi_ids *ids, struct mrsi_engine *en, enum mrs_conflicts policy,
                              struct mrs_err *e);
void mrsi_ids_clear(struct mrsi_ids *ids);
/* The hash of a document's `_id` for a target. OK; END: no `_id` (documents without `_id` are never duplicates). */
enum mrs_status mrsi_ids_short(const struct mrsi_ids *ids, uint32_t target, struct mrs_view doc,
                               struct mrs_buf *scratch, uint64_t *out, struct mrs_err *e);
/* The 128-bit hash, which decides. */
enum mrs_status mrsi_ids_hash(const struct mrsi_ids *ids, uint32_t target, struct mrs_view doc, struct mrs_buf *scratch,
                              struct mrs_hash128 *out, struct mrs_err *e);
/* OPTIMISTIC: adds the short hashes of a job, in its commit. */
enum mrs_status mrsi_ids_take(struct mrsi_ids *ids, const uint64_t *hash, size_t n, struct mrs_err *e);
/* OPTIMISTIC, FIND_DUPLICATES -> COLLECT: *clash: did a hash occur twice? */
enum mrs_status mrsi_ids_find_duplicates(struct mrsi_ids *ids, struct mrsi_pass *pass, bool *clash, struct mrs_err *e);
bool mrsi_ids_has_dup_hash(const struct mrsi_ids *ids, uint64_t hash);
/* COLLECT, DECIDE -> APPLY. */
enum mrs_status mrsi_ids_decide(struct mrsi_ids *ids, struct mrsi_pass *pass, struct mrs_err *e);
/* After the pass of a phase: finds duplicates, or decides. *again: another pass is needed. */
enum mrs_status mrsi_ids_next(struct mrsi_ids *ids, struct mrsi_pass *pass, bool *again, struct mrs_err *e);
/* Has the pass of the phase ended? */
static inline bool
mrsi_ids_is_between(const struct mrsi_ids *ids)
{
    return ids->phase == MRSI_IDS_FIND_DUPLICATES || ids->phase == MRSI_IDS_DECIDE;
}
/* All rounds of a step, from the current phase of ids on: `once` in each round that needs a pass, and `begin` before
 * each of these but the first. */
struct mrsi_rounds {
    enum mrs_status (*begin)(void *arg, struct mrs_err *e);
    enum mrs_status (*once)(void *arg, struct mrs_err *e);
    void *arg;
    struct mrsi_pass *pass; /* of the step */
};
enum mrs_status mrsi_ids_rounds(struct mrsi_ids *ids, const struct mrsi_rounds *r, struct mrs_err *e);
/* NULL: the source is not refused; always before the phase APPLY. */
const struct mrsi_rejected *mrsi_ids_rejected(const struct mrsi_ids *ids, uint64_t source);
enum mrsi_verdict mrsi_ids_verdict(const struct mrsi_ids *ids, uint64_t source, uint32_t product);
uint64_t mrsi_ids_n_represent(const struct mrsi_ids *ids); /* number of documents with MRSI_REPRESENTS */
/* Reads the contents that replace those of a place into room; *doc is unchanged if it keeps its own. An existing
 * document always keeps its `_id`. */
enum mrs_status mrsi_ids_replace(const struct mrsi_ids *ids, bool there, uint64_t a, uint64_t b, struct mrs_buf *room,
                                 struct mrs_view *doc, struct mrs_err *e);
/* Are the bytes of candidates for a target needed in the phase COLLECT? */
bool mrsi_ids_keeps_bodies(const struct mrsi_ids *ids, uint32_t target);
/* COLLECT: adds a job's list of members, each followed by its stored bytes, if any. */
enum mrs_status mrsi_ids_members(struct mrsi_ids *ids, const struct mrs_buf *list, struct mrs_err *e);

/* One pass over the existing documents of a collection: hashes (OPTIMISTIC) or members (COLLECT). pass NULL: without
 * savepoints. */
enum mrs_status mrsi_ids_there(struct mrsi_ids *ids, uint32_t coll, struct mrsi_pass *pass, struct mrs_err *e);

/* For savepoints (checkpoint.h), in any phase. */
enum mrs_status mrsi_ids_save(struct mrsi_ids *ids, const char *name, struct mrs_build *b, struct mrs_buf *files,
                              struct mrs_err *e);
enum mrs_status mrsi_ids_load(struct mrsi_ids *ids, struct mrs_view saved, const char *name, struct mrs_err *e);

/* The part in id_verdicts.c. */
enum mrs_status mrsi_id_decision_save(struct mrsi_ids *ids, struct mrs_build *b, struct mrs_buf *files,
                                      struct mrs_err *e);
enum mrs_status mrsi_id_decision_load(struct mrsi_ids *ids, struct mrs_view saved, struct mrs_err *e);
void mrsi_id_decision_free(struct mrsi_ids *ids);
/* Starts or resumes FIND_DUPLICATES and DECIDE. */
void mrsi_ids_begin_between(struct mrsi_ids *ids, struct mrsi_pass *pass);

int mrsi_by_u64(const void *a, const void *b);

/* A document of the input of a step, in one number: its side, and its ordinal in the collection. */
enum { MRSI_SOURCE_SHIFT = 52 };
_Static_assert(MRS_SIDES_MAX <= 1 << (64 - MRSI_SOURCE_SHIFT), "a side fits");
static inline uint64_t
mrsi_source(uint32_t side, uint64_t ordinal)
{
    MRS_ASSERT(ordinal >> MRSI_SOURCE_SHIFT == 0);
    return (uint64_t)side << MRSI_SOURCE_SHIFT | ordinal;
}
static inline uint32_t
mrsi_source_side(uint64_t source)
{
    return (uint32_t)(source >> MRSI_SOURCE_SHIFT);
}
static inline uint64_t
mrsi_source_ordinal(uint64_t source)
{
    return source & (((uint64_t)1 << MRSI_SOURCE_SHIFT) - 1);
}

#endif

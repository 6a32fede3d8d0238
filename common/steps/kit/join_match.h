/* SPDX-License-Identifier: Apache-2.0 */
/* join_match.h - what embed and copy share: match, keys of both sides, and the references of one document of `into`. */
#ifndef MRSI_JOIN_H
#define MRSI_JOIN_H

#include "args.h"
#include "kernel.h"
#include "keys.h"
#include "mongoreshape/join_ops.h"

struct mrsi_join_match {
    struct mrs_coll from, into;
    struct mrs_query *where;
    bool nulls;             /* null, missing and undefined are one key */
    bool into_points;       /* the reference lies on the into side */
    struct mrsi_pair *pair; /* pair[0]: the reference; [0, n_tuple) are read in one element of a shared array and
                               make one key */
    uint32_t n, n_tuple;
    uint32_t share;         /* names of the reference's path that lead to the document which a group of references
                               belongs to */
    bool refs;              /* keys of into are references, given one by one (desc.by_reference) */
    bool single;            /* a from document has one key at most: the from field is `_id` */
    bool own_id;            /* in place: a document counts as the reference to its own `_id` (keys of kind 1) */
    const char *wrap;       /* a document with this field counts as the reference in it; NULL */
    uint32_t wrap_len;
};

/* Reads from, into, match, where, nulls. by_into: the rule of copy (the reference is on the into side unless
 * that is `_id`), else that of embed, where `reference` may say otherwise. False where the plan is wrong. */
bool mrsi_join_read(struct mrsi_read *r, struct mrsi_join_match *j, bool by_into);
/* Decides which pairs are read together once share and refs are set. */
void mrsi_join_settle(struct mrsi_join_match *j);
struct mrsi_describe;
/* Describes the pairs of match: those read together are as the first of them. */
void mrsi_join_describe(const struct mrsi_join_match *j, struct mrsi_describe *t);
/* How many names a and b have in common before the last of either. */
uint32_t mrsi_join_share(const struct mrs_path *a, const struct mrs_path *b);
/* The kernel mrs_join_ops.keys. */
enum mrs_status mrsi_join_keys(const struct mrsi_join_match *j, struct mrs_ctx *c, int side, struct mrs_view d,
                               struct mrs_keys *k);

/* ---- the references of one document, as keys() counted them ---- */
struct mrsi_ref_occurrence {          /* one occurrence: a scalar, or an element of the array at the end of the path */
    uint32_t key, n_keys;  /* its keys among those of the document; none: it is no reference (null) */
    uint32_t group;
    bool null;             /* its key is that of null (`nulls: match`): never dangling */
    bool missing;          /* nothing is there: no place in the document belongs to it */
};
struct mrsi_match_group {        /* the occurrences below one document reached by `share` names */
    uint32_t index, n_index; /* positions in the arrays on the way there: in the index list */
    uint32_t occ, n_occ;
};
struct mrsi_refs {         /* per-thread; buffers keep their memory */
    struct mrs_buf occ, group, index;
    struct mrs_buf count_group; /* the same for another path that shares fewer or more names */
    uint32_t n_keys;
    bool in_array;         /* some occurrence is an element of an array at the end of the path */
    bool incomplete;       /* another pair has no value at all: nothing here is a dangling reference */
};
void mrsi_refs_init(struct mrsi_refs *f, struct mrs_mem *mem);
void mrsi_refs_clear(struct mrsi_refs *f);
/* share2: depth of count_group; UINT32_MAX: none. Statuses as keys(). */
enum mrs_status mrsi_refs_find(const struct mrsi_join_match *j, struct mrs_ctx *c, struct mrs_view d, uint32_t share2,
                               struct mrsi_refs *f);
static inline const struct mrsi_ref_occurrence *
mrsi_refs_occurrence(const struct mrsi_refs *f)
{
    return (const struct mrsi_ref_occurrence *)(const void *)f->occ.p;
}
static inline uint32_t
mrsi_refs_n_occurrence(const struct mrsi_refs *f)
{
    return (uint32_t)(f->occ.n / sizeof(struct mrsi_ref_occurrence));
}
/* The next occurrence that has a place in the document; NULL behind the last. at: 0 at first. */
static inline const struct mrsi_ref_occurrence *
mrsi_refs_next(const struct mrsi_refs *f, uint32_t *at)
{
    while (*at < mrsi_refs_n_occurrence(f)) {
        const struct mrsi_ref_occurrence *o = &mrsi_refs_occurrence(f)[(*at)++];
        if (!o->missing) {
            return o;
        }
    }
    return NULL;
}
/* The group whose place is on the way to a place: index is the way's positions. NULL where there is none.
 * groups: struct mrsi_match_group; indexes: their positions. Places must be asked for in document order: the cursor (0
 * at first) only moves on. */
const struct mrsi_match_group *mrsi_group_find(const struct mrs_buf *groups, const struct mrs_buf *indexes,
                                               const uint32_t *index,
                                               uint32_t n_index, uint32_t *cursor);

#endif

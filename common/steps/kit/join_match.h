/* SPDX-License-Identifier: Apache-2.0 */
/* join_match.h - shared by embed and copy: match, keys of both sides, and the references of one document of `into`. */
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
    bool into_points;       /* the references are on the into side */
    struct mrsi_pair *pair; /* pair[0]: the reference; [0, n_tuple) are read in one element of an array, as one key */
    uint32_t n, n_tuple;
    uint32_t share;         /* length of the prefix of the reference's path that leads to the document of a group */
    bool refs;              /* keys of into are references, passed one by one (desc.by_reference) */
    bool single;            /* a from document has at most one key: the from field is `_id` */
    bool own_id;            /* in place: a document counts as the reference to its own `_id` (keys of kind 1) */
    const char *wrap;       /* a document with this field counts as the reference in that field; NULL */
    uint32_t wrap_len;
};

/* Reads from, into, match, where, nulls. by_into: the rule of copy (references are on the into side unless that is
 * `_id`), else that of embed, which `reference` may override. False: error in the plan. */
bool mrsi_join_read(struct mrsi_read *r, struct mrsi_join_match *j, bool by_into);
/* Decides which pairs form a tuple, after share and refs are set. */
void mrsi_join_settle(struct mrsi_join_match *j);
struct mrsi_describe;
/* Describes the pairs of match; a tuple counts like its first pair. */
void mrsi_join_describe(const struct mrsi_join_match *j, struct mrsi_describe *t);
/* Length of the common prefix of a and b, without the last name of either. */
uint32_t mrsi_join_share(const struct mrs_path *a, const struct mrs_path *b);
/* The kernel mrs_join_ops.keys. */
enum mrs_status mrsi_join_keys(const struct mrsi_join_match *j, struct mrs_ctx *c, int side, struct mrs_view d,
                               struct mrs_keys *k);

/* ---- the references of one document, numbered like the keys() of it ---- */
struct mrsi_ref_occurrence {          /* one occurrence: a scalar, or an element of the array at the end of the path */
    uint32_t key, n_keys;  /* its keys among those of the document; none: not a reference (null) */
    uint32_t group;
    bool null;             /* its key is that of null (`nulls: match`): never dangling */
    bool missing;          /* no value: no place in the document */
};
struct mrsi_match_group {        /* the occurrences below one document at depth `share` */
    uint32_t index, n_index; /* positions in the arrays on the path: in the index list */
    uint32_t occ, n_occ;
};
struct mrsi_refs {         /* per thread; buffers keep their memory */
    struct mrs_buf occ, group, index;
    struct mrs_buf count_group; /* the same for another path, with another `share` */
    uint32_t n_keys;
    bool in_array;         /* some occurrence is an element of an array at the end of the path */
    bool incomplete;       /* another pair has no value: nothing here is a dangling reference */
};
void mrsi_refs_init(struct mrsi_refs *f, struct mrs_mem *mem);
void mrsi_refs_clear(struct mrsi_refs *f);
/* share2: depth of count_group; UINT32_MAX: none. Returns like keys(). */
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
/* The next occurrence with a place in the document; NULL at the end. at: 0 at first. */
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
/* The group whose document is on the path to a place with these positions (index); NULL: none. groups: struct
 * mrsi_match_group; indexes: their positions. Ask in document order: the cursor (0 at first) only advances. */
const struct mrsi_match_group *mrsi_group_find(const struct mrs_buf *groups, const struct mrs_buf *indexes,
                                               const uint32_t *index,
                                               uint32_t n_index, uint32_t *cursor);

#endif

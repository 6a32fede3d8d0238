/* SPDX-License-Identifier: Apache-2.0 */
/* relate.h - finds references between collections: from names and samples to exact counts. */
#ifndef MRSI_INSPECT_RELATE_H
#define MRSI_INSPECT_RELATE_H

#include "field_names.h"
#include "rows.h"
#include "sieve.h"
#include "mongoreshape/inspect.h"

struct mrsi_own { /* values compared with the key of their own document: equal; numbers below it, below its half */
    uint64_t same, below, far_below;
};
struct mrsi_ref_pair { /* a path that may refer to a key */
    struct mrsi_reference r;
    double estimate;
    struct mrsi_own own;
};
struct mrsi_probes { /* values to look up, sorted by hash: lookups.h */
    struct mrsi_probe *at; /* NULL: none yet */
    uint32_t n;
};
struct mrsi_column { /* a path that is counted exactly */
    struct mrsi_path *path;
    struct mrsi_rowset rows, numbers; /* numbers: the digits in its texts, by value */
    bool needs_numbers, needs_probes, refers; /* refers: it is on the referring side */
    /* of a key that is larger than all paths that may refer to it: its other values are not stored */
    struct mrsi_sieve sieve;
    struct mrsi_probes probes;
    uint64_t values; /* that may be a reference */
    uint64_t typed[11]; /* of them, by stored type: see count.c */
};
struct mrsi_hint {
    struct mrsi_path *from, *to;
    bool none; /* it is no reference */
};
struct mrsi_key_hash { /* a value of a key */
    uint64_t hash;
    uint32_t key;
};
struct mrsi_relating {
    struct mrsi_inspection *x;
    const struct mrs_inspect_source *source;
    const struct mrs_inspect_opts *opts;
    struct mrsi_vocabulary words;
    struct mrsi_row_store store;
    struct mrsi_ref_pair *pair;
    uint32_t pairs, pair_cap, left_out; /* left_out: pairs that scored least */
    struct mrsi_column *column;
    uint32_t columns;
    struct mrsi_hint *hint;
    uint32_t hints, hint_cap;
    struct mrsi_path **key; /* all possible keys, and short lists (mrsi_path_is_short_list) */
    uint32_t keys;
    uint8_t *open; /* by key: any path may refer to it (key_index.c) */
    struct mrsi_key_hash *key_hash;
    uint32_t key_hashes;
};

/* key_paths.c: whether a path can be the target of references. */
bool mrsi_path_is_key(const struct mrsi_path *p);
/* A short list of different words: a key for paths with its name, or that of its collection. */
bool mrsi_path_is_short_list(const struct mrsi_path *p);
bool mrsi_path_is_unique(const struct mrsi_path *p); /* almost all of its values are different */
bool mrsi_path_is_id(const struct mrsi_path *p);
/* Has their collection a unique index of exactly these fields, in any order? */
bool mrsi_paths_have_unique_index(const struct mrsi_path *const *p, uint32_t parts);
bool mrsi_path_has_unique_index(const struct mrsi_path *p);
bool mrsi_path_can_refer(const struct mrsi_path *p);
/* The sibling field that gives the name of the collection; NULL: none. */
const struct mrsi_path *mrsi_path_kind(const struct mrsi_path *p, const struct mrsi_vocabulary *v);
bool mrsi_path_names(const struct mrsi_path *kind, uint32_t collection, const struct mrsi_vocabulary *v);
double mrsi_sample_contained(const struct mrsi_path *p, bool as_number, const struct mrsi_path *key, bool *known);
bool mrsi_path_may_be_in(const struct mrsi_path *p, bool as_number, const struct mrsi_path *key);
double mrsi_sample_covered(const struct mrsi_path *p, bool as_number, const struct mrsi_path *key, bool *known);

/* match_rows.c: counts the values of `from` that are in `to`, and their distribution. values, distinct and keys of r
 * are set. */
enum mrs_status mrsi_join(struct mrsi_relating *x, const struct mrsi_rowset *from, const struct mrsi_rowset *to,
                          struct mrsi_reference *r, struct mrs_err *e);

/* key_index.c: the keys that may have values of a path. may: one byte a key. */
enum mrs_status mrsi_key_index_make(struct mrsi_relating *x, struct mrs_err *e);
void mrsi_key_index_find(const struct mrsi_relating *x, const struct mrsi_path *p, uint8_t *may);
void mrsi_key_index_free(struct mrsi_relating *x);

/* judge.c: score of a pair whose counts are set (distinct, matched_distinct, contained, cover). */
void mrsi_judge(const struct mrsi_relating *x, struct mrsi_reference *r);
/* Whether the numbers of a path are just those of a key: they end where it ends, begin where it begins, are all of
 * them. */
enum mrsi_range_fit { MRSI_NO_FIT, MRSI_FITS_END, MRSI_FITS_PART, MRSI_FITS_WHOLE };
/* Whether numbers span half of the range of their own `_id`s or more: they may be of earlier documents. */
bool mrsi_numbers_span(const struct mrsi_path *p, const struct mrsi_path *key);
enum mrsi_range_fit mrsi_numbers_fit(const struct mrsi_path *p, const struct mrsi_path *key);

enum mrs_status mrsi_propose(struct mrsi_relating *x, struct mrs_err *e); /* candidates.c: pairs by names and samples */
enum mrs_status mrsi_count(struct mrsi_relating *x, struct mrs_err *e); /* count.c: exact figures of the pairs */
enum mrs_status mrsi_choose(struct mrsi_relating *x, struct mrs_err *e); /* choose.c: one target for each path */
enum mrs_status mrsi_copies(struct mrsi_relating *x, struct mrs_err *e); /* copies and aliases */
enum mrs_status mrsi_two_ways(struct mrsi_relating *x, struct mrs_err *e);
enum mrs_status mrsi_composites(struct mrsi_relating *x, struct mrs_err *e);
enum mrs_status mrsi_trees(struct mrsi_relating *x, struct mrs_err *e);
enum mrs_status mrsi_series(struct mrsi_relating *x, struct mrs_err *e);
enum mrs_status mrsi_versions(struct mrsi_relating *x, struct mrs_err *e);
struct mrsi_reference *mrsi_reference_add(struct mrsi_inspection *x, const struct mrsi_reference *r);
struct mrsi_reference *mrsi_reference_from(const struct mrsi_inspection *x, const struct mrsi_path *p);

/* pick.c: calls fn for the values at a path of a document. name: of MRSI_ANY, as a value. */
typedef enum mrs_status mrsi_pick_fn(void *arg, const struct mrs_val *v, struct mrs_err *e);
enum mrs_status mrsi_pick(struct mrs_val in, const struct mrsi_way *way, uint32_t ways, bool names, mrsi_pick_fn *fn,
                          void *arg, struct mrs_err *e);
/* mrsi_pick for a path without `[]` and `*`; missing: there is none. */
struct mrs_val mrsi_pick_one(struct mrs_val in, const struct mrsi_way *way, uint32_t ways);
/* Number of its ways up to the innermost array element: values below belong to one object. */
uint32_t mrsi_holder_ways(const struct mrsi_path *p);
bool mrsi_same_holder(const struct mrsi_path *a, const struct mrsi_path *b);
enum mrs_status mrsi_scan(struct mrsi_relating *x, const struct mrsi_collection *c, bool in_order,
                          enum mrs_status (*doc)(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal,
                                                 struct mrs_err *e),
                          void *arg, struct mrs_err *e);

#endif

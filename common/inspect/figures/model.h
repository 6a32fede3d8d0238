/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - the model of the data after reading: collections, paths, references, copies, rules.
 *
 * Everything is in the arena of the inspection. Paths are compared by the sorted hashes of their values (canon.c). */
#ifndef MRSI_INSPECT_MODEL_H
#define MRSI_INSPECT_MODEL_H

#include "figures.h"

struct mrsi_way { /* one part of the way to a path's values in a document */
    const char *name;
    uint32_t n;
    enum mrsi_path_kind kind;
    bool once; /* no document has the name twice: the search can stop at the first */
};

struct mrsi_frequent {
    struct mrs_val value; /* shortened */
    uint64_t n;
};
struct mrsi_type_figures {
    struct mrs_val min, max; /* shortened; missing: the type has no useful order */
    uint64_t n;
    uint8_t type;
};
struct mrsi_name;
struct mrsi_path {
    struct mrsi_collection *in;
    /* field_names.h: the words of the last field, and those that name the path; NULL: no reference can start here */
    const struct mrsi_name *last_words, *words;
    const struct mrsi_name *array_words; /* of a field of subdocuments: what these are; NULL: it is none */
    bool named_id, named_measure, of_persons; /* with words only; of_persons: the subdocuments are, by their array */
    const struct mrsi_path *parent; /* NULL: the root contains it */
    const struct mrsi_path *type_field; /* the sibling that names its target collections; NULL: none */
    double likely; /* score of its best reference by samples; 0: none */
    const struct mrsi_collection *fitting; /* the only one that has a key with just its numbers; or NULL */
    const char *text; /* `lines[].productId` */
    const char *last; /* name of its last field; for `*` and `[]` that of their container */
    struct mrsi_way *way;
    uint32_t ways, lists; /* lists: how many `[]` */
    enum mrsi_path_kind kind;
    bool names; /* the values are the names of `*` */
    uint64_t of, present, null, bytes;
    struct mrsi_type_figures *type;
    uint32_t types;
    struct mrsi_frequent *frequent;
    uint32_t n_frequent;
    struct mrsi_quantiles *length; /* of arrays; NULL */
    /* its values, counted as for references; sketches emptied */
    struct mrsi_counted count;
    uint64_t distinct;
    bool exact; /* whether distinct is exact */
    uint64_t *hash, *number_hash; /* sorted samples; NULL: no reference can start here */
    uint32_t hashes, number_hashes;
    uint64_t limit, number_limit; /* larger hashes are not in the sample; UINT64_MAX: it is complete */
};

struct mrsi_seen_index {
    const char *name;
    struct mrs_view key; /* {path: direction} */
    struct mrs_view spec;
    uint64_t used; /* by $indexStats; UINT64_MAX: unknown */
    int64_t used_since, used_days; /* start of the counting */
    const char *used_on; /* members of the replica set that counted */
    bool unique, plain; /* plain: neither sparse, partial, TTL, collated, hidden nor of a special kind */
};

struct mrsi_seen_shape {
    struct mrs_val names; /* in sequence, each with its NUL; shortened */
    uint64_t n;
};

struct mrsi_series {
    const struct mrsi_path *time, *series;
    uint64_t count;
    double step_seconds;
};
struct mrsi_tree_figures {
    const struct mrsi_path *path;
    uint64_t roots, depth, cycles;
};
struct mrsi_versions {
    const struct mrsi_path *path; /* to the version */
    const struct mrsi_path *differs; /* a path that exists in one version only; NULL */
    uint32_t n;
};

struct mrsi_collection {
    uint32_t no; /* in the source */
    const char *ns, *name; /* name: without the database */
    uint32_t db_n; /* bytes of the database's name */
    uint64_t documents, bytes, name_bytes, deep, twice; /* as in figures */
    struct mrsi_quantiles size;
    struct mrs_val max_id;
    struct mrsi_limit limit;
    struct mrsi_seen_shape *shape;
    uint32_t shapes;
    uint64_t n_shapes; /* number of different ones */
    double growth; /* documents a day, of the last 30; negative: unknown */
    double share; /* fraction of its documents that was read; less than 1: a sample, the base of all figures */
    struct mrsi_path *path;
    uint32_t paths;
    struct mrsi_seen_index *index;
    uint32_t indexes;
    struct mrsi_series series; /* time NULL: no time series */
    struct mrsi_tree_figures tree; /* path NULL: no tree */
    struct mrsi_versions versions;
    bool has_data, view, buckets, cut; /* buckets: a time series of them; cut: damage ended the read */
};

struct mrsi_two_way {
    uint64_t agree, gaps, disagree;
    struct mrsi_reference *list; /* the parent's array */
};
enum { MRSI_PARTS = 3 };
struct mrsi_reference {
    struct mrsi_path *from[MRSI_PARTS], *to[MRSI_PARTS];
    uint32_t parts;
    bool as_number; /* text on one side is a number on the other */
    bool dbref, self, hinted, exact;
    bool by_kind; /* a sibling field gives the name of this collection */
    bool namesake; /* a path of this name in another collection refers to the key */
    bool among_types; /* the path has values of each type of the key */
    bool candidate, dropped; /* dropped: not used any more */
    double score, v, n, f, contained, cover;
    uint64_t values, distinct, matched, matched_distinct, orphans, orphan_distinct, keys;
    uint64_t probed, found, probed_values, found_values; /* looked up in all of a sampled collection; 0: no lookups */
    struct mrsi_quantiles per_parent;
    uint64_t parents, none;
    const char *match;
    struct mrsi_two_way *two_way; /* NULL */
    struct mrsi_reference *alias_of;
};
struct mrsi_copied {
    struct mrsi_path *from, *of;
    struct mrsi_reference *beside;
    uint64_t compared, stale;
    bool reported;
};

struct mrsi_rule_found {
    const char *rule, *path, *index, *text, *step;
    struct mrsi_collection *in;
    struct mrs_view figures; /* {name: number} */
    struct mrsi_reference *reference;
    struct mrsi_path *at;
    struct mrsi_copied *copy;
    const char *why; /* why no step was planned; NULL */
    const char *plan; /* its step in the suggested plan, as text; NULL */
    bool planned; /* a step of the suggested plan corrects it */
    int severity; /* 3: will break, 2: has a cost, 1: worth a review */
};

struct mrsi_inspection {
    struct mrs_mem *mem;
    const char *name, *kind, *tool;
    bool sampled;
    double share;
    struct mrs_view workload; /* empty: unknown */
    const char *workload_source; /* "--workload" or "system.profile" */
    const char *measured; /* number and period of the operations; NULL: not measured */
    bool plan_written; /* the suggested plan is in a file */
    bool profile_cut; /* damage ended system.profile */
    struct mrs_arena arena;
    struct mrsi_collection *coll;
    uint32_t colls;
    struct mrsi_reference **ref; /* chosen, then candidates */
    uint32_t refs, ref_cap;
    struct mrsi_copied *copy;
    uint32_t copies, copy_cap;
    struct mrsi_rule_found *rule;
    uint32_t rules, rule_cap;
    const char **left;
    uint32_t lefts, left_cap;
};

static inline bool
mrsi_is_sampled(const struct mrsi_collection *c)
{
    return c->share < 1;
}
static inline bool
mrsi_same_db(const struct mrsi_collection *a, const struct mrsi_collection *b)
{
    return a->db_n == b->db_n && memcmp(a->ns, b->ns, a->db_n) == 0;
}
/* The name of a collection where another one refers to it: with its database if that is not the other one's. */
static inline const char *
mrsi_target_name(const struct mrsi_collection *to, const struct mrsi_collection *from)
{
    return mrsi_same_db(to, from) ? to->name : to->ns;
}
/* Whether the first fields of an index are these paths of its collection, in any order. */
bool mrsi_index_starts_with(const struct mrsi_seen_index *x, const struct mrsi_path *const *p, uint32_t parts);
/* Its number of documents, extrapolated for a sample. */
static inline uint64_t
mrsi_all_documents(const struct mrsi_collection *c)
{
    return (uint64_t)((double)c->documents / c->share + .5);
}
/* Stores the figures of a collection as rows of its paths. */
enum mrs_status mrsi_model_take(struct mrsi_inspection *x, struct mrsi_collection *c, const struct mrsi_figures *f,
                                struct mrs_err *e);
/* Records that something was not examined, for the report. */
enum mrs_status mrsi_model_leave(struct mrsi_inspection *x, struct mrs_err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* rekey.h - interfaces between the files of the step `rekey`. */
#ifndef MRSI_REKEY_H
#define MRSI_REKEY_H

#include "steps/kit/args.h"
#include "steps/kit/group_by.h"
#include "steps/kit/kernel.h"
#include "steps/kit/shape.h"
#include "mongoreshape/rekey_ops.h"

enum rekey_dangling { REKEY_DANGLING_KEEP, REKEY_DANGLING_DROP, REKEY_DANGLING_NULL, REKEY_DANGLING_REFUSE };
enum rekey_dropped { REKEY_DROPPED_DROP, REKEY_DROPPED_INTO };

#define REKEY_CONDITIONS 64 /* maximum of entries of `references` for one collection: bits of a word */
#define REKEY_BUF_MAX (4u * MRS_DOC_READ_MAX) /* maximum of a buffer for one document or group */

/* A path with references in documents of one collection, and its entries of `references` as bits. */
struct rekey_ref_path {
    struct mrs_path path;
    uint64_t entries;
};
struct rekey_holder { /* a collection with references */
    struct mrs_coll coll;
    struct rekey_ref_path *path;
    uint32_t n_paths, cap_paths;
    struct mrs_query *where[REKEY_CONDITIONS]; /* for each entry; NULL: all documents */
    uint32_t n_entries;
    struct mrs_edit *edit; /* of the paths */
    int side;
};

struct mrsi_rekey {
    struct mrsi_owned keep;
    struct mrs_coll in;
    struct mrs_query *where;
    /* id */
    bool fresh;          /* `new` */
    struct mrs_expr *id; /* an expression */
    /* merge */
    bool merge;
    struct mrs_expr **part; /* by: n_parts expressions, and `any` in addition */
    const char **part_name; /* NULL: `by` is one expression */
    bool *any;
    uint32_t n_parts, n_any;
    struct mrs_sort *sort;
    struct mrs_path *field; /* fields: n_fields of them */
    struct mrs_acc **acc;
    uint32_t n_fields;
    int dropped;
    struct mrs_coll dropped_into;
    int side_dropped; /* -1: none */
    /* references */
    struct rekey_holder *holder;
    uint32_t n_holders;
    struct rekey_holder *own; /* for `in` itself; NULL: it has no references */
    struct mrs_path old;      /* n 0: none */
    struct mrs_edit *edit;    /* `_id` unless merge, the fields, old; in this order */
    int dangling;
    bool distinct, replace, indexes;
};

/* Per thread: the buffers keep their memory between documents. */
struct rekey_work {
    bool ready;
    struct mrs_buf raw;   /* scratch of mrs_edit_run, and of new ids */
    struct mrs_buf array; /* an array of references, rewritten */
    struct mrs_buf item;  /* struct mrs_val: elements of an array */
    struct mrs_buf key, span; /* keys of elements, to find duplicates */
    struct mrs_acc_state **acc; /* one for each field, ends in NULL; allocated with the first group */
    struct mrs_acc_shared shared;
};
void mrsi_rekey_work_begin(struct rekey_work *w, struct mrs_ctx *c);

/* rekey_args.c */
enum mrs_status mrsi_rekey_compile(struct mrs_args *args, void **state, struct mrs_err *e);
extern const struct mrs_key mrsi_rekey_merge_keys[];
extern const struct mrs_key mrsi_rekey_reference_keys[];
enum { MRSI_REKEY_MERGE_KEYS = 5, MRSI_REKEY_REFERENCE_KEYS = 3 };

/* rekey_group.c: the key that a document shares with others, and the values computed from a group. */
enum mrs_status mrsi_rekey_keys(const struct mrsi_rekey *s, struct mrs_ctx *c, struct mrs_view doc,
                                struct mrs_keys *out);
enum mrs_status mrsi_rekey_group_begin(const void *state, struct mrs_ctx *c, void *work);
enum mrs_status mrsi_rekey_group_add(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc);
enum mrs_status mrsi_rekey_group_end(const void *state, struct mrs_ctx *c, void *work, struct mrs_buf *out);

/* rekey_follow.c: references in a document. */
enum mrs_status mrsi_rekey_point(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                                 struct mrs_rekey_lookup *to, struct mrs_buf *out, bool *changed);
void mrsi_rekey_references(const void *state, int side, struct mrs_view doc, void (*fn)(void *arg, struct mrs_val id),
                           void *arg);

/* rekey_describe.c */
enum mrs_status mrsi_rekey_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out,
                                    struct mrs_err *e);
enum mrs_status mrsi_rekey_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e);
enum mrs_status mrsi_rekey_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);

#endif

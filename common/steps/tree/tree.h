/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - interfaces between the files of the step `tree`. */
#ifndef MRSI_STEPS_TREE_H
#define MRSI_STEPS_TREE_H

#include "steps/kit/kernel.h"
#include "mongoreshape/limits.h"
#include "mongoreshape/nodes.h"
#include "mongoreshape/spread_ops.h"
#include "mongoreshape/inverse.h"

enum mrsi_tree_form { /* in the order of the key's choices */
    MRSI_TREE_PARENT,
    MRSI_TREE_CHILDREN,
    MRSI_TREE_ANCESTORS,
    MRSI_TREE_PATH,
    MRSI_TREE_NESTED,
    MRSI_TREE_EMBEDDED
};
struct mrsi_tree_field {
    const char *name;
    uint32_t len;
};
struct mrsi_tree_fields {
    struct mrsi_tree_field field[2];
    uint32_t n; /* 2: left and right */
};
struct mrsi_tree_args {
    struct mrsi_owned keep;
    struct mrs_coll in;
    struct mrs_query *where;
    int form, to_form; /* enum mrsi_tree_form */
    char separator;    /* of the names in a path */
    struct mrsi_tree_fields old, made;
    bool replace, indexes;
};

/* ---- tree_kernels.c ---- */
extern const struct mrs_tree_ops mrsi_tree_ops;
/* Can a path contain this `_id`? */
bool mrsi_tree_fits_path(const struct mrsi_tree_args *s, struct mrs_val id);
/* Appends the document without the old and with the new fields to out. *deeper: an `_id` that is a document is now
 * inside a list. OK, SKIP, DEAD. */
enum mrs_status mrsi_tree_put(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc,
                              struct mrs_place *place, struct mrs_buf *out, bool *deeper);
/* Index of the field of this element; f->n: none. */
uint32_t mrsi_tree_field_no(const struct mrsi_tree_fields *f, const struct mrs_elem *el);

/* ---- tree_embed.c: several documents become one ---- */
/* Computes `own` and `deep` of out. SKIP if the document cannot be written this way. */
enum mrs_status mrsi_tree_weigh(const struct mrsi_tree_args *s, struct mrs_ctx *c, struct mrs_view doc,
                                struct mrs_node *out);
enum mrs_status mrsi_tree_part(const void *state, struct mrs_ctx *c, struct mrs_view doc, bool behind,
                               struct mrs_buf *out);

/* ---- tree_unfold.c: one document becomes several ---- */
struct mrsi_tree_work { /* per thread */
    bool ready;
    struct mrs_buf node, frame, made, span, part, id;
    uint32_t at;                                    /* index of the next product */
    uint32_t way[MRS_DEPTH_READ];                   /* ancestors of the current position, nearest first */
    uint32_t n_way, at_way, at_child;
};
extern const struct mrs_spread_ops mrsi_tree_unfold_ops;
void mrsi_tree_work_clear(struct mrs_ctx *c, void *work);

/* tree_invert.c */
enum mrs_status mrsi_tree_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);

#endif

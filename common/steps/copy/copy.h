/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - interfaces between the files of the copy step. */
#ifndef MRSI_COPY_H
#define MRSI_COPY_H

#include "steps/kit/match_set.h"
#include "steps/kit/shape.h"
#include "mongoreshape/join_ops.h"
#include "mongoreshape/inverse.h"

#define COPY_NONE UINT32_MAX
#define COPY_BUF_MAX (4u * MRS_DOC_READ_MAX)
enum copy_orphans { COPY_ORPHANS_KEEP, COPY_ORPHANS_DROP, COPY_ORPHANS_REFUSE, COPY_ORPHANS_INTO };

struct mrsi_copy {
    struct mrsi_owned keeper;
    struct mrsi_join_match join;
    struct mrsi_shape shape;
    struct mrs_path as;       /* relative to its holder; n 0: without `as`, the copies are fields of the holder */
    struct mrs_part *name;    /* the fields of such copies, in the plan's order */
    uint32_t n_names;
    const char *wrap;         /* NULL: none */
    uint32_t wrap_len;
    bool at_root;             /* all references of a document share one place */
    bool drop_ref, replace, indexes, take; /* take: matched documents leave from */
    int orphans, dangling, many, errors;
    struct mrs_sort *sort;    /* NULL: input order */
    struct mrs_coll orphans_into;
    int side_orphans;
    struct mrs_path *target;  /* full paths: of `as`, of the names of a list, or of the names of a map */
    uint32_t n_targets;
    struct mrs_edit *edit;    /* the targets, or the reference if it is wrapped */
    struct mrs_edit *ref_edit; /* the reference, if it may be removed; else NULL */
    bool quick;               /* fast path: top-level references are wrapped, with no policy to apply */
};

struct copy_work {
    bool ready;
    struct mrsi_match_set hits;
    struct mrsi_refs refs;
    struct mrs_buf value, raw, doc, element, copies;
};

/* copy_splice.c */
enum mrs_status mrsi_copy_splice(const void *state, struct mrs_ctx *c, void *work, struct mrs_view doc,
                                 struct mrs_matches *m,
                                 const struct mrs_put *put, struct mrs_buf *out, enum mrs_fate *fate);
void mrsi_copy_work_clear(struct mrs_ctx *c, void *work);
/* copy_quick.c, the fast path. *done false: use the general code; nothing was appended, no match was reported. */
enum mrs_status mrsi_copy_quick(const struct mrsi_copy *s, struct mrs_ctx *c, struct copy_work *w, struct mrs_view doc,
                                struct mrs_matches *m, struct mrs_buf *out, bool *done);
/* copy_describe.c */
enum mrs_status mrsi_copy_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e);
enum mrs_status mrsi_copy_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e);

/* copy_invert.c */
enum mrs_status mrsi_copy_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e);

#endif

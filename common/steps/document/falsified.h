/* SPDX-License-Identifier: Apache-2.0 */
/* falsified.h - does a step that reads what it writes make its own `where` false? */
#ifndef MRS_STEPS_FALSIFIED_H
#define MRS_STEPS_FALSIFIED_H

#include "steps/kit/args.h"

struct mrsi_written { /* one field that the step writes */
    const char *path;       /* with dots */
    bool constant;          /* the value is always v; missing: the field is removed */
    struct mrs_val v;
    bool typed;             /* the value has one of these types, wherever the path leads */
    struct mrs_types types;
    const struct mrs_expr *doc; /* the value is a document with the fields that this expression names; NULL: unknown */
};
struct mrsi_writes {
    struct mrsi_written *item;
    uint32_t n;
    bool whole; /* no other fields stay, except `_id` */
};

/* Does at least one top-level condition of `where`, or of its `$and`, match no document that the step has written? Only
 * then may the step read a document again. r->status reports out of memory. */
bool mrsi_falsifies(struct mrsi_read *r, const struct mrsi_writes *w);

/* Advice if there is no such condition; f: the field for a marker. */
#define MRSI_MARK(f)                                                                                                 \
    "let `where` leave out what it has written, as a mark does (`where: { migrated: { $ne: 1 } }`, `" f              \
    "`), or run the plan with --quiet-by"

#endif

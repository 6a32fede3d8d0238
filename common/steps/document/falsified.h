/* SPDX-License-Identifier: Apache-2.0 */
/* falsified.h - does a step that reads what it writes leave its own `where` false? */
#ifndef MRS_STEPS_FALSIFIED_H
#define MRS_STEPS_FALSIFIED_H

#include "steps/kit/args.h"

struct mrsi_written { /* one field that the step writes */
    const char *path;       /* with dots */
    bool constant;          /* always v; missing: it is removed */
    struct mrs_val v;
    bool typed;             /* a value of one of these types, wherever the path leads */
    struct mrs_types types;
};
struct mrsi_writes {
    struct mrsi_written *item;
    uint32_t n;
    bool whole; /* nothing else stays, but `_id` */
};

/* Whether one condition at the top of `where`, or of its `$and`, no longer takes any document that the step has
 * written: only then may the step meet it again. r->status tells of a lack of memory. */
bool mrsi_falsifies(struct mrsi_read *r, const struct mrsi_writes *w);

/* What to do where none does; f: where the mark is written. */
#define MRSI_MARK(f)                                                                                                 \
    "let `where` leave out what it has written, as a mark does (`where: { migrated: { $ne: 1 } }`, `" f              \
    "`), or run the plan with --quiet-by"

#endif

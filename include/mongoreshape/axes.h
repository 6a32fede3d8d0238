/* SPDX-License-Identifier: Apache-2.0 */
/* axes.h - kernels of the family GRID: one document for each combination of the values of axes.
 *
 * A step defines its axes. The engine collects their values, makes for each combination the document of the axes
 * ({name: value, ...}, the first axis slowest), and passes it to the `spread` kernels of the step as a source on side
 * 0, the target: fate CHANGED with the new document as its one product, or SKIP. Of equal values in the data the first
 * one counts; those of a plan are used as written. */
#ifndef MONGORESHAPE_AXES_H
#define MONGORESHAPE_AXES_H

#include "mongoreshape/path.h"
#include "mongoreshape/context.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_axis {
    const char *name;       /* of a top-level field */
    int side;               /* with MRS_ROLE_READ: the collection with the values; -1: they are in the plan */
    struct mrs_path path;   /* to the values, by mrs_path_each; missing ones are ignored */
    struct mrs_view values; /* side -1: an array */
};
struct mrs_grid_ops {
    /* They live as long as the state. */
    const struct mrs_axis *(*axes)(const void *state, uint32_t *n);
};

#ifdef __cplusplus
}
#endif
#endif

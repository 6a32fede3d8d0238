/* SPDX-License-Identifier: Apache-2.0 */
/* link_step.h - the state of the step `link`, for link*.c. */
#ifndef MRSI_LINK_H
#define MRSI_LINK_H

#include "steps/kit/args.h"
#include "steps/kit/kernel.h"
#include "mongoreshape/link.h"

enum link_derive { LINK_DERIVE_CHILD_REFS, LINK_DERIVE_PARENT_REF, LINK_DERIVE_BOTH };
enum link_strip { LINK_STRIP_NONE, LINK_STRIP_PARENT_REF, LINK_STRIP_CHILD_REFS };
enum link_prefer { LINK_PREFER_NONE, LINK_PREFER_PARENT, LINK_PREFER_CHILD };
enum link_dangling { LINK_DANGLING_KEEP, LINK_DANGLING_DROP, LINK_DANGLING_NULL, LINK_DANGLING_REFUSE };
enum link_orphans { LINK_ORPHANS_KEEP, LINK_ORPHANS_DROP, LINK_ORPHANS_REFUSE, LINK_ORPHANS_INTO };

struct mrsi_link_args {
    struct mrsi_owned keep;
    struct mrs_coll coll[2];  /* parents, children */
    struct mrs_path path[2];  /* child_refs in parents, parent_ref in children */
    struct mrs_edit *edit[2]; /* of those paths */
    struct mrs_sort *sort;    /* NULL: none */
    int derive, strip, prefer, dangling, orphans;
    struct mrs_coll orphans_into;
    struct mrs_link_wants wants;
    bool strips[2]; /* references of this side are removed */
    bool self;      /* both are one collection */
    bool indexes;
};
/* Per thread: the buffers keep their memory between documents. */
struct mrsi_link_work {
    bool ready;
    struct mrs_buf old, left; /* struct mrs_val: the references before and after */
    struct mrs_buf array;     /* the new array */
    struct mrs_buf raw;       /* scratch of mrs_edit_run */
};
void mrsi_link_work_clear(struct mrs_ctx *c, void *work);

/* The keys of the plan that name the paths, for refusals. */
extern const char *const mrsi_link_key[2];

/* Can documents of a side change? */
bool mrsi_link_changes(const struct mrsi_link_args *s, int side);
enum mrs_status mrsi_link_splice(const void *state, struct mrs_ctx *c, void *work, int side, struct mrs_view doc,
                                 const struct mrs_link_item *item, uint32_t n, struct mrs_buf *out,
                                 enum mrs_fate *fate);
/* Calls fn for each reference of a document of this side, in document order; any result other than OK stops. */
enum mrs_status mrsi_link_each(const struct mrsi_link_args *s, const struct mrs_ctx *c, int side, struct mrs_view doc,
                               mrs_path_fn fn, void *arg, enum mrs_link_shape *shape);
enum mrs_status mrsi_link_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out,
                                   struct mrs_err *e);
enum mrs_status mrsi_link_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* stage_spec.h - the parsed and immutable specification of a `$reshape` stage: shared by all objects made from it. */
#ifndef EXT_STAGE_SPEC_H
#define EXT_STAGE_SPEC_H

#include "server/home/ext_home.h"
#include "mongoreshape/stage.h"

struct ext_spec { /* immutable after its creation, except `users` */
    struct ext_home *home;
    struct mrs_mem *mem;      /* its own */
    struct mrs_arena arena;
    _Atomic unsigned users;
    struct mrs_view stage;    /* {$reshape: ...} as received */
    struct mrs_view plan_doc; /* the inline plan, or the plan of planId */
    struct mrs_plan *plan;
    struct mrs_coll of, emit; /* coll NULL: not given */
    struct mrs_view with;
    bool skip;                /* refused: skip */
    int64_t memory, now;
    struct mrs_stage_route route;
};

/* Parses and checks a stage; reports all errors together. database: of the pipeline; NULL: not known yet, then
 * ext_spec_bind checks the rest. */
struct mdb_status *ext_spec_read(struct ext_home *home, struct mdb_bytes stage, struct ext_spec **out);
/* The same specification for collections in this database: the same object if the plan names it anyway. */
struct mdb_status *ext_spec_bind(struct ext_spec *spec, struct mdb_bytes database, struct ext_spec **out);
struct ext_spec *ext_spec_retain(struct ext_spec *spec);
void ext_spec_drop(struct ext_spec *spec);
/* Appends the specification with all defaults; parsing it again gives the same bytes. */
void ext_spec_normal(const struct ext_spec *spec, struct mrs_buf *out);

#endif

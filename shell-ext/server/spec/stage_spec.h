/* SPDX-License-Identifier: Apache-2.0 */
/* stage_spec.h - what a `$reshape` stage was told, checked and frozen: shared by all that was made of it. */
#ifndef EXT_STAGE_SPEC_H
#define EXT_STAGE_SPEC_H

#include "server/home/ext_home.h"
#include "mongoreshape/stage.h"

struct ext_spec { /* not changed once it is made, but for `users` */
    struct ext_home *home;
    struct mrs_mem *mem;      /* its own */
    struct mrs_arena arena;
    unsigned users;           /* atomic */
    struct mrs_view stage;    /* {$reshape: ...} as it came */
    struct mrs_view plan_doc; /* the plan of it, or the one that planId names */
    struct mrs_plan *plan;
    struct mrs_coll of, emit; /* coll NULL: not said */
    struct mrs_view with;
    bool skip;                /* refused: skip */
    int64_t memory, now;
    struct mrs_stage_route route;
};

/* Reads and checks a stage; all mistakes are told at once. database: where it runs; NULL: not known yet, then what
 * hangs on it is examined by ext_spec_bind. */
struct mdb_status *ext_spec_read(struct ext_home *home, struct mdb_bytes stage, struct ext_spec **out);
/* The same specification where collections lie in this database: itself, where the plan says so anyway. */
struct mdb_status *ext_spec_bind(struct ext_spec *spec, struct mdb_bytes database, struct ext_spec **out);
struct ext_spec *ext_spec_hold(struct ext_spec *spec);
void ext_spec_drop(struct ext_spec *spec);
/* Appends the specification with all that was left open said: read again it gives the same bytes. */
void ext_spec_normal(const struct ext_spec *spec, struct mrs_buf *out);

#endif

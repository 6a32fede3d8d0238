/* SPDX-License-Identifier: Apache-2.0 */
/* stage_route.h - which way the documents of `of` take through the steps of a plan, and whether they can take it one by
 * one. */
#ifndef EXT_STAGE_ROUTE_H
#define EXT_STAGE_ROUTE_H

#include "mongoreshape/plan.h"

enum ext_class {
    EXT_ONE,     /* a document becomes one document, or none */
    EXT_MANY,    /* any number of them */
    EXT_GROUPED, /* sorted documents become one for each group */
    EXT_JOINED   /* partners arrive in a field */
};
#define EXT_NO_COLL UINT32_MAX

struct ext_hop { /* a step that the stream meets */
    const struct mrs_step *step;
    int16_t *side_in;          /* by collection: the side by which its documents enter the step; -1: they pass by */
    const uint32_t *coll_of;   /* by side */
    const char *field;         /* joined: where the partners lie in documents of `of`; NULL: no join */
    uint32_t field_no;         /* of field in ext_route.field */
};
struct ext_route {
    enum ext_class class; /* the greatest of its steps */
    bool grouped;         /* one of them groups */
    const struct mrs_coll **coll; /* n_colls: all that the plan names */
    uint32_t n_colls, of, emit;
    struct ext_hop *hop;
    uint32_t n_hops;
    const char **field; /* n_fields: all that the hops name, each once */
    uint32_t n_fields;
};

/* What a stage asks of a plan; NULL: not said. */
struct ext_wish {
    const struct mrs_coll *of, *emit; /* db NULL: the plan's */
    struct mrs_view with;      /* {collection: field} */
    /* Takes a mistake: where in the specification, and what. */
    void (*report)(void *arg, const char *place, const char *msg);
    void *arg;
};
/* Memory of the route comes from the arena. OK, with mistakes reported or not; DEAD. */
enum mrs_status ext_route_find(const struct mrs_plan *p, const struct ext_wish *wish, struct mrs_arena *a,
                               struct ext_route *out, struct mrs_err *e);
const char *ext_class_name(enum ext_class c);

#endif

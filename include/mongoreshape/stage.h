/* SPDX-License-Identifier: Apache-2.0 */
/* stage.h - a plan as the stage `$reshape` of a server's pipeline: the route of one collection's documents through its
 * steps, whether they can be processed one by one, and the stage as text. No server is used. */
#ifndef MONGORESHAPE_STAGE_H
#define MONGORESHAPE_STAGE_H

#include "mongoreshape/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mrs_stage_class {
    MRS_STAGE_ONE,     /* a document becomes one document, or none */
    MRS_STAGE_MANY,    /* any number of them */
    MRS_STAGE_GROUPED, /* sorted documents become one for each group */
    MRS_STAGE_JOINED   /* a field contains the partners */
};
#define MRS_STAGE_NO_COLL UINT32_MAX
#define MRS_STAGE_STARS "names with stars stand for the collections of an input, and a stage sees none: name them"

struct mrs_stage_hop { /* a step on the route */
    const struct mrs_step *step;
    /* by collection: the side on which its documents enter the step; -1: the step does not read them */
    int16_t *side_in;
    const uint32_t *coll_of;   /* by side */
    const char *field;         /* joined: the field of documents of `of` with the partners; NULL: no join */
    uint32_t field_no;         /* of field in mrs_stage_route.field */
};
struct mrs_stage_route {
    enum mrs_stage_class kind;    /* the maximum of its steps */
    bool grouped;                 /* one of them groups */
    const struct mrs_coll **coll; /* n_colls: all collections of the plan */
    uint32_t n_colls, of, emit;
    const bool *comes_to;         /* by collection: documents of `of` can leave the steps there */
    struct mrs_stage_hop *hop;
    uint32_t n_hops;
    const char **field; /* n_fields: all fields of the hops, without duplicates */
    uint32_t n_fields;
};

/* The parameters of a stage for a plan; NULL: not given. */
struct mrs_stage_request {
    const struct mrs_coll *of, *emit; /* db NULL: the plan's */
    struct mrs_view with;      /* {collection: field} */
    /* Receives a mistake: its place in the specification, and a message. */
    void (*report)(void *arg, const char *place, const char *msg);
    void *arg;
};
/* Memory of the route comes from the arena. OK, also if mistakes were reported; DEAD. */
enum mrs_status mrs_stage_find_route(const struct mrs_plan *p, const struct mrs_stage_request *request,
                                     struct mrs_arena *a, struct mrs_stage_route *out, struct mrs_err *e);
/* Why a step cannot be part of any stage, and the alternative; NULL: it can. */
const char *mrs_stage_refuses(const struct mrs_step *s);
enum mrs_stage_class mrs_stage_class_of(const struct mrs_step *s);
const char *mrs_stage_class_name(enum mrs_stage_class c);
/* The stages that a plan allows: each step's class, and for each pair of collections that has a stage the complete
 * pipeline, ready for mongosh; or as one JSON object. Appended to out. OK, DEAD. */
enum mrs_status mrs_plan_stage(const struct mrs_plan *p, bool json, struct mrs_buf *out, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif

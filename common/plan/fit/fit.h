/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - expands a plan with stars. */
#ifndef MRSI_PLAN_FIT_H
#define MRSI_PLAN_FIT_H

#include "plan/plan_internal.h"
#include "mongoreshape/catalogue.h"

struct mrsi_fitting {
    struct mrsi_plan *p;
    struct mrs_catalog *cat;
    const struct mrs_fit_documents *docs; /* NULL: no documents available */
    struct mrs_arena scratch;        /* for one step */
    struct mrs_step *made;
    struct mrsi_step_src *src;
    uint32_t n, cap, src_cap;
    const struct mrs_step *step; /* the current one */
    const struct mrsi_step_src *at;
    uint32_t n_errors; /* of its compile hook */
    struct mrs_err failed; /* the error of reading documents */
    bool by_value;     /* a step has made collections named by values: later patterns may match nothing */
};

/* Escapes a name, so that a star in it is literal. */
void mrsi_fit_put_coll(struct mrs_build *b, const char *key, const char *db, const char *coll);
/* A pattern with its star replaced, in the arena; "" if memory is out. */
const char *mrsi_fit_filled(struct mrs_arena *a, bool *dead, const char *pattern, bool star, const char *by);
/* by_value.c: appends the entries of `into` for the values of documents, to the open map or list. */
void mrsi_fit_values(struct mrsi_fitting *f, struct mrs_build *b);

#endif

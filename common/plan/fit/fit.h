/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - a plan whose stars are being fitted. */
#ifndef MRSI_PLAN_FIT_H
#define MRSI_PLAN_FIT_H

#include "plan/plan_internal.h"
#include "mongoreshape/catalogue.h"

struct mrsi_fitting {
    struct mrsi_plan *p;
    struct mrs_catalog *cat;
    const struct mrs_fit_documents *docs; /* NULL: no documents are at hand */
    struct mrs_arena scratch;        /* of one step */
    struct mrs_step *made;
    struct mrsi_step_src *src;
    uint32_t n, cap, src_cap;
    const struct mrs_step *step; /* in hand */
    const struct mrsi_step_src *at;
    uint32_t n_errors; /* of its compile hook */
    struct mrs_err failed; /* why documents could not be read */
    bool by_value;     /* a step has made collections that only documents name: what comes later may fit nothing */
};

/* A name that is meant letter by letter. */
void mrsi_fit_put_coll(struct mrs_build *b, const char *key, const char *db, const char *coll);
/* A pattern with its star replaced, in the arena; "" without memory. */
const char *mrsi_fit_filled(struct mrs_arena *a, bool *dead, const char *pattern, bool star, const char *by);
/* by_value.c: the entries of `into` for the values that documents have, into the map or list that is open. */
void mrsi_fit_values(struct mrsi_fitting *f, struct mrs_build *b);

#endif

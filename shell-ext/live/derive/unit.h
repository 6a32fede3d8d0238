/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - units of a group derived through the steps' kernels: unit.c, unit_join.c. Reads only. */
#ifndef LIVE_UNIT_H
#define LIVE_UNIT_H

#include "live/write/write.h"

enum live_purpose {
    LIVE_FOR_EXPAND,   /* only what is added: claims and products */
    LIVE_FOR_DIRECT,   /* the document as the group leaves it */
    LIVE_FOR_CONTRACT  /* the same, made of the document less its claims (MAP): see mongoreshape/live.h */
};
struct live_product {
    struct mrs_coll coll;
    int side;
    struct mrs_view doc;
};
struct live_unit { /* all views live until the next live_units_load */
    struct mrs_view doc;      /* as read */
    struct mrs_view want;     /* as it is to be now: doc with claims brought to what is derived (EXPAND), or the whole
                                 result; equal bytes: nothing to do */
    struct live_product *product;
    uint32_t n_products;
    bool differs;             /* CONTRACT: the claims that are there are not what is derived, and the old shape is
                                 still there: want = doc, to be verified first. Claims that differ where nothing of
                                 the old shape is left: it has been contracted already, want = doc */
    bool late;                /* where it differs: only because some claims are not there */
    bool refused;
    struct mrs_err why;       /* where refused: msg, where */
    uint32_t step;            /* from 1: the step that refused it */
};
struct live_units;
enum mrs_status live_units_open(struct live_job *job, uint32_t group, enum live_purpose purpose,
                                struct live_units **out, struct mrs_err *e);
void live_units_close(struct live_units *u);
/* The collections whose documents are units (several in union), and their sides. */
uint32_t live_units_mains(const struct live_units *u);
const struct mrs_coll *live_units_main(const struct live_units *u, uint32_t i, int *side);
/* Names of the top-level fields of a main document that the derivation reads (NUL-ended, one behind the other), for
 * guards; *n bytes; NULL: it reads the whole document. */
const char *live_units_reads(const struct live_units *u, size_t *n);
/* Derives docs[0..n) of main i. A join reads its `from` documents here, in one go, after the units were read: by the
 * path of its first pair and $in, or, where that pair is an expression (only with opts.allow_scan, else open refuses),
 * the whole collection at each load. from documents that are refused take part in nothing and are recorded here
 * (not without job->run). units: n of them. OK; END: the connection was lost; FAIL MRS_E_LIMIT: too much for one
 * batch, try fewer (not with n 1: what is more than opts.memory by itself is refused). */
enum mrs_status live_units_load(struct live_units *u, uint32_t main, const struct mrs_view *docs, uint32_t n,
                                struct live_unit *units, struct mrs_err *e);
/* Filter of the documents on side `side` that units docs[0..n) made (by listing): {field: {$in: [...]}}; END: the side
 * has no listing. Appended to out. It finds arrays that hold such a value, too, which no unit made. */
enum mrs_status live_units_listing(struct live_units *u, int side, const struct mrs_view *docs, uint32_t n,
                                   struct mrs_buf *out, struct mrs_err *e);
/* The other way round: filter that finds, in any main collection, the documents which made the targets docs[0..n) of
 * `side`. */
enum mrs_status live_units_owners(struct live_units *u, int side, const struct mrs_view *docs, uint32_t n,
                                  struct mrs_buf *out, struct mrs_err *e);
/* Of a join: its first pair, by whose paths documents are asked for; NULL: it is an expression. */
const struct mrs_pair_path *live_units_pair(const struct live_units *u);
/* Of a join by paths: filter that finds the units which docs[0..n) of `from` may belong to, and perhaps more. Appended
 * to out; END: none. *all: each of their keys can be asked for. docs live as long as the call. FAIL MRS_E_LIMIT: try
 * fewer. What units were loaded is gone. */
enum mrs_status live_units_meeting(struct live_units *u, const struct mrs_view *docs, uint32_t n, struct mrs_buf *out,
                                   bool *all, struct mrs_err *e);

#endif

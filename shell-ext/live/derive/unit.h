/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - units of a group derived through the steps' kernels: unit.c, unit_join.c. Reads only. */
#ifndef LIVE_UNIT_H
#define LIVE_UNIT_H

#include "live/write/write.h"

enum live_purpose {
    LIVE_FOR_EXPAND,   /* only additions: claims and products */
    LIVE_FOR_DIRECT,   /* the document after the group */
    LIVE_FOR_CONTRACT  /* the same, made from the document without its claims (MAP): see mongoreshape/live.h */
};
struct live_product {
    struct mrs_coll coll;
    int side;
    struct mrs_view doc;
};
struct live_unit { /* all views live until the next live_units_load */
    struct mrs_view doc;      /* as read */
    struct mrs_view result;   /* the derived document: doc with derived claims (EXPAND), or the complete result; equal
                               * bytes: no change needed */
    struct live_product *product;
    uint32_t n_products;
    bool differs;             /* CONTRACT: the present claims are not the derived ones, and the old schema is still
                               * there: result = doc, to be verified first. Claims that differ without any field of the
                               * old schema: it has been contracted already, result = doc */
    bool late;                /* if it differs: only because some claims are missing */
    bool refused;
    struct mrs_err why;       /* if refused: msg, where */
    uint32_t step;            /* from 1: the step that refused it */
};
struct live_units;
enum mrs_status live_units_open(struct live_job *job, uint32_t group, enum live_purpose purpose,
                                struct live_units **out, struct mrs_err *e);
void live_units_close(struct live_units *u);
/* The collections whose documents are units (several for union), and their sides. */
uint32_t live_units_mains(const struct live_units *u);
const struct mrs_coll *live_units_main(const struct live_units *u, uint32_t i, int *side);
/* Names of the top-level fields of a main document that the derivation reads (contiguous, NUL-ended), for guards; *n
 * bytes; NULL: it reads the whole document. */
const char *live_units_reads(const struct live_units *u, size_t *n);
/* Derives docs[0..n) of main i. A join reads its `from` documents here, in one query, after the units were read: by the
 * path of its first pair and $in, or, if that pair is an expression (only with opts.allow_scan, else open refuses), the
 * whole collection at each load. Refused documents of from do not take part and are recorded here (not without
 * job->run). units: n of them. OK; END: connection lost; FAIL MRS_E_LIMIT: too much for one batch, try fewer (not with
 * n 1: a unit larger than opts.memory by itself is refused). */
enum mrs_status live_units_load(struct live_units *u, uint32_t main, const struct mrs_view *docs, uint32_t n,
                                struct live_unit *units, struct mrs_err *e);
/* A filter for the documents on side `side` that units docs[0..n) made (by listing): {field: {$in: [...]}}; END: the
 * side has no listing. Appended to out. It also finds arrays with such a value, which no unit made. */
enum mrs_status live_units_listing(struct live_units *u, int side, const struct mrs_view *docs, uint32_t n,
                                   struct mrs_buf *out, struct mrs_err *e);
/* Inverted: a filter that finds, in any main collection, the source documents of the targets docs[0..n) of `side`. */
enum mrs_status live_units_owners(struct live_units *u, int side, const struct mrs_view *docs, uint32_t n,
                                  struct mrs_buf *out, struct mrs_err *e);
/* For a join: its first pair, whose paths are queried; NULL: it is an expression. */
const struct mrs_pair_path *live_units_pair(const struct live_units *u);
/* For a join by paths: a filter that finds the units to which docs[0..n) of `from` may belong, and perhaps more.
 * Appended to out; END: none. *all: each of their keys can be queried. docs live during the call. FAIL MRS_E_LIMIT: try
 * fewer. Discards loaded units. */
enum mrs_status live_units_meeting(struct live_units *u, const struct mrs_view *docs, uint32_t n, struct mrs_buf *out,
                                   bool *all, struct mrs_err *e);

#endif

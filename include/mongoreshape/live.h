/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - whether and how a plan may run on a database while its writers go on: the static rule.
 *
 * From what steps say of themselves (struct mrs_desc: touches, pairs, listings, quiet_only) alone; no server is asked.
 * The rule: no step reads or removes what it adds; for i before j the sets Ai Aj, Ai Dj, Di Aj, Di Rj and Ri Aj are
 * disjoint; Ai Rj only with j begun after i was verified clean (A added, D removed or changed, R read). Adjacent
 * one-document steps of one collection are one group: inside it a step may use what an earlier one of it adds, but none
 * may take a name for something new that is read, or still there, before, or that another one adds.
 *
 * Contract alongside writers, document by document, of a group with contract_live: base = the document less the claims
 * of this group and of later ones; after = what the group makes of base. If the claims in after are not those that
 * are there, the document is left alone (it has been contracted already, where it has none of `gone`; else it is not
 * verified). If after is the document less later claims, there is nothing to do. Else it becomes after with the later
 * claims behind. That is right for any document any number of times. */
#ifndef MONGORESHAPE_LIVE_H
#define MONGORESHAPE_LIVE_H

#include "mongoreshape/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_live_group {
    uint32_t first, n;      /* steps of the plan, from 0; n > 1: one-document steps (MAP) fused */
    enum mrs_family family;
    bool expand;            /* may add alongside writers */
    bool direct;            /* may change in place alongside writers: run twice = run once, nothing is taken away */
    bool contract_live;     /* its removals may be made alongside writers: MAP only */
    bool adds, removes;     /* whether there is anything to add, to remove or change */
    bool after_verified;    /* reads what an earlier group adds: begun when that one is verified */
    const char *expand_why, *direct_why; /* the reason and what to do, where not; NULL else */
    const char *const *claims; /* fields that expand adds to documents of the main side, in order; n_claims: names with
                                  dots lie inside documents, of arrays too. None of them may exist before */
    uint32_t n_claims;
    int claims_side;        /* the side of the group's first step whose documents get them; -1: none */
    const char *const *gone; /* MAP: paths that contract takes away and that are no claims; n_gone */
    uint32_t n_gone;
};
struct mrs_live {
    struct mrs_live_group *group;
    uint32_t n_groups;
    bool expand, direct;    /* of the plan as a whole */
    const char *expand_why, *direct_why; /* first reason, with its step; NULL */
};

/* plan: frozen, without errors. Everything lives in the arena. OK, DEAD. */
enum mrs_status mrs_live_judge(const struct mrs_plan *p, struct mrs_arena *a, struct mrs_live *out, struct mrs_err *e);
/* Reads, adds, removes, regime and reason of each step, as text lines or one JSON object, appended to out. */
enum mrs_status mrs_live_explain(const struct mrs_plan *p, const struct mrs_live *live, bool json, struct mrs_buf *out,
                                 struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - whether and how a plan may run on a database while its writers run: the static rule.
 *
 * Derived only from the descriptions of steps (struct mrs_desc: touches, pairs, listings, quiet_only); no server is
 * used. The rule: no step reads or removes what it adds; for i before j the sets Ai Aj, Ai Dj, Di Aj, Di Rj and Ri Aj
 * are disjoint; Ai Rj only with j started after i was verified clean (A added, D removed or changed, R read). Adjacent
 * one-document steps of one collection form one group: inside it a step may use a field that an earlier one of it adds,
 * but none may add a name that was read before, still exists, or is added by another step.
 *
 * A step that makes documents of the parts of others (SPREAD) forms one group with the one-document steps right before
 * it on their collection, if it reads or removes what they change: they prepare its documents. Expand derives
 * through them from the old schema, which stays until contract, and writes nothing of what they change in place; so
 * one of them may even be a step that must not be applied twice, if what it changes is gone afterwards.
 *
 * Contract while writers run, document by document, of a group with contract_live: base = the document without the
 * claims of this group and of later ones; after = the group's result for base. If the claims in after differ from those
 * in the document, the document stays (it has been contracted already, if it has none of `gone`; else it is not
 * verified). If after is the document without later claims, there is nothing to do, nor if fields stand behind claims
 * that end after: a later group has added those in place. Else it becomes after, followed by the later claims. This is
 * correct for any document and any number of repetitions. */
#ifndef MONGORESHAPE_LIVE_H
#define MONGORESHAPE_LIVE_H

#include "mongoreshape/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_live_group {
    uint32_t first, n;      /* steps of the plan, from 0; n > 1: fused one-document steps (MAP) */
    uint32_t before;        /* SPREAD: so many one-document steps right before `first` prepare its documents */
    enum mrs_family family;
    bool expand;            /* may add while writers run */
    bool direct;            /* may change in place while writers run: run twice = run once, and it removes nothing */
    bool contract_live;     /* its removals may happen while writers run: MAP only */
    bool adds, removes;     /* whether it adds anything; whether it removes or changes anything */
    bool after_verified;    /* reads fields that an earlier group adds: starts when that one is verified */
    const char *expand_why, *direct_why; /* the reason and the remedy, if not; else NULL */
    /* fields that expand adds to documents of the main side, in order; n_claims: dotted names are inside documents,
     * also of arrays. None may exist before */
    const char *const *claims;
    uint32_t n_claims;
    int claims_side;        /* the side of the step `first` whose documents receive them; -1: none */
    const char *const *gone; /* MAP: paths that contract removes and that are no claims; n_gone */
    uint32_t n_gone;
};
/* All steps of a group, those that prepare documents too: the first one, from 0, and their number. */
static inline uint32_t
mrs_live_first(const struct mrs_live_group *g)
{
    return g->first - g->before;
}
static inline uint32_t
mrs_live_steps(const struct mrs_live_group *g)
{
    return g->before + g->n;
}
struct mrs_live {
    struct mrs_live_group *group;
    uint32_t n_groups;
    bool expand, direct;    /* of the plan as a whole */
    const char *expand_why, *direct_why; /* first reason, with its step; NULL */
};

/* plan: frozen, without errors. Everything lives in the arena. OK, DEAD. */
enum mrs_status mrs_live_judge(const struct mrs_plan *p, struct mrs_arena *a, struct mrs_live *out, struct mrs_err *e);
/* Reads, adds, removes, mode and reason of each step, as text lines or one JSON object, appended to out. */
enum mrs_status mrs_live_explain(const struct mrs_plan *p, const struct mrs_live *live, bool json, struct mrs_buf *out,
                                 struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif

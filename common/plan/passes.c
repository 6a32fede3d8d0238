/* SPDX-License-Identifier: Apache-2.0 */
/* passes.c - how often a plan reads each collection, and what each kind of step keeps in memory.
 *
 * Follows from the family of a step alone, since engines move documents by family. A step that
 * reads one document at a time needs no pass of its own where a neighbour reads or writes the
 * collection anyway. What is counted here is what to expect, not what some run did. */
#include "passes.h"
#include "mongoreshape/condition.h"

static const struct mrs_side *
side_of(const struct mrs_step *step, const char *ns)
{
    for (uint32_t i = 0; i < step->desc.n_sides; i++) {
        if (strcmp(step->desc.sides[i].coll.ns, ns) == 0) {
            return &step->desc.sides[i];
        }
    }
    return NULL;
}

/* The step whose pass a one-document step shares, or NULL: earlier ones that write its collection,
 * later ones that read it. */
static const struct mrs_step *
host_of(const struct mrs_plan *p, const struct mrs_step *step)
{
    MRS_ASSERT(step >= p->steps && step < p->steps + p->n_steps);
    const char *ns = step->desc.sides[0].coll.ns;
    uint32_t at = (uint32_t)(step - p->steps);
    for (uint32_t i = step->desc.n_conditions ? 0 : at; i > 0; i--) {
        const struct mrs_step *before = &p->steps[i - 1];
        const struct mrs_side *side = side_of(before, ns);
        if (side) {
            bool writes = (side->role & (MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_ADD)) != 0;
            return writes && before->desc.family != MRS_FAMILY_CATALOG ? before : NULL;
        }
    }
    for (uint32_t i = at + 1; i < p->n_steps; i++) {
        const struct mrs_step *after = &p->steps[i];
        const struct mrs_side *side = side_of(after, ns);
        if (side) {
            return (side->role & MRS_ROLE_MAIN) && after->desc.family != MRS_FAMILY_CATALOG &&
                           after->desc.family != MRS_FAMILY_MAP
                       ? after
                       : NULL;
        }
    }
    return NULL;
}

static void
each_main(const struct mrs_step *step, struct mrsi_plan_pass pass, mrsi_pass_fn fn, void *arg)
{
    for (uint32_t i = 0; i < step->desc.n_sides; i++) {
        if (step->desc.sides[i].role & MRS_ROLE_MAIN) {
            pass.ns = step->desc.sides[i].coll.ns;
            fn(arg, &pass);
        }
    }
}

static void
link_passes(const struct mrs_desc *d, struct mrsi_plan_pass pass, mrsi_pass_fn fn, void *arg)
{
    MRS_ASSERT(fn && d->n_sides > 0);
    bool self = strcmp(d->sides[0].coll.ns, d->sides[1].coll.ns) == 0;
    unsigned role = self ? d->sides[0].role | d->sides[1].role : 0;
    for (uint32_t i = 0; i < (self ? 1 : 2); i++) {
        bool written = (role | d->sides[i].role) & (MRS_ROLE_CHANGE | MRS_ROLE_TAKE);
        pass.ns = d->sides[i].coll.ns;
        pass.times = written ? 2 : 1;
        pass.why = written ? "its references; then its documents, written with those that they hold in the end"
                           : "its references; once more if some of its documents are refused";
        fn(arg, &pass);
    }
}

static void
rekey_passes(const struct mrs_desc *d, struct mrsi_plan_pass pass, mrsi_pass_fn fn, void *arg)
{
    MRS_ASSERT(fn && d->n_sides > 0);
    bool merge = d->sides[0].role & MRS_ROLE_TAKE;
    pass.ns = d->sides[0].coll.ns;
    pass.times = 2;
    pass.why = merge ? "its keys; then its documents, one of each group"
                     : "its `_id`s; then its documents under the new ones";
    fn(arg, &pass);
    pass.times = 1;
    pass.why = "in between, to sort what its groups are made of";
    if (merge) {
        fn(arg, &pass);
    }
    pass.why = "references follow";
    for (uint32_t i = 1; i < d->n_sides; i++) {
        pass.ns = d->sides[i].coll.ns;
        if (d->sides[i].role & MRS_ROLE_MAIN) {
            fn(arg, &pass);
        }
    }
}

void
mrsi_passes(const struct mrs_plan *p, const struct mrs_step *step, mrsi_pass_fn fn, void *arg)
{
    MRS_ASSERT(fn && step->type);
    const struct mrs_desc *d = &step->desc;
    struct mrsi_plan_pass pass = {.times = 1};
    if (d->n_sides == 0 || d->family == MRS_FAMILY_CATALOG) {
        return;
    }
    for (uint32_t i = 0; i < d->n_conditions; i++) {
        pass.ns = d->conditions[i].from.ns;
        pass.why = "for the values that `where` asks for, which are sorted within the memory budget";
        fn(arg, &pass);
    }
    pass.why = "";
    if (d->family == MRS_FAMILY_MAP) {
        const struct mrs_step *host = host_of(p, step);
        pass.ns = d->sides[0].coll.ns;
        pass.times = host ? 0 : 1;
        pass.with = host ? host->no : 0;
        pass.why = host         ? "in the pass of another step"
                   : d->new_ids ? "once more if new `_id`s clash"
                                : "";
        fn(arg, &pass);
    } else if (d->family == MRS_FAMILY_TREE) {
        pass.ns = d->sides[0].coll.ns;
        pass.times = 2;
        pass.why = "to find the place of every node; then to write each with its place";
        fn(arg, &pass);
    } else if (d->family == MRS_FAMILY_REKEY) {
        rekey_passes(d, pass, fn, arg);
    } else if (d->family == MRS_FAMILY_WINDOW) {
        pass.ns = d->sides[0].coll.ns;
        pass.times = 2;
        pass.why = "to gather what its documents bring to their groups; then to write each with what was computed";
        fn(arg, &pass);
    } else if (d->family == MRS_FAMILY_SPREAD || d->n_sides < 2) {
        pass.why = "once more if equal `_id`s are found";
        each_main(step, pass, fn, arg);
    } else if (d->family == MRS_FAMILY_GRID) {
        pass.why = "to find the values of an axis";
        for (uint32_t i = 1; i < d->n_sides; i++) {
            pass.ns = d->sides[i].coll.ns;
            fn(arg, &pass);
        }
    } else if (d->family == MRS_FAMILY_JOIN) {
        pass.ns = d->sides[1].coll.ns;
        pass.times = 2;
        pass.why = "its keys; then its documents, written with what matches them";
        fn(arg, &pass);
        pass.ns = d->sides[0].coll.ns;
        bool leave = d->sides[0].role & MRS_ROLE_TAKE;
        pass.times = leave ? 2 : 1;
        pass.why = leave ? "to send each document where it belongs; then to settle which of them stay"
                         : "to send each document where it belongs";
        fn(arg, &pass);
    } else if (d->family == MRS_FAMILY_LINK) {
        link_passes(d, pass, fn, arg);
    } else if (d->family == MRS_FAMILY_FOLD) {
        bool leave = d->sides[0].role & MRS_ROLE_TAKE;
        pass.ns = d->sides[0].coll.ns;
        pass.why = leave ? "to gather its documents by group; once more if some of them stay or are refused"
                         : "to gather its documents by group; once more if some of them are refused";
        fn(arg, &pass);
    } else {
        pass.ns = d->sides[0].coll.ns;
        pass.times = 2;
        pass.why = "to take the parts out; then to write its documents without them";
        fn(arg, &pass);
        pass.ns = d->sides[1].coll.ns;
        pass.times = 1;
        pass.why = "documents already there take part";
        fn(arg, &pass);
    }
}

const char *
mrsi_memory_words(const struct mrs_desc *d)
{
    switch (d->family) {
    case MRS_FAMILY_MAP:
        return d->new_ids
                   ? "one document a thread, and a hash of each new `_id` (on disk past the budget)"
                   : "one document a thread";
    case MRS_FAMILY_SPREAD:
        return "one document a thread, and a hash of each `_id` where documents are added (on disk "
               "past the budget)";
    case MRS_FAMILY_JOIN:
        return "the keys of the receiving side, 16 bytes and a number each; documents on their way "
               "are sorted in memory, and in temporary files past the budget";
    case MRS_FAMILY_FOLD:
        return "what the documents bring is gathered by group in memory, and in temporary files past the budget; "
               "a hash of each `_id` where documents are added";
    case MRS_FAMILY_GROUP:
        return "parts are sorted by their keys in memory, and in temporary files past the budget";
    case MRS_FAMILY_TREE:
        return "some dozens of bytes a node besides its `_id`, in memory and in mapped temporary files past the budget";
    case MRS_FAMILY_REKEY:
        return "a key and an _id of each document, some dozens of bytes (on disk past the budget); what is computed "
               "from groups is sorted, in temporary files past the budget";
    case MRS_FAMILY_WINDOW:
        return "what the documents bring is sorted by group in memory, and in temporary files past the budget; what "
               "was computed for each, in memory and in mapped temporary files past the budget";
    case MRS_FAMILY_GRID:
        return "a key of each value of an axis, and a hash of each `_id` (on disk past the budget)";
    case MRS_FAMILY_LINK:
        return "keys of both sides and references, 24 to 40 bytes each (on disk past the budget)";
    case MRS_FAMILY_CATALOG: break;
    }
    return "none: no document is touched";
}

const char *
mrsi_family_name(enum mrs_family family)
{
    static const char *const name[] = {"map",  "spread", "join", "group",  "fold",
                                      "link", "tree",   "rekey", "window", "grid", "catalog"};
    return (size_t)family < sizeof name / sizeof *name ? name[family] : "";
}

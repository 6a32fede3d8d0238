/* SPDX-License-Identifier: Apache-2.0 */
/* passes.c - how often a plan reads each collection, and what each kind of step keeps in memory.
 *
 * This follows from the family of a step, since engines handle documents by family. A step that reads one document at a
 * time needs no pass of its own if a neighboring step reads or writes the collection anyway. The numbers are estimates,
 * not measurements of a run. */
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

/* The step whose pass a one-document step shares, or NULL: earlier ones that write its collection, later ones that read
 * it. */
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

/* The callback for the passes of a step. */
struct pass_sink {
    mrsi_pass_fn fn;
    void *arg;
};

static void
read_side(const struct pass_sink *to, const struct mrs_side *side, uint32_t times, const char *why)
{
    const struct mrsi_plan_pass pass = {.ns = side->coll.ns, .times = times, .why = why};
    to->fn(to->arg, &pass);
}

static void
condition_passes(const struct mrs_desc *d, const struct pass_sink *to)
{
    struct mrsi_plan_pass pass = {
        .times = 1, .why = "for the values that `where` asks for, which are sorted within the memory budget"};
    for (uint32_t i = 0; i < d->n_conditions; i++) {
        pass.ns = d->conditions[i].from.ns;
        to->fn(to->arg, &pass);
    }
}

static void
map_passes(const struct mrs_plan *p, const struct mrs_step *step, const struct pass_sink *to)
{
    const struct mrs_step *host = host_of(p, step);
    const struct mrsi_plan_pass pass = {.ns = step->desc.sides[0].coll.ns,
                                        .times = host ? 0 : 1,
                                        .with = host ? host->no : 0,
                                        .why = host                 ? "in the pass of another step"
                                               : step->desc.new_ids ? "once more if new `_id`s clash"
                                                                    : ""};
    to->fn(to->arg, &pass);
}

static void
spread_passes(const struct mrs_desc *d, const struct pass_sink *to)
{
    for (uint32_t i = 0; i < d->n_sides; i++) {
        if (d->sides[i].role & MRS_ROLE_MAIN) {
            read_side(to, &d->sides[i], 1, "once more if equal `_id`s are found");
        }
    }
}

static void
grid_passes(const struct mrs_desc *d, const struct pass_sink *to)
{
    for (uint32_t i = 1; i < d->n_sides; i++) {
        read_side(to, &d->sides[i], 1, "to find the values of an axis");
    }
}

static void
link_passes(const struct mrs_desc *d, const struct pass_sink *to)
{
    bool self = strcmp(d->sides[0].coll.ns, d->sides[1].coll.ns) == 0;
    unsigned role = self ? d->sides[0].role | d->sides[1].role : 0;
    for (uint32_t i = 0; i < (self ? 1 : 2); i++) {
        bool written = (role | d->sides[i].role) & (MRS_ROLE_CHANGE | MRS_ROLE_TAKE);
        read_side(to, &d->sides[i], written ? 2 : 1,
                  written ? "its references; then its documents, written with those that they hold in the end"
                          : "its references; once more if some of its documents are refused");
    }
}

static void
rekey_passes(const struct mrs_desc *d, const struct pass_sink *to)
{
    bool merge = d->sides[0].role & MRS_ROLE_TAKE;
    read_side(to, &d->sides[0], 2,
              merge ? "its keys; then its documents, one of each group"
                    : "its `_id`s; then its documents under the new ones");
    if (merge) {
        read_side(to, &d->sides[0], 1, "in between, to sort what its groups are made of");
    }
    for (uint32_t i = 1; i < d->n_sides; i++) {
        if (d->sides[i].role & MRS_ROLE_MAIN) {
            read_side(to, &d->sides[i], 1, "references follow");
        }
    }
}

static void
join_passes(const struct mrs_desc *d, const struct pass_sink *to)
{
    bool leave = d->sides[0].role & MRS_ROLE_TAKE;
    read_side(to, &d->sides[1], 2, "its keys; then its documents, written with what matches them");
    read_side(to, &d->sides[0], leave ? 2 : 1,
              leave ? "to send each document where it belongs; then to settle which of them stay"
                    : "to send each document where it belongs");
}

static void
fold_passes(const struct mrs_desc *d, const struct pass_sink *to)
{
    read_side(to, &d->sides[0], 1,
              d->sides[0].role & MRS_ROLE_TAKE
                  ? "to gather its documents by group; once more if some of them stay or are refused"
                  : "to gather its documents by group; once more if some of them are refused");
}

static void
group_passes(const struct mrs_desc *d, const struct pass_sink *to)
{
    read_side(to, &d->sides[0], 2, "to take the parts out; then to write its documents without them");
    read_side(to, &d->sides[1], 1, "existing documents take part");
}

void
mrsi_passes(const struct mrs_plan *p, const struct mrs_step *step, mrsi_pass_fn fn, void *arg)
{
    MRS_ASSERT(fn && step->type);
    const struct mrs_desc *d = &step->desc;
    const struct pass_sink to = {fn, arg};
    if (d->n_sides == 0 || d->family == MRS_FAMILY_CATALOG) {
        return;
    }
    condition_passes(d, &to);
    if (d->family == MRS_FAMILY_MAP) {
        map_passes(p, step, &to);
    } else if (d->family == MRS_FAMILY_TREE) {
        read_side(&to, &d->sides[0], 2, "to find the place of every node; then to write each with its place");
    } else if (d->family == MRS_FAMILY_REKEY) {
        rekey_passes(d, &to);
    } else if (d->family == MRS_FAMILY_WINDOW) {
        read_side(&to, &d->sides[0], 2,
                  "to gather the input of each group; then to write each document with its result");
    } else if (d->family == MRS_FAMILY_SPREAD || d->n_sides < 2) {
        spread_passes(d, &to);
    } else if (d->family == MRS_FAMILY_GRID) {
        grid_passes(d, &to);
    } else if (d->family == MRS_FAMILY_JOIN) {
        join_passes(d, &to);
    } else if (d->family == MRS_FAMILY_LINK) {
        link_passes(d, &to);
    } else if (d->family == MRS_FAMILY_FOLD) {
        fold_passes(d, &to);
    } else {
        group_passes(d, &to);
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
        return "the input of each group is gathered in memory, and in temporary files beyond the budget; a hash of "
               "each `_id` if documents are added";
    case MRS_FAMILY_GROUP:
        return "parts are sorted by their keys in memory, and in temporary files past the budget";
    case MRS_FAMILY_TREE:
        return "some dozens of bytes a node besides its `_id`, in memory and in mapped temporary files past the budget";
    case MRS_FAMILY_REKEY:
        return "a key and an _id of each document, some dozens of bytes (on disk past the budget); what is computed "
               "from groups is sorted, in temporary files past the budget";
    case MRS_FAMILY_WINDOW:
        return "the input of each group is sorted in memory, and in temporary files beyond the budget; results in "
               "memory and in mapped temporary files beyond the budget";
    case MRS_FAMILY_GRID:
        return "a key of each value of an axis, and a hash of each `_id` (on disk past the budget)";
    case MRS_FAMILY_LINK:
        return "keys of both sides and references, 24 to 40 bytes each (on disk past the budget)";
    case MRS_FAMILY_CATALOG: break;
    }
    return "none: no document changes";
}

const char *
mrsi_family_name(enum mrs_family family)
{
    static const char *const name[] = {"map",  "spread", "join", "group",  "fold",
                                      "link", "tree",   "rekey", "window", "grid", "catalog"};
    return (size_t)family < sizeof name / sizeof *name ? name[family] : "";
}

/* SPDX-License-Identifier: Apache-2.0 */
/* undo_groups.c - the inverses of steps that make documents from several others, or from none: rollup, bucket, grid,
 * link. */
#include "invert.h"
#include "undo.h"
#include "mongoreshape/inverse.h"

static bool
has_word(const struct mrsi_undo *u, const char *key, const char *word)
{
    return mrs_val_is_text(mrsi_undo_body(u, key), word);
}

static bool
has_key(const struct mrsi_undo *u, const char *key)
{
    return mrsi_undo_body(u, key).type != MRS_MISSING;
}

/* `orphans` of rollup and link; from: the key of their collection. */
static void
undo_orphans(struct mrsi_undo *u, const char *from)
{
    struct mrs_val into = mrsi_undo_into(u, "orphans");
    if (into.type != MRS_MISSING) {
        mrsi_undo_move(u, into, mrsi_undo_body(u, from));
        mrsi_undo_loss(u, MRSI_UNDO_MOVED | MRS_LOSS_COLLECTIONS,
                       "documents that %s held before; it stays, perhaps empty", mrsi_undo_coll_name(into));
    }
    if (has_word(u, "orphans", "drop")) {
        mrsi_undo_loss(u, MRS_LOSS_DOCUMENTS, "orphans dropped: documents of %s without a match",
                       mrsi_undo_coll(u, from));
    }
}

/* ---- rollup ---- */
static void
unset_values(struct mrsi_undo *u)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_undo_open(u, "unset");
    mrsi_undo_take(u, "in", "into");
    mrsi_undo_deeper(u, "fields", MRS_ARRAY);
    if (has_key(u, "as")) {
        mrsi_undo_item_literal(u, mrsi_undo_body(u, "as"));
    } else {
        struct mrs_val fields = mrsi_undo_body(u, "fields");
        for (mrs_walk_init(&w, mrs_val_view(fields)); mrs_walk_next(&w, &el) == 1;) {
            mrsi_undo_item_literal(u, mrs_make_text(u->inv->arena, el.name, el.name_len));
        }
    }
    mrsi_undo_up(u);
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
    mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                   "values under the names of the computed fields in documents that received none, and documents made "
                   "on the way to them");
}

enum mrs_status
mrsi_rollup_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    if (has_key(&u, "by")) {
        mrsi_undo_open(&u, "drop_collection");
        mrsi_undo_take(&u, "in", "into");
        mrsi_undo_close(&u);
    } else {
        unset_values(&u);
    }
    undo_orphans(&u, "from");
    if (has_key(&u, "keep") && !has_word(&u, "keep", "all")) {
        mrsi_undo_loss(&u, MRS_LOSS_DOCUMENTS, "documents of %s that were counted", mrsi_undo_coll(&u, "from"));
    }
    if (has_key(&u, "replace")) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "values that the computed fields overwrote");
    }
    return mrsi_undo_end(&u);
}

/* ---- bucket ---- */
/* The field of a reading that a field of the bucket contains: `name` for `name` or "$name"; NULL: computed. */
static const char *
bare_field(const struct mrs_elem *el, bool map)
{
    uint32_t n;
    const char *text = el->v.type == MRS_STRING ? mrs_val_text(el->v, &n) : NULL;
    if (!map) {
        return text;
    }
    return text && text[0] == '$' && text[1] != '$' && text[1] ? text + 1 : NULL;
}

/* Must a field of the bucket get the reading's name back? An `_id` cannot. */
static bool
renames(const char *field, const char *name)
{
    return strcmp(field, name) != 0 && strncmp(field, "_id", 3) != 0;
}

/* Does the field at `el` of `by` get the reading's name back? Not if another field has that name already, or gets it
 * first. */
static bool
gets_name(struct mrs_val by, const struct mrs_elem *el, const char *field)
{
    struct mrs_walk w;
    struct mrs_elem other;
    if (!field || !renames(field, el->name)) {
        return false;
    }
    bool before = true;
    for (mrs_walk_init(&w, mrs_val_view(by)); mrs_walk_next(&w, &other) == 1;) {
        const char *its = bare_field(&other, true);
        if (strcmp(other.name, el->name) == 0) {
            before = false;
        } else if (its && (before || !renames(its, other.name)) && mrs_path_texts_meet(its, field)) {
            return false;
        }
    }
    return true;
}

/* `by` of the unbucket. *renamed: some field has another name in the bucket. */
static void
put_by(struct mrsi_undo *u, struct mrs_val by, bool *renamed)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool map = by.type == MRS_DOCUMENT;
    *renamed = false;
    if (by.type != MRS_DOCUMENT && by.type != MRS_ARRAY) {
        return;
    }
    mrsi_undo_deeper(u, "by", MRS_ARRAY);
    for (mrs_walk_init(&w, mrs_val_view(by)); mrs_walk_next(&w, &el) == 1;) {
        const char *field = bare_field(&el, map);
        if (!map) {
            mrsi_undo_item_val(u, el.v);
        } else if (field) {
            mrsi_undo_item_text(u, el.name);
            *renamed = *renamed || gets_name(by, &el, field);
        }
    }
    mrsi_undo_up(u);
}

static void
put_names_back(struct mrsi_undo *u, struct mrs_val by)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_undo_open(u, "rename");
    mrsi_undo_take(u, "in", "from");
    mrsi_undo_deeper(u, "fields", MRS_DOCUMENT);
    for (mrs_walk_init(&w, mrs_val_view(by)); mrs_walk_next(&w, &el) == 1;) {
        const char *field = bare_field(&el, true);
        if (gets_name(by, &el, field)) {
            mrsi_undo_text(u, el.name, field);
        }
    }
    mrsi_undo_up(u);
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

enum mrs_status
mrsi_bucket_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    bool renamed = false;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    struct mrs_val by = mrsi_undo_body(&u, "by");
    const char *from = mrsi_undo_coll(&u, "from"), *into = mrsi_undo_coll(&u, "into");
    if (has_word(&u, "keep", "all")) {
        mrsi_undo_loss(&u, MRS_LOSS_SURPLUS | MRS_LOSS_VALUES | MRS_LOSS_DOCUMENTS | MRS_LOSS_ORDER |
                               MRS_LOSS_COLLECTIONS,
                       "the buckets stay in %s, and may have overwritten some", into);
        return mrsi_undo_end(&u);
    }
    mrsi_undo_open(&u, "unbucket");
    mrsi_undo_take(&u, "from", "into");
    mrsi_undo_take(&u, "into", "from");
    mrsi_undo_take(&u, "items", "items");
    put_by(&u, by, &renamed);
    mrsi_undo_take(&u, "indexes", "indexes");
    mrsi_undo_close(&u);
    if (renamed) {
        put_names_back(&u, by);
    }
    if (has_key(&u, "by")) {
        mrsi_undo_loss(&u, MRS_LOSS_PLACES | MRS_LOSS_TYPES | MRS_LOSS_VALUES,
                       "the places of the fields of `by` among the others, and how they were written where equal "
                       "values "
                       "differ in it (1 and 1.0)");
    }
    if (has_key(&u, "fields") || has_key(&u, "drop")) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES | MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS,
                       "what of %s is not in the items", from);
    }
    mrsi_undo_loss(&u, MRS_LOSS_ORDER, "the order of %s across series: items stand in the order of their times", from);
    mrsi_undo_loss(&u, MRSI_UNDO_MOVED | MRS_LOSS_VALUES | MRS_LOSS_COLLECTIONS,
                   "documents of %s without an _id or with one _id, and those that %s held before; it stays, perhaps "
                   "empty",
                   from, into);
    mrsi_undo_conflicts(&u);
    return mrsi_undo_end(&u);
}

/* ---- grid and link ---- */
enum mrs_status
mrsi_grid_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    mrsi_undo_loss(&u, MRS_LOSS_SURPLUS | MRS_LOSS_COLLECTIONS,
                   "the documents that were made stay in %s: nothing tells them from others there",
                   mrsi_undo_coll(&u, "into"));
    mrsi_undo_conflicts(&u);
    return mrsi_undo_end(&u);
}

/* Derives the removed reference from the other one. */
static void
link_back(struct mrsi_undo *u, const char *derive, const char *strip)
{
    mrsi_undo_open(u, "link");
    mrsi_undo_take(u, "parent", "parent");
    mrsi_undo_take(u, "child", "child");
    mrsi_undo_take(u, "parent_ref", "parent_ref");
    mrsi_undo_take(u, "child_refs", "child_refs");
    mrsi_undo_text(u, "derive", derive);
    mrsi_undo_text(u, "strip", strip);
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

static void
unset_derived(struct mrsi_undo *u, bool children)
{
    mrsi_undo_open(u, "unset");
    mrsi_undo_take(u, "in", children ? "parent" : "child");
    mrsi_undo_deeper(u, "fields", MRS_ARRAY);
    mrsi_undo_item_literal(u, mrsi_undo_body(u, children ? "child_refs" : "parent_ref"));
    mrsi_undo_up(u);
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

enum mrs_status
mrsi_link_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    bool both = has_word(&u, "derive", "both"), children = has_word(&u, "derive", "child_refs");
    if (children && has_word(&u, "strip", "parent_ref")) {
        link_back(&u, "parent_ref", "child_refs");
    } else if (has_word(&u, "derive", "parent_ref") && has_word(&u, "strip", "child_refs")) {
        link_back(&u, "child_refs", "parent_ref");
    } else if (!both) {
        unset_derived(&u, children);
    }
    mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES | MRS_LOSS_TYPES,
                   "%s, their order and places, and how they were written where equal values differ (1 and 1.0)",
                   both ? "which references were there before: what was derived stays"
                        : "references of the derived side that were there before");
    undo_orphans(&u, "child");
    return mrsi_undo_end(&u);
}

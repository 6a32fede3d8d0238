/* SPDX-License-Identifier: Apache-2.0 */
/* extract_invert.c - the inverse of extract: embeds the parts by the available reference.
 *
 * If ids replaced the elements (`refs: child`), an array is restored as it was. With a reference to the parent it is
 * rebuilt in the order of `position` or of the collection. Pages become arrays of pages first, then one array. */
#include "extract.h"
#include "steps/kit/undo.h"
#include "mongoreshape/inverse.h"
#include <stdio.h>

#define INTO_LOSS (MRS_LOSS_ORDER | MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS)

static bool
listed(const struct mrsi_extract *s)
{
    return s->path.n == 0;
}

/* `drop` of the embed: the fields that extract had added. */
static void
put_drop(const struct mrsi_extract *s, struct mrsi_undo *u)
{
    bool id = s->id != EXT_ID_KEEP || listed(s);
    if (!s->parent_ref && !s->position && !id) {
        return;
    }
    mrsi_undo_deeper(u, "drop", MRS_ARRAY);
    if (s->parent_ref) {
        mrsi_undo_item_text(u, s->parent_ref);
    }
    if (s->position) {
        mrsi_undo_item_text(u, s->position);
    }
    if (id) {
        mrsi_undo_item_text(u, "_id");
    }
    mrsi_undo_up(u);
}

static void
put_order(struct mrsi_undo *u, const char *name)
{
    mrsi_undo_deeper(u, "sort", MRS_DOCUMENT);
    mrs_build_i32(&u->b, name, 1);
    mrsi_undo_up(u);
}

/* match {_id: ids in the parent}, or {reference: key of the parent}. */
static void
put_match(const struct mrsi_extract *s, struct mrsi_undo *u, bool by_child)
{
    const struct mrs_path *to = by_child ? &s->child_refs : &s->parent_key;
    mrsi_undo_deeper(u, "match", MRS_DOCUMENT);
    mrsi_undo_path(u, by_child ? "_id" : s->parent_ref, to);
    mrsi_undo_up(u);
}

/* Top-level fields that became a document: moves them back, field by field. */
static void
put_back_fields(const struct mrsi_extract *s, struct mrsi_undo *u)
{
    bool by_child = s->to_child;
    mrsi_undo_open(u, "copy");
    mrsi_undo_take(u, "from", "into");
    mrsi_undo_take(u, "into", "from");
    put_match(s, u, by_child);
    mrsi_undo_deeper(u, "fields", MRS_ARRAY);
    for (uint32_t i = 0; i < s->listed.n; i++) {
        mrsi_undo_item_path(u, &s->listed.path[i]);
    }
    mrsi_undo_up(u);
    mrsi_undo_text(u, "at", "root");
    mrsi_undo_text(u, "keep", "none");
    mrsi_undo_text(u, "orphans", "keep");
    mrsi_undo_text(u, "many", "first");
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

/* The first keys of a step that embeds the parts. */
static void
open_embed(struct mrsi_undo *u)
{
    mrsi_undo_open(u, "embed");
    mrsi_undo_take(u, "from", "into");
    mrsi_undo_take(u, "into", "from");
}

static void
put_embed(const struct mrsi_extract *s, struct mrsi_undo *u)
{
    bool by_child = s->to_child;
    open_embed(u);
    put_match(s, u, by_child);
    mrsi_undo_take(u, "as", "path");
    put_drop(s, u);
    bool in_place = by_child && s->child_is_path;
    if (s->position && !in_place) {
        put_order(u, s->position);
    }
    if (!in_place) {
        mrsi_undo_text(u, "empty", "absent");
    }
    if (s->leave.present) {
        mrsi_undo_bool(u, "replace", true);
    }
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

/* The first and last keys of a step that computes the path from the embedded parts, if there are any. */
static void
open_set(const struct mrsi_extract *s, struct mrsi_undo *u)
{
    mrsi_undo_open(u, "set");
    mrsi_undo_take(u, "in", "from");
    mrsi_undo_deeper(u, "fields", MRS_DOCUMENT);
    mrsi_undo_deeper(u, s->path.text, MRS_DOCUMENT);
}

static void
put_where_there(struct mrsi_undo *u, const char *name)
{
    mrsi_undo_deeper(u, "where", MRS_DOCUMENT);
    mrsi_undo_deeper(u, name, MRS_DOCUMENT);
    mrsi_undo_bool(u, "$exists", true);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
}

/* Pages are in a field of their own until their items are one array after the copies that stayed. */
static void
put_pages(const struct mrsi_extract *s, struct mrsi_undo *u)
{
    char name[300], var[304], items[300];
    snprintf(name, sizeof name, "%.200s_pages", s->path.text);
    snprintf(var, sizeof var, "$%s", name);
    snprintf(items, sizeof items, "$$this.%.200s", s->pages.items);
    open_embed(u);
    mrsi_undo_deeper(u, "match", MRS_DOCUMENT);
    mrsi_undo_path(u, s->pages.ref, &s->parent_key);
    mrsi_undo_up(u);
    mrsi_undo_text(u, "as", name);
    put_order(u, s->pages.number);
    mrsi_undo_text(u, "empty", "absent");
    mrsi_undo_close(u);
    open_set(s, u);
    mrsi_undo_deeper(u, "$reduce", MRS_DOCUMENT);
    mrsi_undo_text(u, "input", var);
    if (s->rest) {
        char own[304];
        snprintf(own, sizeof own, "$%.200s", s->path.text);
        mrsi_undo_deeper(u, "initialValue", MRS_DOCUMENT);
        mrsi_undo_deeper(u, "$ifNull", MRS_ARRAY);
        mrsi_undo_item_text(u, own);
        mrs_build_item_open(&u->b, MRS_ARRAY);
        mrsi_undo_up(u);
        mrsi_undo_up(u);
        mrsi_undo_up(u);
    } else {
        mrsi_undo_deeper(u, "initialValue", MRS_ARRAY);
        mrsi_undo_up(u);
    }
    mrsi_undo_deeper(u, "in", MRS_DOCUMENT);
    mrsi_undo_deeper(u, "$concatArrays", MRS_ARRAY);
    mrsi_undo_item_text(u, "$$value");
    mrsi_undo_item_text(u, items);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
    put_where_there(u, name);
    mrsi_undo_close(u);
    const struct mrs_part part = {name, (uint32_t)strlen(name)};
    const struct mrs_path hung = {(struct mrs_part *)(uintptr_t)&part, 1, name};
    const struct mrs_path *out[] = {&hung, &s->flag, &s->count};
    mrsi_undo_unset(u, mrsi_undo_body(u, "from"), out, 3);
}

/* `map`: the parts become an array first, then a document with their names. */
static void
put_fields(const struct mrsi_extract *s, struct mrsi_undo *u)
{
    char name[300], var[304], key[304];
    snprintf(name, sizeof name, "%.200s_parts", s->path.text);
    snprintf(var, sizeof var, "$%s", name);
    snprintf(key, sizeof key, "$$this.%.200s", s->map);
    open_embed(u);
    put_match(s, u, false);
    mrsi_undo_text(u, "as", name);
    put_drop(s, u);
    mrsi_undo_text(u, "empty", "absent");
    mrsi_undo_close(u);
    open_set(s, u);
    mrsi_undo_deeper(u, "$arrayToObject", MRS_DOCUMENT);
    mrsi_undo_deeper(u, "$map", MRS_DOCUMENT);
    mrsi_undo_text(u, "input", var);
    mrsi_undo_deeper(u, "in", MRS_DOCUMENT);
    mrsi_undo_text(u, "k", key);
    mrsi_undo_deeper(u, "v", MRS_DOCUMENT);
    mrsi_undo_deeper(u, "$unsetField", MRS_DOCUMENT);
    mrsi_undo_text(u, "field", s->map);
    mrsi_undo_text(u, "input", "$$this");
    for (int i = 0; i < 7; i++) {
        mrsi_undo_up(u);
    }
    put_where_there(u, name);
    mrsi_undo_text(u, "errors", "keep");
    mrsi_undo_close(u);
    const struct mrs_part part = {name, (uint32_t)strlen(name)};
    const struct mrs_path hung = {(struct mrs_part *)(uintptr_t)&part, 1, name};
    const struct mrs_path *out[] = {&hung, &s->count};
    mrsi_undo_unset(u, mrsi_undo_body(u, "from"), out, 2);
}

/* Can the parts be nested again? Each must have its place in a field that `tree` can use. */
static bool
nests_again(const struct mrsi_extract *s)
{
    return s->nested.present && s->nested.parent_ref && s->to_parent && s->path.n == 1 && s->nested.path.n == 1;
}

/* `nested`: the parts form a tree, whose roots are embedded. */
static void
put_tree(const struct mrsi_extract *s, struct mrsi_undo *u)
{
    mrsi_undo_open(u, "tree");
    mrsi_undo_take(u, "in", "into");
    mrsi_undo_text(u, "form", "parent");
    mrsi_undo_text(u, "to_form", "embedded");
    mrsi_undo_deeper(u, "names", MRS_DOCUMENT);
    mrsi_undo_text(u, "parent", s->nested.parent_ref);
    mrsi_undo_text(u, "embedded", s->nested.path.part[0].name);
    mrsi_undo_up(u);
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

/* Is the field that `parent_ref` refers to extracted itself? Then it cannot identify the parent. */
static bool
loses_key(const struct mrsi_extract *s)
{
    bool loses = false;
    for (uint32_t i = 0; i < s->listed.n && !s->to_child; i++) {
        loses = loses || mrs_path_relation(&s->listed.path[i], &s->parent_key);
    }
    return loses;
}

static void
lose_elements(const struct mrsi_extract *s, struct mrsi_undo *u)
{
    const char *path = s->path.n ? s->path.text : "the listed fields";
    bool in_place = s->to_child && s->child_is_path && !listed(s);
    bool deep = s->map || s->nested.present;
    if (!in_place) {
        mrsi_undo_loss(u, MRS_LOSS_PLACES | MRS_LOSS_VALUES, "place of %s in its parent%s", path,
                       s->map  ? ""
                       : deep ? ", and whether it was an array"
                              : ", and whether it was an array: `refs: child` would keep both");
    }
    if (!s->position && !in_place && !s->map) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES, "array order of %s: add `position`", path);
    }
    if (s->map) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                       "which fields of %s were no documents, and their order", path);
    }
    if (s->nested.present) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                       "the parts in %s, and whether it was empty or missing", s->nested.path.text);
    }
    if (s->path.n > 1) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES, "which element held %s, where an array lies on the way", path);
    }
    if (!listed(s)) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES,
                       s->id == EXT_ID_KEEP ? "that elements had no _id, or were no documents"
                                            : "the _ids that elements had; that they were no documents");
    }
    if (s->shape.fields.present || s->shape.drop.n) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "fields of %s that `fields` and `drop` leave out", path);
    }
    if (s->unique.n) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_TYPES | MRS_LOSS_PLACES,
                       "1 and 1.0 merged in `unique`, and how often an element was repeated unless references tell");
    }
    if (s->leave.present) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "what `leave` changed in the elements that stay");
    }
    if (s->parent_ref || s->position) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                       "that elements had the fields of `parent_ref` or `position` themselves");
    }
    if (s->replace) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "values that the added fields overwrote");
    }
    if (s->conflicts) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "elements of which another one with the same key counts");
    }
}

enum mrs_status
mrsi_extract_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    const struct mrsi_extract *s = state;
    struct mrsi_undo u;
    const struct mrs_path none = {NULL, 0, ""};
    mrsi_undo_begin(&u, inv, e);
    bool tied = s->to_child || s->to_parent, plain = s->path.n <= 1;
    const struct mrs_path *out[] = {s->to_child && !s->child_is_path ? &s->child_refs : &none, &s->count, &none};
    if (s->pages.present && plain && !listed(s)) {
        put_pages(s, &u);
    } else if (s->map && plain && s->to_parent) {
        put_fields(s, &u);
    } else if (s->pages.present || s->map || (s->nested.present && !nests_again(s)) || !tied || s->rest ||
               loses_key(s)) {
        mrsi_undo_unset(&u, mrsi_undo_body(&u, "from"), out, 3);
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES | INTO_LOSS,
                       "the elements of %s, which stay in %s: %s", s->path.n ? s->path.text : "the list", s->into.ns,
                       s->pages.present    ? "their pages do not tell where in the arrays they were"
                       : s->map            ? "the fields are not put together again"
                       : s->nested.present ? "the parts are not put into one another again"
                       : s->rest           ? "those that stayed do not tell where the others were"
                       : loses_key(s)      ? "the parents' keys went along"
                                           : "`refs` is none, so no field has their parent");
    } else {
        if (s->nested.present) {
            put_tree(s, &u);
        }
        if (listed(s)) {
            put_back_fields(s, &u);
        } else {
            put_embed(s, &u);
        }
        mrsi_undo_unset(&u, mrsi_undo_body(&u, "from"), out, 3);
    }
    lose_elements(s, &u);
    mrsi_undo_loss(&u, INTO_LOSS | MRS_LOSS_VALUES | MRS_LOSS_PLACES | MRS_LOSS_COLLECTIONS,
                   "documents that %s held before are taken for parts; it stays, perhaps empty", s->into.ns);
    return mrsi_undo_end(&u);
}

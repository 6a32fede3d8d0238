/* SPDX-License-Identifier: Apache-2.0 */
/* embed_invert.c - the inverse of embed: extracts the copies, or only removes them if `from` is unchanged.
 *
 * A copy that still has the field of `match` needs no other reference; else the field is computed from the parent's
 * key. What embed wrote for parents without a match is the rest of `as` after the extract. */
#include "embed.h"
#include "steps/kit/undo.h"
#include "mongoreshape/inverse.h"

#define FROM_LOSS (MRS_LOSS_ORDER | MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS)

/* Do copies have the field of this pair under its own name? */
static bool
survives(const struct mrsi_embed *s, struct mrsi_undo *u, const struct mrsi_pair *p)
{
    const char *name = p->from.path.n ? mrsi_shape_path(&s->shape, u->inv->arena, p->from.path.text) : NULL;
    return name && strcmp(name, p->from.path.text) == 0;
}

/* `refs` of the extract, and what it cannot restore. */
static void
put_refs(const struct mrsi_embed *s, struct mrsi_undo *u)
{
    const struct mrsi_pair *lost = NULL;
    uint32_t n_lost = 0;
    for (uint32_t i = 0; i < s->join.n; i++) {
        if (!survives(s, u, &s->join.pair[i])) {
            lost = &s->join.pair[i];
            n_lost++;
        }
    }
    bool back = n_lost == 1 && lost->from.path.n == 1 && lost->into.path.n && !s->join.into_points && !s->join.nulls &&
                strcmp(lost->from.path.text, "_id") != 0;
    if (s->in_place) {
        mrsi_undo_text(u, "refs", "child");
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_TYPES,
                       "references that are no `_id`s, that are of another type, or without a match and lie in "
                       "arrays; documents that stood among the references");
        mrsi_undo_loss(u, MRS_LOSS_SURPLUS, "documents made of references without a match");
    } else if (back) {
        mrsi_undo_path(u, "parent_ref", &lost->from.path);
        mrsi_undo_path(u, "parent_key", &lost->into.path);
        mrsi_undo_loss(u, MRS_LOSS_PLACES | MRS_LOSS_TYPES | MRS_LOSS_VALUES,
                       "the place of %s among the fields, its type where equal values differ (1 and 1.0), and arrays "
                       "of several references in it",
                       lost->from.path.text);
    } else {
        mrsi_undo_text(u, "refs", "none");
        if (n_lost && !(s->join.into_points && !s->shape.drop.n && !s->shape.fields.present)) {
            mrsi_undo_loss(u, MRS_LOSS_VALUES, "fields of `match` that the copies do not hold");
        }
    }
}

static void
lose_shape(const struct mrsi_embed *s, struct mrsi_undo *u)
{
    const char *from = s->join.from.ns;
    if (s->shape.fields.present) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "fields of %s that `fields` does not keep, and places",
                       from);
    }
    for (uint32_t i = 0; i < s->shape.drop.n; i++) {
        bool key = false;
        for (uint32_t k = 0; k < s->join.n; k++) {
            const struct mrs_path *p = &s->join.pair[k].from.path;
            key = key || (p->n && mrs_path_equal(&s->shape.drop.path[i], p));
        }
        if (!key) {
            mrsi_undo_loss(u, MRS_LOSS_VALUES, "%s of %s, left out by `drop`", s->shape.drop.path[i].text, from);
        }
    }
    if (!mrsi_shape_path(&s->shape, u->inv->arena, "_id")) {
        mrsi_undo_loss(u, MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS, "the _ids of %s, which the copies do not hold", from);
    }
}

static void
put_extract(const struct mrsi_embed *s, struct mrsi_undo *u)
{
    mrsi_undo_open(u, "extract");
    mrsi_undo_take(u, "from", "into");
    mrsi_undo_take(u, "path", "as");
    mrsi_undo_take(u, "into", "from");
    put_refs(s, u);
    if (s->keep == EMBED_KEEP_ALL) {
        mrsi_undo_text(u, "conflicts", "first");
    }
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

/* The items of pages return to the same collection; pages hold nothing else. */
static void
put_pages(const struct mrsi_embed *s, struct mrsi_undo *u, bool extract)
{
    struct mrs_val o = mrsi_undo_body(u, "overflow"), pages = mrsi_undo_into(u, "overflow");
    if (o.type != MRS_DOCUMENT) {
        return;
    }
    if (extract) {
        const struct mrs_path *p = &s->join.pair[0].from.path;
        bool back = s->join.n == 1 && p->n == 1 && !survives(s, u, &s->join.pair[0]) && !s->join.into_points;
        mrsi_undo_open(u, "extract");
        mrsi_undo_val(u, "from", pages);
        mrsi_undo_text(u, "path", s->overflow.items);
        mrsi_undo_take(u, "into", "from");
        if (back) {
            mrsi_undo_path(u, "parent_ref", p);
            mrsi_undo_text(u, "parent_key", s->overflow.ref);
        } else {
            mrsi_undo_text(u, "refs", "none");
        }
        mrsi_undo_take(u, "indexes", "indexes");
        mrsi_undo_close(u);
    }
    mrsi_undo_open(u, "delete");
    mrsi_undo_val(u, "in", pages);
    mrsi_undo_deeper(u, "where", MRS_DOCUMENT);
    mrsi_undo_deeper(u, s->overflow.number, MRS_DOCUMENT);
    mrs_build_i32(&u->b, "$gte", 2);
    mrsi_undo_up(u);
    mrsi_undo_deeper(u, s->overflow.ref, MRS_DOCUMENT);
    mrsi_undo_bool(u, "$exists", true);
    mrsi_undo_up(u);
    mrsi_undo_up(u);
    mrsi_undo_close(u);
    mrsi_undo_loss(u, FROM_LOSS | MRS_LOSS_VALUES | MRS_LOSS_COLLECTIONS,
                   "pages of %s that were there before; it stays, perhaps empty", s->overflow.into.ns);
}

static void
lose_from(const struct mrsi_embed *s, struct mrsi_undo *u)
{
    const char *from = s->join.from.ns;
    if (s->orphans == EMBED_ORPHANS_DROP) {
        mrsi_undo_loss(u, MRS_LOSS_DOCUMENTS, "orphans dropped: documents of %s without a match", from);
    }
    if (s->keep == EMBED_KEEP_NONE) {
        mrsi_undo_loss(u, MRS_LOSS_DOCUMENTS, "documents of %s past a limit, or left by `many`", from);
    }
    if (s->keep != EMBED_KEEP_ALL) {
        mrsi_undo_loss(u, MRS_LOSS_ORDER, "order of %s across parents", from);
        mrsi_undo_loss(u, MRS_LOSS_DOCUMENTS | MRS_LOSS_SURPLUS,
                       "documents of %s without an _id, with one _id, or that several parents hold as different copies",
                       from);
    }
}

static void
lose_into(const struct mrsi_embed *s, struct mrsi_undo *u)
{
    if (s->join.into_points && (s->dangling == MRSI_DANGLING_DROP || s->dangling == MRSI_DANGLING_NULL)) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "references without a match");
    }
    if (s->as.n > 1 && !s->in_place) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES, "whether the documents on the way to %s were there", s->as.text);
    }
    if (s->empty == EMBED_EMPTY_ABSENT && !s->in_place) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES | (s->keep == EMBED_KEEP_ALL ? 0 : FROM_LOSS),
                       "values of %s in documents that matched none", s->as.text);
    }
    if (s->flag.n) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "values of %s in documents that have no pages",
                       s->flag.text);
    }
    if (s->replace) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | MRS_LOSS_PLACES | FROM_LOSS, "values that stood in %s before", s->as.text);
    }
    if (s->errors != MRSI_ERRORS_REFUSE) {
        mrsi_undo_loss(u, MRS_LOSS_VALUES | FROM_LOSS, "what `errors` wrote or left out");
    }
}

enum mrs_status
mrsi_embed_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    const struct mrsi_embed *s = state;
    struct mrsi_undo u;
    bool whole = s->keep == EMBED_KEEP_ALL && !s->in_place;
    const struct mrs_path none = {NULL, 0, ""};
    mrsi_undo_begin(&u, inv, e);
    if (!whole) {
        put_extract(s, &u);
        lose_shape(s, &u);
    }
    put_pages(s, &u, !whole);
    bool clean = s->in_place || (!whole && s->empty == EMBED_EMPTY_ABSENT);
    const struct mrs_path *out[] = {clean ? &none : &s->as, &s->count, &s->flag};
    mrsi_undo_unset(&u, mrsi_undo_body(&u, "into"), out, 3);
    if (s->orphans == EMBED_ORPHANS_INTO) {
        mrsi_undo_move(&u, mrsi_undo_into(&u, "orphans"), mrsi_undo_body(&u, "from"));
        mrsi_undo_loss(&u, FROM_LOSS | MRS_LOSS_COLLECTIONS, "documents that %s held before; it stays, perhaps empty",
                       s->orphans_into.ns);
    }
    lose_from(s, &u);
    lose_into(s, &u);
    return mrsi_undo_end(&u);
}

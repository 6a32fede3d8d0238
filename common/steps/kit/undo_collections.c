/* SPDX-License-Identifier: Apache-2.0 */
/* undo_collections.c - the inverses of steps on documents and collections (move, union, partition, delete) and of those
 * on indexes, options and names.
 *
 * A document does not record how it came into its collection: documents that were there before move along, and the
 * losses say so. */
#include "invert.h"
#include "undo.h"
#include "mongoreshape/inverse.h"

/* Which parts of a collection name in a plan have a matching star? Bit 0: the collection, bit 1: the database. */
static unsigned
stars_of(struct mrs_val v)
{
    struct mrs_val part[2] = {v, mrs_missing()};
    uint32_t n;
    unsigned stars = 0;
    if (v.type == MRS_DOCUMENT) {
        part[0] = mrs_doc_get(mrs_val_view(v), "coll");
        part[1] = mrs_doc_get(mrs_val_view(v), "db");
    }
    for (unsigned i = 0; i < 2; i++) {
        bool star = part[i].type == MRS_STRING && memchr(mrs_val_text(part[i], &n), '*', part[i].n - 5);
        stars |= star ? 1u << i : 0;
    }
    return stars;
}

static bool
has_star(struct mrs_val v)
{
    return stars_of(v) != 0;
}

/* Can the names of `from` be recovered from those of `into`? Then both are exchanged; otherwise that is a loss. */
static bool
turns_round(struct mrsi_undo *u)
{
    unsigned from = stars_of(mrsi_undo_body(u, "from")), into = stars_of(mrsi_undo_body(u, "into"));
    bool good = from == into || (from && into && from != 3 && into != 3);
    if (!good) {
        mrsi_undo_loss(u, MRSI_UNDO_MOVED | MRS_LOSS_COLLECTIONS | MRS_LOSS_METADATA,
                       "which of the collections that fit a document came from: the new name does not tell");
    }
    return good;
}

enum mrs_status
mrsi_move_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    bool shaped = mrsi_undo_body(&u, "fields").type != MRS_MISSING || mrsi_undo_body(&u, "drop").type != MRS_MISSING;
    const char *from = mrsi_undo_coll(&u, "from"), *into = mrsi_undo_coll(&u, "into");
    mrsi_undo_open(&u, "move");
    mrsi_undo_take(&u, "from", "into");
    mrsi_undo_take(&u, "into", "from");
    if (!shaped) {
        mrsi_undo_take(&u, "where", "where");
    }
    mrsi_undo_take(&u, "indexes", "indexes");
    if (turns_round(&u)) {
        mrsi_undo_close(&u);
    }
    if (shaped) {
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES, "what `fields` and `drop` left out");
    }
    mrsi_undo_loss(&u, MRSI_UNDO_MOVED | MRS_LOSS_COLLECTIONS,
                   "the places of the moved documents among those of %s; documents that %s held before go with them, "
                   "and it stays, perhaps empty",
                   from, into);
    mrsi_undo_conflicts(&u);
    return mrsi_undo_end(&u);
}

/* ---- union and partition ---- */
/* Number of the union's collections with a star. */
static uint32_t
count_stars(struct mrs_val from)
{
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = from.type == MRS_STRING && has_star(from);
    if (from.type == MRS_STRING) {
        return n;
    }
    for (mrs_walk_init(&w, mrs_val_view(from)); mrs_walk_next(&w, &el) == 1;) {
        n += has_star(el.v);
    }
    return n;
}

/* `into` of the partition. A list with a star becomes a map in which the star is the value. */
static void
put_parts(struct mrsi_undo *u, struct mrs_val from, bool star)
{
    MRS_ASSERT(from.type == MRS_ARRAY || from.type == MRS_DOCUMENT);
    struct mrs_walk w;
    struct mrs_elem el;
    mrsi_undo_deeper(u, "into", star ? MRS_DOCUMENT : from.type);
    if (from.type == MRS_STRING) {
        mrsi_undo_val(u, star ? "*" : mrsi_undo_coll_name(from), from);
        mrsi_undo_up(u);
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(from)); mrs_walk_next(&w, &el) == 1;) {
        if (star && from.type == MRS_ARRAY) {
            mrsi_undo_val(u, has_star(el.v) ? "*" : mrsi_undo_coll_name(el.v), el.v);
            continue;
        }
        if (from.type == MRS_DOCUMENT) {
            mrsi_undo_val(u, el.name, el.v);
            continue;
        }
        mrs_build_item_open(&u->b, MRS_DOCUMENT);
        mrsi_undo_text(u, "value", mrsi_undo_coll_name(el.v));
        mrsi_undo_val(u, "into", el.v);
        mrsi_undo_up(u);
    }
    mrsi_undo_up(u);
}

static void
part_by_tag(struct mrsi_undo *u, struct mrs_val from)
{
    uint32_t stars = count_stars(from);
    if (stars > 1 || (stars && from.type == MRS_DOCUMENT)) {
        mrsi_undo_loss(u, MRSI_UNDO_MOVED | MRS_LOSS_COLLECTIONS | MRS_LOSS_VALUES,
                       "which of the collections that fit a document came from: its tag does not tell; they all stay, "
                       "with their tags");
        return;
    }
    mrsi_undo_open(u, "partition");
    mrsi_undo_take(u, "from", "into");
    put_parts(u, from, stars || from.type == MRS_STRING);
    mrsi_undo_take(u, "by", "tag");
    mrsi_undo_text(u, "others", "keep");
    mrsi_undo_bool(u, "drop", true);
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

enum mrs_status
mrsi_union_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    struct mrs_walk w;
    struct mrs_elem only;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    struct mrs_val from = mrsi_undo_body(&u, "from"), tag = mrsi_undo_body(&u, "tag");
    const char *into = mrsi_undo_coll(&u, "into");
    only.v = from;
    bool one = from.type == MRS_STRING;
    if (!one) {
        mrs_walk_init(&w, mrs_val_view(from));
        one = mrs_walk_next(&w, &only) == 1 && w.at >= w.end;
    }
    one = one && !has_star(only.v);
    if (tag.type != MRS_MISSING) {
        part_by_tag(&u, from);
        mrsi_undo_loss(&u, MRS_LOSS_VALUES | MRS_LOSS_PLACES,
                       "values of the tag that were there before, and documents made on the way to it");
    } else if (one) {
        mrsi_undo_move(&u, mrsi_undo_body(&u, "into"), only.v);
    } else {
        mrsi_undo_loss(&u, MRSI_UNDO_MOVED | MRS_LOSS_COLLECTIONS,
                       "which collection a document of %s came from: add `tag`; they all stay there", into);
    }
    mrsi_undo_loss(&u, MRSI_UNDO_MOVED | MRS_LOSS_COLLECTIONS,
                   "which documents of %s were there before, and the order of documents; it stays, perhaps empty",
                   into);
    mrsi_undo_conflicts(&u);
    return mrsi_undo_end(&u);
}

/* Values other than texts cannot be tags: each collection's documents get the value, then all are united. */
static void
unite_listed(struct mrsi_undo *u, struct mrs_val into, struct mrs_val by, bool drop)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, mrs_val_view(into)); drop && mrs_walk_next(&w, &el) == 1;) {
        uint32_t n;
        mrsi_undo_open(u, "set");
        mrsi_undo_val(u, "in", mrs_doc_get(mrs_val_view(el.v), "into"));
        mrsi_undo_deeper(u, "fields", MRS_DOCUMENT);
        mrsi_undo_deeper(u, mrs_val_text(by, &n), MRS_DOCUMENT);
        mrsi_undo_val(u, "$literal", mrs_doc_get(mrs_val_view(el.v), "value"));
        mrsi_undo_up(u);
        mrsi_undo_up(u);
        mrsi_undo_close(u);
    }
}

/* The collection of an entry of `into`: of a map, or of a list of {value, into}. */
static struct mrs_val
coll_of(struct mrs_val into, const struct mrs_elem *entry)
{
    return into.type == MRS_DOCUMENT ? entry->v : mrs_doc_get(mrs_val_view(entry->v), "into");
}

/* Does an entry before this place have the collection? NULL: does any? */
static bool
named_before(struct mrs_val into, struct mrs_val coll, const uint8_t *end)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool named = false;
    mrs_walk_init(&w, mrs_val_view(into));
    while (!named && mrs_walk_next(&w, &el) == 1 && el.p != end) {
        named = mrs_identical(coll_of(into, &el), coll);
    }
    return named;
}

/* Collections that values named: the value is recovered from the name. */
static void
unite_named(struct mrsi_undo *u, struct mrs_val name)
{
    mrsi_undo_open(u, "union");
    mrsi_undo_val(u, "from", name);
    mrsi_undo_take(u, "into", "from");
    mrsi_undo_take(u, "tag", "by");
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

/* Listed values are recovered by one union. named: collections that values named, by another. */
static void
unite_tagged(struct mrsi_undo *u, struct mrs_val into, bool tagged, bool named)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_val others = mrsi_undo_into(u, "others");
    mrsi_undo_open(u, "union");
    mrsi_undo_deeper(u, "from", tagged ? MRS_DOCUMENT : MRS_ARRAY);
    for (mrs_walk_init(&w, mrs_val_view(into)); mrs_walk_next(&w, &el) == 1;) {
        if (named && strcmp(el.name, "*") == 0) {
            continue;
        }
        if (tagged) {
            mrsi_undo_val(u, el.name, el.v);
        } else if (!named_before(into, coll_of(into, &el), el.p)) {
            mrsi_undo_item_val(u, coll_of(into, &el));
        }
    }
    if (!tagged && !named_before(into, others, NULL)) {
        mrsi_undo_item_val(u, others);
    }
    mrsi_undo_up(u);
    mrsi_undo_take(u, "into", "from");
    if (tagged) {
        mrsi_undo_take(u, "tag", "by");
    }
    mrsi_undo_take(u, "indexes", "indexes");
    mrsi_undo_close(u);
}

/* If a star matched no value, nothing was moved. */
static void
unite(struct mrsi_undo *u, struct mrs_val into, bool tagged)
{
    struct mrs_val others = mrsi_undo_into(u, "others");
    struct mrs_val named =
        tagged && into.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(into), "*") : mrs_missing();
    uint32_t n = mrs_val_count(into);
    if (named.type != MRS_MISSING) {
        unite_named(u, named);
        n--;
    }
    if (n || (!tagged && others.type != MRS_MISSING)) {
        unite_tagged(u, into, tagged, named.type != MRS_MISSING);
    }
    if (tagged && others.type != MRS_MISSING) {
        mrsi_undo_move(u, others, mrsi_undo_body(u, "from"));
    }
}

/* Two values with one collection cannot be distinguished after the field is removed, nor a value and all others. */
static bool
shared(struct mrs_val into, struct mrs_val others)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool one = named_before(into, others, NULL);
    mrs_walk_init(&w, mrs_val_view(into));
    while (!one && mrs_walk_next(&w, &el) == 1) {
        one = named_before(into, coll_of(into, &el), el.p);
    }
    return one;
}

enum mrs_status
mrsi_partition_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    struct mrs_val into = mrsi_undo_body(&u, "into"), by = mrsi_undo_body(&u, "by"), drop = mrsi_undo_body(&u, "drop");
    bool dropped = drop.type == MRS_BOOL && *drop.p, map = into.type == MRS_DOCUMENT;
    bool known = by.type == MRS_STRING && !shared(into, mrsi_undo_into(&u, "others"));
    const char *from = mrsi_undo_coll(&u, "from");
    if (dropped && known && !map) {
        unite_listed(&u, into, by, dropped);
    }
    unite(&u, into, dropped && known && map);
    if (dropped) {
        mrsi_undo_loss(&u, MRS_LOSS_PLACES | MRS_LOSS_TYPES | MRS_LOSS_VALUES,
                       "the place of the field `by` among the fields, and its type where equal values differ in it (1 "
                       "and 1.0)%s",
                       known ? "" : "; its value, which more than one stands for or whose name needs a list");
    }
    if (mrs_val_is_text(mrsi_undo_body(&u, "others"), "drop")) {
        mrsi_undo_loss(&u, MRS_LOSS_DOCUMENTS, "documents whose value has no collection");
    }
    mrsi_undo_loss(&u, MRSI_UNDO_MOVED | MRS_LOSS_COLLECTIONS,
                   "the order of %s across the collections; documents that they held before go with the others, and "
                   "they stay, perhaps empty",
                   from);
    mrsi_undo_conflicts(&u);
    return mrsi_undo_end(&u);
}

/* ---- no document changes, or none can be restored ---- */
enum mrs_status
mrsi_delete_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    mrsi_undo_loss(&u, MRS_LOSS_DOCUMENTS, "every document of %s that `where` took",
                   mrsi_undo_coll(&u, "in"));
    return mrsi_undo_end(&u);
}

enum mrs_status
mrsi_drop_collection_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    mrsi_undo_loss(&u, MRS_LOSS_DOCUMENTS | MRS_LOSS_METADATA | MRS_LOSS_COLLECTIONS,
                   "the documents that were left in %s, its options and indexes",
                   mrsi_undo_coll(&u, "in"));
    return mrsi_undo_end(&u);
}

enum mrs_status
mrsi_copy_collection_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    mrsi_undo_open(&u, "drop_collection");
    mrsi_undo_take(&u, "in", "into");
    if (has_star(mrsi_undo_body(&u, "into"))) { /* it would also match what existed before */
        mrsi_undo_loss(&u, MRS_LOSS_COLLECTIONS | MRS_LOSS_SURPLUS, "the copies %s stay", mrsi_undo_coll(&u, "into"));
    } else {
        mrsi_undo_close(&u);
    }
    return mrsi_undo_end(&u);
}

enum mrs_status
mrsi_rename_collection_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    mrsi_undo_open(&u, "rename_collection");
    mrsi_undo_take(&u, "from", "into");
    mrsi_undo_take(&u, "into", "from");
    if (turns_round(&u)) {
        mrsi_undo_close(&u);
        if (stars_of(mrsi_undo_body(&u, "into"))) {
            mrsi_undo_loss(&u, MRSI_UNDO_MOVED | MRS_LOSS_COLLECTIONS | MRS_LOSS_METADATA,
                           "collections that had a name like %s before: they get the old names, too",
                           mrsi_undo_coll(&u, "into"));
        }
    }
    return mrsi_undo_end(&u);
}

/* An index with a name in the plan can be dropped by it, even if a later step removed it. */
enum mrs_status
mrsi_index_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    struct mrs_walk w;
    struct mrs_elem el;
    bool any = false;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    struct mrs_val create = mrsi_undo_body(&u, "create");
    const char *in = mrsi_undo_coll(&u, "in");
    mrsi_undo_open(&u, "index");
    mrsi_undo_take(&u, "in", "in");
    mrsi_undo_deeper(&u, "drop", MRS_ARRAY);
    if (create.type == MRS_ARRAY) {
        mrs_walk_init(&w, mrs_val_view(create));
        while (mrs_walk_next(&w, &el) == 1) {
            struct mrs_val name = el.v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(el.v), "name") : mrs_missing();
            mrsi_undo_item_val(&u, name);
            any = any || name.type == MRS_STRING;
        }
    }
    mrsi_undo_up(&u);
    if (any && inv->alone) {
        mrsi_undo_close(&u);
    }
    if (mrsi_undo_body(&u, "drop").type != MRS_MISSING) {
        mrsi_undo_loss(&u, MRS_LOSS_METADATA, "indexes of %s that were dropped", in);
    }
    if (create.type == MRS_ARRAY) {
        mrsi_undo_loss(&u, MRS_LOSS_METADATA, "%s",
                       any && inv->alone ? "which of the indexes were there before"
                                         : "indexes that were made stay");
    }
    return mrsi_undo_end(&u);
}

enum mrs_status
mrsi_options_invert(const void *state, struct mrs_inverse *inv, struct mrs_err *e)
{
    struct mrsi_undo u;
    (void)state;
    mrsi_undo_begin(&u, inv, e);
    mrsi_undo_loss(&u, MRS_LOSS_METADATA, "the options that %s had under these names",
                   mrsi_undo_coll(&u, "in"));
    return mrsi_undo_end(&u);
}

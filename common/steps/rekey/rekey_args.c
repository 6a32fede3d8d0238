/* SPDX-License-Identifier: Apache-2.0 */
/* rekey_args.c - compiles the step `rekey`.
 *
 * A collection may be in several entries of `references`, each with its own `where`. Their paths become one set, so
 * that a document is rewritten once and no value is resolved twice; each path has its entries. */
#include "rekey.h"

const struct mrs_key mrsi_rekey_merge_keys[] = {
    {"by", MRS_ARG_ANY, true, NULL, "the common key: an expression, or a map of them"},
    {"any", MRS_ARG_LIST, false, NULL, "parts of `by` that are arrays: one common element is enough"},
    {"sort", MRS_ARG_SORT, false, NULL, "the first of a group survives; default: the first in input order"},
    {"fields", MRS_ARG_MAP, false, NULL, "name: accumulator over the group, written over the survivor's own"},
    {"dropped", MRS_ARG_CHOICE_OR_COLL, true, "drop", "the other documents of a group: drop, or {into: collection}"}};
const struct mrs_key mrsi_rekey_reference_keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "a collection with references"},
    {"fields", MRS_ARG_PATHS, true, NULL, "the paths of the references"},
    {"where", MRS_ARG_QUERY, false, NULL, "only in documents that match this query"}};

/* ---- merge ---- */
static struct mrsi_slot
of_merge(const struct mrsi_read *r, const char *name)
{
    return mrsi_slot_in(mrsi_slot(r, "merge"), mrsi_rekey_merge_keys, MRSI_REKEY_MERGE_KEYS, name);
}

/* A single expression becomes one part without a name. */
static void
read_by(struct mrsi_read *r, struct mrsi_rekey *s)
{
    struct mrsi_by by = {.n_parts = 0};
    struct mrsi_slot slot = of_merge(r, "by");
    if (slot.v.type == MRS_NULL) {
        mrsi_read_error(r, "merge", "by", "is the same for every document: a key is a field (\"$name\") or an "
                                          "expression");
        return;
    }
    mrsi_read_by(r, slot, &by);
    if (by.key) {
        by.part = mrsi_read_alloc(r, 1, sizeof *by.part);
        by.part_name = mrsi_read_alloc(r, 1, sizeof *by.part_name);
        by.n_parts = by.part && by.part_name;
    }
    if (by.key && by.n_parts) {
        by.part[0] = by.key;
        by.part_name[0] = NULL;
    }
    s->part = by.part;
    s->part_name = by.part_name;
    s->any = mrsi_read_alloc(r, by.n_parts + 1, sizeof *s->any);
    s->n_parts = s->any ? by.n_parts : 0;
}

static void
read_any(struct mrsi_read *r, struct mrsi_rekey *s)
{
    struct mrsi_slot any = of_merge(r, "any");
    struct mrs_walk w;
    struct mrs_elem el;
    if (!mrsi_slot_present(any)) {
        return;
    }
    if (any.v.type != MRS_ARRAY || !mrs_val_count(any.v)) {
        mrsi_read_error(r, "merge", "any", "must be a list of names of parts of `by`");
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(any.v)); mrs_walk_next(&w, &el) == 1;) {
        uint32_t i = 0;
        while (i < s->n_parts && !(s->part_name[i] && mrs_val_is_text(el.v, s->part_name[i]))) {
            i++;
        }
        if (i == s->n_parts || s->any[i]) {
            mrsi_read_error(r, "merge", "any", i == s->n_parts
                                                   ? "names no part of `by`, which must be a map { part: expression }"
                                                   : "names a part twice");
            return;
        }
        s->any[i] = true;
        s->n_any++;
    }
}

static void
read_values(struct mrsi_read *r, struct mrsi_rekey *s)
{
    struct mrsi_slot map = of_merge(r, "fields");
    struct mrs_walk w;
    struct mrs_elem el;
    if (!mrsi_slot_present(map)) {
        return;
    }
    uint32_t n = map.v.type == MRS_DOCUMENT ? mrs_val_count(map.v) : 0;
    if (!n) {
        mrsi_read_error(r, "merge", "fields", "must be a map { name: accumulator }");
        return;
    }
    s->field = mrsi_read_alloc(r, n, sizeof *s->field);
    s->acc = mrsi_read_alloc(r, n, sizeof *s->acc);
    if (!s->field || !s->acc) {
        return;
    }
    for (mrs_walk_init(&w, mrs_val_view(map.v)); mrs_walk_next(&w, &el) == 1;) {
        struct mrsi_slot one = {el.v, "merge", mrsi_read_text_of(r, "fields.%s", el.name), NULL};
        bool named = mrsi_read_path_text(r, "merge", one.sub, el.name, &s->field[s->n_fields]) &&
                     mrsi_read_not_id(r, one, &s->field[s->n_fields]);
        if (mrsi_read_acc(r, one, &s->acc[s->n_fields]) && named) {
            s->n_fields++;
        }
    }
}

static void
read_merge(struct mrsi_read *r, struct mrsi_rekey *s)
{
    s->merge = true;
    if (!mrsi_read_map(r, mrsi_slot(r, "merge"), mrsi_rekey_merge_keys, MRSI_REKEY_MERGE_KEYS)) {
        return;
    }
    read_by(r, s);
    read_any(r, s);
    read_values(r, s);
    mrsi_read_sort(r, of_merge(r, "sort"), &s->sort);
    mrsi_read_choice_or_coll(r, of_merge(r, "dropped"), &s->dropped, &s->dropped_into);
    if (s->dropped == REKEY_DROPPED_INTO && mrsi_coll_same(&s->dropped_into, &s->in)) {
        mrsi_read_error(r, "merge", "dropped", "is `in` itself, where what is merged may not stay");
    }
}

/* ---- references ---- */
static struct rekey_holder *
holder_of(struct mrsi_read *r, struct mrsi_rekey *s, struct mrsi_slot slot, const struct mrs_coll *coll)
{
    MRS_ASSERT(coll->coll);
    uint32_t i = 0;
    while (i < s->n_holders && !mrsi_coll_same(&s->holder[i].coll, coll)) {
        i++;
    }
    if (i < s->n_holders && s->holder[i].n_entries == REKEY_CONDITIONS) {
        mrsi_read_error(r, slot.key, slot.sub, "%s has more than %d entries", coll->ns, REKEY_CONDITIONS);
        return NULL;
    }
    if (i == s->n_holders) {
        s->holder[s->n_holders++].coll = *coll;
    }
    return &s->holder[i];
}

static bool
add_path(struct mrsi_read *r, struct rekey_holder *h, struct mrsi_slot slot, const struct mrs_path *path)
{
    MRS_ASSERT(path->part || path->n == 0);
    uint64_t entry = 1ull << h->n_entries;
    if (!mrsi_read_not_id(r, slot, path)) {
        return false;
    }
    for (uint32_t i = 0; i < h->n_paths; i++) {
        int relation = mrs_path_relation(&h->path[i].path, path);
        if (relation == 1) {
            h->path[i].entries |= entry;
            return true;
        }
        if (relation) {
            return mrsi_read_error(r, slot.key, slot.sub, "of the paths %s and %s of %s one lies inside the other",
                                   h->path[i].path.text, path->text, h->coll.ns);
        }
    }
    struct rekey_ref_path *more = mrsi_read_alloc(r, h->n_paths + 1, sizeof *more);
    if (!more) {
        return false;
    }
    if (h->n_paths) {
        memcpy(more, h->path, h->n_paths * sizeof *more);
    }
    more[h->n_paths++] = (struct rekey_ref_path){*path, entry};
    h->path = more;
    return true;
}

/* One entry: the collection, its paths, its condition. */
static void
add_entry(struct mrsi_read *r, struct mrsi_rekey *s, struct mrsi_slot coll, struct mrsi_slot fields,
          struct mrsi_slot where)
{
    struct mrs_coll in;
    struct mrsi_paths paths = {NULL, 0};
    struct mrs_path one;
    bool text = fields.v.type == MRS_STRING;
    bool read = mrsi_read_coll(r, coll, &in);
    if (!(text ? mrsi_read_path(r, fields, &one) : mrsi_read_paths(r, fields, &paths)) || !read) {
        return;
    }
    struct rekey_holder *h = holder_of(r, s, coll, &in);
    if (text) {
        paths = (struct mrsi_paths){&one, 1};
    }
    if (h && !paths.n) {
        mrsi_read_error(r, fields.key, fields.sub, "names no path");
    }
    for (uint32_t i = 0; h && i < paths.n; i++) {
        add_path(r, h, fields, &paths.path[i]);
    }
    if (h) {
        mrsi_read_query(r, where, &h->where[h->n_entries]);
        h->n_entries++;
    }
}

static void
read_list_form(struct mrsi_read *r, struct mrsi_rekey *s, struct mrs_val list)
{
    MRS_ASSERT(list.type == MRS_ARRAY);
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, mrs_val_view(list)); mrs_walk_next(&w, &el) == 1;) {
        struct mrsi_slot one = {el.v, "references", mrsi_read_text_of(r, "%s", el.name), NULL};
        if (mrsi_read_map(r, one, mrsi_rekey_reference_keys, MRSI_REKEY_REFERENCE_KEYS)) {
            const struct mrs_key *k = mrsi_rekey_reference_keys;
            add_entry(r, s, mrsi_slot_below(r, one, k, MRSI_REKEY_REFERENCE_KEYS, "in"),
                      mrsi_slot_below(r, one, k, MRSI_REKEY_REFERENCE_KEYS, "fields"),
                      mrsi_slot_below(r, one, k, MRSI_REKEY_REFERENCE_KEYS, "where"));
        }
    }
}

static void
read_map_form(struct mrsi_read *r, struct mrsi_rekey *s, struct mrs_val map)
{
    MRS_ASSERT(map.type == MRS_DOCUMENT);
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, mrs_val_view(map)); mrs_walk_next(&w, &el) == 1;) {
        const char *name = mrsi_read_text_of(r, "%s", el.name);
        struct mrsi_slot coll = {mrs_make_text(r->args->arena, el.name, el.name_len), "references", name, NULL};
        struct mrsi_slot fields = {el.v, "references", name, NULL}, where = {mrs_missing(), "references", name, NULL};
        if (coll.v.type == MRS_MISSING) {
            r->status = mrs_err_memory(r->err, el.name_len);
            return;
        }
        if (el.v.type != MRS_STRING && el.v.type != MRS_ARRAY) {
            mrsi_read_error(r, "references", name, "must be a path or a list of paths, not %s",
                            mrs_type_name(el.v.type));
            continue;
        }
        add_entry(r, s, coll, fields, where);
    }
}

static void
make_ref_edits(struct mrsi_read *r, struct mrsi_rekey *s)
{
    int next = s->side_dropped >= 0 ? 2 : 1;
    for (uint32_t i = 0; i < s->n_holders; i++) {
        struct rekey_holder *h = &s->holder[i];
        struct mrs_path *path = mrsi_read_alloc(r, h->n_paths + 1, sizeof *path);
        for (uint32_t k = 0; path && k < h->n_paths; k++) {
            path[k] = h->path[k].path;
        }
        if (path) {
            mrsi_read_edit(r, "references", path, h->n_paths, &h->edit);
        }
        bool own = mrsi_coll_same(&h->coll, &s->in);
        s->own = own ? h : s->own;
        h->side = own ? 0 : next++;
    }
}

static void
read_references(struct mrsi_read *r, struct mrsi_rekey *s)
{
    struct mrsi_slot refs = mrsi_slot(r, "references");
    if (!mrsi_slot_present(refs)) {
        mrsi_read_warn(r, "references", NULL, "is missing: references to the old _ids would dangle (`inspect` finds "
                                              "their paths; `{}` means that there are none)");
        return;
    }
    bool list = refs.v.type == MRS_ARRAY;
    if (!list && refs.v.type != MRS_DOCUMENT) {
        mrsi_read_error(r, "references", NULL,
                        "must be a map { collection: paths } or a list of { in, fields, where }");
        return;
    }
    uint32_t n = mrs_val_count(refs.v);
    if (n + 2 > MRS_SIDES_MAX) {
        mrsi_read_error(r, "references", NULL, "has more than %d entries", MRS_SIDES_MAX - 2);
        return;
    }
    s->holder = mrsi_read_alloc(r, n + 1, sizeof *s->holder);
    if (s->holder && list) {
        read_list_form(r, s, refs.v);
    } else if (s->holder) {
        read_map_form(r, s, refs.v);
    }
    for (uint32_t i = 0; i < s->n_holders; i++) {
        if (s->dropped == REKEY_DROPPED_INTO && mrsi_coll_same(&s->holder[i].coll, &s->dropped_into)) {
            mrsi_read_error(r, "references", NULL, "%s takes in what is merged: rekey its references in a step of "
                                                   "their own", s->dropped_into.ns);
        }
    }
}

/* ---- compile ---- */
static void
read_id(struct mrsi_read *r, struct mrsi_rekey *s)
{
    struct mrsi_slot id = mrsi_slot(r, "id");
    s->fresh = mrs_val_is_text(id.v, "new");
    if (!s->fresh && mrsi_read_expr(r, id, &s->id) && mrs_expr_constant(s->id, NULL)) {
        mrsi_read_error(r, "id", NULL, "is the same for every document: use `new`, or an expression that reads fields");
    }
}

/* Checks the fields that are written into documents of `in`. */
static void
make_edit(struct mrsi_read *r, struct mrsi_rekey *s)
{
    static struct mrs_part id_part = {"_id", 3};
    uint32_t n = 0;
    struct mrs_path *path = mrsi_read_alloc(r, s->n_fields + 2, sizeof *path);
    if (!path) {
        return;
    }
    if (!s->merge) {
        path[n++] = (struct mrs_path){&id_part, 1, "_id"};
    }
    for (uint32_t i = 0; i < s->n_fields; i++) {
        path[n++] = s->field[i];
    }
    if (s->old.n) {
        path[n++] = s->old;
    }
    mrsi_read_edit(r, s->n_fields ? "merge" : "old", path, n, &s->edit);
}

enum mrs_status
mrsi_rekey_compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_rekey *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    bool id = mrsi_slot_present(mrsi_slot(&r, "id")), merge = mrsi_slot_present(mrsi_slot(&r, "merge"));
    s->indexes = true;
    mrsi_read_coll(&r, mrsi_slot(&r, "in"), &s->in);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    mrsi_read_choice(&r, mrsi_slot(&r, "dangling"), &s->dangling);
    mrsi_read_bool(&r, mrsi_slot(&r, "distinct"), &s->distinct);
    mrsi_read_bool(&r, mrsi_slot(&r, "replace"), &s->replace);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    if (mrsi_read_path(&r, mrsi_slot(&r, "old"), &s->old)) {
        mrsi_read_not_id(&r, mrsi_slot(&r, "old"), &s->old);
    }
    if (id == merge) {
        mrsi_read_error(&r, id ? "merge" : NULL, NULL, id ? "does not go with `id`"
                                                          : "needs `id` (an _id for each document) or `merge` (one "
                                                            "document for all that have a key in common)");
    } else if (id) {
        read_id(&r, s);
    } else {
        read_merge(&r, s);
    }
    s->side_dropped = s->dropped == REKEY_DROPPED_INTO ? 1 : -1;
    read_references(&r, s);
    if (mrsi_read_good(&r)) {
        make_ref_edits(&r, s);
        make_edit(&r, s);
    }
    return mrsi_read_end(&r, state);
}

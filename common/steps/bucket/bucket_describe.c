/* SPDX-License-Identifier: Apache-2.0 */
/* bucket_describe.c - bucket: its description, its effect on the catalog.
 *
 * Indexes of the readings are copied to the buckets: on `by` fields at the top, others below the items, where they are
 * multikey and lose unique, sparse and partial. Every bucket collection gets the index {by, start}, which queries for a
 * series use. Losses are what unbucket cannot restore. */
#include "bucket.h"
#include "steps/catalog/indexes.h"
#include "steps/kit/describe.h"
#include "mongoreshape/catalogue.h"

/* ---- describe ---- */
static void
describe_losses(struct mrsi_describe *t, const struct mrsi_bucket *s)
{
    mrsi_describe_loss(t, "the order of %s across series: items stand in the order of their times", s->from.ns);
    if (s->omitted.n && !s->shape.fields.present) {
        const char *names = mrsi_describe_paths(t, s->omitted.path, s->omitted.n, 5);
        mrsi_describe_loss(t,
                           "the places of %s among the fields, and their types where equal values differ in it (1 and "
                          "1.0)", names);
    }
    if (s->shape.fields.present) {
        mrsi_describe_loss(t, "fields of %s that `fields` does not keep", s->from.ns);
    }
    for (uint32_t i = 0; i < s->shape.drop.n; i++) {
        mrsi_describe_loss(t, "%s of %s, left out by `drop`", s->shape.drop.path[i].text, s->from.ns);
    }
    if (s->conflicts) {
        mrsi_describe_loss(t, "buckets of which another one with the same _id counts");
    }
}

static void
describe_words(struct mrsi_describe *t, const struct mrsi_bucket *s)
{
    const struct mrsi_fields *by = &s->by.fields;
    mrsi_describe_words(t, "gathers %s of %s in the arrays %s of %s",
                        s->where ? "those documents that `where` takes" : "the documents", s->from.ns, s->items,
                        s->into.ns);
    if (by->n) {
        mrsi_describe_words(t, ", one document for each %s", mrsi_describe_paths(t, by->path, by->n, 5));
    }
    if (s->every) {
        mrsi_describe_words(t, "%seach window of %s", by->n ? " and " : ", one document for ",
                            s->time_path ? s->time_path : "time");
    }
    if (s->max != UINT64_MAX) {
        mrsi_describe_words(t, ", at most %llu in each", (unsigned long long)s->max);
    }
    if (s->keep == BUCKET_KEEP_ALL) {
        mrsi_describe_words(t, ". The documents stay in %s", s->from.ns);
    }
}

static void
describe_names(struct mrsi_describe *t, const struct mrsi_bucket *s)
{
    const struct mrsi_fields *f = &s->shape.fields;
    mrsi_describe_naming(t, true);
    for (uint32_t i = 0; i < s->by.fields.n; i++) {
        mrsi_describe_expr(t, 0, s->by.fields.expr[i]);
    }
    mrsi_describe_expr(t, 0, s->time);
    mrsi_describe_query(t, 0, s->where);
    for (uint32_t i = 0; f->map && i < f->n; i++) {
        mrsi_describe_expr(t, 0, f->expr[i]);
    }
    for (uint32_t i = 0; i < s->n_set; i++) {
        mrsi_describe_acc(t, 0, s->set[i].acc);
    }
    mrsi_describe_naming(t, false);
    mrsi_describe_names(t, 0, NULL, f->path, f->map ? 0 : f->n);
    mrsi_describe_names(t, 0, NULL, s->shape.drop.path, s->shape.fields.map ? 0 : s->shape.drop.n);
}

enum mrs_status
mrsi_bucket_describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct mrsi_bucket *s = state;
    bool leave = s->keep == BUCKET_KEEP_NONE;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_FOLD, e);
    mrsi_describe_side(&t, &s->from, MRS_ROLE_READ | MRS_ROLE_MAIN | (leave ? MRS_ROLE_TAKE : 0), "from");
    mrsi_describe_side(&t, &s->into, MRS_ROLE_ADD, "into");
    mrsi_describe_touch(&t, 0, 'R', "");
    describe_names(&t, s);
    if (leave) {
        mrsi_describe_touch(&t, 0, 'D', "");
    }
    mrsi_describe_touch(&t, 1, 'A', "");
    out->conflicts = (enum mrs_conflicts)s->conflicts;
    describe_losses(&t, s);
    describe_words(&t, s);
    mrsi_describe_quiet(&t, "one document that comes or goes changes its bucket and moves all parts after it"
                        MRSI_DO_QUIET);
    mrsi_describe_errors(&t, s->errors, s->shape.fields.path, s->shape.fields.n);
    for (uint32_t i = 0; i < s->n_set; i++) {
        mrsi_describe_errors(&t, s->errors, &s->set[i].path, 1);
    }
    return mrsi_describe_end(&t);
}

/* ---- catalogue ---- */
struct bucket_describe_moving {
    struct mrs_arena *a;
    struct mrsi_move *m;
    uint32_t n;
    bool bad;
};

/* The first move of a path counts, so `by` fields come before items. */
static void
add_move(struct bucket_describe_moving *v, const char *from, const char *to)
{
    for (uint32_t i = 0; i < v->n; i++) {
        if (strcmp(v->m[i].from, from) == 0) {
            return;
        }
    }
    v->m[v->n++] = (struct mrsi_move){from, to};
}

/* A path of the reading is now at `now` of an item. */
static void
add_item(struct bucket_describe_moving *v, const struct mrsi_bucket *s, const char *path, const char *now)
{
    const char *text = mrsi_path_below(v->a, s->items, now);
    if (!text) {
        v->bad = true;
        return;
    }
    add_move(v, path, text);
}

static void
moves_of(const struct mrsi_bucket *s, struct bucket_describe_moving *v)
{
    const struct mrsi_fields *by = &s->by.fields, *f = &s->shape.fields;
    for (uint32_t i = 0; i < by->n; i++) {
        const char *bare = mrs_expr_bare_path(by->expr[i]);
        if (bare && *bare && mrsi_index_plain(&by->path[i])) {
            add_move(v, bare, by->path[i].text);
        }
    }
    for (uint32_t i = 0; i < s->shape.drop.n && !f->map; i++) {
        add_move(v, s->shape.drop.path[i].text, NULL);
    }
    if (!f->present) {
        add_item(v, s, "", "");
    } else if (!f->map && !f->without_id) {
        add_item(v, s, "_id", "_id");
    }
    for (uint32_t i = 0; i < f->n; i++) {
        const char *old = f->map ? mrs_expr_bare_path(f->expr[i]) : f->path[i].text;
        if (old && *old && mrsi_index_plain(&f->path[i]) && !mrsi_shape_drops(&s->shape, &f->path[i])) {
            add_item(v, s, old, f->path[i].text);
        }
    }
}

static enum mrs_status
carry(const struct mrsi_bucket *s, struct mrs_catalog *cat, const struct mrs_cat_coll *from, struct mrs_cat_coll *into,
      struct mrs_err *e)
{
    struct bucket_describe_moving v = {.a = mrs_catalog_arena(cat)};
    v.m = mrs_arena_alloc(v.a, (s->by.fields.n + s->shape.fields.n + s->shape.drop.n + 2u) * sizeof *v.m);
    MRS_TRY(mrs_allocated(v.m, 0, e));
    moves_of(s, &v);
    if (v.bad) {
        return mrs_err_memory(e, 0);
    }
    struct mrsi_moves moves = {.move = v.m, .n = v.n, .others_lost = true};
    struct mrsi_carry how = {
        .moves = &moves,
        .lose = MRSI_LOSE_UNIQUE | MRSI_LOSE_SPARSE | MRSI_LOSE_PARTIAL | MRSI_LEAVE_TTL | MRSI_LEAVE_HASHED |
                (s->keep == BUCKET_KEEP_NONE ? MRSI_WHOLE : 0u),
        .why = "many documents are one now"};
    return mrsi_indexes_carry(cat, from, into, &how, e);
}

static enum mrs_status
series_index(const struct mrsi_bucket *s, struct mrs_catalog *cat, struct mrs_cat_coll *into, struct mrs_err *e)
{
    const char **path = mrs_arena_alloc(mrs_catalog_arena(cat), (s->by.fields.n + 1u) * sizeof *path);
    uint32_t n = 0;
    MRS_TRY(mrs_allocated(path, 0, e));
    for (uint32_t i = 0; i < s->by.fields.n; i++) {
        if (mrsi_index_named(cat, &s->into, &s->by.fields.path[i])) {
            path[n++] = s->by.fields.path[i].text;
        }
    }
    if (s->start) {
        path[n++] = s->start;
    }
    return n ? mrsi_index_reference(cat, into, path, n, e) : MRS_OK;
}

enum mrs_status
mrsi_bucket_catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct mrsi_bucket *s = state;
    struct mrs_cat_coll *from, *into;
    struct mrs_desc d;
    enum mrs_status st = mrsi_cat_need(cat, &s->from, s->keep == BUCKET_KEEP_NONE, "from", &from, e);
    MRS_THEN(st, mrsi_cat_target(cat, &s->into, "into", &into, NULL, e));
    if (st == MRS_OK && s->indexes) {
        st = carry(s, cat, from, into, e);
        MRS_THEN(st, series_index(s, cat, into, e));
    }
    MRS_THEN(st, mrsi_bucket_describe(s, mrs_catalog_arena(cat), &d, e));
    MRS_THEN(st, mrsi_cat_validators(cat, &d, e));
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}

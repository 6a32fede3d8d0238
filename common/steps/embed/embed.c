/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c - embed: puts documents of one collection into documents of another. Compiles the step; the small kernels.
 *
 * Everything that depends only on the plan is decided here, so that splices only read documents: which side has the
 * reference, whether `as` is the reference itself (in place) or in the same array, and whether the fast path is enough.
 * The splices are in embed_splice.c (one place for all matches) and embed_shared.c (matches per place). */
#include "embed.h"
#include "mongoreshape/join_ops.h"

static const struct mrs_key embed_keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "documents to embed"},
    {"into", MRS_ARG_COLL, true, NULL, "parent documents"},
    {"match", MRS_ARG_MATCH, true, NULL, "path of from: path of into, or a list of {from, into} expressions"},
    {"as", MRS_ARG_PATH, true, NULL, "target path; the path of the reference: in place"},
    {"one", MRS_ARG_BOOL, false, NULL, "one subdocument instead of an array"},
    {"fields", MRS_ARG_FIELDS, false, NULL, "fields to embed; default: all"},
    {"drop", MRS_ARG_PATHS, false, NULL, "fields to omit"},
    {"sort", MRS_ARG_SORT, false, NULL, "order in a parent; default: input order"},
    {"limit", MRS_ARG_COUNT, false, NULL, "maximum per parent"},
    {"overflow", MRS_ARG_MAP, false, NULL, "pages for documents beyond the limit: into, size, ref, number, items, "
                                           "flag"},
    {"count", MRS_ARG_PATH, false, NULL, "field for the number of matches"},
    {"empty", MRS_ARG_CHOICE, false, "array|absent|null", "value in parents without a match"},
    {"keep", MRS_ARG_CHOICE, false, "unmatched|all|none", "which of the matched documents stay in from"},
    {"where", MRS_ARG_QUERY, false, NULL, "documents of from that take part; others stay"},
    {"replace", MRS_ARG_BOOL, false, NULL, "overwrite existing fields"},
    {MRSI_TWINS_KEY},
    {"nulls", MRS_ARG_CHOICE, false, "ignore|match", "whether null and missing match each other"},
    {"reference", MRS_ARG_CHOICE, false, "from|into", "the side that holds the reference; default: into if the from "
                                                      "field is _id"},
    {"orphans", MRS_ARG_CHOICE_OR_COLL, false, "keep|drop|refuse", "documents of from without a match"},
    {"dangling", MRS_ARG_CHOICE, false, "keep|drop|null|refuse", "references without a match"},
    {"many", MRS_ARG_CHOICE, false, "refuse|first|last", "several matches for one place"},
    {"oversize", MRS_ARG_CHOICE, false, "refuse|overflow", "when a parent would exceed 16 MiB"},
    {"errors", MRS_ARG_CHOICE, false, MRSI_ERRORS_CHOICES, "when an expression or a dotted write fails"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "rewrite and copy indexes; default true"}};

static const struct mrs_key overflow_keys[] = {{"into", MRS_ARG_COLL, true, NULL, "collection of the pages"},
                                               {"size", MRS_ARG_COUNT, true, NULL, "items of a page"},
                                               {"ref", MRS_ARG_NAME, true, NULL, "field for the parent's _id"},
                                               {"number", MRS_ARG_NAME, true, NULL, "field for the number, from 2"},
                                               {"items", MRS_ARG_NAME, true, NULL, "field for the items"},
                                               {"flag", MRS_ARG_PATH, false, NULL, "field of parents that have pages"}};
#define N_OVERFLOW (sizeof overflow_keys / sizeof *overflow_keys)

/* ---- compile ---- */
static void
page_name(struct mrsi_read *r, struct mrsi_slot map, const char *key, const char **out)
{
    struct mrsi_slot s = mrsi_slot_in(map, overflow_keys, N_OVERFLOW, key);
    if (mrsi_read_name(r, s, out) && strcmp(*out, "_id") == 0) {
        mrsi_read_error(r, s.key, s.sub, "a page's `%s` may not be `_id`", key);
    }
}

static void
read_overflow(struct mrsi_read *r, struct mrsi_embed *s)
{
    struct mrsi_slot map = mrsi_slot(r, "overflow");
    s->overflow.present = mrsi_slot_present(map);
    if (!s->overflow.present || !mrsi_read_map(r, map, overflow_keys, N_OVERFLOW)) {
        return;
    }
    struct mrsi_slot size = mrsi_slot_in(map, overflow_keys, N_OVERFLOW, "size");
    struct mrsi_slot flag = mrsi_slot_in(map, overflow_keys, N_OVERFLOW, "flag");
    mrsi_read_coll(r, mrsi_slot_in(map, overflow_keys, N_OVERFLOW, "into"), &s->overflow.into);
    if (mrsi_read_count(r, size, &s->overflow.size) && s->overflow.size == 0) {
        mrsi_read_error(r, size.key, size.sub, "a page holds at least 1 item");
    }
    page_name(r, map, "ref", &s->overflow.ref);
    page_name(r, map, "number", &s->overflow.number);
    page_name(r, map, "items", &s->overflow.items);
    if (mrsi_read_path(r, flag, &s->flag)) {
        mrsi_read_not_id(r, flag, &s->flag);
    }
    if (!mrsi_read_good(r)) {
        return;
    }
    if (!strcmp(s->overflow.ref, s->overflow.number) || !strcmp(s->overflow.ref, s->overflow.items) ||
        !strcmp(s->overflow.number, s->overflow.items)) {
        mrsi_read_error(r, "overflow", NULL, "`ref`, `number` and `items` must have different names");
    }
    if (mrsi_coll_same(&s->overflow.into, &s->join.from) || mrsi_coll_same(&s->overflow.into, &s->join.into)) {
        mrsi_read_error(r, "overflow", "into", "pages need a collection of their own, not `from` or `into`");
    }
    if (!s->limited) {
        s->limited = true;
        s->limit = s->overflow.size;
    }
}

static bool
same_path(const struct mrs_path *a, const struct mrs_path *b)
{
    return a->n && b->n && mrs_path_equal(a, b);
}

/* Moves the pair that belongs to `as` to the front: its field is `as`, or in the same array. */
static void
settle_as(struct mrsi_embed *s)
{
    struct mrsi_join_match *j = &s->join;
    uint32_t best = 0;
    for (uint32_t i = 0; i < j->n; i++) {
        uint32_t share = mrsi_join_share(&s->as, &j->pair[i].into.path);
        if (j->into_points && same_path(&s->as, &j->pair[i].into.path)) {
            s->in_place = true;
            best = i;
            break;
        }
        best = share > mrsi_join_share(&s->as, &j->pair[best].into.path) ? i : best;
    }
    if (best) {
        struct mrsi_pair p = j->pair[best];
        j->pair[best] = j->pair[0];
        j->pair[0] = p;
    }
    const struct mrs_path *from = &j->pair[0].from.path, *ref = &j->pair[0].into.path;
    j->single = from->n == 1 && strcmp(from->part[0].name, "_id") == 0;
    j->own_id = s->in_place;
    j->share = s->in_place ? ref->n - 1 : mrsi_join_share(&s->as, ref);
    j->refs = j->into_points || j->share;
    s->shared = s->in_place || j->share;
    s->count_share = s->count.n && ref->n ? mrsi_join_share(&s->count, ref) : 0;
    s->count_share = s->count_share < j->share ? s->count_share : j->share;
    mrsi_join_settle(j);
}

static void
check_in_place(struct mrsi_read *r, const struct mrsi_embed *s)
{
    static const char *const wrong[] = {"sort", "limit", "overflow"};
    for (size_t i = 0; s->in_place && i < sizeof wrong / sizeof *wrong; i++) {
        if (mrsi_slot_present(mrsi_slot(r, wrong[i]))) {
            mrsi_read_error(r, wrong[i], NULL, "cannot be used in place (`as` is the reference itself)");
        }
    }
    for (uint32_t i = 0; i < s->join.n && !s->join.into_points && !s->replace; i++) {
        if (same_path(&s->as, &s->join.pair[i].into.path)) {
            mrsi_read_warn(r, "as", NULL, "`match` reads this field of `into`, which therefore exists: with "
                                          "`reference: into` the documents replace the references in it");
        }
    }
}

static void
check_words(struct mrsi_read *r, struct mrsi_embed *s)
{
    struct mrsi_slot empty = mrsi_slot(r, "empty");
    if (!mrsi_slot_present(empty)) {
        s->empty = s->one ? EMBED_EMPTY_ABSENT : EMBED_EMPTY_ARRAY;
    } else if (s->one && s->empty == EMBED_EMPTY_ARRAY) {
        mrsi_read_error(r, "empty", NULL, "`array` does not go with `one: true`; use absent or null");
    } else if (!s->one && s->empty == EMBED_EMPTY_NULL) {
        mrsi_read_error(r, "empty", NULL, "`null` needs `one: true`; use array or absent");
    }
    if (s->keep == EMBED_KEEP_NONE && !mrsi_slot_present(mrsi_slot(r, "orphans"))) {
        mrsi_read_error(r, "keep", NULL, "`none` requires `orphans`: keep, drop, refuse or { into: COLL }");
    }
    if (s->oversize_overflow && !s->overflow.present) {
        mrsi_read_error(r, "oversize", NULL, "`overflow` needs the key `overflow`");
    }
    if (s->one && s->overflow.present) {
        mrsi_read_error(r, "overflow", NULL, "does not go with `one: true`");
    }
    if (mrsi_coll_same(&s->join.from, &s->join.into)) {
        if (s->keep != EMBED_KEEP_ALL) {
            mrsi_read_error(r, "keep", NULL, "must be `all` if `from` and `into` are one collection: remove documents "
                                             "with `delete` in a later step; for a whole tree use `tree` with "
                                             "`to_form: embedded`");
        }
        if (s->orphans != EMBED_ORPHANS_KEEP) {
            mrsi_read_error(r, "orphans", NULL, "must be `keep` where `from` and `into` are one collection");
        }
    }
    if (s->orphans == EMBED_ORPHANS_INTO && mrsi_coll_same(&s->orphans_into, &s->join.from)) {
        mrsi_read_error(r, "orphans", "into", "is `from` itself; use `keep`");
    }
}

/* Removing a reference requires a field to remove, and one that is certainly the reference. */
static void
check_dangling(struct mrsi_read *r, const struct mrsi_embed *s)
{
    const struct mrsi_join_match *j = &s->join;
    if (!mrsi_slot_present(mrsi_slot(r, "dangling"))) {
        return;
    }
    if (!j->into_points) {
        mrsi_read_error(r, "dangling", NULL, "the reference is on the `from` side: see `orphans`, or give `reference: "
                                             "into`");
    } else if (s->dangling == MRSI_DANGLING_DROP || s->dangling == MRSI_DANGLING_NULL) {
        if (j->pair[0].into.expr) {
            mrsi_read_error(r, "dangling", NULL, "a computed reference cannot be changed; use keep or refuse");
        } else if (j->n > 1 && !j->single) {
            mrsi_read_error(r, "dangling", NULL, "a reference of several fields cannot be changed; use keep or refuse");
        } else if (j->pair[0].into.path.n == 1 && !strcmp(j->pair[0].into.path.part[0].name, "_id")) {
            mrsi_read_error(r, "dangling", NULL, "the reference is `_id`, which cannot be changed; use keep or refuse");
        }
    }
}

static void
make_edits(struct mrsi_read *r, struct mrsi_embed *s)
{
    uint32_t no = 0;
    s->edit = mrsi_read_new_edit(r);
    s->no_count = s->no_flag = EMBED_NONE;
    if (!mrsi_read_edit_path(r, s->edit, "as", NULL, &s->as)) {
        return;
    }
    if (s->count.n && mrsi_read_edit_path(r, s->edit, "count", NULL, &s->count)) {
        s->no_count = ++no;
    }
    if (s->flag.n && mrsi_read_edit_path(r, s->edit, "overflow", "flag", &s->flag)) {
        s->no_flag = ++no;
    }
    if (s->join.into_points && !s->in_place &&
        (s->dangling == MRSI_DANGLING_DROP || s->dangling == MRSI_DANGLING_NULL)) {
        s->ref_edit = mrsi_read_new_edit(r);
        mrsi_read_edit_path(r, s->ref_edit, "match", NULL, &s->join.pair[0].into.path);
    }
}

static void
read_words(struct mrsi_read *r, struct mrsi_embed *s)
{
    int oversize = 0;
    s->indexes = true;
    mrsi_read_bool(r, mrsi_slot(r, "one"), &s->one);
    mrsi_read_bool(r, mrsi_slot(r, "replace"), &s->replace);
    mrsi_read_bool(r, mrsi_slot(r, "indexes"), &s->indexes);
    mrsi_read_choice(r, mrsi_slot(r, "empty"), &s->empty);
    mrsi_read_choice(r, mrsi_slot(r, "keep"), &s->keep);
    mrsi_read_choice_or_coll(r, mrsi_slot(r, "orphans"), &s->orphans, &s->orphans_into);
    mrsi_read_choice(r, mrsi_slot(r, "dangling"), &s->dangling);
    mrsi_read_choice(r, mrsi_slot(r, "many"), &s->many);
    mrsi_read_choice(r, mrsi_slot(r, "oversize"), &oversize);
    mrsi_read_choice(r, mrsi_slot(r, "errors"), &s->errors);
    mrsi_read_sort(r, mrsi_slot(r, "sort"), &s->sort);
    s->limited = mrsi_read_count(r, mrsi_slot(r, "limit"), &s->limit);
    s->oversize_overflow = oversize == 1;
    if (mrsi_read_path(r, mrsi_slot(r, "count"), &s->count)) {
        mrsi_read_not_id(r, mrsi_slot(r, "count"), &s->count);
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_embed *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    bool joined = mrsi_join_read(&r, &s->join, false);
    bool placed = mrsi_read_path(&r, mrsi_slot(&r, "as"), &s->as) && mrsi_read_not_id(&r, mrsi_slot(&r, "as"), &s->as);
    if (placed && !mrs_val_copy(args->arena, mrsi_slot(&r, "as").v, &s->as_spec)) {
        r.status = mrs_err_memory(e, 0);
    }
    mrsi_shape_read(&r, mrsi_slot(&r, "fields"), mrsi_slot(&r, "drop"), &s->shape);
    read_words(&r, s);
    if (joined) {
        read_overflow(&r, s);
        check_words(&r, s);
    }
    if (joined && placed) {
        settle_as(s);
        check_in_place(&r, s);
        check_dangling(&r, s);
        make_edits(&r, s);
    }
    s->side_overflow = s->overflow.present ? 2 : -1;
    s->side_orphans = s->orphans == EMBED_ORPHANS_INTO ? 2 + s->overflow.present : -1;
    s->hot = s->as.n == 1 && s->count.n <= 1 && !s->one && !s->shared && !s->overflow.present && !s->ref_edit &&
             (s->dangling == MRSI_DANGLING_KEEP || !s->join.into_points);
    return mrsi_read_end(&r, state);
}

/* ---- small kernels ---- */
static enum mrs_status
takes_part(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, bool *yes)
{
    const struct mrsi_embed *s = state;
    return mrsi_step_where(side == 0 ? s->join.where : NULL, c, doc, yes);
}

static enum mrs_status
keys(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, struct mrs_keys *k)
{
    return mrsi_join_keys(&((const struct mrsi_embed *)state)->join, c, side, doc, k);
}

static enum mrs_status
payload(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out)
{
    const struct mrsi_embed *s = state;
    struct mrsi_shaping how = {c, NULL, (enum mrsi_errors)s->errors, NULL, 0};
    return mrsi_shape_run(&s->shape, &how, doc, out);
}

static enum mrs_status
order(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out)
{
    const struct mrsi_embed *s = state;
    return mrsi_step_sort_key(c, s->sort, doc, out, "sort");
}

static enum mrs_fate
fate(const void *state, unsigned used, int *side)
{
    const struct mrsi_embed *s = state;
    *side = -1;
    if (!used) {
        switch (s->orphans) {
        case EMBED_ORPHANS_DROP: return MRS_FATE_DROPPED;
        case EMBED_ORPHANS_REFUSE: return MRS_FATE_REFUSED;
        case EMBED_ORPHANS_INTO: *side = s->side_orphans; return MRS_FATE_TAKEN;
        default: return MRS_FATE_STAYS;
        }
    }
    if ((used & MRS_USED_LEFT) || s->keep == EMBED_KEEP_ALL) {
        return MRS_FATE_STAYS;
    }
    if (s->keep == EMBED_KEEP_UNMATCHED && (used & MRS_USED_CUT)) {
        return MRS_FATE_STAYS;
    }
    return used & MRS_USED_PLACED ? MRS_FATE_TAKEN : MRS_FATE_DROPPED;
}

static const struct mrs_join_ops join_ops = {takes_part, keys, payload, order, mrsi_embed_splice, fate};

static const struct mrs_inner inner[] = {{"overflow", overflow_keys, N_OVERFLOW, false}};

const struct mrs_step_type mrsi_step_embed = {
    .name = "embed",
    .summary = "embeds documents of one collection in those of another",
    .keys = embed_keys,
    .n_keys = sizeof embed_keys / sizeof *embed_keys,
    .inner = inner,
    .n_inner = sizeof inner / sizeof *inner,
    .example = "from: comments\ninto: posts\nmatch: { postId: _id }\nas: comments\n\nfields: [author, text]\n"
               "drop: [postId]\nsort: { createdAt: -1 }\nlimit: 50\n"
               "overflow: { into: comments_more, size: 100, ref: postId, number: page, items: comments, flag: more }\n"
               "count: commentCount\nwhere: { deleted: { $ne: true } }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = mrsi_embed_describe,
    .invert = mrsi_embed_invert,
    .catalog = mrsi_embed_catalog,
    .work_size = sizeof(struct embed_work),
    .work_clear = mrsi_embed_work_clear,
    .join = &join_ops,
};

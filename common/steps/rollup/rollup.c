/* SPDX-License-Identifier: Apache-2.0 */
/* rollup.c - rollup: computes values from many documents. Compiles the step; the small kernels.
 *
 * With `match` the values go into existing documents: a join, whose payload is a document's arguments for the
 * accumulators. With `by` each group becomes a document of a new collection. */
#include "steps/kit/invert.h"
#include "rollup.h"
#include <stdio.h>
#include "mongoreshape/join_ops.h"

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "documents to count, sum, ..."},
    {"into", MRS_ARG_COLL, true, NULL, "with match: documents that receive the values; with by: a new collection"},
    {"fields", MRS_ARG_MAP, true, NULL, "name: accumulator, as total: {$sum: \"$amount\"}"},
    {"match", MRS_ARG_MATCH, false, NULL, "path of from: path of into, or a list of {from, into} expressions"},
    {"by", MRS_ARG_ANY, false, NULL, "the key of a group: an expression, a map of them, or null for a grand total"},
    {"as", MRS_ARG_PATH, false, NULL, "subdocument for the values"},
    {"empty", MRS_ARG_CHOICE, false, "values|absent", "value in documents of into without a match"},
    {"where", MRS_ARG_QUERY, false, NULL, "documents of from that take part; others stay"},
    {"sort", MRS_ARG_SORT, false, NULL, "order for the accumulators; default: input order"},
    {"keep", MRS_ARG_CHOICE, false, "all|unmatched|none", "which of the matched documents stay in from"},
    {"replace", MRS_ARG_BOOL, false, NULL, "overwrite existing fields"},
    {MRSI_TWINS_KEY},
    {"nulls", MRS_ARG_CHOICE, false, "ignore|match", "whether null and missing match each other"},
    {"orphans", MRS_ARG_CHOICE_OR_COLL, false, "keep|drop|refuse", "documents of from without a match"},
    {"errors", MRS_ARG_CHOICE, false, MRSI_ERRORS_CHOICES, "when an expression or a dotted write fails; by field"},
    {"oversize", MRS_ARG_CHOICE, false, "refuse", "when a document would exceed 16 MiB"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow; default true"}};

/* ---- compile ---- */
static uint32_t
same_argument(const struct mrsi_rollup *s)
{
    const char *path = mrs_acc_bare_path(s->acc[s->n]);
    for (uint32_t i = 0; path && i < s->n; i++) {
        const char *other = mrs_acc_bare_path(s->acc[i]);
        if (other && strcmp(other, path) == 0) {
            return i;
        }
    }
    return s->n;
}

static void
find_totals(struct mrsi_rollup *s)
{
    for (uint32_t i = 0; i < s->n_stores; i++) {
        uint32_t *k = &s->total[i];
        for (*k = 0; *k < s->n && !(s->same[*k] == s->stored[i] && mrs_acc_is_total(s->acc[*k]));) {
            ++*k;
        }
    }
}

static void
read_fields(struct mrsi_read *r, struct mrsi_rollup *s)
{
    struct mrsi_slot map = mrsi_slot(r, "fields");
    struct mrs_walk w;
    struct mrs_elem el;
    if (map.v.type != MRS_DOCUMENT) {
        return;
    }
    uint32_t n = mrs_val_count(map.v);
    s->path = mrsi_read_alloc(r, n + 1, sizeof *s->path);
    s->acc = mrsi_read_alloc(r, n + 1, sizeof *s->acc);
    s->fixed = mrsi_read_alloc(r, n + 1, sizeof *s->fixed);
    s->same = mrsi_read_alloc(r, n + 1, sizeof *s->same);
    s->stored = mrsi_read_alloc(r, n + 1, sizeof *s->stored);
    s->counted = mrsi_read_alloc(r, n + 1, sizeof *s->counted);
    s->total = mrsi_read_alloc(r, n + 1, sizeof *s->total);
    if (!s->path || !s->acc || !s->fixed || !s->same || !s->stored || !s->counted || !s->total) {
        return;
    }
    s->flat = true;
    mrs_walk_init(&w, mrs_val_view(map.v));
    while (mrs_walk_next(&w, &el) == 1) {
        struct mrsi_slot one = {el.v, "fields", el.name, NULL};
        struct mrs_path *path = &s->path[s->n];
        bool named = mrsi_read_path_text(r, "fields", el.name, el.name, path);
        if (named && !s->as.n) {
            named = mrsi_read_not_id(r, one, path);
        }
        if (!mrsi_read_acc(r, one, &s->acc[s->n]) || !named) {
            continue;
        }
        s->flat = s->flat && path->n == 1;
        if (!mrs_acc_constant(s->acc[s->n], &s->fixed[s->n])) {
            s->fixed[s->n] = mrs_missing();
        }
        s->same[s->n] = same_argument(s);
        if (s->fixed[s->n].type == MRS_MISSING && s->same[s->n] == s->n) {
            s->stored[s->n_stores++] = s->n;
        }
        s->counted[s->n] = s->fixed[s->n].type != MRS_MISSING && mrs_acc_counts(s->acc[s->n]);
        s->n++;
    }
    find_totals(s);
    if (!n) {
        mrsi_read_error(r, "fields", NULL, "names no field");
    }
}

static uint32_t
small_of(const struct rollup_small *small, uint32_t n, uint32_t field)
{
    uint32_t i = 0;
    while (i < n && small[i].field != field) {
        i++;
    }
    return i;
}

/* Used if every field needs few bytes and the input order is the order of the group. */
static void
read_small(struct mrsi_read *r, struct mrsi_rollup *s)
{
    struct rollup_small *small = mrsi_read_alloc(r, s->n + 1, sizeof *small);
    s->small_acc = mrsi_read_alloc(r, s->n + 1, sizeof *s->small_acc);
    for (uint32_t i = 0; small && s->small_acc && i < s->n; i++) {
        size_t size = mrs_acc_small_size(s->acc[i]);
        if (!size || s->sort) {
            return;
        }
        if (!s->counted[i]) {
            bool fixed = s->fixed[i].type != MRS_MISSING;
            s->small_acc[s->n_small] = s->acc[i];
            small[s->n_small] = (struct rollup_small){size, i, fixed, small_of(small, s->n_small, s->same[i])};
            s->n_small++;
            s->small_size += size;
        }
    }
    s->small_size += !s->small_size; /* 0 would mean no small state */
    s->small = s->small_acc ? small : NULL;
}

static void
read_by(struct mrsi_read *r, struct mrsi_rollup *s)
{
    mrsi_read_coll(r, mrsi_slot(r, "from"), &s->join.from);
    mrsi_read_coll(r, mrsi_slot(r, "into"), &s->join.into);
    mrsi_read_query(r, mrsi_slot(r, "where"), &s->join.where);
    mrsi_read_by(r, mrsi_slot(r, "by"), &s->group);
}

static void
read_words(struct mrsi_read *r, struct mrsi_rollup *s)
{
    int oversize = 0;
    s->indexes = true;
    mrsi_read_choice(r, mrsi_slot(r, "empty"), &s->empty);
    mrsi_read_choice(r, mrsi_slot(r, "keep"), &s->keep);
    mrsi_read_choice(r, mrsi_slot(r, "errors"), &s->errors);
    mrsi_read_choice(r, mrsi_slot(r, "oversize"), &oversize);
    mrsi_read_choice_or_coll(r, mrsi_slot(r, "orphans"), &s->orphans, &s->orphans_into);
    mrsi_read_bool(r, mrsi_slot(r, "replace"), &s->replace);
    mrsi_read_bool(r, mrsi_slot(r, "indexes"), &s->indexes);
    mrsi_read_sort(r, mrsi_slot(r, "sort"), &s->sort);
    if (mrsi_read_path(r, mrsi_slot(r, "as"), &s->as)) {
        mrsi_read_not_id(r, mrsi_slot(r, "as"), &s->as);
    }
}

static void
check_by(struct mrsi_read *r)
{
    static const char *const OF_MATCH[] = {"empty", "replace", "nulls", "orphans"};
    for (size_t i = 0; i < sizeof OF_MATCH / sizeof *OF_MATCH; i++) {
        if (mrsi_slot_present(mrsi_slot(r, OF_MATCH[i]))) {
            mrsi_read_error(r, OF_MATCH[i], NULL, "needs `match`; with `by` every document makes or joins a group");
        }
    }
}

static void
check_match(struct mrsi_read *r, const struct mrsi_rollup *s)
{
    const struct mrsi_join_match *j = &s->join;
    if (s->keep == ROLLUP_KEEP_NONE && !mrsi_slot_present(mrsi_slot(r, "orphans"))) {
        mrsi_read_error(r, "keep", NULL, "`none` requires `orphans`: keep, drop, refuse or { into: COLL }");
    }
    if (mrsi_coll_same(&j->from, &j->into) && (s->keep != ROLLUP_KEEP_ALL || s->orphans != ROLLUP_ORPHANS_KEEP)) {
        mrsi_read_error(r, s->keep != ROLLUP_KEEP_ALL ? "keep" : "orphans", NULL,
                        "documents cannot leave where `from` and `into` are one collection");
    }
    if (s->orphans == ROLLUP_ORPHANS_INTO && mrsi_coll_same(&s->orphans_into, &j->from)) {
        mrsi_read_error(r, "orphans", "into", "is `from` itself; use `keep`");
    }
}

static void
make_edits(struct mrsi_read *r, struct mrsi_rollup *s)
{
    struct mrs_edit *fields = NULL;
    if (!mrsi_read_edit(r, "fields", s->path, s->n, &fields)) {
        return;
    }
    s->added = (struct mrsi_added){s->path, s->n, fields, "fields", s->errors, s->replace, s->flat};
    if (s->as.n) {
        s->inner = fields;
        s->added = (struct mrsi_added){&s->as, 1, NULL, "as", s->errors, s->replace, s->flat && s->as.n == 1};
        mrsi_read_edit(r, "as", &s->as, 1, &s->added.edit);
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_rollup *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    bool match = mrsi_slot(&r, "match").v.type != MRS_MISSING;
    s->by = mrsi_slot(&r, "by").v.type != MRS_MISSING;
    read_words(&r, s);
    read_fields(&r, s);
    if (match == s->by) {
        mrsi_read_error(&r, match ? "by" : NULL, NULL, match ? "does not go with `match`"
                                                             : "needs `match` (into existing documents) or `by` (a "
                                                               "document for each group)");
    } else if (s->by) {
        read_by(&r, s);
        check_by(&r);
        read_small(&r, s);
        s->plain = mrsi_read_good(&r) && mrsi_rollup_is_plain(s);
    } else if (mrsi_join_read(&r, &s->join, false)) {
        check_match(&r, s);
        s->join.refs = false; /* all matches of a document go to one place, without duplicates, in their order */
        mrsi_join_settle(&s->join);
    }
    if (mrsi_read_good(&r)) {
        make_edits(&r, s);
    }
    s->side_orphans = s->orphans == ROLLUP_ORPHANS_INTO ? 2 : -1;
    return mrsi_read_end(&r, state);
}

/* ---- small kernels ---- */
static enum mrs_status
takes_part(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, bool *yes)
{
    const struct mrsi_rollup *s = state;
    return mrsi_step_where(side == 0 ? s->join.where : NULL, c, doc, yes);
}

static enum mrs_status
join_keys(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, struct mrs_keys *k)
{
    return mrsi_join_keys(&((const struct mrsi_rollup *)state)->join, c, side, doc, k);
}

static enum mrs_status
payload(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    size_t start = out->n, at = mrsi_put_open(out);
    struct mrs_eval ev = mrsi_step_eval(c, doc);
    struct mrs_eval_fields room;
    mrsi_step_fields(c, &ev, &room);
    mrsi_put_head(out, MRS_BINARY, "", 0);
    size_t bytes = mrsi_put_open(out);
    mrs_buf_byte(out, 0); /* subtype */
    enum mrs_status st = mrsi_rollup_arguments(state, c, &ev, out);
    if (!out->bad) {
        mrs_put32(out->p + bytes, (uint32_t)(out->n - bytes - 5));
    }
    mrsi_put_close(out, at);
    MRS_THEN(st, mrsi_buf_end(out, start, c, "fields"));
    if (st != MRS_OK) {
        out->n = start;
    }
    return st;
}

static enum mrs_status
order(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out)
{
    const struct mrsi_rollup *s = state;
    return mrsi_step_sort_key(c, s->sort, doc, out, "sort");
}

static enum mrs_fate
fate(const void *state, unsigned used, int *side)
{
    const struct mrsi_rollup *s = state;
    *side = -1;
    if (!used) {
        switch (s->orphans) {
        case ROLLUP_ORPHANS_DROP: return MRS_FATE_DROPPED;
        case ROLLUP_ORPHANS_REFUSE: return MRS_FATE_REFUSED;
        case ROLLUP_ORPHANS_INTO: *side = s->side_orphans; return MRS_FATE_TAKEN;
        default: return MRS_FATE_STAYS;
        }
    }
    return (used & MRS_USED_LEFT) || s->keep == ROLLUP_KEEP_ALL ? MRS_FATE_STAYS : MRS_FATE_TAKEN;
}

static const struct mrs_join_ops join_ops = {takes_part, join_keys, payload, order, mrsi_rollup_splice, fate};

static void
remark(const void *state, uint32_t i, char *text, size_t size)
{
    const struct mrsi_rollup *s = state;
    bool own = i && i < MRS_REMARKS - 1 && i - 1 < s->n_stores && s->total[i - 1] < s->n;
    mrsi_group_remark(i, own ? s->path[s->total[i - 1]].text : NULL, text, size);
}

const struct mrs_step_type mrsi_step_rollup = {
    .name = "rollup",
    .summary = "computes values from many documents",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .example = "from: orders\ninto: customers\nmatch: { customerId: _id }\n"
               "fields: { orders: { $sum: 1 }, spent: { $sum: $amount } }\n\nby: $customerId\nas: stats\n"
               "where: { status: paid }\nsort: { createdAt: 1 }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = mrsi_rollup_describe,
    .invert = mrsi_rollup_invert,
    .catalog = mrsi_rollup_catalog,
    .work_size = sizeof(struct rollup_work),
    .remark = remark,
    .work_clear = mrsi_rollup_work_clear,
    .join = &join_ops,
    .fold = &mrsi_rollup_fold_ops,
};

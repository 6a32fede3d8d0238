/* SPDX-License-Identifier: Apache-2.0 */
/* lower_window.c - converts window to `$setWindowFields`.
 *
 * Each operator computes a field __mrs_0, __mrs_1, ..., and one stage computes the fields of the plan from these, in
 * the order of the plan: servers add fields of `$setWindowFields` in any order, and count with longs. A sliding window
 * is collected and then added up, because servers that subtract values from a total round differently. */
#include "lower_join.h"

#include <stdio.h>

#define OPERATORS \
    "window operators other than $documentNumber, $rank, $denseRank, $shift, $locf, $sum, $avg, $min, $max, $first, " \
    "$last, $push and $count: servers round or order otherwise: use the client engine"
#define FRAMES \
    "a window by `range`, one without an end that begins in the group, or one of more than 1000 documents: use the " \
    "client engine"
#define RANKS "a rank in an order of several fields, which no server takes: use the client engine"

enum { WINDOWS = 32, WIDEST = 1000 };
struct lower_frame {
    bool open_lo, open_hi; /* unbounded */
    int64_t lo, hi;
};
struct lower_window_op {
    const char *name; /* $sum */
    struct mrs_val arg;
    struct lower_frame frame;
};
struct lower_window {
    struct lower_window_op op[WINDOWS];
    uint32_t n;
    bool running; /* the default window of a field without `window` */
    const char *why;
};

/* ---- reading ---- */
#define ALWAYS \
    " $documentNumber $rank $denseRank $shift $expMovingAvg $derivative $integral $locf $linearFill $push $addToSet " \
    "$count $top $topN $bottom $bottomN "
#define ACCUMULATES \
    " $sum $avg $min $max $first $last $firstN $lastN $minN $maxN $stdDevPop $stdDevSamp $median $percentile "
#define RANKED " $rank $denseRank "
#define KNOWN " $documentNumber $rank $denseRank $shift $locf "

/* Is a value an operator over other documents? At the top of a field an accumulator always is, below it only if its
 * name has no other meaning, or with `window` next to it. */
static bool
is_window_op(struct mrs_val v, bool top, struct mrs_elem *op)
{
    struct mrs_walk w;
    if (!mrsi_lower_is_operator(v)) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(v));
    bool meant = top || mrs_doc_get(mrs_val_view(v), "window").type != MRS_MISSING;
    return mrs_walk_next(&w, op) == 1 && (mrsi_lower_is_one_of(ALWAYS, op->name) ||
                                          (meant && mrsi_lower_is_one_of(ACCUMULATES, op->name)));
}

static bool
read_bound(struct mrs_val v, bool *open, int64_t *at)
{
    *open = mrs_val_is_text(v, "unbounded");
    *at = 0;
    return *open || mrs_val_is_text(v, "current") || (mrs_val_integral(v, at) && *at >= INT32_MIN && *at <= INT32_MAX);
}

static bool
read_frame(const struct lower_window *w, struct mrs_val v, struct lower_frame *f)
{
    *f = (struct lower_frame){.open_lo = true, .open_hi = v.type == MRS_MISSING ? !w->running : true};
    if (mrs_val_is_text(v, "running")) {
        f->open_hi = false;
    } else if (v.type == MRS_DOCUMENT) {
        struct mrs_val list = mrs_doc_get(mrs_val_view(v), "documents");
        struct mrs_view pair = list.type == MRS_ARRAY ? mrs_val_view(list) : mrs_empty_doc();
        return read_bound(mrs_doc_get(pair, "0"), &f->open_lo, &f->lo) &&
               read_bound(mrs_doc_get(pair, "1"), &f->open_hi, &f->hi) &&
               (f->open_lo || (!f->open_hi && f->hi - f->lo < WIDEST));
    }
    return true;
}

static bool
is_shift(struct mrs_val v)
{
    int64_t by = 0;
    struct mrs_val n = v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(v), "by") : mrs_missing();
    return mrs_val_integral(n, &by) && by >= INT32_MIN && by <= INT32_MAX;
}

static void
read_op(struct mrsi_lower *l, struct lower_window *w, const struct mrs_elem *el, struct mrs_val around)
{
    MRS_ASSERT(w->n <= WINDOWS && around.type == MRS_DOCUMENT);
    struct lower_window_op op = {.name = el->name, .arg = el->v};
    struct mrs_val sort = mrsi_lower_key(l, "sort");
    if (!mrsi_lower_is_one_of(MRSI_LOWER_ACCUMULATORS, el->name) && !mrsi_lower_is_one_of(KNOWN, el->name)) {
        w->why = OPERATORS;
    } else if (!read_frame(w, mrs_doc_get(mrs_val_view(around), "window"), &op.frame)) {
        w->why = FRAMES;
    } else if (mrsi_lower_is_one_of(RANKED, el->name) && (sort.type != MRS_DOCUMENT || mrs_val_count(sort) != 1)) {
        w->why = RANKS;
    } else if (strcmp(el->name, "$shift") == 0 && !is_shift(el->v)) {
        w->why = "a `by` that no server takes for $shift: use the client engine";
    } else if (w->n == WINDOWS) {
        w->why = MRSI_LOWER_MANY;
    } else {
        w->op[w->n++] = op;
    }
}

/* ---- the fields of the plan, from results of operators ---- */
static bool
slides(const struct lower_window_op *op)
{
    return mrsi_lower_is_one_of(MRSI_LOWER_ACCUMULATORS, op->name) && !op->frame.open_lo;
}

/* The result of an operator, as an expression of its field. */
static struct mrs_val
op_result(struct mrsi_lower *l, const struct lower_window *w)
{
    MRS_ASSERT(w->n > 0 && w->n <= WINDOWS);
    const struct lower_window_op *op = &w->op[w->n - 1];
    char path[24];
    snprintf(path, sizeof path, "$__mrs_%u", w->n - 1);
    struct mrs_view d;
    if (mrsi_lower_is_one_of(RANKED, op->name)) {
        d = mrsi_lower_doc(l, "{v: {$toInt: %s}}", path);
    } else if (!slides(op) || strcmp(op->name, "$push") == 0) {
        d = mrsi_lower_doc(l, "{v: %s}", path);
    } else if (strcmp(op->name, "$count") == 0) {
        d = mrsi_lower_doc(l, "{v: {$size: %s}}", path);
    } else if (mrsi_lower_is_one_of(" $first $last ", op->name)) {
        d = mrsi_lower_doc(l, "{v: {$cond: [{$eq: [{$size: %s}, 0]}, null, {$arrayElemAt: [%s, %i]}]}}", path, path,
                           (int64_t)(strcmp(op->name, "$first") == 0 ? 0 : -1));
    } else {
        d = mrsi_lower_doc(l, "{v: {%s: %s}}", op->name, path);
    }
    return mrs_doc_get(d, "v");
}

/* [__mrs_0, __mrs_1, ...]: the fields of the operators. */
static struct mrs_val
names(struct mrsi_lower *l, const struct lower_window *w)
{
    MRS_ASSERT(w->n <= WINDOWS);
    mrsi_lower_open(l);
    for (uint32_t i = 0; i < w->n; i++) {
        char name[24];
        int n = snprintf(name, sizeof name, "__mrs_%u", i);
        mrs_build_item(&l->b, mrs_make_text(l->arena, name, (uint32_t)n));
    }
    struct mrs_view list = mrsi_lower_end(l);
    return (struct mrs_val){list.p, list.n, MRS_ARRAY};
}

/* Visits one value: an operator becomes the path to its result. True: a document or an array to visit. */
static bool
put_part(struct mrsi_lower *l, struct lower_window *w, const struct mrs_elem *el, bool top)
{
    struct mrs_elem op;
    bool literal = strcmp(el->name, "$literal") == 0;
    if (!literal && is_window_op(el->v, top, &op)) {
        read_op(l, w, &op, el->v);
        if (!w->why) {
            mrs_build_val(&l->b, el->name, el->name_len, op_result(l, w));
        }
        return false;
    }
    bool opaque = literal || (el->v.type != MRS_DOCUMENT && el->v.type != MRS_ARRAY);
    if (opaque) {
        mrs_build_elem(&l->b, el);
    } else {
        mrs_build_open(&l->b, el->name, el->name_len, el->v.type);
    }
    return !opaque;
}

/* The fields with their operators replaced, in the arena. */
static struct mrs_view
read_fields(struct mrsi_lower *l, struct lower_window *w)
{
    struct mrs_walk at[MRS_DEPTH_MAX];
    struct mrs_elem el;
    int depth = 1;
    mrsi_lower_open(l);
    mrs_walk_init(&at[0], mrs_val_view(mrsi_lower_key(l, "fields")));
    while (depth > 0 && !w->why) {
        if (mrs_walk_next(&at[depth - 1], &el) != 1) {
            depth--;
            if (depth > 0) {
                mrs_build_close(&l->b);
            }
        } else if (put_part(l, w, &el, depth == 1)) {
            w->why = depth == MRS_DEPTH_MAX ? mrsi_lower_no_stages(l, "fields") : w->why;
            if (depth < MRS_DEPTH_MAX) {
                mrs_walk_init(&at[depth++], mrs_val_view(el.v));
            }
        }
    }
    return w->why ? mrs_empty_doc() : mrsi_lower_end(l);
}

/* ---- the stages ---- */
static struct mrs_val
bound(struct mrsi_lower *l, bool open, int64_t at)
{
    return mrs_doc_get(open ? mrsi_lower_doc(l, "{v: 'unbounded'}") : mrsi_lower_doc(l, "{v: %i}", at), "v");
}

/* Missing becomes null, which some servers do by themselves and others do not. */
static struct mrs_view
output(struct mrsi_lower *l, const struct lower_window_op *op)
{
    MRS_ASSERT(op->name);
    const struct lower_frame *f = &op->frame;
    if (strcmp(op->name, "$shift") == 0) {
        struct mrs_view arg = mrs_val_view(op->arg);
        struct mrs_val other = mrs_doc_get(arg, "default");
        return mrsi_lower_doc(l, "{$shift: {output: {$ifNull: [%v, null]}, by: %v, default: %v}}",
                              mrs_doc_get(arg, "output"), mrs_doc_get(arg, "by"),
                              other.type == MRS_MISSING ? mrs_null() : other);
    }
    if (strcmp(op->name, "$documentNumber") == 0) { /* which itself accepts only one field of `sort` */
        return mrsi_lower_doc(l, "{$sum: 1, window: {documents: ['unbounded', 'current']}}");
    }
    if (mrsi_lower_is_one_of(KNOWN, op->name)) {
        return mrsi_lower_doc(l, "{%s: %v}", op->name, op->arg);
    }
    bool place = mrsi_lower_is_one_of(" $first $last ", op->name), count = strcmp(op->name, "$count") == 0;
    struct mrs_view arg = place   ? mrsi_lower_doc(l, "{v: {$ifNull: [%v, null]}}", op->arg)
                          : count ? mrsi_lower_doc(l, "{v: 1}")
                                  : mrsi_lower_doc(l, "{v: %v}", op->arg);
    return mrsi_lower_doc(l, "{%s: %v, window: {documents: [%v, %v]}}",
                          slides(op) ? "$push"
                          : count    ? "$sum"
                                     : op->name,
                          mrs_doc_get(arg, "v"), bound(l, f->open_lo, f->lo), bound(l, f->open_hi, f->hi));
}

/* {__mrs_0: ..., ...} of the ranks, which need the plan's order alone, or of all others; n 0: none. */
static struct mrs_view
outputs(struct mrsi_lower *l, const struct lower_window *w, bool ranks)
{
    struct mrs_view part[WINDOWS], d = {NULL, 0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        bool mine = mrsi_lower_is_one_of(RANKED, w->op[i].name) == ranks;
        part[i] = mine ? output(l, &w->op[i]) : d;
        n += mine;
    }
    if (n == 0) {
        return d;
    }
    mrsi_lower_open(l);
    for (uint32_t i = 0; i < w->n; i++) {
        char name[24];
        int k = snprintf(name, sizeof name, "__mrs_%u", i);
        if (part[i].n) {
            mrs_build_val(&l->b, name, (uint32_t)k, mrs_view_val(part[i]));
        }
    }
    return mrsi_lower_end(l);
}

/* The group of a document. In a key of one part, also in a map, missing and null are one group for the step: a server
 * keeps them apart in a map, and older ones may split a group in which both are sorted alike. */
static struct mrs_val
partition(struct mrsi_lower *l)
{
    struct mrs_val by = mrsi_lower_key(l, "by");
    struct mrs_walk w;
    struct mrs_elem only;
    if (by.type == MRS_DOCUMENT && !mrsi_lower_is_operator(by)) {
        mrs_walk_init(&w, mrs_val_view(by));
        if (mrs_val_count(by) != 1 || mrs_walk_next(&w, &only) != 1) {
            return by;
        }
        by = only.v;
    }
    return by.type == MRS_MISSING || by.type == MRS_NULL
               ? mrs_missing()
               : mrs_doc_get(mrsi_lower_doc(l, "{v: {$ifNull: [%v, null]}}", by), "v");
}

static void
put_window(struct mrsi_lower *l, struct mrs_val order, struct mrs_view out)
{
    if (out.n) {
        mrsi_lower_stage(l, "{$setWindowFields: {partitionBy: %v, sortBy: %v, output: %d}}", partition(l), order, out);
    }
}

/* Counts keys that servers before MongoDB 8 rank differently: missing values and arrays. */
static bool
count_ranks(struct mrsi_lower *l, bool any)
{
    MRS_ASSERT(l->out->on);
    struct mrs_val sort = mrsi_lower_key(l, "sort");
    struct mrs_walk w;
    struct mrs_elem el;
    if (!any) {
        return true;
    }
    mrs_walk_init(&w, mrs_val_view(sort));
    if (mrs_walk_next(&w, &el) != 1) {
        return true;
    }
    struct mrs_view odd = mrsi_lower_doc(l, "{$expr: {$in: [{$type: %s}, ['missing', 'undefined', 'array']]}}",
                                         mrsi_lower_path(l, el.name));
    return mrsi_lower_count(l, l->out->on, odd, "documents whose field of `sort` is missing or an array: ranks of "
                                                "these are another thing on older servers");
}

const char *
mrsi_lower_window(struct mrsi_lower *l)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields"), by = mrsi_lower_key(l, "by");
    struct lower_window w = {.running = mrsi_lower_has_word(l, "over", "running")};
    const char *why = mrsi_lower_judge_map(fields);
    if (why || !mrsi_lower_is_default(l, "errors", "refuse")) {
        return why ? why : MRSI_LOWER_ERRORS;
    }
    if (mrsi_lower_reads_root(l)) {
        return MRSI_LOWER_ROOT;
    }
    struct mrs_view made = read_fields(l, &w);
    if (w.why || l->failed) {
        return w.why;
    }
    struct mrs_view ranks = outputs(l, &w, true), others = outputs(l, &w, false);
    struct mrs_view order = mrsi_join_lower_sort(l), have = mrsi_lower_have(l, fields);
    struct mrs_val own = names(l, &w);
    struct mrs_view taken = mrsi_lower_doc(l, "{$or: [%d, %d]}", have, mrsi_lower_have(l, own));
    bool room = mrsi_lower_count(l, l->out->on, taken, "documents that have a field that is written already") &&
                count_ranks(l, ranks.n > 0) && mrsi_join_lower_count_sort(l, l->out->on) &&
                (by.type == MRS_MISSING || mrsi_join_lower_count_keys(l, l->out->on, by));
    mrsi_lower_begin(l, false);
    put_window(l, mrsi_lower_key(l, "sort"), ranks);
    put_window(l, mrs_doc_get(order, "$sort"), others);
    mrsi_lower_stage(l, "{$replaceWith: {$mergeObjects: ['$$ROOT', %d]}}", made);
    mrsi_lower_stage(l, "{$unset: %v}", own);
    l->out->whole = true;
    return room && mrsi_lower_write(l, l->out->on, NULL) ? NULL : MRSI_LOWER_MANY;
}

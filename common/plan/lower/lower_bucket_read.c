/* SPDX-License-Identifier: Apache-2.0 */
/* lower_bucket_read.c - reads the parameters of a bucket step, or finds the reason why a server cannot run it. */
#include "lower_bucket.h"

#define OWN_IDS "the `_id`s of its buckets are made of names and keys, as no server does: give `id`, or use the client"
#define ITEMS "`fields` as a list, where the fields of `by` are left out as well: write a map, or use the client engine"
#define ZONE "`every` in a time zone of its own, whose days servers cut otherwise: use the client engine"
#define FOLDS "an accumulator other than $sum, $avg, $min, $max, $first, $last, $push and $count: use the client engine"

/* 15m, or {unit, size, ...}. */
static const char *
read_every(struct mrsi_lower *l, struct mrs_val v, struct mrs_view *out)
{
    static const char *const units[] = {"second", "minute", "hour", "day", "week"};
    static const char letters[] = "smhdw";
    *out = (struct mrs_view){NULL, 0};
    if (v.type == MRS_DOCUMENT) {
        struct mrs_view spec = mrs_val_view(v);
        struct mrs_val zone = mrs_doc_get(spec, "timezone"), size = mrs_doc_get(spec, "size");
        struct mrs_view one = mrsi_lower_doc(l, "{v: 1}");
        size = size.type == MRS_MISSING ? mrs_doc_get(one, "v") : size;
        *out = mrsi_lower_doc(l, "{unit: %v, binSize: %v, startOfWeek: %v}", mrs_doc_get(spec, "unit"), size,
                              mrs_doc_get(spec, "startOfWeek"));
        return zone.type == MRS_MISSING || mrs_val_is_text(zone, "UTC") ? NULL : ZONE;
    }
    if (v.type == MRS_STRING) {
        uint32_t n;
        const char *text = mrs_val_text(v, &n), *at = n > 1 ? strchr(letters, text[n - 1]) : NULL;
        int64_t size = 0;
        for (uint32_t i = 0; i + 1 < n && size < INT32_MAX; i++) {
            size = size * 10 + (text[i] - '0');
        }
        if (!at || size > INT32_MAX) {
            return mrsi_lower_no_stages(l, "every");
        }
        *out = mrsi_lower_doc(l, "{unit: %s, binSize: %i}", units[at - letters], size);
    }
    return NULL;
}

static const char *
read_words(struct mrsi_lower *l, struct mrsi_lower_bucket *b)
{
    struct mrs_val by = mrsi_lower_key(l, "by"), time = mrsi_lower_key(l, "time"), max = mrsi_lower_key(l, "max");
    const char *name = mrsi_lower_name(l, "time");
    b->items = mrsi_lower_name(l, "items");
    b->start = mrsi_lower_name(l, "start");
    b->end = mrsi_lower_name(l, "end");
    if (!b->items || (mrsi_lower_has_key(l, "start") && !b->start) || (mrsi_lower_has_key(l, "end") && !b->end)) {
        return MRSI_LOWER_DEEP;
    }
    if (time.type != MRS_MISSING && !name && (time.type != MRS_DOCUMENT || !mrsi_lower_is_operator(time))) {
        return MRSI_LOWER_DEEP;
    }
    if (name) {
        b->time = mrsi_lower_doc(l, "{v: %s}", mrsi_lower_path(l, name));
    } else if (time.type != MRS_MISSING) {
        b->time = mrsi_lower_doc(l, "{v: %v}", time);
    }
    const char *why = by.type == MRS_ARRAY ? mrsi_lower_judge_list(by) : NULL;
    why = why || by.type != MRS_DOCUMENT ? why : mrsi_lower_judge_map(by);
    b->by = why ? mrs_empty_doc()
            : by.type == MRS_ARRAY    ? mrsi_lower_own_paths(l, by)
            : by.type == MRS_DOCUMENT ? mrs_val_view(by)
                                      : mrs_empty_doc();
    b->max = 0;
    bool bad = max.type != MRS_MISSING && (!mrs_val_integral(max, &b->max) || b->max < 1 || b->max > INT32_MAX);
    return why ? why : bad ? mrsi_lower_no_stages(l, "max") : read_every(l, mrsi_lower_key(l, "every"), &b->every);
}

#define OTHERS \
    " $addToSet $firstN $lastN $minN $maxN $top $topN $bottom $bottomN $stdDevPop $stdDevSamp $median $percentile " \
    "$mergeObjects $concatArrays $setUnion $accumulator "

/* The accumulators of `set`. */
static const char *
read_folds(struct mrsi_lower *l, struct mrsi_lower_bucket *b)
{
    struct mrs_val set = mrsi_lower_key(l, "set");
    struct mrs_walk w, in;
    struct mrs_elem el, op;
    const char *why = set.type == MRS_DOCUMENT ? mrsi_lower_judge_map(set) : NULL;
    b->n_fold = 0;
    mrs_walk_init(&w, set.type == MRS_DOCUMENT ? mrs_val_view(set) : mrs_empty_doc());
    while (!why && mrs_walk_next(&w, &el) == 1) {
        if (!mrsi_lower_is_operator(el.v)) {
            continue;
        }
        mrs_walk_init(&in, mrs_val_view(el.v));
        bool one = mrs_walk_next(&in, &op) == 1;
        if (one && mrsi_lower_is_one_of(MRSI_LOWER_ACCUMULATORS, op.name)) {
            why = b->n_fold == MRSI_BUCKET_FOLDS ? MRSI_LOWER_MANY : NULL;
            if (!why) {
                b->fold[b->n_fold++] = el;
            }
        } else if (one && mrsi_lower_is_one_of(OTHERS, op.name)) {
            why = FOLDS;
        }
    }
    return why;
}

const char *
mrsi_lower_read_bucket(struct mrsi_lower *l, struct mrsi_lower_bucket *b)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields"), drop = mrsi_lower_key(l, "drop");
    *b = (struct mrsi_lower_bucket){.n_fold = 0};
    if (!mrsi_lower_has_key(l, "id")) {
        return OWN_IDS;
    }
    if (l->out->step->desc.conflicts != MRS_CONFLICTS_REFUSE) {
        return MRSI_LOWER_CONFLICTS;
    }
    const char *why = mrsi_lower_not_default(l, "errors", "refuse");
    why = why ? why : mrsi_lower_not_default(l, "untimed", "refuse");
    if (why) {
        return why;
    }
    if (fields.type == MRS_ARRAY || (fields.type == MRS_DOCUMENT && drop.type != MRS_MISSING)) {
        return ITEMS;
    }
    if (mrsi_lower_reads_root(l)) {
        return MRSI_LOWER_ROOT;
    }
    why = drop.type == MRS_MISSING ? NULL : mrsi_lower_judge_list(drop);
    why = why ? why : read_words(l, b);
    return why ? why : read_folds(l, b);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* window.c - the step `window`: ranks, running values and filled gaps in groups. Compiles the step. */
#include "window.h"
#include "mongoreshape/value.h"
#include "steps/kit/shape.h"
#include <stdio.h>

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents receive the values"},
    {"fields", MRS_ARG_MAP, true, NULL, "name: expression with operators over a group, as {$rank: {}}"},
    {"by", MRS_ARG_ANY, false, NULL, "the key of a group: an expression, a map of them, or null for one group of all"},
    {"sort", MRS_ARG_SORT, false, NULL, "order inside a group; default: input order"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query are in a group"},
    {"over", MRS_ARG_CHOICE, false, "group|running", "range of operators without `window`: the whole group, or its "
                                                     "documents up to this one"},
    {"errors", MRS_ARG_CHOICE, false, MRSI_ERRORS_CHOICES, "when an expression or a dotted write fails; by field"},
    {"replace", MRS_ARG_BOOL, false, NULL, "overwrite existing fields"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow; default true"},
};

/* The only key of `sort`, and its direction. */
static void
read_order(struct mrsi_read *r, struct mrsi_window *s)
{
    struct mrsi_slot slot = mrsi_slot(r, "sort");
    struct mrs_walk w;
    struct mrs_elem e;
    int64_t way;
    if (!mrsi_read_sort(r, slot, &s->sort) || mrs_val_count(slot.v) != 1) {
        return;
    }
    mrs_walk_init(&w, mrs_val_view(slot.v));
    if (mrs_walk_next(&w, &e) == 1) {
        s->sort_path = mrsi_read_text_of(r, "%s", e.name);
        s->ascending = mrs_val_integral(e.v, &way) && way == 1;
    }
}

/* Warns about `sort` with totals of whole groups, where running totals are usually intended. */
static void
check_sort(struct mrsi_read *r, const struct mrsi_window *s)
{
    static const char *const totals[] = {"$sum",   "$avg",       "$min",        "$max",       "$count",
                                         "$median", "$stdDevPop", "$stdDevSamp", "$percentile"};
    bool idle = s->sort && s->n_op;
    for (uint32_t i = 0; i < s->n_op && idle; i++) {
        uint32_t k = 0;
        while (k < sizeof totals / sizeof *totals && strcmp(s->op[i].name, totals[k]) != 0) {
            k++;
        }
        idle = s->op[i].common && k < sizeof totals / sizeof *totals;
    }
    if (idle) {
        mrsi_read_warn(r, "sort", NULL, "changes nothing, for the values are those of whole groups; with "
                       "`window: running` next to the operator, or `over: running`, they go up to each document");
    }
}

/* Warns about running values in an order that the plan does not give. */
static void
check_order(struct mrsi_read *r, const struct mrsi_window *s)
{
    bool ordered = false;
    for (uint32_t i = 0; i < s->n_op && !s->sort; i++) {
        ordered = ordered || !(s->op[i].common || strcmp(s->op[i].name, "$documentNumber") == 0);
    }
    if (ordered) {
        mrsi_read_warn(r, "fields", NULL, "follow the order of the documents, and without `sort` that is their order "
                       "in the collection");
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_window *s = mrsi_read_begin(&r, args, sizeof *s, e);
    int over = 0;
    if (!s) {
        return MRS_DEAD;
    }
    s->indexes = true;
    s->x = WINDOW_NONE;
    s->added.key = "fields";
    mrsi_read_coll(&r, mrsi_slot(&r, "in"), &s->in);
    mrsi_read_by(&r, mrsi_slot(&r, "by"), &s->by);
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    mrsi_read_choice(&r, mrsi_slot(&r, "over"), &over);
    mrsi_read_choice(&r, mrsi_slot(&r, "errors"), &s->added.errors);
    mrsi_read_bool(&r, mrsi_slot(&r, "replace"), &s->added.replace);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    read_order(&r, s);
    s->running = over == 1;
    mrsi_window_read_fields(&r, s);
    mrsi_window_number_args(s);
    check_sort(&r, s);
    check_order(&r, s);
    return mrsi_read_end(&r, state);
}

static void
remark(const void *state, uint32_t i, char *text, size_t size)
{
    (void)state;
    mrsi_group_remark(i, NULL, text, size);
}

static const struct mrs_window_ops window_ops = {mrsi_window_enter, mrsi_window_group, mrsi_window_splice};

const struct mrs_step_type mrsi_step_window = {
    .name = "window",
    .since = 2,
    .stars = MRS_STARS_IN,
    .summary = "computes numbers and running values of documents in their group",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .example = "in: payments\nfields: { balance: { $sum: $amount, window: running } }\n\nby: $account\n"
               "sort: { at: 1 }\nwhere: { state: done }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = mrsi_window_describe,
    .invert = mrsi_window_invert,
    .catalog = mrsi_window_catalog,
    .work_size = sizeof(struct window_work),
    .work_clear = mrsi_window_work_clear,
    .remark = remark,
    .fields = true,
    .window = &window_ops,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* merge_plan.c - a grouped stage on shards: all of its work is done where their results are merged. */
#include "stage_nodes.h"

struct merge_plan {
    struct mdb_dpl face;
    struct ext_spec *spec;
    bool extracted;
};
struct merge_list {
    struct mdb_dpl_list face;
    struct mrs_mem *mem;
    struct mdb_logical *stage; /* NULL: ownership passed on */
};

/* ---- the list ---- */
static void
list_destroy(struct mdb_dpl_list *l)
{
    struct merge_list *list = (struct merge_list *)(void *)l;
    if (list->stage) {
        list->stage->calls->destroy(list->stage);
    }
    mrs_free(list->mem, list);
}

static size_t
list_size(const struct mdb_dpl_list *l)
{
    (void)l;
    return 1;
}

static struct mdb_status *
list_transfer(struct mdb_dpl_list *l, struct mdb_dpl_parts *to)
{
    struct merge_list *list = (struct merge_list *)(void *)l;
    if (to->n != 1 || !list->stage) {
        return ext_misused(EXT_WRONG_SIZE);
    }
    to->part[0] = (struct mdb_dpl_part){1, list->stage};
    list->stage = NULL;
    return ext_ok();
}

static const struct mdb_dpl_list_calls list_calls = {list_destroy, list_size, list_transfer};

/* ---- the plan ---- */
static void
plan_destroy(struct mdb_dpl *d)
{
    struct ext_spec *spec = ((struct merge_plan *)(void *)d)->spec;
    mrs_free(spec->home->mem, d);
    ext_spec_drop(spec);
}

static struct mdb_status *
extract_shards(struct mdb_dpl *d, struct mdb_dpl_list **out)
{
    (void)d;
    (void)out;
    return ext_ok();
}

static struct mdb_status *
extract_merging(struct mdb_dpl *d, struct mdb_dpl_list **out)
{
    struct merge_plan *p = (struct merge_plan *)(void *)d;
    struct mrs_mem *mem = p->spec->home->mem;
    if (p->extracted) {
        return ext_ok();
    }
    struct merge_list *list = mrs_zalloc(mem, sizeof *list);
    if (!list) {
        return ext_no_memory();
    }
    *list = (struct merge_list){{&list_calls}, mem, NULL};
    struct mdb_status *s = ext_logical_make(p->spec, &list->stage);
    if (!ext_is_ok(s)) {
        mrs_free(mem, list);
        return s;
    }
    p->extracted = true;
    *out = &list->face;
    return ext_ok();
}

static struct mdb_status *
no_sort_pattern(const struct mdb_dpl *d, struct mdb_buf **out)
{
    (void)d;
    (void)out;
    return ext_ok();
}

static const struct mdb_dpl_calls plan_calls = {plan_destroy, extract_shards, extract_merging, no_sort_pattern};

struct mdb_status *
ext_dpl_make(struct ext_spec *spec, struct mdb_dpl **out)
{
    MRS_ASSERT(spec->users > 0 && out);
    struct merge_plan *p = mrs_zalloc(spec->home->mem, sizeof *p);
    if (!p) {
        return ext_no_memory();
    }
    *p = (struct merge_plan){{&plan_calls}, ext_spec_retain(spec), false};
    *out = &p->face;
    return ext_ok();
}

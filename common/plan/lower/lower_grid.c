/* SPDX-License-Identifier: Apache-2.0 */
/* lower_grid.c - converts grid to stages: distinct values of a field, and lists unwound next to them.
 *
 * The first axis of a collection begins the pipeline, since it needs a collection; the order of axes only affects the
 * order of the documents, which have their `_id`s. */
#include "lower.h"

#define OWN_IDS "the `_id`s of its documents are made of the axes: give `id`, or use the client engine"
#define CONSTANTS "axes of constants alone, and no collection that a pipeline could begin with: use the client engine"
#define OWN_AXIS "an axis of the collection that is filled, or of another database: use the client engine"

struct lower_grid {
    struct mrs_val by;
    const char *begin; /* the first axis */
};

/* {from, field} of an axis; false: a list of values. */
static bool
is_read(struct mrs_val axis, const char **from, const char **field)
{
    struct mrs_view d = axis.type == MRS_DOCUMENT ? mrs_val_view(axis) : mrs_empty_doc();
    struct mrs_val c = mrs_doc_get(d, "from"), f = mrs_doc_get(d, "field");
    uint32_t n;
    *from = c.type == MRS_STRING ? mrs_val_text(c, &n) : "";
    *field = f.type == MRS_STRING ? mrs_val_text(f, &n) : "";
    return c.type != MRS_MISSING;
}

static const struct mrs_coll *
side_of(const struct mrsi_lower *l, const char *name)
{
    MRS_ASSERT(name);
    const struct mrs_desc *d = &l->out->step->desc;
    for (uint32_t i = 1; i < d->n_sides; i++) {
        if (strcmp(d->sides[i].coll.coll, name) == 0) {
            return &d->sides[i].coll;
        }
    }
    return NULL;
}

static const char *
read_grid(struct mrsi_lower *l, struct lower_grid *g)
{
    const struct mrs_coll *into = &l->out->step->desc.sides[0].coll, *on;
    struct mrs_val fields = mrsi_lower_key(l, "fields"), id = mrsi_lower_key(l, "id");
    struct mrs_walk w;
    struct mrs_elem el;
    const char *from, *field, *why = mrsi_lower_judge_map(g->by = mrsi_lower_key(l, "by"));
    why = why || fields.type == MRS_MISSING ? why : mrsi_lower_judge_map(fields);
    g->begin = NULL;
    mrs_walk_init(&w, mrs_val_view(g->by));
    while (!why && mrs_walk_next(&w, &el) == 1) {
        if (is_read(el.v, &from, &field)) {
            on = side_of(l, from);
            why = !on || strcmp(on->db, into->db) != 0 || strcmp(on->ns, into->ns) == 0 ? OWN_AXIS
                  : mrsi_lower_plain(field, (uint32_t)strlen(field))                    ? NULL
                                                                                        : MRSI_LOWER_DEEP;
            g->begin = g->begin ? g->begin : el.name;
            l->out->on = on && g->begin == el.name ? on : l->out->on;
        }
    }
    if (!why && l->out->step->desc.conflicts != MRS_CONFLICTS_REFUSE) {
        return MRSI_LOWER_CONFLICTS;
    }
    return why                                                         ? why
           : id.type == MRS_MISSING || mrs_val_is_text(id, "new")     ? OWN_IDS
           : mrsi_lower_reads_root(l)                                  ? MRSI_LOWER_ROOT
           : g->begin                                                  ? NULL
                                                                       : CONSTANTS;
}

/* The distinct values of a field, as documents {v}: of equal ones the first. */
static struct mrs_view
distinct(struct mrsi_lower *l, const char *field)
{
    const char *path = mrsi_lower_path(l, field);
    return mrsi_lower_doc(l,
                          "[{$match: {%s: {$exists: true}}}, {$sort: {_id: 1}}, {$replaceWith: {v: {$cond: [{$isArray: "
                          "%s}, %s, [%s]]}}}, {$unwind: '$v'}, {$group: {_id: '$v', v: {$first: '$v'}}}]",
                          field, path, path, path);
}

static bool
count_values(struct mrsi_lower *l, const struct mrs_coll *on, const char *field)
{
    MRS_ASSERT(on->ns);
    const char *path = mrsi_lower_path(l, field);
    struct mrs_view odd = mrsi_lower_doc(l,
                                         "{$expr: {$anyElementTrue: [{$map: {input: {$cond: [{$isArray: %s}, %s, "
                                         "[%s]]}, as: 'e', in: {$in: [{$type: '$$e'}, ['object', 'array', 'undefined', "
                                         "'regex']]}}}]}}",
                                         path, path, path);
    return mrsi_lower_count(l, on, odd, "documents whose value of an axis is a document, an array or no value for an "
                                        "`_id`");
}

static void
put_axis(struct mrsi_lower *l, const struct lower_grid *g, const struct mrs_elem *axis)
{
    MRS_ASSERT(g->begin);
    const char *from, *field;
    if (!is_read(axis->v, &from, &field)) {
        mrsi_lower_stage(l, "{$set: {%s: %v}}", axis->name, axis->v);
        mrsi_lower_stage(l, "{$unwind: %s}", mrsi_lower_path(l, axis->name));
    } else if (strcmp(axis->name, g->begin) != 0) {
        mrsi_lower_stage(l, "{$lookup: {from: %s, pipeline: %a, as: '__mrs_m'}}", from, distinct(l, field));
        mrsi_lower_stage(l, "{$unwind: '$__mrs_m'}");
        mrsi_lower_stage(l, "{$set: {%s: '$__mrs_m.v'}}", axis->name);
        mrsi_lower_stage(l, "{$unset: ['__mrs_m']}");
    }
}

/* Each combination as a document. */
static void
put_grid(struct mrsi_lower *l, const struct lower_grid *g)
{
    struct mrs_val fields = mrsi_lower_key(l, "fields"), first;
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_view all = mrsi_lower_own_paths(l, g->by);
    const char *from, *field;
    first = mrs_doc_get(mrs_val_view(g->by), g->begin);
    (void)is_read(first, &from, &field);
    mrsi_lower_begin(l, true);
    mrs_walk_init(&w, distinct(l, field));
    while (mrs_walk_next(&w, &el) == 1) {
        mrs_build_item(&l->b, el.v);
    }
    mrsi_lower_stage(l, "{$replaceWith: {%s: '$v'}}", g->begin);
    mrs_walk_init(&w, mrs_val_view(g->by));
    while (mrs_walk_next(&w, &el) == 1) {
        put_axis(l, g, &el);
    }
    mrsi_lower_stage(l, "{$replaceWith: {$mergeObjects: [{_id: %v}, %v]}}", mrsi_lower_key(l, "id"),
                     fields.type == MRS_DOCUMENT ? fields : mrs_view_val(all));
}

const char *
mrsi_lower_grid(struct mrsi_lower *l)
{
    struct lower_grid g;
    struct mrs_walk w;
    struct mrs_elem el;
    const char *from, *field, *why = read_grid(l, &g);
    bool room = true;
    if (why) {
        return why;
    }
    mrs_walk_init(&w, mrs_val_view(g.by));
    while (room && mrs_walk_next(&w, &el) == 1) {
        room = !is_read(el.v, &from, &field) || count_values(l, side_of(l, from), field);
    }
    put_grid(l, &g);
    mrsi_lower_stage(l, "{$match: {$expr: {$in: [{$type: '$_id'}, ['missing', 'undefined', 'array', 'regex']]}}}");
    mrsi_lower_stage(l, "{$project: {_id: 1}}");
    room = room && mrsi_lower_count_stages(l, l->out->on, "documents whose `id` gives nothing that an `_id` can be");
    put_grid(l, &g);
    l->out->whole = true;
    return mrsi_lower_write(l, l->out->on, &l->out->step->desc.sides[0].coll) && room ? NULL : MRSI_LOWER_MANY;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c - decides which steps can be aggregation pipelines, and why others cannot.
 *
 * A step is shown as a pipeline only if the results of both were compared, byte for byte, on the test server
 * (tests/live/pipeline.sh). All others get a reason. */
#include "lower.h"

#define NO_ROW "no pipeline does what this step does: use the client engine"
#define CONDITIONS "`where` asks for values of another collection, and no filter can: use the client engine"
#define STARS "a star in the name of a collection, which no server knows: name each of them"
#define PLACES "a number in a path of `sort`, which servers take for a place in an array: use the client engine"
#define MATCHES " from into match where as keep replace nulls orphans errors oversize indexes "
/* keys: those that the pipeline supports, or that change no document; with any other key the client runs the step */
static const struct {
    const char *type;
    const char *(*lower)(struct mrsi_lower *l);
    const char *keys;
} rows[] = {
    {"set", mrsi_lower_set, " in fields where errors indexes "},
    {"unset", mrsi_lower_unset, " in fields where indexes "},
    {"replace", mrsi_lower_replace, " in with where errors indexes "},
    {"rename", mrsi_lower_rename, " in fields where replace indexes "},
    {"order", mrsi_lower_order, " in fields where "},
    {"cast", mrsi_lower_cast, " in fields where errors indexes "},
    {"pack", mrsi_lower_pack, " in fields as strip form key value where replace indexes "},
    {"unpack", mrsi_lower_unpack, " in as prefix form key value where replace indexes "},
    {"move", mrsi_lower_move, " from into where conflicts indexes "},
    {"delete", mrsi_lower_delete, " in where "},
    {"split", mrsi_lower_split, " from fields into where conflicts indexes "},
    {"union", mrsi_lower_union, " from into where conflicts tag replace indexes "},
    {"partition", mrsi_lower_partition, " from into by where conflicts others drop indexes "},
    {"extract", mrsi_lower_extract,
     " from path into refs parent_ref parent_key id position where conflicts errors extracted indexes "},
    {"unbucket", mrsi_lower_unbucket, " from into items by where keep conflicts errors id indexes "},
    {"embed", mrsi_lower_embed, MATCHES "one fields drop sort limit count empty reference dangling many "},
    {"copy", mrsi_lower_copy, MATCHES "fields at refs dangling many sort "},
    {"rollup", mrsi_lower_rollup, MATCHES "fields by empty sort "},
    {"link", mrsi_lower_link,
     " parent child parent_ref child_refs derive sort strip prefer dangling orphans indexes "},
    {"tree", mrsi_lower_tree, " in form to_form names separator where indexes "},
    {"window", mrsi_lower_window, " in by sort fields where over errors indexes "},
    {"bucket", mrsi_lower_bucket,
     " from into items by time every max fields set start end id untimed where keep drop conflicts errors indexes "},
    {"grid", mrsi_lower_grid, " into by fields id conflicts indexes "},
    {"copy_collection", mrsi_lower_copy_collection, " from into where indexes "},
    {"index", mrsi_lower_index, " in create drop indexes "},
    {"options", mrsi_lower_options, " in validator validationLevel validationAction indexes "},
    {"rename_collection", mrsi_lower_rename_collection, " from into indexes "},
    {"drop_collection", mrsi_lower_drop_collection, " in indexes "},
};

/* The first key of the step that is not in this list; NULL: none. */
static const char *
other_key(const struct mrsi_lower *l, const char *keys)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, l->body);
    while (mrs_walk_next(&w, &el) == 1) {
        if (!mrsi_lower_is_one_of(keys, el.name)) {
            return el.name;
        }
    }
    return NULL;
}

static bool
names_now(const struct mrsi_lower *l)
{
    return memmem(l->body.p, l->body.n, "$$NOW", 5) != NULL;
}

/* Fields that pipelines add and remove again. */
static bool
names_own_field(const struct mrsi_lower *l)
{
    return memmem(l->body.p, l->body.n, "__mrs_", 6) != NULL;
}

/* A number in a path of `sort` is the name of a field; in `$sort` it is a place in an array, too. */
static bool
sorts_by_place(const struct mrsi_lower *l)
{
    struct mrs_val sort = mrsi_lower_key(l, "sort");
    struct mrs_walk w;
    struct mrs_elem el;
    bool place = false;
    mrs_walk_init(&w, sort.type == MRS_DOCUMENT ? mrs_val_view(sort) : mrs_empty_doc());
    while (!place && mrs_walk_next(&w, &el) == 1) {
        for (const char *p = strchr(el.name, '.'); p && !place; p = strchr(p + 1, '.')) {
            size_t n = strspn(p + 1, "0123456789");
            place = n && (p[1 + n] == '.' || !p[1 + n]);
        }
    }
    return place;
}

static const char *
lower_step(struct mrsi_lower *l)
{
    MRS_ASSERT(mrs_view_is_framed(l->body));
    const char *type = l->out->step->type->name;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].type, type) == 0) {
            const char *other = other_key(l, rows[i].keys);
            return other                   ? mrsi_lower_no_stages(l, other)
                   : names_now(l)          ? "$$NOW would be another time for each range: write the date itself"
                   : sorts_by_place(l)     ? PLACES
                   : names_own_field(l)    ? "a name with __mrs_, which pipelines use themselves: use the client engine"
                                           : rows[i].lower(l);
        }
    }
    return NO_ROW;
}

enum mrs_status
mrs_plan_lower(const struct mrs_plan *p, uint32_t i, struct mrs_arena *a, struct mrs_lowered *out, struct mrs_err *e)
{
    MRS_ASSERT(i < p->n_steps);
    const struct mrs_step *step = &p->steps[i];
    struct mrsi_lower l = {.body = step->body, .arena = a, .out = out};
    *out = (struct mrs_lowered){.step = step, .on = step->desc.n_sides ? &step->desc.sides[0].coll : NULL};
    mrs_buf_init(&l.buf, p->mem, 4u * MRS_DOC_MAX);
    const char *reason = step->stars ? STARS : step->desc.n_conditions ? CONDITIONS : lower_step(&l);
    bool failed = l.failed || l.buf.bad;
    if (reason) { /* discards what was built */
        out->reason = reason;
        out->n_counts = out->n_writes = out->n_removals = out->n_commands = 0;
    }
    mrs_buf_clear(&l.buf);
    return failed ? mrs_err_memory(e, sizeof *out) : MRS_OK;
}

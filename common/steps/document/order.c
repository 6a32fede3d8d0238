/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - fields put into an order: the step `order`.
 *
 * The named top-level fields come first, in the order of the plan; all others follow as they stand.
 * `_id` stays the first of all unless it is named, because a server would put it there anyway.
 * Elements are moved as bytes. A document that is in order already is not rewritten, whatever names
 * it holds twice. */
#include "steps/kit/invert.h"
#include "steps/kit/map.h"
#include "steps/kit/shape.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/context.h"

struct order_of {
    struct mrsi_map map;
    struct mrsi_paths fields;
    bool id_named;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents are changed"},
    {"fields", MRS_ARG_PATHS, true, NULL, "top-level names in the order they shall have; others follow as they are"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true); order touches none"},
};

/* The place of an element in the front part: 0 is for an `_id` that is not named; -1: it is one of
 * the others. */
static int64_t
place_of(const struct order_of *s, const struct mrs_elem *e)
{
    for (uint32_t i = 0; i < s->fields.n; i++) {
        if (mrs_name_is(e, s->fields.path[i].part[0].name, s->fields.path[i].part[0].len)) {
            return (int64_t)i + 1;
        }
    }
    return !s->id_named && mrs_name_is(e, "_id", 3) ? 0 : -1;
}

static enum mrs_status
edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
              bool *changed)
{
    const struct order_of *s = state;
    uint32_t n = s->fields.n + 1;
    struct mrsi_seen names;
    struct mrs_walk walk;
    struct mrs_elem e;
    struct mrs_elem *front = mrs_arena_alloc(c->arena, n * sizeof *front);
    if (!front) {
        return mrs_err_memory(c->err, n * sizeof *front);
    }
    memset(front, 0, n * sizeof *front);
    mrs_buf_reset(&w->raw); /* the others, in their order */
    mrsi_seen_begin(&names);
    for (mrs_walk_init(&walk, d); mrs_walk_next(&walk, &e) == 1;) {
        int64_t i = place_of(s, &e);
        mrsi_seen_add(&names, &e);
        if (i >= 0 && !front[i].p) {
            front[i] = e;
        } else {
            mrs_buf_put(&w->raw, e.p, (size_t)(walk.at - e.p));
        }
    }
    size_t at = mrsi_put_open(out);
    for (uint32_t i = 0; i < n; i++) {
        if (front[i].p) {
            mrs_buf_put(out, front[i].p, (size_t)(front[i].v.p + front[i].v.n - front[i].p));
        }
    }
    mrs_buf_put(out, w->raw.p, w->raw.n);
    mrsi_put_close(out, at);
    if (out->bad || w->raw.bad) {
        return mrs_buf_status(out->bad ? out : &w->raw, c->err);
    }
    *changed = memcmp(out->p + at, d.p, d.n) != 0;
    return *changed ? mrsi_seen_check(&names, c, d) : MRS_OK;
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct order_of *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->map.edit = edit_document;
    s->map.place = "fields";
    mrsi_map_read(&r, &s->map);
    if (mrsi_read_paths(&r, mrsi_slot(&r, "fields"), &s->fields) && s->fields.n == 0) {
        mrsi_read_error(&r, "fields", NULL, "names no field");
    }
    for (uint32_t i = 0; i < s->fields.n; i++) {
        const struct mrs_path *p = &s->fields.path[i];
        s->id_named = s->id_named || strcmp(p->part[0].name, "_id") == 0;
        if (p->n != 1) {
            mrsi_read_error(&r, "fields", NULL, "`%s` is no top-level field; only those can be ordered", p->text);
        }
    }
    return mrsi_read_end(&r, state);
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct order_of *s = state;
    struct mrsi_tell t;
    mrsi_map_tell(&t, &s->map, arena, out, e);
    const char *names = mrsi_tell_paths(&t, s->fields.path, s->fields.n, 6);
    for (uint32_t i = 0; i < s->fields.n; i++) {
        mrsi_tell_touch(&t, 0, 'R', s->fields.path[i].text); /* what follows depends on whether it is there */
        mrsi_tell_touch(&t, 0, 'D', s->fields.path[i].text);
    }
    mrsi_tell_words(&t, "puts %s first in %s%s", names, mrsi_map_those(&s->map), s->map.in.ns);
    mrsi_tell_loss(&t, "the order of fields as it was");
    return mrsi_tell_end(&t);
}

/* No path and no value changes: indexes and validators stay as they are. */
static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct order_of *s = state;
    struct mrs_cat_coll *cc = NULL;
    return mrsi_cat_need(cat, &s->map.in, true, "in", &cc, e);
}

const struct mrs_step_type mrsi_step_order = {
    .name = "order",
    .summary = "puts the fields of each document into an order",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .example = "in: users\nfields: [_id, name, email]\n\nwhere: { active: true }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_order_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &mrsi_map_ops,
};

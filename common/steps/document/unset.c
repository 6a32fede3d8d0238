/* SPDX-License-Identifier: Apache-2.0 */
/* unset.c - the step `unset`: removes fields.
 *
 * A removal is never blocked: if the path ends in another value, there is nothing to remove. Arrays on the path, also
 * directly inside arrays, are passed into each of their documents, as with a server's $unset. `_id` cannot be removed.
 * Indexes that need a removed path are dropped, unless `where` leaves documents that still have it. */
#include "steps/kit/invert.h"
#include "pattern.h"
#include "mongoreshape/context.h"

struct unset {
    struct mrsi_map map;
    struct mrsi_paths fields;
    struct mrsi_patterns patterns;
    struct mrs_edit *edit;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents are changed"},
    {"fields", MRS_ARG_PATHS, true, NULL, "the paths to remove; `**`: any levels, `a*`: names with this prefix"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"},
    {MRSI_TYPES_KEY, "paths with a star: only values of these types, as `$type` names them"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

static enum mrs_status
remove_site(void *arg, const struct mrs_edit_site *site, enum mrs_edit_verdict *verdict, struct mrs_val *put,
            struct mrs_buf *raw, struct mrs_err *e)
{
    MRS_ASSERT(site->name[site->name_len] == 0);
    (void)arg;
    (void)site;
    (void)put;
    (void)raw;
    (void)e;
    *verdict = MRS_EDIT_REMOVE;
    return MRS_OK;
}

static enum mrs_status
remove_reached(void *arg, const struct mrsi_pattern_place *at, enum mrs_edit_verdict *verdict, struct mrs_val *put)
{
    (void)arg;
    (void)at;
    (void)put;
    *verdict = MRS_EDIT_REMOVE;
    return MRS_OK;
}

static enum mrs_status
edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
              bool *changed)
{
    MRS_ASSERT(mrs_view_is_framed(d) && mrs_buf_is_sound(out));
    const struct unset *s = state;
    struct mrs_edit_run how = {.fn = remove_site, .raw = &w->raw, .inner_arrays = true};
    struct mrsi_pattern_run stars = {.patterns = &s->patterns, .fn = remove_reached, .first = true, .inner = true};
    enum mrs_status st = s->fields.n ? mrs_edit_run(s->edit, &how, d, out, changed, c->err) : MRS_OK;
    MRS_THEN(st, mrsi_patterns_run(&stars, c, w, d, changed));
    return st;
}

/* The edit and the moves of indexes. */
static void
plan_paths(struct mrsi_read *r, struct unset *s)
{
    s->edit = mrsi_read_new_edit(r);
    struct mrsi_move *mv = s->edit ? mrsi_read_alloc(r, s->fields.n, sizeof *mv) : NULL;
    bool good = mv != NULL;
    for (uint32_t i = 0; i < s->fields.n && good; i++) {
        const struct mrs_path *p = &s->fields.path[i];
        good = mrsi_read_edit_path(r, s->edit, "fields", NULL, p);
        if (mrsi_index_plain(p)) {
            mv[s->map.moves.n++] = (struct mrsi_move){p->text, NULL};
        }
    }
    s->map.moves.move = mv;
}

/* A path that ends in `**` would remove elements of arrays. */
static void
refuse_elements(struct mrsi_read *r, const struct unset *s)
{
    for (uint32_t i = 0; i < s->patterns.n; i++) {
        const struct mrsi_pattern *p = &s->patterns.item[i];
        if (p->deep + 1 == p->path.n) {
            mrsi_read_error(r, "fields", p->value.sub, "`%s` would remove everything: name the fields to remove, as in "
                                                       "`**.tmp_*`", p->path.text);
        }
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_slot plain;
    struct unset *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->map.edit = edit_document;
    s->map.place = "fields";
    mrsi_map_read(&r, &s->map);
    mrsi_patterns_read(&r, mrsi_slot(&r, "fields"), &s->patterns, &plain);
    mrsi_patterns_types(&r, &s->patterns, false);
    if (mrsi_read_paths(&r, plain, &s->fields) && s->fields.n == 0) {
        mrsi_read_error(&r, "fields", NULL, "names no field");
    }
    refuse_elements(&r, s);
    for (uint32_t i = 0; i < s->fields.n; i++) {
        mrsi_read_not_id(&r, mrsi_slot(&r, "fields"), &s->fields.path[i]);
    }
    if (mrsi_read_good(&r)) {
        plan_paths(&r, s);
        s->map.moves.through = s->patterns.n ? mrsi_patterns_unset_path : NULL;
        s->map.moves.patterns = &s->patterns;
        s->map.partly = s->patterns.typed;
    }
    return mrsi_read_end(&r, state);
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct unset *s = state;
    struct mrsi_describe t;
    mrsi_map_describe(&t, &s->map, arena, out, e);
    for (uint32_t i = 0; i < s->fields.n; i++) {
        mrsi_describe_touch(&t, 0, 'D', s->fields.path[i].text);
    }
    mrsi_patterns_describe(&t, &s->patterns, "D");
    out->takes_away = true;
    mrsi_describe_not_direct(&t, "it takes fields away that are still being read" MRSI_DO_CONTRACT);
    const char *names = mrsi_patterns_names(&t, s->fields.path, s->fields.n, &s->patterns);
    mrsi_describe_words(&t, "removes %s from %s%s", names, mrsi_map_those(&s->map), s->map.in.ns);
    mrsi_describe_loss(&t, "values and places of %s", names);
    return mrsi_describe_end(&t);
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    return mrsi_map_catalog(describe, state, cat, e);
}

const struct mrs_step_type mrsi_step_unset = {
    .name = "unset",
    .summary = "removes fields from each document",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .since_2 = "types",
    .example = "in: users\nfields: [legacyName]\n\nwhere: { migrated: true }\ntypes: [string]\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_unset_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .spread = &mrsi_map_ops,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - copy: stores fields of a referenced document next to its references. Compiles the step; the small kernels.
 *
 * The payload of a source document is made once: a document with the copies, then, under the empty name that no plan
 * field can have, the names whose expression failed and whose old value stays. The plan decides where copies are
 * written: next to the reference, in the document that wraps it, or at the top. */
#include "copy.h"
#include "mongoreshape/join_ops.h"

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "documents to copy from"},
    {"into", MRS_ARG_COLL, true, NULL, "documents that hold the references"},
    {"match", MRS_ARG_MATCH, true, NULL, "path of from: path of into, or a list of {from, into} expressions"},
    {"fields", MRS_ARG_FIELDS, true, NULL, "fields to copy; _id only if listed"},
    {"as", MRS_ARG_PATH, false, NULL, "subdocument for the copies"},
    {"at", MRS_ARG_CHOICE, false, "reference|root", "next to the reference, or at the top level"},
    {"wrap", MRS_ARG_NAME, false, NULL, "a reference x becomes {NAME: x, ...copies}"},
    {"refs", MRS_ARG_CHOICE, false, "keep|drop", "whether references stay"},
    {"keep", MRS_ARG_CHOICE, false, "all|none", "whether matched documents stay in from"},
    {"where", MRS_ARG_QUERY, false, NULL, "documents of from that take part; others stay"},
    {"replace", MRS_ARG_BOOL, false, NULL, "overwrite existing fields"},
    {MRSI_TWINS_KEY},
    {"nulls", MRS_ARG_CHOICE, false, "ignore|match", "whether null and missing match each other"},
    {"orphans", MRS_ARG_CHOICE_OR_COLL, false, "keep|drop|refuse", "documents of from without a match"},
    {"dangling", MRS_ARG_CHOICE, false, "keep|drop|null|refuse", "references without a match"},
    {"many", MRS_ARG_CHOICE, false, "refuse|first|last", "several matches of one reference"},
    {"sort", MRS_ARG_SORT, false, NULL, "order in which a match is the first or the last; default: input order"},
    {"errors", MRS_ARG_CHOICE, false, MRSI_ERRORS_CHOICES, "when an expression or a dotted write fails"},
    {"oversize", MRS_ARG_CHOICE, false, "refuse", "when a document would exceed 16 MiB"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "rewrite indexes and add one for a wrapped reference; default true"}};

/* ---- compile ---- */
static bool
has_key(const struct mrsi_read *r, const char *key)
{
    return mrsi_slot_present(mrsi_slot(r, key));
}

/* With a list of fields, `_id` is not implied. */
static void
read_fields(struct mrsi_read *r, struct mrsi_copy *s)
{
    struct mrsi_slot none = {.v = mrs_missing()};
    struct mrs_err e;
    if (!mrsi_shape_read(r, mrsi_slot(r, "fields"), none, &s->shape)) {
        return;
    }
    struct mrsi_fields *f = &s->shape.fields;
    if (!f->n) {
        mrsi_read_error(r, "fields", NULL, "names no field");
    }
    bool id = false;
    for (uint32_t i = 0; i < f->n; i++) {
        id = id || strcmp(f->path[i].part[0].name, "_id") == 0;
    }
    f->without_id = !id;
    if (s->shape.keep && !id) { /* dotted names: tell the projection */
        s->shape.keep = NULL;
        mrs_err_clear(&e);
        enum mrs_status st = mrs_projection_new(r->args->mem, f->path, f->n, true, true, &s->shape.keep, &e);
        if (st != MRS_OK) {
            mrsi_read_failed(r, "fields", NULL, st, &e);
        } else if (!mrsi_level_add(r->keep, MRSI_PROJECTION, s->shape.keep)) {
            r->status = mrs_err_memory(r->err, 0);
        }
    }
    s->name = mrsi_read_alloc(r, f->n, sizeof *s->name);
    for (uint32_t i = 0; s->name && i < f->n; i++) {
        bool known = false;
        for (uint32_t k = 0; k < s->n_names; k++) {
            known = known || strcmp(s->name[k].name, f->path[i].part[0].name) == 0;
        }
        if (!known) {
            s->name[s->n_names++] = f->path[i].part[0];
        }
    }
}

static void
read_words(struct mrsi_read *r, struct mrsi_copy *s)
{
    int at = 0, refs = 0, keep = 0, oversize = 0;
    s->indexes = true;
    mrsi_read_choice(r, mrsi_slot(r, "at"), &at);
    mrsi_read_choice(r, mrsi_slot(r, "refs"), &refs);
    mrsi_read_choice(r, mrsi_slot(r, "keep"), &keep);
    mrsi_read_choice(r, mrsi_slot(r, "oversize"), &oversize);
    mrsi_read_choice(r, mrsi_slot(r, "dangling"), &s->dangling);
    mrsi_read_choice(r, mrsi_slot(r, "many"), &s->many);
    mrsi_read_sort(r, mrsi_slot(r, "sort"), &s->sort);
    if (s->sort && s->many == MRSI_MANY_REFUSE) {
        mrsi_read_error(r, "sort", NULL, "several matches are refused: give `many: first` or `many: last`, too");
    }
    mrsi_read_choice(r, mrsi_slot(r, "errors"), &s->errors);
    mrsi_read_choice_or_coll(r, mrsi_slot(r, "orphans"), &s->orphans, &s->orphans_into);
    mrsi_read_bool(r, mrsi_slot(r, "replace"), &s->replace);
    mrsi_read_bool(r, mrsi_slot(r, "indexes"), &s->indexes);
    mrsi_read_path(r, mrsi_slot(r, "as"), &s->as);
    if (mrsi_read_name(r, mrsi_slot(r, "wrap"), &s->wrap)) {
        s->wrap_len = (uint32_t)strlen(s->wrap);
    }
    s->at_root = at == 1;
    s->drop_ref = refs == 1;
    s->take = keep == 1;
    if (s->take && !has_key(r, "orphans")) {
        mrsi_read_error(r, "keep", NULL, "`none` requires `orphans`: keep, drop, refuse or { into: COLL }");
    }
}

/* The reference must be a field of `into` if the step changes it. */
static void
check_reference(struct mrsi_read *r, struct mrsi_copy *s)
{
    const struct mrsi_join_match *j = &s->join;
    bool computed = j->pair[0].into.expr != NULL;
    bool change = s->drop_ref || s->wrap || s->dangling == MRSI_DANGLING_DROP || s->dangling == MRSI_DANGLING_NULL;
    if (!j->into_points) {
        s->at_root = true; /* the reference is the document's own key: copies go to its top level */
        if (has_key(r, "dangling")) {
            mrsi_read_error(r, "dangling", NULL, "the reference is on the `from` side: see `orphans`");
        }
        if (s->drop_ref || s->wrap) {
            mrsi_read_error(r, s->wrap ? "wrap" : "refs", NULL, "the reference is on the `from` side");
        }
        return;
    }
    if (computed && (change || !s->at_root)) {
        mrsi_read_error(r, change ? "match" : "at", NULL,
                        "a computed reference has no place in the document: use `at: root`, and change nothing at it");
    }
    if (!computed && change && strcmp(j->pair[0].into.path.part[0].name, "_id") == 0) {
        mrsi_read_error(r, "match", NULL, "the reference is in `_id`, which cannot change");
    }
    if (j->n > 1 && !j->single && (s->drop_ref || s->dangling == MRSI_DANGLING_DROP ||
                                   s->dangling == MRSI_DANGLING_NULL)) {
        mrsi_read_error(r, s->drop_ref ? "refs" : "dangling", NULL,
                        "a reference of several fields cannot be changed; unset them in a step of their own");
    }
}

static void
check(struct mrsi_read *r, struct mrsi_copy *s)
{
    const struct mrsi_join_match *j = &s->join;
    bool top = s->at_root || j->pair[0].into.path.n == 1;
    check_reference(r, s);
    if (s->wrap && has_key(r, "at") && s->at_root) {
        mrsi_read_error(r, "wrap", NULL, "does not go with `at: root`");
    }
    if (s->wrap && s->as.n > 1) {
        mrsi_read_error(r, "as", NULL, "must be a plain name inside `wrap`");
    }
    if (s->wrap && s->as.n && strcmp(s->as.text, s->wrap) == 0) {
        mrsi_read_error(r, "as", NULL, "has the name of `wrap`");
    }
    if (top && !s->wrap && s->as.n) {
        mrsi_read_not_id(r, mrsi_slot(r, "as"), &s->as);
    }
    for (uint32_t i = 0; i < s->n_names && !s->as.n; i++) {
        if (top && !s->wrap && strcmp(s->name[i].name, "_id") == 0) {
            mrsi_read_error(r, "fields", NULL, "`_id` would overwrite the _id of the document; use `as`");
        }
        if (s->wrap && strcmp(s->name[i].name, s->wrap) == 0) {
            mrsi_read_error(r, "fields", NULL, "`%s` is the name of `wrap`", s->wrap);
        }
    }
    if (mrsi_coll_same(&j->from, &j->into) && (s->take || s->orphans != COPY_ORPHANS_KEEP)) {
        mrsi_read_error(r, s->take ? "keep" : "orphans", NULL,
                        "documents cannot leave where `from` and `into` are one collection");
    }
    if (s->orphans == COPY_ORPHANS_INTO && mrsi_coll_same(&s->orphans_into, &j->from)) {
        mrsi_read_error(r, "orphans", "into", "is `from` itself; use `keep`");
    }
}

/* The path of a copy: the path of its holder, then its own names. */
static void
join_path(struct mrsi_read *r, const struct mrs_path *ref, uint32_t share, const struct mrs_path *own,
          struct mrs_path *out)
{
    MRS_ASSERT(share <= ref->n);
    out->part = mrsi_read_alloc(r, share + own->n, sizeof *out->part);
    if (!out->part) {
        return;
    }
    out->n = share + own->n;
    out->text = "";
    for (uint32_t i = 0; i < out->n; i++) {
        out->part[i] = i < share ? ref->part[i] : own->part[i - share];
        out->text = mrsi_read_text_of(r, "%s%s%s", out->text, i ? "." : "", out->part[i].name);
        out->text = out->text ? out->text : "";
    }
}

static void
make_edits(struct mrsi_read *r, struct mrsi_copy *s)
{
    struct mrsi_join_match *j = &s->join;
    const struct mrs_path *ref = &j->pair[0].into.path;
    const struct mrsi_fields *f = &s->shape.fields;
    uint32_t n = s->as.n ? 1 : f->map ? f->n : s->n_names;
    struct mrs_edit *both = mrsi_read_new_edit(r); /* only to detect a copy that would overwrite the reference */
    s->edit = mrsi_read_new_edit(r);
    s->target = mrsi_read_alloc(r, n, sizeof *s->target);
    if (!both || !s->edit || !s->target) {
        return;
    }
    if (s->wrap) {
        mrsi_read_edit_path(r, s->edit, "match", NULL, ref);
    } else if (ref->n && j->into_points) {
        mrsi_read_edit_path(r, both, "match", NULL, ref);
    }
    s->n_targets = s->wrap ? 0 : n;
    for (uint32_t i = 0; i < s->n_targets; i++) {
        struct mrs_path one = {&s->name[s->as.n || f->map ? 0 : i], 1, ""};
        join_path(r, ref, j->share, s->as.n ? &s->as : f->map ? &f->path[i] : &one, &s->target[i]);
        if (s->target[i].n) {
            mrsi_read_edit_path(r, s->edit, s->as.n ? "as" : "fields", NULL, &s->target[i]);
            mrsi_read_edit_path(r, both, s->as.n ? "as" : "fields", NULL, &s->target[i]);
        }
    }
    if (!s->wrap && j->into_points && (s->drop_ref || s->dangling == MRSI_DANGLING_DROP ||
                                       s->dangling == MRSI_DANGLING_NULL)) {
        s->ref_edit = mrsi_read_new_edit(r);
        mrsi_read_edit_path(r, s->ref_edit, "match", NULL, ref);
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_copy *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    bool joined = mrsi_join_read(&r, &s->join, true);
    read_fields(&r, s);
    read_words(&r, s);
    if (joined) {
        check(&r, s);
    }
    if (joined && mrsi_read_good(&r)) {
        struct mrsi_join_match *j = &s->join;
        j->refs = j->into_points;
        j->share = s->at_root ? 0 : j->pair[0].into.path.n - 1;
        j->wrap = s->wrap;
        j->wrap_len = s->wrap_len;
        mrsi_join_settle(j);
        make_edits(&r, s);
        s->quick = j->refs && s->wrap && !s->as.n && !s->at_root && !s->drop_ref && j->n == 1 && !j->nulls &&
                   !j->own_id && !j->pair[0].into.expr && j->pair[0].into.path.n == 1 &&
                   s->dangling == MRSI_DANGLING_KEEP && s->many == MRSI_MANY_REFUSE &&
                   s->errors == MRSI_ERRORS_REFUSE;
    }
    s->side_orphans = s->orphans == COPY_ORPHANS_INTO ? 2 : -1;
    return mrsi_read_end(&r, state);
}

/* ---- small kernels ---- */
static enum mrs_status
takes_part(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, bool *yes)
{
    const struct mrsi_copy *s = state;
    return mrsi_step_where(side == 0 ? s->join.where : NULL, c, doc, yes);
}

static enum mrs_status
copy_keys(const void *state, struct mrs_ctx *c, int side, struct mrs_view doc, struct mrs_keys *k)
{
    return mrsi_join_keys(&((const struct mrsi_copy *)state)->join, c, side, doc, k);
}

/* After the copies, under the empty name: a document of the names (paths) whose old value stays. */
static void
put_kept(const struct mrsi_copy *s, const bool *failed, size_t at, struct mrs_buf *out)
{
    MRS_ASSERT(failed && at <= out->n);
    bool any = false;
    size_t doc = 0;
    for (uint32_t i = 0; i < s->shape.fields.n; i++) {
        const char *path = s->shape.fields.path[i].text;
        if (!failed[i] || out->bad) {
            continue;
        }
        if (!any) {
            out->n--; /* without the final NUL, which is written again */
            mrsi_put_head(out, MRS_DOCUMENT, "", 0);
            doc = mrsi_put_open(out);
            any = true;
        }
        mrsi_put_elem(out, path, (uint32_t)strlen(path), mrs_null());
    }
    if (any) {
        mrsi_put_close(out, doc);
        mrsi_put_close(out, at);
    }
}

static enum mrs_status
payload(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(doc) && mrs_buf_is_sound(out));
    const struct mrsi_copy *s = state;
    bool *failed = NULL;
    if (s->errors == MRSI_ERRORS_KEEP && s->shape.fields.map) {
        failed = mrs_arena_alloc(c->arena, s->shape.fields.n);
        MRS_TRY(mrs_allocated(failed, s->shape.fields.n, c->err));
        memset(failed, 0, s->shape.fields.n);
    }
    struct mrsi_shaping how = {c, NULL, (enum mrsi_errors)s->errors, failed, 0};
    size_t at = out->n;
    enum mrs_status st = mrsi_shape_run(&s->shape, &how, doc, out);
    if (st == MRS_OK && failed) {
        put_kept(s, failed, at, out);
        st = mrsi_buf_end(out, at, c, "fields");
    }
    return st;
}

static enum mrs_status
order(const void *state, struct mrs_ctx *c, struct mrs_view doc, struct mrs_buf *out)
{
    const struct mrsi_copy *s = state;
    return mrsi_step_sort_key(c, s->sort, doc, out, "sort");
}

static enum mrs_fate
fate(const void *state, unsigned used, int *side)
{
    const struct mrsi_copy *s = state;
    *side = -1;
    if (!used) {
        switch (s->orphans) {
        case COPY_ORPHANS_DROP: return MRS_FATE_DROPPED;
        case COPY_ORPHANS_REFUSE: return MRS_FATE_REFUSED;
        case COPY_ORPHANS_INTO: *side = s->side_orphans; return MRS_FATE_TAKEN;
        default: return MRS_FATE_STAYS;
        }
    }
    return (used & MRS_USED_LEFT) || !s->take ? MRS_FATE_STAYS : MRS_FATE_TAKEN;
}

static const struct mrs_join_ops join_ops = {takes_part, copy_keys, payload, order, mrsi_copy_splice, fate};

const struct mrs_step_type mrsi_step_copy = {
    .name = "copy",
    .summary = "copies fields of a referenced document",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .example = "from: customers\ninto: orders\nmatch: { _id: customerId }\nfields: { customerName: $name }\n\n"
               "as: customer\nwrap: id\nwhere: { active: true }\nmany: last\nsort: { since: 1 }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = mrsi_copy_describe,
    .invert = mrsi_copy_invert,
    .catalog = mrsi_copy_catalog,
    .work_size = sizeof(struct copy_work),
    .work_clear = mrsi_copy_work_clear,
    .join = &join_ops,
};

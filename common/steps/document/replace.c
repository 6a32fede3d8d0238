/* SPDX-License-Identifier: Apache-2.0 */
/* replace.c - the step `replace`: replaces each document by the value of an expression.
 *
 * The document keeps its own `_id`, which comes first, whatever the expression returns: another `_id` would make
 * another document. Indexes stay, since a server builds them on any document; a validator is removed, because it
 * describes the old schema. */
#include "falsified.h"
#include "steps/kit/invert.h"
#include "steps/kit/map.h"
#include "steps/kit/shape.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/context.h"
#include "mongoreshape/value.h"

struct replace_of {
    struct mrsi_map map;
    struct mrs_expr *with;
    struct mrs_val spec; /* the expression in the plan */
    int errors;
    bool constant; /* it reads no field of the document */
    bool again;    /* it may read its own result: that is unchanged, or no longer matches `where` */
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents are changed"},
    {"with", MRS_ARG_EXPR, true, NULL, "an expression for the new document; its `_id` stays"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query"},
    {"errors", MRS_ARG_CHOICE, false, "refuse|keep", "when the expression fails, or gives no document or another "
                                                     "`_id`"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "false: the validator stays; indexes stay in any case (true)"},
};

static void
see_read(void *arg, const char *path)
{
    (void)path;
    *(bool *)arg = false;
}

/* The known fields of the document that `with` returns. */
static bool
falsifies(struct mrsi_read *r, const struct replace_of *s)
{
    struct mrsi_writes w = {.whole = mrs_expr_all_fields(s->with)};
    struct mrs_expr_field f;
    uint32_t n = 0;
    while (mrs_expr_field(s->with, n, &f)) {
        n++;
    }
    w.item = mrsi_read_alloc(r, n + 1, sizeof *w.item);
    for (uint32_t i = 0; w.item && i < n && mrs_expr_field(s->with, i, &f); i++) {
        struct mrsi_written *to = &w.item[w.n];
        *to = (struct mrsi_written){.path = f.name, .v = f.val, .constant = f.val.type != MRS_MISSING};
        to->typed = f.expr ? mrs_expr_types(f.expr, &to->types) : false;
        to->doc = f.expr && mrs_expr_all_fields(f.expr) ? f.expr : NULL;
        w.n += strcmp(f.name, "_id") != 0;
    }
    return w.item && s->errors != MRSI_ERRORS_KEEP && mrsi_falsifies(r, &w);
}

static bool
repeats(const struct replace_of *s)
{
    struct mrs_expr_self self = {.var = -1, .keeps = s->errors == MRSI_ERRORS_KEEP};
    return mrs_expr_repeats(s->with, &self);
}

static enum mrs_status edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d,
                                     struct mrs_buf *out, bool *changed);

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct replace_of *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->map.edit = edit_document;
    s->map.place = "with";
    mrsi_map_read(&r, &s->map);
    s->spec = mrsi_slot(&r, "with").v;
    mrsi_read_choice(&r, mrsi_slot(&r, "errors"), &s->errors);
    if (mrsi_read_expr(&r, mrsi_slot(&r, "with"), &s->with)) {
        struct mrs_val v;
        s->constant = true;
        mrs_expr_reads(s->with, see_read, &s->constant);
        if (mrs_expr_constant(s->with, &v) && v.type != MRS_DOCUMENT) {
            mrsi_read_error(&r, "with", NULL, "gives %s, which is no document", mrs_type_name(v.type));
        }
        s->again = !s->constant && (repeats(s) || falsifies(&r, s));
    }
    return mrsi_read_end(&r, state);
}

/* ---- documents ---- */
/* The new document with the `_id` of d first. */
static void
put_document(struct mrs_view made, struct mrs_val id, struct mrsi_name_set *names, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(made));
    struct mrs_walk w;
    struct mrs_elem e;
    size_t at = mrsi_put_open(out);
    if (id.type != MRS_MISSING) {
        mrsi_put_elem(out, "_id", 3, id);
    }
    mrsi_name_set_begin(names);
    for (mrs_walk_init(&w, made); mrs_walk_next(&w, &e) == 1;) {
        mrsi_name_set_add(names, &e);
        if (!mrs_name_is(&e, "_id", 3)) {
            mrs_buf_put(out, e.p, (size_t)(w.at - e.p));
        }
    }
    mrsi_put_close(out, at);
}

static enum mrs_status
make_document(const struct replace_of *s, struct mrs_ctx *c, struct mrs_view d, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_eval ev = mrsi_step_eval(c, d);
    struct mrs_eval_fields room;
    struct mrsi_name_set names;
    struct mrs_val v;
    mrsi_step_fields(c, &ev, &room);
    MRS_TRY(mrs_expr_eval(s->with, &ev, &v));
    if (v.type != MRS_DOCUMENT) {
        return mrs_err_set(c->err, MRS_FAIL, MRS_E_EXPR, "it gives %s, which is no document",
                           v.type == MRS_MISSING ? "nothing" : mrs_type_name(v.type));
    }
    struct mrs_val own = mrs_doc_get(d, "_id"), id = mrs_doc_get(mrs_val_view(v), "_id");
    if (id.type != MRS_MISSING && (own.type == MRS_MISSING || mrs_compare(own, id) != 0)) {
        return mrs_err_set(c->err, MRS_FAIL, MRS_E_EXPR, "it gives another _id than the document has");
    }
    put_document(mrs_val_view(v), own, &names, out);
    return out->bad ? mrs_buf_status(out, c->err) : mrsi_name_set_check(&names, c, mrs_val_view(v));
}

static enum mrs_status
edit_document(const void *state, struct mrs_ctx *c, struct mrsi_work *w, struct mrs_view d, struct mrs_buf *out,
              bool *changed)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    const struct replace_of *s = state;
    size_t at = out->n;
    enum mrs_status st = make_document(s, c, d, out);
    (void)w;
    if ((st == MRS_FAIL || st == MRS_SKIP) && s->errors == MRSI_ERRORS_KEEP) {
        mrs_err_clear(c->err);
        mrsi_step_eased(c, 0);
        out->n = at;
        return MRS_OK;
    }
    if (st != MRS_OK) {
        return st;
    }
    *changed = out->n - at != d.n || memcmp(out->p + at, d.p, d.n) != 0;
    return *changed ? mrsi_step_depth(c, "with", d, mrsi_buf_view(out, at)) : MRS_OK;
}

/* ---- description ---- */
static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct replace_of *s = state;
    struct mrsi_describe t;
    mrsi_map_describe(&t, &s->map, arena, out, e);
    mrsi_describe_errors(&t, s->errors, &(struct mrs_path){.text = "with"}, 1);
    out->compares_nothing = out->compares_nothing && !mrsi_compares(s->spec);
    mrsi_describe_expr(&t, 0, s->with);
    mrsi_describe_touch(&t, 0, 'D', "");
    if (!s->again && !s->constant) {
        out->once_only = true;
        mrsi_describe_quiet(&t, "it reads what it writes, so a document may be given to it only once: "
                            MRSI_MARK("migrated: 1` in `with"));
        mrsi_describe_once(&t, "it reads fields that it writes, and no `where` excludes documents that it has written");
    }
    mrsi_describe_words(&t, "replaces %s%s by what `with` gives, under their own _id", mrsi_map_those(&s->map),
                        s->map.in.ns);
    mrsi_describe_loss(&t, "the documents as they were");
    return mrsi_describe_end(&t);
}

/* Can the path exist in the new document? Not if the expression is a map of fields without it. */
static bool
can_have(struct mrs_val spec, const char *path)
{
    struct mrs_walk w;
    struct mrs_elem e;
    while (*path && spec.type == MRS_DOCUMENT) {
        size_t n = strcspn(path, ".");
        struct mrs_val next = mrs_missing();
        for (mrs_walk_init(&w, mrs_val_view(spec)); mrs_walk_next(&w, &e) == 1;) {
            if (e.name[0] == '$') {
                return true; /* an operator: its result is unknown */
            }
            next = strlen(e.name) == n && memcmp(e.name, path, n) == 0 ? e.v : next;
        }
        if (next.type == MRS_MISSING) {
            return false;
        }
        spec = next;
        path += n + (path[n] == '.');
    }
    return true;
}

/* Indexes for which no document will have a key. */
static void
note_indexes(const struct replace_of *s, struct mrs_catalog *cat, const struct mrs_cat_coll *cc)
{
    for (uint32_t i = 0; i < cc->n_index; i++) {
        struct mrs_val key = mrs_doc_get(cc->index[i], "key");
        struct mrs_walk w;
        struct mrs_elem e;
        if (mrsi_index_is_id(cc->index[i]) || key.type != MRS_DOCUMENT) {
            continue;
        }
        for (mrs_walk_init(&w, mrs_val_view(key)); mrs_walk_next(&w, &e) == 1;) {
            bool own = strcmp(e.name, "_id") == 0 || strncmp(e.name, "_id.", 4) == 0;
            bool path = !own && e.name[0] != '$' && strcmp(e.name, "_fts") != 0 && strcmp(e.name, "_ftsx") != 0;
            if (path) {
                mrsi_indexes_note_values(cat, cc, &e.name, 1);
            }
            if (path && !can_have(s->spec, e.name)) {
                mrs_catalog_note(cat, "index %s of %s stays, and `with` gives no document %s",
                                 mrsi_index_name(cc->index[i]), cc->coll.ns, e.name);
            }
        }
    }
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct replace_of *s = state;
    struct mrs_cat_coll *cc = NULL;
    struct mrs_desc d;
    MRS_TRY(mrsi_cat_need(cat, &s->map.in, true, "in", &cc, e));
    MRS_TRY(describe(state, mrs_catalog_arena(cat), &d, e));
    note_indexes(s, cat, cc);
    if (s->map.indexes) {
        return mrsi_cat_validators(cat, &d, e);
    }
    enum mrs_status st = mrsi_views_note_changes(cat, &d, 0, e);
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}

const struct mrs_step_type mrsi_step_replace = {
    .name = "replace",
    .since = 2,
    .summary = "replaces each document by the value of an expression",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_IN,
    .example = "in: users\nwith: { name: $name, contact: { mail: $email, phone: $phone } }\n\n"
               "where: { email: { $exists: true } }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_replace_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_work),
    .work_clear = mrsi_work_clear,
    .fields = true,
    .spread = &mrsi_map_ops,
};

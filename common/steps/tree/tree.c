/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - the step `tree`: converts between representations of a tree. The kernels are in tree_kernels.c.
 *
 * A node refers to its parent, its children or its ancestors from the root, has them as the text of a path, or has an
 * interval inside that of its parent. Each can be converted to any other, and to itself, which normalizes roots, types
 * and numbers. The fields of the old representation are removed, those of the new one appended. The position of a node
 * depends on all others, so writers must be stopped. */
#include "steps/catalog/indexes.h"
#include "steps/kit/describe.h"
#include "steps/kit/shape.h"
#include "tree.h"
#include "mongoreshape/catalogue.h"

static const char choices[] = "parent|children|ancestors|path|nested|embedded";

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection whose documents are the nodes"},
    {"form", MRS_ARG_CHOICE, true, choices, "the present representation"},
    {"to_form", MRS_ARG_CHOICE, true, choices, "the new representation"},
    {"names", MRS_ARG_MAP, false, NULL, "names of the fields: parent, children, ancestors, path, left, right, "
     "embedded"},
    {"separator", MRS_ARG_TEXT, false, NULL, "the character around the names of a path (`,`)"},
    {"where", MRS_ARG_QUERY, false, NULL, "only documents that match this query are nodes"},
    {MRSI_TWIN_NODES_KEY},
    {"replace", MRS_ARG_BOOL, false, NULL, "whether an existing field with the new name is overwritten (false)"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "whether indexes follow (true)"},
};

static const struct mrs_key names[] = {
    {"parent", MRS_ARG_NAME, false, NULL, "the parent's _id"},
    {"children", MRS_ARG_NAME, false, NULL, "the _ids of the children"},
    {"ancestors", MRS_ARG_NAME, false, NULL, "the _ids from the root to the parent"},
    {"path", MRS_ARG_NAME, false, NULL, "the same as text"},
    {"left", MRS_ARG_NAME, false, NULL, "begin of the interval"},
    {"right", MRS_ARG_NAME, false, NULL, "end of the interval"},
    {"embedded", MRS_ARG_NAME, false, NULL, "the children themselves"}, /* since version 2 */
};
enum { N_NAMES = sizeof names / sizeof *names };

static uint32_t
n_names(const struct mrsi_read *r)
{
    return r->args->version < 2 ? N_NAMES - 1 : N_NAMES;
}

static void
read_fields(struct mrsi_read *r, int form, struct mrsi_tree_fields *out)
{
    struct mrsi_slot map = mrsi_slot(r, "names");
    uint32_t first = form == MRSI_TREE_NESTED ? 4 : form == MRSI_TREE_EMBEDDED ? 6 : (uint32_t)form;
    out->n = form == MRSI_TREE_NESTED ? 2 : 1;
    for (uint32_t i = 0; i < out->n; i++) {
        struct mrsi_tree_field *f = &out->field[i];
        f->name = names[first + i].name;
        if (mrsi_slot_present(map) && map.v.type == MRS_DOCUMENT) {
            mrsi_read_name(r, mrsi_slot_in(map, names, n_names(r), names[first + i].name), &f->name);
        }
        f->len = (uint32_t)strlen(f->name);
        if (strcmp(f->name, "_id") == 0) {
            mrsi_read_error(r, "names", names[first + i].name, "cannot be `_id`");
        }
    }
    if (out->n == 2 && strcmp(out->field[0].name, out->field[1].name) == 0) {
        mrsi_read_error(r, "names", "right", "is the same field as `left`");
    }
}

static void
read_form(struct mrsi_read *r, const char *key, int *form)
{
    mrsi_read_choice(r, mrsi_slot(r, key), form);
    if (*form == MRSI_TREE_EMBEDDED && r->args->version < 2) {
        mrsi_read_error(r, key, NULL, "version 2 of the plan language has `embedded`, and this plan says `version: 1`");
    }
}

/* One character, that neither JSON nor an expression takes for something else. */
static void
read_separator(struct mrsi_read *r, struct mrsi_tree_args *s)
{
    struct mrsi_slot at = mrsi_slot(r, "separator");
    const char *text = ",";
    bool used = s->form == MRSI_TREE_PATH || s->to_form == MRSI_TREE_PATH;
    if (mrsi_read_text(r, at, &text) && (strlen(text) != 1 || !strchr("!#%&()*+,-./:;<=>?@[]^_`{|}~ ", *text))) {
        mrsi_read_error(r, "separator", NULL, "`%.40s` is not one character that separates names, such as / or .",
                        text);
    } else if (mrsi_slot_present(at) && !used) {
        mrsi_read_error(r, "separator", NULL, "is for paths, and neither `form` nor `to_form` is `path`");
    }
    s->separator = *text;
}

/* Embedded trees are converted document by document, so there are no numbers over all of them. */
static void
check_unfold(struct mrsi_read *r, const struct mrsi_tree_args *s)
{
    if (s->form == MRSI_TREE_EMBEDDED && s->to_form == MRSI_TREE_EMBEDDED) {
        mrsi_read_error(r, "to_form", NULL, "is `form`, and embedded nodes have no other shape");
    } else if (s->form == MRSI_TREE_EMBEDDED && s->to_form == MRSI_TREE_NESTED) {
        mrsi_read_error(r, "to_form", NULL,
                        "from embedded to nested takes two steps: to `parent` first, and from there");
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_tree_args *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    s->indexes = true;
    mrsi_read_coll(&r, mrsi_slot(&r, "in"), &s->in);
    read_form(&r, "form", &s->form);
    read_form(&r, "to_form", &s->to_form);
    check_unfold(&r, s);
    read_separator(&r, s);
    if (mrsi_slot_present(mrsi_slot(&r, "names"))) {
        mrsi_read_map(&r, mrsi_slot(&r, "names"), names, n_names(&r));
    }
    read_fields(&r, s->form, &s->old);
    if (s->to_form != s->form) {
        read_fields(&r, s->to_form, &s->made);
    } else {
        s->made = s->old;
    }
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    mrsi_read_bool(&r, mrsi_slot(&r, "replace"), &s->replace);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    return mrsi_read_end(&r, state);
}

/* ---- description ---- */
static bool
has_field(const struct mrsi_tree_fields *f, const char *name)
{
    return strcmp(f->field[0].name, name) == 0 || (f->n == 2 && strcmp(f->field[1].name, name) == 0);
}

static void
describe_losses(struct mrsi_describe *t, const struct mrsi_tree_args *s)
{
    const char *old = s->old.field[0].name;
    if (s->to_form == MRSI_TREE_EMBEDDED) {
        mrsi_describe_loss(t, "the order of documents of %s, whose nodes lie together", s->in.ns);
    }
    if (s->form == MRSI_TREE_EMBEDDED) {
        mrsi_describe_loss(t, "whether %s of a leaf was empty, null or missing, and its place among the fields", old);
        mrsi_describe_loss(t, "which nodes had no _id");
        return;
    }
    if (s->form == MRSI_TREE_NESTED) {
        mrsi_describe_loss(t, "the numbers in %s and %s%s", old, s->old.field[1].name,
                           s->to_form == MRSI_TREE_NESTED ? "" : ", and with them the order of siblings");
    } else if (s->form == MRSI_TREE_CHILDREN) {
        mrsi_describe_loss(t, "the order of %s, and what is in it twice", old);
        mrsi_describe_loss(t, "whether a leaf had an empty list, null or no field");
    } else {
        mrsi_describe_loss(t, "whether the %s of a root was null, not there or the root itself", old);
    }
    if (s->form != MRSI_TREE_NESTED && s->form != MRSI_TREE_PATH) {
        mrsi_describe_loss(t, "the type of a number in %s that is written otherwise in `_id` (1 and 1.0)", old);
    }
    mrsi_describe_loss(t, "the place of %s among the fields", old);
    for (uint32_t i = 0; s->replace && i < s->made.n; i++) {
        if (!has_field(&s->old, s->made.field[i].name)) {
            mrsi_describe_loss(t, "%s where it was there already", s->made.field[i].name);
        }
    }
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    static const char *const how[] = {"its parent", "its children", "its ancestors", "a path", "an interval",
                                      "the children in it"};
    const struct mrsi_tree_args *s = state;
    struct mrsi_describe t;
    bool unfolds = s->form == MRSI_TREE_EMBEDDED;
    unsigned more = unfolds ? MRS_ROLE_ADD : s->to_form == MRSI_TREE_EMBEDDED ? MRS_ROLE_TAKE : 0;
    mrsi_describe_begin(&t, arena, out, unfolds ? MRS_FAMILY_SPREAD : MRS_FAMILY_TREE, e);
    mrsi_describe_side(&t, &s->in, MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN | more, "in");
    out->new_ids = unfolds;
    mrsi_describe_query(&t, 0, s->where);
    mrsi_describe_touch(&t, 0, 'R', "_id");
    for (uint32_t i = 0; i < s->old.n; i++) {
        mrsi_describe_touch(&t, 0, 'R', s->old.field[i].name);
        mrsi_describe_touch(&t, 0, 'D', s->old.field[i].name);
    }
    for (uint32_t i = 0; i < s->made.n; i++) {
        if (i == 0 && s->to_form == MRSI_TREE_NESTED) {
            mrsi_describe_touch(&t, 0, 'R', s->made.field[0].name);
        }
        mrsi_describe_touch(&t, 0, 'A', s->made.field[i].name);
    }
    mrsi_describe_quiet(&t,
                        "where a node stands follows from all the others, which may change meanwhile" MRSI_DO_QUIET);
    if (s->form != s->to_form) {
        mrsi_describe_once(&t,
                           "the old form is removed then, and every node would count as a root; select documents that "
                           "still have it by `where`");
    }
    mrsi_describe_words(&t, "writes the place of %s%s in its tree as %s (%s%s%s), which it says by %s (%s%s%s) now",
                        s->where ? "those documents that `where` takes of " : "every document of ", s->in.ns,
                        how[s->to_form], s->made.field[0].name, s->made.n == 2 ? ", " : "",
                        s->made.n == 2 ? s->made.field[1].name : "", how[s->form], s->old.field[0].name,
                        s->old.n == 2 ? ", " : "", s->old.n == 2 ? s->old.field[1].name : "");
    describe_losses(&t, s);
    return mrsi_describe_end(&t);
}

/* ---- indexes ---- */
static enum mrs_status
follow(const struct mrsi_tree_args *s, struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_err *e)
{
    struct mrsi_move move[2];
    struct mrsi_moves moves = {.move = move};
    const char *write[2];
    for (uint32_t i = 0; i < s->made.n; i++) {
        write[i] = s->made.field[i].name;
    }
    mrsi_indexes_note_values(cat, cc, write, s->made.n);
    for (uint32_t i = 0; i < s->old.n; i++) {
        if (!has_field(&s->made, s->old.field[i].name)) {
            move[moves.n++] = (struct mrsi_move){s->old.field[i].name, NULL};
        }
    }
    enum mrs_status st = moves.n ? mrsi_indexes_rewrite(cat, cc, &moves, s->where != NULL, e) : MRS_OK;
    for (uint32_t i = 0; st == MRS_OK && i < s->made.n && s->to_form != MRSI_TREE_EMBEDDED; i++) {
        st = mrsi_index_reference(cat, cc, &write[i], 1, e);
    }
    return st;
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct mrsi_tree_args *s = state;
    struct mrs_cat_coll *cc = NULL;
    struct mrs_desc d;
    enum mrs_status st = mrsi_cat_need(cat, &s->in, true, "in", &cc, e);
    st = st == MRS_OK && s->indexes ? follow(s, cat, cc, e) : st;
    MRS_THEN(st, describe(state, mrs_catalog_arena(cat), &d, e));
    return st == MRS_OK ? mrsi_cat_validators(cat, &d, e) : st;
}

static const struct mrs_inner inner[] = {{"names", names, sizeof names / sizeof *names, false}};

const struct mrs_step_type mrsi_step_tree = {
    .name = "tree",
    .summary = "changes the representation of a tree",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .inner = inner,
    .n_inner = sizeof inner / sizeof *inner,
    .since_2 = "separator",
    .example = "in: categories\nform: parent\nto_form: path\n\nnames: { parent: parent_id }\nseparator: /\n"
               "where: { shop: main }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_tree_invert,
    .catalog = catalog,
    .work_size = sizeof(struct mrsi_tree_work),
    .work_clear = mrsi_tree_work_clear,
    .spread = &mrsi_tree_unfold_ops,
    .tree = &mrsi_tree_ops,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* extract.c - extract: moves parts of documents to a collection of their own. Compiles the step.
 *
 * The step has two families: without `unique` each document is processed alone (SPREAD), with it equal parts of many
 * documents become one (GROUP). Both share finding the elements, making a child and rewriting the source, which are in
 * separate files. Combinations of keys that make no sense are errors of the plan. */
#include "extract.h"
#include "steps/kit/id_policy.h"
#include <stdio.h>

static const struct mrs_key keys[] = {
    {"from", MRS_ARG_COLL, true, NULL, "documents that contain the parts"},
    {"path", MRS_ARG_ANY, true, NULL, "the array or subdocument, or {fields: [...]}: top-level fields that become "
     "one document"},
    {"into", MRS_ARG_COLL, true, NULL, "collection of the parts, new or existing"},
    {"refs", MRS_ARG_CHOICE, false, "parent|child|both|none", "the side that holds the references"},
    {"parent_ref", MRS_ARG_NAME, false, NULL, "field of the part for its parent's key"},
    {"parent_key", MRS_ARG_PATH, false, NULL, "field of the parent that is its key; default _id"},
    {"child_refs", MRS_ARG_PATH, false, NULL, "field of the parent for the ids of its parts; default: path"},
    {"unique", MRS_ARG_PATHS, false, NULL, "parts with equal values here become one document"},
    {"id", MRS_ARG_ANY, false, NULL, "keep, new, or an expression"},
    {"position", MRS_ARG_NAME, false, NULL, "field for the place in the array"},
    {"leave", MRS_ARG_MAP, false, NULL, "copies that stay in the parent: limit, sort, fields, id"},
    {"extracted", MRS_ARG_CHOICE, false, "all|rest", "rest: elements that stay are not extracted"},
    {"pages", MRS_ARG_MAP, false, NULL, "pages instead of one document each: size, ref, number, items, flag"},
    {"count", MRS_ARG_PATH, false, NULL, "field for the number of elements"},
    {"value", MRS_ARG_NAME, false, NULL, "elements that are no documents become {value: element}"},
    {"fields", MRS_ARG_FIELDS, false, NULL, "fields of the element in the document; default: all"},
    {"drop", MRS_ARG_PATHS, false, NULL, "fields of the element to omit"},
    {"where", MRS_ARG_QUERY, false, NULL, "documents of from that take part; others stay"},
    {MRSI_TWINS_KEY},
    {"conflicts", MRS_ARG_CHOICE, false, "refuse|first|last", "equal keys or _ids with other contents"},
    {"errors", MRS_ARG_CHOICE, false, MRSI_ERRORS_CHOICES, "when an expression or a dotted write fails"},
    {"replace", MRS_ARG_BOOL, false, NULL, "overwrite existing fields"},
    {"map", MRS_ARG_NAME, false, NULL, "`path` is a document whose fields are the parts: field for their names"},
    {"nested", MRS_ARG_MAP, false, NULL, "parts inside of parts: path, parent_ref"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "rewrite and copy indexes; default true"}};

static const struct mrs_key leave_keys[] = {{"limit", MRS_ARG_COUNT, false, NULL, "maximum number; default all"},
                                            {"sort", MRS_ARG_SORT, false, NULL, "selects those that stay, and their "
                                                                                "order"},
                                            {"fields", MRS_ARG_FIELDS, false, NULL, "their fields"},
                                            {"id", MRS_ARG_BOOL, false, NULL, "they keep the _id of their document"}};
static const struct mrs_key page_keys[] = {{"size", MRS_ARG_COUNT, true, NULL, "items of a page"},
                                           {"ref", MRS_ARG_NAME, true, NULL, "field for the parent's key"},
                                           {"number", MRS_ARG_NAME, true, NULL, "field for the page's number"},
                                           {"items", MRS_ARG_NAME, true, NULL, "field for the items"},
                                           {"flag", MRS_ARG_PATH, false, NULL, "field of documents that have pages"}};
static const struct mrs_key list_keys[] = {{"fields", MRS_ARG_PATHS, true, NULL,
                                            "top-level fields that become one document"}};
static const struct mrs_key nested_keys[] = {
    {"path", MRS_ARG_PATH, true, NULL, "where a part holds parts of its own"},
    {"parent_ref", MRS_ARG_NAME, false, NULL, "field of such a part for the _id of the part around it"}};
static const char *const vars[EXT_VARS] = {
    [EXT_PARENT] = "PARENT", [EXT_POSITION] = "POSITION", [EXT_ELEMENTS] = "ELEMENTS", [EXT_NAME] = "NAME"};
#define N_KEYS(k) ((uint32_t)(sizeof(k) / sizeof *(k)))

static bool
has_key(const struct mrsi_read *r, const char *key)
{
    return mrsi_slot_present(mrsi_slot(r, key));
}

/* ---- path ---- */
static void
read_listed(struct mrsi_read *r, struct mrsi_extract *s, struct mrsi_slot path)
{
    if (!mrsi_read_map(r, path, list_keys, 1)) {
        return;
    }
    struct mrsi_slot list = mrsi_slot_in(path, list_keys, 1, "fields");
    if (!mrsi_read_paths(r, list, &s->listed)) {
        return;
    }
    if (!s->listed.n) {
        mrsi_read_error(r, "path", "fields", "names no field");
    }
    for (uint32_t i = 0; i < s->listed.n; i++) {
        if (s->listed.path[i].n != 1) {
            mrsi_read_error(r, "path", "fields", "`%s` is no top-level field", s->listed.path[i].text);
        }
        mrsi_read_not_id(r, list, &s->listed.path[i]);
    }
    static const char *const wrong[] = {"leave", "pages", "position"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (has_key(r, wrong[i])) {
            mrsi_read_error(r, wrong[i], NULL, "does not go with `path: {fields: [...]}`");
        }
    }
}

static void
read_path(struct mrsi_read *r, struct mrsi_extract *s)
{
    struct mrsi_slot path = mrsi_slot(r, "path");
    struct mrs_val spec = path.v;
    if (path.v.type == MRS_DOCUMENT) {
        read_listed(r, s, path);
        spec = mrs_doc_get(mrs_val_view(path.v), "fields");
    } else if (mrsi_read_path(r, path, &s->path)) {
        mrsi_read_not_id(r, path, &s->path);
    }
    if (!mrs_val_copy(r->args->arena, spec, &s->path_spec)) {
        r->status = mrs_err_memory(r->err, spec.n);
    }
}

/* A path of a field that the step writes. */
static void
read_target(struct mrsi_read *r, struct mrsi_slot slot, struct mrs_path *out)
{
    if (mrsi_read_path(r, slot, out)) {
        mrsi_read_not_id(r, slot, out);
    }
}

static void
read_field(struct mrsi_read *r, struct mrsi_slot slot, const char **out)
{
    if (mrsi_read_name(r, slot, out) && strcmp(*out, "_id") == 0) {
        mrsi_read_error(r, slot.key, slot.sub, "may not be `_id`");
    }
}

/* ---- references ---- */
static void
read_refs(struct mrsi_read *r, struct mrsi_extract *s)
{
    int refs = EXT_REFS_PARENT;
    mrsi_read_choice(r, mrsi_slot(r, "refs"), &refs);
    s->to_parent = !s->pages.present && (refs == EXT_REFS_PARENT || refs == EXT_REFS_BOTH);
    s->to_child = !s->pages.present && (refs == EXT_REFS_CHILD || refs == EXT_REFS_BOTH);
    read_field(r, mrsi_slot(r, "parent_ref"), &s->parent_ref);
    read_target(r, mrsi_slot(r, "child_refs"), &s->child_refs);
    if (!mrsi_read_path(r, mrsi_slot(r, "parent_key"), &s->parent_key)) {
        mrsi_read_path_text(r, "parent_key", NULL, "_id", &s->parent_key);
    }
    if (s->to_parent && !has_key(r, "parent_ref")) {
        mrsi_read_error(r, "parent_ref", NULL, "needed: `refs` is %s", refs == EXT_REFS_BOTH ? "both" : "parent");
    }
    if (!s->to_parent && !s->pages.present && has_key(r, "parent_ref")) {
        mrsi_read_warn(r, "parent_ref", NULL, "not used: `refs` is %s", refs == EXT_REFS_CHILD ? "child" : "none");
    }
    if (!s->to_child && !s->pages.present && has_key(r, "child_refs")) {
        mrsi_read_warn(r, "child_refs", NULL, "not used: `refs` is %s", refs == EXT_REFS_PARENT ? "parent" : "none");
    }
    if (s->to_child && !s->child_refs.n && !has_key(r, "child_refs")) {
        if (s->listed.n) {
            mrsi_read_error(r, "child_refs", NULL, "needed: there is no path where the id could stay");
        }
        s->child_refs = s->path;
    }
    if (!s->to_parent) {
        s->parent_ref = NULL;
    }
    if (!s->to_child) {
        s->child_refs.n = 0;
    }
    s->child_is_path = s->to_child && s->path.n && s->child_refs.n && mrs_path_equal(&s->child_refs, &s->path);
}

/* ---- map, nested ---- */
/* Keys that cannot be combined with them. */
static void
read_alone(struct mrsi_read *r, const struct mrsi_extract *s, const char *key)
{
    static const char *const wrong[] = {"unique", "leave", "extracted", "pages", "child_refs"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (has_key(r, wrong[i])) {
            mrsi_read_error(r, wrong[i], NULL, "does not go with `%s`", key);
        }
    }
    if (s->to_child) {
        mrsi_read_error(r, "refs", NULL, "`%s` goes with parent and none", key);
    }
    if (mrsi_slot(r, "path").v.type == MRS_DOCUMENT) {
        mrsi_read_error(r, key, NULL, "does not go with `path: {fields: [...]}`");
    }
}

static void
read_nested(struct mrsi_read *r, struct mrsi_extract *s)
{
    struct mrsi_slot map = mrsi_slot(r, "nested");
    s->nested.present = mrsi_slot_present(map);
    if (!s->nested.present || !mrsi_read_map(r, map, nested_keys, N_KEYS(nested_keys))) {
        return;
    }
    struct mrsi_slot path = mrsi_slot_in(map, nested_keys, N_KEYS(nested_keys), "path");
    struct mrsi_slot ref = mrsi_slot_in(map, nested_keys, N_KEYS(nested_keys), "parent_ref");
    read_target(r, path, &s->nested.path);
    read_field(r, ref, &s->nested.parent_ref);
    if (s->to_parent && !mrsi_slot_present(ref)) {
        mrsi_read_error(r, "nested", "parent_ref", "needed: `refs` is parent");
    }
    if (mrsi_read_good(r)) {
        mrsi_read_edit(r, "nested", &s->nested.path, 1, &s->nested.edit);
    }
}

/* ---- leave, pages, id ---- */
static void
read_leave(struct mrsi_read *r, struct mrsi_extract *s)
{
    struct mrsi_slot map = mrsi_slot(r, "leave");
    struct mrsi_slot none = {.v = mrs_missing()};
    s->leave.present = mrsi_slot_present(map);
    if (!s->leave.present || !mrsi_read_map(r, map, leave_keys, N_KEYS(leave_keys))) {
        return;
    }
    s->leave.limited = mrsi_read_count(r, mrsi_slot_in(map, leave_keys, N_KEYS(leave_keys), "limit"), &s->leave.limit);
    mrsi_read_sort(r, mrsi_slot_in(map, leave_keys, N_KEYS(leave_keys), "sort"), &s->leave.sort);
    mrsi_shape_read(r, mrsi_slot_in(map, leave_keys, N_KEYS(leave_keys), "fields"), none, &s->leave.shape);
    mrsi_read_bool(r, mrsi_slot_in(map, leave_keys, N_KEYS(leave_keys), "id"), &s->leave.id);
    if (s->leave.id && s->rest) {
        mrsi_read_error(r, "leave", "id", "elements that stay have no document of their own with `extracted: rest`");
    }
    if (s->leave.id && s->pages.present) {
        mrsi_read_error(r, "leave", "id", "elements have no document of their own with `pages`");
    }
    if (s->child_is_path) {
        mrsi_read_error(r, "child_refs", NULL, "must be another field than `path`, where `leave` keeps copies");
    }
}

static void
page_name(struct mrsi_read *r, struct mrsi_slot map, const char *key, const char **out)
{
    read_field(r, mrsi_slot_in(map, page_keys, N_KEYS(page_keys), key), out);
}

static void
read_pages(struct mrsi_read *r, struct mrsi_extract *s)
{
    static const char *const wrong[] = {"refs", "parent_ref", "child_refs", "unique", "id", "position"};
    struct mrsi_slot map = mrsi_slot(r, "pages");
    s->pages.present = mrsi_slot_present(map);
    if (!s->pages.present) {
        return;
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (has_key(r, wrong[i])) {
            mrsi_read_error(r, wrong[i], NULL, "does not go with `pages`");
        }
    }
    if (!mrsi_read_map(r, map, page_keys, N_KEYS(page_keys))) {
        return;
    }
    struct mrsi_slot size = mrsi_slot_in(map, page_keys, N_KEYS(page_keys), "size");
    if (mrsi_read_count(r, size, &s->pages.size) && !s->pages.size) {
        mrsi_read_error(r, "pages", "size", "a page holds at least 1 item");
    }
    page_name(r, map, "ref", &s->pages.ref);
    page_name(r, map, "number", &s->pages.number);
    page_name(r, map, "items", &s->pages.items);
    read_target(r, mrsi_slot_in(map, page_keys, N_KEYS(page_keys), "flag"), &s->flag);
    const char *ref = s->pages.ref, *number = s->pages.number, *items = s->pages.items;
    if (ref && number && items && (!strcmp(ref, number) || !strcmp(ref, items) || !strcmp(number, items))) {
        mrsi_read_error(r, "pages", NULL, "`ref`, `number` and `items` must have different names");
    }
}

static bool
is_word(struct mrs_val v, const char *word)
{
    uint32_t n;
    const char *text = v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
    return text && n == strlen(word) && memcmp(text, word, n) == 0;
}

static void
read_id(struct mrsi_read *r, struct mrsi_extract *s)
{
    struct mrsi_slot id = mrsi_slot(r, "id");
    uint32_t n;
    if (!mrsi_slot_present(id) || is_word(id.v, "keep")) {
        s->id = EXT_ID_KEEP;
    } else if (is_word(id.v, "new")) {
        s->id = EXT_ID_NEW;
    } else if (id.v.type == MRS_STRING && (mrs_val_text(id.v, &n)[0] != '$' || n == 0)) {
        mrsi_read_error(r, "id", NULL, "must be keep, new or an expression");
    } else {
        s->id = EXT_ID_EXPR;
        mrsi_read_expr(r, id, &s->id_expr);
    }
}

/* ---- compile ---- */
static bool
same_name(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void
check(struct mrsi_read *r, struct mrsi_extract *s)
{
    if (mrsi_coll_same(&s->from, &s->into)) {
        mrsi_read_error(r, "into", NULL, "must be another collection than `from`");
    }
    if (s->unique.n && s->position) {
        mrsi_read_error(r, "position", NULL, "does not go with `unique`: a document may have many places");
    }
    if (s->pages.present && s->path.n && mrsi_join_share(&s->parent_key, &s->path)) {
        mrsi_read_error(r, "parent_key", NULL, "pages belong to whole documents, not to elements of %s",
                        s->path.part[0].name);
    }
    if (same_name(s->parent_ref, s->position)) {
        mrsi_read_error(r, "position", NULL, "has the name of `parent_ref`");
    }
    if (same_name(s->map, s->parent_ref) || same_name(s->map, s->position)) {
        mrsi_read_error(r, "map", NULL, "has the name of `%s`",
                        same_name(s->map, s->position) ? "position" : "parent_ref");
    }
    if (same_name(s->nested.parent_ref, s->position)) {
        mrsi_read_error(r, "nested", "parent_ref", "has the name of `position`");
    }
    if (s->map && s->nested.present) {
        mrsi_read_error(r, "nested", NULL, "does not go with `map`");
    }
}

static void
make_edit(struct mrsi_read *r, struct mrsi_extract *s)
{
    uint32_t no = 0;
    s->no_child = s->no_flag = s->no_count = EXT_NONE;
    s->edit = mrsi_read_new_edit(r);
    if (s->path.n) {
        no += mrsi_read_edit_path(r, s->edit, "path", NULL, &s->path);
    }
    for (uint32_t i = 0; i < s->listed.n; i++) {
        no += mrsi_read_edit_path(r, s->edit, "path", "fields", &s->listed.path[i]);
    }
    if (s->to_child && !s->child_is_path) {
        s->no_child = no;
        no += mrsi_read_edit_path(r, s->edit, "child_refs", NULL, &s->child_refs);
    }
    if (s->flag.n) {
        s->no_flag = no;
        no += mrsi_read_edit_path(r, s->edit, "pages", "flag", &s->flag);
    }
    if (s->count.n) {
        s->no_count = no;
        no += mrsi_read_edit_path(r, s->edit, "count", NULL, &s->count);
    }
    s->key_share = s->path.n ? mrsi_join_share(&s->parent_key, &s->path) : 0;
    s->child_share = s->path.n && s->child_refs.n ? mrsi_join_share(&s->child_refs, &s->path) : 0;
    s->count_share = s->path.n && s->count.n ? mrsi_join_share(&s->count, &s->path) : 0;
    s->quick = s->path.n == 1 && !s->to_child && !s->flag.n && !s->count.n && !s->leave.present;
}

static void
read_rest(struct mrsi_read *r, struct mrsi_extract *s)
{
    int extracted = 0;
    s->indexes = true;
    s->value = "value";
    mrsi_read_choice(r, mrsi_slot(r, "extracted"), &extracted);
    s->rest = extracted == 1;
    mrsi_read_paths(r, mrsi_slot(r, "unique"), &s->unique);
    if (has_key(r, "unique") && !s->unique.n && mrsi_read_good(r)) {
        mrsi_read_error(r, "unique", NULL, "names no field");
    }
    read_field(r, mrsi_slot(r, "position"), &s->position);
    s->value_present = mrsi_slot_present(mrsi_slot(r, "value"));
    mrsi_read_name(r, mrsi_slot(r, "value"), &s->value);
    read_target(r, mrsi_slot(r, "count"), &s->count);
    mrsi_read_choice(r, mrsi_slot(r, "conflicts"), &s->conflicts);
    mrsi_read_choice(r, mrsi_slot(r, "errors"), &s->errors);
    mrsi_read_bool(r, mrsi_slot(r, "replace"), &s->replace);
    mrsi_read_bool(r, mrsi_slot(r, "indexes"), &s->indexes);
}

/* A plan that names the field for elements that are not documents wants such elements. */
static void
check_value(struct mrsi_read *r, const struct mrsi_extract *s)
{
    bool computed = mrsi_slot(r, "fields").v.type == MRS_DOCUMENT;
    if (!s->value_present) {
        return;
    }
    if (!computed && !mrsi_shape_path(&s->shape, r->args->arena, s->value)) {
        mrsi_read_error(r, "value", NULL, "`%s` would be lost: `%s` leaves it out", s->value,
                        s->shape.fields.present ? "fields" : "drop");
    }
    const char *other = same_name(s->value, s->parent_ref) ? "parent_ref"
                        : same_name(s->value, s->position) ? "position"
                        : same_name(s->value, s->map)      ? "map"
                                                           : NULL;
    if (other) {
        mrsi_read_error(r, "value", NULL, "`%s` is the name in `%s` already", s->value, other);
    }
}

/* Does the value of a key contain $$ELEMENTS, even in a text that is not a variable? */
static bool
names_elements(const struct mrsi_read *r, const char *key)
{
    static const char name[] = "$$ELEMENTS";
    struct mrs_val v = mrsi_slot(r, key).v;
    return v.type != MRS_MISSING && memmem(v.p, v.n, name, sizeof name - 1);
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct mrsi_extract *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    bool colls = mrsi_read_coll(&r, mrsi_slot(&r, "from"), &s->from);
    colls = mrsi_read_coll(&r, mrsi_slot(&r, "into"), &s->into) && colls;
    mrsi_read_query(&r, mrsi_slot(&r, "where"), &s->where);
    r.vars = vars;
    r.n_vars = args->version < 2 ? EXT_VARS - 2 : has_key(&r, "map") ? EXT_VARS : EXT_VARS - 1;
    s->reads_elements = names_elements(&r, "fields") || names_elements(&r, "id") || names_elements(&r, "leave");
    read_path(&r, s);
    read_rest(&r, s);
    read_pages(&r, s);
    read_refs(&r, s);
    read_field(&r, mrsi_slot(&r, "map"), &s->map);
    read_nested(&r, s);
    if (s->map || s->nested.present) {
        read_alone(&r, s, s->map ? "map" : "nested");
    }
    read_leave(&r, s);
    read_id(&r, s);
    mrsi_shape_read(&r, mrsi_slot(&r, "fields"), mrsi_slot(&r, "drop"), &s->shape);
    if (mrsi_read_good(&r) && colls) {
        check(&r, s);
        check_value(&r, s);
        make_edit(&r, s);
    }
    s->parent_ref_len = s->parent_ref ? (uint32_t)strlen(s->parent_ref) : 0;
    s->position_len = s->position ? (uint32_t)strlen(s->position) : 0;
    s->map_len = s->map ? (uint32_t)strlen(s->map) : 0;
    s->nested.parent_ref_len = s->nested.parent_ref ? (uint32_t)strlen(s->nested.parent_ref) : 0;
    return mrsi_read_end(&r, state);
}

static const struct mrs_inner inner[] = {{"path", list_keys, N_KEYS(list_keys), false},
                                         {"leave", leave_keys, N_KEYS(leave_keys), false},
                                         {"pages", page_keys, N_KEYS(page_keys), false},
                                         {"nested", nested_keys, N_KEYS(nested_keys), false}};

static void
describe_remark(const void *state, uint32_t i, char *text, size_t size)
{
    static const char *const words[] = {
        [EXT_ARRAY] = "it is an array, no document of parts", [EXT_NULL] = "it is null",
        [EXT_EMPTY] = "it is an empty document", [EXT_SCALAR] = "it is neither array nor document"};
    const struct mrsi_extract *s = state;
    bool plain = i == EXT_SCALAR && !s->map && !s->nested.present;
    if (i == EXT_PLACE) {
        mrsi_id_of_place(s->path.text, s->map || s->nested.present ? "`id`" : "`unique` or `id`", text, size);
        return;
    }
    snprintf(text, size, ", `%.150s` has no parts and stays: %s%s", s->path.text,
             i < sizeof words / sizeof *words && words[i] ? words[i] : "",
             plain ? " (`path: { fields: [...] }` takes fields as they are)" : "");
}

const struct mrs_step_type mrsi_step_extract = {
    .name = "extract",
    .summary = "moves subdocuments or array elements to a collection of their own",
    .keys = keys,
    .n_keys = N_KEYS(keys),
    .inner = inner,
    .n_inner = sizeof inner / sizeof *inner,
    .since_2 = "map|nested",
    .example = "from: posts\npath: comments\ninto: comments\nparent_ref: postId\n\nparent_key: _id\n"
               "child_refs: commentIds\nunique: [author, text]\nid: keep\nposition: pos\n"
               "leave: { limit: 3, sort: { createdAt: -1 }, fields: [author, text], id: true }\n"
               "pages: { size: 100, ref: postId, number: page, items: comments, flag: hasMore }\n"
               "count: commentCount\nvalue: value\nfields: [author, text]\ndrop: [draft]\n"
               "where: { published: true }\nmap: name\nnested: { path: replies, parent_ref: parentId }\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = mrsi_extract_describe,
    .invert = mrsi_extract_invert,
    .catalog = mrsi_extract_catalog,
    .remark = describe_remark,
    .work_size = sizeof(struct ext_work),
    .work_clear = mrsi_extract_work_clear,
    .spread = &mrsi_extract_spread,
    .group = &mrsi_extract_group,
};

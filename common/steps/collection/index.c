/* SPDX-License-Identifier: Apache-2.0 */
/* index.c - the step `index`: creates and drops indexes.
 *
 * mongorestore makes servers ignore unknown index options, so a misspelled option would be lost silently: options are
 * checked here. Drops come before creations. An equal existing index is left alone. The same key with other options, or
 * the same name with another key, is an error of the plan, because a server would refuse it after the data is
 * loaded. */
#include "steps/catalog/indexes.h"
#include "steps/kit/invert.h"
#include "mongoreshape/words.h"
#include "mongoreshape/value.h"
#include "steps/kit/describe.h"
#include "mongoreshape/catalogue.h"
#include "mongoreshape/expr.h"

struct index_of {
    struct mrsi_owned keep;
    struct mrs_coll in;
    struct mrs_view *create; /* complete index documents */
    uint32_t n_create;
    const char **drop;
    uint32_t n_drop;
    bool indexes;
};

static const struct mrs_key keys[] = {
    {"in", MRS_ARG_COLL, true, NULL, "the collection"},
    {"create", MRS_ARG_LIST, false, NULL, "indexes as createIndexes takes them: {key, name, unique, ...}"},
    {"drop", MRS_ARG_LIST, false, NULL, "names of indexes"},
    {"indexes", MRS_ARG_BOOL, false, NULL, "accepted everywhere; without effect here"},
};

/* Options that createIndexes accepts. An option that is false in the plan counts as absent. */
static const struct mrs_key specs[] = {
    {"key", MRS_ARG_MAP, true, NULL, "field: 1, -1 or a kind as text"},
    {"name", MRS_ARG_TEXT, false, NULL, "its name; default: made of the key"},
    {"unique", MRS_ARG_BOOL, false, NULL, "no two documents with equal keys"},
    {"sparse", MRS_ARG_BOOL, false, NULL, "only documents that have the field"},
    {"hidden", MRS_ARG_BOOL, false, NULL, "maintained, but not used by queries"},
    {"prepareUnique", MRS_ARG_BOOL, false, NULL, "refuses new equal keys, to become unique later"},
    {"background", MRS_ARG_BOOL, false, NULL, "without meaning since server 4.2"},
    {"expireAfterSeconds", MRS_ARG_ANY, false, NULL, "documents expire so many seconds after their date"},
    {"partialFilterExpression", MRS_ARG_MAP, false, NULL, "only documents that match this query"},
    {"collation", MRS_ARG_MAP, false, NULL, "how text is compared"},
    {"storageEngine", MRS_ARG_MAP, false, NULL, "options of the storage engine"},
    {"weights", MRS_ARG_MAP, false, NULL, "of a text index: field: weight"},
    {"wildcardProjection", MRS_ARG_MAP, false, NULL, "of a wildcard index: which fields"},
    {"default_language", MRS_ARG_TEXT, false, NULL, "of a text index"},
    {"language_override", MRS_ARG_TEXT, false, NULL, "of a text index: the field that names the language"},
    {"textIndexVersion", MRS_ARG_COUNT, false, NULL, "of a text index"},
    {"2dsphereIndexVersion", MRS_ARG_COUNT, false, NULL, "of a 2dsphere index"},
    {"bits", MRS_ARG_COUNT, false, NULL, "of a 2d index: precision"},
    {"min", MRS_ARG_ANY, false, NULL, "of a 2d index: lower bound"},
    {"max", MRS_ARG_ANY, false, NULL, "of a 2d index: upper bound"},
    {"bucketSize", MRS_ARG_ANY, false, NULL, "of a geoHaystack index"},
};
#define N_SPECS (sizeof specs / sizeof *specs)

/* ---- compile ---- */
/* Types of the options; their meaning is the server's. */
static bool
check_options(struct mrsi_read *r, struct mrsi_slot spec)
{
    bool good = true, on;
    uint64_t count;
    const char *text;
    for (size_t i = 1; i < N_SPECS; i++) {
        struct mrsi_slot one = mrsi_slot_below(r, spec, specs, N_SPECS, specs[i].name);
        uint32_t before = r->args->n_errors;
        if (specs[i].type == MRS_ARG_BOOL) {
            mrsi_read_bool(r, one, &on);
        } else if (specs[i].type == MRS_ARG_COUNT) {
            mrsi_read_count(r, one, &count);
        } else if (specs[i].type == MRS_ARG_TEXT) {
            mrsi_read_text(r, one, &text);
        } else if (specs[i].type == MRS_ARG_MAP && mrsi_slot_present(one) && one.v.type != MRS_DOCUMENT) {
            mrsi_read_error(r, one.key, one.sub, "must be a map");
        } else if (mrsi_slot_present(one) && specs[i].type == MRS_ARG_ANY && !mrs_is_number(one.v)) {
            mrsi_read_error(r, one.key, one.sub, "must be a number");
        }
        good = good && r->args->n_errors == before;
    }
    return good;
}

static bool
is_id(struct mrs_view key)
{
    struct mrs_val id = mrs_doc_get(key, "_id");
    return mrs_is_number(id) && key.n == 4 + 5 + id.n + 1;
}

/* The document as listIndexes would return it: version, key, name, options in the plan's order. */
static bool
finish_spec(struct mrsi_read *r, struct mrs_view spec, struct mrs_buf *buf, struct mrs_buf *name, struct mrs_view *out)
{
    MRS_ASSERT(mrs_buf_is_sound(buf) && mrs_buf_is_sound(name));
    MRS_ASSERT(mrs_view_is_framed(spec));
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrs_view built;
    struct mrs_val key = mrs_doc_get(spec, "key"), name_given = mrs_doc_get(spec, "name");
    mrs_buf_reset(buf);
    mrs_buf_reset(name);
    if (name_given.type == MRS_STRING) {
        mrs_buf_put(name, name_given.p + 4, name_given.n - 5);
    } else if (is_id(mrs_val_view(key))) {
        mrs_buf_printf(name, "_id_");
    } else {
        mrs_index_default_name(spec, name);
    }
    mrs_build_init(&b, buf);
    mrs_build_i32(&b, "v", 2);
    mrs_build_val(&b, "key", 3, key);
    if (!name->bad) {
        mrs_build_text(&b, "name", (const char *)name->p, (uint32_t)name->n);
    }
    for (mrs_walk_init(&w, spec); mrs_walk_next(&w, &e) == 1;) {
        bool off = e.v.type == MRS_BOOL && !e.v.p[0];
        if (strcmp(e.name, "key") != 0 && strcmp(e.name, "name") != 0 && !off) {
            mrs_build_elem(&b, &e);
        }
    }
    enum mrs_status st = mrs_build_finish(&b, &built, r->err);
    out->p = st == MRS_OK && !name->bad ? mrs_arena_copy(r->args->arena, built.p, built.n) : NULL;
    out->n = out->p ? built.n : 0;
    if (!out->p) {
        r->status = mrs_err_memory(r->err, buf->n);
    }
    return out->p != NULL;
}

static void
read_create(struct mrsi_read *r, struct index_of *s)
{
    struct mrsi_slot list = mrsi_slot(r, "create");
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrs_buf buf, name;
    if (list.v.type != MRS_ARRAY) {
        if (mrsi_slot_present(list)) {
            mrsi_read_error(r, "create", NULL, "must be a list of indexes {key: {...}}");
        }
        return;
    }
    s->create = mrsi_read_alloc(r, mrs_val_count(list.v), sizeof *s->create);
    mrs_buf_init(&buf, r->args->mem, MRS_METADATA_MAX);
    mrs_buf_init(&name, r->args->mem, MRS_METADATA_MAX);
    mrs_walk_init(&w, mrs_val_view(list.v));
    while (s->create && r->status == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        struct mrsi_slot one = {e.v, "create", e.name, NULL};
        char why[MRSI_WHY_MAX];
        if (!mrsi_read_map(r, one, specs, N_SPECS) || !check_options(r, one)) {
            continue;
        }
        if (!mrsi_index_buildable(mrs_val_view(e.v), why, sizeof why)) {
            mrsi_read_error(r, "create", e.name, "no server builds this index: %s", why);
        } else {
            s->n_create += finish_spec(r, mrs_val_view(e.v), &buf, &name, &s->create[s->n_create]);
        }
    }
    mrs_buf_clear(&buf);
    mrs_buf_clear(&name);
}

static void
read_drop(struct mrsi_read *r, struct index_of *s)
{
    struct mrsi_slot list = mrsi_slot(r, "drop");
    struct mrs_walk w;
    struct mrs_elem e;
    if (list.v.type != MRS_ARRAY) {
        if (mrsi_slot_present(list)) {
            mrsi_read_error(r, "drop", NULL, "must be a list of names");
        }
        return;
    }
    s->drop = mrsi_read_alloc(r, mrs_val_count(list.v), sizeof *s->drop);
    mrs_walk_init(&w, mrs_val_view(list.v));
    while (s->drop && mrs_walk_next(&w, &e) == 1) {
        struct mrsi_slot one = {e.v, "drop", e.name, NULL};
        const char *name;
        if (mrsi_read_text(r, one, &name)) {
            s->drop[s->n_drop++] = name;
            if (strcmp(name, "_id_") == 0) {
                mrsi_read_error(r, "drop", e.name, "the index on _id cannot be dropped");
            }
        }
    }
}

static enum mrs_status
compile(struct mrs_args *args, void **state, struct mrs_err *e)
{
    struct mrsi_read r;
    struct index_of *s = mrsi_read_begin(&r, args, sizeof *s, e);
    if (!s) {
        return MRS_DEAD;
    }
    mrsi_read_coll(&r, mrsi_slot(&r, "in"), &s->in);
    mrsi_read_bool(&r, mrsi_slot(&r, "indexes"), &s->indexes);
    read_create(&r, s);
    read_drop(&r, s);
    if (mrsi_read_good(&r) && s->n_create + s->n_drop == 0) {
        mrsi_read_error(&r, NULL, NULL, "neither `create` nor `drop` names an index");
    }
    return mrsi_read_end(&r, state);
}

/* ---- description ---- */
/* The paths of its key and filter; the step reads no documents. */
static void
describe_paths(struct mrsi_describe *t, struct mrs_view index)
{
    MRS_ASSERT(mrs_view_is_framed(index));
    struct mrs_val filter = mrs_doc_get(index, "partialFilterExpression");
    struct mrs_expr_env env = {.mem = t->arena->mem};
    struct mrs_query *q = NULL;
    struct mrs_walk w;
    struct mrs_elem e;
    for (mrs_walk_init(&w, mrs_val_view(mrs_doc_get(index, "key"))); mrs_walk_next(&w, &e) == 1;) {
        char *path = mrs_arena_copy(t->arena, e.name, e.name_len + 1u), *wildcard = path ? strstr(path, ".$**") : NULL;
        if (wildcard) {
            *wildcard = 0;
        }
        mrsi_describe_name(t, 0, path ? path : e.name);
    }
    if (filter.type == MRS_DOCUMENT && mrs_query_compile(&env, mrs_val_view(filter), &q, NULL) == MRS_OK) {
        mrsi_describe_naming(t, true);
        mrsi_describe_query(t, 0, q);
        mrsi_describe_naming(t, false);
    }
    mrs_query_free(q);
}

static enum mrs_status
describe(const void *state, struct mrs_arena *arena, struct mrs_desc *out, struct mrs_err *e)
{
    const struct index_of *s = state;
    struct mrsi_describe t;
    mrsi_describe_begin(&t, arena, out, MRS_FAMILY_CATALOG, e);
    out->compares_nothing = true;
    mrsi_describe_side(&t, &s->in, 0, "in");
    for (uint32_t i = 0; i < s->n_drop; i++) {
        mrsi_describe_words(&t, "%s%s", i ? ", " : "drops indexes ", s->drop[i]);
        mrsi_describe_loss(&t, "index %s of %s", s->drop[i], s->in.ns);
    }
    for (uint32_t i = 0; i < s->n_create; i++) {
        mrsi_describe_words(&t, "%s%s", i ? ", " : s->n_drop ? " and makes " : "makes indexes ",
                            mrsi_index_name(s->create[i]));
        describe_paths(&t, s->create[i]);
    }
    mrsi_describe_words(&t, " of %s", s->in.ns);
    if (s->n_drop) {
        mrsi_describe_once(&t, "an index that was dropped cannot be dropped again");
    }
    return mrsi_describe_end(&t);
}

/* ---- catalogue ---- */
/* Options with a server default: absent on one side counts as equal. */
static bool
filled_in(const char *option)
{
    static const char *const words[] = {"textIndexVersion",  "2dsphereIndexVersion", "default_language",
                                        "language_override", "weights", "bits", "min", "max"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(option, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Are two collations equal for a server, which fills in defaults? No collation is `simple`. */
static bool
same_collation(struct mrs_val a, struct mrs_val b)
{
    MRS_ASSERT(mrs_val_is_sized(a) && mrs_val_is_sized(b));
    struct mrs_view x = a.type == MRS_DOCUMENT ? mrs_val_view(a) : mrs_empty_doc();
    struct mrs_view y = b.type == MRS_DOCUMENT ? mrs_val_view(b) : mrs_empty_doc();
    struct mrs_val l = mrs_doc_get(x, "locale"), m = mrs_doc_get(y, "locale");
    struct mrs_walk w;
    struct mrs_elem e;
    bool simple = l.type == MRS_MISSING || mrs_val_is_text(l, "simple");
    if (simple || m.type == MRS_MISSING) {
        return simple && (m.type == MRS_MISSING || mrs_val_is_text(m, "simple"));
    }
    for (mrs_walk_init(&w, x); mrs_walk_next(&w, &e) == 1;) {
        struct mrs_val v = mrs_doc_get(y, e.name);
        if (v.type != MRS_MISSING && mrs_compare(e.v, v) != 0) {
            return false;
        }
    }
    return true;
}

/* A server allows two indexes with one key if they differ in one of these. */
static bool
same_signature(struct mrs_view a, struct mrs_view b)
{
    static const char filter[] = "partialFilterExpression";
    return same_collation(mrs_doc_get(a, "collation"), mrs_doc_get(b, "collation")) &&
           mrs_compare(mrs_doc_get(a, filter), mrs_doc_get(b, filter)) == 0;
}

/* Does b have all options of a with the same values? */
static bool
options_in(struct mrs_view a, struct mrs_view b)
{
    MRS_ASSERT(mrs_view_is_framed(a) && mrs_view_is_framed(b));
    static const char *const other[] = {"v", "key", "name", "ns", "background", "collation"};
    struct mrs_walk w;
    struct mrs_elem e;
    for (mrs_walk_init(&w, a); mrs_walk_next(&w, &e) == 1;) {
        struct mrs_val v = mrs_doc_get(b, e.name);
        bool off = e.v.type == MRS_BOOL && !e.v.p[0];
        bool skip = v.type == MRS_MISSING && (off || filled_in(e.name));
        for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
            skip = skip || strcmp(e.name, other[i]) == 0;
        }
        if (!skip && mrs_compare(e.v, v) != 0) {
            return false;
        }
    }
    return true;
}

/* Are the keys equal? A built text index has another key, so text indexes are compared by their default names, which
 * contain the fields. */
static enum mrs_status
same_key(struct mrs_mem *mem, struct mrs_view a, struct mrs_view b, bool *same, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(a) && mrs_view_is_framed(b));
    struct mrs_val x = mrs_doc_get(a, "key"), y = mrs_doc_get(b, "key");
    struct mrs_buf one, two;
    *same = mrs_compare(x, y) == 0;
    if (*same || y.type != MRS_DOCUMENT || mrs_doc_get(mrs_val_view(y), "_fts").type == MRS_MISSING) {
        return MRS_OK;
    }
    mrs_buf_init(&one, mem, MRS_METADATA_MAX);
    mrs_buf_init(&two, mem, MRS_METADATA_MAX);
    mrs_index_default_name(a, &one);
    mrs_index_default_name(b, &two);
    enum mrs_status st = mrs_buf_status(one.bad ? &one : &two, e);
    *same = st == MRS_OK && one.n == two.n && memcmp(one.p, two.p, one.n) == 0;
    mrs_buf_clear(&one);
    mrs_buf_clear(&two);
    return st;
}

static enum mrs_status
clash(struct mrs_err *e, struct mrs_view index, const struct mrs_coll *coll, const char *what)
{
    mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "index %s of %s exists already with %s", mrsi_index_name(index),
                coll->ns, what);
    mrs_err_at(e, "create");
    return MRS_FAIL;
}

static enum mrs_status
create_one(struct mrs_catalog *cat, struct mrs_cat_coll *cc, struct mrs_view index, struct mrs_err *e)
{
    MRS_ASSERT(cc->exists);
    MRS_ASSERT(mrs_view_is_framed(index));
    for (uint32_t i = 0; i < cc->n_index; i++) {
        struct mrs_view old = cc->index[i];
        bool same;
        MRS_TRY(same_key(mrs_catalog_arena(cat)->mem, index, old, &same, e));
        if (same && same_signature(index, old)) {
            bool equal = options_in(index, old) && options_in(old, index);
            return equal ? MRS_OK : clash(e, old, &cc->coll, "the same key and other options");
        }
        if (strcmp(mrsi_index_name(index), mrsi_index_name(old)) == 0) {
            return clash(e, old, &cc->coll,
                         same ? "another collation or filter: give the new one a `name`" : "another key");
        }
    }
    const char *text = mrsi_index_text_of(cc->index, cc->n_index);
    if (text && mrsi_index_text_of(&index, 1)) {
        mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s has the text index %s already, and a collection has one at most: drop "
                    "that, or name its fields as well", cc->coll.ns, text);
        mrs_err_at(e, "create");
        return MRS_FAIL;
    }
    if (mrsi_index_unique(index) && !cc->made) {
        mrs_catalog_note(cat, "index %s of %s is unique and new: a restore fails if documents clash in it",
                         mrsi_index_name(index), cc->coll.ns);
    }
    struct mrs_val after = mrs_doc_get(index, "expireAfterSeconds");
    int64_t seconds;
    if (mrs_val_integral(after, &seconds) && seconds < INT32_MAX) {
        mrs_catalog_note(cat, "index %s of %s is new and expires documents: those that are more than %lld seconds past "
                         "it go soon after a restore", mrsi_index_name(index), cc->coll.ns, (long long)seconds);
    }
    return mrsi_cat_add_index(cat, cc, index, e);
}

/* The index whose name is similar, or begins with this one, as the name of a field: x_1. */
static const char *
nearest_index(const struct mrs_cat_coll *cc, const char *name)
{
    const char *near = NULL;
    size_t n = strlen(name);
    for (uint32_t i = 0; i < cc->n_index && !near; i++) {
        const char *other = mrsi_index_name(cc->index[i]);
        near = strncmp(other, name, n) == 0 && other[n] == '_' ? other : mrs_nearest(name, &other, 1);
    }
    return near;
}

static enum mrs_status
drop_one(struct mrs_cat_coll *cc, struct mrs_view *list, const char *name, struct mrs_err *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < cc->n_index; i++) {
        if (strcmp(mrsi_index_name(cc->index[i]), name) != 0) {
            list[n++] = cc->index[i];
        }
    }
    if (n == cc->n_index) {
        const char *near = nearest_index(cc, name);
        mrs_err_set(e, MRS_FAIL, MRS_E_PLAN, "%s has no index %s%s%.150s%s", cc->coll.ns, name,
                    near ? "; is `" : "", near ? near : "", near ? "` meant?" : "");
        mrs_err_at(e, "drop");
        return MRS_FAIL;
    }
    cc->index = list;
    cc->n_index = n;
    return MRS_OK;
}

static enum mrs_status
catalog(const void *state, struct mrs_catalog *cat, struct mrs_err *e)
{
    const struct index_of *s = state;
    struct mrs_cat_coll *cc = NULL;
    enum mrs_status st = mrsi_cat_need(cat, &s->in, true, "in", &cc, e);
    struct mrs_view *list = NULL;
    if (st == MRS_OK) {
        list = mrs_arena_alloc(mrs_catalog_arena(cat), (cc->n_index + 1) * sizeof *list);
        st = mrs_allocated(list, cc->n_index * sizeof *list, e);
    }
    for (uint32_t i = 0; i < s->n_drop && st == MRS_OK; i++) {
        st = drop_one(cc, list, s->drop[i], e);
    }
    for (uint32_t i = 0; i < s->n_create && st == MRS_OK; i++) {
        st = create_one(cat, cc, s->create[i], e);
    }
    return st == MRS_OK ? mrsi_cat_status(cat, e) : st;
}

static const struct mrs_inner inner[] = {{"create", specs, sizeof specs / sizeof *specs, true}};

const struct mrs_step_type mrsi_step_index = {
    .name = "index",
    .summary = "makes and drops indexes",
    .keys = keys,
    .n_keys = sizeof keys / sizeof *keys,
    .stars = MRS_STARS_INDEX,
    .inner = inner,
    .n_inner = sizeof inner / sizeof *inner,
    .example = "in: comments\ncreate: [{ key: { postId: 1, createdAt: -1 } }]\n\ndrop: [postId_1]\n",
    .compile = compile,
    .free_state = mrsi_state_free,
    .describe = describe,
    .invert = mrsi_index_invert,
    .catalog = catalog,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - compiles the tree of a plan into immutable steps.
 *
 * Checks run from the outside in, and each continues after an error: keys of the plan, entries of `steps`, keys of each
 * step against the table of its type, types of their values, then the step's own compile hook. A step with a wrong key
 * is compiled without it, so that other errors are found in the same run; errors of the hook about missing keys are
 * then dropped. The body passed to a hook has its keys in the order of the table, which is also that of the plan id:
 * two plans with one id cannot behave differently. A step is known here only through its struct. */
#include "shell.h"
#include "mongoreshape/condition.h"
#include "mongoreshape/expr.h"

#include <stdio.h>

#define NAMES_MAX 256

struct loader {
    struct mrsi_plan *p;
    const struct mrs_plan_opts *opts;
    const char *default_db; /* NULL: a string cannot name a collection */
    uint32_t version_key; /* `version`; 0: not given */
    bool db_known;
    struct mrs_view *bodies;
    uint32_t n_steps; /* number of entries of `steps` */
    uint32_t n_lists; /* conditions on other collections so far */
};

/* A step during compilation: the data for the callbacks of its hook. */
struct load_entry {
    struct loader *l;
    struct mrs_args args;
    struct mrs_conditions conditions;
    const struct mrsi_step_src *src;
    bool salvage;         /* a key was omitted: only errors about the others count */
    struct mrs_val *vals; /* one for each row of the key table; missing: absent */
    struct mrsi_yaml_entry **at;
};

/* ---- the top of the plan ---- */
static const char *const servers[] = {"8.2", "8.3"}; /* the last one is the default, with `version: 1` the first */
static const struct mrs_key top_keys[] = {
    {"plan", MRS_ARG_TEXT, false, NULL, "a name, for reports"},
    {"version", MRS_ARG_COUNT, false, NULL, "version of the plan language: 1, or 2 (the default)"},
    {"server", MRS_ARG_CHOICE, false, "8.3|8.2", "server version whose rules apply; default: the newest known"},
    {"database", MRS_ARG_NAME, false, NULL, "database of collections given by name alone; default: the only one of the "
                                            "dump"},
    {"steps", MRS_ARG_LIST, true, NULL, "the steps in their order: a list of maps with one key, the name of the step"},
};
#define N_TOP (sizeof top_keys / sizeof *top_keys)
#define N_SERVERS (sizeof servers / sizeof *servers)

const struct mrs_key *
mrs_plan_keys(uint32_t *n)
{
    *n = N_TOP;
    return top_keys;
}

static void
check_top_keys(struct mrsi_plan *p)
{
    char hint[96];
    const char *names[N_TOP];
    for (const struct mrsi_yaml_entry *at = p->root->first; at; at = at->next) {
        bool known = false;
        for (size_t i = 0; i < N_TOP; i++) {
            known = known || strcmp(at->key, top_keys[i].name) == 0;
            names[i] = top_keys[i].name;
        }
        if (known) {
            continue;
        }
        if (mrs_step_type_find(at->key)) {
            mrsi_plan_error(
                p, at->line, at->col,
                "step `%s` is at the top of the plan: write it as an entry of `steps`, `- %s:`",
                at->key, at->key);
            continue;
        }
        mrsi_plan_error(
            p, at->line, at->col,
            "unknown key `%.80s`%s; a plan has the keys plan, version, server, database and steps",
            at->key, mrsi_plan_hint(hint, at->key, names, N_TOP));
    }
}

/* The text of a top-level key; NULL: absent or not a text. */
static const char *
top_text(struct mrsi_plan *p, const char *key, const char *example)
{
    const struct mrsi_yaml_entry *at = mrsi_tree_find(p->root, key);
    char picture[96];
    if (!at) {
        return NULL;
    }
    if (at->node->kind == MRSI_SCALAR && at->node->val.type == MRS_STRING) {
        uint32_t n;
        const char *text = mrs_val_text(at->node->val, &n);
        if (memchr(text, 0, n) == NULL) {
            return text;
        }
    }
    const char *what = at->node->kind == MRSI_MAP ? "a map" : "a list";
    if (at->node->kind == MRSI_SCALAR) {
        what = mrs_val_picture(at->node->val, picture, sizeof picture);
    }
    mrsi_plan_error(p, at->line, at->col, "`%s` must be a text, as in `%s: %s`, not %s", key, key,
                    example, what);
    return NULL;
}

static void
load_version(struct loader *l)
{
    const struct mrsi_yaml_entry *at = mrsi_tree_find(l->p->root, "version");
    int64_t v;
    if (!at) {
        return;
    }
    bool whole = at->node->kind == MRSI_SCALAR &&
                 (at->node->val.type == MRS_INT32 || at->node->val.type == MRS_INT64);
    if (!whole || !mrs_val_integral(at->node->val, &v)) {
        mrsi_plan_error(l->p, at->line, at->col,
                        "`version` must be a whole number, as in `version: 1`");
    } else if (v < 1 || v > MRS_PLAN_VERSION) {
        mrsi_plan_error(l->p, at->line, at->col,
                        "`version: %lld` of the plan language is not known here; this program knows versions 1 to %u",
                        (long long)v, MRS_PLAN_VERSION);
    } else {
        l->version_key = l->p->pub.version = (uint32_t)v;
    }
}

static void
load_server(struct loader *l)
{
    const char *text = top_text(l->p, "server", "\"8.3\"");
    l->p->pub.server = servers[l->p->pub.version == 1 ? 0 : N_SERVERS - 1];
    if (!text) {
        return;
    }
    for (size_t i = 0; i < N_SERVERS; i++) {
        if (strcmp(text, servers[i]) == 0) {
            l->p->pub.server = servers[i];
            return;
        }
    }
    const struct mrsi_yaml_entry *at = mrsi_tree_find(l->p->root, "server");
    mrsi_plan_error(l->p, at->line, at->col,
                    "`server: %.40s`: the rules of this server are not known here; leave `server` "
                    "out, or write \"%s\"",
                    text, servers[N_SERVERS - 1]);
}

static void
load_database(struct loader *l)
{
    struct mrsi_plan *p = l->p;
    const struct mrsi_yaml_entry *at = mrsi_tree_find(p->root, "database");
    const char *text = top_text(p, "database", "shop");
    l->db_known = true;
    p->pub.database = "";
    const char *wrong = text ? mrs_db_wrong(text, strlen(text)) : NULL;
    if (wrong) {
        mrsi_plan_error(p, at->line, at->col, "`database: %.80s` is no name of a database: %s", text, wrong);
        text = NULL;
    }
    if (!text && !at && l->opts->default_db) {
        text = mrs_arena_copy(&p->pub.arena, l->opts->default_db, strlen(l->opts->default_db) + 1);
        p->dead = p->dead || !text;
    } else if (!text && (at || l->opts->any_db)) {
        text = "db"; /* a placeholder: the error was reported, or there is no default */
        l->db_known = false;
    }
    l->default_db = text;
    p->pub.database = text ? text : "";
}

/* ---- the keys of a step ---- */
static uint32_t
key_names(const struct mrs_step_type *type, uint32_t version, const char *names[NAMES_MAX])
{
    MRS_ASSERT(version > 0);
    uint32_t n = 0;
    for (uint32_t i = 0; i < type->n_keys && n < NAMES_MAX; i++) {
        if (mrsi_key_known(type, type->keys[i].name, version)) {
            names[n++] = type->keys[i].name;
        }
    }
    return n;
}

/* Equal except for underscores and capitals? */
static bool
is_same_word(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "_");
        if ((*a | 0x20) != (*b | 0x20) || !*a || !*b) {
            return *a == *b;
        }
    }
}

/* Names of a key in other tools, for a step that has it. */
static const struct {
    const char *word, *key;
} key_words[] = {
    {"filter", "where"}, {"query", "where"}, {"condition", "where"}, {"when", "where"}, {"match", "where"},
    {"collection", "in"}, {"collection", "from"}, {"coll", "in"}, {"from", "in"}, {"into", "in"}, {"in", "from"},
    {"in", "into"}, {"keys", "create"}, {"target", "into"}, {"to", "into"}, {"source", "from"}, {"groupBy", "by"},
    {"group", "by"}, {"partitionBy", "by"}, {"key", "by"}, {"orderBy", "sort"}, {"sortBy", "sort"}, {"set", "fields"},
    {"values", "fields"}, {"project", "fields"}, {"projection", "fields"}, {"output", "fields"}, {"on", "match"},
    {"localField", "match"}, {"foreignField", "match"}, {"onError", "errors"}, {"duplicates", "conflicts"},
};

static void
hint_of_word(const struct load_entry *x, const char *word, const char *const *names, uint32_t n, char *hint,
             size_t size)
{
    MRS_ASSERT(word && size > 0);
    for (size_t i = 0; i < sizeof key_words / sizeof *key_words && !*hint; i++) {
        for (uint32_t k = 0; k < n && is_same_word(word, key_words[i].word) && !*hint; k++) {
            if (strcmp(names[k], key_words[i].key) == 0 && !mrsi_tree_find(x->src->body, names[k])) {
                snprintf(hint, size, " (it is called `%s` here)", names[k]);
            }
        }
    }
}

static void
unknown_key(struct load_entry *x, const struct mrsi_yaml_entry *at)
{
    MRS_ASSERT(at->key);
    const struct mrs_step_type *type = x->args.type;
    const char *names[NAMES_MAX] = {0};
    char hint[200], list[300] = "";
    if (!mrsi_key_known(type, at->key, x->args.version)) {
        mrsi_plan_error(x->l->p, at->line, at->col, "%s: unknown key `%.80s`: " MRSI_LATER, type->name, at->key);
        return;
    }
    uint32_t n = key_names(type, x->args.version, names);
    mrsi_plan_hint(hint, at->key, names, n);
    hint_of_word(x, at->key, names, n, hint, sizeof hint);
    if (!*hint) {
        size_t used = 0;
        for (uint32_t i = 0; i < n && used < sizeof list - 40; i++) {
            int w = snprintf(list + used, sizeof list - used, "%s%.36s",
                             i ? " " : "; it has the keys: ", names[i]);
            used += w > 0 ? (size_t)w : 0;
        }
    }
    mrsi_plan_error(x->l->p, at->line, at->col, "%s: unknown key `%.80s`%s%s", type->name, at->key,
                    hint, list);
}

/* Converts and checks all values; fills vals and at. */
static void
read_keys(struct load_entry *x)
{
    MRS_ASSERT(x->src->body);
    const struct mrs_step_type *type = x->args.type;
    struct mrsi_plan *p = x->l->p;
    for (struct mrsi_yaml_entry *at = x->src->body->first; at && !p->dead; at = at->next) {
        uint32_t i = 0;
        while (i < type->n_keys && strcmp(type->keys[i].name, at->key) != 0) {
            i++;
        }
        if (i == type->n_keys || !mrsi_key_known(type, at->key, x->args.version)) {
            unknown_key(x, at);
            x->salvage = true;
            continue;
        }
        struct mrs_val v = mrs_missing();
        x->at[i] = at;
        if (!mrsi_plan_shell(p, type, &type->keys[i], at) || !mrsi_tree_val(p, at->node, &v) ||
            !mrsi_plan_key_check(p, type, &type->keys[i], at, x->l->default_db, &v)) {
            x->salvage = true;
            continue;
        }
        x->vals[i] = v;
    }
}

/* False: the step cannot be compiled without a missing key. A missing collection is replaced by a unique name. */
static bool
needed_keys(struct load_entry *x)
{
    const struct mrs_step_type *type = x->args.type;
    struct mrsi_plan *p = x->l->p;
    bool enough = true;
    for (uint32_t i = 0; i < type->n_keys && !p->dead; i++) {
        const struct mrs_key *key = &type->keys[i];
        if (!key->needed || x->vals[i].type != MRS_MISSING) {
            continue;
        }
        if (!x->at[i]) {
            mrsi_plan_error(p, x->src->line, x->src->col, "%s: needed key `%s` is missing%s%.200s",
                            type->name, key->name, key->help && *key->help ? "; " : "",
                            key->help ? key->help : "");
        }
        x->salvage = true;
        char placeholder[80];
        int n = snprintf(placeholder, sizeof placeholder, "missing.%.60s", key->name);
        if (key->type == MRS_ARG_COLL && x->l->default_db) {
            x->vals[i] = mrs_make_text(&p->pub.arena, placeholder, (uint32_t)n);
            p->dead = p->dead || x->vals[i].type == MRS_MISSING;
        } else {
            enough = false;
        }
    }
    return enough && !p->dead;
}

/* Orders a map by the table of its keys; unknown keys come last, for the step to report. */
static void
build_inner(struct mrs_build *b, const struct mrs_inner *in, struct mrs_view map)
{
    MRS_ASSERT(mrs_view_is_framed(map));
    struct mrs_walk w;
    struct mrs_elem el;
    for (uint32_t i = 0; i < in->n_keys; i++) {
        mrs_build_val(b, in->keys[i].name, (uint32_t)strlen(in->keys[i].name), mrs_doc_get(map, in->keys[i].name));
    }
    for (mrs_walk_init(&w, map); mrs_walk_next(&w, &el) == 1;) {
        uint32_t i = 0;
        while (i < in->n_keys && strcmp(in->keys[i].name, el.name) != 0) {
            i++;
        }
        if (i == in->n_keys) {
            mrs_build_elem(b, &el);
        }
    }
}

/* The value of a key. Steps of version 2 also have their inner keys in the order of the table, so that the plan id does
 * not depend on their order; the ids of older plans stay unchanged. */
static void
build_value(struct mrs_build *b, const struct mrs_step_type *type, const char *key, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    const struct mrs_inner *in = NULL;
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t len = (uint32_t)strlen(key);
    for (uint32_t i = 0; type->since >= 2 && i < type->n_inner; i++) {
        in = strcmp(type->inner[i].key, key) == 0 ? &type->inner[i] : in;
    }
    if (!in || v.type != (in->each ? MRS_ARRAY : MRS_DOCUMENT)) {
        mrs_build_val(b, key, len, v);
        return;
    }
    mrs_build_open(b, key, len, v.type);
    if (!in->each) {
        build_inner(b, in, mrs_val_view(v));
    }
    for (mrs_walk_init(&w, mrs_val_view(v)); in->each && mrs_walk_next(&w, &el) == 1;) {
        if (el.v.type != MRS_DOCUMENT) {
            mrs_build_item(b, el.v);
            continue;
        }
        mrs_build_item_open(b, MRS_DOCUMENT);
        build_inner(b, in, mrs_val_view(el.v));
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static bool
build_body(struct load_entry *x)
{
    const struct mrs_step_type *type = x->args.type;
    struct mrsi_plan *p = x->l->p;
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&buf, p->pub.mem, 2 * MRSI_EXPANDED_MAX);
    mrs_build_init(&b, &buf);
    for (uint32_t i = 0; i < type->n_keys; i++) {
        build_value(&b, type, type->keys[i].name, x->vals[i]);
    }
    enum mrs_status s = mrs_build_finish(&b, &doc, NULL);
    x->args.body.p = s == MRS_OK ? mrs_arena_copy(&p->pub.arena, doc.p, doc.n) : NULL;
    x->args.body.n = s == MRS_OK ? doc.n : 0;
    mrs_buf_clear(&buf);
    if (!x->args.body.p) {
        p->dead = p->dead || s != MRS_FAIL;
        if (s == MRS_FAIL) {
            mrsi_plan_error(p, x->src->line, x->src->col,
                            "%s: the step is too large or nested too deep", type->name);
        }
        return false;
    }
    return true;
}

/* ---- compile ---- */
static bool
place(const struct load_entry *x, const char *key, const char *sub, uint32_t *line, uint32_t *col)
{
    bool known = key == NULL;
    *line = x->src->line;
    *col = x->src->col;
    for (uint32_t i = 0; key && i < x->args.type->n_keys; i++) {
        if (strcmp(x->args.type->keys[i].name, key) == 0 && x->at[i]) {
            *line = x->at[i]->line;
            *col = x->at[i]->col;
            mrsi_tree_locate(x->at[i]->node, sub, line, col);
            known = x->vals[i].type != MRS_MISSING;
        }
    }
    return known && key;
}

/* "embed: `match.postId`: " */
static const char *
prefix(const struct load_entry *x, const char *key, const char *sub, char text[200])
{
    if (!key) {
        snprintf(text, 200, "%s: ", x->args.type->name);
    } else {
        snprintf(text, 200, "%s: `%.60s%s%.80s`: ", x->args.type->name, key, sub ? "." : "",
                 sub ? sub : "");
    }
    return text;
}

static void
report(void *arg, const char *key, const char *sub, const char *msg)
{
    struct load_entry *x = arg;
    uint32_t line, col;
    char text[200];
    x->args.n_errors++;
    if (place(x, key, sub, &line, &col) || !x->salvage) {
        mrsi_plan_error(x->l->p, line, col, "%s%s", prefix(x, key, sub, text), msg);
    }
}

static void
warn(void *arg, const char *key, const char *sub, const char *msg)
{
    struct load_entry *x = arg;
    uint32_t line, col;
    char text[200];
    if (place(x, key, sub, &line, &col) || !x->salvage) {
        mrsi_plan_warning(x->l->p, line, col, "%s%s", prefix(x, key, sub, text), msg);
    }
}

static void
compile(struct load_entry *x, struct mrs_step *step)
{
    MRS_ASSERT(step->type);
    struct mrsi_plan *p = x->l->p;
    struct mrs_err e;
    mrs_err_clear(&e);
    uint32_t before = p->pub.n_errors + p->unseen;
    enum mrs_status s = x->args.type->compile(&x->args, &step->state, &e);
    if (s == MRS_OK) {
        s = x->args.type->describe(step->state, &p->pub.arena, &step->desc, &e);
        MRS_THEN(s, mrs_conditions_describe(&x->conditions, &p->pub.arena, &step->desc, &e));
    }
    x->l->n_lists += x->conditions.n;
    if (s == MRS_DEAD) {
        p->dead = true;
    } else if (s != MRS_OK && !x->salvage && p->pub.n_errors + p->unseen == before) {
        uint32_t line, col;
        char text[200];
        place(x, *e.where ? e.where : NULL, NULL, &line, &col);
        mrsi_plan_error(p, line, col, "%s%s", prefix(x, *e.where ? e.where : NULL, NULL, text),
                        *e.msg ? e.msg : "the step cannot be made");
    }
}

/* The keys of a step, all unset. False: out of memory. */
static bool
begin_entry(struct load_entry *x, const struct mrs_step_type *type)
{
    struct mrsi_plan *p = x->l->p;
    size_t rows = type->n_keys ? type->n_keys : 1;
    x->conditions = (struct mrs_conditions){.first = x->l->n_lists};
    x->args = (struct mrs_args){.mem = p->pub.mem,
                                .arena = &p->pub.arena,
                                .default_db = x->l->default_db,
                                .now_ms = x->l->opts->now_ms,
                                .version = p->pub.version,
                                .server_8_2 = strcmp(p->pub.server, "8.2") == 0,
                                .conditions = &x->conditions,
                                .type = type,
                                .report = report,
                                .warn = warn,
                                .arg = x};
    x->vals = mrs_arena_alloc(&p->pub.arena, rows * sizeof *x->vals);
    x->at = mrs_arena_alloc(&p->pub.arena, rows * sizeof *x->at);
    if (!x->vals || !x->at) {
        p->dead = true;
        return false;
    }
    memset(x->vals, 0, rows * sizeof *x->vals);
    memset(x->at, 0, rows * sizeof *x->at);
    return true;
}

static void
load_body(struct loader *l, uint32_t i, const struct mrs_step_type *type)
{
    MRS_ASSERT(i < l->p->pub.n_steps);
    struct mrsi_plan *p = l->p;
    struct load_entry x = {.l = l, .src = &p->src[i]};
    p->pub.steps[i].type = type;
    if (!begin_entry(&x, type)) {
        return;
    }
    read_keys(&x);
    if (p->dead || !needed_keys(&x) || !build_body(&x)) {
        return;
    }
    compile(&x, &p->pub.steps[i]);
    l->bodies[i] = p->pub.steps[i].body = x.args.body;
    mrsi_stars_check(p, &p->pub.steps[i], &p->src[i]);
}

/* ---- the list of steps ---- */
/* Stages and keywords of other tools, and the step that replaces each. */
static const struct {
    const char *word, *step;
} elsewhere[] = {
    {"unwind", "`extract` makes documents of an array"},
    {"group", "`rollup` computes values of groups, `bucket` puts their documents together"},
    {"lookup", "`embed` embeds documents, `copy` copies fields next to a reference"},
    {"graphLookup", "`tree` turns one form of a tree into another"},
    {"join", "`embed` embeds documents, `copy` copies fields next to a reference"},
    {"addFields", "`set` does it"},
    {"update", "`set` does it"},
    {"project", "`set` computes fields, `unset` takes them out, `order` puts them in order"},
    {"remove", "`unset` takes fields out"},
    {"replaceRoot", "`replace` makes other documents, `set` and `unset` change them"},
    {"replaceWith", "`replace` makes other documents, `set` and `unset` change them"},
    {"setWindowFields", "`window` does it"},
    {"fill", "`window` with $locf or $linearFill does it"},
    {"densify", "`grid` makes the documents, `copy` fills them, `window` fills gaps"},
    {"bucketAuto", "`rollup` computes values of groups"},
    {"mapReduce", "`rollup` computes values of groups"},
    {"distinct", "`rollup` with `by` gives each value once"},
    {"redact", "`set` with a path of stars does it"},
    {"updateOne", "`set` with `where` does it"},
    {"updateMany", "`set` with `where` does it"},
    {"deleteOne", "`delete` with `where` does it"},
    {"deleteMany", "`delete` with `where` does it"},
    {"insertMany", "`move` moves documents to a collection"},
    {"copyTo", "`copy_collection` does it"},
    {"convertToCapped", "`options` does it"},
    {"dropIndex", "`index` makes and removes indexes"},
    {"drop", "`unset` takes fields out, `index` removes indexes, `drop_collection` a collection with its documents"},
    {"merge", "`move` moves documents to a collection, `union` those of several"},
    {"out", "`move` moves documents to a collection"},
    {"insert", "`move` moves documents to a collection"},
    {"unionWith", "`union` merges collections"},
    {"match", "use `where` of a step to select documents"},
    {"find", "use `where` of a step to select documents"},
    {"filter", "use `where` of a step to select documents"},
    {"sort", "`sort` is a key of `embed`, `rollup` and others"},
    {"limit", "`limit` is a key of `embed`, `run --sample` takes a part of the data"},
    {"skip", "`run --sample` takes a part of the data"},
    {"sample", "`run --sample` takes a part of the data"},
    {"count", "`rollup` with {$sum: 1} counts, `count` is a key of `embed` and `extract`"},
    {"sortByCount", "`rollup` with {$sum: 1} counts"},
    {"facet", "write one step for each result"},
    {"convert", "`cast` gives fields another type"},
    {"createIndex", "`index` makes and removes indexes"},
    {"renameCollection", "`rename_collection` does it"},
    {"dedupe", "`rekey` with `merge` makes one document of those with a common key"},
    {"deduplicate", "`rekey` with `merge` makes one document of those with a common key"},
    {"flatten", "`rename` moves fields out of a document: { address.city: city }, `unpack` with `form: document` all"},
    {"nest", "`rename` moves fields into a document: { city: address.city }, `pack` with `form: document` many"},
    {"normalize", "`extract` makes documents of an array or an embedded document"},
    {"denormalize", "`copy` copies fields next to a reference, `embed` embeds documents"},
    {"explode", "`extract` makes documents of an array"},
    {"aggregate", "`rollup` computes values of groups, `set` fields of each document"},
    {"add", "`set` does it"},
    {"archive", "`move` moves documents to a collection"},
    {"changeType", "`cast` gives fields another type"},
    {"validator", "`options` does it"},
    {"where", "use `where` of a step to select documents"},
    {"pivot", "`pack` makes an array of fields, `unpack` fields of an array"},
    {"number", "`window` with $documentNumber numbers documents"},
    {"mask", "`set` computes other values, `unset` takes fields out"},
};

const char *
mrs_plan_done_by(const char *word)
{
    word += *word == '$';
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        if (is_same_word(word, elsewhere[i].word)) {
            return elsewhere[i].step;
        }
    }
    return NULL;
}

static void
unknown_step(struct mrsi_plan *p, const struct mrsi_yaml_entry *at)
{
    MRS_ASSERT(at->key);
    const struct mrs_step_type *later = mrs_step_type_find(at->key);
    if (later) {
        mrsi_plan_error(p, at->line, at->col, "unknown step `%.80s`: " MRSI_LATER, at->key);
        return;
    }
    const char *step = mrs_plan_done_by(at->key);
    if (step) {
        mrsi_plan_error(p, at->line, at->col, "unknown step `%.80s`: %s", at->key, step);
        return;
    }
    if (*at->key == '$' && mrs_step_type_find(at->key + 1)) {
        mrsi_plan_error(p, at->line, at->col, "unknown step `%.80s`: it is called `%s` here", at->key, at->key + 1);
        return;
    }
    const char *names[NAMES_MAX] = {0};
    char hint[96], list[360] = "";
    uint32_t n = 0;
    size_t used = 0;
    const struct mrs_step_type *type;
    for (uint32_t i = 0; n < NAMES_MAX && (type = mrs_step_type_at(i)); i++) {
        if (mrsi_step_known(type, p->pub.version)) {
            names[n++] = type->name;
        }
    }
    mrsi_plan_hint(hint, at->key, names, n);
    if (strstr(hint, "drop") || strstr(hint, "`delete`") || strstr(hint, "`unset`")) {
        *hint = '\0'; /* after a slip, do not suggest a step that deletes */
    }
    for (uint32_t i = 0; !*hint && i < n && used < sizeof list - 40; i++) {
        int w = snprintf(list + used, sizeof list - used, "%s%.36s",
                         i ? " " : "; the steps are: ", names[i]);
        used += w > 0 ? (size_t)w : 0;
    }
    mrsi_plan_error(p, at->line, at->col, "unknown step `%.80s`%s%s", at->key, hint, list);
}

/* The entry with the step's type, or NULL after an error. */
static const struct mrsi_yaml_entry *
step_entry(struct mrsi_plan *p, const struct mrsi_yaml_entry *item)
{
    const struct mrsi_yaml_node *node = item->node;
    if (node->kind != MRSI_MAP || node->count == 0) {
        mrsi_plan_error(p, item->line, item->col,
                        "a step is a map with one key, as in `- embed: { from: ..., into: ... }`");
        return NULL;
    }
    if (node->count == 1) {
        return node->first;
    }
    const struct mrsi_yaml_entry *second = node->first->next;
    const char *first = node->first->key;
    if (node->first->node->kind == MRSI_SCALAR && node->first->node->val.type == MRS_NULL &&
        mrs_step_type_find(first)) {
        mrsi_plan_error(p, second->line, second->col,
                        "`%.60s` is next to `%s`, not inside it: indent the keys of `%s` by "
                        "four blanks more",
                        second->key, first, first);
    } else {
        mrsi_plan_error(p, second->line, second->col,
                        "a step has exactly one key, `%.60s` would be a second one: begin the next "
                        "step with `- `",
                        second->key);
    }
    return NULL;
}

/* Keys of the collection whose documents a step with the key `twins` counts. */
static const char *const counted[] = {"from", "in", "parent", "child"};
enum { N_COUNTED = sizeof counted / sizeof *counted };

/* The policy for equal `_id`s of a step that counts each document, if not the default; NULL. */
static const struct mrsi_yaml_entry *
twins_of(const struct mrsi_yaml_entry *item)
{
    bool one = item->node->kind == MRSI_MAP && item->node->count == 1;
    const struct mrsi_yaml_node *step = one ? item->node->first->node : NULL;
    const struct mrs_step_type *type = step ? mrs_step_type_find(item->node->first->key) : NULL;
    const struct mrsi_yaml_entry *at = type && step->kind == MRSI_MAP ? mrsi_tree_find(step, "twins") : NULL;
    bool text = at && at->node->kind == MRSI_SCALAR && at->node->val.type == MRS_STRING;
    const struct mrs_key *key = text ? mrs_key_find(type->keys, type->n_keys, at->key) : NULL;
    uint32_t n = 0;
    const char *word = key ? mrs_val_text(at->node->val, &n) : NULL;
    return word && (strcspn(key->choices, "|") != n || memcmp(word, key->choices, n) != 0) ? at : NULL;
}

/* Its collections, as keys of the step; a collection under two keys counts once. */
static uint32_t
judged_by(const struct mrsi_yaml_entry *item, const char *out[N_COUNTED])
{
    const struct mrsi_yaml_node *step = item->node->first->node;
    const struct mrs_step_type *type = mrs_step_type_find(item->node->first->key);
    const struct mrs_val *last = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < N_COUNTED; i++) {
        bool known = mrs_key_find(type->keys, type->n_keys, counted[i]);
        const struct mrsi_yaml_entry *at = known ? mrsi_tree_find(step, counted[i]) : NULL;
        const struct mrs_val *v = at && at->node->kind == MRSI_SCALAR ? &at->node->val : NULL;
        if (at && !(v && last && mrs_identical(*v, *last))) {
            out[n++] = counted[i];
        }
        last = v ? v : last;
    }
    return n;
}

/* `twins: refuse` and `twins: first` become a step before this one: a `set` of `_id` to itself, which applies the
 * policy to equal `_id`s. The step after it is loaded: its body has the collection, under `of`. */
static void
load_twins(struct loader *l, uint32_t i, const struct mrsi_yaml_entry *twins, const char *of, struct mrs_view behind)
{
    struct mrsi_plan *p = l->p;
    const struct mrs_step_type *type = mrs_step_type_find("set");
    static const uint8_t own_id[] = "\x13\0\0\0\x02_id\0\5\0\0\0$_id\0"; /* {_id: "$_id"} */
    const struct mrs_val fields = {own_id, sizeof own_id, MRS_DOCUMENT};
    struct load_entry x = {.l = l, .src = &p->src[i]};
    struct mrs_step *step = &p->pub.steps[i];
    step->no = i + 1;
    step->line = p->src[i].line = twins->line;
    step->col = p->src[i].col = twins->col;
    if (!behind.n) {
        return; /* it has errors */
    }
    step->type = type;
    if (!begin_entry(&x, type)) {
        return;
    }
    for (uint32_t k = 0; k < type->n_keys; k++) {
        const char *name = type->keys[k].name;
        x.vals[k] = strcmp(name, "in") == 0          ? mrs_doc_get(behind, of)
                    : strcmp(name, "fields") == 0    ? fields
                    : strcmp(name, "conflicts") == 0 ? mrs_doc_get(behind, "twins")
                                                     : mrs_missing();
    }
    if (build_body(&x)) {
        compile(&x, step);
        l->bodies[i] = step->body = x.args.body;
    }
}

static void
load_step(struct loader *l, uint32_t i, const struct mrsi_yaml_entry *item)
{
    MRS_ASSERT(i < l->p->pub.n_steps);
    struct mrsi_plan *p = l->p;
    const struct mrsi_yaml_entry *at = step_entry(p, item);
    p->pub.steps[i].no = i + 1;
    p->pub.steps[i].line = p->src[i].line = at ? at->line : item->line;
    p->pub.steps[i].col = p->src[i].col = at ? at->col : item->col;
    if (!at) {
        return;
    }
    const struct mrs_step_type *type = mrs_step_type_find(at->key);
    if (!type || !mrsi_step_known(type, p->pub.version)) {
        unknown_step(p, at);
        return;
    }
    if (at->node->kind != MRSI_MAP) {
        mrsi_plan_error(p, at->line, at->col,
                        "%s: a map of its keys must follow, as in `- %s: { %s: ... }`", type->name,
                        type->name, type->n_keys ? type->keys[0].name : "in");
        return;
    }
    p->src[i].body = at->node;
    load_body(l, i, type);
}

static void
load_steps(struct loader *l)
{
    struct mrsi_plan *p = l->p;
    const struct mrsi_yaml_entry *at = mrsi_tree_find(p->root, "steps");
    if (!at) {
        mrsi_plan_error(p, p->root->line, p->root->col,
                        "`steps` is missing: a plan is a list of steps (`steps: []` copies)");
        return;
    }
    if (at->node->kind != MRSI_LIST) {
        mrsi_plan_error(p, at->line, at->col,
                        "`steps` must be a list: each step begins with `- ` on a line of its own");
        return;
    }
    uint32_t n = at->node->count;
    const char *of[N_COUNTED];
    for (const struct mrsi_yaml_entry *item = at->node->first; item; item = item->next) {
        n += twins_of(item) ? judged_by(item, of) : 0;
    }
    if (n > MRS_PLAN_STEPS_MAX) {
        mrsi_plan_error(p, at->line, at->col,
                        "`steps` has %u entries, more than the %d a plan may have", n,
                        MRS_PLAN_STEPS_MAX);
        return;
    }
    size_t room = n ? n : 1;
    p->pub.steps = mrs_arena_alloc(&p->pub.arena, room * sizeof *p->pub.steps);
    p->src = mrs_arena_alloc(&p->pub.arena, room * sizeof *p->src);
    l->bodies = mrs_arena_alloc(&p->pub.arena, room * sizeof *l->bodies);
    if (!p->pub.steps || !p->src || !l->bodies) {
        p->dead = true;
        return;
    }
    memset(p->pub.steps, 0, room * sizeof *p->pub.steps);
    memset(p->src, 0, room * sizeof *p->src);
    memset(l->bodies, 0, room * sizeof *l->bodies);
    p->pub.n_steps = p->pub.n_written = n;
    p->pub.written = p->pub.steps;
    uint32_t i = 0;
    for (const struct mrsi_yaml_entry *item = at->node->first; item && !p->dead; item = item->next) {
        const struct mrsi_yaml_entry *twins = twins_of(item);
        uint32_t n_of = twins ? judged_by(item, of) : 0;
        load_step(l, i + n_of, item);
        for (uint32_t k = 0; k < n_of && !p->dead; k++) {
            load_twins(l, i + k, twins, of[k], l->bodies[i + n_of]);
        }
        i += 1 + n_of;
    }
}

static void
load_root(struct loader *l)
{
    struct mrsi_plan *p = l->p;
    if (!p->root || (p->root->kind == MRSI_SCALAR && p->root->val.type == MRS_NULL)) {
        mrsi_plan_error(p, 1, 1, "the plan is empty; it needs at least `steps:`");
        return;
    }
    if (p->root->kind != MRSI_MAP) {
        mrsi_plan_error(p, p->root->line, p->root->col, "a plan is a map; %s",
                        p->root->kind == MRSI_LIST ? "write `steps:` above the list"
                                                   : "it needs at least `steps:`");
        return;
    }
    check_top_keys(p);
    const char *name = top_text(p, "plan", "comments into posts");
    p->pub.name = name ? name : "";
    load_version(l);
    load_server(l);
    load_database(l);
    if (!p->dead) {
        load_steps(l);
    }
}

/* ---- entry points ---- */
static void
free_state(struct mrs_plan *pub, const struct mrs_step *s)
{
    if (s->state && s->type->free_state) {
        s->type->free_state(pub->mem, s->state);
    }
}

static void
free_states(struct mrs_plan *pub)
{
    for (uint32_t i = 0; i < pub->n_steps; i++) {
        free_state(pub, &pub->steps[i]);
    }
    for (uint32_t i = 0; pub->fitted && i < pub->n_written; i++) {
        if (pub->written[i].stars) { /* the others belong to steps as well */
            free_state(pub, &pub->written[i]);
        }
    }
    pub->n_steps = pub->n_written = 0;
}

static bool
too_large(struct mrsi_plan *p, const char *text, size_t n)
{
    MRS_ASSERT(text || n == 0);
    uint32_t line = 1, col = 1;
    if (n <= MRS_PLAN_BYTES_MAX) {
        return false;
    }
    for (size_t i = 0; i < MRS_PLAN_BYTES_MAX; i++) {
        bool end = text[i] == '\n';
        line += end;
        col = end ? 1 : col + 1;
    }
    mrsi_plan_error(p, line, col,
                    "the plan has %zu bytes; here it passes the 4 MiB that a plan may have", n);
    return true;
}

static struct mrsi_plan *
new_plan(struct mrs_mem *mem, const struct mrs_plan_opts *opts)
{
    struct mrsi_plan *p = mrs_zalloc(mem, sizeof *p);
    if (!p) {
        return NULL;
    }
    const char *file = opts->file ? opts->file : "plan";
    p->pub.mem = mem;
    p->pub.now_ms = opts->now_ms;
    p->pub.name = p->pub.database = "";
    p->pub.server = servers[N_SERVERS - 1];
    p->pub.version = MRS_PLAN_VERSION;
    mrs_arena_init(&p->pub.arena, mem);
    p->pub.file = mrs_arena_copy(&p->pub.arena, file, strlen(file) + 1);
    p->dead = !p->pub.file;
    return p;
}

enum mrs_status
mrs_plan_load(struct mrs_mem *mem, const char *text, size_t n, const struct mrs_plan_opts *opts,
              struct mrs_plan **out, struct mrs_err *e)
{
    MRS_ASSERT(mem && (text || n == 0) && out);
    *out = NULL;
    struct mrsi_plan *p = new_plan(mem, opts);
    MRS_TRY(mrs_allocated(p, sizeof *p, e));
    struct loader l = {.p = p, .opts = opts};
    if (!p->dead && !too_large(p, text, n) && mrsi_yaml_read(p, text, n)) {
        load_root(&l);
    }
    mrsi_plan_errors_sort(p);
    p->pub.n_lists = l.n_lists;
    enum mrs_status s = mrsi_plan_errors_status(p, e);
    if (s == MRS_OK) {
        p->pub.id_known = l.db_known;
        s = mrs_tzdata_version(p->pub.tzdata, sizeof p->pub.tzdata, e);
        MRS_THEN(s, mrsi_plan_make_id(p, l.version_key, l.bodies, e));
    }
    if (s == MRS_DEAD || (s != MRS_OK && p->pub.n_errors == 0)) {
        mrs_plan_free(&p->pub);
        return s;
    }
    if (s != MRS_OK) {
        free_states(&p->pub);
    }
    *out = &p->pub;
    return s;
}

void
mrs_plan_free(struct mrs_plan *plan)
{
    if (!plan) {
        return;
    }
    struct mrs_mem *mem = plan->mem;
    free_states(plan);
    mrs_free(mem, plan->errors);
    mrs_arena_clear(&plan->arena);
    mrs_free(mem, plan);
}

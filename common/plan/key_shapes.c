/* SPDX-License-Identifier: Apache-2.0 */
/* key_shapes.c - checks the type of a key's value against the step's table.
 *
 * Only the type: later code checks that a path is valid, an expression compiles or a collection exists. Messages state
 * the expected value, show the actual one, and add the key's help line. */
#include "plan_internal.h"

#include <stdio.h>

struct key_shapes_check {
    struct mrsi_plan *p;
    const struct mrs_step_type *type;
    const struct mrs_key *key;
    const struct mrsi_yaml_entry *at;
    const char *default_db;
};

const char *
mrsi_plan_hint(char text[96], const char *word, const char *const *words, uint32_t n)
{
    MRS_ASSERT(word && (words || n == 0));
    const char *near = mrs_nearest(word, words, n);
    text[0] = '\0';
    if (near) {
        snprintf(text, 96, " (did you mean `%.60s`?)", near);
    }
    return text;
}

/* sub: place inside the value; NULL: the whole value. Always false. */
static bool
wrong(const struct key_shapes_check *c, const char *sub, const char *expected, struct mrs_val v)
{
    MRS_ASSERT(expected && c->at);
    char picture[96];
    uint32_t line = c->at->line, col = c->at->col;
    mrsi_tree_locate(c->at->node, sub, &line, &col);
    mrs_val_picture(v, picture, sizeof picture);
    const char *help = c->key->help ? c->key->help : "";
    mrsi_plan_error(c->p, line, col, "%s: `%s%s%.60s` must be %s, not %s%s%.160s", c->type->name,
                    c->key->name, sub ? "." : "", sub ? sub : "", expected,
                    v.type == MRS_NULL ? "null (nothing)" : picture, *help ? "; " : "", help);
    return false;
}

static bool
is_text(struct mrs_val v)
{
    return v.type == MRS_STRING && v.n > 5;
}

static bool
text_is(struct mrs_val v, const char *word, size_t n)
{
    return v.type == MRS_STRING && v.n == n + 5 && memcmp(v.p + 4, word, n) == 0;
}

/* Calls fn for each entry of a document or array, with its name; the result is false if any call was, after all
 * calls. */
static bool
each(const struct key_shapes_check *c, struct mrs_val v, const char *above,
     bool (*fn)(const struct key_shapes_check *c, const char *sub, struct mrs_val v))
{
    MRS_ASSERT(fn && mrs_val_is_sized(v));
    struct mrs_walk w;
    struct mrs_elem e;
    bool good = true;
    mrs_walk_init(&w, mrs_val_view(v));
    while (mrs_walk_next(&w, &e) == 1) {
        char sub[160];
        snprintf(sub, sizeof sub, "%s%s%s", above ? above : "", above ? "." : "", e.name);
        good = fn(c, sub, e.v) && good;
    }
    return good;
}

/* ---- collections ---- */
/* A name, or a list of one name, in which a star is a literal character. */
static bool
is_one_name(const struct key_shapes_check *c, struct mrs_val v)
{
    struct mrs_walk w;
    struct mrs_elem e;
    if (v.type != MRS_ARRAY || c->p->pub.version < 2) {
        return is_text(v);
    }
    mrs_walk_init(&w, mrs_val_view(v));
    return mrs_val_count(v) == 1 && mrs_walk_next(&w, &e) == 1 && is_text(e.v);
}

static bool
check_coll(const struct key_shapes_check *c, const char *sub, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    static const char expected[] =
        "a collection: its name, or { db: shop, coll: orders } for one of another database";
    if (is_text(v)) {
        if (c->default_db) {
            return true;
        }
        uint32_t line = c->at->line, col = c->at->col;
        mrsi_tree_locate(c->at->node, sub, &line, &col);
        mrsi_plan_error(c->p, line, col,
                        "%s: `%s%s%.60s` names a collection, but not of which database: add "
                        "`database: NAME` at the top of the plan, or write "
                        "{ db: NAME, coll: %.60s }",
                        c->type->name, c->key->name, sub ? "." : "", sub ? sub : "",
                        (const char *)v.p + 4);
        return false;
    }
    struct mrs_val db = v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(v), "db") : mrs_missing();
    struct mrs_val coll = v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(v), "coll") : mrs_missing();
    bool default_db = c->p->pub.version > 1 && c->default_db && db.type == MRS_MISSING;
    if (is_one_name(c, coll) && (is_one_name(c, db) || default_db) && mrs_val_count(v) == 2u - default_db) {
        return true;
    }
    return wrong(c, sub, expected, v);
}

/* An entry of a list of collections: one, or {value: x, into: coll}. */
static bool
check_listed(const struct key_shapes_check *c, const char *sub, struct mrs_val v)
{
    char below[176];
    if (v.type != MRS_DOCUMENT || mrs_doc_get(mrs_val_view(v), "into").type == MRS_MISSING) {
        return check_coll(c, sub, v);
    }
    if (mrs_val_count(v) != 2 || mrs_doc_get(mrs_val_view(v), "value").type == MRS_MISSING) {
        return wrong(c, sub, "{ value: x, into: collection }", v);
    }
    snprintf(below, sizeof below, "%s.into", sub);
    return check_coll(c, below, mrs_doc_get(mrs_val_view(v), "into"));
}

/* Makes a list of the value. */
static bool
enlist(const struct key_shapes_check *c, struct mrs_val *v)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view list;
    mrs_buf_init(&buf, c->p->pub.mem, 2 * MRSI_EXPANDED_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_val(&b, "0", 1, *v);
    enum mrs_status s = mrs_build_finish(&b, &list, NULL);
    v->p = s == MRS_OK ? mrs_arena_copy(&c->p->pub.arena, list.p, list.n) : NULL;
    v->n = list.n;
    v->type = MRS_ARRAY;
    mrs_buf_clear(&buf);
    c->p->dead = c->p->dead || !v->p;
    return v->p != NULL;
}

/* One collection, where several may stand: { db, coll } is no map of the tags `db` and `coll`. */
static bool
is_single(const struct key_shapes_check *c, struct mrs_val v)
{
    return c->p->pub.version > 1 && c->type->stars == MRS_STARS_LIST &&
           (is_text(v) || (v.type == MRS_DOCUMENT && mrs_val_count(v) == 2 &&
                           mrs_doc_get(mrs_val_view(v), "db").type != MRS_MISSING &&
                           mrs_doc_get(mrs_val_view(v), "coll").type != MRS_MISSING));
}

static bool
check_colls(const struct key_shapes_check *c, struct mrs_val *v)
{
    if (is_single(c, *v)) {
        return check_coll(c, NULL, *v) && (is_text(*v) || enlist(c, v));
    }
    if ((v->type != MRS_ARRAY && v->type != MRS_DOCUMENT) || mrs_val_count(*v) == 0) {
        return wrong(c, NULL, "several collections: a list, or a map { tag: collection }", *v);
    }
    return each(c, *v, NULL, v->type == MRS_ARRAY ? check_listed : check_coll);
}

/* ---- paths ---- */
static bool
check_name(const struct key_shapes_check *c, const char *sub, struct mrs_val v)
{
    return is_text(v) || wrong(c, sub, "the name of a field", v);
}

static bool
check_path(const struct key_shapes_check *c, const char *sub, struct mrs_val v)
{
    if (v.type == MRS_ARRAY && mrs_val_count(v) > 0) {
        return each(c, v, sub, check_name);
    }
    return is_text(v) ||
           wrong(c, sub, "a path: `a.b.c`, or a list [a, \"b.c\"] for names with dots", v);
}

/* ---- keywords ---- */
static bool
is_choice(const char *choices, struct mrs_val v)
{
    MRS_ASSERT(choices && mrs_val_is_sized(v));
    const char *at = choices;
    while (at && *at) {
        size_t n = strcspn(at, "|");
        if (text_is(v, at, n)) {
            return true;
        }
        at += n + (at[n] == '|');
    }
    return false;
}

static bool
wrong_choice(const struct key_shapes_check *c, const char *or_else, struct mrs_val v)
{
    char words[256], list[256] = "", hint[96] = "", picture[96];
    const char *word[32] = {0};
    uint32_t n = 0;
    size_t used = 0;
    snprintf(words, sizeof words, "%s", c->key->choices ? c->key->choices : "");
    for (char *at = words; *at && n < 32; n++) {
        char *end = at + strcspn(at, "|");
        bool last = *end == '\0';
        *end = '\0';
        word[n] = at;
        int w = snprintf(list + used, sizeof list - used, "%s`%s`", n ? ", " : "", at);
        used = w > 0 && used + (size_t)w < sizeof list ? used + (size_t)w : sizeof list - 1;
        at = last ? end : end + 1;
    }
    if (is_text(v)) {
        mrsi_plan_hint(hint, (const char *)v.p + 4, word, n);
    }
    mrs_val_picture(v, picture, sizeof picture);
    mrsi_plan_error(c->p, c->at->line, c->at->col, "%s: `%s` must be one of %s%s, not %s%s",
                    c->type->name, c->key->name, list, or_else, picture, hint);
    return false;
}

static bool
check_choice(const struct key_shapes_check *c, struct mrs_val *v)
{
    MRS_ASSERT(c->key->choices);
    struct mrs_val null_word = {(const uint8_t *)"\5\0\0\0null", 9, MRS_STRING};
    if (v->type == MRS_NULL && is_choice(c->key->choices, null_word)) {
        *v = null_word;
    }
    if (is_choice(c->key->choices, *v)) {
        return true;
    }
    if (c->key->type != MRS_ARG_CHOICE_OR_COLL) {
        return wrong_choice(c, "", *v);
    }
    if (v->type != MRS_DOCUMENT || mrs_val_count(*v) != 1 ||
        mrs_doc_get(mrs_val_view(*v), "into").type == MRS_MISSING) {
        return wrong_choice(c, " or { into: collection }", *v);
    }
    return check_coll(c, "into", mrs_doc_get(mrs_val_view(*v), "into"));
}

static bool
check_pair(const struct key_shapes_check *c, const char *sub, struct mrs_val v)
{
    if (v.type == MRS_DOCUMENT && mrs_val_count(v) == 2 &&
        mrs_doc_get(mrs_val_view(v), "from").type != MRS_MISSING &&
        mrs_doc_get(mrs_val_view(v), "into").type != MRS_MISSING) {
        return true;
    }
    return wrong(c, sub, "{ from: expression, into: expression }", v);
}

static bool
check_match(const struct key_shapes_check *c, struct mrs_val v)
{
    if (v.type == MRS_ARRAY && mrs_val_count(v) > 0) {
        return each(c, v, NULL, check_pair);
    }
    if (v.type != MRS_DOCUMENT || mrs_val_count(v) == 0) {
        return wrong(c, NULL,
                     "a map { path in from: path in into }, or a list [{ from: expression, into: "
                     "expression }]",
                     v);
    }
    return each(c, v, NULL, check_path);
}

static bool
check_count(const struct key_shapes_check *c, struct mrs_val v)
{
    int64_t n = -1;
    bool whole = (v.type == MRS_INT32 || v.type == MRS_INT64) && mrs_val_integral(v, &n) && n >= 0;
    return whole || wrong(c, NULL, "a whole number, 0 or more, without quotes", v);
}

static bool
check_fields(const struct key_shapes_check *c, struct mrs_val v)
{
    if (v.type == MRS_ARRAY) {
        return each(c, v, NULL, check_path);
    }
    return v.type == MRS_DOCUMENT ||
           wrong(c, NULL, "a list of fields [a, b], or a map { new: expression }", v);
}

bool
mrsi_plan_key_check(struct mrsi_plan *p, const struct mrs_step_type *type,
                    const struct mrs_key *key, const struct mrsi_yaml_entry *at, const char *default_db,
                    struct mrs_val *v)
{
    MRS_ASSERT(key->name && at->node);
    struct key_shapes_check c = {p, type, key, at, default_db};
    switch (key->type) {
    case MRS_ARG_COLL: return check_coll(&c, NULL, *v);
    case MRS_ARG_COLLS: return check_colls(&c, v);
    case MRS_ARG_TEXT: return v->type == MRS_STRING || wrong(&c, NULL, "a text", *v);
    case MRS_ARG_NAME: return check_name(&c, NULL, *v);
    case MRS_ARG_PATH: return check_path(&c, NULL, *v);
    case MRS_ARG_PATHS:
        return v->type == MRS_ARRAY ? each(&c, *v, NULL, check_path)
                                    : wrong(&c, NULL, "a list of paths [a, b.c]", *v);
    case MRS_ARG_FIELDS: return check_fields(&c, *v);
    case MRS_ARG_QUERY:
        return v->type == MRS_DOCUMENT || wrong(&c, NULL, "a query { field: value }", *v);
    case MRS_ARG_SORT:
        return v->type == MRS_DOCUMENT ||
               wrong(&c, NULL, "a map { field: 1 } or { field: -1 }", *v);
    case MRS_ARG_MATCH: return check_match(&c, *v);
    case MRS_ARG_BOOL:
        return v->type == MRS_BOOL || wrong(&c, NULL, "true or false (other words are texts)", *v);
    case MRS_ARG_COUNT: return check_count(&c, *v);
    case MRS_ARG_CHOICE:
    case MRS_ARG_CHOICE_OR_COLL: return check_choice(&c, v);
    case MRS_ARG_MAP: return v->type == MRS_DOCUMENT || wrong(&c, NULL, "a map", *v);
    case MRS_ARG_LIST: return v->type == MRS_ARRAY || wrong(&c, NULL, "a list", *v);
    case MRS_ARG_EXPR:
    case MRS_ARG_ANY: break;
    }
    return true;
}

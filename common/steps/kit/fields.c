/* SPDX-License-Identifier: Apache-2.0 */
/* fields.c - reads an entry of a plan, second part: paths, fields, expressions, queries, sorts, match.
 *
 * The state owns everything compiled here. Sets of paths are tried in an edit at once, because "one path contains
 * another" must be an error of the plan, with the wrong entry, and not of a document. This file knows no step. */
#include "args.h"
#include "conditions.h"

static struct mrs_expr_env
env_of(const struct mrsi_read *r)
{
    return (struct mrs_expr_env){.mem = r->args->mem,
                                 .vars = r->vars,
                                 .n_vars = r->n_vars,
                                 .now_ms = r->args->now_ms,
                                 .strict = true,
                                 .server_8_2 = r->args->server_8_2};
}

static bool
keep(struct mrsi_read *r, enum mrsi_kind kind, void *p)
{
    if (!mrsi_level_add(r->keep, kind, p)) {
        r->status = mrs_err_memory(r->err, sizeof(struct mrsi_kept_files));
        return false;
    }
    return true;
}

/* ---- paths ---- */
/* Elsewhere a star matches names. */
static void
warn_of_star(struct mrsi_read *r, struct mrsi_slot s)
{
    uint32_t n;
    const char *text = s.v.type == MRS_STRING ? mrs_val_text(s.v, &n) : "";
    if (strchr(text, '*') && !r->patterns && r->args->version > 1) {
        mrsi_read_warn(r, s.key, s.sub, "in `%.100s` the star is a character of the name, as the list [\"%.100s\"] "
                       "says; it matches names in paths of set, unset, rename and cast, and in pack", text, text);
    }
}

bool
mrsi_read_path(struct mrsi_read *r, struct mrsi_slot s, struct mrs_path *out)
{
    MRS_ASSERT(out);
    struct mrs_err e;
    if (s.v.type == MRS_MISSING) {
        return false;
    }
    warn_of_star(r, s);
    mrs_err_clear(&e);
    enum mrs_status st = mrs_path_compile(r->args->arena, s.v, true, out, &e);
    return st == MRS_OK || mrsi_read_failed(r, s.key, s.sub, st, &e);
}

bool
mrsi_read_path_text(struct mrsi_read *r, const char *key, const char *sub, const char *text, struct mrs_path *out)
{
    MRS_ASSERT(text && out);
    struct mrs_val v = mrs_make_text(r->args->arena, text, (uint32_t)strlen(text));
    if (v.type == MRS_MISSING) {
        r->status = mrs_err_memory(r->err, strlen(text));
        return false;
    }
    return mrsi_read_path(r, (struct mrsi_slot){v, key, sub, NULL}, out);
}

bool
mrsi_read_not_id(struct mrsi_read *r, struct mrsi_slot s, const struct mrs_path *path)
{
    if (path->n && strcmp(path->part[0].name, "_id") == 0) {
        return mrsi_read_error(r, s.key, s.sub, "`%s`: the `_id` cannot change, name another field", path->text);
    }
    return true;
}

bool
mrsi_read_edit_path(struct mrsi_read *r, struct mrs_edit *ed, const char *key, const char *sub,
                    const struct mrs_path *path)
{
    struct mrs_err e;
    mrs_err_clear(&e);
    enum mrs_status st = ed ? mrs_edit_add(ed, path, &e) : MRS_OK;
    return ed && (st == MRS_OK || mrsi_read_failed(r, key, sub, st, &e));
}

static struct mrs_edit *
new_set(struct mrsi_read *r)
{
    struct mrs_edit *set = NULL;
    if (mrs_edit_new(r->args->mem, &set, r->err) != MRS_OK) {
        r->status = MRS_DEAD;
    }
    return set;
}

struct mrs_edit *
mrsi_read_new_edit(struct mrsi_read *r)
{
    struct mrs_edit *ed = new_set(r);
    return ed && keep(r, MRSI_EDIT, ed) ? ed : NULL;
}

bool
mrsi_read_edit(struct mrsi_read *r, const char *key, const struct mrs_path *path, uint32_t n, struct mrs_edit **out)
{
    MRS_ASSERT(path || n == 0);
    struct mrs_edit *ed = mrsi_read_new_edit(r);
    bool good = ed != NULL;
    for (uint32_t i = 0; i < n && ed; i++) {
        good = mrsi_read_edit_path(r, ed, key, path[i].text, &path[i]) && good;
    }
    *out = ed ? ed : *out;
    return good;
}

/* List form. minus: if not NULL, "-_id" is allowed and sets it. */
static bool
read_list(struct mrsi_read *r, struct mrsi_slot s, bool *minus, struct mrs_path **path, uint32_t *n)
{
    struct mrs_walk w;
    struct mrs_elem e;
    bool good = true;
    struct mrs_path *p = mrsi_read_alloc(r, mrs_val_count(s.v), sizeof *p);
    struct mrs_edit *set = p ? new_set(r) : NULL;
    if (!set) {
        return false;
    }
    *path = p;
    *n = 0;
    mrs_walk_init(&w, mrs_val_view(s.v));
    while (r->status == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        struct mrsi_slot one = {e.v, s.key, e.name, NULL};
        if (minus && mrs_val_is_text(e.v, "-_id")) {
            *minus = true;
        } else if (mrsi_read_path(r, one, &p[*n]) && mrsi_read_edit_path(r, set, s.key, e.name, &p[*n])) {
            ++*n;
        } else {
            good = false;
        }
    }
    mrs_edit_free(set);
    return good && r->status == MRS_OK;
}

bool
mrsi_read_paths(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_paths *out)
{
    if (s.v.type == MRS_MISSING) {
        return false;
    }
    if (s.v.type != MRS_ARRAY) {
        return mrsi_read_error(r, s.key, s.sub, "must be a list of paths, not %s", mrs_type_name(s.v.type));
    }
    return read_list(r, s, NULL, &out->path, &out->n);
}

/* ---- fields ---- */
/* `{ip: ipaddr}` is the text "ipaddr", which is rarely intended. */
static void
warn_of_words(struct mrsi_read *r, struct mrsi_slot s, const struct mrs_elem *e)
{
    MRS_ASSERT(e->name);
    if (e->v.type != MRS_STRING) {
        return;
    }
    uint32_t n;
    const char *text = mrs_val_text(e->v, &n);
    struct mrs_elem same;
    if (n && text[0] != '$' && mrs_doc_find(mrs_val_view(s.v), text, n, &same)) {
        mrsi_read_warn(r, s.key, e->name, "\"%s\" is the text itself; the field is \"$%s\"", text, text);
    }
}

bool
mrsi_read_exprs(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_fields *out)
{
    struct mrs_walk w;
    struct mrs_elem e;
    bool good = true;
    if (s.v.type == MRS_MISSING) {
        return false;
    }
    if (s.v.type != MRS_DOCUMENT) {
        return mrsi_read_error(r, s.key, s.sub, "must be a map of name: expression, not %s", mrs_type_name(s.v.type));
    }
    uint32_t room = mrs_val_count(s.v);
    out->present = out->map = true;
    out->path = mrsi_read_alloc(r, room, sizeof *out->path);
    out->expr = mrsi_read_alloc(r, room, sizeof *out->expr);
    struct mrs_edit *set = out->path && out->expr ? new_set(r) : NULL;
    if (!set) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(s.v));
    while (r->status == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        struct mrsi_slot one = {e.v, s.key, e.name, NULL};
        struct mrs_path *p = &out->path[out->n];
        warn_of_words(r, s, &e);
        bool named = mrsi_read_path_text(r, s.key, e.name, e.name, p) && mrsi_read_edit_path(r, set, s.key, e.name, p);
        bool made = mrsi_read_expr(r, one, &out->expr[out->n]);
        out->n += named && made;
        good = good && named && made;
    }
    mrs_edit_free(set);
    return good && r->status == MRS_OK;
}

bool
mrsi_read_fields(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_fields *out)
{
    if (s.v.type == MRS_MISSING || s.v.type == MRS_DOCUMENT) {
        return mrsi_read_exprs(r, s, out);
    }
    if (s.v.type != MRS_ARRAY) {
        return mrsi_read_error(r, s.key, s.sub, "must be a list of paths or a map of name: expression, not %s",
                               mrs_type_name(s.v.type));
    }
    out->present = true;
    return read_list(r, s, &out->without_id, &out->path, &out->n);
}

/* ---- compiled values ---- */
bool
mrsi_read_expr(struct mrsi_read *r, struct mrsi_slot s, struct mrs_expr **out)
{
    MRS_ASSERT(out);
    struct mrs_err e;
    struct mrs_expr_env env = env_of(r);
    struct mrs_expr *x = NULL;
    if (s.v.type == MRS_MISSING) {
        return false;
    }
    mrs_err_clear(&e);
    enum mrs_status st = mrs_expr_compile(&env, s.v, &x, &e);
    if (st != MRS_OK) {
        return mrsi_read_failed(r, s.key, s.sub, st, &e);
    }
    if (!keep(r, MRSI_EXPR, x)) {
        return false;
    }
    *out = x;
    return true;
}

bool
mrsi_read_acc(struct mrsi_read *r, struct mrsi_slot s, struct mrs_acc **out)
{
    MRS_ASSERT(out);
    struct mrs_err e;
    struct mrs_expr_env env = env_of(r);
    struct mrs_acc *x = NULL;
    mrs_err_clear(&e);
    enum mrs_status st = mrs_acc_compile(&env, s.v, &x, &e);
    if (st != MRS_OK) {
        return mrsi_read_failed(r, s.key, s.sub, st, &e);
    }
    if (!keep(r, MRSI_ACC, x)) {
        return false;
    }
    *out = x;
    return true;
}

static bool
needs_map(struct mrsi_read *r, struct mrsi_slot s)
{
    if (s.v.type != MRS_DOCUMENT && s.v.type != MRS_MISSING) {
        mrsi_read_error(r, s.key, s.sub, "must be a map, not %s", mrs_type_name(s.v.type));
    }
    return s.v.type == MRS_DOCUMENT;
}

bool
mrsi_read_query(struct mrsi_read *r, struct mrsi_slot s, struct mrs_query **out)
{
    MRS_ASSERT(out);
    struct mrs_err e;
    struct mrs_expr_env env = env_of(r);
    struct mrs_query *q = NULL;
    if (!needs_map(r, s)) {
        return false;
    }
    mrs_err_clear(&e);
    struct mrsi_far_reader far;
    uint32_t before = r->args->n_errors;
    env.far = mrsi_far_begin(&far, r, s.key, &env);
    enum mrs_status st = mrs_query_compile(&env, mrs_val_view(s.v), &q, &e);
    if (st == MRS_FAIL && r->args->n_errors > before) {
        return false; /* reported at its place */
    }
    if (st != MRS_OK) {
        return mrsi_read_failed(r, s.key, s.sub, st, &e);
    }
    if (!keep(r, MRSI_QUERY, q)) {
        return false;
    }
    *out = q;
    return true;
}

bool
mrsi_read_sort(struct mrsi_read *r, struct mrsi_slot s, struct mrs_sort **out)
{
    MRS_ASSERT(out);
    struct mrs_err e;
    struct mrs_expr_env env = env_of(r);
    struct mrs_sort *sort = NULL;
    if (!needs_map(r, s)) {
        return false;
    }
    mrs_err_clear(&e);
    enum mrs_status st = mrs_sort_compile(&env, mrs_val_view(s.v), true, &sort, &e);
    if (st != MRS_OK) {
        return mrsi_read_failed(r, s.key, s.sub, st, &e);
    }
    if (!keep(r, MRSI_SORT, sort)) {
        return false;
    }
    *out = sort;
    return true;
}

/* ---- match ---- */
/* A bare "$a.b" is the path a.b; other expressions are computed. */
static bool
side_key(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_side_key *out)
{
    struct mrs_expr *x = NULL;
    if (!mrsi_read_expr(r, s, &x)) {
        return false;
    }
    const char *bare = mrs_expr_bare_path(x);
    if (bare && *bare) {
        return mrsi_read_path_text(r, s.key, s.sub, bare, &out->path);
    }
    out->expr = x;
    return true;
}

static bool
pair_of_list(struct mrsi_read *r, struct mrsi_slot s, const struct mrs_elem *e, struct mrsi_pair *out)
{
    static const struct mrs_key keys[] = {{"from", MRS_ARG_EXPR, true, NULL, "of a document of from"},
                                          {"into", MRS_ARG_EXPR, true, NULL, "of a document of into"}};
    struct mrsi_slot one = {e->v, s.key, e->name, NULL};
    if (!mrsi_read_map(r, one, keys, 2)) {
        return false;
    }
    bool from = side_key(r, mrsi_slot_below(r, one, keys, 2, "from"), &out->from);
    return side_key(r, mrsi_slot_below(r, one, keys, 2, "into"), &out->into) && from;
}

static bool
pair_of_map(struct mrsi_read *r, struct mrsi_slot s, const struct mrs_elem *e, struct mrsi_pair *out)
{
    struct mrsi_slot into = {e->v, s.key, e->name, NULL};
    bool from = mrsi_read_path_text(r, s.key, e->name, e->name, &out->from.path);
    return mrsi_read_path(r, into, &out->into.path) && from;
}

bool
mrsi_read_match(struct mrsi_read *r, struct mrsi_slot s, struct mrsi_match *out)
{
    struct mrs_walk w;
    struct mrs_elem e;
    bool good = true;
    if (s.v.type == MRS_MISSING) {
        return false;
    }
    if (s.v.type != MRS_DOCUMENT && s.v.type != MRS_ARRAY) {
        return mrsi_read_error(r, s.key, s.sub, "must be a map of path: path or a list of {from, into}, not %s",
                               mrs_type_name(s.v.type));
    }
    uint32_t room = mrs_val_count(s.v);
    if (room == 0 || room > UINT16_MAX) {
        return mrsi_read_error(r, s.key, s.sub, room ? "has too many pairs" : "needs at least one pair");
    }
    out->pair = mrsi_read_alloc(r, room, sizeof *out->pair);
    mrs_walk_init(&w, mrs_val_view(s.v));
    while (out->pair && r->status == MRS_OK && mrs_walk_next(&w, &e) == 1) {
        struct mrsi_pair *p = &out->pair[out->n++];
        good = (s.v.type == MRS_ARRAY ? pair_of_list : pair_of_map)(r, s, &e, p) && good;
    }
    return good && r->status == MRS_OK;
}

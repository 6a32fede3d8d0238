/* SPDX-License-Identifier: Apache-2.0 */
/* args.c - reads an entry of a plan: state, errors, simple values, collections.
 *
 * A compile hook must report every error and leak nothing. Both are easy if no hook checks a status after each key: the
 * reader remembers the worst status, the owner list (first member of every state) owns what was compiled, and
 * mrsi_read_end decides. States are in the plan's arena, so freeing one frees what it owns. fields.c reads paths,
 * fields, expressions and match. This file knows no step. */
#include "args.h"
#include "mongoreshape/words.h"
#include <stdarg.h>
#include <stdio.h>

static void
free_kept(const struct mrsi_kept_files *k)
{
    switch (k->kind) {
    case MRSI_EXPR: mrs_expr_free(k->p); break;
    case MRSI_QUERY: mrs_query_free(k->p); break;
    case MRSI_SORT: mrs_sort_free(k->p); break;
    case MRSI_EDIT: mrs_edit_free(k->p); break;
    case MRSI_PROJECTION: mrs_projection_free(k->p); break;
    case MRSI_WINDOWS: mrs_windows_free(k->p); break;
    case MRSI_ACC: mrs_acc_free(k->p); break;
    }
}

bool
mrsi_level_add(struct mrsi_owned *k, enum mrsi_kind kind, void *p)
{
    MRS_ASSERT(k->n <= k->cap);
    struct mrsi_kept_files kept = {kind, p};
    if (!p) {
        return true;
    }
    struct mrsi_kept_files *more = mrs_more(k->mem, k->item, k->n, &k->cap, sizeof *more);
    if (!more) {
        free_kept(&kept);
        return false;
    }
    k->item = more;
    k->item[k->n++] = kept;
    return true;
}

static void
clear_keeper(struct mrsi_owned *k)
{
    while (k->n) {
        free_kept(&k->item[--k->n]);
    }
    mrs_free(k->mem, k->item);
    k->item = NULL;
    k->cap = 0;
}

void
mrsi_state_free(struct mrs_mem *mem, void *state)
{
    (void)mem;
    if (state) {
        clear_keeper(state);
    }
}

/* ---- reader ---- */
void *
mrsi_read_begin(struct mrsi_read *r, struct mrs_args *args, size_t size, struct mrs_err *e)
{
    MRS_ASSERT(size >= sizeof(struct mrsi_owned) && mrs_view_is_framed(args->body));
    memset(r, 0, sizeof *r);
    r->args = args;
    r->err = e;
    r->errors_before = args->n_errors;
    void *state = mrs_arena_alloc(args->arena, size);
    if (!state) {
        mrs_err_memory(e, size);
        return NULL;
    }
    memset(state, 0, size);
    r->keep = state;
    r->keep->mem = args->mem;
    return state;
}

enum mrs_status
mrsi_read_end(struct mrsi_read *r, void **state)
{
    if (mrsi_read_good(r)) {
        *state = r->keep;
        return MRS_OK;
    }
    clear_keeper(r->keep);
    *state = NULL;
    if (r->status == MRS_DEAD) {
        return MRS_DEAD;
    }
    return mrs_err_set(r->err, MRS_FAIL, MRS_E_PLAN, "step %s: the plan is wrong", r->args->type->name);
}

bool
mrsi_read_good(const struct mrsi_read *r)
{
    return r->status == MRS_OK && r->args->n_errors == r->errors_before;
}

bool
mrsi_read_error(struct mrsi_read *r, const char *key, const char *sub, const char *fmt, ...)
{
    MRS_ASSERT(r->args->report && fmt);
    char msg[480];
    uint32_t before = r->args->n_errors;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    r->args->report(r->args->arg, key, sub, msg);
    if (r->args->n_errors == before) {
        r->args->n_errors++;
    }
    return false;
}

void
mrsi_read_warn(struct mrsi_read *r, const char *key, const char *sub, const char *fmt, ...)
{
    MRS_ASSERT(fmt);
    char msg[480];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    if (r->args->warn) {
        r->args->warn(r->args->arg, key, sub, msg);
    }
}

bool
mrsi_read_failed(struct mrsi_read *r, const char *key, const char *sub, enum mrs_status s, const struct mrs_err *e)
{
    MRS_ASSERT(s < MRS_OK);
    if (s == MRS_DEAD) {
        r->status = MRS_DEAD;
        mrs_err_set(r->err, s, e->code ? e->code : MRS_E_MEMORY, "%s", e->code ? e->msg : "out of memory");
        return false;
    }
    size_t n = strcspn(e->msg, ":"), where = strlen(e->where);
    if (where && !(n <= where && e->msg[n] && strncmp(e->where + where - n, e->msg, n) == 0)) {
        return mrsi_read_error(r, key, sub, "%s: %s", e->where, e->msg);
    }
    if (where > n) { /* both end with the operator's name: print it once */
        return mrsi_read_error(r, key, sub, "%.*s%s", (int)(where - n), e->where, e->msg);
    }
    return mrsi_read_error(r, key, sub, "%s", e->msg);
}

void *
mrsi_read_alloc(struct mrsi_read *r, size_t n, size_t size)
{
    size_t all = n && size > SIZE_MAX / n ? 0 : n * size;
    void *p = all || !n || !size ? mrs_arena_alloc(r->args->arena, all ? all : 1) : NULL;
    if (!p) {
        r->status = mrs_err_memory(r->err, all);
        return NULL;
    }
    return memset(p, 0, all ? all : 1);
}

const char *
mrsi_read_text_of(struct mrsi_read *r, const char *fmt, ...)
{
    MRS_ASSERT(fmt);
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = n < 0 ? NULL : mrsi_read_alloc(r, (size_t)n + 1, 1);
    if (text) {
        vsnprintf(text, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return text;
}

/* ---- slots ---- */
const struct mrs_key *
mrs_key_find(const struct mrs_key *keys, uint32_t n, const char *name)
{
    MRS_ASSERT(name);
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

struct mrsi_slot
mrsi_slot(const struct mrsi_read *r, const char *key)
{
    MRS_ASSERT(key);
    const struct mrs_step_type *t = r->args->type;
    return (struct mrsi_slot){mrs_doc_get(r->args->body, key), key, NULL, mrs_key_find(t->keys, t->n_keys, key)};
}

bool
mrsi_slot_present(struct mrsi_slot s)
{
    return s.v.type != MRS_MISSING;
}

struct mrsi_slot
mrsi_slot_in(struct mrsi_slot map, const struct mrs_key *keys, uint32_t n_keys, const char *name)
{
    struct mrs_val v = map.v.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(map.v), name) : mrs_missing();
    return (struct mrsi_slot){v, map.key, name, mrs_key_find(keys, n_keys, name)};
}

struct mrsi_slot
mrsi_slot_below(struct mrsi_read *r, struct mrsi_slot map, const struct mrs_key *keys, uint32_t n_keys,
                const char *name)
{
    struct mrsi_slot s = mrsi_slot_in(map, keys, n_keys, name);
    s.sub = mrsi_read_text_of(r, "%s.%s", map.sub ? map.sub : "", name);
    return s;
}

/* Reports an unknown key, with its place below an entry of a list if the map is one. */
static bool
unknown_key(struct mrsi_read *r, struct mrsi_slot map, const char *name, const char *near)
{
    char sub[160];
    snprintf(sub, sizeof sub, "%s%s%s", map.sub ? map.sub : "", map.sub ? "." : "", name);
    return near ? mrsi_read_error(r, map.key, sub, "unknown key `%s`; is `%s` meant?", name, near)
                : mrsi_read_error(r, map.key, sub, "unknown key `%s`", name);
}

bool
mrsi_read_map(struct mrsi_read *r, struct mrsi_slot map, const struct mrs_key *keys, uint32_t n_keys)
{
    MRS_ASSERT(keys || n_keys == 0);
    if (map.v.type == MRS_MISSING) {
        return false;
    }
    if (map.v.type != MRS_DOCUMENT) {
        return mrsi_read_error(r, map.key, map.sub, "must be a map, not %s", mrs_type_name(map.v.type));
    }
    bool good = true;
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, mrs_val_view(map.v));
    while (mrs_walk_next(&w, &e) == 1) {
        if (mrs_key_find(keys, n_keys, e.name)) {
            continue;
        }
        good = unknown_key(r, map, e.name, mrsi_arg_nearest(e.name, keys, n_keys));
    }
    for (uint32_t i = 0; i < n_keys; i++) {
        if (keys[i].needed && mrs_doc_get(mrs_val_view(map.v), keys[i].name).type == MRS_MISSING) {
            good = mrsi_read_error(r, map.key, map.sub, "`%s` is needed here", keys[i].name);
        }
    }
    return good;
}

const char *
mrsi_arg_nearest(const char *word, const struct mrs_key *keys, uint32_t n_keys)
{
    MRS_ASSERT(word && (keys || n_keys == 0));
    size_t n = strlen(word);
    uint32_t most = n > 64 ? 0 : (uint32_t)(n + 2) / 3;
    const char *best = NULL;
    for (uint32_t i = 0; i < n_keys && most; i++) {
        uint32_t d = mrs_word_distance(word, n, keys[i].name, strlen(keys[i].name));
        if (d <= most && (!best || d < most)) {
            best = keys[i].name;
            most = d;
        }
    }
    return best;
}

/* ---- simple values ---- */
static bool
plain_text(struct mrsi_read *r, struct mrsi_slot s, const char **out, uint32_t *n)
{
    *out = "";
    *n = 0;
    if (s.v.type == MRS_MISSING) {
        return false;
    }
    if (s.v.type != MRS_STRING) {
        return mrsi_read_error(r, s.key, s.sub, "must be a text, not %s", mrs_type_name(s.v.type));
    }
    *out = mrs_val_text(s.v, n);
    if (memchr(*out, 0, *n)) {
        return mrsi_read_error(r, s.key, s.sub, "holds a NUL byte");
    }
    return true;
}

/* Texts are C strings in the body, which lives as long as the plan. */
bool
mrsi_read_text(struct mrsi_read *r, struct mrsi_slot s, const char **out)
{
    uint32_t n;
    const char *text;
    if (!plain_text(r, s, &text, &n)) {
        return false;
    }
    *out = text;
    return true;
}

bool
mrsi_read_name(struct mrsi_read *r, struct mrsi_slot s, const char **out)
{
    MRS_ASSERT(out);
    uint32_t n;
    const char *text;
    if (!plain_text(r, s, &text, &n)) {
        return false;
    }
    if (n == 0 || text[0] == '$' || strchr(text, '.')) {
        return mrsi_read_error(r, s.key, s.sub, "`%s` is no name of a top-level field", text);
    }
    *out = text;
    return true;
}

bool
mrsi_read_bool(struct mrsi_read *r, struct mrsi_slot s, bool *out)
{
    if (s.v.type == MRS_MISSING) {
        return false;
    }
    if (s.v.type != MRS_BOOL) {
        return mrsi_read_error(r, s.key, s.sub, "must be true or false, not %s", mrs_type_name(s.v.type));
    }
    *out = s.v.p[0] != 0;
    return true;
}

bool
mrsi_read_count(struct mrsi_read *r, struct mrsi_slot s, uint64_t *out)
{
    MRS_ASSERT(out);
    int64_t n;
    if (s.v.type == MRS_MISSING) {
        return false;
    }
    if (!mrs_val_integral(s.v, &n) || n < 0) {
        return mrsi_read_error(r, s.key, s.sub, "must be a whole number, 0 or more");
    }
    *out = (uint64_t)n;
    return true;
}

/* The index of the word in "a|b|c", -1: none; *n: number of words. */
static int
choice_of(const char *choices, const char *word, uint32_t len, int *n)
{
    int found = -1, i = 0;
    for (const char *at = choices; at && *at; i++) {
        size_t one = strcspn(at, "|");
        if (one == len && memcmp(at, word, one) == 0) {
            found = i;
        }
        at += one + (at[one] == '|');
    }
    *n = i;
    return found;
}

static bool
read_word(struct mrsi_read *r, struct mrsi_slot s, int *out, const char *or_else)
{
    MRS_ASSERT(s.def);
    const char *word = "null";
    uint32_t len = 4;
    const char *choices = s.def && s.def->choices ? s.def->choices : "";
    int n;
    if (s.v.type != MRS_NULL && !plain_text(r, s, &word, &len)) {
        return false;
    }
    int found = choice_of(choices, word, len, &n);
    if (found < 0) {
        return mrsi_read_error(r, s.key, s.sub, "`%s` is none of %s%s", word, choices, or_else);
    }
    *out = found;
    return true;
}

bool
mrsi_read_choice(struct mrsi_read *r, struct mrsi_slot s, int *out)
{
    return s.v.type != MRS_MISSING && read_word(r, s, out, "");
}

bool
mrsi_read_choice_or_coll(struct mrsi_read *r, struct mrsi_slot s, int *out, struct mrs_coll *coll)
{
    static const struct mrs_key into[] = {{"into", MRS_ARG_COLL, true, NULL, "the collection"}};
    if (s.v.type != MRS_DOCUMENT) {
        return s.v.type != MRS_MISSING && read_word(r, s, out, ", nor {into: collection}");
    }
    if (!mrsi_read_map(r, s, into, 1) || !mrsi_read_coll(r, mrsi_slot_in(s, into, 1, "into"), coll)) {
        return false;
    }
    choice_of(s.def ? s.def->choices : NULL, "", 0, out);
    return true;
}

/* ---- collections ---- */
/* May the step have a name with a star here? */
static bool
may_have_star(const struct mrsi_read *r, struct mrsi_slot s)
{
    switch (r->args->type->stars) {
    case MRS_STARS_IN:
    case MRS_STARS_INDEX: return strcmp(s.key, "in") == 0;
    case MRS_STARS_PAIR:
    case MRS_STARS_GATHER: return strcmp(s.key, "from") == 0 || strcmp(s.key, "into") == 0;
    case MRS_STARS_LIST: return strcmp(s.key, "from") == 0;
    case MRS_STARS_VALUES: return strcmp(s.key, "into") == 0 && s.sub && strcmp(s.sub, "*") == 0;
    default: return false;
    }
}

/* A name of `of` in a plan: in a text a star matches any characters; in a list of one entry it is a character. *rules:
 * the name with each matching star replaced by a letter, for callers that check characters. */
static bool
name_of(struct mrsi_read *r, struct mrsi_slot of, struct mrsi_slot s, const char **name, const char **rules)
{
    struct mrs_walk w;
    struct mrs_elem e;
    uint32_t n;
    bool listed = s.v.type == MRS_ARRAY && r->args->version > 1 && mrs_val_count(s.v) == 1;
    if (listed) {
        mrs_walk_init(&w, mrs_val_view(s.v));
        mrs_walk_next(&w, &e);
        s.v = e.v;
    }
    if (!plain_text(r, s, name, &n)) {
        return false;
    }
    const char *star = listed || r->args->version < 2 ? NULL : strchr(*name, '*');
    *rules = *name;
    if (!star) {
        return true;
    }
    if (strchr(star + 1, '*')) {
        return mrsi_read_error(r, s.key, s.sub, "`%s` has more than one star", *name);
    }
    if (!may_have_star(r, of)) {
        return mrsi_read_error(r, s.key, s.sub, "`%s`: a star is not allowed here, write the name of one collection; "
                                                "one that has a star in its name is { coll: [\"%s\"] }", *name, *name);
    }
    *rules = mrsi_read_text_of(r, "%.*sx%s", (int)(star - *name), *name, star + 1);
    return *rules != NULL;
}

static bool
check_names(struct mrsi_read *r, struct mrsi_slot s, const char *db, const char *coll)
{
    size_t n = strlen(db), m = strlen(coll);
    const char *wrong = mrs_db_wrong(db, n);
    if (wrong) {
        return mrsi_read_error(r, s.key, s.sub, "`%s` is no name of a database: %s", db, wrong);
    }
    if (m == 0 || coll[0] == '.') {
        return mrsi_read_error(r, s.key, s.sub, "`%s` is no name of a collection", coll);
    }
    if (r->args->version < 2 && (coll[0] == '*' || coll[m - 1] == '*')) {
        /* as a plain name, the documents of all collections would be merged in it */
        return mrsi_read_error(r, s.key, s.sub, "`%s` is a pattern: write the name of one collection", coll);
    }
    if (n + 1 + m > MRS_NS_MAX) {
        return mrsi_read_error(r, s.key, s.sub, "the name %s.%s is longer than %d bytes", db, coll, MRS_NS_MAX);
    }
    return true;
}

bool
mrsi_read_coll(struct mrsi_read *r, struct mrsi_slot s, struct mrs_coll *out)
{
    static const struct mrs_key keys[] = {{"db", MRS_ARG_TEXT, false, NULL, "its database"},
                                          {"coll", MRS_ARG_TEXT, true, NULL, "its name"}};
    const char *db = r->args->default_db, *coll = NULL, *db_rules = db, *coll_rules = NULL;
    if (s.v.type == MRS_DOCUMENT) {
        if (!mrsi_read_map(r, s, keys, 2)) {
            return false;
        }
        struct mrsi_slot d = mrsi_slot_in(s, keys, 2, "db"), c = mrsi_slot_in(s, keys, 2, "coll");
        if ((mrsi_slot_present(d) && !name_of(r, s, d, &db, &db_rules)) || !name_of(r, s, c, &coll, &coll_rules)) {
            return false;
        }
    } else if (!name_of(r, s, s, &coll, &coll_rules)) {
        return false;
    }
    if (!db || !*db) {
        return mrsi_read_error(r, s.key, s.sub,
                               "the database of `%s` is not known: give `database:` or { db: ..., coll: %s }", coll,
                               coll);
    }
    if (!check_names(r, s, db_rules, coll_rules)) {
        return false;
    }
    out->ns = mrsi_read_text_of(r, "%s.%s", db, coll);
    out->coll = out->ns ? out->ns + strlen(db) + 1 : NULL;
    out->db = out->ns ? mrsi_read_text_of(r, "%s", db) : NULL;
    return out->db != NULL;
}

bool
mrsi_coll_same(const struct mrs_coll *a, const struct mrs_coll *b)
{
    return a->ns && b->ns && strcmp(a->ns, b->ns) == 0;
}

void
mrsi_read_from_into(struct mrsi_read *r, struct mrs_coll *from, struct mrs_coll *into)
{
    mrsi_read_coll(r, mrsi_slot(r, "from"), from);
    mrsi_read_coll(r, mrsi_slot(r, "into"), into);
    if (mrsi_coll_same(from, into)) {
        mrsi_read_error(r, "into", NULL, "is the same collection as `from`");
    }
}

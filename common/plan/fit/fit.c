/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - replaces a step with stars by steps for single collections.
 *
 * The plan id is made from the plan as written. Before a run each step with stars is replaced, once: the new steps have
 * the same keys, with full names in the place of patterns, and are compiled as if the plan had them. Matches are
 * decided step by step on a catalog of the input, since a step sees the results of the one before. All other code never
 * sees a star. */
#include "fit.h"
#include "mongoreshape/condition.h"

#include <stdio.h>
#include <stdlib.h>

enum { MADE_MAX = 100000 }; /* maximum of steps: more than any plan means, and limits memory */

struct star_fit {
    struct mrs_cat_coll *cc;
    const char *db, *coll; /* what the stars matched; "": no star */
};

/* ---- matches ---- */
/* The part of a name that the star of a pattern matches, in the arena; NULL: no match, or out of memory (*dead). */
static const char *
resolve_star(struct mrs_arena *a, const char *pattern, bool star, const char *name, bool *dead)
{
    const char *at = star ? strchr(pattern, '*') : NULL;
    if (!at) {
        return strcmp(pattern, name) == 0 ? "" : NULL;
    }
    size_t before = (size_t)(at - pattern), behind = strlen(at + 1), n = strlen(name);
    if (!mrs_star_fits(pattern, name)) {
        return NULL;
    }
    char *text = mrs_arena_alloc(a, n - before - behind + 1);
    *dead = *dead || !text;
    if (text) {
        memcpy(text, name + before, n - before - behind);
        text[n - before - behind] = 0;
    }
    return text;
}

static bool
is_servers(const char *db)
{
    return strcmp(db, "admin") == 0 || strcmp(db, "local") == 0 || strcmp(db, "config") == 0;
}

static int
by_name(const void *a, const void *b)
{
    const struct mrs_coll *x = &((const struct star_fit *)a)->cc->coll, *y = &((const struct star_fit *)b)->cc->coll;
    int c = strcmp(x->db, y->db);
    return c ? c : strcmp(x->coll, y->coll);
}

/* The collections that match a name, except one, sorted by name. */
static struct star_fit *
fits(struct mrsi_fitting *f, const struct mrsi_star_name *name, const struct mrsi_star_name *but, uint32_t *n)
{
    uint32_t all = mrs_catalog_count(f->cat);
    struct star_fit *list = mrs_arena_alloc(&f->scratch, (all + 1) * sizeof *list);
    *n = 0;
    for (uint32_t i = 0; list && i < all; i++) {
        struct mrs_cat_coll *cc = mrs_catalog_at(f->cat, i);
        struct star_fit one = {.cc = cc};
        if (!cc->exists || (mrsi_star_there(name) && strncmp(cc->coll.coll, "system.", 7) == 0) ||
            (name->db_star && is_servers(cc->coll.db)) ||
            (but && strcmp(but->db, cc->coll.db) == 0 && strcmp(but->coll, cc->coll.coll) == 0)) {
            continue;
        }
        one.db = resolve_star(&f->scratch, name->db, name->db_star, cc->coll.db, &f->p->dead);
        one.coll = one.db ? resolve_star(&f->scratch, name->coll, name->coll_star, cc->coll.coll, &f->p->dead) : NULL;
        if (one.coll) {
            list[(*n)++] = one;
        }
    }
    f->p->dead = f->p->dead || !list;
    if (*n) {
        qsort(list, *n, sizeof *list, by_name);
    }
    return list;
}

/* ---- keys of a new step ---- */
void
mrsi_fit_put_coll(struct mrs_build *b, const char *key, const char *db, const char *coll)
{
    MRS_ASSERT(key && db && coll);
    const char *const part[2] = {db, coll};
    mrs_build_open(b, key, (uint32_t)strlen(key), MRS_DOCUMENT);
    for (int i = 0; i < 2; i++) {
        mrs_build_open(b, i ? "coll" : "db", i ? 4 : 2, MRS_ARRAY);
        mrs_build_text(b, "0", part[i], (uint32_t)strlen(part[i]));
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

static bool
has_index(const struct mrs_cat_coll *cc, struct mrs_val name)
{
    bool there = false;
    for (uint32_t i = 0; i < cc->n_index; i++) {
        there = there || mrs_identical(mrs_doc_get(cc->index[i], "name"), name);
    }
    return there;
}

/* Those names in `drop` that are indexes of the collection; found: names that any collection had. */
static void
put_drop(struct mrs_build *b, struct mrs_val drop, const struct mrs_cat_coll *cc, bool *found)
{
    MRS_ASSERT(mrs_val_is_sized(drop));
    struct mrs_walk w;
    struct mrs_elem e;
    bool open = false;
    mrs_walk_init(&w, mrs_val_view(drop));
    for (uint32_t k = 0; mrs_walk_next(&w, &e) == 1; k++) {
        if (!has_index(cc, e.v)) {
            continue;
        }
        if (!open) {
            mrs_build_open(b, "drop", 4, MRS_ARRAY);
        }
        open = found[k] = true;
        mrs_build_item(b, e.v);
    }
    if (open) {
        mrs_build_close(b);
    }
}

struct star_target { /* `into`; coll NULL: no star */
    const char *db, *coll;
};

const char *
mrsi_fit_filled(struct mrs_arena *a, bool *dead, const char *pattern, bool star, const char *by)
{
    MRS_ASSERT(pattern && by);
    const char *at = star ? strchr(pattern, '*') : NULL;
    size_t n = strlen(pattern) + strlen(by) + 1;
    char *text = at ? mrs_arena_alloc(a, n) : NULL;
    if (!at) {
        return pattern;
    }
    *dead = *dead || !text;
    if (text) {
        snprintf(text, n, "%.*s%s%s", (int)(at - pattern), pattern, by, at + 1);
    }
    return text ? text : "";
}

static bool
finish_body(struct mrsi_fitting *f, struct mrs_build *b, struct mrs_view *out)
{
    struct mrs_view built;
    enum mrs_status s = mrs_build_finish(b, &built, NULL);
    out->p = s == MRS_OK ? mrs_arena_copy(&f->p->pub.arena, built.p, built.n) : NULL;
    out->n = built.n;
    f->p->dead = f->p->dead || !out->p;
    return out->p != NULL;
}

/* The keys of the step for one collection. */
static bool
body_for(struct mrsi_fitting *f, const struct mrs_cat_coll *cc, const struct star_target *to, bool *found,
         struct mrs_view *out)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem e;
    const char *key = f->step->type->stars == MRS_STARS_IN || f->step->type->stars == MRS_STARS_INDEX ? "in" : "from";
    mrs_buf_init(&buf, f->p->pub.mem, 2 * MRSI_EXPANDED_MAX);
    mrs_build_init(&b, &buf);
    for (mrs_walk_init(&w, f->step->body); mrs_walk_next(&w, &e) == 1;) {
        if (strcmp(e.name, key) == 0) {
            mrsi_fit_put_coll(&b, key, cc->coll.db, cc->coll.coll);
        } else if (to->coll && strcmp(e.name, "into") == 0) {
            mrsi_fit_put_coll(&b, "into", to->db, to->coll);
        } else if (found && strcmp(e.name, "drop") == 0 && e.v.type == MRS_ARRAY) {
            put_drop(&b, e.v, cc, found);
        } else {
            mrs_build_elem(&b, &e);
        }
    }
    bool good = finish_body(f, &b, out);
    mrs_buf_clear(&buf);
    return good;
}

/* ---- steps ---- */
static void
report(void *arg, const char *key, const char *sub, const char *msg)
{
    struct mrsi_fitting *f = arg;
    char what[600];
    (void)sub;
    f->n_errors++;
    snprintf(what, sizeof what, "%.500s", msg);
    mrsi_stars_wrong(f->p, f->at, f->step->type->name, key ? key : "", what);
}

static void
hush(void *arg, const char *key, const char *sub, const char *msg) /* reported for the original step */
{
    (void)arg;
    (void)key;
    (void)sub;
    (void)msg;
}

static bool
add_step(struct mrsi_fitting *f, const struct mrs_step *step)
{
    MRS_ASSERT(f->n <= f->cap);
    struct mrs_arena *a = &f->p->pub.arena;
    struct mrs_step *more = mrs_arena_more(a, f->made, f->n, &f->cap, sizeof *more);
    struct mrsi_step_src *src = more ? mrs_arena_more(a, f->src, f->n, &f->src_cap, sizeof *src) : NULL;
    f->made = more ? more : f->made;
    f->p->dead = f->p->dead || !src;
    if (!src) {
        return false;
    }
    f->src = src;
    f->made[f->n] = *step;
    f->src[f->n++] = *f->at;
    if (f->n == MADE_MAX) {
        mrsi_stars_wrong(f->p, f->at, f->step->type->name, "",
                         "fits too many collections: the plan would have more than 100000 steps");
    }
    return f->n < MADE_MAX;
}

/* Compiles the step with these keys, and applies it to the catalog. */
static bool
make_step(struct mrsi_fitting *f, struct mrs_view body)
{
    MRS_ASSERT(mrs_view_is_framed(body));
    struct mrs_plan *pub = &f->p->pub;
    struct mrs_conditions conditions = {.first = pub->n_lists};
    struct mrs_args args = {.mem = pub->mem, .arena = &pub->arena, .body = body, .default_db = pub->database,
                            .now_ms = pub->now_ms, .version = pub->version, .type = f->step->type, .report = report,
                            .warn = hush, .arg = f, .conditions = &conditions,
                            .server_8_2 = strcmp(pub->server, "8.2") == 0};
    struct mrs_step step = {.type = f->step->type, .no = f->step->no, .line = f->step->line, .col = f->step->col,
                            .body = body};
    struct mrs_err e;
    mrs_err_clear(&e);
    f->n_errors = 0;
    enum mrs_status s = step.type->compile(&args, &step.state, &e);
    if (s == MRS_OK) {
        s = step.type->describe(step.state, &pub->arena, &step.desc, &e);
        MRS_THEN(s, mrs_conditions_describe(&conditions, &pub->arena, &step.desc, &e));
    }
    pub->n_lists += conditions.n;
    if (s == MRS_OK && !add_step(f, &step)) {
        step.type->free_state(pub->mem, step.state);
        return false;
    }
    if (s == MRS_OK) { /* mrs_plan_check reports errors */
        s = mrs_catalog_play(f->cat, &step, pub->version, &e) == MRS_DEAD ? MRS_DEAD : MRS_OK;
    }
    f->p->dead = f->p->dead || s == MRS_DEAD;
    if (s == MRS_FAIL && !f->n_errors) {
        mrsi_stars_wrong(f->p, f->at, f->step->type->name, e.where, e.msg);
    }
    return s == MRS_OK;
}

/* Does the step skip a collection because of its kind? */
static bool
passes_over(struct mrsi_fitting *f, const struct mrs_cat_coll *cc)
{
    const char *why = mrs_catalog_obstacle(cc, mrs_step_takes(f->step, f->p->pub.version));
    if (why) {
        mrsi_plan_warning(f->p, f->at->line, f->at->col, "%s: %s is passed over: it %s", f->step->type->name,
                          cc->coll.ns, why);
    }
    return why != NULL;
}

static void
fits_none(struct mrsi_fitting *f, const char *key, const struct mrsi_star_name *name)
{
    char what[400];
    snprintf(what, sizeof what, "matches no existing collection: %.63s.%.255s", name->db, name->coll);
    mrsi_stars_wrong(f->p, f->at, f->step->type->name, key, what);
}

/* The name from `into` for a collection. False: invalid on a server, or also a source. */
static bool
target_of(struct mrsi_fitting *f, const struct mrsi_star_name *from, const struct mrsi_star_name *into,
          const struct star_fit *fit, struct star_target *to)
{
    char what[700];
    const char *only = from->db_star && from->coll_star ? NULL : from->db_star ? fit->db : fit->coll;
    *to = (struct star_target){NULL, NULL};
    if (!mrsi_star_there(into)) {
        return true;
    }
    to->db = mrsi_fit_filled(&f->scratch, &f->p->dead, into->db, into->db_star, only ? only : fit->db);
    to->coll = mrsi_fit_filled(&f->scratch, &f->p->dead, into->coll, into->coll_star, only ? only : fit->coll);
    const char *why = mrs_catalog_check_name(to->db, to->coll);
    if (why) {
        snprintf(what, sizeof what, "would make %.60s.%.255s of %.255s, a name that %s", to->db, to->coll,
                 fit->cc->coll.ns, why);
        mrsi_stars_wrong(f->p, f->at, f->step->type->name, "into", what);
    }
    return !why && !f->p->dead;
}

struct star_pair {
    const struct star_fit *fit;
    struct star_target to;
};

static int
by_target(const void *a, const void *b)
{
    const struct star_target *x = &((const struct star_pair *)a)->to, *y = &((const struct star_pair *)b)->to;
    int c = strcmp(x->db, y->db);
    return c ? c : strcmp(x->coll, y->coll);
}

/* Two collections must not have one target, and a target must not be a source. */
static bool
check_targets(struct mrsi_fitting *f, struct star_pair *pair, uint32_t n)
{
    MRS_ASSERT(pair || n == 0);
    char what[700];
    struct star_pair *sorted = mrs_arena_copy(&f->scratch, pair, (n + 1) * sizeof *pair);
    f->p->dead = f->p->dead || !sorted;
    if (!sorted || !n || !pair[0].to.coll) {
        return sorted != NULL;
    }
    qsort(sorted, n, sizeof *sorted, by_target);
    for (uint32_t i = 0; i < n; i++) {
        const struct mrs_coll *source = &pair[i].fit->cc->coll;
        struct star_pair own = {NULL, {source->db, source->coll}};
        if (i && by_target(&sorted[i - 1], &sorted[i]) == 0) {
            snprintf(what, sizeof what, "makes %.60s.%.255s of two collections", sorted[i].to.db, sorted[i].to.coll);
            mrsi_stars_wrong(f->p, f->at, f->step->type->name, "into", what);
            return false;
        }
        if (bsearch(&own, sorted, n, sizeof *sorted, by_target)) {
            snprintf(what, sizeof what, "makes %.255s, which `from` takes as well", source->ns);
            mrsi_stars_wrong(f->p, f->at, f->step->type->name, "into", what);
            return false;
        }
    }
    return true;
}

/* Warns about names in `drop` that no collection has. */
static void
check_drop(struct mrsi_fitting *f, const bool *found)
{
    struct mrs_val drop = mrs_doc_get(f->step->body, "drop");
    struct mrs_walk w;
    struct mrs_elem e;
    char what[300];
    uint32_t n;
    if (drop.type != MRS_ARRAY) {
        return;
    }
    mrs_walk_init(&w, mrs_val_view(drop));
    for (uint32_t k = 0; mrs_walk_next(&w, &e) == 1; k++) {
        if (!found[k]) {
            snprintf(what, sizeof what, "names %.200s, an index that no collection has which fits",
                     mrs_val_text(e.v, &n));
            mrsi_stars_wrong(f->p, f->at, f->step->type->name, "drop", what);
        }
    }
}

static bool *
found_names(struct mrsi_fitting *f)
{
    struct mrs_val drop = mrs_doc_get(f->step->body, "drop");
    uint32_t n = drop.type == MRS_ARRAY ? mrs_val_count(drop) : 0;
    bool *found = mrs_arena_alloc(&f->scratch, n + 1);
    f->p->dead = f->p->dead || !found;
    return found ? memset(found, 0, n + 1) : NULL;
}

static bool
has_name(const struct mrs_coll *c, const char *db, const char *coll)
{
    return coll && strcmp(c->coll, coll) == 0 && strcmp(c->db, db) == 0;
}

/* A condition takes values as the step found them, but the step runs for one collection after the other: what it
 * changes for the first one may not be what the next one asks. */
static bool
check_conditions(struct mrsi_fitting *f, const struct star_pair *pair, uint32_t n)
{
    MRS_ASSERT(pair || n == 0);
    const struct mrs_desc *d = &f->step->desc;
    char what[700];
    for (uint32_t i = 0; i < d->n_conditions && n > 1; i++) {
        const struct mrs_coll *from = &d->conditions[i].from;
        bool changed = (d->sides[1].role & MRS_ROLE_ADD) && has_name(from, d->sides[1].coll.db, d->sides[1].coll.coll);
        for (uint32_t k = 0; k < n && !changed; k++) {
            const struct mrs_coll *source = &pair[k].fit->cc->coll;
            bool changes = d->sides[0].role & (MRS_ROLE_CHANGE | MRS_ROLE_TAKE);
            changed = has_name(from, pair[k].to.db, pair[k].to.coll) ||
                      (changes && has_name(from, source->db, source->coll));
        }
        if (changed) {
            snprintf(what, sizeof what, "queries %.255s, which the step changes for one of the collections that fit, "
                     "and the next would find changed: write a step for each", from->ns);
            mrsi_stars_wrong(f->p, f->at, f->step->type->name, "where", what);
            return false;
        }
    }
    return true;
}

static void
fit_each(struct mrsi_fitting *f)
{
    const struct mrs_step_type *type = f->step->type;
    bool in = type->stars == MRS_STARS_IN || type->stars == MRS_STARS_INDEX;
    struct mrsi_star_name from, into = {.db = "", .coll = ""};
    uint32_t n, kept = 0;
    mrsi_star_name(&f->p->pub, mrs_doc_get(f->step->body, in ? "in" : "from"), &from);
    if (!in) {
        mrsi_star_name(&f->p->pub, mrs_doc_get(f->step->body, "into"), &into);
    }
    struct star_fit *fit = fits(f, &from, !in && !mrsi_star_there(&into) ? &into : NULL, &n);
    struct star_pair *pair = mrs_arena_alloc(&f->scratch, ((size_t)n + 1) * sizeof *pair);
    bool *found = type->stars == MRS_STARS_INDEX ? found_names(f) : NULL, good = pair != NULL;
    f->p->dead = f->p->dead || !pair;
    for (uint32_t i = 0; i < n && !f->p->dead; i++) {
        if (!passes_over(f, fit[i].cc)) {
            pair[kept].fit = &fit[i];
            good = target_of(f, &from, &into, &fit[i], &pair[kept].to) && good;
            kept++;
        }
    }
    if (!kept && !f->p->dead && !f->by_value && !f->p->pub.may_fit_none) {
        fits_none(f, in ? "in" : "from", &from);
    }
    good = good && !f->p->dead && check_targets(f, pair, kept) && check_conditions(f, pair, kept);
    for (uint32_t i = 0; i < kept && good; i++) {
        struct mrs_view body;
        good = body_for(f, pair[i].fit->cc, &pair[i].to, found, &body);
        bool empty = found && mrs_doc_get(body, "drop").type == MRS_MISSING &&
                     mrs_doc_get(body, "create").type == MRS_MISSING;
        good = good && (empty || make_step(f, body));
    }
    if (good && found) {
        check_drop(f, found);
    }
}

/* Does an entry of `from` have the collection's literal name? Then that entry applies to it. */
static bool
is_listed(const struct mrsi_fitting *f, const struct mrs_cat_coll *cc)
{
    struct mrs_val from = mrs_doc_get(f->step->body, "from");
    struct mrs_walk w;
    struct mrs_elem e;
    bool listed = false;
    if (from.type == MRS_STRING) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(from));
    while (!listed && mrs_walk_next(&w, &e) == 1) {
        struct mrsi_star_name name;
        listed = mrsi_star_name(&f->p->pub, e.v, &name) && !mrsi_star_there(&name) &&
                 strcmp(name.db, cc->coll.db) == 0 && strcmp(name.coll, cc->coll.coll) == 0;
    }
    return listed;
}

/* One entry of the collections of `from`: each match, with its tag. */
static uint32_t
put_listed(struct mrsi_fitting *f, struct mrs_build *b, struct mrs_val v, const char *tag,
           const struct mrsi_star_name *into)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct mrsi_star_name name;
    uint32_t n, kept = 0;
    if (!mrsi_star_name(&f->p->pub, v, &name)) {
        return 0;
    }
    if (!mrsi_star_there(&name)) {
        mrsi_fit_put_coll(b, tag ? tag : name.coll, name.db, name.coll);
        return 1;
    }
    const struct star_fit *fit = fits(f, &name, into, &n);
    for (uint32_t i = 0; i < n && !f->p->dead; i++) {
        if (!is_listed(f, fit[i].cc) && !passes_over(f, fit[i].cc)) {
            mrsi_fit_put_coll(b, tag ? tag : name.coll_star ? fit[i].coll : fit[i].db, fit[i].cc->coll.db,
                     fit[i].cc->coll.coll);
            kept++;
        }
    }
    if (!kept && !f->p->dead && !f->by_value && !f->p->pub.may_fit_none) {
        fits_none(f, "from", &name);
    }
    return kept;
}

/* False: no collection matches, if that is no error; then there is no step. */
static bool
put_list(struct mrsi_fitting *f, struct mrs_build *b, struct mrs_val from)
{
    MRS_ASSERT(mrs_val_is_sized(from));
    uint32_t kept = 0;
    struct mrsi_star_name into;
    struct mrs_walk w;
    struct mrs_elem e;
    mrsi_star_name(&f->p->pub, mrs_doc_get(f->step->body, "into"), &into);
    mrs_build_open(b, "from", 4, MRS_DOCUMENT);
    if (from.type == MRS_STRING) {
        kept = put_listed(f, b, from, NULL, &into);
    } else {
        mrs_walk_init(&w, mrs_val_view(from));
        while (mrs_walk_next(&w, &e) == 1) {
            kept += put_listed(f, b, e.v, from.type == MRS_DOCUMENT ? e.name : NULL, &into);
        }
    }
    mrs_build_close(b);
    return kept > 0;
}

/* The collections of values. Values without a valid name are kept in the list, because the step refuses them. */
static bool
put_values(struct mrsi_fitting *f, struct mrs_build *b, struct mrs_val into)
{
    mrs_build_open(b, "into", 4, MRS_ARRAY);
    mrsi_fit_values(f, b);
    mrs_build_close(b);
    mrs_build_val(b, "*", 1, mrs_doc_get(mrs_val_view(into), "*"));
    return true;
}

typedef bool (*fit_put_fn)(struct mrsi_fitting *f, struct mrs_build *b, struct mrs_val v);

/* Replaces one key of a step that remains one step. */
static void
fit_one(struct mrsi_fitting *f, const char *key, fit_put_fn put)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem e;
    struct mrs_view body;
    uint32_t before = f->p->pub.n_errors + f->p->unseen;
    bool some = true;
    mrs_buf_init(&buf, f->p->pub.mem, 2 * MRSI_EXPANDED_MAX);
    mrs_build_init(&b, &buf);
    for (mrs_walk_init(&w, f->step->body); mrs_walk_next(&w, &e) == 1;) {
        if (strcmp(e.name, key) == 0) {
            some = put(f, &b, e.v);
        } else {
            mrs_build_elem(&b, &e);
        }
    }
    if (finish_body(f, &b, &body) && some && f->p->pub.n_errors + f->p->unseen == before && !f->failed.code) {
        make_step(f, body);
    }
    mrs_buf_clear(&buf);
}

static void
fit_step(struct mrsi_fitting *f)
{
    const struct mrs_step_type *type = f->step->type;
    struct mrs_err e;
    mrs_err_clear(&e);
    if (!f->step->stars) {
        if (add_step(f, f->step)) { /* mrs_plan_check reports errors */
            f->p->dead = f->p->dead || mrs_catalog_play(f->cat, f->step, f->p->pub.version, &e) == MRS_DEAD;
        }
        return;
    }
    mrs_arena_init(&f->scratch, f->p->pub.mem);
    if (type->stars == MRS_STARS_LIST) {
        fit_one(f, "from", put_list);
    } else if (type->stars == MRS_STARS_VALUES) {
        fit_one(f, "into", put_values);
        f->by_value = true;
    } else {
        fit_each(f);
    }
    mrs_arena_clear(&f->scratch);
}

enum mrs_status
mrs_plan_fit(struct mrs_plan *plan, struct mrs_catalog *cat, const struct mrs_fit_documents *docs, struct mrs_err *e)
{
    MRS_ASSERT(!plan->fitted);
    struct mrsi_plan *p = (struct mrsi_plan *)plan;
    struct mrsi_fitting f = {.p = p, .cat = cat, .docs = docs};
    if (!plan->stars || plan->fitted || plan->n_errors) {
        return MRS_OK;
    }
    for (uint32_t i = 0; i < plan->n_written && !p->dead && f.n < MADE_MAX; i++) {
        f.step = &plan->written[i];
        f.at = &p->src[i];
        fit_step(&f);
    }
    plan->fitted = true;
    plan->steps = f.made;
    plan->n_steps = f.n;
    p->src = f.src;
    mrsi_plan_errors_sort(p);
    if (f.failed.code && !p->dead) {
        *e = f.failed;
        return MRS_FAIL;
    }
    return mrsi_plan_errors_status(p, e);
}

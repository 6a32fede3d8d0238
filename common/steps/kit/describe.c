/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - builds a step's description in an arena.
 *
 * explain, the rule for running while writers run (sets R, A, D) and the engines read descriptions; steps should only
 * state facts. Lists double in the arena (old copies are freed with it), and the first out-of-memory is recorded, so a
 * describe hook is a plain list of statements. This file knows no step. */
#include "steps/catalog/indexes.h"
#include "describe.h"
#include "shape.h"
#include "shape.h"
#include <stdarg.h>
#include <stdio.h>

void
mrsi_describe_begin(struct mrsi_describe *t, struct mrs_arena *arena, struct mrs_desc *out, enum mrs_family family,
                    struct mrs_err *e)
{
    MRS_ASSERT(mrs_arena_is_sound(arena));
    memset(t, 0, sizeof *t);
    memset(out, 0, sizeof *out);
    t->arena = arena;
    t->err = e;
    t->d = out;
    out->family = family;
    out->repeatable = true;
    out->words = "";
}

/* A list of n entries with space for one more. */
static void *
room(struct mrsi_describe *t, void *list, uint32_t n, uint32_t *cap, size_t size)
{
    void *more = t->bad ? NULL : mrs_arena_more(t->arena, list, n, cap, size);
    t->bad = !more;
    return more;
}

int
mrsi_describe_side(struct mrsi_describe *t, const struct mrs_coll *coll, unsigned role, const char *what)
{
    MRS_ASSERT(coll->ns && t->d->n_sides <= t->side_cap);
    uint32_t n = t->d->n_sides;
    struct mrs_side *s = room(t, t->side, n, &t->side_cap, sizeof *s);
    if (!s) {
        return 0;
    }
    t->d->sides = t->side = s;
    s[n] = (struct mrs_side){*coll, role, what};
    t->d->n_sides = n + 1;
    return (int)n;
}

/* The list with one more entry, unless it has it. */
static struct mrs_touch *
with_touch(struct mrsi_describe *t, struct mrs_touch *list, uint32_t *n, uint32_t *cap, struct mrs_touch one)
{
    MRS_ASSERT(*n <= *cap);
    for (uint32_t i = 0; i < *n; i++) {
        if (list[i].side == one.side && list[i].kind == one.kind && strcmp(list[i].path, one.path) == 0) {
            return list;
        }
    }
    struct mrs_touch *l = room(t, list, *n, cap, sizeof *l);
    one.path = l ? mrs_arena_copy(t->arena, one.path, strlen(one.path) + 1) : NULL;
    if (!one.path) {
        t->bad = true;
        return list;
    }
    l[(*n)++] = one;
    return l;
}

void
mrsi_describe_touch(struct mrsi_describe *t, int side, char kind, const char *path)
{
    t->touch = with_touch(t, t->touch, &t->d->n_touches, &t->touch_cap, (struct mrs_touch){side, kind, path});
    t->d->touches = t->touch;
}

void
mrsi_describe_name(struct mrsi_describe *t, int side, const char *path)
{
    t->name = with_touch(t, t->name, &t->d->n_names, &t->name_cap, (struct mrs_touch){side, 'R', path});
    t->d->names = t->name;
}

/* path below above. */
static void
name_below(struct mrsi_describe *t, int side, const char *above, const char *path)
{
    size_t size = strlen(path) + strlen(above) + 2;
    char *text = mrs_arena_alloc(t->arena, size);
    if (!text) {
        t->bad = true;
        return;
    }
    snprintf(text, size, "%s.%s", above, path);
    mrsi_describe_name(t, side, text);
}

void
mrsi_describe_names(struct mrsi_describe *t, int side, const char *above, const struct mrs_path *path, uint32_t n)
{
    MRS_ASSERT(path || n == 0);
    for (uint32_t i = 0; i < n; i++) {
        if (above) {
            name_below(t, side, above, path[i].text);
        } else {
            mrsi_describe_name(t, side, path[i].text);
        }
    }
}

void
mrsi_describe_shape(struct mrsi_describe *t, const char *above, const struct mrsi_shape *shape, const char *value)
{
    const struct mrsi_fields *f = &shape->fields;
    for (uint32_t i = 0; !f->map && i < f->n; i++) {
        mrsi_describe_names(t, 0, above, &f->path[i], strcmp(f->path[i].text, value) != 0);
    }
    mrsi_describe_names(t, 0, above, shape->drop.path, f->map ? 0 : shape->drop.n);
}

void
mrsi_describe_naming(struct mrsi_describe *t, bool on)
{
    t->naming = on;
    t->above = NULL;
}

void
mrsi_describe_naming_below(struct mrsi_describe *t, const char *above)
{
    t->naming = true;
    t->above = above;
}

static void
read_path(void *arg, const char *path)
{
    struct mrsi_describe *t = arg;
    if (t->naming && t->above) {
        name_below(t, t->of, t->above, path);
    } else if (t->naming) {
        mrsi_describe_name(t, t->of, path);
    } else {
        mrsi_describe_touch(t, t->of, 'R', path);
    }
}

void
mrsi_describe_expr(struct mrsi_describe *t, int side, const struct mrs_expr *x)
{
    t->of = side;
    if (x) {
        mrs_expr_reads(x, read_path, t);
    }
}

void
mrsi_describe_expr_var(struct mrsi_describe *t, int side, const struct mrs_expr *x, uint32_t var)
{
    t->of = side;
    if (x) {
        mrs_expr_reads_var(x, var, read_path, t);
    }
}

void
mrsi_describe_query(struct mrsi_describe *t, int side, const struct mrs_query *q)
{
    t->of = side;
    if (q) {
        mrs_query_reads(q, read_path, t);
    }
}

void
mrsi_describe_sort(struct mrsi_describe *t, int side, const struct mrs_sort *s)
{
    t->of = side;
    if (s) {
        mrs_sort_reads(s, read_path, t);
    }
}

void
mrsi_describe_acc(struct mrsi_describe *t, int side, const struct mrs_acc *x)
{
    t->of = side;
    if (x) {
        mrs_acc_reads(x, read_path, t);
    }
}

static void
describe_key(struct mrsi_describe *t, int side, const struct mrsi_side_key *k)
{
    if (k->expr) {
        mrsi_describe_expr(t, side, k->expr);
    } else {
        mrsi_describe_touch(t, side, 'R', k->path.text);
    }
}

void
mrsi_describe_match(struct mrsi_describe *t, const struct mrsi_pair *pair, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        describe_key(t, 0, &pair[i].from);
        describe_key(t, 1, &pair[i].into);
    }
}

/* before followed by the formatted text, in the arena. */
static const char *joined(struct mrsi_describe *t, const char *before, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

static const char *
joined(struct mrsi_describe *t, const char *before, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    size_t m = strlen(before);
    char *text = n < 0 || t->bad ? NULL : mrs_arena_alloc(t->arena, m + (size_t)n + 1);
    if (text) {
        memcpy(text, before, m);
        vsnprintf(text + m, (size_t)n + 1, fmt, again);
    } else {
        t->bad = true;
    }
    va_end(again);
    return text ? text : "";
}

void
mrsi_describe_pattern(struct mrsi_describe *t, const char *text)
{
    MRS_ASSERT(text && t->d->n_patterns <= t->pattern_cap);
    const char **l = room(t, t->pattern, t->d->n_patterns, &t->pattern_cap, sizeof *l);
    if (l) {
        l[t->d->n_patterns++] = text;
        t->pattern = l;
        t->d->patterns = l;
    }
}

void
mrsi_describe_errors(struct mrsi_describe *t, int errors, const struct mrs_path *path, uint32_t n)
{
    static const char *const words[] = {NULL, "keep", "null", "drop"};
    MRS_ASSERT(errors >= 0 && errors <= MRSI_ERRORS_DROP);
    t->d->errors = words[errors];
    if (!t->fallible) {
        t->fallible = mrs_arena_alloc(t->arena, MRS_EASED * sizeof *t->fallible);
    }
    t->bad = t->bad || !t->fallible;
    for (uint32_t i = 0; i < n && !t->bad && t->d->n_fallible < MRS_EASED; i++) {
        t->fallible[t->d->n_fallible++] = path[i].text;
    }
    t->d->fallible = t->fallible;
}

void
mrsi_describe_loss(struct mrsi_describe *t, const char *fmt, ...)
{
    MRS_ASSERT(fmt && t->d->n_losses <= t->loss_cap);
    uint32_t n = t->d->n_losses;
    const char **l = room(t, t->loss, n, &t->loss_cap, sizeof *l);
    if (!l) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    l[n] = joined(t, "", fmt, ap);
    va_end(ap);
    t->loss = l;
    t->d->losses = l;
    t->d->n_losses = n + 1;
}

void
mrsi_describe_words(struct mrsi_describe *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    t->d->words = joined(t, t->d->words, fmt, ap);
    va_end(ap);
}

const char *
mrsi_describe_paths(struct mrsi_describe *t, const struct mrs_path *path, uint32_t n, uint32_t most)
{
    MRS_ASSERT(path || n == 0);
    size_t size = 32;
    uint32_t shown = n < most ? n : most;
    for (uint32_t i = 0; i < shown; i++) {
        size += strlen(path[i].text) + 5;
    }
    char *text = t->bad ? NULL : mrs_arena_alloc(t->arena, size);
    if (!text) {
        t->bad = true;
        return "";
    }
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < shown; i++) {
        const char *between = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        at += (size_t)snprintf(text + at, size - at, "%s%s", between, path[i].text);
    }
    if (n > shown) {
        snprintf(text + at, size - at, " and %u more", n - shown);
    }
    return text;
}

void
mrsi_describe_once(struct mrsi_describe *t, const char *why)
{
    t->d->repeatable = false;
    t->d->not_repeatable = why;
}

/* Does the step read a path that it writes? A condition of `where` may read the collection, too. */
static bool
reads_written(const struct mrsi_describe *t)
{
    for (uint32_t i = 0; i < t->d->n_touches; i++) {
        const struct mrs_touch *r = &t->touch[i];
        for (uint32_t k = 0; r->kind == 'R' && k < t->d->n_touches; k++) {
            const struct mrs_touch *w = &t->touch[k];
            if (w->kind != 'R' && mrsi_coll_same(&t->side[r->side].coll, &t->side[w->side].coll) &&
                mrs_path_texts_meet(r->path, w->path)) {
                return true;
            }
        }
    }
    return false;
}

void
mrsi_describe_once_of_one(struct mrsi_describe *t)
{
    if (!t->bad && mrsi_coll_same(&t->side[0].coll, &t->side[1].coll) && reads_written(t)) {
        mrsi_describe_once(t, "from and into are one collection, of which it reads what it has written");
    }
}

void
mrsi_describe_once_of_own(struct mrsi_describe *t)
{
    if (!t->bad && reads_written(t)) {
        mrsi_describe_once(t, "it reads fields that it writes");
    }
}

void
mrsi_describe_pair(struct mrsi_describe *t, const struct mrs_path *from, const struct mrs_path *into)
{
    MRS_ASSERT(t->d->n_pairs <= t->pair_cap);
    uint32_t n = t->d->n_pairs;
    struct mrs_pair_path *l = room(t, t->pair, n, &t->pair_cap, sizeof *l);
    if (!l) {
        return;
    }
    l[n].from = mrsi_index_plain(from) ? from->text : NULL;
    l[n].into = mrsi_index_plain(into) ? into->text : NULL;
    t->d->pairs = t->pair = l;
    t->d->n_pairs = n + 1;
}

void
mrsi_describe_listing(struct mrsi_describe *t, int side, const char *field, const char *key)
{
    MRS_ASSERT(field && key);
    uint32_t n = t->d->n_listings;
    struct mrs_listing *l = room(t, t->listing, n, &t->listing_cap, sizeof *l);
    if (!l) {
        return;
    }
    l[n] = (struct mrs_listing){side, field, key};
    t->d->listings = t->listing = l;
    t->d->n_listings = n + 1;
}

void
mrsi_describe_quiet(struct mrsi_describe *t, const char *why)
{
    t->d->quiet_only = t->d->quiet_only ? t->d->quiet_only : why;
}

void
mrsi_describe_not_direct(struct mrsi_describe *t, const char *why)
{
    t->d->not_direct = t->d->not_direct ? t->d->not_direct : why;
}

void
mrsi_describe_conflicts(struct mrsi_describe *t)
{
    if (t->d->conflicts != MRS_CONFLICTS_REFUSE) {
        mrsi_describe_quiet(t,
                            "which document counts with `conflicts: first` or `last` would depend on which one is seen "
                           "first while writers go on" MRSI_DO_QUIET);
    }
}

enum mrs_status
mrsi_describe_end(struct mrsi_describe *t)
{
    return t->bad ? mrs_err_memory(t->err, 0) : MRS_OK;
}

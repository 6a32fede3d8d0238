/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - decides which parts of a plan can run while writers run.
 *
 * While a plan expands, old and new schema coexist: everything that steps add exists, nothing that they remove is gone.
 * A plan can run this way only if no step can distinguish this from running the steps one after the other, and if each
 * can be derived again at any time. Both follow from the sets of paths that steps read, add, and remove or change; a
 * step itself states what depends on contents (quiet_only, not_direct). Two paths overlap if one is the other or a
 * prefix of it. A plan has at most a few hundred steps, so every pair is examined. This file uses no server and knows
 * no step by name. */
#include "plan_internal.h"
#include "mongoreshape/live.h"
#include "mongoreshape/path.h"
#include "mongoreshape/words.h"

#include <stdarg.h>
#include <stdio.h>

#define QUIET "run the plan with --quiet-by"

struct judge {
    const struct mrs_plan *p;
    struct mrs_arena *a;
    struct mrs_live *out;
    bool dead;
};

/* Text in the arena; "" if memory is out. */
static const char *format(struct judge *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static const char *
format(struct judge *j, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *text = n < 0 || j->dead ? NULL : mrs_arena_alloc(j->a, (size_t)n + 1);
    if (text) {
        vsnprintf(text, (size_t)n + 1, fmt, again);
    }
    j->dead = j->dead || !text;
    va_end(again);
    va_end(ap);
    return text ? text : "";
}

/* ---- sets ---- */
/* In contract, not in expand: fields that a join adds to a collection that it cannot list, because then all orphans are
 * known; and changes of fields in place. */
char
mrsi_live_kind(const struct mrs_desc *d, const struct mrs_touch *t)
{
    bool listed = !d->in_place && (d->family != MRS_FAMILY_JOIN || t->side < 2);
    for (uint32_t i = 0; i < d->n_listings; i++) {
        listed = listed || d->listings[i].side == t->side;
    }
    return t->kind == 'A' && !listed ? 'D' : t->kind;
}

struct hit {
    const char *ns, *path;
};

static const char *
ns_of(const struct mrs_step *s, const struct mrs_touch *t)
{
    return s->desc.sides[t->side].coll.ns;
}

static bool
has(const struct mrs_step *s, char kind)
{
    bool any = false;
    for (uint32_t i = 0; i < s->desc.n_touches; i++) {
        any = any || mrsi_live_kind(&s->desc, &s->desc.touches[i]) == kind;
    }
    return any;
}

/* Does the touch t of x overlap a touch of kind `kind` of y? */
static bool
touch_meets(const struct mrs_step *x, const struct mrs_touch *t, const struct mrs_step *y, char kind, struct hit *h)
{
    MRS_ASSERT(t->path && t->side >= 0 && (uint32_t)t->side < x->desc.n_sides);
    for (uint32_t i = 0; i < y->desc.n_touches; i++) {
        const struct mrs_touch *u = &y->desc.touches[i];
        if (mrsi_live_kind(&y->desc, u) == kind && strcmp(ns_of(x, t), ns_of(y, u)) == 0 &&
                mrs_path_texts_meet(t->path, u->path)) {
            *h = (struct hit){ns_of(x, t), strlen(t->path) > strlen(u->path) ? t->path : u->path};
            return true;
        }
    }
    return false;
}

static bool
steps_meet(const struct mrs_step *x, char kx, const struct mrs_step *y, char ky, struct hit *h)
{
    MRS_ASSERT(x->type && y->type);
    for (uint32_t i = 0; i < x->desc.n_touches; i++) {
        const struct mrs_touch *t = &x->desc.touches[i];
        if (mrsi_live_kind(&x->desc, t) == kx && touch_meets(x, t, y, ky, h)) {
            return true;
        }
    }
    return false;
}

static const char *
thing(struct judge *j, const struct hit *h)
{
    return *h->path ? format(j, "`%s` of %s", h->path, h->ns) : format(j, "documents of %s", h->ns);
}

static const char *
advice(const struct hit *h)
{
    return *h->path ? QUIET ", or use another name for the field" : QUIET;
}

static const char *
format_step(struct judge *j, const struct mrs_step *s, const char *what)
{
    return format(j, "step %u (%s): %s", s->no, s->type->name, what);
}

static const char *
step_matches(struct judge *j, const struct mrs_step *s, const char *does, const struct hit *h, const char *also)
{
    return format(j, "step %u (%s) %s %s, %s; %s", s->no, s->type->name, does, thing(j, h), also, advice(h));
}

static void
refuse(bool *may, const char **why, const char *reason)
{
    if (*may) {
        *may = false;
        *why = reason;
    }
}

/* ---- groups ---- */
static const struct mrs_step *
step_of(const struct judge *j, const struct mrs_live_group *g, uint32_t i)
{
    return &j->p->steps[mrs_live_first(g) + i];
}

static bool
fuses(const struct mrs_step *a, const struct mrs_step *b)
{
    return a->desc.family == MRS_FAMILY_MAP && b->desc.family == MRS_FAMILY_MAP &&
           strcmp(a->desc.sides[0].coll.ns, b->desc.sides[0].coll.ns) == 0;
}

/* The side of the documents of which a step makes others; -1: none, or several. */
static int
source_side(const struct mrs_desc *d)
{
    int side = -1;
    for (uint32_t i = 0; i < d->n_sides && d->family == MRS_FAMILY_SPREAD; i++) {
        if (d->sides[i].role & MRS_ROLE_MAIN) {
            if (side >= 0) {
                return -1;
            }
            side = (int)i;
        }
    }
    return side;
}

/* Do the one-document steps of this group prepare the documents of the step behind it? Not if it finds them as they
 * are in both schemas. */
static bool
prepares(const struct judge *j, const struct mrs_live_group *g, const struct mrs_step *s)
{
    int side = source_side(&s->desc);
    bool any = false;
    struct hit h;
    if (side < 0 || g->family != MRS_FAMILY_MAP ||
        strcmp(step_of(j, g, 0)->desc.sides[0].coll.ns, s->desc.sides[side].coll.ns) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        const struct mrs_step *o = step_of(j, g, i);
        any = any || steps_meet(o, 'D', s, 'R', &h) || steps_meet(o, 'A', s, 'D', &h);
    }
    return any;
}

static void
make_groups(struct judge *j)
{
    struct mrs_live_group *g = mrs_arena_alloc(j->a, (j->p->n_steps + 1) * sizeof *g);
    uint32_t n = 0;
    if (!g) {
        j->dead = true;
        return;
    }
    for (uint32_t i = 0; i < j->p->n_steps; i++) {
        const struct mrs_step *s = &j->p->steps[i];
        if (n && fuses(s - 1, s)) {
            g[n - 1].n++;
        } else {
            uint32_t before = n && prepares(j, &g[n - 1], s) ? g[n - 1].n : 0;
            n -= before > 0;
            g[n++] = (struct mrs_live_group){.first = i, .n = 1, .before = before, .family = s->desc.family,
                                             .expand = true, .direct = true, .claims_side = -1};
        }
    }
    j->out->group = g;
    j->out->n_groups = n;
}

static uint32_t
all_touches(const struct judge *j, const struct mrs_live_group *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < mrs_live_steps(g); i++) {
        n += step_of(j, g, i)->desc.n_touches;
    }
    return n;
}

/* Is it the path of this list, or inside of it, with a dot or a `$` in one of the names of the list? */
static bool
is_odd_path(struct mrs_view list, const char *path)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool odd = false, same = true;
    mrs_walk_init(&w, list);
    while (same && mrs_walk_next(&w, &el) == 1) {
        uint32_t n = 0;
        const char *name = el.v.type == MRS_STRING ? mrs_val_text(el.v, &n) : "";
        same = n > 0 && strncmp(path, name, n) == 0 && (!path[n] || path[n] == '.');
        odd = odd || *name == '$' || memchr(name, '.', n);
        path += same ? n + (path[n] == '.') : 0;
    }
    return same && odd;
}

/* Does the plan write this path as a list with such a name? Paths here have dots between names, as those of updates. */
static bool
is_odd_name(struct mrs_view body, const char *path)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool odd = false;
    mrs_walk_init(&w, body);
    while (!odd && mrs_walk_next(&w, &el) == 1) {
        odd = (el.v.type == MRS_ARRAY && is_odd_path(mrs_val_view(el.v), path)) ||
              ((el.v.type == MRS_ARRAY || el.v.type == MRS_DOCUMENT) && is_odd_name(mrs_val_view(el.v), path));
    }
    return odd;
}

/* Fields added to existing documents, at the top or nested. */
static void
make_claims(struct judge *j, struct mrs_live_group *g)
{
    MRS_ASSERT(g->n > 0 && g->before <= g->first && g->first + g->n <= j->p->n_steps);
    const char **list = mrs_arena_alloc(j->a, (all_touches(j, g) + 1) * sizeof *list);
    if (!list) {
        j->dead = true;
        return;
    }
    for (uint32_t i = 0; i < mrs_live_steps(g); i++) {
        const struct mrs_step *s = step_of(j, g, i);
        for (uint32_t k = 0; k < s->desc.n_touches; k++) {
            const struct mrs_touch *t = &s->desc.touches[k];
            if (mrsi_live_kind(&s->desc, t) != 'A' || !(s->desc.sides[t->side].role & MRS_ROLE_CHANGE) || !*t->path) {
                continue;
            }
            g->claims_side = i < g->before ? source_side(&step_of(j, g, g->before)->desc) : t->side;
            if (is_odd_name(s->body, t->path)) {
                refuse(&g->expand, &g->expand_why,
                       format_step(j, s, format(j, "a name in `%s` has a dot or begins with `$`, and fields are added "
                                                "by paths with dots between the names; " QUIET, t->path)));
            }
            if (!mrs_is_one_of(t->path, list, g->n_claims)) {
                list[g->n_claims++] = t->path;
            }
        }
    }
    g->claims = list;
}

static bool
is_written(const struct mrs_desc *d, const char *path)
{
    bool any = false;
    for (uint32_t i = 0; i < d->n_touches && !any; i++) {
        any = d->touches[i].kind == 'A' && strcmp(d->touches[i].path, path) == 0;
    }
    return any;
}

/* Does a field that a step changes still exist afterwards? */
static bool
is_kept(const struct mrs_desc *d, const struct mrs_touch *t)
{
    return !d->takes_away || is_written(d, t->path);
}

static void
collect_removed(struct judge *j, struct mrs_live_group *g)
{
    MRS_ASSERT(g->n > 0 && g->before <= g->first && g->first + g->n <= j->p->n_steps);
    const char **list = mrs_arena_alloc(j->a, (all_touches(j, g) + 1) * sizeof *list);
    if (!list) {
        j->dead = true;
        return;
    }
    for (uint32_t i = 0; i < g->n && g->family == MRS_FAMILY_MAP; i++) {
        const struct mrs_step *s = step_of(j, g, i);
        for (uint32_t k = 0; k < s->desc.n_touches; k++) {
            const struct mrs_touch *t = &s->desc.touches[k];
            bool claimed = is_kept(&s->desc, t);
            for (uint32_t c = 0; c < g->n_claims; c++) {
                claimed = claimed || mrs_path_texts_meet(g->claims[c], t->path);
            }
            if (t->kind == 'D' && !claimed && !mrs_is_one_of(t->path, list, g->n_gone)) {
                list[g->n_gone++] = t->path;
            }
        }
    }
    g->gone = list;
}

/* ---- one group ---- */
/* A field that two steps add could end in another place when it is derived again. */
static void
check_twice(struct judge *j, struct mrs_live_group *g)
{
    MRS_ASSERT(g->n > 0 && g->before <= g->first && g->first + g->n <= j->p->n_steps);
    struct hit h;
    for (uint32_t i = 1; i < mrs_live_steps(g); i++) {
        for (uint32_t b = 0; b < i && (g->expand || g->direct); b++) {
            const struct mrs_step *s = step_of(j, g, i), *o = step_of(j, g, b);
            if (steps_meet(s, 'A', o, 'A', &h)) {
                const char *why =
                    step_matches(j, s, "adds", &h, format(j, "and step %u (%s) adds it, too", o->no, o->type->name));
                refuse(&g->expand, &g->expand_why, why);
                refuse(&g->direct, &g->direct_why, why);
            }
        }
    }
}

/* A field that a step of the group adds, and no earlier one, must not have been read or removed under that name before:
 * it would exist already, or be another field. */
static void
check_inside(struct judge *j, struct mrs_live_group *g)
{
    MRS_ASSERT(g->n > 0 && g->before <= g->first && g->first + g->n <= j->p->n_steps);
    for (uint32_t i = 0; i < mrs_live_steps(g); i++) {
        const struct mrs_step *s = step_of(j, g, i);
        for (uint32_t k = 0; k < s->desc.n_touches && g->expand; k++) {
            const struct mrs_touch *t = &s->desc.touches[k];
            char kind = mrsi_live_kind(&s->desc, t);
            bool made = kind == 'A';
            struct hit h;
            for (uint32_t b = 0; b < i && !made; b++) {
                made = touch_meets(s, t, step_of(j, g, b), 'A', &h) && strcmp(h.path, t->path) == 0;
            }
            for (uint32_t b = i; b < mrs_live_steps(g) && !made && g->expand; b++) {
                const struct mrs_step *o = step_of(j, g, b);
                if (touch_meets(s, t, o, 'A', &h)) {
                    const char *of = b == i ? "which it adds itself" : format(j, "which step %u adds later", o->no);
                    const char *does = kind == 'R' ? "reads" : "removes or changes";
                    refuse(&g->expand, &g->expand_why, step_matches(j, s, does, &h, of));
                }
            }
        }
    }
}

/* A side with documents that cannot be found again. Joins leave those to contract. */
static void
check_listed(struct judge *j, struct mrs_live_group *g, const struct mrs_step *s)
{
    for (uint32_t i = 0; i < s->desc.n_sides && s->desc.family != MRS_FAMILY_JOIN; i++) {
        bool listed = !(s->desc.sides[i].role & MRS_ROLE_ADD);
        for (uint32_t k = 0; k < s->desc.n_listings; k++) {
            listed = listed || s->desc.listings[k].side == (int)i;
        }
        if (!listed) {
            refuse(&g->expand, &g->expand_why,
                   format_step(j, s, format(j, "what it adds to %s cannot be found again from its source; " QUIET,
                                            s->desc.sides[i].coll.ns)));
        }
    }
}

static void
check_direct(struct judge *j, struct mrs_live_group *g, uint32_t i)
{
    MRS_ASSERT(i < mrs_live_steps(g));
    const struct mrs_step *s = step_of(j, g, i);
    const struct mrs_desc *d = &s->desc;
    struct hit h;
    if (d->not_direct) {
        refuse(&g->direct, &g->direct_why, format_step(j, s, d->not_direct));
    } else if (!d->repeatable) {
        refuse(&g->direct, &g->direct_why,
               format_step(j, s, format(j, "it cannot be run twice: %s",
                                        d->not_repeatable ? d->not_repeatable : QUIET)));
    } else if (d->family == MRS_FAMILY_SPREAD || d->family == MRS_FAMILY_GROUP) {
        refuse(&g->direct, &g->direct_why,
               format_step(j, s, "it does not work in place; use `apply` and then `contract`"));
    } else if (d->family == MRS_FAMILY_JOIN && steps_meet(s, 'A', s, 'R', &h)) {
        refuse(&g->direct, &g->direct_why, step_matches(j, s, "reads", &h, "which it adds itself"));
    }
    for (uint32_t b = 0; b < i && g->direct; b++) {
        const struct mrs_step *o = step_of(j, g, b);
        if (steps_meet(o, 'R', s, 'A', &h) || steps_meet(o, 'R', s, 'D', &h)) {
            refuse(&g->direct, &g->direct_why,
                   format(j, "step %u (%s) changes %s, which step %u (%s) reads: done together twice they would give "
                             "something else; make two plans of them, or " QUIET,
                          s->no, s->type->name, thing(j, &h), o->no, o->type->name));
        }
    }
}

/* Does a step read a field that a later one of the group changes in place? From a contracted document it would derive
 * another value, which cannot be distinguished from a write. */
static bool
reads_changed(const struct judge *j, const struct mrs_live_group *g)
{
    bool any = false;
    struct hit h;
    for (uint32_t i = 1; i < g->n; i++) {
        const struct mrs_step *s = step_of(j, g, i);
        for (uint32_t k = 0; k < s->desc.n_touches && !s->desc.keeps_values; k++) {
            const struct mrs_touch *t = &s->desc.touches[k];
            for (uint32_t b = 0; b < i && mrsi_live_kind(&s->desc, t) == 'D' && is_kept(&s->desc, t); b++) {
                any = any || touch_meets(s, t, step_of(j, g, b), 'R', &h);
            }
        }
    }
    return any;
}

/* A step with a star whose matches would all add to one collection becomes several steps, of which only one may. */
static void
check_gathering(struct judge *j, struct mrs_live_group *g, const struct mrs_step *s)
{
    for (uint32_t i = 0; i < s->desc.n_sides && s->stars && s->type->stars == MRS_STARS_GATHER; i++) {
        const struct mrs_side *side = &s->desc.sides[i];
        if ((side->role & MRS_ROLE_ADD) && !strchr(side->coll.ns, '*')) {
            refuse(&g->expand, &g->expand_why,
                   format_step(j, s, format(j, "several collections may match its star, and of steps that add to %s "
                                               "only one may; `union` takes them in one step; or " QUIET,
                                            side->coll.ns)));
        }
    }
}

/* Does a step remove all that is at a path, from every document? */
static bool
takes(const struct mrs_step *s, const char *path)
{
    bool all = false;
    for (uint32_t i = 0; i < s->desc.n_touches && s->desc.takes_away && !all; i++) {
        const struct mrs_touch *t = &s->desc.touches[i];
        size_t n = strlen(t->path);
        all = t->kind == 'D' && strncmp(t->path, path, n) == 0 && (n == 0 || !path[n] || path[n] == '.');
    }
    return all;
}

/* A step that prepares others, and that must not be applied twice: contract applies it once, with writers stopped. But
 * until then an application may write documents of either schema, so what it changes must be gone in the new one. */
static bool
changes_only_gone(const struct judge *j, const struct mrs_live_group *g, uint32_t i)
{
    const struct mrs_step *s = step_of(j, g, i);
    bool gone = i < g->before && s->desc.once_only && !s->desc.n_conditions;
    for (uint32_t k = 0; k < s->desc.n_touches && gone; k++) {
        const struct mrs_touch *t = &s->desc.touches[k];
        bool self = *t->path && !strchr(t->path, '*') && !is_written(&s->desc, t->path);
        gone = mrsi_live_kind(&s->desc, t) != 'D' || self || takes(step_of(j, g, g->before), t->path);
    }
    return gone;
}

static void
judge_group(struct judge *j, struct mrs_live_group *g)
{
    MRS_ASSERT(g->n > 0 && g->before <= g->first && g->first + g->n <= j->p->n_steps);
    bool quiet = false;
    for (uint32_t i = 0; i < mrs_live_steps(g); i++) {
        const struct mrs_step *s = step_of(j, g, i);
        g->adds = g->adds || has(s, 'A');
        g->removes = g->removes || has(s, 'D');
        if (s->desc.quiet_only && !changes_only_gone(j, g, i)) {
            const char *why = format_step(j, s, s->desc.quiet_only);
            refuse(&g->expand, &g->expand_why, why);
            refuse(&g->direct, &g->direct_why, why);
            quiet = true;
        }
        check_listed(j, g, s);
        check_gathering(j, g, s);
        check_direct(j, g, i);
    }
    check_inside(j, g);
    check_twice(j, g);
    make_claims(j, g);
    collect_removed(j, g);
    g->contract_live = g->family == MRS_FAMILY_MAP && !quiet && !reads_changed(j, g);
}

/* ---- two groups ---- */
static void
judge_steps(struct judge *j, struct mrs_live_group *g, const struct mrs_step *a, const struct mrs_step *b)
{
    static const struct {
        char of_a, of_b;
        const char *does, *also; /* verbs for the second step and the first */
    } rule[] = {{'A', 'A', "adds", "and step %u (%s) adds it, too"},
                {'A', 'D', "removes or changes", "which step %u (%s) adds"},
                {'D', 'A', "adds", "where step %u (%s) leaves what was there until contract"},
                {'D', 'R', "reads", "which is as step %u (%s) makes it only after contract"},
                {'R', 'A', "adds", "which step %u (%s) reads and would find there when it derives again"}};
    struct hit h;
    for (size_t i = 0; i < sizeof rule / sizeof *rule && g->expand; i++) {
        if (steps_meet(a, rule[i].of_a, b, rule[i].of_b, &h)) {
            const char *mark = strstr(rule[i].also, "%u");
            const char *also = format(j, "%.*s%u (%s)%s", (int)(mark - rule[i].also), rule[i].also, a->no,
                                      a->type->name, mark + strlen("%u (%s)"));
            refuse(&g->expand, &g->expand_why, step_matches(j, b, rule[i].does, &h, also));
        }
    }
    g->after_verified = g->after_verified || steps_meet(a, 'A', b, 'R', &h);
}

static void
judge_pair(struct judge *j, const struct mrs_live_group *first, struct mrs_live_group *g)
{
    for (uint32_t i = 0; i < mrs_live_steps(first); i++) {
        for (uint32_t k = 0; k < mrs_live_steps(g) && !j->dead; k++) {
            judge_steps(j, g, step_of(j, first, i), step_of(j, g, k));
        }
    }
}

enum mrs_status
mrs_live_judge(const struct mrs_plan *p, struct mrs_arena *a, struct mrs_live *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_arena_is_sound(a));
    struct judge j = {p, a, out, false};
    *out = (struct mrs_live){.expand = true, .direct = true};
    make_groups(&j);
    for (uint32_t i = 0; i < out->n_groups && !j.dead; i++) {
        judge_group(&j, &out->group[i]);
        for (uint32_t k = 0; k < i && !j.dead; k++) {
            judge_pair(&j, &out->group[k], &out->group[i]);
        }
        if (!out->group[i].expand) {
            refuse(&out->expand, &out->expand_why, out->group[i].expand_why);
        }
        if (!out->group[i].direct) {
            refuse(&out->direct, &out->direct_why, out->group[i].direct_why);
        }
    }
    return j.dead ? mrs_err_memory(e, 0) : MRS_OK;
}

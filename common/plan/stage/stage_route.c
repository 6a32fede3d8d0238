/* SPDX-License-Identifier: Apache-2.0 */
/* stage_route.c - finds the steps of a plan that apply to the stream of a stage, or why a plan cannot be a stage.
 *
 * A stage has one stream: the documents of one collection arrive, those of one collection leave. For each step this
 * file checks which of the stream's collections it reads, and which it fills. A step that needs a whole collection at
 * once, or changes a catalog, is refused with the alternative. */
#include "mongoreshape/stage.h"

#include <stdio.h>

struct router {
    const struct mrs_plan *plan;
    const struct mrs_stage_request *request;
    struct mrs_stage_route *out;
    struct mrs_arena *arena;
    bool *here;      /* for each collection: does it have documents of the stream now? */
    bool *written;   /* an earlier step changed it, removed from it or added to it */
    bool *had;       /* `with` names it and a step used it */
    bool *needed;    /* later steps bring its documents to `emit` */
    bool new_ids;
};

static void fault(struct router *r, const char *place, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void
fault(struct router *r, const char *place, const char *fmt, ...)
{
    char msg[700];
    va_list args;
    va_start(args, fmt);
    vsnprintf(msg, sizeof msg, fmt, args);
    va_end(args);
    r->request->report(r->request->arg, place, msg);
}

static void
step_fault(struct router *r, const struct mrs_step *s, const char *why)
{
    char place[64];
    snprintf(place, sizeof place, "plan.steps.%u.%.32s", s->no - 1, s->type->name);
    fault(r, place, "%s", why);
}

/* ---- collections ---- */
/* The collection of a specification. If the database of the plan is unknown, its name matches any. */
static uint32_t
coll_requested(const struct mrs_stage_route *out, const struct mrs_coll *c, const struct mrs_plan *p)
{
    MRS_ASSERT(c->coll);
    for (uint32_t i = 0; i < out->n_colls; i++) {
        const char *db = out->coll[i]->db;
        bool here = strcmp(db, p->database) == 0;
        if (strcmp(out->coll[i]->coll, c->coll) == 0 &&
            (c->db ? strcmp(db, c->db) == 0 || (here && !p->id_known) : here)) {
            return i;
        }
    }
    return MRS_STAGE_NO_COLL;
}

static uint32_t
coll_of(const struct mrs_stage_route *out, const struct mrs_coll *c)
{
    for (uint32_t i = 0; i < out->n_colls; i++) {
        if (strcmp(out->coll[i]->ns, c->ns) == 0) {
            return i;
        }
    }
    return MRS_STAGE_NO_COLL;
}

static bool
list_colls(struct router *r)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < r->plan->n_steps; i++) {
        n += r->plan->steps[i].desc.n_sides;
    }
    r->out->coll = mrs_arena_alloc(r->arena, n * sizeof *r->out->coll);
    r->here = mrs_arena_alloc(r->arena, 4u * n * sizeof *r->here);
    if (!r->out->coll || !r->here) {
        return false;
    }
    memset(r->here, 0, 4u * n * sizeof *r->here);
    r->written = r->here + n;
    r->had = r->here + 2 * n;
    r->needed = r->here + 3 * n;
    for (uint32_t i = 0; i < r->plan->n_steps; i++) {
        const struct mrs_desc *d = &r->plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            if (coll_of(r->out, &d->sides[k].coll) == MRS_STAGE_NO_COLL) {
                r->out->coll[r->out->n_colls++] = &d->sides[k].coll;
            }
        }
    }
    return true;
}

/* ---- steps that are never a stage ---- */
const char *
mrs_stage_refuses(const struct mrs_step *s)
{
    MRS_ASSERT(s->type);
    if (s->desc.n_conditions) {
        return "`where` asks for values of another collection, and a stage sees the documents that it is given: run "
               "the plan with mongoreshape or mongoreshape-live";
    }
    switch (s->desc.family) {
    case MRS_FAMILY_MAP:
    case MRS_FAMILY_SPREAD:
    case MRS_FAMILY_JOIN:
    case MRS_FAMILY_FOLD: break;
    case MRS_FAMILY_GROUP:
        return "`unique` holds documents of the whole collection against each other, and a stage sees one after the "
               "other: run the plan with mongoreshape or mongoreshape-live";
    case MRS_FAMILY_CATALOG:
        return "the step changes a collection's indexes, options or name, which is a command and no stage: take it out "
               "of this plan";
    default:
        return "the step needs whole collections at once, and a stage sees one document after the other: run the plan "
               "with mongoreshape or mongoreshape-live";
    }
    return s->desc.conflicts == MRS_CONFLICTS_REFUSE
               ? NULL
               : "`conflicts: first` and `last` hold documents of the whole collection against each other: leave them "
                 "out, a `$merge` after the stage finds an `_id` that is there";
}

static bool
suits(struct router *r, const struct mrs_step *s)
{
    const char *why = mrs_stage_refuses(s);
    if (why) {
        step_fault(r, s, why);
    }
    return !why;
}

/* ---- the route ---- */
static const char *
field_of(const struct router *r, const struct mrs_coll *c)
{
    struct mrs_val v = mrs_doc_get(r->request->with, c->coll);
    uint32_t n;
    return v.type == MRS_STRING ? mrs_val_text(v, &n) : NULL;
}

static struct mrs_stage_hop *
add_hop(struct router *r, const struct mrs_step *s)
{
    MRS_ASSERT(s->type);
    struct mrs_stage_route *out = r->out;
    int16_t *side_in = mrs_arena_alloc(r->arena, out->n_colls * sizeof *side_in);
    uint32_t *by_side = mrs_arena_alloc(r->arena, (s->desc.n_sides + 1u) * sizeof *by_side);
    if (!side_in || !by_side) {
        return NULL;
    }
    memset(side_in, 0xFF, out->n_colls * sizeof *side_in);
    struct mrs_stage_hop *h = &out->hop[out->n_hops++];
    *h = (struct mrs_stage_hop){.step = s, .side_in = side_in, .coll_of = by_side};
    for (uint32_t k = 0; k < s->desc.n_sides; k++) {
        by_side[k] = coll_of(out, &s->desc.sides[k].coll);
    }
    return h;
}

/* The sides whose documents a step reads one by one. */
static bool
is_entry(const struct mrs_desc *d, uint32_t side)
{
    return d->family == MRS_FAMILY_JOIN   ? side == 1
           : d->family == MRS_FAMILY_FOLD ? side == 0
                                          : (d->sides[side].role & MRS_ROLE_MAIN) != 0;
}

static void
check_join(struct router *r, struct mrs_stage_hop *h)
{
    MRS_ASSERT(h->step);
    const struct mrs_step *s = h->step;
    const struct mrs_coll *from = &s->desc.sides[0].coll;
    uint32_t c = h->coll_of[0];
    char why[400];
    h->field = field_of(r, from);
    r->had[c] = true;
    if (h->field) {
        while (h->field_no < r->out->n_fields && strcmp(r->out->field[h->field_no], h->field) != 0) {
            h->field_no++;
        }
        r->out->n_fields += h->field_no == r->out->n_fields;
        r->out->field[h->field_no] = h->field;
    }
    if (r->out->grouped) {
        step_fault(r, s, "documents are grouped before, and partners arrive with the documents of the stage: make "
                         "two plans "
                   "of it");
    } else if (!h->field) {
        snprintf(why, sizeof why, "the documents of `%.100s` must arrive in a field: put a `$lookup` before the "
                                  "stage and "
                 "say `with: { %.100s: \"that field\" }`", from->coll, from->coll);
        step_fault(r, s, why);
    } else if (r->written[c]) {
        snprintf(why, sizeof why, "an earlier step changes `%.100s`, and a `$lookup` brings its documents as they were "
                 "before: make two plans of it, and run them one after the other", from->coll);
        step_fault(r, s, why);
    }
}

static void
check_fold(struct router *r, const struct mrs_step *s)
{
    MRS_ASSERT(s->type->fold);
    if (r->out->grouped) {
        step_fault(r, s, "a stage can group once: make two plans of it");
    } else if (r->new_ids) {
        step_fault(r, s, "a step before gives documents their `_id`, and whether two are equal cannot be seen here "
                         "once "
                   "they are grouped (`twins: refuse` does so, too): make two plans of it");
    }
}

enum mrs_stage_class
mrs_stage_class_of(const struct mrs_step *s)
{
    bool many = strcmp(s->type->name, "extract") == 0 || strcmp(s->type->name, "unbucket") == 0;
    return s->desc.family == MRS_FAMILY_JOIN   ? MRS_STAGE_JOINED
           : s->desc.family == MRS_FAMILY_FOLD ? MRS_STAGE_GROUPED
           : many                              ? MRS_STAGE_MANY
                                               : MRS_STAGE_ONE;
}

/* Can documents continue in the collection from which the step reads them? */
static bool
may_keep(const struct mrs_desc *d, uint32_t side)
{
    return d->family != MRS_FAMILY_FOLD || !(d->sides[side].role & MRS_ROLE_TAKE);
}

/* One step: does the stream pass it, and in which collections is it afterwards? */
static enum mrs_status
meet(struct router *r, const struct mrs_step *s)
{
    const struct mrs_desc *d = &s->desc;
    struct mrs_stage_hop *h = NULL;
    for (uint32_t k = 0; k < d->n_sides; k++) {
        uint32_t c = coll_of(r->out, &d->sides[k].coll);
        if (!is_entry(d, k) || !r->here[c]) {
            continue;
        }
        h = h ? h : add_hop(r, s);
        if (!h) {
            return MRS_DEAD;
        }
        h->side_in[c] = (int16_t)k;
        r->here[c] = may_keep(d, k);
    }
    for (uint32_t k = 0; h && k < d->n_sides; k++) {
        if (d->sides[k].role & MRS_ROLE_ADD) {
            r->here[h->coll_of[k]] = true;
        }
    }
    if (d->family == MRS_FAMILY_JOIN && !h && r->here[coll_of(r->out, &d->sides[0].coll)]) {
        step_fault(r, s, "the documents of this stage would go into those of another collection: let that one be "
                         "`of`, and "
                   "bring these by a `$lookup` and `with`");
    }
    return MRS_OK;
}

/* Does a hop bring documents to `emit`? Then the documents that it uses are needed, too. */
static bool
leads_on(struct router *r, const struct mrs_stage_hop *h)
{
    const struct mrs_desc *d = &h->step->desc;
    bool added = false, keeps = false;
    for (uint32_t k = 0; k < d->n_sides; k++) {
        added = added || ((d->sides[k].role & MRS_ROLE_ADD) && r->needed[h->coll_of[k]]);
        keeps = keeps || (h->side_in[h->coll_of[k]] == (int16_t)k && r->needed[h->coll_of[k]]);
    }
    bool fold = d->family == MRS_FAMILY_FOLD;
    if (fold && added && keeps && d->sides[0].coll.ns != d->sides[1].coll.ns &&
        strcmp(d->sides[0].coll.ns, d->sides[1].coll.ns) != 0) {
        step_fault(r, h->step, "both its groups and the documents that they are made of would come to `emit`: make two "
                   "plans of it");
    }
    if (!added && (fold || !keeps)) {
        return false;
    }
    for (uint32_t c = 0; c < r->out->n_colls; c++) {
        r->needed[c] = r->needed[c] || h->side_in[c] >= 0;
    }
    return true;
}

/* Leaves the hops that lead to `emit`, from the last to the first, in their order. */
static void
prune(struct router *r)
{
    struct mrs_stage_route *out = r->out;
    uint32_t n = 0, kept = out->n_hops;
    r->needed[out->emit] = true;
    for (uint32_t i = out->n_hops; i-- > 0;) {
        if (leads_on(r, &out->hop[i])) {
            out->hop[--kept] = out->hop[i];
        }
    }
    for (uint32_t i = kept; i < out->n_hops; i++) {
        out->hop[n++] = out->hop[i];
    }
    out->n_hops = n;
}

/* The requirements of the remaining steps. */
static void
check_hops(struct router *r)
{
    struct mrs_stage_route *out = r->out;
    uint32_t i = 0;
    for (uint32_t k = 0; k < r->plan->n_steps; k++) {
        const struct mrs_step *s = &r->plan->steps[k];
        if (i < out->n_hops && out->hop[i].step == s) {
            if (s->desc.family == MRS_FAMILY_JOIN) {
                check_join(r, &out->hop[i]);
            } else if (s->desc.family == MRS_FAMILY_FOLD) {
                check_fold(r, s);
                out->grouped = true;
            }
            enum mrs_stage_class c = mrs_stage_class_of(s);
            out->kind = c > out->kind ? c : out->kind;
            r->new_ids = r->new_ids || s->desc.new_ids;
            i++;
        }
        for (uint32_t side = 0; side < s->desc.n_sides; side++) {
            if (s->desc.sides[side].role & (MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_ADD)) {
                r->written[coll_of(out, &s->desc.sides[side].coll)] = true;
            }
        }
    }
}

/* ---- of and emit ---- */
static void
colls_text(const struct mrs_stage_route *out, const bool *which, char *text, size_t size)
{
    MRS_ASSERT(size > 0);
    size_t n = 0;
    *text = 0;
    for (uint32_t i = 0; i < out->n_colls && n + 80 < size; i++) {
        if (!which || which[i]) {
            int w = snprintf(text + n, size - n, "%s%.64s", n ? ", " : "", out->coll[i]->coll);
            n += w > 0 ? (size_t)w : 0;
        }
    }
}

static uint32_t
requested(struct router *r, const char *key, const struct mrs_coll *c, const bool *which)
{
    uint32_t i = coll_requested(r->out, c, r->plan);
    char list[400];
    const char *names[MRS_SIDES_MAX] = {NULL};
    if (i != MRS_STAGE_NO_COLL && (!which || which[i])) {
        return i;
    }
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->out->n_colls && n < MRS_SIDES_MAX; k++) {
        if (!which || which[k]) {
            names[n++] = r->out->coll[k]->coll;
        }
    }
    const char *near = mrs_nearest(c->coll, names, n);
    colls_text(r->out, which, list, sizeof list);
    if (near && i == MRS_STAGE_NO_COLL) {
        fault(r, key, "the plan has no collection `%.100s` (did you mean `%.100s`?)", c->coll, near);
    } else {
        fault(r, key, "%s `%.100s`; there are: %s", which ? "no document of this stage comes to" : "the plan has no "
              "collection", c->coll, list);
    }
    return MRS_STAGE_NO_COLL;
}

/* The collection whose documents arrive: the only one that is read and that no earlier step has filled. */
static uint32_t
only_source(struct router *r)
{
    uint32_t found = MRS_STAGE_NO_COLL, n = 0;
    char list[400] = "";
    bool *which = r->had, *made = r->written; /* not used before the route is computed, and cleared again */
    for (uint32_t i = 0; i < r->plan->n_steps; i++) {
        const struct mrs_desc *d = &r->plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            uint32_t c = coll_of(r->out, &d->sides[k].coll);
            if (is_entry(d, k) && !which[c] && !made[c]) {
                which[c] = true;
                found = c;
                n++;
            }
            made[c] = made[c] || (d->sides[k].role & MRS_ROLE_ADD);
        }
    }
    colls_text(r->out, which, list, sizeof list);
    memset(which, 0, r->out->n_colls * sizeof *which);
    memset(made, 0, r->out->n_colls * sizeof *made);
    if (n != 1) {
        fault(r, "of", "say which collection's documents arrive: %s", n ? list : "the plan reads none");
        return MRS_STAGE_NO_COLL;
    }
    return found;
}

/* The collection whose documents leave: `of`, or the only other one if documents leave `of`. */
static uint32_t
only_target(struct router *r)
{
    const struct mrs_stage_route *out = r->out;
    bool taken = !r->here[out->of];
    uint32_t other = MRS_STAGE_NO_COLL, n = 0;
    char list[400];
    for (uint32_t i = 0; i < out->n_hops; i++) {
        int16_t side = out->hop[i].side_in[out->of];
        const struct mrs_desc *d = &out->hop[i].step->desc;
        taken = taken || (side >= 0 && (d->family == MRS_FAMILY_FOLD || (d->sides[side].role & MRS_ROLE_TAKE)));
    }
    for (uint32_t c = 0; c < out->n_colls; c++) {
        if (r->here[c] && c != out->of) {
            other = c;
            n++;
        }
    }
    if (!taken || n == 0) {
        return out->of;
    }
    if (n > 1) {
        colls_text(out, r->here, list, sizeof list);
        fault(r, "emit", "say which collection's documents leave the stage, one of: %s", list);
        return MRS_STAGE_NO_COLL;
    }
    return other;
}

/* One field with the documents of two collections would give a step those of the other. */
static bool
is_taken(struct mrs_view with, const struct mrs_elem *e)
{
    struct mrs_walk w;
    struct mrs_elem before;
    mrs_walk_init(&w, with);
    while (mrs_walk_next(&w, &before) == 1 && before.v.p != e->v.p) {
        if (strcmp(before.name, e->name) == 0 || mrs_identical(before.v, e->v)) {
            return true;
        }
    }
    return false;
}

static void
check_with(struct router *r)
{
    struct mrs_walk w;
    struct mrs_elem e;
    char place[300], list[400];
    mrs_walk_init(&w, r->request->with);
    while (mrs_walk_next(&w, &e) == 1) {
        struct mrs_coll c = {.coll = e.name};
        uint32_t i = coll_requested(r->out, &c, r->plan);
        snprintf(place, sizeof place, "with.%.200s", e.name);
        if (e.v.type != MRS_STRING || e.v.n < 6 || memchr(e.v.p + 4, 0, e.v.n - 5) || e.v.p[4] == '$' ||
            memchr(e.v.p + 4, '.', e.v.n - 5) || mrs_val_is_text(e.v, "_id")) {
            fault(r, place, "must be the name of a top-level field other than _id, as in `with: { comments: \"__c\" "
                  "}`");
        } else if (is_taken(r->request->with, &e)) {
            fault(r, place, "give each collection one field, and a field of its own");
        } else if (i == MRS_STAGE_NO_COLL || !r->had[i]) {
            colls_text(r->out, r->had, list, sizeof list);
            fault(r, place, "no step of this stage takes documents of it%s%s", *list ? "; those that are asked for: "
                  : "",
                  list);
        }
    }
}

static enum mrs_status
walk_plan(struct router *r)
{
    const struct mrs_stage_request *request = r->request;
    struct mrs_stage_route *out = r->out;
    enum mrs_status s = MRS_OK;
    out->of = request->of ? requested(r, "of", request->of, NULL) : only_source(r);
    if (out->of == MRS_STAGE_NO_COLL) {
        return MRS_OK;
    }
    r->here[out->of] = true;
    for (uint32_t i = 0; i < r->plan->n_steps && s == MRS_OK; i++) {
        s = meet(r, &r->plan->steps[i]);
    }
    out->comes_to = r->here;
    if (s == MRS_OK) {
        out->emit = request->emit ? requested(r, "emit", request->emit, r->here) : only_target(r);
    }
    if (s == MRS_OK && out->emit != MRS_STAGE_NO_COLL) {
        prune(r);
        check_hops(r);
        check_with(r);
    }
    return s;
}

enum mrs_status
mrs_stage_find_route(const struct mrs_plan *p, const struct mrs_stage_request *request, struct mrs_arena *a,
                     struct mrs_stage_route *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_arena_is_sound(a));
    struct router r = {.plan = p, .request = request, .out = out, .arena = a};
    bool fits = true;
    *out = (struct mrs_stage_route){.of = MRS_STAGE_NO_COLL, .emit = MRS_STAGE_NO_COLL};
    out->hop = mrs_arena_alloc(a, (p->n_steps + 1u) * sizeof *out->hop);
    out->field = mrs_arena_alloc(a, (p->n_steps + 1u) * sizeof *out->field);
    if (!out->hop || !out->field || !list_colls(&r)) {
        return mrs_err_memory(e, p->n_steps * sizeof *out->hop);
    }
    for (uint32_t i = 0; i < p->n_steps; i++) {
        fits = suits(&r, &p->steps[i]) && fits;
    }
    enum mrs_status s = fits ? walk_plan(&r) : MRS_OK;
    return s == MRS_OK ? s : mrs_err_memory(e, 0);
}

const char *
mrs_stage_class_name(enum mrs_stage_class c)
{
    static const char *const name[] = {"one", "many", "grouped", "joined"};
    return name[c];
}

/* SPDX-License-Identifier: Apache-2.0 */
/* by_value.c - finds the collections that a step names by values of its documents.
 *
 * They must be known before the run begins, like all others: so the documents are read once, and passed through the
 * one-document steps that come before. A value that names no collection, or the same one as another value, is skipped
 * here: the step refuses its documents. */
#include "fit.h"
#include "mongoreshape/spread_ops.h"

#include <stdio.h>
#include <stdlib.h>

struct value_named {
    const char *name;
    struct mrs_val value;
};
struct value_step {
    const struct mrs_step *step;
    void *work;
};
struct value_naming {
    struct mrsi_fitting *f;
    struct mrsi_star_name into;
    const char *from;
    struct mrs_arena arena; /* reset for each document */
    struct mrs_err err;
    struct mrs_ctx c;
    struct value_step *before, own;
    uint32_t n_before;
    struct value_named *named; /* sorted by name */
    uint32_t n, cap;
    uint64_t most;
    bool full;
};

/* ---- earlier steps ---- */
/* Are documents those of the input, except for one-document steps, which are collected? Steps whose `where` searches
 * another collection do not count: its values are not available yet. */
static bool
collect(struct value_naming *x, const char **why)
{
    struct mrsi_fitting *f = x->f;
    x->before = mrs_arena_alloc(&f->scratch, ((size_t)f->n + 1) * sizeof *x->before);
    f->p->dead = f->p->dead || !x->before;
    *why = NULL;
    for (uint32_t i = 0; i < f->n && x->before && !*why; i++) {
        const struct mrs_desc *d = &f->made[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            unsigned role = d->sides[k].role;
            if (strcmp(d->sides[k].coll.ns, x->from) != 0) {
                continue;
            }
            if (d->family == MRS_FAMILY_MAP && !d->new_ids && !d->n_conditions) {
                x->before[x->n_before++] = (struct value_step){&f->made[i], NULL};
            } else if (d->family == MRS_FAMILY_MAP || (role & (MRS_ROLE_ADD | MRS_ROLE_TAKE)) ||
                       (d->family != MRS_FAMILY_CATALOG && (role & MRS_ROLE_CHANGE))) {
                *why = f->made[i].type->name;
            }
        }
    }
    return x->before && !*why;
}

static bool
make_work(struct value_naming *x, struct value_step *s)
{
    size_t size = s->step->type->work_size ? s->step->type->work_size : 1;
    s->work = mrs_zalloc(x->f->p->pub.mem, size);
    x->f->p->dead = x->f->p->dead || !s->work;
    return s->work != NULL;
}

static void
free_work(struct value_naming *x, struct value_step *s)
{
    if (s->work && s->step->type->work_clear) {
        s->step->type->work_clear(&x->c, s->work);
    }
    mrs_free(x->f->p->pub.mem, s->work);
}

/* ---- names ---- */
/* The index of a name in the sorted list, or its position if it is new. */
static uint32_t
place_of(const struct value_naming *x, const char *name, bool *there)
{
    MRS_ASSERT(name && x->n <= x->cap);
    uint32_t lo = 0, hi = x->n;
    *there = false;
    while (lo < hi && !*there) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = strcmp(name, x->named[mid].name);
        *there = c == 0;
        lo = c > 0 ? mid + 1 : c == 0 ? mid : lo;
        hi = c < 0 ? mid : hi;
    }
    return lo;
}

static enum mrs_status
add_name(struct value_naming *x, uint32_t at, const char *name, struct mrs_val value)
{
    MRS_ASSERT(at <= x->n && x->n <= x->cap);
    struct mrs_arena *a = &x->f->scratch;
    if (x->n == x->most) {
        x->full = true;
        return MRS_END;
    }
    struct value_named *more = mrs_arena_more(a, x->named, x->n, &x->cap, sizeof *more);
    const char *copy = more ? mrs_arena_copy(a, name, strlen(name) + 1) : NULL;
    struct mrs_val own;
    if (!copy || !mrs_val_copy(a, value, &own)) {
        return MRS_DEAD;
    }
    x->named = more;
    memmove(more + at + 1, more + at, (x->n - at) * sizeof *more);
    more[at] = (struct value_named){copy, own};
    x->n++;
    return MRS_OK;
}

/* Adds a name, unless no server accepts it, or it is that of the source. */
static bool
is_good(struct value_naming *x, const char *text)
{
    const char *db = mrsi_fit_filled(&x->arena, &x->f->p->dead, x->into.db, x->into.db_star, text);
    const char *coll = mrsi_fit_filled(&x->arena, &x->f->p->dead, x->into.coll, x->into.coll_star, text);
    size_t n = strlen(db);
    return !mrs_catalog_check_name(db, coll) &&
           !(strncmp(x->from, db, n) == 0 && x->from[n] == '.' && strcmp(x->from + n + 1, coll) == 0);
}

/* The document as the step will read it; END: an earlier step removes it. */
static enum mrs_status
lead(struct value_naming *x, struct mrs_view *doc)
{
    MRS_ASSERT(mrs_view_is_framed(*doc));
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < x->n_before && s == MRS_OK; i++) {
        const struct mrs_step *st = x->before[i].step;
        struct mrs_product out;
        enum mrs_fate fate;
        s = st->type->spread->begin(st->state, &x->c, x->before[i].work, 0, *doc, &fate);
        s = s == MRS_OK ? st->type->spread->next(st->state, &x->c, x->before[i].work, &out) : s;
        *doc = s == MRS_OK ? out.doc : *doc;
    }
    return s;
}

static enum mrs_status
take(void *arg, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct value_naming *x = arg;
    struct mrs_val value = mrs_missing(), name = mrs_missing();
    const struct mrs_step *st = x->own.step;
    uint32_t n;
    bool there;
    mrs_arena_reset(&x->arena);
    mrs_err_clear(&x->err);
    enum mrs_status s = lead(x, &doc);
    MRS_THEN(s, st->type->spread->names(st->state, &x->c, doc, &value, &name));
    if (s != MRS_OK || name.type != MRS_STRING || name.n == 5 || memchr(name.p + 4, 0, name.n - 5)) {
        return s == MRS_DEAD ? s : MRS_OK;
    }
    const char *text = mrs_val_text(name, &n);
    uint32_t at = place_of(x, text, &there);
    return there || !is_good(x, text) ? MRS_OK : add_name(x, at, text, value);
}

/* ---- the read ---- */
static void
read_values(struct value_naming *x)
{
    struct mrsi_fitting *f = x->f;
    struct mrs_err e;
    bool ready = make_work(x, &x->own);
    for (uint32_t i = 0; i < x->n_before && ready; i++) {
        ready = make_work(x, &x->before[i]);
    }
    mrs_err_clear(&e);
    enum mrs_status s = ready ? f->docs->documents(f->docs->arg, x->from, take, x, &e) : MRS_DEAD;
    free_work(x, &x->own);
    for (uint32_t i = 0; i < x->n_before; i++) {
        free_work(x, &x->before[i]);
    }
    if (x->full) {
        char what[120];
        snprintf(what, sizeof what, "would make more than %llu collections: set `most` to allow more",
                 (unsigned long long)x->most);
        mrsi_stars_wrong(f->p, f->at, f->step->type->name, "into", what);
    } else if (s == MRS_FAIL) {
        f->failed = e;
    }
    f->p->dead = f->p->dead || (s == MRS_DEAD && !x->full);
}

static void
put_value(struct mrs_build *b, struct mrs_val value, const char *db, const char *coll)
{
    mrs_build_item_open(b, MRS_DOCUMENT);
    mrs_build_val(b, "value", 5, value);
    mrsi_fit_put_coll(b, "into", db, coll);
    mrs_build_close(b);
}

/* Literal keys next to the star, as values. */
static void
put_keys(struct mrsi_fitting *f, struct mrs_build *b, struct mrs_val into)
{
    MRS_ASSERT(mrs_val_is_sized(into));
    struct mrs_walk w;
    struct mrs_elem e;
    for (mrs_walk_init(&w, mrs_val_view(into)); mrs_walk_next(&w, &e) == 1;) {
        struct mrs_val key = mrs_make_text(&f->scratch, e.name, e.name_len);
        f->p->dead = f->p->dead || key.type == MRS_MISSING;
        if (strcmp(e.name, "*") != 0) {
            mrs_build_item_open(b, MRS_DOCUMENT);
            mrs_build_val(b, "value", 5, key);
            mrs_build_val(b, "into", 4, e.v);
            mrs_build_close(b);
        }
    }
}

void
mrsi_fit_values(struct mrsi_fitting *f, struct mrs_build *b)
{
    MRS_ASSERT(f->step);
    struct mrs_val into = mrs_doc_get(f->step->body, "into"), most = mrs_doc_get(f->step->body, "most");
    struct value_naming x = {.f = f, .from = f->step->desc.sides[0].coll.ns, .own = {f->step, NULL}, .most = 1000};
    const char *why;
    int64_t n;
    x.most = mrs_val_integral(most, &n) ? (uint64_t)n : x.most;
    mrsi_star_name(&f->p->pub, mrs_doc_get(mrs_val_view(into), "*"), &x.into);
    mrs_arena_init(&x.arena, f->p->pub.mem);
    x.arena.most = MRS_EVAL_BYTES_MAX;
    x.c = (struct mrs_ctx){.mem = f->p->pub.mem, .arena = &x.arena, .err = &x.err};
    put_keys(f, b, into);
    if (!f->docs) {
        mrsi_stars_wrong(f->p, f->at, f->step->type->name, "into", "names collections by values of documents, "
                         "which only a run on a dump looks at first: on a server name each value");
    } else if (f->step->desc.n_conditions) {
        mrsi_stars_wrong(f->p, f->at, f->step->type->name, "where", "queries another collection, which is not possible "
                                                                    "before the names of `into` are known: in a plan "
                                                                    "before this one `set` a mark in those documents, "
                                                                    "and select by the mark here");
    } else if (collect(&x, &why)) {
        read_values(&x);
    } else if (why) {
        char what[200];
        snprintf(what, sizeof what, "names collections by values of documents that a step before makes (`%.40s`): make "
                                    "two plans of this one, the second begins here", why);
        mrsi_stars_wrong(f->p, f->at, f->step->type->name, "into", what);
    }
    for (uint32_t i = 0; i < x.n; i++) {
        const char *name = x.named[i].name;
        const char *db = mrsi_fit_filled(&f->scratch, &f->p->dead, x.into.db, x.into.db_star, name);
        put_value(b, x.named[i].value, db,
                  mrsi_fit_filled(&f->scratch, &f->p->dead, x.into.coll, x.into.coll_star, name));
    }
    mrs_arena_clear(&x.arena);
}

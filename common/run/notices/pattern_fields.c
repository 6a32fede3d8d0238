/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_fields.c - the fields that names with stars match, for a dry run: what a plan is about to remove or rename.
 *
 * Each worker has its own lists. A list keeps the first paths in the order of their bytes, so the report does not
 * depend on threads. */
#include "pattern_fields.h"
#include <stdio.h>
#include <stdlib.h>

enum { PATHS = 20, PATH_BYTES = 100 };

struct pattern_paths {
    uint32_t n;
    bool more;
    char path[PATHS + 1][PATH_BYTES];
};
struct pattern_fields { /* of a worker */
    struct mrs_reached reached;
    const struct mrsi_engine *en;
    uint32_t step;
    bool dead;
    struct pattern_paths **of; /* of[step][pattern], made when the step matches a field */
};

static void
insert(struct pattern_paths *l, const char *path)
{
    uint32_t at = 0;
    int c = 1;
    while (at < l->n && (c = strcmp(path, l->path[at])) > 0) {
        at++;
    }
    if (at < l->n && c == 0) {
        return;
    }
    memmove(l->path[at + 1], l->path[at], (l->n - at) * sizeof *l->path);
    snprintf(l->path[at], PATH_BYTES, "%s", path);
    if (++l->n > PATHS) {
        l->n = PATHS;
        l->more = true;
    }
}

static void
add_field(struct mrs_reached *to, uint32_t pattern, const char *path, size_t n)
{
    struct pattern_fields *f = (struct pattern_fields *)to;
    const struct mrs_desc *d = &f->en->plan->steps[f->step].desc;
    MRS_ASSERT(pattern < d->n_patterns);
    struct pattern_paths **of = &f->of[f->step];
    char text[PATH_BYTES];
    *of = *of ? *of : mrs_zalloc(f->en->mem, d->n_patterns * sizeof **of);
    f->dead = f->dead || !*of;
    if (*of) {
        snprintf(text, sizeof text, "%.*s", n < sizeof text ? (int)n : (int)sizeof text - 1, path);
        insert(&(*of)[pattern], text);
    }
}

enum mrs_status
mrsi_pattern_fields_new(struct mrsi_engine *en, struct mrs_err *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        n += en->plan->steps[i].desc.n_patterns;
    }
    for (uint32_t i = 0; n && en->opts->dry_run && !en->opts->sample && i < en->jobs; i++) {
        struct pattern_fields *f = mrs_zalloc(en->mem, sizeof *f);
        MRS_TRY(mrs_allocated(f, sizeof *f, e));
        *f = (struct pattern_fields){.reached.field = add_field, .en = en};
        en->worker[i].ctx.reached = &f->reached;
        f->of = mrs_zalloc(en->mem, en->plan->n_steps * sizeof(struct pattern_paths *));
        MRS_TRY(mrs_allocated(f->of, en->plan->n_steps, e));
    }
    return MRS_OK;
}

void
mrsi_pattern_fields_at(struct mrsi_worker *w, uint32_t step)
{
    MRS_ASSERT(step < w->en->plan->n_steps);
    if (w->ctx.reached) {
        ((struct pattern_fields *)w->ctx.reached)->step = step;
    }
}

void
mrsi_pattern_fields_free(struct mrsi_worker *w)
{
    struct pattern_fields *f = (struct pattern_fields *)w->ctx.reached;
    for (uint32_t i = 0; f && f->of && i < w->en->plan->n_steps; i++) {
        mrs_free(w->en->mem, f->of[i]);
    }
    mrs_free(w->en->mem, f ? f->of : NULL);
    mrs_free(w->en->mem, f);
}

/* The lists of all workers as one, in the report. */
static bool
report_one(struct mrsi_engine *en, uint32_t step, uint32_t pattern, struct mrs_pattern_fields *out)
{
    struct pattern_paths all = {.n = 0};
    for (uint32_t i = 0; i < en->jobs; i++) {
        const struct pattern_fields *f = (const struct pattern_fields *)en->worker[i].ctx.reached;
        const struct pattern_paths *one = f && f->of[step] ? &f->of[step][pattern] : NULL;
        for (uint32_t k = 0; one && k < one->n; k++) {
            insert(&all, one->path[k]);
        }
        all.more = all.more || (one && one->more);
        if (f && f->dead) {
            return false;
        }
    }
    const struct mrs_step *st = &en->plan->steps[step];
    struct mrs_arena *a = &en->report->arena;
    *out = (struct mrs_pattern_fields){.step = st->no, .ns = st->desc.sides[0].coll.ns,
                                       .pattern = st->desc.patterns[pattern], .n = all.n, .more = all.more};
    out->ns = mrs_arena_copy(a, out->ns, strlen(out->ns) + 1);
    out->pattern = mrs_arena_copy(a, out->pattern, strlen(out->pattern) + 1);
    out->path = mrs_arena_alloc(a, (all.n + 1) * sizeof *out->path);
    bool ok = out->ns && out->pattern && out->path;
    for (uint32_t k = 0; ok && k < all.n; k++) {
        out->path[k] = mrs_arena_copy(a, all.path[k], strlen(all.path[k]) + 1);
        ok = out->path[k] != NULL;
    }
    return ok;
}

enum mrs_status
mrsi_pattern_fields_report(struct mrsi_engine *en, struct mrs_err *e)
{
    struct mrs_report *rep = en->report;
    uint32_t n = 0;
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        n += en->plan->steps[i].desc.n_patterns;
    }
    if (!n || !en->worker[0].ctx.reached) {
        return MRS_OK;
    }
    rep->patterns = mrs_arena_alloc(&rep->arena, n * sizeof *rep->patterns);
    bool ok = rep->patterns != NULL;
    for (uint32_t i = 0; i < en->plan->n_steps; i++) {
        for (uint32_t k = 0; ok && k < en->plan->steps[i].desc.n_patterns; k++) {
            ok = report_one(en, i, k, &rep->patterns[rep->n_patterns]);
            rep->n_patterns += ok && rep->patterns[rep->n_patterns].n; /* that one fits none has a note */
        }
    }
    return ok ? MRS_OK : mrs_err_memory(e, n);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* preflight_data.c - checks that read documents, before a run.
 *
 * The first and the last documents by `_id` of a collection that is written show properties of most: duplicate field
 * names, names that a pipeline cannot reach on an old server, sizes that leave no space for a guard. They are the same
 * in a dry run and in the run, and no server reads a whole collection for them, as some do for $sample. They cannot
 * show whether a field that the plan adds exists already: a single document with it would be overwritten, so the server
 * searches all of them. */
#include "preflight.h"

#include "mongoreshape/ejson.h"

#include <stdio.h>

enum { SAMPLE = 100, LARGE = 8 << 20, GUARDABLE = 15 << 20 };

struct preflight_data_seen {
    uint32_t twice, odd, large, guardless;
    char odd_name[64];
};

static void
inspect_doc(const struct live_check *c, struct mrs_view doc, struct preflight_data_seen *seen)
{
    struct mrs_walk w;
    struct mrs_elem el;
    seen->twice += mrs_doc_has_duplicates(c->job->mem, doc, false);
    seen->large += doc.n > LARGE;
    seen->guardless += doc.n > GUARDABLE;
    for (mrs_walk_init(&w, doc); c->job->server->major < 5 && mrs_walk_next(&w, &el) > 0;) {
        if (el.name[0] == '$' || memchr(el.name, '.', el.name_len)) {
            seen->odd++;
            snprintf(seen->odd_name, sizeof seen->odd_name, "%s", el.name);
        }
    }
}

/* Up to n documents from one end of the collection: order 1 or -1. */
static enum mrs_status
sample(struct live_check *c, const struct mrs_coll *coll, int64_t order, uint64_t n, struct preflight_data_seen *seen,
       struct mrs_err *e)
{
    struct mrs_view opts, doc;
    struct live_cursor *cur = NULL;
    enum mrs_status s = live_doc_in(&c->tmp, &opts, e, "{sort:{_id:%i},limit:%i}", order,
                                    (int64_t)(n < SAMPLE ? n : SAMPLE));
    MRS_THEN(s, live_find(c->job->link, coll, mrs_empty_doc(), opts, 0, &cur, e));
    while (s == MRS_OK && (s = live_cursor_next(cur, &doc, NULL, e)) == MRS_OK) {
        inspect_doc(c, doc, seen);
    }
    live_cursor_close(cur);
    return s == MRS_END ? MRS_OK : s;
}

static enum mrs_status
check_sample(struct live_check *c, const struct live_place *p, struct mrs_err *e)
{
    MRS_ASSERT(p->info);
    struct preflight_data_seen seen = {.twice = 0};
    if (!(p->roles & (MRS_ROLE_CHANGE | MRS_ROLE_TAKE))) {
        return MRS_OK;
    }
    enum mrs_status s = sample(c, &p->coll, 1, SAMPLE, &seen, e);
    s = s == MRS_OK && p->info->count > SAMPLE ? sample(c, &p->coll, -1, p->info->count - SAMPLE, &seen, e) : s;
    if (s == MRS_OK && seen.twice) {
        s = live_check_note(c, true, e,
                            "%u of the first and last documents of %s hold a field name twice: a server that changes "
                            "one keeps only one of the two fields; correct them first",
                            seen.twice, p->coll.ns);
    }
    if (s == MRS_OK && seen.odd) {
        s = live_check_note(c, true, e,
                            "documents of %s have a field called \"%s\": before MongoDB 5.0 a guard cannot name it; "
                            "rename such fields, or move the data offline with a dump",
                            p->coll.ns, seen.odd_name);
    }
    if (s == MRS_OK && !c->quiet && c->job->server->standalone && seen.large) {
        s = live_check_note(c, true, e,
                            "%s holds documents of more than 8 MiB: without transactions they cannot be changed "
                            "alongside writers; use --quiet-by, or a replica set",
                            p->coll.ns);
    } else if (s == MRS_OK && seen.guardless) {
        s = live_check_note(c, false, e, "%s holds documents close to 16 MiB: one that would grow beyond it is "
                            "refused", p->coll.ns);
    }
    return s;
}

/* ---- fields that must not exist ---- */
static enum mrs_status
absent_filter(struct mrs_arena *a, const struct mrs_live_group *g, struct mrs_view *filter, struct mrs_err *e)
{
    MRS_ASSERT(g->n_claims > 0);
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view one, list;
    enum mrs_status s = MRS_OK;
    mrs_buf_init(&buf, a->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    for (uint32_t i = 0; i < g->n_claims && s == MRS_OK; i++) {
        const char *name = g->claims[i];
        s = name[0] == '$'
                ? live_doc_in(a, &one, e,
                              "{$expr:{$ne:[{$type:{$getField:{field:{$literal:%s}, input:'$$ROOT'}}},'missing']}}",
                              name)
                : live_doc_in(a, &one, e, "{%s:{$exists:true}}", name);
        if (s == MRS_OK) {
            mrs_build_item(&b, mrs_view_val(one));
        }
    }
    MRS_THEN(s, mrs_build_finish(&b, &list, e));
    MRS_THEN(s, live_doc_in(a, filter, e, "{$or:%a}", list));
    mrs_buf_clear(&buf);
    return s;
}

enum mrs_status
live_find_claimed(struct live_job *job, const struct mrs_live_group *g, struct mrs_arena *a, struct live_existing *out,
                  struct mrs_err *e)
{
    MRS_ASSERT(g->n_claims > 0 && g->claims_side >= 0);
    struct mrs_view filter, no_limit;
    struct mrs_buf doc;
    bool there = false;
    out->coll = &job->plan->steps[g->first].desc.sides[g->claims_side].coll;
    mrs_buf_init(&doc, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = absent_filter(a, g, &filter, e);
    MRS_THEN(s, live_doc_in(a, &no_limit, e, "{maxTimeMS:0}"));
    MRS_THEN(s, live_find_one(job->link, out->coll, filter, no_limit, &doc, NULL, e));
    if (s == MRS_OK) {
        struct mrs_view found = {doc.p, (uint32_t)doc.n};
        mrs_val_picture(live_at(found, "_id"), out->id, sizeof out->id);
        for (uint32_t i = 0; i < g->n_claims && s == MRS_OK && !there; i++) {
            out->field = g->claims[i];
            s = live_any_at(a, found, out->field, &there, e);
        }
    }
    mrs_buf_clear(&doc);
    return s;
}

static enum mrs_status
check_absent(struct live_check *c, const struct mrs_live_group *g, struct mrs_err *e)
{
    struct live_existing found;
    enum mrs_status s = live_find_claimed(c->job, g, &c->tmp, &found, e);
    if (s == MRS_OK) {
        return live_check_note(c, true, e,
                               "documents of %s have a field %s already (that with _id %s, for one), and the plan "
                               "adds a field of this name; rename one of the two, or give the step `replace: true` and "
                               "keep writers out (--quiet-by): then it is overwritten",
                               found.coll->ns, found.field, found.id);
    }
    return s == MRS_END ? MRS_OK : s;
}

/* ---- documents that get new fields must not be empty ---- */
/* A document with an empty document at the path; MRS_END: none. */
static enum mrs_status
find_hollow(struct live_check *c, const struct mrs_coll *coll, const char *path, struct mrs_buf *out,
            struct mrs_err *e)
{
    struct mrs_view filter, no_limit;
    enum mrs_status s = live_doc_in(&c->tmp, &filter, e, "{%s:{$eq:%d}}", path, mrs_empty_doc());
    MRS_THEN(s, live_doc_in(&c->tmp, &no_limit, e, "{maxTimeMS:0}"));
    return s == MRS_OK ? live_find_one(c->job->link, coll, filter, no_limit, out, NULL, e) : s;
}

/* A rollback cannot distinguish an earlier empty value from one that the run made: it would remove both. */
static enum mrs_status
check_hollow(struct live_check *c, const struct mrs_coll *coll, const char *claim, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    for (const char *dot = strchr(claim, '.'); dot && s == MRS_OK; dot = strchr(dot + 1, '.')) {
        char id[120];
        struct mrs_buf out;
        char *path = mrs_arena_copy(&c->tmp, claim, (size_t)(dot - claim) + 1);
        MRS_TRY(mrs_allocated(path, strlen(claim), e));
        path[dot - claim] = 0;
        mrs_buf_init(&out, c->job->mem, MRS_DOC_READ_MAX);
        s = find_hollow(c, coll, path, &out, e);
        if (s == MRS_OK) {
            mrs_val_picture(live_at((struct mrs_view){out.p, (uint32_t)out.n}, "_id"), id, sizeof id);
            s = live_check_note(c, true, e,
                                "documents of %s have a field %s that is an empty document (that with _id %s, for "
                                "one), and the plan adds %s: a rollback could not tell it from one that the run made; "
                                "remove these fields first, or use --quiet-by",
                                coll->ns, path, id, claim);
        }
        s = s == MRS_END ? MRS_OK : s;
        mrs_buf_clear(&out);
    }
    return s;
}

static enum mrs_status
check_claims(struct live_check *c, const struct mrs_live_group *g, struct mrs_err *e)
{
    MRS_ASSERT(g->claims_side >= 0 && g->first < c->job->plan->n_steps);
    const struct mrs_coll *coll = &c->job->plan->steps[g->first].desc.sides[g->claims_side].coll;
    if (!live_server_coll(c->job->server, coll)) {
        return MRS_OK;
    }
    enum mrs_status s = check_absent(c, g, e);
    for (uint32_t i = 0; i < g->n_claims && s == MRS_OK; i++) {
        s = check_hollow(c, coll, g->claims[i], e);
    }
    return s;
}

enum mrs_status
live_check_data(struct live_check *c, struct mrs_err *e)
{
    MRS_ASSERT(c->out && c->job->server);
    enum mrs_status s = MRS_OK;
    const struct mrs_live *live = c->job->live;
    for (uint32_t i = 0; i < c->n_places && s == MRS_OK; i++) {
        const struct live_place *p = &c->place[i];
        if (p->info && !p->info->view && !p->info->timeseries) {
            s = check_sample(c, p, e);
        }
    }
    bool expand = !c->quiet && c->job->opts.mode == LIVE_EXPAND && live && live->expand;
    for (uint32_t i = 0; expand && i < live->n_groups && s == MRS_OK; i++) {
        if (live->group[i].n_claims && live->group[i].claims_side >= 0) {
            s = check_claims(c, &live->group[i], e);
        }
    }
    return s;
}

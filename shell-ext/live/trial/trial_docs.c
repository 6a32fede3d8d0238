/* SPDX-License-Identifier: Apache-2.0 */
/* trial_docs.c - reads the documents on which a plan is tried: all of a small collection, a sample of a large one.
 *
 * If a step joins two collections, the side with the references is sampled, and of the other side the referenced
 * documents are read: else most references in a sample would seem dangling. That takes one query by an index; if it is
 * not possible, the join's findings on matches do not count. */
#include "trial.h"

#include "live/derive/value_filter.h"
#include "live/link/bson.h"
#include "live/pass/block.h"

#include <unistd.h>

enum { DOCS = 1000, BYTES = 64 << 20, BYTES_MIN = 1 << 20, EXAMPLES = 50 };

/* ---- one collection ---- */
static struct live_trial_coll *
coll_of(const struct live_trial *t, const struct mrs_coll *coll)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (strcmp(t->coll[i].info->coll.ns, coll->ns) == 0) {
            return &t->coll[i];
        }
    }
    return NULL;
}

struct live_trial_taking {
    struct live_trial_coll *to;
    uint64_t docs, bytes; /* maximum */
    bool cut;
};

static enum mrs_status
take(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e)
{
    struct live_trial_taking *x = arg;
    MRS_ASSERT(mrs_view_is_framed(doc));
    (void)worker;
    (void)ordinal;
    if (x->to->n >= x->docs || x->to->docs.n + doc.n > x->bytes) {
        x->cut = true;
        return MRS_END;
    }
    mrs_buf_put(&x->to->docs, doc.p, doc.n);
    x->to->n++;
    return mrs_buf_status(&x->to->docs, e);
}

/* Reads the requested number, drawn by the server if it has more. */
static enum mrs_status
load(struct live_trial *t, struct live_trial_coll *c, uint64_t docs, struct mrs_err *e)
{
    MRS_ASSERT(!c->loaded && docs > 0);
    struct live_survey v = {.job = t->job,
                            .opts = {.sample = docs, .tmp = t->job->opts.tmp},
                            .file = -1,
                            .phase = "trying the plan",
                            .total = c->info->count < docs ? c->info->count : docs};
    struct live_survey_coll of = {.info = c->info, .count = c->info->count};
    struct live_trial_taking x = {.to = c, .docs = docs, .bytes = t->bytes};
    struct mrs_inspect_sink sink = {.doc = take, .arg = &x};
    enum mrs_status s = live_survey_choose(&v, &of, e);
    MRS_THEN(s, live_survey_scan(&v, &of, &sink, e));
    c->loaded = true;
    c->whole = !of.sampled && !x.cut;
    if (v.file >= 0) {
        close(v.file);
    }
    return s;
}

/* ---- referenced documents ---- */
static enum mrs_status
add_value(struct live_trial *t, struct mrs_val v, struct mrs_val **list, uint32_t *n, uint32_t *cap, struct mrs_err *e)
{
    if (mrs_is_nullish(v)) {
        return MRS_OK;
    }
    struct mrs_val *more = mrs_arena_more(&t->arena, *list, *n, cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    *list = more;
    more[(*n)++] = v;
    return MRS_OK;
}

/* The values at a path, including elements of arrays, without duplicates. */
static enum mrs_status
values_at(struct live_trial *t, const struct live_trial_coll *c, const char *path, struct mrs_val **list, uint32_t *n,
          struct mrs_err *e)
{
    uint32_t cap = 0, all = 0;
    enum mrs_status s = MRS_OK;
    *list = NULL;
    for (size_t at = 0; s == MRS_OK && at < c->docs.n;) {
        struct mrs_view doc = {c->docs.p + at, mrs_le32(c->docs.p + at)};
        struct mrs_val v = live_at(doc, path);
        struct mrs_walk w;
        struct mrs_elem el;
        s = v.type == MRS_ARRAY ? MRS_OK : add_value(t, v, list, &all, &cap, e);
        for (mrs_walk_init(&w, live_doc_of(v)); s == MRS_OK && v.type == MRS_ARRAY && mrs_walk_next(&w, &el) == 1;) {
            s = add_value(t, el.v, list, &all, &cap, e);
        }
        at += doc.n;
    }
    *n = (uint32_t)live_vals_distinct(*list, all);
    return s;
}

static bool
is_among(const struct live_trial_coll *c, uint64_t bytes, struct mrs_val id)
{
    for (size_t at = 0; at < bytes; at += mrs_le32(c->docs.p + at)) {
        struct mrs_view doc = {c->docs.p + at, mrs_le32(c->docs.p + at)};
        if (mrs_compare(mrs_doc_get(doc, "_id"), id) == 0) {
            return true;
        }
    }
    return false;
}

/* Reads the documents with one of the values. *all: none was left out. */
static enum mrs_status
read_matching(struct live_trial *t, struct live_trial_coll *c, struct mrs_view filter, bool *all, struct mrs_err *e)
{
    struct live_trial_taking x = {.to = c, .docs = UINT64_MAX, .bytes = t->bytes};
    struct mrs_view none = {NULL, 0}, doc;
    struct live_cursor *cursor = NULL;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    size_t examples = c->docs.n;
    enum mrs_status s = live_find(t->job->link, &c->info->coll, filter, none, 0, &cursor, e);
    while (s == MRS_OK && (s = live_cursor_next(cursor, &doc, &f, e)) == MRS_OK) {
        s = is_among(c, examples, mrs_doc_get(doc, "_id")) ? MRS_OK : take(&x, 0, doc, 0, e);
    }
    live_cursor_close(cursor);
    *all = !x.cut;
    return s == MRS_END ? MRS_OK : s;
}

/* Reads a few documents of any kind, as examples of their types, and those that documents of `by` refer to. *all: all
 * of these. */
static enum mrs_status
load_named(struct live_trial *t, struct live_trial_coll *c, const char *path, const struct live_trial_coll *by,
           const char *reference, bool *all, struct mrs_err *e)
{
    MRS_ASSERT(by->loaded && !c->loaded && c != by);
    struct mrs_val *value;
    struct mrs_view filter;
    struct live_value_filter values;
    struct mrs_buf buf;
    uint32_t n = 0;
    *all = false;
    enum mrs_status s = values_at(t, by, reference, &value, &n, e);
    MRS_THEN(s, load(t, c, n <= LIVE_IN_MAX && live_server_indexed(c->info, path) ? EXAMPLES : DOCS, e));
    if (s != MRS_OK || c->whole || n > LIVE_IN_MAX || !live_server_indexed(c->info, path)) {
        *all = c->whole;
        return s;
    }
    mrs_buf_init(&buf, t->job->mem, MRS_DOC_MAX);
    live_value_filter_init(&values, t->job->mem, path);
    for (uint32_t i = 0; i < n; i++) {
        live_value_filter_add(&values, value[i]);
    }
    s = live_value_filter_finish(&values, &buf, &filter, e);
    MRS_THEN(s, read_matching(t, c, filter, all, e));
    live_value_filter_clear(&values);
    mrs_buf_clear(&buf);
    return s;
}

/* ---- the plan ---- */
/* Does an earlier step write the collection? Then the join's input is not the data read. */
static bool
written_before(const struct live_trial *t, uint32_t step, const struct mrs_coll *coll)
{
    for (uint32_t i = 0; i < step; i++) {
        const struct mrs_desc *d = &t->job->plan->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            if ((d->sides[k].role & (MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_ADD)) &&
                strcmp(d->sides[k].coll.ns, coll->ns) == 0) {
                return true;
            }
        }
    }
    return false;
}

static enum mrs_status
load_join(struct live_trial *t, uint32_t step, struct mrs_err *e)
{
    const struct mrs_desc *d = &t->job->plan->steps[step].desc;
    MRS_ASSERT(d->family == MRS_FAMILY_JOIN && d->n_sides >= 2);
    int by = d->by_reference ? 1 : 0, to = 1 - by;
    const struct mrs_coll *named = &d->sides[to].coll, *naming = &d->sides[by].coll;
    struct live_trial_coll *a = coll_of(t, naming), *b = coll_of(t, named);
    const struct mrs_pair_path *pair = d->pairs;
    const char *reference = !pair ? NULL : by ? pair->into : pair->from;
    const char *path = !pair ? NULL : by ? pair->from : pair->into;
    bool all = false, changed = written_before(t, step, named);
    enum mrs_status s = a && !a->loaded ? load(t, a, DOCS, e) : MRS_OK;
    if (s == MRS_OK && b && !b->loaded) {
        bool by_value = a && a != b && reference && path && b->info->count > DOCS && !changed &&
                        !written_before(t, step, naming);
        s = by_value ? load_named(t, b, path, a, reference, &all, e) : load(t, b, DOCS, e);
    }
    t->closed[step] = !changed && b && (all || b->whole);
    return s;
}

/* Steps in which one document affects others that may not have been read. */
static bool
needs_all(const struct mrs_step *s)
{
    enum mrs_family f = s->desc.family;
    return f == MRS_FAMILY_LINK || f == MRS_FAMILY_TREE || f == MRS_FAMILY_REKEY || s->desc.n_conditions;
}

static enum mrs_status
load_all(struct live_trial *t, struct mrs_err *e)
{
    const struct mrs_plan *p = t->job->plan;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < p->n_steps; i++) {
        s = p->steps[i].desc.family == MRS_FAMILY_JOIN ? load_join(t, i, e) : MRS_OK;
    }
    t->whole = true;
    for (uint32_t i = 0; s == MRS_OK && i < t->n; i++) {
        s = t->coll[i].loaded ? MRS_OK : load(t, &t->coll[i], DOCS, e);
        t->whole = t->whole && t->coll[i].whole;
    }
    for (uint32_t i = 0; s == MRS_OK && !t->whole && i < p->n_steps; i++) {
        if (needs_all(&p->steps[i])) {
            s = mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "step %u (%s) needs all documents; try it with `mongoreshape "
                                                      "check PLAN -i DUMP` on a "
                                                      "dump", p->steps[i].no, p->steps[i].type->name);
        }
    }
    return s;
}

static enum mrs_status
find_colls(struct live_trial *t, struct mrs_err *e)
{
    const struct mrs_coll **all;
    uint32_t n = 0;
    enum mrs_status s = live_plan_colls(t->job, &t->arena, &all, &n, e);
    t->coll = s == MRS_OK ? mrs_arena_alloc(&t->arena, (n + 1) * sizeof *t->coll) : NULL;
    t->closed = s == MRS_OK ? mrs_arena_alloc(&t->arena, (t->job->plan->n_steps + 1) * sizeof *t->closed) : NULL;
    if (s != MRS_OK || !t->coll || !t->closed) {
        return s != MRS_OK ? s : mrs_err_memory(e, n * sizeof *t->coll);
    }
    memset(t->closed, 0, t->job->plan->n_steps * sizeof *t->closed);
    for (uint32_t i = 0; i < n; i++) {
        const struct live_coll_info *info = live_server_coll(t->job->server, all[i]);
        if (info && !info->view && !info->timeseries) {
            t->coll[t->n] = (struct live_trial_coll){.info = info};
            mrs_buf_init(&t->coll[t->n++].docs, t->job->mem, (size_t)BYTES + MRS_DOC_READ_MAX);
        }
    }
    t->bytes = t->n ? BYTES / t->n : BYTES;
    t->bytes = t->bytes < BYTES_MIN ? BYTES_MIN : t->bytes;
    return MRS_OK;
}

enum mrs_status
live_trial_read(struct live_job *job, struct live_trial *out, struct mrs_err *e)
{
    *out = (struct live_trial){.job = job};
    mrs_arena_init(&out->arena, job->mem);
    enum mrs_status s = find_colls(out, e);
    return s == MRS_OK ? load_all(out, e) : s;
}

void
live_trial_clear(struct live_trial *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        mrs_buf_clear(&t->coll[i].docs);
    }
    mrs_arena_clear(&t->arena);
}

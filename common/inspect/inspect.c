/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.c - analyzes documents: figures, references, rules. */
#include "inspect/advise/advise.h"
#include "inspect/figures/model.h"
#include "inspect/relate/relate.h"
#include "mongoreshape/measurements.h"

struct reading {
    struct mrsi_figures *figures; /* of each worker */
};

static enum mrs_status
count_doc(void *arg, uint32_t worker, struct mrs_view doc, uint64_t ordinal, struct mrs_err *e)
{
    struct reading *r = arg;
    return mrsi_figures_add(&r->figures[worker], doc, ordinal, e);
}

static void
phase(const struct mrs_inspect_source *source, const char *what)
{
    if (source->phase) {
        source->phase(source->arg, what);
    }
}

static bool
is_damage(const struct mrs_err *e)
{
    return e->code == MRS_E_BSON || e->code == MRS_E_FORMAT || e->code == MRS_E_LIMIT;
}

/* Damage is an error, or ends its collection and is reported. */
static enum mrs_status
judge_damage(struct mrsi_inspection *x, const struct mrs_inspect_opts *opts, struct mrsi_collection *c,
             enum mrs_status s, struct mrs_err *own, struct mrs_err *e)
{
    char text[700];
    if (s == MRS_OK) {
        return s;
    }
    if (opts->keep_going && is_damage(own)) {
        c->cut = true;
        return mrsi_model_leave(x, e, "%s ends before its end: %s", c->ns, mrs_err_text(own, text, sizeof text));
    }
    if (e) {
        *e = *own;
    }
    return s;
}

static enum mrs_status
read_collection(struct mrsi_inspection *x, const struct mrs_inspect_source *source, const struct mrs_inspect_opts *opts,
                struct mrsi_collection *c, struct mrs_err *e)
{
    struct reading r = {mrs_zalloc(x->mem, source->workers * sizeof *r.figures)};
    struct mrs_err own;
    enum mrs_status s = mrs_allocated(r.figures, sizeof *r.figures, e);
    double share = 1;
    uint32_t begun = 0;
    mrs_err_clear(&own);
    for (uint32_t i = 0; s == MRS_OK && i < source->workers; i++, begun++) {
        s = mrsi_figures_begin(&r.figures[i], x->mem, e);
    }
    if (s == MRS_OK) {
        struct mrs_inspect_sink to = {.doc = count_doc, .arg = &r};
        s = c->has_data ? source->scan(source->arg, c->no, &to, &share, &own) : MRS_OK;
        s = judge_damage(x, opts, c, s, &own, e);
    }
    for (uint32_t i = 1; s == MRS_OK && i < source->workers; i++) {
        s = mrsi_figures_merge(&r.figures[0], &r.figures[i], e);
        mrsi_figures_end(&r.figures[i]);
    }
    MRS_THEN(s, mrsi_figures_settle(&r.figures[0], e));
    MRS_THEN(s, mrsi_model_take(x, c, &r.figures[0], e));
    c->share = share > 0 && share < 1 ? share : 1;
    c->growth = c->growth > 0 ? c->growth / c->share : c->growth;
    x->share = c->share < x->share ? c->share : x->share;
    x->sampled |= mrsi_is_sampled(c);
    for (uint32_t i = 0; i < begun; i++) {
        if (r.figures[i].mem) {
            mrsi_figures_end(&r.figures[i]);
        }
    }
    mrs_free(x->mem, r.figures);
    return s;
}

/* ---- metadata ---- */
static bool
is_set(struct mrs_view spec, const char *name)
{
    struct mrs_val v = mrs_doc_get(spec, name);
    int64_t n;
    return v.type != MRS_MISSING && !(v.type == MRS_BOOL && !*v.p) &&
           !(mrs_is_number(v) && mrs_val_integral(v, &n) && n == 0);
}

static void
index_of(struct mrs_view spec, struct mrsi_seen_index *out)
{
    MRS_ASSERT(mrs_view_is_framed(spec));
    struct mrs_val key = mrs_doc_get(spec, "key"), name = mrs_doc_get(spec, "name");
    struct mrs_walk w;
    struct mrs_elem x;
    uint32_t n;
    *out = (struct mrsi_seen_index){.name = name.type == MRS_STRING ? mrs_val_text(name, &n) : "",
                                    .spec = spec,
                                    .key = key.type == MRS_DOCUMENT ? mrs_val_view(key) : mrs_empty_doc(),
                                    .used = UINT64_MAX,
                                    .unique = is_set(spec, "unique")};
    bool text = false;
    mrs_walk_init(&w, out->key);
    while (mrs_walk_next(&w, &x) > 0) {
        text |= !mrs_is_number(x.v);
    }
    out->plain = !text && !is_set(spec, "sparse") && !is_set(spec, "partialFilterExpression") &&
                 mrs_doc_get(spec, "expireAfterSeconds").type == MRS_MISSING && !is_set(spec, "collation") &&
                 !is_set(spec, "hidden");
}

static enum mrs_status
take_uses(struct mrsi_inspection *x, struct mrsi_seen_index *i, struct mrs_val reported, struct mrs_err *e)
{
    struct mrs_view d = reported.type == MRS_DOCUMENT ? mrs_val_view(reported) : mrs_empty_doc();
    struct mrs_val members = mrs_doc_get(d, "members"), since = mrs_doc_get(d, "since");
    int64_t uses, days;
    uint32_t n;
    if (!mrs_val_integral(mrs_doc_get(d, "uses"), &uses) || !mrs_val_integral(mrs_doc_get(d, "days"), &days) ||
        members.type != MRS_STRING || since.type != MRS_DATE) {
        return MRS_OK;
    }
    const char *text = mrs_val_text(members, &n);
    i->used_on = mrs_arena_copy(&x->arena, text, n + 1);
    i->used_since = mrs_val_i64(since);
    i->used_days = days;
    i->used = i->used_on ? (uint64_t)uses : UINT64_MAX;
    return mrs_allocated(i->used_on, n, e);
}

static enum mrs_status
read_indexes(struct mrsi_inspection *x, const struct mrs_inspect_source *source, struct mrsi_collection *c,
             struct mrs_view metadata, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(metadata));
    struct mrs_val list = mrs_doc_get(metadata, "indexes");
    struct mrs_view uses = mrs_empty_doc();
    struct mrs_walk w;
    struct mrs_elem one;
    uint32_t cap = 0;
    enum mrs_status s = source->index_uses ? source->index_uses(source->arg, c->no, &uses, e) : MRS_OK;
    if (list.type != MRS_ARRAY) {
        return s;
    }
    mrs_walk_init(&w, mrs_val_view(list));
    while (s == MRS_OK && mrs_walk_next(&w, &one) > 0) {
        struct mrsi_seen_index *more = mrs_arena_more(&x->arena, c->index, c->indexes, &cap, sizeof *more);
        MRS_TRY(mrs_allocated(more, sizeof *more, e));
        c->index = more;
        if (one.v.type == MRS_DOCUMENT) {
            struct mrsi_seen_index *i = &c->index[c->indexes++];
            index_of(mrs_val_view(one.v), i);
            s = take_uses(x, i, mrs_doc_get(uses, i->name), e);
        }
    }
    return s;
}

static enum mrs_status
describe(struct mrsi_inspection *x, const struct mrs_inspect_source *source, uint32_t no, struct mrs_err *e)
{
    MRS_ASSERT(no < source->collections);
    struct mrs_inspect_collection d;
    struct mrsi_collection *c = &x->coll[no];
    MRS_TRY(source->describe(source->arg, no, &d, e));
    const char *dot = strchr(d.ns, '.');
    struct mrs_series series;
    *c = (struct mrsi_collection){.no = no,
                                  .ns = d.ns,
                                  .name = dot ? dot + 1 : d.ns,
                                  .growth = -1,
                                  .share = 1,
                                  .db_n = dot ? (uint32_t)(dot - d.ns) : 0,
                                  .has_data = d.has_data,
                                  .view = d.is_view,
                                  .buckets = mrs_series_has_buckets(d.metadata, &series)};
    return read_indexes(x, source, c, d.metadata, e);
}

/* Records the findings that need all documents, and are missing for a sample. */
static enum mrs_status
leave_samples(struct mrsi_inspection *x, struct mrs_err *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->colls; i++) {
        n += mrsi_is_sampled(&x->coll[i]);
    }
    return n ? mrsi_model_leave(x, e,
                                "of %u collection%s only a sample was read: documents per parent, depths of trees, "
                                "lists of children compared with their parents, and references by several fields need "
                                "all documents",
                                n, n == 1 ? "" : "s")
             : MRS_OK;
}

static enum mrs_status
relate(struct mrsi_inspection *x, const struct mrs_inspect_source *source, const struct mrs_inspect_opts *opts,
       struct mrs_err *e)
{
    MRS_ASSERT(x->coll || x->colls == 0);
    struct mrsi_relating r = {.x = x, .source = source, .opts = opts};
    mrsi_row_store_begin(&r.store, x->mem, opts->tmp, 12u << 20, opts->cancel);
    enum mrs_status s = mrsi_vocabulary_make(x, &r.words) ? MRS_OK : mrs_err_memory(e, sizeof r.words);
    MRS_THEN(s, mrsi_propose(&r, e));
    phase(source, "counting references");
    MRS_THEN(s, mrsi_count(&r, e));
    MRS_THEN(s, mrsi_choose(&r, e));
    for (uint32_t i = 0; i < r.columns; i++) {
        mrsi_rowset_end(&r.column[i].rows);
        mrsi_rowset_end(&r.column[i].numbers);
    }
    phase(source, "finding lists");
    MRS_THEN(s, mrsi_copies(&r, e));
    MRS_THEN(s, mrsi_two_ways(&r, e));
    MRS_THEN(s, mrsi_composites(&r, e));
    MRS_THEN(s, mrsi_trees(&r, e));
    MRS_THEN(s, mrsi_series(&r, e));
    MRS_THEN(s, mrsi_versions(&r, e));
    MRS_THEN(s, leave_samples(x, e));
    mrs_free(x->mem, r.column);
    mrs_free(x->mem, r.pair);
    mrsi_row_store_end(&r.store);
    return s;
}

/* Reads and writes recorded by a profiler. */
static enum mrs_status
measure(struct mrsi_inspection *x, const struct mrs_inspect_source *source, const struct mrs_inspect_opts *opts,
        struct mrs_err *e)
{
    struct mrs_err own;
    char text[700];
    mrs_err_clear(&own);
    phase(source, "reading the profile");
    enum mrs_status s = mrsi_workload_measure(x, source, &own);
    if (s != MRS_OK && opts->keep_going && is_damage(&own)) {
        x->profile_cut = true;
        return mrsi_model_leave(x, e, "how often collections are read and written, since system.profile is damaged: "
                                "%s", mrs_err_text(&own, text, sizeof text));
    }
    if (s != MRS_OK && e) {
        *e = own;
    }
    return s;
}

enum mrs_status
mrs_inspect(struct mrs_mem *mem, const struct mrs_inspect_source *source, const struct mrs_inspect_opts *opts,
            struct mrsi_inspection **out, struct mrs_err *e)
{
    MRS_ASSERT(source->describe && source->scan && out);
    struct mrsi_inspection *x = mrs_zalloc(mem, sizeof *x);
    *out = NULL;
    MRS_TRY(mrs_allocated(x, sizeof *x, e));
    x->mem = mem;
    x->name = opts->name;
    x->kind = opts->kind;
    x->tool = opts->tool;
    x->share = 1;
    mrs_arena_init(&x->arena, mem);
    x->colls = source->collections;
    x->coll = mrs_arena_alloc(&x->arena, (x->colls + 1) * sizeof *x->coll);
    enum mrs_status s = mrs_allocated(x->coll, x->colls * sizeof *x->coll, e);
    for (uint32_t i = 0; s == MRS_OK && i < x->colls; i++) {
        s = describe(x, source, i, e);
    }
    MRS_THEN(s, mrsi_workload_read(x, opts->workload, e)); /* before the first document, since it may be invalid */
    MRS_THEN(s, measure(x, source, opts, e));
    phase(source, "reading documents");
    for (uint32_t i = 0; s == MRS_OK && i < x->colls; i++) {
        s = read_collection(x, source, opts, &x->coll[i], e);
    }
    MRS_THEN(s, relate(x, source, opts, e));
    MRS_THEN(s, mrsi_advise(x, e));
    if (s != MRS_OK) {
        mrs_inspect_free(x);
        return s;
    }
    *out = x;
    return MRS_OK;
}

void
mrs_inspect_free(struct mrsi_inspection *x)
{
    if (x) {
        mrs_arena_clear(&x->arena);
        mrs_free(x->mem, x);
    }
}

bool
mrs_inspect_is_cut(const struct mrsi_inspection *x)
{
    for (uint32_t i = 0; i < x->colls; i++) {
        if (x->coll[i].cut) {
            return true;
        }
    }
    return x->profile_cut;
}

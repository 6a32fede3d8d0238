/* SPDX-License-Identifier: Apache-2.0 */
/* actions.c - the list of collections and indexes to create, drop or rename; made once.
 *
 * The difference of two dumps' metadata becomes a list of actions in three stages, stored in the run document, so that
 * a resume needs no dump. Removed indexes are dropped first: the result may contain data that they forbid. Unique
 * indexes of new collections are created before anything old changes, those of old ones when their documents are final.
 * A collection is built under another name and renamed over the old one if its changes could violate a unique index
 * half-way, if its `_id`s get other bytes, or if a server cannot change its options. actions_do.c executes the list. */
#include "live/link/bson.h"
#include "mongoreshape/unique.h"
#include "quiet.h"

#include <stdio.h>

/* ---- indexes ---- */
static struct mrs_view
indexes_of(struct mrs_view metadata)
{
    struct mrs_val v = mrs_doc_get(metadata, "indexes");
    return v.type == MRS_ARRAY ? mrs_val_view(v) : mrs_empty_doc();
}

static const char *
name_of(struct mrs_view spec)
{
    struct mrs_val v = mrs_doc_get(spec, "name");
    return v.type == MRS_STRING ? (const char *)v.p + 4 : "";
}

static bool
is_unique(struct mrs_view spec)
{
    return mrs_index_is(spec, "unique") && strcmp(name_of(spec), "_id_") != 0;
}

static bool
is_ttl(struct mrs_view spec)
{
    return mrs_is_number(mrs_doc_get(spec, "expireAfterSeconds"));
}

bool
live_indexes_unique(struct mrs_view metadata)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, indexes_of(metadata)); mrs_walk_next(&w, &el) == 1;) {
        if (is_unique(live_doc_of(el.v))) {
            return true;
        }
    }
    return false;
}

static bool
has_index(struct mrs_view metadata, struct mrs_view spec)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, indexes_of(metadata)); mrs_walk_next(&w, &el) == 1;) {
        struct mrs_view one = live_doc_of(el.v);
        if (one.n == spec.n && memcmp(one.p, spec.p, one.n) == 0) {
            return true;
        }
    }
    return strcmp(name_of(spec), "_id_") == 0;
}

/* ---- options ---- */
static struct mrs_view
options_of(struct mrs_view metadata)
{
    struct mrs_val v = mrs_doc_get(metadata, "options");
    return v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc();
}

static bool
can_be_changed(const char *option)
{
    static const char *const words[] = {"validator", "validationLevel", "validationAction",
                                        "changeStreamPreAndPostImages"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i], option) == 0) {
            return true;
        }
    }
    return false;
}

/* Options of a that differ from b; *fixed: collMod cannot change one of them. */
static bool
options_differ(struct mrs_view a, struct mrs_view b, bool *fixed)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool differ = false;
    for (mrs_walk_init(&w, a); mrs_walk_next(&w, &el) == 1;) {
        if (strcmp(el.name, "uuid") != 0 && !mrs_identical(el.v, mrs_doc_get(b, el.name))) {
            differ = true;
            *fixed = *fixed || !can_be_changed(el.name);
        }
    }
    return differ;
}

static bool
new_options(const struct live_tally *t, bool *fixed)
{
    struct mrs_view a = options_of(t->old_meta), b = options_of(t->now_meta);
    bool one = options_differ(a, b, fixed), other = options_differ(b, a, fixed);
    return one || other;
}

/* ---- build modes ---- */
void
live_build_modes_decide(struct live_job *job, struct live_compare *c)
{
    (void)job;
    for (uint32_t i = 0; i < live_compare_count(c); i++) {
        struct live_tally *t = live_compare_at(c, i);
        uint64_t taking = t->n[LIVE_INSERT] + t->unique_changed, freeing = t->n[LIVE_DELETE] + t->unique_changed;
        bool fixed = false;
        if (!t->now.ns) {
            t->turn = LIVE_BUILD_INPLACE;
        } else if (!t->old.ns) {
            t->turn = LIVE_BUILD_FRESH;
        } else {
            new_options(t, &fixed);
            bool half_way = t->unique && taking && freeing;
            t->turn = fixed || t->id_changed || half_way ? LIVE_BUILD_BESIDE : LIVE_BUILD_INPLACE;
        }
    }
}

enum mrs_status
live_name_beside(struct live_job *job, const struct mrs_coll *coll, bool kept, struct mrs_arena *a,
                 struct mrs_coll *out, struct mrs_err *e)
{
    MRS_ASSERT(job->run && coll->ns);
    size_t n = strlen(coll->ns) + 32;
    char *ns = mrs_arena_alloc(a, n);
    MRS_TRY(mrs_allocated(ns, n, e));
    snprintf(ns, n, "%s.mrs_%s%s", coll->ns, job->run->short_id, kept ? "_old" : "");
    if (strlen(ns) > MRS_NS_MAX) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT, "%s must be rebuilt under a temporary name, but its name is too "
                                                     "long for that",
                           coll->ns);
    }
    *out = (struct mrs_coll){coll->db, ns + strlen(coll->db) + 1, ns};
    return MRS_OK;
}

/* ---- the lists ---- */
struct actions_making {
    struct live_job *job;
    struct mrs_arena arena;
    struct mrs_build list;
    struct mrs_buf back; /* struct mrs_view of the actions that undo, in the order of the undone actions */
    enum mrs_status status;
    struct mrs_err *e;
};

static struct mrs_view
action(struct actions_making *m, enum live_stage stage, const char *what, const char *ns, const char *to,
       struct mrs_view doc)
{
    MRS_ASSERT(what && ns);
    struct mrs_view one = {NULL, 0};
    struct mrs_val target = to ? mrs_make_text(&m->arena, to, (uint32_t)strlen(to)) : mrs_missing();
    if (m->status == MRS_OK && to && target.type == MRS_MISSING) {
        m->status = mrs_err_memory(m->e, strlen(to));
    }
    if (m->status == MRS_OK) {
        m->status = live_doc_in(&m->arena, &one, m->e, "{s: %i, do: %s, ns: %s, to: %v, doc: %d}", (int64_t)stage, what,
                                ns, target, doc);
    }
    return one;
}

static void
add(struct actions_making *m, enum live_stage stage, const char *what, const char *ns, const char *to,
    struct mrs_view doc)
{
    struct mrs_view one = action(m, stage, what, ns, to, doc);
    if (m->status == MRS_OK) {
        mrs_build_item(&m->list, mrs_view_val(one));
    }
}

static void
undo(struct actions_making *m, enum live_stage stage, const char *what, const char *ns, const char *to,
     struct mrs_view doc)
{
    struct mrs_view one = action(m, stage, what, ns, to, doc);
    if (m->status == MRS_OK) {
        mrs_buf_put(&m->back, &one, sizeof one);
        m->status = mrs_buf_status(&m->back, m->e);
    }
}

static const struct mrs_view nothing = {NULL, 0};

/* Indexes of a new collection: plain ones at once, unique ones when it is complete. */
static void
index_new(struct actions_making *m, enum live_stage stage, const char *ns, struct mrs_view metadata)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, indexes_of(metadata)); mrs_walk_next(&w, &el) == 1;) {
        struct mrs_view spec = live_doc_of(el.v);
        enum live_stage when = is_ttl(spec)      ? LIVE_STAGE_AFTER
                               : is_unique(spec) ? LIVE_STAGE_BUILT
                                                 : LIVE_STAGE_BEFORE;
        if (when == stage && strcmp(name_of(spec), "_id_") != 0) {
            add(m, stage, "index", ns, NULL, spec);
        }
    }
}

static void
index_removed(struct actions_making *m, const struct live_tally *t)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, indexes_of(t->old_meta)); mrs_walk_next(&w, &el) == 1;) {
        struct mrs_view spec = live_doc_of(el.v);
        if (!has_index(t->now_meta, spec)) {
            add(m, LIVE_STAGE_BEFORE, "drop_index", t->old.ns, name_of(spec), nothing);
            undo(m, LIVE_STAGE_AFTER, "index", t->old.ns, NULL, spec);
        }
    }
}

/* New indexes of an old collection: at once if its documents do not change. */
static void
index_added(struct actions_making *m, enum live_stage stage, const struct live_tally *t)
{
    struct mrs_walk w;
    struct mrs_elem el;
    bool same = t->n[LIVE_INSERT] + t->n[LIVE_UPDATE] + t->n[LIVE_DELETE] == 0;
    for (mrs_walk_init(&w, indexes_of(t->now_meta)); mrs_walk_next(&w, &el) == 1;) {
        struct mrs_view spec = live_doc_of(el.v);
        bool late = is_ttl(spec) || (is_unique(spec) && !same);
        if (late == (stage == LIVE_STAGE_AFTER) && !has_index(t->old_meta, spec)) {
            add(m, stage, "index", t->old.ns, NULL, spec);
            undo(m, LIVE_STAGE_BEFORE, "drop_index", t->old.ns, name_of(spec), nothing);
        }
    }
}

static void
make_before(struct actions_making *m, const struct live_tally *t)
{
    struct mrs_coll beside = t->now;
    if (!t->now.ns) {
        return;
    }
    if (t->turn == LIVE_BUILD_INPLACE) {
        index_removed(m, t);
        index_added(m, LIVE_STAGE_BEFORE, t);
        return;
    }
    if (t->turn == LIVE_BUILD_BESIDE && m->status == MRS_OK) {
        m->status = live_name_beside(m->job, &t->now, false, &m->arena, &beside, m->e);
    }
    add(m, LIVE_STAGE_BEFORE, "create", beside.ns, NULL, options_of(t->now_meta));
    undo(m, LIVE_STAGE_AFTER, "drop_empty", beside.ns, NULL, nothing);
    index_new(m, LIVE_STAGE_BEFORE, beside.ns, t->now_meta);
}

static void
make_built(struct actions_making *m, const struct live_tally *t)
{
    struct mrs_coll beside = t->now;
    if (t->turn == LIVE_BUILD_BESIDE && m->status == MRS_OK) {
        m->status = live_name_beside(m->job, &t->now, false, &m->arena, &beside, m->e);
    }
    if (t->turn != LIVE_BUILD_INPLACE) {
        index_new(m, LIVE_STAGE_BUILT, beside.ns, t->now_meta);
    }
}

/* The expected content of an old collection, byte for byte, when it is dropped: a difference means another client
 * wrote. empty: its documents were deleted one by one before. */
static struct mrs_view
as_read(struct actions_making *m, const struct live_tally *t, bool empty)
{
    struct mrs_view doc = {NULL, 0};
    if (m->status == MRS_OK) {
        m->status = live_doc_in(&m->arena, &doc, m->e, "{docs: %I, lo: %I, hi: %I}", empty ? 0 : (int64_t)t->docs,
                                empty ? 0 : (int64_t)t->sum.lo, empty ? 0 : (int64_t)t->sum.hi);
    }
    return doc;
}

static void
make_dropped(struct actions_making *m, const struct live_tally *t)
{
    MRS_ASSERT(t->old.ns);
    struct mrs_walk w;
    struct mrs_elem el;
    add(m, LIVE_STAGE_AFTER, "drop", t->old.ns, NULL, as_read(m, t, m->job->opts.keep_before));
    for (mrs_walk_init(&w, indexes_of(t->old_meta)); mrs_walk_next(&w, &el) == 1;) {
        if (strcmp(name_of(live_doc_of(el.v)), "_id_") != 0) {
            undo(m, LIVE_STAGE_AFTER, "index", t->old.ns, NULL, live_doc_of(el.v));
        }
    }
    undo(m, LIVE_STAGE_BEFORE, "create", t->old.ns, NULL, options_of(t->old_meta));
}

/* A rebuilt collection replaces the old one, which is preserved with --keep-before. */
static void
make_swap(struct actions_making *m, const struct live_tally *t)
{
    MRS_ASSERT(t->now.ns && t->turn == LIVE_BUILD_BESIDE);
    struct mrs_coll beside = t->now, kept = t->now;
    bool keep = m->job->opts.keep_before;
    if (m->status == MRS_OK) {
        m->status = live_name_beside(m->job, &t->now, false, &m->arena, &beside, m->e);
    }
    if (m->status == MRS_OK) {
        m->status = live_name_beside(m->job, &t->now, true, &m->arena, &kept, m->e);
    }
    if (keep) {
        add(m, LIVE_STAGE_AFTER, "rename", t->old.ns, kept.ns, as_read(m, t, false));
        undo(m, LIVE_STAGE_BEFORE, "unrename", t->old.ns, kept.ns, nothing);
    }
    bool over = !keep && strcmp(t->old.ns, t->now.ns) == 0;
    add(m, LIVE_STAGE_AFTER, over ? "replace" : "rename", beside.ns, t->now.ns, over ? as_read(m, t, false) : nothing);
    undo(m, LIVE_STAGE_BEFORE, "unrename", beside.ns, t->now.ns, nothing);
    if (!over && !keep) {
        add(m, LIVE_STAGE_AFTER, "drop", t->old.ns, NULL, as_read(m, t, false));
    }
}

static void
make_names(struct actions_making *m, const struct live_tally *t)
{
    if (t->now.ns && t->turn == LIVE_BUILD_BESIDE) {
        make_swap(m, t);
    } else if (t->now.ns && t->old.ns && strcmp(t->now.ns, t->old.ns) != 0) {
        add(m, LIVE_STAGE_AFTER, "rename", t->old.ns, t->now.ns, nothing);
        undo(m, LIVE_STAGE_BEFORE, "unrename", t->old.ns, t->now.ns, nothing);
    }
}

static void
make_ttl(struct actions_making *m, const struct live_tally *t)
{
    if (t->turn != LIVE_BUILD_INPLACE) {
        index_new(m, LIVE_STAGE_AFTER, t->now.ns, t->now_meta);
    }
}

/* Also without differences, for rebuilt collections: the block on the old collection does not apply to the new one. */
static void
make_last(struct actions_making *m, const struct live_tally *t)
{
    bool fixed = false;
    if (t->old.ns && t->now.ns && (new_options(t, &fixed) || t->turn == LIVE_BUILD_BESIDE)) {
        add(m, LIVE_STAGE_LAST, "options", t->now.ns, NULL, options_of(t->now_meta));
        undo(m, LIVE_STAGE_LAST, "options", t->old.ns, NULL, options_of(t->old_meta));
    }
}

/* Undo actions in reverse order, stage by stage. */
static enum mrs_status
write_back(struct actions_making *m, struct mrs_buf *out)
{
    MRS_ASSERT(m->back.n % sizeof(struct mrs_view) == 0);
    const struct mrs_view *all = (const struct mrs_view *)(const void *)m->back.p;
    uint32_t n = (uint32_t)(m->back.n / sizeof *all);
    struct mrs_build b;
    struct mrs_view list;
    mrs_build_init(&b, out);
    for (int64_t stage = LIVE_STAGE_BEFORE; stage <= LIVE_STAGE_LAST; stage++) {
        for (uint32_t i = n; i > 0; i--) {
            if (live_int_at(all[i - 1], "s", -1) == stage) {
                mrs_build_item(&b, mrs_view_val(all[i - 1]));
            }
        }
    }
    return mrs_build_finish(&b, &list, m->e);
}

enum mrs_status
live_actions_make(struct live_job *job, struct live_compare *c, struct mrs_buf *list, struct mrs_buf *back,
                  struct mrs_err *e)
{
    struct actions_making m = {.job = job, .status = MRS_OK, .e = e};
    static void (*const make[])(struct actions_making *, const struct live_tally *) = {make_before, make_built};
    struct mrs_view done;
    uint32_t n = live_compare_count(c);
    mrs_arena_init(&m.arena, job->mem);
    mrs_buf_init(&m.back, job->mem, SIZE_MAX);
    mrs_build_init(&m.list, list);
    for (size_t k = 0; k < sizeof make / sizeof *make; k++) {
        for (uint32_t i = 0; i < n; i++) {
            make[k](&m, live_compare_at(c, i));
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct live_tally *t = live_compare_at(c, i);
        if (t->turn == LIVE_BUILD_INPLACE && t->now.ns) {
            index_added(&m, LIVE_STAGE_AFTER, t);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!live_compare_at(c, i)->now.ns) {
            make_dropped(&m, live_compare_at(c, i));
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        make_names(&m, live_compare_at(c, i));
    }
    for (uint32_t i = 0; i < n; i++) {
        make_ttl(&m, live_compare_at(c, i));
    }
    for (uint32_t i = 0; i < n; i++) {
        make_last(&m, live_compare_at(c, i));
    }
    enum mrs_status s = m.status == MRS_OK ? mrs_build_finish(&m.list, &done, e) : m.status;
    MRS_THEN(s, write_back(&m, back));
    mrs_buf_clear(&m.back);
    mrs_arena_clear(&m.arena);
    return s;
}

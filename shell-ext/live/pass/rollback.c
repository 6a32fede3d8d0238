/* SPDX-License-Identifier: Apache-2.0 */
/* rollback.c - removes the new schema again, as if the run had never been.
 *
 * Data that only the new schema holds would be lost: so every claimed value and every document of a new collection is
 * first compared with what the old schema gives now. If one differs, it is reported and the rollback refused, unless
 * the user allows to discard such data; then it is saved among the refused documents. After that there is no way back:
 * guarded writes remove claimed fields, in the reverse order of the groups, then collections and indexes of the run,
 * and its claims last. Old documents get back their original bytes. */
#include "live/link/bson.h"
#include "work.h"

#include "mongoreshape/ejson.h"
#include "mongoreshape/value.h"

#include <stdio.h>

enum { PASSES_MAX = 100 };

struct undoing {
    struct live_batch b;
    struct live_scan t;
    struct live_pass_report *r;
    struct live_checkpoint *c; /* of the current walk */
    int side; /* of documents in new collections */
    enum mrs_status bad; /* an error that a live_result_fn cannot return */
};

static const char lost_text[] = "not written by this run";

/* Are the present claimed values the derived ones? Missing ones are no loss. */
static bool
as_derived(const struct live_job *job, uint32_t group, int side, const struct live_unit *u)
{
    MRS_ASSERT(group < job->live->n_groups);
    struct live_claimed k = live_claims_of(job, group, side);
    return u->refused ? !live_claimed_any(k, u->doc) : !live_claimed_differs(k, u->doc, u->result, true);
}

static enum mrs_status
keep_copy(struct live_job *job, uint32_t group, const char *ns, struct mrs_view doc, struct mrs_err *e)
{
    MRS_ASSERT(group < job->live->n_groups);
    struct mrs_err why;
    char id[96];
    if (!live_refused_fits(doc)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_LIMIT,
                           "%s, _id %s, is %s and too large for a copy of it to be kept: save it, then call rollback "
                           "again", ns, mrs_val_picture(mrs_doc_get(doc, "_id"), id, sizeof id), lost_text);
    }
    mrs_err_clear(&why);
    mrs_err_set(&why, MRS_SKIP, MRS_E_REFUSED, "rollback: %s", lost_text);
    return live_refused_put(job, job->live->group[group].first + 1, ns, doc, &why, e);
}

static enum mrs_status
note_lost(struct undoing *v, const char *ns, struct mrs_view doc, struct mrs_err *e)
{
    v->r->differs++;
    live_name(v->r, ns, mrs_doc_get(doc, "_id"), lost_text);
    bool keep = v->b.job->opts.discard_new_writes && !v->b.job->opts.dry_run;
    return keep ? keep_copy(v->b.job, v->b.group, ns, doc, e) : MRS_OK;
}

/* ---- count ---- */

/* For a dry run: counts the removals. */
static void
count_going(struct undoing *v, struct mrs_view doc)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct live_claimed k = live_claims_of(v->b.job, v->b.group, v->b.side);
    const char *name = live_claimed_differs(k, doc, mrs_empty_doc(), true);
    if (name) {
        char what[300];
        snprintf(what, sizeof what, "would lose field %.255s%s", name, k.n > 1 ? " and others of the run" : "");
        live_preview_count(v->r, &v->r->written, v->b.coll->ns, mrs_doc_get(doc, "_id"), what);
    }
}

static enum mrs_status
count_claims(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c, struct mrs_err *e)
{
    struct undoing *v = arg;
    uint64_t before = v->r->differs;
    struct live_unit *u = mrs_alloc_array(v->b.job->mem, n + 1, sizeof *u);
    enum mrs_status st = mrs_allocated(u, n * sizeof *u, e);
    for (struct live_slices s = {.n = n, .step = n}; !st && live_slices_next(&s);) {
        st = live_units_load(v->b.units, v->b.main, docs + s.at, s.k, u, &s.why);
        if (live_slices_halved(&s, st)) {
            st = MRS_OK;
            continue;
        }
        st = st ? live_slices_failed(&s, st, e) : st;
        for (uint32_t i = 0; i < s.k && !st; i++) {
            if (v->b.job->opts.dry_run) {
                count_going(v, u[i].doc);
            }
            st = as_derived(v->b.job, v->b.group, v->b.side, &u[i]) ? MRS_OK
                                                                     : note_lost(v, v->b.coll->ns, u[i].doc, e);
        }
    }
    mrs_free(v->b.job->mem, u);
    c->differs += v->r->differs - before;
    return st ? st : live_checkpoint_save(v->b.job, c, e);
}

static enum mrs_status
count_made(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c, struct mrs_err *e)
{
    struct undoing *v = arg;
    uint64_t before = v->r->differs;
    enum mrs_status st = MRS_OK;
    v->b.exact = true;
    for (uint32_t at = 0; at < n && !st; at += 100) {
        bool made[100];
        uint32_t k = n - at < 100 ? n - at : 100;
        mrs_arena_reset(&v->b.make);
        st = live_batch_expected(&v->b, v->side, docs + at, k, made, NULL, e);
        for (uint32_t i = 0; i < k && !st; i++) {
            if (v->b.job->opts.dry_run) {
                live_preview_count(v->r, &v->r->deleted, v->t.coll->ns, mrs_doc_get(docs[at + i], "_id"),
                                   "would go with its collection");
                v->r->written++;
            }
            st = made[i] ? MRS_OK : note_lost(v, v->t.coll->ns, docs[at + i], e);
        }
    }
    c->differs += v->r->differs - before;
    return st ? st : live_checkpoint_save(v->b.job, c, e);
}

/* ---- remove ---- */

static enum mrs_status
unclaimed_result(struct live_batch *b, const struct live_unit *u, const struct live_task *t, struct mrs_view *result,
                 struct mrs_err *e)
{
    struct undoing *v = b->arg;
    enum mrs_status st = MRS_OK;
    (void)t;
    *result = u->doc;
    if (!as_derived(b->job, b->group, b->side, u)) {
        if (!b->job->opts.discard_new_writes) {
            v->c->differs++;
            live_name(v->r, b->coll->ns, mrs_doc_get(u->doc, "_id"), lost_text);
            return MRS_OK;
        }
        st = keep_copy(b->job, b->group, b->coll->ns, u->doc, e);
    }
    return st ? st : live_less_claims(b->job, b->group, b->side, u->doc, &b->make, result, e);
}

static enum mrs_status
take_away(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c, struct mrs_err *e)
{
    struct undoing *v = arg;
    v->c = c;
    enum mrs_status st = live_batch_write(&v->b, docs, n, c, e);
    v->t.wrote_docs = v->b.wrote_docs;
    v->t.wrote_bytes = v->b.wrote_bytes;
    return st;
}

/* ---- passes ---- */

struct scan_of {
    const char *what;
    uint32_t group, main, no;
    int side; /* >= 0: documents of this side */
    enum mrs_status (*batch)(void *arg, const struct mrs_view *docs, uint32_t n, struct live_checkpoint *c,
                             struct mrs_err *e);
};

static enum mrs_status
one_range_scan(struct live_job *job, const struct scan_of *w, uint64_t *missed, struct live_pass_report *r,
               struct mrs_err *e)
{
    MRS_ASSERT(w->what && w->batch);
    struct undoing v = {.r = r, .side = w->side};
    char name[48], phase[96];
    enum mrs_status st = live_batch_open(&v.b, job, w->group, w->main, LIVE_FOR_EXPAND, r, e);
    const struct mrs_step *s = &job->plan->steps[job->live->group[w->group].first];
    uint32_t scan = w->side < 0 ? w->main : 1000 + (uint32_t)w->side;
    uint64_t before = r->differs;
    v.t = (struct live_scan){.job = job, .pass = live_pass_name(name, w->what, w->group, scan, w->no),
                             .phase = live_phase_name(job, phase, "rollback", w->group),
                             .coll = w->side < 0 ? v.b.coll : &s->desc.sides[w->side].coll, .batch = w->batch,
                             .writes = w->batch == take_away, .arg = &v};
    v.b.arg = &v;
    v.b.keep_refused = true;
    if (w->batch == take_away) {
        v.b.result = unclaimed_result;
        v.b.products = false;
        v.b.reads = "";
        v.b.reads_n = 0;
        v.b.reads_whole = false;
    }
    MRS_THEN(st, live_scan_run(&v.t, e));
    if (!st) {
        r->differs = before + v.t.differs;
    }
    *missed += v.t.missed;
    live_batch_close(&v.b);
    return st;
}

/* Walks over the main collections of a group whose documents have claims. */
static enum mrs_status
over_claims(struct live_job *job, struct scan_of w, uint64_t *missed, struct live_pass_report *r, struct mrs_err *e)
{
    struct live_units *u;
    int side;
    enum mrs_status st = live_units_open(job, w.group, LIVE_FOR_EXPAND, &u, e);
    uint32_t mains = st ? 0 : live_units_mains(u), with = 0;
    uint32_t list[MRS_SIDES_MAX];
    for (uint32_t m = 0; m < mains; m++) {
        live_units_main(u, m, &side);
        if (live_claims_of(job, w.group, side).n) {
            list[with++] = m;
        }
    }
    live_units_close(st ? NULL : u);
    w.side = -1;
    for (uint32_t i = 0; i < with && !st; i++) {
        w.main = list[i];
        st = one_range_scan(job, &w, missed, r, e);
    }
    return st;
}

/* Counts documents of the new collections of a group. */
static enum mrs_status
count_targets(struct live_job *job, uint32_t g, uint32_t no, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(g < job->live->n_groups);
    uint64_t missed = 0;
    struct scan_of w = {.what = "count", .group = g, .no = no, .batch = count_made};
    const struct mrs_step *s = &job->plan->steps[job->live->group[g].first];
    enum mrs_status st = MRS_OK;
    for (uint32_t side = 0; side < s->desc.n_sides && !st; side++) {
        if (live_side_listed(job, g, side)) {
            w.side = (int)side;
            st = one_range_scan(job, &w, &missed, r, e);
        }
    }
    return st;
}

static enum mrs_status
count_group(struct live_job *job, uint32_t g, uint32_t no, struct live_pass_report *r, struct mrs_err *e)
{
    uint64_t missed = 0;
    struct scan_of w = {.what = "count", .group = g, .no = no, .batch = count_claims};
    enum mrs_status st = over_claims(job, w, &missed, r, e);
    return st ? st : count_targets(job, g, no, r, e);
}

static enum mrs_status
may_lose(const struct live_job *job, const struct live_pass_report *r, struct mrs_err *e)
{
    return !r->differs || job->opts.discard_new_writes
               ? MRS_OK
               : mrs_err_set(e, MRS_FAIL, MRS_E_REFUSED,
                             "values or documents of the new schema that differ from the derived ones: %llu; rollback "
                             "would lose them; `verify --repair --execute` updates stale ones, --discard-new-writes "
                             "saves copies among the refused documents and continues", (unsigned long long)r->differs);
}

static enum mrs_status
count_all(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    uint32_t no;
    enum mrs_status st = live_next_number(job, "count_no", &no, e);
    for (uint32_t g = 0; g < job->live->n_groups && !st; g++) {
        st = live_adds(job, g) ? count_group(job, g, no, r, e) : MRS_OK;
    }
    return st ? st : may_lose(job, r, e);
}

static enum mrs_status
undo_group(struct live_job *job, uint32_t g, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(g < job->live->n_groups);
    uint64_t missed = 1, before = r->differs;
    enum mrs_status st = MRS_OK;
    uint32_t first = (uint32_t)live_int_at(live_run_doc(job->run), "undo_no", 0) * PASSES_MAX;
    struct scan_of w = {.what = "rollback", .group = g, .batch = take_away};
    for (w.no = first; w.no < first + PASSES_MAX && missed && !st; w.no++) {
        missed = 0;
        r->differs = before; /* remaining after the last walk */
        st = over_claims(job, w, &missed, r, e);
    }
    return st || !missed ? st : mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                                            "%llu documents change all the time; call rollback again when fewer writes "
                                            "go on", (unsigned long long)missed);
}

static enum mrs_status
undo_all(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    r->differs = 0;
    for (uint32_t g = job->live->n_groups; g-- > 0 && !st;) {
        st = live_adds(job, g) ? undo_group(job, g, r, e) : MRS_OK;
    }
    if (!st && r->differs) {
        uint32_t no; /* a new one: the next call repeats these walks, and must not take their checkpoints for its own */
        st = live_next_number(job, "undo_no", &no, e);
        st = st ? st
                : mrs_err_set(e, MRS_FAIL, MRS_E_REFUSED,
                         "%llu documents got new values since rollback began and keep them; --discard-new-writes takes "
                         "these away, too", (unsigned long long)r->differs);
    }
    return st;
}

/* Checks again just before the new collections are dropped: for documents inserted while claims were removed. */
static enum mrs_status
count_late(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    uint32_t no;
    enum mrs_status st = live_next_number(job, "count_no", &no, e);
    r->differs = 0;
    for (uint32_t g = 0; g < job->live->n_groups && !st; g++) {
        st = live_adds(job, g) ? count_targets(job, g, no, r, e) : MRS_OK;
    }
    return st ? st : may_lose(job, r, e);
}

enum mrs_status
live_rollback_units(struct live_job *job, struct live_pass_report *r, struct mrs_err *e)
{
    MRS_ASSERT(job->run && job->live);
    if (live_run_in(job, "rolled back")) {
        return MRS_OK;
    }
    bool begun = live_run_in(job, "rollback");
    bool may = begun || live_run_in(job, "claimed") || live_run_in(job, "expand") || live_run_in(job, "expanded");
    if (!may) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "this run is in phase \"%s\": it cannot be rolled back",
                           job->run->phase);
    }
    if (job->opts.discard_new_writes) {
        job->opts.max_refused = UINT64_MAX; /* copies are saved, nothing is refused */
    }
    struct mrs_buf buf;
    struct mrs_view set;
    mrs_buf_init(&buf, job->mem, 4096);
    enum mrs_status st = live_foresee_rollback(job, begun, e);
    st = st || begun || live_run_in(job, "claimed") ? st : count_all(job, r, e);
    if (job->opts.dry_run) {
        mrs_buf_clear(&buf);
        return st ? st : live_catalogue_drop(job, e);
    }
    if (!begun) {
        MRS_THEN(st, live_doc(&buf, &set, e, "{verified: null, verifying: null}"));
        MRS_THEN(st, live_run_phase(job, "rollback", 0, set, e));
    }
    MRS_THEN(st, undo_all(job, r, e));
    st = st || live_run_in(job, "claimed") ? st : count_late(job, r, e);
    MRS_THEN(st, live_catalogue_drop(job, e));
    mrs_buf_reset(&buf);
    MRS_THEN(st, live_doc(&buf, &set, e, "{claims: null}"));
    MRS_THEN(st, live_run_phase(job, "rolled back", 0, set, e));
    mrs_buf_clear(&buf);
    return st;
}

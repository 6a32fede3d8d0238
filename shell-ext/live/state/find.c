/* SPDX-License-Identifier: Apache-2.0 */
/* find.c - finds runs by id, for commands that only read or change a limit; and removes a run's state.
 *
 * The user gives the first digits of the run's id, or none if there is only one run. Removing the state of a run is
 * refused if data that only the state holds would be lost: half-made changes, a half-expanded schema, blocked writers,
 * refused documents. It happens under the run's leases, the run document last, so that an interrupted removal can be
 * called again. Undoes nothing itself. */
#include "state_io.h"

#include <stdio.h>

/* ---- by id ---- */
bool
live_run_is_id(const char *id)
{
    size_t n = strlen(id);
    return n >= 1 && n <= 32 && strspn(id, "0123456789abcdef") == n;
}

static enum mrs_status
candidates(struct live_job *job, const char *id, struct mrs_buf *out, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view pipeline;
    char behind[40];
    mrs_arena_init(&a, job->mem);
    snprintf(behind, sizeof behind, "%sg", id);
    enum mrs_status s = live_doc_in(&a, &pipeline, e,
                                    "[{$match: {_id: {$gte: %s, $lt: %s}}}, {$project: {phase: 1, name: 1}}, "
                                    "{$sort: {_id: 1}}]",
                                    id, behind);
    MRS_THEN(s, live_state_list(job, &job->run->state_runs, pipeline, out, e));
    mrs_arena_clear(&a);
    return s;
}

/* Selects the run: the only one, or the only unfinished one. */
static enum mrs_status
choose(struct live_job *job, const struct mrs_buf *docs, bool named, char id[33], struct mrs_err *e)
{
    struct mrs_view d;
    uint32_t n = 0, going = 0;
    char first[33] = "", open[33] = "", phase[32], names[256] = "";
    for (size_t at = 0; live_state_next(docs, &at, &d);) {
        char one[33];
        size_t used = strlen(names);
        live_text_at(d, "_id", one, sizeof one);
        live_text_at(d, "phase", phase, sizeof phase);
        if (!live_run_is_id(one)) {
            continue; /* others wrote it, or it is damaged */
        }
        snprintf(names + used, sizeof names - used, "%s%.12s", used ? ", " : "", one);
        if (n == 0) {
            memcpy(first, one, sizeof first);
        }
        if (!live_phase_over(phase)) {
            memcpy(open, one, sizeof open);
            going++;
        }
        n++;
    }
    if (n == 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_MISSING, "there is no %s in the state database %s",
                           named ? "such run" : "run", live_state_db(job));
    }
    if (n > 1 && (named || going != 1)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "there are several runs, select one with --run ID: %s", names);
    }
    memcpy(id, n == 1 ? first : open, 33);
    return MRS_OK;
}

/* job->run has some id, to build the collection names; it gets the right one. */
static enum mrs_status
find(struct live_job *job, const char *id, struct mrs_err *e)
{
    char whole[33] = "", comment[128];
    struct mrs_buf docs;
    enum mrs_status s = live_run_new(job, "0", e);
    if (s == MRS_OK) {
        mrs_buf_init(&docs, job->mem, 256u << 20);
        s = candidates(job, id ? id : "", &docs, e);
        MRS_THEN(s, choose(job, &docs, id != NULL, whole, e));
        mrs_buf_clear(&docs);
    }
    live_run_close(job);
    MRS_THEN(s, live_run_new(job, whole, e));
    if (s == MRS_OK) {
        live_lease_comment(whole, job->run->owner, comment);
        live_link_mark(job->link, comment);
        s = live_run_load(job, e);
    }
    return s == MRS_END ? mrs_err_set(e, MRS_FAIL, MRS_E_MISSING, "run %.12s was removed at this moment", whole) : s;
}

enum mrs_status
live_run_find(struct live_job *job, const char *id, struct mrs_err *e)
{
    if (id && !live_run_is_id(id)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "\"%.40s\" is not the id of a run: up to 32 digits of 0-9 and a-f",
                           id);
    }
    enum mrs_status s = find(job, id, e);
    if (s != MRS_OK) {
        live_run_close(job);
    }
    return s;
}

/* ---- removal ---- */
static bool
is_not_empty(struct mrs_val v)
{
    return (v.type == MRS_ARRAY || v.type == MRS_DOCUMENT) ? v.n > MRS_DOC_MIN : !mrs_is_nullish(v);
}

/* Has the run made only a part of its changes? */
static bool
is_half_done(const struct live_run *r)
{
    static const char *const phases[] = {"applying", "finishing", "contract", "rolling", "rollback"};
    bool half = false;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        half = half || strncmp(r->phase, phases[i], strlen(phases[i])) == 0;
    }
    return half;
}

static enum mrs_status
refuse_half_done(const struct live_run *r, bool here, struct mrs_err *e)
{
    if (!here) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                           "run %s is in phase \"%s\", and the server or a collection is not the one that it began "
                           "with: it can be neither finished nor rolled back. %s may hold the only copy of documents "
                           "that it was changing: export it, then remove it with --discard-changes",
                           r->short_id, r->phase, r->state_changes.ns);
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                       "run %s is in phase \"%s\": it has made only a part of its changes, and only its state can "
                       "complete them; finish it with `%s`, then repeat this command",
                       r->short_id, r->phase,
                       r->phase[0] == 'c' ? "contract" : r->phase[0] == 'r' ? "rollback" : "apply --execute");
}

/* Refuses if data would be lost with the state, and says what to do. */
static enum mrs_status
check_removable(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    struct mrs_view d = live_run_doc(r);
    char mode[16];
    uint64_t refused = 0;
    bool over = live_phase_over(r->phase), half = is_half_done(r), known = r->elsewhere;
    live_text_at(d, "mode", mode, sizeof mode);
    bool expanded = strcmp(mode, "expand") == 0 && !over && strcmp(r->phase, "claimed") != 0, here = false;
    enum mrs_status s = MRS_OK;
    if (half || expanded || (!over && is_not_empty(live_at(d, "claims")))) {
        s = live_run_here(job, &here, e);
    }
    if (s != MRS_OK) {
        return s;
    }
    if (half && (here || !job->opts.discard_changes)) {
        return refuse_half_done(r, here, e);
    }
    if (here) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                           "run %s has added the new schema next to the old, and only its state can tell the two "
                           "apart: `rollback` or `contract` first, then repeat this command",
                           r->short_id);
    }
    if (r->elsewhere && !known && job->print_line) {
        job->print_line(job->arg, "note: the server or a collection is not the one that the run began with, so it "
                                  "cannot be rolled back: what it has added or changed stays");
    }
    s = live_refused_count(job, &refused, e);
    if (s == MRS_OK && refused > 0 && !job->opts.discard_refused) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                        "%llu refused documents of run %s are in %s: export them, then remove them with "
                        "--discard-refused",
                        (unsigned long long)refused, r->short_id, r->state_refused.ns);
    }
    return s;
}

enum mrs_status
live_run_namespaces(struct live_job *job, const struct mrs_coll *const **out, uint32_t *n_out, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct mrs_arena *a = &job->run->arena;
    struct mrs_val list = live_at(live_run_doc(job->run), "namespaces");
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0, cap = list.n / 8 + 1; /* minimum size of an entry */
    const struct mrs_coll **ref = mrs_arena_alloc(a, cap * sizeof *ref);
    struct mrs_coll *coll = mrs_arena_alloc(a, cap * sizeof *coll);
    if (!ref || !coll) {
        return mrs_err_memory(e, cap * sizeof *coll);
    }
    mrs_walk_init(&w, list.type == MRS_ARRAY ? mrs_val_view(list) : mrs_empty_doc());
    while (n < cap && mrs_walk_next(&w, &el) == 1) {
        uint32_t len;
        if (el.v.type == MRS_STRING) {
            const char *text = mrs_val_text(el.v, &len);
            const char *ns = mrs_arena_copy(a, text, (size_t)len + 1);
            MRS_TRY(mrs_allocated(ns, len, e));
            coll[n] = (struct mrs_coll){"", ns, ns};
            ref[n] = &coll[n];
            n++;
        }
    }
    *out = ref;
    *n_out = n;
    return MRS_OK;
}

/* Are there originals of collections that only this run needs? */
static bool
has_kept(const struct live_run *r)
{
    return live_bool_at(live_run_doc(r), "changes.keep_before", false) && !is_half_done(r);
}

/* Reports the number of documents of the run in a state collection, if not 0. */
static enum mrs_status
report_count(struct live_job *job, const struct mrs_coll *coll, const char *template, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_buf out;
    struct mrs_view pipeline, d;
    size_t at = 0;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&out, job->mem, 1 << 16);
    enum mrs_status s = live_doc_in(&a, &pipeline, e, template, job->run->id);
    MRS_THEN(s, live_state_list(job, coll, pipeline, &out, e));
    if (s == MRS_OK && live_state_next(&out, &at, &d) && job->print_line) {
        char line[400];
        snprintf(line, sizeof line, "would remove from %s: %lld document%s", coll->ns,
                 (long long)live_int_at(d, "n", 0), live_int_at(d, "n", 0) == 1 ? "" : "s");
        job->print_line(job->arg, line);
    }
    mrs_buf_clear(&out);
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_clean_preview(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    const struct live_run *r = job->run;
    const struct mrs_coll *const *coll = NULL;
    uint32_t n = 0;
    char line[400];
    enum mrs_status s = check_removable(job, e);
    MRS_THEN(s, live_run_namespaces(job, &coll, &n, e));
    MRS_THEN(s, report_count(job, &r->state_runs, "[{$match: {_id: {$eq: %s}}}, {$count: 'n'}]", e));
    MRS_THEN(s, report_count(job, &r->state_checkpoints, "[{$match: {run: %s}}, {$count: 'n'}]", e));
    MRS_THEN(s, report_count(job, &r->state_refused, "[{$match: {_id.run: %s}}, {$count: 'n'}]", e));
    MRS_THEN(s, report_count(job, &r->state_stale, "[{$match: {_id.run: %s}}, {$count: 'n'}]", e));
    MRS_THEN(s, report_count(job, &r->state_changes, "[{$match: {_id: {$ne: %s}}}, {$count: 'n'}]", e));
    for (uint32_t i = 0; s == MRS_OK && i < n && has_kept(r); i++) {
        snprintf(line, sizeof line, "would drop %s.mrs_%s_old, if it is there", coll[i]->ns, r->short_id);
        job->print_line(job->arg, line);
    }
    return s;
}

/* Drops the original of a collection that a run with --keep-before rebuilt; its name contains the run id. */
static enum mrs_status
drop_kept(struct live_job *job, const struct mrs_coll *const *coll, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n == 0 || coll);
    struct mrs_arena a;
    enum mrs_status s = MRS_OK;
    mrs_arena_init(&a, job->mem);
    for (uint32_t i = 0; has_kept(job->run) && s == MRS_OK && i < n; i++) {
        size_t room = strlen(coll[i]->ns) + 32;
        char *ns = mrs_arena_alloc(&a, room), *dot = NULL;
        if (ns) {
            snprintf(ns, room, "%s.mrs_%s_old", coll[i]->ns, job->run->short_id);
            dot = strchr(ns, '.');
        }
        if (dot) {
            *dot = 0;
            s = live_state_drop(job, ns, dot + 1, e);
        } else if (!ns) {
            s = mrs_err_memory(e, room);
        }
    }
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_run_clear(struct live_job *job, const char *db, struct mrs_err *e)
{
    MRS_ASSERT(job->run && db[0]);
    const struct live_run *r = job->run;
    const struct mrs_coll checkpoints = {db, "checkpoints", "checkpoints"}, refused = {db, "refused", "refused"},
                          stale = {db, "swept", "swept"};
    enum mrs_status s = live_state_drop(job, db, r->state_changes.coll, e);
    MRS_THEN(s, live_state_delete_where(job, &checkpoints, e, "{run: %s}", r->id));
    MRS_THEN(s, live_state_delete_where(job, &refused, e, "{_id.run: %s}", r->id));
    MRS_THEN(s, live_state_delete_where(job, &stale, e, "{_id.run: %s}", r->id));
    return s;
}

enum mrs_status
live_run_forget(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run && !job->run->worker);
    struct live_run *r = job->run;
    enum mrs_status s = live_run_clear(job, r->state_runs.db, e);
    MRS_THEN(s, live_state_delete_where(job, &r->state_runs, e, "{_id: {$eq: %s}}", r->id));
    MRS_THEN(s, live_state_delete_where(job, &r->state_leases, e, "{owner: %s}", r->owner));
    r->n_leases = s == MRS_OK ? 0 : r->n_leases;
    return s;
}

enum mrs_status
live_clean_begin(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run && !job->run->worker);
    const struct mrs_coll *const *coll = NULL;
    uint32_t n = 0;
    enum mrs_status s = check_removable(job, e);
    MRS_THEN(s, live_run_namespaces(job, &coll, &n, e));
    MRS_THEN(s, live_lease_take(job, coll, n, e));
    MRS_THEN(s, live_run_load(job, e));
    if (s == MRS_END) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_MISSING, "run %s was removed at this moment", job->run->short_id);
    }
    MRS_THEN(s, check_removable(job, e));
    MRS_THEN(s, live_run_fence(job, e));
    if (s != MRS_OK) {
        live_lease_release(job);
    }
    return s;
}

enum mrs_status
live_clean(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run && live_at(live_run_doc(job->run), "blocked").type != MRS_DOCUMENT);
    const struct mrs_coll *const *coll = NULL;
    uint32_t n = 0;
    enum mrs_status s = live_run_namespaces(job, &coll, &n, e);
    MRS_THEN(s, drop_kept(job, coll, n, e));
    MRS_THEN(s, live_run_forget(job, e));
    live_lease_release(job);
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* phase.c - the run document moved on: phases, and the collections whose identity is watched.
 *
 * Each write asks in its filter for our owner and epoch, so nobody moves a run who has lost it. Fields that other parts
 * keep in the run document (claims, validators) travel with the phase in one update: a run is never found in a phase
 * without what belongs to it. Must not know what the fields mean. */
#include "state_io.h"

#include "server.h"

#include <stdio.h>

/* Fields of `set` as a stage: literals, but for the server's time; nulls become names of an $unset. */
static enum mrs_status
stages_of(struct mrs_view set, struct mrs_buf *set_buf, struct mrs_buf *unset_buf, struct mrs_view *set_doc,
          struct mrs_view *unset_list, struct mrs_err *e)
{
    struct mrs_build b, u;
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0;
    char digits[12];
    mrs_build_init(&b, set_buf);
    mrs_build_init(&u, unset_buf);
    mrs_walk_init(&w, set.n ? set : mrs_empty_doc());
    while (mrs_walk_next(&w, &el) == 1) {
        if (el.v.type == MRS_NULL) {
            mrs_index_name(digits, n++);
            mrs_build_text(&u, digits, el.name, el.name_len);
        } else if (mrs_val_is_text(el.v, "$$NOW")) {
            mrs_build_elem(&b, &el);
        } else {
            mrs_build_open(&b, el.name, el.name_len, MRS_DOCUMENT);
            mrs_build_val(&b, "$literal", 8, el.v);
            mrs_build_close(&b);
        }
    }
    enum mrs_status s = mrs_build_finish(&b, set_doc, e);
    if (s == MRS_OK) {
        s = mrs_build_finish(&u, unset_list, e);
    }
    if (s == MRS_OK && n == 0) {
        unset_list->n = 0;
    }
    return s;
}

/* An update of our run; it must match. Then the document is read again. */
static enum mrs_status
move(struct live_job *job, struct mrs_view u, struct mrs_err *e)
{
    struct live_run *r = job->run;
    struct live_state_change c = {.u = {u.p, u.n, MRS_ARRAY}};
    struct mrs_arena a;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &c.q, e, "{_id: {$eq: %s}, owner: %s, epoch: %I}", r->id, r->owner, r->epoch);
    if (s == MRS_OK) {
        s = live_state_update(job, &r->state_runs, &c, NULL, e);
    }
    mrs_arena_clear(&a);
    if (s == MRS_OK && c.matched != 1) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                        "run %s is no longer ours: another process has gone on with it, nothing more is written here",
                        r->short_id);
    }
    if (s == MRS_OK) {
        s = live_run_load(job, e);
    }
    return s == MRS_END ? mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "run %s was removed at this moment", r->short_id) : s;
}

/* The last stages: the phase itself, when derived data began to be stale, a line of history. */
static enum mrs_status
phase_update(struct live_job *job, const char *phase, uint32_t group, struct mrs_view set, struct mrs_view unset,
             struct mrs_arena *a, struct mrs_view *u, struct mrs_err *e)
{
    struct live_run *r = job->run;
    struct mrs_view stale = {0}, drop = {0};
    enum mrs_status s = MRS_OK;
    char what[48];
    snprintf(what, sizeof what, "%s %u", phase, group);
    if (strncmp(phase, "expand", 6) == 0) {
        s = live_doc_in(a, &stale, e, "{$set: {stale_since: {$ifNull: ['$stale_since', '$$NOW']}}}");
    }
    if (s == MRS_OK && unset.n) {
        s = live_doc_in(a, &drop, e, "{$unset: %a}", unset);
    }
    if (s == MRS_OK) {
        struct mrs_val extra = set.n > MRS_DOC_MIN ? mrs_view_val(set) : mrs_missing();
        struct mrs_view extra_stage = {0};
        if (extra.type != MRS_MISSING) {
            s = live_doc_in(a, &extra_stage, e, "{$set: %v}", extra);
        }
        if (s == MRS_OK) {
            s = live_doc_in(a, u, e,
                            "[%d, %d, %d, {$set: {phase: {$literal: %s}, group: %i, refused: %I, updated: '$$NOW', "
                            "history: {$slice: [{$concatArrays: [{$ifNull: ['$history', []]}, [{at: '$$NOW', "
                            "what: {$literal: %s}, owner: {$literal: %s}}]]}, -100]}}}]",
                            extra_stage, drop, stale, phase, (int64_t)group, (int64_t)r->n_refused, what, r->owner);
        }
    }
    return s;
}

enum mrs_status
live_run_phase(struct live_job *job, const char *phase, uint32_t group, struct mrs_view set, struct mrs_err *e)
{
    struct mrs_buf set_buf, unset_buf;
    struct mrs_view set_doc, unset, u;
    struct mrs_arena a;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&set_buf, job->mem, 2 * MRS_DOC_READ_MAX);
    mrs_buf_init(&unset_buf, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = stages_of(set, &set_buf, &unset_buf, &set_doc, &unset, e);
    if (s == MRS_OK) {
        s = live_lease_keep(job, e);
    }
    if (s == MRS_OK) {
        s = phase_update(job, phase, group, set_doc, unset, &a, &u, e);
    }
    if (s == MRS_OK) {
        LIVE_STOP("before-phase");
        s = move(job, u, e);
        LIVE_STOP("after-phase");
    }
    mrs_buf_clear(&unset_buf);
    mrs_buf_clear(&set_buf);
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_run_set(struct live_job *job, struct mrs_view set, struct mrs_err *e)
{
    return live_run_phase(job, job->run->phase, job->run->group, set, e);
}

/* The list `colls` less one namespace, and with it again where uuid is not "". */
static enum mrs_status
other_colls(struct live_job *job, const char *ns, const char *uuid, struct mrs_buf *buf, struct mrs_view *out,
            struct mrs_err *e)
{
    struct mrs_val list = live_at(live_run_doc(job->run), "colls");
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0;
    char digits[12];
    mrs_build_init(&b, buf);
    mrs_walk_init(&w, list.type == MRS_ARRAY ? mrs_val_view(list) : mrs_empty_doc());
    while (mrs_walk_next(&w, &el) == 1) {
        if (el.v.type == MRS_DOCUMENT && !mrs_val_is_text(live_at(mrs_val_view(el.v), "ns"), ns)) {
            uint32_t k = mrs_index_name(digits, n++);
            mrs_build_val(&b, digits, k, el.v);
        }
    }
    if (uuid[0]) {
        uint32_t k = mrs_index_name(digits, n);
        mrs_build_open(&b, digits, k, MRS_DOCUMENT);
        mrs_build_text(&b, "ns", ns, (uint32_t)strlen(ns));
        mrs_build_text(&b, "uuid", uuid, (uint32_t)strlen(uuid));
        mrs_build_close(&b);
    }
    return mrs_build_finish(&b, out, e);
}

enum mrs_status
live_run_watch(struct live_job *job, const struct mrs_coll *coll, bool on, struct mrs_err *e)
{
    char uuid[40] = "";
    struct mrs_buf buf;
    struct mrs_arena a;
    struct mrs_view colls, u;
    mrs_arena_init(&a, job->mem);
    mrs_buf_init(&buf, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = on ? live_server_uuid(job->link, coll, uuid, e) : MRS_OK;
    if (s >= MRS_OK) {
        s = other_colls(job, coll->ns, uuid, &buf, &colls, e);
    }
    if (s == MRS_OK) {
        s = live_doc_in(&a, &u, e, "[{$set: {colls: {$literal: %a}}}]", colls);
    }
    if (s == MRS_OK) {
        s = move(job, u, e);
    }
    mrs_buf_clear(&buf);
    mrs_arena_clear(&a);
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* phase.c - updates of the run document: phases, and the collections whose identity is checked.
 *
 * The filter of each write holds our owner and epoch, so a process that has lost a run cannot change it. Fields that
 * other modules store in the run document (claims, validators) are written with the phase in one update: a run is never
 * found in a phase without its data. Does not interpret the fields. */
#include "state_io.h"

#include "live/server/server.h"

#include <stdio.h>

/* an update being built: documents of its operators */
struct change {
    struct mrs_buf buf[3];
    struct mrs_build set, unset, date; /* $set, $unset, $currentDate */
    struct mrs_view v[3];
};

static void
change_begin(struct change *c, struct mrs_mem *mem)
{
    struct mrs_build *all[] = {&c->set, &c->unset, &c->date};
    for (int i = 0; i < 3; i++) {
        mrs_buf_init(&c->buf[i], mem, 2 * MRS_DOC_READ_MAX);
        mrs_build_init(all[i], &c->buf[i]);
    }
}

static enum mrs_status
change_finish(struct change *c, struct mrs_err *e)
{
    enum mrs_status s = mrs_build_finish(&c->set, &c->v[0], e);
    MRS_THEN(s, mrs_build_finish(&c->unset, &c->v[1], e));
    return s == MRS_OK ? mrs_build_finish(&c->date, &c->v[2], e) : s;
}

static void
change_clear(struct change *c)
{
    for (int i = 0; i < 3; i++) {
        mrs_buf_clear(&c->buf[i]);
    }
}

/* Adds the fields of `set`: null removes a field, LIVE_SERVER_TIME becomes the server's time. */
static void
fields_of(struct mrs_view set, struct change *c)
{
    MRS_ASSERT(set.n == 0 || mrs_view_is_framed(set));
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, set.n ? set : mrs_empty_doc());
    while (mrs_walk_next(&w, &el) == 1) {
        if (el.v.type == MRS_NULL) {
            mrs_build_text(&c->unset, el.name, "", 0);
        } else if (mrs_val_is_text(el.v, LIVE_SERVER_TIME)) {
            mrs_build_bool(&c->date, el.name, true);
        } else {
            mrs_build_elem(&c->set, &el);
        }
    }
}

/* Updates our run; it must match. Then reloads the document. */
static enum mrs_status
move(struct live_job *job, struct mrs_view u, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct live_run *r = job->run;
    struct live_state_change c = {.u = mrs_view_val(u)};
    struct mrs_arena a;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &c.q, e, "{_id: {$eq: %s}, owner: %s, epoch: %I}", r->id, r->owner, r->epoch);
    MRS_THEN(s, live_state_update(job, &r->state_runs, &c, NULL, e));
    mrs_arena_clear(&a);
    if (s == MRS_OK && c.matched != 1) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                        "run %s was taken over by another process, nothing more is written here",
                        r->short_id);
    }
    MRS_THEN(s, live_run_load(job, e));
    return s == MRS_END ? mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "run %s was removed at this moment", r->short_id) : s;
}

/* The phase, the time since which derived data may be stale, and a line of history. */
static enum mrs_status
phase_update(struct live_job *job, const char *phase, uint32_t group, struct mrs_view set, struct change *c,
             struct mrs_arena *a, struct mrs_view *u, struct mrs_err *e)
{
    MRS_ASSERT(phase);
    struct live_run *r = job->run;
    struct mrs_val unset = mrs_missing();
    int64_t now = 0;
    char what[48];
    snprintf(what, sizeof what, "%s %u", phase, group);
    fields_of(set, c);
    mrs_build_text(&c->set, "phase", phase, (uint32_t)strlen(phase));
    mrs_build_i32(&c->set, "group", (int32_t)group);
    mrs_build_i64(&c->set, "refused", (int64_t)r->n_refused);
    mrs_build_bool(&c->date, "updated", true);
    if (strncmp(phase, "expand", 6) == 0 && mrs_is_nullish(live_at(live_run_doc(r), "stale_since"))) {
        mrs_build_bool(&c->date, "stale_since", true);
    }
    enum mrs_status s = change_finish(c, e);
    MRS_THEN(s, live_state_now(job, &now, e));
    if (s == MRS_OK) {
        unset = c->v[1].n > MRS_DOC_MIN ? mrs_view_val(c->v[1]) : unset;
        s = live_doc_in(a, u, e,
                        "{$set: %d, $currentDate: %d, $unset: %v, $push: {history: {$each: [{at: %t, what: %s, owner: "
                        "%s}], $slice: -100}}}",
                        c->v[0], c->v[2], unset, now, what, r->owner);
    }
    return s;
}

enum mrs_status
live_run_phase(struct live_job *job, const char *phase, uint32_t group, struct mrs_view set, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct change c;
    struct mrs_view u;
    struct mrs_arena a;
    mrs_arena_init(&a, job->mem);
    change_begin(&c, job->mem);
    enum mrs_status s = live_lease_keep(job, e);
    MRS_THEN(s, phase_update(job, phase, group, set, &c, &a, &u, e));
    if (s == MRS_OK) {
        LIVE_STOP("before-phase");
        s = move(job, u, e);
        LIVE_STOP("after-phase");
    }
    change_clear(&c);
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_run_set(struct live_job *job, struct mrs_view set, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    return live_run_phase(job, job->run->phase, job->run->group, set, e);
}

/* The list `colls` without one namespace; with its new entry if uuid is not "". */
static enum mrs_status
other_colls(struct live_job *job, const char *ns, const char *uuid, struct mrs_buf *buf, struct mrs_view *out,
            struct mrs_err *e)
{
    MRS_ASSERT(job->run && ns[0]);
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
    MRS_ASSERT(job->run);
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
        s = live_doc_in(&a, &u, e, "{$set: {colls: %a}}", colls);
    }
    MRS_THEN(s, move(job, u, e));
    mrs_buf_clear(&buf);
    mrs_arena_clear(&a);
    return s;
}

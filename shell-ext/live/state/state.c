/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - the run document: creates, finds, checks it against the server, and opens the run.
 *
 * A run is identified by the id of its plan, so calling it again resumes it. Everything that must not change during a
 * run is in its document (plan, mode, server, uuids of collections) and is compared whenever it is opened: each
 * difference is refused with a message that says what to do. Opening increments the run's epoch under the leases, and
 * every state document contains it: the filters of an owner that resumes after its lease has expired match nothing.
 * Does not depend on the meaning of phases, except which of them end a run. */
#include "ranges.h"
#include "state_io.h"

#include "live/server/server.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- names ---- */
static bool
state_coll(struct live_job *job, const char *name, const char *suffix, struct mrs_coll *out)
{
    struct mrs_arena *a = &job->run->arena;
    const char *db = live_state_db(job);
    size_t n = strlen(db), k = strlen(name), x = strlen(suffix);
    char *ns = mrs_arena_alloc(a, n + 1 + k + x + 1), *own_db = mrs_arena_copy(a, db, n + 1);
    if (!ns || !own_db) {
        return false;
    }
    memcpy(ns, db, n);
    ns[n] = '.';
    memcpy(ns + n + 1, name, k);
    memcpy(ns + n + 1 + k, suffix, x + 1);
    *out = (struct mrs_coll){own_db, ns + n + 1, ns};
    return true;
}

/* host:pid:random; the host without special characters. */
static enum mrs_status
owner_name(char out[64], struct mrs_err *e)
{
    char host[33];
    uint8_t random[8];
    if (gethostname(host, sizeof host) != 0) {
        host[0] = 0;
    }
    host[sizeof host - 1] = 0;
    for (char *p = host; *p; p++) {
        *p = isalnum((unsigned char)*p) || *p == '.' ? *p : '-';
    }
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_IO, "the system gives no random bytes");
    }
    snprintf(out, 64, "%s:%ld:%016llx", host[0] ? host : "host", (long)getpid(),
             (unsigned long long)mrs_le64(random));
    return MRS_OK;
}

enum mrs_status
live_run_new(struct live_job *job, const char *id, struct mrs_err *e)
{
    MRS_ASSERT(!job->run && id[0] && strlen(id) < sizeof job->run->id);
    struct live_run *r = mrs_zalloc(job->mem, sizeof *r);
    MRS_TRY(mrs_allocated(r, sizeof *r, e));
    job->run = r;
    mrs_arena_init(&r->arena, job->mem);
    mrs_buf_init(&r->doc, job->mem, 2 * MRS_DOC_READ_MAX);
    snprintf(r->id, sizeof r->id, "%s", id);
    snprintf(r->short_id, sizeof r->short_id, "%.12s", id);
    r->lease_ms = job->opts.lease_ms > 0 ? job->opts.lease_ms : 30000;
    r->sharers = 1;
    r->generation = live_link_generation(job->link);
    r->breathed_ms = r->uuid_checked_ms = mrs_clock_asleep();
    r->shown.phase = r->shown_phase;
    r->shown.ns = r->shown_ns;
    r->shown.limiting = r->shown.why = "";
    live_governor_init(&r->governor);
    if (!state_coll(job, "runs", "", &r->state_runs) || !state_coll(job, "leases", "", &r->state_leases) ||
        !state_coll(job, "checkpoints", "", &r->state_checkpoints) ||
        !state_coll(job, "refused", "", &r->state_refused) || !state_coll(job, "swept", "", &r->state_stale) ||
        !state_coll(job, "changes_", r->short_id, &r->state_changes)) {
        return mrs_err_memory(e, 256);
    }
    enum mrs_status s = owner_name(r->owner, e);
    memcpy(r->leader, r->owner, sizeof r->leader);
    return s;
}

void
live_run_close(struct live_job *job)
{
    struct live_run *r = job->run;
    if (r) {
        if (r->shares) {
            r->leaving = true;
            (void)live_ranges_seal(job, r->id, NULL); /* else the process that takes over the leases does it */
            r->leaving = false;
        }
        live_range_leave(job);
        live_lease_release(job);
        mrs_buf_clear(&r->doc);
        mrs_arena_clear(&r->arena);
        mrs_free(job->mem, r);
        job->run = NULL;
    }
}

/* ---- the document ---- */
struct mrs_view
live_run_doc(const struct live_run *r)
{
    struct mrs_view d = {r->doc.p, (uint32_t)r->doc.n};
    return r->doc.n ? d : mrs_empty_doc();
}

bool
live_phase_over(const char *phase)
{
    return strcmp(phase, "done") == 0 || strcmp(phase, "rolled back") == 0;
}

bool
live_run_in(const struct live_job *job, const char *phase)
{
    return job->run && strcmp(job->run->phase, phase) == 0;
}

struct mrs_hash128
live_run_hash(const struct live_job *job, struct mrs_view doc)
{
    const struct live_run *r = job->run;
    if (r && !r->keyed) {
        return mrs_hash(doc.p, doc.n, 0);
    }
    return mrs_hash_secret(r ? &r->secret : &job->secret, 0, doc.p, doc.n);
}

static enum mrs_status
read_secret(struct live_run *r, struct mrs_err *e)
{
    struct mrs_val v = mrs_doc_get(live_run_doc(r), "secret");
    const uint32_t head = 5; /* length and subtype of the binary value */
    r->keyed = v.type != MRS_MISSING;
    if (r->keyed && (v.type != MRS_BINARY || v.n != head + MRS_SECRET)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_FORMAT,
                           "the run document %s is damaged: its secret is no binary of %d bytes; `abort --clean` ends "
                           "the run", r->short_id, MRS_SECRET);
    }
    if (r->keyed) {
        mrs_secret_expand(&r->secret, v.p + head);
    }
    return MRS_OK;
}

static void
read_control(struct mrs_view d, struct live_control *c)
{
    c->pause = live_bool_at(d, "control.pause", false);
    c->docs_per_s = (uint64_t)live_int_at(d, "control.docs", 0);
    c->bytes_per_s = (uint64_t)live_int_at(d, "control.bytes", 0);
    c->sleep_ms = live_int_at(d, "control.sleep", 0);
    live_text_at(d, "control.max_lag", c->texts.max_lag, sizeof c->texts.max_lag);
    live_text_at(d, "control.max_latency", c->texts.max_latency, sizeof c->texts.max_latency);
    live_text_at(d, "control.max_load", c->texts.max_load, sizeof c->texts.max_load);
    live_text_at(d, "control.critical_load", c->texts.critical_load, sizeof c->texts.critical_load);
    live_text_at(d, "control.hours", c->texts.hours, sizeof c->texts.hours);
}

enum mrs_status
live_run_load(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run && job->run->id[0]);
    struct live_run *r = job->run;
    struct mrs_arena a;
    struct mrs_view q;
    mrs_arena_init(&a, job->mem);
    mrs_buf_reset(&r->doc);
    enum mrs_status s = live_doc_in(&a, &q, e, "{_id: {$eq: %s}}", r->id);
    MRS_THEN(s, live_state_read(job, &r->state_runs, q, &r->doc, e));
    mrs_arena_clear(&a);
    if (s == MRS_OK) {
        struct mrs_view d = live_run_doc(r);
        live_text_at(d, "phase", r->phase, sizeof r->phase);
        r->group = (uint32_t)live_int_at(d, "group", 0);
        read_control(d, &r->control);
        r->control_read_ms = mrs_clock_asleep();
        s = read_secret(r, e);
    }
    return s;
}

/* ---- collections of the plan ---- */
static bool
among(const struct live_touched *t, const char *ns)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (strcmp(t->coll[i]->ns, ns) == 0) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
touched_of(struct live_job *job, struct live_touched *t, struct mrs_err *e)
{
    MRS_ASSERT(job->plan && job->run);
    const struct mrs_plan *p = job->plan;
    size_t room = 1;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        room += p->steps[i].desc.n_sides;
    }
    t->n = 0;
    t->coll = mrs_arena_alloc(&job->run->arena, room * sizeof *t->coll);
    MRS_TRY(mrs_allocated(t->coll, room * sizeof *t->coll, e));
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct mrs_desc *d = &p->steps[i].desc;
        for (uint32_t k = 0; k < d->n_sides; k++) {
            if (!among(t, d->sides[k].coll.ns)) {
                t->coll[t->n++] = &d->sides[k].coll;
            }
        }
    }
    return MRS_OK;
}

static struct mrs_coll
split_ns(const char *ns, char room[64])
{
    const char *dot = strchr(ns, '.');
    size_t n = dot ? (size_t)(dot - ns) : 0;
    n = n < 63 ? n : 63;
    memcpy(room, ns, n);
    room[n] = 0;
    return (struct mrs_coll){room, dot ? dot + 1 : ns, ns};
}

/* Compares one entry of `colls` with the current collection. */
static enum mrs_status
same_uuid(struct live_job *job, struct mrs_view entry, struct mrs_err *e)
{
    char ns[256], noted[40], now[40] = "", db[64];
    live_text_at(entry, "ns", ns, sizeof ns);
    live_text_at(entry, "uuid", noted, sizeof noted);
    struct mrs_coll coll = split_ns(ns, db);
    if (!noted[0]) {
        return MRS_OK;
    }
    enum mrs_status s = live_server_uuid(job->link, &coll, now, e);
    if (s < MRS_OK || strcmp(noted, now) == 0) {
        return s;
    }
    job->run->elsewhere = true;
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                       "%s is not the collection that this run began with (it was %s, %s%s): it was dropped, renamed "
                       "or restored; rename the old one back, or remove this run with `abort --clean` and start over",
                       ns, noted, now[0] ? "now " : "now it is missing", now);
}

enum mrs_status
live_run_uuids(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct mrs_val list = live_at(live_run_doc(job->run), "colls");
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = MRS_OK;
    if (list.type != MRS_ARRAY) {
        return MRS_OK;
    }
    mrs_walk_init(&w, mrs_val_view(list));
    while (s == MRS_OK && mrs_walk_next(&w, &el) == 1) {
        if (el.v.type == MRS_DOCUMENT) {
            s = same_uuid(job, mrs_val_view(el.v), e);
        }
    }
    job->run->uuid_checked_ms = mrs_clock_asleep();
    return s;
}

/* ---- does the existing run fit this call ---- */
/* "7.0.5" and "7.0.12" are one version: patches do not change the behaviour that we rely on. */
static bool
same_version(const char *a, const char *b)
{
    int dots = 0;
    for (; *a && *a == *b && dots < 2; a++, b++) {
        dots += *a == '.';
    }
    return dots >= 2 || ((*a == 0 || *a == '.') && (*b == 0 || *b == '.'));
}

static enum mrs_status
same_server(struct live_job *job, struct mrs_err *e)
{
    char was[64];
    struct mrs_view d = live_run_doc(job->run);
    const struct live_server *now = job->server;
    live_text_at(d, "topology", was, sizeof was);
    if (strcmp(was, live_topology_name(job)) != 0) {
        job->run->elsewhere = true;
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "this run began on a %s and the server is a %s now: checkpoints of the one are not safe on "
                           "the other; start the server as it was, or remove this run with `abort --clean` and start "
                           "over",
                           was, live_topology_name(job));
    }
    if (!now) {
        return MRS_OK;
    }
    live_text_at(d, "set", was, sizeof was);
    if (strcmp(was, now->set_name) != 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "this run belongs to the replica set \"%s\", not to \"%s\": "
                           "check the URI", was, now->set_name);
    }
    live_text_at(d, "version", was, sizeof was);
    if (!same_version(was, now->version)) {
        job->run->elsewhere = true;
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "this run began on version %s and the server is %s now: finish it or roll it back on the "
                           "version it began with, or remove it with `abort --clean` and start over",
                           was, now->version);
    }
    live_text_at(d, "fcv", was, sizeof was);
    if (strcmp(was, now->fcv) != 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "this run began with featureCompatibilityVersion %s and it is %s now: set it back until the "
                           "run has ended",
                           was, now->fcv);
    }
    return MRS_OK;
}

enum mrs_status
live_run_here(struct live_job *job, bool *here, struct mrs_err *e)
{
    MRS_ASSERT(job->run && here);
    struct mrs_err why;
    mrs_err_clear(&why);
    enum mrs_status s = same_server(job, &why);
    MRS_THEN(s, live_run_uuids(job, &why));
    *here = !job->run->elsewhere;
    if (s != MRS_OK && *here) {
        *e = why;
    }
    return *here ? s : MRS_OK;
}

/* `apply` called again: only with the mode of the run, and only while it is an apply. */
static enum mrs_status
same_call(struct live_job *job, struct mrs_err *e)
{
    char mode[16], quiet[16];
    struct live_run *r = job->run;
    live_text_at(live_run_doc(r), "mode", mode, sizeof mode);
    live_text_at(live_run_doc(r), "quiet_by", quiet, sizeof quiet);
    if (live_phase_over(r->phase)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_EXISTS,
                           "run %s of this plan is %s already, nothing was changed (`status` shows it); to run the "
                           "plan again, remove this run with `abort --clean`",
                           r->short_id, r->phase);
    }
    if (strncmp(r->phase, "contract", 8) == 0 || strncmp(r->phase, "roll", 4) == 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE,
                           "run %s is in phase \"%s\", which cannot be undone: continue with "
                           "`%s`", r->short_id, r->phase,
                           r->phase[0] == 'c' ? "contract" : "rollback");
    }
    if (strcmp(mode, live_mode_name(job->opts.mode)) != 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "run %s was begun with --mode %s: continue with the same",
                           r->short_id, mode);
    }
    if (strcmp(quiet, live_quiet_name(job->opts.quiet)) != 0) {
        bool none = strcmp(quiet, "none") == 0;
        return mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "run %s was begun %s%s: continue with the same", r->short_id,
                           none ? "without --quiet-by" : "with --quiet-by ", none ? "" : quiet);
    }
    return MRS_OK;
}

static enum mrs_status
fits(struct live_job *job, bool create, struct mrs_err *e)
{
    MRS_ASSERT(job->run->doc.n > 0);
    enum mrs_status s = create ? same_call(job, e) : MRS_OK;
    int64_t now = live_date_at(live_run_doc(job->run), "now", job->plan->now_ms);
    if (s == MRS_OK && now != job->plan->now_ms) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "the plan was not loaded with $$NOW of its run");
    }
    MRS_THEN(s, same_server(job, e));
    return s == MRS_OK && !live_phase_over(job->run->phase) ? live_run_uuids(job, e) : s;
}

void
live_run_allowed(struct live_job *job)
{
    MRS_ASSERT(job->run);
    struct mrs_view d = live_run_doc(job->run);
    job->opts.allow_scan |= live_bool_at(d, "options.allow_scan", false);
    job->opts.allow_ttl |= live_bool_at(d, "options.allow_ttl", false);
}

/* A command that resumes a run takes its options from the run document. */
static void
take_options(struct live_job *job)
{
    MRS_ASSERT(job->run);
    char text[16];
    struct mrs_view d = live_run_doc(job->run);
    live_text_at(d, "mode", text, sizeof text);
    job->opts.mode = strcmp(text, "direct") == 0 ? LIVE_DIRECT : LIVE_EXPAND;
    live_text_at(d, "quiet_by", text, sizeof text);
    for (int q = LIVE_BY_BLOCK; job->opts.quiet == LIVE_NOT_QUIET && q <= LIVE_BY_WORD; q++) {
        if (strcmp(text, live_quiet_name((enum live_quiet)q)) == 0) {
            job->opts.quiet = (enum live_quiet)q;
        }
    }
    live_run_allowed(job);
    job->opts.keep_before |= live_bool_at(d, "options.keep_before", false);
    job->opts.no_transactions |= live_bool_at(d, "options.no_transactions", false);
    if (job->opts.max_refused == 0) {
        job->opts.max_refused = (uint64_t)live_int_at(d, "options.max_refused", 0);
    }
}

/* ---- open ---- */
/* Increments the epoch. Only for the holder of the leases. */
static enum mrs_status
new_epoch(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(!job->run->worker);
    struct live_run *r = job->run;
    struct live_state_change c = {0};
    struct mrs_arena a;
    struct mrs_view u;
    int64_t before = live_int_at(live_run_doc(r), "epoch", 0), now = 0;
    bool started = live_at(live_run_doc(r), "started").type == MRS_DATE;
    uint8_t room[16];
    mrs_arena_init(&a, job->mem);
    r->epoch = before + 1;
    enum mrs_status s = live_doc_in(&a, &c.q, e, "{_id: {$eq: %s}, epoch: %I}", r->id, before);
    MRS_THEN(s, live_state_now(job, &now, e));
    if (s == MRS_OK) {
        s = live_doc_in(&a, &u, e,
                        "{$set: {epoch: %I, owner: %s}, $currentDate: {updated: true, started: %v}, $push: {history: "
                        "{$each: [{at: %t, what: 'opened', owner: %s}], $slice: -100}}}",
                        r->epoch, r->owner, started ? mrs_missing() : mrs_make_bool(room, true), now, r->owner);
    }
    if (s == MRS_OK) {
        c.u = mrs_view_val(u);
        s = live_state_update(job, &r->state_runs, &c, NULL, e);
    }
    mrs_arena_clear(&a);
    if (s == MRS_OK) {
        s = live_run_load(job, e); /* decides, also if the reply was lost */
    }
    char owner[64] = "";
    live_text_at(live_run_doc(r), "owner", owner, sizeof owner);
    if (s == MRS_END || (s == MRS_OK && strcmp(owner, r->owner) != 0)) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "run %s was opened or removed by another process at this moment",
                           r->short_id);
    }
    return s;
}

/* Sets our epoch in all checkpoints at once: the filters of a former owner match none. */
static enum mrs_status
fence(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run->epoch > 0);
    struct live_run *r = job->run;
    struct live_state_change c = {.many = true};
    struct mrs_arena a;
    struct mrs_view u;
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &c.q, e, "{run: %s, epoch: {$lt: %I}}", r->id, r->epoch);
    if (s == MRS_OK) {
        s = live_doc_in(&a, &u, e, "{$set: {epoch: %I, owner: %s}}", r->epoch, r->owner);
    }
    if (s == MRS_OK) {
        c.u = mrs_view_val(u);
        s = live_state_update(job, &r->state_checkpoints, &c, NULL, e);
    }
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
live_run_fence(struct live_job *job, struct mrs_err *e)
{
    enum mrs_status s = live_ranges_seal(job, job->run->id, e);
    MRS_THEN(s, new_epoch(job, e));
    return s == MRS_OK ? fence(job, e) : s;
}

static enum mrs_status
read_existing(struct live_job *job, bool create, struct mrs_err *e)
{
    enum mrs_status s = live_run_load(job, e);
    if (s == MRS_END && !create) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_MISSING,
                           "there is no run of this plan in the state database %s: `apply PLAN --execute` begins it",
                           live_state_db(job));
    }
    return s == MRS_OK ? fits(job, create, e) : s;
}

static enum mrs_status
open_under_leases(struct live_job *job, bool create, const char *text, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(job->run->n_leases == 0);
    struct live_touched t;
    enum mrs_status s = touched_of(job, &t, e);
    MRS_THEN(s, read_existing(job, create, e));
    if (s >= MRS_OK) {
        s = live_lease_take(job, t.coll, t.n, e);
    }
    if (s == MRS_OK) {
        s = read_existing(job, create, e); /* again: another process may have finished it meanwhile */
    }
    if (s == MRS_END) {
        s = live_run_create(job, &t, text, n, e);
    }
    MRS_THEN(s, live_run_fence(job, e));
    return s == MRS_OK ? live_refused_count(job, &job->run->n_refused, e) : s;
}

enum mrs_status
live_run_would_open(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(!job->run && job->plan);
    struct live_touched t;
    char id[33];
    mrs_plan_id_text(job->plan, id);
    enum mrs_status s = live_run_new(job, id, e);
    MRS_THEN(s, touched_of(job, &t, e));
    MRS_THEN(s, read_existing(job, true, e));
    s = s == MRS_END ? live_run_alone(job, &t, e) : s;
    live_run_close(job);
    return s;
}

enum mrs_status
live_run_open(struct live_job *job, bool create, const char *plan_text, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(!job->run && job->plan);
    char id[33], comment[128];
    mrs_plan_id_text(job->plan, id);
    enum mrs_status s = live_run_new(job, id, e);
    if (s == MRS_OK) {
        live_lease_comment(id, job->run->owner, comment);
        live_link_mark(job->link, comment);
        s = open_under_leases(job, create, plan_text, n, e);
    }
    if (s != MRS_OK) {
        live_run_close(job);
        return s;
    }
    take_options(job);
    return MRS_OK;
}

/* A worker writes into collections only in transactions that begin with a write to its range. */
static enum mrs_status
not_fenced(void *arg, struct mrs_err *e)
{
    (void)arg;
    return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "a worker writes outside of its range's transactions");
}

enum mrs_status
live_run_join(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->plan);
    char id[33], comment[128];
    mrs_plan_id_text(job->plan, id);
    live_run_close(job);
    enum mrs_status s = live_run_new(job, id, e);
    MRS_THEN(s, live_run_load(job, e));
    if (s == MRS_OK && (strncmp(job->run->phase, "expand", 6) != 0 || live_phase_over(job->run->phase) ||
                        live_run_in(job, "expanded"))) {
        s = MRS_END;
    }
    MRS_THEN(s, fits(job, true, e));
    if (s == MRS_OK) {
        struct live_run *r = job->run;
        r->worker = true;
        r->epoch = live_int_at(live_run_doc(r), "epoch", 0);
        live_text_at(live_run_doc(r), "owner", r->leader, sizeof r->leader);
        live_lease_comment(id, r->owner, comment);
        live_link_mark(job->link, comment);
        live_link_check_before_writes(job->link, not_fenced, NULL);
        take_options(job);
        s = live_refused_count(job, &r->n_refused, e);
    }
    return s;
}

enum mrs_status
live_run_moment(struct live_job *job, int64_t *now_ms, struct mrs_err *e)
{
    MRS_ASSERT(job->plan);
    char id[33];
    struct live_run *kept = job->run;
    mrs_plan_id_text(job->plan, id);
    job->run = NULL;
    enum mrs_status s = live_run_new(job, id, e);
    MRS_THEN(s, live_run_load(job, e));
    if (s == MRS_OK) {
        *now_ms = live_date_at(live_run_doc(job->run), "now", 0);
    }
    live_run_close(job);
    job->run = kept;
    return s;
}

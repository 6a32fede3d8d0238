/* SPDX-License-Identifier: Apache-2.0 */
/* pressure.c - the load of the server: lag, flow control, tickets, load.
 *
 * Lag needs no privilege: hello of each member contains its last write. Only members that the primary lists as `hosts`
 * count, since hidden and delayed ones lag by design. The rest is in serverStatus, if the user may read it. A figure
 * that a server never reports is ignored; one that it reported and then stops reporting stops the run, and so does a
 * missing load that the user named. */
#include "pressure.h"

#include "live/link/bson.h"
#include "mongoreshape/clock.h"

#include <math.h>
#include <stdio.h>

enum { HELLOS_MAX = 16 << 20, CRITICAL_LOOKS = 2, UNKNOWN_COMMAND = 59 };
static const double tickets_most = 0.9;

/* ---- parse replies ---- */
/* A finite number of any numeric type. */
static bool
number_at(struct mrs_view d, const char *path, double *out)
{
    struct mrs_val v = live_at(d, path);
    int64_t n;
    if (v.type == MRS_DOUBLE) {
        *out = mrs_val_double(v);
    } else if (mrs_val_integral(v, &n)) {
        *out = (double)n;
    } else {
        return false;
    }
    return isfinite(*out);
}

static bool
date_at(struct mrs_view d, const char *path, int64_t *ms)
{
    struct mrs_val v = live_at(d, path);
    *ms = v.type == MRS_DATE ? mrs_val_i64(v) : 0;
    return v.type == MRS_DATE;
}

/* The next document in hellos; they were validated on arrival. */
static bool
next_hello(const struct mrs_buf *hellos, size_t *at, struct mrs_view *out)
{
    MRS_ASSERT(*at <= hellos->n);
    if (hellos->n - *at < MRS_DOC_MIN) {
        return false;
    }
    out->p = hellos->p + *at;
    out->n = mrs_le32(out->p);
    *at += out->n;
    return true;
}

static bool
find_primary(const struct mrs_buf *hellos, struct mrs_view *out)
{
    for (size_t at = 0; next_hello(hellos, &at, out);) {
        if (live_bool_at(*out, "isWritablePrimary", live_bool_at(*out, "ismaster", false))) {
            return true;
        }
    }
    return false;
}

static bool
is_host(struct mrs_view primary, struct mrs_val name)
{
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_walk_init(&w, live_doc_of(live_at(primary, "hosts")));
    while (name.type == MRS_STRING && mrs_walk_next(&w, &el) > 0) {
        if (mrs_identical(el.v, name)) {
            return true;
        }
    }
    return false;
}

static uint32_t
count_hosts(struct mrs_view primary)
{
    struct mrs_walk w;
    struct mrs_elem el;
    uint32_t n = 0;
    mrs_walk_init(&w, live_doc_of(live_at(primary, "hosts")));
    while (mrs_walk_next(&w, &el) > 0) {
        n++;
    }
    return n;
}

static void
behind(int64_t newest, int64_t of_member, double *lag)
{
    double s = ((double)newest - (double)of_member) / 1000;
    *lag = s > *lag ? s : *lag;
}

bool
live_lag_of_hellos(const struct mrs_buf *hellos, double *lag, uint32_t *missing)
{
    struct mrs_view primary, one;
    int64_t newest, then;
    uint32_t seen = 0;
    *lag = 0;
    if (!find_primary(hellos, &primary) || !date_at(primary, "lastWrite.lastWriteDate", &newest)) {
        return false;
    }
    if (date_at(primary, "lastWrite.majorityWriteDate", &then)) {
        behind(newest, then, lag);
    }
    for (size_t at = 0; next_hello(hellos, &at, &one);) {
        if (is_host(primary, live_at(one, "me")) && date_at(one, "lastWrite.lastWriteDate", &then)) {
            behind(newest, then, lag);
            seen++;
        }
    }
    uint32_t hosts = count_hosts(primary);
    *missing = hosts > seen ? hosts - seen : 0;
    return true;
}

bool
live_lag_of_status(struct mrs_view status, const struct mrs_buf *hellos, double *lag)
{
    enum { IS_PRIMARY = 1, IS_SECONDARY = 2 };
    struct mrs_view primary, members = live_doc_of(live_at(status, "members"));
    struct mrs_walk w;
    struct mrs_elem el;
    int64_t newest = INT64_MIN, then;
    *lag = 0;
    if (!find_primary(hellos, &primary)) {
        return false;
    }
    for (mrs_walk_init(&w, members); mrs_walk_next(&w, &el) > 0;) {
        if (live_int_at(live_doc_of(el.v), "state", 0) == IS_PRIMARY) {
            date_at(live_doc_of(el.v), "optimeDate", &newest);
        }
    }
    for (mrs_walk_init(&w, members); newest > 0 && mrs_walk_next(&w, &el) > 0;) {
        struct mrs_view m = live_doc_of(el.v);
        if (live_int_at(m, "state", 0) == IS_SECONDARY && live_bool_at(m, "health", false) &&
            is_host(primary, live_at(m, "name")) && date_at(m, "optimeDate", &then)) {
            behind(newest, then, lag);
        }
    }
    return newest > 0;
}

/* The share of one kind of tickets in use, from where this version of the server reports it; 0 while no operation
 * waits. */
static bool
tickets(struct mrs_view status, const char *kind, const char *waiting, double *share)
{
    static const char *const places[] = {"queues.execution", "wiredTiger.concurrentTransactions"};
    char path[64];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        double out, left, queue = 0;
        snprintf(path, sizeof path, "%s.%s", places[i], kind);
        struct mrs_view t = live_doc_of(live_at(status, path));
        if (number_at(t, "out", &out) && number_at(t, "available", &left) && out >= 0 && left >= 0 && out + left > 0) {
            snprintf(path, sizeof path, "globalLock.currentQueue.%s", waiting);
            number_at(status, path, &queue);
            *share = queue > 0 ? out / (out + left) : 0;
            return true;
        }
    }
    return false;
}

static void
read_tickets(struct mrs_view status, struct live_reading *out)
{
    double writes = 0, reads = 0;
    out->known = tickets(status, "write", "writers", &writes);
    out->known = tickets(status, "read", "readers", &reads) || out->known;
    out->value = writes > reads ? writes : reads;
    out->limit = tickets_most;
}

const struct live_load *
live_load_missing(struct mrs_view status, const struct live_loads *loads)
{
    MRS_ASSERT(loads->n <= LIVE_LOADS);
    double value;
    for (uint32_t i = 0; i < loads->n; i++) {
        if (!number_at(status, loads->of[i].path, &value)) {
            return &loads->of[i];
        }
    }
    return NULL;
}

static void
read_load(struct mrs_view status, const struct live_loads *loads, struct live_readings *out)
{
    MRS_ASSERT(loads->n <= LIVE_LOADS);
    struct live_reading *r = &out->of[LIVE_SIGNAL_LOAD];
    for (uint32_t i = 0; i < loads->n; i++) {
        const struct live_load *l = &loads->of[i];
        double value;
        if (number_at(status, l->path, &value) && (!r->known || value / l->limit > r->value / r->limit)) {
            *r = (struct live_reading){.known = true, .value = value, .limit = l->limit};
            snprintf(out->load, sizeof out->load, "%s", l->path);
        }
    }
}

void
live_signals_of_status(struct mrs_view status, const struct live_watched *w, struct live_readings *out)
{
    struct live_reading *flow = &out->of[LIVE_SIGNAL_FLOW];
    flow->known = live_bool_at(status, "flowControl.enabled", false);
    flow->value = live_bool_at(status, "flowControl.isLagged", false);
    flow->limit = 1;
    read_tickets(status, &out->of[LIVE_SIGNAL_TICKETS]);
    read_load(status, &w->load, out);
}

const struct live_load *
live_load_reached(struct mrs_view status, const struct live_loads *loads, double *value)
{
    MRS_ASSERT(loads->n <= LIVE_LOADS);
    for (uint32_t i = 0; i < loads->n; i++) {
        if (number_at(status, loads->of[i].path, value) && *value >= loads->of[i].limit) {
            return &loads->of[i];
        }
    }
    return NULL;
}

/* ---- query the server ---- */
static void
note(const struct live_job *job, const char *line)
{
    if (job->print_line) {
        job->print_line(job->arg, line);
    }
}

/* A command on admin that may be forbidden or unknown: *available says which. OK also if it fails. */
static enum mrs_status
try_command(struct live_job *job, const char *template, struct mrs_buf *out, enum live_available *available,
            bool *denied, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view cmd;
    struct live_fault f;
    struct mrs_err own;
    *denied = false;
    mrs_err_clear(&own);
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = live_doc_in(&a, &cmd, e, template);
    if (s == MRS_OK) {
        s = live_command(job->link, "admin", cmd, 0, out, &f, &own);
        if (s == MRS_OK) {
            *available = LIVE_AVAILABLE;
        } else if (own.code == MRS_E_MEMORY) {
            s = mrs_err_set(e, s, own.code, "%s", own.msg);
        } else {
            s = MRS_OK;
            mrs_buf_reset(out);
            *denied = f.kind == LIVE_FAULT_DENIED;
            *available = *denied || f.code == UNKNOWN_COMMAND ? LIVE_UNAVAILABLE : *available;
        }
    }
    mrs_arena_clear(&a);
    return s;
}

static enum mrs_status
read_lag(struct live_job *job, struct live_signals *s, const struct live_watched *w, struct live_readings *out,
         struct mrs_err *e)
{
    MRS_ASSERT(w->lag_ms > 0);
    struct live_reading *r = &out->of[LIVE_SIGNAL_LAG];
    struct mrs_buf hellos, reply;
    struct mrs_err own;
    uint32_t missing = 0;
    bool denied = false;
    mrs_err_clear(&own);
    mrs_buf_init(&hellos, job->mem, HELLOS_MAX);
    mrs_buf_init(&reply, job->mem, HELLOS_MAX);
    enum mrs_status st = live_members(job->link, &hellos, &own);
    if (st != MRS_OK && own.code == MRS_E_MEMORY) {
        st = mrs_err_set(e, st, own.code, "%s", own.msg);
    } else if (st != MRS_OK) { /* as if no member had answered */
        mrs_buf_reset(&hellos);
        st = MRS_OK;
    }
    r->limit = (double)w->lag_ms / 1000;
    r->known = st == MRS_OK && live_lag_of_hellos(&hellos, &r->value, &missing);
    if (r->known && missing && s->members != LIVE_UNAVAILABLE) {
        double lag;
        st = try_command(job, "{replSetGetStatus: 1}", &reply, &s->members, &denied, e);
        struct mrs_view status = {reply.p, (uint32_t)reply.n};
        if (st == MRS_OK && reply.n && live_lag_of_status(status, &hellos, &lag)) {
            r->value = lag > r->value ? lag : r->value;
        }
    }
    if (denied) {
        note(job, "note: replication lag is known only of members that answer from here: for the others the user "
                  "lacks the privilege replSetGetStatus on the cluster");
    }
    mrs_buf_clear(&hellos);
    mrs_buf_clear(&reply);
    return st;
}

static enum mrs_status
judge_critical(struct live_signals *s, struct mrs_view status, const struct live_loads *critical, struct mrs_err *e)
{
    double value = 0;
    const struct live_load *l = live_load_reached(status, critical, &value);
    s->critical = l ? s->critical + 1 : 0;
    if (s->critical < CRITICAL_LOOKS) {
        return MRS_OK;
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                       "the server is under critical load: %s of serverStatus is %g, and --critical-load is %g; the "
                       "run ends after its last checkpoint; the same command resumes it",
                       l->path, value, l->limit);
}

static enum mrs_status
read_status(struct live_job *job, struct live_signals *s, const struct live_watched *w, struct live_readings *out,
            struct mrs_err *e)
{
    struct mrs_buf reply;
    bool denied;
    s->loads_reported = false;
    if (s->status == LIVE_UNAVAILABLE) {
        return MRS_OK;
    }
    mrs_buf_init(&reply, job->mem, HELLOS_MAX);
    enum mrs_status st = try_command(job, "{serverStatus: 1}", &reply, &s->status, &denied, e);
    struct mrs_view status = {reply.p, (uint32_t)reply.n};
    s->loads_reported = reply.n && !live_load_missing(status, &w->load) && !live_load_missing(status, &w->critical);
    if (st == MRS_OK && reply.n) {
        live_signals_of_status(status, w, out);
        st = judge_critical(s, status, &w->critical, e);
    }
    if (denied) {
        note(job, "note: flow control and tickets of the server are not known: the user lacks the privilege "
                  "serverStatus on the cluster");
    }
    mrs_buf_clear(&reply);
    return st;
}

/* A required figure that has been unknown for a while. */
static const char *
silent(struct live_signals *s, const struct live_watched *w, const struct live_readings *r)
{
    int64_t now = mrs_clock_asleep();
    bool loads = w->load.n || w->critical.n;
    s->lag_known_ms = r->of[LIVE_SIGNAL_LAG].known ? now : s->lag_known_ms;
    s->load_known_ms = s->loads_reported || !loads || !s->load_known_ms ? now : s->load_known_ms;
    return w->lag_ms && s->lag_known_ms && now - s->lag_known_ms >= LIVE_SILENT_MS ? "lag"
           : loads && now - s->load_known_ms >= LIVE_SILENT_MS                     ? "load"
                                                                                   : NULL;
}

enum mrs_status
live_signals_read(struct live_job *job, struct live_signals *s, const struct live_watched *w, struct live_readings *out,
                  struct mrs_err *e)
{
    enum mrs_status st = w->lag_ms && live_link_replicated(job->link) ? read_lag(job, s, w, out, e) : MRS_OK;
    MRS_THEN(st, read_status(job, s, w, out, e));
    out->silent = silent(s, w, out);
    return st;
}

enum mrs_status
live_loads_check(struct live_job *job, const struct live_watched *w, struct mrs_err *e)
{
    const struct live_loads *both[] = {&w->load, &w->critical};
    enum live_available available = LIVE_UNTRIED;
    struct mrs_buf reply;
    bool denied;
    if (!w->load.n && !w->critical.n) {
        return MRS_OK;
    }
    mrs_buf_init(&reply, job->mem, HELLOS_MAX);
    enum mrs_status st = try_command(job, "{serverStatus: 1}", &reply, &available, &denied, e);
    if (st == MRS_OK && available != LIVE_AVAILABLE) {
        st = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                         "--max-load and --critical-load need serverStatus: the server %s",
                         denied ? "does not let this user run it (privilege serverStatus on the cluster)"
                                : "gives no answer to it");
    }
    for (size_t i = 0; st == MRS_OK && i < 2; i++) {
        const struct live_load *l = live_load_missing((struct mrs_view){reply.p, (uint32_t)reply.n}, both[i]);
        if (l) {
            st = mrs_err_set(e, MRS_FAIL, MRS_E_USAGE, "--%s: serverStatus of this server has no number at `%s`",
                             i == 0 ? "max-load" : "critical-load", l->path);
        }
    }
    mrs_buf_clear(&reply);
    return st;
}

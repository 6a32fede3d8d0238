/* SPDX-License-Identifier: Apache-2.0 */
/* block.c - keeps writers out during a quiet run, and detects those that write anyway.
 *
 * A validator that no document satisfies stops all inserts and updates that do not bypass validation, as ours do; it
 * does not stop deletes. The original validator is in the run document before the first collection is blocked, so that
 * the next process can restore it. The watch is an additional detector: a change stream if available, else the server's
 * write counters; after our first write, the digests of the change list replace it. */
#include "live/link/bson.h"
#include "mongoreshape/ejson.h"
#include "block.h"
#include "live/server/server.h"
#include "live/state/state_io.h"

#include <stdio.h>

struct live_block {
    struct live_job *job;
    struct live_watch *watch;
    struct mrs_arena arena;
    const struct mrs_coll **coll; /* those that exist */
    int64_t *writes;              /* counters at enter; -1: unknown */
    uint32_t n;
};

/* ---- in the run document: blocked: {by: "validator", saved: BinData of [{ns, options}]} ---- */
static struct mrs_view
saved_list(struct live_job *job)
{
    struct mrs_val v = live_at(live_run_doc(job->run), "blocked.saved");
    bool good = v.type == MRS_BINARY && v.n > 5 && mrs_doc_check(v.p + 5, v.n - 5, MRS_DEPTH_READ, NULL) == MRS_OK;
    struct mrs_view d = {good ? v.p + 5 : NULL, good ? v.n - 5 : 0};
    return d;
}

static bool
is_blocked(struct live_job *job)
{
    return live_at(live_run_doc(job->run), "blocked").type == MRS_DOCUMENT;
}

/* Only the owner removes a block that the owner set before. */
static bool
blocked_by_owner(struct live_block *b)
{
    struct mrs_buf buf;
    struct mrs_view cmd;
    mrs_buf_init(&buf, b->job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc_in(&b->arena, &cmd, NULL, "{serverStatus: 1, repl: 1}");
    MRS_THEN(s, live_state_command(b->job, "admin", cmd, 0, &buf, NULL, NULL));
    struct mrs_view reply = {buf.p, (uint32_t)buf.n};
    bool on = s == MRS_OK && live_int_at(reply, "repl.userWriteBlockMode", 0) == 2;
    mrs_buf_clear(&buf);
    return on;
}

/* All runs share the server's block: the first run to end would let writers in on the other. */
static enum mrs_status
alone(struct live_block *b, struct mrs_err *e)
{
    struct live_job *job = b->job;
    struct mrs_buf found;
    struct mrs_view pipeline, other;
    size_t at = 0;
    char id[40];
    mrs_buf_init(&found, job->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = live_doc_in(&b->arena, &pipeline, e,
                                    "[{$match: {_id: {$ne: %s}, blocked.by: 'block'}}, {$limit: 1}, "
                                    "{$project: {_id: 1}}]", job->run->id);
    MRS_THEN(s, live_state_list(job, &job->run->state_runs, pipeline, &found, e));
    if (s == MRS_OK && live_state_next(&found, &at, &other)) {
        live_text_at(other, "_id", id, sizeof id);
        s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                        "run %s keeps writers out by setUserWriteBlockMode and would let them in when it ends: finish "
                        "it first (`status` shows it), then give this command again; nothing was changed", id);
    }
    mrs_buf_clear(&found);
    return s;
}

static enum mrs_status
way(struct live_block *b, const char **how, struct mrs_err *e)
{
    enum live_quiet q = b->job->opts.quiet;
    char by[16] = "";
    if (q == LIVE_NOT_QUIET) { /* as when the run began */
        live_text_at(live_run_doc(b->job->run), "quiet_by", by, sizeof by);
        q = strcmp(by, "validator") == 0 ? LIVE_BY_VALIDATOR : strcmp(by, "block") == 0 ? LIVE_BY_BLOCK : LIVE_BY_WORD;
    }
    enum mrs_status s = q == LIVE_BY_BLOCK ? alone(b, e) : MRS_OK;
    *how = q == LIVE_BY_VALIDATOR                                         ? "validator"
           : s == MRS_OK && q == LIVE_BY_BLOCK && !blocked_by_owner(b) ? "block"
                                                                          : "word";
    return s;
}

static enum mrs_status
note_blocked(struct live_block *b, struct mrs_err *e)
{
    struct live_job *job = b->job;
    struct mrs_buf buf;
    struct mrs_build list;
    struct mrs_view all, set = {NULL, 0};
    const char *how;
    MRS_TRY(way(b, &how, e));
    mrs_buf_init(&buf, job->mem, MRS_DOC_MAX);
    static const uint8_t frame[5] = {0};
    mrs_buf_put(&buf, frame, sizeof frame); /* binary value: length and subtype */
    mrs_build_init(&list, &buf);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct live_coll_info *info = live_server_coll(job->server, b->coll[i]);
        mrs_build_item_open(&list, MRS_DOCUMENT);
        mrs_build_text(&list, "ns", b->coll[i]->ns, (uint32_t)strlen(b->coll[i]->ns));
        mrs_build_val(&list, "options", 7, mrs_view_val(info->options.n ? info->options : mrs_empty_doc()));
        mrs_build_close(&list);
    }
    enum mrs_status s = mrs_build_finish(&list, &all, e);
    if (s == MRS_OK) {
        mrs_put32(buf.p, (uint32_t)buf.n - 5);
        struct mrs_val bin = {buf.p, (uint32_t)buf.n, MRS_BINARY};
        s = live_doc_in(&b->arena, &set, e, "{blocked: {by: %s, saved: %v}}", how, bin);
    }
    MRS_THEN(s, live_run_set(job, set, e));
    mrs_buf_clear(&buf);
    return s;
}

enum mrs_status
live_block_options(struct live_job *job, const char *ns, struct mrs_view now, struct mrs_arena *a,
                   struct mrs_view *options, struct mrs_err *e)
{
    MRS_ASSERT(job->run && ns);
    struct mrs_view list = saved_list(job);
    struct mrs_walk w;
    struct mrs_elem el;
    *options = now;
    if (!list.n) {
        return MRS_OK;
    }
    for (mrs_walk_init(&w, list); mrs_walk_next(&w, &el) == 1;) {
        struct mrs_val name = mrs_doc_get(live_doc_of(el.v), "ns"), o = mrs_doc_get(live_doc_of(el.v), "options");
        if (name.type == MRS_STRING && strcmp((const char *)name.p + 4, ns) == 0 && o.type == MRS_DOCUMENT) {
            options->p = mrs_arena_copy(a, o.p, o.n);
            options->n = o.n;
            return mrs_allocated(options->p, o.n, e);
        }
    }
    return MRS_OK;
}

/* ---- block ---- */
/* done (may be NULL): a missing collection is no error, and is reported there. */
static enum mrs_status
run_command(struct live_job *job, const char *db, struct mrs_view cmd, bool *done, struct mrs_err *e)
{
    struct live_fault f = {LIVE_FAULT_NONE, 0, ""};
    struct mrs_err why;
    mrs_err_clear(&why);
    enum mrs_status s = live_state_command(job, db, cmd, LIVE_WRITE, NULL, &f, &why);
    if (s != MRS_OK && done && f.kind == LIVE_FAULT_MISSING) {
        return MRS_OK;
    }
    if (done) {
        *done = s == MRS_OK;
    }
    if (s != MRS_OK && e && e->code == MRS_E_NONE) {
        *e = why;
    }
    return s;
}

/* A server without the command cannot block writers. */
static enum mrs_status
set_block_mode(struct live_job *job, bool on, struct mrs_err *e)
{
    enum { UNKNOWN = 59 }; /* CommandNotFound */
    struct mrs_buf buf;
    struct mrs_view cmd;
    struct live_fault f = {LIVE_FAULT_NONE, 0, ""};
    struct mrs_err why;
    mrs_err_clear(&why);
    mrs_buf_init(&buf, job->mem, 1 << 16);
    enum mrs_status s = live_doc(&buf, &cmd, &why, "{setUserWriteBlockMode: 1, global: %b}", (int)on);
    MRS_THEN(s, live_state_command(job, "admin", cmd, LIVE_WRITE, NULL, &f, &why));
    mrs_buf_clear(&buf);
    if (s != MRS_OK && !on && f.code == UNKNOWN) {
        return MRS_OK;
    }
    if (s != MRS_OK && e && e->code == MRS_E_NONE) {
        *e = why;
    }
    return s;
}

static enum mrs_status
block_coll(struct live_job *job, const struct mrs_coll *c, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_view cmd;
    mrs_buf_init(&buf, job->mem, 1 << 16);
    enum mrs_status s = live_doc(&buf, &cmd, e,
                                 "{collMod: %s, validator: " LIVE_BLOCKING_VALIDATOR
                                 ", validationLevel: 'strict', validationAction: 'error'}", c->coll);
    MRS_THEN(s, run_command(job, c->db, cmd, NULL, e));
    mrs_buf_clear(&buf);
    return s;
}

/* Restores the validator in options, or none; *done false: no collection of this name. */
static enum mrs_status
unblock_coll(struct live_job *job, const char *ns, struct mrs_view options, bool *done, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view cmd, validator = mrs_empty_doc();
    struct mrs_val v = mrs_doc_get(options, "validator");
    char level[32], action[32];
    const char *dot = strchr(ns, '.');
    mrs_arena_init(&a, job->mem);
    live_text_at(options, "validationLevel", level, sizeof level);
    live_text_at(options, "validationAction", action, sizeof action);
    validator = v.type == MRS_DOCUMENT ? mrs_val_view(v) : validator;
    char *db = mrs_arena_copy(&a, ns, strlen(ns) + 1);
    enum mrs_status s = db && dot ? MRS_OK : mrs_err_memory(e, strlen(ns));
    if (s == MRS_OK) {
        db[dot - ns] = 0;
        s = live_doc_in(&a, &cmd, e, "{collMod: %s, validator: %d, validationLevel: %s, validationAction: %s}", dot + 1,
                        validator, *level ? level : "strict", *action ? action : "error");
    }
    MRS_THEN(s, run_command(job, db, cmd, done, e));
    mrs_arena_clear(&a);
    return s;
}

/* If two runs set their note at once, at least one sees the other here and removes its own note; else it would remove
 * the other's block. */
static enum mrs_status
block_all(struct live_block *b, struct mrs_err *e)
{
    struct live_job *job = b->job;
    struct mrs_view set;
    struct mrs_err quiet;
    enum mrs_status s = alone(b, e);
    if (s == MRS_OK) {
        return set_block_mode(job, true, e);
    }
    mrs_err_clear(&quiet);
    if (e && e->code == MRS_E_SERVER && live_doc_in(&b->arena, &set, &quiet, "{blocked: null}") == MRS_OK) {
        live_run_set(job, set, &quiet);
    }
    return s;
}

static enum mrs_status
block(struct live_block *b, struct mrs_err *e)
{
    char by[16];
    enum mrs_status s = MRS_OK;
    live_text_at(live_run_doc(b->job->run), "blocked.by", by, sizeof by);
    if (strcmp(by, "block") == 0) {
        return block_all(b, e);
    }
    for (uint32_t i = 0; s == MRS_OK && strcmp(by, "validator") == 0 && i < b->n; i++) {
        s = block_coll(b->job, b->coll[i], e);
    }
    return s;
}

/* Tries its original name, and its name under the plan or after rollback. */
static enum mrs_status
unblock_named(struct live_job *job, const char *ns, struct mrs_view options, struct mrs_err *e)
{
    bool done = false;
    enum mrs_status s = unblock_coll(job, ns, options, &done, e);
    for (uint32_t i = 0; s == MRS_OK && !done && i < job->plan->n_steps; i++) {
        const struct mrs_desc *d = &job->plan->steps[i].desc;
        if (strcmp(job->plan->steps[i].type->name, "rename_collection") == 0) {
            const char *a = d->sides[0].coll.ns, *b = d->sides[1].coll.ns;
            ns = strcmp(a, ns) == 0 ? b : ns;
            s = strcmp(b, ns) == 0 ? unblock_coll(job, b, options, &done, e) : MRS_OK;
            s = s == MRS_OK && !done && strcmp(b, ns) == 0 ? unblock_coll(job, a, options, &done, e) : s;
        }
    }
    return s;
}

/* Unblocks all of a saved list, which is in no buffer that a command may change. */
static enum mrs_status
unblock_all(struct live_job *job, struct mrs_view list, struct mrs_err *e)
{
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = MRS_OK;
    for (mrs_walk_init(&w, list); s == MRS_OK && mrs_walk_next(&w, &el) == 1;) {
        struct mrs_view one = live_doc_of(el.v);
        struct mrs_view options = live_doc_of(mrs_doc_get(one, "options"));
        struct mrs_val ns = mrs_doc_get(one, "ns");
        bool good = ns.type == MRS_STRING && strchr((const char *)ns.p + 4, '.');
        s = good ? unblock_named(job, (const char *)ns.p + 4, options, e)
                 : mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the list of validators in the run document is damaged");
    }
    return s;
}

static enum mrs_status
saved_copy(struct live_job *job, struct mrs_arena *a, struct mrs_view *list, struct mrs_err *e)
{
    struct mrs_view kept = saved_list(job);
    *list = (struct mrs_view){mrs_arena_copy(a, kept.p, kept.n), kept.n};
    return list->p || !kept.n ? MRS_OK : mrs_err_memory(e, kept.n);
}

enum mrs_status
live_block_leave(struct live_job *job, struct mrs_err *e)
{
    MRS_ASSERT(job->run);
    struct mrs_arena a;
    struct mrs_view set, list;
    char by[16];
    if (!is_blocked(job)) {
        return MRS_OK;
    }
    if (job->opts.dry_run) {
        if (job->print_line) {
            job->print_line(job->arg, "this run still keeps writers out; with --execute they are let in first");
        }
        return MRS_OK;
    }
    live_text_at(live_run_doc(job->run), "blocked.by", by, sizeof by);
    mrs_arena_init(&a, job->mem);
    enum mrs_status s = saved_copy(job, &a, &list, e);
    if (s == MRS_OK && strcmp(by, "block") == 0) {
        s = set_block_mode(job, false, e);
    } else if (s == MRS_OK && strcmp(by, "validator") == 0 && list.n) {
        s = unblock_all(job, list, e);
    }
    MRS_THEN(s, live_doc_in(&a, &set, e, "{blocked: null}"));
    MRS_THEN(s, live_run_set(job, set, e));
    mrs_arena_clear(&a);
    return s;
}

/* If an owner was suspended before it blocked writers, it may have lost the run meanwhile, and the resuming process may
 * have removed the block: one set now would never be removed. */
static enum mrs_status
still_ours(struct live_job *job, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view list;
    struct mrs_err why;
    char by[16];
    mrs_err_clear(&why);
    enum mrs_status s = live_lease_renew(job, &why);
    if (s == MRS_OK) {
        return s;
    }
    live_text_at(live_run_doc(job->run), "blocked.by", by, sizeof by);
    mrs_arena_init(&a, job->mem);
    if (saved_copy(job, &a, &list, NULL) == MRS_OK && live_run_load(job, NULL) == MRS_OK && !is_blocked(job)) {
        if (strcmp(by, "block") == 0) {
            set_block_mode(job, false, NULL);
        } else if (strcmp(by, "validator") == 0 && list.n) {
            unblock_all(job, list, NULL);
        }
    }
    mrs_arena_clear(&a);
    if (e && e->code == MRS_E_NONE) {
        *e = why;
    }
    return s;
}

/* ---- the watch ---- */
static int64_t
count_writes(struct live_block *b, const struct mrs_coll *c)
{
    struct mrs_view pipeline, none = {NULL, 0}, doc;
    struct live_cursor *cur = NULL;
    struct live_fault f;
    int64_t n = -1;
    enum mrs_status s = live_doc_in(&b->arena, &pipeline, NULL, "[{$collStats: {latencyStats: {}}}]");
    MRS_THEN(s, live_aggregate(b->job->link, c, pipeline, none, 0, &cur, NULL));
    if (s == MRS_OK && live_cursor_next(cur, &doc, &f, NULL) == MRS_OK) {
        n = live_int_at(doc, "latencyStats.writes.ops", -1);
    }
    live_cursor_close(cur);
    return n;
}

static void
open_watch(struct live_block *b)
{
    MRS_ASSERT(!b->watch);
    struct mrs_err why;
    char text[900], line[1000];
    bool blind = false;
    const struct live_watch_opts o = {.colls = b->coll, .n = b->n};
    mrs_err_clear(&why);
    if (live_link_replicated(b->job->link)) {
        blind = b->n && live_watch_open(b->job->link, &o, &b->watch, NULL, &why) != MRS_OK;
    } else {
        for (uint32_t i = 0; i < b->n; i++) {
            b->writes[i] = count_writes(b, b->coll[i]);
            blind = blind || b->writes[i] < 0;
        }
    }
    if (blind && b->job->print_line) {
        snprintf(line, sizeof line, "writes of others cannot be watched for%s%s; the digests of the change list remain",
                 why.code ? ": " : "", why.code ? mrs_err_text(&why, text, sizeof text) : "");
        b->job->print_line(b->job->arg, line);
    }
}

static enum mrs_status
find_colls(struct live_block *b, struct mrs_err *e)
{
    MRS_ASSERT(!b->coll);
    const struct mrs_coll **all;
    uint32_t n;
    enum mrs_status s = live_plan_colls(b->job, &b->arena, &all, &n, e);
    b->coll = s == MRS_OK ? mrs_arena_alloc(&b->arena, (n + 1) * sizeof *b->coll) : NULL;
    b->writes = s == MRS_OK ? mrs_arena_alloc(&b->arena, (n + 1) * sizeof *b->writes) : NULL;
    if (s == MRS_OK && (!b->coll || !b->writes)) {
        return mrs_err_memory(e, n * sizeof *b->coll);
    }
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        const struct live_coll_info *info = live_server_coll(b->job->server, all[i]);
        if (info && !info->view && !info->timeseries) {
            b->writes[b->n] = -1;
            b->coll[b->n++] = all[i];
        }
    }
    return s;
}

enum mrs_status
live_block_enter(struct live_job *job, struct live_block **out, struct mrs_err *e)
{
    MRS_ASSERT(job->run && out);
    struct live_block *b = mrs_zalloc(job->mem, sizeof *b);
    *out = b;
    MRS_TRY(mrs_allocated(b, sizeof *b, e));
    b->job = job;
    mrs_arena_init(&b->arena, job->mem);
    if (job->opts.dry_run) {
        return MRS_OK; /* writers are neither blocked nor watched: they continue */
    }
    enum mrs_status s = find_colls(b, e);
    s = s == MRS_OK && !is_blocked(job) ? note_blocked(b, e) : s;
    MRS_THEN(s, block(b, e));
    MRS_THEN(s, still_ours(job, e));
    if (s == MRS_OK) {
        open_watch(b);
    } else {
        live_block_free(b);
        *out = NULL;
    }
    return s;
}

static enum mrs_status
foreign(const char *ns, struct mrs_val id, struct mrs_err *e)
{
    char text[120];
    mrs_val_picture(id, text, sizeof text);
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                       "%s%s%s was written to while writers should be stopped; nothing was changed: stop the "
                       "writers and start over",
                       ns, id.type == MRS_MISSING ? "" : ", _id ", id.type == MRS_MISSING ? "" : text);
}

enum mrs_status
live_block_check(struct live_job *job, struct live_block *b, struct mrs_err *e)
{
    struct mrs_view event;
    struct live_fault f;
    if (b->watch) {
        enum mrs_status s = live_watch_next(b->watch, &event, &f, e);
        if (s == MRS_OK) {
            char db[64], coll[256], ns[330];
            live_text_at(event, "ns.db", db, sizeof db);
            live_text_at(event, "ns.coll", coll, sizeof coll);
            snprintf(ns, sizeof ns, "%s.%s", db, coll);
            return foreign(ns, live_at(event, "documentKey._id"), e);
        }
        return s == MRS_END ? MRS_OK : s;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->writes[i] >= 0 && count_writes(b, b->coll[i]) != b->writes[i]) {
            return foreign(b->coll[i]->ns, mrs_missing(), e);
        }
    }
    (void)job;
    return MRS_OK;
}

void
live_block_free(struct live_block *b)
{
    if (b) {
        live_watch_close(b->watch);
        mrs_arena_clear(&b->arena);
        mrs_free(b->job->mem, b);
    }
}

/* ---- collections of a plan ---- */
enum mrs_status
live_plan_colls(const struct live_job *job, struct mrs_arena *a, const struct mrs_coll ***out, uint32_t *n,
                struct mrs_err *e)
{
    MRS_ASSERT(job->plan);
    const struct mrs_plan *p = job->plan;
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        most += p->steps[i].desc.n_sides;
    }
    *n = 0;
    *out = mrs_arena_alloc(a, (most + 1) * sizeof **out);
    if (!*out) {
        return mrs_err_memory(e, most * sizeof **out);
    }
    for (uint32_t i = 0; i < p->n_steps; i++) {
        for (uint32_t k = 0; k < p->steps[i].desc.n_sides; k++) {
            const struct mrs_coll *c = &p->steps[i].desc.sides[k].coll;
            uint32_t at = 0;
            while (at < *n && strcmp((*out)[at]->ns, c->ns) != 0) {
                at++;
            }
            (*out)[at] = c;
            *n += at == *n;
        }
    }
    return MRS_OK;
}

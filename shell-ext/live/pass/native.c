/* SPDX-License-Identifier: Apache-2.0 */
/* native.c - runs ranges of a group by pipelines of the server.
 *
 * Expand derives its additions from data that stays, so a range may be repeated at any time: in place, only the claimed
 * fields are merged into existing documents, never a whole document, so no application write is lost; a new collection
 * gets only documents that it does not have. Conditions that a pipeline cannot refuse document by document are counted
 * before, range by range: if any is found, or the server ends the pipeline, the client derives that range as usual. So
 * nothing here decides about a document. Through a mongos the client cannot derive, and the run ends instead. */
#include "native.h"

#include "live/link/bson.h"
#include "live/server/server.h"
#include "work.h"

#include <stdio.h>

#define OLD_SERVER "`$lookup` with a pipeline on a field needs MongoDB 5.0"
#define SEVERAL "`where` in one of several steps on one document"
#define NO_ADDS "what it adds is no part of the pipeline"
#define DEEP_KEY "a shard key below the top of the documents"
#define PREPARED "it begins with steps on one document that prepare others"
#define DEEP_CLAIM "a field that it adds lies inside another one"

/* ---- arrays of stages ---- */
/* Concatenates several arrays. */
static enum mrs_status
chain(struct mrs_arena *a, const struct mrs_view *part, uint32_t n, struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    struct mrs_buf buf;
    struct mrs_build b;
    mrs_buf_init(&buf, a->mem, 16u * MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    for (uint32_t i = 0; i < n; i++) {
        struct mrs_walk w;
        struct mrs_elem el;
        mrs_walk_init(&w, part[i].n ? part[i] : mrs_empty_doc());
        while (mrs_walk_next(&w, &el) == 1) {
            mrs_build_item(&b, el.v);
        }
    }
    enum mrs_status st = mrs_build_finish(&b, out, e);
    if (!st) {
        out->p = mrs_arena_copy(a, out->p, out->n);
        st = mrs_allocated(out->p, out->n, e);
    }
    mrs_buf_clear(&buf);
    return st;
}

static bool
begins_with_match(struct mrs_view stages)
{
    struct mrs_val first = mrs_doc_get(stages, "0");
    return first.type == MRS_DOCUMENT && mrs_doc_get(mrs_val_view(first), "$match").type != MRS_MISSING;
}

/* ---- the shard key ---- */
/* {key: 1, ...} of a sharded collection; n 0: not sharded. */
static enum mrs_status
shard_key(struct live_native *n, const struct mrs_coll *coll, struct mrs_view *key, struct mrs_err *e)
{
    struct mrs_view cmd;
    struct mrs_buf reply;
    *key = (struct mrs_view){NULL, 0};
    if (!n->job->server->sharded) {
        return MRS_OK;
    }
    mrs_buf_init(&reply, n->job->mem, MRS_DOC_READ_MAX);
    enum mrs_status st = live_doc_in(&n->each, &cmd, e, "{find: 'collections', filter: {_id: %s}, limit: 1}", coll->ns);
    MRS_THEN(st, live_command(n->job->link, "config", cmd, 0, &reply, NULL, e));
    if (!st) {
        struct mrs_val list = live_at((struct mrs_view){reply.p, (uint32_t)reply.n}, "cursor.firstBatch");
        struct mrs_val one = list.type == MRS_ARRAY ? mrs_doc_get(mrs_val_view(list), "0") : mrs_missing();
        struct mrs_val k = one.type == MRS_DOCUMENT ? mrs_doc_get(mrs_val_view(one), "key") : mrs_missing();
        if (k.type == MRS_DOCUMENT) {
            key->p = mrs_arena_copy(&n->life, k.p, k.n);
            key->n = k.n;
            st = mrs_allocated(key->p, k.n, e);
        }
    }
    mrs_buf_clear(&reply);
    return st;
}

/* {_id: 1, fields of the shard key: 1, claims: 1} */
static enum mrs_status
projection(struct live_native *n, const char *const *claim, uint32_t n_claims, struct mrs_view key,
           struct mrs_view *out, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_walk w;
    struct mrs_elem el;
    mrs_buf_init(&buf, n->job->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_i32(&b, "_id", 1);
    mrs_walk_init(&w, key.n ? key : mrs_empty_doc());
    while (mrs_walk_next(&w, &el) == 1) {
        n->why = memchr(el.name, '.', el.name_len) ? DEEP_KEY : n->why;
        if (strcmp(el.name, "_id") != 0) {
            mrs_build_i32(&b, el.name, 1);
        }
    }
    for (uint32_t i = 0; i < n_claims; i++) {
        mrs_build_i32(&b, claim[i], 1);
    }
    enum mrs_status st = mrs_build_finish(&b, out, e);
    MRS_THEN(st, live_doc_in(&n->life, out, e, "[{$project: %d}]", *out));
    mrs_buf_clear(&buf);
    return st;
}

/* `on` is omitted if the target is sharded: the server then uses the shard key and `_id`. In place, an expression sets
 * the new fields in their order: "merge" would order them by name. */
static enum mrs_status
merge_stage(struct live_native *n, const struct mrs_coll *into, bool fresh, bool sharded, struct mrs_view *out,
            struct mrs_err *e)
{
    static const char *const how[] = {
        "{on: '_id', matched: [{$replaceWith: {$mergeObjects: ['$$ROOT', '$$new']}}]}",
        "{on: '_id', matched: 'fail'}",
    };
    struct mrs_view reply_doc = mrs_empty_doc();
    enum mrs_status st = live_doc_in(&n->life, &reply_doc, e, how[fresh]);
    return st ? st
              : live_doc_in(&n->life, out, e,
                            "[{$merge: {into: {db: %s, coll: %s}, on: %v, whenMatched: %v, whenNotMatched: %s}}]",
                            into->db, into->coll, sharded ? mrs_missing() : mrs_doc_get(reply_doc, "on"),
                            mrs_doc_get(reply_doc, "matched"), fresh ? "insert" : "discard");
}

/* ---- the pipelines of a group ---- */
struct native_making {
    struct live_native *n;
    const struct mrs_live_group *g;
    struct mrs_view prefix; /* stages before the current step */
    bool in_place;          /* some output goes into the main collection */
};

static bool
on_main(const struct live_native *n, const struct mrs_coll *c)
{
    return strcmp(n->coll->ns, c->ns) == 0;
}

static enum mrs_status
add_count(struct native_making *m, const struct mrs_lowered_count *c, struct mrs_err *e)
{
    MRS_ASSERT(m->n->n_counts <= MRS_LOWERED_PARTS);
    struct live_native *n = m->n;
    bool main = on_main(n, c->on);
    struct mrs_view part[3] = {main ? m->prefix : mrs_empty_doc(), c->stages, {NULL, 0}};
    enum mrs_status st = MRS_OK;
    if (!main && m->g->family != MRS_FAMILY_JOIN) {
        return MRS_OK; /* of another main collection, which has its own walk */
    }
    if (c->filter.n) {
        st = live_doc_in(&n->life, &part[1], e, "[{$match: %d}]", c->filter);
    }
    struct native_part *to = main ? &n->count[n->n_counts] : &n->once[n->n_once];
    if ((main ? n->n_counts : n->n_once) == MRS_LOWERED_PARTS) {
        n->why = "more counts than a group may have";
        return st;
    }
    *to = (struct native_part){.on = c->on, .why = c->why};
    MRS_THEN(st, live_doc_in(&n->life, &part[2], e, "[{$limit: 1}, {$project: {_id: 1}}]"));
    MRS_THEN(st, chain(&n->life, part, 3, &to->stages, e));
    n->n_counts += main;
    n->n_once += !main;
    return st;
}

static enum mrs_status
add_product(struct native_making *m, const struct mrs_lowered_write *w, struct mrs_err *e)
{
    MRS_ASSERT(m->n->n_writes <= MRS_LOWERED_PARTS);
    struct live_native *n = m->n;
    struct mrs_view key, part[3] = {m->prefix, w->stages, {NULL, 0}};
    enum mrs_status st = shard_key(n, w->into, &key, e);
    MRS_THEN(st, merge_stage(n, w->into, true, key.n > 0, &part[2], e));
    if (!st && n->n_writes < MRS_LOWERED_PARTS) {
        struct native_part *to = &n->write[n->n_writes++];
        *to = (struct native_part){.on = n->coll};
        st = chain(&n->life, part, 3, &to->stages, e);
    }
    return st;
}

static enum mrs_status
add_step(struct native_making *m, const struct mrs_lowered *l, struct mrs_err *e)
{
    struct live_native *n = m->n;
    enum mrs_status st = MRS_OK;
    if (l->reason || l->whole) {
        n->why = l->reason ? l->reason : "it takes a whole collection at once";
        return MRS_OK;
    }
    for (uint32_t i = 0; i < l->n_counts && !st; i++) {
        st = add_count(m, &l->count[i], e);
    }
    for (uint32_t i = 0; i < l->n_writes && !st; i++) {
        const struct mrs_lowered_write *w = &l->write[i];
        struct mrs_view part[2] = {m->prefix, w->stages};
        if (m->g->n > 1 && begins_with_match(w->stages)) {
            n->why = SEVERAL;
        } else if (on_main(n, w->on) && w->fresh) {
            st = add_product(m, w, e);
        } else if (on_main(n, w->on) && m->g->n_claims) {
            m->in_place = true;
            st = chain(&n->life, part, 2, &m->prefix, e);
        }
    }
    return st;
}

/* Merges the claimed fields, and nothing else, into the current documents. */
static enum mrs_status
add_claims(struct native_making *m, struct mrs_err *e)
{
    struct live_native *n = m->n;
    struct mrs_view key, part[3] = {m->prefix, {NULL, 0}, {NULL, 0}};
    enum mrs_status st = shard_key(n, n->coll, &key, e);
    MRS_THEN(st, projection(n, m->g->claims, m->g->n_claims, key, &part[1], e));
    MRS_THEN(st, merge_stage(n, n->coll, false, key.n > 0, &part[2], e));
    if (!st && n->n_writes < MRS_LOWERED_PARTS) {
        struct native_part *to = &n->write[n->n_writes++];
        *to = (struct native_part){.on = n->coll};
        st = chain(&n->life, part, 3, &to->stages, e);
    }
    return st;
}

/* [{$unset: claims}]: hides the output of an earlier call. */
static enum mrs_status
begin_prefix(struct native_making *m, bool claims, struct mrs_err *e)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view list;
    struct live_native *n = m->n;
    if (!claims) {
        m->prefix = mrs_empty_doc();
        return MRS_OK;
    }
    mrs_buf_init(&buf, n->job->mem, MRS_DOC_MAX);
    mrs_build_init(&b, &buf);
    for (uint32_t i = 0; i < m->g->n_claims; i++) {
        struct mrs_val name = mrs_make_text(&n->life, m->g->claims[i], (uint32_t)strlen(m->g->claims[i]));
        mrs_build_item(&b, name);
    }
    enum mrs_status st = mrs_build_finish(&b, &list, e);
    MRS_THEN(st, live_doc_in(&n->life, &m->prefix, e, "[{$unset: %a}]", list));
    mrs_buf_clear(&buf);
    return st;
}

static enum mrs_status
make(struct live_native *n, uint32_t group, int side, struct mrs_err *e)
{
    MRS_ASSERT(group < n->job->live->n_groups);
    const struct mrs_live_group *g = &n->job->live->group[group];
    struct native_making m = {.n = n, .g = g};
    bool claims = g->n_claims > 0 && g->claims_side == side;
    for (uint32_t i = 0; i < g->n_claims && claims; i++) {
        n->why = strchr(g->claims[i], '.') ? DEEP_CLAIM : n->why; /* $merge would replace whole fields */
    }
    enum mrs_status st = begin_prefix(&m, claims, e);
    if (g->family == MRS_FAMILY_JOIN && n->job->server->major < 5) {
        n->why = OLD_SERVER;
    }
    n->why = g->before ? PREPARED : n->why;
    for (uint32_t i = 0; i < g->n && !st && !n->why; i++) {
        struct mrs_lowered *l = mrs_arena_alloc(&n->life, sizeof *l);
        st = l ? mrs_plan_lower(n->job->plan, g->first + i, &n->life, l, e) : mrs_err_memory(e, sizeof *l);
        MRS_THEN(st, add_step(&m, l, e));
    }
    if (!st && !n->why && claims) {
        n->why = m.in_place ? NULL : NO_ADDS;
        st = m.in_place ? add_claims(&m, e) : MRS_OK;
    }
    if (!st && !n->why && n->n_writes == 0) {
        n->why = NO_ADDS;
    }
    return st;
}

/* ---- requests to the server ---- */
static enum mrs_status
run_pipeline(struct live_native *n, const struct native_part *p, struct mrs_view range, unsigned flags,
             struct mrs_buf *reply, struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(p->on);
    struct mrs_view part[2] = {{NULL, 0}, p->stages}, all, cmd;
    enum mrs_status st = range.n ? live_doc_in(&n->each, &part[0], e, "[{$match: %d}]", range) : MRS_OK;
    MRS_THEN(st, chain(&n->each, part, 2, &all, e));
    MRS_THEN(st, live_doc_in(&n->each, &cmd, e,
                             "{aggregate: %s, pipeline: %a, cursor: {}, allowDiskUse: true, collation: {locale: "
                             "'simple'}}",
                             p->on->coll, all));
    return st ? st : live_command(n->job->link, p->on->db, cmd, flags, reply, f, e);
}

/* Leaves the range to the client: a pipeline cannot refuse a document that was found, or it was ended. */
static void
note(struct live_native *n, const char *why)
{
    snprintf(n->last, sizeof n->last, "%.150s", why);
}

/* Maps a server error: a lost connection and a missing privilege stay errors; else the range is left to the client. */
static enum mrs_status
settle(struct live_native *n, const struct live_fault *f, enum mrs_status st, bool *client, struct mrs_err *e)
{
    if (st == MRS_OK || st != MRS_FAIL || e->code != MRS_E_SERVER || f->kind == LIVE_FAULT_DENIED) {
        return st;
    }
    if (f->kind != LIVE_FAULT_NETWORK) {
        note(n, e->msg);
        *client = true;
    }
    mrs_err_clear(e);
    return f->kind == LIVE_FAULT_NETWORK ? MRS_END : MRS_OK;
}

static enum mrs_status
run_counts(struct live_native *n, const struct native_part *count, uint32_t k, struct mrs_view range, bool *client,
           struct mrs_err *e)
{
    MRS_ASSERT(k <= MRS_LOWERED_PARTS);
    enum mrs_status st = MRS_OK;
    for (uint32_t i = 0; i < k && !st && !*client; i++) {
        struct mrs_buf reply;
        struct live_fault f = {.kind = LIVE_FAULT_NONE};
        mrs_buf_init(&reply, n->job->mem, MRS_DOC_READ_MAX);
        st = settle(n, &f, run_pipeline(n, &count[i], range, 0, &reply, &f, e), client, e);
        struct mrs_view reply_doc = {reply.p, (uint32_t)reply.n};
        struct mrs_val found = !st && !*client ? live_at(reply_doc, "cursor.firstBatch") : mrs_missing();
        if (found.type == MRS_ARRAY && found.n > MRS_DOC_MIN) {
            note(n, count[i].why);
            *client = true;
        }
        mrs_buf_clear(&reply);
    }
    return st;
}

/* ---- interface ---- */
static enum mrs_status
open_once(struct live_native *n, struct live_job *job, uint32_t group, const struct mrs_coll *main, int side,
          struct mrs_err *e)
{
    MRS_ASSERT(group < job->live->n_groups);
    bool client = false;
    memset(n, 0, sizeof *n);
    n->job = job;
    n->coll = main;
    mrs_arena_init(&n->life, job->mem);
    mrs_arena_init(&n->each, job->mem);
    uint64_t gen = live_link_generation(job->link);
    enum mrs_status st = make(n, group, side, e);
    st = st || n->why ? st : run_counts(n, n->once, n->n_once, (struct mrs_view){NULL, 0}, &client, e);
    if (!st && client) {
        n->why = n->last;
    }
    return live_lost_since(job, gen, st, e);
}

enum mrs_status
live_native_open(struct live_native *n, struct live_job *job, uint32_t group, const struct mrs_coll *main, int side,
                 struct mrs_err *e)
{
    MRS_ASSERT(group < job->live->n_groups);
    enum mrs_status st = open_once(n, job, group, main, side, e);
    for (uint32_t lost = 1; st == MRS_END; lost++) {
        live_native_close(n);
        st = live_scan_wait(job, lost, e);
        MRS_THEN(st, open_once(n, job, group, main, side, e));
    }
    if (!st && n->why && job->server->sharded) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "through a mongos a step must be a pipeline, and step %u is none: %s",
                           job->live->group[group].first + 1, n->why);
    }
    return st;
}

void
live_native_close(struct live_native *n)
{
    if (n->job) {
        mrs_arena_clear(&n->life);
        mrs_arena_clear(&n->each);
    }
    n->job = NULL;
}

static enum mrs_status
native_piece(struct live_native *n, const struct mrs_view *ids, uint32_t k, bool *client, struct mrs_err *e)
{
    struct mrs_view range;
    mrs_arena_reset(&n->each);
    enum mrs_status st = live_range_filter(&n->each, ids, k, &range, e);
    MRS_THEN(st, run_counts(n, n->count, n->n_counts, range, client, e));
    for (uint32_t i = 0; i < n->n_writes && !st && !*client; i++) {
        struct live_fault f = {.kind = LIVE_FAULT_NONE};
        st = settle(n, &f, run_pipeline(n, &n->write[i], range, LIVE_WRITE | LIVE_JOURNALED, NULL, &f, e), client, e);
    }
    return st;
}

enum mrs_status
live_native_range(struct live_native *n, const struct mrs_view *ids, uint32_t k, bool *client, struct mrs_err *e)
{
    MRS_ASSERT(n->job && k > 0);
    uint32_t step = live_range_step(ids, k);
    enum mrs_status st = MRS_OK;
    *client = false;
    for (uint32_t at = 0; at < k && !st && !*client; at += step) {
        st = native_piece(n, ids + at, k - at < step ? k - at : step, client, e);
    }
    n->ranges += !st;
    n->by_client += !st && *client;
    if (!st && *client && n->job->server->sharded) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "%s: through a mongos only pipelines work, and the server cannot do a range of %u "
                           "documents: %s; correct these documents and call again",
                           n->coll->ns, k, n->last);
    }
    return st;
}

/* Describes one main collection of a group. */
static enum mrs_status
report_main(struct live_job *job, struct live_units *u, uint32_t group, uint32_t main, struct mrs_err *e)
{
    struct live_native n;
    char line[400], phase[96];
    int side;
    const struct mrs_coll *coll = live_units_main(u, main, &side);
    enum mrs_status st = live_native_open(&n, job, group, coll, side, e);
    if (!st && job->print_line) {
        snprintf(line, sizeof line, "%s on %s: by %s%.200s", live_phase_name(job, phase, "step", group), coll->ns,
                 n.why ? "the client: " : "pipelines of the server", n.why ? n.why : "");
        job->print_line(job->arg, line);
    }
    live_native_close(&n);
    return st;
}

enum mrs_status
live_native_outlook(struct live_job *job, struct mrs_err *e)
{
    enum mrs_status st = MRS_OK;
    for (uint32_t g = 0; g < job->live->n_groups && !st; g++) {
        struct live_units *u = NULL;
        if (job->live->group[g].family == MRS_FAMILY_CATALOG || !job->live->group[g].adds) {
            continue;
        }
        st = live_units_open(job, g, LIVE_FOR_EXPAND, &u, e);
        for (uint32_t m = 0; !st && m < live_units_mains(u); m++) {
            st = report_main(job, u, g, m, e);
        }
        live_units_close(u);
    }
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* preflight.c - all checks that are possible before the first write.
 *
 * A migration must not stop half-way because of a problem that was visible at the start. So the plan is checked against
 * the server first, and all findings are reported at once, each with advice. A finding that would lose or damage data
 * refuses the run; other findings warn. Nothing is written, and the effects of a step are taken from struct mrs_desc
 * and the static rule. */
#include "preflight.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { DOCS_PER_SECOND = 4000, BYTES_PER_SECOND = 20 << 20 };

enum mrs_status
live_check_note(struct live_check *c, bool refuses, struct mrs_err *e, const char *fmt, ...)
{
    MRS_ASSERT(c->out && fmt);
    struct live_preflight *p = c->out;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (uint32_t i = 0; i < p->n; i++) {
        if (strcmp(p->finding[i].text, text) == 0) {
            return MRS_OK;
        }
    }
    struct live_finding *more = mrs_arena_more(&p->arena, p->finding, p->n, &c->cap_findings, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    p->finding = more;
    const char *copy = mrs_arena_copy(&p->arena, text, strlen(text) + 1);
    MRS_TRY(mrs_allocated(copy, strlen(text), e));
    p->finding[p->n++] = (struct live_finding){refuses, copy};
    p->n_refuse += refuses;
    return MRS_OK;
}

/* ---- the collections of the plan ---- */
static struct live_place *
place_of(struct live_check *c, const struct mrs_coll *coll)
{
    MRS_ASSERT(c->n_places <= c->cap_places);
    for (uint32_t i = 0; i < c->n_places; i++) {
        if (strcmp(c->place[i].coll.ns, coll->ns) == 0) {
            return &c->place[i];
        }
    }
    struct live_place *more = mrs_arena_more(&c->tmp, c->place, c->n_places, &c->cap_places, sizeof *more);
    if (!more) {
        return NULL;
    }
    c->place = more;
    struct live_place *p = &c->place[c->n_places++];
    memset(p, 0, sizeof *p);
    p->coll = *coll;
    p->info = live_server_coll(c->job->server, coll);
    return p;
}

enum mrs_status
live_check_gather(struct live_check *c, struct mrs_err *e)
{
    MRS_ASSERT(c->n_places == 0 && c->job->plan);
    const struct mrs_plan *plan = c->job->plan;
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        const struct mrs_step *step = &plan->steps[i];
        for (uint32_t k = 0; k < step->desc.n_sides; k++) {
            struct live_place *p = place_of(c, &step->desc.sides[k].coll);
            MRS_TRY(mrs_allocated(p, sizeof *p, e));
            p->roles |= step->desc.sides[k].role;
            p->indexed = p->indexed || strcmp(step->type->name, "index") == 0;
            p->optioned = p->optioned || strcmp(step->type->name, "options") == 0;
            p->renamed = p->renamed || strcmp(step->type->name, "rename_collection") == 0;
            p->dropped = p->dropped || strcmp(step->type->name, "drop_collection") == 0;
        }
    }
    return MRS_OK;
}

static bool
reads(const struct live_place *p)
{
    return p->info && !p->info->view && p->roles & (MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_TAKE | MRS_ROLE_MAIN);
}

static void
estimate(struct live_check *c)
{
    MRS_ASSERT(c->out->docs == 0 && c->out->bytes == 0);
    for (uint32_t i = 0; i < c->n_places; i++) {
        if (reads(&c->place[i])) {
            c->out->docs += c->place[i].info->count;
            c->out->bytes += c->place[i].info->bytes;
        }
    }
    c->out->seconds = c->out->docs / DOCS_PER_SECOND + c->out->bytes / BYTES_PER_SECOND;
}

/* ---- kinds of collections ---- */
/* made: by the run itself, whose apply has passed. Of what stops apply, its step `options` can make one thing. */
static const char *
impossible(const struct live_coll_info *info, bool made)
{
    return info->view         ? "is a view, which is not migrated on a server: name the collection below it, or drop "
                                "the view there and define another one"
           : info->timeseries ? "is a time series collection, which is not migrated on a server; in a dump, steps can "
                                "read and move its measurements"
           : info->capped && !made
               ? "is capped: its documents cannot be removed or grow; copy it into a plain collection first"
           : info->encrypted  ? "has encrypted fields, which this tool cannot read"
           : info->collated   ? "has a default collation, by which other strings are equal than in this tool; copy it "
                                "into a collection without one first"
                              : NULL;
}

static const char *
index_name(const struct live_coll_info *info, const char *option, char name[128])
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, info->indexes); mrs_walk_next(&w, &el) > 0;) {
        struct mrs_view index = live_doc_of(el.v);
        if (live_at(index, option).type != MRS_MISSING) {
            live_text_at(index, "name", name, 128);
            return name;
        }
    }
    return NULL;
}

static enum mrs_status
check_ttl(struct live_check *c, const struct live_place *p, struct mrs_err *e)
{
    MRS_ASSERT(p->info);
    char name[128];
    if (!c->apply || !p->info->ttl || c->job->opts.allow_ttl || !reads(p)) {
        return MRS_OK;
    }
    const char *index = index_name(p->info, "expireAfterSeconds", name);
    return live_check_note(c, true, e,
                           "documents of %s expire by TTL (%s%s): some could expire during the run, and their copies "
                           "would stay; remove the expiry for the time of the run (collMod), or use --allow-ttl",
                           p->coll.ns, index ? "index " : "a clustered collection", index ? index : "");
}

static enum mrs_status
check_validator(struct live_check *c, const struct live_place *p, struct mrs_err *e)
{
    MRS_ASSERT(p->info);
    char level[16], action[16];
    struct mrs_view nothing = {NULL, 0}, now = live_doc_of(live_at(p->info->options, "validator"));
    enum mrs_status s = live_doc_in(&c->tmp, &nothing, e, LIVE_BLOCKING_VALIDATOR);
    live_text_at(p->info->options, "validationLevel", level, sizeof level);
    live_text_at(p->info->options, "validationAction", action, sizeof action);
    if (s != MRS_OK || (now.n == nothing.n && memcmp(now.p, nothing.p, now.n) == 0)) {
        return s; /* --quiet-by validator of a run that was interrupted: ours, until it is resumed */
    }
    if (!p->info->validated || strcmp(level, "off") == 0 || strcmp(action, "warn") == 0 ||
        !(p->roles & (MRS_ROLE_CHANGE | MRS_ROLE_ADD))) {
        return MRS_OK;
    }
    return live_check_note(c, false, e,
                           "%s has a validator: documents that violate it in the new schema are refused one by one; "
                           "extend it first (collMod, or a step `options`) if it does not allow the new schema",
                           p->coll.ns);
}

static bool
has_id_index(const struct live_coll_info *info)
{
    struct mrs_walk w;
    struct mrs_elem el;
    for (mrs_walk_init(&w, info->indexes); mrs_walk_next(&w, &el) > 0;) {
        struct mrs_val key = live_at(live_doc_of(el.v), "key");
        struct mrs_elem first;
        struct mrs_walk k;
        if (key.type == MRS_DOCUMENT) {
            mrs_walk_init(&k, mrs_val_view(key));
            if (mrs_walk_next(&k, &first) > 0 && mrs_name_is(&first, "_id", 3)) {
                return true;
            }
        }
    }
    return info->clustered;
}

static enum mrs_status
check_place(struct live_check *c, const struct live_place *p, struct mrs_err *e)
{
    MRS_ASSERT(p->coll.ns && c->job->opts.state_db);
    if (strcmp(p->coll.db, c->job->opts.state_db) == 0) {
        return live_check_note(c, true, e, "%s is in the state database: choose another state database with "
                                           "--state-db", p->coll.ns);
    }
    if (strncmp(p->coll.coll, "system.", 7) == 0 || strcmp(p->coll.db, "admin") == 0 ||
        strcmp(p->coll.db, "config") == 0 || strcmp(p->coll.db, "local") == 0) {
        return live_check_note(c, true, e, "%s belongs to the server itself", p->coll.ns);
    }
    const char *why = p->info ? impossible(p->info, p->optioned && !c->apply) : NULL;
    if (why) {
        return live_check_note(c, true, e, "%s %s", p->coll.ns, why);
    }
    enum mrs_status s = MRS_OK;
    if (p->info && !has_id_index(p->info)) {
        s = live_check_note(c, true, e,
                            "%s has no index on _id: it cannot be read in ranges, and equal _ids may be in it",
                            p->coll.ns);
    }
    if (s == MRS_OK && p->info) {
        s = check_ttl(c, p, e);
    }
    if (s == MRS_OK && p->info && !c->quiet && c->apply && p->roles & MRS_ROLE_ADD &&
        !(p->roles & MRS_ROLE_CHANGE)) {
        s = live_check_note(c, true, e,
                            "%s exists already: alongside writers, documents are only added to collections that the "
                            "run makes itself; name another one, drop it if it is not needed, or use --quiet-by",
                            p->coll.ns);
    }
    return s == MRS_OK && p->info ? check_validator(c, p, e) : s;
}

/* ---- indexes that joins need ---- */
/* An index that can answer {path: {$in: [...]}}. */
static bool
index_serves(struct mrs_view index, const char *path)
{
    struct mrs_val key = live_at(index, "key");
    struct mrs_walk w;
    struct mrs_elem first;
    char locale[32], kind[16] = "";
    live_text_at(index, "collation.locale", locale, sizeof locale);
    if (key.type != MRS_DOCUMENT || live_at(index, "partialFilterExpression").type != MRS_MISSING ||
        live_bool_at(index, "hidden", false) || (locale[0] && strcmp(locale, "simple") != 0)) {
        return false;
    }
    mrs_walk_init(&w, mrs_val_view(key));
    if (mrs_walk_next(&w, &first) <= 0 || !mrs_name_is(&first, path, (uint32_t)strlen(path))) {
        return false;
    }
    if (first.v.type == MRS_STRING) {
        uint32_t n;
        snprintf(kind, sizeof kind, "%s", mrs_val_text(first.v, &n));
    }
    return mrs_is_number(first.v) || strcmp(kind, "hashed") == 0;
}

bool
live_server_indexed(const struct live_coll_info *info, const char *path)
{
    MRS_ASSERT(info && path[0]);
    struct mrs_walk w;
    struct mrs_elem el;
    if (strcmp(path, "_id") == 0) {
        return true;
    }
    for (mrs_walk_init(&w, info->indexes); mrs_walk_next(&w, &el) > 0;) {
        if (index_serves(live_doc_of(el.v), path)) {
            return true;
        }
    }
    return false;
}

static enum mrs_status
check_join(struct live_check *c, const struct mrs_step *step, struct mrs_err *e)
{
    MRS_ASSERT(step->desc.n_sides > 1);
    const struct mrs_desc *d = &step->desc;
    const struct live_coll_info *from = live_server_coll(c->job->server, &d->sides[0].coll);
    const char *path = NULL;
    if (!from || c->job->opts.allow_scan) {
        return MRS_OK;
    }
    for (uint32_t i = 0; i < d->n_pairs && d->pairs; i++) {
        if (d->pairs[i].from && live_server_indexed(from, d->pairs[i].from)) {
            return MRS_OK;
        }
        path = path ? path : d->pairs[i].from;
    }
    if (!path) {
        return live_check_note(c, true, e,
                               "step %u (%s) finds documents of %s by an expression, which cannot use an index: use "
                               "--quiet-by, or --allow-scan (each batch then scans the whole collection)",
                               step->no, step->type->name, from->coll.ns);
    }
    return live_check_note(c, true, e,
                           "step %u (%s) finds documents of %s by %s, and no index begins with that field: create one, "
                           "db.getCollection(\"%s\").createIndex({\"%s\": 1}), or use --allow-scan (each batch then "
                           "scans the whole collection)",
                           step->no, step->type->name, from->coll.ns, path, from->coll.coll, path);
}

/* ---- claims: fields that expand adds ---- */
static bool
index_has(struct mrs_view index, const char *field)
{
    struct mrs_val key = live_at(index, "key");
    struct mrs_walk w;
    struct mrs_elem el;
    size_t n = strlen(field);
    if (key.type == MRS_DOCUMENT) {
        for (mrs_walk_init(&w, mrs_val_view(key)); mrs_walk_next(&w, &el) > 0;) {
            if (strncmp(el.name, field, n) == 0 && (el.name[n] == 0 || el.name[n] == '.')) {
                return true;
            }
        }
    }
    return false;
}

static enum mrs_status
check_claim(struct live_check *c, const struct live_coll_info *info, const char *field, struct mrs_err *e)
{
    MRS_ASSERT(info && field);
    struct mrs_val schema = live_at(info->options, "validator.$jsonSchema");
    struct mrs_walk w;
    struct mrs_elem el;
    char action[16];
    enum mrs_status s = MRS_OK;
    live_text_at(info->options, "validationAction", action, sizeof action);
    if (schema.type == MRS_DOCUMENT && strcmp(action, "warn") != 0) {
        struct mrs_view d = mrs_val_view(schema);
        struct mrs_val known = live_at(d, "properties");
        struct mrs_elem el_top;
        bool listed = known.type == MRS_DOCUMENT &&
            mrs_doc_find(mrs_val_view(known), field, (uint32_t)strcspn(field, "."), &el_top);
        if (!live_bool_at(d, "additionalProperties", true) && !listed &&
            live_at(d, "patternProperties").type == MRS_MISSING) {
            s = live_check_note(c, true, e,
                                "the validator of %s allows no field that it does not name (additionalProperties: "
                                "false) and does not name %s, which the plan adds: add it there first (collMod)",
                                info->coll.ns, field);
        }
    }
    for (mrs_walk_init(&w, info->indexes); s == MRS_OK && mrs_walk_next(&w, &el) > 0;) {
        struct mrs_view index = live_doc_of(el.v);
        char name[128];
        live_text_at(index, "name", name, sizeof name);
        if (live_bool_at(index, "unique", false) && index_has(index, field)) {
            s = live_check_note(c, false, e,
                                "the unique index %s of %s covers %s, which the plan adds: documents that would get "
                                "equal values are refused",
                                name, info->coll.ns, field);
        }
    }
    return s;
}

static enum mrs_status
check_groups(struct live_check *c, struct mrs_err *e)
{
    const struct mrs_live *live = c->job->live;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; live && i < live->n_groups && s == MRS_OK; i++) {
        const struct mrs_live_group *g = &live->group[i];
        const struct mrs_step *first = &c->job->plan->steps[g->first];
        const struct live_coll_info *info =
            g->claims_side >= 0 ? live_server_coll(c->job->server, &first->desc.sides[g->claims_side].coll) : NULL;
        for (uint32_t k = 0; info && k < g->n_claims && s == MRS_OK; k++) {
            s = check_claim(c, info, g->claims[k], e);
        }
        if (s == MRS_OK && g->family == MRS_FAMILY_JOIN) {
            s = check_join(c, first, e);
        }
    }
    return s;
}

/* ---- fields that could not be compared later ---- */
static enum mrs_status
check_made(struct live_check *c, struct mrs_err *e)
{
    const struct mrs_plan *plan = c->job->plan;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; i < plan->n_steps && s == MRS_OK; i++) {
        const struct mrs_step *step = &plan->steps[i];
        bool options = strcmp(step->type->name, "options") == 0;
        bool series = options && mrs_doc_get(step->body, "timeseries").type == MRS_DOCUMENT;
        if (series || (options && mrs_doc_get(step->body, "collation").type == MRS_DOCUMENT)) {
            s = live_check_note(c, true, e, "%s would be made a collection %s (step %u), which could not be compared "
                                "with what it should hold: leave that out here, or reshape a dump",
                                step->desc.sides[0].coll.ns, series ? "of a time series" : "with a collation",
                                step->no);
        }
    }
    return s;
}

/* ---- the mode ---- */
/* Does the server list this command? It is asked, since others than MongoDB call themselves by MongoDB's versions. */
static enum mrs_status
has_command(struct live_check *c, const char *name, bool *yes, struct mrs_err *e)
{
    struct mrs_view cmd;
    struct mrs_buf reply;
    struct live_fault f = {.kind = LIVE_FAULT_NONE};
    mrs_buf_init(&reply, c->job->mem, 48 << 20);
    enum mrs_status s = live_doc_in(&c->tmp, &cmd, e, "{listCommands: 1}");
    MRS_THEN(s, live_command(c->job->link, "admin", cmd, 0, &reply, &f, e));
    struct mrs_val list = s == MRS_OK ? live_at((struct mrs_view){reply.p, (uint32_t)reply.n}, "commands")
                                      : mrs_missing();
    *yes = list.type == MRS_DOCUMENT && mrs_doc_get(mrs_val_view(list), name).type != MRS_MISSING;
    mrs_buf_clear(&reply);
    if (s == MRS_FAIL && f.kind != LIVE_FAULT_NONE && f.kind != LIVE_FAULT_NETWORK) {
        mrs_err_clear(e);
        s = MRS_OK;
    }
    return s;
}

static enum mrs_status
check_block(struct live_check *c, struct mrs_err *e)
{
    MRS_ASSERT(c->job->opts.quiet == LIVE_BY_BLOCK);
    bool can = false;
    if (c->job->server->standalone) {
        return live_check_note(c, true, e, "a standalone server cannot block writers (setUserWriteBlockMode): use "
                               "--quiet-by validator or word");
    }
    enum mrs_status s = has_command(c, "setUserWriteBlockMode", &can, e);
    return s != MRS_OK || can ? s
           : live_check_note(c, true, e, "the server cannot block writers: it does not list setUserWriteBlockMode "
                                         "among its commands (MongoDB has it from 6.0 on): use --quiet-by validator "
                                         "or word");
}

static enum mrs_status
check_mode(struct live_check *c, struct mrs_err *e)
{
    MRS_ASSERT(c->quiet == (c->job->opts.quiet != LIVE_NOT_QUIET));
    const struct live_server *s = c->job->server;
    enum live_quiet by = c->job->opts.quiet;
    if (by == LIVE_BY_BLOCK) {
        return check_block(c, e);
    }
    if (by == LIVE_BY_VALIDATOR) {
        return live_check_note(c, false, e, "a validator prevents inserts and updates, but not deletes: stop all "
                                            "writers that delete");
    }
    return s->standalone && !c->quiet
               ? live_check_note(c, false, e, "the server is standalone, without transactions: readers may see a "
                                 "document in the new schema a moment before its related documents")
               : MRS_OK;
}

enum mrs_status
live_preflight(struct live_job *job, const char *command, struct live_preflight *out, struct mrs_err *e)
{
    MRS_ASSERT(job->plan && job->server && command);
    struct live_check c = {.job = job, .command = command, .out = out, .quiet = job->opts.quiet != LIVE_NOT_QUIET};
    c.apply = strcmp(command, "apply") == 0;
    memset(out, 0, sizeof *out);
    mrs_arena_init(&out->arena, job->mem);
    mrs_arena_init(&c.tmp, job->mem);
    enum mrs_status s = live_check_gather(&c, e);
    if (s == MRS_OK) {
        estimate(&c);
        s = c.apply || strcmp(command, "contract") == 0 ? check_mode(&c, e) : MRS_OK;
    }
    for (uint32_t i = 0; i < c.n_places && s == MRS_OK; i++) {
        s = check_place(&c, &c.place[i], e);
    }
    if (s == MRS_OK && c.apply) {
        s = check_made(&c, e);
    }
    if (s == MRS_OK && !c.quiet) {
        s = check_groups(&c, e);
    }
    MRS_THEN(s, live_check_privileges(&c, e));
    if (s == MRS_OK && c.apply) {
        s = live_check_data(&c, e);
    }
    mrs_arena_clear(&c.tmp);
    return s;
}

void
live_preflight_clear(struct live_preflight *p)
{
    if (p->arena.mem) {
        mrs_arena_clear(&p->arena);
    }
    memset(p, 0, sizeof *p);
}

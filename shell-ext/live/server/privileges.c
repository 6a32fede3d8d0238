/* SPDX-License-Identifier: Apache-2.0 */
/* privileges.c - checks the privileges of the user before a command starts its work.
 *
 * The server reports the privileges of the user; they are compared with a table of the actions of each command on each
 * collection by its roles in the plan. All missing privileges are reported at once, by collection, so that an
 * administrator grants them once. Without access control there is nothing to check. If a server does not report
 * privileges, they are tested with commands that change nothing, but only if the command is going to write. */
#include "preflight.h"

#include <stdio.h>

static const char *const names[] = {"find",
                                    "insert",
                                    "update",
                                    "remove",
                                    "createCollection",
                                    "createIndex",
                                    "dropCollection",
                                    "dropIndex",
                                    "collMod",
                                    "renameCollectionSameDB",
                                    "listIndexes",
                                    "collStats",
                                    "changeStream",
                                    "bypassDocumentValidation",
                                    "listCollections",
                                    "setUserWriteBlockMode",
                                    "bypassWriteBlockingMode",
                                    "inprog",
                                    "killop",
                                    "killAnySession",
                                    "listDatabases",
                                    "serverStatus",
                                    "replSetGetStatus"};
enum {
    N_NAMES = sizeof names / sizeof *names,
    WANTED_ONLY = MAY_COLL_STATS | MAY_CHANGE_STREAM,
    BY_DB_ADMIN = MAY_COLL_MOD | MAY_BYPASS,
    BY_NO_ROLE = MAY_BLOCK_WRITES | MAY_WRITE_BLOCKED
};

unsigned
live_needs(const struct live_check *c, const struct live_place *p)
{
    MRS_ASSERT(c->command);
    bool repair = strcmp(c->command, "verify") == 0 && c->job->opts.repair;
    bool contract = strcmp(c->command, "contract") == 0, rollback = strcmp(c->command, "rollback") == 0;
    unsigned n = p->info ? MAY_FIND | MAY_LIST_INDEXES | MAY_COLL_STATS : MAY_FIND;
    if (p->beside) {
        return MAY_BUILD | MAY_RENAME | (c->job->opts.quiet == LIVE_BY_VALIDATOR ? MAY_BYPASS : 0);
    }
    if (c->apply || repair || contract || rollback) {
        n |= p->roles & MRS_ROLE_CHANGE ? MAY_UPDATE : 0;
        n |= p->roles & MRS_ROLE_ADD ? MAY_INSERT | MAY_UPDATE | MAY_REMOVE : 0;
        n |= p->roles & MRS_ROLE_ADD && !p->info ? MAY_CREATE_COLLECTION | MAY_CREATE_INDEX : 0;
    }
    if (contract || (c->apply && c->quiet)) {
        n |= p->roles & MRS_ROLE_TAKE ? MAY_REMOVE : 0;
        n |= p->renamed ? MAY_RENAME | MAY_DROP_COLLECTION : 0;
        n |= p->dropped ? MAY_DROP_COLLECTION : 0;
        n |= p->indexed ? MAY_DROP_INDEX : 0;
    }
    if (c->apply || contract) {
        n |= p->indexed ? MAY_CREATE_INDEX : 0;
        n |= p->optioned ? MAY_COLL_MOD : 0;
    }
    if (rollback) {
        n |= p->roles & MRS_ROLE_ADD ? MAY_DROP_COLLECTION : 0;
        n |= p->indexed ? MAY_DROP_INDEX : 0;
    }
    if (c->quiet && p->info) {
        n |= c->job->opts.quiet == LIVE_BY_VALIDATOR ? MAY_COLL_MOD | MAY_BYPASS : 0;
    }
    if (p->info && (c->quiet || c->apply || strcmp(c->command, "verify") == 0)) {
        n |= c->job->server->replicated ? MAY_CHANGE_STREAM : 0;
    }
    return n;
}

/* ---- what the server grants ---- */
static bool
text_is(struct mrs_val v, const char *text)
{
    uint32_t n;
    return v.type == MRS_STRING && strcmp(mrs_val_text(v, &n), text) == 0;
}

static bool
part_covers(struct mrs_val granted, const char *needed)
{
    return text_is(granted, "") || text_is(granted, needed);
}

/* db NULL: the cluster. */
static bool
covers(struct mrs_view resource, const char *db, const char *coll)
{
    if (live_bool_at(resource, "anyResource", false)) {
        return true;
    }
    if (!db) {
        return live_bool_at(resource, "cluster", false);
    }
    return part_covers(live_at(resource, "db"), db) && part_covers(live_at(resource, "collection"), coll);
}

static unsigned
actions_of(struct mrs_val list)
{
    struct mrs_walk w;
    struct mrs_elem el;
    unsigned bits = 0;
    if (list.type != MRS_ARRAY) {
        return 0;
    }
    for (mrs_walk_init(&w, mrs_val_view(list)); mrs_walk_next(&w, &el) > 0;) {
        if (text_is(el.v, "anyAction")) {
            return ~0u;
        }
        for (unsigned i = 0; i < N_NAMES; i++) {
            bits |= text_is(el.v, names[i]) ? 1u << i : 0;
        }
    }
    return bits;
}

static unsigned
granted(struct mrs_val privileges, const char *db, const char *coll)
{
    struct mrs_walk w;
    struct mrs_elem el;
    unsigned bits = 0;
    for (mrs_walk_init(&w, mrs_val_view(privileges)); mrs_walk_next(&w, &el) > 0;) {
        struct mrs_view one = el.v.type == MRS_DOCUMENT ? mrs_val_view(el.v) : mrs_empty_doc();
        struct mrs_val resource = live_at(one, "resource");
        if (resource.type == MRS_DOCUMENT && covers(mrs_val_view(resource), db, coll)) {
            bits |= actions_of(live_at(one, "actions"));
        }
    }
    return bits;
}

void
live_put_actions(struct mrs_build *b, unsigned bits)
{
    MRS_ASSERT(!(bits >> N_NAMES));
    uint32_t n = 0;
    mrs_build_open(b, "actions", 7, MRS_ARRAY);
    for (unsigned i = 0; i < N_NAMES; i++) {
        char index[12];
        if (bits >> i & 1) {
            mrs_index_name(index, n++);
            mrs_build_text(b, index, names[i], (uint32_t)strlen(names[i]));
        }
    }
    mrs_build_close(b);
}

static void
list(unsigned bits, char *out, size_t size)
{
    MRS_ASSERT(size > 0);
    size_t n = 0;
    out[0] = 0;
    for (unsigned i = 0; i < N_NAMES && n < size; i++) {
        if (bits >> i & 1) {
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", names[i]);
        }
    }
}

/* ---- test of unreported privileges ---- */
/* None of them changes anything. Some servers create a collection for an update that matches nothing, or for an empty
 * list of indexes: privileges on a missing collection are tested in another way, or not at all. */
enum { ANY = 1, THERE = 2, ABSENT = 4 };
static const struct trial {
    unsigned action, where;
    const char *template; /* %s: collection; for renameCollection: namespace, twice */
} trials[] = {
    {MAY_FIND, ANY, "{find: %s, filter: {_id: {$in: []}}, limit: 1}"},
    {MAY_INSERT, ANY, "{insert: %s, documents: []}"},
    {MAY_UPDATE, THERE, "{update: %s, updates: [{q: {_id: {$in: []}}, u: {$set: {mrs_probe: 1}}}]}"},
    {MAY_UPDATE, ABSENT, "{update: %s, updates: []}"},
    {MAY_REMOVE, ANY, "{delete: %s, deletes: [{q: {_id: {$in: []}}, limit: 1}]}"},
    {MAY_CREATE_INDEX, THERE, "{createIndexes: %s, indexes: []}"},
    {MAY_DROP_INDEX, THERE, "{dropIndexes: %s, index: 'mrs_probe_of_nothing'}"},
    {MAY_COLL_MOD, THERE, "{collMod: %s, index: {name: 'mrs_probe_of_nothing', hidden: false}}"},
    {MAY_DROP_COLLECTION, ANY, "{drop: %s}"},
    {MAY_RENAME, ANY, "{renameCollection: %s, to: %s}"},
};

static enum mrs_status
try_one(struct live_check *c, const struct mrs_coll *coll, const struct trial *t, bool *denied, struct mrs_err *e)
{
    struct mrs_view cmd;
    struct live_fault f;
    struct mrs_err own;
    char absent[300];
    bool rename = t->action == MAY_RENAME, nobodys = rename || t->action == MAY_DROP_COLLECTION;
    mrs_err_clear(&own);
    snprintf(absent, sizeof absent, "%s%smrs_probe_of_nothing", rename ? coll->db : "", rename ? "." : "");
    const char *name = nobodys ? absent : coll->coll;
    MRS_TRY(live_doc_in(&c->tmp, &cmd, e, t->template, name, name));
    enum mrs_status s = live_command(c->job->link, rename ? "admin" : coll->db, cmd, 0, NULL, &f, &own);
    *denied = s == MRS_FAIL && f.code == 13;
    bool lost = s == MRS_FAIL && f.kind == LIVE_FAULT_NETWORK;
    return s == MRS_DEAD || lost ? mrs_err_set(e, s, own.code, "%s", own.msg) : MRS_OK;
}

/* The requested actions that the user lacks on a collection. */
static enum mrs_status
lacking(struct live_check *c, const struct mrs_coll *coll, bool there, unsigned needed, unsigned *lacks,
        struct mrs_err *e)
{
    MRS_ASSERT(!(needed >> N_NAMES));
    enum mrs_status s = MRS_OK;
    if (!c->tried) {
        *lacks = needed & ~granted(c->privileges, coll->db, coll->coll);
        return MRS_OK;
    }
    *lacks = 0;
    for (size_t i = 0; i < sizeof trials / sizeof *trials && s == MRS_OK; i++) {
        bool denied = false;
        if (needed & trials[i].action && trials[i].where & (ANY | (there ? THERE : ABSENT))) {
            s = try_one(c, coll, &trials[i], &denied, e);
            *lacks |= denied ? trials[i].action : 0;
        }
    }
    return s;
}

/* ---- the report ---- */
static const char *
roles_for(unsigned bits, const char *db, char out[120])
{
    MRS_ASSERT(db || bits & BY_NO_ROLE);
    bool plain = bits & ~BY_DB_ADMIN, admin = bits & BY_DB_ADMIN;
    out[0] = 0;
    if (!(bits & BY_NO_ROLE)) {
        snprintf(out, 120, " (%s%s%s on %.63s %s)", plain ? "readWrite" : "", plain && admin ? " and " : "",
                 admin ? "dbAdmin" : "", db, plain && admin ? "have them" : "has them");
    }
    return out;
}

static enum mrs_status
report_missing(struct live_check *c, const char *where, const char *db, unsigned missing, bool refuses,
               struct mrs_err *e)
{
    char text[400], roles[120];
    enum mrs_status s = MRS_OK;
    if (missing & ~WANTED_ONLY) {
        list(missing & ~WANTED_ONLY, text, sizeof text);
        s = live_check_note(c, refuses, e, "the user lacks privileges on %s: %s%s", where, text,
                            roles_for(missing & ~WANTED_ONLY, db, roles));
    }
    if (s == MRS_OK && missing & WANTED_ONLY) {
        list(missing & WANTED_ONLY, text, sizeof text);
        s = live_check_note(c, false, e, "the user lacks privileges on %s: %s (optional; without them %s)", where, text,
                            !(missing & MAY_CHANGE_STREAM) ? "there are no estimates"
                            : c->quiet ? "writes by others are detected later"
                                       : "another walk over the collection finds writes by others");
    }
    return s;
}

static enum mrs_status
check_state(struct live_check *c, struct mrs_err *e)
{
    MRS_ASSERT(c->job->opts.state_db);
    const struct mrs_coll runs = {c->job->opts.state_db, "runs", "runs"};
    char where[120];
    unsigned missing;
    enum mrs_status s = lacking(c, &runs, false, MAY_KEEP_STATE, &missing, e);
    snprintf(where, sizeof where, "%.63s (the state database)", runs.db);
    return s == MRS_OK ? report_missing(c, where, runs.db, missing, true, e) : s;
}

/* A rename needs a privilege on the database, for any collection. */
static enum mrs_status
check_one(struct live_check *c, const struct live_place *p, struct mrs_err *e)
{
    const struct mrs_coll all = {p->coll.db, "", p->coll.db};
    unsigned needed = live_needs(c, p), missing = 0;
    char where[400];
    bool warns = p->beside && !c->listed;
    enum mrs_status s = lacking(c, &p->coll, p->info != NULL, needed & ~MAY_RENAME, &missing, e);
    snprintf(where, sizeof where, "%s%s", p->coll.ns,
             warns ? ", where the collection may have to be built before it takes the place of the old one" : "");
    MRS_THEN(s, report_missing(c, where, p->coll.db, missing, !warns, e));
    MRS_THEN(s, lacking(c, &all, false, MAY_LIST_COLLECTIONS | (needed & MAY_RENAME), &missing, e));
    snprintf(where, sizeof where, "the database %s", p->coll.db);
    return s == MRS_OK ? report_missing(c, where, p->coll.db, missing, !warns, e) : s;
}

/* Only the documents show whether a quiet run rebuilds a collection; this checks whether that is likely. */
static enum mrs_status
check_beside(struct live_check *c, const struct live_place *p, struct mrs_err *e)
{
    MRS_ASSERT(!p->beside || !p->info); /* a future collection is not rebuilt */
    char id[33], ns[MRS_NS_MAX + 64];
    struct live_place beside = {.beside = true};
    bool likely = p->info && (p->info->unique || p->optioned) &&
                  p->roles & (MRS_ROLE_CHANGE | MRS_ROLE_ADD | MRS_ROLE_TAKE);
    if (!c->quiet || !likely || (!c->apply && strcmp(c->command, "contract") != 0)) {
        return MRS_OK;
    }
    mrs_plan_id_text(c->job->plan, id);
    snprintf(ns, sizeof ns, "%s.mrs_%.12s", p->coll.ns, id);
    beside.coll = (struct mrs_coll){p->coll.db, ns + strlen(p->coll.db) + 1, ns};
    return check_one(c, &beside, e);
}

static enum mrs_status
check_all(struct live_check *c, struct mrs_err *e)
{
    const struct mrs_coll cluster = {NULL, NULL, NULL};
    unsigned missing = 0;
    enum mrs_status s = c->listed ? MRS_OK : check_state(c, e);
    for (uint32_t i = 0; i < c->n_places && s == MRS_OK; i++) {
        s = check_one(c, &c->place[i], e);
        MRS_THEN(s, check_beside(c, &c->place[i], e));
    }
    if (s == MRS_OK && c->job->opts.quiet == LIVE_BY_BLOCK && !c->listed) {
        s = lacking(c, &cluster, false, MAY_BLOCK_WRITES | MAY_WRITE_BLOCKED, &missing, e);
        MRS_THEN(s, report_missing(c, "the cluster", "", missing, true, e));
    }
    return s;
}

enum mrs_status
live_check_granted(struct live_check *c, struct mrs_view reply_doc, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(reply_doc));
    struct mrs_val users = live_at(reply_doc, "authInfo.authenticatedUsers");
    if (users.type != MRS_ARRAY || users.n == MRS_DOC_MIN) {
        return MRS_OK;
    }
    c->privileges = live_at(reply_doc, "authInfo.authenticatedUserPrivileges");
    c->tried = c->privileges.type != MRS_ARRAY || c->privileges.n == MRS_DOC_MIN;
    return !c->tried || !c->apply || c->job->opts.execute
               ? check_all(c, e)
               : live_check_note(c, false, e, "the server does not report the privileges of the user: --execute tries "
                                 "them before it writes");
}

enum mrs_status
live_check_privileges(struct live_check *c, struct mrs_err *e)
{
    MRS_ASSERT(c->job->link && c->out);
    struct mrs_view cmd;
    struct mrs_buf reply;
    mrs_buf_init(&reply, c->job->mem, 48 << 20);
    enum mrs_status s = live_doc_in(&c->tmp, &cmd, e, "{connectionStatus:1, showPrivileges:true}");
    MRS_THEN(s, live_command(c->job->link, "admin", cmd, 0, &reply, NULL, e));
    if (s == MRS_OK) {
        struct mrs_view reply_doc = {reply.p, (uint32_t)reply.n};
        s = live_check_granted(c, reply_doc, e);
    }
    mrs_buf_clear(&reply);
    return s;
}

enum mrs_status
live_privileges_beside(struct live_job *job, const struct mrs_coll *coll, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n == 0 || coll);
    struct live_preflight found;
    struct live_check c = {.job = job, .command = "apply", .quiet = true, .listed = true, .out = &found,
                           .n_places = n};
    memset(&found, 0, sizeof found);
    mrs_arena_init(&found.arena, job->mem);
    mrs_arena_init(&c.tmp, job->mem);
    c.place = mrs_arena_alloc(&c.tmp, (n + 1) * sizeof *c.place);
    enum mrs_status s = mrs_allocated(c.place, n * sizeof *c.place, e);
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        c.place[i] = (struct live_place){.coll = coll[i], .beside = true};
    }
    s = s == MRS_OK && n ? live_check_privileges(&c, e) : s;
    for (uint32_t i = 0; i < found.n && s == MRS_OK; i++) {
        if (found.finding[i].refuses) {
            s = mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "a collection must be rebuilt next to the old one, and %s; "
                                                       "nothing was changed", found.finding[i].text);
        }
    }
    mrs_arena_clear(&c.tmp);
    live_preflight_clear(&found);
    return s;
}

/* privileges.c - whether the user may do what the command will do, asked before it does anything.
 *
 * The server tells the privileges of whoever is logged in; they are held against a list of what each command does to
 * each collection by its roles in the plan. All that is missing is named at once, by collection, so that an
 * administrator grants it once. Where access control is off there is nothing to check. */
#include "preflight.h"

#include <stdio.h>

enum {
    FIND = 1 << 0,
    INSERT = 1 << 1,
    UPDATE = 1 << 2,
    REMOVE = 1 << 3,
    CREATE_COLLECTION = 1 << 4,
    CREATE_INDEX = 1 << 5,
    DROP_COLLECTION = 1 << 6,
    DROP_INDEX = 1 << 7,
    COLL_MOD = 1 << 8,
    RENAME = 1 << 9,
    LIST_INDEXES = 1 << 10,
    COLL_STATS = 1 << 11,
    CHANGE_STREAM = 1 << 12,
    BYPASS = 1 << 13,
    LIST_COLLECTIONS = 1 << 14,
    BLOCK_WRITES = 1 << 15,
    WRITE_BLOCKED = 1 << 16
};
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
                                    "bypassWriteBlockingMode"};
enum { N_NAMES = sizeof names / sizeof *names, WANTED_ONLY = COLL_STATS | CHANGE_STREAM };

/* What a command does to a collection with these roles. */
static unsigned
needs(const struct live_check *c, const struct live_place *p)
{
    bool repair = strcmp(c->command, "verify") == 0 && c->job->opts.repair;
    bool contract = strcmp(c->command, "contract") == 0, rollback = strcmp(c->command, "rollback") == 0;
    unsigned n = p->info ? FIND | LIST_INDEXES | COLL_STATS : FIND;
    if (c->apply || repair || contract || rollback) {
        n |= p->roles & MRS_ROLE_CHANGE ? UPDATE : 0;
        n |= p->roles & MRS_ROLE_ADD ? INSERT | UPDATE | REMOVE : 0;
        n |= p->roles & MRS_ROLE_ADD && !p->info ? CREATE_COLLECTION | CREATE_INDEX : 0;
    }
    if (contract || (c->apply && c->quiet)) {
        n |= p->roles & MRS_ROLE_TAKE ? REMOVE : 0;
        n |= p->renamed ? RENAME | DROP_COLLECTION : 0;
        n |= p->dropped ? DROP_COLLECTION : 0;
        n |= p->indexed ? DROP_INDEX : 0;
    }
    if (c->apply || contract) {
        n |= p->indexed ? CREATE_INDEX : 0;
        n |= p->optioned ? COLL_MOD : 0;
    }
    if (rollback) {
        n |= p->roles & MRS_ROLE_ADD ? DROP_COLLECTION : 0;
        n |= p->indexed ? DROP_INDEX : 0;
    }
    if (c->quiet && p->info) {
        n |= c->job->opts.quiet == LIVE_BY_VALIDATOR ? COLL_MOD | BYPASS : 0;
        n |= c->job->server->replicated ? CHANGE_STREAM : 0;
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
part_covers(struct mrs_val granted, const char *asked)
{
    return text_is(granted, "") || text_is(granted, asked);
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

static void
list(unsigned bits, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (unsigned i = 0; i < N_NAMES && n < size; i++) {
        if (bits >> i & 1) {
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", names[i]);
        }
    }
}

static enum mrs_status
compare(struct live_check *c, const char *where, unsigned asked, unsigned given, struct mrs_err *e)
{
    char text[400];
    enum mrs_status s = MRS_OK;
    unsigned missing = asked & ~given;
    if (missing & ~WANTED_ONLY) {
        list(missing & ~WANTED_ONLY, text, sizeof text);
        s = live_check_note(c, true, e, "the user lacks privileges on %s: %s", where, text);
    }
    if (s == MRS_OK && missing & WANTED_ONLY) {
        list(missing & WANTED_ONLY, text, sizeof text);
        s = live_check_note(c, false, e, "the user lacks privileges on %s: %s (it goes without: %s)", where, text,
                            missing & CHANGE_STREAM ? "writes of others are noticed later" : "no estimates");
    }
    return s;
}

static enum mrs_status
compare_all(struct live_check *c, struct mrs_val privileges, struct mrs_err *e)
{
    const char *state = c->job->opts.state_db;
    char where[300];
    snprintf(where, sizeof where, "%s (the state of runs)", state);
    enum mrs_status s = compare(c, where, FIND | INSERT | UPDATE | REMOVE | CREATE_COLLECTION | DROP_COLLECTION,
                                granted(privileges, state, "runs"), e);
    for (uint32_t i = 0; i < c->n_places && s == MRS_OK; i++) {
        const struct live_place *p = &c->place[i];
        s = compare(c, p->coll.ns, needs(c, p), granted(privileges, p->coll.db, p->coll.coll), e);
        if (s == MRS_OK) {
            snprintf(where, sizeof where, "the database %s", p->coll.db);
            s = compare(c, where, LIST_COLLECTIONS, granted(privileges, p->coll.db, ""), e);
        }
    }
    if (s == MRS_OK && c->job->opts.quiet == LIVE_BY_BLOCK) {
        s = compare(c, "the cluster", BLOCK_WRITES | WRITE_BLOCKED, granted(privileges, NULL, NULL), e);
    }
    return s;
}

enum mrs_status
live_check_granted(struct live_check *c, struct mrs_view said, struct mrs_err *e)
{
    struct mrs_val users = live_at(said, "authInfo.authenticatedUsers"),
                   privileges = live_at(said, "authInfo.authenticatedUserPrivileges");
    if (users.type != MRS_ARRAY || users.n == MRS_DOC_MIN) {
        return MRS_OK;
    }
    return privileges.type == MRS_ARRAY && privileges.n > MRS_DOC_MIN
               ? compare_all(c, privileges, e)
               : live_check_note(c, false, e, "the server does not tell the privileges of the user: a missing one will "
                                 "stop the run where it is needed");
}

enum mrs_status
live_check_privileges(struct live_check *c, struct mrs_err *e)
{
    struct mrs_view cmd;
    struct mrs_buf reply;
    mrs_buf_init(&reply, c->job->mem, 48 << 20);
    enum mrs_status s = live_doc_in(&c->tmp, &cmd, e, "{connectionStatus:1, showPrivileges:true}");
    if (s == MRS_OK) {
        s = live_command(c->job->link, "admin", cmd, 0, &reply, NULL, e);
    }
    if (s == MRS_OK) {
        struct mrs_view said = {reply.p, (uint32_t)reply.n};
        s = live_check_granted(c, said, e);
    }
    mrs_buf_clear(&reply);
    return s;
}

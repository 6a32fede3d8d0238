/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - reads the properties of the server and the catalogue of its databases.
 *
 * Read once, before a plan is checked: topology, version, and the catalogue of the plan's databases, in the form of a
 * dump, so that the same code checks a plan online and offline. Unsupported servers (old versions, storage that is not
 * durable) are refused here, before any other query. Does not depend on plans or runs; writes nothing. */
#include "server.h"

#include "live/link/bson.h"
#include "mongoreshape/catalogue.h"

#include <stdio.h>
#include <stdlib.h>

enum { REPLY_MAX = 48 << 20 };

struct server_reading {
    struct live_link *l;
    struct live_server *s;
    struct mrs_arena cmds; /* for commands, freed after each */
    struct mrs_buf reply;
    uint32_t cap;
    const char *db;
    bool read_only; /* no writes will follow: any server is supported */
    bool denied;  /* result of the last command */
};

static struct mrs_view
reply_of(const struct server_reading *r)
{
    return (struct mrs_view){r->reply.p, (uint32_t)r->reply.n};
}

/* Sends a command; the reply is in r->reply. */
static enum mrs_status
run_command(struct server_reading *r, const char *db, struct mrs_view cmd, struct live_fault *f, struct mrs_err *e)
{
    struct live_fault own;
    f = f ? f : &own;
    mrs_buf_reset(&r->reply);
    enum mrs_status s = live_command(r->l, db, cmd, 0, &r->reply, f, e);
    r->denied = s == MRS_FAIL && f->kind == LIVE_FAULT_DENIED;
    return s;
}

/* The same for commands that may be forbidden or unknown: END then, and no error. */
static enum mrs_status
try_command(struct server_reading *r, const char *db, const char *template, struct mrs_err *e)
{
    struct mrs_view cmd;
    struct live_fault f;
    struct mrs_err own;
    mrs_err_clear(&own);
    mrs_arena_reset(&r->cmds);
    MRS_TRY(live_doc_in(&r->cmds, &cmd, e, template));
    enum mrs_status s = run_command(r, db, cmd, &f, &own);
    if (s == MRS_FAIL && f.kind != LIVE_FAULT_NETWORK) {
        return MRS_END;
    }
    return s == MRS_OK ? s : mrs_err_set(e, s, own.code, "%s", own.msg);
}

/* ---- commands with a cursor reply ---- */
typedef enum mrs_status one_fn(struct server_reading *r, struct mrs_view doc, void *arg, struct mrs_err *e);

static enum mrs_status
each_in(struct server_reading *r, const char *batch, one_fn *one, void *arg, struct mrs_err *e)
{
    struct mrs_val list = live_at(reply_of(r), batch);
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = MRS_OK;
    if (list.type != MRS_ARRAY) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the server's answer has no %s", batch);
    }
    for (mrs_walk_init(&w, mrs_val_view(list)); s == MRS_OK && mrs_walk_next(&w, &el) > 0;) {
        s = el.v.type == MRS_DOCUMENT ? one(r, mrs_val_view(el.v), arg, e) : MRS_OK;
    }
    return s;
}

static enum mrs_status
each(struct server_reading *r, struct mrs_view cmd, one_fn *one, void *arg, struct live_fault *f, struct mrs_err *e)
{
    enum mrs_status s = run_command(r, r->db, cmd, f, e);
    MRS_THEN(s, each_in(r, "cursor.firstBatch", one, arg, e));
    int64_t id = s == MRS_OK ? live_int_at(reply_of(r), "cursor.id", 0) : 0;
    while (s == MRS_OK && id != 0) {
        char ns[300];
        struct mrs_view more;
        live_text_at(reply_of(r), "cursor.ns", ns, sizeof ns);
        const char *dot = strchr(ns, '.');
        s = live_doc_in(&r->cmds, &more, e, "{getMore:%I, collection:%s}", id, dot ? dot + 1 : "");
        MRS_THEN(s, run_command(r, r->db, more, f, e));
        if (s == MRS_OK) {
            s = each_in(r, "cursor.nextBatch", one, arg, e);
            id = live_int_at(reply_of(r), "cursor.id", 0);
        }
    }
    return s;
}

/* ---- one collection ---- */
static void
uuid_text(struct mrs_val v, char out[40])
{
    out[0] = 0;
    if (v.type != MRS_BINARY || v.n != 21 || v.p[4] != 4) {
        return;
    }
    const uint8_t *b = v.p + 5;
    snprintf(out, 40, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
             b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static const char *
text_in(struct mrs_arena *a, const char *one, const char *two)
{
    MRS_ASSERT(one);
    size_t n = strlen(one), m = two ? strlen(two) + 1 : 0;
    char *out = mrs_arena_alloc(a, n + m + 1);
    if (out) {
        memcpy(out, one, n);
        if (two) {
            out[n] = '.';
            memcpy(out + n + 1, two, m - 1);
        }
        out[n + m] = 0;
    }
    return out;
}

static bool
view_in(struct mrs_arena *a, struct mrs_view v, struct mrs_view *out)
{
    out->p = mrs_arena_copy(a, v.p, v.n);
    out->n = v.n;
    return out->p != NULL;
}

static enum mrs_status
add_coll(struct server_reading *r, struct mrs_view doc, void *arg, struct mrs_err *e)
{
    MRS_ASSERT(r->s->n_coll <= r->cap);
    char name[300], type[32], locale[32];
    (void)arg;
    live_text_at(doc, "name", name, sizeof name);
    live_text_at(doc, "type", type, sizeof type);
    if (strncmp(name, "system.", 7) == 0 || !name[0]) {
        return MRS_OK;
    }
    struct live_coll_info *more = mrs_arena_more(&r->s->arena, r->s->coll, r->s->n_coll, &r->cap, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    r->s->coll = more;
    struct live_coll_info *c = &r->s->coll[r->s->n_coll];
    struct mrs_val options = live_at(doc, "options");
    memset(c, 0, sizeof *c);
    c->coll.db = text_in(&r->s->arena, r->db, NULL);
    c->coll.coll = text_in(&r->s->arena, name, NULL);
    c->coll.ns = text_in(&r->s->arena, r->db, name);
    if (!c->coll.db || !c->coll.coll || !c->coll.ns ||
        !view_in(&r->s->arena, options.type == MRS_DOCUMENT ? mrs_val_view(options) : mrs_empty_doc(), &c->options)) {
        return mrs_err_memory(e, doc.n);
    }
    c->indexes = mrs_empty_doc();
    live_text_at(c->options, "collation.locale", locale, sizeof locale);
    c->view = strcmp(type, "view") == 0;
    c->timeseries = strcmp(type, "timeseries") == 0 || live_at(c->options, "timeseries").type == MRS_DOCUMENT;
    c->capped = live_bool_at(c->options, "capped", false);
    c->clustered = live_at(c->options, "clusteredIndex").type != MRS_MISSING;
    c->encrypted = live_at(c->options, "encryptedFields").type == MRS_DOCUMENT;
    c->collated = locale[0] && strcmp(locale, "simple") != 0;
    c->ttl = live_at(c->options, "expireAfterSeconds").type != MRS_MISSING;
    c->validated = live_at(c->options, "validator").type == MRS_DOCUMENT &&
                   live_at(c->options, "validator").n > MRS_DOC_MIN;
    uuid_text(live_at(doc, "info.uuid"), c->uuid);
    r->s->n_coll++;
    return MRS_OK;
}

struct index_list {
    struct live_coll_info *coll;
    struct mrs_build b;
    struct mrs_buf buf;
};

static enum mrs_status
add_index(struct server_reading *r, struct mrs_view doc, void *arg, struct mrs_err *e)
{
    MRS_ASSERT(((struct index_list *)arg)->coll);
    struct index_list *list = arg;
    char name[8];
    (void)r, (void)e;
    live_text_at(doc, "name", name, sizeof name);
    mrs_build_item(&list->b, mrs_view_val(doc));
    if (live_at(doc, "expireAfterSeconds").type != MRS_MISSING) {
        list->coll->ttl = true;
    }
    if (live_bool_at(doc, "unique", false) && strcmp(name, "_id_") != 0 && !live_bool_at(doc, "clustered", false)) {
        list->coll->unique = true;
    }
    return MRS_OK;
}

/* END: the collection was dropped meanwhile. */
static enum mrs_status
read_indexes(struct server_reading *r, struct live_coll_info *c, struct mrs_err *e)
{
    MRS_ASSERT(c->coll.ns && c->indexes.n <= MRS_DOC_MIN);
    struct index_list list = {.coll = c};
    struct mrs_view cmd, all;
    struct live_fault f;
    struct mrs_err own;
    mrs_err_clear(&own);
    mrs_arena_reset(&r->cmds);
    mrs_buf_init(&list.buf, r->s->arena.mem, MRS_METADATA_MAX);
    mrs_build_init(&list.b, &list.buf);
    enum mrs_status s = live_doc_in(&r->cmds, &cmd, &own, "{listIndexes:%s, cursor:{batchSize:1000}}", c->coll.coll);
    if (s == MRS_OK) {
        s = each(r, cmd, add_index, &list, &f, &own);
        s = s == MRS_FAIL && f.kind == LIVE_FAULT_MISSING ? MRS_END : s;
    }
    MRS_THEN(s, mrs_build_finish(&list.b, &all, &own));
    if (s == MRS_OK && !view_in(&r->s->arena, all, &c->indexes)) {
        s = mrs_err_memory(&own, all.n);
    }
    mrs_buf_clear(&list.buf);
    return s == MRS_OK || s == MRS_END ? s : mrs_err_set(e, s, own.code, "%s: %s", c->coll.ns, own.msg);
}

/* Sizes are only for the report of a dry run: without the privilege they are zero. */
static enum mrs_status
read_sizes(struct server_reading *r, struct live_coll_info *c, struct mrs_err *e)
{
    struct mrs_view cmd;
    struct live_fault f;
    struct mrs_err own;
    mrs_err_clear(&own);
    mrs_arena_reset(&r->cmds);
    enum mrs_status s = live_doc_in(&r->cmds, &cmd, &own, "{collStats:%s}", c->coll.coll);
    if (s == MRS_OK) {
        s = run_command(r, r->db, cmd, &f, &own);
        if (s == MRS_FAIL && f.kind != LIVE_FAULT_NETWORK) {
            return MRS_OK;
        }
    }
    if (s != MRS_OK) {
        return mrs_err_set(e, s, own.code, "%s", own.msg);
    }
    int64_t count = live_int_at(reply_of(r), "count", 0), bytes = live_int_at(reply_of(r), "size", 0);
    c->count = count > 0 ? (uint64_t)count : 0;
    c->bytes = bytes > 0 ? (uint64_t)bytes : 0;
    c->avg = c->count ? c->bytes / c->count : 0;
    return MRS_OK;
}

static enum mrs_status
read_database(struct server_reading *r, const char *db, struct mrs_err *e)
{
    MRS_ASSERT(db[0]);
    struct mrs_view cmd;
    uint32_t first = r->s->n_coll, kept = first;
    r->db = db;
    mrs_arena_reset(&r->cmds);
    enum mrs_status s = live_doc_in(&r->cmds, &cmd, e, "{listCollections:1, cursor:{batchSize:100000}}");
    MRS_THEN(s, each(r, cmd, add_coll, NULL, NULL, e));
    for (uint32_t i = first; i < r->s->n_coll && s == MRS_OK; i++) {
        struct live_coll_info *c = &r->s->coll[i];
        if (!c->view) {
            s = read_indexes(r, c, e);
            if (s == MRS_END) {
                s = MRS_OK;
                continue;
            }
        }
        if (s == MRS_OK && !c->view && !c->timeseries) {
            s = read_sizes(r, c, e);
        }
        r->s->coll[kept++] = *c;
    }
    if (s == MRS_OK) {
        r->s->n_coll = kept;
    }
    return s;
}

/* ---- the server itself ---- */
static enum mrs_status
read_version(struct server_reading *r, struct mrs_err *e)
{
    struct live_server *s = r->s;
    enum mrs_status st = try_command(r, "admin", "{buildInfo:1}", e);
    if (st == MRS_OK) {
        live_text_at(reply_of(r), "version", s->version, sizeof s->version);
        const char *dot = strchr(s->version, '.');
        s->major = (int)strtol(s->version, NULL, 10);
        s->minor = dot ? (int)strtol(dot + 1, NULL, 10) : 0;
        if (s->major < 4 || (s->major == 4 && s->minor < 4)) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                               "the server is MongoDB %s: this tool needs 4.4 or later; move the data offline with a "
                               "dump and `mongoreshape run`",
                               s->version);
        }
        st = try_command(r, "admin", "{getParameter:1, featureCompatibilityVersion:1}", e);
        if (st == MRS_OK) {
            live_text_at(reply_of(r), "featureCompatibilityVersion.version", s->fcv, sizeof s->fcv);
        }
    } else if (st == MRS_END) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the server does not report its version (buildInfo)");
    }
    return st == MRS_END ? MRS_OK : st;
}

static enum mrs_status
read_topology(struct server_reading *r, struct mrs_err *e)
{
    struct live_server *s = r->s;
    char msg[16];
    enum mrs_status st = try_command(r, "admin", "{hello:1}", e);
    if (st == MRS_END) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "the server does not answer hello: it is older than 4.4");
    }
    if (st != MRS_OK) {
        return st;
    }
    live_text_at(reply_of(r), "setName", s->set_name, sizeof s->set_name);
    live_text_at(reply_of(r), "me", s->host, sizeof s->host);
    live_text_at(reply_of(r), "msg", msg, sizeof msg);
    s->sharded = strcmp(msg, "isdbgrid") == 0;
    s->replicated = s->set_name[0] != 0;
    s->standalone = !s->sharded && !s->replicated;
    return MRS_OK;
}

/* A standalone server without a journal may lose acknowledged writes, and a run could lose data for ever. If the user
 * may not read the setting, the first write of our state fails, which requires the journal. */
static enum mrs_status
check_journal(struct server_reading *r, struct mrs_err *e)
{
    enum mrs_status s = try_command(r, "admin", "{serverStatus:1}", e);
    bool forgets = s == MRS_OK && !live_bool_at(reply_of(r), "storageEngine.persistent", true);
    if (s == MRS_OK) {
        s = try_command(r, "admin", "{getCmdLineOpts:1}", e);
        forgets = forgets || (s == MRS_OK && !live_bool_at(reply_of(r), "parsed.storage.journal.enabled", true));
    }
    if (forgets) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                           "the server is standalone and keeps no journal: what it has acknowledged may be gone after "
                           "a crash; start it with its journal, or as a replica set");
    }
    return s == MRS_END ? MRS_OK : s;
}

static int
by_namespace(const void *a, const void *b)
{
    const struct live_coll_info *x = a, *y = b;
    return strcmp(x->coll.ns, y->coll.ns);
}

static enum mrs_status
read_all(struct server_reading *r, const char *const *db, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n == 0 || db);
    enum mrs_status s = read_topology(r, e);
    MRS_THEN(s, read_version(r, e));
    if (s == MRS_OK && r->s->standalone && !r->read_only) {
        s = check_journal(r, e);
    }
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        bool before = false;
        for (uint32_t k = 0; k < i; k++) {
            before = before || strcmp(db[i], db[k]) == 0;
        }
        s = before ? MRS_OK : read_database(r, db[i], e);
    }
    if (s == MRS_OK && r->s->n_coll) {
        qsort(r->s->coll, r->s->n_coll, sizeof *r->s->coll, by_namespace);
    }
    return s;
}

/* ---- all databases ---- */
struct database_list {
    struct mrs_arena *arena; /* for the names */
    const char **name;
    uint32_t n, cap;
};

static enum mrs_status
add_database(struct server_reading *r, struct mrs_view doc, void *arg, struct mrs_err *e)
{
    static const char *const of_the_server[] = {"admin", "config", "local"};
    struct database_list *list = arg;
    char name[MRS_DB_MAX + 1];
    (void)r;
    live_text_at(doc, "name", name, sizeof name);
    bool theirs = !name[0] || mrs_ns_internal(name);
    for (size_t i = 0; i < sizeof of_the_server / sizeof *of_the_server; i++) {
        theirs = theirs || strcmp(name, of_the_server[i]) == 0;
    }
    if (theirs) {
        return MRS_OK;
    }
    const char **more = mrs_arena_more(list->arena, list->name, list->n, &list->cap, sizeof(char *));
    const char *copy = more ? text_in(list->arena, name, NULL) : NULL;
    MRS_TRY(mrs_allocated(copy, sizeof(char *), e));
    list->name = more;
    list->name[list->n++] = copy;
    return MRS_OK;
}

/* seen: only databases visible to the user. */
static enum mrs_status
list_databases(struct server_reading *r, bool seen, struct database_list *list, struct mrs_err *e)
{
    struct mrs_view cmd;
    mrs_arena_reset(&r->cmds);
    enum mrs_status s = live_doc_in(&r->cmds, &cmd, e, "{listDatabases: 1, nameOnly: true, authorizedDatabases: %b}",
                                    seen);
    MRS_THEN(s, run_command(r, "admin", cmd, NULL, e));
    return s == MRS_OK ? each_in(r, "databases", add_database, list, e) : s;
}

/* ---- entry points ---- */
/* Commands that only read need few privileges: reports which ones, and which role grants them. */
static enum mrs_status
report_role(const struct server_reading *r, struct mrs_err *e)
{
    struct mrs_err was = *e;
    mrs_err_clear(e);
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER, "%.300s; the user needs the role read%s%s (find, listCollections, "
                       "listIndexes)%s", was.msg, r->db ? " on " : "", r->db ? r->db : "",
                       r->db ? "" : ", or name a database with --db");
}

static enum mrs_status
server_read(struct server_reading *r, struct mrs_mem *mem, const char *const *db, uint32_t n, struct live_server **out,
            struct mrs_err *e)
{
    MRS_ASSERT(r->l && !r->s);
    struct database_list all = {.n = n};
    *out = NULL;
    r->s = mrs_zalloc(mem, sizeof *r->s);
    MRS_TRY(mrs_allocated(r->s, sizeof *r->s, e));
    mrs_arena_init(&r->s->arena, mem);
    mrs_arena_init(&r->cmds, mem);
    mrs_buf_init(&r->reply, mem, REPLY_MAX);
    all.arena = &r->s->arena;
    enum mrs_status s = r->read_only && !n ? list_databases(r, true, &all, e) : MRS_OK;
    MRS_THEN(s, read_all(r, all.name ? all.name : db, all.n, e));
    s = s == MRS_FAIL && r->read_only && r->denied && e ? report_role(r, e) : s;
    mrs_buf_clear(&r->reply);
    mrs_arena_clear(&r->cmds);
    if (s != MRS_OK) {
        live_server_free(r->s);
        return s;
    }
    *out = r->s;
    return MRS_OK;
}

enum mrs_status
live_server_read(struct mrs_mem *mem, struct live_link *l, const char *const *db, uint32_t n, struct live_server **out,
                 struct mrs_err *e)
{
    struct server_reading r = {.l = l};
    return server_read(&r, mem, db, n, out, e);
}

enum mrs_status
live_server_read_any(struct mrs_mem *mem, struct live_link *l, const char *db, struct live_server **out,
                     struct mrs_err *e)
{
    struct server_reading r = {.l = l, .read_only = true};
    return server_read(&r, mem, &db, db != NULL, out, e);
}

enum mrs_status
live_server_databases(struct mrs_mem *mem, struct live_link *l, struct mrs_arena *a, const char ***name, uint32_t *n,
                      struct mrs_err *e)
{
    MRS_ASSERT(name && n);
    struct server_reading r = {.l = l};
    struct database_list all = {.arena = a};
    mrs_arena_init(&r.cmds, mem);
    mrs_buf_init(&r.reply, mem, REPLY_MAX);
    enum mrs_status s = list_databases(&r, false, &all, e);
    if (s == MRS_FAIL && r.denied && e) {
        struct mrs_err was = *e;
        mrs_err_clear(e);
        mrs_err_set(e, s, MRS_E_SERVER, "%.300s; the name of a database has a star, and for this the user needs the "
                    "privilege listDatabases on the cluster; or write a step for each database", was.msg);
    }
    mrs_buf_clear(&r.reply);
    mrs_arena_clear(&r.cmds);
    *name = all.name;
    *n = all.n;
    return s;
}

void
live_server_free(struct live_server *s)
{
    if (s) {
        struct mrs_mem *mem = s->arena.mem;
        mrs_arena_clear(&s->arena);
        mrs_free(mem, s);
    }
}

const struct live_coll_info *
live_server_coll(const struct live_server *s, const struct mrs_coll *c)
{
    MRS_ASSERT(s->n_coll == 0 || s->coll);
    uint32_t from = 0, to = s->n_coll;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        int way = strcmp(s->coll[mid].coll.ns, c->ns);
        if (way == 0) {
            return &s->coll[mid];
        }
        from = way < 0 ? mid + 1 : from;
        to = way < 0 ? to : mid;
    }
    return NULL;
}

/* ---- in the form of a dump ---- */
enum mrs_status
live_server_metadata(const struct live_coll_info *c, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    struct mrs_build b;
    struct mrs_view all;
    struct mrs_walk w, inner;
    struct mrs_elem el, field;
    char uuid[40];
    uint32_t n = 0;
    mrs_build_init(&b, out);
    mrs_build_val(&b, "options", 7, mrs_view_val(c->options.n ? c->options : mrs_empty_doc()));
    mrs_build_open(&b, "indexes", 7, MRS_ARRAY);
    for (mrs_walk_init(&w, c->indexes.n ? c->indexes : mrs_empty_doc()); mrs_walk_next(&w, &el) > 0;) {
        mrs_build_item_open(&b, MRS_DOCUMENT);
        for (mrs_walk_init(&inner, mrs_val_view(el.v)); mrs_walk_next(&inner, &field) > 0;) {
            if (!mrs_name_is(&field, "ns", 2)) {
                mrs_build_elem(&b, &field);
            }
        }
        mrs_build_close(&b);
    }
    mrs_build_close(&b);
    for (const char *at = c->uuid; *at; at++) {
        if (*at != '-') {
            uuid[n++] = *at;
        }
    }
    if (n) {
        mrs_build_text(&b, "uuid", uuid, n);
    }
    mrs_build_text(&b, "collectionName", c->coll.coll, (uint32_t)strlen(c->coll.coll));
    const char *type = c->view ? "view" : c->timeseries ? "timeseries" : "collection";
    mrs_build_text(&b, "type", type, (uint32_t)strlen(type));
    return mrs_build_finish(&b, &all, e);
}

enum mrs_status
live_server_catalog(struct mrs_mem *mem, const struct live_server *s, struct mrs_catalog **out, struct mrs_err *e)
{
    struct mrs_buf buf;
    mrs_buf_init(&buf, mem, MRS_METADATA_MAX);
    enum mrs_status st = mrs_catalog_new(mem, out, e);
    for (uint32_t i = 0; i < s->n_coll && st == MRS_OK; i++) {
        const struct live_coll_info *c = &s->coll[i];
        mrs_buf_reset(&buf);
        st = live_server_metadata(c, &buf, e);
        if (st == MRS_OK) {
            struct mrs_view d = {buf.p, (uint32_t)buf.n};
            st = mrs_catalog_add(*out, c->coll.db, c->coll.coll, d, e);
        }
    }
    mrs_buf_clear(&buf);
    if (st != MRS_OK) {
        mrs_catalog_free(*out);
        *out = NULL;
    }
    return st;
}

static enum mrs_status
take_uuid(struct server_reading *r, struct mrs_view doc, void *arg, struct mrs_err *e)
{
    (void)r, (void)e;
    uuid_text(live_at(doc, "info.uuid"), arg);
    return MRS_OK;
}

enum mrs_status
live_server_uuid(struct live_link *l, const struct mrs_coll *c, char uuid[40], struct mrs_err *e)
{
    MRS_ASSERT(c->db && c->coll);
    struct server_reading r = {.l = l, .db = c->db};
    struct mrs_view cmd;
    uuid[0] = 0;
    mrs_arena_init(&r.cmds, live_link_mem(l));
    mrs_buf_init(&r.reply, live_link_mem(l), REPLY_MAX);
    enum mrs_status s = live_doc_in(&r.cmds, &cmd, e, "{listCollections:1, filter:{name:%s}, cursor:{}}", c->coll);
    MRS_THEN(s, each(&r, cmd, take_uuid, uuid, NULL, e));
    mrs_buf_clear(&r.reply);
    mrs_arena_clear(&r.cmds);
    return s;
}

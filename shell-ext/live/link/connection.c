/* SPDX-License-Identifier: Apache-2.0 */
/* connection.c - the connection: opens it, monitors it, sends commands.
 *
 * All traffic of the online tool goes through this file, so it ensures the guarantees: the primary only, majority if
 * available, our comment on every operation, documents as bytes that were validated once. The driver's monitoring shows
 * lost connections and new primaries; they are counted (generation), and the caller compares the count before it relies
 * on state in memory. One thread, one client: the driver does nothing in the background. Does not depend on plans, runs
 * or leases. */
#include "connection_driver.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void
live_link_setup(void)
{
    char counters[32];
    mongoc_log_set_handler(NULL, NULL);
    mongoc_init();
    /* The driver's counters in shared memory, made when it is loaded: they are not used here, and a killed process
     * would leave them behind. */
    snprintf(counters, sizeof counters, "/mongoc-%u", (unsigned)getpid());
    shm_unlink(counters);
}

void
live_link_teardown(void)
{
    mongoc_cleanup();
}

/* ---- events of the driver ---- */
static struct mrs_val
hello_value(const mongoc_server_description_t *sd, const char *path)
{
    const bson_t *hello = mongoc_server_description_hello_response((mongoc_server_description_t *)sd);
    struct mrs_view d = {NULL, 0};
    if (hello && mrs_doc_check(bson_get_data(hello), hello->len, MRS_DEPTH_READ, NULL) == MRS_OK) {
        d.p = bson_get_data(hello);
        d.n = hello->len;
    }
    return live_at(d, path);
}

static bool
moved(const mongoc_server_description_t *before, const mongoc_server_description_t *now, const char *path)
{
    struct mrs_val a = hello_value(before, path), b = hello_value(now, path);
    return a.type != MRS_MISSING && b.type != MRS_MISSING && !mrs_identical(a, b);
}

static void
server_changed(const mongoc_apm_server_changed_t *event)
{
    struct live_link *l = mongoc_apm_server_changed_get_context(event);
    const mongoc_server_description_t *before = mongoc_apm_server_changed_get_previous_description(event),
                                      *now = mongoc_apm_server_changed_get_new_description(event);
    const char *was = mongoc_server_description_type(before), *is = mongoc_server_description_type(now);
    bool known = strcmp(was, "Unknown") != 0;
    if ((known && strcmp(was, is) != 0) || moved(before, now, "electionId") ||
        moved(before, now, "topologyVersion.processId")) {
        l->generation++;
    }
    if (l->single && strcmp(is, "Unknown") != 0) {
        l->not_primary = strcmp(is, "RSPrimary") != 0 && strcmp(is, "Standalone") != 0 && strcmp(is, "Mongos") != 0;
    }
}

/* ---- open, close ---- */
static bool
is_direct(const mongoc_uri_t *uri)
{
    const mongoc_host_list_t *hosts = mongoc_uri_get_hosts(uri);
    return mongoc_uri_get_option_as_bool(uri, MONGOC_URI_DIRECTCONNECTION, false) ||
           (hosts && !hosts->next && !mongoc_uri_get_replica_set(uri));
}

static enum mrs_status
send_hello(struct live_link *l, struct mrs_err *e)
{
    MRS_ASSERT(l->client && !l->replicated && !l->sharded);
    struct mrs_buf reply;
    struct mrs_view cmd, reply_doc;
    struct mrs_arena a;
    mrs_arena_init(&a, l->mem);
    mrs_buf_init(&reply, l->mem, 1 << 20);
    enum mrs_status s = live_doc_in(&a, &cmd, e, "{hello:1}");
    MRS_THEN(s, live_command(l, "admin", cmd, 0, &reply, NULL, e));
    if (s == MRS_OK) {
        reply_doc.p = reply.p;
        reply_doc.n = (uint32_t)reply.n;
        l->replicated = live_at(reply_doc, "setName").type == MRS_STRING;
        l->sharded = mrs_val_is_text(live_at(reply_doc, "msg"), "isdbgrid");
        l->not_primary = !live_bool_at(reply_doc, "isWritablePrimary", live_bool_at(reply_doc, "ismaster", false));
        s = live_primary(l, NULL, e);
    }
    mrs_buf_clear(&reply);
    mrs_arena_clear(&a);
    return s;
}

static void
set_concerns(struct live_link *l)
{
    MRS_ASSERT(!l->written && !l->journaled);
    mongoc_read_concern_t *r = mongoc_read_concern_new();
    for (int j = 0; j < 2; j++) {
        mongoc_write_concern_t *w = mongoc_write_concern_new();
        if (l->replicated || l->sharded) {
            mongoc_write_concern_set_wmajority(w, LIVE_MAJORITY_MS);
        } else {
            mongoc_write_concern_set_w(w, 1);
            if (j == 1 && !LIVE_MUTANT("not-journaled")) {
                mongoc_write_concern_set_journal(w, true);
            }
        }
        *(j == 0 ? &l->written : &l->journaled) = w;
    }
    if (l->replicated || l->sharded) {
        mongoc_read_concern_set_level(r, MONGOC_READ_CONCERN_LEVEL_MAJORITY);
    }
    mongoc_client_set_read_concern(l->client, r);
    mongoc_client_set_write_concern(l->client, l->written);
    mongoc_read_concern_destroy(r);
}

static enum mrs_status
connect_client(struct live_link *l, const mongoc_uri_t *uri, struct mrs_err *e)
{
    MRS_ASSERT(!l->client && !l->secret);
    bson_error_t error;
    const char *secret = mongoc_uri_get_password(uri);
    l->secret = secret ? mrs_strndup(l->mem, secret, strlen(secret)) : NULL;
    if (secret && !l->secret) {
        return mrs_err_memory(e, strlen(secret));
    }
    l->client = mongoc_client_new_from_uri_with_error(uri, &error);
    if (!l->client) {
        return live_fault_report(l, "connect", &error, NULL, NULL, e);
    }
    mongoc_apm_callbacks_t *callbacks = mongoc_apm_callbacks_new();
    mongoc_apm_set_server_changed_cb(callbacks, server_changed);
    mongoc_client_set_error_api(l->client, MONGOC_ERROR_API_VERSION_2);
    mongoc_client_set_apm_callbacks(l->client, callbacks, l);
    mongoc_apm_callbacks_destroy(callbacks);
    if (l->any_member) {
        mongoc_read_prefs_t *secondary = mongoc_read_prefs_new(MONGOC_READ_SECONDARY_PREFERRED);
        mongoc_client_set_read_prefs(l->client, secondary);
        mongoc_read_prefs_destroy(secondary);
    }
    return send_hello(l, e);
}

/* Connects l; closes it on failure. */
static enum mrs_status
link_connect(struct live_link *l, const char *uri, struct live_link **out, struct mrs_err *e)
{
    MRS_ASSERT(l->mem && !l->client);
    mongoc_uri_t *parsed;
    enum mrs_status s = live_uri_parse(uri, &parsed, e);
    if (s == MRS_OK) {
        l->single = is_direct(parsed);
        s = live_uri_resolve(parsed, e);
        MRS_THEN(s, connect_client(l, parsed, e));
        mongoc_uri_destroy(parsed);
    }
    if (s != MRS_OK) {
        live_link_close(l);
        return s;
    }
    set_concerns(l);
    *out = l;
    return MRS_OK;
}

enum mrs_status
live_link_open(struct mrs_mem *mem, const char *uri, const char *state_db, struct live_link **out, struct mrs_err *e)
{
    MRS_ASSERT(uri && state_db);
    struct live_link *l = mrs_zalloc(mem, sizeof *l);
    *out = NULL;
    MRS_TRY(mrs_allocated(l, sizeof *l, e));
    l->mem = mem;
    live_link_state(l, state_db);
    return link_connect(l, uri, out, e);
}

enum mrs_status
live_link_open_read_only(struct mrs_mem *mem, const char *uri, struct live_link **out, struct mrs_err *e)
{
    MRS_ASSERT(uri);
    struct live_link *l = mrs_zalloc(mem, sizeof *l);
    *out = NULL;
    MRS_TRY(mrs_allocated(l, sizeof *l, e));
    l->mem = mem;
    l->any_member = l->dry_run = true;
    return link_connect(l, uri, out, e);
}

void
live_link_close(struct live_link *l)
{
    MRS_ASSERT(!l || !l->in_write_check);
    if (!l) {
        return;
    }
    live_txn_abort(l);
    if (l->session) {
        mongoc_client_session_destroy(l->session);
    }
    mongoc_write_concern_destroy(l->written);
    mongoc_write_concern_destroy(l->journaled);
    if (l->members) {
        mongoc_client_destroy(l->members);
    }
    if (l->client) {
        mongoc_client_destroy(l->client);
    }
    if (l->secret) {
        memset(l->secret, 0, strlen(l->secret));
    }
    mrs_free(l->mem, l->secret);
    mrs_free(l->mem, l);
}

struct mrs_mem *
live_link_mem(const struct live_link *l)
{
    return l->mem;
}

bool
live_link_replicated(const struct live_link *l)
{
    return l->replicated;
}

bool
live_link_sharded(const struct live_link *l)
{
    return l->sharded;
}

uint64_t
live_link_generation(const struct live_link *l)
{
    return l->generation;
}

void
live_link_mark(struct live_link *l, const char *comment)
{
    snprintf(l->comment, sizeof l->comment, "%s", comment ? comment : "");
}

/* ---- shared by all operations ---- */
enum mrs_status
live_bytes(struct mrs_view d, bson_t *out, struct mrs_err *e)
{
    MRS_ASSERT(d.p || d.n == 0);
    if (d.n == 0) {
        d = mrs_empty_doc();
    }
    return bson_init_static(out, d.p, d.n)
               ? MRS_OK
               : mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "%u bytes for the server are no document", (unsigned)d.n);
}

enum mrs_status
live_options(struct live_link *l, unsigned flags, bson_t *opts, struct mrs_err *e)
{
    bson_error_t error;
    if (flags & LIVE_IN_TXN) {
        if (!l->session || !mongoc_client_session_in_transaction(l->session)) {
            return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "no transaction is open");
        }
        if (!mongoc_client_session_append(l->session, opts, &error)) {
            return live_fault_report(l, "session", &error, NULL, NULL, e);
        }
    }
    return MRS_OK;
}

/* Server selection finds a primary, except on a direct connection: that server is used in any state. */
enum mrs_status
live_primary(const struct live_link *l, struct live_fault *f, struct mrs_err *e)
{
    if (!l->not_primary || l->any_member) {
        return MRS_OK;
    }
    if (f) {
        memset(f, 0, sizeof *f);
        f->kind = LIVE_FAULT_NETWORK;
    }
    return mrs_err_set(e, MRS_FAIL, MRS_E_SERVER,
                       "the server that the connection string names is not the primary of its replica set: name the "
                       "set (replicaSet=NAME, without directConnection), or its primary");
}

void
live_link_stop(const struct live_link *l, const char *when, const char *db, const char *what)
{
    MRS_ASSERT(when && db && what);
#ifdef LIVE_TEST
    char name[96];
    snprintf(name, sizeof name, "%s-%s%s", when, strcmp(db, l->state_db) == 0 ? "state-" : "", what);
    LIVE_STOP(name);
#else
    (void)l, (void)when, (void)db, (void)what;
#endif
}

void
live_link_check_before_writes(struct live_link *l, live_write_check write_check, void *arg)
{
    l->write_check = write_check;
    l->write_check_arg = arg;
}

void
live_link_state(struct live_link *l, const char *state_db)
{
    snprintf(l->state_db, sizeof l->state_db, "%s", state_db ? state_db : "");
}

void
live_link_dry_run(struct live_link *l, bool dry_run)
{
    l->dry_run = dry_run;
}

enum mrs_status
live_may_write(struct live_link *l, const char *db, unsigned flags, struct mrs_err *e)
{
    MRS_ASSERT(!l->in_write_check || strcmp(db, l->state_db) == 0);
    if (l->dry_run && strcmp(db, l->state_db) != 0) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "a write to %s without --execute: it was not sent", db);
    }
    if (!l->write_check || l->in_write_check || (flags & LIVE_IN_TXN) || strcmp(db, l->state_db) == 0) {
        return MRS_OK;
    }
    l->in_write_check = true;
    enum mrs_status s = l->write_check(l->write_check_arg, e);
    l->in_write_check = false;
    return s;
}

/* ---- commands ---- */
static bool
reads_with_concern(const char *name)
{
    return strcmp(name, "find") == 0 || strcmp(name, "aggregate") == 0 || strcmp(name, "count") == 0 ||
           strcmp(name, "distinct") == 0;
}

static void
add_read_concern(const struct live_link *l, unsigned flags, bson_t *opts)
{
    if ((l->replicated || l->sharded) && !(flags & LIVE_IN_TXN)) {
        bson_t level;
        BSON_APPEND_DOCUMENT_BEGIN(opts, "readConcern", &level);
        BSON_APPEND_UTF8(&level, "level", flags & LIVE_LOCAL ? "local" : "majority");
        bson_append_document_end(opts, &level);
    }
}

/* Adds the comment, unless the operation has its own. */
static void
add_mark(const struct live_link *l, const bson_t *caller_opts, bson_t *opts)
{
    if (l->comment[0] && !bson_has_field(caller_opts, "comment")) {
        BSON_APPEND_UTF8(opts, "comment", l->comment);
    }
}

/* ok: 1 is not sufficient: single writes may have failed, or the majority may be missing. */
static enum mrs_status
judge_reply(const struct live_link *l, const char *what, struct mrs_view reply, struct live_fault *f,
            struct mrs_err *e)
{
    struct mrs_val errors = live_at(reply, "writeErrors"), wc = live_at(reply, "writeConcernError");
    struct mrs_walk w;
    struct mrs_elem el;
    if (errors.type == MRS_ARRAY) {
        mrs_walk_init(&w, mrs_val_view(errors));
        if (mrs_walk_next(&w, &el) > 0 && el.v.type == MRS_DOCUMENT) {
            return live_fault_code(l, what, mrs_val_view(el.v), f, e);
        }
    }
    if (wc.type == MRS_DOCUMENT) {
        return live_fault_code(l, what, mrs_val_view(wc), f, e);
    }
    return MRS_OK;
}

static enum mrs_status
take_reply(const bson_t *reply, struct mrs_view *out, struct mrs_err *e)
{
    out->p = bson_get_data(reply);
    out->n = reply->len;
    return mrs_doc_check(out->p, out->n, MRS_DEPTH_READ, e);
}

/* the current command */
struct connection_call {
    struct live_link *l;
    const char *db, *name;
    bson_t cmd, opts;
    unsigned flags;
    struct live_fault *f;
};

static enum mrs_status
send_command(struct connection_call *c, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(c->name && c->f);
    bson_t reply;
    bson_error_t error;
    struct mrs_view reply_doc;
    enum mrs_status s;
    bool write = c->flags & LIVE_WRITE;
    if (write) {
        live_link_stop(c->l, "before", c->db, c->name);
        s = live_may_write(c->l, c->db, c->flags, e);
        if (s != MRS_OK) {
            return s;
        }
    }
    bool done = write ? mongoc_client_write_command_with_opts(c->l->client, c->db, &c->cmd, &c->opts, &reply, &error)
                      : mongoc_client_command_with_opts(c->l->client, c->db, &c->cmd,
                                                            mongoc_client_get_read_prefs(c->l->client), &c->opts,
                                                            &reply, &error);
    if (!done) {
        s = live_fault_report(c->l, c->name, &error, &reply, c->f, e);
    } else {
        s = take_reply(&reply, &reply_doc, e);
        MRS_THEN(s, judge_reply(c->l, c->name, reply_doc, c->f, e));
        if (s == MRS_OK && out) {
            mrs_buf_put(out, reply_doc.p, reply_doc.n);
            s = mrs_buf_status(out, e);
        }
    }
    bson_destroy(&reply);
    if (write && s == MRS_OK) {
        live_link_stop(c->l, "after", c->db, c->name);
    }
    return s;
}

static enum mrs_status
prepare_command(struct connection_call *c, struct mrs_view cmd, struct mrs_err *e)
{
    bson_iter_t first;
    bool write = c->flags & LIVE_WRITE;
    LIVE_SHORT_IN(cmd);
    enum mrs_status s = live_bytes(cmd, &c->cmd, e);
    if (s == MRS_OK && (!bson_iter_init(&first, &c->cmd) || !bson_iter_next(&first))) {
        s = mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "a command is empty");
    }
    if (s == MRS_OK) {
        c->name = bson_iter_key(&first);
        s = live_primary(c->l, c->f, e);
    }
    MRS_THEN(s, live_options(c->l, c->flags, &c->opts, e));
    if (s == MRS_OK) {
        add_mark(c->l, &c->cmd, &c->opts);
        if (write && !(c->flags & LIVE_IN_TXN)) {
            mongoc_write_concern_append(c->flags & LIVE_JOURNALED ? c->l->journaled : c->l->written, &c->opts);
        } else if (!write && reads_with_concern(c->name)) {
            add_read_concern(c->l, c->flags, &c->opts);
        }
    }
    return s;
}

enum mrs_status
live_command(struct live_link *l, const char *db, struct mrs_view cmd, unsigned flags, struct mrs_buf *out,
             struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(db && db[0]);
    struct live_fault own;
    struct connection_call c = {.l = l, .db = db, .opts = BSON_INITIALIZER, .flags = flags, .f = f ? f : &own};
    memset(c.f, 0, sizeof *c.f);
    c.f->kind = LIVE_FAULT_OTHER;
    enum mrs_status s = prepare_command(&c, cmd, e);
    MRS_THEN(s, send_command(&c, out, e));
    bson_destroy(&c.opts);
    c.f->kind = s == MRS_OK ? LIVE_FAULT_NONE : c.f->kind;
    return s;
}

/* ---- cursors ---- */
struct live_cursor {
    struct live_link *l;
    mongoc_cursor_t *cursor;
    char what[300];
};

/* Options of the caller, then ours. */
static enum mrs_status
cursor_options(struct live_link *l, struct mrs_view caller_opts, unsigned flags, bson_t *opts, struct mrs_err *e)
{
    bson_t g;
    MRS_TRY(live_bytes(caller_opts, &g, e));
    bson_concat(opts, &g);
    add_mark(l, &g, opts);
    add_read_concern(l, flags, opts);
    return live_options(l, flags, opts, e);
}

static enum mrs_status
cursor_new(struct live_link *l, const struct mrs_coll *coll, const char *verb, struct live_cursor **out,
           struct mrs_err *e)
{
    MRS_ASSERT(coll->ns && coll->ns[0]);
    struct live_cursor *c = mrs_zalloc(l->mem, sizeof *c);
    *out = c;
    MRS_TRY(mrs_allocated(c, sizeof *c, e));
    c->l = l;
    snprintf(c->what, sizeof c->what, "%s of %s", verb, coll->ns);
    return MRS_OK;
}

/* shared by find and aggregate: query is the filter or the pipeline */
struct query {
    mongoc_collection_t *coll;
    mongoc_read_prefs_t *prefs; /* NULL: those of the connection */
    bson_t query, opts;
};

static enum mrs_status
query_open(struct live_link *l, const struct mrs_coll *coll, struct mrs_view query, unsigned flags, struct query *q,
           struct mrs_err *e)
{
    MRS_ASSERT(l->client && !(flags & (LIVE_WRITE | LIVE_JOURNALED)));
    q->prefs = flags & LIVE_ON_PRIMARY ? mongoc_read_prefs_new(MONGOC_READ_PRIMARY) : NULL;
    q->coll = mongoc_client_get_collection(l->client, coll->db, coll->coll);
    bson_init(&q->opts);
    return live_bytes(query, &q->query, e);
}

static void
query_close(struct query *q)
{
    mongoc_collection_destroy(q->coll);
    mongoc_read_prefs_destroy(q->prefs);
    bson_destroy(&q->opts);
}

enum mrs_status
live_find(struct live_link *l, const struct mrs_coll *coll, struct mrs_view filter, struct mrs_view opts,
          unsigned flags, struct live_cursor **out, struct mrs_err *e)
{
    struct query q;
    *out = NULL;
    LIVE_SHORT_IN(filter);
    enum mrs_status s = query_open(l, coll, filter, flags, &q, e);
    MRS_THEN(s, cursor_options(l, opts, flags, &q.opts, e));
    MRS_THEN(s, cursor_new(l, coll, "find", out, e));
    if (s == MRS_OK) {
        (*out)->cursor = mongoc_collection_find_with_opts(q.coll, &q.query, &q.opts, q.prefs);
    }
    query_close(&q);
    return s;
}

enum mrs_status
live_aggregate(struct live_link *l, const struct mrs_coll *coll, struct mrs_view pipeline, struct mrs_view opts,
               unsigned flags, struct live_cursor **out, struct mrs_err *e)
{
    struct query q;
    *out = NULL;
    enum mrs_status s = query_open(l, coll, pipeline, flags, &q, e);
    MRS_THEN(s, cursor_options(l, opts, flags, &q.opts, e));
    MRS_THEN(s, cursor_new(l, coll, "aggregate", out, e));
    if (s == MRS_OK) {
        (*out)->cursor = mongoc_collection_aggregate(q.coll, MONGOC_QUERY_NONE, &q.query, &q.opts, q.prefs);
    }
    query_close(&q);
    return s;
}

enum mrs_status
live_cursor_next(struct live_cursor *c, struct mrs_view *doc, struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT(c->cursor && doc);
    const bson_t *b, *reply = NULL;
    bson_error_t error;
    struct live_fault own;
    f = f ? f : &own;
    memset(f, 0, sizeof *f);
    enum mrs_status s = live_primary(c->l, f, e);
    if (s != MRS_OK) {
        return s;
    }
    if (mongoc_cursor_next(c->cursor, &b)) {
        s = take_reply(b, doc, e);
        f->kind = s == MRS_OK ? LIVE_FAULT_NONE : LIVE_FAULT_OTHER;
        return s;
    }
    if (mongoc_cursor_error_document(c->cursor, &error, &reply)) {
        return live_fault_report(c->l, c->what, &error, reply, f, e);
    }
    return MRS_END;
}

void
live_cursor_close(struct live_cursor *c)
{
    if (c) {
        mongoc_cursor_destroy(c->cursor);
        mrs_free(c->l->mem, c);
    }
}

/* Puts {limit: 1} before the options of the caller. */
static enum mrs_status
one_only(struct mrs_view opts, struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e)
{
    MRS_ASSERT(opts.n == 0 || mrs_view_is_framed(opts));
    struct mrs_build b;
    mrs_build_init(&b, buf);
    mrs_build_i32(&b, "limit", 1);
    if (opts.n > MRS_DOC_MIN) {
        mrs_build_raw(&b, opts.p + 4, opts.n - MRS_DOC_MIN);
    }
    return mrs_build_finish(&b, out, e);
}

enum mrs_status
live_find_one(struct live_link *l, const struct mrs_coll *coll, struct mrs_view filter, struct mrs_view opts,
              struct mrs_buf *out, struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT((!filter.p || mrs_view_is_framed(filter)) && (!opts.p || mrs_view_is_framed(opts)));
    struct mrs_buf buf;
    struct mrs_view one, doc;
    struct live_cursor *c = NULL;
    mrs_buf_init(&buf, l->mem, MRS_DOC_READ_MAX);
    if (f) {
        memset(f, 0, sizeof *f);
        f->kind = LIVE_FAULT_OTHER;
    }
    enum mrs_status s = one_only(opts, &buf, &one, e);
    MRS_THEN(s, live_find(l, coll, filter, one, 0, &c, e));
    MRS_THEN(s, live_cursor_next(c, &doc, f, e));
    if (s == MRS_OK) {
        mrs_buf_put(out, doc.p, doc.n);
        s = mrs_buf_status(out, e);
    }
    live_cursor_close(c);
    mrs_buf_clear(&buf);
    return s;
}

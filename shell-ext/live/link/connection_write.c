/* SPDX-License-Identifier: Apache-2.0 */
/* connection_write.c - bulk writes, and transactions.
 *
 * A bulk is sent as one command at a time, documents as a sequence of their own bytes, so that a document of the
 * maximum size still fits; additions and checks by the driver (an `_id`, UTF-8, names) are disabled or excluded before,
 * since bytes must arrive unchanged. One command, one reply: so a reply with write errors answers for each operation,
 * and after any other error nothing is known. Does not depend on the reason of a write, and does not retry: the burst
 * does. */
#include "connection_driver.h"

#include <stdio.h>

enum { CHUNK_OPS = 20000, CHUNK_BYTES = 24 << 20 };

static const char *const verbs[] = {"insert", "update", "replace", "delete"};

static enum mrs_status
check_op(const struct live_op *op, enum live_op_kind kind, struct mrs_err *e)
{
    if (op->kind != kind) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "a bulk of several kinds");
    }
    if (kind != LIVE_INSERT && op->filter.n <= MRS_DOC_MIN) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "a write without a filter");
    }
    if ((kind == LIVE_INSERT || kind == LIVE_REPLACE) && live_at(op->doc, "_id").type == MRS_MISSING) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "a document without _id would be written");
    }
    if (kind == LIVE_UPDATE && live_at(op->doc, "0").type != MRS_DOCUMENT &&
        mrs_doc_get(op->doc, "$set").type != MRS_DOCUMENT) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "an update that is neither a pipeline nor made of operators");
    }
    return MRS_OK;
}

/* the current bulk */
struct bulk {
    struct live_link *l;
    mongoc_collection_t *coll;
    const struct live_op *ops;
    const char *what;       /* "insert of shop.posts" */
    bson_t opts, unchecked; /* for the bulk, and for each operation */
    bool in_txn, bypass;
    struct mrs_arena *arena;
    struct live_bulk_result *r;
    struct live_fault *f;
};

static enum mrs_status
add_op(struct bulk *b, mongoc_bulk_operation_t *bulk, const struct live_op *op, struct mrs_err *e)
{
    MRS_ASSERT(op->kind == b->ops[0].kind);
    bson_t filter, doc;
    bson_error_t error;
    MRS_TRY(live_bytes(op->filter, &filter, e));
    MRS_TRY(live_bytes(op->doc, &doc, e));
    bool good = false;
    switch (op->kind) {
    case LIVE_INSERT:
        good = mongoc_bulk_operation_insert_with_opts(bulk, &doc, &b->unchecked, &error);
        break;
    case LIVE_UPDATE:
        good = mongoc_bulk_operation_update_one_with_opts(bulk, &filter, &doc, &b->unchecked, &error);
        break;
    case LIVE_REPLACE:
        good = mongoc_bulk_operation_replace_one_with_opts(bulk, &filter, &doc, &b->unchecked, &error);
        break;
    case LIVE_DELETE:
        good = mongoc_bulk_operation_remove_one_with_opts(bulk, &filter, NULL, &error);
        break;
    }
    return good ? MRS_OK : live_fault_report(b->l, b->what, &error, NULL, b->f, e);
}

/* ---- the reply ---- */
/* Appends the errors of a command whose first operation is number `first`. */
static enum mrs_status
take_errors(struct bulk *b, struct mrs_val list, uint32_t first, struct mrs_err *e)
{
    MRS_ASSERT(list.type == MRS_ARRAY);
    struct mrs_walk w;
    struct mrs_elem el;
    struct live_bulk_result *r = b->r;
    size_t n = r->n_errors + mrs_val_count(list);
    struct live_op_error *all = mrs_arena_alloc(b->arena, n * sizeof *all);
    MRS_TRY(mrs_allocated(all, n * sizeof *all, e));
    if (r->n_errors) {
        memcpy(all, r->errors, r->n_errors * sizeof *all);
    }
    r->errors = all;
    for (mrs_walk_init(&w, mrs_val_view(list)); mrs_walk_next(&w, &el) > 0;) {
        struct mrs_view one = el.v.type == MRS_DOCUMENT ? mrs_val_view(el.v) : mrs_empty_doc();
        struct live_op_error *to = &all[r->n_errors++];
        to->index = first + (uint32_t)live_int_at(one, "index", 0);
        to->code = (int32_t)live_int_at(one, "code", 0);
        live_text_at(one, "errmsg", to->msg, sizeof to->msg);
    }
    return MRS_OK;
}

static enum mrs_status
take_sums(struct bulk *b, struct mrs_view reply, uint32_t first, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(reply));
    struct mrs_val errors = live_at(reply, "writeErrors"), wc = live_at(reply, "writeConcernErrors");
    struct mrs_walk w;
    struct mrs_elem el;
    b->r->inserted += (uint64_t)live_int_at(reply, "nInserted", 0);
    b->r->matched += (uint64_t)live_int_at(reply, "nMatched", 0);
    b->r->modified += (uint64_t)live_int_at(reply, "nModified", 0);
    b->r->deleted += (uint64_t)live_int_at(reply, "nRemoved", 0);
    if (wc.type == MRS_ARRAY) { /* executed, but without confirmation of the majority: like a lost connection */
        mrs_walk_init(&w, mrs_val_view(wc));
        if (mrs_walk_next(&w, &el) > 0 && el.v.type == MRS_DOCUMENT) {
            return live_fault_code(b->l, b->what, mrs_val_view(el.v), b->f, e);
        }
    }
    return errors.type == MRS_ARRAY ? take_errors(b, errors, first, e) : MRS_OK;
}

/* Did the server answer for each operation? A transaction ends with the first one that failed. */
static bool
answered(const struct bulk *b, struct mrs_view reply, const bson_error_t *error)
{
    struct mrs_val errors = live_at(reply, "writeErrors");
    bool some = errors.type == MRS_ARRAY && errors.n > MRS_DOC_MIN;
    return !b->in_txn &&
           (error->domain == MONGOC_ERROR_WRITE_CONCERN || (error->domain == MONGOC_ERROR_SERVER && some));
}

/* The error of an operation, if one failed and not the command. */
static enum mrs_status
take_refusal(struct bulk *b, struct mrs_view reply, uint32_t first, struct mrs_err *e)
{
    struct mrs_val errors = live_at(reply, "writeErrors");
    return errors.type == MRS_ARRAY && errors.n > MRS_DOC_MIN ? take_errors(b, errors, first, e) : MRS_OK;
}

/* ---- sending ---- */
/* Number of operations that certainly fit into one command. */
static uint32_t
chunk_size(const struct live_op *ops, uint32_t n)
{
    MRS_ASSERT(n > 0);
    uint64_t bytes = 0;
    uint32_t k = 0;
    while (k < n && k < CHUNK_OPS) {
        bytes += (uint64_t)ops[k].filter.n + ops[k].doc.n;
        if (k > 0 && bytes > CHUNK_BYTES) {
            break;
        }
        k++;
    }
    return k;
}

static mongoc_bulk_operation_t *
new_bulk(struct bulk *b)
{
    MRS_ASSERT(b->coll);
    mongoc_bulk_operation_t *bulk = mongoc_collection_create_bulk_operation_with_opts(b->coll, &b->opts);
#if MONGOC_CHECK_VERSION(1, 22, 0)
    if (b->l->comment[0]) {
        bson_value_t comment = {.value_type = BSON_TYPE_UTF8};
        comment.value.v_utf8.str = b->l->comment;
        comment.value.v_utf8.len = (uint32_t)strlen(b->l->comment);
        mongoc_bulk_operation_set_comment(bulk, &comment);
    }
#endif
    if (b->bypass) {
        mongoc_bulk_operation_set_bypass_document_validation(bulk, true);
    }
    return bulk;
}

static enum mrs_status
send_chunk(struct bulk *b, uint32_t first, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n > 0 && n <= CHUNK_OPS);
    bson_t reply;
    bson_error_t error = {0};
    enum mrs_status s = MRS_OK;
    mongoc_bulk_operation_t *bulk = new_bulk(b);
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        s = add_op(b, bulk, &b->ops[first + i], e);
    }
    if (s == MRS_OK) {
        bool done = mongoc_bulk_operation_execute(bulk, &reply, &error) != 0;
        struct mrs_view reply_doc = {bson_get_data(&reply), reply.len};
        s = mrs_doc_check(reply_doc.p, reply_doc.n, MRS_DEPTH_READ, e);
        if (s == MRS_OK) {
            bool known = done || answered(b, reply_doc, &error);
            s = known ? take_sums(b, reply_doc, first, e) : take_refusal(b, reply_doc, first, e);
            s = s == MRS_OK && !known ? live_fault_report(b->l, b->what, &error, &reply, b->f, e) : s;
        }
        bson_destroy(&reply);
    }
    mongoc_bulk_operation_destroy(bulk);
    return s;
}

static enum mrs_status
bulk_options(struct bulk *b, unsigned flags, struct mrs_err *e)
{
    BSON_APPEND_BOOL(&b->unchecked, "validate", false);
    BSON_APPEND_BOOL(&b->opts, "ordered", b->in_txn);
    if (!b->in_txn) {
        mongoc_write_concern_append(flags & LIVE_JOURNALED ? b->l->journaled : b->l->written, &b->opts);
    }
    return live_options(b->l, flags, &b->opts, e);
}

static enum mrs_status
send_all(struct bulk *b, const char *db, uint32_t n, struct mrs_err *e)
{
    MRS_ASSERT(n > 0);
    enum mrs_status s = MRS_OK;
    const char *verb = verbs[b->ops[0].kind];
    live_link_stop(b->l, "before", db, verb);
    for (uint32_t first = 0; s == MRS_OK && first < n;) {
        uint32_t k = chunk_size(b->ops + first, n - first);
        s = live_may_write(b->l, db, b->in_txn ? LIVE_IN_TXN : 0, e);
        MRS_THEN(s, send_chunk(b, first, k, e));
        first += k;
    }
    if (s == MRS_OK) {
        live_link_stop(b->l, "after", db, verb);
    }
    return s;
}

enum mrs_status
live_bulk(struct live_link *l, const struct mrs_coll *coll, const struct live_op *ops, uint32_t n, unsigned flags,
          bool bypass, struct mrs_arena *arena, struct live_bulk_result *r, struct live_fault *f, struct mrs_err *e)
{
    MRS_ASSERT((n == 0 || ops) && !(flags & (LIVE_LOCAL | LIVE_ON_PRIMARY)));
    struct live_fault own;
    char what[300];
    f = f ? f : &own;
    memset(f, 0, sizeof *f);
    memset(r, 0, sizeof *r);
    if (n == 0) {
        return MRS_OK;
    }
    f->kind = LIVE_FAULT_OTHER;
    struct bulk b = {.l = l, .ops = ops, .what = what, .opts = BSON_INITIALIZER, .unchecked = BSON_INITIALIZER,
                     .in_txn = flags & LIVE_IN_TXN, .bypass = bypass, .arena = arena, .r = r, .f = f};
    snprintf(what, sizeof what, "%s of %s", verbs[ops[0].kind], coll->ns);
    b.coll = mongoc_client_get_collection(l->client, coll->db, coll->coll);
    enum mrs_status s = live_primary(l, f, e);
    for (uint32_t i = 0; i < n && s == MRS_OK; i++) {
        s = check_op(&ops[i], ops[0].kind, e);
    }
    MRS_THEN(s, bulk_options(&b, flags, e));
    MRS_THEN(s, send_all(&b, coll->db, n, e));
    mongoc_collection_destroy(b.coll);
    bson_destroy(&b.opts);
    bson_destroy(&b.unchecked);
    f->kind = s == MRS_OK ? LIVE_FAULT_NONE : f->kind;
    return s;
}

/* ---- transactions ---- */
static enum mrs_status
need_session(struct live_link *l, struct mrs_err *e)
{
    bson_error_t error;
    if (!l->replicated) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "transactions need a replica set");
    }
    if (!l->session) {
        mongoc_session_opt_t *opts = mongoc_session_opts_new();
        mongoc_session_opts_set_causal_consistency(opts, false);
        l->session = mongoc_client_start_session(l->client, opts, &error);
        mongoc_session_opts_destroy(opts);
    }
    return l->session ? MRS_OK : live_fault_report(l, "session", &error, NULL, NULL, e);
}

enum mrs_status
live_txn_session(struct live_link *l, struct mrs_buf *out, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(out));
    enum mrs_status s = need_session(l, e);
    if (s == MRS_OK) {
        const bson_t *lsid = mongoc_client_session_get_lsid(l->session);
        mrs_buf_put(out, bson_get_data(lsid), lsid->len);
        s = mrs_buf_status(out, e);
    }
    return s;
}

enum mrs_status
live_txn_begin(struct live_link *l, struct mrs_err *e)
{
    MRS_ASSERT(!l->session || !mongoc_client_session_in_transaction(l->session));
    bson_error_t error;
    enum mrs_status s = need_session(l, e);
    if (s != MRS_OK) {
        return s;
    }
    mongoc_transaction_opt_t *opts = mongoc_transaction_opts_new();
    mongoc_read_concern_t *snapshot = mongoc_read_concern_new();
    mongoc_read_prefs_t *primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    mongoc_read_concern_set_level(snapshot, MONGOC_READ_CONCERN_LEVEL_SNAPSHOT);
    mongoc_transaction_opts_set_read_concern(opts, snapshot);
    mongoc_transaction_opts_set_write_concern(opts, l->written);
    mongoc_transaction_opts_set_read_prefs(opts, primary);
    if (!mongoc_client_session_start_transaction(l->session, opts, &error)) {
        s = live_fault_report(l, "begin", &error, NULL, NULL, e);
    }
    mongoc_read_prefs_destroy(primary);
    mongoc_read_concern_destroy(snapshot);
    mongoc_transaction_opts_destroy(opts);
    return s;
}

enum mrs_status
live_txn_commit(struct live_link *l, struct live_fault *f, struct mrs_err *e)
{
    bson_t reply;
    bson_error_t error;
    struct live_fault own;
    enum mrs_status s = MRS_OK;
    f = f ? f : &own;
    memset(f, 0, sizeof *f);
    if (!l->session) {
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "no transaction is open");
    }
    live_link_stop(l, "before", "", "commit");
    if (!mongoc_client_session_commit_transaction(l->session, &reply, &error)) {
        s = live_fault_report(l, "commit", &error, &reply, f, e);
    }
    bson_destroy(&reply);
    if (s == MRS_OK) {
        live_link_stop(l, "after", "", "commit");
    }
    return s;
}

void
live_txn_abort(struct live_link *l)
{
    if (l->session && mongoc_client_session_in_transaction(l->session)) {
        mongoc_client_session_abort_transaction(l->session, NULL);
    }
}

enum mrs_status
live_kill_session(struct live_link *l, struct mrs_view lsid, struct mrs_err *e)
{
    struct mrs_arena a;
    struct mrs_view cmd;
    struct live_fault f = {LIVE_FAULT_NONE, 0, ""};
    struct mrs_err why;
    mrs_err_clear(&why);
    mrs_arena_init(&a, l->mem);
    enum mrs_status s = live_doc_in(&a, &cmd, e, "{killSessions:[%d]}", lsid);
    if (s == MRS_OK) {
        s = live_command(l, "admin", cmd, 0, NULL, &f, &why);
        if (s == MRS_FAIL && f.kind == LIVE_FAULT_NO_TXN) {
            s = MRS_OK;
        } else if (s != MRS_OK) {
            s = mrs_err_set(e, s, why.code, "%s", why.msg);
        }
    }
    mrs_arena_clear(&a);
    return s;
}

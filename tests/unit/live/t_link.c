/* SPDX-License-Identifier: Apache-2.0 */
/* t_link.c - the connection against a real server.
 *
 * Bytes must come back as they went, whatever they hold; sums and errors of bulks must say what happened to which
 * operation; transactions must be all or nothing; a connection cut at the worst moment must be told as such; and no
 * message may hold a password. What needs a replica set is left out on a standalone server. */
#include "live_test.h"

#include <bson/bson.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *uri;
static struct mrs_mem *mem;
static struct live_link *l;
static struct mrs_arena arena;
static const struct mrs_coll docs = {"t_link", "docs", "t_link.docs"}, other = {"t_link", "other", "t_link.other"},
                             far = {"t_link2", "far", "t_link2.far"};

#define OK(call) assert_ok((call), &err, #call, __LINE__)
static struct mrs_err err;

static void
assert_ok(enum mrs_status s, struct mrs_err *e, const char *what, int line)
{
    if (s != MRS_OK) {
        print_error("line %d: %s: %d: %s\n", line, what, s, e->msg);
    }
    assert_int_equal(s, MRS_OK);
}

static struct mrs_view
of(const bson_t *b)
{
    struct mrs_view d = {bson_get_data(b), b->len};
    d.p = mrs_arena_copy(&arena, d.p, d.n);
    return d;
}

#define DOC(...) take(BCON_NEW(__VA_ARGS__))
static struct mrs_view
take(bson_t *b)
{
    struct mrs_view d = of(b);
    bson_destroy(b);
    return d;
}

static const struct mrs_view none = {NULL, 0};

static struct live_op
insert(struct mrs_view doc)
{
    return (struct live_op){LIVE_INSERT, none, doc};
}

static uint64_t
count(const struct mrs_coll *coll, struct mrs_view filter)
{
    struct live_cursor *c;
    struct mrs_view d;
    uint64_t n = 0;
    enum mrs_status s;
    OK(live_find(l, coll, filter, none, 0, &c, &err));
    while ((s = live_cursor_next(c, &d, NULL, &err)) == MRS_OK) {
        n++;
    }
    assert_int_equal(s, MRS_END);
    live_cursor_close(c);
    return n;
}

static int
fresh(void **state)
{
    (void)state;
    mrs_err_clear(&err);
    mem = mrs_mem_new(0);
    mrs_arena_init(&arena, mem);
    OK(live_link_open(mem, uri, "t_state", &l, &err));
    live_command(l, "t_link", DOC("dropDatabase", BCON_INT32(1)), LIVE_WRITE, NULL, NULL, NULL);
    live_command(l, "t_link2", DOC("dropDatabase", BCON_INT32(1)), LIVE_WRITE, NULL, NULL, NULL);
    OK(live_command(l, "t_link", DOC("create", "docs"), LIVE_WRITE, NULL, NULL, &err));
    OK(live_command(l, "t_link", DOC("create", "other"), LIVE_WRITE, NULL, NULL, &err));
    return 0;
}

static int
gone(void **state)
{
    (void)state;
    live_link_close(l);
    mrs_arena_clear(&arena);
    assert_int_equal(mrs_mem_close(mem), 0);
    return 0;
}

/* ---- bytes ---- */
/* SecantusDB refuses text that is not UTF-8, keeps one of two fields with one name, and makes null of undefined and
 * strings of symbols. */
static bool
secantus(void)
{
    const char *kind = getenv("MONGODB_SERVER_KIND");
    return kind && strncmp(kind, "secantus", 8) == 0;
}

static struct mrs_view
odd_document(int32_t id)
{
    struct mrs_buf b;
    struct mrs_build m;
    struct mrs_view d;
    uint8_t nan[8] = {0x21, 0x43, 0x65, 0x87, 0xa9, 0xcb, 0xf8, 0xff}, room[16];
    mrs_buf_init(&b, mem, 1 << 20);
    mrs_build_init(&m, &b);
    mrs_build_i32(&m, "_id", id);
    mrs_build_val(&m, "nan", 3, (struct mrs_val){nan, 8, MRS_DOUBLE});
    mrs_build_i32(&m, "twice", 1);
    mrs_build_i64(&m, secantus() ? "once" : "twice", 2);
    mrs_build_val(&m, "ts", 2, mrs_make_i64(room, (int64_t)0x1122334455667788, MRS_TIMESTAMP));
    mrs_build_text(&m, "bad utf8", secantus() ? "a\0b" : "\xff\xfe\0x", secantus() ? 3 : 4);
    mrs_build_val(&m, "undefined", 9, (struct mrs_val){nan, 0, secantus() ? MRS_NULL : MRS_UNDEFINED});
    mrs_build_val(&m, "symbol", 6,
                  (struct mrs_val){(const uint8_t *)"\2\0\0\0a", 6, secantus() ? MRS_STRING : MRS_SYMBOL});
    mrs_build_val(&m, "max", 3, (struct mrs_val){nan, 0, MRS_MAXKEY});
    mrs_build_i32(&m, "", 7);
    mrs_build_double(&m, "minus zero", -0.0);
    OK(mrs_build_finish(&m, &d, &err));
    d.p = mrs_arena_copy(&arena, d.p, d.n);
    mrs_buf_clear(&b);
    return d;
}

static struct mrs_view
read_one(const struct mrs_coll *coll, struct mrs_view filter)
{
    struct mrs_buf b;
    struct mrs_view d = {NULL, 0};
    mrs_buf_init(&b, mem, 20 << 20);
    if (live_find_one(l, coll, filter, none, &b, NULL, &err) == MRS_OK) {
        d.p = mrs_arena_copy(&arena, b.p, b.n);
        d.n = (uint32_t)b.n;
    }
    mrs_buf_clear(&b);
    return d;
}

static void
same(struct mrs_view a, struct mrs_view b)
{
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, b.n);
}

static void
bytes_come_back(void **state)
{
    (void)state;
    struct live_bulk_result r;
    struct live_op op = insert(odd_document(1));
    OK(live_bulk(l, &docs, &op, 1, 0, false, &arena, &r, NULL, &err));
    assert_int_equal(r.inserted, 1);
    assert_int_equal(r.n_errors, 0);
    same(read_one(&docs, DOC("_id", BCON_INT32(1))), op.doc);
    struct mrs_view next = odd_document(1);
    struct mrs_view stage = DOC("0", "{", "$replaceWith", "{", "$literal", "{", "_id", BCON_INT32(1), "a",
                                BCON_INT64(5), "}", "}", "}");
    struct live_op update = {LIVE_UPDATE, DOC("_id", BCON_INT32(1)), stage};
    OK(live_bulk(l, &docs, &update, 1, 0, false, &arena, &r, NULL, &err));
    assert_int_equal(r.matched, 1);
    same(read_one(&docs, none), DOC("_id", BCON_INT32(1), "a", BCON_INT64(5)));
    struct live_op replace = {LIVE_REPLACE, DOC("_id", BCON_INT32(1)), next};
    OK(live_bulk(l, &docs, &replace, 1, 0, false, &arena, &r, NULL, &err));
    assert_int_equal(r.matched, 1);
    same(read_one(&docs, none), next);
}

static void
greatest_document(void **state)
{
    (void)state;
    struct live_bulk_result r;
    struct live_fault f;
    uint32_t n = MRS_DOC_MAX;
    uint8_t *p = mrs_arena_alloc(&arena, n + 1);
    memset(p, 'x', n);
    mrs_put32(p, n);
    memcpy(p + 4, "\x10_id\0\7\0\0\0\2t\0", 12);
    mrs_put32(p + 16, n - 4 - 12 - 4 - 1);
    p[n - 2] = p[n - 1] = 0;
    struct mrs_view big = {p, n};
    OK(mrs_doc_check(big.p, big.n, MRS_DEPTH_READ, &err));
    struct live_op op = insert(big);
    OK(live_bulk(l, &docs, &op, 1, 0, false, &arena, &r, NULL, &err));
    assert_int_equal(r.inserted, 1);
    same(read_one(&docs, none), big);
    mrs_put32(p, n + 1); /* one byte more than a server takes */
    mrs_put32(p + 16, n + 1 - 4 - 12 - 4 - 1);
    p[4 + 5] = 8;
    p[n - 2] = 'x';
    p[n - 1] = p[n] = 0;
    op = insert((struct mrs_view){p, n + 1});
    enum mrs_status s = live_bulk(l, &docs, &op, 1, 0, false, &arena, &r, &f, NULL);
    assert_true(s == MRS_FAIL ? f.kind == LIVE_FAULT_TOO_LARGE : r.n_errors == 1 && r.errors[0].code == 10334);
    assert_int_equal(count(&docs, none), 1);
}

/* ---- bulks ---- */
static void
insert_n(int from, int to)
{
    struct live_op op[100];
    struct live_bulk_result r;
    assert_true(to - from <= 100);
    for (int i = from; i < to; i++) {
        op[i - from] = insert(DOC("_id", BCON_INT32(i), "n", BCON_INT32(i % 10)));
    }
    OK(live_bulk(l, &docs, op, (uint32_t)(to - from), 0, false, &arena, &r, NULL, &err));
    assert_int_equal(r.inserted, to - from);
}

static void
sums_and_errors(void **state)
{
    (void)state;
    struct live_bulk_result r;
    struct live_fault f;
    insert_n(0, 5);
    struct live_op op[8];
    for (int i = 0; i < 8; i++) {
        op[i] = insert(DOC("_id", BCON_INT32(i + 2)));
    }
    OK(live_bulk(l, &docs, op, 8, 0, false, &arena, &r, &f, &err));
    assert_int_equal(f.kind, LIVE_FAULT_NONE);
    assert_int_equal(r.inserted, 5);
    assert_int_equal(r.n_errors, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(r.errors[i].index, i);
        assert_int_equal(r.errors[i].code, 11000);
        assert_true(r.errors[i].msg[0] != 0);
    }
    struct mrs_view set = DOC("0", "{", "$set", "{", "x", "1", "}", "}");
    struct live_op update[3] = {{LIVE_UPDATE, DOC("_id", BCON_INT32(1)), set},
                                {LIVE_UPDATE, DOC("_id", BCON_INT32(99)), set},
                                {LIVE_UPDATE, DOC("n", "{", "$gte", BCON_INT32(0), "}"), set}};
    OK(live_bulk(l, &docs, update, 3, LIVE_JOURNALED, false, &arena, &r, NULL, &err));
    assert_int_equal(r.matched, 2); /* one document each, at most */
    struct live_op delete[2] = {{LIVE_DELETE, DOC("_id", BCON_INT32(1)), none},
                                {LIVE_DELETE, DOC("_id", BCON_INT32(77)), none}};
    OK(live_bulk(l, &docs, delete, 2, 0, false, &arena, &r, NULL, &err));
    assert_int_equal(r.deleted, 1);
    assert_int_equal(count(&docs, none), 9);
    OK(live_bulk(l, &docs, delete, 0, 0, false, &arena, &r, NULL, &err));
}

/* More than one message: the indexes of errors count over all of them. */
static void
large_bulk(void **state)
{
    (void)state;
    enum { N = 20050 };
    struct live_op *op = mrs_arena_alloc(&arena, N * sizeof *op);
    struct live_bulk_result r;
    insert_n(20010, 20011);
    for (int i = 0; i < N; i++) {
        struct mrs_view d;
        OK(live_doc_in(&arena, &d, &err, "{_id:%i}", (int64_t)i));
        op[i] = insert(d);
    }
    OK(live_bulk(l, &docs, op, N, 0, false, &arena, &r, NULL, &err));
    assert_int_equal(r.inserted, N - 1);
    assert_int_equal(r.n_errors, 1);
    assert_int_equal(r.errors[0].index, 20010);
    assert_int_equal(r.errors[0].code, 11000);
    assert_int_equal(count(&docs, none), N);
}

static void
refused_operations(void **state)
{
    (void)state;
    struct live_bulk_result r;
    struct mrs_view no_id = DOC("a", BCON_INT32(1)), id = DOC("_id", BCON_INT32(1));
    struct live_op wrong[] = {insert(no_id),
                              {LIVE_REPLACE, id, no_id},
                              {LIVE_DELETE, none, none},
                              {LIVE_DELETE, DOC(NULL), none},
                              {LIVE_UPDATE, id, no_id},
                              insert((struct mrs_view){(const uint8_t *)"\6\0\0\0\0", 5})};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct mrs_err e;
        mrs_err_clear(&e);
        assert_int_equal(live_bulk(l, &docs, &wrong[i], 1, 0, false, &arena, &r, NULL, &e), MRS_FAIL);
        assert_int_equal(e.code, MRS_E_ACCOUNT);
    }
    struct live_op mixed[2] = {insert(id), {LIVE_DELETE, id, none}};
    assert_int_equal(live_bulk(l, &docs, mixed, 2, 0, false, &arena, &r, NULL, NULL), MRS_FAIL);
    assert_int_equal(count(&docs, none), 0);
}

static void
validators(void **state)
{
    (void)state;
    struct live_bulk_result r;
    struct mrs_view one_only = DOC("collMod", "docs", "validator", "{", "n", BCON_INT32(1), "}");
    OK(live_command(l, "t_link", one_only, LIVE_WRITE, NULL, NULL, &err));
    struct live_op op[2] = {insert(DOC("_id", BCON_INT32(1), "n", BCON_INT32(2))),
                            insert(DOC("_id", BCON_INT32(2), "n", BCON_INT32(1)))};
    OK(live_bulk(l, &docs, op, 2, 0, false, &arena, &r, NULL, &err));
    assert_int_equal(r.inserted, 1);
    assert_int_equal(r.n_errors, 1);
    assert_int_equal(r.errors[0].index, 0);
    assert_int_equal(r.errors[0].code, 121);
    OK(live_bulk(l, &docs, op, 1, 0, true, &arena, &r, NULL, &err));
    assert_int_equal(r.inserted, 1);
    assert_int_equal(r.n_errors, 0);
}

/* ---- commands and cursors ---- */
static void
faults(void **state)
{
    (void)state;
    struct live_fault f;
    struct mrs_err e;
    mrs_err_clear(&e);
    struct mrs_view other_kind = DOC("create", "docs", "capped", BCON_BOOL(true), "size", BCON_INT32(4096));
    assert_int_equal(live_command(l, "t_link", other_kind, LIVE_WRITE, NULL, &f, &e), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_EXISTS);
    assert_int_equal(f.code, 48);
    assert_string_equal(f.code_name, "NamespaceExists");
    assert_int_equal(e.code, MRS_E_SERVER);
    assert_non_null(strstr(e.msg, "create: "));
    assert_non_null(strstr(e.msg, "(48 NamespaceExists)"));
    assert_int_equal(live_command(l, "t_link", DOC("noSuchCommand", BCON_INT32(1)), 0, NULL, &f, NULL), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_OTHER);
    insert_n(1, 2);
    struct mrs_view twice = DOC("insert", "docs", "documents", "[", "{", "_id", BCON_INT32(1), "}", "]");
    assert_int_equal(live_command(l, "t_link", twice, LIVE_WRITE, NULL, &f, NULL), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_DUPLICATE);
    assert_int_equal(live_command(l, "t_link", none, 0, NULL, &f, NULL), MRS_FAIL);
    struct live_cursor *c;
    struct mrs_view d;
    OK(live_find(l, &docs, DOC("$noSuchOperator", BCON_INT32(1)), none, 0, &c, &err));
    assert_int_equal(live_cursor_next(c, &d, &f, NULL), MRS_FAIL);
    live_cursor_close(c);
}

static void
cursors(void **state)
{
    (void)state;
    struct live_cursor *c;
    struct mrs_view d;
    insert_n(0, 100);
    live_link_mark(l, "mongoreshape test");
    int64_t expected = 40;
    OK(live_find(l, &docs, none,
                 DOC("min", "{", "_id", BCON_INT32(40), "}", "hint", "{", "_id", BCON_INT32(1), "}", "batchSize",
                     BCON_INT32(7), "projection", "{", "_id", BCON_INT32(1), "}"),
                 0, &c, &err));
    while (live_cursor_next(c, &d, NULL, &err) == MRS_OK) {
        assert_int_equal(live_int_at(d, "_id", -1), expected++);
        assert_int_equal(live_at(d, "n").type, MRS_MISSING);
    }
    assert_int_equal(expected, 100);
    assert_int_equal(err.code, MRS_E_NONE);
    live_cursor_close(c);
    OK(live_aggregate(l, &docs,
                      DOC("0", "{", "$group", "{", "_id", "$n", "k", "{", "$sum", BCON_INT32(1), "}", "}", "}", "1",
                          "{", "$sort", "{", "_id", BCON_INT32(1), "}", "}"),
                      none, 0, &c, &err));
    for (int i = 0; i < 10; i++) {
        OK(live_cursor_next(c, &d, NULL, &err));
        assert_int_equal(live_int_at(d, "_id", -1), i);
        assert_int_equal(live_int_at(d, "k", -1), 10);
    }
    assert_int_equal(live_cursor_next(c, &d, NULL, &err), MRS_END);
    live_cursor_close(c);
    struct mrs_buf b;
    mrs_buf_init(&b, mem, 1 << 20);
    OK(live_find_one(l, &docs, none, DOC("sort", "{", "_id", BCON_INT32(-1), "}"), &b, NULL, &err));
    assert_int_equal(live_int_at((struct mrs_view){b.p, (uint32_t)b.n}, "_id", -1), 99);
    assert_int_equal(live_find_one(l, &docs, DOC("_id", BCON_INT32(100)), none, &b, NULL, &err), MRS_END);
    mrs_buf_clear(&b);
}

/* ---- transactions ---- */
static void
write_in_txn(const struct mrs_coll *coll, int32_t id)
{
    struct live_bulk_result r;
    struct live_op op = insert(DOC("_id", BCON_INT32(id)));
    OK(live_bulk(l, coll, &op, 1, LIVE_IN_TXN, false, &arena, &r, NULL, &err));
    assert_int_equal(r.inserted, 1);
}

static void
transactions(void **state)
{
    (void)state;
    if (!live_test_replicated()) {
        assert_int_equal(live_txn_begin(l, NULL), MRS_FAIL);
        return;
    }
    struct live_fault f;
    struct live_bulk_result r;
    OK(live_txn_begin(l, &err));
    write_in_txn(&docs, 1);
    write_in_txn(&other, 1);
    assert_int_equal(count(&docs, none), 0);
    struct live_cursor *c;
    struct mrs_view d;
    OK(live_find(l, &docs, none, none, LIVE_IN_TXN, &c, &err));
    OK(live_cursor_next(c, &d, NULL, &err));
    live_cursor_close(c);
    OK(live_txn_commit(l, NULL, &err));
    assert_int_equal(count(&docs, none) + count(&other, none), 2);
    OK(live_txn_begin(l, &err));
    write_in_txn(&docs, 2);
    live_txn_abort(l);
    live_txn_abort(l);
    assert_int_equal(count(&docs, none), 1);
    OK(live_txn_begin(l, &err));
    write_in_txn(&docs, 3);
    struct live_op twice = insert(DOC("_id", BCON_INT32(1)));
    assert_int_equal(live_bulk(l, &docs, &twice, 1, LIVE_IN_TXN, false, &arena, &r, &f, NULL), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_DUPLICATE);
    live_txn_abort(l);
    assert_int_equal(count(&docs, none), 1);
    assert_int_equal(live_bulk(l, &docs, &twice, 1, LIVE_IN_TXN, false, &arena, &r, &f, NULL), MRS_FAIL);
}

static void
conflicts_and_kills(void **state)
{
    (void)state;
    if (!live_test_replicated()) {
        return;
    }
    struct live_link *second;
    struct live_fault f;
    struct live_bulk_result r;
    struct mrs_buf lsid, again;
    struct live_op change = {LIVE_UPDATE, DOC("_id", BCON_INT32(1)), DOC("0", "{", "$set", "{", "x", "2", "}", "}")};
    insert_n(1, 2);
    OK(live_link_open(mem, uri, "t_state", &second, &err));
    mrs_buf_init(&lsid, mem, 1000);
    mrs_buf_init(&again, mem, 1000);
    OK(live_txn_session(l, &lsid, &err));
    OK(live_txn_session(l, &again, &err));
    assert_int_equal(lsid.n, again.n);
    assert_memory_equal(lsid.p, again.p, lsid.n);
    struct mrs_view id = {lsid.p, (uint32_t)lsid.n};
    assert_int_equal(live_at(id, "id").type, MRS_BINARY);
    OK(live_txn_begin(l, &err));
    OK(live_bulk(l, &docs, &change, 1, LIVE_IN_TXN, false, &arena, &r, NULL, &err));
    OK(live_txn_begin(second, &err));
    assert_int_equal(live_bulk(second, &docs, &change, 1, LIVE_IN_TXN, false, &arena, &r, &f, NULL), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_TRANSIENT);
    live_txn_abort(second);
    OK(live_kill_session(second, id, &err));
    OK(live_bulk(second, &docs, &change, 1, 0, false, &arena, &r, NULL, &err));
    assert_int_equal(r.matched, 1);
    assert_int_equal(live_txn_commit(l, &f, NULL), MRS_FAIL);
    assert_true(f.kind == LIVE_FAULT_NO_TXN);
    OK(live_kill_session(second, id, &err));
    mrs_buf_clear(&lsid);
    mrs_buf_clear(&again);
    live_link_close(second);
}

/* ---- change streams ---- */
static enum mrs_status
next_within(struct live_watch *w, struct mrs_view *event, int tries)
{
    enum mrs_status s = MRS_END;
    for (int i = 0; i < tries && s == MRS_END; i++) {
        s = live_watch_next(w, event, NULL, &err);
        if (s == MRS_END) {
            nanosleep(&(struct timespec){0, 20000000}, NULL);
        }
    }
    return s;
}

static void
watching(void **state)
{
    (void)state;
    const struct mrs_coll *all[] = {&docs, &far, &other}, *same_db[] = {&docs, &other};
    struct live_watch *w;
    struct mrs_view event;
    if (!live_test_replicated()) {
        struct live_watch_opts one = {.colls = all, .n = 1};
        assert_int_equal(live_watch_open(l, &one, &w, NULL, NULL), MRS_FAIL);
        return;
    }
    for (uint32_t kind = 0; kind < 3; kind++) {
        struct live_bulk_result r;
        struct live_op op = insert(DOC("_id", BCON_INT32(500 + (int)kind)));
        struct live_watch_opts some = {.colls = kind == 2 ? all : same_db, .n = kind + 1};
        OK(live_watch_open(l, &some, &w, NULL, &err));
        assert_int_equal(next_within(w, &event, 2), MRS_END);
        struct mrs_coll unwatched = {"t_link", "unwatched", "t_link.unwatched"};
        OK(live_bulk(l, &unwatched, &op, 1, 0, false, &arena, &r, NULL, &err));
        OK(live_bulk(l, kind == 2 ? &far : &docs, &op, 1, 0, false, &arena, &r, NULL, &err));
        OK(next_within(w, &event, 5000));
        char coll[16];
        live_text_at(event, "ns.coll", coll, sizeof coll);
        assert_string_equal(coll, kind == 2 ? "far" : "docs");
        assert_int_equal(live_int_at(event, "documentKey._id", -1), 500 + kind);
        live_watch_close(w);
    }
}

/* ---- connection strings ---- */
static void
masks(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"mongodb://h/", "mongodb://h/"},
        {"mongodb://u:secret@h:1,h2:2/db?replicaSet=r", "mongodb://u:***@h:1,h2:2/db?replicaSet=r"},
        {"mongodb+srv://u%40x:p%40ss@h/?a=b", "mongodb+srv://u%40x:***@h/?a=b"},
        {"mongodb://u@h/", "mongodb://u@h/"},
        {"mongodb://u:a/b@c?d@h/", "mongodb://u:***@h/"},
        {"mongodb://u:secret@h/?tls=true&tlsCertificateKeyFilePassword=pw&x=y",
         "mongodb://u:***@h/?tls=true&tlsCertificateKeyFilePassword=***&x=y"},
        {"mongodb://u:secret@h/?authMechanismProperties=AWS_SESSION_TOKEN:tok;sslclientcertificatekeypassword=q",
         "mongodb://u:***@h/?authMechanismProperties=***;sslclientcertificatekeypassword=***"},
        {"u:secret@h", "u:***@h"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char out[256];
        live_uri_mask(pairs[i][0], out, sizeof out);
        assert_string_equal(out, pairs[i][1]);
        char small[5];
        live_uri_mask(pairs[i][0], small, sizeof small);
        assert_true(strlen(small) <= 4);
    }
}

static void
strings_found(void **state)
{
    (void)state;
    char file[] = "/tmp/t_link.XXXXXX", db[64];
    const char *found, *before = getenv("MONGODB_URI");
    char kept[512];
    snprintf(kept, sizeof kept, "%s", before);
    OK(live_uri_find(&arena, "mongodb://a/", "/nowhere", &found, &err));
    assert_string_equal(found, "mongodb://a/");
    int fd = mkstemp(file);
    assert_int_equal(write(fd, "\n mongodb://b/ \n", 16), 16);
    OK(live_uri_find(&arena, NULL, file, &found, &err));
    assert_string_equal(found, "mongodb://b/");
    assert_int_equal(pwrite(fd, "mongodb://u:hush@b/ \nmore", 25, 0), 25);
    OK(live_uri_find(&arena, NULL, file, &found, &err));
    assert_string_equal(found, "mongodb://u:hush@b/");
    struct mrs_err open;
    static const mode_t modes[] = {0640, 0604, 0620, 0601, 0644};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        mrs_err_clear(&open);
        assert_int_equal(fchmod(fd, modes[i]), 0);
        assert_int_equal(live_uri_find(&arena, NULL, file, &found, &open), MRS_FAIL);
        assert_int_equal(open.code, MRS_E_USAGE);
        assert_non_null(strstr(open.msg, "may be read by others"));
        assert_null(strstr(open.msg, "hush"));
    }
    assert_int_equal(pwrite(fd, "mongodb://u@b/?tls=true \n", 25, 0), 25); /* nothing to hide */
    OK(live_uri_find(&arena, NULL, file, &found, &err));
    assert_string_equal(found, "mongodb://u@b/?tls=true");
    assert_int_equal(fchmod(fd, 0600), 0);
    assert_int_equal(pwrite(fd, "\n", 1, 0), 1);
    assert_int_equal(ftruncate(fd, 1), 0);
    assert_int_equal(live_uri_find(&arena, NULL, file, &found, NULL), MRS_FAIL);
    close(fd);
    unlink(file);
    assert_int_equal(live_uri_find(&arena, NULL, file, &found, NULL), MRS_FAIL);
    OK(live_uri_find(&arena, NULL, NULL, &found, &err));
    assert_string_equal(found, kept);
    unsetenv("MONGODB_URI");
    struct mrs_err e;
    mrs_err_clear(&e);
    assert_int_equal(live_uri_find(&arena, NULL, NULL, &found, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_USAGE);
    setenv("MONGODB_URI", kept, 1);
    OK(live_uri_database("mongodb://a/shop?replicaSet=x", db, &err));
    assert_string_equal(db, "shop");
    OK(live_uri_database("mongodb://a/", db, &err));
    assert_string_equal(db, "");
    assert_int_equal(live_uri_database("http://a/", db, NULL), MRS_FAIL);
}

static void
not_opened(const char *what, enum mrs_code code)
{
    struct live_link *x;
    struct mrs_err e;
    struct timespec from, to;
    char text[1024];
    mrs_err_clear(&e);
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_int_equal(live_link_open(mem, what, "t_state", &x, &e), MRS_FAIL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_int_equal(e.code, code);
    assert_null(x);
    mrs_err_text(&e, text, sizeof text);
    assert_null(strstr(text, "hush"));
    assert_true(text[0] != 0);
    assert_true(to.tv_sec - from.tv_sec < 25); /* the driver alone would take 30 */
}

static void
not_reached(void **state)
{
    (void)state;
    not_opened("mongodb://u:hushhush@no-such-host.invalid:27017/", MRS_E_SERVER);
    not_opened("mongodb://u:hush@hush@no-such-host.invalid/", MRS_E_USAGE);
    not_opened("mongodb://u:hush%zz@h/", MRS_E_USAGE);
    not_opened("http://u:hush@h/", MRS_E_USAGE);
    not_opened("mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=500", MRS_E_SERVER);
    if (strchr(uri, '@')) {
        char wrong[400];
        snprintf(wrong, sizeof wrong, "mongodb://root:hushhush%s", strrchr(uri, '@'));
        not_opened(wrong, MRS_E_SERVER);
    }
}

/* What the string says of reading and writing does not count. */
static void
overruled(void **state)
{
    (void)state;
    char text[600];
    struct live_link *x;
    snprintf(text, sizeof text, "%s%sreadPreference=secondaryPreferred&w=0&retryWrites=false&readConcernLevel=local",
             uri, strchr(uri, '?') ? "&" : "/?");
    OK(live_link_open(mem, text, "t_state", &x, &err));
    struct live_bulk_result r;
    struct live_op op = insert(DOC("_id", BCON_INT32(1)));
    OK(live_bulk(x, &docs, &op, 1, 0, false, &arena, &r, NULL, &err));
    assert_int_equal(r.inserted, 1); /* with w: 0 there would be no sums */
    assert_int_equal(live_link_replicated(x), live_test_replicated());
    live_link_close(x);
}

/* ---- connections that are cut ---- */
static struct {
    pid_t pid;
    int port, control;
    FILE *says;
} proxy;

static bool
proxy_start(const char *server)
{
    char program[600], line[64];
    int pipe_fd[2];
    ssize_t n = readlink("/proc/self/exe", program, 500);
    program[n > 0 ? n : 0] = 0;
    for (int up = 0; up < 3; up++) { /* OBJ/unit/live/t_link */
        char *slash = strrchr(program, '/');
        *(slash ? slash : program) = 0;
    }
    strncat(program, "/proxy", 10);
    if (!getenv("MONGODB_SERVER_DIR") || access(program, X_OK) != 0) {
        print_message("skipped: no proxy at %s, or the server is not ours\n", program);
        return false;
    }
    assert_int_equal(pipe(pipe_fd), 0);
    proxy.pid = fork();
    if (proxy.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(pipe_fd[1], 1);
        close(pipe_fd[0]);
        execl(program, program, "0", server, "--control", "0", (char *)NULL);
        _exit(127);
    }
    close(pipe_fd[1]);
    proxy.says = fdopen(pipe_fd[0], "r");
    proxy.port = proxy.control = 0;
    while ((!proxy.port || !proxy.control) && fgets(line, sizeof line, proxy.says)) {
        sscanf(line, "listening %d", &proxy.port);
        sscanf(line, "control %d", &proxy.control);
    }
    assert_true(proxy.port && proxy.control);
    return true;
}

static void
proxy_stop(void)
{
    kill(proxy.pid, SIGTERM);
    waitpid(proxy.pid, NULL, 0);
    fclose(proxy.says);
}

/* One line to the control port. */
static void
tell_proxy(const char *rule)
{
    char answer[64];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)proxy.control)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(write(fd, rule, strlen(rule)), (ssize_t)strlen(rule));
    assert_int_equal(write(fd, "\n", 1), 1);
    assert_true(read(fd, answer, sizeof answer) > 0);
    close(fd);
}

/* A connection through the proxy; false: there is none. */
static bool
through_proxy(const char *options, struct live_link **x)
{
    char server[200], to[400];
    const char *host = strrchr(uri, '@') ? strrchr(uri, '@') + 1 : strstr(uri, "://") + 3;
    snprintf(server, sizeof server, "%.*s", (int)strcspn(host, "/?"), host);
    if (strstr(uri, "tls=true") || strchr(uri, '@')) {
        print_message("skipped: cut connections are tested without encryption and users\n");
        return false;
    }
    if (!proxy_start(server)) {
        return false;
    }
    snprintf(to, sizeof to, "mongodb://127.0.0.1:%d/?directConnection=true&%s", proxy.port, options);
    OK(live_link_open(mem, to, "t_state", x, &err));
    return true;
}

static void
cut_writes(void **state)
{
    (void)state;
    struct live_link *x;
    struct live_bulk_result r;
    struct live_fault f;
    struct live_op op = insert(DOC("_id", BCON_INT32(1)));
    if (!through_proxy("retryWrites=false", &x)) {
        return;
    }
    uint64_t generation = live_link_generation(x);
    OK(live_bulk(x, &other, &op, 1, 0, false, &arena, &r, &f, &err));
    assert_int_equal(live_link_generation(x), generation);
    tell_proxy("cut-reply insert 1");
    assert_int_equal(live_bulk(x, &docs, &op, 1, 0, false, &arena, &r, &f, NULL), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_NETWORK);
    assert_true(live_link_generation(x) > generation);
    assert_int_equal(count(&docs, none), 1); /* it was done all the same */
    generation = live_link_generation(x);
    tell_proxy("cut-request delete 1");
    struct live_op delete = {LIVE_DELETE, DOC("_id", BCON_INT32(1)), none};
    assert_int_equal(live_bulk(x, &docs, &delete, 1, 0, false, &arena, &r, &f, NULL), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_NETWORK);
    assert_true(live_link_generation(x) > generation);
    assert_int_equal(count(&docs, none), 1);
    OK(live_bulk(x, &docs, &delete, 1, 0, false, &arena, &r, &f, &err));
    assert_int_equal(r.deleted, 1);
    tell_proxy("cut-reply drop 1");
    assert_int_equal(live_command(x, "t_link", DOC("drop", "other"), LIVE_WRITE, NULL, &f, NULL), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_NETWORK);
    live_link_close(x);
    proxy_stop();
}

/* A cursor that was cut never looks like one that came to its end. */
static void
cut_reads(void **state)
{
    (void)state;
    struct live_link *x;
    struct live_cursor *c;
    struct live_fault f;
    struct mrs_view d;
    enum mrs_status s;
    int n = 0;
    insert_n(0, 100);
    if (!through_proxy("retryReads=false", &x)) {
        return;
    }
    tell_proxy("cut-reply getMore 3");
    OK(live_find(x, &docs, none, DOC("batchSize", BCON_INT32(10)), 0, &c, &err));
    while ((s = live_cursor_next(c, &d, &f, NULL)) == MRS_OK) {
        n++;
    }
    assert_int_equal(s, MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_NETWORK);
    assert_int_equal(n, 30);
    assert_int_equal(live_cursor_next(c, &d, &f, NULL), MRS_FAIL);
    live_cursor_close(c);
    live_link_close(x);
    proxy_stop();
}

static void
cut_transactions(void **state)
{
    (void)state;
    struct live_link *x;
    struct live_bulk_result r;
    struct live_fault f;
    if (!live_test_replicated() || !through_proxy("retryWrites=true", &x)) {
        return;
    }
    struct live_op op = insert(DOC("_id", BCON_INT32(1)));
    OK(live_txn_begin(x, &err));
    OK(live_bulk(x, &docs, &op, 1, LIVE_IN_TXN, false, &arena, &r, &f, &err));
    tell_proxy("cut-reply commitTransaction 1");
    tell_proxy("cut-reply commitTransaction 2");
    assert_int_equal(live_txn_commit(x, &f, NULL), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_UNKNOWN_COMMIT);
    assert_int_equal(count(&docs, none), 1);
    op = insert(DOC("_id", BCON_INT32(2)));
    OK(live_txn_begin(x, &err));
    tell_proxy("cut-reply insert 1");
    assert_int_equal(live_bulk(x, &docs, &op, 1, LIVE_IN_TXN, false, &arena, &r, &f, NULL), MRS_FAIL);
    assert_int_equal(f.kind, LIVE_FAULT_NETWORK);
    live_txn_abort(x);
    assert_int_equal(count(&docs, none), 1);
    op = insert(DOC("_id", BCON_INT32(3))); /* the driver tries once more, and the server knows that it did it before */
    tell_proxy("cut-reply insert 1");
    OK(live_bulk(x, &docs, &op, 1, 0, false, &arena, &r, &f, &err));
    assert_int_equal(r.inserted, 1);
    assert_int_equal(r.n_errors, 0);
    assert_int_equal(count(&docs, none), 2);
    live_link_close(x);
    proxy_stop();
}

/* A server that was restarted is another one: whether or not a command failed on the way, the count says so. */
static void
restarted(void **state)
{
    (void)state;
    if (!getenv("MONGODB_SERVER_DIR") || access("tests/server/ctl", X_OK) != 0) {
        print_message("skipped: the server is not ours, or this is not the root of the sources\n");
        return;
    }
    insert_n(0, 1);
    uint64_t generation = live_link_generation(l);
    assert_int_equal(system("tests/server/ctl restart"), 0);
    struct live_fault f;
    struct mrs_buf b;
    mrs_buf_init(&b, mem, 1000);
    enum mrs_status s = live_find_one(l, &docs, none, none, &b, &f, NULL);
    assert_true(s == MRS_OK || (s == MRS_FAIL && f.kind == LIVE_FAULT_NETWORK));
    assert_true(live_link_generation(l) > generation);
    OK(live_find_one(l, &docs, none, none, &b, NULL, &err));
    mrs_buf_clear(&b);
}

/* ---- named stops ---- */
static void
stops(void **state)
{
    (void)state;
    char file[] = "/tmp/t_link.XXXXXX", text[300] = "";
    const struct mrs_coll runs = {"t_state", "runs", "t_state.runs"};
    struct live_bulk_result r;
    struct live_op op = insert(DOC("_id", BCON_INT32(1))), delete = {LIVE_DELETE, DOC("_id", BCON_INT32(1)), none};
    int fd = mkstemp(file);
    setenv("MRS_STOP_LIST", file, 1);
    OK(live_bulk(l, &docs, &op, 1, 0, false, &arena, &r, NULL, &err));
    OK(live_bulk(l, &runs, &delete, 1, LIVE_JOURNALED, false, &arena, &r, NULL, &err));
    OK(live_command(l, "t_link", DOC("drop", "docs"), LIVE_WRITE, NULL, NULL, &err));
    OK(live_command(l, "t_link", DOC("ping", BCON_INT32(1)), 0, NULL, NULL, &err));
    unsetenv("MRS_STOP_LIST");
    assert_true(pread(fd, text, sizeof text - 1, 0) > 0);
    assert_string_equal(text, "before-insert\nafter-insert\nbefore-state-delete\nafter-state-delete\nbefore-drop\n"
                              "after-drop\n");
    close(fd);
    unlink(file);
}

/* ---- memory ---- */
static void
no_memory(void **state)
{
    (void)state;
    insert_n(1, 3);
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct mrs_mem *m = mrs_mem_new(n);
        struct live_link *x = NULL;
        struct mrs_arena a;
        struct mrs_buf out;
        struct live_bulk_result r;
        struct live_op op = insert(DOC("_id", BCON_INT32(1)));
        struct live_cursor *c = NULL;
        struct mrs_err e;
        mrs_err_clear(&e);
        mrs_arena_init(&a, m);
        mrs_buf_init(&out, m, 1 << 20);
        enum mrs_status s = live_link_open(m, uri, "t_state", &x, &e);
        s = s == MRS_OK ? live_command(x, "t_link", DOC("ping", BCON_INT32(1)), 0, &out, NULL, &e) : s;
        s = s == MRS_OK ? live_find_one(x, &docs, none, DOC("skip", BCON_INT32(1)), &out, NULL, &e) : s;
        s = s == MRS_OK ? live_find(x, &docs, none, none, 0, &c, &e) : s;
        live_cursor_close(c);
        s = s == MRS_OK ? live_bulk(x, &docs, &op, 1, 0, false, &a, &r, NULL, &e) : s;
        if (s == MRS_OK && live_test_replicated()) {
            const struct mrs_coll *all[] = {&docs};
            struct live_watch *w;
            struct live_watch_opts one = {.colls = all, .n = 1};
            s = live_watch_open(x, &one, &w, NULL, &e);
            live_watch_close(s == MRS_OK ? w : NULL);
            s = s == MRS_OK ? live_txn_session(x, &out, &e) : s;
        }
        assert_true(s == MRS_OK || (s == MRS_DEAD && e.code == MRS_E_MEMORY));
        done = mrs_mem_count(m) < n;
        assert_true(done == (s == MRS_OK));
        live_link_close(x);
        mrs_buf_clear(&out);
        mrs_arena_clear(&a);
        assert_int_equal(mrs_mem_close(m), 0);
        assert_true(n < 200);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, gone)
        TEST(bytes_come_back), TEST(greatest_document), TEST(sums_and_errors),     TEST(large_bulk),
        TEST(refused_operations), TEST(validators),     TEST(faults),              TEST(cursors),
        TEST(transactions),    TEST(conflicts_and_kills), TEST(watching),          cmocka_unit_test(masks),
        TEST(strings_found),   TEST(not_reached),       TEST(overruled),           TEST(no_memory),
        TEST(cut_writes),      TEST(cut_reads),         TEST(cut_transactions),    TEST(stops),
        TEST(restarted),
    };
    uri = live_test_need_server("t_link");
    live_link_setup();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    live_link_teardown();
    return failed;
}

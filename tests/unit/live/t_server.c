/* t_server.c - what is read of a server, and what is found before the first write.
 *
 * Collections with options and indexes of every kind that matters are made, then read back and checked; plans are
 * judged against them, each with the one thing wrong that must be named. */
#include "live_test.h"

#include "../../../shell-ext/live/server.h"

#include "mongoreshape/ejson.h"

static const char *uri;
static struct mrs_mem *mem;
static struct live_link *l;
static struct mrs_arena arena;
static struct live_server *server;
static struct mrs_err err;

#define OK(call) assert_ok((call), #call, __LINE__)

static void
assert_ok(enum mrs_status s, const char *what, int line)
{
    if (s != MRS_OK) {
        print_error("line %d: %s: %d: %s\n", line, what, s, err.msg);
    }
    assert_int_equal(s, MRS_OK);
}

static struct mrs_view
json(const char *text)
{
    struct mrs_buf b;
    size_t used;
    mrs_buf_init(&b, mem, 1 << 20);
    OK(mrs_ejson_read(text, strlen(text), MRS_EJSON_PLAIN, &b, &used, &err));
    struct mrs_view d = {mrs_arena_copy(&arena, b.p, b.n), (uint32_t)b.n};
    mrs_buf_clear(&b);
    return d;
}

static void
run(const char *db, const char *command)
{
    OK(live_command(l, db, json(command), LIVE_WRITE, NULL, NULL, &err));
}

static int
fresh(void **state)
{
    (void)state;
    mrs_err_clear(&err);
    mem = mrs_mem_new(0);
    mrs_arena_init(&arena, mem);
    server = NULL;
    OK(live_link_open(mem, uri, "t_state", &l, &err));
    live_command(l, "t_server", json("{\"dropDatabase\": 1}"), LIVE_WRITE, NULL, NULL, NULL);
    run("t_server", "{\"insert\": \"posts\", \"documents\": [{\"_id\": 1, \"title\": \"a\"}, {\"_id\": 2, \"title\": \"b\"}]}");
    run("t_server", "{\"insert\": \"comments\", \"documents\": [{\"_id\": 10, \"post_id\": 1, \"text\": \"x\"}]}");
    return 0;
}

static int
gone(void **state)
{
    (void)state;
    live_server_free(server);
    live_link_close(l);
    mrs_arena_clear(&arena);
    assert_int_equal(mrs_mem_close(mem), 0);
    return 0;
}

static void
read_server(void)
{
    static const char *const db[] = {"t_server", "t_server", "t_nothing"};
    live_server_free(server);
    OK(live_server_read(mem, l, db, 3, &server, &err));
}

static const struct live_coll_info *
info(const char *name)
{
    char ns[100];
    snprintf(ns, sizeof ns, "t_server.%s", name);
    return live_server_coll(server, &(struct mrs_coll){"t_server", name, ns});
}

static void
the_server(void **state)
{
    (void)state;
    read_server();
    assert_true(server->major >= 4);
    assert_true(server->version[0] != 0);
    assert_int_equal(server->replicated, live_test_replicated());
    assert_int_equal(server->standalone, !live_test_replicated());
    assert_int_equal(server->set_name[0] != 0, live_test_replicated());
    assert_false(server->sharded);
    assert_int_equal(server->n_coll, 2);
    assert_string_equal(server->coll[0].coll.ns, "t_server.comments");
    assert_null(info("nothing"));
    assert_null(info("a"));
    assert_null(info("z"));
}

static void
collections(void **state)
{
    (void)state;
    run("t_server", "{\"create\": \"v\", \"viewOn\": \"posts\", \"pipeline\": []}");
    run("t_server", "{\"create\": \"capped\", \"capped\": true, \"size\": 4096}");
    run("t_server", "{\"create\": \"valid\", \"validator\": {\"n\": 1}, \"validationAction\": \"error\"}");
    run("t_server", "{\"createIndexes\": \"comments\", \"indexes\": [{\"key\": {\"post_id\": 1}, \"name\": \"p\"},"
                    "{\"key\": {\"at\": 1}, \"name\": \"old\", \"expireAfterSeconds\": 60},"
                    "{\"key\": {\"text\": 1}, \"name\": \"u\", \"unique\": true}]}");
    read_server();
    assert_int_equal(server->n_coll, 5);
    const struct live_coll_info *c = info("comments");
    assert_true(c->ttl && c->unique);
    assert_false(c->view || c->capped || c->validated || c->timeseries || c->encrypted || c->collated);
    assert_int_equal(live_at(c->indexes, "3").type, MRS_DOCUMENT);
    assert_int_equal(live_at(c->indexes, "4").type, MRS_MISSING);
    assert_int_equal(live_int_at(c->indexes, "1.key.post_id", 0) + live_int_at(c->indexes, "2.key.post_id", 0) +
                         live_int_at(c->indexes, "3.key.post_id", 0),
                     1);
    assert_int_equal(c->count, 1);
    c = info("posts");
    assert_false(c->ttl || c->unique);
    assert_int_equal(c->count, 2);
    assert_true(info("v")->view);
    assert_true(info("capped")->capped);
    assert_true(info("valid")->validated);
}

static void
uuids(void **state)
{
    (void)state;
    char uuid[40];
    read_server();
    const struct live_coll_info *c = info("posts");
    assert_int_equal(strlen(c->uuid), 36);
    assert_int_equal(c->uuid[8], '-');
    OK(live_server_uuid(l, &c->coll, uuid, &err));
    assert_string_equal(uuid, c->uuid);
    OK(live_server_uuid(l, &(struct mrs_coll){"t_server", "none", "t_server.none"}, uuid, &err));
    assert_string_equal(uuid, "");
    char before[40];
    memcpy(before, c->uuid, 40);
    run("t_server", "{\"drop\": \"posts\"}");
    run("t_server", "{\"create\": \"posts\"}");
    OK(live_server_uuid(l, &c->coll, uuid, &err));
    assert_string_not_equal(uuid, before);
}

static void
catalogue(void **state)
{
    (void)state;
    struct mrs_catalog *cat;
    struct mrs_buf b;
    run("t_server", "{\"createIndexes\": \"posts\", \"indexes\": [{\"key\": {\"title\": 1}, \"name\": \"t\"}]}");
    read_server();
    OK(live_server_catalog(mem, server, &cat, &err));
    struct mrs_cat_coll *c = mrs_catalog_find(cat, "t_server", "posts");
    assert_non_null(c);
    assert_true(c->exists);
    assert_int_equal(c->n_index, 2);
    assert_int_equal(c->kind, MRS_COLL_PLAIN);
    mrs_catalog_free(cat);
    mrs_buf_init(&b, mem, 1 << 20);
    OK(live_server_metadata(info("posts"), &b, &err));
    struct mrs_view d = {b.p, (uint32_t)b.n};
    char text[64];
    live_text_at(d, "collectionName", text, sizeof text);
    assert_string_equal(text, "posts");
    live_text_at(d, "type", text, sizeof text);
    assert_string_equal(text, "collection");
    live_text_at(d, "uuid", text, sizeof text);
    assert_int_equal(strlen(text), 32);
    mrs_buf_clear(&b);
}

static void
many_collections(void **state)
{
    (void)state;
    for (int i = 0; i < 130; i++) {
        char command[64];
        snprintf(command, sizeof command, "{\"create\": \"c%d\"}", i);
        run("t_server", command);
    }
    read_server();
    assert_int_equal(server->n_coll, 132);
    assert_non_null(info("c0"));
    assert_non_null(info("c129"));
    for (uint32_t i = 1; i < server->n_coll; i++) {
        assert_true(strcmp(server->coll[i - 1].coll.ns, server->coll[i].coll.ns) < 0);
    }
}

static void
no_memory(void **state)
{
    (void)state;
    static const char *const db[] = {"t_server"};
    struct live_link *x;
    uint64_t opened = 0;
    bool done = false;
    struct mrs_mem *m = mrs_mem_new(0);
    OK(live_link_open(m, uri, "t_state", &x, &err));
    opened = mrs_mem_count(m);
    live_link_close(x);
    mrs_mem_close(m);
    for (uint64_t n = opened + 1; !done; n++) {
        struct live_server *s;
        struct mrs_catalog *cat;
        struct mrs_err e;
        mrs_err_clear(&e);
        m = mrs_mem_new(n);
        OK(live_link_open(m, uri, "t_state", &x, &err));
        enum mrs_status st = live_server_read(m, x, db, 1, &s, &e);
        if (st == MRS_OK) {
            char uuid[40];
            st = live_server_catalog(m, s, &cat, &e);
            mrs_catalog_free(st == MRS_OK ? cat : NULL);
            st = st == MRS_OK ? live_server_uuid(x, &s->coll[0].coll, uuid, &e) : st;
            live_server_free(s);
        }
        done = mrs_mem_count(m) < n;
        assert_true(st == (done ? MRS_OK : MRS_DEAD));
        live_link_close(x);
        assert_int_equal(mrs_mem_close(m), 0);
        assert_true(n < opened + 300);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, gone)
        TEST(the_server), TEST(collections), TEST(uuids), TEST(catalogue), TEST(many_collections), TEST(no_memory),
    };
    uri = live_test_need_server("t_server");
    live_link_setup();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    live_link_teardown();
    return failed;
}

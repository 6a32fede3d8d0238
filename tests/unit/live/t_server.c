/* SPDX-License-Identifier: Apache-2.0 */
/* t_server.c - what is read of a server, and what is found before the first write.
 *
 * Collections with options and indexes of every kind that matters are made, then read back and checked; plans are
 * judged against them, each with the one thing wrong that must be named. */
#include "mongoreshape/catalogue.h"
#include "live_test.h"

#include "live/server/server.h"

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
    run("t_server", "{\"insert\": \"posts\", \"documents\": [{\"_id\": 1, \"title\": \"a\"},"
                    "{\"_id\": 2, \"title\": \"b\"}]}");
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

/* ---- before the first write ---- */
static struct live_preflight found;
static struct live_job job;
static struct mrs_live judged;

#define PLAN(step) "plan: t\ndatabase: t_server\nsteps:\n- " step "\n"
#define EMBED PLAN("embed: {from: comments, into: posts, match: {post_id: _id}, as: list}")
#define RENAME PLAN("rename: {in: posts, fields: {title: name}}")
#define MOVE PLAN("move: {from: posts, into: archive, where: {_id: 1}}")

static enum mrs_status
look_in(struct mrs_mem *m, struct live_link *link, const char *plan, const char *command, struct mrs_err *e)
{
    struct mrs_plan_opts opts = {.default_db = "t_server", .now_ms = 1};
    struct mrs_arena a;
    mrs_arena_init(&a, m);
    job.mem = m;
    job.link = link;
    job.server = server;
    job.opts.db = "t_server";
    job.opts.state_db = "t_state";
    enum mrs_status s = mrs_plan_load(m, plan, strlen(plan), &opts, &job.plan, e);
    s = s == MRS_OK ? mrs_live_judge(job.plan, &a, &judged, e) : s;
    job.live = &judged;
    memset(&found, 0, sizeof found);
    s = s == MRS_OK ? live_preflight(&job, command, &found, e) : s;
    mrs_plan_free(job.plan);
    mrs_arena_clear(&a);
    return s;
}

static void
look_at(const char *plan)
{
    live_preflight_clear(&found);
    read_server();
    OK(look_in(mem, l, plan, "apply", &err));
}

/* Whether some finding holds the text: 'R' refuses, 'w' a warning, 0 none. */
static char
says(const char *text)
{
    for (uint32_t i = 0; i < found.n; i++) {
        if (strstr(found.finding[i].text, text)) {
            return found.finding[i].refuses ? 'R' : 'w';
        }
    }
    return 0;
}

static int
fresh_job(void **state)
{
    memset(&job, 0, sizeof job);
    memset(&found, 0, sizeof found);
    return fresh(state);
}

static int
gone_job(void **state)
{
    live_preflight_clear(&found);
    return gone(state);
}

static void
index_of_join(void **state)
{
    (void)state;
    look_at(EMBED);
    assert_int_equal(found.n_refuse, 1);
    assert_int_equal(says("t_server.comments by post_id, and no index"), 'R');
    assert_int_equal(found.docs, 3);
    job.opts.allow_scan = true;
    look_at(EMBED);
    assert_int_equal(found.n_refuse, 0);
    job.opts.allow_scan = false;
    job.opts.quiet = LIVE_BY_WORD;
    look_at(EMBED);
    assert_int_equal(found.n_refuse, 0);
    job.opts.quiet = LIVE_NOT_QUIET;
    run("t_server", "{\"createIndexes\": \"comments\", \"indexes\": [{\"key\": {\"post_id\": 1}, \"name\": \"p\","
                    "\"partialFilterExpression\": {\"post_id\": {\"$gt\": 5}}}, {\"key\": {\"text\": 1, \"post_id\": "
                    "1},\"name\": \"t\"}]}");
    look_at(EMBED);
    assert_int_equal(found.n_refuse, 1);
    run("t_server", "{\"createIndexes\": \"comments\", \"indexes\": [{\"key\": {\"post_id\": -1, \"text\": 1},"
                    "\"name\": \"q\"}]}");
    look_at(EMBED);
    assert_int_equal(found.n_refuse, 0);
}

static void
claimed_fields(void **state)
{
    (void)state;
    look_at(RENAME);
    assert_int_equal(found.n_refuse, 0);
    run("t_server", "{\"insert\": \"posts\", \"documents\": [{\"_id\": 3, \"name\": null}]}");
    look_at(RENAME);
    assert_int_equal(found.n_refuse, 1);
    assert_int_equal(says("documents of t_server.posts have a field name already (that with _id int 3"), 'R');
    job.opts.quiet = LIVE_BY_WORD;
    look_at(RENAME);
    assert_int_equal(found.n_refuse, 0);
}

static void
new_collections(void **state)
{
    (void)state;
    look_at(MOVE);
    assert_int_equal(found.n_refuse, 0);
    run("t_server", "{\"create\": \"archive\"}");
    look_at(MOVE);
    assert_int_equal(says("t_server.archive exists already"), 'R');
    job.opts.quiet = LIVE_BY_WORD;
    look_at(MOVE);
    assert_int_equal(found.n_refuse, 0);
    job.opts.state_db = "t_server";
    live_preflight_clear(&found);
    job.opts.quiet = LIVE_NOT_QUIET;
}

static void
expiry_and_validators(void **state)
{
    (void)state;
    run("t_server", "{\"createIndexes\": \"posts\", \"indexes\": [{\"key\": {\"at\": 1}, \"name\": \"old\","
                    "\"expireAfterSeconds\": 3600}, {\"key\": {\"name.x\": 1}, \"name\": \"un\", \"unique\": true,"
                    "\"sparse\": true}]}");
    run("t_server", "{\"collMod\": \"posts\", \"validator\": {\"$jsonSchema\": {\"properties\": {\"_id\": {}, "
                    "\"title\": {}},\"additionalProperties\": false}}, \"validationAction\": \"error\"}");
    look_at(RENAME);
    assert_int_equal(says("expire by TTL (index old)"), 'R');
    assert_int_equal(says("does not name name, which the plan adds"), 'R');
    assert_int_equal(says("posts has a validator"), 'w');
    assert_int_equal(says("the unique index un of t_server.posts covers name"), 'w');
    job.opts.allow_ttl = true;
    run("t_server", "{\"collMod\": \"posts\", \"validator\": {\"$jsonSchema\": {\"properties\": {\"_id\": {}, "
                    "\"name\": {}},\"additionalProperties\": false}}}");
    look_at(RENAME);
    assert_int_equal(found.n_refuse, 0);
    run("t_server", "{\"collMod\": \"posts\", \"validator\": {}}");
    look_at(RENAME);
    assert_int_equal(says("validator"), 0);
}

static void
kinds(void **state)
{
    (void)state;
    run("t_server", "{\"drop\": \"posts\"}");
    run("t_server", "{\"create\": \"posts\", \"capped\": true, \"size\": 4096}");
    look_at(RENAME);
    assert_int_equal(says("t_server.posts is capped"), 'R');
    run("t_server", "{\"drop\": \"posts\"}");
    run("t_server", "{\"create\": \"posts\", \"viewOn\": \"comments\", \"pipeline\": []}");
    look_at(RENAME);
    assert_int_equal(says("t_server.posts is a view"), 'R');
}

static bool
can_block(void)
{
    struct mrs_buf reply;
    mrs_buf_init(&reply, mem, 48 << 20);
    bool listed = live_command(l, "admin", json("{\"listCommands\": 1}"), 0, &reply, NULL, NULL) == MRS_OK &&
                  live_at((struct mrs_view){reply.p, (uint32_t)reply.n}, "commands.setUserWriteBlockMode").type !=
                          MRS_MISSING;
    mrs_buf_clear(&reply);
    return listed && live_test_replicated();
}

static void
regimes(void **state)
{
    (void)state;
    job.opts.quiet = LIVE_BY_BLOCK;
    look_at(RENAME);
    assert_int_equal(says("cannot block writers"), can_block() ? 0 : 'R');
    job.opts.quiet = LIVE_BY_VALIDATOR;
    look_at(RENAME);
    assert_int_equal(says("not deletes"), 'w');
    job.opts.quiet = LIVE_NOT_QUIET;
    look_at(RENAME);
    assert_int_equal(says("is standalone"), live_test_replicated() ? 0 : 'w');
    server->major = 4;
    run("t_server", "{\"insert\": \"posts\", \"documents\": [{\"_id\": 9, \"a.b\": 1}]}");
    live_preflight_clear(&found);
    OK(look_in(mem, l, RENAME, "apply", &err));
    assert_int_equal(says("have a field called \"a.b\""), 'R');
}

static void
no_memory_before(void **state)
{
    (void)state;
    bool done = false;
    read_server();
    for (uint64_t n = 1; !done; n += n < 60 ? 1 : 7) {
        struct mrs_err e;
        mrs_err_clear(&e);
        struct mrs_mem *m = mrs_mem_new(n);
        enum mrs_status s = look_in(m, l, EMBED, "apply", &e);
        done = mrs_mem_count(m) < n;
        assert_true(done ? s == MRS_OK : s == MRS_DEAD || s == MRS_OK);
        live_preflight_clear(&found);
        assert_int_equal(mrs_mem_close(m), 0);
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
#define JOB(name) cmocka_unit_test_setup_teardown(name, fresh_job, gone_job)
        JOB(index_of_join), JOB(claimed_fields), JOB(new_collections), JOB(expiry_and_validators),
        JOB(kinds), JOB(regimes), JOB(no_memory_before),
    };
    uri = live_test_need_server("t_server");
    live_link_setup();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    live_link_teardown();
    return failed;
}

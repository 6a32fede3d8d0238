/* SPDX-License-Identifier: Apache-2.0 */
/* t_privileges.c - what a user may do, held against what a command needs.
 *
 * The answers of connectionStatus are written here as a server gives them: roles over one collection, a database, the
 * cluster, everything. No server is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/server/preflight.h"

#include "mongoreshape/ejson.h"

#include <stdio.h>

static struct mrs_mem *mem;
static struct live_check check;
static struct live_preflight found;
static struct live_job job;
static struct live_server server;
static struct live_place place[2];
static struct live_coll_info posts;
static struct mrs_arena arena;

static int
fresh(void **state)
{
    (void)state;
    mem = mrs_mem_new(0);
    mrs_arena_init(&arena, mem);
    memset(&job, 0, sizeof job);
    memset(&found, 0, sizeof found);
    memset(&check, 0, sizeof check);
    memset(place, 0, sizeof place);
    memset(&server, 0, sizeof server);
    server.replicated = true;
    job.mem = mem;
    job.server = &server;
    job.opts.state_db = "state";
    place[0] = (struct live_place){.coll = {"shop", "posts", "shop.posts"}, .info = &posts,
                                   .roles = MRS_ROLE_READ | MRS_ROLE_CHANGE | MRS_ROLE_MAIN};
    place[1] = (struct live_place){.coll = {"shop", "made", "shop.made"}, .roles = MRS_ROLE_ADD};
    check = (struct live_check){.job = &job, .command = "apply", .apply = true, .out = &found, .place = place,
                                .n_places = 2};
    mrs_arena_init(&check.tmp, mem);
    mrs_arena_init(&found.arena, mem);
    return 0;
}

static int
gone(void **state)
{
    (void)state;
    mrs_arena_clear(&check.tmp);
    live_preflight_clear(&found);
    mrs_arena_clear(&arena);
    assert_int_equal(mrs_mem_close(mem), 0);
    return 0;
}

static void
granted(const char *privileges)
{
    struct mrs_buf b, text;
    size_t used;
    mrs_buf_init(&b, mem, 1 << 20);
    mrs_buf_init(&text, mem, 1 << 20);
    mrs_buf_printf(&text, "{\"authInfo\": {\"authenticatedUsers\": [{\"user\": \"u\", \"db\": \"admin\"}],"
                          "\"authenticatedUserPrivileges\": [%s]}}", privileges);
    assert_int_equal(mrs_ejson_read((char *)text.p, text.n, MRS_EJSON_PLAIN, &b, &used, NULL), MRS_OK);
    struct mrs_view said = {b.p, (uint32_t)b.n};
    found.n = found.n_refuse = 0;
    assert_int_equal(live_check_granted(&check, said, NULL), MRS_OK);
    mrs_buf_clear(&b);
    mrs_buf_clear(&text);
}

#define ON(db, coll, actions) \
    "{\"resource\": {\"db\": \"" db "\", \"collection\": \"" coll "\"}, \"actions\": [" actions "]}"
#define READ "\"find\", \"listIndexes\", \"collStats\", \"listCollections\", \"changeStream\""
#define WRITE READ ", \"insert\", \"update\", \"remove\", \"createCollection\", \"createIndex\", \"dropCollection\""

static void
enough(void **state)
{
    (void)state;
    granted(ON("state", "", WRITE) "," ON("shop", "", WRITE));
    assert_int_equal(found.n, 0);
    granted(ON("", "", WRITE));
    assert_int_equal(found.n, 0);
    granted("{\"resource\": {\"anyResource\": true}, \"actions\": [\"anyAction\"]}");
    assert_int_equal(found.n, 0);
    granted(ON("state", "runs", WRITE) "," ON("shop", "posts", WRITE) "," ON("shop", "made", WRITE) ","
            ON("shop", "", "\"listCollections\""));
    assert_int_equal(found.n, 0);
}

static void
lacking(void **state)
{
    (void)state;
    granted(ON("state", "", WRITE) "," ON("shop", "", READ));
    assert_int_equal(found.n_refuse, 2);
    assert_string_equal(found.finding[0].text,
                        "the user lacks privileges on shop.posts: update (readWrite on shop has them)");
    assert_string_equal(found.finding[1].text, "the user lacks privileges on shop.made: insert, update, remove, "
                                               "createCollection, createIndex (readWrite on shop has them)");
    granted(ON("shop", "", WRITE));
    assert_int_equal(found.n_refuse, 1);
    assert_non_null(strstr(found.finding[0].text, "state (the state database): find, insert"));
    granted(ON("state", "", WRITE) "," ON("shop", "posts", WRITE) "," ON("shop", "made", WRITE));
    assert_int_equal(found.n_refuse, 1);
    assert_string_equal(found.finding[0].text,
                        "the user lacks privileges on the database shop: listCollections (readWrite on shop has them)");
    granted(ON("state", "", WRITE) ","
            ON("shop", "", "\"find\", \"listIndexes\", \"listCollections\", \"update\", \"insert\", \"remove\","
               "\"createCollection\", \"createIndex\""));
    assert_int_equal(found.n_refuse, 0);
    assert_int_equal(found.n, 1); /* only estimates are missing */
}

static void
by_command(void **state)
{
    (void)state;
    job.opts.quiet = LIVE_BY_VALIDATOR;
    check.quiet = true;
    granted(ON("", "", WRITE));
    assert_int_equal(found.n_refuse, 1);
    assert_string_equal(found.finding[0].text,
                        "the user lacks privileges on shop.posts: collMod, bypassDocumentValidation (dbAdmin on shop "
                        "has them)");
    job.opts.quiet = LIVE_BY_BLOCK;
    granted(ON("", "", WRITE));
    assert_string_equal(found.finding[0].text,
                        "the user lacks privileges on the cluster: setUserWriteBlockMode, bypassWriteBlockingMode");
    granted(ON("", "", WRITE) ",{\"resource\": {\"cluster\": true}, \"actions\": [\"setUserWriteBlockMode\","
            "\"bypassWriteBlockingMode\"]}");
    assert_int_equal(found.n, 0);
    job.opts.quiet = LIVE_NOT_QUIET;
    check.quiet = check.apply = false;
    check.command = "verify";
    granted(ON("state", "", WRITE) "," ON("shop", "", READ));
    assert_int_equal(found.n, 0);
    job.opts.repair = true;
    granted(ON("state", "", WRITE) "," ON("shop", "", READ));
    assert_int_equal(found.n_refuse, 2);
    check.command = "contract";
    place[0].roles |= MRS_ROLE_TAKE;
    place[0].dropped = true;
    place[1].optioned = true;
    granted(ON("state", "", WRITE) "," ON("shop", "", READ));
    assert_string_equal(found.finding[0].text,
                        "the user lacks privileges on shop.posts: update, remove, dropCollection (readWrite on shop "
                        "has them)");
    assert_non_null(strstr(found.finding[1].text, "collMod"));
}

/* Names that a quiet run may need, and renames, which are a matter of the database. */
static void
built_beside(void **state)
{
    static const char text[] = "steps:\n- set: { in: posts, fields: { a: 1 } }\n";
    struct mrs_plan_opts po = {.file = "p.yaml", .default_db = "shop"};
    char id[33], want[300];
    (void)state;
    assert_int_equal(mrs_plan_load(mem, text, sizeof text - 1, &po, &job.plan, NULL), MRS_OK);
    mrs_plan_id_text(job.plan, id);
    job.opts.quiet = LIVE_BY_WORD;
    check.quiet = true;
    posts.unique = true;
    granted(ON("state", "", WRITE) "," ON("shop", "posts", WRITE ",\"renameCollectionSameDB\"") ","
            ON("shop", "made", WRITE) "," ON("shop", "", "\"listCollections\""));
    assert_int_equal(found.n, 2); /* it may not come to that */
    assert_int_equal(found.n_refuse, 0);
    snprintf(want, sizeof want,
             "the user lacks privileges on shop.posts.mrs_%.12s, where the collection may have to be "
             "built before it takes the place of the old one: find, insert, update, remove, createCollection, "
             "createIndex, dropCollection (readWrite on shop has them)", id);
    assert_string_equal(found.finding[0].text, want);
    assert_string_equal(found.finding[1].text,
                        "the user lacks privileges on the database shop: renameCollectionSameDB (readWrite on shop has "
                        "them)");
    granted(ON("", "", WRITE ",\"renameCollectionSameDB\""));
    assert_int_equal(found.n, 0);
    posts.unique = false;
    place[0].renamed = true;
    granted(ON("", "", WRITE));
    assert_int_equal(found.n_refuse, 1);
    assert_non_null(strstr(found.finding[0].text, "the database shop: renameCollectionSameDB"));
    mrs_plan_free(job.plan);
    job.plan = NULL;
}

static void
not_told(void **state)
{
    (void)state;
    granted("");
    assert_int_equal(found.n, 1);
    assert_int_equal(found.n_refuse, 0);
    found.n = 0;
    assert_int_equal(live_check_granted(&check, mrs_empty_doc(), NULL), MRS_OK);
    assert_int_equal(found.n, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, gone)
        TEST(enough), TEST(lacking), TEST(by_command), TEST(built_beside), TEST(not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_dump.c - what a listing finds: roots, folders of one database, single files, and everything odd
 * in them. */
#include "io_ground.h"
#include <sys/stat.h>

static const char meta[] =
    "{\"indexes\":[{\"v\":{\"$numberInt\":\"2\"},\"key\":{\"_id\":{\"$numberInt\":\"1\"}},"
    "\"name\":\"_id_\"}],\"uuid\":\"00\",\"collectionName\":\"%s\",\"type\":\"collection\"}";

static void
put_meta(const char *path, const char *coll)
{
    char text[1000];
    snprintf(text, sizeof text, meta, coll);
    put_text(path, text);
}

/* "ns" or "+extra", "d" data, "m" metadata, codec; one line each. */
static void
listing(const struct mrs_input *in, char *text, size_t size)
{
    size_t n = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < mrs_input_count(in); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(in, i);
        if (ns->kind == MRS_INPUT_DATA) {
            assert_int_equal(strncmp(ns->ns, ns->db, strlen(ns->db)), 0);
            assert_string_equal(ns->ns + strlen(ns->db) + 1, ns->coll);
            n += (size_t)snprintf(text + n, size - n, "%s%s%s%s\n", ns->ns,
                                  ns->data_path ? " d" : "", ns->meta_path ? " m" : "",
                                  ns->codec == MRS_CODEC_GZIP   ? " gzip"
                                  : ns->codec == MRS_CODEC_ZSTD ? " zstd"
                                                                : "");
        } else {
            n += (size_t)snprintf(text + n, size - n, "+%s%s\n", ns->rel_path,
                                  ns->empty_oplog ? " empty" : "");
        }
    }
}

static void
lists(const char *path, const struct mrs_input_opts *opts, const char *want)
{
    struct mrs_input *in;
    char text[8000];
    OK(mrs_input_open(mem, path, opts, &in, &err));
    listing(in, text, sizeof text);
    assert_string_equal(text, want);
    mrs_input_close(in);
}

/* The error names this word. */
static void
refuses(const char *path, const struct mrs_input_opts *opts, enum mrs_code code, const char *word)
{
    struct mrs_input *in;
    enum mrs_status s = mrs_input_open(mem, path, opts, &in, &err);
    if (s == MRS_OK || !strstr(err.msg, word)) {
        fail_msg("%s: '%s' is not in '%s'", path, word, err.msg);
    }
    FAILS(s, code);
}

static void
make_root(void)
{
    uint8_t doc[40];
    mkdir(at("r"), 0700);
    mkdir(at("r/shop"), 0700);
    mkdir(at("r/admin"), 0700);
    put(at("r/shop/b.bson"), doc, put_doc(doc, 1, 40));
    put_meta(at("r/shop/b.metadata.json"), "b");
    put(at("r/shop/a+b.bson"), "", 0);                 /* data alone */
    put_meta(at("r/shop/view.metadata.json"), "view"); /* metadata alone */
    put(at("r/shop/old.bin"), "", 0);
    put_text(at("r/shop/old.metadata.json"), ""); /* empty: none */
    put(at("r/shop/$admin.system.users.bson"), "", 0);
    put_text(at("r/shop/notes.txt"), "keep me");
    put(at("r/shop/system.buckets.ts.bson"), "", 0);
    put_meta(at("r/shop/ts.metadata.json"), "ts");
    mkdir(at("r/shop/sub"), 0700);
    mkdir(at("r/shop/sub/deeper"), 0700);
    put(at("r/shop/sub/deeper/x.bson"), doc, 40);
    put(at("r/admin/system.version.bson"), doc, 40);
    put(at("r/oplog.bson"), "", 0);
    put_text(at("r/prelude.json"), "{\"ServerVersion\":\"7.0.14\",\"ToolVersion\":\"100.18.0\"}");
    put(at("r/stray.bson"), doc, 40);
    put_text(at("r/mongoreshape.manifest.json"), "{}");
}

static void
root(void **state)
{
    (void)state;
    make_root();
    static const char want[] = "admin.system.version d\n"
                               "shop.a b d\n"
                               "shop.b d m\n"
                               "shop.old d m\n"
                               "shop.system.buckets.ts d\n"
                               "shop.ts m\n"
                               "shop.view m\n"
                               "+oplog.bson empty\n"
                               "+prelude.json\n"
                               "+shop/$admin.system.users.bson\n"
                               "+shop/notes.txt\n"
                               "+shop/sub/deeper/x.bson\n"
                               "+stray.bson\n";
    lists(at("r"), NULL, want);
    lists(at("r///"), NULL, want);
    struct mrs_input *in;
    OK(mrs_input_open(mem, at("r"), NULL, &in, &err));
    assert_string_equal(mrs_input_only_db(in), "shop"); /* beside admin */
    const struct mrs_input_ns *b = mrs_input_at(in, 2);
    assert_int_equal(b->file_bytes, 40);
    assert_int_equal(mrs_doc_get(b->metadata, "uuid").type, MRS_STRING);
    struct mrs_val indexes = mrs_doc_get(b->metadata, "indexes");
    struct mrs_val one = mrs_doc_get(mrs_val_view(indexes), "0");
    assert_int_equal(
        mrs_val_i32(mrs_doc_get(mrs_val_view(mrs_doc_get(mrs_val_view(one), "key")), "_id")), 1);
    assert_int_equal(mrs_input_at(in, 3)->metadata.n, 5);
    mrs_input_close(in);
    put_text(at("r/oplog.bson"), "not empty");
    OK(mrs_input_open(mem, at("r"), NULL, &in, &err));
    assert_false(mrs_input_at(in, 7)->empty_oplog);
    mrs_input_close(in);
    /* An oplog of --gzip keeps its name. */
    struct bytes g = gzip_by_zlib("", 0, 6);
    put(at("r/oplog.bson"), g.p, g.n);
    free(g.p);
    OK(mrs_input_open(mem, at("r"), NULL, &in, &err));
    assert_true(mrs_input_at(in, 7)->empty_oplog);
    assert_int_equal(mrs_input_at(in, 7)->codec, MRS_CODEC_GZIP);
    mrs_input_close(in);
}

/* One database's folder; extras then lie below the root that is its parent. */
static void
one_database(void **state)
{
    (void)state;
    make_root();
    put_text(at("r/shop/prelude.json"), "{}");
    static const char want[] =
        "shop.a b d\nshop.b d m\nshop.old d m\nshop.system.buckets.ts d\nshop.ts m\nshop.view m\n"
        "+shop/$admin.system.users.bson\n+shop/notes.txt\n+shop/prelude.json\n"
        "+shop/sub/deeper/x.bson\n";
    lists(at("r/shop"), NULL, want);
    lists(at("r/shop/"), NULL, want);
    lists(at("r/shop/../shop/."), NULL, want);
    assert_int_equal(symlink(at("r/shop"), at("link")),
                     0); /* a soft link is followed and has its own name */
    struct mrs_input *in;
    OK(mrs_input_open(mem, at("link"), NULL, &in, &err));
    assert_string_equal(mrs_input_only_db(in), "link");
    mrs_input_close(in);
    mkdir(at("bad.name"), 0700);
    put(at("bad.name/c.bson"), "", 0);
    refuses(at("bad.name"), NULL, MRS_E_FORMAT, "bad.name");
}

static void
single_file(void **state)
{
    (void)state;
    make_root();
    struct mrs_input_opts opts = {.ns = "x.y.z"};
    lists(at("r/shop/b.bson"), NULL, "shop.b d m\n");
    lists(at("r/shop/a+b.bson"), NULL, "shop.a b d\n");
    lists(at("r/shop/b.bson"), &opts, "x.y.z d m\n");
    refuses(at("r"), &opts, MRS_E_USAGE, "folder");
    refuses(at("r/shop/b.metadata.json"), NULL, MRS_E_USAGE, "metadata");
    refuses(at("r/nothing"), NULL, MRS_E_MISSING, "nothing");
    opts.ns = "nodot";
    refuses(at("r/shop/b.bson"), &opts, MRS_E_USAGE, "nodot");
    opts.ns = ".x";
    refuses(at("r/shop/b.bson"), &opts, MRS_E_USAGE, "namespace");
    refuses("/dev/null", NULL, MRS_E_FORMAT, "/dev/null");
}

/* The over-long name comes from the metadata as it is: unescaping it again would change "+" and
 * "%". */
static void
over_long(void **state)
{
    (void)state;
    char coll[301], stem[MRSI_STEM_MAX + 1], text[2000];
    memset(coll, 'n', 300);
    memcpy(coll + 280, "a+b c%41", 8);
    coll[300] = 0;
    mrsi_name_escape(coll, 300, stem);
    mkdir(at("d"), 0700);
    put(at("d/%s.bson", stem), "", 0);
    refuses(at("d"), NULL, MRS_E_FORMAT, "collectionName");
    refuses(at("d/%s.bson", stem), NULL, MRS_E_FORMAT, "shortened");
    put_text(at("d/%s.metadata.json", stem), "{\"indexes\":[]}");
    refuses(at("d"), NULL, MRS_E_FORMAT, "collectionName");
    snprintf(text, sizeof text, meta, coll);
    struct bytes g = gzip_by_zlib(text, strlen(text), 6);
    unlink(at("d/%s.metadata.json", stem));
    put(at("d/%s.metadata.json.gz", stem), g.p, g.n);
    free(g.p);
    snprintf(text, sizeof text, "d.%s d m\n", coll);
    lists(at("d"), NULL, text);
    lists(at("d/%s.bson", stem), NULL, text);
}

static void
doubles(void **state)
{
    (void)state;
    struct bytes g = gzip_by_zlib("", 0, 6);
    mkdir(at("d"), 0700);
    put_text(at("d/x.metadata.json"), "{}");
    static const char *const pairs[][2] = {{"c.bson", "c.bin"},
                                           {"a+b.bson", "a b.bson"},
                                           {"%41.bson", "A.bson"},
                                           {"c.metadata.json", "%63.metadata.json"}};
    for (size_t i = 0; i < 4; i++) {
        put(at("d/%s", pairs[i][0]), "", 0);
        lists(at("d"), NULL,
              i == 0   ? "d.c d\nd.x m\n"
              : i == 1 ? "d.a b d\nd.x m\n"
              : i == 2 ? "d.A d\nd.x m\n"
                       : "d.c m\nd.x m\n");
        put(at("d/%s", pairs[i][1]), "", 0);
        refuses(at("d"), NULL, MRS_E_FORMAT, pairs[i][1]);
        unlink(at("d/%s", pairs[i][0]));
        unlink(at("d/%s", pairs[i][1]));
    }
    put(at("d/c.bson"), "", 0);
    put(at("d/c.bson.gz"), g.p, g.n);
    refuses(at("d"), NULL, MRS_E_FORMAT, "two files");
    free(g.p);
}

static void
metadata(void **state)
{
    (void)state;
    static const char *const bad[] = {"{",
                                      "[]",
                                      "{} x",
                                      "nonsense",
                                      "{\"indexes\":{}}",
                                      "{\"indexes\":[1]}",
                                      "{\"options\":[]}",
                                      "{\"indexes\":[{\"name\":\"x\"}]}",
                                      "{\"collectionName\":1}",
                                      "\0\0",
                                      " "};
    static const char *const good[] = {
        "{}", " {} \n", "{\"indexes\":[],\"options\":null,\"new\":[1]}", "",
        "{\"indexes\":[{\"v\":2,\"key\":{\"a\":1},\"ns\":\"d.c\"}],\"options\":{\"size\":4.0}}"};
    mkdir(at("d"), 0700);
    put(at("d/c.bson"), "", 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(at("d/c.metadata.json"), bad[i], i == 9 ? 2 : strlen(bad[i]));
        refuses(at("d"), NULL, MRS_E_FORMAT, "c.metadata.json");
        refuses(at("d/c.bson"), NULL, MRS_E_FORMAT, "c.metadata.json");
        struct mrs_input_opts opts = {.exclude = (const char *const[]){"d.c"}, .n_exclude = 1};
        lists(at("d"), &opts, ""); /* what is left out need not be good */
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        put_text(at("d/c.metadata.json"), good[i]);
        lists(at("d"), NULL, "d.c d m\n");
    }
    put(at("d/c.metadata.json.gz"), "", 0);
    unlink(at("d/c.metadata.json"));
    refuses(at("d"), NULL, MRS_E_FORMAT, "truncated");
}

static void
filters(void **state)
{
    (void)state;
    make_root();
    struct mrs_input_opts opts = {.include = (const char *const[]){"shop.*"},
                                  .n_include = 1,
                                  .exclude = (const char *const[]){"*.old", "shop.ts"},
                                  .n_exclude = 2};
    struct mrs_input *in;
    OK(mrs_input_open(mem, at("r"), &opts, &in, &err));
    char text[4000];
    listing(in, text, sizeof text);
    assert_string_equal(
        text,
        "shop.a b d\nshop.b d m\nshop.view m\n+oplog.bson empty\n+prelude.json\n"
        "+shop/$admin.system.users.bson\n+shop/notes.txt\n+shop/sub/deeper/x.bson\n+stray.bson\n");
    static const char *const out[] = {"admin.system.version", "shop.old", "shop.system.buckets.ts",
                                      "shop.ts"};
    assert_int_equal(mrs_input_excluded(in), 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(mrs_input_excluded_at(in, i), out[i]);
    }
    mrs_input_close(in);
    opts.include = (const char *const[]){"a\\"};
    refuses(at("r"), &opts, MRS_E_USAGE, "backslash");
}

static void
odd_folders(void **state)
{
    (void)state;
    mkdir(at("e"), 0755);
    refuses(at("e"), NULL, MRS_E_MISSING, "no dump");
    put_text(at("e/readme"), "x");
    refuses(at("e"), NULL, MRS_E_MISSING, "no dump");
    mkdir(at("e/not a db"), 0700);
    refuses(at("e"), NULL, MRS_E_FORMAT, "not a db");
    rmdir(at("e/not a db"));
    mkdir(at("e/db"), 0755);
    put(at("e/db/c%%zz.bson"), "", 0);
    refuses(at("e"), NULL, MRS_E_FORMAT, "c%zz.bson");
    unlink(at("e/db/c%%zz.bson"));
    put(at("e/db/c.bson"), "", 0);
    lists(at("e"), NULL, "db.c d\n+readme\n");
    put_text(at("e/mongoreshape.partial"), "");
    refuses(at("e"), NULL, MRS_E_FORMAT, "unfinished");
    unlink(at("e/mongoreshape.partial"));
    assert_int_equal(symlink("c.bson", at("e/db/soft.bson")), 0);
    assert_int_equal(symlink(at("e/db"), at("e/softdb")), 0);
    refuses(at("e"), NULL, MRS_E_FORMAT, "softdb: a soft link");
    unlink(at("e/softdb"));
    refuses(at("e"), NULL, MRS_E_FORMAT, "soft.bson: a soft link");
    unlink(at("e/db/soft.bson"));
    assert_int_equal(symlink("gone", at("e/db/dangling.txt")), 0);
    refuses(at("e"), NULL, MRS_E_FORMAT, "dangling.txt: a soft link");
    unlink(at("e/db/dangling.txt"));
    assert_int_equal(mkfifo(at("e/db/pipe.bson"), 0600), 0);
    refuses(at("e"), NULL, MRS_E_FORMAT, "pipe.bson");
    unlink(at("e/db/pipe.bson"));
    chmod(at("e/db/c.bson"), 0);
    as_nobody(true);
    refuses(at("e"), NULL, MRS_E_IO, "c.bson");
    as_nobody(false);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(root, begin, finish),
        cmocka_unit_test_setup_teardown(one_database, begin, finish),
        cmocka_unit_test_setup_teardown(single_file, begin, finish),
        cmocka_unit_test_setup_teardown(over_long, begin, finish),
        cmocka_unit_test_setup_teardown(doubles, begin, finish),
        cmocka_unit_test_setup_teardown(metadata, begin, finish),
        cmocka_unit_test_setup_teardown(filters, begin, finish),
        cmocka_unit_test_setup_teardown(odd_folders, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

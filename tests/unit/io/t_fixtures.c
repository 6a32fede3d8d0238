/* SPDX-License-Identifier: Apache-2.0 */
/* t_fixtures.c - real dumps: the fixtures of the MongoDB tools' own tests and what mongodump 100.18
 * wrote.
 *
 * They are not part of this repository: MRS_DATA names the folder that holds them, else
 * ../shared/data is tried; where neither is there, the tests are reported as skipped. INDEX.md of
 * the fixtures says what each file is, and is the list that is tested. */
#include "io_ground.h"
#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>

static char data[1024];

static int
begin_with_data(void **state)
{
    const char *said = getenv("MRS_DATA");
    struct stat st;
    snprintf(data, sizeof data, "%s", said && *said ? said : "../shared/data");
    if (stat(data, &st) < 0) {
        data[0] = 0;
    }
    return begin(state);
}

static const char *
fixture(const char *name)
{
    static char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", data, name);
    if (!data[0] || stat(path, &st) < 0) {
        print_message("%s: skipped, it is not here (set MRS_DATA)\n", name);
        skip();
    }
    return path;
}

/* Documents in a file, each checked inside and out; the first failure's code. */
static uint64_t
count_docs(struct mrs_input *in, uint32_t i, enum mrs_code *code)
{
    struct mrs_reader *r;
    struct mrs_block b;
    enum mrs_status s = MRS_END;
    uint64_t docs = 0;
    mrs_block_init(&b, mem);
    *code = MRS_E_NONE;
    OK(mrs_reader_open(in, i, 0, &r, &err));
    while (*code == MRS_E_NONE && (s = mrs_reader_next(r, &b, &err)) == MRS_OK) {
        for (size_t k = 0; k < b.n && *code == MRS_E_NONE; k += mrs_le32(b.p + k)) {
            if (mrs_doc_check(b.p + k, b.n - k, MRS_DEPTH_READ, &err) != MRS_OK) {
                *code = err.code;
                break;
            }
            docs++;
        }
    }
    if (*code == MRS_E_NONE && s != MRS_END) {
        *code = err.code;
        assert_int_not_equal(*code, MRS_E_NONE);
    }
    mrs_err_clear(&err);
    mrs_block_clear(&b);
    mrs_reader_close(r);
    return docs;
}

/* The file that an entry of the index means: long names are shortened there with "...". */
static bool
resolve(const char *name, char *path, size_t size)
{
    const char *dots = strstr(name, "...");
    snprintf(path, size, "%s/mongo-tools/%s", data, name);
    if (!dots) {
        return there(path);
    }
    size_t head = (size_t)(strrchr(path, '/') - path);
    char dir[4096], begin_with[400];
    snprintf(dir, sizeof dir, "%.*s", (int)head, path);
    const char *base = mrsi_base_name(name);
    snprintf(begin_with, sizeof begin_with, "%.*s", (int)(dots - base), base);
    DIR *d = opendir(dir);
    bool found = false;
    for (struct dirent *e; d && !found && (e = readdir(d)) != NULL;) {
        size_t n = strlen(e->d_name), k = strlen(dots + 3);
        found = strncmp(e->d_name, begin_with, strlen(begin_with)) == 0 && n > k &&
                strcmp(e->d_name + n - k, dots + 3) == 0;
        if (found) {
            found = snprintf(path, size, "%s/%s", dir, e->d_name) < (int)size;
        }
    }
    if (d) {
        closedir(d);
    }
    return found;
}

struct tally {
    unsigned bson, docs, metadata, bad;
};

static void
bson_line(const char *path, const char *name, const char *what, struct tally *t)
{
    struct mrs_input *in;
    struct mrs_input_opts opts = {.ns = "d.c"};
    enum mrs_code code;
    bool bad = strncmp(what, "BAD", 3) == 0;
    if (mrs_input_open(mem, path, &opts, &in, &err) != MRS_OK) {
        fail_msg("%s: %s", name, err.msg);
    }
    uint64_t docs = count_docs(in, 0, &code);
    mrs_input_close(in);
    if (bad != (code != MRS_E_NONE)) {
        fail_msg("%s is said to be %s, but reading gave code %d", name, what, code);
    }
    if (bad) {
        assert_int_equal(code, MRS_E_BSON);
        t->bad++;
        return;
    }
    const char *figure = strstr(what, " document");
    while (figure && figure > what && isdigit((unsigned char)figure[-1])) {
        figure--;
    }
    if (figure && isdigit((unsigned char)*figure)) {
        assert_int_equal(docs, strtoul(figure, NULL, 10));
        t->docs++;
    }
    t->bson++;
}

/* Every line of the index: `path` (size B): what it is. */
static void
every_fixture(void **state)
{
    (void)state;
    struct bytes index = get(fixture("mongo-tools/INDEX.md"));
    struct tally t = {0};
    char *save = NULL;
    for (char *line = strtok_r((char *)index.p, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char path[4096], *name = line + 3,
                         *end = strncmp(line, "- `", 3) == 0 ? strchr(name, '`') : NULL;
        char *what = end ? strstr(end, "): ") : NULL;
        if (!what) {
            continue;
        }
        *end = 0;
        what += 3;
        size_t n = strlen(name);
        if (!resolve(name, path, sizeof path)) {
            fail_msg("%s is in the index and not on disk", name);
        }
        struct mrsi_file_name f = mrsi_file_name(mrsi_base_name(name));
        if (f.kind == MRSI_FILE_DATA) {
            bson_line(path, name, what, &t);
        } else if (f.kind == MRSI_FILE_META || strcmp(name + n - 12, "prelude.json") == 0) {
            struct mrs_arena a;
            struct mrs_view doc;
            mrs_arena_init(&a, mem);
            if (mrsi_metadata_load(mem, &a, path, NULL, &doc, &err) != MRS_OK) {
                fail_msg("%s: %s", name, err.msg);
            }
            assert_true(doc.n > 5 || strstr(what, "empty"));
            mrs_arena_clear(&a);
            t.metadata++;
        }
    }
    free(index.p);
    print_message("%u good BSON files (%u with a known count), %u bad ones, %u metadata files\n",
                  t.bson, t.docs, t.bad, t.metadata);
    assert_true(t.bson >= 90 && t.docs >= 60 && t.bad == 5 && t.metadata >= 40);
}

/* What a folder lists: namespaces with a count, one line each. */
static void
lists(const char *name, const char *want)
{
    char path[4096], text[8000] = "";
    size_t n = 0;
    struct mrs_input *in;
    enum mrs_code code;
    snprintf(path, sizeof path, "%s", fixture(name));
    if (mrs_input_open(mem, path, NULL, &in, &err) != MRS_OK) {
        fail_msg("%s: %s", name, err.msg);
    }
    for (uint32_t i = 0; i < mrs_input_count(in); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(in, i);
        bool data_ns = ns->kind == MRS_INPUT_DATA;
        bool docs = ns->data_path && (data_ns || strstr(ns->rel_path, ".bson"));
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", data_ns ? "" : "+",
                              data_ns ? ns->ns : ns->rel_path);
        if (docs) {
            n += (size_t)snprintf(text + n, sizeof text - n, " %llu",
                                  (unsigned long long)count_docs(in, i, &code));
            assert_int_equal(code, MRS_E_NONE);
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\n",
                              data_ns && ns->meta_path ? " m" : "");
    }
    mrs_input_close(in);
    assert_string_equal(text, want);
}

static void
folders(void **state)
{
    (void)state;
#define T "mongo-tools/mongorestore/testdata/"
    lists(T "testdirs", "db1.c1 100 m\ndb1.c2 0\ndb1.c3 0 m\ndb1.c4 10 m\ndb2.c1 "
                        "0\n+db1/baddir/out.bson 0\n+oplog.bson 0\n");
    lists(T "testdirs/db1",
          "db1.c1 100 m\ndb1.c2 0\ndb1.c3 0 m\ndb1.c4 10 m\n+db1/baddir/out.bson 0\n");
    lists(T "oplogdump", "admin.system.version 1 m\ndb1.c1 5 m\n+oplog.bson 3\n");
    lists(T "prelude_test/prelude_gzip", "test.foo 1 m\n+prelude.json\n");
    lists(T "prelude_test/prelude_db_target/test", "test.foo 1 m\n+test/prelude.json\n");
    lists(T "specialcharacter", "db1.caf\xc3\xa9s 1 m\n");
    lists(T "usersdump",
          "admin.system.roles 1 m\nadmin.system.users 1 m\nadmin.system.version 2 m\n");
    lists(T "timeseries_tests/ts_dump",
          "admin.system.version 1 m\nadmin.system.views 0 m\ntimeseries_test.foo_ts m\n"
          "timeseries_test.system.buckets.foo_ts 10\n");
    lists(T "dump_oplog_conflict", "+oplog.bson 5\n");
    lists(T "dump_local_oplog", "local.oplog.rs 100 m\n");
    lists("mongo-tools/test/qa-tests/jstests/restore/testdata/dump_ordered_partial_index",
          "test.foo m\n");
    lists("mongo-tools/test/qa-tests/jstests/restore/testdata/dump_with_soft_links",
          "dbOne.data 10 m\ndbOne.system.indexes 1\ndbTwo.data 10 m\ndbTwo.system.indexes "
          "1\n+not_a_dir\n");
    lists("mongodump-100.18/ts-8.3-dir", "test.ts 2 m\n+test/prelude.json\n");
    lists("mongodump-100.18/query", "test.foo 1 m\n+test/prelude.json\n");
}

/* Over-long names: found, and the shortened file name is the one we would write. */
static void
long_names(void **state)
{
    (void)state;
    static const char *const roots[] = {"mongo-tools/mongorestore/testdata/longcollectionname/db1",
                                        "mongodump-100.18/dir", "mongodump-100.18/dir-gzip-oplog"};
    for (size_t i = 0; i < 3; i++) {
        struct mrs_input *in;
        char path[4096];
        unsigned cut = 0;
        snprintf(path, sizeof path, "%s", fixture(roots[i]));
        OK(mrs_input_open(mem, path, NULL, &in, &err));
        for (uint32_t k = 0; k < mrs_input_count(in); k++) {
            const struct mrs_input_ns *ns = mrs_input_at(in, k);
            if (ns->kind == MRS_INPUT_DATA) {
                char stem[MRSI_STEM_MAX + 1];
                const char *file = mrsi_base_name(ns->data_path ? ns->data_path : ns->meta_path);
                size_t n = mrsi_name_escape(ns->coll, strlen(ns->coll), stem);
                assert_int_equal(n, mrsi_file_name(file).stem_n);
                assert_memory_equal(stem, file, n);
                cut += mrsi_name_is_cut(stem, n);
            }
        }
        assert_int_equal(cut, 1);
        mrs_input_close(in);
    }
    char path[4096];
    struct mrs_input *in;
    fixture("mongo-tools/INDEX.md");
    assert_true(resolve(
        "mongorestore/testdata/longcollectionname/aVery...%24someMadeUpInvalidHashString.bson",
        path, sizeof path));
    FAILS(mrs_input_open(mem, path, NULL, &in, &err), MRS_E_FORMAT);
}

/* A copy of what mongodump wrote holds the same files with the same bytes. */
static void
same_copies(void **state)
{
    (void)state;
    static const char *const roots[] = {"dir", "dir-gzip-oplog", "db-users", "views-as-collections",
                                        "ts-8.3-dir"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char name[100], from[4096], command[9000];
        struct mrs_input *in;
        struct mrs_output *o;
        struct mrs_output_opts opts = {.compress = {MRS_CODEC_AS_INPUT, 0}};
        snprintf(name, sizeof name, "mongodump-100.18/%s", roots[i]);
        snprintf(from, sizeof from, "%s", fixture(name));
        OK(mrs_input_open(mem, from, NULL, &in, &err));
        opts.compress.codec = strstr(roots[i], "gzip") ? MRS_CODEC_GZIP : MRS_CODEC_NONE;
        OK(mrs_output_open(mem, at("copy"), &opts, &o, &err));
        for (uint32_t k = 0; k < mrs_input_count(in); k++) {
            OK(mrs_output_copy(o, in, k, &err));
        }
        OK(mrs_output_commit(o, mrs_empty_doc(), NULL, &err));
        mrs_output_free(o);
        mrs_input_close(in);
        snprintf(command, sizeof command, "diff -r -x mongoreshape.manifest.json '%s' '%s'", from,
                 at("copy"));
        assert_int_equal(system(command), 0);
        OK(mrsi_remove_tree(at("copy"), &err));
    }
}

/* All documents of an archive are there; a namespace that is not in it is told. */
static void
archives(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint64_t docs; /* of all namespaces */
    } want[] = {{"mongodump-100.18/full.archive.gz", 521},
                {"mongodump-100.18/full-oplog.archive", 526},
                {"mongo-tools/mongorestore/testdata/test.bar.archive", 2}};
    for (size_t i = 0; i < 3; i++) {
        struct mrs_input *in;
        struct mrs_input_opts one = {.ns = "d.c"};
        enum mrs_code code;
        uint64_t docs = 0;
        FAILS(mrs_input_open(mem, fixture(want[i].file), &one, &in, &err), MRS_E_MISSING);
        OK(mrs_input_open(mem, fixture(want[i].file), NULL, &in, &err));
        for (uint32_t k = 0; k < mrs_input_count(in); k++) {
            docs += count_docs(in, k, &code);
            assert_int_equal(code, MRS_E_NONE);
        }
        assert_true(docs == want[i].docs);
        mrs_input_close(in);
    }
}

/* The example databases, one of them packed with zstd. */
static void
examples(void **state)
{
    (void)state;
    static const struct {
        const char *root;
        uint32_t colls;
    } want[] = {{"examples/northwind/dump", 17},
                {"examples/palbum/dump", 2},
                {"examples/us_weather/dump", 1},
                {"examples/conlang_stackexchange/dump/conlang", 7}};
    for (size_t i = 0; i < 4; i++) {
        struct mrs_input *in;
        enum mrs_code code;
        uint64_t docs = 0;
        OK(mrs_input_open(mem, fixture(want[i].root), NULL, &in, &err));
        assert_int_equal(mrs_input_count(in), want[i].colls);
        for (uint32_t k = 0; k < want[i].colls; k++) {
            docs += count_docs(in, k, &code);
            assert_int_equal(code, MRS_E_NONE);
        }
        assert_true(docs > 100);
        mrs_input_close(in);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_fixture, begin_with_data, finish),
        cmocka_unit_test_setup_teardown(folders, begin_with_data, finish),
        cmocka_unit_test_setup_teardown(long_names, begin_with_data, finish),
        cmocka_unit_test_setup_teardown(same_copies, begin_with_data, finish),
        cmocka_unit_test_setup_teardown(archives, begin_with_data, finish),
        cmocka_unit_test_setup_teardown(examples, begin_with_data, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

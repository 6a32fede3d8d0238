/* SPDX-License-Identifier: Apache-2.0 */
/* t_copy.c - what goes through untouched: the same bytes, or packed anew with the names that belong
 * to it. */
#include "io_ground.h"
#include <sys/stat.h>

static const char meta[] =
    "{\"indexes\":[], \"odd\" :1.50,\"collectionName\":\"c\"}"; /* spaces and figures must stay */

static void
put_packed(const char *path, bool gz, const void *p, size_t n)
{
    struct bytes b = gz ? gzip_by_zlib(p, n, 6) : (struct bytes){(uint8_t *)(uintptr_t)p, n};
    put(path, b.p, b.n);
    if (gz) {
        free(b.p);
    }
}

/* A dump as mongodump writes it, plain or with --gzip, with every kind of file. */
static void
make_dump(bool gz, struct bytes docs)
{
    const char *end = gz ? ".gz" : "";
    mkdir(at("in"), 0700);
    mkdir(at("in/d"), 0700);
    put_packed(at("in/d/a+%%2A.bson%s", end), gz, docs.p, docs.n);
    put_packed(at("in/d/a+%%2A.metadata.json%s", end), gz, meta, sizeof meta - 1);
    put_packed(at("in/d/old.bin%s", end), gz, docs.p, docs.n);
    put_packed(at("in/d/v.metadata.json%s", end), gz, meta, sizeof meta - 1);
    put_text(at("in/d/none.metadata.json"), "");
    put_packed(at("in/d/$admin.system.users.bson%s", end), gz, docs.p, docs.n);
    put_packed(at("in/prelude.json%s", end), gz, "{}", 2);
    put_packed(at("in/oplog.bson"), gz, docs.p, docs.n);
    put_text(at("in/notes.gz"), "not really gzip");
}

static void
copy_all(const char *from, const char *to, struct mrs_output_opts opts)
{
    struct mrs_input *in;
    struct mrs_output *o;
    OK(mrs_input_open(mem, from, NULL, &in, &err));
    OK(mrs_output_open(mem, to, &opts, &o, &err));
    for (uint32_t i = mrs_input_count(in); i > 0; i--) {
        OK(mrs_output_copy(o, in, i - 1, &err));
    }
    OK(mrs_output_commit(o, mrs_empty_doc(), NULL, &err));
    mrs_output_free(o);
    mrs_input_close(in);
}

static void
holds(const char *path, enum mrs_codec codec, const void *p, size_t n)
{
    struct bytes b;
    struct mrsi_source_from from = {open(path, O_RDONLY), true,           0,
                                    UINT64_MAX,           MRS_CODEC_NONE, path, NULL};
    enum mrs_codec is;
    if (from.fd < 0) {
        fail_msg("%s is missing", path);
    }
    OK(mrsi_sniff(mem, &from, &is, &err));
    close(from.fd);
    assert_int_equal(is, codec);
    assert_int_equal(read_source(mem, path, codec, 4000, &b, &err), MRS_END);
    assert_int_equal(b.n, n);
    assert_memory_equal(b.p, p, n);
    free(b.p);
}

static void
as_it_is(void **state)
{
    (void)state;
    struct bytes docs = make_docs(3000, 1, 200);
    for (int gz = 0; gz < 2; gz++) {
        const char *end = gz ? ".gz" : "";
        enum mrs_codec own = gz ? MRS_CODEC_GZIP : MRS_CODEC_NONE;
        make_dump(gz, docs);
        copy_all(at("in"), at("out"),
                 (struct mrs_output_opts){.compress = {MRS_CODEC_AS_INPUT, 0}, .default_codec = own});
        static const char *const files[] = {
            "d/a+%%2A.bson",     "d/a+%%2A.metadata.json",     "d/old.bin",
            "d/v.metadata.json", "d/$admin.system.users.bson", "prelude.json"};
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            char a[100], b[100];
            snprintf(a, sizeof a, "in/%s%s", files[i], end);
            snprintf(b, sizeof b, "out/%s%s", gz && strcmp(files[i], "d/old.bin") == 0 ? "d/old.bson" : files[i], end);
            char *pa, *pb; /* "%%" of the list is one "%" of the name */
            while ((pa = strstr(a, "%%")) && (pb = strstr(b, "%%"))) {
                memmove(pa, pa + 1, strlen(pa));
                memmove(pb, pb + 1, strlen(pb));
            }
            same_file(at("%s", a), at("%s", b));
        }
        same_file(at("in/oplog.bson"), at("out/oplog.bson"));
        same_file(at("in/notes.gz"), at("out/notes.gz"));
        holds(at("out/d/none.metadata.json%s", end), own, "", 0);
        /* And once more, from the copy: its manifest is not taken for a part of the dump. */
        copy_all(at("out"), at("again"),
                 (struct mrs_output_opts){.compress = {MRS_CODEC_AS_INPUT, 0}, .default_codec = own});
        same_file(at("out/mongoreshape.manifest.json"), at("again/mongoreshape.manifest.json"));
        OK(mrsi_remove_tree(at("in"), &err));
        OK(mrsi_remove_tree(at("out"), &err));
        OK(mrsi_remove_tree(at("again"), &err));
    }
    free(docs.p);
}

static void
packed_anew(void **state)
{
    (void)state;
    struct bytes docs = make_docs(3000, 1, 200);
    static const char *const ends[] = {"", ".gz", ".zst"};
    for (int gz = 0; gz < 2; gz++) {
        make_dump(gz, docs);
        for (int codec = MRS_CODEC_NONE; codec <= MRS_CODEC_ZSTD; codec++) {
            enum mrs_codec c = (enum mrs_codec)codec,
                           small = c == MRS_CODEC_ZSTD ? MRS_CODEC_NONE : c;
            const char *end = ends[codec], *small_end = ends[small];
            copy_all(at("in"), at("out"), (struct mrs_output_opts){.compress = {c, 0}});
            holds(at("out/d/a+%%2A.bson%s", end), c, docs.p, docs.n);
            holds(at("out/d/old.%s%s", codec ? "bson" : "bin", end), c, docs.p, docs.n);
            holds(at("out/d/$admin.system.users.bson%s", end), c, docs.p, docs.n);
            holds(at("out/d/a+%%2A.metadata.json%s", small_end), small, meta, sizeof meta - 1);
            holds(at("out/d/v.metadata.json%s", small_end), small, meta, sizeof meta - 1);
            holds(at("out/prelude.json%s", small_end), small, "{}", 2);
            holds(at("out/oplog.bson%s", c == MRS_CODEC_ZSTD ? ".zst" : ""), c, docs.p,
                  docs.n); /* keeps its name */
            same_file(at("in/notes.gz"), at("out/notes.gz"));
            struct mrs_input *in;
            OK(mrs_input_open(mem, at("out"), NULL, &in, &err));
            assert_int_equal(mrs_input_count(in), 4 + 4);
            mrs_input_close(in);
            OK(mrsi_remove_tree(at("out"), &err));
        }
        OK(mrsi_remove_tree(at("in"), &err));
    }
    free(docs.p);
}

/* A damaged stream is noticed when it is packed anew; as it is, it stays as it is. */
static void
damaged(void **state)
{
    (void)state;
    struct bytes docs = make_docs(3000, 1, 200), g = gzip_by_zlib(docs.p, docs.n, 6);
    mkdir(at("d"), 0700);
    put(at("d/c.bson.gz"), g.p, g.n - 9);
    copy_all(at("d"), at("same"), (struct mrs_output_opts){.compress = {MRS_CODEC_GZIP, 0}});
    same_file(at("d/c.bson.gz"), at("same/d/c.bson.gz"));
    struct mrs_input *in;
    struct mrs_output *o;
    struct mrs_output_opts opts = {.compress = {MRS_CODEC_NONE, 0}};
    OK(mrs_input_open(mem, at("d"), NULL, &in, &err));
    OK(mrs_output_open(mem, at("out"), &opts, &o, &err));
    FAILS(mrs_output_copy(o, in, 0, &err), MRS_E_FORMAT);
    FAILS(mrs_output_commit(o, mrs_empty_doc(), NULL, &err), MRS_E_IO);
    mrs_output_abort(o);
    mrs_output_free(o);
    mrs_input_close(in);
    assert_false(there(at("out")));
    free(docs.p);
    free(g.p);
}

/* Into one file, and out of one. */
static void
single(void **state)
{
    (void)state;
    struct bytes docs = make_docs(300, 1, 200), g = gzip_by_zlib(docs.p, docs.n, 6);
    mkdir(at("d"), 0700);
    put(at("d/c.bson.gz"), g.p, g.n);
    struct bytes m = gzip_by_zlib(meta, sizeof meta - 1, 6);
    put(at("d/c.metadata.json.gz"), m.p, m.n);
    copy_all(at("d"), at("one.bson"),
             (struct mrs_output_opts){.compress = {MRS_CODEC_AS_INPUT, 0}, .single_ns = "d.c"});
    holds(at("one.bson"), MRS_CODEC_NONE, docs.p, docs.n);
    holds(at("one.metadata.json"), MRS_CODEC_NONE, meta, sizeof meta - 1);
    copy_all(at("d"), at("two.bson.gz"),
             (struct mrs_output_opts){.compress = {MRS_CODEC_AS_INPUT, 0}, .single_ns = "d.c"});
    same_file(at("two.bson.gz"), at("d/c.bson.gz"));
    struct mrs_input *in;
    struct mrs_output *o;
    struct mrs_input_opts from = {.ns = "x.a b"};
    struct mrs_output_opts opts = {.compress = {MRS_CODEC_AS_INPUT, 0},
                                   .default_codec = MRS_CODEC_ZSTD};
    OK(mrs_input_open(mem, at("one.bson"), &from, &in, &err));
    OK(mrs_output_open(mem, at("out"), &opts, &o, &err));
    OK(mrs_output_copy(o, in, 0, &err));
    FAILS(mrs_output_copy(o, in, 0, &err), MRS_E_EXISTS);
    mrs_output_abort(o);
    mrs_output_free(o);
    OK(mrs_output_open(mem, at("out"), &opts, &o, &err));
    OK(mrs_output_copy(o, in, 0, &err));
    OK(mrs_output_commit(o, mrs_empty_doc(), NULL, &err));
    mrs_output_free(o);
    mrs_input_close(in);
    holds(at("out/x/a+b.bson.zst"), MRS_CODEC_ZSTD, docs.p, docs.n);
    holds(at("out/x/a+b.metadata.json"), MRS_CODEC_NONE, meta, sizeof meta - 1);
    free(docs.p);
    free(g.p);
    free(m.p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_it_is, begin, finish),
        cmocka_unit_test_setup_teardown(packed_anew, begin, finish),
        cmocka_unit_test_setup_teardown(damaged, begin, finish),
        cmocka_unit_test_setup_teardown(single, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

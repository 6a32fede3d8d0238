/* SPDX-License-Identifier: Apache-2.0 */
/* t_fault.c - memory runs out at every allocation there is: a status each time, no leak, nothing
 * published. */
#include "io_test.h"
#include <sys/stat.h>

/* Lists a dump, reads a namespace, writes it, copies the rest, commits. */
static enum mrs_status
whole_way(struct mrs_mem *mem, enum mrs_codec codec, struct mrs_err *e)
{
    struct mrs_input_opts how = {.exclude = (const char *const[]){"d.v"}, .n_exclude = 1};
    struct mrs_output_opts opts = {.compress = {codec, 0}, .input = at("in"), .force = true};
    struct mrs_input *in = NULL;
    struct mrs_output *o = NULL;
    struct mrs_reader *r = NULL;
    struct mrs_sink *sink = NULL;
    struct mrs_block b;
    uint64_t docs = 0;
    mrs_block_init(&b, mem);
    enum mrs_status s = mrs_input_open(mem, at("in"), &how, &in, e);
    s = s == MRS_OK ? mrs_output_open(mem, at("out"), &opts, &o, e) : s;
    for (uint32_t i = 1; s == MRS_OK && i < mrs_input_count(in); i++) {
        s = mrs_output_copy(o, in, i, e);
    }
    s = s == MRS_OK ? mrs_output_coll(o, "d", "new", "{}", 2, true, &sink, e) : s;
    s = s == MRS_OK ? mrs_reader_open(in, 0, 5000, &r, e) : s;
    while (s == MRS_OK && (s = mrs_reader_next(r, &b, e)) == MRS_OK) {
        s = mrs_sink_write(sink, b.p, b.n, e);
        docs += b.n_docs;
    }
    s = s == MRS_END ? MRS_OK : s;
    if (sink) {
        enum mrs_status c = mrs_sink_close(sink, docs, NULL, s == MRS_OK ? e : NULL);
        s = s == MRS_OK ? c : s;
    }
    s = s == MRS_OK ? mrs_output_commit(o, mrs_empty_doc(), NULL, e) : s;
    mrs_block_clear(&b);
    mrs_reader_close(r);
    mrs_output_abort(o);
    mrs_output_free(o);
    mrs_input_close(in);
    return s;
}

static void
every_allocation(void **state)
{
    (void)state;
    struct bytes docs = make_docs(100, 1, 300);
    char coll[301], stem[MRSI_STEM_MAX + 1], text[400];
    memset(coll, 'n', 300);
    coll[300] = 0;
    mrsi_name_escape(coll, 300, stem);
    snprintf(text, sizeof text, "{\"indexes\":[],\"collectionName\":\"%s\"}", coll);
    mkdir(at("in"), 0700);
    mkdir(at("in/d"), 0700);
    mkdir(at("in/d/sub"), 0700);
    struct bytes g = gzip_by_zlib(docs.p, docs.n, 6), z = zstd_by_lib(docs.p, docs.n, 3);
    put(at("in/d/a.bson"), g.p, g.n);
    put(at("in/d/z.bson.zst"), z.p, z.n);
    put_text(at("in/d/a.metadata.json"), "{\"options\":{\"capped\":true},\"indexes\":[]}");
    put_text(at("in/d/v.metadata.json"), "{}");
    put(at("in/d/%s.bson", stem), docs.p, docs.n);
    put_text(at("in/d/%s.metadata.json", stem), text);
    put_text(at("in/d/sub/x"), "x");
    put(at("in/oplog.bson"), g.p, g.n);
    for (enum mrs_codec codec = MRS_CODEC_NONE; codec <= MRS_CODEC_AS_INPUT; codec++) {
        unsigned failed = 0;
        for (uint64_t n = 1;; n++) {
            struct mrs_mem *mem = mrs_mem_new(n);
            struct mrs_err err;
            mrs_err_clear(&err);
            enum mrs_status s = whole_way(mem, codec, &err);
            bool reached = mrs_mem_count(mem) >= n;
            assert_int_equal(mrs_mem_close(mem), 0);
            assert_false(there(at("out.partial")));
            if (s == MRS_OK) {
                assert_true(there(at("out/mongoreshape.manifest.json")));
                OK(mrsi_remove_tree(at("out"), &err));
            } else {
                failed++;
                assert_int_equal(err.code, MRS_E_MEMORY);
                assert_int_equal(s, MRS_DEAD);
                assert_false(there(at("out")));
            }
            if (!reached) {
                assert_int_equal(s, MRS_OK);
                break;
            }
        }
        print_message("codec %d: %u allocations failed one by one\n", codec, failed);
        assert_true(failed > 60);
    }
    free(docs.p);
    free(g.p);
    free(z.p);
}

/* A single file and a stream. */
static void
small_entries(void **state)
{
    (void)state;
    put_text(at("s.bson"), "");
    put_text(at("s.metadata.json"), "{}");
    for (uint64_t n = 1;; n++) {
        struct mrs_mem *mem = mrs_mem_new(n);
        struct mrs_err err;
        struct mrs_input *in = NULL;
        struct mrs_output *o = NULL;
        struct mrs_input_opts how = {.ns = "d.c"};
        struct mrs_output_opts opts = {.single_ns = "d.c", .force = true};
        char *text = NULL;
        size_t size;
        mrs_err_clear(&err);
        enum mrs_status s = mrs_input_open(mem, at("s.bson"), &how, &in, &err);
        s = s == MRS_OK ? mrs_output_open(mem, at("t.bson"), &opts, &o, &err) : s;
        s = s == MRS_OK ? mrs_output_copy(o, in, 0, &err) : s;
        s = s == MRS_OK ? mrs_output_commit(o, mrs_empty_doc(), NULL, &err) : s;
        s = s == MRS_OK ? mrs_file_read(mem, at("s.metadata.json"), 100, &text, &size, &err) : s;
        mrs_free(mem, text);
        mrs_output_abort(o);
        mrs_output_free(o);
        mrs_input_close(in);
        bool reached = mrs_mem_count(mem) >= n;
        assert_int_equal(mrs_mem_close(mem), 0);
        assert_int_equal(s == MRS_OK ? MRS_E_NONE : MRS_E_MEMORY, err.code);
        if (!reached) {
            assert_int_equal(s, MRS_OK);
            break;
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation),
                                       cmocka_unit_test(small_entries)};
    return cmocka_run_group_tests(tests, make_top, drop_top);
}

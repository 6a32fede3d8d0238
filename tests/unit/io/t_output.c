/* SPDX-License-Identifier: Apache-2.0 */
/* t_output.c - the transaction: what is there after a commit, an abort, a kill, a full disk, a
 * refusal. */
#include "io_ground.h"
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct mrs_output *
open_out(const char *path, struct mrs_output_opts opts)
{
    struct mrs_output *o;
    OK(mrs_output_open(mem, path, &opts, &o, &err));
    return o;
}

static void
refused(const char *path, struct mrs_output_opts opts, enum mrs_code code, const char *word)
{
    struct mrs_output *o;
    enum mrs_status s = mrs_output_open(mem, path, &opts, &o, &err);
    if (s == MRS_OK || !strstr(err.msg, word)) {
        fail_msg("%s: '%s' is not in '%s'", path, word, err.msg);
    }
    FAILS(s, code);
}

static struct mrs_hash_sum
write_coll(struct mrs_output *o, const char *db, const char *coll, const char *metadata,
           struct bytes docs, uint32_t n)
{
    struct mrs_sink *sink;
    struct mrs_hash_sum sum;
    OK(mrs_output_coll(o, db, coll, metadata, metadata ? strlen(metadata) : 0, true, &sink, &err));
    for (size_t i = 0; i < docs.n;) { /* one document at a time */
        size_t k = mrs_le32(docs.p + i);
        OK(mrs_sink_write(sink, docs.p + i, k, &err));
        i += k;
    }
    OK(mrs_sink_close(sink, n, &sum, &err));
    return sum;
}

static void
holds(const char *path, const void *p, size_t n)
{
    struct bytes b = get(path);
    assert_int_equal(b.n, n);
    assert_memory_equal(b.p, p, n);
    free(b.p);
}

static void
commit(struct mrs_output *o)
{
    uint64_t ms;
    OK(mrs_output_commit(o, mrs_empty_doc(), &ms, &err));
    assert_true(ms < 60000);
    mrs_output_abort(o); /* harmless */
    mrs_output_free(o);
}

/* Manifest text as a document. */
static struct mrs_view
manifest(const char *path, struct mrs_buf *buf)
{
    struct bytes b = get(path);
    struct mrs_view doc;
    mrs_buf_init(buf, mem, 1 << 20);
    OK(mrsi_metadata_parse(buf, (char *)b.p, b.n, path, &doc, &err));
    free(b.p);
    return doc;
}

static void
folder(void **state)
{
    (void)state;
    struct bytes docs = make_docs(500, 1, 300), none = {NULL, 0};
    struct mrs_hash_sum want = {0, 0};
    for (size_t i = 0; i < docs.n; i += mrs_le32(docs.p + i)) {
        struct mrs_hash128 h = mrs_hash(docs.p + i, mrs_le32(docs.p + i), 0);
        mrs_hash_sum_add(&want, h.lo, h.hi);
    }
    struct mrs_output *o = open_out(at("out/"), (struct mrs_output_opts){.sink_buffer = 1000});
    assert_true(there(at("out.partial/mongoreshape.partial")));
    struct mrs_hash_sum sum = write_coll(o, "shop", "b c/%", "{\"m\":1}", docs, 500);
    assert_int_equal(sum.lo, want.lo);
    assert_int_equal(sum.hi, want.hi);
    write_coll(o, "other", "empty", NULL, none, 0);
    struct mrs_sink *sink;
    OK(mrs_output_coll(o, "shop", "view", "{\"v\":1}", 7, false, &sink, &err));
    assert_null(sink);
    OK(mrs_sink_close(sink, 0, NULL, &err));
    assert_false(there(at("out")));
    struct mrs_buf extra, text;
    struct mrs_build b;
    struct mrs_view doc;
    mrs_buf_init(&extra, mem, 1000);
    mrs_build_init(&b, &extra);
    mrs_build_text(&b, "plan", "abc", 3);
    OK(mrs_build_finish(&b, &doc, &err));
    OK(mrs_output_commit(o, doc, NULL, &err));
    FAILS(mrs_output_commit(o, doc, NULL, &err), MRS_E_IO);
    mrs_output_free(o);
    mrs_buf_clear(&extra);
    assert_false(there(at("out.partial")));
    assert_false(there(at("out/mongoreshape.partial")));
    holds(at("out/shop/b+c%%2F%%25.bson"), docs.p, docs.n);
    holds(at("out/shop/b+c%%2F%%25.metadata.json"), "{\"m\":1}", 7);
    holds(at("out/shop/view.metadata.json"), "{\"v\":1}", 7);
    assert_false(there(at("out/shop/view.bson")));
    holds(at("out/other/empty.bson"), "", 0);
    assert_false(there(at("out/other/empty.metadata.json")));
    doc = manifest(at("out/mongoreshape.manifest.json"), &text);
    uint32_t n;
    assert_memory_equal(mrs_val_text(mrs_doc_get(doc, "plan"), &n), "abc", 4);
    struct mrs_view colls = mrs_val_view(mrs_doc_get(doc, "collections"));
    struct mrs_view one =
        mrs_val_view(mrs_doc_get(colls, "1")); /* other.empty, shop.b c/%, shop.view */
    assert_memory_equal(mrs_val_text(mrs_doc_get(one, "ns"), &n), "shop.b c/%", 11);
    assert_int_equal(mrs_val_i64(mrs_doc_get(one, "docs")), 500);
    assert_int_equal(mrs_val_i64(mrs_doc_get(one, "bytes")), docs.n);
    char hex[40];
    snprintf(hex, sizeof hex, "%016llx%016llx", (unsigned long long)want.hi,
             (unsigned long long)want.lo);
    assert_string_equal(mrs_val_text(mrs_doc_get(one, "digest"), &n), hex);
    assert_int_equal(mrs_doc_get(mrs_val_view(mrs_doc_get(colls, "2")), "docs").type, MRS_MISSING);
    mrs_buf_clear(&text);
    free(docs.p);
}

static void
packed(void **state)
{
    (void)state;
    struct bytes docs = make_docs(3000, 1, 300);
    static const struct {
        struct mrs_compress how;
        const char *data, *meta;
        enum mrs_codec codec;
    } want[] = {{{MRS_CODEC_GZIP, 1}, "c.bson.gz", "c.metadata.json.gz", MRS_CODEC_GZIP},
                {{MRS_CODEC_ZSTD, 0}, "c.bson.zst", "c.metadata.json", MRS_CODEC_ZSTD},
                {{MRS_CODEC_AS_INPUT, 0}, "c.bson.gz", "c.metadata.json.gz", MRS_CODEC_GZIP}};
    for (size_t i = 0; i < 3; i++) {
        struct mrs_output_opts opts = {
            .compress = want[i].how, .default_codec = MRS_CODEC_GZIP, .force = true};
        struct mrs_output *o = open_out(at("out"), opts);
        write_coll(o, "d", "c", "{}", docs, 3000);
        commit(o);
        assert_true(there(at("out/d/%s", want[i].data)));
        assert_true(there(at("out/d/%s", want[i].meta)));
        struct mrs_input *in;
        OK(mrs_input_open(mem, at("out"), NULL, &in, &err));
        assert_int_equal(mrs_input_count(in), 1);
        assert_int_equal(mrs_input_at(in, 0)->codec, want[i].codec);
        assert_non_null(mrs_input_at(in, 0)->meta_path);
        struct mrs_reader *r;
        struct mrs_block b;
        mrs_block_init(&b, mem);
        OK(mrs_reader_open(in, 0, 10 << 20, &r, &err));
        OK(mrs_reader_next(r, &b, &err));
        assert_int_equal(b.n, docs.n);
        assert_memory_equal(b.p, docs.p, docs.n);
        mrs_block_clear(&b);
        mrs_reader_close(r);
        mrs_input_close(in);
    }
    free(docs.p);
}

/* The marker goes a moment before the folder gets its last name: whoever comes then must not take it for the rest of a
 * killed run. */
static void
while_it_is_published(void **state)
{
    (void)state;
    struct bytes docs = make_docs(50, 1, 300);
    struct mrs_output_opts opts = {.force = true}, resume = {.resume = true};
    struct mrs_ckpt_dir side = {mem, at("out"), NULL};
    bool published;
    struct mrs_output *o = open_out(at("out"), opts);
    write_coll(o, "d", "c", "{}", docs, 50);
    put_text(at("out.partial/mongoreshape.manifest.json"), "{}");
    assert_int_equal(unlink(at("out.partial/mongoreshape.partial")), 0);
    refused(at("out"), opts, MRS_E_EXISTS, "another run");
    refused(at("out"), resume, MRS_E_EXISTS, "another run");
    FAILS(mrs_ckpt_dir_settle(&side, mrs_empty_doc(), false, &published, &err), MRS_E_EXISTS);
    assert_true(there(at("out.partial/d/c.bson")));
    assert_false(there(at("out.partial/mongoreshape.partial")));
    mrs_output_free(o); /* killed: now it may go */
    OK(mrs_ckpt_dir_settle(&side, mrs_empty_doc(), false, &published, &err));
    assert_false(published);
    o = open_out(at("out"), opts);
    assert_false(there(at("out.partial/d")));
    mrs_output_abort(o);
    mrs_output_free(o);
    free(docs.p);
}

static void
abort_and_kill(void **state)
{
    (void)state;
    struct bytes docs = make_docs(50, 1, 300);
    struct mrs_sink *open_sink;
    struct mrs_output_opts opts = {.compress = {MRS_CODEC_ZSTD, 0}};
    struct mrs_output *o = open_out(at("out"), opts);
    write_coll(o, "d", "c", "{}", docs, 50);
    OK(mrs_output_coll(o, "d", "e", NULL, 0, true, &open_sink, &err));
    FAILS(mrs_output_commit(o, mrs_empty_doc(), NULL, &err), MRS_E_ACCOUNT); /* a sink is open */
    mrs_output_abort(o);
    mrs_output_free(o);
    assert_false(there(at("out.partial")));
    assert_false(there(at("out")));
    /* A killed run: nothing is cleaned up, the next one does it. */
    o = open_out(at("out"), opts);
    write_coll(o, "d", "c", "{}", docs, 50);
    refused(at("out"), opts, MRS_E_EXISTS, "another run");
    mrs_output_free(o);
    assert_true(there(at("out.partial/d/c.bson.zst")));
    struct mrs_input *in;
    FAILS(mrs_input_open(mem, at("out.partial"), NULL, &in, &err),
          MRS_E_FORMAT); /* it does not pass for a dump */
    o = open_out(at("out"), opts);
    assert_false(there(at("out.partial/d")));
    commit(o);
    assert_true(there(at("out/mongoreshape.manifest.json")));
    /* Killed before the marker, and between marker and rename. */
    mkdir(at("two.partial"), 0700);
    o = open_out(at("two"), opts);
    mrs_output_abort(o);
    mrs_output_free(o);
    mkdir(at("three.partial"), 0700);
    put_text(at("three.partial/mongoreshape.manifest.json"), "{}");
    o = open_out(at("three"), opts);
    mrs_output_abort(o);
    mrs_output_free(o);
    assert_false(there(at("three.partial")));
    /* Somebody else's. */
    mkdir(at("four.partial"), 0700);
    put_text(at("four.partial/precious"), "");
    refused(at("four"), opts, MRS_E_EXISTS, "remove it yourself");
    opts.force = true;
    refused(at("four"), opts, MRS_E_EXISTS, "remove it yourself");
    assert_true(there(at("four.partial/precious")));
    free(docs.p);
}

static void
refusals(void **state)
{
    (void)state;
    struct mrs_output_opts plain = {0}, force = {.force = true};
    mkdir(at("old"), 0700);
    refused(at("old"), plain, MRS_E_EXISTS, "old");
    put_text(at("old/diary.txt"), "dear diary");
    refused(at("old"), force, MRS_E_EXISTS, "diary.txt");
    put_text(at("file"), "x");
    refused(at("file"), plain, MRS_E_EXISTS, "file");
    refused(at("file"), force, MRS_E_EXISTS, "folder");
    assert_int_equal(symlink(at("old"), at("soft")), 0);
    refused(at("soft"), force, MRS_E_EXISTS, "soft");
    refused(at("no/such/place"), plain, MRS_E_MISSING, "no/such/place");
    refused("/", plain, MRS_E_USAGE, "/");
    refused(at("x/.."), plain, MRS_E_USAGE, "..");
    refused("-", (struct mrs_output_opts){.format = MRS_FORMAT_BSON}, MRS_E_USAGE, "one collection");
    refused("-", (struct mrs_output_opts){.format = MRS_FORMAT_DIRECTORY}, MRS_E_USAGE, "folder");
    refused(at("s.archive"), (struct mrs_output_opts){.stream = true}, MRS_E_USAGE, "--stream");
    /* The input is never touched, so the output may not be it, hold it or lie in it. */
    mkdir(at("in"), 0700);
    mkdir(at("in/d"), 0700);
    put_text(at("in/d/c.bson"), "");
    force.input = at("in");
    refused(at("in"), force, MRS_E_USAGE, "overlap");
    refused(at("in/d/../../in"), force, MRS_E_USAGE, "overlap");
    refused(at("in/out"), force, MRS_E_USAGE, "overlap");
    force.input = at("in/d/c.bson");
    refused(at("in"), force, MRS_E_USAGE, "overlap");
    force.input = at("in");
    struct mrs_output *o = open_out(at("in2"), force);
    mrs_output_abort(o);
    mrs_output_free(o);
    assert_true(there(at("in/d/c.bson")));
    assert_false(there(at("in.partial")));
    /* Names that cannot be written; a collection written twice; the output can only be aborted
     * then. */
    struct mrs_sink *sink;
    static const char *const bad[][2] = {{"a.b", "c"}, {"a", ""}, {"", "c"}, {"../x", "c"}};
    for (size_t i = 0; i < 4; i++) {
        o = open_out(at("out"), plain);
        FAILS(mrs_output_coll(o, bad[i][0], bad[i][1], NULL, 0, true, &sink, &err), MRS_E_USAGE);
        FAILS(mrs_output_commit(o, mrs_empty_doc(), NULL, &err), MRS_E_IO);
        mrs_output_abort(o);
        mrs_output_free(o);
    }
    o = open_out(at("out"), plain);
    OK(mrs_output_coll(o, "d", "c", NULL, 0, true, &sink, &err));
    OK(mrs_sink_close(sink, 0, NULL, &err));
    FAILS(mrs_output_coll(o, "d", "c", NULL, 0, true, &sink, &err), MRS_E_EXISTS);
    mrs_output_abort(o);
    mrs_output_free(o);
    assert_false(there(at("out")));
}

static void
no_permission(void **state)
{
    (void)state;
    mkdir(at("locked"), 0555);
    as_nobody(true);
    refused(at("locked/out"), (struct mrs_output_opts){0}, MRS_E_IO, "locked/out");
    as_nobody(false);
}

/* What the sink is told and what it saw must agree. */
static void
account(void **state)
{
    (void)state;
    struct bytes docs = make_docs(5, 1, 100);
    struct mrs_sink *sink;
    for (int kind = 0; kind < 3; kind++) {
        struct mrs_output *o = open_out(at("out"), (struct mrs_output_opts){0});
        OK(mrs_output_coll(o, "d", "c", NULL, 0, true, &sink, &err));
        if (kind == 0) {
            OK(mrs_sink_write(sink, docs.p, docs.n, &err));
            FAILS(mrs_sink_close(sink, 4, NULL, &err), MRS_E_ACCOUNT);
        } else {
            FAILS(mrs_sink_write(sink, docs.p + (kind == 1), docs.n - 1, &err), MRS_E_ACCOUNT);
            FAILS(mrs_sink_close(sink, 5, NULL, &err), MRS_E_IO);
        }
        FAILS(mrs_output_commit(o, mrs_empty_doc(), NULL, &err), MRS_E_IO);
        mrs_output_abort(o);
        mrs_output_free(o);
    }
    free(docs.p);
}

/* A sink that begins again holds only what comes afterwards. */
static void
restarted(void **state)
{
    (void)state;
    struct bytes docs = make_docs(500, 1, 300), more = make_docs(9, 2, 100);
    for (int codec = MRS_CODEC_NONE; codec <= MRS_CODEC_ZSTD; codec++) {
        struct mrs_output_opts opts = {
            .compress = {(enum mrs_codec)codec, 0}, .force = true, .sink_buffer = 5000};
        struct mrs_output *o = open_out(at("out"), opts);
        struct mrs_sink *sink;
        struct mrs_hash_sum sum;
        OK(mrs_output_coll(o, "d", "c", NULL, 0, true, &sink, &err));
        OK(mrs_sink_write(sink, docs.p, docs.n, &err));
        OK(mrs_sink_restart(sink, &err));
        OK(mrs_sink_write(sink, more.p, more.n, &err));
        OK(mrs_sink_close(sink, 9, &sum, &err));
        commit(o);
        struct mrs_input *in;
        struct bytes b;
        OK(mrs_input_open(mem, at("out"), NULL, &in, &err));
        assert_int_equal(
            read_source(mem, mrs_input_at(in, 0)->data_path, (enum mrs_codec)codec, 999, &b, &err),
            MRS_END);
        assert_int_equal(b.n, more.n);
        assert_memory_equal(b.p, more.p, more.n);
        free(b.p);
        mrs_input_close(in);
    }
    free(docs.p);
    free(more.p);
}

static void
force_swaps(void **state)
{
    (void)state;
    struct bytes docs = make_docs(5, 1, 100);
    mkdir(at("out"), 0700);
    mkdir(at("out/olddb"), 0700);
    put_text(at("out/olddb/x.bson.gz"), "old");
    mkdir(at("out.old"), 0700);
    put_text(at("out.old/precious"), "");
    struct mrs_output_opts opts = {.force = true};
    struct mrs_output *o = open_out(at("out"), opts);
    write_coll(o, "d", "c", NULL, docs, 5);
    assert_true(there(at("out/olddb/x.bson.gz"))); /* until the commit */
    mrs_output_abort(o);
    mrs_output_free(o);
    holds(at("out/olddb/x.bson.gz"), "old", 3);
    o = open_out(at("out"), opts);
    write_coll(o, "d", "c", NULL, docs, 5);
    commit(o);
    holds(at("out/d/c.bson"), docs.p, docs.n);
    assert_false(there(at("out/olddb")));
    assert_false(there(at("out.old1")));
    assert_true(there(at("out.old/precious")));
    /* Something that appears between open and commit is never run over. */
    o = open_out(at("late"), (struct mrs_output_opts){0});
    write_coll(o, "d", "c", NULL, docs, 5);
    mkdir(at("late"), 0700);
    FAILS(mrs_output_commit(o, mrs_empty_doc(), NULL, &err), MRS_E_EXISTS);
    mrs_output_abort(o);
    mrs_output_free(o);
    assert_true(there(at("late")));
    assert_false(there(at("late/d")));
    assert_false(there(at("late.partial")));
    opts.force = true; /* with force as well, where it is no dump */
    o = open_out(at("later"), opts);
    mkdir(at("later"), 0700);
    put_text(at("later/thesis.tex"), "");
    FAILS(mrs_output_commit(o, mrs_empty_doc(), NULL, &err), MRS_E_EXISTS);
    mrs_output_abort(o);
    mrs_output_free(o);
    assert_true(there(at("later/thesis.tex")));
    free(docs.p);
}

static void
single_file(void **state)
{
    (void)state;
    struct bytes docs = make_docs(5, 1, 100), more = make_docs(7, 2, 100);
    struct mrs_sink *sink;
    struct mrs_output_opts opts = {.single_ns = "d.c"};
    struct mrs_output *o = open_out(at("x.bson"), opts);
    FAILS(mrs_output_coll(o, "d", "other", NULL, 0, true, &sink, &err), MRS_E_USAGE);
    mrs_output_abort(o);
    mrs_output_free(o);
    o = open_out(at("x.bson"), opts);
    write_coll(o, "d", "c", "{\"a\":1}", docs, 5);
    assert_false(there(at("x.bson")));
    commit(o);
    holds(at("x.bson"), docs.p, docs.n);
    holds(at("x.metadata.json"), "{\"a\":1}", 7);
    assert_true(there(at("x.bson.manifest.json")));
    assert_false(there(at("x.bson.partial")));
    refused(at("x.bson"), opts, MRS_E_EXISTS, "x.bson");
    unlink(at("x.bson"));
    refused(at("x.bson"), opts, MRS_E_EXISTS, "x.metadata.json");
    put_text(at("x.bson"), "old");
    opts.force = true;
    o = open_out(at("x.bson"), opts);
    write_coll(o, "d", "c", NULL, more, 7);
    commit(o);
    holds(at("x.bson"), more.p, more.n);
    assert_false(there(at("x.metadata.json"))); /* it belonged to the replaced one */
    assert_false(there(at("x.bson.partial")));
    struct mrs_buf text;
    struct mrs_view doc = manifest(at("x.bson.manifest.json"), &text);
    struct mrs_view one =
        mrs_val_view(mrs_doc_get(mrs_val_view(mrs_doc_get(doc, "collections")), "0"));
    assert_int_equal(mrs_val_i64(mrs_doc_get(one, "docs")), 7);
    mrs_buf_clear(&text);
    /* The codec follows the name. */
    opts.compress.codec = MRS_CODEC_AS_INPUT;
    o = open_out(at("y.bson.zst"), opts);
    write_coll(o, "d", "c", "{}", more, 7);
    commit(o);
    struct bytes b;
    assert_int_equal(read_source(mem, at("y.bson.zst"), MRS_CODEC_ZSTD, 1000, &b, &err), MRS_END);
    assert_int_equal(b.n, more.n);
    free(b.p);
    assert_true(there(at("y.metadata.json")));
    /* A name taken meanwhile: nothing is published, what came stays. */
    opts.force = false;
    o = open_out(at("z.bson"), opts);
    write_coll(o, "d", "c", "{}", more, 7);
    put_text(at("z.bson"), "came");
    FAILS(mrs_output_commit(o, mrs_empty_doc(), NULL, &err), MRS_E_EXISTS);
    mrs_output_abort(o);
    mrs_output_free(o);
    holds(at("z.bson"), "came", 4);
    assert_false(there(at("z.metadata.json")));
    assert_false(there(at("z.bson.manifest.json")));
    free(docs.p);
    free(more.p);
}

static void
to_stdout(void **state)
{
    (void)state;
    struct bytes docs = make_docs(500, 1, 300);
    struct mrs_output_opts opts = {.single_ns = "d.c", .tmp = top};
    fflush(stdout);
    int was = dup(1), fd = open(at("captured"), O_RDWR | O_CREAT, 0600);
    dup2(fd, 1);
    struct mrs_output *o = NULL;
    enum mrs_status s = mrs_output_open(mem, "-", &opts, &o, &err), t = MRS_OK;
    struct mrs_sink *sink = NULL;
    struct stat st = {0}, st2 = {0};
    if (s == MRS_OK) {
        s = mrs_output_coll(o, "d", "c", "{}", 2, true, &sink, &err);
        s = s == MRS_OK ? mrs_sink_write(sink, docs.p, docs.n, &err) : s;
        s = s == MRS_OK ? mrs_sink_close(sink, 500, NULL, &err) : s;
        fstat(fd, &st); /* nothing before the commit */
        t = mrs_output_commit(o, mrs_empty_doc(), NULL, &err);
        mrs_output_free(o);
        fstat(fd, &st2);
    }
    dup2(was, 1);
    close(was);
    close(fd);
    assert_int_equal(s, MRS_OK);
    assert_int_equal(t, MRS_OK);
    assert_int_equal(st.st_size, 0);
    holds(at("captured"), docs.p, docs.n);
    free(docs.p);
}

/* Full disk in every phase: an error, nothing published, nothing left. */
static void
full_disk(void **state)
{
    (void)state;
    struct bytes docs = make_docs(400, 1, 300);
    struct rlimit was, tiny;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &was);
    unsigned failed = 0, done = 0;
    for (rlim_t limit = 0; limit < docs.n + 3000; limit += limit < 200 ? 20 : 4000) {
        for (int codec = 0; codec < 3; codec++) {
            struct mrs_output_opts opts = {.compress = {(enum mrs_codec)codec, 0},
                                           .sink_buffer = 4096};
            struct mrs_output *o = NULL;
            struct mrs_sink *sink = NULL;
            tiny = was;
            tiny.rlim_cur = limit;
            setrlimit(RLIMIT_FSIZE, &tiny);
            enum mrs_status s = mrs_output_open(mem, at("out"), &opts, &o, &err);
            s = s == MRS_OK
                    ? mrs_output_coll(o, "d", "c", "{\"indexes\":[]}", 14, true, &sink, &err)
                    : s;
            for (size_t i = 0; s == MRS_OK && i < docs.n; i += mrs_le32(docs.p + i)) {
                s = mrs_sink_write(sink, docs.p + i, mrs_le32(docs.p + i), &err);
            }
            if (sink) {
                enum mrs_status c = mrs_sink_close(sink, 400, NULL, &err);
                s = s == MRS_OK ? c : s;
            }
            s = s == MRS_OK ? mrs_output_commit(o, mrs_empty_doc(), NULL, &err) : s;
            mrs_output_abort(o);
            mrs_output_free(o);
            setrlimit(RLIMIT_FSIZE, &was);
            assert_false(there(at("out.partial")));
            if (s == MRS_OK) {
                done++;
                assert_true(there(at("out/mongoreshape.manifest.json")));
                OK(mrsi_remove_tree(at("out"), &err));
            } else {
                failed++;
                assert_false(there(at("out")));
                assert_int_equal(err.os_errno, EFBIG);
                assert_non_null(strstr(err.msg, "out.partial"));
                FAILS(s, MRS_E_IO);
            }
        }
    }
    assert_true(failed > 10 && done > 2);
    free(docs.p);
}

/* Several threads, each with its own sinks. */
struct job {
    struct mrs_output *o;
    int number;
    struct bytes docs;
};

static void *
write_some(void *arg)
{
    struct job *j = arg;
    for (int i = 0; i < 40; i++) {
        char coll[20], db[20];
        struct mrs_err e;
        struct mrs_sink *sink;
        mrs_err_clear(&e);
        snprintf(coll, sizeof coll, "c%d", i);
        snprintf(db, sizeof db, "d%d", (j->number + i) % 7);
        snprintf(coll, sizeof coll, "c%d-%d", j->number, i);
        if (mrs_output_coll(j->o, db, coll, "{}", 2, true, &sink, &e) != MRS_OK ||
            mrs_sink_write(sink, j->docs.p, j->docs.n, &e) != MRS_OK ||
            mrs_sink_close(sink, 20, NULL, &e) != MRS_OK) {
            return arg;
        }
    }
    return NULL;
}

static void
threads(void **state)
{
    (void)state;
    pthread_t t[4];
    struct job jobs[4];
    struct bytes docs = make_docs(20, 1, 200);
    struct mrs_output *o =
        open_out(at("out"), (struct mrs_output_opts){.compress = {MRS_CODEC_GZIP, 0}});
    for (int i = 0; i < 4; i++) {
        jobs[i] = (struct job){o, i, docs};
        assert_int_equal(pthread_create(&t[i], NULL, write_some, &jobs[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *bad;
        pthread_join(t[i], &bad);
        assert_null(bad);
    }
    commit(o);
    struct mrs_input *in;
    OK(mrs_input_open(mem, at("out"), NULL, &in, &err));
    assert_int_equal(mrs_input_count(in), 160);
    mrs_input_close(in);
    free(docs.p);
}

/* Half of the documents are written, then the run is stopped. */
static void
stop_in_the_middle(struct bytes docs, size_t resumed, struct mrs_buf *description, struct mrs_buf *mark)
{
    struct mrs_sink *sink;
    struct mrs_build b;
    struct mrs_view d;
    struct mrs_output *o = open_out(at("out"), (struct mrs_output_opts){.sink_buffer = 1000});
    OK(mrs_output_coll(o, "shop", "a", NULL, 0, true, &sink, &err));
    OK(mrs_sink_write(sink, docs.p, resumed, &err));
    mrs_build_init(&b, mark);
    OK(mrs_sink_mark(sink, false, &b, &err));
    OK(mrs_build_finish(&b, &d, &err));
    mrs_build_init(&b, description);
    OK(mrs_output_describe(o, &b, &err));
    OK(mrs_build_finish(&b, &d, &err));
    OK(mrs_sink_write(sink, docs.p + resumed, docs.n - resumed, &err)); /* nobody will know of it */
    mrs_output_leave(o);
    mrs_output_free(o);
}

static enum mrs_status
take_sink(const struct mrs_buf *description, const struct mrs_buf *mark, struct mrs_output **o, struct mrs_sink **sink)
{
    struct mrs_buf open;
    struct mrs_build b;
    struct mrs_view list, d = {mark->p, (uint32_t)mark->n};
    mrs_buf_init(&open, mem, 1 << 20);
    mrs_build_init(&b, &open);
    mrs_build_item_open(&b, MRS_DOCUMENT);
    mrs_build_text(&b, "path", "shop/a.bson", 11);
    mrs_build_close(&b);
    OK(mrs_build_finish(&b, &list, &err));
    *o = open_out(at("out"), (struct mrs_output_opts){.resume = true});
    OK(mrs_output_take_up(*o, (struct mrs_view){description->p, (uint32_t)description->n}, list, &err));
    mrs_buf_clear(&open);
    return mrs_output_coll_again(*o, "shop", "a", d, sink, &err);
}

static void
gone_on_with(void **state)
{
    (void)state;
    struct bytes docs = make_docs(40, 1, 200);
    struct mrs_buf description, mark;
    struct mrs_output *o;
    struct mrs_sink *sink;
    struct mrs_hash_sum sum;
    size_t resumed = 0;
    mrs_buf_init(&description, mem, 1 << 20);
    mrs_buf_init(&mark, mem, 1 << 20);
    for (int i = 0; i < 20; i++) {
        resumed += mrs_le32(docs.p + resumed);
    }
    stop_in_the_middle(docs, resumed, &description, &mark);
    uint8_t *file = mark.p + (mrs_doc_get((struct mrs_view){mark.p, (uint32_t)mark.n}, "file").p - mark.p);
    mrs_put64(file, resumed - 1); /* would be a document cut in two */
    FAILS(take_sink(&description, &mark, &o, &sink), MRS_E_FORMAT);
    mrs_output_leave(o);
    mrs_output_free(o);
    mrs_put64(file, resumed);
    OK(take_sink(&description, &mark, &o, &sink));
    OK(mrs_sink_write(sink, docs.p + resumed, docs.n - resumed, &err));
    OK(mrs_sink_close(sink, 40, &sum, &err));
    commit(o);
    holds(at("out/shop/a.bson"), docs.p, docs.n);
    mrs_buf_clear(&description);
    mrs_buf_clear(&mark);
    free(docs.p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folder, begin, finish),
        cmocka_unit_test_setup_teardown(packed, begin, finish),
        cmocka_unit_test_setup_teardown(while_it_is_published, begin, finish),
        cmocka_unit_test_setup_teardown(abort_and_kill, begin, finish),
        cmocka_unit_test_setup_teardown(refusals, begin, finish),
        cmocka_unit_test_setup_teardown(no_permission, begin, finish),
        cmocka_unit_test_setup_teardown(account, begin, finish),
        cmocka_unit_test_setup_teardown(force_swaps, begin, finish),
        cmocka_unit_test_setup_teardown(single_file, begin, finish),
        cmocka_unit_test_setup_teardown(to_stdout, begin, finish),
        cmocka_unit_test_setup_teardown(full_disk, begin, finish),
        cmocka_unit_test_setup_teardown(threads, begin, finish),
        cmocka_unit_test_setup_teardown(restarted, begin, finish),
        cmocka_unit_test_setup_teardown(gone_on_with, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

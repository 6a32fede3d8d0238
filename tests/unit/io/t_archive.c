/* SPDX-License-Identifier: Apache-2.0 */
/* t_archive.c - archives made by a small builder, byte by byte: what is whole is read, everything else is refused with
 * its place; many pieces, many namespaces, failing memory; and archives that we write. */
#include "io_ground.h"
#include "io/input/archive.h"

/* ---- the builder ---- */
struct made {
    uint8_t *p;
    size_t n, cap;
};
#define MOST_NS 8
static uint64_t sums[MOST_NS];

static void
add(struct made *m, const void *p, size_t n)
{
    if (m->n + n > m->cap) {
        m->cap = 2 * (m->n + n) + 64;
        m->p = realloc(m->p, m->cap);
        assert_non_null(m->p);
    }
    memcpy(m->p + m->n, p, n);
    m->n += n;
}

static void
add32(struct made *m, uint32_t v)
{
    uint8_t b[4];
    mrs_put32(b, v);
    add(m, b, 4);
}

static size_t
doc_begin(struct made *m)
{
    size_t at = m->n;
    add32(m, 0);
    return at;
}

static void
doc_end(struct made *m, size_t at)
{
    add(m, "", 1);
    mrs_put32(m->p + at, (uint32_t)(m->n - at));
}

static void
text_n(struct made *m, const char *name, const char *v, size_t n)
{
    add(m, "\x02", 1);
    add(m, name, strlen(name) + 1);
    add32(m, (uint32_t)n + 1);
    add(m, v, n);
    add(m, "", 1);
}

static void
text(struct made *m, const char *name, const char *v)
{
    text_n(m, name, v, strlen(v));
}

static void
end_mark(struct made *m)
{
    add32(m, MRSI_ARCHIVE_END);
}

static void
head(struct made *m, const char *server)
{
    add32(m, MRSI_ARCHIVE_MAGIC);
    size_t at = doc_begin(m);
    add(m, "\x10" "concurrent_collections", 24);
    add32(m, 4);
    text(m, "version", "0.1");
    text(m, "server_version", server);
    text(m, "tool_version", "100.18.0");
    doc_end(m, at);
    memset(sums, 0, sizeof sums);
}

static void
entry_n(struct made *m, const char *db, const char *coll, size_t coll_n, const char *type)
{
    char meta[300];
    size_t at = doc_begin(m);
    snprintf(meta, sizeof meta, "{\"indexes\":[],\"type\":\"%.20s\"}", *type ? type : "collection");
    text(m, "db", db);
    text_n(m, "collection", coll, coll_n);
    text(m, "metadata", *type ? meta : "");
    text(m, "type", type);
    doc_end(m, at);
}

static void
entry(struct made *m, const char *db, const char *coll, const char *type)
{
    entry_n(m, db, coll, strlen(coll), type);
}

static void
block(struct made *m, const char *db, const char *coll, bool last, uint64_t crc)
{
    size_t at = doc_begin(m);
    uint8_t b[8];
    text(m, "db", db);
    text(m, "collection", coll);
    add(m, last ? "\x08" "EOF\0\x01" : "\x08" "EOF\0\0", 6);
    add(m, "\x12" "CRC", 5);
    mrs_put64(b, crc);
    add(m, b, 8);
    doc_end(m, at);
}

/* n documents with `_id`s from `from` on, as one block of namespace no. */
static void
data(struct made *m, uint32_t no, const char *db, const char *coll, int from, int n)
{
    uint8_t doc[64];
    block(m, db, coll, false, 0);
    for (int i = from; i < from + n; i++) {
        size_t k = put_doc(doc, i, 30);
        sums[no] = mrsi_crc64(sums[no], doc, k);
        add(m, doc, k);
    }
    end_mark(m);
}

static void
last(struct made *m, uint32_t no, const char *db, const char *coll)
{
    block(m, db, coll, true, sums[no]);
    end_mark(m);
}

/* Three collections, two of them interleaved, an empty one, a view, a time series, the oplog. */
static struct made
small(void)
{
    struct made m = {NULL, 0, 0};
    head(&m, "7.0.14");
    entry(&m, "d", "b", "collection");
    entry(&m, "d", "a", "collection");
    entry(&m, "d", "v", "view");
    entry(&m, "d", "ts", "timeseries");
    entry(&m, "", "oplog", "");
    end_mark(&m);
    data(&m, 0, "d", "b", 0, 3);
    data(&m, 1, "d", "a", 0, 2);
    data(&m, 0, "d", "b", 3, 2);
    last(&m, 1, "d", "a");
    last(&m, 0, "d", "b");
    last(&m, 2, "d", "v");
    data(&m, 3, "d", "system.buckets.ts", 7, 4);
    last(&m, 3, "d", "system.buckets.ts");
    data(&m, 4, "", "oplog", 9, 1);
    last(&m, 4, "", "oplog");
    return m;
}

/* ---- reading ---- */
static enum mrs_status
open_made(const struct made *m, struct mrs_input **in)
{
    struct mrs_input_opts opts = {.tmp = top};
    put(at("x.archive"), m->p, m->n);
    return mrs_input_open(mem, at("x.archive"), &opts, in, &err);
}

/* "ns:documents" of each entry; sum of all `_id`s. */
static void
show(struct mrs_input *in, char text_room[400], int64_t *ids)
{
    struct mrs_block b;
    size_t n = 0;
    *ids = 0;
    mrs_block_init(&b, mem);
    for (uint32_t i = 0; i < mrs_input_count(in); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(in, i);
        struct mrs_reader *r;
        uint32_t docs = 0;
        enum mrs_status s;
        OK(mrs_reader_open(in, i, 4096, &r, &err));
        while ((s = mrs_reader_next(r, &b, &err)) == MRS_OK) {
            for (size_t k = 0; k < b.n; k += mrs_le32(b.p + k)) {
                *ids += (int32_t)mrs_le32(b.p + k + 9);
            }
            docs += b.n_docs;
        }
        assert_int_equal(s, MRS_END);
        mrs_reader_close(r);
        n += (size_t)snprintf(text_room + n, 400 - n, "%s%s%s%s:%u ", ns->ns ? ns->ns : ns->rel_path,
                              ns->data_path ? "" : "-", ns->meta_path ? "m" : "", "", docs);
    }
    mrs_block_clear(&b);
}

static void
checksum(void **state)
{
    (void)state;
    assert_true(mrsi_crc64(0, "123456789", 9) == 0x995DC9BBDF1939FAull);
    assert_true(mrsi_crc64(0, "", 0) == 0);
    assert_true(mrsi_crc64(mrsi_crc64(0, "1234", 4), "56789", 5) == 0x995DC9BBDF1939FAull);
}

static void
whole(void **state)
{
    (void)state;
    struct made m = small();
    struct mrs_input *in;
    char text_room[400];
    int64_t ids;
    OK(open_made(&m, &in));
    show(in, text_room, &ids);
    assert_string_equal(text_room, "d.am:2 d.bm:5 d.system.buckets.ts:4 d.ts-m:0 d.v-m:0 oplog.bson:1 ");
    assert_int_equal(ids, 0 + 1 + 0 + 1 + 2 + 3 + 4 + 7 + 8 + 9 + 10 + 9);
    assert_int_equal(mrs_input_format(in), MRS_FORMAT_ARCHIVE);
    assert_string_equal(mrs_input_origin(in)->server_version, "7.0.14");
    assert_int_equal(mrs_input_origin(in)->concurrent, 4);
    mrs_input_close(in);
    struct bytes z = gzip_by_zlib(m.p, m.n, 6);
    put(at("z"), z.p, z.n);
    OK(mrs_input_open(mem, at("z"), NULL, &in, &err));
    show(in, text_room, &ids);
    assert_string_equal(text_room, "d.am:2 d.bm:5 d.system.buckets.ts:4 d.ts-m:0 d.v-m:0 oplog.bson:1 ");
    assert_int_equal(mrs_input_codec(in), MRS_CODEC_GZIP);
    mrs_input_close(in);
    free(z.p);
    free(m.p);
}

/* Cut anywhere, it is refused; cut behind an end mark too. */
static void
cuts(void **state)
{
    (void)state;
    struct made m = small();
    struct mrs_input *in;
    for (size_t n = 0; n < m.n; n++) {
        struct made cut = {m.p, n, n};
        FAILS(open_made(&cut, &in), MRS_E_FORMAT);
    }
    free(m.p);
}

/* ---- what is refused ---- */
static void
nul_in_name(struct made *m)
{
    head(m, "7.0.14");
    entry_n(m, "d", "a\0b", 3, "collection");
    end_mark(m);
}
static void
bad_db(struct made *m)
{
    head(m, "7.0.14");
    entry(m, "..", "a", "collection");
    end_mark(m);
}
static void
no_coll(struct made *m)
{
    head(m, "7.0.14");
    entry(m, "d", "", "collection");
    end_mark(m);
}
static void
twice(struct made *m)
{
    head(m, "7.0.14");
    entry(m, "d", "a", "collection");
    entry(m, "d", "a", "collection");
    end_mark(m);
}
static void
series_twice(struct made *m)
{
    head(m, "7.0.14");
    entry(m, "d", "a", "collection");
    entry(m, "d", "a", "timeseries");
    end_mark(m);
    last(m, 0, "d", "a");
    last(m, 0, "d", "system.buckets.a");
}
static void
version(struct made *m)
{
    head(m, "seven");
    end_mark(m);
}
static void
huge(struct made *m)
{
    head(m, "7.0.14");
    entry(m, "d", "a", "collection");
    end_mark(m);
    block(m, "d", "a", false, 0);
    add32(m, MRS_DOC_MAX + 1);
}
static void
negative(struct made *m)
{
    head(m, "7.0.14");
    add32(m, 0x80000000u);
}
static void
tiny(struct made *m)
{
    head(m, "7.0.14");
    add32(m, 4);
}
static void
unknown(struct made *m)
{
    head(m, "7.0.14");
    end_mark(m);
    last(m, 0, "d", "a");
}
static void
again(struct made *m)
{
    head(m, "7.0.14");
    entry(m, "d", "a", "collection");
    end_mark(m);
    last(m, 0, "d", "a");
    last(m, 0, "d", "a");
}
static void
checksum_wrong(struct made *m)
{
    head(m, "7.0.14");
    entry(m, "d", "a", "collection");
    end_mark(m);
    data(m, 0, "d", "a", 1, 3);
    sums[0]++;
    last(m, 0, "d", "a");
}
static void
never_came(struct made *m)
{
    head(m, "7.0.14");
    entry(m, "d", "a", "collection");
    end_mark(m);
}
static void
two_marks(struct made *m)
{
    head(m, "7.0.14");
    end_mark(m);
    end_mark(m);
}
static void
late_users(struct made *m)
{
    head(m, "7.0.14");
    entry(m, "d", "a", "collection");
    entry(m, "admin", "system.users", "collection");
    end_mark(m);
    last(m, 0, "d", "a");
    last(m, 1, "admin", "system.users");
}
static void
path_in_users(struct made *m) /* no name of ours: an ordinary collection, whose name is escaped */
{
    head(m, "7.0.14");
    entry(m, "d", "$admin.system.users/../../x", "collection");
    end_mark(m);
}

static void
refused(void **state)
{
    (void)state;
    static const struct {
        void (*make)(struct made *m);
        const char *says;
    } table[] = {{nul_in_name, "NUL"},
                 {bad_db, "no namespace"},
                 {no_coll, "empty"},
                 {twice, "twice"},
                 {series_twice, "twice"},
                 {version, "server_version"},
                 {huge, "16777217 is neither"},
                 {negative, "-2147483648 is neither"},
                 {tiny, "4 is neither"},
                 {unknown, "d.a, which its prelude does not have"},
                 {again, "after its last one"},
                 {checksum_wrong, "checksum of its 3 documents"},
                 {never_came, "before this namespace came"},
                 {two_marks, "end mark"},
                 {late_users, "must be before"},
                 {path_in_users, "before this namespace came"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct made m = {NULL, 0, 0};
        struct mrs_input *in;
        table[i].make(&m);
        enum mrs_status s = open_made(&m, &in);
        assert_int_equal(s, MRS_FAIL);
        if (!strstr(err.msg, table[i].says) || !strstr(err.msg, "x.archive")) {
            print_message("not said: %s: %s\n", table[i].says, err.msg);
        }
        assert_non_null(strstr(err.msg, table[i].says));
        assert_non_null(strstr(err.msg, "x.archive"));
        assert_true(table[i].make == series_twice || err.byte_off <= m.n);
        FAILS(s, MRS_E_FORMAT);
        free(m.p);
    }
}

/* More pieces than are kept: documents are put in order, and memory stays small. */
static void
many_pieces(void **state)
{
    (void)state;
    enum { PIECES = 140000 };
    struct made m = {NULL, 0, 0};
    struct mrs_input *in;
    char text_room[400];
    int64_t ids;
    head(&m, "7.0.14");
    entry(&m, "d", "a", "collection");
    entry(&m, "d", "b", "collection");
    entry(&m, "d", "c", "collection");
    end_mark(&m);
    for (int i = 0; i < PIECES; i++) {
        data(&m, (uint32_t)i & 1, "d", i & 1 ? "b" : "a", i / 2, 1);
    }
    for (uint32_t i = 0; i < 3; i++) {
        last(&m, i, "d", i == 0 ? "a" : i == 1 ? "b" : "c");
    }
    struct mrs_mem *own = mrs_mem_new(0);
    struct mrs_input_opts opts = {.tmp = top};
    put(at("x.archive"), m.p, m.n);
    OK(mrs_input_open(own, at("x.archive"), &opts, &in, &err));
    assert_true(mrs_mem_peak(own) < (8u << 20));
    show(in, text_room, &ids);
    assert_string_equal(text_room, "d.am:70000 d.bm:70000 d.cm:0 ");
    assert_true(ids == (int64_t)(PIECES / 2) * (PIECES / 2 - 1));
    assert_int_equal(mrs_input_at(in, 0)->data_place->n_extents, 1);
    mrs_input_close(in);
    assert_int_equal(mrs_mem_close(own), 0);
    free(m.p);
}

static void
many_namespaces(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct made m = {NULL, 0, 0};
    struct mrs_input *in;
    char name[32];
    head(&m, "7.0.14");
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "c%d", i);
        entry(&m, "d", name, "collection");
    }
    end_mark(&m);
    for (int i = N; i-- > 0;) {
        snprintf(name, sizeof name, "c%d", i);
        last(&m, 0, "d", name);
    }
    OK(open_made(&m, &in));
    assert_int_equal(mrs_input_count(in), N);
    mrs_input_close(in);
    free(m.p);
}

/* Every allocation fails once. */
static void
no_memory(void **state)
{
    (void)state;
    struct made m = small();
    put(at("x.archive"), m.p, m.n);
    for (uint64_t i = 1;; i++) {
        struct mrs_mem *own = mrs_mem_new(i);
        struct mrs_input *in = NULL;
        enum mrs_status s = mrs_input_open(own, at("x.archive"), NULL, &in, &err);
        if (s == MRS_OK) {
            assert_true(mrs_mem_count(own) < i);
            mrs_input_close(in);
            assert_int_equal(mrs_mem_close(own), 0);
            break;
        }
        assert_int_equal(s, MRS_DEAD);
        FAILS(s, MRS_E_MEMORY);
        assert_int_equal(mrs_mem_close(own), 0);
    }
    free(m.p);
}

/* ---- writing ---- */
static void
written(void **state)
{
    (void)state;
    struct made m = small();
    struct mrs_input *in, *back;
    struct mrs_output *o;
    struct mrs_sink *sink;
    char text_room[400];
    int64_t ids;
    struct bytes docs = make_docs(500, 3, 400);
    OK(open_made(&m, &in));
    struct mrs_output_opts opts = {.in = in, .tmp = top};
    OK(mrs_output_open(mem, at("y.archive"), &opts, &o, &err));
    assert_null(mrs_output_partial(o));
    for (uint32_t i = 0; i < mrs_input_count(in); i++) {
        OK(mrs_output_copy(o, in, i, &err));
    }
    OK(mrs_output_coll(o, "c", "new", "{\"indexes\":[]}", 14, true, &sink, &err));
    OK(mrs_sink_write(sink, docs.p, docs.n, &err));
    OK(mrs_sink_close(sink, 500, NULL, &err));
    OK(mrs_output_coll(o, "c", "none", NULL, 0, false, &sink, &err));
    assert_false(there(at("y.archive")));
    OK(mrs_output_commit(o, mrs_empty_doc(), NULL, &err));
    mrs_output_free(o);
    assert_false(there(at("y.archive.partial")));
    OK(mrs_input_open(mem, at("y.archive"), NULL, &back, &err));
    show(back, text_room, &ids);
    assert_string_equal(text_room, "c.newm:500 c.none:0 d.am:2 d.bm:5 d.system.buckets.ts:4 d.ts-m:0 d.v-m:0 "
                                   "oplog.bson:1 ");
    for (uint32_t i = 0; i < mrs_input_count(in); i++) {
        struct mrs_buf one, two;
        mrs_buf_init(&one, mem, 1 << 20);
        mrs_buf_init(&two, mem, 1 << 20);
        OK(mrs_input_metadata_text(in, i, &one, &err));
        OK(mrs_input_metadata_text(back, i + 2, &two, &err));
        assert_int_equal(one.n, two.n);
        assert_true(one.n == 0 || memcmp(one.p, two.p, one.n) == 0);
        mrs_buf_clear(&one);
        mrs_buf_clear(&two);
    }
    mrs_input_close(back);
    mrs_input_close(in);
    free(docs.p);
    free(m.p);
}

/* An oplog entry that a directory holds and an archive does not. */
static void
too_large(void **state)
{
    (void)state;
    struct mrs_input *in;
    struct mrs_output *o;
    uint8_t *doc = malloc(MRS_DOC_READ_MAX);
    put_doc(doc, 1, MRS_DOC_MAX + 100);
    assert_int_equal(mkdir(at("big"), 0777), 0);
    put(at("big/oplog.bson"), doc, MRS_DOC_MAX + 100);
    OK(mrs_input_open(mem, at("big"), NULL, &in, &err));
    struct mrs_output_opts opts = {.in = in};
    OK(mrs_output_open(mem, at("big.archive"), &opts, &o, &err));
    OK(mrs_output_copy(o, in, 0, &err));
    FAILS(mrs_output_commit(o, mrs_empty_doc(), NULL, &err), MRS_E_LIMIT);
    mrs_output_abort(o);
    mrs_output_free(o);
    assert_false(there(at("big.archive")));
    mrs_input_close(in);
    free(doc);
}

static void
names(void **state)
{
    (void)state;
    static const struct {
        const char *path, *ns;
        enum mrs_format format, want;
        enum mrs_codec codec;
    } table[] = {{"a", NULL, MRS_FORMAT_AUTO, MRS_FORMAT_DIRECTORY, MRS_CODEC_NONE},
                 {"-", NULL, MRS_FORMAT_AUTO, MRS_FORMAT_ARCHIVE, MRS_CODEC_NONE},
                 {"-", "d.c", MRS_FORMAT_AUTO, MRS_FORMAT_BSON, MRS_CODEC_NONE},
                 {"x/a.archive", NULL, MRS_FORMAT_AUTO, MRS_FORMAT_ARCHIVE, MRS_CODEC_NONE},
                 {"a.archive.gz", NULL, MRS_FORMAT_AUTO, MRS_FORMAT_ARCHIVE, MRS_CODEC_GZIP},
                 {"a.agz", NULL, MRS_FORMAT_AUTO, MRS_FORMAT_ARCHIVE, MRS_CODEC_GZIP},
                 {"a.tar.zst", NULL, MRS_FORMAT_AUTO, MRS_FORMAT_TAR, MRS_CODEC_ZSTD},
                 {"a.tgz", NULL, MRS_FORMAT_AUTO, MRS_FORMAT_TAR, MRS_CODEC_GZIP},
                 {"a.tzst", NULL, MRS_FORMAT_AUTO, MRS_FORMAT_TAR, MRS_CODEC_ZSTD},
                 {"a.zip", NULL, MRS_FORMAT_AUTO, MRS_FORMAT_ZIP, MRS_CODEC_GZIP},
                 {"a.tar", NULL, MRS_FORMAT_ARCHIVE, MRS_FORMAT_ARCHIVE, MRS_CODEC_NONE},
                 {"a.gz", NULL, MRS_FORMAT_AUTO, MRS_FORMAT_DIRECTORY, MRS_CODEC_NONE}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct mrs_output_opts opts = {.compress = {MRS_CODEC_AS_INPUT, 0},
                                       .default_codec = MRS_CODEC_NONE,
                                       .single_ns = table[i].ns,
                                       .format = table[i].format};
        struct mrs_output_shape shape = mrs_output_shape(table[i].path, &opts);
        assert_int_equal(shape.format, table[i].want);
        assert_int_equal(shape.codec, table[i].codec);
    }
    assert_true(mrs_format_holds(MRS_FORMAT_ARCHIVE, "d/$admin.system.users.bson.gz"));
    assert_true(mrs_format_holds(MRS_FORMAT_ARCHIVE, "oplog.bson"));
    assert_false(mrs_format_holds(MRS_FORMAT_ARCHIVE, "d/notes.txt"));
    assert_true(mrs_format_holds(MRS_FORMAT_DIRECTORY, "d/notes.txt"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum),    cmocka_unit_test(whole),           cmocka_unit_test(cuts),
        cmocka_unit_test(refused),     cmocka_unit_test(many_pieces),     cmocka_unit_test(many_namespaces),
        cmocka_unit_test(no_memory),   cmocka_unit_test(written),         cmocka_unit_test(too_large),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}

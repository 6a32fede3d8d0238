/* SPDX-License-Identifier: Apache-2.0 */
/* t_reader.c - blocks of whole documents: their cut, their numbers, and what damage says. */
#include "io_test.h"
#include <inttypes.h>

struct cut {
    uint64_t off, first;
    size_t n;
    uint32_t docs;
};

/* Opens a file as the only namespace "d.c". */
static struct mrs_input *
input(struct mrs_mem *mem, const char *path)
{
    struct mrs_err err;
    struct mrs_input *in;
    struct mrs_input_opts opts = {.ns = "d.c"};
    mrs_err_clear(&err);
    OK(mrs_input_open(mem, path, &opts, &in, &err));
    assert_int_equal(mrs_input_count(in), 1);
    assert_string_equal(mrs_input_at(in, 0)->ns, "d.c");
    return in;
}

/* Reads all blocks; joins their bytes and keeps their cuts. */
static enum mrs_status
read_all(struct mrs_mem *mem, struct mrs_reader *r, struct bytes *out, struct cut cuts[],
         uint32_t *n, struct mrs_err *e)
{
    struct mrs_block b;
    enum mrs_status s;
    uint64_t docs = 0;
    mrs_block_init(&b, mem);
    *n = 0;
    *out = (struct bytes){malloc(1), 0};
    while ((s = mrs_reader_next(r, &b, e)) == MRS_OK) {
        assert_int_equal(b.seq, *n);
        assert_int_equal(b.off, out->n);
        assert_int_equal(b.first_doc, docs);
        assert_true(b.n_docs > 0);
        out->p = realloc(out->p, out->n + b.n + 1);
        memcpy(out->p + out->n, b.p, b.n);
        out->n += b.n;
        docs += b.n_docs;
        assert_true(*n < 4000);
        cuts[(*n)++] = (struct cut){b.off, b.first_doc, b.n, b.n_docs};
    }
    mrs_block_clear(&b);
    return s;
}

/* The same blocks whether the file is plain, packed or in many members, and only whole documents. */
static void
cut_is_fixed(void **state)
{
    (void)state;
    static struct cut cuts[4000], first[4000];
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    mrs_err_clear(&err);
    struct bytes small = make_docs(600, 4, 700), big = make_docs(9, 8, 60000),
                 in = joined(small, big), out;
    put(at("plain.bson"), in.p, in.n);
    struct bytes g = gzip_by_zlib(in.p, in.n, 6), z1 = zstd_by_lib(in.p, 70001, 1);
    struct bytes z2 = zstd_by_lib(in.p + 70001, in.n - 70001, 1), z = joined(z1, z2);
    put(at("packed.bson"), g.p, g.n);
    put(at("frames.bson"), z.p, z.n);
    static const size_t sizes[] = {1, 5000, 30000, 65536, 0};
    static const char *const names[] = {"plain.bson", "packed.bson", "frames.bson"};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        uint32_t n_first = 0;
        for (size_t i = 0; i < 3; i++) {
            struct mrs_input *inp = input(mem, at("%s", names[i]));
            struct mrs_reader *r;
            uint32_t n;
            OK(mrs_reader_open(inp, 0, sizes[k], &r, &err));
            assert_int_equal(read_all(mem, r, &out, cuts, &n, &err), MRS_END);
            assert_int_equal(out.n, in.n);
            assert_memory_equal(out.p, in.p, in.n);
            assert_int_equal(mrs_reader_progress(r), mrs_input_at(inp, 0)->file_bytes);
            if (i == 0) {
                n_first = n;
                memcpy(first, cuts, sizeof cuts);
            }
            assert_int_equal(n, n_first);
            assert_memory_equal(cuts, first, n * sizeof *cuts);
            size_t want = sizes[k] == 1 ? 256 : sizes[k] ? sizes[k] : 1 << 20;
            for (uint32_t c = 0; c < n; c++) { /* as many as fit, at least one */
                assert_true(cuts[c].n <= want || cuts[c].docs == 1);
                assert_true(c + 1 == n || cuts[c].n + mrs_le32(in.p + cuts[c + 1].off) > want);
            }
            free(out.p);
            mrs_reader_close(r);
            mrs_input_close(inp);
        }
    }
    void *all[] = {small.p, big.p, in.p, g.p, z1.p, z2.p, z.p};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* The largest document there may be, between small ones; the block shrinks again. */
static void
largest(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    mrs_err_clear(&err);
    uint8_t *p = malloc(MRS_DOC_READ_MAX + 200);
    size_t n = put_doc(p, 1, 50);
    n += put_doc(p + n, 2, MRS_DOC_READ_MAX);
    n += put_doc(p + n, 3, 60);
    put(at("l.bson"), p, n);
    struct mrs_input *in = input(mem, at("l.bson"));
    struct mrs_reader *r;
    struct mrs_block b;
    mrs_block_init(&b, mem);
    OK(mrs_reader_open(in, 0, 4096, &r, &err));
    OK(mrs_reader_next(r, &b, &err));
    assert_int_equal(b.n, 50);
    OK(mrs_reader_next(r, &b, &err));
    assert_int_equal(b.n, MRS_DOC_READ_MAX);
    assert_memory_equal(b.p, p + 50, b.n);
    OK(mrs_reader_next(r, &b, &err));
    assert_int_equal(b.n, 60);
    assert_int_equal(b.cap, 4096);
    assert_int_equal(b.first_doc, 2);
    assert_int_equal(mrs_reader_next(r, &b, &err), MRS_END);
    assert_int_equal(mrs_reader_next(r, &b, &err), MRS_END);
    mrs_reader_close(r);
    mrs_input_close(in);
    mrs_block_clear(&b);
    mrs_put32(p + 50, MRS_DOC_READ_MAX + 1);
    put(at("l.bson"), p, n);
    in = input(mem, at("l.bson"));
    OK(mrs_reader_open(in, 0, 4096, &r, &err));
    OK(mrs_reader_next(r, &b, &err));
    FAILS(mrs_reader_next(r, &b, &err), MRS_E_BSON);
    mrs_reader_close(r);
    mrs_input_close(in);
    mrs_block_clear(&b);
    free(p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* Reads a damaged file plain and packed: the documents before are delivered, the error has place
 * and name. */
static void
damage_at(const uint8_t *p, size_t n, size_t good, uint32_t good_docs, const char *word)
{
    static struct cut cuts[4000];
    struct bytes packed[3] = {{(uint8_t *)(uintptr_t)p, n},
                              gzip_by_zlib(p, n, 6),
                              zstd_by_lib(p, n, 3)},
                 out;
    for (int i = 0; i < 3; i++) {
        struct mrs_mem *mem = mrs_mem_new(0);
        struct mrs_err err;
        struct mrs_reader *r;
        uint32_t k;
        mrs_err_clear(&err);
        put(at("bad.bson"), packed[i].p, packed[i].n);
        struct mrs_input *in = input(mem, at("bad.bson"));
        OK(mrs_reader_open(in, 0, 4096, &r, &err));
        enum mrs_status s = read_all(mem, r, &out, cuts, &k, &err);
        assert_int_equal(s, MRS_FAIL);
        assert_int_equal(err.code, MRS_E_BSON);
        assert_int_equal(out.n, good);
        assert_memory_equal(out.p, p, good);
        assert_int_equal(err.doc_no, good_docs + 1);
        assert_int_equal(err.byte_off, good);
        assert_string_equal(err.ns, "d.c");
        assert_non_null(strstr(err.msg, "bad.bson"));
        if (!strstr(err.msg, word)) {
            fail_msg("'%s' is not in '%s'", word, err.msg);
        }
        struct mrs_block b;
        mrs_err_clear(&err);
        mrs_block_init(&b, mem);
        FAILS(mrs_reader_next(r, &b, &err), MRS_E_BSON); /* an error is no end */
        mrs_block_clear(&b);
        mrs_reader_close(r);
        mrs_input_close(in);
        free(out.p);
        assert_int_equal(mrs_mem_close(mem), 0);
        if (i) {
            free(packed[i].p);
        }
    }
}

static void
damaged(void **state)
{
    (void)state;
    struct bytes in = make_docs(100, 6, 300);
    size_t off[101] = {0};
    for (int i = 0; i < 100; i++) {
        off[i + 1] = off[i] + mrs_le32(in.p + off[i]);
    }
    static const int where[] = {0, 1, 57, 99};
    for (size_t k = 0; k < 4; k++) {
        int i = where[k];
        uint8_t *d = in.p + off[i];
        uint32_t len = mrs_le32(d);
        static const uint32_t lengths[] = {0, 4, 0xffffffffu, 0x80000000u, MRS_DOC_READ_MAX + 1};
        for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++) {
            mrs_put32(d, lengths[j]);
            damage_at(in.p, in.n, off[i], (uint32_t)i, "impossible length");
        }
        mrs_put32(d, MRS_DOC_READ_MAX);
        damage_at(in.p, in.n, off[i], (uint32_t)i, "truncated");
        mrs_put32(d, len);
        d[len - 1] = 7;
        damage_at(in.p, in.n, off[i], (uint32_t)i, "NUL");
        d[len - 1] = 0;
        damage_at(in.p, off[i] + len - 1, off[i], (uint32_t)i, "truncated");
        damage_at(in.p, off[i] + 4, off[i], (uint32_t)i, "truncated");
        for (size_t stray = 1; stray < 4; stray++) {
            damage_at(in.p, off[i] + stray, off[i], (uint32_t)i, "stray");
        }
    }
    free(in.p);
}

/* A packed stream that breaks off: its documents, then the codec's error. */
static void
codec_damage(void **state)
{
    (void)state;
    static struct cut cuts[4000];
    struct bytes in = make_docs(3000, 6, 300), g = gzip_by_zlib(in.p, in.n, 6), out;
    put(at("cut.bson.gz"), g.p, g.n / 2);
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    struct mrs_reader *r;
    uint32_t n;
    mrs_err_clear(&err);
    struct mrs_input *inp = input(mem, at("cut.bson.gz"));
    OK(mrs_reader_open(inp, 0, 10000, &r, &err));
    enum mrs_status s = read_all(mem, r, &out, cuts, &n, &err);
    assert_true(out.n > in.n / 4);
    assert_memory_equal(out.p, in.p, out.n);
    assert_non_null(strstr(err.msg, "cut.bson.gz"));
    assert_non_null(strstr(err.msg, "gzip"));
    assert_int_equal(err.byte_off, out.n);
    FAILS(s, MRS_E_FORMAT);
    mrs_reader_close(r);
    mrs_input_close(inp);
    free(out.p);
    free(in.p);
    free(g.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* Spools: several readers share a descriptor, each up to a given byte. */
static void
shared_descriptor(void **state)
{
    (void)state;
    static struct cut cuts[4000];
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    struct bytes in = make_docs(500, 6, 300), out;
    int fd;
    uint32_t n;
    mrs_err_clear(&err);
    OK(mrs_temp_open(top, &fd, &err));
    OK(mrs_write_at(fd, in.p, in.n, 0, &err));
    size_t resumed = 0;
    while (resumed < in.n / 2) {
        resumed += mrs_le32(in.p + resumed);
    }
    struct mrs_reader *a, *b;
    OK(mrs_reader_fd(mem, fd, resumed, "spool 1", 5000, &a, &err));
    OK(mrs_reader_fd(mem, fd, UINT64_MAX, "spool 2", 7000, &b, &err));
    assert_int_equal(read_all(mem, a, &out, cuts, &n, &err), MRS_END);
    assert_int_equal(out.n, resumed);
    free(out.p);
    assert_int_equal(read_all(mem, b, &out, cuts, &n, &err), MRS_END);
    assert_int_equal(out.n, in.n);
    assert_memory_equal(out.p, in.p, in.n);
    free(out.p);
    mrs_reader_close(a);
    mrs_reader_close(b);
    OK(mrs_reader_fd(mem, fd, in.n + 1, "spool 3", 5000, &a,
                     &err)); /* bytes that should be there are not */
    enum mrs_status s = read_all(mem, a, &out, cuts, &n, &err);
    assert_int_equal(out.n, in.n);
    assert_non_null(strstr(err.msg, "spool 3"));
    FAILS(s, MRS_E_IO);
    free(out.p);
    mrs_reader_close(a);
    OK(mrs_reader_fd(mem, fd, 0, "nothing", 5000, &a, &err));
    assert_int_equal(read_all(mem, a, &out, cuts, &n, &err), MRS_END);
    free(out.p);
    mrs_reader_close(a);
    OK(mrs_write_at(fd, "after", 5, 0, &err)); /* still open */
    close(fd);
    free(in.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
archives_are_told(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    struct mrs_reader *r;
    struct mrs_block b;
    mrs_err_clear(&err);
    mrs_block_init(&b, mem);
    assert_int_equal(mkdir(at("odd"), 0777), 0);
    put(at("odd/a.bson"), "\x6d\xe2\x99\x81\x64\0\0\0", 8);
    struct mrs_input *in;
    OK(mrs_input_open(mem, at("odd"), NULL, &in, &err));
    OK(mrs_reader_open(in, 0, 0, &r, &err));
    enum mrs_status s = mrs_reader_next(r, &b, &err);
    assert_non_null(strstr(err.msg, "archive"));
    FAILS(s, MRS_E_FORMAT);
    mrs_reader_close(r);
    mrs_input_close(in);
    mrs_block_clear(&b);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* Standard input: a pipe is kept aside, so that it can be read twice; a redirected file is read
 * where it is. */
static void
streams(void **state)
{
    (void)state;
    static struct cut cuts[4000];
    struct bytes in = make_docs(900, 6, 300), g = gzip_by_zlib(in.p, in.n, 6), out;
    int was = dup(0);
    for (int kind = 0; kind < 4; kind++) {
        struct mrs_mem *mem = mrs_mem_new(0);
        struct mrs_err err;
        struct mrs_input *inp;
        struct mrs_input_opts opts = {.ns = "d.c", .tmp = top};
        struct bytes data = kind & 1 ? g : in;
        int fd, ends[2];
        mrs_err_clear(&err);
        if (kind < 2) {
            assert_int_equal(pipe(ends), 0);
            if (fork() == 0) {
                size_t done = 0;
                while (done < data.n) {
                    ssize_t w =
                        write(ends[1], data.p + done, data.n - done < 1234 ? data.n - done : 1234);
                    done += w > 0 ? (size_t)w : 0;
                }
                _exit(0);
            }
            close(ends[1]);
            fd = ends[0];
        } else {
            put(at("redirected"), "skipped", 7);
            fd = open(at("redirected"), O_RDWR);
            assert_int_equal(pwrite(fd, data.p, data.n, 7), data.n);
            lseek(fd, 7, SEEK_SET);
        }
        dup2(fd, 0);
        close(fd);
        OK(mrs_input_open(mem, "-", &opts, &inp, &err));
        assert_int_equal(mrs_input_at(inp, 0)->file_bytes, data.n);
        for (int again = 0; again < 2; again++) {
            struct mrs_reader *r;
            uint32_t n;
            OK(mrs_reader_open(inp, 0, 5000, &r, &err));
            assert_int_equal(read_all(mem, r, &out, cuts, &n, &err), MRS_END);
            assert_int_equal(out.n, in.n);
            assert_memory_equal(out.p, in.p, in.n);
            free(out.p);
            mrs_reader_close(r);
        }
        mrs_input_close(inp);
        opts.ns = NULL;
        FAILS(mrs_input_open(mem, "-", &opts, &inp, &err), MRS_E_USAGE);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
    dup2(was, 0);
    close(was);
    free(in.p);
    free(g.p);
}

/* From behind any block on come the blocks that follow, and nothing from a place that cannot be. */
static void
gone_on_with(void **state)
{
    static struct cut cuts[4000], rest[4000];
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    mrs_err_clear(&err);
    struct bytes in = make_docs(50, 4, 300), out;
    uint32_t n, n_rest = 0;
    put(at("on.bson"), in.p, in.n);
    struct mrs_input *inp = input(mem, at("on.bson"));
    struct mrs_reader *r;
    OK(mrs_reader_open(inp, 0, 2000, &r, &err));
    assert_int_equal(read_all(mem, r, &out, cuts, &n, &err), MRS_END);
    mrs_reader_close(r);
    free(out.p);
    assert_true(n > 3);
    for (uint32_t i = 1; i < n; i++) {
        const uint64_t most = cuts[i].off / MRS_DOC_MIN;
        const struct mrs_reader_at wrong[] = {
            {cuts[i].off, most + 1, i}, {cuts[i].off, cuts[i].first, cuts[i].first + 1}, {0, 0, 1}, {in.n + 1, 1, 1}};
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            OK(mrs_reader_open(inp, 0, 2000, &r, &err));
            FAILS(mrs_reader_go_on(r, &wrong[k], &err), k < 3 ? MRS_E_FORMAT : MRS_E_IO);
            mrs_err_clear(&err);
            mrs_reader_close(r);
        }
        struct mrs_block b;
        mrs_block_init(&b, mem);
        OK(mrs_reader_open(inp, 0, 2000, &r, &err));
        OK(mrs_reader_go_on(r, &(struct mrs_reader_at){cuts[i].off, cuts[i].first, i}, &err));
        for (n_rest = i; mrs_reader_next(r, &b, &err) == MRS_OK; n_rest++) {
            rest[n_rest] = (struct cut){b.off, b.first_doc, b.n, b.n_docs};
            assert_memory_equal(b.p, in.p + b.off, b.n);
        }
        assert_int_equal(n_rest, n);
        assert_memory_equal(rest + i, cuts + i, (n - i) * sizeof *cuts);
        mrs_block_clear(&b);
        mrs_reader_close(r);
    }
    mrs_input_close(inp);
    free(in.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_is_fixed),      cmocka_unit_test(largest),
        cmocka_unit_test(damaged),           cmocka_unit_test(codec_damage),
        cmocka_unit_test(shared_descriptor), cmocka_unit_test(archives_are_told),
        cmocka_unit_test(streams),           cmocka_unit_test(gone_on_with),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}

/* t_lanes.c - packing on several threads: the same bytes for any number of them, also where a run was stopped and goes
 * on; failures of every kind in every thread. */
#include "io_test.h"
#include "../../../common/io/lanes.h"
#include <pthread.h>
#include <signal.h>

static int threads_refused; /* the n-th and all later ones; 0: none */
int __real_pthread_create(pthread_t *id, const pthread_attr_t *how, void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *how, void *(*run)(void *), void *arg);

int
__wrap_pthread_create(pthread_t *id, const pthread_attr_t *how, void *(*run)(void *), void *arg)
{
    if (threads_refused > 0 && --threads_refused == 0) {
        threads_refused = 1;
        return EAGAIN;
    }
    return __real_pthread_create(id, how, run, arg);
}

/* Bytes that shrink a little: words of a small language, and noise where so wanted. */
static struct bytes
make_text(size_t n, uint32_t seed, bool noise)
{
    struct bytes b = {malloc(n + 16), n};
    uint32_t x = seed * 2654435761u + 12345;
    for (size_t i = 0; i < n; i += 4) {
        x = x * 1664525u + 1013904223u;
        uint32_t word = noise ? x ^ x >> 15 : 0x20616161u + (x >> 27) * 0x10301u;
        memcpy(b.p + i, &word, 4);
    }
    return b;
}

static struct mrsi_encoder *
open_to(struct mrs_mem *mem, int fd, struct mrs_compress how, struct mrsi_lanes *lanes)
{
    struct mrs_err err;
    struct mrsi_encoder *enc = NULL;
    struct mrsi_encoder_to to = {fd, "packed", how, 5000, lanes};
    mrs_err_clear(&err);
    OK(mrsi_encoder_open(mem, &to, &enc, &err));
    return enc;
}

static int
new_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void
pass_on(struct mrsi_encoder *enc, struct bytes in, size_t from, size_t to, size_t piece)
{
    struct mrs_err err;
    mrs_err_clear(&err);
    for (size_t i = from; i < to; i += piece) {
        OK(mrsi_encoder_write(enc, in.p + i, to - i < piece ? to - i : piece, &err));
    }
}

static void
finish(struct mrsi_encoder *enc)
{
    struct mrs_err err;
    mrs_err_clear(&err);
    OK(mrsi_encoder_finish(enc, &err));
    mrsi_encoder_close(enc);
}

/* Packed by so many threads, written in pieces of this size. */
static struct bytes
packed(struct mrs_compress how, struct bytes in, uint32_t threads, size_t piece)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrsi_lanes *lanes = mrsi_lanes_new(mem, threads);
    int fd = new_file(at("packed"));
    struct mrsi_encoder *enc = open_to(mem, fd, how, lanes);
    pass_on(enc, in, 0, in.n, piece);
    finish(enc);
    close(fd);
    mrsi_lanes_free(lanes);
    assert_int_equal(mrs_mem_close(mem), 0);
    return get(at("packed"));
}

static void
same(struct bytes a, struct bytes b)
{
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, a.n);
}

static void
unpacks_to(enum mrs_codec codec, const char *path, struct bytes in)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    struct bytes x;
    mrs_err_clear(&err);
    assert_int_equal(read_source(mem, path, codec, 300000, &x, &err), MRS_END);
    same(x, in);
    free(x.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static const struct mrs_compress hows[] = {{MRS_CODEC_NONE, 0}, {MRS_CODEC_GZIP, 1}, {MRS_CODEC_GZIP, 6},
                                           {MRS_CODEC_GZIP, 9}, {MRS_CODEC_ZSTD, 1}, {MRS_CODEC_ZSTD, 0}};
enum { HOWS = sizeof hows / sizeof *hows };

static void
same_bytes_for_any_threads(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 70001, MRSI_PIECE - 1, MRSI_PIECE, MRSI_PIECE + 1, 5 * MRSI_PIECE + 123};
    static const uint32_t threads[] = {1, 2, 3, 8};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct bytes in = make_text(sizes[k], (uint32_t)k, k == 4);
        for (size_t h = 0; h < HOWS; h++) {
            struct bytes want = packed(hows[h], in, 0, in.n ? in.n : 1);
            unpacks_to(hows[h].codec, at("packed"), in);
            for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
                struct bytes got = packed(hows[h], in, threads[t], 777 + 99999 * t);
                same(got, want);
                free(got.p);
            }
            free(want.p);
        }
        free(in.p);
    }
}

/* Every level takes bytes of any kind, the last piece of any size, and finds room for what it makes of them. */
static void
every_level(void **state)
{
    (void)state;
    for (int noise = 0; noise < 2; noise++) {
        struct bytes in = make_text(MRSI_PIECE + 3000, 5, noise);
        for (int level = 1; level <= 22; level++) {
            struct bytes z = packed((struct mrs_compress){MRS_CODEC_ZSTD, level}, in, 2, in.n);
            unpacks_to(MRS_CODEC_ZSTD, at("packed"), in);
            free(z.p);
            if (level <= 9) {
                struct bytes g = packed((struct mrs_compress){MRS_CODEC_GZIP, level}, in, 2, in.n);
                unpacks_to(MRS_CODEC_GZIP, at("packed"), in);
                free(g.p);
            }
        }
        free(in.p);
    }
}

/* A piece becomes the same whatever a thread has packed before. */
static void
nothing_is_remembered(void **state)
{
    (void)state;
    struct bytes a = make_text(MRSI_PIECE, 1, false), b = make_text(MRSI_PIECE / 3, 2, true), ab = joined(a, b);
    for (size_t h = 1; h < HOWS; h++) {
        struct bytes x = packed(hows[h], a, 0, a.n), y = packed(hows[h], b, 0, b.n), want = joined(x, y);
        struct bytes got = packed(hows[h], ab, 0, ab.n);
        same(got, want);
        free(x.p);
        free(y.p);
        free(want.p);
        free(got.p);
    }
    free(a.p);
    free(b.p);
    free(ab.p);
}

/* zlib and libzstd read what stands there, member by member, frame by frame. */
static void
others_read_it(void **state)
{
    (void)state;
    struct bytes in = make_text(3 * MRSI_PIECE + 5, 9, false), x = {malloc(in.n), 0};
    struct bytes g = packed(hows[2], in, 3, in.n);
    for (size_t at_g = 0; at_g < g.n;) {
        z_stream z = {0};
        assert_int_equal(inflateInit2(&z, 31), Z_OK);
        z.next_in = g.p + at_g;
        z.avail_in = (uInt)(g.n - at_g);
        z.next_out = x.p + x.n;
        z.avail_out = (uInt)(in.n - x.n);
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
        assert_int_equal(mrs_le32(g.p + at_g + 16), z.total_in); /* the extra field tells the member's length */
        at_g += z.total_in;
        x.n += z.total_out;
        inflateEnd(&z);
    }
    same(x, in);
    struct bytes f = packed(hows[5], in, 3, in.n);
    memset(x.p, 0, x.n);
    assert_int_equal(ZSTD_decompress(x.p, x.n, f.p, f.n), in.n);
    same(x, in);
    assert_int_equal(ZSTD_getFrameContentSize(f.p, f.n), MRSI_PIECE);
    free(x.p);
    free(g.p);
    free(f.p);
    free(in.p);
}

/* ---- stop and go on ---- */
/* At `cut` bytes a mark is taken; the file grows on, is left as a kill leaves it, and is gone on with from the mark. */
static void
stop_at(struct mrs_compress how, struct bytes in, size_t cut, uint32_t threads, struct bytes want)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_err err;
    struct mrsi_encoder_mark mark;
    struct mrs_buf pending;
    mrs_err_clear(&err);
    mrs_buf_init(&pending, mem, SIZE_MAX);
    struct mrsi_lanes *lanes = mrsi_lanes_new(mem, threads);
    int fd = new_file(at("stopped"));
    struct mrsi_encoder *enc = open_to(mem, fd, how, lanes);
    pass_on(enc, in, 0, cut, 40000);
    OK(mrsi_encoder_mark(enc, &mark.file_bytes, &pending, &err));
    assert_true(pending.n < MRSI_PIECE);
    assert_int_equal(lseek(fd, 0, SEEK_END), mark.file_bytes);
    pass_on(enc, in, cut, in.n, 123456);
    finish(enc);
    struct bytes whole = get(at("stopped")); /* the mark changes nothing */
    same(whole, want);
    mark.pending = pending.p;
    mark.pending_n = pending.n;
    assert_int_equal(write(fd, "left behind", 11), 11);
    struct mrsi_encoder_to to = {fd, "stopped", how, 3000, lanes};
    OK(mrsi_encoder_go_on(mem, &to, &mark, &enc, &err));
    pass_on(enc, in, cut, in.n, 70000);
    finish(enc);
    struct bytes again = get(at("stopped"));
    same(again, want);
    mark.file_bytes = again.n + 1;
    FAILS(mrsi_encoder_go_on(mem, &to, &mark, &enc, &err), MRS_E_IO);
    free(whole.p);
    free(again.p);
    close(fd);
    mrs_buf_clear(&pending);
    mrsi_lanes_free(lanes);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
stops_and_goes_on(void **state)
{
    (void)state;
    struct bytes in = make_text(4 * MRSI_PIECE + 777, 3, false), none = {in.p, 0};
    size_t cuts[] = {0,          1,  4999, 5000, MRSI_PIECE - 1, MRSI_PIECE, MRSI_PIECE + 1, 3 * MRSI_PIECE + 50000,
                     in.n - 1, in.n};
    for (size_t h = 0; h < HOWS; h++) {
        struct bytes want = packed(hows[h], in, 0, in.n), empty = packed(hows[h], none, 0, 1);
        for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
            stop_at(hows[h], in, cuts[i], i % 2 ? 3 : 0, want);
        }
        stop_at(hows[h], none, 0, 2, empty);
        free(want.p);
        free(empty.p);
    }
    free(in.p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_any_threads), cmocka_unit_test(every_level),
        cmocka_unit_test(nothing_is_remembered),      cmocka_unit_test(others_read_it),
        cmocka_unit_test(stops_and_goes_on),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}

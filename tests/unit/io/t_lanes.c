/* t_lanes.c - packing on several threads: the same bytes for any number of them, also where a run was stopped and goes
 * on; failures of every kind in every thread. */
#include "io_test.h"
#include "../../../common/io/lanes.h"
#include <pthread.h>

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

/* ---- what goes wrong ---- */
/* A thread that cannot be started is one fewer; with none the work is done all the same. */
static void
fewer_threads(void **state)
{
    (void)state;
    struct bytes in = make_text(3 * MRSI_PIECE + 9, 4, false), want = packed(hows[4], in, 0, in.n);
    for (int first = 1; first <= 4; first++) {
        threads_refused = first;
        struct bytes got = packed(hows[4], in, 3, 50000);
        threads_refused = 0;
        same(got, want);
        free(got.p);
    }
    free(in.p);
    free(want.p);
}

/* One after the other on the same lanes: open, write, mark, finish. */
static enum mrs_status
whole_way(struct mrs_mem *mem, struct mrs_compress how, struct bytes in, uint32_t threads, struct mrs_err *e)
{
    struct mrsi_lanes *lanes = mrsi_lanes_new(mem, threads);
    struct mrsi_encoder *enc = NULL;
    struct mrs_buf pending;
    uint64_t bytes;
    int fd = new_file(at("packed"));
    struct mrsi_encoder_to to = {fd, "packed", how, 5000, lanes};
    mrs_buf_init(&pending, mem, SIZE_MAX);
    enum mrs_status s = lanes ? mrsi_encoder_open(mem, &to, &enc, e) : mrs_err_memory(e, 1);
    for (size_t i = 0; s == MRS_OK && i < in.n; i += 300000) {
        s = mrsi_encoder_write(enc, in.p + i, in.n - i < 300000 ? in.n - i : 300000, e);
    }
    s = s == MRS_OK ? mrsi_encoder_mark(enc, &bytes, &pending, e) : s;
    s = s == MRS_OK ? mrsi_encoder_finish(enc, e) : s;
    mrsi_encoder_close(enc);
    mrs_buf_clear(&pending);
    mrsi_lanes_free(lanes);
    close(fd);
    return s;
}

/* Memory runs out at every allocation, in whichever thread, once and for good: a status, no leak, nobody waits. */
static void
no_memory(void **state)
{
    (void)state;
    struct bytes in = make_text(4 * MRSI_PIECE + 5, 6, false);
    for (uint32_t threads = 0; threads <= 3; threads += 3) {
        for (size_t h = 0; h < HOWS; h += 2) {
            for (int for_good = 0; for_good < 2; for_good++) {
                enum mrs_status s = MRS_DEAD;
                for (uint64_t n = 1; s != MRS_OK; n++) {
                    struct mrs_mem *mem = mrs_mem_new(for_good ? UINT64_MAX - n : n);
                    struct mrs_err err;
                    mrs_err_clear(&err);
                    s = whole_way(mem, hows[h], in, threads, &err);
                    bool failed = mrs_mem_count(mem) >= n;
                    assert_true(s == MRS_OK || (s == MRS_DEAD && err.code == MRS_E_MEMORY));
                    assert_true(s != MRS_OK || !failed || threads); /* the list of threads is not needed */
                    s = failed ? MRS_DEAD : s;
                    assert_int_equal(mrs_mem_close(mem), 0);
                    assert_true(n < 500);
                }
            }
        }
    }
    free(in.p);
}

/* A file that takes no more: told at the latest by finish, again by every later call, and by mark. */
static void
full_disk(void **state)
{
    (void)state;
    struct bytes in = make_text(9 * MRSI_PIECE, 6, true);
    for (uint32_t threads = 0; threads <= 3; threads += 3) {
        for (size_t h = 1; h < HOWS; h++) {
            for (int late = 0; late < 2; late++) {
                struct mrs_mem *mem = mrs_mem_new(0);
                struct mrs_err err;
                struct mrs_buf pending;
                uint64_t bytes;
                mrs_err_clear(&err);
                mrs_buf_init(&pending, mem, SIZE_MAX);
                struct mrsi_lanes *lanes = mrsi_lanes_new(mem, threads);
                int fd = open("/dev/full", O_WRONLY), good_fd = new_file(at("good"));
                struct mrsi_encoder *enc = open_to(mem, fd, hows[h], lanes);
                struct mrsi_encoder *good = open_to(mem, good_fd, hows[h], lanes);
                enum mrs_status s = mrsi_encoder_write(enc, in.p, late ? 100 : in.n, &err);
                s = s == MRS_OK ? mrsi_encoder_finish(enc, &err) : s;
                FAILS(s, MRS_E_IO);
                FAILS(mrsi_encoder_mark(enc, &bytes, &pending, &err), MRS_E_IO);
                assert_int_equal(bytes, 0);
                mrsi_encoder_close(enc);
                pass_on(good, in, 0, in.n, 200000); /* another file on the same lanes is not hurt */
                finish(good);
                unpacks_to(hows[h].codec, at("good"), in);
                close(fd);
                close(good_fd);
                mrs_buf_clear(&pending);
                mrsi_lanes_free(lanes);
                assert_int_equal(mrs_mem_close(mem), 0);
            }
        }
    }
    free(in.p);
}

/* Closed while threads are at work: nothing is written behind that, and the file is whole frames of the input. */
static void
closed_early(void **state)
{
    (void)state;
    struct bytes in = make_text(12 * MRSI_PIECE, 8, false);
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrsi_lanes *lanes = mrsi_lanes_new(mem, 4);
    struct bytes want = packed(hows[4], in, 0, in.n);
    for (size_t n = 0; n <= in.n; n += MRSI_PIECE / 2 + 1) {
        int fd = new_file(at("early"));
        struct mrsi_encoder *enc = open_to(mem, fd, hows[4], lanes);
        pass_on(enc, in, 0, n, 100000);
        mrsi_encoder_close(enc);
        off_t end = lseek(fd, 0, SEEK_END);
        close(fd);
        struct bytes got = get(at("early"));
        assert_int_equal(got.n, end);
        assert_true(got.n <= want.n);
        assert_memory_equal(got.p, want.p, got.n);
        free(got.p);
    }
    mrsi_lanes_free(lanes);
    free(in.p);
    free(want.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* ---- many files ---- */
struct writer {
    pthread_t id;
    struct mrs_mem *mem;
    struct mrsi_lanes *lanes;
    struct bytes in;
    char path[64];
};

static void *
write_one(void *arg)
{
    struct writer *w = arg;
    int fd = open(w->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct mrsi_encoder *enc = open_to(w->mem, fd, hows[4], w->lanes);
    pass_on(enc, w->in, 0, w->in.n, 65000);
    finish(enc);
    close(fd);
    return NULL;
}

/* Files of several threads, and several files of one thread that has others wait meanwhile, share the lanes. */
static void
many_files(void **state)
{
    (void)state;
    enum { FILES = 6 };
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrsi_lanes *lanes = mrsi_lanes_new(mem, 3);
    struct bytes in = make_text(3 * MRSI_PIECE + 70, 2, false), want = packed(hows[4], in, 0, in.n);
    struct writer w[FILES];
    for (int i = 0; i < FILES; i++) {
        w[i] = (struct writer){.mem = mem, .lanes = lanes, .in = in};
        snprintf(w[i].path, sizeof w[i].path, "%.60s", at("f%d", i));
        assert_int_equal(__real_pthread_create(&w[i].id, NULL, write_one, &w[i]), 0);
    }
    for (int i = 0; i < FILES; i++) {
        pthread_join(w[i].id, NULL);
    }
    struct mrsi_encoder *enc[FILES];
    int fd[FILES];
    for (int i = 0; i < FILES; i++) {
        struct bytes got = get(w[i].path);
        same(got, want);
        free(got.p);
        fd[i] = new_file(w[i].path);
        enc[i] = open_to(mem, fd[i], hows[4], lanes);
    }
    for (size_t n = 0; n < in.n; n += 400000) {
        for (int i = 0; i < FILES; i++) {
            pass_on(enc[i], in, n, in.n - n < 400000 ? in.n : n + 400000, 400000);
        }
    }
    for (int i = 0; i < FILES; i++) {
        finish(enc[i]);
        close(fd[i]);
        struct bytes got = get(w[i].path);
        same(got, want);
        free(got.p);
    }
    mrsi_lanes_free(lanes);
    free(in.p);
    free(want.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_any_threads),
        cmocka_unit_test(every_level),
        cmocka_unit_test(nothing_is_remembered),
        cmocka_unit_test(others_read_it),
        cmocka_unit_test(stops_and_goes_on),
        cmocka_unit_test(fewer_threads),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(closed_early),
        cmocka_unit_test(many_files),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}

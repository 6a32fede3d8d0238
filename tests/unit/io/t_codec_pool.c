/* SPDX-License-Identifier: Apache-2.0 */
/* t_codec_pool.c - packing on several threads: the same bytes for any number of them, also where a run was stopped and
 * goes on; failures of every kind in every thread. */
#include "io_test.h"
#include "io/codec/codec_pool.h"
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
open_to(struct mrs_mem *mem, int fd, struct mrs_compress how, struct mrsi_codec_pool *pool)
{
    struct mrs_err err;
    struct mrsi_encoder *enc = NULL;
    struct mrsi_encoder_to to = {fd, "packed", how, 5000, pool, false, 0};
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
    struct mrsi_codec_pool *pool = mrsi_codec_pool_new(mem, threads);
    int fd = new_file(at("packed"));
    struct mrsi_encoder *enc = open_to(mem, fd, how, pool);
    pass_on(enc, in, 0, in.n, piece);
    finish(enc);
    close(fd);
    mrsi_codec_pool_free(pool);
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

/* zlib and libzstd read what is there, member by member, frame by frame. */
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
    struct mrsi_encoder_mark mark = {0};
    struct mrs_buf pending;
    mrs_err_clear(&err);
    mrs_buf_init(&pending, mem, SIZE_MAX);
    struct mrsi_codec_pool *pool = mrsi_codec_pool_new(mem, threads);
    int fd = new_file(at("stopped"));
    struct mrsi_encoder *enc = open_to(mem, fd, how, pool);
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
    struct mrsi_encoder_to to = {fd, "stopped", how, 3000, pool, false, 0};
    OK(mrsi_encoder_resume(mem, &to, &mark, &enc, &err));
    pass_on(enc, in, cut, in.n, 70000);
    finish(enc);
    struct bytes again = get(at("stopped"));
    same(again, want);
    mark.file_bytes = again.n + 1;
    FAILS(mrsi_encoder_resume(mem, &to, &mark, &enc, &err), MRS_E_IO);
    free(whole.p);
    free(again.p);
    close(fd);
    mrs_buf_clear(&pending);
    mrsi_codec_pool_free(pool);
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

/* ---- what nobody wants ---- */
struct patience {
    pthread_mutex_t lock;
    int asked, ends_at;
};

static bool
is_asked(void *arg)
{
    struct patience *p = arg;
    pthread_mutex_lock(&p->lock);
    bool ends = ++p->asked >= p->ends_at;
    pthread_mutex_unlock(&p->lock);
    return ends;
}

/* A piece that takes up to a second asks at least sixteen times whether it is wanted, and ends where it is not. */
static void
packed_slowly(void **state)
{
    (void)state;
    struct bytes in = make_text(2 * MRSI_PIECE, 6, false);
    struct mrs_compress how = {MRS_CODEC_ZSTD, 22};
    struct bytes want = packed(how, in, 0, in.n);
    for (uint32_t threads = 0; threads <= 2; threads += 2) {
        for (int ends_at = 1; ends_at <= 40; ends_at += 13) {
            struct mrs_mem *mem = mrs_mem_new(0);
            struct mrs_err err;
            struct patience patience = {PTHREAD_MUTEX_INITIALIZER, 0, ends_at};
            struct mrs_stop stop = {&patience, is_asked};
            struct mrsi_codec_pool *pool = mrsi_codec_pool_new(mem, threads);
            mrsi_codec_pool_set_stop(pool, &stop);
            int fd = new_file(at("unwanted"));
            struct mrsi_encoder *enc = open_to(mem, fd, how, pool);
            mrs_err_clear(&err);
            enum mrs_status s = mrsi_encoder_write(enc, in.p, in.n, &err);
            s = s == MRS_OK ? mrsi_encoder_finish(enc, &err) : s;
            mrsi_encoder_close(enc);
            close(fd);
            if (ends_at == 40) {
                assert_int_equal(s, MRS_OK);
                assert_int_equal(patience.asked, 32);
                struct bytes got = get(at("unwanted"));
                same(got, want);
                free(got.p);
            } else {
                FAILS(s, MRS_E_CANCEL);
                assert_in_range(patience.asked, ends_at, ends_at + 1);
            }
            mrsi_codec_pool_free(pool);
            assert_int_equal(mrs_mem_close(mem), 0);
        }
    }
    free(in.p);
    free(want.p);
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

/* One after the other on the same codec pool: open, write, mark, finish. */
static enum mrs_status
whole_way(struct mrs_mem *mem, struct mrs_compress how, struct bytes in, uint32_t threads, struct mrs_err *e)
{
    struct mrsi_codec_pool *pool = mrsi_codec_pool_new(mem, threads);
    struct mrsi_encoder *enc = NULL;
    struct mrs_buf pending;
    uint64_t bytes;
    int fd = new_file(at("packed"));
    struct mrsi_encoder_to to = {fd, "packed", how, 5000, pool, false, 0};
    mrs_buf_init(&pending, mem, SIZE_MAX);
    enum mrs_status s = pool ? mrsi_encoder_open(mem, &to, &enc, e) : mrs_err_memory(e, 1);
    for (size_t i = 0; s == MRS_OK && i < in.n; i += 300000) {
        s = mrsi_encoder_write(enc, in.p + i, in.n - i < 300000 ? in.n - i : 300000, e);
    }
    s = s == MRS_OK ? mrsi_encoder_mark(enc, &bytes, &pending, e) : s;
    s = s == MRS_OK ? mrsi_encoder_finish(enc, e) : s;
    mrsi_encoder_close(enc);
    mrs_buf_clear(&pending);
    mrsi_codec_pool_free(pool);
    close(fd);
    return s;
}

/* Memory runs out at every allocation, in whichever thread, once and for good: a status, no leak, nobody waits. */
static void
no_memory(void **state)
{
    (void)state;
    struct bytes in = make_text(2 * MRSI_PIECE + 5, 6, false);
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
    struct bytes in = make_text(5 * MRSI_PIECE, 6, true);
    for (uint32_t threads = 0; threads <= 3; threads += 3) {
        for (size_t h = 1; h < HOWS; h++) {
            for (int late = 0; late < 2; late++) {
                struct mrs_mem *mem = mrs_mem_new(0);
                struct mrs_err err;
                struct mrs_buf pending;
                uint64_t bytes;
                mrs_err_clear(&err);
                mrs_buf_init(&pending, mem, SIZE_MAX);
                struct mrsi_codec_pool *pool = mrsi_codec_pool_new(mem, threads);
                int fd = open("/dev/full", O_WRONLY), good_fd = new_file(at("good"));
                struct mrsi_encoder *enc = open_to(mem, fd, hows[h], pool);
                struct mrsi_encoder *good = open_to(mem, good_fd, hows[h], pool);
                enum mrs_status s = mrsi_encoder_write(enc, in.p, late ? 100 : in.n, &err);
                s = s == MRS_OK ? mrsi_encoder_finish(enc, &err) : s;
                FAILS(s, MRS_E_IO);
                FAILS(mrsi_encoder_mark(enc, &bytes, &pending, &err), MRS_E_IO);
                assert_int_equal(bytes, 0);
                mrsi_encoder_close(enc);
                pass_on(good, in, 0, in.n, 200000); /* another file on the same codec pool is not hurt */
                finish(good);
                unpacks_to(hows[h].codec, at("good"), in);
                close(fd);
                close(good_fd);
                mrs_buf_clear(&pending);
                mrsi_codec_pool_free(pool);
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
    struct bytes in = make_text(7 * MRSI_PIECE, 8, false);
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrsi_codec_pool *pool = mrsi_codec_pool_new(mem, 4);
    struct bytes want = packed(hows[4], in, 0, in.n);
    for (size_t n = 0; n <= in.n; n += MRSI_PIECE / 2 + 1) {
        int fd = new_file(at("early"));
        struct mrsi_encoder *enc = open_to(mem, fd, hows[4], pool);
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
    mrsi_codec_pool_free(pool);
    free(in.p);
    free(want.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* ---- many files ---- */
struct writer {
    pthread_t id;
    struct mrs_mem *mem;
    struct mrsi_codec_pool *pool;
    struct bytes in;
    char path[64];
};

static void *
write_one(void *arg)
{
    struct writer *w = arg;
    int fd = open(w->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct mrsi_encoder *enc = open_to(w->mem, fd, hows[4], w->pool);
    pass_on(enc, w->in, 0, w->in.n, 65000);
    finish(enc);
    close(fd);
    return NULL;
}

/* Files of several threads, and several files of one thread that has others wait meanwhile, share the codec pool. */
static void
many_files(void **state)
{
    (void)state;
    enum { FILES = 6 };
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrsi_codec_pool *pool = mrsi_codec_pool_new(mem, 3);
    struct bytes in = make_text(3 * MRSI_PIECE + 70, 2, false), want = packed(hows[4], in, 0, in.n);
    struct writer w[FILES];
    for (int i = 0; i < FILES; i++) {
        w[i] = (struct writer){.mem = mem, .pool = pool, .in = in};
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
        enc[i] = open_to(mem, fd[i], hows[4], pool);
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
    mrsi_codec_pool_free(pool);
    free(in.p);
    free(want.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

/* ---- read ahead ---- */
/* Everything that comes out of a file, by so many threads; stops behind `most` bytes. */
static enum mrs_status
read_ahead(struct mrs_mem *mem, enum mrs_codec codec, uint32_t threads, size_t most, struct bytes *out,
           struct mrs_err *e)
{
    struct mrsi_source_from from = {open(at("ahead"), O_RDONLY), true, 0, UINT64_MAX, codec, "ahead", NULL};
    struct mrsi_codec_pool *pool = mrsi_codec_pool_new(mem, threads);
    struct mrsi_source *src = NULL;
    out->n = 0;
    out->p = malloc(1);
    enum mrs_status s = mrsi_source_open(mem, &from, &src, e);
    if (s == MRS_OK) {
        mrsi_source_ahead(src, pool);
    }
    while (s == MRS_OK && out->n < most) {
        size_t got, piece = 100000;
        out->p = realloc(out->p, out->n + piece);
        s = mrsi_source_read(src, out->p + out->n, piece, &got, e);
        out->n += got;
        assert_true(mrsi_source_taken(src) <= (uint64_t)lseek(from.fd, 0, SEEK_END));
    }
    mrsi_source_close(src);
    mrsi_codec_pool_free(pool);
    return s;
}

/* Serially and by threads: the same bytes, or the same failure. */
static void
alike(enum mrs_codec codec, struct bytes z, struct bytes in, int *failed)
{
    struct bytes a, b;
    struct mrs_err err, ahead_err;
    struct mrs_mem *mem = mrs_mem_new(0);
    mrs_err_clear(&err);
    mrs_err_clear(&ahead_err);
    put(at("ahead"), z.p, z.n);
    enum mrs_status want = read_ahead(mem, codec, 0, SIZE_MAX, &a, &err);
    enum mrs_status got = read_ahead(mem, codec, 3, SIZE_MAX, &b, &ahead_err);
    if (got != want || err.code != ahead_err.code) {
        print_message("%s: %s\n", err.msg, ahead_err.msg);
    }
    assert_int_equal(got, want);
    assert_int_equal(err.code, ahead_err.code);
    if (want == MRS_END) {
        same(a, in);
        same(b, in);
    } else {
        assert_int_equal(err.code, MRS_E_FORMAT);
        assert_non_null(strstr(ahead_err.msg, "near byte"));
        (*failed)++;
    }
    free(a.p);
    free(b.p);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
reads_ahead(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 5000, MRSI_PIECE, 7 * MRSI_PIECE + 77};
    int failed = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct bytes in = make_text(sizes[k], (uint32_t)k, k == 3), two = joined(in, in);
        for (size_t h = 1; h < HOWS; h++) {
            struct bytes ours = packed(hows[h], in, 2, 100000);
            bool gzip = hows[h].codec == MRS_CODEC_GZIP;
            struct bytes one = gzip ? gzip_by_zlib(in.p, in.n, 1) : zstd_by_lib(in.p, in.n, 1);
            struct bytes first = joined(ours, one), last = joined(one, ours);
            alike(hows[h].codec, ours, in, &failed);
            alike(hows[h].codec, one, in, &failed);
            alike(hows[h].codec, first, two, &failed);
            alike(hows[h].codec, last, two, &failed);
            free(ours.p);
            free(one.p);
            free(first.p);
            free(last.p);
        }
        free(in.p);
        free(two.p);
    }
    assert_int_equal(failed, 0);
}

/* Cut and damaged files, at the edges of members and frames and in the middle of them. */
static void
damage_ahead(void **state)
{
    (void)state;
    struct bytes in = make_text(MRSI_PIECE + 50000, 5, false);
    for (size_t h = 2; h < HOWS; h += 2) {
        struct bytes z = packed(hows[h], in, 2, in.n), copy = joined(z, (struct bytes){(uint8_t *)"junk", 4});
        size_t member = h == 2 ? mrs_le32(z.p + 16) : ZSTD_findFrameCompressedSize(z.p, z.n);
        int cut = 0, flipped = 0, junk = 0, tries = 0;
        for (size_t k = 0; k < 80; k++) { /* around the beginning, the second member, the end, and anywhere */
            size_t place = k < 30 ? k : k < 60 ? member - 12 + (k - 30) : k < 70 ? z.n - 1 - (k - 60) : k * 79199 % z.n;
            if (place % member) {
                alike(hows[h].codec, (struct bytes){copy.p, place}, in, &cut);
                tries++;
            }
            copy.p[place] ^= 1u << k % 8;
            alike(hows[h].codec, (struct bytes){copy.p, z.n}, in, &flipped);
            copy.p[place] ^= 1u << k % 8;
        }
        alike(hows[h].codec, copy, in, &junk);
        assert_int_equal(cut, tries);
        assert_true(flipped > 50); /* headers of gzip have bytes that mean nothing */
        assert_int_equal(junk, 1);
        free(z.p);
        free(copy.p);
    }
    free(in.p);
}

/* Closed at every place while threads are at work; memory that runs out at every allocation. */
static void
given_up_ahead(void **state)
{
    (void)state;
    struct bytes in = make_text(3 * MRSI_PIECE, 5, false), x;
    struct mrs_err err;
    for (size_t h = 2; h < HOWS; h += 2) {
        for (int foreign = 0; foreign < 2; foreign++) {
            struct bytes z = !foreign ? packed(hows[h], in, 2, in.n)
                             : h == 2 ? gzip_by_zlib(in.p, in.n, 1)
                                      : zstd_by_lib(in.p, in.n, 1);
            put(at("ahead"), z.p, z.n);
            for (size_t most = 0; most < in.n; most += 700000) {
                struct mrs_mem *mem = mrs_mem_new(0);
                mrs_err_clear(&err);
                OK(read_ahead(mem, hows[h].codec, 3, most, &x, &err));
                assert_memory_equal(x.p, in.p, x.n);
                free(x.p);
                assert_int_equal(mrs_mem_close(mem), 0);
            }
            bool failed = true;
            for (uint64_t n = 2; failed; n++) { /* the first is the pool itself */
                struct mrs_mem *mem = mrs_mem_new(n);
                mrs_err_clear(&err);
                enum mrs_status s = read_ahead(mem, hows[h].codec, 3, SIZE_MAX, &x, &err);
                assert_true(s == MRS_END || (s == MRS_DEAD && err.code == MRS_E_MEMORY));
                assert_memory_equal(x.p, in.p, x.n);
                assert_true(s != MRS_END || x.n == in.n);
                failed = mrs_mem_count(mem) >= n;
                free(x.p);
                assert_int_equal(mrs_mem_close(mem), 0);
            }
            free(z.p);
        }
    }
    free(in.p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_any_threads),
        cmocka_unit_test(every_level),
        cmocka_unit_test(nothing_is_remembered),
        cmocka_unit_test(others_read_it),
        cmocka_unit_test(stops_and_goes_on), cmocka_unit_test(packed_slowly),
        cmocka_unit_test(fewer_threads),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(closed_early),
        cmocka_unit_test(many_files),
        cmocka_unit_test(reads_ahead),
        cmocka_unit_test(damage_ahead),
        cmocka_unit_test(given_up_ahead),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}

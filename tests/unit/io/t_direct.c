/* SPDX-License-Identifier: Apache-2.0 */
/* t_direct.c - ends of large files that are written past the page cache: the same bytes wherever the file began,
 * however it is flushed, cut and gone on with, and whatever the system makes of a write. */
#include "io/codec/encoder.h"
#include "io/file/direct_write.h"
#include "io_ground.h"
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

enum { BYTES = 5 << 20, ALIGNED = 4096, LARGE = 3 << 20 };

/* What the system does with the next writes. */
static struct {
    long type;      /* of the file system */
    int fail, nth;  /* errno of the n-th write that is direct, -1: of each; 0: none */
    size_t most;    /* bytes of a write; 0: all */
    int direct, cached;
} disk;
int __wrap_fstatfs64(int fd, struct statfs *fs);
ssize_t __real_pwrite64(int fd, const void *p, size_t n, off_t off);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t off);

int
__wrap_fstatfs64(int fd, struct statfs *fs)
{
    (void)fd;
    *fs = (struct statfs){.f_type = disk.type};
    return 0;
}

ssize_t
__wrap_pwrite64(int fd, const void *p, size_t n, off_t off)
{
    bool direct = fcntl(fd, F_GETFL) & O_DIRECT;
    bool even = (uintptr_t)p % ALIGNED == 0 && n % ALIGNED == 0 && off % ALIGNED == 0;
    disk.direct += direct;
    disk.cached += !direct;
    if (direct && (!even || (disk.fail && (disk.nth < 0 || disk.direct == disk.nth)))) {
        errno = even ? disk.fail : EINVAL;
        return -1;
    }
    return __real_pwrite64(fd, p, disk.most && n > disk.most ? disk.most : n, off);
}

static uint8_t bytes[BYTES], got[BYTES + 1];

static void
set_disk(int fail, int nth, size_t most)
{
    disk.type = EXT4_SUPER_MAGIC;
    disk.fail = fail;
    disk.nth = nth;
    disk.most = most;
    disk.direct = disk.cached = 0;
    for (size_t i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)(i * 131 ^ i >> 11);
    }
}

/* A file with the first n of them. */
static int
file_with(size_t n)
{
    int fd = open(at("f"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    OK(mrsi_write_full(fd, bytes, n, "f", &err));
    return fd;
}

/* Some systems have none on a file system in memory. */
static bool
takes_direct(void)
{
    int fd = open(at("d"), O_RDWR | O_CREAT | O_DIRECT, 0600);
    return fd >= 0 && close(fd) == 0;
}

static void
holds(int fd, size_t n)
{
    assert_int_equal(pread(fd, got, sizeof got, 0), n);
    assert_memory_equal(got, bytes, n);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), n);
    assert_int_equal(fcntl(fd, F_GETFL) & O_DIRECT, 0);
}

/* All of them in parts, flushed now and then; after some of the flushes another takes over, as after a kill: what was
 * written behind it is cut off. */
static void
write_all(size_t first, size_t part, bool stops)
{
    int fd = file_with(first);
    struct mrsi_direct *d = mrsi_direct_begin(mem, fd, "f", first);
    assert_non_null(d);
    for (size_t done = first, k = 0, n; done < BYTES; done += n, k++) {
        n = (k * 7919 + 1) % part + 1;
        n = n < BYTES - done ? n : BYTES - done;
        OK(mrsi_direct_write(d, bytes + done, n, &err));
        if (k % 5 == 4) {
            OK(mrsi_direct_flush(d, &err));
            holds(fd, done + n);
        }
        if (stops && k % 15 == 4) {
            OK(mrsi_direct_write(d, bytes, BYTES / 2, &err));
            mrsi_direct_end(d);
            OK(mrsi_cut_file(fd, "f", done + n, &err));
            d = mrsi_direct_begin(mem, fd, "f", done + n);
            assert_non_null(d);
        }
    }
    OK(mrsi_direct_flush(d, &err));
    holds(fd, BYTES);
    mrsi_direct_end(d);
    close(fd);
}

static void
same_bytes(void **state)
{
    static const size_t first[] = {0, 1, 4095, 4096, 4097, 1 << 20, (1 << 20) + 77};
    (void)state;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        for (int stops = 0; stops < 2; stops++) {
            set_disk(0, 0, 0);
            write_all(first[i], 300000, stops);
            write_all(first[i], 3 << 20, stops);
            assert_true(disk.direct > 3 || !takes_direct());
        }
    }
}

/* Writes that do less than they were asked to, and a system that takes no direct ones, once or ever. */
static void
as_the_system_likes(void **state)
{
    (void)state;
    set_disk(0, 0, 100000 / ALIGNED * ALIGNED);
    write_all(5, 300000, true);
    set_disk(0, 0, 100001);
    write_all(5, 300000, true);
    set_disk(EINVAL, 2, 0);
    write_all(5, 300000, true);
    set_disk(EINVAL, -1, 0);
    write_all(5, 300000, true);
    assert_true(disk.cached > 3);
    set_disk(EINTR, 2, 0);
    write_all(5, 300000, false);
}

/* A failure is told by one of the calls that follow, with the name of the file. */
static void
failures(void **state)
{
    (void)state;
    for (int nth = 1; nth < 4; nth++) {
        set_disk(ENOSPC, nth, 0);
        int fd = file_with(3);
        struct mrsi_direct *d = mrsi_direct_begin(mem, fd, "the file", 3);
        enum mrs_status s = MRS_OK;
        for (size_t done = 3; s == MRS_OK && done < BYTES; done += 100000) {
            s = mrsi_direct_write(d, bytes + done, done + 100000 < BYTES ? 100000 : BYTES - done, &err);
        }
        s = s == MRS_OK ? mrsi_direct_flush(d, &err) : s;
        assert_int_equal(s, MRS_FAIL);
        assert_int_equal(err.code, MRS_E_IO);
        assert_non_null(strstr(err.msg, "write the file"));
        mrs_err_clear(&err);
        mrsi_direct_end(d);
        close(fd);
    }
}

static void
not_everywhere(void **state)
{
    (void)state;
    set_disk(0, 0, 0);
    int fd = file_with(3);
    disk.type = BTRFS_SUPER_MAGIC;
    assert_null(mrsi_direct_begin(mem, fd, "f", 3));
    disk.type = XFS_SUPER_MAGIC;
    mrsi_direct_end(mrsi_direct_begin(mem, fd, "f", 3));
    for (uint64_t fail_at = 1; fail_at < 3; fail_at++) {
        struct mrs_mem *little = mrs_mem_new(fail_at);
        assert_null(mrsi_direct_begin(little, fd, "f", 3));
        assert_int_equal(mrs_mem_close(little), 0);
    }
    close(fd);
}

/* An encoder of a file that grows large: its mark is what is in the file, and the next goes on there. */
static void
large_files(void **state)
{
    enum { MORE = 3 };
    (void)state;
    set_disk(0, 0, 0);
    uint64_t total = LARGE + MORE * (uint64_t)BYTES, marked = 0;
    struct mrs_buf pending;
    struct mrsi_encoder *enc;
    struct mrsi_encoder_to to = {file_with(0), "f", {MRS_CODEC_NONE, 0}, 0, NULL, false, LARGE};
    mrs_buf_init(&pending, mem, SIZE_MAX);
    OK(mrsi_encoder_open(mem, &to, &enc, &err));
    for (uint64_t done = 0; done < total - BYTES; done += BYTES) {
        OK(mrsi_encoder_write(enc, bytes, BYTES, &err));
    }
    OK(mrsi_encoder_write(enc, bytes, 777, &err));
    OK(mrsi_encoder_mark(enc, &marked, &pending, &err)); /* waits for what is written in the background */
    assert_true(disk.direct > 0 || !takes_direct());
    OK(mrsi_encoder_write(enc, got, BYTES, &err)); /* and is killed */
    mrsi_encoder_close(enc);
    struct mrsi_encoder_mark mark = {marked, pending.p, pending.n, 0};
    OK(mrsi_encoder_resume(mem, &to, &mark, &enc, &err));
    OK(mrsi_encoder_write(enc, bytes + 777, BYTES - 777, &err));
    OK(mrsi_encoder_finish(enc, &err));
    mrsi_encoder_close(enc);
    uint64_t done = 0;
    for (ssize_t n; (n = pread(to.fd, got, BYTES, (off_t)done)) > 0; done += (uint64_t)n) {
        assert_memory_equal(got, bytes, (size_t)n);
    }
    assert_true(done >= total && done % BYTES == 0);
    assert_int_equal(done, marked - 777 + BYTES);
    mrs_buf_clear(&pending);
    close(to.fd);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_bytes, begin, finish),
        cmocka_unit_test_setup_teardown(as_the_system_likes, begin, finish),
        cmocka_unit_test_setup_teardown(failures, begin, finish),
        cmocka_unit_test_setup_teardown(not_everywhere, begin, finish),
        cmocka_unit_test_setup_teardown(large_files, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

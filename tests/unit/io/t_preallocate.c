/* SPDX-License-Identifier: Apache-2.0 */
/* t_preallocate.c - room on the disk that is asked for ahead of a growing file, and given back. */
#include "io_ground.h"
#include <linux/falloc.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define MB (1ull << 20)

/* The file system, as it is said to be; where room was asked for. */
static struct {
    long type;
    uint64_t free_mb;
    int refused; /* the n-th time; 0: never */
    uint64_t at[64], n[64];
    int asked;
} disk;
int __wrap_fstatfs64(int fd, struct statfs *fs);
int __real_fallocate64(int fd, int mode, off_t at, off_t n);
int __wrap_fallocate64(int fd, int mode, off_t at, off_t n);

int
__wrap_fstatfs64(int fd, struct statfs *fs)
{
    (void)fd;
    *fs = (struct statfs){.f_type = disk.type, .f_bsize = 4096, .f_bavail = disk.free_mb * MB / 4096};
    return 0;
}

int
__wrap_fallocate64(int fd, int mode, off_t at, off_t n)
{
    assert_int_equal(mode, FALLOC_FL_KEEP_SIZE);
    assert_true(disk.asked < 64);
    disk.at[disk.asked] = (uint64_t)at;
    disk.n[disk.asked++] = (uint64_t)n;
    if (disk.asked == disk.refused) {
        errno = ENOSPC;
        return -1;
    }
    return __real_fallocate64(fd, mode, at, n);
}

/* How often room is asked for while a file grows, a megabyte at a time. */
static int
grow(struct mrsi_growth *g, int fd, uint64_t mb)
{
    disk.asked = 0;
    for (uint64_t i = 1; i <= mb; i++) {
        mrsi_preallocate_ahead(g, fd, i * MB);
    }
    return disk.asked;
}

static uint64_t
blocks(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

static void
when_it_is_asked_for(void **state)
{
    static const struct {
        long type;
        uint64_t free_mb, mb;
        int refused, asked;
    } rows[] = {{EXT4_SUPER_MAGIC, 1 << 20, 15, 0, 0},  {EXT4_SUPER_MAGIC, 1 << 20, 16, 0, 1},
                {EXT4_SUPER_MAGIC, 1 << 20, 79, 0, 1},  {EXT4_SUPER_MAGIC, 1 << 20, 80, 0, 2},
                {EXT4_SUPER_MAGIC, 4096, 80, 0, 2},     {EXT4_SUPER_MAGIC, 4095, 80, 0, 0},
                {EXT4_SUPER_MAGIC, 1 << 20, 200, 2, 2}, {XFS_SUPER_MAGIC, 1 << 20, 200, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mrsi_growth g = {0, false};
        int fd = open(at("f%zu", i), O_RDWR | O_CREAT, 0600);
        assert_true(fd >= 0);
        disk.type = rows[i].type;
        disk.free_mb = rows[i].free_mb;
        disk.refused = rows[i].refused;
        assert_int_equal(grow(&g, fd, rows[i].mb), rows[i].asked);
        for (int k = 0; k < disk.asked; k++) {
            assert_int_equal(disk.at[k], (16 + 64 * (uint64_t)k) * MB);
            assert_int_equal(disk.n[k], 64 * MB);
        }
        assert_int_equal(lseek(fd, 0, SEEK_END), 0);
        assert_true(rows[i].asked == 0 || blocks(fd) >= 64 * MB);
        OK(mrsi_preallocate_end(&g, fd, "f", 0, &err));
        assert_int_equal(blocks(fd), 0);
        close(fd);
    }
    struct mrsi_growth asked = {0, true}, none = {0, false};
    FAILS(mrsi_preallocate_end(&asked, -1, "f", 0, &err), MRS_E_IO);
    OK(mrsi_preallocate_end(&none, -1, "f", 0, &err));
}

/* A collection of so many megabytes is written whole and holds no more than that; compressed, nothing is asked for. */
static void
collections(void **state)
{
    enum { N = 24, SIZE = 1 << 20 };
    (void)state;
    disk.type = EXT4_SUPER_MAGIC;
    disk.free_mb = 1 << 20;
    disk.refused = 0;
    uint8_t *doc = calloc(1, SIZE);
    mrs_put32(doc, SIZE);
    memcpy(doc + 4, "\x05x\0", 3);
    mrs_put32(doc + 7, SIZE - 13);
    for (int packed = 0; packed < 2; packed++) {
        struct mrs_output_opts opts = {.compress = {packed ? MRS_CODEC_ZSTD : MRS_CODEC_NONE, 1}, .jobs = 1};
        struct mrs_output *o;
        struct mrs_sink *sink;
        struct mrs_hash_sum sum;
        struct stat st;
        uint64_t ms;
        disk.asked = 0;
        OK(mrs_output_open(mem, at("out%d", packed), &opts, &o, &err));
        OK(mrs_output_coll(o, "d", "c", NULL, 0, true, &sink, &err));
        for (int i = 0; i < N; i++) {
            OK(mrs_sink_write(sink, doc, SIZE, &err));
        }
        OK(mrs_sink_close(sink, N, &sum, &err));
        OK(mrs_output_commit(o, mrs_empty_doc(), &ms, &err));
        mrs_output_free(o);
        assert_int_equal(disk.asked, !packed);
        assert_int_equal(stat(at("out%d/d/c.bson%s", packed, packed ? ".zst" : ""), &st), 0);
        assert_true((uint64_t)st.st_blocks * 512 < (uint64_t)st.st_size + MB);
        assert_true(packed || st.st_size == N * SIZE);
    }
    free(doc);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(when_it_is_asked_for, begin, finish),
        cmocka_unit_test_setup_teardown(collections, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_pack.c - folders as tar and zip: what comes out is what went in, for us and for libarchive, the same every time. */
#include "io_ground.h"
#include "io/input/container.h"
#include "io/output/pack_container.h"
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <sys/stat.h>

static const char *const skip_names[] = {MRSI_MARKER, "packed"};
static struct bytes big;
static char long_name[230], odd_folder[300];

static void
make_folder(void)
{
    mkdir(at("r"), 0700);
    mkdir(at("r/shop"), 0700);
    mkdir(at("r/shop/sub"), 0700);
    mkdir(at("r/\xc3\xa9"), 0700);
    memset(long_name, 'n', 220);
    snprintf(odd_folder, sizeof odd_folder, "%.150s", long_name);
    mkdir(at("r/shop/%s", odd_folder), 0700);
    big = make_docs(3000, 5, 2000);
    put(at("r/shop/a.bson"), big.p, big.n);
    put(at("r/shop/empty.bson"), "", 0);
    put(at("r/shop/sub/x"), big.p, 512);
    put(at("r/shop/%s.bson", long_name), big.p, 700);
    put(at("r/shop/%s/%.90s", odd_folder, long_name), big.p, 1024);
    put(at("r/\xc3\xa9/c.bson"), big.p, 511);
    put_text(at("r/prelude.json"), "{}");
    put_text(at("r/mongoreshape.partial"), "left out");
    put_text(at("r/packed"), "left out");
}

static enum mrs_status
pack(struct mrs_mem *own, const char *to, bool zip, enum mrs_codec codec)
{
    int fd = open(to, O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct mrsi_container_pack p = {own, at("r"), skip_names, 2, fd, to, {codec, 0}, NULL, NULL};
    assert_true(p.fd >= 0);
    enum mrs_status s = zip ? mrsi_pack_zip(&p, &err) : mrsi_pack_tar(&p, &err);
    close(p.fd);
    return s;
}

static const struct {
    bool zip;
    enum mrs_codec codec;
} kinds[] = {{false, MRS_CODEC_NONE}, {false, MRS_CODEC_GZIP}, {false, MRS_CODEC_ZSTD},
             {true, MRS_CODEC_NONE},  {true, MRS_CODEC_GZIP}};
#define KINDS (sizeof kinds / sizeof *kinds)

/* Every member as libarchive sees it: its name below "dump/" is a file of r with the same bytes. */
static size_t
compare(const char *path, bool seeks)
{
    struct archive *a = archive_read_new();
    struct archive_entry *e;
    size_t n = 0;
    archive_read_support_filter_all(a);
    archive_read_support_format_tar(a);
    if (seeks) {
        archive_read_support_format_zip_seekable(a);
    } else {
        archive_read_support_format_zip_streamable(a);
    }
    assert_int_equal(archive_read_open_filename(a, path, 10240), ARCHIVE_OK);
    while (archive_read_next_header(a, &e) == ARCHIVE_OK) {
        const char *name = archive_entry_pathname(e);
        assert_memory_equal(name, "dump/", 5);
        struct bytes want = get(at("r/%s", name + 5));
        uint8_t *got = malloc(want.n + 1);
        assert_int_equal(archive_entry_size(e), want.n);
        assert_int_equal(archive_entry_filetype(e), AE_IFREG);
        assert_true(!seeks || archive_entry_perm(e) == 0644); /* is in a zip's directory only */
        assert_int_equal(archive_read_data(a, got, want.n + 1), want.n);
        assert_memory_equal(got, want.p, want.n);
        free(got);
        free(want.p);
        n++;
    }
    archive_read_free(a);
    return n;
}

static void
there_and_back(void **state)
{
    (void)state;
    make_folder();
    for (size_t i = 0; i < KINDS; i++) {
        OK(pack(mem, at("x"), kinds[i].zip, kinds[i].codec));
        OK(pack(mem, at("y"), kinds[i].zip, kinds[i].codec));
        same_file(at("x"), at("y"));
        assert_int_equal(compare(at("x"), true), 7);
        assert_int_equal(compare(at("x"), false), 7);
    }
    free(big.p);
}

static void
nothing(void **state)
{
    (void)state;
    mkdir(at("r"), 0700);
    for (size_t i = 0; i < KINDS; i++) {
        OK(pack(mem, at("x"), kinds[i].zip, kinds[i].codec));
        struct bytes b = get(at("x"));
        assert_true(b.n >= 22 && b.n <= 1024);
        free(b.p);
    }
}

/* More members than a zip counts in two bytes. */
static void
many(void **state)
{
    (void)state;
    mkdir(at("r"), 0700);
    mkdir(at("r/db"), 0700);
    for (int i = 0; i < 66000; i++) {
        int fd = open(at("r/db/%d", i), O_CREAT | O_WRONLY, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    OK(pack(mem, at("x"), true, MRS_CODEC_NONE));
    assert_int_equal(compare(at("x"), true), 66000);
}

static void
failures(void **state)
{
    (void)state;
    make_folder();
    for (size_t i = 0; i < KINDS; i++) {
        enum mrs_status s = MRS_DEAD;
        for (uint64_t n = 1; s != MRS_OK; n++) {
            struct mrs_mem *own = mrs_mem_new(n);
            s = pack(own, at("x"), kinds[i].zip, kinds[i].codec);
            assert_true(s == MRS_OK || (s == MRS_DEAD && err.code == MRS_E_MEMORY));
            mrs_err_clear(&err);
            assert_int_equal(mrs_mem_close(own), 0);
        }
    }
    struct mrsi_container_pack p = {mem, at("r"), NULL, 0, open("/dev/full", O_WRONLY), "full", {MRS_CODEC_NONE, 0},
                                    NULL, NULL};
    FAILS(mrsi_pack_tar(&p, &err), MRS_E_IO);
    close(p.fd);
    free(big.p);
}

int
main(void)
{
    setlocale(LC_ALL, "C.UTF-8"); /* for libarchive: names in zip are UTF-8 */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(there_and_back, begin, finish),
        cmocka_unit_test_setup_teardown(nothing, begin, finish),
        cmocka_unit_test_setup_teardown(many, begin, finish),
        cmocka_unit_test_setup_teardown(failures, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* io_test.h - what the tests of common/io share: a folder of their own, files, documents, packing
 * by other people's code. */
#ifndef IO_TEST_H
#define IO_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/codec/codec.h"
#include "io/input/input.h"
#include "../../folder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define OK(call) assert_int_equal_text((call), MRS_OK, &err, #call, __LINE__)
#define FAILS(call, want) fails_with((call), (want), &err, #call, __LINE__)

struct bytes {
    uint8_t *p;
    size_t n;
};

__attribute__((unused)) static void
assert_int_equal_text(int got, int want, const struct mrs_err *e, const char *call, int line)
{
    char text[1024];
    if (got != want) {
        print_message("line %d: %s: %d: %s\n", line, call, got, mrs_err_text(e, text, sizeof text));
    }
    assert_int_equal(got, want);
}

/* A failure with this code and a text; the struct is clear again afterwards. */
__attribute__((unused)) static void
fails_with(int got, enum mrs_code want, struct mrs_err *e, const char *call, int line)
{
    if (got >= MRS_OK || e->code != want || !e->msg[0]) {
        print_message("line %d: %s: status %d, code %d, not %d: %s\n", line, call, got, e->code,
                      want, e->msg);
    }
    assert_true(got < MRS_OK);
    assert_int_equal(e->code, want);
    assert_true(e->msg[0] != 0);
    mrs_err_clear(e);
}

/* ---- a folder ---- */
static char top[256];

__attribute__((unused)) static int
make_top(void **state)
{
    (void)state;
    return new_folder(top, "mrs-io") ? 0 : -1;
}

__attribute__((unused)) static int
drop_top(void **state)
{
    (void)state;
    return drop_tree(top);
}

/* Root may do everything, so tests of refused permission become another user for a moment. */
__attribute__((unused)) static void
as_nobody(bool on)
{
    if (getuid() == 0) {
        assert_true(!on || chmod(top, 0755) == 0);
        assert_int_equal(seteuid(on ? 65534 : 0), 0);
    }
}

/* A path below the folder; good until the eighth next call. */
__attribute__((unused, format(printf, 1, 2))) static const char *
at(const char *fmt, ...)
{
    static char ring[8][2048];
    static int next;
    char *room = ring[next++ % 8];
    int n = snprintf(room, 300, "%s/", top);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(room + n, sizeof ring[0] - (size_t)n, fmt, ap);
    va_end(ap);
    return room;
}

__attribute__((unused)) static void
put(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

__attribute__((unused)) static void
put_text(const char *path, const char *text)
{
    put(path, text, strlen(text));
}

__attribute__((unused)) static struct bytes
get(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        print_message("%s: %s\n", path, strerror(errno));
    }
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    struct bytes b = {malloc((size_t)n + 1), (size_t)n};
    assert_int_equal(fread(b.p, 1, b.n, f), b.n);
    b.p[n] = 0;
    fclose(f);
    return b;
}

__attribute__((unused)) static bool
there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

__attribute__((unused)) static void
same_file(const char *a, const char *b)
{
    struct bytes x = get(a), y = get(b);
    assert_int_equal(x.n, y.n);
    assert_memory_equal(x.p, y.p, x.n);
    free(x.p);
    free(y.p);
}

/* ---- documents: {_id: i, s: "xxx..."} of a wanted size ---- */
__attribute__((unused)) static size_t
put_doc(uint8_t *at_p, int32_t i, size_t size)
{
    assert_true(size >= 23);
    memset(at_p, 'x', size);
    mrs_put32(at_p, (uint32_t)size);
    memcpy(at_p + 4, "\x10_id", 5);
    mrs_put32(at_p + 9, (uint32_t)i);
    memcpy(at_p + 13, "\x02s", 3);
    mrs_put32(at_p + 16, (uint32_t)(size - 21));
    at_p[size - 2] = at_p[size - 1] = 0;
    return size;
}

/* n documents of sizes that vary but repeat with the seed. */
__attribute__((unused)) static struct bytes
make_docs(uint32_t n, uint32_t seed, size_t most)
{
    struct bytes b = {malloc((size_t)n * most + 1), 0};
    uint32_t x = seed * 2654435761u + 1;
    for (uint32_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        b.n += put_doc(b.p + b.n, (int32_t)i, 23 + (x >> 8) % (most - 22));
    }
    return b;
}

/* ---- packing, by the libraries themselves ---- */
__attribute__((unused)) static struct bytes
gzip_by_zlib(const void *p, size_t n, int level)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    struct bytes b = {malloc(n + n / 100 + 1000), n + n / 100 + 1000};
    z.next_in = (Bytef *)(uintptr_t)p;
    z.avail_in = (uInt)n;
    z.next_out = b.p;
    z.avail_out = (uInt)b.n;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    b.n = z.total_out;
    deflateEnd(&z);
    return b;
}

__attribute__((unused)) static struct bytes
zstd_by_lib(const void *p, size_t n, int level)
{
    struct bytes b = {malloc(ZSTD_compressBound(n)), 0};
    b.n = ZSTD_compress(b.p, ZSTD_compressBound(n), p, n, level);
    assert_false(ZSTD_isError(b.n));
    return b;
}

__attribute__((unused)) static struct bytes
joined(struct bytes a, struct bytes b)
{
    struct bytes c = {malloc(a.n + b.n + 1), a.n + b.n};
    memcpy(c.p, a.p, a.n);
    memcpy(c.p + a.n, b.p, b.n);
    return c;
}

/* Everything a source gives, read in pieces of this size; the status that ended it. */
__attribute__((unused)) static enum mrs_status
read_source(struct mrs_mem *mem, const char *path, enum mrs_codec codec, size_t piece,
            struct bytes *out, struct mrs_err *e)
{
    struct mrsi_source_from from = {open(path, O_RDONLY), true, 0, UINT64_MAX, codec, path, NULL};
    struct mrsi_source *src;
    assert_true(from.fd >= 0);
    *out = (struct bytes){malloc(1), 0};
    enum mrs_status s = mrsi_source_open(mem, &from, &src, e);
    if (s != MRS_OK) {
        return s;
    }
    while (s == MRS_OK) {
        size_t got;
        out->p = realloc(out->p, out->n + piece);
        s = mrsi_source_read(src, out->p + out->n, piece, &got, e);
        out->n += got;
    }
    mrsi_source_close(src);
    return s;
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* fz_compare.c - any bytes as a manifest beside a dump, and as two documents or two metadata files beside each other.
 *
 * The first byte chooses. A manifest ends with a status and a reason. Of two documents of other bytes at least one
 * value is told, with a path; a document's metadata do not differ from themselves. Nothing may leak. */
#include "run/compare/compare_dumps.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
manifest(struct mrs_mem *mem, struct mrs_input *dump, const uint8_t *data, size_t n, bool input)
{
    struct mrs_manifest_text m = {.text = (const char *)data, .name = "fuzz", .n = n, .input = input};
    struct mrs_diff_opts o = {.jobs = 1};
    struct mrs_diff d;
    struct mrs_err e;
    mrs_err_clear(&e);
    enum mrs_status s = mrs_diff_manifest(mem, &m, dump, &o, &d, &e);
    if (s == MRS_OK ? d.n_coll == 0 || d.n_differ > d.n_coll : e.code == MRS_E_NONE || !e.msg[0]) {
        abort();
    }
    mrs_diff_clear(&d);
}

/* The document at the beginning of the bytes; p NULL: there is none. */
static struct mrs_view
document(const uint8_t *data, size_t n)
{
    uint32_t size = n >= MRS_DOC_MIN ? mrs_le32(data) : 0;
    bool good = size >= MRS_DOC_MIN && size <= n && mrs_doc_check(data, size, MRS_DEPTH_READ, NULL) == MRS_OK;
    return (struct mrs_view){good ? data : NULL, good ? size : 0};
}

static void
values(struct mrs_arena *arena, struct mrs_view a, struct mrs_view b)
{
    struct mrs_diff_doc d;
    memset(&d, 0, sizeof d);
    if (a.n == b.n && memcmp(a.p, b.p, a.n) == 0) {
        return;
    }
    if (mrsi_compare_values(arena, a, b, &d, NULL) != MRS_OK || d.n_value == 0 || d.n_value > MRS_DIFF_VALUES) {
        abort();
    }
    for (uint32_t i = 0; i < d.n_value; i++) {
        if (!d.value[i].path || (!d.value[i].a && !d.value[i].b)) {
            abort();
        }
    }
}

static void
metadata(struct mrs_arena *arena, struct mrs_view a, struct mrs_view b)
{
    struct mrs_diff_coll c, same;
    memset(&c, 0, sizeof c);
    memset(&same, 0, sizeof same);
    if (mrsi_compare_meta(arena, a, b, &c, NULL) != MRS_OK || mrsi_compare_meta(arena, a, a, &same, NULL) != MRS_OK ||
        same.n_meta) {
        abort();
    }
}

/* A dump of one document, d.c, that stays open. */
static struct mrs_input *
a_dump(void)
{
    static struct mrs_input *in;
    static struct mrs_mem *mem;
    struct mrs_input_opts how = {.ns = "d.c"};
    char path[64];
    if (!in) {
        int fd = memfd_create("fuzz", 0);
        mem = mrs_mem_new(0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (write(fd, "\x0e\0\0\0\x10_id\0\x01\0\0\0\0", 14) != 14 ||
            mrs_input_open(mem, path, &how, &in, NULL) != MRS_OK) {
            abort();
        }
    }
    return in;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0) {
        return 0;
    }
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_arena arena;
    mrs_arena_init(&arena, mem);
    if (data[0] & 1) {
        manifest(mem, a_dump(), data + 1, n - 1, data[0] & 2);
    } else {
        struct mrs_view a = document(data + 1, n - 1), b = document(data + 1 + a.n, n - 1 - a.n);
        if (a.p && b.p && (data[0] & 2)) {
            metadata(&arena, a, b);
        } else if (a.p && b.p) {
            values(&arena, a, b);
        }
    }
    mrs_arena_clear(&arena);
    if (mrs_mem_close(mem) != 0) {
        abort();
    }
    return 0;
}

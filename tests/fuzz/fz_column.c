/* SPDX-License-Identifier: Apache-2.0 */
/* fz_column.c - any bytes as a bucket of a time series: refused, or each measurement is a document that passes the
 * check and begins with the time.
 *
 * The first byte says what the bytes are: the bucket itself, or a compressed column of one whose times are good. No
 * more rows are asked for than a real bucket has. */
#include "mongoreshape/measurements.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS_MOST = 5000 };

static void
must(bool ok)
{
    if (!ok) {
        abort();
    }
}

static void
unpack(struct mrs_view bucket, struct mrs_mem *mem)
{
    struct mrs_series of = {"t", "m"};
    struct mrs_measurements *m = NULL;
    struct mrs_view d;
    struct mrs_err e;
    mrs_err_clear(&e);
    must(mrs_measurements_new(mem, &of, &m, &e) == MRS_OK);
    enum mrs_status s = mrs_measurements_begin(m, bucket, &e);
    for (int i = 0; s == MRS_OK && i < ROWS_MOST; i++) {
        s = mrs_measurements_next(m, &d, &e);
        must(s != MRS_OK || (mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL) == MRS_OK &&
                             d.n > 15 && memcmp(d.p + 4, "\x09t", 3) == 0));
    }
    must(s == MRS_OK || s == MRS_END || (s == MRS_FAIL && e.code != MRS_E_NONE && e.msg[0]));
    mrs_measurements_free(m);
}

/* {control: {version: 2}, data: {t: a date 1 + 120 times, v: the bytes}} */
static void
as_column(const uint8_t *data, size_t size, struct mrs_mem *mem)
{
    static const uint8_t times[] = {20, 0, 0, 0, 7, MRS_DATE, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x0F, 0, 0, 0,
                                    0,  0, 0, 0, 0};
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view d;
    uint8_t *v = malloc(size + 5);
    must(v != NULL);
    mrs_put32(v, (uint32_t)size);
    v[4] = 7;
    memcpy(v + 5, data, size);
    mrs_buf_init(&buf, mem, SIZE_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_open(&b, "control", 7, MRS_DOCUMENT);
    mrs_build_i32(&b, "version", 2);
    mrs_build_close(&b);
    mrs_build_open(&b, "data", 4, MRS_DOCUMENT);
    mrs_build_val(&b, "t", 1, (struct mrs_val){times, sizeof times, MRS_BINARY});
    mrs_build_val(&b, "v", 1, (struct mrs_val){v, (uint32_t)size + 5, MRS_BINARY});
    mrs_build_close(&b);
    must(mrs_build_finish(&b, &d, NULL) == MRS_OK);
    unpack(d, mem);
    mrs_buf_clear(&buf);
    free(v);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    must(mem != NULL);
    if (size > 1 && size < MRS_DOC_MAX && data[0] % 2) {
        as_column(data + 1, size - 1, mem);
    } else if (size > 1 && mrs_doc_check(data + 1, size - 1, MRS_DEPTH_READ, NULL) == MRS_OK) {
        unpack((struct mrs_view){data + 1, (uint32_t)size - 1}, mem);
    }
    must(mrs_mem_close(mem) == 0);
    return 0;
}

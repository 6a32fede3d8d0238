/* SPDX-License-Identifier: Apache-2.0 */
/* fz_ejson.c - any bytes as Extended JSON.
 *
 * The first byte chooses the mode. Reading ends with a status and an offset inside the text, or with a document that
 * passes the check of documents we read; written in canonical form it reads back to the same bytes in data mode, and
 * in relaxed form it reads again. Texts of several objects are read one behind the other. */
#include "mongoreshape/ejson.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
must(bool ok)
{
    if (!ok) {
        abort();
    }
}

/* A document in both forms: they read again; the canonical one to the same bytes. */
static void
write_and_read(struct mrs_mem *mem, struct mrs_view doc)
{
    for (int canonical = 0; canonical < 2; canonical++) {
        struct mrs_buf text, again;
        struct mrs_err e;
        size_t used;
        mrs_err_clear(&e);
        mrs_buf_init(&text, mem, 64u << 20);
        mrs_buf_init(&again, mem, 64u << 20);
        mrs_ejson_write(doc, canonical, &text);
        must(!text.bad);
        must(mrs_ejson_read((const char *)text.p, text.n, MRS_EJSON_DATA, &again, &used, &e) == MRS_OK);
        must(used == text.n);
        bool replaced = memmem(text.p, text.n, "\xEF\xBF\xBD", 3) != NULL; /* what was no UTF-8, perhaps */
        must(!canonical || replaced || (again.n == doc.n && memcmp(again.p, doc.p, doc.n) == 0));
        mrs_buf_clear(&text);
        mrs_buf_clear(&again);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const enum mrs_ejson_mode modes[] = {MRS_EJSON_DATA, MRS_EJSON_STRICT, MRS_EJSON_PLAIN};
    if (!n) {
        return 0;
    }
    enum mrs_ejson_mode mode = modes[data[0] % 3];
    const char *text = (const char *)data + 1;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf out;
    mrs_buf_init(&out, mem, 16u << 20);
    for (size_t at = 0, used = 0; at < n - 1; at += used) {
        struct mrs_err e;
        mrs_err_clear(&e);
        mrs_buf_reset(&out);
        enum mrs_status s = mrs_ejson_read(text + at, n - 1 - at, mode, &out, &used, &e);
        must(s == MRS_OK || s == MRS_FAIL || s == MRS_DEAD);
        if (s != MRS_OK) {
            must(e.code != MRS_E_NONE && e.msg[0]);
            must(e.byte_off == UINT64_MAX || e.byte_off <= n - 1 - at);
            break;
        }
        must(used && used <= n - 1 - at);
        must(mrs_doc_check(out.p, out.n, MRS_DEPTH_READ, NULL) == MRS_OK);
        if (mode == MRS_EJSON_DATA) {
            write_and_read(mem, (struct mrs_view){out.p, (uint32_t)out.n});
        }
    }
    mrs_buf_clear(&out);
    must(mrs_mem_close(mem) == 0);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fz_metadata.c - any bytes as a metadata file, and any bytes as a compressed stream.
 *
 * The first byte chooses. Metadata: parsing ends with a status, what was taken is a whole document
 * with the checked keys of the right type. Streams: gzip and zstd decoders end with a status
 * whatever they get, and the cut of the input into steps does not change what comes out. Nothing
 * may leak. */
#include "io/codec/codec.h"
#include "io/input/input.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
metadata(struct mrs_mem *mem, const uint8_t *data, size_t n)
{
    struct mrs_buf bson;
    struct mrs_view doc;
    struct mrs_err e;
    struct mrs_arena a;
    const char *coll;
    mrs_err_clear(&e);
    mrs_arena_init(&a, mem);
    mrs_buf_init(&bson, mem, MRS_METADATA_MAX);
    enum mrs_status s = mrsi_metadata_parse(&bson, (const char *)data, n, "fuzz", &doc, &e);
    if (s == MRS_OK) {
        struct mrs_val indexes = mrs_doc_get(doc, "indexes");
        if (mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, NULL) != MRS_OK ||
            (indexes.type != MRS_MISSING && indexes.type != MRS_ARRAY &&
             indexes.type != MRS_NULL)) {
            abort();
        }
        mrsi_metadata_coll(&a, doc, "fuzz", &coll, &e);
    } else if (e.code == MRS_E_NONE || !e.msg[0]) {
        abort();
    }
    mrs_buf_clear(&bson);
    mrs_arena_clear(&a);
}

/* Decodes all of it in steps of `step` bytes; the sum of what came out, zeros where it is damaged or cut off: a symbol
 * more or less is handed out before that is known. */
static struct mrs_hash_sum
decode(struct mrs_mem *mem, const struct mrsi_codec *codec, const uint8_t *data, size_t n,
       size_t step)
{
    static uint8_t out[1 << 16];
    struct mrs_hash_sum sum = {0, 0};
    void *d = codec->dec_open(mem);
    enum mrs_status s = d ? MRS_OK : MRS_DEAD;
    const char *why = NULL;
    uint64_t made = 0;
    bool full = false; /* more may wait to be handed out, though all of the input is taken */
    for (size_t at = 0; s == MRS_OK && (at < n || full) && made < (1u << 22);) {
        struct mrsi_flow f = {data + at, n - at < step ? n - at : step, out, sizeof out};
        size_t had = f.in_n;
        s = codec->dec_step(d, &f, &why);
        for (uint8_t *p = out; p < f.out; p++) {
            sum.lo = sum.lo * 1099511628211u + *p;
        }
        made += (uint64_t)(f.out - out);
        at += had - f.in_n;
        full = f.out == out + sizeof out;
        if (s == MRS_OK && had && had == f.in_n && f.out == out) {
            abort(); /* stuck */
        }
    }
    if (s < MRS_OK && !why) {
        abort();
    }
    bool whole = s == MRS_OK && made < (1u << 22) && codec->dec_may_end(d);
    sum.hi = whole ? made + 1 : 0;
    sum.lo = whole ? sum.lo : 0;
    codec->dec_close(d);
    return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0) {
        return 0;
    }
    struct mrs_mem *mem = mrs_mem_new(0);
    if (data[0] & 1) {
        metadata(mem, data + 1, n - 1);
    } else {
        const struct mrsi_codec *codec =
            mrsi_codec_of(data[0] & 2 ? MRS_CODEC_GZIP : MRS_CODEC_ZSTD);
        struct mrs_hash_sum a = decode(mem, codec, data + 1, n - 1, n);
        struct mrs_hash_sum b = decode(mem, codec, data + 1, n - 1, 1);
        if (a.hi != b.hi || a.lo != b.lo) {
            abort();
        }
    }
    if (mrs_mem_close(mem) != 0) {
        abort();
    }
    return 0;
}

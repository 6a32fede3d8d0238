/* SPDX-License-Identifier: Apache-2.0 */
/* codec_twice.c - gzip in gzip, unpacked as if it were packed once.
 *
 * It results from compressing the files of a --gzip dump once more. The error of a damaged stream is that of the layer
 * which is damaged. */
#include "codec.h"

#define BETWEEN (32u << 10) /* bytes of the inner stream, decompressed from the outer one */

struct codec_twice_dec {
    struct mrs_mem *mem;
    void *outer, *inner;
    size_t at, n; /* of between: in use */
    uint8_t between[BETWEEN];
};

static void
dec_close(void *p)
{
    struct codec_twice_dec *d = p;
    if (d) {
        mrsi_codec_gzip.dec_close(d->outer);
        mrsi_codec_gzip.dec_close(d->inner);
        mrs_free(d->mem, d);
    }
}

static void *
dec_open(struct mrs_mem *mem)
{
    struct codec_twice_dec *d = mrs_zalloc(mem, sizeof *d);
    if (!d) {
        return NULL;
    }
    d->mem = mem;
    d->outer = mrsi_codec_gzip.dec_open(mem);
    d->inner = d->outer ? mrsi_codec_gzip.dec_open(mem) : NULL;
    if (!d->inner) {
        dec_close(d);
        return NULL;
    }
    return d;
}

/* Decompresses more of the inner stream. */
static enum mrs_status
fill(struct codec_twice_dec *d, struct mrsi_flow *f, const char **why)
{
    MRS_ASSERT(d->at == d->n);
    struct mrsi_flow outer = {f->in, f->in_n, d->between, BETWEEN};
    enum mrs_status s = mrsi_codec_gzip.dec_step(d->outer, &outer, why);
    f->in = outer.in;
    f->in_n = outer.in_n;
    d->at = 0;
    d->n = BETWEEN - outer.out_n;
    return s;
}

static enum mrs_status
dec_step(void *p, struct mrsi_flow *f, const char **why)
{
    MRS_ASSERT(((struct codec_twice_dec *)p)->at <= ((struct codec_twice_dec *)p)->n);
    struct codec_twice_dec *d = p;
    enum mrs_status s = MRS_OK;
    for (size_t left = SIZE_MAX, room = SIZE_MAX; s == MRS_OK && f->out_n && (f->in_n != left || f->out_n != room);) {
        left = f->in_n;
        room = f->out_n;
        s = d->at == d->n ? fill(d, f, why) : MRS_OK;
        struct mrsi_flow inner = {d->between + d->at, d->n - d->at, f->out, f->out_n};
        MRS_THEN(s, mrsi_codec_gzip.dec_step(d->inner, &inner, why));
        d->at = d->n - inner.in_n;
        f->out = inner.out;
        f->out_n = inner.out_n;
    }
    return s;
}

static bool
dec_may_end(const void *p)
{
    const struct codec_twice_dec *d = p;
    return d->at == d->n && mrsi_codec_gzip.dec_may_end(d->outer) && mrsi_codec_gzip.dec_may_end(d->inner);
}

static void
dec_passed(void *p)
{
    (void)p; /* unit finds none, so no frame is decompressed elsewhere */
}

static bool
unit(const uint8_t *p, size_t n, size_t *in, size_t *out)
{
    (void)p;
    (void)n;
    (void)in;
    (void)out;
    return false;
}

const struct mrsi_codec mrsi_codec_twice = {
    .name = "gzip in gzip", .suffix = ".gz", .dec_open = dec_open, .dec_step = dec_step, .dec_may_end = dec_may_end,
    .unit = unit, .dec_passed = dec_passed, .dec_close = dec_close,
};

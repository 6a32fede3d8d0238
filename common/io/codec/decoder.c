/* SPDX-License-Identifier: Apache-2.0 */
/* decoder.c - decompresses a file serially.
 *
 * A stream that stops before its end, makes no progress, or is followed by other bytes is damage, never an end of data.
 * Must not know where the bytes come from. */
#include "decoder.h"
#include "io/file/file.h"

enum mrs_status
mrsi_decoder_open(struct mrsi_decoder *d, struct mrs_err *e)
{
    MRS_ASSERT(d->mem && d->codec && d->read && d->room);
    d->in = mrs_alloc(d->mem, d->room);
    d->dec = d->in ? d->codec->dec_open(d->mem) : NULL;
    d->in_at = d->in_n = 0;
    d->off = 0;
    d->in_end = false;
    return mrs_allocated(d->dec, d->room, e);
}

void
mrsi_decoder_close(struct mrsi_decoder *d)
{
    if (d->dec) {
        d->codec->dec_close(d->dec);
    }
    mrs_free(d->mem, d->in);
    d->dec = NULL;
    d->in = NULL;
}

uint64_t
mrsi_decoder_taken(const struct mrsi_decoder *d)
{
    return d->off - (d->in_n - d->in_at);
}

static enum mrs_status
too_large(const struct mrsi_decoder *d, uint64_t window, struct mrs_err *e)
{
    unsigned long long mib = (window + (1u << 20) - 1) >> 20;
    if (window > 2ull << 30) {
        return MRSI_FAIL(e, MRS_E_LIMIT,
                         "%s: its %s stream needs a window of more than 2048 MiB, the maximum: compress it again with "
                         "--long=31 or less", d->name, d->codec->name);
    }
    return MRSI_FAIL(e, MRS_E_LIMIT,
                     "%s: its %s stream needs a window of %llu MiB, which may take half of the memory: give "
                     "--memory %lluM", d->name, d->codec->name, mib, 2 * mib);
}

enum mrs_status
mrsi_decoder_damaged(const struct mrsi_decoder *d, const void *dec, uint64_t at, enum mrs_status s, const char *why,
                     struct mrs_err *e)
{
    MRS_ASSERT(s < MRS_OK && why);
    if (s == MRS_DEAD) {
        return mrs_err_memory(e, 0);
    }
    uint64_t window_needed = dec && d->codec->dec_window_needed ? d->codec->dec_window_needed(dec) : 0;
    if (window_needed) {
        return too_large(d, window_needed, e);
    }
    return MRSI_FAIL(e, MRS_E_FORMAT, "%s: damaged %s stream near byte %llu of the file: %s", d->name, d->codec->name,
                     (unsigned long long)(d->start + at), why);
}

enum mrs_status
mrsi_decoder_fill(struct mrsi_decoder *d, struct mrs_err *e)
{
    MRS_ASSERT(d->in && d->in_at <= d->in_n && d->in_n <= d->room);
    size_t left = d->in_n - d->in_at, got = 0;
    if (d->in_end || left == d->room) {
        return MRS_OK;
    }
    if (left) {
        memmove(d->in, d->in + d->in_at, left);
    }
    d->in_at = 0;
    d->in_n = left;
    enum mrs_status s = d->read(d->arg, d->in + left, d->room - left, &got, e);
    d->off += got;
    d->in_n += got;
    d->in_end = got < d->room - left;
    return s;
}

enum mrs_status
mrsi_decoder_step(struct mrsi_decoder *d, struct mrsi_flow *f, bool *ended, struct mrs_err *e)
{
    MRS_ASSERT(d->dec && (f->out || f->out_n == 0));
    MRS_TRY(d->in_at == d->in_n ? mrsi_decoder_fill(d, e) : MRS_OK);
    const char *why = "damaged";
    size_t out_was = f->out_n, in_was = d->in_n - d->in_at;
    f->in = d->in + d->in_at;
    f->in_n = in_was;
    enum mrs_status s = d->codec->dec_step(d->dec, f, &why);
    d->in_at = d->in_n - f->in_n;
    if (s != MRS_OK) {
        return mrsi_decoder_damaged(d, d->dec, mrsi_decoder_taken(d), s, why, e);
    }
    if (in_was && f->in_n == in_was && f->out_n == out_was) {
        return mrsi_decoder_damaged(d, d->dec, mrsi_decoder_taken(d), MRS_FAIL, "it cannot be decoded", e);
    }
    if (d->in_end && d->in_at == d->in_n && f->out_n == out_was && f->out_n) {
        *ended = true;
        if (!d->codec->dec_may_end(d->dec)) {
            return mrsi_decoder_damaged(d, d->dec, mrsi_decoder_taken(d), MRS_FAIL, "it ends too early (truncated)", e);
        }
    }
    return MRS_OK;
}

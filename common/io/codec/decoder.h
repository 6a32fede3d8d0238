/* SPDX-License-Identifier: Apache-2.0 */
/* decoder.h - the bytes of a compressed file, one after the other, or read ahead by several threads. */
#ifndef MRSI_IO_DECODER_H
#define MRSI_IO_DECODER_H

#include "codec_pool.h"

struct mrsi_decoder {
    struct mrs_mem *mem;
    const struct mrsi_codec *codec;
    const char *name;
    uint64_t start; /* of the stream in the file, for messages */
    /* The next bytes of the file, fewer than n only at its end. One thread at a time. */
    enum mrs_status (*read)(void *arg, void *p, size_t n, size_t *got, struct mrs_err *e);
    void *arg;
    size_t room; /* how many are read at a time */
    /* its own */
    void *dec;
    uint8_t *in; /* in[in_at .. in_n) are left */
    size_t in_at, in_n;
    uint64_t off; /* bytes read so far */
    bool in_end;  /* the file has no more */
};
/* The fields above "its own" are set. DEAD; close is harmless afterwards. */
enum mrs_status mrsi_decoder_open(struct mrsi_decoder *d, struct mrs_err *e);
void mrsi_decoder_close(struct mrsi_decoder *d);
/* Reads on where there is room for bytes. */
enum mrs_status mrsi_decoder_fill(struct mrsi_decoder *d, struct mrs_err *e);
/* One round into f->out; OK with *ended once the stream is over. */
enum mrs_status mrsi_decoder_step(struct mrsi_decoder *d, struct mrsi_flow *f, bool *ended, struct mrs_err *e);
uint64_t mrsi_decoder_taken(const struct mrsi_decoder *d); /* bytes of the file used so far */
/* The error for damage near byte `at` of the stream, found by the decompressor dec (NULL: by none). */
enum mrs_status mrsi_decoder_damaged(const struct mrsi_decoder *d, const void *dec, uint64_t at, enum mrs_status s,
                                     const char *why, struct mrs_err *e);

/* ---- read_ahead.c ---- */
struct mrsi_read_ahead;
/* from: as for mrsi_decoder_open, but for room; its read is called by other threads from now on. NULL: not to be had,
 * for want of threads or memory. */
uint64_t mrsi_read_ahead_memory(uint32_t threads); /* that one of them takes */
struct mrsi_read_ahead *mrsi_read_ahead_open(const struct mrsi_decoder *from, struct mrsi_codec_pool *pool);
/* As mrsi_source_read. After a failure the same again. */
enum mrs_status mrsi_read_ahead_read(struct mrsi_read_ahead *a, void *p, size_t n, size_t *got, struct mrs_err *e);
uint64_t mrsi_read_ahead_taken(const struct mrsi_read_ahead *a);
void mrsi_read_ahead_close(struct mrsi_read_ahead *a); /* NULL: nothing; also while threads are at work */
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* decoder.h - the decompressed bytes of a file, serially, or read ahead by several threads. */
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
    size_t room; /* bytes per read */
    /* private */
    void *dec;
    uint8_t *in; /* in[in_at .. in_n) are left */
    size_t in_at, in_n;
    uint64_t off; /* bytes read so far */
    bool in_end;  /* the file has no more */
};
/* The fields above "private" are set. DEAD; close is allowed afterwards. */
enum mrs_status mrsi_decoder_open(struct mrsi_decoder *d, struct mrs_err *e);
void mrsi_decoder_close(struct mrsi_decoder *d);
/* Reads more if there is room. */
enum mrs_status mrsi_decoder_fill(struct mrsi_decoder *d, struct mrs_err *e);
/* One round into f->out; OK with *ended at the end of the stream. */
enum mrs_status mrsi_decoder_step(struct mrsi_decoder *d, struct mrsi_flow *f, bool *ended, struct mrs_err *e);
uint64_t mrsi_decoder_taken(const struct mrsi_decoder *d); /* bytes of the file used so far */
/* The error for damage near byte `at` of the stream, found by the decompressor dec (NULL: none). */
enum mrs_status mrsi_decoder_damaged(const struct mrsi_decoder *d, const void *dec, uint64_t at, enum mrs_status s,
                                     const char *why, struct mrs_err *e);

/* ---- read_ahead.c ---- */
struct mrsi_read_ahead;
/* from: as for mrsi_decoder_open, without room; its read is called by other threads from now on. NULL: not available,
 * for lack of threads or memory. */
uint64_t mrsi_read_ahead_memory(uint32_t threads); /* bytes that one of them uses */
struct mrsi_read_ahead *mrsi_read_ahead_open(const struct mrsi_decoder *from, struct mrsi_codec_pool *pool);
/* As mrsi_source_read. After a failure it repeats the failure. */
enum mrs_status mrsi_read_ahead_read(struct mrsi_read_ahead *a, void *p, size_t n, size_t *got, struct mrs_err *e);
uint64_t mrsi_read_ahead_taken(const struct mrsi_read_ahead *a);
void mrsi_read_ahead_close(struct mrsi_read_ahead *a); /* NULL: no effect; allowed while threads work */
#endif

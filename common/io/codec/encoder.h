/* SPDX-License-Identifier: Apache-2.0 */
/* encoder.h - writes bytes to the end of a file, plain or compressed, on several threads if there is a codec pool. */
#ifndef MRSI_IO_ENCODER_H
#define MRSI_IO_ENCODER_H

#include "mongoreshape/io.h"

struct mrsi_codec_pool;
struct mrsi_encoder;
struct mrsi_encoder_to {
    int fd;
    const char *name;
    struct mrs_compress compress;
    size_t buffer;            /* of plain files; 0: MRSI_SINK_BUFFER */
    struct mrsi_codec_pool *pool; /* threads that compress; NULL: the writer's */
    bool raw; /* parts of one stream of raw deflate, which the caller ends; only the level of `compress` applies */
    /* size from which a plain file is written directly (direct_write.h); 0: never. The file is open for reading as
     * well, and has no other user */
    uint64_t direct_from;
};
/* Bytes of memory for compressing on that many threads. */
uint64_t mrsi_encoder_memory(struct mrs_compress c, uint32_t threads);
/* The file position is that of the first byte; the file need not be seekable. */
enum mrs_status mrsi_encoder_open(struct mrs_mem *mem, const struct mrsi_encoder_to *to, struct mrsi_encoder **out,
                                  struct mrs_err *e);
/* A failure may concern bytes of an earlier call; after it only close is allowed. */
enum mrs_status mrsi_encoder_write(struct mrsi_encoder *c, const void *p, size_t n, struct mrs_err *e);
/* Writes everything to the file. */
enum mrs_status mrsi_encoder_finish(struct mrsi_encoder *c, struct mrs_err *e);
void mrsi_encoder_close(struct mrsi_encoder *c); /* NULL: no effect; allowed while threads work */

/* Saves the state of an encoder: all input is either within the file's first file_bytes bytes, counted from its
 * beginning, or appended to pending (less than MRSI_PIECE bytes; nothing for plain files). The encoder continues. */
enum mrs_status mrsi_encoder_mark(struct mrsi_encoder *c, uint64_t *file_bytes, struct mrs_buf *pending,
                                  struct mrs_err *e);
/* Opens an encoder that continues from such a state: truncates the file after the encoder's bytes; nothing else follows
 * them. The complete file has the bytes of an uninterrupted run. A shorter file: MRS_E_IO. */
struct mrsi_encoder_mark {
    uint64_t file_bytes;
    const void *pending;
    size_t pending_n;
    uint64_t base; /* bytes of the file before the encoder's first */
};
enum mrs_status mrsi_encoder_resume(struct mrs_mem *mem, const struct mrsi_encoder_to *to,
                                    const struct mrsi_encoder_mark *saved, struct mrsi_encoder **out,
                                    struct mrs_err *e);
#endif

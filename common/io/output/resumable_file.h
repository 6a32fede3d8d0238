/* SPDX-License-Identifier: Apache-2.0 */
/* resumable_file.h - an output file that takes long to write: saves its state for a savepoint, and resumes in another
 * run. */
#ifndef MRSI_IO_RESUMABLE_FILE_H
#define MRSI_IO_RESUMABLE_FILE_H

#include "io/codec/encoder.h"
#include "io/input/input.h"

struct mrsi_resumable {
    const struct mrs_pause *pause;
    struct mrs_buf *words;    /* receives a document while work is paused; NULL: it can only be stopped */
    const char *path;         /* of the file, below the partial folder */
    const char *name;         /* of the record that is copied; NULL: all is packed */
    bool extra;
    int fd;
    struct mrsi_encoder *enc; /* NULL: bytes are written to fd directly */
    uint64_t base;            /* file offset of the encoder's first byte */
    void (*add_fields)(void *arg, struct mrs_build *b); /* adds fields of the writer; see mrsi_resumable_writer */
    void *arg;
    struct mrs_view from;     /* the saved document of the stopped run; empty: none */
};
/* A possible pause, after `bytes` more bytes of input; the saved document covers all bytes written so far. h NULL: no
 * effect. */
enum mrs_status mrsi_resumable_rest(struct mrsi_resumable *h, uint64_t bytes, struct mrs_err *e);
/* Sets the writer's callback. arg is often a local variable of the writer, which therefore resets both to NULL before
 * it returns. h may be NULL. */
static inline void
mrsi_resumable_writer(struct mrsi_resumable *h, void (*add_fields)(void *arg, struct mrs_build *b), void *arg)
{
    if (h) {
        h->add_fields = add_fields;
        h->arg = arg;
    }
}
static inline bool
mrsi_resumable_is_resumed(const struct mrsi_resumable *h)
{
    return h && h->from.n > MRS_DOC_MIN;
}
/* As mrsi_encoder_open, continuing from the saved state if there is one; h may be NULL. enc becomes its encoder. */
enum mrs_status mrsi_resumable_encoder(struct mrs_mem *mem, struct mrsi_resumable *h, const struct mrsi_encoder_to *to,
                                       struct mrsi_encoder **enc, struct mrs_err *e);
/* As mrsi_copy_span, with pauses; *done is increased. */
enum mrs_status mrsi_resumable_span(struct mrsi_resumable *h, const struct mrsi_file_span *from, uint64_t *done, int to,
                                    const char *to_name, struct mrs_err *e);
enum mrs_status mrsi_resumable_damaged(const struct mrsi_resumable *h, struct mrs_err *e);

/* Fields of a saved document; a missing one, or one of another type, is 0 or NULL. */
uint64_t mrsi_saved_number(struct mrs_view d, const char *name);
const char *mrsi_saved_text(struct mrs_view d, const char *name);
#endif

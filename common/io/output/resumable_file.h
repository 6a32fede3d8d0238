/* SPDX-License-Identifier: Apache-2.0 */
/* resumable_file.h - an output file that takes long to write: saves its state for a savepoint, and resumes in another
 * run. */
#ifndef MRSI_IO_RESUMABLE_FILE_H
#define MRSI_IO_RESUMABLE_FILE_H

#include "io/codec/encoder.h"
#include "io/input/input.h"

struct mrsi_resumable {
    const struct mrs_pause *pause;
    struct mrs_buf *words;    /* a document while work is paused; NULL: it can only be stopped */
    const char *path;         /* of the file, below the partial folder */
    const char *name;         /* of the record that is copied; NULL: everything is packed */
    bool extra;
    int fd;
    struct mrsi_encoder *enc; /* NULL: bytes go to fd themselves */
    uint64_t base;            /* of the file's bytes: before the encoder's first */
    void (*tell)(void *arg, struct mrs_build *b); /* fields of the writer; see mrsi_resumable_writer */
    void *arg;
    struct mrs_view from;     /* the words of the stopped run; empty: it begins */
};
/* A place to rest, behind so many bytes more of what is read; all that was written so far is in the words. h NULL:
 * none. */
enum mrs_status mrsi_resumable_rest(struct mrsi_resumable *h, uint64_t bytes, struct mrs_err *e);
/* Names the writer. arg is often a local of its, so before it returns it takes that back with NULL, NULL. h may be
 * NULL. */
static inline void
mrsi_resumable_writer(struct mrsi_resumable *h, void (*tell)(void *arg, struct mrs_build *b), void *arg)
{
    if (h) {
        h->tell = tell;
        h->arg = arg;
    }
}
static inline bool
mrsi_resumable_goes_on(const struct mrsi_resumable *h)
{
    return h && h->from.n > MRS_DOC_MIN;
}
/* As mrsi_encoder_open, from the words on where there are any; h may be NULL. enc becomes its encoder. */
enum mrs_status mrsi_resumable_encoder(struct mrs_mem *mem, struct mrsi_resumable *h, const struct mrsi_encoder_to *to,
                                       struct mrsi_encoder **enc, struct mrs_err *e);
/* As mrsi_copy_span, with rests; *done counts on. */
enum mrs_status mrsi_resumable_span(struct mrsi_resumable *h, const struct mrsi_file_span *from, uint64_t *done, int to,
                                    const char *to_name, struct mrs_err *e);
enum mrs_status mrsi_resumable_damaged(const struct mrsi_resumable *h, struct mrs_err *e);

/* Fields of words; what is not there, or of another type, is 0 or NULL. */
uint64_t mrsi_saved_number(struct mrs_view d, const char *name);
const char *mrsi_saved_text(struct mrs_view d, const char *name);
#endif

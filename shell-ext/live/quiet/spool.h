/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - stores bytes in unlinked files: as a sequence, or distributed over parts. spool.c. */
#ifndef LIVE_SPOOL_H
#define LIVE_SPOOL_H

#include "live/job_context.h"

struct live_spool { /* bytes appended, then read from the start any number of times */
    struct mrs_mem *mem;
    int fd;
    uint64_t bytes;
    struct mrs_buf pend; /* not written yet */
};
/* dir: as for mrs_temp_open. close may be called after a failure, and twice. */
enum mrs_status live_spool_open(struct live_spool *s, struct mrs_mem *mem, const char *dir, struct mrs_err *e);
enum mrs_status live_spool_put(struct live_spool *s, const void *p, size_t n, struct mrs_err *e);
enum mrs_status live_spool_end(struct live_spool *s, struct mrs_err *e); /* end of writing: may be read now */
void live_spool_close(struct live_spool *s);

struct live_part {
    uint64_t bytes, docs;
    struct mrs_buf blocks; /* uint64_t: numbers of its blocks in the file */
};
struct live_split { /* complete documents distributed over n parts, in one file of blocks, in bounded memory */
    struct mrs_mem *mem;
    int fd;
    uint32_t n;
    size_t block;
    uint64_t next;         /* number of the next free block */
    struct live_part *part;
    uint8_t *room;         /* n blocks being filled; NULL after the end */
    size_t *fill;
};
/* memory: maximum for the blocks being filled (4 to 64 KiB each). */
enum mrs_status live_split_open(struct live_split *s, struct mrs_mem *mem, const char *dir, uint32_t n,
                                uint64_t memory, struct mrs_err *e);
enum mrs_status live_split_put(struct live_split *s, uint32_t part, struct mrs_view doc, struct mrs_err *e);
enum mrs_status live_split_end(struct live_split *s, struct mrs_err *e);
void live_split_close(struct live_split *s);

struct live_stream { /* reads a spool, or a part of a split, from its start */
    const struct live_spool *spool;
    const struct live_split *split;
    uint32_t part;
    uint64_t at, end; /* bytes not yet in the window */
    struct mrs_buf win;
    size_t pos;
};
void live_stream_spool(struct live_stream *st, const struct live_spool *s);
void live_stream_part(struct live_stream *st, const struct live_split *s, uint32_t part);
/* The next n bytes at *p, consumed; they live until the next call. END: no bytes left; fewer than n: FAIL
 * MRS_E_FORMAT. */
enum mrs_status live_stream_take(struct live_stream *st, size_t n, const uint8_t **p, struct mrs_err *e);
/* The next document. OK, END, FAIL. */
enum mrs_status live_stream_doc(struct live_stream *st, struct mrs_view *doc, struct mrs_err *e);
void live_stream_close(struct live_stream *st);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - bytes set aside in unlinked files: one behind the other, or spread over parts. spool.c. */
#ifndef LIVE_SPOOL_H
#define LIVE_SPOOL_H

#include "live/job_context.h"

struct live_spool { /* bytes appended, then read from the start as often as wanted */
    struct mrs_mem *mem;
    int fd;
    uint64_t bytes;
    struct mrs_buf pend; /* not written yet */
};
/* dir: as mrs_temp_open. After a failure close may be called all the same; harmless twice. */
enum mrs_status live_spool_open(struct live_spool *s, struct mrs_mem *mem, const char *dir, struct mrs_err *e);
enum mrs_status live_spool_put(struct live_spool *s, const void *p, size_t n, struct mrs_err *e);
enum mrs_status live_spool_end(struct live_spool *s, struct mrs_err *e); /* all written: may be read now */
void live_spool_close(struct live_spool *s);

struct live_part {
    uint64_t bytes, docs;
    struct mrs_buf blocks; /* uint64_t: numbers of its blocks in the file */
};
struct live_split { /* whole documents spread over n parts, in one file of blocks, in bounded memory */
    struct mrs_mem *mem;
    int fd;
    uint32_t n;
    size_t block;
    uint64_t next;         /* number of the next free block */
    struct live_part *part;
    uint8_t *room;         /* n blocks being filled; NULL once ended */
    size_t *fill;
};
/* memory: most bytes of the blocks being filled (each has 4 KiB at least, 64 KiB at most). */
enum mrs_status live_split_open(struct live_split *s, struct mrs_mem *mem, const char *dir, uint32_t n,
                                uint64_t memory, struct mrs_err *e);
enum mrs_status live_split_put(struct live_split *s, uint32_t part, struct mrs_view doc, struct mrs_err *e);
enum mrs_status live_split_end(struct live_split *s, struct mrs_err *e);
void live_split_close(struct live_split *s);

struct live_stream { /* reading a spool, or a part of a split, from its start */
    const struct live_spool *spool;
    const struct live_split *split;
    uint32_t part;
    uint64_t at, end; /* bytes that the window does not hold yet */
    struct mrs_buf win;
    size_t pos;
};
void live_stream_spool(struct live_stream *st, const struct live_spool *s);
void live_stream_part(struct live_stream *st, const struct live_split *s, uint32_t part);
/* The next n bytes at *p, passed over; they live until the next call. END: there are none at all; fewer than n: FAIL
 * MRS_E_FORMAT. */
enum mrs_status live_stream_take(struct live_stream *st, size_t n, const uint8_t **p, struct mrs_err *e);
/* The next document. OK, END, FAIL. */
enum mrs_status live_stream_doc(struct live_stream *st, struct mrs_view *doc, struct mrs_err *e);
void live_stream_close(struct live_stream *st);

#endif

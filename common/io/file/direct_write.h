/* SPDX-License-Identifier: Apache-2.0 */
/* direct_write.h - writes the end of a large file past the page cache, on a separate thread.
 *
 * One owner at a time; only the writer uses the file between begin and end. */
#ifndef MRSI_IO_DIRECT_WRITE_H
#define MRSI_IO_DIRECT_WRITE_H

#include "file.h"

struct mrsi_direct;
/* fd is open for reading and writing, and the file has `bytes` bytes; writing continues at its end. NULL: no gain on
 * this file system, or no memory or thread: then write the file like any other. name: borrowed. */
struct mrsi_direct *mrsi_direct_begin(struct mrs_mem *mem, int fd, const char *name, uint64_t bytes);
/* A failure may concern bytes of an earlier call; after it only end is allowed. */
enum mrs_status mrsi_direct_write(struct mrsi_direct *d, const void *p, size_t n, struct mrs_err *e);
/* Writes all bytes passed so far; afterwards the file position is at the end. More may follow. */
enum mrs_status mrsi_direct_flush(struct mrsi_direct *d, struct mrs_err *e);
void mrsi_direct_end(struct mrsi_direct *d); /* bytes that were not flushed may be missing; NULL: no effect */
#endif

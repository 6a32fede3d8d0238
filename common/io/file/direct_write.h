/* SPDX-License-Identifier: Apache-2.0 */
/* direct_write.h - the end of a large file, written past the page cache by a thread of its own.
 *
 * One owner at a time; only the writer touches the file between begin and end. */
#ifndef MRSI_IO_DIRECT_WRITE_H
#define MRSI_IO_DIRECT_WRITE_H

#include "file.h"

struct mrsi_direct;
/* A file that is open for reading and writing and holds `bytes` bytes; writing continues at its end. NULL: the file
 * system gains nothing by it, or there is no memory or thread: then the file is written like any other. name:
 * borrowed. */
struct mrsi_direct *mrsi_direct_begin(struct mrs_mem *mem, int fd, const char *name, uint64_t bytes);
/* A failure may belong to bytes of an earlier call; after it only end is left to do. */
enum mrs_status mrsi_direct_write(struct mrsi_direct *d, const void *p, size_t n, struct mrs_err *e);
/* All that was handed in is in the file afterwards, which is at its end; more may follow. */
enum mrs_status mrsi_direct_flush(struct mrsi_direct *d, struct mrs_err *e);
void mrsi_direct_end(struct mrsi_direct *d); /* what was not flushed may be missing; NULL: nothing */
#endif

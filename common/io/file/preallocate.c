/* SPDX-License-Identifier: Apache-2.0 */
/* preallocate.c - preallocates files that grow to hundreds of megabytes.
 *
 * ext4 reserves written data block by block and allocates at writeback; in preallocated space both are already done:
 * this saves a twentieth of the processor time of a run that writes much, and a tenth of its time (Linux 6.18, two
 * processors). Other file systems preallocate by themselves (xfs), or lose by it (btrfs does not compress preallocated
 * space). On an almost full disk nothing is reserved: other files may need the space. Must not know what the files
 * are. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    FIRST = 16 << 20, /* file size from which space is reserved */
    AHEAD = 64 << 20,
    SPARE = 64 /* this multiple must be free */
};

static bool
helps(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && fs.f_type == EXT4_SUPER_MAGIC &&
           (uint64_t)fs.f_bavail / SPARE >= (uint64_t)AHEAD / (uint64_t)fs.f_bsize;
}

void
mrsi_preallocate_ahead(struct mrsi_growth *r, int fd, uint64_t bytes)
{
    MRS_ASSERT(fd >= 0);
    if (bytes < r->until) {
        return;
    }
    if (bytes < FIRST) {
        r->until = FIRST;
        return;
    }
    bool good = helps(fd);
    r->preallocated = r->preallocated || good; /* a part of it may be reserved even after a failure */
    good = good && fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)bytes, AHEAD) == 0;
    r->until = good ? bytes + AHEAD : UINT64_MAX;
}

enum mrs_status
mrsi_preallocate_end(const struct mrsi_growth *r, int fd, const char *name, uint64_t bytes, struct mrs_err *e)
{
    if (r->preallocated && ftruncate(fd, (off_t)bytes) < 0) {
        return mrs_err_sys(e, errno, "cutting %s", name);
    }
    return MRS_OK;
}

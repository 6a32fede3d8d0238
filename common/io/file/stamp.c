/* SPDX-License-Identifier: Apache-2.0 */
/* stamp.c - the identity of a file and its state: a replaced or changed file has another stamp. */
#include "file.h"

struct mrsi_stamp
mrsi_stamp_of(const struct stat *st)
{
    return (struct mrsi_stamp){.dev = (uint64_t)st->st_dev,
                               .inode = (uint64_t)st->st_ino,
                               .size = (uint64_t)st->st_size,
                               .changed = {(uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec},
                               .status = {(uint64_t)st->st_ctim.tv_sec, (uint64_t)st->st_ctim.tv_nsec},
                               .mode = (uint64_t)st->st_mode};
}

enum mrs_status
mrsi_stamp_compare(const char *name, const struct mrsi_stamp *was, const struct mrsi_stamp *is, struct mrs_err *e)
{
    MRS_ASSERT(name);
    if (was->dev != is->dev || was->inode != is->inode) {
        return MRSI_FAIL(e, MRS_E_CHANGED, "%s: another file has taken its place while it was read", name);
    }
    if (was->size != is->size) {
        return MRSI_FAIL(e, MRS_E_CHANGED, "%s: it had %llu bytes when reading began and has %llu now", name,
                         (unsigned long long)was->size, (unsigned long long)is->size);
    }
    return memcmp(was, is, sizeof *was) == 0
               ? MRS_OK
               : MRSI_FAIL(e, MRS_E_CHANGED, "%s: it was changed while it was read", name);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* pack_container.h - a folder of files into one tar or zip. */
#ifndef MRSI_IO_PACK_CONTAINER_H
#define MRSI_IO_PACK_CONTAINER_H

#include "resumable_file.h"

/* What is packed where. The same files give the same bytes: members are sorted by name, and times, owners and rights
 * are always the same. Members are called "dump/" and their path below root. */
struct mrsi_container_pack {
    struct mrs_mem *mem;
    const char *root;
    const char *const *skip; /* names directly in root that are left out */
    uint32_t n_skip;
    int fd; /* empty; of a zip: can be written to at any offset */
    const char *name;
    struct mrs_compress compress; /* a tar as a whole; the members of a zip, by gzip's deflate or not at all */
    struct mrsi_codec_pool *pool; /* NULL: none */
    struct mrsi_resumable *resumed; /* NULL: no resume; else of fd, which is where writing resumes */
};
enum mrs_status mrsi_pack_tar(const struct mrsi_container_pack *p, struct mrs_err *e);
enum mrs_status mrsi_pack_zip(const struct mrsi_container_pack *p, struct mrs_err *e);

/* The files below root, sorted. */
struct mrsi_packed_file {
    const char *name;
    const char *path;
    uint64_t bytes;
};
enum mrs_status mrsi_pack_list(const struct mrsi_container_pack *p, struct mrs_arena *a, struct mrsi_packed_file **out,
                               uint32_t *n, struct mrs_err *e);
/* What is read of a file at once; a multiple of the blocks of a tar. */
#define MRSI_PACK_ROOM (256u << 10)
/* The bytes of an open file from `at` on, at most MRSI_PACK_ROOM; `at` is before its end. FAIL MRS_E_IO: there are none
 * any more. */
enum mrs_status mrsi_pack_read(const struct mrsi_packed_file *f, int fd, uint64_t at, uint8_t *room, size_t *got,
                               struct mrs_err *e);
/* The file that a stopped run was at, and the bytes of it that were done. */
enum mrs_status mrsi_pack_begun(const struct mrsi_resumable *h, const struct mrsi_packed_file *files, uint32_t n,
                                uint32_t *i, uint64_t *at, struct mrs_err *e);
#endif

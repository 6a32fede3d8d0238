/* SPDX-License-Identifier: Apache-2.0 */
/* pack_container.h - packs a folder of files into one tar or zip. */
#ifndef MRSI_IO_PACK_CONTAINER_H
#define MRSI_IO_PACK_CONTAINER_H

#include "resumable_file.h"

/* Input and target of packing. The same files give the same bytes: members are sorted by name, and times, owners and
 * permissions are constant. Members are named "dump/" and their path below root. */
struct mrsi_container_pack {
    struct mrs_mem *mem;
    const char *root;
    const char *const *skip; /* names directly in root to exclude */
    uint32_t n_skip;
    int fd; /* empty; of a zip: can be written to at any offset */
    const char *name;
    struct mrs_compress compress; /* of the whole tar; of the members of a zip, by gzip's deflate or none */
    struct mrsi_codec_pool *pool; /* NULL: none */
    struct mrsi_resumable *resumed; /* NULL: no resume; else of fd, which is at the offset where writing resumes */
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
/* Bytes of a file per read; a multiple of the blocks of a tar. */
#define MRSI_PACK_ROOM (256u << 10)
/* Reads an open file from `at` on, at most MRSI_PACK_ROOM bytes; `at` is before its end. FAIL MRS_E_IO: it became
 * shorter. */
enum mrs_status mrsi_pack_read(const struct mrsi_packed_file *f, int fd, uint64_t at, uint8_t *room, size_t *got,
                               struct mrs_err *e);
/* The file that the stopped run was packing, and its bytes already packed. */
enum mrs_status mrsi_pack_begun(const struct mrsi_resumable *h, const struct mrsi_packed_file *files, uint32_t n,
                                uint32_t *i, uint64_t *at, struct mrs_err *e);
#endif

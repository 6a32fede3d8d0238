/* SPDX-License-Identifier: Apache-2.0 */
/* container.h - a dump packed as tar, zip, 7z or cpio: how it is recognised, its members, and reading them. */
#ifndef MRSI_IO_CONTAINER_H
#define MRSI_IO_CONTAINER_H

#include "dumpdir.h"

/* ---- container.c ---- */
#define MRSI_PACKING_HEAD 512u /* bytes that tell */
enum mrsi_packing {
    MRSI_PACKING_NONE,
    MRSI_PACKING_TAR,
    MRSI_PACKING_ZIP,
    MRSI_PACKING_OTHER, /* 7z, cpio */
    MRSI_PACKING_STREAM /* xz, bzip2, lz4, lzip: around anything */
};
/* What begins with these bytes, n up to MRSI_PACKING_HEAD. No document has such a beginning. */
enum mrsi_packing mrsi_container_packing(const uint8_t *head, size_t n);
/* Fills the input with the dump in a container; `from` is a regular file, its codec as sniffed, and is taken over, also
 * on failure. What cannot be read in place is unpacked into one unlinked file in tmp. */
enum mrs_status mrsi_container_open(struct mrs_input *in, const struct mrsi_source_from *from, const char *tmp,
                                    struct mrs_err *e);

/* ---- container_zip.c ---- */
/* Whether a zip is at the end of the file, behind other bytes (a self-extracting program). Then from->start and
 * from->bytes are those of the zip, unless its offsets count the other bytes too. */
bool mrsi_zip_behind(struct mrs_mem *mem, struct mrsi_source_from *from);
/* FAIL MRS_E_FORMAT where a zip's directory and what comes before the data differ in a name. */
enum mrs_status mrsi_zip_check(struct mrs_mem *mem, const struct mrsi_source_from *from, struct mrs_err *e);

/* ---- container_cpio.c ---- */
/* FAIL MRS_E_FORMAT where the headers of a cpio do not follow each other, or one says an impossible length. */
enum mrs_status mrsi_cpio_check(const struct mrsi_source_from *from, const struct mrs_pause *pause, struct mrs_err *e);

/* ---- container_decode.c ---- */
/* An unlinked file that fills up: its end, and how much of the file system it may take. */
struct mrsi_heap {
    int fd;
    uint64_t bytes;
    uint64_t spare; /* left free in any case */
    uint64_t asked; /* up to where there was space at the last check */
    const struct mrs_pause *pause;
};
struct mrsi_spot { /* where it is made, and who waits for it */
    const char *tmp;
    const struct mrs_pause *pause;
};
enum mrs_status mrsi_heap_open(const struct mrsi_spot *spot, struct mrsi_heap *out, struct mrs_err *e);
/* Room for n more bytes than now? what: names the bytes. FAIL MRS_E_LIMIT. */
enum mrs_status mrsi_heap_room(struct mrsi_heap *h, uint64_t n, const char *what, struct mrs_err *e);
/* The uncompressed stream, whatever it is packed with (gzip and zstd as the codec of `from` says, else xz, bzip2, lz4
 * or lzip), in an unlinked file. `from` is left open. */
enum mrs_status mrsi_container_decode(struct mrs_mem *mem, const struct mrsi_source_from *from,
                                      const struct mrsi_spot *spot, int *fd, uint64_t *bytes, struct mrs_err *e);
/* opened.c: the same of an opened input, which is examined again then. */
enum mrs_status mrsi_opened_decode(struct mrsi_opened *o, const char *tmp, struct mrs_err *e);
/* The file as libarchive reads it. */
struct archive;
struct mrsi_feed {
    const struct mrsi_source_from *from; /* a regular file, from->bytes known */
    uint64_t at;
    uint8_t *room;
    struct mrs_err err; /* of the system, where reading failed */
};
enum mrs_status mrsi_feed_open(struct mrs_mem *mem, const struct mrsi_source_from *from, struct mrsi_feed *out,
                               struct mrs_err *e);
/* Ready to read with the formats and filters that were added; ARCHIVE_OK or its code. */
int mrsi_feed_start(struct mrsi_feed *f, struct archive *a);
/* What libarchive says about member `what` near byte `off`, as an error of ours. */
enum mrs_status mrsi_feed_failed(struct mrsi_feed *f, struct archive *a, const char *what, uint64_t off,
                                 struct mrs_err *e);

/* ---- container_member.c ---- */
#define MRSI_MEMBERS_MAX 1000000u
#define MRSI_MEMBER_NAMES_MAX (256u << 20) /* bytes of all names */
struct mrsi_container_member {
    const char *path;  /* in the dump, once its root is known; before: in the container */
    const char *given; /* in the container, for messages */
    uint64_t off;      /* of its header */
    bool folder;
    struct mrsi_src_extents place;
    struct mrsi_src_extent extent;
};
struct mrsi_members {
    struct mrsi_folder_lister offsets;
    struct mrs_input *in;
    const char *container; /* its name */
    struct mrsi_container_member *at;
    uint32_t n, cap;
    uint64_t names;
};
/* A name as a path without `.` and doubled slashes, in room; NULL, or why such a member is refused. */
const char *mrsi_member_path(const char *name, char room[4096]);
/* Appends one; path is copied. */
enum mrs_status mrsi_members_add(struct mrsi_members *m, const char *path, const struct mrsi_container_member *what,
                                 struct mrs_err *e);
/* Finds the dump among the members and fills the input with it. */
enum mrs_status mrsi_members_take(struct mrsi_members *m, struct mrs_err *e);
#endif

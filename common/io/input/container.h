/* SPDX-License-Identifier: Apache-2.0 */
/* container.h - a dump packed as tar, zip, 7z or cpio: detection, members, reading. */
#ifndef MRSI_IO_CONTAINER_H
#define MRSI_IO_CONTAINER_H

#include "dumpdir.h"

/* ---- container.c ---- */
#define MRSI_PACKING_HEAD 512u /* bytes needed for detection */
enum mrsi_packing {
    MRSI_PACKING_NONE,
    MRSI_PACKING_TAR,
    MRSI_PACKING_ZIP,
    MRSI_PACKING_OTHER, /* 7z, cpio */
    MRSI_PACKING_STREAM /* xz, bzip2, lz4, lzip: around anything */
};
/* The format that begins with these bytes, n up to MRSI_PACKING_HEAD. No document begins like this. */
enum mrsi_packing mrsi_container_packing(const uint8_t *head, size_t n);
/* Fills the input with the dump in a container. `from` is a regular file, its codec detected; takes ownership of it,
 * also on failure. Members that cannot be read in place are unpacked into one unlinked file in tmp. */
enum mrs_status mrsi_container_open(struct mrs_input *in, const struct mrsi_source_from *from, const char *tmp,
                                    struct mrs_err *e);

/* ---- container_zip.c ---- */
/* Whether a zip is at the end of the file, after other bytes (a self-extracting program). Then from->start and
 * from->bytes become those of the zip, unless its offsets include the other bytes. */
bool mrsi_zip_behind(struct mrs_mem *mem, struct mrsi_source_from *from);
/* FAIL MRS_E_FORMAT: a name in the directory of a zip differs from the one before the data. */
enum mrs_status mrsi_zip_check(struct mrs_mem *mem, const struct mrsi_source_from *from, struct mrs_err *e);

/* ---- container_cpio.c ---- */
/* FAIL MRS_E_FORMAT: the headers of a cpio are not consecutive, or one has an impossible length. */
enum mrs_status mrsi_cpio_check(const struct mrsi_source_from *from, const struct mrs_pause *pause, struct mrs_err *e);

/* ---- container_decode.c ---- */
/* A growing unlinked file: its end, and its limit on the file system. */
struct mrsi_heap {
    int fd;
    uint64_t bytes;
    uint64_t spare;   /* bytes that must stay free */
    uint64_t checked; /* file size that was covered by the last space check */
    const struct mrs_pause *pause;
};
struct mrsi_spot { /* the folder of a temporary file, and the caller's pause */
    const char *tmp;
    const struct mrs_pause *pause;
};
enum mrs_status mrsi_heap_open(const struct mrsi_spot *spot, struct mrsi_heap *out, struct mrs_err *e);
/* Checks space for n more bytes. what: name of the bytes. FAIL MRS_E_LIMIT. */
enum mrs_status mrsi_heap_room(struct mrsi_heap *h, uint64_t n, const char *what, struct mrs_err *e);
/* Writes the uncompressed stream, with any compression (gzip and zstd as the codec of `from` says, else xz, bzip2, lz4
 * or lzip), to an unlinked file. Does not close `from`. */
enum mrs_status mrsi_container_decode(struct mrs_mem *mem, const struct mrsi_source_from *from,
                                      const struct mrsi_spot *spot, int *fd, uint64_t *bytes, struct mrs_err *e);
/* opened.c: mrsi_container_decode for an opened input, which is then detected again. */
enum mrs_status mrsi_opened_decode(struct mrsi_opened *o, const char *tmp, struct mrs_err *e);
/* The input file of libarchive. */
struct archive;
struct mrsi_feed {
    const struct mrsi_source_from *from; /* a regular file, from->bytes known */
    uint64_t at;
    uint8_t *room;
    struct mrs_err err; /* of the system, if reading failed */
};
enum mrs_status mrsi_feed_open(struct mrs_mem *mem, const struct mrsi_source_from *from, struct mrsi_feed *out,
                               struct mrs_err *e);
/* Starts reading with the formats and filters that were added; ARCHIVE_OK or its code. */
int mrsi_feed_start(struct mrsi_feed *f, struct archive *a);
/* Converts libarchive's error about member `what` near byte `off`. */
enum mrs_status mrsi_feed_failed(struct mrsi_feed *f, struct archive *a, const char *what, uint64_t off,
                                 struct mrs_err *e);

/* ---- container_member.c ---- */
#define MRSI_MEMBERS_MAX 1000000u
#define MRSI_MEMBER_NAMES_MAX (256u << 20) /* total bytes of names */
struct mrsi_container_member {
    const char *path;        /* in the dump, once its root is known; before that in the container */
    const char *member_path; /* in the container, for messages */
    uint64_t off;            /* of its header */
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
/* Normalizes a name to a path without `.` and double slashes, in room; NULL, or why such a member is refused. */
const char *mrsi_member_path(const char *name, char room[4096]);
/* Appends a member; copies path. */
enum mrs_status mrsi_members_add(struct mrsi_members *m, const char *path, const struct mrsi_container_member *what,
                                 struct mrs_err *e);
/* Finds the dump among the members and fills the input with it. */
enum mrs_status mrsi_members_take(struct mrsi_members *m, struct mrs_err *e);
#endif

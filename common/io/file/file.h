/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - files of the operating system: opening, reading, writing, folders, names of files in a dump. */
#ifndef MRSI_IO_FILE_H
#define MRSI_IO_FILE_H

#include "mongoreshape/io.h"
#include <sys/stat.h>
#include <sys/types.h>

#define MRSI_BLOCK_BYTES (1u << 20) /* default block size of a reader */
#define MRSI_BLOCK_MIN 256u          /* minimum block size: tests use small ones */
#define MRSI_IN_CHUNK (128u << 10)  /* compressed bytes read at a time */
#define MRSI_SINK_BUFFER (256u << 10)
#define MRSI_STEM_MAX 238u /* longest escaped collection name in a file name */

/* Reports and returns FAIL in one expression. */
#define MRSI_FAIL(e, code, ...) mrs_err_set(e, MRS_FAIL, code, __VA_ARGS__)
#define MRSI_MARKER "mongoreshape.partial"
#define MRSI_MANIFEST "mongoreshape.manifest.json"

/* ---- file.c ---- */
/* printf into a new string from mem; NULL without memory. */
char *mrsi_format(struct mrs_mem *mem, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The part of a path after its last '/'. */
const char *mrsi_base_name(const char *path);
/* Opens for reading and returns its stat; a missing file is MRS_E_MISSING. */
enum mrs_status mrsi_open_read(const char *path, int *fd, struct stat *st, struct mrs_err *e);
/* mrsi_open_read for a regular file; anything else is MRS_E_FORMAT. st may be NULL. */
enum mrs_status mrsi_open_regular(const char *path, int *fd, struct stat *st, struct mrs_err *e);

/* ---- input_watch.c ---- */
/* Identity of a file (device, inode) and its state (size, times, mode); no padding, so memcmp compares two. */
struct mrsi_stamp {
    uint64_t dev, inode, size, changed[2], status[2], mode;
};
struct mrsi_stamp mrsi_stamp_of(const struct stat *st);
/* FAIL MRS_E_CHANGED if they differ, with the difference. */
enum mrs_status mrsi_stamp_compare(const char *name, const struct mrsi_stamp *was, const struct mrsi_stamp *is,
                                   struct mrs_err *e);

/* ---- file.c ---- */
/* Whether an existing file can be ours: regular, owned by this user, with one link. */
bool mrsi_is_own_file(const struct stat *st);
/* Up to n bytes at an offset; *got less than n at the end of the file only. */
enum mrs_status mrsi_pread_full(int fd, void *p, size_t n, uint64_t off, const char *name,
                                size_t *got, struct mrs_err *e);
struct mrsi_pipe_in {
    int fd;
    const char *name;
    const struct mrs_pause *pause; /* called while waiting for data; NULL: not called */
};
/* mrsi_pread_full from the current position of a pipe. */
enum mrs_status mrsi_read_pipe(const struct mrsi_pipe_in *pipe, void *p, size_t n, size_t *got, struct mrs_err *e);
enum mrs_status
mrsi_write_full(int fd, const void *p, size_t n, const char *name, struct mrs_err *e);
/* To be called after each write of n bytes at offset `before` (for a copy, also the offset in the source): asks the
 * system from time to time to start the writeback, so that the disk works in parallel and little is left for the sync.
 * Only a hint. */
void mrsi_write_behind(int fd, uint64_t before, uint64_t n);

/* ---- preallocate.c ---- */
struct mrsi_growth { /* all zeros: a new file */
    uint64_t until; /* file size at the next check */
    bool preallocated;
};
/* To be called from time to time while a file grows; `bytes` are written or will be at once. Reserves disk space after
 * them if that makes writes cheaper. Only a hint; does not change the file's length. */
void mrsi_preallocate_ahead(struct mrsi_growth *r, int fd, uint64_t bytes);
/* Releases the reserved space after the file's final length `bytes`. FAIL MRS_E_IO. */
enum mrs_status mrsi_preallocate_end(const struct mrsi_growth *r, int fd, const char *name, uint64_t bytes,
                                     struct mrs_err *e);

/* ---- file.c ---- */
enum mrs_status mrsi_sync_fd(int fd, const char *name, struct mrs_err *e);
/* Syncs the entries of a folder; and of the folder that contains path. */
enum mrs_status mrsi_sync_dir(const char *path, struct mrs_err *e);
enum mrs_status mrsi_sync_parent(const char *path, struct mrs_err *e);
/* Creates a file that must not exist, with at most these permissions. */
enum mrs_status mrsi_create(const char *path, mode_t mode, int *fd, struct mrs_err *e);
/* As mrs_file_write, with other permissions. */
enum mrs_status mrsi_file_write(const char *path, mode_t mode, const void *p, size_t n, struct mrs_err *e);
/* Truncates a file of a stopped run to n bytes and seeks to its end; a shorter file: MRS_E_IO. */
enum mrs_status mrsi_cut_file(int fd, const char *name, uint64_t n, struct mrs_err *e);
/* Copies n bytes already read from a pipe, and then all its further bytes, to an unlinked file. */
struct mrsi_pipe_from {
    struct mrsi_pipe_in pipe;
    const uint8_t *head;
    size_t n;
};
enum mrs_status
mrsi_spool(const struct mrsi_pipe_from *from, const char *dir, int *spool, uint64_t *bytes, struct mrs_err *e);
/* Appends bytes [off, off + n) of a file to another file; a shorter file: MRS_E_IO. */
struct mrsi_file_span {
    int fd;
    uint64_t off, n;
    const char *name;
};
enum mrs_status
mrsi_copy_span(const struct mrsi_file_span *from, int to, const char *to_name, struct mrs_err *e);
/* reports that a file is shorter than before */
enum mrs_status mrsi_became_shorter(const char *name, struct mrs_err *e);
/* A point at which the caller may stop the work; bytes: processed since the last call. p NULL: it cannot be stopped. */
enum mrs_status mrsi_pause(const struct mrs_pause *p, uint64_t bytes, struct mrs_err *e);

/* ---- file_place.c ---- */
/* Opens a stream (mrs_file_is_stream) for writing; the caller closes it. */
enum mrs_status mrsi_open_stream(const char *path, int *fd, struct mrs_err *e);

/* ---- folders.c ---- */
/* Removes a folder and all its contents; removes soft links, does not follow them. A missing folder is no error. */
enum mrs_status mrsi_remove_tree(const char *path, struct mrs_err *e);
/* All names in a folder but "." and "..", sorted by bytes, in the arena. */
enum mrs_status mrsi_list_dir(struct mrs_arena *a, const char *path, const char ***names,
                              uint32_t *n, struct mrs_err *e);
/* OK only if everything below path could be part of a dump: the guard of force. */
enum mrs_status mrsi_is_dump(struct mrs_mem *mem, const char *path, struct mrs_err *e);

/* ---- names.c ---- */
enum mrsi_file_kind { MRSI_FILE_OTHER, MRSI_FILE_DATA, MRSI_FILE_META };
struct mrsi_file_name {
    enum mrsi_file_kind kind;
    size_t stem_n;  /* bytes before .bson, .bin or .metadata.json */
    size_t plain_n; /* bytes before .gz or .zst */
};
struct mrsi_file_name mrsi_file_name(const char *name);
/* The stem of a collection's files, at most MRSI_STEM_MAX bytes and a NUL; returns its length. */
size_t mrsi_name_escape(const char *coll, size_t n, char stem[MRSI_STEM_MAX + 1]);
/* True for a stem that replaces an over-long name; only the metadata file has the full name. */
bool mrsi_name_is_cut(const char *stem, size_t n);
/* The collection's name, in the arena. FAIL MRS_E_FORMAT; the message does not name the file. */
enum mrs_status mrsi_name_unescape(struct mrs_arena *a, const char *stem, size_t n,
                                   const char **coll, struct mrs_err *e);
void mrsi_sha1(const void *p, size_t n, uint8_t out[20]);

/* ---- folders.c, and other sources of files ---- */
struct mrsi_src_extents;
/* A file or a folder. */
struct mrsi_item {
    const char *name;               /* the last part of its path */
    const char *path;               /* to open it, or only for messages if there is a place */
    const struct mrsi_src_extents *place; /* NULL: a file of that path */
    uint64_t bytes;                 /* size of a file */
    bool folder;
    struct mrsi_stamp stamp; /* of a file of the file system */
    uint32_t from, to, skip; /* a container's folder: its members, and the length of their common path */
};
struct mrsi_items {
    struct mrsi_item *at;
    uint32_t n;
};
/* Lists folders. Items are sorted by the bytes of their names and live in the arena; anything but a file or folder is
 * FAIL MRS_E_FORMAT. */
struct mrsi_folder_lister {
    enum mrs_status (*list)(const struct mrsi_folder_lister *self, struct mrs_arena *a, const struct mrsi_item *folder,
                            struct mrsi_items *out, struct mrs_err *e);
};
/* folders.c: the file system. Does not follow symbolic links: in a foreign dump they could refer to any file of the
 * user. */
extern const struct mrsi_folder_lister mrsi_doc_offsets_files;
/* "a/b" in the arena; NULL without memory. */
char *mrsi_arena_join(struct mrs_arena *a, const char *p, const char *q);

/* ---- crc64.c ---- */
uint64_t mrsi_crc64(uint64_t crc, const void *p, size_t n); /* crc: 0, or the result for the bytes before */
#endif

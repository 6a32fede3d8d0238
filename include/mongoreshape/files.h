/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - temporary files, atomically written files, and bytes compressed against a prefix. */
#ifndef MONGORESHAPE_FILES_H
#define MONGORESHAPE_FILES_H

#include "mongoreshape/formats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- temporary files ---- */
/* An unlinked file in dir (NULL: $TMPDIR, else /tmp). */
enum mrs_status mrs_temp_open(const char *dir, int *fd, struct mrs_err *e);
/* All n bytes or an error: short writes and EINTR are retried. */
enum mrs_status mrs_write_at(int fd, const void *p, size_t n, uint64_t off, struct mrs_err *e);
/* Reads n bytes; if the file ends before them: FAIL MRS_E_IO. */
enum mrs_status mrs_read_at(int fd, void *p, size_t n, uint64_t off, struct mrs_err *e);
/* Reads a whole file, with a NUL after its n bytes; over ceiling: MRS_E_LIMIT; no file or a folder: MRS_E_MISSING. */
enum mrs_status mrs_file_read(struct mrs_mem *mem, const char *path, size_t ceiling, char **text,
                              size_t *n, struct mrs_err *e);

/* A file written in pieces, readable by its owner alone, that appears only when complete: it is written next to its
 * place until close with publish, which syncs and renames it (an old one is replaced). Closed without publish, it
 * leaves nothing; only a stream (mrs_file_is_stream) keeps the bytes written so far. w may be NULL in close. */
struct mrs_atomic_file;
enum mrs_status mrs_atomic_file_open(struct mrs_mem *mem, const char *path,
                                     struct mrs_atomic_file **out, struct mrs_err *e);
/* mrs_atomic_file_open for a file that a process with this id, also the caller itself, may have left unfinished: its
 * bytes up to the first difference are read and kept, not written again. FAIL MRS_E_FORMAT: a file of this name is not
 * ours. */
enum mrs_status mrs_atomic_file_take_up(struct mrs_mem *mem, const char *path, uint64_t id,
                                        struct mrs_atomic_file **out, struct mrs_err *e);
/* Closes it unfinished, for a later take_up; NULL: no effect. */
void mrs_atomic_file_leave(struct mrs_atomic_file *w);
enum mrs_status mrs_atomic_file_put(struct mrs_atomic_file *w, const void *p, size_t n, struct mrs_err *e);
enum mrs_status mrs_atomic_file_close(struct mrs_atomic_file *w, bool publish, struct mrs_err *e);

/* Compresses bytes against a prefix that the reader also has; appends one frame to out. Unpack: returns n bytes, else
 * MRS_E_FORMAT. */
struct mrs_delta {
    const void *prefix;
    size_t prefix_n;
    const void *p; /* the bytes to pack, or the frame */
    size_t n;
};
enum mrs_status mrs_delta_pack(struct mrs_mem *mem, const struct mrs_delta *d, struct mrs_buf *out, struct mrs_err *e);
enum mrs_status mrs_delta_unpack(struct mrs_mem *mem, const struct mrs_delta *d, size_t n, struct mrs_buf *out,
                                 struct mrs_err *e);

/* ---- the file that a written file replaces ---- */
struct mrs_replace {
    const char *option;   /* the option for the file on the command line, as "--refused" */
    const char *unlike;   /* how messages describe any other file: "no page of mongoreshape" */
    bool force, no_force; /* any regular file may be replaced; the command has no --force */
    bool any_folder;      /* another check covers the existence of its folder */
    /* *ours: mongoreshape wrote the file and it was not changed since, so that it may be replaced. NULL: never */
    enum mrs_status (*is_ours)(void *arg, const char *path, bool *ours, struct mrs_err *e);
    void *arg;
    /* the same for a text of up to `most` bytes, which is read */
    bool (*text_is_ours)(struct mrs_mem *mem, const char *text, size_t n);
    struct mrs_mem *mem;
    size_t most;
};
/* Checks whether a file of this name may be written. FAIL MRS_E_EXISTS: an existing file must not be replaced. FAIL
 * MRS_E_MISSING: the folder does not exist. Streams, empty files and unused names are accepted. */
enum mrs_status mrs_file_may_be(const char *path, const struct mrs_replace *how, struct mrs_err *e);
/* Whether a path is written in place and never replaced or removed: a device, a pipe, a descriptor of this process
 * (/dev/stdout, /dev/fd/3), whatever it refers to. */
bool mrs_file_is_stream(const char *path);

/* Writes a file atomically, readable by its owner alone: next to its place, synced, renamed; or a stream. */
enum mrs_status mrs_file_write(const char *path, const void *p, size_t n, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif

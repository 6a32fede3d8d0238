/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - temporary files, whole files, and bytes packed against others. */
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
/* The same; the end of the file inside is FAIL MRS_E_IO. */
enum mrs_status mrs_read_at(int fd, void *p, size_t n, uint64_t off, struct mrs_err *e);
/* A whole file, NUL-ended behind its n bytes; ceiling: MRS_E_LIMIT. */
enum mrs_status mrs_file_read(struct mrs_mem *mem, const char *path, size_t ceiling, char **text,
                              size_t *n, struct mrs_err *e);

/* A file written piece by piece, for its owner alone, that appears whole: beside its place until close with publish,
 * then synced and renamed (an old one is replaced). Closed without publish it never was; only a stream
 * (mrs_file_is_stream) has what was put by then. w may be NULL in close. */
struct mrs_atomic_file;
enum mrs_status mrs_atomic_file_open(struct mrs_mem *mem, const char *path,
                                     struct mrs_atomic_file **out, struct mrs_err *e);
/* The same for a file that a process of this id may have left unfinished, the caller's own included: what of that is
 * as it is put now is read only, not written again. FAIL MRS_E_FORMAT: what has its name is nothing of ours. */
enum mrs_status mrs_atomic_file_take_up(struct mrs_mem *mem, const char *path, uint64_t id,
                                        struct mrs_atomic_file **out, struct mrs_err *e);
/* Closed unfinished, for who takes it up; NULL: nothing. */
void mrs_atomic_file_leave(struct mrs_atomic_file *w);
enum mrs_status mrs_atomic_file_put(struct mrs_atomic_file *w, const void *p, size_t n, struct mrs_err *e);
enum mrs_status mrs_atomic_file_close(struct mrs_atomic_file *w, bool publish, struct mrs_err *e);

/* Bytes packed against a prefix that the reader has as well, as one frame appended to out. Unpack: n bytes come out,
 * else MRS_E_FORMAT. */
struct mrs_delta {
    const void *prefix;
    size_t prefix_n;
    const void *p; /* what is packed, or the frame */
    size_t n;
};
enum mrs_status mrs_delta_pack(struct mrs_mem *mem, const struct mrs_delta *d, struct mrs_buf *out, struct mrs_err *e);
enum mrs_status mrs_delta_unpack(struct mrs_mem *mem, const struct mrs_delta *d, size_t n, struct mrs_buf *out,
                                 struct mrs_err *e);

/* ---- what a file that is written takes the place of ---- */
struct mrs_replace {
    const char *option;   /* that names the file on the command line, as "--refused" */
    const char *unlike;   /* what another file there is not: "no page of mongoreshape" */
    bool force, no_force; /* any regular file may go; the command has no --force */
    bool any_folder;      /* whether its folder is there is asked elsewhere */
    /* *ours: mongoreshape wrote it and it was not changed, so that nothing is lost with it. NULL: it never did */
    enum mrs_status (*is_ours)(void *arg, const char *path, bool *ours, struct mrs_err *e);
    void *arg;
    /* the same of a text of up to `most` bytes, which is read */
    bool (*text_is_ours)(struct mrs_mem *mem, const char *text, size_t n);
    struct mrs_mem *mem;
    size_t most;
};
/* FAIL MRS_E_EXISTS: what has this name must not go. FAIL MRS_E_MISSING: there is no such folder. Streams, empty files
 * and unused names are fine. */
enum mrs_status mrs_file_may_be(const char *path, const struct mrs_replace *how, struct mrs_err *e);
/* A name of what is written into and never replaced or removed: a device, a pipe, a descriptor of this process
 * (/dev/stdout, /dev/fd/3), wherever that leads. */
bool mrs_file_is_stream(const char *path);

/* A file that appears whole, for its owner alone: written beside, synced, renamed; or a stream. */
enum mrs_status mrs_file_write(const char *path, const void *p, size_t n, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif

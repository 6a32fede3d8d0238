/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_file.c - a file written in pieces that appears only when it is complete.
 *
 * It is written next to its place under a temporary name. Publishing syncs it, renames it over the older file and syncs
 * the folder. Otherwise close removes it, so a reader never sees an incomplete file. The remains of a killed process
 * are kept up to the first block that differs from the new content, and truncated there. A stream (file_place.c) has no
 * temporary file: bytes are written to it at once. */
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define WHOLE_BUFFER (64u << 10)

struct mrs_atomic_file {
    struct mrs_mem *mem;
    char *path, *beside; /* the temporary name; NULL for a stream */
    int fd;
    uint64_t at;    /* bytes of the file that are final; */
    uint64_t there; /* its size, which is larger if another process left more */
    struct mrs_buf buf, old;
    bool failed; /* a piece is missing: never published */
};

static void
discard(struct mrs_atomic_file *w)
{
    if (w->fd >= 0) {
        close(w->fd);
    }
    mrs_buf_clear(&w->buf);
    mrs_buf_clear(&w->old);
    mrs_free(w->mem, w->path);
    mrs_free(w->mem, w->beside);
    mrs_free(w->mem, w);
}

/* Opens the file that a process left; fd stays -1 if there is none. */
static enum mrs_status
open_left(struct mrs_atomic_file *w, struct mrs_err *e)
{
    MRS_ASSERT(w->fd < 0);
    struct stat st;
    w->fd = open(w->beside, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (w->fd < 0 && errno == ENOENT) {
        return MRS_OK;
    }
    if (w->fd < 0 && errno != ELOOP) {
        return mrs_err_sys(e, errno, "open %s", w->beside);
    }
    if (w->fd < 0 || fstat(w->fd, &st) < 0 || !mrsi_is_own_file(&st)) {
        return MRSI_FAIL(e, MRS_E_FORMAT, "%s was not made by mongoreshape", w->beside);
    }
    w->there = (uint64_t)st.st_size;
    return MRS_OK;
}

static enum mrs_status
take_up(struct mrs_atomic_file *w, uint64_t id, struct mrs_err *e)
{
    w->beside = mrsi_format(w->mem, "%s.%llu.partial", w->path, (unsigned long long)id);
    MRS_TRY(mrs_allocated(w->beside, strlen(w->path), e));
    MRS_TRY(open_left(w, e));
    return w->fd < 0 ? mrsi_create(w->beside, 0600, &w->fd, e) : MRS_OK;
}

/* A killed process may have had our id, as in a container: the file that it left is passed over. */
static enum mrs_status
create_beside(struct mrs_atomic_file *w, struct mrs_err *e)
{
    enum { MOST = 100 };
    for (int i = 0;; i++) {
        mrs_free(w->mem, w->beside);
        w->beside = mrsi_format(w->mem, i ? "%s.%ld-%d.partial" : "%s.%ld.partial", w->path, (long)getpid(), i);
        MRS_TRY(mrs_allocated(w->beside, strlen(w->path), e));
        enum mrs_status s = mrsi_create(w->beside, 0600, &w->fd, e);
        if (s == MRS_OK || e->code != MRS_E_EXISTS || i == MOST) {
            return s;
        }
        mrs_err_clear(e);
    }
}

/* left: the id in the name of the file to take up; NULL: a new one. */
static enum mrs_status
open_whole(struct mrs_mem *mem, const char *path, const uint64_t *left, struct mrs_atomic_file **out,
           struct mrs_err *e)
{
    *out = NULL;
    struct mrs_atomic_file *w = mrs_zalloc(mem, sizeof *w);
    MRS_TRY(mrs_allocated(w, sizeof *w, e));
    w->mem = mem;
    w->fd = -1;
    mrs_buf_init(&w->buf, mem, SIZE_MAX);
    mrs_buf_init(&w->old, mem, SIZE_MAX);
    w->path = mrs_strndup(mem, path, strlen(path));
    enum mrs_status s = mrs_allocated(w->path, strlen(path), e);
    if (s == MRS_OK) {
        s = mrs_file_is_stream(path) ? mrsi_open_stream(path, &w->fd, e)
            : left                   ? take_up(w, *left, e)
                                     : create_beside(w, e);
    }
    if (s != MRS_OK) {
        discard(w);
        return s;
    }
    *out = w;
    return MRS_OK;
}

enum mrs_status
mrs_atomic_file_open(struct mrs_mem *mem, const char *path, struct mrs_atomic_file **out, struct mrs_err *e)
{
    return open_whole(mem, path, NULL, out, e);
}

enum mrs_status
mrs_atomic_file_take_up(struct mrs_mem *mem, const char *path, uint64_t id, struct mrs_atomic_file **out,
                        struct mrs_err *e)
{
    return open_whole(mem, path, &id, out, e);
}

/* Whether the file already has the next bytes; if not, truncates it here. */
static enum mrs_status
compare_existing(struct mrs_atomic_file *w, bool *same, struct mrs_err *e)
{
    MRS_ASSERT(w->there && mrs_buf_is_sound(&w->buf));
    *same = false;
    if (w->buf.n && w->buf.n <= w->there - w->at) {
        mrs_buf_reset(&w->old);
        uint8_t *p = mrs_buf_take(&w->old, w->buf.n);
        enum mrs_status s = p ? mrs_read_at(w->fd, p, w->buf.n, w->at, e) : mrs_buf_status(&w->old, e);
        *same = s == MRS_OK && memcmp(p, w->buf.p, w->buf.n) == 0;
        if (*same && lseek(w->fd, (off_t)(w->at + w->buf.n), SEEK_SET) < 0) {
            s = mrs_err_sys(e, errno, "seek in %s", w->beside);
        }
        if (s != MRS_OK || *same) {
            return s;
        }
    }
    w->there = w->at;
    return mrsi_cut_file(w->fd, w->beside, w->at, e);
}

static enum mrs_status
flush(struct mrs_atomic_file *w, struct mrs_err *e)
{
    MRS_ASSERT(w->fd >= 0 && mrs_buf_is_sound(&w->buf));
    bool same = false;
    enum mrs_status s = mrs_buf_status(&w->buf, e);
    s = s == MRS_OK && w->there > w->at ? compare_existing(w, &same, e) : s;
    s = s == MRS_OK && !same ? mrsi_write_full(w->fd, w->buf.p, w->buf.n, w->path, e) : s;
    w->at += w->buf.n;
    w->there = w->there > w->at ? w->there : w->at;
    mrs_buf_reset(&w->buf);
    w->failed = w->failed || s != MRS_OK;
    return s;
}

enum mrs_status
mrs_atomic_file_put(struct mrs_atomic_file *w, const void *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    mrs_buf_put(&w->buf, p, n);
    return w->buf.bad || w->buf.n > WHOLE_BUFFER ? flush(w, e) : MRS_OK;
}

/* Renames and syncs. */
static enum mrs_status
appear(struct mrs_atomic_file *w, struct mrs_err *e)
{
    MRS_TRY(w->there > w->at ? mrsi_cut_file(w->fd, w->beside, w->at, e) : MRS_OK);
    MRS_TRY(mrsi_sync_fd(w->fd, w->beside, e));
    if (rename(w->beside, w->path) < 0) {
        return mrs_err_sys(e, errno, "renaming %s to %s", w->beside, w->path);
    }
    enum mrs_status s = mrsi_sync_parent(w->path, e);
    if (s != MRS_OK) {
        unlink(w->path); /* the older file is already gone */
    }
    return s;
}

enum mrs_status
mrs_atomic_file_close(struct mrs_atomic_file *w, bool publish, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (!w) {
        return MRS_OK;
    }
    if (publish) {
        s = w->failed ? MRSI_FAIL(e, MRS_E_IO, "%s: writing it has failed before", w->path) : flush(w, e);
        s = s == MRS_OK && w->beside ? appear(w, e) : s;
    }
    if (w->beside && (!publish || s != MRS_OK)) {
        unlink(w->beside);
    }
    discard(w);
    return s;
}

void
mrs_atomic_file_leave(struct mrs_atomic_file *w)
{
    if (w) {
        discard(w);
    }
}

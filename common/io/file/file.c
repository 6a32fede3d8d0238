/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - file calls of the operating system, with all retries.
 *
 * Every loop around a short read, a short write or an interrupted call is here, so that other files see either success
 * or an error that names the file. Durability is here as well: a file is on disk only after fsync, its name only after
 * fsync of its folder. Temporary files have no name if the system allows it, so that a killed run leaves nothing
 * behind. Must not know what the bytes mean. */
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS 200 /* ms between two checks whether a pipe has bytes */
#define PIECE \
    (1u << 30) /* most bytes in one system call: larger ones are cut by the kernel anyway */
#define BEHIND (16u << 20) /* less: more system calls; more: callers wait for the disk's queue */

char *
mrsi_format(struct mrs_mem *mem, const char *fmt, ...)
{
    MRS_ASSERT(mem && fmt);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = n < 0 ? NULL : mrs_alloc(mem, (size_t)n + 1);
    if (text) {
        va_start(ap, fmt);
        vsnprintf(text, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    return text;
}

const char *
mrsi_base_name(const char *path)
{
    MRS_ASSERT(path);
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

enum mrs_status
mrsi_open_read(const char *path, int *fd, struct stat *st, struct mrs_err *e)
{
    MRS_ASSERT(path && fd);
    int f;
    do {
        f = open(path, O_RDONLY | O_CLOEXEC);
    } while (f < 0 && errno == EINTR);
    if (f < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return MRSI_FAIL(e, MRS_E_MISSING, "%s: there is no such file", path);
    }
    if (f < 0) {
        return mrs_err_sys(e, errno, "open %s", path);
    }
    if (st && fstat(f, st) < 0) {
        int err = errno;
        close(f);
        return mrs_err_sys(e, err, "stat %s", path);
    }
    *fd = f;
    return MRS_OK;
}

enum mrs_status
mrsi_open_regular(const char *path, int *fd, struct stat *st, struct mrs_err *e)
{
    struct stat own;
    if (!st) {
        st = &own;
    }
    enum mrs_status s = mrsi_open_read(path, fd, st, e);
    if (s == MRS_OK && !S_ISREG(st->st_mode)) {
        close(*fd);
        s = MRSI_FAIL(e, MRS_E_FORMAT, "%s: not a regular file", path);
    }
    return s;
}

bool
mrsi_is_own_file(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_nlink == 1;
}

enum mrs_status
mrsi_pause(const struct mrs_pause *p, uint64_t bytes, struct mrs_err *e)
{
    return p && p->due && p->due(p->arg, bytes) ? p->rest(p->arg, e) : MRS_OK;
}

/* Waits for data or the end; the caller's pause may stop it. */
static enum mrs_status
wait_for_bytes(int fd, const struct mrs_pause *pause, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0);
    struct pollfd p = {fd, POLLIN, 0};
    enum mrs_status s = MRS_OK;
    for (int n = 0; s == MRS_OK && n <= 0;) {
        n = poll(&p, 1, WAIT_MS);
        if (n < 0 && errno != EINTR) {
            return MRS_OK; /* the read reports it */
        }
        s = n <= 0 ? mrsi_pause(pause, 0, e) : s;
    }
    return s;
}

enum mrs_status
mrsi_pread_full(int fd, void *p, size_t n, uint64_t off, const char *name, size_t *got, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0 && (p || n == 0));
    uint8_t *to = p;
    *got = 0;
    while (*got < n) {
        size_t len = n - *got < PIECE ? n - *got : PIECE;
        ssize_t r = pread(fd, to + *got, len, (off_t)(off + *got));
        if (r == 0) {
            break;
        }
        if (r < 0 && errno == EINTR) {
            continue;
        }
        if (r < 0) {
            return mrs_err_sys(e, errno, "read %s", name);
        }
        *got += (size_t)r;
    }
    return MRS_OK;
}

enum mrs_status
mrsi_read_pipe(const struct mrsi_pipe_in *pipe, void *p, size_t n, size_t *got, struct mrs_err *e)
{
    MRS_ASSERT(pipe->fd >= 0 && p);
    uint8_t *to = p;
    *got = 0;
    while (*got < n) {
        MRS_TRY(wait_for_bytes(pipe->fd, pipe->pause, e));
        ssize_t r = read(pipe->fd, to + *got, n - *got < PIECE ? n - *got : PIECE);
        if (r == 0) {
            break;
        }
        if (r < 0 && errno != EINTR) {
            return mrs_err_sys(e, errno, "read %s", pipe->name);
        }
        *got += r > 0 ? (size_t)r : 0;
    }
    return MRS_OK;
}

enum mrs_status
mrsi_write_full(int fd, const void *p, size_t n, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0 && (p || n == 0));
    const uint8_t *at = p;
    while (n) {
        ssize_t r = write(fd, at, n < PIECE ? n : PIECE);
        if (r < 0 && errno == EINTR) {
            continue;
        }
        if (r <= 0) {
            return mrs_err_sys(e, r < 0 ? errno : ENOSPC, "write %s", name);
        }
        at += r;
        n -= (size_t)r;
    }
    return MRS_OK;
}

/* Starts writing, does not wait for earlier writes: that would consume a disk error before fsync reports it
 * (sync_file_range(2), file_fdatawait_range of Linux). */
void
mrsi_write_behind(int fd, uint64_t before, uint64_t n)
{
    if ((before + n) / BEHIND != before / BEHIND) {
        (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    }
}

/* The two calls of the engine have only a descriptor: the system knows its name. */
static const char *
fd_name(int fd, char room[300])
{
    static const char deleted[] = " (deleted)";
    char link[32], name[256];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, name, sizeof name - 1);
    if (n <= 0) {
        return "temporary file";
    }
    name[n] = 0;
    size_t k = sizeof deleted - 1;
    bool temporary = (size_t)n > k && strcmp(name + n - k, deleted) == 0;
    char *slash = strrchr(name, '/');
    if (temporary && slash) {
        *slash = 0;
    }
    snprintf(room, 300, "%s%s", temporary ? "a temporary file in " : "", name);
    return room;
}

enum mrs_status
mrs_write_at(int fd, const void *p, size_t n, uint64_t off, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0 && (p || n == 0));
    const uint8_t *at = p;
    while (n) {
        ssize_t r = pwrite(fd, at, n < PIECE ? n : PIECE, (off_t)off);
        if (r < 0 && errno == EINTR) {
            continue;
        }
        if (r <= 0) {
            int err = r < 0 ? errno : ENOSPC;
            char room[300];
            return mrs_err_sys(e, err, "write %s", fd_name(fd, room));
        }
        at += r;
        off += (uint64_t)r;
        n -= (size_t)r;
    }
    return MRS_OK;
}

enum mrs_status
mrs_read_at(int fd, void *p, size_t n, uint64_t off, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0 && (p || n == 0));
    char room[300];
    size_t got;
    enum mrs_status s = mrsi_pread_full(fd, p, n, off, "temporary file", &got, e);
    if (s == MRS_OK && got < n) {
        s = MRSI_FAIL(e, MRS_E_IO, "read %s: it ends after %llu bytes, %llu were expected",
                      fd_name(fd, room), (unsigned long long)(off + got),
                      (unsigned long long)(off + n));
    }
    return s;
}

enum mrs_status
mrsi_sync_fd(int fd, const char *name, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0 && name);
    int r;
    do {
        r = fsync(fd);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? mrs_err_sys(e, errno, "fsync %s", name) : MRS_OK;
}

enum mrs_status
mrsi_sync_dir(const char *path, struct mrs_err *e)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return mrs_err_sys(e, errno, "open folder %s", path);
    }
    int r;
    do {
        r = fsync(fd);
    } while (r < 0 && errno == EINTR);
    int err = errno;
    close(fd);
    /* Some network file systems do not support fsync of folders. */
    return r < 0 && err != EINVAL && err != ENOTSUP ? mrs_err_sys(e, err, "fsync folder %s", path)
                                                    : MRS_OK;
}

enum mrs_status
mrsi_sync_parent(const char *path, struct mrs_err *e)
{
    char dir[PATH_MAX];
    size_t n = (size_t)(mrsi_base_name(path) - path);
    if (n >= sizeof dir) {
        return mrs_err_sys(e, ENAMETOOLONG, "open the folder of %s", path);
    }
    memcpy(dir, n ? path : ".", n ? n : 1);
    dir[n ? n : 1] = 0;
    return mrsi_sync_dir(dir, e);
}

enum mrs_status
mrsi_create(const char *path, mode_t mode, int *fd, struct mrs_err *e)
{
    MRS_ASSERT(path && fd);
    int f;
    do {
        f = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    } while (f < 0 && errno == EINTR);
    if (f < 0 && errno == EEXIST) {
        return MRSI_FAIL(e, MRS_E_EXISTS, "%s is there already", path);
    }
    if (f < 0) {
        return mrs_err_sys(e, errno, "create %s", path);
    }
    *fd = f;
    return MRS_OK;
}

enum mrs_status
mrs_temp_open(const char *dir, int *fd, struct mrs_err *e)
{
    MRS_ASSERT(fd);
    if (!dir || !*dir) {
        dir = getenv("TMPDIR");
    }
    if (!dir || !*dir) {
        dir = "/tmp";
    }
    *fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (*fd >= 0) {
        return MRS_OK;
    }
    /* File systems without O_TMPFILE: the file has a name for a moment. */
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/mongoreshape-XXXXXX", dir);
    if (n < 0 || (size_t)n >= sizeof path) {
        return mrs_err_sys(e, ENAMETOOLONG, "temporary file in %s", dir);
    }
    *fd = mkostemp(path, O_CLOEXEC);
    if (*fd < 0) {
        return mrs_err_sys(e, errno, "temporary file in %s", dir);
    }
    unlink(path);
    return MRS_OK;
}

enum mrs_status
mrsi_spool(const struct mrsi_pipe_from *from, const char *dir, int *spool, uint64_t *bytes, struct mrs_err *e)
{
    MRS_ASSERT(from->head || from->n == 0);
    enum { ROOM = 64 << 10 };
    uint8_t room[ROOM];
    MRS_TRY(mrs_temp_open(dir, spool, e));
    *bytes = from->n;
    enum mrs_status s = mrs_write_at(*spool, from->head, from->n, 0, e);
    while (s == MRS_OK && (s = wait_for_bytes(from->pipe.fd, from->pipe.pause, e)) == MRS_OK) {
        ssize_t got = read(from->pipe.fd, room, ROOM);
        if (got < 0 && errno != EINTR) {
            s = mrs_err_sys(e, errno, "read %s", from->pipe.name);
        } else if (got == 0) {
            break;
        } else if (got > 0) {
            s = mrs_write_at(*spool, room, (size_t)got, *bytes, e);
            *bytes += (size_t)got;
            MRS_THEN(s, mrsi_pause(from->pipe.pause, (size_t)got, e));
        }
    }
    if (s != MRS_OK) {
        close(*spool);
        *spool = -1;
    }
    return s;
}

/* Copies in the kernel; false: impossible for this pair of files, and nothing was copied. */
static bool
copy_by_kernel(const struct mrsi_file_span *from, int to, uint64_t *done, int *err)
{
    MRS_ASSERT(from->fd >= 0 && to >= 0 && *done <= from->n);
    off_t at = (off_t)from->off;
    *err = 0;
    while (*done < from->n) {
        uint64_t left = from->n - *done;
        ssize_t r = copy_file_range(from->fd, &at, to, NULL, left < BEHIND ? (size_t)left : BEHIND, 0);
        if (r < 0 && errno == EINTR) {
            continue;
        }
        if (r < 0 && *done == 0) {
            return false;
        }
        if (r <= 0) {
            *err = r < 0 ? errno : 0;
            return r < 0 || *done > 0;
        }
        mrsi_write_behind(to, from->off + *done, (uint64_t)r);
        *done += (uint64_t)r;
    }
    return true;
}

enum mrs_status
mrsi_became_shorter(const char *name, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_CHANGED, "%s: it became shorter while it was read", name);
}

enum mrs_status
mrsi_copy_span(const struct mrsi_file_span *from, int to, const char *to_name, struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0 && to >= 0);
    enum { ROOM = 64 << 10 };
    uint8_t room[ROOM];
    uint64_t done = 0;
    int err = 0;
    if (copy_by_kernel(from, to, &done, &err) && err) {
        return mrs_err_sys(e, err, "write %s", to_name);
    }
    while (done < from->n) {
        uint64_t left = from->n - done;
        size_t got;
        enum mrs_status s = mrsi_pread_full(from->fd, room, left < ROOM ? (size_t)left : ROOM,
                                            from->off + done, from->name, &got, e);
        if (s == MRS_OK && got == 0) {
            s = mrsi_became_shorter(from->name, e);
        }
        MRS_THEN(s, mrsi_write_full(to, room, got, to_name, e));
        if (s != MRS_OK) {
            return s;
        }
        mrsi_write_behind(to, from->off + done, got);
        done += got;
    }
    return MRS_OK;
}

enum mrs_status
mrsi_cut_file(int fd, const char *name, uint64_t n, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0);
    struct stat st;
    if (fstat(fd, &st) < 0) {
        return mrs_err_sys(e, errno, "stat %s", name);
    }
    if ((uint64_t)st.st_size < n) {
        return MRSI_FAIL(e, MRS_E_IO, "%s: %llu bytes are there, %llu were written before the stop", name,
                         (unsigned long long)st.st_size, (unsigned long long)n);
    }
    if (ftruncate(fd, (off_t)n) < 0 || lseek(fd, (off_t)n, SEEK_SET) < 0) {
        return mrs_err_sys(e, errno, "cutting %s", name);
    }
    return MRS_OK;
}

/* Reads until the end of an open file; text has room for `size` bytes at first and always for a
 * NUL. */
static enum mrs_status
read_to_end(struct mrs_buf *b, int fd, const char *path, size_t size, struct mrs_err *e)
{
    MRS_ASSERT(mrs_buf_is_sound(b));
    struct mrsi_pipe_in from = {fd, path, NULL}; /* it may be one */
    size_t len = size + 1;
    for (;;) {
        size_t got, was = b->n;
        uint8_t *at = mrs_buf_take(b, len);
        if (!at) {
            return b->bad == 2 ? MRSI_FAIL(e, MRS_E_LIMIT, "%s: larger than %zu bytes", path,
                                           b->ceiling - 1)
                               : mrs_buf_status(b, e);
        }
        enum mrs_status s = mrsi_read_pipe(&from, at, len, &got, e);
        b->n = was + got;
        if (s != MRS_OK || got < len) {
            return s;
        }
        size_t left = b->ceiling - b->n;
        len = left && left < (64u << 10) ? left : 64u << 10;
    }
}

/* Checks that a file read completely is unchanged since it was opened. */
static enum mrs_status
is_same(int fd, const char *path, const struct stat *st, struct mrs_err *e)
{
    struct stat after;
    if (fstat(fd, &after) < 0) {
        return mrs_err_sys(e, errno, "stat %s", path);
    }
    struct mrsi_stamp was = mrsi_stamp_of(st), is = mrsi_stamp_of(&after);
    return mrsi_stamp_compare(path, &was, &is, e);
}

enum mrs_status
mrs_file_read(struct mrs_mem *mem, const char *path, size_t ceiling, char **text, size_t *n,
              struct mrs_err *e)
{
    MRS_ASSERT(path && text && n);
    int fd;
    struct stat st;
    struct mrs_buf b;
    enum mrs_status s = mrsi_open_read(path, &fd, &st, e);
    if (s != MRS_OK) {
        return s;
    }
    if (S_ISDIR(st.st_mode)) {
        close(fd);
        return MRSI_FAIL(e, MRS_E_MISSING, "%s: it is a folder, not a file", path);
    }
    mrs_buf_init(&b, mem, ceiling < SIZE_MAX ? ceiling + 1 : ceiling); /* one more for the NUL */
    size_t size = S_ISREG(st.st_mode) && st.st_size > 0 ? (size_t)st.st_size : 0;
    if (size > ceiling) {
        s = MRSI_FAIL(e, MRS_E_LIMIT, "%s: larger than %zu bytes", path, ceiling);
    } else {
        s = read_to_end(&b, fd, path, size, e);
    }
    if (s == MRS_OK && S_ISREG(st.st_mode)) {
        s = is_same(fd, path, &st, e);
    }
    close(fd);
    if (s == MRS_OK && b.n > ceiling) {
        s = MRSI_FAIL(e, MRS_E_LIMIT, "%s: larger than %zu bytes", path, ceiling);
    }
    if (s == MRS_OK) {
        mrs_buf_byte(&b, 0);
        s = mrs_buf_status(&b, e);
    }
    if (s != MRS_OK) {
        mrs_buf_clear(&b);
        return s;
    }
    *text = (char *)b.p;
    *n = b.n - 1;
    return MRS_OK;
}

/* Opens a file next to path under a name that does not exist yet. */
static enum mrs_status
open_beside(const char *path, mode_t mode, char *tmp, size_t size, int *fd, struct mrs_err *e)
{
    enum { MOST = 100 };
    for (int i = 0;; i++) {
        int n = snprintf(tmp, size, "%s.tmp%ld-%d", path, (long)getpid(), i);
        if (n < 0 || (size_t)n >= size) {
            return mrs_err_sys(e, ENAMETOOLONG, "create a file next to %s", path);
        }
        enum mrs_status s = mrsi_create(tmp, mode, fd, e);
        if (s == MRS_OK || e->code != MRS_E_EXISTS || i == MOST) {
            return s;
        }
        mrs_err_clear(e);
    }
}

enum mrs_status
mrs_file_write(const char *path, const void *p, size_t n, struct mrs_err *e)
{
    return mrsi_file_write(path, 0600, p, n, e);
}

static enum mrs_status
write_stream(const char *path, const void *p, size_t n, struct mrs_err *e)
{
    int fd;
    enum mrs_status s = mrsi_open_stream(path, &fd, e);
    if (s == MRS_OK) {
        s = mrsi_write_full(fd, p, n, path, e);
        close(fd);
    }
    return s;
}

enum mrs_status
mrsi_file_write(const char *path, mode_t mode, const void *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(path && (p || n == 0));
    char tmp[PATH_MAX];
    int fd = -1;
    if (mrs_file_is_stream(path)) {
        return write_stream(path, p, n, e);
    }
    MRS_TRY(open_beside(path, mode, tmp, sizeof tmp, &fd, e));
    enum mrs_status s = mrsi_write_full(fd, p, n, path, e);
    MRS_THEN(s, mrsi_sync_fd(fd, path, e));
    if (close(fd) < 0 && s == MRS_OK) {
        s = mrs_err_sys(e, errno, "close %s", path);
    }
    if (s == MRS_OK && rename(tmp, path) < 0) {
        s = mrs_err_sys(e, errno, "rename %s to %s", tmp, path);
    }
    if (s != MRS_OK) {
        unlink(tmp);
        return s;
    }
    return mrsi_sync_parent(path, e);
}

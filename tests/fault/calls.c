/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - intercepts calls of the operating system, by the linker's --wrap.
 *
 * Each kind of call has a counter; one of them can be made to fail, to do half of its work or to be interrupted. Only
 * references in our own object files are wrapped, not calls inside the C library. */
#include "fault.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic uint64_t made[CALLS];
static _Atomic bool hit;
static int cancel;
static struct {
    bool armed;
    enum call call;
    enum how how;
    uint64_t n;
    int error;
} wish;

static const char *const names[CALLS] = {
    "open", "read",           "pread",           "write", "pwrite", "fsync", "rename", "ftruncate or fallocate",
    "mmap", "pthread_create", "copy_file_range", "mkdir or symlink", "fstat", "lseek", "unlink or rmdir"};

const char *
call_name(enum call c)
{
    return names[c];
}

bool
call_can(enum call c, enum how how)
{
    bool moves = c == CALL_READ || c == CALL_PREAD || c == CALL_WRITE || c == CALL_PWRITE || c == CALL_COPY;
    bool waits = moves || c == CALL_FSYNC;
    return how == HOW_SHORT         ? moves
           : how == HOW_INTERRUPTED ? waits
           : how == HOW_CANCEL      ? moves || c == CALL_OPEN
           : how == HOW_KILL        ? true
                                    : c != CALL_UNLINK; /* who removes what is left can do no more than try */
}

void
calls_work(void)
{
    wish.armed = false;
    for (int i = 0; i < CALLS; i++) {
        atomic_store(&made[i], 0);
    }
    atomic_store(&hit, false);
    __atomic_store_n(&cancel, 0, __ATOMIC_RELAXED);
}

const int *
calls_cancel(void)
{
    return &cancel;
}

void
calls_stop(void)
{
    wish.armed = false;
}

void
calls_fail(enum call c, enum how how, uint64_t n, int error)
{
    calls_work();
    wish.call = c;
    wish.how = how;
    wish.n = n;
    wish.error = error;
    wish.armed = true;
}

uint64_t
calls_made(enum call c)
{
    return atomic_load(&made[c]);
}

bool
calls_hit(void)
{
    return atomic_load(&hit);
}

/* True: the call must fail, errno is set. *n (may be NULL) is made smaller where half the work is wanted. */
static bool
fails(enum call c, size_t *n)
{
    uint64_t no = atomic_fetch_add(&made[c], 1) + 1;
    if (!wish.armed || wish.call != c || no < wish.n || (no > wish.n && wish.how != HOW_ERROR_ON)) {
        return false;
    }
    atomic_store(&hit, true);
    if (wish.how == HOW_SHORT) {
        *n = *n > 1 ? *n / 2 : *n;
        return false;
    }
    if (wish.how == HOW_KILL) {
        kill(getpid(), SIGKILL);
    }
    if (wish.how == HOW_CANCEL) {
        __atomic_store_n(&cancel, 2, __ATOMIC_RELAXED);
        return false;
    }
    errno = wish.how == HOW_INTERRUPTED ? EINTR : wish.error;
    return true;
}

#define WRAP(type, name, params)                                                                                     \
    type __real_##name params;                                                                                       \
    type __wrap_##name params;                                                                                       \
    type __wrap_##name params

#define MOVER(name, call, params, args)                                                                              \
    WRAP(ssize_t, name, params)                                                                                      \
    {                                                                                                                \
        return fails(call, &n) ? -1 : __real_##name args;                                                            \
    }
MOVER(read, CALL_READ, (int fd, void *p, size_t n), (fd, p, n))
MOVER(write, CALL_WRITE, (int fd, const void *p, size_t n), (fd, p, n))
MOVER(pread, CALL_PREAD, (int fd, void *p, size_t n, off_t off), (fd, p, n, off))
MOVER(pread64, CALL_PREAD, (int fd, void *p, size_t n, off_t off), (fd, p, n, off))
MOVER(pwrite, CALL_PWRITE, (int fd, const void *p, size_t n, off_t off), (fd, p, n, off))
MOVER(pwrite64, CALL_PWRITE, (int fd, const void *p, size_t n, off_t off), (fd, p, n, off))
MOVER(copy_file_range, CALL_COPY, (int fd, off_t *at, int to, off_t *to_at, size_t n, unsigned flags),
      (fd, at, to, to_at, n, flags))

#define PLAIN(name, call, params, args)                                                                              \
    WRAP(int, name, params)                                                                                          \
    {                                                                                                                \
        return fails(call, NULL) ? -1 : __real_##name args;                                                          \
    }
PLAIN(fsync, CALL_FSYNC, (int fd), (fd))
PLAIN(rename, CALL_RENAME, (const char *a, const char *b), (a, b))
PLAIN(renameat2, CALL_RENAME, (int da, const char *a, int db, const char *b, unsigned flags), (da, a, db, b, flags))
PLAIN(ftruncate, CALL_TRUNCATE, (int fd, off_t n), (fd, n))
PLAIN(ftruncate64, CALL_TRUNCATE, (int fd, off_t n), (fd, n))
PLAIN(mkdir, CALL_MKDIR, (const char *path, mode_t mode), (path, mode))
PLAIN(symlink, CALL_MKDIR, (const char *to, const char *path), (to, path))
PLAIN(unlink, CALL_UNLINK, (const char *path), (path))
PLAIN(rmdir, CALL_UNLINK, (const char *path), (path))
PLAIN(fstat, CALL_STAT, (int fd, struct stat *st), (fd, st))
PLAIN(fstat64, CALL_STAT, (int fd, struct stat *st), (fd, st))
PLAIN(mkostemp, CALL_OPEN, (char *path, int flags), (path, flags))
PLAIN(mkostemp64, CALL_OPEN, (char *path, int flags), (path, flags))

WRAP(off_t, lseek, (int fd, off_t off, int whence))
{
    return fails(CALL_SEEK, NULL) ? -1 : __real_lseek(fd, off, whence);
}

WRAP(off_t, lseek64, (int fd, off_t off, int whence))
{
    return fails(CALL_SEEK, NULL) ? -1 : __real_lseek64(fd, off, whence);
}

WRAP(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t off))
{
    return fails(CALL_MMAP, NULL) ? MAP_FAILED : __real_mmap(at, n, prot, flags, fd, off);
}

WRAP(void *, mmap64, (void *at, size_t n, int prot, int flags, int fd, off_t off))
{
    return fails(CALL_MMAP, NULL) ? MAP_FAILED : __real_mmap64(at, n, prot, flags, fd, off);
}

WRAP(int, posix_fallocate, (int fd, off_t off, off_t n))
{
    return fails(CALL_TRUNCATE, NULL) ? errno : __real_posix_fallocate(fd, off, n);
}

WRAP(int, posix_fallocate64, (int fd, off_t off, off_t n))
{
    return fails(CALL_TRUNCATE, NULL) ? errno : __real_posix_fallocate64(fd, off, n);
}

WRAP(int, pthread_create, (pthread_t * id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg))
{
    return fails(CALL_THREAD, NULL) ? EAGAIN : __real_pthread_create(id, attr, fn, arg);
}

#define OPENER(name)                                                                                                 \
    int __real_##name(const char *path, int flags, ...);                                                             \
    int __wrap_##name(const char *path, int flags, ...);                                                             \
    int __wrap_##name(const char *path, int flags, ...)                                                              \
    {                                                                                                                \
        va_list args;                                                                                                \
        va_start(args, flags);                                                                                       \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(args, mode_t) : 0;                                    \
        va_end(args);                                                                                                \
        return fails(CALL_OPEN, NULL) ? -1 : __real_##name(path, flags, mode);                                       \
    }
OPENER(open)
OPENER(open64)

/* One secret for all runs: their residues are compared byte for byte. */
bool __wrap_mrs_random(void *p, size_t n);

bool
__wrap_mrs_random(void *p, size_t n)
{
    memset(p, 7, n);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* direct_write.c - writes the end of a large file past the page cache, on a separate thread.
 *
 * An output is not read again while it is written, so its copy in the page cache is pure cost: it took a third of the
 * processor time of a run of gigabytes, and evicts data that others would read. A direct write returns when the disk
 * has the bytes; so there are two blocks, one is filled while the other is written. Blocks begin and end at multiples
 * of ALIGN, in memory and in the file. An incomplete last block is written through the page cache and kept: once it is
 * full it is written again, to the same place. Only for file systems known to store the same data either way: btrfs,
 * for one, would not compress it. */
#include "direct_write.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { ALIGN = 4096, BLOCK = 1 << 20 };

struct mrsi_direct {
    struct mrs_mem *mem;
    int fd;
    const char *name;
    uint8_t *room, *block[2];
    uint32_t filling; /* its index; the other one is being written, or is free */
    size_t filled;
    uint64_t at; /* file offset of the block that is being filled */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    /* under the lock */
    bool writing, stop; /* writing: the other block is full, and not in the file yet */
    enum mrs_status status; /* the first failure */
    struct mrs_err err;
};

static bool
helps(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && (fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC);
}

static bool
set_direct(int fd, bool direct)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

/* Writes the rest of a direct write, or everything if the system supports none, through the page cache. */
static enum mrs_status
write_block(const struct mrsi_direct *d, const uint8_t *p, uint64_t off, struct mrs_err *e)
{
    bool direct = set_direct(d->fd, true);
    ssize_t r = direct ? pwrite(d->fd, p, BLOCK, (off_t)off) : 0;
    int error = r < 0 && errno != EINVAL && errno != EINTR ? errno : 0;
    if (direct && !set_direct(d->fd, false) && !error) {
        error = errno;
    }
    size_t done = r > 0 ? (size_t)r : 0;
    return error ? mrs_err_sys(e, error, "write %s", d->name)
                 : mrs_write_at(d->fd, p + done, BLOCK - done, off + done, e);
}

static void *
write_blocks(void *arg)
{
    struct mrsi_direct *d = arg;
    pthread_mutex_lock(&d->lock);
    while (!d->stop) {
        if (!d->writing) {
            pthread_cond_wait(&d->change, &d->lock);
            continue;
        }
        const uint8_t *p = d->block[1 - d->filling];
        uint64_t off = d->at - BLOCK;
        pthread_mutex_unlock(&d->lock);
        struct mrs_err err;
        mrs_err_clear(&err);
        enum mrs_status s = write_block(d, p, off, &err);
        pthread_mutex_lock(&d->lock);
        if (d->status == MRS_OK) {
            d->status = s;
            d->err = err;
        }
        d->writing = false;
        pthread_cond_signal(&d->change);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static enum mrs_status
wait_for_block(struct mrsi_direct *d, struct mrs_err *e)
{
    pthread_mutex_lock(&d->lock);
    while (d->writing) {
        pthread_cond_wait(&d->change, &d->lock);
    }
    if (d->status != MRS_OK && e) {
        *e = d->err;
    }
    pthread_mutex_unlock(&d->lock);
    return d->status;
}

/* Swaps the full block and the other one. */
static enum mrs_status
hand_on(struct mrsi_direct *d, struct mrs_err *e)
{
    MRS_ASSERT(d->filled == BLOCK);
    enum mrs_status s = wait_for_block(d, e);
    if (s == MRS_OK) {
        pthread_mutex_lock(&d->lock);
        d->filling = 1 - d->filling;
        d->at += BLOCK;
        d->writing = true;
        pthread_cond_signal(&d->change);
        pthread_mutex_unlock(&d->lock);
        d->filled = 0;
    }
    return s;
}

static void
release(struct mrsi_direct *d)
{
    pthread_cond_destroy(&d->change);
    pthread_mutex_destroy(&d->lock);
    mrs_free(d->mem, d->room);
    mrs_free(d->mem, d);
}

/* Its first block begins at a possible offset, with the existing bytes. */
static bool
take_up(struct mrsi_direct *d, uint64_t bytes)
{
    size_t got, n = bytes % ALIGN;
    d->at = bytes - n;
    d->filled = n;
    return mrsi_pread_full(d->fd, d->block[0], n, d->at, d->name, &got, NULL) == MRS_OK && got == n;
}

struct mrsi_direct *
mrsi_direct_begin(struct mrs_mem *mem, int fd, const char *name, uint64_t bytes)
{
    MRS_ASSERT(fd >= 0 && name);
    struct mrsi_direct *d = helps(fd) ? mrs_zalloc(mem, sizeof *d) : NULL;
    if (!d) {
        return NULL;
    }
    *d = (struct mrsi_direct){.mem = mem, .fd = fd, .name = name, .room = mrs_alloc(mem, 2 * BLOCK + ALIGN)};
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->change, NULL);
    if (d->room) {
        d->block[0] = d->room + (ALIGN - (uintptr_t)d->room % ALIGN);
        d->block[1] = d->block[0] + BLOCK;
    }
    if (!d->room || !take_up(d, bytes) || pthread_create(&d->thread, NULL, write_blocks, d) != 0) {
        release(d);
        return NULL;
    }
    return d;
}

enum mrs_status
mrsi_direct_write(struct mrsi_direct *d, const void *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    enum mrs_status s = MRS_OK;
    for (const uint8_t *from = p; n && s == MRS_OK;) {
        size_t part = n < BLOCK - d->filled ? n : BLOCK - d->filled;
        memcpy(d->block[d->filling] + d->filled, from, part);
        d->filled += part;
        from += part;
        n -= part;
        s = d->filled == BLOCK ? hand_on(d, e) : MRS_OK;
    }
    return s;
}

enum mrs_status
mrsi_direct_flush(struct mrsi_direct *d, struct mrs_err *e)
{
    MRS_ASSERT(d->filled < BLOCK);
    MRS_TRY(wait_for_block(d, e));
    enum mrs_status s = mrs_write_at(d->fd, d->block[d->filling], d->filled, d->at, e);
    if (s == MRS_OK && lseek(d->fd, (off_t)(d->at + d->filled), SEEK_SET) < 0) {
        s = mrs_err_sys(e, errno, "seek in %s", d->name);
    }
    return s;
}

void
mrsi_direct_end(struct mrsi_direct *d)
{
    if (!d) {
        return;
    }
    pthread_mutex_lock(&d->lock);
    d->stop = true;
    pthread_cond_signal(&d->change);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    release(d);
}

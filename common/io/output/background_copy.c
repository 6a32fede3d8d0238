/* SPDX-License-Identifier: Apache-2.0 */
/* background_copy.c - starts the copy of an unchanged file before its turn, while the run does other work.
 *
 * A thread of the lowest priority, which uses only idle time, copies the bytes into the final file. At its turn, the
 * copy takes over these bytes and continues after them. Nothing else may depend on it: before its turn no record and no
 * state of a stopped run lists the file, and a resumed run removes it. After a failure the copy starts over, and
 * reports its own errors. One at a time. */
#include "output.h"
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PART (1ull << 20)
#define ROOM_LEFT 8u /* multiple of the copy that must stay free for everything else that the run writes meanwhile */

struct mrsi_background_copy {
    pthread_t thread;
    _Atomic bool stop;
    char *ns, *path;
    struct mrsi_source_from from;
    uint64_t bytes, done; /* of the input: to copy; copied by successful parts */
    int fd;
};

static void *
copy_parts(void *arg)
{
    struct mrsi_background_copy *x = arg;
    bool ok = true;
    (void)setpriority(PRIO_PROCESS, 0, 19); /* on Linux of this thread alone */
    while (ok && x->done < x->bytes && !atomic_load(&x->stop)) {
        uint64_t left = x->bytes - x->done;
        struct mrsi_file_span part = {x->from.fd, x->from.start + x->done, left < PART ? left : PART, x->from.name};
        ok = mrsi_copy_span(&part, x->fd, x->path, NULL) == MRS_OK;
        x->done += ok ? part.n : 0;
    }
    return NULL;
}

static void
release(struct mrs_output *o, struct mrsi_background_copy *x)
{
    MRS_ASSERT(o->background != x);
    if (x->from.own) {
        close(x->from.fd);
    }
    mrs_free(o->mem, x->ns);
    mrs_free(o->mem, x->path);
    mrs_free(o->mem, x);
}

/* The bytes to copy, if the disk has much more free space. */
static bool
has_room(const struct mrs_output *o, const struct mrsi_source_from *from, uint64_t *bytes)
{
    struct stat st;
    struct statvfs fs;
    if (fstat(from->fd, &st) < 0 || !S_ISREG(st.st_mode) || statvfs(o->partial, &fs) < 0) {
        return false;
    }
    uint64_t size = (uint64_t)st.st_size, left = size > from->start ? size - from->start : 0;
    *bytes = from->bytes < left ? from->bytes : left;
    return *bytes && (uint64_t)fs.f_bavail * fs.f_frsize / (ROOM_LEFT + 1) >= *bytes;
}

void
mrsi_background_copy_begin(struct mrs_output *o, const char *ns, const char *rel, const struct mrsi_source_from *from)
{
    MRS_ASSERT(!o->background && from->fd >= 0);
    struct mrsi_background_copy *x = mrs_zalloc(o->mem, sizeof *x);
    if (!x) {
        if (from->own) {
            close(from->fd);
        }
        return;
    }
    x->from = *from;
    x->ns = mrs_strndup(o->mem, ns, strlen(ns));
    bool made = x->ns && has_room(o, from, &x->bytes) && mrsi_output_create(o, rel, &x->fd, &x->path, NULL) == MRS_OK;
    if (made && pthread_create(&x->thread, NULL, copy_parts, x) == 0) {
        o->background = x;
        return;
    }
    if (made) {
        close(x->fd);
        unlink(x->path);
    }
    release(o, x);
}

static struct mrsi_background_copy *
stop(struct mrs_output *o)
{
    struct mrsi_background_copy *x = o->background;
    o->background = NULL;
    atomic_store(&x->stop, true);
    pthread_join(x->thread, NULL);
    return x;
}

bool
mrsi_background_copy_take(struct mrs_output *o, const char *ns, int *fd, char **path, uint64_t *done)
{
    MRS_ASSERT(ns && fd && path && done);
    if (!o->background || strcmp(o->background->ns, ns) != 0) {
        return false;
    }
    struct mrsi_background_copy *x = stop(o);
    *fd = x->fd;
    *path = x->path;
    *done = x->done;
    x->path = NULL;
    release(o, x);
    return true;
}

void
mrsi_background_copy_drop(struct mrs_output *o, const char *ns)
{
    if (!o->background || (ns && strcmp(o->background->ns, ns) != 0)) {
        return;
    }
    struct mrsi_background_copy *x = stop(o);
    close(x->fd);
    unlink(x->path);
    release(o, x);
}

/* whole.c - a file that grows piece by piece and appears whole.
 *
 * It is written beside its place under a name of its own; publishing syncs it, renames it over what
 * was there and syncs the folder. Closed otherwise it is removed: a reader never sees half of it. */
#include "internal.h"
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define WHOLE_BUFFER (64u << 10)

struct mrs_whole {
    struct mrs_mem *mem;
    char *path, *beside;
    int fd;
    struct mrs_buf buf;
    bool failed; /* a piece is missing: never published */
};

static void
let_go(struct mrs_whole *w)
{
    if (w->fd >= 0) {
        close(w->fd);
    }
    mrs_buf_clear(&w->buf);
    mrs_free(w->mem, w->path);
    mrs_free(w->mem, w->beside);
    mrs_free(w->mem, w);
}

enum mrs_status
mrs_whole_open(struct mrs_mem *mem, const char *path, struct mrs_whole **out, struct mrs_err *e)
{
    *out = NULL;
    struct mrs_whole *w = mrs_zalloc(mem, sizeof *w);
    if (!w) {
        return mrs_err_memory(e, sizeof *w);
    }
    w->mem = mem;
    w->fd = -1;
    mrs_buf_init(&w->buf, mem, SIZE_MAX);
    w->path = mrs_strndup(mem, path, strlen(path));
    w->beside = mrsi_format(mem, "%s.%ld.partial", path, (long)getpid());
    enum mrs_status s = w->path && w->beside ? MRS_OK : mrs_err_memory(e, strlen(path));
    if (s == MRS_OK) {
        s = mrsi_create(w->beside, &w->fd, e);
    }
    if (s != MRS_OK) {
        w->fd = -1;
        let_go(w);
        return s;
    }
    *out = w;
    return MRS_OK;
}

static enum mrs_status
flush(struct mrs_whole *w, struct mrs_err *e)
{
    enum mrs_status s = mrs_buf_status(&w->buf, e);
    s = s == MRS_OK ? mrsi_write_full(w->fd, w->buf.p, w->buf.n, w->beside, e) : s;
    mrs_buf_reset(&w->buf);
    w->failed = w->failed || s != MRS_OK;
    return s;
}

enum mrs_status
mrs_whole_put(struct mrs_whole *w, const void *p, size_t n, struct mrs_err *e)
{
    mrs_buf_put(&w->buf, p, n);
    return w->buf.bad || w->buf.n > WHOLE_BUFFER ? flush(w, e) : MRS_OK;
}

enum mrs_status
mrs_whole_close(struct mrs_whole *w, bool publish, struct mrs_err *e)
{
    enum mrs_status s = MRS_OK;
    if (!w) {
        return MRS_OK;
    }
    if (publish) {
        s = w->failed ? MRSI_FAIL(e, MRS_E_IO, "%s: writing it has failed before", w->path)
                      : flush(w, e);
        s = s == MRS_OK ? mrsi_sync_fd(w->fd, w->beside, e) : s;
        if (s == MRS_OK && rename(w->beside, w->path) < 0) {
            s = mrs_err_sys(e, errno, "renaming %s to %s", w->beside, w->path);
        } else if (s == MRS_OK) {
            s = mrsi_sync_parent(w->path, e);
            if (s != MRS_OK) {
                unlink(w->path); /* what was there before is gone already */
            }
        }
    }
    if (!publish || s != MRS_OK) {
        unlink(w->beside);
    }
    let_go(w);
    return s;
}

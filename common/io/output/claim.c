/* SPDX-License-Identifier: Apache-2.0 */
/* claim.c - ownership of OUT.partial: only one run at a time creates, resumes or removes it.
 *
 * The folder is locked from its creation until its writer ends, whatever its name is by then. So a folder that another
 * run is about to publish, and whose marker is already removed, is not mistaken for the remains of a killed run. A lock
 * counts only if the path still leads to the locked folder: it may have been removed or published meanwhile. The marker
 * is locked as well, for file systems that cannot lock folders. */
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

static enum mrs_status
busy(const char *partial, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_EXISTS, "%s is being written by another run", partial);
}

/* fd was opened by path. *taken: another run has it. */
static enum mrs_status
lock(int fd, const char *path, bool *taken, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0);
    struct stat ours, there;
    *taken = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (*taken) {
        return MRS_OK;
    }
    if (fstat(fd, &ours) < 0) {
        return mrs_err_sys(e, errno, "stat %s", path);
    }
    *taken = lstat(path, &there) < 0 || ours.st_dev != there.st_dev || ours.st_ino != there.st_ino;
    return MRS_OK;
}

/* As mrsi_claim_folder; *taken: another run has it, which is not yet an error. */
static enum mrs_status
claim(const char *partial, int *fd, bool *taken, struct mrs_err *e)
{
    int f;
    *taken = false;
    do {
        f = open(partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    } while (f < 0 && errno == EINTR);
    if (f < 0 && errno == ENOENT) {
        *taken = true; /* it existed a moment ago */
        return MRS_OK;
    }
    if (f < 0 && (errno == ENOTDIR || errno == ELOOP)) {
        return MRSI_FAIL(e, MRS_E_EXISTS, "%s is there and is no folder: remove it yourself", partial);
    }
    if (f < 0) {
        return mrs_err_sys(e, errno, "open folder %s", partial);
    }
    enum mrs_status s = lock(f, partial, taken, e);
    if (s == MRS_OK && !*taken) {
        *fd = f;
    } else {
        close(f);
    }
    return s;
}

enum mrs_status
mrsi_claim_folder(const char *partial, int *fd, struct mrs_err *e)
{
    bool taken;
    enum mrs_status s = claim(partial, fd, &taken, e);
    return s == MRS_OK && taken ? busy(partial, e) : s;
}

void
mrsi_claim_end(struct mrsi_claim *c)
{
    int *const fds[] = {&c->marker, &c->folder};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] >= 0) {
            close(*fds[i]);
        }
        *fds[i] = -1;
    }
}

static bool
has_manifest(struct mrs_output *o)
{
    char *manifest = mrsi_format(o->mem, "%s/%s", o->partial, MRSI_MANIFEST);
    struct stat st;
    bool there = manifest && lstat(manifest, &st) == 0;
    mrs_free(o->mem, manifest);
    return there;
}

static enum mrs_status
remove_unmarked(struct mrs_output *o, struct mrs_err *e)
{
    if (rmdir(o->partial) == 0) {
        return MRS_OK; /* killed before the marker was written */
    }
    return has_manifest(o) /* killed after the removal of the marker */
               ? mrsi_remove_tree(o->partial, e)
               : MRSI_FAIL(e, MRS_E_EXISTS, "%s is there and was not made by mongoreshape: remove it yourself",
                           o->partial);
}

static enum mrs_status
remove_marked(struct mrs_output *o, int marker, struct mrs_err *e)
{
    bool taken = false;
    enum mrs_status s = lock(marker, o->marker, &taken, e);
    if (s == MRS_OK && taken) {
        return busy(o->partial, e);
    }
    if (s == MRS_OK && !o->force && mrsi_stopped_there(o)) {
        return MRSI_FAIL(e, MRS_E_EXISTS,
                         "another run to %s was stopped: --resume continues it, --force starts over", o->path);
    }
    return s == MRS_OK ? mrsi_remove_tree(o->partial, e) : s;
}

/* Removes an OUT.partial that is ours and whose writer has ended. */
static enum mrs_status
remove_stale(struct mrs_output *o, struct mrs_err *e)
{
    int folder = -1;
    MRS_TRY(mrsi_claim_folder(o->partial, &folder, e));
    int marker = open(o->marker, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    enum mrs_status s = marker >= 0 ? remove_marked(o, marker, e) : remove_unmarked(o, e);
    if (marker >= 0) {
        close(marker);
    }
    close(folder);
    return s;
}

/* Writes our marker in a new folder, and locks it. */
enum mrs_status
mrsi_claim_mark(struct mrs_output *o, struct mrs_err *e)
{
    MRS_ASSERT(o->partial);
    static const char text[] =
        "This folder is the unfinished output of mongoreshape and may be removed.\n";
    bool taken = false;
    enum mrs_status s = mrsi_create(o->marker, 0600, &o->claim.marker, e);
    if (s != MRS_OK) {
        rmdir(o->partial);
        return s;
    }
    s = lock(o->claim.marker, o->marker, &taken, e);
    if (s == MRS_OK && taken) {
        mrsi_claim_end(&o->claim); /* a run that lost the race removes nothing */
        return busy(o->partial, e);
    }
    MRS_THEN(s, mrsi_write_full(o->claim.marker, text, sizeof text - 1, o->marker, e));
    if (s != MRS_OK) {
        unlink(o->marker);
        rmdir(o->partial);
    }
    return s;
}

static enum mrs_status
not_made(const struct mrs_output *o, int err, struct mrs_err *e)
{
    if (err == ENOENT || err == ENOTDIR) {
        return MRSI_FAIL(e, MRS_E_MISSING, "%s: the folder that it would be in does not exist: make it first", o->path);
    }
    return mrs_err_sys(e, err, "create folder %s", o->partial);
}

enum mrs_status
mrsi_claim_new(struct mrs_output *o, struct mrs_err *e)
{
    MRS_ASSERT(o->partial);
    if (mkdir(o->partial, o->kind == MRSI_OUT_DIR ? o->folder_mode : 0700) < 0) {
        int err = errno;
        MRS_TRY(err == EEXIST ? remove_stale(o, e) : not_made(o, err, e));
        if (mkdir(o->partial, o->kind == MRSI_OUT_DIR ? o->folder_mode : 0700) < 0) {
            return errno == EEXIST ? busy(o->partial, e) : not_made(o, errno, e);
        }
    }
    bool taken;
    enum mrs_status s = claim(o->partial, &o->claim.folder, &taken, e);
    if (s == MRS_OK && taken) {
        return busy(o->partial, e);
    }
    if (s != MRS_OK) {
        rmdir(o->partial);
        return s;
    }
    return mrsi_claim_mark(o, e);
}

/* The marker of a stopped run. */
static enum mrs_status
take_marker(struct mrs_output *o, struct mrs_err *e)
{
    MRS_ASSERT(o->marker);
    bool taken = false;
    o->claim.marker = open(o->marker, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (o->claim.marker < 0 && errno == ENOENT && has_manifest(o)) { /* killed after the removal of the marker */
        MRS_TRY(mrsi_create(o->marker, 0600, &o->claim.marker, e));
    }
    if (o->claim.marker < 0) {
        return MRSI_FAIL(e, MRS_E_MISSING, "%s of the stopped run is missing: --force starts over",
                         o->marker);
    }
    enum mrs_status s = lock(o->claim.marker, o->marker, &taken, e);
    return s == MRS_OK && taken ? busy(o->partial, e) : s;
}

enum mrs_status
mrsi_claim_left(struct mrs_output *o, struct mrs_err *e)
{
    struct stat st;
    o->keep_partial = true; /* until it was found unchanged */
    if (lstat(o->partial, &st) < 0 && errno == ENOENT) {
        return MRSI_FAIL(e, MRS_E_MISSING, "%s of the stopped run is missing: --force starts over",
                         o->partial);
    }
    enum mrs_status s = mrsi_claim_folder(o->partial, &o->claim.folder, e);
    return s == MRS_OK ? take_marker(o, e) : s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* file_place.c - checks the file that a written file would replace, and detects names that are written in place.
 *
 * A file appears under its name by a rename, which removes the existing file: so each file that a command writes is
 * checked first, before hours of work. An existing file may be replaced if nothing is lost with it, or if its owner
 * allows it. Devices, pipes and the descriptors of the process are never renamed over, not even by a user with the
 * permission. */
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The descriptor that a path like /dev/fd/3 refers to, else -1. */
static int
own_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) {
        return STDOUT_FILENO;
    }
    if (strcmp(path, "/dev/stderr") == 0) {
        return STDERR_FILENO;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i]);
        const char *number = path + n;
        if (strncmp(path, folders[i], n) == 0 && *number && strlen(number) < 9 &&
            strspn(number, "0123456789") == strlen(number)) {
            return (int)strtol(number, NULL, 10);
        }
    }
    return -1;
}

bool
mrs_file_is_stream(const char *path)
{
    struct stat st;
    return own_descriptor(path) >= 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

enum mrs_status
mrsi_open_stream(const char *path, int *fd, struct mrs_err *e)
{
    int own = own_descriptor(path);
    *fd = own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 3) : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return *fd >= 0 ? MRS_OK : mrs_err_sys(e, errno, "open %s", path);
}

static enum mrs_status
refuse_replace(const char *path, const struct mrs_replace *how, const char *what, const char *unlike, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_EXISTS, "%s %s: it is there and %s%s", how->option, path, what, unlike);
}

/* The name is unused: its folder must exist, or all work is lost. */
static enum mrs_status
folder_there(const char *path, const struct mrs_replace *how, struct mrs_err *e)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    struct stat st;
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (n >= sizeof folder) {
        return mrs_err_sys(e, ENAMETOOLONG, "%s %s", how->option, path);
    }
    if (n) {
        memcpy(folder, path, n);
        folder[n] = 0;
    }
    if (stat(folder, &st) == 0 && S_ISDIR(st.st_mode)) {
        return MRS_OK;
    }
    return MRSI_FAIL(e, MRS_E_MISSING, "%s %s: there is no folder %s", how->option, path, folder);
}

static enum mrs_status
check_owner(const char *path, const struct mrs_replace *how, bool *ours, struct mrs_err *e)
{
    char *text = NULL;
    size_t n = 0;
    if (how->is_ours) {
        return how->is_ours(how->arg, path, ours, e);
    }
    enum mrs_status s = how->text_is_ours ? mrs_file_read(how->mem, path, how->most, &text, &n, e) : MRS_OK;
    *ours = text && how->text_is_ours(how->mem, text, n);
    mrs_free(how->mem, text);
    return s;
}

enum mrs_status
mrs_file_may_be(const char *path, const struct mrs_replace *how, struct mrs_err *e)
{
    struct stat st;
    bool ours = false;
    if (mrs_file_is_stream(path)) {
        return MRS_OK;
    }
    if (lstat(path, &st) < 0) {
        return errno != ENOENT    ? mrs_err_sys(e, errno, "%s %s", how->option, path)
               : how->any_folder ? MRS_OK
                                 : folder_there(path, how, e);
    }
    if (S_ISLNK(st.st_mode)) {
        return refuse_replace(path, how, "a soft link, which is not replaced; name the file that it leads to", "", e);
    }
    if (!S_ISREG(st.st_mode)) {
        return refuse_replace(path, how, "a folder; name a file", "", e);
    }
    if (st.st_size == 0 || how->force) {
        return MRS_OK;
    }
    enum mrs_status s = check_owner(path, how, &ours, e);
    if (s == MRS_FAIL && e->code == MRS_E_LIMIT) { /* larger than any of ours */
        mrs_err_clear(e);
        s = MRS_OK;
    }
    return s != MRS_OK || ours ? s
           : how->no_force     ? refuse_replace(path, how, how->unlike, "; name another file", e)
                               : refuse_replace(path, how, how->unlike,
                                                "; name another file, move it away, or --force replaces it", e);
}

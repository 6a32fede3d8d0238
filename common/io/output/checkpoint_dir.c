/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_dir.c - the folder OUT.checkpoint, next to OUT.partial while a run can be resumed.
 *
 * It contains the file `state`, always complete, and numbered files of the run: 1, 2, 3 ... It is no part of the output
 * and is removed when the output is written. For a numbered file on another disk, the number is a soft link to a file
 * there, under an unpredictable name. The link is made before the file and removed after it, so that no file is ever
 * without its link. A link is followed only if the link and the file are ours: no other file is opened or removed
 * through it. */
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define STATE MRSI_STATE
#define AWAY "mongoreshape-" /* prefix of the name of a numbered file on another disk */
#define AWAY_DIGITS 32u      /* hexadecimal, after it */

static bool
is_number(const char *name)
{
    size_t n = strspn(name, "0123456789");
    return n > 0 && n < 11 && name[n] == 0 && name[0] != '0';
}

/* Whether only we use such a name: checked before every removal here. */
static bool
is_ours(const char *name)
{
    return is_number(name) || strcmp(name, STATE) == 0 || strncmp(name, STATE ".tmp", sizeof STATE ".tmp" - 1) == 0;
}

/* Length of the output path without trailing slashes. */
static size_t
output_length(const struct mrs_ckpt_dir *side)
{
    size_t n = strlen(side->output);
    while (n > 1 && side->output[n - 1] == '/') {
        n--;
    }
    return n;
}

/* "OUT.checkpoint/name"; NULL: no memory. */
static char *
path_of(const struct mrs_ckpt_dir *side, const char *name)
{
    return mrsi_format(side->mem, "%.*s" MRS_CHECKPOINT "%s%s", (int)output_length(side), side->output,
                       *name ? "/" : "", name);
}

void
mrs_ckpt_dir_place(const struct mrs_ckpt_dir *side, struct mrs_err *e)
{
    MRS_ASSERT(side->output);
    size_t n = output_length(side), most = sizeof e->ns - sizeof MRS_CHECKPOINT;
    if (e && strcmp(e->ns, MRS_CHECKPOINT) == 0) {
        snprintf(e->ns, sizeof e->ns, "%.*s" MRS_CHECKPOINT, (int)(n < most ? n : most), side->output);
    }
}

static char *
number_path(const struct mrs_ckpt_dir *side, uint32_t no)
{
    char name[16];
    snprintf(name, sizeof name, "%u", no);
    return path_of(side, name);
}

/* ---- the state ---- */
enum mrs_status
mrs_ckpt_dir_read(const struct mrs_ckpt_dir *side, char **state, size_t *n, struct mrs_err *e)
{
    char *path = path_of(side, STATE);
    enum mrs_status s = path ? mrs_file_read(side->mem, path, MRS_STOPPED_MAX, state, n, e) : mrs_err_memory(e, 0);
    mrs_free(side->mem, path);
    return s;
}

bool
mrsi_stopped_there(struct mrs_output *o)
{
    struct mrs_ckpt_dir side = {o->mem, o->path, NULL};
    struct stat st;
    char *path = path_of(&side, STATE);
    bool there = path && lstat(path, &st) == 0;
    mrs_free(o->mem, path);
    return there;
}

static enum mrs_status
make_folder(const struct mrs_ckpt_dir *side, struct mrs_err *e)
{
    char *dir = path_of(side, "");
    enum mrs_status s = mrs_allocated(dir, 0, e);
    if (s == MRS_OK && mkdir(dir, 0700) == 0) {
        s = mrsi_sync_parent(dir, e);
    } else if (s == MRS_OK && errno != EEXIST) {
        s = mrs_err_sys(e, errno, "create folder %s", dir);
    }
    mrs_free(side->mem, dir);
    return s;
}

enum mrs_status
mrs_ckpt_dir_write(const struct mrs_ckpt_dir *side, const void *p, size_t n, struct mrs_err *e)
{
    MRS_ASSERT(p || n == 0);
    enum mrs_status s = make_folder(side, e);
    char *path = s == MRS_OK ? path_of(side, STATE) : NULL;
    MRS_THEN(s, path ? mrs_file_write(path, p, n, e) : mrs_err_memory(e, 0));
    mrs_free(side->mem, path);
    return s;
}

/* ---- numbered files ---- */
/* Whether a path can be that of a numbered file on another disk. */
static bool
is_away(const char *path)
{
    const char *base = mrsi_base_name(path);
    size_t n = sizeof AWAY - 1;
    return *path == '/' && strncmp(base, AWAY, n) == 0 && strspn(base + n, "0123456789abcdef") == AWAY_DIGITS &&
           base[n + AWAY_DIGITS] == 0;
}

/* Checks the entry of a number: a file, or a link of ours to one elsewhere, whose path is then in away (else "").
 * Anything else is FAIL MRS_E_FORMAT, nothing MRS_E_MISSING. */
static enum mrs_status
check_entry(const char *path, char away[PATH_MAX], struct mrs_err *e)
{
    struct stat st;
    *away = 0;
    if (lstat(path, &st) < 0) {
        return errno == ENOENT ? MRSI_FAIL(e, MRS_E_MISSING,
                                           "%s of the stopped run is missing: --force starts over",
                                           path)
                               : mrs_err_sys(e, errno, "stat %s", path);
    }
    if (S_ISREG(st.st_mode) && st.st_nlink == 1) {
        return MRS_OK;
    }
    ssize_t n = S_ISLNK(st.st_mode) && st.st_uid == geteuid() ? readlink(path, away, PATH_MAX - 1) : 0;
    away[n > 0 ? n : 0] = 0;
    if (!is_away(away)) {
        *away = 0;
        return MRSI_FAIL(e, MRS_E_FORMAT, "%s was not made by mongoreshape", path);
    }
    return MRS_OK;
}

static enum mrs_status
not_there(const char *path, const char *away, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_MISSING,
                     "%s, a file of the stopped run, is missing (%s refers to it): mount the disk of its --tmp again, "
                     "or start over with --force",
                     away, path);
}

static enum mrs_status
open_away(const char *path, const char *away, int *fd, struct mrs_err *e)
{
    struct stat st;
    int f = open(away, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (f < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return not_there(path, away, e);
    }
    if (f < 0) {
        return mrs_err_sys(e, errno, "open %s", away);
    }
    if (fstat(f, &st) < 0 || !mrsi_is_own_file(&st)) {
        close(f);
        return MRSI_FAIL(e, MRS_E_FORMAT, "%s, of which %s tells, was not made by mongoreshape", away, path);
    }
    *fd = f;
    return MRS_OK;
}

static enum mrs_status
open_number(const char *path, int *fd, struct mrs_err *e)
{
    char away[PATH_MAX];
    enum mrs_status s = check_entry(path, away, e);
    if (s == MRS_OK && *away) {
        return open_away(path, away, fd, e);
    }
    *fd = s == MRS_OK ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    return s == MRS_OK && *fd < 0 ? mrs_err_sys(e, errno, "open %s", path) : s;
}

/* An unpredictable path in tmp. */
static enum mrs_status
name_away(const char *tmp, char away[PATH_MAX], struct mrs_err *e)
{
    uint64_t x[2];
    char dir[PATH_MAX];
    if (!realpath(tmp, dir)) {
        return mrs_err_sys(e, errno, "temporary file in %s", tmp);
    }
    if (getrandom(x, sizeof x, 0) != sizeof x) {
        return mrs_err_sys(e, errno, "random name of a temporary file in %s", tmp);
    }
    int n = snprintf(away, PATH_MAX, "%s/" AWAY "%016llx%016llx", dir[1] ? dir : "", (unsigned long long)x[0],
                     (unsigned long long)x[1]);
    return n > 0 && n < PATH_MAX ? MRS_OK : mrs_err_sys(e, ENAMETOOLONG, "temporary file in %s", tmp);
}

static enum mrs_status
create_away(const char *tmp, const char *path, int *fd, struct mrs_err *e)
{
    char away[PATH_MAX];
    struct stat st;
    enum mrs_status s = name_away(tmp, away, e);
    if (s != MRS_OK) {
        return s;
    }
    if (symlink(away, path) < 0) {
        return mrs_err_sys(e, errno, "create %s", path);
    }
    *fd = open(away, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL, 0600);
    if (*fd < 0) {
        s = mrs_err_sys(e, errno, "temporary file in %s", tmp);
        unlink(path);
        return s;
    }
    int r = fstat(*fd, &st);
    if (r < 0 || !mrsi_is_own_file(&st)) { /* a network disk that maps our files to another user */
        s = r < 0 ? mrs_err_sys(e, errno, "stat %s", away)
                  : MRSI_FAIL(e, MRS_E_IO,
                              "--tmp %s: files that are made there belong to another user, so a checkpoint could not "
                              "trust them: name another folder",
                              tmp);
        close(*fd);
        unlink(away);
        unlink(path);
    }
    return s;
}

static enum mrs_status
create_number(const struct mrs_ckpt_dir *side, const char *path, int *fd, struct mrs_err *e)
{
    if (side->tmp) {
        return create_away(side->tmp, path, fd, e);
    }
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL, 0600);
    return *fd < 0 ? mrs_err_sys(e, errno, "open %s", path) : MRS_OK;
}

enum mrs_status
mrs_ckpt_dir_file(const struct mrs_ckpt_dir *side, uint32_t no, bool create, int *fd, struct mrs_err *e)
{
    MRS_ASSERT(side->output && fd);
    enum mrs_status s = create ? make_folder(side, e) : MRS_OK;
    char *path = s == MRS_OK ? number_path(side, no) : NULL;
    if (!path) {
        return s == MRS_OK ? mrs_err_memory(e, 0) : s;
    }
    s = create ? create_number(side, path, fd, e) : open_number(path, fd, e);
    mrs_free(side->mem, path);
    return s;
}

enum mrs_status
mrs_ckpt_dir_sync(const struct mrs_ckpt_dir *side, uint32_t no, struct mrs_err *e)
{
    int fd;
    char away[PATH_MAX];
    char *path = number_path(side, no);
    enum mrs_status s = path ? open_number(path, &fd, e) : mrs_err_memory(e, 0);
    if (s == MRS_OK) {
        s = mrsi_sync_fd(fd, path, e);
        close(fd);
        MRS_THEN(s, check_entry(path, away, e));
        s = s == MRS_OK && *away ? mrsi_sync_parent(away, e) : s;
    }
    mrs_free(side->mem, path);
    return s;
}

enum mrs_status
mrs_ckpt_dir_check(const struct mrs_ckpt_dir *side, const struct mrs_ckpt_dir_keep *keep, struct mrs_err *e)
{
    MRS_ASSERT(keep->no || keep->n == 0);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < keep->n; i++) {
        int fd;
        s = mrs_ckpt_dir_file(side, keep->no[i], false, &fd, e);
        if (s == MRS_OK) {
            close(fd);
        }
    }
    return s;
}

static bool
has_folder(const char *away)
{
    char dir[PATH_MAX];
    struct stat st;
    size_t n = (size_t)(mrsi_base_name(away) - away);
    memcpy(dir, away, n);
    dir[n] = 0;
    return stat(dir, &st) == 0;
}

/* Removes a file; if it is a link of ours, first its target. forget: also if the disk of the target is not mounted. */
static enum mrs_status
remove_path(const char *path, bool forget, struct mrs_err *e)
{
    char away[PATH_MAX];
    struct stat st;
    (void)check_entry(path, away, NULL); /* the only place that removes foreign entries */
    if (*away && lstat(away, &st) < 0) {
        if (errno != ENOENT && errno != ENOTDIR) {
            return mrs_err_sys(e, errno, "stat %s", away);
        }
        if (!forget && !has_folder(away)) {
            return not_there(path, away, e);
        }
    } else if (*away && mrsi_is_own_file(&st) && unlink(away) < 0 && errno != ENOENT) {
        return mrs_err_sys(e, errno, "remove %s", away);
    }
    return unlink(path) < 0 && errno != ENOENT ? mrs_err_sys(e, errno, "remove %s", path) : MRS_OK;
}

void
mrs_ckpt_dir_drop(const struct mrs_ckpt_dir *side, uint32_t no)
{
    char *path = number_path(side, no);
    if (path) {
        (void)remove_path(path, true, NULL);
    }
    mrs_free(side->mem, path);
}

/* ---- removal ---- */
static bool
listed(const uint32_t *keep, uint32_t n, const char *name)
{
    unsigned long no = strtoul(name, NULL, 10);
    for (uint32_t i = 0; i < n; i++) {
        if (keep[i] == no) {
            return true;
        }
    }
    return false;
}

/* Removes the numbered files, or all others, except those to keep. */
static enum mrs_status
remove_some(const struct mrs_ckpt_dir *side, const char *const *names, uint32_t n_names, bool numbered,
            const struct mrs_ckpt_dir_keep *keep, struct mrs_err *e)
{
    MRS_ASSERT(names || n_names == 0);
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < n_names; i++) {
        bool state = strcmp(names[i], STATE) == 0;
        if (is_number(names[i]) != numbered || (keep && (state || listed(keep->no, keep->n, names[i])))) {
            continue;
        }
        char *path = path_of(side, names[i]);
        s = path ? remove_path(path, !keep, e) : mrs_err_memory(e, 0);
        mrs_free(side->mem, path);
    }
    return s;
}

static enum mrs_status
clear_folder(const struct mrs_ckpt_dir *side, const char *dir, const struct mrs_ckpt_dir_keep *keep,
             struct mrs_arena *a, struct mrs_err *e)
{
    const char **names = NULL;
    uint32_t n = 0;
    enum mrs_status s = mrsi_list_dir(a, dir, &names, &n, e);
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        if (!is_ours(names[i])) {
            s = MRSI_FAIL(e, MRS_E_EXISTS, "%s/%s was not made by mongoreshape: remove it yourself", dir, names[i]);
        }
    }
    s = s == MRS_OK ? remove_some(side, names, n, false, keep, e) : s; /* first the state: it lists the others */
    MRS_THEN(s, remove_some(side, names, n, true, keep, e));
    if (s == MRS_OK && !keep && rmdir(dir) < 0 && errno != ENOENT) {
        s = mrs_err_sys(e, errno, "remove %s", dir);
    }
    return s;
}

enum mrs_status
mrs_ckpt_dir_clear(const struct mrs_ckpt_dir *side, const struct mrs_ckpt_dir_keep *keep, struct mrs_err *e)
{
    MRS_ASSERT(side->output);
    struct mrs_arena a;
    struct stat st;
    char *dir = path_of(side, "");
    enum mrs_status s = mrs_allocated(dir, 0, e);
    mrs_arena_init(&a, side->mem);
    if (s == MRS_OK && lstat(dir, &st) == 0) {
        s = clear_folder(side, dir, keep, &a, e);
    }
    mrs_arena_clear(&a);
    mrs_free(side->mem, dir);
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* input_watch.c - checks that the input is unchanged since the start of the run.
 *
 * A dump that another job writes while it is read would give documents of two times, or lose late ones. So the state of
 * each file and folder of the input is recorded when it is listed, and compared before the output is published: size,
 * change time, status time, and inode; of a folder its names. A change that preserves all of these is not detected:
 * file systems count time in steps of a few milliseconds. */
#include "dumpdir.h"
#include <errno.h>

static enum mrs_status
watch(struct mrs_input *in, const struct mrsi_watched *what, struct mrs_err *e)
{
    MRS_ASSERT(in->n_watched <= in->cap_watched);
    struct mrsi_watched *more = mrs_more(in->mem, in->watched, in->n_watched, &in->cap_watched, sizeof *more);
    MRS_TRY(mrs_allocated(more, sizeof *more, e));
    in->watched = more;
    in->watched[in->n_watched++] = *what;
    uint32_t mode = (uint32_t)what->stamp.mode;
    /* without the permission to enter a folder its files cannot be read, whatever their modes */
    in->shared &= !what->is_folder ? mode & 066 : ((mode & 010) ? 060u : 0u) | ((mode & 001) ? 006u : 0u);
    return MRS_OK;
}

enum mrs_status
mrsi_watch_file(struct mrs_input *in, const char *path, int fd, const struct stat *st, struct mrs_err *e)
{
    MRS_ASSERT(path && st);
    struct mrsi_watched what = {.fd = fd, .stamp = mrsi_stamp_of(st)};
    if (!S_ISREG(st->st_mode)) {
        return MRS_OK;
    }
    what.path = mrs_arena_copy(&in->arena, path, strlen(path) + 1);
    return what.path ? watch(in, &what, e) : mrs_err_memory(e, strlen(path));
}

enum mrs_status
mrs_input_watch(struct mrs_input *in, const char *name, int fd, struct mrs_err *e)
{
    struct stat st;
    return fstat(fd, &st) < 0 ? mrs_err_sys(e, errno, "stat %s", name) : mrsi_watch_file(in, name, fd, &st, e);
}

enum mrs_status
mrsi_watch_folder(struct mrs_input *in, const struct mrsi_item *folder, const struct mrsi_items *has, struct mrs_err *e)
{
    MRS_ASSERT(folder->folder && (has->at || has->n == 0));
    struct stat st;
    struct mrsi_watched what = {.path = folder->path, .fd = -1, .is_folder = true, .has = *has};
    if (stat(folder->path, &st) < 0) {
        return mrs_err_sys(e, errno, "stat %s", folder->path);
    }
    what.stamp = mrsi_stamp_of(&st);
    enum mrs_status s = watch(in, &what, e);
    for (uint32_t i = 0; s == MRS_OK && i < has->n; i++) {
        struct mrsi_watched file = {.path = has->at[i].path, .fd = -1, .stamp = has->at[i].stamp};
        s = has->at[i].folder ? MRS_OK : watch(in, &file, e);
    }
    return s;
}

static enum mrs_status
compare_file(const struct mrsi_watched *w, struct mrs_err *e)
{
    MRS_ASSERT(!w->is_folder);
    struct stat st;
    int r = w->fd >= 0 ? fstat(w->fd, &st) : stat(w->path, &st);
    if (r < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return MRSI_FAIL(e, MRS_E_CHANGED, "%s: it was removed while it was read", w->path);
    }
    if (r < 0) {
        return mrs_err_sys(e, errno, "stat %s", w->path);
    }
    struct mrsi_stamp now = mrsi_stamp_of(&st);
    return mrsi_stamp_compare(w->path, &w->stamp, &now, e);
}

static enum mrs_status
compare_folder(const struct mrsi_watched *w, struct mrs_arena *a, struct mrs_err *e)
{
    MRS_ASSERT(w->is_folder);
    const char **names;
    uint32_t n;
    struct mrs_err own;
    mrs_err_clear(&own);
    enum mrs_status s = mrsi_list_dir(a, w->path, &names, &n, &own);
    if (s != MRS_OK) {
        enum mrs_code code = own.os_errno == ENOENT || own.os_errno == ENOTDIR ? MRS_E_CHANGED : own.code;
        return mrs_err_set(e, s, code, "%s", own.msg);
    }
    for (uint32_t i = 0; i < n || i < w->has.n; i++) {
        int order = i == n ? -1 : i == w->has.n ? 1 : strcmp(w->has.at[i].name, names[i]);
        if (order) {
            return MRSI_FAIL(e, MRS_E_CHANGED, "%s/%s: it was %s while the folder was read", w->path,
                             order < 0 ? w->has.at[i].name : names[i], order < 0 ? "removed" : "added");
        }
    }
    return MRS_OK;
}

enum mrs_status
mrs_input_unchanged(const struct mrs_input *in, struct mrs_err *e)
{
    struct mrs_arena a;
    enum mrs_status s = MRS_OK;
    mrs_arena_init(&a, in->mem);
    for (uint32_t i = 0; s == MRS_OK && i < in->n_watched; i++) {
        const struct mrsi_watched *w = &in->watched[i];
        s = w->is_folder ? compare_folder(w, &a, e) : compare_file(w, e);
        mrs_arena_reset(&a);
    }
    mrs_arena_clear(&a);
    return s;
}

enum mrs_status
mrs_input_blame(const struct mrs_input *in, enum mrs_status s, struct mrs_err *e)
{
    struct mrs_err own;
    bool damage = s == MRS_FAIL && (e->code == MRS_E_BSON || e->code == MRS_E_FORMAT || e->code == MRS_E_MISSING);
    mrs_err_clear(&own);
    if (damage && mrs_input_unchanged(in, &own) != MRS_OK && own.code == MRS_E_CHANGED) {
        *e = own;
    }
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* folders.c - whole folders: lists one in a fixed order, removes one, and checks whether one may be removed.
 *
 * An output that replaces an older one removes that folder, so a bug in this file could destroy foreign data; the guard
 * is strict for that reason: a folder counts as a dump only if all its contents are named like parts of one, in at most
 * two levels. Soft links are removed as links, never followed. */
#include "file.h"
#include "mongoreshape/words.h"
#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <unistd.h>

/* The marker is removed last: it identifies the owner of a partly removed folder. */
static int
marker_last(const FTSENT **a, const FTSENT **b)
{
    return (strcmp((*a)->fts_name, MRSI_MARKER) == 0) - (strcmp((*b)->fts_name, MRSI_MARKER) == 0);
}

enum mrs_status
mrsi_remove_tree(const char *path, struct mrs_err *e)
{
    MRS_ASSERT(path && *path);
    struct stat st;
    if (lstat(path, &st) < 0) {
        return errno == ENOENT ? MRS_OK : mrs_err_sys(e, errno, "stat %s", path);
    }
    char *roots[2] = {(char *)(uintptr_t)path, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, marker_last);
    if (!fts) {
        return mrs_err_sys(e, errno, "open folder %s", path);
    }
    enum mrs_status s = MRS_OK;
    FTSENT *at;
    errno = 0;
    while (s == MRS_OK && (at = fts_read(fts)) != NULL) {
        switch (at->fts_info) {
        case FTS_D:
            break;
        case FTS_DNR:
        case FTS_ERR:
            s = mrs_err_sys(e, at->fts_errno, "open folder %s", at->fts_path);
            break;
        case FTS_DP:
            s = rmdir(at->fts_accpath) < 0 ? mrs_err_sys(e, errno, "remove %s", at->fts_path)
                                           : MRS_OK;
            break;
        default:
            s = unlink(at->fts_accpath) < 0 ? mrs_err_sys(e, errno, "remove %s", at->fts_path)
                                            : MRS_OK;
        }
        errno = 0;
    }
    if (s == MRS_OK && errno) {
        s = mrs_err_sys(e, errno, "read folder %s", path);
    }
    fts_close(fts);
    return s;
}

static int
by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of an open folder; grows the list in the arena by doubling. */
static enum mrs_status
read_names(struct mrs_arena *a, DIR *dir, const char *path, const char ***names, uint32_t *n,
           struct mrs_err *e)
{
    uint32_t cap = 0;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (!entry) {
            return errno ? mrs_err_sys(e, errno, "read folder %s", path) : MRS_OK;
        }
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            continue;
        }
        const char **more = mrs_arena_more(a, *names, *n, &cap, sizeof *more);
        MRS_TRY(mrs_allocated(more, sizeof *more, e));
        *names = more;
        (*names)[*n] = mrs_arena_copy(a, name, strlen(name) + 1);
        if (!(*names)[*n]) {
            return mrs_err_memory(e, strlen(name));
        }
        ++*n;
    }
}

enum mrs_status
mrsi_list_dir(struct mrs_arena *a, const char *path, const char ***names, uint32_t *n,
              struct mrs_err *e)
{
    MRS_ASSERT(path && names && n);
    *names = NULL;
    *n = 0;
    DIR *dir = opendir(path);
    if (!dir) {
        return mrs_err_sys(e, errno, "open folder %s", path);
    }
    enum mrs_status s = read_names(a, dir, path, names, n, e);
    closedir(dir);
    if (s == MRS_OK && *n) {
        qsort(*names, *n, sizeof **names, by_bytes);
    }
    return s;
}

char *
mrsi_arena_join(struct mrs_arena *a, const char *p, const char *q)
{
    size_t n = strlen(p), k = strlen(q);
    char *text = mrs_arena_alloc(a, n + k + 2);
    if (text) {
        memcpy(text, p, n);
        text[n] = '/';
        memcpy(text + n + 1, q, k + 1);
    }
    return text;
}

static enum mrs_status
list_files(const struct mrsi_folder_lister *self, struct mrs_arena *a, const struct mrsi_item *folder,
           struct mrsi_items *out, struct mrs_err *e)
{
    MRS_ASSERT(folder->folder && folder->path);
    const char **names;
    uint32_t n;
    (void)self;
    enum mrs_status s = mrsi_list_dir(a, folder->path, &names, &n, e);
    if (s == MRS_OK && n) {
        out->at = mrs_arena_alloc(a, n * sizeof *out->at);
        s = mrs_allocated(out->at, n * sizeof *out->at, e);
    }
    for (uint32_t i = 0; s == MRS_OK && i < n; i++) {
        struct stat st;
        const char *path = mrsi_arena_join(a, folder->path, names[i]);
        MRS_TRY(mrs_allocated(path, strlen(names[i]), e));
        if (lstat(path, &st) < 0) {
            s = mrs_err_sys(e, errno, "open %s", path);
        } else if (S_ISLNK(st.st_mode)) {
            s = MRSI_FAIL(e, MRS_E_FORMAT, "%s: a soft link, which is not followed: put what it points at in its place",
                          path);
        } else if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
            s = MRSI_FAIL(e, MRS_E_FORMAT, "%s: neither a file nor a folder", path);
        } else {
            out->at[i] = (struct mrsi_item){.name = names[i],
                                            .path = path,
                                            .bytes = (uint64_t)st.st_size,
                                            .folder = S_ISDIR(st.st_mode),
                                            .stamp = mrsi_stamp_of(&st)};
            out->n = i + 1;
        }
    }
    return s;
}

const struct mrsi_folder_lister mrsi_doc_offsets_files = {list_files};

static bool
dump_name(const char *name)
{
    static const char *const more[] = {"prelude.json", "prelude.json.gz", MRSI_MANIFEST,
                                       MRSI_MARKER};
    return MRS_IS_ONE_OF(name, more) || mrsi_file_name(name).kind != MRSI_FILE_OTHER;
}

enum mrs_status
mrsi_is_dump(struct mrs_mem *mem, const char *path, struct mrs_err *e)
{
    MRS_ASSERT(path);
    char *manifest = mrsi_format(mem, "%s/%s", path, MRSI_MANIFEST);
    struct stat st;
    MRS_TRY(mrs_allocated(manifest, strlen(path), e));
    bool ours = lstat(manifest, &st) == 0 && S_ISREG(st.st_mode);
    mrs_free(mem, manifest);
    if (ours) {
        return MRS_OK;
    }
    char *roots[2] = {(char *)(uintptr_t)path, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!fts) {
        return mrs_err_sys(e, errno, "open folder %s", path);
    }
    enum mrs_status s = MRS_OK;
    for (FTSENT *at; s == MRS_OK && (at = fts_read(fts)) != NULL;) {
        bool folder = at->fts_info == FTS_D || at->fts_info == FTS_DP;
        bool file = at->fts_info == FTS_F || at->fts_info == FTS_SL || at->fts_info == FTS_SLNONE;
        if (folder ? at->fts_level > 1 : !file || at->fts_level > 2 || !dump_name(at->fts_name)) {
            s = MRSI_FAIL(e, MRS_E_EXISTS,
                          "%s is no part of a dump, so %s is not replaced: remove it yourself",
                          at->fts_path, path);
        }
    }
    fts_close(fts);
    return s;
}

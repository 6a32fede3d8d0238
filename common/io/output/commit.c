/* SPDX-License-Identifier: Apache-2.0 */
/* commit.c - makes an output visible: sync, manifest, one rename.
 *
 * The order is essential. Files and folders are on disk before the manifest is written, the manifest is on disk before
 * the rename, and the rename is on disk before an older output is removed. The system itself refuses a rename over
 * something that appeared meanwhile. If any step fails, the former output is restored, and the partial folder stays for
 * abort. Standard output gets its bytes here. */
#include "archive_out.h"
#include "pack_container.h"
#include "mongoreshape/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* Fails with EEXIST if `to` exists. */
int
mrsi_rename_new(const char *from, const char *to)
{
    MRS_ASSERT(from && to);
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -1;
    }
    struct stat st; /* a file system without that flag: the best alternative */
    if (lstat(to, &st) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

static enum mrs_status
rename_failed(const char *from, const char *to, int err, struct mrs_err *e)
{
    return err == EEXIST || err == ENOTEMPTY
               ? MRSI_FAIL(e, MRS_E_EXISTS, "%s has appeared meanwhile: not replaced", to)
               : mrs_err_sys(e, err, "rename %s to %s", from, to);
}

enum mrs_status
mrs_output_sync(struct mrs_output *o, struct mrs_err *e)
{
    MRS_ASSERT(!o->committed);
    enum mrs_status s = MRS_OK;
    while (o->n_kept && s == MRS_OK) {
        struct mrsi_unsynced *k = &o->kept[--o->n_kept];
        s = mrsi_sync_fd(k->fd, k->path, e);
        if (close(k->fd) < 0 && s == MRS_OK) {
            s = mrs_err_sys(e, errno, "close %s", k->path);
        }
        mrs_free(o->mem, k->path);
    }
    for (uint32_t i = o->n_dirs; i > 0 && s == MRS_OK; i--) {
        s = mrsi_sync_dir(o->dirs[i - 1], e);
    }
    return s == MRS_OK ? mrsi_sync_dir(o->partial, e) : s;
}

static enum mrs_status
write_manifest(struct mrs_output *o, struct mrs_view extra, struct mrs_err *e)
{
    struct mrs_buf text;
    mrs_buf_init(&text, o->mem, SIZE_MAX / 4);
    char *path = mrsi_format(o->mem, "%s/%s", o->partial, o->kind == MRSI_OUT_FILE ? "manifest" : MRSI_MANIFEST);
    enum mrs_status s =
        path ? mrsi_manifest(o, extra, &text, e) : mrs_err_memory(e, strlen(o->partial));
    MRS_THEN(s, mrsi_file_write(path, o->file_mode, text.p, text.n, e));
    mrs_free(o->mem, path);
    mrs_buf_clear(&text);
    return s;
}

/* ---- a folder ---- */
/* True if the file system does not support a flag. */
static bool
unknown_flag(int err)
{
    return err == EINVAL || err == ENOSYS;
}

/* Moves the older output to an unused name. */
static enum mrs_status
move_aside(struct mrs_output *o, char **aside, struct mrs_err *e)
{
    for (int i = 0; i < 100; i++) {
        char *name = mrsi_format(o->mem, i ? "%s.old%d" : "%s.old", o->path, i);
        MRS_TRY(mrs_allocated(name, strlen(o->path), e));
        if (mrsi_rename_new(o->path, name) == 0) {
            *aside = name;
            return MRS_OK;
        }
        int err = errno;
        mrs_free(o->mem, name);
        if (err != EEXIST && err != ENOTEMPTY) {
            return mrs_err_sys(e, err, "rename %s", o->path);
        }
    }
    return MRSI_FAIL(e, MRS_E_EXISTS, "%s: a hundred older outputs are next to it", o->path);
}

/* For file systems that cannot exchange two names: for a moment there is no output. */
static enum mrs_status
replace_in_two(struct mrs_output *o, struct mrs_err *e)
{
    char *aside = NULL;
    MRS_TRY(move_aside(o, &aside, e));
    bool moved = mrsi_rename_new(o->partial, o->path) == 0;
    enum mrs_status s = moved ? mrsi_sync_parent(o->path, e) : rename_failed(o->partial, o->path, errno, e);
    if (s != MRS_OK && moved) {
        (void)mrsi_rename_new(o->path, o->partial);
    }
    if (s != MRS_OK) {
        (void)mrsi_rename_new(aside, o->path); /* if even that fails, it stays complete next to the output */
    } else {
        mrsi_remove_tree(aside, NULL); /* already published: what cannot be removed stays next to it */
    }
    mrs_free(o->mem, aside);
    return s;
}

/* Exchanges the older output and the new one, so that there is always one. */
static enum mrs_status
replace_dir(struct mrs_output *o, struct mrs_err *e)
{
    MRS_TRY(mrsi_is_dump(o->mem, o->path, e));
    if (renameat2(AT_FDCWD, o->partial, AT_FDCWD, o->path, RENAME_EXCHANGE) < 0) {
        return unknown_flag(errno) ? replace_in_two(o, e) : rename_failed(o->partial, o->path, errno, e);
    }
    int marker = -1, older = -1;
    /* the new one is ours: locks it against removal by another run */
    (void)mrsi_claim_folder(o->partial, &older, NULL);
    /* if we are killed now, the next run may remove the older output */
    if (mrsi_create(o->marker, 0600, &marker, NULL) == MRS_OK) {
        close(marker);
    }
    enum mrs_status s = mrsi_sync_parent(o->path, e);
    if (s == MRS_OK) {
        mrsi_remove_tree(o->partial, NULL); /* already published: what cannot be removed stays next to it */
    } else {
        (void)unlink(o->marker);
        if (renameat2(AT_FDCWD, o->partial, AT_FDCWD, o->path, RENAME_EXCHANGE) < 0) {
            o->keep_partial = true; /* it holds the older output */
        }
    }
    if (older >= 0) {
        close(older);
    }
    return s;
}

static enum mrs_status
publish_dir(struct mrs_output *o, struct mrs_err *e)
{
    MRS_ASSERT(!o->committed);
    struct stat st;
    if (unlink(o->marker) < 0) {
        return mrs_err_sys(e, errno, "remove %s", o->marker);
    }
    MRS_TRY(mrsi_sync_dir(o->partial, e));
    if (o->force && lstat(o->path, &st) == 0) {
        return replace_dir(o, e);
    }
    if (mrsi_rename_new(o->partial, o->path) < 0) {
        return rename_failed(o->partial, o->path, errno, e);
    }
    enum mrs_status s = mrsi_sync_parent(o->path, e);
    if (s != MRS_OK) {
        (void)mrsi_rename_new(o->path, o->partial);
    }
    return s;
}

/* ---- a single file, its metadata and its manifest ---- */
/* One name (NULL: no effect) that gets new content, or none; the older content moves to the name of the new one, so
 * that the exchange can be undone. */
struct commit_move {
    char *from;
    const char *to;
    enum { NOT_MOVED, CAME, WENT, SWAPPED } state;
};

/* If names cannot be exchanged: uses a third name, and undoes a partial exchange. */
static int
swap_by_three(const char *from, const char *to)
{
    char third[PATH_MAX];
    int n = snprintf(third, sizeof third, "%s.old", from);
    if (n < 0 || (size_t)n >= sizeof third) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (mrsi_rename_new(to, third) < 0) {
        return -1;
    }
    int err = mrsi_rename_new(from, to) < 0 ? errno : 0;
    if (err) {
        (void)mrsi_rename_new(third, to);
        errno = err;
        return -1;
    }
    (void)mrsi_rename_new(third, from); /* else it stays elsewhere in the same folder */
    return 0;
}

int
mrsi_swap(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) {
        return 0;
    }
    return unknown_flag(errno) ? swap_by_three(from, to) : -1;
}

static enum mrs_status
move_one(struct commit_move *m, bool over, struct mrs_err *e)
{
    struct stat st;
    if (!m->to) {
        return MRS_OK;
    }
    bool have = lstat(m->from, &st) == 0, there = lstat(m->to, &st) == 0;
    int r = 0;
    if (have && there && over) {
        r = mrsi_swap(m->from, m->to);
        m->state = r == 0 ? SWAPPED : NOT_MOVED;
    } else if (have) {
        r = mrsi_rename_new(m->from, m->to);
        m->state = r == 0 ? CAME : NOT_MOVED;
    } else if (there && over) {
        r = mrsi_rename_new(m->to, m->from);
        m->state = r == 0 ? WENT : NOT_MOVED;
    }
    return r < 0 ? rename_failed(m->from, m->to, errno, e) : MRS_OK;
}

/* False: the former output is still below the partial folder. */
static bool
undo(const struct commit_move *m)
{
    MRS_ASSERT(m->state == NOT_MOVED || m->to);
    if (m->state == SWAPPED) {
        return mrsi_swap(m->from, m->to) == 0;
    }
    if (m->state == CAME) {
        return mrsi_rename_new(m->to, m->from) == 0 || unlink(m->to) == 0;
    }
    return m->state != WENT || mrsi_rename_new(m->from, m->to) == 0;
}

/* A file below the partial folder; NULL without memory. */
static char *
below(struct mrs_output *o, const char *name)
{
    return mrsi_format(o->mem, "%s/%s", o->partial, name);
}

static enum mrs_status
publish_file(struct mrs_output *o, struct mrs_err *e)
{
    MRS_ASSERT(!o->committed);
    bool pack = o->kind == MRSI_OUT_PACK;
    char *manifest = mrsi_format(o->mem, "%s.manifest.json", o->path);
    struct commit_move moves[] = {
        /* the old manifest first: it is never next to other data */
        {below(o, pack ? "old." MRSI_MANIFEST : "old-manifest"), manifest, NOT_MOVED},
        {below(o, pack ? "no." MRSI_MANIFEST : "metadata"), o->meta_path, NOT_MOVED},
        {below(o, pack ? MRSI_PACKED : "data"), o->path, NOT_MOVED},
        {below(o, pack ? MRSI_MANIFEST : "manifest"), manifest, NOT_MOVED},
    };
    enum { N = sizeof moves / sizeof *moves };
    enum mrs_status s = mrs_allocated(manifest, strlen(o->path), e);
    for (int i = 0; i < N && s == MRS_OK; i++) {
        s = moves[i].from ? MRS_OK : mrs_err_memory(e, strlen(o->path));
    }
    for (int i = 0; i < N && s == MRS_OK; i++) {
        bool over = o->force || i == 0; /* a manifest without its file is worthless */
        s = move_one(&moves[i], over, e);
    }
    MRS_THEN(s, mrsi_sync_parent(o->path, e));
    for (int i = N - 1; i >= 0 && s != MRS_OK; i--) {
        o->keep_partial = !undo(&moves[i]) || o->keep_partial;
    }
    if (s == MRS_OK) {
        mrsi_remove_tree(o->partial, NULL); /* the marker and the replaced files */
    }
    for (int i = 0; i < N; i++) {
        mrs_free(o->mem, moves[i].from);
    }
    mrs_free(o->mem, manifest);
    return s;
}

/* Copies to standard output, which can be stopped but not resumed. */
static enum mrs_status
send_span(struct mrs_output *o, const struct mrsi_file_span *span, struct mrs_err *e)
{
    struct mrsi_resumable resumed = {.pause = &o->pause, .path = "-", .from = mrs_empty_doc()};
    uint64_t done = 0;
    return mrsi_resumable_span(&resumed, span, &done, STDOUT_FILENO, "standard output", e);
}

static enum mrs_status
publish_stdout(struct mrs_output *o, struct mrs_err *e)
{
    struct stat st;
    if (fstat(o->out_fd, &st) < 0) {
        return mrs_err_sys(e, errno, "stat temporary file");
    }
    struct mrsi_file_span span = {o->out_fd, 0, (uint64_t)st.st_size, "temporary file"};
    enum mrs_status s = mrsi_output_input_same(o, e);
    return s == MRS_OK ? send_span(o, &span, e) : s;
}

/* ---- a packed output ---- */
static enum mrs_status
pack_into(struct mrs_output *o, struct mrsi_resumable *resumed, const char *name, struct mrs_err *e)
{
    static const char *const skip[] = {MRSI_MARKER, MRSI_PACKED};
    struct mrsi_container_pack pack = {o->mem, o->partial, skip,     sizeof skip / sizeof *skip,
                                       resumed->fd, name,     o->pack, o->pool, resumed};
    return o->format == MRS_FORMAT_ARCHIVE ? mrsi_pack_archive(o, resumed, name, e)
           : o->format == MRS_FORMAT_TAR   ? mrsi_pack_tar(&pack, e)
                                           : mrsi_pack_zip(&pack, e);
}

/* The written files stay until the packed file is on disk: they need not be synced. */
static enum mrs_status
pack_file(struct mrs_output *o, struct mrs_err *e)
{
    struct stat st;
    struct mrsi_resumable resumed;
    char *path = NULL;
    mrsi_resumable_begin(o, MRSI_PACKED, NULL, false, &resumed);
    MRS_TRY(mrsi_resumable_open(o, &resumed, &path, e));
    enum mrs_status s = pack_into(o, &resumed, o->path, e);
    if (s == MRS_OK && !o->to_stdout) {
        s = mrsi_sync_fd(resumed.fd, path, e);
    } else if (s == MRS_OK && fstat(resumed.fd, &st) < 0) {
        s = mrs_err_sys(e, errno, "stat %s", path);
    } else if (s == MRS_OK) {
        struct mrsi_file_span span = {resumed.fd, 0, (uint64_t)st.st_size, path};
        s = mrsi_output_input_same(o, e);
        MRS_THEN(s, send_span(o, &span, e));
    }
    if (close(resumed.fd) < 0 && s == MRS_OK) {
        s = mrs_err_sys(e, errno, "close %s", path);
    }
    mrs_free(o->mem, path);
    return s == MRS_OK && !o->to_stdout ? mrsi_sync_dir(o->partial, e) : s;
}

static enum mrs_status
send_archive(struct mrs_output *o, struct mrs_err *e)
{
    struct mrsi_resumable resumed;
    mrsi_resumable_begin(o, "-", NULL, false, &resumed);
    resumed.fd = STDOUT_FILENO;
    return pack_into(o, &resumed, "standard output", e);
}

/* The temporary folder is removed when all bytes are written. */
static enum mrs_status
send(struct mrs_output *o, struct mrs_err *e)
{
    enum mrs_status s = o->stream                         ? mrsi_stream_finish(o, e)
                        : o->format == MRS_FORMAT_ARCHIVE ? send_archive(o, e)
                                                          : pack_file(o, e);
    if (s == MRS_OK) {
        mrsi_remove_tree(o->partial, NULL);
    }
    return s;
}

static enum mrs_status
publish(struct mrs_output *o, struct mrs_view extra, struct mrs_err *e)
{
    MRS_ASSERT(!o->committed);
    if (o->kind == MRSI_OUT_STDOUT) {
        return publish_stdout(o, e);
    }
    if (o->to_stdout) {
        return send(o, e);
    }
    enum mrs_status s = o->kind == MRSI_OUT_PACK ? pack_file(o, e) : mrs_output_sync(o, e);
    MRS_THEN(s, write_manifest(o, extra, e));
    MRS_THEN(s, mrsi_output_input_same(o, e));
    MRS_THEN(s, o->kind == MRSI_OUT_DIR ? publish_dir(o, e) : publish_file(o, e));
    return s;
}

enum mrs_status
mrs_output_commit(struct mrs_output *o, struct mrs_view extra, uint64_t *sync_ms, struct mrs_err *e)
{
    uint64_t start = mrs_clock_steady();
    enum mrs_status s = MRS_OK;
    if (o->failed || o->committed) {
        return MRSI_FAIL(e, MRS_E_IO, "%s: a write has failed before, output not written",
                         o->path);
    }
    if (o->sinks) {
        s = MRSI_FAIL(e, MRS_E_ACCOUNT, "%s: a collection is still being written", o->path);
    } else if (o->resumed_from.n && !o->resumed_taken && mrsi_resumable_is_copy(o)) {
        s = MRSI_FAIL(e, MRS_E_ACCOUNT, "%s: a partly copied file was not continued", o->path);
    } else {
        mrsi_background_copy_drop(o, NULL);
        s = publish(o, extra, e);
    }
    if (s != MRS_OK) {
        return mrsi_output_fail(o, s);
    }
    o->committed = true;
    if (sync_ms) {
        *sync_ms = mrs_clock_steady() - start;
    }
    return MRS_OK;
}

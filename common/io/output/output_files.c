/* SPDX-License-Identifier: Apache-2.0 */
/* output_files.c - the files of an output below its partial folder: names, records of the manifest, creating,
 * keeping. */
#include "io/codec/codec_pool.h"
#include "mongoreshape/ejson.h"
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

const char *
mrsi_codec_suffix(enum mrs_codec codec)
{
    return codec == MRS_CODEC_GZIP ? ".gz" : codec == MRS_CODEC_ZSTD ? ".zst" : "";
}

enum mrs_status
mrsi_output_fail(struct mrs_output *o, enum mrs_status s)
{
    if (s != MRS_OK) {
        pthread_mutex_lock(&o->lock);
        o->failed = true;
        pthread_mutex_unlock(&o->lock);
    }
    return s;
}

enum mrs_codec
mrsi_meta_codec(enum mrs_codec codec)
{
    return codec == MRS_CODEC_GZIP ? codec : MRS_CODEC_NONE;
}

enum mrs_status
mrsi_output_enter(struct mrs_output *o, const char *name, bool extra, uint32_t *index,
                  struct mrs_err *e)
{
    MRS_ASSERT(name && index);
    size_t n = strlen(name);
    uint64_t hash = mrs_hash(name, n, extra).lo;
    char *copy = mrs_strndup(o->mem, name, n);
    enum mrs_status s = mrs_allocated(copy, n, e);
    pthread_mutex_lock(&o->lock);
    MRS_ASSERT(o->n_recs <= o->cap_recs);
    for (uint32_t i = 0; s == MRS_OK && i < o->n_recs; i++) {
        if (o->recs[i].hash == hash && o->recs[i].extra == extra &&
            strcmp(o->recs[i].name, name) == 0) {
            s = MRSI_FAIL(e, MRS_E_EXISTS, "%s is written twice", name);
        }
    }
    struct mrsi_out_rec *more =
        s == MRS_OK ? mrs_more(o->mem, o->recs, o->n_recs, &o->cap_recs, sizeof *more) : NULL;
    if (s == MRS_OK && !more) {
        s = mrs_err_memory(e, sizeof *more);
    }
    if (s == MRS_OK) {
        o->recs = more;
        struct mrsi_out_rec *rec = &o->recs[o->n_recs];
        memset(rec, 0, sizeof *rec);
        rec->name = copy;
        rec->hash = hash;
        rec->extra = extra;
        *index = o->n_recs++;
        copy = NULL;
    }
    pthread_mutex_unlock(&o->lock);
    mrs_free(o->mem, copy);
    return s;
}

enum mrs_status
mrsi_output_note_dir(struct mrs_output *o, char *path, struct mrs_err *e)
{
    MRS_ASSERT(path && o->n_dirs <= o->cap_dirs);
    char **more = mrs_more(o->mem, o->dirs, o->n_dirs, &o->cap_dirs, sizeof *more);
    if (!more) {
        mrs_free(o->mem, path);
        return mrs_err_memory(e, sizeof *more);
    }
    o->dirs = more;
    o->dirs[o->n_dirs++] = path;
    return MRS_OK;
}

bool
mrs_output_has(struct mrs_output *o, const char *rel_path)
{
    MRS_ASSERT(rel_path);
    uint64_t hash = mrs_hash(rel_path, strlen(rel_path), true).lo;
    bool found = false;
    pthread_mutex_lock(&o->lock);
    for (uint32_t i = 0; !found && i < o->n_recs; i++) {
        found = o->recs[i].hash == hash && o->recs[i].extra && strcmp(o->recs[i].name, rel_path) == 0;
    }
    pthread_mutex_unlock(&o->lock);
    return found;
}

/* Creates one folder and records a new one. Under the lock. */
static enum mrs_status
make_dir(struct mrs_output *o, const char *path, size_t n, struct mrs_err *e)
{
    char *dir = mrs_strndup(o->mem, path, n);
    MRS_TRY(mrs_allocated(dir, n, e));
    if (mkdir(dir, o->folder_mode) < 0) {
        enum mrs_status s =
            errno == EEXIST ? MRS_OK : mrs_err_sys(e, errno, "create folder %s", dir);
        mrs_free(o->mem, dir);
        return s;
    }
    return mrsi_output_note_dir(o, dir, e);
}

enum mrs_status
mrsi_output_create(struct mrs_output *o, const char *rel, int *fd, char **path, struct mrs_err *e)
{
    MRS_ASSERT(rel && fd && path);
    char *full = mrsi_format(o->mem, "%s/%s", o->partial, rel);
    enum mrs_status s = mrs_allocated(full, strlen(rel), e);
    size_t top = strlen(o->partial) + 1;
    pthread_mutex_lock(&o->lock);
    for (char *slash = full ? strchr(full + top, '/') : NULL; slash && s == MRS_OK;
         slash = strchr(slash + 1, '/')) {
        s = make_dir(o, full, (size_t)(slash - full), e);
    }
    pthread_mutex_unlock(&o->lock);
    MRS_THEN(s, mrsi_create(full, o->file_mode, fd, e));
    if (s != MRS_OK) {
        mrs_free(o->mem, full);
        return s;
    }
    *path = full;
    return MRS_OK;
}

enum mrs_status
mrsi_output_keep(struct mrs_output *o, int fd, char *path, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0 && o->n_kept <= MRSI_KEPT_MAX);
    enum mrs_status s = mrsi_output_note_file(o, fd, path, e);
    (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* only a hint: fsync decides */
    pthread_mutex_lock(&o->lock);
    bool room = s == MRS_OK && o->n_kept < MRSI_KEPT_MAX;
    if (room) {
        o->kept[o->n_kept++] = (struct mrsi_unsynced){fd, path};
    }
    pthread_mutex_unlock(&o->lock);
    if (room) {
        return MRS_OK;
    }
    MRS_THEN(s, mrsi_sync_fd(fd, path, e));
    if (close(fd) < 0 && s == MRS_OK) {
        s = mrs_err_sys(e, errno, "close %s", path);
    }
    mrs_free(o->mem, path);
    return s;
}

enum mrs_status
mrsi_output_piece(struct mrs_output *o, const struct mrsi_small_file *piece, struct mrs_err *e)
{
    MRS_ASSERT(piece->rel && (piece->p || piece->n == 0));
    int fd;
    char *path;
    struct mrsi_encoder *enc = NULL;
    enum mrs_status s = mrsi_output_create(o, piece->rel, &fd, &path, e);
    if (s != MRS_OK) {
        return s;
    }
    if (piece->codec == MRS_CODEC_NONE) {
        s = mrsi_write_full(fd, piece->p, piece->n, path, e);
    } else {
        struct mrsi_encoder_to to = {fd, path, {piece->codec, 0}, 0, NULL, false, 0};
        s = mrsi_encoder_open(o->mem, &to, &enc, e);
        MRS_THEN(s, mrsi_encoder_write(enc, piece->p, piece->n, e));
        MRS_THEN(s, mrsi_encoder_finish(enc, e));
        mrsi_encoder_close(enc);
    }
    if (s == MRS_OK) {
        return mrsi_output_keep(o, fd, path, e);
    }
    close(fd);
    mrs_free(o->mem, path);
    return s;
}

char *
mrsi_output_data_rel(struct mrs_output *o, const char *db, const char *coll)
{
    MRS_ASSERT(db && coll);
    char stem[MRSI_STEM_MAX + 1];
    if (o->kind == MRSI_OUT_FILE) {
        return mrsi_format(o->mem, "data");
    }
    mrsi_name_escape(coll, strlen(coll), stem);
    return mrsi_format(o->mem, "%s/%s.bson%s", db, stem, mrsi_codec_suffix(o->codec));
}

char *
mrsi_output_meta_rel(struct mrs_output *o, const char *db, const char *coll)
{
    MRS_ASSERT(db && coll);
    char stem[MRSI_STEM_MAX + 1];
    if (o->kind == MRSI_OUT_FILE) {
        return mrsi_format(o->mem, "metadata");
    }
    mrsi_name_escape(coll, strlen(coll), stem);
    return mrsi_format(o->mem, "%s/%s.metadata.json%s", db, stem, mrsi_codec_suffix(mrsi_meta_codec(o->codec)));
}

/* An output is not written if its input has changed since it was read. */
enum mrs_status
mrsi_output_input_same(const struct mrs_output *o, struct mrs_err *e)
{
    return o->like ? mrs_input_unchanged(o->like, e) : MRS_OK;
}

enum mrs_status
mrsi_output_note_file(struct mrs_output *o, int fd, const char *path, struct mrs_err *e)
{
    MRS_ASSERT(fd >= 0);
    size_t top = strlen(o->partial) + 1;
    struct stat st;
    if (fstat(fd, &st) < 0) {
        return mrs_err_sys(e, errno, "stat %s", path);
    }
    char *rel = mrs_strndup(o->mem, path + top, strlen(path) - top);
    enum mrs_status s = mrs_allocated(rel, strlen(path), e);
    pthread_mutex_lock(&o->lock);
    MRS_ASSERT(o->n_files <= o->cap_files);
    struct mrsi_out_file *more =
        s == MRS_OK ? mrs_more(o->mem, o->files, o->n_files, &o->cap_files, sizeof *more) : NULL;
    if (s == MRS_OK && !more) {
        s = mrs_err_memory(e, sizeof *more);
    }
    if (s == MRS_OK) {
        o->files = more;
        o->files[o->n_files++] = (struct mrsi_out_file){rel, (uint64_t)st.st_size, (uint64_t)st.st_ino};
        rel = NULL;
    }
    pthread_mutex_unlock(&o->lock);
    mrs_free(o->mem, rel);
    return s;
}

void
mrsi_output_forget_files(struct mrs_output *o)
{
    for (uint32_t i = 0; i < o->n_files; i++) {
        mrs_free(o->mem, o->files[i].rel);
    }
    mrs_free(o->mem, o->files);
    o->files = NULL;
    o->n_files = o->cap_files = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* resume.c - describes the written files of an output, and restores the output of a stopped run from this description.
 *
 * OUT.partial of a stopped run contains more than its state lists, because the run continued after writing it: only
 * listed files are kept, with their listed size; the rest is removed. If a run was killed during the commit, that is
 * first completed or reverted. Must not know the other contents of a state. */
#include "output.h"
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- describing the output ---- */
static void
text(struct mrs_build *b, const char *name, const char *value)
{
    mrs_build_text(b, name, value, (uint32_t)strlen(value));
}

/* Whether a record is the one being copied, which a resumed run records again. */
static bool
is_resumed(const struct mrsi_out_rec *r, struct mrs_view resumed)
{
    const char *name = mrsi_saved_text(resumed, "name");
    return name && strcmp(r->name, name) == 0 && r->extra == (mrsi_saved_number(resumed, "extra") != 0);
}

static void
describe_recs(struct mrs_output *o, struct mrs_view resumed, struct mrs_build *b)
{
    MRS_ASSERT(o->n_recs <= o->cap_recs);
    mrs_build_open(b, "recs", 4, MRS_ARRAY);
    for (uint32_t i = 0; i < o->n_recs; i++) {
        const struct mrsi_out_rec *r = &o->recs[i];
        if (is_resumed(r, resumed)) {
            continue;
        }
        mrs_build_item_open(b, MRS_DOCUMENT);
        text(b, "name", r->name);
        mrs_build_i64(b, "is", (r->extra ? 1 : 0) | (r->copied ? 2 : 0) | (r->data ? 4 : 0) | (r->counted ? 8 : 0));
        mrs_build_i64(b, "codec", (int64_t)r->codec);
        mrs_build_i64(b, "docs", (int64_t)r->docs);
        mrs_build_i64(b, "bytes", (int64_t)r->bytes);
        mrs_build_i64(b, "file", (int64_t)r->file_bytes);
        mrs_build_i64(b, "low", (int64_t)r->digest.lo);
        mrs_build_i64(b, "high", (int64_t)r->digest.hi);
        mrs_build_close(b);
    }
    mrs_build_close(b);
}

enum mrs_status
mrs_output_describe(struct mrs_output *o, struct mrs_build *b, struct mrs_err *e)
{
    MRS_ASSERT(!o->committed);
    struct stat st;
    size_t top = strlen(o->partial);
    if (stat(o->partial, &st) < 0) {
        return mrs_err_sys(e, errno, "stat %s", o->partial);
    }
    pthread_mutex_lock(&o->lock);
    mrs_build_i64(b, "device", (int64_t)st.st_dev);
    mrs_build_i64(b, "inode", (int64_t)st.st_ino);
    mrs_build_bool(b, "metadata", o->has_meta);
    mrs_build_bool(b, "packs", o->kind == MRSI_OUT_PACK);
    mrs_build_i64(b, "older", lstat(o->path, &st) == 0 ? (int64_t)st.st_ino : 0); /* the file that has the name now */
    struct mrs_view resumed = o->resumed.n ? (struct mrs_view){o->resumed.p, (uint32_t)o->resumed.n} : mrs_empty_doc();
    mrs_build_val(b, "half", 4, (struct mrs_val){resumed.p, resumed.n, MRS_DOCUMENT});
    describe_recs(o, resumed, b);
    mrs_build_open(b, "folders", 7, MRS_ARRAY);
    for (uint32_t i = 0; i < o->n_dirs; i++) {
        mrs_build_item_open(b, MRS_DOCUMENT);
        text(b, "path", o->dirs[i] + top + 1);
        mrs_build_close(b);
    }
    mrs_build_close(b);
    mrs_build_open(b, "files", 5, MRS_ARRAY);
    for (uint32_t i = 0; i < o->n_files; i++) {
        mrs_build_item_open(b, MRS_DOCUMENT);
        text(b, "path", o->files[i].rel);
        mrs_build_i64(b, "bytes", (int64_t)o->files[i].bytes);
        mrs_build_i64(b, "inode", (int64_t)o->files[i].inode);
        mrs_build_close(b);
    }
    mrs_build_close(b);
    pthread_mutex_unlock(&o->lock);
    return MRS_OK;
}

/* ---- restoring it ---- */
/* Whether a path is below the partial folder, without `..` or the like. */
static bool
good_path(const char *path)
{
    if (!path || !*path || *path == '/' || strlen(path) > 2048) {
        return false;
    }
    for (const char *p = path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n <= 2 && strncmp(p, "..", n) == 0)) {
            return false;
        }
    }
    return true;
}

static enum mrs_status
take_rec(struct mrs_output *o, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    uint32_t i;
    const char *name = mrsi_saved_text(d, "name");
    uint64_t is = mrsi_saved_number(d, "is"), codec = mrsi_saved_number(d, "codec");
    if (!name || is > 15 || codec > MRS_CODEC_ZSTD) {
        return mrs_err_checkpoint(e, "a record");
    }
    enum mrs_status s = mrsi_output_enter(o, name, is & 1, &i, e);
    if (s == MRS_OK) {
        struct mrsi_out_rec *r = &o->recs[i];
        r->copied = is & 2;
        r->data = is & 4;
        r->counted = is & 8;
        r->codec = (enum mrs_codec)codec;
        r->docs = mrsi_saved_number(d, "docs");
        r->bytes = mrsi_saved_number(d, "bytes");
        r->file_bytes = mrsi_saved_number(d, "file");
        r->digest = (struct mrs_hash_sum){mrsi_saved_number(d, "low"), mrsi_saved_number(d, "high")};
    }
    return s;
}

static enum mrs_status
take_folder(struct mrs_output *o, struct mrs_view d, struct mrs_err *e)
{
    const char *rel = mrsi_saved_text(d, "path");
    if (!good_path(rel)) {
        return mrs_err_checkpoint(e, "a folder");
    }
    char *path = mrsi_format(o->mem, "%s/%s", o->partial, rel);
    return path ? mrsi_output_note_dir(o, path, e) : mrs_err_memory(e, strlen(rel));
}

static enum mrs_status
take_file(struct mrs_output *o, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct stat st;
    const char *rel = mrsi_saved_text(d, "path");
    if (!good_path(rel)) {
        return mrs_err_checkpoint(e, "a file");
    }
    char *path = mrsi_format(o->mem, "%s/%s", o->partial, rel);
    int fd = -1;
    enum mrs_status s = path ? mrsi_open_read(path, &fd, &st, e) : mrs_err_memory(e, strlen(rel));
    if (s == MRS_OK && (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != mrsi_saved_number(d, "bytes"))) {
        s = MRSI_FAIL(e, MRS_E_FORMAT,
                      "%s: not as the stopped run left it (%llu bytes, it had %llu): start over with --force instead "
                      "of --resume",
                      path, (unsigned long long)st.st_size, (unsigned long long)mrsi_saved_number(d, "bytes"));
    }
    MRS_THEN(s, mrsi_output_note_file(o, fd, path, e));
    if (fd >= 0) {
        close(fd);
    }
    mrs_free(o->mem, path);
    return s;
}

static enum mrs_status
take_list(struct mrs_output *o, struct mrs_view d, const char *name,
          enum mrs_status (*take)(struct mrs_output *o, struct mrs_view d, struct mrs_err *e), struct mrs_err *e)
{
    struct mrs_val list = mrs_doc_get(d, name);
    struct mrs_walk w;
    struct mrs_elem at;
    enum mrs_status s = list.type == MRS_ARRAY ? MRS_OK : mrs_err_checkpoint(e, "%s", name);
    if (s == MRS_OK) {
        mrs_walk_init(&w, mrs_val_view(list));
    }
    while (s == MRS_OK && mrs_walk_next(&w, &at) == 1) {
        s = at.v.type == MRS_DOCUMENT ? take(o, mrs_val_view(at.v), e) : mrs_err_checkpoint(e, "%s", name);
    }
    return s;
}

static int
by_rel(const void *a, const void *b)
{
    return strcmp(((const struct mrsi_out_file *)a)->rel, ((const struct mrsi_out_file *)b)->rel);
}

/* Whether a file below the partial folder is to be kept. */
static bool
is_kept(const struct mrs_output *o, const char *rel, struct mrs_view open)
{
    struct mrsi_out_file key = {(char *)(uintptr_t)rel, 0, 0};
    struct mrs_walk w;
    struct mrs_elem at;
    struct mrs_view resumed = {o->resumed_from.p, (uint32_t)o->resumed_from.n};
    if (resumed.n && strcmp(rel, mrsi_saved_text(resumed, "path")) == 0) {
        return true;
    }
    if (strcmp(rel, MRSI_MARKER) == 0 || (o->n_files && bsearch(&key, o->files, o->n_files, sizeof key, by_rel))) {
        return true;
    }
    mrs_walk_init(&w, open);
    while (mrs_walk_next(&w, &at) == 1) {
        const char *path = at.v.type == MRS_DOCUMENT ? mrsi_saved_text(mrs_val_view(at.v), "path") : NULL;
        if (path && strcmp(path, rel) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_folder(const struct mrs_output *o, const char *path)
{
    for (uint32_t i = 0; i < o->n_dirs; i++) {
        if (strcmp(o->dirs[i], path) == 0) {
            return true;
        }
    }
    return false;
}

/* Removes files written after the state. */
static enum mrs_status
remove_rest(struct mrs_output *o, struct mrs_view open, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(open));
    char *roots[2] = {o->partial, NULL};
    size_t top = strlen(o->partial) + 1;
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
    enum mrs_status s = fts ? MRS_OK : mrs_err_sys(e, errno, "open folder %s", o->partial);
    for (FTSENT *at; s == MRS_OK && (at = fts_read(fts)) != NULL;) {
        bool file = at->fts_info != FTS_D && at->fts_info != FTS_DP;
        if (at->fts_info == FTS_DNR || at->fts_info == FTS_ERR) {
            s = mrs_err_sys(e, at->fts_errno, "open folder %s", at->fts_path);
        } else if (file && !is_kept(o, at->fts_path + top, open) && unlink(at->fts_accpath) < 0) {
            s = mrs_err_sys(e, errno, "remove %s", at->fts_path);
        } else if (at->fts_info == FTS_DP && at->fts_level > 0 && !is_folder(o, at->fts_path) &&
                   rmdir(at->fts_accpath) < 0) {
            s = mrs_err_sys(e, errno, "remove %s", at->fts_path);
        }
    }
    if (fts) {
        fts_close(fts);
    }
    return s;
}

/* Restores the file in progress at the savepoint. */
static enum mrs_status
take_resumed(struct mrs_output *o, struct mrs_view d, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_val v = mrs_doc_get(d, "half");
    struct mrs_view resumed = v.type == MRS_DOCUMENT ? mrs_val_view(v) : mrs_empty_doc();
    if (resumed.n <= MRS_DOC_MIN) {
        return MRS_OK;
    }
    if (!good_path(mrsi_saved_text(resumed, "path"))) {
        return mrs_err_checkpoint(e, "a partly written file");
    }
    mrs_buf_put(&o->resumed_from, resumed.p, resumed.n);
    return mrs_buf_status(&o->resumed_from, e);
}

enum mrs_status
mrs_output_take_up(struct mrs_output *o, struct mrs_view d, struct mrs_view open, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_val meta = mrs_doc_get(d, "metadata");
    enum mrs_status s = take_resumed(o, d, e);
    MRS_THEN(s, take_list(o, d, "recs", take_rec, e));
    MRS_THEN(s, take_list(o, d, "folders", take_folder, e));
    MRS_THEN(s, take_list(o, d, "files", take_file, e));
    if (s == MRS_OK && o->n_files) {
        qsort(o->files, o->n_files, sizeof *o->files, by_rel);
    }
    o->has_meta = meta.type == MRS_BOOL && *meta.p;
    MRS_THEN(s, remove_rest(o, open, e));
    o->keep_partial = s != MRS_OK;
    return mrsi_output_fail(o, s);
}

/* ---- killed during the commit ---- */
/* The paths of one output; for a single file all, for a folder the first two. */
struct resume_names {
    char *out, *partial, *data, *metadata, *manifest, *old; /* below the partial folder */
    char *out_metadata, *out_manifest;
    char *packed, *packed_manifest, *packed_old; /* below the partial folder, if all is packed into one file */
};

static void
free_names(const struct mrs_ckpt_dir *side, struct resume_names *n)
{
    char *const all[] = {n->out,      n->partial, n->data,         n->metadata,
                         n->manifest, n->old,     n->out_metadata, n->out_manifest,
                         n->packed,   n->packed_manifest, n->packed_old};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mrs_free(side->mem, all[i]);
    }
}

static enum mrs_status
make_names(const struct mrs_ckpt_dir *side, struct resume_names *n, struct mrs_err *e)
{
    size_t len = strlen(side->output);
    memset(n, 0, sizeof *n);
    while (len > 1 && side->output[len - 1] == '/') {
        len--;
    }
    n->out = mrs_strndup(side->mem, side->output, len);
    MRS_TRY(mrs_allocated(n->out, len, e));
    const char *base = mrsi_base_name(n->out);
    int stem = (int)((size_t)(base - n->out) + mrsi_file_name(base).stem_n);
    n->partial = mrsi_format(side->mem, "%s.partial", n->out);
    n->data = mrsi_format(side->mem, "%s.partial/data", n->out);
    n->metadata = mrsi_format(side->mem, "%s.partial/metadata", n->out);
    n->manifest = mrsi_format(side->mem, "%s.partial/manifest", n->out);
    n->old = mrsi_format(side->mem, "%s.partial/old-manifest", n->out);
    n->out_metadata = mrsi_format(side->mem, "%.*s.metadata.json", stem, n->out);
    n->out_manifest = mrsi_format(side->mem, "%s.manifest.json", n->out);
    n->packed = mrsi_format(side->mem, "%s.partial/" MRSI_PACKED, n->out);
    n->packed_manifest = mrsi_format(side->mem, "%s.partial/" MRSI_MANIFEST, n->out);
    n->packed_old = mrsi_format(side->mem, "%s.partial/old." MRSI_MANIFEST, n->out);
    bool ok = n->partial && n->data && n->metadata && n->manifest && n->old && n->out_metadata && n->out_manifest &&
              n->packed && n->packed_manifest && n->packed_old;
    return ok ? MRS_OK : mrs_err_memory(e, len);
}

static bool
there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* The inode of a file in the description; 0: no such file. */
static uint64_t
inode_of(struct mrs_view d, const char *rel)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_val list = mrs_doc_get(d, "files");
    struct mrs_walk w;
    struct mrs_elem at;
    if (list.type != MRS_ARRAY) {
        return 0;
    }
    mrs_walk_init(&w, mrs_val_view(list));
    while (mrs_walk_next(&w, &at) == 1) {
        const char *path = at.v.type == MRS_DOCUMENT ? mrsi_saved_text(mrs_val_view(at.v), "path") : NULL;
        if (path && strcmp(path, rel) == 0) {
            return mrsi_saved_number(mrs_val_view(at.v), "inode");
        }
    }
    return 0;
}

static bool
is_inode(const char *path, struct mrs_view d, uint64_t inode)
{
    struct stat st;
    return inode && lstat(path, &st) == 0 && (uint64_t)st.st_dev == mrsi_saved_number(d, "device") &&
           (uint64_t)st.st_ino == inode;
}

/* Moves a file back that already has its final name, and restores the one that it replaced. */
static enum mrs_status
put_back(const char *last, const char *partial, struct mrs_view d, uint64_t inode, struct mrs_err *e)
{
    int r = 0;
    if (is_inode(last, d, inode)) {
        r = there(partial) ? mrsi_swap(partial, last) : mrsi_rename_new(last, partial);
    } else if (!inode && there(partial) && !there(last)) { /* an older one was moved away without replacement */
        r = mrsi_rename_new(partial, last);
    }
    return r < 0 ? mrs_err_sys(e, errno, "rename %s to %s", last, partial) : MRS_OK;
}

/* Reverts: if only some files have their names, none is valid. */
static enum mrs_status
take_back(const struct resume_names *n, struct mrs_view d, struct mrs_err *e)
{
    enum mrs_status s = put_back(n->out, n->data, d, inode_of(d, "data"), e);
    MRS_THEN(s, put_back(n->out_metadata, n->metadata, d, inode_of(d, "metadata"), e));
    return s == MRS_OK ? put_back(n->out_manifest, n->old, d, 0, e) : s;
}

/* Removes the replaced output, or the rest of a committed single file. */
static enum mrs_status
remove_replaced(const struct mrs_ckpt_dir *side, const struct resume_names *n, bool file, bool force, struct mrs_err *e)
{
    char *marker = mrsi_format(side->mem, "%s/%s", n->partial, MRSI_MARKER);
    enum mrs_status s = mrs_allocated(marker, 0, e);
    bool ours = marker && (file || there(marker));
    if (s == MRS_OK && !ours) {
        s = force ? mrsi_is_dump(side->mem, n->partial, e) : MRS_OK;
        ours = force;
    }
    mrs_free(side->mem, marker);
    return s == MRS_OK && ours ? mrsi_remove_tree(n->partial, e) : s;
}

/* If the commit packs all into one file, its inode was unknown: only that it differs from that of the former file. */
static enum mrs_status
settle_packed(const struct mrs_ckpt_dir *side, const struct resume_names *n, struct mrs_view d, bool *published,
              struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    uint64_t older = mrsi_saved_number(d, "older");
    bool moved = there(n->out) && !(older && is_inode(n->out, d, older));
    int r = 0;
    *published = moved && !there(n->packed_manifest) && there(n->out_manifest);
    if (*published) {
        return there(n->partial) ? remove_replaced(side, n, true, false, e) : MRS_OK;
    }
    if (moved && there(n->packed_manifest)) { /* else it appeared meanwhile, which opening it reports */
        r = there(n->packed) ? mrsi_swap(n->packed, n->out) : mrsi_rename_new(n->out, n->packed);
    }
    if (r < 0) {
        return mrs_err_sys(e, errno, "rename %s to %s", n->out, n->packed);
    }
    return put_back(n->out_manifest, n->packed_old, d, 0, e);
}

enum mrs_status
mrs_ckpt_dir_settle(const struct mrs_ckpt_dir *side, struct mrs_view d, bool force, bool *published, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d) && published);
    struct resume_names n;
    int claim = -1;
    enum mrs_status s = make_names(side, &n, e);
    struct mrs_val packs = mrs_doc_get(d, "packs");
    *published = false;
    if (s == MRS_OK && there(n.partial)) { /* it may belong to another running commit */
        s = mrsi_claim_folder(n.partial, &claim, e);
    }
    if (s == MRS_OK && packs.type == MRS_BOOL && *packs.p) {
        s = settle_packed(side, &n, d, published, e);
    } else if (s == MRS_OK) {
        bool folder = is_inode(n.out, d, mrsi_saved_number(d, "inode"));
        bool file = is_inode(n.out, d, inode_of(d, "data"));
        *published = folder || (file && !there(n.manifest) && there(n.out_manifest));
        if (*published && there(n.partial)) {
            s = remove_replaced(side, &n, file, force, e);
        } else if (!*published && inode_of(d, "data")) {
            s = take_back(&n, d, e);
        }
    }
    if (claim >= 0) {
        close(claim);
    }
    free_names(side, &n);
    return s;
}

void
mrs_output_leave(struct mrs_output *o)
{
    o->keep_partial = true;
    mrs_output_abort(o);
}

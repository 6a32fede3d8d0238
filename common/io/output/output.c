/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - the output transaction: opening, aborting, and the folder of its files.
 *
 * Everything is written below OUT.partial, for a single file as well, and appears under its own name only at the commit
 * (commit.c). The folder has a marker file that identifies its owner: a later run may remove the remains of a killed
 * one, and nothing else. The folder is locked while its writer lives, so that two runs with one OUT cannot remove each
 * other's work (claim.c). Files are synced late, at the commit, when much of their writeback is done; descriptors are
 * kept for that, up to a small number. Must not know plans or documents. */
#include "io/codec/codec_pool.h"
#include "mongoreshape/ejson.h"
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

const char *
mrs_output_partial(const struct mrs_output *o)
{
    return o->kind == MRSI_OUT_DIR ? o->partial : NULL;
}

uint64_t
mrs_output_memory(const struct mrs_output *o)
{
    return mrsi_encoder_memory(o->compress, o->jobs);
}

uint64_t
mrs_output_packs(const struct mrs_output *o)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; o->kind == MRSI_OUT_PACK && !o->stream && i < o->n_recs; i++) {
        sum += o->recs[i].file_bytes;
    }
    return sum;
}

/* ---- opening ---- */
static enum mrs_status
check_apart(struct mrs_output *o, const char *input, struct mrs_err *e)
{
    /* if one of them cannot be resolved, opening it reports why */
    if (mrs_file_is_in(input, o->path) || mrs_file_is_in(o->path, input)) {
        return MRSI_FAIL(e, MRS_E_USAGE,
                         "output %s and input %s overlap: the input must stay as it is", o->path,
                         input);
    }
    return MRS_OK;
}

/* A manifest without its file is worthless, but another file of that name may be valuable. */
static enum mrs_status
check_manifest(struct mrs_output *o, struct mrs_err *e)
{
    struct mrs_replace how = {.option = "-o",
                              .unlike = "no manifest of mongoreshape",
                              .force = o->force,
                              .any_folder = true,
                              .text_is_ours = mrsi_manifest_is_ours,
                              .mem = o->mem,
                              .most = MRSI_MANIFEST_MAX};
    char *path = mrsi_format(o->mem, "%s.manifest.json", o->path);
    enum mrs_status s = path ? mrs_file_may_be(path, &how, e) : mrs_err_memory(e, strlen(o->path));
    mrs_free(o->mem, path);
    return s;
}

static enum mrs_status
check_existing(struct mrs_output *o, struct mrs_err *e)
{
    const char *paths[2] = {o->path, o->meta_path};
    for (int i = 0; i < 2 && paths[i]; i++) {
        struct stat st;
        if (lstat(paths[i], &st) < 0) {
            if (errno == ENOENT) {
                continue;
            }
            return mrs_err_sys(e, errno, "stat %s", paths[i]);
        }
        if (!o->force) {
            return MRSI_FAIL(e, MRS_E_EXISTS, "%s is there already (--force replaces it)",
                             paths[i]);
        }
        bool fits = o->kind == MRSI_OUT_DIR ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode);
        if (!fits) {
            return MRSI_FAIL(e, MRS_E_EXISTS, "%s is not a %s and is not replaced by one", paths[i],
                             o->kind == MRSI_OUT_DIR ? "folder" : "regular file");
        }
    }
    struct stat st;
    return o->kind != MRSI_OUT_DIR         ? check_manifest(o, e)
           : lstat(o->path, &st) == 0 ? mrsi_is_dump(o->mem, o->path, e)
                                      : MRS_OK;
}

/* Creates a folder for an output that goes to standard output at the end. */
static enum mrs_status
make_temporary(struct mrs_output *o, const char *tmp, struct mrs_err *e)
{
    MRS_ASSERT(o->out_fd < 0);
    const char *dir = tmp && *tmp ? tmp : getenv("TMPDIR");
    dir = dir && *dir ? dir : "/tmp";
    o->partial = mrsi_format(o->mem, "%s/mongoreshape-XXXXXX", dir);
    o->marker = o->partial ? mrsi_format(o->mem, "%s/mongoreshape-XXXXXX/%s", dir, MRSI_MARKER) : NULL;
    MRS_TRY(mrs_allocated(o->marker, strlen(dir), e));
    if (!mkdtemp(o->partial)) {
        return mrs_err_sys(e, errno, "create a temporary folder in %s", dir);
    }
    memcpy(o->marker, o->partial, strlen(o->partial));
    return mrsi_claim_mark(o, e);
}

static enum mrs_status
set_kind(struct mrs_output *o, const struct mrs_output_opts *opts, struct mrs_err *e)
{
    bool standard = strcmp(o->path, "-") == 0;
    struct mrs_output_shape shape = mrs_output_shape(o->path, opts);
    o->format = shape.format;
    o->codec = shape.codec;
    if (shape.format == MRS_FORMAT_BSON && !o->single_ns) {
        return MRSI_FAIL(e, MRS_E_USAGE, "the output holds one collection: name it with --ns");
    }
    if (shape.format == MRS_FORMAT_ZIP && shape.codec == MRS_CODEC_ZSTD) {
        return MRSI_FAIL(e, MRS_E_USAGE, "%s: few programs read a zip with zstd in it: gzip or none", o->path);
    }
    if (shape.format == MRS_FORMAT_DIRECTORY && standard) {
        return MRSI_FAIL(e, MRS_E_USAGE, "a folder cannot go to standard output: an archive can");
    }
    if (shape.format == MRS_FORMAT_DIRECTORY && opts->format == MRS_FORMAT_AUTO && mrsi_names_no_folder(o->path)) {
        return MRSI_FAIL(e, MRS_E_USAGE,
                         "%s: written are folders, archives, tar, tar.gz, tar.zst, zip, and with --ns single files: "
                         "give another name, or --format (directory: a folder of this name)", o->path);
    }
    if (shape.format == MRS_FORMAT_BSON) {
        o->kind = standard ? MRSI_OUT_STDOUT : MRSI_OUT_FILE;
    } else {
        o->kind = shape.format == MRS_FORMAT_DIRECTORY ? MRSI_OUT_DIR : MRSI_OUT_PACK;
    }
    o->to_stdout = o->kind == MRSI_OUT_PACK && standard;
    if (opts->stream && (!o->to_stdout || shape.format != MRS_FORMAT_ARCHIVE)) {
        return MRSI_FAIL(e, MRS_E_USAGE, "--stream is for archives that go to standard output (-o -)");
    }
    return MRS_OK;
}

static enum mrs_status
set_paths(struct mrs_output *o, const char *path, const struct mrs_output_opts *opts,
          struct mrs_err *e)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    o->path = mrs_strndup(o->mem, path, n);
    MRS_TRY(mrs_allocated(o->path, n, e));
    const char *base = mrsi_base_name(o->path);
    if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0) {
        return MRSI_FAIL(e, MRS_E_USAGE, "'%s' is no name for an output", path);
    }
    if (opts->single_ns) {
        o->single_ns = mrs_strndup(o->mem, opts->single_ns, strlen(opts->single_ns));
        MRS_TRY(mrs_allocated(o->single_ns, n, e));
    }
    enum mrs_status s = set_kind(o, opts, e);
    if (s != MRS_OK || o->kind == MRSI_OUT_STDOUT || o->to_stdout) {
        return s;
    }
    o->partial = mrsi_format(o->mem, "%s.partial", o->path);
    o->marker = o->partial ? mrsi_format(o->mem, "%s/%s", o->partial, MRSI_MARKER) : NULL;
    bool ok = o->marker != NULL;
    if (ok && o->kind == MRSI_OUT_FILE) {
        o->meta_path = mrs_output_metadata_path(o->mem, o->path, o->codec);
        ok = o->meta_path != NULL;
    }
    return ok ? MRS_OK : mrs_err_memory(e, n);
}

static void
set_codec(struct mrs_output *o, const struct mrs_output_opts *opts)
{
    o->compress = opts->compress;
    o->compress.codec = o->codec;
    if (o->kind == MRSI_OUT_PACK) { /* it is compressed as a whole */
        o->pack = o->compress;
        o->compress = (struct mrs_compress){MRS_CODEC_NONE, 0};
        o->codec = MRS_CODEC_NONE;
    }
}

/* Opens the file with the bytes for standard output. */
static enum mrs_status
open_stdout(struct mrs_output *o, const char *tmp, struct mrs_err *e)
{
    if (isatty(STDOUT_FILENO)) {
        return MRSI_FAIL(e, MRS_E_USAGE, "standard output is a terminal: BSON is not for people, redirect it");
    }
    return o->to_stdout ? make_temporary(o, tmp, e) : mrs_temp_open(tmp, &o->out_fd, e);
}

/* A directory has the origin, which is in an archive's header, in prelude.json. */
static enum mrs_status
put_prelude(struct mrs_output *o, struct mrs_err *e)
{
    bool folder = o->kind == MRSI_OUT_DIR || (o->kind == MRSI_OUT_PACK && o->format != MRS_FORMAT_ARCHIVE);
    struct mrs_buf bson, text;
    struct mrs_build b;
    struct mrs_view doc;
    uint32_t rec;
    if (!folder || !o->in || mrs_input_format(o->in) != MRS_FORMAT_ARCHIVE) {
        return MRS_OK;
    }
    mrs_buf_init(&bson, o->mem, MRS_METADATA_MAX);
    mrs_buf_init(&text, o->mem, MRS_METADATA_MAX);
    mrs_build_init(&b, &bson);
    mrs_build_text(&b, "ServerVersion", o->origin.server_version, (uint32_t)strlen(o->origin.server_version));
    mrs_build_text(&b, "ToolVersion", o->origin.tool_version, (uint32_t)strlen(o->origin.tool_version));
    enum mrs_status s = mrs_build_finish(&b, &doc, e);
    if (s == MRS_OK) {
        mrs_ejson_write(doc, true, &text);
        s = mrs_buf_status(&text, e);
    }
    enum mrs_codec codec = mrsi_meta_codec(o->codec);
    struct mrsi_small_file piece = {codec == MRS_CODEC_GZIP ? "prelude.json.gz" : "prelude.json", text.p, text.n,
                                    codec};
    MRS_THEN(s, mrsi_output_enter(o, "prelude.json", true, &rec, e));
    MRS_THEN(s, mrsi_output_piece(o, &piece, e));
    if (s == MRS_OK) {
        o->recs[rec].file_bytes = text.n;
    }
    mrs_buf_clear(&bson);
    mrs_buf_clear(&text);
    return s;
}

enum mrs_status
mrs_output_open(struct mrs_mem *mem, const char *path, const struct mrs_output_opts *opts,
                struct mrs_output **out, struct mrs_err *e)
{
    MRS_ASSERT(mem && path && out);
    struct mrs_output *o = mrs_zalloc(mem, sizeof *o);
    MRS_TRY(mrs_allocated(o, sizeof *o, e));
    o->mem = mem;
    o->claim = (struct mrsi_claim){-1, -1};
    o->out_fd = -1;
    o->force = opts->force;
    o->sample = opts->sample;
    o->sink_buffer = opts->sink_buffer;
    o->in = opts->in;
    o->like = opts->like;
    uint32_t shared = o->like ? o->like->shared : 066;
    o->file_mode = 0600 | shared;
    o->folder_mode = 0700 | shared | (shared & 044) >> 2; /* read permission implies entering */
    o->pause = opts->pause;
    o->stop = opts->stop;
    o->salt = opts->salt;
    mrs_buf_init(&o->resumed, mem, MRS_DOC_MAX);
    mrs_buf_init(&o->resumed_from, mem, MRS_DOC_MAX);
    if (o->in) {
        o->origin = *mrs_input_origin(o->in);
    }
    o->lock_ready = pthread_mutex_init(&o->lock, NULL) == 0;
    enum mrs_status s =
        o->lock_ready ? set_paths(o, path, opts, e) : mrs_err_memory(e, sizeof o->lock);
    if (s == MRS_OK) {
        set_codec(o, opts);
        o->jobs = opts->jobs;
        o->pool = mrsi_codec_pool_new(mem, o->jobs);
        s = mrs_allocated(o->pool, sizeof *o, e);
    }
    if (s == MRS_OK) {
        mrsi_codec_pool_set_stop(o->pool, &o->stop);
    }
    if (s == MRS_OK && (o->kind == MRSI_OUT_STDOUT || o->to_stdout)) {
        s = open_stdout(o, opts->tmp, e);
    } else if (s == MRS_OK) {
        s = check_apart(o, opts->input, e);
        MRS_THEN(s, check_existing(o, e));
        s = s != MRS_OK ? s : opts->resume ? mrsi_claim_left(o, e) : mrsi_claim_new(o, e);
    }
    if (s == MRS_OK && !opts->resume) {
        s = put_prelude(o, e);
        if (s != MRS_OK) {
            mrs_output_abort(o);
        }
    }
    if (s != MRS_OK) {
        mrs_output_free(o);
        return s;
    }
    *out = o;
    return MRS_OK;
}

/* ---- files below the partial folder ---- */
/* ---- aborting ---- */
static void
release(struct mrs_output *o)
{
    mrsi_background_copy_drop(o, NULL);
    while (o->sinks) {
        struct mrs_sink *next = mrsi_sink_next(o->sinks);
        mrsi_sink_free(o->sinks);
        o->sinks = next;
    }
    for (uint32_t i = 0; i < o->n_kept; i++) {
        close(o->kept[i].fd);
        mrs_free(o->mem, o->kept[i].path);
    }
    o->n_kept = 0;
    if (o->out_fd >= 0) {
        close(o->out_fd);
        o->out_fd = -1;
    }
}

char *
mrs_output_metadata_path(struct mrs_mem *mem, const char *path, enum mrs_codec codec)
{
    const char *base = mrsi_base_name(path);
    size_t stem = (size_t)(base - path) + mrsi_file_name(base).stem_n;
    return mrsi_format(mem, "%.*s.metadata.json%s", (int)stem, path, mrsi_codec_suffix(mrsi_meta_codec(codec)));
}

void
mrs_output_abort(struct mrs_output *o)
{
    MRS_ASSERT(!o || !o->committed || !o->failed);
    if (!o || o->committed) {
        return;
    }
    release(o);
    if (o->claim.marker >= 0 && !o->keep_partial) {
        mrsi_remove_tree(o->partial, NULL);
    }
    mrsi_claim_end(&o->claim);
    o->failed = true;
}

void
mrs_output_free(struct mrs_output *o)
{
    if (!o) {
        return;
    }
    release(o);
    mrsi_claim_end(&o->claim);
    for (uint32_t i = 0; i < o->n_recs; i++) {
        mrs_free(o->mem, o->recs[i].name);
    }
    for (uint32_t i = 0; i < o->n_dirs; i++) {
        mrs_free(o->mem, o->dirs[i]);
    }
    mrs_free(o->mem, o->recs);
    mrs_free(o->mem, o->dirs);
    mrsi_output_forget_files(o);
    mrs_buf_clear(&o->resumed);
    mrs_buf_clear(&o->resumed_from);
    char *const texts[] = {o->path, o->partial, o->marker, o->single_ns, o->meta_path};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mrs_free(o->mem, texts[i]);
    }
    if (o->lock_ready) {
        pthread_mutex_destroy(&o->lock);
    }
    mrsi_stream_free(o->stream);
    mrsi_codec_pool_free(o->pool);
    mrs_free(o->mem, o);
}

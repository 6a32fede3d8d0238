/* SPDX-License-Identifier: Apache-2.0 */
/* raw_copy.c - copies files byte for byte that no step changes.
 *
 * A dump directory has one compression, stated by the names of its files: mongorestore --gzip skips every file without
 * .gz, metadata too, and without --gzip every file with .gz. Only oplog.bson keeps its name. So a file with the
 * compression of the output keeps its bytes, another one is recompressed, and names follow the content. Metadata text
 * is never rewritten, only compressed or decompressed. Unknown files stay unchanged. */
#include "output.h"
#include <errno.h>
#include <unistd.h>

/* One file to copy: source, target path, compression. */
struct raw_copy_job {
    const char *path; /* NULL: the input's own descriptor */
    const struct mrsi_src_extents *place; /* location of its bytes; NULL: the whole file */
    char *rel;
    bool pack; /* named and compressed as `codec` says; else unchanged */
    enum mrs_codec codec;
    struct mrsi_resumable *resumed; /* NULL: a small file, copied at once */
    const char *background_ns; /* whose copy may have started before its turn; NULL: none */
    uint64_t done;          /* bytes of the source, decompressed if it is recompressed */
};

static void
add_fields(void *arg, struct mrs_build *b)
{
    const struct raw_copy_job *job = arg;
    mrs_build_i64(b, "done", (int64_t)job->done);
}

static enum mrs_status
recode(struct mrs_output *o, struct raw_copy_job *job, const struct mrsi_source_from *from,
       const struct mrsi_encoder_to *to, struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0 && to->fd >= 0);
    enum { ROOM = 64 << 10 };
    uint8_t room[ROOM];
    struct mrsi_source *src = NULL;
    struct mrsi_encoder *enc = NULL;
    struct mrsi_source_from own = *from;
    own.own = false;
    enum mrs_status s = mrsi_source_open(o->mem, &own, &src, e);
    if (s == MRS_OK) {
        mrsi_source_ahead(src, o->pool);
        s = mrsi_resumable_encoder(o->mem, job->resumed, to, &enc, e);
    }
    s = s == MRS_OK && job->done ? mrsi_source_skip(src, job->done, e) : s;
    while (s == MRS_OK) {
        size_t got;
        s = mrsi_source_read(src, room, ROOM, &got, e);
        MRS_THEN(s, mrsi_encoder_write(enc, room, got, e));
        job->done += got;
        MRS_THEN(s, mrsi_resumable_rest(job->resumed, got, e));
    }
    s = s == MRS_END ? mrsi_encoder_finish(enc, e) : s;
    mrsi_encoder_close(enc);
    mrsi_source_close(src);
    return s;
}

static enum mrs_status
copy_stretches(struct raw_copy_job *job, const struct mrsi_source_from *from, int fd, struct mrs_err *e)
{
    MRS_ASSERT(job->place && fd >= 0);
    const struct mrsi_src_extents *p = from->place;
    uint64_t before = 0;
    enum mrs_status s = MRS_OK;
    for (uint32_t i = 0; s == MRS_OK && i < p->n_extents; i++) {
        struct mrsi_file_span span = {p->fd, p->extent[i].off, p->extent[i].n, from->name};
        uint64_t behind = before + span.n;
        if (job->done < behind) {
            span.off += job->done - before;
            span.n = behind - job->done;
            s = mrsi_resumable_span(job->resumed, &span, &job->done, fd, job->rel, e);
        }
        before = behind;
    }
    return s == MRS_OK && job->resumed && job->done > before ? mrsi_resumable_damaged(job->resumed, e) : s;
}

static bool
keeps_bytes(const struct raw_copy_job *job, const struct mrsi_source_from *from)
{
    return job->codec == from->codec && !mrsi_source_padded(from);
}

/* Copies the bytes of an open file to another, compressed as the job says. */
static enum mrs_status
transfer(struct mrs_output *o, struct raw_copy_job *job, const struct mrsi_source_from *from, int fd,
         struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0 && fd >= 0);
    struct stat st;
    if (job->pack && !keeps_bytes(job, from)) {
        struct mrsi_encoder_to to = {fd,
                                     job->rel,
                                     {job->codec, job->codec == o->codec ? o->compress.level : 0},
                                     o->sink_buffer,
                                     o->pool, false, 0};
        return recode(o, job, from, &to, e);
    }
    if (job->resumed && mrsi_resumable_is_resumed(job->resumed) && mrsi_saved_number(job->resumed->from,
                                                                                     "file") != job->done) {
        return mrsi_resumable_damaged(job->resumed, e);
    }
    if (from->place) {
        return copy_stretches(job, from, fd, e);
    }
    struct mrsi_file_span span = {from->fd, from->start, from->bytes, from->name};
    if (from->bytes == UINT64_MAX) {
        if (fstat(from->fd, &st) < 0) {
            return mrs_err_sys(e, errno, "stat %s", from->name);
        }
        span.n = (uint64_t)st.st_size;
    }
    if (job->resumed && job->done > span.n) {
        return mrsi_resumable_is_resumed(job->resumed) ? mrsi_resumable_damaged(job->resumed, e) :
                mrsi_became_shorter(from->name, e);
    }
    span.off += job->done;
    span.n -= job->done;
    return mrsi_resumable_span(job->resumed, &span, &job->done, fd, job->rel, e);
}

/* The file of a copy started in the background; *taken false: there is none. */
static enum mrs_status
take_background(struct mrs_output *o, struct raw_copy_job *job, char **path, bool *taken, struct mrs_err *e)
{
    struct mrsi_resumable *h = job->resumed;
    *taken = job->background_ns && !mrsi_resumable_is_resumed(h) &&
             mrsi_background_copy_take(o, job->background_ns, &h->fd, path, &job->done);
    if (!*taken) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_cut_file(h->fd, *path, job->done, e);
    MRS_THEN(s, mrsi_resumable_rest(h, job->done, e));
    if (s != MRS_OK) {
        close(h->fd);
        mrs_free(o->mem, *path);
    }
    return s;
}

/* Opens the target: a new file, a partial one, or the shared one. */
static enum mrs_status
open_copy(struct mrs_output *o, struct raw_copy_job *job, int *fd, char **path, struct mrs_err *e)
{
    struct mrsi_resumable *h = job->resumed;
    enum mrs_status s = MRS_OK;
    bool taken = false;
    if (h) {
        mrsi_resumable_writer(h, add_fields, job);
        h->fd = o->out_fd;
        job->done = mrsi_saved_number(h->from, "done");
        s = take_background(o, job, path, &taken, e);
    }
    if (s == MRS_OK && !taken && o->kind != MRSI_OUT_STDOUT) {
        s = h ? mrsi_resumable_open(o, h, path, e) : mrsi_output_create(o, job->rel, fd, path, e);
    }
    *fd = h ? h->fd : *fd;
    return s;
}

static enum mrs_status
copy_open(struct mrs_output *o, struct raw_copy_job *job, const struct mrsi_source_from *from,
          uint64_t *bytes, struct mrs_err *e)
{
    int fd = o->out_fd;
    char *path = NULL;
    struct stat st;
    MRS_TRY(open_copy(o, job, &fd, &path, e));
    enum mrs_status s = transfer(o, job, from, fd, e);
    if (s == MRS_OK && fstat(fd, &st) < 0) {
        s = mrs_err_sys(e, errno, "stat %s", job->rel);
    }
    *bytes = s == MRS_OK ? (uint64_t)st.st_size : 0;
    if (o->kind == MRSI_OUT_STDOUT) {
        return s;
    }
    if (s == MRS_OK) {
        return mrsi_output_keep(o, fd, path, e);
    }
    close(fd);
    mrs_free(o->mem, path);
    return s;
}

/* Copies the bytes of a place; detects its codec if necessary. */
static enum mrs_status
copy_place(struct mrs_output *o, struct raw_copy_job *job, uint64_t *bytes, struct mrs_err *e)
{
    struct mrsi_source_from from = {job->place->fd,  false,     0, job->place->bytes,
                                    MRS_CODEC_NONE, job->path, job->place};
    enum mrs_status s = job->pack && from.bytes ? mrsi_sniff(o->mem, &from, &from.codec, e) : MRS_OK;
    return s == MRS_OK ? copy_open(o, job, &from, bytes, e) : s;
}

/* Copies a file by its path, likewise. */
static enum mrs_status
copy_path(struct mrs_output *o, struct raw_copy_job *job, uint64_t *bytes, struct mrs_err *e)
{
    MRS_ASSERT(job->path);
    struct mrsi_source_from from = {-1, false, 0, UINT64_MAX, MRS_CODEC_NONE, job->path, NULL};
    struct stat st;
    if (job->place) {
        return copy_place(o, job, bytes, e);
    }
    enum mrs_status s = mrsi_open_regular(job->path, &from.fd, &st, e);
    if (s != MRS_OK) {
        return s;
    }
    if (job->pack && st.st_size > 0) { /* an empty metadata file means "none" */
        s = mrsi_sniff(o->mem, &from, &from.codec, e);
    }
    MRS_THEN(s, copy_open(o, job, &from, bytes, e));
    close(from.fd);
    return s;
}

/* The path in the output of a file that keeps its base name except for the compression suffix; .bin is an older
 * spelling of .bson, which has no form with .gz. */
static char *
renamed(struct mrs_output *o, const char *rel, const struct raw_copy_job *job)
{
    struct mrsi_file_name f = mrsi_file_name(mrsi_base_name(rel));
    size_t folder = (size_t)(mrsi_base_name(rel) - rel);
    bool oplog = strcmp(rel, "oplog.bson") == 0 && job->codec == MRS_CODEC_GZIP;
    if (!job->pack || oplog) {
        return mrs_strndup(o->mem, rel, strlen(rel));
    }
    if (f.kind == MRSI_FILE_DATA && job->codec != MRS_CODEC_NONE) {
        return mrsi_format(o->mem, "%.*s.bson%s", (int)(folder + f.stem_n), rel, mrsi_codec_suffix(job->codec));
    }
    return mrsi_format(o->mem, "%.*s%s", (int)(folder + f.plain_n), rel, mrsi_codec_suffix(job->codec));
}

static char *
in_db(struct mrs_output *o, const char *db, const char *path, const struct raw_copy_job *job)
{
    char *rel = mrsi_format(o->mem, "%s/%s", db, mrsi_base_name(path));
    char *name = rel ? renamed(o, rel, job) : NULL;
    mrs_free(o->mem, rel);
    return name;
}

/* Whether copies keep names: from a folder or container to another one. */
static bool
keeps_names(const struct mrs_output *o, const struct mrs_input *in)
{
    return in->dir && (o->kind == MRSI_OUT_DIR || o->kind == MRSI_OUT_PACK);
}

static enum mrs_status
copy_metadata(struct mrs_output *o, const struct mrs_input *in, const struct mrs_input_ns *ns,
              struct mrs_err *e)
{
    uint64_t bytes;
    struct raw_copy_job job = {ns->meta_path, ns->meta_place, NULL, true, mrsi_meta_codec(o->codec), NULL, NULL, 0};
    job.rel = keeps_names(o, in) ? in_db(o, ns->db, ns->meta_path, &job) : mrsi_output_meta_rel(o, ns->db, ns->coll);
    enum mrs_status s = job.rel ? copy_path(o, &job, &bytes, e) : mrs_err_memory(e, strlen(ns->ns));
    mrs_free(o->mem, job.rel);
    if (o->kind == MRSI_OUT_FILE) {
        o->has_meta = s == MRS_OK;
    }
    return s;
}

/* The job for the documents of a namespace; the caller owns rel, NULL without memory. */
static struct raw_copy_job
data_job(struct mrs_output *o, const struct mrs_input *in, const struct mrs_input_ns *ns)
{
    struct raw_copy_job job = {ns->data_path, ns->data_place, NULL, true, o->codec, NULL, ns->ns, 0};
    job.rel = keeps_names(o, in) ? in_db(o, ns->db, ns->data_path, &job) : mrsi_output_data_rel(o, ns->db, ns->coll);
    return job;
}

static enum mrs_status
copy_data(struct mrs_output *o, struct mrs_input *in, const struct mrs_input_ns *ns,
          uint64_t *bytes, struct mrs_err *e)
{
    MRS_ASSERT(ns->data_path || ns->data_place);
    struct mrsi_source_from from;
    struct mrsi_resumable resumed;
    struct raw_copy_job job = data_job(o, in, ns);
    job.resumed = &resumed;
    enum mrs_status s =
        job.rel ? mrsi_input_from(in, ns, &from, e) : mrs_err_memory(e, strlen(ns->ns));
    if (s == MRS_OK) {
        mrsi_resumable_begin(o, job.rel, ns->ns, false, &resumed);
        s = copy_open(o, &job, &from, bytes, e);
        if (from.own) {
            close(from.fd);
        }
    }
    mrs_free(o->mem, job.rel);
    return s;
}

/* Only if a file keeps its bytes, into a folder, and with more than one thread. */
void
mrs_output_copy_in_background(struct mrs_output *o, struct mrs_input *in, uint32_t i)
{
    MRS_ASSERT(i < mrs_input_count(in));
    const struct mrs_input_ns *ns = &in->list[i];
    struct mrsi_source_from from;
    bool file = ns->kind == MRS_INPUT_DATA && ns->data_path && !ns->data_place;
    if (o->background || o->jobs < 2 || o->kind != MRSI_OUT_DIR || !file) {
        return;
    }
    struct raw_copy_job job = data_job(o, in, ns);
    if (job.rel && job.codec == ns->codec && mrsi_input_from(in, ns, &from, NULL) == MRS_OK) {
        if (keeps_bytes(&job, &from)) {
            mrsi_background_copy_begin(o, ns->ns, job.rel, &from);
        } else {
            close(from.fd);
        }
    }
    mrs_free(o->mem, job.rel);
}

static enum mrs_status
copy_extra(struct mrs_output *o, const struct mrs_input_ns *ns, uint64_t *bytes, struct mrs_err *e)
{
    struct mrsi_resumable resumed;
    struct raw_copy_job job = {ns->data_path, ns->data_place, NULL, mrsi_is_of_tools(ns->rel_path),
                               o->codec, &resumed, NULL, 0};
    if (mrsi_is_prelude(ns->rel_path)) {
        job.codec = mrsi_meta_codec(o->codec);
    }
    if (o->kind != MRSI_OUT_DIR && o->kind != MRSI_OUT_PACK) {
        return MRSI_FAIL(e, MRS_E_USAGE, "the output holds %s only, %s has no place in it",
                         o->single_ns, ns->rel_path);
    }
    job.rel = renamed(o, ns->rel_path, &job);
    if (job.rel) {
        mrsi_resumable_begin(o, job.rel, ns->rel_path, true, &resumed);
    }
    enum mrs_status s = job.rel ? copy_path(o, &job, bytes, e) : mrs_err_memory(e, strlen(ns->rel_path));
    mrs_free(o->mem, job.rel);
    return s;
}

/* Copies the bytes; *bytes: of the data. Those of an archive are copied at the commit. */
static enum mrs_status
copy_bytes(struct mrs_output *o, struct mrs_input *in, const struct mrs_input_ns *ns, uint64_t *bytes,
           struct mrs_err *e)
{
    if (o->format == MRS_FORMAT_ARCHIVE) {
        o->in = in;
        *bytes = ns->file_bytes;
        return MRS_OK;
    }
    if (ns->kind == MRS_INPUT_EXTRA) {
        return copy_extra(o, ns, bytes, e);
    }
    bool begun = mrsi_resumable_of(o, ns->ns); /* after the metadata */
    enum mrs_status s = MRS_OK;
    if (ns->meta_path && o->kind != MRSI_OUT_STDOUT && !begun) {
        s = copy_metadata(o, in, ns, e);
    }
    return s == MRS_OK && ns->data_path ? copy_data(o, in, ns, bytes, e) : s;
}

enum mrs_status
mrs_output_copy(struct mrs_output *o, struct mrs_input *in, uint32_t i, struct mrs_err *e)
{
    MRS_ASSERT(i < mrs_input_count(in));
    const struct mrs_input_ns *ns = &in->list[i];
    bool extra = ns->kind == MRS_INPUT_EXTRA;
    uint64_t bytes = 0;
    uint32_t rec;
    enum mrs_status s = MRS_OK;
    if (extra && !mrs_format_holds(o->format, ns->rel_path)) {
        s = MRSI_FAIL(e, MRS_E_USAGE, "%s has no place in an archive", ns->rel_path);
    } else if (extra && o->format == MRS_FORMAT_ARCHIVE && mrsi_is_prelude(ns->rel_path)) {
        return MRS_OK; /* the header of the archive contains it */
    }
    if (!extra && o->single_ns && strcmp(o->single_ns, ns->ns) != 0) {
        s = MRSI_FAIL(e, MRS_E_USAGE, "the output holds %s only, %s has no place in it",
                      o->single_ns, ns->ns);
    }
    s = s == MRS_OK ? mrsi_output_enter(o, extra ? ns->rel_path : ns->ns, extra, &rec, e) : s;
    MRS_THEN(s, copy_bytes(o, in, ns, &bytes, e));
    if (s == MRS_OK) {
        pthread_mutex_lock(&o->lock);
        o->recs[rec].copied = true;
        o->recs[rec].data = ns->data_path != NULL;
        o->recs[rec].codec = o->codec;
        o->recs[rec].file_bytes = bytes;
        pthread_mutex_unlock(&o->lock);
        s = mrsi_stream_put(o, rec, e);
    }
    return mrsi_output_fail(o, s);
}

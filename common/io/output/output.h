/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - internals of the output transaction, shared by output.c, sink.c, raw_copy.c and commit.c. */
#ifndef MRSI_IO_OUTPUT_H
#define MRSI_IO_OUTPUT_H

#include "resumable_file.h"
#include <pthread.h>

#define MRSI_STATE "state" /* the file in MRS_CHECKPOINT that lists the others */
#define MRSI_KEPT_MAX 64 /* written files with open descriptors until the commit's fsync */

/* PACK: files below the partial folder like those of DIR, which the commit puts into one file or onto standard
 * output */
enum mrsi_out_kind { MRSI_OUT_DIR, MRSI_OUT_FILE, MRSI_OUT_STDOUT, MRSI_OUT_PACK };
#define MRSI_PACKED "mongoreshape.packed" /* below the partial folder: the packed file */

/* The manifest's entry for one collection or extra file. */
struct mrsi_out_rec {
    char *name;    /* "db.coll", or the path of an extra */
    uint64_t hash; /* of name and kind: finds duplicates */
    bool extra, copied, data;
    bool counted; /* copied, and its documents are counted */
    enum mrs_codec codec;
    uint64_t docs, bytes, file_bytes;
    struct mrs_hash_sum digest;
};
struct mrsi_unsynced {
    int fd;
    char *path;
};

/* A written file, as listed for a resumed run. */
struct mrsi_out_file {
    char *rel; /* below the partial folder */
    uint64_t bytes, inode;
};

/* An open and locked partial folder, and its marker file; -1: not open. */
struct mrsi_claim {
    int folder, marker;
};

struct mrs_output {
    struct mrs_mem *mem;
    const struct mrs_salt *salt; /* of digests; NULL: none */
    enum mrsi_out_kind kind;
    char *path, *partial, *marker, *single_ns;
    char *meta_path; /* FILE: the final path of the metadata */
    enum mrs_format format;
    bool to_stdout;            /* PACK: the partial folder is a temporary one */
    struct mrs_compress pack;  /* PACK: of the whole */
    struct mrs_compress compress;
    enum mrs_codec codec; /* of sinks */
    const struct mrs_input *like; /* as in the options */
    mode_t file_mode, folder_mode;
    struct mrs_input *in; /* copies are read from it at the commit */
    struct mrs_input_origin origin;
    struct mrsi_stream_output *stream; /* NULL: no bytes are written before the commit */
    struct mrsi_background_copy *background; /* a copy started before its turn; NULL: none */
    bool force, sample, has_meta;
    size_t sink_buffer;
    struct mrsi_codec_pool *pool; /* threads that compress */
    uint32_t jobs;            /* number of them */
    struct mrsi_claim claim; /* locks the partial folder while the process lives */
    int out_fd;              /* STDOUT: file with the bytes until the commit */
    pthread_mutex_t lock; /* protects all fields below */
    bool lock_ready, failed, committed;
    bool keep_partial; /* an undo failed: the partial folder contains the former output */
    struct mrs_sink *sinks; /* open ones */
    struct mrsi_out_rec *recs;
    uint32_t n_recs, cap_recs;
    char **dirs; /* created folders, in order */
    uint32_t n_dirs, cap_dirs;
    struct mrsi_unsynced kept[MRSI_KEPT_MAX];
    uint32_t n_kept;
    struct mrsi_out_file *files;
    uint32_t n_files, cap_files;
    struct mrs_pause pause;
    struct mrs_stop stop;
    struct mrs_buf resumed;   /* document of resumable_file.c on the current file, while work is paused; empty: none */
    struct mrs_buf resumed_from; /* that of the stopped run; empty: none */
    bool resumed_taken;       /* and it has been resumed */
};

/* FAIL MRS_E_CHANGED: the input has changed since it was read. */
enum mrs_status mrsi_output_input_same(const struct mrs_output *o, struct mrs_err *e);
/* Records a failure, so that commit refuses; returns s. */
enum mrs_status mrsi_output_fail(struct mrs_output *o, enum mrs_status s);
/* Adds a record; a duplicate name is MRS_E_EXISTS. *index is its index in recs. */
enum mrs_status mrsi_output_enter(struct mrs_output *o, const char *name, bool extra,
                                  uint32_t *index, struct mrs_err *e);
/* Creates a file below the partial folder, with the folders on its path. The caller owns *path. */
enum mrs_status
mrsi_output_create(struct mrs_output *o, const char *rel, int *fd, char **path, struct mrs_err *e);
/* Takes ownership of fd and path of a written file until its fsync, also on failure. */
enum mrs_status mrsi_output_keep(struct mrs_output *o, int fd, char *path, struct mrs_err *e);
/* Records a created folder: takes ownership of path, also on failure. */
enum mrs_status mrsi_output_note_dir(struct mrs_output *o, char *path, struct mrs_err *e);
/* ---- claim.c ---- */
/* Creates OUT.partial with our marker; removes the remains of a killed run. FAIL MRS_E_EXISTS: another run holds it, or
 * a stopped run can be resumed, or it is not ours. */
enum mrs_status mrsi_claim_new(struct mrs_output *o, struct mrs_err *e);
/* Claims OUT.partial of a stopped run, unchanged. FAIL MRS_E_MISSING, MRS_E_EXISTS: another run holds it. */
enum mrs_status mrsi_claim_left(struct mrs_output *o, struct mrs_err *e);
/* Writes the marker in a new folder that no other process knows. On failure the folder is removed. */
enum mrs_status mrsi_claim_mark(struct mrs_output *o, struct mrs_err *e);
/* Opens and locks an existing partial folder of any run, until fd is closed. FAIL MRS_E_EXISTS: another run holds it,
 * or held it and moved it; MRS_E_IO. */
enum mrs_status mrsi_claim_folder(const char *partial, int *fd, struct mrs_err *e);
void mrsi_claim_end(struct mrsi_claim *c);
/* ---- commit.c ---- */
int mrsi_rename_new(const char *from, const char *to); /* as rename, but EEXIST if `to` exists */
int mrsi_swap(const char *from, const char *to);       /* two existing names */
/* ---- resumable_file.c ---- */
/* For the file at path: the record `name` is copied, or (NULL) all is packed. path, name: live as long as h. */
void mrsi_resumable_begin(struct mrs_output *o, const char *path, const char *name, bool extra,
                          struct mrsi_resumable *h);
/* the stopped run was writing data of this namespace */
bool mrsi_resumable_of(const struct mrs_output *o, const char *ns);
bool mrsi_resumable_is_copy(const struct mrs_output *o); /* whether it was copying; resumed_from is not empty */
/* h->fd: the file, new or of the stopped run, truncated to its valid bytes; the caller owns *path and fd. */
enum mrs_status mrsi_resumable_open(struct mrs_output *o, struct mrsi_resumable *h, char **path, struct mrs_err *e);
/* ---- background_copy.c: for one thread ---- */
/* Starts copying `from`, whose descriptor it takes over if from->own, to the file rel of namespace ns. At most one at a
 * time. Starts nothing if disk space is scarce, or on any failure. */
void mrsi_background_copy_begin(struct mrs_output *o, const char *ns, const char *rel,
                                const struct mrsi_source_from *from);
/* Ends the copy; false: there is none of that namespace. The caller owns *fd and *path, as for mrsi_output_create. The
 * first *done bytes of the input were copied; bytes after them are invalid. */
bool mrsi_background_copy_take(struct mrs_output *o, const char *ns, int *fd, char **path, uint64_t *done);
void mrsi_background_copy_drop(struct mrs_output *o, const char *ns); /* removes its file; ns NULL: any copy */
/* ---- resume.c ---- */
enum mrs_status mrsi_output_note_file(struct mrs_output *o, int fd, const char *path, struct mrs_err *e);
void mrsi_output_forget_files(struct mrs_output *o);
/* ---- checkpoint_dir.c ---- */
bool mrsi_stopped_there(struct mrs_output *o); /* whether a stopped run left a state */

/* A small file written at once, compressed as codec says. */
struct mrsi_small_file {
    const char *rel;
    const void *p;
    size_t n;
    enum mrs_codec codec;
};
enum mrs_status
mrsi_output_piece(struct mrs_output *o, const struct mrsi_small_file *piece, struct mrs_err *e);
/* Paths of a collection's files below the partial folder; NULL without memory. */
char *mrsi_output_data_rel(struct mrs_output *o, const char *db, const char *coll);
char *mrsi_output_meta_rel(struct mrs_output *o, const char *db, const char *coll);
const char *mrsi_codec_suffix(enum mrs_codec codec);
/* of metadata next to such data; zstd does not compress small files */
enum mrs_codec mrsi_meta_codec(enum mrs_codec codec);
/* ---- stream_output.c ---- */
/* The item of a record is complete: writes it. Without a stream: no effect. */
enum mrs_status mrsi_stream_put(struct mrs_output *o, uint32_t rec, struct mrs_err *e);
enum mrs_status mrsi_stream_finish(struct mrs_output *o, struct mrs_err *e);
void mrsi_stream_free(struct mrsi_stream_output *s); /* NULL: no effect */

void mrsi_sink_free(struct mrs_sink *s);
struct mrs_sink *mrsi_sink_next(struct mrs_sink *s);
/* The text of the manifest. */
enum mrs_status
mrsi_manifest(struct mrs_output *o, struct mrs_view extra, struct mrs_buf *text, struct mrs_err *e);
#define MRSI_MANIFEST_MAX (256u << 20) /* bytes */
/* Whether a text is the manifest of an output. */
bool mrsi_manifest_is_ours(struct mrs_mem *mem, const char *text, size_t n);
#endif

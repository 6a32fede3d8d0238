/* SPDX-License-Identifier: Apache-2.0 */
/* dump_out.h - an output that is complete or does not exist. */
#ifndef MONGORESHAPE_DUMP_OUT_H
#define MONGORESHAPE_DUMP_OUT_H

#include "mongoreshape/dump_in.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- output ---- */
struct mrs_output;
struct mrs_output_opts {
    struct mrs_pause pause;       /* of long copies and of the commit; {0}: none */
    struct mrs_stop stop;         /* for a piece being compressed: true means that its result is not needed */
    struct mrs_compress compress; /* AS_INPUT: as `default_codec` */
    enum mrs_codec default_codec;
    bool force;
    bool sample;     /* marks the manifest as a sample */
    const char *single_ns; /* OUT is one .bson file or `-`: the only namespace that may be written */
    /* AUTO: BSON with single_ns; ARCHIVE for `-`, .archive, .agz; TAR for .tar, .tgz, .tzst; ZIP for .zip (all also
     * with a suffix .gz, .zst if that makes sense); else DIRECTORY */
    enum mrs_format format;
    /* the source of mrs_output_copy, open until the commit, because an archive reads it then; NULL: set by the first
     * call */
    struct mrs_input *in;
    /* the source of OUT: OUT has no more permissions than it, and it must be unchanged at the commit */
    const struct mrs_input *like;
    bool resume;           /* keep OUT.partial of a stopped run; the next call is mrs_output_take_up */
    bool stream; /* ARCHIVE to `-`: writes bytes before the run has succeeded; a failure leaves them incomplete */
    const char *input;     /* the input path: OUT may not be, contain or lie in it; NULL or "-": not checked */
    const char *tmp;       /* folder for the bytes of `-` until the commit; NULL: $TMPDIR, else /tmp */
    size_t sink_buffer; /* of one plain sink; 0: 256 KiB; a compressing one uses 1.2 MiB */
    uint32_t jobs;      /* threads that compress, for all sinks together; 0 or 1: the writer's own */
    /* of the manifest's digests; the manifest names its source; lives as long as the output */
    const struct mrs_salt *salt;
};
/* Whether an existing or future file is `kept` or lies in it, links resolved. NULL, "-" and unresolvable paths: no. */
bool mrs_file_is_in(const char *file, const char *kept);
/* Refuses an existing OUT without force (MRS_E_EXISTS), creates OUT.partial. An old one of a killed run is removed if
 * it has our marker file, else MRS_E_EXISTS; also MRS_E_EXISTS while another process writes it. With force an existing
 * folder is only replaced if everything in it could be part of a dump. Path "-" is standard output and needs single_ns;
 * refused if it is a terminal (MRS_E_USAGE). With AS_INPUT, the codec of a file follows its suffix .gz or .zst, else
 * default_codec; its metadata go to X.metadata.json (with gzip .gz) and its manifest to OUT.manifest.json next to
 * it. */
enum mrs_status mrs_output_open(struct mrs_mem *mem, const char *path, const struct mrs_output_opts *opts,
                                struct mrs_output **out, struct mrs_err *e);
/* Format and compression of OUT, by its name and the options. */
struct mrs_output_shape {
    enum mrs_format format;
    enum mrs_codec codec;
};
struct mrs_output_shape mrs_output_shape(const char *path, const struct mrs_output_opts *opts);
/* Whether the file names of a collection are shortened, with the full name in the metadata. */
bool mrs_name_is_long(const char *coll);
/* Path of the metadata of an output that is one .bson file; owned by the caller, from mem; NULL without memory. */
char *mrs_output_metadata_path(struct mrs_mem *mem, const char *path, enum mrs_codec codec);
/* True for collections that must come first in an archive: users, roles and their version. */
bool mrs_archive_special(const char *db, const char *coll);
/* With opts.stream: lists everything to write or copy, before the first of it. Each is sent when its sink is closed or
 * it is copied; users and roles must be copied first and the oplog last. */
struct mrs_output_item {
    const char *name;     /* "db.coll", or the path of an extra file; lives as long as the output */
    bool extra, data;
    const char *metadata; /* the text, NUL-ended, lives as long as the output; "": none */
};
enum mrs_status mrs_output_announce(struct mrs_output *o, const struct mrs_output_item *items, uint32_t n,
                                    struct mrs_err *e);
/* Bytes of memory for its compression; each further open sink: 1.2 MiB more. */
uint64_t mrs_output_memory(const struct mrs_output *o);
/* Bytes that the commit reads to combine all into one file; 0: it combines none. */
uint64_t mrs_output_packs(const struct mrs_output *o);
/* The folder of the files until the commit; NULL: the output is no folder. */
const char *mrs_output_partial(const struct mrs_output *o);
struct mrs_sink;
/* One collection: metadata are the final bytes of X.metadata.json (NULL: no such file); data false: no data file
 * (views). *sink NULL without data. */
enum mrs_status mrs_output_coll(struct mrs_output *o, const char *db, const char *coll,
                                const char *metadata, size_t metadata_n, bool data,
                                struct mrs_sink **sink, struct mrs_err *e);
/* Appends complete documents; other bytes: MRS_E_ACCOUNT. After any failure of a sink or copy the output can only be
 * aborted. */
enum mrs_status mrs_sink_write(struct mrs_sink *s, const void *p, size_t n, struct mrs_err *e);
#define MRS_DIGESTS "XXH3-128, salt planId" /* the manifest's name for digests with the salt of its plan id */
/* mrs_sink_write in two parts, so that several threads count and hash their documents and the write itself is short.
 * mrs_docs_add adds one document to d ({0} at first), with the salt of the output; false: its bytes are not one
 * complete document. All documents of p must have been added. */
struct mrs_docs {
    uint64_t n, bytes;
    struct mrs_hash_sum digest;
};
bool mrs_docs_add(struct mrs_docs *d, const struct mrs_salt *salt, const void *doc, size_t n);
void mrs_docs_sum(struct mrs_docs *to, const struct mrs_docs *what);
void mrs_docs_write(const struct mrs_docs *d, struct mrs_build *b); /* in the form of a manifest: docs, bytes, digest */
enum mrs_status mrs_sink_write_counted(struct mrs_sink *s, const void *p, size_t n,
                                       const struct mrs_docs *d, struct mrs_err *e);
/* Empties the file, as if nothing had been written. */
enum mrs_status mrs_sink_restart(struct mrs_sink *s, struct mrs_err *e);
/* Ends the file and frees s, whatever it returns; s NULL: no effect. The sink also counts and hashes its bytes itself:
 * docs differing from its count is MRS_E_ACCOUNT; *digest (may be NULL) is set to the order-free digest, the sum of the
 * 128-bit hashes of all documents. Both go into the manifest. */
enum mrs_status mrs_sink_close(struct mrs_sink *s, uint64_t docs, struct mrs_hash_sum *digest,
                               struct mrs_err *e);
/* Copies an input file unchanged: a namespace (data and metadata, names kept) or an extra. Bytes on disk stay the same
 * unless the data get another codec. */
enum mrs_status mrs_output_copy(struct mrs_output *o, struct mrs_input *in, uint32_t i,
                                struct mrs_err *e);
/* Starts copying a namespace in the background, before its mrs_output_copy: a hint, which never fails. If it is written
 * instead (mrs_output_coll), the copy is discarded. From the thread that copies. */
void mrs_output_copy_in_background(struct mrs_output *o, struct mrs_input *in, uint32_t i);
/* The counts and digest of a copied namespace, for the manifest. FAIL MRS_E_ACCOUNT: it was not copied. */
enum mrs_status mrs_output_copied(struct mrs_output *o, const char *ns, const struct mrs_docs *d, struct mrs_err *e);
/* Whether that extra has been copied. */
bool mrs_output_has(struct mrs_output *o, const char *rel_path);
/* Syncs, writes the manifest (extra: BSON document whose fields come first), renames. All sinks must be closed (else
 * MRS_E_ACCOUNT). sync_ms: duration of the sync, may be NULL. FAIL: the output is not written, and an existing OUT is
 * unchanged. */
enum mrs_status mrs_output_commit(struct mrs_output *o, struct mrs_view extra, uint64_t *sync_ms,
                                  struct mrs_err *e);
/* Syncs all files written so far. */
enum mrs_status mrs_output_sync(struct mrs_output *o, struct mrs_err *e);
void mrs_output_abort(struct mrs_output *o); /* removes OUT.partial; no effect after commit */
void mrs_output_free(struct mrs_output *o);

#ifdef __cplusplus
}
#endif
#endif

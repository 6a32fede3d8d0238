/* SPDX-License-Identifier: Apache-2.0 */
/* dump_out.h - an output that is whole or not there. */
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
    struct mrs_stop stop;         /* of a piece that is packed: what comes of it will not be wanted */
    struct mrs_compress compress; /* AS_INPUT: as `default_codec` */
    enum mrs_codec default_codec;
    bool force;
    bool sample;     /* marks the manifest as a sample */
    const char *single_ns; /* OUT is one .bson file or `-`: only this namespace may be written */
    enum mrs_format format; /* AUTO: BSON with single_ns; ARCHIVE for `-`, .archive, .agz; TAR for .tar, .tgz, .tzst;
                               ZIP for .zip (all also with .gz, .zst behind where that makes sense); else DIRECTORY */
    /* what mrs_output_copy copies from, until the commit, for an archive reads it then; NULL: the first call says it */
    struct mrs_input *in;
    /* what OUT is made of: OUT grants no more rights than it, and it must be what it was at the commit */
    const struct mrs_input *like;
    bool resume;           /* OUT.partial of a stopped run is taken over as it is; mrs_output_take_up comes next */
    bool stream;           /* ARCHIVE to `-`: bytes go out before the run is decided; a failure ends them unfinished */
    const char *input;     /* what is being read: OUT may not be, hold or lie in it; NULL or "-": not checked */
    const char *tmp;       /* where `-` is gathered until the commit; NULL: $TMPDIR, else /tmp */
    size_t sink_buffer; /* of one plain sink; 0: 256 KiB; one that compresses takes 1.2 MiB */
    uint32_t jobs;      /* threads that compress, for all sinks together; 0 or 1: who writes */
    const struct mrs_salt *salt; /* of the manifest's digests, which says what it is made of; lives as long */
};
/* Whether a file that is written, or would be, is `kept` or lies in it, links resolved. NULL, "-" and what cannot be
 * resolved: no. */
bool mrs_file_is_in(const char *file, const char *kept);
/* Refuses an existing OUT without force (MRS_E_EXISTS), makes OUT.partial (an old one of a killed
 * run is removed: it carries our marker file, else MRS_E_EXISTS; one that another process is
 * writing: MRS_E_EXISTS). With force an existing folder is only replaced where everything in it
 * could be part of a dump. Path "-" is standard output and needs single_ns; refused when it is a
 * terminal (MRS_E_USAGE). A file's codec, with AS_INPUT, follows its suffix .gz or .zst, else
 * default_codec; its metadata go to X.metadata.json (with gzip .gz) and its manifest to OUT.manifest.json beside
 * it. */
enum mrs_status mrs_output_open(struct mrs_mem *mem, const char *path, const struct mrs_output_opts *opts,
                                struct mrs_output **out, struct mrs_err *e);
/* What OUT will be, by its name and the options: format, and what it is packed with. */
struct mrs_output_shape {
    enum mrs_format format;
    enum mrs_codec codec;
};
struct mrs_output_shape mrs_output_shape(const char *path, const struct mrs_output_opts *opts);
/* Whether files of a collection have a shortened name, with the whole one in the metadata. */
bool mrs_name_is_long(const char *coll);
/* Where the metadata of an output that is one .bson file lie; the caller's, from mem; NULL without memory. */
char *mrs_output_metadata_path(struct mrs_mem *mem, const char *path, enum mrs_codec codec);
/* True of what must come before all other namespaces in an archive: users, roles and their version. */
bool mrs_archive_special(const char *db, const char *coll);
/* With opts.stream: everything that will be written or copied, before the first of it. Each goes out once its sink is
 * closed or it is copied; users and roles must be copied first and the oplog last. */
struct mrs_output_item {
    const char *name;     /* "db.coll", or the path of an extra file; lives as long as the output */
    bool extra, data;
    const char *metadata; /* the text, NUL-ended, which lives as long; "": none */
};
enum mrs_status mrs_output_announce(struct mrs_output *o, const struct mrs_output_item *items, uint32_t n,
                                    struct mrs_err *e);
/* Bytes of memory that its compression takes; each sink that is open beside the first: 1.2 MiB more. */
uint64_t mrs_output_memory(const struct mrs_output *o);
/* Bytes that the commit will read to put all into one file; 0: it puts nothing together. */
uint64_t mrs_output_packs(const struct mrs_output *o);
/* The folder of the files until the commit; NULL: the output is no folder. */
const char *mrs_output_partial(const struct mrs_output *o);
struct mrs_sink;
/* One collection: metadata are the bytes of X.metadata.json as they shall are there (NULL: no
 * such file); data false: no data file (views). *sink NULL without data. */
enum mrs_status mrs_output_coll(struct mrs_output *o, const char *db, const char *coll,
                                const char *metadata, size_t metadata_n, bool data,
                                struct mrs_sink **sink, struct mrs_err *e);
/* Whole documents, appended; bytes that are not: MRS_E_ACCOUNT. After any failure of a sink or copy
 * the output can only be aborted. */
enum mrs_status mrs_sink_write(struct mrs_sink *s, const void *p, size_t n, struct mrs_err *e);
#define MRS_DIGESTS "XXH3-128, salt planId" /* what a manifest calls digests with the salt of its plan id */
/* The same in two parts, so that several threads count and hash what they make and writing itself is
 * short. mrs_docs_add takes one document into d ({0} at first), with the salt of the output; false: its
 * bytes are not one whole document. All documents of p must have been added. */
struct mrs_docs {
    uint64_t n, bytes;
    struct mrs_hash_sum digest;
};
bool mrs_docs_add(struct mrs_docs *d, const struct mrs_salt *salt, const void *doc, size_t n);
void mrs_docs_sum(struct mrs_docs *to, const struct mrs_docs *what);
void mrs_docs_write(const struct mrs_docs *d, struct mrs_build *b); /* as a manifest has it: docs, bytes, digest */
enum mrs_status mrs_sink_write_counted(struct mrs_sink *s, const void *p, size_t n,
                                       const struct mrs_docs *d, struct mrs_err *e);
/* Empties the file again, as if nothing had been written. */
enum mrs_status mrs_sink_restart(struct mrs_sink *s, struct mrs_err *e);
/* Ends the file and frees s, whatever it returns; s NULL: nothing. The sink counts and hashes what
 * it wrote by itself: docs differing from its own count is MRS_E_ACCOUNT; *digest (may be NULL) is
 * set to the order-free digest, the sum of the 128-bit hashes of all documents. Both go into the
 * manifest. */
enum mrs_status mrs_sink_close(struct mrs_sink *s, uint64_t docs, struct mrs_hash_sum *digest,
                               struct mrs_err *e);
/* Copies an input file as it is: a namespace (data and metadata, names kept) or an extra. Bytes on
 * disk stay the same unless another codec is wanted for data. */
enum mrs_status mrs_output_copy(struct mrs_output *o, struct mrs_input *in, uint32_t i,
                                struct mrs_err *e);
/* A namespace that will be copied later may be begun now, beside other work: a hint, which never fails. One that is
 * written after all (mrs_output_coll) is forgotten. From the thread that copies. */
void mrs_output_copy_in_background(struct mrs_output *o, struct mrs_input *in, uint32_t i);
/* What is in a namespace that was copied, for the manifest. FAIL MRS_E_ACCOUNT: it was not. */
enum mrs_status mrs_output_copied(struct mrs_output *o, const char *ns, const struct mrs_docs *d, struct mrs_err *e);
/* Whether that extra has been copied already. */
bool mrs_output_has(struct mrs_output *o, const char *rel_path);
/* Syncs, writes the manifest (extra: BSON document whose fields go into it first), renames. All
 * sinks must be closed (else MRS_E_ACCOUNT). sync_ms: how long that took, may be NULL. FAIL:
 * nothing is published, what was there before is there still. */
enum mrs_status mrs_output_commit(struct mrs_output *o, struct mrs_view extra, uint64_t *sync_ms,
                                  struct mrs_err *e);
/* All files written so far are on disk. */
enum mrs_status mrs_output_sync(struct mrs_output *o, struct mrs_err *e);
void mrs_output_abort(struct mrs_output *o); /* removes OUT.partial; harmless after commit */
void mrs_output_free(struct mrs_output *o);

#ifdef __cplusplus
}
#endif
#endif

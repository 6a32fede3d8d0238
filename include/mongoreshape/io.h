/* SPDX-License-Identifier: Apache-2.0 */
/* io.h - dumps in and out: directories as mongodump 100.x writes them, single .bson files, archives of
 * mongodump --archive, dump directories packed as tar or zip, `-` for a stream.
 *
 * Input is opened read-only and never changed. gzip and zstd are recognised by content, whatever
 * the name says. Output is one transaction: it stands under OUT.partial, files synced, manifest
 * last, until it is renamed in one go. Threads: an input and an output may be used by several
 * threads as long as each reader and each sink belongs to one at a time. */
#ifndef MONGORESHAPE_IO_H
#define MONGORESHAPE_IO_H

#include "mongoreshape/value.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mrs_codec { MRS_CODEC_NONE, MRS_CODEC_GZIP, MRS_CODEC_ZSTD, MRS_CODEC_AS_INPUT };
struct mrs_compress {
    enum mrs_codec codec;
    int level; /* 0: the codec's default */
};
/* "gzip", "zstd:3", "none". FAIL MRS_E_USAGE. */
enum mrs_status mrs_compress_parse(const char *text, struct mrs_compress *out, struct mrs_err *e);

/* What a dump is as a whole. */
enum mrs_format {
    MRS_FORMAT_AUTO,      /* of an output only: by single_ns, then by the suffix of its path */
    MRS_FORMAT_DIRECTORY, /* as mongodump --out writes it */
    MRS_FORMAT_BSON,      /* one namespace: a .bson file or the same as a stream */
    MRS_FORMAT_ARCHIVE,   /* as mongodump --archive writes it */
    MRS_FORMAT_TAR,       /* a dump directory, packed */
    MRS_FORMAT_ZIP,
    MRS_FORMAT_OTHER      /* of an input only: another container that libarchive reads (7z, cpio ...) */
};
/* "directory", "bson", "archive", "tar", "zip". FAIL MRS_E_USAGE. */
enum mrs_status mrs_format_parse(const char *text, enum mrs_format *out, struct mrs_err *e);
/* Whether a dump of this format has a place for what an extra file says: an archive knows the oplog, users and roles,
 * and has the versions of prelude.json in its head. */
bool mrs_format_holds(enum mrs_format format, const char *rel_path);

/* Whoever waits for long work of this room is asked between its parts. {0}: nobody waits. One thread at a time. */
struct mrs_pause {
    void *arg;
    /* bytes: how many were done since it was asked last. True: `rest` comes next. */
    bool (*due)(void *arg, uint64_t bytes);
    /* Not OK: the work ends with it. Of an output that is no stream: all that it wrote is on disk, and
     * mrs_output_describe tells how far it is. */
    enum mrs_status (*rest)(void *arg, struct mrs_err *e);
};

/* ---- input ---- */
enum mrs_input_kind {
    MRS_INPUT_DATA,  /* a namespace: documents and metadata, or one of them */
    /* a file that belongs to the dump and is no namespace that steps may name: prelude.json,
     * oplog.bson, $admin.system.users.bson, unknown files */
    MRS_INPUT_EXTRA
};
struct mrs_input_ns {
    enum mrs_input_kind kind;
    const char *db, *coll, *ns;  /* DATA: names unescaped */
    const char *data_path;       /* NULL: no data; for messages: the file, or "FILE: what in it" */
    const char *meta_path;       /* NULL: no metadata; likewise */
    const struct mrsi_place *data_place, *meta_place; /* of the room: where its bytes are; NULL: a file of that path */
    /* EXTRA: path below the dump's root; of files that mongodump writes without the .gz or .zst of their packing */
    const char *rel_path;
    struct mrs_view metadata;    /* parsed metadata.json; the empty document where there is none */
    enum mrs_codec codec;        /* of the data file */
    uint64_t file_bytes;         /* size of the data file on disk */
    bool empty_oplog;            /* EXTRA oplog.bson that holds no entry */
};
struct mrs_input_opts {
    const char *const *include, *const *exclude; /* patterns as mongorestore's: `*` over db.coll, `\` escapes */
    uint32_t n_include, n_exclude;
    /* for `-` and single files: "db.coll"; NULL: from the file's name and folder. Of an archive: all that is taken */
    const char *ns;
    const char *unnamed; /* what documents are called of which neither says it, as of a stream; NULL: refused */
    const char *tmp; /* where a pipe is put, to be read twice; NULL: $TMPDIR, else /tmp */
    /* of a pipe or container that is read or unpacked from end to end before it is open. bytes: what is read of an
     * archive or pipe, else what is unpacked */
    struct mrs_pause pause;
    bool unfinished; /* the folder is the output of a run that has not ended: our marker in it is no reason to refuse */
};
struct mrs_input;
/* Opens a dump directory (a root with databases, or one database's folder), an archive, a .bson file or "-" and
 * lists what is there, sorted by namespace bytes (extras last). Metadata are read and checked. FAIL
 * MRS_E_MISSING, MRS_E_FORMAT, MRS_E_IO, MRS_E_USAGE. */
enum mrs_status mrs_input_open(struct mrs_mem *mem, const char *path, const struct mrs_input_opts *opts,
                               struct mrs_input **out, struct mrs_err *e);
void mrs_input_close(struct mrs_input *in);
/* Whether all files and folders are as they were when they were listed. FAIL MRS_E_CHANGED, with one that is not. */
enum mrs_status mrs_input_unchanged(const struct mrs_input *in, struct mrs_err *e);
/* The same of an open file besides, of that name. */
enum mrs_status mrs_input_watch(struct mrs_input *in, const char *name, int fd, struct mrs_err *e);
/* s comes from reading the input: damage that is there because it changes is told as that. Returns s. */
enum mrs_status mrs_input_blame(const struct mrs_input *in, enum mrs_status s, struct mrs_err *e);
/* What lies in the input's folders, belongs to no dump, and was passed over. */
uint32_t mrs_input_passed(const struct mrs_input *in);
const char *mrs_input_passed_at(const struct mrs_input *in, uint32_t i);
/* Packed files are unpacked by so many threads ahead of those who read them, where a reader may take memory/4 bytes for
 * that. Before the first reader. Returns the bytes that one takes; 0: it is not done. */
uint64_t mrs_input_ahead(struct mrs_input *in, uint32_t threads, uint64_t memory);
uint32_t mrs_input_count(const struct mrs_input *in);
const struct mrs_input_ns *mrs_input_at(const struct mrs_input *in, uint32_t i);
enum mrs_format mrs_input_format(const struct mrs_input *in);
/* What it is packed with: an archive as a whole; else what most bytes of its data files are. */
enum mrs_codec mrs_input_codec(const struct mrs_input *in);
/* Versions of the server and of the tool that wrote the dump, from an archive's prelude or prelude.json; "" where it
 * does not say; and how many collections an archive has open at once (0: no archive). */
struct mrs_input_origin {
    const char *server_version, *tool_version;
    uint32_t concurrent;
};
const struct mrs_input_origin *mrs_input_origin(const struct mrs_input *in);
const char *mrs_input_only_db(const struct mrs_input *in); /* the only database beside admin, config and local; NULL */
/* The bytes of a namespace's metadata file, decoded, appended to out; nothing where there is none. */
enum mrs_status mrs_input_metadata_text(struct mrs_input *in, uint32_t i, struct mrs_buf *out, struct mrs_err *e);
uint32_t mrs_input_excluded(const struct mrs_input *in);   /* namespaces that the patterns left out */
const char *mrs_input_excluded_at(const struct mrs_input *in, uint32_t i);

/* ---- blocks of whole documents ---- */
struct mrs_block {
    uint8_t *p;          /* whole documents, one behind the other */
    size_t n, cap;
    uint64_t seq;        /* 0, 1, 2 ... */
    uint64_t first_doc;  /* number of its first document, from 0 */
    uint32_t n_docs;
    uint64_t off;        /* of its first byte in the uncompressed stream */
    struct mrs_mem *mem;
};
void mrs_block_init(struct mrs_block *b, struct mrs_mem *mem);
void mrs_block_clear(struct mrs_block *b);

struct mrs_reader;
/* A stream of documents: of an input's namespace or of a file of raw BSON (spool). block_bytes:
 * wanted size of blocks (0: 1 MiB); the cut of blocks depends on the data and this figure alone. */
enum mrs_status mrs_reader_open(struct mrs_input *in, uint32_t i, size_t block_bytes,
                                struct mrs_reader **out, struct mrs_err *e);
/* The first `bytes` bytes of an open file (UINT64_MAX: up to its end); fd is not closed; read with
 * pread, so several readers may share it. */
enum mrs_status mrs_reader_fd(struct mrs_mem *mem, int fd, uint64_t bytes, const char *name,
                              size_t block_bytes, struct mrs_reader **out, struct mrs_err *e);
/* The next block; only lengths are checked here (5 .. MRS_DOC_READ_MAX, enough bytes, final NUL):
 * run mrs_doc_check on each document. Errors name file, offset and document number: MRS_E_BSON
 * (impossible length, truncated), MRS_E_FORMAT (codec), MRS_E_IO. OK, END. */
enum mrs_status mrs_reader_next(struct mrs_reader *r, struct mrs_block *b, struct mrs_err *e);
/* Where the next block begins, and going on from there with a reader that is new: FAIL MRS_E_IO where it ends before,
 * MRS_E_FORMAT where such a place cannot be. */
struct mrs_reader_at {
    uint64_t off, doc, seq;
};
void mrs_reader_where(const struct mrs_reader *r, struct mrs_reader_at *at);
enum mrs_status mrs_reader_go_on(struct mrs_reader *r, const struct mrs_reader_at *at, struct mrs_err *e);
/* Compressed bytes read so far, for progress. */
uint64_t mrs_reader_progress(const struct mrs_reader *r);
/* The uncompressed stream as memory to be read: *p is its first byte, of which *n are there (a file that
 * is cut afterwards kills who reads behind its end). *p NULL: it cannot be had so (packed, or the
 * system does not want to). mrs_map_free, also after the reader was closed. */
void mrs_reader_map(const struct mrs_reader *r, const uint8_t **p, size_t *n);
/* Makes [p, p + n) of a mapping present; false: it cannot be read that way. */
bool mrs_map_fetch(const uint8_t *p, size_t n);
void mrs_map_free(const uint8_t *p, size_t n);
void mrs_reader_close(struct mrs_reader *r);

/* ---- output ---- */
struct mrs_output;
struct mrs_output_opts {
    struct mrs_pause pause;       /* of long copies and of the commit; {0}: none */
    struct mrs_compress compress; /* AS_INPUT: as `default_codec` */
    enum mrs_codec default_codec;
    bool force;
    bool sample;     /* marks the manifest as a sample */
    const char *single_ns; /* OUT is one .bson file or `-`: only this namespace may be written */
    enum mrs_format format; /* AUTO: BSON with single_ns; ARCHIVE for `-`, .archive, .agz; TAR for .tar, .tgz, .tzst;
                               ZIP for .zip (all also with .gz, .zst behind where that makes sense); else DIRECTORY */
    /* what mrs_output_copy copies from, until the commit, for an archive reads it then; NULL: the first call says it */
    struct mrs_input *in;
    /* what OUT is made of: nobody gets more rights on OUT than on it, and it must be what it was at the commit */
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
/* True of what must stand before all other namespaces in an archive: users, roles and their version. */
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
/* The folder in which the files stand until the commit; NULL: the output is no folder. */
const char *mrs_output_partial(const struct mrs_output *o);
struct mrs_sink;
/* One collection: metadata are the bytes of X.metadata.json as they shall stand there (NULL: no
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
void mrs_output_copy_early(struct mrs_output *o, struct mrs_input *in, uint32_t i);
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

/* ---- going on with a run that was stopped ----
 * OUT.partial stays as it is, and beside it stands the folder OUT.checkpoint: one file with the state of the run, and
 * files that the state speaks of, called by numbers from 1. mrs_output_open refuses to begin anew where such a state
 * is, unless forced. */
/* What tells that a namespace of the input (a file) is the one that it was: its size, the time of its last change, its
 * first and last bytes; of a stream all bytes. */
enum mrs_status mrs_input_fingerprint(struct mrs_input *in, uint32_t i, struct mrs_hash128 *out, struct mrs_err *e);
enum mrs_status mrs_file_fingerprint(struct mrs_mem *mem, const char *path, struct mrs_hash128 *out, struct mrs_err *e);
#define MRS_STOPPED_MAX (MRS_DOC_MAX + 64u) /* most bytes of a state */
struct mrs_beside {
    struct mrs_mem *mem;
    const char *output; /* as in mrs_output_open */
    const char *tmp;    /* where numbered files are made from now on; NULL: in the folder itself */
};
/* An error of mrs_err_checkpoint names the folder from now on; another one stays as it is. */
void mrs_beside_place(const struct mrs_beside *side, struct mrs_err *e);
/* The state that a stopped run to this output left. FAIL MRS_E_MISSING: there is none. */
enum mrs_status mrs_beside_read(const struct mrs_beside *side, char **state, size_t *n, struct mrs_err *e);
/* The run may have been killed while the output that is described (mrs_output_describe) got its name. *published: it
 * has it, and what it replaced is removed; else whatever was moved is where it was before. */
enum mrs_status mrs_beside_settle(const struct mrs_beside *side, struct mrs_view description, bool force,
                                  bool *published, struct mrs_err *e);
/* Replaces the state; afterwards it is on disk. */
enum mrs_status mrs_beside_write(const struct mrs_beside *side, const void *p, size_t n, struct mrs_err *e);
/* Numbered files, opened for reading and writing, synced, removed, wherever they are: the caller need not know. One
 * that is not there: FAIL MRS_E_MISSING; one that was not made by us, or that stands under a second name: MRS_E_FORMAT,
 * and it is not touched. */
enum mrs_status mrs_beside_file(const struct mrs_beside *side, uint32_t no, bool create, int *fd, struct mrs_err *e);
enum mrs_status mrs_beside_sync(const struct mrs_beside *side, uint32_t no, struct mrs_err *e);
void mrs_beside_drop(const struct mrs_beside *side, uint32_t no);
struct mrs_beside_keep {
    const uint32_t *no;
    uint32_t n;
};
/* All of them can be opened. */
enum mrs_status mrs_beside_check(const struct mrs_beside *side, const struct mrs_beside_keep *keep, struct mrs_err *e);
/* Removes all files but the state and those of keep; keep NULL: everything, with the folder. */
enum mrs_status mrs_beside_clear(const struct mrs_beside *side, const struct mrs_beside_keep *keep, struct mrs_err *e);
/* What is written so far, as fields of a document; open sinks are not told. */
enum mrs_status mrs_output_describe(struct mrs_output *o, struct mrs_build *b, struct mrs_err *e);
/* The output is as it was described; files that are not in the description are removed, but for those of `open`: an
 * array of documents with the field `path`. FAIL MRS_E_FORMAT: the description is damaged, or a file is not as it was.
 */
enum mrs_status mrs_output_take_up(struct mrs_output *o, struct mrs_view description, struct mrs_view open,
                                   struct mrs_err *e);
/* Where an open sink stands, as fields of a document, its file on disk so far; and the same sink of another run, at
 * such a mark. empty: as if nothing had been written; the file may be emptied afterwards. */
enum mrs_status mrs_sink_mark(struct mrs_sink *s, bool empty, struct mrs_build *b, struct mrs_err *e);
enum mrs_status mrs_output_coll_again(struct mrs_output *o, const char *db, const char *coll, struct mrs_view mark,
                                      struct mrs_sink **sink, struct mrs_err *e);
/* As mrs_output_abort, but OUT.partial stays. */
void mrs_output_leave(struct mrs_output *o);

/* ---- temporary files ---- */
/* An unlinked file in dir (NULL: $TMPDIR, else /tmp). */
enum mrs_status mrs_temp_open(const char *dir, int *fd, struct mrs_err *e);
/* All n bytes or an error: short writes and EINTR are retried. */
enum mrs_status mrs_write_at(int fd, const void *p, size_t n, uint64_t off, struct mrs_err *e);
/* The same; the end of the file inside is FAIL MRS_E_IO. */
enum mrs_status mrs_read_at(int fd, void *p, size_t n, uint64_t off, struct mrs_err *e);
/* A whole file, NUL-ended behind its n bytes; ceiling: MRS_E_LIMIT. */
enum mrs_status mrs_file_read(struct mrs_mem *mem, const char *path, size_t ceiling, char **text,
                              size_t *n, struct mrs_err *e);

/* A file written piece by piece, for its owner alone, that appears whole: beside its place until close with publish,
 * then synced and renamed (an old one is replaced). Closed without publish it never was. w may be NULL
 * in close. */
struct mrs_whole;
enum mrs_status mrs_whole_open(struct mrs_mem *mem, const char *path,
                               struct mrs_whole **out, struct mrs_err *e);
/* The same for a file that a process of this id may have left unfinished, the caller's own included: what of that is
 * as it is put now is read only, not written again. FAIL MRS_E_FORMAT: what has its name is nothing of ours. */
enum mrs_status mrs_whole_take_up(struct mrs_mem *mem, const char *path, uint64_t id, struct mrs_whole **out,
                                  struct mrs_err *e);
/* Closed unfinished, for who takes it up; NULL: nothing. */
void mrs_whole_leave(struct mrs_whole *w);
enum mrs_status mrs_whole_put(struct mrs_whole *w, const void *p, size_t n, struct mrs_err *e);
enum mrs_status mrs_whole_close(struct mrs_whole *w, bool publish, struct mrs_err *e);

/* Bytes packed against a prefix that the reader has as well, as one frame appended to out. Unpack: n bytes come out,
 * else MRS_E_FORMAT. */
struct mrs_delta {
    const void *prefix;
    size_t prefix_n;
    const void *p; /* what is packed, or the frame */
    size_t n;
};
enum mrs_status mrs_delta_pack(struct mrs_mem *mem, const struct mrs_delta *d, struct mrs_buf *out, struct mrs_err *e);
enum mrs_status mrs_delta_unpack(struct mrs_mem *mem, const struct mrs_delta *d, size_t n, struct mrs_buf *out,
                                 struct mrs_err *e);

/* A file that appears whole, for its owner alone: written beside, synced, renamed. */
enum mrs_status mrs_file_write(const char *path, const void *p, size_t n, struct mrs_err *e);

#ifdef __cplusplus
}
#endif
#endif

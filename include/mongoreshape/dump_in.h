/* SPDX-License-Identifier: Apache-2.0 */
/* dump_in.h - the contents of a dump, and its documents in blocks. */
#ifndef MONGORESHAPE_DUMP_IN_H
#define MONGORESHAPE_DUMP_IN_H

#include "mongoreshape/formats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- input ---- */
enum mrs_input_kind {
    MRS_INPUT_DATA,  /* a namespace: documents and metadata, or one of them */
    /* a file of the dump that is no namespace for steps: prelude.json, oplog.bson, $admin.system.users.bson, unknown
     * files */
    MRS_INPUT_EXTRA
};
struct mrs_input_ns {
    enum mrs_input_kind kind;
    const char *db, *coll, *ns;  /* DATA: names unescaped */
    const char *data_path;       /* NULL: no data; for messages: the file, or "FILE: member" */
    const char *meta_path;       /* NULL: no metadata; likewise */
    const struct mrsi_src_extents *data_place, *meta_place; /* the location of its bytes; NULL: a file of that path */
    /* EXTRA: path below the dump's root; for files of mongodump without the suffix .gz or .zst */
    const char *rel_path;
    struct mrs_view metadata;    /* parsed metadata.json; the empty document if it has none */
    enum mrs_codec codec;        /* of the data file */
    uint64_t file_bytes;         /* size of the data file on disk */
    bool empty_oplog;            /* EXTRA oplog.bson without entries */
};
struct mrs_input_opts {
    const char *const *include, *const *exclude; /* patterns as in mongorestore: `*` over db.coll, `\` escapes */
    uint32_t n_include, n_exclude;
    /* for `-` and single files: "db.coll"; NULL: from the file's name and folder. For an archive: the only namespace
     * read */
    const char *ns;
    const char *unnamed; /* namespace of documents without one, as in a stream; NULL: refused */
    const char *tmp; /* folder for a pipe's bytes, to read them twice; NULL: $TMPDIR, else /tmp */
    /* for a pipe or container that must be read or unpacked completely to open it. bytes: those read of an archive or
     * pipe, else those unpacked */
    struct mrs_pause pause;
    bool unfinished; /* the folder is the output of an unfinished run: accept our marker in it */
};
struct mrs_input;
/* Opens a dump directory (a root with databases, or one database's folder), an archive, a .bson file or "-" and lists
 * its contents, sorted by namespace bytes (extras last). Reads and checks metadata. FAIL MRS_E_MISSING, MRS_E_FORMAT,
 * MRS_E_IO, MRS_E_USAGE. */
enum mrs_status mrs_input_open(struct mrs_mem *mem, const char *path, const struct mrs_input_opts *opts,
                               struct mrs_input **out, struct mrs_err *e);
void mrs_input_close(struct mrs_input *in);
/* Checks that all files and folders are the same as when they were listed. FAIL MRS_E_CHANGED, with one that is not. */
enum mrs_status mrs_input_unchanged(const struct mrs_input *in, struct mrs_err *e);
/* Adds an open file with that name to this check. */
enum mrs_status mrs_input_watch(struct mrs_input *in, const char *name, int fd, struct mrs_err *e);
/* For a status s from reading the input: damage that changes of the input explain becomes MRS_E_CHANGED. Returns the
 * status. */
enum mrs_status mrs_input_blame(const struct mrs_input *in, enum mrs_status s, struct mrs_err *e);
/* Files and folders in the input's folders that belong to no dump and were ignored. */
uint32_t mrs_input_passed(const struct mrs_input *in);
const char *mrs_input_passed_at(const struct mrs_input *in, uint32_t i);
/* Unpacks packed files in that many threads ahead of their readers, if a reader may use memory/4 bytes for that. Call
 * it before the first reader. Returns the bytes that one reader uses; 0: it is off. */
uint64_t mrs_input_ahead(struct mrs_input *in, uint32_t threads, uint64_t memory);
/* The largest window that the decoder of one of its files needs, if it is larger than usual. */
uint64_t mrs_input_window(struct mrs_input *in);
uint32_t mrs_input_count(const struct mrs_input *in);
const struct mrs_input_ns *mrs_input_at(const struct mrs_input *in, uint32_t i);
enum mrs_format mrs_input_format(const struct mrs_input *in);
/* Its compression: of the whole archive; else that of most bytes of its data files. */
enum mrs_codec mrs_input_codec(const struct mrs_input *in);
/* Versions of the server and of the tool that wrote the dump, from an archive's prelude or prelude.json; "": unknown;
 * and the number of collections that an archive has open at once (0: no archive). */
struct mrs_input_origin {
    const char *server_version, *tool_version;
    uint32_t concurrent;
};
const struct mrs_input_origin *mrs_input_origin(const struct mrs_input *in);
const char *mrs_input_only_db(const struct mrs_input *in); /* the only database besides admin, config and local; NULL */
/* Appends the bytes of a namespace's metadata file, decoded, to out; nothing if it has none. */
enum mrs_status mrs_input_metadata_text(struct mrs_input *in, uint32_t i, struct mrs_buf *out, struct mrs_err *e);
uint32_t mrs_input_excluded(const struct mrs_input *in);   /* namespaces excluded by the patterns, or internal */
/* Whether its database holds the state of tools, as of mongoreshape-live: excluded whatever the patterns say. */
bool mrs_ns_internal(const char *ns);
/* Whether a namespace matches a pattern: `*` over db.coll, `\` escapes. */
bool mrs_ns_like(const char *pattern, const char *ns);
const char *mrs_input_excluded_at(const struct mrs_input *in, uint32_t i);

/* ---- blocks of complete documents ---- */
struct mrs_block {
    uint8_t *p;          /* complete documents, contiguous */
    size_t n, cap;
    uint64_t seq;        /* 0, 1, 2 ... */
    uint64_t first_doc;  /* number of its first document, from 0 */
    uint32_t n_docs;
    uint64_t off;        /* offset of its first byte in the uncompressed stream */
    struct mrs_mem *mem;
};
void mrs_block_init(struct mrs_block *b, struct mrs_mem *mem);
void mrs_block_clear(struct mrs_block *b);

struct mrs_reader;
/* A stream of documents: of an input's namespace or of a file of raw BSON (spool). block_bytes: target size of blocks
 * (0: 1 MiB); block boundaries depend on the data and this number alone. */
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
/* Position of the next block; a new reader can continue there: FAIL MRS_E_IO: the stream ends before it, MRS_E_FORMAT:
 * the position is impossible. */
struct mrs_reader_at {
    uint64_t off, doc, seq;
};
void mrs_reader_where(const struct mrs_reader *r, struct mrs_reader_at *at);
enum mrs_status mrs_reader_go_on(struct mrs_reader *r, const struct mrs_reader_at *at, struct mrs_err *e);
/* Compressed bytes read so far, for progress. */
uint64_t mrs_reader_progress(const struct mrs_reader *r);
/* The uncompressed stream as mapped memory: *p is its first byte, *n its size (reading past the end of a file truncated
 * afterwards kills the process). *p NULL: not possible (packed, or the system refuses). Free it by mrs_map_free, also
 * after the reader was closed. */
void mrs_reader_map(const struct mrs_reader *r, const uint8_t **p, size_t *n);
/* Loads [p, p + n) of a mapping into memory; false: it cannot be read that way. */
bool mrs_map_fetch(const uint8_t *p, size_t n);
void mrs_map_free(const uint8_t *p, size_t n);
void mrs_reader_close(struct mrs_reader *r);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* dump_in.h - what a dump holds, and its documents in blocks. */
#ifndef MONGORESHAPE_DUMP_IN_H
#define MONGORESHAPE_DUMP_IN_H

#include "mongoreshape/formats.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    const struct mrsi_src_extents *data_place, *meta_place; /* where its bytes are; NULL: a file of that path */
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
/* The most that unpacking one of its files keeps of what came out, where that is more than usual. */
uint64_t mrs_input_window(struct mrs_input *in);
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
uint32_t mrs_input_excluded(const struct mrs_input *in);   /* namespaces left out by the patterns, or internal */
/* Of a database in which tools keep their state, as mongoreshape-live does: left out whatever the patterns say. */
bool mrs_ns_internal(const char *ns);
/* Whether a namespace is one of a pattern's: `*` over db.coll, `\` escapes. */
bool mrs_ns_like(const char *pattern, const char *ns);
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

#ifdef __cplusplus
}
#endif
#endif

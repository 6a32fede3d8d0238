/* SPDX-License-Identifier: Apache-2.0 */
/* residue_docs.h - the records of a residue file; documents in order or by number, with their digest. */
#ifndef MRSI_RUN_RESIDUE_DOCS_H
#define MRSI_RUN_RESIDUE_DOCS_H

#include "run/pass/checkpoint.h"
#include "run/store/sorter.h"
#include "run/store/file_array.h"

#define MRSI_RESIDUE_MAGIC "MRSRESI1"
#define MRSI_RESIDUE_VERSION 2
#define MRSI_RESIDUE_HEAD 20
#define MRSI_RESIDUE_MAX (256u << 20) /* maximum of one record */

enum mrsi_record { MRSI_HEAD = 1, MRSI_COLL, MRSI_DOCS, MRSI_DONE, MRSI_END };
enum mrsi_op { MRSI_TAKE, MRSI_MEND, MRSI_NEW };

/* ---- residue_file.c ---- */
struct mrsi_residue_out { /* records, in a temporary file until it is complete */
    struct mrsi_savepoint_file file;
    uint64_t bytes, records;
};
enum mrs_status mrsi_residue_put(struct mrsi_residue_out *o, enum mrsi_record type, const void *p, size_t n,
                                 struct mrs_err *e);
/* Renames the complete file to `path`. copier: the process that started to copy it. */
enum mrs_status mrsi_residue_publish(struct mrsi_residue_out *o, const char *path, uint64_t copier, struct mrs_err *e);
void mrsi_residue_out_clear(struct mrsi_residue_out *o);
enum mrs_status mrsi_residue_out_save(struct mrsi_residue_out *o, struct mrs_build *b, struct mrs_buf *files,
                                      struct mrs_err *e);
enum mrs_status mrsi_residue_out_load(struct mrsi_residue_out *o, struct mrs_view saved, struct mrs_err *e);
struct mrs_residue {
    struct mrs_mem *mem;
    int fd;
    char *path;
    uint64_t at, size, records;
    struct mrs_buf record; /* the last one read */
    struct mrs_buf head;
    bool keyed; /* its digests use a secret */
    struct mrs_secret secret;
};
/* Reads the next record into r->record. OK, or FAIL MRS_E_FORMAT. */
enum mrs_status mrsi_residue_next(struct mrs_residue *r, enum mrsi_record *type, struct mrs_err *e);
/* The content as a document, validated at its top level only: a metadata file in it may be larger than any document. */
enum mrs_status mrsi_residue_doc(const struct mrs_residue *r, struct mrs_view *d, struct mrs_err *e);
/* "FILE is damaged: what". Always FAIL. */
enum mrs_status mrsi_residue_damaged(const struct mrs_residue *r, const char *what, struct mrs_err *e);
static inline struct mrs_view
mrsi_residue_head(const struct mrs_residue *r)
{
    return (struct mrs_view){r->head.p, (uint32_t)r->head.n};
}
/* For its digests; NULL: none. */
static inline const struct mrs_secret *
mrsi_residue_secret(const struct mrs_residue *r)
{
    return r->keyed ? &r->secret : NULL;
}
/* Is a field true? */
static inline bool
mrsi_residue_is(struct mrs_view d, const char *name)
{
    struct mrs_val v = mrs_doc_get(d, name);
    return v.type == MRS_BOOL && *v.p;
}
void mrsi_put_varint(struct mrs_buf *b, uint64_t v);
/* False: incomplete. */
bool mrsi_get_varint(const uint8_t **p, const uint8_t *end, uint64_t *v);

/* ---- residue_docs.c: documents in order, by number, and their digest ---- */
struct mrsi_docs { /* of a namespace, in order */
    struct mrs_reader *reader;
    struct mrs_block b;
    struct mrs_reader_at begin; /* of the block */
    size_t at;
};
/* i MRSI_NONE, or a namespace without a data file: no documents. */
enum mrs_status mrsi_docs_open(struct mrsi_docs *d, struct mrs_mem *mem, struct mrs_input *in, uint32_t i,
                               struct mrs_err *e);
enum mrs_status mrsi_docs_next(struct mrsi_docs *d, struct mrs_view *doc, struct mrs_err *e); /* OK, END */
void mrsi_docs_close(struct mrsi_docs *d);
/* The position as field `name`; and opening there. */
void mrsi_docs_save(const struct mrsi_docs *d, const char *name, struct mrs_build *b);
enum mrs_status mrsi_docs_load(struct mrsi_docs *d, struct mrs_view saved, const char *name, struct mrs_err *e);

struct mrsi_doc_offsets { /* access by number in a plain data file */
    int fd;
    uint64_t n;
    struct mrsi_file_array off; /* n + 1 offsets; the last is `end` */
    uint64_t end;
    struct mrs_buf window;
    uint64_t window_at;
    uint64_t next; /* offset after the last document returned */
};
/* Builds the list: add the documents in order (END), then documents can be read by number. */
void mrsi_doc_offsets_init(struct mrsi_doc_offsets *s, struct mrsi_engine *en);
enum mrs_status mrsi_doc_offsets_fill(struct mrsi_doc_offsets *s, struct mrsi_docs *d, struct mrsi_pause_clock *pauses,
                                      struct mrs_err *e);
enum mrs_status mrsi_doc_offsets_end(struct mrsi_doc_offsets *s, struct mrs_input *in, uint32_t i, struct mrs_err *e);
enum mrs_status mrsi_doc_offsets_save(struct mrsi_doc_offsets *s, struct mrs_build *b, struct mrs_buf *files,
                                      struct mrs_err *e);
/* ended: the list is complete, and stays so after end. */
enum mrs_status mrsi_doc_offsets_load(struct mrsi_doc_offsets *s, struct mrs_view saved, bool ended, struct mrs_err *e);
/* Document no, valid until the next call; no < n. */
enum mrs_status mrsi_doc_offsets_get(struct mrsi_doc_offsets *s, uint64_t no, struct mrs_view *doc, struct mrs_err *e);
void mrsi_doc_offsets_close(struct mrsi_doc_offsets *s);

struct mrsi_digest {
    uint64_t docs;
    struct mrs_hash_sum sum;
    uint8_t order[32]; /* the first 8 bytes are the hash of the sequence so far */
};
/* secret NULL: as in files of version 1. */
void mrsi_digest_add(struct mrsi_digest *d, const struct mrs_secret *secret, struct mrs_view doc);
/* Adds the remaining documents; END. */
enum mrs_status mrsi_digest_run(struct mrsi_digest *d, const struct mrs_secret *secret, struct mrsi_docs *docs,
                                struct mrsi_pause_clock *pauses, struct mrs_err *e);
/* Adds docs, digest and order to an open document; and compares with them. */
void mrsi_digest_put(const struct mrsi_digest *d, struct mrs_build *b);
bool mrsi_digest_same(const struct mrsi_digest *d, struct mrs_view in, bool *other_order);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* archive_out.h - writes an archive: packs an output into one, at its end or while it is made. */
#ifndef MRSI_IO_ARCHIVE_OUT_H
#define MRSI_IO_ARCHIVE_OUT_H

#include "io/input/archive.h"
#include "output.h"

/* ---- archive_write.c: its bytes ---- */
struct mrsi_archive_out {
    struct mrs_mem *mem;
    struct mrsi_encoder *enc;
    struct mrs_buf buf;     /* of documents about the archive */
    char *db, *coll;        /* the namespace whose last block is still to be written; NULL: none */
    uint64_t crc;           /* of the namespace's documents */
    uint64_t docs;          /* number of them */
    struct mrs_reader_at at; /* position of the reader after them */
    const char *name;       /* of what is written, for errors */
    struct mrsi_resumable *resumed; /* NULL: no resume */
};
/* Starts at the end of the resumable file, or at the offset where it continues. */
enum mrs_status mrsi_archive_out_open(struct mrs_output *o, struct mrsi_resumable *resumed, const char *name,
                                      struct mrsi_archive_out *out, struct mrs_err *e);
void mrsi_archive_out_clear(struct mrsi_archive_out *out); /* unfinished data stays unfinished */
enum mrs_status
mrsi_archive_put_head(struct mrsi_archive_out *out, const struct mrsi_archive_head *head, struct mrs_err *e);
/* After the last entry: mrsi_archive_put_end. */
enum mrs_status
mrsi_archive_put_entry(struct mrsi_archive_out *out, const struct mrsi_archive_entry *entry, struct mrs_err *e);
enum mrs_status mrsi_archive_put_end(struct mrsi_archive_out *out, struct mrs_err *e);
/* Writes a whole namespace except its last block, which is written with the next one or by finish. out->docs: its
 * number of documents. r NULL: it has none. begun: out and r are at the position of the stopped run. */
enum mrs_status mrsi_archive_put_ns(struct mrsi_archive_out *out, const char *db, const char *coll,
                                    struct mrs_reader *r, bool begun, struct mrs_err *e);
enum mrs_status mrsi_archive_out_finish(struct mrsi_archive_out *out, struct mrs_err *e);

/* ---- archive_items.c: its items, in their order ---- */
struct mrsi_entry_part { /* data or metadata: location of its bytes */
    const char *name; /* the namespace or extra file */
    bool there, copied; /* copied: in the input; else below the partial folder */
};
struct mrsi_archive_entry_out {
    char *db, *coll;     /* in the prelude */
    const char *body;    /* the namespace of its blocks: for a time series system.buckets.X */
    char *body_own;      /* NULL, or body */
    const char *type;
    struct mrsi_entry_part data, meta;
    int rank;            /* users first, the oplog last */
    bool extra;
    bool merged;         /* its data belong to another item */
    bool done;           /* of a stream: it has been written */
    const char *metadata; /* announced before; NULL: read them from meta */
    size_t metadata_n;
    const struct mrsi_out_rec *rec; /* its record, for a check; NULL: it was copied */
};
struct mrsi_archive_items {
    struct mrs_output *o;
    struct mrsi_archive_entry_out *at;
    uint32_t n, cap;
    struct mrs_buf text, bson;
};
void mrsi_items_init(struct mrsi_archive_items *t, struct mrs_output *o);
void mrsi_items_clear(struct mrsi_archive_items *t);
/* name: "db.coll", or the path of an extra file; it must live as long as t. *out lives until the next one is added. */
enum mrs_status
mrsi_items_add(struct mrsi_archive_items *t, const char *name, bool extra, struct mrsi_archive_entry_out **out,
               struct mrs_err *e);
/* After the last one: order, time series, and the header of the archive. */
enum mrs_status mrsi_items_settle(struct mrsi_archive_items *t, struct mrsi_archive_head *head, struct mrs_err *e);
/* Writes header and prelude. */
enum mrs_status mrsi_items_prelude(struct mrsi_archive_items *t, const struct mrsi_archive_head *head,
                                   struct mrsi_archive_out *out, struct mrs_err *e);
/* Writes the documents of one. begun: from the position of out on. */
enum mrs_status mrsi_items_body(struct mrsi_archive_items *t, const struct mrsi_archive_entry_out *item, bool begun,
                                struct mrsi_archive_out *out, struct mrs_err *e);
/* ---- pack_output.c ---- */
/* Packs all written or copied files into one archive in the resumable file. */
enum mrs_status mrsi_pack_archive(struct mrs_output *o, struct mrsi_resumable *resumed, const char *name,
                                  struct mrs_err *e);

#endif

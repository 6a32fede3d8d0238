/* SPDX-License-Identifier: Apache-2.0 */
/* archive_out.h - an archive being written: what packs an output into one, at its end or while it is made. */
#ifndef MRSI_IO_ARCHIVE_OUT_H
#define MRSI_IO_ARCHIVE_OUT_H

#include "io/input/archive.h"
#include "output.h"

/* ---- archive_write.c: the bytes of one ---- */
struct mrsi_archive_out {
    struct mrs_mem *mem;
    struct mrsi_encoder *enc;
    struct mrs_buf buf;     /* of documents about the archive */
    char *db, *coll;        /* whose last block is yet to be written; NULL: none */
    uint64_t crc;           /* of its documents */
    uint64_t docs;          /* how many they are */
    struct mrs_reader_at at; /* the place behind them where they are read */
    const char *name;       /* of what is written, for errors */
    struct mrsi_resumable *resumed; /* NULL: no resume */
};
/* At the end of the resumable file, or at the position where it continues. */
enum mrs_status mrsi_archive_out_open(struct mrs_output *o, struct mrsi_resumable *resumed, const char *name,
                                      struct mrsi_archive_out *out, struct mrs_err *e);
void mrsi_archive_out_clear(struct mrsi_archive_out *out); /* what was not finished stays unfinished */
enum mrs_status
mrsi_archive_put_head(struct mrsi_archive_out *out, const struct mrsi_archive_head *head, struct mrs_err *e);
/* After the last entry: mrsi_archive_put_end. */
enum mrs_status
mrsi_archive_put_entry(struct mrsi_archive_out *out, const struct mrsi_archive_entry *entry, struct mrs_err *e);
enum mrs_status mrsi_archive_put_end(struct mrsi_archive_out *out, struct mrs_err *e);
/* A whole namespace, of which the last block waits: it comes with the next one, or with finish. out->docs: how many
 * there were. r NULL: it has none. begun: out and r are where a stopped run was in it. */
enum mrs_status mrsi_archive_put_ns(struct mrsi_archive_out *out, const char *db, const char *coll,
                                    struct mrs_reader *r, bool begun, struct mrs_err *e);
enum mrs_status mrsi_archive_out_finish(struct mrsi_archive_out *out, struct mrs_err *e);

/* ---- archive_items.c: what goes into one, in its order ---- */
struct mrsi_entry_part { /* data or metadata: where its bytes are */
    const char *name; /* the namespace or extra file */
    bool there, copied; /* copied: in the input; else below the partial folder */
};
struct mrsi_archive_entry_out {
    char *db, *coll;     /* in the prelude */
    const char *body;    /* the name of its blocks: of a time series system.buckets.X */
    char *body_own;      /* NULL, or body */
    const char *type;
    struct mrsi_entry_part data, meta;
    int rank;            /* users first, the oplog last */
    bool extra;
    bool merged;         /* its data belong to another item */
    bool done;           /* of a stream: it has gone out */
    const char *metadata; /* announced before; NULL: they are where meta says */
    size_t metadata_n;
    const struct mrsi_out_rec *rec; /* what was written, to be held against; NULL: it was copied */
};
struct mrsi_archive_items {
    struct mrs_output *o;
    struct mrsi_archive_entry_out *at;
    uint32_t n, cap;
    struct mrs_buf text, bson;
};
void mrsi_items_init(struct mrsi_archive_items *t, struct mrs_output *o);
void mrsi_items_clear(struct mrsi_archive_items *t);
/* name: "db.coll", or the path of an extra file; it must live as long. *out does until the next is added. */
enum mrs_status
mrsi_items_add(struct mrsi_archive_items *t, const char *name, bool extra, struct mrsi_archive_entry_out **out,
               struct mrs_err *e);
/* When all are there: order, time series, and the head of the archive. */
enum mrs_status mrsi_items_settle(struct mrsi_archive_items *t, struct mrsi_archive_head *head, struct mrs_err *e);
/* Head and prelude. */
enum mrs_status mrsi_items_prelude(struct mrsi_archive_items *t, const struct mrsi_archive_head *head,
                                   struct mrsi_archive_out *out, struct mrs_err *e);
/* The documents of one. begun: from the position of out on. */
enum mrs_status mrsi_items_body(struct mrsi_archive_items *t, const struct mrsi_archive_entry_out *item, bool begun,
                                struct mrsi_archive_out *out, struct mrs_err *e);
/* ---- pack_output.c ---- */
/* Everything that was written or copied, as one archive in the resumable file. */
enum mrs_status mrsi_pack_archive(struct mrs_output *o, struct mrsi_resumable *resumed, const char *name,
                                  struct mrs_err *e);

#endif

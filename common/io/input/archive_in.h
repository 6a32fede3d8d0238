/* SPDX-License-Identifier: Apache-2.0 */
/* archive_in.h - shared by the files that read archives. */
#ifndef MRSI_IO_ARCHIVE_IN_H
#define MRSI_IO_ARCHIVE_IN_H

#include "archive.h"

#define MRSI_SPOOL_ROOM (256u << 10)

/* A namespace of the prelude. */
struct mrsi_found {
    const char *db, *coll, *ns;      /* as in the prelude; ns of the oplog is "oplog" */
    const char *body, *body_ns;      /* as in blocks: for a time series system.buckets.X */
    struct mrs_view doc;             /* its metadata, parsed */
    struct mrsi_src_extent meta;     /* their text; n 0: none */
    bool taken, view, buckets, oplog, users, special;
    enum { MRSI_FOUND_UNSEEN, MRSI_FOUND_OPEN, MRSI_FOUND_CLOSED } state;
    uint64_t crc, docs, bytes;
    uint32_t n_extents;
    struct mrsi_src_extent *extent;
};

struct mrsi_archive_in {
    struct mrs_input *in;
    const char *name, *tmp, *only;
    struct mrsi_frames f;
    struct mrsi_found *list;
    uint32_t n, cap;
    uint32_t *slots; /* a hash table of the list by names of blocks: index + 1 */
    uint32_t n_slots;
    struct mrsi_log log;
    struct mrs_buf scratch;
    uint64_t start; /* of the archive in its file, if the documents are read there */
    bool spool;     /* else documents are copied to in->fd, through room */
    uint8_t *room;
    size_t room_n;
    uint64_t spooled; /* bytes before those in the room */
    bool any_ordinary;
};

const char *mrsi_archive_text(struct mrs_input *in, const char *a, const char *b, const char *c); /* in its arena */

/* ---- archive_list.c ---- */
/* Keeps bytes at `off` of the archive for a later read; *at is their offset in in->fd. */
enum mrs_status
mrsi_archive_keep(struct mrsi_archive_in *r, const void *p, size_t n, uint64_t off, uint64_t *at, struct mrs_err *e);
/* Makes the entries of the input. */
enum mrs_status mrsi_archive_list(struct mrsi_archive_in *r, struct mrs_err *e);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* archive.h - archives of mongodump: frames, contents, and the documents in them.
 *
 * An archive is a magic number, a prelude (a header, and one document for each namespace) and blocks: a document that
 * names a namespace, then documents of it. An end mark follows the prelude and each block. Blocks of several namespaces
 * may alternate; the last one of each is marked as such and has the checksum of all its documents. */
#ifndef MRSI_IO_ARCHIVE_H
#define MRSI_IO_ARCHIVE_H

#include "input.h"

#define MRSI_ARCHIVE_MAGIC 0x8199e26du
#define MRSI_ARCHIVE_END 0xffffffffu
#define MRSI_ARCHIVE_OPLOG "oplog" /* of the database "" */
#define MRSI_BUCKETS "system.buckets."

/* ---- archive_frames.c ---- */
enum mrsi_frame { MRSI_FRAME_DOC, MRSI_FRAME_END };
struct mrsi_frames {
    struct mrs_mem *mem;
    struct mrsi_source *src;
    const char *name; /* of the archive, for errors */
    uint8_t *p;       /* window: p[at .. n) is unread */
    size_t at, n, cap;
    uint64_t base; /* offset in the archive of p[0] */
    bool ended;    /* the source has no more */
    const struct mrs_pause *pause; /* NULL: not called */
};
void mrsi_frames_init(struct mrsi_frames *f, struct mrs_mem *mem, struct mrsi_source *src, const char *name);
void mrsi_frames_clear(struct mrsi_frames *f);
uint64_t mrsi_frames_off(const struct mrsi_frames *f); /* of the next bytes */
/* The first four bytes. */
enum mrs_status mrsi_frames_magic(struct mrsi_frames *f, struct mrs_err *e);
/* A document (valid until the next call; only length and last byte are checked) or an end mark. OK, END at the end. */
enum mrs_status
mrsi_frames_next(struct mrsi_frames *f, enum mrsi_frame *kind, struct mrs_view *doc, struct mrs_err *e);
/* Reports an error at an offset of the archive, with a namespace if known. Returns FAIL. */
enum mrs_status mrsi_archive_bad(const struct mrsi_frames *f, uint64_t off, const char *ns, struct mrs_err *e,
                                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* ---- archive_docs.c: documents that describe the archive ---- */
struct mrsi_archive_head {
    uint32_t concurrent;
    const char *server_version, *tool_version; /* in the document; NUL-ended */
};
struct mrsi_archive_entry { /* of the prelude */
    const char *db, *coll, *type;
    const char *metadata;
    uint32_t metadata_n;
};
struct mrsi_archive_block {
    const char *db, *coll;
    bool last; /* no document follows, and no further block of this namespace */
    uint64_t crc;
};
enum mrs_status mrsi_archive_head(const struct mrsi_frames *f, uint64_t off, struct mrs_view doc,
                                  struct mrsi_archive_head *out, struct mrs_err *e);
enum mrs_status mrsi_archive_entry(const struct mrsi_frames *f, uint64_t off, struct mrs_view doc,
                                   struct mrsi_archive_entry *out, struct mrs_err *e);
enum mrs_status mrsi_archive_block(const struct mrsi_frames *f, uint64_t off, struct mrs_view doc,
                                   struct mrsi_archive_block *out, struct mrs_err *e);
/* NULL, or why mongorestore would refuse this server version. */
const char *mrsi_version_wrong(const char *version);
/* True if the bucket collection of a time series is named system.buckets.X. */
bool mrsi_version_has_buckets(const char *version);

/* ---- archive_log.c: the extents of each namespace ---- */
struct mrsi_piece_at {
    uint32_t ns;
    uint64_t off, n;
};
struct mrsi_log {
    struct mrs_mem *mem;
    const char *tmp;
    struct mrsi_piece_at *at; /* the newest */
    uint32_t n, cap;
    int fd;           /* file of the older ones; -1: none */
    uint64_t written; /* number of them */
};
void mrsi_log_init(struct mrsi_log *l, struct mrs_mem *mem, const char *tmp);
void mrsi_log_clear(struct mrsi_log *l);
enum mrs_status mrsi_log_add(struct mrsi_log *l, uint32_t ns, uint64_t off, uint64_t n, struct mrs_err *e);
/* Calls fn for all of them, in order. fn may fail. */
typedef enum mrs_status (*mrsi_log_fn)(void *arg, const struct mrsi_piece_at *piece, struct mrs_err *e);
enum mrs_status mrsi_log_each(const struct mrsi_log *l, mrsi_log_fn fn, void *arg, struct mrs_err *e);

/* ---- archive_in.c ---- */
struct mrsi_archive_opts {
    const uint8_t *head; /* bytes already read from a pipe; NULL: a regular file, which can be read again */
    size_t head_n;
    const char *tmp;
    const char *only; /* the only namespace read; NULL: all that the patterns include */
};
/* Reads an archive once, from its first byte to its last, and lists its contents. Takes ownership of from->fd if
 * from->own, also on failure. */
enum mrs_status mrsi_archive_open(struct mrs_input *in, const struct mrsi_source_from *from,
                                  const struct mrsi_archive_opts *opts, struct mrs_err *e);
#endif

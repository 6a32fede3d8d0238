/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - an extent of a file as plain bytes, and detection of formats by first bytes and names. */
#ifndef MRSI_IO_SOURCE_H
#define MRSI_IO_SOURCE_H

#include "io/codec/encoder.h"
#include "io/file/file.h"

/* ---- format.c ---- */
bool mrsi_is_prelude(const char *rel_path); /* the file with the origin of a directory */
/* Whether a file of mongodump is no namespace: its name follows its compression. rel_path: without that suffix. */
bool mrsi_is_of_tools(const char *rel_path);
/* Whether a name is that of a file in an unsupported output format, or of one collection: such a name is not taken as a
 * folder. */
bool mrsi_names_no_folder(const char *path);

/* ---- filter.c ---- */
struct mrsi_filter {
    const char *const *include, *const *exclude;
    uint32_t n_include, n_exclude;
};
enum mrs_status mrsi_filter_check(const struct mrsi_filter *f, struct mrs_err *e);
bool mrsi_filter_takes(const struct mrsi_filter *f, const char *ns);

/* ---- source.c ---- */
/* The location of input bytes that are no file of their own: extents of an open file, in order. Lives as long as the
 * input, which owns fd. */
struct mrsi_src_extent {
    uint64_t off, n;
};
struct mrsi_src_extents {
    int fd;
    const struct mrsi_src_extent *extent;
    uint32_t n_extents;
    uint64_t bytes; /* of all extents */
};

/* ---- extents.c ---- */
/* The position of a reader; {0} at the first byte. */
struct mrsi_src_cursor {
    uint32_t extent;
    uint64_t in; /* bytes of the extent already read */
};
struct mrsi_read_buf {
    uint8_t *p;
    size_t n;
    const char *name; /* of the place, for errors */
};
/* The next bytes; fewer than to->n at the end of the place, or if the file became shorter. */
enum mrs_status mrsi_src_extents_read(const struct mrsi_src_extents *p, struct mrsi_src_cursor *at,
                                      const struct mrsi_read_buf *to, size_t *got, struct mrs_err *e);
/* Skips n bytes; false: there are fewer. */
bool mrsi_src_extents_skip(const struct mrsi_src_extents *p, struct mrsi_src_cursor *at, uint64_t n);
/* Moves back by n bytes already read. */
void mrsi_src_extents_back(const struct mrsi_src_extents *p, struct mrsi_src_cursor *at, uint64_t n);

/* ---- source.c ---- */
struct mrsi_source;
struct mrsi_source_from {
    int fd;
    bool own;       /* closed with the source, also when opening fails */
    uint64_t start; /* of the stream in the file */
    uint64_t bytes; /* its length; UINT64_MAX: up to the end */
    enum mrs_codec codec;
    const char *name;
    const struct mrsi_src_extents *place; /* NULL: [start, start + bytes) of fd; else that place, and start is 0 */
};
enum mrs_status mrsi_source_open(struct mrs_mem *mem, const struct mrsi_source_from *from,
                                 struct mrsi_source **out, struct mrs_err *e);
/* From now on these threads decompress ahead of the reader; call it before the first read. NULL: no effect. */
void mrsi_source_ahead(struct mrsi_source *s, struct mrsi_codec_pool *pool);
/* n bytes, fewer only at the end or before damage, which the next call then reports. OK, END if none are left. */
enum mrs_status
mrsi_source_read(struct mrsi_source *s, void *p, size_t n, size_t *got, struct mrs_err *e);
/* From now on the bytes are those of head, followed by those of the pipe from->fd, unchanged. pause, which may be NULL:
 * as in mrsi_pipe. Before the first read. */
void mrsi_source_pipe(struct mrsi_source *s, const uint8_t *head, size_t n, const struct mrs_pause *pause);
/* Skips the first n bytes of a new source. */
enum mrs_status mrsi_source_skip(struct mrsi_source *s, uint64_t n, struct mrs_err *e);
/* Moves back by n bytes; false: the source cannot (it decodes). */
bool mrsi_source_back(struct mrsi_source *s, size_t n);
/* As mrs_reader_map. */
void mrsi_source_map(const struct mrsi_source *s, const uint8_t **p, size_t *n);
uint64_t mrsi_source_taken(const struct mrsi_source *s); /* bytes of the file used so far */
void mrsi_source_close(struct mrsi_source *s);
/* The window of its first frame, if it is zstd and the window is large; else 0. */
uint64_t mrsi_source_window(const struct mrsi_source_from *from);
/* Whether zeros follow the compressed data: other programs may refuse such a file. */
bool mrsi_source_padded(const struct mrsi_source_from *from);
/* Detects the codec by the first bytes of a file. */
enum mrs_status mrsi_sniff(struct mrs_mem *mem, const struct mrsi_source_from *from,
                           enum mrs_codec *codec, struct mrs_err *e);
/* Decodes a whole file, or the bytes of a place (NULL: none), with any codec, and appends them to out. */
enum mrs_status mrsi_read_decoded(struct mrs_mem *mem, const char *path, const struct mrsi_src_extents *place,
                                  struct mrs_buf *out, struct mrs_err *e);

/* ---- foreign.c ---- */
/* The format that starts with these bytes and is no BSON; NULL: unknown. */
const char *mrsi_foreign(const uint8_t *p, size_t n);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - an extent of a file as plain bytes, and what its first bytes and its name say. */
#ifndef MRSI_IO_SOURCE_H
#define MRSI_IO_SOURCE_H

#include "io/codec/encoder.h"
#include "io/file/file.h"

/* ---- format.c ---- */
bool mrsi_is_prelude(const char *rel_path); /* the file that says who wrote a directory */
/* A file that is no namespace, and that mongodump writes: its name follows its packing. rel_path: without that. */
bool mrsi_is_of_tools(const char *rel_path);
/* Whether a name is one of a file in a form that is not written, or of one collection: such a name does not mean a
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
/* Where bytes of an input are that is no folder: extents of an open file, one behind the other. Lives as long as the
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
/* How far a reader is; {0} at the first byte. */
struct mrsi_src_cursor {
    uint32_t extent;
    uint64_t in; /* bytes of it that are read */
};
struct mrsi_read_buf {
    uint8_t *p;
    size_t n;
    const char *name; /* of the place, for errors */
};
/* The next bytes; fewer than to->n at the end of the place, or where the file became shorter. */
enum mrs_status mrsi_src_extents_read(const struct mrsi_src_extents *p, struct mrsi_src_cursor *at,
                                      const struct mrsi_read_buf *to, size_t *got, struct mrs_err *e);
/* Passes over n bytes; false: there are fewer. */
bool mrsi_src_extents_skip(const struct mrsi_src_extents *p, struct mrsi_src_cursor *at, uint64_t n);
/* Gives back n of the bytes that were read. */
void mrsi_src_extents_back(const struct mrsi_src_extents *p, struct mrsi_src_cursor *at, uint64_t n);

/* ---- source.c ---- */
struct mrsi_source;
struct mrsi_source_from {
    int fd;
    bool own;       /* closed with the source, also when opening fails */
    uint64_t start; /* of the stream in the file */
    uint64_t bytes; /* how many; UINT64_MAX: up to the end */
    enum mrs_codec codec;
    const char *name;
    const struct mrsi_src_extents *place; /* NULL: [start, start + bytes) of fd; else there, and start is 0 */
};
enum mrs_status mrsi_source_open(struct mrs_mem *mem, const struct mrsi_source_from *from,
                                 struct mrsi_source **out, struct mrs_err *e);
/* What is packed is unpacked by these threads from here on, ahead of who reads; before the first read. NULL: not. */
void mrsi_source_ahead(struct mrsi_source *s, struct mrsi_codec_pool *pool);
/* n bytes, fewer only at the end or before damage, which the next call then reports. OK, END with
 * nothing left. */
enum mrs_status
mrsi_source_read(struct mrsi_source *s, void *p, size_t n, size_t *got, struct mrs_err *e);
/* From here on bytes come from head, and then unchanged from the pipe from->fd. pause, which may be NULL: as in
 * mrsi_pipe. Before the first read. */
void mrsi_source_pipe(struct mrsi_source *s, const uint8_t *head, size_t n, const struct mrs_pause *pause);
/* Passes over the first n bytes of a source that is new. */
enum mrs_status mrsi_source_skip(struct mrsi_source *s, uint64_t n, struct mrs_err *e);
/* Gives the last n bytes back; false where the source cannot (it decodes). */
bool mrsi_source_back(struct mrsi_source *s, size_t n);
/* As mrs_reader_map. */
void mrsi_source_map(const struct mrsi_source *s, const uint8_t **p, size_t *n);
uint64_t mrsi_source_taken(const struct mrsi_source *s); /* bytes of the file used so far */
void mrsi_source_close(struct mrsi_source *s);
/* What its first frame wants to be kept of what came out, where it is zstd and that is much; else 0. */
uint64_t mrsi_source_window(const struct mrsi_source_from *from);
/* Whether zeros come after what is packed: other programs may refuse such a file. */
bool mrsi_source_padded(const struct mrsi_source_from *from);
/* What the first bytes of a file say. */
enum mrs_status mrsi_sniff(struct mrs_mem *mem, const struct mrsi_source_from *from,
                           enum mrs_codec *codec, struct mrs_err *e);
/* A whole file, or what is at a place (NULL: none), decoded whatever it is packed with, appended to out. */
enum mrs_status mrsi_read_decoded(struct mrs_mem *mem, const char *path, const struct mrsi_src_extents *place,
                                  struct mrs_buf *out, struct mrs_err *e);

/* ---- foreign.c ---- */
/* What begins like this and is no BSON; NULL: nothing that is known. */
const char *mrsi_foreign(const uint8_t *p, size_t n);
#endif

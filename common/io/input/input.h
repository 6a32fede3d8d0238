/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - internal data of an input: opened files, its namespaces, and files that may not change. */
#ifndef MRSI_IO_INPUT_H
#define MRSI_IO_INPUT_H

#include "io/source/source.h"

/* ---- opened.c: a file or stream, and its format ---- */
struct mrsi_opened {
    struct mrs_mem *mem;
    const struct mrs_pause *pause;
    const char *name; /* for messages */
    int fd;
    bool own;         /* fd is ours to close */
    bool pipe;        /* bytes after the head can be read only once */
    uint64_t start, bytes; /* of the file; not of a pipe */
    struct stat st;        /* when it was opened */
    uint8_t *head;    /* its first bytes, undecoded */
    size_t head_n;
    enum mrs_codec codec;
    uint8_t plain[512]; /* its first bytes, decoded */
    size_t plain_n;
};
/* path "-": standard input. o->mem and o->pause are set. */
enum mrs_status mrsi_opened_file(const char *path, struct mrsi_opened *o, struct mrs_err *e);
/* Replaces it by an unlinked file in tmp with its bytes. */
enum mrs_status mrsi_opened_spool(struct mrsi_opened *o, const char *tmp, struct mrs_err *e);
/* By its content; or by its name alone, so that the error names the format. */
bool mrsi_opened_is_archive(const struct mrsi_opened *o);
/* Whether it starts with no document: its first bytes are another format, or neither they nor its name say BSON. */
bool mrsi_opened_is_foreign(const struct mrsi_opened *o);
bool mrsi_opened_is_container(const struct mrsi_opened *o);
void mrsi_opened_close(struct mrsi_opened *o);

/* ---- input.c, dumpdir.c, metadata.c ---- */
struct mrs_input {
    struct mrs_mem *mem;
    struct mrs_arena arena;
    struct mrs_input_ns *list;
    uint32_t n, cap;
    const char **excluded;
    uint32_t n_excluded, cap_excluded;
    const char *only_db;
    struct mrsi_filter filter;
    struct mrs_pause pause;
    bool unfinished; /* as in the options */
    bool dir;       /* a dump directory: copied files keep their names */
    enum mrs_format format;
    enum mrs_codec codec; /* of the whole input, if it is one file */
    struct mrsi_codec_pool *pool; /* threads that unpack; NULL: the reader's own */
    struct mrs_input_origin origin;
    int fd;         /* `-`, or a pipe: the file with the bytes of the stream; else -1 */
    uint64_t start; /* of the stream in fd */
    struct mrsi_watched *watched; /* files and folders that may not change until the end */
    uint32_t n_watched, cap_watched;
    uint32_t shared; /* permissions, of 066, that others have on all of it */
    const char **passed; /* ignored files */
    uint32_t n_passed, cap_passed;
};
/* Watches a regular file, or an open one without a name (fd; else -1), with its state when it was opened. */
enum mrs_status mrsi_watch_file(struct mrs_input *in, const char *path, int fd, const struct stat *st,
                                struct mrs_err *e);
/* Appends an empty entry; NULL without memory. */
struct mrs_input_ns *mrsi_input_add(struct mrs_input *in);
enum mrs_status mrsi_input_exclude(struct mrs_input *in, const char *ns, struct mrs_err *e);
/* True if the patterns include this namespace; buckets of a time series follow their collection. */
bool mrsi_input_takes(const struct mrs_input *in, const char *db, const char *coll, const char *ns);
/* Fills codec and size of an entry's data file. */
enum mrs_status mrsi_input_probe(struct mrs_input *in, struct mrs_input_ns *ns, struct mrs_err *e);
/* Locates the data of an entry; opens from->fd. */
enum mrs_status mrsi_input_from(struct mrs_input *in, const struct mrs_input_ns *ns,
                                struct mrsi_source_from *from, struct mrs_err *e);
enum mrs_status mrsi_dump_list(struct mrs_input *in, const char *path, struct mrs_err *e);
/* Reads and checks a metadata file, or the bytes of a place (NULL: none); the document lives in the arena. Empty file:
 * the empty document. */
enum mrs_status mrsi_metadata_load(struct mrs_mem *mem, struct mrs_arena *a, const char *path,
                                   const struct mrsi_src_extents *place, struct mrs_view *doc, struct mrs_err *e);
/* mrsi_metadata_load for a text; name: of the file, for errors. */
enum mrs_status mrsi_metadata_parse(struct mrs_buf *scratch, const char *text, size_t n,
                                    const char *name, struct mrs_view *doc, struct mrs_err *e);
/* collectionName, in the arena; NULL: none. */
enum mrs_status mrsi_metadata_coll(struct mrs_arena *a, struct mrs_view doc, const char *path,
                                   const char **coll, struct mrs_err *e);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h - what the files of this room lend each other: files, names, byte sources and the
 * input. */
#ifndef MRSI_IO_INTERNAL_H
#define MRSI_IO_INTERNAL_H

#include "encoder.h"
#include <sys/stat.h>
#include <sys/types.h>

#define MRSI_BLOCK_BYTES (1u << 20) /* of a reader, where nothing is said */
#define MRSI_BLOCK_MIN 256u          /* least size of blocks: tests want small ones */
#define MRSI_IN_CHUNK (128u << 10)  /* compressed bytes read at a time */
#define MRSI_SINK_BUFFER (256u << 10)
#define MRSI_STEM_MAX 238u /* longest escaped collection name that stands in a file name */
/* Reports and returns FAIL in one expression. */
#define MRSI_FAIL(e, code, ...) mrs_err_set(e, MRS_FAIL, code, __VA_ARGS__)
#define MRSI_MARKER "mongoreshape.partial"
#define MRSI_MANIFEST "mongoreshape.manifest.json"

/* ---- file.c ---- */
/* Text as printf writes it, from mem; NULL without memory. */
char *mrsi_format(struct mrs_mem *mem, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Behind the last '/' of a path. */
const char *mrsi_base_name(const char *path);
/* Opens for reading and says what it is; a file that is not there is MRS_E_MISSING. */
enum mrs_status mrsi_open_read(const char *path, int *fd, struct stat *st, struct mrs_err *e);
/* The same of a regular file; anything else is MRS_E_FORMAT. st may be NULL. */
enum mrs_status mrsi_open_regular(const char *path, int *fd, struct stat *st, struct mrs_err *e);
/* ---- watch.c ---- */
/* What tells a file from another, and from itself at another time; no padding. */
struct mrsi_stamp {
    uint64_t dev, inode, size, changed[2], status[2], mode;
};
struct mrsi_stamp mrsi_stamp_of(const struct stat *st);
/* FAIL MRS_E_CHANGED where they differ, with what does. */
enum mrs_status mrsi_stamp_compare(const char *name, const struct mrsi_stamp *was, const struct mrsi_stamp *is,
                                   struct mrs_err *e);
/* ---- file.c again ---- */
/* Whether a file that is there already can be one of ours: regular, of this user, with one name. */
bool mrsi_is_own_file(const struct stat *st);
/* Up to n bytes at an offset; *got less than n at the end of the file only. */
enum mrs_status mrsi_pread_full(int fd, void *p, size_t n, uint64_t off, const char *name,
                                size_t *got, struct mrs_err *e);
struct mrsi_pipe {
    int fd;
    const char *name;
    const struct mrs_pause *pause; /* asked while nothing comes; NULL: nobody waits */
};
/* The same from where a pipe stands. */
enum mrs_status mrsi_read_pipe(const struct mrsi_pipe *pipe, void *p, size_t n, size_t *got, struct mrs_err *e);
enum mrs_status
mrsi_write_full(int fd, const void *p, size_t n, const char *name, struct mrs_err *e);
/* To be called after every write of n bytes behind `before` others (of what is copied, its place in the source does as
 * well): now and then the system is told to begin bringing them to disk, so that the disk works beside the processors
 * and little is left for the sync. Only a hint. */
void mrsi_write_behind(int fd, uint64_t before, uint64_t n);
/* ---- room.c ---- */
struct mrsi_growth { /* all zeros: a new file */
    uint64_t until; /* bytes of the file before the next look */
    bool asked;
};
/* To be called now and then while a file grows, `bytes` of which are written or will be at once: room on the disk is
 * asked for behind them, where that makes writing cheaper. Only a hint; the file is as long as before. */
void mrsi_room_ahead(struct mrsi_growth *r, int fd, uint64_t bytes);
/* Gives back what the whole file of so many bytes did not need. FAIL MRS_E_IO. */
enum mrs_status mrsi_room_end(const struct mrsi_growth *r, int fd, const char *name, uint64_t bytes, struct mrs_err *e);
/* ---- file.c again ---- */
enum mrs_status mrsi_sync_fd(int fd, const char *name, struct mrs_err *e);
/* A folder's own entries; and the folder in which path lies. */
enum mrs_status mrsi_sync_dir(const char *path, struct mrs_err *e);
enum mrs_status mrsi_sync_parent(const char *path, struct mrs_err *e);
/* Creates a file that must not be there yet, with at most these rights. */
enum mrs_status mrsi_create(const char *path, mode_t mode, int *fd, struct mrs_err *e);
/* As mrs_file_write, with other rights. */
enum mrs_status mrsi_file_write(const char *path, mode_t mode, const void *p, size_t n, struct mrs_err *e);
/* The first n bytes of a file that a stopped run left stay, and it stands behind them; fewer there: MRS_E_IO. */
enum mrs_status mrsi_cut_file(int fd, const char *name, uint64_t n, struct mrs_err *e);
/* n bytes that were read from it before and everything that it still gives, behind each other in an unlinked file. */
struct mrsi_pipe_from {
    struct mrsi_pipe pipe;
    const uint8_t *head;
    size_t n;
};
enum mrs_status
mrsi_spool(const struct mrsi_pipe_from *from, const char *dir, int *spool, uint64_t *bytes, struct mrs_err *e);
/* Bytes [off, off + n) of a file to the end of another; fewer there: MRS_E_IO. */
struct mrsi_span {
    int fd;
    uint64_t off, n;
    const char *name;
};
enum mrs_status
mrsi_copy_span(const struct mrsi_span *from, int to, const char *to_name, struct mrs_err *e);
enum mrs_status mrsi_became_shorter(const char *name, struct mrs_err *e); /* the error that says so */

/* A place where whoever waits may stop the work; bytes: done since the last. p NULL: nobody waits. */
enum mrs_status mrsi_pause(const struct mrs_pause *p, uint64_t bytes, struct mrs_err *e);

/* ---- tree.c ---- */
/* A folder with all below it; soft links are removed, not followed. What is not there is fine. */
enum mrs_status mrsi_remove_tree(const char *path, struct mrs_err *e);
/* Every name in a folder but "." and "..", sorted by bytes, in the arena. */
enum mrs_status mrsi_list_dir(struct mrs_arena *a, const char *path, const char ***names,
                              uint32_t *n, struct mrs_err *e);
/* OK only where all that lies under path could be part of a dump: the guard of force. */
enum mrs_status mrsi_looks_like_dump(struct mrs_mem *mem, const char *path, struct mrs_err *e);

/* ---- names.c ---- */
enum mrsi_file_kind { MRSI_FILE_OTHER, MRSI_FILE_DATA, MRSI_FILE_META };
struct mrsi_file_name {
    enum mrsi_file_kind kind;
    size_t stem_n;  /* bytes before .bson, .bin or .metadata.json */
    size_t plain_n; /* bytes before .gz or .zst */
};
struct mrsi_file_name mrsi_file_name(const char *name);
/* The stem of a collection's files, at most MRSI_STEM_MAX bytes and a NUL; returns its length. */
size_t mrsi_name_escape(const char *coll, size_t n, char stem[MRSI_STEM_MAX + 1]);
/* True for a stem that stands for an over-long name, which only the metadata file knows. */
bool mrsi_name_is_cut(const char *stem, size_t n);
/* The collection's name, in the arena. FAIL MRS_E_FORMAT without naming the file. */
enum mrs_status mrsi_name_unescape(struct mrs_arena *a, const char *stem, size_t n,
                                   const char **coll, struct mrs_err *e);
/* NULL for a name that a server takes, else what is wrong with it. */
const char *mrsi_db_wrong(const char *db, size_t n);
void mrsi_sha1(const void *p, size_t n, uint8_t out[20]);

/* ---- format.c ---- */
bool mrsi_is_prelude(const char *rel_path); /* the file that says who wrote a directory */
/* A file that is no namespace, and that mongodump writes: its name follows its packing. rel_path: without that. */
bool mrsi_is_of_tools(const char *rel_path);

/* ---- filter.c ---- */
struct mrsi_filter {
    const char *const *include, *const *exclude;
    uint32_t n_include, n_exclude;
};
enum mrs_status mrsi_filter_check(const struct mrsi_filter *f, struct mrs_err *e);
bool mrsi_filter_takes(const struct mrsi_filter *f, const char *ns);
bool mrsi_glob(const char *pattern, const char *text);

/* ---- source.c ---- */
/* Where bytes of an input are that is no folder: stretches of an open file, one behind the other. Lives as long as the
 * input, which owns fd. */
struct mrsi_stretch {
    uint64_t off, n;
};
struct mrsi_place {
    int fd;
    const struct mrsi_stretch *stretch;
    uint32_t n_stretch;
    uint64_t bytes; /* of all stretches */
};
/* ---- place.c ---- */
/* How far a reader is; {0} at the first byte. */
struct mrsi_stand {
    uint32_t stretch;
    uint64_t in; /* bytes of it that are read */
};
struct mrsi_room {
    uint8_t *p;
    size_t n;
    const char *name; /* of the place, for errors */
};
/* The next bytes; fewer than to->n at the end of the place, or where the file became shorter. */
enum mrs_status mrsi_place_read(const struct mrsi_place *p, struct mrsi_stand *at, const struct mrsi_room *to,
                                size_t *got, struct mrs_err *e);
/* Passes over n bytes; false: there are fewer. */
bool mrsi_place_skip(const struct mrsi_place *p, struct mrsi_stand *at, uint64_t n);
/* Gives back n of the bytes that were read. */
void mrsi_place_back(const struct mrsi_place *p, struct mrsi_stand *at, uint64_t n);
/* ---- source.c again ---- */
struct mrsi_source;
struct mrsi_source_from {
    int fd;
    bool own;       /* closed with the source, also when opening fails */
    uint64_t start; /* of the stream in the file */
    uint64_t bytes; /* how many; UINT64_MAX: up to the end */
    enum mrs_codec codec;
    const char *name;
    const struct mrsi_place *place; /* NULL: [start, start + bytes) of fd; else there, and start is 0 */
};
enum mrs_status mrsi_source_open(struct mrs_mem *mem, const struct mrsi_source_from *from,
                                 struct mrsi_source **out, struct mrs_err *e);
/* What is packed is unpacked by these threads from here on, ahead of who reads; before the first read. NULL: not. */
void mrsi_source_ahead(struct mrsi_source *s, struct mrsi_lanes *lanes);
/* n bytes, fewer only at the end or before damage, which the next call then reports. OK, END with
 * nothing left. */
enum mrs_status
mrsi_source_read(struct mrsi_source *s, void *p, size_t n, size_t *got, struct mrs_err *e);
/* From here on bytes come from head, and then from a pipe: from->fd is read as it stands. pause, which may be NULL: as
 * in mrsi_pipe. Before the first read. */
void mrsi_source_pipe(struct mrsi_source *s, const uint8_t *head, size_t n, const struct mrs_pause *pause);
/* Passes over the first n bytes of a source that is new. */
enum mrs_status mrsi_source_skip(struct mrsi_source *s, uint64_t n, struct mrs_err *e);
/* Gives the last n bytes back; false where the source cannot (it decodes). */
bool mrsi_source_back(struct mrsi_source *s, size_t n);
/* As mrs_reader_map. */
void mrsi_source_map(const struct mrsi_source *s, const uint8_t **p, size_t *n);
uint64_t mrsi_source_taken(const struct mrsi_source *s); /* bytes of the file used so far */
void mrsi_source_close(struct mrsi_source *s);
/* What the first bytes of a file say. */
enum mrs_status mrsi_sniff(struct mrs_mem *mem, const struct mrsi_source_from *from,
                           enum mrs_codec *codec, struct mrs_err *e);
/* A whole file, or what is at a place (NULL: none), decoded whatever it is packed with, appended to out. */
enum mrs_status mrsi_read_decoded(struct mrs_mem *mem, const char *path, const struct mrsi_place *place,
                                  struct mrs_buf *out, struct mrs_err *e);

/* ---- foreign.c ---- */
/* What begins like this and is no BSON; NULL: nothing that is known. */
const char *mrsi_foreign(const uint8_t *p, size_t n);
/* ---- opened.c: a file or stream, and what it is ---- */
struct mrsi_opened {
    struct mrs_mem *mem;
    const struct mrs_pause *pause;
    const char *name; /* for messages */
    int fd;
    bool own;         /* fd is ours to close */
    bool pipe;        /* what is not in the head can be read once */
    uint64_t start, bytes; /* of the file, where it is none */
    struct stat st;        /* when it was opened */
    uint8_t *head;    /* its first bytes, as they are */
    size_t head_n;
    enum mrs_codec codec;
    uint8_t plain[512]; /* its first bytes, decoded */
    size_t plain_n;
};
/* path "-": standard input. o->mem and o->pause are set. */
enum mrs_status mrsi_opened_file(const char *path, struct mrsi_opened *o, struct mrs_err *e);
/* From now on it is an unlinked file in tmp. */
enum mrs_status mrsi_opened_spool(struct mrsi_opened *o, const char *tmp, struct mrs_err *e);
/* By its content; and where only its name says so, to be told what is wrong with it. */
bool mrsi_opened_is_archive(const struct mrsi_opened *o);
/* Whether its first bytes are no document: by what they are, or because neither they nor its name say that they are. */
bool mrsi_opened_is_foreign(const struct mrsi_opened *o);
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
    bool dir;       /* a dump directory: names of files are kept when they are copied */
    enum mrs_format format;
    enum mrs_codec codec; /* of the whole, where it is one file */
    struct mrsi_lanes *lanes; /* who unpacks; NULL: who reads */
    struct mrs_input_origin origin;
    int fd;         /* `-`, or a pipe: where the stream now is; else -1 */
    uint64_t start; /* of the stream in fd */
    struct mrsi_watched *watched; /* what may not change until the end */
    uint32_t n_watched, cap_watched;
    uint32_t shared; /* rights, of 066, that others have on all of it */
    const char **passed; /* what was passed over */
    uint32_t n_passed, cap_passed;
};
/* A regular file, or one that is open and has no name (fd; else -1), as it was when it was opened. */
enum mrs_status mrsi_watch_file(struct mrs_input *in, const char *path, int fd, const struct stat *st,
                                struct mrs_err *e);
/* Appends an empty entry; NULL without memory. */
struct mrs_input_ns *mrsi_input_add(struct mrs_input *in);
enum mrs_status mrsi_input_exclude(struct mrs_input *in, const char *ns, struct mrs_err *e);
/* True where the patterns take this namespace; buckets of a time series go with their collection. */
bool mrsi_input_takes(const struct mrs_input *in, const char *db, const char *coll, const char *ns);
/* Fills codec and size of an entry's data file. */
enum mrs_status mrsi_input_probe(struct mrs_input *in, struct mrs_input_ns *ns, struct mrs_err *e);
/* Where an entry's data are; from->fd is open afterwards. */
enum mrs_status mrsi_input_from(struct mrs_input *in, const struct mrs_input_ns *ns,
                                struct mrsi_source_from *from, struct mrs_err *e);
enum mrs_status mrsi_dump_list(struct mrs_input *in, const char *path, struct mrs_err *e);
/* Reads and checks a metadata file, or what is at a place (NULL: none); the document lives in the arena. Nothing in
 * it: the empty document. */
enum mrs_status mrsi_metadata_load(struct mrs_mem *mem, struct mrs_arena *a, const char *path,
                                   const struct mrsi_place *place, struct mrs_view *doc, struct mrs_err *e);
/* The same of text; name: of the file, for errors. */
enum mrs_status mrsi_metadata_parse(struct mrs_buf *scratch, const char *text, size_t n,
                                    const char *name, struct mrs_view *doc, struct mrs_err *e);
/* collectionName, in the arena; NULL where there is none. */
enum mrs_status mrsi_metadata_coll(struct mrs_arena *a, struct mrs_view doc, const char *path,
                                   const char **coll, struct mrs_err *e);
#endif

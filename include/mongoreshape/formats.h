/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h - dumps in and out: directories as mongodump 100.x writes them, single .bson files, archives of
 * mongodump --archive, dump directories packed as tar or zip, `-` for a stream.
 *
 * Input is opened read-only and never changed. gzip and zstd are recognised by content, whatever
 * the name says. Output is one transaction: it is under OUT.partial, files synced, manifest
 * last, until it is renamed in one go. Threads: an input and an output may be used by several
 * threads as long as each reader and each sink belongs to one at a time. */
#ifndef MONGORESHAPE_FORMATS_H
#define MONGORESHAPE_FORMATS_H

#include "mongoreshape/value.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mrs_codec {
    MRS_CODEC_NONE,
    MRS_CODEC_GZIP,
    MRS_CODEC_ZSTD,
    MRS_CODEC_AS_INPUT,
    MRS_CODEC_TWICE /* gzip in gzip; only of what is read */
};
struct mrs_compress {
    enum mrs_codec codec;
    int level; /* 0: the codec's default */
};
/* "gzip", "zstd:3", "none". FAIL MRS_E_USAGE. */
enum mrs_status mrs_compress_parse(const char *text, struct mrs_compress *out, struct mrs_err *e);

/* What a dump is as a whole. */
enum mrs_format {
    MRS_FORMAT_AUTO,      /* of an output only: by single_ns, then by the suffix of its path */
    MRS_FORMAT_DIRECTORY, /* as mongodump --out writes it */
    MRS_FORMAT_BSON,      /* one namespace: a .bson file or the same as a stream */
    MRS_FORMAT_ARCHIVE,   /* as mongodump --archive writes it */
    MRS_FORMAT_TAR,       /* a dump directory, packed */
    MRS_FORMAT_ZIP,
    MRS_FORMAT_OTHER      /* of an input only: another container that libarchive reads (7z, cpio ...) */
};
/* "directory", "bson", "archive", "tar", "zip". FAIL MRS_E_USAGE. */
enum mrs_status mrs_format_parse(const char *text, enum mrs_format *out, struct mrs_err *e);
/* Whether a dump of this format has a place for what an extra file says: an archive knows the oplog, users and roles,
 * and has the versions of prelude.json in its head. */
bool mrs_format_holds(enum mrs_format format, const char *rel_path);

/* Asked inside of work that takes long and would be thrown away: true ends it. NULL: not asked. Any thread. */
struct mrs_stop {
    void *arg;
    bool (*asked)(void *arg);
};
/* The caller of long work of this room is asked between its parts. {0}: no caller. One thread at a time. */
struct mrs_pause {
    void *arg;
    /* bytes: how many were done since it was asked last. True: `rest` comes next. */
    bool (*due)(void *arg, uint64_t bytes);
    /* Not OK: the work ends with it. Of an output that is no stream: all that it wrote is on disk, and
     * mrs_output_describe tells how far it is. */
    enum mrs_status (*rest)(void *arg, struct mrs_err *e);
};

#ifdef __cplusplus
}
#endif
#endif

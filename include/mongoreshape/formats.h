/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h - formats of dumps: directories as mongodump 100.x writes them, single .bson files, archives of mongodump
 * --archive, dump directories packed as tar or zip, `-` for a stream.
 *
 * Input is opened read-only and never changed. gzip and zstd are recognized by content, whatever the name. Output is
 * one transaction: it is in OUT.partial, files synced, manifest last, until one rename. Threads: several threads may
 * use an input and an output if each reader and each sink belongs to one at a time. */
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
    MRS_CODEC_TWICE /* gzip in gzip; only for input */
};
struct mrs_compress {
    enum mrs_codec codec;
    int level; /* 0: the codec's default */
};
/* "gzip", "zstd:3", "none". FAIL MRS_E_USAGE. */
enum mrs_status mrs_compress_parse(const char *text, struct mrs_compress *out, struct mrs_err *e);

/* The format of a whole dump. */
enum mrs_format {
    MRS_FORMAT_AUTO,      /* only for output: by single_ns, then by the suffix of its path */
    MRS_FORMAT_DIRECTORY, /* as mongodump --out writes it */
    MRS_FORMAT_BSON,      /* one namespace: a .bson file or stream */
    MRS_FORMAT_ARCHIVE,   /* as mongodump --archive writes it */
    MRS_FORMAT_TAR,       /* a dump directory, packed */
    MRS_FORMAT_ZIP,
    MRS_FORMAT_OTHER      /* only for input: another container that libarchive reads (7z, cpio ...) */
};
/* "directory", "bson", "archive", "tar", "zip". FAIL MRS_E_USAGE. */
enum mrs_status mrs_format_parse(const char *text, enum mrs_format *out, struct mrs_err *e);
/* Whether a dump of this format can store the contents of an extra file: an archive has the oplog, users and roles, and
 * the versions of prelude.json in its header. */
bool mrs_format_holds(enum mrs_format format, const char *rel_path);

/* Called within long work whose result may become useless: true ends it. NULL: not called. Any thread. */
struct mrs_stop {
    void *arg;
    bool (*asked)(void *arg);
};
/* Called between the parts of long work in this room. {0}: not called. One thread at a time. */
struct mrs_pause {
    void *arg;
    /* bytes: processed since the last call. True: call `rest` next. */
    bool (*due)(void *arg, uint64_t bytes);
    /* Not OK: the work ends with this status. When called for an output that is no stream, all written bytes are on
     * disk, and mrs_output_describe returns the position. */
    enum mrs_status (*rest)(void *arg, struct mrs_err *e);
};

#ifdef __cplusplus
}
#endif
#endif

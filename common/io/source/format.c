/* SPDX-License-Identifier: Apache-2.0 */
/* format.c - the format of a whole dump: its names, and its detection by the name of an output. */
#include "source.h"
#include "mongoreshape/words.h"

static const struct {
    const char *word;
    enum mrs_format format;
} words[] = {{"directory", MRS_FORMAT_DIRECTORY},
             {"bson", MRS_FORMAT_BSON},
             {"archive", MRS_FORMAT_ARCHIVE},
             {"tar", MRS_FORMAT_TAR},
             {"zip", MRS_FORMAT_ZIP}};

enum mrs_status
mrs_format_parse(const char *text, enum mrs_format *out, struct mrs_err *e)
{
    MRS_ASSERT(text && out);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i].word) == 0) {
            *out = words[i].format;
            return MRS_OK;
        }
    }
    return MRSI_FAIL(e, MRS_E_USAGE, "unknown format '%s': directory, bson, archive, tar or zip", text);
}

static bool
cut(size_t *n, const char *path, const char *end)
{
    size_t k = strlen(end);
    bool has = *n > k && strncmp(path + *n - k, end, k) == 0;
    *n -= has ? k : 0;
    return has;
}

bool
mrsi_names_no_folder(const char *path)
{
    static const char *const ends[] = {".bson", ".bson.gz", ".bson.zst", ".xz",  ".txz",
                                       ".bz2",  ".tbz2",    ".lz4",      ".7z", ".cpio"};
    bool found = false;
    for (size_t i = 0; !found && i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(path);
        found = cut(&n, path, ends[i]);
    }
    return found;
}

struct mrs_output_shape
mrs_output_shape(const char *path, const struct mrs_output_opts *opts)
{
    enum mrs_codec by_name = MRS_CODEC_AS_INPUT;
    struct mrs_output_shape shape = {opts->format, opts->compress.codec};
    size_t n = strlen(path);
    by_name = cut(&n, path, ".gz") ? MRS_CODEC_GZIP : cut(&n, path, ".zst") ? MRS_CODEC_ZSTD : by_name;
    enum mrs_format named = cut(&n, path, ".archive") ? MRS_FORMAT_ARCHIVE
                            : cut(&n, path, ".tar")   ? MRS_FORMAT_TAR
                            : cut(&n, path, ".zip")   ? MRS_FORMAT_ZIP
                                                      : MRS_FORMAT_DIRECTORY;
    if (cut(&n, path, ".agz")) {
        named = MRS_FORMAT_ARCHIVE;
        by_name = MRS_CODEC_GZIP;
    } else if (cut(&n, path, ".tgz") || cut(&n, path, ".tzst")) {
        named = MRS_FORMAT_TAR;
        by_name = path[n + 2] == 'g' ? MRS_CODEC_GZIP : MRS_CODEC_ZSTD;
    }
    if (named != MRS_FORMAT_DIRECTORY && by_name == MRS_CODEC_AS_INPUT) {
        by_name = MRS_CODEC_NONE; /* x.tar is uncompressed, as named, whatever the input's compression */
    }
    if (shape.format == MRS_FORMAT_AUTO) {
        shape.format = opts->single_ns ? MRS_FORMAT_BSON : strcmp(path, "-") == 0 ? MRS_FORMAT_ARCHIVE : named;
    }
    if (shape.codec == MRS_CODEC_AS_INPUT && shape.format != MRS_FORMAT_DIRECTORY) {
        shape.codec = by_name;
    }
    if (shape.codec == MRS_CODEC_AS_INPUT) {
        shape.codec = opts->default_codec == MRS_CODEC_AS_INPUT ? MRS_CODEC_NONE : opts->default_codec;
    }
    if (shape.format == MRS_FORMAT_ZIP && opts->compress.codec == MRS_CODEC_AS_INPUT) {
        shape.codec = MRS_CODEC_GZIP; /* of its members */
    }
    return shape;
}

bool
mrsi_is_prelude(const char *rel_path)
{
    return strcmp(mrsi_base_name(rel_path), "prelude.json") == 0;
}

bool
mrsi_is_of_tools(const char *rel_path)
{
    const char *slash = strchr(rel_path, '/'), *name = mrsi_base_name(rel_path);
    bool deep = slash && name != slash + 1;
    return !deep && (mrsi_is_prelude(rel_path) || strcmp(rel_path, "oplog.bson") == 0 ||
                     (slash && mrsi_file_name(name).kind == MRSI_FILE_DATA && strncmp(name, "$admin.", 7) == 0));
}

bool
mrs_format_holds(enum mrs_format format, const char *rel_path)
{
    MRS_ASSERT(rel_path);
    const char *name = mrsi_base_name(rel_path);
    struct mrsi_file_name f = mrsi_file_name(name);
    char coll[64] = "";
    if (format != MRS_FORMAT_ARCHIVE || strcmp(rel_path, "oplog.bson") == 0 || mrsi_is_prelude(rel_path)) {
        return true;
    }
    memcpy(coll, name, f.stem_n < sizeof coll ? f.stem_n : 0);
    return f.kind == MRSI_FILE_DATA && name != rel_path && *coll == '$' && mrs_archive_special("", coll);
}

bool
mrs_archive_special(const char *db, const char *coll)
{
    MRS_ASSERT(db && coll);
    static const char *const names[] = {"system.users", "system.roles", "system.version"};
    if (strncmp(coll, "$admin.", 7) == 0) {
        coll += 7;
    } else if (strcmp(db, "admin") != 0) {
        return false;
    }
    return MRS_IS_ONE_OF(coll, names);
}

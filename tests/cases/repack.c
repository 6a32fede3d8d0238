/* SPDX-License-Identifier: Apache-2.0 */
/* repack.c KIND FOLDER OUT [PREFIX] - packs a folder as other people's tools do, by libarchive: tar, tar.gz, tar.zst,
 * tar.xz, tar.bz2, tar.lz4, gnutar, zip, 7z, cpio, odc; and raw.xz and the like, of one file.
 *
 * PREFIX (dump/) comes before every name. Files come in the order of the file system, which is any. */
#include <archive.h>
#include <archive_entry.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *kind, *format, *filter;
} kinds[] = {{"tar", "pax", NULL},        {"tar.gz", "pax", "gzip"},   {"tar.zst", "pax", "zstd"},
             {"tar.xz", "pax", "xz"},     {"tar.bz2", "pax", "bzip2"}, {"tar.lz4", "pax", "lz4"},
             {"gnutar", "gnutar", NULL},  {"zip", "zip", NULL},        {"7z", "7zip", NULL},
             {"cpio", "newc", NULL},      {"odc", "odc", NULL},        {"raw.xz", "raw", "xz"},
             {"raw.bz2", "raw", "bzip2"}, {"raw.lz4", "raw", "lz4"},   {"raw.lz", "raw", "lzip"}};

static void
must(struct archive *a, int r)
{
    if (r < ARCHIVE_WARN) {
        fprintf(stderr, "repack: %s\n", archive_error_string(a));
        exit(2);
    }
}

static void
put_bytes(struct archive *a, const char *path)
{
    static char room[1 << 16];
    FILE *f = fopen(path, "rb");
    size_t n;
    if (!f) {
        perror(path);
        exit(2);
    }
    while ((n = fread(room, 1, sizeof room, f)) > 0) {
        if (archive_write_data(a, room, n) != (la_ssize_t)n) {
            must(a, ARCHIVE_FATAL);
        }
    }
    fclose(f);
}

static void
put(struct archive *a, const FTSENT *at, size_t top, const char *prefix)
{
    char name[8192];
    struct archive_entry *e = archive_entry_new();
    snprintf(name, sizeof name, "%s%s", prefix, strlen(at->fts_path) > top ? at->fts_path + top + 1 : "only");
    archive_entry_set_pathname(e, name);
    archive_entry_copy_stat(e, at->fts_statp);
    must(a, archive_write_header(a, e));
    archive_entry_free(e);
    if (at->fts_info == FTS_F) {
        put_bytes(a, at->fts_path);
    }
}

int
main(int argc, char **argv)
{
    size_t k = 0;
    while (argc >= 4 && k < sizeof kinds / sizeof *kinds && strcmp(kinds[k].kind, argv[1]) != 0) {
        k++;
    }
    if (argc < 4 || k == sizeof kinds / sizeof *kinds) {
        fprintf(stderr, "usage: repack KIND FOLDER OUT [PREFIX]\n");
        return 2;
    }
    struct archive *a = archive_write_new();
    char *roots[] = {argv[2], NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    must(a, archive_write_set_format_by_name(a, kinds[k].format));
    if (kinds[k].filter) {
        must(a, archive_write_add_filter_by_name(a, kinds[k].filter));
    }
    must(a, archive_write_open_filename(a, argv[3]));
    for (FTSENT *at; fts && (at = fts_read(fts)) != NULL;) {
        if (at->fts_info == FTS_F || (at->fts_info == FTS_D && at->fts_level > 0)) {
            put(a, at, strlen(argv[2]), argc > 4 ? argv[4] : "dump/");
        }
    }
    must(a, archive_write_close(a));
    archive_write_free(a);
    fts_close(fts);
    return 0;
}

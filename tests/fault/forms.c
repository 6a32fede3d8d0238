/* SPDX-License-Identifier: Apache-2.0 */
/* forms.c - a dump directory as one file: an archive in the form of mongodump, with interleaved blocks of its
 * collections, and containers by libarchive. */
#include "io/input/archive.h"
#include "fault.h"
#include <archive.h>
#include <archive_entry.h>
#include <fts.h>
#include <stdlib.h>

static void
good(enum mrs_status s, const struct mrs_err *e, const char *path)
{
    if (s < MRS_OK) {
        die("%s: %s", path, e->msg);
    }
}

/* ---- an archive ---- */
struct offsets {
    struct mrs_mem *mem;
    struct mrs_input *in;
    struct mrs_buf out;
    const char *path;
    struct mrs_reader *reader[64]; /* by namespace; NULL: it has ended */
    uint64_t crc[64];
};

/* What a namespace of the input is called in an archive; false: it is none there. */
static bool
name_of(const struct mrs_input_ns *ns, char db[64], const char **coll)
{
    static const char users[] = "$admin.system.users";
    snprintf(db, 64, "%s", ns->db ? ns->db : "");
    *coll = ns->coll;
    if (ns->kind == MRS_INPUT_DATA) {
        return true;
    }
    const char *slash = strchr(ns->rel_path, '/');
    snprintf(db, 64, "%.*s", slash ? (int)(slash - ns->rel_path) : 0, ns->rel_path);
    *coll = users;
    return slash && strncmp(slash + 1, users, sizeof users - 1) == 0;
}

static void
put_doc(struct offsets *s, struct mrs_build *b)
{
    struct mrs_err e;
    struct mrs_view doc;
    good(mrs_build_finish(b, &doc, &e), &e, s->path);
    mrs_buf_put(&s->out, doc.p, doc.n);
    mrs_buf_clear(b->buf);
}

static void
put_text(struct mrs_build *b, const char *name, const char *text)
{
    mrs_build_text(b, name, text, (uint32_t)strlen(text));
}

static void
put_end(struct offsets *s)
{
    mrs_buf_put(&s->out, "\xff\xff\xff\xff", 4);
}

static void
put_prelude(struct offsets *s)
{
    struct mrs_buf room, text;
    struct mrs_build b;
    struct mrs_err e;
    const char *coll;
    char db[64];
    mrs_buf_put(&s->out, "\x6d\xe2\x99\x81", 4);
    mrs_buf_init(&room, s->mem, 1 << 20);
    mrs_build_init(&b, &room);
    mrs_build_i32(&b, "concurrent_collections", 64);
    put_text(&b, "version", "0.1");
    put_text(&b, "server_version", "8.0.4");
    put_text(&b, "tool_version", "100.10.0");
    put_doc(s, &b);
    for (uint32_t i = 0; i < mrs_input_count(s->in); i++) {
        const struct mrs_input_ns *ns = mrs_input_at(s->in, i);
        if (name_of(ns, db, &coll)) {
            bool view = ns->kind == MRS_INPUT_DATA && !ns->data_path;
            mrs_buf_init(&text, s->mem, 1 << 20);
            if (ns->kind == MRS_INPUT_DATA) {
                good(mrs_input_metadata_text(s->in, i, &text, &e), &e, s->path);
            }
            mrs_buf_byte(&text, 0);
            mrs_build_init(&b, &room);
            put_text(&b, "db", db);
            put_text(&b, "collection", coll);
            put_text(&b, "metadata", (const char *)text.p);
            mrs_build_i32(&b, "size", 0);
            put_text(&b, "type", view ? "view" : ns->kind == MRS_INPUT_DATA ? "collection" : "");
            put_doc(s, &b);
            mrs_buf_clear(&text);
        }
    }
    put_end(s);
}

static void
put_head(struct offsets *s, uint32_t i, bool last)
{
    struct mrs_buf room;
    struct mrs_build b;
    const char *coll;
    char db[64];
    name_of(mrs_input_at(s->in, i), db, &coll);
    mrs_buf_init(&room, s->mem, 1 << 20);
    mrs_build_init(&b, &room);
    put_text(&b, "db", db);
    put_text(&b, "collection", coll);
    mrs_build_bool(&b, "EOF", last);
    mrs_build_i64(&b, "CRC", last ? (int64_t)s->crc[i] : 0);
    put_doc(s, &b);
}

/* The next block of a namespace, or its last one; false: there are no more. */
static bool
put_next(struct offsets *s, uint32_t i)
{
    struct mrs_block block;
    struct mrs_err e;
    if (!s->reader[i]) {
        return false;
    }
    mrs_block_init(&block, s->mem);
    enum mrs_status st = mrs_reader_next(s->reader[i], &block, &e);
    good(st, &e, s->path);
    put_head(s, i, st == MRS_END);
    if (st == MRS_OK) {
        mrs_buf_put(&s->out, block.p, block.n);
        s->crc[i] = mrsi_crc64(s->crc[i], block.p, block.n);
    } else {
        mrs_reader_close(s->reader[i]);
        s->reader[i] = NULL;
    }
    put_end(s);
    mrs_block_clear(&block);
    return true;
}

static void
begin_blocks(struct offsets *s, uint32_t i)
{
    struct mrs_err e;
    if (mrs_input_at(s->in, i)->data_path) {
        good(mrs_reader_open(s->in, i, 700, &s->reader[i], &e), &e, s->path);
    } else {
        put_head(s, i, true);
        put_end(s);
    }
}

/* Users first and as a whole, then one block of each collection after the other. */
static void
put_blocks(struct offsets *s)
{
    uint32_t n = mrs_input_count(s->in);
    const char *coll;
    char db[64];
    for (int users = 1; users >= 0; users--) {
        for (uint32_t i = 0; i < n; i++) {
            bool extra = mrs_input_at(s->in, i)->kind == MRS_INPUT_EXTRA;
            if (extra == users && name_of(mrs_input_at(s->in, i), db, &coll)) {
                begin_blocks(s, i);
            }
            while (extra && put_next(s, i)) {
            }
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < n; i++) {
            more = put_next(s, i) || more;
        }
    }
}

static void
put_archive(const char *folder, enum mrs_codec codec, const char *path)
{
    struct offsets s = {.mem = mrs_mem_new(0), .path = path};
    struct mrs_input_opts how = {.tmp = NULL};
    struct mrs_err e;
    mrs_buf_init(&s.out, s.mem, SIZE_MAX);
    good(mrs_input_open(s.mem, folder, &how, &s.in, &e), &e, folder);
    if (mrs_input_count(s.in) > 64) {
        die("%s has too many collections for a test", folder);
    }
    put_prelude(&s);
    put_blocks(&s);
    put_packed(path, codec, s.out.p, s.out.n);
    mrs_input_close(s.in);
    mrs_buf_clear(&s.out);
    if (mrs_mem_close(s.mem)) {
        die("%s: blocks leak while it is made", path);
    }
}

/* ---- containers ---- */
static void
must(struct archive *a, int r, const char *path)
{
    if (r < ARCHIVE_WARN) {
        die("%s: %s", path, archive_error_string(a));
    }
}

static void
put_member(struct archive *a, const FTSENT *at, size_t top)
{
    char name[4700];
    struct mrs_mem *mem = mrs_mem_new(0);
    struct archive_entry *entry = archive_entry_new();
    struct mrs_err e;
    char *text = NULL;
    size_t n = 0;
    snprintf(name, sizeof name, "dump/%s", at->fts_path + top + 1);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, at->fts_info == FTS_D ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, at->fts_info == FTS_D ? 0755 : 0644);
    archive_entry_set_mtime(entry, 1700000000, 0);
    archive_entry_set_size(entry, 0);
    if (at->fts_info == FTS_F) {
        good(mrs_file_read(mem, at->fts_path, 64u << 20, &text, &n, &e), &e, at->fts_path);
        archive_entry_set_size(entry, (int64_t)n);
    }
    must(a, archive_write_header(a, entry), at->fts_path);
    if (n && archive_write_data(a, text, n) != (la_ssize_t)n) {
        must(a, ARCHIVE_FATAL, at->fts_path);
    }
    archive_entry_free(entry);
    mrs_free(mem, text);
    mrs_mem_close(mem);
}

static int
by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void
put_container(const char *folder, enum form form, enum mrs_codec codec, const char *path)
{
    static const char *const formats[] = {[FORM_TAR] = "pax", [FORM_ZIP] = "zip", [FORM_7Z] = "7zip",
                                          [FORM_CPIO] = "newc"};
    enum { MOST = 64 << 20 };
    uint8_t *room = malloc(MOST);
    size_t used = 0;
    char *roots[] = {(char *)(uintptr_t)folder, NULL};
    struct archive *a = archive_write_new();
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    must(a, archive_write_set_format_by_name(a, formats[form]), path);
    must(a, archive_write_set_bytes_in_last_block(a, 1), path);
    must(a, archive_write_open_memory(a, room, MOST, &used), path);
    for (FTSENT *at; fts && (at = fts_read(fts)) != NULL;) {
        if (at->fts_info == FTS_F || (at->fts_info == FTS_D && at->fts_level > 0)) {
            put_member(a, at, strlen(folder));
        }
    }
    must(a, archive_write_close(a), path);
    archive_write_free(a);
    fts_close(fts);
    put_packed(path, codec, room, used);
    free(room);
}

void
put_form(const char *folder, enum form form, enum mrs_codec codec, const char *path)
{
    if (form == FORM_ARCHIVE) {
        put_archive(folder, codec, path);
    } else {
        put_container(folder, form, codec, path);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_container.c - dumps in containers: every format and filter lists and gives what the directory does; everything that
 * means to trick, is cut, or would not fit is refused. Containers are made by libarchive, and bent by hand. */
#include "io_ground.h"
#include "io/input/container.h"
#include <archive.h>
#include <archive_entry.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct file {
    const char *name;
    const void *p;
    size_t n;
    unsigned type; /* 0: a file */
    const char *link, *hard;
};
static uint8_t doc_a[40], doc_b[700], doc_c[23];
static const char meta_a[] = "{\"indexes\":[],\"collectionName\":\"a\",\"type\":\"collection\"}";
static const char prelude[] = "{\"ServerVersion\":\"7.0.14\",\"ToolVersion\":\"100.18.0\"}";

static void
add_one(struct archive *a, const char *prefix, const struct file *f)
{
    struct archive_entry *e = archive_entry_new();
    char name[3000];
    snprintf(name, sizeof name, "%s%s", prefix, f->name);
    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, f->type ? f->type : AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, f->type == AE_IFDIR || f->link || f->hard ? 0 : (la_int64_t)f->n);
    if (f->link) {
        archive_entry_set_symlink(e, f->link);
    }
    if (f->hard) {
        archive_entry_set_hardlink(e, f->hard);
    }
    assert_true(archive_write_header(a, e) >= ARCHIVE_WARN);
    if (!f->type && f->n && f->p) {
        assert_int_equal(archive_write_data(a, f->p, f->n), f->n);
    }
    archive_entry_free(e);
}

static void
pack(const char *path, const char *format, const char *filter, const char *prefix, const struct file *files, size_t n)
{
    struct archive *a = archive_write_new();
    assert_int_equal(archive_write_set_format_by_name(a, format), ARCHIVE_OK);
    if (filter) {
        assert_int_equal(archive_write_add_filter_by_name(a, filter), ARCHIVE_OK);
    }
    assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
    for (size_t i = 0; i < n; i++) {
        add_one(a, prefix, &files[i]);
    }
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
}

/* A dump with something of everything. */
static const struct file whole[] = {{"shop", NULL, 0, AE_IFDIR, NULL, NULL},
                                    {"shop/a.bson", doc_a, sizeof doc_a, 0, NULL, NULL},
                                    {"shop/a.metadata.json", meta_a, sizeof meta_a - 1, 0, NULL, NULL},
                                    {"shop/b+%C3%A9.bson", doc_b, sizeof doc_b, 0, NULL, NULL},
                                    {"shop/empty.bson", "", 0, 0, NULL, NULL},
                                    {"shop/notes.txt", "keep me", 7, 0, NULL, NULL},
                                    {"shop/sub/deeper/x.bson", doc_a, sizeof doc_a, 0, NULL, NULL},
                                    {"other/c.bson", doc_c, sizeof doc_c, 0, NULL, NULL},
                                    {"oplog.bson", "", 0, 0, NULL, NULL},
                                    {"prelude.json", prelude, sizeof prelude - 1, 0, NULL, NULL}};
#define WHOLE (sizeof whole / sizeof *whole)
static const char want_whole[] = "other.c 23\nshop.a 40 m\nshop.b \xc3\xa9 700\nshop.empty 0\n"
                                 "+oplog.bson 0\n+prelude.json 51\n+shop/notes.txt 7\n+shop/sub/deeper/x.bson 40\n";

static void
append(char *text, size_t size, size_t *n, const struct mrs_input *in, uint32_t i)
{
    const struct mrs_input_ns *ns = mrs_input_at(in, i);
    bool data = ns->kind == MRS_INPUT_DATA;
    *n += (size_t)snprintf(text + *n, size - *n, "%s%s", data ? ns->ns : "+", data ? "" : ns->rel_path);
    if (ns->data_path) {
        *n += (size_t)snprintf(text + *n, size - *n, " %llu", (unsigned long long)ns->file_bytes);
    }
    *n += (size_t)snprintf(text + *n, size - *n, "%s\n", ns->meta_path ? " m" : "");
}

static enum mrs_status
open_as(struct mrs_mem *own, const char *path, const char *tmp, struct mrs_input **out)
{
    struct mrs_input_opts opts = {.tmp = tmp};
    return mrs_input_open(own, path, &opts, out, &err);
}

static void
lists(const char *path, const char *want)
{
    struct mrs_input *in;
    char text[8000];
    size_t n = 0;
    text[0] = 0;
    OK(open_as(mem, path, top, &in));
    for (uint32_t i = 0; i < mrs_input_count(in); i++) {
        append(text, sizeof text, &n, in, i);
    }
    assert_string_equal(text, want);
    mrs_input_close(in);
}

static void
refuses(const char *path, enum mrs_code code, const char *word)
{
    struct mrs_input *in;
    enum mrs_status s = open_as(mem, path, top, &in);
    if (s == MRS_OK || !strstr(err.msg, word)) {
        fail_msg("%s: '%s' is not in '%s'", path, word, s == MRS_OK ? "(taken)" : err.msg);
    }
    FAILS(s, code);
}

static int
prepare(void **state)
{
    put_doc(doc_a, 1, sizeof doc_a);
    put_doc(doc_b, 2, sizeof doc_b);
    put_doc(doc_c, 3, sizeof doc_c);
    return begin(state);
}

static const struct {
    const char *format, *filter;
    enum mrs_format is;
} kinds[] = {{"pax", NULL, MRS_FORMAT_TAR},        {"gnutar", NULL, MRS_FORMAT_TAR},
             {"ustar", NULL, MRS_FORMAT_TAR},      {"v7tar", NULL, MRS_FORMAT_TAR},
             {"pax", "gzip", MRS_FORMAT_TAR},      {"pax", "zstd", MRS_FORMAT_TAR},
             {"pax", "xz", MRS_FORMAT_TAR},        {"gnutar", "bzip2", MRS_FORMAT_TAR},
             {"gnutar", "lz4", MRS_FORMAT_TAR},    {"gnutar", "lzip", MRS_FORMAT_TAR},
             {"zip", NULL, MRS_FORMAT_ZIP},        {"7zip", NULL, MRS_FORMAT_OTHER},
             {"newc", NULL, MRS_FORMAT_OTHER},     {"odc", NULL, MRS_FORMAT_OTHER},
             {"newc", "gzip", MRS_FORMAT_OTHER},   {"zip", "xz", MRS_FORMAT_ZIP}};
#define KINDS (sizeof kinds / sizeof *kinds)

/* ---- what is taken ---- */
static void
bytes_are(struct mrs_input *in, uint32_t i, const uint8_t *p, size_t n)
{
    struct mrs_reader *r;
    struct mrs_block b;
    mrs_block_init(&b, mem);
    OK(mrs_reader_open(in, i, 0, &r, &err));
    OK(mrs_reader_next(r, &b, &err));
    assert_int_equal(b.n, n);
    assert_memory_equal(b.p, p, n);
    assert_int_equal(mrs_reader_next(r, &b, &err), MRS_END);
    mrs_block_clear(&b);
    mrs_reader_close(r);
}

static void
every_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        struct mrs_input *in;
        const char *path = at("x-%zu", i); /* no suffix: content tells */
        pack(path, kinds[i].format, kinds[i].filter, "dump/", whole, WHOLE);
        lists(path, want_whole);
        OK(open_as(mem, path, top, &in));
        assert_int_equal(mrs_input_format(in), kinds[i].is);
        bytes_are(in, 0, doc_c, sizeof doc_c);
        bytes_are(in, 1, doc_a, sizeof doc_a);
        bytes_are(in, 2, doc_b, sizeof doc_b);
        struct mrs_buf text;
        mrs_buf_init(&text, mem, 1 << 20);
        OK(mrs_input_metadata_text(in, 1, &text, &err));
        assert_int_equal(text.n, sizeof meta_a - 1);
        assert_memory_equal(text.p, meta_a, text.n);
        mrs_buf_clear(&text);
        assert_true(mrs_input_at(in, 4)->empty_oplog);
        assert_string_equal(strrchr(mrs_input_at(in, 1)->data_path, ':'), ": dump/shop/a.bson");
        mrs_input_close(in);
    }
}

static void
wrapped(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"", "./", "dump/", "./dump//", "backup of 2024.1/x/./dump/"};
    for (size_t i = 0; i < 5; i++) {
        pack(at("t"), "pax", NULL, prefixes[i], whole, WHOLE);
        lists(at("t"), want_whole);
    }
    struct file beside[WHOLE + 3];
    memcpy(beside, whole, sizeof whole);
    beside[WHOLE] = (struct file){"../README", "x", 1, 0, NULL, NULL};
    static const char *const names[] = {"b/d/shop/a.bson", "b/d/e/c.bson", "b/README", "b/misc/notes", "top"};
    struct file five[5];
    for (size_t i = 0; i < 5; i++) {
        five[i] = (struct file){names[i], doc_a, sizeof doc_a, 0, NULL, NULL};
    }
    pack(at("t"), "zip", NULL, "", five, 5); /* what lies beside the dump comes along */
    lists(at("t"), "e.c 40\nshop.a 40\n+README 40\n+misc/notes 40\n+top 40\n");
    five[2].name = "b/d/README";
    five[3].name = "b/README";
    pack(at("t"), "zip", NULL, "", five, 5);
    refuses(at("t"), MRS_E_FORMAT, "README");
    five[3] = five[4] = (struct file){"b/d/stray.bson", doc_a, sizeof doc_a, 0, NULL, NULL};
    pack(at("t"), "zip", NULL, "", five, 4);
    lists(at("t"), "e.c 40\nshop.a 40\n+README 40\n+stray.bson 40\n");
    static const uint8_t note[] = {0, 5, 0x16, 7, 0, 2, 0, 0};
    five[2] = (struct file){"__MACOSX/b/d/shop/._a.bson", note, sizeof note, 0, NULL, NULL};
    pack(at("t"), "zip", NULL, "", five, 3);
    lists(at("t"), "e.c 40\nshop.a 40\n");
    /* folders of other programs, beside the dump and in it: of themselves they are no second dump */
    five[2] = (struct file){"__MACOSX/b/d/shop/a.bson", doc_a, sizeof doc_a, 0, NULL, NULL};
    five[3] = (struct file){".git/b/oplog.bson", doc_a, sizeof doc_a, 0, NULL, NULL};
    five[4] = (struct file){"b/d/@eaDir/shop/a.bson", doc_a, sizeof doc_a, 0, NULL, NULL};
    pack(at("t"), "zip", NULL, "", five, 5);
    lists(at("t"), "e.c 40\nshop.a 40\n");
    pack(at("t"), "pax", NULL, ".backup/", five, 2); /* but the dump may lie in one */
    lists(at("t"), "e.c 40\nshop.a 40\n");
}

/* Only an oplog; a folder whose name is that of a database below; the over-long name. */
static void
odd_dumps(void **state)
{
    (void)state;
    struct file one = {"x/oplog.bson", doc_a, sizeof doc_a, 0, NULL, NULL};
    pack(at("t"), "pax", NULL, "", &one, 1);
    lists(at("t"), "+oplog.bson 40\n");
    char coll[301], stem[MRSI_STEM_MAX + 1], data[300], meta[300], text[600];
    memset(coll, 'n', 300);
    coll[300] = 0;
    mrsi_name_escape(coll, 300, stem);
    snprintf(data, sizeof data, "d/%s.bson", stem);
    snprintf(meta, sizeof meta, "d/%s.metadata.json", stem);
    snprintf(text, sizeof text, "{\"collectionName\":\"%s\"}", coll);
    struct file two[] = {{data, doc_a, sizeof doc_a, 0, NULL, NULL}, {meta, text, strlen(text), 0, NULL, NULL}};
    char want[400];
    snprintf(want, sizeof want, "d.%s 40 m\n", coll);
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].format, "v7tar") != 0 && strcmp(kinds[i].format, "ustar") != 0) {
            pack(at("t"), kinds[i].format, kinds[i].filter, "dump/", two, 2);
            lists(at("t"), want);
        }
    }
    pack(at("t"), "gnutar", NULL, "dump/", two, 1);
    refuses(at("t"), MRS_E_FORMAT, "collectionName");
    /* names keep their bytes, composed or not */
    struct file accents[] = {{"e\xcc\x81/x.bson", doc_a, sizeof doc_a, 0, NULL, NULL},
                             {"\xc3\xa9/x.bson", doc_b, sizeof doc_b, 0, NULL, NULL}};
    pack(at("t"), "gnutar", NULL, "dump/", accents, 2);
    lists(at("t"), "e\xcc\x81.x 40\n\xc3\xa9.x 700\n");
    pack(at("t"), "newc", NULL, "dump/", accents, 2);
    lists(at("t"), "e\xcc\x81.x 40\n\xc3\xa9.x 700\n");
}

/* ---- what is refused ---- */
static void
refuses_file(const char *format, struct file f, const char *word)
{
    struct file two[] = {{"dump/shop/a.bson", doc_a, sizeof doc_a, 0, NULL, NULL}, f};
    pack(at("t"), format, NULL, "", two, 2);
    refuses(at("t"), MRS_E_FORMAT, word);
}

static void
tricks(void **state)
{
    (void)state;
    static const struct {
        const char *name, *word;
    } names[] = {{"/etc/x.bson", "absolute"},       {"dump/../../x.bson", "'..'"}, {"..", "'..'"},
                 {"dump/shop/b\\..\\x", "backslash"}, {"dump/shop/\x01.bson", "control"},
                 {"dump/shop/./a.bson", "twice"},   {"dump//shop/a.bson", "twice"},
                 {"dump/shop/a.bson/x", "lies in it"}};
    static const char *const formats[] = {"gnutar", "zip", "7zip", "newc"};
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            refuses_file(formats[k], (struct file){names[i].name, doc_b, sizeof doc_b, 0, NULL, NULL}, names[i].word);
        }
        refuses_file(formats[k], (struct file){"dump/shop/l", NULL, 0, AE_IFLNK, "a.bson", NULL}, "symbolic link");
    }
    refuses_file("gnutar", (struct file){"dump/shop/l", NULL, 0, 0, NULL, "dump/shop/a.bson"}, "hard link");
    refuses_file("gnutar", (struct file){"dump/shop/d", NULL, 0, AE_IFCHR, NULL, NULL}, "neither");
    refuses_file("newc", (struct file){"dump/shop/d", NULL, 0, AE_IFIFO, NULL, NULL}, "neither");
    refuses_file("gnutar", (struct file){"old/shop/a.bson", doc_a, sizeof doc_a, 0, NULL, NULL}, "more than one dump");
    refuses_file("gnutar", (struct file){"shop/a.bson", doc_a, sizeof doc_a, 0, NULL, NULL}, "more than one dump");
    refuses_file("gnutar", (struct file){"old/oplog.bson", doc_a, sizeof doc_a, 0, NULL, NULL}, "more than one dump");
    refuses_file("gnutar", (struct file){"a.bson", doc_a, sizeof doc_a, 0, NULL, NULL}, "no folder");
    refuses_file("gnutar", (struct file){"dump/a b/c.bson", doc_a, sizeof doc_a, 0, NULL, NULL}, "no database");
    refuses_file("7zip", (struct file){"dump/shop/\xc3\xa9.txt", doc_a, sizeof doc_a, 0, NULL, NULL}, "7z");
    struct file notes = {"x/readme", "hello", 5, 0, NULL, NULL};
    pack(at("t"), "gnutar", NULL, "", &notes, 1);
    refuses(at("t"), MRS_E_MISSING, "no dump");
    pack(at("t"), "zip", NULL, "", &notes, 0);
    refuses(at("t"), MRS_E_FORMAT, "truncated or empty");
}

static void
encrypted(void **state)
{
    (void)state;
    struct archive *a = archive_write_new();
    archive_write_set_format_zip(a);
    if (archive_write_set_options(a, "zip:encryption=zipcrypt") != ARCHIVE_OK) {
        archive_write_free(a);
        skip();
    }
    archive_write_set_passphrase(a, "secret");
    archive_write_open_filename(a, at("t"));
    add_one(a, "dump/", &whole[1]);
    archive_write_close(a);
    archive_write_free(a);
    refuses(at("t"), MRS_E_FORMAT, "encrypted");
}

/* Pax records and long names with a NUL in them; a zip's name, which libarchive would change. */
static void
two_names(void **state)
{
    (void)state;
    char name[220];
    memset(name, 'n', sizeof name);
    memcpy(name, "dump/shop/", 10);
    memcpy(name + 200, ".bson", 6);
    struct file f = {name, doc_a, sizeof doc_a, 0, NULL, NULL};
    for (int k = 0; k < 2; k++) {
        pack(at("t"), k ? "gnutar" : "pax", NULL, "", &f, 1);
        struct bytes b = get(at("t"));
        char *in_name = memmem(b.p, b.n, "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.bson", 47);
        assert_non_null(in_name);
        in_name[0] = 0;
        put(at("t"), b.p, b.n);
        free(b.p);
        refuses(at("t"), MRS_E_FORMAT, "NUL");
    }
    struct file accents = {"e\xcc\x81/x.bson", doc_a, sizeof doc_a, 0, NULL, NULL};
    pack(at("t"), "zip", NULL, "", &accents, 1);
    lists(at("t"), "e\xcc\x81.x 40\n");
    struct bytes b = get(at("t"));
    uint8_t *dir = memmem(b.p, b.n, "PK\1\2", 4);
    assert_non_null(dir);
    b.p[7] |= 8; /* now its name says that it is UTF-8 */
    dir[9] |= 8;
    put(at("t"), b.p, b.n);
    free(b.p);
    lists(at("t"), "e\xcc\x81.x 40\n");
}

/* So short that nothing tells a container, it is a file of documents, and no good one. */
static enum mrs_status
read_as_bson(struct mrs_input *in)
{
    struct mrs_reader *r;
    struct mrs_block b;
    mrs_block_init(&b, mem);
    assert_int_equal(mrs_input_format(in), MRS_FORMAT_BSON);
    OK(mrs_reader_open(in, 0, 0, &r, &err));
    enum mrs_status s = mrs_reader_next(r, &b, &err);
    mrs_block_clear(&b);
    mrs_reader_close(r);
    mrs_input_close(in);
    return s;
}

/* Cut anywhere before the mark of the end, no container is taken. */
static void
truncated(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        pack(at("t"), kinds[i].format, kinds[i].filter, "dump/", whole, WHOLE);
        struct bytes b = get(at("t"));
        size_t end = b.n;
        while (end && b.p[end - 1] == 0 && !kinds[i].filter) {
            end--;
        }
        bool tar = kinds[i].is == MRS_FORMAT_TAR && !kinds[i].filter;
        if (tar) {
            end = (end + 511) / 512 * 512; /* the padding of the last member */
        }
        for (size_t n = 1; n <= end - !tar; n += n + 97 < end - !tar || n == end - !tar ? 97 : end - !tar - n) {
            struct mrs_input *in;
            put(at("t"), b.p, n);
            enum mrs_status s = open_as(mem, at("t"), top, &in);
            if (s == MRS_OK) {
                s = read_as_bson(in);
            }
            if (s == MRS_OK) {
                fail_msg("%s %s cut at %zu of %zu is taken", kinds[i].format, kinds[i].filter, n, b.n);
            }
            assert_true(err.msg[0] != 0);
            mrs_err_clear(&err);
        }
        free(b.p);
    }
    pack(at("t"), "gnutar", NULL, "dump/", whole, WHOLE);
    struct bytes b = get(at("t")), twice = joined(b, b);
    put(at("t"), twice.p, twice.n);
    refuses(at("t"), MRS_E_FORMAT, "after the end");
    free(b.p);
    free(twice.p);
}

static void
damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        pack(at("t"), kinds[i].format, kinds[i].filter, "dump/", whole, WHOLE);
        struct bytes b = get(at("t"));
        uint32_t x = 7;
        for (int k = 0; k < 150; k++) {
            struct mrs_input *in;
            x = x * 1664525u + 1013904223u;
            size_t where = (x >> 4) % b.n;
            uint8_t was = b.p[where];
            b.p[where] ^= (uint8_t)(1u << (x >> 29));
            put(at("t"), b.p, b.n);
            if (open_as(mem, at("t"), top, &in) == MRS_OK) {
                mrs_input_close(in);
            }
            mrs_err_clear(&err);
            b.p[where] = was;
        }
        free(b.p);
    }
}

/* A file with holes of a petabyte; a zip that says more than it has, and other bytes than its sum. */
static void
bombs(void **state)
{
    (void)state;
    struct archive *a = archive_write_new();
    archive_write_set_format_pax(a);
    archive_write_open_filename(a, at("t"));
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, "dump/shop/a.bson");
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, (la_int64_t)1 << 50);
    archive_entry_sparse_add_entry(e, 0, 512);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    assert_int_equal(archive_write_data(a, doc_b, 512), 512);
    archive_entry_free(e);
    archive_write_close(a);
    archive_write_free(a);
    refuses(at("t"), MRS_E_LIMIT, "--tmp");
    struct file f = {"dump/shop/a.bson", doc_b, sizeof doc_b, 0, NULL, NULL};
    pack(at("t"), "zip", NULL, "", &f, 1);
    struct bytes b = get(at("t"));
    uint8_t *dir = memmem(b.p, b.n, "PK\1\2", 4);
    assert_non_null(dir);
    mrs_put32(dir + 24, 699);
    put(at("t"), b.p, b.n);
    refuses(at("t"), MRS_E_FORMAT, "a.bson");
    mrs_put32(dir + 24, 0xfffffff0u);
    put(at("t"), b.p, b.n);
    struct mrs_input *in;
    assert_true(open_as(mem, at("t"), top, &in) < MRS_OK); /* by the room there is, or by what comes */
    mrs_err_clear(&err);
    mrs_put32(dir + 24, 700);
    mrs_put32(dir + 16, 12345); /* the sum */
    put(at("t"), b.p, b.n);
    refuses(at("t"), MRS_E_FORMAT, "a.bson");
    free(b.p);
}

/* A file with holes that fits is what it is on disk. */
static void
holes(void **state)
{
    (void)state;
    uint8_t zeros[4096] = {0}, head[512];
    memcpy(head, doc_b, 512);
    struct archive *a = archive_write_new();
    archive_write_set_format_pax(a);
    archive_write_open_filename(a, at("t"));
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, "dump/shop/notes");
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_size(e, 1 << 20);
    archive_entry_sparse_add_entry(e, 4096, 4096);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    archive_write_data(a, zeros, 4096);
    memcpy(zeros, head, 512);
    archive_write_data(a, zeros, 4096);
    archive_entry_free(e);
    add_one(a, "dump/", &whole[1]);
    archive_write_close(a);
    archive_write_free(a);
    struct mrs_input *in;
    OK(open_as(mem, at("t"), top, &in));
    assert_int_equal(mrs_input_count(in), 2);
    bytes_are(in, 0, doc_a, sizeof doc_a);
    const struct mrs_input_ns *ns = mrs_input_at(in, 1);
    uint8_t got[8192];
    assert_int_equal(ns->file_bytes, 1 << 20);
    assert_int_equal(pread(ns->data_place->fd, got, sizeof got, (off_t)ns->data_place->extent->off), sizeof got);
    assert_memory_equal(got + 4096, head, 512);
    assert_int_equal(got[0], 0);
    mrs_input_close(in);
}

/* ---- what tells one ---- */
static void
packings(void **state)
{
    (void)state;
    uint8_t head[512] = {0};
    assert_int_equal(mrsi_container_packing(head, 512), MRSI_PACKING_NONE);
    assert_int_equal(mrsi_container_packing(doc_b, 512), MRSI_PACKING_NONE);
    assert_int_equal(mrsi_container_packing((const uint8_t *)"PK\3\4", 4), MRSI_PACKING_ZIP);
    assert_int_equal(mrsi_container_packing((const uint8_t *)"PK\3", 3), MRSI_PACKING_NONE);
    assert_int_equal(mrsi_container_packing((const uint8_t *)"BZh91AY&SY", 10), MRSI_PACKING_STREAM);
    static const uint8_t archive[] = {0x6d, 0xe2, 0x99, 0x81};
    assert_int_equal(mrsi_container_packing(archive, 4), MRSI_PACKING_NONE);
    struct bytes g = gzip_by_zlib("x", 1, 6);
    assert_int_equal(mrsi_container_packing(g.p, g.n), MRSI_PACKING_NONE);
    free(g.p);
}

static void
no_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i += 3) {
        enum mrs_status s = MRS_DEAD;
        pack(at("t"), kinds[i].format, kinds[i].filter, "dump/", whole, WHOLE);
        for (uint64_t n = 1; s != MRS_OK; n++) {
            struct mrs_mem *own = mrs_mem_new(n);
            struct mrs_input *in = NULL;
            s = open_as(own, at("t"), top, &in);
            if (s == MRS_OK) {
                mrs_input_close(in);
            } else {
                assert_int_equal(s, MRS_DEAD);
                assert_int_equal(err.code, MRS_E_MEMORY);
            }
            mrs_err_clear(&err);
            assert_int_equal(mrs_mem_close(own), 0);
        }
    }
}

/* ---- who waits ---- */
struct waiting {
    unsigned asked, stop_at;
    uint64_t bytes;
};

static bool
is_due(void *arg, uint64_t bytes)
{
    struct waiting *w = arg;
    w->bytes += bytes;
    return ++w->asked == w->stop_at;
}

static enum mrs_status
stop_now(void *arg, struct mrs_err *e)
{
    (void)arg;
    return mrs_err_set(e, MRS_FAIL, MRS_E_CANCEL, "stop");
}

static enum mrs_status
open_waiting(const char *path, struct waiting *w, struct mrs_input **in)
{
    struct mrs_input_opts opts = {.tmp = at("tmp"), .pause = {w, is_due, stop_now}};
    return mrs_input_open(mem, path, &opts, in, &err);
}

/* Whoever waits is told how much was unpacked, and may stop at each place: then nothing is left. */
static void
stopped(void **state)
{
    (void)state;
    mkdir(at("tmp"), 0777);
    for (size_t i = 0; i < KINDS; i++) {
        struct waiting w = {0};
        struct mrs_input *in = NULL;
        pack(at("t"), kinds[i].format, kinds[i].filter, "dump/", whole, WHOLE);
        OK(open_waiting(at("t"), &w, &in));
        mrs_input_close(in);
        assert_true(w.asked >= WHOLE - 1);
        assert_true(w.bytes >= sizeof doc_b || kinds[i].is == MRS_FORMAT_TAR);
        for (unsigned n = 1, most = w.asked; n <= most; n++) {
            w = (struct waiting){0, n, 0};
            FAILS(open_waiting(at("t"), &w, &in), MRS_E_CANCEL);
            assert_int_equal(w.asked, n);
        }
    }
    assert_int_equal(rmdir(at("tmp")), 0);
}

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const bool sanitized = true; /* its own tables need more than any limit */
#else
static const bool sanitized = false;
#endif
/* Where the second member's header begins: behind a header, the name shop/a.bson and 40 bytes. */
enum { NEWC_SECOND = 124 + 40, ODC_SECOND = 76 + 12 + 40 };

/* A cpio that says how long a name or a file is, and lies: refused without asking for so much memory. */
static void
lengths_of_cpio(void **state)
{
    static const struct {
        const char *format;
        size_t at, n;
        const char *digits;
        const char *word;
    } lies[] = {{"newc", 94, 8, "fffffff0", "longer than 4,095"}, {"newc", 94, 8, "00001001", "longer than 4,095"},
                {"newc", 94, 8, "00000000", "no name"},           {"newc", 94, 8, "0000zz00", "than digits"},
                {"newc", 54, 8, "ffffffff", "damaged"},           {"newc", 0, 6, "070709", "no header"},
                {"odc", 59, 6, "777777", "longer than 4,095"},    {"odc", 65, 11, "77777777777", "damaged"},
                {"odc", 59, 6, "00008 ", "than digits"},          {"odc", 70, 6, "000 00", "than digits"},
                {"newc", 46, 4, "\xcb\xcf\xcf\xcf", "than digits"},
                {"newc", 102, 8, "0000000g", "than digits"}};
    (void)state;
    struct rlimit was, least = {1u << 30, 1u << 30};
    assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
    least.rlim_max = was.rlim_max;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        pack(at("t"), lies[i].format, NULL, "", &whole[1], 3);
        struct bytes b = get(at("t"));
        uint8_t *second = b.p + (lies[i].format[0] == 'n' ? NEWC_SECOND : ODC_SECOND);
        assert_memory_equal(second, "0707", 4);
        memcpy(second + lies[i].at, lies[i].digits, lies[i].n);
        put(at("t"), b.p, b.n);
        free(b.p);
        if (!sanitized) {
            assert_int_equal(setrlimit(RLIMIT_AS, &least), 0);
        }
        refuses(at("t"), MRS_E_FORMAT, lies[i].word);
        assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
    }
}

/* Documents of all files of a container that is taken whole; -1: it is not. */
static int
documents(const char *path)
{
    struct mrs_input *in;
    struct mrs_block b;
    int n = 0;
    enum mrs_status s = open_as(mem, path, top, &in);
    if (s != MRS_OK) {
        return -1;
    }
    mrs_block_init(&b, mem);
    for (uint32_t i = 0; i < mrs_input_count(in) && s >= MRS_OK; i++) {
        struct mrs_reader *r = NULL;
        s = mrs_reader_open(in, i, 0, &r, &err);
        while (s == MRS_OK && (s = mrs_reader_next(r, &b, &err)) == MRS_OK) {
            n += (int)b.n_docs;
        }
        mrs_reader_close(r);
    }
    mrs_block_clear(&b);
    mrs_input_close(in);
    return s < MRS_OK ? -1 : n;
}

/* Whatever one byte of a container becomes: no member is missing without a word. */
static void
none_is_missing(void **state)
{
    static const char *const formats[] = {"newc", "odc", "zip", "7zip"};
    static const uint8_t values[] = {0, ' ', '4', '7', 'g', 0x7f, 0xff};
    static const struct file three[] = {{"d/a.bson", doc_c, sizeof doc_c, 0, NULL, NULL},
                                        {"d/b.bson", doc_c, sizeof doc_c, 0, NULL, NULL},
                                        {"d/c.bson", doc_c, sizeof doc_c, 0, NULL, NULL}};
    (void)state;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        pack(at("t"), formats[f], NULL, "", three, 3);
        struct bytes b = get(at("t"));
        assert_int_equal(documents(at("t")), 3);
        for (size_t i = 0; i < b.n; i++) {
            uint8_t was = b.p[i];
            for (size_t v = 0; v < 8 + sizeof values; v++) {
                b.p[i] = v < 8 ? (uint8_t)(was ^ 1u << v) : values[v - 8];
                put(at("t"), b.p, b.n);
                int n = documents(at("t"));
                if (n != -1 && n != 3) {
                    fail_msg("%s: byte %zu, %02x to %02x: %d documents", formats[f], i, was, b.p[i], n);
                }
            }
            b.p[i] = was;
        }
        free(b.p);
    }
}

/* A member of a zip whose entry in the directory is the comment of the one before it. */
static void
hidden_in_a_comment(void **state)
{
    static const char mark[] = "PK\1\2";
    (void)state;
    pack(at("t"), "zip", NULL, "", &whole[1], 3);
    struct bytes b = get(at("t"));
    uint8_t *first = memmem(b.p, b.n, mark, 4), *second = memmem(first + 4, b.n - (size_t)(first + 4 - b.p), mark, 4),
            *third = memmem(second + 4, b.n - (size_t)(second + 4 - b.p), mark, 4);
    assert_true(third - second < 256 && first[32] == 0);
    first[32] = (uint8_t)(third - second);
    put(at("t"), b.p, b.n);
    free(b.p);
    refuses(at("t"), MRS_E_FORMAT, "fewer or more members");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_format, prepare, finish),
        cmocka_unit_test_setup_teardown(wrapped, prepare, finish),
        cmocka_unit_test_setup_teardown(odd_dumps, prepare, finish),
        cmocka_unit_test_setup_teardown(tricks, prepare, finish),
        cmocka_unit_test_setup_teardown(encrypted, prepare, finish),
        cmocka_unit_test_setup_teardown(two_names, prepare, finish),
        cmocka_unit_test_setup_teardown(truncated, prepare, finish),
        cmocka_unit_test_setup_teardown(damaged, prepare, finish),
        cmocka_unit_test_setup_teardown(bombs, prepare, finish),
        cmocka_unit_test_setup_teardown(holes, prepare, finish),
        cmocka_unit_test_setup_teardown(packings, prepare, finish),
        cmocka_unit_test_setup_teardown(no_memory, prepare, finish),
        cmocka_unit_test_setup_teardown(stopped, prepare, finish),
        cmocka_unit_test_setup_teardown(lengths_of_cpio, prepare, finish),
        cmocka_unit_test_setup_teardown(none_is_missing, prepare, finish),
        cmocka_unit_test_setup_teardown(hidden_in_a_comment, prepare, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

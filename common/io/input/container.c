/* SPDX-License-Identifier: Apache-2.0 */
/* container.c - the members of a tar, zip, 7z or cpio file, read by libarchive.
 *
 * Members of an uncompressed tar are read in place, if three sources agree about the place; all others are unpacked
 * into one unlinked file first, because steps read a collection several times and several readers at once. Only files
 * and folders are accepted: links, devices, encrypted members and ambiguous names are refused, and so is a member whose
 * size differs from its header. libarchive reads only the four formats. It converts names into the character set of the
 * locale, so a locale is chosen in which bytes stay unchanged, and those of a zip are read here; of 7z only plain ASCII
 * names are accepted. */
#if !__has_include(<archive.h>)
#error "libarchive is missing: `make deps` installs it (package libarchive-dev)"
#endif
#include "container.h"
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#define BLOCK 512u
#define PAX_MAX (1u << 20) /* maximum bytes of an extended header */

struct container_reader {
    struct mrs_input *in;
    struct mrsi_source_from from; /* the file, uncompressed as a whole */
    enum mrsi_packing packing;
    struct mrsi_feed feed;
    struct archive *a;
    struct mrsi_members members;
    struct mrsi_heap heap;
    bool in_place; /* tar: members are read in place */
    bool moved;    /* they cannot be read in place */
    uint64_t off;  /* of the header of the member */
    uint64_t end;  /* end of the last member */
    bool cpio;
    char what[512];
};

/* ---- detection ---- */
static uint64_t
octal(const uint8_t *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    uint64_t v = 0;
    size_t i = 0;
    for (; i < n && p[i] == ' '; i++) {
    }
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++) {
        v = v << 3 | (uint64_t)(p[i] - '0');
    }
    return v;
}

static uint64_t
whole_blocks(uint64_t n)
{
    return (n + BLOCK - 1) / BLOCK * BLOCK;
}

/* A tar header contains the sum of its own bytes. A document has zero or one as its fourth byte and then the type of a
 * field; a name of three letters is followed by more than one NUL. */
static bool
is_tar(const uint8_t head[BLOCK])
{
    uint64_t sum = 8 * ' ';
    if (head[0] < ' ' || (head[3] < 2 && head[4])) {
        return false;
    }
    for (size_t i = 0; i < BLOCK; i++) {
        sum += i >= 148 && i < 156 ? 0 : head[i];
    }
    return octal(head + 148, 8) == sum;
}

enum mrsi_packing
mrsi_container_packing(const uint8_t *head, size_t n)
{
    MRS_ASSERT(head || n == 0);
    static const struct {
        const char *magic;
        size_t n;
        enum mrsi_packing packing;
    } all[] = {{"\xfd" "7zXZ\0", 6, MRSI_PACKING_STREAM},
               {"\x04\x22\x4d\x18", 4, MRSI_PACKING_STREAM},
               {"LZIP\x01", 5, MRSI_PACKING_STREAM},
               {"PK\3\4", 4, MRSI_PACKING_ZIP},
               {"PK\5\6", 4, MRSI_PACKING_ZIP},
               {"PK\7\10", 4, MRSI_PACKING_ZIP},
               {"7z\xbc\xaf\x27\x1c", 6, MRSI_PACKING_OTHER},
               {"070701", 6, MRSI_PACKING_OTHER},
               {"070702", 6, MRSI_PACKING_OTHER},
               {"070707", 6, MRSI_PACKING_OTHER}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (n >= all[i].n && memcmp(head, all[i].magic, all[i].n) == 0) {
            return all[i].packing;
        }
    }
    if (n >= 10 && memcmp(head, "BZh", 3) == 0 &&
        (memcmp(head + 4, "1AY&SY", 6) == 0 || memcmp(head + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0)) {
        return MRSI_PACKING_STREAM;
    }
    return n >= BLOCK && is_tar(head) ? MRSI_PACKING_TAR : MRSI_PACKING_NONE;
}

/* ---- one member ---- */
/* Sets its name for messages; unprintable characters become question marks. */
static void
call_it(struct container_reader *r, const char *name)
{
    int n = snprintf(r->what, sizeof r->what, "%s: %s", r->from.name, name ? name : "(a member without a name)");
    for (int i = 0; i < n && i < (int)sizeof r->what; i++) {
        if ((uint8_t)r->what[i] < 0x20 && r->what[i]) {
            r->what[i] = '?';
        }
    }
}

static enum mrs_status
refuse(const struct container_reader *r, const char *why, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_FORMAT, "%s (its header is at byte %llu) is not taken: %s", r->what,
                     (unsigned long long)r->off, why);
}

static const char *
wrong_kind(const struct container_reader *r, struct archive_entry *entry)
{
    if (archive_entry_hardlink(entry)) {
        return "it is a hard link";
    }
    if (archive_entry_symlink(entry) || archive_entry_filetype(entry) == AE_IFLNK) {
        return "it is a symbolic link";
    }
    if (archive_entry_filetype(entry) != AE_IFREG && archive_entry_filetype(entry) != AE_IFDIR) {
        return "it is neither a file nor a folder";
    }
    if (archive_entry_is_encrypted(entry)) {
        return "it is encrypted: unpack it with its password and pack it again without";
    }
    if (r->packing != MRSI_PACKING_TAR && archive_entry_filetype(entry) == AE_IFDIR && archive_entry_size(entry) > 0) {
        return "it is a folder that has bytes"; /* only tar has a checksum of the type */
    }
    return archive_entry_size(entry) < 0 ? "its size is negative" : NULL;
}

static bool
is_ascii(const char *p)
{
    for (; *p && (uint8_t)*p < 0x80; p++) {
    }
    return !*p;
}

static enum mrs_status
read_part(struct container_reader *r, void *p, size_t n, uint64_t off, size_t *got, struct mrs_err *e)
{
    uint64_t left = off < r->from.bytes ? r->from.bytes - off : 0;
    *got = 0;
    return mrsi_pread_full(r->from.fd, p, n < left ? n : (size_t)left, r->from.start + off, r->from.name, got, e);
}

/* Some programs of Windows write a\\b instead of a/b; a name with both is ambiguous between systems, and is refused
 * unchanged. */
static void
unify_zip_name(char *name)
{
    for (char *p = strchr(name, '/') ? NULL : name; p && (p = strchr(p, '\\'));) {
        *p = '/';
    }
}

/* The name of a zip's member from the bytes before its data. libarchive normalizes accents, which could make two names
 * equal and rename a database. Before the data there is a header of HEAD bytes, n of name and k of other fields: if
 * only one position fits, its name is the right one; if several do, only the name that libarchive has read. */
static enum mrs_status
zip_name(struct container_reader *r, const char *read, char name[4096], const char **wrong, struct mrs_err *e)
{
    enum { HEAD = 30, EXTRA_MAX = 4096, LONGEST = 4095 };
    uint8_t room[HEAD + LONGEST + EXTRA_MAX];
    uint64_t data = (uint64_t)archive_filter_bytes(r->a, 0);
    size_t got = 0, back = data < sizeof room ? (size_t)data : sizeof room, found = 0;
    bool same = false;
    enum mrs_status s = read_part(r, room, back, data - back, &got, e);
    for (size_t at = HEAD; s == MRS_OK && got == back && at <= back && !same; at++) {
        const uint8_t *head = room + back - at;
        size_t n = (size_t)head[26] | (size_t)head[27] << 8, k = (size_t)head[28] | (size_t)head[29] << 8;
        if (memcmp(head, "PK\3\4", 4) == 0 && HEAD + n + k == at && n <= LONGEST && !memchr(head + HEAD, 0, n)) {
            found++;
            memcpy(name, head + HEAD, n);
            name[n] = 0;
            unify_zip_name(name);
            same = strcmp(name, read) == 0;
        }
    }
    if (!same && (found != 1 || is_ascii(read))) {
        *wrong = "the bytes of its name cannot be told for sure: pack as tar";
    }
    return s;
}

/* True if a record of an extended header has a path with a NUL in it. */
static bool
path_is_cut(const uint8_t *p, size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t len = 0, k = at;
        for (; k < n && p[k] >= '0' && p[k] <= '9' && len < PAX_MAX; k++) {
            len = 10 * len + (size_t)(p[k] - '0');
        }
        if (k == at || k == n || p[k] != ' ' || len > n - at || len < k - at + 2) {
            return false; /* libarchive reports the error */
        }
        const uint8_t *text = p + k + 1;
        size_t text_n = at + len - k - 2;
        if (text_n > 5 && memcmp(text, "path=", 5) == 0 && memchr(text, 0, text_n)) {
            return true;
        }
        at += len;
    }
    return false;
}

/* Checks the headers before a member's own, from r->off up to data: long names and extended headers. */
static enum mrs_status
check_tar_name(struct container_reader *r, const char **wrong, struct mrs_err *e)
{
    MRS_ASSERT(r->a);
    uint64_t data = (uint64_t)archive_filter_bytes(r->a, 0);
    enum mrs_status s = MRS_OK;
    uint64_t n = 0;
    for (uint64_t at = r->off; s == MRS_OK && !*wrong && at + BLOCK < data; at += BLOCK + whole_blocks(n)) {
        uint8_t head[BLOCK], *text;
        size_t got;
        s = read_part(r, head, BLOCK, at, &got, e);
        n = octal(head + 124, 12);
        if (s != MRS_OK || got < BLOCK || n > PAX_MAX || (head[156] != 'x' && head[156] != 'L')) {
            break;
        }
        text = mrs_alloc(r->in->mem, n + 1);
        s = text ? read_part(r, text, n, at + BLOCK, &got, e) : mrs_err_memory(e, n);
        const uint8_t *nul = text && head[156] == 'L' ? memchr(text, 0, got) : NULL;
        if (text && ((head[156] == 'x' && path_is_cut(text, got)) || (nul && (size_t)(nul - text) + 1 < got))) {
            *wrong = "its name holds a NUL";
        }
        mrs_free(r->in->mem, text);
    }
    return s;
}

/* Whether a tar's bytes can be read in place, directly after the header. */
static enum mrs_status
take_in_place(struct container_reader *r, struct archive_entry *entry, struct mrsi_container_member *m,
              struct mrs_err *e)
{
    MRS_ASSERT(r->in_place);
    uint64_t data = (uint64_t)archive_filter_bytes(r->a, 0), n = (uint64_t)archive_entry_size(entry);
    uint8_t head[BLOCK] = {0};
    size_t got = 0;
    enum mrs_status s = data >= BLOCK ? read_part(r, head, BLOCK, data - BLOCK, &got, e) : MRS_OK;
    r->moved = data < BLOCK || !is_tar(head) || archive_entry_sparse_count(entry) > 0 ||
               (head[156] != '0' && head[156] != 0 && head[156] != '7');
    if (s != MRS_OK || r->moved) {
        return s;
    }
    if (n > r->from.bytes - data) {
        return MRSI_FAIL(e, MRS_E_FORMAT,
                         "%s: the container is truncated: %llu bytes from byte %llu on, and it ends at %llu", r->what,
                         (unsigned long long)n, (unsigned long long)data, (unsigned long long)r->from.bytes);
    }
    m->place = (struct mrsi_src_extents){r->from.fd, NULL, n != 0, n};
    m->extent = (struct mrsi_src_extent){r->from.start + data, n};
    r->end = data + whole_blocks(n);
    return MRS_OK;
}

static enum mrs_status
unpack(struct container_reader *r, struct archive_entry *entry, struct mrsi_container_member *m, struct mrs_err *e)
{
    MRS_ASSERT(r->heap.fd >= 0);
    uint64_t n = (uint64_t)archive_entry_size(entry), done = 0;
    bool sparse = archive_entry_sparse_count(entry) > 0;
    enum mrs_status s = mrsi_heap_room(&r->heap, n, r->what, e);
    int a = ARCHIVE_OK;
    while (s == MRS_OK && a == ARCHIVE_OK) {
        const void *p;
        size_t k = 0;
        la_int64_t off = 0;
        a = archive_read_data_block(r->a, &p, &k, &off);
        if (a != ARCHIVE_OK) {
            break;
        }
        if (off < 0 || (uint64_t)off < done || (uint64_t)off > n || k > n - (uint64_t)off) {
            return refuse(r, "it has more bytes than its header says", e);
        }
        done = (uint64_t)off + k;
        s = k ? mrs_write_at(r->heap.fd, p, k, r->heap.bytes + (uint64_t)off, e) : MRS_OK;
        MRS_THEN(s, mrsi_pause(r->heap.pause, k, e));
    }
    if (s == MRS_OK && a != ARCHIVE_EOF) {
        return mrsi_feed_failed(&r->feed, r->a, r->what, r->from.start + r->feed.at, e);
    }
    if (s == MRS_OK && done < n && !sparse) {
        return refuse(r, "it has fewer bytes than its header says (truncated?)", e);
    }
    m->place = (struct mrsi_src_extents){r->heap.fd, NULL, n != 0, n};
    m->extent = (struct mrsi_src_extent){r->heap.bytes, n};
    r->heap.bytes += n;
    r->end = (uint64_t)archive_filter_bytes(r->a, 0);
    return s;
}

/* libarchive does not recognize folders by name in a zip with other separators. */
static bool
is_folder(const struct container_reader *r, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    size_t n = name ? strlen(name) : 0;
    bool slash = n && name[n - 1] == '\\' && r->packing == MRSI_PACKING_ZIP && !archive_entry_size(entry);
    return slash || archive_entry_filetype(entry) == AE_IFDIR;
}

/* The path of a member; or why it is refused, in *wrong. */
static enum mrs_status
judge(struct container_reader *r, struct archive_entry *entry, char path[4096], const char **wrong, struct mrs_err *e)
{
    MRS_ASSERT(r->a);
    const char *name = archive_entry_pathname(entry);
    char own[4096], read[4096];
    enum mrs_status s = MRS_OK;
    if (name && r->packing == MRSI_PACKING_ZIP && strlen(name) < sizeof read) {
        memcpy(read, name, strlen(name) + 1);
        unify_zip_name(read);
        name = read;
    }
    *wrong = mrsi_member_path(name, path);
    if (!*wrong) {
        *wrong = wrong_kind(r, entry);
    }
    bool folder = is_folder(r, entry);
    if (!*wrong && !folder && (!*path || name[strlen(name) - 1] == '/')) {
        *wrong = "it is a file with the name of a folder";
    }
    if (*wrong) {
        return MRS_OK;
    }
    if (archive_format(r->a) == ARCHIVE_FORMAT_7ZIP && !is_ascii(name)) {
        *wrong = "letters beyond ASCII cannot be read exactly from 7z: pack as tar";
    } else if (r->packing == MRSI_PACKING_ZIP) {
        s = zip_name(r, name, own, wrong, e);
        *wrong = s == MRS_OK && !*wrong ? mrsi_member_path(own, path) : *wrong;
    } else if (r->packing == MRSI_PACKING_TAR) {
        s = check_tar_name(r, wrong, e);
    }
    return s;
}

static enum mrs_status
take(struct container_reader *r, struct archive_entry *entry, struct mrs_err *e)
{
    struct mrsi_container_member m = {.off = (uint64_t)archive_read_header_position(r->a),
                                      .folder = is_folder(r, entry)};
    char path[4096];
    const char *wrong;
    if (r->in_place && r->members.n && m.off != r->end) {
        r->moved = true;
        return MRS_OK;
    }
    r->off = m.off;
    enum mrs_status s = judge(r, entry, path, &wrong, e);
    if (s == MRS_OK && wrong) {
        return refuse(r, wrong, e);
    }
    if (s == MRS_OK && m.folder) {
        r->end = (uint64_t)archive_filter_bytes(r->a, 0);
    } else if (s == MRS_OK) {
        s = r->in_place ? take_in_place(r, entry, &m, e) : unpack(r, entry, &m, e);
    }
    return s == MRS_OK && *path && !r->moved ? mrsi_members_add(&r->members, path, &m, e) : s;
}

/* ---- all members ---- */
static enum mrs_status
not_the_end(const struct container_reader *r, uint64_t at, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_FORMAT, "%s: there is something at byte %llu, after the end: two containers?",
                     r->from.name, (unsigned long long)at);
}

/* A 7z ends with its directory, whose offset is in the header. */
static enum mrs_status
check_7z_end(struct container_reader *r, struct mrs_err *e)
{
    enum { HEAD = 32 };
    uint8_t head[HEAD];
    size_t got = 0;
    enum mrs_status s = read_part(r, head, HEAD, 0, &got, e);
    if (s != MRS_OK || got < HEAD) {
        return s;
    }
    uint64_t left = r->from.bytes - HEAD, at = mrs_le64(head + 12), n = mrs_le64(head + 20);
    return at < left && n < left - at ? not_the_end(r, HEAD + at + n, e) : MRS_OK; /* the missing part was reported */
}

/* Only zeros may follow the end mark; anything else would be lost. */
static enum mrs_status
check_end(struct container_reader *r, struct mrs_err *e)
{
    uint64_t at = (uint64_t)archive_filter_bytes(r->a, 0);
    enum mrs_status s = MRS_OK;
    size_t got = 1;
    if (r->packing == MRSI_PACKING_TAR && at < r->end + BLOCK) {
        return MRSI_FAIL(e, MRS_E_FORMAT, "%s: truncated: it ends after byte %llu without the mark of its end",
                         r->from.name, (unsigned long long)at);
    }
    if (archive_format(r->a) == ARCHIVE_FORMAT_7ZIP) {
        return check_7z_end(r, e);
    }
    if (r->packing == MRSI_PACKING_ZIP) {
        return MRS_OK; /* mrsi_zip_check has checked */
    }
    for (uint8_t room[16 << 10]; s == MRS_OK && got; at += got) {
        s = read_part(r, room, sizeof room, at, &got, e);
        for (size_t i = 0; i < got; i++) {
            if (room[i]) {
                return not_the_end(r, at + i, e);
            }
        }
    }
    return s;
}

static int
begin(struct container_reader *r)
{
    struct archive *a = r->a;
    int s = r->packing == MRSI_PACKING_TAR   ? archive_read_support_format_tar(a)
            : r->packing == MRSI_PACKING_ZIP ? archive_read_support_format_zip_seekable(a)
                                             : archive_read_support_format_7zip(a);
    if (s == ARCHIVE_OK && r->packing == MRSI_PACKING_OTHER) {
        s = archive_read_support_format_cpio(a);
    }
    return s == ARCHIVE_OK ? mrsi_feed_start(&r->feed, a) : s;
}

static enum mrs_status
read_members(struct container_reader *r, struct mrs_err *e)
{
    MRS_ASSERT(r->a);
    struct archive_entry *entry;
    enum mrs_status s = MRS_OK;
    int a = begin(r);
    snprintf(r->what, sizeof r->what, "%s", r->from.name);
    while (s == MRS_OK && a == ARCHIVE_OK && !r->moved) {
        a = archive_read_next_header(r->a, &entry);
        if (a == ARCHIVE_OK || a == ARCHIVE_WARN) {
            call_it(r, archive_entry_pathname(entry));
        }
        if (a == ARCHIVE_WARN && r->packing == MRSI_PACKING_TAR) {
            a = ARCHIVE_OK; /* owners, times, and names that are not ASCII: their bytes are valid */
        }
        s = a == ARCHIVE_OK ? take(r, entry, e) : s;
        MRS_THEN(s, mrsi_pause(&r->in->pause, 0, e));
    }
    if (s != MRS_OK || r->moved) {
        return s;
    }
    if (a == ARCHIVE_FATAL && r->packing == MRSI_PACKING_ZIP && !r->members.n && r->feed.err.code == MRS_E_NONE) {
        return MRSI_FAIL(e, MRS_E_FORMAT, "%s: truncated or empty: the directory at a zip's end is missing (%s)",
                         r->from.name, archive_error_string(r->a));
    }
    return a == ARCHIVE_EOF ? check_end(r, e)
                            : mrsi_feed_failed(&r->feed, r->a, r->what, r->from.start + r->feed.at, e);
}

/* One pass over the container; names keep their bytes in the locale of its format. */
static enum mrs_status
pass(struct container_reader *r, struct mrs_err *e)
{
    bool raw = r->packing == MRSI_PACKING_TAR;
    locale_t names = newlocale(LC_CTYPE_MASK, raw ? "C" : "C.UTF-8", (locale_t)0);
    locale_t was = names ? uselocale(names) : (locale_t)0;
    r->members = (struct mrsi_members){.in = r->in, .container = r->from.name};
    r->moved = false;
    r->end = 0;
    r->a = archive_read_new();
    enum mrs_status s = r->a ? mrsi_feed_open(r->in->mem, &r->from, &r->feed, e) : mrs_err_memory(e, 0);
    MRS_THEN(s, read_members(r, e));
    if (r->a) {
        archive_read_free(r->a);
        mrs_free(r->in->mem, r->feed.room);
    }
    if (names) {
        uselocale(was);
        freelocale(names);
    }
    return s;
}

static enum mrs_status
read_container(struct container_reader *r, const char *tmp, struct mrs_err *e)
{
    r->in_place = r->packing == MRSI_PACKING_TAR;
    enum mrs_status s = r->in_place ? pass(r, e) : MRS_OK;
    if (s == MRS_OK && r->in_place && r->moved) {
        mrs_free(r->in->mem, r->members.at);
        r->in_place = false;
    }
    if (s == MRS_OK && r->packing == MRSI_PACKING_ZIP) {
        s = mrsi_zip_check(r->in->mem, &r->from, e);
    }
    if (s == MRS_OK && r->cpio) {
        s = mrsi_cpio_check(&r->from, &r->in->pause, e);
    }
    if (s == MRS_OK && !r->in_place) {
        s = mrsi_heap_open(&(struct mrsi_spot){tmp, &r->in->pause}, &r->heap, e);
        MRS_THEN(s, pass(r, e));
        if (s == MRS_OK && ftruncate(r->heap.fd, (off_t)r->heap.bytes) < 0) {
            s = mrs_err_sys(e, errno, "temporary file");
        }
    }
    MRS_THEN(s, mrsi_members_take(&r->members, e));
    if (r->members.cap) {
        mrs_free(r->in->mem, r->members.at);
    }
    return s;
}

/* Makes the plain stream and detects its format. */
static enum mrs_status
plain_file(struct container_reader *r, const char *tmp, struct mrs_err *e)
{
    uint8_t head[MRSI_PACKING_HEAD];
    struct stat st;
    size_t got = 0;
    enum mrs_status s = MRS_OK;
    if (r->from.codec != MRS_CODEC_NONE) {
        int fd = -1;
        uint64_t n = 0;
        s = mrsi_container_decode(r->in->mem, &r->from, &(struct mrsi_spot){tmp, &r->in->pause}, &fd, &n, e);
        if (s == MRS_OK) {
            close(r->from.fd);
            r->from = (struct mrsi_source_from){fd, true, 0, n, MRS_CODEC_NONE, r->from.name, NULL};
        }
    } else if (fstat(r->from.fd, &st) < 0) {
        s = mrs_err_sys(e, errno, "stat %s", r->from.name);
    } else if ((uint64_t)st.st_size - r->from.start < r->from.bytes) {
        r->from.bytes = (uint64_t)st.st_size - r->from.start;
    }
    MRS_THEN(s, read_part(r, head, sizeof head, 0, &got, e));
    r->packing = mrsi_container_packing(head, got);
    if (s == MRS_OK && r->packing == MRSI_PACKING_NONE && mrsi_zip_behind(r->in->mem, &r->from)) {
        r->packing = MRSI_PACKING_ZIP;
    }
    r->cpio = r->packing == MRSI_PACKING_OTHER && *head == '0';
    if (s == MRS_OK && (r->packing == MRSI_PACKING_NONE || r->packing == MRSI_PACKING_STREAM)) {
        s = MRSI_FAIL(e, MRS_E_FORMAT, "%s: no tar, zip, 7z or cpio, or packed twice: unpack it by hand",
                      r->from.name);
    }
    return s;
}

enum mrs_status
mrsi_container_open(struct mrs_input *in, const struct mrsi_source_from *from, const char *tmp, struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0);
    struct container_reader *r = mrs_zalloc(in->mem, sizeof *r);
    if (!r) {
        close(from->fd);
        return mrs_err_memory(e, sizeof *r);
    }
    r->in = in;
    r->from = *from;
    r->heap.fd = -1;
    enum mrs_status s = plain_file(r, tmp, e);
    in->dir = true;
    in->format = r->packing == MRSI_PACKING_TAR   ? MRS_FORMAT_TAR
                 : r->packing == MRSI_PACKING_ZIP ? MRS_FORMAT_ZIP
                                                  : MRS_FORMAT_OTHER;
    MRS_THEN(s, read_container(r, tmp, e));
    bool keep = s == MRS_OK && r->in_place;
    if (s == MRS_OK) {
        in->fd = keep ? r->from.fd : r->heap.fd;
    }
    if (!keep) {
        close(r->from.fd);
    }
    if (s != MRS_OK && r->heap.fd >= 0) {
        close(r->heap.fd);
    }
    mrs_free(in->mem, r);
    return s;
}

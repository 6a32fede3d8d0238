/* SPDX-License-Identifier: Apache-2.0 */
/* container_zip.c - checks that the two descriptions of each zip member agree, and that it is one complete zip.
 *
 * A zip has a checksum of every member's bytes, but none of names. Names are stored twice, before the data and in the
 * directory at the end: one damaged bit would silently rename a member. Bytes before or after the zip of the last
 * directory would be ignored silently, and so would a member whose entry is inside the comment of another: so members
 * are counted. */
#include "container.h"
#include <sys/stat.h>

enum { HEAD = 30, ENTRY = 46, END = 22, LOCATOR = 20, END64 = 56, NAME_MAX_BYTES = 4096 };
enum { ZIP_END_MOST = END + 65535 }; /* with its comment */

struct container_zip {
    const struct mrsi_source_from *from;
    uint64_t at, end;  /* of the directory */
    uint64_t declared; /* number of members, by the end record; */
    bool modulo;       /* whether it has 16 bits for them, modulo 65,536 */
    bool begins;       /* with a member that the directory lists */
};
struct container_zip_entry {
    uint8_t head[ENTRY];
    char name[NAME_MAX_BYTES + 1];
    size_t n, rest; /* bytes of its name, and of the fields after it */
    uint64_t off, data; /* its offset in the directory; that of the header before its data */
};

static enum mrs_status
get(const struct container_zip *z, void *p, size_t n, uint64_t off, bool *there, struct mrs_err *e)
{
    size_t got = 0;
    *there = off <= z->from->bytes && n <= z->from->bytes - off;
    if (!*there) {
        return MRS_OK;
    }
    enum mrs_status s = mrsi_pread_full(z->from->fd, p, n, z->from->start + off, z->from->name, &got, e);
    *there = got == n;
    return s;
}

static uint32_t
le16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static enum mrs_status
damaged(const struct container_zip *z, uint64_t off, const char *what, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_FORMAT, "%s: the directory at the zip's end is damaged near byte %llu: %s",
                     z->from->name, (unsigned long long)off, what);
}

static enum mrs_status
differs(const struct container_zip *z, const struct container_zip_entry *m, const char *what, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_FORMAT,
                     "%s: %.200s: damaged: %s differs in the zip's directory (byte %llu) and before its data "
                     "(byte %llu)",
                     z->from->name, m->name, what, (unsigned long long)m->off, (unsigned long long)m->data);
}

static enum mrs_status
not_one(const struct container_zip *z, uint64_t off, const char *where, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_FORMAT, "%s: there is something at byte %llu, %s: two containers?", z->from->name,
                     (unsigned long long)off, where);
}

/* Finds the directory of a zip with more than 4 GiB or 65535 members. *behind: end of the directory. */
static enum mrs_status
find_large(struct container_zip *z, uint64_t *behind, struct mrs_err *e)
{
    uint64_t end = *behind;
    uint8_t p[END64];
    bool there = false;
    enum mrs_status s = end >= LOCATOR ? get(z, p, LOCATOR, end - LOCATOR, &there, e) : MRS_OK;
    if (s != MRS_OK || !there || memcmp(p, "PK\6\7", 4) != 0) {
        return s;
    }
    uint64_t at = mrs_le64(p + 8);
    s = get(z, p, END64, at, &there, e);
    if (s != MRS_OK || !there || memcmp(p, "PK\6\6", 4) != 0) {
        return s == MRS_OK ? damaged(z, at, "the record of its end is not there", e) : s;
    }
    *behind = at;
    z->declared = mrs_le64(p + 32);
    z->modulo = false;
    z->at = mrs_le64(p + 48);
    z->end = mrs_le64(p + 40) <= UINT64_MAX - z->at ? z->at + mrs_le64(p + 40) : UINT64_MAX;
    return MRS_OK;
}

/* The end record is searched from the end: a comment may follow it. */
static enum mrs_status
find_directory(struct container_zip *z, uint8_t *room, size_t most, struct mrs_err *e)
{
    size_t n = z->from->bytes < most ? (size_t)z->from->bytes : most;
    uint64_t start = z->from->bytes - n;
    bool there;
    enum mrs_status s = get(z, room, n, start, &there, e);
    if (s != MRS_OK || !there) {
        return s;
    }
    for (size_t at = n < END ? 0 : n - END + 1; at-- > 0;) {
        const uint8_t *p = room + at;
        if (memcmp(p, "PK\5\6", 4) == 0 && at + END + le16(p + 20) <= n) {
            uint64_t behind = start + at;
            z->at = mrs_le32(p + 16);
            z->end = z->at + mrs_le32(p + 12);
            z->declared = le16(p + 10);
            z->modulo = true;
            s = find_large(z, &behind, e);
            s = s == MRS_OK && z->end < behind ? not_one(z, z->end, "after its directory", e) : s;
            size_t end = at + END + le16(p + 20);
            return s == MRS_OK && end < n ? not_one(z, start + end, "after its end", e) : s;
        }
    }
    return MRS_OK; /* libarchive reports it too */
}

/* The offset of the header before the data, if it needs more than 32 bits. */
static enum mrs_status
large_offset(const struct container_zip *z, struct container_zip_entry *m, struct mrs_err *e)
{
    uint8_t p[4 + 24];
    uint64_t at = m->off + ENTRY + m->n, end = at + le16(m->head + 30);
    bool there = true;
    while (at + 4 <= end) {
        enum mrs_status s = get(z, p, 4, at, &there, e);
        size_t n = le16(p + 2), skip = (size_t)8 * (mrs_le32(m->head + 24) == UINT32_MAX) +
                                       (size_t)8 * (mrs_le32(m->head + 20) == UINT32_MAX);
        if (s != MRS_OK || !there) {
            return s;
        }
        if (le16(p) == 1 && n >= skip + 8 && at + 4 + n <= end) {
            s = get(z, p, 8, at + 4 + skip, &there, e);
            m->data = mrs_le64(p);
            return s;
        }
        at += 4 + n;
    }
    return damaged(z, m->off, "a place is missing", e);
}

static enum mrs_status
read_entry(struct container_zip *z, struct container_zip_entry *m, struct mrs_err *e)
{
    bool there;
    enum mrs_status s = get(z, m->head, ENTRY, z->at, &there, e);
    m->off = z->at;
    if (s != MRS_OK || !there || memcmp(m->head, "PK\1\2", 4) != 0) {
        return s == MRS_OK ? damaged(z, z->at, "no member is listed there", e) : s;
    }
    m->n = le16(m->head + 28);
    m->rest = (size_t)le16(m->head + 30) + le16(m->head + 32);
    m->data = mrs_le32(m->head + 42);
    if (m->n > NAME_MAX_BYTES || ENTRY + m->n + m->rest > z->end - z->at) {
        return damaged(z, z->at, "a name that is too long", e);
    }
    s = get(z, m->name, m->n, z->at + ENTRY, &there, e);
    m->name[there ? m->n : 0] = 0;
    z->at += ENTRY + m->n + m->rest;
    return s == MRS_OK && m->data == UINT32_MAX ? large_offset(z, m, e) : s;
}

static enum mrs_status
check_entry(const struct container_zip *z, const struct container_zip_entry *m, struct mrs_err *e)
{
    MRS_ASSERT(m->n <= NAME_MAX_BYTES);
    uint8_t p[HEAD];
    char name[NAME_MAX_BYTES + 1];
    bool there, unix_mode = m->head[5] == 3;
    uint32_t mode = mrs_le32(m->head + 38), folder = unix_mode ? S_ISDIR(mode >> 16) : (mode & 0x10) != 0;
    enum mrs_status s = get(z, p, HEAD, m->data, &there, e);
    if (s != MRS_OK || !there || memcmp(p, "PK\3\4", 4) != 0) {
        return s == MRS_OK ? damaged(z, m->off, "a place where no member is", e) : s;
    }
    if (le16(p + 26) != m->n) {
        return differs(z, m, "its name", e);
    }
    s = get(z, name, m->n, m->data + HEAD, &there, e);
    if (s != MRS_OK || !there || memcmp(name, m->name, m->n) != 0) {
        return s == MRS_OK ? differs(z, m, "its name", e) : s;
    }
    if (le16(p + 8) != le16(m->head + 10)) {
        return differs(z, m, "how it is packed", e);
    }
    if (!(p[6] & 8) && mrs_le32(p + 14) != mrs_le32(m->head + 16)) {
        return differs(z, m, "its checksum", e);
    }
    return folder && (!m->n || (m->name[m->n - 1] != '/' && m->name[m->n - 1] != '\\'))
               ? damaged(z, m->off, "a folder has the name of a file", e)
               : MRS_OK;
}

bool
mrsi_zip_behind(struct mrs_mem *mem, struct mrsi_source_from *from)
{
    MRS_ASSERT(from->fd >= 0);
    struct container_zip z = {.from = from};
    uint8_t sign[4];
    size_t n = from->bytes < ZIP_END_MOST ? (size_t)from->bytes : ZIP_END_MOST;
    uint8_t *room = n > END ? mrs_alloc(mem, n) : NULL;
    bool there = false;
    uint64_t behind = 0, stub = 0;
    if (room && get(&z, room, n, from->bytes - n, &there, NULL) == MRS_OK && there) {
        there = false;
        for (size_t at = n - END + 1; at-- > 0 && !there;) {
            const uint8_t *p = room + at;
            uint64_t dir_n = mrs_le32(p + 12), dir = mrs_le32(p + 16);
            behind = from->bytes - n + at;
            there = memcmp(p, "PK\5\6", 4) == 0 && at + END + le16(p + 20) == n && dir_n && dir + dir_n <= behind;
            stub = behind - dir_n - dir;
            behind -= dir_n;
        }
    }
    bool is = there && get(&z, sign, sizeof sign, behind, &there, NULL) == MRS_OK && there &&
              memcmp(sign, "PK\1\2", 4) == 0;
    mrs_free(mem, room);
    from->start += is ? stub : 0;
    from->bytes -= is ? stub : 0;
    return is;
}

/* A zip found only from its end begins with a self-extracting program. */
static enum mrs_status
check_begin(const struct container_zip *z, struct mrs_err *e)
{
    char sign[2];
    bool there;
    enum mrs_status s = get(z, sign, sizeof sign, 0, &there, e);
    return s == MRS_OK && there && memcmp(sign, "PK", 2) == 0
               ? not_one(z, 0, "and its directory does not list it", e)
               : s;
}

enum mrs_status
mrsi_zip_check(struct mrs_mem *mem, const struct mrsi_source_from *from, struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0);
    struct container_zip z = {.from = from};
    uint64_t listed = 0;
    struct container_zip_entry *m = mrs_alloc(mem, sizeof *m);
    uint8_t *room = m ? mrs_alloc(mem, ZIP_END_MOST) : NULL;
    enum mrs_status s = room ? find_directory(&z, room, ZIP_END_MOST, e) : mrs_err_memory(e, ZIP_END_MOST);
    while (s == MRS_OK && z.at < z.end) {
        s = read_entry(&z, m, e);
        MRS_THEN(s, check_entry(&z, m, e));
        z.begins = z.begins || m->data == 0;
        listed++;
    }
    /* one may be hidden in the comment of another */
    if (s == MRS_OK && (z.modulo ? listed & 0xffff : listed) != z.declared) {
        s = damaged(&z, z.end, "it lists fewer or more members than its end says", e);
    }
    if (s == MRS_OK && listed && !z.begins) {
        s = check_begin(&z, e);
    }
    mrs_free(mem, room);
    mrs_free(mem, m);
    return s;
}

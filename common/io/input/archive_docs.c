/* SPDX-License-Identifier: Apache-2.0 */
/* archive_docs.c - the documents that describe an archive: header, entries of the prelude, headers of blocks.
 *
 * As strict and as lenient as mongorestore: the header and the prelude may have unknown fields, the header of a block
 * may not; fields may be in any order. Assumptions of mongorestore (names without NUL, no duplicate fields) are checked
 * as well. Nothing is copied: texts point into the document. */
#include "archive.h"
#include <stdio.h>
#include <stdlib.h>

static enum mrs_status
whole(const struct mrsi_frames *f, uint64_t off, struct mrs_view doc, const char *what, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_err own;
    mrs_err_clear(&own);
    enum mrs_status s = mrs_doc_check(doc.p, doc.n, MRS_DEPTH_READ, &own);
    if (s == MRS_DEAD) {
        return mrs_err_memory(e, doc.n);
    }
    return s == MRS_OK ? MRS_OK : mrsi_archive_bad(f, off, NULL, e, "%s is a damaged document: %s", what, own.msg);
}

/* A text without NUL inside. */
static enum mrs_status
text(const struct mrsi_frames *f, uint64_t off, const struct mrs_elem *elem, const char **out, struct mrs_err *e)
{
    uint32_t n;
    if (elem->v.type != MRS_STRING) {
        return mrsi_archive_bad(f, off, NULL, e, "\"%s\" is %s, it must be string", elem->name,
                                mrs_type_name(elem->v.type));
    }
    if (*out) {
        return mrsi_archive_bad(f, off, NULL, e, "\"%s\" occurs twice in one document", elem->name);
    }
    *out = mrs_val_text(elem->v, &n);
    return memchr(*out, 0, n) ? mrsi_archive_bad(f, off, NULL, e, "\"%s\" holds a NUL", elem->name) : MRS_OK;
}

/* "7.0.14", with any suffix: N.N.N. */
static bool
parse_version(const char *version, unsigned long *major, unsigned long *minor)
{
    const char *at = version;
    unsigned long *const to[] = {major, minor, NULL};
    for (size_t i = 0; i < 3; i++) {
        char *end;
        if (*at < '0' || *at > '9') {
            return false;
        }
        unsigned long n = strtoul(at, &end, 10);
        if (to[i]) {
            *to[i] = n;
        }
        if (i < 2 && *end != '.') {
            return false;
        }
        at = end + 1;
    }
    return true;
}

const char *
mrsi_version_wrong(const char *version)
{
    MRS_ASSERT(version);
    unsigned long major, minor;
    return parse_version(version, &major, &minor)
               ? NULL
               : "mongorestore takes no archive whose server version is not like 7.0.14";
}

bool
mrsi_version_has_buckets(const char *version)
{
    MRS_ASSERT(version);
    unsigned long major = 0, minor = 0;
    return !parse_version(version, &major, &minor) || major < 8 || (major == 8 && minor < 3);
}

enum mrs_status
mrsi_archive_head(const struct mrsi_frames *f, uint64_t off, struct mrs_view doc, struct mrsi_archive_head *out,
                  struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_walk w;
    struct mrs_elem elem;
    const char *version = NULL;
    memset(out, 0, sizeof *out);
    enum mrs_status s = whole(f, off, doc, "its head", e);
    if (s != MRS_OK) {
        return s;
    }
    mrs_walk_init(&w, doc);
    while (s == MRS_OK && mrs_walk_next(&w, &elem) > 0) {
        if (strcmp(elem.name, "server_version") == 0) {
            s = text(f, off, &elem, &out->server_version, e);
        } else if (strcmp(elem.name, "tool_version") == 0) {
            s = text(f, off, &elem, &out->tool_version, e);
        } else if (strcmp(elem.name, "version") == 0) {
            s = text(f, off, &elem, &version, e);
        } else if (strcmp(elem.name, "concurrent_collections") == 0 && elem.v.type == MRS_INT32) {
            out->concurrent = mrs_le32(elem.v.p);
        } else if (strcmp(elem.name, "concurrent_collections") == 0) {
            s = mrsi_archive_bad(f, off, NULL, e, "\"concurrent_collections\" is %s, it must be int",
                                 mrs_type_name(elem.v.type));
        }
    }
    out->server_version = out->server_version ? out->server_version : "";
    out->tool_version = out->tool_version ? out->tool_version : "";
    out->concurrent = out->concurrent < 1 || out->concurrent > INT32_MAX ? 1 : out->concurrent;
    const char *wrong = s == MRS_OK ? mrsi_version_wrong(out->server_version) : NULL;
    return wrong ? mrsi_archive_bad(f, off, NULL, e, "\"server_version\" is \"%.60s\": %s; dump again, as a "
                                                     "directory where the server does not report its version",
                                    out->server_version, wrong)
                 : s;
}

/* NULL, or what is wrong with the name of a namespace. */
static const char *
name_wrong(const char *db, const char *coll)
{
    if (!db || !coll) {
        return "it names no \"db\" and \"collection\"";
    }
    if (!*coll) {
        return "its \"collection\" is empty";
    }
    bool oplog = !*db && strcmp(coll, MRSI_ARCHIVE_OPLOG) == 0;
    return oplog ? NULL : mrs_db_wrong(db, strlen(db));
}

enum mrs_status
mrsi_archive_entry(const struct mrsi_frames *f, uint64_t off, struct mrs_view doc, struct mrsi_archive_entry *out,
                   struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_walk w;
    struct mrs_elem elem;
    memset(out, 0, sizeof *out);
    enum mrs_status s = whole(f, off, doc, "an entry of its prelude", e);
    if (s != MRS_OK) {
        return s;
    }
    mrs_walk_init(&w, doc);
    while (s == MRS_OK && mrs_walk_next(&w, &elem) > 0) {
        if (strcmp(elem.name, "db") == 0) {
            s = text(f, off, &elem, &out->db, e);
        } else if (strcmp(elem.name, "collection") == 0) {
            s = text(f, off, &elem, &out->coll, e);
        } else if (strcmp(elem.name, "type") == 0) {
            s = text(f, off, &elem, &out->type, e);
        } else if (strcmp(elem.name, "metadata") == 0) {
            s = text(f, off, &elem, &out->metadata, e);
            out->metadata_n = s == MRS_OK ? (uint32_t)strlen(out->metadata) : 0;
        }
    }
    const char *wrong = s == MRS_OK ? name_wrong(out->db, out->coll) : NULL;
    out->type = out->type ? out->type : "";
    out->metadata = out->metadata ? out->metadata : "";
    return wrong ? mrsi_archive_bad(f, off, NULL, e, "an entry of its prelude is no namespace: %s", wrong) : s;
}

static enum mrs_status
block_field(const struct mrsi_frames *f, uint64_t off, const struct mrs_elem *elem, unsigned *seen,
            struct mrsi_archive_block *out, struct mrs_err *e)
{
    enum { EOF_SEEN = 1, CRC_SEEN = 2 };
    if (strcmp(elem->name, "db") == 0) {
        return text(f, off, elem, &out->db, e);
    }
    if (strcmp(elem->name, "collection") == 0) {
        return text(f, off, elem, &out->coll, e);
    }
    bool eof = strcmp(elem->name, "EOF") == 0;
    if (!eof && strcmp(elem->name, "CRC") != 0) {
        return mrsi_archive_bad(f, off, NULL, e, "the head of a block has an unknown field \"%.60s\"", elem->name);
    }
    uint8_t expected = eof ? MRS_BOOL : MRS_INT64;
    if (elem->v.type != expected) {
        return mrsi_archive_bad(f, off, NULL, e, "\"%s\" is %s, it must be %s", elem->name,
                                mrs_type_name(elem->v.type), mrs_type_name(expected));
    }
    unsigned bit = eof ? EOF_SEEN : CRC_SEEN;
    if (*seen & bit) {
        return mrsi_archive_bad(f, off, NULL, e, "\"%s\" occurs twice in one document", elem->name);
    }
    *seen |= bit;
    if (eof) {
        out->last = elem->v.p[0] != 0;
    } else {
        out->crc = mrs_le64(elem->v.p);
    }
    return MRS_OK;
}

enum mrs_status
mrsi_archive_block(const struct mrsi_frames *f, uint64_t off, struct mrs_view doc, struct mrsi_archive_block *out,
                   struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(doc));
    struct mrs_walk w;
    struct mrs_elem elem;
    unsigned seen = 0;
    memset(out, 0, sizeof *out);
    enum mrs_status s = whole(f, off, doc, "the head of a block", e);
    if (s != MRS_OK) {
        return s;
    }
    mrs_walk_init(&w, doc);
    while (s == MRS_OK && mrs_walk_next(&w, &elem) > 0) {
        s = block_field(f, off, &elem, &seen, out, e);
    }
    out->db = out->db ? out->db : "";
    out->coll = out->coll ? out->coll : "";
    return s == MRS_OK && !*out->coll
               ? mrsi_archive_bad(f, off, NULL, e, "the head of a block names no collection (documents without one?)")
               : s;
}

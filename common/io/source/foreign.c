/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.c - recognizes by its first bytes the format of a file that was given as documents of a collection but
 * contains none.
 *
 * Called only if they cannot be BSON, or reading has failed: other formats may also begin with a possible length of a
 * first document. */
#include "source.h"

static const struct {
    const char *bytes;
    size_t n;
    const char *what;
} MAGIC[] = {
    {"\x1f\x8b\x08", 3, "gzip inside another packing: unpack it once"},
    {"\x28\xb5\x2f\xfd", 4, "zstd inside another packing: unpack it once"},
    {"SQLite format 3", 15, "a SQLite database"},
    {"Rar!\x1a\x07", 6, "a rar archive: unpack it first"},
    {"7z\xbc\xaf\x27\x1c", 6, "a 7z archive: unpack it first"},
    {"PK\x03\x04", 4, "a zip archive inside another packing: unpack it once"},
    {"Salted__", 8, "encrypted (openssl enc): decrypt it first"},
    {"age-encryption.org", 18, "encrypted (age): decrypt it first"},
    {"-----BEGIN PGP", 14, "encrypted (PGP): decrypt it first"},
    {"%PDF-", 5, "a PDF"},
    {"\x41\xd8\x01\x00", 4, "a file of WiredTiger, in which a mongod keeps its data: give what mongodump writes"},
    {"PAR1", 4, "a Parquet file"},
    {"Obj\x01", 4, "an Avro file"},
    {"PGDMP", 5, "a dump of PostgreSQL"},
    {"<?xml", 5, "XML"},
    {"\xfe\xff", 2, "text in UTF-16"},
};

static bool
is_text(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((p[i] < 0x20 && !memchr("\t\r\n\f", p[i], 4)) || p[i] == 0x7f) {
            return false;
        }
    }
    return n >= 4;
}

const char *
mrsi_foreign(const uint8_t *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    n = n < 512 ? n : 512;
    for (size_t i = 0; i < sizeof MAGIC / sizeof *MAGIC; i++) {
        if (n >= MAGIC[i].n && memcmp(p, MAGIC[i].bytes, MAGIC[i].n) == 0) {
            return MAGIC[i].what;
        }
    }
    if (n >= 8 && p[0] == 0xff && p[1] == 0xfe && !p[3] && !p[5] && !p[7]) {
        return "text in UTF-16";
    }
    size_t at = n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (!is_text(p + at, n - at)) {
        return NULL;
    }
    for (; at < n && memchr(" \t\r\n", p[at], 4); at++) {
    }
    return at < n && (p[at] == '{' || p[at] == '[') ? "JSON text, as mongoexport writes it: give what mongodump writes"
                                                    : "text (CSV?): give what mongodump writes";
}

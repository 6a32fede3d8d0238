/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - converts names of collections to file names, and back.
 *
 * mongodump writes names as HTML forms do (a space is `+`, other odd bytes are %XX) and shortens a name that does not
 * fit 255 bytes with the longest suffix: 208 bytes of the escaped name, %24, and a SHA-1 of the full name. A shortened
 * name cannot be converted back; the metadata file has the full name. Names of databases are folder names as they are.
 * Must not open files. */
#include "file.h"

#define CUT_AT 208u
#define CUT_MARK "%24"

static bool
ends_with(const char *name, size_t n, const char *suffix)
{
    size_t k = strlen(suffix);
    return n > k && memcmp(name + n - k, suffix, k) == 0;
}

struct mrsi_file_name
mrsi_file_name(const char *name)
{
    MRS_ASSERT(name);
    static const struct {
        const char *suffix;
        enum mrsi_file_kind kind;
    } kinds[] = {
        {".metadata.json", MRSI_FILE_META}, {".bson", MRSI_FILE_DATA}, {".bin", MRSI_FILE_DATA}};
    size_t n = strlen(name);
    for (int twice = 0; twice < 2; twice++) { /* compressing a folder that was dumped compressed makes .gz.gz */
        n -= ends_with(name, n, ".gz") ? 3 : ends_with(name, n, ".zst") ? 4 : 0;
    }
    struct mrsi_file_name f = {MRSI_FILE_OTHER, n, n};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (ends_with(name, n, kinds[i].suffix)) {
            f.kind = kinds[i].kind;
            f.stem_n = n - strlen(kinds[i].suffix);
            break;
        }
    }
    return f;
}

static bool
is_literal(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

static void
put_hash(const char *coll, size_t n, char *at)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t h[21];
    mrsi_sha1(coll, n, h);
    h[20] = 0; /* the last group has two bytes: 27 digits, no padding */
    for (size_t i = 0; i < 27; i++) {
        size_t bit = i * 6, byte = bit / 8;
        uint32_t two = (uint32_t)h[byte] << 8 | (byte + 1 < sizeof h ? h[byte + 1] : 0u);
        at[i] = digits[two >> (10 - bit % 8) & 63];
    }
}

size_t
mrsi_name_escape(const char *coll, size_t n, char stem[MRSI_STEM_MAX + 1])
{
    MRS_ASSERT(coll || n == 0);
    static const char hex[] = "0123456789ABCDEF";
    size_t full = 0; /* length without the cut */
    for (size_t i = 0; i < n; i++) {
        uint8_t c = (uint8_t)coll[i];
        char part[3] = {c == ' ' ? '+' : (char)c, 0, 0};
        size_t k = 1;
        if (!is_literal(c) && c != ' ') {
            part[0] = '%';
            part[1] = hex[c >> 4];
            part[2] = hex[c & 15];
            k = 3;
        }
        for (size_t j = 0; j < k; j++, full++) {
            if (full < MRSI_STEM_MAX) {
                stem[full] = part[j];
            }
        }
    }
    if (full > MRSI_STEM_MAX) {
        memcpy(stem + CUT_AT, CUT_MARK, 3);
        put_hash(coll, n, stem + CUT_AT + 3);
        full = MRSI_STEM_MAX;
    }
    stem[full] = 0;
    return full;
}

bool
mrs_name_is_long(const char *coll)
{
    char stem[MRSI_STEM_MAX + 1];
    return mrsi_name_is_cut(stem, mrsi_name_escape(coll, strlen(coll), stem));
}

bool
mrsi_name_is_cut(const char *stem, size_t n)
{
    MRS_ASSERT(n <= MRSI_STEM_MAX || stem);
    return n == MRSI_STEM_MAX && memmem(stem, n, CUT_MARK, 3) != NULL;
}

static int
hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

enum mrs_status
mrsi_name_unescape(struct mrs_arena *a, const char *stem, size_t n, const char **coll,
                   struct mrs_err *e)
{
    MRS_ASSERT(stem && coll);
    char *out = mrs_arena_alloc(a, n + 1);
    size_t k = 0;
    MRS_TRY(mrs_allocated(out, n + 1, e));
    for (size_t i = 0; i < n; i++) {
        if (stem[i] != '%') {
            out[k++] = stem[i] == '+' ? ' ' : stem[i];
            continue;
        }
        int hi = i + 2 < n ? hex_digit(stem[i + 1]) : -1;
        int lo = i + 2 < n ? hex_digit(stem[i + 2]) : -1;
        if (hi < 0 || lo < 0) {
            return MRSI_FAIL(e, MRS_E_FORMAT, "'%.3s' in a file name is no %%XX escape", stem + i);
        }
        if (hi == 0 && lo == 0) {
            return MRSI_FAIL(e, MRS_E_FORMAT, "a file name with %%00 in it names no collection");
        }
        out[k++] = (char)(hi << 4 | lo);
        i += 2;
    }
    if (k == 0) {
        return MRSI_FAIL(e, MRS_E_FORMAT, "a collection without a name");
    }
    out[k] = 0;
    *coll = out;
    return MRS_OK;
}

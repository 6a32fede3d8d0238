/* SPDX-License-Identifier: Apache-2.0 */
/* scalar.c - resolves plain YAML scalars by the core schema of YAML 1.2; of its words only `true`, `false`, `null` and
 * `~`.
 *
 * The schema's `True`, `NULL` and similar words stay strings, as do `no` and `on`: a plan that moves data must not
 * guess. Integers become int32 if they fit, else int64; larger ones are an error and never silently a double. Knows
 * neither positions nor keys. */
#include "scalar.h"

#include "mongoreshape/doc.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>

static bool
is(const char *text, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(text, word, n) == 0;
}

static bool
digits(const char *text, size_t n, size_t *at)
{
    size_t from = *at;
    while (*at < n && text[*at] >= '0' && text[*at] <= '9') {
        ++*at;
    }
    return *at > from;
}

/* [-+]?[0-9]+, 0o[0-7]+ or 0x[0-9a-fA-F]+; *base of the digits, which begin at *first. */
static bool
is_integer(const char *text, size_t n, int *base, size_t *first)
{
    MRS_ASSERT(text || n == 0);
    *base = n > 2 && text[0] == '0' && text[1] == 'o'   ? 8
            : n > 2 && text[0] == '0' && text[1] == 'x' ? 16
                                                        : 10;
    if (*base == 10) {
        *first = n > 0 && (text[0] == '-' || text[0] == '+');
        size_t at = *first;
        return digits(text, n, &at) && at == n;
    }
    *first = 2;
    for (size_t i = 2; i < n; i++) {
        char c = text[i];
        bool digit =
            *base == 8 ? c >= '0' && c <= '7'
                       : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (!digit) {
            return false;
        }
    }
    return true;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool
is_float(const char *text, size_t n)
{
    MRS_ASSERT(text || n == 0);
    size_t at = n > 0 && (text[0] == '-' || text[0] == '+');
    bool before = digits(text, n, &at);
    if (at < n && text[at] == '.') {
        at++;
        if (!digits(text, n, &at) && !before) {
            return false;
        }
    } else if (!before) {
        return false;
    }
    if (at < n && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        at += at < n && (text[at] == '-' || text[at] == '+');
        return digits(text, n, &at) && at == n;
    }
    return at == n;
}

static bool
infinity(const char *text, size_t n, double *out)
{
    size_t sign = n > 0 && (text[0] == '-' || text[0] == '+');
    if (is(text + sign, n - sign, ".inf") || is(text + sign, n - sign, ".Inf") ||
        is(text + sign, n - sign, ".INF")) {
        *out = text[0] == '-' ? -__builtin_inf() : __builtin_inf();
        return true;
    }
    if (is(text, n, ".nan") || is(text, n, ".NaN") || is(text, n, ".NAN")) {
        *out = __builtin_nan("");
        return true;
    }
    return false;
}

static enum mrsi_scalar
read_integer(const char *text, size_t n, int base, size_t first, struct mrsi_scalar_room *room)
{
    MRS_ASSERT(first <= n && (base == 8 || base == 10 || base == 16));
    uint64_t magnitude = 0;
    bool negative = text[0] == '-';
    for (size_t i = first; i < n; i++) {
        char c = text[i];
        unsigned digit = (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        if (__builtin_mul_overflow(magnitude, (uint64_t)base, &magnitude) ||
            __builtin_add_overflow(magnitude, digit, &magnitude)) {
            return MRSI_SCALAR_TOO_LARGE;
        }
    }
    if (magnitude > (uint64_t)INT64_MAX + negative) {
        return MRSI_SCALAR_TOO_LARGE;
    }
    int64_t v = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    room->val = v >= INT32_MIN && v <= INT32_MAX ? mrs_make_i32(room->bytes, (int32_t)v)
                                                 : mrs_make_i64(room->bytes, v, MRS_INT64);
    return MRSI_SCALAR_VALUE;
}

/* text has a NUL after its n bytes. Uses the C locale: with a decimal comma, 1.5 would become 1. */
static enum mrsi_scalar
real(const char *text, struct mrsi_scalar_room *room)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) {
        return MRSI_SCALAR_NO_MEMORY;
    }
    double d = strtod_l(text, NULL, c);
    freelocale(c);
    if (__builtin_isinf(d)) {
        return MRSI_SCALAR_TOO_LARGE;
    }
    room->val = mrs_make_double(room->bytes, d);
    return MRSI_SCALAR_VALUE;
}

static enum mrsi_scalar
number(const char *text, size_t n, bool whole_allowed, struct mrsi_scalar_room *room)
{
    MRS_ASSERT(text || n == 0);
    int base;
    size_t first;
    double d;
    if (whole_allowed && is_integer(text, n, &base, &first)) {
        return read_integer(text, n, base, first, room);
    }
    if (is_float(text, n)) {
        return real(text, room);
    }
    if (infinity(text, n, &d)) {
        room->val = mrs_make_double(room->bytes, d);
        return MRSI_SCALAR_VALUE;
    }
    return MRSI_SCALAR_TEXT;
}

enum mrsi_scalar
mrsi_scalar_plain(const char *text, size_t n, struct mrsi_scalar_room *room)
{
    MRS_ASSERT(text || n == 0);
    if (n == 0 || is(text, n, "null") || is(text, n, "~")) {
        room->val = mrs_null();
        return MRSI_SCALAR_VALUE;
    }
    if (is(text, n, "true") || is(text, n, "false")) {
        room->val = mrs_make_bool(room->bytes, text[0] == 't');
        return MRSI_SCALAR_VALUE;
    }
    return strchr("+-.0123456789", text[0]) ? number(text, n, true, room) : MRSI_SCALAR_TEXT;
}

enum mrsi_scalar
mrsi_scalar_tagged(const char *tag, const char *text, size_t n, struct mrsi_scalar_room *room)
{
    MRS_ASSERT(tag && (text || n == 0));
    static const char core[] = "tag:yaml.org,2002:";
    if (strncmp(tag, core, sizeof core - 1) != 0) {
        return MRSI_SCALAR_BAD_TAG;
    }
    const char *type = tag + sizeof core - 1;
    if (strcmp(type, "str") == 0) {
        return MRSI_SCALAR_TEXT;
    }
    if (strcmp(type, "float") == 0) {
        enum mrsi_scalar s = number(text, n, false, room);
        return s == MRSI_SCALAR_TEXT ? MRSI_SCALAR_BAD_TAG : s;
    }
    uint8_t expected = strcmp(type, "null") == 0   ? MRS_NULL
                       : strcmp(type, "bool") == 0 ? MRS_BOOL
                                                   : MRS_INT32;
    if (expected == MRS_INT32 && strcmp(type, "int") != 0) {
        return MRSI_SCALAR_BAD_TAG;
    }
    enum mrsi_scalar s = mrsi_scalar_plain(text, n, room);
    if (s != MRSI_SCALAR_VALUE) {
        return s == MRSI_SCALAR_TEXT ? MRSI_SCALAR_BAD_TAG : s;
    }
    bool fits = room->val.type == expected || (expected == MRS_INT32 && room->val.type == MRS_INT64);
    return fits ? s : MRSI_SCALAR_BAD_TAG;
}

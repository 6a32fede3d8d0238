/* SPDX-License-Identifier: Apache-2.0 */
/* nasty.h - random values that are as unpleasant as BSON allows, from a seed, for the tests of this room. */
#ifndef NASTY_H
#define NASTY_H

#include "mongoreshape/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the five above first */
#include <cmocka.h>

static uint64_t nasty_state = 88172645463325252u;
/* nothing that JSON cannot hold: bad UTF-8, NaN payloads, decimals that are not canonical, keys with a dollar */
static bool nasty_clean;

static inline uint64_t
nasty_u64(void)
{
    nasty_state ^= nasty_state << 13;
    nasty_state ^= nasty_state >> 7;
    nasty_state ^= nasty_state << 17;
    return nasty_state;
}

static inline uint32_t
nasty_below(uint32_t n)
{
    return (uint32_t)((nasty_u64() >> 20) % n);
}

static inline void
nasty_decimal(uint8_t out[16])
{
    static const char *const text[] = {"0", "-0", "0E+3", "0E-6176", "1", "1.0", "1.00", "10E-1", "-1", "0.1",
                                       "0.10", "-0.1", "0.5",
                                       "9007199254740992", "9007199254740993", "9007199254740993.0",
                                           "9007199254740992.5",
                                       "9223372036854775807", "9223372036854775808", "-9223372036854775808",
                                           "-9223372036854775809",
                                       "9223372036854775806.999", "1E-6176", "-1E-6176",
                                           "9.999999999999999999999999999999999E+6144",
                                       "-9.999999999999999999999999999999999E+6144", "NaN", "Infinity", "-Infinity",
                                           "1E+308", "1E+309",
                                       "-1E+309", "4.9406564584124654E-324", "4.9406564584124655E-324", "-1E-400",
                                           "1E-400",
                                       "0.1000000000000000055511151231257827",
                                           "0.1000000000000000055511151231257828", "3", "2147483648"};
    if (nasty_below(4)) {
        const char *t = text[nasty_below(sizeof text / sizeof text[0])];
        assert_int_equal(mrs_decimal_from_text(t, (uint32_t)strlen(t), true, out, NULL), MRS_OK);
    } else if (nasty_clean || nasty_below(2)) {
        char t[64];
        int n = snprintf(t, sizeof t, "%llu.%uE%d", (unsigned long long)(nasty_u64() >> nasty_below(64)),
                         nasty_below(100),
                         (int)nasty_below(40) - 20);
        assert_int_equal(mrs_decimal_from_text(t, (uint32_t)n, true, out, NULL), MRS_OK);
    } else {
        mrs_put64(out, nasty_u64());
        mrs_put64(out + 8, nasty_u64());
    }
}

static inline double
nasty_double(void)
{
    static const double d[] = {0.0, -0.0, 1, -1, 0.1, 0.5, -0.5, 1.5, 3, 5e-324, -5e-324, 1e308, -1e308,
                               9007199254740992.0, 9007199254740994.0,
                               9223372036854775808.0, -9223372036854775808.0, 9223372036854774784.0, 2147483647,
                                   2147483648.0,
                               __builtin_inf(), -__builtin_inf(), __builtin_nan(""), 1.7976931348623157e308,
                                   2.2250738585072014e-308};
    if (nasty_below(3)) {
        return d[nasty_below(sizeof d / sizeof d[0])];
    }
    uint64_t u = nasty_u64();
    double x;
    memcpy(&x, &u, 8);
    return nasty_clean && x != x ? 0.25 : x;
}

static inline int64_t
nasty_i64(void)
{
    static const int64_t v[] = {0, 1, -1, 3, 2147483647, 2147483648, 9007199254740991, 9007199254740992,
                                9007199254740993, 9007199254740994,
                                -9007199254740993, INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1,
                                    9223372036854774784};
    if (nasty_below(3)) {
        return v[nasty_below(sizeof v / sizeof v[0])];
    }
    return (int64_t)(nasty_u64() >> nasty_below(64)) * (nasty_below(2) ? 1 : -1);
}

static inline uint32_t
nasty_bytes(uint8_t *p, uint32_t most)
{
    static const uint8_t byte[] = {0, 0, 1, 'a', 'b', 0xff, 0xfe, 0x7f, 0xc3, 0xa9};
    uint32_t n = nasty_below(most + 1);
    for (uint32_t i = 0; i < n; i++) {
        p[i] = byte[nasty_below(sizeof byte)];
    }
    return n;
}

static inline struct mrs_val
nasty_text(uint8_t room[64], uint8_t type)
{
    static const char *const clean[] = {"", "a", "caf\xc3\xa9", "\"\\/\b\f\n\r\t", "\x01\x1f\x7f",
                                        "\xf0\x9f\x98\x80", "\xe2\x82\xac z"};
    const char *text = clean[nasty_below(7)];
    uint32_t n = nasty_clean ? (uint32_t)strlen(text) : nasty_bytes(room + 4, 6);
    if (nasty_clean) {
        memcpy(room + 4, text, n);
    }
    mrs_put32(room, n + 1);
    room[4 + n] = 0;
    struct mrs_val v = {room, n + 5, type};
    return v;
}

static inline uint32_t
nasty_name(char name[16])
{
    static const char letter[] = "ab$.\xc3\xa9";
    uint32_t n = nasty_below(4);
    for (uint32_t i = 0; i < n; i++) {
        name[i] = letter[nasty_below(nasty_clean ? 2 : 6)];
    }
    name[n] = 0;
    return n;
}

/* A value that holds no document. room: 64 bytes. */
static inline struct mrs_val
nasty_scalar(uint8_t room[64])
{
    static const uint8_t types[] = {MRS_DOUBLE, MRS_DOUBLE, MRS_INT32, MRS_INT32, MRS_INT64, MRS_INT64,
                                    MRS_DECIMAL128, MRS_DECIMAL128, MRS_STRING,
                                    MRS_STRING, MRS_SYMBOL, MRS_BINARY, MRS_UNDEFINED, MRS_OBJECTID, MRS_BOOL,
                                        MRS_DATE, MRS_NULL, MRS_REGEX,
                                    MRS_DBPOINTER, MRS_CODE, MRS_TIMESTAMP, MRS_MINKEY, MRS_MAXKEY};
    struct mrs_val v = {room, 0, types[nasty_below(sizeof types)]};
    uint32_t n;
    switch (v.type) {
    case MRS_DOUBLE:
        return mrs_make_double(room, nasty_double());
    case MRS_INT32:
        return mrs_make_i32(room, (int32_t)nasty_i64());
    case MRS_INT64:
    case MRS_DATE:
    case MRS_TIMESTAMP:
        return mrs_make_i64(room, nasty_i64(), v.type);
    case MRS_DECIMAL128:
        nasty_decimal(room);
        v.n = 16;
        return v;
    case MRS_STRING:
    case MRS_SYMBOL:
    case MRS_CODE:
        return nasty_text(room, v.type);
    case MRS_BINARY:
        n = nasty_bytes(room + 5, 4);
        mrs_put32(room, n);
        room[4] = (uint8_t)nasty_below(nasty_clean ? 2 : 3); /* 2 holds a length of its own */
        v.n = 5 + n;
        return v;
    case MRS_OBJECTID:
        memset(room, 0, 12);
        room[nasty_below(12)] = (uint8_t)nasty_below(3);
        v.n = 12;
        return v;
    case MRS_BOOL:
        return mrs_make_bool(room, nasty_below(2));
    case MRS_REGEX:
        n = nasty_name((char *)room) + 1;
        if (nasty_clean) {
            memcpy(room + n, "im", 3); /* libbson drops options it does not know */
            v.n = n + 3;
        } else {
            v.n = n + nasty_name((char *)room + n) + 1;
        }
        return v;
    case MRS_DBPOINTER:
        v = nasty_text(room, MRS_DBPOINTER);
        memset(room + v.n, (int)nasty_below(2), 12);
        v.n += 12;
        return v;
    default:
        return v;
    }
}

/* Fills the document or array that b has open. depth: how many levels more it may hold. Arrays have any names
 * unless nasty_clean. */
static inline void
nasty_fill(struct mrs_build *b, int depth, uint32_t most, bool array)
{
    uint32_t n = nasty_below(most + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t room[64];
        char name[16];
        uint32_t len = array && nasty_clean ? mrs_index_name(name, i) : nasty_name(name);
        if (depth > 0 && nasty_below(3) == 0) {
            bool sub = nasty_below(2);
            mrs_build_open(b, name, len, sub ? MRS_ARRAY : MRS_DOCUMENT);
            nasty_fill(b, depth - 1, most, sub);
            mrs_build_close(b);
        } else {
            mrs_build_val(b, name, len, nasty_scalar(room));
        }
    }
}

/* A random document at the end of buf. */
static inline struct mrs_view
nasty_document(struct mrs_buf *buf, int depth, uint32_t most)
{
    struct mrs_build b;
    struct mrs_view d;
    mrs_build_init(&b, buf);
    nasty_fill(&b, depth, most, false);
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    return d;
}

#endif

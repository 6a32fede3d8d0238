/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.h - the interface to libintelrdfpmath (decimal128 in BID form, as BSON stores it).
 *
 * The variant linked is "000": arguments by value, rounding mode and exception flags as parameters. Shared with
 * common/expr, which calls the library's arithmetic (__bid128_add ...) on results of mrsi_dec_load. */
#ifndef MRS_DOC_DECIMAL_H
#define MRS_DOC_DECIMAL_H

#include "mongoreshape/doc.h"

#define DECIMAL_CALL_BY_REFERENCE 0
#define DECIMAL_GLOBAL_ROUNDING 0
#define DECIMAL_GLOBAL_EXCEPTION_FLAGS 0
#include <bid_conf.h>
#include <bid_functions.h>

/* Rounding modes and flags under our own names. */
enum {
    MRSI_DEC_EVEN = 0,
    MRSI_DEC_DOWN = 1, /* towards minus infinity */
    MRSI_DEC_UP = 2,
    MRSI_DEC_ZERO = 3,
    MRSI_DEC_AWAY = 4, /* ties away from zero */
    MRSI_DEC_INVALID = 0x01,
    MRSI_DEC_DIVIDE_BY_ZERO = 0x04,
    MRSI_DEC_OVERFLOW = 0x08,
    MRSI_DEC_UNDERFLOW = 0x10,
    MRSI_DEC_INEXACT = 0x20
};

#define MRSI_DEC_DIGITS 34
#define MRSI_DEC_EXP_MIN (-6176)
#define MRSI_DEC_EXP_MAX 6111

typedef unsigned __int128 mrsi_u128;

static inline BID_UINT128
mrsi_dec_load(const uint8_t p[16])
{
    BID_UINT128 d;
    d.w[0] = mrs_le64(p);
    d.w[1] = mrs_le64(p + 8);
    return d;
}

static inline void
mrsi_dec_store(uint8_t p[16], BID_UINT128 d)
{
    mrs_put64(p, d.w[0]);
    mrs_put64(p + 8, d.w[1]);
}

/* The parts of a decimal: (-1)^negative * coef * 10^exp. Encodings that the standard calls not canonical are zero. */
struct mrsi_dec {
    mrsi_u128 coef;
    int exp;
    bool negative, nan, infinite;
};
struct mrsi_dec mrsi_dec_parts(const uint8_t p[16]);
/* coef < 10^34, exp in range, not NaN and not infinite. */
void mrsi_dec_pack(const struct mrsi_dec *d, uint8_t out[16]);
/* Number of digits of coef; 0 has none. */
int mrsi_dec_digits(mrsi_u128 coef);
/* 10^n, n <= 38. */
mrsi_u128 mrsi_pow10(int n);

/* The largest double that is not above the decimal (minus infinity below -DBL_MAX); *exact: it equals the decimal. Not
 * for NaN. */
double mrsi_dec_floor(const uint8_t p[16], bool *exact);
/* Exact: every int64 has at most 19 digits. */
void mrsi_dec_from_i64(int64_t v, uint8_t out[16]);
/* Order of two decimals by value, NaN below everything and equal to itself. */
int mrsi_dec_compare(const uint8_t a[16], const uint8_t b[16]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* number.c - the four types of numbers: which is wider, and conversions between them.
 *
 * The rules are the server's: int32 widens to int64, int64 to double, anything to decimal; a double enters decimal
 * arithmetic with 15 significant digits, including trailing zeros, although 17 would represent it exactly. Decimal
 * arithmetic is in common/doc/decimal.h. */
#include "expr_internal.h"
#include "doc/decimal.h"
#include <math.h>

bool
mrsi_decimal_is_zero(const uint8_t dec[16])
{
    struct mrsi_dec d = mrsi_dec_parts(dec);
    return !d.nan && !d.infinite && d.coef == 0;
}

bool
mrsi_is_integer(struct mrs_val v, int64_t *whole)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (v.type == MRS_INT32) {
        *whole = mrs_val_i32(v);
    } else if (v.type == MRS_INT64) {
        *whole = mrs_val_i64(v);
    }
    return v.type == MRS_INT32 || v.type == MRS_INT64;
}

void
mrsi_double_to_decimal(double d, uint8_t dec[16])
{
    unsigned int flags = 0;
    struct mrsi_dec zero = {.negative = signbit(d)};
    if (d == 0) {
        mrsi_dec_pack(&zero, dec);
        return;
    }
    BID_UINT128 exact = __binary64_to_bid128(d, MRSI_DEC_EVEN, &flags);
    mrsi_dec_store(dec, exact);
    struct mrsi_dec parts = mrsi_dec_parts(dec);
    /* twice: rounding 9.99... up gives a digit more */
    for (int pass = 0; pass < 2 && !parts.nan && !parts.infinite; pass++) {
        uint8_t unit_bytes[16];
        struct mrsi_dec unit = {.coef = 1, .exp = parts.exp + mrsi_dec_digits(parts.coef) - 15};
        mrsi_dec_pack(&unit, unit_bytes);
        exact = __bid128_quantize(exact, mrsi_dec_load(unit_bytes), MRSI_DEC_EVEN, &flags);
        mrsi_dec_store(dec, exact);
        parts = mrsi_dec_parts(dec);
    }
}

enum mrs_status
mrsi_to_decimal(struct mrs_val v, uint8_t dec[16])
{
    MRS_ASSERT(mrs_is_number(v));
    int64_t whole;
    if (v.type == MRS_DECIMAL128) {
        memcpy(dec, v.p, 16);
    } else if (v.type == MRS_DOUBLE) {
        mrsi_double_to_decimal(mrs_val_double(v), dec);
    } else if (mrsi_is_integer(v, &whole)) {
        mrsi_dec_store(dec, __bid128_from_int64(whole));
    } else {
        return MRS_FAIL;
    }
    return MRS_OK;
}

double
mrsi_to_double(struct mrs_val v)
{
    MRS_ASSERT(mrs_is_number(v));
    int64_t whole;
    if (v.type == MRS_DECIMAL128) {
        unsigned int flags = 0;
        return __bid128_to_binary64(mrsi_dec_load(v.p), MRSI_DEC_EVEN, &flags);
    }
    if (v.type == MRS_DOUBLE) {
        return mrs_val_double(v);
    }
    return mrsi_is_integer(v, &whole) ? (double)whole : 0;
}

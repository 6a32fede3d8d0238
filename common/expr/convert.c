/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - the conversions of $convert between numbers, dates, ids, booleans and text.
 *
 * A conversion fails in one of two ways: the value cannot be converted (SKIP here: onError catches it), or the request
 * is invalid (FAIL). Doubles are truncated, and must be in range before that; decimals are truncated first. int32 does
 * not convert to a date. */
#include "convert.h"
#include "doc/decimal.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum mrs_status
mrsi_convert_refuse(struct mrsi_convert *cv, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(cv->why, sizeof cv->why, fmt, args);
    va_end(args);
    return MRS_SKIP;
}

static enum mrs_status
impossible(struct mrsi_convert *cv, struct mrs_val v)
{
    return mrsi_convert_refuse(cv, "cannot convert %s to %s", mrs_type_name(v.type), mrs_type_name(cv->to));
}

static enum mrs_status
out_of_range(struct mrsi_convert *cv)
{
    return mrsi_convert_refuse(cv, "the number is out of the range of %s", mrs_type_name(cv->to));
}

/* Text for a message: short, printable. */
static enum mrs_status
bad_text(struct mrsi_convert *cv, struct mrsi_text t)
{
    char shown[41];
    uint32_t n = t.n < 40 ? t.n : 40;
    for (uint32_t i = 0; i < n; i++) {
        shown[i] = t.p[i] >= ' ' && t.p[i] < 127 ? t.p[i] : '?';
    }
    shown[n] = 0;
    bool counted = cv->to == MRS_DATE && n > 8 && n == t.n && strspn(shown, "0123456789") == n;
    return mrsi_convert_refuse(cv, "the text '%s' is no %s%s", shown, mrs_type_name(cv->to),
                               counted ? ": make a long of digits first" : "");
}

/* ---- whole numbers ---- */

/* A double or a decimal, truncated to a whole number; false: out of range. int32: the range of a double before
 * truncation. */
static bool
cut(struct mrs_val v, bool int32, int64_t *whole)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (v.type == MRS_DOUBLE) {
        double d = mrs_val_double(v);
        if (int32 ? !(d >= INT32_MIN && d <= INT32_MAX) : !(d >= -0x1p63 && d < 0x1p63)) {
            return false;
        }
        *whole = (int64_t)d;
        return true;
    }
    unsigned int flags = 0;
    *whole = __bid128_to_int64_int(mrsi_dec_load(v.p), &flags);
    return !(flags & MRSI_DEC_INVALID);
}

static enum mrs_status
to_whole(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(cv->to == MRS_INT32 || cv->to == MRS_INT64);
    bool int32 = cv->to == MRS_INT32;
    int64_t whole = 0;
    switch (v.type) {
    case MRS_INT32:
    case MRS_INT64:
        mrsi_is_integer(v, &whole);
        break;
    case MRS_BOOL:
        whole = v.p[0];
        break;
    case MRS_DOUBLE:
    case MRS_DECIMAL128:
        if (!cut(v, int32, &whole)) {
            return out_of_range(cv);
        }
        break;
    case MRS_STRING:
        if (!mrsi_whole_from_text(mrsi_text_of(v), cv->base ? cv->base : 10, &whole)) {
            return bad_text(cv, mrsi_text_of(v));
        }
        break;
    case MRS_DATE:
        if (int32) {
            return impossible(cv, v);
        }
        whole = mrs_val_i64(v);
        break;
    case MRS_BINARY:
        return mrsi_binary_to_number(cv, v, out);
    default:
        return impossible(cv, v);
    }
    if (!int32) {
        return mrsi_ret_i64(cv->ev, whole, out);
    }
    return whole >= INT32_MIN && whole <= INT32_MAX ? mrsi_ret_i32(cv->ev, (int32_t)whole, out) : out_of_range(cv);
}

/* ---- doubles and decimals ---- */

static enum mrs_status
text_to_double(struct mrsi_convert *cv, struct mrsi_text t, struct mrs_val *out)
{
    char *end;
    bool blank = t.n == 0 || t.p[0] <= ' ';
    bool bare_hex = t.n > 1 && t.p[0] == '0' && t.p[1] == 'x';
    if (blank || bare_hex || memchr(t.p, '(', t.n)) {
        return bad_text(cv, t);
    }
    errno = 0;
    double d = strtod(t.p, &end);
    if (end != t.p + t.n) {
        return bad_text(cv, t);
    }
    return errno == ERANGE ? out_of_range(cv) : mrsi_ret_double(cv->ev, d, out);
}

static enum mrs_status
to_double(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    unsigned int flags = 0;
    int64_t whole;
    double d;
    switch (v.type) {
    case MRS_INT32:
    case MRS_INT64:
        return mrsi_ret_double(cv->ev, mrsi_to_double(v), out);
    case MRS_BOOL:
        return mrsi_ret_double(cv->ev, v.p[0], out);
    case MRS_DECIMAL128:
        d = __bid128_to_binary64(mrsi_dec_load(v.p), MRSI_DEC_EVEN, &flags);
        return flags & MRSI_DEC_OVERFLOW ? out_of_range(cv) : mrsi_ret_double(cv->ev, d, out);
    case MRS_STRING:
        if (!cv->base) {
            return text_to_double(cv, mrsi_text_of(v), out);
        }
        return mrsi_whole_from_text(mrsi_text_of(v), cv->base, &whole) ? mrsi_ret_double(cv->ev, (double)whole, out)
                                                                       : bad_text(cv, mrsi_text_of(v));
    case MRS_DATE:
        return mrsi_ret_double(cv->ev, (double)mrs_val_i64(v), out);
    case MRS_BINARY:
        return mrsi_binary_to_number(cv, v, out);
    default:
        return impossible(cv, v);
    }
}

static enum mrs_status
to_decimal(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    uint8_t dec[16];
    int64_t whole;
    struct mrsi_text t;
    switch (v.type) {
    case MRS_INT32:
    case MRS_INT64:
    case MRS_DOUBLE:
        mrsi_to_decimal(v, dec);
        break;
    case MRS_BOOL:
        mrsi_dec_from_i64(v.p[0], dec);
        break;
    case MRS_DATE:
        mrsi_dec_from_i64(mrs_val_i64(v), dec);
        break;
    case MRS_STRING:
        t = mrsi_text_of(v);
        if (cv->base) {
            if (!mrsi_whole_from_text(t, cv->base, &whole)) {
                return bad_text(cv, t);
            }
            mrsi_dec_from_i64(whole, dec);
        } else if (mrs_decimal_from_text(t.p, t.n, false, dec, NULL) != MRS_OK) {
            return bad_text(cv, t);
        }
        break;
    default:
        return impossible(cv, v);
    }
    return mrsi_ret_decimal(cv->ev, dec, out);
}

/* ---- dates, ids, text ---- */

static enum mrs_status
to_date(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    int64_t ms;
    struct mrsi_text t;
    switch (v.type) {
    case MRS_INT64:
        ms = mrs_val_i64(v);
        break;
    case MRS_DOUBLE:
    case MRS_DECIMAL128:
        if (!cut(v, false, &ms)) {
            return out_of_range(cv);
        }
        break;
    case MRS_STRING:
        t = mrsi_text_of(v);
        if (!mrsi_date_from_text(t.p, t.n, &ms)) {
            return bad_text(cv, t);
        }
        break;
    default:
        if (!mrsi_to_date(v, &ms)) {
            return impossible(cv, v);
        }
    }
    return mrsi_ret_date(cv->ev, ms, out);
}

static enum mrs_status
to_object_id(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    uint8_t oid[12];
    if (v.type != MRS_STRING) {
        return impossible(cv, v);
    }
    struct mrsi_text t = mrsi_text_of(v);
    for (uint32_t i = 0; i < 12; i++) {
        int high = t.n == 24 ? mrsi_hex_digit(t.p[2 * i]) : -1;
        int low = t.n == 24 ? mrsi_hex_digit(t.p[2 * i + 1]) : -1;
        if (high < 0 || low < 0) {
            return bad_text(cv, t);
        }
        oid[i] = (uint8_t)(high << 4 | low);
    }
    return mrsi_ret_oid(cv->ev, oid, out);
}

static enum mrs_status
to_text(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    char text[48];
    int64_t whole = 0;
    uint32_t n = 0;
    if (cv->base && mrs_is_number(v)) {
        return mrsi_whole_to_text(cv, v, out);
    }
    switch (v.type) {
    case MRS_INT32:
    case MRS_INT64:
        mrsi_is_integer(v, &whole);
        n = (uint32_t)snprintf(text, sizeof text, "%" PRId64, whole);
        break;
    case MRS_BOOL:
        n = (uint32_t)snprintf(text, sizeof text, "%s", v.p[0] ? "true" : "false");
        break;
    case MRS_DOUBLE:
        n = mrs_double_to_text(mrs_val_double(v), text);
        break;
    case MRS_DECIMAL128:
        n = mrs_decimal_to_text(v.p, text);
        break;
    case MRS_OBJECTID:
        for (; n < 24; n++) {
            text[n] = "0123456789abcdef"[n & 1 ? v.p[n / 2] & 15 : v.p[n / 2] >> 4];
        }
        break;
    case MRS_DATE:
        return mrsi_date_to_text(cv->x, cv->ev, mrs_val_i64(v), out);
    case MRS_BINARY:
        return mrsi_binary_to_text(cv, v, out);
    default:
        return impossible(cv, v);
    }
    return mrsi_ret_text(cv->ev, text, n, out);
}

static enum mrs_status
to_binary(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    switch (v.type) {
    case MRS_INT32:
    case MRS_INT64:
    case MRS_DOUBLE:
        return mrsi_number_to_binary(cv, v, out);
    case MRS_STRING:
        return mrsi_text_to_binary(cv, v, out);
    case MRS_BINARY:
        *out = v;
        if (v.p[4] != cv->subtype) {
            return mrsi_convert_refuse(cv, "binary data of subtype %u cannot become %u", v.p[4], cv->subtype);
        }
        return MRS_OK;
    default:
        return impossible(cv, v);
    }
}

static bool
kept_as_is(uint8_t type)
{
    return type == MRS_BOOL || type == MRS_DOUBLE || type == MRS_DECIMAL128 || type == MRS_DATE ||
           type == MRS_OBJECTID || type == MRS_STRING;
}

/* Valid conversions that seldom mean what they give. */
static void
note_doubts(struct mrsi_convert *cv, struct mrs_val v)
{
    enum { YEAR_1980 = 315532800 };
    if (cv->to == MRS_BOOL && v.type == MRS_STRING && !mrs_val_is_text(v, "true")) {
        cv->ev->doubts |= MRS_DOUBT_TRUE;
    }
    if (cv->to == MRS_DATE && mrs_is_number(v) && mrsi_to_double(v) < YEAR_1980 * 1000.0) {
        cv->ev->doubts |= MRS_DOUBT_EARLY;
    }
}

enum mrs_status
mrsi_convert_run(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(cv->ev && mrs_val_is_sized(v));
    if (v.type == cv->to && kept_as_is(v.type)) {
        *out = v;
        return MRS_OK;
    }
    note_doubts(cv, v);
    switch (cv->to) {
    case MRS_BOOL:
        return mrsi_ret_bool(cv->ev, mrsi_truthy(v), out);
    case MRS_INT32:
    case MRS_INT64:
        return to_whole(cv, v, out);
    case MRS_DOUBLE:
        return to_double(cv, v, out);
    case MRS_DECIMAL128:
        return to_decimal(cv, v, out);
    case MRS_DATE:
        return to_date(cv, v, out);
    case MRS_OBJECTID:
        return to_object_id(cv, v, out);
    case MRS_STRING:
        return to_text(cv, v, out);
    case MRS_BINARY:
        return to_binary(cv, v, out);
    case MRS_DOCUMENT:
    case MRS_ARRAY:
        return v.type == MRS_STRING ? mrsi_json_to_value(cv, v, out) : impossible(cv, v);
    default:
        return impossible(cv, v);
    }
}

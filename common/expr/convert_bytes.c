/* SPDX-License-Identifier: Apache-2.0 */
/* convert_bytes.c - binary data to and from text and numbers, for $convert and its short forms.
 *
 * Text forms are strict: text that does not convert back to the same bytes is refused. */
#include "convert.h"

int
mrsi_hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char small = (char)(c | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

static bool
utf8_ok(const uint8_t *p, uint32_t n)
{
    MRS_ASSERT(p || n == 0);
    for (uint32_t i = 0; i < n;) {
        uint32_t len = mrsi_utf8_len(p[i]);
        if (len > n - i || (len == 1 && p[i] >= 0x80) || p[i] == 0xC0 || p[i] == 0xC1 || p[i] > 0xF4) {
            return false;
        }
        for (uint32_t k = 1; k < len; k++) {
            if ((p[i + k] & 0xC0) != 0x80) {
                return false;
            }
        }
        uint8_t second = len > 1 ? p[i + 1] : 0;
        if ((p[i] == 0xE0 && second < 0xA0) || (p[i] == 0xED && second > 0x9F) || (p[i] == 0xF0 && second < 0x90) ||
            (p[i] == 0xF4 && second > 0x8F)) {
            return false;
        }
        i += len;
    }
    return true;
}

/* ---- base64 ---- */

static const char STANDARD[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char URL[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static enum mrs_status
to_base64(struct mrsi_convert *cv, const uint8_t *p, uint32_t n, bool url, struct mrs_val *out)
{
    MRS_ASSERT(p || n == 0);
    const char *digits = url ? URL : STANDARD;
    uint32_t rest = n % 3;
    uint32_t len = n / 3 * 4 + (rest ? (url ? rest + 1 : 4) : 0);
    char *to;
    MRS_TRY(mrsi_ret_room(cv->ev, len, &to, out));
    for (uint32_t i = 0; i < n; i += 3) {
        uint32_t left = n - i;
        uint32_t w = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
        *to++ = digits[w >> 18];
        *to++ = digits[w >> 12 & 63];
        if (left > 1 || !url) {
            *to++ = left > 1 ? digits[w >> 6 & 63] : '=';
        }
        if (left > 2 || !url) {
            *to++ = left > 2 ? digits[w & 63] : '=';
        }
    }
    return MRS_OK;
}

/* Value of a digit; -1: none. */
static int
base64_digit(char c, bool url)
{
    const char *at = c ? strchr(url ? URL : STANDARD, c) : NULL;
    return at ? (int)(at - (url ? URL : STANDARD)) : -1;
}

static enum mrs_status
from_base64(struct mrsi_convert *cv, const char *text, uint32_t n, bool url, struct mrs_val *out)
{
    uint32_t len = n;
    while (len && n - len < 2 && text[len - 1] == '=') {
        len--;
    }
    bool padded = len < n;
    if (((padded || !url) && n % 4 != 0) || len % 4 == 1) {
        return mrsi_convert_refuse(cv, "the text is not base64%s", url ? "url" : "");
    }
    uint8_t *bytes = mrs_arena_alloc(cv->ev->arena, (size_t)len / 4 * 3 + 3);
    if (!bytes) {
        return mrsi_eval_memory(cv->ev, len);
    }
    uint32_t w = 0, bits = 0, made = 0;
    for (uint32_t i = 0; i < len; i++) {
        int d = base64_digit(text[i], url);
        if (d < 0) {
            return mrsi_convert_refuse(cv, "the text is not base64%s", url ? "url" : "");
        }
        w = w << 6 | (uint32_t)d;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes[made++] = (uint8_t)(w >> bits);
        }
    }
    if (w & ((1u << bits) - 1)) {
        return mrsi_convert_refuse(cv, "the text is not base64%s: bits are left over", url ? "url" : "");
    }
    return mrsi_ret_binary(cv->ev, bytes, made, cv->subtype, out);
}

/* ---- hexadecimal and UUID ---- */

enum mrs_status
mrsi_ret_hex(struct mrs_eval *ev, const uint8_t *p, uint32_t n, struct mrs_val *out)
{
    MRS_ASSERT(p || n == 0);
    char *to;
    MRS_TRY(mrsi_ret_room(ev, 2 * n, &to, out));
    for (uint32_t i = 0; i < n; i++) {
        *to++ = "0123456789ABCDEF"[p[i] >> 4];
        *to++ = "0123456789ABCDEF"[p[i] & 15];
    }
    return MRS_OK;
}

static enum mrs_status
from_hex(struct mrsi_convert *cv, const char *text, uint32_t n, struct mrs_val *out)
{
    uint8_t *bytes = mrs_arena_alloc(cv->ev->arena, n / 2 + 1);
    if (!bytes) {
        return mrsi_eval_memory(cv->ev, n / 2 + 1);
    }
    for (uint32_t i = 0; i + 1 < n; i += 2) {
        int high = mrsi_hex_digit(text[i]), low = mrsi_hex_digit(text[i + 1]);
        if (high < 0 || low < 0) {
            return mrsi_convert_refuse(cv, "the text is not hexadecimal");
        }
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    return n % 2 ? mrsi_convert_refuse(cv, "the text is not hexadecimal: its length is odd")
                 : mrsi_ret_binary(cv->ev, bytes, n / 2, cv->subtype, out);
}

static bool
uuid_dash(uint32_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

static enum mrs_status
to_uuid(struct mrsi_convert *cv, const uint8_t *p, struct mrs_val *out)
{
    char *to;
    MRS_TRY(mrsi_ret_room(cv->ev, 36, &to, out));
    for (uint32_t i = 0, nibble = 0; i < 36; i++) {
        if (uuid_dash(i)) {
            to[i] = '-';
            continue;
        }
        to[i] = "0123456789abcdef"[nibble & 1 ? p[nibble / 2] & 15 : p[nibble / 2] >> 4];
        nibble++;
    }
    return MRS_OK;
}

static enum mrs_status
from_uuid(struct mrsi_convert *cv, const char *text, uint32_t n, struct mrs_val *out)
{
    uint8_t bytes[16] = {0};
    if (cv->subtype != 4) {
        return mrsi_convert_refuse(cv, "a UUID is binary data of subtype 4, not %u", cv->subtype);
    }
    uint32_t nibble = 0;
    for (uint32_t i = 0; n == 36 && i < 36; i++) {
        int d = mrsi_hex_digit(text[i]);
        if (uuid_dash(i) ? text[i] != '-' : d < 0) {
            break;
        }
        if (!uuid_dash(i)) {
            bytes[nibble / 2] |= (uint8_t)(nibble & 1 ? d : d << 4);
            nibble++;
        }
    }
    return nibble == 32 ? mrsi_ret_binary(cv->ev, bytes, 16, 4, out)
                        : mrsi_convert_refuse(cv, "the text is not a UUID");
}

/* ---- the conversions ---- */

enum mrs_status
mrsi_binary_to_text(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(v.type == MRS_BINARY && v.n >= 5);
    const uint8_t *p = v.p + 5;
    uint32_t n = v.n - 5;
    bool uuid = v.p[4] == 4 && n == 16;
    switch (cv->format) {
    case MRSI_FORMAT_NONE:
        return mrsi_eval_error(cv->x, cv->ev, "binary data to text needs 'format'");
    case MRSI_FORMAT_AUTO:
        return uuid ? to_uuid(cv, p, out) : to_base64(cv, p, n, false, out);
    case MRSI_FORMAT_BASE64:
    case MRSI_FORMAT_BASE64URL:
        return to_base64(cv, p, n, cv->format == MRSI_FORMAT_BASE64URL, out);
    case MRSI_FORMAT_HEX:
        return mrsi_ret_hex(cv->ev, p, n, out);
    case MRSI_FORMAT_UTF8:
        return utf8_ok(p, n) ? mrsi_ret_text(cv->ev, (const char *)p, n, out)
                             : mrsi_convert_refuse(cv, "the bytes are not UTF-8");
    case MRSI_FORMAT_UUID:
        break;
    }
    return uuid ? to_uuid(cv, p, out) : mrsi_convert_refuse(cv, "only 16 bytes of subtype 4 are a UUID");
}

enum mrs_status
mrsi_text_to_binary(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(v.type == MRS_STRING);
    struct mrsi_text t = mrsi_text_of(v);
    if (cv->subtype == 4 && cv->format != MRSI_FORMAT_NONE && cv->format != MRSI_FORMAT_UUID) {
        return mrsi_convert_refuse(cv, "binary data of subtype 4 come of text in the 'format' uuid only");
    }
    switch (cv->format) {
    case MRSI_FORMAT_NONE:
        return mrsi_eval_error(cv->x, cv->ev, "text to binary data needs 'format'");
    case MRSI_FORMAT_AUTO:
        return mrsi_convert_refuse(cv, "text to binary data needs a 'format' other than auto");
    case MRSI_FORMAT_BASE64:
    case MRSI_FORMAT_BASE64URL:
        return from_base64(cv, t.p, t.n, cv->format == MRSI_FORMAT_BASE64URL, out);
    case MRSI_FORMAT_HEX:
        return from_hex(cv, t.p, t.n, out);
    case MRSI_FORMAT_UTF8:
        return mrsi_ret_binary(cv->ev, t.p, t.n, cv->subtype, out);
    case MRSI_FORMAT_UUID:
        break;
    }
    return from_uuid(cv, t.p, t.n, out);
}

static uint64_t
read_bytes(const uint8_t *p, uint32_t n, bool big)
{
    uint64_t w = 0;
    for (uint32_t i = 0; i < n; i++) {
        w |= (uint64_t)p[big ? n - 1 - i : i] << (8 * i);
    }
    return w;
}

enum mrs_status
mrsi_binary_to_number(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(v.type == MRS_BINARY && v.n >= 5);
    uint32_t n = v.n - 5;
    uint64_t w = n <= 8 ? read_bytes(v.p + 5, n, cv->big) : 0;
    if (cv->to == MRS_DOUBLE && n == 4) {
        uint32_t half = (uint32_t)w;
        float f;
        memcpy(&f, &half, 4);
        return mrsi_ret_double(cv->ev, f, out);
    }
    if (cv->to == MRS_DOUBLE && n == 8) {
        double d;
        memcpy(&d, &w, 8);
        return mrsi_ret_double(cv->ev, d, out);
    }
    if (cv->to == MRS_DOUBLE || (n != 1 && n != 2 && n != 4 && (n != 8 || cv->to == MRS_INT32))) {
        return mrsi_convert_refuse(cv, "%u bytes of binary data are no %s", n, mrs_type_name(cv->to));
    }
    int64_t whole = (int64_t)(w << (64 - 8 * n)) >> (64 - 8 * n);
    return cv->to == MRS_INT32 ? mrsi_ret_i32(cv->ev, (int32_t)whole, out) : mrsi_ret_i64(cv->ev, whole, out);
}

enum mrs_status
mrsi_number_to_binary(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(mrs_is_number(v));
    uint8_t bytes[8];
    for (uint32_t i = 0; i < v.n; i++) {
        bytes[i] = v.p[cv->big ? v.n - 1 - i : i];
    }
    return mrsi_ret_binary(cv->ev, bytes, v.n, cv->subtype, out);
}

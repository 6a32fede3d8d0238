/* SPDX-License-Identifier: Apache-2.0 */
/* convert_text.c - text to documents and arrays, and whole numbers to and from text in another base, for $convert.
 *
 * A base is only for whole numbers within 64 bits, of any type; digits are capitals, without a prefix like 0x. JSON is
 * read strictly; {"$oid": ...} is a normal document. */
#include "convert.h"
#include "mongoreshape/ejson.h"
#include <stdio.h>

bool
mrsi_whole_from_text(struct mrsi_text t, unsigned base, int64_t *whole)
{
    MRS_ASSERT(base == 2 || base == 8 || base == 10 || base == 16);
    uint32_t i = t.n && (t.p[0] == '-' || t.p[0] == '+');
    bool negative = i && t.p[0] == '-';
    uint64_t w = 0;
    if (i == t.n) {
        return false;
    }
    for (; i < t.n; i++) {
        int d = mrsi_hex_digit(t.p[i]);
        if (d < 0 || d >= (int)base || __builtin_mul_overflow(w, base, &w) ||
            __builtin_add_overflow(w, (uint64_t)d, &w)) {
            return false;
        }
    }
    if (w > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    *whole = negative ? (int64_t)(0 - w) : (int64_t)w;
    return true;
}

enum mrs_status
mrsi_whole_to_text(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(mrs_is_number(v));
    char text[66];
    uint32_t at = sizeof text;
    int64_t whole;
    if (!mrs_val_integral(v, &whole)) {
        return mrsi_convert_refuse(cv, "only a whole number of 64 bits has a text in base %u", cv->base);
    }
    uint64_t w = whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole;
    do {
        text[--at] = "0123456789ABCDEF"[w % cv->base];
        w /= cv->base;
    } while (w);
    if (whole < 0) {
        text[--at] = '-';
    }
    return mrsi_ret_text(cv->ev, text + at, sizeof text - at, out);
}

enum mrs_status
mrsi_json_to_value(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out)
{
    MRS_ASSERT(v.type == MRS_STRING);
    struct mrsi_text t = mrsi_text_of(v);
    struct mrs_eval *ev = cv->ev;
    struct mrs_buf buf;
    struct mrs_err why;
    uint8_t type = 0;
    mrs_err_clear(&why);
    MRS_TRY(mrsi_spend(ev, 1u + t.n / 16));
    mrsi_buf_init(ev, &buf, MRS_DOC_READ_MAX);
    enum mrs_status s = mrs_json_read(t.p, t.n, &buf, &type, &why);
    const uint8_t *copy = s == MRS_OK && type == cv->to ? mrs_arena_copy(ev->arena, buf.p, buf.n) : NULL;
    if (s == MRS_DEAD) {
        s = mrsi_eval_memory(ev, buf.n);
    } else if (s != MRS_OK) {
        char at[40] = "";
        if (why.byte_off != UINT64_MAX) {
            snprintf(at, sizeof at, " (byte %llu)", (unsigned long long)why.byte_off);
        }
        s = mrsi_convert_refuse(cv, "the text is no JSON: %s%s", why.msg, at);
    } else if (type != cv->to) {
        s = mrsi_convert_refuse(cv, "the JSON text is an %s, not an %s", mrs_type_name(type), mrs_type_name(cv->to));
    } else if (!copy) {
        s = mrsi_eval_memory(ev, buf.n);
    } else {
        *out = (struct mrs_val){copy, (uint32_t)buf.n, type};
    }
    mrs_buf_clear(&buf);
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* convert.h - one conversion, shared by op_type.c (operators), convert.c (numbers, dates, ids), convert_bytes.c (text
 * and binary data) and convert_text.c (JSON, and whole numbers in another base). */
#ifndef MRS_EXPR_CONVERT_H
#define MRS_EXPR_CONVERT_H

#include "support.h"

enum mrsi_format {
    MRSI_FORMAT_NONE,
    MRSI_FORMAT_AUTO,
    MRSI_FORMAT_BASE64,
    MRSI_FORMAT_BASE64URL,
    MRSI_FORMAT_HEX,
    MRSI_FORMAT_UTF8,
    MRSI_FORMAT_UUID
};

struct mrsi_convert {
    const struct mrs_expr *x; /* gives the operator's name in messages; may be NULL */
    struct mrs_eval *ev;
    uint8_t to;
    enum mrsi_format format;
    uint8_t subtype;
    unsigned base; /* 2, 8, 10 or 16, of whole numbers as text; 0: not given */
    bool big;      /* byte order of numbers as binary data */
    char why[160]; /* reason of a failed conversion */
};

/* OK; SKIP: the value cannot be converted (the failure that onError catches), cv->why is filled; FAIL: an error
 * that onError does not catch; DEAD. */
enum mrs_status mrsi_convert_run(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out);

/* op_type.c: FAIL if $convert, with this constant as `to`, fails for every input that is not null. */
enum mrs_status mrsi_convert_check(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val to);

/* op_type.c: the type that `to` means for $convert; false: none. */
bool mrsi_convert_type(struct mrs_val to, uint8_t *type);

/* Fills cv->why and returns SKIP. */
enum mrs_status mrsi_convert_refuse(struct mrsi_convert *cv, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* convert_text.c */
/* Sign and digits of the base, nothing else; false: invalid, or beyond 64 bits. */
bool mrsi_whole_from_text(struct mrsi_text t, unsigned base, int64_t *whole);
/* A number as the digits of cv->base. */
enum mrs_status mrsi_whole_to_text(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out);
/* JSON text into a document or an array, as cv->to says. */
enum mrs_status mrsi_json_to_value(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out);

/* convert_bytes.c */
enum mrs_status mrsi_binary_to_text(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out);
enum mrs_status mrsi_binary_to_number(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out);
enum mrs_status mrsi_text_to_binary(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out);
enum mrs_status mrsi_number_to_binary(struct mrsi_convert *cv, struct mrs_val v, struct mrs_val *out);
int mrsi_hex_digit(char c); /* 0..15, or -1 */

#endif

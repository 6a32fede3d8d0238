/* SPDX-License-Identifier: Apache-2.0 */
/* ejson_inner.h - shared by the files of Extended JSON: ejson_read.c, ejson_value.c, ejson_write.c, ejson_text.c. */
#ifndef MRS_DOC_EJSON_H
#define MRS_DOC_EJSON_H

#include "mongoreshape/ejson.h"

/* The value of a wrapper document: appends its bytes to out, *type is its type; MRS_MISSING: d is no wrapper. Appends
 * at most as many bytes as d has. FAIL MRS_E_FORMAT: a wrapper with invalid content. */
enum mrs_status mrsi_wrapped(struct mrs_view d, enum mrs_ejson_mode mode, struct mrs_buf *out, uint8_t *type,
                             struct mrs_err *e);

/* ---- ejson_text.c ---- */
/* A decimal number in JSON's grammar (a plus and leading zeros are accepted too), NaN, Infinity, -Infinity. false:
 * invalid. */
bool mrsi_double_from_text(const char *text, size_t n, double *out);
/* [-]digits within int64. */
bool mrsi_i64_from_text(const char *text, size_t n, int64_t *out);
/* Decimal digits and a NUL; returns their number. */
uint32_t mrsi_i64_write(int64_t v, char text[24]);
/* Appends the bytes of base64 with padding; false: invalid. */
bool mrsi_base64_read(const char *text, size_t n, struct mrs_buf *out);
void mrsi_base64_write(const uint8_t *p, size_t n, struct mrs_buf *out);
/* strict: the form of plans; else also zones without a colon and finer fractions, which are cut. */
bool mrsi_date_read(const char *text, size_t n, bool strict, int64_t *ms);

#endif

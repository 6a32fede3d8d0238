/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - digests of bytes by public standards. Pure functions; they tell equal from unequal, and are no secret. */
#ifndef MRS_EXPR_DIGEST_H
#define MRS_EXPR_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define MRSI_MD5_BYTES 16
#define MRSI_SHA256_BYTES 32

void mrsi_md5(const uint8_t *p, size_t n, uint8_t out[MRSI_MD5_BYTES]);
void mrsi_sha256(const uint8_t *p, size_t n, uint8_t out[MRSI_SHA256_BYTES]);

/* What both standards do with the end of a message: the last n % 64 bytes, a one bit, zeros, and room for the length in
 * bits at the end. Returns how many blocks of 64 bytes that are, one or two. */
size_t mrsi_digest_tail(const uint8_t *p, size_t n, uint8_t tail[128]);

#endif

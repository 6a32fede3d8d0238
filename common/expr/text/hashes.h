/* SPDX-License-Identifier: Apache-2.0 */
/* hashes.h - digests of bytes by public standards. Pure functions; they test equality, and protect no secret. */
#ifndef MRS_EXPR_HASHES_H
#define MRS_EXPR_HASHES_H

#include <stddef.h>
#include <stdint.h>

#define MRSI_MD5_BYTES 16
#define MRSI_SHA256_BYTES 32

void mrsi_md5(const uint8_t *p, size_t n, uint8_t out[MRSI_MD5_BYTES]);
void mrsi_sha256(const uint8_t *p, size_t n, uint8_t out[MRSI_SHA256_BYTES]);

#endif

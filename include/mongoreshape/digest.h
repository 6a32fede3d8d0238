/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - the common part of MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4): a message is cut into blocks of 64
 * bytes, followed by a one bit, zeros and the length in bits, and each block is mixed into a state of 32-bit words,
 * which is the result. Pure; any number of threads. They test equality, and protect no secret. */
#ifndef MONGORESHAPE_DIGEST_H
#define MONGORESHAPE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mrs_digest {
    void (*stir)(uint32_t *state, const uint8_t *block);
    unsigned words;   /* of the state */
    bool big_endian;  /* of the length after the message, and of the words of the result */
};
/* state: initialized as in the standard; consumed. out: 4 bytes a word. */
void mrs_digest_run(const struct mrs_digest *d, uint32_t *state, const uint8_t *p, size_t n, uint8_t *out);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* simple8b.h - reads the numbers packed in the 64-bit words of a column. */
#ifndef MRSI_DOC_SIMPLE8B_H
#define MRSI_DOC_SIMPLE8B_H

#include "doc/decimal.h"
#include "mongoreshape/doc.h"

enum { MRSI_WORD = 8 }; /* bytes */

struct mrsi_simple8b {
    const uint8_t *at, *end; /* remaining words */
    uint64_t word;           /* the remaining slots of the current word, the next one lowest */
    uint32_t left;           /* number of them */
    uint8_t width, zero_bits, zeros_unit; /* of a slot, in bits */
    bool repeats;            /* the word has no slots: it repeats the number before it */
    bool wide;               /* numbers of 128 bits, not of 64 */
    bool missing;            /* the last number is missing */
    mrsi_u128 number;
};

/* No words, and 0 as the number before the first one. */
void mrsi_simple8b_init(struct mrsi_simple8b *s, bool wide);
/* Starts n more words. */
void mrsi_simple8b_begin(struct mrsi_simple8b *s, const uint8_t *words, uint32_t n);
/* 1: the next number is in s->number, or s->missing is set. 0: there are no more. -1: the word has an invalid
 * selector. */
int mrsi_simple8b_next(struct mrsi_simple8b *s);
/* Whether there are no more. */
static inline bool
mrsi_simple8b_is_empty(const struct mrsi_simple8b *s)
{
    return s->left == 0 && s->at == s->end;
}
/* Decodes a zigzag number: 0, -1, 1, -2, 2, ... */
static inline mrsi_u128
mrsi_simple8b_signed(mrsi_u128 n)
{
    return n >> 1 ^ (0 - (n & 1));
}

#endif

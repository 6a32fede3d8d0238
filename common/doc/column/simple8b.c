/* SPDX-License-Identifier: Apache-2.0 */
/* simple8b.c - Simple-8b as used by columns of time series: the four lowest bits of a word, its selector, determine how
 * the other sixty are cut into slots.
 *
 * A slot of ones is a missing value. Selectors 7 and 8 have four spare bits, which are an extended selector: there a
 * slot has a number and its count of trailing zero bits, in ones or in fours, so that a large round number takes few
 * bits. Selector 15 has no slots: the previous number repeats, 120 times or a multiple of that. */
#include "simple8b.h"

struct simple8b_cut {
    uint8_t width, zero_bits, unit; /* bits of a slot; of them, for zeros; the unit of these zeros */
};
enum { SELECTOR_BITS = 4, SELECTOR_SEVEN = 7, SELECTOR_EIGHT = 8, SELECTOR_RUN = 15, RUN = 120 };

static const struct simple8b_cut plain[SELECTOR_RUN] = {
    {0, 0, 0},  {1, 0, 0},  {2, 0, 0},  {3, 0, 0},  {4, 0, 0},  {5, 0, 0},  {6, 0, 0}, {7, 0, 0},
    {8, 0, 0},  {10, 0, 0}, {12, 0, 0}, {15, 0, 0}, {20, 0, 0}, {30, 0, 0}, {60, 0, 0}};
/* By the four bits of the extended selector. 0: the slots of the plain selector; a width of 0: no such selector. */
static const struct simple8b_cut seven[16] = {{7, 0, 0},  {6, 4, 1},  {7, 4, 1},  {8, 4, 1},  {9, 4, 1},
                                              {11, 4, 1}, {14, 4, 1}, {18, 4, 1}, {28, 4, 1}, {56, 4, 1}};
static const struct simple8b_cut eight[16] = {{8, 0, 0},  {8, 4, 4},  {9, 4, 4},  {11, 4, 4}, {14, 4, 4},
                                              {18, 4, 4}, {28, 4, 4}, {56, 4, 4}, {9, 5, 4},  {11, 5, 4},
                                              {14, 5, 4}, {18, 5, 4}, {28, 5, 4}, {56, 5, 4}};

void
mrsi_simple8b_init(struct mrsi_simple8b *s, bool wide)
{
    *s = (struct mrsi_simple8b){.wide = wide};
}

void
mrsi_simple8b_begin(struct mrsi_simple8b *s, const uint8_t *words, uint32_t n)
{
    s->at = words;
    s->end = words + (size_t)n * MRSI_WORD;
    s->left = 0;
}

static bool
load(struct mrsi_simple8b *s)
{
    uint64_t word = mrs_le64(s->at);
    unsigned selector = word & 15, over = word >> SELECTOR_BITS & 15, bits = 60;
    const struct simple8b_cut *cut = selector == SELECTOR_SEVEN   ? &seven[over]
                                     : selector == SELECTOR_EIGHT ? &eight[over]
                                                                  : &plain[selector % SELECTOR_RUN];
    s->at += MRSI_WORD;
    s->repeats = selector == SELECTOR_RUN;
    if (s->repeats) {
        s->left = (over + 1) * RUN;
        return true;
    }
    word >>= SELECTOR_BITS;
    if (selector == SELECTOR_SEVEN || selector == SELECTOR_EIGHT) {
        word >>= SELECTOR_BITS;
        bits -= SELECTOR_BITS;
    }
    s->word = word;
    s->width = cut->width;
    s->zero_bits = cut->zero_bits;
    s->zeros_unit = cut->unit;
    s->left = cut->width ? bits / cut->width : 0;
    return s->left > 0;
}

static void
take_slot(struct mrsi_simple8b *s)
{
    uint64_t ones = (1ull << s->width) - 1, slot = s->word & ones;
    s->word >>= s->width;
    s->missing = slot == ones;
    if (!s->missing) {
        unsigned zeros = (unsigned)(slot & ((1ull << s->zero_bits) - 1)) * s->zeros_unit; /* at most 124 */
        uint64_t n = slot >> s->zero_bits;
        s->number = s->wide ? (mrsi_u128)n << zeros : n << zeros % 64;
    }
}

int
mrsi_simple8b_next(struct mrsi_simple8b *s)
{
    if (s->left == 0) {
        if (s->at == s->end) {
            return 0;
        }
        if (!load(s)) {
            return -1;
        }
    }
    s->left--;
    if (!s->repeats) {
        take_slot(s);
    }
    return 1;
}

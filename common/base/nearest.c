/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - "did you mean": the known word closest to a misspelt one.
 *
 * The distance counts inserted, removed and replaced letters, and swapped neighbors, each as one; capitals equal small
 * letters. A word at more than a third of its length (one letter is always allowed from three on) is not suggested.
 * Knows nothing of plans and options. */
#include "mongoreshape/assert.h"
#include "mongoreshape/words.h"

#include <string.h>

static char
small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t
mrs_word_distance(const char *a, size_t an, const char *b, size_t bn)
{
    MRS_ASSERT(a && b);
    uint32_t rows[3][MRS_WORD_MAX + 1];
    if (an > MRS_WORD_MAX || bn > MRS_WORD_MAX) {
        return UINT32_MAX;
    }
    for (uint32_t j = 0; j <= bn; j++) {
        rows[0][j] = j;
    }
    for (uint32_t i = 1; i <= an; i++) {
        uint32_t *now = rows[i % 3], *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (uint32_t j = 1; j <= bn; j++) {
            uint32_t cost = small(a[i - 1]) != small(b[j - 1]);
            now[j] = least(last[j - 1] + cost, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) &&
                small(a[i - 2]) == small(b[j - 1])) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
        }
    }
    return rows[an % 3][bn];
}

const char *
mrs_nearest(const char *word, const char *const *words, uint32_t n)
{
    MRS_ASSERT(word && (words || n == 0));
    size_t len = strlen(word);
    if (len == 0 || len > MRS_WORD_MAX) {
        return NULL;
    }
    const char *best = NULL;
    uint32_t best_distance = (uint32_t)len / 3 + 1;
    for (uint32_t i = 0; i < n; i++) {
        size_t wn = strlen(words[i]);
        if ((wn > len ? wn - len : len - wn) >= best_distance) {
            continue;
        }
        uint32_t d = mrs_word_distance(word, len, words[i], wn);
        if (d < best_distance) {
            best_distance = d;
            best = words[i];
        }
    }
    return best;
}

bool
mrs_is_one_of(const char *word, const char *const *words, size_t n)
{
    MRS_ASSERT(word);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - lists of words: whether one is in it, and "did you mean", the one of them that was probably meant.
 *
 * Nothing is allocated; may be called from any thread. */
#ifndef MONGORESHAPE_WORDS_H
#define MONGORESHAPE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MRS_WORD_MAX 64u
/* Letters to put in, leave out, replace, or pairs of neighbours to swap until one word is the other; capitals count as
 * small letters. UINT32_MAX: a word is longer than MRS_WORD_MAX. */
uint32_t mrs_word_distance(const char *a, size_t an, const char *b, size_t bn);
/* The known word nearest to `word` (edit distance, at most a third of its length), or NULL. words: n C strings. */
const char *mrs_nearest(const char *word, const char *const *words, uint32_t n);
/* Whether `word` is one of the n C strings. */
bool mrs_is_one_of(const char *word, const char *const *words, size_t n);
/* The same of an array. */
#define MRS_IS_ONE_OF(word, words) mrs_is_one_of(word, words, sizeof(words) / sizeof *(words))

#ifdef __cplusplus
}
#endif
#endif

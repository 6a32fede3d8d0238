/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - lists of words: membership, and "did you mean".
 *
 * Allocates nothing; may be called from any thread. */
#ifndef MONGORESHAPE_WORDS_H
#define MONGORESHAPE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MRS_WORD_MAX 64u
/* Edit distance: letters to insert, remove or replace, or neighbors to swap; capitals equal small letters. UINT32_MAX:
 * a word is longer than MRS_WORD_MAX. */
uint32_t mrs_word_distance(const char *a, size_t an, const char *b, size_t bn);
/* The known word nearest to `word` (edit distance, at most a third of its length), or NULL. words: n C strings. */
const char *mrs_nearest(const char *word, const char *const *words, uint32_t n);
/* Whether `word` is one of the n C strings. */
bool mrs_is_one_of(const char *word, const char *const *words, size_t n);
/* mrs_is_one_of for an array. */
#define MRS_IS_ONE_OF(word, words) mrs_is_one_of(word, words, sizeof(words) / sizeof *(words))

#ifdef __cplusplus
}
#endif
#endif

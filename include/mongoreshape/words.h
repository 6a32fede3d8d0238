/* words.h - "did you mean": of the words that are known, the one that was probably meant.
 *
 * Nothing is allocated; may be called from any thread. */
#ifndef MONGORESHAPE_WORDS_H
#define MONGORESHAPE_WORDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The known word nearest to `word` (edit distance, at most a third of its length), or NULL. words: n C strings. */
const char *mrs_nearest(const char *word, const char *const *words, uint32_t n);

#ifdef __cplusplus
}
#endif
#endif

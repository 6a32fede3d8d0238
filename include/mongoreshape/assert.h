/* SPDX-License-Identifier: Apache-2.0 */
/* assert.h - what must be true of our own code, whatever the input is.
 *
 * MRS_ASSERT(cond) states what a caller owes, the phase that an object is in, or an invariant of a structure. A program
 * built with assertions (make ASSERT=1, every sanitizer) stops at a false one and says where. Any other
 * program does not evaluate cond and assumes nothing of it, so a wrong assertion cannot change what is released. Input,
 * options and the answers of a system or a server are never asserted: they are checked, and are errors. */
#ifndef MONGORESHAPE_ASSERT_H
#define MONGORESHAPE_ASSERT_H

#ifdef __cplusplus
extern "C" {
#endif

#ifdef MRS_ASSERTS
/* Prints the place and what was not so, and aborts. */
void mrs_assert_failed(const char *what, const char *file, int line) __attribute__((cold, noreturn));
#define MRS_ASSERT(cond) ((cond) ? (void)0 : mrs_assert_failed(#cond, __FILE__, __LINE__))
#else
#define MRS_ASSERT(cond) ((void)sizeof((cond) ? 1 : 0))
#endif

#ifdef __cplusplus
}
#endif
#endif

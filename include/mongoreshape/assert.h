/* SPDX-License-Identifier: Apache-2.0 */
/* assert.h - assertions about our own code, whatever the input.
 *
 * MRS_ASSERT(cond) states a precondition, the phase of an object, or an invariant of a structure. A program built with
 * assertions (make ASSERT=1, every sanitizer) stops at a false one and prints the place. Any other program does not
 * evaluate cond and assumes nothing of it, so a wrong assertion cannot change a release. Input, options and answers of
 * a system or a server are never asserted: they are checked, and are errors. */
#ifndef MONGORESHAPE_ASSERT_H
#define MONGORESHAPE_ASSERT_H

#ifdef __cplusplus
extern "C" {
#endif

#ifdef MRS_ASSERTS
/* Prints the place and the condition, and aborts. */
void mrs_assert_failed(const char *what, const char *file, int line) __attribute__((cold, noreturn));
#define MRS_ASSERT(cond) ((cond) ? (void)0 : mrs_assert_failed(#cond, __FILE__, __LINE__))
#else
#define MRS_ASSERT(cond) ((void)sizeof((cond) ? 1 : 0))
#endif

#ifdef __cplusplus
}
#endif
#endif

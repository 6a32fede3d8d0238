/* SPDX-License-Identifier: Apache-2.0 */
/* regex.h - a compiled regular expression, for $regexMatch and related operators and for the query operator $regex. */
#ifndef MRS_EXPR_REGEX_H
#define MRS_EXPR_REGEX_H

#include "expr/support.h"

#define MRSI_REGEX_STEPS 1024 /* cost of a match: so a slow one checks for interrupts before the next */
#define MRSI_REGEX_GROUPS 127 /* maximum of captures in a result; more are refused */

struct mrsi_regex; /* immutable; any number of threads may match with it */

/* OK; FAIL: why (one line) is the error in the pattern or the options; DEAD: no memory (e is set). */
enum mrs_status mrsi_regex_new(struct mrs_mem *mem, struct mrsi_text pattern,
                               struct mrsi_text options, struct mrsi_regex **out, char why[160],
                               struct mrs_err *e);
void mrsi_regex_free(struct mrsi_regex *r); /* NULL: no effect */

/* Offsets of a match and of its groups; start UINT32_MAX: the group did not match. */
struct mrsi_regex_match {
    uint32_t n; /* 1 + number of groups; 0: no match */
    uint32_t start[MRSI_REGEX_GROUPS + 1], end[MRSI_REGEX_GROUPS + 1];
};
/* The first match at or after `from`, which is 0 in the first call on a text and the start of a character in later
 * ones: the first call checks the whole text. OK; FAIL MRS_E_EXPR: text that is not UTF-8, or a pattern that needs too
 * many tries; DEAD. */
enum mrs_status mrsi_regex_find(const struct mrsi_regex *r, struct mrsi_text text, uint32_t from,
                                struct mrsi_regex_match *m, struct mrs_err *e);
/* Whether there is a match; text that is not UTF-8 has none. */
enum mrs_status mrsi_regex_test(const struct mrsi_regex *r, struct mrsi_text text, bool *yes,
                                struct mrs_err *e);

/* Pattern and options of a REGEX value. */
void mrsi_regex_parts(struct mrs_val v, struct mrsi_text *pattern, struct mrsi_text *options);

#endif

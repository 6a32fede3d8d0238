/* SPDX-License-Identifier: Apache-2.0 */
/* text_ops.h - shared by the operators on text: their arguments, and the matches of a regular expression. */
#ifndef MRS_EXPR_TEXT_OPS_H
#define MRS_EXPR_TEXT_OPS_H

#include "expr/query/regex.h"

#define MRSI_TEXT_STEP 16 /* characters that count as one step of work (mrsi_spend) */

/* ---- op_string.c ---- */
/* FAIL MRS_E_EXPR. */
enum mrs_status mrsi_text_too_large(const struct mrs_expr *x, struct mrs_eval *ev);
/* Argument i, which must be a string or nullish; text->p is NULL for a nullish one. */
enum mrs_status mrsi_text_or_null(const struct mrs_expr *x, uint32_t i, struct mrs_eval *ev, const char *what,
                                  struct mrsi_text *text);
/* The first occurrence of `find` in [from, end); NULL: none. An empty text is found at once. */
static inline const char *
mrsi_text_search(const char *from, const char *end, struct mrsi_text find)
{
    return find.n ? memmem(from, (size_t)(end - from), find.p, find.n) : from;
}

/* ---- op_regex.c ---- */
/* Iterates over all matches in a text. After an empty match the search continues a code point later, and never at the
 * end of the text; an empty text is tried once. */
struct mrsi_matches {
    const struct mrsi_regex *regex;
    struct mrsi_text text;
    uint32_t at;   /* start of the next search */
    uint32_t next; /* end of the match, or of the code point after an empty match */
    bool begun;
};
/* m->n is 0 after the last one. */
enum mrs_status mrsi_matches_next(struct mrsi_matches *all, struct mrs_eval *ev, struct mrsi_regex_match *m);
/* The compiled form of a regular expression: x->extra if it is constant in the plan; else *mine: the caller frees
 * it. */
enum mrs_status mrsi_regex_of(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val regex,
                              struct mrsi_regex **out, bool *mine);
/* Compiles a constant into x->extra. FAIL MRS_E_PLAN: invalid pattern. mrsi_regex_drop: its free_extra. */
enum mrs_status mrsi_regex_keep(struct mrsi_compile *c, struct mrs_expr *x, struct mrs_val regex,
                                struct mrs_val options, struct mrs_err *e);
void mrsi_regex_drop(struct mrs_expr *x);

#endif

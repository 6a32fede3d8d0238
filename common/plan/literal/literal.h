/* SPDX-License-Identifier: Apache-2.0 */
/* literal.h - recognizes literals of shells and drivers in a plan, such as ISODate("2020-01-01"), time.Now() or
 * /^a/i. */
#ifndef MRSI_PLAN_LITERAL_H
#define MRSI_PLAN_LITERAL_H

#include "mongoreshape/mem.h"

struct mrsi_span { /* a part of a text */
    const char *p;
    size_t n;
};
static inline bool
mrsi_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
struct mrsi_literal { /* the Extended JSON for a literal */
    char text[256];
};
/* Is the text a call? plain: not in quotes, so `new Date` and Time.now count, too. */
bool mrsi_literal_call(struct mrs_mem *mem, struct mrsi_span text, bool plain, struct mrsi_literal *out);
/* Literals without brackets, such as NaN and MinKey. query: includes `undefined`. */
bool mrsi_literal_word(struct mrs_mem *mem, struct mrsi_span text, bool query, struct mrsi_literal *out);
/* certain: requires flags, or characters that paths of files do not have. */
bool mrsi_literal_regex(struct mrs_mem *mem, struct mrsi_span text, bool *certain, struct mrsi_literal *out);
/* Does the line, where YAML failed, have one? */
bool mrsi_literal_find(struct mrs_mem *mem, struct mrsi_span line, struct mrsi_literal *out);

/* Text without quotes that is rarely intended as text. */
enum mrsi_code {
    MRSI_CODE_NONE,
    MRSI_CODE_CALL,   /* now(), x => x.a, function () {} */
    MRSI_CODE_TEXT,   /* b"abc" */
    MRSI_CODE_NUMBER, /* 1_000, 5L */
    MRSI_CODE_QUOTES, /* typographic quotes around the text */
    MRSI_CODE_BLANK,  /* U+00A0 at its start or end */
    MRSI_CODE_SUM,    /* $a + 1, $first + " " + $last */
    MRSI_CODE_THIS,   /* this.name */
};
enum mrsi_code mrsi_literal_code(struct mrsi_span text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* operators.c - prints docs/OPERATORS.md from the operator table of the library, so that the page cannot drift.
 *
 *   operators > docs/OPERATORS.md       (make docs; tests/cli/operators.sh compares)
 *
 * One section a family, in the order of the table; what differs from the server stands below the names. */
#include "mongoreshape/expr.h"
#include <stdio.h>
#include <string.h>

#define REFUSED "refused"
#define REFUSED_QUERY "refused query"
#define QUERY "query"
#define ACCUMULATOR "accumulator"

static bool
is(const struct mrs_op_row *row, const char *family)
{
    return strcmp(row->family, family) == 0;
}

/* The notes of a family, names with the same note in one line, in the order of the first. */
static void
notes(const char *name)
{
    const struct mrs_op_row *row, *other;
    bool none = true;
    for (uint32_t i = 0; (row = mrs_op_rows(i)); i++) {
        bool seen = !is(row, name) || !row->note[0];
        for (uint32_t j = 0; j < i && !seen; j++) {
            other = mrs_op_rows(j);
            seen = is(other, name) && strcmp(other->note, row->note) == 0;
        }
        if (seen) {
            continue;
        }
        printf("%s-", none ? "\n" : "");
        none = false;
        for (uint32_t j = i; (other = mrs_op_rows(j)); j++) {
            if (is(other, name) && strcmp(other->note, row->note) == 0) {
                printf(" `%s`", other->name);
            }
        }
        printf(": %s\n", row->note);
    }
}

/* Names of a family, then its notes. */
static void
family(const char *title, const char *name)
{
    const struct mrs_op_row *row;
    uint32_t width = 0;
    printf("\n### %s\n", title);
    for (uint32_t i = 0; (row = mrs_op_rows(i)); i++) {
        if (is(row, name)) {
            uint32_t n = (uint32_t)strlen(row->name) + 3;
            bool next = width && width + n > 118;
            printf("%s`%s`", !width ? "" : next ? "\n" : " ", row->name);
            width = next ? n : width + n;
        }
    }
    printf("\n");
    notes(name);
}

/* Whether row i is the first of its family. */
static bool
first_of_family(uint32_t i)
{
    const struct mrs_op_row *row = mrs_op_rows(i);
    for (uint32_t j = 0; j < i; j++) {
        if (is(mrs_op_rows(j), row->family)) {
            return false;
        }
    }
    return true;
}

int
main(void)
{
    static const char *const APART[] = {REFUSED, REFUSED_QUERY, QUERY, ACCUMULATOR};
    const struct mrs_op_row *row;
    printf("# Operators\n"
           "What a plan may write in expressions, in the fields of a group, and in filters. They mean what they mean\n"
           "in MongoDB 8.3, or with `server: \"8.2\"` in the plan (and where it says `version: 1`) in 8.2; where we\n"
           "differ, and what 8.2 does not have, is below the names. Time zones are those of the system's\n"
           "tzdata. `make docs` writes this page from the table in `common/expr`, and a test compares the two.\n"
           "\n## Expressions\n");
    for (uint32_t i = 0; (row = mrs_op_rows(i)); i++) {
        bool apart = false;
        for (size_t k = 0; k < sizeof APART / sizeof *APART; k++) {
            apart = apart || is(row, APART[k]);
        }
        if (!apart && first_of_family(i)) {
            family(row->family, row->family);
        }
    }
    printf("\n## Groups\n");
    family("accumulators", ACCUMULATOR);
    printf("\n## Filters\n");
    family("queries", QUERY);
    printf("\n## Refused\n"
           "A plan that uses one of these is refused with the reason. A name that is in no list on this page is\n"
           "refused with the nearest one that is known. In expressions:\n");
    notes(REFUSED);
    printf("\nIn filters:\n");
    notes(REFUSED_QUERY);
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

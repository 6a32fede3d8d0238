/* SPDX-License-Identifier: Apache-2.0 */
/* topics.c - `help STEP` and `help operators`, from the tables of the library. */
#include "options.h"
#include <stdio.h>
#include <string.h>
#include "mongoreshape/expr.h"
#include "mongoreshape/step.h"

/* What a plan writes behind a key. */
static const char *
type_word(enum mrs_arg_type type)
{
    static const char *const words[] = {[MRS_ARG_COLL] = "collection",
                                        [MRS_ARG_COLLS] = "collections",
                                        [MRS_ARG_TEXT] = "text",
                                        [MRS_ARG_NAME] = "field name",
                                        [MRS_ARG_PATH] = "path",
                                        [MRS_ARG_PATHS] = "paths",
                                        [MRS_ARG_FIELDS] = "paths or map",
                                        [MRS_ARG_EXPR] = "expression",
                                        [MRS_ARG_QUERY] = "query",
                                        [MRS_ARG_SORT] = "sort",
                                        [MRS_ARG_MATCH] = "path: path",
                                        [MRS_ARG_BOOL] = "bool",
                                        [MRS_ARG_COUNT] = "count",
                                        [MRS_ARG_CHOICE] = "one of",
                                        [MRS_ARG_CHOICE_OR_COLL] = "one of, or { into: COLL }",
                                        [MRS_ARG_MAP] = "map",
                                        [MRS_ARG_LIST] = "list",
                                        [MRS_ARG_ANY] = "value"};
    return words[type];
}

static void
help_step(const struct mrs_step_type *t)
{
    printf("%s: %s\n\nkeys (* required)\n", t->name, t->summary);
    for (uint32_t i = 0; i < t->n_keys; i++) {
        const struct mrs_key *k = &t->keys[i];
        printf("  %-14s%c %s: %s%s%s%s\n", k->name, k->needed ? '*' : ' ', type_word(k->type), k->help,
               k->choices ? " (" : "", k->choices ? k->choices : "", k->choices ? "; the first is the default)" : "");
    }
    printf("\ndocs/PLANS.md explains them, with an example.\n");
}

static void
help_operators(void)
{
    const struct mrs_op_row *row;
    const char *family = "";
    for (uint32_t i = 0; (row = mrs_op_rows(i)); i++) {
        if (strcmp(row->family, family) != 0) {
            printf("%s%s\n ", i ? "\n\n" : "", row->family);
            family = row->family;
        }
        printf(" %s", row->name);
    }
    printf("\n\ndocs/OPERATORS.md tells where they differ from a server's, and which are refused.\n");
}

bool
mrsi_help_topic(const char *name)
{
    const struct mrs_step_type *t = mrs_step_type_find(name);
    if (t) {
        help_step(t);
    } else if (strcmp(name, "operators") == 0) {
        help_operators();
    } else if (strcmp(name, "steps") == 0) {
        for (uint32_t i = 0; (t = mrs_step_type_at(i)); i++) {
            printf("  %-18s %s\n", t->name, t->summary);
        }
    } else {
        return false;
    }
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* topics.c - `help STEP` and `help operators`, from the tables of the library. */
#include "options.h"
#include <stdio.h>
#include <string.h>
#include "mongoreshape/expr.h"
#include "mongoreshape/plan.h"

static void
help_step(const struct mrs_step_type *t)
{
    printf("%s: %s\n\nkeys (* required)\n", t->name, t->summary);
    for (uint32_t i = 0; i < t->n_keys; i++) {
        const struct mrs_key *k = &t->keys[i];
        printf("  %-14s%c %s: %s%s%s%s\n", k->name, k->needed ? '*' : ' ', mrs_arg_word(k->type), k->help,
               k->choices ? " (" : "", k->choices ? k->choices : "", k->choices ? "; the first is the default)" : "");
    }
    printf("\n`mongoreshape plan %s` prints a plan to begin with; docs/PLANS.md explains.\n", t->name);
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

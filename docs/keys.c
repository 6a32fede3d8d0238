/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - prints docs/KEYS.md from the tables of the steps, so that the page cannot drift.
 *
 *   keys > docs/KEYS.md       (make docs; tests/cli/operators.sh compares) */
#include "mongoreshape/plan.h"
#include <stdio.h>
#include <string.h>

/* A text in a cell of a table. */
static void
cell(const char *text)
{
    for (; *text; text++) {
        printf(*text == '|' ? "\\|" : "%c", *text);
    }
}

static void
rows(const struct mrs_key *keys, uint32_t n)
{
    printf("| key | | what is written | meaning |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < n; i++) {
        printf("| `%s` | %s | ", keys[i].name, keys[i].needed ? "needed" : "");
        if (!keys[i].choices) {
            cell(mrs_arg_word(keys[i].type));
        }
        for (const char *at = keys[i].choices; at && *at; at += strcspn(at, "|"), at += *at == '|') {
            printf("%s`%.*s`", at == keys[i].choices ? "" : ", ", (int)strcspn(at, "|"), at);
        }
        printf("%s | ", keys[i].type == MRS_ARG_CHOICE_OR_COLL ? ", `{ into: COLL }`" : "");
        cell(keys[i].help);
        printf(" |\n");
    }
}

static void
step(const struct mrs_step_type *t)
{
    printf("\n## %s\n%s.\n\n", t->name, t->summary);
    rows(t->keys, t->n_keys);
    for (uint32_t i = 0; i < t->n_inner; i++) {
        printf("\nIn%s `%s`:\n\n", t->inner[i].each ? " each entry of" : "", t->inner[i].key);
        rows(t->inner[i].keys, t->inner[i].n_keys);
    }
}

int
main(void)
{
    const struct mrs_step_type *t;
    uint32_t n;
    const struct mrs_key *top = mrs_plan_keys(&n);
    printf("# Every key of every step\n"
           "[PLANS.md](PLANS.md) explains them; this page lists them, as `mongoreshape help STEP` does. Of choices\n"
           "the first is the default. `make docs` writes it from the tables of the steps; a test compares.\n\n"
           "## A plan\n\n");
    rows(top, n);
    for (uint32_t i = 0; (t = mrs_step_type_at(i)); i++) {
        step(t);
    }
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

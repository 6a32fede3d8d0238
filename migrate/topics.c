/* SPDX-License-Identifier: Apache-2.0 */
/* topics.c - `help STEP`, `help operators` and the manual page of the plan language, from the tables of the library. */
#include "commands.h"
#include "options.h"
#include <stdio.h>
#include <string.h>
#include "mongoreshape/expr.h"
#include "mongoreshape/plan.h"

enum { KEY_TEXT = 18 }; /* the column where the text of a key begins */

static void
help_step(const struct mrs_step_type *t)
{
    char text[1024];
    snprintf(text, sizeof text, "%s: %s", t->name, t->summary);
    mrs_text_fold(stdout, text, 0, 0);
    printf("\nkeys (* required)\n");
    for (uint32_t i = 0; i < t->n_keys; i++) {
        const struct mrs_key *k = &t->keys[i];
        printf("  %-14s%c ", k->name, k->needed ? '*' : ' ');
        snprintf(text, sizeof text, "%s: %s%s%s%s", mrs_arg_word(k->type), k->help, k->choices ? " (" : "",
                 k->choices ? k->choices : "", k->choices ? "; the first is the default)" : "");
        mrs_text_fold(stdout, text, KEY_TEXT, KEY_TEXT);
    }
    printf("\n`mongoreshape plan %s` prints a plan to begin with; docs/PLANS.md explains.\n", t->name);
}

static void
help_operators(void)
{
    const struct mrs_op_row *row;
    const char *family = "";
    int width = mrs_text_width(stdout), col = 0;
    for (uint32_t i = 0; (row = mrs_op_rows(i)); i++) {
        int n = (int)strlen(row->name) + 1;
        if (strcmp(row->family, family) != 0) {
            printf("%s%s\n ", i ? "\n\n" : "", row->family);
            family = row->family;
            col = 1;
        } else if (col + n > width) {
            printf("\n ");
            col = 1;
        }
        printf(" %s", row->name);
        col += n;
    }
    printf("\n\ndocs/OPERATORS.md tells where they differ from a server's, and which are refused.\n");
}

/* A word of other tools, or an operator. */
static bool
help_word(const char *name)
{
    const char *step = mrs_plan_done_by(name);
    const struct mrs_op_row *row = NULL;
    for (uint32_t i = 0; !step && (row = mrs_op_rows(i)) && strcmp(row->name, name) != 0; i++) {
    }
    if (step) {
        printf("no step is called `%s`: %s\n", name, step);
    } else if (row) {
        bool refused = strcmp(row->family, "refused") == 0;
        printf("%s: %s%s%s%s\ndocs/OPERATORS.md lists where operators differ from a server's.\n", name,
               refused ? "" : "an operator, of the family ", row->family, *row->note ? ": " : "", row->note);
    }
    return step || row;
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
        return help_word(name);
    }
    return true;
}

const char *
mrsi_help_word(const struct mrs_cli_command *c, uint32_t i)
{
    const struct mrs_step_type *t = c->run == mrsi_cmd_plan ? mrs_step_type_at(i) : NULL;
    return t ? t->name : NULL;
}

/* ---- mongoreshape-plan(5) ---- */
static void
page_key(const struct mrs_key *k)
{
    printf(".TP\n\\fB");
    mrs_cli_roff(k->name);
    printf("\\fR (");
    mrs_cli_roff(mrs_arg_word(k->type));
    printf("%s)\n", k->needed ? ", needed" : "");
    mrs_cli_roff(k->help);
    for (const char *at = k->choices; at && *at; at += strcspn(at, "|"), at += *at == '|') {
        printf("%s\\fB%.*s\\fR", at == k->choices ? ": " : ", ", (int)strcspn(at, "|"), at);
    }
    printf(".\n");
}

/* The lines of the example for a step. */
static void
page_example(const struct mrs_step_type *t)
{
    char line[256];
    printf(".PP\n.nf\n.RS\n\\- %s:\n", t->name);
    for (const char *at = t->example; *at && *at != '\n'; at += strcspn(at, "\n") + 1) {
        MRS_ASSERT(strcspn(at, "\n") < sizeof line && strchr(at, '\n'));
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        printf("    ");
        mrs_cli_roff(line);
        printf("\n");
    }
    printf(".RE\n.fi\n");
}

static void
page_step(const struct mrs_step_type *t)
{
    MRS_ASSERT(t->example && t->summary);
    printf(".SS %s\n", t->name);
    mrs_cli_roff(t->summary);
    printf(".\n");
    page_example(t);
    for (uint32_t i = 0; i < t->n_keys; i++) {
        page_key(&t->keys[i]);
    }
    for (uint32_t i = 0; i < t->n_inner; i++) {
        printf(".PP\nIn%s \\fB%s\\fR:\n.RS\n", t->inner[i].each ? " each entry of" : "", t->inner[i].key);
        for (uint32_t k = 0; k < t->inner[i].n_keys; k++) {
            page_key(&t->inner[i].keys[k]);
        }
        printf(".RE\n");
    }
}

bool
mrsi_help_page(const char *name)
{
    static const char *const words[] = {
        "A plan is a list of steps that run in order, each seeing the collections as the step before left them. It is "
        "YAML, hence also JSON. Values are Extended JSON v2. Of words only `true`, `false`, `null` and `~` mean more. "
        "Integers become int32 where they fit, else int64.",
        "A collection is a text, or `{ db: shop, coll: orders }` for one of another database. A path is `a.b.c`, or a "
        "list of names where one has a dot in it. Expressions, queries and accumulators are those of the aggregation "
        "framework. Of choices the first is the default; no default loses data.",
        ("`mongoreshape plan STEP` prints a plan to begin with, `mongoreshape check` finds all errors at once, "
         "`mongoreshape explain` explains a plan.")};
    const struct mrs_step_type *t;
    uint32_t n;
    const struct mrs_key *top = mrs_plan_keys(&n);
    if (strcmp(name, "plan") != 0) {
        return false;
    }
    printf(".TH MONGORESHAPE\\-PLAN 5 \"\" \"mongoreshape %s\" \"File Formats\"\n.SH NAME\n"
           "mongoreshape\\-plan \\- the language of plans for mongoreshape\n.SH DESCRIPTION\n", mrsi_tool.version);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        printf("%s", i ? ".PP\n" : "");
        mrs_cli_roff(words[i]);
        printf("\n");
    }
    printf(".SH KEYS OF A PLAN\n");
    for (uint32_t i = 0; i < n; i++) {
        page_key(&top[i]);
    }
    printf(".SH STEPS\n");
    for (uint32_t i = 0; (t = mrs_step_type_at(i)); i++) {
        page_step(t);
    }
    printf(".SH SEE ALSO\n.BR mongoreshape (1),\n.BR mongoreshape\\-live (1)\n");
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - the command `help`, and `--help`, from the tool's table. Requested help goes to standard output.
 *
 * Lines are folded at the width of the terminal, else at 80 columns; options are in the order of the table, which puts
 * the most important first. Knows nothing of what the options mean. */
#include "mongoreshape/cli.h"
#include "mongoreshape/words.h"

#define COLUMN 28
#define NARROW 64 /* columns of a terminal below which the meaning of an option starts on a line of its own */
enum { HELP_NAMES = 128 };

static void
examples(const struct mrs_cli_command *c)
{
    for (const struct mrs_cli_example *x = c->examples; x->line; x++) {
        printf("  # %s\n  %s\n", x->text, x->line);
    }
}

static void
option_row(const struct mrs_cli_option *o)
{
    MRS_ASSERT(o->name);
    char left[64];
    int column = mrs_text_width(stdout) < NARROW ? 8 : COLUMN;
    int n = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                      : snprintf(left, sizeof left, "      --%s", o->name);
    if (o->arg) {
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", o->arg);
    }
    if (n < column - 1) {
        printf("%-*s", column, left);
    } else {
        printf("%s\n%*s", left, column, "");
    }
    char text[400];
    snprintf(text, sizeof text, "%s%s%s%s", o->help, o->fallback ? " (default: " : "",
             o->fallback ? o->fallback : "", o->fallback ? ")" : "");
    mrs_text_fold(stdout, text, column, column);
}

static void
usage(const struct mrs_cli_tool *t, const struct mrs_cli_command *c, const char *before, const char *behind)
{
    printf("%s %s %s%s%s%s%s%s\n", before, t->name, c->name, *c->operand ? " " : "", c->operand, *c->needs ? " " : "",
           c->needs, behind);
}

static void
help_tool(const struct mrs_cli_tool *t)
{
    printf("%s %s - %s\n\n", t->name, t->version, t->summary);
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        usage(t, c, c == t->commands ? "usage:" : "      ", "");
    }
    printf("\n");
    mrs_text_fold(stdout, t->about, 0, 0);
    int column = 10;
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        int n = (int)strlen(c->name) + 2;
        column = n > column ? n : column;
    }
    printf("\n%s\ncommands:\n", t->sketch);
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        printf("  %-*s%s\n", column, c->name, c->summary);
    }
    printf("\nexamples:\n");
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        if (c->examples->line) {
            printf("  # %s\n  %s\n", c->examples->text, c->examples->line);
        }
    }
    printf("\n`%s help COMMAND` explains a command and its options%s.\n", t->name,
           t->topic ? ", `help STEP` a step of a plan,\n`help steps` and `help operators` list what plans are made of"
                    : "");
}

void
mrs_cli_help_command(const struct mrs_cli_tool *t, const struct mrs_cli_command *c)
{
    MRS_ASSERT(c->name);
    usage(t, c, "usage:", " [options]\n");
    for (const char *const *text = c->text; *text; text++) {
        mrs_text_fold(stdout, *text, 0, 0);
        printf("\n");
    }
    printf("options:\n");
    for (const struct mrs_cli_option *o = t->options; o->name; o++) {
        if (o->commands & c->bit) {
            option_row(o);
        }
    }
    printf("\nexamples:\n");
    examples(c);
    printf("\nexit status:\n");
    for (const struct mrs_cli_row *row = t->exits; row->term; row++) {
        printf("  %-7s", row->term);
        mrs_text_fold(stdout, row->text, 9, 9);
    }
}

int
mrs_cli_help(struct mrs_cli *cli)
{
    MRS_ASSERT(cli->tool);
    const char *names[HELP_NAMES] = {0}, *word;
    uint32_t n = 0;
    const struct mrs_cli_tool *t = cli->tool;
    if (cli->version) {
        printf("%s %s\n", t->name, t->version);
        return 0;
    }
    if (cli->man && cli->operand && !(t->page && t->page(cli->operand))) {
        return mrs_cli_misuse(cli, "there is no manual page `%s`", cli->operand);
    }
    if (cli->man) {
        if (!cli->operand) {
            mrs_cli_help_man(t);
        }
        return 0;
    }
    if (cli->completion) {
        mrs_cli_help_shell(t, cli->completion);
        return 0;
    }
    if (!cli->operand) {
        help_tool(t);
        return 0;
    }
    for (const struct mrs_cli_command *c = t->commands; c->name && n < HELP_NAMES; c++) {
        if (strcmp(c->name, cli->operand) == 0) {
            mrs_cli_help_command(t, c);
            return 0;
        }
        names[n++] = c->name;
        for (uint32_t i = 0; t->word && (word = t->word(c, i)) && n < HELP_NAMES; i++) {
            names[n++] = word;
        }
    }
    if (t->topic && t->topic(cli->operand)) {
        return 0;
    }
    const char *near = mrs_nearest(cli->operand, names, n);
    return mrs_cli_misuse(cli, "unknown command%s `%s`%s%s%s", t->topic ? " or step" : "", cli->operand,
                          near ? ", did you mean `" : "", near ? near : "", near ? "`?" : "");
}

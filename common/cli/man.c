/* SPDX-License-Identifier: Apache-2.0 */
/* man.c - the manual page, in roff (man macros), from the same table as the help.
 *
 * Texts mark words of the command line by `...`: they become bold. Hyphens of options and backslashes are escaped for
 * roff. */
#include "mongoreshape/cli.h"

void
mrs_cli_roff(const char *text)
{
    MRS_ASSERT(text);
    bool bold = false;
    if (*text == '.' || *text == '\'') {
        fputs("\\&", stdout);
    }
    for (; *text; text++) {
        if (*text == '`') {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fR", stdout);
        } else if (*text == '-') {
            fputs("\\-", stdout);
        } else if (*text == '\\') {
            fputs("\\e", stdout);
        } else {
            fputc(*text, stdout);
        }
    }
}

/* first: after a heading. */
static void
paragraph(bool first, const char *text)
{
    printf(first ? "" : ".PP\n");
    mrs_cli_roff(text);
    printf("\n");
}

static void
option_entry(const struct mrs_cli_tool *t, const struct mrs_cli_option *o)
{
    MRS_ASSERT(o->name);
    printf(".TP\n\\fB");
    if (o->letter) {
        printf("\\-%c\\fR, \\fB", o->letter);
    }
    printf("\\-\\-%s\\fR", o->name);
    if (o->arg) {
        printf(" \\fI%s\\fR", o->arg);
    }
    printf("\n");
    mrs_cli_roff(o->help);
    if (o->fallback) {
        printf(" (default: ");
        mrs_cli_roff(o->fallback);
        printf(")");
    }
    printf(".\n");
    if (o->more) {
        mrs_cli_roff(o->more);
        printf("\n");
    }
    printf("(");
    const char *comma = "";
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        if (c->bit & o->commands) {
            printf("%s%s", comma, c->name);
            comma = ", ";
        }
    }
    printf(")\n");
}

static void
commands(const struct mrs_cli_tool *t)
{
    printf(".SH COMMANDS\n");
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        printf(".SS ");
        mrs_cli_roff(c->name);
        printf(" %s\n", c->operand);
        for (const char *const *text = c->text; *text; text++) {
            paragraph(text == c->text, *text);
        }
    }
}

static void
section(const struct mrs_cli_section *s)
{
    MRS_ASSERT(s->title);
    printf(".SH %s\n", s->title);
    for (const struct mrs_cli_row *row = s->rows; row->text; row++) {
        if (row->term) {
            printf(".TP\n%s\n", row->term);
        } else if (row != s->rows) {
            printf(".PP\n");
        }
        mrs_cli_roff(row->text);
        printf("\n");
    }
}

static void
examples(const struct mrs_cli_tool *t)
{
    printf(".SH EXAMPLES\n");
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        for (const struct mrs_cli_example *x = c->examples; x->line; x++) {
            paragraph(c == t->commands && x == c->examples, x->text);
            printf(".RS\n.nf\n");
            mrs_cli_roff(x->line);
            printf("\n.fi\n.RE\n");
        }
    }
}

static void
title(const struct mrs_cli_tool *t)
{
    printf(".TH ");
    for (const char *at = t->name; *at; at++) {
        fputc(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at, stdout);
    }
    printf(" 1 \"\" \"%s %s\" \"User Commands\"\n.SH NAME\n", t->name, t->version);
    mrs_cli_roff(t->name);
    printf(" \\- ");
    mrs_cli_roff(t->purpose);
    printf("\n");
}

void
mrs_cli_help_man(const struct mrs_cli_tool *t)
{
    title(t);
    printf(".SH SYNOPSIS\n");
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        printf("%s\\fB", c == t->commands ? "" : ".br\n");
        mrs_cli_roff(t->name);
        printf(" %s\\fR%s%s%s", c->name, *c->operand ? " " : "", c->operand, *c->needs ? " " : "");
        mrs_cli_roff(c->needs);
        printf(" [\\fIoptions\\fR]\n");
    }
    printf(".SH DESCRIPTION\n");
    mrs_cli_roff(t->manual);
    printf("\n");
    commands(t);
    printf(".SH OPTIONS\n");
    for (const struct mrs_cli_option *o = t->options; o->name; o++) {
        option_entry(t, o);
    }
    printf(".SH EXIT STATUS\n");
    for (const struct mrs_cli_row *row = t->exits; row->term; row++) {
        printf(".TP\n\\fB%s\\fR\n", row->term);
        mrs_cli_roff(row->text);
        printf("\n");
    }
    for (const struct mrs_cli_section *s = t->sections; s->title; s++) {
        section(s);
    }
    examples(t);
    printf(".SH SEE ALSO\n%s\n", t->see_also);
}

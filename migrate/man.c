/* man.c - the manual page, in roff (man macros), from the same table as the help.
 *
 * Texts write words of the command line in `...`: they become bold. Hyphens of options and
 * backslashes are escaped as roff wants them. */
#include "help.h"

#include "mongoreshape/version.h"

#include <stdio.h>

static void
roff(const char *text)
{
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

static void
paragraph(const char *macro, const char *text)
{
    printf("%s\n", macro);
    roff(text);
    printf("\n");
}

static void
option_entry(const struct mrsi_option *o)
{
    printf(".TP\n\\fB");
    if (o->letter) {
        printf("\\-%c\\fR, \\fB", o->letter);
    }
    printf("\\-\\-%s\\fR", o->name);
    if (o->arg) {
        printf(" \\fI%s\\fR", o->arg);
    }
    printf("\n");
    roff(o->help);
    if (o->fallback) {
        printf(" (default: ");
        roff(o->fallback);
        printf(")");
    }
    printf(".\n");
    if (o->more) {
        roff(o->more);
        printf("\n");
    }
    printf("(");
    const char *comma = "";
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        if (c->bit & o->commands) {
            printf("%s%s", comma, c->name);
            comma = ", ";
        }
    }
    printf(")\n");
}

static void
commands(void)
{
    printf(".SH COMMANDS\n");
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        printf(".SS ");
        roff(c->name);
        printf(" %s\n", c->operand);
        for (const char *const *text = c->text; *text; text++) {
            paragraph(".PP", *text);
        }
    }
}

static void
closing(void)
{
    printf(".SH SIGNALS\n");
    roff("The first interrupt (Ctrl-C) ends the run at the next safe point: nothing is published "
         "and temporary files are removed. The second ends the program at once; "
         "then `OUT.partial` stays behind, and the next run to the same OUT removes it.\n");
    printf(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\n");
    roff("no colours in messages.\n");
    printf(".TP\n\\fBTMPDIR\\fR\n");
    roff("where temporary files go when there is no output to put them beside.\n");
    printf(".SH FILES\n.TP\n\\fIOUT\\fB.partial\\fR\n");
    roff("the output until it is whole.\n");
    printf(".TP\n\\fIOUT\\fB.refused.bson\\fR, \\fIOUT\\fB.refused.bson.jsonl\\fR\n");
    roff("the refused documents.\n");
    printf(".SH EXAMPLES\n");
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        for (const struct mrsi_example *x = c->examples; x->line; x++) {
            paragraph(".PP", x->text);
            printf(".RS\n.nf\n");
            roff(x->line);
            printf("\n.fi\n.RE\n");
        }
    }
    printf(".SH SEE ALSO\n.BR mongodump (1),\n.BR mongorestore (1)\n");
}

void
mrsi_help_man(void)
{
    printf(".TH MONGORESHAPE 1 \"\" \"mongoreshape %s\" \"User Commands\"\n", MRS_VERSION);
    printf(".SH NAME\nmongoreshape \\- move MongoDB data from one schema design to another\n.SH "
           "SYNOPSIS\n");
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        printf("%s\\fBmongoreshape %s\\fR %s ", c == mrsi_commands ? "" : ".br\n", c->name,
               c->operand);
        roff(c->needs);
        printf(" [\\fIoptions\\fR]\n");
    }
    printf(".SH DESCRIPTION\n");
    roff("A plan, a YAML file, says how documents go from one design to another. The input is a "
         "dump as mongodump writes it; the output is another one, for "
         "mongorestore. The input is never changed.\n");
    commands();
    printf(".SH OPTIONS\n");
    for (const struct mrsi_option *o = mrsi_options; o->name; o++) {
        option_entry(o);
    }
    printf(".SH EXIT STATUS\n");
    for (const struct mrsi_exit_row *row = mrsi_exit_rows; row->status; row++) {
        printf(".TP\n\\fB%s\\fR\n", row->status);
        roff(row->text);
        printf("\n");
    }
    closing();
}

/* help.c - `mongoreshape help` and `--help`, from the table. */
#include "help.h"
#include "text.h"

#include "mongoreshape/version.h"

#define COLUMN 28

const struct mrsi_exit_row mrsi_exit_rows[] = {
    {"0", "done"},
    {"1", "the output is published, but some documents were refused (`check`: would be)"},
    {"2", "wrong usage or a wrong plan; nothing was touched"},
    {"3", "damaged input"},
    {"4", "reading or writing failed"},
    {"5", "a limit was passed, or memory is out"},
    {"7", "more documents were refused than --max-refused; nothing is published"},
    {"128+n", "stopped by signal n; nothing is published"},
    {NULL, NULL},
};

static void
examples(const struct mrsi_command *c)
{
    for (const struct mrsi_example *x = c->examples; x->line; x++) {
        printf("  # %s\n  %s\n", x->text, x->line);
    }
}

static void
option_row(const struct mrsi_option *o)
{
    char left[64];
    int n = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                      : snprintf(left, sizeof left, "      --%s", o->name);
    if (o->arg) {
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", o->arg);
    }
    if (n < COLUMN - 1) {
        printf("%-*s", COLUMN, left);
    } else {
        printf("%s\n%*s", left, COLUMN, "");
    }
    char text[400];
    snprintf(text, sizeof text, "%s%s%s%s", o->help, o->fallback ? " (default: " : "",
             o->fallback ? o->fallback : "", o->fallback ? ")" : "");
    mrsi_text_fold(stdout, text, COLUMN, COLUMN);
}

void
mrsi_help_general(void)
{
    printf("mongoreshape %s - moves MongoDB data from one schema design to another\n\n",
           MRS_VERSION);
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        printf("%s mongoreshape %s %s%s%s\n", c == mrsi_commands ? "usage:" : "      ", c->name,
               c->operand, *c->needs ? " " : "", c->needs);
    }
    printf("\n");
    mrsi_text_fold(stdout,
                   "A plan (a YAML file) says how documents go from one design to another: embed "
                   "comments into their posts, move parts of documents into a "
                   "collection of their own, compute, rename, split. The input is a mongodump "
                   "directory, the output is another one, for mongorestore.",
                   0, 0);
    printf("\na plan:\n"
           "  steps:\n"
           "    - embed:\n"
           "        from: comments          # documents of this collection\n"
           "        into: posts             # go into documents of that one\n"
           "        match: { postId: _id }  # whose _id they name\n"
           "        as: comments            # as this array\n"
           "        drop: [postId]          # without this field\n\n"
           "commands:\n");
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        printf("  %-10s%s\n", c->name, c->summary);
    }
    printf("\nexamples:\n");
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        printf("  # %s\n  %s\n", c->examples->text, c->examples->line);
    }
    printf("\n`mongoreshape help COMMAND` explains a command and its options.\n");
}

void
mrsi_help_command(const struct mrsi_command *c)
{
    printf("usage: mongoreshape %s %s%s%s [options]\n\n", c->name, c->operand, *c->needs ? " " : "",
           c->needs);
    for (const char *const *text = c->text; *text; text++) {
        mrsi_text_fold(stdout, *text, 0, 0);
        printf("\n");
    }
    printf("options:\n");
    for (const struct mrsi_option *o = mrsi_options; o->name; o++) {
        if (o->commands & c->bit) {
            option_row(o);
        }
    }
    printf("\nexamples:\n");
    examples(c);
    printf("\nexit status:\n");
    for (const struct mrsi_exit_row *row = mrsi_exit_rows; row->status; row++) {
        printf("  %-7s", row->status);
        mrsi_text_fold(stdout, row->text, 9, 9);
    }
}

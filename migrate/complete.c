/* complete.c - completions for bash, from the table: commands, the options of each, files, and the
 * words an option may take. */
#include "help.h"

#include <stdio.h>

static void
words(const char *text)
{
    for (; *text; text++) {
        fputc(*text == '|' ? ' ' : *text, stdout);
    }
}

/* A case per option with a value: what may follow it. */
static void
values(void)
{
    printf("    case \"$prev\" in\n");
    for (const struct mrsi_option *o = mrsi_options; o->name; o++) {
        if (!o->arg) {
            continue;
        }
        printf("    ");
        if (o->letter) {
            printf("-%c|", o->letter);
        }
        printf("--%s)", o->name);
        if (o->words) {
            printf(" COMPREPLY=($(compgen -W \"");
            words(o->words);
            printf("\" -- \"$cur\")) ;");
        } else if (o->type == MRSI_PATH) {
            printf(" COMPREPLY=($(compgen -f -- \"$cur\")) ;");
        }
        printf(" return ;;\n");
    }
    printf("    esac\n");
}

static void
options_of(const struct mrsi_command *c)
{
    printf("    %s) options=\"", c->name);
    const char *blank = "";
    for (const struct mrsi_option *o = mrsi_options; o->name; o++) {
        if (o->commands & c->bit) {
            printf("%s--%s", blank, o->name);
            blank = " ";
        }
    }
    printf("\" ;;\n");
}

void
mrsi_help_bash(void)
{
    printf("# bash completion for mongoreshape\n"
           "_mongoreshape() {\n"
           "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" "
           "options=\"\"\n"
           "    local commands=\"");
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        printf("%s%s", c == mrsi_commands ? "" : " ", c->name);
    }
    printf("\"\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$cur\")) ; return\n"
           "    fi\n");
    values();
    printf("    case \"${COMP_WORDS[1]}\" in\n");
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        options_of(c);
    }
    printf("    esac\n"
           "    case \"$cur\" in\n"
           "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
           "    *) if [ \"${COMP_WORDS[1]}\" = help ]; then COMPREPLY=($(compgen -W \"$commands\" "
           "-- \"$cur\"))\n"
           "       else COMPREPLY=($(compgen -f -- \"$cur\")) ; fi ;;\n"
           "    esac\n"
           "}\n"
           "complete -o filenames -F _mongoreshape mongoreshape\n");
}

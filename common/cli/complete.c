/* SPDX-License-Identifier: Apache-2.0 */
/* complete.c - completions for bash, zsh and fish, from the table: commands, the options of each, files, and the words
 * of an option.
 *
 * Each shell quotes in its own way, so each has a small writer; the grammar is the same for all. Names of files are
 * left to the shell, which quotes blanks, stars and the like. Quotation marks of words in texts (`...`) are removed. */
#include "mongoreshape/cli.h"

/* The name of a function of bash: "_mongoreshape_live". */
static void
function_name(const struct mrs_cli_tool *t)
{
    fputc('_', stdout);
    for (const char *at = t->name; *at; at++) {
        fputc(*at == '-' ? '_' : *at, stdout);
    }
}

/* Prints words, with ` ` for `|`, and a backslash before each character of `escaped`. */
static void
words(const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (strchr(escaped, *text)) {
            fputc('\\', stdout);
        }
        fputc(*text == '|' ? ' ' : *text, stdout);
    }
}

/* Inside '...': quotes by `quote`, without the marks. */
static void
quoted(const char *text, const char *quote, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs(quote, stdout);
        } else if (*text != '`') {
            if (strchr(escaped, *text)) {
                fputc('\\', stdout);
            }
            fputc(*text, stdout);
        }
    }
}

/* The possible words of a command's operand. */
static void
operand_words(const struct mrs_cli_tool *t, const struct mrs_cli_command *c)
{
    const char *word;
    uint32_t n = 0;
    while (t->word && (word = t->word(c, n))) {
        printf("%s%s", n++ ? " " : "", word);
    }
}

static bool
has_words(const struct mrs_cli_tool *t, const struct mrs_cli_command *c)
{
    return t->word && t->word(c, 0);
}

/* ---- bash ---- */
/* A case per option with a value: the completions after it. */
static void
bash_values(const struct mrs_cli_tool *t)
{
    printf("    case \"$prev\" in\n");
    for (const struct mrs_cli_option *o = t->options; o->name; o++) {
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
            words(o->words, "");
            printf("\" -- \"$cur\")) ; compopt +o default ;");
        } else if (o->type == MRS_CLI_FOLDER) {
            printf(" compopt -o dirnames +o default ;");
        } else if (o->type != MRS_CLI_PATH) {
            printf(" compopt +o default ;");
        }
        printf(" return ;;\n");
    }
    printf("    esac\n");
}

static void
bash_options(const struct mrs_cli_tool *t, const struct mrs_cli_command *c)
{
    const char *blank = "";
    printf("    %s) ", c->name);
    if (has_words(t, c)) {
        printf("operands=\"");
        operand_words(t, c);
        printf("\" ");
    }
    printf("options=\"");
    for (const struct mrs_cli_option *o = t->options; o->name; o++) {
        if (o->commands & c->bit) {
            printf("%s--%s", blank, o->name);
            blank = " ";
        }
    }
    printf("\" ;;\n");
}

static void
bash(const struct mrs_cli_tool *t)
{
    printf("# bash completion for %s\n", t->name);
    function_name(t);
    printf("() {\n"
           "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" "
           "options=\"\" operands=\"\"\n"
           "    local commands=\"");
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        printf("%s%s", c == t->commands ? "" : " ", c->name);
    }
    printf("\"\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$cur\")) ; return\n"
           "    fi\n");
    bash_values(t);
    printf("    case \"${COMP_WORDS[1]}\" in\n");
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        bash_options(t, c);
    }
    printf("    esac\n"
           "    case \"$cur\" in\n"
           "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
           "    *) [ \"${COMP_WORDS[1]}\" != help ] || operands=$commands\n"
           "       [ -z \"$operands\" ] || { COMPREPLY=($(compgen -W \"$operands\" -- \"$cur\")) ; "
           "compopt +o default ; } ;;\n"
           "    esac\n"
           "}\n"
           "complete -o default -F ");
    function_name(t);
    printf(" %s\n", t->name);
}

/* ---- zsh ---- */
static void
zsh_option(const struct mrs_cli_option *o)
{
    MRS_ASSERT(o->name);
    const char *again = o->type == MRS_CLI_LIST ? "*" : "";
    if (o->letter && !*again) {
        printf(" \\\n            '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
    } else {
        printf(" \\\n            '%s--%s[", again, o->name);
    }
    quoted(o->help, "'\\''", "[]");
    printf("]");
    if (o->arg) {
        printf(":%s:", o->arg);
    }
    if (o->words) {
        printf("(");
        words(o->words, ":");
        printf(")");
    } else if (o->type == MRS_CLI_PATH) {
        printf("_files");
    } else if (o->type == MRS_CLI_FOLDER) {
        printf("_files -/");
    }
    printf("'");
}

static void
zsh_operand(const struct mrs_cli_tool *t, const struct mrs_cli_command *c)
{
    bool help = c->run == mrs_cli_help, words = has_words(t, c);
    printf(" \\\n            '2:%s:%s", help ? "command" : words ? "step" : "plan",
           help ? "{_describe command commands}" : words ? "(" : "_files");
    if (words) {
        operand_words(t, c);
    }
    printf("%s' ;;\n", words ? ")" : "");
}

/* The function has the name of its file: at the first Tab zsh loads the file, and then it must run. */
static void
zsh(const struct mrs_cli_tool *t)
{
    printf("#compdef %s\n_%s() {\n    local -a commands\n    commands=(\n", t->name, t->name);
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        printf("        '%s:", c->name);
        quoted(c->summary, "'\\''", ":");
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then _describe command commands; return; fi\n    case $words[2] in\n");
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        printf("    %s) _arguments -s", c->name);
        for (const struct mrs_cli_option *o = t->options; o->name; o++) {
            if (o->commands & c->bit) {
                zsh_option(o);
            }
        }
        zsh_operand(t, c);
    }
    printf("    esac\n}\nif [ \"$funcstack[1]\" = \"_%s\" ]; then _%s \"$@\"; else compdef _%s %s; fi\n", t->name,
           t->name, t->name, t->name);
}

/* ---- fish ---- */
static void
fish_option(const struct mrs_cli_tool *t, const struct mrs_cli_option *o)
{
    MRS_ASSERT(o->name);
    printf("complete -c %s -n '__fish_seen_subcommand_from", t->name);
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        if (o->commands & c->bit) {
            printf(" %s", c->name);
        }
    }
    printf("' -l %s", o->name);
    if (o->letter) {
        printf(" -s %c", o->letter);
    }
    if (o->words) {
        printf(" -x -a '");
        words(o->words, "");
        printf("'");
    } else if (o->arg) {
        fputs(o->type == MRS_CLI_PATH     ? " -r -F"
              : o->type == MRS_CLI_FOLDER ? " -x -a '(__fish_complete_directories)'"
                                          : " -x", stdout);
    }
    printf(" -d '");
    quoted(o->help, "\\'", "\\");
    printf("'\n");
}

static void
fish(const struct mrs_cli_tool *t)
{
    printf("# fish completion for %s\n", t->name);
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        printf("complete -c %s -f -n __fish_use_subcommand -a %s -d '", t->name, c->name);
        quoted(c->summary, "\\'", "\\");
        printf("'\n");
    }
    for (const struct mrs_cli_option *o = t->options; o->name; o++) {
        fish_option(t, o);
    }
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        if (has_words(t, c)) {
            printf("complete -c %s -f -n '__fish_seen_subcommand_from %s' -a '", t->name, c->name);
            operand_words(t, c);
            printf("'\n");
        }
    }
    printf("complete -c %s -f -n '__fish_seen_subcommand_from help' -a '", t->name);
    for (const struct mrs_cli_command *c = t->commands; c->name; c++) {
        printf("%s%s", c == t->commands ? "" : " ", c->name);
    }
    printf("'\n");
}

void
mrs_cli_help_shell(const struct mrs_cli_tool *t, const char *shell)
{
    MRS_ASSERT(shell);
    if (strcmp(shell, "zsh") == 0) {
        zsh(t);
    } else if (strcmp(shell, "fish") == 0) {
        fish(t);
    } else {
        bash(t);
    }
}

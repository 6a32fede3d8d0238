/* cmd_help.c - `mongoreshape help`: of the program, of a command, as manual or completions. Help
 * that is asked for goes to standard output. */
#include "commands.h"
#include "help.h"

#include "mongoreshape/version.h"

#include <stdio.h>

int
mrsi_cmd_help(struct mrsi_cli *cli)
{
    const char *names[8] = {0};
    uint32_t n = 0;
    if (cli->version) {
        printf("mongoreshape %s\n", MRS_VERSION);
        return 0;
    }
    if (cli->man) {
        mrsi_help_man();
        return 0;
    }
    if (cli->completion) {
        mrsi_help_bash();
        return 0;
    }
    if (!cli->operand) {
        mrsi_help_general();
        return 0;
    }
    for (const struct mrsi_command *c = mrsi_commands; c->name; c++) {
        if (strcmp(c->name, cli->operand) == 0) {
            mrsi_help_command(c);
            return 0;
        }
        names[n++] = c->name;
    }
    const char *near = mrs_nearest(cli->operand, names, n);
    return mrsi_cli_misuse(cli, "unknown command `%s`%s%s%s", cli->operand,
                           near ? ", did you mean `" : "", near ? near : "", near ? "`?" : "");
}

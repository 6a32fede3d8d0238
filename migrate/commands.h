/* commands.h - the commands, one file each; they return the exit status. */
#ifndef MRSI_COMMANDS_H
#define MRSI_COMMANDS_H

struct mrsi_cli;

int mrsi_cmd_run(struct mrsi_cli *cli);
int mrsi_cmd_check(struct mrsi_cli *cli);
int mrsi_cmd_explain(struct mrsi_cli *cli);
int mrsi_cmd_help(struct mrsi_cli *cli);

#endif

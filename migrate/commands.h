/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands, one file for each; they return the exit status. */
#ifndef MRSI_COMMANDS_H
#define MRSI_COMMANDS_H

struct mrs_cli;

int mrsi_cmd_run(struct mrs_cli *line);
int mrsi_cmd_check(struct mrs_cli *line);
int mrsi_cmd_plan(struct mrs_cli *line);
int mrsi_cmd_explain(struct mrs_cli *line);
int mrsi_cmd_invert(struct mrs_cli *line);
int mrsi_cmd_cat(struct mrs_cli *line);
int mrsi_cmd_diff(struct mrs_cli *line);
int mrsi_cmd_inspect(struct mrs_cli *line);

#endif

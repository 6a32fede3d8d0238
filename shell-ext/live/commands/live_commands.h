/* SPDX-License-Identifier: Apache-2.0 */
/* live_commands.h - the commands of mongoreshape-live; each returns the exit status. */
#ifndef LIVE_COMMANDS_H
#define LIVE_COMMANDS_H

struct mrs_cli;

int live_cmd_apply(struct mrs_cli *line);
int live_cmd_inspect(struct mrs_cli *line);
int live_cmd_verify(struct mrs_cli *line);
int live_cmd_contract(struct mrs_cli *line);
int live_cmd_rollback(struct mrs_cli *line);
int live_cmd_status(struct mrs_cli *line);
int live_cmd_pause(struct mrs_cli *line);
int live_cmd_resume(struct mrs_cli *line);
int live_cmd_throttle(struct mrs_cli *line);
int live_cmd_abort(struct mrs_cli *line);
int live_cmd_privileges(struct mrs_cli *line);

#endif

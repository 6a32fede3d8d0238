/* SPDX-License-Identifier: Apache-2.0 */
/* shell.h - finds literals of the mongo shell in the value of a plan's key. */
#ifndef MRSI_PLAN_SHELL_H
#define MRSI_PLAN_SHELL_H

#include "plan_internal.h"

/* Reports those in the value of a step's key; false: there were some. */
bool mrsi_plan_shell(struct mrsi_plan *p, const struct mrs_step_type *type, const struct mrs_key *key,
                     const struct mrsi_yaml_entry *at);

#endif

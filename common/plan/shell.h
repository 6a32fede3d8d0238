/* SPDX-License-Identifier: Apache-2.0 */
/* shell.h - literals of the shell, as ISODate("2020-01-01") or /^a/i, which a plan cannot hold. */
#ifndef MRSI_PLAN_SHELL_H
#define MRSI_PLAN_SHELL_H

#include "plan_internal.h"

struct mrsi_shell_text { /* the Extended JSON that stands for one */
    char text[256];
};
/* Whether the line, where YAML failed, has one. */
bool mrsi_shell_find(struct mrs_mem *mem, const char *line, size_t n, struct mrsi_shell_text *out);
/* Reports those in the value of a step's key; false: there were some. */
bool mrsi_plan_shell(struct mrsi_plan *p, const struct mrs_step_type *type, const struct mrs_key *key,
                     const struct mrsi_yaml_entry *at);

#endif

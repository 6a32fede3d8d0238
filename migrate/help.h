/* help.h - the three things made of the option table for reading: help, manual, completions. They
 * print to standard output. */
#ifndef MRSI_HELP_H
#define MRSI_HELP_H

#include "options.h"

void mrsi_help_general(void);
void mrsi_help_command(const struct mrsi_command *c);
void mrsi_help_man(void);
void mrsi_help_bash(void);

/* Exit statuses with their meaning, for help and manual; text NULL behind the last. */
struct mrsi_exit_row {
    const char *status, *text;
};
extern const struct mrsi_exit_row mrsi_exit_rows[];

#endif

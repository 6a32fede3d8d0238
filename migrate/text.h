/* text.h - small helpers for what the tool prints. */
#ifndef MRSI_TEXT_H
#define MRSI_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MRSI_TEXT_WIDTH 80

/* Prints text folded at MRSI_TEXT_WIDTH, every line but the first behind `indent` blanks; col:
 * where the first begins. Ends the line. */
void mrsi_text_fold(FILE *f, const char *text, int indent, int col);
/* "12.3 MiB"; returns text. */
const char *mrsi_text_size(uint64_t bytes, char text[32]);
/* "1,234,567"; returns text. */
const char *mrsi_text_count(uint64_t n, char text[32]);
/* "0.42 s", "3 min 05 s"; returns text. */
const char *mrsi_text_time(uint64_t ms, char text[32]);
/* Whether f is a terminal that wants colours (NO_COLOR, TERM=dumb). */
bool mrsi_text_colour(FILE *f);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* page_file.h - the file that --html asks for. */
#ifndef MRSI_PAGE_FILE_H
#define MRSI_PAGE_FILE_H

#include "mongoreshape/cli.h"

/* Whether the page may be written to path (NULL: none is wanted): nothing has that name, or an earlier page, and it
 * does not lie in one of the inputs (NULL: none). 0, or the exit status once it was told why not. */
int mrsi_page_look(const struct mrs_cli *line, const char *path, const char *const input[2]);
/* Written whole; report: one JSON object, bad where memory was out. */
enum mrs_status mrsi_page_write(const char *path, const char *kind, const struct mrs_buf *report, const char *plan,
                                struct mrs_err *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_text.h - text as every reader of YAML takes it. */
#ifndef MRS_YAML_TEXT_H
#define MRS_YAML_TEXT_H

#include "mongoreshape/mem.h"

/* A text, in quotes where it needs them. */
void mrs_yaml_text(struct mrs_buf *out, const char *text, size_t n);
/* JSON text that is also valid YAML: special characters are escaped. */
void mrs_yaml_json(struct mrs_buf *out, const uint8_t *p, size_t n);
/* Text for a comment: without line breaks. */
void mrs_yaml_comment(struct mrs_buf *out, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* page_parts.h - the template of a page, made of the files in page/ while building: what stands before the report and
 * what stands behind it. */
#ifndef MRSI_PAGE_PARTS_H
#define MRSI_PAGE_PARTS_H

#include <stddef.h>

extern const unsigned char mrsi_page_head[], mrsi_page_tail[];
extern const size_t mrsi_page_head_n, mrsi_page_tail_n;

#endif

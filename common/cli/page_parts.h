/* SPDX-License-Identifier: Apache-2.0 */
/* page_parts.h - a page as bytes: the template, made of the files in page/ at build time (the parts before and after
 * the report), and the report in it. */
#ifndef MRSI_PAGE_PARTS_H
#define MRSI_PAGE_PARTS_H

#include "mongoreshape/doc.h"

extern const unsigned char mrsi_page_head[], mrsi_page_tail[];
extern const size_t mrsi_page_head_n, mrsi_page_tail_n;

struct mrsi_page {
    const char *kind; /* "inspect", "run", "diff": selects the view */
    const void *report; /* one JSON object */
    size_t n;
    const char *plan; /* text of a related plan; NULL */
};
/* Appends the page to out, which is bad without memory. */
void mrsi_page_put(struct mrs_buf *out, const struct mrsi_page *page);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* doc.h - is C, but no C++; and one function has no comment. */
#ifndef DIRTY_DOC_H
#define DIRTY_DOC_H

int mrs_undocumented(int class);

/* This one is documented. */
int mrs_documented(void);
int mrs_documented_with_it(void);
#endif

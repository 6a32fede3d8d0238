/* SPDX-License-Identifier: Apache-2.0 */
/* assert.c - aborts a program built with assertions at a false one. Other programs do not contain it. */
#include "mongoreshape/assert.h"

#ifdef MRS_ASSERTS
#include <stdio.h>
#include <stdlib.h>

void
mrs_assert_failed(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, what);
    abort();
}
#endif

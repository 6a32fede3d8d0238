/* SPDX-License-Identifier: Apache-2.0 */
/* pass.c - an engine does not print, the driver has one door, what is global is called live_. */
#include "mongoreshape/cli.h"
#include <mongoc/mongoc.h>

void
live_pass(void)
{
    fputs("text", stderr);
}

static int
mine(int a)
{
    return a;
}

int
not_mine(int a)
{
    return mine(a);
}

/* pass.c - an engine does not print, and the driver has one door. */
#include "mongoreshape/cli.h"
#include <mongoc/mongoc.h>

void
live_pass(void)
{
    fputs("text", stderr);
}

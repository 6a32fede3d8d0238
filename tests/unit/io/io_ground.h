/* SPDX-License-Identifier: Apache-2.0 */
/* io_ground.h - what the tests of one program stand on: one heap that must be empty at the end, an error, a folder. */
#ifndef IO_GROUND_H
#define IO_GROUND_H

#include "io_test.h"

static struct mrs_mem *mem;
static struct mrs_err err;

static int
begin(void **state)
{
    mem = mrs_mem_new(0);
    mrs_err_clear(&err);
    return make_top(state);
}

static int
finish(void **state)
{
    int leak = mrs_mem_close(mem) != 0;
    return drop_top(state) || leak;
}

#endif

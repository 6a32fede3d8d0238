/* SPDX-License-Identifier: Apache-2.0 */
/* live_test.h - what the tests of the online tool share: the server of tests/server/with, or a skip by name.
 *
 * main of such a test ends by live_test_need_server: without MONGODB_URI its exit status is 77, as tests/server/with
 * has it. */
#ifndef LIVE_TEST_H
#define LIVE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/link/bson.h"
#include "live/link/connection.h"

#include <stdio.h>
#include <stdlib.h>

static inline const char *
live_test_need_server(const char *test)
{
    const char *uri = getenv("MONGODB_URI");
    if (!uri || !*uri) {
        fprintf(stderr, "%s: skipped, there is no MONGODB_URI (run it under tests/server/with)\n", test);
        exit(77);
    }
    return uri;
}

static inline bool
live_test_replicated(void)
{
    const char *t = getenv("MONGODB_TOPOLOGY");
    return !t || strcmp(t, "standalone") != 0;
}

#endif

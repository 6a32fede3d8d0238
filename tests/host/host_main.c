/* SPDX-License-Identifier: Apache-2.0 */
/* host_main.c - a server that is none, as a program.
 *
 *   host SO                                         every sentence of docs/SERVER.md
 *   host SO case PLAN.yaml IN-DIR OUT-DIR REFUSED   a case against what the offline tool made of it
 *   host SO shown FILE                              the stages and options that docs/SERVER.md shows
 *   host SO stages FILE DB                          the stages that `explain --stage --json` shows
 *   host SO damage N                                N specifications that are cut and changed */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>

static void
all(const char *so)
{
    struct host h;
    host_versions(so);
    host_options(so);
    if (!host_open(&h, so, "")) {
        CHECK(!"the extension can be loaded");
        return;
    }
    bool watched = host_memory_watch();
    host_forms(&h);
    host_running(&h);
    host_kinds(&h);
    host_damage(&h, 2000);
    if (watched) {
        long before = host_memory_live();
        host_forms(&h);
        host_running(&h);
        host_kinds(&h);
        CHECK(host_memory_live() == before);
        host_failing(&h, so);
    }
    CHECK(host_counts.statuses == 0 && host_counts.bufs == 0 && !host_counts.tripwire);
}

int
main(int argc, char **argv)
{
    struct host h;
    if (argc > 2 && strcmp(argv[2], "case") == 0) {
        return host_case(argv[1], argc - 3, argv + 3);
    }
    if (argc == 5 && strcmp(argv[2], "stages") == 0) {
        host_stages(argv[1], argv[3], argv[4]);
        printf("%ld passed, %ld failed\n", host_passed, host_failed);
        return host_failed != 0;
    }
    if (argc != 2 && (argc != 4 || (strcmp(argv[2], "damage") != 0 && strcmp(argv[2], "shown") != 0))) {
        fprintf(stderr, "usage: host SO [case PLAN IN OUT REFUSED | damage N | shown FILE | stages FILE DB]\n");
        return 2;
    }
    if (argc == 2) {
        all(argv[1]);
    } else if (*argv[2] == 's') {
        host_shown(argv[1], argv[3]);
    } else if (host_open(&h, argv[1], "")) {
        host_damage(&h, (unsigned)atoi(argv[3]));
    }
    printf("%ld passed, %ld failed\n", host_passed, host_failed);
    return host_failed != 0;
}

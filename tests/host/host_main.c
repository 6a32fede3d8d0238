/* SPDX-License-Identifier: Apache-2.0 */
/* host_main.c - a server that is none, as a program.
 *
 *   host SO                                         every sentence of docs/SERVER.md
 *   host SO case PLAN.yaml IN-DIR OUT-DIR REFUSED   a case against what the offline tool made of it */
#include "host.h"

#include <stdio.h>

int
main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[2], "case") == 0) {
        return host_case(argv[1], argc - 3, argv + 3);
    }
    if (argc != 2) {
        fprintf(stderr, "usage: host SO [case PLAN IN OUT REFUSED]\n");
        return 2;
    }
    host_sentences(argv[1]);
    printf("%ld passed, %ld failed\n", host_passed, host_failed);
    return host_failed != 0;
}

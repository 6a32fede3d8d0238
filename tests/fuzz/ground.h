/* SPDX-License-Identifier: Apache-2.0 */
/* ground.h - what fuzz targets stand on that work with files: a folder, its removal, how many files are open. */
#ifndef FUZZ_GROUND_H
#define FUZZ_GROUND_H

#include "../folder.h"
#include <dirent.h>
#include <unistd.h>

static char top[256]; /* the folder, where one is used */

static inline void
must(bool ok)
{
    if (!ok) {
        abort();
    }
}

/* A path below the folder; good until the sixteenth next call. */
static inline const char *
at(const char *name)
{
    static char ring[16][600];
    static int next;
    char *room = ring[next++ % 16];
    snprintf(room, sizeof ring[0], "%s/%s", top, name);
    return room;
}

static inline unsigned
open_files(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    must(d != NULL);
    while (readdir(d)) {
        n++;
    }
    closedir(d);
    return n;
}

#endif

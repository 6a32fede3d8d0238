/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - a folder of a test program's own, and how folders go with all that is in them. */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static inline int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *w)
{
    (void)st;
    (void)kind;
    (void)w;
    return remove(path);
}

/* 0, or what kept it from going; a folder that is not there is no harm to callers who look at nothing. */
static inline int
drop_tree(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A new folder below TMPDIR, its name in `top`. */
static inline bool
new_folder(char top[256], const char *prefix)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(top, 256, "%s/%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", prefix);
    return mkdtemp(top) != NULL;
}

#endif

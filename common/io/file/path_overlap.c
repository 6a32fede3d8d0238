/* SPDX-License-Identifier: Apache-2.0 */
/* path_overlap.c - whether a written file would replace another one, by their resolved names. */
#include "file.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* True if path is dir or is in it. */
static bool
inside(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == 0 || path[n] == '/' || (n == 1 && dir[0] == '/'));
}

/* Resolves the name of a path that may not exist, with its folders. Allocates nothing: a lack of memory would make
 * overlapping paths look distinct. */
static bool
resolve_new(const char *path, char real[PATH_MAX])
{
    char there[PATH_MAX]; /* the longest existing part of path */
    size_t n = strlen(path);
    if (realpath(path, real)) {
        return true;
    }
    if (n >= sizeof there) {
        return false; /* nothing can be opened by that name */
    }
    memcpy(there, path, n + 1);
    do {
        while (n && there[n - 1] != '/') {
            n--;
        }
        while (n > 1 && there[n - 1] == '/') {
            n--;
        }
        there[n] = 0;
    } while (n && !realpath(there, real) && !(n == 1 && there[0] == '/'));
    if (n == 0 && !realpath(".", real)) {
        return false;
    }
    const char *rest = path + n;
    rest += strspn(rest, "/");
    size_t at = strlen(real);
    if (at + strlen(rest) + 2 > PATH_MAX) {
        return false;
    }
    real[at] = '/';
    memcpy(real + at + (at > 1), rest, strlen(rest) + 1);
    return true;
}

bool
mrs_file_is_in(const char *file, const char *kept)
{
    char a[PATH_MAX], b[PATH_MAX];
    return file && kept && strcmp(file, "-") != 0 && strcmp(kept, "-") != 0 && resolve_new(file, a) &&
           resolve_new(kept, b) && inside(a, b);
}

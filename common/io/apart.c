/* SPDX-License-Identifier: Apache-2.0 */
/* apart.c - whether a file that is to be written would take the place of another one, by their resolved names. */
#include "internal.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* True where path is dir or lies in it. */
static bool
inside(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == 0 || path[n] == '/' || (n == 1 && dir[0] == '/'));
}

/* The resolved name of something that need not be there yet. Asks for no memory, without which a file would count as
 * apart. */
static bool
resolve_new(const char *path, char real[PATH_MAX])
{
    if (realpath(path, real)) {
        return true;
    }
    const char *base = mrsi_base_name(path);
    char dir[PATH_MAX] = ".";
    size_t n = (size_t)(base - path);
    if (n >= sizeof dir) {
        return false; /* nothing can be opened by that name */
    }
    if (n) {
        memcpy(dir, path, n);
        dir[n] = 0;
    }
    if (!realpath(dir, real) || strlen(real) + strlen(base) + 2 >= PATH_MAX) {
        return false;
    }
    n = strlen(real);
    real[n] = '/';
    memcpy(real + n + 1, base, strlen(base) + 1);
    return true;
}

bool
mrs_file_is_in(const char *file, const char *kept)
{
    char a[PATH_MAX], b[PATH_MAX];
    return file && kept && strcmp(file, "-") != 0 && strcmp(kept, "-") != 0 && resolve_new(file, a) &&
           resolve_new(kept, b) && inside(a, b);
}

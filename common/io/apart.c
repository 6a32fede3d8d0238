/* apart.c - whether a file that is to be written would take the place of another one, by their resolved names. */
#include "internal.h"
#include <limits.h>
#include <stdlib.h>

/* True where path is dir or lies in it. */
static bool
inside(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == 0 || path[n] == '/' || (n == 1 && dir[0] == '/'));
}

/* The resolved name of something that need not be there yet. */
static bool
resolve_new(struct mrs_mem *mem, const char *path, char real[PATH_MAX])
{
    if (realpath(path, real)) {
        return true;
    }
    const char *base = mrsi_base_name(path);
    char *dir = base == path ? mrs_strndup(mem, ".", 1) : mrs_strndup(mem, path, (size_t)(base - path));
    bool ok = dir && realpath(dir, real) && strlen(real) + strlen(base) + 2 < PATH_MAX;
    mrs_free(mem, dir);
    if (ok) {
        size_t n = strlen(real);
        real[n] = '/';
        memcpy(real + n + 1, base, strlen(base) + 1);
    }
    return ok;
}

bool
mrs_file_is_in(struct mrs_mem *mem, const char *file, const char *kept)
{
    char a[PATH_MAX], b[PATH_MAX];
    return file && kept && strcmp(file, "-") != 0 && strcmp(kept, "-") != 0 && resolve_new(mem, file, a) &&
           resolve_new(mem, kept, b) && inside(a, b);
}

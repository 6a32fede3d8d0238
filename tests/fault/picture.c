/* picture.c - a folder as one number, and what else the checks need to know of it. */
#include "fault.h"
#include <dirent.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void
die(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

static uint64_t sum;
static unsigned files;
static size_t skip;
static const char *leave_out;

static void
add_file(const char *path, size_t from)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) < 0) {
        die("%s cannot be read back", path);
    }
    size_t n = (size_t)st.st_size, names = strlen(path + from) + 1;
    uint8_t *p = malloc(n + names);
    if (!p || fread(p + names, 1, n, f) != n) {
        die("%s cannot be read back", path);
    }
    memcpy(p, path + from, names);
    sum += mrs_hash(p, n + names, 0).lo;
    files++;
    free(p);
    fclose(f);
}

static int
look(const char *path, const struct stat *st, int kind, struct FTW *w)
{
    size_t n = leave_out ? strlen(leave_out) : 0;
    (void)st;
    (void)w;
    if (strlen(path) < skip && kind == FTW_F) {
        add_file(path, skip - 1); /* it is no folder */
        return 0;
    }
    if (strlen(path) <= skip || (n && strncmp(path + skip, leave_out, n) == 0 && strchr("/", path[skip + n]))) {
        return 0;
    }
    if (kind == FTW_F) {
        add_file(path, skip);
    } else {
        sum += mrs_hash(path + skip, strlen(path + skip), 1).lo;
    }
    return 0;
}

uint64_t
picture(const char *dir, const char *without, unsigned *n)
{
    sum = 0;
    files = 0;
    skip = strlen(dir) + 1;
    leave_out = without;
    nftw(dir, look, 32, FTW_PHYS);
    if (n) {
        *n = files;
    }
    return sum;
}

static int
visible(const struct dirent *d)
{
    return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

void
names_in(const char *dir, char *text, size_t size)
{
    struct dirent **list;
    size_t at = 0;
    int n = scandir(dir, &list, visible, alphasort);
    text[0] = 0;
    for (int i = 0; i < n; i++) {
        at += at < size ? (size_t)snprintf(text + at, size - at, "%s ", list[i]->d_name) : 0;
        free(list[i]);
    }
    if (n >= 0) {
        free(list);
    }
}

unsigned
open_files(void)
{
    char text[8192];
    unsigned n = 0;
    names_in("/proc/self/fd", text, sizeof text);
    for (const char *p = text; *p; p++) {
        n += *p == ' ';
    }
    return n;
}

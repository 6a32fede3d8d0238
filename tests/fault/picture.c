/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c - a folder as one number, and other properties that the checks need. */
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
static size_t skip;
static struct {
    char *text;
    size_t n, size;
} files;
static const char *leave_out;

/* Name and hash of a file, so that two lists tell which one differs. */
static void
put_into_list(const char *name, uint64_t hash)
{
    size_t room = files.size - files.n;
    int n = files.text ? snprintf(files.text + files.n, room, "%s:%08x ", name, (unsigned)(hash >> 32)) : 0;
    files.n += (size_t)n < room ? (size_t)n : 0;
}

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
    uint64_t hash = mrs_hash(p, n + names, 0).lo;
    sum += hash;
    put_into_list(path + from, hash);
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
picture(const char *dir, const char *without, char *names, size_t size)
{
    sum = 0;
    files.text = names;
    files.size = size;
    files.n = 0;
    skip = strlen(dir) + 1;
    leave_out = without;
    if (size) {
        names[0] = 0;
    }
    nftw(dir, look, 32, FTW_PHYS);
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

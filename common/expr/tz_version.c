/* tz_version.c - which edition of the time zone data the system has. */
#include "mongoreshape/expr.h"
#include <fcntl.h>
#include <unistd.h>

enum { HEAD = 64 };

/* The first line of a file behind `before`; false where it does not begin so. */
static bool
first_line(const char *path, const char *before, char *text, size_t size)
{
    char head[HEAD + 1];
    size_t skip = strlen(before);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, head, HEAD);
    if (fd >= 0) {
        close(fd);
    }
    if (got <= (ssize_t)skip || memcmp(head, before, skip) != 0) {
        return false;
    }
    head[got] = 0;
    size_t n = 0;
    for (const char *p = head + skip; *p > ' ' && *p < 0x7f && n + 1 < size; p++) {
        text[n++] = *p;
    }
    text[n] = 0;
    return n > 0;
}

void
mrs_tzdata_version(char *text, size_t size)
{
    text[0] = 0;
    if (!first_line("/usr/share/zoneinfo/tzdata.zi", "# version ", text, size)) {
        first_line("/usr/share/zoneinfo/+VERSION", "", text, size);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* tz_version.c - the edition of the system's time zone data. */
#include "mongoreshape/expr.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { HEAD = 64 };

/* The first bytes of a file; *got 0: no such file, or it is not readable. */
static enum mrs_status
read_head(const char *path, char head[HEAD + 1], size_t *got, struct mrs_err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;
    *got = 0;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) {
        return MRS_OK;
    }
    while (fd >= 0 && *got < HEAD && n != 0) {
        n = read(fd, head + *got, HEAD - *got);
        if (n < 0 && errno != EINTR) {
            break;
        }
        *got += n > 0 ? (size_t)n : 0;
        n = n < 0 ? 1 : n;
    }
    enum mrs_status s = n < 0 ? mrs_err_set(e, MRS_FAIL, MRS_E_IO, "%s cannot be read: %s", path, strerror(errno))
                              : MRS_OK;
    if (fd >= 0) {
        close(fd);
    }
    head[*got] = 0;
    return s;
}

/* The rest of a file's first line after `before`; "" if it does not begin with that. */
static enum mrs_status
first_line(const char *path, const char *before, char *text, size_t size, struct mrs_err *e)
{
    char head[HEAD + 1];
    size_t skip = strlen(before), got, n = 0;
    enum mrs_status s = read_head(path, head, &got, e);
    if (s == MRS_OK && got > skip && memcmp(head, before, skip) == 0) {
        for (const char *p = head + skip; *p > ' ' && *p < 0x7f && n + 1 < size; p++) {
            text[n++] = *p;
        }
    }
    text[n] = 0;
    return s;
}

enum mrs_status
mrs_tzdata_version(char *text, size_t size, struct mrs_err *e)
{
    enum mrs_status s = first_line("/usr/share/zoneinfo/tzdata.zi", "# version ", text, size, e);
    return s == MRS_OK && !text[0] ? first_line("/usr/share/zoneinfo/+VERSION", "", text, size, e) : s;
}

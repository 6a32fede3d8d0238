/* SPDX-License-Identifier: Apache-2.0 */
/* container_cpio.c - checks the headers of a cpio file before libarchive reads it.
 *
 * A header states the length of the name after it, and libarchive allocates that before it checks the size of the file:
 * a hostile header could make it allocate four gigabytes. So the headers are checked here first, each at the offset
 * that the previous one determines, and an impossible length is refused. So is a header with anything but digits, after
 * which libarchive would search for another header. libarchive reports truncated files. */
#include "container.h"
#include <limits.h>

enum { NEWC = 110, ODC = 76, MAGIC = 6, NAME_MOST = 4096 };

struct cpio_layout { /* the offsets of the two lengths in a header, and the alignment of the parts after it */
    size_t head, name, name_n, size, size_n;
    unsigned base, fill;
};
static const struct cpio_layout newc = {NEWC, 94, 8, 54, 8, 16, 4}, odc = {ODC, 59, 6, 65, 11, 8, 1};

/* The value of n digits; *bad: an invalid digit. */
static uint64_t
number(const uint8_t *p, size_t n, unsigned base, bool *bad)
{
    MRS_ASSERT(n > 0 && (base == 8 || base == 16));
    static const char digits[] = "0123456789abcdefABCDEF";
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        const char *digit = p[i] ? strchr(digits, p[i]) : NULL;
        unsigned d = digit ? (unsigned)(digit - digits) : UINT_MAX;
        d = digit && d > 15 ? d - 6 : d; /* capitals */
        *bad = *bad || d >= base;
        value = value * base + d;
    }
    return value;
}

static uint64_t
filled(uint64_t n, unsigned fill)
{
    return (n + fill - 1) / fill * fill;
}

static enum mrs_status
refuse(const struct mrsi_source_from *from, uint64_t at, const char *why, struct mrs_err *e)
{
    return MRSI_FAIL(e, MRS_E_FORMAT, "%s: damaged: %s at byte %llu", from->name, why, (unsigned long long)at);
}

enum mrs_status
mrsi_cpio_check(const struct mrsi_source_from *from, const struct mrs_pause *pause, struct mrs_err *e)
{
    MRS_ASSERT(from->fd >= 0);
    static const char end[] = "TRAILER!!!";
    uint8_t room[NEWC + sizeof end];
    for (uint64_t at = 0; at < from->bytes;) {
        uint64_t left = from->bytes - at;
        size_t got = 0;
        bool bad = false;
        enum mrs_status s = mrsi_pread_full(from->fd, room, left < sizeof room ? (size_t)left : sizeof room,
                                            from->start + at, from->name, &got, e);
        if (s != MRS_OK || got < ODC) {
            return s;
        }
        const struct cpio_layout *h = memcmp(room, "070707", 6) == 0 ? &odc : &newc;
        if (h == &newc && memcmp(room, "070701", 6) != 0 && memcmp(room, "070702", 6) != 0) {
            return refuse(from, at, "no header of a member is", e);
        }
        if (got < h->head) {
            return MRS_OK;
        }
        (void)number(room + MAGIC, h->head - MAGIC, h->base, &bad);
        uint64_t name = number(room + h->name, h->name_n, h->base, &bad);
        uint64_t size = number(room + h->size, h->size_n, h->base, &bad);
        if (bad) {
            return refuse(from, at, "the header has other characters than digits", e);
        }
        if (name == 0 || name > NAME_MOST) {
            return refuse(from, at, name ? "a name is longer than 4,095 bytes" : "a member has no name", e);
        }
        if (name == sizeof end && got >= h->head + sizeof end && memcmp(room + h->head, end, sizeof end) == 0) {
            return MRS_OK;
        }
        at += filled(h->head + name, h->fill) + filled(size, h->fill);
        s = mrsi_pause(pause, 0, e);
        if (s != MRS_OK) {
            return s;
        }
    }
    return MRS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* tz.c - time zones from the tzdata files of the system (TZif version 2 and later, RFC 8536).
 *
 * Names are looked up only in one fixed folder: the result of a run must not depend on the environment. Files with leap
 * seconds are refused, as days have 86400 seconds here. Offsets (+05:30) and UTC need no file. A zone is read once for
 * each operator that uses it and never changed, so threads share it; the list of zones only grows, at its head, by
 * compare and swap. */
#include "tz.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/usr/share/zoneinfo"

enum { NAME_MOST = 100, FILE_MOST = 1 << 20, HEADER = 44 };

struct tz_kind {
    int32_t offset;
    bool dst;
};

struct mrsi_zone {
    uint32_t n_times, n_kinds;
    int64_t *at;      /* moments of change */
    uint8_t *kind_of; /* the kind after each change */
    struct tz_kind *kinds;
    struct mrsi_rule rule;
};

struct mrsi_zone_node {
    struct mrsi_zone_node *next;
    char name[NAME_MOST + 1];
    struct mrsi_zone zone;
};

/* ---- reading ---- */

static uint32_t
be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t
be64(const uint8_t *p)
{
    return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

struct counts {
    uint32_t utc, std, leap, times, kinds, chars;
};

static bool
read_header(const uint8_t *p, size_t n, struct counts *c)
{
    if (n < HEADER || memcmp(p, "TZif", 4) != 0 || p[4] < '2') {
        return false;
    }
    uint32_t *const to[6] = {&c->utc, &c->std, &c->leap, &c->times, &c->kinds, &c->chars};
    for (int i = 0; i < 6; i++) {
        *to[i] = be32(p + 20 + 4 * i);
        if (*to[i] > FILE_MOST) {
            return false;
        }
    }
    return true;
}

static size_t
body_size(const struct counts *c, size_t time_size)
{
    return c->times * (time_size + 1) + c->kinds * 6 + c->chars + c->leap * (time_size + 4) +
           c->std + c->utc;
}

/* Fills the tables from the second body p. */
static bool
read_body(struct mrsi_zone *z, const struct counts *c, const uint8_t *p)
{
    MRS_ASSERT(c->kinds > 0);
    for (uint32_t i = 0; i < c->times; i++) {
        z->at[i] = be64(p + 8 * (size_t)i);
        z->kind_of[i] = p[8 * (size_t)c->times + i];
        if (z->kind_of[i] >= c->kinds || (i && z->at[i] <= z->at[i - 1])) {
            return false;
        }
    }
    p += 9 * (size_t)c->times;
    for (uint32_t i = 0; i < c->kinds; i++) {
        z->kinds[i].offset = (int32_t)be32(p + 6 * (size_t)i);
        z->kinds[i].dst = p[6 * (size_t)i + 4] != 0;
        if (z->kinds[i].offset < -200000 || z->kinds[i].offset > 200000) {
            return false;
        }
    }
    z->n_times = c->times;
    z->n_kinds = c->kinds;
    return true;
}

static const char BROKEN[] = "the file of the time zone is damaged";

static enum mrs_status
parse(struct mrs_mem *mem, struct mrsi_zone *z, const uint8_t *p, size_t n, const char **why)
{
    struct counts c;
    *why = BROKEN;
    if (!read_header(p, n, &c) || body_size(&c, 4) > n - HEADER) {
        return MRS_FAIL;
    }
    size_t skip = HEADER + body_size(&c, 4);
    if (!read_header(p + skip, n - skip, &c) || !c.kinds || c.kinds > 256) {
        return MRS_FAIL;
    }
    p += skip + HEADER;
    n -= skip + HEADER;
    if (body_size(&c, 8) > n) {
        return MRS_FAIL;
    }
    if (c.leap) {
        *why = "the file of the time zone counts leap seconds";
        return MRS_FAIL;
    }
    z->at = mrs_alloc(mem, (c.times + 1) * sizeof *z->at);
    z->kind_of = mrs_alloc(mem, c.times + 1);
    z->kinds = mrs_alloc(mem, c.kinds * sizeof *z->kinds);
    if (!z->at || !z->kind_of || !z->kinds) {
        return MRS_DEAD;
    }
    if (!read_body(z, &c, p)) {
        return MRS_FAIL;
    }
    const uint8_t *rule = p + body_size(&c, 8), *end = p + n;
    if (rule < end && *rule == '\n') {
        const uint8_t *stop = memchr(rule + 1, '\n', (size_t)(end - rule - 1));
        if (!stop || (stop > rule + 1 && !mrsi_rule_read((const char *)rule + 1,
                                                         (uint32_t)(stop - rule - 1), &z->rule))) {
            return MRS_FAIL;
        }
    }
    return MRS_OK;
}

static void
clear(struct mrs_mem *mem, struct mrsi_zone *z)
{
    mrs_free(mem, z->at);
    mrs_free(mem, z->kind_of);
    mrs_free(mem, z->kinds);
}

/* Reads the whole file of fd; *n: its size. */
static enum mrs_status
slurp(struct mrs_mem *mem, int fd, uint8_t **bytes, size_t *n)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < HEADER ||
        st.st_size > FILE_MOST) {
        return MRS_FAIL;
    }
    size_t size = (size_t)st.st_size;
    *bytes = mrs_alloc(mem, size);
    if (!*bytes) {
        return MRS_DEAD;
    }
    for (*n = 0; *n < size;) {
        ssize_t got = read(fd, *bytes + *n, size - *n);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return MRS_FAIL;
        }
        *n += (size_t)got;
    }
    return MRS_OK;
}

bool
mrsi_zones_installed(void)
{
    return access(FOLDER "/tzdata.zi", R_OK) == 0 || access(FOLDER "/UTC", R_OK) == 0;
}

static enum mrs_status
load(struct mrs_mem *mem, const char *name, struct mrsi_zone *z, const char **why)
{
    char path[sizeof FOLDER + NAME_MOST + 2];
    uint8_t *bytes = NULL;
    size_t n = 0;
    snprintf(path, sizeof path, FOLDER "/%s", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    *why = mrsi_zones_installed() ? "no time zone of this name; those of the package tzdata-legacy "
                                    "(US/Pacific and other old names) may be missing"
                                  : "no time zone data in " FOLDER ": install the package tzdata";
    if (fd < 0) {
        return MRS_FAIL;
    }
    enum mrs_status s = slurp(mem, fd, &bytes, &n);
    close(fd);
    MRS_THEN(s, parse(mem, z, bytes, n, why));
    mrs_free(mem, bytes);
    return s;
}

/* ---- names ---- */

static bool
name_ok(const char *name, uint32_t n)
{
    MRS_ASSERT(name || n == 0);
    if (!n || n > NAME_MOST || memmem(name, n, "..", 2) || memmem(name, n, "//", 2) ||
        name[0] == '/' || name[n - 1] == '/') {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '+' && c != '-' && c != '/') {
            return false;
        }
    }
    /* files in the folder that are no zones of the database */
    return !(n > 6 && memcmp(name, "posix/", 6) == 0) &&
           !(n > 6 && memcmp(name, "right/", 6) == 0) && !mrsi_text_is(name, n, "posixrules") &&
           !mrsi_text_is(name, n, "localtime");
}

/* +HH, +HHMM, +HH:MM; any digits. */
static bool
offset_of(const char *p, uint32_t n, int32_t *seconds)
{
    MRS_ASSERT(p || n == 0);
    char digits[4] = {'0', '0', '0', '0'};
    uint32_t count = 0;
    if ((n != 3 && n != 5 && n != 6) || (p[0] != '+' && p[0] != '-') || (n == 6 && p[3] != ':')) {
        return false;
    }
    for (uint32_t i = 1; i < n; i++) {
        if (n == 6 && i == 3) {
            continue;
        }
        if (p[i] < '0' || p[i] > '9') {
            return false;
        }
        digits[count++] = p[i];
    }
    int32_t hours = (digits[0] - '0') * 10 + digits[1] - '0',
            minutes = (digits[2] - '0') * 10 + digits[3] - '0';
    *seconds = (hours * 3600 + minutes * 60) * (p[0] == '-' ? -1 : 1);
    return true;
}

/* ---- the cache ---- */

struct mrsi_zones *
mrsi_zones_new(struct mrs_mem *mem)
{
    struct mrsi_zones *z = mrs_zalloc(mem, sizeof *z);
    if (z) {
        z->mem = mem;
        atomic_init(&z->first, NULL);
    }
    return z;
}

void
mrsi_zones_free(struct mrsi_zones *z)
{
    struct mrsi_zone_node *node = z ? atomic_load(&z->first) : NULL;
    while (node) {
        struct mrsi_zone_node *next = node->next;
        clear(z->mem, &node->zone);
        mrs_free(z->mem, node);
        node = next;
    }
    if (z) {
        mrs_free(z->mem, z);
    }
}

static const struct mrsi_zone *
known(struct mrsi_zones *z, const char *name, uint32_t n)
{
    for (struct mrsi_zone_node *node = atomic_load(&z->first); node; node = node->next) {
        if (mrsi_text_is(name, n, node->name)) {
            return &node->zone;
        }
    }
    return NULL;
}

enum mrs_status
mrsi_zones_find(struct mrsi_zones *z, const char *name, uint32_t n, struct mrsi_tz *tz,
                char why[160], struct mrs_err *e)
{
    tz->zone = NULL;
    tz->fixed = 0;
    if (offset_of(name, n, &tz->fixed) || mrsi_text_is(name, n, "UTC") ||
        mrsi_text_is(name, n, "GMT")) {
        return MRS_OK;
    }
    if (!name_ok(name, n)) {
        snprintf(why, 160, "no time zone '%.*s'", (int)(n < 100 ? n : 100), name);
        return MRS_FAIL;
    }
    tz->zone = known(z, name, n);
    if (tz->zone) {
        return MRS_OK;
    }
    struct mrsi_zone_node *node = mrs_zalloc(z->mem, sizeof *node);
    MRS_TRY(mrs_allocated(node, sizeof *node, e));
    const char *reason;
    memcpy(node->name, name, n);
    enum mrs_status s = load(z->mem, node->name, &node->zone, &reason);
    if (s != MRS_OK) {
        snprintf(why, 160, "'%.40s': %s", node->name, reason);
        clear(z->mem, &node->zone);
        mrs_free(z->mem, node);
        return s == MRS_DEAD ? mrs_err_memory(e, 0) : s;
    }
    node->next = atomic_load(&z->first);
    while (!atomic_compare_exchange_weak(&z->first, &node->next, node)) {
    }
    tz->zone = &node->zone;
    return MRS_OK;
}

/* ---- looking up ---- */

static struct mrsi_tz_span
zone_at(const struct mrsi_zone *z, int64_t utc)
{
    MRS_ASSERT(z->n_kinds > 0 || z->rule.there);
    uint32_t from = 0, to = z->n_times; /* the number of changes up to now */
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (z->at[mid] <= utc) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    if (from == z->n_times && z->rule.there) {
        struct mrsi_tz_span span = mrsi_rule_at(&z->rule, utc);
        int64_t last = z->n_times ? z->at[z->n_times - 1] : INT64_MIN;
        span.since = span.since > last ? span.since : last;
        return span;
    }
    const struct tz_kind *k = &z->kinds[from ? z->kind_of[from - 1] : 0];
    return (struct mrsi_tz_span){k->offset, k->dst, from ? z->at[from - 1] : INT64_MIN};
}

struct mrsi_tz_span
mrsi_tz_at(const struct mrsi_tz *tz, int64_t utc_seconds)
{
    return tz->zone ? zone_at(tz->zone, utc_seconds)
                    : (struct mrsi_tz_span){tz->fixed, false, INT64_MIN};
}

/* The offset depends on the moment, which is unknown, so a first guess (the local time taken for UTC) is corrected
 * once, with a check two hours away for a change that the guess may miss. */
int64_t
mrsi_tz_to_utc(const struct mrsi_tz *tz, int64_t local, bool dst)
{
    if (!tz->zone) {
        return local - tz->fixed;
    }
    struct mrsi_tz_span guess = mrsi_tz_at(tz, local);
    struct mrsi_tz_span now = mrsi_tz_at(tz, local - guess.offset);
    if (guess.offset == now.offset && guess.offset >= 0 && dst && !guess.dst) {
        struct mrsi_tz_span earlier = mrsi_tz_at(tz, local - guess.offset - 7200);
        if (earlier.offset != now.offset && local - earlier.offset < now.since) {
            now = earlier;
        }
    } else if (guess.offset == now.offset && guess.offset <= 0 && guess.dst && !dst) {
        struct mrsi_tz_span later = mrsi_tz_at(tz, local - guess.offset + 7200);
        if (later.offset != now.offset && local - later.offset >= later.since) {
            now = later;
        }
    }
    bool skipped = now.since != INT64_MIN &&
                   local - now.offset >= now.since + guess.offset - now.offset &&
                   local - now.offset < now.since;
    return local - (guess.offset != now.offset && !skipped ? now.offset : guess.offset);
}

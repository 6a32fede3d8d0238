/* SPDX-License-Identifier: Apache-2.0 */
/* tz.h - time zones by name or by offset, from the tzdata files of the system (TZif, RFC 8536). */
#ifndef MRS_EXPR_TZ_H
#define MRS_EXPR_TZ_H

#include "expr/support.h"

struct mrsi_zone; /* one file, immutable */

/* The clock of a place: a zone of the database or, if that is NULL, a fixed offset in seconds east of UTC. */
struct mrsi_tz {
    const struct mrsi_zone *zone;
    int32_t fixed;
};

/* The offset at a moment: since when (INT64_MIN: always), and whether it is summer time. */
struct mrsi_tz_span {
    int32_t offset;
    bool dst;
    int64_t since;
};
struct mrsi_tz_span mrsi_tz_at(const struct mrsi_tz *tz, int64_t utc_seconds);
/* Seconds of UTC when the clock shows local_seconds. A time that the clock skips is moved forward by the gap; for one
 * that it shows twice, `dst` (whether the caller comes from summer time) decides, as in the server's library. */
int64_t mrsi_tz_to_utc(const struct mrsi_tz *tz, int64_t local_seconds, bool dst);

/* Zones already looked up, kept as long as the cache; any number of threads may use it at once. */
struct mrsi_zone_node;
struct mrsi_zones {
    struct mrs_mem *mem;
    struct mrsi_zone_node *_Atomic first;
};
void mrsi_zones_free(struct mrsi_zones *z); /* and z itself */
struct mrsi_zones *mrsi_zones_new(struct mrs_mem *mem);
/* Whether the system has time zone data. Without it, only UTC, GMT and offsets are known. */
bool mrsi_zones_installed(void);
/* OK; FAIL: no such zone, why has the message; DEAD. */
enum mrs_status mrsi_zones_find(struct mrsi_zones *z, const char *name, uint32_t n,
                                struct mrsi_tz *tz, char why[160], struct mrs_err *e);

/* tz_rule.c: the rule for the years after the table, in POSIX notation: "EST5EDT,M3.2.0,M11.1.0". */
struct mrsi_rule_day {
    char kind; /* 'M' month, week, weekday; 'J' day 1..365 without a leap day; 'N' day 0..365 */
    int32_t month, week, day;
    int32_t seconds; /* of the day's clock; may be negative or over a day */
};
struct mrsi_rule {
    bool there, has_dst;
    int32_t offset, dst_offset;
    struct mrsi_rule_day start, end;
};
bool mrsi_rule_read(const char *text, uint32_t n, struct mrsi_rule *rule);
struct mrsi_tz_span mrsi_rule_at(const struct mrsi_rule *rule, int64_t utc_seconds);

#endif

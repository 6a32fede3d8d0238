/* SPDX-License-Identifier: Apache-2.0 */
/* measures.c - what rules and reports say alike: dates, when a document is full, how many belong to one. */
#include "advise.h"
#include <stdio.h>

const char *
mrsi_iso_time(int64_t ms, char out[40])
{
    int64_t days = ms / 86400000, rest = ms % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    /* civil date of a day number, by whole eras of 400 years that begin in March */
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, day = days - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t of_year = day - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    int64_t d = of_year - (153 * month + 2) / 5 + 1, m = month < 10 ? month + 3 : month - 9;
    year += era * 400 + (m <= 2);
    if (year < 0 || year > 9999) {
        snprintf(out, 40, "%s", year < 0 ? "0000-01-01T00:00:00Z" : "9999-12-31T23:59:59Z");
        return out;
    }
    snprintf(out, 40, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)year, (int)m, (int)d, (int)(rest / 3600000),
             (int)(rest / 60000 % 60), (int)(rest / 1000 % 60));
    return out;
}

bool
mrsi_limit_date(const struct mrsi_limit *l, int64_t *ms)
{
    if (!l->timed || l->bytes_a_day <= 0) {
        return false;
    }
    double left = (double)MRS_DOC_MAX - (double)l->size, days = left / l->bytes_a_day;
    days = days < 0 ? 0 : days > 3e6 ? 3e6 : days;
    *ms = l->newest + (int64_t)(days * 86400000);
    return true;
}

const char *
mrsi_cardinality(const struct mrsi_reference *r)
{
    for (uint32_t i = 0; i < r->parts; i++) {
        if (r->from[i]->lists || r->from[i]->names) {
            return "many-to-many";
        }
    }
    if (mrsi_is_sampled(r->from[0]->in)) {
        return NULL;
    }
    if (r->per_parent.max <= 1) {
        return "one-to-one";
    }
    return r->per_parent.p99 <= 20 ? "one-to-few" : r->per_parent.p99 <= 2000 ? "one-to-many" : "one-to-squillions";
}

const char *
mrsi_said_count(uint64_t n, char out[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), k = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) {
            out[k++] = ',';
        }
        out[k++] = digits[i];
    }
    out[k] = 0;
    return out;
}

const char *
mrsi_said_bytes(double n, char out[32])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    while (n >= 1024 && u < 4) {
        n /= 1024;
        u++;
    }
    snprintf(out, 32, u ? "%.1f %s" : "%.0f %s", n, unit[u]);
    return out;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* measures.c - shared by rules and reports: dates, the date when a document is full, cardinality. */
#include "advise.h"
#include "mongoreshape/ejson.h"
#include <stdio.h>

const char *
mrsi_iso_time(int64_t ms, char out[40])
{
    const int64_t least = -62167219200000, most = 253402300799000; /* the years 0 to 9999 */
    ms = ms < least ? least : ms > most ? most : ms;
    mrs_date_write(ms - ((ms % 1000) + 1000) % 1000, out);
    return out;
}

bool
mrsi_limit_date(const struct mrsi_limit *l, int64_t *ms)
{
    MRS_ASSERT(ms);
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
mrsi_bytes_text(double n, char out[32])
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

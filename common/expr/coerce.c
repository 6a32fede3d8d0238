/* SPDX-License-Identifier: Apache-2.0 */
/* coerce.c - the text of a value in string operators.
 *
 * This is not $toString: doubles keep the six digits of C's %g, and timestamps are written as a clock in UTC. Old
 * behavior that the server kept, and that results depend on. Values without such a text are an error of the
 * operator. */
#include "date.h"
#include "mongoreshape/value.h"
#include <stdio.h>

static enum mrs_status
keep(struct mrs_eval *ev, const char *buf, int len, const char **text, uint32_t *n)
{
    *n = (uint32_t)len;
    *text = mrs_arena_copy(ev->arena, buf, (size_t)len + 1);
    return *text ? MRS_OK : mrsi_eval_memory(ev, (size_t)len + 1);
}

static int
write_timestamp(struct mrs_val v, char *buf, size_t size)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct mrsi_civil c = mrsi_civil_of((int64_t)mrs_le32(v.p + 4), 0);
    return snprintf(buf, size, "%.3s %2d %02d:%02d:%02d:%u", months + 3 * (c.month - 1), c.day,
                    c.hour, c.minute, c.second, mrs_le32(v.p));
}

enum mrs_status
mrsi_coerce_text(const struct mrs_expr *x, struct mrs_eval *ev, struct mrs_val v, const char **text,
                 uint32_t *n)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    char buf[64];
    struct mrs_val date;
    switch (v.type) {
    case MRS_STRING:
    case MRS_SYMBOL:
    case MRS_CODE:
        *text = mrs_val_text(v, n);
        return MRS_OK;
    case MRS_INT32:
        return keep(ev, buf, snprintf(buf, sizeof buf, "%d", mrs_val_i32(v)), text, n);
    case MRS_INT64:
        return keep(ev, buf, snprintf(buf, sizeof buf, "%lld", (long long)mrs_val_i64(v)), text, n);
    case MRS_DOUBLE: {
        double d = mrs_val_double(v);
        return keep(ev, buf,
                    d != d ? snprintf(buf, sizeof buf, "nan") : snprintf(buf, sizeof buf, "%g", d),
                    text, n);
    }
    case MRS_DECIMAL128:
        return keep(ev, buf, (int)mrs_decimal_to_text(v.p, buf), text, n);
    case MRS_TIMESTAMP:
        return keep(ev, buf, write_timestamp(v, buf, sizeof buf), text, n);
    case MRS_DATE:
        MRS_TRY(mrsi_date_to_text(x, ev, mrs_val_i64(v), &date));
        *text = mrs_val_text(date, n);
        return MRS_OK;
    default:
        return mrsi_eval_error(x, ev, "%s has no text", mrs_type_name(v.type));
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* value_name.c - the collection name for a value: texts, integers, ObjectIds and bools have one.
 *
 * Equal values must have the same name for all types: 1, 1.0 and a decimal 1.00 are `1`. Integers above 64 bits are
 * written in full. */
#include "value_name.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WHOLE_MAX = 6200 }; /* digits of the largest decimal, plus some */

/* The digits of an integer, from its text as a decimal: [-]digits[.digits][E[+-]exponent]. False: it has a fraction, or
 * is not a number. */
static bool
integer_digits(const char *text, char out[WHOLE_MAX])
{
    size_t n = 0, first = 0;
    long exponent = 0;
    bool negative = *text == '-', fraction = false;
    for (text += negative; *text && *text != 'E'; text++) {
        if (*text == '.') {
            fraction = true;
        } else if (*text < '0' || *text > '9' || n >= 100) {
            return false;
        } else {
            out[n++] = *text;
            exponent -= fraction;
        }
    }
    exponent += *text ? strtol(text + 1, NULL, 10) : 0;
    for (; exponent < 0 && n && out[n - 1] == '0'; exponent++) {
        n--;
    }
    while (first < n && out[first] == '0') {
        first++;
    }
    if (first == n) { /* zero has no sign and needs one digit */
        memcpy(out, "0", 2);
        return true;
    }
    if (exponent < 0 || exponent > WHOLE_MAX - 200) {
        return false;
    }
    memmove(out + negative, out + first, n - first);
    n = n - first + negative;
    out[0] = negative ? '-' : out[0];
    memset(out + n, '0', (size_t)exponent);
    out[n + (size_t)exponent] = 0;
    return true;
}

static bool
number_name(struct mrs_val v, char out[WHOLE_MAX])
{
    int64_t n;
    if (mrs_val_integral(v, &n)) {
        snprintf(out, WHOLE_MAX, "%lld", (long long)n);
        return true;
    }
    if (v.type == MRS_DOUBLE) {
        double d = mrs_val_double(v);
        bool whole = isfinite(d) && d == trunc(d);
        snprintf(out, WHOLE_MAX, "%.0f", whole ? d : 0.0);
        return whole;
    }
    char text[48];
    mrs_decimal_to_text(v.p, text);
    return integer_digits(text, out);
}

bool
mrsi_value_name(struct mrs_arena *a, struct mrs_val v, struct mrs_val *name)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    char text[WHOLE_MAX];
    uint32_t n = 0;
    *name = mrs_missing();
    if (v.type == MRS_STRING || v.type == MRS_SYMBOL) {
        const char *own = mrs_val_text(v, &n);
        *name = mrs_make_text(a, own, n);
        return name->type == MRS_STRING;
    }
    if (v.type == MRS_BOOL) {
        snprintf(text, sizeof text, "%s", v.p[0] ? "true" : "false");
    } else if (v.type == MRS_OBJECTID) {
        for (int i = 0; i < 12; i++) {
            snprintf(text + 2 * i, 3, "%02x", v.p[i]);
        }
    } else if (!mrs_is_number(v) || !number_name(v, text)) {
        return true;
    }
    *name = mrs_make_text(a, text, (uint32_t)strlen(text));
    return name->type == MRS_STRING;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - converts values to numbers and back: the base of a difference depends on the type.
 *
 * Numbers, booleans and dates are themselves; dates, ObjectIds and timestamps grow by steps, so that their deltas are
 * those of the step. A double is its bits, or a whole number times a power of ten. Short texts, binary data and
 * decimals are numbers of 128 bits. Any other value can only repeat. */
#include "stream.h"
#include <math.h>

enum { SCALES = 5, AS_BITS = SCALES, WIDE = 16, PROCESS_AT = 4, PROCESS = 5 };
#define WHOLE_MOST 9007199254740992.0 /* 2^53: up to here doubles represent each whole number */

static const double power[SCALES] = {1, 10, 100, 1e4, 1e8};

bool
mrsi_delta_control(uint8_t byte, struct mrsi_delta_control *c)
{
    uint8_t high = byte >> 4;
    *c = (struct mrsi_delta_control){(byte & 15u) + 1, high == 8 ? AS_BITS : (uint8_t)(high - 9)};
    return high >= 8 && high < 9 + SCALES;
}

static bool
is_wide(uint8_t type)
{
    return type == MRS_STRING || type == MRS_CODE || type == MRS_BINARY || type == MRS_DECIMAL128;
}

static bool
has_steps(uint8_t type)
{
    return type == MRS_DATE || type == MRS_OBJECTID || type == MRS_TIMESTAMP;
}

/* ---- ObjectIds: seven bytes of time and counter in one number, the most variable bytes lowest ---- */
static const uint8_t id_byte[] = {11, 3, 10, 2, 9, 1, 0};

static uint64_t
id_number(const uint8_t *id)
{
    uint64_t n = 0;
    for (size_t i = 0; i < sizeof id_byte; i++) {
        n |= (uint64_t)id[id_byte[i]] << 8 * i;
    }
    return n;
}

static void
put_id(uint8_t *to, const uint8_t *last, uint64_t n)
{
    memmove(to + PROCESS_AT, last + PROCESS_AT, PROCESS);
    for (size_t i = 0; i < sizeof id_byte; i++) {
        to[id_byte[i]] = (uint8_t)(n >> 8 * i);
    }
}

/* ---- doubles ---- */
static bool
double_number(double d, uint8_t scale, uint64_t *n)
{
    if (scale == AS_BITS) {
        memcpy(n, &d, sizeof d);
        return true;
    }
    double x = d * power[scale];
    if (!(x >= -WHOLE_MOST && x <= WHOLE_MOST)) {
        return false;
    }
    int64_t whole = llround(x);
    double back = (double)whole / power[scale];
    *n = (uint64_t)whole;
    return memcmp(&back, &d, sizeof d) == 0; /* -0.0 is not 0.0 */
}

static void
put_double(uint8_t *to, uint64_t n, uint8_t scale)
{
    if (scale == AS_BITS) {
        mrs_put64(to, n);
        return;
    }
    double d = (double)(int64_t)n / power[scale];
    memcpy(to, &d, sizeof d);
}

/* ---- texts: the last character is the lowest byte ---- */
static mrsi_u128
text_number(struct mrs_val v)
{
    uint32_t n;
    const char *text = mrs_val_text(v, &n);
    mrsi_u128 number = 0;
    if (n > WIDE || (n && !*text)) {
        return 0; /* a leading NUL would be lost */
    }
    for (uint32_t i = 0; i < n; i++) {
        number = number << 8 | (uint8_t)text[i];
    }
    return number;
}

static uint32_t
put_text(uint8_t *to, mrsi_u128 number)
{
    uint32_t n = 0;
    while (n < WIDE && number >> 8 * n) {
        n++;
    }
    mrs_put32(to, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        to[4 + i] = (uint8_t)(number >> 8 * (n - 1 - i));
    }
    to[4 + n] = 0;
    return n + 5;
}

/* ---- bytes: the first is the lowest ---- */
static mrsi_u128
bytes_number(const uint8_t *p, uint32_t n)
{
    mrsi_u128 number = 0;
    for (uint32_t i = 0; i < n && n <= WIDE; i++) {
        number |= (mrsi_u128)p[i] << 8 * i;
    }
    return number;
}

static void
put_bytes(uint8_t *to, uint32_t n, mrsi_u128 number)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i] = (uint8_t)(number >> 8 * i);
    }
}

/* ---- the stream ---- */
static mrsi_u128
number_of(struct mrs_val v)
{
    switch (v.type) {
    case MRS_OBJECTID: return id_number(v.p);
    case MRS_DATE:
    case MRS_INT64:
    case MRS_TIMESTAMP: return mrs_le64(v.p);
    case MRS_INT32: return (uint64_t)(int64_t)mrs_val_i32(v);
    case MRS_BOOL: return v.p[0];
    case MRS_STRING:
    case MRS_CODE: return text_number(v);
    case MRS_BINARY: return bytes_number(v.p + 5, v.n - 5);
    case MRS_DECIMAL128: return bytes_number(v.p, v.n);
    default: return 0;
    }
}

void
mrsi_deltas_set(struct mrsi_deltas *s, struct mrs_val v)
{
    s->last = v;
    s->number = number_of(v);
    s->step = 0;
    mrsi_simple8b_init(&s->deltas, is_wide(v.type));
}

const char *
mrsi_deltas_begin(struct mrsi_deltas *s, struct mrsi_delta_control c, const uint8_t *words)
{
    uint64_t bits;
    s->scale = c.scale;
    if (s->last.type == MRS_DOUBLE) {
        if (!double_number(mrs_val_double(s->last), c.scale, &bits)) {
            return "a double is not a whole number at the scale of what follows it";
        }
        s->number = bits;
    } else if (c.scale != AS_BITS) {
        return "a scale, after a value that is no double";
    }
    mrsi_simple8b_begin(&s->deltas, words, c.words);
    return NULL;
}

/* Converts s->number to a value of the type of the last one; false: this type has no differences. */
static bool
put_number(struct mrsi_deltas *s)
{
    struct mrs_val v = s->last;
    uint64_t low = (uint64_t)s->number;
    switch (v.type) {
    case MRS_OBJECTID: put_id(s->room, v.p, low); break;
    case MRS_DATE:
    case MRS_INT64:
    case MRS_TIMESTAMP: mrs_put64(s->room, low); break;
    case MRS_INT32: mrs_put32(s->room, (uint32_t)low); break;
    case MRS_BOOL: s->room[0] = low != 0; break;
    case MRS_DOUBLE: put_double(s->room, low, s->scale); break;
    case MRS_STRING:
    case MRS_CODE: v.n = put_text(s->room, s->number); break;
    case MRS_BINARY:
        if (v.n - 5 > WIDE) {
            return false;
        }
        memmove(s->room, v.p, 5);
        put_bytes(s->room + 5, v.n - 5, s->number);
        break;
    case MRS_DECIMAL128: put_bytes(s->room, v.n, s->number); break;
    default: return false;
    }
    v.p = s->room;
    s->last = v;
    return true;
}

static bool
add(struct mrsi_deltas *s, mrsi_u128 delta)
{
    bool steps = has_steps(s->last.type), wide = s->deltas.wide;
    if (delta == 0 && !(steps && s->step)) {
        return true;
    }
    if (steps) {
        s->step += (uint64_t)delta;
        delta = s->step;
    }
    s->number = wide ? s->number + delta : (uint64_t)s->number + (uint64_t)delta;
    return put_number(s);
}

int
mrsi_deltas_next(struct mrsi_deltas *s, struct mrs_val *v, const char **why)
{
    int more = mrsi_simple8b_next(&s->deltas);
    if (more <= 0) {
        *why = more ? "a word with a selector that does not exist" : NULL;
        return more;
    }
    bool none = s->deltas.missing || s->last.type == MRS_MISSING;
    if (!none && !add(s, mrsi_simple8b_signed(s->deltas.number))) {
        *why = "a difference to a value that has none";
        return -1;
    }
    *v = none ? mrs_missing() : s->last;
    return 1;
}

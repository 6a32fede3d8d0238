/* SPDX-License-Identifier: Apache-2.0 */
/* canon.c - normalizes a value for references: numbers by value, ObjectIds and UUIDs also as text. */
#include "figures.h"
#include "mongoreshape/ejson.h"

enum { SEED_OID = 2, SEED_UUID, SEED_TEXT, SEED_BINARY, SEED_OTHER = 16 };
enum { UUID_DASHES = 1 << 4 | 1 << 6 | 1 << 8 | 1 << 10 };

static uint64_t
hash(const void *p, size_t n, uint64_t seed)
{
    uint64_t h = mrs_hash64(p, n, seed);
    return h ? h : 1;
}

/* 8-4-4-4-12 hexadecimal digits. */
static bool
uuid_text(const char *text, uint8_t out[16])
{
    static const uint8_t group[] = {8, 4, 4, 4, 12};
    for (size_t i = 0; i < sizeof group; i++) {
        if ((i && *text++ != '-') || !mrs_hex_bytes(text, group[i], out)) {
            return false;
        }
        text += group[i];
        out += group[i] / 2;
    }
    return true;
}

static bool
integer_text(const char *text, uint32_t n, int64_t *out)
{
    MRS_ASSERT(text || n == 0);
    uint32_t at = n && text[0] == '-';
    uint64_t v = 0;
    if (n - at < 1 || n - at > 18 || (text[at] == '0' && n > 1)) {
        return false;
    }
    for (uint32_t i = at; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        v = v * 10 + (uint64_t)(text[i] - '0');
    }
    *out = at ? -(int64_t)v : (int64_t)v;
    return true;
}

static void
text(struct mrs_val v, struct mrsi_canon *out)
{
    MRS_ASSERT(v.n >= 5);
    uint8_t raw[16];
    uint32_t n;
    const char *t = mrs_val_text(v, &n);
    if (n == 24 && mrs_hex_bytes(t, n, raw)) {
        out->is = MRSI_OID;
        out->hash = hash(raw, 12, SEED_OID);
        out->from_text = true;
    } else if (n == 36 && uuid_text(t, raw)) {
        out->is = MRSI_UUID;
        out->hash = hash(raw, 16, SEED_UUID);
        out->from_text = true;
    } else {
        out->is = MRSI_TEXT;
        out->hash = hash(t, n, SEED_TEXT);
        out->digits = integer_text(t, n, &out->number);
    }
}

static void
binary(struct mrs_val v, struct mrsi_canon *out)
{
    bool uuid = v.n == 21 && (v.p[4] == 3 || v.p[4] == 4);
    out->is = uuid ? MRSI_UUID : MRSI_BINARY;
    out->hash = uuid ? hash(v.p + 5, 16, SEED_UUID) : hash(v.p + 4, v.n - 4, SEED_BINARY);
}

static void
number(struct mrs_val v, struct mrsi_canon *out)
{
    MRS_ASSERT(mrs_is_number(v));
    if (v.type == MRS_INT32) {
        out->number = mrs_val_i32(v);
    } else if (v.type == MRS_INT64) {
        out->number = mrs_val_i64(v);
    } else if (!mrs_val_integral(v, &out->number)) {
        out->is = MRSI_FRACTION;
        out->hash = hash(v.p, v.n, SEED_OTHER + v.type);
        return;
    }
    out->is = MRSI_NUMBER;
    out->hash = mrsi_number_hash(out->number);
}

void
mrsi_canon(const struct mrs_val *v, struct mrsi_canon *out)
{
    MRS_ASSERT(mrs_val_is_sized(*v));
    *out = (struct mrsi_canon){.is = MRSI_OTHER};
    switch (v->type) {
    case MRS_INT32:
    case MRS_INT64:
    case MRS_DOUBLE:
    case MRS_DECIMAL128:
        number(*v, out);
        return;
    case MRS_OBJECTID:
        out->is = MRSI_OID;
        out->hash = hash(v->p, v->n, SEED_OID);
        return;
    case MRS_STRING:
    case MRS_SYMBOL:
        text(*v, out);
        return;
    case MRS_BINARY:
        binary(*v, out);
        return;
    case MRS_DOCUMENT:
    case MRS_ARRAY:
        out->is = v->type == MRS_ARRAY ? MRSI_LIST : MRSI_OBJECT;
        out->hash = 1;
        return;
    case MRS_NULL:
    case MRS_UNDEFINED:
    case MRS_MISSING:
        out->is = MRSI_NOTHING;
        break;
    case MRS_DATE:
        out->is = MRSI_DATE;
        break;
    case MRS_BOOL:
        out->is = MRSI_BOOLEAN;
        break;
    default:
        break;
    }
    out->hash = hash(v->n ? v->p : (const uint8_t *)"", v->n, (uint64_t)SEED_OTHER + v->type);
}

bool
mrsi_canon_raw(struct mrs_val v, const struct mrsi_canon *c, uint8_t raw[16])
{
    MRS_ASSERT(mrs_val_is_sized(v));
    uint32_t n = c->is == MRSI_OID ? 12 : 16;
    if (c->is != MRSI_OID && c->is != MRSI_UUID) {
        return false;
    }
    if (c->from_text) {
        uint32_t len;
        const char *t = mrs_val_text(v, &len);
        return n == 16 ? uuid_text(t, raw) : mrs_hex_bytes(t, len, raw);
    }
    memcpy(raw, v.p + (n == 16 ? 5 : 0), n);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ejson_value.c - the wrappers of Extended JSON: {"$oid": ...} and its family, documents that encode values.
 *
 * The reader has already made BSON of the content, and plans arrive as BSON from YAML, so one set of functions serves
 * both: one row per wrapper key, one function per row, which writes the value's bytes. A wrapper inside another
 * ($numberLong in $date, $oid in $dbPointer) may have been unwrapped or not; both are accepted. It must not know where
 * documents come from, and is not recursive. */
#include "ejson_inner.h"
#include "doc_internal.h"

#include "mongoreshape/value.h"

#include <stdio.h>

struct wrap {
    enum mrs_ejson_mode mode;
    const char *key;
    struct mrs_buf *out;
    uint8_t type;
    struct mrs_err *e;
};

typedef enum mrs_status (*wrap_fn)(struct wrap *w, struct mrs_val v);

static enum mrs_status
wrong(struct wrap *w, const char *why)
{
    return mrs_err_set(w->e, MRS_FAIL, MRS_E_FORMAT, "%s %s", w->key, why);
}

static enum mrs_status
put_u32(struct wrap *w, uint32_t v)
{
    uint8_t p[4];
    mrs_put32(p, v);
    mrs_buf_put(w->out, p, 4);
    return MRS_OK;
}

static enum mrs_status
put_u64(struct wrap *w, uint64_t v)
{
    uint8_t p[8];
    mrs_put64(p, v);
    mrs_buf_put(w->out, p, 8);
    return MRS_OK;
}

/* Text of a string; false for other types. */
static bool
text_of(struct mrs_val v, const char **text, uint32_t *n)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (v.type != MRS_STRING) {
        return false;
    }
    *text = mrs_val_text(v, n);
    return true;
}

/* The fields `a` and `b` of a document with exactly these two. */
static bool
two_fields(struct mrs_val v, const char *a, const char *b, struct mrs_val out[2])
{
    struct mrs_walk w;
    struct mrs_elem e;
    int n = 0;
    if (v.type != MRS_DOCUMENT) {
        return false;
    }
    out[0] = out[1] = mrs_missing();
    for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &e) > 0; n++) {
        if (strcmp(e.name, a) == 0) {
            out[0] = e.v;
        } else if (strcmp(e.name, b) == 0) {
            out[1] = e.v;
        }
    }
    return n == 2 && out[0].type && out[1].type;
}

/* The only field of a document, if it has this name. */
static struct mrs_val
only_field(struct mrs_val v, const char *name)
{
    MRS_ASSERT(name && mrs_val_is_sized(v));
    struct mrs_walk w;
    struct mrs_elem e, more;
    mrs_walk_init(&w, mrs_val_view(v));
    if (mrs_walk_next(&w, &e) <= 0 || strcmp(e.name, name) != 0 || mrs_walk_next(&w, &more) > 0) {
        return mrs_missing();
    }
    return e.v;
}

/* ---- one function per wrapper ---- */
static enum mrs_status
take_oid(struct wrap *w, struct mrs_val v)
{
    const char *text;
    uint32_t n;
    uint8_t id[12];
    if (!text_of(v, &text, &n) || n != 24 || !mrs_hex_bytes(text, n, id)) {
        return wrong(w, "needs 24 hexadecimal digits");
    }
    w->type = MRS_OBJECTID;
    mrs_buf_put(w->out, id, 12);
    return MRS_OK;
}

static enum mrs_status
take_symbol(struct wrap *w, struct mrs_val v)
{
    if (v.type != MRS_STRING) {
        return wrong(w, "needs a string");
    }
    w->type = strcmp(w->key, "$code") == 0 ? MRS_CODE : MRS_SYMBOL;
    mrs_buf_put(w->out, v.p, v.n);
    return MRS_OK;
}

static enum mrs_status
take_int(struct wrap *w, struct mrs_val v)
{
    const char *text;
    uint32_t n;
    int64_t i;
    if (!text_of(v, &text, &n) || !mrsi_i64_from_text(text, n, &i)) {
        return wrong(w, "needs a string that holds an integer in range");
    }
    if (strcmp(w->key, "$numberLong") == 0) {
        w->type = MRS_INT64;
        return put_u64(w, (uint64_t)i);
    }
    if (i < INT32_MIN || i > INT32_MAX) {
        return wrong(w, "is out of range");
    }
    w->type = MRS_INT32;
    return put_u32(w, (uint32_t)i);
}

static enum mrs_status
take_double(struct wrap *w, struct mrs_val v)
{
    const char *text;
    uint32_t n;
    double d;
    uint64_t bits;
    if (!text_of(v, &text, &n) || !mrsi_double_from_text(text, n, &d)) {
        return wrong(w, "needs a string that holds a number");
    }
    memcpy(&bits, &d, 8);
    w->type = MRS_DOUBLE;
    return put_u64(w, bits);
}

static enum mrs_status
take_decimal(struct wrap *w, struct mrs_val v)
{
    const char *text;
    uint32_t n;
    uint8_t dec[16];
    struct mrs_err why;
    mrs_err_clear(&why);
    if (!text_of(v, &text, &n)) {
        return wrong(w, "needs a string");
    }
    if (mrs_decimal_from_text(text, n, true, dec, &why) != MRS_OK) {
        return wrong(w, why.msg);
    }
    w->type = MRS_DECIMAL128;
    mrs_buf_put(w->out, dec, 16);
    return MRS_OK;
}

/* subtype: a number of its own, or one or two hexadecimal digits. */
static bool
subtype_of(struct mrs_val v, uint8_t *out)
{
    const char *text;
    uint32_t n;
    int64_t i;
    if (text_of(v, &text, &n)) {
        char two[2] = {'0', '0'};
        if (n < 1 || n > 2) {
            return false;
        }
        memcpy(two + 2 - n, text, n);
        return mrs_hex_bytes(two, 2, out);
    }
    if (!mrs_val_integral(v, &i) || i < 0 || i > 255) {
        return false;
    }
    *out = (uint8_t)i;
    return true;
}

static enum mrs_status
put_binary(struct wrap *w, struct mrs_val bytes, struct mrs_val subtype)
{
    const char *text;
    uint32_t n;
    uint8_t sub;
    size_t start = w->out->n;
    if (!text_of(bytes, &text, &n) || !subtype_of(subtype, &sub)) {
        return wrong(w, "needs base64 text and a subtype");
    }
    put_u32(w, 0);
    mrs_buf_byte(w->out, sub);
    if (sub == 2) { /* the old form has its length twice */
        put_u32(w, 0);
    }
    if (!mrsi_base64_read(text, n, w->out)) {
        return wrong(w, "needs base64 text with its padding");
    }
    if (!w->out->bad) {
        mrs_put32(w->out->p + start, (uint32_t)(w->out->n - start - 5));
        if (sub == 2) {
            mrs_put32(w->out->p + start + 5, (uint32_t)(w->out->n - start - 9));
        }
    }
    w->type = MRS_BINARY;
    return MRS_OK;
}

static enum mrs_status
take_binary(struct wrap *w, struct mrs_val v)
{
    struct mrs_val part[2];
    if (!two_fields(v, "base64", "subType", part) || part[1].type != MRS_STRING) {
        return wrong(w, "needs {base64, subType}");
    }
    return put_binary(w, part[0], part[1]);
}

static enum mrs_status
take_uuid(struct wrap *w, struct mrs_val v)
{
    static const uint8_t group[] = {8, 4, 4, 4, 12};
    const char *text;
    uint32_t n, at = 0;
    uint8_t id[16], *to = id;
    if (!text_of(v, &text, &n) || n != 36) {
        return wrong(w, "needs 8-4-4-4-12 hexadecimal digits");
    }
    for (int i = 0; i < 5; i++) {
        if ((i && text[at++] != '-') || !mrs_hex_bytes(text + at, group[i], to)) {
            return wrong(w, "needs 8-4-4-4-12 hexadecimal digits");
        }
        at += group[i];
        to += group[i] / 2;
    }
    w->type = MRS_BINARY;
    put_u32(w, 16);
    mrs_buf_byte(w->out, 4);
    mrs_buf_put(w->out, id, 16);
    return MRS_OK;
}

static enum mrs_status
take_timestamp(struct wrap *w, struct mrs_val v)
{
    struct mrs_val part[2];
    int64_t t, i;
    if (!two_fields(v, "t", "i", part) || !mrs_val_integral(part[0], &t) || !mrs_val_integral(part[1], &i) ||
        t < 0 || i < 0 || t > UINT32_MAX || i > UINT32_MAX) {
        return wrong(w, "needs {t, i}, both 32 bits without a sign");
    }
    w->type = MRS_TIMESTAMP;
    return put_u64(w, (uint64_t)t << 32 | (uint64_t)i);
}

static enum mrs_status
put_regex(struct wrap *w, struct mrs_val pattern, struct mrs_val options)
{
    const char *text, *flags;
    uint32_t n, n_flags;
    if (!text_of(pattern, &text, &n) || !text_of(options, &flags, &n_flags) || memchr(text, 0, n) ||
        memchr(flags, 0, n_flags)) {
        return wrong(w, "needs a pattern and options, both text without NUL");
    }
    mrs_buf_put(w->out, text, n + 1);
    size_t start = w->out->n;
    mrs_buf_put(w->out, flags, n_flags + 1);
    for (uint32_t i = 1; i < n_flags && !w->out->bad; i++) { /* BSON requires the options in alphabetical order */
        char *p = (char *)w->out->p + start;
        for (uint32_t k = i; k > 0 && p[k - 1] > p[k]; k--) {
            char c = p[k];
            p[k] = p[k - 1];
            p[k - 1] = c;
        }
    }
    w->type = MRS_REGEX;
    return MRS_OK;
}

static enum mrs_status
take_regex(struct wrap *w, struct mrs_val v)
{
    struct mrs_val part[2];
    if (!two_fields(v, "pattern", "options", part)) {
        return wrong(w, "needs {pattern, options}");
    }
    return put_regex(w, part[0], part[1]);
}

static enum mrs_status
take_pointer(struct wrap *w, struct mrs_val v)
{
    struct mrs_val part[2];
    if (!two_fields(v, "$ref", "$id", part) || part[0].type != MRS_STRING) {
        return wrong(w, "needs {$ref, $id}");
    }
    mrs_buf_put(w->out, part[0].p, part[0].n);
    if (part[1].type == MRS_OBJECTID) {
        mrs_buf_put(w->out, part[1].p, 12);
    } else {
        struct mrs_val hex = part[1].type == MRS_DOCUMENT ? only_field(part[1], "$oid") : mrs_missing();
        MRS_TRY(take_oid(w, hex));
    }
    w->type = MRS_DBPOINTER;
    return MRS_OK;
}

static enum mrs_status
take_date(struct wrap *w, struct mrs_val v)
{
    const char *text;
    uint32_t n;
    int64_t ms;
    bool strict = w->mode == MRS_EJSON_STRICT, ok;
    struct mrs_val inner = v.type == MRS_DOCUMENT ? only_field(v, "$numberLong") : mrs_missing();
    if (text_of(inner, &text, &n)) {
        ok = mrsi_i64_from_text(text, n, &ms);
    } else if (text_of(v, &text, &n)) {
        ok = mrsi_date_read(text, n, strict, &ms);
    } else {
        ok = (v.type == MRS_INT64 || !strict) && mrs_val_integral(v, &ms);
    }
    if (!ok) {
        return wrong(w, "needs a date as text (2020-01-31T12:00:00Z) or {$numberLong}");
    }
    w->type = MRS_DATE;
    return put_u64(w, (uint64_t)ms);
}

static enum mrs_status
take_word(struct wrap *w, struct mrs_val v)
{
    int64_t one = 0;
    if (strcmp(w->key, "$undefined") == 0) {
        w->type = MRS_UNDEFINED;
        return v.type == MRS_BOOL && v.p[0] ? MRS_OK : wrong(w, "needs true");
    }
    w->type = strcmp(w->key, "$minKey") == 0 ? MRS_MINKEY : MRS_MAXKEY;
    return mrs_val_integral(v, &one) && one == 1 ? MRS_OK : wrong(w, "needs 1");
}

static enum mrs_status
put_scope(struct wrap *w, struct mrs_val code, struct mrs_val scope)
{
    if (code.type != MRS_STRING || scope.type != MRS_DOCUMENT) {
        return wrong(w, "needs text, and $scope a document");
    }
    w->type = MRS_CODE_W_SCOPE;
    put_u32(w, 4 + code.n + scope.n);
    mrs_buf_put(w->out, code.p, code.n);
    mrs_buf_put(w->out, scope.p, scope.n);
    return MRS_OK;
}

static const struct {
    const char *key;
    wrap_fn take;
} rows[] = {{"$oid", take_oid},
            {"$numberLong", take_int},
            {"$numberInt", take_int},
            {"$date", take_date},
            {"$numberDouble", take_double},
            {"$numberDecimal", take_decimal},
            {"$binary", take_binary},
            {"$uuid", take_uuid},
            {"$timestamp", take_timestamp},
            {"$regularExpression", take_regex},
            {"$symbol", take_symbol},
            {"$code", take_symbol},
            {"$dbPointer", take_pointer},
            {"$undefined", take_word},
            {"$minKey", take_word},
            {"$maxKey", take_word}};

static wrap_fn
row_of(const char *key)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].key, key) == 0) {
            return rows[i].take;
        }
    }
    return NULL;
}

/* Wrappers of two keys; anything else is no wrapper, and when reading data it is an error if one of its keys belongs to
 * a wrapper. */
static enum mrs_status
several_keys(struct wrap *w, struct mrs_view d)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct mrs_val v = mrs_view_val(d), part[2];
    if (two_fields(v, "$code", "$scope", part)) {
        w->key = "$code";
        return put_scope(w, part[0], part[1]);
    }
    if (w->mode != MRS_EJSON_DATA) {
        return MRS_OK;
    }
    if (two_fields(v, "$regex", "$options", part) && part[0].type == MRS_STRING && part[1].type == MRS_STRING) {
        w->key = "$regex";
        return put_regex(w, part[0], part[1]);
    }
    if (two_fields(v, "$binary", "$type", part)) {
        w->key = "$binary";
        return put_binary(w, part[0], part[1]);
    }
    struct mrs_walk walk;
    struct mrs_elem e;
    for (mrs_walk_init(&walk, d); mrs_walk_next(&walk, &e) > 0;) {
        if (e.name[0] == '$' && row_of(e.name)) {
            w->key = e.name;
            return wrong(w, "is not the only key");
        }
    }
    return MRS_OK;
}

enum mrs_status
mrsi_wrapped(struct mrs_view d, enum mrs_ejson_mode mode, struct mrs_buf *out, uint8_t *type, struct mrs_err *e)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    struct wrap w = {mode, "", out, MRS_MISSING, e};
    struct mrs_walk walk;
    struct mrs_elem first, second;
    enum mrs_status s = MRS_OK;
    *type = MRS_MISSING;
    mrs_walk_init(&walk, d);
    if (mode == MRS_EJSON_PLAIN || mrs_walk_next(&walk, &first) <= 0) {
        return MRS_OK;
    }
    if (mrs_walk_next(&walk, &second) > 0) {
        s = several_keys(&w, d);
    } else {
        wrap_fn take = first.name[0] == '$' ? row_of(first.name) : NULL;
        w.key = first.name;
        s = take ? take(&w, first.v) : MRS_OK;
    }
    if (s == MRS_OK) {
        s = mrs_buf_status(out, e);
        *type = w.type;
    }
    return s;
}

enum mrs_status
mrs_ejson_unwrap(struct mrs_arena *a, enum mrs_ejson_mode mode, struct mrs_val *v, struct mrs_err *e)
{
    MRS_ASSERT(mrs_val_is_sized(*v));
    struct mrs_buf buf;
    struct mrs_val made;
    if (v->type != MRS_DOCUMENT) {
        return MRS_OK;
    }
    mrs_buf_init(&buf, a->mem, MRS_DOC_READ_MAX);
    enum mrs_status s = mrsi_wrapped(mrs_val_view(*v), mode, &buf, &made.type, e);
    if (s == MRS_OK && made.type != MRS_MISSING) {
        made.p = buf.p;
        made.n = (uint32_t)buf.n;
        if (!mrs_val_copy(a, made, v)) {
            s = mrs_err_memory(e, buf.n);
        }
    }
    mrs_buf_clear(&buf);
    return s;
}

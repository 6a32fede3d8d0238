/* SPDX-License-Identifier: Apache-2.0 */
/* ejson_write.c - BSON to Extended JSON, and shortened values for messages.
 *
 * One walk with a stack of fixed size; one function writes the text of each scalar. Canonical text preserves every type
 * and reads back as the same bytes (except for text that is not UTF-8, NaN payloads and binary of subtype 2 with a
 * wrong inner length, which JSON cannot represent); relaxed text is for people. It must not know files or lines: the
 * caller separates documents. */
#include "ejson_inner.h"
#include "doc_internal.h"

#include "mongoreshape/value.h"

#include <math.h>
#include <stdio.h>

static inline void
put(struct mrs_buf *out, const char *text)
{
    mrs_buf_put(out, text, strlen(text));
}

/* {"key":"text"} */
static void
put_pair(struct mrs_buf *out, const char *key, const char *text)
{
    put(out, "{\"");
    put(out, key);
    put(out, "\":\"");
    put(out, text);
    put(out, "\"}");
}

static void
put_escape(struct mrs_buf *out, uint8_t c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        char two[2] = {'\\', to[known - from]};
        mrs_buf_put(out, two, 2);
    } else {
        mrs_buf_printf(out, "\\u%04x", c);
    }
}

static void
put_string(struct mrs_buf *out, const char *text, size_t n)
{
    MRS_ASSERT(text || n == 0);
    const uint8_t *p = (const uint8_t *)text, *end = p + n, *from = p;
    mrs_buf_byte(out, '"');
    while (p < end) {
        if (*p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\') {
            p++;
            continue;
        }
        uint32_t len = *p < 0x80 ? 0 : mrs_utf8_length(p, (size_t)(end - p));
        if (len) {
            p += len;
            continue;
        }
        mrs_buf_put(out, from, (size_t)(p - from));
        if (*p < 0x80) {
            put_escape(out, *p);
        } else {
            put(out, "\xef\xbf\xbd");
        }
        from = ++p;
    }
    mrs_buf_put(out, from, (size_t)(p - from));
    mrs_buf_byte(out, '"');
}

static void
put_text(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(v.n >= 5);
    uint32_t n;
    const char *text = mrs_val_text(v, &n);
    put_string(out, text, n);
}

static void
put_oid(struct mrs_buf *out, const uint8_t *p)
{
    static const char digit[] = "0123456789abcdef";
    char text[24];
    for (int i = 0; i < 12; i++) {
        text[2 * i] = digit[p[i] >> 4];
        text[2 * i + 1] = digit[p[i] & 15];
    }
    put(out, "{\"$oid\":\"");
    mrs_buf_put(out, text, 24);
    put(out, "\"}");
}

static void
put_double(struct mrs_buf *out, double d, bool canonical)
{
    char text[44];
    uint32_t n = mrs_double_to_text(d, text);
    bool wrap = canonical || !isfinite(d);
    if (isfinite(d) && !strpbrk(text, ".e")) {
        memcpy(text + n, ".0", 3);
    }
    if (wrap) {
        put_pair(out, "$numberDouble", text);
    } else {
        put(out, text);
    }
}

static void
put_binary(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(v.type == MRS_BINARY && v.n >= 5);
    const uint8_t *p = v.p + 5;
    uint32_t n = v.n - 5;
    if (v.p[4] == 2 && n >= 4 && mrs_le32(p) == n - 4) {
        p += 4;
        n -= 4;
    }
    put(out, "{\"$binary\":{\"base64\":\"");
    mrsi_base64_write(p, n, out);
    mrs_buf_printf(out, "\",\"subType\":\"%02x\"}}", v.p[4]);
}

static void
put_date(struct mrs_buf *out, int64_t ms, bool canonical)
{
    char text[32];
    if (canonical || ms < 0 || ms > 253402300799999) {
        mrsi_i64_write(ms, text);
        put(out, "{\"$date\":");
        put_pair(out, "$numberLong", text);
        put(out, "}");
    } else {
        mrs_date_write(ms, text);
        put_pair(out, "$date", text);
    }
}

static void
put_regex(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(v.type == MRS_REGEX && v.n >= 2);
    const char *pattern = (const char *)v.p;
    size_t n = strlen(pattern);
    put(out, "{\"$regularExpression\":{\"pattern\":");
    put_string(out, pattern, n);
    put(out, ",\"options\":");
    put_string(out, pattern + n + 1, strlen(pattern + n + 1));
    put(out, "}}");
}

static void
put_pointer(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(v.type == MRS_DBPOINTER && v.n >= 17);
    put(out, "{\"$dbPointer\":{\"$ref\":");
    put_string(out, (const char *)v.p + 4, v.n - 4 - 1 - 12);
    put(out, ",\"$id\":");
    put_oid(out, v.p + v.n - 12);
    put(out, "}}");
}

static void
put_decimal(struct mrs_buf *out, const uint8_t *p)
{
    char text[48];
    mrs_decimal_to_text(p, text);
    put_pair(out, "$numberDecimal", text);
}

static void
put_wrapped_text(struct mrs_buf *out, const char *key, struct mrs_val v)
{
    mrs_buf_printf(out, "{\"%s\":", key);
    put_text(out, v);
    mrs_buf_byte(out, '}');
}

static void
put_integer(struct mrs_buf *out, struct mrs_val v, bool canonical)
{
    char text[24];
    mrsi_i64_write(v.type == MRS_INT64 ? mrs_val_i64(v) : mrs_val_i32(v), text);
    if (canonical) {
        put_pair(out, v.type == MRS_INT64 ? "$numberLong" : "$numberInt", text);
    } else {
        put(out, text);
    }
}

/* All types without nested documents. */
static void
put_scalar(struct mrs_buf *out, struct mrs_val v, bool canonical)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    switch (v.type) {
    case MRS_DOUBLE:
        put_double(out, mrs_val_double(v), canonical);
        break;
    case MRS_STRING:
        put_text(out, v);
        break;
    case MRS_BINARY:
        put_binary(out, v);
        break;
    case MRS_UNDEFINED:
        put(out, "{\"$undefined\":true}");
        break;
    case MRS_OBJECTID:
        put_oid(out, v.p);
        break;
    case MRS_BOOL:
        put(out, v.p[0] ? "true" : "false");
        break;
    case MRS_DATE:
        put_date(out, mrs_val_i64(v), canonical);
        break;
    case MRS_NULL:
        put(out, "null");
        break;
    case MRS_REGEX:
        put_regex(out, v);
        break;
    case MRS_DBPOINTER:
        put_pointer(out, v);
        break;
    case MRS_CODE:
        put_wrapped_text(out, "$code", v);
        break;
    case MRS_SYMBOL:
        put_wrapped_text(out, "$symbol", v);
        break;
    case MRS_INT32:
    case MRS_INT64:
        put_integer(out, v, canonical);
        break;
    case MRS_TIMESTAMP:
        mrs_buf_printf(out, "{\"$timestamp\":{\"t\":%u,\"i\":%u}}", mrs_le32(v.p + 4), mrs_le32(v.p));
        break;
    case MRS_DECIMAL128:
        put_decimal(out, v.p);
        break;
    case MRS_MINKEY:
        put(out, "{\"$minKey\":1}");
        break;
    case MRS_MAXKEY:
        put(out, "{\"$maxKey\":1}");
        break;
    default:
        break;
    }
}

struct ejson_write_level {
    struct mrs_walk w;
    bool array, scope, any;
};

static void
open_level(struct mrs_buf *out, struct ejson_write_level *l, struct mrs_val v)
{
    MRS_ASSERT(mrsi_is_nested(v.type));
    l->array = v.type == MRS_ARRAY;
    l->scope = v.type == MRS_CODE_W_SCOPE;
    l->any = false;
    if (l->scope) {
        put(out, "{\"$code\":");
        put_text(out, mrsi_scope_code(v));
        put(out, ",\"$scope\":");
    }
    mrs_walk_init(&l->w, l->scope ? mrsi_scope(v) : mrs_val_view(v));
    mrs_buf_byte(out, l->array ? '[' : '{');
}

static __attribute__((noinline)) void
put_nested(struct mrs_buf *out, struct mrs_val v, bool canonical)
{
    MRS_ASSERT(mrsi_is_nested(v.type));
    struct ejson_write_level stack[MRS_DEPTH_READ];
    struct mrs_elem e;
    int depth = 1;
    open_level(out, &stack[0], v);
    while (depth > 0 && !out->bad) {
        struct ejson_write_level *l = &stack[depth - 1];
        if (mrs_walk_next(&l->w, &e) <= 0) {
            put(out, l->array ? "]" : l->scope ? "}}" : "}");
            depth--;
            continue;
        }
        if (l->any) {
            mrs_buf_byte(out, ',');
        }
        l->any = true;
        if (!l->array) {
            put_string(out, e.name, e.name_len);
            mrs_buf_byte(out, ':');
        }
        if (!mrsi_is_nested(e.v.type)) {
            put_scalar(out, e.v, canonical);
        } else if (depth == MRS_DEPTH_READ) {
            out->bad = out->bad ? out->bad : 2;
        } else {
            open_level(out, &stack[depth++], e.v);
        }
    }
}

void
mrs_ejson_write_val(struct mrs_val v, bool canonical, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    if (mrsi_is_nested(v.type)) {
        put_nested(out, v, canonical);
    } else {
        put_scalar(out, v, canonical);
    }
}

void
mrs_ejson_write(struct mrs_view d, bool canonical, struct mrs_buf *out)
{
    MRS_ASSERT(mrs_view_is_framed(d));
    put_nested(out, mrs_view_val(d), canonical);
}

/* ---- shortened values ---- */
/* At most `room` - 1 bytes of text, complete characters, no control characters. */
static void
quote(const char *from, size_t n, char *to, size_t room)
{
    MRS_ASSERT(room > 0);
    const uint8_t *p = (const uint8_t *)from;
    size_t at = 0, i = 0;
    bool cut = false;
    while (i < n) {
        uint32_t len = mrs_utf8_length(p + i, n - i);
        if (at + (len ? len : 1) + 5 > room) {
            cut = true;
            break;
        }
        if (len == 0 || p[i] < 0x20 || p[i] == 0x7f) {
            to[at++] = '?';
            i++;
        } else {
            memcpy(to + at, p + i, len);
            at += len;
            i += len;
        }
    }
    memcpy(to + at, cut ? "...\"" : "\"", cut ? 5 : 2);
}

static void
picture_scalar(struct mrs_val v, char *text, uint32_t size)
{
    MRS_ASSERT(size > 0);
    char number[64];
    const char *name = mrs_type_name(v.type);
    if (v.type == MRS_INT32 || v.type == MRS_INT64 || v.type == MRS_DATE) {
        long long i = v.type == MRS_INT32 ? mrs_val_i32(v) : mrs_val_i64(v);
        if (v.type == MRS_DATE && i >= 0 && i <= 253402300799999) {
            mrs_date_write(i, number);
        } else {
            snprintf(number, sizeof number, "%lld", i);
        }
    } else if (v.type == MRS_DOUBLE) {
        mrs_double_to_text(mrs_val_double(v), number);
    } else if (v.type == MRS_DECIMAL128) {
        mrs_decimal_to_text(v.p, number);
    } else if (v.type == MRS_OBJECTID) {
        snprintf(number, sizeof number, "%08x%08x%08x", __builtin_bswap32(mrs_le32(v.p)),
                 __builtin_bswap32(mrs_le32(v.p + 4)), __builtin_bswap32(mrs_le32(v.p + 8)));
    } else if (v.type == MRS_BINARY) {
        snprintf(number, sizeof number, "of %u bytes", v.n - 5);
    } else if (v.type == MRS_TIMESTAMP) {
        snprintf(number, sizeof number, "%u.%u", mrs_le32(v.p + 4), mrs_le32(v.p));
    } else {
        snprintf(text, size, "%s", v.type == MRS_BOOL ? (v.p[0] ? "true" : "false") : name);
        return;
    }
    snprintf(text, size, "%s %s", name, number);
}

const char *
mrs_val_picture(struct mrs_val v, char *text, uint32_t size)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    char shown[48];
    uint32_t n;
    if (size == 0) {
        return text;
    }
    switch (v.type) {
    case MRS_STRING:
    case MRS_SYMBOL:
    case MRS_CODE: {
        const char *from = mrs_val_text(v, &n);
        quote(from, n, shown, sizeof shown);
        snprintf(text, size, "%s \"%s", mrs_type_name(v.type), shown);
        break;
    }
    case MRS_DOCUMENT:
    case MRS_ARRAY:
        snprintf(text, size, "%s of %u", v.type == MRS_ARRAY ? "array" : "document", mrs_val_count(v));
        break;
    default:
        picture_scalar(v, text, size);
    }
    return text;
}

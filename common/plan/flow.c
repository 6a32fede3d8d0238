/* SPDX-License-Identifier: Apache-2.0 */
/* flow.c - writes values as YAML that our loader reads back to the same bytes: flow style on one line, typed values as
 * Extended JSON.
 *
 * Text has no quotes if every YAML reader takes it as text; otherwise it is quoted with escapes. No recursion: open
 * containers are on a stack as deep as documents may be. */
#include "plan_internal.h"
#include "mongoreshape/ejson.h"

#include <strings.h>

/* The code point at p, from at most n bytes, its length in *len; an invalid byte becomes U+FFFD. */
static uint32_t
code_point(const uint8_t *p, size_t n, size_t *len)
{
    MRS_ASSERT(n > 0);
    uint32_t c = p[0];
    size_t more = c < 0x80 ? 0 : c >= 0xC2 && c < 0xE0 ? 1 : c >= 0xE0 && c < 0xF0 ? 2 : c >= 0xF0 && c < 0xF5 ? 3 : 9;
    *len = 1;
    if (more == 0) {
        return c;
    }
    if (more == 9 || n <= more) {
        return 0xFFFD;
    }
    c &= 0x3Fu >> more;
    for (size_t i = 1; i <= more; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0xFFFD;
        }
        c = c << 6 | (p[i] & 0x3Fu);
    }
    *len = more + 1;
    return c;
}

/* Can it be printed unescaped? Not line breaks and characters that change the direction of text. */
static bool
printable(uint32_t c)
{
    bool turns = (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    return (c >= 0x20 && c < 0x7F) || (c >= 0xA0 && c < 0xD800 && !turns) ||
           (c >= 0xE000 && c < 0xFFFD && c != 0xFEFF) || (c >= 0x10000 && c < 0x110000);
}

void
mrsi_flow_comment(struct mrs_buf *out, const char *text)
{
    MRS_ASSERT(text);
    size_t n = strlen(text), len;
    for (size_t i = 0; i < n; i += len) {
        if (printable(code_point((const uint8_t *)text + i, n - i, &len))) {
            mrs_buf_put(out, text + i, len);
        } else {
            mrs_buf_byte(out, '?');
        }
    }
}

/* Characters that are allowed in JSON, but not in YAML. They can only be in strings. */
void
mrsi_flow_json(struct mrs_buf *out, const uint8_t *p, size_t n)
{
    MRS_ASSERT(p || n == 0);
    size_t len;
    for (size_t i = 0; i < n; i += len) {
        uint32_t c = code_point(p + i, n - i, &len);
        if (printable(c) || c > 0xFFFF) {
            mrs_buf_put(out, p + i, len);
        } else {
            mrs_buf_printf(out, "\\u%04X", c);
        }
    }
}

static bool
bare(const char *text, size_t n)
{
    MRS_ASSERT(text || n == 0);
    static const char *const words[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
    bool yes = n > 0 && n < 200 && strspn(text, "0123456789.-/") == 0;
    for (size_t i = 0; i < n && yes; i++) {
        char c = text[i];
        yes = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
              c == '.' || c == '-' || c == '/';
    }
    for (size_t i = 0; i < sizeof words / sizeof *words && yes; i++) {
        yes = strlen(words[i]) != n || strncasecmp(text, words[i], n) != 0;
    }
    return yes;
}

void
mrsi_flow_text(struct mrs_buf *out, const char *text, size_t n)
{
    MRS_ASSERT(text || n == 0);
    size_t len;
    if (bare(text, n)) {
        mrs_buf_put(out, text, n);
        return;
    }
    mrs_buf_byte(out, '"');
    for (size_t i = 0; i < n; i += len) {
        uint32_t c = code_point((const uint8_t *)text + i, n - i, &len);
        if (c == '"' || c == '\\') {
            mrs_buf_printf(out, "\\%c", (char)c);
        } else if (printable(c)) {
            mrs_buf_put(out, text + i, len);
        } else if (c < 0x100) {
            mrs_buf_printf(out, "\\x%02X", c);
        } else {
            mrs_buf_printf(out, "\\u%04X", c & 0xFFFF);
        }
    }
    mrs_buf_byte(out, '"');
}

static void
scalar(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    uint32_t n;
    const char *text;
    switch (v.type) {
    case MRS_STRING:
        text = mrs_val_text(v, &n);
        mrsi_flow_text(out, text, n);
        break;
    case MRS_INT32: mrs_buf_printf(out, "%d", mrs_val_i32(v)); break;
    case MRS_INT64:
        if (mrs_val_i64(v) == (int32_t)mrs_val_i64(v)) {
            mrs_buf_printf(out, "{$numberLong: \"%lld\"}", (long long)mrs_val_i64(v));
        } else {
            mrs_buf_printf(out, "%lld", (long long)mrs_val_i64(v));
        }
        break;
    case MRS_BOOL: mrs_buf_printf(out, "%s", *v.p ? "true" : "false"); break;
    case MRS_NULL: mrs_buf_printf(out, "null"); break;
    default: mrs_ejson_write_val(v, true, out); break;
    }
}

void
mrsi_flow_val(struct mrs_buf *out, struct mrs_val v)
{
    MRS_ASSERT(mrs_val_is_sized(v));
    struct {
        struct mrs_walk w;
        bool map, any;
    } at[MRS_DEPTH_MAX];
    int depth = 0;
    struct mrs_elem e = {.v = v};
    for (;;) {
        bool nested = e.v.type == MRS_DOCUMENT || e.v.type == MRS_ARRAY;
        if (nested && depth < MRS_DEPTH_MAX) {
            at[depth].map = e.v.type == MRS_DOCUMENT;
            at[depth].any = false;
            mrs_walk_init(&at[depth].w, mrs_val_view(e.v));
            mrs_buf_byte(out, at[depth++].map ? '{' : '[');
        } else {
            scalar(out, e.v);
        }
        while (depth && mrs_walk_next(&at[depth - 1].w, &e) != 1) {
            depth--;
            mrs_buf_byte(out, at[depth].map ? '}' : ']');
        }
        if (!depth) {
            return;
        }
        if (at[depth - 1].any) {
            mrs_buf_put(out, ", ", 2);
        }
        at[depth - 1].any = true;
        if (at[depth - 1].map) {
            mrsi_flow_text(out, e.name, e.name_len);
            mrs_buf_put(out, ": ", 2);
        }
    }
}

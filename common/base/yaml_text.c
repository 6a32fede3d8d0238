/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_text.c - writes text for YAML readers of every version.
 *
 * Text has no quotes if each of them takes it as text; otherwise it is quoted, with escapes. */
#include "mongoreshape/yaml_text.h"
#include <stdbool.h>
#include <string.h>
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
mrs_yaml_comment(struct mrs_buf *out, const char *text)
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
mrs_yaml_json(struct mrs_buf *out, const uint8_t *p, size_t n)
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
mrs_yaml_text(struct mrs_buf *out, const char *text, size_t n)
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

/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - converts `\ud83d\ude00` of JSON for YAML.
 *
 * JSON escapes a character above U+FFFF as a surrogate pair, and many programs escape every character that is not
 * ASCII. YAML has `\U0001F600`, and libyaml refuses surrogates. So in a text that begins like JSON, pairs inside double
 * quotes are rewritten before it is parsed; a quote counts if a JSON string can begin there. Columns after a pair on
 * its line are two too small. */
#include "plan_internal.h"

#include <stdio.h>

static bool
unit(const char *at, const char *end, uint32_t *out)
{
    MRS_ASSERT(at <= end);
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') {
        return false;
    }
    *out = 0;
    for (int i = 2; i < 6; i++) {
        char c = at[i];
        bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (!letter && (c < '0' || c > '9')) {
            return false;
        }
        *out = *out * 16 + (uint32_t)(letter ? (c | 0x20) - 'a' + 10 : c - '0');
    }
    return true;
}

static bool
has_surrogate(const char *text, const char *end)
{
    MRS_ASSERT(text <= end);
    uint32_t high;
    const char *at = text;
    while (at < end && strchr(" \t\r\n", *at) && *at) {
        at++;
    }
    if (at == end || (*at != '{' && *at != '[')) {
        return false;
    }
    while ((at = memchr(at, '\\', (size_t)(end - at)))) {
        if (unit(at, end, &high) && high >= 0xD800 && high < 0xDC00) {
            return true;
        }
        at++;
    }
    return false;
}

static size_t
rewrite(const char *at, const char *end, char *out)
{
    MRS_ASSERT(at <= end);
    char *to = out;
    char before = 0; /* the last non-blank character */
    bool inside = false;
    while (at < end) {
        uint32_t high, low;
        char c = *at;
        if (inside && c == '\\' && end - at >= 2) {
            if (unit(at, end, &high) && high >= 0xD800 && high < 0xDC00 &&
                unit(at + 6, end, &low) && low >= 0xDC00 && low < 0xE000) {
                to +=
                    snprintf(to, 11, "\\U%08X", 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
                at += 12;
                continue;
            }
            *to++ = *at++;
            *to++ = *at++;
            continue;
        }
        if (c == '"') {
            inside = !inside && before && strchr("{[,:", before) != NULL;
        }
        before = strchr(" \t\r\n", c) && c ? before : c;
        *to++ = *at++;
    }
    return (size_t)(to - out);
}

bool
mrsi_json_pairs(struct mrsi_plan *p, const char *text, size_t n, const char **out, size_t *out_n)
{
    MRS_ASSERT(text || n == 0);
    *out = text;
    *out_n = n;
    if (n == 0 || !has_surrogate(text, text + n)) {
        return true;
    }
    char *copy = mrs_arena_alloc(&p->pub.arena, n + 1);
    if (!copy) {
        p->dead = true;
        return false;
    }
    *out_n = rewrite(text, text + n, copy);
    *out = copy;
    return true;
}

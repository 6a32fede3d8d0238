/* SPDX-License-Identifier: Apache-2.0 */
/* say.c - text for people, with names that come from data.
 *
 * A name in a dump or a plan may contain anything: a terminal would execute its control characters, and a line break in
 * it could forge a line of the report. So this printf escapes such bytes in arguments of `%s`, while the format, which
 * is ours, stays unchanged. It supports the conversions used here: d i u x X c s f g p %, with flags, width, precision
 * and the lengths l, ll, z. Must not know where the text goes. */
#include "mongoreshape/mem.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

struct say_spec {
    char text[64]; /* as a format of one conversion, every * replaced */
    size_t n;
    int width, precision; /* -1: none */
    bool left;
    char length; /* 0, 'l', 'L' for ll, 'z' */
    char conv;
};

/* Whether a code point controls a terminal, or changes the order of displayed text. */
static bool
is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Length of the code point at p, which has n > 0 bytes available; 0: invalid. */
static size_t
code_point(const uint8_t *p, size_t n, uint32_t *c)
{
    MRS_ASSERT(n > 0);
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t k = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf8 ? 4 : 0;
    *c = k == 1 ? p[0] : k ? p[0] & (0x7fu >> k) : 0;
    if (!k || k > n) {
        return 0;
    }
    for (size_t i = 1; i < k; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
        *c = *c << 6 | (p[i] & 0x3f);
    }
    return *c < least[k] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : k;
}

/* How to show the first character of n > 0 bytes: fills room, returns the length; *used: bytes that the character
 * has. */
static size_t
show_character(const char *text, size_t n, char room[8], size_t *used)
{
    MRS_ASSERT(text && n > 0);
    const uint8_t *p = (const uint8_t *)text;
    uint32_t c;
    size_t k = code_point(p, n, &c);
    const char *plain = k == 1 && c ? strchr("\nn\tt\rr", (int)c) : NULL;
    *used = k ? k : 1;
    if (k && !is_control(c)) {
        memcpy(room, p, k);
        return k;
    }
    if (plain && c < 0x20) {
        return (size_t)snprintf(room, 8, "\\%c", plain[1]);
    }
    return (size_t)(k > 1 ? snprintf(room, 8, "\\u%04x", (unsigned)c & 0xffff) : snprintf(room, 8, "\\x%02x", *p));
}

static void
pad(const struct mrs_say *to, int width, size_t n)
{
    for (; width > 0 && n < (size_t)width; n++) {
        to->put(to->arg, " ", 1);
    }
}

static void
say_text(const struct mrs_say *to, const struct say_spec *s, const char *text)
{
    char room[8];
    size_t n = s->precision >= 0 ? strnlen(text, (size_t)s->precision) : strlen(text), shown = 0, used;
    for (size_t i = 0; i < n; i += used) {
        shown += show_character(text + i, n - i, room, &used);
    }
    pad(to, s->left ? 0 : s->width, shown);
    for (size_t i = 0; i < n; i += used) {
        size_t k = show_character(text + i, n - i, room, &used);
        to->put(to->arg, room, k);
    }
    pad(to, s->left ? s->width : 0, shown);
}

static int
number(const char **at)
{
    int n = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        n = n < 10000 ? n * 10 + (**at - '0') : n;
    }
    return n;
}

/* The conversion after a %; moves *at past it. Widths passed as arguments are taken from args. */
static struct say_spec
read_spec(const char **at, va_list *args)
{
    struct say_spec s = {.width = 0, .precision = -1};
    s.text[s.n++] = '%';
    for (; **at && strchr("-+ #0", **at) && s.n < 8; ++*at) {
        s.left = s.left || **at == '-';
        s.text[s.n++] = **at;
    }
    s.width = **at == '*' ? (++*at, va_arg(*args, int)) : number(at);
    s.left = s.left || s.width < 0;
    s.width = s.width < 0 ? -s.width : s.width;
    if (**at == '.') {
        ++*at;
        s.precision = **at == '*' ? (++*at, va_arg(*args, int)) : number(at);
    }
    if (**at == 'l' || **at == 'z') {
        s.length = *(*at)++;
        s.length = s.length == 'l' && **at == 'l' ? (++*at, 'L') : s.length;
    }
    s.conv = **at ? *(*at)++ : '%';
    int k = s.width ? snprintf(s.text + s.n, sizeof s.text - s.n, "%d", s.width) : 0;
    s.n += (size_t)k;
    k = s.precision >= 0 ? snprintf(s.text + s.n, sizeof s.text - s.n, ".%d", s.precision) : 0;
    s.n += (size_t)k;
    snprintf(s.text + s.n, sizeof s.text - s.n, "%s%c",
             s.length == 'L' ? "ll" : s.length == 'l' ? "l" : s.length == 'z' ? "z" : "", s.conv);
    return s;
}

/* All conversions but text. The format was made by read_spec. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void
say_value(const struct mrs_say *to, const struct say_spec *s, va_list *args)
{
    char room[512];
    int n;
    if (s->conv == 'f' || s->conv == 'g') {
        n = snprintf(room, sizeof room, s->text, va_arg(*args, double));
    } else if (s->conv == 'p') {
        n = snprintf(room, sizeof room, s->text, va_arg(*args, void *));
    } else if (s->length == 'L') {
        n = snprintf(room, sizeof room, s->text, va_arg(*args, long long));
    } else if (s->length) { /* z is as wide as l on all supported systems */
        n = snprintf(room, sizeof room, s->text, va_arg(*args, long));
    } else {
        n = snprintf(room, sizeof room, s->text, va_arg(*args, int));
    }
    n = n < 0 ? 0 : n < (int)sizeof room ? n : (int)sizeof room - 1;
    to->put(to->arg, room, (size_t)n);
}
#pragma GCC diagnostic pop

void
mrs_say_args(const struct mrs_say *to, const char *fmt, va_list *args)
{
    MRS_ASSERT(to->put && fmt);
    while (*fmt) {
        size_t n = strcspn(fmt, "%");
        if (n) {
            to->put(to->arg, fmt, n);
        }
        fmt += n;
        if (!*fmt) {
            return;
        }
        fmt++;
        struct say_spec s = read_spec(&fmt, args);
        if (s.conv == '%') {
            to->put(to->arg, "%", 1);
        } else if (s.conv == 's') {
            say_text(to, &s, va_arg(*args, const char *));
        } else {
            say_value(to, &s, args);
        }
    }
}

static void
put_into(void *arg, const char *p, size_t n)
{
    mrs_buf_put(arg, p, n);
}

void
mrs_buf_say(struct mrs_buf *b, const char *fmt, ...)
{
    struct mrs_say to = {put_into, b};
    va_list args;
    va_start(args, fmt);
    mrs_say_args(&to, fmt, &args);
    va_end(args);
}

const char *
mrs_text_count(uint64_t n, char text[32])
{
    char plain[24];
    int digits = snprintf(plain, sizeof plain, "%" PRIu64, n), at = 0;
    for (int i = 0; i < digits; i++) {
        if (i && (digits - i) % 3 == 0) {
            text[at++] = ',';
        }
        text[at++] = plain[i];
    }
    text[at] = '\0';
    return text;
}

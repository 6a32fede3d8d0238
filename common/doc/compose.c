/* SPDX-License-Identifier: Apache-2.0 */
/* compose.c - makes small documents from a one-line template.
 *
 * Commands, filters and pipelines are written where they are used, in the notation of MongoDB's manual; a template
 * shows the structure, and values stay typed. The text is parsed token by token with a stack of open documents, without
 * recursion. Templates are ours, never a user's: an error in one is a bug and reported as such. It must not know what
 * any command means. */
#include "mongoreshape/compose.h"

#include "mongoreshape/value.h"

#define OPEN_MAX 32

struct composer {
    struct mrs_build b;
    const char *at;
    int open;              /* documents and arrays that are open */
    bool array[OPEN_MAX];  /* whether the n-th of them is an array */
    uint32_t next[OPEN_MAX];
    const char *name;
    uint32_t name_len;
    char digits[12];
    bool closed; /* the outermost document is complete */
};

static bool
name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '.' || c == '-';
}

/* Commas separate like blanks: the structure never depends on one. */
static void
skip_blanks(struct composer *m)
{
    while (*m->at == ' ' || *m->at == ',') {
        m->at++;
    }
}

/* The name of the next member: in an array its index, else the text before the colon. */
static bool
take_name(struct composer *m, va_list *ap)
{
    int top = m->open - 1;
    if (m->array[top]) {
        m->name = m->digits;
        m->name_len = mrs_index_name(m->digits, m->next[top]);
        return true;
    }
    if (m->at[0] == '%' && m->at[1] == 's') {
        m->name = va_arg(*ap, const char *);
        m->name_len = (uint32_t)strlen(m->name);
        m->at += 2;
    } else {
        m->name = m->at;
        while (name_char(*m->at)) {
            m->at++;
        }
        m->name_len = (uint32_t)(m->at - m->name);
        if (m->name_len == 0) {
            return false;
        }
    }
    skip_blanks(m);
    if (*m->at != ':') {
        return false;
    }
    m->at++;
    skip_blanks(m);
    return true;
}

static void
put(struct composer *m, struct mrs_val v)
{
    MRS_ASSERT(m->open > 0);
    if (v.type != MRS_MISSING) {
        mrs_build_val(&m->b, m->name, m->name_len, v);
        m->next[m->open - 1]++;
    }
}

/* Written directly, since neither the name nor the text need end in NUL. */
static void
put_text(struct composer *m, const char *text, size_t n)
{
    uint8_t length[4];
    struct mrs_buf *buf = m->b.buf;
    if (n >= INT32_MAX) {
        buf->bad = buf->bad ? buf->bad : 2;
        return;
    }
    mrs_put32(length, (uint32_t)n + 1);
    mrs_buf_byte(buf, MRS_STRING);
    mrs_buf_put(buf, m->name, m->name_len);
    mrs_buf_byte(buf, 0);
    mrs_buf_put(buf, length, sizeof length);
    mrs_buf_put(buf, text, n);
    mrs_buf_byte(buf, 0);
    m->next[m->open - 1]++;
}

static void
put_view(struct composer *m, struct mrs_view d, uint8_t type)
{
    struct mrs_val v = {d.p, d.n, type};
    put(m, d.n ? v : mrs_missing());
}

/* An argument of the caller, by the letter after the percent sign. */
static bool
put_argument(struct composer *m, va_list *ap)
{
    uint8_t room[16];
    char letter = m->at[1];
    const char *text;
    int64_t n;
    m->at += letter ? 2 : 1;
    switch (letter) {
    case 's':
        text = va_arg(*ap, const char *);
        put_text(m, text, strlen(text));
        return true;
    case 'i':
        n = va_arg(*ap, int64_t);
        put(m, n >= INT32_MIN && n <= INT32_MAX ? mrs_make_i32(room, (int32_t)n) : mrs_make_i64(room, n, MRS_INT64));
        return true;
    case 'I':
        put(m, mrs_make_i64(room, va_arg(*ap, int64_t), MRS_INT64));
        return true;
    case 't':
        put(m, mrs_make_i64(room, va_arg(*ap, int64_t), MRS_DATE));
        return true;
    case 'b':
        put(m, mrs_make_bool(room, va_arg(*ap, int) != 0));
        return true;
    case 'f':
        put(m, mrs_make_double(room, va_arg(*ap, double)));
        return true;
    case 'v':
        put(m, va_arg(*ap, struct mrs_val));
        return true;
    case 'd':
        put_view(m, va_arg(*ap, struct mrs_view), MRS_DOCUMENT);
        return true;
    case 'a':
        put_view(m, va_arg(*ap, struct mrs_view), MRS_ARRAY);
        return true;
    default:
        return false;
    }
}

static bool
put_integer(struct composer *m)
{
    uint8_t room[16];
    bool minus = *m->at == '-';
    int64_t n = 0;
    int digits = 0;
    for (m->at += minus; *m->at >= '0' && *m->at <= '9'; m->at++, digits++) {
        if (digits == 18) {
            return false;
        }
        n = n * 10 + (*m->at - '0');
    }
    n = minus ? -n : n;
    put(m, n >= INT32_MIN && n <= INT32_MAX ? mrs_make_i32(room, (int32_t)n) : mrs_make_i64(room, n, MRS_INT64));
    return digits > 0;
}

static bool
put_literal(struct composer *m)
{
    uint8_t room[16];
    if (*m->at == '\'') {
        const char *end = strchr(m->at + 1, '\'');
        if (!end) {
            return false;
        }
        put_text(m, m->at + 1, (size_t)(end - m->at - 1));
        m->at = end + 1;
    } else if (strncmp(m->at, "true", 4) == 0) {
        put(m, mrs_make_bool(room, true));
        m->at += 4;
    } else if (strncmp(m->at, "false", 5) == 0) {
        put(m, mrs_make_bool(room, false));
        m->at += 5;
    } else if (strncmp(m->at, "null", 4) == 0) {
        put(m, mrs_null());
        m->at += 4;
    } else {
        return put_integer(m);
    }
    return true;
}

static bool
open_one(struct composer *m)
{
    MRS_ASSERT(m->open < OPEN_MAX + 1);
    bool array = *m->at++ == '[';
    if (m->open == OPEN_MAX) {
        return false;
    }
    if (m->open > 0) {
        mrs_build_open(&m->b, m->name, m->name_len, array ? MRS_ARRAY : MRS_DOCUMENT);
        m->next[m->open - 1]++;
    }
    m->array[m->open] = array;
    m->next[m->open] = 0;
    m->open++;
    return true;
}

static bool
close_one(struct composer *m)
{
    MRS_ASSERT(m->open >= 0);
    bool array = *m->at++ == ']';
    if (m->array[m->open - 1] != array) {
        return false;
    }
    m->open--;
    if (m->open > 0) {
        mrs_build_close(&m->b);
    } else {
        m->closed = true;
    }
    return true;
}

/* One member, or the end of an open document. */
static bool
take_one(struct composer *m, va_list *ap)
{
    if (*m->at == '}' || *m->at == ']') {
        return close_one(m);
    }
    if (!take_name(m, ap)) {
        return false;
    }
    if (*m->at == '{' || *m->at == '[') {
        return open_one(m);
    }
    return *m->at == '%' ? put_argument(m, ap) : put_literal(m);
}

enum mrs_status
mrs_compose(struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e, const char *text, va_list *ap)
{
    MRS_ASSERT(mrs_buf_is_sound(buf) && text);
    struct composer m = {.at = text};
    size_t start = buf->n;
    mrs_build_init(&m.b, buf);
    skip_blanks(&m);
    bool good = (*m.at == '{' || *m.at == '[') && open_one(&m);
    while (good && !m.closed) {
        skip_blanks(&m);
        good = *m.at && take_one(&m, ap);
    }
    if (!good || *m.at) {
        buf->n = start < buf->n ? start : buf->n;
        return mrs_err_set(e, MRS_FAIL, MRS_E_ACCOUNT, "a template is wrong at \"%.40s\" of \"%.200s\"", m.at,
                           text);
    }
    enum mrs_status s = mrs_build_finish(&m.b, out, e);
    if (s != MRS_OK) {
        buf->n = start < buf->n ? start : buf->n;
    }
    return s;
}

enum mrs_status
mrs_compose_in(struct mrs_arena *a, struct mrs_view *out, struct mrs_err *e, const char *text, va_list *ap)
{
    struct mrs_buf buf;
    struct mrs_view d;
    mrs_buf_init(&buf, a->mem, INT32_MAX);
    enum mrs_status s = mrs_compose(&buf, &d, e, text, ap);
    if (s == MRS_OK) {
        out->p = mrs_arena_copy(a, d.p, d.n);
        out->n = d.n;
        s = mrs_allocated(out->p, d.n, e);
    }
    mrs_buf_clear(&buf);
    return s;
}

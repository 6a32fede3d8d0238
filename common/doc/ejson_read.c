/* SPDX-License-Identifier: Apache-2.0 */
/* ejson_read.c - Extended JSON to BSON, in one pass and without recursion.
 *
 * Each object or array is written as BSON while it is read; open ones are on a stack of fixed size. When an object ends
 * whose keys begin with a dollar, ejson_value.c decides whether it is a wrapper; if so the bytes of its value are
 * written after it and moved over it. So the input is never copied, and depth costs a few bytes a level. JSON is read
 * strictly (no comments, no bare words, no control characters in strings); bytes that are not UTF-8 are kept. It must
 * not know what is read: a plan, metadata, or a line of data. */
#include "ejson_inner.h"
#include "doc_internal.h"

struct ejson_read_level {
    size_t start; /* offset in out of the length word */
    size_t elem;  /* offset in out of the element's type byte */
    uint32_t index;
    bool array, dollar;
};

struct ejson_read_reader {
    const char *text, *at, *end;
    enum mrs_ejson_mode mode;
    bool json; /* plain JSON: no duplicate names in a document, no more levels than a server allows */
    struct mrs_buf *out;
    struct mrs_err *e;
    int depth;
    size_t elem; /* offset of the type byte of the element being read */
    struct ejson_read_level stack[MRS_DEPTH_READ];
};

static enum mrs_status
wrong(struct ejson_read_reader *r, const char *why)
{
    MRS_ASSERT(r->at <= r->end);
    bool first = r->e && r->e->code == MRS_E_NONE;
    enum mrs_status s = mrs_err_set(r->e, MRS_FAIL, MRS_E_FORMAT, "%s", why);
    if (first) {
        r->e->byte_off = (uint64_t)(r->at - r->text);
    }
    return s;
}

static void
blanks(struct ejson_read_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')) {
        r->at++;
    }
}

static bool
mark(struct ejson_read_reader *r, char c)
{
    if (r->at == r->end || *r->at != c) {
        return false;
    }
    r->at++;
    return true;
}

static void
set_type(struct ejson_read_reader *r, uint8_t type)
{
    MRS_ASSERT(r->out->bad || r->elem < r->out->n);
    if (!r->out->bad) {
        r->out->p[r->elem] = type;
    }
}

/* ---- strings ---- */
static bool
four_hex(struct ejson_read_reader *r, uint32_t *v)
{
    uint8_t b[2];
    if (r->end - r->at < 4 || !mrs_hex_bytes(r->at, 4, b)) {
        return false;
    }
    r->at += 4;
    *v = (uint32_t)b[0] << 8 | b[1];
    return true;
}

static void
put_char(struct mrs_buf *out, uint32_t v)
{
    MRS_ASSERT(v <= 0x10ffff);
    uint8_t p[4];
    size_t n = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; v >>= 6) {
        p[i] = (uint8_t)(0x80 | (v & 0x3f));
    }
    p[0] = (uint8_t)(n == 1 ? v : (0xf00u >> n & 0xf0) | v);
    mrs_buf_put(out, p, n);
}

/* After the backslash. */
static enum mrs_status
escape(struct ejson_read_reader *r, bool key)
{
    MRS_ASSERT(r->at <= r->end);
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint32_t v, low;
    const char *known = r->at < r->end && *r->at ? strchr(from, *r->at) : NULL;
    if (known) {
        r->at++;
        mrs_buf_byte(r->out, (uint8_t)to[known - from]);
        return MRS_OK;
    }
    if (!mark(r, 'u') || !four_hex(r, &v)) {
        return wrong(r, "unknown escape in a string");
    }
    if (v >= 0xd800 && v < 0xe000) {
        if (v >= 0xdc00 || !mark(r, '\\') || !mark(r, 'u') || !four_hex(r, &low) || low < 0xdc00 || low >= 0xe000) {
            return wrong(r, "half of a surrogate pair in a string");
        }
        v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
    }
    if (v == 0 && key) {
        return wrong(r, "NUL in a key");
    }
    put_char(r->out, v);
    return MRS_OK;
}

/* The bytes of a string and a NUL, after its opening quote. */
static enum mrs_status
string_bytes(struct ejson_read_reader *r, bool key)
{
    MRS_ASSERT(r->at <= r->end);
    for (;;) {
        const char *p = r->at;
        while (p < r->end && *p != '"' && *p != '\\' && (uint8_t)*p >= 0x20) {
            p++;
        }
        mrs_buf_put(r->out, r->at, (size_t)(p - r->at));
        r->at = p;
        if (mark(r, '"')) {
            mrs_buf_byte(r->out, 0);
            return MRS_OK;
        }
        if (!mark(r, '\\')) {
            return wrong(r, p == r->end ? "string does not end" : "control character in a string");
        }
        MRS_TRY(escape(r, key));
    }
}

static enum mrs_status
string_value(struct ejson_read_reader *r)
{
    size_t start = r->out->n;
    set_type(r, MRS_STRING);
    mrs_buf_put(r->out, "\0\0\0\0", 4);
    enum mrs_status s = string_bytes(r, false);
    if (s == MRS_OK && !r->out->bad) {
        mrs_put32(r->out->p + start, (uint32_t)(r->out->n - start - 4));
    }
    return s;
}

/* ---- the other scalars ---- */
static size_t
digits_at(const char *p, const char *end)
{
    MRS_ASSERT(p <= end);
    const char *q = p;
    while (q < end && *q >= '0' && *q <= '9') {
        q++;
    }
    return (size_t)(q - p);
}

/* Length of the number at r->at in JSON's grammar, 0: none. */
static size_t
number_length(const struct ejson_read_reader *r, bool *whole)
{
    const char *p = r->at;
    p += p < r->end && *p == '-';
    size_t n = digits_at(p, r->end);
    *whole = true;
    if (n == 0 || (n > 1 && *p == '0')) {
        return 0;
    }
    p += n;
    if (p < r->end && *p == '.') {
        n = digits_at(++p, r->end);
        *whole = false;
        if (n == 0) {
            return 0;
        }
        p += n;
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < r->end && (*p == '-' || *p == '+');
        n = digits_at(p, r->end);
        *whole = false;
        if (n == 0) {
            return 0;
        }
        p += n;
    }
    return (size_t)(p - r->at);
}

static enum mrs_status
number(struct ejson_read_reader *r)
{
    MRS_ASSERT(r->at <= r->end);
    bool whole;
    int64_t i;
    double d;
    uint8_t room[16];
    size_t n = number_length(r, &whole);
    struct mrs_val v;
    if (n == 0) {
        return wrong(r, "neither a value nor a number");
    }
    if (whole && mrsi_i64_from_text(r->at, n, &i)) {
        v = i >= INT32_MIN && i <= INT32_MAX ? mrs_make_i32(room, (int32_t)i) : mrs_make_i64(room, i, MRS_INT64);
    } else if (mrsi_double_from_text(r->at, n, &d) && d - d == 0) {
        v = mrs_make_double(room, d);
    } else {
        return wrong(r, "number out of range");
    }
    r->at += n;
    set_type(r, v.type);
    mrs_buf_put(r->out, v.p, v.n);
    return MRS_OK;
}

static bool
word(struct ejson_read_reader *r, const char *w)
{
    size_t n = strlen(w);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, w, n) != 0) {
        return false;
    }
    r->at += n;
    return true;
}

/* ---- structure ---- */
static enum mrs_status
open_level(struct ejson_read_reader *r, bool array)
{
    MRS_ASSERT(r->depth >= 0 && r->depth <= MRS_DEPTH_READ);
    int most = r->json ? MRS_JSON_DEPTH_MAX : MRS_DEPTH_READ;
    if (r->depth == most) {
        return mrs_err_set(r->e, MRS_FAIL, MRS_E_LIMIT, "JSON is nested more than %d levels deep", most);
    }
    struct ejson_read_level *l = &r->stack[r->depth++];
    l->start = r->out->n;
    l->elem = r->elem;
    l->index = 0;
    l->array = array;
    l->dollar = false;
    mrs_buf_put(r->out, "\0\0\0\0", 4);
    return MRS_OK;
}

/* The document that was just closed becomes its value, if it is a wrapper. */
static enum mrs_status
unwrap(struct ejson_read_reader *r, const struct ejson_read_level *l)
{
    MRS_ASSERT(l == &r->stack[r->depth] && l->dollar); /* closed, but not yet overwritten */
    size_t n = r->out->n - l->start, end = r->out->n;
    uint8_t type;
    mrs_buf_grow(r->out, n + 32); /* so that d does not move while the value is written after it */
    if (r->out->bad) {
        return MRS_OK;
    }
    struct mrs_view d = {r->out->p + l->start, (uint32_t)n};
    bool first = r->e && r->e->code == MRS_E_NONE;
    enum mrs_status s = mrsi_wrapped(d, r->mode, r->out, &type, r->e);
    if (s != MRS_OK) {
        if (first) {
            r->e->byte_off = (uint64_t)(r->at - r->text);
        }
        return s;
    }
    if (type != MRS_MISSING) {
        size_t value = r->out->n - end;
        memmove(r->out->p + l->start, r->out->p + end, value);
        r->out->n = l->start + value;
        r->out->p[l->elem] = type;
    }
    return MRS_OK;
}

static enum mrs_status
close_level(struct ejson_read_reader *r)
{
    MRS_ASSERT(r->depth > 0);
    struct ejson_read_level *l = &r->stack[--r->depth];
    mrs_buf_byte(r->out, 0);
    size_t n = r->out->n - l->start;
    if (r->out->bad || n > INT32_MAX) {
        r->out->bad = r->out->bad ? r->out->bad : 2;
        return MRS_OK;
    }
    mrs_put32(r->out->p + l->start, (uint32_t)n);
    if (r->json && !l->array) {
        return mrsi_level_keep_last(r->out, l->start, r->e);
    }
    return l->dollar && r->depth > 0 ? unwrap(r, l) : MRS_OK;
}

static enum mrs_status
value(struct ejson_read_reader *r)
{
    if (mark(r, '"')) {
        return string_value(r);
    }
    if (mark(r, '{')) {
        set_type(r, MRS_DOCUMENT);
        return open_level(r, false);
    }
    if (mark(r, '[')) {
        set_type(r, MRS_ARRAY);
        return open_level(r, true);
    }
    if (word(r, "null")) {
        set_type(r, MRS_NULL);
        return MRS_OK;
    }
    bool yes = word(r, "true");
    if (yes || word(r, "false")) {
        set_type(r, MRS_BOOL);
        mrs_buf_byte(r->out, yes);
        return MRS_OK;
    }
    return number(r);
}

/* Type byte and name of the next element. */
static enum mrs_status
header(struct ejson_read_reader *r, struct ejson_read_level *l)
{
    MRS_ASSERT(l == &r->stack[r->depth - 1]);
    r->elem = r->out->n;
    mrs_buf_byte(r->out, 0);
    if (l->array) {
        char name[12];
        uint32_t n = mrs_index_name(name, l->index++);
        mrs_buf_put(r->out, name, n + 1);
        return MRS_OK;
    }
    l->index++;
    if (!mark(r, '"')) {
        return wrong(r, "key expected");
    }
    MRS_TRY(string_bytes(r, true));
    l->dollar |= !r->out->bad && r->out->p[r->elem + 1] == '$';
    blanks(r);
    if (!mark(r, ':')) {
        return wrong(r, "colon expected");
    }
    blanks(r);
    return MRS_OK;
}

static enum mrs_status
read_all(struct ejson_read_reader *r)
{
    while (r->depth > 0 && !r->out->bad) {
        struct ejson_read_level *l = &r->stack[r->depth - 1];
        enum mrs_status s;
        blanks(r);
        if (mark(r, l->array ? ']' : '}')) {
            s = close_level(r);
        } else {
            if (l->index > 0 && !mark(r, ',')) {
                return wrong(r, r->at == r->end ? "text ends inside" : "comma or closing bracket expected");
            }
            blanks(r);
            s = header(r, l);
            MRS_THEN(s, value(r));
        }
        if (s != MRS_OK) {
            return s;
        }
    }
    return MRS_OK;
}

/* One object, or with `array` one array, from r->at on. */
static enum mrs_status
read_top(struct ejson_read_reader *r, bool array)
{
    size_t before = r->out->n;
    enum mrs_status s = mark(r, array ? '[' : '{') ? open_level(r, array) : wrong(r, "a JSON object must begin with {");
    MRS_THEN(s, read_all(r));
    MRS_THEN(s, mrs_buf_status(r->out, r->e));
    if (s != MRS_OK) {
        r->out->n = before;
    }
    return s;
}

static void
begin(struct ejson_read_reader *r, const char *text, size_t n, enum mrs_ejson_mode mode, struct mrs_buf *out,
      struct mrs_err *e)
{
    MRS_ASSERT(text || n == 0);
    r->text = r->at = text;
    r->end = text + n;
    r->mode = mode;
    r->json = false;
    r->out = out;
    r->e = e;
    r->depth = 0;
    r->elem = 0;
    blanks(r);
}

enum mrs_status
mrs_ejson_read(const char *text, size_t n, enum mrs_ejson_mode mode, struct mrs_buf *out, size_t *used,
               struct mrs_err *e)
{
    MRS_ASSERT(used);
    struct ejson_read_reader r;
    begin(&r, text, n, mode, out, e);
    enum mrs_status s = read_top(&r, false);
    if (s == MRS_OK) {
        *used = (size_t)(r.at - text);
    }
    return s;
}

enum mrs_status
mrs_json_read(const char *text, size_t n, struct mrs_buf *out, uint8_t *type, struct mrs_err *e)
{
    MRS_ASSERT(type && mrs_buf_is_sound(out));
    struct ejson_read_reader r;
    begin(&r, text, n, MRS_EJSON_PLAIN, out, e);
    r.json = true;
    bool array = r.at < r.end && *r.at == '[';
    enum mrs_status s = read_top(&r, array);
    blanks(&r);
    if (s == MRS_OK && r.at < r.end) {
        s = wrong(&r, "something follows the object or array");
    }
    *type = array ? MRS_ARRAY : MRS_DOCUMENT;
    return s;
}

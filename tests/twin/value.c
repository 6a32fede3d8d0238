/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - trees of values for the twin: reading, writing, comparing, counting ids.
 *
 * A document is parsed into a tree of fields and written back from it; leaves keep their payload bytes, so unchanged
 * values are written as read. Comparison is the order of MongoDB written down naively: numbers of two types are
 * compared as long double where that is exact and as decimal digits in text where it is not. All memory comes from one
 * arena that the caller empties between seeds. */
#include "twin.h"

#include <bson/bson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define BLOCK (1u << 20)

struct block {
    struct block *next;
    size_t used, size;
    uint8_t bytes[];
};
static struct block *arena;

void *
tw_new(size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if (!arena || arena->used + n > arena->size) {
        size_t size = n > BLOCK ? n : BLOCK;
        struct block *b = malloc(sizeof *b + size);
        if (!b)
            abort();
        b->next = arena;
        b->used = 0;
        b->size = size;
        arena = b;
    }
    void *p = arena->bytes + arena->used;
    arena->used += n;
    memset(p, 0, n);
    return p;
}

void
tw_free_all(void)
{
    while (arena && arena->next) {
        struct block *b = arena;
        arena = b->next;
        free(b);
    }
    if (arena)
        arena->used = 0;
}

char *
tw_text(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf((char[1]){0}, 0, fmt ? fmt : "", ap);
    va_end(ap);
    char *s = tw_new((size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt ? fmt : "", ap);
    va_end(ap);
    return s;
}

static void *
grow(void *old, uint32_t *cap, size_t size)
{
    uint32_t n = *cap ? *cap * 2 : 8;
    void *p = tw_new(n * size);
    if (*cap)
        memcpy(p, old, *cap * size);
    *cap = n;
    return p;
}

struct val *
tw_leaf(int type, const void *raw, uint32_t len)
{
    struct val *v = tw_new(sizeof *v);
    uint8_t *copy = tw_new(len);
    if (len)
        memcpy(copy, raw, len);
    v->type = type;
    v->raw = copy;
    v->len = len;
    return v;
}

struct val *
tw_doc(void)
{
    return tw_leaf(T_DOC, NULL, 0);
}

struct val *
tw_array(void)
{
    return tw_leaf(T_ARRAY, NULL, 0);
}

struct val *
tw_int32(int32_t x)
{
    return tw_leaf(T_INT32, &x, 4);
}

struct val *
tw_int64(int64_t x)
{
    return tw_leaf(T_INT64, &x, 8);
}

struct val *
tw_double(double x)
{
    return tw_leaf(T_DOUBLE, &x, 8);
}

struct val *
tw_string(const char *s)
{
    uint32_t n = (uint32_t)strlen(s) + 1;
    uint8_t *raw = tw_new(n + 4);
    memcpy(raw, &n, 4);
    memcpy(raw + 4, s, n);
    return tw_leaf(T_STRING, raw, n + 4);
}

struct val *
tw_bool(bool b)
{
    uint8_t x = b;
    return tw_leaf(T_BOOL, &x, 1);
}

struct val *
tw_null(void)
{
    return tw_leaf(T_NULL, NULL, 0);
}

struct val *
tw_copy(const struct val *v)
{
    if (!v)
        return NULL;
    struct val *c = tw_new(sizeof *c);
    *c = *v;
    if (v->n) {
        c->f = tw_new(v->n * sizeof *c->f);
        c->cap = v->n;
        for (uint32_t i = 0; i < v->n; i++) {
            c->f[i].name = v->f[i].name;
            c->f[i].v = tw_copy(v->f[i].v);
        }
    } else {
        c->f = NULL;
        c->cap = 0;
    }
    return c;
}

int
tw_index(const struct val *doc, const char *name)
{
    for (uint32_t i = 0; i < doc->n; i++)
        if (!strcmp(doc->f[i].name, name))
            return (int)i;
    return -1;
}

struct val *
tw_get(const struct val *doc, const char *name)
{
    int i = tw_index(doc, name);
    return i < 0 ? NULL : doc->f[i].v;
}

void
tw_insert(struct val *doc, uint32_t at, const char *name, struct val *v)
{
    if (doc->n == doc->cap)
        doc->f = grow(doc->f, &doc->cap, sizeof *doc->f);
    memmove(doc->f + at + 1, doc->f + at, (doc->n - at) * sizeof *doc->f);
    doc->f[at].name = name;
    doc->f[at].v = v;
    doc->n++;
}

void
tw_push(struct val *doc, const char *name, struct val *v)
{
    tw_insert(doc, doc->n, name, v);
}

void
tw_append(struct val *array, struct val *v)
{
    tw_push(array, tw_text("%u", array->n), v);
}

void
tw_put(struct val *doc, const char *name, struct val *v)
{
    int i = tw_index(doc, name);
    if (i < 0)
        tw_push(doc, name, v);
    else
        doc->f[i].v = v;
}

void
tw_cut(struct val *doc, uint32_t i)
{
    memmove(doc->f + i, doc->f + i + 1, (doc->n - i - 1) * sizeof *doc->f);
    doc->n--;
}

void
tw_renumber(struct val *array)
{
    for (uint32_t i = 0; i < array->n; i++)
        array->f[i].name = tw_text("%u", i);
}

bool
tw_has_duplicates(const struct val *doc)
{
    if (doc->type != T_DOC)
        return false;
    for (uint32_t i = 0; i < doc->n; i++)
        if (tw_index(doc, doc->f[i].name) != (int)i)
            return true;
    return false;
}

void
tw_add(struct vals *list, struct val *v)
{
    if (list->n == list->cap)
        list->v = grow(list->v, &list->cap, sizeof *list->v);
    list->v[list->n++] = v;
}

bool
tw_is_nullish(const struct val *v)
{
    return !v || v->type == T_NULL || v->type == T_UNDEFINED;
}

bool
tw_is_number(const struct val *v)
{
    return v && (v->type == T_DOUBLE || v->type == T_INT32 || v->type == T_INT64 || v->type == T_DECIMAL);
}

const char *
tw_str(const struct val *v)
{
    return v && v->type == T_STRING ? (const char *)v->raw + 4 : NULL;
}

int32_t
tw_as_int(const struct val *v, int32_t otherwise)
{
    if (!v || !tw_is_number(v))
        return otherwise;
    return (int32_t)tw_num_double(v);
}

bool
tw_as_bool(const struct val *v, bool otherwise)
{
    return v && v->type == T_BOOL ? v->raw[0] != 0 : otherwise;
}

/* ---- bytes */
static int
payload(int type, const uint8_t *p, uint32_t left)
{
    uint32_t n = 0;
    switch (type) {
    case T_DOUBLE: case T_DATE: case T_TIMESTAMP: case T_INT64: return 8;
    case T_INT32: return 4;
    case T_DECIMAL: return 16;
    case T_OID: return 12;
    case T_BOOL: return 1;
    case T_UNDEFINED: case T_NULL: case T_MINKEY: case T_MAXKEY: return 0;
    case T_REGEX: {
        const uint8_t *a = memchr(p, 0, left);
        const uint8_t *b = a ? memchr(a + 1, 0, left - (uint32_t)(a + 1 - p)) : NULL;
        return b ? (int)(b + 1 - p) : -1;
    }
    default:
        if (left < 4)
            return -1;
        memcpy(&n, p, 4);
    }
    switch (type) {
    case T_STRING: case T_CODE: case T_SYMBOL: return (int)n + 4;
    case T_DOC: case T_ARRAY: case T_CODEWSCOPE: return (int)n;
    case T_BINARY: return (int)n + 5;
    case T_DBPOINTER: return (int)n + 16;
    default: return -1;
    }
}

static struct val *
parse_fields(const uint8_t *p, uint32_t len, int type)
{
    uint32_t n;
    if (len < 5 || (memcpy(&n, p, 4), n) != len || p[len - 1])
        return NULL;
    struct val *doc = tw_doc();
    doc->type = type;
    uint32_t at = 4;
    while (at < len - 1) {
        int t = p[at++];
        const uint8_t *end = memchr(p + at, 0, len - at);
        if (!end)
            return NULL;
        const char *name = tw_text("%s", (const char *)p + at);
        at = (uint32_t)(end + 1 - p);
        int size = payload(t, p + at, len - at);
        if (size < 0 || (uint32_t)size > len - 1 - at)
            return NULL;
        struct val *v = t == T_DOC || t == T_ARRAY ? parse_fields(p + at, (uint32_t)size, t)
                                                   : tw_leaf(t, p + at, (uint32_t)size);
        if (!v)
            return NULL;
        tw_push(doc, name, v);
        at += (uint32_t)size;
    }
    return doc;
}

struct val *
tw_parse(const uint8_t *bytes, uint32_t len)
{
    return parse_fields(bytes, len, T_DOC);
}

static uint32_t
size_of(const struct val *v)
{
    if (v->type != T_DOC && v->type != T_ARRAY)
        return v->len;
    uint32_t n = 5;
    for (uint32_t i = 0; i < v->n; i++)
        n += 2 + (uint32_t)strlen(v->f[i].name) + size_of(v->f[i].v);
    return n;
}

static uint8_t *
put_bytes(const struct val *v, uint8_t *to)
{
    if (v->type != T_DOC && v->type != T_ARRAY) {
        memcpy(to, v->raw, v->len);
        return to + v->len;
    }
    uint8_t *start = to;
    to += 4;
    for (uint32_t i = 0; i < v->n; i++) {
        size_t n = strlen(v->f[i].name) + 1;
        *to++ = (uint8_t)v->f[i].v->type;
        memcpy(to, v->f[i].name, n);
        to = put_bytes(v->f[i].v, to + n);
    }
    *to++ = 0;
    uint32_t len = (uint32_t)(to - start);
    memcpy(start, &len, 4);
    return to;
}

const uint8_t *
tw_bytes(const struct val *doc, uint32_t *len)
{
    *len = size_of(doc);
    uint8_t *to = tw_new(*len);
    put_bytes(doc, to);
    return to;
}

bool
tw_same_bytes(const struct val *a, const struct val *b)
{
    uint32_t na, nb;
    if (!a || !b || a->type != b->type || (a->type != T_DOC && a->type != T_ARRAY && a->len != b->len))
        return a == b;
    const uint8_t *pa = tw_bytes(a, &na), *pb = tw_bytes(b, &nb);
    return na == nb && !memcmp(pa, pb, na);
}

/* ---- numbers */
static void
decimal_text(const struct val *v, char text[BSON_DECIMAL128_STRING])
{
    bson_decimal128_t d;
    memcpy(&d.low, v->raw, 8);
    memcpy(&d.high, v->raw + 8, 8);
    bson_decimal128_to_string(&d, text);
}

double
tw_num_double(const struct val *v)
{
    double d;
    int32_t i;
    int64_t l;
    char text[BSON_DECIMAL128_STRING];
    switch (v->type) {
    case T_DOUBLE: memcpy(&d, v->raw, 8); return d;
    case T_INT32: memcpy(&i, v->raw, 4); return i;
    case T_INT64: memcpy(&l, v->raw, 8); return (double)l;
    default: decimal_text(v, text); return strtod(text, NULL);
    }
}

int64_t
tw_num_int64(const struct val *v)
{
    int32_t i;
    int64_t l;
    if (v->type == T_INT32) {
        memcpy(&i, v->raw, 4);
        return i;
    }
    memcpy(&l, v->raw, 8);
    return l;
}

/* A number as sign and digits: value = 0.d1d2d3... * 10^exp. */
struct digits {
    int kind; /* -2 NaN, -1 -infinity, 0 finite, 1 infinity */
    bool neg;
    char d[1200]; /* no zeros at either end; "" is zero */
    int exp;
};

static void
to_digits(const struct val *v, struct digits *out)
{
    char text[1200];
    memset(out, 0, sizeof *out);
    if (v->type == T_DECIMAL)
        decimal_text(v, text);
    else if (v->type == T_DOUBLE)
        snprintf(text, sizeof text, "%.1100e", tw_num_double(v));
    else
        snprintf(text, sizeof text, "%lld", (long long)tw_num_int64(v));
    const char *s = text;
    if (*s == '-')
        out->neg = true, s++;
    if (*s == 'N' || *s == 'n') {
        out->kind = -2;
        return;
    }
    if (*s == 'I' || *s == 'i') {
        out->kind = out->neg ? -1 : 1;
        return;
    }
    int n = 0, point = -1, count = 0, exp = 0;
    for (; *s; s++) {
        if (*s == '.') {
            point = count;
        } else if (*s == 'e' || *s == 'E') {
            exp = (int)strtol(s + 1, NULL, 10);
            break;
        } else {
            count++;
            if (n || *s != '0')
                out->d[n++] = *s;
        }
    }
    if (point < 0)
        point = count;
    out->exp = point + exp - (count - n); /* leading zeros do not count */
    while (n && out->d[n - 1] == '0')
        out->d[--n] = 0;
    if (!n)
        out->neg = false, out->exp = 0;
}

static int
compare_digits(const struct digits *a, const struct digits *b)
{
    if (a->kind || b->kind)
        return a->kind < b->kind ? -1 : a->kind > b->kind;
    int sa = !a->d[0] ? 0 : a->neg ? -1 : 1, sb = !b->d[0] ? 0 : b->neg ? -1 : 1;
    if (sa != sb || !sa)
        return sa < sb ? -1 : sa > sb;
    int r = a->exp != b->exp ? (a->exp < b->exp ? -1 : 1) : strcmp(a->d, b->d);
    r = r < 0 ? -1 : r > 0;
    return sa < 0 ? -r : r;
}

static int
compare_numbers(const struct val *a, const struct val *b)
{
    if (a->type == T_DECIMAL || b->type == T_DECIMAL) {
        struct digits *x = tw_new(sizeof *x), *y = tw_new(sizeof *y);
        to_digits(a, x);
        to_digits(b, y);
        return compare_digits(x, y);
    }
    long double x = a->type == T_DOUBLE ? (long double)tw_num_double(a) : (long double)tw_num_int64(a);
    long double y = b->type == T_DOUBLE ? (long double)tw_num_double(b) : (long double)tw_num_int64(b);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : isnan(x) ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* ---- order of all values */
static int
rank(const struct val *v)
{
    switch (v ? v->type : T_UNDEFINED) {
    case T_MINKEY: return -1;
    case T_UNDEFINED: return 0;
    case T_NULL: return 5;
    case T_DOUBLE: case T_INT32: case T_INT64: case T_DECIMAL: return 10;
    case T_STRING: case T_SYMBOL: return 15;
    case T_DOC: return 20;
    case T_ARRAY: return 25;
    case T_BINARY: return 30;
    case T_OID: return 35;
    case T_BOOL: return 40;
    case T_DATE: return 45;
    case T_TIMESTAMP: return 47;
    case T_REGEX: return 50;
    case T_DBPOINTER: return 55;
    case T_CODE: return 60;
    case T_CODEWSCOPE: return 65;
    default: return 127;
    }
}

static int
sign(long long x)
{
    return x < 0 ? -1 : x > 0;
}

static int
compare_blobs(const uint8_t *a, uint32_t na, const uint8_t *b, uint32_t nb)
{
    int r = memcmp(a, b, na < nb ? na : nb);
    return r ? sign(r) : sign((long long)na - nb);
}

static int
compare_inner(const struct val *a, const struct val *b)
{
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        int ra = rank(a->f[i].v), rb = rank(b->f[i].v), r;
        if (ra != rb)
            return sign(ra - rb);
        if (a->type == T_DOC && (r = strcmp(a->f[i].name, b->f[i].name)))
            return sign(r);
        if ((r = tw_compare(a->f[i].v, b->f[i].v)))
            return r;
    }
    return sign((long long)a->n - b->n);
}

static int
compare_leaves(const struct val *a, const struct val *b)
{
    int64_t x, y;
    uint64_t ux, uy;
    int r;
    switch (a->type) {
    case T_STRING: case T_SYMBOL: case T_CODE:
        return compare_blobs(a->raw + 4, a->len - 5, b->raw + 4, b->len - 5);
    case T_BINARY:
        if (a->len != b->len)
            return sign((long long)a->len - b->len);
        r = memcmp(a->raw + 4, b->raw + 4, a->len - 4); /* subtype, then bytes */
        return sign(r);
    case T_OID: case T_BOOL: case T_DBPOINTER: case T_CODEWSCOPE:
        return compare_blobs(a->raw, a->len, b->raw, b->len);
    case T_DATE:
        memcpy(&x, a->raw, 8);
        memcpy(&y, b->raw, 8);
        return x < y ? -1 : x > y;
    case T_TIMESTAMP:
        memcpy(&ux, a->raw, 8);
        memcpy(&uy, b->raw, 8);
        return ux < uy ? -1 : ux > uy;
    case T_REGEX:
        r = strcmp((const char *)a->raw, (const char *)b->raw);
        if (r)
            return sign(r);
        r = strcmp((const char *)a->raw + strlen((const char *)a->raw) + 1,
                   (const char *)b->raw + strlen((const char *)b->raw) + 1);
        return sign(r);
    default: return 0;
    }
}

int
tw_compare(const struct val *a, const struct val *b)
{
    int ra = rank(a), rb = rank(b);
    if (ra != rb)
        return sign(ra - rb);
    if (ra == 10)
        return compare_numbers(a, b);
    if (ra == 20 || ra == 25)
        return compare_inner(a, b);
    return a && b ? compare_leaves(a, b) : 0;
}

/* ---- new ids (PLAN-DETAILS section 1) */
static struct val *
normal_number(const struct val *v)
{
    if (v->type == T_INT32 || v->type == T_INT64)
        return tw_int64(tw_num_int64(v));
    double d = tw_num_double(v);
    if (isnan(d)) {
        uint64_t bits = 0x7ff8000000000000u;
        return tw_leaf(T_DOUBLE, &bits, 8);
    }
    if (d >= -9223372036854775808.0 && d < 9223372036854775808.0 && d == floor(d)) {
        struct val *i = tw_int64((int64_t)d);
        if (!compare_numbers(i, v))
            return i;
    }
    if (!compare_numbers(tw_double(d), v))
        return tw_double(d);
    struct digits *x = tw_new(sizeof *x);
    to_digits(v, x);
    if (x->exp <= 19 && (int)strlen(x->d) <= x->exp) { /* an integer past 2^53 that no double holds */
        char text[32];
        int n = 0;
        for (; n < x->exp; n++)
            text[n] = n < (int)strlen(x->d) ? x->d[n] : '0';
        text[n] = 0;
        uint64_t u = strtoull(text, NULL, 10);
        if (u <= INT64_MAX || (x->neg && u == (uint64_t)INT64_MAX + 1))
            return tw_int64(x->neg ? (int64_t)(0 - u) : (int64_t)u);
    }
    bson_decimal128_t dec;
    bson_decimal128_from_string(tw_text("%s%sE%d", x->neg ? "-" : "", x->d, x->exp - (int)strlen(x->d)), &dec);
    uint8_t raw[16];
    memcpy(raw, &dec.low, 8);
    memcpy(raw + 8, &dec.high, 8);
    return tw_leaf(T_DECIMAL, raw, 16);
}

static struct val *
normalise(const struct val *v)
{
    if (tw_is_number(v))
        return normal_number(v);
    struct val *c = tw_copy(v);
    if (v->type == T_SYMBOL)
        c->type = T_STRING;
    for (uint32_t i = 0; i < c->n; i++)
        c->f[i].v = normalise(c->f[i].v);
    return c;
}

struct val *
tw_new_id(const char *ns, const char *from, struct val *key, struct val *path, struct val *pos, bool with_time)
{
    struct val *d = tw_doc();
    tw_push(d, "ns", tw_string(ns));
    tw_push(d, "from", tw_string(from));
    tw_push(d, "key", key ? normalise(key) : tw_null());
    tw_push(d, "path", path ? path : tw_null());
    tw_push(d, "pos", pos);
    uint32_t len;
    const uint8_t *bytes = tw_bytes(d, &len);
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits(bytes, len));
    uint8_t oid[12] = {0};
    if (with_time && key && key->type == T_OID)
        memcpy(oid, key->raw, 4);
    memcpy(oid + 4, c.digest, 8);
    return tw_leaf(T_OID, oid, 12);
}

const char *
tw_json(const struct val *doc)
{
    uint32_t len;
    const uint8_t *p;
    struct val *d = tw_doc();
    if (!doc)
        return "(missing)";
    if (doc->type == T_DOC) {
        p = tw_bytes(doc, &len);
    } else {
        tw_push(d, "", (struct val *)doc);
        p = tw_bytes(d, &len);
    }
    bson_t b;
    if (!bson_init_static(&b, p, len))
        return "(no BSON)";
    char *s = bson_as_canonical_extended_json(&b, NULL);
    char *copy = tw_text("%s", s ? s : "(no JSON)");
    bson_free(s);
    return copy;
}

void
tw_fix_names(const struct val *old, struct val *now)
{
    if (!old || old == now || old->type != now->type || tw_same_bytes(old, now))
        return;
    if (now->type == T_DOC)
        for (uint32_t i = 0; i < now->n; i++)
            tw_fix_names(tw_get(old, now->f[i].name), now->f[i].v);
    if (now->type != T_ARRAY)
        return;
    for (uint32_t i = 0; i < now->n && i < old->n; i++)
        tw_fix_names(old->f[i].v, now->f[i].v);
    tw_renumber(now);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - time series of a dump: buckets as columns, columns as lists of values, rows read across.
 *
 * A column is unpacked completely: first each stream into its list of numbers, with the numbers of all words
 * concatenated, then numbers into values. Damaged buckets are not covered. */
#include "twin.h"

#include <bson/bson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 big;

struct stream {
    struct val *last;
    big number, step;
    big before; /* what a run repeats */
    bool before_missing;
    struct val *queue[16 * 1920];
    uint32_t n, at;
};

/* The arena aligns to eight bytes, their numbers want sixteen. */
static struct stream *
new_streams(uint32_t n)
{
    uint8_t *p = tw_new(n * sizeof(struct stream) + 16);
    return (struct stream *)(void *)(p + (16 - (uintptr_t)p % 16) % 16);
}

/* ---- words */
static uint32_t
slots_of(uint64_t w, unsigned *first, unsigned *value, unsigned *zeros, unsigned *unit)
{
    static const unsigned plain[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 60};
    static const unsigned more7[] = {7, 2, 3, 4, 5, 7, 10, 14, 24, 52};
    static const unsigned more8[] = {8, 4, 5, 7, 10, 14, 24, 52, 4, 6, 9, 13, 23, 51};
    unsigned sel = w & 15, ext = w >> 4 & 15;
    *first = sel == 7 || sel == 8 ? 8 : 4;
    *value = sel == 7 ? more7[ext] : sel == 8 ? more8[ext] : plain[sel];
    *zeros = *first == 4 || ext == 0 ? 0 : sel == 8 && ext >= 8 ? 5 : 4;
    *unit = sel == 7 ? 1 : 4;
    return (64 - *first) / (*value + *zeros);
}

static double
power(int scale)
{
    return scale == 9 ? 1 : scale == 10 ? 10 : scale == 11 ? 100 : scale == 12 ? 1e4 : 1e8;
}

static const int oid_order[] = {0, 1, 9, 2, 10, 3, 11};

static big
number_of(const struct val *v, int scale)
{
    big n = 0;
    if (v->type == T_DOUBLE && scale != 8)
        return (big)(int64_t)llround(tw_num_double(v) * power(scale));
    if (v->type == T_INT32)
        return (big)(int64_t)tw_num_int64(v);
    if (v->type == T_OID) {
        for (int i = 0; i < 7; i++)
            n = n << 8 | v->raw[oid_order[i]];
        return n;
    }
    bool text = v->type == T_STRING || v->type == T_CODE;
    uint32_t skip = text ? 4 : v->type == T_BINARY ? 5 : 0, len = v->len - skip - text;
    if (len > 16 || v->len < skip)
        return 0;
    for (uint32_t i = 0; i < len; i++)
        n |= (big)v->raw[skip + i] << 8 * (text ? len - 1 - i : i);
    return n;
}

static struct val *
value_of(const struct val *like, big n, int scale)
{
    uint8_t raw[32];
    uint32_t len = like->len;
    memcpy(raw, like->raw, len < 32 ? len : 32);
    if (like->type == T_DOUBLE && scale != 8)
        return tw_double((double)(int64_t)n / power(scale));
    if (like->type == T_BOOL) {
        raw[0] = (uint64_t)n != 0;
    } else if (like->type == T_OID) {
        for (int i = 6; i >= 0; i--, n >>= 8)
            raw[oid_order[i]] = (uint8_t)n;
    } else if (like->type == T_STRING || like->type == T_CODE) {
        uint32_t k = 0;
        while (k < 16 && n >> 8 * k)
            k++;
        for (uint32_t i = 0; i < k; i++)
            raw[4 + i] = (uint8_t)(n >> 8 * (k - 1 - i));
        raw[4 + k] = 0;
        len = k + 5;
        *(uint32_t *)(void *)raw = k + 1;
    } else {
        for (uint32_t i = like->type == T_BINARY ? 5 : 0; i < len; i++, n >>= 8)
            raw[i] = (uint8_t)n;
    }
    return tw_leaf(like->type, raw, len);
}

static void
put_number(struct stream *s, bool missing, big z, int scale)
{
    struct val *v = s->last;
    big delta = z >> 1 ^ (z & 1 ? ~(big)0 : 0);
    s->before = z;
    s->before_missing = missing;
    if (missing || !v) {
        s->queue[s->n++] = NULL;
        return;
    }
    bool steps = v->type == T_DATE || v->type == T_OID || v->type == T_TIMESTAMP;
    s->step = steps ? s->step + delta : delta;
    if (s->step) {
        s->number += s->step;
        s->last = value_of(v, s->number, scale);
    }
    s->queue[s->n++] = s->last;
}

static void
put_words(struct stream *s, const uint8_t *p, uint32_t n, int scale)
{
    if (s->last && s->last->type == T_DOUBLE)
        s->number = number_of(s->last, scale);
    s->n = s->at = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint64_t w;
        unsigned first, value, zeros, unit;
        memcpy(&w, p + 8 * k, 8);
        if ((w & 15) == 15) {
            for (uint32_t i = 0; i < 120 * ((w >> 4 & 15) + 1); i++)
                put_number(s, s->before_missing, s->before, scale);
            continue;
        }
        uint32_t slots = slots_of(w, &first, &value, &zeros, &unit);
        for (uint32_t i = 0; i < slots; i++) {
            uint64_t ones = (1ull << (value + zeros)) - 1, x = w >> (first + i * (value + zeros)) & ones;
            put_number(s, x == ones, (big)(x >> zeros) << unit * (x & ((1u << zeros) - 1)), scale);
        }
    }
}

static void
put_whole(struct stream *s, struct val *v)
{
    s->last = v;
    s->number = number_of(v, 8);
    s->step = s->before = 0;
    s->before_missing = false;
    s->queue[0] = v;
    s->n = 1;
    s->at = 0;
}

/* An element with an empty name at p: as a value; *size: its bytes. */
static struct val *
element(const uint8_t *p, uint32_t room, uint32_t *size)
{
    for (uint32_t n = 2; n <= room; n++) { /* the shortest that is an element */
        uint8_t *doc = tw_new(n + 5);
        uint32_t len = n + 5;
        bson_t b;
        memcpy(doc, &len, 4);
        memcpy(doc + 4, p, n);
        doc[4 + n] = 0;
        if (bson_init_static(&b, doc, len) && bson_validate(&b, BSON_VALIDATE_NONE, NULL)) {
            *size = n;
            return tw_parse(doc, len)->f[0].v;
        }
    }
    abort();
}

/* The next value of a stream, from bytes at *p where it has none left. */
static struct val *
next_of(struct stream *s, const uint8_t **p, const uint8_t *end)
{
    uint32_t size;
    if (s->at == s->n) {
        if ((**p & 0xE0) == 0 || **p == 0xFF || **p == 0x7F) {
            put_whole(s, element(*p, (uint32_t)(end - *p), &size));
            *p += size;
        } else {
            size = (**p & 15) + 1u;
            put_words(s, *p + 1, size, **p >> 4);
            *p += 1 + 8 * size;
        }
    }
    return s->queue[s->at++];
}

/* ---- documents like one */
static uint32_t
count_leaves(const struct val *d, bool arrays)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        int t = d->f[i].v->type;
        n += t == T_DOC || (arrays && t == T_ARRAY) ? count_leaves(d->f[i].v, arrays) : 1;
    }
    return n;
}

static void
begin_leaves(const struct val *d, bool arrays, struct stream **s)
{
    for (uint32_t i = 0; i < d->n; i++) {
        struct val *v = d->f[i].v;
        if (v->type == T_DOC || (arrays && v->type == T_ARRAY)) {
            begin_leaves(v, arrays, s);
        } else {
            put_whole(*s, v);
            (*s)->at = 1;
            ++*s;
        }
    }
}

static struct val *
build(const struct val *like, bool arrays, struct stream **s, const uint8_t **p, const uint8_t *end)
{
    struct val *out = like->type == T_ARRAY ? tw_array() : tw_doc();
    for (uint32_t i = 0; i < like->n; i++) {
        struct val *v = like->f[i].v;
        bool inner = v->type == T_DOC || (arrays && v->type == T_ARRAY);
        struct val *x = inner ? build(v, arrays, s, p, end) : next_of((*s)++, p, end);
        if (x)
            tw_push(out, like->f[i].name, x);
    }
    return out->n || !like->n ? out : NULL;
}

/* All values of a column; a missing one is NULL. */
static void
unpack(const uint8_t *p, const uint8_t *end, struct vals *out)
{
    struct stream *plain = new_streams(1);
    for (;;) {
        if (plain->at == plain->n && *p == 0)
            return;
        if (plain->at < plain->n || *p < 0xF0 || *p > 0xF2) {
            tw_add(out, next_of(plain, &p, end));
            continue;
        }
        bool arrays = *p != 0xF0;
        uint32_t len;
        memcpy(&len, p + 1, 4);
        struct val *like = tw_parse(p + 1, len), *last = NULL;
        like->type = *p == 0xF2 ? T_ARRAY : T_DOC;
        struct stream *all = new_streams(count_leaves(like, arrays)), *s = all;
        begin_leaves(like, arrays, &s);
        for (p += 1 + len; all->at < all->n || *p; tw_add(out, last)) {
            s = all;
            last = build(like, arrays, &s, &p, end);
        }
        p++;
        plain = new_streams(1);
        plain->last = last;
    }
}

/* ---- buckets */
static void
rows_of(const struct val *bucket, const char *time, const char *meta, struct vals *out)
{
    const struct val *data = tw_get(bucket, "data"), *t = tw_get(data, time);
    bool plain = tw_as_int(tw_get(tw_get(bucket, "control"), "version"), 0) == 1;
    struct vals *col = tw_new((data->n + 1) * sizeof *col), times = {0};
    for (uint32_t i = 0; !plain && i < data->n; i++) {
        const struct val *c = data->f[i].v;
        unpack(c->raw + 5, c->raw + c->len, c == t ? &times : &col[i]);
    }
    for (uint32_t r = 0; r < (plain ? t->n : times.n); r++) {
        struct val *row = tw_doc();
        tw_push(row, time, plain ? t->f[r].v : times.v[r]);
        if (meta && tw_get(bucket, "meta"))
            tw_push(row, meta, tw_copy(tw_get(bucket, "meta")));
        for (uint32_t i = 0; i < data->n; i++) {
            struct val *v = data->f[i].v == t ? NULL : plain ? tw_get(data->f[i].v, t->f[r].name) : col[i].v[r];
            if (v)
                tw_push(row, data->f[i].name, tw_copy(v));
        }
        tw_add(out, row);
    }
}

static const struct val *
metadata(const char *dir, const struct coll *c)
{
    bson_error_t err;
    const char *name = strncmp(c->name, "system.buckets.", 15) == 0 ? c->name + 15 : c->name;
    bson_json_reader_t *r = bson_json_reader_new_from_file(tw_text("%s/%s/%s.metadata.json", dir, c->db, name), &err);
    bson_t b = BSON_INITIALIZER;
    const struct val *v = r && bson_json_reader_read(r, &b, &err) == 1 ? tw_parse(bson_get_data(&b), b.len) : NULL;
    if (r)
        bson_json_reader_destroy(r);
    bson_destroy(&b);
    return v;
}

void
tw_series_read(struct world *w, const char *dir)
{
    for (uint32_t i = 0, n = w->n; i < n; i++) {
        struct coll *c = w->c[i], *to = c;
        const struct val *meta = metadata(dir, c);
        const char *type = meta ? tw_str(tw_get(meta, "type")) : NULL;
        if (!type || strcmp(type, "timeseries"))
            continue;
        const struct val *of = tw_get(tw_get(meta, "options"), "timeseries");
        struct vals buckets = c->docs;
        if (strncmp(c->name, "system.buckets.", 15) == 0) {
            c->gone = true;
            to = tw_coll_named(w, c->db, c->name + 15, true);
        }
        to->docs = (struct vals){0};
        to->apart = to != c;
        for (uint32_t k = 0; k < buckets.n; k++)
            rows_of(buckets.v[k], tw_str(tw_get(of, "timeField")), tw_str(tw_get(of, "metaField")), &to->docs);
        to->buckets = buckets;
        to->series = true;
        to->n_was = to->docs.n;
    }
}

/* Whether its documents are the buckets that it came with: nothing was taken. An empty one cannot tell. */
bool
tw_series_is_whole(const struct coll *c)
{
    return c->series && c->docs.n && c->docs.n == c->n_was;
}

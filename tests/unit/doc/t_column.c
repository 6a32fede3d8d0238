/* SPDX-License-Identifier: Apache-2.0 */
/* t_column.c - buckets of time series: columns written down by hand from the format, columns that a second reading of
 * it writes at random, and what is wrong in every way that a length, a count or a time can be. */
#include "column_write.h"
#include "json.h"
#include "mongoreshape/ejson.h"
#include "mongoreshape/measurements.h"

enum { TIME = 1700000000, LEAVES = 5, TRIES = 400 };

static struct mrs_mem *mem;

static int
set_up(void **state)
{
    (void)state;
    mem = mrs_mem_new(0);
    return mem ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    return mrs_mem_close(mem) == 0 ? 0 : -1;
}

/* ---- buckets ---- */
struct bucket {
    struct mrs_buf buf;
    struct mrs_build b;
};

static void
bucket_open(struct bucket *k, int version, int64_t count)
{
    mrs_buf_init(&k->buf, mem, SIZE_MAX);
    mrs_build_init(&k->b, &k->buf);
    mrs_build_open(&k->b, "control", 7, MRS_DOCUMENT);
    mrs_build_i32(&k->b, "version", version);
    if (count >= 0) {
        mrs_build_i32(&k->b, "count", (int32_t)count);
    }
    mrs_build_close(&k->b);
    mrs_build_text(&k->b, "meta", "m", 1);
    mrs_build_open(&k->b, "data", 4, MRS_DOCUMENT);
}

static void
bucket_column(struct bucket *k, const char *name, const void *p, size_t n)
{
    uint8_t *v = malloc(n + 5);
    assert_non_null(v);
    mrs_put32(v, (uint32_t)n);
    v[4] = 7;
    memcpy(v + 5, p, n);
    mrs_build_val(&k->b, name, (uint32_t)strlen(name), (struct mrs_val){v, (uint32_t)n + 5, MRS_BINARY});
    free(v);
}

/* Dates one second apart, each a whole value. */
static void
bucket_times(struct bucket *k, uint32_t rows)
{
    struct mrs_buf col;
    mrs_buf_init(&col, mem, SIZE_MAX);
    for (uint32_t i = 0; i < rows; i++) {
        uint8_t v[10] = {MRS_DATE, 0};
        mrs_put64(v + 2, TIME * 1000ull + i * 1000ull);
        mrs_buf_put(&col, v, sizeof v);
    }
    mrs_buf_byte(&col, 0);
    bucket_column(k, "t", col.p, col.n);
    mrs_buf_clear(&col);
}

static struct mrs_view
bucket_close(struct bucket *k)
{
    struct mrs_view d;
    mrs_build_close(&k->b);
    assert_int_equal(mrs_build_finish(&k->b, &d, NULL), MRS_OK);
    assert_int_equal(mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL), MRS_OK);
    return d;
}

/* All rows, one behind the other; OK or what failed. */
static enum mrs_status
unpack(struct mrs_mem *with, struct mrs_view bucket, struct mrs_buf *rows, struct mrs_err *e)
{
    struct mrs_series of = {"t", "m"};
    struct mrs_measurements *m = NULL;
    struct mrs_view d;
    enum mrs_status s = mrs_measurements_new(with, &of, &m, e);
    MRS_THEN(s, mrs_measurements_begin(m, bucket, e));
    while (s == MRS_OK && (s = mrs_measurements_next(m, &d, e)) == MRS_OK) {
        mrs_buf_put(rows, d.p, d.n);
    }
    mrs_measurements_free(m);
    return s == MRS_END ? MRS_OK : s;
}

/* The bucket must give rows with these values as field `v`, missing ones too. */
static void
check_rows(struct mrs_view bucket, const struct mrs_val *v, uint32_t n)
{
    struct mrs_buf got, want;
    struct mrs_err e;
    uint8_t room[16];
    mrs_err_clear(&e);
    mrs_buf_init(&got, mem, SIZE_MAX);
    mrs_buf_init(&want, mem, SIZE_MAX);
    for (uint32_t i = 0; i < n; i++) {
        struct mrs_build b;
        struct mrs_view d;
        mrs_build_init(&b, &want);
        mrs_build_val(&b, "t", 1, mrs_make_i64(room, TIME * 1000ll + i * 1000, MRS_DATE));
        mrs_build_text(&b, "m", "m", 1);
        mrs_build_val(&b, "v", 1, v[i]);
        assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    }
    if (unpack(mem, bucket, &got, &e) != MRS_OK) {
        fail_msg("%s: %s", e.where, e.msg);
    }
    assert_int_equal(got.n, want.n);
    assert_true(n == 0 || memcmp(got.p, want.p, got.n) == 0);
    mrs_buf_clear(&got);
    mrs_buf_clear(&want);
}

/* ---- by hand ---- */
struct by_hand {
    const char *what, *column; /* hexadecimal; spaces count for nothing */
    const char *values;        /* as Extended JSON, in v; `null` stands for what is missing where `gaps` */
    bool gaps;
};
static const struct by_hand vectors[] = {
    {"int32: two steps of one in slots of 30 bits", "1000 01000000 80 1D00000008000000 00",
     "[{'$numberInt':'1'},{'$numberInt':'0'},{'$numberInt':'1'}]", false},
    {"int64: one large step in a slot of 60 bits", "1200 0000000000000000 80 FEFFFFFFFFFFFF0F 00",
     "[{'$numberLong':'0'},{'$numberLong':'-36028797018963968'}]", false},
    {"doubles, scaled by ten", "0100 000000000000F83F A0 2E00000000000000 00",
     "[{'$numberDouble':'1.5'},{'$numberDouble':'1.6'}]", false},
    {"doubles, as bits", "0100 000000000000F03F 80 2E00000000000000 00",
     "[{'$numberDouble':'1.0'},{'$numberDouble':'1.0000000000000002'}]", false},
    {"a date, and the step grows by two", "0900 E803000000000000 80 8D0F000008000000 00",
     "[{'$date':{'$numberLong':'1000'}},{'$date':{'$numberLong':'1124'}},{'$date':{'$numberLong':'1249'}}]", false},
    {"an ObjectId: the counter by one, the time by one", "0700 0000000A0102030405000007 80 2E20000000000000 00",
     "[{'$oid':'0000000a0102030405000007'},{'$oid':'0000000b0102030405000008'}]", false},
    {"a timestamp", "1100 0100000002000000 80 2E00000000000000 00",
     "[{'$timestamp':{'t':2,'i':1}},{'$timestamp':{'t':2,'i':2}}]", false},
    {"a text: the last character is the lowest byte", "0200 03000000616200 80 2E00000000000000 00",
     "['ab','ac']", false},
    {"a text grows by a character", "0200 02000000 6100 80 0E380C0000000000 00", "['a','b!']", false},
    {"binary data", "0500 0200000000 0102 80 2E00000000000000 00",
     "[{'$binary':{'base64':'AQI=','subType':'00'}},{'$binary':{'base64':'AgI=','subType':'00'}}]", false},
    {"a decimal: selector 8 with 16 nibbles of zeros", "1300 01000000000000000000000000004030 80 D850000000000000 00",
     "[{'$numberDecimal':'1'},{'$numberDecimal':'18446744073709551617'}]", false},
    {"booleans", "0800 00 80 2E00000000000000 00", "[false,true]", false},
    {"nothing, then a value, then nothing twice", "80 FEFFFFFFFFFFFFFF 1000 05000000 80 FDFFFFFFFFFFFFFF 00",
     "[null,{'$numberInt':'5'},null,null]", true},
    {"null, minKey and maxKey come again", "0A00 80 0E00000000000000 FF00 80 0E00000000000000 7F00 00",
     "[null,null,{'$minKey':1},{'$minKey':1},{'$maxKey':1}]", false},
    {"documents: a, and b that the second lacks", "F1 13000000 10 6100 01000000 10 6200 02000000 00"
     "80 2E00000000000000 80 0E00000000000000 80 0E00000000000000 80 FEFFFFFFFFFFFFFF 00 00",
     "[{'a':{'$numberInt':'2'},'b':{'$numberInt':'2'}},{'a':{'$numberInt':'2'}}]", false},
    {"behind documents the last one comes again", "F0 0C000000 10 6100 01000000 00 80 0E00000000000000 00"
     "80 0E00000000000000 00", "[{'a':{'$numberInt':'1'}},{'a':{'$numberInt':'1'}}]", false},
};

static size_t
from_hex(const char *hex, uint8_t *out)
{
    size_t n = 0;
    for (const char *p = hex; *p;) {
        unsigned byte;
        if (*p == ' ') {
            p++;
            continue;
        }
        assert_int_equal(sscanf(p, "%2x", &byte), 1);
        out[n++] = (uint8_t)byte;
        p += 2;
    }
    return n;
}

static uint32_t
values_of(const bson_t *list, bool gaps, struct mrs_val *v)
{
    struct mrs_walk w, inner;
    struct mrs_elem el;
    uint32_t n = 0;
    mrs_walk_init(&w, json_view(list));
    assert_int_equal(mrs_walk_next(&w, &el), 1);
    mrs_walk_init(&inner, mrs_val_view(el.v));
    while (mrs_walk_next(&inner, &el) == 1) {
        v[n++] = gaps && el.v.type == MRS_NULL ? mrs_missing() : el.v;
    }
    return n;
}

static void
columns_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct by_hand *x = &vectors[i];
        char text[1000];
        uint8_t column[300];
        struct mrs_val v[8];
        struct bucket k;
        snprintf(text, sizeof text, "{'v':%s}", x->values);
        bson_t *list = json_read(text);
        uint32_t n = values_of(list, x->gaps, v);
        print_message("%s\n", x->what);
        bucket_open(&k, 2, n);
        bucket_times(&k, n);
        bucket_column(&k, "v", column, from_hex(x->column, column));
        check_rows(bucket_close(&k), v, n);
        mrs_buf_clear(&k.buf);
        bson_destroy(list);
    }
}

/* A repetition of 120 and one of 1,920, of 0 and of a step. */
static void
runs(void **state)
{
    static struct mrs_val v[ROWS_MOST + 200];
    static uint8_t room[ROWS_MOST + 200][16];
    uint8_t column[64];
    struct bucket k;
    (void)state;
    uint32_t n = 1 + 120 + 1 + 1920;
    for (uint32_t i = 0; i < n; i++) {
        v[i] = mrs_make_i32(room[i], i <= 120 ? 7 : (int32_t)(7 + 3 * (i - 120)));
    }
    size_t bytes = from_hex("1000 07000000 82 0F00000000000000 6E00000000000000 FF00000000000000 00", column);
    bucket_open(&k, 3, n);
    bucket_times(&k, n);
    bucket_column(&k, "v", column, bytes);
    check_rows(bucket_close(&k), v, n);
    mrs_buf_clear(&k.buf);
}

/* ---- at random ---- */
/* Values as columns have them: a few types, near to each other or not, now and then nothing. */
static void
random_values(struct mrs_arena *a, struct mrs_val *v, uint32_t n)
{
    uint8_t room[64];
    struct mrs_val now = nasty_scalar(room);
    unsigned calm = nasty_below(20), gaps = nasty_below(3) ? 0 : 1 + nasty_below(5);
    for (uint32_t i = 0; i < n; i++) {
        unsigned what = nasty_below(20);
        if (what == 19) {
            now = nasty_scalar(room);
        } else if (what >= calm && (now.type == MRS_INT64 || now.type == MRS_DATE || now.type == MRS_TIMESTAMP)) {
            mrs_put64(room, mrs_le64(room) + 1000 + nasty_below(3));
        } else if (what >= calm && now.type == MRS_INT32) {
            mrs_put32(room, mrs_le32(room) + nasty_below(1u << nasty_below(31)));
        } else if (what >= calm && now.type == MRS_DOUBLE) {
            mrs_make_double(room, (double)nasty_below(100000) / (nasty_below(2) ? 100 : 10000));
        } else if (what >= calm && now.type == MRS_OBJECTID) {
            room[11]++;
            room[3] = (uint8_t)(room[3] + nasty_below(2));
        } else if (what >= calm && now.n > 6 && (now.type == MRS_STRING || now.type == MRS_BINARY)) {
            room[5] = (uint8_t)(room[5] + 1 + (room[5] == 255));
        }
        v[i] = mrs_missing();
        if (!gaps || nasty_below(6) >= gaps) {
            assert_true(mrs_val_copy(a, now, &v[i]));
        }
    }
}

static uint32_t
random_rows(void)
{
    return nasty_below(8) ? 1 + nasty_below(60) : 1 + nasty_below(ROWS_MOST - 1);
}

static void
columns_at_random(void **state)
{
    static struct mrs_val v[ROWS_MOST];
    static struct write_stream w;
    struct mrs_arena a;
    (void)state;
    mrs_arena_init(&a, mem);
    for (int i = 0; i < TRIES; i++) {
        struct bucket k;
        uint32_t n = random_rows();
        mrs_arena_reset(&a);
        random_values(&a, v, n);
        write_stream_init(&w, mem);
        write_values(&w, mrs_missing(), v, n);
        mrs_buf_byte(&w.bytes, 0);
        bucket_open(&k, 2, nasty_below(2) ? (int64_t)n : -1);
        bucket_times(&k, n);
        bucket_column(&k, "v", w.bytes.p, w.bytes.n);
        check_rows(bucket_close(&k), v, n);
        mrs_buf_clear(&k.buf);
        mrs_buf_clear(&w.bytes);
    }
    mrs_arena_clear(&a);
}

/* {a, b: {c, d: {e}}, f: {}, g: [x, y]} of the values that are there; f where it is wanted. Missing: there is none. */
static struct mrs_val
document(struct mrs_arena *a, const struct mrs_val v[LEAVES], bool f, uint8_t type)
{
    struct mrs_buf buf;
    struct mrs_build b;
    struct mrs_view d;
    struct mrs_val out;
    bool g = v[3].type || v[4].type, deep = v[2].type != MRS_MISSING;
    mrs_buf_init(&buf, mem, SIZE_MAX);
    mrs_build_init(&b, &buf);
    mrs_build_val(&b, "a", 1, v[0]);
    if (v[1].type || deep) {
        mrs_build_open(&b, "b", 1, MRS_DOCUMENT);
        mrs_build_val(&b, "c", 1, v[1]);
        if (deep) {
            mrs_build_open(&b, "d", 1, MRS_DOCUMENT);
            mrs_build_val(&b, "e", 1, v[2]);
            mrs_build_close(&b);
        }
        mrs_build_close(&b);
    }
    if (f) {
        mrs_build_val(&b, "f", 1, mrs_view_val(mrs_empty_doc()));
    }
    if (g) {
        mrs_build_open(&b, "g", 1, MRS_ARRAY);
        mrs_build_val(&b, "0", 1, v[3]);
        mrs_build_val(&b, "1", 1, v[4]);
        mrs_build_close(&b);
    }
    assert_int_equal(mrs_build_finish(&b, &d, NULL), MRS_OK);
    assert_true(mrs_val_copy(a, (struct mrs_val){d.p, d.n, type}, &out));
    mrs_buf_clear(&buf);
    return out.n == MRS_DOC_MIN ? mrs_missing() : out;
}

/* The pieces of the streams in the order in which a reader comes to their ends. */
static void
weave(struct mrs_buf *out, struct write_stream *w, uint32_t n_streams, uint32_t rows)
{
    uint32_t next[LEAVES] = {0}, left[LEAVES] = {0};
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t i = 0; i < n_streams; i++) {
            if (!left[i]) {
                const struct write_piece *p = &w[i].piece[next[i]++];
                assert_true(next[i] <= w[i].n);
                mrs_buf_put(out, w[i].bytes.p + p->at, p->n);
                left[i] = p->values;
            }
            left[i]--;
        }
    }
}

static void
documents_at_random(void **state)
{
    static struct mrs_val leaf[LEAVES][ROWS_MOST], v[ROWS_MOST];
    static struct write_stream w[LEAVES];
    struct mrs_arena a;
    (void)state;
    mrs_arena_init(&a, mem);
    for (int t = 0; t < TRIES; t++) {
        struct mrs_buf col;
        struct bucket k;
        struct mrs_val first[LEAVES];
        uint8_t room[LEAVES][64], type = nasty_below(4) ? MRS_DOCUMENT : MRS_ARRAY;
        uint32_t n = random_rows();
        bool f = nasty_below(2);
        mrs_arena_reset(&a);
        mrs_buf_init(&col, mem, SIZE_MAX);
        for (uint32_t i = 0; i < LEAVES; i++) {
            random_values(&a, leaf[i], n);
            first[i] = nasty_below(2) && leaf[i][0].type ? leaf[i][0] : nasty_scalar(room[i]);
            write_stream_init(&w[i], mem);
            write_values(&w[i], first[i], leaf[i], n);
        }
        for (uint32_t r = 0; r < n; r++) {
            struct mrs_val row[LEAVES];
            for (uint32_t i = 0; i < LEAVES; i++) {
                row[i] = leaf[i][r];
            }
            v[r] = document(&a, row, f, type);
        }
        struct mrs_val like = document(&a, first, f, type);
        mrs_buf_byte(&col, type == MRS_ARRAY ? 0xF2 : 0xF1);
        mrs_buf_put(&col, like.p, like.n);
        weave(&col, w, LEAVES, n);
        mrs_buf_put(&col, "\0", 2);
        bucket_open(&k, 3, n);
        bucket_times(&k, n);
        bucket_column(&k, "v", col.p, col.n);
        check_rows(bucket_close(&k), v, n);
        mrs_buf_clear(&k.buf);
        mrs_buf_clear(&col);
        for (uint32_t i = 0; i < LEAVES; i++) {
            mrs_buf_clear(&w[i].bytes);
        }
    }
    mrs_arena_clear(&a);
}

/* ---- version 1 ---- */
static void
version_1(void **state)
{
    struct mrs_buf rows;
    struct mrs_err e;
    (void)state;
    bson_t *k = json_read("{'control':{'version':1,'min':{'t':{'$date':1000}},'max':{'t':{'$date':3000}}},"
                          "'meta':{'d':1},'data':{'x':{'1':5},'t':{'0':{'$date':2000},'1':{'$date':1000},"
                          "'2':{'$date':3000}},'y':{'0':null,'2':[1]}}}");
    mrs_err_clear(&e);
    mrs_buf_init(&rows, mem, SIZE_MAX);
    assert_int_equal(unpack(mem, json_view(k), &rows, &e), MRS_OK);
    static const char *const want[] = {"{'t':{'$date':2000},'m':{'d':1},'y':null}",
                                       "{'t':{'$date':1000},'m':{'d':1},'x':5}",
                                       "{'t':{'$date':3000},'m':{'d':1},'y':[1]}"};
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        bson_t *one = json_read(want[i]);
        assert_true(rows.n - at >= one->len && memcmp(rows.p + at, bson_get_data(one), one->len) == 0);
        at += one->len;
        bson_destroy(one);
    }
    assert_int_equal(at, rows.n);
    mrs_buf_clear(&rows);
    bson_destroy(k);
}

/* ---- what is wrong ---- */
#define V1(data) "{'control':{'version':1},'data':{" data "}}"
static const struct {
    const char *bucket, *where, *msg;
} bad_buckets[] = {
    {"{'_id':1}", "control", "it has no `control`"},
    {"{'control':{'version':4},'data':{}}", "control.version", "1, 2 and 3 are known"},
    {"{'control':{},'data':{}}", "control.version", "1, 2 and 3 are known"},
    {"{'control':{'version':1}}", "data", "it has no `data`"},
    {"{'control':{'version':1,'count':'x'},'data':{}}", "control.count", "no number"},
    {V1("'x':{'0':1}"), "data", "no column of the time field `t`"},
    {V1("'t':{'0':{'$date':1}},'m':{'0':1}"), "data", "a column of the meta field `m`"},
    {V1("'t':1"), "t", "that is no document"},
    {V1("'t':{'0':5}"), "t", "measurement 1 has no date"},
    {V1("'t':{'0':{'$date':1}},'x':{'1':1}"), "x", "values after the last time"},
    {V1("'t':{'0':{'$date':1},'1':{'$date':1}},'x':{'1':1,'0':1}"), "x", "values after the last time"},
    {"{'control':{'version':1,'count':3},'data':{'t':{'0':{'$date':1}}}}", "control.count",
     "3 measurements are said to be there, and 1 are"},
    {"{'control':{'version':1,'min':{'t':{'$date':2}}},'data':{'t':{'0':{'$date':1}}}}", "t", "outside of control.min"},
    {"{'control':{'version':1,'max':{'t':{'$date':0}}},'data':{'t':{'0':{'$date':1}}}}", "t", "outside of control.min"},
    {"{'control':{'version':2},'data':{'t':{'0':{'$date':1}}}}", "t", "no binary data of subtype 7"},
};

static void
damaged_buckets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_buckets / sizeof *bad_buckets; i++) {
        struct mrs_buf rows;
        struct mrs_err e;
        bson_t *k = json_read(bad_buckets[i].bucket);
        mrs_err_clear(&e);
        mrs_buf_init(&rows, mem, SIZE_MAX);
        assert_int_equal(unpack(mem, json_view(k), &rows, &e), MRS_FAIL);
        assert_int_equal(e.code, MRS_E_BSON);
        assert_string_equal(e.where, bad_buckets[i].where);
        if (!strstr(e.msg, bad_buckets[i].msg)) {
            fail_msg("%s: %s", bad_buckets[i].bucket, e.msg);
        }
        mrs_buf_clear(&rows);
        bson_destroy(k);
    }
}

static const struct {
    const char *column, *msg;
} bad_columns[] = {
    {"", "it has no end"},
    {"1000 01000000", "it has no end"},
    {"1000 010000", "byte 0 of the column: a value that is cut short"},
    {"1001 01000000 00", "byte 0 of the column: a value that is cut short"},
    {"0200 FFFFFF7F 00", "a value that is cut short or has an impossible length"},
    {"1000 01000000 00 00", "byte 6 of the column: bytes after its end"},
    {"1000 01000000 80 0E000000000000", "byte 6 of the column: words that are cut short"},
    {"1000 01000000 80 0000000000000000 00", "a selector that does not exist"},
    {"1000 01000000 80 A700000000000000 00", "a selector that does not exist"},
    {"1000 01000000 80 E800000000000000 00", "a selector that does not exist"},
    {"1000 01000000 90 0E00000000000000 00", "a scale, after a value that is no double"},
    {"1000 01000000 E0 0E00000000000000 00", "a control byte that does not exist"},
    {"1000 01000000 40 0E00000000000000 00", "a control byte that does not exist"},
    {"0100 9A9999999999B93F 90 0E00000000000000 00", "a double is not a whole number at the scale"},
    {"0A00 80 2E00000000000000 00", "a difference to a value that has none"},
    {"F1 0500000000 80 0E00000000000000 00 00", "a document without values"},
    {"F1 0C000000 10 6100 0100000000 00 00", "a document, and none that is like it"},
    {"F1 0D000000 10 6100 0100000000", "a document that is cut short"},
    {"F1 0C000000 10 6161 0100000000 80 0E00000000000000 00 00", "does not fit into its document"},
    {"F1 0C000000 10 6100 0100000000 80 0E00000000000000", "it has no end"},
    {"F1 0C000000 10 6100 0100000000 F1 0C000000 10 6100 0100000000 00", "a control byte that does not exist"},
    {"F1 13000000 10 6100 01000000 10 6200 02000000 00 80 0E00000000000000 00 00",
     "documents end before all their values have come"},
    {"F1 13000000 10 6100 01000000 10 6200 02000000 00 80 0E00000000000000 80 0D00000000000000 00 00",
     "documents end before all their values have come"},
    {"1000 01000000 80 0E00000000000000 00", "it has 2 values, and there are more times"},
    {"1000 01000000 80 0C00000000000000 00", "it has values after the last time"},
    {"0800 02 80 0D00000000000000 00", ""},
};

static void
damaged_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_columns / sizeof *bad_columns; i++) {
        struct bucket k;
        struct mrs_buf rows;
        struct mrs_err e;
        uint8_t column[100];
        mrs_err_clear(&e);
        mrs_buf_init(&rows, mem, SIZE_MAX);
        bucket_open(&k, 2, -1);
        bucket_times(&k, 3);
        bucket_column(&k, "v", column, from_hex(bad_columns[i].column, column));
        enum mrs_status s = unpack(mem, bucket_close(&k), &rows, &e);
        if (s != MRS_FAIL || e.code != MRS_E_BSON || !strstr(e.msg, bad_columns[i].msg)) {
            fail_msg("%s: status %d, %s: %s", bad_columns[i].column, s, e.where, e.msg);
        }
        mrs_buf_clear(&rows);
        mrs_buf_clear(&k.buf);
    }
}

/* Each allocation fails once: nothing is lost, and it is said. */
static void
without_memory(void **state)
{
    static const char column[] = "1000 01000000 F1 1B000000 10 6100 01000000 03 6200 0C000000 10 6300 02000000 00 00"
                                 "80 0D00000000000000 80 0D00000000000000 00 00";
    uint8_t bytes[100];
    struct bucket k;
    (void)state;
    bucket_open(&k, 2, 3);
    bucket_times(&k, 3);
    bucket_column(&k, "v", bytes, from_hex(column, bytes));
    struct mrs_view bucket = bucket_close(&k);
    enum mrs_status s = MRS_DEAD;
    for (uint64_t n = 1; s == MRS_DEAD; n++) {
        struct mrs_mem *poor = mrs_mem_new(n);
        struct mrs_err e;
        struct mrs_buf rows;
        mrs_err_clear(&e);
        mrs_buf_init(&rows, mem, SIZE_MAX);
        s = unpack(poor, bucket, &rows, &e);
        assert_true(s == MRS_OK || (s == MRS_DEAD && e.code == MRS_E_MEMORY));
        assert_true(s == MRS_DEAD || n > 4);
        mrs_buf_clear(&rows);
        assert_int_equal(mrs_mem_close(poor), 0);
    }
    assert_int_equal(s, MRS_OK);
    mrs_buf_clear(&k.buf);
}

/* A column that would take more memory than any bucket of a server. */
static void
too_many_fields(void **state)
{
    struct mrs_buf col;
    struct bucket k;
    struct mrs_err e;
    (void)state;
    mrs_err_clear(&e);
    mrs_buf_init(&col, mem, SIZE_MAX);
    mrs_buf_put(&col, "\xF1\0\0\0", 5);
    for (uint32_t i = 0; i < MRS_BUCKET_FIELDS_MAX; i++) {
        mrs_buf_put(&col, "\x0A", 2);
    }
    mrs_buf_byte(&col, 0);
    mrs_put32(col.p + 1, (uint32_t)col.n - 1);
    mrs_buf_byte(&col, 0);
    bucket_open(&k, 2, 1);
    bucket_times(&k, 1);
    bucket_column(&k, "v", col.p, col.n);
    assert_int_equal(unpack(mem, bucket_close(&k), &col, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_LIMIT);
    mrs_buf_clear(&col);
    mrs_buf_clear(&k.buf);
}

static void
options(void **state)
{
    struct mrs_series of;
    (void)state;
    bson_t *a = json_read("{'timeseries':{'timeField':'ts','metaField':'sensor'}}");
    bson_t *b = json_read("{'timeseries':{'timeField':'ts'}}"), *c = json_read("{'timeseries':{'metaField':'x'}}");
    assert_true(mrs_series_of(json_view(a), &of));
    assert_string_equal(of.time, "ts");
    assert_string_equal(of.meta, "sensor");
    assert_true(mrs_series_of(json_view(b), &of));
    assert_null(of.meta);
    assert_false(mrs_series_of(json_view(c), &of));
    assert_false(mrs_series_of(mrs_empty_doc(), &of));
    bson_destroy(a);
    bson_destroy(b);
    bson_destroy(c);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_by_hand),   cmocka_unit_test(runs),
        cmocka_unit_test(columns_at_random), cmocka_unit_test(documents_at_random),
        cmocka_unit_test(version_1),         cmocka_unit_test(damaged_buckets),
        cmocka_unit_test(damaged_columns),   cmocka_unit_test(without_memory),
        cmocka_unit_test(too_many_fields),   cmocka_unit_test(options),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

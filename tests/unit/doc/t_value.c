/* SPDX-License-Identifier: Apache-2.0 */
/* t_value.c - order, keys, new ids and numbers as text.
 *
 * Compare and key are two ways to one order; this program holds them together: both are checked against rows written
 * by hand, then against each other over random values of every type, nested ones too. */
#include "nasty.h"

#include <math.h>
#include <xxhash.h>

static struct mrs_mem *mem;

static struct mrs_val
decimal(const char *text, uint8_t room[16])
{
    assert_int_equal(mrs_decimal_from_text(text, (uint32_t)strlen(text), true, room, NULL), MRS_OK);
    struct mrs_val v = {room, 16, MRS_DECIMAL128};
    return v;
}

/* A document's key field by field is its key. */
static void
check_fields(struct mrs_val doc, const struct mrs_buf *key)
{
    struct mrs_buf x;
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_buf_init(&x, mem, MRS_KEY_MAX);
    mrs_key_open(&x);
    mrs_walk_init(&w, mrs_val_view(doc));
    while (mrs_walk_next(&w, &e) == 1) {
        mrs_key_field(&x, e.name, e.name_len, e.v);
    }
    mrs_key_close(&x);
    assert_int_equal(x.bad, 0);
    assert_int_equal(x.n, key->n);
    assert_memory_equal(x.p, key->p, x.n);
    mrs_buf_clear(&x);
}

static int
key_order(struct mrs_val a, struct mrs_val b, bool descending)
{
    struct mrs_buf x, y;
    mrs_buf_init(&x, mem, MRS_KEY_MAX);
    mrs_buf_init(&y, mem, MRS_KEY_MAX);
    mrs_key_append(&x, a, descending);
    mrs_key_append(&y, b, descending);
    assert_int_equal(x.bad | y.bad, 0);
    size_t n = x.n < y.n ? x.n : y.n;
    int c = memcmp(x.p, y.p, n);
    if (c == 0) {
        assert_int_equal(x.n, y.n); /* no key is a prefix of another */
    }
    if (a.type == MRS_DOCUMENT && !descending) {
        check_fields(a, &x);
    }
    mrs_buf_clear(&x);
    mrs_buf_clear(&y);
    return c < 0 ? -1 : c > 0;
}

static void
check_order(struct mrs_val a, struct mrs_val b, int want)
{
    assert_int_equal(mrs_compare(a, b), want);
    assert_int_equal(mrs_compare(b, a), -want);
    assert_int_equal(key_order(a, b, false), want);
    assert_int_equal(key_order(a, b, true), -want);
}

static void
numbers_in_order(void **state)
{
    (void)state;
    static const char *const row[] = {"d:NaN", "d:-Infinity", "x:-1E+400", "d:-1.7976931348623157e308",
                                      "i:-9223372036854775808", "i:-9007199254740993",
                                      "d:-9007199254740992", "x:-1E-400", "d:0", "x:1E-400", "d:5e-324", "x:0.1",
                                          "d:0.1",
                                      "x:0.1000000000000000055511151231257828", "i:1", "d:1.5", "i:9007199254740992",
                                          "x:9007199254740992.5",
                                      "i:9007199254740993", "d:9007199254740994", "i:9223372036854775806",
                                          "x:9223372036854775806.5",
                                      "i:9223372036854775807", "d:9223372036854775808", "x:9223372036854775809",
                                          "d:1.7976931348623157e308",
                                      "x:1E+400", "d:Infinity"};
    uint8_t room[2][16];
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        for (size_t j = 0; j < sizeof row / sizeof row[0]; j++) {
            struct mrs_val v[2];
            const char *text[2] = {row[i], row[j]};
            for (int k = 0; k < 2; k++) {
                v[k] = text[k][0] == 'd'   ? mrs_make_double(room[k], strtod(text[k] + 2, NULL))
                       : text[k][0] == 'i' ? mrs_make_i64(room[k], strtoll(text[k] + 2, NULL, 10), MRS_INT64)
                                           : decimal(text[k] + 2, room[k]);
            }
            check_order(v[0], v[1], i < j ? -1 : i > j);
        }
    }
}

static void
equal_numbers(void **state)
{
    (void)state;
    uint8_t a[16], b[16];
    check_order(mrs_make_i32(a, 1), decimal("1.00", b), 0);
    check_order(mrs_make_i32(a, 1), mrs_make_double(b, 1.0), 0);
    check_order(mrs_make_i64(a, 1, MRS_INT64), mrs_make_i32(b, 1), 0);
    check_order(mrs_make_double(a, -0.0), mrs_make_double(b, 0.0), 0);
    check_order(decimal("-0E+10", a), mrs_make_double(b, 0.0), 0);
    check_order(decimal("NaN", a), mrs_make_double(b, NAN), 0);
    check_order(mrs_make_double(a, NAN), mrs_make_double(b, -NAN), 0);
    check_order(decimal("0.5", a), mrs_make_double(b, 0.5), 0);
    check_order(decimal("9007199254740993", a), mrs_make_i64(b, 9007199254740993, MRS_INT64), 0);
    check_order(decimal("-9223372036854775808", a), mrs_make_i64(b, INT64_MIN, MRS_INT64), 0);
    check_order(decimal("-9223372036854775807.00", a), mrs_make_i64(b, -INT64_MAX, MRS_INT64), 0);
    check_order(decimal("-Infinity", a), mrs_make_double(b, -INFINITY), 0);
}

struct pool {
    struct mrs_buf buf;
    size_t at[400];
    struct mrs_val v[400];
};

/* Values of every kind: the fields of one random document, and missing. */
static void
fill_pool(struct pool *p, struct mrs_view *d)
{
    struct mrs_build b;
    mrs_build_init(&b, &p->buf);
    for (int i = 0; i < 399; i++) {
        uint8_t room[64];
        char name[16];
        uint32_t len = nasty_name(name);
        if (nasty_below(3)) {
            mrs_build_val(&b, name, len, nasty_scalar(room));
        } else {
            mrs_build_open(&b, name, len, nasty_below(2) ? MRS_DOCUMENT : MRS_ARRAY);
            nasty_fill(&b, 3, 3, false);
            mrs_build_close(&b);
        }
    }
    assert_int_equal(mrs_build_finish(&b, d, NULL), MRS_OK);
    struct mrs_walk w;
    struct mrs_elem e;
    mrs_walk_init(&w, *d);
    p->v[0] = mrs_missing();
    for (int i = 1; i < 400; i++) {
        assert_int_equal(mrs_walk_next(&w, &e), 1);
        p->v[i] = e.v;
    }
}

static void
key_is_compare(void **state)
{
    (void)state;
    for (int round = 0; round < 12; round++) {
        struct pool p;
        struct mrs_view d;
        mrs_buf_init(&p.buf, mem, 1 << 24);
        fill_pool(&p, &d);
        assert_int_equal(mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL), MRS_OK);
        for (int i = 0; i < 400; i++) {
            for (int j = i; j < 400; j += 1 + (int)nasty_below(5)) {
                int c = mrs_compare(p.v[i], p.v[j]);
                if (key_order(p.v[i], p.v[j], false) != c || key_order(p.v[i], p.v[j], true) != -c ||
                    mrs_compare(p.v[j], p.v[i]) != -c || (i == j && c != 0)) {
                    fail_msg("round %d: values %d (%s) and %d (%s) disagree", round, i, mrs_type_name(p.v[i].type), j,
                             mrs_type_name(p.v[j].type));
                }
            }
        }
        mrs_buf_clear(&p.buf);
    }
}

static struct mrs_val
code_with_scope(uint8_t *p, const char *code, const uint8_t *scope, uint32_t n_scope)
{
    uint32_t n = (uint32_t)strlen(code) + 1;
    mrs_put32(p, 8 + n + n_scope);
    mrs_put32(p + 4, n);
    memcpy(p + 8, code, n);
    memcpy(p + 8 + n, scope, n_scope);
    struct mrs_val v = {p, 8 + n + n_scope, MRS_CODE_W_SCOPE};
    return v;
}

static void
structure(void **state)
{
    (void)state;
    uint8_t a[64], b[64], one[] = {8, 0, 0, 0, 10, 'a', 0, 0};
    struct mrs_val empty = {mrs_empty_bytes, 5, MRS_DOCUMENT}, array = {mrs_empty_bytes, 5, MRS_ARRAY}, doc = {one,
                                                                                                               8,
                MRS_DOCUMENT};
    struct mrs_val undefined = {one, 0, MRS_UNDEFINED};
    check_order(empty, doc, -1);
    check_order(doc, array, -1);
    check_order(mrs_missing(), undefined, 0);
    check_order(undefined, mrs_null(), -1);
    check_order(code_with_scope(a, "x", mrs_empty_bytes, 5), code_with_scope(b, "x", one, 8), -1);
    check_order(code_with_scope(a, "x", mrs_empty_bytes, 5), code_with_scope(b, "x", mrs_empty_bytes, 5), 0);
    check_order(code_with_scope(a, "y", mrs_empty_bytes, 5), code_with_scope(b, "x", one, 8), 1);
    /* {b: 1} < {a: "x"}: the rank of the values comes before the name */
    uint8_t number[] = {12, 0, 0, 0, 16, 'b', 0, 1, 0, 0, 0, 0}, text[] = {14, 0, 0, 0, 2, 'a', 0, 2, 0, 0, 0, 'x',
                                                                           0, 0};
    struct mrs_val vn = {number, 12, MRS_DOCUMENT}, vt = {text, 14, MRS_DOCUMENT};
    check_order(vn, vt, -1);
    /* DBPointer: length of the namespace, then the id; its text does not count */
    uint8_t pa[] = {2, 0, 0, 0, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, pb[18];
    memcpy(pb, pa, 18);
    pb[4] = 'b';
    struct mrs_val xa = {pa, 18, MRS_DBPOINTER}, xb = {pb, 18, MRS_DBPOINTER};
    check_order(xa, xb, 0);
    assert_int_equal(mrs_type_rank(MRS_MAXKEY), 127);
    assert_int_equal(mrs_type_rank(MRS_MINKEY), -1);
    assert_string_equal(mrs_type_name(MRS_CODE_W_SCOPE), "javascriptWithScope");
    assert_string_equal(mrs_type_name(MRS_MAXKEY), "maxKey");
}

/* As deep as documents may be read, and tuples of keys. */
static void
deep_and_tuples(void **state)
{
    (void)state;
    uint32_t deep = 5 + 8 * (MRS_DEPTH_READ - 1);
    uint8_t *p = calloc(2, deep);
    for (uint32_t i = 0; i < MRS_DEPTH_READ - 1; i++) {
        mrs_put32(p + 7 * i, deep - 8 * i);
        p[7 * i + 4] = MRS_DOCUMENT;
        p[7 * i + 5] = 'a';
    }
    mrs_put32(p + 7 * (MRS_DEPTH_READ - 1), 5);
    memcpy(p + deep, p, deep);
    assert_int_equal(mrs_doc_check(p, deep, MRS_DEPTH_READ, NULL), MRS_OK);
    assert_int_equal(mrs_doc_check(p, deep, MRS_DEPTH_READ - 1, NULL), MRS_FAIL);
    struct mrs_val a = {p, deep, MRS_DOCUMENT}, b = {p + deep, deep, MRS_DOCUMENT};
    assert_int_equal(mrs_doc_depth(mrs_val_view(a)), MRS_DEPTH_READ);
    check_order(a, b, 0);
    p[deep + 7 * 2000 + 5] = 'b';
    check_order(a, b, -1);

    struct mrs_buf x, y;
    mrs_buf_init(&x, mem, MRS_KEY_MAX);
    mrs_buf_init(&y, mem, 12);
    uint8_t room[16];
    mrs_key_open(&x); /* inside another it would be one level too deep */
    mrs_key_field(&x, "a", 1, a);
    assert_int_equal(x.bad, 2);
    mrs_buf_reset(&x);
    free(p);
    mrs_key_append(&x, mrs_make_i32(room, 7), false);
    size_t first = x.n;
    mrs_key_append(&x, mrs_make_i32(room, 7), true);
    assert_int_equal(x.n, 2 * first);
    for (size_t i = 0; i < first; i++) {
        assert_int_equal(x.p[i] ^ x.p[first + i], 0xff);
    }
    mrs_key_append(&y, mrs_make_i32(room, 7), false);
    mrs_key_append(&y, mrs_make_i32(room, 7), false);
    assert_int_equal(y.bad, 2);
    mrs_buf_clear(&x);
    mrs_buf_clear(&y);
}

/* ---- ids ---- */
struct id_case {
    const char *ns, *from;
    struct mrs_val key, path;
    int64_t pos[2];
    uint32_t n_pos, time;
    const char *id;
};

static void
check_id(const struct id_case *c)
{
    struct mrs_new_id in = {c->ns, c->from, c->key, c->path, c->pos, c->n_pos, c->time};
    struct mrs_buf scratch;
    uint8_t id[12];
    char hex[25];
    mrs_buf_init(&scratch, mem, MRS_DOC_READ_MAX);
    assert_int_equal(mrs_id_make(&in, &scratch, id, NULL), MRS_OK);
    for (int i = 0; i < 12; i++) {
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
    }
    assert_string_equal(hex, c->id);
    if (c->n_pos) { /* from another last position back to its own */
        int64_t pos[8] = {0};
        struct mrs_id_same same = {.rounds = 0};
        uint8_t other[12], again[12];
        memcpy(pos, c->pos, c->n_pos * sizeof *pos);
        pos[c->n_pos - 1] = INT64_MIN + 7;
        in.pos = pos;
        assert_int_equal(mrs_id_make(&in, &scratch, other, NULL), MRS_OK);
        memcpy(again, other, 12);
        mrs_id_again(&scratch, &same, c->pos[c->n_pos - 1], again);
        assert_memory_equal(again, id, 12);
        mrs_id_again(&scratch, &same, INT64_MIN + 7, again);
        assert_memory_equal(again, other, 12);
    }
    mrs_buf_clear(&scratch);
}

/* Whatever the length of what is hashed, in the row that a bucket makes and back. */
static void
ids_of_one_document(void **state)
{
    char name[300];
    struct mrs_buf scratch, row;
    (void)state;
    mrs_buf_init(&scratch, mem, MRS_DOC_READ_MAX);
    mrs_buf_init(&row, mem, MRS_DOC_READ_MAX);
    for (size_t n = 0; n < sizeof name; n++) {
        struct mrs_id_same same = {.rounds = 0};
        int64_t pos[] = {3, 0};
        struct mrs_new_id in = {name, "d.from", mrs_null(), mrs_missing(), pos, 2, 77};
        uint8_t id[12], again[12];
        memset(name, 'n', n);
        name[n] = 0;
        assert_int_equal(mrs_id_make(&in, &row, again, NULL), MRS_OK);
        for (unsigned i = 0; i < 40; i++) {
            pos[1] = i < 3 ? (int64_t)i : (int64_t)(i * 0x9E3779B97F4A7C15u);
            assert_int_equal(mrs_id_make(&in, &scratch, id, NULL), MRS_OK);
            mrs_id_again(&row, &same, pos[1], again);
            assert_memory_equal(again, id, 12);
        }
    }
    mrs_buf_clear(&scratch);
    mrs_buf_clear(&row);
}

static struct mrs_val
built(struct mrs_arena *a, struct mrs_build *b, uint8_t type)
{
    struct mrs_view d;
    struct mrs_val v, copy;
    assert_int_equal(mrs_build_finish(b, &d, NULL), MRS_OK);
    v = mrs_view_val(d);
    v.type = type;
    assert_true(mrs_val_copy(a, v, &copy));
    mrs_buf_clear(b->buf);
    return copy;
}

static void
id_vectors(void **state)
{
    (void)state;
    struct mrs_arena a;
    struct mrs_buf buf;
    struct mrs_build b;
    uint8_t room[4][16], oid[12] = {0x5f, 0x5e, 0x10, 0x00, 0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0xf6, 0x07, 0x18};
    mrs_arena_init(&a, mem);
    mrs_buf_init(&buf, mem, 1 << 20);
    struct mrs_val parent = {oid, 12, MRS_OBJECTID}, comments = mrs_make_text(&a, "comments", 8);
    struct mrs_val one[4] = {mrs_make_i32(room[0], 1), mrs_make_i64(room[1], 1, MRS_INT64), mrs_make_double(room[2],
                                                                                                            1),
                decimal("1.00", room[3])};
    for (int i = 0; i < 4; i++) {
        check_id(&(struct id_case){"blog.comments", "blog.posts", one[i], comments, {2}, 1, 0,
                                   "00000000ae3004621cd6bf9d"});
    }
    check_id(&(struct id_case){"shop.payments", "shop.customers", parent, mrs_make_text(&a, "Rentals.Payments", 16),
                               {3, 0}, 2, 0x5f5e1000,
                               "5f5e1000d1b052635703f9ea"});
    mrs_build_init(&b, &buf);
    mrs_build_text(&b, "0", "Math", 4);
    mrs_build_text(&b, "1", "Science", 7);
    check_id(&(struct id_case){"school.courses", "school.courses", built(&a, &b, MRS_ARRAY), mrs_make_text(&a,
                                                                                                           "courses",
                                                                                                               7),
                {0}, 0, 0,
                               "000000005d351f82d8d42504"});
    mrs_build_init(&b, &buf);
    mrs_build_double(&b, "sensorId", 7.0);
    struct mrs_val sensor = built(&a, &b, MRS_DOCUMENT);
    uint8_t date[16];
    check_id(&(struct id_case){"iot.hours", "iot.readings", sensor, mrs_make_i64(date, 1577836800000, MRS_DATE), {0},
                               1, 0x5e0be100,
                               "5e0be1002bbbbd69a8541407"});
    check_id(&(struct id_case){"iot.packs", "iot.readings", sensor, mrs_null(), {1}, 1, 0, "000000009e75669491fc7f93"});
    check_id(&(struct id_case){"blog.comments_more", "blog.posts", parent, comments, {2}, 1, 0x5f5e1000,
                               "5f5e10000f5c75d7dd28a975"});
    mrs_build_init(&b, &buf);
    mrs_build_text(&b, "hall", "A", 1);
    mrs_build_i32(&b, "row", 1);
    check_id(&(struct id_case){"cinema.seats", "cinema.seats", built(&a, &b, MRS_DOCUMENT), mrs_missing(), {0}, 0, 0,
                               "00000000c772783f84b8e7a2"});
    mrs_build_init(&b, &buf);
    mrs_build_text(&b, "0", "Airport", 7);
    mrs_build_text(&b, "1", "State", 5);
    check_id(&(struct id_case){"w.stations", "w.data", one[0], built(&a, &b, MRS_ARRAY), {0}, 0, 0,
                               "00000000440ce8a0321d8f5e"});
    mrs_arena_clear(&a);
    mrs_buf_clear(&buf);
}

/* Keys that are equal in MongoDB's eyes give equal ids; those that are not, do not. */
static void
id_normal_form(void **state)
{
    (void)state;
    static const char *const same[][2] = {{"1", "1.00"}, {"-0", "0E+5"}, {"0.1", "0.10"}, {"1E+100", "10E+99"},
                                          {"0.5", "0.50"}};
    struct mrs_buf scratch;
    uint8_t id[3][12], room[3][16];
    mrs_buf_init(&scratch, mem, 1 << 20);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        for (int k = 0; k < 2; k++) {
            struct mrs_new_id in = {"a.b", "a.c", decimal(same[i][k], room[k]), mrs_missing(), NULL, 0, 0};
            assert_int_equal(mrs_id_make(&in, &scratch, id[k], NULL), MRS_OK);
        }
        assert_memory_equal(id[0], id[1], 12);
    }
    struct mrs_val v[3] = {mrs_make_double(room[0], NAN), decimal("NaN", room[1]), mrs_make_double(room[2], 0.1)};
    for (int k = 0; k < 3; k++) {
        struct mrs_new_id in = {"a.b", "a.c", v[k], mrs_missing(), NULL, 0, 0};
        assert_int_equal(mrs_id_make(&in, &scratch, id[k], NULL), MRS_OK);
    }
    assert_memory_equal(id[0], id[1], 12);
    assert_memory_not_equal(id[0], id[2], 12);
    mrs_buf_clear(&scratch);
    scratch.ceiling = 40;
    struct mrs_new_id in = {"a.b", "a.c", v[0], mrs_missing(), NULL, 0, 0};
    struct mrs_err e;
    mrs_err_clear(&e);
    assert_int_equal(mrs_id_make(&in, &scratch, id[0], &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_LIMIT);
    mrs_buf_clear(&scratch);
}

/* ---- text of numbers ---- */
static void
double_text(void **state)
{
    (void)state;
    static const struct {
        double d;
        const char *text;
    } row[] = {{0.1, "0.1"}, {3, "3"}, {-0.0, "-0"}, {0.1 + 0.2, "0.30000000000000004"}, {1e16, "1e+16"},
               {9999999999999998, "9999999999999998"},
               {0.0001, "0.0001"}, {0.00001, "1e-05"}, {5e-324, "5e-324"}, {1.7976931348623157e308,
                                                                            "1.7976931348623157e+308"}, {1234567.5,
                                                                                                         "1234567.5"},
               {NAN, "NaN"}, {INFINITY, "Infinity"}, {-INFINITY, "-Infinity"}, {-1.5, "-1.5"}, {123456789012345680.0,
                "1.2345678901234568e+17"},
               {2.2250738585072014e-308, "2.2250738585072014e-308"}, {1e23, "1e+23"}, {9007199254740993.0,
                                                                                       "9007199254740992"}, {100,
                                                                                                             "100"},
               {0x1p-44, "5.684341886080802e-14"}, {1e-7, "1e-07"}, {12345678.9, "12345678.9"}, {2e15,
                                                                                                 "2000000000000000"}};
    char text[40];
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint32_t n = mrs_double_to_text(row[i].d, text);
        assert_string_equal(text, row[i].text);
        assert_int_equal(n, strlen(text));
    }
    for (int i = 0; i < 20000; i++) {
        double d = nasty_double();
        uint32_t n = mrs_double_to_text(d, text);
        double back = strtod(text, NULL);
        assert_true(n < 30 && (isnan(d) ? isnan(back) : memcmp(&d, &back, 8) == 0));
    }
}

static void
decimal_text(void **state)
{
    (void)state;
    static const char *const same[] = {"0", "-0", "1", "1.00", "0.001234", "1E+3", "1.000E+5", "0E-6176", "0E+6111",
                                       "NaN", "Infinity", "-Infinity", "0.000001",
                                       "1E-7", "1.23E-7", "12345678901234567890123456789012.34",
                                           "9.999999999999999999999999999999999E+6144",
                                       "-1E-6176", "0.1000000000000000000000000000000000"};
    static const struct {
        const char *in, *out; /* NULL: refused */
        bool exact;
    } row[] = {{"1e6144", "1.000000000000000000000000000000000E+6144", true},
               {"+1.5", "1.5", true},
               {".5", "0.5", true},
               {"5.", "5", true},
               {"1e6145", NULL, false},
               {"1E-6177", NULL, false},
               {"10E-6177", "1E-6176", true},
               {"0e99999999999999999999", "0E+6111", true},
               {"inf", "Infinity", true},
               {"-INFINITY", "-Infinity", true},
               {"nan", "NaN", true},
               {"", NULL, true},
               {"-", NULL, true},
               {".", NULL, true},
               {"1e", NULL, true},
               {"1e+", NULL, true},
               {"1x", NULL, true},
               {" 1", NULL, true},
               {"1.2.3", NULL, true},
               {"infin", NULL, true},
               {"12345678901234567890123456789012345", NULL, true},
               {"12345678901234567890123456789012345", "1.234567890123456789012345678901234E+34", false},
               {"12345678901234567890123456789012349.9", "1.234567890123456789012345678901234E+34", false},
               {"12345678901234567890123456789012340", "1.234567890123456789012345678901234E+34", true}};
    uint8_t p[16];
    char text[48];
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_int_equal(mrs_decimal_from_text(same[i], (uint32_t)strlen(same[i]), true, p, NULL), MRS_OK);
        assert_int_equal(mrs_decimal_to_text(p, text), strlen(same[i]));
        assert_string_equal(text, same[i]);
    }
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        enum mrs_status s = mrs_decimal_from_text(row[i].in, (uint32_t)strlen(row[i].in), row[i].exact, p, NULL);
        assert_int_equal(s, row[i].out ? MRS_OK : MRS_FAIL);
        if (row[i].out) {
            mrs_decimal_to_text(p, text);
            assert_string_equal(text, row[i].out);
        }
    }
}

static void
integral(void **state)
{
    (void)state;
    uint8_t room[16];
    int64_t i = 0;
    assert_true(mrs_val_integral(mrs_make_double(room, -0x1p63), &i) && i == INT64_MIN);
    assert_false(mrs_val_integral(mrs_make_double(room, 0x1p63), &i));
    assert_false(mrs_val_integral(mrs_make_double(room, 1.5), &i));
    assert_false(mrs_val_integral(mrs_make_double(room, NAN), &i));
    assert_true(mrs_val_integral(decimal("1E+3", room), &i) && i == 1000);
    assert_true(mrs_val_integral(decimal("12.000", room), &i) && i == 12);
    assert_true(mrs_val_integral(decimal("-9223372036854775808", room), &i) && i == INT64_MIN);
    assert_false(mrs_val_integral(decimal("9223372036854775808", room), &i));
    assert_false(mrs_val_integral(decimal("1E+19", room), &i));
    assert_false(mrs_val_integral(decimal("1E+6000", room), &i));
    assert_false(mrs_val_integral(decimal("0.5", room), &i));
    assert_false(mrs_val_integral(decimal("Infinity", room), &i));
    assert_true(mrs_val_integral(decimal("0E+6000", room), &i) && i == 0);
    assert_true(mrs_val_integral(decimal("-0E-6000", room), &i) && i == 0);
    assert_false(mrs_val_integral(mrs_make_bool(room, true), &i));
}

static void
without_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        struct mrs_mem *m = mrs_mem_new(n);
        struct mrs_buf scratch, key;
        struct mrs_arena a;
        struct mrs_err e;
        uint8_t id[12];
        char text[3000];
        memset(text, 'x', sizeof text);
        mrs_err_clear(&e);
        mrs_buf_init(&scratch, m, 1 << 20);
        mrs_buf_init(&key, m, MRS_KEY_MAX);
        mrs_arena_init(&a, m);
        struct mrs_new_id in = {"a.b", "a.c", mrs_make_text(&a, text, sizeof text), mrs_missing(), NULL, 0, 0};
        enum mrs_status s = in.key.type == MRS_MISSING ? MRS_DEAD : mrs_id_make(&in, &scratch, id, &e);
        if (s == MRS_OK) {
            mrs_key_append(&key, in.key, true);
            s = mrs_buf_status(&key, &e);
        }
        mrs_arena_clear(&a);
        mrs_buf_clear(&scratch);
        mrs_buf_clear(&key);
        assert_int_equal(mrs_mem_close(m), 0);
        if (s == MRS_OK) {
            assert_true(n > 3);
            break;
        }
        assert_int_equal(s, MRS_DEAD);
    }
}

/* Whatever the processor has and however long it is, the hash is that of the library. */
static void
hash_of_any_length(void **state)
{
    enum { MOST = 5000 };
    const uint64_t seeds[] = {0, 1, 0x9E3779B97F4A7C15u};
    uint8_t *p = malloc(MOST);
    struct mrs_salt salt;
    (void)state;
    assert_non_null(p);
    mrs_salt_make(&salt, (const uint8_t *)"sixteen bytes ok");
    for (size_t i = 0; i < MOST; i++) {
        p[i] = (uint8_t)(i * i >> 3 ^ i);
    }
    for (size_t n = 0; n <= MOST; n += n < 300 ? 1 : 47) {
        for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
            XXH128_hash_t want = XXH3_128bits_withSeed(p + MOST - n, n, seeds[i]);
            struct mrs_hash128 h = mrs_hash(p + MOST - n, n, seeds[i]);
            assert_true(h.lo == want.low64 && h.hi == want.high64);
        }
        struct mrs_hash128 h = mrs_hash(p + MOST - n, n, 0), plain = mrs_hash_salted(NULL, p + MOST - n, n);
        assert_true(h.lo == plain.lo && h.hi == plain.hi);
        XXH128_hash_t want = XXH3_128bits_withSecret(p + MOST - n, n, salt.bytes, sizeof salt.bytes);
        h = mrs_hash_salted(&salt, p + MOST - n, n);
        assert_true(h.lo == want.low64 && h.hi == want.high64);
    }
    free(p);
}

/* However the bytes are cut the hash is that of all of them, and asking for it in between changes nothing. */
static void
hash_of_pieces(void **state)
{
    enum { MOST = 3000 };
    uint8_t p[MOST];
    uint64_t seed = 7;
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        p[i] = (uint8_t)(i * i >> 5 ^ i);
    }
    for (int round = 0; round < 200; round++) {
        struct mrs_hash_run r;
        size_t n = 0;
        mrs_hash_run_begin(&r);
        while (n < MOST) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            size_t some = (size_t)(seed >> 40) % (1u << round % 13);
            some = some < MOST - n ? some : MOST - n;
            mrs_hash_run_add(&r, p + n, some);
            n += some;
            assert_true(mrs_hash_run_end(&r) == XXH64(p, n, 0));
            if (some == 0) {
                mrs_hash_run_add(&r, p + n++, 1);
            }
        }
        assert_true(mrs_hash_run_end(&r) == XXH64(p, MOST, 0));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_order), cmocka_unit_test(equal_numbers),  cmocka_unit_test(key_is_compare),
            cmocka_unit_test(structure),
        cmocka_unit_test(deep_and_tuples),  cmocka_unit_test(id_vectors),     cmocka_unit_test(id_normal_form),
            cmocka_unit_test(double_text), cmocka_unit_test(hash_of_any_length),
            cmocka_unit_test(hash_of_pieces), cmocka_unit_test(ids_of_one_document),
        cmocka_unit_test(decimal_text),     cmocka_unit_test(integral),         cmocka_unit_test(without_memory),
    };
    mem = mrs_mem_new(0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (mrs_mem_close(mem) != 0);
}

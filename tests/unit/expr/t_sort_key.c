/* SPDX-License-Identifier: Apache-2.0 */
/* t_sort_key.c - sort keys: arrays, missing fields, directions, and random documents against a
 * comparison that tries every tuple the slow way. */
#include "bench.h"

static void
key_of(struct bench *b, const char *spec, const char *doc, struct mrs_buf *key)
{
    struct mrs_sort *s;
    bson_t *k = bench_json(spec);
    bench_doc(b, doc);
    mrs_buf_init(key, b->mem, MRS_KEY_MAX);
    if (mrs_sort_compile(&b->env, bench_view(k), false, &s, &b->err) != MRS_OK ||
        mrs_sort_key(s, b->ev.root, key, &b->err) != MRS_OK) {
        fail_msg("%s on %s: %s", spec, doc, b->err.msg);
    }
    mrs_sort_free(s);
    bson_destroy(k);
}

static int
order_of(const struct mrs_buf *a, const struct mrs_buf *b)
{
    size_t n = a->n < b->n ? a->n : b->n;
    int order = memcmp(a->p, b->p, n);
    return order ? (order < 0 ? -1 : 1) : a->n < b->n ? -1 : a->n > b->n;
}

static void
documents_come_in_order(void **state)
{
    static const struct {
        const char *spec, *first, *second;
        int order;
    } ROWS[] = {
        {"{'a': 1}", "{'a': 1}", "{'a': 2}", -1},
        {"{'a': -1}", "{'a': 1}", "{'a': 2}", 1},
        {"{'a': 1}", "{'a': 1}", "{'a': {'$numberDecimal': '1.00'}}", 0},
        {"{'a': 1}", "{}", "{'a': null}", 0},
        {"{'a': 1}", "{'a': []}", "{'a': null}", -1},
        {"{'a': 1}", "{'a': {'$minKey': 1}}", "{'a': []}", -1},
        {"{'a': 1}", "{'a': [3, 0]}", "{'a': 1}", -1},
        {"{'a': -1}", "{'a': [3, 0]}", "{'a': 2}", -1},
        {"{'a': 1}", "{'a': [[0]]}", "{'a': [1]}",
         1}, /* an inner array is one value, of a higher type */
        {"{'a.b': 1}", "{'a': [{'b': 5}, {'b': 1}]}", "{'a': {'b': 2}}", -1},
        {"{'a.b': 1}", "{'a': [{'b': 5}, {}]}", "{'a': {'b': 1}}", -1},
        {"{'a.b': 1}", "{'a': [{'b': 5}, 7]}", "{'a': {'b': 1}}", -1},
        {"{'a.b': 1}", "{'a': []}", "{}", 0},
        {"{'a.b': 1}", "{'a': 5}", "{'a': {'b': null}}", 0},
        {"{'a.b': 1}", "{'a': [{'b': []}]}", "{'a': {'b': null}}", -1},
        {"{'a.0': 1}", "{'a': [5]}", "{}", 0}, /* digits are names */
        {"{'a.0': 1}", "{'a': {'0': 5}}", "{'a': {'0': 6}}", -1},
        /* one array: the tuple of one element counts, (1, 9) here, never (1, 2) */
        {"{'a.x': 1, 'a.y': 1}", "{'a': [{'x': 1, 'y': 9}, {'x': 2, 'y': 2}]}",
         "{'a': {'x': 1, 'y': 5}}", 1},
        {"{'a.x': 1, 'b': -1}", "{'a': [{'x': 1}, {'x': 0}], 'b': 3}", "{'a': {'x': 0}, 'b': 2}",
         -1},
        {"{'a': 1.999}", "{'a': 1}", "{'a': 2}", -1},
        {"{'a': {'$numberDecimal': '-0.51'}}", "{'a': 1}", "{'a': 2}", 1},
        {"{'a': 1, 'b': 1}", "{'a': 'a', 'b': 'z'}", "{'a': 'ab', 'b': 'a'}", -1},
    };
    struct bench b;
    struct mrs_buf first, second;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        key_of(&b, ROWS[i].spec, ROWS[i].first, &first);
        key_of(&b, ROWS[i].spec, ROWS[i].second, &second);
        if (order_of(&first, &second) != ROWS[i].order ||
            order_of(&second, &first) != -ROWS[i].order) {
            fail_msg("%s: %s against %s: %d", ROWS[i].spec, ROWS[i].first, ROWS[i].second,
                     order_of(&first, &second));
        }
        mrs_buf_clear(&first);
        mrs_buf_clear(&second);
    }
    bench_close(&b);
}

static void
parallel_arrays_are_an_error(void **state)
{
    struct bench b;
    struct mrs_sort *s;
    struct mrs_buf key;
    (void)state;
    bench_open(&b, 0);
    bson_t *k = bench_json("{'a': 1, 'b': 1}");
    assert_int_equal(mrs_sort_compile(&b.env, bench_view(k), true, &s, &b.err), MRS_OK);
    mrs_buf_init(&key, b.mem, MRS_KEY_MAX);
    bench_doc(&b, "{'a': [1], 'b': [2]}");
    assert_int_equal(mrs_sort_key(s, b.ev.root, &key, &b.err), MRS_FAIL);
    assert_int_equal(b.err.code, MRS_E_EXPR);
    bench_doc(&b, "{'a': [1], 'b': 2}");
    assert_int_equal(mrs_sort_key(s, b.ev.root, &key, &b.err), MRS_OK);
    /* a key that is too long is an error too */
    mrs_buf_clear(&key);
    mrs_buf_init(&key, b.mem, 8);
    mrs_err_clear(&b.err);
    bench_doc(&b, "{'a': 'abcdefghijklmnopqrstuvwxyz'}");
    assert_int_equal(mrs_sort_key(s, b.ev.root, &key, &b.err), MRS_FAIL);
    assert_int_equal(b.err.code, MRS_E_LIMIT);
    mrs_buf_clear(&key);
    mrs_sort_free(s);
    bson_destroy(k);
    bench_close(&b);
}

static void
wrong_keys_are_refused(void **state)
{
    static const struct {
        const char *spec;
        bool strict, lax; /* taken? */
    } ROWS[] = {
        {"{}", false, false},
        {"{'a': 0}", false, false},
        {"{'a': 2}", false, false},
        {"{'a': 1.5}", false, true},
        {"{'a': 1.0}", true, true},
        {"{'a': {'$numberLong': '-1'}}", true, true},
        {"{'a': {'$numberDecimal': '0.51'}}", false, true},
        {"{'a': {'$numberDecimal': '0.5'}}", false, false},
        {"{'a': true}", false, false},
        {"{'a': '1'}", false, false},
        {"{'$a': 1}", false, false},
        {"{'a.$b': 1}", false, false},
        {"{'a..b': 1}", false, false},
        {"{'.a': 1}", false, false},
        {"{'': 1}", false, false},
        {"{'a': {'$meta': 'textScore'}}", false, false},
        {"{'a': 1, 'a': -1}", false, false},
    };
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        bson_t *k = bench_json(ROWS[i].spec);
        for (int strict = 0; strict < 2; strict++) {
            struct mrs_sort *s;
            mrs_err_clear(&b.err);
            enum mrs_status got = mrs_sort_compile(&b.env, bench_view(k), strict, &s, &b.err);
            if ((got == MRS_OK) != (strict ? ROWS[i].strict : ROWS[i].lax)) {
                fail_msg("%s (%s): %d %s", ROWS[i].spec, strict ? "strict" : "lax", got, b.err.msg);
            }
            assert_true(got == MRS_OK || b.err.code == MRS_E_PLAN);
            mrs_sort_free(s);
        }
        bson_destroy(k);
    }
    char many[800] = "{";
    for (int i = 0; i < 33; i++) {
        char one[20];
        snprintf(one, sizeof one, "%s'k%d': 1", i ? ", " : "", i);
        strcat(many, one);
    }
    strcat(many, "}");
    struct mrs_sort *s;
    bson_t *k = bench_json(many);
    assert_int_equal(mrs_sort_compile(&b.env, bench_view(k), true, &s, &b.err), MRS_FAIL);
    bson_destroy(k);
    bench_close(&b);
}

/* ---- random documents ---- */

static uint32_t seed = 12345;

static uint32_t
dice(uint32_t sides)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 12) % sides;
}

static void
random_value(bson_t *to, const char *name)
{
    switch (dice(7)) {
    case 0:
        break; /* missing */
    case 1:
        BSON_APPEND_NULL(to, name);
        break;
    case 2:
        BSON_APPEND_INT32(to, name, (int32_t)dice(5) - 2);
        break;
    case 3:
        BSON_APPEND_DOUBLE(to, name, (double)dice(9) / 2 - 2);
        break;
    case 4:
        BSON_APPEND_UTF8(to, name, dice(2) ? "a" : "ab");
        break;
    case 5:
        BSON_APPEND_INT64(to, name, (int64_t)dice(5) - 2);
        break;
    default:
        BSON_APPEND_BOOL(to, name, dice(2));
        break;
    }
}

/* {a: {x, y} or [{x, y}, ...] or a scalar, b: value} */
static void
random_doc(bson_t *d)
{
    bson_t a, item;
    bson_init(d);
    uint32_t form = dice(6);
    if (form == 0) {
        BSON_APPEND_DOCUMENT_BEGIN(d, "a", &a);
        random_value(&a, "x");
        random_value(&a, "y");
        bson_append_document_end(d, &a);
    } else if (form == 1) {
        random_value(d, "a");
    } else {
        BSON_APPEND_ARRAY_BEGIN(d, "a", &a);
        uint32_t n = dice(4);
        for (uint32_t i = 0; i < n; i++) {
            char name[12];
            mrs_index_name(name, i);
            if (dice(5) == 0) {
                BSON_APPEND_INT32(&a, name, 1);
                continue;
            }
            BSON_APPEND_DOCUMENT_BEGIN(&a, name, &item);
            random_value(&item, "x");
            random_value(&item, "y");
            bson_append_document_end(&a, &item);
        }
        bson_append_array_end(d, &a);
    }
    random_value(d, "b");
}

static struct mrs_val
or_null(struct mrs_val v)
{
    return v.type == MRS_MISSING ? mrs_null() : v;
}

/* The best (a.x down, a.y up, b up) of a document, by trying every element. */
static void
slow_tuple(struct mrs_view d, struct mrs_val best[3])
{
    struct mrs_val a = mrs_doc_get(d, "a");
    struct mrs_elem e;
    struct mrs_walk w;
    bool found = false;
    best[0] = best[1] = mrs_null();
    best[2] = or_null(mrs_doc_get(d, "b"));
    if (a.type == MRS_DOCUMENT) {
        best[0] = or_null(mrs_doc_get(mrs_val_view(a), "x"));
        best[1] = or_null(mrs_doc_get(mrs_val_view(a), "y"));
    }
    if (a.type != MRS_ARRAY) {
        return;
    }
    mrs_walk_init(&w, mrs_val_view(a));
    while (mrs_walk_next(&w, &e) > 0) {
        struct mrs_val x = mrs_null(), y = mrs_null();
        if (e.v.type == MRS_DOCUMENT) {
            x = or_null(mrs_doc_get(mrs_val_view(e.v), "x"));
            y = or_null(mrs_doc_get(mrs_val_view(e.v), "y"));
        }
        int order = -mrs_compare(x, best[0]);
        order = order ? order : mrs_compare(y, best[1]);
        if (!found || order < 0) {
            best[0] = x;
            best[1] = y;
            found = true;
        }
    }
}

static void
keys_order_as_a_slow_comparison(void **state)
{
    enum { DOCS = 150 };
    static bson_t docs[DOCS];
    static struct mrs_buf keys[DOCS];
    static struct mrs_val tuples[DOCS][3];
    struct bench b;
    struct mrs_sort *s;
    (void)state;
    bench_open(&b, 0);
    bson_t *k = bench_json("{'a.x': -1, 'a.y': 1, 'b': 1}");
    assert_int_equal(mrs_sort_compile(&b.env, bench_view(k), true, &s, &b.err), MRS_OK);
    for (int i = 0; i < DOCS; i++) {
        random_doc(&docs[i]);
        mrs_buf_init(&keys[i], b.mem, MRS_KEY_MAX);
        assert_int_equal(mrs_sort_key(s, bench_view(&docs[i]), &keys[i], &b.err), MRS_OK);
        slow_tuple(bench_view(&docs[i]), tuples[i]);
    }
    for (int i = 0; i < DOCS; i++) {
        for (int j = 0; j < DOCS; j++) {
            int want = -mrs_compare(tuples[i][0], tuples[j][0]);
            want = want ? want : mrs_compare(tuples[i][1], tuples[j][1]);
            want = want ? want : mrs_compare(tuples[i][2], tuples[j][2]);
            want = want < 0 ? -1 : want > 0;
            if (order_of(&keys[i], &keys[j]) != want) {
                char *one = bson_as_canonical_extended_json(&docs[i], NULL);
                char *other = bson_as_canonical_extended_json(&docs[j], NULL);
                fail_msg("%s against %s: not %d", one, other, want);
            }
        }
    }
    for (int i = 0; i < DOCS; i++) {
        mrs_buf_clear(&keys[i]);
        bson_destroy(&docs[i]);
    }
    mrs_sort_free(s);
    bson_destroy(k);
    bench_close(&b);
}

static void
collect(void *arg, const char *path)
{
    strcat(arg, path);
    strcat(arg, " ");
}

static void
every_allocation_may_fail(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        struct bench b;
        struct mrs_sort *s;
        struct mrs_buf key;
        char read[40] = "";
        bench_open(&b, n);
        mrs_buf_init(&key, b.mem, MRS_KEY_MAX);
        bson_t *k = bench_json("{'a.x': -1, 'b': 1}");
        bench_doc(&b, "{'a': [{'x': 'some text'}, {'x': 'some other text'}], 'b': 7}");
        enum mrs_status got = mrs_sort_compile(&b.env, bench_view(k), true, &s, &b.err);
        if (got == MRS_OK) {
            mrs_sort_reads(s, collect, read);
            assert_string_equal(read, "a.x b ");
            got = mrs_sort_key(s, b.ev.root, &key, &b.err);
        }
        assert_true(got == MRS_OK || (got == MRS_DEAD && b.err.code == MRS_E_MEMORY));
        done = mrs_mem_count(b.mem) < n;
        assert_true(!done || got == MRS_OK);
        mrs_sort_free(s);
        mrs_buf_clear(&key);
        bson_destroy(k);
        bench_close(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_come_in_order),
        cmocka_unit_test(parallel_arrays_are_an_error),
        cmocka_unit_test(wrong_keys_are_refused),
        cmocka_unit_test(keys_order_as_a_slow_comparison),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("sort_key", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_acc.c - accumulators: values by hand, a state saved and loaded behind every document, the ceiling, states that are
 * used again, and every allocation failing in turn. */
#include "bench.h"

#define CEILING 100000

struct row {
    const char *spec, *docs, *want; /* docs: an array; want: the value, or NULL and `words` of the failure */
    const char *words;
};

static const struct row ROWS[] = {
    {"{'$sum': '$x'}", "[{'x': 0.1}, {'x': {'$numberDecimal': '0'}}]",
     "{'$numberDecimal': '0.1000000000000000055511151231257827'}", NULL},
    {"{'$sum': '$x'}",
     "[{'x': 0.1}, {'x': 0.1}, {'x': 0.1}, {'x': 0.1}, {'x': 0.1}, {'x': 0.1}, {'x': 0.1}, {'x': 0.1}, {'x': 0.1},"
     " {'x': 0.1}]",
     "1.0", NULL},
    {"{'$sum': '$x'}", "[{'x': 1e16}, {'x': 1}, {'x': -1e16}]", "0.0", NULL},
    {"{'$sum': '$x'}", "[{'x': 2147483647}, {'x': 1}]", "{'$numberLong': '2147483648'}", NULL},
    {"{'$sum': '$x'}", "[{'x': {'$numberLong': '1'}}]", "{'$numberLong': '1'}", NULL},
    {"{'$sum': '$x'}", "[{'x': 'x'}, {'x': null}, {}, {'x': [1]}]", "0", NULL},
    {"{'$sum': '$x'}", "[]", "0", NULL},
    {"{'$sum': '$x'}", "[{'x': {'$numberLong': '9223372036854775807'}}, {'x': {'$numberLong': '1'}}]",
     "{'$numberDouble': '9223372036854775808'}", NULL},
    {"{'$sum': '$x'}", "[{'x': {'$numberDouble': 'Infinity'}}, {'x': 1}]", "{'$numberDouble': 'Infinity'}", NULL},
    {"{'$avg': '$x'}", "[{'x': 1}, {'x': 2}]", "1.5", NULL},
    {"{'$avg': '$x'}", "[{'x': 'a'}]", "null", NULL},
    {"{'$avg': '$x'}",
     "[{'x': {'$numberLong': '9223372036854775807'}}, {'x': {'$numberLong': '-9223372036854775808'}}]",
     "-0.5", NULL},
    {"{'$avg': '$x'}", "[{'x': {'$numberDecimal': '1'}}, {'x': 2}]", "{'$numberDecimal': '1.5'}", NULL},
    {"{'$count': {}}", "[{}, {'x': null}]", "2", NULL},
    {"{'$min': '$x'}", "[{}, {'x': null}, {'x': 3}, {'x': {'$numberDouble': 'NaN'}}, {'x': 'a'}]",
     "{'$numberDouble': 'NaN'}", NULL},
    {"{'$max': '$x'}", "[{'x': 3}, {'x': 'a'}, {'x': [1]}, {'x': {'a': 1}}]", "[1]", NULL},
    {"{'$max': '$x'}", "[{'x': 3}, {'x': 3.0}, {'x': {'$numberLong': '3'}}]", "3", NULL},
    {"{'$min': '$x'}", "[]", "null", NULL},
    {"{'$first': '$x'}", "[{}, {'x': 1}]", "null", NULL},
    {"{'$first': '$x'}", "[{'x': 'long enough to be seen'}, {'x': 1}]", "'long enough to be seen'", NULL},
    {"{'$last': '$x'}", "[{'x': 1}, {'x': {'y': [2]}}]", "{'y': [2]}", NULL},
    {"{'$last': '$x'}", "[{'x': 1}, {}]", "null", NULL},
    {"{'$push': '$x'}", "[{}, {'x': null}]", "[null]", NULL},
    {"{'$push': {'a': '$x'}}", "[{'x': 1}, {}, {'x': [2]}]", "[{'a': 1}, {}, {'a': [2]}]", NULL},
    {"{'$push': '$x'}", "[]", "[]", NULL},
    {"{'$addToSet': '$x'}",
     "[{'x': 3}, {'x': 1}, {'x': 3.0}, {}, {'x': null}, {'x': 1}, {'x': {'a': 1}}, {'x': {'a': 1.0}}]",
     "[3, 1, null, {'a': 1}]", NULL},
    {"{'$setUnion': '$x'}", "[{'x': [3, 1]}, {}, {'x': [1.0, 2]}]", "[3, 1, 2]", NULL},
    {"{'$setUnion': '$x'}", "[{'x': 1}]", NULL, "takes arrays, not int"},
    {"{'$concatArrays': '$x'}", "[{'x': [3, 1]}, {}, {'x': [1]}]", "[3, 1, 1]", NULL},
    {"{'$concatArrays': '$x'}", "[{'x': null}]", NULL, "takes arrays, not null"},
    {"{'$firstN': {'input': '$x', 'n': 2}}", "[{}, {'x': null}, {'x': 1}]", "[null, null]", NULL},
    {"{'$lastN': {'input': '$x', 'n': 2}}", "[{'x': 1}, {'x': 2}, {}, {'x': 4}]", "[null, 4]", NULL},
    {"{'$minN': {'input': '$x', 'n': 3}}", "[{'x': 5}, {'x': null}, {'x': 1}, {'x': 4}, {'x': 1.0}, {'x': 3}]",
     "[1, 1.0, 3]", NULL},
    {"{'$maxN': {'input': '$x', 'n': {'$add': [1, 1]}}}", "[{'x': 5}, {'x': 1}, {'x': 7}, {'x': 6}]", "[7, 6]", NULL},
    {"{'$top': {'sortBy': {'s': -1}, 'output': '$x'}}",
     "[{'s': 1, 'x': 'a'}, {'s': 2, 'x': 'b'}, {'s': 2, 'x': 'c'}, {'s': 0, 'x': 'd'}]", "'b'", NULL},
    {"{'$top': {'sortBy': {'s': 1}, 'output': '$x'}}", "[{'s': 1}, {'s': 2, 'x': 'b'}]", "null", NULL},
    {"{'$top': {'sortBy': {'s': 1}, 'output': '$x'}}", "[]", "null", NULL},
    {"{'$bottom': {'sortBy': {'s': 1, 't': -1}, 'output': ['$s', '$t']}}",
     "[{'s': 1, 't': 1}, {'s': 2, 't': 5}, {'s': 2, 't': 4}]", "[2, 4]", NULL},
    {"{'$topN': {'sortBy': {'s': 1}, 'output': '$x', 'n': 2}}",
     "[{'s': 9, 'x': 1}, {'s': 3, 'x': 2}, {'s': [8, 1], 'x': 3}, {'s': 2, 'x': 4}]", "[3, 4]", NULL},
    {"{'$bottomN': {'sortBy': {'s': 1}, 'output': '$x', 'n': 3}}",
     "[{'s': 9, 'x': 1}, {'s': 3, 'x': 2}, {'x': 3}, {'s': 2, 'x': 4}]", "[4, 2, 1]", NULL},
    {"{'$top': {'sortBy': {'s': 1, 't': 1}, 'output': '$x'}}", "[{'s': [1, 2], 't': [1]}]", NULL,
     "go through two arrays"},
    {"{'$mergeObjects': '$x'}",
     "[{'x': {'a': 1, 'b': 2}}, {}, {'x': null}, {'x': {'b': 'long', 'c': 1, 'a': null}}]",
     "{'a': null, 'b': 'long', 'c': 1}", NULL},
    {"{'$mergeObjects': '$x'}", "[]", "{}", NULL},
    {"{'$mergeObjects': '$x'}", "[{'x': 1}]", NULL, "only documents can be merged, not int"},
    {"{'$stdDevPop': '$x'}", "[{'x': 3}, {'x': 'a'}, {'x': 7}]", "2.0", NULL},
    {"{'$stdDevPop': '$x'}", "[]", "null", NULL},
    {"{'$stdDevSamp': '$x'}", "[{'x': 3}]", "null", NULL},
    {"{'$stdDevSamp': '$x'}", "[{'x': 1}, {'x': {'$numberDecimal': '3'}}]", "1.4142135623730951", NULL},
    {"{'$median': {'input': '$x', 'method': 'approximate'}}", "[{'x': 9}, {'x': 'a'}, {'x': 1}, {'x': 5}, {'x': 4}]",
     "4.0", NULL},
    {"{'$median': {'input': '$x', 'method': 'approximate'}}", "[]", "null", NULL},
    {"{'$percentile': {'input': '$x', 'p': [0, 0.5, 0.51, 1], 'method': 'approximate'}}",
     "[{'x': 4}, {'x': 3}, {'x': 2}, {'x': {'$numberDouble': 'NaN'}}, {'x': 1}]", "[1.0, 2.0, 3.0, 4.0]", NULL},
    {"{'$percentile': {'input': '$x', 'p': [0, 0.5], 'method': 'approximate'}}", "[]", "[null, null]", NULL},
    {"{'$sum': {'$divide': [1, '$x']}}", "[{'x': 0}]", NULL, "$divide"},
};

/* ---- one row ---- */

struct acc_bench {
    struct bench b;
    bson_t *json;
    struct mrs_acc *acc;
    struct mrs_acc_state *state, *other;
};

static enum mrs_status
open_states(struct acc_bench *a, const char *spec)
{
    static char text[2000];
    snprintf(text, sizeof text, "{'e': %s}", spec);
    a->json = bench_json(text);
    struct mrs_val v = mrs_doc_get(bench_view(a->json), "e");
    enum mrs_status s = mrs_acc_compile(&a->b.env, v, &a->acc, &a->b.err);
    s = s == MRS_OK ? mrs_acc_state_new(a->acc, a->b.mem, CEILING, &a->state, &a->b.err) : s;
    return s == MRS_OK ? mrs_acc_state_new(a->acc, a->b.mem, CEILING, &a->other, &a->b.err) : s;
}

static void
close_states(struct acc_bench *a)
{
    mrs_acc_state_free(a->state);
    mrs_acc_state_free(a->other);
    mrs_acc_free(a->acc);
    bson_destroy(a->json);
}

/* The state goes through its saved form into the other one. */
static enum mrs_status
carry(struct acc_bench *a)
{
    struct mrs_buf buf;
    mrs_buf_init(&buf, a->b.mem, UINT32_MAX);
    enum mrs_status s = mrs_acc_save(a->state, &buf, &a->b.err);
    if (s == MRS_OK) {
        struct mrs_err err;
        mrs_err_clear(&err);
        assert_int_equal(mrs_doc_check(buf.p, buf.n, MRS_DEPTH_MAX, &err), MRS_OK);
        s = mrs_acc_load(a->other, (struct mrs_view){buf.p, (uint32_t)buf.n}, &a->b.err);
    }
    mrs_buf_clear(&buf);
    struct mrs_acc_state *was = a->state;
    a->state = a->other;
    a->other = was;
    return s;
}

/* Feeds documents; carries the state behind document number `at` (-1: never, -2: behind each). */
static enum mrs_status
feed(struct acc_bench *a, struct mrs_val docs, int at, struct mrs_val *out)
{
    struct mrs_walk w;
    struct mrs_elem el;
    enum mrs_status s = at == 0 || at == -2 ? carry(a) : MRS_OK;
    mrs_walk_init(&w, mrs_val_view(docs));
    for (int i = 1; s == MRS_OK && mrs_walk_next(&w, &el) == 1; i++) {
        struct mrs_val v;
        a->b.ev.root = mrs_val_view(el.v);
        s = mrs_acc_argument(a->acc, &a->b.ev, &v);
        s = s == MRS_OK ? mrs_acc_feed(a->state, v, &a->b.err) : s;
        if (s == MRS_OK && (at == i || at == -2)) {
            s = carry(a);
        }
    }
    return s == MRS_OK ? mrs_acc_value(a->state, &a->b.arena, out, &a->b.err) : s;
}

static void
check(struct acc_bench *a, const struct row *row, enum mrs_status s, struct mrs_val got)
{
    static char text[2000];
    if (!row->want) {
        if (s != MRS_FAIL || !strstr(a->b.err.msg, row->words)) {
            fail_msg("%s over %s: status %d, '%s'", row->spec, row->docs, s, a->b.err.msg);
        }
        return;
    }
    if (s != MRS_OK) {
        fail_msg("%s over %s: %s", row->spec, row->docs, a->b.err.msg);
    }
    snprintf(text, sizeof text, "{'e': %s}", row->want);
    bson_t *want = bench_json(text);
    if (!mrs_identical(got, mrs_doc_get(bench_view(want), "e"))) {
        fail_msg("%s over %s: not %s (type %s)", row->spec, row->docs, row->want, mrs_type_name(got.type));
    }
    bson_destroy(want);
}

static void
values_and_carried_states(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct acc_bench a = {0};
        char text[2000];
        bench_open(&a.b, 0);
        snprintf(text, sizeof text, "{'e': %s}", ROWS[r].docs);
        bson_t *docs = bench_json(text);
        assert_int_equal(open_states(&a, ROWS[r].spec), MRS_OK);
        for (int at = -2; at <= 10; at++) { /* the same states again and again: reset forgets everything */
            struct mrs_val got = mrs_missing();
            mrs_err_clear(&a.b.err);
            mrs_acc_reset(a.state);
            enum mrs_status s = feed(&a, mrs_doc_get(bench_view(docs), "e"), at, &got);
            check(&a, &ROWS[r], s, got);
            mrs_arena_reset(&a.b.arena);
        }
        bson_destroy(docs);
        close_states(&a);
        bench_close(&a.b);
    }
}

static void
every_allocation_fails(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        enum mrs_status s = MRS_DEAD;
        char text[2000];
        snprintf(text, sizeof text, "{'e': %s}", ROWS[r].docs);
        bson_t *docs = bench_json(text);
        for (uint64_t fail_at = 1; s == MRS_DEAD; fail_at++) {
            struct acc_bench a = {0};
            struct mrs_val got = mrs_missing();
            bench_open(&a.b, fail_at);
            s = open_states(&a, ROWS[r].spec);
            s = s == MRS_OK ? feed(&a, mrs_doc_get(bench_view(docs), "e"), -2, &got) : s;
            if (s == MRS_DEAD) {
                assert_int_equal(a.b.err.code, MRS_E_MEMORY);
            } else {
                check(&a, &ROWS[r], s, got);
            }
            close_states(&a);
            bench_close(&a.b);
        }
        bson_destroy(docs);
    }
}

/* ---- small states ---- */

/* All documents into the small form, at an odd address; false: it cannot hold them. */
static bool
feed_small(struct acc_bench *a, struct mrs_val docs, uint8_t *room)
{
    struct mrs_walk w;
    struct mrs_elem el;
    struct mrs_val v;
    mrs_acc_small_reset(a->acc, room);
    mrs_walk_init(&w, mrs_val_view(docs));
    while (mrs_walk_next(&w, &el) == 1) {
        uint8_t before[128];
        a->b.ev.root = mrs_val_view(el.v);
        assert_int_equal(mrs_acc_argument(a->acc, &a->b.ev, &v), MRS_OK);
        memcpy(before, room, mrs_acc_small_size(a->acc));
        const struct mrs_acc *one = a->acc;
        if (!mrs_acc_small_feed(&one, 1, room, &v)) {
            assert_memory_equal(before, room, mrs_acc_small_size(a->acc));
            return false;
        }
    }
    return true;
}

static void
small_states(void **state)
{
    uint32_t n_small = 0, n_full = 0;
    (void)state;
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        struct acc_bench a = {0};
        uint8_t rooms[130];
        char text[2000];
        struct mrs_val got;
        bench_open(&a.b, 0);
        snprintf(text, sizeof text, "{'e': %s}", ROWS[r].docs);
        bson_t *docs = bench_json(text);
        assert_int_equal(open_states(&a, ROWS[r].spec), MRS_OK);
        size_t size = mrs_acc_small_size(a.acc);
        assert_true(size < sizeof rooms - 2);
        if (size && ROWS[r].want) {
            memset(rooms, 0xA5, sizeof rooms);
            bool fits = feed_small(&a, mrs_doc_get(bench_view(docs), "e"), rooms + 1);
            assert_true(rooms[0] == 0xA5 && rooms[size + 1] == 0xA5);
            n_small += fits;
            n_full += !fits;
            if (fits) {
                assert_int_equal(mrs_acc_from_small(a.state, rooms + 1, &a.b.err), MRS_OK);
                check(&a, &ROWS[r], mrs_acc_value(a.state, &a.b.arena, &got, &a.b.err), got);
            }
        }
        bson_destroy(docs);
        close_states(&a);
        bench_close(&a.b);
    }
    assert_true(n_small > 20 && n_full > 0);
}

/* What is counted only, against the same documents one by one, to the last bit of what is saved. */
static void
documents_that_bring_the_same(void **state)
{
    static const struct {
        const char *spec;
        bool counts;
    } rows[] = {{"{'$sum': 1}", true},   {"{'$sum': -7}", true},  {"{'$sum': 0}", true},
                {"{'$sum': {'$numberLong': '-5000000000'}}", true}, {"{'$avg': 3}", true},
                {"{'$sum': {'$numberLong': '1234567890123'}}", true}, {"{'$count': {}}", true},
                {"{'$min': 'x'}", true}, {"{'$max': null}", true}, {"{'$first': {'$literal': [1]}}", true},
                {"{'$last': '$$REMOVE'}", true}, {"{'$sum': 0.1}", false}, {"{'$sum': '$x'}", false},
                {"{'$stdDevPop': 4}", false},    {"{'$push': 1}", false}};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct acc_bench a = {0};
        struct mrs_buf one, all;
        struct mrs_val v;
        bench_open(&a.b, 0);
        assert_int_equal(open_states(&a, rows[r].spec), MRS_OK);
        assert_int_equal(mrs_acc_counts(a.acc), rows[r].counts);
        mrs_buf_init(&one, a.b.mem, UINT32_MAX);
        mrs_buf_init(&all, a.b.mem, UINT32_MAX);
        for (uint64_t n = 1; n < 60 && rows[r].counts; n++) {
            mrs_acc_constant(a.acc, &v);
            assert_int_equal(mrs_acc_feed(a.state, v, &a.b.err), MRS_OK);
            mrs_acc_reset(a.other);
            assert_int_equal(mrs_acc_feed_times(a.other, n, &a.b.err), MRS_OK);
            mrs_buf_reset(&one);
            mrs_buf_reset(&all);
            assert_int_equal(mrs_acc_save(a.state, &one, &a.b.err), MRS_OK);
            assert_int_equal(mrs_acc_save(a.other, &all, &a.b.err), MRS_OK);
            assert_int_equal(one.n, all.n);
            assert_memory_equal(one.p, all.p, one.n);
        }
        mrs_buf_clear(&one);
        mrs_buf_clear(&all);
        close_states(&a);
        bench_close(&a.b);
    }
}

static void
too_many_to_count(void **state)
{
    struct acc_bench a = {0};
    (void)state;
    bench_open(&a.b, 0);
    assert_int_equal(open_states(&a, "{'$sum': {'$numberLong': '4503599627370496'}}"), MRS_OK);
    assert_int_equal(mrs_acc_feed_times(a.state, 2, &a.b.err), MRS_OK);
    mrs_acc_reset(a.state);
    assert_int_equal(mrs_acc_feed_times(a.state, 3, &a.b.err), MRS_FAIL);
    assert_int_equal(a.b.err.code, MRS_E_LIMIT);
    close_states(&a);
    bench_close(&a.b);
}

/* ---- plans ---- */

static void
what_is_refused(void **state)
{
    static const struct {
        const char *spec, *words;
    } WRONG[] = {
        {"{'$sum': ['$x']}", "takes one expression"},
        {"{'$push': []}", "takes one expression"},
        {"{'$summ': '$x'}", "the nearest known one is $sum"},
        {"{'$add': ['$x', 1]}", "there is no accumulator $add"},
        {"{'$sum': 1, '$avg': 1}", "a document of one operator"},
        {"'$x'", "a document of one operator"},
        {"{'$count': 1}", "empty document"},
        {"{'$firstN': {'input': '$x'}}", "'n' is missing"},
        {"{'$firstN': {'n': 2}}", "'input' is missing"},
        {"{'$firstN': {'input': '$x', 'n': 0}}", "above 0"},
        {"{'$firstN': {'input': '$x', 'n': '$y'}}", "constant"},
        {"{'$firstN': {'input': '$x', 'n': 2, 'm': 1}}", "no argument 'm'"},
        {"{'$topN': {'output': '$x', 'n': 1}}", "'sortBy' must be"},
        {"{'$top': {'output': '$x', 'sortBy': {'a': 3}}}", ""},
        {"{'$median': {'input': '$x', 'method': 'exact'}}", "'method'"},
        {"{'$percentile': {'input': '$x', 'method': 'approximate', 'p': []}}", "'p'"},
        {"{'$percentile': {'input': '$x', 'method': 'approximate', 'p': [1.5]}}", "'p'"},
        {"{'$percentile': {'input': '$x', 'method': 'approximate'}}", "'p' is missing"},
        {"{'$sum': {'$nope': 1}}", "there is no operator $nope"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        struct acc_bench a = {0};
        bench_open(&a.b, 0);
        enum mrs_status s = open_states(&a, WRONG[i].spec);
        if (s != MRS_FAIL || a.b.err.code != MRS_E_PLAN || !strstr(a.b.err.msg, WRONG[i].words)) {
            fail_msg("%s: status %d, '%s'", WRONG[i].spec, s, a.b.err.msg);
        }
        close_states(&a);
        bench_close(&a.b);
    }
}

static void
gather_path(void *arg, const char *path)
{
    strcat(strcat(arg, path), ";");
}

static void
what_is_read(void **state)
{
    struct acc_bench a = {0};
    char text[200] = "";
    (void)state;
    bench_open(&a.b, 0);
    assert_int_equal(open_states(&a, "{'$top': {'sortBy': {'a.b': 1}, 'output': ['$c', '$$ROOT']}}"), MRS_OK);
    mrs_acc_reads(a.acc, gather_path, text);
    assert_string_equal(text, "c;;a.b;");
    struct mrs_val spec = mrs_doc_get(bench_view(a.json), "e");
    assert_true(mrs_acc_is(spec));
    assert_false(mrs_acc_is(mrs_view_val(bench_view(a.json))));
    close_states(&a);
    bench_close(&a.b);
}

/* ---- size ---- */

static struct mrs_val
text_of(struct mrs_arena *arena, uint32_t n)
{
    static char text[CEILING + 1];
    memset(text, 'x', sizeof text);
    return mrs_make_text(arena, text, n);
}

static void
the_ceiling(void **state)
{
    static const char *const SPECS[] = {"{'$push': '$x'}", "{'$addToSet': '$x'}", "{'$first': '$x'}", "{'$max': '$x'}",
                                        "{'$lastN': {'input': '$x', 'n': 1000000}}"};
    (void)state;
    for (size_t i = 0; i < sizeof SPECS / sizeof *SPECS; i++) {
        struct acc_bench a = {0};
        struct mrs_val out;
        bench_open(&a.b, 0);
        assert_int_equal(open_states(&a, SPECS[i]), MRS_OK);
        assert_int_equal(mrs_acc_feed(a.state, text_of(&a.b.arena, 10), &a.b.err), MRS_OK);
        assert_int_equal(mrs_acc_feed(a.other, text_of(&a.b.arena, CEILING - 2), &a.b.err), MRS_FAIL);
        assert_int_equal(a.b.err.code, MRS_E_LIMIT);
        assert_int_equal(mrs_acc_feed(a.state, text_of(&a.b.arena, CEILING / 2), NULL), MRS_OK);
        assert_int_equal(mrs_acc_value(a.state, &a.b.arena, &out, NULL), MRS_OK);
        close_states(&a);
        bench_close(&a.b);
    }
}

/* Many values, few kept: the bytes of those that went are used again, and nothing is allocated for a second group. */
static void
flat_memory(void **state)
{
    static const char *const SPECS[] = {
        "{'$lastN': {'input': '$x', 'n': 3}}",
        "{'$bottomN': {'sortBy': {'x': 1}, 'output': '$x', 'n': 3}}",
        "{'$maxN': {'input': '$x', 'n': 3}}",
        "{'$mergeObjects': {'a': '$x', 'b': {'$concat': ['$x', '$x']}}}",
        "{'$addToSet': {'$substrBytes': ['$x', 0, 3]}}",
        "{'$sum': {'$strLenBytes': '$x'}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof SPECS / sizeof *SPECS; i++) {
        struct acc_bench a = {0};
        uint64_t before = 0;
        bench_open(&a.b, 0);
        assert_int_equal(open_states(&a, SPECS[i]), MRS_OK);
        for (int group = 0; group < 3; group++) {
            mrs_acc_reset(a.state);
            for (int d = 0; d < 3000; d++) {
                struct mrs_val v;
                bson_t doc = BSON_INITIALIZER;
                char text[64];
                snprintf(text, sizeof text, "%0*d", 5 + d % 40, (d * 7919) % 3001);
                BSON_APPEND_UTF8(&doc, "x", text);
                a.b.ev.root = bench_view(&doc);
                uint64_t count = mrs_mem_count(a.b.mem);
                assert_int_equal(mrs_acc_argument(a.acc, &a.b.ev, &v), MRS_OK);
                uint64_t argument = mrs_mem_count(a.b.mem) - count;
                assert_int_equal(mrs_acc_feed(a.state, v, &a.b.err), MRS_OK);
                before += group == 2 ? mrs_mem_count(a.b.mem) - count - argument : 0;
                mrs_arena_reset(&a.b.arena);
                bson_destroy(&doc);
            }
        }
        assert_int_equal(before, 0);
        assert_true(mrs_mem_bytes(a.b.mem) < 200000);
        close_states(&a);
        bench_close(&a.b);
    }
}

/* A damaged document in place of a saved state is told, and leaves a state of nothing. */
static void
damaged_states(void **state)
{
    static const char *const SPECS[] = {
        "{'$sum': '$x'}", "{'$count': {}}",  "{'$stdDevPop': '$x'}",  "{'$push': '$x'}",
        "{'$addToSet': '$x'}", "{'$top': {'sortBy': {'x': 1}, 'output': '$x'}}", "{'$mergeObjects': '$x'}",
        "{'$median': {'input': '$x', 'method': 'approximate'}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof SPECS / sizeof *SPECS; i++) {
        struct acc_bench a = {0};
        struct mrs_elem el;
        struct mrs_walk w;
        bench_open(&a.b, 0);
        assert_int_equal(open_states(&a, SPECS[i]), MRS_OK);
        assert_int_equal(mrs_acc_load(a.state, mrs_empty_doc(), &a.b.err), MRS_FAIL);
        assert_int_equal(a.b.err.code, MRS_E_FORMAT);
        mrs_walk_init(&w, mrs_val_view(mrs_doc_get(bench_view(a.json), "e")));
        assert_int_equal(mrs_walk_next(&w, &el), 1);
        bson_t inside = BSON_INITIALIZER, *wrong = bson_new();
        BSON_APPEND_INT32(&inside, "values", 3);
        BSON_APPEND_DOCUMENT(wrong, el.name, &inside);
        assert_int_equal(mrs_acc_load(a.state, bench_view(wrong), NULL), MRS_FAIL);
        bson_destroy(wrong);
        bson_destroy(&inside);
        close_states(&a);
        bench_close(&a.b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_carried_states),
        cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(small_states),
        cmocka_unit_test(documents_that_bring_the_same),
        cmocka_unit_test(too_many_to_count),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(what_is_read),
        cmocka_unit_test(the_ceiling),
        cmocka_unit_test(flat_memory),
        cmocka_unit_test(damaged_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

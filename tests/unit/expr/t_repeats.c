/* SPDX-License-Identifier: Apache-2.0 */
/* t_repeats.c - which expressions are said to change nothing more when they see what they gave, and whether that is so:
 * those of a table, and random ones, are given values of all types and then what they gave. */
#include "bench.h"

#include "expr/expr_internal.h"
#include "mongoreshape/path.h"

static const char *const VALUES[] = {
    "null", "1", "-7", "{'$numberDouble': '2.5'}", "{'$numberDouble': 'NaN'}", "{'$numberLong': '5000000000'}",
    "{'$numberDecimal': '1.50'}", "{'$numberDecimal': '-9E+40'}", "true", "''", "' a,B c '", "'12'", "'x.y$z'",
    "'2024-01-02'", "'00112233-4455-6677-8899-aabbccddeeff'", "{'$date': {'$numberLong': '1700000000123'}}",
    "{'$oid': '0102030405060708090a0b0c'}", "{'$binary': {'base64': 'AAECAw==', 'subType': '00'}}",
    "{'$binary': {'base64': 'AAECAwQFBgcICQoLDA0ODw==', 'subType': '04'}}", "[]", "[3, 1, 1, null, 'B']",
    "[{'k': 'A.b', 'v': 1}, {'k': 'a.b', 'v': [1]}, {'k': 'c'}]", "[[1], {'p': [{'q': ' Z '}]}]", "{}",
    "{'A.b': 1, 'a.b': {'p': 2}, 'p': ' Q ', 'k': 'K', 'v': [' x ']}", "{'p': {'q': 'R'}, 'q': 5}", "{'p': [1, 2]}",
    "{'$minKey': 1}", "{'$maxKey': 1}", "{'$regularExpression': {'pattern': 'a', 'options': ''}}",
    "{'$timestamp': {'t': 1, 'i': 2}}",
};
#define N_VALUES (sizeof VALUES / sizeof *VALUES)

struct asked {
    const char *expression, *path; /* path: NULL: the whole document */
    bool repeats;
};

static const struct asked LIST[] = {
    {"{'$toLower': '$x'}", "x", true},
    {"{'$toUUID': '$x'}", "x", true},
    {"{'$toInt': '$x'}", "x", true},
    {"{'$toDate': '$x'}", "x", true},
    {"{'$toString': {'$toInt': '$x'}}", "x", false},
    {"{'$convert': {'input': '$x', 'to': 'int', 'onError': '$x', 'onNull': 0}}", "x", true},
    {"{'$convert': {'input': '$x', 'to': 'int', 'onError': 'none'}}", "x", false},
    {"{'$convert': {'input': '$x', 'to': 'int', 'onError': null}}", "x", true},
    {"{'$convert': {'input': '$x', 'to': 'string', 'base': 16}}", "x", false},
    {"{'$dateFromString': {'dateString': '$x'}}", "x", false},
    {"{'$dateFromString': {'dateString': '$x', 'onError': '$x'}}", "x", true},
    {"{'$dateFromString': {'dateString': '$x', 'onError': null}}", "x", false},
    {"{'$dateFromString': {'dateString': '$x', 'timezone': '$y', 'onError': '$x'}}", "x", false},
    {"{'$ifNull': [{'$dateFromString': {'dateString': '$x', 'format': '%d', 'onError': null}}, {'$dateFromString': "
     "{'dateString': '$x', 'onError': null}}, '$x']}", "x", true},
    {"{'$switch': {'branches': [{'case': {'$eq': ['$x', '12']}, 'then': 'a'}, {'case': {'$eq': ['$x', 1]}, 'then': "
     "'b'}], 'default': '$x'}}", "x", true},
    {"{'$switch': {'branches': [{'case': {'$eq': ['$x', '12']}, 'then': 'a'}, {'case': {'$eq': ['$x', 'a']}, 'then': "
     "'b'}], 'default': '$x'}}", "x", false},
    {"{'$cond': [{'$in': ['$x', ['12', 1]]}, {'$cond': ['$y', 'a', 'b']}, '$x']}", "x", true},
    {"{'$cond': [{'$in': ['$x', ['12', 'b']]}, {'$cond': ['$y', 'a', 'b']}, '$x']}", "x", false},
    {"{'$cond': [{'$lt': ['$x', 1]}, 1, '$x']}", "x", true},
    {"{'$cond': [{'$lt': ['$x', 3]}, 3, 'z']}", "x", false},
    {"{'$cond': [{'$lte': ['$x', 3]}, 3, 'z']}", "x", true},
    {"{'$cond': [{'$gt': ['$x', 3]}, 3, null]}", "x", false},
    {"{'$cond': [{'$gte': ['$x', 3]}, 3, null]}", "x", true},
    {"{'$cond': [{'$eq': [{'$type': '$x'}, 'string']}, {'$dateFromString': {'dateString': '$x', 'onError': "
     "{'$concat': ['a', '$x']}}}, '$x']}", "x", false},
    {"{'$cond': [{'$lt': ['$x', 3]}, 3, {'$cond': [{'$gte': ['$x', 9]}, 4, '$x']}]}", "x", true},
    {"{'$cond': [{'$lt': ['$x', 3]}, 9, {'$cond': [{'$gte': ['$x', 9]}, 4, '$x']}]}", "x", false},
    {"{'$add': ['$x', 1]}", "x", false},
    {"{'$hexHash': {'input': '$x', 'algorithm': 'md5'}}", "x", false},
    {"['$x']", "x", false},
    {"{'$cond': [{'$isArray': '$x'}, '$x', ['$x']]}", "x", true},
    {"{'$cond': [{'$isArray': '$x'}, {'$objectToArray': {'a': '$x'}}, '$$REMOVE']}", "x", false},
    {"{'$switch': {'branches': [{'case': {'$isArray': '$x'}, 'then': '$x'}, {'case': {'$eq': [{'$type': '$x'}, "
     "'string']}, 'then': {'$map': {'input': {'$split': ['$x', ',']}, 'in': {'$trim': {'input': '$$this'}}}}}], "
     "'default': []}}", "x", true},
    {"{'$cond': [{'$in': [{'$type': '$x'}, ['missing', 'null']]}, '$$REMOVE', {'$replaceAll': {'input': {'$toString': "
     "'$x'}, 'find': ' ', 'replacement': ''}}]}", "x", true},
    {"{'$ifNull': ['$x', '$y']}", "x", true},
    {"{'$ifNull': ['$y', '$x']}", "x", true},
    {"{'$ifNull': [{'$toLower': '$y'}, '$x']}", "x", true},
    {"{'$max': ['$x', 3]}", "x", true},
    {"{'$min': ['$x', '$y', 'b']}", "x", true},
    {"{'$max': '$x'}", "x", false},
    {"{'$round': '$x'}", "x", true},
    {"{'$round': ['$x', 2]}", "x", false},
    {"{'$trim': {'input': {'$toLower': '$x'}}}", "x", true},
    {"{'$toUpper': {'$toLower': '$x'}}", "x", false},
    {"{'$replaceAll': {'input': '$x', 'find': 'ab', 'replacement': ''}}", "x", false},
    {"{'$replaceAll': {'input': '$x', 'find': 'a', 'replacement': 'aa'}}", "x", false},
    {"{'$replaceAll': {'input': {'$trim': {'input': '$x'}}, 'find': 'a', 'replacement': ' '}}", "x", false},
    {"{'$trim': {'input': {'$replaceAll': {'input': '$x', 'find': 'a', 'replacement': ' '}}}}", "x", true},
    {"{'$replaceAll': {'input': {'$replaceAll': {'input': '$x', 'find': '.', 'replacement': '_'}}, 'find': '_', "
     "'replacement': '.'}}", "x", false},
    {"{'$toLower': {'$replaceAll': {'input': '$x', 'find': 'b', 'replacement': '-'}}}", "x", false},
    {"{'$substrCP': ['$x', 0, 3]}", "x", true},
    {"{'$substrCP': ['$x', 1, 3]}", "x", false},
    {"{'$trim': {'input': {'$substrCP': ['$x', 0, 3]}}}", "x", true},
    {"{'$substrCP': [{'$trim': {'input': '$x'}}, 0, 3]}", "x", false},
    {"{'$filter': {'input': '$x', 'cond': {'$ne': ['$$this', '$y']}}}", "x", true},
    {"{'$filter': {'input': '$x', 'cond': {'$ne': ['$$this', {'$first': '$x'}]}}}", "x", false},
    {"{'$filter': {'input': '$x', 'cond': {'$gt': ['$$IDX', 0]}}}", "x", false},
    {"{'$map': {'input': '$x', 'in': {'$toString': '$$this'}}}", "x", true},
    {"{'$map': {'input': '$x', 'in': {'$add': ['$$this', 1]}}}", "x", false},
    {"{'$map': {'input': '$x', 'in': {'$ifNull': ['$$this', '$$REMOVE']}}}", "x", true},
    {"{'$map': {'input': '$x', 'in': {'$mergeObjects': ['$$this', {'p': {'$ifNull': ['$$this.p', '$$this.q']}}]}}}",
     "x", true},
    {"{'$map': {'input': '$x', 'in': {'$mergeObjects': ['$$this', {'p': '$$this.q', 'q': '$$this.p'}]}}}", "x", false},
    {"{'$map': {'input': '$x', 'in': {'p': '$$this.p', 'r': '$$this.q'}}}", "x", false},
    {"{'$arrayToObject': {'$map': {'input': {'$objectToArray': '$x'}, 'in': {'k': {'$toLower': '$$this.k'}, 'v': "
     "'$$this.v'}}}}", "x", true},
    {"{'$arrayToObject': {'$map': {'input': {'$objectToArray': '$x'}, 'in': {'k': {'$concat': ['a', '$$this.k']}, 'v': "
     "'$$this.v'}}}}", "x", false},
    {"{'$arrayToObject': {'$filter': {'input': {'$objectToArray': '$x'}, 'cond': {'$ne': ['$$this.v', null]}}}}", "x",
     true},
    {"{'$sortArray': {'input': '$x', 'sortBy': 1}}", "x", true},
    {"{'$reverseArray': '$x'}", "x", false},
    {"{'$setUnion': ['$x', [1, 'z']]}", "x", true},
    {"{'$setUnion': [{'$ifNull': ['$x', []]}, ['z']]}", "x", true},
    {"{'$setUnion': [{'$ifNull': ['$x', []]}, '$y']}", "x", false},
    {"{'$max': [{'$ifNull': ['$x', 0]}, 3]}", "x", true},
    {"{'$max': [{'$ifNull': ['$x', 0]}, {'$ifNull': ['$x', 1]}]}", "x", false},
    {"{'$trim': {'input': {'$ifNull': ['$x', '']}}}", "x", true},
    {"{'$trim': {'input': {'$cond': [{'$gt': ['$x', null]}, '$x', ' y ']}}}", "x", true},
    {"{'$slice': ['$x', -2]}", "x", true},
    {"{'$slice': ['$x', 1, 2]}", "x", false},
    {"{'$setField': {'field': 'p', 'input': '$x', 'value': '$y'}}", "x", true},
    {"{'$setField': {'field': 'p', 'input': '$x', 'value': '$x'}}", "x", false},
    {"{'$unsetField': {'field': 'p', 'input': '$x'}}", "x", true},
    {"{'$mergeObjects': [{'p': 1, 'z': 2}, '$x']}", "x", true},
    {"{'$mergeObjects': ['$x', '$y']}", "x", false},
    {"{'$let': {'vars': {'d': '$y'}, 'in': {'$ifNull': ['$x', '$$d']}}}", "x", true},
    {"{'$let': {'vars': {'d': '$x'}, 'in': {'$ifNull': ['$$d', 1]}}}", "x", false},
    /* below documents an array may lie on the way: its elements would each get them all */
    {"{'$toLower': '$x.p'}", "x.p", true},
    {"{'$ifNull': ['$x.p', 1]}", "x.p", false},
    {"{'$toString': '$x.p'}", "x.p", false},
    {"{'$mergeObjects': ['$$ROOT', {'x': {'$toLower': '$x'}, 'z': '$y'}]}", NULL, true},
    {"{'x': '$x', 'y': {'p': '$y.p'}}", NULL, true},
    {"{'x': '$y', 'y': '$x'}", NULL, false},
    {"{'x': {'y': '$y'}}", NULL, false},
    {"{'$unsetField': {'field': 'x', 'input': '$$ROOT'}}", NULL, true},
};

static bool
ask(struct bench *b, const char *path, bool keeps)
{
    struct mrs_path p;
    struct mrs_expr_self self = {.var = -1, .keeps = keeps};
    struct mrs_val text = path ? mrs_make_text(&b->arena, path, (uint32_t)strlen(path)) : mrs_missing();
    if (path) {
        assert_int_equal(mrs_path_compile(&b->arena, text, false, &p, &b->err), MRS_OK);
        self.path = &p;
    }
    return mrs_expr_repeats(b->x, &self);
}

/* {x: value, y: 'Y'} with a value that may be missing, as a document in the arena. */
static struct mrs_view
document(struct bench *b, struct mrs_val x)
{
    struct mrs_buf buf;
    struct mrs_build build;
    struct mrs_view d;
    mrs_buf_init(&buf, b->mem, 1 << 20);
    mrs_build_init(&build, &buf);
    mrs_build_val(&build, "x", 1, x);
    mrs_build_text(&build, "y", "Y", 1);
    assert_int_equal(mrs_build_finish(&build, &d, NULL), MRS_OK);
    d.p = mrs_arena_copy(&b->arena, d.p, d.n);
    mrs_buf_clear(&buf);
    return d;
}

/* Whether what the expression gives for x it gives again for that. A value for which it fails stays as it was; keeps:
 * so does one that it has made. */
static bool
same_again(struct bench *b, struct mrs_val x, bool keeps)
{
    struct mrs_val once, twice;
    b->ev.root = document(b, x);
    if (mrs_expr_eval(b->x, &b->ev, &once) != MRS_OK) {
        return true;
    }
    b->ev.root = document(b, once);
    enum mrs_status st = mrs_expr_eval(b->x, &b->ev, &twice);
    return st == MRS_OK ? mrs_identical(once, twice) : keeps;
}

static void
hold(struct bench *b, const char *expression, bool keeps)
{
    for (size_t i = 0; i <= N_VALUES; i++) {
        char text[400];
        snprintf(text, sizeof text, "{'e': %s}", i < N_VALUES ? VALUES[i] : "0");
        bson_t *doc = bench_json(text);
        struct mrs_val x = i < N_VALUES ? mrs_doc_get(bench_view(doc), "e") : mrs_missing();
        if (!same_again(b, x, keeps)) {
            fail_msg("%s changes what it made of %s", expression, i < N_VALUES ? VALUES[i] : "nothing");
        }
        bson_destroy(doc);
    }
}

static void
table(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof LIST / sizeof *LIST; i++) {
        struct bench b;
        bench_open(&b, 0);
        if (bench_compile(&b, LIST[i].expression) != MRS_OK) {
            fail_msg("%s: %s", LIST[i].expression, b.err.msg);
        }
        bool yes = ask(&b, LIST[i].path, false);
        if (yes != LIST[i].repeats) {
            print_error("%s: %s\n", LIST[i].expression, yes ? "yes" : "no");
            wrong++;
        }
        if (yes && LIST[i].path && strcmp(LIST[i].path, "x") == 0) {
            hold(&b, LIST[i].expression, false);
        }
        bench_close(&b);
    }
    assert_int_equal(wrong, 0);
}

/* The analysis of nested calls takes time in proportion to their number. */
static void
deep_ones(void **state)
{
    (void)state;
    static const char *const around[] = {"{'$toInt': {'$ifNull': [%s, 1]}}",
                                         "{'$split': [{'$ifNull': [%s, 'a']}, ',']}",
                                         "{'$toDate': {'$cond': ['$y', %s, 1]}}"};
    for (size_t k = 0; k < sizeof around / sizeof *around; k++) {
        char text[2][2000] = {"'$x'"};
        struct bench b;
        for (int i = 0; i < 24; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(text[1], sizeof text[1], around[k], text[0]);
#pragma GCC diagnostic pop
            memcpy(text[0], text[1], sizeof text[0]);
        }
        bench_open(&b, 0);
        assert_int_equal(bench_compile(&b, text[0]), MRS_OK);
        ask(&b, "x", false);
        bench_close(&b);
    }
}

/* ---- random ones ---- */
struct maker {
    uint32_t seed;
    char text[8000];
    size_t n;
    int depth;
};

static uint32_t
pick(struct maker *m, uint32_t n)
{
    m->seed = m->seed * 1664525u + 1013904223u;
    return (m->seed >> 8) % n;
}

/* A template in which `@` is another expression, `#` a condition, `~` the value itself, `?` a constant. */
static const char *const SHAPES[] = {
    "~", "~", "~", "?", "'$y'", "{'$toLower': @}", "{'$toUpper': @}", "{'$trim': {'input': @}}",
    "{'$replaceAll': {'input': @, 'find': '.', 'replacement': '_'}}",
    "{'$replaceAll': {'input': @, 'find': 'a', 'replacement': ''}}",
    "{'$replaceAll': {'input': @, 'find': ' ', 'replacement': 'A'}}", "{'$substrCP': [@, 0, 3]}", "{'$toInt': @}",
    "{'$toString': @}", "{'$toBool': @}", "{'$toUUID': @}", "{'$convert': {'input': @, 'to': 'long', 'onError': @}}",
    "{'$convert': {'input': @, 'to': 'double', 'onNull': @}}", "{'$cond': [#, @, @]}", "{'$cond': [#, @, @]}",
    "{'$ifNull': [@, @]}", "{'$switch': {'branches': [{'case': #, 'then': @}, {'case': #, 'then': @}], 'default': @}}",
    "{'$map': {'input': @, 'in': %}}", "{'$filter': {'input': @, 'cond': #}}", "{'$max': [@, @]}", "{'$abs': @}",
    "{'$arrayToObject': {'$map': {'input': {'$objectToArray': @}, 'in': {'k': {'$toLower': '$$this.k'}, 'v': @}}}}",
    "{'$arrayToObject': {'$filter': {'input': {'$objectToArray': @}, 'cond': {'$ne': ['$$this.v', ?]}}}}",
    "{'$mergeObjects': [@, {'p': @, 'q': @}]}", "{'$mergeObjects': [{'z': 1}, @]}", "{'p': @, 'q': @}",
    "{'$setField': {'field': 'p', 'input': @, 'value': @}}", "{'$unsetField': {'field': 'q', 'input': @}}", "[@]",
    "{'$split': [@, ',']}", "{'$sortArray': {'input': @, 'sortBy': 1}}", "{'$slice': [@, 2]}",
    "{'$setUnion': [@, [1]]}", "{'$setUnion': [@, @]}", "{'$concatArrays': [@, @]}", "{'$setDifference': [@, [1]]}",
    "{'$dateFromString': {'dateString': @, 'onError': @}}", "{'$dateFromString': {'dateString': @, 'onNull': @}}",
    "{'$add': [@, 1]}", "{'$subtract': [@, 1]}", "{'$multiply': [@, @]}", "{'$size': @}",
    "{'$min': [@, @]}", "{'$objectToArray': @}",
    "{'$let': {'vars': {'w': @}, 'in': @}}", "{'$floor': @}",
};
static const char *const CONDITIONS[] = {
    "{'$isArray': [~]}", "{'$isNumber': ~}", "{'$eq': [{'$type': ~}, 'string']}", "{'$ne': [{'$type': ~}, 'object']}",
    "{'$in': [{'$type': ~}, ['missing', 'null', 'int']]}", "{'$gt': [~, null]}", "{'$eq': [~, null]}",
    "{'$lte': [~, ?]}", "{'$eq': [~, ?]}", "{'$lt': [~, ?]}", "{'$gte': [~, ?]}", "{'$in': [~, ['none', 1]]}",
    "{'$and': [#, #]}", "{'$or': [#, #]}", "{'$not': [#]}", "{'$eq': [@, @]}", "~",
};
static const char *const CONSTANTS[] = {"null", "'$$REMOVE'", "1", "'a b'", "[]", "{'$literal': {}}", "'none'"};
/* Where elements are looked at, the value is one of these. */
static const char *const SPOTS[] = {"'$x'", "'$x'", "'$x'", "'$x.p'", "'$x.q'"};
static const char *const INSIDE[] = {"'$$this'", "'$$this'", "'$$this'", "'$$this.p'", "'$$this.q'", "'$x'", "'$y'"};

static void
make(struct maker *m, const char *shape, bool inside)
{
    size_t shapes = sizeof SHAPES / sizeof *SHAPES, simple = 5;
    for (; *shape && m->n + 200 < sizeof m->text; shape++) {
        m->depth++;
        uint32_t k = pick(m, m->depth > 5 ? (uint32_t)simple : (uint32_t)shapes);
        if (*shape == '@' || *shape == '%') {
            make(m, SHAPES[k], inside || *shape == '%');
        } else if (*shape == '#') {
            make(m, CONDITIONS[pick(m, m->depth > 5 ? 8 : sizeof CONDITIONS / sizeof *CONDITIONS)], inside);
        } else if (*shape == '~') {
            make(m, inside ? INSIDE[pick(m, sizeof INSIDE / sizeof *INSIDE)]
                           : SPOTS[pick(m, sizeof SPOTS / sizeof *SPOTS)], inside);
        } else if (*shape == '?') {
            make(m, CONSTANTS[pick(m, sizeof CONSTANTS / sizeof *CONSTANTS)], inside);
        } else {
            m->text[m->n++] = *shape;
            m->text[m->n] = 0;
        }
        m->depth--;
    }
}

#define TRIES 60000

/* ---- types ---- */
/* The value has one of the types that the analysis allows, and its elements have. */
static void
of_these_types(const struct maker *m, struct mrs_val v, struct mrs_types t)
{
    struct mrs_walk w;
    struct mrs_elem e;
    if (!(t.of & mrs_type_bit(v.type))) {
        fail_msg("%s gives type %u", m->text, v.type);
    }
    if (v.type == MRS_ARRAY) {
        for (mrs_walk_init(&w, mrs_val_view(v)); mrs_walk_next(&w, &e) > 0;) {
            if (!(t.items & mrs_type_bit(e.v.type))) {
                fail_msg("%s gives an array with type %u", m->text, e.v.type);
            }
        }
    }
}

/* Evaluates b->x over each of VALUES; known: its types are t; excluded: the types of x for which it is false. */
static int
hold_types(struct bench *b, const struct maker *m, bool known, struct mrs_types t, uint32_t excluded)
{
    int seen = 0;
    for (size_t i = 0; i <= N_VALUES; i++) {
        char text[400];
        struct mrs_val out;
        snprintf(text, sizeof text, "{'e': %s}", i < N_VALUES ? VALUES[i] : "0");
        bson_t *doc = bench_json(text);
        struct mrs_val x = i < N_VALUES ? mrs_doc_get(bench_view(doc), "e") : mrs_missing();
        b->ev.root = document(b, x);
        bool good = mrs_expr_eval(b->x, &b->ev, &out) == MRS_OK;
        if (good && known) {
            of_these_types(m, out, t);
        }
        if (excluded & mrs_type_bit(x.type)) {
            seen++;
            if (!good || mrsi_truthy(out)) {
                fail_msg("%s is not false for %s", m->text, i < N_VALUES ? VALUES[i] : "nothing");
            }
        }
        bson_destroy(doc);
    }
    return seen;
}

static void
random_types(void **state)
{
    (void)state;
    int types = 0, excludes = 0;
    for (uint32_t i = 0; i < TRIES / 2; i++) {
        struct maker m = {.seed = i * 2654435761u + 777};
        struct bench b;
        make(&m, i % 2 ? "#" : "@", false);
        bench_open(&b, 0);
        if (bench_compile(&b, m.text) == MRS_OK) {
            struct mrs_types t;
            uint32_t excluded = 0;
            bool known = mrs_expr_types(b.x, &t);
            for (uint32_t k = 0; k < 32; k++) {
                excluded |= mrs_expr_excludes(b.x, "x", 1u << k) ? 1u << k : 0;
            }
            types += known;
            excludes += hold_types(&b, &m, known, t, excluded);
        }
        bench_close(&b);
    }
    print_message("%d of %d random expressions have known types; %d times false by type\n", types, TRIES / 2, excludes);
    assert_true(types > TRIES / 20 && excludes > TRIES / 20);
}

static void
random_ones(void **state)
{
    (void)state;
    int yes = 0;
    struct bench b;
    for (uint32_t i = 0; i < TRIES; i++) {
        struct maker m = {.seed = i * 2654435761u + 12345};
        make(&m, "@", false);
        bench_open(&b, 0);
        if (bench_compile(&b, m.text) == MRS_OK && !mrs_expr_constant(b.x, NULL) && ask(&b, "x", i % 3 == 0)) {
            hold(&b, m.text, i % 3 == 0);
            yes++;
        }
        bench_close(&b);
    }
    print_message("%d of %d random expressions repeat\n", yes, TRIES);
    assert_true(yes > TRIES / 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(deep_ones),
        cmocka_unit_test(random_ones),
        cmocka_unit_test(random_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_load.c - keys, steps and values of a plan: each kind of mistake with its place, all at once,
 * and memory that fails at every point. */
#include "fake.h"

#define JOIN "steps:\n- embed:\n    from: a\n    into: b\n    match: { x: _id }\n    as: c\n"
#define SET "steps:\n- set:\n    in: a\n    fields: { x: 1 }\n"

static void
good(void **state)
{
    (void)state;
    const char *text = "plan: p\nversion: 1\nserver: \"8.2\"\ndatabase: shop\nsteps:\n- embed: "
                       "{as: c, match: {x: _id}, into: b, from: a}\n- set: {in: a, fields: [x]}\n";
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, text, strlen(text), MRS_OK);
    assert_string_equal(p->name, "p");
    assert_string_equal(p->server, "8.2");
    assert_string_equal(p->database, "shop");
    assert_string_equal(p->file, "p.yaml");
    assert_true(p->id_known);
    assert_int_equal(p->n_steps, 2);
    assert_int_equal(p->steps[0].no, 1);
    assert_int_equal(p->steps[0].line, 6);
    assert_int_equal(p->steps[0].col, 3);
    assert_int_equal(p->steps[1].line, 7);
    assert_string_equal(p->steps[1].type->name, "set");
    struct mrs_walk w;
    struct mrs_elem e;
    struct fake_state *s = p->steps[0].state;
    mrs_walk_init(&w, s->body);
    for (const char *const *key = (const char *const[]){"from", "into", "match", "as", NULL}; *key;
         key++) {
        assert_int_equal(mrs_walk_next(&w, &e), 1); /* in the order of the table, not of the file */
        assert_string_equal(e.name, *key);
    }
    assert_int_equal(mrs_walk_next(&w, &e), 0);
    assert_int_equal(p->steps[0].desc.n_sides, 2);
    close_plan(mem, p);
}

static void
top(void **state)
{
    (void)state;
    EXPECT("plan: 5\nverson: 1\nversion: 3\nserver: 8.2\ndatabase: a/b\nsteps: {}\nfoo: 1\n",
           {1, 1, "`plan` must be a text"},
           {2, 1, "unknown key `verson` (did you mean `version`?)"}, {3, 1, "`version: 3`"},
           {4, 1, "`server` must be a text, as in `server: \"8.3\"`"}, {5, 1, "`database: a/b`"},
           {6, 1, "`steps` must be a list"}, {7, 1, "unknown key `foo`; a plan has"});
    EXPECT("version: 1.0\nserver: '7'\ndatabase: ''\n", {1, 1, "`steps` is missing"},
           {1, 1, "`version` must be a whole number"}, {2, 1, "`server: 7`"},
           {3, 1, "`database: `"});
    EXPECT("embed: { from: a }\nsteps: []\n", {1, 1, "step `embed` is at the top"});
    EXPECT("steps:\n", {1, 1, "`steps` must be a list"});
}

static void
steps(void **state)
{
    (void)state;
    EXPECT("steps:\n- embd: {}\n- set\n- zzzz: {}\n- set: 5\n- {}\n- set:\n  in: a\n- set: {in: a, "
           "fields: {}}\n  union: {}\n",
           {2, 3, "unknown step `embd` (did you mean `embed`?)"},
           {3, 3, "a step is a map with one key"},
           {4, 3, "unknown step `zzzz`; the steps are: embed set union drop_collection later grown"},
           {5, 3, "set: a map of its keys must follow"}, {6, 3, "a step is a map with one key"},
           {8, 3, "`in` is next to `set`, not inside it"},
           {10, 3, "a step has exactly one key, `union`"});
}

static void
versions(void **state)
{
    (void)state;
    static const char text[] = "steps:\n- later: { in: a }\n- grown: { in: a, most: 5 }\n";
    struct mrs_mem *mem = mrs_mem_new(0);
    close_plan(mem, load_n(mem, text, sizeof text - 1, MRS_OK));
    static const char two[] = "version: 2\nsteps:\n- later: { in: a }\n- grown: { in: a, most: 5 }\n";
    mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, two, sizeof two - 1, MRS_OK);
    assert_int_equal(p->version, 2);
    assert_int_equal(mrs_doc_get(p->canonical, "version").type, MRS_INT32);
    close_plan(mem, p);
    EXPECT("version: 1\nsteps:\n- later: { in: a }\n- grown: { in: a, most: 5 }\n- grown: { in: a, mots: 5 }\n"
           "- latre: {}\n- grown: { zzzzz: 1, in: b }\n",
           {3, 3, "unknown step `later`: version 2 of the plan language has it, and this plan says `version: 1`"},
           {4, 19, "grown: unknown key `most`: version 2 of the plan language has it"},
           {5, 19, "grown: unknown key `mots`; it has the keys: in"},
           {6, 3, "unknown step `latre`; the steps are: embed set union drop_collection grown"},
           {7, 12, "grown: unknown key `zzzzz`; it has the keys: in"});
}

static void
keys(void **state)
{
    (void)state;
    EXPECT("steps:\n- embed:\n    fron: a\n    into: b\n    match: { x: _id }\n    as: c\n    "
           "limits: 3\n    xyzzy: 1\n",
           {2, 3, "embed: needed key `from` is missing; what is put in, as in `from: comments`"},
           {3, 5, "embed: unknown key `fron` (did you mean `from`?)"},
           {7, 5, "embed: unknown key `limits` (did you mean `limit`?)"},
           {8, 5, "embed: unknown key `xyzzy`; it has the keys: from into match as one"});
    EXPECT("steps:\n- set: {}\n", {2, 3, "needed key `fields`"}, {2, 3, "needed key `in`"});
}

static void
join_types(void **state)
{
    (void)state;
    EXPECT(
        JOIN "    one: yes\n",
        {7, 5, "embed: `one` must be true or false (other words are texts), not string \"yes\""});
    EXPECT(
        JOIN "    limit: \"5\"\n    sort: createdAt\n    keep: unmached\n    orphans: { to: x }\n  "
             "  errors: 5\n    where: [1]\n",
        {7, 5,
         "embed: `limit` must be a whole number, 0 or more, without quotes, not string \"5\"; at "
         "most so many per parent"},
        {8, 5, "embed: `sort` must be a map { field: 1 } or { field: -1 }"},
        {9, 5,
         "embed: `keep` must be one of `unmatched`, `all`, `none`, not string \"unmached\" (did "
         "you mean `unmatched`?)"},
        {10, 5, "embed: `orphans` must be one of `keep`, `drop`, `refuse` or { into: collection }"},
        {11, 5, "embed: `errors` must be one of"},
        {12, 5, "embed: `where` must be a query { field: value }"});
    EXPECT(JOIN "    limit: -1\n    overflow: 5\n    orphans: { into: 5 }\n    fields: x\n",
           {7, 5, "`limit`"}, {8, 5, "`overflow` must be a map"},
           {9, 16, "`orphans.into` must be a collection"},
           {10, 5, "`fields` must be a list of fields"});
    EXPECT(JOIN "    limit:\n    one: null\n", {7, 5, "not null (nothing)"},
           {8, 5, "not null (nothing)"});
    EXPECT("steps:\n- embed: { from: '', into: [b], match: [], as: [] }\n",
           {2, 12, "`from` must be a collection"},
           {2, 22, "`into` must be a collection: its name, or { db: shop, coll: orders }"},
           {2, 33, "`match` must be a map"}, {2, 44, "`as` must be a path"});
    EXPECT("steps:\n- embed: { from: { db: x }, into: { db: x, coll: y, z: 1 }, match: { a: _id, "
           "b: 5 }, as: [a, 5] }\n",
           {2, 12, "`from` must"}, {2, 29, "`into` must"}, {2, 78, "`match.b` must be a path"},
           {2, 94, "`as.1` must be the name of a field"});
    EXPECT("steps:\n- embed:\n    from: a\n    into: b\n    match:\n    - { from: $x, into: $y }\n "
           "   - { from: $x, int: $y }\n    as: c\n",
           {7, 7, "`match.1` must be { from: expression, into: expression }"});
}

static void
other_types(void **state)
{
    (void)state;
    EXPECT(SET "    tag: 5\n    text: [a]\n    paths: a\n    list: {}\n",
           {5, 5, "`tag` must be the name of a field"}, {6, 5, "`text` must be a text"},
           {7, 5, "`paths` must be a list of paths"}, {8, 5, "`list` must be a list"});
    EXPECT("steps:\n- union: { from: x, into: y }\n- union: { from: [], into: y }\n- union: { "
           "from: { car: cars, truck: 5 }, into: y }\n"
           "- union: { from: [a, { value: 1 }, { value: 2, into: [b] }], into: y }\n",
           {2, 12, "`from` must be several collections"}, {3, 12, "`from` must be several"},
           {4, 31, "`from.truck` must be a collection"}, {5, 22, "`from.1` must be"},
           {5, 48, "`from.2.into` must be a collection"});
}

static void
null_is_a_word(void **state)
{
    (void)state;
    static const char *const spellings[] = {"null", "\"null\"", "~"};
    char id[3][33];
    for (int i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text, "%s    errors: %s\n", JOIN, spellings[i]);
        struct mrs_mem *mem = mrs_mem_new(0);
        struct mrs_plan *p = load_n(mem, text, strlen(text), MRS_OK);
        struct fake_state *s = p->steps[0].state;
        assert_string_equal(fake_text(s->body, "errors"), "null");
        mrs_plan_id_text(p, id[i]);
        close_plan(mem, p);
    }
    assert_string_equal(id[0], id[1]);
    assert_string_equal(id[0], id[2]);
}

static void
from_the_step(void **state)
{
    (void)state;
    EXPECT("steps:\n- embed:\n    from: a\n    into: b\n    match: { x: _id, wrong: y }\n    as: "
           "c\n    limit: 13\n    one: true\n",
           {2, 3, "embed: the step is unlucky"}, {5, 22, "embed: `match.wrong`: no such path"},
           {7, 5, "embed: `limit`: 13 is unlucky"}, {8, 5, "embed: `one`: one is lonely"});
    /* a wrong key does not hide what is wrong elsewhere in the step, nor bring up echoes about the
     * step as a whole */
    EXPECT("steps:\n- embed:\n    frm: a\n    into: b\n    match: { x: _id, wrong: y }\n    as: "
           "c\n    limit: 13\n",
           {2, 3, "needed key `from`"}, {3, 5, "unknown key `frm`"}, {5, 22, "no such path"},
           {7, 5, "13 is unlucky"});
}

static void
all_at_once(void **state)
{
    (void)state;
    EXPECT("plan: x\nplan: y\nfoo: 1\nsteps:\n- embd: {}\n- set: { in: a, fields: { x: "
           "99999999999999999999, y: !t z }, whre: {} }\n- set: { in: a, fields: { d: { $date: "
           "never } } }\n",
           {2, 1, "occurs twice"}, {3, 1, "unknown key `foo`"}, {5, 3, "unknown step"},
           {6, 30, "too large"}, {6, 55, "tag `!t`"},
           {6, 63, "unknown key `whre` (did you mean `where`?)"},
           {7, 30, "not a value of Extended JSON"});
}

static void
first_error_in_err(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p;
    struct mrs_err e;
    mrs_err_clear(&e);
    const char *text = "foo: 1\nbar: 2\nsteps: []\n";
    assert_int_equal(mrs_plan_load(mem, text, strlen(text), &fake_opts, &p, &e), MRS_FAIL);
    assert_int_equal(e.code, MRS_E_PLAN);
    assert_non_null(strstr(e.msg, "p.yaml:1:1: unknown key `foo`"));
    assert_non_null(strstr(e.msg, "(and 1 more)"));
    assert_int_equal(p->n_steps, 0);
    close_plan(mem, p);
}

static void
very_many_errors(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf text;
    mrs_buf_init(&text, mem, 1 << 20);
    mrs_buf_printf(&text, "steps:\n");
    for (int i = 0; i < 900; i++) {
        mrs_buf_printf(&text, "- nonsense%d: {}\n", i);
    }
    struct mrs_plan *p = load_n(mem, (char *)text.p, text.n, MRS_FAIL);
    assert_int_equal(p->n_errors, 500);
    assert_non_null(strstr(p->errors[499].msg, "(and 400 more, not shown)"));
    mrs_buf_reset(&text);
    mrs_buf_printf(&text, "steps:\n");
    for (int i = 0; i < 1001; i++) {
        mrs_buf_printf(&text, "- set: { in: a, fields: [] }\n");
    }
    mrs_plan_free(p);
    p = load_n(mem, (char *)text.p, text.n, MRS_FAIL);
    assert_non_null(strstr(p->errors[0].msg, "more than the 1000"));
    mrs_buf_clear(&text);
    close_plan(mem, p);
}

static void
databases(void **state)
{
    (void)state;
    const char *text =
        "steps:\n- set: { in: a, fields: [x] }\n- set: { in: { db: q, coll: a }, fields: [x] }\n";
    struct mrs_plan_opts saved = fake_opts;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_plan *p = load_n(mem, text, strlen(text), MRS_OK);
    assert_string_equal(p->database, "d");
    assert_true(p->id_known);
    mrs_plan_free(p);
    fake_opts.default_db = NULL;
    EXPECT(text, {2, 10,
                  "set: `in` names a collection, but not of which database: add `database: NAME`"});
    fake_opts.any_db = true;
    p = load_n(mem, text, strlen(text), MRS_OK);
    assert_string_equal(p->database, "db");
    assert_false(p->id_known);
    mrs_plan_free(p);
    const char *named = "database: shop\nsteps: []\n";
    p = load_n(mem, named, strlen(named), MRS_OK);
    assert_string_equal(p->database, "shop");
    assert_true(p->id_known);
    fake_opts = saved;
    close_plan(mem, p);
}

static void
extended_json(void **state)
{
    (void)state;
    is_value("{ $oid: 5f5e1000a1b2c3d4e5f60718 }", true, "{\"$oid\":\"5f5e1000a1b2c3d4e5f60718\"}");
    is_value("{ $numberLong: \"5\" }", true, "{\"$numberLong\":\"5\"}");
    is_value("{ $numberInt: \"5\" }", true, "{\"$numberInt\":\"5\"}");
    is_value("{ $numberDouble: \"5\" }", true, "{\"$numberDouble\":\"5.0\"}");
    is_value("{ $numberDecimal: \"1.20\" }", true, "{\"$numberDecimal\":\"1.20\"}");
    is_value("{ $date: 2020-01-01 }", false, "{\"$date\":\"2020-01-01T00:00:00Z\"}");
    is_value("{ $date: \"2020-01-01T01:00+01:00\" }", false,
             "{\"$date\":\"2020-01-01T00:00:00Z\"}");
    is_value("{ $date: { $numberLong: \"1577836800000\" } }", false,
             "{\"$date\":\"2020-01-01T00:00:00Z\"}");
    is_value("{ $regularExpression: { pattern: ^a, options: i } }", true,
             "{\"$regularExpression\":{\"pattern\":\"^a\",\"options\":\"i\"}}");
    is_value("{ $minKey: 1 }", true, "{\"$minKey\":1}");
    is_value("[{ a: { $oid: 5f5e1000a1b2c3d4e5f60718 } }]", true,
             "[{\"a\":{\"$oid\":\"5f5e1000a1b2c3d4e5f60718\"}}]");
    /* operators, and maps with other keys beside, stay maps */
    is_value("{ $regex: ^a, $options: i }", true, "{\"$regex\":\"^a\",\"$options\":\"i\"}");
    is_value("{ $type: string }", true, "{\"$type\":\"string\"}");
    is_value("{ $oid: x, y: z }", true, "{\"$oid\":\"x\",\"y\":\"z\"}");
    is_value("{ $in: [{ $numberLong: \"5\" }] }", true, "{\"$in\":[{\"$numberLong\":\"5\"}]}");
    /* numbers inside are texts */
    is_bad_value("{ $numberLong: 5 }", 12, "not a value of Extended JSON");
    is_bad_value("{ $numberInt: 5 }", 12, "not a value of Extended JSON");
    is_bad_value("{ $numberDouble: 5 }", 12, "not a value of Extended JSON");
    is_bad_value("{ $numberDecimal: 5 }", 12, "not a value of Extended JSON");
    is_bad_value("{ $date: 5 }", 12, "not a value of Extended JSON");
    is_bad_value("{ $date: { $numberLong: 5 } }", 12, "not a value of Extended JSON");
    is_bad_value("{ $oid: xyz }", 12, "not a value of Extended JSON");
    is_bad_value("{ $date: 2020-13-01 }", 12, "not a value of Extended JSON");
    is_bad_value("{ $numberDecimal: \"1.0000000000000000000000000000000000000000001\" }", 12,
                 "not a value of Extended JSON");
}

static void
failing_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "plan: p\ndatabase: shop\nsteps:\n- embed: {as: c, match: [{from: $x, into: $y}], into: b, "
        "from: &f a, where: {d: {$date: 2020-01-01}}}\n"
        "- set: {in: *f, fields: [x, [a, b]], value: {k: [1, 2, {l: 1.5}], m: 99999999999}}\n",
        "foo: 1\nfoo: 2\nsteps:\n- embd: {}\n- embed: {fron: a, into: b, match: {wrong: 1}, as: "
        "c}\n- set: {in: 5, value: {$oid: x}}\n"};
    for (int t = 0; t < 2; t++) {
        bool done = false;
        for (uint64_t n = 1; !done; n++) {
            for (int forever = 0; forever < 2; forever++) {
                struct mrs_mem *mem = mrs_mem_new(forever ? UINT64_MAX - n : n);
                struct mrs_plan *p = (struct mrs_plan *)1;
                struct mrs_err e;
                mrs_err_clear(&e);
                enum mrs_status s =
                    mrs_plan_load(mem, texts[t], strlen(texts[t]), &fake_opts, &p, &e);
                if (s == MRS_DEAD) {
                    assert_null(p);
                    assert_int_equal(e.code, MRS_E_MEMORY);
                } else {
                    assert_int_equal(s, t ? MRS_FAIL : MRS_OK);
                    done = mrs_mem_count(mem) < n;
                }
                mrs_plan_free(p);
                assert_int_equal(mrs_mem_close(mem), 0);
            }
            assert_true(n < 5000);
        }
    }
}

static void
nearest(void **state)
{
    (void)state;
    static const char *const words[] = {"from", "into", "match", "as", "drop_collection", "sort"};
    static const struct {
        const char *word, *near;
    } cases[] = {{"fron", "from"}, {"FROM", "from"},
                 {"form", "from"}, {"frm", "from"},
                 {"ino", "into"},  {"mtach", "match"},
                 {"ax", NULL},     {"dropCollection", "drop_collection"},
                 {"srot", "sort"}, {"", NULL},
                 {"zzzzzz", NULL}, {"frommmm", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *near = mrs_nearest(cases[i].word, words, 6);
        if (cases[i].near) {
            assert_non_null(near);
            assert_string_equal(near, cases[i].near);
        } else {
            assert_null(near);
        }
    }
}

/* A plan as BSON, as text again: the same plan, and each line knows what is there. */
static void
through_bson(void **state)
{
    (void)state;
    static const char text[] = "plan: p\nserver: \"8.2\"\ndatabase: shop\nsteps:\n- embed: {from: a, into: {db: x, "
                                        "coll: "
                               "b}, match: {x: _id}, as: c}\n- set: {in: a, fields: {\"x\\u0007: y\": {$literal: "
                               "[1.5, {$numberLong: \"7\"}, \"5\", {$date: \"2020-01-01T00:00:00Z\"}]}}}\n";
    static const char *const places[] = {"", "", "plan", "server", "database", "steps", "steps.0", "steps.0.embed",
                                         "steps.0.embed.from", "steps.0.embed.into", "steps.0.embed.match",
                                         "steps.0.embed.as", "steps.1", "steps.1.set", "steps.1.set.in",
                                         "steps.1.set.fields", ""};
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf doc, again, place;
    struct mrs_err e;
    mrs_err_clear(&e);
    mrs_buf_init(&doc, mem, 1u << 20);
    mrs_buf_init(&again, mem, 1u << 20);
    mrs_buf_init(&place, mem, 1u << 20);
    assert_int_equal(mrs_yaml_doc(mem, text, sizeof text - 1, &doc, &e), MRS_OK);
    struct mrs_view d = {doc.p, (uint32_t)doc.n};
    assert_int_equal(mrs_plan_text(d, &again, &e), MRS_OK);
    struct mrs_plan *p = load_n(mem, text, sizeof text - 1, MRS_OK);
    struct mrs_plan *q = load_n(mem, (const char *)again.p, again.n, MRS_OK);
    assert_memory_equal(p->id, q->id, 16);
    for (uint32_t i = 0; i < sizeof places / sizeof *places; i++) {
        mrs_buf_reset(&place);
        mrs_plan_place(d, i, &place);
        mrs_buf_byte(&place, 0);
        assert_string_equal((char *)place.p, places[i]);
    }
    assert_int_equal(mrs_yaml_doc(mem, "[ 1 ]", 5, &doc, &e), MRS_FAIL);
    struct mrs_val name = mrs_doc_get(d, "plan");
    ((uint8_t *)(uintptr_t)name.p)[4] = 0xFF; /* no UTF-8 any more: not read as another text */
    assert_int_equal(mrs_plan_text(d, &again, &e), MRS_FAIL);
    mrs_plan_free(q);
    mrs_buf_clear(&doc);
    mrs_buf_clear(&again);
    mrs_buf_clear(&place);
    close_plan(mem, p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),
        cmocka_unit_test(top),
        cmocka_unit_test(steps),
        cmocka_unit_test(versions),
        cmocka_unit_test(keys),
        cmocka_unit_test(join_types),
        cmocka_unit_test(other_types),
        cmocka_unit_test(null_is_a_word),
        cmocka_unit_test(from_the_step),
        cmocka_unit_test(all_at_once),
        cmocka_unit_test(first_error_in_err),
        cmocka_unit_test(very_many_errors),
        cmocka_unit_test(databases),
        cmocka_unit_test(extended_json),
        cmocka_unit_test(failing_memory),
        cmocka_unit_test(nearest),
        cmocka_unit_test(through_bson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

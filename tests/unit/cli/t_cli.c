/* SPDX-License-Identifier: Apache-2.0 */
/* t_cli.c - the machinery of command lines with a small table of its own: values land in their members, misuse gives
 * status 2, JSON is whole or not there, and every failed allocation is told. */
#include "mongoreshape/cli.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct values {
    struct mrs_cli line;
    const char *text, *word;
    struct mrs_cli_list list;
    uint64_t count, size, own;
    int64_t date;
    bool flag;
};

static int ran;

static int
run(struct mrs_cli *cli)
{
    (void)cli;
    ran++;
    return 9;
}

static const char *
own(const char *text, void *to)
{
    *(uint64_t *)to = strlen(text);
    return *text == 'x' ? NULL : "something that begins with x";
}

#define AT(m) offsetof(struct values, m)
static const struct mrs_cli_option options[] = {
    {"text", 't', "T", 1, MRS_CLI_TEXT, AT(text), NULL, NULL, "a text", NULL, NULL},
    {"word", 0, "W", 1, MRS_CLI_WORD, AT(word), "one|two", NULL, "a word", NULL, NULL},
    {"list", 0, "L", 1, MRS_CLI_LIST, AT(list), NULL, NULL, "a list", NULL, NULL},
    {"count", 'c', "N", 1, MRS_CLI_COUNT, AT(count), NULL, NULL, "a count", NULL, NULL},
    {"size", 0, "S", 1, MRS_CLI_SIZE, AT(size), NULL, NULL, "a size", NULL, NULL},
    {"date", 0, "D", 1, MRS_CLI_DATE, AT(date), NULL, NULL, "a date", NULL, NULL},
    {"own", 0, "O", 1, MRS_CLI_OWN, AT(own), NULL, NULL, "its own", NULL, own},
    {"flag", 'f', NULL, 1, MRS_CLI_FLAG, AT(flag), NULL, NULL, "a flag", NULL, NULL},
    {"help", 'h', NULL, 3, MRS_CLI_FLAG, AT(line.help), NULL, NULL, "help", NULL, NULL},
    {NULL, 0, NULL, 0, MRS_CLI_FLAG, 0, NULL, NULL, NULL, NULL, NULL},
};
static const char *const paragraphs[] = {"Text.", NULL};
static const struct mrs_cli_example examples[] = {{"tool do x", "example"}, {NULL, NULL}};
static const struct mrs_cli_command commands[] = {
    {"do", 1, "[WHAT]", "", "does", paragraphs, examples, run},
    {"help", 2, "[COMMAND]", "", "helps", paragraphs, examples, mrs_cli_help},
    {NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL},
};
static const struct mrs_cli_row exits[] = {{"0", "good"}, {NULL, NULL}};
static const struct mrs_cli_section sections[] = {{NULL, NULL}};
static const struct mrs_cli_tool tool = {.name = "tool", .version = "1", .summary = "does", .purpose = "do",
                                         .about = "About.", .sketch = "sketch\n", .manual = "Manual.",
                                         .options = options, .commands = commands, .exits = exits,
                                         .sections = sections, .see_also = ""};

/* Parses a line; the exit status, or -1 where it was right. v->line.mem must be closed by the caller. */
static int
parse(struct values *v, uint64_t fail_at, char **argv)
{
    int argc = 0, status = -1;
    memset(v, 0, sizeof *v);
    v->line.tool = &tool;
    v->line.mem = mrs_mem_new(fail_at);
    assert_non_null(v->line.mem);
    while (argv[argc]) {
        argc++;
    }
    return mrs_cli_parse(&v->line, argc, argv, &status) ? -1 : status;
}

static void
end(struct values *v)
{
    mrs_cli_clear(&v->line);
    mrs_cli_clear(&v->line); /* harmless twice */
    assert_int_equal(mrs_mem_close(v->line.mem), 0);
}

static void
values_land(void **state)
{
    (void)state;
    struct values v;
    char *argv[] = {"tool", "do", "--text=a b", "-c", "7", "--word", "two", "--list", "x", "--list=y", "--size", "3M",
                    "--date", "1970-01-01T00:00:01Z", "--own", "xyz", "-f", "--", "--what", NULL};
    assert_int_equal(parse(&v, 0, argv), -1);
    assert_string_equal(v.text, "a b");
    assert_int_equal(v.count, 7);
    assert_string_equal(v.word, "two");
    assert_int_equal(v.list.n, 2);
    assert_string_equal(v.list.at[1], "y");
    assert_int_equal(v.size, 3 << 20);
    assert_int_equal(v.date, 1000);
    assert_int_equal(v.own, 3);
    assert_true(v.flag);
    assert_string_equal(v.line.operand, "--what");
    assert_true(mrs_cli_given(&v.line, "own"));
    assert_false(mrs_cli_given(&v.line, "help"));
    end(&v);
}

static void
misuse(void **state)
{
    (void)state;
    static char *lines[][6] = {
        {"tool", NULL},
        {"tool", "dp", NULL},
        {"tool", "--flag", "do", NULL},
        {"tool", "do", "--txet", "a", NULL},
        {"tool", "do", "--text", NULL},
        {"tool", "do", "--text=", NULL},
        {"tool", "do", "--flag=1", NULL},
        {"tool", "do", "-c", "1", "-c2", NULL},
        {"tool", "do", "-c", "18446744073709551616", NULL},
        {"tool", "do", "--size", "16777216T", NULL},
        {"tool", "do", "--word", "three", NULL},
        {"tool", "do", "--own", "y", NULL},
        {"tool", "do", "--date", "x", NULL},
        {"tool", "do", "-z", NULL},
        {"tool", "do", "a", "b", NULL},
        {"tool", "help", "--text", "a", NULL},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct values v;
        assert_int_equal(parse(&v, 0, lines[i]), 2);
        end(&v);
    }
}

static void
no_memory(void **state)
{
    (void)state;
    char *argv[] = {"tool", "do", "--list", "x", "--list", "y", "--date", "2024-01-01", NULL};
    int failed = 0, good = 0;
    for (uint64_t n = 1; n < 100 && !good; n++) {
        struct values v;
        int status = parse(&v, n, argv);
        failed += status == 2;
        good = status == -1;
        assert_true(status == 2 || status == -1);
        end(&v);
    }
    assert_true(failed >= 3 && good);
}

static void
the_command_runs(void **state)
{
    (void)state;
    struct values v;
    char *argv[] = {"tool", "do", NULL};
    memset(&v, 0, sizeof v);
    v.line.tool = &tool;
    v.line.mem = mrs_mem_new(0);
    ran = 0;
    assert_int_equal(mrs_cli_main(&v.line, 2, argv), 9);
    assert_int_equal(ran, 1);
    assert_int_equal(mrs_mem_close(v.line.mem), 0);
}

static void
texts(void **state)
{
    (void)state;
    char t[32], left[40];
    struct mrs_cli_progress p = {.rate = 10};
    assert_string_equal(mrs_text_count(0, t), "0");
    assert_string_equal(mrs_text_count(1234567, t), "1,234,567");
    assert_string_equal(mrs_text_size(1023, t), "1023 bytes");
    assert_string_equal(mrs_text_size(1536, t), "1.5 KiB");
    assert_string_equal(mrs_text_time(61000, t), "1 min 01 s");
    assert_string_equal(mrs_cli_progress_left(&p, 0, 640, left), "  1:05 left");
    assert_string_equal(mrs_cli_progress_left(&p, 640, 640, left), "");
}

/* The object's text for the fail_at-th allocation failing; 0: none. */
static bool
object(uint64_t fail_at, char text[512])
{
    const char *const both[] = {"a", "b"};
    struct mrs_mem *mem = mrs_mem_new(fail_at);
    struct mrs_cli_json j;
    struct mrs_err e;
    FILE *f = tmpfile();
    assert_non_null(f);
    mrs_err_clear(&e);
    mrs_err_set(&e, MRS_FAIL, MRS_E_SERVER, "no");
    mrs_cli_json_begin(&j, mem);
    mrs_cli_json_text(&j, "t", "x\"y");
    mrs_cli_json_text(&j, "n", NULL);
    mrs_cli_json_count(&j, "c", 5);
    mrs_cli_json_bool(&j, "b", true);
    mrs_cli_json_texts(&j, "l", both, 2);
    mrs_cli_json_error(&j, "error", &e);
    bool good = mrs_cli_json_end(&j, f);
    rewind(f);
    size_t n = fread(text, 1, 511, f);
    text[n] = '\0';
    fclose(f);
    assert_int_equal(mrs_mem_close(mem), 0);
    return good;
}

static void
json(void **state)
{
    (void)state;
    char text[512];
    assert_true(object(0, text));
    assert_string_equal(text, "{\"t\":\"x\\\"y\",\"n\":null,\"c\":5,\"b\":true,\"l\":[\"a\",\"b\"],"
                              "\"error\":{\"name\":\"server\",\"message\":\"no\",\"ns\":null,\"where\":null}}\n");
    bool good = false;
    for (uint64_t n = 1; n < 100 && !good; n++) {
        good = object(n, text);
        assert_true(good || text[0] == '\0');
    }
    assert_true(good);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_land),      cmocka_unit_test(misuse), cmocka_unit_test(no_memory),
        cmocka_unit_test(the_command_runs), cmocka_unit_test(texts),  cmocka_unit_test(json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

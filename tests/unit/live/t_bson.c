/* SPDX-License-Identifier: Apache-2.0 */
/* t_bson.c - documents from templates: the bytes are compared with what libbson makes of the same document.
 *
 * Every kind of argument and literal, arrays inside arrays, left out values; templates that are wrong; every allocation
 * failing in turn. And the named stops and mutants of the test build. No server is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/link/bson.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void
same(struct mrs_view d, bson_t *want)
{
    assert_int_equal(d.n, want->len);
    assert_memory_equal(d.p, bson_get_data(want), d.n);
    bson_destroy(want);
}

static struct mrs_view
of(const bson_t *b)
{
    return (struct mrs_view){bson_get_data(b), b->len};
}

static enum mrs_status
all_kinds(struct mrs_buf *buf, struct mrs_view *out, struct mrs_err *e)
{
    bson_t *inner = BCON_NEW("x", BCON_INT32(1)), *list = BCON_NEW("0", "a", "1", BCON_BOOL(false));
    uint8_t room[16];
    enum mrs_status s = live_doc(
        buf, out, e,
        "{s:%s, i:%i, big:%i, I:%I, b:%b, v:%v, gone:%v, d:%d, none:%d, a:%a, f:%f, t:%t, $lit:['x', 7, -8, 5000000000,"
        "null, true, false, [], {}, %s, %v, %i], %s: {deep.er: [[{a: 'q'}]]}, last: ''}",
        "text", (int64_t)5, (int64_t)5000000000, (int64_t)5, 1, mrs_make_double(room, 0.5), mrs_missing(), of(inner),
        (struct mrs_view){NULL, 0}, of(list), 1.25, (int64_t)1700000000000, "item", mrs_missing(), (int64_t)-1, "dyn$");
    bson_destroy(inner);
    bson_destroy(list);
    return s;
}

static bson_t *
all_kinds_expected(void)
{
    return BCON_NEW("s", BCON_UTF8("text"), "i", BCON_INT32(5), "big", BCON_INT64(5000000000), "I", BCON_INT64(5), "b",
                    BCON_BOOL(true), "v", BCON_DOUBLE(0.5), "d", "{", "x", BCON_INT32(1), "}", "a", "[", "a",
                    BCON_BOOL(false), "]", "f", BCON_DOUBLE(1.25), "t", BCON_DATE_TIME(1700000000000), "$lit", "[", "x",
                    BCON_INT32(7), BCON_INT32(-8), BCON_INT64(5000000000), BCON_NULL, BCON_BOOL(true), BCON_BOOL(false),
                    "[", "]", "{", "}", "item", BCON_INT32(-1), "]", "dyn$", "{", "deep.er", "[", "[", "{", "a", "q",
                    "}", "]", "]", "}", "last", "");
}

static void
every_kind(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf buf;
    struct mrs_view d;
    mrs_buf_init(&buf, mem, 1 << 20);
    mrs_buf_put(&buf, "before", 6);
    assert_int_equal(all_kinds(&buf, &d, NULL), MRS_OK);
    assert_int_equal(mrs_doc_check(d.p, d.n, MRS_DEPTH_READ, NULL), MRS_OK);
    assert_memory_equal(buf.p, "before", 6);
    same(d, all_kinds_expected());
    mrs_buf_clear(&buf);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
arrays_and_arena(void **state)
{
    (void)state;
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_arena a;
    struct mrs_view d;
    mrs_arena_init(&a, mem);
    assert_int_equal(live_doc_in(&a, &d, NULL, "[{$match: {n: %i}}, {$unset: 'x'}]", (int64_t)3), MRS_OK);
    same(d, BCON_NEW("0", "{", "$match", "{", "n", BCON_INT32(3), "}", "}", "1", "{", "$unset", "x", "}"));
    assert_int_equal(live_doc_in(&a, &d, NULL, "{}"), MRS_OK);
    same(d, bson_new());
    mrs_arena_clear(&a);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
wrong_templates(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",       "{",        "{a}",     "{a:}",   "{a:'x}", "{a:1]",   "{a:1}}",
                                        "{a:%x}", "{a:%",     "{a:nul}", "{:1}",   "[1",     "x",       "{a:1} b",
                                        "{a:-}",  "{a:1e5}",  "{a:12345678901234567890}"};
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf buf;
    mrs_buf_init(&buf, mem, 1 << 20);
    mrs_buf_put(&buf, "kept", 4);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct mrs_view d;
        struct mrs_err e;
        mrs_err_clear(&e);
        assert_int_equal(live_doc(&buf, &d, &e, wrong[i]), MRS_FAIL);
        assert_int_equal(e.code, MRS_E_ACCOUNT);
        assert_int_equal(buf.n, 4);
    }
    mrs_buf_clear(&buf);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
no_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 40; n++) {
        struct mrs_mem *mem = mrs_mem_new(n);
        struct mrs_buf buf;
        struct mrs_arena a;
        struct mrs_view d;
        mrs_buf_init(&buf, mem, 1 << 20);
        mrs_arena_init(&a, mem);
        enum mrs_status s = all_kinds(&buf, &d, NULL), t = live_doc_in(&a, &d, NULL, "{a:%s}", "b");
        bool failed = mrs_mem_count(mem) >= n;
        assert_true((s == MRS_DEAD || t == MRS_DEAD) == failed);
        assert_true(s == MRS_OK || s == MRS_DEAD);
        mrs_buf_clear(&buf);
        mrs_arena_clear(&a);
        assert_int_equal(mrs_mem_close(mem), 0);
    }
    struct mrs_mem *mem = mrs_mem_new(0);
    struct mrs_buf buf;
    struct mrs_view d;
    mrs_buf_init(&buf, mem, 20);
    assert_int_equal(live_doc(&buf, &d, NULL, "{a:'a text that is too long for it'}"), MRS_FAIL);
    mrs_buf_clear(&buf);
    assert_int_equal(mrs_mem_close(mem), 0);
}

static void
read_back(void **state)
{
    (void)state;
    bson_t *b = BCON_NEW("ok", BCON_DOUBLE(1.0), "cursor", "{", "id", BCON_INT64(77), "ns", "a.b", "firstBatch", "[",
                         "{", "x", BCON_INT32(1), "}", "]", "}", "n", BCON_DOUBLE(2.5), "yes", BCON_BOOL(true), "huge",
                         BCON_DOUBLE(1e300));
    struct mrs_view d = of(b);
    char text[4];
    assert_int_equal(live_at(d, "cursor.firstBatch").type, MRS_ARRAY);
    assert_int_equal(live_at(d, "cursor.firstBatch.0").type, MRS_MISSING);
    assert_int_equal(live_at(d, "cursor.nothing").type, MRS_MISSING);
    assert_int_equal(live_at(d, "ok.x").type, MRS_MISSING);
    assert_int_equal(live_at((struct mrs_view){NULL, 0}, "ok").type, MRS_MISSING);
    assert_int_equal(live_int_at(d, "cursor.id", -1), 77);
    assert_int_equal(live_int_at(d, "ok", -1), 1);
    assert_int_equal(live_int_at(d, "n", -1), 2);
    assert_int_equal(live_int_at(d, "huge", -1), -1);
    assert_int_equal(live_int_at(d, "cursor.ns", -1), -1);
    live_text_at(d, "cursor.ns", text, sizeof text);
    assert_string_equal(text, "a.b");
    live_text_at(d, "cursor.ns", text, 3);
    assert_string_equal(text, "a.");
    live_text_at(d, "n", text, sizeof text);
    assert_string_equal(text, "");
    assert_true(live_bool_at(d, "ok", false));
    assert_true(live_bool_at(d, "yes", false));
    assert_true(live_bool_at(d, "none", true));
    assert_false(live_bool_at(d, "cursor", false));
    bson_destroy(b);
}

/* ---- stops ---- */
/* In a child: MRS_STOP as given, three stops passed; its wait status. */
static int
passing(const char *stop)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("MRS_STOP", stop, 1);
        LIVE_STOP("one");
        LIVE_STOP("two");
        LIVE_STOP("one");
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void
stops(void **state)
{
    (void)state;
    char file[] = "/tmp/t_bson.XXXXXX", command[256], line[64] = "";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    assert_int_equal(WTERMSIG(passing("one=kill")), SIGKILL);
    assert_int_equal(WTERMSIG(passing("one:2=kill")), SIGKILL);
    assert_int_equal(passing("one:3=kill"), 0);
    assert_int_equal(passing("on=kill"), 0);
    assert_int_equal(WTERMSIG(passing("*:3=kill")), SIGKILL);
    assert_int_equal(passing("two=sleep:1"), 0);
    assert_int_equal(WEXITSTATUS(passing("two=nonsense")), 98);
    assert_int_equal(WEXITSTATUS(passing("two=run:exit 1")), 99);
    snprintf(command, sizeof command, "two=run:echo there >%s; test -z \"$MRS_STOP\"", file);
    assert_int_equal(passing(command), 0);
    assert_int_equal(pread(fd, line, sizeof line - 1, 0), 6);
    assert_string_equal(line, "there\n");
    assert_int_equal(ftruncate(fd, 0), 0);
    setenv("MRS_STOP_LIST", file, 1);
    assert_int_equal(WTERMSIG(passing("two=kill")), SIGKILL);
    unsetenv("MRS_STOP_LIST");
    assert_int_equal(pread(fd, line, sizeof line - 1, 0), 8);
    assert_string_equal(line, "one\ntwo\n");
    close(fd);
    unlink(file);
}

static void
mutants(void **state)
{
    (void)state;
    unsetenv("MRS_MUTANT");
    assert_false(LIVE_MUTANT("a"));
    setenv("MRS_MUTANT", "guard-off,no-sweep", 1);
    assert_true(LIVE_MUTANT("guard-off"));
    assert_true(LIVE_MUTANT("no-sweep"));
    assert_false(LIVE_MUTANT("no"));
    assert_false(LIVE_MUTANT("guard-off2"));
    unsetenv("MRS_MUTANT");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),      cmocka_unit_test(arrays_and_arena), cmocka_unit_test(wrong_templates),
        cmocka_unit_test(no_memory),       cmocka_unit_test(read_back),        cmocka_unit_test(stops),
        cmocka_unit_test(mutants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* t_say.c - text for people: as printf, but nothing that a name brings is obeyed by a terminal. */
#include "mongoreshape/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>

static struct mrs_buf buf;

static const char *
text(void)
{
    mrs_buf_byte(&buf, 0);
    assert_int_equal(buf.bad, 0);
    return (const char *)buf.p;
}

/* The same as printf would. */
#define SAME(...)                               \
    do {                                        \
        char want[300];                         \
        snprintf(want, sizeof want, __VA_ARGS__); \
        mrs_buf_reset(&buf);                    \
        mrs_buf_say(&buf, __VA_ARGS__);         \
        assert_string_equal(text(), want);      \
    } while (0)

static void
is_as_printf(void **state)
{
    (void)state;
    SAME("nothing");
    SAME("100%% of %s", "it");
    SAME("%d %i %u %x %X %c %5d|%-5d|%05d|%+d|%.3d", -1, 2, 3u, 255u, 255u, 'c', 4, 5, 6, 7, 8);
    SAME("%ld %lu %lld %llu %zu %016llx", -1L, 2UL, -3LL, 4ULL, (size_t)5, 6ULL);
    SAME("%s|%5s|%-5s|%.2s|%*s|%-*s|%.*s|%*.*s|", "a", "b", "c", "defg", 4, "h", 4, "i", 1, "jk", 5, 2, "lmn");
    SAME("%*s|%.0f|%5.1f|%g|", -5, "left", 1.5, 2.25, 1e30);
    SAME("%s", "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80 \\ \" '");
}

static void
shows(const char *in, const char *want)
{
    mrs_buf_reset(&buf);
    mrs_buf_say(&buf, "%s", in);
    assert_string_equal(text(), want);
}

static void
escapes_what_a_terminal_obeys(void **state)
{
    (void)state;
    shows("a\x1b[2J\n\r\t\x01\x7f", "a\\x1b[2J\\n\\r\\t\\x01\\x7f");
    shows("\xc2\x9b" "31m", "\\u009b31m");                     /* CSI of eight bits, as UTF-8 */
    shows("\x9b" "31m", "\\x9b31m");                           /* and alone */
    shows("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8", "\\u202e\\u2066\\u2028"); /* turned letters, a line's end */
    shows("\xc3", "\\xc3");
    shows("\xe2\x80", "\\xe2\\x80");
    shows("\xc0\x8a\xe0\x80\x8a\xed\xa0\x80\xf5\x80\x80\x80",
          "\\xc0\\x8a\\xe0\\x80\\x8a\\xed\\xa0\\x80\\xf5\\x80\\x80\\x80");
    mrs_buf_reset(&buf);
    mrs_buf_say(&buf, "\x1b[1m\n%6s|%-6s|%.3s", "\n", "\n", "\n\n\n\n"); /* the format is ours */
    assert_string_equal(text(), "\x1b[1m\n    \\n|\\n    |\\n\\n\\n");
}

int
main(void)
{
    struct mrs_mem *mem = mrs_mem_new(0);
    mrs_buf_init(&buf, mem, 10000);
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_as_printf), cmocka_unit_test(escapes_what_a_terminal_obeys)};
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    mrs_buf_clear(&buf);
    return status + (int)mrs_mem_close(mem);
}

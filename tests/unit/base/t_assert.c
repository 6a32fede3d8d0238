/* SPDX-License-Identifier: Apache-2.0 */
/* t_assert.c - a false assertion ends a program that has them and says where; any other does not evaluate it. */
#include "mongoreshape/assert.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int asked;

static bool __attribute__((unused)) /* where nothing is asserted */
ask(bool answer)
{
    asked++;
    return answer;
}

/* A child asserts `truth`; its status as waitpid has it, and what it wrote to its standard error. */
static int
child(bool truth, char *said, size_t size)
{
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        MRS_ASSERT(ask(truth));
        _exit(asked);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; (got = read(ends[0], said + n, size - 1 - n)) > 0;) {
        n += (size_t)got;
    }
    said[n] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void
a_false_one_says_where(void **state)
{
    char said[512];
    (void)state;
    int status = child(false, said, sizeof said);
#ifdef MRS_ASSERTS
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(said, "t_assert.c:"));
    assert_non_null(strstr(said, "assertion failed: ask(truth)"));
#else
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_string_equal(said, "");
#endif
}

static void
a_true_one_says_nothing(void **state)
{
    char said[512];
    (void)state;
    int status = child(true, said, sizeof said);
    assert_true(WIFEXITED(status));
    assert_string_equal(said, "");
#ifdef MRS_ASSERTS
    assert_int_equal(WEXITSTATUS(status), 1);
#else
    assert_int_equal(WEXITSTATUS(status), 0);
#endif
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_false_one_says_where),
        cmocka_unit_test(a_true_one_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

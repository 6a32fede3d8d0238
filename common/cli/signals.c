/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c - a signal handler that only sets a flag.
 *
 * Engines read the flag between pieces of work and stop at a safe point. A second signal ends the process at once,
 * which must be as safe as kill -9 anyway. The two words below are the only global state of a program: a handler has no
 * argument. */
#include "mongoreshape/cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static int flag;
static const char *last_words;

static void
on_signal(int number)
{
    int before = 0;
    if (!__atomic_compare_exchange_n(&flag, &before, number, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)) {
        _exit(128 + number);
    }
}

/* Handles a read error of a mapped file. */
static void
on_bus_error(int number)
{
    (void)number;
    (void)!write(STDERR_FILENO, last_words, strlen(last_words));
    _exit(4);
}

void
mrs_signals_begin(const char *on_bus_error_text)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction act, old;
    last_words = on_bus_error_text;
    memset(&act, 0, sizeof act);
    sigemptyset(&act.sa_mask);
    act.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &act, NULL);
    sigaction(SIGXFSZ, &act, NULL); /* a write past the file size limit must fail, not kill */
    act.sa_handler = on_bus_error;
    sigaction(SIGBUS, &act, NULL);
    act.sa_handler = on_signal;
    act.sa_flags = SA_RESTART;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], NULL, &old) == 0 &&
            old.sa_handler != SIG_IGN) { /* nohup and shells' background jobs */
            sigaction(numbers[i], &act, NULL);
        }
    }
}

const int *
mrs_signals_flag(void)
{
    return &flag;
}

int
mrs_signals_number(void)
{
    return __atomic_load_n(&flag, __ATOMIC_SEQ_CST);
}

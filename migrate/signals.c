/* signals.c - a handler that only sets a flag.
 *
 * The engine looks at the flag between blocks of documents and takes the output back. Whoever
 * signals again does not want to wait: the process ends at once, which is safe, because nothing has
 * its final name yet. The word below is the only state of the program that is not passed around. */
#include "signals.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static int flag;

static void
on_signal(int number)
{
    int before = 0;
    if (!__atomic_compare_exchange_n(&flag, &before, number, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)) {
        _exit(128 + number);
    }
}

/* A file that is mapped could not be read: nothing has its final name yet, so there is nothing to take back. */
static void
on_bus_error(int number)
{
    static const char text[] = "mongoreshape: a file could not be read any more: the disk failed, or the file was "
                               "made shorter\nnothing was published\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(4);
}

void
mrsi_signals_begin(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction act, old;
    memset(&act, 0, sizeof act);
    sigemptyset(&act.sa_mask);
    act.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &act, NULL);
    sigaction(SIGXFSZ, &act, NULL); /* a write past the limit of files is to fail, not to kill */
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
mrsi_signals_flag(void)
{
    return &flag;
}

int
mrsi_signals_number(void)
{
    return __atomic_load_n(&flag, __ATOMIC_SEQ_CST);
}

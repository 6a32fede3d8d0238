/* SPDX-License-Identifier: Apache-2.0 */
/* stop.c - named stops and mutants of the test build.
 *
 * A test cannot reliably hit the moment between a write and its checkpoint by sleeping. So the code names such moments,
 * and the test build acts at one of them: exits, waits, or runs a command of the test (a writer, a kill of the server)
 * while this process waits. MRS_STOP="name[:n]=kill|sleep:MS|run:COMMAND|asleep:COMMAND", n from 1, or 0: each time;
 * asleep: like run, and the clock of leases advances by a day meanwhile; the name "*" matches any; MRS_STOP_LIST=FILE
 * collects the names of passed stops. MRS_MUTANT="name,name" disables safeguards, to show that the tests detect that.
 * MRS_PERIOD=MS: the time between two tries of what is done once in a while. A query with too many values in one $in
 * ends the process with status 97. The normal build contains none of this. */
#include "connection.h"

#include "mongoreshape/value.h"

#include "mongoreshape/clock.h"

#ifdef LIVE_TEST
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_LONG_IN = 97, EXIT_BAD_STOP = 98, EXIT_COMMAND_FAILED = 99, DAY_MS = 86400000 };

/* Searches the bytes of the query, at any depth. */
void
live_short_in(struct mrs_view question)
{
    static const char begin[] = "\x04$in"; /* an array of this name */
    const uint8_t *end = question.p + question.n, *at = question.p;
    while (at && (at = memmem(at, (size_t)(end - at), begin, sizeof begin))) {
        at += sizeof begin;
        if (mrs_val_count((struct mrs_val){at, mrs_le32(at), MRS_ARRAY}) > LIVE_IN_MAX) {
            _exit(EXIT_LONG_IN);
        }
    }
}

static void
list(const char *file, const char *name)
{
    char line[128];
    int n = snprintf(line, sizeof line, "%s\n", name);
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || n < 0 || (size_t)n >= sizeof line || write(fd, line, (size_t)n) != n) {
        _exit(EXIT_BAD_STOP);
    }
    close(fd);
}

static void
sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

/* Disables stops in the command, which may be this program. */
static void
run(const char *command)
{
    char line[4096];
    int n = snprintf(line, sizeof line, "unset MRS_STOP MRS_STOP_LIST MRS_MUTANT\n%s", command);
    if (n < 0 || (size_t)n >= sizeof line) {
        _exit(EXIT_BAD_STOP);
    }
    if (system(line) != 0) {
        _exit(EXIT_COMMAND_FAILED);
    }
}

static int64_t slept_ms;

int64_t
live_clock(void)
{
    return mrs_clock_asleep() + slept_ms;
}

static void
act(const char *what)
{
    if (strcmp(what, "kill") == 0) {
        raise(SIGKILL);
    } else if (strncmp(what, "sleep:", 6) == 0) {
        sleep_ms(strtol(what + 6, NULL, 10));
    } else if (strncmp(what, "run:", 4) == 0) {
        run(what + 4);
    } else if (strncmp(what, "asleep:", 7) == 0) {
        run(what + 7);
        slept_ms += DAY_MS;
    } else {
        _exit(EXIT_BAD_STOP);
    }
}

void
live_stop(const char *name)
{
    static unsigned long passed;
    const char *file = getenv("MRS_STOP_LIST"), *stop = getenv("MRS_STOP");
    if (file) {
        list(file, name);
    }
    if (!stop) {
        return;
    }
    const char *equals = strchr(stop, '=');
    size_t n = strcspn(stop, ":=");
    if (!equals) {
        _exit(EXIT_BAD_STOP);
    }
    if ((n == 1 && stop[0] == '*') || (strlen(name) == n && memcmp(stop, name, n) == 0)) {
        unsigned long at = stop[n] == ':' ? strtoul(stop + n + 1, NULL, 10) : 1;
        if (at == 0 || ++passed == at) {
            act(equals + 1);
        }
    }
}

int64_t
live_period(int64_t ms)
{
    const char *period = getenv("MRS_PERIOD");
    return period ? strtol(period, NULL, 10) : ms;
}

bool
live_mutant(const char *name)
{
    const char *at = getenv("MRS_MUTANT");
    while (at && *at) {
        size_t n = strcspn(at, ",");
        if (strlen(name) == n && memcmp(at, name, n) == 0) {
            return true;
        }
        at += n + (at[n] == ',');
    }
    return false;
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* progress_line.c - the progress line: when it is due, its smoothed rate, and drawing.
 *
 * On a terminal one line is redrawn, at most six times a second, and erased at the end; elsewhere (--progress) lines
 * follow each other, one a second. The time left is computed from a smoothed rate over all passes, so it stabilizes
 * after a few seconds. The tool supplies the text. */
#include "mongoreshape/cli.h"
#include "mongoreshape/clock.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define TERMINAL_MS 170
#define FILE_MS 1000

void
mrs_cli_progress_begin(struct mrs_cli_progress *p, bool wanted, bool quiet)
{
    memset(p, 0, sizeof *p);
    p->terminal = isatty(STDERR_FILENO);
    p->on = wanted || (p->terminal && !quiet);
    p->start_ms = p->last_ms = mrs_clock_steady();
}

bool
mrs_cli_progress_due(struct mrs_cli_progress *p, uint64_t done)
{
    uint64_t ms = mrs_clock_steady(), since = ms - p->last_ms;
    if (!p->on || since < (p->terminal ? TERMINAL_MS : FILE_MS)) {
        return false;
    }
    uint64_t more = done > p->last_done ? done - p->last_done : 0;
    double current = (double)more * 1000 / (double)since, weight = (double)since / 3000;
    weight = weight > 1 ? 1 : weight;
    p->rate = p->rate > 0 ? p->rate + (current - p->rate) * weight : current;
    p->last_ms = ms;
    p->last_done = done;
    return true;
}

const char *
mrs_cli_time_left(int64_t seconds, char text[40])
{
    text[0] = '\0';
    if (seconds >= 0 && seconds < 360000) {
        snprintf(text, 40, "  %u:%02u left", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
    }
    return text;
}

const char *
mrs_cli_progress_left(const struct mrs_cli_progress *p, uint64_t done, uint64_t total, char text[40])
{
    double s = total > done && p->rate > 1 ? (double)(total - done) / p->rate + 1 : -1;
    return mrs_cli_time_left(s < 1e9 ? (int64_t)s : -1, text);
}

static int
columns(void)
{
    struct winsize w;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col - 1 : 79;
}

void
mrs_cli_progress_draw(struct mrs_cli_progress *p, const char *line)
{
    MRS_ASSERT(line);
    if (p->terminal) {
        mrs_say(stderr, "\r%.*s\x1b[K", columns(), line);
    } else {
        mrs_say(stderr, "%s\n", line);
    }
    fflush(stderr);
    p->drawn = true;
}

void
mrs_cli_progress_end(struct mrs_cli_progress *p)
{
    if (p->drawn && p->terminal) {
        fputs("\r\x1b[K", stderr);
    }
    p->drawn = false;
}

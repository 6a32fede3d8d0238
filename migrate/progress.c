/* progress.c - phase, share, rate and time left, at most six times a second.
 *
 * On a terminal one line is drawn over and over and taken away at the end; elsewhere (--progress)
 * lines follow each other, one a second. The time left comes from a smoothed rate over all passes,
 * so it settles after a few seconds. */
#include "progress.h"
#include "text.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define TERMINAL_MS 170
#define FILE_MS 1000

uint64_t
mrsi_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void
mrsi_progress_begin(struct mrsi_progress *p, bool wanted, bool quiet)
{
    memset(p, 0, sizeof *p);
    p->terminal = isatty(STDERR_FILENO);
    p->on = wanted || (p->terminal && !quiet);
    p->start_ms = p->last_ms = mrsi_clock_ms();
}

static void
left(const struct mrsi_progress *p, const struct mrs_progress *now, char text[40])
{
    text[0] = '\0';
    if (now->total > now->done && p->rate > 1) {
        uint64_t s = (uint64_t)((double)(now->total - now->done) / p->rate) + 1;
        if (s < 360000) {
            snprintf(text, 40, "  %u:%02u left", (unsigned)(s / 60), (unsigned)(s % 60));
        }
    }
}

static int
columns(void)
{
    struct winsize w;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col - 1 : 79;
}

static void
draw(struct mrsi_progress *p, const struct mrs_progress *now)
{
    char done[32], total[32], rate[32], docs[32], eta[40], share[16] = "", line[256];
    if (now->total) {
        double part = (double)now->done / (double)now->total;
        snprintf(share, sizeof share, "%3.0f%%  ", 100 * (part > 1 ? 1 : part));
    }
    left(p, now, eta);
    mrsi_text_size(now->done, done);
    mrsi_text_size(now->total, total);
    mrsi_text_size((uint64_t)p->rate, rate);
    mrsi_text_count(now->docs, docs);
    snprintf(line, sizeof line, "%s%s%s%s  %s documents  %s/s%s  %s", share, done,
             now->total ? " of " : "", now->total ? total : "", docs, rate, eta,
             now->phase ? now->phase : "");
    if (p->terminal) {
        fprintf(stderr, "\r%.*s\x1b[K", columns(), line);
    } else {
        fprintf(stderr, "%s\n", line);
    }
    fflush(stderr);
    p->drawn = true;
}

void
mrsi_progress_tell(void *arg, const struct mrs_progress *now)
{
    struct mrsi_progress *p = arg;
    uint64_t ms = mrsi_clock_ms(), since = ms - p->last_ms;
    if (!p->on || since < (p->terminal ? TERMINAL_MS : FILE_MS)) {
        return;
    }
    uint64_t bytes = now->done > p->last_done ? now->done - p->last_done : 0;
    double current = (double)bytes * 1000 / (double)since, weight = (double)since / 3000;
    weight = weight > 1 ? 1 : weight;
    p->rate = p->rate > 0 ? p->rate + (current - p->rate) * weight : current;
    p->last_ms = ms;
    p->last_done = now->done;
    draw(p, now);
}

void
mrsi_progress_end(struct mrsi_progress *p)
{
    if (p->drawn && p->terminal) {
        fputs("\r\x1b[K", stderr);
    }
    p->drawn = false;
}
